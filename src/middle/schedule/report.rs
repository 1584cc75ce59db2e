//! Reports of a schedule: text, an HTML page, and a trace.

use crate::{
    bounds::Bound,
    graph::Graph,
    solve::{self, Effort, End, Method, Schedule},
};
use std::fmt::Write;

/// A unit or an agent: one row of the chart.
struct Lane {
    name: String,
    /// For each busy span: the node, its first clock within its iteration, and its length in clocks.
    spans: Vec<(usize, u32, u32)>,
}

/// The agents, followed by the units of all pools that are in use.
fn lanes(graph: &Graph, schedule: &Schedule) -> Vec<Lane> {
    let nodes = || graph.nodes.iter().enumerate();
    let mut lanes: Vec<Lane> = vec![];
    for (i, agent) in graph.agents.iter().enumerate() {
        let issue = |(n, node): (usize, &crate::graph::Node)| {
            (schedule.agents[n] == i && node.issue > 0).then(|| (n, schedule.times[n], node.issue))
        };
        lanes.push(Lane { name: agent.name.clone(), spans: nodes().filter_map(issue).collect() });
    }
    for (i, pool) in graph.pools.iter().enumerate() {
        for unit in 0..pool.units as usize {
            let mut spans = vec![];
            for (n, node) in nodes() {
                for (k, u) in node.footprint.iter().enumerate().filter(|(_, u)| u.pool == i) {
                    if schedule.units[n].get(k).copied().unwrap_or(0) == unit {
                        spans.push((n, schedule.times[n] + u.start, u.clocks));
                    }
                }
            }
            let name = if pool.units > 1 { format!("{} {unit}", pool.name) } else { pool.name.clone() };
            if !spans.is_empty() {
                lanes.push(Lane { name, spans });
            }
        }
    }
    lanes.iter_mut().for_each(|l| l.spans.sort_by_key(|s| (s.1 % schedule.interval, s.0)));
    lanes
}

/// Explains the interval in words.
pub fn reason(graph: &Graph, schedule: &Schedule) -> String {
    let bound = |b: &Bound| match b {
        Bound::Pool { pool, clocks } => format!("'{}' is busy for {clocks} clocks", graph.pools[*pool].name),
        Bound::Agents { clocks } => format!("the agents issue for {clocks} clocks"),
        Bound::Recurrence { nodes, clocks } => {
            let names: Vec<String> = nodes.iter().map(|n| format!("'{}'", graph.nodes[*n].name)).collect();
            format!("{} wait for each other: {clocks} clocks per iteration", names.join(", "))
        }
        Bound::Serial { clocks } => format!("iterations do not overlap, {clocks} clocks each"),
        Bound::NoOverlap { clocks, obstacle } => {
            format!("iterations do not overlap, {clocks} clocks each: overlapped, {obstacle}")
        }
        Bound::Placement { clocks } => format!("no placement was found below {clocks} clocks"),
    };
    let mut text = bound(&schedule.reason);
    if schedule.reason != schedule.minimum {
        let least = format!("; the lower bound is {}, because {}", schedule.minimum.clocks(), bound(&schedule.minimum));
        text += &least;
    }
    if let Some(Effort { visits, end }) = schedule.search {
        let end = match end {
            End::Complete => "all smaller intervals were searched",
            End::Registers => "at smaller intervals, the agents lack registers for the schedules that were found",
            End::Budget => "the search of smaller intervals ran out of budget",
            End::Coarse => "smaller intervals were searched in coarser clocks",
        };
        let _ = write!(text, "; {end} ({visits} partial schedules)");
    }
    text
}

