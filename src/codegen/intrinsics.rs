//! Refuses calls of intrinsics that LLVM's generator for NVPTX would end the process over.
//!
//! Text input may name any intrinsic of LLVM. [`tile_targets::intrinsic`] knows which have code for the target; looked at here is
//! which are called, and the few whose operands decide.

use super::CodegenError;
use inkwell::{
    module::Module,
    values::{AsValueRef, FunctionValue},
};
use llvm_sys::core::*;
use tile_targets::{Target, intrinsic::missing_for};

/// The first call, in the order of the module's declarations, that has no code.
pub fn check(module: &Module<'_>, target: &Target) -> Result<(), CodegenError> {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() == 0) {
        let name = function.get_name().to_string_lossy();
        // SAFETY: the function is live.
        let is_called = unsafe { !LLVMGetFirstUse(function.as_value_ref()).is_null() };
        if !name.starts_with("llvm.") || !is_called {
            continue;
        }
        if function.get_intrinsic_id() == 0 {
            return Err(CodegenError::Intrinsic(format!("there is no intrinsic '{name}'")));
        }
        match missing_for(&name, target).or_else(|| bad_operand(&name, function)) {
            Some(why) => return Err(CodegenError::Intrinsic(why)),
            None => continue,
        }
    }
    Ok(())
}

/// Sizes that the instruction has no other form for.
fn bad_operand(name: &str, function: FunctionValue<'_>) -> Option<String> {
    /// A line of the L2 cache.
    const LINE: u64 = 128;
    if !name.starts_with("llvm.nvvm.discard.") && !name.starts_with("llvm.nvvm.applypriority.") {
        return None;
    }
    // SAFETY: the uses of a live function are live; only calls are asked for operands, and the size is a constant: the verifier
    // insists.
    unsafe {
        let mut usage = LLVMGetFirstUse(function.as_value_ref());
        while !usage.is_null() {
            let call = LLVMGetUser(usage);
            if !LLVMIsACallInst(call).is_null() {
                let size = LLVMIsAConstantInt(LLVMGetOperand(call, 1));
                if size.is_null() || LLVMConstIntGetZExtValue(size) != LINE {
                    return Some(format!("'{name}' takes a size of {LINE} bytes and no other"));
                }
            }
            usage = LLVMGetNextUse(usage);
        }
    }
    None
}
