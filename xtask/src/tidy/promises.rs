//! Checks that the tests named on the compatibility page exist.
//!
//! In the last column of a table, names in backticks after a colon are tests: a function, a trial, or a file below
//! `tests/ir`.

pub const PAGE: &str = "docs/compatibility.md";

/// Returns the tests that the page names and that do not exist, as `PAGE:LINE: TEXT`. `sources` is the text of all
/// Rust files.
pub fn missing(page: &str, files: &[String], sources: &str) -> Vec<String> {
    let mut problems = vec![];
    for (i, line) in page.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
        for name in named(line) {
            let exists = if name.contains('/') || name.ends_with(".mlir") {
                let path = format!("tests/ir/{name}");
                name.ends_with('/') && files.iter().any(|f| f.starts_with(&path))
                    || files.iter().any(|f| *f == path || *f == format!("tests/ir/pipeline/{name}") || f == name)
            } else {
                // Names of probes are prefixed with a word.
                let plain = name.strip_prefix("probe ").unwrap_or(name);
                sources.contains(&format!("fn {name}(")) || sources.contains(&format!("\"{plain}\""))
            };
            if !exists {
                problems.push(format!("{PAGE}:{}: there is no test '{name}'", i + 1));
            }
        }
    }
    problems
}

/// Returns the names of tests in a row: those in backticks after the first colon of the last column.
fn named(row: &str) -> impl Iterator<Item = &str> {
    let last = row.trim_end_matches(['|', ' ']).rsplit(" | ").next().unwrap_or_default();
    let tests = last.split_once(": ").map_or("", |(_, tests)| tests);
    // Every other piece between backticks is inside them.
    tests.split('`').skip(1).step_by(2).filter(|name| !name.contains("--") && !name.contains("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_is_not_there_is_told() {
        let files = ["tests/ir/pipeline/o0.mlir".to_owned()];
        let sources = "fn found() {} (\"a trial\", f), Trial::test(\"odd name\")";
        let page = "| a | wire: `found`; driver: `probe a trial`, `odd name` |\n| b | ir: `pipeline/o0.mlir`, `pipeline/` |\n\
                    | c | wire: `lost`; ir: `pipeline/o9.mlir` |\n| d | assertions of `src/a.rs` |\nwire: `prose`\n";
        assert_eq!(
            missing(page, &files, sources),
            [
                "docs/compatibility.md:3: there is no test 'lost'",
                "docs/compatibility.md:3: there is no test 'pipeline/o9.mlir'",
            ]
        );
    }
}
