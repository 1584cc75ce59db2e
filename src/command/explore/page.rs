//! The page: a JSON object, and the script in `page/` that shows it.

use std::collections::HashMap;

use serde::Serialize;

use crate::{Exploration, Kernel, Listing, Remark, changes::changes, compare};

const FRAME: &str = include_str!("page/frame.html");
const STYLE: &str = concat!(include_str!("page/palette.css"), include_str!("page/style.css"));
const LAYOUTS: &str = include_str!("page/layouts.js");
const PROGRAM: &str = include_str!("page/program.js");

/// The data of the script. Most lines occur in many listings, so each distinct line is stored once.
#[derive(Serialize)]
struct Data<'a> {
    input: &'a str,
    compiler: &'a str,
    target: &'a str,
    arguments: &'a [String],
    strings: Vec<&'a str>,
    listings: Vec<ShownListing>,
    steps: Vec<ShownPass<'a>>,
    origins: &'a [Option<String>],
    remarks: Vec<Remark>,
    kernels: &'a [Kernel],
    schedules: Option<&'a str>,
}

/// A program at the end of a level or after a pass.
#[derive(Serialize)]
struct ShownListing {
    /// The name of the level; empty after other passes.
    title: String,
    /// Indices into [`Data::strings`].
    text: Vec<usize>,
    /// The source lines.
    lines: Vec<u32>,
}

/// A pass and its changes.
#[derive(Serialize)]
struct ShownPass<'a> {
    pass: &'a str,
    level: &'static str,
    /// Indices of the listings before and after the pass.
    before: usize,
    after: usize,
    /// The number of removed and added lines.
    removed: usize,
    added: usize,
    /// Triples: the numbers of unchanged, removed and added lines.
    runs: Vec<usize>,
}

/// The titles of the levels, in order.
const LEVELS: &[(&str, &str)] = &[
    ("cuda-tile", "cuda_tile"),
    ("tileaa", "nv_tileaa"),
    ("tileas", "nv_tileas"),
    ("llvm", "LLVM dialect"),
    ("llvm-ir", "LLVM IR"),
    ("ptx", "PTX"),
    ("sass", "machine code"),
];

fn title(level: &str) -> &'static str {
    LEVELS.iter().find(|(name, _)| *name == level).map_or("", |(_, title)| title)
}

struct Builder<'a> {
    known: HashMap<&'a str, usize>,
    strings: Vec<&'a str>,
    listings: Vec<ShownListing>,
}

impl<'a> Builder<'a> {
    fn add(&mut self, listing: &'a Listing) -> usize {
        let text = listing.text.lines().map(|line| {
            *self.known.entry(line).or_insert_with(|| {
                self.strings.push(line);
                self.strings.len() - 1
            })
        });
        let text = text.collect();
        self.listings.push(ShownListing { title: String::new(), text, lines: listing.lines.clone() });
        self.listings.len() - 1
    }
}

fn data(exploration: &Exploration) -> Data<'_> {
    let mut builder = Builder { known: HashMap::new(), strings: vec![], listings: vec![] };
    let mut steps = vec![];
    let mut current: Option<(usize, &Listing)> = None;
    // The last listing of each level is the text that `--emit` prints.
    let mut last_of: Vec<(&'static str, usize)> = vec![];
    for step in &exploration.steps {
        let before = current;
        if let Some(program) = &step.program {
            current = Some((builder.add(program), program));
        }
        let Some((after, program)) = current else { continue };
        let level = title(&step.level);
        match last_of.last_mut() {
            Some((name, index)) if *name == level => *index = after,
            _ => last_of.push((level, after)),
        }
        let Some((before, text)) = before else { continue };
        let changed = if before == after { vec![] } else { changes(&text.text, &program.text) };
        steps.push(ShownPass {
            pass: &step.pass,
            level,
            before,
            after,
            removed: changed.iter().map(|r| r.removed).sum(),
            added: changed.iter().map(|r| r.added).sum(),
            runs: changed.iter().flat_map(|r| [r.same, r.removed, r.added]).collect(),
        });
    }
    for (level, index) in last_of {
        // A level without passes of its own shares the last listing of the previous level.
        let shown = &mut builder.listings[index];
        if shown.title.is_empty() {
            shown.title = level.to_owned();
        }
    }
    for output in &exploration.outputs {
        let index = builder.add(&output.program);
        builder.listings[index].title = title(&output.level).to_owned();
    }
    Data {
        input: &exploration.input,
        compiler: &exploration.compiler,
        target: &exploration.target,
        arguments: &exploration.arguments,
        strings: builder.strings,
        listings: builder.listings,
        steps,
        origins: &exploration.origins,
        remarks: exploration.remarks.clone(),
        kernels: &exploration.kernels,
        schedules: exploration.schedules.as_deref(),
    }
}

