//! Bytecode as people read it.

use std::process::ExitCode;

fn main() -> ExitCode {
    tileiras::tools::disassemble(std::env::args_os())
}
