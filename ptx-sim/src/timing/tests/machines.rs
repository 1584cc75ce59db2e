//! Checks each machine against published rates: loops of one instruction run as fast as the tables say.

use super::*;

/// The machines of the columns below.
const NAMES: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120"];

/// Units of work of a warp's instruction, and published units per clock and SM for each machine. 0 means that the
/// machine lacks the instruction or that no figure is published.
struct Rate {
    instruction: &'static str,
    units: f64,
    published: [f64; 4],
}

/// `D`, `E`, `F` and `G` rotate over four registers, so that no instruction depends on another.
const RATES: &[Rate] = &[
    Rate { instruction: "fma.rn.f32 %fD, %f1, %f2, %f3;", units: 32.0, published: [64.0, 128.0, 128.0, 128.0] },
    Rate { instruction: "fma.rn.f64 %rdD, %rd6, %rd6, %rd6;", units: 32.0, published: [32.0, 64.0, 64.0, 2.0] },
    Rate { instruction: "fma.rn.f16x2 %rD, %r5, %r5, %r5;", units: 64.0, published: [256.0, 256.0, 128.0, 128.0] },
    // Two results, at the rate of single ones.
    Rate { instruction: "fma.rn.f32x2 %rdD, %rd6, %rd6, %rd6;", units: 64.0, published: [0.0, 0.0, 128.0, 128.0] },
    Rate { instruction: "add.s32 %rD, %r5, %r5;", units: 32.0, published: [64.0, 64.0, 64.0, 128.0] },
    Rate { instruction: "mul.lo.s32 %rD, %r5, %r5;", units: 32.0, published: [64.0; 4] },
    Rate { instruction: "ex2.approx.ftz.f32 %fD, %f1;", units: 32.0, published: [16.0; 4] },
    Rate { instruction: "shfl.sync.idx.b32 %rD, %r5, 0, 31, -1;", units: 32.0, published: [32.0; 4] },
    // Bytes of shared memory.
    Rate { instruction: "ld.shared.b32 %rD, [%r6];", units: 128.0, published: [128.0; 4] },
    // Multiply-adds.
    Rate {
        instruction: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%fD, %fE, %fF, %fG}, {%r5, %r5, %r5, %r5},
            {%r5, %r5}, {%f1, %f1, %f1, %f1};",
        units: 2048.0,
        published: [1024.0, 0.0, 0.0, 512.0],
    },
    Rate {
        instruction: "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%fD, %fE, %fF, %fG},
            {%r5, %r5, %r5, %r5}, {%r5, %r5}, {%f1, %f1, %f1, %f1};",
        units: 1024.0,
        published: [512.0, 0.0, 0.0, 256.0],
    },
    Rate {
        instruction: "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%rD, %rE, %rF, %rG}, {%r5, %r5, %r5, %r5},
            {%r5, %r5}, {%r5, %r5, %r5, %r5};",
        units: 4096.0,
        published: [2048.0, 0.0, 0.0, 1024.0],
    },
    Rate {
        instruction: "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rdD, %rdE}, {%rd6}, {%rd6}, {%rd6, %rd6};",
        units: 256.0,
        published: [64.0, 0.0, 64.0, 0.0],
    },
    Rate {
        instruction: "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%fD, %fE, %fF, %fG},
            {%r5, %r5, %r5, %r5}, {%r5, %r5}, {%f1, %f1, %f1, %f1};",
        units: 4096.0,
        published: [0.0, 0.0, 0.0, 1024.0],
    },
    Rate {
        instruction: "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0
            {%fD, %fE, %fF, %fG}, {%r5, %r5, %r5, %r5}, {%r5, %r5}, {%f1, %f1, %f1, %f1}, %r5, {0, 0}, %r5, {0, 0};",
        units: 4096.0,
        published: [0.0, 0.0, 0.0, 1024.0],
    },
    Rate {
        instruction: "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0
            {%fD, %fE, %fF, %fG}, {%r5, %r5, %r5, %r5}, {%r5, %r5}, {%f1, %f1, %f1, %f1}, %r5, {0, 0}, %r5, {0, 0};",
        units: 8192.0,
        published: [0.0, 0.0, 0.0, 2048.0],
    },
];

/// Initializes the registers that are read, and the word in shared memory.
const SETUP: &str = "mov.b32 %r5, 0; mov.b32 %r6, s; mov.b64 %rd6, 0; st.shared.b32 [%r6], %r5; bar.sync 0;";
/// Number of instructions in the loop body.
const BODY: usize = 512;