/// The data of a comparison: in place of the changes of a pass, the difference of both programs after it.
fn data_of_two<'a>(names: [&'a str; 2], both: [&'a Exploration; 2]) -> Data<'a> {
    let mut builder = Builder { known: HashMap::new(), strings: vec![], listings: vec![] };
    let (pairs, _) = compare::pairs(both);
    let mut steps = vec![];
    let mut last_of: Vec<(&'static str, [usize; 2])> = vec![];
    for pair in &pairs {
        let sides = pair.sides.map(|listing| builder.add(listing));
        let level = title(pair.level);
        match last_of.last_mut() {
            Some((name, last)) if *name == level => *last = sides,
            _ => last_of.push((level, sides)),
        }
        let differing = if pair.differing > 0 { changes(&pair.sides[0].text, &pair.sides[1].text) } else { vec![] };
        steps.push(ShownPass {
            pass: if pair.pass.is_empty() { "input" } else { pair.pass },
            level,
            before: sides[0],
            after: sides[1],
            removed: differing.iter().map(|r| r.removed).sum(),
            added: differing.iter().map(|r| r.added).sum(),
            runs: differing.iter().flat_map(|r| [r.same, r.removed, r.added]).collect(),
        });
    }
    for (level, sides) in last_of {
        for (index, name) in sides.into_iter().zip(names) {
            builder.listings[index].title = format!("{level} of {name}");
        }
    }
    for (side, name) in both.into_iter().zip(names) {
        for output in &side.outputs {
            let index = builder.add(&output.program);
            builder.listings[index].title = format!("{} of {name}", title(&output.level));
        }
    }
    let said = |side: usize| {
        let own = compare::remarks_of_one(both, side).into_iter().cloned();
        own.map(move |r| Remark { message: format!("only {}: {}", names[side], r.message), ..r }).collect::<Vec<_>>()
    };
    let [first, _] = both;
    Data {
        input: &first.input,
        compiler: &first.compiler,
        target: &first.target,
        arguments: &first.arguments,
        strings: builder.strings,
        listings: builder.listings,
        steps,
        origins: &first.origins,
        remarks: [said(0), said(1)].concat(),
        kernels: &first.kernels,
        schedules: None,
    }
}

/// The self-contained HTML page of an exploration.
pub fn page(exploration: &Exploration) -> String {
    filled(&exploration.input, &exploration.target, &data(exploration))
}

/// The page of two explorations. The changes of a pass are the differences of both programs after it.
pub fn page_of_two(names: [&str; 2], both: [&Exploration; 2]) -> String {
    let input = format!("{} and {}", names[0], names[1]);
    filled(&input, &both[0].target, &data_of_two(names, both))
}

fn filled(input: &str, target: &str, data: &Data<'_>) -> String {
    // HTML ends a script at the first end tag, even inside a string.
    let json = serde_json::to_string(data).unwrap_or_default().replace("</", "<\\/").replace("<!--", "<\\u0021--");
    let name = input.rsplit('/').next().unwrap_or_default();
    let parts = [
        ("@TITLE@", escaped(&format!("{name} on {target}"))),
        ("@STYLE@", STYLE.to_owned()),
        ("@LAYOUTS@", LAYOUTS.to_owned()),
        ("@PROGRAM@", PROGRAM.to_owned()),
        ("@DATA@", json),
    ];
    let mut page = String::new();
    let mut rest = FRAME;
    while let Some((at, (mark, part))) =
        parts.iter().filter_map(|p| Some((rest.find(p.0)?, p))).min_by_key(|(at, _)| *at)
    {
        page += &rest[..at];
        page += part;
        rest = &rest[at + mark.len()..];
    }
    page + rest
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Output, Pass};

    fn listing(text: &str) -> Listing {
        Listing { text: text.to_owned(), lines: vec![1; text.lines().count()] }
    }

    fn example() -> Exploration {
        let step = |pass: &str, level: &str, text: Option<&str>| Pass {
            pass: pass.to_owned(),
            level: level.to_owned(),
            program: text.map(listing),
        };
        Exploration {
            format: crate::FORMAT,
            input: "dir/a<b>.mlir".to_owned(),
            target: "sm_90".to_owned(),
            steps: vec![
                step("", "cuda-tile", Some("a\nb\n")),
                step("convert", "tileaa", Some("a\nc\n")),
                step("cse", "tileaa", None),
                step("lower", "tileas", Some("a\nc\nd\n")),
            ],
            outputs: vec![Output { level: "ptx".to_owned(), program: listing("// </script><script>x()</script>\n") }],
            ..Exploration::default()
        }
    }

    #[test]
    fn lines_are_stored_once_and_levels_end_with_their_last_pass() {
        let exploration = example();
        let data = data(&exploration);
        assert_eq!(data.strings[..4], ["a", "b", "c", "d"]);
        let titles: Vec<&str> = data.listings.iter().map(|l| l.title.as_str()).collect();
        assert_eq!(titles, ["cuda_tile", "nv_tileaa", "nv_tileas", "PTX"]);
        let steps: Vec<_> = data.steps.iter().map(|s| (s.pass, s.before, s.after, s.removed, s.added)).collect();
        assert_eq!(steps, [("convert", 0, 1, 1, 1), ("cse", 1, 1, 0, 0), ("lower", 1, 2, 0, 1)]);
        assert_eq!(data.steps[2].runs, [2, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn two_programs_are_compared_after_each_pass() {
        let (a, mut b) = (example(), example());
        b.steps[3].program = Some(listing("a\nc\ne\n"));
        let data = data_of_two(["A", "B"], [&a, &b]);
        let steps: Vec<_> = data.steps.iter().map(|s| (s.pass, s.removed, s.added)).collect();
        assert_eq!(steps, [("input", 0, 0), ("convert", 0, 0), ("cse", 0, 0), ("lower", 1, 1)]);
        let titles: Vec<&str> = data.listings.iter().map(|l| l.title.as_str()).filter(|t| !t.is_empty()).collect();
        let expected = ["cuda_tile of A", "cuda_tile of B", "nv_tileaa of A", "nv_tileaa of B", "nv_tileas of A"];
        assert_eq!(titles[..5], expected);
        assert!(page_of_two(["A", "B"], [&a, &b]).contains("<title>A and B on sm_90</title>"));
    }

    #[test]
    fn programs_cannot_leave_the_script() {
        let page = page(&example());
        assert_eq!(page.matches("</script>").count(), FRAME.matches("</script>").count());
        assert!(page.contains("<title>a&lt;b&gt;.mlir on sm_90</title>"));
        assert!(!page.contains("@DATA@") && !page.contains("@STYLE@"));
    }

    #[test]
    fn explorations_round_trip() {
        let e = example();
        assert_eq!(Exploration::from_json(e.to_json().as_bytes()), Ok(e.clone()));
        let newer = Exploration { format: 2, ..e };
        assert!(Exploration::from_json(newer.to_json().as_bytes()).unwrap_err().contains("format 2"));
    }
}
