//! Which passes declare that they preserve `ScheduleAnalysis`.
//!
//! MLIR's own passes make no such declaration to the analysis manager, so the list is by name. A pass that is not on it
//! invalidates the analysis even if it changes nothing, because the schedule must not depend on whether it did.
//!
//! Tools of this compiler check the list when they build a pipeline (`pipeline::preserved`). A stock `mlir-opt` that
//! loads the plugin builds its pipelines itself, and a plugin cannot add an instrumentation to them. Each pass that
//! runs is an *action* of its context, though. From the construction of the analysis until its use, a handler of
//! actions notes the first pass that is not on the list. If the tool has a handler of its own, as with
//! `--log-actions-to`, the analysis only checks whether the operations that it describes still exist.

use crate::dialect::{ffi, rt::raw_to_str};
use mlir_sys::{MlirContext, MlirStringRef};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

pub const GENERATE_CONSTRAINTS: &str = "tileas-generate-schedule-constraints";
pub const MATERIALIZE_SCHEDULE: &str = "tileas-materialize-schedule";

/// The passes that preserve `ScheduleAnalysis`. The first two only erase operations; the others change nothing.
pub const PRESERVE_SCHEDULE: [&str; 5] =
    [CLEANUPS[0], CLEANUPS[1], "print-op-stats", "tileas-check-register-budget", "tileir-print-snapshot"];

/// The cleanups that the default pipeline runs between the two passes.
pub const CLEANUPS: [&str; 2] = ["canonicalize", "cse"];

/// The text of the error for a pass that invalidates the analysis.
pub fn message(pass: &str) -> String {
    format!("cleanup pass invalidated ScheduleAnalysis; rerun constraint generation or remove the pass '{pass}'")
}

/// For each context, by address: the first pass that does not preserve the analysis, since it was built.
static WATCHED: Mutex<BTreeMap<usize, Option<String>>> = Mutex::new(BTreeMap::new());

fn watched() -> MutexGuard<'static, BTreeMap<usize, Option<String>>> {
    // The map is consistent after every statement.
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes the passes that run from now on, until [`invalidating`] is called. Called by the pass that builds the
/// analysis, which runs on the whole module, so no other pass of the context runs.
pub fn watch(context: MlirContext) {
    watched().insert(context.ptr.addr(), None);
    // SAFETY: the context is alive. A handler that exists may be this one, from an earlier pass.
    unsafe { ffi::mlirxContextWatchPasses(context, Some(note)) };
}

/// Returns the first pass since [`watch`] that does not preserve the analysis, and ends the watch.
pub fn invalidating(context: MlirContext) -> Option<String> {
    watched().remove(&context.ptr.addr())?
}

extern "C" fn note(context: MlirContext, pass: MlirStringRef) {
    // SAFETY: the name lives as long as the pass.
    let name = unsafe { raw_to_str(pass) };
    // Adaptors of nested pipelines have no name.
    let is_neutral = name.is_empty() || name == GENERATE_CONSTRAINTS || PRESERVE_SCHEDULE.contains(&name);
    if !is_neutral && let Some(first) = watched().get_mut(&context.ptr.addr()) {
        first.get_or_insert_with(|| name.to_owned());
    }
}
