//! Dots: conversions between MLIR's attributes, the table of instructions in `tile_mma` and the algebra of
//! `tile_layout`.

use super::{
    elements,
    layouts::{Tensor, storage_bits},
    nv_tileaa,
    nv_tileas::{AsyncDotOp, DotOp, DotScaledOp, MemDescType, MemorySpace, MmaAttr, MmaKind, PromotedDotOp},
    pass::context_of,
    rt::*,
    shared_memory::{scale_factors, shared_layout, tensor_memory},
    upstream::Arith,
};
use melior::{
    Context,
    ir::{Attribute, Location, Type, TypeLike},
};
use mlir_sys::*;
use tile_layout::{
    HardwareLayout, Multiplier, Operand, Pairs, ScaleFactors, Shape, TensorMemory, WarpgroupOperand, warpgroup_left,
    warpgroups_of,
};
use tile_mma::{Element, Row, Storage, Unit};
use tile_targets::Target;

/// The unit and shape that the attribute `#nv_tileas.mma` names. Together with the element types of a dot, they
/// identify one instruction of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub kind: MmaKind,
    /// M, N and K; all one for scalar arithmetic.
    pub shape: [u32; 3],
}

impl Instruction {
    pub const FMA: Self = Self { kind: MmaKind::Fma, shape: [1; 3] };

    /// Returns the instruction of a row of `mma.sync`.
    pub fn of_row(row: &Row) -> Self {
        let kind = match row.unit {
            Unit::Sync => MmaKind::Sync,
            Unit::BlockScale => MmaKind::BlockScale,
            Unit::Warpgroup => MmaKind::Warpgroup,
            Unit::Tensor => MmaKind::Tensor,
            Unit::TensorPair => MmaKind::TensorPair,
        };
        // For units with several column counts, the widest fragment.
        let n = row.n.iter().filter(|n| n.is_power_of_two()).last().unwrap_or(8);
        Self { kind, shape: [row.m, n, row.k] }
    }

    /// Returns the instruction that multiplies blocks of `element` with their scales. If the target has any such
    /// instructions, there is one for every combination of the language, except for scales of fnv8E5M3FNU, which have
    /// become f32 by now.
    pub fn block_scaled(element: Type<'_>, scale: Type<'_>, target: &Target) -> Option<Self> {
        scale_of(scale)?;
        let rows = tile_mma::candidates(element_of(element, false)?, u32::MAX, true, target);
        rows.first().map(|row| Self::of_row(row))
    }

    /// Returns `None` for any other attribute, or if the extents do not fit.
    pub fn of(a: Attribute<'_>) -> Option<Self> {
        let a = MmaAttr::cast(a)?;
        let shape = match a.shape() {
            [] => [1; 3],
            &[m, n, k] => [m.try_into().ok()?, n.try_into().ok()?, k.try_into().ok()?],
            _ => return None,
        };
        Some(Self { kind: a.kind(), shape })
    }

    pub fn to_attr<'c>(self, context: &'c Context) -> Attribute<'c> {
        let shape: Vec<i64> = match self.kind {
            MmaKind::Fma => vec![],
            _ => self.shape.iter().map(|&e| e.into()).collect(),
        };
        MmaAttr::get(Location::unknown(context), self.kind, &shape).expect("instructions verify").into()
    }

    /// Returns the unit that executes the instruction, or `None` for scalar arithmetic.
    pub fn unit(self) -> Option<Unit> {
        Some(match self.kind {
            MmaKind::Fma => return None,
            MmaKind::Sync => Unit::Sync,
            MmaKind::BlockScale => Unit::BlockScale,
            MmaKind::Warpgroup => Unit::Warpgroup,
            MmaKind::Tensor => Unit::Tensor,
            MmaKind::TensorPair => Unit::TensorPair,
        })
    }

    /// Whether the instruction reads operands from shared memory.
    pub fn reads_shared_memory(self) -> bool {
        self.unit().is_some_and(|unit| unit.storage(Operand::B) == [Storage::Shared])
    }

    /// Returns the instruction in the algebra's terms, for operands of `element`, or `None` if no such instruction
    /// exists or its accumulator is not in registers.
    pub fn multiplier(self, element: Type<'_>) -> Option<Multiplier> {
        let Some(unit) = self.unit() else { return Some(Multiplier::Scalar) };
        let element = element_of(element, false)?;
        let row = tile_mma::rows_of(unit, self.shape, element, element).next()?;
        row.fragments(self.shape[1]).map(Multiplier::Matrix)
    }
}

