//! `cargo xtask bless`: renews values that follow from the compiler, and prints what changed.

use anyhow::{Context, bail, ensure};
use similar::TextDiff;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kind of known values.
struct Kind {
    name: &'static str,
    /// Where they are: files and folders from the root of the checkout.
    places: &'static [&'static str],
    /// The tests that write them with `TILEIRAS_RENEW=1`, as nextest selects tests. `docs` is written by xtask itself.
    tests: &'static str,
    about: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "results",
        places: &["tests/corpus/results.tsv"],
        tests: "test(/^corpus\\/.*\\/sm_90\\/O3$/)",
        about: "digests of what the programs of the corpus leave behind",
    },
    Kind {
        name: "timing",
        places: &["tests/timing/predicted.tsv"],
        tests: "test(=timing/predicted_times)",
        about: "predicted times of a slice of kernels",
    },
    Kind {
        name: "gates",
        places: &["tests/timing/gates.tsv"],
        tests: "test(/^warpgroup_gates\\//) | test(=product_chains::products_stay_under_way) \
                | test(/^product_chains::.*_few_instructions$/)",
        about: "measured instructions of loops with products; their bounds stay",
    },
    Kind {
        name: "mutation",
        places: &["tests/mutation/drawn.tsv", "tests/mutation/variables.tsv"],
        tests: "test(=mutation::drawn_launches_leave_the_same_bits) | test(=mutation::variables_are_left_the_same)",
        about: "digests that mutants are told apart by; survivors.tsv has reasons, and is written by hand",
    },
    Kind {
        name: "synchronization",
        places: &["tests/mutation/synchronization.tsv"],
        tests: "test(/^synchronization\\//)",
        about: "mutants of synchronization; TILEIRAS_TEST_FULL=1 takes all programs",
    },
    Kind {
        name: "pipelines",
        places: &["tests/ir/pipeline"],
        tests: "test(/^filecheck\\/pipeline\\//)",
        about: "the passes of each level",
    },
    Kind {
        name: "help",
        places: &["tests/driver/snapshots"],
        tests: "binary_id(tile-driver::command)",
        about: "texts of the command",
    },
    Kind { name: "docs", places: &["docs/reference"], tests: "", about: "generated pages" },
];

pub fn usage() -> String {
    let mut text = String::from(
        "\
usage: cargo xtask bless [KIND ...]

Renews values that tests compare with (all kinds without one), and prints what changed. Tests that fail for another
reason are listed by nextest.

",
    );
    for kind in KINDS {
        text += &format!("  {:16} {}: {}\n", kind.name, kind.about, kind.places.join(", "));
    }
    text
}

pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<Vec<String>> {
    if let Some(unknown) = words.iter().find(|w| KINDS.iter().all(|k| k.name != **w)) {
        bail!("there is no kind '{unknown}'\n{}", usage());
    }
    let chosen = KINDS.iter().filter(|k| words.is_empty() || words.contains(&k.name));
    let mut problems = vec![];
    for kind in chosen {
        let before = contents(root, kind)?;
        if kind.tests.is_empty() {
            problems.extend(crate::docs::write(root)?);
        } else if !renew(root, kind)? {
            problems.push(format!("{}: some tests failed", kind.name));
        }
        print_changes(kind, &before, &contents(root, kind)?);
    }
    Ok(problems)
}

/// Runs the tests of a kind; whether all passed.
fn renew(root: &Path, kind: &Kind) -> anyhow::Result<bool> {
    let status = Command::new("cargo")
        .args(["nextest", "run", "--workspace", "--no-fail-fast", "--status-level=fail", "-E", kind.tests])
        .envs([("TILEIRAS_RENEW", "1"), ("INSTA_UPDATE", "always")])
        .current_dir(root)
        .status()
        .context("running cargo nextest")?;
    ensure!(status.code().is_some(), "cargo nextest: {status}");
    Ok(status.success())
}

fn contents(root: &Path, kind: &Kind) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let mut found = BTreeMap::new();
    let mut places: Vec<PathBuf> = kind.places.iter().map(PathBuf::from).collect();
    while let Some(place) = places.pop() {
        let path = root.join(&place);
        if path.is_dir() {
            for entry in std::fs::read_dir(&path).with_context(|| path.display().to_string())? {
                places.push(place.join(entry?.file_name()));
            }
        } else {
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            found.insert(place, text);
        }
    }
    Ok(found)
}

fn print_changes(kind: &Kind, before: &BTreeMap<PathBuf, String>, now: &BTreeMap<PathBuf, String>) {
    let nothing = String::new();
    let paths: std::collections::BTreeSet<&PathBuf> = before.keys().chain(now.keys()).collect();
    let mut changed = 0;
    for path in paths {
        let (old, new) = (before.get(path).unwrap_or(&nothing), now.get(path).unwrap_or(&nothing));
        if old != new {
            changed += 1;
            let name = path.display().to_string();
            print!("{}", TextDiff::from_lines(old, new).unified_diff().context_radius(0).header(&name, &name));
        }
    }
    println!("{}: {changed} file{} changed", kind.name, if changed == 1 { "" } else { "s" });
}
