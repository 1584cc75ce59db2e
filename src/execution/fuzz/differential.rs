//! Differential testing: compares compiled code with the reference interpreter.
//!
//! A case is compiled in this process, run on the simulator, and compared with the interpreter's results. `tile-fuzz`
//! does this with random programs, `tests/results/semantics.rs` with written ones.

pub mod device;

use super::processor_time;
use crate::compile::{self, Session};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tile_diag::Severity;
use tile_fuzz::case::{Case, Meaning};
use tile_fuzz::file::File;
use tile_interface::{CompileRequest, Compiler, InputKind};
use tile_interp::machine::Limits;
use tile_interp::text;
use tile_targets::Target;

/// A way to compile and run a program.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    pub target: &'static Target,
    pub level: u8,
    pub adversarial: bool,
    /// Options of the pass pipeline.
    pub options: &'static [(&'static str, &'static str)],
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -O{}", self.target.name, self.level)?;
        self.options.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

impl Configuration {
    /// Parses a configuration as [`Configuration`] is printed.
    fn by_name(text: &str) -> Option<Configuration> {
        let (target, level) = text.split_once(" -O")?;
        let level = level.parse().ok()?;
        Some(Configuration { target: Target::by_name(target)?, level, adversarial: level > 0, options: &[] })
    }
}

/// The configurations in which a program is tested.
#[derive(Clone, Default)]
pub struct TestMatrix {
    configurations: Vec<Configuration>,
    /// A compilation that takes this time or more is a failure.
    limit: Option<Duration>,
    /// Adversarial schedules in addition to the one of the program's seed.
    more_schedules: u64,
}

impl TestMatrix {
    pub fn new(targets: &[String], levels: &[u8]) -> Result<TestMatrix, String> {
        let mut all = vec![];
        for name in targets {
            let target = Target::by_name(name).ok_or_else(|| format!("unknown target '{name}'"))?;
            let one = |&level| Configuration { target, level, adversarial: level > 0, options: &[] };
            all.extend(levels.iter().map(one));
        }
        Ok(TestMatrix { configurations: all, ..TestMatrix::default() })
    }

    /// The explicitly given configurations.
    pub fn all(&self) -> &[Configuration] {
        &self.configurations
    }

    /// The configurations for a seed: the given ones; by default sm_90 at -O0 and -O3, and one other target at -O3.
    fn of(&self, seed: u64) -> Vec<Configuration> {
        if !self.configurations.is_empty() {
            return self.configurations.clone();
        }
        let other = ["sm_80", "sm_100", "sm_120", "sm_89"][(seed % 4) as usize];
        let names = [("sm_90", 0, false), ("sm_90", 3, true), (other, 3, false)];
        let make = |(name, level, adversarial)| {
            Some(Configuration { target: Target::by_name(name)?, level, adversarial, options: &[] })
        };
        names.into_iter().filter_map(make).collect()
    }
}

impl TestMatrix {
    /// Only the configuration that a failure names, or the whole matrix if it names none.
    pub fn narrowed(&self, failure: &str, seed: u64) -> TestMatrix {
        let named = |c: &Configuration| failure.contains(&format!("{c}:"));
        let one: Vec<Configuration> = self.of(seed).into_iter().filter(named).collect();
        if one.is_empty() { self.clone() } else { TestMatrix { configurations: one, ..self.clone() } }
    }

    /// The same matrix, where a compilation that takes `limit` or more is a failure.
    #[must_use]
    pub fn less_than(self, limit: Duration) -> TestMatrix {
        TestMatrix { limit: Some(limit), ..self }
    }

    /// The same matrix with `count` adversarial schedules instead of one. The first has the seed of the program.
    #[must_use]
    pub fn with_schedules(self, count: u64) -> TestMatrix {
        TestMatrix { more_schedules: count.saturating_sub(1), ..self }
    }
}

