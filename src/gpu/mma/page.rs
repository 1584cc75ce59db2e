//! The reference page of matrix instructions, generated from the table.

use crate::{Columns, Element, Emission, PEAKS, ROWS, Row, Storage, Unit};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use tile_layout::{Layout, Operand};
use tile_targets::{Feature, TARGETS};

/// Returns the page without its heading, as Markdown.
pub fn markdown() -> String {
    let mut out = String::new();
    for unit in Unit::ALL {
        write_unit(&mut out, unit);
    }
    write_fragments(&mut out);
    write_rates(&mut out);
    out
}

fn write_unit(out: &mut String, unit: Unit) {
    let places = |operand| joined(unit.storage(operand).iter().map(|p| p.name()), " or ");
    let _ = write!(
        out,
        "## `{}`: `{}`\n\nA in {}, B in {}, accumulator in {}.\n\n",
        unit.name(),
        unit.opcode(),
        places(Operand::A),
        places(Operand::B),
        places(Operand::Accumulator)
    );
    out.push_str(
        "| shape | kind | A and B | bits | accumulator | scales | majors | feature | targets | PTX | rate | generated |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in ROWS.iter().filter(|r| r.unit == unit) {
        write_row(out, row);
    }
    out.push('\n');
}

fn write_row(out: &mut String, row: &'static Row) {
    let names = |list: &[Element]| joined(list.iter().map(|e| e.name()), ", ");
    let n = match row.n {
        Columns::One(n) => n.to_string(),
        Columns::Steps(step) => format!("{step}..256 by {step}"),
        Columns::Integer => "8, 16, 24, 32..256 by 16".to_owned(),
    };
    let operands = if row.mixed && row.operands.len() > 1 { "any two of " } else { "" };
    let factors = row.scales.map_or("-".to_owned(), |s| format!("{}, one per {} elements", names(s.formats), s.block));
    let majors = match row.majors.len() {
        0 => "-",
        1 => "K",
        _ => "K, M or N",
    };
    let versions: BTreeSet<_> = row.instructions().map(|i| i.version()).collect();
    let version = joined(versions.iter().map(|v| v.to_string()), ", ");
    let targets: Vec<_> = TARGETS.iter().filter(|t| row.is_on(t)).map(|t| t.name.trim_start_matches("sm_")).collect();
    let targets = if targets.len() == TARGETS.len() { "all".to_owned() } else { targets.join(" ") };
    let generated = match row.lowering {
        None => "no".to_owned(),
        Some(l) => {
            let by = if l.emission == Emission::Intrinsic { "intrinsic" } else { "inline PTX" };
            if l.operands == row.operands { by.to_owned() } else { format!("{by}, {}", names(l.operands)) }
        }
    };
    let _ = writeln!(
        out,
        "| {}x{n}x{} | {} | {operands}{} | {} | {} | {factors} | {majors} | {} | {targets} | {version} | {} | \
         {generated} |",
        row.m,
        row.k,
        if row.kind.is_empty() { "-" } else { row.kind },
        names(row.operands),
        row.container,
        names(row.accumulators),
        row.feature.map_or("-", Feature::name),
        rate(row.rate),
    );
}

/// Sixteenths as a fraction.
fn rate(sixteenths: u32) -> String {
    if sixteenths.is_multiple_of(16) { (sixteenths / 16).to_string() } else { format!("1/{}", 16 / sixteenths) }
}

fn write_fragments(out: &mut String) {
    out.push_str(
        "## Fragments\n\nThe element in each register of each lane, in the notation of `#nv_tileas.layout`: elements are numbered in\n\
         row-major order of A (MxK), B (KxN) and the accumulator (MxN). Instructions of the same shape and element width\n\
         have the same fragments. `wgmma` is shown with eight columns; each further bit of N is one more register bit of the\n\
         accumulator.\n\n| shape | bits | A | B | accumulator |\n|---|---|---|---|---|\n",
    );
    let mut seen = BTreeSet::new();
    for row in ROWS.iter().filter(|r| r.storage(Operand::Accumulator).contains(&Storage::Register)) {
        let n = row.n.iter().next().unwrap_or(8);
        if !seen.insert((row.m, n, row.k, row.container)) {
            continue;
        }
        let fragment = |operand| match row.fragment(n, operand) {
            Ok(f) => format!("`{}`", bases(&f.layout)),
            Err(_) => "-".to_owned(),
        };
        let [a, b, acc] = [Operand::A, Operand::B, Operand::Accumulator].map(fragment);
        let _ = writeln!(out, "| {}x{n}x{} | {} | {a} | {b} | {acc} |", row.m, row.k, row.container);
    }
    out.push('\n');
}

fn bases(layout: &Layout) -> String {
    let warps = if layout.warp().is_empty() { String::new() } else { format!(", warp = {:?}", layout.warp()) };
    format!("register = {:?}, lane = {:?}{warps}", layout.register(), layout.lane())
}

fn write_rates(out: &mut String) {
    out.push_str(
        "## Rates\n\nThe rate of a row is its multiply-adds per clock relative to 16-bit floats on the same unit. The rate of a unit\n\
         for 16-bit floats follows from published figures: TFLOP/s divided by multiprocessors, clock and two.\n\n\
         | unit | target | 16-bit multiply-adds per clock and multiprocessor | elements | source |\n|---|---|---|---|---|\n",
    );
    for peak in PEAKS {
        let figures = peak.device.map_or(String::new(), |p| {
            format!(": {} TFLOP/s, {} multiprocessors, {} MHz", p.teraflops, p.multiprocessors, p.megahertz)
        });
        let [low, high] = peak.bits;
        let (unit, target) = (peak.unit.name(), peak.target);
        let _ = writeln!(
            out,
            "| {unit} | {target} | {} | {low} to {high} bits | {}{figures} |",
            peak.per_clock, peak.source
        );
    }
}

fn joined<T: AsRef<str>>(parts: impl Iterator<Item = T>, between: &str) -> String {
    parts.map(|p| p.as_ref().to_owned()).collect::<Vec<_>>().join(between)
}
