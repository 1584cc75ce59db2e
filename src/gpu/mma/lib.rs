//! The matrix instructions of NVIDIA GPUs, in one table.
//!
//! A [`Row`] is a family of instructions that differ only in the number of columns and in the element types: what
//! executes them ([`Unit`]), their extents, what A, B and the sums may be, where each operand may lie, in which order
//! operands in shared memory may be, which feature of a target they need, and how fast they are. [`ROWS`] has all dense
//! ones:
//!
//! | unit | PTX | executed by | A | B | sums |
//! |---|---|---|---|---|---|
//! | [`Unit::Sync`] | `mma.sync` | a warp | registers | registers | registers |
//! | [`Unit::BlockScale`] | `mma.sync` with `.block_scale` | a warp | registers | registers | registers |
//! | [`Unit::Warpgroup`] | `wgmma.mma_async` | four warps | registers, shared memory | shared memory | registers |
//! | [`Unit::Tensor`] | `tcgen05.mma`, `cta_group::1` | one thread | shared, tensor | shared memory | tensor memory |
//! | [`Unit::TensorPair`] | `tcgen05.mma`, `cta_group::2` | one thread of two blocks | as above | as above | as above |
//!
//! The choice of instructions, the verifier of products, their lowering, the tests of the simulator and
//! `docs/reference/matrix-instructions.md` read this table; none of them has another list. Fragments are computed by
//! [`tile_layout::MmaShape`], from the extents of a row and the width of its elements.
//!
//! A row whose [`Row::lowering`] is `None` exists in hardware but is not generated: programs may name it and get an
//! error that says so, and [`candidates`] leaves it out. An instruction is implemented by giving its row a lowering.
//!
//! Not in the table: sparse forms, the weight-stationary forms of `tcgen05.mma` (`.ws`), its K = 96, and `m8n8k4` of
//! f16, which is four products by groups of eight lanes and has been slow since sm_75.
//!
//! *Example.* `e4m3` times `e4m3` summed in f32, 16 x 8 x 32: [`find`] gives the row with the shape, types and feature
//! `fp8-mma`, and [`Instruction::ptx`] its name, `mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32`.

#![deny(unsafe_code)]

mod element;
mod page;
mod rate;
mod table;

pub use element::Element;
pub use page::markdown;
pub use rate::{PEAKS, Peak};
pub use table::ROWS;

use tile_layout::{Fragment, LayoutError, MmaShape, Operand};
use tile_targets::{Feature, PtxVersion, Target, requirements_of};

/// What executes an instruction. In the order of preference where a target has several: the last is the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    Sync,
    BlockScale,
    Warpgroup,
    Tensor,
    TensorPair,
}

/// Where an operand lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Storage {
    Register,
    Shared,
    Tensor,
}

/// The dimension along which the elements of an operand in shared memory are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Major {
    /// The reduction.
    K,
    /// Rows of A, columns of B.
    Mn,
}

/// The numbers of columns that instructions of a row have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    One(u32),
    /// Multiples of `step`, from `step` to 256.
    Steps(u32),
    /// 8, 16, 24, and multiples of 16 from 32 to 256: what integers have.
    Integer,
}

/// Factors of the blocks along K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scales {
    pub formats: &'static [Element],
    /// Elements along K that share a factor.
    pub block: u32,
}

/// How the compiler generates an instruction, and for which formats of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowering {
    pub emission: Emission,
    pub operands: &'static [Element],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emission {
    /// An intrinsic of LLVM.
    Intrinsic,
    /// Inline PTX: LLVM has no intrinsic.
    Assembly,
}

/// A family of instructions. See the top of the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub unit: Unit,
    /// PTX's `.kind`; empty where there is none.
    pub kind: &'static str,
    pub m: u32,
    pub n: Columns,
    pub k: u32,
    pub operands: &'static [Element],
    /// Whether A and B may be of different formats.
    pub mixed: bool,
    pub accumulators: &'static [Element],
    /// Bits that an element of A or B takes in a word: narrow ones may be padded to a byte.
    pub container: u32,
    pub scales: Option<Scales>,
    /// Orders of A and B in shared memory; empty for units that take both from registers.
    pub majors: &'static [Major],
    /// What a target must have; none if all have it.
    pub feature: Option<Feature>,
    /// Multiply-adds per clock, in sixteenths of what the unit does with 16-bit floats. See [`Row::rate_on`].
    pub rate: u32,
    pub lowering: Option<Lowering>,
}

