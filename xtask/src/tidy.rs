//! Checks rules that the compiler does not check.
//!
//! In every text file that git tracks:
//! * no trailing whitespace, and a newline at the end (generated files are exempt);
//! * no absolute path of a developer's machine;
//! * at most 120 columns in hand-written Markdown prose ([`size`]).
//!
//! In Rust files:
//! * at most 120 columns, and 120 lines in a function that is not a table ([`size`]);
//! * at most [`MAX_LINES`] lines, except in [`LONG_FILES`], each with a reason;
//! * no `todo!`, `unimplemented!`, `#[ignore]`, `#[should_panic]`;
//! * no `#[test]` in the binaries of [`LISTED_TESTS`], where it would silently not run;
//! * a `SAFETY:` comment above each `unsafe` block and implementation;
//! * parts of the compiler import only parts below them, and no pass imports a pass ([`layers`]);
//! * discardable attributes are named only where their keys are ([`attributes`]);
//! * at most [`MAX_UNSAFE`] lines with `unsafe` in the passes, which use the handles of `src/middle/dialect`.
//!
//! On comments and pages: plain English, by the rates of habits and a glossary ([`words`]).
//!
//! On the compatibility page: each test that it names exists ([`promises`]).
//!
//! In `Cargo.toml` files: a comment above each external dependency that is not [`WELL_KNOWN`] says what it is for.
//!
//! The checks read lines, not syntax trees. A rule that needs a parser belongs in a lint.

mod attributes;
mod layers;
mod promises;
mod size;
mod words;
mod wrap;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

const MAX_LINES: usize = 800;

/// Longer files, each with the reason why it is not split.
const LONG_FILES: &[(&str, &str)] = &[];

/// A folder, and the number of lines with `unsafe` that it may have.
const MAX_UNSAFE: (&str, usize) = ("src/middle/passes/", 40);

/// Folders of test binaries with a harness that lists its tests itself.
const LISTED_TESTS: [&str; 6] =
    ["tests/attack/", "tests/clients/", "tests/ir/", "tests/machine/", "tests/results/", "tests/tools/"];

/// Folders of generated Markdown.
const GENERATED_PAGES: &[&str] = &["docs/reference/", "docs/results/"];

/// Dependencies that need no comment.
const WELL_KNOWN: &[&str] = &[
    "anyhow",
    "bindgen",
    "cc",
    "half",
    "inkwell",
    "insta",
    "llvm-sys",
    "melior",
    "mlir-sys",
    "proptest",
    "rustc-hash",
    "serde",
    "serde_json",
    "smallvec",
    "thiserror",
];

pub fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    let files = tracked_files(root)?;
    let keys = std::fs::read_to_string(root.join(attributes::KEYS))?;
    let names = Names { passes: layers::passes(&files), attributes: attributes::names(&keys) };
    let mut unsafe_lines = 0;
    let mut tests = String::new();
    let mut prose = words::Prose::default();
    for name in &files {
        let Ok(bytes) = std::fs::read(root.join(name)) else { continue };
        // Files that are not UTF-8 are not sources.
        let Ok(text) = String::from_utf8(bytes) else { continue };
        problems.extend(check_file(name, &text, &names));
        if name.starts_with(MAX_UNSAFE.0) {
            unsafe_lines += code_lines(&text).iter().filter(|line| line.contains("unsafe")).count();
        }
        prose.add(name, &text);
        if name.ends_with(".rs") {
            tests.push_str(&text);
        }
    }
    let page = std::fs::read_to_string(root.join(promises::PAGE))?;
    problems.extend(promises::missing(&page, &files, &tests));
    problems.extend(prose.problems());
    let (folder, most) = MAX_UNSAFE;
    if unsafe_lines > most {
        problems.push(format!("{folder}: {unsafe_lines} lines with unsafe; at most {most} are allowed"));
    }
    for (name, _) in LONG_FILES {
        let lines = std::fs::read_to_string(root.join(name)).map(|t| t.lines().count()).unwrap_or(0);
        if lines <= MAX_LINES {
            problems.push(format!("{name}: has {lines} lines; remove it from LONG_FILES"));
        }
    }
    Ok(problems)
}

/// Wraps comments and prose that are too wide, and prints the names of the changed files.
pub fn wrap(root: &Path) -> anyhow::Result<()> {
    for name in tracked_files(root)? {
        if !(name.ends_with(".rs") || is_prose(&name)) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(root.join(&name)) else { continue };
        let wrapped = wrap::wrap(&name, &text);
        if wrapped != text {
            std::fs::write(root.join(&name), wrapped)?;
            println!("{name}");
        }
    }
    Ok(())
}

