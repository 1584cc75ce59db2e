//! Ops of the upstream dialects that passes inspect.
//!
//! The build script generates enums of the ops of `arith`, `math`, `scf` and `ub`. Only a few ops of `builtin`, `gpu`
//! and `llvm` matter, and no interface distinguishes them: this is the only file that compares their names.

use super::{ffi, rt::*};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/upstream.rs"));

/// Returns the namespace of the op's dialect.
pub fn dialect_of<'c>(op: OpRef<'c>) -> &'c str {
    op_name(op).split('.').next().unwrap_or_default()
}

/// Whether the op is a module of a dialect that the compiler reads.
pub fn is_module(op: OpRef<'_>) -> bool {
    matches!(op_name(op), "builtin.module" | "cuda_tile.module" | "gpu.module")
}

pub fn is_gpu_module(op: OpRef<'_>) -> bool {
    op_name(op) == "gpu.module"
}

pub fn is_llvm_func(op: OpRef<'_>) -> bool {
    op_name(op) == "llvm.func"
}

pub fn is_llvm_global(op: OpRef<'_>) -> bool {
    op_name(op) == "llvm.mlir.global"
}

/// Whether the op is an integer or float constant of the LLVM dialect.
pub fn is_llvm_constant(op: OpRef<'_>) -> bool {
    op_name(op) == "llvm.mlir.constant"
}

/// Whether the op computes nothing: constants, undefined values, addresses of globals.
pub fn is_constant_like(op: OpRef<'_>) -> bool {
    Arith::of(op) == Some(Arith::Constant)
        || Ub::of(op) == Some(Ub::Poison)
        || matches!(
            op_name(op),
            "llvm.mlir.constant" | "llvm.mlir.zero" | "llvm.mlir.poison" | "llvm.mlir.undef" | "llvm.mlir.addressof"
        )
}

/// The ops of the LLVM dialect that passes inspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Llvm {
    Load,
    Call,
    CallIntrinsic,
    InlineAsm,
    Fma,
    /// A constant, or the address of a global.
    Constant,
    /// A read of a special register.
    SpecialRegister,
}

impl Llvm {
    /// Returns `None` for any other op.
    pub fn of(op: OpRef<'_>) -> Option<Self> {
        Some(match op_name(op) {
            "llvm.load" => Self::Load,
            "llvm.call" => Self::Call,
            "llvm.call_intrinsic" => Self::CallIntrinsic,
            "llvm.inline_asm" => Self::InlineAsm,
            "llvm.intr.fma" => Self::Fma,
            "llvm.mlir.constant" | "llvm.mlir.addressof" => Self::Constant,
            name if name.starts_with("nvvm.read.ptx.sreg") => Self::SpecialRegister,
            _ => return None,
        })
    }
}
