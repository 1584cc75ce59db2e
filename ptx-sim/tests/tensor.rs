//! Matrix instructions end to end: fragments through shared memory, warpgroup and tensor-memory multiplication.

mod common;
use common::cases::{self, Given};
use common::{HEADER, adversarial_error, adversarial_ok, entry, run};
use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions, SimErrorKind};
use std::fmt::Write as _;
use tile_launch::element::Element;

fn regs(prefix: &str, from: usize, n: usize) -> String {
    (from..from + n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn ldmatrix_and_mma() {
    // A[i][k] = i, B[k][j] = j and a diagonal structure through k: the product is 16 i j with exact values.
    let body = "mov.b32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3;
and.b32 %r5, %r1, 15; cvt.rn.f32.u32 %f1, %r5; cvt.rn.f16x2.f32 %r6, %f1, %f1; st.shared.v4.b32 [%r4], {%r6, %r6, %r6, %r6};
and.b32 %r7, %r1, 7; cvt.rn.f32.u32 %f2, %r7; cvt.rn.f16x2.f32 %r8, %f2, %f2; add.u32 %r9, %r4, 512; st.shared.v4.b32 [%r9], {%r8, %r8, %r8, %r8};
bar.sync 0; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4]; ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%r14, %r15}, [%r9];
mov.f32 %f10, 1.0; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f3, %f4, %f5, %f6}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f10, %f10, %f10, %f10};
mov.b64 %rd4, {%f4, %f5}; st.global.b64 [%rd3], %rd4;";
    let out = run(&entry(".shared .align 16 .b8 s[1024];", 32, body));
    for (lane, v) in out.iter().enumerate() {
        let (g, t) = (lane / 4, lane % 4);
        let value = |row: usize, col: usize| (16 * row * col + 1) as f32;
        let got = (f32::from_bits(*v as u32), f32::from_bits((v >> 32) as u32));
        assert_eq!(got, (value(g, 2 * t + 1), value(g + 8, 2 * t)), "lane {lane}");
    }
}

#[test]
fn stmatrix_inverts_ldmatrix() {
    let body = "mov.b32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3; mul.lo.u32 %r5, %r1, 0x10001;
stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r4], {%r5, %r1}; bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r4];
movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r6; movmatrix.sync.aligned.m8n8.trans.b16 %r8, %r7; sub.u32 %r9, %r8, %r5; cvt.u64.u32 %rd4, %r9; st.global.b64 [%rd3], %rd4;";
    assert!(run(&entry(".shared .align 16 .b8 s[1024];", 32, body)).iter().all(|v| *v == 0));
}

/// A kernel `k(out, a, b)` of 128 threads that copies `bytes` of A and B to shared memory.
fn matrix_kernel(body: &str, a_bytes: usize, b_bytes: usize) -> String {
    let copy = |base: &str, from: &str, bytes: usize| {
        let mut text = String::new();
        for at in (0..bytes).step_by(2048) {
            writeln!(text, "ld.global.v4.b32 {{%r90, %r91, %r92, %r93}}, [{from}+{at}]; st.shared.v4.b32 [{base}+{at}], {{%r90, %r91, %r92, %r93}};").unwrap();
        }
        text
    };
    format!(
        "{HEADER}.shared .align 1024 .b8 sa[{a_bytes}]; .shared .align 1024 .b8 sb[{b_bytes}]; .shared .align 8 .b64 bar; .shared .align 4 .b32 slot;
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2) .reqntid 128 {{
.reg .b64 %rd<32>; .reg .b32 %r<100>; .reg .f32 %f<300>; .reg .pred %p<8>;
ld.param.b64 %rd1, [p0]; ld.param.b64 %rd2, [p1]; ld.param.b64 %rd3, [p2]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 16;
add.s64 %rd2, %rd2, %rd4; add.s64 %rd3, %rd3, %rd4; mov.b32 %r2, sa; mov.b32 %r3, sb; shl.b32 %r4, %r1, 4; add.u32 %r5, %r2, %r4; add.u32 %r6, %r3, %r4;
{}{}{body} ret; }}",
        copy("%r5", "%rd2", a_bytes),
        copy("%r6", "%rd3", b_bytes)
    )
}

