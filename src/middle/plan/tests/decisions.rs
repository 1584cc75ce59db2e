//! Plans of common tiles, and properties of all plans.

use tile_mma::{Element, Major};
use tile_plan::{AStorage, DotLoop, Hints, Kernel, Machine, NoPlan, Plan, Ring, plan, plan_kernel};

fn machine() -> Machine {
    Machine::named("sm_90").expect("the file of sm_90")
}

fn decide(product: &DotLoop) -> Plan {
    plan(product, &Hints::default(), &machine()).unwrap_or_else(|e| panic!("{product:?}: {e}"))
}

/// Formats a plan as `groups n stages | registers at launch, producer, consumer, estimate | bound`.
fn summary(plan: &Plan) -> String {
    let ((m, n), r) = (plan.groups, plan.registers);
    format!(
        "{m}x{n} n{} stages {} | {} {} {} need {} | {}",
        plan.columns, plan.stages, r.launch, r.producer, r.consumer, r.estimate, plan.prediction.bound
    )
}

#[test]
fn table() {
    use Element::{Bf16, E4m3, E5m2, F16, S8, Tf32, U8};
    let rows = [
        ((128, 256, 64), Bf16, "2x1 n256 stages 4 | 168 40 232 need 160 | tensor cores"),
        ((128, 256, 64), F16, "2x1 n256 stages 4 | 168 40 232 need 160 | tensor cores"),
        ((128, 256, 128), E4m3, "2x1 n128 stages 3 | 168 40 232 need 224 | tensor cores"),
        ((128, 256, 128), E5m2, "2x1 n128 stages 3 | 168 40 232 need 224 | tensor cores"),
        ((128, 256, 128), S8, "2x1 n256 stages 4 | 168 40 232 need 160 | tensor cores"),
        ((128, 256, 128), U8, "2x1 n256 stages 4 | 168 40 232 need 160 | tensor cores"),
        ((128, 256, 32), Tf32, "2x1 n256 stages 4 | 168 40 232 need 160 | tensor cores"),
        ((256, 128, 64), Bf16, "2x1 n128 stages 4 | 168 40 232 need 160 | tensor cores"),
        ((128, 128, 64), Bf16, "2x1 n128 stages 5 | 168 40 232 need 96 | L2"),
        ((64, 256, 64), Bf16, "1x1 n256 stages 4 | 240 40 240 need 160 | L2"),
        ((128, 128, 128), Bf16, "2x1 n128 stages 3 | 168 40 232 need 96 | L2"),
        ((64, 64, 64), Bf16, "1x1 n64 stages 6 | 240 40 240 need 64 | L2"),
    ];
    for (tile, operand, expected) in rows {
        let product = DotLoop::new(tile, operand);
        match plan(&product, &Hints::default(), &machine()) {
            Ok(plan) => assert_eq!(summary(&plan), expected, "{tile:?} {operand:?}"),
            Err(error) => panic!("{tile:?} {operand:?}: {error}"),
        }
    }
}

/// The reasons as a remark prints them.
#[test]
fn reasons() {
    let plan = decide(&DotLoop::new((128, 256, 64), Element::Bf16));
    let expected = [
        "2 consumer warpgroups of 64 rows and 256 columns, 128 accumulators in an estimated 160 registers per thread",
        "registers: 168 at launch, then 40 for the producer and 232 for consumers",
        "4 stages of 49152 bytes: 4 hide a load from memory with one to spare, 4 fit",
        "an iteration takes 1024 clocks, bound by tensor cores: tensor cores 1024, L2 982, ring 679",
        "the epilogue stores chunks of 64 columns from 2 buffers in the memory of the ring",
        "a tile takes 71653 clocks, in 91 % of which the tensor cores are busy (64 iterations assumed)",
    ];
    assert_eq!(plan.reasons, expected);
}

