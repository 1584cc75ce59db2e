//! Whether a program still has a defect: the test of `tileiras-reduce`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tile_launch::interesting::main(std::env::args_os(), tileiras::compile::TOOLS)
}
