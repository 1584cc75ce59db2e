//! sm_100: cluster launch control, pairs of CTAs, the order of `tcgen05` operations, and what strict mode reports.

mod common;
use common::{adversarial_error, adversarial_ok, all_ok, entry, newest, run_with};
use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions, SimError, SimErrorKind};

/// Plain, and seeds from 0 on.
fn schedules(seeds: u64) -> impl Iterator<Item = Option<u64>> {
    std::iter::once(None).chain((0..seeds).map(Some))
}

fn launch(text: &str, grid: u32, seed: Option<u64>, strict: bool) -> Result<Vec<u64>, SimError> {
    let options = RunOptions { adversarial: seed, strict, ..RunOptions::default() };
    run_with(text, grid, &[1; 4096], LaunchConfig::default(), &options).map(|run| run.out)
}

/// Whether the kernel fails with a message that contains `part` on at least one schedule.
#[track_caller]
fn fails(text: &str, grid: u32, strict: bool, part: &str) {
    let errors: Vec<String> =
        schedules(12).filter_map(|seed| launch(text, grid, seed, strict).err()).map(|e| e.to_string()).collect();
    assert!(errors.iter().any(|e| e.contains(part)), "'{part}' is not in {errors:#?}\n{text}");
}

fn wait(label: &str, bar: &str, parity: &str) -> String {
    format!("{label}: mbarrier.try_wait.parity.shared::cta.b64 %p9, [{bar}], {parity}; @!%p9 bra {label};")
}

const CLC: &str = ".shared .align 16 .b8 slot[16]; .shared .align 8 .b64 bar;";

/// Each CTA adds 1 to the output of its own index and of every CTA that it takes over, until it is refused.
fn persistent(after: &str) -> String {
    let body = format!(
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra E; mbarrier.init.shared::cta.b64 [bar], 1; mov.b32 %r2, %ctaid.x; mov.b32 %r3, 0;
NEXT: mul.wide.u32 %rd4, %r2, 256; add.s64 %rd4, %rd1, %rd4; red.relaxed.gpu.global.add.u64 [%rd4], 1;
mov.b32 %r4, slot; mov.b32 %r5, bar; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r4], [%r5];
{} xor.b32 %r3, %r3, 1; ld.shared.b128 %rq1, [slot]; fence.proxy.async.shared::cta;
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %rq1; @!%p2 bra OUT;
clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {{%r2, %r6, %r7, _}}, %rq1; bra NEXT;
OUT: {after} E:",
        wait("LAB_W", "bar", "%r3")
    );
    newest(&entry(CLC, 32, &body))
}

/// Every tile is done once, in whatever order clusters are granted. The seeds cover grants, random refusals and
/// refusals only.
#[test]
fn canceled_clusters_are_run_by_those_that_canceled_them() {
    let text = persistent("");
    let mut started = Vec::new();
    for seed in schedules(8) {
        let options = RunOptions { adversarial: seed, strict: true, ..RunOptions::default() };
        let run = run_with(&text, 24, &[1; 64], LaunchConfig::default(), &options);
        let run = run.unwrap_or_else(|e| panic!("{seed:?}: {e}"));
        assert!((0..24).all(|tile| run.out[32 * tile] == 1), "{seed:?} {:?}", run.out);
        started.push(run.report.stats.ctas);
    }
    // One CTA takes over all tiles in the plain schedule; some seeds grant and one of four refuses everything.
    assert_eq!(started[0], 1);
    assert_eq!((started[4], started[8]), (24, 24));
    assert!(started[1] < 24 && started[3] > started[1], "{started:?}");
}

/// Most requests are made before the rest of a small grid starts.
#[test]
fn small_grids_have_takeovers() {
    let text = persistent("");
    let started = |seed| {
        let options = RunOptions { adversarial: Some(seed), ..RunOptions::default() };
        run_with(&text, 4, &[1; 64], LaunchConfig::default(), &options).unwrap().report.stats.ctas
    };
    assert_eq!([0, 4, 1, 5, 3, 7].map(started), [1, 1, 2, 2, 4, 4]);
    assert!((0..8).any(|n| started(4 * n + 2) == 3), "some request of three CTAs is granted");
}

