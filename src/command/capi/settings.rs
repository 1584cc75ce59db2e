//! The functions that change the settings of a handle between its creation and its compilation.

use std::ffi::{OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use tile_driver::remarks::RemarkFilter;
use tile_interface::{Emit, pipeline};

use crate::handle::Handle;
use crate::{
    TILEIRAS_ERROR_CONFIGURATION, TILEIRAS_ERROR_HANDLE, TILEIRAS_SUCCESS, TileirasByteView, TileirasProgram, bytes_of,
    refuse, refuse_because, unknown,
};

/// A cubin, the default.
pub const TILEIRAS_EMIT_CUBIN: c_int = 0;
/// PTX, which needs no ptxas.
pub const TILEIRAS_EMIT_PTX: c_int = 1;
/// LLVM IR, optimized.
pub const TILEIRAS_EMIT_LLVM: c_int = 2;
/// The dialect `nv_tileas`.
pub const TILEIRAS_EMIT_TILEAS: c_int = 3;
/// The dialect `nv_tileaa`.
pub const TILEIRAS_EMIT_TILEAA: c_int = 4;
/// The dialect `cuda_tile`, the public language.
pub const TILEIRAS_EMIT_CUDA_TILE: c_int = 5;

/// The levels by number.
const LEVELS: [Emit; 6] = [Emit::Cubin, Emit::Ptx, Emit::Llvm, Emit::TileAs, Emit::TileAa, Emit::CudaTile];

/// Selects the output: one of `TILEIRAS_EMIT_CUBIN` to `TILEIRAS_EMIT_CUDA_TILE`. Takes effect in the next
/// `tileirasProgramCompile`.
///
/// PTX uses at most 48 KiB of shared memory up to sm_89, so that it assembles without special options, like that of
/// `--emit=ptx`. Host objects need a cubin.
///
/// Returns `TILEIRAS_SUCCESS`, `TILEIRAS_ERROR_CONFIGURATION` for another number, or `TILEIRAS_ERROR_HANDLE` for a null
/// or released handle.
///
/// Available since version 7 of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasProgramSetEmit(program: *mut TileirasProgram, level: c_int) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    let Some(emit) = usize::try_from(level).ok().and_then(|n| LEVELS.get(n)) else {
        return invalid(&format!("level is {level}, but must be from 0 to {}", LEVELS.len() - 1));
    };
    handle.change(|s| s.emit = *emit);
    TILEIRAS_SUCCESS
}

/// Names the input in messages, in locations of text, and in line information: `name`, of `length` bytes, such as
/// `kernel.mlir`. By default it has no name. Takes effect in the next `tileirasProgramCompile`.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null or released handle.
///
/// Available since version 7 of the interface.
///
/// # Safety
/// `name` is null or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramSetInputName(
    program: *mut TileirasProgram,
    name: *const c_char,
    length: usize,
) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    // SAFETY: guaranteed by the caller.
    let name = String::from_utf8_lossy(unsafe { bytes_of(name, length) }).into_owned();
    handle.change(|s| s.input_name = name);
    TILEIRAS_SUCCESS
}

/// Sends remarks on the choices and missed optimizations of a compilation to the diagnostic callback, with severity 2:
/// `which`, of `length` bytes, is `all`, `memory`, `tensorcore` or `verbose`, as for `--remarks`; null or `none` for no
/// remarks, the default. Takes effect in the next `tileirasProgramCompile`.
///
/// Caches are not used for such a compilation, and a compiler in a child process cannot send remarks.
///
/// Returns `TILEIRAS_SUCCESS`, `TILEIRAS_ERROR_CONFIGURATION` for another word, or `TILEIRAS_ERROR_HANDLE` for a null
/// or released handle.
///
/// Available since version 7 of the interface.
///
/// # Safety
/// `which` is null or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramSetRemarks(
    program: *mut TileirasProgram,
    which: *const c_char,
    length: usize,
) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    // SAFETY: guaranteed by the caller.
    let which = String::from_utf8_lossy(unsafe { bytes_of(which, length) });
    let filter = RemarkFilter::from_name(&which);
    if filter == RemarkFilter::None && !matches!(&*which, "" | "none") {
        return invalid(&format!("which is '{which}', but must be all, memory, tensorcore, verbose or none"));
    }
    handle.change(|s| s.remarks = filter);
    TILEIRAS_SUCCESS
}

