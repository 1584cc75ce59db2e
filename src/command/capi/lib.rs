//! `libtileiras`: the compiler as a C library.
//!
//! Four functions and an opaque handle: [`tileirasProgramCreate`], [`tileirasProgramCompile`],
//! [`tileirasProgramGetOutput`], [`tileirasProgramRelease`]. Functions between the first two change settings
//! ([`settings`]). In addition there are two callbacks: one for diagnostics, and one for the scopes of a compilation.
//! `include/tileiras.h` is generated from these files.
//!
//! The handle is the block of 104 bytes that the specification describes. Its layout is asserted in [`handle`] and is
//! not part of the interface. A table of live handles makes a released or invalid pointer an error instead of a
//! crash.
//!
//! Handles are independent: threads may use different handles concurrently. Only one thread at a time may use a
//! handle.

mod compile;
mod handle;
mod observe;
mod settings;

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use handle::TileirasProgram;
pub use observe::{
    TileirasDiagnostic, TileirasDiagnosticCallback, TileirasScopeCallback, tileirasSetDiagnosticCallback,
    tileirasSetScopeCallback,
};

pub use settings::{
    TILEIRAS_EMIT_CUBIN, TILEIRAS_EMIT_CUDA_TILE, TILEIRAS_EMIT_LLVM, TILEIRAS_EMIT_PTX, TILEIRAS_EMIT_TILEAA,
    TILEIRAS_EMIT_TILEAS, tileirasProgramGetResources, tileirasProgramSetCacheDirectory, tileirasProgramSetCore,
    tileirasProgramSetEmit, tileirasProgramSetInputName, tileirasProgramSetLibNvvm, tileirasProgramSetNumerics,
    tileirasProgramSetPipelineOption, tileirasProgramSetPtxas, tileirasProgramSetRemarks,
    tileirasProgramSetRemoteCache, tileirasProgramSetResources, tileirasProgramSetStrictTypes,
};

use handle::Handle;
use observe::{Word, report, say};
use tile_interface::InputKind;

/// The version of this interface. It is incremented when something is added; all versions are binary compatible.
pub const TILEIRAS_API_VERSION: u32 = 8;

/// Success.
pub const TILEIRAS_SUCCESS: c_int = 0;
/// Not enough memory for a handle.
pub const TILEIRAS_ERROR_ALLOCATION: c_int = 1;
/// The configuration is invalid.
pub const TILEIRAS_ERROR_CONFIGURATION: c_int = 2;
/// The input is not valid Tile IR: it cannot be read, or an operation does not verify.
pub const TILEIRAS_ERROR_INPUT: c_int = 3;
/// The handle is null or not live, an output pointer is null, or the program has not been compiled.
pub const TILEIRAS_ERROR_HANDLE: c_int = 4;
/// Compilation failed; the diagnostics give the reason.
pub const TILEIRAS_ERROR_COMPILE: c_int = 5;

/// The input and settings of a compilation. Set all unused fields to zero.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TileirasConfig {
    /// The program: Tile IR bytecode, MLIR text of any level, or LLVM IR as text; the contents decide. Owned by the
    /// caller, who keeps it unchanged until `tileirasProgramCompile` has returned.
    pub input_buffer_data: *const c_void,
    /// Size of the program in bytes. Text is not zero-terminated.
    pub input_buffer_size: usize,
    /// The GPU: 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120 or 121.
    pub gpu_id: i32,
    /// 0 to 3.
    pub opt_level: i32,
    /// 1 for full debug information, which requires level 0.
    pub device_debug: i32,
    /// 1 for line information.
    pub lineinfo: i32,
    /// 0 x86_64, 1 aarch64, 2 arm64ec.
    pub host_arch: i32,
    /// 0 linux, 1 windows.
    pub host_os: i32,
    /// 0 off, 1 memcheck.
    pub sanitize: i32,
    /// Must be zero.
    pub reserved: u32,
    /// The name of the output, for messages; null for none. Not zero-terminated. Owned by the caller, who may free it
    /// after `tileirasProgramCreate` has returned.
    pub output_name: *const c_char,
    /// Length of `output_name` in bytes.
    pub output_name_len: usize,
    /// The root of a CUDA toolkit whose `bin/ptxas` is tried first; null for none. Not zero-terminated. Owned by the
    /// caller, who keeps it unchanged until `tileirasProgramCompile` has returned.
    pub cuda_root: *const c_char,
    /// Length of `cuda_root` in bytes.
    pub cuda_root_len: usize,
}

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<TileirasConfig>() == 0x50);
    assert!(offset_of!(TileirasConfig, gpu_id) == 0x10 && offset_of!(TileirasConfig, sanitize) == 0x28);
    assert!(offset_of!(TileirasConfig, output_name) == 0x30 && offset_of!(TileirasConfig, cuda_root) == 0x40);
};

