//! Reads the diagnostics that another process of this program, or a cache entry, holds as JSON.

use serde_json::Value;
use tile_diag::{Code, Diagnostic, Location, Severity};

/// Parses a message written by [`tile_diag::render::json`].
pub fn parse(line: &str) -> Option<Diagnostic> {
    let value: Value = serde_json::from_str(line).ok()?;
    let severities = [Severity::Error, Severity::Warning, Severity::Remark, Severity::Note];
    let name = value.get("severity")?.as_str()?;
    let severity = severities.into_iter().find(|s| s.name() == name)?;
    let mut diagnostic = Diagnostic::new(severity, value.get("message")?.as_str()?);
    diagnostic.code = value.get("code").and_then(Value::as_str).and_then(Code::parse);
    diagnostic.location = location(value.get("location"));
    for note in value.get("notes").and_then(Value::as_array).into_iter().flatten() {
        let message = note.get("message")?.as_str()?;
        diagnostic = match location(note.get("location")) {
            Some(at) => diagnostic.note_at(message, at),
            None => diagnostic.note(message),
        };
    }
    Some(diagnostic)
}

fn location(value: Option<&Value>) -> Option<Location> {
    let value = value?;
    let number = |name: &str| value.get(name).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    let mut location = Location::new(value.get("file")?.as_str()?, number("line"), number("column"));
    location.scope = value.get("scope").and_then(Value::as_str).map(str::to_owned);
    Some(location)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_their_parts() {
        let sent = Diagnostic::error(Code::CompileFailed, "bad \u{7}").at(Location::new("f", 1, 2)).note("because");
        assert_eq!(parse(&tile_diag::render::json(&sent)), Some(sent));
        assert_eq!(parse("{}"), None);
        assert_eq!(parse("LLVM ERROR"), None);
    }
}
