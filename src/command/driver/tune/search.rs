//! Runs a search.
//!
//! The work is done in rounds, without duplicates: generate the programs, compile the distinct ones, assemble the
//! distinct PTX, and time each distinct pair of PTX and launch. A variant that fails in a round is left out of later
//! ones, with its reason. Processes do the work, `jobs` at a time. Duplicates are detected by digests, so results do
//! not depend on the order in which processes finish.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tile_interface::{Emit, InputKind, input_kind};

use super::call::{Call, ProgramSource, TimeSource};
use super::space::{Point, Template, mentions};
use crate::options::{self, Options, SPECS};
use crate::progress::Progress;
use crate::ptxas::{self, Job};
use crate::resources::KernelResources;
use crate::toolchain::Surroundings;
use crate::{child, cl, io_text, output};

/// The programs that a search runs.
pub struct Tools {
    pub compiler: PathBuf,
    /// `tile-run`, and arguments to put before its own.
    pub simulator: (PathBuf, Vec<OsString>),
    /// The identity of this build, because another build may predict other times.
    pub identity: String,
    /// Whether ptxas was found.
    pub has_assembler: bool,
    pub surroundings: Surroundings,
}

/// A search and its directory.
pub struct Search<'a> {
    pub call: &'a Call,
    /// The program if it is text; otherwise `bytes` holds it.
    pub template: Option<Template>,
    pub bytes: Vec<u8>,
    pub tools: &'a Tools,
    pub directory: &'a Path,
    /// The machine to predict for.
    pub machine: String,
}

/// The result for a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub point: Point,
    /// Paths of the files relative to the directory, if they exist.
    pub program: Option<String>,
    pub image: Option<String>,
    /// The earlier row with the same PTX and launch.
    pub same_as: Option<usize>,
    pub resources: Option<KernelResources>,
    pub result: Result<Measurement, Failure>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// In microseconds if predicted; in the unit of the benchmark command otherwise.
    pub time: f64,
    pub prediction: Option<Prediction>,
    pub is_checked: bool,
}

/// The other results of `tile-run --timing`.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    pub clocks: f64,
    pub registers: u64,
    /// CTAs resident on an SM, and the resource that limits their number.
    pub resident: u64,
    pub limited_by: String,
    /// The busiest unit of the machine, and the fraction of time for which it is busy.
    pub busiest: String,
    pub busy: f64,
}

/// The reason why a variant has no time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub stage: Stage,
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Program,
    Compile,
    Assemble,
    Time,
    Check,
}

impl Stage {
    pub fn name(self) -> &'static str {
        match self {
            Stage::Program => "program",
            Stage::Compile => "compile",
            Stage::Assemble => "assemble",
            Stage::Time => "judge",
            Stage::Check => "check",
        }
    }

    /// The name in texts for people. Differs from the name in files for [`Stage::Time`], which files still call by its
    /// old name.
    pub fn label(self) -> &'static str {
        if self == Stage::Time { "timing" } else { self.name() }
    }

    fn failed(self, reason: impl Into<String>) -> Failure {
        Failure { stage: self, reason: reason.into() }
    }
}

/// The amount of work done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub programs: usize,
    pub images: usize,
    pub timings: usize,
}

/// A program with its compiler options.
struct Compilation {
    /// The digest of program and options.
    digest: String,
    file: String,
    arguments: Vec<String>,
    options: Options,
}

/// PTX, assembled if ptxas was found.
struct Image {
    file: String,
    cubin: Option<String>,
    resources: Vec<KernelResources>,
}

/// A launch of a PTX image.
struct Trial {
    digest: String,
    words: Vec<String>,
    image: String,
}

/// Options of `tile-run` that define a launch, and options that define a check.
const OF_LAUNCHES: [&str; 6] = ["--entry", "--grid", "--block", "--dynamic-shared", "--launch", "--max-time"];
const OF_CHECKS: [&str; 3] = ["--tolerance", "--adversarial", "--undefined"];

