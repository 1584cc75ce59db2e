//! Diagnostics: one data model, a table of error codes, and three renderers.
//!
//! * [`Diagnostic`]: severity, code, message, location, notes. Every message to the user is one.
//! * [`render::plain`]: one line per diagnostic and note, for pipes and programs.
//! * [`render::caret`]: an excerpt of the source with a caret, for terminals.
//! * [`render::json`]: one JSON object per diagnostic.
//! * [`codes`]: the meaning of each error code, and what to do.

#![deny(unsafe_code)]

pub mod codes;
pub mod render;

pub use codes::Code;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
    Remark,
    Note,
}

impl Severity {
    /// The severity as messages show it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
            Severity::Note => "note",
        }
    }
}

/// A source location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub file: String,
    /// From 1. 0 if only the file is known.
    pub line: u32,
    /// From 1, in bytes. 0 if only the line is known.
    pub column: u32,
    /// The function or inlining chain in a fused location, if any.
    pub scope: Option<String>,
}

impl Location {
    pub fn new(file: impl Into<String>, line: u32, column: u32) -> Location {
        Location { file: file.into(), line, column, scope: None }
    }
}

/// An addition to a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub message: String,
    pub location: Option<Location>,
}

/// A message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub code: Option<Code>,
    pub message: String,
    pub location: Option<Location>,
    pub notes: Vec<Note>,
}

impl Diagnostic {
    pub fn new(severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity, code: None, message: message.into(), location: None, notes: Vec::new() }
    }

    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code: Some(code), ..Diagnostic::new(Severity::Error, message) }
    }

    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, message)
    }

    #[must_use]
    pub fn at(mut self, location: Location) -> Diagnostic {
        self.location = Some(location);
        self
    }

    #[must_use]
    pub fn note(mut self, message: impl Into<String>) -> Diagnostic {
        self.notes.push(Note { message: message.into(), location: None });
        self
    }

    #[must_use]
    pub fn note_at(mut self, message: impl Into<String>, location: Location) -> Diagnostic {
        self.notes.push(Note { message: message.into(), location: Some(location) });
        self
    }
}