/// Returns the format of an element in the instruction table. MLIR's integers are signless; the operand determines
/// whether they are unsigned.
pub fn element_of(t: Type<'_>, unsigned: bool) -> Option<Element> {
    let raw = t.to_raw();
    // SAFETY: the type is alive.
    unsafe {
        Some(match () {
            _ if mlirTypeIsAF16(raw) => Element::F16,
            _ if mlirTypeIsABF16(raw) => Element::Bf16,
            _ if mlirTypeIsATF32(raw) => Element::Tf32,
            _ if mlirTypeIsAF32(raw) => Element::F32,
            _ if mlirTypeIsAF64(raw) => Element::F64,
            _ if mlirTypeIsAFloat8E4M3FN(raw) => Element::E4m3,
            _ if mlirTypeIsAFloat8E5M2(raw) => Element::E5m2,
            _ if mlirTypeIsAFloat6E3M2FN(raw) => Element::E3m2,
            _ if mlirTypeIsAFloat6E2M3FN(raw) => Element::E2m3,
            _ if mlirTypeIsAFloat4E2M1FN(raw) => Element::E2m1,
            _ if mlirTypeIsAFloat8E8M0FNU(raw) => Element::Ue8m0,
            _ if mlirTypeIsAInteger(raw) => match (mlirIntegerTypeGetWidth(raw), unsigned) {
                (8, false) => Element::S8,
                (8, true) => Element::U8,
                (4, false) => Element::S4,
                (4, true) => Element::U4,
                (1, _) => Element::B1,
                (32, false) => Element::S32,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// Returns the format of a scale: MLIR's e4m3 type is unsigned here.
pub fn scale_of(t: Type<'_>) -> Option<Element> {
    match element_of(t, false)? {
        Element::E4m3 => Some(Element::Ue4m3),
        Element::Ue8m0 => Some(Element::Ue8m0),
        _ => None,
    }
}

/// Operands, result and instruction, which all kinds of dots have.
macro_rules! dot_accessors {
    ($dot:ident) => {
        impl<'c> $dot<'c> {
            pub fn lhs(self) -> Val<'c> {
                operand(self.op(), LHS)
            }
            pub fn rhs(self) -> Val<'c> {
                operand(self.op(), RHS)
            }
            pub fn acc(self) -> Val<'c> {
                operand(self.op(), ACC)
            }
            pub fn result(self) -> Val<'c> {
                result(self.op(), 0)
            }
            pub fn instruction(self) -> Option<Instruction> {
                attr(self.op(), "instruction").and_then(Instruction::of)
            }
        }
    };
}
dot_accessors!(AnyDot);
dot_accessors!(SharedDot);

/// A dot with or without scales.
#[derive(Clone, Copy)]
pub enum AnyDot<'c> {
    Plain(DotOp<'c>),
    Scaled(DotScaledOp<'c>),
}

impl<'c> AnyDot<'c> {
    pub fn cast(op: OpRef<'c>) -> Option<Self> {
        DotOp::cast(op).map(Self::Plain).or_else(|| DotScaledOp::cast(op).map(Self::Scaled))
    }
    pub fn op(self) -> OpRef<'c> {
        match self {
            Self::Plain(o) => o.op(),
            Self::Scaled(o) => o.op(),
        }
    }
    /// Whether the elements of each operand are unsigned integers.
    pub fn unsigned(self) -> [bool; 2] {
        match self {
            Self::Plain(o) => [o.lhs_unsigned(), o.rhs_unsigned()],
            Self::Scaled(_) => [false; 2],
        }
    }
    /// The tensors of scale factors of both operands.
    pub fn scales(self) -> Option<[Val<'c>; 2]> {
        match self {
            Self::Plain(_) => None,
            Self::Scaled(o) => Some([o.lhs_scale(), o.rhs_scale()]),
        }
    }
    /// The format of the scale factors, and the elements along K of a block that has one.
    pub fn scale_blocks(self) -> Option<(Element, u32)> {
        scale_blocks(self.lhs(), self.scales()?[0])
    }
    /// Whether sums of 8-bit floats need not be exact.
    pub fn fast_acc(self) -> bool {
        matches!(self, Self::Plain(o) if o.fast_acc())
    }
    /// Returns the instruction of the table that matches the attribute and the element types, or `None` without a
    /// match.
    pub fn matrix_instruction(self) -> Option<tile_mma::Instruction> {
        let (instruction, [left, right]) = (self.instruction()?, self.unsigned());
        let element = |v, unsigned| element_of(Tensor::of_value(v)?.element, unsigned);
        let types = [element(self.lhs(), left)?, element(self.rhs(), right)?, element(self.acc(), false)?];
        let scale = match self {
            // The scales of the instruction are one.
            Self::Plain(_) if instruction.kind == MmaKind::BlockScale => Some((Element::Ue8m0, UNIT_SCALES)),
            Self::Plain(_) => None,
            // The sums of blocks are scaled after the instruction, unless it applies the scales itself.
            Self::Scaled(_) if instruction.kind == MmaKind::Sync => None,
            Self::Scaled(_) => Some(self.scale_blocks()?),
        };
        tile_mma::find(instruction.unit()?, instruction.shape, types, scale)
    }
}

/// A dot of `nv_tileaa`, with or without scales.
#[derive(Clone, Copy)]
pub struct TileDot<'c>(OpRef<'c>);

