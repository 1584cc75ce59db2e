//! Runs the corpus: one test for each program, target and level, which compiles it and compares what it computes with
//! what `cases.py` expects; and one for each program that is known not to work, which fails when the program works.
//!
//! And one for each on the reference interpreter, which has to run all that can be read.
//!
//! By default: sm_90, levels 0 and 3, the ordinary schedule and an adversarial one. With `TILEIRAS_TEST_FULL=1`: four
//! targets, also level 2, and five adversarial schedules. `cargo xtask corpus` prints the same as a table.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tile_launch::corpus::{self, Engine, Job, Lists, Program, Runner};

/// Targets, levels and schedules of this run.
struct Slice {
    targets: &'static [&'static str],
    levels: &'static [u8],
    schedules: &'static str,
    /// For all schedules of one configuration: a run that takes longer hangs.
    limit: Duration,
}

fn slice() -> Slice {
    match std::env::var_os("TILEIRAS_TEST_FULL") {
        Some(v) if v != "0" => {
            let targets = &["sm_80", "sm_90", "sm_100", "sm_120"];
            Slice { targets, levels: &[0, 2, 3], schedules: "plain,1,2,3,4,5", limit: Duration::from_secs(900) }
        }
        _ => Slice { targets: &["sm_90"], levels: &[0, 3], schedules: "plain,1", limit: Duration::from_secs(120) },
    }
}

fn main() -> ExitCode {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let trials = match trials(&root) {
        Ok(trials) => trials,
        // Listing has to work for the failure to be seen by runners that list first.
        Err(error) => vec![Trial::test("corpus/setup", move || Err(Failed::from(error.to_string())))],
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trials(root: &Path) -> Result<Vec<Trial>, corpus::Error> {
    let programs = corpus::programs(root)?;
    let lists = Arc::new(Lists::read(root)?);
    let slice = slice();
    let mut trials = vec![];
    for program in &programs {
        for target in slice.targets {
            let jobs = slice.levels.iter().map(|&level| {
                let (target, schedules) = (target.to_string(), slice.schedules.to_string());
                (level, Job { program: program.clone(), engine: Engine::Simulator { target, level, schedules } })
            });
            let Program { name, .. } = program;
            match lists.pending_on(name, target) {
                Some(reason) => {
                    let reason = reason.to_string();
                    let title = format!("corpus/{name}/{target}/pending");
                    let target = target.to_string();
                    let jobs: Vec<Job> = jobs.map(|(_, job)| job).collect();
                    trials.push(Trial::test(title, move || still_fails(&jobs, &target, &reason)));
                }
                None => trials.extend(jobs.map(|(level, job)| {
                    Trial::test(format!("corpus/{name}/{target}/O{level}"), move || {
                        runner()?.run(&job).map_err(Failed::from)
                    })
                })),
            }
        }
        if program.is_readable() {
            let job = Job { program: program.clone(), engine: Engine::Reference };
            trials.push(Trial::test(format!("corpus/{}/reference", program.name), move || {
                runner()?.run(&job).map_err(Failed::from)
            }));
        }
    }
    let root = root.to_path_buf();
    trials.push(Trial::test("corpus/lists", move || {
        let cases = corpus::case_names(&runner()?.cases).map_err(failed)?;
        let wrong = lists.check(&corpus::programs(&root).map_err(failed)?, &cases);
        if wrong.is_empty() { Ok(()) } else { Err(Failed::from(wrong.join("\n"))) }
    }));
    Ok(trials)
}

fn failed(error: corpus::Error) -> Failed {
    Failed::from(error.to_string())
}

fn runner() -> Result<Runner, Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The scratch folder of integration tests lies in the target folder.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap_or(root);
    let cases = corpus::cases(root, target).map_err(failed)?;
    Ok(Runner { tile_run: env!("CARGO_BIN_EXE_tile-run").into(), cases, limit: slice().limit })
}

/// A pending program has to fail at one level at least; otherwise the list is out of date.
fn still_fails(jobs: &[Job], target: &str, reason: &str) -> Result<(), Failed> {
    let runner = runner()?;
    if jobs.iter().any(|job| runner.run(job).is_err()) {
        return Ok(());
    }
    let Some(Job { program, .. }) = jobs.first() else { return Ok(()) };
    let name = &program.name;
    Err(format!("{name} works on {target}: move it to supported.txt (pending.txt says: {reason})").into())
}
