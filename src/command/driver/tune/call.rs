//! The command line of `tileiras tune`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::expression::Expression;
use super::space::{Parameter, Template, mentions};
use crate::cl::{Glue, Spec};
use crate::options::SPECS;

/// What follows the summary in `tileiras tune --help`.
pub const HELP: &str = "\
KERNEL is a program in text or bytecode. In text, in --launch and --check, and in options of the compilation, which may
all be given, ${NAME} is the value of a parameter and ${EXPRESSION} a whole number: + - * / %, comparisons, && || !,
ceil, floor, log2, min, max.

  tileiras tune k.mlir.in --gpu-name=sm_90 --set T=64:512:*2 --set WARPS=4,8 --pipeline-option=num-warps=${WARPS} \\
      --launch '--grid ${ceil(4096 / T)} zeros:f32:4096:ptr'

  --set NAME=LIST        a parameter: values with commas between them, of which each may be a range FROM:TO:STEP or
                         FROM:TO:*FACTOR; may be repeated
  --where EXPRESSION     only variants for which this is true; may be repeated
  --generate COMMAND     in place of KERNEL: prints the program; parameters that it names are variables for it
  --launch WORDS         how the kernel is launched, as for tile-run: --grid ${ceil(8192 / TM)} zeros:f32:8192
  --judge COMMAND        its last line of output is how long the variant takes; other than 0, its exit status says that
                         it cannot be used. For it, as variables: the parameters that it names, and program, ptx,
                         cubin, registers and launch. Without it, the time is predicted by tile-run
  --machine NAME         machine to predict for (that of --gpu-name)
  --check WORDS          run each variant in this launch as well, which needs real arrays, and compare what it writes
                         with what the reference interpreter computes
  -j N, --jobs N         processes at a time (one for each processor)
  --timeout SECONDS      for one process (600)
  -o FILE                the table, as JSON where the name ends in .json, else with tabs
  --picture FILE         the table as a picture, in SVG: a heat map of two parameters, bars of others
  --dir DIR              keep programs, PTX and cubins here, and do nothing again that was done for what is here
  --quiet                no progress

Variants whose programs are equal are compiled once, and equal PTX is judged once. A variant that fails is a row with the
reason. Exit status: 5 if none could be judged.";

/// Variables that a command gets beside the parameters.
pub const VARIABLES: [&str; 5] = ["program", "ptx", "cubin", "registers", "launch"];

/// Where programs come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    File(PathBuf),
    Command(String),
}

/// Who says how long a variant takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judge {
    /// For this machine, or that of the target.
    Predicted(Option<String>),
    Command(String),
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub source: Source,
    pub parameters: Vec<Parameter>,
    pub conditions: Vec<Expression>,
    /// Arguments of the compilation.
    pub compile: Vec<Template>,
    pub launch: Option<Template>,
    pub check: Option<Template>,
    pub judge: Judge,
    pub jobs: usize,
    /// Of one process.
    pub timeout: Duration,
    pub table: Option<PathBuf>,
    pub picture: Option<PathBuf>,
    pub directory: Option<PathBuf>,
    pub is_quiet: bool,
}

/// The longest time that is taken for one, in seconds.
const LONGEST: u64 = 1_000_000;

/// Options of a compilation that a search gives itself.
const TAKEN: [&str; 2] = ["emit", "resource-usage-file"];

impl Call {
    /// Reads the arguments behind the word.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(arguments: &[OsString]) -> Result<Call, String> {
        let mut call = Call {
            source: Source::File(PathBuf::new()),
            parameters: vec![],
            conditions: vec![],
            compile: vec![],
            launch: None,
            check: None,
            judge: Judge::Predicted(None),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            timeout: Duration::from_secs(600),
            table: None,
            picture: None,
            directory: None,
            is_quiet: false,
        };
        let (mut files, mut generate, mut judge, mut machine) = (vec![], None, None, None);
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
                        return Err(format!("'{}' is what commands find a file in, not a parameter", parameter.name));
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
                "--judge" => judge = Some(value()?),
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
                        return Err(format!("{name} is not for a search, which says it itself"));
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
            (Some(command), []) => Source::Command(command),
            (None, [file]) => Source::File(file.clone()),
            (Some(_), _) => return Err("there are a program and --generate: one of them".to_owned()),
            (None, []) => return Err("no program: a file, or --generate".to_owned()),
            (None, [_, more, ..]) => return Err(format!("'{}' is one file too many", more.display())),
        };
        call.judge = match (judge, machine) {
            (Some(_), Some(_)) => return Err("--machine is for predictions, and there is a --judge".to_owned()),
            (Some(command), None) => Judge::Command(command),
            (None, machine) => Judge::Predicted(machine),
        };
        if call.launch.is_none() && matches!(call.judge, Judge::Predicted(_)) {
            return Err("no --launch: a prediction needs the grid and the arguments".to_owned());
        }
        Ok(call)
    }

    /// The commands in it.
    fn commands(&self) -> impl Iterator<Item = &str> {
        let source = match &self.source {
            Source::Command(command) => Some(command.as_str()),
            Source::File(_) => None,
        };
        let judge = match &self.judge {
            Judge::Command(command) => Some(command.as_str()),
            Judge::Predicted(_) => None,
        };
        [source, judge].into_iter().flatten()
    }

    /// Whether every name has values, and every parameter is used, by the program or beside it.
    ///
    /// # Errors
    /// The first of which that is not so.
    pub fn check_names(&self, program: Option<&Template>) -> Result<(), String> {
        let holes = [&self.launch, &self.check].into_iter().flatten().chain(&self.compile).chain(program);
        let used: BTreeSet<&str> = holes.flat_map(Template::names).collect();
        let is_known = |name: &str| self.parameters.iter().any(|p| p.name == name);
        let mut asked = used.clone();
        self.conditions.iter().for_each(|c| c.names(&mut |name| _ = asked.insert(name)));
        if let Some(name) = asked.into_iter().find(|name| !is_known(name)) {
            return Err(format!("there is no parameter {name}: --set {name}=..."));
        }
        for Parameter { name, .. } in &self.parameters {
            let in_commands = self.commands().any(|command| mentions(command, name));
            if !used.contains(name.as_str()) && !in_commands {
                return Err(format!("nothing uses the parameter {name}: there is no ${{{name}}}"));
            }
            if in_commands && std::env::var_os(name).is_some() {
                return Err(format!(
                    "a command would not find its own variable {name}: give the parameter another name"
                ));
            }
        }
        Ok(())
    }
}

