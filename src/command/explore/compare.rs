//! `tileiras diff`: two explorations, compared pass by pass.
//!
//! The programs after a pass are compared without the numbers of values ([`changes`]). Two versions of a source differ
//! from the start, so that the place of the first difference says little about them. The table therefore lists the
//! passes at which the number of differing lines changes.

use std::fmt::Write;

use crate::{Exploration, Listing, Remark, changes::changes};

/// The program after the same pass on both sides.
pub(crate) struct Pair<'a> {
    /// Empty for the input.
    pub pass: &'a str,
    pub level: &'a str,
    pub sides: [&'a Listing; 2],
    /// The number of lines that only one side has.
    pub differing: usize,
}

/// The most lines of a difference that are shown.
const MOST: usize = 40;
/// The most columns of a line that are shown.
const COLUMNS: usize = 150;

/// The programs after the passes that both compilations ran, in order, and the passes of only one of them.
pub(crate) fn pairs<'a>([a, b]: [&'a Exploration; 2]) -> (Vec<Pair<'a>>, Vec<(usize, &'a str)>) {
    let named = |e: &'a Exploration| {
        let mut last = None;
        let mut seen: Vec<&str> = vec![];
        let steps = e.steps.iter().map(|step| {
            last = step.program.as_ref().or(last);
            let run = seen.iter().filter(|pass| **pass == step.pass).count();
            seen.push(&step.pass);
            ((step.pass.as_str(), run), step.level.as_str(), last)
        });
        steps.collect::<Vec<_>>()
    };
    let (left, right) = (named(a), named(b));
    let mut found: Vec<Pair<'_>> = vec![];
    for (name, level, program) in &left {
        let other = right.iter().find(|(other, _, _)| other == name);
        let Some((x, y)) = program.zip(other.and_then(|(_, _, program)| *program)) else { continue };
        let differing = changes(&x.text, &y.text).iter().map(|run| run.removed + run.added).sum();
        found.push(Pair { pass: name.0, level, sides: [x, y], differing });
    }
    let only = |side: usize, own: &[_], other: &[((&str, usize), &str, Option<&Listing>)]| {
        let missing = |(name, _, _): &((&'a str, usize), &str, Option<&Listing>)| {
            (!other.iter().any(|(o, _, _)| o == name)).then_some((side, name.0))
        };
        own.iter().filter_map(missing).collect::<Vec<_>>()
    };
    let mut alone = only(0, &left, &right);
    alone.extend(only(1, &right, &left));
    (found, alone)
}

fn name<'a>(pair: &Pair<'a>) -> &'a str {
    if pair.pass.is_empty() { "(input)" } else { pair.pass }
}

/// Compares two explorations. `at` names a pass, or a level, whose last pass is meant, or `ptx`; without it the first
/// difference is shown.
///
/// # Errors
/// Neither a pass nor a level has the name `at`.
pub fn compare(names: [&str; 2], both: [&Exploration; 2], at: Option<&str>) -> Result<String, String> {
    let (pairs, alone) = pairs(both);
    let mut text = String::new();
    let outputs: Vec<Pair<'_>> = both[0].outputs.iter().filter_map(|x| output(x, both[1])).collect();
    let all: Vec<&Pair<'_>> = pairs.iter().chain(&outputs).collect();
    let mut before = 0;
    let mut rows = vec![];
    for pair in &all {
        if pair.differing != before || pair.pass.is_empty() {
            rows.push((name(pair), pair.differing));
            before = pair.differing;
        }
    }
    for (side, name) in names.into_iter().enumerate() {
        let passes: Vec<&str> = alone.iter().filter(|(of, _)| *of == side).map(|(_, pass)| *pass).collect();
        if !passes.is_empty() {
            let _ = writeln!(text, "only {name} runs {}", passes.join(", "));
        }
    }
    remarks(&mut text, names, both);
    let Some(first) = all.iter().find(|pair| pair.differing > 0) else {
        text.push_str("the programs are the same after every pass\n");
        return Ok(text);
    };
    text.push_str("lines that differ after\n");
    for (name, differing) in rows {
        let _ = writeln!(text, "{differing:>6}  {name}");
    }
    let shown = match at {
        None => first,
        Some(at) => all
            .iter()
            .rfind(|pair| pair.pass == at)
            .or_else(|| all.iter().rfind(|pair| pair.level == at))
            .ok_or_else(|| format!("no pass or level of both compilations is called '{at}'"))?,
    };
    let what = if at.is_none() { "the first difference is after" } else { "the difference after" };
    let _ = writeln!(text, "{what} {}", name(shown));
    difference(&mut text, shown);
    Ok(text)
}

