//! The dialects in Rust: registration, typed views of ops, types and attributes, builders, passes.
//!
//! The build script generates views and builders from TableGen; they are based on [`rt`]. Handles only carry the
//! context's lifetime: as in C++, an erased op must not be used again.

pub mod arith;
pub mod attributes;
pub mod behaviour;
pub mod debug_scope;
mod dot_check;
pub mod dot_plan;
pub mod dots;
pub mod elements;
pub mod fallback;
pub mod fragments;
pub mod gpu_module;
pub mod hints;
pub mod inlined;
pub mod layouts;
pub mod llvm_builder;
pub mod llvm_types;
pub mod location;
pub mod loops;
pub mod pass;
pub mod phases;
pub mod register_forms;
pub mod remark;
pub mod rt;
pub mod shared_memory;
pub mod target;
pub mod thread_scope;
pub mod types;
#[allow(clippy::all)]
pub mod upstream;

use melior::{Context, dialect::DialectRegistry};

/// The C API of the dialects and of the shim.
#[allow(non_upper_case_globals, non_camel_case_types, non_snake_case, clippy::all, unsafe_op_in_unsafe_fn)]
pub mod ffi {
    include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
}

macro_rules! generated {
    ($($(#[$doc:meta])* $name:ident $(uses $import:path)*),*) => {$(
        $(#[$doc])*
        #[allow(clippy::all, unused_imports, unused_variables, unused_mut)]
        pub mod $name {
            use super::{ffi, rt::*};
            $(use $import;)*
            use melior::{Context, ir::{Attribute, AttributeLike, Location, Region, Type, TypeLike}};
            use rustc_hash::FxHashMap;
            use std::sync::OnceLock;
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
    )*};
}

generated! {
    /// The public language.
    cuda_tile,
    /// Alias-aware tiles.
    nv_tileaa uses super::behaviour::Behaviour,
    /// Assembler-near tiles.
    nv_tileas uses super::behaviour::Behaviour uses super::nv_tileaa::AtomicKind uses super::nv_tileaa::Cost
        uses super::nv_tileaa::LayoutRelation uses super::nv_tileaa::Movement uses super::nv_tileaa::Ordering
        uses super::nv_tileaa::Scope uses super::nv_tileaa::SyncKind uses super::nv_tileaa::SyncScope
}

impl cuda_tile::AnyOp<'_> {
    /// Whether the op is a function: a kernel, or a test function.
    pub fn is_function(op: rt::OpRef<'_>) -> bool {
        matches!(cuda_tile::AnyOp::cast(op), Some(cuda_tile::AnyOp::EntryOp(_) | cuda_tile::AnyOp::TestingFuncOp(_)))
    }
}

/// Returns a registry of every dialect that the compiler reads or writes, with the translations to LLVM IR.
pub fn registry() -> DialectRegistry {
    let registry = DialectRegistry::new();
    // SAFETY: the registry is alive, and handles are static.
    unsafe {
        ffi::mlirxDialectRegistryInsertUpstream(registry.to_raw());
        insert_own(registry.to_raw());
    }
    registry
}

/// Adds this compiler's dialects, with the checks that are written in Rust.
///
/// # Safety
/// `registry` is alive.
pub(crate) unsafe fn insert_own(registry: mlir_sys::MlirDialectRegistry) {
    // SAFETY: the registry is alive by the caller's promise, handles are static, and the check is a function.
    unsafe {
        for handle in [
            ffi::mlirGetDialectHandle__cuda_tile__(),
            ffi::mlirGetDialectHandle__nv_tileaa__(),
            ffi::mlirGetDialectHandle__nv_tileas__(),
        ] {
            mlir_sys::mlirDialectHandleInsertDialect(handle, registry);
        }
        ffi::tileirNvTileASSetDotCheck(registry, Some(dot_check::check));
    }
}

/// Returns the C handle of a dialect by namespace, or `None` if the C API does not export it.
pub(crate) fn handle(name: &str) -> Option<mlir_sys::MlirDialectHandle> {
    // SAFETY: handles are static.
    unsafe {
        Some(match name {
            "arith" => mlir_sys::mlirGetDialectHandle__arith__(),
            "gpu" => mlir_sys::mlirGetDialectHandle__gpu__(),
            "llvm" => mlir_sys::mlirGetDialectHandle__llvm__(),
            "math" => mlir_sys::mlirGetDialectHandle__math__(),
            "nvvm" => mlir_sys::mlirGetDialectHandle__nvvm__(),
            "scf" => mlir_sys::mlirGetDialectHandle__scf__(),
            "cuda_tile" => ffi::mlirGetDialectHandle__cuda_tile__(),
            "nv_tileaa" => ffi::mlirGetDialectHandle__nv_tileaa__(),
            "nv_tileas" => ffi::mlirGetDialectHandle__nv_tileas__(),
            _ => return None,
        })
    }
}

/// Creates a single-threaded context with every dialect of [`registry`] loaded. One kernel leaves nothing to do for
/// other threads, and printing between passes requires a single thread.
pub fn context() -> Context {
    let context = Context::new();
    context.enable_multi_threading(false);
    context.append_dialect_registry(&registry());
    context.load_all_available_dialects();
    context
}
