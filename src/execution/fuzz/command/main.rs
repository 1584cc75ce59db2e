//! Compares compiled code with the reference interpreter on random programs: `cargo xtask fuzz-kernels`.
//!
//! The command starts worker processes, and each tests a share of the seeds. A worker reports each seed on its
//! standard output. If a worker dies, its last line names the seed, and another worker continues after that seed. At
//! the end failures are reduced, also in separate processes, and written as files in the format of `tests/semantics`.
//! `docs/fuzzing.md` describes the comparison and its rules.

mod device;
mod plans;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};
use tile_driver::progress::Progress;
use tile_fuzz::generate::{Kind, generate, generate_with_meaning};
use tile_fuzz::{case::census, file::File, reduce};
use tileiras::fuzz::differential::device::Form;
use tileiras::fuzz::differential::{self, TestMatrix, Verdict};

const HELP: &str = "\
Compares compiled kernels with the reference interpreter on random programs.

usage: tile-fuzz [options]
       tile-fuzz --check FILE
       tile-fuzz --plans [FILE...] [options]
       tile-fuzz --export DIR [options]
       tile-fuzz --compare RESULTS --export-dir DIR [options]

  --seed N           first seed (default 0)
  --count N          number of seeds (default 100)
  --dots             only the programs with dots of tiles of views, one seed in sixteen
  --nests            only the programs with nested loops and branches around dots, one seed in seventeen
  --jobs N           number of worker processes (default: one per processor)
  --targets LIST     compile for these targets (default: sm_90 at -O0 and -O3, and another target at -O3)
  --levels LIST      optimization levels for --targets (default 0,3)
  --schedules N      run each program under N adversarial schedules (default 1)
  --slow SECONDS     treat a compilation that takes more processor time as a failure
  --out DIR          write reduced failures to this folder (default target/fuzz)
  --no-reduce        only list failures, without reducing and writing them
  --check FILE       run one written case; the exit status is 1 if it fails
  --plans            compile only: the given files of Tile IR, or the random programs, for each of --targets; count
                     the plans that were given up, by the pass that failed, and the instructions that dots use
  --show             print the program of --seed, or of the first later seed that --dots or --nests selects
  --export DIR       compile only: write programs to DIR, assembled for a device
  --files PATH...    with --export, add these written tests: files, or folders such as tests/semantics;
                     with --compare, the location of the written tests (default tests/semantics)
  --ptx              with --export, write PTX instead of cubins
  --compare RESULTS  compare the results of a device with the interpreter's
  --export-dir DIR   with --compare, the folder of --export; count the programs without a result
  --version          print the version, as the first argument
  --help             print this text

example: tile-fuzz --dots --targets sm_90,sm_100 --count 50
";

#[derive(Clone)]
struct Options {
    seed: u64,
    count: u64,
    /// Restricts the programs to one kind.
    only: Option<Kind>,
    jobs: usize,
    matrix: TestMatrix,
    out: PathBuf,
    reduce: bool,
    mode: Mode,
    /// For a worker: the distance between its seeds, and its first seed.
    worker: Option<(u64, u64)>,
    files: Vec<PathBuf>,
    form: Form,
    export_dir: Option<PathBuf>,
}

impl Options {
    /// Whether the options select the program of a seed.
    fn wants(&self, seed: u64) -> bool {
        self.only.is_none_or(|kind| Kind::of(seed) == kind)
    }
}

#[derive(Clone, PartialEq)]
enum Mode {
    Campaign,
    Export(PathBuf),
    Compare(PathBuf),
    ReduceSeed,
    Show,
    Check(PathBuf),
    Plans,
}

/// Notes that an option has another name; the old one is accepted for one release.
fn renamed(old: &str, new: &str) {
    eprintln!("note: {old} is now {new}");
}

