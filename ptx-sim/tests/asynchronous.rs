//! mbarriers, asynchronous copies, tensor maps and proxies, and the errors that the simulator must report.

mod common;
use common::cases::{self, Given};
use common::{HEADER, adversarial_error, adversarial_ok, entry, error, run, run_with};
use ptx_sim::units::tensor_map::TileParams;
use ptx_sim::units::{ElementType, Fill, TensorMap};
use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions, SimError, SimErrorKind};
use tile_launch::element::Element;

/// Waits on the mbarrier at `bar` for a parity, in the form that libraries use.
fn wait(bar: &str, parity: &str) -> String {
    format!(
        "{{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, [{bar}], {parity}; @P1 bra DONE; bra LAB_WAIT; DONE: }}"
    )
}

const INIT: &str = "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster; bar.sync 0;";

#[test]
fn cp_async_groups() {
    let text = entry(
        ".shared .align 16 .b8 s[2048];",
        32,
        "mov.b32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3; cvt.u64.u32 %rd4, %r3; add.s64 %rd5, %rd2, %rd4;
cp.async.cg.shared.global [%r2], [%rd5], 16; cp.async.commit_group; add.u32 %r4, %r2, 512;
cp.async.ca.shared.global [%r4], [%rd5], 8, 4; cp.async.commit_group; cp.async.wait_group 1; ld.shared.u8 %r5, [%r2];
cp.async.wait_all; ld.shared.b64 %rd6, [%r4]; mul.wide.u32 %rd7, %r5, 2; add.s64 %rd6, %rd6, %rd7; st.global.b64 [%rd3], %rd6;",
    );
    let want = 0x0101_0101 + 2;
    assert_eq!(adversarial_ok(&text, 10)[3], want);
    // A read before the wait finds the copy in flight.
    let e = adversarial_error(&text.replace("cp.async.wait_group 1;", ""));
    assert!(e.to_string().contains("is still being written by"), "{e}");
}

#[test]
fn cp_async_arrives_on_mbarriers() {
    let text = entry(
        ".shared .align 16 .b8 s[1024]; .shared .align 8 .b64 bar;",
        64,
        &format!(
            "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.sync 0; setp.ge.u32 %p2, %r1, 32; @%p2 bra C;
mov.b32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3; cvt.u64.u32 %rd4, %r3; add.s64 %rd5, %rd2, %rd4;
cp.async.cg.shared.global [%r2], [%rd5], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [bar]; bra E;
C: {} mov.b32 %r2, s; and.b32 %r3, %r1, 31; shl.b32 %r3, %r3, 4; add.u32 %r2, %r2, %r3; ld.shared.u8 %rd6, [%r2]; st.global.b64 [%rd3], %rd6; E:",
            wait("bar", "0")
        ),
    );
    assert_eq!(adversarial_ok(&text, 20)[40], 1);
    assert_eq!(run(&text)[40], 0);
}

/// `cp.async` writes through the generic proxy, so a thread that waited for its arrival needs a proxy fence before a
/// bulk copy reads the data.
#[test]
fn cp_async_is_fenced_for_the_asynchronous_proxy() {
    let text = |fence: &str| {
        entry(
            ".shared .align 128 .b8 s[1024]; .shared .align 8 .b64 bar;",
            64,
            &format!(
                "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 32; bar.sync 0; setp.ge.u32 %p2, %r1, 32; @%p2 bra C;
mov.b32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3; cvt.u64.u32 %rd4, %r3; add.s64 %rd5, %rd2, %rd4;
cp.async.cg.shared.global [%r2], [%rd5], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [bar]; bra E;
C: {} {fence} mov.b32 %r2, s; setp.ne.u32 %p2, %r1, 32; @%p2 bra E;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 512; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E:",
                wait("bar", "0")
            ),
        )
    };
    adversarial_ok(&text("fence.proxy.async.shared::cta;"), 20);
    let e = adversarial_error(&text(""));
    assert!(e.to_string().contains("missing proxy fence"), "{e}");
}

