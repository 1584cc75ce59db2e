//! `tileas-materialize-schedule`: the modulo scheduler's answer, as attributes.
//!
//! Each loop with constraints is scheduled by `tile_schedule`. It gets its interval and the number of its stages,
//! `tileas.schedule.interval` and `.stages`; each operation its stage and the clock in the interval,
//! `tileas.schedule.stage` and `.clock`. Loads that can be copied ahead get `nv_tileas.ahead`, the iterations from the
//! copy to its first user, which `tileas-unspecialized-pipeline` follows.
//!
//! Overlapped iterations may hold as many registers as a thread has, or as many as one iteration after the other holds
//! if that is more.
//!
//! Rings take shared memory that the scheduler does not know. Where they take more than there is, the deepest copy may
//! start one iteration less ahead of its user, and the loop is scheduled again, as often as `max-constraint-iterations`
//! says; after that no copy of the loop starts ahead.

use crate::{
    analysis::{
        ring_loads::Candidates,
        schedule::{self, LoopCosts, ScheduleAnalysis, constraint},
    },
    dialect::{
        nv_tileaa,
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::shared_limit,
    },
    pass_descriptor,
};
use melior::Context;
use tile_schedule::{Group, Method, Schedule, Settings, report};
use tile_targets::Target;

/// Discardable attributes.
const INTERVAL: &str = "tileas.schedule.interval";
const STAGES: &str = "tileas.schedule.stages";
const STAGE: &str = "tileas.schedule.stage";
const CLOCK: &str = "tileas.schedule.clock";
/// What `tileas-unspecialized-pipeline` follows.
const AHEAD: &str = "nv_tileas.ahead";

#[derive(Clone, Default)]
pub struct MaterializeSchedule;

impl RustPass for MaterializeSchedule {
    pass_descriptor!(tileas_materialize_schedule);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_materialize_schedule::{Options, stat};
        let options = Options(cx);
        let functions = collect_ops(op, nv_tileaa::FuncOp::cast);
        let Some(analysis) = cx.cached_analysis::<ScheduleAnalysis>() else {
            let constrained = |f: &&nv_tileaa::FuncOp<'c>| discardable_attr(f.op(), constraint::MACHINE).is_some();
            return Err(match functions.iter().find(constrained) {
                Some(f) => fail(
                    f.op(),
                    "cleanup pass invalidated ScheduleAnalysis; rerun constraint generation or remove the pass",
                ),
                None => fail(op, "there is no ScheduleAnalysis; tileas-generate-schedule-constraints builds it"),
            });
        };
        let natural = |n: i64, name: &str| {
            u32::try_from(n).map_err(|_| fail(op, format!("{name} must not be negative, got {n}")))
        };
        let settings = Settings {
            exhaustive: options.exhaustive(),
            rows: natural(options.rrt_size_threshold(), "rrt-size-threshold")?,
            ..Settings::default()
        };
        let rounds = natural(options.max_constraint_iterations(), "max-constraint-iterations")?;
        let mut solved = vec![];
        for (around, costs) in schedule::loops_of(op).into_iter().zip(&analysis.loops) {
            let function =
                std::iter::successors(parent_op(around), |o| parent_op(*o)).find_map(nv_tileaa::FuncOp::cast);
            let machine = function.and_then(|f| schedule::machine_of(f.op()));
            let (target, _) = machine.ok_or_else(|| fail(around, "loop has no target"))?;
            let shared = shared_limit(target, options.extended_smem());
            let answer = solve(around, costs, (target, shared), settings, rounds)?;
            annotate(context, around, &answer);
            cx.stat_add(stat::NUM_SCHEDULED, 1);
            let name = function.map(|f| f.sym_name().to_owned()).unwrap_or_default();
            solved.push((format!("{name}, loop {}", solved.len()), answer));
        }
        for function in functions {
            remove_discardable_attr(function.op(), constraint::MACHINE);
        }
        write_reports(op, options.schedule_trace_file(), &solved)
    }
}

struct Answer<'c> {
    graph: tile_schedule::Graph,
    schedule: Schedule,
    nodes: Vec<OpRef<'c>>,
    /// Loads that can be copied ahead, and how many iterations each is.
    ahead: Vec<(OpRef<'c>, i64)>,
}

