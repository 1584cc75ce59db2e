//! Retries of failed compilations.
//!
//! A failing optimization must not fail the compilation. If a pass or check after the planning passes fails, the
//! input is compiled again with a weaker form of the loop at fault, or of its kernel if the loop is unknown
//! ([`Fallback`]). After a second failure the whole module is weakened, so there are at most [`MOST`] restarts. The
//! weakest form has no plan, no rings, and a barrier at every access to shared memory that needs one.
//!
//! Running out of shared memory is not a defect: the total need of all passes is only known after they have run.
//! Every other failure is a defect. It causes a remark, or an error with strict plans.

use crate::{
    dialect::{
        cuda_tile::{ForOp, LoopOp},
        fallback::{Blame, Fallback, is_function},
        remark,
        rt::*,
    },
    pipeline::{Options, Strategy},
};
use melior::ir::{Module, operation::OperationLike};
use std::collections::BTreeMap;
use tile_interface::{CompileError, Level, Remark};

/// The maximum number of restarts of a compilation.
const MOST: usize = 4;

/// Passes that precede all planning passes or decide nothing. No other plan would fix their failures.
pub(super) const WITHOUT_PLAN: [&str; 4] =
    ["convert-cudatile-to-tileaa", "tileir-insert-debug-scope", "canonicalize", "cse"];

/// The cause of a failure in the passes.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    /// The failed pass, or the check after the passes.
    pub pass: String,
    /// The loop or function at fault, if known.
    pub blame: Option<Blame>,
    /// Whether shared memory ran out.
    pub is_short: bool,
}

/// The fallbacks so far.
#[derive(Default)]
pub(super) struct Restarts {
    failures: usize,
    everywhere: Fallback,
    functions: BTreeMap<String, Fallback>,
    loops: BTreeMap<(String, String), Fallback>,
    pub remarks: Vec<Remark>,
}

impl Restarts {
    /// Adds a fallback after a failure with this message, for an input at level `start`. Returns `false` if the
    /// failure is final.
    pub fn give_up(&mut self, cause: &Cause, message: &str, start: Level, options: &Options) -> bool {
        // A fallback changes the list of passes, to which the limit refers.
        let is_counted = options.pass_limit.is_some();
        let is_of_user = options.insertions.iter().any(|i| i.pipeline.contains(cause.pass.as_str()));
        let is_before = start <= Level::CudaTile && WITHOUT_PLAN.contains(&cause.pass.as_str());
        let decides = options.opt_level >= 2 && start <= Level::TileAa;
        if self.failures == MOST || !decides || is_counted || is_of_user || is_before {
            return false;
        }
        self.failures += 1;
        let has_agents = options.strategy == Strategy::WarpSpecialize;
        let (what, less) = match &cause.blame {
            Some(blame) if self.failures == 1 => {
                let before = self.everywhere;
                let Some(less) = before.next(has_agents) else { return false };
                match &blame.outermost_loop {
                    Some(place) => {
                        self.loops.insert((blame.function.clone(), place.clone()), less);
                        (format!("a loop of {}", blame.function), less)
                    }
                    None => {
                        self.functions.insert(blame.function.clone(), less);
                        (blame.function.clone(), less)
                    }
                }
            }
            _ => {
                let said = self.functions.values().chain(self.loops.values()).copied();
                let most = said.chain([self.everywhere]).max().unwrap_or_default();
                let Some(less) = most.next(has_agents) else { return false };
                self.everywhere = less;
                ("the module".to_owned(), less)
            }
        };
        let category = if cause.is_short { remark::SHARED_MEMORY_FALLBACK } else { remark::FALLBACK };
        let function = cause.blame.as_ref().map(|b| b.function.clone()).unwrap_or_default();
        let message = format!("{what} is compiled again {less}: {message}");
        self.remarks.push(category.remark(&cause.pass, function, message));
        true
    }

    /// Attaches the fallbacks to the input. A loop that is not found affects its whole kernel.
    pub fn mark(&self, module: &Module<'_>) {
        if self.failures == 0 {
            return;
        }
        let root = op_ref(module.as_operation().to_raw());
        for kernel in collect_ops(root, |o| is_function(o).then_some(o)) {
            let name = attr(kernel, "sym_name").map(string_attr).unwrap_or_default();
            let mut less = self.functions.get(name).copied().unwrap_or_default().max(self.everywhere);
            for ((_, place), of_loop) in self.loops.iter().filter(|((function, _), _)| function == name) {
                let is_it = |o| ForOp::cast(o).is_some() || LoopOp::cast(o).is_some();
                let found = collect_ops(kernel, |o| (is_it(o) && shown(&o.location()) == *place).then_some(o));
                match found[..] {
                    [one] => of_loop.attach(one),
                    _ => less = less.max(*of_loop),
                }
            }
            if less != Fallback::None {
                less.attach(kernel);
            }
        }
    }
}

/// The first function that fails to verify.
pub(super) fn invalid_function(module: &Module<'_>) -> Option<Blame> {
    let root = op_ref(module.as_operation().to_raw());
    let functions = collect_ops(root, |o| is_function(o).then_some(o));
    functions.into_iter().find(|f| !f.verify()).and_then(Blame::of)
}

/// Whether an error is a failure of the passes, as opposed to an invalid input or configuration.
pub(super) fn is_of_passes(error: &CompileError) -> bool {
    matches!(error, CompileError::Failed | CompileError::Internal(_))
}
