//! Planted bugs: one test for each kind of error that the simulator reports, with the responsible instructions. The
//! same kernel without the bug passes, so the report is about the bug and nothing else.

mod common;
use common::{adversarial_error, adversarial_ok, entry, error, run_with};
use ptx_sim::{Arbitrary, ArbitraryLanes, LaunchConfig, Module, RunOptions, SimError, SimErrorKind};

/// Checks that the message contains every part.
#[track_caller]
fn says(e: &SimError, parts: &[&str]) {
    let text = e.to_string();
    for part in parts {
        assert!(text.contains(part), "'{part}' is missing in\n{text}");
    }
}

/// The errors of the failing seeds from 0 to 29.
fn all_errors(text: &str) -> Vec<SimError> {
    let errors: Vec<SimError> = (0..30)
        .filter_map(|seed| {
            let options = RunOptions { adversarial: Some(seed), strict: true, ..RunOptions::default() };
            run_with(text, 1, &[1; 4096], LaunchConfig::default(), &options).err()
        })
        .collect();
    assert!(!errors.is_empty(), "no seed finds anything");
    errors
}

/// Spins until the mbarrier's phase of this parity is complete.
fn wait(bar: &str, parity: &str) -> String {
    format!(
        "{{ .reg .pred P1;\nLAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, [{bar}], {parity};\n@!P1 bra LAB_WAIT; }}"
    )
}

const INIT: &str = "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1;
@%p1 mbarrier.init.shared::cta.b64 [empty], 1; fence.mbarrier_init.release.cluster; bar.sync 0;";

const SHARED: &str = ".shared .align 128 .b8 s[1024]; .shared .align 8 .b64 full; .shared .align 8 .b64 empty;";

/// The variations of a [`bulk`] kernel.
#[derive(Clone, Copy)]
struct Bulk {
    expect: u32,
    parity: u32,
    proxy_fence: &'static str,
    barrier: &'static str,
}

const GOOD: Bulk =
    Bulk { expect: 1024, parity: 0, proxy_fence: "fence.proxy.async.shared::cta;", barrier: "bar.sync 0;" };

/// Loads 1024 bytes by a bulk copy, doubles them, and stores them by a bulk copy.
fn bulk(b: Bulk) -> String {
    let Bulk { expect, parity, proxy_fence, barrier } = b;
    let body = format!(
        "{INIT} mov.b32 %r2, s; @!%p1 bra W;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], {expect};
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2], 1024, [full];
W: {}
shl.b32 %r3, %r1, 3; add.u32 %r3, %r2, %r3;
ld.shared.b64 %rd4, [%r3];
add.s64 %rd4, %rd4, %rd4;
st.shared.b64 [%r3], %rd4;
{proxy_fence} {barrier} @!%p1 bra E;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 1024;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0; E:",
        wait("full", &parity.to_string())
    );
    entry(SHARED, 128, &body)
}

#[test]
fn the_kernel_without_bugs() {
    assert!(adversarial_ok(&bulk(GOOD), 20).iter().all(|v| *v == 0x0202_0202_0202_0202));
}

#[test]
fn missing_barrier() {
    let text = |bar: &str| {
        let body = format!(
            "mov.b32 %r3, s; shl.b32 %r2, %r1, 3; add.u32 %r2, %r2, %r3; mov.b64 %rd4, 5;
st.shared.b64 [%r2], %rd4; bar.sync 0; cvt.u64.u32 %rd4, %r1;
st.shared.b64 [%r2], %rd4;
{bar} xor.b32 %r4, %r1, 63; shl.b32 %r4, %r4, 3; add.u32 %r4, %r4, %r3;
ld.shared.b64 %rd5, [%r4];
st.global.b64 [%rd3], %rd5;"
        );
        entry(".shared .align 8 .b64 s[64];", 64, &body)
    };
    assert_eq!(adversarial_ok(&text("bar.sync 0;"), 10)[0], 63);
    for e in all_errors(&text("")) {
        assert!(matches!(e.kind, SimErrorKind::Race(_)), "{e}");
        says(
            &e,
            &["data race: shared address 0x", "(s", "`st.shared.b64 [%r2], %rd4;`", "`ld.shared.b64 %rd5, [%r4];`"],
        );
        says(&e, &["by warp 0 of CTA (0,0,0) at line", "by warp 1 of CTA (0,0,0) at line", "; no barrier orders them"]);
    }
    // A race between the writes and a copy that reads the data.
    let e = adversarial_error(&bulk(Bulk { barrier: "", ..GOOD }));
    assert!(matches!(e.kind, SimErrorKind::Race(_)), "{e}");
    says(&e, &["write by ", "`st.shared.b64 [%r3], %rd4;`", "read (asynchronous) by ", "`cp.async.bulk.global"]);
}

