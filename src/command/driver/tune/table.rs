//! The results of a search as a table: for people, tab-separated, and as JSON.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::search::{Counts, Row, prediction_json};

/// The order of rows in all outputs: the fastest first, failures last. Ties keep their order.
pub fn order(rows: &[Row]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let time = |i: &usize| rows[*i].result.as_ref().map_or(f64::INFINITY, |measured| measured.time);
    order.sort_by(|a, b| time(a).total_cmp(&time(b)));
    order
}

/// Formats a time: small numbers with more decimals than large ones.
pub fn format_time(time: f64) -> String {
    match time.abs() {
        t if t >= 100.0 && t.fract() == 0.0 => format!("{time:.0}"),
        t if t >= 10_000.0 => format!("{time:.0}"),
        t if t >= 100.0 => format!("{time:.1}"),
        t if t >= 1.0 => format!("{time:.2}"),
        _ => format!("{time:.4}"),
    }
}

/// The header and the cells of a table, for both text forms.
struct Cells {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The table for people: aligned columns, with reasons for failures.
pub fn text(rows: &[Row], unit: &str) -> String {
    let predicted = rows.iter().any(|r| r.result.as_ref().is_ok_and(|j| j.prediction.is_some()));
    let assembled = rows.iter().any(|r| r.resources.is_some());
    let mut cells = Cells { head: names(rows), rows: vec![] };
    cells.head.push(unit.to_owned());
    cells.head.extend(["clocks", "blocks"].iter().filter(|_| predicted).map(|s| (*s).to_owned()));
    cells.head.extend(["registers", "spills"].iter().filter(|_| assembled).map(|s| (*s).to_owned()));
    cells.head.push(String::new());
    for at in order(rows) {
        let row = &rows[at];
        let mut line: Vec<String> = row.point.0.iter().map(|(_, value)| value.clone()).collect();
        let measured = row.result.as_ref().ok();
        let prediction = measured.and_then(|j| j.prediction.as_ref());
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        line.push(or_dash(measured.map(|j| format_time(j.time))));
        if predicted {
            line.push(or_dash(prediction.map(|p| format!("{:.0}", p.clocks))));
            line.push(or_dash(prediction.map(|p| p.resident.to_string())));
        }
        if assembled {
            line.push(or_dash(row.resources.as_ref().map(|r| r.registers.to_string())));
            line.push(or_dash(row.resources.as_ref().map(|r| (r.spill_stores + r.spill_loads).to_string())));
        }
        line.push(match &row.result {
            Err(failure) => format!("{}: {}", failure.stage.label(), failure.reason),
            Ok(_) => prediction.map(|p| format!("{} {:.0} %", p.busiest, p.busy * 100.0)).unwrap_or_default(),
        });
        cells.rows.push(line);
    }
    aligned(&cells)
}

/// Aligns columns to the right, except for the last one, which is text.
fn aligned(cells: &Cells) -> String {
    let all = || std::iter::once(&cells.head).chain(&cells.rows);
    let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..cells.head.len()).map(width).collect();
    let mut out = String::new();
    for row in all() {
        let mut line = String::new();
        for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if i + 1 < row.len() {
                line += &format!("{cell:>width$}  ");
            } else {
                line += cell;
            }
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn names(rows: &[Row]) -> Vec<String> {
    rows.first().map(|r| r.point.0.iter().map(|(name, _)| name.clone()).collect()).unwrap_or_default()
}

/// The table as tab-separated values with all data, one line per variant, the fastest first.
pub fn tabs(rows: &[Row], unit: &str) -> String {
    let mut cells = Cells { head: names(rows), rows: vec![] };
    let fixed = [
        unit,
        "clocks",
        "blocks",
        "limited_by",
        "busiest",
        "busy",
        "registers",
        "spills",
        "shared",
        "checked",
        "same_as",
        "failed_in",
        "reason",
        "program",
        "ptx",
    ];
    cells.head.extend(fixed.iter().map(|s| (*s).to_owned()));
    for at in order(rows) {
        let row = &rows[at];
        let measured = row.result.as_ref().ok();
        let failure = row.result.as_ref().err();
        let prediction = measured.and_then(|j| j.prediction.as_ref());
        let resources = row.resources.as_ref();
        let mut line: Vec<String> = row.point.0.iter().map(|(_, value)| value.clone()).collect();
        let texts = [
            measured.map(|j| j.time.to_string()),
            prediction.map(|p| p.clocks.to_string()),
            prediction.map(|p| p.resident.to_string()),
            prediction.map(|p| p.limited_by.clone()),
            prediction.map(|p| p.busiest.clone()),
            prediction.map(|p| p.busy.to_string()),
            resources.map(|r| r.registers.to_string()),
            resources.map(|r| (r.spill_stores + r.spill_loads).to_string()),
            resources.map(|r| r.shared_memory.to_string()),
            measured.map(|j| j.is_checked.to_string()),
            row.same_as.map(|n| rows[n].point.joined()),
            failure.map(|f| f.stage.name().to_owned()),
            failure.map(|f| f.reason.replace('\t', " ")),
            row.program.clone(),
            row.image.clone(),
        ];
        line.extend(texts.map(Option::unwrap_or_default));
        cells.rows.push(line);
    }
    let lines = std::iter::once(&cells.head).chain(&cells.rows).map(|row| row.join("\t") + "\n");
    lines.collect()
}

/// The table as JSON: `{"format": 1, "unit": ..., "variants": [...]}`, the fastest first.
pub fn json(rows: &[Row], unit: &str, counts: Counts) -> String {
    let variant = |at: usize| {
        let row = &rows[at];
        let parameters: Map<String, Value> =
            row.point.0.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let mut fields = Map::new();
        fields.insert("parameters".into(), parameters.into());
        match &row.result {
            Ok(measured) => {
                fields.insert("time".into(), json!(measured.time));
                fields.insert("checked".into(), json!(measured.is_checked));
                fields.extend(measured.prediction.as_ref().map(|p| ("prediction".into(), prediction_json(p))));
            }
            Err(failure) => {
                fields.insert("failed_in".into(), json!(failure.stage.name()));
                fields.insert("reason".into(), json!(failure.reason));
            }
        }
        fields.extend(row.resources.as_ref().map(|r| {
            let resources = json!({
                "registers": r.registers, "spill_stores": r.spill_stores, "spill_loads": r.spill_loads,
                "shared_memory": r.shared_memory,
            });
            ("resources".into(), resources)
        }));
        fields.extend(row.same_as.map(|n| ("same_as".into(), json!(rows[n].point.joined()))));
        fields.extend(row.program.as_ref().map(|file| ("program".into(), json!(file))));
        fields.extend(row.image.as_ref().map(|file| ("ptx".into(), json!(file))));
        Value::Object(fields)
    };
    let variants: Vec<Value> = order(rows).into_iter().map(variant).collect();
    let table = json!({
        "format": 1, "unit": unit, "programs": counts.programs, "images": counts.images,
        "judgements": counts.timings, "variants": variants,
    });
    format!("{table:#}\n")
}

/// The parameters all of whose values give the same PTX and launch, whatever the other parameters are.
pub fn without_effect(rows: &[Row]) -> Vec<&str> {
    let root = |i: usize| rows[i].same_as.unwrap_or(i);
    let changes_nothing = |name: &str| {
        let mut groups: BTreeMap<Vec<(&str, &str)>, Vec<usize>> = BTreeMap::new();
        for (i, row) in rows.iter().enumerate() {
            let others = row.point.0.iter().filter(|(n, _)| n != name);
            groups.entry(others.map(|(n, v)| (n.as_str(), v.as_str())).collect()).or_default().push(i);
        }
        let is_same = |all: &Vec<usize>| all.iter().all(|i| rows[*i].result.is_ok() && root(*i) == root(all[0]));
        groups.values().any(|all| all.len() > 1) && groups.values().all(is_same)
    };
    let names = rows.first().map(|r| r.point.0.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
    names.unwrap_or_default().into_iter().filter(|name| changes_nothing(name)).collect()
}

/// The last lines of the report. `unit` may be empty.
pub fn summary(rows: &[Row], unit: &str, counts: Counts) -> String {
    let failed = rows.iter().filter(|r| r.result.is_err()).count();
    let number = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let done = format!(
        "{}, {} failed; {}, {}, {}",
        number(rows.len(), "variant"),
        failed,
        number(counts.programs, "distinct program"),
        number(counts.images, "distinct PTX file"),
        number(counts.timings, "timing")
    );
    let idle = without_effect(rows)
        .into_iter()
        .map(|name| format!("{name} changes nothing: all its values give the same PTX and launch\n"));
    let done = format!("{done}\n{}", idle.collect::<String>());
    let best = order(rows).into_iter().find_map(|at| Some((at, rows[at].result.as_ref().ok()?.time)));
    match best {
        Some((at, time)) => {
            let best = format!("best: {} with {} {unit}", rows[at].point.joined(), format_time(time));
            format!("{}\n{done}", best.trim_end())
        }
        None => done,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::search::{Failure, Measurement, Prediction, Stage};
    use super::super::space::Point;
    use super::*;
    use crate::resources::KernelResources;

    /// A row with a time, or a failure.
    pub fn row(parameters: &str, time: Option<f64>) -> Row {
        let point = parameters.split(' ').filter_map(|p| p.split_once('='));
        let prediction = Prediction {
            clocks: 1980.0 * time.unwrap_or_default(),
            registers: 40,
            resident: 4,
            limited_by: "registers".into(),
            busiest: "memory".into(),
            busy: 0.75,
        };
        let failure = Failure { stage: Stage::Compile, reason: "program:1:2: error: no\tway".into() };
        let measured = |time| Measurement { time, prediction: Some(prediction), is_checked: false };
        Row {
            point: Point(point.map(|(name, value)| (name.into(), value.into())).collect()),
            program: Some("programs/a.mlir".into()),
            image: time.map(|_| "ptx/b.ptx".into()),
            same_as: None,
            resources: time.map(|_| KernelResources { registers: 40, spill_loads: 8, ..KernelResources::default() }),
            result: time.map(measured).ok_or(failure),
        }
    }

    fn rows() -> Vec<Row> {
        let mut rows = vec![row("T=64 M=a", None), row("T=64 M=b", Some(20.5)), row("T=128 M=a", Some(8.25))];
        rows.push(Row { same_as: Some(2), ..row("T=128 M=b", Some(8.25)) });
        rows
    }

    #[test]
    fn the_fastest_comes_first() {
        assert_eq!(order(&rows()), [2, 3, 1, 0]);
    }

    #[test]
    fn text_table() {
        // The first line starts with blanks.
        let expected = "  T  M     us  clocks  blocks  registers  spills
128  a   8.25   16335       4         40       8  memory 75 %
128  b   8.25   16335       4         40       8  memory 75 %
 64  b  20.50   40590       4         40       8  memory 75 %
 64  a      -       -       -          -       -  compile: program:1:2: error: no\tway
";
        assert_eq!(text(&rows(), "us"), expected);
        let counts = Counts { programs: 4, images: 2, timings: 1 };
        let done = "4 variants, 1 failed; 4 distinct programs, 2 distinct PTX files, 1 timing\n";
        assert_eq!(summary(&rows(), "us", counts), format!("best: T=128 M=a with 8.25 us\n{done}"));
        assert!(summary(&rows()[..1], "us", counts).starts_with("1 variant, 1 failed;"));
    }

    #[test]
    fn parameters_without_effect_are_named() {
        let told = |rows: &[Row]| summary(rows, "us", Counts { programs: 4, images: 2, timings: 2 });
        let twin = |of: usize, parameters: &str| Row { same_as: Some(of), ..row(parameters, Some(8.25)) };
        let mut all = vec![row("T=64 M=a", Some(9.0)), twin(0, "T=64 M=b"), row("T=128 M=a", Some(8.25))];
        all.push(twin(2, "T=128 M=b"));
        assert_eq!(without_effect(&all), ["M"]);
        assert!(told(&all).ends_with("\nM changes nothing: all its values give the same PTX and launch\n"));
        // One difference is enough, and a failure says nothing.
        all[3] = row("T=128 M=b", Some(8.25));
        assert!(without_effect(&all).is_empty() && !told(&all).contains("changes nothing"));
        all[3] = row("T=128 M=b", None);
        assert!(without_effect(&all).is_empty());
        // A parameter with one value has nothing to change.
        assert!(without_effect(&all[..1]).is_empty());
    }

    #[test]
    fn tsv_and_json() {
        let tabs = tabs(&rows(), "us");
        let lines: Vec<Vec<&str>> = tabs.lines().map(|l| l.split('\t').collect()).collect();
        assert!(lines.iter().all(|l| l.len() == lines[0].len()));
        assert_eq!(lines[2][..4], ["128", "b", "8.25", "16335"]);
        assert_eq!(lines[2][12], "T=128 M=a");
        assert_eq!(lines[4][13..15], ["compile", "program:1:2: error: no way"]);
        let told: Value = serde_json::from_str(&json(&rows(), "us", Counts::default())).unwrap();
        assert_eq!(told["variants"][0]["parameters"]["T"], "128");
        assert_eq!(told["variants"][0]["prediction"]["clocks"], 16335.0);
        assert_eq!(told["variants"][1]["same_as"], "T=128 M=a");
        assert_eq!(told["variants"][3]["failed_in"], "compile");
        assert_eq!(told["variants"][3].get("time"), None);
    }

    #[test]
    fn numbers_are_short() {
        let of = [12345.6, 512.34, 512.0, 5.678, 0.01234].map(format_time);
        assert_eq!(of, ["12346", "512.3", "512", "5.68", "0.0123"]);
    }
}
