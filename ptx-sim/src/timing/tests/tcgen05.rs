//! `tcgen05` and tensor memory on sm_100, checked against published figures: rates, latencies of waits, and
//! dependences.

use super::*;

/// An MMA: its kind, rows and columns of D, and how it executes.
#[derive(Clone, Copy)]
struct Product {
    kind: &'static str,
    m: u32,
    n: u32,
    a_tmem: bool,
    ws: bool,
    pair: bool,
}

const F16: Product = Product { kind: "f16", m: 128, n: 256, a_tmem: false, ws: false, pair: false };

impl Product {
    /// The instruction descriptor. Operand types are the first of each kind; accumulators are f32 or s32.
    fn descriptor(self) -> u32 {
        let (types, sum) = match self.kind {
            "tf32" => (2 << 7 | 2 << 10, 1),
            "i8" => (1 << 7 | 1 << 10, 2),
            "mxf4" | "mxf4nvf4" => (1 << 7 | 1 << 10, 0),
            _ => (0, 1),
        };
        let scaled = self.kind.starts_with("mx");
        let rows = if scaled { (self.m / 128) << 27 | 1 << 23 } else { (self.m / 16) << 24 };
        types | (self.n / 8) << 17 | rows | if scaled { 0 } else { sum << 4 }
    }

    fn group(self) -> u32 {
        if self.pair { 2 } else { 1 }
    }

    /// The MMA into the accumulator at a register's address, by the threads in which a predicate is true.
    fn text(self, d: &str, by: &str) -> String {
        let (ws, a) = (if self.ws { ".ws" } else { "" }, if self.a_tmem { "[%r5]" } else { "%rd5" });
        let scales = if self.kind.starts_with("mx") { "[%r5], [%r5], " } else { "" };
        let scaled = if scales.is_empty() { "" } else { ".block_scale" };
        format!(
            "mov.b32 %r7, {}; @{by} tcgen05.mma{ws}.cta_group::{}.kind::{}{scaled} [{d}], {a}, %rd5, %r7, {scales}%p0;\n",
            self.descriptor(),
            self.group(),
            self.kind
        )
    }
}

/// A kernel whose body is a loop of `n` iterations. The first warp has allocated tensor memory at `%r5`. `%p1` is true
/// in that warp and `%p2` in its first thread; in a pair, in those of the first CTA. `bar` has eight mbarriers, each
/// expecting the number of arrivals that `counts` gives.
fn kernel(threads: u32, group: u32, columns: u32, counts: [u32; 8], setup: &str, body: &str) -> String {
    let init: String =
        (0..8).map(|i| format!("@%p3 mbarrier.init.shared::cta.b64 [bar+{}], {};\n", 8 * i, counts[i])).collect();
    let (cluster, start) = match group {
        2 => (".explicitcluster .reqnctapercluster 2, 1, 1", "barrier.cluster.arrive; barrier.cluster.wait;"),
        _ => ("", ""),
    };
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)
         .reqntid {threads} {cluster} {{
           .reg .b64 %rd<16>; .reg .b32 %r<300>; .reg .pred %p<8>;
           .shared .align 1024 .b8 s[65536]; .shared .align 8 .b64 bar[8]; .shared .align 4 .b32 base;
           ld.param.b64 %rd1, [p]; ld.param.b32 %r1, [n]; mov.u32 %r2, %tid.x; mov.b32 %r3, 0; mov.b32 %r4, base;
           mov.b64 %rd5, -4611615580963667968; mov.b32 %r8, 0; mov.u32 %r9, %cluster_ctarank; or.b32 %r9, %r9, %r2;
           setp.lt.u32 %p1, %r2, 32; setp.eq.u32 %p2, %r9, 0; setp.eq.u32 %p3, %r2, 0; setp.eq.u32 %p0, %r2, %r2;
           {init} {start} @!%p1 bra A;
           tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [%r4], {columns};
         A: bar.sync 0; ld.shared.b32 %r5, [%r4]; mov.b32 %r6, s; {setup}
         L: {body}
           add.s32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, %r1; @%p4 bra L;
           bar.sync 0; @!%p1 bra Z;
           tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %r5, {columns};
         Z: ret; }}"
    )
}