#[test]
fn missing_proxy_fence() {
    for e in all_errors(&bulk(Bulk { proxy_fence: "", ..GOOD })) {
        assert!(matches!(e.kind, SimErrorKind::MissingProxyFence(_)), "{e}");
        says(
            &e,
            &["missing proxy fence: shared address", "(s", "`st.shared.b64 [%r3], %rd4;`", "`cp.async.bulk.global"],
        );
        says(&e, &["a fence.proxy.async is needed between the ordinary access and the asynchronous one"]);
    }
}

/// A copy arrives on its mbarrier through the generic proxy, so the initialization needs an order but no proxy fence.
#[test]
fn copies_arrive_on_initialised_barriers() {
    let with = |fence: &str| {
        let text = bulk(GOOD);
        let (before, init) = (INIT.find("fence.").unwrap(), INIT);
        let end = before + init[before..].find(';').unwrap() + 1;
        assert!(text.contains(init));
        text.replace(init, &format!("{}{fence}{}", &init[..before], &init[end..]))
    };
    for fence in ["", "fence.proxy.async;", "fence.mbarrier_init.release.cluster;"] {
        assert!(adversarial_ok(&with(fence), 20).iter().all(|v| *v == 0x0202_0202_0202_0202), "{fence}");
    }
    // Lane 1 of the warp copies without waiting for the barrier after lane 0 has initialized.
    let text = with("")
        .replace("bar.sync 0; mov.b32 %r2, s; @!%p1 bra W;", "mov.b32 %r2, s; setp.ne.u32 %p1, %r1, 32; @%p1 bra W;");
    assert_ne!(text, with(""));
    for e in all_errors(&text) {
        assert!(matches!(e.kind, SimErrorKind::Race(_) | SimErrorKind::Mbarrier(_)), "{e}");
    }
}

/// A wait for parity 1 of a fresh mbarrier passes at once, whether or not the copy has been issued.
#[test]
fn wrong_phase_of_a_fresh_barrier() {
    let mut in_flight = 0;
    for e in all_errors(&bulk(Bulk { parity: 1, ..GOOD })) {
        says(&e, &["uninitialized read of 8 bytes at shared address", "`ld.shared.b64 %rd4, [%r3];`"]);
        says(&e, &["wait, `mbarrier.try_wait.parity.shared::cta.b64 P1, [full], 1;` at line"]);
        says(&e, &["passed on the phase before the first one of mbarrier 0x800 (full): wrong parity?"]);
        if e.to_string().contains("is still being written by the asynchronous `cp.async.bulk.shared") {
            says(&e, &["the copy completes phase 0 of mbarrier 0x800 (full), but the wait"]);
            in_flight += 1;
        }
    }
    assert!(in_flight > 0, "no seed has the copy in flight");
}

/// A ring of one stage with three iterations: warp 0 copies, warp 1 reads. `flip` inverts the parities, which are in
/// registers.
fn ring(flip_full: &str, flip_empty: &str) -> String {
    let body = format!(
        "{INIT} mov.b32 %r2, s; mov.b32 %r10, 0; mov.b32 %r11, 0; mov.b32 %r12, 1; setp.ge.u32 %p2, %r1, 32; @%p2 bra CONSUMER; @!%p1 bra E;
PRODUCER: {}
{flip_empty} mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2], 256, [full];
add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 3; @%p3 bra PRODUCER; bra E;
CONSUMER: and.b32 %r3, %r1, 31; shl.b32 %r3, %r3, 3; add.u32 %r3, %r2, %r3; mov.b64 %rd5, 0;
NEXT: {}
{flip_full} ld.shared.b64 %rd4, [%r3];
add.s64 %rd5, %rd5, %rd4; bar.warp.sync -1; setp.eq.u32 %p4, %r1, 32;
@%p4 mbarrier.arrive.shared::cta.b64 _, [empty];
add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 3; @%p3 bra NEXT; st.global.b64 [%rd3], %rd5; E:",
        wait("empty", "%r12"),
        wait("full", "%r11").replace("LAB_WAIT", "LAB_FULL"),
    );
    entry(SHARED, 64, &body)
}

