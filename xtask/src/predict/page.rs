//! The page and the picture that compare predicted with measured times.

use super::Timed;
use ptx_sim::timing::Prediction;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tile_machine::Machine;

/// Returns Spearman's rank correlation. Equal values share their rank.
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

/// Returns the rank correlation by pairs. It counts pairs with measured times that differ by more than `spread`: the
/// share in the right order minus the share in the wrong order. `None` if there are no such pairs.
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

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

/// The kernels that a page is about.
pub struct Subject {
    title: String,
    /// Cases examined during the model's development; the others are held out.
    looked_at: &'static [&'static str],
    /// A paragraph about the kernels.
    about: String,
}

impl Subject {
    pub fn ours() -> Subject {
        let looked_at = &[
            "mm bf16 2048x2048x2048 nt",
            "mm bf16 4096x4096x4096 nt",
            "mm bf16 65536x1024x1024 nt",
            "mm fp8 8192x8192x1024 nt",
        ];
        Subject { title: "Predicted and measured".into(), looked_at, about: String::new() }
    }

    pub fn triton(version: &str) -> Subject {
        let about = format!(
            "Kernels of `gpu/kit/peers/triton_kernels.py`, with PTX of Triton {version}. Which version the run had was \
             not recorded."
        );
        Subject { title: "Triton's kernels, predicted and measured".into(), looked_at: &[], about }
    }
}

/// Returns the families that a row belongs to: the operation, its type, and Triton's variant of the algorithm.
fn families(timed: &Timed) -> Vec<String> {
    let mut words = timed.case.split(' ');
    let kind = words.next().unwrap_or_default();
    let mut found = vec![kind.to_owned()];
    if kind == "mm" {
        found.push(format!("{kind} {}", words.next().unwrap_or_default()));
    }
    // Names of our variants are one word.
    if let Some(way) = timed.variant.split(' ').nth(1).filter(|_| matches!(kind, "mm" | "attention")) {
        found.push(format!("{kind}, {way}"));
    }
    found
}

/// Returns a table with the number of kernels and the median and largest error of each family.
fn by_family(rows: &[(Timed, Prediction)]) -> String {
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (timed, p) in rows {
        let ratio = p.microseconds / timed.us;
        families(timed).into_iter().for_each(|f| all.entry(f).or_default().push(ratio));
    }
    let mut out = String::from("| family | kernels | median error | largest | median ratio |\n|---|---|---|---|---|\n");
    for (family, ratios) in all {
        let errors: Vec<f64> = ratios.iter().map(|r| 100.0 * (r - 1.0).abs()).collect();
        let most = errors.iter().copied().fold(0.0, f64::max);
        let (number, error, ratio) = (ratios.len(), median(errors), median(ratios));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {family} | {number} | {error:.1} % | {most:.1} % | {ratio:.2} |");
    }
    out
}

/// A kernel predicted at the device's clock.
pub struct AtClock {
    case: String,
    variant: String,
    at: super::AtClock,
    predicted: f64,
}

impl AtClock {
    pub fn new(timed: &Timed, at: super::AtClock, predicted: f64) -> AtClock {
        AtClock { case: timed.case.clone(), variant: timed.variant.clone(), at, predicted }
    }
}

/// Returns the table of kernels with a precise timing, predicted at the clock sampled during it.
fn at_clocks(rows: &[AtClock]) -> String {
    let ratio = |r: &AtClock| r.predicted / r.at.us;
    let errors: Vec<f64> = rows.iter().map(|r| 100.0 * (ratio(r) - 1.0).abs()).collect();
    let most = errors.iter().copied().fold(0.0, f64::max);
    let mut out = format!(
        "## At the clock that was seen\n\n\
         The best variant of each case was timed a second time, interleaved with its competitors. The table has the \
         kernels whose clock was sampled at least three times during that timing, predicted at the median of the \
         samples: {} kernels, error {:.1} % in the median, {most:.1} % at most.\n\n\
         | case | variant | MHz | measured us | predicted us | ratio |\n|---|---|---|---|---|---|\n",
        rows.len(),
        median(errors)
    );
    for r in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "| {} | {} | {:.0} | {:.1} | {:.1} | {:.2} |",
            r.case,
            r.variant,
            r.at.mhz,
            r.at.us,
            r.predicted,
            ratio(r)
        );
    }
    out
}

