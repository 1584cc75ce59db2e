//! `tileiras-translate`: converts bytecode to text and back, as translations of `mlir-translate`.

use super::{dialect_options, flag, option, refuse_bytecode, refuse_deep, run};
use crate::{
    dialect::{
        self, ffi,
        pass::context_of,
        rt::{op_ref, raw_str, raw_to_str},
    },
    translate::{ImportError, export_operation, import, import_with_options},
};
use melior::{ContextRef, ir::Module};
use mlir_sys::*;
use std::{
    ffi::{CStr, CString, OsString, c_char, c_void},
    process::ExitCode,
    sync::Mutex,
};
use tile_bytecode::{Profile, ReadOptions, Version};

/// The values of the command-line options.
#[derive(Clone, Copy)]
struct Settings {
    /// `None`: the newest version that the container supports.
    version: Option<Version>,
    profile: Profile,
    strict: bool,
    generic: bool,
}

static SETTINGS: Mutex<Settings> =
    Mutex::new(Settings { version: None, profile: Profile::Public, strict: false, generic: false });

fn settings() -> Settings {
    *SETTINGS.lock().unwrap_or_else(|e| e.into_inner())
}

fn set(change: impl FnOnce(&mut Settings)) {
    change(&mut SETTINGS.lock().unwrap_or_else(|e| e.into_inner()));
}

/// This project's names of the translations. They also have the names that the public tool uses.
const TRANSLATIONS: [&CStr; 2] = [c"tileirbc-to-mlir", c"mlir-to-tileirbc"];

/// Whether an argument names a translation or another action.
fn asks(argument: &OsString) -> bool {
    let others = ["list-versions", "version", "test-cudatile-roundtrip"];
    option(argument)
        .is_some_and(|name| name.starts_with("help") || name == "h" || name.contains("-to-") || others.contains(&name))
}

/// The main function.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    if !arguments.iter().skip(1).any(asks) {
        eprintln!(
            "tileiras-translate: error: no translation is given: use --{} or another one that --help lists",
            TRANSLATIONS.map(|n| n.to_string_lossy()).join(", --")
        );
        return ExitCode::FAILURE;
    }
    let reads_text = |a: &OsString| option(a).is_some_and(|name| name.starts_with("mlir-to-"));
    if arguments.iter().any(reads_text)
        && let Some(error) = refuse_bytecode(&arguments).or_else(|| refuse_deep(&arguments))
    {
        return error;
    }
    dialect_options();
    options();
    let registry = dialect::registry();
    // SAFETY: names and texts are static; the registry outlives the main function, the only user of the translations.
    unsafe {
        for name in [TRANSLATIONS[0], c"cudatilebc-to-mlir"] {
            let text = c"Tile IR bytecode of either container to text";
            ffi::mlirxRegisterToMlir(name.as_ptr(), text.as_ptr(), Some(read), registry.to_raw());
        }
        for name in [TRANSLATIONS[1], c"mlir-to-cudatilebc"] {
            let text = c"text to Tile IR bytecode";
            ffi::mlirxRegisterFromMlir(name.as_ptr(), text.as_ptr(), Some(write), registry.to_raw());
        }
        let text = c"text to Tile IR bytecode and back to text";
        ffi::mlirxRegisterFromMlir(
            c"test-cudatile-roundtrip".as_ptr(),
            text.as_ptr(),
            Some(round_trip),
            registry.to_raw(),
        );
    }
    run(arguments.into_iter(), |argc, argv| {
        // SAFETY: the arguments outlive the call, which only reads them.
        unsafe { ffi::mlirxTranslateMain(argc, argv, c"tileiras translation driver".as_ptr()) }
    })
}

fn options() {
    unsafe extern "C" fn strict(enabled: bool) {
        set(|s| s.strict = enabled);
    }
    unsafe extern "C" fn generic(enabled: bool) {
        set(|s| s.generic = enabled);
    }
    unsafe extern "C" fn list(_: bool) {
        versions().for_each(|v| println!("{v}"));
        std::process::exit(0);
    }
    unsafe extern "C" fn version(text: MlirStringRef) -> *const c_char {
        // SAFETY: the string outlives the call.
        let text = unsafe { raw_to_str(text) };
        let Some(version) = parse_version(text) else {
            let all: Vec<String> = versions().map(|v| v.to_string()).collect();
            let range = [all.first(), all.last()].map(|v| v.map_or("", String::as_str)).join(" - ");
            return leak(format!("Invalid argument '{text}': the supported versions are [{range}]"));
        };
        set(|s| s.version = Some(version));
        std::ptr::null()
    }
    unsafe extern "C" fn container(text: MlirStringRef) -> *const c_char {
        // SAFETY: the string outlives the call.
        let profile = match unsafe { raw_to_str(text) } {
            "public" => Profile::Public,
            "spec" => Profile::Specification,
            other => return leak(format!("Invalid argument '{other}': the containers are public and spec")),
        };
        set(|s| s.profile = profile);
        std::ptr::null()
    }
    flag(c"strict", c"Reject overlong integers when reading", strict);
    flag(c"generic-form", c"Print the result of --test-cudatile-roundtrip in generic form", generic);
    flag(c"list-versions", c"List the supported bytecode versions", list);
    let text = |name: &'static CStr, description: &'static CStr, value: &'static CStr, set| {
        // SAFETY: the strings are static; the option is created before the command line is parsed.
        unsafe { ffi::mlirxOptionText(name.as_ptr(), description.as_ptr(), value.as_ptr(), Some(set)) };
    };
    text(
        c"bytecode-version",
        c"Version of the written bytecode (default: the newest that 'tileiras --list-versions' prints)",
        c"major.minor[.tag]",
        version,
    );
    text(c"container", c"Container of the written bytecode: public (default) or spec", c"container", container);
}

