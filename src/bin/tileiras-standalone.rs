//! All commands in one program, for builds that link MLIR and LLVM statically and start as fast as a small program.
//! The program executes itself again to report a crash, so that here too a crash leads to a message and an exit
//! status. `scripts/dist.sh` installs it as `tileiras` and under the names of other tools: `tileirdisasm`, the
//! disassembler, which some clients expect next to the compiler; `tile-run`, the simulator; and
//! `tileiras-lsp-server`, which editors start. If the program cannot have such a name, `--called-as=NAME` as the
//! first argument replaces it.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::ExitCode,
};

use tile_driver::Core;
use tile_version::IDENTITY;
use tileiras::compile::{self, OneShot};

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let given = arguments.get(1).and_then(|a| a.to_str()?.strip_prefix("--called-as=")).map(OsString::from);
    if let Some(name) = given {
        arguments.splice(..2, [name]);
    }
    let called = arguments.first().and_then(|a| Path::new(a).file_name()).and_then(OsStr::to_str).unwrap_or_default();
    match called {
        "tileirdisasm" => tileiras::tools::disassemble(arguments.into_iter()),
        "tile-run" => {
            let version = tile_driver::version(&arguments, &IDENTITY);
            version.unwrap_or_else(|| tile_launch::main(arguments, compile::TOOLS))
        }
        "tileiras-lsp-server" => tileiras::tools::lsp_server(arguments.into_iter()),
        _ => tile_driver::main(arguments, &IDENTITY, Core::Guarded(&OneShot)),
    }
}