fn predicted(text: &str, grid: u32, n: u32) -> Prediction {
    predicted_as(text, grid, n, &Options::default())
}

fn predicted_as(text: &str, grid: u32, n: u32, options: &Options) -> Prediction {
    let module = Module::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut device = Device::new(Config::default());
    let args = [Arg::Ptr(device.alloc_zeroed(1 << 20)), Arg::U32(n)];
    let launch = LaunchConfig { grid: [grid, 1, 1], args: &args, ..LaunchConfig::default() };
    predict(&mut device, &module, "k", &launch, &Machine::named("sm_100").unwrap(), options).unwrap()
}

fn turn_of(text: &str, grid: u32) -> f64 {
    (predicted(text, grid, 40).clocks - predicted(text, grid, 20).clocks) / 20.0
}

fn number(key: &str) -> f64 {
    Machine::named("sm_100").unwrap().get(key).unwrap()
}

/// Waits for a phase of an mbarrier.
fn wait(bar: &str, parity: &str) -> String {
    format!(
        "{{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [{bar}], {parity};
         @!done bra again; }}\n"
    )
}

/// MMAs of one thread, whose warp waits for the last. The CTAs of a pair also wait for each other.
fn chain(p: Product, count: usize) -> String {
    let both = if p.pair { "barrier.cluster.arrive; barrier.cluster.wait;" } else { "" };
    let (cast, mask) = if p.pair { (".multicast::cluster", ", %rs1") } else { ("", "") };
    let commit = format!(
        "tcgen05.commit.cta_group::{}.mbarrier::arrive::one.shared::cluster{cast}.b64 [%r10]{mask};",
        p.group()
    );
    let products = p.text("%r5", "%p2").repeat(count);
    let body = format!("{products} @%p2 {commit} {} {both} xor.b32 %r8, %r8, 1;", wait("bar", "%r8"));
    let setup = format!(".reg .b16 %rs<2>; mov.b16 %rs1, 3; mov.b32 %r10, bar; {both}");
    kernel(32, p.group(), 512, [1; 8], &setup, &body)
}

/// Clocks of one MMA in a long chain.
fn interval(p: Product) -> f64 {
    let grid = p.group();
    (turn_of(&chain(p, 48), grid) - turn_of(&chain(p, 16), grid)) / 32.0
}

/// Published multiply-adds per clock and SM, for each kind.
#[test]
fn chains_have_the_published_rate_of_their_kind() {
    for (kind, k, published) in [
        ("tf32", 8.0, 2048.0),
        ("f16", 16.0, 4096.0),
        ("f8f6f4", 32.0, 8192.0),
        ("i8", 32.0, 8192.0),
        ("mxf8f6f4", 32.0, 8192.0),
        ("mxf4", 64.0, 16384.0),
        ("mxf4nvf4", 64.0, 16384.0),
    ] {
        let clk = interval(Product { kind, ..F16 });
        let found = 128.0 * 256.0 * k / clk;
        assert!((found / published - 1.0).abs() < 0.01, "{kind}: {found} of {published}");
    }
}

