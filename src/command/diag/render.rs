//! Three renderers of diagnostics.

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use serde_json::{Value, json};

use crate::{Diagnostic, Location, Severity};

/// One line for the diagnostic and one for each note, each terminated by a newline.
///
/// Programs parse this form with three regular expressions. A line matches exactly one of
/// ```text
/// loc("FILE":LINE:COLUMN): error: MESSAGE
/// loc(fused<SCOPE>["FILE":LINE:COLUMN]): error: MESSAGE
/// error: MESSAGE
/// ```
/// so a message never spans lines, a file name contains no quotation mark, a scope contains no bracket, and codes and
/// colors are omitted. Remarks are for people: their locations are `FILE:LINE:COLUMN`, which editors and terminals
/// open.
pub fn plain(diagnostic: &Diagnostic) -> String {
    let shown = if diagnostic.severity == Severity::Remark { short_location } else { plain_location };
    let line = |severity: Severity, message: &str, location: Option<&Location>| {
        let prefix = location.map_or(String::new(), |l| format!("{}: ", shown(l)));
        format!("{prefix}{}: {}\n", severity.name(), one_line(message))
    };
    let mut out = line(diagnostic.severity, &diagnostic.message, diagnostic.location.as_ref());
    for note in &diagnostic.notes {
        out.push_str(&line(Severity::Note, &note.message, note.location.as_ref()));
    }
    out
}

fn short_location(location: &Location) -> String {
    let file = one_line(&location.file);
    match (location.line, location.column) {
        (0, _) => file,
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}

fn plain_location(location: &Location) -> String {
    let file = one_line(&location.file).replace('"', "'");
    let place = match (location.line, location.column) {
        (0, _) => format!("\"{file}\""),
        (line, column) => format!("\"{file}\":{line}:{column}"),
    };
    match &location.scope {
        // The form with a scope needs a line.
        Some(scope) if location.line > 0 => {
            let scope = one_line(scope).replace(['(', ')', '[', ']', '<', '>', '"'], " ");
            format!("loc(fused<{}>[{place}])", scope.trim())
        }
        _ => format!("loc({place})"),
    }
}

/// Replaces newlines by spaces, and escapes other control characters, which a terminal might interpret.
fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim_end().chars() {
        match c {
            '\n' | '\t' => out.push(' '),
            '\r' => {}
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// Escapes control characters except newlines and tabs in the output of another program, because a terminal might
/// interpret them.
pub fn escape_control(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => {}
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// An excerpt of the source with a caret below the location. `source` returns the text of a file. Without a text or a
/// line, the location is only named.
pub fn caret(diagnostic: &Diagnostic, source: &dyn Fn(&str) -> Option<String>, colour: bool) -> String {
    let load = |location: &Option<Location>| location.as_ref().filter(|l| l.line > 0).and_then(|l| source(&l.file));
    let text = load(&diagnostic.location);
    let note_texts: Vec<Option<String>> = diagnostic.notes.iter().map(|n| load(&n.location)).collect();
    let message = clean(&diagnostic.message);
    let note_messages: Vec<String> = diagnostic.notes.iter().map(|n| clean(&n.message)).collect();

    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Remark => Level::INFO.with_name("remark"),
        Severity::Note => Level::NOTE,
    };
    let mut title = level.primary_title(&message);
    if let Some(code) = diagnostic.code {
        title = title.id(code.text());
    }
    let mut groups = vec![Group::with_title(title).elements(place(diagnostic.location.as_ref(), text.as_deref()))];
    for ((note, message), text) in diagnostic.notes.iter().zip(&note_messages).zip(&note_texts) {
        if note.location.is_some() {
            groups.push(
                Group::with_title(Level::NOTE.secondary_title(message))
                    .elements(place(note.location.as_ref(), text.as_deref())),
            );
        } else if let Some(group) = groups.pop() {
            groups.push(group.element(Level::NOTE.message(message)));
        }
    }
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut out = renderer.render(&groups).to_string();
    out.push('\n');
    out
}

/// Escapes control characters except newlines.
fn clean(text: &str) -> String {
    text.lines().map(one_line).collect::<Vec<_>>().join("\n")
}

fn place<'a>(location: Option<&'a Location>, source: Option<&'a str>) -> Option<Element<'a>> {
    let location = location?;
    let offset = source.and_then(|text| offset_of(text, location.line, location.column));
    match (source, offset) {
        (Some(text), Some(at)) => {
            let end = at + text[at..].chars().next().map_or(0, |c| if c == '\n' { 0 } else { c.len_utf8() });
            let annotation = AnnotationKind::Primary.span(at..end);
            Some(Snippet::source(text).path(location.file.as_str()).annotation(annotation).into())
        }
        _ => {
            let mut origin = Origin::path(location.file.as_str());
            if location.line > 0 {
                origin = origin.line(location.line as usize);
                if location.column > 0 {
                    origin = origin.char_column(location.column as usize);
                }
            }
            Some(origin.into())
        }
    }
}

/// The byte offset of a line and column, both from 1, or `None` if the text lacks that line. A column past the end of
/// the line is clamped, and one inside a character moves to the start of the character.
fn offset_of(text: &str, line: u32, column: u32) -> Option<usize> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)? as usize).map(str::len).sum();
    if text.split_inclusive('\n').count() < line as usize {
        return None;
    }
    let length = text[start..].find('\n').unwrap_or(text.len() - start);
    let mut at = start + (column.saturating_sub(1) as usize).min(length);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    Some(at)
}

