//! `tileir-insert-debug-scope`: every kernel has a scope of debug information, and every op in it a place in a file.
//!
//! Afterwards messages, remarks and line tables can rely on both. The scope is made of what the public language says of the
//! kernel, else of its symbol and the place of its head. Scopes of the public language stay on the ops; they end where the program
//! of one thread begins. Kernels that have a scope keep it, so the pass may stand behind every pass that gives new places, such as
//! a snapshot.

use crate::{
    dialect::{
        debug_scope::{self, Emission},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::Context;

#[derive(Clone, Default)]
pub struct InsertDebugScope;

impl RustPass for InsertDebugScope {
    pass_descriptor!(tileir_insert_debug_scope);

    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileir_insert_debug_scope::{Options, stat};
        let emission = emission(op, Options(cx).emission_kind())?;
        let (scoped, placed) = insert(op, context, emission, |o| {
            matches!(op_name(o), "nv_tileaa.func" | "llvm.func") && inside_gpu_module(o)
        })?;
        cx.stat_add(stat::NUM_SCOPES, scoped as i64);
        cx.stat_add(stat::NUM_PLACES, placed as i64);
        Ok(())
    }
}

/// The functions of host code have no source.
fn inside_gpu_module(op: OpRef<'_>) -> bool {
    parent_op(op).is_some_and(|p| op_name(p) == "gpu.module")
}

pub(super) fn emission(op: OpRef<'_>, name: &str) -> Result<Emission, Failed> {
    Emission::by_name(name).ok_or_else(|| {
        let valid: Vec<&str> = Emission::ALL.map(Emission::name).into();
        fail(op, format!("unknown emission-kind '{name}'; the kinds are {}", valid.join(", ")))
    })
}

/// Scopes for the defined functions that lack one and places for the ops inside; how many of each were given.
pub(super) fn insert<'c>(
    op: OpRef<'c>,
    context: &'c Context,
    emission: Emission,
    is_function: impl Fn(OpRef<'c>) -> bool,
) -> Result<(usize, usize), Failed> {
    let mut functions = vec![];
    walk(op, &mut |o| {
        if is_function(o) && entry_block(region(o, 0)).is_some() {
            functions.push(o);
        }
    });
    let placed = functions.iter().map(|f| debug_scope::place_all(context, *f)).sum();
    functions.retain(|f| !debug_scope::has_scope(*f));
    debug_scope::give(context, &functions, op, emission)
        .ok_or_else(|| fail(op, "its location cannot be expressed as debug information"))?;
    Ok((functions.len(), placed))
}
