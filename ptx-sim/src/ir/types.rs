//! The small vocabularies of PTX: types, state spaces, scopes and modifiers.
//!
//! Each vocabulary is an enum whose variants know their PTX spelling. The parser recognizes a modifier through the
//! enum, so each spelling is written in one place.

/// A vocabulary of modifiers, each with one spelling (written without the leading dot).
pub trait Modifier: Sized + Copy + 'static {
    /// All variants with their spellings.
    const TABLE: &'static [(&'static str, Self)];

    /// The variant spelled `text`, if there is one.
    fn parse(text: &str) -> Option<Self> {
        Self::TABLE.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
    }
}

macro_rules! modifiers {
    ($($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),* $(,)? })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant),* }

        impl Modifier for $name {
            const TABLE: &'static [(&'static str, Self)] = &[$(($text, $name::$variant)),*];
        }

        impl $name {
            /// The PTX spelling, without the leading dot.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    )*};
}

modifiers! {
    /// An operand type. Packed types (`f16x2`, `e4m3x2`) name the whole register's contents.
    Type {
        Pred = "pred",
        B1 = "b1", B4 = "b4", B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64", B128 = "b128",
        B6x16P32 = "b6x16_p32", B4x16P64 = "b4x16_p64", B8x16 = "b8x16",
        U4 = "u4", U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
        S4 = "s4", S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
        U16x2 = "u16x2", S16x2 = "s16x2", U8x4 = "u8x4", S8x4 = "s8x4",
        F16 = "f16", F16x2 = "f16x2", BF16 = "bf16", BF16x2 = "bf16x2",
        TF32 = "tf32", F32 = "f32", F32x2 = "f32x2", F64 = "f64",
        E4M3 = "e4m3", E5M2 = "e5m2", E3M2 = "e3m2", E2M3 = "e2m3", E2M1 = "e2m1",
        UE8M0 = "ue8m0", UE4M3 = "ue4m3",
        E4M3x2 = "e4m3x2", E5M2x2 = "e5m2x2", E3M2x2 = "e3m2x2", E2M3x2 = "e2m3x2", E2M1x2 = "e2m1x2",
        UE8M0x2 = "ue8m0x2",
        E4M3x4 = "e4m3x4", E5M2x4 = "e5m2x4", E3M2x4 = "e3m2x4", E2M3x4 = "e2m3x4", E2M1x4 = "e2m1x4",
    }

    /// A state space.
    Space {
        /// Any space; the address window determines which.
        Generic = "generic",
        Global = "global",
        Shared = "shared",
        SharedCta = "shared::cta",
        SharedCluster = "shared::cluster",
        Local = "local",
        Param = "param",
        ParamEntry = "param::entry",
        ParamFunc = "param::func",
        Const = "const",
        Reg = "reg",
    }

    /// Memory ordering of an access or a fence.
    Sem {
        Weak = "weak", Relaxed = "relaxed", Acquire = "acquire", Release = "release", AcqRel = "acq_rel",
        Sc = "sc", Volatile = "volatile", Mmio = "mmio",
    }

    /// The set of threads that an ordering applies to.
    Scope { Cta = "cta", Cluster = "cluster", Gpu = "gpu", Sys = "sys" }

    /// Rounding mode of floating-point arithmetic and of conversions.
    Rnd {
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rna = "rna",
        /// To an integral value, ties to even.
        Rni = "rni",
        Rzi = "rzi", Rmi = "rmi", Rpi = "rpi",
        /// Stochastic rounding.
        Rs = "rs",
    }

    /// Comparison of `setp` and `set`; the `u` forms hold when an operand is NaN.
    Cmp {
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge",
        Lo = "lo", Ls = "ls", Hi = "hi", Hs = "hs",
        Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu",
        Num = "num", Nan = "nan",
    }

    /// How a comparison is combined with a further predicate.
    BoolOp { And = "and", Or = "or", Xor = "xor" }

    /// Operation of `atom`, `red` and of the reducing copies.
    AtomOp {
        Add = "add", Min = "min", Max = "max", Inc = "inc", Dec = "dec", And = "and", Or = "or", Xor = "xor",
        Exch = "exch", Cas = "cas",
    }

    /// Operation of `redux.sync`.
    ReduxOp { Add = "add", Min = "min", Max = "max", And = "and", Or = "or", Xor = "xor" }

    /// Selects the lane that `shfl.sync` reads.
    ShflMode { Up = "up", Down = "down", Bfly = "bfly", Idx = "idx" }

    /// The function that `vote.sync` computes.
    VoteMode { All = "all", Any = "any", Uni = "uni", Ballot = "ballot" }

    /// Selection rule of `prmt`.
    PrmtMode { F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr", Rc16 = "rc16" }

    /// Property tested by `testp`.
    TestProp {
        Finite = "finite", Infinite = "infinite", Number = "number", Notanumber = "notanumber",
        Normal = "normal", Subnormal = "subnormal",
    }

    /// Cache operators and hints: parsed, without effect on results.
    CacheHint {
        Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv", Wb = "wb", Wt = "wt",
        L1EvictNormal = "L1::evict_normal", L1EvictUnchanged = "L1::evict_unchanged",
        L1EvictFirst = "L1::evict_first", L1EvictLast = "L1::evict_last", L1NoAllocate = "L1::no_allocate",
        L2EvictNormal = "L2::evict_normal", L2EvictFirst = "L2::evict_first", L2EvictLast = "L2::evict_last",
        L2EvictUnchanged = "L2::evict_unchanged",
        L2Fetch64 = "L2::64B", L2Fetch128 = "L2::128B", L2Fetch256 = "L2::256B",
    }

    /// Matrix layout of `mma` operands.
    MatLayout { Row = "row", Col = "col" }

    /// Shape of tensor-memory accesses by `tcgen05.ld` and `tcgen05.st`.
    TmemShape {
        S16x64b = "16x64b", S16x128b = "16x128b", S16x256b = "16x256b", S32x32b = "32x32b", S16x32bx2 = "16x32bx2",
    }

    /// Shape copied by `tcgen05.cp`.
    CpShape {
        S128x256b = "128x256b", S4x256b = "4x256b", S128x128b = "128x128b", S64x128b = "64x128b", S32x128b = "32x128b",
    }

    /// Operand formats of `tcgen05.mma` and of block-scaled `mma.sync`.
    MmaKind {
        F16 = "kind::f16", Tf32 = "kind::tf32", F8f6f4 = "kind::f8f6f4", I8 = "kind::i8",
        Mxf8f6f4 = "kind::mxf8f6f4", Mxf4 = "kind::mxf4", Mxf4nvf4 = "kind::mxf4nvf4",
    }

    /// The field that `tensormap.replace` changes.
    TensormapField {
        GlobalAddress = "global_address", Rank = "rank", BoxDim = "box_dim", GlobalDim = "global_dim",
        GlobalStride = "global_stride", ElementStride = "element_stride", Elemtype = "elemtype",
        InterleaveLayout = "interleave_layout", SwizzleMode = "swizzle_mode", FillMode = "fill_mode",
        SwizzleAtomicity = "swizzle_atomicity",
    }
}

impl TmemShape {
    /// Registers per thread for `.x1`.
    pub fn words(self) -> usize {
        match self {
            TmemShape::S16x128b => 2,
            TmemShape::S16x256b => 4,
            TmemShape::S16x64b | TmemShape::S32x32b | TmemShape::S16x32bx2 => 1,
        }
    }
}

impl Type {
    /// Width in bits of a register holding a value of this type; a predicate counts 1.
    pub fn bits(self) -> u32 {
        use Type::*;
        match self {
            Pred | B1 => 1,
            B4 | U4 | S4 | E2M1 => 4,
            B8 | U8 | S8 | E4M3 | E5M2 | E3M2 | E2M3 | UE8M0 | UE4M3 | E2M1x2 => 8,
            B16 | U16 | S16 | F16 | BF16 | E4M3x2 | E5M2x2 | E3M2x2 | E2M3x2 | UE8M0x2 | E2M1x4 => 16,
            B32 | U32 | S32 | F32 | TF32 | F16x2 | BF16x2 | U16x2 | S16x2 | U8x4 | S8x4 => 32,
            E4M3x4 | E5M2x4 | E3M2x4 | E2M3x4 => 32,
            B64 | U64 | S64 | F64 | F32x2 => 64,
            B128 | B6x16P32 | B4x16P64 | B8x16 => 128,
        }
    }

    /// Width in bytes in memory.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether the type is a signed integer, for extension on load and for ordering.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S4 | Type::S8 | Type::S16 | Type::S32 | Type::S64 | Type::S16x2 | Type::S8x4)
    }

    /// Whether the type is an integer with arithmetic (`.u` or `.s`).
    pub fn is_int(self) -> bool {
        use Type::*;
        matches!(self, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 | U16x2 | S16x2)
    }

    /// Whether the type is untyped bits.
    pub fn is_bits(self) -> bool {
        matches!(self, Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128)
    }

    /// Whether the type is a scalar or packed floating-point type of general arithmetic.
    pub fn is_float(self) -> bool {
        use Type::*;
        matches!(self, F16 | F16x2 | BF16 | BF16x2 | F32 | F32x2 | F64 | TF32)
    }
}

impl Space {
    /// Whether the space is a view of shared memory.
    pub fn is_shared(self) -> bool {
        matches!(self, Space::Shared | Space::SharedCta | Space::SharedCluster)
    }
}
