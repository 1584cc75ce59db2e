//! The requirements of instructions: the minimum PTX version and, if not every target has the instruction, a feature.
//!
//! A row matches a mnemonic (`cp.async.bulk.tensor.2d.shared::cta.global.tile...`) by its head and by pieces that
//! must occur in it, all split at dots. If several rows match an instruction, all of them apply. If no row matches,
//! every target in the table has the instruction. The table is a safety net: code generation asks
//! [`Target::has`](crate::Target::has) before it emits anything.
//!
//! Example: `cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes` matches the row `cp.async.bulk` (PTX 8.0,
//! feature tma) and the row `cp.async.bulk` with the piece `shared::cta.global` (PTX 8.6, the form with a destination
//! in the CTA's own shared memory). The kernel therefore needs 8.6.

use crate::feature::Feature::{self, *};
use crate::version::{PtxVersion, v};

/// One row: a pattern of instructions, and their requirements.
#[derive(Debug)]
pub struct Requirement {
    /// The dot-separated words with which the mnemonic starts.
    pub head: &'static str,
    /// Runs of dot-separated words, all of which must occur in the mnemonic.
    pub pieces: &'static [&'static str],
    pub version: PtxVersion,
    pub feature: Option<Feature>,
    /// A statement that the row matches. It uses the registers that the tests declare.
    pub sample: &'static str,
}

const fn row(
    head: &'static str,
    pieces: &'static [&'static str],
    version: PtxVersion,
    feature: Option<Feature>,
    sample: &'static str,
) -> Requirement {
    Requirement { head, pieces, version, feature, sample }
}