const FLIP_FULL: &str = "xor.b32 %r11, %r11, 1;";
const FLIP_EMPTY: &str = "xor.b32 %r12, %r12, 1;";

/// The consumer forgets to flip its parity, so its second wait passes on the first phase again.
#[test]
fn wrong_phase_of_a_consumer() {
    assert_eq!(adversarial_ok(&ring(FLIP_FULL, FLIP_EMPTY), 20)[40], 3 * 0x0101_0101_0101_0101);
    let mut races = 0;
    for e in all_errors(&ring("", FLIP_EMPTY)) {
        // If the consumer was too fast, only a producer remains, which waits for it.
        says(&e, &["P1, [full], %r11;` at line", "passed on phase 0 again of mbarrier 0x800 (full): wrong parity?"]);
        if !matches!(e.kind, SimErrorKind::Deadlock(_)) {
            says(
                &e,
                &[
                    "`ld.shared.b64 %rd4, [%r3];`",
                    "`cp.async.bulk.shared",
                    "the copy completes phase 1 of mbarrier 0x800 (full), but the",
                ],
            );
            races += 1;
        }
    }
    assert!(races > 0);
}

/// The producer forgets to flip its parity, so it overwrites data that is still being read.
#[test]
fn wrong_phase_of_a_producer() {
    for e in all_errors(&ring(FLIP_FULL, "")) {
        match e.kind {
            // It waits for the wrong one of two phases, which no thread starts.
            SimErrorKind::Deadlock(_) => says(&e, &["P1, [empty], %r12;`: waits on mbarrier 0x808 (empty)"]),
            _ => {
                says(&e, &["P1, [empty], %r12;` at line", "passed on the phase before the first one again"]);
                says(&e, &["of mbarrier 0x808 (empty): wrong parity?"]);
            }
        }
    }
}

/// A wait for a phase that no thread starts.
#[test]
fn wrong_phase_that_never_comes() {
    let text = bulk(GOOD);
    let (before, rest) = text.split_once("W: ").unwrap();
    let again = wait("full", "1").replace("LAB_WAIT", "LAB_AGAIN");
    let (first, rest) = rest.split_once("}\n").unwrap();
    let e = error(&format!("{before}W: {first}}}\n{again}\n{rest}"));
    says(&e, &["deadlock: no thread can proceed", "[full], 1;`: waits on mbarrier 0x800 (full) of CTA (0,0,0)"]);
    says(&e, &["for the phase of parity 1: phase of parity 1 is open with 1 of 1 arrivals pending"]);
}

#[test]
fn wrong_expect_tx() {
    let e = error(&bulk(Bulk { expect: 1040, ..GOOD }));
    assert!(matches!(e.kind, SimErrorKind::Deadlock(_)), "{e}");
    says(
        &e,
        &[
            "[full], 0;`: waits on mbarrier 0x800 (full)",
            "0 of 1 arrivals pending and 16 transaction bytes outstanding",
        ],
    );
    says(&e, &["16 bytes were expected but not copied (wrong expect_tx?)", "[warp 0, warp 1, warp 2, warp 3]"]);
    for e in all_errors(&bulk(Bulk { expect: 512, ..GOOD })) {
        assert!(matches!(e.kind, SimErrorKind::Deadlock(_)), "{e}");
        says(&e, &["waits on mbarrier 0x800 (full)", "512 bytes were copied but not expected (wrong expect_tx?)"]);
    }
}

