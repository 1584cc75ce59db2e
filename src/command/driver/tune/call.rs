//! The command line of `tileiras tune`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::expression::Expression;
use super::space::{Parameter, Template, mentions};
use crate::cl::{Glue, Spec};
use crate::options::SPECS;

/// The details in `tileiras tune --help`.
pub const HELP: &str = "\
KERNEL is a program, as text or bytecode. Textual programs, --launch, --check and compiler options, which are all accepted,
may contain ${NAME}, the value of a parameter, and ${EXPRESSION}, an integer computed with + - * / %, comparisons, && || !,
ceil, floor, log2, min, max.

  tileiras tune k.mlir.in --gpu-name=sm_90 --set T=64:512:*2 --set WARPS=4,8 --pipeline-option=num-warps=${WARPS} \\
      --launch '--grid ${ceil(4096 / T)} zeros:f32:4096:ptr'

  --set NAME=LIST        a parameter and its values, separated by commas; each may be a range FROM:TO:STEP or
                         FROM:TO:*FACTOR; may be repeated
  --where EXPRESSION     skip variants for which this is false; may be repeated
  --generate COMMAND     print the program, instead of KERNEL; parameters named in COMMAND are environment variables
  --launch WORDS         the launch, as for tile-run: --grid ${ceil(8192 / TM)} zeros:f32:8192
  --benchmark COMMAND    time a variant: the last line of output is the time, and a nonzero exit status rejects the
                         variant. Environment variables: the parameters named in COMMAND, and program, ptx, cubin,
                         registers and launch. By default, the time is predicted by tile-run
  --machine NAME         the machine to predict for (default: that of --gpu-name)
  --check WORDS          also run each variant with this launch, which needs real arrays, and compare its output with
                         the reference interpreter
  -j N, --jobs N         number of concurrent processes (default: the number of processors)
  --timeout SECONDS      time limit for each process (default 600)
  -o FILE                write the table to FILE: as JSON if the name ends in .json, otherwise tab-separated
  --picture FILE         write the table as an SVG picture: a heat map of two parameters, otherwise bars
  --dir DIR              keep programs, PTX and cubins in DIR, and reuse earlier results found there
  --quiet                do not show progress

Equal programs are compiled once, and equal PTX is timed once. A failed variant is listed with the reason. The exit status
is 5 if every variant failed.";

/// Environment variables of a benchmark command, in addition to the parameters.
pub const VARIABLES: [&str; 5] = ["program", "ptx", "cubin", "registers", "launch"];

/// The source of programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramSource {
    File(PathBuf),
    Command(String),
}

/// The source of times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeSource {
    /// Predicted for this machine, or for the machine of the target.
    Predicted(Option<String>),
    /// Measured by this shell command.
    Benchmark(String),
}

/// The parsed arguments of `tune`.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub source: ProgramSource,
    pub parameters: Vec<Parameter>,
    pub conditions: Vec<Expression>,
    /// Compiler options.
    pub compile: Vec<Template>,
    pub launch: Option<Template>,
    pub check: Option<Template>,
    pub time_source: TimeSource,
    pub jobs: usize,
    /// The time limit of each process.
    pub timeout: Duration,
    pub table: Option<PathBuf>,
    pub picture: Option<PathBuf>,
    pub directory: Option<PathBuf>,
    pub is_quiet: bool,
    /// Deprecated options in the arguments, with their replacements.
    pub deprecations: Vec<String>,
}

/// The maximum of `--timeout` in seconds.
const LONGEST: u64 = 1_000_000;

/// Compiler options that a search sets itself.
const TAKEN: [&str; 2] = ["emit", "resource-usage-file"];