#[test]
fn requests_after_a_refusal_are_errors() {
    let again = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r4], [%r5];";
    for seed in schedules(4) {
        let e = launch(&persistent(again), 6, seed, false).expect_err("a second refusal").to_string();
        assert!(e.contains("`clusterlaunchcontrol.try_cancel") && e.contains("an earlier request was refused"), "{e}");
    }
    let unasked = persistent("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r2, %r6, %r7, _}, %rq1;");
    fails(&unasked, 6, false, "get_first_ctaid of a response that is not a cancellation");
    // Without the wait the response is still being written.
    let early = persistent("").replace(&wait("LAB_W", "bar", "%r3"), "");
    fails(&early, 6, false, "uninitialized read");
}

/// The programming guide releases the read of an answer to the asynchronous proxy. Strict mode requires it.
#[test]
fn answers_are_read_before_a_fence() {
    let text = persistent("");
    let unfenced = text.replace(" fence.proxy.async.shared::cta;", "");
    assert_ne!(text, unfenced);
    for seed in [0, 1, 4, 5] {
        launch(&text, 12, Some(seed), true).unwrap_or_else(|e| panic!("{seed}: {e}"));
        launch(&unfenced, 12, Some(seed), false).unwrap_or_else(|e| panic!("{seed}: {e}"));
    }
    fails(&unfenced, 12, true, "a fence.proxy.async is needed between the ordinary access and the asynchronous one");
}

/// A request of a cluster reaches all its CTAs, and the response names the first CTA of a cluster.
#[test]
fn responses_reach_all_ctas_of_a_cluster() {
    let body = format!(
        "mov.b32 %r2, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0; @!%p1 bra E; mbarrier.init.shared::cta.b64 [bar], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16; fence.mbarrier_init.release.cluster;
E: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; @!%p1 bra X; mov.b32 %r8, %ctaid.x; setp.ne.u32 %p3, %r2, 0; @%p3 bra LAB_W;
mov.b32 %r4, slot; mov.b32 %r5, bar;
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%r4], [%r5];
{} ld.shared.b128 %rq1, [slot]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %rq1; mov.b32 %r3, 99;
@%p2 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r3, %rq1;
mul.wide.u32 %rd4, %r8, 256; add.s64 %rd4, %rd1, %rd4; cvt.u64.u32 %rd5, %r3; st.global.b64 [%rd4], %rd5;
X: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        wait("LAB_W", "bar", "0")
    );
    let text =
        newest(&entry(CLC, 32, &body)).replace(".reqntid 32", ".explicitcluster .reqnctapercluster 2 .reqntid 32");
    for seed in schedules(4) {
        let out = launch(&text, 8, seed, true).unwrap_or_else(|e| panic!("{seed:?}: {e}"));
        let mut granted = 0;
        for cluster in 0..4 {
            let (first, second) = (out[32 * 2 * cluster], out[32 * (2 * cluster + 1)]);
            assert_eq!(first, second, "{seed:?}");
            granted += u64::from(first != 99 && first != 0);
            assert!(first == 99 || first.is_multiple_of(2), "{seed:?}: {first}");
        }
        assert!(seed.is_none_or(|s| s % 4 != 3) || granted == 0, "{seed:?}");
        assert!(seed.is_some() || granted == 2, "{granted}");
    }
}

const TMEM: &str = ".shared .align 4 .b32 slot; .shared .align 8 .b64 bar; .shared .align 8 .b64 bar2;";

const ALLOC: &str = "mov.b32 %r2, slot; setp.lt.u32 %p1, %r1, 32; @!%p1 bra S; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 32;
S: setp.eq.u32 %p5, %r1, 0; @%p5 mbarrier.init.shared::cta.b64 [bar], 1; @%p5 mbarrier.init.shared::cta.b64 [bar2], 1;
bar.sync 0; ld.shared.b32 %r3, [slot];";

const FREE: &str = "tcgen05.fence::before_thread_sync; bar.sync 0; @!%p1 bra E; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32; E:";

