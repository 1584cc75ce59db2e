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
//! Where it depends on a test of views what is copied, the producer has a program for each answer, behind one test: the
//! maps of those views are made if they can be.
//!
//! Where the program waits for the grids before it, both agents do. A program that fills stages stays where it is if
//! the schedule of its loop gives it to the consumers.
//!
//! The producer is a warpgroup, so that registers can be moved: `setmaxnreg` needs all four warps of one. The plan of
//! the products says how many registers each agent gets.

use crate::{
    analysis::{
        clones::clone_op,
        producers::Slice,
        schedule::agents::{NAMES, PRODUCER, agent_of},
        tensor_map_ops::{is_inside, readiness},
        tile_programs::leave_loops,
    },
    dialect::{
        dot_plan::DotPlan,
        gpu_module,
        loops::new_if,
        nv_tileaa::{self, MemTokenType, WaitForGridsOp},
        nv_tileas::{
            AgentSwitchOp, AllocTensorOp, BarrierOp, CreateIteratorOp, CreatePipelineOp, ElectOp, MakeTiledTmaDescOp,
            ProduceOneOp, YieldOp,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::{Context, ir::Region};
use mlir_sys::*;
use rustc_hash::FxHashMap;

#[derive(Clone, Default)]
pub struct SpecializeAgents;

impl RustPass for SpecializeAgents {
    pass_descriptor!(tileas_specialize_agents);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_specialize_agents::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let Some(plan) = DotPlan::of(function.op()) else { continue };
            let (preparing, fills): (Vec<_>, Vec<_>) = fills(function.op()).into_iter().partition(|f| converts(*f));
            if fills.is_empty() || !collect_ops(function.op(), AgentSwitchOp::cast).is_empty() {
                continue;
            }
            cx.stat_add(stat::NUM_SPECIALIZED, 1);
            specialize(function, plan, [&fills, &preparing], context)?;
        }
        Ok(())
    }
}

fn specialize<'c>(
    function: nv_tileaa::FuncOp<'c>,
    plan: DotPlan,
    [fills, preparing]: [&[OpRef<'c>]; 2],
    context: &'c Context,
) -> Result<(), Failed> {
    let op = function.op();
    let entry = entry_block(function.body()).ok_or_else(|| fail(op, "function has no body"))?;
    let last = ops_of(entry).last().ok_or_else(|| fail(op, "function has no terminator"))?;
    let all_maps = collect_ops(op, MakeTiledTmaDescOp::cast);
    // What stays in front of the agents, for both.
    let shared: Vec<OpRef<'c>> = ops_of(entry).take_while(|o| is_shared(*o)).collect();
    let is_given = |o: OpRef<'c>| shared.contains(&o);

    let location = op.location();
    let converter = plan.converter.map(|registers| (registers, Region::new()));
    if let Some((_, converter)) = &converter {
        let block = append_block(converter, &[], location);
        let (maps, inside, warps) = (vec![], vec![], plan.converter_warps());
        Program { function: op, entry, warps, fills: preparing, maps, inside, given: &is_given, context }
            .write(block, None)?;
    }
    let producer = Region::new();
    let producer_block = append_block(&producer, &[], location);
    let (inside, maps): (Vec<_>, Vec<_>) = all_maps.iter().map(|m| m.op()).partition(|m| is_inside(*m));
    let warps = plan.producer_warps();
    let program = Program { function: op, entry, warps, fills, maps, inside, given: &is_given, context };
    let mut tested: Vec<OpRef<'c>> =
        fills.iter().filter_map(|f| parent_op(*f)).filter(|o| readiness(*o).is_some()).collect();
    // Each is met with both of its programs.
    tested.dedup();
    match tested.first().and_then(|branch| readiness(*branch)) {
        Some(ready) => program.write_both(producer_block, ready)?,
        None => program.write(producer_block, None)?,
    }

    // The consumer takes what is left of the original.
    let consumer = Region::new();
    let consumer_block = append_block(&consumer, &[], location);
    fills.iter().chain(preparing).for_each(|f| erase(*f));
    tested.into_iter().for_each(erase);
    all_maps.iter().for_each(|m| erase(m.op()));
    let program: Vec<OpRef<'c>> = ops_of(entry).filter(|o| !is_given(*o) && *o != last).collect();
    let b = Builder::before(context, last);
    b.set_location(location);
    let [launch, for_producer, for_consumer] = plan.registers.map(i64::from);
    let mut warps = vec![plan.consumer_warps(), plan.producer_warps()];
    let mut registers = vec![for_consumer, for_producer];
    let mut state = b.state("nv_tileas.async.pipeline.agent_switch");
    state.region(consumer);
    state.region(producer);
    if let Some((for_converter, converter)) = converter {
        warps.push(plan.converter_warps());
        registers.push(for_converter.into());
        state.region(converter);
    }
    let warps: Vec<i64> = warps.into_iter().map(i64::from).collect();
    state.attr("warps", i64s_to_attr(context, &warps));
    state.attr("registers", i64s_to_attr(context, &registers));
    b.insert(state).map_err(|e| fail(op, e.to_string()))?;
    for op in program {
        move_to_end(op, consumer_block);
    }
    set_attr(op, "numWarps", i64_attr(context, warps.iter().sum()));
    set_discardable_attr(op, gpu_module::MAX_REGISTERS, i64_attr(context, launch));
    Ok(())
}

/// The program of the producer or of the converter, as a part of the function's.
struct Program<'c, 'p> {
    function: OpRef<'c>,
    entry: Blk<'c>,
    warps: u32,
    fills: &'p [OpRef<'c>],
    /// Ops that make maps at the top of the function, and in loops and branches.
    maps: Vec<OpRef<'c>>,
    inside: Vec<OpRef<'c>>,
    /// What stands in front of the agents.
    given: &'p dyn Fn(OpRef<'c>) -> bool,
    context: &'c Context,
}