#[test]
fn mbarrier_states() {
    let text = entry(
        ".shared .align 8 .b64 bar;",
        32,
        "setp.eq.u32 %p1, %r1, 0; @!%p1 bra E; mbarrier.init.shared::cta.b64 [bar], 3; mbarrier.arrive.shared::cta.b64 %rd4, [bar];
mbarrier.pending_count.b64 %r2, %rd4; mbarrier.test_wait.shared::cta.b64 %p2, [bar], %rd4; mbarrier.arrive.shared::cta.b64 _, [bar], 2;
mbarrier.test_wait.shared::cta.b64 %p3, [bar], %rd4; selp.b32 %r3, 10, 0, %p2; selp.b32 %r4, 100, 0, %p3; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;
cvt.u64.u32 %rd5, %r2; st.global.b64 [%rd3], %rd5; mbarrier.inval.shared::cta.b64 [bar]; E:",
    );
    assert_eq!(run(&text)[0], 103);
    let e = error(&entry(".shared .align 8 .b64 bar;", 32, "mbarrier.arrive.shared::cta.b64 _, [bar];"));
    assert!(matches!(e.kind, SimErrorKind::Mbarrier(_)), "{e}");
}

/// Loads 1024 bytes by a bulk copy, doubles them, and stores them by a bulk copy.
fn bulk(expect: u32, parity: u32, proxy_fence: &str, barrier: &str) -> String {
    entry(
        ".shared .align 128 .b8 s[1024]; .shared .align 8 .b64 bar;",
        128,
        &format!(
            "{INIT} mov.b32 %r2, s; @!%p1 bra W; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {expect};
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2], 1024, [bar];
W: {} shl.b32 %r3, %r1, 3; add.u32 %r3, %r2, %r3; ld.shared.b64 %rd4, [%r3]; add.s64 %rd4, %rd4, %rd4; st.shared.b64 [%r3], %rd4;
{proxy_fence} {barrier} @!%p1 bra E; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 1024; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; E:",
            wait("bar", &parity.to_string())
        ),
    )
}

#[test]
fn bulk_copies() {
    let text = bulk(1024, 0, "fence.proxy.async.shared::cta;", "bar.sync 0;");
    assert!(run(&text).iter().all(|v| *v == 0));
    assert!(adversarial_ok(&text, 20).iter().all(|v| *v == 0x0202_0202_0202_0202));
}

/// Runs an entry with a tensor map of 64 x 20 f32 over the input (row r, column c holds 100 r + c), box 32 x 8.
fn with_map(
    body: &str,
    decls: &str,
    grid: u32,
    cluster: Option<[u32; 3]>,
    seed: Option<u64>,
) -> Result<(Vec<u8>, Vec<f32>), SimError> {
    let text = format!(
        "{HEADER}{decls}.visible .entry k(.param .u64 p0, .param .align 64 .b8 map[128]) .reqntid 128 {{
.reg .b64 %rd<32>; .reg .b32 %r<64>; .reg .f32 %f<8>; .reg .pred %p<8>; .reg .b16 %rs<4>;
ld.param.b64 %rd1, [p0]; mov.b64 %rd2, map; cvta.param.u64 %rd2, %rd2; mov.u32 %r1, %tid.x; {INIT} mov.b32 %r2, s;\n{body} ret; }}"
    );
    let module = Module::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut device = Device::new(Config::default());
    let data: Vec<f32> = (0..20 * 64).map(|i| (100 * (i / 64) + i % 64) as f32).collect();
    let bytes: Vec<u8> = data.iter().flat_map(|v| v.to_le_bytes()).collect();
    let tensor = device.alloc_from(&bytes);
    let out = device.alloc_from(&vec![0; 1024 * grid as usize]);
    let params = TileParams {
        element: ElementType::F32,
        address: tensor.0,
        dims: &[64, 20],
        strides: &[256],
        box_dims: &[32, 8],
        element_strides: &[1, 1],
        interleave: 0,
        swizzle: 3,
        fill: Fill::Zero,
    };
    let map = TensorMap::tiled(&params).unwrap();
    let args = [Arg::Ptr(out), Arg::Bytes(map.encode().to_vec())];
    let launch = LaunchConfig { grid: [grid, 1, 1], cluster, args: &args, ..LaunchConfig::default() };
    let report = device.launch(&module, "k", &launch, &RunOptions { adversarial: seed, ..RunOptions::default() })?;
    let mut result = vec![0; 1024 * grid as usize];
    device.read(out, &mut result)?;
    let mut after = vec![0; bytes.len()];
    device.read(tensor, &mut after)?;
    if seed.is_none() {
        let zeros = vec![0; result.len()];
        let given = [Given::Memory(Element::F32, &zeros, &result), Given::Mapped(&params, &bytes, &after)];
        cases::record_run(&text, "k", &launch, &given, &report);
    }
    Ok((result, after.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect()))
}

