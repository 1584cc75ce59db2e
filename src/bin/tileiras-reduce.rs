//! `mlir-reduce` with the dialects and passes of this compiler.

use std::process::ExitCode;

fn main() -> ExitCode {
    tileiras::tools::reduce(std::env::args_os())
}
