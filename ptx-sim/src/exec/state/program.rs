//! The executable form of a module: registers are plane numbers, symbols are addresses, labels are indices.
//!
//! # Registers
//!
//! A register of up to 32 bits occupies one *plane* of 32 lanes of `u32`; 64-bit registers occupy two planes (low
//! words first), 128-bit registers four. A predicate is one `u32` lane mask. Packing and unpacking moves are then
//! copies of planes.
//!
//! # Convergence order
//!
//! Divergent parts of a warp are scheduled by the order numbers computed in [`crate::exec::flow_order`]. Blocks are
//! numbered in a weak topological order: loops are contiguous, and the exits of a loop follow the whole loop. The part
//! with the lowest number runs first. Parts therefore meet at the post-dominator of their branch, because every block
//! between the branch and its post-dominator has a lower number. A back edge would break this, since the loop header
//! has a low number. A part that takes a back edge therefore waits with the number of the loop's end until no other
//! part is in the body.

use crate::ir::*;

/// Bit that marks the `.param` address of a kernel parameter. Parameters and `.param` variables of device functions
/// are in local memory and have local addresses, as compilers assume.
pub(crate) const ENTRY_PARAM: u64 = 1 << 40;

/// Start of the shared memory available to a CTA. The bytes below are reserved, so no variable has address 0.
pub(crate) const SHARED_START: u32 = 1024;

/// A resolved operand.
#[derive(Clone, Debug)]
pub(crate) enum DArg {
    /// First plane and width in bits.
    R(u32, u8),
    P(u32),
    NotP(u32),
    Imm(u64),
    Special(Special),
    /// Offset of a shared variable.
    Shared(u32),
    /// Offset in the frame's local memory.
    Local(u32),
    Mem(MemBase, i64),
    Tensor(Box<TensorArg>),
    Vec(Box<[DArg]>),
    Target(u32),
    Targets(Box<[u32]>),
    Sink,
}

#[derive(Clone, Debug)]
pub(crate) struct TensorArg {
    pub map: MemBase,
    pub offset: i64,
    pub coords: Box<[DArg]>,
    pub im2col: Box<[DArg]>,
}

/// The base of an address.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemBase {
    R32(u32),
    R64(u32),
    Abs,
    Shared(u32),
    Local(u32),
}

/// Classes of instructions; counters of executed instructions are kept for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    Move,
    Integer,
    Float,
    Convert,
    Compare,
    Load,
    Store,
    Atomic,
    Control,
    Warp,
    Barrier,
    Async,
    Tensor,
    Other,
}

impl Class {
    pub const ALL: [Class; 14] = [
        Class::Move,
        Class::Integer,
        Class::Float,
        Class::Convert,
        Class::Compare,
        Class::Load,
        Class::Store,
        Class::Atomic,
        Class::Control,
        Class::Warp,
        Class::Barrier,
        Class::Async,
        Class::Tensor,
        Class::Other,
    ];

    pub(crate) fn of(op: &Op) -> Class {
        match op {
            Op::Mov { .. } | Op::Selp { .. } | Op::Slct { .. } | Op::Cvta { .. } | Op::Mapa { .. } => Class::Move,
            Op::Int { .. } | Op::Carry { .. } | Op::Dot { .. } | Op::Bits { .. } => Class::Integer,
            Op::Float { .. } | Op::MixedFloat { .. } => Class::Float,
            Op::Cvt(_) | Op::CvtPack { .. } => Class::Convert,
            Op::Setp { .. } | Op::Set { .. } | Op::Testp { .. } | Op::Isspacep { .. } => Class::Compare,
            Op::Ld(_) => Class::Load,
            Op::St(_) | Op::StBulk { .. } => Class::Store,
            Op::Atom(_) | Op::Red(_) | Op::Multimem(_) => Class::Atomic,
            Op::Bra { .. } | Op::BrxIdx | Op::Call | Op::Ret | Op::Exit | Op::Trap | Op::Brkpt => Class::Control,
            Op::Shfl { .. } | Op::Vote { .. } | Op::Match { .. } | Op::Redux { .. } | Op::Elect | Op::BarWarpSync => {
                Class::Warp
            }
            Op::Activemask => Class::Warp,
            Op::Bar { .. } | Op::BarrierCluster { .. } | Op::Fence { .. } | Op::FenceProxy(_) | Op::Mbarrier(_) => {
                Class::Barrier
            }
            Op::CpAsync { .. } | Op::CpAsyncCommit | Op::CpAsyncWait { .. } | Op::CpAsyncMbarrierArrive { .. } => {
                Class::Async
            }
            Op::CpBulk(_) | Op::CpTensor(_) | Op::BulkCommit | Op::BulkWait { .. } => Class::Async,
            Op::StAsync { .. } | Op::RedAsync { .. } => Class::Async,
            Op::TensormapReplace { .. } | Op::TensormapCpFenceproxy { .. } | Op::Cluster(_) => Class::Async,
            Op::Ldmatrix(_) | Op::Stmatrix(_) | Op::Movmatrix | Op::Mma(_) => Class::Tensor,
            Op::WgmmaFence | Op::WgmmaCommit | Op::WgmmaWait | Op::Wgmma(_) | Op::Tcgen05(_) => Class::Tensor,
            _ => Class::Other,
        }
    }
}

