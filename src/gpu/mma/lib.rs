//! The table of matrix instructions of NVIDIA GPUs.
//!
//! A [`Row`] is a family of instructions that differ only in the number of columns and in the element types. It
//! states what executes them ([`Unit`]), their extents, the types of A, B and the accumulator, where each operand may
//! be stored and in which order, the target feature they need, and their rate. [`ROWS`] has all dense instructions:
//!
//! | unit | PTX | executed by | A | B | accumulator |
//! |---|---|---|---|---|---|
//! | [`Unit::Sync`] | `mma.sync` | a warp | registers | registers | registers |
//! | [`Unit::BlockScale`] | `mma.sync` with `.block_scale` | a warp | registers | registers | registers |
//! | [`Unit::Warpgroup`] | `wgmma.mma_async` | four warps | registers, shared memory | shared memory | registers |
//! | [`Unit::Tensor`] | `tcgen05.mma`, `cta_group::1` | one thread | shared, tensor | shared memory | tensor memory |
//! | [`Unit::TensorPair`] | `tcgen05.mma`, `cta_group::2` | one thread of two CTAs | as above | as above | as above |
//!
//! The choice of instructions, the verifier of dots, their lowering, the tests of the simulator and
//! `docs/reference/matrix-instructions.md` all read this table; it is the only list of instructions.
//! [`tile_layout::MmaShape`] computes fragments from the extents of a row and the width of its elements.
//!
//! A row with `None` as its [`Row::lowering`] exists in hardware, but the compiler does not generate it: a program
//! that names it gets an error that says so, and [`candidates`] leaves it out. To implement an instruction, give its
//! row a lowering.
//!
//! The table omits sparse forms, the weight-stationary forms of `tcgen05.mma` (`.ws`), its K = 96, and `m8n8k4` of
//! f16, which computes four dots in groups of eight lanes and has been slow since sm_75.
//!
//! *Example.* `e4m3` times `e4m3` accumulated in f32, 16 x 8 x 32: [`find`] returns the row with this shape, these
//! types and the feature `fp8-mma`. [`Instruction::ptx`] returns its name,
//! `mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32`.

#![deny(unsafe_code)]

mod element;
mod page;
mod rate;
mod table;

pub use element::Element;
pub use page::markdown;
pub use rate::{PEAKS, Peak};
pub use table::ROWS;
pub use tile_layout::{Major, ScaleFactors};

use tile_layout::{Fragment, LayoutError, MmaShape, Operand};
use tile_targets::{Feature, PtxVersion, Target, requirements_of};

/// The unit that executes an instruction. If a target has several, the last in this order is the fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    Sync,
    BlockScale,
    Warpgroup,
    Tensor,
    TensorPair,
}

/// The storage of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Storage {
    Register,
    Shared,
    Tensor,
}

/// The numbers of columns that the instructions of a row have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    One(u32),
    /// Multiples of `step`, from `step` to 256.
    Steps(u32),
    /// 8, 16, 24, and multiples of 16 from 32 to 256, for integers.
    Integer,
}

/// The scales of blocks along K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scales {
    pub formats: &'static [Element],
    /// The elements along K that share a scale.
    pub block: u32,
}

/// How the compiler generates an instruction, and for which formats of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowering {
    pub emission: Emission,
    pub operands: &'static [Element],
}

/// The form in which the compiler emits an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emission {
    /// An LLVM intrinsic.
    Intrinsic,
    /// Inline PTX, because LLVM lacks an intrinsic.
    Assembly,
}

/// A family of instructions; see the crate documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub unit: Unit,
    /// The `.kind` in PTX, or empty.
    pub kind: &'static str,
    pub m: u32,
    pub n: Columns,
    pub k: u32,
    pub operands: &'static [Element],
    /// Whether A and B may have different formats.
    pub mixed: bool,
    pub accumulators: &'static [Element],
    /// The bits that an element of A or B takes in a word. Narrow elements may be padded to a byte.
    pub container: u32,
    pub scales: Option<Scales>,
    /// The orders of A and B in shared memory; empty for units that read both from registers.
    pub majors: &'static [Major],
    /// The required feature; `None` if every target has the instruction.
    pub feature: Option<Feature>,
    /// Multiply-adds per clock, in sixteenths of the unit's rate for 16-bit floats. See [`Row::rate_on`].
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
    /// All units, in order of preference.
    pub const ALL: [Unit; 5] = [Unit::Sync, Unit::BlockScale, Unit::Warpgroup, Unit::Tensor, Unit::TensorPair];

    /// Where an instruction reads an operand, or stores the accumulator.
    pub const fn storage(self, operand: Operand) -> &'static [Storage] {
        match (self, operand) {
            (Unit::Sync | Unit::BlockScale, _) | (Unit::Warpgroup, Operand::Accumulator) => &[Storage::Register],
            (Unit::Warpgroup, Operand::A) => &[Storage::Register, Storage::Shared],
            (Unit::Tensor | Unit::TensorPair, Operand::A) => &[Storage::Shared, Storage::Tensor],
            (Unit::Tensor | Unit::TensorPair, Operand::Accumulator) => &[Storage::Tensor],
            (_, Operand::B) => &[Storage::Shared],
        }
    }

    /// The CTAs that an instruction multiplies for. They divide its rows, and the columns of B.
    pub const fn ctas(self) -> u32 {
        match self {
            Unit::TensorPair => 2,
            _ => 1,
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

    /// The name in messages.
    pub const fn title(self) -> &'static str {
        match self {
            Unit::Sync => "mma.sync",
            Unit::BlockScale => "mma.sync with block scales",
            Unit::Warpgroup => "wgmma",
            Unit::Tensor => "tcgen05",
            Unit::TensorPair => "tcgen05 by pairs of CTAs",
        }
    }

    /// The opcode in PTX.
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
    /// Whether instructions with `n` columns exist.
    pub const fn has(self, n: u32) -> bool {
        match self {
            Columns::One(only) => n == only,
            Columns::Steps(step) => n >= step && n <= 256 && n.is_multiple_of(step),
            Columns::Integer => n == 8 || n == 24 || n >= 16 && n <= 256 && n.is_multiple_of(16),
        }
    }

    /// All numbers of columns, in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (8..=256).step_by(8).filter(move |&n| self.has(n))
    }
}

