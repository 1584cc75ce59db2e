//! The parser: forms that compilers write, errors with their position, and hostile input.

mod common;
use common::{HEADER, entry};
use ptx_sim::Module;

/// Instructions in the spellings of LLVM, nvcc and inline assembly, one per line.
const ACCEPTED: &str = "
mov.b64 %rd4, %rd5; mov.b32 %r2, {%rs1, %rs2}; mov.b64 {%r2, _}, %rd4; mov.u32 %r2, WARP_SZ; mov.b16 %rs1, 0x3C00;
ld.global.nc.L1::no_allocate.L2::128B.v4.b32 {%r2, %r3, %r4, %r5}, [%rd4+16];
ld.global.nc.L1::evict_first.L2::cache_hint.v2.f32 {%f1, %f2}, [%rd4], %rd5; ld.volatile.shared.u8 %rs1, [%r2];
ld.acquire.sys.global.u64 %rd4, [%rd5]; ld.relaxed.gpu.L1::no_allocate.b32 %r2, [%rd4]; ld.mmio.relaxed.sys.global.u32 %r2, [%rd4];
ld.global.v8.b32 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%rd4]; st.release.cta.global.b32 [%rd4+-8], %r2; st.shared::cluster.b32 [%r2], %r3;
st.global.L1::evict_last.L2::cache_hint.v4.b32 [%rd4], {%r2, 0, 0, %r5}, %rd5; st.weak.global.cs.f32 [%rd4], 0f3F800000;
atom.global.gpu.acq_rel.add.f32 %f1, [%rd4], %f2; atom.acq_rel.sys.global.cas.b64 %rd4, [%rd5], %rd6, %rd7; atom.global.add.noftz.f16x2 %r2, [%rd4], %r3;
atom.shared::cluster.relaxed.cluster.exch.b128 %rq1, [%r2], %rq2; red.relaxed.gpu.global.add.v4.f32 [%rd4], {%f1, %f2, %f3, %f4}; red.global.add.noftz.v2.bf16x2 [%rd4], {%r2, %r3};
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r2], %r3, [%r4];
cvt.rn.satfinite.relu.e4m3x2.f32 %rs1, %f1, %f2; cvt.rn.relu.bf16x2.f32 %r2, %f1, %f2; cvt.rni.ftz.f32.f32 %f1, %f2; cvt.sat.s8.s32 %rs1, %r2; cvt.rn.satfinite.e2m1x2.f32 %rc1, %f1, %f2;
cvt.rp.satfinite.ue8m0x2.f32 %rs1, %f1, %f2; cvt.rn.bf16x2.ue8m0x2 %r2, %rs1; cvt.rna.satfinite.tf32.f32 %r2, %f1; cvt.rz.bf16.f32 %rs1, %f1; cvt.f64.f32 %fd1, %f1; cvt.rn.f16.u64 %rs1, %rd4;
fma.rn.ftz.sat.f32 %f1, %f2, %f3, %f4; fma.rn.relu.bf16x2 %r2, %r3, %r4, %r5; max.ftz.NaN.xorsign.abs.f32 %f1, %f2, %f3; min.NaN.f16x2 %r2, %r3, %r4; add.rz.f64 %fd1, %fd2, %fd3; add.rn.f32x2 %rd4, %rd5, %rd6;
ex2.approx.ftz.bf16x2 %r2, %r3; tanh.approx.f32 %f1, %f2; rcp.approx.ftz.f64 %fd1, %fd2; div.full.ftz.f32 %f1, %f2, %f3; sqrt.approx.ftz.f32 %f1, %f2; max.f32 %f1, %f2, %f3, %f4;
setp.le.ftz.f32 %p1, %f1, %f2; setp.neu.or.f32 %p1|%p2, %f1, %f2, !%p3; set.gtu.u32.bf16x2 %r2, %r3, %r4; selp.b16 %rs1, 1, %rs2, %p1; selp.f32 %f1, 0fFF800000, %f2, %p1; lop3.or.b32 %r2|%p1, %r3, %r4, %r5, 0x3f, %p2;
shfl.sync.bfly.b32 %r2|%p1, %r3, 16, 31, -1; vote.sync.ballot.b32 %r2, !%p1, %r3; redux.sync.min.abs.NaN.f32 %f1, %f2, -1; match.any.sync.b64 %r2, %rd4, -1; elect.sync _|%p1, -1;
barrier.sync.aligned 0, 128; barrier.cta.red.popc.aligned.u32 %r2, 0, 64, %p1; bar.red.or.pred %p1, 0, %p2; barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire; bar.warp.sync 0xffffffff; barrier.cta.sync %r2;
fence.acq_rel.cluster; fence.sc.sys; membar.gl; fence.proxy.async; fence.proxy.async.shared::cta; fence.proxy.tensormap::generic.acquire.gpu [%rd4], 128; fence.proxy.tensormap::generic.release.sys; fence.mbarrier_init.release.cluster; fence.acquire.sync_restrict::shared::cluster.cluster;
createpolicy.fractional.L2::evict_last.b64 %rd4, 1.0; createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd4, 0f3F000000; prefetch.global.L2 [%rd4]; prefetch.tensormap [%rd4]; applypriority.global.L2::evict_normal [%rd4], 128; discard.global.L2 [%rd4], 128;
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r2], %r3, 0x989680; mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r2], %r3; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2]; mbarrier.arrive.noComplete.shared.b64 %rd4, [%r2], 3; mbarrier.test_wait.parity.shared.b64 %p1, [%r2], %r3;
cp.async.cg.shared.global.L2::128B [%r2], [%rd4], 0x10, %r3; cp.async.ca.shared.global.L2::cache_hint [%r2], [%rd4], 16, %rd5; cp.async.ca.shared::cta.global [%r2], [%rd4], 4, !%p1; cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2]; cp.async.wait_group 0x2;
cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r2], [%rd4], %r3, [%r4], %rd5; cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd4], [%r2], 16, %rs1; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%rd4], [%r2], 16; cp.async.bulk.prefetch.L2.global [%rd4], 64;
cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2.L2::cache_hint [%r2], [%rd4, {%r3, 0, -1}], [%r4], %rs1, %rd5; cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r2], [%rd4, {%r3, %r4, %r5, %r6}], [%r7], {%rs1, %rs2};
cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r2], [%rd4, {%r3, %r4, %r5, %r6, %r7}], [%r8]; cp.async.bulk.prefetch.tensor.1d.L2.global [%rd4, {%r2}]; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r2], 1, %r3; tensormap.replace.tile.global_address.global.b1024.b64 [%rd4], %rd5; tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r2], 3;
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r2,%r3,%r4,%r5}, {%r6,%r7}, {%f1,%f2,%f3,%f4}; mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%r2,%r3,%r4,%r5}, {%r2,%r3,%r4,%r5}, {%r6,%r7}, {%r2,%r3,%r4,%r5}; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1,%fd2}, {%fd3}, {%fd4}, {%fd1,%fd2};
mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0 {%f1,%f2,%f3,%f4}, {%r2,%r3,%r4,%r5}, {%r6,%r7}, {%f1,%f2,%f3,%f4}, %r8, {0, 1}, %r9, {%rs1, 0};
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r2,%r3,%r4,%r5}, [%r6+32]; stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r2], {%r3}; ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b4x16_p64 {%r2,%r3}, [%r4];
wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%f1,%f2,%f3,%f4}, {%r2,%r3,%r4,%r5}, %rd4, 1, 1, -1; wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%r2,%r3,%r4,%r5}, %rd4, %rd5, %p1;
tcgen05.ld.sync.aligned.16x256b.x1.pack::16b.b32 {%r2,%r3,%r4,%r5}, [%r6]; tcgen05.st.sync.aligned.16x32bx2.x2.b32 [%r2], 8, {%r3,%r4}; tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%r2], %rd4; tcgen05.shift.cta_group::2.down [%r2]; tcgen05.fence::before_thread_sync;
tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.scale_vec::4X [%r2], %rd4, %rd5, %r3, [%r4], [%r5], %p1; tcgen05.mma.cta_group::1.kind::tf32 [%r2], [%r3], %rd4, %r4, {%r5, %r6, %r7, %r8}, %p1, 3; tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r2], %rs1;
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], [%r3]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rq1; clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r2, %r3, %r4, _}, %rq1;
setmaxnreg.inc.sync.aligned.u32 232; griddepcontrol.wait; griddepcontrol.launch_dependents; nanosleep.u32 20; mapa.shared::cluster.u32 %r2, %r3, %r4; getctarank.u64 %r2, %rd4; isspacep.shared::cluster %p1, %rd4; cvta.to.shared.u64 %rd4, %rd5; pmevent 3;
mov.u32 %r2, %clusterid.x; mov.u32 %r2, %cluster_nctarank; mov.u64 %rd4, %globaltimer; mov.u32 %r2, %dynamic_smem_size; mov.pred %p1, -1; alloca.u64 %rd4, %rd5, 16; trap; exit; ret;
";

