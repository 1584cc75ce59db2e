//! Predicted times of a fixed slice of kernels against a checked-in table, so that every change of speed is noticed
//! and approved.
//!
//! A kernel that is predicted to take more than 3 % longer than in the table fails the test. One that takes more than
//! 3 % less fails too, because an outdated table would hide the next regression. `cargo xtask bless timing` updates
//! the table, and its diff shows the change.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tile_interface::DebugInfo;
use tile_test_support::{Failed, Trial, golden, root, store};

const TABLE: &str = "tests/timing/predicted.tsv";

/// The relative change of a predicted time that needs approval.
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

pub fn trials() -> Vec<Trial> {
    let trial = Trial::test("timing/predicted_times", || compare().map_err(Failed::from));
    let rule = Trial::test("timing/changes_are_told_apart", || told_apart().map_err(Failed::from));
    let machines = Trial::test("timing/targets_have_their_machines", || each_machine().map_err(Failed::from));
    let lacking = Trial::test("timing/programs_for_other_machines_are_refused", || refused().map_err(Failed::from));
    vec![trial, rule, machines, lacking]
}

fn compare() -> Result<(), String> {
    let path = root().join(TABLE);
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{TABLE}: {e}"))?;
    let rows: Vec<Row> = text.lines().filter(|l| !l.starts_with('#')).map(row).collect::<Result<_, _>>()?;
    if rows.len() < 20 {
        return Err(format!("{TABLE} has only {} lines", rows.len()));
    }
    let now = predicted(&rows)?;
    if golden::renews() {
        return std::fs::write(&path, renewed(&text, &now)).map_err(|e| format!("{TABLE}: {e}"));
    }
    let changes: Vec<String> = rows.iter().zip(&now).filter_map(|(row, now)| change(row, *now)).collect();
    if changes.is_empty() {
        return Ok(());
    }
    Err(format!("{}\nif the change is meant: cargo xtask bless timing", changes.join("\n")))
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

/// Describes the change of a row whose kernel is predicted to take `now` clocks.
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

/// Returns the table with new clocks.
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

/// Returns the clocks of all rows, computed on as many threads as there are processors.
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
    let name = number.to_string();
    let words = ["--timing=sm_90", "--gpu-name", "sm_90"];
    // The first kernel is compiled by the command, and the others are in the store.
    let found = if number == 0 || !row.file.ends_with(".tileirbc") {
        prediction(row, &words, &name)?
    } else {
        let ptx = store::ptx(&root().join(&row.file), "sm_90", 3, DebugInfo::Lines)?;
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("timing-{}-{name}.ptx", std::process::id()));
        std::fs::write(&file, ptx).map_err(|e| format!("{}: {e}", file.display()))?;
        let found = prediction(&Row { file: file.display().to_string(), ..row.clone() }, &words, &name);
        std::fs::remove_file(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        found?
    };
    found["clocks"].as_f64().ok_or_else(|| format!("{}: no clocks", row.file))
}

/// Returns the prediction of `tile-run` with these additional arguments. The name distinguishes temporary files.
fn prediction(row: &Row, words: &[&str], name: &str) -> Result<serde_json::Value, String> {
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("timing-{}-{name}.json", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tile-run"));
    command.args(words).args(["--grid", &row.grid, "--timing-json"]).arg(&json);
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
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", json.display()))
}

fn corpus(file: &str, grid: &str, arguments: &str) -> Row {
    let arguments = arguments.split(' ').map(str::to_owned).collect();
    Row { file: format!("tests/corpus/{file}.tileirbc"), entry: None, grid: grid.into(), arguments, clocks: 0.0 }
}

/// A matmul of 2048^3 with tiles of 128x128.
fn square(file: &str, a: &str, c: &str) -> Row {
    corpus(file, "16,16", &format!("zeros:{a}:2048x2048 zeros:{a}:2048x2048 zeros:{c}:2048x2048"))
}

/// Returns a number from a machine's file.
fn number(machine: &str, key: &str) -> Result<f64, String> {
    let path = root().join(format!("src/gpu/machine/data/{machine}.json"));
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let file: serde_json::Value = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    file["values"][key]["value"].as_f64().ok_or_else(|| format!("{machine} has no {key}"))
}

/// The default machine is the target's. The prediction is not faster than the machine's memory or tensor cores allow,
/// and not many times slower.
fn each_machine() -> Result<(), String> {
    let array = "zeros:f32:4194304";
    let sum = corpus("vadd_f32.13.1", "4096", &[array; 3].join(" "));
    let scales = "zeros:e4m3:2048x2048 zeros:e8m0:2048x64 zeros:e4m3:2048x2048 zeros:e8m0:64x2048 zeros:f32:2048x2048";
    let scaled = corpus("mma_mx.13.3", "16,16", scales);
    // An instruction, and the multiply-adds of a multiprocessor in its interval: `mma.sync` has four tensor cores, and
    // `tcgen05.mma` one.
    let (f16, f8, i8) = (("mma.f16.m16n8k16", 8192.0), ("mma.f8.m16n8k32", 16384.0), ("mma.i8.m16n8k32", 16384.0));
    let (tensor_f16, tensor_i8) = (("tcgen05.f16.n256", 524_288.0), ("tcgen05.i8.n256", 1_048_576.0));
    let mut programs = vec![];
    for (target, f16, i8) in [("sm_80", f16, i8), ("sm_100", tensor_f16, tensor_i8), ("sm_120", f16, i8)] {
        programs.push((target, sum.clone(), None));
        programs.push((target, square("matmul_bf16.13.1", "bf16", "bf16"), Some(f16)));
        programs.push((target, square("matmul_i8.13.1", "i8", "i32"), Some(i8)));
    }
    programs.push(("sm_120", square("matmul_e4m3.13.1", "e4m3", "f32"), Some(f8)));
    programs.push(("sm_120", scaled, Some(f8)));
    for (i, (target, row, product)) in programs.iter().enumerate() {
        let found = prediction(row, &["--timing", "--gpu-name", target], &format!("{target}-{i}"))?;
        if found["machine"] != *target {
            return Err(format!("{} for {target} was timed on {}", row.file, found["machine"]));
        }
        let get = |key: &str| number(target, key);
        let least = match product {
            // In nanoseconds: two arrays are read, one is written.
            None => f64::from(4 << 22) * (2.0 / get("dram.rate")? + 1.0 / get("dram.write_rate")?),
            Some((key, work)) => {
                let rate = work / get(&format!("{key}.interval"))? * get("sm.count")?;
                2048f64.powi(3) / rate / get("clock.max")? * 1000.0
            }
        };
        let us = found["us"].as_f64().unwrap_or_default() - get("launch.overhead")?;
        let times = us * 1000.0 / least;
        if !(0.97..6.0).contains(&times) {
            return Err(format!("{} on {target}: {us} us, {times} times the least", row.file));
        }
    }
    // A target without a machine file has the machine of its family. The report names the machine.
    for (target, machine) in [("sm_88", "sm_80"), ("sm_89", "sm_89")] {
        let found = prediction(&sum, &["--timing", "--gpu-name", target], target)?;
        if found["machine"] != machine {
            return Err(format!("{target} was timed on {}", found["machine"]));
        }
    }
    Ok(())
}

/// A program for sm_90 uses features that sm_80 lacks.
fn refused() -> Result<(), String> {
    let row = square("matmul_f16.13.1", "f16", "f16");
    match prediction(&row, &["--timing=sm_80", "--gpu-name", "sm_90"], "refused") {
        Err(e) if e.contains("has no time: machine sm_80 has no number '") => Ok(()),
        other => Err(format!("{other:?}")),
    }
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
