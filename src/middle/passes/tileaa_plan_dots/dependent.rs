//! Plans kernels of dependent dots whose accumulators are in tensor memory, such as attention.
//!
//! A left operand that consumers compute from another dot goes to tensor memory, a resident operand to shared memory.
//! The accumulator of a loop stays in tensor memory if the loop only adds to it, or multiplies its rows by factors
//! before (`analysis::memory_dots`). All other accumulators are there for one dot, and the consumers read them.

use super::{
    Found, Limits, Obstacle, Planned, PlannedOperand,
    kernel::{LANES, MOST_GROUPS, Pressure, kernel, movers, repeated_maps},
    least_scratch, mark_computed, reasons, refusal, rings,
};
use crate::{
    analysis::{
        column_slices,
        memory_dots::{replaced_accumulator, shared_accumulators},
        producers::skip_conversions,
    },
    dialect::{
        dot_plan::{Agent, CONSUMERS, DotPlan, MATRIX, PRODUCER, SPARE, WARPGROUP},
        dots::{ACC, TileDot},
        layouts::{Tensor, storage_bits},
        nv_tileaa::TiledStoreOp,
        nv_tileas::MmaKind,
        rt::*,
        shared_memory::{SCRATCH_BYTES, STORAGES},
    },
};
use rustc_hash::FxHashSet;
use tile_plan::{DependentPlan, Kernel, plan_dependent};

/// Whether an operand of a dot is not a tile of a ring.
pub(super) fn applies(found: &[Found<'_>]) -> bool {
    found.iter().any(|p| !p.sides.iter().all(|side| side.stage().is_some()))
}

/// Plans the dots of a function. If `takes_over`, its CTAs may take over tile blocks.
pub(super) fn plan<'c>(
    function: OpRef<'c>,
    (found, takes_over): (&[Found<'c>], bool),
    (hints, machine, staged): Limits<'_>,
) -> Result<Planned, Obstacle<'c>> {
    for p in found {
        check(p)?;
    }
    let op = found[0].op;
    if rings(found).is_empty() {
        return Err((op, "no operand of its dots is loaded".into()));
    }
    let kernel = kernel(function, found, staged);
    let pressure = Pressure::without_accumulators(function, found);
    let beside = |columns, storage: u32| {
        // Conversions of layouts use the same memory.
        let counted = least_scratch(MOST_GROUPS) * movers(found) + repeated_maps(function);
        let scratch = kernel.scratch + storage.saturating_sub(counted);
        let kernel = Kernel { scratch, ..kernel.clone() };
        plan_dependent(&kernel, columns, &|groups| pressure.registers(groups), hints, machine)
    };
    let with = |columns| beside(columns, 0);
    let [all, shared] = [false, true].map(|replace| columns(found, replace));
    let least = with(shared).map_err(|e| refusal(found, &e))?;
    // Left operands get columns of their own if that costs nothing else.
    let alike = |plan: &DependentPlan| (plan.warpgroups, plan.blocks) == (least.warpgroups, least.blocks);
    let apart = (all > shared).then(|| with(all).ok()).flatten().filter(alike);
    let issue_ahead = apart.is_some();
    let (plan, columns) = apart.map_or((least, shared), |plan| (plan, all));
    // A CTA that takes over tile blocks stores results while the rings are in use.
    let takes_over = takes_over && has_own_rows(function, plan.warpgroups);
    let slices = SLICES.into_iter().filter(|_| takes_over).find_map(|slices| {
        let storage = storage_of_slices(function, slices)?;
        let with = beside(columns, storage).ok()?;
        let alike = |p: &DependentPlan| (p.warpgroups, p.blocks, p.stages);
        (alike(&with) == alike(&plan)).then_some((slices, storage))
    });
    let (slices, storage) = slices.unwrap_or((1, 0));
    mark_computed(found, false);
    let reasons = reasons(plan.reasons.clone(), found);
    let planned = DotPlan {
        unit: MmaKind::Tensor,
        accumulators: 1,
        slices,
        whole_rows: true,
        issue_ahead,
        groups: [1, plan.warpgroups],
        columns: plan.columns,
        stages: plan.stages,
        scratch: (least_scratch(plan.warpgroups) + plan.shared_left / movers(found))
            .min(SCRATCH_BYTES as u32)
            .max(storage),
        launch_registers: plan.launch_registers,
        agents: agents(&plan),
    };
    Ok((planned, reasons))
}

/// The slices of columns in which a result is stored, the fewest first.
const SLICES: [u32; 3] = [1, 2, 4];

/// The bytes of the coordinates of the next tile block, in two stages, and of their barriers.
const TILE_BLOCK_BYTES: u32 = 256 + 32;

/// The bytes through which results are stored in slices: two slices in turn, or a whole result. `None` if a store
/// cannot be divided, or if threads store its elements directly.
fn storage_of_slices(function: OpRef<'_>, slices: u32) -> Option<u32> {
    let stores = column_slices::stores(function, slices);
    let bytes = |s: &TiledStoreOp<'_>| {
        let t = Tensor::of_value(s.value()).filter(|t| storage_bits(t.element) <= 16)?;
        u32::try_from(t.elements() as u64 * u64::from(storage_bits(t.element)) / 8).ok()
    };
    let all: Vec<u32> = stores.iter().map(bytes).collect::<Option<_>>()?;
    let in_turn = if slices == 1 { 1 } else { STORAGES as u32 };
    Some(all.into_iter().max()? / slices * in_turn + TILE_BLOCK_BYTES)
}

