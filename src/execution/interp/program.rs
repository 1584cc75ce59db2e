//! Programs: the language's ops as plain data.
//!
//! A [`Program`] is equivalent to an MLIR module of the dialect, so running, printing and reducing programs need no
//! MLIR. Every public op is a variant of [`OpKind`]. Operands are in the order of the op's definition without absent
//! ones; the variant says which are present.

use crate::types::{Number, Type};
use std::rc::Rc;
use std::sync::Arc;

/// A value of an entry: an index into [`Entry::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

impl Value {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    pub name: String,
    pub globals: Vec<Global>,
    pub entries: Vec<Entry>,
}

/// A global variable with an initial value.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    pub name: String,
    pub element: Number,
    /// The bits of each element.
    pub values: Vec<u64>,
    /// In bytes; 0 means the natural alignment.
    pub alignment: u64,
    pub constant: bool,
    pub private: bool,
}

/// A kernel. Its parameters are the arguments of the body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    pub name: String,
    pub types: Vec<Type>,
    pub body: Block,
}

impl Entry {
    pub fn ty(&self, v: Value) -> &Type {
        &self.types[v.index()]
    }

    /// Adds a value without a definition.
    pub fn value(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub arguments: Vec<Value>,
    pub ops: Vec<Op>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    pub kind: OpKind,
    pub operands: Vec<Value>,
    pub results: Vec<Value>,
    pub regions: Vec<Block>,
    /// The location of the op in the source, for messages.
    pub location: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    NearestEven,
    Zero,
    NegativeInf,
    PositiveInf,
    Approx,
    Full,
    NearestIntToZero,
    NearestAway,
}

impl Rounding {
    pub fn keyword(self) -> &'static str {
        match self {
            Rounding::NearestEven => "nearest_even",
            Rounding::Zero => "zero",
            Rounding::NegativeInf => "negative_inf",
            Rounding::PositiveInf => "positive_inf",
            Rounding::Approx => "approx",
            Rounding::Full => "full",
            Rounding::NearestIntToZero => "nearest_int_to_zero",
            Rounding::NearestAway => "nearest_away",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signedness {
    Unsigned,
    Signed,
}

impl Signedness {
    pub fn keyword(self) -> &'static str {
        match self {
            Signedness::Unsigned => "unsigned",
            Signedness::Signed => "signed",
        }
    }
}

/// Promises of absence of overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    pub no_signed_wrap: bool,
    pub no_unsigned_wrap: bool,
}

impl Overflow {
    /// The keyword; `None` without promises.
    pub fn keyword(self) -> Option<&'static str> {
        match (self.no_signed_wrap, self.no_unsigned_wrap) {
            (false, false) => None,
            (true, false) => Some("no_signed_wrap"),
            (false, true) => Some("no_unsigned_wrap"),
            (true, true) => Some("no_wrap"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    Equal,
    NotEqual,
    LessThan,
    LessThanOrEqual,
    GreaterThan,
    GreaterThanOrEqual,
}

impl Predicate {
    pub const ALL: [Predicate; 6] = [
        Predicate::Equal,
        Predicate::NotEqual,
        Predicate::LessThan,
        Predicate::LessThanOrEqual,
        Predicate::GreaterThan,
        Predicate::GreaterThanOrEqual,
    ];

    pub fn keyword(self) -> &'static str {
        match self {
            Predicate::Equal => "equal",
            Predicate::NotEqual => "not_equal",
            Predicate::LessThan => "less_than",
            Predicate::LessThanOrEqual => "less_than_or_equal",
            Predicate::GreaterThan => "greater_than",
            Predicate::GreaterThanOrEqual => "greater_than_or_equal",
        }
    }

    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Predicate::Equal => order.is_eq(),
            Predicate::NotEqual => order.is_ne(),
            Predicate::LessThan => order.is_lt(),
            Predicate::LessThanOrEqual => order.is_le(),
            Predicate::GreaterThan => order.is_gt(),
            Predicate::GreaterThanOrEqual => order.is_ge(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Weak,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
}

impl Order {
    pub fn keyword(self) -> &'static str {
        match self {
            Order::Weak => "weak",
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acq_rel",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    TileBlock,
    Device,
    System,
}

impl Scope {
    pub fn keyword(self) -> &'static str {
        match self {
            Scope::TileBlock => "tl_blk",
            Scope::Device => "device",
            Scope::System => "sys",
        }
    }
}

/// Ordering and scope of an access. Weak accesses do not have a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessOrder {
    pub order: Order,
    pub scope: Option<Scope>,
}

impl AccessOrder {
    pub const WEAK: AccessOrder = AccessOrder { order: Order::Weak, scope: None };
}

/// How an atomic update combines the old value and the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    And,
    Or,
    Xor,
    Add,
    AddF,
    Max,
    Min,
    UMax,
    UMin,
    Xchg,
}

impl Update {
    pub const ALL: [Update; 10] = [
        Update::And,
        Update::Or,
        Update::Xor,
        Update::Add,
        Update::AddF,
        Update::Max,
        Update::Min,
        Update::UMax,
        Update::UMin,
        Update::Xchg,
    ];