#[test]
fn out_of_bounds() {
    let text = |body: &str| entry(".shared .align 16 .b8 s[512];", 32, body);
    let e = error(&text("add.s64 %rd4, %rd3, 512;\nst.global.b64 [%rd4], 0;"));
    assert!(matches!(e.kind, SimErrorKind::OutOfBounds { .. }), "{e}");
    says(
        &e,
        &[
            "`st.global.b64 [%rd4], 0;` in CTA (0,0,0) thread (0,0,0): out of bounds: store of 8 bytes at global address",
        ],
    );
    says(&e, &["512 bytes after the start of a 256-byte allocation"]);
    // The report names the first lane out of bounds, not the first lane.
    let e = error(&text("shl.b32 %r2, %r1, 5; mov.b32 %r3, s; add.u32 %r3, %r3, %r2;\nst.shared.b32 [%r3], %r1;"));
    says(
        &e,
        &["`st.shared.b32 [%r3], %r1;` in CTA (0,0,0) thread (16,0,0): out of bounds: store of 4 bytes at shared"],
    );
    says(&e, &["(the CTA has 1536 bytes)"]);
    let e = error(&text("ld.local.b32 %r2, [0x1000];"));
    says(&e, &["out of bounds: load of 4 bytes at local address 0x1000"]);
    let e = error(&bulk(GOOD).replace("[%rd2], 1024", "[%rd2+4000], 1024"));
    says(
        &e,
        &["`cp.async.bulk.shared::cluster.global", "out of bounds: asynchronous read of 1024 bytes at global address"],
    );
}

#[test]
fn uninitialised_read() {
    let text = entry(
        ".shared .align 16 .b8 s[512];",
        32,
        "setp.ne.u32 %p1, %r1, 7; mov.b32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r2;
@%p1 st.shared.b32 [%r3], %r1;
bar.warp.sync -1;
ld.shared.b32 %r4, [%r3];",
    );
    let e = error(&text);
    assert!(matches!(e.kind, SimErrorKind::Uninitialised { .. }), "{e}");
    says(
        &e,
        &["`ld.shared.b32 %r4, [%r3];` in CTA (0,0,0) thread (7,0,0): uninitialized read of 4 bytes at shared address"],
    );
    says(&e, &["(byte 0x41c (s+0x1c) was never written)"]);
    // The kernel does not wait for the copy at all.
    let without = bulk(GOOD).replacen(&wait("full", "0"), "", 1);
    let errors = all_errors(&without);
    assert!(errors.iter().any(|e| e.to_string().contains("mbarrier 0x800 (full), on which warp")), "{}", errors[0]);
}

#[test]
fn deadlock() {
    let e = error(&entry("", 64, "setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1, 64;\nbar.sync 2, 64;"));
    assert!(matches!(e.kind, SimErrorKind::Deadlock(_)), "{e}");
    says(&e, &["deadlock: no thread can proceed"]);
    says(&e, &["`@%p1 bar.sync 1, 64;`: waits on barrier 1: 32 of 64 threads have arrived [warp 0]"]);
    says(&e, &["`bar.sync 2, 64;`: waits on barrier 2: 32 of 64 threads have arrived [warp 1]"]);
}

/// Errors related to those above.
#[test]
fn copies_that_outlive_their_cta_or_are_misaligned() {
    let e = adversarial_error(&bulk(GOOD).replace("cp.async.bulk.wait_group.read 0;", ""));
    says(&e, &["the CTA exits while this copy may still read its shared memory (missing wait_group.read)"]);
    let e = error(&bulk(GOOD).replace("[%rd2], 1024", "[%rd2+8], 1024"));
    says(&e, &["multiple of 16"]);
}

/// Lanes are independent threads: only `bar.warp.sync` orders their accesses to common memory.
#[test]
fn missing_warp_barrier() {
    let text = |sync: &str| {
        let body = format!(
            "mov.b32 %r3, s; shl.b32 %r2, %r1, 3; add.u32 %r2, %r2, %r3; cvt.u64.u32 %rd4, %r1;
st.shared.b64 [%r2], %rd4;
{sync} xor.b32 %r4, %r1, 1; shl.b32 %r4, %r4, 3; add.u32 %r4, %r4, %r3;
ld.shared.b64 %rd5, [%r4];
st.global.b64 [%rd3], %rd5;"
        );
        entry(".shared .align 8 .b64 s[32];", 32, &body)
    };
    for sync in [
        "bar.warp.sync -1;",
        "bar.sync 0;",
        "fence.acq_rel.cta;",
        "and.b32 %r5, %r1, 30; mov.b32 %r6, 3; shl.b32 %r6, %r6, %r5; bar.warp.sync %r6;",
    ] {
        assert_eq!(adversarial_ok(&text(sync), 5)[6], 7, "{sync}");
    }
    // A shuffle synchronizes lanes but does not order memory, and a barrier of other lanes does not count.
    let apart = "and.b32 %r5, %r1, 1; mov.b32 %r6, 0x55555555; shl.b32 %r6, %r6, %r5; bar.warp.sync %r6;";
    for sync in ["", "shfl.sync.idx.b32 %r9, %r1, 0, 31, -1;", apart] {
        let e = adversarial_error(&text(sync));
        assert!(matches!(e.kind, SimErrorKind::Race(_)), "{e}");
        says(&e, &["write by lane 1 of warp 0 of CTA (0,0,0)", "`st.shared.b64 [%r2], %rd4;`"]);
        says(
            &e,
            &["read by lane 0 of warp 0 of CTA (0,0,0)", "`ld.shared.b64 %rd5, [%r4];`", "bar.warp.sync (__syncwarp)"],
        );
    }
}

