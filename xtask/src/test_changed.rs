//! `cargo xtask test-changed`: runs the tests that changes can affect.
//!
//! The first rule that matches a changed file selects its tests:
//!
//! * A test file selects itself: a FileCheck file, a program of `tests/semantics` or of the corpus, a suite.
//! * A pass selects the same tests as any compiler source, except for FileCheck files of other passes that do not name
//!   it: these run only the passes that they name.
//! * Another file of a package selects the tests of the package and of its dependents.
//! * A page selects the suites that read pages.
//! * Anything else selects all tests.
//!
//! The rules err on the side of too many tests.

use crate::cargo::cargo;
use anyhow::{Context, ensure};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

pub const USAGE: &str = "\
usage: cargo xtask test-changed [--since REV] [--list] [NEXTEST-OPTION ...]

Runs the tests that the changes since a revision can affect, including uncommitted changes.

  --since REV  the revision (default: the merge base with origin/main)
  --list       print what each changed file selects, and run nothing

A file of a package selects the tests of the package and of its dependents. For a pass, FileCheck files of other
passes that do not name it are left out. A test file selects its own tests. Any other file selects all tests.
";

/// The tests of the compiler and its dependents, without the FileCheck files of single passes. Those are in folders
/// named after the passes, with dashes; folders of dialects and tools have no dash.
const WHOLE_PROGRAMS: &str = "(rdeps(=tileiras) - test(/^filecheck\\/[a-z]+-/))";

/// Suites that read pages.
const PAGES: &str = "test(/^tutorials\\//) | test(/^contrib::/)";

/// The tests that a changed file selects, as a nextest filter; `None` selects all tests.
type Selection = Option<String>;

pub fn run(root: &Path, words: &[&str]) -> anyhow::Result<Vec<String>> {
    let (mut since, mut list, mut options) = (None, false, vec![]);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--since" => since = Some(words.next().context("--since needs a revision")?.to_string()),
            "--list" => list = true,
            other => options.push(other),
        }
    }
    let since = match since {
        Some(rev) => rev,
        None => git(root, &["merge-base", "HEAD", "origin/main"])?.trim().to_string(),
    };
    let mut files: BTreeSet<String> = git(root, &["diff", "--name-only", &since])?.lines().map(String::from).collect();
    files.extend(git(root, &["ls-files", "--others", "--exclude-standard"])?.lines().map(String::from));
    let packages = packages(root)?;
    let naming = |pass: &str| files_naming(&root.join("tests/ir"), pass);
    let selections: Vec<(&String, Selection)> = files.iter().map(|f| (f, selection(f, &packages, &naming))).collect();
    for (file, selection) in &selections {
        println!("{file}: {}", selection.as_deref().unwrap_or("all tests"));
    }
    let Some(filter) = union(selections.into_iter().map(|(_, s)| s)) else {
        println!("nothing has changed since {since}");
        return Ok(vec![]);
    };
    if list {
        return Ok(vec![]);
    }
    let status = cargo(root)
        .args(["nextest", "run", "--workspace", "--no-tests=pass", "-E", &filter])
        .args(options)
        .status()
        .context("running cargo nextest")?;
    Ok(if status.success() { vec![] } else { vec!["tests failed".into()] })
}

