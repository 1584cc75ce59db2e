//! Plans kernels whose dots depend on each other, with `tcgen05.mma`: accumulators and computed left operands are in
//! tensor memory.
//!
//! A thread of the consumers holds whole rows; of a tile of 64 rows, four threads share two rows. In an iteration of
//! attention, it waits for its row of scores, computes with it, scales its row of the results, and stores its row of
//! weights for the next dot. One CTA therefore alternates between tensor cores and arithmetic. Two CTAs per SM overlap:
//! one computes while dots of the other one run. They fit if each takes half of the registers, of shared memory and of
//! the columns of tensor memory.
//!
//! The consumers get most registers (`setmaxnreg`). The other warps, one that loads and one that issues dots, are
//! therefore filled up to a warpgroup.
//!
//! *Example.* Attention on a B200, 128 queries and 128 keys of depth 128 in bf16. Each of two CTAs has 32 768
//! registers: 208 for each thread of four consumer warps, and 48 for each thread of four other warps. A thread holds
//! 128 scores. Scores and results take 128 columns each, and weights the columns of the scores. The queries and two
//! stages of 32 KB take 96 of 113 KB.
//!
//! # Bound on the work
//!
//! Three candidates, each linear in the number of dots.

use crate::dot::{DotLoop, Hints, NoPlan};
use crate::kernel::{Kernel, whole_rounds};
use crate::machine::Machine;
use crate::model::MAX_STAGES;
use crate::plural;
use crate::tensor::{COLUMNS, LOADING_WARPS, MATRIX_WARPS};

/// Warpgroups of consumers and CTAs per SM, in order of preference. Two warpgroups divide rows, or the columns of 128
/// rows: reductions then pass through shared memory.
const CANDIDATES: [(u32, u32); 3] = [(1, 2), (2, 1), (1, 1)];

/// Warps of a warpgroup.
const WARPGROUP: u32 = 4;
/// Registers of a thread that issues loads or dots: all of its addresses, or the least with which it runs.
const LOADING_REGISTERS: [u32; 2] = [72, 48];
/// Registers of a consumer thread beyond its estimate, so that all other agents may have theirs.
const MARGIN: u32 = 40;
/// Registers of a consumer thread for addresses and counters, in addition to tensors. In whole rows, few values belong
/// to a row but not to a column.
const OTHER_REGISTERS: u32 = 32;

/// The plan of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct DependentPlan {
    /// Warpgroups of consumers.
    pub warpgroups: u32,
    /// Warps of the producer.
    pub producer_warps: u32,
    /// Resident CTAs per SM.
    pub blocks: u32,
    /// The maximum number of columns of an instruction.
    pub columns: u32,
    /// Stages of each ring.
    pub stages: u32,
    /// Warps that fill up the last warpgroup.
    pub spare_warps: u32,
    /// Registers per thread: at launch, of the consumers, and of all others.
    pub launch_registers: u32,
    pub consumer_registers: u32,
    pub other_registers: u32,
    /// Bytes of shared memory that remain free.
    pub shared_left: u32,
    /// The reasons for the choice, which remarks print.
    pub reasons: Vec<String>,
}

/// Chooses warpgroups, CTAs per SM and stages of a kernel whose accumulators and left operands take `columns` columns
/// of tensor memory. `live(groups)` is the number of registers per consumer thread that hold tiles, if that many
/// warpgroups divide them.
///
/// Errors: no candidate fits; the error is that of the candidate with most resources.
pub fn plan_dependent(
    kernel: &Kernel,
    columns: u32,
    live: &dyn Fn(u32) -> u32,
    hints: &Hints,
    machine: &Machine,
) -> Result<DependentPlan, NoPlan> {
    kernel.dots.iter().chain(&kernel.elsewhere).try_for_each(DotLoop::check_tensor_shape)?;
    if columns > COLUMNS {
        return Err(NoPlan::TensorMemory { needed: columns, available: COLUMNS });
    }
    let mut refusal = None;
    for (warpgroups, blocks) in CANDIDATES {
        match complete(kernel, (columns, live(warpgroups)), machine, (warpgroups, blocks)) {
            Ok(mut plan) => {
                let hinted =
                    [("occupancy", hints.occupancy, blocks), ("num_worker_warps", hints.worker_warps, 4 * warpgroups)];
                for (name, asked, taken) in hinted {
                    if let Some(asked) = asked.filter(|&asked| asked != taken) {
                        plan.reasons
                            .push(format!("the hint {name} = {asked} is ignored: {taken} is expected to be faster"));
                    }
                }
                return Ok(plan);
            }
            Err(error) => refusal = Some(error),
        }
    }
    Err(refusal.unwrap_or(NoPlan::TensorMemory { needed: columns, available: COLUMNS }))
}

