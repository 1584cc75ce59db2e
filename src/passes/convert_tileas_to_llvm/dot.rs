//! Matrix products: the instructions of a thread, as the layout algebra lists them.
//!
//! Operands travel in words: elements that came out of one word of memory go back into an instruction as that word.

use super::{Lower, element_type, llvm::Cmp};
use crate::dialect::{
    dots::Instruction,
    layouts::{Tensor, storage_bits},
    nv_tileas::{DotOp, DotScaledOp, MmaKind},
    pass::{Failed, fail},
    rt::*,
};
use melior::ir::{Type, TypeLike};
use mlir_sys::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use tile_layout::{Layout, LayoutError, Multiplier, Operand, Product, Step};

/// What one instruction multiplies, as PTX spells it.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    F16,
    Bf16,
    Tf32,
    F64,
    E4m3,
    E5m2,
    S8,
    U8,
}

impl Kind {
    fn of(element: Type<'_>, unsigned: bool) -> Option<Self> {
        let raw = element.to_raw();
        // SAFETY: the type is alive.
        unsafe {
            Some(match () {
                _ if mlirTypeIsAF16(raw) => Self::F16,
                _ if mlirTypeIsABF16(raw) => Self::Bf16,
                _ if mlirTypeIsATF32(raw) => Self::Tf32,
                _ if mlirTypeIsAF64(raw) => Self::F64,
                _ if mlirTypeIsAFloat8E4M3FN(raw) => Self::E4m3,
                _ if mlirTypeIsAFloat8E5M2(raw) => Self::E5m2,
                _ if mlirTypeIsAInteger(raw) && mlirIntegerTypeGetWidth(raw) == 8 && unsigned => Self::U8,
                _ if mlirTypeIsAInteger(raw) && mlirIntegerTypeGetWidth(raw) == 8 => Self::S8,
                _ => return None,
            })
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Tf32 => "tf32",
            Self::F64 => "f64",
            Self::E4m3 => "e4m3",
            Self::E5m2 => "e5m2",
            Self::S8 => "s8",
            Self::U8 => "u8",
        }
    }
}