/// A JSON object on one line. Fields: `severity`, `code` (or null), `message`, `location` (or null; `file`, `line`,
/// `column`, `scope`), `notes` (each with `message` and `location`).
pub fn json(diagnostic: &Diagnostic) -> String {
    let location = |l: &Option<Location>| match l {
        None => Value::Null,
        Some(l) => json!({ "file": l.file, "line": l.line, "column": l.column, "scope": l.scope }),
    };
    let notes: Vec<Value> =
        diagnostic.notes.iter().map(|n| json!({ "message": n.message, "location": location(&n.location) })).collect();
    let object = json!({
        "severity": diagnostic.severity.name(),
        "code": diagnostic.code.map(|c| c.text()),
        "message": diagnostic.message,
        "location": location(&diagnostic.location),
        "notes": notes,
    });
    format!("{object}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use regex::Regex;

    fn sample() -> Diagnostic {
        Diagnostic::error(Code::BadModule, "'cuda_tile.addf' op requires the same type\nfor all operands")
            .at(Location::new("kernels/a \"b\".mlir", 2, 8))
            .note_at("operand 1 was defined here", Location::new("kernels/a \"b\".mlir", 1, 1))
            .note("see the operation's documentation")
    }

    /// The regular expressions of clients that parse standard error.
    fn client_expressions() -> [Regex; 3] {
        [
            r#"(?i)loc\("([^"]+)"(?::(\d+):(\d+))?\):\s*error:\s*(.*)"#,
            r#"(?i)loc\((?:[^)]*?)\["([^"]+)":(\d+):(\d+)\]\):\s*error:\s*(.*)"#,
            r"(?i)^\s*error:\s*(.*)",
        ]
        .map(|e| Regex::new(e).unwrap())
    }

    #[test]
    fn plain_lines_match_one_client_expression_each() {
        let [simple, fused, bare] = client_expressions();
        let message = "failed; it (really) [did] \"so\": error: twice";
        let scopes = ["kernel", "f(x)[y]<z>", "a at \"b\"", ""];
        for (file, line) in [("a.py", 3u32), ("dir with space/ünï.py", 12), ("q\"uote.py", 1), ("no-line.py", 0)] {
            let d = Diagnostic::error(Code::CompileFailed, message).at(Location::new(file, line, 7));
            let text = plain(&d);
            assert_eq!(text.lines().count(), 1);
            let found = simple.captures(text.trim_end()).unwrap();
            assert_eq!(&found[1], file.replace('"', "'"));
            assert_eq!(found.get(2).map(|m| m.as_str().parse().unwrap()), (line > 0).then_some(line));
            assert_eq!(&found[4], message);
            assert!(fused.captures(&text).is_none() && bare.captures(&text).is_none(), "{text}");

            for scope in scopes {
                let mut d = d.clone();
                d.location.as_mut().unwrap().scope = Some(scope.to_owned());
                let text = plain(&d);
                let expression = if line > 0 { &fused } else { &simple };
                let found = expression.captures(text.trim_end()).unwrap_or_else(|| panic!("{text}"));
                assert_eq!(&found[4], message);
            }
        }
        let text = plain(&Diagnostic::error(Code::Internal, "line one\nline two\u{1b}[31m\r\n"));
        assert_eq!(&bare.captures(text.trim_end()).unwrap()[1], "line one line two\\u{1b}[31m");
    }

    #[test]
    fn plain_has_one_line_per_note() {
        insta::assert_snapshot!(plain(&sample()), @r#"
        loc("kernels/a 'b'.mlir":2:8): error: 'cuda_tile.addf' op requires the same type for all operands
        loc("kernels/a 'b'.mlir":1:1): note: operand 1 was defined here
        note: see the operation's documentation
        "#);
    }

    #[test]
    fn caret_shows_the_source() {
        let source = |_: &str| Some("%0 = constant\n%1 = addf %0, %0\n".to_owned());
        insta::assert_snapshot!(caret(&sample(), &source, false));
    }

    #[test]
    fn caret_without_a_source_names_the_location() {
        insta::assert_snapshot!(caret(&sample(), &|_| None, false));
        // Locations outside the file are named as well.
        let outside = Diagnostic::error(Code::BadModule, "x").at(Location::new("f", 99, 1));
        assert!(caret(&outside, &|_| Some("one\n".into()), false).contains("f:99:1"));
        let wide = Diagnostic::error(Code::BadModule, "x").at(Location::new("f", 1, 3));
        assert!(caret(&wide, &|_| Some("aéb\n".into()), true).contains('\u{1b}'));
        let end = Diagnostic::error(Code::BadModule, "x").at(Location::new("f", 1, 50));
        assert!(caret(&end, &|_| Some("ab".into()), false).contains("f:1:3"));
    }

    #[test]
    fn json_is_one_object_per_line() {
        let text = json(&sample());
        assert_eq!(text.lines().count(), 1);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["severity"], "error");
        assert_eq!(value["code"], "T0302");
        assert_eq!(value["location"]["line"], 2);
        assert_eq!(value["notes"][1]["location"], Value::Null);
        assert_eq!(value["message"], sample().message);
    }
}
