//! The predicted scoreboard: the best variant of this compiler for each case of the GPU kit, next to the measured
//! times of competitors.

use super::kernel::Source;
use super::launches::Launches;
use super::{in_parallel, page::median};
use anyhow::Context;
use ptx_sim::timing::Prediction;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Competitors: column title, and names in the records; the fastest of them counts.
const PEERS: [(&str, &[&str]); 3] = [
    ("library", &["cublas", "cudnn", "torch", "torch-flash", "torch-efficient", "torch-varlen", "torch-flex"]),
    ("NVIDIA's tileiras", &["tileiras-vendor"]),
    ("Triton", &["triton"]),
];

/// One case of the kit.
#[derive(Debug, Default, PartialEq)]
struct Case {
    name: String,
    /// Microseconds of the peers, in the order of [`PEERS`].
    peers: [Option<f64>; PEERS.len()],
    /// This compiler's best kernel at the time of the run.
    before: Option<f64>,
    /// The clock during the measurement, if it was sampled.
    mhz: Option<f64>,
    /// Variants with their grids.
    variants: BTreeMap<String, [u32; 3]>,
}

/// Returns the cases of a run, in order: peers with their precise timing, and variants that this compiler or NVIDIA's
/// has run. Variants for clusters are left out, because their grids count CTAs differently.
fn cases(results: &str) -> anyhow::Result<Vec<Case>> {
    let mut found: Vec<Case> = Vec::new();
    for line in results.lines() {
        let r: Value = serde_json::from_str(line)?;
        if r["record"] != "measurement" || r["part"] != "peers" {
            continue;
        }
        let (Some(name), Some(who)) = (r["name"].as_str(), r["impl"].as_str()) else { continue };
        let at = found.iter().position(|c| c.name == name).unwrap_or_else(|| {
            found.push(Case { name: name.into(), ..Case::default() });
            found.len() - 1
        });
        let case = &mut found[at];
        if let Some(config) =
            r["config"].as_str().filter(|c| matches!(who, "ours" | "tileiras-vendor") && !clustered(c))
        {
            let grid = std::array::from_fn(|i| r["grid"][i].as_u64().unwrap_or(1) as u32);
            case.variants.insert(config.into(), grid);
        }
        if r["precise"] == false {
            continue;
        }
        let us = r["us"]["median"].as_f64().with_context(|| format!("no time in: {line}"))?;
        if let Some(peer) = PEERS.iter().position(|(_, names)| names.contains(&who)) {
            case.peers[peer] = Some(case.peers[peer].map_or(us, |old: f64| old.min(us)));
        } else if who == "ours" {
            case.before = Some(us);
        }
        case.mhz = r["clocks"]["sm_mhz"]["median"].as_f64().or(case.mhz);
    }
    // Copies that only measure memory bandwidth have no variants.
    found.retain(|c| !c.variants.is_empty() && c.peers.iter().any(Option::is_some));
    Ok(found)
}

/// Returns the kit's cases that a run has not measured, with all their variants. The first grid of a launch counts tile
/// blocks, as kernels of this compiler expect even if each is a cluster.
fn unmeasured(measured: &[Case], launches: &Launches) -> Vec<Case> {
    let new = launches.0.iter().filter(|c| measured.iter().all(|m| m.name != c.name));
    let case = |c: &super::launches::Case| Case {
        name: c.name.clone(),
        variants: c.variants.iter().map(|(v, s)| (v.clone(), s[0].grid)).collect(),
        ..Case::default()
    };
    new.map(case).collect()
}

/// Whether a variant's name says that its CTAs form clusters (`_c2` and similar).
fn clustered(variant: &str) -> bool {
    variant.split('_').any(|part| part.strip_prefix('c').is_some_and(|n| n.parse::<u32>().is_ok()))
}

/// Returns the page, and the kernels that could not be predicted.
pub fn page(results: &str, source: &Source<'_>, only: &str) -> anyhow::Result<(String, Vec<String>)> {
    let mut cases = cases(results)?;
    cases.extend(unmeasured(&cases, source.launches));
    cases.retain(|c| c.name.contains(only));
    // Hints without effect give the same code under several names: predict only the first of them.
    let names: Vec<&String> =
        cases.iter().flat_map(|c| c.variants.keys()).collect::<BTreeSet<_>>().into_iter().collect();
    let codes: BTreeMap<&String, String> =
        names.iter().zip(in_parallel(&names, |n| source.code(n))).filter_map(|(n, c)| Some((*n, c.ok()?))).collect();
    let mut work: Vec<(&Case, &String, [u32; 3])> =
        cases.iter().flat_map(|c| c.variants.iter().map(move |(variant, grid)| (c, variant, *grid))).collect();
    let mut seen: BTreeSet<(&str, &str, [u32; 3])> = BTreeSet::new();
    work.retain(|(case, variant, grid)| codes.get(variant).is_none_or(|code| seen.insert((&case.name, code, *grid))));
    let predicted = in_parallel(&work, |(case, variant, grid)| {
        let result = source.prediction(variant, &case.name, *grid, case.mhz);
        if let Ok(p) = &result {
            eprintln!("{} | {variant}: {:.1} us", case.name, p.microseconds);
        }
        result
    });
    let mut problems = Vec::new();
    let mut best: BTreeMap<&str, (&str, Prediction)> = BTreeMap::new();
    for ((case, variant, _), result) in work.iter().zip(predicted) {
        match result {
            Ok(p) => {
                let have = best.get(case.name.as_str()).map_or(f64::INFINITY, |(_, p)| p.microseconds);
                if p.microseconds < have {
                    best.insert(&case.name, (variant.as_str(), p));
                }
            }
            Err(e) => problems.push(format!("{variant} on {}: {e:#}", case.name)),
        }
    }
    Ok((table(&cases, &best, source), problems))
}

