//! A prediction as text, and its parts put together.

use super::replay::{Reason, Replay};
use super::{Line, Pipe, Prediction, PtxLine};
use crate::exec::state::program::Program;
use std::fmt::Write as _;

/// Lines in a report.
const LINES: usize = 24;

/// What a prediction is made of.
pub(super) struct Parts<'a> {
    pub machine: String,
    pub clocks: f64,
    pub mhz: f64,
    pub microseconds: f64,
    pub blocks: u64,
    pub resident: usize,
    pub limited_by: &'static str,
    pub registers: u32,
    pub per_sm: u64,
    pub first_share: f64,
    pub from_image: f64,
    pub replay: Replay,
    pub program: &'a Program,
    pub schedulers: f64,
}

pub(super) fn prediction(p: Parts<'_>) -> Prediction {
    let span = p.replay.ends.iter().copied().fold(1.0, f64::max);
    let b = &p.replay.busy;
    let of_schedulers = span * p.schedulers;
    let mut busy: Vec<(&'static str, f64)> =
        (1..Pipe::COUNT).map(|i| (Pipe::NAMES[i], b.pipes[i] / of_schedulers)).collect();
    busy.extend([
        ("issue", b.issue / of_schedulers),
        ("wgmma", b.wgmma / of_schedulers),
        ("shared memory", b.shared / span),
        ("L2", b.l2 / span),
        ("memory", b.dram / span),
    ]);
    busy.retain(|(_, share)| *share > 0.0);
    busy.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(y.0)));
    let mut lines: Vec<PtxLine> = Vec::new();
    let mut keys: Vec<_> = p.replay.lines.iter().collect();
    keys.sort_by_key(|(key, _)| **key);
    let mut waits = [0.0; Reason::ALL.len()];
    for ((func, pc), cost) in keys {
        let function = &p.program.funcs[*func as usize];
        let inst = &function.code[*pc as usize];
        for (sum, wait) in waits.iter_mut().zip(cost.waits) {
            *sum += wait;
        }
        let text = p.program.text(inst).split_whitespace().collect::<Vec<_>>().join(" ");
        let line = inst.line;
        lines.push(PtxLine { function: function.name.clone(), line, text, cost: *cost });
    }
    let all: f64 = waits.iter().sum::<f64>().max(1.0);
    let mut waits: Vec<(Reason, f64)> = Reason::ALL.into_iter().zip(waits.map(|w| w / all)).collect();
    waits.retain(|(_, share)| *share > 0.0);
    waits.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
    Prediction {
        machine: p.machine,
        clocks: p.clocks,
        mhz: p.mhz,
        microseconds: p.microseconds,
        blocks: p.blocks,
        resident: p.resident,
        limited_by: p.limited_by,
        registers: p.registers,
        blocks_per_sm: p.per_sm,
        first_share: p.first_share,
        from_image: p.from_image,
        busy,
        waits,
        lines,
        spans: p.replay.spans,
    }
}

impl Prediction {
    /// The lines at which warps wait the longest, with their share of all waiting.
    pub fn slowest(&self, count: usize) -> Vec<(&PtxLine, f64)> {
        let all: f64 = self.lines.iter().map(|l| l.cost.waited()).sum::<f64>().max(1.0);
        let mut found: Vec<_> = self.lines.iter().map(|l| (l, l.cost.waited() / all)).collect();
        found.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.line.cmp(&y.0.line)));
        found.truncate(count);
        found
    }

    /// A report for people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "predicted on {}: {:.1} us, {:.0} clocks at {:.0} MHz",
            self.machine, self.microseconds, self.clocks, self.mhz
        );
        let _ = writeln!(
            out,
            "  {} blocks, {} at a time on a multiprocessor (limited by {}; about {} registers), at most {} each",
            self.blocks, self.resident, self.limited_by, self.registers, self.blocks_per_sm
        );
        let percent = |x: f64| format!("{:5.1} %", 100.0 * x);
        if self.from_image > 0.0 {
            let _ = writeln!(out, "  {:.1} % of the instructions as assembled", 100.0 * self.from_image);
        }
        let _ = writeln!(out, "busy:");
        for (name, share) in &self.busy {
            let _ = writeln!(out, "  {name:<24}{}", percent(*share));
        }
        let _ = writeln!(out, "warps wait for:");
        for (reason, share) in &self.waits {
            let _ = writeln!(out, "  {:<24}{}", reason.name(), percent(*share));
        }
        let _ = writeln!(out, "lines with the longest waits:");
        for (line, share) in self.slowest(LINES) {
            let _ = writeln!(
                out,
                "  {} line {:<6}{}  {:<16}{}",
                line.function,
                line.line,
                percent(share),
                main_reason(&line.cost).name(),
                line.text
            );
        }
        out
    }
}

pub(super) fn main_reason(line: &Line) -> Reason {
    Reason::ALL
        .into_iter()
        .max_by(|x, y| line.waits[*x as usize].total_cmp(&line.waits[*y as usize]))
        .unwrap_or(Reason::Slot)
}
