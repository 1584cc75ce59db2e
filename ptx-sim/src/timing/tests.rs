mod machines;
mod tcgen05;

use super::grid::samples;
use super::*;
use crate::units::{ElementType, Fill, TensorMap, TileParams};
use crate::{Arg, Config, DevicePtr};

/// An instruction of a listing, with its control code: clocks to the next instruction, scoreboards to wait for (one
/// bit each), and the scoreboard of its result.
fn listed(text: &str, stall: u64, wait: u64, result: Option<u64>) -> String {
    let word = (stall | result.unwrap_or(7) << 5 | 7 << 8 | wait << 11) << 41;
    format!("        /*0010*/  {text} ;  /* 0x0 */\n        /* 0x{word:016x} */\n")
}

/// Clocks per iteration of a loop that loads from shared memory, with `lines` as its image.
fn turn_of_image(lines: &str) -> f64 {
    let setup = "shl.b32 %r5, %r2, 2; add.s32 %r6, %r4, %r5; st.shared.b32 [%r6], %r3;";
    turn_as_listed(&kernel(setup, "ld.shared.b32 %r7, [%r6]; add.s32 %r8, %r8, %r7;"), lines)
}

/// Clocks per iteration of a kernel's loop with `lines` as its image.
fn turn_as_listed(text: &str, lines: &str) -> f64 {
    let module = Module::parse(text).unwrap();
    let listing = format!(
        "{}.L_x_0:\n{lines}{}",
        listed("S2R R0, SR_TID.X", 1, 0, None),
        listed("@P0 BRA `(.L_x_0)", 1, 0, None)
    );
    let at = |n: u32| {
        let mut device = Device::new(Config::default());
        let args = [Arg::Ptr(device.alloc_zeroed(1 << 16)), Arg::U32(n)];
        let launch = LaunchConfig { grid: [1, 1, 1], args: &args, ..LaunchConfig::default() };
        let options = Options { listing: Some(listing.clone()), ..Options::default() };
        let p = predict(&mut device, &module, "k", &launch, &Machine::named("sm_90").unwrap(), &options).unwrap();
        assert!(p.from_image > 0.9, "{}", p.from_image);
        p.clocks
    };
    (at(200) - at(100)) / 100.0
}

/// Asynchronous work is also matched with an image: a phase wait is retried elsewhere, and the last `wgmma` of a group
/// commits it. Computation between a `wgmma` and its wait is free while the `wgmma` takes longer.
#[test]
fn asynchronous_work_of_images() {
    let text = kernel(
        "mov.b64 %rd5, 0x4000000000010000; setp.eq.u32 %p2, %r2, 0; @!%p2 bra I;
         mbarrier.init.shared::cta.b64 [bar], 128; I: bar.sync 0;",
        "mbarrier.arrive.shared::cta.b64 _, [bar]; and.b32 %r9, %r3, 1;
         { .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [bar], %r9; @!done bra again; }
         wgmma.fence.sync.aligned;
         wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd5, %rd5, 1, 1, 1, 0, 0;
         wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd5, %rd5, 1, 1, 1, 0, 0;
         wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
    );
    let text = text.replace("s[32768];", "s[32768]; .shared .align 8 .b64 bar;");
    let with = |adds: usize, stall: u64| {
        let first = listed("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], RZ", 1, 0, None)
            + &listed("SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR4], R14", 1, 0, Some(0))
            + &listed("@!P1 BRA `(.L_x_1)", 1, 1, None);
        let products = listed("WARPGROUP.ARRIVE", 1, 0, None)
            + &listed("HGMMA.64x8x16.F32.BF16 R24, gdesc[UR8], R24", 1, 0, None)
            + &listed("HGMMA.64x8x16.F32.BF16 R24, gdesc[UR8], R24, gsb0", 1, 0, None);
        let adds = listed("FADD R10, R11, R12", stall, 0, None).repeat(adds);
        turn_as_listed(&text, &(first + &products + &adds + &listed("WARPGROUP.DEPBAR.LE gsb0, 0x0", 1, 0, None)))
    };
    let (none, few, many, more) = (with(0, 1), with(8, 1), with(64, 9), with(64, 10));
    assert!(none > number("wgmma.chain.shared"), "{none}");
    assert!((few - none).abs() < 1.0, "{none} {few}");
    assert!((more - many - 64.0).abs() < 2.0, "{many} {more}");
}

