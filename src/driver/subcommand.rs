//! `tileiras WORD ...`: what the command does beside compiling.
//!
//! The vendor's command takes one file name and options, so a word is a subcommand only where it stands first and no
//! file has that name.

use std::ffi::OsString;
use std::path::Path;

/// The words, with their one-line descriptions for the help text.
pub const SUBCOMMANDS: &[(&str, &str)] = &[
    ("batch MANIFEST [-j N]", "Compile everything that a JSON manifest lists, N at a time; a line of JSON for each"),
    ("doctor", "Check this installation and say what to do where it does not work"),
    ("replay FILE", "Compile what a reproducer holds, and say whether it still fails in the same way"),
    ("explain CODE", "Explain an error code such as T0401"),
];

/// The subcommand of a command line, with its arguments.
pub fn of(arguments: &[OsString]) -> Option<(&'static str, &[OsString])> {
    let first = arguments.get(1)?;
    let names = SUBCOMMANDS.iter().map(|(usage, _)| usage.split(' ').next().unwrap_or(usage));
    let name = names.into_iter().find(|name| first == name)?;
    (!Path::new(first).exists()).then(|| (name, &arguments[2..]))
}