/// Half of the rows use half of the tensor core, unless the columns are split. With few columns, reading operands from
/// shared memory at 128 bytes per clock is the limit, except when A is in tensor memory. In a pair each SM does half.
#[test]
fn shapes_and_where_operands_lie() {
    let of = |m, n| Product { m, n, ..F16 };
    let pair = |m, n| Product { pair: true, ..of(m, n) };
    for (what, p, clk) in [
        ("128x128", of(128, 128), 64.0),
        ("128x64", of(128, 64), 48.0),
        ("128x64, A in tensor memory", Product { a_tmem: true, ..of(128, 64) }, 32.0),
        ("64x256", of(64, 256), 128.0),
        ("64x256, columns split", Product { ws: true, ..of(64, 256) }, 80.0),
        ("64x256, columns split, A in tensor memory", Product { ws: true, a_tmem: true, ..of(64, 256) }, 64.0),
        ("256x256 of a pair", pair(256, 256), 128.0),
        ("128x256 of a pair", pair(128, 256), 64.0),
        ("256x64 of a pair", pair(256, 64), 40.0),
    ] {
        let found = interval(p);
        assert!((found - clk).abs() < 0.5, "{what}: {found} and not {clk}");
    }
}

/// The CTA of a pair that issues nothing would wait forever for its mbarrier, which the other CTA's commit signals.
/// The other CTA represents both, and takes as long as a single CTA that multiplies half as many rows.
#[test]
fn one_block_of_a_pair_stands_for_both() {
    let clocks = |p: Product| predicted(&chain(p, 16), 4 * number("sm.count") as u32, 10).clocks;
    let (pair, alone) = (clocks(Product { m: 256, pair: true, ..F16 }), clocks(F16));
    assert!((pair / alone - 1.0).abs() < 0.02, "{pair} {alone}");
}

/// The leader of a pair waits for arrivals of both CTAs, and for some of the other CTA alone. Both count as its own, so
/// the loop has a time, which is that of a leader that waits for as many arrivals of its own.
#[test]
fn leaders_wait_for_the_other_block() {
    let p = Product { m: 256, pair: true, ..F16 };
    let text = |arrive: &str, count: u32| {
        let (setup, both) = (
            ".reg .b16 %rs<2>; mov.b16 %rs1, 3; mov.b32 %r10, bar; mapa.shared::cluster.u32 %r12, %r10, 0; setp.eq.u32 %p6, %r2, 0;
             mov.u32 %r13, %cluster_ctarank; setp.ne.u32 %p7, %r13, 0;",
            "barrier.cluster.arrive; barrier.cluster.wait;",
        );
        let body = format!(
            "{arrive} @%p2 bra GO; bra.uni REST; GO: {} {}
             @%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r10], %rs1;
             REST: {} {both} xor.b32 %r8, %r8, 1;",
            wait("bar+8", "%r8"),
            p.text("%r5", "%p2").repeat(8),
            wait("bar", "%r8"),
        );
        let mut counts = [1; 8];
        counts[1] = count;
        kernel(32, 2, 512, counts, &format!("{setup} {both}"), &body)
    };
    let arrive = |guard: &str| format!("@{guard} mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12+8];");
    let alone = turn_of(&text(&arrive("%p2"), 1), 2);
    let both = turn_of(&text(&arrive("%p6"), 2), 2);
    // Predicate 7 holds in the other CTA only, where thread 0 arrives.
    let other = "{ .reg .pred only; and.pred only, %p6, %p7; @!only bra.uni NOT;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12+8]; NOT: }";
    let other = turn_of(&text(other, 1), 2);
    assert!((both / alone - 1.0).abs() < 0.05 && (other / alone - 1.0).abs() < 0.1, "{alone} {both} {other}");
}

/// A kernel that takes over clusters, with an addition `turns` times for each tile.
fn takeover(turns: u32) -> String {
    takeover_of(&format!("mov.b32 %r9, {turns};"))
}