#[test]
fn persistent_loops_keep_their_buffers_apart() {
    let product = DotLoop { over_tiles: true, trips: Some(16), ..DotLoop::new((128, 256, 64), Element::Bf16) };
    let plan = decide(&product);
    assert!(plan.persistent && !plan.epilogue.in_ring);
    assert_eq!((plan.stages, plan.epilogue.buffers, plan.epilogue.bytes), (4, 2, 32768));
    assert_eq!(plan.shared_bytes, 4 * 49152 + 32768 + 1024);
    let alone = decide(&DotLoop { over_tiles: false, ..product });
    assert!(plan.prediction.tile < 0.85 * alone.prediction.tile, "the epilogue is hidden");
    // Results of 32 bits have twice the bytes, so the epilogue bounds short loops.
    let wide = decide(&DotLoop { result_bits: 32, trips: Some(8), ..product });
    assert_eq!(wide.epilogue.columns, 32);
    assert!(wide.prediction.share < 0.95);
}

#[test]
fn operands_in_registers_and_transposed() {
    let base = DotLoop::new((128, 128, 64), Element::Bf16);
    let in_registers = decide(&DotLoop { a_storage: AStorage::Registers { extra: 16 }, ..base });
    assert_eq!(in_registers.registers.estimate, decide(&base).registers.estimate + 16 + 16);
    // 16-bit operands may be contiguous along M and N, so nothing changes.
    let transposed = DotLoop { a_major: Major::Mn, b_major: Major::Mn, ..base };
    assert_eq!(decide(&transposed).prediction, decide(&base).prediction);
    let bytes = DotLoop { b_major: Major::Mn, ..DotLoop::new((128, 256, 128), Element::S8) };
    let plan = decide(&bytes);
    let along_k = decide(&DotLoop { b_major: Major::K, ..bytes });
    assert_eq!((plan.threads, plan.stages), (along_k.threads, along_k.stages));
    assert!(plan.registers.estimate > along_k.registers.estimate);
    assert!(plan.reasons.iter().any(|r| r.contains("32768 bytes of each stage are converted")), "{:?}", plan.reasons);
    // Computed elements are written back in place whatever their order in memory.
    let rounded = DotLoop { computed: [true, false], ..DotLoop::new((128, 256, 32), Element::Tf32) };
    let plan = decide(&rounded);
    assert_eq!(rounded.converted_bytes(), 16384);
    assert!(plan.prediction.conversion > 0.0 && plan.prediction.iteration >= plan.prediction.tensor);
}

/// Consumers hide the transpose of an operand if a dot is in flight. Exact accumulation leaves no dot in flight, so a
/// converter warpgroup transposes instead.
#[test]
fn converters_and_consumers_transpose() {
    let transposed = |tile, operand| DotLoop { b_major: Major::Mn, ..DotLoop::new(tile, operand) };
    let exact = transposed((128, 256, 128), Element::E4m3);
    let plan = decide(&exact);
    let r = plan.registers;
    assert_eq!((plan.consumers(), plan.threads, r.launch), (2, 512, 128));
    assert_eq!((r.producer, r.converter, r.consumer), (24, Some(40), 224));
    let along_k = decide(&DotLoop { b_major: Major::K, ..exact });
    assert_eq!(plan.prediction.iteration, along_k.prediction.iteration);
    assert!(plan.reasons.iter().any(|r| r.contains("by a converter warpgroup")), "{:?}", plan.reasons);
    assert!(plan.reasons.iter().any(|r| r.contains("40 for the converter")), "{:?}", plan.reasons);
    let by_consumers = [
        transposed((128, 256, 128), Element::S8),
        // Shapes that are not panels of 128x128 bytes, an element type of other than 8 bits, or an operand that is
        // also computed.
        transposed((128, 64, 128), Element::E4m3),
        transposed((128, 128, 64), Element::E4m3),
        transposed((128, 128, 32), Element::Tf32),
        DotLoop { computed: [true, false], ..exact },
    ];
    for product in by_consumers {
        let plan = decide(&product);
        assert!(product.converted_bytes() > 0 && plan.registers.converter.is_none(), "{product:?}: {:?}", plan.reasons);
        assert!(plan.reasons.iter().any(|r| r.contains("by the consumers")), "{:?}", plan.reasons);
    }
}