/// Pairs the outputs of one level, without comments.
fn output<'a>(x: &'a crate::Output, other: &'a Exploration) -> Option<Pair<'a>> {
    let y = other.outputs.iter().find(|y| y.level == x.level)?;
    let differing = changes(&x.program.text, &y.program.text).iter().map(|run| run.removed + run.added).sum();
    Some(Pair { pass: &x.level, level: &x.level, sides: [&x.program, &y.program], differing })
}

/// Appends the remarks of one side only, which often are the reason.
fn remarks(text: &mut String, names: [&str; 2], both: [&Exploration; 2]) {
    for (side, name) in names.into_iter().enumerate() {
        for remark in remarks_of_one(both, side) {
            let line = if remark.line > 0 { format!(":{}", remark.line) } else { String::new() };
            let _ = writeln!(text, "only {name}{line}: {}: {}", remark.pass, remark.message);
        }
    }
}

/// The remarks of one side that the other lacks.
pub(crate) fn remarks_of_one(both: [&Exploration; 2], side: usize) -> Vec<&Remark> {
    let equal = |a: &Remark, b: &Remark| (&a.name, &a.function, &a.message) == (&b.name, &b.function, &b.message);
    let is_new = |r: &&Remark| !both[1 - side].remarks.iter().any(|o| equal(o, r));
    both[side].remarks.iter().filter(is_new).collect()
}

/// Appends the lines that differ, with their source lines.
fn difference(text: &mut String, pair: &Pair<'_>) {
    let [old, new] = pair.sides;
    let runs = changes(&old.text, &new.text);
    let (before, after): (Vec<&str>, Vec<&str>) = (old.text.lines().collect(), new.text.lines().collect());
    let mut lines = vec![];
    for run in runs {
        let mut take = |sign, all: &[&str], of: &Listing, start: usize, count: usize| {
            for (at, text) in all.iter().enumerate().skip(start).take(count) {
                let line = of.lines.get(at).copied().filter(|line| *line > 0);
                let place = line.map_or(String::new(), |line| format!("{line}:"));
                let shown: String = text.trim_start().chars().take(COLUMNS).collect();
                let rest = if shown.len() < text.trim_start().len() { " ..." } else { "" };
                lines.push(format!("{place:>6} {sign} {shown}{rest}\n"));
            }
        };
        take('-', &before, old, run.before, run.removed);
        take('+', &after, new, run.after, run.added);
    }
    lines.iter().take(MOST).for_each(|line| text.push_str(line));
    if lines.len() > MOST {
        let _ = writeln!(text, "       ... and {} more lines", lines.len() - MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Output, Pass};

    fn exploration(steps: &[(&str, &str, Option<&str>)], ptx: &str) -> Exploration {
        let listing = |text: &str| Listing { text: text.to_owned(), lines: (1..).take(text.lines().count()).collect() };
        let steps = steps.iter().map(|(pass, level, text)| Pass {
            pass: (*pass).to_owned(),
            level: (*level).to_owned(),
            program: text.map(listing),
        });
        let outputs = vec![Output { level: "ptx".into(), program: listing(ptx) }];
        Exploration { steps: steps.collect(), outputs, ..Exploration::default() }
    }

    #[test]
    fn the_first_difference_is_found() {
        let a = exploration(
            &[("", "tileaa", Some("x %1\n")), ("p", "tileaa", None), ("q", "tileas", Some("y %1\nv 4\n"))],
            "a\n",
        );
        let b = exploration(
            &[("", "tileaa", Some("x %2\n")), ("p", "tileaa", None), ("q", "tileas", Some("y %3\nv 1\n"))],
            "a\n",
        );
        let text = compare(["A", "B"], [&a, &b], None).unwrap();
        let expected = "lines that differ after\n     0  (input)\n     2  q\n     0  ptx\nthe first difference is after q\n    2: - v 4\n    2: + v 1\n";
        assert_eq!(text, expected);
        assert_eq!(compare(["A", "B"], [&a, &a], None).unwrap(), "the programs are the same after every pass\n");
        assert!(compare(["A", "B"], [&a, &b], Some("tileas")).unwrap().contains("the difference after q\n"));
        assert!(compare(["A", "B"], [&a, &b], Some("nowhere")).is_err());
    }

    #[test]
    fn passes_and_remarks_of_one_side_are_named() {
        let mut a = exploration(&[("", "tileaa", Some("x\n")), ("p", "tileaa", Some("z\n"))], "a\n");
        let b = exploration(&[("", "tileaa", Some("x\n"))], "b\n");
        let remark = Remark { pass: "p".into(), message: "narrow".into(), line: 3, ..Remark::default() };
        a.remarks.push(remark);
        let text = compare(["A", "B"], [&a, &b], None).unwrap();
        assert!(text.starts_with("only A runs p\nonly A:3: p: narrow\n"), "{text}");
        assert!(text.ends_with("the first difference is after ptx\n    1: - a\n    1: + b\n"), "{text}");
    }
}