/// A warp reaches its own quarter of the lanes, whichever the address names.
#[test]
fn warps_reach_their_own_quarter() {
    let text = |quarter: &str| {
        let body = format!(
            "{ALLOC} {quarter} tcgen05.st.sync.aligned.32x32b.x2.b32 [%r5], {{%r1, 7}}; tcgen05.wait::st.sync.aligned;
tcgen05.ld.sync.aligned.32x32b.x2.b32 {{%r6, %r7}}, [%r5]; tcgen05.wait::ld.sync.aligned;
mov.b64 %rd4, {{%r6, %r7}}; st.global.b64 [%rd3], %rd4; {FREE}"
        );
        newest(&entry(TMEM, 128, &body))
    };
    let own = text("shr.u32 %r4, %r1, 5; shl.b32 %r4, %r4, 21; add.u32 %r5, %r3, %r4;");
    for (text, strict) in [(&own, true), (&text("mov.b32 %r5, %r3;"), false)] {
        assert_eq!(all_ok(text, 4, strict)[100], 7 << 32 | 100);
    }
    let e = adversarial_error(&text("mov.b32 %r5, %r3;"));
    assert!(e.to_string().contains("lanes outside the warp's quarter"), "{e}");
}

/// Commits of a thread arrive in order, except in strict mode.
#[test]
fn commits_arrive_in_order() {
    let body = format!(
        "{ALLOC} @!%p5 bra W; tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar2];
{} mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 0; selp.u64 %rd4, 1, 0, %p2; st.global.b64 [%rd3], %rd4;
W: {FREE}",
        wait("LAB_W", "bar2", "0")
    );
    let text = newest(&entry(TMEM, 32, &body));
    let first = |strict| schedules(20).map(|seed| launch(&text, 1, seed, strict).unwrap()[0]).collect::<Vec<_>>();
    assert!(first(false).iter().all(|done| *done == 1));
    assert!(first(true).contains(&0) && first(true).contains(&1));
}

/// The next scale factors may be copied over those that an earlier product of the thread reads: CUTLASS does so. The
/// pair is not in the ISA's list, so strict mode reports it.
#[test]
fn a_copy_follows_the_product_that_reads_its_destination() {
    let idesc = 1u32 << 4 | 1 << 7 | 1 << 10 | (32 / 8) << 17 | (128 / 16) << 24;
    let text = |between: &str| {
        let body = format!(
            "{ALLOC} mov.b32 %r8, ops; mov.b32 %r9, 0;
L: add.u32 %r10, %r8, %r9; st.shared.b32 [%r10], 0; add.u32 %r9, %r9, 4; setp.lt.u32 %p2, %r9, 16384; @%p2 bra L;
fence.proxy.async.shared::cta; bar.warp.sync -1; cvt.u64.u32 %rd5, %r8; shr.u64 %rd5, %rd5, 4; or.b64 %rd6, %rd5, 0x4000004000080000; or.b64 %rd6, %rd6, 0x400000000000;
mov.b32 %r11, {idesc}; add.u32 %r12, %r3, 16; setp.ne.u32 %p3, 0, 0; @!%p5 bra W;
tcgen05.cp.cta_group::1.128x256b [%r12], %rd6; tcgen05.mma.cta_group::1.kind::f16 [%r3], [%r12], %rd6, %r11, %p3;
{between} tcgen05.cp.cta_group::1.128x256b [%r12], %rd6;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar2]; {} W: {FREE}",
            wait("LAB_W", "bar2", "0")
        );
        let decls = format!("{TMEM} .shared .align 1024 .b8 ops[16384];");
        newest(&entry(&decls, 32, &body))
            .replace("slot], 32", "slot], 64")
            .replace("[%r2], 32", "[%r2], 64")
            .replace("%r3, 32;", "%r3, 64;")
    };
    let waits = format!(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar]; {}",
        wait("LAB_V", "bar", "0")
    );
    all_ok(&text(""), 5, false);
    all_ok(&text(&waits), 5, true);
    let e = adversarial_error(&text("")).to_string();
    assert!(e.contains("`tcgen05.cp") && e.contains("is in flight: `tcgen05.mma"), "{e}");
}

