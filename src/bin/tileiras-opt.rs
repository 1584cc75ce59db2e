//! `mlir-opt` with the dialects and passes of this compiler.

use std::process::ExitCode;

fn main() -> ExitCode {
    tileiras::tools::opt(std::env::args_os())
}