/// The schedule as text: its properties, the operations in order, and the utilization of every unit.
pub fn text(graph: &Graph, schedule: &Schedule) -> String {
    let mut out = String::new();
    let interval = schedule.interval;
    let (stages, method) = (schedule.stages(), method(schedule));
    let _ = writeln!(out, "interval {interval} clocks, {stages} stages, {method}");
    let _ = writeln!(out, "because {}", reason(graph, schedule));
    for (agent, held) in graph.agents.iter().zip(&schedule.registers) {
        let most = agent.registers.map_or(String::new(), |most| format!(" of {most}"));
        let _ = writeln!(out, "registers of '{}': {held}{most}", agent.name);
    }
    let wide = graph.nodes.iter().map(|n| n.name.chars().count()).max().unwrap_or(0).max(9);
    let agents = graph.agents.iter().map(|a| a.name.chars().count()).max().unwrap_or(0).max(5);
    let _ = writeln!(out, "\n{:>8} {:>5}  {:agents$}  {:wide$}  busy", "clock", "stage", "agent", "operation");
    for n in schedule.order() {
        let node = &graph.nodes[n];
        let busy: Vec<String> =
            node.footprint.iter().map(|u| format!("{} {}+{}", graph.pools[u.pool].name, u.start, u.clocks)).collect();
        let (clock, stage) = (schedule.times[n] % interval, schedule.stage(n));
        let agent = &graph.agents[schedule.agents[n]].name;
        let line = format!("{clock:>8} {stage:>5}  {agent:agents$}  {:wide$}  {}", node.name, busy.join(", "));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = writeln!(out);
    for lane in lanes(graph, schedule) {
        let busy: u32 = lane.spans.iter().map(|s| s.2).sum();
        let _ = writeln!(out, "{:<20} busy {:>5.1} %", lane.name, 100.0 * f64::from(busy) / f64::from(interval));
    }
    out
}

fn method(schedule: &Schedule) -> String {
    match schedule.method {
        Method::Serial => "serial".into(),
        Method::Light => "light".into(),
        Method::Placed => format!("placed ({})", solve::strategies(&schedule.strategies)),
        Method::Searched => "searched exhaustively".into(),
    }
}

/// Some intervals of each schedule in the format of Chrome's trace viewer. A loop is a process, an agent or unit is a
/// thread, and a clock is a microsecond.
pub fn trace(loops: &[(String, &Graph, &Schedule)]) -> String {
    let mut events = vec![];
    for (pid, (title, graph, schedule)) in loops.iter().enumerate() {
        let name = quoted(title);
        events.push(format!(r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{{"name":{name}}}}}"#));
        for (tid, lane) in lanes(graph, schedule).iter().enumerate() {
            let id = format!(r#""pid":{pid},"tid":{tid}"#);
            let name = quoted(&lane.name);
            events.push(format!(r#"{{"ph":"M","name":"thread_name",{id},"args":{{"name":{name}}}}}"#));
            for iteration in 0..schedule.stages() + 2 {
                for (node, clock, length) in &lane.spans {
                    let (name, stage) = (quoted(&graph.nodes[*node].name), schedule.stage(*node));
                    let start = u64::from(*clock) + u64::from(iteration) * u64::from(schedule.interval);
                    events.push(format!(
                        r#"{{"ph":"X","name":{name},{id},"ts":{start},"dur":{length},"args":{{"iteration":{iteration},"stage":{stage}}}}}"#
                    ));
                }
            }
        }
    }
    format!("{{\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// An HTML page with a chart of one interval for each loop. Agents and units are lanes, and colors are stages.
pub fn page(loops: &[(String, &Graph, &Schedule)]) -> String {
    let mut body = String::new();
    for (title, graph, schedule) in loops {
        let _ = write!(body, "<h2>{}</h2>\n<pre>{}</pre>\n", escaped(title), escaped(&text(graph, schedule)));
        body += &chart(graph, schedule);
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Schedules</title>\n<style>\n{STYLE}</style>\n<header><h1>Schedules</h1>\n\
         <p>Each chart shows one interval; a span that crosses its end continues at its start. A later stage belongs to an \
         earlier iteration.</p></header>\n<main>\n{body}</main>\n</html>\n"
    )
}

/// The style that the pages of all tools share.
const STYLE: &str = concat!(
    include_str!("../../command/explore/page/palette.css"),
    include_str!("../../command/explore/page/report.css"),
);

/// The number of colors of stages: the variables `--stage-0` and so on of the style.
const COLORS: u32 = 6;

fn chart(graph: &Graph, schedule: &Schedule) -> String {
    const WIDTH: f64 = 1000.0;
    const LEFT: f64 = 140.0;
    const HEIGHT: usize = 24;
    let lanes = lanes(graph, schedule);
    let interval = schedule.interval;
    let scale = (WIDTH - LEFT) / f64::from(interval);
    let tall = HEIGHT * lanes.len() + HEIGHT;
    let mut out = String::from("<ul class=\"legend\">");
    for stage in 0..schedule.stages() {
        let _ = write!(out, "<li><i style=\"background: var(--stage-{})\"></i>stage {stage}</li>", stage % COLORS);
    }
    let _ = writeln!(out, "</ul>\n<svg viewBox=\"0 0 {WIDTH} {tall}\" role=\"img\">");
    for (row, lane) in lanes.iter().enumerate() {
        let y = row * HEIGHT;
        let _ = writeln!(out, "<text x=\"0\" y=\"{}\">{}</text>", y + 15, escaped(&lane.name));
        for (node, clock, length) in &lane.spans {
            let (name, stage) = (escaped(&graph.nodes[*node].name), schedule.stage(*node));
            let color = stage % COLORS;
            let start = clock % interval;
            let first = (*length).min(interval - start);
            for (start, length) in [(start, first), (0, length - first)].into_iter().filter(|(_, l)| *l > 0) {
                let (x, wide) = (LEFT + f64::from(start) * scale, f64::from(length) * scale);
                let _ = writeln!(
                    out,
                    "<g><title>{name}, clock {clock}, {length} clocks, stage {stage}</title><rect x=\"{x:.1}\" y=\"{y}\" \
                     width=\"{wide:.1}\" height=\"{}\" fill=\"var(--stage-{color})\" stroke=\"var(--faint)\" stroke-width=\".5\"/>",
                    HEIGHT - 4
                );
                // Print only names that fit.
                if wide > 6.5 * name.chars().count() as f64 {
                    let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{}\">{name}</text>", x + 3.0, y + 14);
                }
                out += "</g>\n";
            }
        }
    }
    for tick in 0..=4 {
        let clock = u64::from(interval) * tick / 4;
        let x = LEFT + clock as f64 * scale;
        let anchor = if tick == 4 { "end" } else { "start" };
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{clock}</text>", tall - 6);
    }
    out + "</svg>\n"
}
