//! `tileiras WORD ...`: what the command does beside compiling.
//!
//! The vendor's command takes one file name and options, so a word is a subcommand only where it stands first and no
//! file has that name.

use std::ffi::OsString;
use std::path::Path;

use crate::tune;

/// A subcommand.
pub struct Subcommand {
    /// The word and its arguments.
    pub usage: &'static str,
    /// One line for the help of the command.
    pub summary: &'static str,
    /// The rest of its own help, `tileiras WORD --help`.
    pub details: &'static str,
}

impl Subcommand {
    pub fn name(&self) -> &'static str {
        self.usage.split(' ').next().unwrap_or(self.usage)
    }

    /// The text of `tileiras WORD --help`.
    pub fn help(&self) -> String {
        let Subcommand { usage, summary, details } = self;
        let details = if details.is_empty() { String::new() } else { format!("\n{details}\n") };
        format!("USAGE: tileiras {usage}\n\n{summary}.\n{details}")
    }
}

pub const SUBCOMMANDS: &[Subcommand] = &[
    Subcommand {
        usage: "batch MANIFEST [-j N]",
        summary: "Compile everything that a JSON manifest lists, N at a time; a line of JSON for each",
        details: r#"The manifest:

  {
    "args": ["-O3"],
    "items": [
      {"input": "a.tileirbc", "output": "a.cubin", "args": ["--gpu-name=sm_90"]},
      {"input": "b.mlir", "output": "b.ptx", "args": ["--emit=ptx"]}
    ]
  }

The arguments at the top come before those of each item; both may be left out. Names are relative to the manifest's
directory. N is the number of processors unless told. What ends is told on standard output:

  {"index":0,"input":"a.tileirbc","output":"a.cubin","status":0,"seconds":0.07,"messages":""}

The status is that of the command for this item, and the messages are what it said. An item that fails stops no other; the
batch itself then ends with 5. An input must be a regular file and an output no pipe, or the item fails at once."#,
    },
    Subcommand {
        usage: "doctor",
        summary: "Check this installation and say what to do where it does not work",
        details: "Exit status: 0 where it works, warnings or not; 4 where it does not.",
    },
    Subcommand {
        usage: "replay FILE",
        summary: "Compile what a reproducer holds, and say whether it still fails in the same way",
        details: "A reproducer is what an internal failure leaves in the directory of --crash-dir: one file with the input, the\narguments and the \
                  end. With --anonymize, names are taken out of it.",
    },
    Subcommand {
        usage: "explain-schedule FILE",
        summary: "Show the modulo schedule of each loop, as a table of clocks, and why it takes so long",
        details: "Other arguments are those of a compilation. -o names a file: a page where the name ends in .html, a trace for\n\
                  Perfetto in .json, text in .txt. --pipeline-option=v2-opt-level=3 also searches small loops exhaustively.",
    },
    Subcommand {
        usage: "explore FILE [-o PAGE.html]",
        summary: "Show a program at every level and what each pass did to it, as a page for a browser",
        details: "Other arguments are those of a compilation. The page needs no server and no other file. Lines that come from one\n\
                  line of the source are linked; layouts of tensors are shown as pictures. Where the name of -o ends in .json, the\n\
                  data of the page are written instead. Without -o, the page is FILE.html in the current directory.",
    },
    Subcommand {
        usage: "tune KERNEL --set NAME=LIST",
        summary: "Find the variant of a program that takes the least time, as predicted or measured",
        details: tune::call::HELP,
    },
    Subcommand {
        usage: "completions SHELL",
        summary: "Print the completions for bash, zsh or fish",
        details: "  tileiras completions bash > ~/.local/share/bash-completion/completions/tileiras\n\
                  tileiras completions zsh  > DIR/_tileiras          # DIR is in $fpath\n\
                  tileiras completions fish > ~/.config/fish/completions/tileiras.fish",
    },
    Subcommand { usage: "man", summary: "Print the manual page: tileiras man | man -l -", details: "" },
    Subcommand { usage: "explain CODE", summary: "Explain an error code such as T0401", details: "" },
];

/// The subcommand of a command line, with its arguments.
pub fn of(arguments: &[OsString]) -> Option<(&'static Subcommand, &[OsString])> {
    let first = arguments.get(1)?;
    let subcommand = SUBCOMMANDS.iter().find(|s| first == s.name())?;
    (!Path::new(first).exists()).then(|| (subcommand, &arguments[2..]))
}
