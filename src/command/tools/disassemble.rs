//! `tileirdisasm`: disassembles bytecode.
//!
//! Prints the contents of the module without the module itself: `global` and `entry` ops and, with debug information,
//! the location attributes at the end. Put between the braces of a `cuda_tile.module`, with the lines that start with
//! `#` outside of it, the text can be parsed again.

use crate::{
    dialect::{self, rt::*},
    translate::{ReadOptions, dialects, import_with_options},
};
use melior::ir::{
    Module,
    operation::{OperationLike, OperationPrintingFlags},
};
use std::{
    borrow::Cow,
    ffi::OsString,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};
use tile_driver::{
    PREVIEW_FEATURES,
    cl::{self, Glue, Replay, Spec, ValueKind},
    help,
};

const GENERIC: &str = "Generic Options";
const OWN: &str = "Disassembler Options";

const fn option(name: &'static str, value: ValueKind, category: &'static str, help: &'static str) -> Spec {
    Spec {
        name,
        value,
        glue: Glue::None,
        alias_for: None,
        placeholder: "",
        help,
        hidden: false,
        category,
        replay: Replay::Ignore,
    }
}

const fn alias(name: &'static str, alias_for: &'static str, category: &'static str, help: &'static str) -> Spec {
    Spec { alias_for: Some(alias_for), ..option(name, ValueKind::Flag, category, help) }
}

const fn hidden(spec: Spec) -> Spec {
    Spec { hidden: true, ..spec }
}

static SPECS: &[Spec] = &[
    alias("h", "help", GENERIC, "Alias for --help"),
    option("help", ValueKind::Action, GENERIC, "Display available options (--help-hidden for more)"),
    hidden(option("help-hidden", ValueKind::Action, GENERIC, "Display all available options")),
    option("help-list", ValueKind::Action, GENERIC, "Display list of available options (--help-list-hidden for more)"),
    hidden(option("help-list-hidden", ValueKind::Action, GENERIC, "Display list of all available options")),
    option("version", ValueKind::Action, GENERIC, "Display the version of this program"),
    alias("g", "print-debug-info", OWN, "Alias for --print-debug-info"),
    option("print-debug-info", ValueKind::Flag, OWN, "Print the locations of operations, if the file contains them"),
    Spec {
        placeholder: "feature[,feature...]",
        ..option("preview", ValueKind::Features(PREVIEW_FEATURES), OWN, "Enable preview features: simt")
    },
];

static PAGE: help::Page = help::Page {
    overview: "Disassembler of CUDA Tile IR bytecode",
    usage: "<tile bytecode file>",
    subcommands: &[],
    specs: SPECS,
    categories: &[GENERIC, OWN],
    examples: &[("tileirdisasm kernel.tileirbc", "print the program as text")],
};

/// Exit status: 0 success; 1 command-line error or failed write; 2 missing or unreadable input; 3 invalid module.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let argv0 = arguments.first().map(|a| a.to_string_lossy().into_owned()).unwrap_or_default();
    let program = Path::new(&argv0).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let parsed = cl::parse(SPECS, &arguments, 1);
    for line in &parsed.errors {
        eprintln!("{line}");
    }
    if let Some(action) = parsed.action {
        return match action {
            "version" => print(&tile_driver::version_text(&tile_version::IDENTITY)),
            _ => print(&PAGE.text(&program, action.ends_with("hidden"), action.starts_with("help-list"))),
        };
    }
    if !parsed.errors.is_empty() {
        return ExitCode::from(1);
    }
    let fail = |status: u8, lines: &[String]| {
        lines.iter().for_each(|line| eprintln!("error: {line}"));
        ExitCode::from(status)
    };
    let Some(input) = parsed.positionals.first() else {
        print(&PAGE.text(&program, false, false));
        return fail(2, &["no input file provided".into()]);
    };
    let data = match tile_driver::files::read(input.as_ref()) {
        Ok(data) => data,
        Err(e) => {
            let reason = tile_driver::io_text(&e);
            return fail(2, &[format!("unable to read input file '{}': {reason}", input.to_string_lossy())]);
        }
    };
    if !tile_bytecode::is_bytecode(&data) {
        let hint = if tile_bytecode::is_mlir_bytecode(&data) { " (it looks like MLIR bytecode instead)" } else { "" };
        return fail(3, &[format!("input does not correspond to Tile IR bytecode{hint}")]);
    }
    let context = dialect::context();
    let preview = !parsed.list("preview").is_empty();
    let options = ReadOptions { preview, dialects: dialects(&context), ..ReadOptions::default() };
    match import_with_options(&context, &data, &options) {
        Ok(module) => print(&listing(&module, parsed.flag("print-debug-info"))),
        Err(e) => {
            let lines = [e.lines(), vec!["failed to read provided Tile IR bytecode".into()]].concat();
            fail(3, &lines)
        }
    }
}

/// Prints text. A closed pipe is not an error: its reader has read enough.
fn print(text: &str) -> ExitCode {
    let mut out = io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("error: unable to write to standard output: {}", tile_driver::io_text(&e));
            ExitCode::from(1)
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Prints the ops of the `cuda_tile.module` in a `builtin.module` as `tileirdisasm` does.
pub fn listing(module: &Module, debug_info: bool) -> String {
    // The modules are not printed. Give them the location of the first op, so that they do not affect the numbering.
    let around = op_ref(module.as_operation().to_raw());
    let program = entry_block(region(around, 0)).and_then(|block| ops_of(block).next());
    let first = program.and_then(|p| entry_block(region(p, 0))).and_then(|block| ops_of(block).next());
    let outer: Vec<_> = [Some(around), program].into_iter().flatten().map(|op| (op, op.location())).collect();
    if let Some(first) = first {
        outer.iter().for_each(|(op, _)| set_location(*op, first.location()));
    }
    let flags = OperationPrintingFlags::new();
    let flags = if debug_info { flags.enable_debug_info(true, false) } else { flags };
    let text = module.as_operation().to_string_with_flags(flags).unwrap_or_default();
    outer.into_iter().for_each(|(op, location)| set_location(op, location));
    // The text consists of `module {`, `cuda_tile.module @kernels {`, the ops with two levels of indentation, and two
    // closing braces. The attributes before and after it are on lines that start with `#`.
    let (attributes, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|l| l.starts_with('#'));
    let inner = lines.iter().filter_map(|l| l.strip_prefix(INDENT)).map(without_hint_types);
    let attributes = attributes.into_iter().map(Cow::Borrowed);
    inner.chain(attributes).flat_map(|l| [l, "\n".into()]).collect()
}

/// Removes the types of numbers in hints, as NVIDIA's disassembler does.
fn without_hint_types(line: &str) -> Cow<'_, str> {
    let Some((before, hints)) = line.split_once("optimization_hints") else { return line.into() };
    let Some((hints, after)) = hints.split_once('>') else { return line.into() };
    format!("{before}optimization_hints{}>{after}", hints.replace(" : i64", "")).into()
}

const INDENT: &str = "    ";
