//! `tileiras WORD ...`: the subcommands.
//!
//! The vendor's command takes one file name and options. A word is therefore a subcommand only if it is the first
//! argument and no file has that name.

use std::ffi::OsString;
use std::path::Path;

use crate::tune;

/// A subcommand.
pub struct Subcommand {
    /// The name and its arguments.
    pub usage: &'static str,
    /// One line for the help of the compiler.
    pub summary: &'static str,
    /// The rest of the subcommand's help, printed by `tileiras WORD --help`.
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
        summary: "Compile every item of a JSON manifest, N at a time, and report each as a line of JSON",
        details: r#"The manifest:

  {
    "args": ["-O3"],
    "items": [
      {"input": "a.tileirbc", "output": "a.cubin", "args": ["--gpu-name=sm_90"]},
      {"input": "b.mlir", "output": "b.ptx", "args": ["--emit=ptx"]}
    ]
  }

The "args" at the top precede those of each item; both are optional. File names are relative to the manifest's directory.
N defaults to the number of processors. Each finished item is reported on standard output:

  {"index":0,"input":"a.tileirbc","output":"a.cubin","status":0,"seconds":0.07,"messages":""}

"status" is the exit status of this compilation and "messages" its diagnostics. A failed item does not stop the others,
but the batch then ends with status 5. An input must be a regular file, and an output must not be a pipe."#,
    },
    Subcommand {
        usage: "doctor",
        summary: "Check this installation and suggest fixes",
        details: "Exit status: 0 if the installation works, even with warnings; 4 if it does not.",
    },
    Subcommand {
        usage: "replay FILE",
        summary: "Compile the contents of a reproducer and report whether the failure is still the same",
        details: "An internal failure of the compiler writes a reproducer to the directory of --crash-dir: one file with the\n\
                  input, the arguments and the outcome. --anonymize removes names from it.",
    },
    Subcommand {
        usage: "explain-schedule FILE",
        summary: "Show the modulo schedule of each loop as a table of cycles, with the bound on its length",
        details: "Other arguments are compiler options. -o names the output: a page if the name ends in .html, a Perfetto trace\n\
                  for .json, text for .txt. --pipeline-option=v2-opt-level=3 also searches small loops exhaustively.",
    },
    Subcommand {
        usage: "explore FILE [-o PAGE.html]",
        summary: "Show a program at every level, and the effect of each pass, as a page for a browser",
        details: "Other arguments are compiler options. The page is self-contained and needs no server. Lines that come from the\n\
                  same source line are linked, and tensor layouts are shown as pictures. If the name after -o ends in .json, the\n\
                  page's data are written instead. The default output is FILE.html in the current directory.",
    },
    Subcommand {
        usage: "diff A [B] [--at STAGE]",
        summary: "Show after which pass two programs differ, or two configurations of one, and the difference",
        details: "Other arguments are options of both compilations. --left=OPTION and --right=OPTION apply to one: for one file,\n\
                  they are the configurations to compare. --at names a pass, or a level (cuda-tile, tileaa, tileas, llvm, ptx),\n\
                  and shows the difference there instead of the first one. Value numbers are ignored. The lines begin with their\n\
                  source lines. If the name after -o ends in .html, the output is a page like that of 'explore'.",
    },
    Subcommand {
        usage: "numerics A [B] [--json]",
        summary: "Show in which order a program combines floats, or whether two compilations give the same bits",
        details: "Other arguments are options of both compilations. --left=OPTION and --right=OPTION apply to one: for one file,\n\
                  they are the configurations to compare. For each reduction, scan and product the order is a formula, with\n\
                  whether it is pinned (--numerics=pinned) and a bound of the error in units in the last place of the sum of\n\
                  magnitudes. Instructions whose bits PTX does not define, and atomic sums, follow.",
    },
    Subcommand {
        usage: "tune KERNEL --set NAME=LIST",
        summary: "Find the fastest variant of a program, by predicted time or by a benchmark command",
        details: tune::call::HELP,
    },
    Subcommand {
        usage: "completions SHELL",
        summary: "Print the completion script for bash, zsh or fish",
        details: "  tileiras completions bash > ~/.local/share/bash-completion/completions/tileiras\n\
                  tileiras completions zsh  > DIR/_tileiras          # DIR is in $fpath\n\
                  tileiras completions fish > ~/.config/fish/completions/tileiras.fish",
    },
    Subcommand { usage: "man", summary: "Print the manual page: tileiras man | man -l -", details: "" },
    Subcommand { usage: "explain CODE", summary: "Explain an error code such as T0401", details: "" },
];

/// The subcommand of a command line and its arguments.
pub fn of(arguments: &[OsString]) -> Option<(&'static Subcommand, &[OsString])> {
    let first = arguments.get(1)?;
    let subcommand = SUBCOMMANDS.iter().find(|s| first == s.name())?;
    (!Path::new(first).exists()).then(|| (subcommand, &arguments[2..]))
}
