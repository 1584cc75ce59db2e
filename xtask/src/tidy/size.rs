//! Checks the length of lines and functions.
//!
//! Lines: at most [`MAX_COLUMNS`] in Rust and in Markdown prose. Tables, fenced text and links without a space are
//! exempt. Functions: at most [`MAX_FUNCTION`] lines from the head to the closing brace, except for the tables in
//! [`TABLES`].

pub const MAX_COLUMNS: usize = 120;
pub const MAX_FUNCTION: usize = 120;

/// Longer functions that are tables: file, function and contents.
const TABLES: &[(&str, &str, &str)] = &[
    ("ptx-sim/src/exec/units/alu_int.rs", "int", "integer instructions"),
    ("ptx-sim/src/exec/units/builtins.rs", "format_printf", "conversions of printf"),
    ("ptx-sim/src/exec/step.rs", "step", "instructions"),
    ("ptx-sim/src/exec/units/tcgen05.rs", "tcgen05_op", "instructions of tensor memory"),
    ("ptx-sim/src/parse/tensor_ops.rs", "tcgen05", "instructions of tensor memory"),
    ("src/middle/analysis/facts.rs", "transfer", "transfer functions of ops"),
    ("src/execution/interp/text.rs", "body", "ops of the language"),
    ("src/middle/passes/convert_cudatile_to_tileaa.rs", "op", "ops of the language"),
    ("src/middle/passes/convert_tileaa_to_tileas.rs", "op", "ops of nv_tileaa"),
    ("src/execution/run/cl.rs", "parse", "options"),
    ("src/input/translate/program.rs", "kind", "ops of the language"),
    ("tests/machine/big_ops.rs", "tests", "tests"),
    ("tests/bytecode/diagnostics.rs", "cases", "messages"),
];

/// Reports long lines of a Rust file. `code` is its lines without comments and literals.
pub fn check_columns(lines: &[&str], code: &[String], report: &mut impl FnMut(usize, &str)) {
    for (i, line) in lines.iter().enumerate().filter(|(_, line)| is_long(line)) {
        // Without a quotation mark the line is code, a comment, or inside a literal that spans lines.
        let literal = line.contains('"') || code[i].is_empty() && !line.trim_start().starts_with("//");
        if literal && !is_long(&code[i]) {
            continue;
        }
        report(i + 1, &format!("{} columns; at most {MAX_COLUMNS} are allowed", line.chars().count()));
    }
}

/// Reports long lines of a Markdown file.
pub fn check_prose(lines: &[&str], report: &mut impl FnMut(usize, &str)) {
    let mut fenced = false;
    for (i, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        if text.starts_with("```") {
            fenced = !fenced;
        }
        let breakable = text.trim_start_matches(['*', '-', '>', ' ']).contains(' ');
        if !fenced && !text.starts_with('|') && breakable && is_long(line) {
            report(i + 1, &format!("{} columns; wrap prose at {MAX_COLUMNS}", line.chars().count()));
        }
    }
}

fn is_long(line: &str) -> bool {
    line.len() > MAX_COLUMNS && line.chars().count() > MAX_COLUMNS
}

/// Reports long functions of a Rust file. `code` is its lines without comments and literals.
pub fn check_functions(file: &str, code: &[String], report: &mut impl FnMut(usize, &str)) {
    for (name, start, length) in functions(code) {
        if length > MAX_FUNCTION && !TABLES.iter().any(|(f, n, _)| *f == file && *n == name) {
            report(start + 1, &format!("function '{name}' has {length} lines; at most {MAX_FUNCTION} are allowed"));
        }
    }
}

/// Returns the name, first line (from 0) and number of lines of each function with a body.
fn functions(code: &[String]) -> Vec<(String, usize, usize)> {
    let mut found = vec![];
    // A head before its body, and open bodies with the brace depth of each.
    let mut head: Option<(String, usize)> = None;
    let mut open: Vec<(String, usize, usize)> = vec![];
    let mut depth = 0usize;
    // Depth of brackets in a head, where a semicolon belongs to an array type.
    let mut nested = 0usize;
    for (i, line) in code.iter().enumerate() {
        let mut rest = line.as_str();
        while let Some(c) = rest.chars().next() {
            if let Some((name, skipped)) = function_head(line, rest) {
                head = Some((name, i));
                nested = 0;
                rest = &rest[skipped..];
                continue;
            }
            match c {
                '(' | '[' => nested += 1,
                ')' | ']' => nested = nested.saturating_sub(1),
                ';' if nested == 0 => head = None,
                '{' => {
                    if let Some((name, start)) = head.take() {
                        open.push((name, start, depth));
                    }
                    depth += 1;
                }
                '}' => {
                    depth = depth.saturating_sub(1);
                    if open.last().is_some_and(|(_, _, at)| *at == depth)
                        && let Some((name, start, _)) = open.pop()
                    {
                        found.push((name, start, i + 1 - start));
                    }
                }
                _ => {}
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    found
}

/// Returns the name after `fn` and its end, if `rest` begins with a function head. Types of function pointers have no
/// name.
fn function_head(line: &str, rest: &str) -> Option<(String, usize)> {
    let after = rest.strip_prefix("fn ")?;
    let before = &line[..line.len() - rest.len()];
    if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
    (end > 0).then(|| (after[..end].to_owned(), 3 + end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn functions_are_found_with_their_lengths() {
        let text = "\
impl<T> X<T> {
    fn a(&self, b: [u8; 4]) -> Option<fn(u8) -> u8>
    where
        T: Copy,
    {
        if x { y } else { z }
        fn inner() {}
    }
    fn declared(&self);
}
pub fn last() { }";
        assert_eq!(
            functions(&code(text)),
            [("inner".to_owned(), 6, 1), ("a".to_owned(), 1, 7), ("last".to_owned(), 10, 1)]
        );
    }

    #[test]
    fn long_ones_are_reported() {
        type Check<'a> = &'a dyn Fn(&[&str], &mut dyn FnMut(usize, &str));
        let report = |text: &str, check: Check<'_>| {
            let mut found = vec![];
            check(&text.lines().collect::<Vec<_>>(), &mut |line, _: &str| found.push(line));
            found
        };
        let long = "a ".repeat(MAX_COLUMNS / 2 + 1);
        let columns = |l: &[&str], mut r: &mut dyn FnMut(usize, &str)| {
            let code = super::super::code_lines(&l.join("\n"));
            check_columns(l, &code, &mut r);
        };
        let text = format!("short\n// {long}\n{}\nlet s = \"{long}\";\n{long}", "é".repeat(MAX_COLUMNS));
        assert_eq!(report(&text, &columns), [2, 5]);
        let prose = |l: &[&str], mut r: &mut dyn FnMut(usize, &str)| check_prose(l, &mut r);
        let page = format!("{long}\n| {long} |\n```\n{long}\n```\n* {}\n* {long}", "x".repeat(200));
        assert_eq!(report(&page, &prose), [1, 7]);
        let body = "\n".repeat(MAX_FUNCTION - 1);
        let functions = |l: &[&str], mut r: &mut dyn FnMut(usize, &str)| {
            check_functions("a.rs", &l.iter().map(|&l| l.to_owned()).collect::<Vec<_>>(), &mut r);
        };
        assert_eq!(report(&format!("fn f() {{{body}}}\nfn g() {{{body}\n}}"), &functions), [MAX_FUNCTION + 1]);
    }
}
