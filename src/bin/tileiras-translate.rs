//! Bytecode to text and back.

use clap::Parser;
use melior::ir::{Module, operation::OperationLike};
use std::{io::Write, path::PathBuf, process::ExitCode};
use tile_bytecode::{Profile, ReadOptions, Version};
use tileiras::{dialect, passes, translate};

/// Tile IR bytecode to MLIR text and back.
#[derive(Parser)]
#[command(name = "tileiras-translate", version)]
struct Arguments {
    /// Bytecode to text.
    #[arg(long, visible_alias = "cudatilebc-to-mlir", conflicts_with = "mlir_to_tileirbc")]
    tileirbc_to_mlir: bool,
    /// Text to bytecode.
    #[arg(long, visible_alias = "mlir-to-cudatilebc")]
    mlir_to_tileirbc: bool,
    /// Version of the bytecode written, MAJOR.MINOR.
    #[arg(long, default_value = "13.3", value_parser = version)]
    bytecode_version: Version,
    /// Container of the bytecode written.
    #[arg(long, default_value = "public")]
    container: Container,
    /// Refuse overlong integers when reading.
    #[arg(long)]
    strict: bool,
    /// Print the bytecode versions that can be read and written, one a line.
    #[arg(long)]
    list_versions: bool,
    /// Print the cuda_tile.module without a builtin.module around it. Text without one is always understood.
    #[arg(long)]
    no_implicit_module: bool,
    /// Print locations.
    #[arg(long)]
    mlir_print_debuginfo: bool,
    /// Input file; `-` is standard input.
    #[arg(default_value = "-")]
    input: PathBuf,
    /// Output file; `-` is standard output.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Container {
    Public,
    Spec,
}

fn version(text: &str) -> Result<Version, String> {
    let parsed = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    match parsed {
        Some(v) if tile_driver::BYTECODE_VERSIONS.contains(&v) => Ok(Version::new(v.0, v.1)),
        _ => Err(format!("the versions are {}", versions().join(", "))),
    }
}

fn versions() -> Vec<String> {
    tile_driver::BYTECODE_VERSIONS.iter().map(|(major, minor)| format!("{major}.{minor}")).collect()
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(lines) => {
            for line in lines {
                eprintln!("error: {line}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Vec<String>> {
    if arguments.list_versions {
        println!("{}", versions().join("\n"));
        return Ok(());
    }
    let data = read(&arguments.input)?;
    passes::register_all();
    let context = dialect::context();
    context.enable_multi_threading(false);
    let out = match (arguments.tileirbc_to_mlir, arguments.mlir_to_tileirbc) {
        (true, false) => {
            let options = ReadOptions { strict: arguments.strict, ..ReadOptions::default() };
            let module = translate::import_with_options(&context, &data, &options).map_err(|e| e.lines())?;
            text(&module, arguments).into_bytes()
        }
        (false, true) => {
            let source = std::str::from_utf8(&data).map_err(|e| vec![format!("the text is not UTF-8: {e}")])?;
            // MLIR prints what is wrong with the text itself.
            let module =
                Module::parse(&context, source).ok_or_else(|| vec!["the text is not a valid module".into()])?;
            let profile = match arguments.container {
                Container::Public => Profile::Public,
                Container::Spec => Profile::Specification,
            };
            translate::export(&module, arguments.bytecode_version, profile).map_err(|e| vec![e.to_string()])?
        }
        _ => return Err(vec!["one of --tileirbc-to-mlir and --mlir-to-tileirbc is needed".into()]),
    };
    write(&arguments.output, &out)
}

fn text(module: &Module<'_>, arguments: &Arguments) -> String {
    let flags = || {
        let flags = melior::ir::operation::OperationPrintingFlags::new();
        if arguments.mlir_print_debuginfo { flags.enable_debug_info(true, false) } else { flags }
    };
    let printed = if arguments.no_implicit_module {
        let first = melior::ir::BlockLike::first_operation(&module.body());
        first.map_or(Ok(String::new()), |op| op.to_string_with_flags(flags()))
    } else {
        module.as_operation().to_string_with_flags(flags())
    };
    let mut out = printed.unwrap_or_else(|e| format!("// cannot be printed: {e}"));
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

fn read(path: &PathBuf) -> Result<Vec<u8>, Vec<String>> {
    let result = if path.as_os_str() == "-" {
        let mut data = vec![];
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut data).map(|_| data)
    } else {
        std::fs::read(path)
    };
    result.map_err(|e| vec![format!("unable to read input file '{}': {e}", path.display())])
}

fn write(path: &PathBuf, data: &[u8]) -> Result<(), Vec<String>> {
    let result = if path.as_os_str() == "-" { std::io::stdout().write_all(data) } else { std::fs::write(path, data) };
    result.map_err(|e| vec![format!("unable to write '{}': {e}", path.display())])
}