/// One instruction of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub row: &'static Row,
    pub n: u32,
    pub a: Element,
    pub b: Element,
    pub accumulator: Element,
    pub scale: Option<Element>,
}

impl Unit {
    pub const ALL: [Unit; 5] = [Unit::Sync, Unit::BlockScale, Unit::Warpgroup, Unit::Tensor, Unit::TensorPair];

    /// Where an instruction takes an operand from, or leaves its sums.
    pub const fn storage(self, operand: Operand) -> &'static [Storage] {
        match (self, operand) {
            (Unit::Sync | Unit::BlockScale, _) | (Unit::Warpgroup, Operand::Accumulator) => &[Storage::Register],
            (Unit::Warpgroup, Operand::A) => &[Storage::Register, Storage::Shared],
            (Unit::Tensor | Unit::TensorPair, Operand::A) => &[Storage::Shared, Storage::Tensor],
            (Unit::Tensor | Unit::TensorPair, Operand::Accumulator) => &[Storage::Tensor],
            (_, Operand::B) => &[Storage::Shared],
        }
    }

    /// The keyword in `#nv_tileas.mma`.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Sync => "sync",
            Unit::BlockScale => "block_scale",
            Unit::Warpgroup => "warpgroup",
            Unit::Tensor => "tensor",
            Unit::TensorPair => "tensor_pair",
        }
    }

    /// What PTX calls the instruction.
    pub const fn opcode(self) -> &'static str {
        match self {
            Unit::Sync | Unit::BlockScale => "mma.sync.aligned",
            Unit::Warpgroup => "wgmma.mma_async.sync.aligned",
            Unit::Tensor => "tcgen05.mma.cta_group::1",
            Unit::TensorPair => "tcgen05.mma.cta_group::2",
        }
    }
}

impl Storage {
    pub const fn name(self) -> &'static str {
        match self {
            Storage::Register => "registers",
            Storage::Shared => "shared memory",
            Storage::Tensor => "tensor memory",
        }
    }
}

impl Columns {
    pub const fn has(self, n: u32) -> bool {
        match self {
            Columns::One(only) => n == only,
            Columns::Steps(step) => n >= step && n <= 256 && n.is_multiple_of(step),
            Columns::Integer => n == 8 || n == 24 || n >= 16 && n <= 256 && n.is_multiple_of(16),
        }
    }

    /// All of them, rising.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (8..=256).step_by(8).filter(move |&n| self.has(n))
    }
}

impl Row {
    pub fn storage(&self, operand: Operand) -> &'static [Storage] {
        self.unit.storage(operand)
    }

    /// Whether operands of these formats are multiplied.
    pub fn multiplies(&self, a: Element, b: Element) -> bool {
        self.operands.contains(&a) && self.operands.contains(&b) && (self.mixed || a == b)
    }

    /// Whether the compiler generates the instruction for operands of these formats.
    pub fn is_lowered(&self, a: Element, b: Element) -> bool {
        self.multiplies(a, b) && self.lowering.is_some_and(|l| l.operands.contains(&a) && l.operands.contains(&b))
    }

    pub fn is_on(&self, target: &Target) -> bool {
        self.feature.is_none_or(|f| target.has(f))
    }

    /// What the fragments in registers follow from; none where no operand is in registers.
    pub fn fragments(&self, n: u32) -> Option<MmaShape> {
        let warps = match self.unit {
            Unit::Sync | Unit::BlockScale => 1,
            Unit::Warpgroup => 4,
            Unit::Tensor | Unit::TensorPair => return None,
        };
        Some(MmaShape { m: self.m, n, k: self.k, operand_bits: self.container, warps })
    }

    /// The fragment of an operand of the instruction with `n` columns.
    ///
    /// Errors: the operand is never in registers, or `n` is no power of two.
    pub fn fragment(&self, n: u32, operand: Operand) -> Result<Fragment, LayoutError> {
        let expected = "an operand that may be in registers";
        let none = LayoutError::UnsupportedElement { bits: self.container, expected };
        let shape = self.fragments(n).filter(|_| self.storage(operand).contains(&Storage::Register)).ok_or(none)?;
        shape.fragment(operand)
    }

    /// Every instruction of the row, in the order of its lists.
    pub fn instructions(&'static self) -> impl Iterator<Item = Instruction> {
        let scales: Vec<Option<Element>> = match self.scales {
            Some(s) => s.formats.iter().copied().map(Some).collect(),
            None => vec![None],
        };
        let pairs = self.operands.iter().flat_map(move |&a| self.operands.iter().map(move |&b| (a, b)));
        let pairs: Vec<_> = pairs.filter(|&(a, b)| self.multiplies(a, b)).collect();
        self.n.iter().flat_map(move |n| {
            let scales = scales.clone();
            pairs.clone().into_iter().flat_map(move |(a, b)| {
                let scales = scales.clone();
                self.accumulators.iter().flat_map(move |&accumulator| {
                    scales.clone().into_iter().map(move |scale| Instruction { row: self, n, a, b, accumulator, scale })
                })
            })
        })
    }
}