#[rustfmt::skip]
static ROWS: &[Requirement] = &[
    // Matrix multiplication.
    row("mma", &["and.popc"], v(7, 1), None, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {r0,r1,r2,r3},{r4,r5,r6,r7},{r8,r9},{r0,r1,r2,r3};"),
    row("mma", &["m16n8k4", "f64"], v(7, 8), Some(F64Mma16), "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {g0,g1,g2,g3},{g0,g1},{g2},{g0,g1,g2,g3};"),
    row("mma", &["m16n8k8", "f64"], v(7, 8), Some(F64Mma16), "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {g0,g1,g2,g3},{g0,g1,g2,g3},{g0,g1},{g0,g1,g2,g3};"),
    row("mma", &["m16n8k16", "f64"], v(7, 8), Some(F64Mma16), "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {g0,g1,g2,g3},{g0,g1,g2,g3,g0,g1,g2,g3},{g0,g1,g2,g3},{g0,g1,g2,g3};"),
    row("mma", &["e4m3"], v(8, 4), Some(Fp8Mma), "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {f0,f1,f2,f3},{r0,r1,r2,r3},{r4,r5},{f0,f1,f2,f3};"),
    row("mma", &["e5m2"], v(8, 4), Some(Fp8Mma), "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {f0,f1,f2,f3},{r0,r1,r2,r3},{r4,r5},{f0,f1,f2,f3};"),
    row("mma", &["m16n8k16", "e4m3"], v(8, 7), Some(Fp8Mma), "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 {f0,f1,f2,f3},{r0,r1},{r4},{f0,f1,f2,f3};"),
    row("mma", &["m16n8k16", "e5m2"], v(8, 7), Some(Fp8Mma), "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32 {f0,f1,f2,f3},{r0,r1},{r4},{f0,f1,f2,f3};"),
    row("mma", &["f16.e4m3"], v(8, 7), Some(Fp8Mma), "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {r8,r9},{r0,r1,r2,r3},{r4,r5},{r8,r9};"),
    row("mma", &["f16.e5m2"], v(8, 7), Some(Fp8Mma), "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16 {r8,r9},{r0,r1,r2,r3},{r4,r5},{r8,r9};"),
    row("mma", &["kind::f8f6f4"], v(8, 7), Some(BlockScaledMma), "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32 {f0,f1,f2,f3},{r0,r1,r2,r3},{r4,r5},{f0,f1,f2,f3};"),
    row("mma", &["block_scale"], v(8, 7), Some(BlockScaledMma), "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {f0,f1,f2,f3},{r0,r1,r2,r3},{r4,r5},{f0,f1,f2,f3},r6,{0,0},r7,{0,0};"),
    row("mma", &["scale_vec::4X", "ue8m0"], v(9, 1), Some(BlockScaledMma), "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 {f0,f1,f2,f3},{r0,r1,r2,r3},{r4,r5},{f0,f1,f2,f3},r6,{0,0},r7,{0,0};"),
    row("mma.sp::ordered_metadata", &[], v(8, 5), None, "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f0,f1,f2,f3},{r0,r1},{r2,r3},{f0,f1,f2,f3},r4,0x0;"),
    row("wgmma", &[], v(8, 0), Some(Wgmma), "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0,f1,f2,f3},d0,d1,1,1,1,0,0;"),
    row("wgmma", &["s8.u8"], v(8, 4), Some(Wgmma), "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {r0,r1,r2,r3},d0,d1,p;"),
    row("wgmma", &["u8.s8"], v(8, 4), Some(Wgmma), "wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8 {r0,r1,r2,r3},d0,d1,p;"),
    row("tcgen05", &[], v(8, 6), Some(Tcgen05), "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0},[r1];"),
    row("tcgen05.mma", &["kind::i8"], v(8, 6), Some(Tcgen05Int8), "tcgen05.mma.cta_group::1.kind::i8 [r0],d0,d1,r1,p;"),
    row("tcgen05.mma", &["kind::mxf4nvf4"], v(8, 7), Some(Tcgen05), "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [r0],d0,d1,r1,[r2],[r3],p;"),
    row("tcgen05.ld.red", &[], v(8, 8), Some(Tcgen05LoadReduce), "tcgen05.ld.red.sync.aligned.32x32b.x2.f32.max {r0,r1},r2,[r3];"),
    row("setmaxnreg", &[], v(8, 0), Some(RegisterReallocation), "setmaxnreg.inc.sync.aligned.u32 232;"),

    // Fragments.
    row("movmatrix", &[], v(7, 8), None, "movmatrix.sync.aligned.m8n8.trans.b16 r0,r1;"),
    row("stmatrix", &[], v(7, 8), Some(Stmatrix), "stmatrix.sync.aligned.m8n8.x4.shared.b16 [r0],{r1,r2,r3,r4};"),
    row("stmatrix", &["m16n8"], v(8, 6), Some(MatrixB8), "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [r0],{r1};"),
    row("ldmatrix", &["m16n16"], v(8, 6), Some(MatrixB8), "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {r0,r1},[r2];"),
    row("ldmatrix", &["m8n16"], v(8, 6), Some(MatrixB8), "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {r0},[r1];"),

    // Bulk copies and tensor maps.
    row("cp.async.bulk", &[], v(8, 0), Some(Tma), "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r0],[d0],r1,[r2];"),
    row("cp.async.bulk", &["shared::cta.global"], v(8, 6), Some(Tma), "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [r0],[d0,{r1,r2}],[r3];"),
    row("cp.async.bulk", &["tile::gather4"], v(8, 6), Some(TmaGather4), "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [r0],[d0,{r1,r2,r3,r4,r5}],[r6];"),
    row("cp.async.bulk", &["cta_group::2"], v(8, 6), Some(Tcgen05), "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r0],[d0,{r1,r2}],[r3];"),
    row("cp.reduce.async.bulk", &[], v(8, 0), Some(Tma), "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [d0,{r0,r1}],[r2];"),
    row("prefetch.tensormap", &[], v(8, 0), Some(Tma), "prefetch.tensormap [d0];"),
    row("tensormap.replace", &[], v(8, 3), Some(TensorMapEdit), "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [r0],d0;"),
    row("tensormap.cp_fenceproxy", &[], v(8, 3), Some(Tma), "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [d0],[r0],128;"),
    row("fence.proxy.tensormap::generic", &[], v(8, 3), Some(Tma), "fence.proxy.tensormap::generic.acquire.gpu [d0],128;"),
    row("fence.proxy.async", &[], v(8, 0), Some(Tma), "fence.proxy.async.shared::cta;"),
    row("st.bulk", &[], v(8, 6), Some(BulkStore), "st.bulk.weak.shared::cta [d0],1024,0;"),

    // Barriers, clusters, launches.
    row("mbarrier.try_wait", &[], v(7, 8), Some(MbarrierTransaction), "mbarrier.try_wait.parity.shared.b64 p,[r0],r1;"),
    row("mbarrier.test_wait.parity", &[], v(7, 1), None, "mbarrier.test_wait.parity.shared.b64 p,[r0],r1;"),
    row("mbarrier.arrive.expect_tx", &[], v(8, 0), Some(MbarrierTransaction), "mbarrier.arrive.expect_tx.shared.b64 _,[r0],r1;"),
    row("mbarrier.expect_tx", &[], v(8, 0), Some(MbarrierTransaction), "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [r0],r1;"),
    row("fence.mbarrier_init", &[], v(8, 0), Some(Cluster), "fence.mbarrier_init.release.cluster;"),
    row("fence", &["cluster"], v(7, 8), Some(Cluster), "fence.acq_rel.cluster;"),
    row("fence", &["sync_restrict::shared::cluster"], v(8, 6), Some(Cluster), "fence.acquire.sync_restrict::shared::cluster.cluster;"),
    row("mapa", &[], v(7, 8), Some(Cluster), "mapa.shared::cluster.u32 r0,r1,r2;"),
    row("barrier.cta", &[], v(7, 8), None, "barrier.cta.sync 0;"),
    row("barrier.cluster", &[], v(7, 8), Some(Cluster), "barrier.cluster.arrive.aligned;"),
    row("isspacep.shared::cluster", &[], v(7, 8), Some(Cluster), "isspacep.shared::cluster p,d0;"),
    row("st.async", &[], v(8, 1), Some(Cluster), "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [r0],r1,[r2];"),
    row("clusterlaunchcontrol", &[], v(8, 6), Some(ClusterLaunchControl), "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [r0],[r1];"),
    row("griddepcontrol", &[], v(7, 8), Some(DependentLaunch), "griddepcontrol.wait;"),
    row("elect", &[], v(8, 0), Some(Elect), "elect.sync r0|p,0xffffffff;"),

    // Memory.
    row("ld", &["v8"], v(8, 8), Some(Wide256), "ld.global.v8.b32 {r0,r1,r2,r3,r4,r5,r6,r7},[d0];"),
    row("ld", &["v4.b64"], v(8, 8), Some(Wide256), "ld.global.v4.b64 {d0,d1,d2,d3},[d4];"),
    row("ld", &["v4.u64"], v(8, 8), Some(Wide256), "ld.global.v4.u64 {d0,d1,d2,d3},[d4];"),
    row("ld", &["v4.f64"], v(8, 8), Some(Wide256), "ld.global.v4.f64 {g0,g1,g2,g3},[d4];"),
    row("st", &["v8"], v(8, 8), Some(Wide256), "st.global.v8.b32 [d0],{r0,r1,r2,r3,r4,r5,r6,r7};"),
    row("st", &["v4.b64"], v(8, 8), Some(Wide256), "st.global.v4.b64 [d4],{d0,d1,d2,d3};"),
    row("ld", &["L2::cache_hint"], v(7, 4), None, "ld.global.L2::cache_hint.b32 r0,[d0],d1;"),
    row("ld", &["L1::no_allocate"], v(7, 4), None, "ld.global.L1::no_allocate.b32 r0,[d0];"),
    row("ld.mmio", &[], v(8, 2), None, "ld.mmio.relaxed.sys.global.b32 r0,[d0];"),
    row("ld", &["b128"], v(8, 3), None, "ld.global.b128 q,[d0];"),
    row("st", &["b128"], v(8, 3), None, "st.global.b128 [d0],q;"),
    row("createpolicy", &[], v(7, 4), None, "createpolicy.fractional.L2::evict_first.b64 d0;"),
    row("discard", &[], v(7, 4), None, "discard.global.L2 [d0],128;"),
    row("applypriority", &[], v(7, 4), None, "applypriority.global.L2::evict_normal [d0],128;"),

    // Atomics and reductions.
    row("atom", &["add.noftz.bf16"], v(7, 8), Some(Bf16Atomic), "atom.global.add.noftz.bf16 h0,[d0],h1;"),
    row("atom", &["add.noftz.bf16x2"], v(7, 8), Some(Bf16Atomic), "atom.global.add.noftz.bf16x2 r0,[d0],r1;"),
    row("red", &["add.noftz.bf16x2"], v(7, 8), Some(Bf16Atomic), "red.global.add.noftz.bf16x2 [d0],r1;"),
    row("red", &["v4"], v(8, 1), Some(VectorReduction), "red.global.add.v4.f32 [d0],{f0,f1,f2,f3};"),
    row("red", &["v2"], v(8, 1), Some(VectorReduction), "red.global.add.v2.f32 [d0],{f0,f1};"),
    row("red", &["v8"], v(8, 1), Some(VectorReduction), "red.global.add.noftz.v8.f16 [d0],{h0,h1,h2,h3,h4,h5,h6,h7};"),
    row("atom", &["b128"], v(8, 3), Some(Atomic128), "atom.global.cas.b128 q,[d0],q,q;"),
    row("multimem", &[], v(8, 1), Some(Multimem), "multimem.ld_reduce.global.add.f32 f0,[d0];"),
    row("multimem", &["acc::f32"], v(8, 2), Some(Multimem), "multimem.ld_reduce.weak.global.add.acc::f32.f16x2 r0,[d0];"),
    row("redux.sync.min", &["f32"], v(8, 6), Some(ReduxF32), "redux.sync.min.f32 f0,f1,0xffffffff;"),
    row("redux.sync.max", &["f32"], v(8, 6), Some(ReduxF32), "redux.sync.max.NaN.f32 f0,f1,0xffffffff;"),

    // Arithmetic.
    row("add", &["bf16"], v(7, 8), Some(Bf16Arithmetic), "add.rn.bf16 h0,h1,h2;"),
    row("add", &["bf16x2"], v(7, 8), Some(Bf16Arithmetic), "add.rn.bf16x2 r0,r1,r2;"),
    row("sub", &["bf16x2"], v(7, 8), Some(Bf16Arithmetic), "sub.rn.bf16x2 r0,r1,r2;"),
    row("mul", &["bf16"], v(7, 8), Some(Bf16Arithmetic), "mul.rn.bf16 h0,h1,h2;"),
    row("mul", &["bf16x2"], v(7, 8), Some(Bf16Arithmetic), "mul.rn.bf16x2 r0,r1,r2;"),
    row("setp", &["bf16"], v(7, 8), Some(Bf16Arithmetic), "setp.lt.bf16 p,h0,h1;"),
    row("ex2", &["bf16"], v(7, 8), Some(Bf16Arithmetic), "ex2.approx.ftz.bf16 h0,h1;"),
    row("ex2", &["bf16x2"], v(7, 8), Some(Bf16Arithmetic), "ex2.approx.ftz.bf16x2 r0,r1;"),
    row("tanh", &["bf16"], v(7, 8), Some(Bf16Arithmetic), "tanh.approx.bf16 h0,h1;"),
    row("tanh", &["bf16x2"], v(7, 8), Some(Bf16Arithmetic), "tanh.approx.bf16x2 r0,r1;"),
    row("min", &["xorsign"], v(7, 2), Some(XorSign), "min.xorsign.abs.f32 f0,f1,f2;"),
    row("max", &["xorsign"], v(7, 2), Some(XorSign), "max.xorsign.abs.f32 f0,f1,f2;"),
    row("add", &["f32x2"], v(8, 6), Some(F32x2), "add.rn.f32x2 d0,d1,d2;"),
    row("sub", &["f32x2"], v(8, 6), Some(F32x2), "sub.rn.f32x2 d0,d1,d2;"),
    row("mul", &["f32x2"], v(8, 6), Some(F32x2), "mul.rn.f32x2 d0,d1,d2;"),
    row("fma", &["f32x2"], v(8, 6), Some(F32x2), "fma.rn.f32x2 d0,d1,d2,d3;"),
    row("add", &["f32.f16"], v(8, 6), Some(MixedF32), "add.f32.f16 f0,h0,f1;"),
    row("add", &["f32.bf16"], v(8, 6), Some(MixedF32), "add.f32.bf16 f0,h0,f1;"),
    row("fma", &["f32.f16"], v(8, 6), Some(MixedF32), "fma.rn.f32.f16 f0,h0,h1,f1;"),
    row("fma", &["f32.bf16"], v(8, 6), Some(MixedF32), "fma.rn.f32.bf16 f0,h0,h1,f1;"),
    row("szext", &[], v(7, 6), None, "szext.wrap.s32 r0,r1,r2;"),

    // Conversions.
    row("cvt", &["e4m3x2"], v(8, 1), Some(Fp8Convert), "cvt.rn.satfinite.e4m3x2.f32 h0,f0,f1;"),
    row("cvt", &["e5m2x2"], v(8, 1), Some(Fp8Convert), "cvt.rn.f16x2.e5m2x2 r0,h0;"),
    row("cvt", &["e2m1x2"], v(8, 6), Some(NarrowConvert), "{.reg .b8 t; cvt.rn.satfinite.e2m1x2.f32 t,f0,f1; mov.b16 h0,{t,t};}"),
    row("cvt", &["e2m3x2"], v(8, 6), Some(NarrowConvert), "cvt.rn.satfinite.e2m3x2.f32 h0,f0,f1;"),
    row("cvt", &["e3m2x2"], v(8, 6), Some(NarrowConvert), "cvt.rn.satfinite.e3m2x2.f32 h0,f0,f1;"),
    row("cvt", &["ue8m0x2"], v(8, 6), Some(NarrowConvert), "cvt.rn.bf16x2.ue8m0x2 r0,h0;"),
    row("cvt.rs", &[], v(8, 7), Some(StochasticRounding), "cvt.rs.f16x2.f32 r0,f0,f1,r1;"),
    row("cvt.rn", &["tf32"], v(7, 8), Some(Tf32RoundEven), "cvt.rn.tf32.f32 r0,f0;"),
    row("cvt.f32.bf16", &[], v(7, 1), None, "cvt.f32.bf16 f0,h0;"),
    row("cvt.rn.bf16", &["s32"], v(7, 8), Some(Bf16Arithmetic), "cvt.rn.bf16.s32 h0,r0;"),
    row("cvt.rzi", &["bf16"], v(7, 8), Some(Bf16Arithmetic), "cvt.rzi.s32.bf16 r0,h0;"),
];

/// All rows, for documentation and tests.
pub fn requirements() -> &'static [Requirement] {
    ROWS
}