/// The distance between the seeds of a program's schedules: odd, since some choices depend on the last bits, and
/// farther than the seeds of a campaign.
const NEXT_SCHEDULE: u64 = (1 << 40) + 1;

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The text of a generated program is rejected, or has other results after it is parsed.
    #[error("text: {0}")]
    Text(String),
    #[error("compile {configuration}: {message}")]
    Compile { configuration: String, message: String },
    #[error("slow {configuration}: the compiler took {} s of processor time", .time.as_secs())]
    Slow { configuration: String, time: Duration },
    #[error("run {configuration}: {message}")]
    Run { configuration: String, message: String },
    #[error("result {configuration}: {message}")]
    Result { configuration: String, message: String },
}

pub enum Verdict {
    Pass(Meaning),
    /// The compiler reported that it does not support the program.
    Unsupported(String),
    Fail(Failure),
}

/// The part of a failure's text that failures with the same cause share: without numbers and value names.
pub fn signature(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace().take(14) {
        let plain: String = word.chars().filter(|c| !c.is_ascii_digit()).collect();
        // Locations and computed values differ from program to program.
        if !plain.contains("0x") && !plain.contains("%r") && !plain.contains("%f") {
            out += &plain;
            out.push(' ');
        }
    }
    out.trim_end().to_string()
}

fn limits() -> Limits {
    Limits { ops: Some(5_000_000), time: Some(Duration::from_secs(30)), races: true, ..Limits::default() }
}

/// Whether the message says that the compiler does not support something.
fn is_refusal(message: &str) -> bool {
    ["has no conversion", "have no conversion", "has no lowering", "have no lowering", "is not supported"]
        .iter()
        .any(|t| message.contains(t))
}

/// Time spent and number of runs, summed over the work of this thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub interpreter: Duration,
    pub compiler: Duration,
    pub assembler: Duration,
    pub simulator: Duration,
    /// Number of launches on the simulator.
    pub runs: u64,
}

thread_local! {
    static TIMES: Cell<Times> = const { Cell::new(Times {
        interpreter: Duration::ZERO,
        compiler: Duration::ZERO,
        assembler: Duration::ZERO,
        simulator: Duration::ZERO,
        runs: 0,
    }) };
    static SESSION: RefCell<Option<(Session, u32)>> = const { RefCell::new(None) };
}

/// The sums so far.
pub fn times() -> Times {
    TIMES.get()
}

/// Runs `work` and adds its time to one of the sums.
fn timed<R>(sum: fn(&mut Times) -> &mut Duration, work: impl FnOnce() -> R) -> R {
    let started = Instant::now();
    let result = work();
    let mut times = TIMES.get();
    *sum(&mut times) += started.elapsed();
    TIMES.set(times);
    result
}

/// Runs a case on the interpreter, within the limits of a campaign.
fn meaning_of(case: &Case) -> Result<Meaning, tile_interp::machine::Error> {
    timed(|t| &mut t.interpreter, || case.meaning(limits()))
}

/// Number of programs compiled in one context, because a context keeps every attribute and type that it creates.
const PROGRAMS: u32 = 200;

fn compiled(program: &str, configuration: &Configuration) -> Result<String, String> {
    let options: Vec<(String, String)> =
        configuration.options.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let request = CompileRequest {
        input_name: "kernel.mlir",
        opt_level: configuration.level,
        // Also test the passes' code that produces remarks.
        remarks: true,
        pipeline_options: &options,
        ..CompileRequest::new(program.as_bytes(), InputKind::Text, configuration.target)
    };
    let mut messages = vec![];
    let result = catch_unwind(AssertUnwindSafe(|| {
        // Taken out, so a context in which a pass panicked is not used again.
        let (session, used) = SESSION.take().unwrap_or_else(|| (Session::new(), 0));
        let result = session.compile(&request, &mut |d| messages.push(d));
        SESSION.set((used + 1 < PROGRAMS).then_some((session, used + 1)));
        result
    }));
    match result {
        Ok(Ok(output)) => Ok(output.text),
        Ok(Err(e)) => {
            let first = messages.iter().find(|d| d.severity == Severity::Error);
            Err(first.map_or_else(|| e.to_string(), |d| tile_diag::render::plain(d).trim().to_string()))
        }
        Err(_) => Err("panic".into()),
    }
}

/// Compiles and runs the text of a case and compares the results with `meaning`.
pub fn compare(case: &Case, program: &str, meaning: &Meaning, c: &Configuration, seed: u64) -> Result<(), Failure> {
    let ptx = ptx_of(program, c)?;
    execute(case, &ptx, meaning, c, seed)
}

