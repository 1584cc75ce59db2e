//! Tests whether a program still has a defect, for `tileiras-reduce`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tile_launch::interesting::main(std::env::args_os(), tileiras::compile::TOOLS)
}
