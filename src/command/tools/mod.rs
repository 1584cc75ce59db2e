//! The main functions of the tools based on MLIR: their options, and the dialects and passes that they register.
//!
//! Our options are registered with MLIR's command-line parser, so that `--help` lists them and they accept the same
//! spellings.

mod disassemble;
mod lsp_filter;
mod translate;

use crate::{
    dialect::{ffi, rt::raw_to_str},
    pipeline::preserved,
    plugin::{self, PluginError},
    translate::nesting,
};
use mlir_sys::{MlirDialectRegistry, MlirStringRef};
use std::{
    ffi::{CString, OsString, c_char, c_int},
    fs,
    io::Read,
    os::unix::ffi::OsStringExt,
    path::Path,
    process::ExitCode,
};

pub use disassemble::{listing, main as disassemble};
pub use translate::main as translate;

/// `mlir-opt` with the dialects and passes of this compiler.
pub fn opt(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    unsafe extern "C" fn remarks(enabled: bool) {
        if enabled {
            crate::dialect::remark::print_as_diagnostics();
        }
    }
    let arguments: Vec<OsString> = arguments.collect();
    let refused = refuse_bytecode(&arguments).or_else(|| refuse_deep(&arguments));
    if let Some(error) = refused.or_else(|| refuse_dialects(&arguments)) {
        return error;
    }
    dialect_options();
    flag(c"remarks", c"Print the remarks of this compiler's passes", remarks);
    crate::passes::register_all();
    if arguments.iter().any(|a| a == "--list-passes" || a == "-list-passes") {
        // MLIR's own list, which follows, contains neither anchors nor statistics.
        print!("{}", list_passes());
        let _ = std::io::Write::flush(&mut std::io::stdout());
    }
    let registry = crate::dialect::registry();
    let wants_statistics = arguments.iter().any(|a| a == "--mlir-pass-statistics" || a == "-mlir-pass-statistics");
    let status = run(arguments.into_iter(), |argc, argv| {
        // SAFETY: the arguments outlive the call, which only reads them.
        unsafe {
            ffi::mlirxOptMain(
                argc,
                argv,
                c"tileiras optimizer driver".as_ptr(),
                registry.to_raw(),
                Some(check_pipeline),
            )
        }
    });
    if wants_statistics {
        // Release builds of LLVM print an empty report.
        eprint!("{}", crate::dialect::pass::take_statistics());
    }
    status
}

/// Returns the reason why a pipeline must not run, or null. The text lives until the process ends.
unsafe extern "C" fn check_pipeline(text: MlirStringRef) -> *const c_char {
    // SAFETY: the text lives during the call.
    let wrong = preserved::invalidation(unsafe { raw_to_str(text) }).and_then(|message| CString::new(message).ok());
    wrong.map_or(std::ptr::null(), |message| message.into_raw().cast_const())
}

/// Lists the passes of this compiler with their anchors, options and statistics.
fn list_passes() -> String {
    let mut text = "Passes of this compiler:\n".to_owned();
    for pass in crate::dialect::pass::registered() {
        let anchor = if pass.anchor.is_empty() { "any operation" } else { &pass.anchor };
        text.push_str(&format!("  --{}: {}\n    runs on {anchor}\n", pass.argument, pass.summary));
        for [name, default, description] in &pass.options {
            text.push_str(&format!("    option {name}={default}: {description}\n"));
        }
        for [name, description] in &pass.statistics {
            text.push_str(&format!("    statistic {name}: {description}\n"));
        }
    }
    text.push('\n');
    text
}

/// The language server of the dialects.
pub fn lsp_server(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    if let Err(e) = lsp_filter::install() {
        eprintln!("tileiras-lsp-server: error: cannot read standard input: {e}");
        return ExitCode::FAILURE;
    }
    let arguments: Vec<OsString> = arguments.collect();
    // MLIR exits after printing a help or version text, so the output is not filtered.
    let is_told = |a: &OsString| option(a).is_some_and(|name| name.starts_with('h') || name == "version");
    let output = (!arguments.iter().any(is_told)).then(lsp_filter::Output::install).transpose();
    let _output = match output {
        Ok(output) => output,
        Err(e) => {
            eprintln!("tileiras-lsp-server: error: cannot write standard output: {e}");
            return ExitCode::FAILURE;
        }
    };
    dialect_options();
    let registry = crate::dialect::registry();
    run(arguments.into_iter(), |argc, argv| {
        // SAFETY: as above.
        unsafe { ffi::mlirxLspServerMain(argc, argv, registry.to_raw()) }
    })
}

/// `mlir-reduce` with the dialects and passes of this compiler, and the pipeline `tile-reduce`.
pub fn reduce(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    crate::passes::register_all();
    on_text(arguments, ffi::mlirxReduceMain)
}

/// `mlir-query` with the dialects of this compiler.
pub fn query(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    on_text(arguments, ffi::mlirxQueryMain)
}

/// Runs a tool of MLIR that reads a textual program.
fn on_text(
    arguments: impl Iterator<Item = OsString>,
    main: unsafe extern "C" fn(c_int, *mut *mut c_char, MlirDialectRegistry) -> c_int,
) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    if let Some(error) = refuse_bytecode(&arguments).or_else(|| refuse_deep(&arguments)) {
        return error;
    }
    dialect_options();
    let registry = crate::dialect::registry();
    run(arguments.into_iter(), |argc, argv| {
        // SAFETY: the arguments outlive the call, which only reads them.
        unsafe { main(argc, argv, registry.to_raw()) }
    })
}

/// The name of an option without dashes and value.
fn option(argument: &OsString) -> Option<&str> {
    let name = argument.to_str()?.strip_prefix('-')?;
    let name = name.strip_prefix('-').unwrap_or(name);
    name.split('=').next().filter(|n| !n.is_empty())
}