/// Bytes owned by a handle.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TileirasByteView {
    pub data: *const u8,
    pub length: usize,
}

/// Checks a configuration and creates a handle for it.
///
/// The checks are made in this order, and the first failure is reported: `out_program`, `config`, the input pointer
/// and size, whether the input can be read and verifies, the GPU, the optimization level, debug information with
/// optimization, the host's architecture, its operating system, whether the architecture exists on the operating
/// system, `reserved` and the lengths, and whether `device_debug`, `lineinfo` and `sanitize` are 0 or 1. Text is read
/// in `tileirasProgramCompile`. A message on the cause precedes the message of a check.
///
/// Returns `TILEIRAS_SUCCESS`; `TILEIRAS_ERROR_HANDLE` for a null `out_program`; `TILEIRAS_ERROR_CONFIGURATION`,
/// `TILEIRAS_ERROR_INPUT` or `TILEIRAS_ERROR_ALLOCATION`. On failure `*out_program` is null. The caller owns the
/// handle and releases it with `tileirasProgramRelease`.
///
/// # Safety
/// `out_program` is null or writable. `config` is null or points to a configuration whose pointers are valid as
/// described there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramCreate(
    out_program: *mut *mut TileirasProgram,
    config: *const TileirasConfig,
) -> c_int {
    if out_program.is_null() {
        return refuse(TILEIRAS_ERROR_HANDLE, "program is null");
    }
    // SAFETY: not null; otherwise guaranteed by the caller.
    unsafe { *out_program = std::ptr::null_mut() };
    // SAFETY: guaranteed by the caller.
    let Some(config) = (unsafe { config.as_ref() }) else {
        return refuse(TILEIRAS_ERROR_CONFIGURATION, "configuration is null");
    };
    // SAFETY: the caller guarantees a valid configuration.
    match guarded(|| unsafe { check(config) }) {
        Ok(Ok(())) => {}
        Ok(Err(code)) => return code,
        Err(code) => return code,
    }
    // SAFETY: the caller guarantees a valid configuration.
    let name = unsafe { bytes_of(config.output_name, config.output_name_len) };
    match Handle::create(config, String::from_utf8_lossy(name).into_owned()) {
        Some(program) => {
            // SAFETY: as above.
            unsafe { *out_program = program };
            TILEIRAS_SUCCESS
        }
        None => {
            say(Word::Fatal, std::ptr::null_mut(), "failed to allocate memory for program");
            TILEIRAS_ERROR_ALLOCATION
        }
    }
}