const SHARED: &str = ".shared .align 1024 .b8 s[1024]; .shared .align 8 .b64 bar;\n";

#[test]
fn tensor_loads_swizzle_and_fill() {
    let body = format!(
        "@!%p1 bra W; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {{32, 16}}], [bar];
W: {} shl.b32 %r3, %r1, 3; add.u32 %r4, %r2, %r3; ld.shared.b64 %rd4, [%r4]; cvt.u64.u32 %rd5, %r3; add.s64 %rd5, %rd1, %rd5; st.global.b64 [%rd5], %rd4;",
        wait("bar", "0")
    );
    for seed in [None, Some(1), Some(2)] {
        let (out, _) = with_map(&body, SHARED, 1, None, seed).unwrap_or_else(|e| panic!("{e}"));
        for (i, v) in out.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).enumerate() {
            let (row, chunk, rest) = (i / 32, i % 32 / 4, i % 4);
            let column = 32 + 4 * (chunk ^ (row % 8)) + rest;
            let want = if 16 + row < 20 { (100 * (16 + row) + column) as f32 } else { 0.0 };
            assert_eq!(v, want, "row {row} chunk {chunk}");
        }
    }
}

#[test]
fn tensor_stores_and_reductions() {
    let body = |form: &str, fence: &str| {
        format!(
            "shl.b32 %r3, %r1, 3; add.u32 %r4, %r2, %r3; mov.f32 %f1, 1.0; st.shared.v2.f32 [%r4], {{%f1, %f1}}; {fence} bar.sync 0; @!%p1 bra E;
{form} [%rd2, {{48, 18}}], [%r2]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E:"
        )
    };
    for seed in [None, Some(1)] {
        let store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group";
        let (_, after) = with_map(&body(store, "fence.proxy.async;"), SHARED, 1, None, seed).unwrap();
        assert_eq!(
            (after[17 * 64 + 50], after[18 * 64 + 47], after[18 * 64 + 48], after[19 * 64 + 63]),
            (1750.0, 1847.0, 1.0, 1.0)
        );
        let reduce = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group";
        let (_, after) = with_map(&body(reduce, "fence.proxy.async;"), SHARED, 1, None, seed).unwrap();
        assert_eq!(after[18 * 64 + 48], 1849.0);
    }
    let store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group";
    let e = (0..20).find_map(|s| with_map(&body(store, ""), SHARED, 1, None, Some(s)).err()).unwrap();
    assert!(matches!(e.kind, SimErrorKind::MissingProxyFence(_)), "{e}");
}

#[test]
fn multicast_and_cluster_messages() {
    // CTA 0 loads for both CTAs. Then each CTA sends a word to the other with `st.async` and `red.async`.
    let body = format!(
        "mov.u32 %r20, %cluster_ctarank; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
@!%p1 bra W; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024; setp.ne.u32 %p2, %r20, 0; @%p2 bra W; mov.b16 %rs1, 3;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd2, {{0, 0}}], [bar], %rs1;
W: {} ld.shared.b32 %r5, [%r2+4]; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
xor.b32 %r21, %r20, 1; mov.b32 %r22, bar; mapa.shared::cluster.u32 %r23, %r22, %r21; mapa.shared::cluster.u32 %r24, %r2, %r21; @!%p1 bra V;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8;
add.u32 %r25, %r20, 70; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r24], %r25, [%r23];
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r24+16], 5, [%r23];
V: {} ld.shared.b32 %r6, [%r2]; mov.u32 %r7, %ctaid.x; shl.b32 %r8, %r7, 10; shl.b32 %r3, %r1, 3; add.u32 %r8, %r8, %r3; cvt.u64.u32 %rd5, %r8; add.s64 %rd5, %rd1, %rd5;
st.global.v2.b32 [%rd5], {{%r5, %r6}}; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        wait("bar", "0"),
        wait("bar", "1")
    );
    for seed in [None, Some(1), Some(2), Some(3)] {
        let (out, _) = with_map(&body, SHARED, 2, Some([2, 1, 1]), seed).unwrap_or_else(|e| panic!("{e}"));
        let word = |i: usize| u32::from_le_bytes(out[4 * i..4 * i + 4].try_into().unwrap());
        assert_eq!((f32::from_bits(word(0)), word(1)), (1.0, 71), "seed {seed:?}");
        assert_eq!((f32::from_bits(word(256)), word(257)), (1.0, 70), "seed {seed:?}");
    }
}