/// An image specifies how far apart its instructions issue, and which results they wait for.
#[test]
fn images_are_issued_by_their_control_codes() {
    let load = listed("LDS R4, [R2]", 1, 0, Some(3));
    let adds = |stall| listed("FADD R10, R11, R12", stall, 0, None).repeat(10);
    let (close, apart) = (turn_of_image(&(load.clone() + &adds(1))), turn_of_image(&(load.clone() + &adds(9))));
    assert!((apart - close - 80.0).abs() < 2.0, "{close} {apart}");
    // Only the load's own scoreboard is waited for.
    let needs = |board: u64| turn_of_image(&(load.clone() + &listed("FADD R10, R4, R12", 1, 1 << board, None)));
    assert!(needs(2) < 12.0 && needs(3) > number("latency.shared"), "{} {}", needs(2), needs(3));
}

/// A load of a block of the image stays in flight during a block of the PTX that does not read its result, and so does
/// a load of a block of the PTX during one of the image.
#[test]
fn loads_in_flight_between_ptx_and_image() {
    let work = "mov.b32 %r9, 0; T: add.f32 %f1, %f1, %f2; add.s32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 100; @%p2 bra T;";
    let ahead = "add.s32 %r8, %r8, %r7; ld.global.b32 %r7, [%rd3]; add.s64 %rd3, %rd3, 2048;";
    let shared = "st.shared.b32 [%r4], %r3;";
    let turn = |body: &str, image: Option<&str>| {
        let listing = image.map(|lines| listed("S2R R0, SR_TID.X", 1, 0, None) + ".L_x_0:\n" + lines);
        let options = Options { listing, ..Options::default() };
        let at = |n: u32| {
            predicted_with(
                &kernel("mov.b32 %r7, 0; mov.b32 %r8, 0; st.shared.b32 [%r4], %r3;", body),
                1,
                n,
                1 << 20,
                &options,
            )
        };
        let (few, many) = (at(100), at(200));
        assert_eq!(image.is_some(), many.from_image > 0.0);
        (many.clocks - few.clocks) / 100.0
    };
    // The block with the load comes from the image, and the work from the PTX.
    let body = format!("{ahead} {work}");
    let use_and_load = listed("IADD3 R8, R8, R4, RZ", 1, 0b1000, None) + &listed("LDG.E R4, [R2.64]", 1, 0, Some(3));
    let image = use_and_load + ".L_x_1:\n" + &listed("@P0 BRA `(.L_x_1)", 1, 0, None);
    let (known, unknown) = (turn(&body, Some(&image)), turn(&body, None));
    assert!((known / unknown - 1.0).abs() < 0.1, "{known} {unknown}");
    // The other way around: an unknown block has the load, and a block of the image stores to shared memory.
    let body = format!("{ahead} atom.shared.add.u32 %r10, [%r4], 1; M: {shared} {work}");
    let image = listed("STS [R2], R5", 1, 0, None) + ".L_x_1:\n" + &listed("@P0 BRA `(.L_x_1)", 1, 0, None);
    let (known, unknown) = (turn(&body, Some(&image)), turn(&body, None));
    assert!((known / unknown - 1.0).abs() < 0.1, "{known} {unknown}");
}

/// Two operands in one bank are read sequentially, unless the previous instruction kept one.
#[test]
fn ports_of_registers() {
    let load = listed("LDS R4, [R2]", 1, 0, Some(3));
    let adds = |text: &str| turn_of_image(&(load.clone() + &listed(text, 1, 0, None).repeat(64)));
    let (same, other, kept) =
        (adds("FADD R10, R12, R14"), adds("FADD R10, R12, R13"), adds("FADD R10, R12.reuse, R14"));
    assert!((same - other - 64.0).abs() < 3.0 && (kept - other).abs() < 3.0, "{same} {other} {kept}");
}

