//! File names in PTX.
//!
//! LLVM writes some names in `.file` directives that ptxas cannot read, for two reasons:
//!
//! * LLVM writes `\"` for a quote. PTX strings do not have escapes: to ptxas the quote ends the name, and the rest of
//!   the line is an error. PTX cannot express a quote at all, so the name gets an apostrophe instead.
//! * ptxas splits names at `/` and `\`. If a name is empty or ends with a separator, nothing remains for the file in
//!   the line table, and ptxas 13.4 fails with an internal error. Such a name gets an underscore.
//!
//! Line information with a slightly different name is better than none.

/// Returns generated PTX with names in `.file` directives that ptxas can read.
pub fn legible(ptx: String) -> String {
    if !ptx.contains(".file") {
        return ptx;
    }
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n') {
        match parts(line) {
            Some([before, name, after]) => text.extend([before, &legible_name(name), after]),
            None => text.push_str(line),
        }
    }
    text
}

/// Splits a `.file` directive at its outer quotes, into the text before, between and after them.
fn parts(line: &str) -> Option<[&str; 3]> {
    let (start, end) = (line.find('"')? + 1, line.rfind('"')?);
    (line.trim_start().starts_with(".file") && start <= end).then(|| [&line[..start], &line[start..end], &line[end..]])
}

/// Replaces each escaped quote with an apostrophe and appends an underscore to a trailing separator. Other escapes
/// stay.
fn legible_name(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 1);
    let mut rest = name.chars();
    while let Some(c) = rest.next() {
        match (c, rest.as_str().chars().next()) {
            ('\\', Some('"')) => text.push('\''),
            ('\\', Some(next)) => text.extend([c, next]),
            _ => {
                text.push(c);
                continue;
            }
        }
        rest.next();
    }
    if text.is_empty() || text.ends_with(['/', '\\']) {
        text.push('_');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let cases = [
            ("\t.file\t1 \"a\\\"b.py\"\n", "\t.file\t1 \"a'b.py\"\n"),
            ("\t.file\t1 \"\\\"\\\"\"", "\t.file\t1 \"''\""),
            ("\t.file\t1 \"a\\\\\\\"b\"\n", "\t.file\t1 \"a\\\\'b\"\n"),
            ("\t.file\t1 \"\\303\\251.py\"\n\tret;\n", "\t.file\t1 \"\\303\\251.py\"\n\tret;\n"),
            ("\t.file\t1 \"\"\n", "\t.file\t1 \"_\"\n"),
            ("\t.file\t1 \"a/\"\n", "\t.file\t1 \"a/_\"\n"),
            // The quote after an escaped backslash ends the name.
            ("\t.file\t1 \"a\\\\\"\n", "\t.file\t1 \"a\\\\_\"\n"),
            ("\t.file\t1 \"a\\", "\t.file\t1 \"a\\"),
            ("\t.file\t1\n\"a/\"", "\t.file\t1\n\"a/\""),
            ("// \\\"\n.file 2 \"c\\\"\"\n// \"/\"", "// \\\"\n.file 2 \"c'\"\n// \"/\""),
        ];
        for (printed, expected) in cases {
            assert_eq!(legible(printed.into()), expected);
            assert_eq!(legible(expected.into()), expected);
        }
    }
}