/// Leaks a message for MLIR's option parser, which prints it and exits.
fn leak(message: String) -> *const c_char {
    CString::new(message).unwrap_or_default().into_raw()
}

fn parse_version(text: &str) -> Option<Version> {
    let mut parts = text.split('.');
    let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let tag: u16 = parts.next().map_or(Some(0), |t| t.parse().ok())?;
    let known = parts.next().is_none() && versions().any(|v| v == Version::new(major, minor));
    known.then(|| Version { tag: tag.into(), ..Version::new(major, minor) })
}

/// The version to write by default: for the public container, the newest version that the compiler announces.
fn default_version(profile: Profile) -> Version {
    let max = profile.wire().max;
    let announced = tile_driver::BYTECODE_VERSIONS.last().map_or(max, |(major, minor)| Version::new(*major, *minor));
    if max.at_least(announced) { announced } else { max }
}

/// The versions of the public container, oldest first.
fn versions() -> impl Iterator<Item = Version> {
    let wire = Profile::Public.wire();
    (wire.min.minor..=wire.max.minor).map(|minor| Version::new(wire.min.major, minor))
}

#[expect(clippy::disallowed_methods, reason = "the handle lives to the end of the call")]
unsafe extern "C" fn read(input: MlirStringRef, name: MlirStringRef, context: MlirContext) -> MlirOperation {
    // SAFETY: the context outlives the call, and the handle outlives all values derived from it.
    let handle = unsafe { ContextRef::from_raw(context) };
    // SAFETY: as above.
    let context = unsafe { handle.to_ref() };
    context.load_all_available_dialects();
    // SAFETY: the input outlives the call; an empty one may be null.
    let data = unsafe { crate::dialect::rt::raw_slice(input.data.cast::<u8>(), input.length as isize) };
    let options =
        ReadOptions { strict: settings().strict, preview: true, dialects: crate::translate::dialects(context) };
    match import_with_options(context, data, &options) {
        Ok(module) => detach(&module),
        Err(e) => {
            // SAFETY: the context is valid; MLIR copies the name.
            report(unsafe { mlirLocationFileLineColGet(context.to_raw(), name, 0, 0) }, &e);
            MlirOperation { ptr: std::ptr::null_mut() }
        }
    }
}

/// Detaches the only op from a module.
fn detach(module: &Module) -> MlirOperation {
    // SAFETY: an imported module contains one `cuda_tile.module`, which the caller owns from here on.
    unsafe {
        let op = mlirBlockGetFirstOperation(mlirModuleGetBody(module.to_raw()));
        mlirOperationRemoveFromParent(op);
        op
    }
}

fn report(location: MlirLocation, error: &ImportError) {
    for line in error.lines() {
        let line = CString::new(line.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the location's context is valid; MLIR copies the text.
        unsafe { mlirEmitError(location, line.as_ptr()) };
    }
}

unsafe extern "C" fn write(op: MlirOperation, write: ffi::MlirxWriteFn, out: *mut c_void) -> bool {
    let (Some(bytes), Some(write)) = (bytes_of(op), write) else { return false };
    // SAFETY: the function gets its own argument back, and copies the bytes.
    unsafe { write(MlirStringRef { data: bytes.as_ptr().cast(), length: bytes.len() }, out) };
    true
}

fn bytes_of(op: MlirOperation) -> Option<Vec<u8>> {
    let settings = settings();
    export_operation(op_ref(op), settings.version.unwrap_or(default_version(settings.profile)), settings.profile)
        .map_err(|e| e.emit())
        .ok()
}

unsafe extern "C" fn round_trip(op: MlirOperation, write: ffi::MlirxWriteFn, out: *mut c_void) -> bool {
    let Some(bytes) = bytes_of(op) else { return false };
    let context = context_of(op_ref(op));
    context.load_all_available_dialects();
    match import(context, &bytes) {
        Ok(module) => {
            let op = detach(&module);
            // SAFETY: the op is owned here and destroyed once; the function gets its own argument back.
            unsafe {
                ffi::mlirxOperationPrint(op, settings().generic, write, out);
                if let Some(write) = write {
                    write(raw_str("\n"), out);
                }
                mlirOperationDestroy(op);
            }
            true
        }
        Err(e) => {
            // SAFETY: the context is valid.
            report(unsafe { mlirLocationUnknownGet(context.to_raw()) }, &e);
            false
        }
    }
}
