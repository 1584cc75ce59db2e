//! Runs the corpus. The tests are:
//!
//! * for each program, target and level: compiles the program and compares its results with what `cases.py` expects;
//! * for each program that is known not to work: fails if the program works;
//! * for each program that can be read: runs it on the reference interpreter;
//! * for each program that requests memory orders: checks that its PTX has them;
//! * for some programs (with `TILEIRAS_TEST_FULL=1` for all): runs them compiled with the modulo scheduler
//!   (`v2-opt-level=2`) on two targets, and checks each optional pass on sm_90.
//!
//! `tests/corpus/results.tsv` has a digest of the results of each program on the simulator, compiled for sm_90 at
//! -O3. So a change of any bit is noticed, even within the tolerance. `cargo xtask bless results` accepts changes.
//!
//! By default: sm_90 at levels 0 and 3, sm_100 at level 3, the ordinary schedule and one adversarial schedule. With
//! `TILEIRAS_TEST_FULL=1`: four targets, also level 2, and five adversarial schedules. `cargo xtask corpus` prints
//! the same as a table. PTX that another test runs is not run again: most programs compile to the same PTX at levels
//! 2 and 3, and in all versions of the bytecode.

use ptx_sim::Module;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use tile_interface::DebugInfo;
use tile_launch::corpus::{self, Engine, Job, Lists, Program, Runner, TileRun};
use tile_launch::orders;
use tile_test_support::{Failed, Trial, full, golden, listed, root, store};

/// Targets, levels and schedules of this run.
struct Slice {
    /// Targets, each with the levels of optimization.
    targets: &'static [(&'static str, &'static [u8])],
    schedules: &'static str,
    /// Programs that are also compiled with the modulo scheduler, or `None` for all.
    scheduled: Option<&'static [&'static str]>,
    /// Programs for which each optional pass is checked on sm_90, or `None` for all.
    each: Option<&'static [&'static str]>,
    /// The time limit for all schedules of one configuration. A run that takes longer is considered to hang.
    limit: Duration,
}

fn slice() -> Slice {
    if full() {
        const ALL: &[u8] = &[0, 2, 3];
        let targets = &[("sm_80", ALL), ("sm_90", ALL), ("sm_100", ALL), ("sm_120", ALL)];
        let schedules = "1,2,3,4,5,plain";
        return Slice { targets, schedules, scheduled: None, each: None, limit: Duration::from_secs(900) };
    }
    Slice {
        // sm_100 is the default target of the command.
        targets: &[("sm_90", &[0, 3]), ("sm_100", &[3])],
        schedules: "1,plain",
        scheduled: Some(&[
            "matmul_f16.13.1",
            "matmul_w4.13.1",
            "group_gemm.13.1",
            "fmha_f16.13.1",
            "attention_window.13.1",
            "softmax_f32.13.1",
        ]),
        each: Some(&["matmul_bf16.13.1", "fmha_f16.13.1", "softmax_f32.13.1", "cumsum_rows.13.1"]),
        limit: Duration::from_secs(120),
    }
}

pub fn trials() -> Vec<Trial> {
    listed("corpus", list(root()))
}

fn list(root: &Path) -> Result<Vec<Trial>, corpus::Error> {
    let programs = corpus::programs(root)?;
    let lists = Arc::new(Lists::read(root)?);
    let slice = slice();
    let mut trials = vec![];
    for program in &programs {
        for (target, levels) in slice.targets {
            let jobs = levels.iter().map(|&level| {
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
                    let pinned = (*target, level) == PINNED;
                    let is_afresh = name == AFRESH;
                    let twin =
                        twin(program, level, &programs).filter(|(p, _)| lists.pending_on(&p.name, target).is_none());
                    let twin = twin.map(|(p, level)| (p.clone(), level));
                    Trial::test(format!("corpus/{name}/{target}/O{level}"), move || {
                        if pinned {
                            return same_bits(&job);
                        }
                        if let Some((other, its)) = twin {
                            let plain =
                                |program: &Program, level| store::ptx(&program.file, target, level, DebugInfo::None);
                            if plain(&job.program, level)? == plain(&other, its)? {
                                return Ok(());
                            }
                        }
                        let tile_run = if is_afresh { command() } else { store::tile_run() };
                        Runner { tile_run, ..runner()? }.run(&job).map_err(Failed::from)
                    })
                })),
            }
        }
        let bytecode = std::fs::read(&program.file).unwrap_or_default();
        if program.is_readable() && orders::asked_for(&bytecode).is_ok_and(|orders| !orders.is_empty()) {
            let program = program.clone();
            trials.push(Trial::test(format!("corpus/{}/orders", program.name), move || orders_arrive(&program)));
        }
        for target in SCHEDULED_TARGETS.iter().filter(|_| slice.scheduled.is_none_or(|l| l.contains(&&*program.name))) {
            if program.is_readable() && lists.pending_on(&program.name, target).is_none() {
                let program = program.clone();
                let title = format!("corpus/{}/{target}/scheduled", program.name);
                trials.push(Trial::test(title, move || scheduled(&program, target, slice.schedules)));
            }
        }
        let is_checked = slice.each.is_none_or(|l| l.contains(&&*program.name));
        if program.is_readable() && is_checked && lists.pending_on(&program.name, "sm_90").is_none() {
            let job = Job { program: program.clone(), engine: Engine::Each { target: "sm_90".into() } };
            trials.push(Trial::test(format!("corpus/{}/each", program.name), move || {
                runner()?.run(&job).map_err(Failed::from)
            }));
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

/// A configuration whose test most often runs the same code: for level 2, level 3; otherwise, the first version of
/// the same program.
fn twin<'a>(program: &'a Program, level: u8, programs: &'a [Program]) -> Option<(&'a Program, u8)> {
    if level == 2 {
        return Some((program, 3));
    }
    let first = programs.iter().filter(|p| p.entry == program.entry).min_by_key(|p| &p.name)?;
    (first.name != program.name).then_some((first, level))
}

