//! The typed form of a PTX module.
//!
//! Names are resolved while parsing: an instruction refers to registers, variables, labels and functions by index into
//! the tables of its [`Function`] or [`Module`]. An instruction is an [`Op`] (the family with its typed modifiers) and
//! its operands in source order, so code that only walks operands needs no match on the family.

mod op;
mod types;

pub use op::*;
pub use types::*;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Returns an identifier that is unique among the modules of the process.
pub(crate) fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// A parsed PTX module.
#[derive(Debug)]
pub struct Module {
    /// Identifies the module within the process, so that a device loads each module once.
    pub(crate) id: u64,
    /// `.version`, as (major, minor).
    pub version: (u32, u32),
    /// The architecture of `.target`, such as `sm_90a`.
    pub target: String,
    /// `.address_size` in bits.
    pub address_size: u32,
    /// Module-scope variables, in source order.
    pub variables: Vec<Variable>,
    /// Entries and functions, in order of first declaration.
    pub functions: Vec<Function>,
    /// The text that was parsed; instructions refer to it by byte range.
    pub source: Arc<str>,
}

impl Module {
    /// Returns the function or entry named `name`.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name == name)
    }

    /// Names of all entries that have a body.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().filter(|f| f.is_entry && f.defined).map(|f| f.name.as_str())
    }

    /// Returns a new module with these variables and functions. Its instructions refer to the source text of this one.
    pub fn with(&self, variables: Vec<Variable>, functions: Vec<Function>) -> Module {
        let (target, source) = (self.target.clone(), self.source.clone());
        Module { id: next_id(), target, source, variables, functions, ..*self }
    }

    /// The source text of an instruction, without surrounding space.
    pub fn text_of(&self, inst: &Inst) -> &str {
        self.source.get(inst.span.0 as usize..inst.span.1 as usize).unwrap_or("").trim()
    }

    /// The compute capability as a number, such as 90 for `sm_90a`; 0 if the target has no number.
    pub fn sm(&self) -> u32 {
        let digits = self.target.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().unwrap_or(0)
    }
}

/// Visibility of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    Internal,
    Visible,
    Extern,
    Weak,
    Common,
}

/// A variable in any state space.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub linkage: Linkage,
    pub space: Space,
    pub ty: Type,
    /// Alignment in bytes.
    pub align: u64,
    /// Size in bytes; `None` for `extern` arrays of unknown extent (dynamic shared memory).
    pub size: Option<u64>,
    pub init: Vec<InitPiece>,
}

/// One element of an initializer. Elements that are not listed are zero.
#[derive(Clone, Debug)]
pub struct InitPiece {
    /// Byte offset in the variable.
    pub offset: u64,
    /// Number of bytes written.
    pub bytes: u32,
    pub value: InitValue,
}

/// The value of an initializer element.
#[derive(Clone, Debug)]
pub enum InitValue {
    Bits(u64),
    /// The address of a symbol. `generic` requests the generic address; a `mask` such as `0xFF00` selects one byte.
    Address {
        symbol: Symbol,
        addend: i64,
        generic: bool,
        mask: Option<u64>,
    },
}

/// The entity that a name in an operand or initializer refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// Index into [`Module::variables`].
    Module(u32),
    /// Index into [`Function::variables`].
    Local(u32),
    /// Index into [`Function::params`].
    Param(u32),
    /// Index into [`Function::results`].
    Result(u32),
    /// Index into [`Module::functions`].
    Function(u32),
}

/// Index into [`Function::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegId(pub u32);

/// Index into [`Function::labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LabelId(pub u32);

/// An entry or device function.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub is_entry: bool,
    pub linkage: Linkage,
    /// Whether a body was seen; false for a declaration alone.
    pub defined: bool,
    pub results: Vec<Param>,
    pub params: Vec<Param>,
    pub directives: Directives,
    /// Types of all registers, including inner scopes.
    pub registers: Vec<Type>,
    /// Variables declared inside the body (`.local`, `.shared`, `.param`, ...).
    pub variables: Vec<Variable>,
    pub body: Vec<Inst>,
    pub labels: Vec<Label>,
    /// `.branchtargets` and `.calltargets` tables, as labels or functions.
    pub tables: Vec<TargetTable>,
}

/// A parameter or result of a function.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: String,
    /// `Space::Param`, or `Space::Reg` for a register parameter.
    pub space: Space,
    pub ty: Type,
    pub align: u64,
    /// Size in bytes (an array's whole extent).
    pub size: u64,
    /// The register, for `Space::Reg`.
    pub register: Option<RegId>,
    /// Whether `.ptr` marks it as a pointer.
    pub pointer: bool,
}

/// Performance and launch directives of an entry.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    pub reqntid: Option<[u32; 3]>,
    pub maxntid: Option<[u32; 3]>,
    pub minnctapersm: Option<u32>,
    pub maxnreg: Option<u32>,
    pub reqnctapercluster: Option<[u32; 3]>,
    pub maxclusterrank: Option<u32>,
    pub explicitcluster: bool,
    pub blocksareclusters: bool,
    pub noreturn: bool,
}

/// A label and the instruction that it precedes.
#[derive(Clone, Debug)]
pub struct Label {
    pub name: String,
    /// Index into [`Function::body`]; equal to its length for a label at the end.
    pub at: u32,
}

/// A table named by a label: `.branchtargets`, `.calltargets` or `.callprototype`.
#[derive(Clone, Debug)]
pub struct TargetTable {
    pub name: String,
    pub kind: TargetTableKind,
}

