//! `tileas-specialize-agents`: splits a sequential program into the agents of its plan.
//!
//! ```text
//! storage, pipelines, barrier
//! ... for { elect { acquire; copy .. }  wait; dot; release } ...
//! ```
//!
//! becomes
//!
//! ```text
//! storage, pipelines, barrier
//! agent_switch { ... for { wait; dot; release } ... }                       consumers
//!              { maps; elect { ... for { acquire; copy .. } ... } }         producer
//! ```
//!
//! **Regions.** `elect` and `produce_one` regions name their agent, or belong to the producer. An agent runs a slice of
//! the program (`analysis::producers`): its regions, the loops and branches around them, and everything that these use.
//! If all regions of an agent are for one thread, one thread runs the slice. Otherwise all threads run it and one of
//! them runs the `elect` regions; ops that need not be in the loop are hoisted.
//!
//! **Tensor maps.** The first warp of an agent creates the maps of its copies before its slice. Maps of views that a
//! loop or branch creates are created there instead; all threads of the agent then run the slice too. If the copies
//! depend on a run-time test of views, the agent contains two programs, one for each result of the test. Maps of tested
//! views are created only if the test succeeds.
//!
//! **Consumers.** The first agent of the plan runs the program without the regions of the others.
//!
//! Each agent has its own iterators. All agents pass through the same loops and branches, so the iterators visit the
//! stages in the same order, and the barriers of the pipelines order the agents. With a ring of S stages, the producer
//! can run S stages ahead.
//!
//! If the program waits for earlier grids, every agent waits. A region that fills stages remains with the consumers if
//! the schedule of its loop assigns it to them.
//!
//! Assumptions: the function has a plan (`dialect::dot_plan`), and `tileas-materialize-async` has created its rings.
//! If a slice cannot be separated, the pass fails; `tileaa-plan-dots` has checked that it can. A function that already
//! contains an `agent_switch` is left unchanged. The plan gives the warps and registers of each agent.

use crate::{
    analysis::{
        clones::clone_op,
        producers::Slice,
        schedule::agents::agent_of,
        tensor_map_ops::{is_inside, readiness},
        tile_programs::leave_loops,
    },
    dialect::{
        attributes::MAX_REGISTERS,
        dot_plan::{Agent, CONSUMERS, DotPlan, PRODUCER},
        loops::new_if,
        nv_tileaa::{self, MemTokenType, WaitForGridsOp},
        nv_tileas::{
            AgentSwitchOp, AllocTensorOp, BarrierOp, CreateIteratorOp, CreatePipelineOp, ElectOp, MakeTiledTmaDescOp,
            ProduceOneOp, TmemAllocateOp, TmemFreeOp, YieldOp,
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
            let regions = regions(function.op());
            if regions.is_empty() || !collect_ops(function.op(), AgentSwitchOp::cast).is_empty() {
                continue;
            }
            cx.stat_add(stat::NUM_SPECIALIZED, 1);
            specialize(function, &plan, &regions, context)?;
        }
        Ok(())
    }
}

fn specialize<'c>(
    function: nv_tileaa::FuncOp<'c>,
    plan: &DotPlan,
    regions: &[OpRef<'c>],
    context: &'c Context,
) -> Result<(), Failed> {
    let op = function.op();
    let entry = entry_block(function.body()).ok_or_else(|| fail(op, "function has no body"))?;
    let last = ops_of(entry).last().ok_or_else(|| fail(op, "function has no terminator"))?;
    let all_maps: Vec<OpRef<'c>> =
        collect_ops(op, MakeTiledTmaDescOp::cast).into_iter().map(MakeTiledTmaDescOp::op).collect();
    // Ops before the agents, which all agents use.
    let shared: Vec<OpRef<'c>> = ops_of(entry).take_while(|o| is_shared(*o)).collect();
    let is_given = |o: OpRef<'c>| shared.contains(&o);
    let unknown = regions.iter().find(|r| plan.agents[1..].iter().all(|agent| agent.name != name_of(**r)));
    if let Some(region) = unknown {
        return Err(fail(*region, format!("the plan has no agent '{}'", name_of(*region))));
    }

    let location = op.location();
    let mut programs = vec![Region::new()];
    let rest = append_block(&programs[0], &[], location);
    let mut tested: Vec<OpRef<'c>> = vec![];
    for agent in &plan.agents[1..] {
        let own: Vec<OpRef<'c>> = regions.iter().copied().filter(|r| name_of(*r) == agent.name).collect();
        let of_own =
            |map: &OpRef<'c>| uses(result(*map, 0)).iter().any(|(user, _)| own.iter().any(|r| is_in(*user, *r)));
        let (inside, maps) = all_maps.iter().copied().filter(of_own).partition(|map| is_inside(*map));
        let region = Region::new();
        let block = append_block(&region, &[], location);
        let program =
            Program { function: op, entry, warps: agent.warps, fills: &own, maps, inside, given: &is_given, context };
        let tests: Vec<OpRef<'c>> =
            own.iter().filter_map(|f| parent_op(*f)).filter(|o| readiness(*o).is_some()).collect();
        match tests.first().and_then(|branch| readiness(*branch)) {
            Some(ready) => program.write_both(block, ready)?,
            None => program.write(block, None)?,
        }
        tested.extend(tests);
        programs.push(region);
    }

    // The consumers take the rest of the original program.
    regions.iter().for_each(|region| erase(*region));
    // Each test is found once for each of its two programs.
    tested.dedup();
    tested.into_iter().for_each(erase);
    all_maps.into_iter().for_each(erase);
    // All agents meet before tensor memory is freed.
    let end = ops_of(entry).find(|o| TmemFreeOp::cast(*o).is_some()).unwrap_or(last);
    let program: Vec<OpRef<'c>> = ops_of(entry).take_while(|o| *o != end).filter(|o| !is_given(*o)).collect();
    let b = Builder::before(context, end);
    b.set_location(location);
    let mut state = b.state(AgentSwitchOp::NAME);
    state.attr("agents", Agent::to_attr(&plan.agents, context));
    programs.into_iter().for_each(|program| state.region(program));
    b.insert(state).map_err(|e| fail(op, e.to_string()))?;
    for op in program {
        move_to_end(op, rest);
    }
    let warps: u32 = plan.agents.iter().map(|agent| agent.warps).sum();
    set_attr(op, "numWarps", i64_attr(context, warps.into()));
    MAX_REGISTERS.set(op, plan.launch_registers.into());
    Ok(())
}

