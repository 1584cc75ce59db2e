//! Memory, warps, CTAs, clusters and whole grids.

mod common;
use common::{HEADER, adversarial_error, adversarial_ok, entry, error, is_deadlock, lanes, newest, run, run_with};
use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions, SimError, SimErrorKind};

#[test]
fn vector_accesses_and_extension() {
    let text = entry(
        ".shared .align 16 .b8 s[1024];",
        32,
        "mov.b32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3; st.shared.v4.b32 [%r2], {%r1, 2, 3, -4};
ld.shared.v2.b64 {%rd4, %rd5}, [%r2]; ld.shared.s8 %rs1, [%r2+12]; cvt.s64.s16 %rd6, %rs1; ld.shared.u8 %rd7, [%r2+12];
add.s64 %rd4, %rd4, %rd6; add.s64 %rd4, %rd4, %rd7; ld.shared.b128 %rq1, [%r2]; mov.b128 {%rd8, %rd9}, %rq1; add.s64 %rd4, %rd4, %rd9;
st.global.b64 [%rd3], %rd4;",
    );
    let out = run(&text);
    let hi = u64::from((-4i32) as u32) << 32 | 3;
    assert_eq!(out[7], (2 << 32 | 7u64).wrapping_add((-4i64) as u64).wrapping_add(0xfc).wrapping_add(hi));
}

#[test]
fn local_memory_and_generic_addresses() {
    let text = entry(
        "",
        32,
        ".local .align 8 .b8 depot[16]; mov.b64 %rd4, depot; cvta.local.u64 %rd5, %rd4; cvt.u64.u32 %rd6, %r1;
st.b64 [%rd5+8], %rd6; ld.local.b64 %rd7, [%rd4+8]; isspacep.local %p1, %rd5; selp.b64 %rd8, 1000, 0, %p1;
isspacep.global %p2, %rd1; selp.b64 %rd9, 100, 0, %p2; add.s64 %rd7, %rd7, %rd8; add.s64 %rd7, %rd7, %rd9; st.global.b64 [%rd3], %rd7;",
    );
    assert_eq!(run(&text)[9], 1109);
}

#[test]
fn module_variables() {
    let decls = ".global .align 4 .b32 table[4] = {10, 20, 30, 40};
.global .align 8 .u64 pointer = generic(table)+8;
.const .align 4 .f32 c[2] = {0f3F800000, 2.5};
.global .align 1 .u8 bytes[9] = {0xFF(table), 0xFF00(table), 3};";
    let body = "ld.global.b64 %rd4, [pointer]; ld.b32 %r2, [%rd4]; ld.const.f32 %f1, [c+4]; cvt.rzi.u32.f32 %r3, %f1;
ld.global.u8 %r4, [bytes+2]; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; atom.global.add.u32 %r5, [table], 1;
ld.global.b32 %r6, [table+4]; mov.b64 %rd5, {%r2, %r6}; st.global.b64 [%rd3], %rd5;";
    assert_eq!(run(&entry(decls, 1, body))[0], 20 << 32 | 35);
}

#[test]
fn atomics() {
    let text = entry(
        ".shared .align 16 .b32 s[4];",
        64,
        "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.v4.b32 [s], {0, 0, 0, 5}; bar.sync 0;
atom.shared.add.u32 %r2, [s], 1; red.shared.max.s32 [s+4], %r1; atom.shared.inc.u32 %r3, [s+8], 9;
atom.shared.cas.b32 %r4, [s+12], 5, %r1; bar.sync 0; ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [s];
mad.lo.u32 %r9, %r6, 1000, %r5; mad.lo.u32 %r9, %r7, 1000000, %r9; cvt.u64.u32 %rd4, %r9; st.global.b64 [%rd3], %rd4;",
    );
    assert_eq!(run(&text)[3], 64 + 63_000 + 4_000_000);
    assert_eq!(adversarial_ok(&text, 5)[3], 64 + 63_000 + 4_000_000);
    // Vector reductions and half types.
    let text = entry(
        "",
        1,
        "st.global.v4.b32 [%rd1], {0f3F800000, 0f40000000, 0, 0}; mov.f32 %f1, 1.0; mov.f32 %f2, 2.0;
atom.global.v2.f32.add {%f3, %f4}, [%rd1], {%f1, %f2}; ld.global.b64 %rd4, [%rd1]; st.global.b64 [%rd1], %rd4;",
    );
    let text = text
        .replace("[%rd1], {0f3F800000, 0f40000000, 0, 0}", "[%rd2], {%r1, %r1, %r1, %r1}")
        .replace("[%rd1], {%f1", "[%rd2], {%f1")
        .replace("%rd4, [%rd1]", "%rd4, [%rd2]");
    assert_eq!(run(&text)[0], u64::from(2f32.to_bits()) << 32 | u64::from(1f32.to_bits()));
}