fn parse(words: &[String]) -> Result<Options, String> {
    let mut o = Options {
        seed: 0,
        count: 100,
        only: None,
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        matrix: TestMatrix::default(),
        out: "target/fuzz".into(),
        reduce: true,
        mode: Mode::Campaign,
        worker: None,
        files: vec![],
        form: Form::Cubin,
        export_dir: None,
    };
    let mut words = words.iter().peekable();
    let (mut step, mut first) = (None, None);
    let (mut levels, mut longest, mut schedules) = (None, None, 1);
    let mut targets: Option<Vec<String>> = None;
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        let number = |text: &String| text.parse::<u64>().map_err(|e| format!("{word}: '{text}': {e}"));
        match word.as_str() {
            "--seed" => o.seed = number(value()?)?,
            "--count" => o.count = number(value()?)?,
            "--dots" => o.only = Some(Kind::Dots),
            "--products" => {
                renamed(word, "--dots");
                o.only = Some(Kind::Dots);
            }
            "--nests" => o.only = Some(Kind::Nests),
            "--jobs" => o.jobs = number(value()?)?.max(1) as usize,
            "--targets" => targets = Some(value()?.split(',').map(String::from).collect()),
            "--levels" => {
                let list: Result<Vec<u8>, _> = value()?.split(',').map(str::parse).collect();
                levels = Some(list.map_err(|e| format!("--levels: {e}"))?);
            }
            "--schedules" => schedules = number(value()?)?.max(1),
            "--slow" => longest = Some(Duration::from_secs(number(value()?)?)),
            "--out" => o.out = value()?.into(),
            "--no-reduce" => o.reduce = false,
            "--worker" => step = Some(number(value()?)?.max(1)),
            "--first" => first = Some(number(value()?)?),
            "--reduce-seed" => o.mode = Mode::ReduceSeed,
            "--show" => o.mode = Mode::Show,
            "--check" => o.mode = Mode::Check(value()?.into()),
            "--plans" => {
                o.mode = Mode::Plans;
                while let Some(path) = words.next_if(|w| !w.starts_with("--")) {
                    o.files.push(path.into());
                }
            }
            "--export" => o.mode = Mode::Export(value()?.into()),
            "--compare" => o.mode = Mode::Compare(value()?.into()),
            "--judge" => {
                renamed(word, "--compare");
                o.mode = Mode::Compare(value()?.into());
            }
            "--export-dir" => o.export_dir = Some(value()?.into()),
            "--ptx" => o.form = Form::Ptx,
            "--files" => {
                while let Some(path) = words.next_if(|w| !w.starts_with("--")) {
                    o.files.push(path.into());
                }
            }
            _ => return Err(format!("unknown option '{word}'\n{HELP}")),
        }
    }
    o.worker = step.map(|step| (step, first.unwrap_or(o.seed)));
    if o.mode == Mode::Plans {
        targets = targets.or_else(|| Some(["sm_80", "sm_90", "sm_100", "sm_120"].map(String::from).to_vec()));
        levels = levels.or(Some(vec![3]));
    }
    if targets.is_some() || levels.is_some() || matches!(o.mode, Mode::Export(_)) {
        let targets = targets.unwrap_or_else(|| vec!["sm_90".into()]);
        o.matrix = TestMatrix::new(&targets, &levels.unwrap_or_else(|| vec![0, 3]))?;
    }
    o.matrix = o.matrix.with_schedules(schedules);
    if let Some(longest) = longest {
        o.matrix = o.matrix.less_than(longest);
    }
    Ok(o)
}

fn main() -> ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    if let Some(status) = tile_driver::version(&arguments, &tile_version::IDENTITY) {
        return status;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|w| w == "--help" || w == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let options = match parse(&words) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let result = match &options.mode {
        Mode::Campaign => match options.worker {
            None => campaign(&options, &words),
            Some((step, first)) => work(&options, step, first),
        },
        Mode::Export(folder) => device::export(folder, &options, &words),
        Mode::Compare(results) => device::compare(results, &options),
        Mode::Plans => plans::run(&options, &words),
        Mode::ReduceSeed => reduce_seed(&options),
        Mode::Show => show(&options),
        Mode::Check(path) => check(path, &options),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Joins a text into a single line of limited length.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(400).collect()
}

//===-- a worker ------------------------------------------------------------//

/// Sends a line from a worker to its parent.
fn send(text: String) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|e| e.to_string())
}

fn work(options: &Options, step: u64, first: u64) -> Result<bool, String> {
    let mut seed = first;
    let end = options.seed.saturating_add(options.count);
    while seed < end {
        if !options.wants(seed) {
            seed += step;
            continue;
        }
        send(format!("{seed} start"))?;
        let (before, started) = (differential::times(), Instant::now());
        let case = generate_with_meaning(seed);
        let generator = started.elapsed();
        match case {
            None => send(format!("{seed} none"))?,
            Some((case, meaning)) => match differential::check(&case, meaning, &options.matrix, seed) {
                Verdict::Pass(meaning) => {
                    let [exact, near, unknown] = census(&meaning);
                    let guess = usize::from(meaning.guess.is_some());
                    send(format!("{seed} pass {exact} {near} {unknown} {guess}"))?;
                }
                Verdict::Unsupported(message) => send(format!("{seed} unsupported {}", line(&message)))?,
                Verdict::Fail(failure) => send(format!("{seed} fail {}", line(&failure.to_string())))?,
            },
        }
        let t = differential::times();
        let spent = [
            generator,
            t.interpreter - before.interpreter,
            t.compiler - before.compiler,
            t.simulator - before.simulator,
        ];
        send(format!("{seed} time {}", spent.map(|d| d.as_micros().to_string()).join(" ")))?;
        send(format!("{seed} runs {}", t.runs - before.runs))?;
        seed += step;
    }
    Ok(true)
}

