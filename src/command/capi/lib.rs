//! `libtileiras`: the compiler as a C library.
//!
//! Four functions and one opaque handle: [`tileirasProgramCreate`], [`tileirasProgramCompile`],
//! [`tileirasProgramGetOutput`], [`tileirasProgramRelease`]. Beside them two observers: one for diagnostics, one for
//! the scopes of a compilation. `include/tileiras.h` is generated from this file.
//!
//! The handle is the block of 104 bytes that the specification describes; its layout is asserted below and is no part
//! of the interface. A table of live handles makes a released or invented pointer an error instead of a crash.
//!
//! Handles are independent: any number of threads may each work on their own. One handle belongs to one thread at a
//! time.

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
use observe::{Word, say};
use tile_interface::InputKind;

/// Version of this interface: it grows only when something is added, and stays binary compatible within it.
pub const TILEIRAS_API_VERSION: u32 = 5;

/// Done.
pub const TILEIRAS_SUCCESS: c_int = 0;
/// The memory for a handle could not be had.
pub const TILEIRAS_ERROR_ALLOCATION: c_int = 1;
/// The configuration is refused.
pub const TILEIRAS_ERROR_CONFIGURATION: c_int = 2;
/// The input is no Tile IR bytecode.
pub const TILEIRAS_ERROR_INPUT: c_int = 3;
/// A null or unknown handle, a null output pointer, or output asked for before compilation.
pub const TILEIRAS_ERROR_HANDLE: c_int = 4;
/// Compilation failed; the diagnostics say why.
pub const TILEIRAS_ERROR_COMPILE: c_int = 5;

/// What to compile, and how. Set everything that is not used to zero.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TileirasConfig {
    /// Tile IR bytecode. Belongs to the caller, who keeps it unchanged until `tileirasProgramCompile` has returned.
    pub input_buffer_data: *const c_void,
    /// Size of the bytecode in bytes.
    pub input_buffer_size: usize,
    /// The GPU: 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120 or 121.
    pub gpu_id: i32,
    /// 0 to 3.
    pub opt_level: i32,
    /// 1 for full debug information; needs level 0.
    pub device_debug: i32,
    /// 1 for source lines.
    pub lineinfo: i32,
    /// 0 x86_64, 1 aarch64, 2 arm64ec.
    pub host_arch: i32,
    /// 0 linux, 1 windows.
    pub host_os: i32,
    /// 0 off, 1 memcheck.
    pub sanitize: i32,
    /// Zero.
    pub reserved: u32,
    /// The name of the output, for messages; null for none. Not zero-terminated. Belongs to the caller, who may free it
    /// as soon as `tileirasProgramCreate` has returned.
    pub output_name: *const c_char,
    /// Length of `output_name` in bytes.
    pub output_name_len: usize,
    /// Root of a CUDA toolkit whose `bin/ptxas` is tried before all others; null for none. Not zero-terminated. Belongs
    /// to the caller, who keeps it until `tileirasProgramCompile` has returned.
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

/// Bytes that belong to a handle.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TileirasByteView {
    pub data: *const u8,
    pub length: usize,
}