/// Runs [`matrix_kernel`] with `n` output words of f32, in strict mode.
fn run_matrix(text: &str, a: &[u8], b: &[u8], n: usize, seed: Option<u64>) -> Result<Vec<f32>, ptx_sim::SimError> {
    run_matrix_as(text, a, b, n, seed, true)
}

fn run_matrix_as(
    text: &str,
    a: &[u8],
    b: &[u8],
    n: usize,
    seed: Option<u64>,
    strict: bool,
) -> Result<Vec<f32>, ptx_sim::SimError> {
    let module = Module::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut device = Device::new(Config::default());
    let out = device.alloc(4 * n as u64);
    let args = [Arg::Ptr(out), Arg::Ptr(device.alloc_from(a)), Arg::Ptr(device.alloc_from(b))];
    let launch = LaunchConfig { grid: [1, 1, 1], args: &args, ..LaunchConfig::default() };
    let report =
        device.launch(&module, "k", &launch, &RunOptions { adversarial: seed, strict, ..RunOptions::default() })?;
    let mut bytes = vec![0; 4 * n];
    device.read(out, &mut bytes)?;
    if seed.is_none() {
        let given = [
            Given::Unwritten(Element::F32, &bytes),
            Given::Memory(Element::U8, a, a),
            Given::Memory(Element::U8, b, b),
        ];
        cases::record_run(text, "k", &launch, &given, &report);
    }
    Ok(bytes.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect())
}

/// Rows of 64 bf16 in the 128-byte swizzle, as bytes.
fn swizzled(rows: usize, value: impl Fn(usize, usize) -> f32) -> Vec<u8> {
    let mut out = vec![0; rows * 128];
    for r in 0..rows {
        for c in 0..64 {
            let at = r * 128 + ((c / 8) ^ (r % 8)) * 16 + c % 8 * 2;
            out[at..at + 2].copy_from_slice(&half::bf16::from_f32(value(r, c)).to_le_bytes());
        }
    }
    out
}

fn a(r: usize, k: usize) -> f32 {
    ((r * 7 + k * 3) % 11) as f32 - 5.0
}

fn b(c: usize, k: usize) -> f32 {
    ((c * 5 + k * 2) % 13) as f32 - 6.0
}

fn product(r: usize, c: usize) -> f32 {
    (0..64).map(|k| a(r, k) * b(c, k)).sum()
}

fn wgmma_kernel(wait: &str, fence: &str) -> String {
    let d = regs("%f", 0, 16);
    let mut body = format!(
        "{fence} bar.sync 0; cvt.u64.u32 %rd5, %r2; shr.u64 %rd5, %rd5, 4; or.b64 %rd5, %rd5, 0x4000004000010000;
cvt.u64.u32 %rd6, %r3; shr.u64 %rd6, %rd6, 4; or.b64 %rd6, %rd6, 0x4000004000010000; wgmma.fence.sync.aligned;\n"
    );
    for k in 0..4 {
        let scale = usize::from(k > 0);
        writeln!(
            body,
            "add.s64 %rd7, %rd5, {0}; add.s64 %rd8, %rd6, {0}; setp.ne.u32 %p1, {scale}, 0;
wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {{{d}}}, %rd7, %rd8, %p1, 1, 1, 0, 0;",
            2 * k
        )
        .unwrap();
    }
    // Thread t of warp w holds rows 16 w + t / 4 (+ 8), columns 2 (t % 4) + 8 i (+ 1).
    write!(
        body,
        "wgmma.commit_group.sync.aligned; {wait} shr.u32 %r10, %r1, 5; shl.b32 %r10, %r10, 4; and.b32 %r11, %r1, 31; shr.u32 %r12, %r11, 2; add.u32 %r10, %r10, %r12;
and.b32 %r13, %r1, 3; shl.b32 %r13, %r13, 1; mad.lo.u32 %r14, %r10, 32, %r13; mul.wide.u32 %rd9, %r14, 4; add.s64 %rd9, %rd1, %rd9;\n"
    )
    .unwrap();
    for i in 0..4 {
        writeln!(body, "st.global.v2.f32 [%rd9+{}], {{%f{}, %f{}}};", 32 * i, 4 * i, 4 * i + 1).unwrap();
        writeln!(body, "st.global.v2.f32 [%rd9+{}], {{%f{}, %f{}}};", 32 * i + 1024, 4 * i + 2, 4 * i + 3).unwrap();
    }
    matrix_kernel(&body, 8192, 4096)
}

