//! The corpus of bytecode files: lists its programs and the expected state of each, and runs them.
//!
//! A program is an entry of a file, named by entry and version: `vadd_f32.13.1`. Its inputs and expected results come
//! from `tests/corpus/cases*.py`, which `scripts/corpus_cases.py` runs with Python and NumPy. They are written under
//! `target/`, and again whenever one of the scripts changes.
//!
//! `tests/corpus/supported.txt` lists the programs that work, one per line. `tests/corpus/pending.txt` lists the
//! others: program, targets (`all`, or a comma-separated list), reason. A program that works on some targets only is
//! in both lists. Every program must be in a list, and lists must not contain other names: see [`Lists::check`].

pub use crate::start::TileRun;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// An entry of a corpus file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    pub file: PathBuf,
    /// The entry, which is also the name of the case.
    pub entry: String,
}

impl Program {
    /// Whether the reader supports the bytecode's version, which must be at most 13.5.
    pub fn is_readable(&self) -> bool {
        let version = self.name.split_once('.').and_then(|(_, v)| v.split_once('.'));
        version.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?))) <= Some((13u32, 5u32))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path}: {message}")]
    File { path: String, message: String },
    #[error("cannot run python3, which writes the corpus cases: {0}")]
    Python(std::io::Error),
    #[error("scripts/corpus_cases.py failed:\n{0}")]
    Script(String),
}

fn file_error(path: &Path, message: impl std::fmt::Display) -> Error {
    Error::File { path: path.display().to_string(), message: message.to_string() }
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|e| file_error(path, e))
}

/// All programs of the corpus, in index order. `root` is the repository.
pub fn programs(root: &Path) -> Result<Vec<Program>, Error> {
    let folder = root.join("tests/corpus");
    let path = folder.join("index.json");
    let index: Value = serde_json::from_str(&read(&path)?).map_err(|e| file_error(&path, e))?;
    let text = |v: &Value, key: &str| {
        v[key].as_str().map(str::to_string).ok_or_else(|| file_error(&path, format!("an entry lacks '{key}'")))
    };
    let mut programs = vec![];
    for file in index["files"].as_array().into_iter().flatten() {
        for entry in file["entries"].as_array().into_iter().flatten() {
            let entry = text(entry, "symbol")?;
            let name = format!("{entry}.{}", text(file, "version")?);
            programs.push(Program { name, file: folder.join(text(file, "file")?), entry });
        }
    }
    Ok(programs)
}

/// The targets on which a program is not expected to work, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// `None` for all targets.
    pub targets: Option<Vec<String>>,
    pub reason: String,
}

/// The expected state of the corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    pub supported: BTreeSet<String>,
    pub pending: BTreeMap<String, Pending>,
}

impl Lists {
    pub fn read(root: &Path) -> Result<Lists, Error> {
        let folder = root.join("tests/corpus");
        let path = folder.join("pending.txt");
        Lists::parse(&read(&folder.join("supported.txt"))?, &read(&path)?).map_err(|e| file_error(&path, e))
    }

    /// Writes both files, sorted by name.
    pub fn write(&self, root: &Path) -> Result<(), Error> {
        let (supported, pending) = self.print();
        for (name, text) in [("supported.txt", supported), ("pending.txt", pending)] {
            let path = root.join("tests/corpus").join(name);
            fs::write(&path, text).map_err(|e| file_error(&path, e))?;
        }
        Ok(())
    }

    fn print(&self) -> (String, String) {
        let mut supported = String::from("# Programs of the corpus that work.\n");
        for name in &self.supported {
            supported += &format!("{name}\n");
        }
        let mut pending = String::from("# Programs of the corpus that do not work yet: program, targets, reason.\n");
        for (name, Pending { targets, reason }) in &self.pending {
            let targets = targets.as_ref().map_or("all".into(), |t| t.join(","));
            pending += &format!("{name} {targets} {reason}\n");
        }
        (supported, pending)
    }

