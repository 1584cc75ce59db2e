//! Programs for a device on another machine: `--export` prepares them, and `--compare` compares the results.
//!
//! The workers of an export report each program, like the workers of a campaign, and write pieces of up to a hundred
//! programs.

use super::{Options, distribute, line, send};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tile_driver::progress::Progress;
use tile_fuzz::archive::{self, DeviceResult};
use tile_fuzz::case::census;
use tile_fuzz::written::{self, TestSource};
use tileiras::fuzz::differential::device::{Subject, refused};
use tileiras::fuzz::differential::{self, Failure};

/// Maximum number of programs in a piece. If programs kill a piece too often, the device continues with the next
/// piece.
const PIECE: usize = 100;

/// A file that `--export` writes next to the pieces: a line with digest, configuration and program name for each
/// image.
const LIST: &str = "programs.txt";

fn with_path<T, E: std::fmt::Display>(path: &Path, result: Result<T, E>) -> Result<T, String> {
    result.map_err(|e| format!("{}: {e}", path.display()))
}

fn written_tests(paths: &[PathBuf]) -> Result<Vec<(String, TestSource)>, String> {
    let mut all = vec![];
    for path in paths {
        all.extend(written::programs(path)?);
    }
    Ok(all)
}

//===-- export --------------------------------------------------------------//

/// The programs of an export by number: seeds, then written tests.
struct Programs {
    seeds: std::ops::Range<u64>,
    files: Vec<(String, TestSource)>,
}

impl Programs {
    fn new(options: &Options) -> Result<Programs, String> {
        let seeds = options.seed..options.seed.saturating_add(options.count);
        Ok(Programs { seeds, files: written_tests(&options.files)? })
    }

    fn all(&self) -> std::ops::Range<u64> {
        self.seeds.start..self.seeds.end + self.files.len() as u64
    }

    fn file(&self, number: u64) -> Option<&(String, TestSource)> {
        self.files.get(number.checked_sub(self.seeds.end)? as usize)
    }

    fn name(&self, number: u64) -> String {
        self.file(number).map_or_else(|| format!("seed {number}"), |(name, _)| name.clone())
    }

    fn subject(&self, number: u64) -> Result<Option<Subject>, Failure> {
        match self.file(number) {
            None => Ok(Subject::of_seed(number)),
            Some((_, source)) => Subject::of_file(&source.file().map_err(Failure::Text)?),
        }
    }
}

pub fn export(folder: &Path, options: &Options, words: &[String]) -> Result<bool, String> {
    let programs = Programs::new(options)?;
    if let Some((step, first)) = options.worker {
        return work(folder, options, &programs, step, first).map(|()| true);
    }
    let started = Instant::now();
    with_path(folder, fs::create_dir_all(folder))?;
    for entry in with_path(folder, fs::read_dir(folder))?.flatten() {
        if entry.path().extension().is_some_and(|e| e == "programs") {
            with_path(&entry.path(), fs::remove_file(entry.path()))?;
        }
    }
    let mut list = BTreeMap::new();
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    let mut failures = 0;
    let mut times = [0; 4];
    let all = programs.all();
    let progress = Progress::start("export", all.end - all.start, true);
    distribute(all, options.jobs, words, &progress, |number, what, rest| match what {
        "ready" => {
            list.insert(number, rest);
        }
        "without" => *left_out.entry(rest).or_default() += 1,
        "fail" => {
            progress.aside(|| println!("{}: {rest}", programs.name(number)));
            failures += 1;
        }
        "time" => {
            let numbers = rest.split(' ').filter_map(|w| w.parse::<u64>().ok());
            times.iter_mut().zip(numbers).for_each(|(sum, n)| *sum += n);
        }
        _ => {}
    })?;
    drop(progress);
    let mut text = String::new();
    for (number, ready) in &list {
        let mut words = ready.split('\t');
        let digest = words.next().unwrap_or_default();
        for configuration in words {
            text += &format!("{digest}\t{configuration}\t{}\n", programs.name(*number));
        }
    }
    let path = folder.join(LIST);
    with_path(&path, fs::write(&path, &text))?;
    println!(
        "{} programs, {} images, {failures} failed; {:.1} s",
        list.len(),
        text.lines().count(),
        started.elapsed().as_secs_f64()
    );
    let [meaning, compiler, assembler, rest] = times.map(|t| t as f64 / 1e6);
    println!(
        "time: interpreter {meaning:.1} s, compiler {compiler:.1} s, assembler {assembler:.1} s, writing {rest:.1} s"
    );
    for (why, count) in &left_out {
        println!("skipped {count} times: {why}");
    }
    Ok(failures == 0)
}