impl Search<'_> {
    /// Times all points. A failure of one does not stop the others.
    pub fn run(&self, points: &[Point]) -> (Vec<Row>, Counts) {
        let programs = self.each("tune: programs", points, |point| self.program(point));
        let unique = Unique::of(programs.iter().map(|p| p.as_ref().ok().map(|p| p.digest.as_str())));
        let compiled = self.each("tune: compile", &unique.firsts, |at| match &programs[*at] {
            Ok(program) => self.compile(program),
            Err(failure) => Err(failure.clone()),
        });
        // The digest of each point's PTX.
        let ptx: Vec<Option<&String>> =
            (0..points.len()).map(|i| unique.of_index(i).and_then(|n| compiled[n].as_ref().ok())).collect();
        let images = Unique::of(ptx.iter().map(|digest| digest.map(String::as_str)));
        let assembled = self.each("tune: assemble", &images.firsts, |at| match (&programs[*at], ptx[*at]) {
            (Ok(program), Some(digest)) => self.assemble(program, digest),
            _ => Err(Stage::Assemble.failed("there is no program")),
        });
        let image = |i: usize| images.of_index(i).map(|n| &assembled[n]);
        let trials: Vec<Option<Result<Trial, Failure>>> = (0..points.len())
            .map(|i| match image(i) {
                Some(Ok(image)) => Some(self.trial(&points[i], image)),
                _ => None,
            })
            .collect();
        let launches = Unique::of(trials.iter().map(|t| match t {
            Some(Ok(trial)) => Some(trial.digest.as_str()),
            _ => None,
        }));
        let measured =
            self.each("tune: timing", &launches.firsts, |at| match (&trials[*at], image(*at), &programs[*at]) {
                (Some(Ok(trial)), Some(Ok(image)), Ok(program)) => self.time(&points[*at], trial, image, program),
                _ => Err(Stage::Time.failed("there is no image")),
            });
        // Programs with equal PTX may still have different semantics, so each is checked.
        let launched = |i: usize| {
            let (launch, program) = (self.call.check.as_ref()?, programs[i].as_ref().ok()?);
            measured[launches.of_index(i)?].as_ref().ok()?;
            // A launch that cannot be filled in fails in the check.
            let words = launch.fill(&points[i]).unwrap_or_else(|why| format!("{i}: {why}"));
            Some(digest([program.digest.as_bytes(), words.as_bytes()]))
        };
        let launched: Vec<Option<String>> = (0..points.len()).map(launched).collect();
        let checks = Unique::of(launched.iter().map(Option::as_deref));
        let checked = self.each("tune: check", &checks.firsts, |at| match (&programs[*at], image(*at)) {
            (Ok(program), Some(Ok(image))) => self.check(&points[*at], program, image),
            _ => Err(Stage::Check.failed("there is no image")),
        });
        let counts =
            Counts { programs: unique.firsts.len(), images: images.firsts.len(), timings: launches.firsts.len() };
        let row = |i: usize| {
            let program = programs[i].as_ref();
            let resources = match image(i) {
                Some(Ok(image)) => self.resources(&points[i], image).cloned(),
                _ => None,
            };
            let result = program.map_err(Clone::clone).and_then(|_| {
                if let Some(Err(failure)) = unique.of_index(i).map(|n| &compiled[n]) {
                    return Err(failure.clone());
                }
                match (image(i), &trials[i]) {
                    (Some(Err(failure)), _) | (_, Some(Err(failure))) => return Err(failure.clone()),
                    _ => {}
                }
                let Some(n) = launches.of_index(i) else { return Err(Stage::Time.failed("there is no launch")) };
                let mut measured = measured[n].clone()?;
                if let Some(n) = checks.of_index(i) {
                    checked[n].clone()?;
                    measured.is_checked = true;
                }
                Ok(measured)
            });
            Row {
                point: points[i].clone(),
                program: program.ok().map(|p| p.file.clone()),
                image: ptx[i].map(|digest| image_file(digest)),
                same_as: launches.of_index(i).map(|n| launches.firsts[n]).filter(|first| *first != i),
                resources,
                result,
            }
        };
        ((0..points.len()).map(row).collect(), counts)
    }

    /// Applies `work` to all items, `jobs` at a time.
    fn each<T: Sync, R: Send>(&self, what: &str, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let progress = Progress::start(what, items.len() as u64, !self.call.is_quiet);
        let next = AtomicUsize::new(0);
        let worker = || {
            let mut done = vec![];
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else { return done };
                done.push((at, work(item)));
                progress.advance("");
            }
        };
        let mut all = std::thread::scope(|threads| {
            let workers: Vec<_> = (0..self.call.jobs.min(items.len())).map(|_| threads.spawn(worker)).collect();
            let done = workers.into_iter().map(|w| w.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            done.flatten().collect::<Vec<_>>()
        });
        all.sort_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, result)| result).collect()
    }

    /// Runs a process to completion. `Err` is its first error.
    fn finish(&self, command: Command) -> Result<(), String> {
        let done = child::run(command, &[], Some(self.call.timeout)).map_err(|e| io_text(&e))?;
        if done.timed_out {
            return Err(format!("not finished after {} s", self.call.timeout.as_secs()));
        }
        if done.status.success() {
            return Ok(());
        }
        Err(first_error(&String::from_utf8_lossy(&done.output)).unwrap_or_else(|| done.status.to_string()))
    }

    /// Runs a shell command of the user. Returns its standard output.
    fn shell(
        &self,
        text: &str,
        point: &Point,
        variables: &[(&str, OsString)],
        answer: &str,
    ) -> Result<Vec<u8>, String> {
        let answer = self.directory.join(answer);
        let mut command = Command::new("/bin/sh");
        // Redirect standard output to a file, to separate it from standard error.
        command.args(["-c", &format!("exec > \"$0\"\n{text}")]).arg(&answer);
        command.envs(point.0.iter().filter(|(name, _)| mentions(text, name)).map(|(name, value)| (name, value)));
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let finished = self.finish(command);
        let printed = std::fs::read(&answer);
        // Leftovers are in a directory for temporary files.
        let _ = std::fs::remove_file(&answer);
        finished?;
        printed.map_err(|e| io_text(&e))
    }

    fn keep(&self, file: &str, bytes: &[u8]) -> Result<(), String> {
        output::write(&self.directory.join(file), bytes, &mut std::io::sink()).map_err(|e| e.to_string())
    }

    fn program(&self, point: &Point) -> Result<Compilation, Failure> {
        let failed = |why: String| Stage::Program.failed(why);
        let bytes = match (&self.call.source, &self.template) {
            (ProgramSource::Command(command), _) => {
                let answer = format!("answer-{}", digest([point.joined().as_bytes()]));
                let printed = self.shell(command, point, &[], &answer).map_err(failed)?;
                if printed.is_empty() {
                    return Err(failed("the command printed nothing".to_owned()));
                }
                printed
            }
            (ProgramSource::File(_), Some(template)) => template.fill(point).map_err(failed)?.into_bytes(),
            (ProgramSource::File(_), None) => self.bytes.clone(),
        };
        let mut arguments = vec![];
        for template in &self.call.compile {
            arguments.push(template.fill(point).map_err(failed)?);
        }
        let options = parsed(&arguments).map_err(|why| Stage::Compile.failed(why))?;
        let extended = format!("--pipeline-option={}=true", ptxas::EXTENDED_SMEM);
        let is_said = arguments.iter().any(|a| a.contains(&format!("={}=", ptxas::EXTENDED_SMEM)));
        if ptxas::extends_shared(options.target, Emit::Cubin) && !is_said {
            arguments.push(extended);
        }
        let fields = std::iter::once(bytes.as_slice()).chain(arguments.iter().map(String::as_bytes));
        let digest = digest(fields);
        let ending = match input_kind(Path::new("program"), &bytes) {
            Ok(InputKind::PublicBytecode | InputKind::SpecBytecode) => "tileirbc",
            Ok(InputKind::LlvmIr) => "ll",
            _ => "mlir",
        };
        let file = format!("programs/{digest}.{ending}");
        self.keep(&file, &bytes).map_err(failed)?;
        Ok(Compilation { digest, file, arguments, options })
    }

    /// Compiles to PTX. Returns the digest of the PTX, which is also the name of its file.
    fn compile(&self, program: &Compilation) -> Result<String, Failure> {
        let failed = |why: String| Stage::Compile.failed(why);
        let (input, to) = (self.directory.join(&program.file), format!("ptx/{}.part", program.digest));
        let made = self.directory.join(&to);
        let mut command = Command::new(&self.tools.compiler);
        command.args(&program.arguments).arg("--emit=ptx");
        if self.call.directory.is_some() && program.options.cache_dir.is_none() {
            command.arg("--cache-dir").arg(self.directory.join("cache"));
        }
        command.arg("-o").arg(&made).arg("--").arg(&input);
        self.finish(command).map_err(|why| failed(why.replace(&*input.to_string_lossy(), "program")))?;
        let ptx = std::fs::read(&made).map_err(|e| failed(io_text(&e)))?;
        let digest = digest([ptx.as_slice()]);
        std::fs::rename(&made, self.directory.join(image_file(&digest))).map_err(|e| failed(io_text(&e)))?;
        Ok(digest)
    }

    /// The remarks on a variant: what the compiler chose and missed. Empty if it cannot be compiled again.
    pub fn remarks(&self, point: &Point) -> Vec<String> {
        let Ok(program) = self.program(point) else { return vec![] };
        let input = self.directory.join(&program.file);
        let made = self.directory.join(format!("ptx/{}.part", program.digest));
        let mut command = Command::new(&self.tools.compiler);
        command.args(&program.arguments).args(["--emit=ptx", "--remarks=all", "-o"]).arg(&made).arg("--").arg(&input);
        let done = child::run(command, &[], Some(self.call.timeout));
        // Leftovers are in a directory for temporary files.
        let _ = std::fs::remove_file(&made);
        let said = done.map(|done| String::from_utf8_lossy(&done.output).replace(&*input.to_string_lossy(), "program"));
        let is_remark = |line: &&str| line.contains("remark: ") || line.contains(": note: ");
        said.unwrap_or_default().lines().filter(is_remark).map(str::to_owned).collect()
    }

    fn assemble(&self, program: &Compilation, digest: &str) -> Result<Image, Failure> {
        let failed = |why: String| Stage::Assemble.failed(why);
        let file = image_file(digest);
        if !self.tools.has_assembler {
            return Ok(Image { file, cubin: None, resources: vec![] });
        }
        let ptx = std::fs::read_to_string(self.directory.join(&file)).map_err(|e| failed(io_text(&e)))?;
        let options = &program.options;
        let job = Job {
            ptx: &ptx,
            target: options.target,
            // The compilation has already rejected invalid levels.
            opt_level: u8::try_from(options.opt_level).unwrap_or(3),
            debug: options.debug(),
            extended_shared: ptxas::extends_shared(options.target, Emit::Cubin),
            sanitize: options.sanitize,
            extra: &options.ptxas.extra,
            timeout: Some(self.call.timeout),
            scratch: self.directory,
            statistics: true,
        };
        let (_, result) = ptxas::assemble(&job, options.ptxas.path.as_deref(), &self.tools.surroundings);
        let cubin = result.map_err(|e| {
            let said = first_error(&String::from_utf8_lossy(e.messages()));
            failed(said.map_or_else(|| e.to_string(), |said| format!("ptxas: {said}")))
        })?;
        let name = format!("cubin/{digest}.cubin");
        self.keep(&name, &cubin.image).map_err(failed)?;
        Ok(Image { file, cubin: Some(name), resources: cubin.resources })
    }

    fn trial(&self, point: &Point, image: &Image) -> Result<Trial, Failure> {
        let failed = |why: String| Stage::Time.failed(why);
        let words = match &self.call.launch {
            Some(launch) => words(launch, point, &OF_LAUNCHES).map_err(failed)?,
            None => vec![],
        };
        let mut fields: Vec<Vec<u8>> = vec![image.file.clone().into_bytes()];
        fields.extend(words.iter().map(|w| w.clone().into_bytes()));
        match &self.call.time_source {
            // The contents of an array file may change under the same name.
            TimeSource::Predicted(_) => fields.extend(words.iter().map(|w| contents_of(w))),
            TimeSource::Benchmark(text) => {
                let seen = point.0.iter().filter(|(name, _)| mentions(text, name));
                fields.extend(seen.map(|(name, value)| format!("{name}={value}").into_bytes()));
            }
        }
        let registers = self.resources(point, image).map_or(0, |r| r.registers);
        for field in [&self.machine, &self.tools.identity, &registers.to_string()] {
            fields.push(field.clone().into_bytes());
        }
        let digest = digest(fields.iter().map(Vec::as_slice));
        Ok(Trial { digest, words, image: image.file.clone() })
    }

    /// The resources of the launched kernel.
    fn resources<'i>(&self, point: &Point, image: &'i Image) -> Option<&'i KernelResources> {
        let words = self.call.launch.as_ref().and_then(|launch| words(launch, point, &OF_LAUNCHES).ok());
        let words = words.unwrap_or_default();
        let entry = words.iter().enumerate().find_map(|(i, word)| match word.strip_prefix("--entry")? {
            "" => words.get(i + 1).map(String::as_str),
            glued => glued.strip_prefix('='),
        });
        match (entry, image.resources.as_slice()) {
            (Some(name), all) => all.iter().find(|r| r.name == name),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }

    fn time(&self, point: &Point, trial: &Trial, image: &Image, program: &Compilation) -> Result<Measurement, Failure> {
        let failed = |why: String| Stage::Time.failed(why);
        let registers = self.resources(point, image).map(|r| r.registers);
        match &self.call.time_source {
            TimeSource::Predicted(_) => {
                let told = self.predict(trial, registers).map_err(failed)?;
                let (time, prediction) =
                    prediction(&told).ok_or_else(|| failed("tile-run reported no time".to_owned()))?;
                Ok(Measurement { time, prediction: Some(prediction), is_checked: false })
            }
            TimeSource::Benchmark(text) => {
                let path = |file: &str| self.directory.join(file).into_os_string();
                let mut variables = vec![("program", path(&program.file)), ("ptx", path(&image.file))];
                variables.extend(image.cubin.as_deref().map(|file| ("cubin", path(file))));
                variables.extend(registers.map(|n| ("registers", n.to_string().into())));
                variables.push(("launch", trial.words.join(" ").into()));
                let answer = format!("answer-{}", trial.digest);
                let printed = self.shell(text, point, &variables, &answer).map_err(failed)?;
                let time = last_number(&String::from_utf8_lossy(&printed)).map_err(failed)?;
                Ok(Measurement { time, prediction: None, is_checked: false })
            }
        }
    }

    /// The report of `tile-run --timing` on a launch, possibly from an earlier run.
    fn predict(&self, trial: &Trial, registers: Option<u32>) -> Result<Value, String> {
        let kept = format!("judged/{}.json", trial.digest);
        let before = std::fs::read(self.directory.join(&kept)).ok();
        if let Some(told) = before.and_then(|text| serde_json::from_slice::<Value>(&text).ok())
            && prediction(&told).is_some()
        {
            return Ok(told);
        }
        let report = self.directory.join(format!("judged/{}.part", trial.digest));
        let mut command = self.simulator();
        command.arg(format!("--timing={}", self.machine)).arg("--timing-json").arg(&report);
        if let Some(registers) = registers {
            command.args(["--registers", &registers.to_string()]);
        }
        command.arg(self.directory.join(&trial.image)).args(&trial.words);
        self.finish(command)?;
        let told = std::fs::read(&report).map_err(|e| io_text(&e))?;
        // Leftovers are in a directory for temporary files.
        let _ = std::fs::remove_file(&report);
        let mut told: Value = serde_json::from_slice(&told).map_err(|e| e.to_string())?;
        if let Some(fields) = told.as_object_mut() {
            // Per-instruction data are not part of the result.
            for long in ["lines", "sources", "agents"] {
                fields.remove(long);
            }
        }
        self.keep(&kept, told.to_string().as_bytes())?;
        Ok(told)
    }

    /// Runs a variant and compares its output with the reference interpreter's.
    fn check(&self, point: &Point, program: &Compilation, image: &Image) -> Result<(), Failure> {
        let failed = |why: String| Stage::Check.failed(why);
        let Some(launch) = &self.call.check else { return Ok(()) };
        let allowed: Vec<&str> = OF_LAUNCHES.into_iter().chain(OF_CHECKS).collect();
        let words = words(launch, point, &allowed).map_err(failed)?;
        let mut command = self.simulator();
        command.arg("--check-against").arg(self.directory.join(&program.file));
        command.arg(self.directory.join(&image.file)).args(words);
        self.finish(command).map_err(failed)
    }

    fn simulator(&self) -> Command {
        let (program, first) = &self.tools.simulator;
        let mut command = Command::new(program);
        command.args(first).args(["--quiet", "--end-with-parent"]);
        command
    }
}

