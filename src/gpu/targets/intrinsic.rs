//! The requirements of LLVM intrinsics: which ones LLVM 21 can select for a target.
//!
//! LLVM aborts the process when it meets an intrinsic without an instruction. Text input may name any intrinsic, so
//! this table is consulted before code generation. A row matches a name as a row of [`crate::requirements`] matches a
//! mnemonic: by the dot-separated words with which it starts and that occur in it. All matching rows apply. An NVPTX
//! intrinsic without a matching row can be selected for every target.
//!
//! The rows were measured: a call of every intrinsic that LLVM 21.1 declares was compiled for every target.
//! `tests/machine/intrinsics.rs` repeats this for the intrinsics that the table allows.
//!
//! Of the target-independent intrinsics, only the ones in [`SHARED`] can be selected. Intrinsics of other processors
//! cannot.
//!
//! Conversions of packed floats have *gates* with prescribed texts. The text for 8-bit floats names sm_90, although
//! sm_89 has the instruction and the check accepts it. The fourth gate depends on the family: only targets of the
//! family of sm_100 round stochastically. LLVM 21 does not know these intrinsics yet, so their names are checked before
//! it is asked for them.

use crate::feature::Feature::{self, *};
use crate::requirement::{contains_words, starts_with_words};
use crate::target::Target;

/// The requirement of an intrinsic.
#[derive(Clone, Copy, Debug)]
enum Need {
    Feature(Feature),
    /// A minimum compute capability.
    From(u32),
    /// A feature, with the text to report if it is missing.
    Gate(Feature, &'static str),
    /// Never satisfied: the instruction is gone, or LLVM never selects it.
    Gone,
}
use Need::{From, Gate, Gone};

#[derive(Debug)]
struct Row {
    head: &'static str,
    pieces: &'static [&'static str],
    need: Need,
}

