//! `cargo xtask corpus`: compiles the corpus, runs it on the simulated device and prints a table.

use crate::cargo::cargo;
use crate::words::Words;
use anyhow::{Context, bail};
use std::path::Path;
use std::time::Duration;
use tile_driver::progress::Progress;
use tile_launch::corpus::{self, Engine, Job, Lists, Pending, Runner, TileRun, first_error};

pub const USAGE: &str = "\
usage: cargo xtask corpus [options] [PROGRAM ...]

Runs the programs whose names contain one of PROGRAM (default: all) and prints a line for each run.

  --engine NAME    'sim', or 'reference', which does not compile and ignores targets, levels and seeds (default sim)
  --targets LIST   default sm_90
  --levels LIST    default 0,3
  --seeds LIST     seeds of adversarial schedules; 'plain' is the ordinary schedule (default plain,1)
  --supported      run only programs in supported.txt, on the targets where they are not pending
  --jobs N         parallel runs (default: one for each processor)
  --limit SECONDS  time limit of one run (default 120)
  --release        build tile-run with optimization
  --update         move programs that pass all runs to supported.txt and write the others' errors to pending.txt;
                   never removes a program from supported.txt
";

struct Options {
    reference: bool,
    targets: Vec<String>,
    levels: Vec<u8>,
    seeds: String,
    jobs: usize,
    limit: Duration,
    release: bool,
    supported: bool,
    update: bool,
    filters: Vec<String>,
}

fn parse(words: &[&str]) -> anyhow::Result<Options> {
    let mut o = Options {
        reference: false,
        targets: vec!["sm_90".into()],
        levels: vec![0, 3],
        seeds: "plain,1".into(),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        limit: Duration::from_secs(120),
        release: false,
        supported: false,
        update: false,
        filters: vec![],
    };
    let mut words = Words::new(words, USAGE);
    while let Some(word) = words.next()? {
        match word {
            "--engine" => {
                o.reference = match words.value()? {
                    "sim" => false,
                    "reference" => true,
                    other => bail!("unknown engine '{other}'\n{USAGE}"),
                };
            }
            "--targets" => o.targets = words.value()?.split(',').map(String::from).collect(),
            "--levels" => {
                o.levels = words.value()?.split(',').map(str::parse).collect::<Result<_, _>>().context("--levels")?;
            }
            "--seeds" => o.seeds = words.value()?.to_string(),
            "--jobs" => o.jobs = words.parse()?,
            "--limit" => o.limit = Duration::from_secs(words.parse()?),
            "--release" => o.release = true,
            "--supported" => o.supported = true,
            "--update" => o.update = true,
            _ if word.starts_with('-') => bail!("unknown option '{word}'\n{USAGE}"),
            _ => o.filters.push(word.to_string()),
        }
    }
    Ok(o)
}