/// Both CTAs of a pair must run before either allocates for the pair.
#[test]
fn paired_allocation_waits_for_the_other_cta() {
    let text = |barrier: &str| {
        let body = format!(
            "mov.b32 %r2, slot; {barrier} tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r2], 32;
tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned; ld.shared.b32 %r3, [slot];
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r3, 32;"
        );
        newest(&entry(TMEM, 32, &body)).replace(".reqntid 32", ".explicitcluster .reqnctapercluster 2 .reqntid 32")
    };
    for seed in schedules(6) {
        for arrive in ["arrive", "arrive.relaxed"] {
            let good = text(&format!("barrier.cluster.{arrive}.aligned; barrier.cluster.wait.aligned;"));
            launch(&good, 2, seed, true).unwrap_or_else(|e| panic!("{seed:?}: {e}"));
        }
        let e = launch(&text(""), 2, seed, false).expect_err("no barrier").to_string();
        assert!(e.contains("nothing says that the other CTA has started"), "{e}");
    }
}

/// A commit may arrive at the mbarriers of several CTAs.
#[test]
fn commits_reach_the_ctas_of_their_mask() {
    let text = |mask: u32| {
        let body = format!(
            "mov.b32 %r2, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; setp.ne.u32 %p2, %r2, 0; @!%p1 bra X; @%p2 bra LAB_W; mov.b16 %rs1, {mask};
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], %rs1;
{} mov.b64 %rd4, 1; st.global.b64 [%rd3], %rd4; X: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
            wait("LAB_W", "bar", "0")
        );
        newest(&entry(TMEM, 32, &body)).replace(".reqntid 32", ".explicitcluster .reqnctapercluster 2 .reqntid 32")
    };
    for seed in schedules(4) {
        launch(&text(3), 2, seed, true).unwrap_or_else(|e| panic!("{seed:?}: {e}"));
        let e = launch(&text(1), 2, seed, true).expect_err("the other CTA waits");
        assert!(common::is_deadlock(&e), "{e}");
    }
}

/// `barrier.cluster.arrive.relaxed` passes on only what a fence precedes.
#[test]
fn relaxed_cluster_barriers_need_a_fence() {
    let text = |fence: &str| {
        let body = format!(
            "mov.b32 %r2, %cluster_ctarank; setp.ne.u32 %p1, %r1, 0; @%p1 bra B; mbarrier.init.shared::cta.b64 [bar], 1; {fence}
B: barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned; @%p1 bra X; setp.ne.u32 %p2, %r2, 0; @%p2 bra LAB_W;
mov.b32 %r4, bar; mapa.shared::cluster.u32 %r5, %r4, 1; mov.b32 %r6, s; mapa.shared::cluster.u32 %r7, %r6, 1;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%rd2], 16, [%r5]; bra X;
LAB_W: mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16; {} ld.shared.b64 %rd4, [s]; st.global.b64 [%rd3], %rd4;
X: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
            wait("LAB_V", "bar", "0")
        );
        let decls = ".shared .align 16 .b8 s[16]; .shared .align 8 .b64 bar;";
        newest(&entry(decls, 32, &body)).replace(".reqntid 32", ".explicitcluster .reqnctapercluster 2 .reqntid 32")
    };
    let good = text("fence.mbarrier_init.release.cluster;");
    for seed in schedules(6) {
        launch(&good, 2, seed, true).unwrap_or_else(|e| panic!("{seed:?}: {e}"));
    }
    let found = (0..12).any(|seed| {
        let e = launch(&text(""), 2, Some(seed), false).err();
        e.is_some_and(|e| matches!(e.kind, SimErrorKind::Race(_)) && e.to_string().contains("mbarrier.init"))
    });
    assert!(found);
}