/// The same, with the number of turns in `%r9` after the text `turns`, which finds the number of the tile in `%r7`.
fn takeover_of(turns: &str) -> String {
    format!(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) .reqntid 32 {{
           .reg .b32 %r<16>; .reg .f32 %f<4>; .reg .pred %p<8>; .reg .b128 %q<2>; .reg .b64 %rd<4>;
           .shared .align 16 .b8 slot[16]; .shared .align 8 .b64 bar; .shared .align 4 .b8 room[200000];
           mov.u32 %r2, %tid.x; mov.u32 %r7, %ctaid.x; mov.b32 %r4, slot; mov.b32 %r5, bar; mov.b32 %r8, 0; setp.eq.u32 %p1, %r2, 0; mov.f32 %f1, 0f00000000;
           mov.f32 %f2, 0f00000000; @%p1 mbarrier.init.shared::cta.b64 [bar], 1; bar.warp.sync -1;
         L: @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
           @%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r4], [%r5];
           {turns} mov.b32 %r3, 0; T: add.f32 %f1, %f1, %f2; add.s32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, %r9; @%p4 bra T;
           {} xor.b32 %r8, %r8, 1; ld.shared.b128 %q1, [slot];
           clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q1; @!%p2 bra E;
           clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r7, %q1; bra L; E: ret; }}",
        wait("bar", "%r8"),
    )
}

/// A kernel that takes over clusters runs all tiles, and takes as long as one with a loop over as many, plus the time
/// of a request where it is not hidden.
#[test]
fn takeovers_take_the_time_of_their_tiles() {
    let text = takeover(400);
    let sms = number("sm.count") as u32;
    let clocks = |tiles: u32| predicted(&text, tiles * sms, 0).clocks;
    let each = (clocks(9) - clocks(3)) / 6.0;
    // 400 turns of an addition and the loop; the request is answered meanwhile.
    let alone = {
        let one = takeover(800);
        (predicted(&one, 9 * sms, 0).clocks - predicted(&one, 3 * sms, 0).clocks) / 6.0 - each
    };
    assert!(each > 400.0 * 4.0 && (alone / each - 1.0).abs() < 0.2, "{each} {alone}");
    // With nothing to do, a tile takes the latency of the request.
    let idle = takeover(1);
    let idle = (predicted(&idle, 9 * sms, 0).clocks - predicted(&idle, 3 * sms, 0).clocks) / 6.0;
    let least = number("clc.latency") + number("mbarrier.edge");
    assert!((least..least + 120.0).contains(&idle), "{idle} of {least}");
}

/// If the work of a tile depends on its row, and the number of rows divides that of SMs, each SM runs tiles of all
/// rows: it takes as long as with tiles of mean work.
#[test]
fn takeovers_run_tiles_of_all_rows() {
    let sms = number("sm.count") as u32;
    assert!(sms.is_multiple_of(4));
    let by_row = takeover_of("and.b32 %r9, %r7, 3; mad.lo.s32 %r9, %r9, 200, 100;");
    let clocks = |text: &str| predicted(text, 8 * sms, 0).clocks;
    let (by_row, mean) = (clocks(&by_row), clocks(&takeover(400)));
    assert!((by_row / mean - 1.0).abs() < 0.1, "{by_row} {mean}");
}

/// A cluster without work takes over before one that works: if every other tile is empty, two tiles for each SM take
/// as long as one that is not.
#[test]
fn clusters_without_work_take_over_first() {
    // Tiles with work access memory.
    let turns = |every: u32| {
        format!(
            "rem.u32 %r9, %r7, {every}; setp.eq.u32 %p4, %r9, 0; selp.b32 %r9, 4000, 1, %p4;
             ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r2, 128; add.u64 %rd1, %rd1, %rd2;
             @%p4 ld.global.b32 %r10, [%rd1];"
        )
    };
    let sms = number("sm.count") as u32;
    let half = predicted(&takeover_of(&turns(2)), 2 * sms, 0).clocks;
    let one = predicted(&takeover_of(&turns(1)), sms, 0).clocks;
    let two = predicted(&takeover_of(&turns(1)), 2 * sms, 0).clocks;
    assert!(two > 1.8 * one, "{one} {two}");
    assert!((half / one - 1.0).abs() < 0.05, "{one} {half}");
}

