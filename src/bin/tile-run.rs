//! Runs kernels on the simulated device, or on the reference interpreter.

use std::process::ExitCode;
use tile_launch::Tools;

fn main() -> ExitCode {
    let tools = Tools {
        compiler: &tileiras::compile::InProcess,
        reader: &tileiras::compile::program,
        optional_passes: &tileiras::compile::optional_passes,
    };
    tile_launch::main(std::env::args_os(), tools)
}