/// Reads and writes have separate rates, and the end of a launch, where nothing more is loaded, is not representative.
#[test]
fn streams_run_at_the_rates_of_memory() {
    let body = "ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%rd3]; st.global.v4.b32 [%rd5], {%r8, %r9, %r10, %r11};";
    let setup = "mov.u32 %r12, %ctaid.x; mul.wide.u32 %rd4, %r12, 2048; add.s64 %rd3, %rd3, %rd4;
        add.s64 %rd5, %rd3, 268435456;";
    let blocks = 132 * 16 * 48;
    let p = predicted_on(&kernel(setup, body), blocks, 1, 2 << 28);
    let bytes = f64::from(blocks) * 2048.0;
    let us = bytes * 1e-3 * (1.0 / number("dram.rate") + 1.0 / number("dram.write_rate")) + number("launch.overhead");
    assert!((p.microseconds / us - 1.0).abs() < 0.03, "{} {us}", p.microseconds);
}

/// SMs store together at first, and drift apart later.
#[test]
fn storing_together_ends() {
    let costs = Costs::of(&Machine::named("sm_90").unwrap()).unwrap();
    let all = bandwidth(&costs, costs.clock, costs.sms, 0.0);
    let few = bandwidth(&costs, costs.clock, 4.0, 0.0);
    assert!(all.store_all < 0.5 * all.store && few.store_all == few.store);
    let (mut steps, mut time) = (stores::StoreContention::default(), 0.0);
    let phases: Vec<f64> = (0..40)
        .map(|_| {
            time += 20_000.0;
            steps.clocks(65536.0, all, &costs, time - 20_000.0, time)
        })
        .collect();
    assert!((phases[0] - 65536.0 / all.store_all).abs() < 1.0 && phases.is_sorted_by(|a, b| a >= b), "{phases:?}");
    assert!(phases[39] < 1.05 * 65536.0 / all.store, "{phases:?}");
}

/// A CTA that stores more than the others eventually has the bandwidth to itself.
#[test]
fn blocks_that_store_more_have_it_to_themselves() {
    let body = "st.global.v4.b32 [%rd3], {%r8, %r8, %r8, %r8}; add.s64 %rd3, %rd3, 2048;";
    let setup = |shorter: u32| {
        format!(
            "mov.u32 %r9, %ctaid.x; mul.wide.u32 %rd4, %r9, 262144; add.s64 %rd3, %rd3, %rd4;
             setp.lt.u32 %p2, %r9, {shorter}; @%p2 mov.b32 %r1, 8;"
        )
    };
    let clocks = |shorter| predicted_on(&kernel(&setup(shorter), body), 132, 128, 1 << 26).clocks;
    let (all, half, one) = (clocks(0), clocks(66), clocks(131));
    let bytes = 128.0 * 2048.0;
    // The last stores are still in flight when the CTA ends.
    assert!(one < 0.6 * all && one > 0.9 * bytes / number("store.one_sm"), "{all} {one}");
    assert!((0.5..0.75).contains(&(half / all)), "{all} {half}");
}

/// A kernel of 128 threads with `body` in a loop of `n` iterations.
fn kernel(setup: &str, body: &str) -> String {
    format!(
        ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) .reqntid 128 {{
           .reg .b64 %rd<16>; .reg .b32 %r<32>; .reg .f32 %f<32>; .reg .pred %p<4>; .shared .align 128 .b8 s[32768];
           ld.param.b64 %rd1, [p]; ld.param.b32 %r1, [n]; mov.u32 %r2, %tid.x; mov.b32 %r3, 0;
           mul.wide.u32 %rd2, %r2, 16; add.s64 %rd3, %rd1, %rd2; mov.u32 %r4, s; {setup}
         L: {body}
           add.s32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra L; ret; }}"
    )
}

