//! Names of files in PTX.
//!
//! What LLVM writes into `.file` directives is not always what ptxas reads, for two reasons:
//!
//! * LLVM writes `\"` for a quote. Strings of PTX have no escapes: to ptxas the quote ends the name, and what follows
//!   is an error. No other spelling gives it a quote either, so the name gets an apostrophe instead.
//! * ptxas takes names apart at `/` and `\`. A name that is empty, or ends with one of these, has nothing left for the
//!   file in the table of lines, and ptxas 13.4 ends with an internal error over it. Such a name gets an underscore.
//!
//! Line information with a name that is close is better than none.

/// The text that a generator printed, with names in `.file` directives that ptxas reads.
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

/// What stands before, between and behind the outer quotes of a `.file` directive.
fn parts(line: &str) -> Option<[&str; 3]> {
    let (start, end) = (line.find('"')? + 1, line.rfind('"')?);
    (line.trim_start().starts_with(".file") && start <= end).then(|| [&line[..start], &line[start..end], &line[end..]])
}

/// A name in which each escaped quote is an apostrophe and that does not end with a separator. Other escapes stay.
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
            // The quote behind an escaped backslash ends the name.
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
