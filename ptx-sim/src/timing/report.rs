//! A prediction as text, and its assembly from the parts of the model.

use super::agents::agents;
use super::costs::Pipe;
use super::notes::Notes;
use super::power::Power;
use super::prediction::{Prediction, PtxLine, SourceLine};
use super::replay::Replay;
use super::source::LineTable;
use super::waits::{InstStats, Reason};
use crate::exec::state::program::Program;
use crate::exec::state::record::ClockReads;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Lines shown in a report: of the PTX, and of the program.
const LINES: usize = 12;
pub(super) const SOURCE_LINES: usize = 16;
/// Maximum characters of an instruction shown, because `wgmma` names hundreds of registers.
const WIDTH: usize = 100;
/// Accesses that use a smaller share of the moved bytes are reported.
const USED: f64 = 0.9;

/// The parts of a prediction.
pub(super) struct Parts<'a> {
    pub entry: &'a str,
    pub machine: String,
    pub clocks: f64,
    pub mhz: f64,
    pub power: Option<Power>,
    pub microseconds: f64,
    pub blocks: u64,
    pub resident: usize,
    pub limited_by: &'static str,
    pub registers: u32,
    pub per_sm: u64,
    pub first_share: f64,
    pub from_image: f64,
    pub replay: Replay,
    pub clock_reads: ClockReads,
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
        ("tcgen05", b.tcgen05 / span),
        ("tensor memory", b.tensor_memory / of_schedulers),
        ("shared memory and L1", b.shared / span),
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
    let sources = sources(&lines, &p.program.source);
    let all: f64 = waits.iter().sum::<f64>().max(1.0);
    let mut waits: Vec<(Reason, f64)> = Reason::ALL.into_iter().zip(waits.map(|w| w / all)).collect();
    waits.retain(|(_, share)| *share > 0.0);
    waits.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
    Prediction {
        entry: p.entry.to_owned(),
        machine: p.machine,
        clocks: p.clocks,
        mhz: p.mhz,
        power: p.power,
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
        sources,
        agents: agents(&p.replay.warps),
        spans: p.replay.spans,
        notes: Notes::default(),
        clock_reads: p.clock_reads,
    }
}

/// The lines of the program, most expensive first.
fn sources(lines: &[PtxLine], ptx: &str) -> Vec<SourceLine> {
    let table = LineTable::of(ptx);
    let mut found: BTreeMap<(&str, u32), InstStats> = BTreeMap::new();
    for line in lines {
        found.entry(table.at(line.line).unwrap_or(("", 0))).or_default().add(&line.cost);
    }
    if found.keys().all(|(file, _)| file.is_empty()) {
        return Vec::new();
    }
    let mut sources: Vec<SourceLine> = found
        .into_iter()
        .map(|((file, line), cost)| SourceLine { file: file.into(), line, text: String::new(), cost })
        .collect();
    sources.sort_by(|x, y| y.cost.cost().total_cmp(&x.cost.cost()));
    sources
}

impl SourceLine {
    /// `file:line`.
    pub fn place(&self) -> String {
        if self.file.is_empty() { "(no line)".into() } else { format!("{}:{}", self.file, self.line) }
    }

    /// The largest part of its cost, and the share of that part.
    pub fn main_reason(&self) -> (Reason, f64) {
        let reason = largest(&self.cost.caused);
        (reason, self.cost.caused[reason as usize] / self.cost.cost().max(1.0))
    }
}