fn predicted_on(text: &str, grid: u32, n: u32, memory: u64) -> Prediction {
    predicted_with(text, grid, n, memory, &Options::default())
}

fn predicted_with(text: &str, grid: u32, n: u32, memory: u64, options: &Options) -> Prediction {
    let module = Module::parse(text).unwrap();
    let mut device = Device::new(Config::default());
    let p: DevicePtr = device.alloc_zeroed(memory);
    let args = [Arg::Ptr(p), Arg::U32(n)];
    let launch = LaunchConfig { grid: [grid, 1, 1], args: &args, ..LaunchConfig::default() };
    let machine = Machine::named("sm_90").unwrap();
    predict(&mut device, &module, "k", &launch, &machine, options).unwrap()
}

/// Clocks per iteration of the loop, from the difference of two trip counts.
fn turn(setup: &str, body: &str) -> f64 {
    let text = kernel(setup, body);
    let at = |n| predicted_on(&text, 1, n, 1 << 16).clocks;
    (at(200) - at(100)) / 100.0
}

fn number(key: &str) -> f64 {
    Machine::named("sm_90").unwrap().get(key).unwrap()
}

/// A chain of dependent instructions takes their latency, independent ones their interval.
#[test]
fn latencies_and_rates_of_arithmetic() {
    let empty = turn("", "");
    let chain = turn("", &"fma.rn.f32 %f1, %f1, %f2, %f3;".repeat(64)) - empty;
    assert!((chain / 64.0 - number("latency.fma")).abs() < 0.2, "{chain}");
    let free: String = (4..28).map(|i| format!("ex2.approx.ftz.f32 %f{i}, %f1;")).collect();
    let rate = turn("", &free) - empty;
    assert!((rate / 24.0 - number("pipe.mufu.interval")).abs() < 0.7, "{rate}");
}

/// Lanes 16 bytes apart use eight banks and take four passes; the four warps share one memory.
#[test]
fn conflicts_of_shared_memory() {
    // Every load has a use, because a warp waits for a result only when an instruction reads it.
    let loads: String = (7..31).map(|i| format!("ld.shared.b32 %r{i}, [%r6];")).collect();
    let uses: String = (7..31).step_by(2).map(|i| format!("xor.b32 %r31, %r{i}, %r{};", i + 1)).collect();
    let clocks = |shift: u32| {
        let setup = format!("shl.b32 %r5, %r2, {shift}; and.b32 %r5, %r5, 16383; add.s32 %r6, %r4, %r5;");
        turn(&setup, &format!("st.shared.b32 [%r6], %r3; {loads} {uses}"))
    };
    let passes = 25.0 * 4.0;
    let (plain, conflict) = (clocks(2), clocks(4));
    assert!((passes..2.0 * passes).contains(&plain), "{plain}");
    assert!((4.0 * passes..5.0 * passes).contains(&conflict), "{conflict}");
}

/// Data that only one CTA loads arrives at the rate of memory; shared data does not.
#[test]
fn sharing_decides_where_loads_come_from() {
    let body = "ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%rd3]; add.s32 %r13, %r13, %r8; add.s64 %rd3, %rd3, 2048;";
    let apart = kernel("mov.u32 %r12, %ctaid.x; mul.wide.u32 %rd4, %r12, 65536; add.s64 %rd3, %rd3, %rd4;", body);
    let apart = predicted_on(&apart, 264, 32, 264 << 16);
    let shared = predicted_on(&kernel("", body), 264, 32, 1 << 16);
    assert!(apart.first_share > 0.99 && shared.first_share < 0.01, "{} {}", apart.first_share, shared.first_share);
    assert!(apart.clocks > 1.5 * shared.clocks, "{} {}", apart.clocks, shared.clocks);
}

