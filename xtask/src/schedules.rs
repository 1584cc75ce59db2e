//! `cargo xtask schedules`: compares the schedules of levels 2 and 3 for every loop of the corpus, as a page.
//!
//! For each loop, the exhaustive search of level 3 either finds a shorter interval, or proves that level 2 is optimal,
//! or reaches its bound. The reports that `schedule-trace-file` writes say which.

use crate::words::Words;
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

pub const USAGE: &str = "\
usage: cargo xtask schedules [options] [PROGRAM ...]

Compiles the corpus programs whose names contain one of PROGRAM (default: all) at levels 2 and 3 of v2-opt-level, with
the tileiras next to this program, and prints a table of their loops.

  --targets LIST  default sm_90,sm_100
  --out FILE      file to write (default: standard output)
";

/// The schedule of a loop, as its report says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    interval: u32,
    /// The lower bound from units and recurrences.
    bound: u32,
    verdict: Verdict,
    visits: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// The interval equals its lower bound.
    Bound,
    /// All smaller intervals were searched.
    Proved,
    /// Iterations do not overlap: there is too little to gain, or this was requested.
    Serial,
    /// Agents lack registers for the schedules that were found at smaller intervals.
    Registers,
    /// The budget of the search ran out, or clocks were too coarse.
    Cut,
    /// The search does not handle the loop.
    Unsearched,
}

impl Verdict {
    const ALL: [Self; 6] = [Self::Bound, Self::Proved, Self::Serial, Self::Registers, Self::Cut, Self::Unsearched];

    fn text(self) -> &'static str {
        match self {
            Self::Bound => "optimal: the lower bound",
            Self::Proved => "optimal: all shorter intervals searched",
            Self::Serial => "not overlapped",
            Self::Registers => "open: shorter ones that were found lack registers",
            Self::Cut => "open: the search reached its bound",
            Self::Unsearched => "open: not searched",
        }
    }
}

pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<Vec<String>> {
    let (mut targets, mut out, mut filters) = (vec!["sm_90", "sm_100"], None, vec![]);
    let mut words = Words::new(words, USAGE);
    while let Some(word) = words.next()? {
        match word {
            "--targets" => targets = words.value()?.split(',').collect(),
            "--out" => out = Some(PathBuf::from(words.value()?)),
            name if !name.starts_with('-') => filters.push(name),
            other => bail!("unknown option {other}\n{USAGE}"),
        }
    }
    let folder = root.join("tests/corpus");
    let mut programs: Vec<PathBuf> =
        std::fs::read_dir(&folder)?.map(|e| Ok(e?.path())).collect::<std::io::Result<_>>()?;
    programs.retain(|p| p.to_string_lossy().ends_with(".13.1.tileirbc"));
    programs.sort();
    let (mut table, mut problems) = (vec![], vec![]);
    for program in programs {
        let name = program.file_name().unwrap_or_default().to_string_lossy().replace(".13.1.tileirbc", "");
        if !filters.is_empty() && !filters.iter().any(|f| name.contains(f)) {
            continue;
        }
        for target in &targets {
            let [two, three] = [2, 3].map(|level| reports(&program, target, level));
            match (two, three) {
                (Ok(two), Ok(three)) if two.len() == three.len() => {
                    let loops = two.into_iter().zip(three).enumerate();
                    table.extend(loops.map(|(i, (two, three))| (format!("{name}, loop {i}"), *target, two, three)));
                }
                (Ok(_), Ok(_)) => problems.push(format!("{name} for {target}: the levels schedule different loops")),
                (two, three) => {
                    let why = [two.err(), three.err()].into_iter().flatten();
                    problems.extend(why.map(|e| format!("{name} for {target}: {e:#}")));
                }
            }
        }
    }
    let text = page(&table);
    match out {
        Some(file) => std::fs::write(&file, text).with_context(|| file.display().to_string())?,
        None => print!("{text}"),
    }
    Ok(problems)
}

/// Compiles a program and reads the reports of its loops.
fn reports(program: &Path, target: &str, level: u32) -> anyhow::Result<Vec<Row>> {
    let tileiras = std::env::current_exe()?.with_file_name("tileiras");
    let trace = tileiras.with_file_name(format!("schedules-{}.txt", std::process::id()));
    let output = Command::new(&tileiras)
        .arg(program)
        .args([format!("--gpu-name={target}"), "--emit=ptx".into(), "-o".into(), "-".into()])
        .arg(format!("--pipeline-option=v2-opt-level={level}"))
        .arg(format!("--pipeline-option=schedule-trace-file={}", trace.display()))
        .output()
        .with_context(|| tileiras.display().to_string())?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = std::fs::read_to_string(&trace).context("no report of the schedules")?;
    std::fs::remove_file(&trace)?;
    parse(&text)
}

