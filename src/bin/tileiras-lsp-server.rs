//! The language server of the dialects.

use std::process::ExitCode;

fn main() -> ExitCode {
    tileiras::tools::lsp_server(std::env::args_os())
}