/// Groups items by digest.
struct Unique {
    /// The index of the first item of each group, in order.
    firsts: Vec<usize>,
    /// For each item, the index of its group.
    places: Vec<Option<usize>>,
}

impl Unique {
    fn of<'d>(digests: impl Iterator<Item = Option<&'d str>>) -> Unique {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        let mut unique = Unique { firsts: vec![], places: vec![] };
        for (at, digest) in digests.enumerate() {
            let place = digest.map(|digest| {
                *known.entry(digest).or_insert_with(|| {
                    unique.firsts.push(at);
                    unique.firsts.len() - 1
                })
            });
            unique.places.push(place);
        }
        unique
    }

    fn of_index(&self, at: usize) -> Option<usize> {
        self.places.get(at).copied().flatten()
    }
}

fn image_file(digest: &str) -> String {
    format!("ptx/{digest}.ptx")
}

/// Parses compiler options.
fn parsed(arguments: &[String]) -> Result<Options, String> {
    let all: Vec<OsString> =
        ["tileiras", "program"].into_iter().chain(arguments.iter().map(String::as_str)).map(OsString::from).collect();
    let parsed = cl::parse(SPECS, &all, 1);
    match (parsed.errors.first(), parsed.action) {
        (Some(error), _) => Err(error.strip_prefix("tileiras: ").unwrap_or(error).to_owned()),
        (None, Some(action)) => Err(format!("--{action} cannot be used in a search")),
        (None, None) => Ok(options::options(&parsed, "program".into())),
    }
}