fn ptx_of(program: &str, c: &Configuration) -> Result<String, Failure> {
    let ptx = timed(|t| &mut t.compiler, || compiled(program, c));
    ptx.map_err(|message| Failure::Compile { configuration: c.to_string(), message })
}

/// Runs the PTX of a case and compares the results with `meaning`.
fn execute(case: &Case, ptx: &str, meaning: &Meaning, c: &Configuration, seed: u64) -> Result<(), Failure> {
    let configuration = || c.to_string();
    // If an address or a branch depends on an unknown value, any behavior of the compiled code is correct.
    if meaning.guess.is_some() {
        return Ok(());
    }
    let limit = Duration::from_secs(60);
    TIMES.set(Times { runs: times().runs + 1, ..times() });
    let outcome = timed(|t| &mut t.simulator, || case.simulate(ptx, c.adversarial.then_some(seed), limit));
    let outcome = outcome.map_err(|message| Failure::Run { configuration: configuration(), message })?;
    match case.difference(meaning, &outcome) {
        None => Ok(()),
        Some(message) => Err(Failure::Result { configuration: configuration(), message }),
    }
}

/// [`compare`] in every configuration, up to the first failure. Two levels often produce the same PTX, so each
/// distinct PTX runs only once under each schedule.
fn compare_all(case: &Case, program: &str, meaning: &Meaning, matrix: &TestMatrix, seed: u64) -> Result<(), Failure> {
    let mut executed: Vec<(String, bool)> = vec![];
    for c in matrix.of(seed) {
        let before = processor_time();
        let ptx = ptx_of(program, &c)?;
        let time = processor_time().saturating_sub(before);
        let run = (ptx, c.adversarial);
        if !executed.contains(&run) {
            let count = if c.adversarial { 1 + matrix.more_schedules } else { 1 };
            let mut seeds = (0..count).map(|i| seed.wrapping_add(i.wrapping_mul(NEXT_SCHEDULE)));
            seeds.try_for_each(|schedule| execute(case, &run.0, meaning, &c, schedule))?;
            executed.push(run);
        }
        if matrix.limit.is_some_and(|limit| time >= limit) {
            return Err(Failure::Slow { configuration: c.to_string(), time });
        }
    }
    Ok(())
}

/// Tests whether compiled code has the results that the interpreter computes for `case`.
pub fn check(case: &Case, meaning: Meaning, matrix: &TestMatrix, seed: u64) -> Verdict {
    let text_failure = |message: String| Verdict::Fail(Failure::Text(message));
    let program = text::print(&case.program);
    // For every eighth seed, also parse the printed text and run it: parser and printer must preserve the program.
    if seed.is_multiple_of(8) {
        let mut messages = vec![];
        let read = compile::program(program.as_bytes(), InputKind::Text, &mut |d| {
            messages.push(tile_diag::render::plain(&d).trim().to_string());
        });
        match read {
            Err(e) => return text_failure(messages.into_iter().next().unwrap_or_else(|| e.to_string())),
            Ok(program) => match meaning_of(&Case { program, ..case.clone() }) {
                Ok(again) if again.buffers == meaning.buffers && again.output == meaning.output => {}
                Ok(_) => return text_failure("the program has other results after parsing".into()),
                Err(e) => return text_failure(e.to_string()),
            },
        }
    }
    match compare_all(case, &program, &meaning, matrix, seed) {
        Ok(()) => Verdict::Pass(meaning),
        Err(Failure::Compile { message, .. }) if is_refusal(&message) => Verdict::Unsupported(message),
        Err(failure) => Verdict::Fail(failure),
    }
}

/// Runs a written case on the interpreter and compares the results with the file's expectations. Returns the case, or
/// `None` if the file expects an error.
pub fn interpreted(file: &File) -> Result<Option<Case>, Failure> {
    Ok(interpreted_with_meaning(file)?.map(|(case, _)| case))
}

