//! Features: the capabilities that some targets have and others lack.

use std::fmt;

macro_rules! features {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// A capability that some targets have and others lack. Capabilities of every target from sm_80 on
        /// (cp.async, ldmatrix, mma.sync on f16, bf16, tf32, f64 and i8, integer redux, mbarrier) are not features.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Feature { $($(#[doc = $doc])+ $variant,)+ }

        impl Feature {
            pub const ALL: &[Feature] = &[$(Feature::$variant,)+];

            /// The name in messages and tables.
            pub fn name(self) -> &'static str {
                match self { $(Feature::$variant => $name,)+ }
            }

            /// A description in one sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Feature::$variant => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}

features! {
    /// `min` and `max` with `.xorsign.abs`.
    XorSign = "xorsign",
    /// Conversions between f32 or f16 pairs and e4m3, e5m2 pairs.
    Fp8Convert = "fp8-convert",
    /// `mma.sync` on e4m3 and e5m2 operands.
    Fp8Mma = "fp8-mma",
    /// `mma.sync` of 16 rows on f64 operands.
    F64Mma16 = "f64-mma-16",
    /// Arithmetic on bf16 beyond fma, min and max: add, sub, mul, comparisons, ex2, tanh, and conversions from and to
    /// integers.
    Bf16Arithmetic = "bf16-arithmetic",
    /// `cvt.rn.tf32.f32` (round to nearest even) in addition to `cvt.rna`.
    Tf32RoundEven = "tf32-round-even",
    /// Atomic add on bf16 and bf16x2 without a compare-and-swap loop.
    Bf16Atomic = "bf16-atomic",
    /// Vector reductions to global memory, `red.global.v2/.v4/.v8`.
    VectorReduction = "vector-reduction",
    /// 128-bit compare-and-swap and exchange.
    Atomic128 = "atomic-128",
    /// `stmatrix` on 8x8 matrices of 16-bit elements.
    Stmatrix = "stmatrix",
    /// Transaction-counting mbarriers: `arrive.expect_tx`, `try_wait`.
    MbarrierTransaction = "mbarrier-transaction",
    /// Thread block clusters, distributed shared memory, `barrier.cluster`, cluster launch directives.
    Cluster = "cluster",
    /// The tensor memory accelerator: `cp.async.bulk` with and without a tensor map.
    Tma = "tma",
    /// `elect.sync`.
    Elect = "elect",
    /// `griddepcontrol`: programmatic dependent launch.
    DependentLaunch = "dependent-launch",
    /// `multimem` loads and reductions.
    Multimem = "multimem",
    /// Warp-group matrix multiply, `wgmma`.
    Wgmma = "wgmma",
    /// `setmaxnreg`: moving registers between warp groups.
    RegisterReallocation = "register-reallocation",
    /// `tensormap.replace`: editing a tensor map on the device.
    TensorMapEdit = "tensor-map-edit",
    /// 32-byte vector loads and stores of global memory.
    Wide256 = "wide-256",
    /// Packed f32 pairs: `add`, `sub`, `mul`, `fma` on `.f32x2`.
    F32x2 = "f32x2",
    /// Three-input `min` and `max` on f32.
    MinMax3 = "min-max-3",
    /// `add`, `sub`, `fma` with f16 or bf16 inputs and an f32 result.
    MixedF32 = "mixed-f32",
    /// `clusterlaunchcontrol`: taking over the work of a cluster that has not started.
    ClusterLaunchControl = "cluster-launch-control",
    /// `st.bulk`: zeroing a range of shared memory.
    BulkStore = "bulk-store",
    /// Conversions from and to e2m1, e2m3, e3m2 and ue8m0.
    NarrowConvert = "narrow-convert",
    /// Conversions with stochastic rounding.
    StochasticRounding = "stochastic-rounding",
    /// `ldmatrix` and `stmatrix` on 8-bit elements, with 4- and 6-bit unpacking.
    MatrixB8 = "matrix-b8",
    /// `redux.sync` on f32.
    ReduxF32 = "redux-f32",
    /// Tensor memory and the fifth-generation tensor core instructions, `tcgen05`.
    Tcgen05 = "tcgen05",
    /// `tcgen05.mma.kind::i8`.
    Tcgen05Int8 = "tcgen05-i8",
    /// `tcgen05.ld.red`: reducing while loading from tensor memory.
    Tcgen05LoadReduce = "tcgen05-load-reduce",
    /// Gather and scatter of four rows by the tensor memory accelerator.
    TmaGather4 = "tma-gather4",
    /// `mma.sync` with `.kind::f8f6f4` and block scales.
    BlockScaledMma = "block-scaled-mma",
}

/// A set of features.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Features(u64);

impl Features {
    /// The empty set.
    pub const NONE: Features = Features(0);

    /// The set of the listed features.
    pub const fn of(list: &[Feature]) -> Features {
        let mut bits = 0;
        let mut i = 0;
        while i < list.len() {
            bits |= 1 << list[i] as u8;
            i += 1;
        }
        Features(bits)
    }

    /// The set with the listed features added.
    pub const fn with(self, list: &[Feature]) -> Features {
        Features(self.0 | Features::of(list).0)
    }

    /// The set with the listed features removed.
    pub const fn without(self, list: &[Feature]) -> Features {
        Features(self.0 & !Features::of(list).0)
    }

    pub const fn contains(self, feature: Feature) -> bool {
        self.0 >> feature as u8 & 1 == 1
    }

    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().copied().filter(move |f| self.contains(*f))
    }
}

const _: () = assert!(Feature::ALL.len() <= 64, "Features is a 64-bit set");

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
