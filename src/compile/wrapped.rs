//! Long lines of printed modules, broken where MLIR allows a new line.

/// The longest line, in columns.
const WIDTH: usize = 160;
/// The further indentation of a line that continues another.
const INDENT: usize = 4;

/// Breaks the lines of a printed module that are longer than [`WIDTH`] columns.
pub fn wrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let (mut rest, mut columns, mut depth) = (line, WIDTH, 0);
        while let Some((at, inside)) = (rest.len() > columns).then(|| break_of(rest, columns, depth)).flatten() {
            depth = inside;
            out.push_str(rest[..at].trim_end());
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent + INDENT));
            rest = rest[at..].trim_start();
            columns = WIDTH.saturating_sub(indent + INDENT);
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

/// Returns where to break a line within the first `columns` bytes: before types or attributes, or else after a comma.
/// `depth` is the number of open brackets at the start; the number at the break is returned with it.
fn break_of(line: &str, columns: usize, mut depth: i32) -> Option<(usize, i32)> {
    let bytes = line.as_bytes();
    let start = line.len() - line.trim_start().len();
    let (mut is_string, mut best, mut comma) = (false, None, None);
    for at in start..columns.min(bytes.len()) {
        match bytes[at] {
            b'\\' if is_string => return best.or(comma),
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if bytes[at - 1] != b'-' => depth -= 1,
            b')' | b']' | b'}' => depth -= 1,
            b' ' if at > start => {
                let next = &line[at + 1..];
                if depth == 0 && ["attributes ", ": ", "-> "].iter().any(|word| next.starts_with(word)) {
                    best = Some((at, depth));
                } else if bytes[at - 1] == b',' && depth <= 1 {
                    comma = Some((at, depth));
                }
            }
            _ => {}
        }
    }
    best.or(comma)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_before_types_and_after_commas() {
        let types = format!("  %0 = f %1, %2 : <{}>, i32", "1, ".repeat(47));
        let text = wrapped(&format!("a\n{types}\nb\n"));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[0], lines[1]), ("a", "  %0 = f %1, %2"));
        assert!(lines[2].starts_with("      : <1, ") && lines[2].ends_with("i32") && lines[3] == "b");
        let arguments = format!("f({})", (0..40).map(|i| format!("%a{i}: i32")).collect::<Vec<_>>().join(", "));
        let text = wrapped(&arguments);
        assert!(text.lines().count() > 2 && text.lines().all(|l| l.len() <= WIDTH), "{text}");
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), arguments.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn strings_and_short_lines_remain() {
        let long = format!("assert %0, \"{}\"", "a, b : c ".repeat(30));
        assert_eq!(wrapped(&long), format!("assert %0,\n    \"{}\"\n", "a, b : c ".repeat(30)));
        assert_eq!(wrapped("  a : b\n"), "  a : b\n");
    }
}