const fn row(head: &'static str, pieces: &'static [&'static str], need: Need) -> Row {
    Row { head, pieces, need }
}

const fn has(feature: Feature) -> Need {
    Need::Feature(feature)
}

const FP8: Need = Gate(Fp8Convert, "cvt_packfloat intrinsic needs atleast SM90 and PTX >= 78");
const UE8M0: Need = Gate(NarrowConvert, "cvt_packfloat intrinsic with ue8m0x2 needs at least SM100a and PTX >= 86");
const NARROW: Need =
    Gate(NarrowConvert, "cvt_packfloat intrinsic with fp6x2 or fp4x2 needs at least SM100a and PTX >= 86");
const STOCHASTIC: Need = Gate(
    StochasticRounding,
    "cvt_packfloat intrinsic with stochastic rounding needs a target of the family of SM100f and PTX >= 87",
);

/// Names without `llvm.nvvm.`.
#[rustfmt::skip]
static ROWS: &[Row] = &[
    // Conversions of packed floats.
    row("ff.to.e4m3x2", &[], FP8),
    row("ff.to.e5m2x2", &[], FP8),
    row("f16x2.to.e4m3x2", &[], FP8),
    row("f16x2.to.e5m2x2", &[], FP8),
    row("e4m3x2", &[], FP8),
    row("e5m2x2", &[], FP8),
    row("ff.to.ue8m0x2", &[], UE8M0),
    row("bf16x2.to.ue8m0x2", &[], UE8M0),
    row("ue8m0x2", &[], UE8M0),
    row("ff.to.e2m3x2", &[], NARROW),
    row("ff.to.e3m2x2", &[], NARROW),
    row("ff.to.e2m1x2", &[], NARROW),
    row("e2m3x2", &[], NARROW),
    row("e3m2x2", &[], NARROW),
    row("e2m1x2", &[], NARROW),
    row("ff.to.f16x2.rs", &[], STOCHASTIC),
    row("ff.to.bf16x2.rs", &[], STOCHASTIC),
    row("f32x4.to", &["rs"], STOCHASTIC),
    row("f2tf32.rn", &[], has(Tf32RoundEven)),
    row("f2tf32.rz", &[], has(Tf32RoundEven)),
    row("f2tf32.rna", &["satfinite"], From(89)),
    row("f2tf32.rn", &["satfinite"], From(100)),
    row("f2tf32.rz", &["satfinite"], From(100)),
    row("bf2h", &[], Gone),

    // Arithmetic.
    row("fmax", &["xorsign"], has(XorSign)),
    row("fmin", &["xorsign"], has(XorSign)),
    row("fmax.ftz", &["bf16"], Gone),
    row("fmax.ftz", &["bf16x2"], Gone),
    row("fmin.ftz", &["bf16"], Gone),
    row("fmin.ftz", &["bf16x2"], Gone),
    row("fma.rn.ftz", &["bf16x2"], Gone),
    row("fma.rn.sat", &["bf16x2"], Gone),
    row("ex2.approx.d", &[], Gone),
    row("redux.sync.fmax", &[], has(ReduxF32)),
    row("redux.sync.fmin", &[], has(ReduxF32)),

    // Threads, clusters, launches.
    row("barrier.cluster", &[], has(Cluster)),
    row("getctarank", &[], has(Cluster)),
    row("is_explicit_cluster", &[], has(Cluster)),
    row("isspacep.shared.cluster", &[], has(Cluster)),
    row("mapa", &[], has(Cluster)),
    row("read.ptx.sreg.cluster", &[], has(Cluster)),
    row("read.ptx.sreg.clusterid", &[], has(Cluster)),
    row("read.ptx.sreg.nclusterid", &[], has(Cluster)),
    row("clusterlaunchcontrol", &[], has(ClusterLaunchControl)),
    row("elect", &[], has(Elect)),
    row("griddepcontrol", &[], has(DependentLaunch)),
    row("setmaxnreg", &[], has(RegisterReallocation)),
    row("shfl.bfly", &[], Gone),
    row("shfl.down", &[], Gone),
    row("shfl.idx", &[], Gone),
    row("shfl.up", &[], Gone),

    // Memory.
    row("cp.async.bulk", &[], has(Tma)),
    row("cp.async.bulk", &["bytemask"], From(100)),
    row("fence.proxy", &[], has(Tma)),
    row("fence.sc.cluster", &[], has(Cluster)),
    row("prefetch", &[], From(90)),
    row("prefetchu", &[], From(90)),
    row("st.bulk", &[], has(BulkStore)),
    row("texsurf", &[], Gone),

    // Matrices.
    row("ldmatrix", &["m16n16"], has(MatrixB8)),
    row("ldmatrix", &["m8n16"], has(MatrixB8)),
    row("wgmma", &[], has(Wgmma)),
    row("tcgen05", &[], has(Tcgen05)),
];

/// Target-independent intrinsics that NVPTX can select, without `llvm.`. Names of types may follow.
#[rustfmt::skip]
static SHARED: &[&str] = &[
    // Integers.
    "abs", "bitreverse", "bswap", "ctlz", "ctpop", "cttz", "fshl", "fshr", "sadd.sat", "sadd.with.overflow", "scmp", "smax",
    "smin", "smul.fix", "smul.fix.sat", "smul.with.overflow", "sshl.sat", "ssub.sat", "ssub.with.overflow", "uadd.sat",
    "uadd.with.overflow", "ucmp", "udiv.fix", "udiv.fix.sat", "umax", "umin", "umul.fix", "umul.fix.sat", "umul.with.overflow",
    "ushl.sat", "usub.sat", "usub.with.overflow",
    // Floats.
    "ceil", "convert.from.fp16", "convert.to.fp16", "copysign", "exp2", "fabs", "floor", "fma", "fmuladd", "fptosi.sat",
    "fptoui.sat", "frexp", "is.fpclass", "ldexp", "maximum", "maximumnum", "maxnum", "minimum", "minimumnum", "minnum",
    "nearbyint", "rint", "round", "roundeven", "sqrt", "trunc", "experimental.constrained.fadd",
    "experimental.constrained.fptrunc",
    // Vectors.
    "masked.expandload", "masked.load", "masked.store", "vector.extract", "vector.insert", "vector.reduce.add",
    "vector.reduce.and", "vector.reduce.fadd", "vector.reduce.fmax", "vector.reduce.fmaximum", "vector.reduce.fmin",
    "vector.reduce.fminimum", "vector.reduce.fmul", "vector.reduce.mul", "vector.reduce.or", "vector.reduce.smax",
    "vector.reduce.smin", "vector.reduce.umax", "vector.reduce.umin", "vector.reduce.xor", "vector.reverse", "vector.splice",
    // Memory.
    "invariant.end", "invariant.start", "launder.invariant.group", "lifetime.end", "lifetime.start", "load.relative", "memcpy",
    "memcpy.inline", "memmove", "memset", "memset.inline", "objectsize", "prefetch", "ptrmask", "stackrestore", "stacksave",
    "strip.invariant.group", "threadlocal.address", "va_copy", "va_end", "va_start",
    // Annotations of the program.
    "annotation", "arithmetic.fence", "assume", "dbg.assign", "dbg.declare", "dbg.label", "dbg.value", "debugtrap", "donothing",
    "expect", "expect.with.probability", "experimental.noalias.scope.decl", "fake.use", "is.constant", "ptr.annotation",
    "readcyclecounter", "readsteadycounter", "sideeffect", "trap", "ubsantrap", "var.annotation",
];

/// Types for which NVPTX cannot select a shared intrinsic.
static SHARED_WITHOUT: &[(&str, &[&str])] = &[("exp2", &["f64"])];

/// Returns the reason why a call of the intrinsic cannot be compiled for a target, or `None` if it can. Names are as
/// in LLVM, such as `llvm.nvvm.elect.sync`.
pub fn missing_for(intrinsic: &str, target: &Target) -> Option<String> {
    let Some(name) = intrinsic.strip_prefix("llvm.nvvm.") else {
        return (!is_shared(intrinsic)).then(|| format!("'{intrinsic}' is not supported on NVIDIA GPUs"));
    };
    let rows = ROWS.iter().filter(|r| r.matches(name));
    rows.filter_map(|r| r.need.missing(target)).next().map(|why| match why {
        Missing::Text(text) => format!("{text} ('{intrinsic}' on {})", target.name),
        Missing::Feature(feature) => {
            format!("'{intrinsic}' needs the feature {feature}, which {} lacks", target.name)
        }
        Missing::Sm(sm) => format!("'{intrinsic}' needs sm_{sm}; the target is {}", target.name),
        Missing::All => format!("'{intrinsic}' cannot be selected for any target"),
    })
}

/// Returns the text of the gate that rejects an intrinsic for a target, if one does. The intrinsic need not exist.
pub fn gate(intrinsic: &str, target: &Target) -> Option<String> {
    let name = intrinsic.strip_prefix("llvm.nvvm.")?;
    let is_gated = ROWS.iter().any(|r| matches!(r.need, Gate(..)) && r.matches(name));
    is_gated.then(|| missing_for(intrinsic, target)).flatten()
}

/// Whether NVPTX can select a target-independent intrinsic.
fn is_shared(intrinsic: &str) -> bool {
    let Some(name) = intrinsic.strip_prefix("llvm.") else { return false };
    SHARED.iter().any(|shared| {
        let Some(types) = name.strip_prefix(shared).filter(|t| t.is_empty() || t.starts_with('.')) else {
            return false;
        };
        let without = SHARED_WITHOUT.iter().find(|(n, _)| n == shared).map_or(&[][..], |(_, types)| types);
        types.split('.').skip(1).all(|ty| is_type(ty) && !without.iter().any(|w| ty.ends_with(w)))
    })
}

/// Whether a word is a type in the name of an intrinsic: `i32`, `v4f16`, `p3`, or `s` for a structure.
fn is_type(word: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let scalar = |text: &str| ["i", "f", "bf", "p"].iter().any(|kind| text.strip_prefix(kind).is_some_and(number));
    let vector = word.strip_prefix('v').map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    scalar(word) || vector.is_some_and(scalar) || word.starts_with("sl_")
}

enum Missing {
    Text(&'static str),
    Feature(Feature),
    Sm(u32),
    All,
}

impl Need {
    fn missing(self, target: &Target) -> Option<Missing> {
        match self {
            Need::Feature(f) => (!target.has(f)).then_some(Missing::Feature(f)),
            From(sm) => (target.sm < sm).then_some(Missing::Sm(sm)),
            Gate(f, text) => (!target.has(f)).then_some(Missing::Text(text)),
            Gone => Some(Missing::All),
        }
    }
}

impl Row {
    fn matches(&self, name: &str) -> bool {
        starts_with_words(name, self.head) && self.pieces.iter().all(|piece| contains_words(name, piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TARGETS;

    fn refusing(intrinsic: &str) -> Vec<&'static str> {
        TARGETS.iter().filter(|t| missing_for(intrinsic, t).is_some()).map(|t| t.name).collect()
    }

    #[test]
    fn cvt_packfloat_gates_have_their_texts() {
        let sm_80 = Target::by_name("sm_80").unwrap();
        let text = |name: &str| missing_for(name, sm_80).unwrap();
        for name in ["ff.to.e4m3x2.rn", "ff.to.e5m2x2.rn.relu", "f16x2.to.e4m3x2.rn", "e5m2x2.to.f16x2.rn"] {
            let name = format!("llvm.nvvm.{name}");
            assert!(text(&name).starts_with("cvt_packfloat intrinsic needs atleast SM90 and PTX >= 78 ("), "{name}");
            // sm_89 has the instruction, despite the text.
            assert_eq!(refusing(&name), ["sm_80", "sm_86", "sm_87", "sm_88"], "{name}");
        }
        for (name, floats) in [
            ("ff.to.ue8m0x2.rz", "ue8m0x2"),
            ("bf16x2.to.ue8m0x2.rp.satfinite", "ue8m0x2"),
            ("ff.to.e2m3x2.rn.satfinite", "fp6x2 or fp4x2"),
            ("e2m1x2.to.f16x2.rn", "fp6x2 or fp4x2"),
        ] {
            let name = format!("llvm.nvvm.{name}");
            let expected = format!("cvt_packfloat intrinsic with {floats} needs at least SM100a and PTX >= 86 (");
            assert!(text(&name).starts_with(&expected), "{}", text(&name));
            assert_eq!(refusing(&name), ["sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90"], "{name}");
        }
    }

    /// The fourth gate: the family of sm_100 has the conversions, newer targets of other families do not.
    #[test]
    fn stochastic_rounding_depends_on_the_family() {
        for name in ["ff.to.f16x2.rs", "ff.to.bf16x2.rs.relu", "f32x4.to.e4m3x4.rs.satfinite", "f32x4.to.e2m1x4.rs"] {
            let name = format!("llvm.nvvm.{name}");
            let accepting: Vec<&str> =
                TARGETS.iter().filter(|t| missing_for(&name, t).is_none()).map(|t| t.name).collect();
            assert_eq!(accepting, ["sm_100", "sm_103", "sm_107"], "{name}");
            let text = missing_for(&name, Target::by_name("sm_120").unwrap()).unwrap();
            assert!(
                text.starts_with(
                    "cvt_packfloat intrinsic with stochastic rounding needs a target of the family of SM100f"
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn needs_are_those_of_the_targets() {
        let cases: &[(&str, usize)] = &[
            ("llvm.nvvm.read.ptx.sreg.tid.x", 0),
            ("llvm.nvvm.cp.async.cg.shared.global.16", 0),
            ("llvm.nvvm.fmax.f", 0),
            ("llvm.nvvm.fmax.xorsign.abs.f", 1),
            ("llvm.nvvm.elect.sync", 5),
            ("llvm.nvvm.shfl.idx.i32", TARGETS.len()),
            ("llvm.nvvm.shfl.sync.idx.i32", 0),
            ("llvm.nvvm.wgmma.fence.sync.aligned", TARGETS.len() - 1),
            ("llvm.fma.f32", 0),
            ("llvm.vector.reduce.fadd.v4f32", 0),
            ("llvm.memcpy.p3.p1.i64", 0),
            ("llvm.memcpy.element.unordered.atomic.p0.p0.i64", TARGETS.len()),
            ("llvm.exp2.f32", 0),
            ("llvm.exp2.v2f64", TARGETS.len()),
            ("llvm.sin.f32", TARGETS.len()),
            ("llvm.x86.rdtsc", TARGETS.len()),
        ];
        for (name, refused) in cases {
            assert_eq!(refusing(name).len(), *refused, "{name}: {:?}", refusing(name));
        }
    }
}