#[test]
fn wgmma_multiplies_when_waited_for() {
    let text = wgmma_kernel("wgmma.wait_group.sync.aligned 0;", "fence.proxy.async;");
    let (sa, sb) = (swizzled(64, a), swizzled(32, b));
    for seed in [None, Some(1), Some(2)] {
        let out = run_matrix(&text, &sa, &sb, 64 * 32, seed).unwrap_or_else(|e| panic!("{e}"));
        for r in 0..64 {
            for c in 0..32 {
                assert_eq!(out[r * 32 + c], product(r, c), "row {r} column {c} seed {seed:?}");
            }
        }
    }
    // Without the wait the registers hold noise under the adversarial schedule.
    let out = run_matrix(&wgmma_kernel("", "fence.proxy.async;"), &sa, &sb, 64 * 32, Some(1)).unwrap();
    assert_ne!(out[33], product(1, 1));
    // Without the proxy fence the tensor core may not see the stores.
    let e = run_matrix(&wgmma_kernel("wgmma.wait_group.sync.aligned 0;", ""), &sa, &sb, 64 * 32, Some(1)).unwrap_err();
    assert!(matches!(e.kind, SimErrorKind::MissingProxyFence(_)), "{e}");
}

fn tcgen05_kernel(wait: &str) -> String {
    // Instruction descriptor: f32 result, bf16 operands, n = 32, m = 128.
    let idesc = 1u32 << 4 | 1 << 7 | 1 << 10 | (32 / 8) << 17 | (128 / 16) << 24;
    let mut body = format!(
        "fence.proxy.async; setp.lt.u32 %p2, %r1, 32; @!%p2 bra S; mov.b32 %r20, slot; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], 64; tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
S: setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [bar], 1; bar.sync 0; ld.shared.b32 %r21, [slot]; @!%p1 bra W;
cvt.u64.u32 %rd5, %r2; shr.u64 %rd5, %rd5, 4; or.b64 %rd5, %rd5, 0x4000404000010000; cvt.u64.u32 %rd6, %r3; shr.u64 %rd6, %rd6, 4; or.b64 %rd6, %rd6, 0x4000404000010000; mov.b32 %r22, {idesc};\n"
    );
    for k in 0..4 {
        let scale = usize::from(k > 0);
        writeln!(
            body,
            "add.s64 %rd7, %rd5, {0}; add.s64 %rd8, %rd6, {0}; setp.ne.u32 %p3, {scale}, 0; tcgen05.mma.cta_group::1.kind::f16 [%r21], %rd7, %rd8, %r22, %p3;",
            2 * k
        )
        .unwrap();
    }
    let out = regs("%r", 30, 32);
    write!(
        body,
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
W: {wait} tcgen05.fence::after_thread_sync; shr.u32 %r23, %r1, 5; shl.b32 %r23, %r23, 21; add.u32 %r24, %r21, %r23;
tcgen05.ld.sync.aligned.32x32b.x32.b32 {{{out}}}, [%r24]; tcgen05.wait::ld.sync.aligned; mul.wide.u32 %rd9, %r1, 128; add.s64 %rd9, %rd1, %rd9;\n"
    )
    .unwrap();
    for i in 0..32 {
        writeln!(body, "st.global.b32 [%rd9+{}], %r{};", 4 * i, 30 + i).unwrap();
    }
    body.push_str("bar.sync 0; @!%p2 bra E; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 64; E:");
    matrix_kernel(&body, 16384, 4096).replace("sm_90a", "sm_100a")
}