/// Loads by the copy engine count like others: boxes that all CTAs load come from L2, boxes of a single CTA from
/// memory. Stores and barriers of the same kernel are not loads.
#[test]
fn sharing_of_tensor_copies() {
    let text = |row: &str| {
        format!(
            ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128],
             .param .u64 p) .reqntid 32 {{
               .reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .pred %p<4>;
               .shared .align 1024 .b8 s[16384]; .shared .align 8 .b64 bar;
               mov.b64 %rd2, map; cvta.param.u64 %rd2, %rd2; mov.b32 %r2, s; mov.u32 %r1, %tid.x;
               mov.u32 %r3, %ctaid.x; mov.b32 %r4, 0; mov.b32 %r5, 0; setp.eq.u32 %p1, %r1, 0;
               @%p1 mbarrier.init.shared::cta.b64 [bar], 1; bar.sync 0;
             L: shl.b32 %r6, %r4, 7; {row}
               @!%p1 bra W;
               mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16384;
               cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {{0, %r6}}], [bar];
             W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], %r5; @!%p2 bra W;
               xor.b32 %r5, %r5, 1; add.s32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 32; @%p3 bra L;
               ld.param.b64 %rd3, [p]; mul.wide.u32 %rd4, %r3, 4096; add.s64 %rd3, %rd3, %rd4; st.global.b32 [%rd3], %r4;
               ret; }}"
        )
    };
    let predicted = |row: &str| {
        let module = Module::parse(&text(row)).unwrap();
        let mut device = Device::new(Config::default());
        let (grid, rows) = (264u32, 264 * 4096u64);
        let tensor = device.alloc_zeroed(rows * 128);
        let map = TensorMap::tiled(&TileParams {
            element: ElementType::U8,
            address: tensor.0,
            dims: &[128, rows],
            strides: &[128],
            box_dims: &[128, 128],
            element_strides: &[1, 1],
            interleave: 0,
            swizzle: 3,
            fill: Fill::Zero,
        });
        let p = device.alloc_zeroed(u64::from(grid) * 4096);
        let args = [Arg::Bytes(map.unwrap().encode().to_vec()), Arg::Ptr(p)];
        let launch = LaunchConfig { grid: [grid, 1, 1], args: &args, ..LaunchConfig::default() };
        predict(&mut device, &module, "k", &launch, &Machine::named("sm_90").unwrap(), &Options::default()).unwrap()
    };
    let apart = predicted("mad.lo.s32 %r6, %r3, 4096, %r6;");
    let shared = predicted("");
    assert!(apart.first_share > 0.99 && shared.first_share < 0.01, "{} {}", apart.first_share, shared.first_share);
    assert!(apart.clocks > 1.5 * shared.clocks, "{} {}", apart.clocks, shared.clocks);
}

/// A barrier makes the other warps wait for the slowest, and the report says so.
#[test]
fn barriers_wait_for_the_last_warp() {
    let slow = "setp.lt.u32 %p2, %r2, 32; @!%p2 bra J; ".to_string()
        + &"fma.rn.f32 %f1, %f1, %f2, %f3;".repeat(100)
        + "J: bar.sync 0;";
    let p = predicted_on(&kernel("", &slow), 1, 20, 1 << 16);
    assert!(p.clocks > 20.0 * 100.0 * number("latency.fma"), "{}", p.clocks);
    assert!(p.waits.iter().any(|(r, share)| *r == Reason::Barrier && *share > 0.5), "{:?}", p.waits);
    assert!(p.text().contains("barrier") && p.html().contains("<svg"));
    assert!(p.perfetto()["traceEvents"].as_array().unwrap().iter().any(|e| e["name"] == "barrier"));
    assert_eq!(p.json()["blocks"], 1);
}

/// `cp.async` returns immediately; the wait for its group takes the latency of L2.
#[test]
fn groups_of_copies() {
    let setup = "shl.b32 %r5, %r2, 4; add.s32 %r6, %r4, %r5;";
    let copy = "cp.async.cg.shared.global [%r6], [%rd3], 16; cp.async.commit_group;";
    let waited = turn(setup, &format!("{copy} cp.async.wait_group 0;"));
    let ahead = turn(setup, &format!("{copy} cp.async.wait_group 3;"));
    assert!(waited > number("latency.l2") && ahead < 0.5 * waited, "{waited} {ahead}");
}

