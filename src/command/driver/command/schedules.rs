//! `tileiras explain-schedule`: shows the modulo schedules of a program's loops.

use std::ffi::OsString;
use std::path::Path;

use tile_diag::{Code, Diagnostic};

use super::{Result, Session};
use crate::io_text;

/// The option that enables the scheduler, and the option for the file of its schedules.
const LEVEL: &str = "--pipeline-option=v2-opt-level=";
const TRACE: &str = "--pipeline-option=schedule-trace-file=";

/// The text for a program without scheduled loops.
const NONE: &str =
    "no loop was scheduled: the modulo scheduler handles loops that contain a dot or load its operands\n";

/// The compiler options, and the file for the schedules if one is named.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    pub(super) arguments: Vec<OsString>,
    pub(super) output: Option<OsString>,
}

/// Separates the output from the other arguments. `None` if its name is missing.
pub(super) fn call(arguments: &[OsString]) -> Option<Call> {
    let mut call = Call { arguments: vec![], output: None };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        if text == "-o" || text == "--output-file" {
            call.output = Some(rest.next()?.clone());
        } else if let Some(name) = text.strip_prefix("-o=").or_else(|| text.strip_prefix("--output-file=")) {
            call.output = Some(name.into());
        } else {
            call.arguments.push(argument.clone());
        }
    }
    Some(call)
}

impl Session<'_> {
    /// Compiles up to the schedules with the scheduler enabled, and shows them.
    pub(super) fn explain_schedule(&mut self, arguments: &[OsString]) -> Result<()> {
        let Some(Call { arguments, output }) = call(arguments) else {
            return Err(self.command_line_error("tileiras: explain-schedule: -o needs a file name"));
        };
        let directory = self.private_scratch()?;
        // The extension selects the format: a page, a trace or text.
        let kind = output.as_ref().and_then(|o| Path::new(o).extension()?.to_str()).unwrap_or("txt");
        let file = directory.join(format!("schedules.{kind}"));
        let mut trace = OsString::from(TRACE);
        trace.push(&file);
        let is_off = level(&arguments) == Some("0");
        let compiled = self.compile_in_child(|command| {
            command.arg(trace).args(["--emit=tileas", "-o", "/dev/null"]).args(&arguments);
            command.args(is_off.then(|| format!("{LEVEL}2")));
        });
        let schedules = std::fs::read(&file);
        // Leftovers are in a directory for temporary files.
        let _ = std::fs::remove_dir_all(&directory);
        compiled?;
        let schedules = schedules.unwrap_or_default();
        if schedules.is_empty() {
            return self.write_stdout(NONE);
        }
        match output.filter(|o| o != "-") {
            None => self.write_stdout(&format!("{}{}", compiled_text(&arguments), String::from_utf8_lossy(&schedules))),
            Some(name) => std::fs::write(&name, schedules).map_err(|e| {
                let text = format!("cannot write '{}': {}", name.display(), io_text(&e));
                self.fail(Diagnostic::error(Code::WriteFailed, text))
            }),
        }
    }
}

/// The level of scheduling that the arguments name.
fn level(arguments: &[OsString]) -> Option<&str> {
    arguments.iter().rev().find_map(|a| a.to_str()?.strip_prefix(LEVEL))
}

/// Says whether a compilation with these arguments follows the schedules, and why.
fn compiled_text(arguments: &[OsString]) -> String {
    match level(arguments) {
        Some("0") => format!("not compiled: the scheduler is off; {LEVEL}2, the default, compiles these schedules\n\n"),
        level => format!("compiled: v2-opt-level is {}\n\n", level.unwrap_or("2")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(Into::into).collect()
    }

    #[test]
    fn the_output_is_recognized() {
        let of = |text: &str| call(&words(text));
        let found = |arguments: &str, output: Option<&str>| {
            Some(Call { arguments: words(arguments), output: output.map(Into::into) })
        };
        assert_eq!(of("k.mlir --gpu-name=sm_80"), found("k.mlir --gpu-name=sm_80", None));
        assert_eq!(of("-o p.html k.mlir"), found("k.mlir", Some("p.html")));
        assert_eq!(of("k.mlir --output-file=p.html -O2"), found("k.mlir -O2", Some("p.html")));
        assert_eq!(of("k.mlir -o"), None);
    }

    #[test]
    fn the_compiled_schedule_is_named() {
        assert_eq!(compiled_text(&words("k.mlir")), "compiled: v2-opt-level is 2\n\n");
        assert!(compiled_text(&words("k.mlir --pipeline-option=v2-opt-level=0")).starts_with("not compiled: "));
        let text = compiled_text(&words("k.mlir --pipeline-option=v2-opt-level=3"));
        assert_eq!(text, "compiled: v2-opt-level is 3\n\n");
    }
}