#[test]
fn accepted_forms() {
    for line in ACCEPTED.split(';').map(str::trim).filter(|l| !l.is_empty()) {
        let text = entry("", 32, &format!("{line};"));
        if let Err(e) = Module::parse(&text) {
            panic!("{e}: {line}");
        }
    }
}

#[test]
fn errors_have_positions_and_reasons() {
    let table = [
        ("frob.b32 %r2, %r3;", "unknown instruction 'frob.b32'"),
        ("add.s32.wrong %r2, %r3, %r4;", "modifier '.wrong' is not valid for 'add'"),
        ("ld.global.frob.b32 %r2, [%rd4];", "modifier '.frob'"),
        ("add.s32 %r2, %r3;", "'add' takes 3 operands, found 2"),
        ("add.s64 %r2, %r3, %r4;", "operand 1 of 'add': expected a destination register of 64 bits"),
        ("add.s32 %r2, %r300, 1;", "undefined name '%r300'"),
        ("bra NOWHERE;", "undefined name 'NOWHERE'"),
        ("A: A: ret;", "'A' is defined twice"),
        ("ld.global.v4.b32 {%r2, %r3}, [%rd4];", "4 destination registers"),
        ("mov.b32 %r2, 0f3F80;", "malformed number '0f3F80'"),
        ("@%r2 bra X; X:", "expected a predicate"),
        ("setp.lt.b32 %p1, %r2, %r3;", "type .b32 is not valid"),
        ("cvt.f16.f32 %rs1, %f1;", "rounding mode"),
        ("cvt.s32.f32 %r2, %f1;", "integer rounding mode"),
        ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1}, {%r2}, {%r3}, {%f1}, %r4, 0;", "not supported"),
        ("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f1}, %rd4, %rd5, %p1, 1, 1, 0, 0;", "not supported"),
        ("st.const.b32 [%rd4], %r2;", "constant memory"),
        ("atom.global.and.f32 %f1, [%rd4], %f2;", "type .f32 is not valid"),
        (".frob 3;", "unknown directive 'frob'"),
    ];
    for (line, want) in table {
        let text = entry("", 32, line);
        let e = Module::parse(&text).err().unwrap_or_else(|| panic!("accepted: {line}"));
        assert!(e.to_string().contains(want), "{line}: {e}");
    }
    let e = Module::parse(&format!("{HEADER}.visible .entry k() {{\n  add.s32 %r1, 1, 2;\n}}")).unwrap_err();
    assert_eq!((e.line, e.column), (5, 11));
    for text in
        ["", "hello", ".version", ".version 8.0 .entry", ".version 8.0\n.global .b32 x[-1];", ".version 8.0 .entry k("]
    {
        assert!(Module::parse(text).is_err(), "{text}");
    }
}

