//! `cargo xtask tidy --wrap`: wraps comments and prose that are too wide.
//!
//! A paragraph is rewrapped from its first line that is too wide to its end; other paragraphs do not change. Tables,
//! headings and fenced text are kept. rustfmt's own `wrap_comments` is not stable.

use super::size::MAX_COLUMNS;

/// Returns the wrapped text of a file.
pub fn wrap(name: &str, text: &str) -> String {
    let is_rust = name.ends_with(".rs");
    let lines: Vec<&str> = text.lines().collect();
    let mut out: Vec<String> = vec![];
    let mut fenced = false;
    let mut i = 0;
    while i < lines.len() {
        let Some(line) = Line::of(lines[i], is_rust) else {
            out.push(lines[i].to_owned());
            fenced = false;
            i += 1;
            continue;
        };
        fenced ^= line.text.trim_start().starts_with("```");
        // Lines indented by four spaces after an empty line are preformatted.
        let is_code =
            line.text.starts_with("    ") && i > 0 && Line::of(lines[i - 1], is_rust).is_some_and(|l| l.is_blank());
        if fenced || is_code || line.is_fixed() || lines[i].chars().count() <= MAX_COLUMNS {
            out.push(lines[i].to_owned());
            i += 1;
            continue;
        }
        i += 1;
        let mut paragraph = Paragraph::new(&line);
        paragraph.push(line.words());
        while let Some(next) = lines.get(i).and_then(|l| Line::of(l, is_rust)).filter(|l| l.continues(&line)) {
            paragraph.push(next.words());
            i += 1;
        }
        out.extend(paragraph.lines());
    }
    out.join("\n") + if text.ends_with('\n') { "\n" } else { "" }
}

/// A line of prose.
struct Line<'a> {
    /// The comment's indentation and slashes.
    prefix: &'a str,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn of(line: &'a str, is_rust: bool) -> Option<Self> {
        if !is_rust {
            return Some(Self { prefix: "", text: line });
        }
        let start = line.len() - line.trim_start().len();
        let slashes = line[start..].strip_prefix("//")?;
        let mark = usize::from(slashes.starts_with(['/', '!']));
        let rest = &slashes[mark..];
        let prefix = &line[..line.len() - rest.len()];
        Some(Self { prefix, text: rest.strip_prefix(' ').unwrap_or(rest) })
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Whether the line is never wrapped: a heading, table, markup or ruler.
    fn is_fixed(&self) -> bool {
        let text = self.text.trim_start();
        text.is_empty() || ["#", "|", "```", "<", "==="].iter().any(|mark| text.starts_with(mark))
    }

    /// Returns the indentation and the marker of a list item.
    fn indent(&self) -> &'a str {
        let blanks = self.text.len() - self.text.trim_start().len();
        let text = &self.text[blanks..];
        let number = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let mark = if text.starts_with("* ") || text.starts_with("- ") || text.starts_with("> ") {
            2
        } else if number > 0 && text[number..].starts_with(". ") {
            number + 2
        } else {
            0
        };
        &self.text[..blanks + mark]
    }

    fn words(&self) -> std::str::SplitWhitespace<'a> {
        self.text[self.indent().len()..].split_whitespace()
    }

    /// Whether this line continues the paragraph that `first` begins.
    fn continues(&self, first: &Line<'_>) -> bool {
        let indent = self.indent();
        self.prefix == first.prefix
            && !self.is_fixed()
            && indent.trim().is_empty()
            && indent.len() == first.indent().len()
    }
}

struct Paragraph {
    /// Prefixes of the first line and of the others.
    fronts: [String; 2],
    words: Vec<String>,
}

impl Paragraph {
    fn new(line: &Line<'_>) -> Self {
        let space = if line.prefix.is_empty() { "" } else { " " };
        let others =
            if line.indent().trim() == ">" { line.indent().to_owned() } else { " ".repeat(line.indent().len()) };
        let front = |indent: &str| format!("{}{space}{indent}", line.prefix);
        Self { fronts: [front(line.indent()), front(&others)], words: vec![] }
    }

    fn push<'a>(&mut self, words: impl Iterator<Item = &'a str>) {
        self.words.extend(words.map(str::to_owned));
    }

    fn lines(self) -> Vec<String> {
        let mut lines: Vec<String> = vec![];
        let mut empty = true;
        lines.push(self.fronts[0].clone());
        for word in &self.words {
            let line = lines.last_mut().expect("one at least");
            if empty {
                line.push_str(word);
            } else if line.chars().count() + 1 + word.chars().count() <= MAX_COLUMNS {
                line.push(' ');
                line.push_str(word);
            } else {
                lines.push(format!("{}{word}", self.fronts[1]));
            }
            empty = false;
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_and_the_rest_is_left() {
        let words = "word ".repeat(30);
        let (long, text) = (words.trim_end(), "    let x = 1;\n");
        let full = "word ".repeat(23);
        let full = full.trim_end();
        let wrapped = wrap("a.rs", &format!("{text}    // {long}\n    // end.\n\n    // next\n{text}"));
        assert_eq!(
            wrapped,
            format!(
                "{text}    // {}\n    // word word word word word word word word end.\n\n    // next\n{text}",
                &full[..109]
            )
        );
        // An item keeps its indentation, and the next item is not joined to it.
        let wrapped = wrap("a.md", &format!("* {long}\n  end\n* other\n"));
        assert_eq!(wrapped, format!("* {full}\n  word word word word word word word end\n* other\n"));
        for kept in [
            format!("| {long} |\n"),
            format!("```\n{long}\n```\n"),
            format!("# {long}\n"),
            "short\nlines\n".to_owned(),
            format!("x\n\n    {long}\n"),
        ] {
            assert_eq!(wrap("a.md", &kept), kept);
        }
        let code = format!("let s = \"{long}\";\n/// ```text\n/// {long}\n/// ```\n");
        assert_eq!(wrap("a.rs", &code), code);
    }
}
