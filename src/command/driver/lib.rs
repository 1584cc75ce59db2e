//! The `tileiras` command: arguments, inputs, outputs and ptxas. Everything in it that does not need MLIR.
//!
//! A binary is one call: `tile_driver::main(std::env::args_os(), &IDENTITY, core)`. [`Core`] selects the compiler: a
//! [`Compiler`] linked into the same program, with or without a crash guard, or a second program that this one starts
//! and supervises. The second program keeps large shared libraries out of `--version` and `--help`. Both it and the
//! guard turn a crash of the compiler into a message and an exit status.
//!
//! Exit status: 0 success; 1 command-line error, unreadable input or failed write; 2 configuration error or output
//! that cannot be opened; 3 input that is not a valid module; 4 missing tool; 5 failed compilation; 70 internal
//! error.
//!
//! * [`cl`]: the command-line grammar; [`options`]: the table of options; [`help`]: the help text.
//! * [`toolchain`], [`ptxas`], [`child`], [`process`], [`parent`]: finding and running NVIDIA's assembler.
//! * [`crash`]: reports crashes of the compiler; [`isolated`]: runs the compiler in a child process.
//! * [`subcommand`], [`doctor`], [`batch`], [`tune`]: the subcommands.
//! * [`progress`]: progress of long work.
//! * [`completions`], [`manual`]: shell completions and the manual page.
//! * [`repro`]: reproducers of failures.
//! * [`cache`]: results of earlier compilations; [`messages`]: their diagnostics, and those of a child process.
//! * [`shared`]: settings that several of these share.
//! * [`hostobj`]: host objects that embed cubins.
//! * [`files`]: bounded reads of files.
//! * [`output`]: files that are written completely or not at all.

#![deny(unsafe_code)]

pub mod batch;
pub mod cache;
#[allow(unsafe_code, reason = "system calls between fork and exec")]
pub mod child;
pub mod cl;
mod command;
pub mod completions;
#[allow(unsafe_code, reason = "handlers of signals")]
pub mod crash;
pub mod doctor;
pub mod files;
pub mod help;
pub mod hostobj;
pub mod isolated;
mod libraries;
pub mod manual;
pub mod messages;
pub mod options;
pub mod output;
mod panics;
#[allow(unsafe_code, reason = "system calls between fork and exec")]
pub mod parent;
#[allow(unsafe_code, reason = "system calls between fork and exec")]
pub mod process;
pub mod progress;
pub mod ptxas;
pub mod remarks;
pub mod repro;
pub mod resources;
pub mod response;
pub mod shared;
pub mod subcommand;
pub mod toolchain;
pub mod tune;

use std::ffi::OsString;
use std::process::ExitCode;

use tile_interface::Compiler;

pub use command::{BYTECODE_VERSIONS, is_module, version_text};
pub use options::PREVIEW_FEATURES;
pub use panics::{install_panic_hook, last_panic};
pub use tile_diag::{Code, Diagnostic, Location, Severity};

/// The identity of a build, for `--version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub version: &'static str,
    /// The commit that last changed the compiler.
    pub revision: &'static str,
    /// A fingerprint of the sources. Differs if anything differs that can change generated code.
    pub sources: &'static str,
    pub llvm: &'static str,
}

/// The compiler that the command uses.
pub enum Core<'a> {
    /// A compiler linked into this program.
    InProcess(&'a dyn Compiler),
    /// A compiler linked into this program, which is executed again to report a crash: see [`crash`]. The process
    /// exits immediately at the end of the command.
    Guarded(&'a dyn Compiler),
    /// A program of this name in this program's directory, called with the same arguments.
    Program(&'a str),
}

/// Runs the command. The first argument is the program's name.
pub fn main(arguments: impl IntoIterator<Item = OsString>, identity: &Identity, core: Core<'_>) -> ExitCode {
    install_panic_hook();
    let mut stdout = std::io::stdout();
    let mut stderr = std::io::stderr();
    let arguments = arguments.into_iter().collect();
    let status = command::run(arguments, identity, &core, &mut stdout, &mut stderr);
    match core {
        Core::Guarded(_) => child::end(status),
        Core::InProcess(_) | Core::Program(_) => ExitCode::from(status),
    }
}

/// Prints the version if it is the first argument of a tool. `Some` is the exit status.
pub fn version(arguments: &[OsString], identity: &Identity) -> Option<ExitCode> {
    use std::io::Write;
    arguments.get(1).filter(|a| *a == "--version")?;
    let written = std::io::stdout().write_all(version_text(identity).as_bytes());
    Some(if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The system's message for an error, without the number that Rust appends.
pub fn io_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}