    pub fn keyword(self) -> &'static str {
        match self {
            Update::And => "and",
            Update::Or => "or",
            Update::Xor => "xor",
            Update::Add => "add",
            Update::AddF => "addf",
            Update::Max => "max",
            Update::Min => "min",
            Update::UMax => "umax",
            Update::UMin => "umin",
            Update::Xchg => "xchg",
        }
    }
}

/// The predicate of an `assume`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// With group size and dimension, if the predicate has groups.
    DivBy {
        divisor: u64,
        groups: Option<(i64, i64)>,
    },
    SameElements(Vec<i64>),
    Bounded {
        low: Option<i64>,
        high: Option<i64>,
    },
}

/// The rounding mode, and whether subnormal numbers are flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatMode {
    pub rounding: Rounding,
    pub flush: bool,
}

impl Default for FloatMode {
    fn default() -> FloatMode {
        FloatMode { rounding: Rounding::NearestEven, flush: false }
    }
}

/// A constant argument of a call of a library's function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    Int(i64),
    Text(String),
    /// The name of an element type.
    Type(String),
    Shape(Vec<Constant>),
}

impl std::fmt::Display for Constant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Constant::Int(v) => write!(f, "{v}"),
            Constant::Text(text) => write!(f, "{text:?}"),
            Constant::Type(name) => f.write_str(name),
            Constant::Shape(extents) => {
                let extents: Vec<String> = extents.iter().map(Constant::to_string).collect();
                write!(f, "({})", extents.join(", "))
            }
        }
    }
}

/// An op, with its attributes.
#[derive(Clone, Debug, PartialEq)]
pub enum OpKind {
    // Floating point.
    AbsF,
    NegF,
    Ceil,
    Floor,
    AddF(FloatMode),
    SubF(FloatMode),
    MulF(FloatMode),
    DivF(FloatMode),
    Fma(FloatMode),
    Sqrt(FloatMode),
    Rsqrt {
        flush: bool,
    },
    Exp2 {
        flush: bool,
    },
    Exp {
        rounding: Rounding,
    },
    Tanh {
        rounding: Rounding,
    },
    Log,
    Log2,
    Sin,
    Cos,
    Tan,
    Sinh,
    Cosh,
    Pow,
    /// A float to the power of a signed integer of this type.
    PowI {
        exponent: Number,
    },
    Atan2,
    RemF,
    MaxF {
        propagate_nan: bool,
        flush: bool,
    },
    MinF {
        propagate_nan: bool,
        flush: bool,
    },
    CmpF {
        predicate: Predicate,
        ordered: bool,
    },

    // Integers.
    AbsI,
    NegI(Overflow),
    AddI(Overflow),
    SubI(Overflow),
    MulI(Overflow),
    ShlI(Overflow),
    ShrI(Signedness),
    MulhiI,
    DivI {
        signedness: Signedness,
        rounding: Rounding,
    },
    RemI(Signedness),
    MaxI(Signedness),
    MinI(Signedness),
    AndI,
    OrI,
    XorI,
    CmpI {
        predicate: Predicate,
        signedness: Signedness,
    },

    // Conversions.
    ExtI(Signedness),
    TruncI(Overflow),
    FToF {
        rounding: Rounding,
    },
    FToI {
        signedness: Signedness,
        saturating: bool,
    },
    IToF(Signedness),
    Bitcast,
    PtrToInt,
    IntToPtr,
    PtrToPtr,
    Pack,
    Unpack,

    // Shapes. A constant holds the bits of all its elements, or of one if they are equal.
    Constant(Rc<[u64]>),
    Iota,
    Broadcast,
    Reshape,
    Permute(Vec<usize>),
    Cat {
        dim: usize,
    },
    Extract,
    /// Source, destination, indices.
    Insert,
    Select,