    fn parse(supported: &str, pending: &str) -> Result<Lists, String> {
        let lines = |text: &'_ str| -> Vec<String> {
            text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).map(String::from).collect()
        };
        let mut lists = Lists { supported: lines(supported).into_iter().collect(), ..Lists::default() };
        for line in lines(pending) {
            let mut words = line.splitn(3, char::is_whitespace);
            let (Some(name), Some(targets), Some(reason)) = (words.next(), words.next(), words.next()) else {
                return Err(format!("'{line}' does not have the form: program, targets, reason"));
            };
            let targets = (targets != "all").then(|| targets.split(',').map(String::from).collect());
            let entry = Pending { targets, reason: reason.trim().into() };
            if lists.pending.insert(name.into(), entry).is_some() {
                return Err(format!("{name} is listed twice"));
            }
        }
        Ok(lists)
    }

    /// The reason for which a program is not expected to work on a target, if there is one.
    pub fn pending_on(&self, program: &str, target: &str) -> Option<&str> {
        let pending = self.pending.get(program)?;
        let here = pending.targets.as_ref().is_none_or(|t| t.iter().any(|t| t == target));
        here.then_some(pending.reason.as_str())
    }

    /// Returns the errors in the lists: a program in neither list, an unknown program, a program in both lists for
    /// all targets, a case without a program, or a program without a case.
    pub fn check(&self, programs: &[Program], cases: &BTreeSet<String>) -> Vec<String> {
        let mut wrong = vec![];
        let names: BTreeSet<&str> = programs.iter().map(|p| p.name.as_str()).collect();
        for p in &names {
            let everywhere = self.pending.get(*p).map(|x| x.targets.is_none());
            match (self.supported.contains(*p), everywhere) {
                (false, None) => wrong.push(format!("{p} is neither in supported.txt nor in pending.txt")),
                (false, Some(false)) => wrong.push(format!("{p} is pending on some targets but not in supported.txt")),
                (true, Some(true)) => wrong.push(format!("{p} is in supported.txt and pending on all targets")),
                _ => {}
            }
        }
        for listed in self.supported.iter().chain(self.pending.keys()) {
            if !names.contains(listed.as_str()) {
                wrong.push(format!("{listed} is listed but is not a program of the corpus"));
            }
        }
        for p in programs {
            if !cases.contains(&p.entry) {
                wrong.push(format!("{} has no case in cases.py", p.name));
            }
        }
        for case in cases {
            if !programs.iter().any(|p| p.entry == *case) {
                wrong.push(format!("case {case} has no program in index.json"));
            }
        }
        wrong
    }
}

/// Writes the cases under `target` unless they exist. Returns their folder. Concurrent processes wait for each other.
pub fn cases(root: &Path, target: &Path) -> Result<PathBuf, Error> {
    let mut hasher = DefaultHasher::new();
    read(&root.join("scripts/corpus_cases.py"))?.hash(&mut hasher);
    for script in case_files(&root.join("tests/corpus"))? {
        read(&script)?.hash(&mut hasher);
    }
    let all = target.join("corpus-cases");
    let folder = all.join(format!("{:016x}", hasher.finish()));
    if folder.is_dir() {
        return Ok(folder);
    }
    fs::create_dir_all(&all).map_err(|e| file_error(&all, e))?;
    let path = all.join("lock");
    let lock = File::create(&path).map_err(|e| file_error(&path, e))?;
    lock.lock().map_err(|e| file_error(&path, e))?;
    if folder.is_dir() {
        return Ok(folder);
    }
    // Remove cases of older scripts or of an interrupted run.
    for entry in fs::read_dir(&all).map_err(|e| file_error(&all, e))?.flatten() {
        if entry.path().is_dir() {
            fs::remove_dir_all(entry.path()).map_err(|e| file_error(&entry.path(), e))?;
        }
    }
    let partial = all.join("partial");
    let output = Command::new("python3")
        .arg(root.join("scripts/corpus_cases.py"))
        .arg(&partial)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::Python)?;
    if !output.status.success() {
        return Err(Error::Script(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    fs::rename(&partial, &folder).map_err(|e| file_error(&folder, e))?;
    Ok(folder)
}

/// `cases.py` and the files that it runs at its end, `cases_*.py`, in order.
fn case_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = vec![];
    for entry in fs::read_dir(folder).map_err(|e| file_error(folder, e))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("cases") && name.ends_with(".py") {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Names of the cases in a folder of [`cases`].
pub fn case_names(folder: &Path) -> Result<BTreeSet<String>, Error> {
    let entries = fs::read_dir(folder).map_err(|e| file_error(folder, e))?;
    Ok(entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
}

/// One run of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub program: Program,
    pub engine: Engine,
}

/// The engine that runs a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Compiled for a target at a level, on schedules in the syntax of `tile-run --adversarial`.
    Simulator {
        target: String,
        level: u8,
        schedules: String,
    },
    Reference,
    /// Compiled for a target with an increasing number of optional passes.
    Each {
        target: String,
    },
}

/// Called after each run with its number, its result and its duration.
pub type Done<'a> = dyn FnMut(usize, &Result<(), String>, Duration) + Send + 'a;

/// Runs programs.
#[derive(Clone, Debug)]
pub struct Runner {
    pub tile_run: TileRun,
    /// The folder of [`cases`].
    pub cases: PathBuf,
    /// A program that takes longer has failed.
    pub limit: Duration,
    /// The folder for output arrays. They come from the last schedule.
    pub out_dir: Option<PathBuf>,
    /// Further options of `tile-run`.
    pub options: Vec<String>,
}

impl Runner {
    /// Runs one job to its end. `Err` holds the command's output.
    pub fn run(&self, job: &Job) -> Result<(), String> {
        let mut arguments: Vec<OsString> = vec![];
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
        match &job.engine {
            Engine::Simulator { target, level, schedules } => {
                add(&["--gpu-name", target, "-O", &level.to_string(), "--strict", "--adversarial", schedules]);
            }
            Engine::Reference => add(&["--engine", "reference"]),
            Engine::Each { target } => add(&["--check-each", "--gpu-name", target]),
        }
        arguments.extend(self.options.iter().map(OsString::from));
        if let Some(folder) = &self.out_dir {
            arguments.extend(["--out-dir".into(), folder.into()]);
        }
        let launch = self.cases.join(&job.program.entry).join("launch.json");
        arguments.extend(["--launch".into(), launch.into(), job.program.file.clone().into()]);
        self.tile_run.run(arguments, Some(self.limit))
    }

    /// Runs jobs, `parallel` at a time, and calls `done` after each.
    pub fn run_all(&self, jobs: &[Job], parallel: usize, done: &mut Done<'_>) {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(done);
        thread::scope(|scope| {
            for _ in 0..parallel.clamp(1, jobs.len().max(1)) {
                scope.spawn(|| {
                    while let Some((n, job)) =
                        Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, jobs.get(n)?)))
                    {
                        let started = Instant::now();
                        let result = self.run(job);
                        let mut done = done.lock().unwrap_or_else(|e| e.into_inner());
                        done(n, &result, started.elapsed());
                    }
                });
            }
        });
    }
}