fn body(instruction: &str) -> String {
    let at = |i: usize| {
        let named = [("D", 8), ("E", 9), ("F", 10), ("G", 11)];
        named.iter().fold(instruction.to_owned(), |text, (letter, n)| {
            let number = (n + 4 * (i % 2)).to_string();
            ["%f", "%rd", "%r"].iter().fold(text, |t, r| t.replace(&format!("{r}{letter}"), &format!("{r}{number}")))
        })
    };
    // Accesses to shared memory do not block the warp until a result is read.
    (0..BODY).map(at).collect::<String>() + "xor.b32 %r31, %r8, %r12;"
}

/// A kernel for a machine's own target.
fn kernel_of(name: &str, setup: &str, body: &str) -> String {
    let target = if name == "sm_80" { name.to_owned() } else { format!("{name}a") };
    kernel(setup, body).replace("sm_90a", &target).replace(".version 8.3", ".version 8.8")
}

fn predicted_as(name: &str, text: &str, grid: u32, n: u32, memory: u64) -> Result<Prediction, Error> {
    let module = Module::parse(text).unwrap();
    let mut device = Device::new(Config::default());
    let p = device.alloc_zeroed(memory);
    let args = [Arg::Ptr(p), Arg::U32(n)];
    let launch = LaunchConfig { grid: [grid, 1, 1], args: &args, ..LaunchConfig::default() };
    predict(&mut device, &module, "k", &launch, &Machine::named(name).unwrap(), &Options::default())
}

