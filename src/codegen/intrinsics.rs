//! Rejects calls of intrinsics on which LLVM's NVPTX backend would abort the process.
//!
//! Text input may name any LLVM intrinsic. [`tile_targets::intrinsic`] knows which ones the target supports. This
//! module finds the called intrinsics, and checks the few that depend on their operands.

use super::CodegenError;
use inkwell::{
    module::Module,
    values::{AsValueRef, FunctionValue},
};
use llvm_sys::core::*;
use tile_targets::{Target, intrinsic::missing_for};

/// Checks the declared intrinsics that are called.
///
/// Errors: the first one, in the order of declarations, that the target does not support.
pub fn check(module: &Module<'_>, target: &Target) -> Result<(), CodegenError> {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() == 0) {
        let name = function.get_name().to_string_lossy();
        // SAFETY: the function is live.
        let is_called = unsafe { !LLVMGetFirstUse(function.as_value_ref()).is_null() };
        if !name.starts_with("llvm.") || !is_called {
            continue;
        }
        let gate = tile_targets::intrinsic::gate(&name, target);
        if function.get_intrinsic_id() == 0 {
            return Err(CodegenError::Intrinsic(gate.unwrap_or_else(|| format!("unknown intrinsic '{name}'"))));
        }
        match missing_for(&name, target).or_else(|| bad_operand(&name, function)) {
            Some(why) => return Err(CodegenError::Intrinsic(why)),
            None => continue,
        }
    }
    Ok(())
}

/// Checks immediate operands that the instruction cannot encode. LLVM would print the lower half of an offset that is
/// too wide.
fn bad_operand(name: &str, function: FunctionValue<'_>) -> Option<String> {
    /// The bytes of a line of the L2 cache.
    const LINE: i64 = 128;
    let cached = ["llvm.nvvm.discard.", "llvm.nvvm.applypriority."].iter().any(|p| name.starts_with(p));
    let split =
        ["llvm.nvvm.tcgen05.ld.16x32bx2.", "llvm.nvvm.tcgen05.st.16x32bx2."].iter().any(|p| name.starts_with(p));
    let (is_valid, what): (fn(i64) -> bool, _) = match (cached, split) {
        (true, _) => (|size| size == LINE, "a size of 128 bytes"),
        (_, true) => (|offset| i32::try_from(offset).is_ok(), "an offset of 32 bits"),
        _ => return None,
    };
    // SAFETY: the uses of a live function are live; operands are read from calls only, and each has at least two.
    unsafe {
        let mut usage = LLVMGetFirstUse(function.as_value_ref());
        while !usage.is_null() {
            let call = LLVMGetUser(usage);
            if !LLVMIsACallInst(call).is_null() {
                let value = LLVMIsAConstantInt(LLVMGetOperand(call, 1));
                if value.is_null() || !is_valid(LLVMConstIntGetSExtValue(value)) {
                    return Some(format!("'{name}' requires {what}"));
                }
            }
            usage = LLVMGetNextUse(usage);
        }
    }
    None
}
