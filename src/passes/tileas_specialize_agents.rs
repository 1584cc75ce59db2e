//! `tileas-specialize-agents`: a program that fills pipelines becomes an agent of its own.
//!
//! ```text
//! storage, pipelines, barrier
//! ... for { elect { acquire; copy .. }  wait; multiply; release } ...
//! ```
//!
//! becomes
//!
//! ```text
//! storage, pipelines, barrier
//! agent_switch { ... for { wait; multiply; release } ... }                  consumer
//!              { maps; elect { ... for { acquire; copy .. } ... } }         producer
//! ```
//!
//! The producer is the part of the program that leads to the `elect`s (`analysis::producers`), run by one thread. Where
//! its warps make tiles (`produce_one`), all of its threads run it, and one of them alone what stands in `elect`s; what
//! need not be in the loop around is moved out of it. Maps of views are made by its first warp, in front of that. Those
//! of views that a loop or branch makes are made there, so all threads of the producer run the program then too. The
//! consumer is the program without them. Each has its own iterators, which go through the same stages because both go
//! through the same loops and branches; the barriers of the pipelines order them. A ring of S stages lets the producer
//! be S products ahead.
//!
//! Where the program waits for the grids before it, both agents do. A program that fills stages stays where it is if
//! the schedule of its loop gives it to the consumers.
//!
//! The producer is a warpgroup, so that registers can be moved: `setmaxnreg` needs all four warps of one. The plan of
//! the products says how many registers each agent gets.

use crate::{
    analysis::{
        producers::{Slice, clone_op},
        schedule::agents::{NAMES, PRODUCER, agent_of},
        tensor_map_ops::is_inside,
        tile_programs::leave_loops,
    },
    dialect::{
        gpu_module,
        nv_tileaa::{self, MemTokenType, WaitForGridsOp},
        nv_tileas::{
            AgentSwitchOp, AllocTensorOp, BarrierOp, CreateIteratorOp, CreatePipelineOp, ElectOp, MakeTiledTmaDescOp,
            ProduceOneOp, YieldOp,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        product_plan::ProductPlan,
        rt::*,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Attribute, Region},
};
use mlir_sys::*;
use rustc_hash::FxHashMap;

#[derive(Clone, Default)]
pub struct SpecializeAgents;

impl RustPass for SpecializeAgents {
    pass_descriptor!(tileas_specialize_agents);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_specialize_agents::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let Some(plan) = ProductPlan::of(function.op()) else { continue };
            let fills = fills(function.op());
            if fills.is_empty() || !collect_ops(function.op(), AgentSwitchOp::cast).is_empty() {
                continue;
            }
            cx.stat_add(stat::NUM_SPECIALIZED, 1);
            specialize(function, plan, &fills, context)?;
        }
        Ok(())
    }
}

