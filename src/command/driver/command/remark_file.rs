//! Writing the remark file.

use super::{Exit, Result, Session};
use crate::{
    io_text,
    output::{self, OutputError},
};
use std::path::Path;
use tile_diag::{Code, Diagnostic};

impl Session<'_> {
    /// Writes the remark file.
    pub(super) fn write_remarks(&mut self, file: &Path, text: &str) -> Result<()> {
        output::write(file, text.as_bytes(), self.stdout).map_err(|e| self.remarks_failed(&e))
    }

    /// Reports the message of NVIDIA's command, with its status.
    pub(super) fn remarks_failed(&mut self, error: &OutputError) -> Exit {
        let OutputError::Open(file, why) = error else { return self.output_failed(error) };
        let text = format!("Error opening remark output file '{}': {}", file.display(), io_text(why));
        let d = Diagnostic::error(Code::UnopenableOutput, "failed to enable optimization remarks").note(text);
        self.fail(d);
        Exit(3)
    }
}