/// Whether a file is hand-written Markdown.
fn is_prose(name: &str) -> bool {
    name.ends_with(".md") && !GENERATED_PAGES.iter().any(|folder| name.starts_with(folder))
}

fn tracked_files(root: &Path) -> anyhow::Result<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("running git ls-files")?;
    ensure!(output.status.success(), "git ls-files failed");
    Ok(String::from_utf8(output.stdout)?.split_terminator('\0').map(str::to_owned).collect())
}

/// Names that rules refer to.
#[derive(Default)]
struct Names {
    /// The modules of the passes.
    passes: Vec<String>,
    /// The discardable attributes.
    attributes: Vec<String>,
}

/// Returns the problems of one file, each as `NAME:LINE: TEXT`.
fn check_file(name: &str, text: &str, names: &Names) -> Vec<String> {
    let mut problems = Vec::new();
    let mut report = |line: usize, text: &str| problems.push(format!("{name}:{line}: {text}"));
    let generated = [".snap", ".lock", ".ptx"].iter().any(|e| name.ends_with(e));
    let lines: Vec<&str> = text.lines().collect();

    for (i, line) in lines.iter().enumerate() {
        if !generated && line.ends_with([' ', '\t']) {
            report(i + 1, "trailing whitespace");
        }
        if let Some(path) = machine_path(line) {
            report(i + 1, &format!("machine-specific path: {path}"));
        }
    }
    if !generated && !text.is_empty() && !text.ends_with('\n') {
        report(lines.len(), "no newline at end of file");
    }
    if name.ends_with(".rs") {
        check_rust(name, text, &lines, names, &mut report);
    }
    if is_prose(name) {
        size::check_prose(&lines, &mut report);
    }
    if name.ends_with("Cargo.toml") {
        check_manifest(&lines, &mut report);
    }
    problems
}

/// Finds a home directory in a line. The prefixes are assembled here so that this file does not contain them.
fn machine_path(line: &str) -> Option<&str> {
    let prefixes =
        [["/ho", "me/"], ["/ro", "ot/"], ["/Us", "ers/"], ["/wo", "rk/"], ["C:\\Us", "ers\\"]].map(|p| p.concat());
    prefixes.iter().find_map(|prefix| {
        line.match_indices(prefix.as_str()).find_map(|(at, _)| {
            // Skip relative paths and URLs, in which another character precedes the prefix.
            let starts = line[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !"._-$}>~*".contains(c));
            starts.then(|| line[at..].split([' ', '"', '\'', '`', ')']).next().unwrap_or_default())
        })
    })
}

fn check_rust(name: &str, text: &str, lines: &[&str], names: &Names, report: &mut impl FnMut(usize, &str)) {
    if lines.len() > MAX_LINES && !LONG_FILES.iter().any(|(n, _)| *n == name) {
        report(
            lines.len(),
            &format!("more than {MAX_LINES} lines; split the file, or add it to LONG_FILES with a reason"),
        );
    }
    let forbidden =
        [["to", "do!("], ["unimpl", "emented!("], ["#[ig", "nore"], ["should", "_panic"]].map(|p| p.concat());
    let is_listed = LISTED_TESTS.iter().any(|folder| name.starts_with(folder));
    let code_lines = code_lines(text);
    layers::check(name, &code_lines, &names.passes, report);
    attributes::check(name, lines, &names.attributes, report);
    size::check_columns(lines, &code_lines, report);
    size::check_functions(name, &code_lines, report);
    for (i, code) in code_lines.iter().enumerate() {
        for word in forbidden.iter().filter(|w| code.contains(w.as_str())) {
            report(i + 1, &format!("'{word}' is not allowed"));
        }
        if is_listed && code.trim() == "#[test]" {
            report(i + 1, "#[test] has no effect here; name the function in functions![...] (tests/README.md)");
        }
        if starts_unsafe(code) && !has_safety_comment(lines, i) {
            report(i + 1, "an unsafe block without a '// SAFETY:' comment above it");
        }
    }
}

/// Returns the lines without comments and without the contents of literals. Comments and literals may span lines.
fn code_lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        // Skip a comment or literal in one step, but count its newlines.
        let skipped = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest),
            'r' if raw_string(rest).is_some() => raw_string(rest).unwrap_or(1),
            '\'' => character(rest),
            _ => 0,
        };
        if skipped == 0 {
            if c == '\n' {
                lines.push(String::new());
            } else if let Some(line) = lines.last_mut() {
                line.push(c);
            }
            rest = &rest[c.len_utf8()..];
        } else {
            lines.extend(rest[..skipped].matches('\n').map(|_| String::new()));
            rest = &rest[skipped..];
        }
    }
    lines
}