fn complete(
    kernel: &Kernel,
    (columns, live): (u32, u32),
    machine: &Machine,
    (warpgroups, blocks): (u32, u32),
) -> Result<DependentPlan, NoPlan> {
    let whole = |key: &str| machine.get(key).map(|v| v as u32);
    let producer_warps = if kernel.producer_registers > 0 { WARPGROUP } else { LOADING_WARPS };
    let others = (producer_warps + MATRIX_WARPS).next_multiple_of(WARPGROUP);
    let spare_warps = others - producer_warps - MATRIX_WARPS;
    let all_warps = WARPGROUP * warpgroups + others;
    let eights = |registers: u32| registers / 8 * 8;
    let [least, most] = [whole("setmaxnreg.least")?, whole("setmaxnreg.most")?];
    let launch = eights(whole("sm.registers")? / (32 * all_warps * blocks)).min(most);
    let needed = live + OTHER_REGISTERS;
    let all = launch * all_warps / WARPGROUP;
    let [all_addresses, loading] =
        LOADING_REGISTERS.map(|n| kernel.producer_registers.next_multiple_of(8).max(least).max(n));
    // Registers of one thread of each warpgroup of consumers, beside other agents with this many.
    let beside = |other: u32| eights(all.saturating_sub(other * others / WARPGROUP) / warpgroups).min(most);
    let is_enough = needed + MARGIN <= beside(all_addresses);
    let registers = beside(if is_enough { all_addresses } else { loading });
    // The other agents take what is left.
    let left = eights(all.saturating_sub(registers * warpgroups) / (others / WARPGROUP));
    let other_registers = left.clamp(loading, most);
    if needed > registers {
        return Err(NoPlan::Registers { needed, available: registers });
    }
    // The hardware allocates powers of two.
    if columns.next_power_of_two() * blocks > COLUMNS {
        return Err(NoPlan::TensorMemory { needed: columns, available: COLUMNS / blocks });
    }
    let available =
        (whole("sm.shared_bytes")? / blocks - whole("sm.shared_reserved")?).min(whole("sm.shared_block_bytes")?);
    let stage: u32 = kernel.rings.iter().map(|r| r.stage).sum();
    let room = available.saturating_sub(kernel.resident + kernel.scratch);
    let stages = room.checked_div(stage).unwrap_or(MAX_STAGES).min(MAX_STAGES);
    let stages = whole_rounds(stages, &kernel.rings);
    // With several rings, the dots of one run while the other one is filled.
    if stages < if kernel.rings.len() > 1 { 1 } else { 2 } {
        return Err(NoPlan::SharedMemory { stage, available: room });
    }
    let dots = kernel.dots.iter().chain(&kernel.elsewhere);
    let width = dots.map(|dot| dot.n.min(256)).max().unwrap_or(256);
    let interval = machine.get("tcgen05.f16.n256.interval")?;
    let tensor: f64 = kernel.dots.iter().map(|dot: &DotLoop| dot.tensor_clocks(interval)).sum();
    let reasons = vec![
        format!("one thread issues {} per iteration into tensor memory", plural(kernel.dots.len() as u32, "dot")),
        format!("{columns} of {COLUMNS} columns of tensor memory per CTA, {} per SM", plural(blocks, "CTA")),
        format!(
            "{} of consumers with {registers} registers per thread and an estimated need of {needed}; threads hold whole rows",
            plural(warpgroups, "warpgroup")
        ),
        format!("{} of {stage} bytes and {} resident bytes", plural(stages, "stage"), kernel.resident),
        format!("the tensor cores need {tensor:.0} clocks for an iteration"),
    ];
    let shared_left = room - stages * stage;
    Ok(DependentPlan {
        warpgroups,
        producer_warps,
        spare_warps,
        launch_registers: launch,
        consumer_registers: registers,
        other_registers,
        blocks,
        columns: width,
        stages,
        shared_left,
        reasons,
    })
}