impl Row {
    /// Where the instructions of the row read an operand, or store the accumulator.
    pub fn storage(&self, operand: Operand) -> &'static [Storage] {
        self.unit.storage(operand)
    }

    /// Whether the row multiplies operands of these formats.
    pub fn multiplies(&self, a: Element, b: Element) -> bool {
        self.operands.contains(&a) && self.operands.contains(&b) && (self.mixed || a == b)
    }

    /// Whether the compiler generates the instruction for operands of these formats.
    pub fn is_lowered(&self, a: Element, b: Element) -> bool {
        self.multiplies(a, b) && self.lowering.is_some_and(|l| l.operands.contains(&a) && l.operands.contains(&b))
    }

    /// Whether the row applies scales of this format to blocks of this size, or none.
    pub fn has_scales(&self, scale: Option<(Element, u32)>) -> bool {
        match (self.scales, scale) {
            (Some(s), Some((format, block))) => s.block == block && s.formats.contains(&format),
            (None, None) => true,
            _ => false,
        }
    }

    /// Whether a target has the row.
    pub fn is_on(&self, target: &Target) -> bool {
        self.feature.is_none_or(|f| target.has(f))
    }

    /// The shape that determines the fragments in registers; `None` if no operand is in registers.
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
    /// Errors: the operand is never in registers, or `n` is not a power of two.
    pub fn fragment(&self, n: u32, operand: Operand) -> Result<Fragment, LayoutError> {
        let expected = "an operand that may be in registers";
        let none = LayoutError::UnsupportedElement { bits: self.container, expected };
        let shape = self.fragments(n).filter(|_| self.storage(operand).contains(&Storage::Register)).ok_or(none)?;
        shape.fragment(operand)
    }

    /// All instructions of the row, in the order of its lists.
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
    /// The name of the instruction in PTX.
    pub fn ptx(&self) -> String {
        let Row { unit, kind, m, k, scales, .. } = self.row;
        let (n, a, b, acc) = (self.n, self.a.name(), self.b.name(), self.accumulator.name());
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
                format!("{opcode}.m{m}n{n}k{k}.row.col{kind}{block_scale}.{acc}.{a}.{b}.{acc}{popc}{scale}")
            }
            Unit::Warpgroup => format!("{opcode}.m{m}n{n}k{k}.{acc}.{a}.{b}{popc}"),
            Unit::Tensor | Unit::TensorPair => format!("{opcode}{kind}{block_scale}"),
        }
    }

    /// The instruction descriptor of a dense `tcgen05.mma`: shape, types, and for A and B whether they are contiguous
    /// along M or N. An instruction with scales takes the first factors of a word ([`scale_bytes`]). `None` for other
    /// units.
    pub fn tensor_descriptor(&self, is_mn_major: [bool; 2]) -> Option<u32> {
        let Row { unit: Unit::Tensor | Unit::TensorPair, m, kind, .. } = *self.row else { return None };
        let code = |e: Element| {
            Some(match (kind, e) {
                ("f16", Element::F16) | ("i8", Element::U8) | ("f8f6f4" | "mxf8f6f4", Element::E4m3) => 0,
                ("f16", Element::Bf16) | ("i8", Element::S8) | ("f8f6f4" | "mxf8f6f4", Element::E5m2) => 1,
                ("mxf4" | "mxf4nvf4", Element::E2m1) => 1,
                ("tf32", Element::Tf32) => 2,
                ("f8f6f4" | "mxf8f6f4", Element::E2m3) => 3,
                ("f8f6f4" | "mxf8f6f4", Element::E3m2) => 4,
                ("f8f6f4" | "mxf8f6f4", Element::E2m1) => 5,
                _ => return None,
            })
        };
        let [a, b] = is_mn_major.map(u32::from);
        let operands = code(self.a)? << 7 | code(self.b)? << 10 | a << 15 | b << 16 | (self.n >> 3) << 17;
        if self.row.scales.is_some() {
            return Some(operands | u32::from(self.scale? == Element::Ue8m0) << 23 | (m >> 7) << 27);
        }
        let accumulator = match self.accumulator {
            Element::F16 => 0,
            Element::F32 => 1,
            Element::S32 => 2,
            _ => return None,
        };
        Some(operands | accumulator << 4 | (m >> 4) << 24)
    }

    /// The PTX version that introduced the instruction.
    pub fn version(&self) -> PtxVersion {
        requirements_of(&self.ptx()).map(|r| r.version).max().unwrap_or(PtxVersion { major: 7, minor: 0 })
    }

    pub fn fragment(&self, operand: Operand) -> Result<Fragment, LayoutError> {
        self.row.fragment(self.n, operand)
    }
}