/// A lane releases what it knows: its own accesses, and accesses of lanes that it has synchronized with.
#[test]
fn a_lane_releases_what_it_knows() {
    let text = |meet: &str, release: &str, acquire: &str| {
        let body = format!(
            "mov.b32 %r3, s; and.b32 %r4, %r1, 31; shl.b32 %r2, %r4, 3; add.u32 %r2, %r2, %r3; cvt.u64.u32 %rd4, %r4;
setp.ne.u32 %p1, %r1, 0; @%p1 bra I; mbarrier.init.shared::cta.b64 [bar], 1; st.shared.b32 [flag], 0;
I: bar.sync 0; setp.ge.u32 %p2, %r1, 32; @%p2 bra R;
st.shared.b64 [%r2], %rd4; {meet}
@%p1 bra E; {release} bra E;
R: {acquire} ld.shared.b64 %rd5, [%r2]; shl.b32 %r5, %r4, 3; cvt.u64.u32 %rd6, %r5; add.s64 %rd6, %rd1, %rd6;
st.global.b64 [%rd6], %rd5;
E: ret;"
        );
        entry(".shared .align 8 .b64 s[32]; .shared .align 8 .b64 bar; .shared .b32 flag;", 64, &body)
    };
    let forms = [
        (
            "st.release.cta.shared.b32 [flag], 1;",
            "W: ld.acquire.cta.shared.b32 %r6, [flag]; setp.eq.b32 %p3, %r6, 0; @%p3 bra W;",
        ),
        (
            "atom.release.cta.shared.exch.b32 %r6, [flag], 1;",
            "W: ld.acquire.cta.shared.b32 %r6, [flag]; setp.eq.b32 %p3, %r6, 0; @%p3 bra W;",
        ),
        (
            "mbarrier.arrive.shared::cta.b64 _, [bar];",
            "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0; @!%p3 bra W;",
        ),
    ];
    for (release, acquire) in forms {
        for meet in [
            "bar.warp.sync -1;",
            // Lane 0 synchronizes with lanes that have synchronized with all others.
            "and.b32 %r5, %r1, 16; mov.b32 %r6, 0xffff; shl.b32 %r6, %r6, %r5; bar.warp.sync %r6;
and.b32 %r5, %r1, 15; setp.ne.u32 %p3, %r5, 0; @%p3 bra M; mov.b32 %r6, 0x10001; bar.warp.sync %r6; M:",
        ] {
            assert_eq!(adversarial_ok(&text(meet, release, acquire), 5)[6], 6, "{release} {meet}");
        }
        for meet in ["", "setp.gt.u32 %p3, %r1, 15; @%p3 bra M; mov.b32 %r6, 0xffff; bar.warp.sync %r6; M:"] {
            let e = adversarial_error(&text(meet, release, acquire));
            assert!(matches!(e.kind, SimErrorKind::Race(_)), "{e}");
            let other = if meet.is_empty() { "write by lane 1 of warp 0" } else { "write by lane 16 of warp 0" };
            says(&e, &[other, "bar.warp.sync (__syncwarp) is missing"]);
        }
    }
}

#[test]
fn lanes_that_write_to_one_place() {
    let text = |value: &str| {
        entry(".shared .align 8 .b64 s[2];", 32, &format!("st.shared.b64 [s], {value};\nld.shared.b64 %rd5, [s];"))
    };
    assert_eq!(adversarial_ok(&text("5"), 5).len(), 32);
    let e = adversarial_error(&text("%rd3"));
    says(&e, &["write by lane 0 of warp 0", "and write by lane 1 of warp 0", "it is unspecified which lane wins"]);
    // Bytes of one word are separate locations.
    let bytes = entry(
        ".shared .align 8 .b8 s[32];",
        32,
        "mov.b32 %r2, s; add.u32 %r2, %r2, %r1; st.shared.u8 [%r2], %r1; ld.shared.u8 %r3, [%r2]; add.u32 %r3, %r3, 1; st.shared.u8 [%r2], %r3;",
    );
    adversarial_ok(&bytes, 5);
}