#[test]
fn tensor_maps_are_changed_on_the_device() {
    // Copies the map to shared memory, halves the inner extent, publishes it in global memory and loads through it.
    let with = |meet: &str, acquire: &str| {
        format!(
            "setp.ge.u32 %p2, %r1, 32; @%p2 bra W; shl.b32 %r3, %r1, 2; cvt.u64.u32 %rd4, %r3; add.s64 %rd5, %rd2, %rd4; ld.b32 %r4, [%rd5]; mov.b32 %r5, m; add.u32 %r6, %r5, %r3; st.shared.b32 [%r6], %r4; bar.warp.sync -1;
@!%p1 bra P; tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r5], 0, 40; P: {meet}
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [g], [%r5], 128; {acquire}
@!%p1 bra W; mov.b64 %rd6, g; cvta.global.u64 %rd6, %rd6; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd6, {{32, 0}}], [bar];
W: {} shl.b32 %r3, %r1, 3; add.u32 %r4, %r2, %r3; ld.shared.b64 %rd4, [%r4]; cvt.u64.u32 %rd5, %r3; add.s64 %rd5, %rd1, %rd5; st.global.b64 [%rd5], %rd4;",
            wait("bar", "0")
        )
    };
    let body = |acquire: &str| with("bar.warp.sync -1;", acquire);
    let decls = format!("{SHARED}.shared .align 128 .b8 m[128]; .global .align 128 .b8 g[128];\n");
    let acquire = "fence.proxy.tensormap::generic.acquire.gpu [g], 128;";
    for seed in [None, Some(1)] {
        let (out, _) = with_map(&body(acquire), &decls, 1, None, seed).unwrap_or_else(|e| panic!("{e}"));
        let float = |i: usize| f32::from_le_bytes(out[4 * i..4 * i + 4].try_into().unwrap());
        assert_eq!((float(0), float(7), float(8)), (32.0, 39.0, 0.0));
    }
    // The whole warp publishes the map, so all of its lanes must know the change.
    let e = (0..20).find_map(|s| with_map(&with("", acquire), &decls, 1, None, Some(s)).err()).unwrap();
    assert!(e.to_string().contains("nothing orders the lanes of a warp"), "{e}");
    // No other fence makes the map visible to copies: neither an asynchronous proxy fence nor a fence for another map.
    let decls = format!("{decls}.global .align 128 .b8 h[128];\n");
    for other in ["", "fence.proxy.async;", "fence.proxy.tensormap::generic.acquire.gpu [h], 128;"] {
        let e = (0..20).find_map(|s| with_map(&body(other), &decls, 1, None, Some(s)).err()).unwrap();
        assert!(matches!(e.kind, SimErrorKind::MissingProxyFence(_)), "{e}");
        assert!(e.to_string().contains("fence.proxy.tensormap::generic.acquire of this tensor map"), "{e}");
    }
}

#[test]
fn registers_of_a_warpgroup_must_agree() {
    let e = error(&entry(
        "",
        128,
        "setp.lt.u32 %p1, %r1, 32; @%p1 setmaxnreg.dec.sync.aligned.u32 40; @!%p1 setmaxnreg.dec.sync.aligned.u32 48;",
    ));
    assert!(e.to_string().contains("same warpgroup"), "{e}");
    let launch = LaunchConfig::default();
    let text = entry("", 128, "setmaxnreg.dec.sync.aligned.u32 40; setmaxnreg.inc.sync.aligned.u32 232;");
    assert!(run_with(&text, 1, &[0; 8], launch, &RunOptions::default()).is_ok());
}
