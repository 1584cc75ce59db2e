//! The command `tile-fuzz`: campaigns and their output.

use std::path::Path;
use std::process::Command;
use tile_test_support::{Trial, functions};

/// The first failure of each kind is reduced with the options of the campaign, because it may only occur for one
/// target.
fn failures_are_reduced_as_they_were_found() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz_command");
    _ = std::fs::remove_dir_all(&folder);
    // Every compilation takes longer than zero seconds.
    let words = ["--seed", "3", "--count", "1", "--jobs", "1", "--targets", "sm_80", "--levels", "0", "--slow", "0"];
    let output = Command::new(env!("CARGO_BIN_EXE_tile-fuzz")).args(words).arg("--out").arg(&folder).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("seed 3: slow sm_80 -O0: the compiler took "), "{said}");
    let file = std::fs::read_to_string(folder.join("3.mlir")).unwrap_or_default();
    assert!(file.starts_with("// Seed 3: slow sm_80 -O0: "), "{said}\n{file}");
    assert!(!output.status.success());
}

/// The campaign counts a run for each schedule. Without an adversarial schedule there is one.
fn programs_run_under_several_schedules() {
    let runs = |level: &str, schedules: &str| {
        let words = ["--seed", "8", "--count", "1", "--jobs", "1", "--targets", "sm_80", "--levels", level];
        let mut command = Command::new(env!("CARGO_BIN_EXE_tile-fuzz"));
        let output = command.args(words).args(["--schedules", schedules]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{said}");
        let line = said.lines().find_map(|line| line.split_once(" runs;")).unwrap_or_else(|| panic!("no runs: {said}"));
        line.0.trim().parse::<u64>().unwrap()
    };
    assert_eq!([runs("0", "3"), runs("3", "1"), runs("3", "3")], [1, 1, 3]);
}

pub fn trials() -> Vec<Trial> {
    functions![failures_are_reduced_as_they_were_found, programs_run_under_several_schedules]
}