/// The dots of tiles in a function.
pub fn tile_dots(function: OpRef<'_>) -> Vec<OpRef<'_>> {
    collect_ops(function, |op| TileDot::cast(op).map(TileDot::op))
}

impl<'c> TileDot<'c> {
    pub fn cast(op: OpRef<'c>) -> Option<Self> {
        let is_dot = nv_tileaa::DotOp::cast(op).is_some() || nv_tileaa::DotScaledOp::cast(op).is_some();
        is_dot.then_some(Self(op))
    }
    pub fn op(self) -> OpRef<'c> {
        self.0
    }
    pub fn lhs(self) -> Val<'c> {
        operand(self.0, LHS)
    }
    pub fn rhs(self) -> Val<'c> {
        operand(self.0, RHS)
    }
    pub fn acc(self) -> Val<'c> {
        operand(self.0, ACC)
    }
    /// Whether the elements of each operand are unsigned integers.
    pub fn unsigned(self) -> [bool; 2] {
        nv_tileaa::DotOp::cast(self.0).map_or([false; 2], |dot| [dot.lhs_unsigned(), dot.rhs_unsigned()])
    }
    /// Whether sums of 8-bit floats need not be exact.
    pub fn fast_acc(self) -> bool {
        nv_tileaa::DotOp::cast(self.0).is_some_and(|dot| dot.fast_acc())
    }
    /// The tensors of scale factors of both operands.
    pub fn scales(self) -> Option<[Val<'c>; 2]> {
        nv_tileaa::DotScaledOp::cast(self.0).map(|dot| [dot.lhs_scale(), dot.rhs_scale()])
    }
    /// The format of the scale factors, and the elements along K of a block that has one.
    pub fn scale_blocks(self) -> Option<(Element, u32)> {
        scale_blocks(self.lhs(), self.scales()?[0])
    }
}