/// More registers mean fewer CTAs; the assembler's count overrides the estimate.
#[test]
fn occupancy_by_registers_and_shared_memory() {
    let module = Module::parse(&kernel("", "fma.rn.f32 %f1, %f1, %f2, %f3;")).unwrap();
    let mut device = Device::new(Config::default());
    let p = device.alloc_zeroed(1 << 16);
    let args = [Arg::Ptr(p), Arg::U32(4)];
    let launch = LaunchConfig { grid: [2000, 1, 1], args: &args, ..LaunchConfig::default() };
    let machine = Machine::named("sm_90").unwrap();
    let mut resident = |registers| {
        let p = predict(&mut device, &module, "k", &launch, &machine, &Options { registers, ..Options::default() })
            .unwrap();
        (p.resident, p.limited_by)
    };
    assert_eq!(resident(None), (6, "shared memory"));
    assert_eq!(resident(Some(128)), (4, "registers"));
    assert_eq!(resident(Some(255)), (2, "registers"));
}

/// CTAs that take work round-robin: a launch takes as long as the CTA with one more iteration.
#[test]
fn a_launch_of_one_round_ends_with_its_longest_block() {
    let text = kernel(
        "mov.u32 %r9, %ctaid.x; mov.u32 %r10, %nctaid.x;",
        "{ .reg .pred p; setp.ge.u32 p, %r9, 133; @p ret; } add.u32 %r9, %r9, %r10; mov.b32 %r11, 0;
         M: fma.rn.f32 %f1, %f1, %f1, %f1; add.s32 %r11, %r11, 1; setp.lt.u32 %p2, %r11, 500; @%p2 bra M;",
    );
    let clocks = |grid| predicted_on(&text, grid, 3, 1 << 16).clocks;
    let (even, uneven) = (clocks(133), clocks(132));
    // Both launches have the same start-up time.
    assert!((1.85..2.0).contains(&(uneven / even)), "{even} {uneven}");
}

/// CTAs that end at once take no part of a round. Here the second half of the grid has no work.
#[test]
fn blocks_without_work_take_no_time() {
    let text = kernel("", "mul.lo.s32 %r7, %r7, %r7;");
    let half = text.replacen(
        "{",
        "{ .reg .pred idle; .reg .b32 number, count; mov.u32 number, %ctaid.x; mov.u32 count, %nctaid.x;
         shr.u32 count, count, 1; setp.ge.u32 idle, number, count; @idle exit;",
        1,
    );
    let blocks = 16 * 132;
    let (alone, with_idle) =
        (predicted_on(&text, blocks, 2000, 1 << 16), predicted_on(&half, 2 * blocks, 2000, 1 << 16));
    assert!((with_idle.clocks / alone.clocks - 1.0).abs() < 0.05, "{} {}", alone.clocks, with_idle.clocks);
}

/// The CTAs of the first round run the whole grid. Each of the others takes an SM for the time of a start.
#[test]
fn the_first_round_may_run_all_blocks() {
    // Shared memory lets an SM run six of them.
    let text = kernel("", "ld.global.b32 %r7, [%rd3];");
    let first = text.replacen(
        "{",
        "{ .reg .pred idle; .reg .b32 number, count; mov.u32 number, %ctaid.x; mov.u32 count, %nsmid;
         mul.lo.u32 count, count, 6; setp.ge.u32 idle, number, count; @idle exit;",
        1,
    );
    let clocks = |text: &str, rounds: u32| predicted_on(text, rounds * 6 * 132, 5000, 1 << 16).clocks;
    let (alone, first) = (clocks(&text, 1), clocks(&first, 10));
    let starts = 9.0 * number("launch.block");
    assert!((first - alone - starts).abs() < 0.01 * alone, "{alone} {first} {starts}");
}

