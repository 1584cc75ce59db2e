//! The program after each pass, as text with the source locations of its lines.

use super::wrapped::wrapped;
use crate::dialect::{
    ffi, location,
    rt::{OpRef, op_ref, parent_op, raw_to_str},
};
use melior::ir::{Location, Module};
use mlir_sys::{MlirLocation, MlirOperation, MlirStringRef};
use std::{collections::VecDeque, ffi::c_void, sync::Mutex};
use tile_interface::{Boundary, Emit, Listing, Snapshot};

/// The programs after each pass of a compilation. Passes on several functions may run concurrently.
#[derive(Default)]
pub struct Log {
    stage: Option<Emit>,
    /// The boundaries after the passes that have not run yet, in order.
    boundaries: VecDeque<Boundary>,
    snapshots: Vec<Snapshot>,
    /// The text after the last pass that changed it.
    last: String,
}

impl Log {
    /// Records the input. `boundaries` are the ones of the passes that follow.
    pub fn begin(&mut self, module: &Module<'_>, stage: Emit, boundaries: VecDeque<Boundary>) {
        (self.stage, self.boundaries) = (Some(stage), boundaries);
        self.note("", op_ref(module.as_operation().to_raw()));
    }

    /// Sets the stage that the next passes contribute to.
    pub fn enter(&mut self, stage: Emit) {
        self.stage = Some(stage);
    }

    pub fn into_snapshots(self) -> Vec<Snapshot> {
        self.snapshots
    }

    fn note(&mut self, pass: &str, root: OpRef<'_>) {
        let Some(stage) = self.stage else { return };
        let listing = listing(root);
        let program = (listing.text != self.last).then(|| {
            self.last.clone_from(&listing.text);
            listing
        });
        // A function pass is called once per function.
        match self.snapshots.last_mut() {
            Some(before) if before.pass == pass && before.stage == stage => {
                before.program = program.or(before.program.take());
            }
            _ => {
                let boundary = self.boundaries.pop_front_if(|b| b.pass == pass);
                self.snapshots.push(Snapshot { pass: pass.to_owned(), boundary, stage, program });
            }
        }
    }
}

/// Prints a module for readers: with aliases, the names of values that locations hold, and no long lines.
pub fn text(op: OpRef<'_>) -> String {
    unsafe extern "C" fn write(part: MlirStringRef, text: *mut c_void) {
        // SAFETY: the text outlives the call, and `text` is the pointer passed below.
        let (part, text) = unsafe { (raw_to_str(part), &mut *text.cast::<String>()) };
        *text += part;
    }

    let mut text = String::new();
    // SAFETY: the op is valid, and the function is only called before this one returns.
    unsafe { ffi::mlirxOperationPrint(op.to_raw(), false, Some(write), (&raw mut text).cast()) };
    wrapped(&text)
}

/// Prints a module with the source locations of its lines. Each line is an op, and layouts are spelled out.
pub fn listing(op: OpRef<'_>) -> Listing {
    struct Printed {
        text: String,
        /// Line, column and location.
        places: Vec<(usize, usize, location::FileLine)>,
    }

    unsafe extern "C" fn write(part: MlirStringRef, printed: *mut c_void) {
        // SAFETY: the text outlives the call, and `printed` is the pointer passed below.
        let (part, printed) = unsafe { (raw_to_str(part), &mut *printed.cast::<Printed>()) };
        printed.text += part;
    }

    unsafe extern "C" fn place(at: MlirLocation, line: u32, column: u32, printed: *mut c_void) {
        // SAFETY: as above; the location belongs to a valid op.
        let (at, printed) = unsafe { (Location::from_raw(at), &mut *printed.cast::<Printed>()) };
        if let Some(at) = location::file_line(at) {
            printed.places.push((line as usize, column as usize, at));
        }
    }

    let mut printed = Printed { text: String::new(), places: vec![] };
    // SAFETY: the op is valid, and the functions are only called before this one returns.
    unsafe {
        ffi::mlirxOperationPrintWithPlaces(op.to_raw(), Some(write), Some(place), (&raw mut printed).cast());
    }
    let Printed { mut text, mut places } = printed;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    // The first op that starts in a line determines the line's location.
    places.sort_by_key(|(line, column, _)| (*line, *column));
    let mut listing = Listing { locations: vec![None; text.lines().count()], text, files: vec![] };
    for (line, _, at) in places {
        let known = listing.files.iter().position(|f| *f == at.file);
        let file = known.unwrap_or_else(|| {
            listing.files.push(at.file);
            listing.files.len() - 1
        });
        if let Some(place @ None) = listing.locations.get_mut(line) {
            *place = Some((file, at.line));
        }
    }
    listing
}

/// An instrumentation that records the results of passes in `log`, which must outlive the run of the pass manager.
pub fn instrumentation(log: &Mutex<Log>) -> ffi::MlirxInstrumentation {
    ffi::MlirxInstrumentation { before: None, after: Some(after), user: std::ptr::from_ref(log).cast_mut().cast() }
}

unsafe extern "C" fn after(pass: MlirStringRef, op: MlirOperation, failed: bool, log: *mut c_void) {
    // SAFETY: `log` is the pointer that `instrumentation` passed; the pass and the op outlive the call.
    let (pass, log) = unsafe { (raw_to_str(pass), &*log.cast::<Mutex<Log>>()) };
    // Pass adaptors, which run other passes, have no name.
    if failed || pass.is_empty() {
        return;
    }
    let mut root = op_ref(op);
    while let Some(above) = parent_op(root) {
        root = above;
    }
    log.lock().unwrap_or_else(std::sync::PoisonError::into_inner).note(pass, root);
}
