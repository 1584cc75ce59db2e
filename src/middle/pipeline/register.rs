//! `tileir{...}` and `tileir-finish{...}` in MLIR's registry: pass pipelines can name them.

use super::Options;
use crate::dialect::{
    ffi,
    rt::{raw_str, raw_to_str},
};
use mlir_sys::*;
use std::ffi::c_void;

/// Once a process, after the passes.
pub(crate) fn register() {
    // SAFETY: the names are static; the callbacks have the shape that is asked for.
    unsafe {
        ffi::mlirxPipelineRegisterWithOptions(
            c"tileir".as_ptr(),
            c"the passes of an optimisation level's tier".as_ptr(),
            Some(tier),
        );
        ffi::mlirxPipelineRegisterWithOptions(
            c"tileir-finish".as_ptr(),
            c"the lowering that the tier leaves to do".as_ptr(),
            Some(finish),
        );
    }
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
/// The arguments are those of a pipeline callback.
unsafe fn add(
    manager: MlirOpPassManager,
    options: MlirStringRef,
    error: *mut c_void,
    passes: fn(&Options) -> String,
) -> bool {
    // SAFETY: the text lives during the call.
    let text = unsafe { raw_to_str(options) };
    let fail = |message: &str| {
        // SAFETY: `error` is the callback's own; the message is copied.
        unsafe { ffi::mlirxPipelineError(error, raw_str(message)) };
        false
    };
    let options = match Options::parse(text) {
        Ok(options) => options,
        Err(e) => return fail(&e.to_string()),
    };
    let passes = passes(&options);
    if passes.is_empty() {
        return true;
    }
    let mut message = String::new();
    // SAFETY: `message` outlives the call that appends to it.
    let added =
        unsafe { mlirOpPassManagerAddPipeline(manager, raw_str(&passes), Some(append), (&raw mut message).cast()) };
    added.value != 0 || fail(&message)
}

unsafe extern "C" fn append(part: MlirStringRef, message: *mut c_void) {
    // SAFETY: `message` is the string that `add` passes.
    unsafe { (*message.cast::<String>()).push_str(raw_to_str(part)) }
}
