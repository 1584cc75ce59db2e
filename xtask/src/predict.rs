//! `cargo xtask predict`: predicts the times of kernels on the simulator and compares them with GPU measurements.
//!
//! The results of a GPU kit run say which kernels were timed on which cases, and with which grids. One folder holds
//! the PTX of each variant, which `tileiras --emit=ptx` compiles from the kit's exported bytecode, and a file that
//! describes the launches.

mod clock;
mod kernel;
mod launches;
mod page;
mod scoreboard;
mod triton;

use anyhow::{Context, bail};
use kernel::Source;
use launches::Launches;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tile_machine::Machine;

pub const USAGE: &str = "\
usage: cargo xtask predict --kernels DIR [options]
       cargo xtask predict --triton DIR [options]

Predicts the time of each kernel of this compiler, or of Triton, that a GPU run has timed, and writes a page that
compares.

  --kernels DIR    variants: VARIANT.ptx, VARIANT.ours.ptx as packed by the GPU kit, or VARIANT.tileirbc, which the
                   tileiras next to this program compiles; gpu/packer/export.py writes them. launches.json in the same
                   folder describes the launches; gpu/packer/launches.py writes it
  --triton DIR     Triton's kernels, written by gpu/packer/triton_export.py
  --compile OPTION option for that compiler; may be repeated
  --results FILE   results of a GPU run (default: the newest of that machine in docs/results)
  --ptxas FILE     assembler that reports the registers of a kernel; without it they are estimated
  --machine NAME   machine to predict for (sm_90)
  --only TEXT      cases and variants with TEXT in their name
  --check FILE     page of an earlier run; fail if a kernel is now predicted to take more than 3 % longer
  --reports DIR    folder for the report of each kernel, with the lines at which its warps wait
  --picture FILE   predicted against measured, as an SVG picture
  --out FILE       page to write (default: standard output)
  --scoreboard FILE
                   write a different page: the predicted best variant of each case, next to the measured times of
                   competitors
";

struct Options {
    kernels: PathBuf,
    triton: Option<PathBuf>,
    compile: Vec<String>,
    results: Option<PathBuf>,
    ptxas: Option<PathBuf>,
    machine: String,
    only: String,
    check: Option<PathBuf>,
    out: Option<PathBuf>,
    reports: Option<PathBuf>,
    picture: Option<PathBuf>,
    scoreboard: Option<PathBuf>,
}

/// A predicted time that rises by more than this factor is a problem.
const RISE: f64 = 1.03;

/// A time and the clock during it.
#[derive(Clone, Copy)]
struct AtClock {
    us: f64,
    mhz: f64,
}

/// The number of clock samples from which their median is used.
const LOOKS: u64 = 3;

/// A kernel that was timed on a case.
struct Timed {
    case: String,
    variant: String,
    grid: [u32; 3],
    /// The short timing of every variant.
    us: f64,
    /// The precise timing of the best variant, if the clock was sampled often enough during it.
    at_clock: Option<AtClock>,
    /// The interquartile range of repeated timings of this case, relative to their median.
    spread: f64,
}

pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<Vec<String>> {
    let options = parse(words)?;
    let machine = Machine::named(&options.machine)?;
    let results = match &options.results {
        Some(path) => path.clone(),
        None => newest_results(&root.join("docs/results"), &machine.device)?,
    };
    let text = std::fs::read_to_string(&results).with_context(|| results.display().to_string())?;
    let (compile, ptxas) = (options.compile.as_slice(), options.ptxas.as_deref());
    let launches = match options.triton {
        Some(_) => Launches(Vec::new()),
        None => Launches::read(&options.kernels)?,
    };
    let source = Source { kernels: &options.kernels, launches: &launches, compile, ptxas, machine: &machine };
    if let Some(path) = &options.scoreboard {
        let (page, problems) = scoreboard::page(&text, &source, &options.only)?;
        std::fs::write(path, page).with_context(|| path.display().to_string())?;
        return Ok(problems);
    }
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    let triton = options.triton.as_deref().map(triton::Folder::read).transpose()?;
    let who = if triton.is_some() { "triton" } else { "ours" };
    let mut wanted = timed(&text, who)?;
    wanted.retain(|t| t.case.contains(&options.only) || t.variant.contains(&options.only));
    let predict = |timed: &Timed, mhz: Option<f64>| match &triton {
        None => source.prediction(&timed.variant, &timed.case, timed.grid, mhz),
        Some(folder) => {
            let launch = folder.launches.get(&(timed.case.clone(), timed.variant.clone()));
            launch.context("was not exported").and_then(|l| l.prediction(ptxas, &machine, mhz))
        }
    };
    let predicted = in_parallel(&wanted, |timed| {
        let p = predict(timed, None)?;
        let (case, variant, ratio) = (&timed.case, &timed.variant, p.microseconds / timed.us);
        eprintln!("{case} | {variant}: measured {:.1} us, predicted {:.1} ({ratio:.2})", timed.us, p.microseconds);
        let again = timed.at_clock.map(|at| Ok::<_, anyhow::Error>((at, predict(timed, Some(at.mhz))?.microseconds)));
        Ok::<_, anyhow::Error>((p, again.transpose()?))
    });
    let mut at_clock = Vec::new();
    for (timed, result) in wanted.into_iter().zip(predicted) {
        match result {
            Ok((p, again)) => {
                if let Some(folder) = &options.reports {
                    let name = format!("{} {}.txt", timed.variant, timed.case.replace(' ', "_"));
                    std::fs::create_dir_all(folder)?;
                    std::fs::write(folder.join(name), p.text())?;
                }
                at_clock.extend(again.map(|(at, us)| page::AtClock::new(&timed, at, us)));
                rows.push((timed, p));
            }
            Err(e) => problems.push(format!("{} on {}: {e:#}", timed.variant, timed.case)),
        }
    }
    let demands = rows.iter().filter_map(|(t, p)| Some(((t.case.clone(), t.variant.clone()), p.power?.demand)));
    let demands: BTreeMap<clock::Key, f64> = demands.collect();
    let clocks = if demands.is_empty() { BTreeMap::new() } else { clock::clocks(&text, who, &machine, &demands)? };
    if let Some(path) = &options.check {
        let before = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let now = rows.iter().map(|(t, p)| (t.case.as_str(), t.variant.as_str(), p.microseconds));
        problems.extend(rises(&before, now));
    }
    if let Some(path) = &options.picture {
        std::fs::write(path, page::picture(&rows)).with_context(|| path.display().to_string())?;
    }
    let picture = options.picture.as_deref().and_then(Path::file_name);
    let subject = match &triton {
        None => page::Subject::ours(),
        Some(folder) => page::Subject::triton(&folder.version),
    };
    let page = page::page(
        &rows,
        &at_clock,
        &clocks,
        &subject,
        &machine,
        picture.map(|name| name.to_string_lossy()).as_deref(),
    );
    match &options.out {
        Some(path) => std::fs::write(path, page).with_context(|| path.display().to_string())?,
        None => print!("{page}"),
    }
    Ok(problems)
}

fn parse(words: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options {
        kernels: PathBuf::new(),
        triton: None,
        compile: Vec::new(),
        results: None,
        ptxas: None,
        machine: "sm_90".into(),
        only: String::new(),
        check: None,
        out: None,
        reports: None,
        picture: None,
        scoreboard: None,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value; --help lists the options"))?;
        match *word {
            "--kernels" => options.kernels = value.into(),
            "--triton" => options.triton = Some(value.into()),
            "--compile" => options.compile.push((*value).into()),
            "--results" => options.results = Some(value.into()),
            "--ptxas" => options.ptxas = Some(value.into()),
            "--machine" => options.machine = (*value).into(),
            "--only" => options.only = (*value).into(),
            "--check" => options.check = Some(value.into()),
            "--reports" => options.reports = Some(value.into()),
            "--scoreboard" => options.scoreboard = Some(value.into()),
            "--picture" => options.picture = Some(value.into()),
            "--out" => options.out = Some(value.into()),
            _ => bail!("unknown option {word}; --help lists the options"),
        }
    }
    if options.kernels.as_os_str().is_empty() && options.triton.is_none() {
        bail!("--kernels or --triton is missing; --help lists the options");
    }
    Ok(options)
}

