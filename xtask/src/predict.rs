//! `cargo xtask predict`: the scoreboard as the simulator predicts it, beside what a GPU measured.
//!
//! The results of a run of the GPU kit say which kernels were timed on which cases, with their grids. Their PTX is made
//! by `tileiras --emit=ptx` from the kit's exported bytecode and lies in one folder, a file for each variant.

use anyhow::{Context, bail};
use ptx_sim::timing::{self, Prediction, predict};
use ptx_sim::{Arg, Config, Device, LaunchConfig, Module};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tile_machine::Machine;

pub const USAGE: &str = "\
usage: cargo xtask predict --kernels DIR [options]

Predicts the time of each kernel of this compiler that a GPU run has timed, and writes a page that compares.

  --kernels DIR    PTX of the variants, VARIANT.ptx each
  --results FILE   lines of a GPU run; the newest under docs/results where nothing is given
  --ptxas FILE     assembler that says how many registers a kernel takes; without one they are estimated
  --machine NAME   machine to predict for (sm_90)
  --only TEXT      cases and variants whose name contains TEXT
  --check FILE     page of an earlier run: a kernel that is predicted to take more than 3 % longer is a failure
  --out FILE       page to write; standard output where nothing is given
";

struct Options {
    kernels: PathBuf,
    results: Option<PathBuf>,
    ptxas: Option<PathBuf>,
    machine: String,
    only: String,
    check: Option<PathBuf>,
    out: Option<PathBuf>,
}

/// The rise of a predicted time that has to be agreed to.
const RISE: f64 = 1.03;

/// A kernel that was timed on a case.
struct Timed {
    case: String,
    variant: String,
    grid: [u32; 3],
    /// The short timing that every variant had.
    us: f64,
}

pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<Vec<String>> {
    let options = parse(words)?;
    let results = match &options.results {
        Some(path) => path.clone(),
        None => newest_results(&root.join("docs/results"))?,
    };
    let text = std::fs::read_to_string(&results).with_context(|| results.display().to_string())?;
    let machine = Machine::named(&options.machine)?;
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    for timed in timed(&text)? {
        if !timed.case.contains(&options.only) && !timed.variant.contains(&options.only) {
            continue;
        }
        let path = options.kernels.join(format!("{}.ptx", timed.variant));
        match prediction(&path, &timed, &machine, options.ptxas.as_deref()) {
            Ok(p) => {
                let error = p.microseconds / timed.us;
                eprintln!(
                    "{} | {}: measured {:.1} us, predicted {:.1} ({error:.2})",
                    timed.case, timed.variant, timed.us, p.microseconds
                );
                rows.push((timed, p));
            }
            Err(e) => problems.push(format!("{} on {}: {e:#}", timed.variant, timed.case)),
        }
    }
    if let Some(path) = &options.check {
        let before = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let now = rows.iter().map(|(t, p)| (t.case.as_str(), t.variant.as_str(), p.microseconds));
        problems.extend(rises(&before, now));
    }
    let page = page(&rows, &machine);
    match &options.out {
        Some(path) => std::fs::write(path, page).with_context(|| path.display().to_string())?,
        None => print!("{page}"),
    }
    Ok(problems)
}

fn parse(words: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options {
        kernels: PathBuf::new(),
        results: None,
        ptxas: None,
        machine: "sm_90".into(),
        only: String::new(),
        check: None,
        out: None,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value; --help lists the options"))?;
        match *word {
            "--kernels" => options.kernels = value.into(),
            "--results" => options.results = Some(value.into()),
            "--ptxas" => options.ptxas = Some(value.into()),
            "--machine" => options.machine = (*value).into(),
            "--only" => options.only = (*value).into(),
            "--check" => options.check = Some(value.into()),
            "--out" => options.out = Some(value.into()),
            _ => bail!("unknown option {word}; --help lists the options"),
        }
    }
    if options.kernels.as_os_str().is_empty() {
        bail!("--kernels is missing; --help lists the options");
    }
    Ok(options)
}

fn newest_results(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)?.filter_map(|e| e.ok().map(|e| e.path())).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == "jsonl"));
    found.sort();
    found.pop().context("no results under docs/results")
}

