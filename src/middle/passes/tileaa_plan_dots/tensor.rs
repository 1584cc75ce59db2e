//! Plans kernels whose dots accumulate in tensor memory.
//!
//! Each dot must read both operands from rings. If a loop only adds to an accumulator, it is in tensor memory from its
//! first dot to the end of the loop, and code after the loop reads it. Otherwise it is there for one dot. Accumulators
//! start at zero. The consumers add another start at the end, for which both must fit the registers.
//!
//! If two CTAs split the tile by rows, they run the dots together. Each loads half of the right operand, and the dots
//! of the first CTA read it from both.

use super::{
    Found, NO_ROOM, PlannedOperand, Room,
    kernel::{Pressure, registers_of},
    least_scratch, loops, mark_computed, refusal, rings, scratch,
};
use crate::{
    analysis::{
        access::View,
        producers::{LoadedOperand, Slice, accumulation},
    },
    dialect::{
        attributes::NUM_CTAS,
        dot_plan::{Agent, CONSUMERS, DotPlan, MATRIX, PRODUCER, WARPGROUP},
        dots::{ACC, RHS, is_zero},
        layouts::Tensor,
        loops::FIRST_INIT,
        nv_tileaa::{GetCtaRankOp, MemTokenType, TiledLoadOp},
        nv_tileas::MmaKind,
        pass::Obstacle,
        remark::{self, remark},
        rt::*,
    },
};
use tile_plan::{DotLoop, Hints, Machine, plan_tensor};

pub(super) fn plan<'c>(
    function: OpRef<'c>,
    found: &[Found<'c>],
    computed: &[OpRef<'c>],
    hints: &Hints,
    machine: &Machine,
) -> Result<DotPlan, Obstacle<'c>> {
    for p in found {
        check(p)?;
    }
    let op = found[0].op;
    let alone = if NUM_CTAS.get(function) == Some(PAIR) { check_pair(function, found).err() } else { None };
    let pair = NUM_CTAS.get(function) == Some(PAIR) && alone.is_none();
    let dots: Vec<DotLoop> = found.iter().map(|p| DotLoop { pair, ..p.dot_loop }).collect();
    let pressure = Pressure::of(function, found);
    let over_tiles = found.iter().any(|p| loops(p.op) > usize::from(accumulation(p.op).is_some()));
    let starts: Vec<Tensor<'c>> =
        found.iter().filter(|p| has_start(p)).filter_map(|p| Tensor::of_value(result(p.op, 0))).collect();
    let of_starts = |groups: u32| starts.iter().map(|t| registers_of(t, groups)).max().unwrap_or(0);
    let registers = |groups: u32| pressure.registers(groups) + of_starts(groups);
    let plan = plan_tensor(&dots, over_tiles, &registers, hints, machine);
    let plan = plan.map_err(|e| refusal(found, &e))?;
    // The largest stages decide; rings of other stages have the same number.
    let largest = dots.iter().max_by_key(|dot| dot.stage_bytes()).copied().unwrap_or(dots[0]);
    let dot_loop = DotLoop { over_tiles, ..largest };
    let rings = rings(found).len() as u32;
    // If the producer's warps compute tiles, they need scratch memory too.
    let movers = if dots.iter().any(|dot| dot.producer_computed.contains(&true)) { 2 } else { 1 };
    let room = Room { available: plan.shared_available, stages: plan.stages, rings, movers };
    let wanted = scratch(function, &dot_loop, found, computed).max(least_scratch(plan.warpgroups));
    let (stages, scratch) = room.divide(&dot_loop, wanted).ok_or_else(|| (op, NO_ROOM.to_string()))?;
    mark_computed(found);
    let mut reasons = plan.reasons.clone();
    reasons.extend(found.iter().flat_map(|p| &p.no_copies).map(|(_, reason)| reason.clone()));
    reasons.push(format!("{stages} stages of {} bytes", largest.stage_bytes()));
    reasons.extend(alone.map(|(_, reason)| format!("the CTAs of the cluster run their dots separately: {reason}")));
    remark(op, remark::WARPGROUP_PLAN, reasons.join("; "), "");
    let agent = |name: &str, warps, rank| Agent { name: name.to_string(), warps, registers: None, rank };
    Ok(DotPlan {
        unit: if pair { MmaKind::TensorPair } else { MmaKind::Tensor },
        accumulators: plan.accumulators,
        whole_rows: false,
        groups: [1, plan.warpgroups],
        columns: plan.columns,
        stages,
        scratch,
        launch_registers: plan.registers,
        agents: vec![
            agent(CONSUMERS, plan.warpgroups * WARPGROUP, None),
            agent(PRODUCER, plan.producer_warps, None),
            agent(MATRIX, 1, pair.then_some(0)),
        ],
    })
}

/// Checks that a dot can accumulate in tensor memory.
fn check<'c>(p: &Found<'c>) -> Result<(), Obstacle<'c>> {
    let not = |reason: &str| Err((p.op, reason.to_string()));
    if !p.sides.iter().all(|side| side.stage().is_some()) {
        return not("an operand is not a tile that is loaded or computed for the dot");
    }
    if p.dot_loop.computed != [false; 2] {
        return not("an operand is computed from a loaded tile");
    }
    Ok(())
}

/// The number of CTAs that run dots together.
const PAIR: i64 = 2;

/// Checks that two CTAs can run all dots together: both need the same right operands, at the same points of the
/// program, and TMA loads them. The rows of a CTA may be any.
fn check_pair<'c>(function: OpRef<'c>, found: &[Found<'c>]) -> Result<(), Obstacle<'c>> {
    let ranks: Vec<OpRef<'c>> = collect_ops(function, GetCtaRankOp::cast).into_iter().map(GetCtaRankOp::op).collect();
    for p in found {
        let not = |reason: &str| Err((p.op, reason.to_string()));
        DotLoop { pair: true, ..p.dot_loop }.check_tensor_shape().map_err(|e| (p.op, e.to_string()))?;
        let [PlannedOperand::Ring { load: lhs, .. }, PlannedOperand::Ring { load: rhs, .. }] = &p.sides else {
            return not("TMA does not load both operands");
        };
        if lhs == rhs {
            return not("both operands are the same tile");
        }
        let is_divisible = LoadedOperand::of(operand(p.op, RHS)).is_some_and(|of| {
            let view = TiledLoadOp::cast(*rhs).and_then(|load| View::of(load.view()));
            view.is_some_and(|view| view.ty.sparse_dim().is_none() && of.dimension(&view, 1).is_some())
        });
        if !is_divisible {
            return not("its columns are not a dimension of the view of the right operand");
        }
        let is_token = |v: Val<'c>| MemTokenType::cast(ty(v)).is_some();
        let slice = Slice::of(function, &[*rhs], &|_| false, &is_token)?;
        if ranks.iter().any(|rank| slice.contains(*rank)) {
            return not("the CTAs have different right operands");
        }
    }
    Ok(())
}

/// Whether the accumulator of a dot starts at another value than zero, which the consumers add at the end.
fn has_start(p: &Found<'_>) -> bool {
    let start = match accumulation(p.op) {
        Some((around, index)) => operand(around, FIRST_INIT + index),
        None => operand(p.op, ACC),
    };
    !is_zero(start)
}