fn block_comment(text: &str) -> usize {
    text.find("*/").map_or(text.len(), |at| at + 2)
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn raw_string(text: &str) -> Option<usize> {
    let hashes = text[1..].len() - text[1..].trim_start_matches('#').len();
    let body = text[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(body.find(&end).map_or(text.len(), |at| 2 + hashes + at + end.len()))
}

/// Returns the length of a character literal, or 0 for the quotation mark of a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => {
            text[2..].find('\'').map_or(0, |at| at + 3).max(if text[2..].starts_with('\'') { 4 } else { 0 })
        }
        Some(_) => chars.next().filter(|(_, c)| *c == '\'').map_or(0, |(at, _)| at + 1),
        None => 0,
    }
}

/// Whether a line starts an unsafe block or implementation. Unsafe functions and traits document their contract
/// instead.
fn starts_unsafe(code: &str) -> bool {
    code.match_indices("unsafe").any(|(at, word)| {
        let rest = code[at + word.len()..].trim_start();
        rest.starts_with('{') || rest.starts_with("impl") || (rest.is_empty() && code.trim_end().ends_with("unsafe"))
    })
}

/// Whether a `SAFETY:` comment precedes the statement that contains the block, at most 8 lines up and without a blank
/// line between.
fn has_safety_comment(lines: &[&str], at: usize) -> bool {
    let near = &lines[at.saturating_sub(8)..=at];
    near.iter().rev().take_while(|l| !l.trim().is_empty()).any(|l| l.contains("SAFETY:"))
}

fn check_manifest(lines: &[&str], report: &mut impl FnMut(usize, &str)) {
    let mut in_dependencies = false;
    for (i, line) in lines.iter().enumerate() {
        if line.starts_with('[') {
            in_dependencies = line.contains("dependencies");
            continue;
        }
        let Some((name, value)) = line.split_once('=').filter(|_| in_dependencies && !line.starts_with('#')) else {
            continue;
        };
        let name = name.trim().trim_end_matches(".workspace");
        let internal = value.contains("path =") || WELL_KNOWN.contains(&name);
        let explained = i > 0 && lines[i - 1].starts_with('#');
        if !internal && !explained {
            report(i + 1, &format!("the dependency '{name}' needs a comment that says what it is for"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests each rule on a text that breaks it and on one that does not.
    #[test]
    fn rules() {
        let unsafe_block = ["let x = uns", "afe { f() };\n"].concat();
        let after_literals = format!("let c = ['\"', '\\'', '\\\\', '{{']; let l: &'static str = x;\n{unsafe_block}");
        let bad: &[(&str, &str, &str)] = &[
            ("a.rs", &after_literals, "a.rs:2: an unsafe block"),
            ("a.md", "one \n", "a.md:1: trailing whitespace"),
            ("a.md", "one", "a.md:1: no newline at end of file"),
            ("a.md", &["see /ho", "me/somebody/x\n"].concat(), "machine-specific path: /ho"),
            ("a.rs", &["fn f() { to", "do!() }\n"].concat(), "is not allowed"),
            ("a.rs", &["#[ig", "nore]\n"].concat(), "is not allowed"),
            ("tests/ir/a.rs", "#[test]\nfn f() {}\n", "tests/ir/a.rs:1: #[test] has no effect"),
            ("a.rs", &unsafe_block, "without a '// SAFETY:'"),
            ("a.rs", &"\n".repeat(MAX_LINES + 1), "more than 800 lines"),
            ("x/Cargo.toml", "[dependencies]\nrare = \"1\"\n", "the dependency 'rare' needs a comment"),
        ];
        for (name, text, problem) in bad {
            let found = check_file(name, text, &Names::default());
            assert!(found.len() == 1 && found[0].contains(problem), "{text:?}: {found:?}");
        }
        let good: &[(&str, &str)] = &[
            ("a.snap", "one \n"),
            ("tests/bytecode/a.rs", "#[test]\nfn f() {}\n"),
            ("a.md", &["${x}/ho", "me/y and docs/ho", "me/z\n"].concat()),
            ("a.rs", &["// no to", "do!() here\nlet s = \"to", "do!()\";\n"].concat()),
            ("a.rs", &format!("let s = r#\"a\" {unsafe_block}\"#; let t = \"\\\"{unsafe_block}\";\n")),
            ("a.rs", &format!("// SAFETY: f has no precondition.\n{unsafe_block}")),
            ("a.rs", &["#![deny(uns", "afe_code)]\nuns", "afe fn f();\n"].concat()),
            (
                "Cargo.toml",
                "[package]\nname = \"x\"\n[dependencies]\n# Rare things.\nrare = \"1\"\nserde.workspace = true\nown = { path = \"own\" }\n",
            ),
        ];
        for (name, text) in good {
            assert_eq!(check_file(name, text, &Names::default()), Vec::<String>::new(), "{text:?}");
        }
    }
}