/// Splits a launch into words.
fn words(launch: &Template, point: &Point, allowed: &[&str]) -> Result<Vec<String>, String> {
    let text = launch.fill(point)?;
    let words = shlex::split(&text).ok_or("the launch contains an unclosed quote")?;
    let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    match words.iter().find(|w| w.starts_with("--") && !allowed.contains(&name(w).as_str())) {
        Some(word) => Err(format!("'{word}' is not an option of a launch")),
        None => Ok(words),
    }
}

/// The digest of the file that a word of a launch names; empty if it names none.
fn contents_of(word: &str) -> Vec<u8> {
    let file = word.split(':').next().unwrap_or_default();
    std::fs::read(file).map(|bytes| digest([bytes.as_slice()]).into_bytes()).unwrap_or_default()
}

/// The first half of the SHA-256 of fields, in hexadecimal.
fn digest<'b>(fields: impl IntoIterator<Item = &'b [u8]>) -> String {
    let mut hash = Sha256::new();
    for field in fields {
        hash.update((field.len() as u64).to_le_bytes());
        hash.update(field);
    }
    hash.finalize().iter().take(16).map(|b| format!("{b:02x}")).collect()
}

/// The first error among messages, or the last message.
fn first_error(text: &str) -> Option<String> {
    const LONGEST: usize = 300;
    let text = tile_diag::render::escape_control(text);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| line.contains("error:")).or_else(|| lines().next_back())?;
    let line = line.strip_prefix("error: ").unwrap_or(line);
    Some(line.chars().take(LONGEST).collect())
}