#[derive(Clone, Debug)]
pub enum TargetTableKind {
    Branch(Vec<LabelId>),
    Call(Vec<u32>),
    /// Sizes in bytes of results and parameters.
    Prototype {
        results: Vec<u64>,
        params: Vec<u64>,
    },
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    pub guard: Option<Guard>,
    pub op: Op,
    pub args: Vec<Operand>,
    /// Which of `args` are destinations, one bit for each. The results of a call are not included.
    pub defs: u32,
    /// Line in the source, from 1.
    pub line: u32,
    /// Byte range in the source.
    pub span: (u32, u32),
}

/// `@%p` or `@!%p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    pub reg: RegId,
    pub negated: bool,
}

/// An immediate. The parser converts decimal and hexadecimal float literals to the instruction's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imm {
    Int(u64),
    F32(u32),
    F64(u64),
}

impl Imm {
    /// The bit pattern.
    pub fn bits(self) -> u64 {
        match self {
            Imm::Int(v) | Imm::F64(v) => v,
            Imm::F32(v) => u64::from(v),
        }
    }
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    Reg(RegId),
    /// `!%p`.
    NotReg(RegId),
    Imm(Imm),
    Special(Special),
    /// The address of a symbol plus a constant.
    Sym(Symbol, i64),
    /// `{a, b, ...}`.
    Vec(Vec<Operand>),
    /// `[base + offset]`.
    Mem(AddrBase, i64),
    /// `[base, {c0, c1, ...}]`: a tensor map and coordinates, optionally with im2col offsets.
    Tensor(Box<TensorOperand>),
    Label(LabelId),
    /// Index into [`Function::tables`].
    Table(u32),
    /// `(a, b)` of `call`.
    List(Vec<Operand>),
    /// `_`: the value is discarded.
    Sink,
}

/// A tensor map's address, coordinates, and the offsets of an im2col copy.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorOperand {
    pub map: AddrBase,
    pub offset: i64,
    pub coords: Vec<Operand>,
    pub im2col: Vec<Operand>,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddrBase {
    Reg(RegId),
    Sym(Symbol),
    Absolute,
}

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Laneid,
    Warpid,
    Nwarpid,
    Smid,
    Nsmid,
    Gridid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    Clock,
    ClockHi,
    Clock64,
    Globaltimer,
    GlobaltimerLo,
    GlobaltimerHi,
    IsExplicitCluster,
    Clusterid(u8),
    Nclusterid(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtarank,
    ClusterNctarank,
    DynamicSmemSize,
    TotalSmemSize,
    AggrSmemSize,
    ReservedSmemOffsetBegin,
    ReservedSmemOffsetEnd,
    ReservedSmemOffsetCap,
    CurrentGraphExec,
    Envreg(u8),
    Pm(u8),
}

impl Special {
    /// Whether the register counts clock cycles of the SM.
    pub fn is_clock(self) -> bool {
        matches!(self, Special::Clock | Special::ClockHi | Special::Clock64)
    }

    /// The special register spelled `name`, without `%` and with the component of a vector.
    pub fn parse(name: &str) -> Option<Special> {
        use Special::*;
        let component = |s: &str| match s {
            "x" => Some(0u8),
            "y" => Some(1),
            "z" => Some(2),
            "w" => Some(3),
            _ => None,
        };
        if let Some((base, c)) = name.split_once('.') {
            let c = component(c)?;
            return Some(match base {
                "tid" => Tid(c),
                "ntid" => Ntid(c),
                "ctaid" => Ctaid(c),
                "nctaid" => Nctaid(c),
                "clusterid" => Clusterid(c),
                "nclusterid" => Nclusterid(c),
                "cluster_ctaid" => ClusterCtaid(c),
                "cluster_nctaid" => ClusterNctaid(c),
                _ => return None,
            });
        }
        Some(match name {
            "laneid" => Laneid,
            "warpid" => Warpid,
            "nwarpid" => Nwarpid,
            "smid" => Smid,
            "nsmid" => Nsmid,
            "gridid" => Gridid,
            "lanemask_eq" => LanemaskEq,
            "lanemask_le" => LanemaskLe,
            "lanemask_lt" => LanemaskLt,
            "lanemask_ge" => LanemaskGe,
            "lanemask_gt" => LanemaskGt,
            "clock" => Clock,
            "clock_hi" => ClockHi,
            "clock64" => Clock64,
            "globaltimer" => Globaltimer,
            "globaltimer_lo" => GlobaltimerLo,
            "globaltimer_hi" => GlobaltimerHi,
            "is_explicit_cluster" => IsExplicitCluster,
            "cluster_ctarank" => ClusterCtarank,
            "cluster_nctarank" => ClusterNctarank,
            "dynamic_smem_size" => DynamicSmemSize,
            "total_smem_size" => TotalSmemSize,
            "aggr_smem_size" => AggrSmemSize,
            "reserved_smem_offset_begin" => ReservedSmemOffsetBegin,
            "reserved_smem_offset_end" => ReservedSmemOffsetEnd,
            "reserved_smem_offset_cap" => ReservedSmemOffsetCap,
            "current_graph_exec" => CurrentGraphExec,
            _ => {
                if let Some(n) = name.strip_prefix("envreg") {
                    return n.parse().ok().filter(|n| *n < 32).map(Envreg);
                }
                if let Some(n) = name.strip_prefix("pm") {
                    return n.parse().ok().filter(|n| *n < 8).map(Pm);
                }
                return None;
            }
        })
    }

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Special::Clock64 | Special::Globaltimer | Special::Gridid | Special::CurrentGraphExec => 64,
            Special::IsExplicitCluster => 1,
            _ => 32,
        }
    }
}