/// Whether `op` is in a region of `around`.
fn is_in(op: OpRef<'_>, around: OpRef<'_>) -> bool {
    std::iter::successors(Some(op), |o| parent_op(*o)).any(|o| o == around)
}

/// The program of an agent other than the consumers, as a slice of the function.
struct Program<'c, 'p> {
    function: OpRef<'c>,
    entry: Blk<'c>,
    warps: u32,
    fills: &'p [OpRef<'c>],
    /// The ops that create the tensor maps of its copies, at the top of the function (`maps`), and in loops and
    /// branches (`inside`).
    maps: Vec<OpRef<'c>>,
    inside: Vec<OpRef<'c>>,
    /// Whether an op is before the agents.
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

    /// Whether `o` waits for earlier grids, which every agent does.
    fn waits(&self, o: OpRef<'c>) -> bool {
        WaitForGridsOp::cast(o).is_some() && parent_op(o) == Some(self.function)
    }

    /// Writes a test of views, with one program for each result.
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

    /// Writes the program for the given result of a test of views, or the only program if `test` is `None`.
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
        // All warps run the ops that the maps need; one thread runs the rest.
        let b = Builder::at_end(self.context, block, location);
        let of_maps = self.slice(&self.maps, &|_| false)?;
        of_maps.write(&b, self.entry, &mut values, &mut |o, _| Ok((self.given)(o)))?;
        // Consecutive maps are looked up together.
        let new_maps: Vec<OpRef<'c>> = ops_of(block).filter(|o| MakeTiledTmaDescOp::cast(*o).is_some()).collect();
        new_maps.iter().for_each(|map| move_to_end(*map, block));
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
            ElectOp::build(&b, None, alone).map_err(|e| fail(op, e.to_string()))?;
        }
        // Maps of views that failed the test must not be created.
        new_maps.into_iter().filter(|map| !has_uses(result(*map, 0))).for_each(erase);
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

/// Returns the outermost regions of a function that other agents than the consumers run.
fn regions(function: OpRef<'_>) -> Vec<OpRef<'_>> {
    collect_ops(function, |o| {
        let inside = parent_op(o).is_some_and(|p| ProduceOneOp::cast(p).is_some());
        let is_own = agent_of(o).is_some_and(|name| name == CONSUMERS);
        (!is_own && (!inside && ElectOp::cast(o).is_some() || ProduceOneOp::cast(o).is_some())).then_some(o)
    })
}

/// The name of the agent that runs a region.
fn name_of<'c>(region: OpRef<'c>) -> &'c str {
    let own = ElectOp::cast(region).and_then(|r| r.agent());
    own.or_else(|| ProduceOneOp::cast(region)?.agent()).unwrap_or(PRODUCER)
}

/// Writes the body of a region that fills stages into the program of its agent, for all of its threads or for one.
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
        ElectOp::build(b, None, alone).map_err(|e| fail(fill, e.to_string()))?;
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

/// Whether an op at the top of a function belongs to no agent: storage, pipelines, the allocation of tensor memory, and
/// the barrier after them.
fn is_shared(op: OpRef<'_>) -> bool {
    AllocTensorOp::cast(op).is_some()
        || CreatePipelineOp::cast(op).is_some()
        || CreateIteratorOp::cast(op).is_some()
        || TmemAllocateOp::cast(op).is_some()
        || BarrierOp::cast(op).is_some()
}
