//! A prediction as a self-contained HTML page: the timeline of a CTA, the distribution of time, and the lines with the
//! longest waits.

use super::agents::Agent;
use super::prediction::Prediction;
use super::report::{SOURCE_LINES, main_reason, shortened};
use super::waits::Span;
use std::fmt::Write as _;

const WIDTH: f64 = 1400.0;
/// The width of the names of rows.
const LEFT: f64 = 110.0;
const ROW: f64 = 16.0;
/// Maximum number of bars in the timeline. More would make the page slow, so the timeline is cut off after them.
const MOST_BARS: usize = 20_000;

/// The style that the pages of all tools share.
const STYLE: &str = concat!(
    include_str!("../../../src/command/explore/page/palette.css"),
    include_str!("../../../src/command/explore/page/report.css"),
);

/// The kinds of bars, and their meanings.
const KINDS: &[(&str, &str)] = &[
    ("load", "TMA load"),
    ("store", "TMA store"),
    ("product", "dot"),
    ("barrier", "waits at a barrier"),
    ("mbarrier", "waits for an mbarrier"),
    ("wait", "waits for anything else"),
];

impl Prediction {
    pub fn html(&self) -> String {
        let mut out = String::new();
        let entry = if self.entry.is_empty() { String::new() } else { format!("{}: ", escape(&self.entry)) };
        let title = format!("{entry}{:.1} us on {}", self.microseconds, self.machine);
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
             <header><h1>{title}</h1><p>Predicted: {:.0} clocks at {:.0} MHz; {} blocks, {} resident per SM (limited by {}, \
             {} registers).</p>",
            self.clocks, self.mhz, self.blocks, self.resident, self.limited_by, self.registers
        );
        if let Some(text) = self.power_text() {
            let _ = write!(out, "<p>The launch {text}.</p>");
        }
        out.push_str("</header>\n<main>");
        let _ = write!(out, "<h2>Timeline of the first block</h2>{}", timeline(&self.spans, &self.agents));
        let percent = |x: f64| format!("{:.1} %", 100.0 * x);
        let _ = write!(out, "<h2>Busy</h2><table>");
        for (name, share) in &self.busy {
            let _ = write!(out, "<tr><td>{name}<td class=n>{}", percent(*share));
            for roof in self.notes.roofs.iter().filter(|r| r.unit == *name) {
                let _ = write!(
                    out,
                    "<td>{:.1} us; {} could take {:.1} us",
                    share * self.microseconds,
                    escape(&roof.faster),
                    roof.microseconds
                );
            }
        }
        let _ = write!(out, "</table><h2>Warps wait for</h2><table>");
        for (reason, share) in &self.waits {
            let _ = write!(out, "<tr><td>{}<td class=n>{}", reason.name(), percent(*share));
        }
        out.push_str("</table>");
        if !self.agents.is_empty() {
            out.push_str("<h2>Agents</h2><table><tr><th>agent<th>warps<th>wait for");
        }
        for agent in &self.agents {
            let waits: Vec<String> =
                agent.waits().into_iter().take(5).map(|(r, x)| format!("{} {}", r.name(), percent(x))).collect();
            let (first, last) = (agent.warps.start, agent.warps.end - 1);
            let _ = write!(out, "<tr><td>{}<td>{first} to {last}<td>{}", agent.name, waits.join(", "));
        }
        if !self.agents.is_empty() {
            out.push_str("</table>");
        }
        if !self.sources.is_empty() {
            out.push_str(
                "<h2>Source lines</h2><p>By the time that warps wait for them.</p>\
                 <table><tr><th>time<th>line<th>mostly<th>bytes used<th>program",
            );
        }
        for (source, share) in self.costliest(SOURCE_LINES) {
            let _ = write!(
                out,
                "<tr><td class=n>{}<td class=place>{}<td>{}<td class=n>{}<td><code>{}</code>",
                percent(share),
                escape(&source.place()),
                source.main_reason().0.name(),
                source.cost.used_share().map_or(String::new(), percent),
                escape(&shortened(&source.text))
            );
        }
        if !self.sources.is_empty() {
            out.push_str("</table>");
        }
        out.push_str(&self.notes.html(escape));
        let _ = write!(out, "<h2>PTX lines before which warps wait</h2><table><tr><th>line<th>waits<th>for<th>PTX");
        for (line, share) in self.slowest(40) {
            let _ = write!(
                out,
                "<tr><td class=n>{}<td class=n>{}<td>{}<td><code>{}</code>",
                line.line,
                percent(share),
                main_reason(&line.cost).name(),
                escape(&shortened(&line.text))
            );
        }
        out.push_str("</table>\n</main>\n</html>\n");
        out
    }
}

/// A timeline with one row for each agent, showing its lead warp and its copies. Without agents, one row for each
/// warp.
fn timeline(spans: &[Span], agents: &[Agent]) -> String {
    let row_of = |s: &Span| -> Option<usize> {
        if agents.is_empty() {
            return Some(s.row as usize);
        }
        let agent = agents.iter().position(|a| a.warps.contains(&s.row))?;
        let copy = matches!(s.name, "load" | "store");
        (copy || agents[agent].lead == s.row).then_some(agent)
    };
    let shown: Vec<(usize, &Span)> = spans.iter().filter_map(|s| Some((row_of(s)?, s))).take(MOST_BARS).collect();
    let end = shown.iter().map(|(_, s)| s.end).fold(1.0, f64::max);
    let rows = shown.iter().map(|(row, _)| row + 1).max().unwrap_or(0).max(agents.len());
    let height = rows as f64 * ROW + ROW;
    let mut out = String::from("<ul class=legend>");
    for (class, meaning) in KINDS.iter().filter(|(class, _)| shown.iter().any(|(_, s)| class_of(s) == *class)) {
        let _ = write!(out, "<li><i style=\"background: var(--{class})\"></i>{meaning}");
    }
    let what = if agents.is_empty() { "a warp" } else { "an agent" };
    let _ = write!(out, "<li>a row is {what}</ul><svg viewBox=\"0 0 {WIDTH} {height}\" role=img>");
    let scale = (WIDTH - LEFT) / end;
    for (row, s) in shown {
        let (x, width) = (LEFT + s.start * scale, ((s.end - s.start) * scale).max(0.3));
        let _ = write!(
            out,
            "<rect fill=\"var(--{})\" x={x:.1} y={:.0} width={width:.1} height={:.0}><title>warp {}: {} {:.0} to {:.0}</title></rect>",
            class_of(s),
            row as f64 * ROW,
            ROW - 2.0,
            s.row,
            s.name,
            s.start,
            s.end
        );
    }
    for row in 0..rows {
        let name = agents.get(row).map_or_else(|| format!("warp {row}"), |agent| fitting(&agent.name));
        let _ = write!(out, "<text x=0 y={:.0}>{}</text>", (row as f64 + 0.7) * ROW, escape(&name));
    }
    let _ = write!(out, "<text x={LEFT} y={:.0}>0</text>", height - 3.0);
    let _ = write!(out, "<text x={WIDTH} y={:.0} text-anchor=end>{end:.0} clocks</text></svg>", height - 3.0);
    out
}

/// The color of a bar: a variable of the style.
fn class_of(span: &Span) -> &'static str {
    KINDS.iter().map(|(class, _)| *class).find(|class| *class == span.name).unwrap_or("wait")
}

/// A name that fits to the left of a row.
fn fitting(name: &str) -> String {
    const MOST: usize = 17;
    if name.chars().count() <= MOST {
        name.to_owned()
    } else {
        name.chars().take(MOST - 1).chain(['\u{2026}']).collect()
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