#[test]
fn warp_instructions() {
    let cases: &[(&str, &dyn Fn(u64) -> u64)] = &[
        ("shfl.sync.bfly.b32 %r10, %r1, 1, 31, -1;", &|l| l ^ 1),
        ("shfl.sync.down.b32 %r10, %r1, 4, 31, -1;", &|l| if l + 4 < 32 { l + 4 } else { l }),
        ("shfl.sync.up.b32 %r10|%p1, %r1, 4, 0, -1; @!%p1 mov.b32 %r10, 99;", &|l| if l >= 4 { l - 4 } else { 99 }),
        ("shfl.sync.idx.b32 %r10, %r1, 3, 0x181f, -1;", &|l| (l & 24) + 3),
        ("and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; vote.sync.ballot.b32 %r10, %p1, -1;", &|_| 0x5555_5555),
        ("setp.lt.u32 %p1, %r1, 32; vote.sync.all.pred %p2, %p1, -1; selp.b32 %r10, 1, 0, %p2;", &|_| 1),
        ("shr.u32 %r2, %r1, 3; match.any.sync.b32 %r10, %r2, -1;", &|l| 0xff << (l / 8 * 8)),
        ("match.all.sync.b32 %r10|%p1, 7, -1;", &|_| 0xffff_ffff),
        ("redux.sync.add.u32 %r10, %r1, -1;", &|_| 496),
        ("redux.sync.max.s32 %r10, %r1, -1;", &|_| 31),
        ("elect.sync %r10|%p1, -1; @%p1 mov.b32 %r10, 77;", &|l| if l == 0 { 77 } else { 0 }),
        // A member mask that names the lanes of one side of a branch.
        (
            "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; redux.sync.add.u32 %r10, 1, 0xffff0000; bra B; A: redux.sync.add.u32 %r10, 2, 0xffff; B:",
            &|l| if l < 16 { 32 } else { 16 },
        ),
        // Lanes reach a full-mask shuffle at different times.
        (
            "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; nanosleep.u32 10; A: shfl.sync.bfly.b32 %r10, %r1, 16, 31, -1;",
            &|l| l ^ 16,
        ),
        // `bar.warp.sync` at two locations.
        (
            "setp.lt.u32 %p1, %r1, 16; mov.b32 %r10, 5; @%p1 bra A; bar.warp.sync -1; bra B; A: bar.warp.sync -1; B:",
            &|_| 5,
        ),
    ];
    for (body, want) in cases {
        for (lane, v) in lanes(&format!("{body} cvt.u64.u32 %rd10, %r10;")).into_iter().enumerate() {
            assert_eq!(v, want(lane as u64), "{body} lane {lane}");
        }
    }
}

#[test]
fn barriers() {
    // Producer and consumer warps with named barriers.
    let text = entry(
        ".shared .align 8 .b64 s[64];",
        64,
        "shl.b32 %r2, %r1, 3; and.b32 %r2, %r2, 255; mov.b32 %r3, s; add.u32 %r3, %r3, %r2; setp.lt.u32 %p1, %r1, 32; @%p1 bra P;
bar.sync 3, 64; ld.shared.b64 %rd4, [%r3]; st.global.b64 [%rd3], %rd4; bra E;
P: cvt.u64.u32 %rd5, %r1; add.s64 %rd5, %rd5, 100; st.shared.b64 [%r3], %rd5; bar.arrive 3, 64; E:",
    );
    assert_eq!(run(&text)[40], 108);
    adversarial_ok(&text, 10);
    let text = entry(
        "",
        96,
        "setp.lt.u32 %p1, %r1, 50; bar.red.popc.u32 %r2, 1, %p1; bar.red.and.pred %p2, 1, %p1; bar.red.or.pred %p3, 1, %p1;
selp.b32 %r3, 1000, 0, %p2; selp.b32 %r4, 2000, 0, %p3; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; cvt.u64.u32 %rd4, %r2; st.global.b64 [%rd3], %rd4;",
    );
    assert_eq!(run(&text)[95], 2050);
    // A warp that has exited does not delay the others.
    let text = entry("", 64, "setp.lt.u32 %p1, %r1, 32; @%p1 exit; bar.sync 0; st.global.b64 [%rd3], 1;");
    assert_eq!(run(&text)[40], 1);
}