/// Uses of registers that were never written, where they matter and where they do not.
#[test]
fn undefined_registers() {
    let text = |body: &str| entry(".shared .align 8 .b64 s[64];", 32, body);
    let undefined = |body: &str, what: &str, at: &str| {
        let e = adversarial_error(&text(body));
        assert!(matches!(e.kind, SimErrorKind::UndefinedRegister(_)), "{e}");
        says(&e, &["undefined register", what, at]);
    };
    undefined("st.global.b64 [%rd3], %rd9;", "operand 2", "`st.global.b64 [%rd3], %rd9;`");
    undefined("ld.global.b64 %rd5, [%rd9];", "the address", "[%rd9]");
    undefined("st.shared.b64 [%r9], %rd3;", "the address", "[%r9]");
    undefined("@%p9 bra E; st.global.b64 [%rd3], 1; E:", "the guard", "bra E");
    undefined("@!%p9 st.global.b64 [%rd3], 1;", "the guard", "st.global");
    undefined("red.global.add.u32 [%rd1], %r9;", "operand 2", "red.global");
    undefined("atom.global.add.u32 %r8, [%rd1], %r9;", "operand 3", "atom.global");
    // Undefined values pass through moves, selects, arithmetic, comparisons and guards.
    undefined("mov.b32 %r8, %r9; add.u32 %r7, %r8, 1; st.global.b32 [%rd3], %r7;", "operand 2", "%r7;");
    undefined("setp.eq.u32 %p8, %r9, 0; selp.b32 %r7, 1, 2, %p8; st.global.b32 [%rd3], %r7;", "operand 2", "%r7;");
    undefined("mov.b32 %r7, 1; @%p9 mov.b32 %r7, 2; st.global.b32 [%rd3], %r7;", "operand 2", "%r7;");
    undefined("mov.b64 %rd7, {%r1, %r9}; st.global.b64 [%rd3], %rd7;", "operand 2", "%rd7;");
    // A matrix instruction.
    let mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%f1, %f2, %f3, %f4};";
    let zero = |r: &[&str]| r.iter().map(|r| format!("mov.b32 {r}, 0; ")).collect::<String>();
    let all = ["%f1", "%f2", "%f3", "%f4", "%r2", "%r3", "%r4", "%r5", "%r6", "%r7"];
    adversarial_ok(&text(&(zero(&all) + mma)), 3);
    for (missing, what) in [(0, "operand 4"), (5, "operand 2"), (9, "operand 3")] {
        let mut some = all.to_vec();
        some.remove(missing);
        undefined(&(zero(&some) + mma), what, "mma.sync");
    }
    // A discarded value may be undefined.
    for body in [
        "mov.b32 %r8, %r9; add.u32 %r7, %r8, 1;",
        "setp.ge.u32 %p1, %r1, 0; selp.b32 %r7, 3, %r9, %p1; st.global.b32 [%rd3], %r7;",
        "and.b32 %r7, %r9, 0; st.global.b32 [%rd3], %r7;",
        "or.b32 %r7, %r9, -1; st.global.b32 [%rd3], %r7;",
        "mov.b64 %rd7, {%r1, %r9}; mov.b64 {%r7, %r8}, %rd7; st.global.b32 [%rd3], %r7;",
        "mov.b32 %r7, {%rs8, %rs9}; mov.b16 %rs8, 1; mov.b32 %r7, {%rs8, %rs9}; mov.b32 {%rs1, %rs2}, %r7; st.global.b16 [%rd3], %rs1;",
        "setp.lt.u32 %p1, %r1, 99; @%p1 mov.b32 %r7, 1; @%p1 st.global.b32 [%rd3], %r7;",
    ] {
        adversarial_ok(&text(body), 3);
    }
}