/// A launch of two rounds runs them in the order of the grid: here the second has a tenth of the work.
#[test]
fn rounds_follow_the_order_of_the_grid() {
    let text = |turns: &str| {
        format!(
            ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) .reqntid 32 {{
               .reg .b32 %r<16>; .reg .f32 %f<4>; .reg .pred %p<8>; .shared .align 4 .b8 room[200000];
               mov.u32 %r7, %ctaid.x; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; {turns} mov.b32 %r3, 0;
             T: add.f32 %f1, %f1, %f2; add.s32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, %r9; @%p4 bra T; ret; }}"
        )
    };
    let sms = number("sm.count") as u32;
    let of = |turns: &str, blocks: u32| predicted(&text(turns), blocks, 0).clocks;
    let both = of(&format!("setp.lt.u32 %p4, %r7, {sms}; selp.b32 %r9, 4000, 400, %p4;"), 2 * sms);
    let one = of("mov.b32 %r9, 4000;", sms);
    assert!((1.05..1.2).contains(&(both / one)), "{one} {both}");
}

/// A block of the image with a spill replaces the block of the PTX only if the image shows everything that others wait
/// for. A listing does not show the request's answer.
#[test]
fn an_image_with_a_spill_keeps_the_request() {
    let image = listed("S2R R0, SR_TID.X", 1, 0, None)
        + ".L_x_0:\n"
        + &listed("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ", 1, 0, None)
        + &listed("STL [R1], R2", 1, 0, None);
    let options = Options { listing: Some(image), ..Options::default() };
    let text = takeover(400);
    let tiles = 3 * number("sm.count") as u32;
    assert_eq!(predicted_as(&text, tiles, 0, &options).clocks, predicted(&text, tiles, 0).clocks);
}

/// Waiting for one MMA takes its duration, the latency to the mbarrier, and the wake-up of the warps.
#[test]
fn a_commit_takes_the_latency() {
    let found = turn_of(&chain(F16, 1), 1);
    let least = number("tcgen05.f16.n256.interval") + number("tcgen05.completion") + number("mbarrier.edge");
    assert!((least..least + 40.0).contains(&found), "{found} of {least}");
    // With nothing to wait for, the commit signals the mbarrier at once.
    let none = turn_of(&chain(F16, 0), 1);
    assert!(none < number("mbarrier.edge") + 40.0, "{none}");
}

/// Waiting after every few MMAs reaches the shares of the peak that SemiAnalysis measured: 78 to 80 % with four in
/// flight and 90 % with ten. None of the machine's numbers was derived from these.
#[test]
fn few_products_in_flight() {
    for (count, share) in [(4, 0.79), (10, 0.90)] {
        let clk = turn_of(&chain(F16, count), 1);
        let found = count as f64 * number("tcgen05.f16.n256.interval") / clk;
        assert!((found - share).abs() < 0.03, "{count}: {found} and not {share}");
    }
}

/// Copies and shifts execute in order with MMAs, and a commit waits for them too.
#[test]
fn copies_and_shifts_of_tensor_memory() {
    // The copied data must be initialized.
    let setup = "mov.b64 %rd7, 0; M: st.shared.b64 [%r6], %rd7; add.u32 %r6, %r6, 8; setp.lt.u32 %p5, %r6, %r11;
        @%p5 bra M; mov.b32 %r6, s; shr.u32 %r11, %r6, 4; cvt.u64.u32 %rd6, %r11; or.b64 %rd6, %rd6, %rd5;";
    let with = |text: &str| {
        let copies = format!("{} @%p2 tcgen05.commit", format!("@%p2 {text}").repeat(16));
        let copies = if text.is_empty() { "@%p2 tcgen05.commit".into() } else { copies };
        let text = chain(F16, 1).replace("@%p2 tcgen05.commit", &copies);
        turn_of(&text.replace(" L: ", &format!("add.u32 %r11, %r6, 8192; {setup} L: ")), 1)
    };
    let plain = with("");
    let of = |text: &str| (with(text) - plain) / 16.0;
    for (shape, bytes) in
        [("128x256b", 4096.0), ("128x128b", 2048.0), ("64x128b.warpx2::02_13", 1024.0), ("32x128b.warpx4", 512.0)]
    {
        let found = of(&format!("tcgen05.cp.cta_group::1.{shape} [%r5], %rd6;"));
        assert!((found - bytes / number("shared.bytes_per_clk")).abs() < 0.1, "{shape}: {found}");
    }
    let found = of("tcgen05.shift.cta_group::1.down [%r5];");
    assert!((found - number("tcgen05.shift.interval")).abs() < 0.1, "{found}");
}