/// Checks a configuration and makes a handle for it.
///
/// The checks are made in this order, and the first that fails decides: `out_program`, `config`, the input pointer and
/// size, the input's first bytes, the GPU, the level, debug information with optimization, the host's architecture, its
/// system, then `reserved` and the lengths, `device_debug`, `lineinfo` and `sanitize`, which are 0 or 1, and whether
/// the architecture exists on the system.
///
/// Returns `TILEIRAS_SUCCESS`; `TILEIRAS_ERROR_HANDLE` for a null `out_program`; `TILEIRAS_ERROR_CONFIGURATION`,
/// `TILEIRAS_ERROR_INPUT` or `TILEIRAS_ERROR_ALLOCATION`. On failure `*out_program` is null.
/// The handle belongs to the caller, who gives it back with `tileirasProgramRelease`.
///
/// # Safety
/// `out_program` is null or may be written; `config` is null or points to a configuration whose pointers hold what
/// their comments say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramCreate(
    out_program: *mut *mut TileirasProgram,
    config: *const TileirasConfig,
) -> c_int {
    if out_program.is_null() {
        return refuse(TILEIRAS_ERROR_HANDLE, "program is null");
    }
    // SAFETY: not null, and the caller's promise.
    unsafe { *out_program = std::ptr::null_mut() };
    // SAFETY: the caller's promise.
    let Some(config) = (unsafe { config.as_ref() }) else {
        return refuse(TILEIRAS_ERROR_CONFIGURATION, "configuration is null");
    };
    // SAFETY: the caller's promise about the configuration.
    match guarded(|| unsafe { check(config) }) {
        Ok(Ok(())) => {}
        Ok(Err(code)) => return code,
        Err(code) => return code,
    }
    // SAFETY: the caller's promise about the configuration.
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
/// The pointers of `config` hold what their comments say.
unsafe fn check(config: &TileirasConfig) -> Result<(), c_int> {
    let configuration = |text| Err(refuse(TILEIRAS_ERROR_CONFIGURATION, text));
    if config.input_buffer_data.is_null() {
        return configuration("input buffer is null");
    }
    if isize::try_from(config.input_buffer_size).is_err() {
        return configuration("invalid configuration");
    }
    // SAFETY: not null, and the caller's promise.
    let input = unsafe { std::slice::from_raw_parts(config.input_buffer_data.cast::<u8>(), config.input_buffer_size) };
    if let Err(text) = compile::probe(input) {
        say(Word::Input, std::ptr::null_mut(), text);
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
    let is_switch = |value: i32| (0..=1).contains(&value);
    let switches = [config.device_debug, config.lineinfo, config.sanitize];
    // No memory has more bytes.
    let lengths = [config.output_name_len, config.cuda_root_len];
    if config.reserved != 0 || lengths.into_iter().any(|length| isize::try_from(length).is_err()) {
        return configuration("invalid configuration");
    }
    // arm64ec is code for Windows.
    if !switches.into_iter().all(is_switch) || compile::host(config.host_arch, config.host_os).is_none() {
        return configuration("invalid configuration");
    }
    Ok(())
}

/// Compiles the program of a handle to a cubin.
///
/// Compiling again after success does nothing: the output is there. After a failure the attempt is repeated.
///
/// Returns `TILEIRAS_SUCCESS`, `TILEIRAS_ERROR_HANDLE` for a null or released handle, `TILEIRAS_ERROR_COMPILE` for
/// everything else, a missing ptxas included.
///
/// # Safety
/// The input and the CUDA root of the handle's configuration are still there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramCompile(program: *mut TileirasProgram) -> c_int {
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
    if handle.is_compiled() {
        return TILEIRAS_SUCCESS;
    }
    // SAFETY: the caller's promise.
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

/// The cubin of a compiled program.
///
/// `*output` describes memory of the handle: it is valid until `tileirasProgramRelease`, and the caller must not free
/// it.
///
/// Returns `TILEIRAS_SUCCESS`; `TILEIRAS_ERROR_HANDLE` for a null or released handle, a null `output`, or a program
/// that has not been compiled.
///
/// # Safety
/// `output` is null or may be written.
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
    // SAFETY: not null, and the caller's promise.
    unsafe { *output = view };
    TILEIRAS_SUCCESS
}

/// The cubin of a compiled program in a relocatable for the host that the configuration names: what `--emit=obj`
/// writes.
///
/// Its symbols are named for `output_name`, up to the first dot. `*output` describes memory of the handle: it is valid
/// until `tileirasProgramRelease`, and the caller must not free it.
///
/// Returns what `tileirasProgramGetOutput` returns, or `TILEIRAS_ERROR_COMPILE` when the object cannot be made.
///
/// Available since version 2 of the interface.
///
/// # Safety
/// `output` is null or may be written.
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
    // SAFETY: the output belongs to the handle, which is alive.
    let cubin = unsafe { std::slice::from_raw_parts(cubin.data, cubin.length) };
    match guarded(|| handle.object(|| compile::host_object(&handle, cubin).ok_or(TILEIRAS_ERROR_COMPILE))) {
        Ok(Ok(view)) => {
            // SAFETY: not null, and the caller's promise.
            unsafe { *output = view };
            TILEIRAS_SUCCESS
        }
        Ok(Err(code)) | Err(code) => code,
    }
}

/// Lets NVIDIA's libNVVM, the library in the file `path` of `length` bytes, make PTX of LLVM IR. A null `path` goes
/// back to the generator of this library. Matters to the next `tileirasProgramCompile`, which says what is wrong with
/// the file.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null or released handle.
///
/// Available since version 2 of the interface.
///
/// # Safety
/// `path` is null or points at `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramSetLibNvvm(
    program: *mut TileirasProgram,
    path: *const c_char,
    length: usize,
) -> c_int {
    use std::os::unix::ffi::OsStrExt;
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
    // SAFETY: the caller's promise.
    let path = unsafe { bytes_of(path, length) };
    handle.set_libnvvm((!path.is_empty()).then(|| std::ffi::OsStr::from_bytes(path).into()));
    TILEIRAS_SUCCESS
}

/// With `strict` 1, types are refused that NVIDIA's compiler refuses for the target, with its message: floating-point
/// numbers of eight bits below sm_90, those of four bits and scales of eight below sm_100. With 0, which is the
/// default, there is code for them everywhere. Matters to the next `tileirasProgramCompile`.
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