/// The option of a compilation that an argument names, and whether its value is not glued to it.
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
    number.ok_or_else(|| format!("{name} takes a number from 1 to {most}, not '{text}'"))
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
        assert_eq!(found.source, Source::File("k.mlir".into()));
        assert_eq!(found.parameters.len(), 2);
        assert_eq!((found.jobs, found.table), (3, Some("t.json".into())));
        assert_eq!(found.judge, Judge::Predicted(None));
        let found = call(&["--generate", "make $TM", "--judge=run $cubin", "--set", "TM=1"]).unwrap();
        assert_eq!(found.source, Source::Command("make $TM".into()));
        assert_eq!(found.judge, Judge::Command("run $cubin".into()));
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
            (&[][..], "no program: a file, or --generate"),
            (&["a", "b"], "'b' is one file too many"),
            (&["a", "--generate", "b"], "there are a program and --generate: one of them"),
            (&["a"], "no --launch: a prediction needs the grid and the arguments"),
            (&["a", "--judge", "b", "--machine", "c"], "--machine is for predictions, and there is a --judge"),
            (&["a", "--set"], "--set needs a value"),
            (&["a", "--set", "T"], "--set: 'T' is not NAME=VALUE,..."),
            (&["a", "--set", "T=1", "--set", "T=1"], "T is set twice"),
            (&["a", "--set", "ptx=1"], "'ptx' is what commands find a file in, not a parameter"),
            (&["a", "--where", "1 +"], "--where: it ends too early"),
            (&["a", "--launch", "${"], "--launch: line 1: '${' without '}'"),
            (&["a", "-j0"], "-j takes a number from 1 to 4096, not '0'"),
            (&["a", "--jobs", "x"], "--jobs takes a number from 1 to 4096, not 'x'"),
            (&["a", "--timeout=0"], "--timeout takes a number from 1 to 1000000, not '0'"),
            (&["a", "--quiet=1"], "--quiet takes no value, got '1'"),
            (&["a", "--emit=ptx"], "--emit is not for a search, which says it itself"),
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
        assert_eq!(check(&["--set", "A=1", "--judge", "run $A"], ""), Ok(()));
        assert_eq!(check(&["--launch", "${A}"], ""), Err("there is no parameter A: --set A=...".into()));
        assert_eq!(check(&["--where", "B", "--launch", "x"], ""), Err("there is no parameter B: --set B=...".into()));
        let unused = "nothing uses the parameter A: there is no ${A}";
        assert_eq!(check(&["--set", "A=1", "--where", "A", "--launch", "x"], ""), Err(unused.into()));
        let taken = "a command would not find its own variable PATH: give the parameter another name";
        assert_eq!(check(&["--set", "PATH=1", "--judge", "run $PATH"], ""), Err(taken.into()));
    }

    /// Every option that is read is explained.
    #[test]
    fn help_has_all_options() {
        let source = include_str!("call.rs");
        let arms = source.lines().map(str::trim).filter(|l| l.starts_with("\"-") && l.contains("=>"));
        let names: Vec<&str> = arms.flat_map(|l| l.split(" => ").next().unwrap_or_default().split(" | ")).collect();
        assert!(names.len() > 12, "{names:?}");
        // The long form of -o is that of a compilation.
        for name in names.into_iter().map(|n| n.trim_matches('"')).filter(|n| *n != "--output-file") {
            assert!(HELP.contains(&format!("{name} ")), "{name}");
        }
    }
}