#[test]
fn tcgen05_multiplies_in_tensor_memory() {
    let wait = "L: mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0; @!%p4 bra L;";
    let text = tcgen05_kernel(wait);
    let (sa, sb) = (swizzled(128, a), swizzled(32, b));
    for seed in [None, Some(1)] {
        let out = run_matrix(&text, &sa, &sb, 128 * 32, seed).unwrap_or_else(|e| panic!("{e}"));
        for r in 0..128 {
            for c in 0..32 {
                assert_eq!(out[r * 32 + c], product(r, c), "row {r} column {c} seed {seed:?}");
            }
        }
    }
    let e = run_matrix(
        &text.replace("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 64;", ""),
        &sa,
        &sb,
        128 * 32,
        None,
    )
    .unwrap_err();
    assert!(e.to_string().contains("64 columns of tensor memory"), "{e}");
}

/// Tensor memory in flight cannot be accessed, and threads need the `tcgen05` fences.
#[test]
fn tensor_memory_is_waited_for() {
    let wait = "L: mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0; @!%p4 bra L;";
    let (sa, sb) = (swizzled(128, a), swizzled(32, b));
    let good = tcgen05_kernel(wait);
    let fail = |text: &str| {
        assert_ne!(text, good);
        run_matrix(text, &sa, &sb, 128 * 32, Some(1)).map(|_| ()).expect_err(text).to_string()
    };
    // Without a wait, with one that passes immediately, or without a commit.
    let parity = wait.replace("[bar], 0", "[bar], 1");
    let no_commit = "mbarrier.arrive.shared::cta.b64 _, [bar];";
    let commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];";
    for text in [tcgen05_kernel("bar.sync 0;"), tcgen05_kernel(&parity), good.replace(commit, no_commit)] {
        let errors: Vec<String> = (1..8)
            .filter_map(|seed| run_matrix(&text, &sa, &sb, 128 * 32, Some(seed)).err().map(|e| e.to_string()))
            .collect();
        // A warp may also be fast enough to read before the multiplication begins.
        for e in &errors {
            assert!(
                e.contains("`tcgen05.ld.sync.aligned.32x32b.x32.b32") && e.contains("`tcgen05.mma.cta_group::1"),
                "{e}"
            );
        }
        let flight = "is still writing it; a wait on the mbarrier of a tcgen05.commit must come before";
        let in_flight = |e: &&String| e.contains("is in flight: `tcgen05.mma.cta_group::1") && e.contains(flight);
        assert!(errors.iter().find(in_flight).is_some(), "{errors:?}");
    }
    let e = fail(&good.replace("tcgen05.fence::after_thread_sync;", ""));
    assert!(e.contains("missing tcgen05 fence: tensor address 0x"), "{e}");
    assert!(
        e.contains("write by warp 0") && e.contains("read by warp 1")
            || e.contains("read by warp 2")
            || e.contains("read by warp 3"),
        "{e}"
    );
    assert!(e.contains("tcgen05.fence::after_thread_sync before the second"), "{e}");
    // The accumulator is an operand before it has been written.
    let e = fail(&good.replace("setp.ne.u32 %p3, 0, 0;", "setp.ne.u32 %p3, 1, 0;"));
    assert!(e.contains("`tcgen05.mma") && e.contains("the operand was never written"), "{e}");
    // B is overwritten while it may still be read.
    let e = fail(&good.replace("W: L:", "W: st.shared.b32 [%r6], 0; L:"));
    assert!(e.contains("data race: shared address") && e.contains("read (asynchronous)"), "{e}");
    assert!(e.contains("`tcgen05.mma") && e.contains("`st.shared.b32 [%r6], 0;`"), "{e}");
    let early = "bar.sync 0; @%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 64; bar.sync 0;";
    let e = fail(&tcgen05_kernel(early));
    assert!(e.contains("`@%p2 tcgen05.dealloc") && e.contains("is in flight: `tcgen05.mma"), "{e}");
    // Without the wait the loads still read tensor memory when it is freed, but the registers hold the values.
    let no_wait = good.replace("tcgen05.wait::ld.sync.aligned;", "");
    let e = fail(&no_wait);
    assert!(e.contains("`tcgen05.dealloc") && e.contains("tcgen05.wait::ld must come before"), "{e}");
    let late = no_wait.replace("bar.sync 0; @!%p2 bra E;", "tcgen05.wait::ld.sync.aligned; bar.sync 0; @!%p2 bra E;");
    assert_ne!(late, no_wait);
    for (text, strict) in [(&late, true), (&no_wait, false)] {
        let out = run_matrix_as(text, &sa, &sb, 128 * 32, Some(1), strict).unwrap();
        assert_eq!(out[33], product(1, 1));
    }
}