impl<'c> Program<'c, '_> {
    fn slice(&self, roots: &[OpRef<'c>], skip: &dyn Fn(Val<'c>) -> bool) -> Result<Slice<'c>, Failed> {
        let slice = Slice::of(self.function, roots, self.given, skip);
        slice
            .map(|slice| slice.for_warps(self.warps.into()))
            .map_err(|(at, reason)| fail(at, format!("the program of an agent cannot be separated: {reason}")))
    }

    /// Grids that the loads wait for are waited for by both agents.
    fn waits(&self, o: OpRef<'c>) -> bool {
        WaitForGridsOp::cast(o).is_some() && parent_op(o) == Some(self.function)
    }

    /// Writes a test of views and the program of each answer.
    fn write_both(&self, block: Blk<'c>, ready: Val<'c>) -> Result<(), Failed> {
        let location = self.function.location();
        let b = Builder::at_end(self.context, block, location);
        let mut values: FxHashMap<usize, Val<'c>> = FxHashMap::default();
        let asks: Vec<OpRef<'c>> = defining_op(ready).into_iter().collect();
        self.slice(&asks, &|_| false)?.write(&b, self.entry, &mut values, &mut |o, _| Ok((self.given)(o)))?;
        b.set_location(location);
        let error = |e: BuildError| fail(self.function, e.to_string());
        let (_, blocks) = new_if(&b, values[&key(ready)], &[]).map_err(error)?;
        for (block, answer) in blocks.into_iter().zip([true, false]) {
            self.write(block, Some((ready, answer)))?;
            let end = Builder::at_end(self.context, block, location);
            end.insert(end.state("scf.yield")).map_err(error)?;
        }
        Ok(())
    }

    /// Writes the program where a test of views has this answer, or where there is none.
    fn write(&self, block: Blk<'c>, test: Option<(Val<'c>, bool)>) -> Result<(), Failed> {
        let op = self.function;
        let location = op.location();
        let by_warps = !self.inside.is_empty() || self.fills.iter().any(|f| ProduceOneOp::cast(*f).is_some());
        let waits = ops_of(self.entry).filter(|o| self.waits(*o));
        let others = self.maps.iter().chain(&self.inside).copied().chain(waits);
        let roots: Vec<OpRef<'c>> = self.fills.iter().copied().chain(others).collect();
        let mut slice = self.slice(&roots, &|v| MemTokenType::cast(ty(v)).is_some())?;
        if let Some((ready, answer)) = test {
            slice = slice.deciding(ready, answer);
        }
        let mut values: FxHashMap<usize, Val<'c>> = FxHashMap::default();
        // All warps go through what the maps need; one thread through the rest.
        let b = Builder::at_end(self.context, block, location);
        let of_maps = self.slice(&self.maps, &|_| false)?;
        of_maps.write(&b, self.entry, &mut values, &mut |o, _| Ok((self.given)(o)))?;
        // Side by side they are looked up together.
        let made: Vec<OpRef<'c>> = ops_of(block).filter(|o| MakeTiledTmaDescOp::cast(*o).is_some()).collect();
        made.iter().for_each(|map| move_to_end(*map, block));
        let alone = Region::new();
        let program = if by_warps { block } else { append_block(&alone, &[], location) };
        let writer = Builder::at_end(self.context, program, location);
        slice.write(&writer, self.entry, &mut values, &mut |o, values| {
            if (self.given)(o) || self.maps.contains(&o) {
                return Ok(true);
            }
            if self.waits(o) {
                writer.set_location(o.location());
                WaitForGridsOp::build(&writer, ty(result(o, 0)), None).map_err(|e| fail(o, e.to_string()))?;
                return Ok(true);
            }
            if !self.fills.contains(&o) {
                return Ok(false);
            }
            write_fill(&writer, o, by_warps, values)?;
            Ok(true)
        })?;
        if by_warps {
            leave_loops(block);
        } else {
            b.set_end(block);
            ElectOp::build(&b, alone).map_err(|e| fail(op, e.to_string()))?;
        }
        // Those of views that are not ready must not be made.
        made.into_iter().filter(|map| !has_uses(result(*map, 0))).for_each(erase);
        Ok(())
    }
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

/// Whether a program changes stages that others fill.
fn converts(fill: OpRef<'_>) -> bool {
    ProduceOneOp::cast(fill).is_some_and(|f| f.converts())
}

/// Whether an op at the top of a function belongs to no agent: storage, pipelines, and the barrier behind them.
fn is_shared(op: OpRef<'_>) -> bool {
    AllocTensorOp::cast(op).is_some()
        || CreatePipelineOp::cast(op).is_some()
        || CreateIteratorOp::cast(op).is_some()
        || BarrierOp::cast(op).is_some()
}
