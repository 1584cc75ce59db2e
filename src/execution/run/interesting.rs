//! `tile-interesting`: decides for `tileiras-reduce` whether a program still has a defect.
//!
//! MLIR's reducer keeps a candidate if its test exits with a status other than 0. So the status is 1 for a program
//! with the defect. It is 0 otherwise: for invalid candidates, for candidates with undefined behavior, and for
//! mistakes on the command line, which would otherwise make every program interesting.

use crate::cl;
use crate::command::{Failure, Tools, describe, read};
use crate::each::{Behavior, Trial, expectations};
use crate::launch::Launch;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tile_diag::Severity;
use tile_interface::CompileError;

const HELP: &str = "\
Decides for tileiras-reduce whether a program still has a defect: the exit status is 1 if it has, and 0 otherwise.

usage: tile-interesting DEFECT [options] [options of tile-run] ARG... KERNEL

DEFECT is one of
  --wrong            the compiled program has other results than on the reference interpreter, which finds no
                     undefined behavior
  --wrong-pass NAME  this optional pass miscompiles the program, as found by tile-run --check-each: results are right
                     with the passes before it, and wrong when it runs too
  --fails            the program is valid but does not compile, or the compiler crashes

options:
  --message TEXT     additionally, the description of the defect (the first wrong element, the error) contains TEXT
  --explain          print the reason for the answer
  --version          print the version, as the first argument
  --help             print this text; tile-run --help lists its options. The default of --max-time is 10 seconds

example: tile-interesting --wrong --grid 8 zeros:f32:4096:ptr twice.mlir

The expected results in a description (--launch) are those of the original program and are not compared.
";

/// Runs the command. The first argument is the program's name.
pub fn main(arguments: impl IntoIterator<Item = OsString>, tools: Tools<'_>) -> ExitCode {
    let all: Vec<OsString> = arguments.into_iter().collect();
    let crash = tile_driver::crash::forerunner();
    if crash.is_none()
        && let Err(e) = tile_driver::crash::guard(&all)
    {
        eprintln!("tile-interesting: error: crashes cannot be caught: {e}");
        return ExitCode::SUCCESS;
    }
    let arguments: Vec<OsString> = all.into_iter().skip(1).collect();
    ExitCode::from(run(&arguments, crash, tools, &mut std::io::stdout(), &mut std::io::stderr()))
}

/// As [`main`], for the arguments after the program's name. `crash` is the signal that ended an earlier attempt.
pub fn run(
    arguments: &[OsString],
    crash: Option<i32>,
    tools: Tools<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    // Ignore a closed standard error.
    let mut say = |text: String| _ = writeln!(stderr, "{text}");
    let asked = match parse(arguments) {
        Ok(Some(asked)) => asked,
        Ok(None) => {
            let _ = stdout.write_all(HELP.as_bytes());
            return 0;
        }
        Err(e) => {
            say(format!("tile-interesting: error: {e}; --help explains the command"));
            return 0;
        }
    };
    let (answer, why) = match asked.answer(crash, tools) {
        Ok(Answer::Defect(why)) if asked.message.as_deref().is_none_or(|part| why.contains(part)) => (1, why),
        Ok(Answer::Defect(why)) => (0, format!("another defect: {why}")),
        Ok(Answer::NoDefect(why)) => (0, why),
        // Errors in the command line, or in files that all candidates share.
        Err(e @ (Failure::Usage(_) | Failure::Read { .. } | Failure::Launch(_) | Failure::NoKernel)) => {
            say(format!("tile-interesting: error: {e}"));
            return 0;
        }
        Err(e) => (0, e.to_string()),
    };
    if asked.explain {
        say(format!("{}: {why}", if answer == 1 { "interesting" } else { "not interesting" }));
    }
    answer
}

#[derive(Clone, Debug, PartialEq)]
enum Defect {
    Wrong,
    WrongPass(String),
    Fails,
}

struct Asked {
    defect: Defect,
    message: Option<String>,
    explain: bool,
    options: cl::Options,
}

enum Answer {
    /// With its description.
    Defect(String),
    NoDefect(String),
}