/// If `enabled` is 1, ptxas reports the resources of each kernel, which `tileirasProgramGetResources` then returns.
/// Caches are not used for such a compilation. The default is 0. Takes effect in the next `tileirasProgramCompile`.
///
/// Returns `TILEIRAS_SUCCESS`, `TILEIRAS_ERROR_CONFIGURATION` for another value, or `TILEIRAS_ERROR_HANDLE` for a null
/// or released handle.
///
/// Available since version 7 of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasProgramSetResources(program: *mut TileirasProgram, enabled: c_int) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    if !(0..=1).contains(&enabled) {
        return invalid(&format!("enabled is {enabled}, but must be 0 or 1"));
    }
    handle.change(|s| s.resources = enabled == 1);
    TILEIRAS_SUCCESS
}

/// Returns the resources of the kernels of a compiled program in `*output`: the JSON text of `--resource-usage-file`,
/// not zero-terminated. The bytes are owned by the handle and valid until `tileirasProgramRelease`.
///
/// Returns `TILEIRAS_SUCCESS`; `TILEIRAS_ERROR_HANDLE` for a null or released handle, a null `output`, or a program
/// that has not been compiled to a cubin with `tileirasProgramSetResources`.
///
/// Available since version 7 of the interface.
///
/// # Safety
/// `output` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramGetResources(
    program: *mut TileirasProgram,
    output: *mut TileirasByteView,
) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    if output.is_null() {
        return refuse(TILEIRAS_ERROR_HANDLE, "output pointer is null");
    }
    let Some(view) = handle.resources() else {
        let why = "resources are known after a compilation to a cubin with tileirasProgramSetResources";
        return refuse_because(TILEIRAS_ERROR_HANDLE, "program has not been compiled", why);
    };
    // SAFETY: not null; otherwise guaranteed by the caller.
    unsafe { *output = view };
    TILEIRAS_SUCCESS
}

/// Selects a ptxas, the program `path` of `length` bytes, as `--ptxas-path` does. A null `path` restores the search: in
/// `cuda_root`, `CUDA_ROOT`, `CUDA_HOME`, `CUDA_PATH`, the folder of the calling program, and `PATH`. Takes effect in
/// the next `tileirasProgramCompile`.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null or released handle.
///
/// Available since version 7 of the interface.
///
/// # Safety
/// `path` is null or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramSetPtxas(
    program: *mut TileirasProgram,
    path: *const c_char,
    length: usize,
) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    // SAFETY: guaranteed by the caller.
    let path = unsafe { bytes_of(path, length) };
    handle.change(|s| s.ptxas = file(path));
    TILEIRAS_SUCCESS
}

/// Sets an option of the pass pipeline, as `--pipeline-option=NAME=VALUE` does: `setting`, of `length` bytes, is
/// `NAME=VALUE`, such as `num-warps=8`. Repeated calls add options; a null `setting` removes all. Takes effect in the
/// next `tileirasProgramCompile`.
///
/// Returns `TILEIRAS_SUCCESS`, `TILEIRAS_ERROR_CONFIGURATION` for an unknown option or another form, or
/// `TILEIRAS_ERROR_HANDLE` for a null or released handle.
///
/// Available since version 7 of the interface.
///
/// # Safety
/// `setting` is null or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramSetPipelineOption(
    program: *mut TileirasProgram,
    setting: *const c_char,
    length: usize,
) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    // SAFETY: guaranteed by the caller.
    let setting = String::from_utf8_lossy(unsafe { bytes_of(setting, length) }).into_owned();
    if setting.is_empty() {
        handle.change(|s| s.options.clear());
        return TILEIRAS_SUCCESS;
    }
    let Some((name, value)) = setting.split_once('=') else {
        return invalid(&format!("setting is '{setting}', but must have the form NAME=VALUE"));
    };
    if pipeline::effect(&setting).is_none() {
        return invalid(&format!("pipeline option '{name}' is unknown"));
    }
    handle.change(|s| s.options.push((name.to_owned(), value.to_owned())));
    TILEIRAS_SUCCESS
}

