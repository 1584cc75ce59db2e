//! Compilations that start again.
//!
//! An optimization never makes a compilation fail. When a pass or a check after the decisions fails, the input is
//! compiled again with less asked of the loop at fault, or of the kernel where no loop is known ([`Fallback`]). After a
//! second failure less is asked of the whole module, so that there are at most [`MOST`] restarts. The last form has no
//! plan, no rings, and a barrier wherever memory is shared.
//!
//! A program that takes too much shared memory is no defect of the compiler: what all passes together need is known
//! only when they have run. Everything else is a defect. It is remarked on, and an error where plans are strict.

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

/// The most restarts of a compilation.
const MOST: usize = 4;

/// Variable of the environment: `1` makes defects errors, as [`tile_interface::CompileRequest::strict_plans`] does.
const STRICT: &str = "TILEIRAS_STRICT_PLANS";

/// Whether the environment wants defects to be errors.
pub(super) fn is_strict_environment() -> bool {
    std::env::var_os(STRICT).is_some_and(|value| value == "1")
}

/// Passes that come before every decision, or decide nothing: what they refuse no other plan would make right.
pub(super) const WITHOUT_PLAN: [&str; 4] =
    ["convert-cudatile-to-tileaa", "tileir-insert-debug-scope", "canonicalize", "cse"];

/// Why passes did not come to their end.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    /// The pass, or the check after passes, that failed.
    pub pass: String,
    /// Where, if that is known.
    pub blame: Option<Blame>,
    /// Shared memory does not suffice.
    pub is_short: bool,
}

/// What has been given up so far.
#[derive(Default)]
pub(super) struct Restarts {
    failures: usize,
    everywhere: Fallback,
    functions: BTreeMap<String, Fallback>,
    loops: BTreeMap<(String, String), Fallback>,
    pub remarks: Vec<Remark>,
}

impl Restarts {
    /// Gives up something more after a failure with this message, for an input of a level. False if that failure is
    /// final.
    pub fn give_up(&mut self, cause: &Cause, message: &str, start: Level, options: &Options) -> bool {
        // The passes of another form are other ones, and would be counted otherwise.
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

    /// Marks the input with what is given up. A loop that is not found there counts as its whole kernel.
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

/// The function that does not verify, if one does not.
pub(super) fn invalid_function(module: &Module<'_>) -> Option<Blame> {
    let root = op_ref(module.as_operation().to_raw());
    let functions = collect_ops(root, |o| is_function(o).then_some(o));
    functions.into_iter().find(|f| !f.verify()).and_then(Blame::of)
}

/// Whether an error is one of passes, rather than of the input or of what was asked for.
pub(super) fn is_of_passes(error: &CompileError) -> bool {
    matches!(error, CompileError::Failed | CompileError::Internal(_))
}
