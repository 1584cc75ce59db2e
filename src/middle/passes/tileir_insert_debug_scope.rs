//! `tileir-insert-debug-scope` gives each kernel a debug scope and each op in it a file location.
//!
//! Messages, remarks and line tables rely on both afterward. The scope comes from the scope in the public language
//! if there is one; otherwise it is built from the kernel's symbol and location. If line information is requested,
//! the scopes and call sites of the public language become LLVM scopes on every op ([`debug_scope`]). Otherwise they
//! are kept until the program is lowered to a single thread. Kernels that have a scope keep it, so the pass can run
//! after any pass that assigns new locations, such as a snapshot.

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

/// Excludes host functions, which have no source.
fn inside_gpu_module(op: OpRef<'_>) -> bool {
    parent_op(op).is_some_and(is_gpu_module)
}