/// The short timings of this compiler's kernels, in the order of the run.
fn timed(text: &str) -> anyhow::Result<Vec<Timed>> {
    let mut out = Vec::new();
    for line in text.lines() {
        let r: Value = serde_json::from_str(line)?;
        if r["record"] != "measurement" || r["impl"] != "ours" || r["precise"] != false {
            continue;
        }
        let word = |key: &str| r[key].as_str().map(str::to_owned).with_context(|| format!("no {key} in: {line}"));
        let grid = std::array::from_fn(|i| r["grid"][i].as_u64().unwrap_or(1) as u32);
        let us = r["us"]["median"].as_f64().with_context(|| format!("no time in: {line}"))?;
        out.push(Timed { case: word("name")?, variant: word("config")?, grid, us });
    }
    Ok(out)
}

/// Registers of a thread, as the assembler reports them.
fn registers(ptxas: &Path, path: &Path, target: &str) -> anyhow::Result<Option<u32>> {
    let arch = format!("-arch={target}");
    let done = Command::new(ptxas)
        .args([&arch, "-v", "-o"])
        .arg(std::env::temp_dir().join("predict.cubin"))
        .arg(path)
        .output();
    let text = String::from_utf8(done.with_context(|| ptxas.display().to_string())?.stderr)?;
    Ok(text.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()).and_then(|n| n.parse().ok()))
}

fn prediction(path: &Path, timed: &Timed, machine: &Machine, ptxas: Option<&Path>) -> anyhow::Result<Prediction> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let module = Module::parse(&text)?;
    let mut device = Device::new(Config::default());
    let args = arguments(&mut device, &timed.case)?;
    let entry = module.entries().next().context("no entry")?.to_owned();
    let launch = LaunchConfig { grid: timed.grid, args: &args, ..LaunchConfig::default() };
    let registers = ptxas.map(|tool| registers(tool, path, &module.target)).transpose()?.flatten();
    Ok(predict(&mut device, &module, &entry, &launch, machine, &timing::Options { registers })?)
}

/// The arguments of a case, by its name: arrays of zeros, since the time of these kernels does not depend on values.
fn arguments(device: &mut Device, case: &str) -> anyhow::Result<Vec<Arg>> {
    let words: Vec<&str> = case.split(' ').collect();
    let (kind, dtype) = (words[0], words.get(1).copied().unwrap_or_default());
    let (source, result) = match dtype {
        "bf16" | "fp16" => (2, 2),
        "fp8" => (1, 2),
        "int8" => (1, 4),
        "tf32" | "f32" => (4, 4),
        _ => bail!("unknown type in case '{case}'"),
    };
    let mut out = Vec::new();
    let mut array = |shape: &[u64], bytes: u64| {
        out.push(Arg::Ptr(device.alloc_zeroed(shape.iter().product::<u64>() * bytes)));
        out.extend(shape.iter().map(|n| Arg::I32(*n as i32)));
        out.extend((0..shape.len()).map(|i| Arg::I32(shape[i + 1..].iter().product::<u64>() as i32)));
    };
    let numbers = |text: &str| -> anyhow::Result<Vec<u64>> {
        text.split('x').map(|n| n.parse().with_context(|| format!("'{n}' in case '{case}'"))).collect()
    };
    match kind {
        "mm" => {
            let [m, n, k] = numbers(words[2])?[..] else { bail!("extents in case '{case}'") };
            array(&[m, k], source);
            array(&if words.get(3) == Some(&"nt") { [n, k] } else { [k, n] }, source);
            array(&[m, n], result);
        }
        "attention" => {
            let field = |letter: char| {
                let word = words.iter().skip(2).find(|w| w.starts_with(letter) && w[1..].parse::<u64>().is_ok());
                word.and_then(|w| w[1..].parse::<u64>().ok()).with_context(|| format!("'{letter}' in case '{case}'"))
            };
            let shape = [field('b')? * field('h')?, field('s')?, field('d')?];
            (0..4).for_each(|_| array(&shape, source));
            out.push(Arg::F32(1.0 / (shape[2] as f32).sqrt()));
        }
        "vadd" => {
            let n = numbers(words[2])?;
            (0..3).for_each(|_| array(&n, source));
        }
        "softmax" | "layernorm" => {
            let shape = numbers(words[2])?;
            array(&shape, source);
            if kind == "layernorm" {
                (0..2).for_each(|_| array(&shape[1..], source));
            }
            array(&shape, result);
        }
        _ => bail!("unknown kind of case '{case}'"),
    }
    Ok(out)
}

/// The kernels that are predicted slower than an earlier page says.
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
        (us > RISE * old).then(|| format!("{variant} on {case}: predicted {us:.1} us, and {old:.1} before"))
    })
    .collect()
}