/// Returns `None` if help is requested. `Err` is a message for the user.
fn parse(arguments: &[OsString]) -> Result<Option<Asked>, String> {
    let (mut defects, mut message, mut explain, mut rest) = (vec![], None, false, vec![]);
    let mut words = arguments.iter().cloned();
    while let Some(word) = words.next() {
        let (name, inline) = match word.to_str().and_then(|w| w.split_once('=')) {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (word.to_string_lossy().into_owned(), None),
        };
        let mut value = || {
            let next = || words.next().and_then(|w| w.into_string().ok());
            inline.clone().or_else(next).ok_or_else(|| format!("{name} needs a value"))
        };
        match name.as_str() {
            "--wrong" => defects.push(Defect::Wrong),
            "--wrong-pass" => defects.push(Defect::WrongPass(value()?)),
            "--fails" => defects.push(Defect::Fails),
            "--message" => message = Some(value()?),
            "--explain" => explain = true,
            "--help" | "-h" => return Ok(None),
            _ => rest.push(word),
        }
    }
    let [defect] = &defects[..] else {
        return Err("exactly one of --wrong, --wrong-pass and --fails is required".into());
    };
    let kernel = rest.pop().ok_or("no kernel given")?;
    if *defect == Defect::Fails && !rest.iter().any(|w| w.to_string_lossy().starts_with("--grid")) {
        // Nothing is launched.
        rest.push("--grid=1".into());
    }
    // The reducer puts the file last, but tile-run takes everything after its file as arguments of the kernel.
    rest.insert(0, kernel);
    let mut options = cl::parse(&rest)?;
    options.max_time = options.max_time.or(Some(Duration::from_secs(10)));
    Ok(Some(Asked { defect: defect.clone(), message, explain, options }))
}

impl Asked {
    fn answer(&self, crash: Option<i32>, tools: Tools<'_>) -> Result<Answer, Failure> {
        if let Some(signal) = crash {
            let why = format!("the compiler crashed with signal {signal}");
            return Ok(if self.defect == Defect::Fails { Answer::Defect(why) } else { Answer::NoDefect(why) });
        }
        let kernel: PathBuf = self.options.kernel.clone().ok_or(Failure::NoKernel)?;
        let (input, kind) = read(&kernel)?;
        let trial = Trial { path: kernel.display().to_string(), input, kind, options: &self.options, tools };
        if self.defect == Defect::Fails {
            return trial.failure();
        }
        let launch = Launch { expect: vec![], stdout: None, ..describe(&self.options)? };
        let launch = Launch {
            expect: expectations(
                (&trial.path, &trial.input, trial.kind),
                trial.options,
                &launch,
                trial.tools,
                &mut std::io::sink(),
            )?,
            ..launch
        };
        let Defect::WrongPass(name) = &self.defect else {
            return trial.answer_after(None, &launch);
        };
        let passes = trial.optional_passes()?;
        if !passes.contains(name) {
            return Err(Failure::Usage(format!(
                "unknown optional pass '{name}' (the optional passes are {})",
                passes.join(", ")
            )));
        }
        let mut answer = Answer::NoDefect(String::new());
        for at in (0..passes.len()).filter(|at| passes[*at] == *name) {
            answer = match trial.answer_after(Some(at), &launch)? {
                Answer::Defect(why) => Answer::NoDefect(format!("wrong before the pass too: {why}")),
                Answer::NoDefect(why) if why != RIGHT => Answer::NoDefect(format!("before the pass: {why}")),
                // As in `check_each`, all passes together are compiled without a limit.
                Answer::NoDefect(_) => trial.answer_after((at + 1 < passes.len()).then_some(at + 1), &launch)?,
            };
            if matches!(answer, Answer::Defect(_)) {
                break;
            }
        }
        Ok(answer)
    }
}

const RIGHT: &str = "results are right";

impl Trial<'_> {
    /// Whether results are wrong after the first `limit` optional passes.
    fn answer_after(&self, limit: Option<usize>, launch: &Launch) -> Result<Answer, Failure> {
        let ptx = match self.compile(limit) {
            Ok(ptx) => ptx,
            Err(why) => return Ok(Answer::NoDefect(format!("it does not compile: {why}"))),
        };
        Ok(match self.behavior(&ptx, launch)? {
            Behavior::Wrong(why) => Answer::Defect(why),
            _ => Answer::NoDefect(RIGHT.to_owned()),
        })
    }

    /// Whether a valid program does not compile.
    fn failure(&self) -> Result<Answer, Failure> {
        let mut said = None;
        let mut report = |d: tile_diag::Diagnostic| {
            if d.severity == Severity::Error {
                said.get_or_insert(d.message);
            }
        };
        match self.tools.compiler.compile(&self.request(&self.options.pipeline_options), &mut report) {
            Ok(_) => Ok(Answer::NoDefect("it compiles".to_owned())),
            Err(e) => {
                let why = said.unwrap_or_else(|| e.to_string());
                match e {
                    CompileError::Input => Ok(Answer::NoDefect(format!("it is not valid: {why}"))),
                    CompileError::Configuration(_) => Err(Failure::Usage(why)),
                    CompileError::Failed | CompileError::Internal(_) => Ok(Answer::Defect(why)),
                }
            }
        }
    }
}