/// The warps of each scheduler share one quarter of tensor memory.
#[test]
fn loads_and_stores_have_the_bandwidth_of_tensor_memory() {
    let registers = (16..48).map(|i| format!("%r{i}")).collect::<Vec<_>>().join(", ");
    let turn = |threads: u32, count: usize, text: &str, wait: &str| {
        let setup = "shl.b32 %r11, %r2, 16; and.b32 %r11, %r11, 0x600000; add.u32 %r5, %r5, %r11;";
        let body = format!("{} tcgen05.wait::{wait}.sync.aligned;", text.repeat(count));
        turn_of(&kernel(threads, 1, 512, [1; 8], setup, &body), 1)
    };
    let load = format!("tcgen05.ld.sync.aligned.32x32b.x32.b32 {{{registers}}}, [%r5];");
    let packed = load.replace(".b32 {", ".pack::16b.b32 {");
    let store = format!("tcgen05.st.sync.aligned.32x32b.x32.b32 [%r5], {{{registers}}};");
    let bytes = 32.0 * 32.0 * 4.0;
    for (threads, text, kind, factor) in [
        (128, &load, "ld", 1.0),
        (32, &load, "ld", 1.0),
        (256, &load, "ld", 2.0),
        (128, &packed, "ld", 2.0),
        (128, &store, "st", 1.0),
        (256, &store, "st", 2.0),
    ] {
        let each = (turn(threads, 16, text, kind) - turn(threads, 8, text, kind)) / 8.0;
        let expected = factor * bytes / number(&format!("tcgen05.{kind}.rate"));
        assert!((each / expected - 1.0).abs() < 0.02, "{text}, {threads} threads: {each} of {expected}");
        // Two warps would hide each other's latency.
        let (alone, latency) = (turn(128, 1, text, kind), number(&format!("tcgen05.{kind}.latency")));
        let least = latency + if threads > 128 { expected / factor } else { expected };
        assert!((least..least + 20.0).contains(&alone), "{text}: {alone} of {least}");
    }
}

/// Four warps read the results of a fifth, which rotates over `accumulators` accumulators.
fn epilogue(accumulators: u32) -> String {
    let registers = (16..144).map(|i| format!("%r{i}")).collect::<Vec<_>>().join(", ");
    let load = format!("tcgen05.ld.sync.aligned.32x32b.x128.b32 {{{registers}}}, [%r14];");
    let body = format!(
        "rem.u32 %r11, %r3, {accumulators}; div.u32 %r12, %r3, {accumulators}; and.b32 %r12, %r12, 1;
         shl.b32 %r13, %r11, 3; mov.b32 %r10, bar; add.u32 %r13, %r10, %r13;
         shl.b32 %r14, %r11, 8; add.u32 %r14, %r14, %r5;
         setp.ge.u32 %p5, %r2, 128; @!%p5 bra E; setp.eq.u32 %p6, %r2, 128;
         xor.b32 %r15, %r12, 1; {} {}
         @%p6 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r13]; bra N;
         E: {} shl.b32 %r15, %r2, 16; and.b32 %r15, %r15, 0x600000; add.u32 %r14, %r14, %r15;
         {load} add.u32 %r14, %r14, 128; {load}
         tcgen05.wait::ld.sync.aligned; mbarrier.arrive.shared::cta.b64 _, [%r13+32];
         N:",
        wait("%r13+32", "%r15"),
        F16.text("%r14", "%p6").repeat(8),
        wait("%r13", "%r12"),
    );
    kernel(160, 1, 512, [1, 1, 1, 1, 128, 128, 128, 128], "", &body)
}