/// Schedules a loop until its rings fit.
fn solve<'c>(
    around: OpRef<'c>,
    costs: &LoopCosts,
    (target, shared): (&Target, u64),
    settings: Settings,
    rounds: u32,
) -> Result<Answer<'c>, Failed> {
    let mut graph = costs.graph(around).ok_or_else(|| fail(around, "loop is not the one that was described"))?;
    let serial = discardable_attr(around, constraint::FORCE_SERIAL_EXECUTION).is_some();
    let settings = Settings { serial, ..settings };
    let alone = tile_schedule::serial(&graph).map_err(|e| fail(around, e.to_string()))?;
    for (agent, held) in graph.agents.iter_mut().zip(alone.registers) {
        agent.registers = Some(held.max(costs.registers));
    }
    let nodes = schedule::nodes_of(around);
    let candidates = Candidates::of(around, target);
    let loads: Vec<usize> =
        candidates.iter().flat_map(|c| &c.loads).filter_map(|l| nodes.iter().position(|n| *n == l.op)).collect();
    let mut most = vec![i64::MAX; loads.len()];
    for _ in 0..=rounds {
        let schedule = tile_schedule::solve(&graph, &settings).map_err(|e| fail(around, e.to_string()))?;
        let ahead: Vec<i64> =
            loads.iter().zip(&most).map(|(l, most)| ahead(&graph, &schedule, *l).min(*most)).collect();
        let fits = candidates.as_ref().is_none_or(|c| c.bytes(&ahead) <= shared);
        let deepest = (0..loads.len()).max_by_key(|i| ahead[*i]);
        match deepest.filter(|_| !fits) {
            None => {
                let ahead = loads.iter().map(|l| nodes[*l]).zip(ahead).collect();
                return Ok(Answer { graph, schedule, nodes, ahead });
            }
            Some(i) => {
                most[i] = ahead[i] - 1;
                limit(&mut graph, loads[i], most[i]);
            }
        }
    }
    let schedule = tile_schedule::serial(&graph).map_err(|e| fail(around, e.to_string()))?;
    let ahead = loads.iter().map(|l| (nodes[*l], 0)).collect();
    Ok(Answer { graph, schedule, nodes, ahead })
}

/// How many iterations before its first user's a copy must begin, so that it is under way as long as in the schedule:
/// copies begin where iterations do.
fn ahead(graph: &tile_schedule::Graph, schedule: &Schedule, load: usize) -> i64 {
    let interval = i64::from(schedule.interval);
    let begin = |node: usize| i64::from(schedule.times[node]);
    let users = graph.edges.iter().filter(|e| e.from == load && e.value);
    let gap = users.map(|e| begin(e.to) + interval * i64::from(e.distance) - begin(load)).min().unwrap_or(0);
    (gap + interval - 1) / interval
}

/// A copy may begin at most `most` iterations ahead of its users: they are at most so many stages behind it, less the
/// one that both have a part of.
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

fn annotate<'c>(context: &'c Context, around: OpRef<'c>, answer: &Answer<'c>) {
    let Answer { schedule, nodes, ahead, .. } = answer;
    let set = |op: OpRef<'c>, name: &str, n: i64| set_discardable_attr(op, name, i64_attr(context, n));
    set(around, INTERVAL, schedule.interval.into());
    set(around, STAGES, schedule.stages().into());
    for (i, node) in nodes.iter().enumerate() {
        remove_discardable_attr(*node, constraint::GID);
        set(*node, STAGE, schedule.stage(i).into());
        set(*node, CLOCK, (schedule.times[i] % schedule.interval).into());
    }
    // One iteration after the other says nothing of copies, unless that was asked for.
    let forced = discardable_attr(around, constraint::FORCE_SERIAL_EXECUTION).is_some();
    if schedule.method != Method::Serial || forced {
        ahead.iter().for_each(|(load, n)| set(*load, AHEAD, if forced { 0 } else { *n }));
    }
}

/// Writes the schedules where `schedule-trace-file` says: a page if the name ends in `.html`, text if in `.txt`, and
/// otherwise a trace, of which each loop is a process.
fn write_reports(op: OpRef<'_>, file: &str, solved: &[(String, Answer<'_>)]) -> Result<(), Failed> {
    if file.is_empty() {
        return Ok(());
    }
    let loops: Vec<(String, &tile_schedule::Graph, &Schedule)> =
        solved.iter().map(|(title, a)| (title.clone(), &a.graph, &a.schedule)).collect();
    let text = if file.ends_with(".html") {
        report::page(&loops)
    } else if file.ends_with(".txt") {
        loops.iter().map(|(title, g, s)| format!("{title}\n{}\n", report::text(g, s))).collect()
    } else {
        report::trace(&loops)
    };
    std::fs::write(file, text).map_err(|e| fail(op, format!("cannot write '{file}': {e}")))
}
