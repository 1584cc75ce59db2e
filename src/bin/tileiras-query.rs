//! `mlir-query` with the dialects of this compiler.

use std::process::ExitCode;

fn main() -> ExitCode {
    tileiras::tools::query(std::env::args_os())
}