/// Warps that store one value to the same bytes do not race, but a reader must come after all of them.
#[test]
fn equal_writes_do_not_race() {
    let text = |value: &str, sync: &str| {
        let body =
            format!("{value} st.shared.b64 [s], %rd4; {sync} ld.shared.b64 %rd5, [s]; st.global.b64 [%rd3], %rd5;");
        entry(".shared .align 8 .b64 s;", 64, &body)
    };
    assert_eq!(adversarial_ok(&text("mov.b64 %rd4, 5;", "bar.sync 0;"), 10)[40], 5);
    for text in [text("mov.b64 %rd4, 5;", ""), text("shr.u32 %r2, %r1, 5; cvt.u64.u32 %rd4, %r2;", "bar.sync 0;")] {
        let e = adversarial_error(&text);
        assert!(matches!(e.kind, SimErrorKind::Race(_)), "{e}");
    }
    // Values of different sizes are different writes.
    let e = adversarial_error(&entry(
        ".shared .align 8 .b64 s;",
        64,
        "setp.lt.u32 %p1, %r1, 32; @%p1 st.shared.b32 [s], 0; @!%p1 st.shared.b8 [s], 0;",
    ));
    assert!(matches!(e.kind, SimErrorKind::Race(_)), "{e}");
    // All lanes start the same bulk store, as the epilogue of a known library does.
    let store = "mov.b32 %r2, s; mov.b32 %r3, 9; shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r2; st.shared.b32 [%r4], %r3;
fence.proxy.async.shared::cta; bar.sync 0; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 128;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
    assert_eq!(adversarial_ok(&entry(".shared .align 128 .b8 s[128];", 32, store), 6)[3], 9 << 32 | 9);
}

/// A CTA may exit while a bulk store still reads its shared memory; strict mode asks for `wait_group.read`.
#[test]
fn exits_before_bulk_stores() {
    let store = |wait: &str| {
        let body = format!(
            "mov.b32 %r2, s; shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r2; st.shared.b32 [%r4], %r1; fence.proxy.async.shared::cta;
bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra E; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256; cp.async.bulk.commit_group; {wait} E:"
        );
        entry(".shared .align 128 .b8 s[256];", 64, &body)
    };
    assert_eq!(all_ok(&store(""), 8, false)[31], 63 << 32 | 62);
    assert_eq!(all_ok(&store("cp.async.bulk.wait_group.read 0;"), 8, true)[31], 63 << 32 | 62);
    let e = adversarial_error(&store("")).to_string();
    assert!(e.contains("the CTA exits while this copy may still read its shared memory"), "{e}");
}

/// The static shared memory of an entry does not count for the others of its module.
#[test]
fn entries_have_shared_memory_of_their_own() {
    let kernel = |name: &str, add: u32| {
        format!(
            ".visible .entry {name}(.param .u64 p0) .reqntid 32 {{ .shared .align 16 .b8 own[150000]; .reg .b64 %rd<4>; .reg .b32 %r<8>;
ld.param.b64 %rd1, [p0]; mov.u32 %r1, %tid.x; mov.b32 %r2, own; mov.b32 %r3, of_{name}; add.u32 %r4, %r1, {add};
st.shared.b32 [%r2+149000], %r4; st.shared.b32 [%r3+40000], %r4; ld.shared.b32 %r5, [%r2+149000]; ld.shared.b32 %r6, [%r3+40000];
add.u32 %r5, %r5, %r6; st.global.b32 [%rd1], %r5; ret; }}\n"
        )
    };
    let text = format!(
        "{}.shared .align 16 .b8 of_first[50000]; .shared .align 16 .b8 of_second[50000];\n{}{}",
        common::HEADER,
        kernel("first", 0).replace("%tid.x", "%ctaid.x"),
        kernel("second", 7).replace("%tid.x", "%ctaid.x")
    );
    let module = Module::parse(&text).unwrap();
    let mut device = Device::new(Config::default());
    for (name, want) in [("first", 0u32), ("second", 14)] {
        let out = device.alloc(4);
        let args = [Arg::Ptr(out)];
        let config = LaunchConfig { grid: [1; 3], args: &args, ..LaunchConfig::default() };
        device.launch(&module, name, &config, &RunOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let mut bytes = [0; 4];
        device.read(out, &mut bytes).unwrap();
        assert_eq!(u32::from_le_bytes(bytes), want);
    }
    let too_much = text.replace("own[150000]", "own[190000]");
    let module = Module::parse(&too_much).unwrap();
    let args = [Arg::Ptr(device.alloc(4))];
    let config = LaunchConfig { grid: [1; 3], args: &args, ..LaunchConfig::default() };
    let e = device.launch(&module, "first", &config, &RunOptions::default()).unwrap_err().to_string();
    assert!(e.contains("bytes of shared memory, but only"), "{e}");
}