/// Rejects a bytecode file where text is expected. MLIR's parser would print its bytes.
fn refuse_bytecode(arguments: &[OsString]) -> Option<ExitCode> {
    let file = files(arguments).find(|a| is_bytecode(Path::new(a)))?;
    let (tool, file) = (tool_name(arguments), file.display());
    eprintln!(
        "{tool}: error: '{file}' is Tile IR bytecode, not text: convert it with tileiras-translate --tileirbc-to-mlir"
    );
    Some(ExitCode::FAILURE)
}

/// Rejects a file that is nested too deeply for the parser.
fn refuse_deep(arguments: &[OsString]) -> Option<ExitCode> {
    // Only regular files: reading a pipe would consume its contents.
    let texts = files(arguments).filter(|f| fs::metadata(f).is_ok_and(|m| m.is_file()));
    let mut checked = texts.filter_map(|f| Some((f, nesting::check(&fs::read_to_string(f).ok()?).err()?)));
    let (file, e) = checked.next()?;
    eprintln!("{}: {}:{}:{}: error: {e}", tool_name(arguments), file.display(), e.line, e.column);
    Some(ExitCode::FAILURE)
}

/// Rejects a plugin that contains a different version of this tool's dialects.
fn refuse_dialects(arguments: &[OsString]) -> Option<ExitCode> {
    let named = arguments.iter().enumerate().filter_map(|(i, a)| {
        let is_plugin = matches!(option(a)?, "load-pass-plugin" | "load-dialect-plugin");
        let file = match a.to_str()?.split_once('=') {
            Some((_, file)) => OsString::from(file),
            None => arguments.get(i + 1)?.clone(),
        };
        is_plugin.then_some(file)
    });
    let file = named.into_iter().find(|f| fs::read(f).is_ok_and(|bytes| plugin::carries_other_dialects(&bytes)))?;
    let (tool, file) = (tool_name(arguments), file.display().to_string());
    eprintln!("{tool}: error: the plugin '{file}' {}", PluginError::Dialects);
    Some(ExitCode::FAILURE)
}

/// The arguments that may name an input.
fn files(arguments: &[OsString]) -> impl Iterator<Item = &OsString> {
    let follows_output = |n: usize| arguments.get(n.wrapping_sub(1)).is_some_and(|a| option(a) == Some("o"));
    let inputs = arguments.iter().enumerate().skip(1).filter(move |(n, a)| option(a).is_none() && !follows_output(*n));
    inputs.map(|(_, a)| a)
}

fn tool_name(arguments: &[OsString]) -> std::path::Display<'_> {
    Path::new(Path::new(&arguments[0]).file_name().unwrap_or(&arguments[0])).display()
}

fn is_bytecode(file: &Path) -> bool {
    let mut start = [0; 16];
    // Reading a pipe would consume its contents.
    let is_file = fs::metadata(file).is_ok_and(|m| m.is_file());
    let read = is_file.then(|| fs::File::open(file).and_then(|mut f| f.read(&mut start)).ok()).flatten();
    tile_bytecode::is_bytecode(&start[..read.unwrap_or(0)])
}

/// Registers the options of the dialects, which all tools have.
fn dialect_options() {
    // SAFETY: changes a setting, before our options and those of MLIR's main functions are created.
    unsafe { ffi::mlirxHideOptions() };
    static CHECKS: std::sync::Mutex<(bool, bool)> = std::sync::Mutex::new((false, false));
    fn set_checks(change: impl FnOnce(&mut (bool, bool))) {
        let mut checks = CHECKS.lock().unwrap_or_else(|e| e.into_inner());
        change(&mut checks);
        // SAFETY: changes a setting, before any dialect is loaded.
        unsafe { ffi::cudaTileSetHintChecks(checks.0, checks.1) };
    }
    unsafe extern "C" fn testing_ops(enabled: bool) {
        // SAFETY: changes a setting, before any dialect is loaded.
        unsafe { ffi::cudaTileRegisterTestingOps(enabled) };
    }
    unsafe extern "C" fn warn(enabled: bool) {
        set_checks(|c| c.0 = enabled);
    }
    unsafe extern "C" fn error(enabled: bool) {
        set_checks(|c| c.1 = enabled);
    }
    flag(c"cuda-tile-testing-ops", c"Register the operations that exist only for tests", testing_ops);
    flag(c"Wunsupported-hints", c"Warn about optimization hints that no target supports", warn);
    flag(c"Werr-hints", c"With --Wunsupported-hints: report such hints as errors", error);
    let version = CString::new(tile_driver::version_text(&tile_version::IDENTITY)).unwrap_or_default();
    // SAFETY: the text is copied.
    unsafe { ffi::mlirxVersionText(version.as_ptr()) };
}

fn flag(name: &'static std::ffi::CStr, description: &'static std::ffi::CStr, set: unsafe extern "C" fn(bool)) {
    // SAFETY: the strings are static; the option is created before the command line is parsed.
    unsafe { ffi::mlirxOptionFlag(name.as_ptr(), description.as_ptr(), Some(set)) };
}

/// Calls a C main function.
fn run(arguments: impl Iterator<Item = OsString>, main: impl FnOnce(c_int, *mut *mut c_char) -> c_int) -> ExitCode {
    let arguments: Vec<CString> = arguments.filter_map(|a| CString::new(a.into_vec()).ok()).collect();
    let mut argv: Vec<*mut c_char> = arguments.iter().map(|a| a.as_ptr().cast_mut()).collect();
    argv.push(std::ptr::null_mut());
    let code = nesting::with_stack(|| main(arguments.len() as c_int, argv.as_mut_ptr()));
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
