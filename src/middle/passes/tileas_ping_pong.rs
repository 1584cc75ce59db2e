//! `tileas-ping-pong` ping-pongs warpgroups between the tensor cores and arithmetic.
//!
//! Warpgroups that run the same program, such as attention,
//!
//! ```text
//! for i { start s = q k[i+1] and o += p v[i];  wait for s;  compute with s;  wait for o }
//! ```
//!
//! may all compute at the same time, while the tensor cores idle, and then all multiply back to back. The pass adds a
//! ping-pong:
//!
//! ```text
//! for i { wait for turn;  start s = q k[i+1] and o += p v[i];  pass turn;  wait for s;  compute with s;  wait for o }
//! ```
//!
//! Warpgroups then start their dots one after another, in the same order in every iteration, and stay out of phase:
//! while one computes, the dots of another are in flight. The ping-pong also covers dots next to the loop, such as
//! dots of iterations peeled from it, which fixes the order from the start.
//!
//! Ping-pong has a cost: a warpgroup that computes faster than the others must wait for them. If the tensor cores
//! wait for arithmetic anyway, that time is lost. The pass therefore ping-pongs only loops that are bound by the
//! tensor cores, or nearly so: the dots of all warpgroups must keep the tensor cores busy for most of an iteration's
//! lower bound. The lower bound is the time of the dots plus the remaining time of the busiest pipe. Both come from
//! the machine's measured costs, as in the scheduler and the dot planner; pipes are slower while dots run.
//!
//! A loop is eligible if it starts all its dots before it waits for the first one and before the agent's threads
//! synchronize. Loops without arithmetic on the accumulators do not change, because they keep the tensor cores busy
//! anyway.

use crate::{
    analysis::{
        pipelines::meets,
        schedule::{busiest_pipe, loops_in},
        tensor_map_ops::contains,
    },
    dialect::{
        dot_plan::WARPGROUP,
        dots::{Instruction, SharedDot, element_of},
        layouts::Tensor,
        nv_tileaa,
        nv_tileas::{
            AgentSwitchOp, AsyncDotOp, AsyncDotWaitOp, CreatePingPongOp, EndPingPongOp, MemDescType, MmaKind,
            PingPongArriveOp, PingPongType, PingPongWaitOp, PromotedDotOp,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        remark::{self, remark},
        rt::*,
        target::target,
        thread_scope::ThreadScope,
    },
    pass_descriptor,
};
use melior::Context;
use tile_machine::Machine;
use tile_plan::{AStorage, DotLoop, Numbers};

#[derive(Clone, Default)]
pub struct PingPong;

/// The minimum fraction of an iteration in which dots keep the tensor cores busy for these to bound the loop.
const BOUND: f64 = 0.9;

/// The value of the option `when`.
#[derive(Clone, Copy, PartialEq)]
enum When {
    Always,
    Never,
    IfFaster,
}

/// The costs of a machine on which warpgroup dots were measured.
struct Costs {
    machine: Machine,
    numbers: Numbers,
}

impl RustPass for PingPong {
    pass_descriptor!(tileas_ping_pong);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_ping_pong::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        let when = match Options(cx).when() {
            "always" => When::Always,
            "never" => When::Never,
            "if-faster" => When::IfFaster,
            other => return Err(fail(op, format!("when must be always, never or if-faster, got '{other}'"))),
        };
        if when == When::Never {
            return Ok(());
        }
        let costs = Costs::of(target.name);
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            for switch in collect_ops(function.op(), AgentSwitchOp::cast) {
                for agent in 0..region_count(switch.op()) {
                    let loops = divide(switch.op(), agent, when, costs.as_ref(), context)?;
                    cx.stat_add(stat::NUM_LOOPS, loops as i64);
                }
            }
        }
        Ok(())
    }
}

/// Ping-pongs the warpgroups of an agent. Returns the number of loops.
fn divide<'c>(
    switch: OpRef<'c>,
    agent: usize,
    when: When,
    costs: Option<&Costs>,
    context: &'c Context,
) -> Result<usize, Failed> {
    let Some(scope) = ThreadScope::of_region(switch, agent) else { return Ok(0) };
    let groups = scope.warps.unwrap_or(0) / i64::from(WARPGROUP);
    let Some(block) = entry_block(region(switch, agent)) else { return Ok(0) };
    let is_divided = ops_of(block).any(|o| CreatePingPongOp::cast(o).is_some());
    if groups < 2 || scope.first_warp % i64::from(WARPGROUP) != 0 || is_divided {
        return Ok(0);
    }
    let mut loops = 0;
    let mut runs: Vec<Run<'c>> = vec![];
    for around in ops_of(block).flat_map(loops_in) {
        let Some(run) = only_run(around).filter(|_| when == When::Always || pays(around, groups, costs)) else {
            continue;
        };
        loops += 1;
        let beside = block_around(around).map(runs_of).unwrap_or_default();
        for run in beside.into_iter().chain([run]) {
            // Loops of one block have the same dots next to them.
            if runs.iter().all(|other| other.first != run.first) {
                runs.push(run);
            }
        }
    }
    let has_turns = |top: &OpRef<'c>| runs.iter().any(|run| contains(*top, run.first));
    let mut tops = ops_of(block).filter(has_turns);
    let Some(first) = tops.next() else { return Ok(0) };
    let last = tops.last().unwrap_or(first);
    // A run may end after the op that it begins with.
    let last = runs
        .iter()
        .map(|run| run.last)
        .filter(|op| block_of(*op) == block_of(last))
        .fold(last, |last, op| if ops_of(block).skip_while(|o| *o != last).any(|o| o == op) { op } else { last });
    let error = |e: BuildError| fail(switch, e.to_string());
    let b = Builder::before(context, first);
    b.set_location(first.location());
    let ping_pong = PingPongType::get(switch.location(), groups).ok_or_else(|| fail(switch, "too many warpgroups"))?;
    let ping_pong = CreatePingPongOp::build(&b, ping_pong.into()).map_err(error)?.ping_pong();
    b.set_after(last);
    b.set_location(last.location());
    EndPingPongOp::build(&b, ping_pong).map_err(error)?;
    for Run { first, last } in runs {
        let b = Builder::before(context, first);
        b.set_location(first.location());
        PingPongWaitOp::build(&b, ping_pong).map_err(error)?;
        b.set_after(last);
        b.set_location(last.location());
        PingPongArriveOp::build(&b, ping_pong).map_err(error)?;
    }
    Ok(loops)
}