fn git(root: &Path, words: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git").args(words).current_dir(root).output().context("running git")?;
    ensure!(output.status.success(), "git {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the folder and name of each workspace package. Folders end in a slash, except for the root's, which is
/// empty.
fn packages(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let output = cargo(root)
        .args(["metadata", "--no-deps", "--format-version=1", "--offline"])
        .output()
        .context("running cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let package = |p: &serde_json::Value| -> Option<(String, String)> {
        let folder = Path::new(p["manifest_path"].as_str()?).parent()?.strip_prefix(root).ok()?;
        let folder = folder.to_str()?;
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        Some((folder, p["name"].as_str()?.to_string()))
    };
    let all = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    Ok(all.iter().filter_map(package).collect())
}

/// Joins selections; returns `None` if there are none.
fn union(selections: impl Iterator<Item = Selection>) -> Option<String> {
    let mut parts = BTreeSet::new();
    for selection in selections {
        match selection {
            Some(s) => _ = parts.insert(s),
            None => return Some("all()".into()),
        }
    }
    let parts: Vec<String> = parts.into_iter().map(|p| format!("({p})")).collect();
    (!parts.is_empty()).then(|| parts.join(" | "))
}

/// Returns the FileCheck files that name a pass, as `FOLDER/FILE`.
fn files_naming(folder: &Path, pass: &str) -> Vec<String> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().filter(|e| e.path().is_dir()) {
        for file in std::fs::read_dir(entry.path()).into_iter().flatten().flatten() {
            if std::fs::read_to_string(file.path()).is_ok_and(|text| text.contains(pass)) {
                let [folder, name] = [entry.file_name(), file.file_name()].map(|n| n.to_string_lossy().into_owned());
                found.push(format!("{folder}/{name}"));
            }
        }
    }
    found.sort();
    found
}

fn selection(file: &str, packages: &[(String, String)], naming: &dyn Fn(&str) -> Vec<String>) -> Selection {
    special(file)
        .or_else(|| tests_of(file))
        .or_else(|| pass(file, naming))
        .or_else(|| package(file, packages))
        .or_else(|| page(file))
}

/// Selection of files outside the packages that use them.
fn special(file: &str) -> Selection {
    let table = [
        ("python/", "test(/^python[:\\/]/) | test(=python_calls_the_library)"),
        ("examples/c/", "test(=the_example)"),
        ("src/command/explore/page/", "rdeps(=tile-explore) | rdeps(=ptx-sim) | rdeps(=tile-schedule)"),
        ("scripts/demo.sh", "test(/^demo[:\\/]/)"),
    ];
    if file == "README.md" {
        return Some(format!("{PAGES} | test(/^demo[:\\/]/)"));
    }
    table.iter().find(|(start, _)| file.starts_with(start)).map(|(_, selection)| (*selection).to_owned())
}

/// Selection of a test file.
fn tests_of(file: &str) -> Selection {
    let (folder, name) = file.strip_prefix("tests/")?.split_once('/')?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    match folder {
        "ir" if name.contains('/') => Some(format!("test(=filecheck/{name})")),
        "semantics" if name.ends_with(".mlir") => Some(format!("test(=semantics/{stem})")),
        "semantics" if name.ends_with(".txt") => Some(format!("test(/^semantics\\/({stem}|every_op)/)")),
        // `matmul_f16.13.1.tileirbc` selects all tests of programs compiled from `matmul_f16`, and the test of the
        // lists.
        "corpus" if name.ends_with(".tileirbc") => {
            let entry = name.split('.').next()?;
            Some(format!("test(~{entry}) | test(=corpus/lists)"))
        }
        "timing" | "mutation" => Some("binary_id(tileiras::machine) | test(/^product_chains::/)".into()),
        "ir" | "results" | "machine" | "tools" | "clients" | "attack" if name.ends_with(".rs") => {
            let suite = stem.split('/').next()?;
            let binary = format!("binary_id(tileiras::{folder})");
            Some(if suite == "main" { binary } else { format!("{binary} & test(/^{suite}[:\\/]/)") })
        }
        _ => None,
    }
}

/// Selection of a file of one pass.
fn pass(file: &str, naming: &dyn Fn(&str) -> Vec<String>) -> Selection {
    let pass = file.strip_prefix("src/middle/passes/")?.split(['/', '.']).next()?.replace('_', "-");
    let files = || naming(&pass).into_iter().map(|f| format!(" | test(=filecheck/{f})")).collect::<String>();
    (pass != "mod").then(|| format!("{WHOLE_PROGRAMS}{}", files()))
}

/// Selection of a source file of the root package, or of any file of another package: the one with the longest
/// matching folder.
fn package(file: &str, packages: &[(String, String)]) -> Selection {
    // Tests of some packages are in `tests/`.
    let elsewhere =
        [("tests/bytecode/", "tile-bytecode"), ("tests/driver/", "tile-driver"), ("tests/capi/", "tileiras-capi")];
    if let Some((_, name)) = elsewhere.iter().find(|(folder, _)| file.starts_with(folder)) {
        // A suite of the compiler shares helpers with the bytecode reader's tests.
        let also = if *name == "tile-bytecode" { " | test(/^translate::/)" } else { "" };
        return Some(format!("package(={name}){also}"));
    }
    let (folder, name) = packages.iter().filter(|(f, _)| file.starts_with(f)).max_by_key(|(f, _)| f.len())?;
    let is_root = folder.is_empty();
    let is_source = ["src/", "build", "dialects-td/"].iter().any(|start| file.starts_with(start));
    (!is_root || is_source).then(|| format!("rdeps(={name})"))
}

fn page(file: &str) -> Selection {
    let is_page = file.ends_with(".md") || file.starts_with("contrib/") || file.starts_with("docs/");
    is_page.then(|| PAGES.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_selects_its_tests() {
        let package = |folder: &str, name: &str| (folder.to_string(), name.to_string());
        let packages = [
            package("", "tileiras"),
            package("src/middle/layout/", "tile-layout"),
            package("src/command/driver/", "tile-driver"),
            package("src/command/driver/version/", "tile-version"),
            package("tests/support/", "tile-test-support"),
        ];
        let naming = |pass: &str| vec![format!("{pass}/a.mlir"), "tileas-other/b.mlir".into()];
        let programs = |pass: &str| {
            format!("{WHOLE_PROGRAMS} | test(=filecheck/{pass}/a.mlir) | test(=filecheck/tileas-other/b.mlir)")
        };
        for (file, expected) in [
            ("tests/ir/tileas-slicing/rows.mlir", Some("test(=filecheck/tileas-slicing/rows.mlir)")),
            ("tests/semantics/alloca.mlir", Some("test(=semantics/alloca)")),
            ("tests/semantics/float.txt", Some("test(/^semantics\\/(float|every_op)/)")),
            ("tests/corpus/vadd.13.1.tileirbc", Some("test(~vadd) | test(=corpus/lists)")),
            ("tests/corpus/cases.py", None),
            ("tests/results/tma.rs", Some("binary_id(tileiras::results) & test(/^tma[:\\/]/)")),
            ("tests/results/memory/views.rs", Some("binary_id(tileiras::results) & test(/^memory[:\\/]/)")),
            ("tests/ir/main.rs", Some("binary_id(tileiras::ir)")),
            ("src/middle/passes/tileas_slicing.rs", Some(&*programs("tileas-slicing"))),
            ("src/middle/passes/convert_tileas_to_llvm/print.rs", Some(&*programs("convert-tileas-to-llvm"))),
            ("src/middle/passes/mod.rs", Some("rdeps(=tileiras)")),
            ("src/middle/layout/map.rs", Some("rdeps(=tile-layout)")),
            ("src/command/driver/version/lib.rs", Some("rdeps(=tile-version)")),
            ("tests/support/lit.rs", Some("rdeps(=tile-test-support)")),
            ("dialects-td/Passes.td", Some("rdeps(=tileiras)")),
            ("tests/driver/batch.rs", Some("package(=tile-driver)")),
            ("docs/tuning.md", Some(PAGES)),
            ("python/src/tileiras/_run.py", Some("test(/^python[:\\/]/) | test(=python_calls_the_library)")),
            ("examples/c/compile.c", Some("test(=the_example)")),
            ("Cargo.toml", None),
            (".config/nextest.toml", None),
        ] {
            assert_eq!(selection(file, &packages, &naming).as_deref(), expected, "{file}");
        }
    }

    #[test]
    fn selections_are_joined() {
        let some = |s: &str| Some(s.to_string());
        assert_eq!(union([].into_iter()), None);
        assert_eq!(union([some("a"), some("b"), some("a")].into_iter()), some("(a) | (b)"));
        assert_eq!(union([some("a"), None].into_iter()), some("all()"));
    }
}