/// Keeps outputs in a directory and takes them from there, keyed by content: `path` of `length` bytes, as `--cache-dir`
/// does. The command uses the same entries. A null `path` restores the default, no directory. Takes effect in the next
/// `tileirasProgramCompile`.
///
/// A directory that others can write to is rejected, because its entries become the code of kernels.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null or released handle. `tileirasProgramCompile`
/// reports an unusable directory.
///
/// Available since version 7 of the interface.
///
/// # Safety
/// `path` is null or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramSetCacheDirectory(
    program: *mut TileirasProgram,
    path: *const c_char,
    length: usize,
) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    // SAFETY: guaranteed by the caller.
    let path = unsafe { bytes_of(path, length) };
    handle.change(|s| s.cache_directory = file(path));
    TILEIRAS_SUCCESS
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
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    // SAFETY: guaranteed by the caller.
    let path = unsafe { bytes_of(path, length) };
    handle.change(|s| s.libnvvm = file(path));
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
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    if !(0..=1).contains(&strict) {
        return invalid(&format!("strict is {strict}, but must be 0 or 1"));
    }
    handle.change(|s| s.strict_types = strict == 1);
    TILEIRAS_SUCCESS
}

/// Selects which bits of results the program alone determines: 0, the default, leaves the order of reductions and scans
/// to the compiler; 1 pins it, as `--numerics=pinned` does; 2 also avoids instructions whose bits PTX does not define,
/// as `--numerics=portable` does. Takes effect in the next `tileirasProgramCompile`.
///
/// Returns `TILEIRAS_SUCCESS`, `TILEIRAS_ERROR_CONFIGURATION` for another value, or `TILEIRAS_ERROR_HANDLE` for a null
/// or released handle.
///
/// Available since version 6 of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasProgramSetNumerics(program: *mut TileirasProgram, mode: c_int) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    let Some(name) = usize::try_from(mode).ok().and_then(|m| tile_interface::NUMERICS.get(m)) else {
        return invalid(&format!("mode is {mode}, but must be 0, 1 or 2"));
    };
    handle.change(|s| s.numerics = Some(name));
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
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    // SAFETY: guaranteed by the caller.
    let path = unsafe { bytes_of(path, length) };
    handle.change(|s| s.core = file(path));
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
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    // SAFETY: guaranteed by the caller.
    let given = (!address.is_null()).then(|| unsafe { bytes_of(address, length) });
    handle.change(|s| s.remote_cache = given.map(|address| OsStr::from_bytes(address).into()));
    TILEIRAS_SUCCESS
}

/// Links a tile library, as `-l` does, and enables preview features, as `--preview=simt` does: the library reads and
/// copies `length` bytes of `data`, the contents of the file. `name`, of `name_length` bytes, is its name in messages.
/// Repeated calls add libraries; a null `data` removes all. Takes effect in the next `tileirasProgramCompile`.
///
/// `tileirasProgramCompile` reports contents that are not a tile library. Outputs of programs with libraries are not
/// cached.
///
/// Returns `TILEIRAS_SUCCESS`, or `TILEIRAS_ERROR_HANDLE` for a null or released handle.
///
/// Available since version 8 of the interface.
///
/// # Safety
/// `name` is null or points to `name_length` bytes. `data` is null or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tileirasProgramAddLibrary(
    program: *mut TileirasProgram,
    name: *const c_char,
    name_length: usize,
    data: *const c_char,
    length: usize,
) -> c_int {
    let Some(handle) = Handle::find(program) else { return unknown(program) };
    if data.is_null() {
        handle.change(|s| s.libraries.clear());
        return TILEIRAS_SUCCESS;
    }
    // SAFETY: guaranteed by the caller.
    let (name, data) = unsafe { (bytes_of(name, name_length), bytes_of(data, length)) };
    let name = String::from_utf8_lossy(name).into_owned();
    handle.change(|s| s.libraries.push((name, data.to_vec())));
    TILEIRAS_SUCCESS
}

/// The file that a caller names; `None` for none.
fn file(path: &[u8]) -> Option<PathBuf> {
    (!path.is_empty()).then(|| OsStr::from_bytes(path).into())
}

/// Reports a value that a setting cannot have.
fn invalid(why: &str) -> c_int {
    refuse_because(TILEIRAS_ERROR_CONFIGURATION, "invalid configuration", why)
}