#[test]
fn producer_computed_operands() {
    let base = DotLoop::new((128, 128, 64), Element::Bf16);
    let computed_a =
        DotLoop { producer_computed: [true, false], producer_loads: 1, producer_registers: [88, 60], ..base };
    // The dots hide the loads. The producer gets more registers than its estimate, and the consumers the rest.
    let gathered = decide(&DotLoop { producer_instructions: 120, ..computed_a });
    let r = gathered.registers;
    assert_eq!((gathered.producers, gathered.threads, r.launch, r.producer, r.consumer), (1, 384, 168, 152, 176));
    assert_eq!(gathered.prediction.iteration, decide(&base).prediction.iteration);
    assert!(gathered.reasons.iter().any(|r| r.contains("4 producer warps compute 16384 bytes")));
    // Long computations need two producer warpgroups, which leave fewer registers per thread at launch.
    let computed = decide(&DotLoop { producer_instructions: 1600, ..computed_a });
    assert_eq!((computed.producers, computed.threads, computed.registers.launch), (2, 512, 128));
    assert!(computed.prediction.production > 800.0 && computed.prediction.bound == "the producer's warps");
    // A producer that waits for loaded addresses in each iteration is slower than unspecialized warps.
    let chained = DotLoop { producer_instructions: 300, producer_loads: 3, ..computed_a };
    let refused = plan(&chained, &Hints::default(), &machine()).expect_err("no plan");
    assert!(matches!(refused, NoPlan::Production { producer, instead } if producer > instead), "{refused}");
    // Without a plan that has enough registers, the dots use instructions of single warps.
    let large = DotLoop { producer_registers: [300, 260], producer_instructions: 300, ..computed_a };
    let refused = plan(&large, &Hints::default(), &machine()).expect_err("no plan");
    assert!(matches!(refused, NoPlan::Registers { .. }), "{refused}");
}

#[test]
fn promotion_costs_registers_and_clocks() {
    let exact = DotLoop::new((128, 256, 128), Element::E4m3);
    let fast = DotLoop { exact_accumulation: false, ..exact };
    let (exact, fast) = (decide(&exact), decide(&fast));
    assert_eq!((exact.columns, fast.columns), (128, 256));
    assert_eq!(fast.prediction.promotion, 0.0);
    assert!(exact.prediction.promotion > 900.0);
    // Additions slow the dots down.
    assert!(exact.prediction.iteration > 1.05 * fast.prediction.iteration);
}

#[test]
fn hints_are_costs() {
    let product = DotLoop::new((128, 128, 64), Element::Bf16);
    let machine = machine();
    let with = |hints: Hints| plan(&product, &hints, &machine).unwrap();
    let free = with(Hints::default());
    // Two CTAs fit and hide each other's prologue and epilogue. They also hide each other's waits, so one consumer each
    // suffices, which has registers for wide instructions.
    let two = with(Hints { occupancy: Some(2), ..Hints::default() });
    assert_eq!((free.blocks, two.blocks), (1, 2));
    assert_eq!((free.consumers(), two.consumers()), (2, 1));
    assert_eq!((free.columns, two.columns, two.registers.launch), (128, 128, 128), "{two:?}");
    // The largest tile leaves no memory for a second CTA. The plan ignores the hint, and a reason says so.
    let large = DotLoop::new((128, 256, 64), Element::Bf16);
    let plan_of_large = plan(&large, &Hints { occupancy: Some(4), ..Hints::default() }, &machine).unwrap();
    assert_eq!(plan_of_large.blocks, 1);
    assert!(plan_of_large.reasons.iter().any(|r| r.contains("occupancy = 4 is ignored")));
    // One warpgroup is about as fast for this tile, so the hint decides.
    let four = with(Hints { worker_warps: Some(4), ..Hints::default() });
    assert_eq!((free.consumers(), four.consumers()), (2, 1));
    // A longer latency requires a deeper ring; a shorter one changes nothing.
    assert!(with(Hints { latency: Some(10), ..Hints::default() }).stages > free.stages);
    assert_eq!(with(Hints { latency: Some(1), ..Hints::default() }).stages, free.stages);
}

