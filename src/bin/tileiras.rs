//! The compiler command. It answers simple requests itself and leaves compilations to `tileiras-core`, which links
//! MLIR and LLVM.

use std::process::ExitCode;

use tile_driver::Core;
use tile_version::IDENTITY;

fn main() -> ExitCode {
    tile_driver::main(std::env::args_os(), &IDENTITY, Core::Program("tileiras-core"))
}
