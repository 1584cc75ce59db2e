//! Plans kernels whose dots accumulate in tensor memory.
//!
//! Each dot must read both operands from rings. If a loop only adds to an accumulator, it is in tensor memory from its
//! first dot to the end of the loop, and code after the loop reads it. Otherwise it is there for one dot. Accumulators
//! start at zero. The consumers add another start at the end, for which both must fit the registers.
//!
//! If two CTAs split the tile by rows, they run the dots together. Each loads half of the right operand, and the dots
//! of the first CTA read it from both.

use super::{
    Found, Limits, NO_ROOM, Planned, PlannedOperand, Room,
    kernel::{Pressure, movers, other_bytes, registers_of},
    least_scratch, loops, mark_computed, refusal, rings, scratch, source_bytes, stage_bytes,
};
use crate::{
    analysis::{
        access::View,
        column_slices::{self, ColumnSlices},
        facts::Facts,
        producers::{LoadedOperand, Slice, accumulation, accumulation_chain},
        tile_programs::TileProgram,
    },
    dialect::{
        attributes::{DYNAMIC_PERSISTENT, NUM_CTAS},
        dot_plan::{Agent, CONSUMERS, CONVERTER, DotPlan, MATRIX, PRODUCER, SCALES, WARPGROUP},
        dots::{ACC, RHS, RHS_SCALE, is_zero},
        layouts::{Tensor, storage_bits},
        loops::FIRST_INIT,
        nv_tileaa::{GetCtaRankOp, MemTokenType, TiledLoadOp, TiledStoreOp},
        nv_tileas::MmaKind,
        pass::Obstacle,
        remark::{self, Better},
        rt::*,
        shared_memory::STORAGES,
    },
};
use rustc_hash::FxHashMap;
use tile_plan::{DotLoop, MAX_STAGES, plan_tensor, plural};