/// Scales a prediction to another clock: a memory-bound kernel takes the same time, any other the same number of
/// clocks.
fn at(p: &Prediction, mhz: f64) -> f64 {
    if p.busy.first().is_some_and(|(name, _)| *name == "memory") {
        p.microseconds
    } else {
        p.microseconds * p.mhz / mhz
    }
}

/// Clocks below this fraction of the highest clock are reported.
const LOWER: f64 = 0.995;

/// Returns the comparison at the clocks derived from the run's log.
fn with_clocks(rows: &[(Timed, Prediction)], clocks: &BTreeMap<super::clock::Key, f64>) -> String {
    struct Row<'a> {
        timed: &'a Timed,
        mhz: f64,
        highest: f64,
        us: f64,
    }
    let mut cases: BTreeMap<&str, Vec<Row<'_>>> = BTreeMap::new();
    for (timed, p) in rows {
        let mhz = clocks.get(&(timed.case.clone(), timed.variant.clone())).map_or(p.mhz, |mhz| mhz.min(p.mhz));
        cases.entry(&timed.case).or_default().push(Row { timed, mhz, highest: p.microseconds, us: at(p, mhz) });
    }
    let error = |us: f64, t: &Timed| 100.0 * (us / t.us - 1.0).abs();
    let all = || cases.values().flatten();
    let before: Vec<f64> = all().map(|r| error(r.highest, r.timed)).collect();
    let after: Vec<f64> = all().map(|r| error(r.us, r.timed)).collect();
    let most = |errors: &[f64]| errors.iter().copied().fold(0.0, f64::max);
    let (mut ranks, mut lines, mut lower) = (Vec::new(), String::new(), String::new());
    for (case, rows) in &cases {
        let middle = |us: fn(&Row<'_>) -> f64| median(rows.iter().map(|r| error(us(r), r.timed)).collect());
        let rank = |us: fn(&Row<'_>) -> f64| {
            let r = rank_correlation(&rows.iter().map(|r| (r.timed.us, us(r))).collect::<Vec<_>>());
            (rows.len() >= 3 && r.is_finite()).then_some(r)
        };
        let shown = |r: Option<f64>| r.map_or("-".to_owned(), |r| format!("{r:.2}"));
        let mhz = rows.iter().map(|r| r.mhz).fold(f64::INFINITY, f64::min);
        let (old, new) = (rank(|r| r.highest), rank(|r| r.us));
        ranks.extend(new);
        // Writing to a string cannot fail.
        let _ = writeln!(
            lines,
            "| {case} | {mhz:.0} | {:.1} % | {:.1} % | {} | {} |",
            middle(|r| r.highest),
            middle(|r| r.us),
            shown(old),
            shown(new)
        );
        for r in rows.iter().filter(|r| r.us > r.highest / LOWER) {
            let (variant, us) = (&r.timed.variant, r.timed.us);
            let _ = writeln!(lower, "| {case} | {variant} | {:.0} | {us:.1} | {:.1} | {:.2} |", r.mhz, r.us, r.us / us);
        }
    }
    let mut out = String::from(
        "## With the clock that the log implies\n\n\
         A kernel that draws more than the power limit lowers the clock, and the next timing starts at that clock. The \
         log records when each kernel ran; the power model ([timing.md](../timing.md#power)) derives the clocks from it. \
         Predictions at these clocks: ",
    );
    let _ = writeln!(
        out,
        "median error {:.1} %, most {:.1} % (at the highest clock {:.1} % and {:.1} %). Rank correlation over cases with \
         three or more variants: median {:.2}.\n\n\
         | case | lowest MHz | median error at the highest clock | at these | rank correlation at the highest | at these |\n\
         |---|---|---|---|---|---|\n{lines}",
        median(after.clone()),
        most(&after),
        median(before.clone()),
        most(&before),
        median(ranks)
    );
    if !lower.is_empty() {
        let _ = write!(
            out,
            "| case | variant | MHz | measured us | predicted us | ratio |\n|---|---|---|---|---|---|\n{lower}"
        );
    }
    out
}