    // Memory. Fields tell which optional operands are present.
    Offset,
    LoadPtr {
        access: AccessOrder,
        mask: bool,
        padding: bool,
        token: bool,
    },
    StorePtr {
        access: AccessOrder,
        mask: bool,
        token: bool,
    },
    AtomicCas {
        access: AccessOrder,
        mask: bool,
        token: bool,
    },
    AtomicRmw {
        access: AccessOrder,
        update: Update,
        mask: bool,
        token: bool,
    },
    Alloca {
        count: u64,
        alignment: u64,
        global: bool,
    },
    GetGlobal(String),
    /// Base, then the dynamic extents, then the dynamic strides.
    MakeTensorView,
    MakeView,
    /// View, indices, token. `inbounds` marks the dimensions along which the tile is promised to be inside the
    /// tensor.
    LoadView {
        access: AccessOrder,
        token: bool,
        inbounds: Vec<bool>,
    },
    /// Tile, view, indices, token.
    StoreView {
        access: AccessOrder,
        token: bool,
        inbounds: Vec<bool>,
    },
    /// View, indices, value, token.
    AtomicRedView {
        access: AccessOrder,
        update: Update,
        token: bool,
        inbounds: Vec<bool>,
    },
    /// View of multicast memory, indices, token. Pointers to such memory and views of it have ordinary types here.
    MultimemLoadReduce {
        access: AccessOrder,
        update: Update,
        token: bool,
        inbounds: Vec<bool>,
    },
    /// View of multicast memory, tile, indices, token.
    MultimemReduce {
        access: AccessOrder,
        update: Update,
        token: bool,
        inbounds: Vec<bool>,
    },
    /// As [`OpKind::MultimemReduce`].
    MultimemStore {
        access: AccessOrder,
        token: bool,
        inbounds: Vec<bool>,
    },
    GetTensorShape,
    GetIndexSpaceShape,
    MakeToken,
    JoinTokens,
    /// Synchronization with dependent grids, which do not exist here, and with the grids this one depends on. An
    /// optional token.
    LaunchDependents,
    WaitForGrids,
    FenceAlias,

    /// A function of a tile library: tiles and tokens in any order.
    ForeignCall {
        callee: String,
        constants: Vec<Constant>,
    },

    // Matrices.
    MmaF {
        fast_acc: bool,
    },
    MmaI {
        lhs: Signedness,
        rhs: Signedness,
    },
    MmaFScaled,

    // Aggregates. Identities are bits of the operands' element types.
    Reduce {
        dim: usize,
        identities: Vec<u64>,
    },
    Scan {
        dim: usize,
        reverse: bool,
        identities: Vec<u64>,
    },

    // Control flow.
    If,
    For {
        unsigned: bool,
    },
    Loop,
    Break,
    Continue,
    Yield,
    Return,

    // The grid, and aids for debugging and optimization.
    GetTileBlockId,
    GetNumTileBlocks,
    Assert(String),
    Assume(Promise),
    Print {
        format: String,
        token: bool,
    },
}

impl OpKind {
    /// Whether the op reads memory that other tile blocks may write concurrently: an atomic update, or a read that is
    /// not weak.
    pub fn observes_others(&self) -> bool {
        match self {
            OpKind::LoadPtr { access, .. } | OpKind::LoadView { access, .. } => access.order != Order::Weak,
            OpKind::MultimemLoadReduce { access, .. } => access.order != Order::Weak,
            OpKind::AtomicCas { .. } | OpKind::AtomicRmw { .. } => true,
            _ => false,
        }
    }

