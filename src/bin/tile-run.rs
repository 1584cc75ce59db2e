//! Runs kernels on the simulated device, or on the reference interpreter.

use std::process::ExitCode;

fn main() -> ExitCode {
    tile_launch::main(std::env::args_os(), tileiras::compile::TOOLS)
}