/// The format of the scale factors of a left operand, and the elements of a block.
fn scale_blocks(lhs: Val<'_>, scale: Val<'_>) -> Option<(Element, u32)> {
    let (depth, scales) = (Tensor::of_value(lhs)?, Tensor::of_value(scale)?);
    let block = depth.shape.last()? / scales.shape.last()?;
    Some((scale_of(scales.element)?, block.try_into().ok()?))
}

/// The elements along K of a block, if a plain dot uses an instruction with block scales.
const UNIT_SCALES: u32 = 32;

/// The operand numbers that both kinds share.
pub const LHS: usize = 0;
pub const RHS: usize = 1;
pub const ACC: usize = 2;
/// The operand numbers of scale factors.
pub const LHS_SCALE: usize = 3;
pub const RHS_SCALE: usize = 4;

/// An operand of an asynchronous dot: a tile in shared memory, in the form that the instruction reads. Packed elements
/// are a tile of pairs.
pub struct WarpgroupTile {
    pub layout: HardwareLayout,
    pub operand: WarpgroupOperand,
}

/// Either kind of dot that reads operands from shared memory.
#[derive(Clone, Copy)]
pub enum SharedDot<'c> {
    Async(AsyncDotOp<'c>),
    Promoted(PromotedDotOp<'c>),
}

impl<'c> SharedDot<'c> {
    pub fn cast(op: OpRef<'c>) -> Option<Self> {
        AsyncDotOp::cast(op).map(Self::Async).or_else(|| PromotedDotOp::cast(op).map(Self::Promoted))
    }
    pub fn op(self) -> OpRef<'c> {
        match self {
            Self::Async(o) => o.op(),
            Self::Promoted(o) => o.op(),
        }
    }
    /// Whether the elements of each operand are unsigned integers.
    fn unsigned(self) -> [bool; 2] {
        match self {
            Self::Async(o) => [o.lhs_unsigned(), o.rhs_unsigned()],
            Self::Promoted(_) => [false; 2],
        }
    }
}

/// A warpgroup dot with all inputs of its code generation.
pub struct WarpgroupDot {
    pub instruction: tile_mma::Instruction,
    /// Warpgroups along rows and columns. The low bits of a warpgroup's number select the rows.
    pub groups: (u32, u32),
    /// `None` if the operand is in registers.
    pub lhs: Option<WarpgroupTile>,
    pub rhs: WarpgroupTile,
    /// The number of 64-row blocks, of groups of the instruction's columns, and of steps along K, per warpgroup.
    pub blocks: [usize; 3],
}

impl WarpgroupDot {
    /// The error names the property that the instruction does not support.
    pub fn of(op: SharedDot<'_>) -> Result<Self, String> {
        let by = op.instruction().ok_or("expected M, N and K of an instruction")?;
        let name = by.to_attr(context_of(op.op()));
        if by.kind != MmaKind::Warpgroup {
            return Err(format!("{name} is not a warpgroup instruction"));
        }
        let rhs = MemDescType::cast(ty(op.rhs())).ok_or("rhs is not a memdesc")?;
        let left = LeftOperand::of(op.lhs()).ok_or("lhs is neither memdesc nor tensor")?;
        let acc = Tensor::of_value(op.acc()).ok_or("acc is not a tensor")?;
        let missing = || {
            format!(
                "no instruction {name} multiplies '{}' by '{}' into '{}'",
                left.element(),
                rhs.element_type(),
                acc.element
            )
        };
        let unsigned = op.unsigned();
        let types = [
            element_of(left.element(), unsigned[0]).ok_or_else(missing)?,
            element_of(rhs.element_type(), unsigned[1]).ok_or_else(missing)?,
            element_of(acc.element, false).ok_or_else(missing)?,
        ];
        let instruction = tile_mma::find(Unit::Warpgroup, by.shape, types, None).ok_or_else(missing)?;
        let layout = acc.layout().ok_or("acc has no layout")?;
        let shape = Shape::new(&acc.shape).map_err(|e| e.to_string())?;
        let [m, n, k] = by.shape;
        let groups = warpgroups_of(&layout, &shape, n)
            .map_err(|e| format!("accumulator is not laid out in fragments of {name}: {e}"))?;
        let lhs = match left {
            LeftOperand::Memory(desc) => Some(WarpgroupTile::of(Unit::Warpgroup, "lhs", desc, (0, 1), m)?),
            LeftOperand::Registers(tensor) => {
                let needed = warpgroup_left(&tensor.tile_shape(), groups, storage_bits(tensor.element))
                    .map_err(|e| format!("lhs cannot be laid out in fragments of {name}: {e}"))?;
                if tensor.layout() != Some(needed) {
                    return Err(format!("lhs is not laid out in the fragments of {name} that match the accumulator's"));
                }
                None
            }
        };
        let rhs = WarpgroupTile::of(Unit::Warpgroup, "rhs", rhs, (1, 0), n)?;
        for (what, tile) in [("lhs", lhs.as_ref()), ("rhs", Some(&rhs))] {
            let Some(tile) = tile else { continue };
            if !instruction.row.majors.contains(&tile.operand.major) {
                return Err(format!("{name} requires elements of {what} that are contiguous along K"));
            }
        }
        let extents = shape.extents();
        let blocks = [
            (extents[0] / u64::from(m * groups.0)) as usize,
            (extents[1] / u64::from(n * groups.1)) as usize,
            (rhs.layout.shape().extents()[0] / u64::from(k)) as usize,
        ];
        Ok(Self { instruction, groups, lhs, rhs, blocks })
    }
}