/// Plans the dots of a function. If `takes_over`, its CTAs may take over tile blocks, and the dots are then in a loop
/// over these.
pub(super) fn plan<'c>(
    function: OpRef<'c>,
    (found, takes_over): (&[Found<'c>], bool),
    (computed, facts): (&[OpRef<'c>], &Facts),
    limits: Limits<'_>,
) -> Result<Planned, Obstacle<'c>> {
    for p in found {
        check(p)?;
    }
    // Warps compute left operands into tensor memory if all computed operands allow it and the plan has room.
    let converted = may_be_converted(found);
    if converted && let Ok(plan) = plan_as(function, (found, takes_over), (computed, facts), limits, true) {
        return Ok(plan);
    }
    plan_as(function, (found, takes_over), (computed, facts), limits, false)
}

/// Whether all computed operands are left operands that warps can compute from tiles in stages.
fn may_be_converted(found: &[Found<'_>]) -> bool {
    let computed = |(_, side): (usize, &PlannedOperand<'_>)| match side {
        PlannedOperand::ProducerComputed { sources, .. } => Some(!sources.is_empty()),
        _ => None,
    };
    let all: Vec<bool> = found.iter().flat_map(|p| p.operands().filter_map(computed)).collect();
    !all.is_empty() && all.into_iter().all(|from_sources| from_sources)
}

/// Plans the dots, with left operands that warps compute from tiles in stages if `converted`.
fn plan_as<'c>(
    function: OpRef<'c>,
    (found, takes_over): (&[Found<'c>], bool),
    (computed, facts): (&[OpRef<'c>], &Facts),
    (hints, machine, staged): Limits<'_>,
    converted: bool,
) -> Result<Planned, Obstacle<'c>> {
    let op = found[0].op;
    let alone = if NUM_CTAS.get(function) == Some(PAIR) { check_pair(function, found).err() } else { None };
    let pair = NUM_CTAS.get(function) == Some(PAIR) && alone.is_none();
    let left_sources = |p: &Found<'c>| match &p.sides[0] {
        PlannedOperand::ProducerComputed { sources, .. } if converted => Some(source_bytes(sources)),
        _ => None,
    };
    let adds_on = |p: &Found<'c>| accumulation(p.op).is_some() && accumulation_chain(p.op).first() != Some(&p.op);
    let dot_loop = |p: &Found<'c>| DotLoop { pair, adds_on: adds_on(p), left_sources: left_sources(p), ..p.dot_loop };
    let dots: Vec<DotLoop> = found.iter().map(dot_loop).collect();
    let pressure = Pressure::of(function, found).without_carried(found);
    // CTAs that split a tile without sharing dots would each ask for a tile block of their own.
    // The producer bounds a kernel whose operands it computes, so a takeover gains little there, and its registers are
    // missing elsewhere.
    let takes_over = takes_over && (converted || movers(found) == 1) && (pair || !NUM_CTAS.is_on(function));
    let over_tiles = takes_over || found.iter().any(|p| loops(p.op) > usize::from(accumulation(p.op).is_some()));
    let starts: Vec<Tensor<'c>> =
        found.iter().filter(|p| has_start(p)).filter_map(|p| Tensor::of_value(result(p.op, 0))).collect();
    let of_starts = |groups: u32| starts.iter().map(|t| registers_of(t, groups)).max().unwrap_or(0);
    let sliced = column_slices::of_all(function, facts).filter(|all| all.iter().all(ColumnSlices::is_in_columns));
    let sliced = sliced.unwrap_or_default();
    let is_sliced = |v: Val<'c>| sliced.iter().any(|code| code.holds(v));
    let registers = |groups: u32, slices: u32| {
        let part = |v: Val<'c>| if is_sliced(v) { slices } else { 1 };
        pressure.registers_in_parts(groups, &part) + of_starts(groups)
    };
    let most_slices = sliced.iter().map(|code| code.most).min().unwrap_or(1);
    let plan = plan_tensor(&dots, (over_tiles, most_slices), &registers, hints, machine);
    let plan = plan.map_err(|e| refusal(found, &e))?;
    // The largest stages decide; rings of other stages have the same number.
    let largest = dots.iter().max_by_key(|dot| dot.stage_bytes()).copied().unwrap_or(dots[0]);
    let dot_loop = DotLoop { over_tiles, ..largest };
    let rings = rings(found).len() as u32;
    let stage = stage_bytes(found, pair, converted);
    // The barriers of stages, of which converters of scale factors have more, of accumulators and of tile blocks.
    let barriers = 4 * rings * MAX_STAGES + 2 * (found.len() as u32 * plan.accumulators + 2);
    let (available, other) = (plan.shared_available, other_bytes(function, barriers) + staged);
    let room = Room { available, stages: plan.stages, stage, rings, movers: movers(found), other };
    let wanted = match plan.slices {
        1 => scratch(function, &dot_loop, found, computed),
        slices => bytes_of_slices(&sliced, slices).max(scratch(function, &dot_loop, found, computed) / slices),
    };
    let wanted = wanted.max(least_scratch(plan.warpgroups));
    let (stages, scratch) = room.divide(wanted).ok_or_else(|| (op, NO_ROOM.to_string()))?;
    mark_computed(found, converted);
    let mut reasons = plan.reasons.clone();
    reasons.extend(found.iter().flat_map(|p| &p.no_copies).map(|(_, reason)| reason.clone()));
    reasons.push(format!("{} of {stage} bytes", plural(stages, "stage")));
    if let Some((_, reason)) = &alone {
        found.iter().for_each(|p| remark::against(p.op, Better::Unit, reason));
    }
    reasons.extend(alone.map(|(_, reason)| format!("the CTAs of the cluster run their dots separately: {reason}")));
    let divided = plan.divided;
    let agent = |name: &str, warps, registers: Option<u32>| {
        let rank = (pair && name == MATRIX).then_some(0);
        Agent { name: name.to_string(), warps, registers, rank }
    };
    let others = |(name, warps): (&str, u32)| agent(name, warps, None);
    // `setmaxnreg` applies to whole warpgroups.
    let matrix_warps = match divided {
        Some(_) if converted => WARPGROUP - plan.producer_warps,
        Some(_) => WARPGROUP,
        None => 1,
    };
    let of_producer = divided.map(|d| if converted { d.matrix } else { d.producer });
    let converter = converted.then(|| agent(CONVERTER, plan.converter_warps, divided.map(|d| d.producer)));
    if takes_over {
        DYNAMIC_PERSISTENT.mark(function);
    }
    let planned = DotPlan {
        unit: if pair { MmaKind::TensorPair } else { MmaKind::Tensor },
        accumulators: plan.accumulators,
        slices: plan.slices,
        whole_rows: false,
        issue_ahead: false,
        groups: [1, plan.warpgroups],
        columns: plan.columns,
        stages,
        scratch,
        launch_registers: plan.registers,
        agents: [agent(CONSUMERS, plan.warpgroups * WARPGROUP, divided.map(|d| d.consumer))]
            .into_iter()
            .chain(converter)
            .chain([
                agent(PRODUCER, plan.producer_warps, of_producer),
                agent(MATRIX, matrix_warps, divided.map(|d| d.matrix)),
            ])
            .chain([SCALES, CONVERTER].into_iter().zip(plan.scale_warps).filter(|(_, warps)| *warps > 0).map(others))
            .collect(),
    };
    Ok((planned, reasons))
}

/// The bytes of shared memory that stores of slices take. Tiles of the same shape take [`STORAGES`] in turn if TMA
/// stores them. It does not store elements of 32 bits, whose storage would have bank conflicts.
fn bytes_of_slices(sliced: &[ColumnSlices<'_>], slices: u32) -> u32 {
    let ops = sliced.iter().flat_map(|code| &code.ops);
    let stored = ops.filter_map(|op| Tensor::of_value(TiledStoreOp::cast(*op)?.value()));
    let bytes = |t: &Tensor<'_>| {
        let bits = storage_bits(t.element);
        let storages = if bits < 32 { STORAGES as u32 } else { 1 };
        storages * t.elements() as u32 * bits / 8 / slices
    };
    let kinds: FxHashMap<_, u32> = stored.map(|t| ((t.shape.clone(), t.element), bytes(&t))).collect();
    kinds.values().sum()
}

/// Checks that a dot can accumulate in tensor memory.
fn check<'c>(p: &Found<'c>) -> Result<(), Obstacle<'c>> {
    let not = |reason: &str| Err((p.op, reason.to_string()));
    if !p.operands().all(|(_, side)| side.stage().is_some()) {
        return not("an operand is not a tile that is loaded or computed for the dot");
    }
    Ok(())
}

/// The number of CTAs that run dots together.
pub(super) const PAIR: i64 = 2;

/// Checks that two CTAs can run all dots together: both need the same right operands and scale factors of them, at the
/// same points of the program, and TMA loads the operands. The rows of a CTA may be any.
pub(super) fn check_pair<'c>(function: OpRef<'c>, found: &[Found<'c>]) -> Result<(), Obstacle<'c>> {
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
        let mut slices = vec![Slice::of(function, &[*rhs], &|_| false, &is_token)?];
        match p.scales.last() {
            Some(PlannedOperand::Ring { load, .. }) => {
                slices.push(Slice::of(function, &[*load], &|_| false, &is_token)?);
            }
            Some(_) => {
                // The ops of the program may be any. What they read from outside must be the same.
                let program: Vec<OpRef<'c>> =
                    TileProgram::of(operand(p.op, RHS_SCALE), p.op, function)?.ops().collect();
                let is_inside = |v: Val<'c>| is_token(v) || Tensor::of_value(v).is_some();
                slices.push(Slice::of(function, &program, &|_| false, &is_inside)?);
            }
            None => {}
        }
        if slices.iter().any(|slice| ranks.iter().any(|rank| slice.contains(*rank))) {
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
