//! The command: arguments, inputs, outputs, ptxas. Everything of `tileiras` that needs no MLIR.
//!
//! A binary is one call: `tile_driver::main(std::env::args_os(), &IDENTITY, core)`, where [`Core`] says who compiles:
//! a [`Compiler`] linked into the same program, with or without a guard, or a second program that this one starts and
//! watches. The last form keeps large shared libraries out of the answers to `--version` and `--help`; it and the guard
//! turn a crash of the compiler into a message and an exit status.
//!
//! Exit status: 0 done; 1 command line, unreadable input, failed write; 2 configuration, output that cannot be opened;
//! 3 input that is no valid module; 4 a tool is missing; 5 compilation failed; 70 a defect of the compiler.
//!
//! * [`cl`]: the grammar of the command line; [`options`]: the table of options; [`help`]: its text.
//! * [`toolchain`], [`ptxas`], [`child`], [`process`]: finding and running NVIDIA's assembler.
//! * [`crash`]: what becomes of a compiler that crashes; [`isolated`]: one in a process of its own.
//! * [`subcommand`], [`doctor`], [`batch`], [`tune`]: what the command does beside compiling one file.
//! * [`progress`]: how far long work is.
//! * [`completions`], [`manual`]: what shells complete, and the manual page.
//! * [`repro`]: files that hold a failure.
//! * [`cache`]: results of earlier compilations.
//! * [`hostobj`]: cubins inside of objects for the host.
//! * [`files`]: how much is read of a file.
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
pub mod options;
pub mod output;
mod panics;
#[allow(unsafe_code, reason = "system calls between fork and exec")]
pub mod process;
pub mod progress;
pub mod ptxas;
pub mod remarks;
pub mod repro;
pub mod resources;
pub mod response;
pub mod subcommand;
pub mod toolchain;
pub mod tune;

use std::ffi::OsString;
use std::process::ExitCode;

use tile_interface::Compiler;

pub use command::{BYTECODE_VERSIONS, version_text};
pub use panics::{install_panic_hook, last_panic};
pub use tile_diag::{Code, Diagnostic, Location, Severity};

/// The identity of a build, for `--version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub version: &'static str,
    /// The commit that last changed the compiler.
    pub revision: &'static str,
    /// A fingerprint of the sources: differs where anything that can change generated code differs.
    pub sources: &'static str,
    pub llvm: &'static str,
}

/// Who compiles.
pub enum Core<'a> {
    /// This program does.
    InProcess(&'a dyn Compiler),
    /// This program does, and it is called anew to report a crash: see [`crash`]. The process ends with the command, at
    /// once.
    Guarded(&'a dyn Compiler),
    /// The program of this name in this program's own directory does, called with the same arguments.
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

/// The system's words for an error, without the number that Rust adds.
pub fn io_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}