/// Parses the last nonempty line as a number.
fn last_number(text: &str) -> Result<f64, String> {
    let last =
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).ok_or("the benchmark command printed nothing")?;
    let number = last.parse::<f64>().ok().filter(|n| n.is_finite());
    number.ok_or_else(|| {
        format!("the benchmark command's last line is not a number: {}", tile_diag::render::escape_control(last))
    })
}

/// Extracts the time and the prediction from the output of `tile-run --timing-json`.
fn prediction(told: &Value) -> Option<(f64, Prediction)> {
    let (busiest, busy) = told["busy"]
        .as_object()?
        .iter()
        .filter_map(|(name, share)| Some((name.clone(), share.as_f64()?)))
        .fold((String::new(), -1.0), |most, next| if next.1 > most.1 { next } else { most });
    let prediction = Prediction {
        clocks: told["clocks"].as_f64()?,
        registers: told["registers"].as_u64()?,
        resident: told["resident"].as_u64()?,
        limited_by: told["limited_by"].as_str()?.to_owned(),
        busiest,
        busy,
    };
    Some((told["us"].as_f64()?, prediction))
}

/// A prediction as JSON.
pub fn prediction_json(p: &Prediction) -> Value {
    json!({
        "clocks": p.clocks, "registers": p.registers, "resident": p.resident, "limited_by": p.limited_by,
        "busiest": p.busiest, "busy": p.busy,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_are_stored_once() {
        let unique = Unique::of([Some("a"), None, Some("b"), Some("a")].into_iter());
        assert_eq!(unique.firsts, [0, 2]);
        assert_eq!((0..5).map(|i| unique.of_index(i)).collect::<Vec<_>>(), [Some(0), None, Some(1), Some(0), None]);
    }

    #[test]
    fn digests_separate_fields() {
        assert_ne!(digest([&b"ab"[..], b"c"]), digest([&b"a"[..], b"bc"]));
        assert_eq!(digest([&b"ab"[..]]).len(), 32);
    }

    #[test]
    fn the_first_error_is_the_reason() {
        let said = "warning: w\nk.mlir:3:1: error: bad tile [T0301]\nerror: failed\n";
        assert_eq!(first_error(said).as_deref(), Some("k.mlir:3:1: error: bad tile [T0301]"));
        assert_eq!(first_error("error: x").as_deref(), Some("x"));
        assert_eq!(first_error("one\n\ntwo\n\n").as_deref(), Some("two"));
        assert_eq!(first_error(" \n"), None);
    }

    #[test]
    fn benchmarks_end_with_a_number() {
        assert_eq!(last_number("warm\n 12.5 \n\n"), Ok(12.5));
        assert_eq!(last_number(""), Err("the benchmark command printed nothing".into()));
        assert_eq!(last_number("1\nfast"), Err("the benchmark command's last line is not a number: fast".into()));
        assert!(last_number("inf").is_err() && last_number("nan").is_err());
    }

    #[test]
    fn options_of_launches() {
        let point = Point(vec![("T".into(), "64".into())]);
        let of = |text: &str| words(&Template::parse(text).unwrap(), &point, &OF_LAUNCHES);
        assert_eq!(of("--grid ${8192 / T} 'my x.npy' i32:-1").unwrap(), ["--grid", "128", "my x.npy", "i32:-1"]);
        assert_eq!(of("--grid=1 --entry f").unwrap().len(), 3);
        assert_eq!(of("--save-ptx x"), Err("'--save-ptx' is not an option of a launch".into()));
        assert_eq!(of("'x"), Err("the launch contains an unclosed quote".into()));
    }

    #[test]
    fn reports_are_read() {
        let told = json!({
            "us": 2.5, "clocks": 99.0, "registers": 32, "resident": 4, "limited_by": "warps",
            "busy": {"L2": 0.25, "memory": 0.75, "alu": 0.5},
        });
        let (time, found) = prediction(&told).unwrap();
        assert_eq!((time, found.busiest.as_str(), found.busy), (2.5, "memory", 0.75));
        assert_eq!(prediction(&json!({"us": 1.0})), None);
    }
}
