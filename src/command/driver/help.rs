//! The help texts, in the layout of LLVM's tools. Programs parse this layout: one line per value, starting with `=`,
//! follows a line that starts with, say, `--gpu-name`.

use crate::cl::{Glue, Spec, ValueKind, dashed};
use crate::options::{CATEGORIES, SPECS};
use crate::subcommand::{SUBCOMMANDS, Subcommand};

/// The contents of a program's help.
pub struct Page {
    pub overview: &'static str,
    /// The arguments after the options, as shown in the usage line.
    pub usage: &'static str,
    pub subcommands: &'static [Subcommand],
    pub specs: &'static [Spec],
    /// The categories, in order.
    pub categories: &'static [&'static str],
    /// Typical command lines, and what they do.
    pub examples: &'static [(&'static str, &'static str)],
}

/// The help of the compiler.
pub static COMPILER: Page = Page {
    overview: "Compiler for CUDA Tile IR: bytecode or MLIR text to PTX and cubins",
    usage: "<input file>",
    subcommands: SUBCOMMANDS,
    specs: SPECS,
    categories: CATEGORIES,
    examples: &[
        ("tileiras kernel.tileirbc --gpu-name=sm_90 -o kernel.cubin", "compile for an H100"),
        ("tileiras kernel.mlir --gpu-name=sm_100 --emit=ptx -o -", "print the PTX for a B200"),
        ("tileiras kernel.mlir --emit=ptx -o kernel.ptx --remarks=all", "say what was chosen and missed"),
        ("tileiras explore kernel.mlir --gpu-name=sm_90 -o page.html", "show the program at every level"),
    ],
};

impl Page {
    /// The text of `--help` and its relatives. With `hidden`, all options; with `list`, without categories.
    pub fn text(&self, program: &str, hidden: bool, list: bool) -> String {
        let mut specs: Vec<&Spec> = self.specs.iter().filter(|s| hidden || !s.hidden).collect();
        specs.sort_by_key(|s| (s.name.to_ascii_lowercase(), s.name));
        let width = specs
            .iter()
            .map(|s| head(self, s).len())
            .max()
            .unwrap_or(0)
            .max(specs.iter().flat_map(|s| choices(s)).map(|(name, _)| name.len() + 5).max().unwrap_or(0));

        let Page { overview, usage, .. } = self;
        let mut out = format!("OVERVIEW: {overview}\n\nUSAGE: {program} [options] {usage}\n\n");
        if !self.subcommands.is_empty() {
            out.push_str("SUBCOMMANDS:\n\n");
            let widest = self.subcommands.iter().map(|s| s.usage.len()).max().unwrap_or(0);
            for Subcommand { usage, summary, .. } in self.subcommands {
                out.push_str(&format!("  {usage:widest$} - {summary}\n"));
            }
            out.push('\n');
        }
        if !self.examples.is_empty() {
            out.push_str("EXAMPLES:\n\n");
            let widest = self.examples.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
            for (line, meaning) in self.examples {
                out.push_str(&format!("  {line:widest$} - {meaning}\n"));
            }
            out.push('\n');
        }
        out.push_str("OPTIONS:\n");
        if list {
            out.push('\n');
            for spec in &specs {
                self.write_option(&mut out, spec, width);
            }
            return out;
        }
        for category in self.categories {
            out.push_str(&format!("\n{category}:\n\n"));
            for spec in specs.iter().filter(|s| s.category == *category) {
                self.write_option(&mut out, spec, width);
            }
        }
        out
    }

    fn write_option(&self, out: &mut String, spec: &Spec, width: usize) {
        out.push_str(&format!("{:width$} - {}\n", head(self, spec), spec.help));
        for (name, description) in choices(spec) {
            let name = format!("={name}");
            if description.is_empty() {
                out.push_str(&format!("    {name}\n"));
            } else {
                out.push_str(&format!("    {name:rest$} -   {description}\n", rest = width - 4));
            }
        }
    }
}

/// The text left of the dash. An alias shows the placeholder of the option it refers to.
pub fn head(page: &Page, spec: &Spec) -> String {
    let target = spec.alias_for.and_then(|name| page.specs.iter().find(|s| s.name == name)).unwrap_or(spec);
    let value = match (target.placeholder, target.value, spec.glue) {
        ("", ..) => String::new(),
        (name, ValueKind::OptionalText, _) => format!("[=<{name}>]"),
        (name, _, Glue::Prefix) => format!("<{name}>"),
        (name, ..) => format!("=<{name}>"),
    };
    format!("  {}{value}", dashed(spec.name))
}

fn choices(spec: &Spec) -> &'static [(&'static str, &'static str)] {
    match spec.value {
        ValueKind::Choice(choices) => choices,
        _ => &[],
    }
}