/// As [`interpreted`], with the results of that run.
fn interpreted_with_meaning(file: &File) -> Result<Option<(Case, Meaning)>, Failure> {
    let mut messages = vec![];
    let program = compile::program(file.text.as_bytes(), InputKind::Text, &mut |d| {
        messages.push(tile_diag::render::plain(&d).trim().to_string());
    });
    let program = program.map_err(|e| Failure::Text(messages.into_iter().next().unwrap_or_else(|| e.to_string())))?;
    let case = Case { program, grid: file.grid, parameters: file.parameters.clone() };
    let meaning = match (meaning_of(&case), &file.error) {
        (Ok(_), Some(error)) => return Err(Failure::Text(format!("no error, expected '{error}'"))),
        (Err(e), Some(error)) if e.to_string().contains(error.as_str()) => return Ok(None),
        (Err(e), _) => return Err(Failure::Text(e.to_string())),
        (Ok(meaning), None) => meaning,
    };
    match file.complaint(&meaning) {
        None => Ok(Some((case, meaning))),
        Some(complaint) => Err(Failure::Text(complaint)),
    }
}

/// Tests a written case on the interpreter and compiled.
pub fn check_file(file: &File, matrix: &TestMatrix, seed: u64) -> Result<(), Failure> {
    let Some(case) = interpreted(file)? else { return Ok(()) };
    compare_all(&case, &file.text, &file.meaning(), matrix, seed)
}

/// Converts a case to a file with the interpreter's results as its expectations.
pub fn written(case: &Case, description: &[String]) -> File {
    let meaning = meaning_of(case);
    let want = match &meaning {
        Ok(m) => m.buffers.clone(),
        Err(_) => vec![],
    };
    let prints = meaning.map(|m| m.output.lines().map(String::from).collect()).unwrap_or_default();
    File {
        description: description.to_vec(),
        grid: case.grid,
        parameters: case.parameters.clone(),
        want,
        prints,
        error: None,
        text: text::print(&case.program),
    }
}

/// Describes how a case fails; `None` if it passes or its results cannot be compared.
pub fn failure(case: &Case, matrix: &TestMatrix, seed: u64) -> Option<String> {
    let meaning = meaning_of(case).ok()?;
    if meaning.guess.is_some() || !meaning.failed_assertions.is_empty() {
        return None;
    }
    compare_all(case, &text::print(&case.program), &meaning, matrix, seed).err().map(|f| f.to_string())
}

