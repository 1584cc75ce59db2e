//! Writes and replays reproducers.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;

use tile_diag::{Code, Diagnostic, Severity};

use super::{Exit, Result, Session, scratch_directory, version_text};
use crate::options::Options;
use crate::repro::Reproducer;
use crate::{Identity, files, io_text};

impl Session<'_> {
    /// Writes a reproducer after an internal error if `--crash-dir` is given.
    pub(super) fn write_reproducer(
        &mut self,
        done: Result<()>,
        options: &Options,
        arguments: &[OsString],
        identity: &Identity,
    ) -> Result<()> {
        let (Err(Exit(70)), Some(directory)) = (&done, &options.crash_dir) else { return done };
        let version = version_text(identity);
        let compiler = version.lines().next().unwrap_or_default();
        // A pipe has been read already; reading it again would block.
        let is_gone = || Err(io::Error::other("the input is not a regular file and cannot be read again"));
        let input = if options.input.is_file() { files::read(&options.input) } else { is_gone() };
        let written = input.and_then(|input| {
            let ended = self.last_error.clone().unwrap_or_else(|| "internal error".to_owned());
            let whole = Reproducer::new(compiler, &arguments[1..], &options.input, &input, 70, ended);
            let (reproducer, hint) = if options.anonymize {
                whole.anonymise()
            } else {
                (whole, "it contains the input unchanged; --anonymize removes names")
            };
            Ok((reproducer.write(directory)?, hint))
        });
        let note = match written {
            Ok((file, hint)) => Diagnostic::new(
                Severity::Note,
                format!("a reproducer was written to '{}': 'tileiras replay' runs it; {hint}", file.display()),
            ),
            Err(e) => Diagnostic::warning(format!("cannot write a reproducer: {}", io_text(&e))),
        };
        self.report(&note);
        done
    }

    pub(super) fn replay(&mut self, file: &OsString) -> Result<()> {
        let name = Path::new(file).display();
        let unreadable = |text| Diagnostic::error(Code::UnreadableInput, format!("the reproducer '{name}': {text}"));
        let reproducer = Reproducer::read(Path::new(file)).map_err(|e| self.fail(unreadable(e)))?;
        let input = reproducer.bytes().map_err(|e| self.fail(unreadable(e)))?;
        let scratch = |e: io::Error| {
            Diagnostic::error(Code::TemporaryFile, format!("Failed to create temporary file: {}", io_text(&e)))
        };
        let (arguments, left_out) = reproducer.harmless();
        if !left_out.is_empty() {
            let text = format!("ignored, because a replay only uses options that affect code: {}", left_out.join(" "));
            self.report(&Diagnostic::warning(text));
        }
        // In a directory of its own, the input keeps its name, which appears in locations.
        let directory = crate::output::private_directory(&scratch_directory()).map_err(|e| self.fail(scratch(e)))?;
        let path = directory.join(reproducer.base_name());
        let program = std::env::current_exe();
        let status = std::fs::write(&path, input).and(program).and_then(|program| {
            let mut command = Command::new(program);
            command.args(&arguments).args(["-o", "/dev/null", "--"]).arg(&path);
            crate::child::run_as_part(command)
        });
        // Leftovers are in a directory for temporary files.
        let _ = std::fs::remove_dir_all(&directory);
        let code = status.map_err(|e| self.fail(scratch(e)))?.code().unwrap_or(70);
        let words = match u8::try_from(code) {
            Ok(0) => "not reproduced: the input compiles".to_owned(),
            Ok(code) if code == reproducer.status => format!("reproduced: status {code} ({})", reproducer.ended),
            _ => format!("not reproduced: status {code}, expected {}", reproducer.status),
        };
        self.inform(&format!("{words}\n"))?;
        if code == 0 { Ok(()) } else { Err(Exit(u8::try_from(code).unwrap_or(70))) }
    }
}