/// Two CTAs share an SM if the loop is known to be short, so that start and end take more than a tenth of the time. The
/// limit is between the trip counts at which an H200 ran one CTA and two CTAs faster, 64 and 32.
#[test]
fn short_loops_share_an_sm() {
    let base = DotLoop::new((128, 128, 64), Element::Bf16);
    let blocks = |product: &DotLoop| decide(product).blocks;
    for (trips, expected) in [(Some(1), 2), (Some(16), 2), (Some(32), 2), (Some(64), 1), (Some(1000), 1), (None, 1)] {
        assert_eq!(blocks(&DotLoop { trips, ..base }), expected, "{trips:?}");
    }
    let short = DotLoop { trips: Some(16), ..base };
    let plan = decide(&short);
    assert_eq!(summary(&plan), "1x1 n128 stages 3 | 128 40 216 need 160 | latency of the ring");
    assert!(plan.reasons.iter().any(|r| r.contains("(16 iterations)")), "{:?}", plan.reasons);
    // The hint decides even then.
    let one = Hints { occupancy: Some(1), ..Hints::default() };
    assert_eq!(tile_plan::plan(&short, &one, &machine()).unwrap().blocks, 1);
    // A loop over tiles hides start and end itself, and two larger tiles do not fit.
    assert_eq!(blocks(&DotLoop { over_tiles: true, ..short }), 1);
    assert_eq!(blocks(&DotLoop { trips: Some(8), ..DotLoop::new((128, 256, 64), Element::Bf16) }), 1);
}

/// The same for dots that depend on each other, where the hint decides if the trip count is not known.
#[test]
fn short_kernels_share_an_sm() {
    let base = attention(128, 64, 64);
    let rows = [(None, None, 1), (None, Some(2), 2), (Some(8), None, 2), (Some(64), None, 1), (Some(64), Some(2), 2)];
    for (trips, occupancy, expected) in rows {
        let kernel = Kernel { trips, ..base.clone() };
        let hints = Hints { occupancy, ..Hints::default() };
        let plan = plan_kernel(&kernel, &live(128, 64, 64), &hints, &machine()).expect("a plan");
        assert_eq!(plan.blocks, expected, "{trips:?} {occupancy:?}: {:?}", plan.reasons);
        assert_eq!(plan.tile.is_some(), trips.is_some());
        assert!(plan.tile.is_none_or(|tile| tile >= f64::from(trips.unwrap_or(0)) * plan.iteration), "{plan:?}");
        let says = |what: &str| plan.reasons.iter().any(|r| r.contains(what));
        assert_eq!(says("clocks to start and end"), trips.is_some());
        assert!(!says("is ignored"), "{:?}", plan.reasons);
    }
}