fn work(folder: &Path, options: &Options, programs: &Programs, step: u64, first: u64) -> Result<(), String> {
    let mut number = first;
    let mut piece: Option<(fs::File, usize)> = None;
    while number < programs.all().end {
        send(format!("{number} start"))?;
        let (before, started) = (differential::times(), Instant::now());
        let subject = programs.subject(number);
        let meaning = started.elapsed();
        match prepare(subject, options, number) {
            Prepared::Without(why) => send(format!("{number} without {why}"))?,
            Prepared::Failed(failure) => send(format!("{number} fail {}", line(&failure.to_string())))?,
            Prepared::Ready(subject, images) => {
                let (mut file, count) = match piece.take() {
                    Some((file, count)) if count < PIECE => (file, count),
                    _ => {
                        let path = folder.join(format!("{number:08}.programs"));
                        (with_path(&path, fs::File::create(&path))?, 0)
                    }
                };
                archive::write_program(&mut file, &programs.name(number), &subject.case, &subject.text, &images)
                    .and_then(|()| file.flush())
                    .map_err(|e| e.to_string())?;
                piece = Some((file, count + 1));
                let configurations: Vec<&str> = images.iter().map(|(i, _)| i.configuration.as_str()).collect();
                let digest = archive::digest(&subject.case, &subject.text);
                send(format!("{number} ready {digest}\t{}", configurations.join("\t")))?;
            }
        }
        let t = differential::times();
        let (compiler, assembler) = (t.compiler - before.compiler, t.assembler - before.assembler);
        let rest = started.elapsed().saturating_sub(meaning + compiler + assembler);
        let spent = [meaning, compiler, assembler, rest].map(|d| d.as_micros().to_string());
        send(format!("{number} time {}", spent.join(" ")))?;
        number += step;
    }
    Ok(())
}

enum Prepared {
    Ready(Box<Subject>, Vec<(archive::Image, Vec<u8>)>),
    Without(String),
    Failed(Failure),
}

fn prepare(subject: Result<Option<Subject>, Failure>, options: &Options, number: u64) -> Prepared {
    let subject = match subject {
        Err(failure) => return Prepared::Failed(failure),
        Ok(None) => return Prepared::Without("no program, or its behavior is undefined".into()),
        Ok(Some(Subject { left_out: Some(why), .. })) => return Prepared::Without(why.into()),
        Ok(Some(subject)) => subject,
    };
    match subject.images(&options.matrix, number, options.form) {
        Err(failure) if refused(&failure) => Prepared::Without(format!("unsupported: {}", line(&failure.to_string()))),
        Err(failure) => Prepared::Failed(failure),
        Ok(images) => Prepared::Ready(Box::new(subject), images),
    }
}

//===-- comparison ----------------------------------------------------------//

/// The results of a program by configuration: the last one for each, with the contents of its buffers.
type Results = BTreeMap<String, (DeviceResult, Vec<u8>)>;

/// Number of programs in a configuration that passed, failed, or lack a result.
#[derive(Clone, Copy, Default)]
struct Count {
    passed: usize,
    failed: usize,
    missing: usize,
}

#[derive(Default)]
struct Comparison {
    counts: BTreeMap<String, Count>,
    failures: Vec<(String, String)>,
    elements: [usize; 3],
}

pub fn compare(path: &Path, options: &Options) -> Result<bool, String> {
    let archive::Results { all: results, cut } = archive::read_results(&with_path(path, fs::read(path))?)?;
    if cut {
        println!("{} is truncated: its last result is incomplete and ignored", path.display());
    }
    let mut by_name: BTreeMap<String, Results> = BTreeMap::new();
    for (result, payload) in results {
        let known = by_name.entry(result.name.clone()).or_default();
        // Keep the first of several errors. Later ones come from a piece that was restarted without the program.
        let errors = |r: &DeviceResult| r.error.is_some();
        if !(errors(&result) && known.get(&result.configuration).is_some_and(|(r, _)| errors(r))) {
            known.insert(result.configuration.clone(), (result, payload));
        }
    }
    let files = match &options.files[..] {
        [] if by_name.keys().all(|name| seed(name).is_some()) => vec![],
        [] => written_tests(&["tests/semantics".into()])?,
        paths => written_tests(paths)?,
    };
    let files: BTreeMap<String, TestSource> = files.into_iter().collect();
    let groups: Vec<(&String, &Results)> = by_name.iter().collect();
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Comparison::default()));
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                while let Some((name, results)) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = compare_program(name, results, &files, &options.out);
                    if let Ok(mut all) = all.lock() {
                        all.add(found);
                    }
                }
            });
        }
    });
    let mut all = all.into_inner().map_err(|e| e.to_string())?;
    all.failures.sort();
    let missing = match &options.export_dir {
        Some(folder) => missing(folder, &by_name, &mut all.counts)?,
        None => vec![],
    };
    report(&all, &missing);
    Ok(all.failures.is_empty() && missing.is_empty())
}

