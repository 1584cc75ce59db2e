//! `cargo xtask bless`: renews expected values that depend on the compiler, and prints the changes.

use crate::cargo::cargo;
use anyhow::{Context, bail, ensure};
use similar::TextDiff;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A kind of expected values.
struct Kind {
    name: &'static str,
    /// Files and folders that hold them, relative to the root of the checkout.
    places: &'static [&'static str],
    /// The tests that write them under `TILEIRAS_RENEW=1`, as a nextest filter. Empty for `docs`, which xtask itself
    /// writes.
    tests: &'static str,
    about: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "results",
        places: &["tests/corpus/results.tsv"],
        tests: "test(/^corpus\\/.*\\/sm_90\\/O3$/)",
        about: "digests of the results of corpus programs",
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
        tests: "test(/^(warpgroup|tensor)_gates\\//) | test(=product_chains::products_stay_under_way) \
                | test(/^product_chains::.*_few_instructions$/)",
        about: "instruction counts of loops with dots; the bounds stay",
    },
    Kind {
        name: "mutation",
        places: &["tests/mutation/drawn.tsv", "tests/mutation/variables.tsv"],
        tests: "test(=mutation::drawn_launches_leave_the_same_bits) | test(=mutation::variables_are_left_the_same)",
        about: "digests that distinguish mutants; survivors.tsv gives reasons and is written by hand",
    },
    Kind {
        name: "synchronization",
        places: &["tests/mutation/synchronization.tsv"],
        tests: "test(/^synchronization\\//)",
        about: "mutants of synchronization; TILEIRAS_TEST_FULL=1 covers all programs",
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
        about: "help texts and messages of the command",
    },
    Kind { name: "docs", places: &["docs/reference"], tests: "", about: "generated pages" },
];

pub fn usage() -> String {
    let mut text = String::from(
        "\
usage: cargo xtask bless [KIND ...]

Renews the values that tests compare with (default: all kinds) and prints the changes. nextest lists tests that fail
for another reason.

",
    );
    for kind in KINDS {
        text += &format!("  {:16} {}: {}\n", kind.name, kind.about, kind.places.join(", "));
    }
    text
}

pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<Vec<String>> {
    if let Some(unknown) = words.iter().find(|w| KINDS.iter().all(|k| k.name != **w)) {
        bail!("unknown kind '{unknown}'\n{}", usage());
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

/// Runs the tests of a kind. Returns whether all passed.
fn renew(root: &Path, kind: &Kind) -> anyhow::Result<bool> {
    let status = cargo(root)
        .args(["nextest", "run", "--workspace", "--no-fail-fast", "--status-level=fail", "-E", kind.tests])
        .envs([("TILEIRAS_RENEW", "1"), ("INSTA_UPDATE", "always")])
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