#[test]
fn deadlocks_are_explained() {
    let e = error(&entry("", 64, "setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 1, 64; bar.sync 2, 64;"));
    assert!(is_deadlock(&e), "{e}");
    let text = e.to_string();
    assert!(text.contains("waits on barrier 1: 32 of 64") && text.contains("waits on barrier 2: 32 of 64"), "{text}");
    assert!(text.contains("warp 0") && text.contains("warp 1"), "{text}");
    let e = error(&entry("", 32, "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 1; B:"));
    assert!(e.to_string().contains("rest of its warp"), "{e}");
    let e = error(&entry("", 64, "setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 1, 64; @!%p1 bar.sync 1, 32;"));
    assert!(matches!(e.kind, SimErrorKind::Barrier(_)), "{e}");
}

#[test]
fn spinning_forever_is_noticed() {
    let text = entry("", 32, "L: ld.relaxed.gpu.global.b32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;");
    let options = RunOptions { max_instructions: Some(100_000), ..RunOptions::default() };
    let e = run_with(&text, 1, &[0; 8], LaunchConfig::default(), &options).err().unwrap();
    assert!(matches!(e.kind, SimErrorKind::InstructionLimit(100_000)), "{e}");
}

#[test]
fn spin_locks_between_lanes_and_ctas() {
    // The classic loop in which a winner leaves while losers spin: across lanes, warps and CTAs.
    let text = entry(
        ".global .align 4 .b32 lock = 0; .global .align 8 .b64 counter = 0; .global .align 4 .b32 finished = 0;",
        64,
        "L: atom.acquire.gpu.global.cas.b32 %r2, [lock], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;
ld.relaxed.gpu.global.b64 %rd4, [counter]; add.s64 %rd4, %rd4, 1; st.relaxed.gpu.global.b64 [counter], %rd4;
atom.release.gpu.global.exch.b32 %r3, [lock], 0; atom.add.release.gpu.global.u32 %r4, [finished], 1;
W: ld.acquire.gpu.global.b32 %r5, [finished]; setp.lt.u32 %p1, %r5, 256; @%p1 bra W;
ld.relaxed.gpu.global.b64 %rd5, [counter]; mov.u32 %r6, %ctaid.x; mad.lo.u32 %r6, %r6, 64, %r1; mul.wide.u32 %rd6, %r6, 8; add.s64 %rd6, %rd1, %rd6; st.global.b64 [%rd6], %rd5;",
    );
    let run =
        run_with(&text, 4, &[0; 8], LaunchConfig::default(), &RunOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(run.out.iter().all(|v| *v == 256));
    let options = RunOptions { adversarial: Some(3), ..RunOptions::default() };
    let run = run_with(&text, 4, &[0; 8], LaunchConfig::default(), &options).unwrap_or_else(|e| panic!("{e}"));
    assert!(run.out.iter().all(|v| *v == 256));
}

#[test]
fn missing_barrier_is_a_race() {
    let body = |bar: &str| {
        entry(
            ".shared .align 8 .b64 s[64];",
            64,
            &format!(
                "mov.b32 %r3, s; shl.b32 %r2, %r1, 3; add.u32 %r2, %r2, %r3; cvt.u64.u32 %rd4, %r1; st.shared.b64 [%r2], %rd4; {bar}
xor.b32 %r4, %r1, 63; shl.b32 %r4, %r4, 3; add.u32 %r4, %r4, %r3; ld.shared.b64 %rd5, [%r4]; st.global.b64 [%rd3], %rd5;"
            ),
        )
    };
    assert_eq!(adversarial_ok(&body("bar.sync 0;"), 10)[0], 63);
    let e = adversarial_error(&body(""));
    match &e.kind {
        SimErrorKind::Race(r) => {
            assert!(r.to_string().contains("st.shared") && r.to_string().contains("ld.shared"), "{r}");
        }
        SimErrorKind::Uninitialised { .. } => {}
        _ => panic!("{e}"),
    }
    // With initialized memory only the race itself is an error.
    let write_after_read = entry(
        ".shared .align 4 .b32 s[1];",
        64,
        "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.b32 [s], 7; bar.sync 0; ld.shared.b32 %r2, [s]; setp.eq.u32 %p2, %r1, 40; @%p2 st.shared.b32 [s], 8;",
    );
    let e = adversarial_error(&write_after_read);
    assert!(matches!(e.kind, SimErrorKind::Race(_)), "{e}");
}

#[test]
fn flags_with_fences_order_global_memory() {
    let text = |fence: &str| {
        entry(
            ".global .align 4 .b32 flag = 0; .global .align 4 .b32 data = 0;",
            64,
            &format!(
                "setp.ge.u32 %p1, %r1, 32; @%p1 bra C; setp.ne.u32 %p2, %r1, 0; @%p2 bra E; st.global.b32 [data], 42; {fence} st.relaxed.gpu.global.b32 [flag], 1; bra E;
C: ld.relaxed.gpu.global.b32 %r2, [flag]; setp.eq.u32 %p3, %r2, 0; @%p3 bra C; {fence} ld.global.b32 %r3, [data]; cvt.u64.u32 %rd4, %r3; st.global.b64 [%rd3], %rd4; E:"
            ),
        )
    };
    assert_eq!(adversarial_ok(&text("fence.acq_rel.gpu;"), 6)[33], 42);
    let e = adversarial_error(&text(""));
    assert!(matches!(e.kind, SimErrorKind::Race(_)), "{e}");
}

/// Thread 0 of one CTA passes a value to thread 0 of another.
fn message(header: &str, write: &str, read: &str) -> String {
    let decls = ".global .align 4 .b32 flag = 0; .global .align 4 .b32 data = 0;";
    let (read, fence) = read.split_once(';').unwrap_or((read, ""));
    let body = format!(
        "mov.u32 %r9, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra E; setp.ne.u32 %p2, %r9, 0; @%p2 bra C;
st.global.b32 [data], 42; {write} bra E;
C: {read}; setp.eq.u32 %p3, %r2, 0; @%p3 bra C; {fence}
ld.global.b32 %r3, [data]; setp.ne.u32 %p4, %r3, 42; @%p4 trap; E:"
    );
    entry(decls, 32, &body).replace(".reqntid 32", &format!(".reqntid 32 {header}"))
}

/// Runs two CTAs under several seeds; returns the first error.
fn two_blocks(text: &str) -> Option<SimError> {
    (0..12).find_map(|seed| {
        let options = RunOptions { adversarial: Some(seed), ..RunOptions::default() };
        run_with(text, 2, &[1; 64], LaunchConfig::default(), &options).err()
    })
}

const CLUSTER: &str = ".explicitcluster .reqnctapercluster 2";

#[test]
fn scopes_say_whom_a_release_and_an_acquire_reach() {
    let pair = |w: &str, r: &str| {
        (format!("st.release.{w}.global.b32 [flag], 1;"), format!("ld.acquire.{r}.global.b32 %r2, [flag];"))
    };
    let atomics = |w: &str, r: &str| {
        (
            format!("atom.release.{w}.global.exch.b32 %r8, [flag], 1;"),
            format!("atom.acquire.{r}.global.add.u32 %r2, [flag], 0;"),
        )
    };
    let reduction = |w: &str, r: &str| (format!("red.release.{w}.global.add.u32 [flag], 1;"), pair(w, r).1);
    // Scoped fences, around accesses at system scope.
    let fences = |w: &str, r: &str| {
        (
            format!("fence.acq_rel.{w}; st.relaxed.gpu.global.b32 [flag], 1;"),
            format!("ld.relaxed.gpu.global.b32 %r2, [flag]; fence.acq_rel.{r};"),
        )
    };
    // Fences at system scope, around scoped accesses.
    let accesses = |w: &str, r: &str| {
        (
            format!("fence.acq_rel.gpu; st.relaxed.{w}.global.b32 [flag], 1;"),
            format!("ld.relaxed.{r}.global.b32 %r2, [flag]; fence.acq_rel.gpu;"),
        )
    };
    type Pair<'a> = &'a dyn Fn(&str, &str) -> (String, String);
    let forms: [Pair<'_>; 5] = [&pair, &atomics, &reduction, &fences, &accesses];
    for (i, form) in forms.iter().enumerate() {
        for (header, w, r, right) in [
            ("", "gpu", "gpu", true),
            ("", "sys", "gpu", true),
            ("", "cta", "cta", false),
            ("", "cta", "gpu", false),
            ("", "gpu", "cta", false),
            ("", "cluster", "cluster", false),
            (CLUSTER, "cluster", "cluster", true),
            (CLUSTER, "cluster", "sys", true),
            (CLUSTER, "cta", "cluster", false),
        ] {
            let (write, read) = form(w, r);
            let found = two_blocks(&message(header, &write, &read));
            match found {
                None => assert!(right, "form {i} {header} {w} {r}: nothing reported"),
                Some(e) => assert!(!right && matches!(e.kind, SimErrorKind::Race(_)), "form {i} {header} {w} {r}: {e}"),
            }
        }
    }
    let (write, read) = pair("cta", "cta");
    let e = two_blocks(&message("", &write, &read)).expect("a race").to_string();
    assert!(e.contains("one is outside the other's scope"), "{e}");
}

#[test]
fn scope_of_a_block_is_enough_within_it() {
    let text = |scope: &str| {
        entry(
            ".global .align 4 .b32 flag = 0; .global .align 4 .b32 data = 0;",
            64,
            &format!(
                "setp.ge.u32 %p1, %r1, 32; @%p1 bra C; setp.ne.u32 %p2, %r1, 0; @%p2 bra E;
st.global.b32 [data], 42; st.release.{scope}.global.b32 [flag], 1; bra E;
C: ld.acquire.{scope}.global.b32 %r2, [flag]; setp.eq.u32 %p3, %r2, 0; @%p3 bra C;
ld.global.b32 %r3, [data]; cvt.u64.u32 %rd4, %r3; st.global.b64 [%rd3], %rd4; E:"
            ),
        )
    };
    for scope in ["cta", "cluster", "gpu", "sys"] {
        assert_eq!(adversarial_ok(&text(scope), 6)[33], 42, "{scope}");
    }
}

#[test]
fn uninitialised_reads_trap() {
    let e = error(&entry(".shared .align 4 .b32 s[64];", 32, "st.shared.b8 [s], 1; ld.shared.b32 %r2, [s];"));
    match e.kind {
        SimErrorKind::Uninitialised { space: "shared", address, address_of_byte, .. } => {
            assert_eq!(address_of_byte, address + 1);
        }
        _ => panic!("{e}"),
    }
}

#[test]
fn bulk_stores_of_zeros() {
    let text = |size: &str, bar: &str| {
        newest(&entry(
            ".shared .align 16 .b8 s[4096];",
            64,
            &format!(
                "mov.b32 %r2, s; setp.eq.u32 %p1, %r1, 0; mov.b64 %rd4, {size}; @%p1 st.bulk.weak.shared::cta [%r2+8], %rd4, 0; {bar}
shl.b32 %r3, %r1, 5; add.u32 %r3, %r3, %r2; ld.shared.b64 %rd5, [%r3+24]; st.global.b64 [%rd3], %rd5;"
            ),
        ))
    };
    assert_eq!(adversarial_ok(&text("4088", "bar.sync 0;"), 5), [0; 64]);
    let e = error(&text("2032", "bar.sync 0;"));
    assert!(matches!(e.kind, SimErrorKind::Uninitialised { .. }), "{e}");
    assert!(error(&text("4", "")).to_string().contains("multiples of 8"));
    assert!(error(&text("0x1000000000000000", "")).to_string().contains("out of bounds"));
    let e = adversarial_error(&text("4088", ""));
    assert!(e.to_string().contains("st.bulk") || matches!(e.kind, SimErrorKind::Uninitialised { .. }), "{e}");
}

#[test]
fn clusters_share_memory() {
    let text = entry(
        ".shared .align 8 .b64 s[32];",
        32,
        "mov.u32 %r2, %cluster_ctarank; mov.b32 %r3, s; shl.b32 %r4, %r1, 3; add.u32 %r3, %r3, %r4;
mad.lo.u32 %r5, %r2, 100, %r1; cvt.u64.u32 %rd4, %r5; st.shared.b64 [%r3], %rd4;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; xor.b32 %r6, %r2, 1; mapa.shared::cluster.u32 %r7, %r3, %r6;
ld.shared::cluster.b64 %rd5, [%r7]; barrier.cluster.arrive; barrier.cluster.wait;
mov.u32 %r8, %ctaid.x; mad.lo.u32 %r8, %r8, 32, %r1; mul.wide.u32 %rd6, %r8, 8; add.s64 %rd6, %rd1, %rd6; st.global.b64 [%rd6], %rd5;",
    );
    let launch = LaunchConfig { cluster: Some([2, 1, 1]), ..LaunchConfig::default() };
    for adversarial in [None, Some(1), Some(2)] {
        let options = RunOptions { adversarial, ..RunOptions::default() };
        let run = run_with(&text, 4, &[0; 8], launch.clone(), &options).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((run.out[5], run.out[37], run.out[96 + 1]), (105, 5, 1));
    }
}

#[test]
fn printf_formats() {
    let decls = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 fmt[64] = {37,100,32,37,53,46,50,102,124,37,115,124,37,48,56,108,108,120,124,37,99,37,37,10,0};
.global .align 1 .b8 str[4] = {97,98,99,0};";
    // "%d %5.2f|%s|%08llx|%c%%\n"
    let body = ".local .align 8 .b8 buf[48]; mov.b64 %rd4, buf; cvta.local.u64 %rd5, %rd4; st.local.b32 [%rd4], -5; mov.b64 %rd6, 0d400921FB54442D18; st.local.b64 [%rd4+8], %rd6;
mov.b64 %rd7, str; st.local.b64 [%rd4+16], %rd7; mov.b64 %rd8, 0xbeef; st.local.b64 [%rd4+24], %rd8; st.local.b32 [%rd4+32], 90;
{ .param .b64 a; .param .b64 b; .param .b32 r; mov.b64 %rd9, fmt; st.param.b64 [a], %rd9; st.param.b64 [b], %rd5; call.uni (r), vprintf, (a, b); ld.param.b32 %r2, [r]; }";
    let run = run_with(&entry(decls, 1, body), 1, &[0; 8], LaunchConfig::default(), &RunOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(run.report.output, "-5  3.14|abc|0000beef|Z%\n");
}

#[test]
fn launch_checks() {
    let text = format!("{HEADER}.visible .entry k(.param .u32 a) .reqntid 32 {{ ret; }}");
    let module = Module::parse(&text).unwrap();
    let mut device = Device::new(Config::default());
    let options = RunOptions::default();
    for (launch, want) in [
        (LaunchConfig { grid: [1, 1, 1], ..LaunchConfig::default() }, "arguments"),
        (LaunchConfig { grid: [0, 1, 1], args: &[Arg::U32(1)], ..LaunchConfig::default() }, "grid"),
        (
            LaunchConfig { grid: [1, 1, 1], block: Some([64, 1, 1]), args: &[Arg::U32(1)], ..LaunchConfig::default() },
            "reqntid",
        ),
        (
            LaunchConfig { grid: [1, 1, 1], dynamic_shared: 1 << 20, args: &[Arg::U32(1)], ..LaunchConfig::default() },
            "shared memory",
        ),
        (
            LaunchConfig { grid: [3, 1, 1], cluster: Some([2, 1, 1]), args: &[Arg::U32(1)], ..LaunchConfig::default() },
            "multiple of the cluster",
        ),
        (LaunchConfig { grid: [1, 1, 1], args: &[Arg::U64(1)], ..LaunchConfig::default() }, "8 bytes"),
    ] {
        let e = device.launch(&module, "k", &launch, &options).unwrap_err();
        assert!(e.to_string().contains(want), "{e}");
    }
    assert!(device.launch(&module, "nope", &LaunchConfig::default(), &options).is_err());
}

#[test]
fn statistics() {
    let text = entry(
        ".shared .align 4 .b32 s[1024];",
        32,
        "mov.b32 %r3, s; shl.b32 %r2, %r1, 7; add.u32 %r2, %r2, %r3; st.shared.b32 [%r2], %r1; st.global.b64 [%rd3], 1;",
    );
    let options = RunOptions { stats: true, ..RunOptions::default() };
    let run = run_with(&text, 1, &[0; 8], LaunchConfig::default(), &options).unwrap_or_else(|e| panic!("{e}"));
    let stats = &run.report.stats;
    assert_eq!(stats.bank_conflicts, 31);
    assert_eq!(stats.bytes("shared"), (0, 128));
    assert_eq!(stats.bytes("global"), (0, 256));
    assert_eq!(stats.warp_instructions(ptx_sim::Class::Store), 2);
}
