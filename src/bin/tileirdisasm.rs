//! The bytecode disassembler.

use std::process::ExitCode;

fn main() -> ExitCode {
    tileiras::tools::disassemble(std::env::args_os())
}