/// A product with everything that its instructions are made from.
pub(super) struct Job<'c> {
    op: OpRef<'c>,
    pub product: Product,
    multiplier: Multiplier,
    kinds: [Option<Kind>; 2],
    /// Element types of lhs, rhs and accumulator.
    elements: [Type<'c>; 3],
    unsigned: [bool; 2],
    pub steps: Vec<Step>,
    pub lhs: Vec<Val<'c>>,
    pub rhs: Vec<Val<'c>>,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn dot(&mut self, op: DotOp<'c>) -> Result<(), Failed> {
        let unsigned = [op.lhs_unsigned(), op.rhs_unsigned()];
        let job = self.job(op.op(), [op.lhs(), op.rhs(), op.acc()], op.instruction(), unsigned)?;
        let start = self.fragment(op.op(), op.acc())?;
        self.multiplies = true;
        let sums = self.multiply(&job, start, &job.steps)?;
        self.set_all(op.result(), sums);
        Ok(())
    }

    pub(super) fn dot_scaled(&mut self, op: DotScaledOp<'c>) -> Result<(), Failed> {
        if let Some(instruction) = Instruction::of(op.instruction()).filter(|i| i.kind == MmaKind::BlockScale) {
            return self.block_scaled(op, instruction);
        }
        let job = self.job(op.op(), [op.lhs(), op.rhs(), op.acc()], op.instruction(), [false; 2])?;
        let error = |e: LayoutError| fail(op.op(), e.to_string());
        let scale_tile = Tensor::of_value(op.lhs_scale()).ok_or_else(|| fail(op.op(), "scales are no tensor"))?;
        let blocks = scale_tile.tile_shape().log2().last().copied().unwrap_or(0);
        let (_, _, _, depth) = job.product.log2();
        let acc = self.layout(op.op(), op.acc())?;
        let per_block = job.product.with_depth(blocks);
        let scales = |this: &Self, v: Val<'c>| -> Result<(Layout, Vec<Val<'c>>), Failed> {
            let element = Tensor::of_value(v).map_or(ty(v), |t| t.element);
            let values = this.fragment(op.op(), v)?;
            let wide = values.into_iter().map(|s| this.widened(op.op(), s, element)).collect::<Result<_, _>>()?;
            Ok((this.layout(op.op(), v)?, wide))
        };
        let (left_layout, left) = scales(self, op.lhs_scale())?;
        let (right_layout, right) = scales(self, op.rhs_scale())?;
        let mut sums = self.fragment(op.op(), op.acc())?;
        self.multiplies = true;
        let zero = self.l.float(self.l.f32, 0.0);
        let size = 1u32 << (depth - blocks);
        for block in 0..1u32 << blocks {
            let rows = per_block.scale_registers(&acc, &left_layout, Operand::A, block).map_err(error)?;
            let columns = per_block.scale_registers(&acc, &right_layout, Operand::B, block).map_err(error)?;
            // The block's sum unscaled, then once times both scales; few accumulators at a time, for the sake of registers.
            let mut steps: Vec<Step> = job.steps.iter().filter(|s| s.k / size == block).cloned().collect();
            steps.sort_by(|a, b| a.accumulator.cmp(&b.accumulator));
            let mut groups: Vec<&[Step]> = steps.chunk_by(|a, b| a.accumulator == b.accumulator).collect();
            // The operand with fewer fragments stays in registers, those of the other come and go.
            let fragments = |side: fn(&Step) -> &Vec<Option<u32>>| {
                groups.iter().map(|g| side(&g[0])).collect::<BTreeSet<_>>().len()
            };
            match fragments(|s| &s.lhs) < fragments(|s| &s.rhs) {
                true => groups.sort_by(|a, b| (&a[0].rhs, &a[0].lhs).cmp(&(&b[0].rhs, &b[0].lhs))),
                false => groups.sort_by(|a, b| (&a[0].lhs, &a[0].rhs).cmp(&(&b[0].lhs, &b[0].rhs))),
            }
            for group in groups {
                let part = self.multiply(&job, vec![zero; sums.len()], group)?;
                for r in group[0].accumulator.iter().flatten().map(|&r| r as usize) {
                    let scaled = self.l.bin("fmul", part[r], left[rows[r] as usize]);
                    let args = [scaled, right[columns[r] as usize], sums[r]];
                    sums[r] = self.l.b.value("llvm.intr.fma", self.l.f32, &args, &[]);
                }
            }
        }
        self.set_all(op.result(), sums);
        Ok(())
    }

    pub(super) fn job(
        &self,
        op: OpRef<'c>,
        operands: [Val<'c>; 3],
        instruction: melior::ir::Attribute<'c>,
        unsigned: [bool; 2],
    ) -> Result<Job<'c>, Failed> {
        let error = |e: LayoutError| fail(op, e.to_string());
        let tensor = |v| Tensor::of_value(v).ok_or_else(|| fail(op, "operand is no tensor"));
        let [lhs, rhs, acc] = [tensor(operands[0])?, tensor(operands[1])?, tensor(operands[2])?];
        let product = Product::new(&lhs.tile_shape(), &rhs.tile_shape(), &acc.tile_shape()).map_err(error)?;
        let instruction =
            Instruction::of(instruction).ok_or_else(|| fail(op, "the instruction has no lowering to LLVM"))?;
        let multiplier = instruction.multiplier(lhs.element);
        let layouts = [self.layout(op, operands[0])?, self.layout(op, operands[1])?, self.layout(op, operands[2])?];
        let steps = product.steps(multiplier, &layouts[2], &layouts[0], &layouts[1]).map_err(error)?;
        Ok(Job {
            op,
            product,
            multiplier,
            kinds: [Kind::of(lhs.element, unsigned[0]), Kind::of(rhs.element, unsigned[1])],
            elements: [lhs.element, rhs.element, acc.element],
            unsigned,
            steps,
            lhs: self.fragment(op, operands[0])?,
            rhs: self.fragment(op, operands[1])?,
        })
    }

    /// `start` plus the products of `steps`.
    fn multiply(&self, job: &Job<'c>, start: Vec<Val<'c>>, steps: &[Step]) -> Result<Vec<Val<'c>>, Failed> {
        match job.multiplier {
            Multiplier::Scalar => self.multiply_scalars(job, start, steps),
            Multiplier::Sync(_) => self.multiply_fragments(job, start, steps),
        }
    }

    //===-- scalar arithmetic -----------------------------------------------===//

    /// Formats narrower than f32 are multiplied and summed in f32, which rounds less often than they would.
    fn multiply_scalars(&self, job: &Job<'c>, start: Vec<Val<'c>>, steps: &[Step]) -> Result<Vec<Val<'c>>, Failed> {
        let l = &self.l;
        let widen = |values: &[Val<'c>], side: usize| -> Result<Vec<Val<'c>>, Failed> {
            let (element, unsigned) = (job.elements[side], job.unsigned.get(side).copied().unwrap_or(false));
            values
                .iter()
                .map(|&v| match is_integer(element) {
                    true => Ok(l.cast(if unsigned { "zext" } else { "sext" }, v, l.i32)),
                    false => self.widened(job.op, v, element),
                })
                .collect()
        };
        let (lhs, rhs, mut sums) = (widen(&job.lhs, 0)?, widen(&job.rhs, 1)?, widen(&start, 2)?);
        let wrong = || fail(job.op, "a multiplication has no registers");
        for step in steps {
            let [Some(c), Some(a), Some(b)] = [step.accumulator[0], step.lhs[0], step.rhs[0]] else {
                return Err(wrong());
            };
            let (a, b, c) = (lhs[a as usize], rhs[b as usize], c as usize);
            sums[c] = match is_integer(job.elements[2]) {
                true => l.add(sums[c], l.mul(a, b)),
                false => l.b.value("llvm.intr.fma", ty(a), &[a, b, sums[c]], &[]),
            };
        }
        let to = element_type(l.context(), job.elements[2]).ok_or_else(wrong)?;
        Ok(sums.into_iter().map(|v| l.cast("fptrunc", v, to)).collect())
    }

    /// A float as f32, or as f64 when it is one; exact.
    fn widened(&self, op: OpRef<'c>, v: Val<'c>, element: Type<'c>) -> Result<Val<'c>, Failed> {
        let l = &self.l;
        match storage_bits(element) {
            8 => self.narrow_cast(op, v, element, l.f32, crate::dialect::nv_tileaa::Rounding::NearestEven),
            16 => Ok(l.cast("fpext", v, l.f32)),
            _ => Ok(v),
        }
    }

    //===-- mma.sync --------------------------------------------------------===//

    fn multiply_fragments(&self, job: &Job<'c>, start: Vec<Val<'c>>, steps: &[Step]) -> Result<Vec<Val<'c>>, Failed> {
        let (Multiplier::Sync(instruction), [Some(a), Some(b)]) = (job.multiplier, job.kinds) else {
            return Err(fail(job.op, "no instruction multiplies these elements"));
        };
        let mut sums = start;
        let half = storage_bits(job.elements[2]) == 16;
        let outside = self.outside(job);
        let mut packed: [FxHashMap<Vec<Option<u32>>, Val<'c>>; 2] = Default::default();
        let (m, n, k) = instruction.extents();
        let name = self.instruction_name([m, n, k], a, b, half);
        for step in steps {
            let mut args = vec![];
            for (side, (list, values)) in [(&step.lhs, &job.lhs), (&step.rhs, &job.rhs)].into_iter().enumerate() {
                let per_word = (32 / instruction.operand_bits()).max(1) as usize;
                for word in list.chunks(per_word) {
                    let v = match packed[side].get(word) {
                        Some(v) => *v,
                        None => {
                            let v = self.operand_word(job.elements[side], values, word, outside);
                            packed[side].insert(word.to_vec(), v);
                            v
                        }
                    };
                    args.push(v);
                }
            }
            self.accumulate(&name, a, half, args, &step.accumulator, &mut sums)?;
        }
        Ok(sums)
    }

    /// Whether the lane is beyond the depth of the tile and supplies zeros; none if no lane is.
    pub(super) fn outside(&self, job: &Job<'c>) -> Option<Val<'c>> {
        let lanes = job.product.zero_lanes(job.multiplier);
        (lanes != 0).then(|| {
            let bits = self.l.bin("and", self.lane, self.l.i32c(lanes.into()));
            self.l.icmp(Cmp::Ne, bits, self.l.i32c(0))
        })
    }

    /// A word of an operand; elements that the tile lacks are zero.
    pub(super) fn operand_word(
        &self,
        element: Type<'c>,
        values: &[Val<'c>],
        word: &[Option<u32>],
        outside: Option<Val<'c>>,
    ) -> Val<'c> {
        let l = &self.l;
        let wide = storage_bits(element) == 64;
        let word_type = if wide { l.f64 } else { l.i32 };
        let zero = || if wide { l.float(l.f64, 0.0) } else { l.i32c(0) };
        if word.iter().all(Option::is_none) {
            return zero();
        }
        let v = match word {
            [Some(r)] if wide => values[*r as usize],
            [Some(r)] => l.cast("bitcast", values[*r as usize], l.i32),
            _ => {
                let elements: Vec<Option<Val<'c>>> = word.iter().map(|r| r.map(|r| values[r as usize])).collect();
                self.pack_word(element, &elements)
            }
        };
        debug_assert!(ty(v) == word_type);
        match outside {
            Some(outside) => l.select(outside, zero(), v),
            None => v,
        }
    }

    /// The intrinsic, or the inline PTX of what LLVM has no intrinsic for.
    fn instruction_name(&self, [m, n, k]: [u32; 3], a: Kind, b: Kind, half: bool) -> Name {
        let shape = format!("m{m}n{n}k{k}");
        let sum = if half { "f16" } else { "f32" };
        match a {
            Kind::E4m3 | Kind::E5m2 => {
                Name::Asm(format!("mma.sync.aligned.{shape}.row.col.{sum}.{}.{}.{sum}", a.name(), b.name()))
            }
            Kind::F16 => Name::Intrinsic(format!("llvm.nvvm.mma.{shape}.row.col.{sum}.{sum}")),
            Kind::S8 | Kind::U8 if a != b => {
                Name::Intrinsic(format!("llvm.nvvm.mma.{shape}.row.col.{}.{}", a.name(), b.name()))
            }
            _ => Name::Intrinsic(format!("llvm.nvvm.mma.{shape}.row.col.{}", a.name())),
        }
    }

    /// One instruction: `registers` of the accumulator plus the product of the words in `args`.
    fn accumulate(
        &self,
        name: &Name,
        kind: Kind,
        half: bool,
        mut args: Vec<Val<'c>>,
        accumulator: &[Option<u32>],
        registers: &mut [Val<'c>],
    ) -> Result<(), Failed> {
        let l = &self.l;
        let pair = l.vector(2, l.f16);
        if kind == Kind::F16 {
            args = args.into_iter().map(|v| l.cast("bitcast", v, pair)).collect();
        }
        let held = accumulator.iter().flatten().next().map(|&r| ty(registers[r as usize]));
        let element = held.expect("an instruction has an accumulator");
        let fill = || if is_integer(element) { l.int(element, 0) } else { l.float(element, 0.0) };
        let mut sums: Vec<Val<'c>> =
            accumulator.iter().map(|r| r.map_or_else(fill, |r| registers[r as usize])).collect();
        if half {
            sums = sums.chunks(2).map(|two| l.insert(l.insert(l.poison(pair), two[0], 0), two[1], 1)).collect();
        }
        let (count, first) = (sums.len(), args.len());
        let result = match name {
            Name::Intrinsic(name) => {
                let fields = l.structure(&vec![ty(sums[0]); count]);
                args.extend(sums);
                l.intrinsic(name, Some(fields), &args)
            }
            Name::Asm(name) => {
                // Words of halves travel as 32-bit registers.
                let (class, carrier) = if half { ("r", l.i32) } else { ("f", l.f32) };
                args.extend(sums.into_iter().map(|v| l.cast("bitcast", v, carrier)));
                // A has twice the words of B.
                let (lhs, rhs) = (first / 3 * 2, first / 3);
                let text = format!(
                    "{name} {}, {}, {}, {};",
                    operand_list(0, count),
                    operand_list(count, lhs),
                    operand_list(count + lhs, rhs),
                    operand_list(count + first, count)
                );
                let mut constraints = vec![format!("={class}"); count];
                constraints.extend(vec!["r".to_string(); first]);
                constraints.extend(vec![class.to_string(); count]);
                let fields = l.structure(&vec![carrier; count]);
                l.asm(&text, &constraints.join(","), Some(fields), &args, true)
            }
        };
        let result = result.expect("an instruction with a result");
        let field = match name {
            Name::Asm(_) if half => l.i32,
            _ if half => pair,
            _ => element,
        };
        for (i, r) in accumulator.iter().enumerate() {
            let Some(r) = r else { continue };
            registers[*r as usize] = if half {
                let word = l.cast("bitcast", l.field(result, field, i as i64 / 2), pair);
                l.extract(word, l.f16, i % 2)
            } else {
                l.field(result, field, i as i64)
            };
        }
        Ok(())
    }
}

enum Name {
    Intrinsic(String),
    Asm(String),
}

/// Operands `from` to `from + n` of inline assembly as PTX groups registers.
pub(super) fn operand_list(from: usize, n: usize) -> String {
    let names: Vec<String> = (from..from + n).map(|i| format!("${i}")).collect();
    format!("{{{}}}", names.join(", "))
}

fn is_integer(t: Type<'_>) -> bool {
    // SAFETY: the type is alive.
    unsafe { mlirTypeIsAInteger(t.to_raw()) }
}