/// The seed in a program's name.
fn seed(name: &str) -> Option<u64> {
    name.strip_prefix("seed ")?.parse().ok()
}

fn compare_program(name: &str, results: &Results, files: &BTreeMap<String, TestSource>, out: &Path) -> Comparison {
    let mut found = Comparison::default();
    let subject = match (seed(name), files.get(name)) {
        (Some(seed), _) => Ok(Subject::of_seed(seed)),
        (None, Some(source)) => source.file().map_err(Failure::Text).and_then(|f| Subject::of_file(&f)),
        (None, None) => Ok(None),
    };
    let subject = match subject {
        Ok(Some(subject)) => Ok(subject),
        Ok(None) => Err("there is no program of that name".to_string()),
        Err(failure) => Err(failure.to_string()),
    };
    for (configuration, (result, payload)) in results {
        let count = found.counts.entry(configuration.clone()).or_default();
        let complaint = subject.as_ref().map_err(Clone::clone).and_then(|subject| {
            if archive::digest(&subject.case, &subject.text) != result.digest {
                return Err(
                    "this revision generates another program of that name; compare with the revision that exported it"
                        .to_string(),
                );
            }
            let kind = if result.error.is_some() { "run" } else { "result" };
            match subject.complaint(result, payload) {
                None => Ok(()),
                Some(what) => {
                    let message = format!("{kind} {configuration}: {what}; {}", subject.on_simulator(configuration));
                    Err(match save(name, &message, subject, out) {
                        Ok(()) => message,
                        Err(e) => format!("{message}; cannot write the program: {e}"),
                    })
                }
            }
        });
        match complaint {
            Ok(()) => {
                count.passed += 1;
                let census = subject.as_ref().map_or([0; 3], |s| census(&s.meaning));
                found.elements.iter_mut().zip(census).for_each(|(sum, n)| *sum += n);
            }
            Err(message) => {
                count.failed += 1;
                found.failures.push((name.into(), message));
            }
        }
    }
    found
}

/// Writes a random program as a file for `--check`. Written tests already are such files.
fn save(name: &str, message: &str, subject: &Subject, out: &Path) -> Result<(), String> {
    if seed(name).is_none() {
        return Ok(());
    }
    with_path(out, fs::create_dir_all(out))?;
    let file = differential::written(&subject.case, &[format!("{name}: {}", line(message))]);
    let path = out.join(format!("{}.mlir", name.replace(' ', "-")));
    with_path(&path, fs::write(&path, file.print()))
}

impl Comparison {
    fn add(&mut self, other: Comparison) {
        for (configuration, count) in other.counts {
            let sum = self.counts.entry(configuration).or_default();
            sum.passed += count.passed;
            sum.failed += count.failed;
        }
        self.failures.extend(other.failures);
        self.elements.iter_mut().zip(other.elements).for_each(|(sum, n)| *sum += n);
    }
}

/// Counts and returns the exported images without a result: configuration and name.
fn missing(
    folder: &Path,
    results: &BTreeMap<String, Results>,
    counts: &mut BTreeMap<String, Count>,
) -> Result<Vec<(String, String)>, String> {
    let path = folder.join(LIST);
    let text = with_path(&path, fs::read_to_string(&path))?;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let [_, configuration, name] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("{}: '{line}'", path.display()));
        };
        if !results.get(name).is_some_and(|r| r.contains_key(configuration)) {
            found.insert((configuration.to_string(), name.to_string()));
            counts.entry(configuration.into()).or_default().missing += 1;
        }
    }
    Ok(found.into_iter().collect())
}

fn report(all: &Comparison, missing: &[(String, String)]) {
    for (name, message) in &all.failures {
        println!("{name}: {}", line(message));
    }
    let mut kinds: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, message) in &all.failures {
        kinds.entry(differential::signature(message)).or_default().push(name);
    }
    for (kind, names) in &kinds {
        println!("{} times (first: {}): {kind}", names.len(), names[0]);
    }
    if let Some((configuration, name)) = missing.first() {
        println!("{} without a result (first: {name}, {configuration})", missing.len());
    }
    for (configuration, Count { passed, failed, missing }) in &all.counts {
        println!("{configuration}: {passed} passed, {failed} failed, {missing} without a result");
    }
    let [exact, near, unknown] = all.elements;
    println!("elements compared: {exact} exactly, {near} approximately; {unknown} unknown");
}
