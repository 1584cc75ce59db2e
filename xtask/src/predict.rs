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
  --reports DIR    where the report of each kernel goes, with the lines at which its warps wait
  --picture FILE   predicted against measured, as an SVG picture
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
    reports: Option<PathBuf>,
    picture: Option<PathBuf>,
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
    /// How far apart the middle half of repeated timings of this case lie, as a share of their median.
    spread: f64,
}

/// Cases that were looked at while the model's form was found; the others are held out.
const LOOKED_AT: [&str; 4] = [
    "mm bf16 2048x2048x2048 nt",
    "mm bf16 4096x4096x4096 nt",
    "mm bf16 65536x1024x1024 nt",
    "mm fp8 8192x8192x1024 nt",
];

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
    let mut wanted = timed(&text)?;
    wanted.retain(|t| t.case.contains(&options.only) || t.variant.contains(&options.only));
    let predicted = in_parallel(&wanted, |timed| {
        let path = options.kernels.join(format!("{}.ptx", timed.variant));
        prediction(&path, timed, &machine, options.ptxas.as_deref())
    });
    for (timed, result) in wanted.into_iter().zip(predicted) {
        match result {
            Ok(p) => {
                let error = p.microseconds / timed.us;
                eprintln!(
                    "{} | {}: measured {:.1} us, predicted {:.1} ({error:.2})",
                    timed.case, timed.variant, timed.us, p.microseconds
                );
                if let Some(folder) = &options.reports {
                    let name = format!("{} {}.txt", timed.variant, timed.case.replace(' ', "_"));
                    std::fs::create_dir_all(folder)?;
                    std::fs::write(folder.join(name), p.text())?;
                }
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
    if let Some(path) = &options.picture {
        std::fs::write(path, picture(&rows)).with_context(|| path.display().to_string())?;
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
        reports: None,
        picture: None,
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
            "--reports" => options.reports = Some(value.into()),
            "--picture" => options.picture = Some(value.into()),
            "--out" => options.out = Some(value.into()),
            _ => bail!("unknown option {word}; --help lists the options"),
        }
    }
    if options.kernels.as_os_str().is_empty() {
        bail!("--kernels is missing; --help lists the options");
    }
    Ok(options)
}

/// Does something with each item on all processors.
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

fn newest_results(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)?.filter_map(|e| e.ok().map(|e| e.path())).collect();
    found.retain(|p| p.extension().is_some_and(|e| e == "jsonl"));
    found.sort();
    found.pop().context("no results under docs/results")
}

/// The short timings of this compiler's kernels, in the order of the run.
fn timed(text: &str) -> anyhow::Result<Vec<Timed>> {
    let mut out: Vec<Timed> = Vec::new();
    let mut spreads: BTreeMap<String, f64> = BTreeMap::new();
    for line in text.lines() {
        let r: Value = serde_json::from_str(line)?;
        if r["record"] != "measurement" || r["impl"] != "ours" {
            continue;
        }
        if r["precise"] != false {
            let quarter = |key: &str| r["us"][key].as_f64();
            if let (Some(name), Some(low), Some(high), Some(middle)) =
                (r["name"].as_str(), quarter("q1"), quarter("q3"), quarter("median"))
            {
                spreads.insert(name.into(), (high - low) / middle);
            }
            continue;
        }
        let word = |key: &str| r[key].as_str().map(str::to_owned).with_context(|| format!("no {key} in: {line}"));
        let grid = std::array::from_fn(|i| r["grid"][i].as_u64().unwrap_or(1) as u32);
        let us = r["us"]["median"].as_f64().with_context(|| format!("no time in: {line}"))?;
        out.push(Timed { case: word("name")?, variant: word("config")?, grid, us, spread: 0.0 });
    }
    for timed in &mut out {
        timed.spread = spreads.get(&timed.case).copied().unwrap_or(0.0);
    }
    Ok(out)
}

