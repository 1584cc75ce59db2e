//! `tileas-materialize-schedule` runs the modulo scheduler and rewrites loops as their schedules say.
//!
//! `tile_schedule` schedules each loop with constraints. The loop gets its initiation interval and number of stages,
//! `tileas.schedule.interval` and `.stages`. Each operation gets its stage and its clock within the interval,
//! `tileas.schedule.stage` and `.clock`. Then the loop is rewritten ([`form`]):
//!
//! * In a loop without agents, loads become copies into rings that start as many iterations ahead of their first user
//!   as in the schedule, and the other operations are put into the schedule's order. In kernels with a plan, loads
//!   only get that number, `nv_tileas.ahead`: their rings are built after the agents, by
//!   `tileas-unspecialized-pipeline`.
//! * A loop with warpgroup dots is scheduled for agents (`analysis::schedule::agents`), unless `use-single-agent` is
//!   set. If the schedule issues the late one of two dependent dots after the early one of the next iteration, it moves
//!   there (`analysis::dependent_dots`). Each operation gets its agent, `tileas.schedule.agent`, and each dot the
//!   number of stages of its ring, `nv_tileas.stages`, from which `tileas-materialize-async` builds the ring: the
//!   stages that the schedule uses plus the stages of one more iteration, for late loads.
//!
//! A loop that has its final form is `tileas.schedule.materialized`. Later passes do not pipeline it again.
//!
//! Overlapped iterations may hold as many registers as a thread has, or as many as a single iteration holds if that
//! is more. If the scheduler finds no overlap, iterations are not overlapped and a remark says so; it is an error
//! only if `largest-interval` bounds the search.
//!
//! With `simple-stages` each loop without agents keeps the form with the lower predicted time: copies as the schedule
//! says, or copies that start as early as a ring of that many stages allows. The simple form wins a tie. It is left to
//! `tileas-unspecialized-pipeline`; the schedule's attributes stay in the program. The rings of agents then have the
//! stages of the plan: more than the schedule uses, for loads that take longer than the machine's numbers say.
//!
//! Rings take shared memory that the scheduler does not know about. If they take more than is available, the deepest
//! copy is limited to one iteration less, and the loop is scheduled again, at most `max-constraint-iterations` times;
//! after that iterations are not overlapped, with the same remark. The dot plan limits the stages of agents' rings.
//! If a schedule uses more, constraints make copies wait for the available stages and the loop is scheduled again.

mod form;

use crate::{
    analysis::{
        ring_loads::Candidates,
        schedule::{
            self, LoopCosts, ScheduleAnalysis,
            agents::{Order, ScheduledRing},
            declared,
        },
    },
    dialect::{
        attributes,
        dot_plan::DotPlan,
        location, nv_tileaa,
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        remark::{self, remark},
        rt::*,
        target::shared_limit,
    },
    pass_descriptor,
};
use melior::{Context, ir::operation::OperationLike};
use std::fmt::Display;
use tile_interface::Advice;
use tile_schedule::{Bound, Failure, Group, Method, Schedule, Settings, report, rings};
use tile_targets::Target;

#[derive(Clone, Default)]
pub struct MaterializeSchedule;

