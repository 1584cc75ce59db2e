//! The table of targets.
//!
//! A GPU name (`sm_90`) selects a row. Three names in a row differ on purpose:
//!
//! * `name` is the user's spelling: exact, without a suffix.
//! * `ptx_target` is the name in `.target` and in ptxas' `-arch`. If an architecture has an `a` variant, it is always
//!   used: a cubin is for one architecture anyway, and only the `a` variant has the tensor-core instructions.
//! * `llvm_cpu` is the CPU for which LLVM 21 generates code. LLVM 21 lacks sm_88, sm_107 and sm_110, and selects the
//!   tcgen05 intrinsics only for sm_100a and sm_101a. Some targets therefore borrow a relative with a subset of their
//!   instructions, and [`finalise()`](crate::finalise()) rewrites the header.

use crate::feature::{Feature, Features};
use crate::version::{PtxVersion, v};
use Feature::*;

/// One GPU target: names, the language version it needs, features and hardware limits.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// The user's spelling, e.g. `sm_90`.
    pub name: &'static str,
    /// The number in the name; compute capability 9.0 is 90.
    pub sm: u32,
    /// The LLVM CPU for code generation.
    pub llvm_cpu: &'static str,
    /// The PTX version requested from LLVM: new enough for the instructions that code generation uses on this target,
    /// and no newer, so that older toolkits can assemble the result.
    pub llvm_ptx: PtxVersion,
    /// The name in `.target`, and for ptxas' `-arch`.
    pub ptx_target: &'static str,
    /// The lowest `.version` whose ptxas accepts `ptx_target`.
    pub ptx_floor: PtxVersion,
    pub features: Features,
    pub limits: Limits,
    /// Devices with this GPU, for the documentation.
    pub devices: &'static str,
}

/// Hardware limits. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The shared memory that a kernel may declare in PTX. ptxas rejects more with `uses too much shared data`, and a
    /// kernel launched without dynamic shared memory cannot have more.
    pub static_shared_per_block: u32,
    /// The shared memory that exchanges of values between threads may use in total, in addition to the rings of
    /// pipelined loops. It is small enough that several blocks share a multiprocessor. This is a tuning choice, not a
    /// hardware limit; the hardware limit is `static_shared_per_block`.
    pub exchange_shared_per_block: u32,
    /// Shared memory per block if the launch requests dynamic shared memory and opts in.
    pub optin_shared_per_block: u32,
    /// Shared memory of one multiprocessor, including the part that the system reserves for each block.
    pub shared_per_sm: u32,
    /// Shared memory that the system reserves for each block.
    pub reserved_shared_per_block: u32,
    /// 32-bit registers of one multiprocessor.
    pub registers_per_sm: u32,
    pub registers_per_thread: u32,
    /// The registers per thread that an estimate may reach when the number of warps is chosen. The rest is a margin
    /// for the estimate's error.
    pub estimated_registers: u32,
    /// The registers per thread that accumulators and a left operand may occupy together throughout a loop. Anything
    /// beyond stays in shared memory.
    pub dot_registers: u32,
    pub threads_per_block: u32,
    pub threads_per_sm: u32,
    pub blocks_per_sm: u32,
    /// The largest cluster that every device of this target can run, in blocks; 1 without clusters.
    pub portable_cluster_size: u32,
    /// Columns of tensor memory per multiprocessor (128 lanes of 32 bits each); 0 without tensor memory.
    pub tensor_memory_columns: u32,
    /// Blocks of a grid along x, y, z.
    pub grid: [u32; 3],
}

impl Limits {
    /// The most static shared memory of a block: the limit of PTX or, if `extended`, the limit of ptxas with its
    /// option for more.
    pub fn static_shared(&self, extended: bool) -> u32 {
        if extended { self.optin_shared_per_block } else { self.static_shared_per_block }
    }

    /// Whether ptxas can allow more.
    pub fn has_extended_shared(&self) -> bool {
        self.optin_shared_per_block > self.static_shared_per_block
    }
}

/// The default target.
pub const DEFAULT_TARGET: &str = "sm_100";

