//! Predicted times of a fixed slice of kernels against a table that is checked in, so that every change of speed is
//! seen and agreed to.
//!
//! A kernel that is predicted to take more than 3 % longer than the table says fails the test; one that takes more than
//! 3 % less fails it too, because a table that is left behind would let the next change for the worse pass. With
//! `TILEIRAS_RENEW=1` the table is written anew instead, and the change is in its diff.

use libtest_mimic::{Arguments, Failed, Trial};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const TABLE: &str = "tests/timing/predicted.tsv";

/// The change of a predicted time that has to be agreed to.
const CHANGE: f64 = 0.03;

/// A line of the table.
#[derive(Clone)]
struct Row {
    file: String,
    entry: Option<String>,
    grid: String,
    arguments: Vec<String>,
    clocks: f64,
}

fn main() -> ExitCode {
    let trial = Trial::test("predicted_times", || compare().map_err(Failed::from));
    let rule = Trial::test("changes_are_told_apart", || told_apart().map_err(Failed::from));
    libtest_mimic::run(&Arguments::from_args(), vec![trial, rule]).exit_code()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn compare() -> Result<(), String> {
    let path = root().join(TABLE);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{TABLE}: {e}"))?;
    let rows: Vec<Row> = text.lines().filter(|l| !l.starts_with('#')).map(row).collect::<Result<_, _>>()?;
    if rows.len() < 20 {
        return Err(format!("{TABLE} has only {} lines", rows.len()));
    }
    let now = predicted(&rows)?;
    if std::env::var_os("TILEIRAS_RENEW").is_some() {
        return std::fs::write(&path, renewed(&text, &now)).map_err(|e| format!("{TABLE}: {e}"));
    }
    let changes: Vec<String> = rows.iter().zip(&now).filter_map(|(row, now)| change(row, *now)).collect();
    if changes.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}\nIf that is meant, renew {TABLE}: TILEIRAS_RENEW=1 cargo nextest run --workspace -E 'binary(timing)'",
        changes.join("\n")
    ))
}

fn row(line: &str) -> Result<Row, String> {
    let [file, entry, grid, arguments, clocks] = line.split('\t').collect::<Vec<_>>()[..] else {
        return Err(format!("not five columns: {line}"));
    };
    Ok(Row {
        file: file.into(),
        entry: (entry != "-").then(|| entry.into()),
        grid: grid.into(),
        arguments: arguments.split(' ').map(str::to_owned).collect(),
        clocks: clocks.parse().map_err(|e| format!("{line}: {e}"))?,
    })
}

/// What is to be said of a row whose kernel is predicted to take `now` clocks.
fn change(row: &Row, now: f64) -> Option<String> {
    let percent = 100.0 * (now / row.clocks - 1.0);
    // The table has whole clocks.
    if (now - row.clocks).abs() <= CHANGE * row.clocks + 0.5 {
        return None;
    }
    let name = row.entry.as_ref().unwrap_or(&row.file);
    let verdict = if percent > 0.0 { "slower" } else { "faster: renew the table" };
    Some(format!("{name}: {now:.0} clocks instead of {:.0}, {percent:+.1} %, {verdict}", row.clocks))
}

/// The table with other clocks.
fn renewed(text: &str, now: &[f64]) -> String {
    let mut now = now.iter();
    let mut out = String::new();
    for line in text.lines() {
        let clocks = if line.starts_with('#') { None } else { now.next() };
        match (clocks, line.rsplit_once('\t')) {
            // Writing to a string cannot fail.
            (Some(clocks), Some((rest, _))) => _ = writeln!(out, "{rest}\t{clocks:.0}"),
            _ => _ = writeln!(out, "{line}"),
        }
    }
    out
}

/// The clocks of all rows, on as many threads as there are processors.
fn predicted(rows: &[Row]) -> Result<Vec<f64>, String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(vec![Ok(0.0); rows.len()]));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let i = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(row) = rows.get(i)
                {
                    let clocks = one(row, i);
                    found.lock().unwrap_or_else(|e| e.into_inner())[i] = clocks;
                }
            });
        }
    });
    found.into_inner().unwrap_or_else(|e| e.into_inner()).into_iter().collect()
}

fn one(row: &Row, number: usize) -> Result<f64, String> {
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("timing-{}-{number}.json", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tile-run"));
    command.args(["--timing=sm_90", "--gpu-name", "sm_90", "--grid", &row.grid, "--timing-json"]).arg(&json);
    if let Some(entry) = &row.entry {
        command.args(["--entry", entry]);
    }
    let output = command.arg(&row.file).args(&row.arguments).current_dir(root()).output();
    let output = output.map_err(|e| format!("{}: {e}", row.file))?;
    if !output.status.success() {
        return Err(format!("{}: {}", row.file, String::from_utf8_lossy(&output.stderr)));
    }
    let text = std::fs::read_to_string(&json).map_err(|e| format!("{}: {e}", json.display()))?;
    std::fs::remove_file(&json).map_err(|e| format!("{}: {e}", json.display()))?;
    let found: serde_json::Value = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", json.display()))?;
    found["clocks"].as_f64().ok_or_else(|| format!("{}: no clocks", row.file))
}

fn told_apart() -> Result<(), String> {
    let row = row("a.mlir\tk\t4,2\tzeros:f32:8 i32:1\t1000")?;
    let say = |now| change(&row, now).unwrap_or_default();
    let told = [say(1030.0), say(1031.0), say(970.0), say(969.0)];
    let expected = [
        "",
        "k: 1031 clocks instead of 1000, +3.1 %, slower",
        "",
        "k: 969 clocks instead of 1000, -3.1 %, faster: renew the table",
    ];
    if told != expected {
        return Err(format!("{told:?}"));
    }
    let table = "# head\na\t-\t1\tx\t5\nb\t-\t1\ty z\t6\n";
    let new = renewed(table, &[7.4, 8.0]);
    if new != "# head\na\t-\t1\tx\t7\nb\t-\t1\ty z\t8\n" {
        return Err(new);
    }
    Ok(())
}