/// The rows of a unit with the given shape that multiply these formats.
pub fn rows_of(unit: Unit, [m, n, k]: [u32; 3], a: Element, b: Element) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |r| r.unit == unit && r.m == m && r.n.has(n) && r.k == k && r.multiplies(a, b))
}

/// Finds the instruction with a unit, a shape and types. `scale` is the format of the scales and the size of their
/// blocks.
///
/// If two rows match, as `mxf4` and `mxf4nvf4` do, the generated one is returned.
pub fn find(
    unit: Unit,
    shape: [u32; 3],
    [a, b, accumulator]: [Element; 3],
    scale: Option<(Element, u32)>,
) -> Option<Instruction> {
    let row = rows_of(unit, shape, a, b)
        .filter(|r| r.accumulators.contains(&accumulator) && r.has_scales(scale))
        .max_by_key(|r| (r.is_lowered(a, b), std::cmp::Reverse(r.kind)))?;
    Some(Instruction { row, n: shape[1], a, b, accumulator, scale: scale.map(|s| s.0) })
}

/// Returns the rows that the compiler generates on a target for operands of one format in registers, with or without
/// scales, best first for dots of depth `k`. Instructions that read shared memory are chosen elsewhere, by the passes
/// that put operands there.
///
/// The best row uses the fastest unit and is the deepest that fits the depth. If none fits, it is the shallowest, and
/// elements beyond the tile are zeros.
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

/// The bits of an instruction descriptor that select bytes of a word of scale factors: the first one for A, and for B.
pub const fn scale_bytes(a: u32, b: u32) -> u32 {
    a << 29 | b << 4
}

/// The rows of a unit, without scales, that the compiler generates for operands of one format.
pub fn generated(unit: Unit, element: Element) -> impl Iterator<Item = &'static Row> {
    generated_scaled(unit, element, None)
}

/// The rows of a unit that the compiler generates for operands of one format. `scale` is the format of the scales and
/// the size of their blocks, or `None` for rows without scales.
pub fn generated_scaled(
    unit: Unit,
    element: Element,
    scale: Option<(Element, u32)>,
) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |r| r.unit == unit && r.is_lowered(element, element) && r.has_scales(scale))
}

/// Whether the compiler generates instructions of a unit on a target.
pub fn has_unit(unit: Unit, target: &Target) -> bool {
    ROWS.iter().any(|r| r.unit == unit && r.lowering.is_some() && r.is_on(target))
}

/// The names of the pipeline strategies that a target has, the strongest last: only targets with agents have
/// `warp-specialize`.
pub fn pipeline_strategies(target: &Target) -> &'static [&'static str] {
    const ALL: &[&str] = &["none", "unspecialize", "warp-specialize"];
    if agent_unit(target).is_some() { ALL } else { &ALL[..2] }
}

/// The strategies of each target, as Markdown.
pub fn strategies_markdown() -> String {
    let row = |target: &Target| {
        let names: Vec<String> = pipeline_strategies(target).iter().map(|name| format!("`{name}`")).collect();
        format!("| {} | {} |\n", target.name, names.join(", "))
    };
    format!("| target | strategies |\n|---|---|\n{}", tile_targets::TARGETS.iter().map(row).collect::<String>())
}

/// The unit for which kernels of a target get agents: the fastest one that reads operands from shared memory, or
/// `mma.sync` if the target lacks such a unit but has TMA. `None` if all warps copy and multiply.
pub fn agent_unit(target: &Target) -> Option<Unit> {
    shared_memory_unit(target).or_else(|| target.has(Feature::Tma).then_some(Unit::Sync))
}

/// The fastest unit of a single CTA of a target that reads operands from shared memory and that the compiler generates,
/// or `None` if all operands are in registers.
pub fn shared_memory_unit(target: &Target) -> Option<Unit> {
    let reads = |unit: &Unit| unit.storage(Operand::B) == [Storage::Shared] && unit.ctas() == 1;
    Unit::ALL.into_iter().rev().filter(reads).find(|unit| has_unit(*unit, target))
}