#[test]
fn directives_and_declarations() {
    let text = "// comment\n.version 8.8 /* block\ncomment */\n.target sm_100a, debug\n.address_size 64\n.file 1 \"a.cu\"
.extern .shared .align 128 .b8 dyn[];\n.weak .global .align 4 .u32 w[2][2] = {{1, 2}, {3}};\n.visible .const .align 16 .v4 .f32 c = {1.0, 2.0, 0f00000000, 0};
.extern .func (.param .b32 r) g (.param .align 8 .b8 s[24], .param .b64 .ptr .global .align 16 p) .noreturn;
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 .ptr .align 1 q)\n.reqntid 128, 2\n.minnctapersm 2\n.maxnreg 168\n.reqnctapercluster 2, 1, 1\n.explicitcluster\n.pragma \"nounroll\";
{ .reg .pred %p<3>; .reg .b32 a, b<2>; .loc 1 3 0\n .local .align 16 .b8 l[32]; { .reg .b32 a; mov.b32 a, 1; } mov.b32 b1, 2; mov.b32 a, b1;\n ret; }
.section .debug_info { .b8 1, 2 \n .b32 .debug_abbrev }\n";
    let m = Module::parse(text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((m.version, m.target.as_str(), m.sm()), ((8, 8), "sm_100a", 100));
    let k = m.function("k").unwrap();
    assert_eq!(k.directives.reqntid, Some([128, 2, 1]));
    assert_eq!(k.directives.reqnctapercluster, Some([2, 1, 1]));
    assert_eq!((k.params[0].size, k.params[0].align, k.params[1].pointer), (128, 64, true));
    assert_eq!(m.variables.iter().map(|v| v.size).collect::<Vec<_>>(), [None, Some(16), Some(16)]);
    assert_eq!(m.entries().collect::<Vec<_>>(), ["k"]);
}

/// Inputs for mutation: everything that the other tests parse.
fn corpus() -> Vec<String> {
    vec![entry("", 32, ACCEPTED), include_str!("ptx/llvm_mixed.ptx").into()]
}

#[test]
fn damaged_text_never_panics() {
    let mut state = 1u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let alphabet = b"{}[](),;:.@!%|+-0x1f9_ \n\"/*ab\0\xff";
    for text in corpus() {
        let rounds = if cfg!(debug_assertions) { 400 } else { 4000 };
        for _ in 0..rounds {
            let mut bytes = text.clone().into_bytes();
            for _ in 0..=next(3) {
                let at = next(bytes.len());
                match next(4) {
                    0 => bytes[at] = alphabet[next(alphabet.len())],
                    1 => bytes.insert(at, alphabet[next(alphabet.len())]),
                    2 => {
                        bytes.remove(at);
                    }
                    _ => {
                        let from = next(bytes.len());
                        let piece: Vec<u8> = bytes[from..(from + next(40)).min(bytes.len())].to_vec();
                        bytes.splice(at..at, piece);
                    }
                }
            }
            // The result does not matter; it must be one.
            let _ = Module::parse(&String::from_utf8_lossy(&bytes));
        }
        for end in (0..text.len()).step_by(101) {
            let _ = Module::parse(&text[..end]);
        }
    }
}