/// Targets for the modulo scheduler: one whose loops it schedules, and one whose dots are split into agents.
const SCHEDULED_TARGETS: [&str; 2] = ["sm_80", "sm_90"];

/// Runs a program that was compiled with the modulo scheduler.
fn scheduled(program: &Program, target: &str, schedules: &str) -> Result<(), Failed> {
    let ptx = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("scheduled-{}-{target}.ptx", program.name));
    let output = Command::new(env!("CARGO_BIN_EXE_tileiras"))
        .args(["--gpu-name", target, "--pipeline-option=v2-opt-level=2", "--emit=ptx", "-o"])
        .arg(&ptx)
        .arg(&program.file)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(said.into_owned().into());
    }
    let (target, schedules) = (target.to_string(), schedules.to_string());
    let program = Program { file: ptx, ..program.clone() };
    Ok(runner()?.run(&Job { program, engine: Engine::Simulator { target, level: 3, schedules } })?)
}

/// Compiles a program with line information, and compares the memory orders that it requests with those of the PTX.
fn orders_arrive(program: &Program) -> Result<(), Failed> {
    let orders = orders::asked_for(&std::fs::read(&program.file)?)?;
    let mut wrong = vec![];
    for target in ["sm_80", "sm_90", "sm_100", "sm_120"] {
        for level in [0, 3] {
            let module = Module::parse(&store::ptx(&program.file, target, level, DebugInfo::Lines)?)?;
            let missing = orders::missing(&orders, &module);
            wrong.extend(missing.iter().map(|what| format!("{target} -O{level}: {what}")));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn failed(error: corpus::Error) -> Failed {
    Failed::from(error.to_string())
}

/// The command, which compiles without the store.
fn command() -> TileRun {
    TileRun::Program(env!("CARGO_BIN_EXE_tile-run").into())
}

pub fn runner() -> Result<Runner, Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The temporary folder of integration tests is in the target folder.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap_or(root);
    let cases = corpus::cases(root, target).map_err(failed)?;
    let options = vec![];
    Ok(Runner { tile_run: store::tile_run(), cases, limit: slice().limit, out_dir: None, options })
}

/// The program that the command compiles and runs. All others run in the test's process, with PTX of the store.
const AFRESH: &str = "softmax_f32.13.1";

/// The target and the level whose results are compared bit by bit.
const PINNED: (&str, u8) = ("sm_90", 3);

/// Runs a program and compares the results of the ordinary schedule, which runs last, with the list.
fn same_bits(job: &Job) -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("results").join(&job.program.name);
    Runner { out_dir: Some(folder.clone()), ..runner()? }.run(job)?;
    let digest = digest_of(&folder)?;
    Ok(golden::compare_row("tests/corpus/results.tsv", "results", &job.program.name, Some(&digest))?)
}

/// A digest of the arrays in a folder, which is then removed.
fn digest_of(folder: &Path) -> Result<String, Failed> {
    let files: Result<Vec<PathBuf>, Failed> = std::fs::read_dir(folder)?.map(|f| Ok(f?.path())).collect();
    let mut files = files?;
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        digest.update(file.file_name().unwrap_or_default().as_encoded_bytes());
        digest.update(std::fs::read(&file)?);
    }
    std::fs::remove_dir_all(folder)?;
    Ok(digest.finalize().iter().take(8).map(|b| format!("{b:02x}")).collect())
}

/// A pending program must fail at one level at least; otherwise the list is out of date.
fn still_fails(jobs: &[Job], target: &str, reason: &str) -> Result<(), Failed> {
    // A program that ends the process must not end the test.
    let runner = Runner { tile_run: command(), ..runner()? };
    if jobs.iter().any(|job| runner.run(job).is_err()) {
        return Ok(());
    }
    let Some(Job { program, .. }) = jobs.first() else { return Ok(()) };
    let name = &program.name;
    Err(format!("{name} works on {target}: move it to supported.txt (pending.txt says: {reason})").into())
}