impl RustPass for MaterializeSchedule {
    pass_descriptor!(tileas_materialize_schedule);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_materialize_schedule::{Options, stat};
        let options = Options(cx);
        let functions = collect_ops(op, nv_tileaa::FuncOp::cast);
        if let Some(pass) = declared::invalidating(context.to_raw()) {
            return Err(fail(op, declared::message(&pass)));
        }
        let Some(analysis) = cx.cached_analysis::<ScheduleAnalysis>() else {
            let constrained = |f: &&nv_tileaa::FuncOp<'c>| attributes::MACHINE.is_on(f.op());
            return Err(match functions.iter().find(constrained) {
                Some(f) => fail(
                    f.op(),
                    "cleanup pass invalidated ScheduleAnalysis; rerun constraint generation or remove the pass",
                ),
                None => fail(op, "no ScheduleAnalysis is available; run tileas-generate-schedule-constraints first"),
            });
        };
        let natural = |n: i64, name: &str| {
            u32::try_from(n).map_err(|_| fail(op, format!("{name} must be between 0 and {}, got {n}", u32::MAX)))
        };
        let settings = Settings {
            exhaustive: options.exhaustive(),
            rows: natural(options.rrt_size_threshold(), "rrt-size-threshold")?,
            max_interval: Some(natural(options.largest_interval(), "largest-interval")?).filter(|clocks| *clocks > 0),
            ..Settings::default()
        };
        let rounds = natural(options.max_constraint_iterations(), "max-constraint-iterations")?;
        let simple = natural(options.simple_stages(), "simple-stages")?;
        let (mut answers, mut forms) = (vec![], vec![]);
        for (around, costs) in schedule::loops_of(op).into_iter().zip(&analysis.loops) {
            let function =
                std::iter::successors(parent_op(around), |o| parent_op(*o)).find_map(nv_tileaa::FuncOp::cast);
            let machine = function.and_then(|f| schedule::machine_of(f.op()));
            let (target, machine) = machine.ok_or_else(|| fail(around, "loop has no target"))?;
            if costs.has_agents() && options.use_single_agent() {
                schedule::nodes_of(around).iter().for_each(|node| attributes::GID.remove(*node));
                continue;
            }
            let answer = if costs.has_agents() {
                let answer = share(around, costs, settings, rounds)?;
                let rings = if simple > 0 { vec![] } else { answer.rings };
                Answer { rings, ..answer }
            } else {
                let shared = shared_limit(target, options.extended_smem());
                solve(around, costs, (target, shared), settings, (rounds, simple))?
            };
            annotate(around, &answer);
            let limit = shared_limit(target, options.extended_smem());
            forms.push(form::Form { around, target, shared: limit, has_agents: costs.has_agents() });
            if let Bound::NoOverlap { obstacle, .. } = &answer.schedule.reason
                && (simple == 0 || costs.has_agents())
            {
                remark_serial(around, format_args!("with overlap, {obstacle}"));
            }
            cx.stat_add(stat::NUM_SCHEDULED, 1);
            let name = function.map(|f| f.sym_name().to_owned()).unwrap_or_default();
            // Targets without numbers of their own are scheduled with the numbers of their family.
            let family = if machine.name == target.name { "" } else { &format!(" (clocks of {})", machine.name) };
            answers.push((format!("{name}, loop {}{family}", answers.len()), answer));
        }
        for function in functions {
            attributes::MACHINE.remove(function.op());
        }
        write_reports(op, options.schedule_trace_file(), &answers)?;
        // Inner loops first: outer loops must leave room for their rings, and may be copied.
        forms.into_iter().rev().try_for_each(|form| form.give(context))
    }
}

