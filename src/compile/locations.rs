//! A lint of the pipeline: which pass makes operations that have no place in the source.
//!
//! Debuggers and profilers map machine code to the source by the location of each operation. A pass that builds one
//! without a location breaks that silently, so the passes run one at a time here and what each left is looked at. Not
//! looked at is what belongs to no line:
//!
//! * modules, and what stands in a module beside its functions with code: globals and declarations;
//! * constants: one may serve operations of several lines, for which reason MLIR's folder takes their places away, and
//!   no instruction comes of them.

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

/// A pass behind which more operations are without a location than before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// As in the pipeline.
    pub pass: String,
    /// How many more.
    pub count: usize,
    /// Names of all operations without a location, with their numbers.
    pub operations: BTreeMap<String, usize>,
}

/// What a run found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Operations of the input that come without a location.
    pub unplaced: usize,
    pub lost: Vec<Lost>,
    /// Operations that were looked at, over all passes.
    pub examined: usize,
}

/// Runs the passes of the pipeline one by one and looks at each one's result.
pub fn lint(input: &[u8], kind: InputKind, options: &pipeline::Options) -> Result<Findings, String> {
    let passes: Vec<String> = options.steps().into_iter().map(|step| step.pass).collect();
    lint_passes(input, kind, &passes)
}

/// The same for any passes, as text, that run on a module.
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

fn run(context: &Context, module: &mut Module<'_>, pass: &str) -> Result<(), String> {
    let manager = PassManager::new(context);
    parse_pass_pipeline(manager.as_operation_pass_manager(), &format!("builtin.module({pass})"))
        .map_err(|e| e.to_string())?;
    manager.run(module).map_err(|e| e.to_string())
}

impl Findings {
    /// Counts operations without a location by their names.
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

/// Whether the operation stands for something in the source: a function with code, or what is inside of one.
fn has_a_line(op: OpRef<'_>) -> bool {
    if is_module(op) || is_constant_like(op) {
        return false;
    }
    let in_module = parent_op(op).is_some_and(is_module);
    let has_code = (0..region_count(op)).any(|i| entry_block(region(op, i)).is_some());
    !in_module || has_code
}