#[test]
fn refusals() {
    let machine = machine();
    let refuse = |p: &DotLoop| plan(p, &Hints::default(), &machine).unwrap_err();
    let base = DotLoop::new((128, 256, 64), Element::Bf16);
    assert_eq!(refuse(&DotLoop { tensor_copies: false, ..base }), NoPlan::NoTensorCopies);
    assert_eq!(refuse(&DotLoop { m: 32, ..base }), NoPlan::Shape { m: 32, n: 256, k: 64 });
    assert_eq!(refuse(&DotLoop { k: 8, ..base }), NoPlan::Shape { m: 128, n: 256, k: 8 });
    assert_eq!(refuse(&DotLoop { n: 96, ..base }), NoPlan::Shape { m: 128, n: 96, k: 64 });
    // Two consumers would hold 256 accumulators per thread, and four consumers have too many threads.
    let square = refuse(&DotLoop { m: 256, ..base });
    assert_eq!(square, NoPlan::Registers { needed: 288, available: 240 });
    let huge = refuse(&DotLoop { m: 512, ..base });
    assert!(matches!(huge, NoPlan::Registers { .. }), "{huge}");
    let deep = refuse(&DotLoop { k: 256, ..base });
    assert_eq!(deep, NoPlan::SharedMemory { stage: 196608, available: 231424 });
    assert_eq!(Machine::named("sm_00").unwrap_err().to_string(), "no machine 'sm_00'");
    let empty = Machine::parse(r#"{"name": "none", "device": "none", "values": {}}"#).unwrap();
    let error = plan(&base, &Hints::default(), &empty).unwrap_err();
    assert_eq!(error.to_string(), "machine none has no number 'sm.registers'");
}

/// Every plan fits the machine.
#[test]
fn plans_fit() {
    use Element::{Bf16, E4m3, S8, Tf32};
    let machine = machine();
    let mut plans = 0;
    for operand in [Bf16, Tf32, E4m3, S8] {
        for (m, n) in (5..10).flat_map(|m| (3..10).map(move |n| (1 << m, 1 << n))) {
            for (k, over_tiles) in (3..9).flat_map(|k| [(1 << k, false), (1 << k, true)]) {
                for (occupancy, b_major) in [(None, Major::K), (Some(2), Major::Mn), (Some(16), Major::K)] {
                    let product = DotLoop { over_tiles, b_major, ..DotLoop::new((m, n, k), operand) };
                    let hints = Hints { occupancy, ..Hints::default() };
                    let Ok(plan) = plan(&product, &hints, &machine) else { continue };
                    plans += 1;
                    let r = plan.registers;
                    assert!(r.estimate <= r.consumer && r.consumer <= 240 && r.producer >= 24, "{product:?}: {plan:?}");
                    assert!([r.launch, r.producer, r.consumer].iter().all(|r| r % 8 == 0));
                    assert!(r.launch >= plan.columns / 2 + 26, "{product:?}: {plan:?}");
                    assert!(r.producer + plan.consumers() * r.consumer <= r.launch * plan.threads / 128);
                    assert!(r.launch * plan.threads * plan.blocks <= 65536);
                    assert!(plan.threads * plan.blocks <= 2048);
                    assert!(plan.blocks * (plan.shared_bytes + 1024) <= 233472 && plan.shared_bytes <= 232448);
                    assert!(plan.stages >= 2 && plan.columns <= 256 && plan.columns >= 8);
                    assert!((plan.epilogue.bytes <= plan.shared_bytes) && plan.prediction.share <= 1.0);
                    assert!(!plan.reasons.is_empty());
                }
            }
        }
    }
    assert!(plans > 1000, "{plans}");
}

/// Attention with tiles of `m` queries and `n` keys of depth `d`.
fn attention(m: u32, n: u32, d: u32) -> Kernel {
    let scores = DotLoop::new((m, n, d), Element::Bf16);
    let values = DotLoop {
        a_storage: AStorage::Registers { extra: 0 },
        b_major: Major::Mn,
        ..DotLoop::new((m, d, n), Element::Bf16)
    };
    Kernel {
        dots: vec![scores, values],
        elsewhere: vec![],
        rings: vec![Ring { stage: 2 * n * d, steps: 2 }],
        resident: 2 * m * d,
        scratch: 5120,
        producer_registers: 0,
        computed: 8 * u64::from(m * n) + u64::from(m * d),
        trips: None,
    }
}

/// The registers of scores, of weights (half as many), and of the result, for the rows of one warpgroup.
fn live(m: u32, n: u32, d: u32) -> impl Fn(u32) -> u32 {
    move |groups| m / groups / 32 * (n / 4 + n / 8 + d / 4) + 6
}

#[test]
fn kernels_of_several_products() {
    // `groups columns stages blocks | registers at launch, producer, consumer`.
    let rows = [
        ((128, 128, 128), "2 n128 stages 4 blocks 1 | 168 40 232"),
        ((128, 64, 128), "2 n128 stages 8 blocks 1 | 168 40 232"),
        ((128, 128, 64), "2 n128 stages 8 blocks 1 | 168 40 232"),
        // The rows of one warpgroup: a second CTA replaces the second warpgroup.
        ((64, 64, 64), "1 n64 stages 8 blocks 2 | 128 40 216"),
    ];
    for ((m, n, d), expected) in rows {
        let plan = plan_kernel(&attention(m, n, d), &live(m, n, d), &Hints::default(), &machine());
        let plan = plan.unwrap_or_else(|e| panic!("{m}x{n}x{d}: {e}"));
        let r = plan.registers;
        let found = format!(
            "{} n{} stages {} blocks {} | {} {} {}",
            plan.groups, plan.columns, plan.stages, plan.blocks, r.launch, r.producer, r.consumer
        );
        assert_eq!(found, expected, "{m}x{n}x{d}");
        assert!(r.estimate <= r.consumer);
        let taken = plan.stages * 2 * n * d + 2 * m * d + 5120 + plan.shared_left;
        assert!(taken * plan.blocks <= 228 * 1024, "{m}x{n}x{d} takes {taken} bytes");
    }
}

/// Partial results of 8-bit floats are promoted to an f32 accumulator. If registers cannot hold both for all columns,
/// the instructions are narrower.
#[test]
fn narrower_instructions_save_registers() {
    let of = |n: u32, live: u32| {
        let (m, d) = (128, 128);
        let scores = DotLoop::new((m, n, d), Element::E4m3);
        let values = DotLoop {
            a_storage: AStorage::Registers { extra: 0 },
            exact_accumulation: true,
            ..DotLoop::new((m, d, n), Element::E4m3)
        };
        let kernel = Kernel { dots: vec![scores, values], ..attention(m, n, d) };
        plan_kernel(&kernel, &|_| live, &Hints::default(), &machine())
    };
    let wide = of(64, 120).expect("a plan");
    assert_eq!((wide.columns, wide.registers.estimate), (128, 120 + 64 + 32));
    let narrow = of(128, 160).expect("a plan");
    assert_eq!((narrow.columns, narrow.registers.estimate), (64, 160 + 32 + 32));
    let reason = "instructions of 64 columns, which keep fewer partial results in registers";
    assert!(narrow.reasons.iter().any(|r| r == reason) && !wide.reasons.iter().any(|r| r == reason));
    assert!(matches!(of(128, 230), Err(NoPlan::Registers { .. })));
}

#[test]
fn kernels_that_do_not_fit() {
    let refuse = |kernel: &Kernel, live: &dyn Fn(u32) -> u32| {
        plan_kernel(kernel, live, &Hints::default(), &machine()).expect_err("no plan")
    };
    let wide = attention(128, 256, 256);
    assert!(matches!(refuse(&wide, &live(128, 256, 256)), NoPlan::Registers { .. }));
    // Two stages of 128 KB.
    let deep = Kernel { rings: vec![Ring { stage: 128 << 10, steps: 2 }], ..attention(128, 64, 64) };
    assert!(matches!(refuse(&deep, &|_| 100), NoPlan::SharedMemory { .. }));
    let flat = attention(32, 64, 64);
    assert!(matches!(refuse(&flat, &|_| 50), NoPlan::Shape { m: 32, .. }));
}

/// The reasons of a kernel's plan, with a hint that is ignored.
#[test]
fn kernel_reasons() {
    let hints = Hints { occupancy: Some(2), ..Hints::default() };
    let plan = plan_kernel(&attention(128, 128, 128), &live(128, 128, 128), &hints, &machine()).expect("a plan");
    let expected = [
        "2 dots per iteration, 1 with the left operand in registers, issued by 2 consumer warpgroups",
        "4 stages of 32768 bytes and 32768 resident bytes; 166 registers for tiles, an estimated 198 of 232 in all",
        "1 CTA per SM; an iteration takes 2304 clocks, bound by arithmetic",
        "the hint occupancy = 2 is ignored: 1 is faster or the most that fits",
    ];
    assert_eq!(plan.reasons, expected);
}
