//! Converts diagnostics of MLIR.

use crate::dialect::{location, rt::shown};
use melior::diagnostic::DiagnosticSeverity;
use tile_diag::{Diagnostic, Location, Severity};

/// Converts a diagnostic of MLIR with its notes.
pub(super) fn convert(d: &melior::diagnostic::Diagnostic<'_>) -> Diagnostic {
    let severity = match d.severity() {
        DiagnosticSeverity::Error => Severity::Error,
        DiagnosticSeverity::Warning => Severity::Warning,
        _ => Severity::Remark,
    };
    let mut out = Diagnostic::new(severity, shown(d));
    out.location = place(d.location());
    for i in 0..d.note_count() {
        let Ok(note) = d.note(i) else { continue };
        out = match place(note.location()) {
            Some(at) => out.note_at(shown(&note), at),
            None => out.note(shown(&note)),
        };
    }
    out
}

/// The file, line and column of a location, if it has them.
pub(super) fn place(l: melior::ir::Location<'_>) -> Option<Location> {
    location::file_line(l).map(|p| Location::new(p.file, p.line, p.column))
}
