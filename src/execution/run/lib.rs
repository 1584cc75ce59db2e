//! Runs compiled kernels on the simulated device, or programs on the reference interpreter.
//!
//! `tile-run` is one call of [`main`], with the compiler and the parser that the binary links. A launch comes from
//! the command line or from a description in JSON ([`launch`]). Arrays are `.npy` files ([`npy`]) and become entry
//! parameters by the calling convention of cuTile Python ([`execute`]). Results are written back and compared with
//! the description's expectations ([`compare`]). [`reference`] does the same on the interpreter, without compiling.
//! [`corpus`] runs the kernels of the corpus, [`mutation`] determines which defects those runs would detect, and
//! [`orders`] compares the memory orders that a program requires with those of its PTX.
//!
//! Exit status: 0 success; 1 command line, unreadable file, invalid launch description; 3 invalid kernel; 5
//! compilation failed; 6 the launch failed; 7 unexpected results; 8 a file could not be written.

#![deny(unsafe_code)]

pub mod assembled;
mod chosen;
pub mod cl;
mod command;
pub mod compare;
pub mod corpus;
mod each;
pub mod element;
pub mod execute;
pub mod interesting;
pub mod launch;
pub mod mutation;
pub mod npy;
pub mod orders;
mod place;
mod progress;
pub mod reference;
mod save;
mod start;
#[cfg(test)]
mod tests;
pub mod types;
pub mod variant;

use std::ffi::OsString;
use std::process::ExitCode;

pub use command::{Failure, OptionalPasses, Tools, run};

/// Runs the command. The first argument is the program's name.
pub fn main(arguments: impl IntoIterator<Item = OsString>, tools: Tools<'_>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().skip(1).collect();
    let mut stdout = std::io::stdout();
    let mut stderr = std::io::stderr();
    ExitCode::from(run(&arguments, tools, &mut stdout, &mut stderr))
}