/// sm_8x: registers and grid are the same everywhere; only the memory and occupancy limits vary.
const AMPERE: Limits = Limits {
    static_shared_per_block: 48 * 1024,
    exchange_shared_per_block: 48 * 1024,
    optin_shared_per_block: 163 * 1024,
    shared_per_sm: 164 * 1024,
    reserved_shared_per_block: 1024,
    registers_per_sm: 65_536,
    registers_per_thread: 255,
    estimated_registers: 240,
    dot_registers: 144,
    threads_per_block: 1024,
    threads_per_sm: 2048,
    blocks_per_sm: 32,
    portable_cluster_size: 1,
    tensor_memory_columns: 0,
    grid: [0x7fff_ffff, 65_535, 65_535],
};

/// sm_86 and its relatives: less shared memory, fewer threads.
const AMPERE_SMALL: Limits = Limits {
    optin_shared_per_block: 99 * 1024,
    shared_per_sm: 100 * 1024,
    threads_per_sm: 1536,
    blocks_per_sm: 16,
    ..AMPERE
};

const HOPPER: Limits = Limits {
    static_shared_per_block: 227 * 1024,
    optin_shared_per_block: 227 * 1024,
    shared_per_sm: 228 * 1024,
    portable_cluster_size: 8,
    ..AMPERE
};

const BLACKWELL: Limits = Limits { tensor_memory_columns: 512, ..HOPPER };

const BLACKWELL_SMALL: Limits =
    Limits { static_shared_per_block: 99 * 1024, portable_cluster_size: 8, blocks_per_sm: 24, ..AMPERE_SMALL };

const SM_80: Features = Features::NONE;
const SM_86: Features = SM_80.with(&[XorSign]);
const SM_89: Features = SM_86.with(&[Fp8Convert, Fp8Mma]);
/// The features of sm_90 and every later target.
const SM_90: Features = SM_89.with(&[
    F64Mma16,
    Bf16Arithmetic,
    Tf32RoundEven,
    Bf16Atomic,
    VectorReduction,
    Atomic128,
    Stmatrix,
    MbarrierTransaction,
    Cluster,
    Tma,
    Elect,
    DependentLaunch,
    Multimem,
    RegisterReallocation,
    TensorMapEdit,
]);
/// The features of every target from sm_100 on.
const SM_10X: Features =
    SM_90.with(&[Wide256, F32x2, MinMax3, MixedF32, ClusterLaunchControl, BulkStore, NarrowConvert, MatrixB8]);
const SM_100: Features = SM_10X.with(&[Tcgen05, Tcgen05Int8, TmaGather4, ReduxF32, StochasticRounding]);