/// The rows that an instruction's mnemonic matches.
pub fn requirements_of(mnemonic: &str) -> impl Iterator<Item = &'static Requirement> {
    // Compare the first letter first: most rows differ in it, and this runs for every instruction.
    let first = mnemonic.bytes().next();
    ROWS.iter().filter(move |r| r.head.bytes().next() == first && r.matches(mnemonic))
}

impl Requirement {
    /// Whether the row matches a mnemonic.
    pub fn matches(&self, mnemonic: &str) -> bool {
        starts_with_words(mnemonic, self.head) && self.pieces.iter().all(|piece| contains_words(mnemonic, piece))
    }
}

/// Whether `text` starts with `words`, split at dots: `add` starts `add.f32` but not `addc.u32`.
pub(crate) fn starts_with_words(text: &str, words: &str) -> bool {
    text.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether `words` occurs in `text` as a run of whole dot-separated words.
pub(crate) fn contains_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].ends_with('.') || at == 0;
        let after = &text[at + words.len()..];
        before && (after.is_empty() || after.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_match_their_samples() {
        for row in ROWS {
            let mnemonics = crate::scan::mnemonics_of_body(row.sample);
            assert!(
                mnemonics.iter().any(|m| row.matches(m)),
                "{} {:?} does not match {}",
                row.head,
                row.pieces,
                row.sample
            );
        }
    }

    #[test]
    fn words_are_cut_at_dots() {
        let needs = |m: &str| requirements_of(m).map(|r| r.version).max();
        assert_eq!(needs("add.s32"), None);
        assert_eq!(needs("addc.bf16x2"), None);
        assert_eq!(needs("cvt.rn.bf16x2.f32"), None);
        assert_eq!(needs("cvt.rna.tf32.f32"), None);
        assert_eq!(needs("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"), None);
        assert_eq!(needs("redux.sync.add.s32"), None);
        assert_eq!(needs("ld.global.v4.b32"), None);
        assert_eq!(needs("cp.async.cg.shared.global"), None);
        assert_eq!(needs("cp.async.bulk.global.shared::cta.bulk_group"), Some(v(8, 0)));
        assert_eq!(needs("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"), Some(v(8, 6)));
    }
}