/// A masked load gives zero where the mask is false, because the register was set to zero before.
#[test]
fn the_zero_of_a_masked_load() {
    let text = |zero: &str| {
        let body =
            format!("setp.lt.u32 %p1, %r1, 20; {zero} @%p1 ld.global.b32 %r7, [%rd2]; st.global.b32 [%rd3], %r7;");
        entry("", 32, &body)
    };
    assert_eq!(adversarial_ok(&text("mov.b32 %r7, 0;"), 3)[25], 0);
    let e = adversarial_error(&text(""));
    says(&e, &["undefined register: operand 2 was never written", "thread (20,0,0)"]);
}

/// One lane starts a copy of data that all lanes have written.
#[test]
fn missing_warp_barrier_before_a_copy() {
    let text = |sync: &str| {
        let body = format!(
            "mov.b32 %r2, s; shl.b32 %r3, %r1, 3; add.u32 %r3, %r2, %r3; cvt.u64.u32 %rd4, %r1;
st.shared.b64 [%r3], %rd4;
fence.proxy.async.shared::cta; {sync} setp.eq.u32 %p1, %r1, 0; @!%p1 bra E;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E:"
        );
        entry(".shared .align 128 .b8 s[256];", 32, &body)
    };
    assert_eq!(adversarial_ok(&text("bar.warp.sync -1;"), 10)[9], 9);
    let e = adversarial_error(&text(""));
    says(&e, &["write by lane 1 of warp 0", "`st.shared.b64 [%r3], %rd4;`", "read (asynchronous) by lane 0 of warp 0"]);
    says(&e, &["`cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256;`", "bar.warp.sync (__syncwarp)"]);
}

/// The results of an instruction, treated as undefined: an error exactly if they may matter.
#[test]
fn arbitrary_results() {
    // The instruction is the move to %rd4; %p1 holds for lane 0 only.
    let matters = |lanes: ArbitraryLanes, body: &str| {
        let text = entry(".shared .align 8 .b64 s[64];", 32, &format!("setp.eq.u32 %p1, %r1, 0;\n{body}"));
        let module = Module::parse(&text).unwrap();
        let function = module.functions.iter().position(|f| f.name == "k").unwrap();
        let is_it = |i: &ptx_sim::ir::Inst| module.text_of(i).contains("%rd4, 7");
        let at = module.functions[function].body.iter().position(is_it).unwrap();
        let arbitrary = Some(Arbitrary { function, at, lanes });
        let run = |adversarial| {
            let options = RunOptions { adversarial, arbitrary, ..RunOptions::default() };
            match run_with(&text, 1, &[0; 4096], LaunchConfig::default(), &options) {
                Ok(_) => false,
                Err(e) => matches!(e.kind, SimErrorKind::UndefinedRegister(_)) || panic!("{e}"),
            }
        };
        assert_eq!(run(None), run(Some(3)), "{body}");
        run(None)
    };
    let all = ArbitraryLanes::Executed;
    let table = [
        ("mov.b64 %rd4, 7; st.global.b64 [%rd3], %rd4;", true),
        ("mov.b64 %rd4, 7; add.u64 %rd5, %rd4, 1; @%p1 st.global.b64 [%rd3], %rd5;", true),
        ("mov.b64 %rd4, 7; add.u64 %rd5, %rd4, 1; mov.b64 %rd5, 3; st.global.b64 [%rd3], %rd5;", false),
        ("mov.b64 %rd4, 7; and.b64 %rd5, %rd4, 0; st.global.b64 [%rd3], %rd5;", false),
        ("mov.b64 %rd4, 7; setp.eq.u64 %p2, %rd4, 7; @%p2 bra E; E: ret;", true),
        ("mov.b64 %rd4, 7; ld.global.b64 %rd5, [%rd4];", true),
        ("mov.b64 %rd4, 7; cvt.u32.u64 %r5, %rd4; shfl.sync.idx.b32 %r6, %r5, 0, 31, -1;", true),
    ];
    for (body, expected) in table {
        assert_eq!(matters(all, body), expected, "{body}");
    }
    // Lane 0 stores, and the guard of the move holds only for lane 0.
    let guarded = "mov.b64 %rd4, 0; @%p1 mov.b64 %rd4, 7; @%p1 st.global.b64 [%rd3], %rd4;";
    for (lanes, expected) in [(all, true), (ArbitraryLanes::All, true), (ArbitraryLanes::Skipped, false)] {
        assert_eq!(matters(lanes, guarded), expected, "{lanes:?}");
    }
}