/// Dots of a block that are started back to back, without waits in between.
#[derive(Clone, Copy)]
struct Run<'c> {
    first: OpRef<'c>,
    last: OpRef<'c>,
}

fn runs_of(block: Blk<'_>) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = vec![];
    let mut open = false;
    for op in ops_of(block) {
        if AsyncDotOp::cast(op).is_some() {
            match runs.last_mut().filter(|_| open) {
                Some(run) => run.last = op,
                None => runs.push(Run { first: op, last: op }),
            }
            open = true;
        } else if keeps_waiting(op) {
            open = false;
        }
    }
    runs
}

/// Whether threads wait in an op for each other or for dots.
fn keeps_waiting(op: OpRef<'_>) -> bool {
    let mut waits = meets(op);
    walk(op, &mut |o| {
        let products = AsyncDotOp::cast(o).is_some() || PromotedDotOp::cast(o).is_some();
        waits |= products || AsyncDotWaitOp::cast(o).is_some();
    });
    waits
}

/// Returns the dots of a loop if they are all started together and the loop computes with some of the accumulators.
fn only_run(around: OpRef<'_>) -> Option<Run<'_>> {
    let body = entry_block(region(around, 0))?;
    let (mut others, mut computed) = (false, false);
    for op in ops_of(body) {
        computed |= AsyncDotWaitOp::cast(op).is_some_and(|wait| wait.results().next().is_some());
        walk(op, &mut |o| others |= o != op && SharedDot::cast(o).is_some());
        others |= PromotedDotOp::cast(op).is_some();
    }
    match runs_of(body)[..] {
        [run] if !others && computed => Some(run),
        _ => None,
    }
}

/// Whether ping-pong is expected to make an iteration faster. Reports the decision in a remark.
fn pays(around: OpRef<'_>, groups: i64, costs: Option<&Costs>) -> bool {
    let body = entry_block(region(around, 0));
    let products = body.into_iter().flat_map(ops_of).filter_map(AsyncDotOp::cast);
    let known = costs.and_then(|costs| {
        let tensor = products.map(|dot| costs.tensor(dot)).sum::<Option<f64>>()?;
        let warps = u64::try_from(groups).ok()? * u64::from(WARPGROUP);
        Some((tensor, busiest_pipe(around, warps, &costs.machine)?))
    });
    let Some((tensor, (pipe, [alone, beside]))) = known else { return false };
    // After the dots are done, the rest runs at the pipe's full rate.
    let left = if beside > tensor { (1.0 - tensor / beside) * alone } else { 0.0 };
    let pays = beside > 0.0 && tensor >= BOUND * (tensor + left);
    let so = if pays { "warpgroups are ping-ponged" } else { "warpgroups are not ping-ponged" };
    let text = format!(
        "{so}: per iteration, the dots of all warpgroups keep the tensor cores busy for {tensor:.0} clocks and pipe \
         '{pipe}' is busy for {beside:.0} clocks, of which {left:.0} remain after the dots"
    );
    remark(around, remark::PING_PONG, text, None);
    pays
}

impl Costs {
    /// Returns the costs of a target, or `None` if they are unknown.
    fn of(target: &str) -> Option<Self> {
        let machine = Machine::of_target(target).ok()?;
        let numbers = Numbers::new(&tile_plan::Machine::named(&machine.name).ok()?).ok()?;
        Some(Self { machine, numbers })
    }

    /// Returns the tensor core clocks of a dot in all warpgroups.
    fn tensor(&self, dot: AsyncDotOp<'_>) -> Option<f64> {
        let by = attr(dot.op(), "instruction").and_then(Instruction::of).filter(|by| by.kind == MmaKind::Warpgroup)?;
        let (right, sums) = (MemDescType::cast(ty(dot.rhs()))?, Tensor::of_value(dot.result().next()?)?);
        let extent = |e: &i64| u32::try_from(*e).ok();
        let shape = (extent(sums.shape.first()?)?, extent(sums.shape.last()?)?, extent(right.shape().first()?)?);
        let operand = element_of(right.element_type(), dot.rhs_unsigned())?;
        let mut product = DotLoop::new(shape, operand);
        if MemDescType::cast(ty(dot.lhs())).is_none() {
            product.a_storage = AStorage::Registers { extra: 0 };
        }
        Some(self.numbers.tensor(&product, by.shape[1]))
    }
}
