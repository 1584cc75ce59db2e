//! Plans kernels whose consumer warps use `mma.sync`, while a producer loads their operands by TMA.
//!
//! Each dot reads the operands of its rings by `ldmatrix`. A left operand is in registers if it is computed from
//! another dot, before the loop, or from a tile that has a ring of its own. Kernels with any other operand have no
//! agents.

use super::{
    Found, Limits, Planned, PlannedOperand, agents_of_warps,
    kernel::{Pressure, is_in_rows, other_bytes},
    refusal,
    resident_loads::ResidentLoad,
    rings, scratch,
};
use crate::{
    analysis::facts::Facts,
    dialect::{
        dot_plan::{DotPlan, WARPGROUP},
        layouts::{Tensor, storage_bits},
        loops::is_in_loop,
        nv_tileaa::{ReduceOp, TiledStoreOp},
        nv_tileas::MmaKind,
        pass::Obstacle,
        rt::*,
        shared_memory::padded_bytes,
    },
};
use tile_mma::Unit;
use tile_plan::{MAX_STAGES, SyncKernel, plan_sync};
use tile_targets::{Feature, Target};

pub(super) fn plan<'c>(
    function: OpRef<'c>,
    found: &[Found<'c>],
    (facts, target): (&Facts, &Target),
    (hints, machine, tiles): Limits<'_>,
) -> Result<Planned, Obstacle<'c>> {
    for p in found {
        check(p)?;
    }
    let op = found[0].op;
    let rings = rings(found);
    if rings.is_empty() {
        return Err((op, "no operand of its dots is loaded".into()));
    }
    if !found.iter().any(|p| is_in_loop(p.op)) {
        return Err((op, "no dot is in a loop".into()));
    }
    let barriers = 2 * rings.len() as u32 * MAX_STAGES;
    let kernel = SyncKernel {
        dots: found.iter().map(|p| p.dot_loop).collect(),
        whole_rows: has_whole_rows(function, found),
        byte_matrices: target.has(Feature::MatrixB8),
        ring: rings.iter().flatten().map(|(stage, _)| padded_bytes(*stage) as u32).sum(),
        other: other_bytes(function, barriers) + tiles,
        steps: found.iter().map(|p| in_iteration(found, p)).max().unwrap_or(1),
        scratch: scratch(function, &found[0].dot_loop, found, &[]),
        result: stored_in_loops(function),
    };
    let pressure = Pressure::of(function, found).with_residents(found).with_parts();
    let planned = |other: u32| {
        let kernel = SyncKernel { other: kernel.other + other, ..kernel.clone() };
        plan_sync(&kernel, &|groups| pressure.registers(groups), hints, machine)
    };
    // Left operands from before the loop use a ring with stages of their type, or one stage more.
    let of = |p| ResidentLoad::of(p, function, (facts, Unit::Sync, target));
    let staged: Vec<ResidentLoad<'c>> = found.iter().filter_map(of).collect();
    let has_ring = |s: &&ResidentLoad<'c>| rings.iter().any(|ring| ring[..] == [(s.stage, false)]);
    let (shared, own): (Vec<&ResidentLoad<'c>>, Vec<&ResidentLoad<'c>>) = staged.iter().partition(has_ring);
    let bytes = own.iter().map(|s| padded_bytes(s.stage) as u32).max().unwrap_or(0);
    let with_own = planned(bytes).ok().filter(|plan| !own.is_empty() && plan.stages >= 2 * kernel.steps);
    let moved = if with_own.is_some() { own } else { vec![] };
    shared.into_iter().chain(moved).for_each(|s| s.mark());
    let plan = with_own.map_or_else(|| planned(0), Ok).map_err(|e| refusal(found, &e))?;
    let planned = DotPlan {
        unit: MmaKind::Sync,
        accumulators: 1,
        slices: 1,
        whole_rows: false,
        issue_ahead: false,
        groups: [plan.consumer_warps / WARPGROUP, 1],
        columns: kernel.dots.iter().map(|dot| dot.n).max().unwrap_or(1),
        stages: plan.stages,
        scratch: plan.scratch,
        launch_registers: plan.launch_registers,
        agents: agents_of_warps([plan.consumer_warps, plan.producer_warps], plan.divided),
    };
    Ok((planned, plan.reasons))
}

/// The number of stages of a dot's ring that an iteration of its loop reads.
fn in_iteration(found: &[Found<'_>], p: &Found<'_>) -> u32 {
    found.iter().filter(|o| o.stage == p.stage && block_of(o.op) == block_of(p.op)).count() as u32
}

/// The size of the largest tile that is stored in a loop, while the rings are in use. Elements of 32 bits are stored
/// directly from registers.
fn stored_in_loops(function: OpRef<'_>) -> u32 {
    let bytes = |o| {
        let stored = TiledStoreOp::cast(o).filter(|_| is_in_loop(o)).and_then(|s| Tensor::of_value(s.value()))?;
        let bits = u64::from(storage_bits(stored.element));
        u32::try_from(stored.elements() as u64 * bits / 8).ok().filter(|_| bits <= 16)
    };
    collect_ops(function, bytes).into_iter().max().unwrap_or(0)
}

/// Checks that consumer warps can multiply the operands of a dot.
fn check<'c>(p: &Found<'c>) -> Result<(), Obstacle<'c>> {
    if p.sides[1].stage().is_none() {
        return Err((p.op, "the right operand is not a tile that TMA loads for the dot".to_string()));
    }
    Ok(())
}

/// Whether each warp has whole rows: a dot reads the result of another one, or the columns of a result are reduced.
fn has_whole_rows(function: OpRef<'_>, found: &[Found<'_>]) -> bool {
    let in_registers = |p: &Found<'_>| matches!(p.sides[0], PlannedOperand::Registers(_));
    let reduced = collect_ops(function, |o| {
        let reduce = ReduceOp::cast(o).filter(|r| r.dim() == 1)?;
        operands(reduce.op()).any(|v| is_in_rows(v, 1)).then_some(())
    });
    found.iter().any(in_registers) || !reduced.is_empty()
}