/// The left operand of a dot with an accumulator in tensor memory.
pub enum TensorLeft {
    Shared(WarpgroupTile),
    /// In tensor memory: the columns of a block of the instruction's rows, and of a step along K.
    Tensor {
        block: u32,
        step: u32,
    },
}

/// A dot with an accumulator in tensor memory, with all inputs of its code generation.
pub struct TensorDot {
    pub instruction: tile_mma::Instruction,
    pub lhs: TensorLeft,
    pub rhs: WarpgroupTile,
    /// The first column of the accumulator of each block: blocks of the instruction's rows, and of its columns in each.
    pub blocks: Vec<[u32; 3]>,
    /// The number of steps along K.
    pub steps: usize,
    /// The scale factors of both operands, if the dot has any.
    pub scales: Option<[ScaleFactors; 2]>,
}

impl TensorDot {
    /// The columns of tensor memory with the scale factors of an instruction, and their first byte there, for each
    /// operand. `None` if the dot has no scale factors.
    pub fn scale_places(&self, [row, column]: [u32; 2], step: u32) -> Option<[(u32, u32); 2]> {
        let scales = self.scales.as_ref()?;
        let first = step * self.instruction.row.scales.map_or(0, |s| self.instruction.row.k / s.block);
        let lines = [row * self.instruction.row.m, column * self.instruction.n];
        Some([scales[0].place(lines[0], first), scales[1].place(lines[1], first)])
    }

