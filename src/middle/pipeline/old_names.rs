//! Deprecated names of passes.
//!
//! Pass pipelines and `disable-pass` accept them for one release, with a note on standard error.

use super::register::{append_pipeline, pipeline_error};
use crate::dialect::{ffi, rt::raw_to_str};
use mlir_sys::{MlirOpPassManager, MlirStringRef};
use std::ffi::{CStr, c_void};

/// Returns the current name of a pass, given its current or deprecated name.
pub(super) fn present(name: &str) -> &str {
    let Some(renamed) = RENAMED.iter().find(|r| r.old.to_str() == Ok(name)) else { return name };
    note(renamed);
    renamed.new
}

/// Registers each deprecated name as a pipeline of one pass. Call once per process, after the passes are registered.
pub(super) fn register() {
    for renamed in &RENAMED {
        // SAFETY: the names are static; the callbacks have the signature that MLIR requires.
        unsafe {
            ffi::mlirxPipelineRegisterWithOptions(
                renamed.old.as_ptr(),
                c"deprecated name of another pass".as_ptr(),
                Some(renamed.add),
            );
        }
    }
}

struct Renamed {
    old: &'static CStr,
    new: &'static str,
    /// Adds the pass to a pipeline.
    add: unsafe extern "C" fn(MlirOpPassManager, MlirStringRef, *mut c_void) -> bool,
}

macro_rules! renamed {
    ($number:literal, $old:literal, $new:literal) => {{
        unsafe extern "C" fn add(manager: MlirOpPassManager, options: MlirStringRef, error: *mut c_void) -> bool {
            // SAFETY: MLIR calls with live arguments.
            unsafe { add_renamed(&RENAMED[$number], manager, options, error) }
        }
        Renamed { old: $old, new: $new, add }
    }};
}

static RENAMED: [Renamed; 6] = [
    renamed!(0, c"tileaa-plan-products", "tileaa-plan-dots"),
    renamed!(1, c"tileaa-slice-blocks", "tileaa-split-over-cluster"),
    renamed!(2, c"tileaa-slice-products", "tileaa-slice-dots"),
    renamed!(3, c"tileas-rotate-products", "tileas-pipeline-dots"),
    renamed!(4, c"tileas-skip-scaling", "tileas-skip-rescale"),
    renamed!(5, c"tileas-take-turns", "tileas-ping-pong"),
];

/// # Safety
/// Call only from a pipeline callback, with its arguments.
unsafe fn add_renamed(
    renamed: &Renamed,
    manager: MlirOpPassManager,
    options: MlirStringRef,
    error: *mut c_void,
) -> bool {
    note(renamed);
    // SAFETY: the text lives during the call.
    let options = unsafe { raw_to_str(options) };
    // `turns` is the only option that was renamed together with its pass.
    let options: Vec<String> = options
        .split_whitespace()
        .map(|o| o.strip_prefix("turns=").map_or_else(|| o.to_owned(), |value| format!("when={value}")))
        .collect();
    let braces = if options.is_empty() { String::new() } else { format!("{{{}}}", options.join(" ")) };
    match append_pipeline(manager, &format!("{}{braces}", renamed.new)) {
        Ok(()) => true,
        Err(message) => {
            // SAFETY: MLIR passed `error` to the callback.
            unsafe { pipeline_error(error, &message) };
            false
        }
    }
}

fn note(renamed: &Renamed) {
    let old = renamed.old.to_str().unwrap_or_default();
    eprintln!("note: pass '{old}' has been renamed to '{}'; the old name will be removed", renamed.new);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_lead_to_passes() {
        for renamed in &RENAMED {
            assert_eq!(present(renamed.old.to_str().unwrap()), renamed.new);
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/middle/passes");
            let file = format!("{folder}/{}.rs", renamed.new.replace('-', "_"));
            assert!(std::path::Path::new(&file).exists(), "{file}");
        }
        assert_eq!(present("cse"), "cse");
    }
}