/// Reads the second and third lines of each report: the interval, and its reason.
fn parse(text: &str) -> anyhow::Result<Vec<Row>> {
    let mut rows = vec![];
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(rest) = line.strip_prefix("interval ") else { continue };
        let because = lines.next().and_then(|l| l.strip_prefix("because ")).context("a report has no reason")?;
        let interval = number(rest).context("a report has no interval")?;
        let bound = because.split_once("the lower bound is ").map_or(Some(interval), |(_, rest)| number(rest));
        let visits =
            because.rsplit_once('(').and_then(|(_, rest)| number(rest)).filter(|_| because.contains(" partial "));
        let verdict = match () {
            _ if because.contains("all smaller intervals were searched") => Verdict::Proved,
            _ if because.contains("lack registers") => Verdict::Registers,
            _ if because.contains("ran out of budget") || because.contains("in coarser clocks") => Verdict::Cut,
            _ if bound == Some(interval) => Verdict::Bound,
            _ if because.starts_with("iterations do not overlap") && !because.contains("overlapped, ") => {
                Verdict::Serial
            }
            _ => Verdict::Unsearched,
        };
        let bound = bound.context("a report has no bound")?;
        rows.push(Row { interval, bound, verdict, visits: visits.unwrap_or(0).into() });
    }
    Ok(rows)
}

/// The number at the start of a text.
fn number(text: &str) -> Option<u32> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok()
}

fn page(table: &[(String, &str, Row, Row)]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    table.iter().for_each(|(_, _, _, three)| *counts.entry(three.verdict).or_default() += 1);
    let shorter = table.iter().filter(|(_, _, two, three)| three.interval < two.interval).count();
    let _ = writeln!(out, "| loops | level 3 |\n|---|---|");
    for verdict in Verdict::ALL {
        let _ = writeln!(out, "| {} | {} |", counts.get(&verdict).unwrap_or(&0), verdict.text());
    }
    let _ = writeln!(out, "| {shorter} | shorter than level 2 |");
    let _ = writeln!(out, "| {} | all |\n", table.len());
    let head = "| loop | target | bound | level 2 | level 3 | level 3 is | partial schedules |";
    let _ = writeln!(out, "{head}\n|---|---|---|---|---|---|---|");
    for (name, target, two, three) in table {
        let shown =
            if three.interval < two.interval { format!("**{}**", three.interval) } else { three.interval.to_string() };
        let _ = writeln!(
            out,
            "| {name} | {target} | {} | {} | {shown} | {} | {} |",
            three.bound,
            two.interval,
            three.verdict.text(),
            three.visits
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read() {
        let text = "\
a, loop 0
interval 139 clocks, 21 stages, searched exhaustively
because 'memory' is busy for 139 clocks; all smaller intervals were searched (12 partial schedules)

a, loop 1
interval 1752 clocks, 3 stages, placed
because no placement was found below 1752 clocks; the lower bound is 1642, because the agents issue for 1642 clocks; \
the search of smaller intervals ran out of budget (189035 partial schedules)

a, loop 2
interval 40 clocks, 1 stages, serial
because iterations do not overlap, 40 clocks each; the lower bound is 8, because 'fma' is busy for 8 clocks

a, loop 3
interval 8 clocks, 2 stages, placed
because 'fma' is busy for 8 clocks
";
        let row = |interval, bound, verdict, visits| Row { interval, bound, verdict, visits };
        let expected = [
            row(139, 139, Verdict::Proved, 12),
            row(1752, 1642, Verdict::Cut, 189_035),
            row(40, 8, Verdict::Serial, 0),
            row(8, 8, Verdict::Bound, 0),
        ];
        assert_eq!(parse(text).unwrap(), expected);
        let rows = expected.map(|r| ("a".to_owned(), "sm_90", Row { interval: r.interval + 1, ..r.clone() }, r));
        assert!(
            page(&rows)
                .contains("| a | sm_90 | 1642 | 1753 | **1752** | open: the search reached its bound | 189035 |")
        );
    }
}