struct Answer<'c> {
    graph: tile_schedule::Graph,
    schedule: Schedule,
    nodes: Vec<OpRef<'c>>,
    /// Loads that can be copied ahead, with the number of iterations.
    ahead: Vec<(OpRef<'c>, i64)>,
    /// Dots of agents, with the stages of their rings.
    rings: Vec<(OpRef<'c>, u32)>,
}

/// Builds the scheduler's graph of the loop. Each agent has at least as many registers as a single iteration holds.
fn graph_of(around: OpRef<'_>, costs: &LoopCosts) -> Result<tile_schedule::Graph, Failed> {
    let mut graph = costs.graph(around).ok_or_else(|| fail(around, NOT_DESCRIBED))?;
    let alone = tile_schedule::serial(&graph).map_err(|e| fail(around, e.to_string()))?;
    for (agent, held) in graph.agents.iter_mut().zip(alone.registers) {
        agent.registers = agent.registers.map(|own| own.max(held));
    }
    Ok(graph)
}

const NOT_DESCRIBED: &str = "the loop has changed since its constraints were generated";

fn is_serial(around: OpRef<'_>) -> bool {
    attributes::FORCE_SERIAL_EXECUTION.is_on(around)
}

/// Schedules a loop of agents, with the order of their programs that gives the shortest interval.
fn share<'c>(around: OpRef<'c>, costs: &LoopCosts, settings: Settings, rounds: u32) -> Result<Answer<'c>, Failed> {
    let (rings, orders) = costs.rings(around).ok_or_else(|| fail(around, NOT_DESCRIBED))?;
    let graph = graph_of(around, costs)?;
    let (mut best, mut first_failure): (Option<Answer<'c>>, Option<Failure>) = (None, None);
    // Without overlap all orders are equal.
    let orders = if is_serial(around) { &orders[..1] } else { &orders[..] };
    for order in orders {
        // An order that cannot be shorter than the best one is not placed.
        if best.as_ref().is_some_and(|b| shortest(graph.clone(), order) >= b.schedule.interval) {
            continue;
        }
        match share_in_order(around, graph.clone(), (&rings, order), settings, rounds) {
            Ok(answer) if best.as_ref().is_none_or(|b| answer.schedule.interval < b.schedule.interval) => {
                best = Some(answer);
            }
            Ok(_) => {}
            Err(failure) => first_failure = first_failure.or(Some(failure)),
        }
    }
    let why = || first_failure.map_or(NOT_DESCRIBED.into(), |f| f.to_string());
    best.ok_or_else(|| fail(around, why()))
}

/// A lower bound on the interval of an order.
fn shortest(mut graph: tile_schedule::Graph, order: &Order) -> u32 {
    order.impose(&mut graph);
    tile_schedule::bounds::minimum(&graph).clocks()
}

/// Schedules a loop of agents until its rings have enough stages. Agents overlap regardless of the size of the loop.
fn share_in_order<'c>(
    around: OpRef<'c>,
    mut graph: tile_schedule::Graph,
    (rings, order): (&[ScheduledRing<'c>], &Order),
    settings: Settings,
    rounds: u32,
) -> Result<Answer<'c>, Failure> {
    order.impose(&mut graph);
    let most = DotPlan::around(around).map_or(0, |plan| plan.stages);
    let mut left = rounds;
    loop {
        let mut schedule =
            if is_serial(around) { tile_schedule::serial(&graph) } else { tile_schedule::overlap(&graph, &settings) }?;
        let taken: Vec<u32> = rings.iter().map(|r| rings::stages(&graph, &schedule, &r.steps)).collect();
        let short: Vec<_> = rings.iter().zip(&taken).filter(|(_, stages)| **stages > most).collect();
        if short.is_empty() || left == 0 {
            let of_ring = |(ring, taken): (&ScheduledRing<'c>, &u32)| {
                let turns = ring.steps.len() as u32;
                let stages = taken.div_ceil(turns).saturating_add(SPARE_TURNS).saturating_mul(turns).min(most);
                ring.products.iter().map(move |dot| (*dot, stages)).collect::<Vec<_>>()
            };
            let rings = rings.iter().zip(&taken).flat_map(of_ring).collect();
            order.give_back(&mut graph, &mut schedule);
            return Ok(Answer { graph, schedule, nodes: schedule::nodes_of(around), ahead: vec![], rings });
        }
        for (ring, _) in short {
            graph.edges.extend(rings::limit(&schedule, &ring.steps, most));
        }
        left -= 1;
    }
}

/// Extra stages per step of a ring, because loads do not always arrive in time. With equal numbers of stages per
/// step, a ring wraps around at the end of an iteration, which keeps its stage numbers simple.
const SPARE_TURNS: u32 = 1;

