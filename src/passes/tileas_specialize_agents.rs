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
//! The producer is the part of the program that leads to the `elect`s (`analysis::producers`), run by one thread. Maps
//! of views are made by its first warp. The consumer is the program without them. Each has its own iterators, which go
//! through the same stages because both go through the same loops and branches; the barriers of the pipelines order
//! them. A ring of S stages lets the producer be S products ahead.
//!
//! Where the program waits for the grids before it, both agents do.
//!
//! The producer is a warpgroup, so that registers can be moved: `setmaxnreg` needs all four warps of one. The plan of
//! the products says how many registers each agent gets.

use crate::{
    analysis::producers::{Slice, clone_op},
    dialect::{
        gpu_module,
        nv_tileaa::{self, MemTokenType, WaitForGridsOp},
        nv_tileas::{
            AgentSwitchOp, AllocTensorOp, BarrierOp, CreateIteratorOp, CreatePipelineOp, ElectOp, MakeTiledTmaDescOp,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        product_plan::{ProductPlan, WARPGROUP},
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
            let fills = collect_ops(function.op(), ElectOp::cast);
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
    fills: &[ElectOp<'c>],
    context: &'c Context,
) -> Result<(), Failed> {
    let op = function.op();
    let entry = entry_block(function.body()).ok_or_else(|| fail(op, "function has no body"))?;
    let last = ops_of(entry).last().ok_or_else(|| fail(op, "function has no terminator"))?;
    let maps = collect_ops(op, MakeTiledTmaDescOp::cast);
    // What stays in front of the agents, for both.
    let shared: Vec<OpRef<'c>> = ops_of(entry).take_while(|o| is_shared(*o)).collect();
    let is_given = |o: OpRef<'c>| shared.contains(&o);

    let mut roots: Vec<OpRef<'c>> = fills.iter().map(|f| f.op()).collect();
    roots.extend(maps.iter().map(|m| m.op()));
    // Grids that the loads wait for are waited for by both.
    let waits = |o: OpRef<'c>| WaitForGridsOp::cast(o).is_some() && parent_op(o) == Some(op);
    roots.extend(ops_of(entry).filter(|o| waits(*o)));
    let is_token = |v: Val<'c>| MemTokenType::cast(ty(v)).is_some();
    let slice = Slice::of(op, &roots, &is_given, &is_token)
        .map_err(|(at, reason)| fail(at, format!("the producer cannot be told apart: {reason}")))?;

    let location = op.location();
    let producer = Region::new();
    let producer_block = append_block(&producer, &[], location);
    let map_roots: Vec<OpRef<'c>> = maps.iter().map(|m| m.op()).collect();
    let of_maps = Slice::of(op, &map_roots, &is_given, &|_| false)
        .map_err(|(at, reason)| fail(at, format!("the producer cannot be told apart: {reason}")))?;
    let mut values: FxHashMap<usize, Val<'c>> = FxHashMap::default();
    // All warps go through what the maps need; one thread through the rest.
    let b = Builder::at_end(context, producer_block, location);
    of_maps.write(&b, entry, &mut values, &mut |o, _| Ok(is_given(o)))?;
    let alone = Region::new();
    let program = append_block(&alone, &[], location);
    let inside = Builder::at_end(context, program, location);
    slice.write(&inside, entry, &mut values, &mut |o, values| {
        if is_given(o) || MakeTiledTmaDescOp::cast(o).is_some() {
            return Ok(true);
        }
        if waits(o) {
            inside.set_location(o.location());
            WaitForGridsOp::build(&inside, ty(result(o, 0)), None).map_err(|e| fail(o, e.to_string()))?;
            return Ok(true);
        }
        let Some(fill) = ElectOp::cast(o) else { return Ok(false) };
        let body = entry_block(region(fill.op(), 0)).ok_or_else(|| fail(o, "no program"))?;
        for op in ops_of(body) {
            clone_op(&inside, op, values);
        }
        Ok(true)
    })?;
    b.set_end(producer_block);
    ElectOp::build(&b, alone).map_err(|e| fail(op, e.to_string()))?;

    // The consumer takes what is left of the original.
    let consumer = Region::new();
    let consumer_block = append_block(&consumer, &[], location);
    fills.iter().for_each(|f| erase(f.op()));
    maps.iter().for_each(|m| erase(m.op()));
    let program: Vec<OpRef<'c>> = ops_of(entry).filter(|o| !is_given(*o) && *o != last).collect();
    let b = Builder::before(context, last);
    b.set_location(location);
    let [launch, for_producer, for_consumer] = plan.registers.map(i64::from);
    let warps = [plan.consumer_warps().into(), i64::from(WARPGROUP)];
    let mut state = b.state("nv_tileas.async.pipeline.agent_switch");
    state.attr("warps", i64s(context, &warps));
    state.attr("registers", i64s(context, &[for_consumer, for_producer]));
    state.region(consumer);
    state.region(producer);
    b.insert(state).map_err(|e| fail(op, e.to_string()))?;
    for op in program {
        // SAFETY: the op changes its block, which takes it over.
        unsafe {
            mlirOperationRemoveFromParent(op.to_raw());
            mlirBlockAppendOwnedOperation(consumer_block.to_raw(), op.to_raw());
        }
    }
    set_attr(op, "numWarps", i64_attr(context, warps.iter().sum()));
    set_discardable_attr(op, gpu_module::MAX_REGISTERS, i64_attr(context, launch));
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