/// Spearman's rank correlation; equal values share their rank.
fn rank_correlation(pairs: &[(f64, f64)]) -> f64 {
    let ranks = |values: Vec<f64>| -> Vec<f64> {
        let below = |v: f64| values.iter().filter(|x| **x < v).count() as f64;
        let equal = |v: f64| values.iter().filter(|x| **x == v).count() as f64;
        values.iter().map(|v| below(*v) + (equal(*v) - 1.0) / 2.0).collect()
    };
    let (x, y) = (ranks(pairs.iter().map(|p| p.0).collect()), ranks(pairs.iter().map(|p| p.1).collect()));
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let product =
        |a: &[f64], ma: f64, b: &[f64], mb: f64| a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum::<f64>();
    let (sx, sy) = (product(&x, mx, &x, mx), product(&y, my, &y, my));
    if sx * sy > 0.0 { product(&x, mx, &y, my) / (sx * sy).sqrt() } else { f64::NAN }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

fn page(rows: &[(Timed, Prediction)], machine: &Machine) -> String {
    let mut cases: BTreeMap<&str, Vec<&(Timed, Prediction)>> = BTreeMap::new();
    for row in rows {
        cases.entry(&row.0.case).or_default().push(row);
    }
    let error = |r: &(Timed, Prediction)| (r.1.microseconds / r.0.us - 1.0).abs();
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# Predicted and measured: {}\n", machine.device);
    let _ = writeln!(
        out,
        "{} kernels on {} cases. Error of the time: median {:.1} %, most {:.1} %.\n",
        rows.len(),
        cases.len(),
        100.0 * median(rows.iter().map(error).collect()),
        100.0 * rows.iter().map(error).fold(0.0, f64::max)
    );
    let _ = writeln!(out, "| case | variants | median error | rank correlation |\n|---|---|---|---|");
    let mut correlations = Vec::new();
    for (case, rows) in &cases {
        let pairs: Vec<(f64, f64)> = rows.iter().map(|r| (r.0.us, r.1.microseconds)).collect();
        let rank = rank_correlation(&pairs);
        let shown = if rows.len() >= 3 && rank.is_finite() {
            correlations.push(rank);
            format!("{rank:.2}")
        } else {
            "-".into()
        };
        let middle = 100.0 * median(rows.iter().map(|r| error(r)).collect());
        let _ = writeln!(out, "| {case} | {} | {middle:.1} % | {shown} |", rows.len());
    }
    let _ = writeln!(
        out,
        "\nRank correlation over cases with three or more variants: median {:.2}.\n",
        median(correlations)
    );
    let _ =
        writeln!(out, "| case | variant | measured us | predicted us | ratio | busiest |\n|---|---|---|---|---|---|");
    for (timed, p) in rows {
        let busiest = p.busy.first().map_or(String::new(), |(name, share)| format!("{name} {:.0} %", 100.0 * share));
        let ratio = p.microseconds / timed.us;
        let _ = writeln!(
            out,
            "| {} | {} | {:.1} | {:.1} | {ratio:.2} | {busiest} |",
            timed.case, timed.variant, timed.us, p.microseconds
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_medians() {
        assert!((rank_correlation(&[(1.0, 10.0), (2.0, 20.0), (3.0, 25.0)]) - 1.0).abs() < 1e-12);
        assert!((rank_correlation(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]) + 1.0).abs() < 1e-12);
        assert!(rank_correlation(&[(1.0, 3.0), (1.0, 2.0)]).is_nan());
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn rises_are_found() {
        let page =
            "| case | variant | m | p | r | b |\n|---|---|---|---|---|---|\n| mm 1 | a | 1.0 | 100.0 | 1 | x |\n";
        assert!(rises(page, [("mm 1", "a", 102.0), ("mm 2", "a", 500.0)].into_iter()).is_empty());
        let found = rises(page, [("mm 1", "a", 104.0)].into_iter());
        assert_eq!(found, ["a on mm 1: predicted 104.0 us, and 100.0 before"]);
    }

    #[test]
    fn arguments_follow_the_names_of_cases() {
        let mut device = Device::new(Config::default());
        let mut count = |case: &str| arguments(&mut device, case).unwrap().len();
        assert_eq!(count("mm bf16 64x32x16 nt"), 15);
        assert_eq!(count("attention bf16 b2 h4 d8 s16 causal"), 4 * 7 + 1);
        assert_eq!(count("layernorm bf16 8x64"), 5 + 3 + 3 + 5);
        assert_eq!(count("vadd f32 128"), 9);
        assert!(arguments(&mut device, "mm q7 1x1x1 nt").is_err());
    }
}