/// With one accumulator, MMAs wait until it has been read; with two, reading one overlaps with computing the other.
#[test]
fn two_accumulators_overlap() {
    let (one, two) = (turn_of(&epilogue(1), 1), turn_of(&epilogue(2), 1));
    let products = 8.0 * number("tcgen05.f16.n256.interval");
    let loads = 256.0 * 128.0 / number("tcgen05.ld.rate");
    assert!(one > products + loads, "{one} of {products} and {loads}");
    assert!((products..1.05 * products).contains(&two), "{two} of {products}");
}

/// A ring of four stages, filled by one thread's copies and drained by another's MMAs: the slower one is the limit.
fn ring(products: usize) -> String {
    let commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64";
    let body = format!(
        "and.b32 %r11, %r3, 3; shr.u32 %r12, %r3, 2; and.b32 %r12, %r12, 1; shl.b32 %r13, %r11, 3;
         mov.b32 %r10, bar; add.u32 %r13, %r10, %r13; shl.b32 %r14, %r11, 14; add.u32 %r14, %r14, %r6;
         setp.lt.u32 %p5, %r2, 32; @%p5 bra P; setp.eq.u32 %p6, %r2, 32;
         {} {} @%p6 {commit} [%r13+32]; bra N;
         P: xor.b32 %r15, %r12, 1; {}
         @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r13], 16384;
         @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r14], [%rd1], 16384, [%r13];
         N:",
        wait("%r13", "%r12"),
        F16.text("%r5", "%p6").repeat(products),
        wait("%r13+32", "%r15"),
    );
    kernel(64, 1, 512, [1; 8], "", &body)
}

#[test]
fn a_ring_is_bound_by_the_slower_of_copies_and_products() {
    let (few, many) = (turn_of(&ring(1), 1), turn_of(&ring(8), 1));
    let (copies, product) = (16384.0 / number("l2.one_sm"), number("tcgen05.f16.n256.interval"));
    // Four stages in flight hide part of a copy's latency, and one MMA is faster than a copy.
    assert!(few > copies.max(product) && few < 2.0 * copies, "{few} of {copies}");
    assert!((8.0 * product..8.05 * product).contains(&many), "{many} of {product}");
}

/// If warps read shared memory too, A in tensor memory leaves them more bandwidth.
#[test]
fn operands_in_shared_memory_keep_warps_from_it() {
    let turn = |a_tmem: bool| {
        let p = Product { n: 128, a_tmem, ..F16 };
        let loads: String = (16..80).map(|i| format!("ld.shared.b32 %r{i}, [%r11];")).collect();
        let uses: String = (16..80).map(|i| format!("xor.b32 %r12, %r12, %r{i};")).collect();
        let products = format!(
            "{} @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r10]; {loads} {uses} {}
             xor.b32 %r8, %r8, 1; bar.sync 0;",
            p.text("%r5", "%p2").repeat(8),
            wait("bar", "%r8")
        );
        let setup = "mov.b32 %r10, bar; shl.b32 %r11, %r2, 2; add.u32 %r11, %r11, %r6; st.shared.b32 [%r11], %r2;";
        turn_of(&kernel(256, 1, 512, [1; 8], setup, &products), 1)
    };
    let (shared, tensor) = (turn(false), turn(true));
    // Eight MMAs of 64 clocks, which read shared memory for 64 or 32 clocks, and 8 warps with 64 clocks each.
    assert!((1023.0..1100.0).contains(&shared), "{shared}");
    assert!((767.0..900.0).contains(&tensor), "{tensor}");
}