/// Applies `work` to each item, on all processors. Returns the results in the order of the items.
fn in_parallel<T: Sync, U: Send>(items: &[T], work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let done = std::sync::Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(item) = items.get(i) else { return };
                    let result = work(item);
                    done.lock().unwrap_or_else(|e| e.into_inner()).push((i, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns the newest results of a device. File names are the device, spelled as in `gpu/report.py`, and the date.
fn newest_results(folder: &Path, device: &str) -> anyhow::Result<PathBuf> {
    let name = device.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)?.filter_map(|e| e.ok().map(|e| e.path())).collect();
    found.retain(|p| {
        let stem = p.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        p.extension().is_some_and(|e| e == "jsonl") && stem.starts_with(&name)
    });
    found.sort();
    found.pop().with_context(|| format!("no results of {device} in docs/results"))
}

/// Returns the short timings of the kernels of `who`, in the order of the run.
fn timed(text: &str, who: &str) -> anyhow::Result<Vec<Timed>> {
    let mut out: Vec<Timed> = Vec::new();
    let mut spreads: BTreeMap<String, f64> = BTreeMap::new();
    let mut clocks: BTreeMap<(String, String), AtClock> = BTreeMap::new();
    for line in text.lines() {
        let r: Value = serde_json::from_str(line)?;
        if r["record"] != "measurement" || r["impl"] != who {
            continue;
        }
        if r["precise"] != false {
            let quarter = |key: &str| r["us"][key].as_f64();
            if let (Some(name), Some(low), Some(high), Some(middle)) =
                (r["name"].as_str(), quarter("q1"), quarter("q3"), quarter("median"))
            {
                spreads.insert(name.into(), (high - low) / middle);
                let (looks, mhz) = (&r["clocks"]["n"], r["clocks"]["sm_mhz"]["median"].as_f64());
                if let (Some(mhz), true) = (mhz, looks.as_u64() >= Some(LOOKS)) {
                    let variant = r["config"].as_str().unwrap_or_default();
                    clocks.insert((name.into(), variant.into()), AtClock { us: middle, mhz });
                }
            }
            continue;
        }
        let word = |key: &str| r[key].as_str().map(str::to_owned).with_context(|| format!("no {key} in: {line}"));
        let grid = std::array::from_fn(|i| r["grid"][i].as_u64().unwrap_or(1) as u32);
        let us = r["us"]["median"].as_f64().with_context(|| format!("no time in: {line}"))?;
        out.push(Timed { case: word("name")?, variant: word("config")?, grid, us, at_clock: None, spread: 0.0 });
    }
    for timed in &mut out {
        timed.spread = spreads.get(&timed.case).copied().unwrap_or(0.0);
        timed.at_clock = clocks.get(&(timed.case.clone(), timed.variant.clone())).copied();
    }
    Ok(out)
}

/// Returns the kernels that are predicted slower than on an earlier page.
fn rises<'a>(page: &str, now: impl Iterator<Item = (&'a str, &'a str, f64)>) -> Vec<String> {
    let before: BTreeMap<(&str, &str), f64> = page
        .lines()
        .filter_map(|line| match line.split('|').map(str::trim).collect::<Vec<_>>()[..] {
            ["", case, variant, _, predicted, _, _, ""] => Some(((case, variant), predicted.parse().ok()?)),
            _ => None,
        })
        .collect();
    now.filter_map(|(case, variant, us)| {
        let old = *before.get(&(case, variant))?;
        (us > RISE * old).then(|| format!("{variant} on {case}: predicted {us:.1} us, up from {old:.1}"))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rises_are_found() {
        let page =
            "| case | variant | m | p | r | b |\n|---|---|---|---|---|---|\n| mm 1 | a | 1.0 | 100.0 | 1 | x |\n";
        assert!(rises(page, [("mm 1", "a", 102.0), ("mm 2", "a", 500.0)].into_iter()).is_empty());
        let found = rises(page, [("mm 1", "a", 104.0)].into_iter());
        assert_eq!(found, ["a on mm 1: predicted 104.0 us, up from 100.0"]);
    }
}
