//! Runs kernels on the simulated device.

use std::process::ExitCode;

fn main() -> ExitCode {
    tile_launch::main(std::env::args_os(), &tileiras::compile::InProcess)
}
