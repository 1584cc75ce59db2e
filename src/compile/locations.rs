//! A lint that finds passes which create ops without a source location.
//!
//! Debuggers and profilers map machine code to the source through the location of each op. A pass that builds an op
//! without a location breaks that silently. The lint therefore runs the passes one at a time and examines the module
//! after each. It ignores ops that do not belong to a source line:
//!
//! * modules, and the globals and declarations in a module;
//! * constants: one may serve ops on several lines, so MLIR's folder removes their locations. They become no
//!   instruction.

use crate::{
    compile,
    dialect::{
        self, location,
        rt::*,
        upstream::{is_constant_like, is_module},
    },
    pipeline,
};
use melior::{Context, ir::Module, pass::PassManager, utility::parse_pass_pipeline};
use std::collections::BTreeMap;
use tile_interface::InputKind;

/// A pass after which more ops lack a location than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The pass as written in the pipeline.
    pub pass: String,
    /// The number of additional ops without a location.
    pub count: usize,
    /// All ops without a location, counted by name.
    pub operations: BTreeMap<String, usize>,
}

/// The findings of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Ops of the input without a location.
    pub unplaced: usize,
    pub lost: Vec<Lost>,
    /// Ops examined, over all passes.
    pub examined: usize,
}

/// Runs the passes of the pipeline one at a time and examines the result of each.
pub fn lint(input: &[u8], kind: InputKind, options: &pipeline::Options) -> Result<Findings, String> {
    let passes: Vec<String> = options.steps().into_iter().map(|step| step.pass).collect();
    lint_passes(input, kind, &passes)
}

/// The same for a given list of passes on modules, as text.
pub fn lint_passes(input: &[u8], kind: InputKind, passes: &[String]) -> Result<Findings, String> {
    crate::passes::register_all();
    let context = dialect::context();
    let mut module = compile::read(&context, input, kind, "").map_err(|(messages, e)| match messages.first() {
        Some(d) => d.message.clone(),
        None => e.to_string(),
    })?;
    let mut findings = Findings::default();
    let mut before: usize = findings.look(&module).values().sum();
    findings.unplaced = before;
    for pass in passes {
        run(&context, &mut module, pass).map_err(|e| format!("{pass}: {e}"))?;
        let operations = findings.look(&module);
        let after = operations.values().sum();
        if after > before {
            findings.lost.push(Lost { pass: pass.clone(), count: after - before, operations });
        }
        before = after;
    }
    Ok(findings)
}

/// The source locations of the ops of an input with one of these names.
///
/// # Errors
/// The input cannot be read.
pub fn of_ops(input: &[u8], kind: InputKind, names: &[&str]) -> Result<Vec<tile_diag::Location>, String> {
    crate::passes::register_all();
    let context = dialect::context();
    let module = compile::read(&context, input, kind, "").map_err(|(_, e)| e.to_string())?;
    let place = |op: OpRef<'_>| dialect::remark::place_of(op).filter(|_| names.contains(&op_name(op)));
    Ok(collect_ops(op_ref(module.as_operation().to_raw()), place))
}

fn run(context: &Context, module: &mut Module<'_>, pass: &str) -> Result<(), String> {
    let manager = PassManager::new(context);
    parse_pass_pipeline(manager.as_operation_pass_manager(), &format!("builtin.module({pass})"))
        .map_err(|e| e.to_string())?;
    manager.run(module).map_err(|e| e.to_string())
}

impl Findings {
    /// Counts the ops without a location by name.
    fn look(&mut self, module: &Module<'_>) -> BTreeMap<String, usize> {
        let mut without: BTreeMap<String, usize> = BTreeMap::new();
        walk(op_ref(module.as_operation().to_raw()), &mut |op| {
            if !has_a_line(op) {
                return;
            }
            self.examined += 1;
            if location::file_line(op.location()).is_none() {
                *without.entry(op_name(op).to_string()).or_default() += 1;
            }
        });
        without
    }
}

/// Whether the op should have a source line: a function with a body, or an op in one.
fn has_a_line(op: OpRef<'_>) -> bool {
    if is_module(op) || is_constant_like(op) {
        return false;
    }
    let in_module = parent_op(op).is_some_and(is_module);
    let has_code = (0..region_count(op)).any(|i| entry_block(region(op, i)).is_some());
    !in_module || has_code
}
