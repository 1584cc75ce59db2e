//! Converts bytecode to text and back.

use std::process::ExitCode;

fn main() -> ExitCode {
    tileiras::tools::translate(std::env::args_os())
}