/// What the assembler makes of a kernel: registers of a thread, and the image as `nvdisasm` beside it lists it.
fn assembled(ptxas: &Path, path: &Path, target: &str) -> anyhow::Result<timing::Options> {
    let arch = format!("-arch={target}");
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let thread = std::thread::current().id();
    let image = std::env::temp_dir().join(format!("predict-{}-{thread:?}-{name}.cubin", std::process::id()));
    let done = Command::new(ptxas).args([&arch, "-v", "-o"]).arg(&image).arg(path).output();
    let text = String::from_utf8(done.with_context(|| ptxas.display().to_string())?.stderr)?;
    let registers = text.split("Used ").nth(1).and_then(|rest| rest.split(' ').next()).and_then(|n| n.parse().ok());
    let disassembler = ptxas.with_file_name("nvdisasm");
    let listing = Command::new(&disassembler).arg("-c").arg(&image).output();
    let listing = String::from_utf8(listing.with_context(|| disassembler.display().to_string())?.stdout)?;
    std::fs::remove_file(&image).with_context(|| format!("{}: {text}", image.display()))?;
    Ok(timing::Options { registers, listing: Some(listing), mhz: None })
}

fn prediction(path: &Path, timed: &Timed, machine: &Machine, ptxas: Option<&Path>) -> anyhow::Result<Prediction> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let module = Module::parse(&text)?;
    let mut device = Device::new(Config::default());
    let args = arguments(&mut device, &timed.case)?;
    let entry = module.entries().next().context("no entry")?.to_owned();
    let launch = LaunchConfig { grid: timed.grid, args: &args, ..LaunchConfig::default() };
    let options = match ptxas {
        Some(tool) => assembled(tool, path, &module.target)?,
        None => timing::Options::default(),
    };
    Ok(predict(&mut device, &module, &entry, &launch, machine, &options)?)
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