impl Prediction {
    /// The lines before which warps wait the longest, with their share of all waiting.
    pub fn slowest(&self, count: usize) -> Vec<(&PtxLine, f64)> {
        let all: f64 = self.lines.iter().map(|l| l.cost.waited()).sum::<f64>().max(1.0);
        let mut found: Vec<_> = self.lines.iter().map(|l| (l, l.cost.waited() / all)).collect();
        found.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.line.cmp(&y.0.line)));
        found.truncate(count);
        found
    }

    /// Fills in the text of the program's lines. `read` returns the text of a file named in the PTX, if available.
    pub fn read_sources(&mut self, mut read: impl FnMut(&str) -> Option<String>) {
        let mut files: BTreeMap<String, Option<String>> = BTreeMap::new();
        for source in self.sources.iter_mut().filter(|s| !s.file.is_empty()) {
            let text = files.entry(source.file.clone()).or_insert_with(|| read(&source.file));
            let line = text.as_ref().and_then(|t| t.lines().nth(source.line.saturating_sub(1) as usize));
            source.text = line.unwrap_or_default().trim().to_owned();
        }
    }

    /// The clocks that warps lost waiting for each line of the program, as shares of the total; largest first.
    pub fn costliest(&self, count: usize) -> impl Iterator<Item = (&SourceLine, f64)> {
        let all = self.sources.iter().map(|s| s.cost.cost()).sum::<f64>().max(1.0);
        self.sources.iter().map(move |s| (s, s.cost.cost() / all)).take_while(|(_, share)| *share > 0.0).take(count)
    }

    /// Describes the power that the launch draws, and the clock that remains.
    pub fn power_text(&self) -> Option<String> {
        let p = self.power?;
        let draws = format!("draws {:.0} W of {:.0} W", p.watts, p.limit);
        Some(if self.mhz > p.sustained {
            format!("{draws}; if it is repeated for long, the clock falls to {:.0} MHz", p.sustained)
        } else if p.demand > p.limit {
            format!("{draws}; the power limit holds the clock at {:.0} MHz", self.mhz)
        } else {
            draws
        })
    }

    /// The prediction as a text report.
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
            "  {} blocks, {} resident per SM (limited by {}; about {} registers), at most {} per SM",
            self.blocks, self.resident, self.limited_by, self.registers, self.blocks_per_sm
        );
        if let Some(text) = self.power_text() {
            let _ = writeln!(out, "  {text}");
        }
        let percent = |x: f64| format!("{:5.1} %", 100.0 * x);
        if self.from_image > 0.0 {
            let _ =
                writeln!(out, "  {:.1} % of the instructions taken from the assembled image", 100.0 * self.from_image);
        }
        let _ = writeln!(out, "utilization of each unit, and its busy time:");
        for (name, share) in &self.busy {
            let _ = writeln!(out, "  {name:<24}{}{:12.1} us", percent(*share), share * self.microseconds);
            out.push_str(&self.notes.roofs_text(name));
        }
        let _ = writeln!(out, "warps wait for:");
        for (reason, share) in &self.waits {
            let _ = writeln!(out, "  {:<24}{}", reason.name(), percent(*share));
        }
        if !self.agents.is_empty() {
            let _ = writeln!(out, "agents, and the main reasons for their waits:");
        }
        for agent in &self.agents {
            let warps = format!("warps {} to {}", agent.warps.start, agent.warps.end - 1);
            let waits: Vec<String> = agent
                .waits()
                .into_iter()
                .take(3)
                .map(|(reason, share)| format!("{} {}", reason.name(), percent(share).trim_start()))
                .collect();
            let _ = writeln!(out, "  {:<16}{warps:<16}{}", agent.name, waits.join(", "));
        }
        if !self.sources.is_empty() {
            let _ = writeln!(out, "source lines by the time that warps wait for them:");
        }
        for (source, share) in self.costliest(SOURCE_LINES) {
            let (reason, part) = source.main_reason();
            let why = format!("{} {}", reason.name(), percent(part).trim_start());
            let _ = writeln!(out, "  {}  {:<30} {why:<30} {}", percent(share), source.place(), shortened(&source.text));
            if let Some(used) = source.cost.used_share().filter(|used| *used < USED) {
                let what = "of the bytes moved by its accesses are used";
                let _ = writeln!(out, "{:13}{} {what}", "", percent(used).trim_start());
            }
        }
        out.push_str(&self.notes.text());
        let _ = writeln!(out, "PTX lines before which warps wait the longest:");
        for (line, share) in self.slowest(LINES) {
            let _ = writeln!(
                out,
                "  {} line {:<6}{}  {:<16}{}",
                line.function,
                line.line,
                percent(share),
                main_reason(&line.cost).name(),
                shortened(&line.text)
            );
        }
        out
    }
}

pub(super) fn main_reason(line: &InstStats) -> Reason {
    largest(&line.waits)
}

fn largest(waits: &[f64; Reason::ALL.len()]) -> Reason {
    let by_size = |x: &Reason, y: &Reason| waits[*x as usize].total_cmp(&waits[*y as usize]);
    Reason::ALL.into_iter().max_by(by_size).unwrap_or(Reason::Slot)
}

/// Truncates a text to one line of limited width.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
