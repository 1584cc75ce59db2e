//! Checks which parts of the compiler import which.
//!
//! The parts of the crate `tileiras` form layers: `dialect`, `analysis`, `passes`, `pipeline`. A part imports only
//! layers below it. Passes do not import each other: code that two passes share belongs in `dialect` (attributes,
//! types, descriptors, builders) or in `analysis` (facts computed from a program). Submodules of one pass import each
//! other freely.
//!
//! The compiler does not import the command, `tile_driver`; `tile_interface` holds the types that both use.

/// Parts of the crate, lowest first. A file of one part does not name a later part.
const LAYERS: &[&str] = &["dialect", "analysis", "passes", "pipeline"];

/// Parts above the layers that still must not import the command.
const COMPILER: &[&str] = &["codegen", "translate", "compile"];

/// Folders of `src/` that group parts.
const GROUPS: &[&str] = &["input/", "middle/", "command/", "execution/"];

/// The only compiler file that may compare names of ops.
const NAMES: &str = "src/middle/dialect/upstream.rs";

/// Returns the module names of the passes among the repository's files.
pub fn passes(files: &[String]) -> Vec<String> {
    let module = |file: &String| {
        let rest = file.strip_prefix("src/middle/passes/")?;
        let name = rest.strip_suffix("/mod.rs").or_else(|| rest.strip_suffix(".rs"))?;
        (!name.contains('/') && name != "mod").then(|| name.to_owned())
    };
    files.iter().filter_map(module).collect()
}

/// Reports forbidden imports of a file by line. `lines` exclude comments and literals.
pub fn check(file: &str, lines: &[String], passes: &[String], report: &mut impl FnMut(usize, &str)) {
    let Some(path) = file.strip_prefix("src/") else { return };
    let path = GROUPS.iter().find_map(|g| path.strip_prefix(g)).unwrap_or(path);
    let (part, rest) = path.split_once(['/', '.']).unwrap_or_default();
    if LAYERS.contains(&part) || COMPILER.contains(&part) {
        for (i, _) in lines.iter().enumerate().filter(|(_, line)| words(line, "tile_driver").next().is_some()) {
            report(i + 1, "the compiler must not import the command; move the shared code to tile-interface");
        }
    }
    let known_by_name = file == NAMES || !LAYERS.contains(&part) && !COMPILER.contains(&part);
    for (i, _) in lines.iter().enumerate().filter(|(_, line)| !known_by_name && compares_name(line)) {
        report(i + 1, &format!("distinguish ops by interface; only {NAMES} compares names, for ops without one"));
    }
    for i in if known_by_name { vec![] } else { bound_names_compared(lines) } {
        report(i + 1, &format!("distinguish ops by interface; only {NAMES} compares names, for ops without one"));
    }
    let Some(layer) = LAYERS.iter().position(|l| *l == part) else { return };
    let own = rest.split(['/', '.']).next().unwrap_or_default();
    for (i, line) in lines.iter().enumerate() {
        for above in &LAYERS[layer + 1..] {
            // The module file of the passes registers all passes and the pipelines.
            if own != "mod" && words(line, above).any(|at| is_module(line, at, above)) {
                report(i + 1, &format!("'{part}' must not import '{above}', which is above it"));
            }
        }
        if part == "passes" && own != "mod" {
            for pass in passes.iter().filter(|p| *p != own) {
                if words(line, pass).any(|at| !is_descriptor(line, at)) {
                    report(
                        i + 1,
                        &format!(
                            "a pass must not import the pass '{pass}'; move the shared code to dialect or analysis"
                        ),
                    );
                }
            }
        }
    }
}

/// Whether the line compares the name of an op, rather than printing or copying it.
fn compares_name(line: &str) -> bool {
    words(line, "op_name").any(|at| {
        let (before, after) = (&line[..at], &line[at..]);
        let call = after.find(')').map_or("", |end| after[end + 1..].trim_start());
        before.trim_end().ends_with("match")
            || before.ends_with("matches!(")
            || ["==", "!=", ".starts_with", ".ends_with", ".strip_prefix", ".contains"]
                .iter()
                .any(|c| call.starts_with(c))
    })
}

