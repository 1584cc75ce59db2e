//! The command in one program, for builds that link MLIR and LLVM statically and start as fast as a small program: it
//! is called anew to report a crash, so that a crash is a message and an exit status here too. `scripts/dist.sh`
//! installs it as `tileiras`, and under the name `tileirdisasm`, which some clients look for beside the compiler, it is
//! the disassembler.

use std::{ffi::OsStr, path::Path, process::ExitCode};

use tile_driver::Core;
use tile_version::IDENTITY;
use tileiras::compile::OneShot;

fn main() -> ExitCode {
    let called = std::env::args_os().next().unwrap_or_default();
    if Path::new(&called).file_name() == Some(OsStr::new("tileirdisasm")) {
        return tileiras::tools::disassemble(std::env::args_os());
    }
    tile_driver::main(std::env::args_os(), &IDENTITY, Core::Guarded(&OneShot))
}