//===-- the campaign --------------------------------------------------------//

#[derive(Default)]
struct Tally {
    passed: u64,
    none: u64,
    guesses: u64,
    runs: u64,
    elements: [u64; 3],
    /// Microseconds spent in the generator, the interpreter, the compiler and the simulator.
    times: [u64; 4],
    unsupported: BTreeMap<String, u64>,
    failures: BTreeMap<u64, String>,
}

fn campaign(options: &Options, words: &[String]) -> Result<bool, String> {
    let started = Instant::now();
    let mut tally = Tally::default();
    let all = options.seed..options.seed.saturating_add(options.count);
    let progress = Progress::start("fuzz", all.clone().filter(|seed| options.wants(*seed)).count() as u64, true);
    distribute(all, options.jobs, words, &progress, |seed, what, rest| note(&mut tally, seed, what, rest, &progress))?;
    drop(progress);
    let time = started.elapsed();
    println!(
        "{} passed, {} failed, {} unsupported, {} without a program; {} decided by a guess; {:.1} s",
        tally.passed,
        tally.failures.len(),
        tally.unsupported.values().sum::<u64>(),
        tally.none,
        tally.guesses,
        time.as_secs_f64()
    );
    let [exact, near, unknown] = tally.elements;
    println!("{} runs; elements compared: {exact} exactly, {near} approximately; {unknown} unknown", tally.runs);
    let [generator, interpreter, compiler, simulator] = tally.times.map(|t| t as f64 / 1e6);
    println!(
        "time: generator {generator:.1} s, interpreter {interpreter:.1} s, compiler {compiler:.1} s, simulator {simulator:.1} s"
    );
    for (message, count) in &tally.unsupported {
        println!("unsupported, {count} times: {message}");
    }
    report_failures(options, words, &tally.failures)?;
    Ok(tally.failures.is_empty())
}

/// Distributes numbers over `jobs` processes of this program and passes their reports to `note`. A number counts as
/// progress when a worker starts it.
fn distribute(
    all: Range<u64>,
    jobs: usize,
    words: &[String],
    progress: &Progress,
    note: impl FnMut(u64, &str, String) + Send,
) -> Result<(), String> {
    let jobs = (jobs as u64).min(all.end.saturating_sub(all.start)).max(1);
    let note = Mutex::new(note);
    let (sender, receiver) = mpsc::channel::<String>();
    std::thread::scope(|scope| {
        for first in all.start..all.start + jobs {
            let (note, sender) = (&note, sender.clone());
            scope.spawn(move || {
                let mut note = |number, what: &str, rest| {
                    if what == "start" {
                        progress.advance("");
                    }
                    if let Ok(mut note) = note.lock() {
                        note(number, what, rest);
                    }
                };
                if let Err(message) = supervise(first..all.end, jobs, words, &mut note) {
                    // The receiver is alive until this function returns.
                    let _ = sender.send(message);
                }
            });
        }
        drop(sender);
    });
    receiver.recv().map_or(Ok(()), Err)
}

