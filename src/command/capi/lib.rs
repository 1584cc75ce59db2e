//! `libtileiras`: the compiler as a C library.
//!
//! Four functions and an opaque handle: [`tileirasProgramCreate`], [`tileirasProgramCompile`],
//! [`tileirasProgramGetOutput`], [`tileirasProgramRelease`]. In addition there are two callbacks: one for
//! diagnostics, and one for the scopes of a compilation. `include/tileiras.h` is generated from this file.
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

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use handle::TileirasProgram;
pub use observe::{
    TileirasDiagnostic, TileirasDiagnosticCallback, TileirasScopeCallback, tileirasSetDiagnosticCallback,
    tileirasSetScopeCallback,
};

use handle::Handle;
use observe::{Word, report, say};
use tile_interface::InputKind;

/// The version of this interface. It is incremented when something is added; all versions are binary compatible.
pub const TILEIRAS_API_VERSION: u32 = 6;

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
    /// Tile IR bytecode. Owned by the caller, who keeps it unchanged until `tileirasProgramCompile` has returned.
    pub input_buffer_data: *const c_void,
    /// Size of the bytecode in bytes.
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
/// system, `reserved` and the lengths, and whether `device_debug`, `lineinfo` and `sanitize` are 0 or 1.
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
    let configuration = |text| Err(refuse(TILEIRAS_ERROR_CONFIGURATION, text));
    if config.input_buffer_data.is_null() {
        return configuration("input buffer is null");
    }
    if isize::try_from(config.input_buffer_size).is_err() {
        return configuration("invalid configuration");
    }
    // SAFETY: not null; otherwise guaranteed by the caller.
    let input = unsafe { std::slice::from_raw_parts(config.input_buffer_data.cast::<u8>(), config.input_buffer_size) };
    if let Err(messages) = compile::probe(input) {
        messages.iter().for_each(|d| report(Word::Input, std::ptr::null_mut(), d));
        return Err(TILEIRAS_ERROR_INPUT);
    }
    if compile::target(config.gpu_id).is_none() {
        return configuration("unsupported GPU target");
    }
    if !(0..=3).contains(&config.opt_level) {
        return configuration("invalid optimization level");
    }
    if config.opt_level != 0 && config.device_debug == 1 {
        return configuration(
            "optimized debugging is not supported, change optimization level to 0 or disable full debug info",
        );
    }
    if !(0..=2).contains(&config.host_arch) {
        return configuration("unsupported host architecture");
    }
    if !(0..=1).contains(&config.host_os) {
        return configuration("unsupported host operating system");
    }
    // arm64ec exists only on Windows.
    if compile::host(config.host_arch, config.host_os).is_none() {
        return configuration("unsupported host architecture");
    }
    let is_switch = |value: i32| (0..=1).contains(&value);
    let switches = [config.device_debug, config.lineinfo, config.sanitize];
    // No object in memory is larger.
    let lengths = [config.output_name_len, config.cuda_root_len];
    if config.reserved != 0 || lengths.into_iter().any(|length| isize::try_from(length).is_err()) {
        return configuration("invalid configuration");
    }
    if !switches.into_iter().all(is_switch) {
        return configuration("invalid configuration");
    }
    Ok(())
}

/// Compiles the program of a handle to a cubin.
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
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
    if handle.is_compiled() {
        return TILEIRAS_SUCCESS;
    }
    // SAFETY: guaranteed by the caller.
    match guarded(|| unsafe { compile::run(&handle) }) {
        Ok(Some(image)) => {
            handle.set_output(image);
            TILEIRAS_SUCCESS
        }
        Ok(None) | Err(_) => {
            say(Word::Fatal, program, "failed to compile Tile IR program");
            TILEIRAS_ERROR_COMPILE
        }
    }
}

/// Returns the cubin of a compiled program in `*output`.
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
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
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
/// Returns the same as `tileirasProgramGetOutput`, or `TILEIRAS_ERROR_COMPILE` if the object cannot be created.
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
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
    if output.is_null() {
        return refuse(TILEIRAS_ERROR_HANDLE, "output pointer is null");
    }
    let Some(cubin) = handle.output() else {
        return refuse(TILEIRAS_ERROR_HANDLE, "program has not been compiled");
    };
    // SAFETY: the output is owned by the handle, which is live.
    let cubin = unsafe { std::slice::from_raw_parts(cubin.data, cubin.length) };
    match guarded(|| handle.object(|| compile::host_object(&handle, cubin).ok_or(TILEIRAS_ERROR_COMPILE))) {
        Ok(Ok(view)) => {
            // SAFETY: not null; otherwise guaranteed by the caller.
            unsafe { *output = view };
            TILEIRAS_SUCCESS
        }
        Ok(Err(code)) | Err(code) => code,
    }
}

/// Selects NVIDIA's libNVVM, the library file `path` of `length` bytes, as the backend that translates LLVM IR to
/// PTX. A null `path` selects the built-in backend again. Takes effect in the next `tileirasProgramCompile`, which
/// reports an unusable file.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null or released handle.
///
/// Available since version 2 of the interface.
///
/// # Safety
/// `path` is null or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramSetLibNvvm(
    program: *mut TileirasProgram,
    path: *const c_char,
    length: usize,
) -> c_int {
    use std::os::unix::ffi::OsStrExt;
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
    // SAFETY: guaranteed by the caller.
    let path = unsafe { bytes_of(path, length) };
    handle.set_libnvvm((!path.is_empty()).then(|| std::ffi::OsStr::from_bytes(path).into()));
    TILEIRAS_SUCCESS
}