impl Instruction {
    /// The instruction as PTX names it.
    pub fn ptx(&self) -> String {
        let Row { unit, kind, m, k, scales, .. } = self.row;
        let (n, a, b, sum) = (self.n, self.a.name(), self.b.name(), self.accumulator.name());
        let opcode = unit.opcode();
        let popc = if self.a == Element::B1 { ".and.popc" } else { "" };
        let kind = if kind.is_empty() { String::new() } else { format!(".kind::{kind}") };
        let block_scale = match scales {
            Some(s) => format!(".block_scale.scale_vec::{}X", k / s.block),
            None => String::new(),
        };
        match unit {
            Unit::Sync | Unit::BlockScale => {
                let scale = self.scale.map_or(String::new(), |s| format!(".{}", s.name()));
                format!("{opcode}.m{m}n{n}k{k}.row.col{kind}{block_scale}.{sum}.{a}.{b}.{sum}{popc}{scale}")
            }
            Unit::Warpgroup => format!("{opcode}.m{m}n{n}k{k}.{sum}.{a}.{b}{popc}"),
            Unit::Tensor | Unit::TensorPair => format!("{opcode}{kind}{block_scale}"),
        }
    }

    /// The version of PTX that brought it.
    pub fn version(&self) -> PtxVersion {
        requirements_of(&self.ptx()).map(|r| r.version).max().unwrap_or(PtxVersion { major: 7, minor: 0 })
    }

    pub fn fragment(&self, operand: Operand) -> Result<Fragment, LayoutError> {
        self.row.fragment(self.n, operand)
    }
}

/// The rows of a unit that have a shape and multiply these formats.
pub fn rows_of(unit: Unit, [m, n, k]: [u32; 3], a: Element, b: Element) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |r| r.unit == unit && r.m == m && r.n.has(n) && r.k == k && r.multiplies(a, b))
}

/// The instruction of a unit, a shape and types; `scale` is the format of the factors and the size of their blocks.
///
/// Where two rows have it, which `mxf4` and `mxf4nvf4` do, it is the one that is generated.
pub fn find(
    unit: Unit,
    shape: [u32; 3],
    [a, b, accumulator]: [Element; 3],
    scale: Option<(Element, u32)>,
) -> Option<Instruction> {
    let scaled = |row: &Row| match (row.scales, scale) {
        (Some(s), Some((format, block))) => s.block == block && s.formats.contains(&format),
        (None, None) => true,
        _ => false,
    };
    let row = rows_of(unit, shape, a, b)
        .filter(|r| r.accumulators.contains(&accumulator) && scaled(r))
        .max_by_key(|r| (r.is_lowered(a, b), std::cmp::Reverse(r.kind)))?;
    Some(Instruction { row, n: shape[1], a, b, accumulator, scale: scale.map(|s| s.0) })
}

/// The rows that the compiler generates on a target for operands of one format in registers, with or without scales;
/// the best for products of a depth of `k` elements first. Units that read shared memory are chosen by whoever puts
/// operands there.
///
/// The best is of the fastest unit, fits into the depth, and of those that fit is the deepest; if none fits it is the
/// shallowest, whose elements beyond the tile are zeros.
pub fn candidates(element: Element, k: u32, scaled: bool, target: &Target) -> Vec<&'static Row> {
    let mut rows: Vec<&Row> = ROWS
        .iter()
        .filter(|r| r.is_lowered(element, element) && r.scales.is_some() == scaled && r.is_on(target))
        .filter(|r| r.storage(Operand::B).contains(&Storage::Register))
        .collect();
    rows.sort_by_key(|r| {
        let depth = if r.k <= k { i64::from(r.k) } else { -i64::from(r.k) };
        std::cmp::Reverse((r.unit, r.k <= k, r.rate, depth))
    });
    rows
}