/// Returns the lines that compare a name which one of the preceding lines binds: `let name = op_name(op);`.
fn bound_names_compared(lines: &[String]) -> Vec<usize> {
    const NEAR: usize = 12;
    let mut found = vec![];
    for (at, line) in lines.iter().enumerate() {
        let bound = line.split_once(" = op_name(").and_then(|(before, _)| before.trim_start().strip_prefix("let "));
        let Some(name) = bound else { continue };
        let compares = |line: &String| {
            words(line, name).any(|at| {
                let (before, after) = (line[..at].trim_end(), line[at + name.len()..].trim_start());
                let methods = [".starts_with(", ".ends_with(", ".strip_prefix(", ".contains(", "==", "!="];
                methods.iter().any(|m| after.starts_with(m))
                    || ["==", "!=", "match"].iter().any(|m| before.ends_with(m))
                    || before.ends_with("matches!(")
            })
        };
        found.extend((at + 1..lines.len().min(at + 1 + NEAR)).filter(|&i| compares(&lines[i])));
    }
    found
}

/// Returns the offsets of `word` in `line` as a whole identifier.
fn words<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| !line[..at].ends_with(part_of_word) && !line[at + word.len()..].starts_with(part_of_word))
}

/// Whether the name at `at` is a part of the crate: `crate::NAME`, or the start of a path in a list of imports.
fn is_module(line: &str, at: usize, name: &str) -> bool {
    let (before, after) = (&line[..at], &line[at + name.len()..]);
    before.ends_with("crate::") || after.starts_with("::") && (before.trim().is_empty() || before.ends_with(['{', ' ']))
}

/// Whether the name at `at` is the generated descriptor of a pass, which has the same name as the pass.
fn is_descriptor(line: &str, at: usize) -> bool {
    line[..at].ends_with("descriptors::") || line[..at].ends_with("pass_descriptor!(")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_bound_but_not_compared() {
        let found = |text: &str| bound_names_compared(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(found("let name = op_name(op);\nlet math = name.starts_with(x);\nfind(|o| *o == name)"), [1, 2]);
        assert_eq!(found("let name = op_name(op);\nmatch name {\n"), [1]);
        assert!(found("let name = op_name(op);\nfail(op, format!(name))\nother_name == x").is_empty());
    }

    #[test]
    fn imports() {
        let passes =
            passes(&["one.rs", "two/mod.rs", "two/part.rs", "mod.rs"].map(|f| format!("src/middle/passes/{f}")));
        assert_eq!(passes, ["one", "two"]);
        let found = |file: &str, line: &str| {
            let mut found = vec![];
            check(file, &[line.to_owned()], &passes, &mut |i, text| found.push((i, text.to_owned())));
            found.len()
        };
        for (file, line) in [
            ("src/middle/passes/one.rs", "use super::two::helper;"),
            ("src/middle/passes/one.rs", "use super::{two::helper, x};"),
            ("src/middle/passes/one/part.rs", "let x = super::super::two::helper();"),
            ("src/middle/passes/two/part.rs", "    passes::one::helper,"),
            ("src/middle/passes/one.rs", "use crate::passes::two;"),
            ("src/middle/passes/one.rs", "use crate::pipeline::Step;"),
            ("src/middle/analysis/facts.rs", "use crate::passes::one::helper;"),
            ("src/middle/analysis/facts.rs", "    passes::one::helper,"),
            ("src/middle/dialect/rt.rs", "use crate::{analysis::facts, dialect::rt};"),
            ("src/codegen/mod.rs", "use tile_driver::Backend;"),
            ("src/compile.rs", "use tile_driver::Backend;"),
            ("src/middle/passes/one.rs", "    match op_name(op) {"),
            ("src/middle/analysis/facts.rs", "    if op_name(*o) == name {"),
            ("src/codegen/mod.rs", "    matches!(op_name(op), NAME)"),
            ("src/compile.rs", "    op_name(op).starts_with(prefix)"),
        ] {
            assert_eq!(found(file, line), 1, "{file}: {line}");
        }
        for (file, line) in [
            ("src/middle/passes/mod.rs", "    register::<one::One>(); crate::pipeline::register();"),
            ("src/middle/passes/one.rs", "    pass_descriptor!(one);"),
            ("src/middle/passes/one.rs", "    use descriptors::two::stat;"),
            ("src/middle/passes/one.rs", "    let mut state = b.state(op_name(op));"),
            ("src/middle/dialect/upstream.rs", "    op_name(op) == name"),
            ("src/middle/passes/two/part.rs", "use super::helper; let twofold = crate::analysis::x::one_of();"),
            ("src/middle/passes/one.rs", "use crate::analysis::facts::Facts;"),
            ("src/middle/analysis/facts.rs", "use crate::dialect::rt; let passes = plan.passes; f(passes);"),
            ("src/middle/pipeline/options.rs", "use crate::passes::one;"),
            ("src/command/tools/mod.rs", "use crate::passes; use tile_driver::version_text;"),
            ("src/compile.rs", "use tile_interface::Backend;"),
        ] {
            assert_eq!(found(file, line), 0, "{file}: {line}");
        }
    }
}