/// Schedules a loop until its rings fit shared memory.
fn solve<'c>(
    around: OpRef<'c>,
    costs: &LoopCosts,
    (target, shared): (&Target, u64),
    settings: Settings,
    (rounds, simple): (u32, u32),
) -> Result<Answer<'c>, Failed> {
    let mut graph = graph_of(around, costs)?;
    let plain = graph.clone();
    let settings = Settings { serial: is_serial(around), ..settings };
    let nodes = schedule::nodes_of(around);
    let candidates = Candidates::of(around, target);
    let loads: Vec<usize> =
        candidates.iter().flat_map(|c| &c.loads).filter_map(|l| nodes.iter().position(|n| *n == l.op)).collect();
    let mut most = vec![i64::MAX; loads.len()];
    // Schedules do not describe a ring that loads share.
    let shares = simple > 0 && candidates.as_ref().is_some_and(|c| c.is_shared(shared));
    for _ in 0..=rounds {
        let schedule = tile_schedule::solve(&graph, &settings).map_err(|e| fail(around, e.to_string()))?;
        if shares {
            return Ok(Answer { graph, schedule, nodes, ahead: vec![], rings: vec![] });
        }
        let ahead: Vec<i64> =
            loads.iter().zip(&most).map(|(l, most)| ahead(&graph, &schedule, *l).min(*most)).collect();
        let fits = candidates.as_ref().is_none_or(|c| c.bytes(&ahead) <= shared);
        let deepest = (0..loads.len()).max_by_key(|i| ahead[*i]);
        match deepest.filter(|_| !fits) {
            None => {
                let fits = |all: &[i64]| candidates.as_ref().is_none_or(|c| c.bytes(all) <= shared);
                let without = (0..i64::from(simple)).rev().map(|n| vec![n; loads.len()]).find(|all| fits(all));
                let is_slower = |all: &Vec<i64>| clocks(&plain, &loads, all) > clocks(&plain, &loads, &ahead);
                if without.is_some_and(|all| !settings.serial && !is_slower(&all)) {
                    return Ok(Answer { graph, schedule, nodes, ahead: vec![], rings: vec![] });
                }
                let ahead = loads.iter().map(|l| nodes[*l]).zip(ahead).collect();
                return Ok(Answer { graph, schedule, nodes, ahead, rings: vec![] });
            }
            Some(i) => {
                most[i] = ahead[i] - 1;
                limit(&mut graph, loads[i], most[i]);
            }
        }
    }
    let schedule = tile_schedule::serial(&graph).map_err(|e| fail(around, e.to_string()))?;
    if simple > 0 {
        return Ok(Answer { graph, schedule, nodes, ahead: vec![], rings: vec![] });
    }
    remark_serial(around, format_args!("copies that start ahead take more than {shared} bytes of shared memory"));
    let ahead = loads.iter().map(|l| (nodes[*l], 0)).collect();
    Ok(Answer { graph, schedule, nodes, ahead, rings: vec![] })
}

/// Returns how many iterations before its first user a copy must start to be in flight as long as in the schedule.
/// Copies start at the beginning of an iteration.
fn ahead(graph: &tile_schedule::Graph, schedule: &Schedule, load: usize) -> i64 {
    let interval = i64::from(schedule.interval);
    let begin = |node: usize| i64::from(schedule.times[node]);
    let users = graph.edges.iter().filter(|e| e.from == load && e.value);
    let gap = users.map(|e| begin(e.to) + interval * i64::from(e.distance) - begin(load)).min().unwrap_or(0);
    (gap + interval - 1) / interval
}

/// Predicts the clocks of an iteration whose copies start this many iterations before their users. The ops of threads
/// execute in order, so only copies overlap with others; a copy has arrived after as many iterations.
fn clocks(graph: &tile_schedule::Graph, loads: &[usize], ahead: &[i64]) -> u32 {
    let (mut graph, mut arrival) = (graph.clone(), 0);
    for edge in graph.edges.iter_mut().filter(|e| e.value) {
        let iterations = loads.iter().position(|l| *l == edge.from).map_or(0, |i| ahead[i]);
        if let Some(iterations) = u32::try_from(iterations).ok().filter(|n| *n > 0) {
            arrival = arrival.max(edge.latency.div_ceil(iterations));
            edge.latency = 0;
        }
    }
    graph.serial_length().max(arrival)
}

