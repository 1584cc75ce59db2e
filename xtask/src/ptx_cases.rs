//! `cargo xtask ptx-cases`: exports the simulator's test kernels as files, to run them elsewhere.

use crate::cargo::cargo;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use tile_launch::execute::{check, execute};
use tile_launch::launch::Launch;

pub const USAGE: &str = "\
usage: cargo xtask ptx-cases --out DIR

Runs the tests of ptx-sim and writes every kernel that they launch to its own folder in DIR, which must be empty or
missing: kernel.ptx, and launch.json with the arrays and expected results, as tile-run --launch reads them. Then runs
each case again from its files. docs/ptx-sim.md describes the format.
";

/// The tests that launch kernels.
const TESTS: [&str; 6] = ["asynchronous", "cta", "cuda", "programs", "scalar", "tensor"];

/// Returns the cases that do not give the expected results when run from their files.
pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<Vec<String>> {
    let out = match words {
        ["--out", out] => std::path::absolute(out)?,
        _ => bail!("--out is missing\n{USAGE}"),
    };
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    if std::fs::read_dir(&out)?.next().is_some() {
        bail!("{} is not empty", out.display());
    }
    let mut command = cargo(root);
    command.args(["test", "--quiet", "--package", "ptx-sim"]);
    command.args(TESTS.iter().flat_map(|test| ["--test", test]));
    // Cases are named after threads. With a single thread the test harness does not name it after the test.
    command.args(["--", "--test-threads", "2"]).env("PTX_SIM_CASES", &out);
    if !command.status().context("cannot run cargo")?.success() {
        bail!("the tests of ptx-sim failed");
    }
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&out)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    folders.sort();
    let mut problems = vec![];
    let mut described = 0;
    for folder in &folders {
        let launch = Launch::read(&folder.join("launch.json"))?;
        described += usize::from(!launch.expect.is_empty() || launch.stdout.is_some());
        let complaints = match again(&launch) {
            Ok(complaints) => complaints,
            Err(error) => vec![error.to_string()],
        };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        problems.extend(complaints.into_iter().map(|c| format!("{name}: {c}")));
    }
    println!("{} cases, {described} of them with expected results", folders.len());
    Ok(problems)
}

/// Runs a case from its files.
fn again(launch: &Launch) -> anyhow::Result<Vec<String>> {
    let kernel = launch.kernel.as_deref().context("no kernel")?;
    let module = ptx_sim::Module::parse(&std::fs::read_to_string(kernel)?)?;
    let outcome = execute(&module, launch, &ptx_sim::RunOptions::default())?;
    Ok(check(launch, &outcome))
}