/// # Safety
/// The pointers of `config` are valid as described there.
unsafe fn check(config: &TileirasConfig) -> Result<(), c_int> {
    let configuration = |text, why: String| Err(refuse_because(TILEIRAS_ERROR_CONFIGURATION, text, &why));
    if config.input_buffer_data.is_null() {
        return configuration("input buffer is null", String::new());
    }
    let too_long = |name: &str| format!("{name} is longer than any object in memory");
    if isize::try_from(config.input_buffer_size).is_err() {
        return configuration("invalid configuration", too_long("input_buffer_size"));
    }
    // SAFETY: not null; otherwise guaranteed by the caller.
    let input = unsafe { std::slice::from_raw_parts(config.input_buffer_data.cast::<u8>(), config.input_buffer_size) };
    if let Err(messages) = compile::probe(input) {
        messages.iter().for_each(|d| report(Word::Input, std::ptr::null_mut(), d));
        return Err(TILEIRAS_ERROR_INPUT);
    }
    if compile::target(config.gpu_id).is_none() {
        let known = tile_targets::TARGETS.iter().map(|t| t.sm.to_string()).collect::<Vec<_>>().join(", ");
        return configuration(
            "unsupported GPU target",
            format!("gpu_id is {}, but must be one of {known}", config.gpu_id),
        );
    }
    let outside = |name: &str, value: i32, last: i32| format!("{name} is {value}, but must be from 0 to {last}");
    if !(0..=3).contains(&config.opt_level) {
        return configuration("invalid optimization level", outside("opt_level", config.opt_level, 3));
    }
    if config.opt_level != 0 && config.device_debug == 1 {
        return configuration(
            "optimized debugging is not supported, change optimization level to 0 or disable full debug info",
            String::new(),
        );
    }
    if !(0..=2).contains(&config.host_arch) {
        return configuration("unsupported host architecture", outside("host_arch", config.host_arch, 2));
    }
    if !(0..=1).contains(&config.host_os) {
        return configuration("unsupported host operating system", outside("host_os", config.host_os, 1));
    }
    if compile::host(config.host_arch, config.host_os).is_none() {
        return configuration("unsupported host architecture", "arm64ec exists only on Windows".into());
    }
    if config.reserved != 0 {
        return configuration("invalid configuration", format!("reserved is {}, but must be 0", config.reserved));
    }
    for (name, length) in [("output_name_len", config.output_name_len), ("cuda_root_len", config.cuda_root_len)] {
        if isize::try_from(length).is_err() {
            return configuration("invalid configuration", too_long(name));
        }
    }
    let switches =
        [("device_debug", config.device_debug), ("lineinfo", config.lineinfo), ("sanitize", config.sanitize)];
    for (name, value) in switches {
        if !(0..=1).contains(&value) {
            return configuration("invalid configuration", outside(name, value, 1));
        }
    }
    Ok(())
}

/// Compiles the program of a handle to a cubin, or to the level of `tileirasProgramSetEmit`.
///
/// After a success, further calls do nothing. After a failure, a call tries again.
///
/// Returns `TILEIRAS_SUCCESS`; `TILEIRAS_ERROR_HANDLE` for a null or released handle; `TILEIRAS_ERROR_COMPILE` for
/// all other errors, including a missing ptxas.
///
/// # Safety
/// The input and the CUDA root of the handle's configuration are still valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramCompile(program: *mut TileirasProgram) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    if handle.is_compiled() {
        return TILEIRAS_SUCCESS;
    }
    // SAFETY: guaranteed by the caller.
    match guarded(|| unsafe { compile::run(&handle) }) {
        Ok(Some(compiled)) => {
            handle.set_output(compiled.output);
            compiled.resources.into_iter().for_each(|json| handle.set_resources(json));
            TILEIRAS_SUCCESS
        }
        Ok(None) | Err(_) => {
            say(Word::Fatal, program, "failed to compile Tile IR program");
            TILEIRAS_ERROR_COMPILE
        }
    }
}

/// Returns the output of a compiled program in `*output`: a cubin, or the text of another level, which is not
/// zero-terminated.
///
/// The bytes are owned by the handle and valid until `tileirasProgramRelease`. The caller must not free them.
///
/// Returns `TILEIRAS_SUCCESS`; `TILEIRAS_ERROR_HANDLE` for a null or released handle, a null `output`, or a program
/// that has not been compiled.
///
/// # Safety
/// `output` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramGetOutput(
    program: *mut TileirasProgram,
    output: *mut TileirasByteView,
) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    if output.is_null() {
        return refuse(TILEIRAS_ERROR_HANDLE, "output pointer is null");
    }
    let Some(view) = handle.output() else {
        return refuse(TILEIRAS_ERROR_HANDLE, "program has not been compiled");
    };
    // SAFETY: not null; otherwise guaranteed by the caller.
    unsafe { *output = view };
    TILEIRAS_SUCCESS
}