/// Describes how a case fails when run in a child process, in which a crash is just a failure. `None` if the case
/// passes or its results cannot be compared.
pub fn failure_in_child(case: &Case, matrix: &TestMatrix, seed: u64, scratch: &Path) -> Option<String> {
    let meaning = meaning_of(case).ok()?;
    if meaning.guess.is_some() || !meaning.failed_assertions.is_empty() {
        return None;
    }
    std::fs::write(scratch, written(case, &[]).print()).ok()?;
    let mut names: Vec<&str> = matrix.configurations.iter().map(|c| c.target.name).collect();
    names.dedup();
    let of_first = matrix.configurations.iter().filter(|c| Some(&c.target.name) == names.first());
    let levels: Vec<String> = of_first.map(|c| c.level.to_string()).collect();
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.arg("--check").arg(scratch).args(["--seed", &seed.to_string()]);
    if !names.is_empty() {
        command.args(["--targets", &names.join(","), "--levels", &levels.join(",")]);
    }
    if let Some(limit) = matrix.limit {
        command.args(["--slow", &limit.as_secs().to_string()]);
    }
    command.args(["--schedules", &(1 + matrix.more_schedules).to_string()]);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    if output.status.success() {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stdout).trim().to_string();
    Some(if said.is_empty() { format!("crash: {}", output.status) } else { said })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number out of range may be converted to any integer, which makes the address arbitrary.
    #[test]
    fn what_a_guess_decides_is_not_run() {
        let text = "\
// grid: 1 1 1
// scalar: f32 inf
// buffer: i32 0*2 -> 7 0
cuda_tile.module @m {
  entry @k(%x: tile<f32>, %p: tile<ptr<i32>>) {
    %i = ftoi %x signed : tile<f32> -> tile<i32>
    %q = offset %p, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %v = constant <i32: 7> : tile<i32>
    %k = store_ptr_tko weak %q, %v : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
";
        let file = File::parse(text).unwrap();
        let case = interpreted(&file).unwrap().unwrap();
        let meaning = meaning_of(&case).unwrap();
        assert!(meaning.guess.is_some());
        let matrix = TestMatrix::new(&["sm_90".into()], &[0, 3]).unwrap();
        assert!(matches!(check(&case, meaning, &matrix, 1), Verdict::Pass(_)));
        // The expectations of the file are not a guess, so the compiled code runs and accesses memory out of bounds.
        assert!(check_file(&file, &matrix, 1).is_err());
    }

    #[test]
    fn a_compilation_that_takes_too_long_is_a_failure() {
        let text = "\
// grid: 1 1 1
cuda_tile.module @m {
  entry @k() {
    return
  }
}
";
        let file = File::parse(text).unwrap();
        let matrix = TestMatrix::new(&["sm_90".into()], &[3]).unwrap();
        assert!(check_file(&file, &matrix, 1).is_ok());
        let failure = check_file(&file, &matrix.less_than(Duration::ZERO), 1).unwrap_err();
        assert_eq!(failure.to_string(), "slow sm_90 -O3: the compiler took 0 s of processor time");
    }

    #[test]
    fn equal_code_runs_once() {
        let text = "\
// grid: 1 1 1
// buffer: i32 0 -> 7
cuda_tile.module @m {
  entry @k(%p: tile<ptr<i32>>) {
    %v = constant <i32: 7> : tile<i32>
    %t = store_ptr_tko weak %p, %v : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
";
        let file = File::parse(text).unwrap();
        let runs = |targets: &[String], levels: &[u8]| {
            let before = times().runs;
            check_file(&file, &TestMatrix::new(targets, levels).unwrap(), 1).unwrap();
            times().runs - before
        };
        assert_eq!(runs(&["sm_90".into()], &[3, 3]), 1);
        // The target is part of the code, and -O0 runs under the plain schedule.
        assert_eq!(runs(&["sm_90".into(), "sm_100".into()], &[3]), 2);
        assert_eq!(runs(&["sm_90".into()], &[0, 3]), 2);
    }

    /// Atomic sums round in the order of the updates: in bf16, 256 + 1 is 256, and 256 - 256 + 1 is 1.
    #[test]
    fn atomic_sums_that_round_are_not_exact() {
        let text = "\
// grid: 1 1 1
// buffer: bf16 0.0 -> ?
// buffer: bf16 0.0 -> 100.0
cuda_tile.module @m {
  entry @k(%p: tile<ptr<bf16>>, %q: tile<ptr<bf16>>) {
    %p1 = reshape %p : tile<ptr<bf16>> -> tile<1xptr<bf16>>
    %p4 = broadcast %p1 : tile<1xptr<bf16>> -> tile<4xptr<bf16>>
    %a = constant <bf16: [256.0, 1.0, -256.0, 0.0]> : tile<4xbf16>
    %x, %k = atomic_rmw_tko relaxed device %p4, addf, %a : tile<4xptr<bf16>>, tile<4xbf16> -> tile<4xbf16>, token
    %q1 = reshape %q : tile<ptr<bf16>> -> tile<1xptr<bf16>>
    %q4 = broadcast %q1 : tile<1xptr<bf16>> -> tile<4xptr<bf16>>
    %b = constant <bf16: [100.0, 1.0, -2.0, 1.0]> : tile<4xbf16>
    %y, %l = atomic_rmw_tko relaxed device %q4, addf, %b : tile<4xptr<bf16>>, tile<4xbf16> -> tile<4xbf16>, token
    return
  }
}
";
        let case = interpreted(&File::parse(text).unwrap()).unwrap().unwrap();
        let meaning = meaning_of(&case).unwrap();
        let [rounded, exact] = [0, 1].map(|b: usize| meaning.buffers[b][0]);
        assert!(rounded.admits(0x3f80, bf16()) && rounded.admits(0x0000, bf16()), "{rounded:?}");
        assert!(exact.admits(0x42c8, bf16()) && !exact.admits(0x42c9, bf16()), "{exact:?}");
    }

    fn bf16() -> tile_interp::types::Element {
        tile_interp::types::Element::Number(tile_interp::types::Number::Bf16)
    }
}
