//! The compiler proper, which `tileiras` starts for a compilation.

use std::process::ExitCode;

use tile_driver::Core;
use tile_version::IDENTITY;
use tileiras::compile::InProcess;

fn main() -> ExitCode {
    tile_driver::main(std::env::args_os(), &IDENTITY, Core::InProcess(&InProcess))
}