/// A decoded instruction.
#[derive(Debug)]
pub(crate) struct DInst {
    pub op: Op,
    /// Predicate and whether it is negated.
    pub guard: Option<(u32, bool)>,
    pub args: Box<[DArg]>,
    /// Which of `args` are destinations, bit by index.
    pub defs: u32,
    pub line: u32,
    pub span: (u32, u32),
    pub class: Class,
    /// Convergence order of the block.
    pub order: u32,
    /// For the first instruction of a loop header: the order number of parts that wait after taking a back edge.
    pub loop_order: u32,
    /// Whether the instruction starts a basic block.
    pub leader: bool,
}

/// Location of a parameter or result of a device function.
#[derive(Clone, Debug)]
pub(crate) struct ParamSlot {
    /// Offset in the frame's local memory.
    pub offset: u32,
    pub size: u32,
    /// Plane and width, for register parameters.
    pub reg: Option<(u32, u8)>,
}

#[derive(Debug)]
pub(crate) struct Func {
    pub name: String,
    pub defined: bool,
    pub code: Vec<DInst>,
    pub planes: u32,
    pub preds: u32,
    /// Bytes of local memory in a frame.
    pub local_bytes: u32,
    /// For device functions.
    pub params: Vec<ParamSlot>,
    pub results: Vec<ParamSlot>,
    /// For entries: offset and size of each parameter.
    pub entry_params: Vec<(u32, u32)>,
    pub param_bytes: u32,
    pub directives: Directives,
}

/// A loaded module.
#[derive(Debug)]
pub(crate) struct Program {
    pub funcs: Vec<Func>,
    /// Static shared memory, in bytes from [`SHARED_START`].
    pub shared_bytes: u32,
    pub source: std::sync::Arc<str>,
    /// The compute capability, as [`crate::Module::sm`] gives it.
    pub sm: u32,
    /// Shared variables as (offset, size, name), sorted by offset.
    pub shared: Vec<(u32, u64, String)>,
}

impl Program {
    /// Whether CTAs take over clusters that have not started.
    pub fn takes_over(&self) -> bool {
        let asks = |op: &Op| matches!(op, Op::Cluster(ClusterControl::TryCancel { .. }));
        self.funcs.iter().flat_map(|f| &f.code).any(|inst| asks(&inst.op))
    }

    /// The shared variable at an offset, as ` (name+4)`, for messages.
    pub fn shared_name(&self, offset: u32) -> String {
        let at = self.shared.partition_point(|(start, ..)| *start <= offset);
        match at.checked_sub(1).map(|i| &self.shared[i]) {
            Some((start, size, name)) if u64::from(offset - start) < *size => match offset - start {
                0 => format!(" ({name})"),
                n => format!(" ({name}+{n:#x})"),
            },
            _ => String::new(),
        }
    }

    /// The source text of an instruction.
    pub fn text(&self, inst: &DInst) -> String {
        self.source.get(inst.span.0 as usize..inst.span.1 as usize).unwrap_or("").trim().to_string()
    }
}

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    #[error("shared variables take more than 4 GiB")]
    SharedTooLarge,
    #[error("'{function}' has {bytes} bytes of {what}, but at most {limit} are possible")]
    TooMuch { function: String, what: &'static str, bytes: u64, limit: u64 },
    #[error("the module's variables take more than {} GiB", MAX_VARIABLES >> 30)]
    VariablesTooLarge,
    #[error("line {line}: {what}")]
    BadInstruction { line: u32, what: String },
    #[error("variable '{0}' is extern and not defined in this module")]
    Unresolved(String),
}

/// Limit on the total size of a module's global and constant variables, in bytes.
pub(crate) const MAX_VARIABLES: u64 = 4 << 30;