fn table(cases: &[Case], best: &BTreeMap<&str, (&str, Prediction)>, source: &Source<'_>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# Scoreboard as predicted: {}\n", source.machine.device);
    out.push_str(
        "Times are in microseconds. The competitors' times were measured. Ours are *predicted*, for the best of our\n\
         variants, by the simulator's timing model ([timing.md](../timing.md)). The clock is the one the GPU ran at\n\
         during the competitors' measurement, or the highest one if it was not sampled. The last column divides the best\n\
         competitor's time by ours: above 1.00 ours is faster, if the prediction holds.\n\n\
         [timing.md](../timing.md#accuracy) says how accurate predictions are. \"Ours, measured\" is the compiler of the\n\
         day of the run, which used `mma.sync` only; `wgmma` kernels have been measured on an H200 only\n\
         ([performance.md](../performance.md)). Row kernels and vector addition have not changed since, so for them the\n\
         difference between our two columns is the error of the prediction. Cases without competitors were not measured\n\
         on this machine.\n\n\
         Inputs are zeros, except arrays that determine the amount of work. In attention the row maximum then never\n\
         grows, and the accumulator is never rescaled ([warp-specialized-dots.md](../warp-specialized-dots.md)); other\n\
         inputs take longer. The kernel that zero-fills the result of a split-K matmul is not counted.\n\n",
    );
    let _ = writeln!(
        out,
        "| case | MHz | {} | {} | {} | ours, measured | ours, predicted | rate | variant | busiest | best / ours |\n\
         |---|---|---|---|---|---|---|---|---|---|---|",
        PEERS[0].0, PEERS[1].0, PEERS[2].0
    );
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for case in cases {
        let mhz = case.mhz.map_or("-".to_owned(), |m| format!("{m:.0}"));
        let measured = case.peers.iter().chain([&case.before]);
        let cells: Vec<String> = measured.map(|p| p.map_or("-".to_owned(), |us| format!("{us:.1}"))).collect();
        let fastest = case.peers.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let Some((variant, p)) = best.get(case.name.as_str()) else {
            let _ = writeln!(out, "| {} | {mhz} | {} | - | - | - | - | - |", case.name, cells.join(" | "));
            continue;
        };
        let mut ratio = "-".to_owned();
        if fastest.is_finite() {
            let kind = case.name.split(' ').next().unwrap_or_default();
            ratios.entry(kind).or_default().push(fastest / p.microseconds);
            ratio = format!("{:.2}", fastest / p.microseconds);
        }
        let rate = source.launches.case(&case.name).map_or("-".to_owned(), |c| c.rate(p.microseconds));
        let busiest = p.busy.first().map_or(String::new(), |(name, share)| format!("{name} {:.0} %", 100.0 * share));
        let _ = writeln!(
            out,
            "| {} | {mhz} | {} | {:.1} | {rate} | {variant} | {busiest} | {ratio} |",
            case.name,
            cells.join(" | "),
            p.microseconds
        );
    }
    let mean = |r: &[f64]| (r.iter().map(|x| x.ln()).sum::<f64>() / r.len() as f64).exp();
    let means: Vec<String> = ratios
        .iter()
        .map(|(kind, r)| format!("{kind} {:.2} (median {:.2}, {} cases)", mean(r), median(r.clone()), r.len()))
        .collect();
    let _ = writeln!(out, "\nGeometric means of the last column: {}.", means.join(", "));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_of_a_run() {
        let record = |who: &str, config: &str, precise: bool, us: f64| {
            format!(
                r#"{{"record":"measurement","part":"peers","name":"mm","impl":"{who}","config":"{config}","precise":{precise},"grid":[7,1,1],"us":{{"median":{us}}},"clocks":{{"sm_mhz":{{"median":1500}}}}}}"#
            )
        };
        let lines = [
            record("cublas", "", false, 9.0),
            record("ours", "a", false, 30.0),
            record("tileiras-vendor", "b", false, 12.0),
            record("tileiras-vendor", "b_c2", false, 11.0),
            record("cublas", "", true, 10.0),
            record("torch", "", true, 8.0),
            record("tileiras-vendor", "b", true, 12.0),
            record("tileiras-vendor", "b_causal", false, 12.0),
            record("ours", "a", true, 31.0),
            r#"{"record":"case","part":"peers","name":"other","status":"pass"}"#.into(),
        ];
        let found = cases(&lines.join("\n")).unwrap();
        let variants = BTreeMap::from(["a", "b", "b_causal"].map(|v| (v.to_owned(), [7, 1, 1])));
        let peers = [Some(8.0), Some(12.0), None];
        let expected = Case { name: "mm".into(), peers, before: Some(31.0), mhz: Some(1500.0), variants };
        assert_eq!(found, [expected]);
    }

    /// They are on the page, with "-" for unknown values, and do not count in the means.
    #[test]
    fn cases_that_nobody_has_measured() {
        let launches = crate::predict::launches::tests::sample();
        let measured = vec![Case { name: "mm".into(), ..Case::default() }];
        let found = unmeasured(&measured, &launches);
        let variants = BTreeMap::from([("first".to_owned(), [7, 2, 1])]);
        assert_eq!(found, [Case { name: "both bf16 4x8".into(), variants, ..Case::default() }]);
        assert!(unmeasured(&found, &launches).is_empty());
        let machine = tile_machine::Machine::named("sm_90").unwrap();
        let folder = std::path::Path::new("");
        let source = Source { kernels: folder, launches: &launches, compile: &[], ptxas: None, machine: &machine };
        let page = table(&found, &BTreeMap::new(), &source);
        assert!(page.contains("| both bf16 4x8 | - | - | - | - | - | - | - | - | - | - |\n"), "{page}");
    }
}
