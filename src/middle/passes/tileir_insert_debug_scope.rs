//! `tileir-insert-debug-scope`: every kernel has a scope of debug information, and every op in it a place in a file.
//!
//! Afterwards messages, remarks and line tables can rely on both. The scope is made of what the public language says of
//! the kernel, else of its symbol and the place of its head. Where lines are to be written, scopes and call sites of
//! the public language become LLVM's on every op ([`debug_scope`]); else they stay until the program of one thread
//! begins. Kernels that have a scope keep it, so the pass may stand behind every pass that gives new places, such as a
//! snapshot.

use crate::{
    dialect::{
        debug_scope,
        nv_tileaa::FuncOp,
        pass::{Failed, PassContext, RustPass, descriptors},
        rt::*,
        upstream::{is_gpu_module, is_llvm_func},
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
        let emission = debug_scope::emission(op, Options(cx).emission_kind())?;
        let described = debug_scope::insert(op, context, emission, |o| {
            (FuncOp::cast(o).is_some() || is_llvm_func(o)) && inside_gpu_module(o)
        });
        cx.stat_add(stat::NUM_SCOPES, described.scoped as i64);
        cx.stat_add(stat::NUM_PLACES, described.placed as i64);
        Ok(())
    }
}

/// The functions of host code have no source.
fn inside_gpu_module(op: OpRef<'_>) -> bool {
    parent_op(op).is_some_and(is_gpu_module)
}
