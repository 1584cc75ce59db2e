//! Checks that comments and pages are plain English.
//!
//! [`HABITS`] are phrases that make prose hard to read when they are frequent. The bound of each is twice its rate in
//! the comments and pages of cranelift, and at least 0.3 per 10 000 words. If a rate exceeds its bound, the check fails
//! and lists all lines. [`GLOSSARY`] are words that the field has another term for; each occurrence is an error.
//!
//! The check reads comments of Rust, C++, C, TableGen and Python, descriptions of TableGen, and Markdown outside fenced
//! text. It skips tests, generated pages and dated results.

use regex::Regex;
use std::sync::LazyLock;

/// Name, pattern, bound per 10 000 words.
const HABITS: &[(&str, &str, f64)] = &[
    ("'what is', 'what has' as a noun", r"\bwhat (is|has|are|have|they|it)\b", 3.0),
    ("'behind' for after", r"\bbehind\b", 0.8),
    ("'those that', 'those of'", r"\bthose (that|of)\b", 0.8),
    ("'stands' for is", r"\bstands?\b", 0.4),
    ("'lies' for is stored", r"\b(lies|lie)\b", 0.6),
    ("'is none', 'is no'", r"\bis (none|no)\b", 5.2),
    ("'beside'", r"\bbeside\b", 0.4),
    ("'nobody'", r"\bnobody\b", 0.3),
    ("'under way' for in flight", r"\bunder way\b", 0.3),
    ("'so many' for N, that many", r"\bso many\b", 0.3),
    ("'in front of' for before", r"\bin front of\b", 0.3),
    ("'who' for threads, agents", r"\bwho\b", 0.8),
    ("'by turns', 'take turns'", r"\b(by turns|takes? turns)\b", 0.3),
    ("'anew', 'but for', 'for ever'", r"\b(anew|but for|for ever)\b", 2.0),
];

/// Former words of this project, and the field's term.
const GLOSSARY: &[(&str, &str)] = &[
    (r"\bpreparers?\b", "converter, converter warpgroup"),
    (r"\blocal_turn\b|\bturned (tiles?|panels?|operands?)\b", "transpose, transposed"),
    (r"\bmade (operands?|products?)\b", "producer-computed operand"),
    (r"\b(share|shares|sharing) (a|each) tile blocks?\b", "split a tile over the CTAs of a cluster"),
    (r"\bwarpgroup products?\b|\bproducts? of warpgroups\b", "`wgmma` dot"),
    (r"\btensor cop(y|ies)\b", "TMA load, TMA store"),
    (r"\bskip(s|ping)? scaling\b", "skip the rescale"),
    (r"\bplaces? of (an|the) ops?\b", "location"),
];

/// Folders of tests, generated pages and dated results.
const SKIPPED: &[&str] = &["tests/", "docs/reference", "docs/results"];

/// A line of prose: file, number, text in lower case.
type Line<'a> = (&'a str, usize, String);

/// The prose of all files.
#[derive(Default)]
pub struct Prose<'a> {
    lines: Vec<Line<'a>>,
    words: usize,
}

impl<'a> Prose<'a> {
    /// Adds the comments or the page of a file.
    pub fn add(&mut self, file: &'a str, text: &str) {
        if SKIPPED.iter().any(|f| file.starts_with(f)) || file == "xtask/src/tidy/words.rs" {
            return;
        }
        let Some((_, extension)) = file.rsplit_once('.') else { return };
        let comment = match extension {
            "md" => None,
            "rs" | "cpp" | "h" | "c" | "td" => Some(&*SLASHES),
            "py" => Some(&*HASH),
            _ => return,
        };
        let (mut fenced, mut described) = (false, false);
        for (i, line) in text.lines().enumerate() {
            let page = comment.is_none() || extension == "td" && described;
            if extension == "td" {
                described = line.rfind("[{").map_or(described, |at| line.rfind("}]").is_none_or(|end| end < at));
                described &= !line.contains("}]") || line.rfind("[{") > line.rfind("}]");
            }
            let prose = if page {
                if line.trim_start().starts_with("```") {
                    fenced = !fenced;
                    continue;
                }
                (!fenced).then_some(line)
            } else {
                comment.and_then(|c| c.captures(line)).and_then(|c| c.get(1)).map(|m| m.as_str())
            };
            if let Some(prose) = prose {
                self.words += prose.split_whitespace().count();
                self.lines.push((file, i + 1, prose.to_lowercase()));
            }
        }
    }

    /// Returns the habits above their bounds, with all lines, and the words of the glossary.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = vec![];
        for (name, pattern, bound) in HABITS {
            let pattern = Regex::new(pattern).expect("a valid pattern");
            let found: Vec<&Line<'_>> = self.lines.iter().filter(|(_, _, text)| pattern.is_match(text)).collect();
            let count: usize = found.iter().map(|(_, _, text)| pattern.find_iter(text).count()).sum();
            let rate = count as f64 / self.words.max(1) as f64 * 1e4;
            if rate > *bound {
                problems.push(format!("{name}: {rate:.1} per 10 000 words, at most {bound} allowed; lines:"));
                problems.extend(found.iter().map(|(file, line, text)| format!("  {file}:{line}: {}", text.trim())));
            }
        }
        for (pattern, term) in GLOSSARY {
            let pattern = Regex::new(pattern).expect("a valid pattern");
            for (file, line, text) in &self.lines {
                if let Some(word) = pattern.find(text) {
                    problems.push(format!("{file}:{line}: '{}': the field's term is {term}", word.as_str()));
                }
            }
        }
        problems
    }
}

static SLASHES: LazyLock<Regex> = LazyLock::new(|| Regex::new("//[/!]?(.*)").expect("a valid pattern"));
/// A comment of Python; a blank follows the mark, unlike in colors and directives.
static HASH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"#\s(.*)").expect("a valid pattern"));

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(file: &str, text: &str) -> Vec<String> {
        let mut prose = Prose::default();
        prose.add(file, text);
        prose.problems()
    }

    #[test]
    fn habits_are_counted_in_comments_and_pages() {
        for (file, text) in [
            ("src/a.rs", "let x = 1; // The barrier behind it.\n"),
            ("docs/a.md", "Nobody waits.\n"),
            ("a.py", "x = 1  # Those of a warp.\n"),
            ("a.td", "let description = [{\n  They take turns.\n}];\n"),
        ] {
            let found = problems(file, text);
            assert_eq!(found.len(), 2, "{file}: {found:?}");
            assert!(found[1].starts_with(&format!("  {file}:")), "{found:?}");
        }
        for (file, text) in [
            ("src/a.rs", "let behind = nobody;\n"),
            ("docs/a.md", "Text.\n```\nbehind\n```\n"),
            ("tests/a.rs", "// Behind.\n"),
            ("a.td", "let description = [{\n  Text.\n}];\nlet behind = 1;\n"),
        ] {
            assert_eq!(problems(file, text), Vec::<String>::new(), "{file}");
        }
        // One in 10 000 words is within the bound of 3.
        assert!(problems("docs/a.md", &format!("What is left. {}\n", "word ".repeat(10_000))).is_empty());
    }

    #[test]
    fn words_that_are_not_the_fields_are_found() {
        let found = problems("src/a.rs", "// A tensor copy brings the made operand.\n");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("producer-computed operand"), "{found:?}");
    }
}