impl Call {
    /// Parses the arguments after the word `tune`.
    ///
    /// # Errors
    /// The first error in the arguments.
    pub fn parse(arguments: &[OsString]) -> Result<Call, String> {
        let mut call = Call {
            source: ProgramSource::File(PathBuf::new()),
            parameters: vec![],
            conditions: vec![],
            compile: vec![],
            launch: None,
            check: None,
            time_source: TimeSource::Predicted(None),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            timeout: Duration::from_secs(600),
            table: None,
            picture: None,
            directory: None,
            is_quiet: false,
            deprecations: vec![],
        };
        let (mut files, mut generate, mut benchmark, mut machine) = (vec![], None, None, None);
        let mut words = arguments.iter();
        while let Some(argument) = words.next() {
            let word = argument.to_str().ok_or_else(|| format!("the argument {argument:?} is not UTF-8"))?;
            if word == "--" {
                files.extend(words.by_ref().map(PathBuf::from));
                break;
            }
            if !word.starts_with('-') || word == "-" {
                files.push(PathBuf::from(word));
                continue;
            }
            let (name, mut inline) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None if word.starts_with("-j") && word.len() > 2 => ("-j", Some(word[2..].to_owned())),
                None => (word, None),
            };
            let mut next = || words.next().map(|v| v.to_string_lossy().into_owned());
            let mut value = || inline.take().or_else(&mut next).ok_or_else(|| format!("{name} needs a value"));
            let template = |text: String| Template::parse(&text).map_err(|why| format!("{name}: {why}"));
            match name {
                "--set" => {
                    let parameter = Parameter::parse(&value()?).map_err(|why| format!("{name}: {why}"))?;
                    if VARIABLES.contains(&parameter.name.as_str()) {
                        return Err(format!(
                            "'{}' is a variable of benchmark commands and cannot be a parameter",
                            parameter.name
                        ));
                    }
                    if call.parameters.iter().any(|p| p.name == parameter.name) {
                        return Err(format!("{} is set twice", parameter.name));
                    }
                    call.parameters.push(parameter);
                }
                "--where" => {
                    call.conditions.push(Expression::parse(&value()?).map_err(|why| format!("{name}: {why}"))?);
                }
                "--generate" => generate = Some(value()?),
                "--launch" => call.launch = Some(template(value()?)?),
                "--check" => call.check = Some(template(value()?)?),
                "--benchmark" => benchmark = Some(value()?),
                "--judge" => {
                    benchmark = Some(value()?);
                    call.deprecations.push("'--judge' is deprecated; use '--benchmark'".to_owned());
                }
                "--machine" => machine = Some(value()?),
                "-j" | "--jobs" => call.jobs = number(name, &value()?, 4096)? as usize,
                "--timeout" => call.timeout = Duration::from_secs(number(name, &value()?, LONGEST)?),
                "-o" | "--output-file" => call.table = Some(value()?.into()),
                "--picture" => call.picture = Some(value()?.into()),
                "--dir" => call.directory = Some(value()?.into()),
                "--quiet" => call.is_quiet = true,
                _ => {
                    let (spec, is_whole) = of_compilation(name).ok_or_else(|| format!("unknown option '{word}'"))?;
                    if TAKEN.contains(&spec.name) {
                        return Err(format!("{name} cannot be given: the search sets it"));
                    }
                    let mut text = word.to_owned();
                    if inline.take().is_none() && is_whole && spec.value.is_required() {
                        text = format!("{word}={}", next().ok_or_else(|| format!("{name} needs a value"))?);
                    }
                    call.compile.push(template(text)?);
                }
            }
            if let Some(value) = inline {
                return Err(format!("{name} takes no value, got '{value}'"));
            }
        }
        call.source = match (generate, files.as_slice()) {
            (Some(command), []) => ProgramSource::Command(command),
            (None, [file]) => ProgramSource::File(file.clone()),
            (Some(_), _) => return Err("a program file and --generate exclude each other".to_owned()),
            (None, []) => return Err("no program: give a file or --generate".to_owned()),
            (None, [_, more, ..]) => {
                return Err(format!("unexpected argument '{}': the program is already given", more.display()));
            }
        };
        call.time_source = match (benchmark, machine) {
            (Some(_), Some(_)) => return Err("--machine is for predictions and excludes --benchmark".to_owned()),
            (Some(command), None) => TimeSource::Benchmark(command),
            (None, machine) => TimeSource::Predicted(machine),
        };
        if call.launch.is_none() && matches!(call.time_source, TimeSource::Predicted(_)) {
            return Err("no --launch: a prediction needs the grid and the arguments".to_owned());
        }
        Ok(call)
    }

    /// The shell commands of the call.
    fn commands(&self) -> impl Iterator<Item = &str> {
        let source = match &self.source {
            ProgramSource::Command(command) => Some(command.as_str()),
            ProgramSource::File(_) => None,
        };
        let benchmark = match &self.time_source {
            TimeSource::Benchmark(command) => Some(command.as_str()),
            TimeSource::Predicted(_) => None,
        };
        [source, benchmark].into_iter().flatten()
    }

    /// Checks that every name in a template is a parameter, and that every parameter is used.
    ///
    /// # Errors
    /// The first violation.
    pub fn check_names(&self, program: Option<&Template>) -> Result<(), String> {
        let holes = [&self.launch, &self.check].into_iter().flatten().chain(&self.compile).chain(program);
        let used: BTreeSet<&str> = holes.flat_map(Template::names).collect();
        let is_known = |name: &str| self.parameters.iter().any(|p| p.name == name);
        let mut asked = used.clone();
        self.conditions.iter().for_each(|c| c.names(&mut |name| _ = asked.insert(name)));
        if let Some(name) = asked.into_iter().find(|name| !is_known(name)) {
            return Err(format!("unknown parameter {name}: define it with --set {name}=..."));
        }
        for Parameter { name, .. } in &self.parameters {
            let in_commands = self.commands().any(|command| mentions(command, name));
            if !used.contains(name.as_str()) && !in_commands {
                return Err(format!("unused parameter {name}: nothing contains ${{{name}}}"));
            }
            if in_commands && std::env::var_os(name).is_some() {
                return Err(format!(
                    "the parameter {name} would hide the environment variable of that name from commands: rename it"
                ));
            }
        }
        Ok(())
    }
}