/// A unit that is busy on all SMs draws more than the limit; on one SM it does not.
#[test]
fn power_lowers_the_clock() {
    let text = kernel(
        "shl.b32 %r5, %r2, 4; add.s32 %r6, %r4, %r5; st.shared.v4.b32 [%r6], {%r3, %r3, %r3, %r3};",
        "ld.shared.v4.b32 {%r7, %r8, %r9, %r10}, [%r6]; ld.shared.v4.b32 {%r11, %r12, %r13, %r14}, [%r6];
         add.s32 %r15, %r7, %r11;",
    );
    let at = |grid, clock| predicted_with(&text, grid, 100, 1 << 16, &Options { clock, ..Options::default() });
    let (all, one) = (at(132 * 4, Clock::Highest), at(1, Clock::Highest));
    let (all_power, one_power) = (all.power.unwrap(), one.power.unwrap());
    assert!(all_power.demand > all_power.limit, "{all_power:?}");
    assert!(one_power.watts < number("power.idle") + 10.0 && one_power.sustained == one.mhz, "{one_power:?}");
    assert!(all.text().contains("if it is repeated for long, the clock falls to"), "{}", all.text());
    let kept = at(132 * 4, Clock::Sustained);
    assert_eq!(kept.mhz, all_power.sustained);
    assert!((kept.power.unwrap().watts / all_power.limit - 1.0).abs() < 0.02, "{:?}", kept.power);
    let slower = kept.microseconds / all.microseconds;
    assert!((slower * kept.mhz / all.mhz - 1.0).abs() < 0.02, "{slower}");
    assert!(kept.text().contains("the power limit holds the clock at"), "{}", kept.text());
    assert_eq!(at(132 * 4, Clock::At(1000.0)).mhz, 1000.0);
}

/// The mean of the sampled clusters is the middle of each dimension.
#[test]
fn samples_are_spread() {
    for x in [8u64, 16, 128, 130] {
        let mean = samples([x as u32, 1, 1], false, None).iter().sum::<u64>() as f64 / SAMPLES as f64;
        assert!((mean - (x - 1) as f64 / 2.0).abs() <= 0.5, "{x}: {mean}");
    }
    assert_eq!(samples([3, 1, 1], false, None), [0, 1, 2]);
    assert!(
        samples([8, 256, 1], false, None).iter().map(|i| i % 8).eq([3, 4, 7, 0].into_iter())
            || samples([8, 256, 1], false, None).len() == 4
    );
}

#[test]
fn what_the_model_does_not_know_is_refused() {
    let text = kernel("", "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r4], %r3, [%r4];");
    let module = Module::parse(&text).unwrap();
    let mut device = Device::new(Config::default());
    let p = device.alloc_zeroed(1 << 16);
    let args = [Arg::Ptr(p), Arg::U32(1)];
    let launch = LaunchConfig { grid: [1, 1, 1], args: &args, ..LaunchConfig::default() };
    for name in ["sm_90", "sm_100"] {
        let machine = Machine::named(name).unwrap();
        let error = predict(&mut device, &module, "k", &launch, &machine, &Options::default()).unwrap_err();
        assert!(error.to_string().contains("does not know `st.async.shared::cluster."), "{error}");
    }
}

