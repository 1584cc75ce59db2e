//! `tile-fuzz --plans`: counts the plans that the compiler gives up, by pass, and the instructions that loops of dots
//! use.

use super::{Options, Progress, distribute, line, send};
use std::collections::BTreeMap;
use tile_fuzz::generate::generate;
use tile_interface::InputKind;
use tile_interp::text;
use tileiras::fuzz::plans::{Loops, survey};

/// Compilations that take longer are listed.
const SLOW_MS: u128 = 10_000;

/// The counts for one target and level.
#[derive(Default)]
struct Tally {
    programs: usize,
    loops: Loops,
    fallbacks: BTreeMap<String, usize>,
    failed: Vec<String>,
    slow: Vec<String>,
}

/// Compiles all programs, or, in a worker, some of them. Returns false if a plan was given up or a program was
/// rejected.
pub fn run(options: &Options, words: &[String]) -> Result<bool, String> {
    let all = match options.files.len() {
        0 => options.seed..options.seed.saturating_add(options.count),
        files => 0..files as u64,
    };
    if let Some((step, first)) = options.worker {
        return work(options, (first..all.end).step_by(step as usize));
    }
    // Report unreadable files here, because the standard error of workers is discarded.
    for file in &options.files {
        std::fs::File::open(file).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    let progress = Progress::start("plans", all.end - all.start, true);
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    distribute(all, options.jobs, words, &progress, |number, what, rest| {
        // The crash of a worker does not name a target.
        let (form, rest) = match what {
            "start" | "done" => return,
            _ => rest.split_once(": ").unwrap_or(("any target", rest.as_str())),
        };
        let tally = tallies.entry(form.to_owned()).or_default();
        let name = options.files.get(number as usize).map_or(format!("seed {number}"), |f| f.display().to_string());
        match what {
            "loops" => {
                let numbers: Vec<usize> = rest.split(' ').filter_map(|w| w.parse().ok()).collect();
                if let [all, warpgroups, warps, rings, tensor_copies] = numbers[..] {
                    tally.programs += 1;
                    tally.loops += Loops { all, warpgroups, warps, rings, tensor_copies };
                }
            }
            "fallback" => {
                progress.aside(|| println!("{name}: {form}: {rest}"));
                *tally.fallbacks.entry(rest.split(' ').next().unwrap_or_default().to_owned()).or_default() += 1;
            }
            "fail" => tally.failed.push(format!("{name}: {rest}")),
            "slow" => tally.slow.push(format!("{name}: {rest}")),
            _ => {}
        }
    })?;
    drop(progress);
    for (form, tally) in &tallies {
        report(form, tally);
    }
    Ok(tallies.values().all(|t| t.fallbacks.is_empty() && t.failed.is_empty() && t.slow.is_empty()))
}

fn report(form: &str, tally: &Tally) {
    let Loops { all, warpgroups, warps, rings, tensor_copies } = tally.loops;
    let given_up: usize = tally.fallbacks.values().sum();
    println!(
        "{form}: {} programs, {given_up} plans given up, {} rejected, {} slow; {all} loops with dots: {warpgroups} use \
         wgmma, {warps} use mma, {rings} wait for rings, {tensor_copies} load by TMA",
        tally.programs,
        tally.failed.len(),
        tally.slow.len(),
    );
    for (pass, count) in &tally.fallbacks {
        println!("  {pass}: {count} times");
    }
    tally.failed.iter().for_each(|text| println!("  rejected: {text}"));
    tally.slow.iter().for_each(|text| println!("  slow: {text}"));
}

fn work(options: &Options, numbers: impl Iterator<Item = u64>) -> Result<bool, String> {
    for number in numbers {
        let (input, kind) = match options.files.get(number as usize) {
            Some(file) => {
                let bytes = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
                let is_text = file.extension().is_some_and(|e| e == "mlir");
                (bytes, if is_text { InputKind::Text } else { InputKind::PublicBytecode })
            }
            None if !options.wants(number) => continue,
            None => match generate(number) {
                Some(case) => (text::print(&case.program).into_bytes(), InputKind::Text),
                None => continue,
            },
        };
        send(format!("{number} start"))?;
        for configuration in options.matrix.all() {
            let form = configuration.to_string();
            match survey(&input, kind, configuration.target, configuration.level) {
                Ok(survey) => {
                    let Loops { all, warpgroups, warps, rings, tensor_copies } = survey.loops;
                    send(format!("{number} loops {form}: {all} {warpgroups} {warps} {rings} {tensor_copies}"))?;
                    for (pass, message) in survey.fallbacks {
                        send(format!("{number} fallback {form}: {pass} {}", line(&message)))?;
                    }
                    if survey.time.as_millis() > SLOW_MS {
                        send(format!("{number} slow {form}: {:.1} s", survey.time.as_secs_f64()))?;
                    }
                }
                Err(message) => send(format!("{number} fail {form}: {}", line(&message)))?,
            }
        }
        // The last line of a number, which shows that the worker has not died.
        send(format!("{number} done"))?;
    }
    Ok(true)
}