    /// The error names the property that the instruction does not support.
    pub fn of(op: AsyncDotOp<'_>) -> Result<Self, String> {
        let dot = SharedDot::Async(op);
        let by = dot.instruction().ok_or("expected M, N and K of an instruction")?;
        let name = by.to_attr(context_of(op.op()));
        let unit = by.unit().filter(|unit| matches!(unit, Unit::Tensor | Unit::TensorPair));
        let unit = unit.ok_or_else(|| format!("{name} does not accumulate in tensor memory"))?;
        let memory = |what: &str, v| MemDescType::cast(ty(v)).ok_or(format!("{what} is not a memdesc"));
        let (lhs, rhs, acc) = (memory("lhs", op.lhs())?, memory("rhs", op.rhs())?, memory("acc", op.acc())?);
        let [left, right, sum] = [lhs, rhs, acc].map(|desc| desc.element_type());
        let missing = || format!("no instruction {name} multiplies '{left}' by '{right}' into '{sum}'");
        let unsigned = dot.unsigned();
        let types = [
            element_of(left, unsigned[0]).ok_or_else(missing)?,
            element_of(right, unsigned[1]).ok_or_else(missing)?,
            element_of(sum, false).ok_or_else(missing)?,
        ];
        let scale = op.lhs_scale().zip(op.scale_block()).and_then(|(scale, block)| {
            Some((scale_of(MemDescType::cast(ty(scale))?.element_type())?, u32::try_from(block).ok()?))
        });
        let instruction = tile_mma::find(unit, by.shape, types, scale).ok_or_else(missing)?;
        let [m, n, k] = by.shape;
        // The rows of the left operand, and the columns of the right one, in this CTA.
        let [m, own] = [m, n].map(|extent| extent / unit.ctas());
        let lhs = match lhs.space() {
            MemorySpace::Tensor => TensorLeft::of(lhs, [m, n, k])?,
            _ => TensorLeft::Shared(WarpgroupTile::of(unit, "lhs", lhs, (0, 1), m)?),
        };
        let rhs = WarpgroupTile::of(unit, "rhs", rhs, (1, 0), own)?;
        for (what, tile) in lhs.tile().map(|tile| ("lhs", tile)).into_iter().chain([("rhs", &rhs)]) {
            if !instruction.row.majors.contains(&tile.operand.major) {
                return Err(format!("{name} requires elements of {what} that are contiguous along K"));
            }
        }
        let of = tensor_memory(acc).ok_or("acc has no valid layout")?;
        let shape = Shape::new(acc.shape()).map_err(|e| e.to_string())?;
        if TensorMemory::accumulator(&shape).ok() != Some(of.clone()) {
            return Err(format!("acc is not laid out as an accumulator of {name}"));
        }
        let [rows, columns] = [acc.shape()[0] as u64, acc.shape()[1] as u64];
        let mut blocks = vec![];
        for (row, first) in (0..).zip((0..rows).step_by(m as usize)) {
            for (column, at) in (0..).zip((0..columns).step_by(n as usize)) {
                let place = of.place(first * columns + at).ok_or("acc has no such element")?;
                blocks.push([row, column, place.1]);
            }
        }
        let depth = MemDescType::cast(ty(op.rhs())).map_or(0, |desc| desc.shape()[0] as u64);
        let steps = (depth / u64::from(k)) as usize;
        let scales = match (op.lhs_scale(), op.rhs_scale(), scale) {
            (Some(left), Some(right), Some((_, block))) => {
                let factors = depth / u64::from(block);
                let of = |what, v, lines, covered| Self::scale_factors((what, v), lines, [covered, factors]);
                Some([of("lhs", left, 0, rows)?, of("rhs", right, 1, columns)?])
            }
            _ => None,
        };
        Ok(Self { instruction, lhs, rhs, blocks, steps, scales })
    }

    /// The scale factors of an operand, which cover at least this many lines, and factors of each.
    fn scale_factors((what, v): (&str, Val<'_>), lines: usize, covered: [u64; 2]) -> Result<ScaleFactors, String> {
        let desc = MemDescType::cast(ty(v)).ok_or_else(|| format!("the scale factors of {what} are not a memdesc"))?;
        let extent = |d: usize| desc.shape()[d] as u64;
        if extent(lines) < covered[0] || extent(1 - lines) < covered[1] {
            return Err(format!("{what} needs {} by {} scale factors, got {:?}", covered[0], covered[1], desc.shape()));
        }
        scale_factors(desc, lines).ok_or_else(|| format!("the scale factors of {what} are not laid out in blocks"))
    }
}

impl TensorLeft {
    /// The operand in tensor memory of an instruction of this shape.
    fn of(desc: MemDescType<'_>, [m, _, k]: [u32; 3]) -> Result<Self, String> {
        let shape = Shape::new(desc.shape()).map_err(|e| e.to_string())?;
        let gap = tensor_memory(desc).and_then(|memory| memory.gap_of_accumulator(&shape));
        let gap = gap.filter(|_| m == OPERAND_ROWS.min(shape.extents()[0] as u32));
        let gap = gap.ok_or_else(|| format!("lhs is not laid out as an operand of {m} rows in tensor memory"))?;
        let columns = |elements: u32| elements * storage_bits(desc.element_type()) / 32;
        Ok(Self::Tensor { block: columns((shape.extents()[1] as u32) << gap), step: columns(k) })
    }