/// Returns the cubin of a compiled program in `*output`, embedded in a relocatable object for the configured host.
/// This is the output of `--emit=obj`, with a launch function for each kernel. An object for arm64ec has no launch
/// functions, which a warning says. The first call compiles the program again for these functions, from a copy of the
/// input.
///
/// The symbols are named after `output_name` up to its first dot. The bytes are owned by the handle and valid until
/// `tileirasProgramRelease`. The caller must not free them.
///
/// Returns the same as `tileirasProgramGetOutput`; `TILEIRAS_ERROR_CONFIGURATION` if the output is not a cubin; or
/// `TILEIRAS_ERROR_COMPILE` if the object cannot be created.
///
/// Available since version 2 of the interface.
///
/// # Safety
/// `output` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramGetHostObject(
    program: *mut TileirasProgram,
    output: *mut TileirasByteView,
) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    if output.is_null() {
        return refuse(TILEIRAS_ERROR_HANDLE, "output pointer is null");
    }
    let Some(cubin) = handle.output() else {
        return refuse(TILEIRAS_ERROR_HANDLE, "program has not been compiled");
    };
    // SAFETY: the output is owned by the handle, which is live.
    let cubin = unsafe { std::slice::from_raw_parts(cubin.data, cubin.length) };
    if !cubin.starts_with(b"\x7fELF") {
        let why = "a host object contains a cubin, but tileirasProgramSetEmit selected another level";
        return refuse_because(TILEIRAS_ERROR_CONFIGURATION, "invalid configuration", why);
    }
    match guarded(|| handle.object(|| compile::host_object(&handle, cubin).ok_or(TILEIRAS_ERROR_COMPILE))) {
        Ok(Ok(view)) => {
            // SAFETY: not null; otherwise guaranteed by the caller.
            unsafe { *output = view };
            TILEIRAS_SUCCESS
        }
        Ok(Err(code)) | Err(code) => code,
    }
}

/// Releases a handle and its output.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null pointer or a released handle.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasProgramRelease(program: *mut TileirasProgram) -> c_int {
    if Handle::release(program) { TILEIRAS_SUCCESS } else { unknown(program) }
}

/// The versions of the library, its sources and LLVM as zero-terminated text. Owned by the library and always valid.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasVersionString() -> *const c_char {
    use std::ffi::CString;
    use std::sync::LazyLock;
    static TEXT: LazyLock<CString> = LazyLock::new(|| {
        let i = &tile_version::IDENTITY;
        let text = format!("tileiras {} (revision {}, sources {}, LLVM {})", i.version, i.revision, i.sources, i.llvm);
        CString::new(text).unwrap_or_default()
    });
    TEXT.as_ptr()
}

/// The `TILEIRAS_API_VERSION` of the library, which may be newer than the header's.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasApiVersion() -> u32 {
    TILEIRAS_API_VERSION
}

/// A string of the caller. Empty for null.
///
/// # Safety
/// `text` is null or points to `length` bytes that are valid for `'a`.
unsafe fn bytes_of<'a>(text: *const c_char, length: usize) -> &'a [u8] {
    if text.is_null() {
        &[]
    } else {
        // SAFETY: not null; otherwise guaranteed by the caller.
        unsafe { std::slice::from_raw_parts(text.cast(), length) }
    }
}

/// Reports an error of the caller.
fn refuse(code: c_int, text: &str) -> c_int {
    say(Word::Caller, std::ptr::null_mut(), text);
    code
}

/// Reports an error of the caller, its cause first.
fn refuse_because(code: c_int, text: &str, why: &str) -> c_int {
    if !why.is_empty() {
        say(Word::Caller, std::ptr::null_mut(), why);
    }
    refuse(code, text)
}

/// Reports a handle that is not live.
fn unknown(program: *mut TileirasProgram) -> c_int {
    let why = "the handle was released, or tileirasProgramCreate did not return it";
    refuse_because(TILEIRAS_ERROR_HANDLE, "program is null", if program.is_null() { "" } else { why })
}

/// Runs `work`. A panic becomes a diagnostic and a failed compilation, because panics must not unwind into C.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, c_int> {
    tile_driver::install_panic_hook();
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let text = format!("internal error: {}", tile_driver::last_panic());
        say(Word::None, std::ptr::null_mut(), &text);
        TILEIRAS_ERROR_COMPILE
    })
}

/// The kind of the input, judging by its name and its first bytes.
fn kind_of(name: &str, input: &[u8]) -> Result<InputKind, tile_interface::NotTileIr> {
    tile_interface::input_kind(std::path::Path::new(name), input).or_else(|e| {
        let is_text = e == tile_interface::NotTileIr::Unknown && tile_driver::is_module(input);
        if is_text { Ok(InputKind::Text) } else { Err(e) }
    })
}