/// If `strict` is 1, rejects the types that NVIDIA's compiler rejects for the target, with the same message: 8-bit
/// floating-point numbers below sm_90, 4-bit ones and 8-bit scales below sm_100. If it is 0, the default, all targets
/// support these types. Takes effect in the next `tileirasProgramCompile`.
///
/// Returns `TILEIRAS_SUCCESS`, `TILEIRAS_ERROR_CONFIGURATION` for another value, or `TILEIRAS_ERROR_HANDLE` for a null
/// or released handle.
///
/// Available since version 4 of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasProgramSetStrictTypes(program: *mut TileirasProgram, strict: c_int) -> c_int {
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
    if !(0..=1).contains(&strict) {
        return refuse(TILEIRAS_ERROR_CONFIGURATION, "invalid configuration");
    }
    handle.set_strict_types(strict == 1);
    TILEIRAS_SUCCESS
}

/// Selects which bits of results the program alone determines: 0, the default, leaves the order of reductions and scans
/// to the compiler; 1 pins it, as `--numerics=pinned` does. Takes effect in the next `tileirasProgramCompile`.
///
/// Returns `TILEIRAS_SUCCESS`, `TILEIRAS_ERROR_CONFIGURATION` for another value, or `TILEIRAS_ERROR_HANDLE` for a null
/// or released handle.
///
/// Available since version 6 of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasProgramSetNumerics(program: *mut TileirasProgram, mode: c_int) -> c_int {
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
    let Some(mode) = usize::try_from(mode).ok().and_then(|m| tile_interface::NUMERICS.get(m)) else {
        return refuse(TILEIRAS_ERROR_CONFIGURATION, "invalid configuration");
    };
    handle.set_numerics(mode);
    TILEIRAS_SUCCESS
}

/// Compiles in a child process: `path`, of `length` bytes, is the program `tileiras-core` or `tileiras` of the same
/// version as this library. A null `path` selects this process again. Takes effect in the next
/// `tileirasProgramCompile`.
///
/// The compiler checks its input and reports errors, but no check is complete, and LLVM and MLIR abort on conditions
/// that they consider impossible. In a child process an abort, a crash or a stack overflow is a failed compilation
/// with diagnostics. The child inherits the resource limits of the caller's process, so `setrlimit` before the call
/// limits the memory and time of a compilation.
///
/// The cost is starting a program that links MLIR for each compilation: tens of milliseconds if MLIR is a shared
/// library. The output is identical. The scope `SerializeGPUModule` is then reported only for ptxas. The child dies
/// with the thread that waits for it.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null or released handle. `tileirasProgramCompile`
/// reports a missing program.
///
/// Available since version 3 of the interface.
///
/// # Safety
/// `path` is null or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramSetCore(
    program: *mut TileirasProgram,
    path: *const c_char,
    length: usize,
) -> c_int {
    use std::os::unix::ffi::OsStrExt;
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
    // SAFETY: guaranteed by the caller.
    let path = unsafe { bytes_of(path, length) };
    handle.set_core((!path.is_empty()).then(|| std::ffi::OsStr::from_bytes(path).into()));
    TILEIRAS_SUCCESS
}

/// Shares cubins through a Remote Execution API server, keyed by content: `address`, of `length` bytes, is
/// `grpc://host:port/instance`, or `grpcs://` for TLS. A length of 0 disables sharing. A null `address` restores the
/// default, which comes from the environment variable `TILEIRAS_REMOTE_CACHE`. `TILEIRAS_REMOTE_CACHE_TIMEOUT` limits
/// the delay of a lookup and of a store in milliseconds; the default is 1000. Takes effect in the next
/// `tileirasProgramCompile`.
///
/// The command uses the same entries. A server that is slow, absent or faulty causes one warning per process, and is
/// not used for half a minute.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null or released handle. With an invalid address, or
/// if the library was built without this feature, `tileirasProgramCompile` fails and reports the reason.
///
/// Available since version 5 of the interface.
///
/// # Safety
/// `address` is null or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramSetRemoteCache(
    program: *mut TileirasProgram,
    address: *const c_char,
    length: usize,
) -> c_int {
    use std::os::unix::ffi::OsStrExt;
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
    // SAFETY: guaranteed by the caller.
    let given = (!address.is_null()).then(|| unsafe { bytes_of(address, length) });
    handle.set_remote_cache(given.map(|address| std::ffi::OsStr::from_bytes(address).into()));
    TILEIRAS_SUCCESS
}

/// Releases a handle and its output.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null pointer or a released handle.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasProgramRelease(program: *mut TileirasProgram) -> c_int {
    if Handle::release(program) { TILEIRAS_SUCCESS } else { refuse(TILEIRAS_ERROR_HANDLE, "program is null") }
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

/// Runs `work`. A panic becomes a diagnostic and a failed compilation, because panics must not unwind into C.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, c_int> {
    tile_driver::install_panic_hook();
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let text = format!("internal error: {}", tile_driver::last_panic());
        say(Word::None, std::ptr::null_mut(), &text);
        TILEIRAS_ERROR_COMPILE
    })
}

/// The kind of the input, judging by its first bytes.
fn kind_of(input: &[u8]) -> Result<InputKind, tile_interface::NotTileIr> {
    tile_interface::input_kind(std::path::Path::new(""), input)
}
