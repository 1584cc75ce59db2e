//! Plans of dots of `mma.sync` whose operands TMA loads.

use tile_mma::{Element, Major};
use tile_plan::{DotLoop, Hints, Machine, NoPlan, SyncKernel, SyncPlan, plan_sync};

fn kernel(m: u32, n: u32, k: u32) -> SyncKernel {
    let dot = DotLoop::new((m, n, k), Element::Bf16);
    SyncKernel {
        whole_rows: false,
        byte_matrices: false,
        ring: dot.stage_bytes(),
        steps: 1,
        other: 512,
        scratch: 0,
        result: 0,
        dots: vec![dot],
    }
}

/// The plan on sm_120 if a thread of eight warps holds `tensors` registers of tensors, and of four warps twice as many.
fn planned(kernel: &SyncKernel, tensors: u32, hints: Hints) -> Result<SyncPlan, NoPlan> {
    let machine = Machine::named("sm_120").expect("a machine");
    plan_sync(kernel, &|groups| 2 * tensors / groups, &hints, &machine)
}

fn unhinted(kernel: &SyncKernel, tensors: u32) -> SyncPlan {
    planned(kernel, tensors, Hints::default()).expect("a plan")
}

/// A CTA gets registers for groups of four warps, so that nine warps have as many as twelve.
#[test]
fn registers_of_groups_of_warps() {
    let few = unhinted(&kernel(128, 128, 64), 64);
    assert_eq!((few.consumer_warps, few.producer_warps, few.launch_registers, few.divided), (8, 1, 168, None));
    let many = unhinted(&kernel(128, 256, 64), 128);
    let divided = Some([224, 56]);
    assert_eq!((many.consumer_warps, many.producer_warps, many.launch_registers, many.divided), (8, 4, 168, divided));
    // The producer gives up what the consumers need.
    assert_eq!(unhinted(&kernel(128, 256, 64), 158).divided, Some([232, 40]));
    assert_eq!(unhinted(&kernel(128, 256, 64), 168).divided, Some([240, 24]));
    let error = planned(&kernel(128, 256, 64), 169, Hints::default());
    assert_eq!(error, Err(NoPlan::Registers { needed: 241, available: 240 }));
}

#[test]
fn hints_choose_warps_and_blocks() {
    let four = Hints { worker_warps: Some(4), ..Hints::default() };
    let plan = planned(&kernel(128, 128, 64), 64, four).expect("a plan");
    assert_eq!((plan.consumer_warps, plan.producer_warps, plan.launch_registers), (4, 1, 248));
    // Two CTAs share an SM if each has enough stages, and one if the program asks for it.
    assert_eq!(unhinted(&kernel(64, 64, 32), 16).launch_registers, 80);
    let alone = Hints { occupancy: Some(1), ..Hints::default() };
    assert_eq!(planned(&kernel(64, 64, 32), 16, alone).expect("a plan").launch_registers, 168);
}

/// A whole result leaves two stages to the ring, and other conversions three.
#[test]
fn scratch_and_stages_share_the_memory() {
    let plain = unhinted(&kernel(128, 128, 64), 64);
    assert_eq!(plain.stages, 3);
    let stored = unhinted(&SyncKernel { result: 32 << 10, ..kernel(128, 128, 64) }, 64);
    assert_eq!(stored.stages, 2);
    assert!(stored.scratch >= 32 << 10);
    let converted = unhinted(&SyncKernel { scratch: 32 << 10, ..kernel(128, 128, 64) }, 64);
    assert_eq!(converted, plain);
    // All of the memory is used, and no more.
    for plan in [plain, stored] {
        assert_eq!(512 + plan.stages * (32 << 10) + plan.scratch, 101_376);
    }
    let large = planned(&kernel(256, 256, 64), 64, Hints::default());
    assert_eq!(large, Err(NoPlan::SharedMemory { stage: 64 << 10, available: 101_376 }));
}

#[test]
fn operands_and_tiles_that_warps_cannot_read() {
    let dot = DotLoop { b_major: Major::Mn, ..DotLoop::new((128, 128, 128), Element::E4m3) };
    let bytes = SyncKernel { dots: vec![dot], ..kernel(128, 128, 64) };
    assert_eq!(planned(&bytes, 64, Hints::default()), Err(NoPlan::Converted));
    let transposing = SyncKernel { byte_matrices: true, ..bytes };
    assert_eq!(planned(&transposing, 64, Hints::default()).map(|plan| plan.stages), Ok(3));
    // Words are read in any order.
    let dot = DotLoop { b_major: Major::Mn, ..DotLoop::new((128, 128, 32), Element::Tf32) };
    let words = SyncKernel { dots: vec![dot], ..transposing };
    assert_eq!(planned(&words, 64, Hints::default()).map(|plan| plan.stages), Ok(3));
    let small = planned(&kernel(16, 16, 64), 4, Hints::default());
    assert_eq!(small, Err(NoPlan::SyncShape { m: 16, n: 16, k: 64 }));
    // Whole rows cannot be divided over more warps than there are blocks of 16 rows.
    let rows = SyncKernel { whole_rows: true, ..kernel(64, 128, 64) };
    assert_eq!(unhinted(&rows, 32).consumer_warps, 4);
}