/// The compiler option that an argument names, and whether its value is not glued to it.
fn of_compilation(dashed: &str) -> Option<(&'static Spec, bool)> {
    let name = dashed.strip_prefix("--").or_else(|| dashed.strip_prefix('-'))?;
    let whole = SPECS.iter().find(|s| s.name == name).map(|s| (s, s.glue != Glue::Prefix));
    let glued = || SPECS.iter().find(|s| s.glue == Glue::Prefix && name.starts_with(s.name)).map(|s| (s, false));
    let (spec, is_whole) = whole.or_else(glued)?;
    let target = spec.alias_for.and_then(|target| SPECS.iter().find(|s| s.name == target));
    Some((target.unwrap_or(spec), is_whole))
}

fn number(name: &str, text: &str, most: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|n| (1..=most).contains(n));
    number.ok_or_else(|| format!("{name} must be a number from 1 to {most}, not '{text}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &[&str]) -> Result<Call, String> {
        Call::parse(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    fn compiled(words: &[&str]) -> Vec<String> {
        let call = call(words).unwrap();
        let point = super::super::space::Point(vec![("L".into(), "2".into())]);
        call.compile.iter().map(|t| t.fill(&point).unwrap()).collect()
    }

    #[test]
    fn arguments_are_told_apart() {
        let words = ["k.mlir", "--set", "TM=1,2", "--set=TN=3", "--launch", "--grid ${TM}", "-j3", "-o", "t.json"];
        let found = call(&words).unwrap();
        assert_eq!(found.source, ProgramSource::File("k.mlir".into()));
        assert_eq!(found.parameters.len(), 2);
        assert_eq!((found.jobs, found.table), (3, Some("t.json".into())));
        assert_eq!(found.time_source, TimeSource::Predicted(None));
        let found = call(&["--generate", "make $TM", "--benchmark=run $cubin", "--set", "TM=1"]).unwrap();
        assert_eq!(found.source, ProgramSource::Command("make $TM".into()));
        assert_eq!(found.time_source, TimeSource::Benchmark("run $cubin".into()));
        assert_eq!(found.deprecations, Vec::<String>::new());
    }

    #[test]
    fn the_old_name_of_benchmark_is_a_deprecated_alias() {
        for words in [&["k.mlir", "--judge", "run"][..], &["k.mlir", "--judge=run"]] {
            let found = call(words).unwrap();
            assert_eq!(found.time_source, TimeSource::Benchmark("run".into()));
            assert_eq!(found.deprecations, ["'--judge' is deprecated; use '--benchmark'"]);
        }
        assert!(!HELP.contains("--judge"));
    }

    #[test]
    fn options_of_a_compilation_keep_their_values() {
        let of = |words: &[&str]| compiled(&[&["k.mlir", "--launch", "x"], words].concat());
        assert_eq!(of(&["--gpu-name", "sm_90", "-O${L}"]), ["--gpu-name=sm_90", "-O2"]);
        assert_eq!(of(&["--opt-level=${L}", "--lineinfo"]), ["--opt-level=2", "--lineinfo"]);
        assert_eq!(of(&["--pipeline-option", "num-warps=${L*2}"]), ["--pipeline-option=num-warps=4"]);
        assert_eq!(of(&["--libdevice", "--cache-dir", "c"]), ["--libdevice", "--cache-dir=c"]);
    }

    #[test]
    fn wrong_arguments_are_said() {
        for (words, expected) in [
            (&[][..], "no program: give a file or --generate"),
            (&["a", "b"], "unexpected argument 'b': the program is already given"),
            (&["a", "--generate", "b"], "a program file and --generate exclude each other"),
            (&["a"], "no --launch: a prediction needs the grid and the arguments"),
            (&["a", "--benchmark", "b", "--machine", "c"], "--machine is for predictions and excludes --benchmark"),
            (&["a", "--set"], "--set needs a value"),
            (&["a", "--set", "T"], "--set: 'T' is not NAME=VALUE,..."),
            (&["a", "--set", "T=1", "--set", "T=1"], "T is set twice"),
            (&["a", "--set", "ptx=1"], "'ptx' is a variable of benchmark commands and cannot be a parameter"),
            (&["a", "--where", "1 +"], "--where: unexpected end of the expression"),
            (&["a", "--launch", "${"], "--launch: line 1: '${' without '}'"),
            (&["a", "-j0"], "-j must be a number from 1 to 4096, not '0'"),
            (&["a", "--jobs", "x"], "--jobs must be a number from 1 to 4096, not 'x'"),
            (&["a", "--timeout=0"], "--timeout must be a number from 1 to 1000000, not '0'"),
            (&["a", "--quiet=1"], "--quiet takes no value, got '1'"),
            (&["a", "--emit=ptx"], "--emit cannot be given: the search sets it"),
            (&["a", "--gpu-name"], "--gpu-name needs a value"),
            (&["a", "--no-such"], "unknown option '--no-such'"),
        ] {
            assert_eq!(call(words).unwrap_err(), expected, "{words:?}");
        }
    }

    #[test]
    fn names_are_known_and_used() {
        let check = |words: &[&str], program: &str| {
            let program = Template::parse(program).unwrap();
            call(&[&["k.mlir"], words].concat()).unwrap().check_names(Some(&program))
        };
        assert_eq!(check(&["--set", "A=1", "--launch", "x"], "${A}"), Ok(()));
        assert_eq!(check(&["--set", "A=1", "--benchmark", "run $A"], ""), Ok(()));
        let unknown = |name| Err(format!("unknown parameter {name}: define it with --set {name}=..."));
        assert_eq!(check(&["--launch", "${A}"], ""), unknown("A"));
        assert_eq!(check(&["--where", "B", "--launch", "x"], ""), unknown("B"));
        let unused = "unused parameter A: nothing contains ${A}";
        assert_eq!(check(&["--set", "A=1", "--where", "A", "--launch", "x"], ""), Err(unused.into()));
        let taken = "the parameter PATH would hide the environment variable of that name from commands: rename it";
        assert_eq!(check(&["--set", "PATH=1", "--benchmark", "run $PATH"], ""), Err(taken.into()));
    }

    /// The help describes every option.
    #[test]
    fn help_has_all_options() {
        let source = include_str!("call.rs");
        let arms = source.lines().map(str::trim).filter(|l| l.starts_with("\"-") && l.contains("=>"));
        let names: Vec<&str> = arms.flat_map(|l| l.split(" => ").next().unwrap_or_default().split(" | ")).collect();
        assert!(names.len() > 12, "{names:?}");
        // --output-file is the long form of -o that the compiler has, too. --judge is deprecated.
        for name in names.into_iter().map(|n| n.trim_matches('"')).filter(|n| !["--output-file", "--judge"].contains(n))
        {
            assert!(HELP.contains(&format!("{name} ")), "{name}");
        }
    }
}