    /// The op's name. The three ops that make views share a variant; their result type selects the name.
    pub fn mnemonic(&self) -> &'static str {
        match self {
            OpKind::AbsF => "absf",
            OpKind::NegF => "negf",
            OpKind::Ceil => "ceil",
            OpKind::Floor => "floor",
            OpKind::AddF(_) => "addf",
            OpKind::SubF(_) => "subf",
            OpKind::MulF(_) => "mulf",
            OpKind::DivF(_) => "divf",
            OpKind::Fma(_) => "fma",
            OpKind::Sqrt(_) => "sqrt",
            OpKind::Rsqrt { .. } => "rsqrt",
            OpKind::Exp2 { .. } => "exp2",
            OpKind::Exp { .. } => "exp",
            OpKind::Tanh { .. } => "tanh",
            OpKind::Log => "log",
            OpKind::Log2 => "log2",
            OpKind::Sin => "sin",
            OpKind::Cos => "cos",
            OpKind::Tan => "tan",
            OpKind::Sinh => "sinh",
            OpKind::Cosh => "cosh",
            OpKind::Pow => "fpowf",
            OpKind::PowI { .. } => "fpowi",
            OpKind::Atan2 => "atan2",
            OpKind::RemF => "remf",
            OpKind::MaxF { .. } => "maxf",
            OpKind::MinF { .. } => "minf",
            OpKind::CmpF { .. } => "cmpf",
            OpKind::AbsI => "absi",
            OpKind::NegI(_) => "negi",
            OpKind::AddI(_) => "addi",
            OpKind::SubI(_) => "subi",
            OpKind::MulI(_) => "muli",
            OpKind::ShlI(_) => "shli",
            OpKind::ShrI(_) => "shri",
            OpKind::MulhiI => "mulhii",
            OpKind::DivI { .. } => "divi",
            OpKind::RemI(_) => "remi",
            OpKind::MaxI(_) => "maxi",
            OpKind::MinI(_) => "mini",
            OpKind::AndI => "andi",
            OpKind::OrI => "ori",
            OpKind::XorI => "xori",
            OpKind::CmpI { .. } => "cmpi",
            OpKind::ExtI(_) => "exti",
            OpKind::TruncI(_) => "trunci",
            OpKind::FToF { .. } => "ftof",
            OpKind::FToI { .. } => "ftoi",
            OpKind::IToF(_) => "itof",
            OpKind::Bitcast => "bitcast",
            OpKind::PtrToInt => "ptr_to_int",
            OpKind::IntToPtr => "int_to_ptr",
            OpKind::PtrToPtr => "ptr_to_ptr",
            OpKind::Pack => "pack",
            OpKind::Unpack => "unpack",
            OpKind::Constant(_) => "constant",
            OpKind::Iota => "iota",
            OpKind::Broadcast => "broadcast",
            OpKind::Reshape => "reshape",
            OpKind::Permute(_) => "permute",
            OpKind::Cat { .. } => "cat",
            OpKind::Extract => "extract",
            OpKind::Insert => "insert",
            OpKind::Select => "select",
            OpKind::Offset => "offset",
            OpKind::LoadPtr { .. } => "load_ptr_tko",
            OpKind::StorePtr { .. } => "store_ptr_tko",
            OpKind::AtomicCas { .. } => "atomic_cas_tko",
            OpKind::AtomicRmw { .. } => "atomic_rmw_tko",
            OpKind::Alloca { .. } => "alloca",
            OpKind::GetGlobal(_) => "get_global",
            OpKind::MakeTensorView => "make_tensor_view",
            OpKind::MakeView => "make_view",
            OpKind::LoadView { .. } => "load_view_tko",
            OpKind::StoreView { .. } => "store_view_tko",
            OpKind::AtomicRedView { .. } => "atomic_red_view_tko",
            OpKind::MultimemLoadReduce { .. } => "multimem_load_reduce_view_tko",
            OpKind::MultimemReduce { .. } => "multimem_reduce_view_tko",
            OpKind::MultimemStore { .. } => "multimem_store_view_tko",
            OpKind::GetTensorShape => "get_tensor_shape",
            OpKind::GetIndexSpaceShape => "get_index_space_shape",
            OpKind::MakeToken => "make_token",
            OpKind::ForeignCall { .. } => "preview$call",
            OpKind::JoinTokens => "join_tokens",
            OpKind::LaunchDependents => "gdc_launch_dependents_tko",
            OpKind::WaitForGrids => "gdc_wait_tko",
            OpKind::FenceAlias => "memory_fence_alias_tko",
            OpKind::MmaF { .. } => "mmaf",
            OpKind::MmaI { .. } => "mmai",
            OpKind::MmaFScaled => "mmaf_scaled",
            OpKind::Reduce { .. } => "reduce",
            OpKind::Scan { .. } => "scan",
            OpKind::If => "if",
            OpKind::For { .. } => "for",
            OpKind::Loop => "loop",
            OpKind::Break => "break",
            OpKind::Continue => "continue",
            OpKind::Yield => "yield",
            OpKind::Return => "return",
            OpKind::GetTileBlockId => "get_tile_block_id",
            OpKind::GetNumTileBlocks => "get_num_tile_blocks",
            OpKind::Assert(_) => "assert",
            OpKind::Assume(_) => "assume",
            OpKind::Print { .. } => "print_tko",
        }
    }
}