/// Runs a worker for every `jobs`-th number, restarting it after each crash.
fn supervise(
    all: Range<u64>,
    jobs: u64,
    words: &[String],
    note: &mut impl FnMut(u64, &str, String),
) -> Result<(), String> {
    let executable = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut first = all.start;
    while first < all.end {
        let mut child = Command::new(&executable)
            .args(words)
            .args(["--worker", &jobs.to_string(), "--first", &first.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        let mut running = None;
        if let Some(pipe) = child.stdout.take() {
            for said in BufReader::new(pipe).lines().map_while(Result::ok) {
                let mut words = said.splitn(3, ' ');
                let (Some(number), Some(what)) = (words.next().and_then(|s| s.parse::<u64>().ok()), words.next())
                else {
                    continue;
                };
                let rest = words.next().unwrap_or("").to_string();
                running = (what == "start").then_some(number);
                note(number, what, rest);
            }
        }
        let status = child.wait().map_err(|e| e.to_string())?;
        let Some(number) = running else {
            return if status.success() { Ok(()) } else { Err(format!("a worker ended with {status}")) };
        };
        note(number, "fail", format!("crash: {status}"));
        first = number + jobs;
    }
    Ok(())
}

fn note(tally: &mut Tally, seed: u64, what: &str, rest: String, progress: &Progress) {
    match what {
        "pass" => {
            tally.passed += 1;
            let numbers: Vec<u64> = rest.split(' ').filter_map(|w| w.parse().ok()).collect();
            if let [exact, near, unknown, guess] = numbers[..] {
                for (sum, n) in tally.elements.iter_mut().zip([exact, near, unknown]) {
                    *sum += n;
                }
                tally.guesses += guess;
            }
        }
        "time" => {
            let numbers = rest.split(' ').filter_map(|w| w.parse::<u64>().ok());
            tally.times.iter_mut().zip(numbers).for_each(|(sum, n)| *sum += n);
        }
        "runs" => tally.runs += rest.parse::<u64>().unwrap_or(0),
        "none" => tally.none += 1,
        "unsupported" => *tally.unsupported.entry(rest).or_default() += 1,
        "fail" => {
            progress.aside(|| println!("seed {seed}: {rest}"));
            tally.failures.insert(seed, rest);
        }
        _ => {}
    }
}

/// Groups similar failures and reduces the first of each group.
fn report_failures(options: &Options, words: &[String], failures: &BTreeMap<u64, String>) -> Result<(), String> {
    let mut kinds: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (seed, text) in failures {
        kinds.entry(differential::signature(text)).or_default().push(*seed);
    }
    for (kind, seeds) in &kinds {
        println!("{} times (first: seed {}): {kind}", seeds.len(), seeds[0]);
        if !options.reduce {
            continue;
        }
        let executable = std::env::current_exe().map_err(|e| e.to_string())?;
        let status = Command::new(executable)
            .args(words)
            .args(["--reduce-seed", "--seed", &seeds[0].to_string(), "--out"])
            .arg(&options.out)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|e| e.to_string())?;
        if !status.success() {
            println!("  the reduction ended with {status}");
        }
    }
    Ok(())
}

//===-- one case ------------------------------------------------------------//

/// Reduces the failure of a seed and writes it.
fn reduce_seed(options: &Options) -> Result<bool, String> {
    let seed = options.seed;
    let case = generate(seed).ok_or("there is no program for this seed")?;
    std::fs::create_dir_all(&options.out).map_err(|e| e.to_string())?;
    let scratch = options.out.join(format!("{seed}.try.mlir"));
    // The first run is in a child process, because a crash would end this one.
    let Some(failure) = differential::failure_in_child(&case, &options.matrix, seed, &scratch) else {
        return Err(format!("seed {seed} does not fail"));
    };
    let matrix = options.matrix.narrowed(&failure, seed);
    let crashes = failure.starts_with("crash");
    let run = |case: &tile_fuzz::case::Case| {
        if crashes {
            differential::failure_in_child(case, &matrix, seed, &scratch)
        } else {
            differential::failure(case, &matrix, seed)
        }
    };
    let deadline = Instant::now() + Duration::from_secs(300);
    let wanted = differential::signature(&failure);
    let small = reduce::reduce(case, &mut |c| {
        Instant::now() < deadline && run(c).is_some_and(|f| differential::signature(&f) == wanted)
    });
    let failure = run(&small).unwrap_or(failure);
    // A temporary file for the child processes.
    let _ = std::fs::remove_file(&scratch);
    let path = options.out.join(format!("{seed}.mlir"));
    let file: File = differential::written(&small, &[format!("Seed {seed}: {}", line(&failure))]);
    std::fs::write(&path, file.print()).map_err(|e| e.to_string())?;
    println!("  reduced to {} ops in {}: {}", reduce::size(&small), path.display(), line(&failure));
    Ok(true)
}

/// Prints the first program of the selected kind.
fn show(options: &Options) -> Result<bool, String> {
    // Each kind is frequent, so the search is short.
    let seed = (options.seed..=u64::MAX)
        .find(|seed| options.wants(*seed))
        .ok_or("no further seed selects a program of this kind")?;
    if let Some(case) = generate(seed) {
        print!("{}", differential::written(&case, &[format!("Seed {seed}")]).print());
    }
    Ok(true)
}

/// Tests a written case.
fn check(path: &PathBuf, options: &Options) -> Result<bool, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let file = File::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    match differential::check_file(&file, &options.matrix, options.seed) {
        Ok(()) => Ok(true),
        Err(failure) => {
            println!("{failure}");
            Ok(false)
        }
    }
}
