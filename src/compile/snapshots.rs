//! The program behind each pass, as text that knows where its lines come from.

use crate::dialect::{
    ffi, location,
    rt::{OpRef, op_ref, parent_op, raw_to_str},
};
use melior::ir::{Location, Module};
use mlir_sys::{MlirLocation, MlirOperation, MlirStringRef};
use std::{ffi::c_void, sync::Mutex};
use tile_interface::{Emit, Listing, Snapshot};

/// What a compilation keeps of its passes. Passes of several functions may run at the same time.
#[derive(Default)]
pub struct Log {
    stage: Option<Emit>,
    snapshots: Vec<Snapshot>,
    /// The text behind the last pass that changed something.
    last: String,
}

impl Log {
    /// Begins with the input.
    pub fn begin(&mut self, module: &Module<'_>, stage: Emit) {
        self.stage = Some(stage);
        self.note("", op_ref(module.as_operation().to_raw()));
    }

    /// Where the passes that follow lead to.
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
        // A pass of functions is called for each of them.
        match self.snapshots.last_mut() {
            Some(before) if before.pass == pass && before.stage == stage => {
                before.program = program.or(before.program.take());
            }
            _ => self.snapshots.push(Snapshot { pass: pass.to_owned(), stage, program }),
        }
    }
}

/// Prints a module, with the places of its lines.
pub fn listing(op: OpRef<'_>) -> Listing {
    struct Printed {
        text: String,
        /// Line, column and place.
        places: Vec<(usize, usize, location::FileLine)>,
    }

    unsafe extern "C" fn write(part: MlirStringRef, printed: *mut c_void) {
        // SAFETY: the text is alive during the call, and `printed` is what is handed over below.
        let (part, printed) = unsafe { (raw_to_str(part), &mut *printed.cast::<Printed>()) };
        printed.text += part;
    }

    unsafe extern "C" fn place(at: MlirLocation, line: u32, column: u32, printed: *mut c_void) {
        // SAFETY: as above; the location is of an operation that is alive.
        let (at, printed) = unsafe { (Location::from_raw(at), &mut *printed.cast::<Printed>()) };
        if let Some(at) = location::file_line(at) {
            printed.places.push((line as usize, column as usize, at));
        }
    }

    let mut printed = Printed { text: String::new(), places: vec![] };
    // SAFETY: the operation is alive, and the functions are called before this one returns.
    unsafe {
        ffi::mlirxOperationPrintWithPlaces(op.to_raw(), Some(write), Some(place), (&raw mut printed).cast());
    }
    let Printed { mut text, mut places } = printed;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    // What begins first in a line stands for it.
    places.sort_by_key(|(line, column, _)| (*line, *column));
    let mut listing = Listing { places: vec![None; text.lines().count()], text, files: vec![] };
    for (line, _, at) in places {
        let known = listing.files.iter().position(|f| *f == at.file);
        let file = known.unwrap_or_else(|| {
            listing.files.push(at.file);
            listing.files.len() - 1
        });
        if let Some(place @ None) = listing.places.get_mut(line) {
            *place = Some((file, at.line));
        }
    }
    listing
}

/// The instrumentation of a pass manager that notes what passes do; `log` outlives its run.
pub fn instrumentation(log: &Mutex<Log>) -> ffi::MlirxInstrumentation {
    ffi::MlirxInstrumentation { before: None, after: Some(after), user: std::ptr::from_ref(log).cast_mut().cast() }
}

unsafe extern "C" fn after(pass: MlirStringRef, op: MlirOperation, failed: bool, log: *mut c_void) {
    // SAFETY: `log` is what `instrumentation` hands over; the pass and the operation are alive during the call.
    let (pass, log) = unsafe { (raw_to_str(pass), &*log.cast::<Mutex<Log>>()) };
    // What stands between passes and runs others has no name.
    if failed || pass.is_empty() {
        return;
    }
    let mut root = op_ref(op);
    while let Some(above) = parent_op(root) {
        root = above;
    }
    log.lock().unwrap_or_else(std::sync::PoisonError::into_inner).note(pass, root);
}
