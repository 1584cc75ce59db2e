//! Compilation from a boundary between passes, and up to one.
//!
//! Passes leave everything that later passes need in the program: types, ops and attributes. A program that is printed
//! at any boundary can therefore be read and compiled further, with the same result. `--print-after` prints one, and
//! labels the module with the boundary ([`AFTER`]). Without a label, `--start-after` names the boundary. A pass that
//! only builds an analysis for a later one runs again.

use super::{Failure, Module};
use crate::{
    dialect::{attributes::AFTER, rt::op_ref},
    pipeline::Options,
};
use std::ops::Range;
use tile_interface::{Boundary, CompileError, CompileRequest, Level};

/// The steps of the pipeline that a compilation runs.
pub(super) struct Span {
    /// Numbers of [`Options::steps`].
    pub steps: Range<usize>,
    /// The boundary of the input, unless the input is at the end of a level.
    pub resumed: Option<Resumed>,
}

/// An input from a boundary between passes.
pub(super) struct Resumed {
    boundary: Boundary,
    /// The level of the ops in such a program.
    level: Level,
    /// The level whose passes had begun.
    pub reached: Level,
    /// The last level whose passes had all run.
    pub start: Level,
}

fn wrong(text: String) -> Failure {
    (vec![], CompileError::Configuration(text))
}

impl Span {
    /// Returns the steps between the boundary of the input and the requested one. Removes the label of the module.
    pub fn new(request: &CompileRequest<'_>, options: &Options, module: &Module<'_>) -> Result<Self, Failure> {
        // SAFETY: the module outlives the handle.
        let label = AFTER.take(op_ref(module.as_operation().to_raw()));
        let label = label.map(str::parse).transpose().map_err(|e| wrong(format!("the attribute {AFTER}: {e}")))?;
        let after = |boundary: &Boundary, option: &str| {
            options.steps_before(boundary).map_err(|e| wrong(format!("{option}={boundary}: {e}")))
        };
        let steps = options.steps();
        let boundary = request.start_after.clone().or(label);
        let first = boundary.as_ref().map_or(Ok(0), |boundary| after(boundary, "--start-after"))?;
        let given = first;
        let first = options.before_analyses(first);
        let end = request.print_after.as_ref().map_or(Ok(steps.len()), |boundary| after(boundary, "--print-after"))?;
        if end <= given && request.print_after.is_some() {
            return Err(wrong("the boundary of --print-after precedes the input".to_owned()));
        }
        let resumed = boundary.map(|boundary| {
            let reached = steps[given - 1].stage.level();
            let is_complete = steps.get(given).is_some_and(|next| next.stage.level() != reached);
            let before = Level::ALL.iter().copied().rfind(|l| *l < reached).unwrap_or(Level::CudaTile);
            let start = if is_complete { reached } else { before };
            Resumed { boundary, level: options.level_after(given), reached, start }
        });
        Ok(Self { steps: first..end, resumed })
    }
}

impl Resumed {
    /// Checks that the input, whose earliest op is at level `found`, can be from the boundary.
    pub fn check(&self, request: &CompileRequest<'_>, found: Level, op: Option<&str>) -> Result<(), Failure> {
        let Resumed { boundary, level, reached, .. } = self;
        if let Some(op) = op.filter(|_| found < *level) {
            return Err(wrong(format!("--start-after={boundary} does not match the input, which contains '{op}'")));
        }
        match request.start_from.filter(|said| said != reached) {
            Some(said) => {
                let (said, reached) = (said.emit().name(), reached.emit().name());
                let text = format!("--start-from={said} does not match the boundary '{boundary}' of level {reached}");
                Err(wrong(text))
            }
            None => Ok(()),
        }
    }
}

/// Rejects boundaries for an input that has none.
pub(super) fn reject(request: &CompileRequest<'_>, why: &str) -> Result<(), Failure> {
    let options = [("--start-after", &request.start_after), ("--print-after", &request.print_after)];
    match options.into_iter().find_map(|(name, boundary)| boundary.as_ref().map(|b| format!("{name}={b}"))) {
        Some(option) => Err(wrong(format!("{option}: {why}"))),
        None => Ok(()),
    }
}

/// Labels a module with the boundary at which it is printed.
pub(super) fn label(module: &Module<'_>, boundary: &Boundary) {
    // SAFETY: the module outlives the handle.
    AFTER.set(op_ref(module.as_operation().to_raw()), &boundary.to_string());
}