/// Returns the runs that failed unexpectedly, and programs listed as pending that pass.
pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<Vec<String>> {
    let options = parse(words)?;
    let mut lists = Lists::read(root)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    let tile_run = TileRun::Program(build(root, &target, "tile-run", options.release)?);
    let cases = corpus::cases(root, &target)?;
    let runner = Runner { tile_run, cases, limit: options.limit, out_dir: None, options: vec![] };
    let wanted = |name: &str| options.filters.is_empty() || options.filters.iter().any(|f| name.contains(f.as_str()));
    let listed = |name: &str| !options.supported || lists.supported.contains(name);
    let programs: Vec<_> = corpus::programs(root)?.into_iter().filter(|p| wanted(&p.name) && listed(&p.name)).collect();
    if programs.is_empty() {
        let which = if options.supported { "supported program" } else { "program" };
        bail!("no {which}'s name contains {}", options.filters.join(" or "));
    }
    if options.reference {
        return Ok(reference(&programs, &runner, options.jobs));
    }
    let mut jobs = vec![];
    // Name, target and level of each job.
    let mut runs = vec![];
    for program in &programs {
        for target in &options.targets {
            if options.supported && lists.pending_on(&program.name, target).is_some() {
                continue;
            }
            for level in &options.levels {
                let (program, target, schedules) = (program.clone(), target.clone(), options.seeds.clone());
                let engine = Engine::Simulator { target: target.clone(), level: *level, schedules };
                runs.push((program.name.clone(), target, *level));
                jobs.push(Job { program, engine });
            }
        }
    }
    let width = programs.iter().map(|p| p.name.len()).max().unwrap_or(0);
    println!("{:width$}  target  level  result   time", "program");
    let mut problems = vec![];
    let mut failures: Vec<Option<String>> = vec![None; jobs.len()];
    let progress = Progress::start("corpus", jobs.len() as u64, true);
    runner.run_all(&jobs, options.jobs, &mut |n, result, time| {
        let (name, target, level) = &runs[n];
        let pending = lists.pending_on(name, target).is_some();
        let word = match (result.is_ok(), pending) {
            (true, _) => "pass",
            (false, true) => "pending",
            (false, false) => "FAIL",
        };
        let why = result.as_ref().err().map_or("", |said| first_error(said));
        progress.aside(|| {
            println!("{:width$}  {target:6}  O{level:<4}  {word:7} {:5.1} s  {why}", name, time.as_secs_f64());
        });
        progress.advance("");
        failures[n] = result.as_ref().err().map(|_| why.to_string());
        if result.is_err() && !pending {
            problems.push(format!("{name} on {target} at O{level} failed"));
        }
    });
    drop(progress);
    let passed = failures.iter().filter(|f| f.is_none()).count();
    println!("{passed} of {} runs passed", jobs.len());
    for program in &programs {
        let name = &program.name;
        let of_program = || runs.iter().zip(&failures).filter(|((n, ..), _)| n == name);
        if options.update {
            match of_program().find_map(|(_, f)| f.clone()) {
                None => {
                    lists.pending.remove(name);
                    lists.supported.insert(name.clone());
                }
                Some(reason) if !lists.supported.contains(name) => {
                    lists.pending.insert(name.clone(), Pending { targets: None, reason });
                }
                Some(_) => {}
            }
            continue;
        }
        // A program that passes all its runs on a target should no longer be listed as pending there.
        for target in &options.targets {
            let mut here = of_program().filter(|((_, t, _), _)| t == target).peekable();
            let works = here.peek().is_some() && here.all(|(_, f)| f.is_none());
            if works && lists.pending_on(name, target).is_some() {
                problems.push(format!("{name} passes on {target}, but pending.txt lists it"));
            }
        }
    }
    if options.update {
        lists.write(root)?;
    }
    problems.sort();
    Ok(problems)
}

/// Runs all readable programs on the reference interpreter. Returns the programs that failed.
fn reference(programs: &[corpus::Program], runner: &Runner, parallel: usize) -> Vec<String> {
    let readable = programs.iter().filter(|p| p.is_readable());
    let jobs: Vec<Job> = readable.map(|p| Job { program: p.clone(), engine: Engine::Reference }).collect();
    let width = programs.iter().map(|p| p.name.len()).max().unwrap_or(0);
    println!("{:width$}  result   time", "program");
    let mut problems = vec![];
    let progress = Progress::start("corpus", jobs.len() as u64, true);
    runner.run_all(&jobs, parallel, &mut |n, result, time| {
        let name = &jobs[n].program.name;
        let (word, why) = match result {
            Ok(()) => ("pass", ""),
            Err(said) => ("FAIL", first_error(said)),
        };
        progress.aside(|| println!("{name:width$}  {word:7} {:5.1} s  {why}", time.as_secs_f64()));
        progress.advance("");
        if result.is_err() {
            problems.push(format!("{name} on the reference interpreter failed"));
        }
    });
    drop(progress);
    println!("{} of {} runs passed", jobs.len() - problems.len(), jobs.len());
    problems.sort();
    problems
}

/// Builds a command as part of the workspace, so that cargo unifies features and does not rebuild dependencies.
/// Returns the path of the executable.
pub fn build(root: &Path, target: &Path, name: &str, release: bool) -> anyhow::Result<std::path::PathBuf> {
    let mut command = cargo(root);
    command.args(["build", "--quiet", "--workspace", "--bin", name]);
    if release {
        command.arg("--release");
    }
    if !command.status().context("cannot run cargo")?.success() {
        bail!("{name} could not be built");
    }
    Ok(target.join(if release { "release" } else { "debug" }).join(name))
}