/// 64 rows use 16 lanes of each quarter; `.ws` splits the columns over the lanes instead.
#[test]
fn sixty_four_rows() {
    let wait = "L: mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0; @!%p4 bra L;";
    let (sa, sb) = (swizzled(128, a), swizzled(64, b));
    let m128 = |n: u32| (1u32 << 4 | 1 << 7 | 1 << 10 | (n / 8) << 17 | (128 / 16) << 24).to_string();
    let m64 = |n: u32| (1u32 << 4 | 1 << 7 | 1 << 10 | (n / 8) << 17 | (64 / 16) << 24).to_string();
    let text =
        tcgen05_kernel(wait).replace(&format!("mov.b32 %r22, {};", m128(32)), &format!("mov.b32 %r22, {};", m64(32)));
    assert!(text.contains(&m64(32)));
    for seed in [None, Some(1), Some(2)] {
        let out = run_matrix(&text, &sa, &sb[..4096], 128 * 32, seed).unwrap_or_else(|e| panic!("{e}"));
        for (lane, column) in (0..128).flat_map(|l| (0..32).map(move |c| (l, c))).filter(|(l, _)| l % 32 < 16) {
            let row = lane / 32 * 16 + lane % 16;
            assert_eq!(out[lane * 32 + column], product(row, column), "row {row} column {column} seed {seed:?}");
        }
    }
    // Columns 32 to 63 of D are in the upper half of the lanes.
    let weights = tcgen05_kernel(wait)
        .replace(&format!("mov.b32 %r22, {};", m128(32)), &format!("mov.b32 %r22, {};", m64(64)))
        .replace("tcgen05.mma.cta_group", "tcgen05.mma.ws.cta_group")
        .replace("sb[4096]", "sb[8192]");
    let copy = "ld.global.v4.b32 {%r90, %r91, %r92, %r93}, [%rd3+2048]; st.shared.v4.b32 [%r6+2048], {%r90, %r91, %r92, %r93};";
    let more: String = [4096, 6144].iter().map(|at| copy.replace("2048", &at.to_string())).collect();
    let weights = weights.replace(copy, &format!("{copy}{more}"));
    for seed in [None, Some(1), Some(2)] {
        let out = run_matrix(&weights, &sa, &sb, 128 * 32, seed).unwrap_or_else(|e| panic!("{e}"));
        for (lane, column) in (0..128).flat_map(|l| (0..32).map(move |c| (l, c))) {
            let (row, n) = (lane % 64, column + lane / 64 * 32);
            assert_eq!(out[lane * 32 + column], product(row, n), "row {row} column {n} seed {seed:?}");
        }
    }
}

/// An mbarrier or a barrier orders tensor memory too. Only strict mode asks for the `tcgen05` fences, unless the
/// synchronization is relaxed.
#[test]
fn release_and_acquire_order_tensor_memory() {
    let wait = "L: mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0; @!%p4 bra L;";
    let relaxed = wait.replace("parity.", "parity.relaxed.cluster.");
    let (sa, sb) = (swizzled(128, a), swizzled(32, b));
    let fence = "tcgen05.fence::after_thread_sync;";
    let outcome = |text: &str, strict| {
        let runs = (0..4).map(|seed| run_matrix_as(text, &sa, &sb, 128 * 32, Some(seed), strict).map(|out| out[33]));
        runs.collect::<Result<Vec<f32>, _>>().map_err(|e| e.kind)
    };
    for (wait, fenced, strict, right) in [
        (wait, true, true, true),
        (wait, false, false, true),
        (wait, false, true, false),
        (&relaxed, true, true, true),
        (&relaxed, false, false, false),
    ] {
        let text = tcgen05_kernel(wait);
        let text = if fenced { text } else { text.replace(fence, "") };
        match outcome(&text.replace("sm_90a", "sm_100a"), strict) {
            Ok(values) => assert!(right && values.iter().all(|v| *v == product(1, 1)), "{wait} {fenced} {strict}"),
            Err(e) => assert!(!right && matches!(e, SimErrorKind::MissingTensorFence(_)), "{wait} {fenced}: {e}"),
        }
    }
}