/// Returns the page. `picture` is the file name of the picture written by [`picture`], in the same folder.
pub fn page(
    rows: &[(Timed, Prediction)],
    at_clock: &[AtClock],
    clocks: &BTreeMap<super::clock::Key, f64>,
    subject: &Subject,
    machine: &Machine,
    picture: Option<&str>,
) -> String {
    let mut cases: BTreeMap<&str, Vec<&(Timed, Prediction)>> = BTreeMap::new();
    for row in rows {
        cases.entry(&row.0.case).or_default().push(row);
    }
    let error = |r: &(Timed, Prediction)| (r.1.microseconds / r.0.us - 1.0).abs();
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# {}: {}\n", subject.title, machine.device);
    if !subject.about.is_empty() {
        let _ = writeln!(out, "{}\n", subject.about);
    }
    let held_out = |r: &&(Timed, Prediction)| !subject.looked_at.contains(&r.0.case.as_str());
    let all: Vec<f64> = rows.iter().map(error).collect();
    let rest: Vec<f64> = rows.iter().filter(held_out).map(error).collect();
    let most = |v: &[f64]| 100.0 * v.iter().copied().fold(0.0, f64::max);
    let _ = write!(
        out,
        "{} kernels on {} cases. Error of the time: median {:.1} %, most {:.1} %.",
        rows.len(),
        cases.len(),
        100.0 * median(all.clone()),
        most(&all)
    );
    if !subject.looked_at.is_empty() {
        let _ = write!(
            out,
            " Without the cases that were examined during the model's development ({}): median {:.1} %, most {:.1} % of {}.",
            subject.looked_at.join(", "),
            100.0 * median(rest.clone()),
            most(&rest),
            rest.len()
        );
    }
    let within = |part: f64| all.iter().filter(|e| **e <= part).count();
    let _ = writeln!(out, " {} are within 15 %, {} within 30 %.\n", within(0.15), within(0.3));
    if let Some(name) = picture {
        let _ = writeln!(out, "![Predicted against measured time of each kernel]({name})\n");
    }
    let _ = writeln!(out, "{}", by_family(rows));
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
            let set = usize::from(!subject.looked_at.contains(case));
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
    let summary = |sets: &[Vec<f64>; 2]| {
        let held_out = format!("; of the cases held out {:.2}", median(sets[1].clone()));
        let held_out = if subject.looked_at.is_empty() { "" } else { &held_out };
        format!("median {:.2}{held_out}", median(sets.concat()))
    };
    let _ = writeln!(
        out,
        "\nRank correlation over cases with three or more variants: {}. By pairs that differ by more than the spread of \
         the measurement: {}.\n",
        summary(&ranks),
        summary(&by_pairs)
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
    if !clocks.is_empty() {
        let _ = write!(out, "\n{}", with_clocks(rows, clocks));
    }
    if !at_clock.is_empty() {
        let _ = write!(out, "\n{}", at_clocks(at_clock));
    }
    out
}

/// Draws predicted over measured time on logarithmic axes, with lines at 25 % above and below.
pub fn picture(rows: &[(Timed, Prediction)]) -> String {
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

    fn timed(case: &str, variant: &str) -> Timed {
        Timed { case: case.into(), variant: variant.into(), grid: [1; 3], us: 1.0, at_clock: None, spread: 0.0 }
    }

    #[test]
    fn families_of_kernels() {
        assert_eq!(families(&timed("mm bf16 8x8x8 nt", "mm_bf16_nt")), ["mm", "mm bf16"]);
        let found = families(&timed("mm fp8 8x8x8 nt", "128x128x64 persistent w8 s4"));
        assert_eq!(found, ["mm", "mm fp8", "mm, persistent"]);
        assert_eq!(families(&timed("softmax bf16 8x8", "8 rows w4 s1")), ["softmax"]);
    }

    #[test]
    fn kernels_at_their_clock() {
        let at = crate::predict::AtClock { us: 200.0, mhz: 1500.0 };
        let page = at_clocks(&[AtClock::new(&timed("mm", "a"), at, 190.0)]);
        assert!(page.contains("1 kernels, error 5.0 % in the median, 5.0 % at most."), "{page}");
        assert!(page.ends_with("| mm | a | 1500 | 200.0 | 190.0 | 0.95 |\n"), "{page}");
    }

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
}