/// All targets, by ascending number.
pub static TARGETS: &[Target] = &[
    Target {
        name: "sm_80",
        sm: 80,
        llvm_cpu: "sm_80",
        llvm_ptx: v(7, 8),
        ptx_target: "sm_80",
        ptx_floor: v(7, 0),
        features: SM_80,
        limits: AMPERE,
        devices: "A100, A30",
    },
    Target {
        name: "sm_86",
        sm: 86,
        llvm_cpu: "sm_86",
        llvm_ptx: v(7, 8),
        ptx_target: "sm_86",
        ptx_floor: v(7, 1),
        features: SM_86,
        limits: AMPERE_SMALL,
        devices: "A40, RTX 30 series",
    },
    Target {
        name: "sm_87",
        sm: 87,
        llvm_cpu: "sm_87",
        llvm_ptx: v(7, 8),
        ptx_target: "sm_87",
        ptx_floor: v(7, 4),
        features: SM_86,
        limits: Limits { optin_shared_per_block: 163 * 1024, shared_per_sm: 164 * 1024, ..AMPERE_SMALL },
        devices: "Jetson AGX Orin",
    },
    Target {
        // LLVM 21 does not know sm_88. sm_87 has a subset of its instructions; sm_89 has fp8, which sm_88 lacks.
        // No public table gives its memory limits. The limits of sm_86, the smallest of the family, are safe.
        name: "sm_88",
        sm: 88,
        llvm_cpu: "sm_87",
        llvm_ptx: v(7, 8),
        ptx_target: "sm_88",
        ptx_floor: v(9, 0),
        features: SM_86,
        limits: AMPERE_SMALL,
        devices: "embedded",
    },
    Target {
        name: "sm_89",
        sm: 89,
        llvm_cpu: "sm_89",
        llvm_ptx: v(8, 1),
        ptx_target: "sm_89",
        ptx_floor: v(7, 8),
        features: SM_89,
        limits: Limits { blocks_per_sm: 24, ..AMPERE_SMALL },
        devices: "L4, L40, RTX 40 series",
    },
    Target {
        name: "sm_90",
        sm: 90,
        llvm_cpu: "sm_90a",
        llvm_ptx: v(8, 3),
        ptx_target: "sm_90a",
        ptx_floor: v(8, 0),
        features: SM_90.with(&[Wgmma]),
        limits: HOPPER,
        devices: "H100, H200, GH200",
    },
    Target {
        name: "sm_100",
        sm: 100,
        llvm_cpu: "sm_100a",
        llvm_ptx: v(8, 8),
        ptx_target: "sm_100a",
        ptx_floor: v(8, 6),
        features: SM_100,
        limits: BLACKWELL,
        devices: "B200, GB200",
    },
    Target {
        // LLVM 21 knows sm_103a but selects the tcgen05 intrinsics only for sm_100a and sm_101a.
        name: "sm_103",
        sm: 103,
        llvm_cpu: "sm_100a",
        llvm_ptx: v(8, 8),
        ptx_target: "sm_103a",
        ptx_floor: v(8, 8),
        features: SM_100.without(&[Tcgen05Int8]).with(&[Tcgen05LoadReduce]),
        limits: BLACKWELL,
        devices: "B300, GB300",
    },
    Target {
        // LLVM 21 does not know sm_107. No public table gives its limits, so the limits of its family are used.
        name: "sm_107",
        sm: 107,
        llvm_cpu: "sm_100a",
        llvm_ptx: v(8, 8),
        ptx_target: "sm_107a",
        ptx_floor: v(9, 4),
        features: SM_100.without(&[Tcgen05Int8]).with(&[Tcgen05LoadReduce]),
        limits: BLACKWELL,
        devices: "Rubin",
    },
    Target {
        // sm_110 is the later name of sm_101, which is the name that LLVM 21 knows.
        name: "sm_110",
        sm: 110,
        llvm_cpu: "sm_101a",
        llvm_ptx: v(8, 8),
        ptx_target: "sm_110a",
        ptx_floor: v(9, 0),
        features: SM_10X.with(&[Tcgen05, Tcgen05Int8, Tcgen05LoadReduce, TmaGather4]),
        limits: Limits { threads_per_sm: 1536, blocks_per_sm: 24, ..BLACKWELL },
        devices: "Jetson Thor",
    },
    Target {
        name: "sm_120",
        sm: 120,
        llvm_cpu: "sm_120a",
        llvm_ptx: v(8, 8),
        ptx_target: "sm_120a",
        ptx_floor: v(8, 7),
        features: SM_10X.with(&[BlockScaledMma]),
        limits: BLACKWELL_SMALL,
        devices: "RTX 50 series, RTX PRO 6000 Blackwell",
    },
    Target {
        name: "sm_121",
        sm: 121,
        llvm_cpu: "sm_121a",
        llvm_ptx: v(8, 8),
        ptx_target: "sm_121a",
        ptx_floor: v(8, 8),
        features: SM_10X.with(&[BlockScaledMma]),
        limits: BLACKWELL_SMALL,
        devices: "GB10",
    },
];

impl Target {
    /// The target with exactly this name: `sm_90` is one; `sm_90a`, `SM_90` and `compute_90` are not.
    pub fn by_name(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|t| t.name == name)
    }

    /// The target with this number, e.g. 90.
    pub fn by_number(sm: u32) -> Option<&'static Target> {
        TARGETS.iter().find(|t| t.sm == sm)
    }

    /// The default target.
    pub fn default_target() -> &'static Target {
        Target::by_name(DEFAULT_TARGET).unwrap_or(&TARGETS[0])
    }

    /// Whether the target has a feature.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(feature)
    }

    /// The LLVM feature string for the target machine, e.g. `+ptx83`.
    pub fn llvm_features(&self) -> String {
        format!("+{}", self.llvm_ptx.llvm_feature())
    }
}

