//! Long work reports its progress: as a bar on a terminal, as lines in a log, and not at all if it is not wanted.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tile_test_support::{Trial, functions};

/// Seconds between lines.
const VARIABLE: &str = "TILEIRAS_PROGRESS";

/// Creates a folder with ten items of a batch, one of which fails.
fn batch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("progress").join(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/twice.mlir");
    let item = |n: usize| {
        let input = if n == 0 { "none.mlir".into() } else { program.display().to_string() };
        format!(r#"{{"input": "{input}", "output": "{n}.ptx"}}"#)
    };
    let items: Vec<String> = (0..10).map(item).collect();
    let manifest = format!(r#"{{"args": ["--emit=ptx"], "items": [{}]}}"#, items.join(", "));
    std::fs::write(folder.join("m.json"), manifest).unwrap();
    folder
}

const BATCH: [&str; 4] = [env!("CARGO_BIN_EXE_tileiras"), "batch", "m.json", "-j1"];

/// Runs a command with this many seconds between lines.
fn run(folder: &Path, words: &[&str], seconds: &str) -> Output {
    Command::new(words[0]).args(&words[1..]).current_dir(folder).env(VARIABLE, seconds).output().unwrap()
}

/// Returns the terminal output of a command, if util-linux provides a pseudo-terminal.
fn on_terminal(folder: &Path, line: &str, seconds: Option<&str>) -> Option<String> {
    let mut command = Command::new("script");
    command.args(["-qec", line, "/dev/null"]).current_dir(folder).env("TERM", "xterm").env_remove(VARIABLE);
    command.envs(seconds.map(|seconds| (VARIABLE, seconds)));
    match command.output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(e) => {
            eprintln!("no pseudo-terminal: script cannot be started: {e}");
            None
        }
    }
}

fn a_log_has_lines() {
    let folder = batch("log");
    let output = run(&folder, &BATCH, "0.001");
    let said = String::from_utf8(output.stderr).unwrap();
    let line = said.lines().find(|l| l.starts_with("batch: 5 of 10, 1 failed; about ")).unwrap_or_default();
    assert!(line.ends_with(" left") && !said.contains('\r'), "{said}");
    // The summary replaces the final progress line.
    assert!(!said.contains("10 of 10, ") && said.ends_with("1 of 10 compilations failed\n"), "{said}");
    // Machine-readable output does not contain progress.
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.lines().count() == 10 && lines.lines().all(|l| l.starts_with('{')), "{lines}");
}

fn what_is_over_soon_says_nothing() {
    let folder = batch("quiet");
    for seconds in ["0", "600", "no number"] {
        let said = String::from_utf8(run(&folder, &BATCH, seconds).stderr).unwrap();
        assert!(said.lines().count() == 1 && said.contains("compilations failed"), "{said}");
    }
}

fn a_terminal_has_a_bar() {
    let folder = batch("terminal");
    let Some(shown) = on_terminal(&folder, &BATCH.join(" "), None) else { return };
    assert!(shown.contains("batch [") && shown.contains("/10 1 failed, ") && shown.contains(" left"), "{shown}");
    // Each result is on a separate line, and the bar does not overlap it.
    let lines = shown.lines().filter(|l| l.contains("\"index\":")).count();
    assert_eq!(lines, 10, "{shown}");
    let shown = on_terminal(&folder, &BATCH.join(" "), Some("0")).unwrap_or_default();
    assert!(!shown.contains("batch ["), "{shown}");
}

fn campaigns_of_random_programs_show_it() {
    let folder = batch("fuzz");
    let words = [env!("CARGO_BIN_EXE_tile-fuzz"), "--count", "4", "--jobs", "1", "--levels", "0", "--targets", "sm_90"];
    let said = String::from_utf8(run(&folder, &words, "0.001").stderr).unwrap();
    assert!(said.contains("fuzz: 2 of 4; about ") && said.ends_with(" left\n"), "{said}");
}

/// The steps of the set-up script.
fn steps_of_scripts_show_it() {
    let folder = batch("steps");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/progress.sh");
    let text = format!(
        "set -euo pipefail\nsource '{}'\nprogress_expect 100; progress_expect 5\n\
         progress_step 5 'x: one' sleep 1.5\nprogress_step 100 'x: two' false || echo status $?\necho $progress_left\n",
        script.display()
    );
    std::fs::write(folder.join("s.sh"), text).unwrap();
    let output = run(&folder, &["bash", "s.sh"], "1");
    let said = String::from_utf8(output.stderr).unwrap();
    let first = said.lines().next().unwrap_or_default();
    assert!(first.starts_with("x: one: ") && first.ends_with(" s so far; about 2 min left"), "{said}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "status 1\n0\n");
    assert_eq!(run(&folder, &["bash", "s.sh"], "0").stderr, b"");
    let Some(shown) = on_terminal(&folder, "bash s.sh", None) else { return };
    assert!(shown.contains("\r\x1b[Kx: one: ") && shown.contains(" left\r\x1b[K"), "{shown:?}");
}

pub fn trials() -> Vec<Trial> {
    functions![
        a_log_has_lines,
        what_is_over_soon_says_nothing,
        a_terminal_has_a_bar,
        campaigns_of_random_programs_show_it,
        steps_of_scripts_show_it
    ]
}