/// Limits a copy to start at most `most` iterations before its users: they are at most that many stages after it,
/// minus the stage that both occupy partly.
fn limit(graph: &mut tile_schedule::Graph, load: usize, most: i64) {
    let group = |graph: &mut tile_schedule::Graph, node: usize| match graph.nodes[node].group {
        Some(group) => group,
        None => {
            graph.groups.push(Group::default());
            graph.nodes[node].group = Some(graph.groups.len() - 1);
            graph.groups.len() - 1
        }
    };
    let leader = group(graph, load);
    let users: Vec<usize> = graph.edges.iter().filter(|e| e.from == load && e.value).map(|e| e.to).collect();
    for user in users {
        if most > 1 {
            let follower = group(graph, user);
            graph.groups[follower] = Group { leader: Some(leader), max_depth: most as u32 - 1 };
        } else {
            graph.nodes[user].group = Some(leader);
        }
    }
}

fn annotate<'c>(around: OpRef<'c>, answer: &Answer<'c>) {
    let Answer { graph, schedule, nodes, ahead, rings } = answer;
    attributes::INTERVAL.set(around, schedule.interval.into());
    attributes::STAGES.set(around, schedule.stages().into());
    for (i, node) in nodes.iter().enumerate() {
        attributes::GID.remove(*node);
        attributes::STAGE.set(*node, schedule.stage(i).into());
        attributes::CLOCK.set(*node, (schedule.times[i] % schedule.interval).into());
        if graph.agents.len() > 1 {
            attributes::AGENT.set(*node, &graph.agents[schedule.agents[i]].name);
        }
    }
    rings.iter().for_each(|(dot, stages)| attributes::RING_STAGES.set(*dot, (*stages).into()));
    // A serial schedule does not say anything about copies, unless it was requested.
    let forced = is_serial(around);
    if schedule.method != Method::Serial || forced {
        ahead.iter().for_each(|(load, n)| attributes::AHEAD.set(*load, if forced { 0 } else { *n }));
    }
}

/// Reports that iterations are not overlapped, and why.
fn remark_serial(around: OpRef<'_>, why: impl Display) {
    let reason = format!("iterations are not overlapped: {why}");
    remark(around, remark::NOT_OVERLAPPED, reason, Advice::SmallerTiles);
}

/// Writes the schedules to the `schedule-trace-file`: a page if its name ends in `.html`, text if in `.txt`, and
/// otherwise a trace in which each loop is a process.
fn write_reports(op: OpRef<'_>, file: &str, answers: &[(String, Answer<'_>)]) -> Result<(), Failed> {
    if file.is_empty() {
        return Ok(());
    }
    let loops: Vec<(String, &tile_schedule::Graph, &Schedule)> =
        answers.iter().map(|(title, a)| (title.clone(), &a.graph, &a.schedule)).collect();
    let text = if file.ends_with(".html") {
        report::page(&loops)
    } else if file.ends_with(".txt") {
        let shown = |(title, a): &(String, Answer<'_>)| {
            format!("{title}\n{}{}\n", report::text(&a.graph, &a.schedule), source_lines(&a.nodes))
        };
        answers.iter().map(shown).collect()
    } else {
        report::trace(&loops)
    };
    std::fs::write(file, text).map_err(|e| fail(op, format!("cannot write '{file}': {e}")))
}

/// The source line of each operation of a loop, by the number that the table gives it.
fn source_lines(nodes: &[OpRef<'_>]) -> String {
    let line = |(i, node): (usize, &OpRef<'_>)| {
        let at = location::file_line(node.location())?;
        Some(format!("{i} {} is from {}:{}\n", op_name(*node), at.file, at.line))
    };
    let lines: String = nodes.iter().enumerate().filter_map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}
