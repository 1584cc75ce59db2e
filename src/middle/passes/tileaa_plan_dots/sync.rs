//! Plans kernels whose consumer warps use `mma.sync`, while a producer loads their operands by TMA.
//!
//! Each dot reads the operands of its rings by `ldmatrix`. A left operand that is computed from another dot, or before
//! the loop, is in registers. Kernels with any other operand have no agents.

use super::{
    Found, PlannedOperand, agents_of_warps,
    kernel::{Pressure, is_in_rows, other_bytes},
    refusal, rings, scratch,
};
use crate::dialect::{
    dot_plan::{DotPlan, WARPGROUP},
    layouts::{Tensor, storage_bits},
    loops::is_in_loop,
    nv_tileaa::{ReduceOp, TiledStoreOp},
    nv_tileas::MmaKind,
    pass::Obstacle,
    remark::{self, remark},
    rt::*,
    shared_memory::padded_bytes,
};
use tile_plan::{Hints, MAX_STAGES, Machine, SyncKernel, plan_sync};

pub(super) fn plan<'c>(
    function: OpRef<'c>,
    found: &[Found<'c>],
    hints: &Hints,
    machine: &Machine,
) -> Result<DotPlan, Obstacle<'c>> {
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
        ring: rings.iter().flatten().map(|(stage, _)| padded_bytes(*stage) as u32).sum(),
        other: other_bytes(function, barriers),
        steps: rings.iter().map(|ring| found.iter().filter(|p| p.stage == *ring).count()).max().unwrap_or(1) as u32,
        scratch: scratch(function, &found[0].dot_loop, found, &[]).max(stored_in_loops(function)),
    };
    let pressure = Pressure::of(function, found).with_residents(found);
    let plan = plan_sync(&kernel, &|groups| pressure.registers(groups), hints, machine);
    let plan = plan.map_err(|e| refusal(found, &e))?;
    remark(op, remark::WARPGROUP_PLAN, plan.reasons.join("; "), "");
    Ok(DotPlan {
        unit: MmaKind::Sync,
        accumulators: 1,
        groups: [plan.consumer_warps / WARPGROUP, 1],
        columns: kernel.dots.iter().map(|dot| dot.n).max().unwrap_or(1),
        stages: plan.stages,
        scratch: plan.scratch,
        launch_registers: plan.launch_registers,
        agents: agents_of_warps([plan.consumer_warps, plan.producer_warps], plan.divided),
    })
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
    let not = |reason: &str| Err((p.op, reason.to_string()));
    if p.dot_loop.computed != [false; 2] {
        return not("an operand is computed from a loaded tile");
    }
    if p.sides[1].stage().is_none() {
        return not("the right operand is not a tile that TMA loads for the dot");
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