/// The first error line of a command's output, for a table.
pub fn first_error(said: &str) -> &str {
    let mut lines = said.lines().filter(|l| !l.trim().is_empty());
    let error = lines.clone().find_map(|l| l.split_once("error: ").map(|(_, message)| message));
    error.or_else(|| lines.next()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &str) -> Program {
        let entry = name.split_once('.').unwrap().0.to_string();
        Program { name: name.into(), file: PathBuf::new(), entry }
    }

    #[test]
    fn lists_are_complete_and_exact() {
        let programs = [program("a.1"), program("b.1"), program("c.1")];
        let cases: BTreeSet<String> = ["a", "b", "c"].map(String::from).into();
        let check = |supported: &str, pending: &str| Lists::parse(supported, pending).unwrap().check(&programs, &cases);
        assert_eq!(check("a.1\n# note\nb.1", "c.1 all why not"), Vec::<String>::new());
        assert_eq!(check("a.1\nb.1\nc.1", "c.1 sm_80,sm_90 why not"), Vec::<String>::new());
        assert_eq!(check("a.1\nb.1", ""), ["c.1 is neither in supported.txt nor in pending.txt"]);
        assert_eq!(check("a.1\nb.1", "c.1 sm_80 x"), ["c.1 is pending on some targets but not in supported.txt"]);
        assert_eq!(check("a.1\nb.1\nc.1", "c.1 all x"), ["c.1 is in supported.txt and pending on all targets"]);
        assert_eq!(check("a.1\nb.1\nc.1\nd.1", ""), ["d.1 is listed but is not a program of the corpus"]);
        let lists = Lists::parse("a.1\nb.1\nc.1", "").unwrap();
        assert_eq!(lists.check(&programs, &["a", "b"].map(String::from).into()), ["c.1 has no case in cases.py"]);
        assert_eq!(
            lists.check(&programs, &["a", "b", "c", "d"].map(String::from).into()),
            ["case d has no program in index.json"]
        );
        assert!(Lists::parse("", "a.1 all").is_err());
        assert!(Lists::parse("", "a.1 all x\na.1 all y").is_err());
    }

    #[test]
    fn lists_are_written_as_they_are_read() {
        let lists = Lists::parse("b.1\na.1", "d.1 all no\nc.1 sm_80,sm_90 why not").unwrap();
        let (supported, pending) = lists.print();
        assert_eq!(Lists::parse(&supported, &pending), Ok(lists));
    }

    #[test]
    fn pending_by_target() {
        let lists = Lists::parse("", "a.1 all no\nb.1 sm_80,sm_90 why not").unwrap();
        assert_eq!(lists.pending_on("a.1", "sm_100"), Some("no"));
        assert_eq!(lists.pending_on("b.1", "sm_90"), Some("why not"));
        assert_eq!(lists.pending_on("b.1", "sm_100"), None);
        assert_eq!(lists.pending_on("c.1", "sm_100"), None);
    }

    #[test]
    fn versions_that_are_read() {
        for (name, readable) in
            [("a.13.1", true), ("a.13.3", true), ("a.13.5", true), ("a.13.6", false), ("a.14.0", false)]
        {
            assert_eq!(program(name).is_readable(), readable, "{name}");
        }
    }

    #[test]
    fn the_first_error_is_found() {
        assert_eq!(first_error("warning: x\na.py:3:1: error: y\nerror: z"), "y");
        assert_eq!(first_error("\nsomething"), "something");
        assert_eq!(first_error(""), "no message");
    }
}