/// Whether a CTA has the memory to store results while its rings are in use.
pub(super) fn can_take_over(function: OpRef<'_>, plan: &DotPlan) -> bool {
    let storage = storage_of_slices(function, plan.slices);
    has_own_rows(function, plan.groups[1]) && storage.is_some_and(|bytes| bytes <= plan.scratch)
}

/// Whether each warpgroup of consumers has rows of its own in all accumulators.
fn has_own_rows(function: OpRef<'_>, warpgroups: u32) -> bool {
    let rows = |dot: TileDot<'_>| Tensor::of_value(operand(dot.op(), ACC)).map_or(0, |t| t.shape[0] as u64);
    let is_own = |rows| rows == u64::from(warpgroups) * LANES;
    warpgroups == 1 || collect_ops(function, TileDot::cast).into_iter().map(rows).all(is_own)
}

/// The agents of a plan, in the order of their warps.
fn agents(plan: &DependentPlan) -> Vec<Agent> {
    let agent = |name, warps| Agent::new(name, warps, plan.other_registers);
    let consumers = Agent::new(CONSUMERS, plan.warpgroups * WARPGROUP, plan.consumer_registers);
    let spare = SPARE.into_iter().filter(|(_, warps)| plan.spare_warps & warps != 0);
    let others = [(PRODUCER, plan.producer_warps), (MATRIX, 1)].into_iter().chain(spare);
    [consumers].into_iter().chain(others.map(|(name, warps)| agent(name, warps))).collect()
}

/// Checks that a dot can accumulate in tensor memory.
fn check<'c>(p: &Found<'c>) -> Result<(), Obstacle<'c>> {
    let not = |reason: &str| Err((p.op, reason.to_string()));
    if p.dot_loop.computed != [false; 2] {
        return not("an operand is computed from a loaded tile");
    }
    for side in &p.sides {
        if let PlannedOperand::Resident(v) = side
            && defining_op(skip_conversions(*v)).is_none_or(|o| region_count(o) > 0)
        {
            return not("a loop or branch carries an operand");
        }
    }
    Ok(())
}

/// The columns of tensor memory of all accumulators, and of the left operands that do not replace one, if they may
/// `replace` one, or of all left operands.
fn columns(found: &[Found<'_>], replace: bool) -> u32 {
    let mut replaced = FxHashSet::default();
    let dots: Vec<OpRef<'_>> = found.iter().map(|p| p.op).collect();
    let first = |group: &Vec<usize>| found[group[0]].dot_loop.tensor_columns();
    let mut sum = shared_accumulators(&dots).iter().map(first).sum();
    for p in found.iter().filter(|p| matches!(p.sides[0], PlannedOperand::Registers(_))) {
        match replaced_accumulator(p.op, |from| replace && !replaced.contains(&op_key(from))) {
            Some(from) => _ = replaced.insert(op_key(from)),
            None => sum += Tensor::of_value(operand(p.op, 0)).map_or(0, |t| operand_columns(&t)),
        }
    }
    sum
}

/// The columns of a left operand.
fn operand_columns(t: &Tensor<'_>) -> u32 {
    let blocks = (t.shape[0] as u64).div_ceil(LANES);
    (blocks * t.shape[1] as u64 * u64::from(storage_bits(t.element)) / 32) as u32
}
