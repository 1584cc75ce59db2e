//! Registers `tileir{...}` and `tileir-finish{...}` with MLIR, so that textual pipelines can name them.

use super::{Options, old_names};
use crate::dialect::{
    ffi,
    rt::{raw_str, raw_to_str},
};
use mlir_sys::*;
use std::ffi::c_void;

/// Registers the pipelines. Call once per process, after the passes are registered.
pub(crate) fn register() {
    // SAFETY: the names are static; the callbacks have the signature that MLIR requires.
    unsafe {
        ffi::mlirxPipelineRegisterWithOptions(
            c"tileir".as_ptr(),
            c"the passes of an optimization level's tier".as_ptr(),
            Some(tier),
        );
        ffi::mlirxPipelineRegisterWithOptions(
            c"tileir-finish".as_ptr(),
            c"the lowering that is left after the tier".as_ptr(),
            Some(finish),
        );
    }
    old_names::register();
}

unsafe extern "C" fn tier(manager: MlirOpPassManager, options: MlirStringRef, error: *mut c_void) -> bool {
    // SAFETY: MLIR calls with live arguments.
    unsafe { add(manager, options, error, Options::tier) }
}

unsafe extern "C" fn finish(manager: MlirOpPassManager, options: MlirStringRef, error: *mut c_void) -> bool {
    // SAFETY: MLIR calls with live arguments.
    unsafe { add(manager, options, error, Options::finish) }
}

/// # Safety
/// Call only from a pipeline callback, with its arguments.
unsafe fn add(
    manager: MlirOpPassManager,
    options: MlirStringRef,
    error: *mut c_void,
    passes: fn(&Options) -> String,
) -> bool {
    // SAFETY: the text lives during the call.
    let text = unsafe { raw_to_str(options) };
    let added = Options::parse(text).map_err(|e| e.to_string()).and_then(|options| {
        let passes = passes(&options);
        if passes.is_empty() { Ok(()) } else { append_pipeline(manager, &passes) }
    });
    let Err(message) = added else { return true };
    // SAFETY: MLIR passed `error` to the callback.
    unsafe { pipeline_error(error, &message) };
    false
}

/// Adds the passes of a textual pipeline to a pass manager. The error is MLIR's message.
pub(super) fn append_pipeline(manager: MlirOpPassManager, passes: &str) -> Result<(), String> {
    let mut message = String::new();
    // SAFETY: `manager` is alive; `message` outlives the call that appends to it.
    let added =
        unsafe { mlirOpPassManagerAddPipeline(manager, raw_str(passes), Some(append), (&raw mut message).cast()) };
    if added.value != 0 { Ok(()) } else { Err(message) }
}

/// Reports why a pipeline callback failed.
///
/// # Safety
/// `error` is the pointer that MLIR passed to the callback.
pub(super) unsafe fn pipeline_error(error: *mut c_void, message: &str) {
    // SAFETY: by the caller; the message is copied.
    unsafe { ffi::mlirxPipelineError(error, raw_str(message)) };
}

unsafe extern "C" fn append(part: MlirStringRef, message: *mut c_void) {
    // SAFETY: `message` is the string that `append_pipeline` passes.
    unsafe { (*message.cast::<String>()).push_str(raw_to_str(part)) }
}