/// Compiles in another process: `path`, of `length` bytes, is the program `tileiras-core` or `tileiras` of the same
/// version as this library. A null `path` goes back to this process. Matters to the next `tileirasProgramCompile`.
///
/// The compiler checks its input and reports what is wrong with it, but LLVM and MLIR end their process over what they
/// hold impossible, and no check is complete. In a process of its own that, a crash, or an exhausted stack is a failed
/// compilation whose diagnostics say what happened. A limit of memory or time that the caller's process has is
/// inherited, so `setrlimit` in between bounds what an input can take.
///
/// The price is the start of a program that links MLIR, for each compilation: tens of milliseconds where MLIR is a
/// shared library. The output is the same byte by byte. The scope `SerializeGPUModule` is then told for ptxas alone.
/// The other process dies with the thread that waits for it.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null or released handle. That there is no such program
/// is told by `tileirasProgramCompile`.
///
/// Available since version 3 of the interface.
///
/// # Safety
/// `path` is null or points at `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramSetCore(
    program: *mut TileirasProgram,
    path: *const c_char,
    length: usize,
) -> c_int {
    use std::os::unix::ffi::OsStrExt;
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
    // SAFETY: the caller's promise.
    let path = unsafe { bytes_of(path, length) };
    handle.set_core((!path.is_empty()).then(|| std::ffi::OsStr::from_bytes(path).into()));
    TILEIRAS_SUCCESS
}

/// Shares cubins by content over a server of the Remote Execution API: `address`, of `length` bytes, is
/// `grpc://host:port/instance`, or `grpcs://` for an encrypted connection. A length of 0 asks for none; a null
/// `address` goes back to what the environment says: the variables `TILEIRAS_REMOTE_CACHE` and
/// `TILEIRAS_REMOTE_CACHE_TIMEOUT`, which also says how many milliseconds the server may delay the look for a cubin,
/// and the keeping of one; 1000 where it is not set. Matters to the next `tileirasProgramCompile`.
///
/// The command uses the same entries. A server that is slow, absent or wrong is a warning, once in a process, and is
/// left alone for half a minute.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null or released handle. What is wrong with the address
/// is told by `tileirasProgramCompile`, which fails; so does one that is given to a library which was built without
/// this.
///
/// Available since version 5 of the interface.
///
/// # Safety
/// `address` is null or points at `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramSetRemoteCache(
    program: *mut TileirasProgram,
    address: *const c_char,
    length: usize,
) -> c_int {
    use std::os::unix::ffi::OsStrExt;
    let Some(handle) = Handle::find(program) else { return refuse(TILEIRAS_ERROR_HANDLE, "program is null") };
    // SAFETY: the caller's promise.
    let given = (!address.is_null()).then(|| unsafe { bytes_of(address, length) });
    handle.set_remote_cache(given.map(|address| std::ffi::OsStr::from_bytes(address).into()));
    TILEIRAS_SUCCESS
}

/// Gives a handle back, with its output.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null pointer and for a handle that was released before.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasProgramRelease(program: *mut TileirasProgram) -> c_int {
    if Handle::release(program) { TILEIRAS_SUCCESS } else { refuse(TILEIRAS_ERROR_HANDLE, "program is null") }
}

/// Version of the library, of its sources and of LLVM, as text. Zero-terminated; belongs to the library, for ever.
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

/// `TILEIRAS_API_VERSION` of the library, which may be newer than that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasApiVersion() -> u32 {
    TILEIRAS_API_VERSION
}

/// A text of the caller's; empty for null.
///
/// # Safety
/// `text` is null or points at `length` bytes that live for `'a`.
unsafe fn bytes_of<'a>(text: *const c_char, length: usize) -> &'a [u8] {
    if text.is_null() {
        &[]
    } else {
        // SAFETY: not null, and the caller's promise.
        unsafe { std::slice::from_raw_parts(text.cast(), length) }
    }
}

/// Reports a mistake of the caller.
fn refuse(code: c_int, text: &str) -> c_int {
    say(Word::Caller, std::ptr::null_mut(), text);
    code
}

/// Runs `work`; a panic in it is a diagnostic and a failed compilation, for no panic may cross into C.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, c_int> {
    tile_driver::install_panic_hook();
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let text = format!("internal error: {}", tile_driver::last_panic());
        say(Word::None, std::ptr::null_mut(), &text);
        TILEIRAS_ERROR_COMPILE
    })
}

/// Whether the first bytes are Tile IR bytecode of a known container.
fn kind_of(input: &[u8]) -> Result<InputKind, tile_interface::NotTileIr> {
    tile_interface::input_kind(std::path::Path::new(""), input)
}