/// Waits are attributed to lines of the program. For a late value this is the line that loads it, not the line that
/// uses it.
#[test]
fn lines_of_the_program() {
    let setup = ".loc 1 3 1\n mov.b32 %r13, 0;";
    let body = "\n .loc 1 7 1\n ld.global.b32 %r8, [%rd3]; add.s64 %rd3, %rd3, 8192;
        .loc 1 8 1\n add.s32 %r13, %r13, %r8; .loc 1 9 1\n";
    let text = kernel(setup, body).replace("; ", ";\n") + "\n.file 1 \"dir/sum.py\"\n";
    let mut p = predicted_on(&text, 1, 50, 1 << 20);
    let (line, share) = p.costliest(1).next().unwrap();
    assert_eq!((line.place().as_str(), line.main_reason().0), ("dir/sum.py:7", Reason::GlobalMemory));
    assert!(share > 0.8, "{share}");
    // 32 lanes, 16 bytes apart, each of which accesses 4 bytes.
    assert_eq!(line.cost.used_share(), Some(0.25));
    // The warps waited at the line with the addition.
    let waited = |n: u32| p.sources.iter().find(|s| s.line == n).unwrap().cost.waits[Reason::GlobalMemory as usize];
    assert!(waited(8) > 0.9 * (waited(7) + waited(8)), "{} {}", waited(7), waited(8));

    p.read_sources(|file| (file == "dir/sum.py").then(|| "\n".repeat(6) + "  x = load(p)\n"));
    for found in [p.text(), p.html()] {
        assert!(found.contains("dir/sum.py:7") && found.contains("x = load(p)"), "{found}");
    }
    assert!(p.text().contains("25.0 % of the bytes moved by its accesses are used"), "{}", p.text());
    let json = &p.json()["sources"][0];
    assert_eq!(
        (&json["line"], &json["reason"], &json["text"]),
        (&7.into(), &"global memory".into(), &"x = load(p)".into())
    );
    // Without a line table there are no source lines.
    assert!(predicted_on(&kernel("", ""), 1, 5, 1 << 16).sources.is_empty());
}

/// A warp that copies boxes, and four that multiply: each agent has its own row in the reports.
#[test]
fn reports_by_agent() {
    let product = "wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd5, %rd5, 1, 1, 1, 0, 0;
        wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";
    let text = kernel(
        "mov.b64 %rd5, 0x4000000000010000; setp.ge.u32 %p2, %r2, 128; setp.eq.u32 %p3, %r2, 128; @%p2 bra L;",
        &format!(
            "@%p2 bra P; {product} bra N;
             P: @!%p3 bra N;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 1024, [bar];
             N:"
        ),
    );
    let text = text
        .replace(".reqntid 128", ".reqntid 160")
        .replace("s[32768];", "s[32768]; .shared .align 8 .b64 bar;")
        .replace(
            "mov.b32 %r3, 0;",
            "mov.b32 %r3, 0; @!%p0 bra I; mbarrier.init.shared::cta.b64 [bar], 1; I: bar.sync 0;",
        )
        .replace("mov.u32 %r2, %tid.x;", "mov.u32 %r2, %tid.x; setp.eq.u32 %p0, %r2, 0;");
    let p = predicted_on(&text, 1, 10, 1 << 16);
    let found: Vec<_> = p.agents.iter().map(|a| (a.name.as_str(), a.warps.clone())).collect();
    assert_eq!(found, [("consumer", 0..4), ("producer", 4..5)]);
    assert_eq!(p.agents[0].waits()[0].0, Reason::AsyncProducts);
    for report in [p.text(), p.html(), p.json()["agents"].to_string()] {
        assert!(report.contains("producer") && report.contains("consumer"), "{report}");
    }
    assert!(p.html().contains("a row is an agent"));
    let names = p.perfetto()["traceEvents"].to_string();
    assert!(names.contains("consumer, warp 0") && names.contains("producer, warp 4"), "{names}");
}

/// If CTAs differ in length, one of each kind is replayed, however long that takes.
#[test]
fn rounds_with_all_kinds_of_blocks() {
    assert_eq!(rounds_of_all(&[100, 95, 100, 99], 1), 0);
    assert_eq!(rounds_of_all(&[10, 40, 70, 100], 1), 6);
    assert_eq!(rounds_of_all(&[10, 40, 70, 100], 2), 4);
    // The mean of all kinds, although the last one to start is short.
    let ends = [100.0, 170.0, 210.0, 220.0, 320.0, 390.0];
    let clocks = extend(&ends, 1, 4, 100.0, 100, 8.0);
    assert!((clocks / 100.0 - 55.0).abs() < 2.0, "{clocks}");
}