#[test]
fn stores_to_tensor_memory_are_waited_for() {
    let text = |wait: &str, fences: [&str; 2]| {
        entry(
            ".shared .align 4 .b32 slot;",
            64,
            &format!(
                "mov.b32 %r2, slot; setp.lt.u32 %p1, %r1, 32; @!%p1 bra S; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 32;
S: bar.sync 0; ld.shared.b32 %r3, [slot]; shr.u32 %r4, %r1, 5; shl.b32 %r4, %r4, 21; add.u32 %r5, %r3, %r4;
tcgen05.st.sync.aligned.32x32b.x2.b32 [%r5], {{%r1, 7}};
{wait}
tcgen05.ld.sync.aligned.32x32b.x2.b32 {{%r6, %r7}}, [%r5];
tcgen05.wait::ld.sync.aligned; mov.b64 %rd4, {{%r6, %r7}}; st.global.b64 [%rd3], %rd4;
{} bar.sync 0; {} @!%p1 bra E; tcgen05.shift.cta_group::1.down [%r3]; tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
L: mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0; @!%p4 bra L; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32; E:",
                fences[0], fences[1]
            ),
        )
        .replace("sm_90a", "sm_100a")
        .replace(".shared .align 4 .b32 slot;", ".shared .align 4 .b32 slot; .shared .align 8 .b64 bar;")
        .replace("S: bar.sync 0;", "S: setp.eq.u32 %p5, %r1, 0; @%p5 mbarrier.init.shared::cta.b64 [bar], 1; bar.sync 0;")
        .replace("@!%p1 bra E; tcgen05.shift", "@!%p1 bra E; setp.ne.u32 %p6, %r1, 0; @%p6 bra L; tcgen05.shift")
    };
    let (wait, fences) =
        ("tcgen05.wait::st.sync.aligned;", ["tcgen05.fence::before_thread_sync;", "tcgen05.fence::after_thread_sync;"]);
    assert_eq!(adversarial_ok(&text(wait, fences), 10)[40], 7 << 32 | 40);
    let e = adversarial_error(&text("", fences)).to_string();
    assert!(e.contains("`tcgen05.ld") && e.contains("is in flight: `tcgen05.st"), "{e}");
    assert!(e.contains("tcgen05.wait::st must come before"), "{e}");
    for fences in [["", fences[1]], [fences[0], ""]] {
        // The shift by warp 0 accesses lanes 0 to 31 only, which warp 0 itself has loaded; so it is moved to the lanes
        // of warp 1.
        let text = text(wait, fences)
            .replace("down [%r3];", "down [%r8];")
            .replace("@%p6 bra L;", "@%p6 bra L; add.u32 %r8, %r3, 0x200000;");
        let e = adversarial_error(&text);
        assert!(matches!(e.kind, SimErrorKind::MissingTensorFence(_)), "{e}");
        assert!(e.to_string().contains("by warp 1") && e.to_string().contains("`tcgen05.shift"), "{e}");
    }
}

#[test]
fn missing_barrier_before_ldmatrix_is_a_race() {
    let text = entry(
        ".shared .align 16 .b8 s[1024];",
        64,
        "mov.b32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3; st.shared.v4.b32 [%r4], {%r1, %r1, %r1, %r1};
and.b32 %r5, %r1, 31; xor.b32 %r6, %r1, 32; shl.b32 %r6, %r6, 4; add.u32 %r6, %r2, %r6; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r6];",
    );
    let e = adversarial_error(&text);
    assert!(matches!(e.kind, SimErrorKind::Race(_) | SimErrorKind::Uninitialised { .. }), "{e}");
}
