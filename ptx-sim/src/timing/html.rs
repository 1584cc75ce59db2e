//! A prediction as a page of HTML that needs nothing else: the timeline of a block, what the time goes to, and the
//! lines with the longest waits.

use super::report::main_reason;
use super::{Prediction, Span};
use std::fmt::Write as _;

const WIDTH: f64 = 1400.0;
const ROW: f64 = 14.0;
/// Bars of the picture; more would make the page slow, so that the picture ends with the last of them.
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
             <p>{:.0} clocks at {:.0} MHz; {} blocks, {} at a time on a multiprocessor (limited by {}, {} registers).</p>",
            self.clocks, self.mhz, self.blocks, self.resident, self.limited_by, self.registers
        );
        let _ = write!(out, "<h2>The first block in time</h2>{}", timeline(&self.spans));
        let percent = |x: f64| format!("{:.1} %", 100.0 * x);
        let _ = write!(out, "<h2>Busy</h2><table>");
        for (name, share) in &self.busy {
            let _ = write!(out, "<tr><td>{name}<td class=n>{}", percent(*share));
        }
        let _ = write!(out, "</table><h2>Warps wait for</h2><table>");
        for (reason, share) in &self.waits {
            let _ = write!(out, "<tr><td>{}<td class=n>{}", reason.name(), percent(*share));
        }
        let _ = write!(out, "</table><h2>Lines with the longest waits</h2><table><tr><th>line<th>waits<th>for<th>PTX");
        for (line, share) in self.slowest(40) {
            let _ = write!(
                out,
                "<tr><td class=n>{}<td class=n>{}<td>{}<td><code>{}</code>",
                line.line,
                percent(share),
                main_reason(&line.cost).name(),
                escape(&line.text)
            );
        }
        out.push_str("</table>\n");
        out
    }
}

fn timeline(spans: &[Span]) -> String {
    let shown = &spans[..spans.len().min(MOST_BARS)];
    let end = shown.iter().map(|s| s.end).fold(1.0, f64::max);
    let rows = shown.iter().map(|s| s.row + 1).max().unwrap_or(0);
    let height = f64::from(rows) * ROW + ROW;
    let mut out = format!("<svg width=\"{WIDTH}\" height=\"{height}\">");
    for s in shown {
        let (x, width) = (s.start / end * WIDTH, ((s.end - s.start) / end * WIDTH).max(0.3));
        let class = match s.name {
            "load" | "store" | "product" | "barrier" | "mbarrier" => s.name,
            _ => "wait",
        };
        let _ = write!(
            out,
            "<rect class={class} x={x:.1} y={:.0} width={width:.1} height={:.0}><title>warp {}: {} {:.0} to {:.0}</title></rect>",
            f64::from(s.row) * ROW,
            ROW - 2.0,
            s.row,
            s.name,
            s.start,
            s.end
        );
    }
    let _ = write!(out, "<text x=0 y={height}>0 to {end:.0} clocks; a row is a warp</text></svg>");
    out
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
