//! `tileiras man`: the manual page, generated from the tables of options and subcommands.

use crate::cl::{Spec, ValueKind};
use crate::help::{Page, head};
use tile_diag::Code;

/// The environment variables that the compiler reads.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("CUDA_ROOT, CUDA_HOME, CUDA_PATH", "Toolkits whose bin directory is searched for ptxas, in this order"),
    ("TMPDIR", "The directory of temporary files; /tmp by default"),
    ("TILEIRAS_PROGRESS", "Seconds between progress lines when there is no terminal (default 10); 0 disables them"),
    ("TILEIRAS_MLIR_DUMP", "1 is the same as --mlir-print-ir-after-all"),
    ("TILEIRAS_TIMING", "1 is the same as --mlir-timing"),
    ("TILEIRAS_STATISTICS", "1 is the same as --mlir-pass-statistics"),
    ("TILEIRAS_LLVM_DUMP", "1 is the same as --print-llvm-ir"),
];

/// The meaning of each exit status.
const STATUS: &[(&str, &str)] = &[
    ("0", "Success: the output is complete"),
    ("1", "The command line is wrong, an input cannot be read, or an output cannot be written"),
    ("2", "The configuration is wrong, or an output cannot be opened"),
    ("3", "The input is not a valid module"),
    ("4", "A required tool is missing"),
    ("5", "The compilation failed"),
    ("70", "Internal compiler error"),
];

/// The manual page, in man(7) markup.
pub fn page(page: &Page, program: &str, version: &str) -> String {
    let mut out =
        format!(".TH {} 1 \"\" \"{}\" \"User Commands\"\n", escaped(&program.to_uppercase()), escaped(version));
    let mut section = |title: &str, text: &str| out += &format!(".SH {title}\n{text}");
    section("NAME", &format!("{} \\- {}\n", escaped(program), escaped(&lowered(page.overview))));
    let mut synopsis = format!(".B {program}\n[options] {}\n", escaped(page.usage));
    for s in page.subcommands {
        synopsis += &format!(".br\n.B {program} {}\n", escaped(s.usage));
    }
    section("SYNOPSIS", &synopsis);
    section(
        "DESCRIPTION",
        &paragraph(
            "Compiles CUDA Tile IR programs, in bytecode or MLIR text, to GPU code. Every intermediate level can be written \
             (--emit) and read back (--start-from). The value of an option follows an equals sign or a blank.",
        ),
    );
    let mut subcommands = String::new();
    for s in page.subcommands {
        subcommands += &format!(".TP\n.B {}\n{}.\n", escaped(s.usage), escaped(s.summary));
        if !s.details.is_empty() {
            // Details are laid out by hand.
            subcommands += &format!(".RS\n.PP\n.nf\n{}\n.fi\n.RE\n", escaped(s.details));
        }
    }
    section("SUBCOMMANDS", &subcommands);
    let mut options = String::new();
    for category in page.categories {
        let mut specs: Vec<&Spec> = page.specs.iter().filter(|s| !s.hidden && s.category == *category).collect();
        specs.sort_by_key(|s| (s.name.to_ascii_lowercase(), s.name));
        if !specs.is_empty() {
            options += &format!(".SS {category}\n");
        }
        for spec in specs {
            options += &format!(".TP\n.B {}\n{}.\n", escaped(head(page, spec).trim()), escaped(spec.help));
            options += &values(spec);
        }
    }
    section("OPTIONS", &options);
    section("ENVIRONMENT", &list(ENVIRONMENT));
    section("EXIT STATUS", &list(STATUS));
    let codes: Vec<&str> = Code::ALL.iter().map(|c| c.text()).collect();
    let about = format!("Errors have codes ({}); {program} explain CODE explains one.", codes.join(", "));
    section("DIAGNOSTICS", &paragraph(&about));
    out
}

/// The values of an option with a fixed choice.
fn values(spec: &Spec) -> String {
    let ValueKind::Choice(names) = spec.value else { return String::new() };
    let mut out = ".RS\n".to_owned();
    for (name, what) in names {
        out += &format!(".TP\n.B {}\n{}\n", escaped(name), escaped(what));
    }
    out + ".RE\n"
}

fn list(items: &[(&str, &str)]) -> String {
    items.iter().map(|(name, what)| format!(".TP\n.B {}\n{}.\n", escaped(name), escaped(what))).collect()
}

fn paragraph(text: &str) -> String {
    format!(".PP\n{}\n", escaped(text))
}

fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().collect::<String>() + letters.as_str()).unwrap_or_default()
}

/// Escapes text for man(7): dashes stay searchable, and no line is taken for a request.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    let lines = text.lines().map(|l| if l.starts_with(['.', '\'']) { format!("\\&{l}") } else { l.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cl::dashed;
    use crate::help::COMPILER;
    use std::io::Write;
    use std::process::{Command, Stdio};

    #[test]
    fn options_and_subcommands_are_all_there() {
        let text = page(&COMPILER, "tileiras", "tileiras 0.1.0").replace("\\-", "-");
        for spec in COMPILER.specs {
            let head = format!("\n.B {}", dashed(spec.name));
            let found =
                text.match_indices(&head).any(|(at, _)| text[at + head.len()..].starts_with(['\n', '=', '<', '[']));
            assert_eq!(found, !spec.hidden, "{}", spec.name);
        }
        for s in COMPILER.subcommands {
            assert!(text.contains(&format!(".B {}\n", s.usage)), "{}", s.usage);
        }
        // The lines of the `batch` manifest are kept, and no leading quote is taken for a request.
        assert!(text.contains("\"items\": [\n") && !text.contains("\n'"));
    }

    /// groff, if installed, formats the page without warnings.
    #[test]
    fn formatters_read_it() {
        let text = page(&COMPILER, "tileiras", "tileiras 0.1.0");
        let mut formatter = Command::new("groff");
        formatter.args(["-man", "-Tutf8", "-ww"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let Ok(mut child) = formatter.spawn() else {
            eprintln!("no groff: the page is not formatted");
            return;
        };
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("gpu"));
    }
}
