//! A prediction as a self-contained HTML page: the timeline of a CTA, the distribution of time, and the lines with the
//! longest waits.

use super::agents::Agent;
use super::prediction::Prediction;
use super::report::{SOURCE_LINES, main_reason, shortened};
use super::waits::Span;
use std::fmt::Write as _;

const WIDTH: f64 = 1400.0;
const ROW: f64 = 14.0;
/// Maximum number of bars in the timeline. More would make the page slow, so the timeline is cut off after them.
const MOST_BARS: usize = 20_000;

const STYLE: &str = "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{padding:2px 8px;\
text-align:left;border-bottom:1px solid #ddd}td.n{text-align:right}code{white-space:pre-wrap}.load{fill:#4878a8}\
.store{fill:#7858a8}.product{fill:#c85840}.barrier{fill:#c8c8c8}.mbarrier{fill:#b0b0b0}.wait{fill:#e0c070}";

impl Prediction {
    pub fn html(&self) -> String {
        let mut out = String::new();
        let title = format!("{}: {:.1} us", self.machine, self.microseconds);
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "<!doctype html><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style><h1>{title}</h1>\
             <p>{:.0} clocks at {:.0} MHz; {} blocks, {} resident per SM (limited by {}, {} registers).</p>",
            self.clocks, self.mhz, self.blocks, self.resident, self.limited_by, self.registers
        );
        if let Some(text) = self.power_text() {
            let _ = write!(out, "<p>It {text}.</p>");
        }
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
                "<tr><td class=n>{}<td>{}<td>{}<td class=n>{}<td><code>{}</code>",
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
        out.push_str("</table>\n");
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
    let mut out = format!("<svg width=\"{WIDTH}\" height=\"{height}\">");
    for (row, s) in shown {
        let (x, width) = (s.start / end * WIDTH, ((s.end - s.start) / end * WIDTH).max(0.3));
        let class = match s.name {
            "load" | "store" | "product" | "barrier" | "mbarrier" => s.name,
            _ => "wait",
        };
        let _ = write!(
            out,
            "<rect class={class} x={x:.1} y={:.0} width={width:.1} height={:.0}><title>warp {}: {} {:.0} to {:.0}</title></rect>",
            row as f64 * ROW,
            ROW - 2.0,
            s.row,
            s.name,
            s.start,
            s.end
        );
    }
    for (row, agent) in agents.iter().enumerate() {
        let _ = write!(out, "<text x=2 y={:.0} font-size=11>{}</text>", (row as f64 + 0.75) * ROW, agent.name);
    }
    let what = if agents.is_empty() { "a warp" } else { "an agent" };
    let _ = write!(out, "<text x=0 y={height}>0 to {end:.0} clocks; a row is {what}</text></svg>");
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