fn specialize<'c>(
    function: nv_tileaa::FuncOp<'c>,
    plan: ProductPlan,
    fills: &[OpRef<'c>],
    context: &'c Context,
) -> Result<(), Failed> {
    let op = function.op();
    let entry = entry_block(function.body()).ok_or_else(|| fail(op, "function has no body"))?;
    let last = ops_of(entry).last().ok_or_else(|| fail(op, "function has no terminator"))?;
    let maps = collect_ops(op, MakeTiledTmaDescOp::cast);
    // What stays in front of the agents, for both.
    let shared: Vec<OpRef<'c>> = ops_of(entry).take_while(|o| is_shared(*o)).collect();
    let is_given = |o: OpRef<'c>| shared.contains(&o);

    let mut roots: Vec<OpRef<'c>> = fills.to_vec();
    let (inside, maps): (Vec<_>, Vec<_>) = maps.into_iter().partition(|m| is_inside(m.op()));
    let by_warps = !inside.is_empty() || fills.iter().any(|f| ProduceOneOp::cast(*f).is_some());
    roots.extend(maps.iter().chain(&inside).map(|m| m.op()));
    // Grids that the loads wait for are waited for by both.
    let waits = |o: OpRef<'c>| WaitForGridsOp::cast(o).is_some() && parent_op(o) == Some(op);
    roots.extend(ops_of(entry).filter(|o| waits(*o)));
    let is_token = |v: Val<'c>| MemTokenType::cast(ty(v)).is_some();
    let slice = Slice::of(op, &roots, &is_given, &is_token)
        .map_err(|(at, reason)| fail(at, format!("the producer cannot be told apart: {reason}")))?
        .for_warps(plan.producer_warps().into());

    let location = op.location();
    let producer = Region::new();
    let producer_block = append_block(&producer, &[], location);
    let map_roots: Vec<OpRef<'c>> = maps.iter().map(|m| m.op()).collect();
    let of_maps = Slice::of(op, &map_roots, &is_given, &|_| false)
        .map_err(|(at, reason)| fail(at, format!("the producer cannot be told apart: {reason}")))?
        .for_warps(plan.producer_warps().into());
    let mut values: FxHashMap<usize, Val<'c>> = FxHashMap::default();
    // All warps go through what the maps need; one thread through the rest.
    let b = Builder::at_end(context, producer_block, location);
    of_maps.write(&b, entry, &mut values, &mut |o, _| Ok(is_given(o)))?;
    // Side by side they are looked up together.
    for map in ops_of(producer_block).filter(|o| MakeTiledTmaDescOp::cast(*o).is_some()).collect::<Vec<_>>() {
        move_to_end(map, producer_block);
    }
    let alone = Region::new();
    let program = if by_warps { producer_block } else { append_block(&alone, &[], location) };
    let writer = Builder::at_end(context, program, location);
    slice.write(&writer, entry, &mut values, &mut |o, values| {
        if is_given(o) || map_roots.contains(&o) {
            return Ok(true);
        }
        if waits(o) {
            writer.set_location(o.location());
            WaitForGridsOp::build(&writer, ty(result(o, 0)), None).map_err(|e| fail(o, e.to_string()))?;
            return Ok(true);
        }
        if !fills.contains(&o) {
            return Ok(false);
        }
        write_fill(&writer, o, by_warps, values)?;
        Ok(true)
    })?;
    if by_warps {
        leave_loops(producer_block);
    } else {
        b.set_end(producer_block);
        ElectOp::build(&b, alone).map_err(|e| fail(op, e.to_string()))?;
    }

    // The consumer takes what is left of the original.
    let consumer = Region::new();
    let consumer_block = append_block(&consumer, &[], location);
    fills.iter().for_each(|f| erase(*f));
    maps.iter().chain(&inside).for_each(|m| erase(m.op()));
    let program: Vec<OpRef<'c>> = ops_of(entry).filter(|o| !is_given(*o) && *o != last).collect();
    let b = Builder::before(context, last);
    b.set_location(location);
    let [launch, for_producer, for_consumer] = plan.registers.map(i64::from);
    let warps = [plan.consumer_warps(), plan.producer_warps()].map(i64::from);
    let mut state = b.state("nv_tileas.async.pipeline.agent_switch");
    state.attr("warps", i64s(context, &warps));
    state.attr("registers", i64s(context, &[for_consumer, for_producer]));
    state.region(consumer);
    state.region(producer);
    b.insert(state).map_err(|e| fail(op, e.to_string()))?;
    for op in program {
        move_to_end(op, consumer_block);
    }
    set_attr(op, "numWarps", i64_attr(context, warps.iter().sum()));
    set_discardable_attr(op, gpu_module::MAX_REGISTERS, i64_attr(context, launch));
    Ok(())
}

fn move_to_end<'c>(op: OpRef<'c>, block: Blk<'c>) {
    // SAFETY: the op changes its block, which takes it over.
    unsafe {
        mlirOperationRemoveFromParent(op.to_raw());
        mlirBlockAppendOwnedOperation(block.to_raw(), op.to_raw());
    }
}

/// The programs of a function that fill stages, the outermost ones, but for those that are another agent's.
fn fills(function: OpRef<'_>) -> Vec<OpRef<'_>> {
    collect_ops(function, |o| {
        let inside = parent_op(o).is_some_and(|p| ProduceOneOp::cast(p).is_some());
        let is_own = agent_of(o).is_none_or(|name| name == NAMES[PRODUCER]);
        (is_own && (!inside && ElectOp::cast(o).is_some() || ProduceOneOp::cast(o).is_some())).then_some(o)
    })
}

/// What a program that fills stages does, as part of the producer's: run by all of its threads, or by one.
fn write_fill<'c>(
    b: &Builder<'c>,
    fill: OpRef<'c>,
    by_warps: bool,
    values: &mut FxHashMap<usize, Val<'c>>,
) -> Result<(), Failed> {
    let body = entry_block(region(fill, 0)).ok_or_else(|| fail(fill, "no program"))?;
    if by_warps && ElectOp::cast(fill).is_some() {
        let alone = Region::new();
        let program = append_block(&alone, &[], fill.location());
        let inside = Builder::at_end(b.context(), program, fill.location());
        for op in ops_of(body) {
            clone_op(&inside, op, values);
        }
        b.set_location(fill.location());
        ElectOp::build(b, alone).map_err(|e| fail(fill, e.to_string()))?;
        return Ok(());
    }
    for op in ops_of(body) {
        b.set_location(op.location());
        if ElectOp::cast(op).is_some() {
            write_fill(b, op, by_warps, values)?;
        } else if YieldOp::cast(op).is_none() {
            clone_op(b, op, values);
        }
    }
    Ok(())
}

/// Whether an op at the top of a function belongs to no agent: storage, pipelines, and the barrier behind them.
fn is_shared(op: OpRef<'_>) -> bool {
    AllocTensorOp::cast(op).is_some()
        || CreatePipelineOp::cast(op).is_some()
        || CreateIteratorOp::cast(op).is_some()
        || BarrierOp::cast(op).is_some()
}

fn i64s<'c>(context: &'c Context, values: &[i64]) -> Attribute<'c> {
    // SAFETY: the context is alive; MLIR copies the list.
    unsafe { Attribute::from_raw(mlirDenseI64ArrayGet(context.to_raw(), values.len() as isize, values.as_ptr())) }
}