/// Rank correlation by pairs: of the pairs whose measured times differ by more than `spread`, those in the same order
/// less those in the other, as a share. `None` where there are no such pairs.
fn pair_correlation(pairs: &[(f64, f64)], spread: f64) -> Option<f64> {
    let (mut right, mut wrong) = (0.0, 0.0);
    for (i, a) in pairs.iter().enumerate() {
        for b in &pairs[..i] {
            if (a.0 / b.0 - 1.0).abs().min((b.0 / a.0 - 1.0).abs()) > spread {
                let same = (a.0 - b.0) * (a.1 - b.1);
                right += f64::from(u8::from(same > 0.0));
                wrong += f64::from(u8::from(same < 0.0));
            }
        }
    }
    (right + wrong > 0.0).then(|| (right - wrong) / (right + wrong))
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
    let held_out = |r: &&(Timed, Prediction)| !LOOKED_AT.contains(&r.0.case.as_str());
    let all: Vec<f64> = rows.iter().map(error).collect();
    let rest: Vec<f64> = rows.iter().filter(held_out).map(error).collect();
    let most = |v: &[f64]| 100.0 * v.iter().copied().fold(0.0, f64::max);
    let _ = writeln!(
        out,
        "{} kernels on {} cases. Error of the time: median {:.1} %, most {:.1} %. Without the cases that were looked at \
         while the model was made ({}): median {:.1} %, most {:.1} % of {}.\n",
        rows.len(),
        cases.len(),
        100.0 * median(all.clone()),
        most(&all),
        LOOKED_AT.join(", "),
        100.0 * median(rest.clone()),
        most(&rest),
        rest.len()
    );
    let _ = writeln!(
        out,
        "| case | variants | median error | rank correlation | spread | by pairs |\n|---|---|---|---|---|---|"
    );
    let (mut ranks, mut by_pairs) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for (case, rows) in &cases {
        let pairs: Vec<(f64, f64)> = rows.iter().map(|r| (r.0.us, r.1.microseconds)).collect();
        let spread = rows.first().map_or(0.0, |r| r.0.spread);
        let (mut rank, mut pair) = ("-".to_owned(), "-".to_owned());
        if rows.len() >= 3 {
            let set = usize::from(!LOOKED_AT.contains(case));
            let r = rank_correlation(&pairs);
            if r.is_finite() {
                ranks[set].push(r);
                rank = format!("{r:.2}");
            }
            if let Some(r) = pair_correlation(&pairs, spread) {
                by_pairs[set].push(r);
                pair = format!("{r:.2}");
            }
        }
        let middle = 100.0 * median(rows.iter().map(|r| error(r)).collect());
        let spread = 100.0 * spread;
        let _ = writeln!(out, "| {case} | {} | {middle:.1} % | {rank} | {spread:.1} % | {pair} |", rows.len());
    }
    let both = |sets: &[Vec<f64>; 2]| (median(sets.concat()), median(sets[1].clone()));
    let ((rank, rank_held_out), (pair, pair_held_out)) = (both(&ranks), both(&by_pairs));
    let _ = writeln!(
        out,
        "\nRank correlation over cases with three or more variants: median {rank:.2}; of the cases held out \
         {rank_held_out:.2}. By pairs that differ by more than the spread of the measurement: median {pair:.2}; of the \
         cases held out {pair_held_out:.2}.\n",
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

/// Predicted over measured time, both logarithmic, with lines at 25 % above and below.
fn picture(rows: &[(Timed, Prediction)]) -> String {
    const SIZE: f64 = 480.0;
    const EDGE: f64 = 56.0;
    let times = || rows.iter().flat_map(|(t, p)| [t.us, p.microseconds]);
    let low = times().fold(f64::INFINITY, f64::min).max(1e-3).log10().floor();
    let high = times().fold(0.0, f64::max).max(1.0).log10().ceil();
    let at = |us: f64| EDGE + (us.log10() - low) / (high - low).max(1.0) * (SIZE - 2.0 * EDGE);
    let (x, y) = (at, |us: f64| SIZE - at(us));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SIZE} {SIZE}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{SIZE}\" height=\"{SIZE}\" fill=\"#fff\"/>\n"
    );
    // Writing to a string cannot fail.
    let (first, last) = (10f64.powf(low), 10f64.powf(high));
    for (factor, colour) in [(1.0, "#555"), (1.25, "#bbb"), (0.8, "#bbb")] {
        let (from, to) = (first.max(first / factor), last.min(last / factor));
        let _ = writeln!(
            out,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
            x(from),
            y(from * factor),
            x(to),
            y(to * factor)
        );
    }
    for decade in low as i32..=high as i32 {
        let us = 10f64.powi(decade);
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{us}</text>\n<text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{us}</text>",
            x(us),
            SIZE - EDGE + 18.0,
            EDGE - 6.0,
            y(us) + 4.0
        );
    }
    let kinds = [("mm", "#1b6ac9"), ("attention", "#c9501b"), ("softmax", "#2a8f4c"), ("layernorm", "#7b3fa8")];
    let colour = |case: &str| kinds.iter().find(|(k, _)| case.starts_with(k)).map_or("#333", |(_, c)| c);
    for (timed, p) in rows {
        let _ = writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\" fill=\"{}\" fill-opacity=\"0.7\"><title>{}, {}</title></circle>",
            x(timed.us),
            y(p.microseconds),
            colour(&timed.case),
            timed.variant,
            timed.case
        );
    }
    for (i, (kind, colour)) in kinds.iter().chain(&[("vadd", "#333")]).enumerate() {
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" fill=\"{colour}\">{kind}</text>",
            EDGE + 8.0,
            EDGE + 14.0 * i as f64
        );
    }
    let middle = SIZE / 2.0;
    let _ = writeln!(
        out,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">measured, us</text>\n<text x=\"14\" y=\"{middle}\" \
         text-anchor=\"middle\" transform=\"rotate(-90 14 {middle})\">predicted, us</text>\n</svg>",
        SIZE - 10.0
    );
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

    /// Pairs within the spread do not count.
    #[test]
    fn pairs_and_their_spread() {
        let pairs = [(100.0, 10.0), (101.0, 9.0), (120.0, 12.0)];
        assert_eq!(pair_correlation(&pairs, 0.02), Some(1.0));
        assert_eq!(pair_correlation(&pairs, 0.0), Some(1.0 / 3.0));
        assert_eq!(pair_correlation(&pairs[..2], 0.02), None);
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