    /// The tile in shared memory.
    pub fn tile(&self) -> Option<&WarpgroupTile> {
        if let Self::Shared(tile) = self { Some(tile) } else { None }
    }
}

/// The most rows of an instruction that reads its left operand from tensor memory.
const OPERAND_ROWS: u32 = 128;

/// Whether a tensor is a constant of positive zeros.
pub fn is_zero(v: Val<'_>) -> bool {
    let constant = defining_op(v).filter(|op| matches!(Arith::of(*op), Some(Arith::Constant)));
    let dense = constant.and_then(|op| attr(op, "value")).and_then(elements::splat);
    dense.is_some_and(elements::is_zero)
}

/// Whether partial sums of the tensor cores must be promoted to a separate accumulator, every `most` elements of K.
/// The tensor cores accumulate products of 8-bit floats with less precision than f32. A sum that starts at zero and
/// covers at most `most` elements is accurate enough without promotion.
pub fn promotes(element: Element, fast: bool, (acc, depth): (Val<'_>, i64), most: u32) -> bool {
    let is_small = matches!(element, Element::E4m3 | Element::E5m2);
    is_small && !fast && (depth > most.into() || !is_zero(acc))
}

/// Returns the format of a dot's operands, each of which may be unsigned, if both have the same one.
pub fn operand_format(operands: [(Val<'_>, bool); 2]) -> Option<Element> {
    let [left, right] = operands.map(|(v, unsigned)| element_of(Tensor::of_value(v)?.element, unsigned));
    left.filter(|_| left == right)
}

/// The storage of the left operand of a warpgroup dot.
enum LeftOperand<'c> {
    Memory(MemDescType<'c>),
    Registers(Tensor<'c>),
}

impl<'c> LeftOperand<'c> {
    fn of(v: Val<'c>) -> Option<Self> {
        MemDescType::cast(ty(v)).map(Self::Memory).or_else(|| Tensor::of_value(v).map(Self::Registers))
    }
    fn element(&self) -> Type<'c> {
        match self {
            Self::Memory(desc) => desc.element_type(),
            Self::Registers(tensor) => tensor.element,
        }
    }
}

impl WarpgroupTile {
    /// `rows` is the extent of the instruction's tile along dimension `mn`.
    fn of(unit: Unit, what: &str, desc: MemDescType<'_>, (mn, k): (usize, usize), rows: u32) -> Result<Self, String> {
        let wrong = |e: String| format!("the instruction cannot read {what} from this shared memory layout: {e}");
        let mut shape = Shape::new(desc.shape()).map_err(|e| wrong(e.to_string()))?;
        let mut shared = shared_layout(desc).ok_or_else(|| wrong("the layout is invalid".into()))?;
        if desc.packed() {
            let pairs = Pairs::of(&shape, &shared).map_err(|e| wrong(e.to_string()))?;
            (shape, shared) = (pairs.shape, pairs.shared);
        }
        let layout = HardwareLayout::recognise(&shared, &shape, storage_bits(desc.element_type()))
            .map_err(|e| wrong(e.to_string()))?;
        let operand = match unit {
            Unit::Warpgroup => layout.operand(mn, k, rows),
            _ => layout.tensor_operand(mn, k, rows),
        };
        let operand = operand.map_err(|e| wrong(e.to_string()))?;
        let (found, needed) = (desc.alignment(), layout.alignment());
        if found < needed.into() {
            return Err(wrong(format!("its alignment is {found} bytes, but its swizzle needs {needed}")));
        }
        Ok(Self { layout, operand })
    }
}
