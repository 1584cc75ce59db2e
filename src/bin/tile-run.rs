//! Runs kernels on the simulated device, or on the reference interpreter.

use std::{ffi::OsString, process::ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    tile_driver::version(&arguments, &tile_version::IDENTITY)
        .unwrap_or_else(|| tile_launch::main(arguments, tileiras::compile::TOOLS))
}