#[test]
fn loops_of_one_instruction_have_the_published_rate() {
    let mut compared = 0;
    for rate in RATES {
        for (name, published) in NAMES.into_iter().zip(rate.published).filter(|(_, p)| *p > 0.0) {
            let text = kernel_of(name, SETUP, &body(rate.instruction));
            let at = |n| predicted_as(name, &text, 1, n, 1 << 16).unwrap().clocks;
            let clocks = (at(8) - at(4)) / 4.0;
            // Four warps, one per scheduler.
            let found = 4.0 * BODY as f64 * rate.units / clocks;
            assert!((found / published - 1.0).abs() < 0.03, "{name}: {found} of {published}: {}", rate.instruction);
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
    let alone = |name: &&str| Machine::named(name).unwrap().family.is_none();
    let known: Vec<&str> = tile_machine::names().filter(alone).collect();
    assert_eq!(known, NAMES, "a machine without a column");
}

/// Cards whose rate of f32 sums is limited: sums in f16 and block scales are not.
#[test]
fn limited_sums() {
    let mma = |d: &str, types: &str, kind: &str, scales: &str| {
        let regs =
            if d == "f16" { ("{%rD, %rE}", "{%r5, %r5}") } else { ("{%fD, %fE, %fF, %fG}", "{%f1, %f1, %f1, %f1}") };
        format!(
            "mma.sync.aligned.{kind}.{d}.{types}.{d}{} {}, {{%r5, %r5, %r5, %r5}}, {{%r5, %r5}}, {}{scales};",
            if scales.is_empty() { "" } else { ".ue8m0" },
            regs.0,
            regs.1
        )
    };
    let scales = ", %r5, {0, 0}, %r5, {0, 0}";
    let block = "m16n8k32.row.col.kind::mxf8f6f4.block_scale";
    for (instruction, professional, geforce) in [
        (mma("f32", "f16.f16", "m16n8k16.row.col", ""), 16.0, 32.0),
        (mma("f16", "f16.f16", "m16n8k16.row.col", ""), 16.0, 16.0),
        (mma("f32", "e4m3.e4m3", "m16n8k32.row.col", ""), 16.0, 32.0),
        (mma("f16", "e4m3.e4m3", "m16n8k32.row.col", ""), 16.0, 16.0),
        (mma("f32", "e4m3.e4m3", block, scales), 16.0, 16.0),
    ] {
        for (name, interval) in [("sm_120", professional), ("sm_120_geforce", geforce)] {
            let text = kernel_of("sm_120", SETUP, &body(&instruction));
            let at = |n| predicted_as(name, &text, 1, n, 1 << 16).unwrap().clocks;
            let found = (at(8) - at(4)) / 4.0 / BODY as f64;
            assert!((found / interval - 1.0).abs() < 0.03, "{name}: {found} of {interval}: {instruction}");
        }
    }
}

/// Of a chain of maxima, machines with three operands join every second one with the next.
#[test]
fn maxima_of_three_operands() {
    let pairs = |name: &str| {
        // Two registers by turns, so that no pair waits for the one before.
        let pair = |a: u32| format!("max.f32 %f{a}, %f1, %f2; max.f32 %f{}, %f{a}, %f3;", a + 1);
        let independent: String = (0..200).map(|i| pair(8 + 2 * (i % 4))).collect();
        let text = kernel_of("sm_100", SETUP, &format!("{independent} st.shared.f32 [%r6], %f9;"));
        let at = |n| predicted_as(name, &text, 1, n, 1 << 16).unwrap().clocks;
        (at(20) - at(10)) / 10.0 / 200.0
    };
    let number = |name: &str| Machine::named(name).unwrap().get("pipe.alu.interval").unwrap();
    assert!((pairs("sm_100") / number("sm_100") - 1.0).abs() < 0.1, "{}", pairs("sm_100"));
    assert!((pairs("sm_90") / (2.0 * number("sm_90")) - 1.0).abs() < 0.1, "{}", pairs("sm_90"));
}

/// Published peak rates of whole devices: dense, in 1000 multiply-adds per nanosecond counted as two operations.
#[test]
fn peaks_of_devices() {
    for (name, key, work, published) in [
        ("sm_80", "mma.f16.m16n8k16.interval", 2048.0, 312.0),
        ("sm_80", "mma.tf32.m16n8k8.interval", 1024.0, 156.0),
        ("sm_80", "mma.i8.m16n8k32.interval", 4096.0, 624.0),
        ("sm_80", "mma.f64.m8n8k4.interval", 256.0, 19.5),
        ("sm_80", "pipe.fma.interval", 32.0, 19.5),
        ("sm_80", "pipe.fma_double.interval", 32.0, 9.7),
        ("sm_90", "pipe.fma.interval", 32.0, 66.9),
        ("sm_100", "pipe.fma.interval", 32.0, 74.5),
        ("sm_120", "mma.f16.m16n8k16.interval", 2048.0, 503.8),
        ("sm_120", "mma.f4.m16n8k64.interval", 8192.0, 2015.2),
        ("sm_120", "pipe.fma.interval", 32.0, 126.0),
        ("sm_86", "mma.f16.m16n8k16.interval", 2048.0, 71.0),
        ("sm_86", "mma.i8.m16n8k32.interval", 4096.0, 284.0),
        ("sm_86", "pipe.fma.interval", 32.0, 35.6),
        ("sm_87", "mma.i8.m16n8k32.interval", 4096.0, 85.0),
        ("sm_87", "pipe.fma.interval", 32.0, 5.3),
        ("sm_89", "mma.f16.m16n8k16.interval", 2048.0, 165.2),
        ("sm_89", "mma.f8.m16n8k32.interval", 4096.0, 330.3),
        ("sm_89", "pipe.fma.interval", 32.0, 82.6),
        ("sm_120_geforce", "mma.f16.m16n8k16.interval", 2048.0, 209.5),
        ("sm_120_geforce", "mma.f8.m16n8k32.interval", 4096.0, 419.0),
        ("sm_120_geforce", "mma.f4.m16n8k64.interval", 8192.0, 1676.0),
        ("sm_120_geforce", "pipe.fma.interval", 32.0, 104.8),
    ] {
        let machine = Machine::named(name).unwrap();
        let get = |key: &str| machine.get(key).unwrap();
        let rate = 2.0 * work * get("sm.schedulers") / get(key) * get("sm.count") * get("clock.max");
        assert!((rate * 1e-6 / published - 1.0).abs() < 0.01, "{name}: {key}: {} of {published}", rate * 1e-6);
    }
}

/// Adding two arrays takes as long as memory needs for the reads and writes.
#[test]
fn sums_of_arrays_are_bound_by_memory() {
    let setup = "mov.u32 %r12, %ctaid.x; mul.wide.u32 %rd4, %r12, 2048; add.s64 %rd3, %rd3, %rd4;
        add.s64 %rd5, %rd3, 268435456; add.s64 %rd6, %rd5, 268435456;";
    let body = "ld.global.v4.f32 {%f8, %f9, %f10, %f11}, [%rd3]; ld.global.v4.f32 {%f12, %f13, %f14, %f15}, [%rd5];
        add.f32 %f8, %f8, %f12; add.f32 %f9, %f9, %f13; add.f32 %f10, %f10, %f14; add.f32 %f11, %f11, %f15;
        st.global.v4.f32 [%rd6], {%f8, %f9, %f10, %f11};";
    for name in NAMES {
        let machine = Machine::named(name).unwrap();
        let get = |key: &str| machine.get(key).unwrap();
        let blocks = get("sm.count") as u32 * 16 * 40;
        let p = predicted_as(name, &kernel_of(name, setup, body), blocks, 1, 3 << 28).unwrap();
        let bytes = f64::from(blocks) * 2048.0 * 1e-3;
        let us = bytes * (2.0 / get("dram.rate") + 1.0 / get("dram.write_rate")) + get("launch.overhead");
        assert_eq!(p.busy[0].0, "memory", "{name}: {:?}", p.busy);
        assert!((p.microseconds / us - 1.0).abs() < 0.05, "{name}: {} us, memory alone {us}", p.microseconds);
    }
}

/// The number of resident CTAs follows from the limits of each machine.
#[test]
fn resident_blocks_of_each_machine() {
    let small = |threads: u32| {
        move |name: &str| {
            let text = kernel_of(name, "", "").replace(".reqntid 128", &format!(".reqntid {threads}"));
            text.replace("s[32768]", "s[16]")
        }
    };
    let large = |name: &str| kernel_of(name, "", "");
    let resident = |name: &str, text: String| {
        let p = predicted_as(name, &text, 10_000, 1, 1 << 16).unwrap();
        (p.resident, p.limited_by)
    };
    for (name, blocks, warps, shared) in
        [("sm_80", 32, 16, 4), ("sm_90", 32, 16, 6), ("sm_100", 32, 16, 6), ("sm_120", 24, 12, 3)]
    {
        assert_eq!(resident(name, small(32)(name)), (blocks, "blocks"), "{name}");
        assert_eq!(resident(name, small(128)(name)), (warps, "warps"), "{name}");
        assert_eq!(resident(name, large(name)), (shared, "shared memory"), "{name}");
    }
}

/// An unsupported instruction is rejected with the name of the missing number; without it the machine has a time.
#[test]
fn missing_numbers_are_named() {
    let copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 1024, [%r4];";
    let product =
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd5, %rd5, 1, 1, 1, 0, 0;";
    let f8 = RATES.iter().find(|r| r.instruction.contains("e4m3")).unwrap().instruction;
    for (name, body, expected) in [
        ("sm_80", copy, "machine sm_80 has no number 'tma."),
        ("sm_80", product, "machine sm_80 has no number 'wgmma."),
        ("sm_100", product, "machine sm_100 has no number 'wgmma."),
        ("sm_120", product, "machine sm_120 has no number 'wgmma."),
        ("sm_80", &f8.replace("%fD, %fE, %fF, %fG", "%f4, %f5, %f6, %f7"), "machine sm_80 has no number 'mma.f8."),
        ("sm_80", "tcgen05.wait::ld.sync.aligned;", "machine sm_80 has no number 'tcgen05."),
        ("sm_90", "tcgen05.wait::ld.sync.aligned;", "machine sm_90 has no number 'tcgen05."),
        ("sm_120", "tcgen05.wait::ld.sync.aligned;", "machine sm_120 has no number 'tcgen05."),
        ("sm_80", "setmaxnreg.dec.sync.aligned.u32 24;", "machine sm_80 has no number 'setmaxnreg."),
    ] {
        // The program targets a machine that has the instruction; a false guard keeps it from being executed.
        let text = kernel("", &format!("setp.ne.u32 %p2, %r2, %r2; @!%p2 bra J; {body} J:"));
        let target = if body.starts_with("tcgen05") { "sm_100a" } else { "sm_90a" };
        let text = text.replace(".version 8.3", ".version 8.8").replace("sm_90a", target);
        let error = predicted_as(name, &text, 1, 1, 1 << 16).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("has no time") && error.starts_with("line "), "{error}");
    }
    // Copies without an engine, and loads of matrices, can be timed on all machines.
    for name in NAMES {
        let body = "cp.async.cg.shared.global [%r4], [%rd3], 16; cp.async.commit_group; cp.async.wait_group 0;
            ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r4];";
        let clocks = predicted_as(name, &kernel_of(name, "", body), 1, 10, 1 << 16).unwrap().clocks;
        let machine = Machine::named(name).unwrap();
        assert!(clocks > 10.0 * machine.get("latency.l2").unwrap(), "{name}: {clocks}");
    }
}