/// Resident CTAs share the columns of tensor memory: one that gets none waits.
#[test]
fn columns_limit_what_runs_together() {
    let of = |columns: u32| {
        let text = chain(F16, 1).replace("s[65536]", "s[1024]").replace(", 512;", &format!(", {columns};"));
        predicted(&text, 2 * number("sm.count") as u32, 100)
    };
    let (all, half) = (of(512), of(256));
    assert!(all.resident > 1 && all.resident == half.resident, "{} {}", all.resident, half.resident);
    assert!(all.clocks > 1.5 * half.clocks, "{} {}", all.clocks, half.clocks);
    let waits =
        |p: &Prediction| p.waits.iter().find(|(r, _)| *r == Reason::TensorMemory).map_or(0.0, |(_, share)| *share);
    assert!(waits(&all) > 4.0 * waits(&half), "{:?} {:?}", all.waits, half.waits);
}

/// The report shows the use of the tensor core and tensor memory, and charges waits to the MMA and the load.
#[test]
fn reports_of_tensor_memory() {
    let p = predicted(&epilogue(1), 1, 50);
    let busy = |name: &str| p.busy.iter().find(|(n, _)| *n == name).map_or(0.0, |(_, share)| *share);
    assert!(busy("tcgen05") > 0.5 && busy("tcgen05") < 0.7, "{:?}", p.busy);
    assert!(busy("tensor memory") > 0.2 && busy("tensor memory") < 0.5, "{:?}", p.busy);
    let caused = |text: &str, why: Reason| {
        p.lines.iter().filter(|l| l.text.contains(text)).map(|l| l.cost.caused[why as usize]).sum::<f64>()
    };
    // Four warps wait for MMAs, and one for the arrivals of these warps.
    let [products, arrivals, all] = ["tcgen05.mma", "mbarrier.arrive", ""].map(|text| caused(text, Reason::Mbarrier));
    assert!(products > 2.0 * arrivals && arrivals > 0.0, "{products} {arrivals}");
    assert!(products + arrivals > 0.95 * all, "{products} {arrivals} {all}");
    assert!(caused("tcgen05.ld", Reason::TensorMemory) > 50.0 * 500.0 * 4.0);
    assert!(p.text().contains("tensor memory") && p.html().contains("tensor memory"));
    // This machine has no power numbers.
    assert!(p.power.is_none());
}

/// Kernels that nvcc compiled.
#[test]
fn compiled_kernels_have_a_time() {
    for (name, pointers, grid, shared) in [
        ("tcgen05_f16", 3, 1, (128 + 32) * 128),
        ("tcgen05_a_tmem", 3, 1, 0),
        ("tcgen05_scaled", 4, 1, 0),
        ("tcgen05_pair", 3, 2, 0),
        ("tmem_move", 2, 1, 0),
    ] {
        let path = format!("{}/tests/cuda/ptx/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
        let module = Module::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut device = Device::new(Config::default());
        let args: Vec<_> = (0..pointers).map(|_| Arg::Ptr(device.alloc_zeroed(1 << 16))).collect();
        let launch = LaunchConfig {
            grid: [grid, 1, 1],
            block: Some([128, 1, 1]),
            args: &args,
            dynamic_shared: shared,
            ..LaunchConfig::default()
        };
        let machine = Machine::named("sm_100").unwrap();
        let p = predict(&mut device, &module, "kernel", &launch, &machine, &Options::default());
        let p = p.unwrap_or_else(|e| panic!("{name}: {e}"));
        let waits = p.waits.iter().any(|(r, _)| *r == Reason::TensorMemory);
        assert!(waits && p.clocks > number("tcgen05.alloc.latency"), "{name}: {} {:?}", p.clocks, p.waits);
    }
}