/// The tables of the documentation, as Markdown: names and limits, and features.
pub fn markdown_table() -> String {
    let mut out = String::new();
    out.push_str("| target | devices | `.target` | minimum PTX | LLVM CPU | LLVM PTX | shared memory per block, for exchanges / static / opt-in / per SM (KiB) | threads, blocks per SM | tensor memory columns |\n");
    out.push_str("|---|---|---|---|---|---|---|---|---|\n");
    for t in TARGETS {
        let l = &t.limits;
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} / {} / {} / {} | {}, {} | {} |\n",
            t.name,
            t.devices,
            t.ptx_target,
            t.ptx_floor,
            t.llvm_cpu,
            t.llvm_ptx,
            l.exchange_shared_per_block / 1024,
            l.static_shared_per_block / 1024,
            l.optin_shared_per_block / 1024,
            l.shared_per_sm / 1024,
            l.threads_per_sm,
            l.blocks_per_sm,
            l.tensor_memory_columns
        ));
    }
    out.push_str("\n| feature | description | targets |\n|---|---|---|\n");
    for feature in Feature::ALL {
        let names: Vec<&str> = TARGETS.iter().filter(|t| t.has(*feature)).map(|t| t.name).collect();
        out.push_str(&format!("| {} | {} | {} |\n", feature.name(), feature.summary(), names.join(" ")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exact_and_ordered() {
        for pair in TARGETS.windows(2) {
            assert!(pair[0].sm < pair[1].sm);
        }
        for t in TARGETS {
            assert_eq!(t.name, format!("sm_{}", t.sm));
            assert_eq!(Target::by_name(t.name), Some(t));
            assert_eq!(Target::by_number(t.sm), Some(t));
            let arch_specific = format!("{}a", t.name);
            assert!(t.ptx_target == t.name || t.ptx_target == arch_specific, "{}", t.ptx_target);
            assert_eq!(t.ptx_target == arch_specific, t.sm >= 90, "{}: the a variant is used where it exists", t.name);
        }
        for bad in ["", "sm_75", "sm_90a", "SM_90", "compute_90", "sm_108", "90"] {
            assert_eq!(Target::by_name(bad), None, "{bad}");
        }
        assert_eq!(Target::default_target().name, "sm_100");
    }

    #[test]
    fn limits_are_consistent() {
        for t in TARGETS {
            let l = &t.limits;
            assert!(l.exchange_shared_per_block <= l.static_shared_per_block, "{}", t.name);
            assert!(l.dot_registers < l.estimated_registers, "{}", t.name);
            assert!(l.estimated_registers <= l.registers_per_thread, "{}", t.name);
            assert!(l.static_shared_per_block <= l.optin_shared_per_block, "{}", t.name);
            assert_eq!(l.optin_shared_per_block + l.reserved_shared_per_block, l.shared_per_sm, "{}", t.name);
            assert_eq!(l.tensor_memory_columns > 0, t.has(Feature::Tcgen05), "{}", t.name);
            assert_eq!(l.portable_cluster_size > 1, t.has(Feature::Cluster), "{}", t.name);
            assert!(l.threads_per_block <= l.threads_per_sm);
        }
    }

    #[test]
    fn every_feature_separates_targets() {
        for feature in Feature::ALL {
            let count = TARGETS.iter().filter(|t| t.has(*feature)).count();
            assert!(0 < count && count < TARGETS.len(), "{feature} does not separate any targets");
        }
    }

    #[test]
    fn the_documentation_lists_every_row() {
        let text = markdown_table();
        for t in TARGETS {
            assert!(text.contains(&format!("| {} | {} |", t.name, t.devices)));
        }
        for feature in Feature::ALL {
            assert!(text.contains(&format!("| {} | {} |", feature.name(), feature.summary())));
        }
    }
}
