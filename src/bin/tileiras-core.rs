//! The compiler proper: what `tileiras` calls once it knows that something is to be compiled.

use std::process::ExitCode;

use tile_driver::Core;
use tile_version::IDENTITY;
use tileiras::compile::InProcess;

fn main() -> ExitCode {
    tile_driver::main(std::env::args_os(), &IDENTITY, Core::InProcess(&InProcess))
}
