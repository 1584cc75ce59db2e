//! Comparisons of bytes that LLVM's code generator for NVPTX gets wrong.
//!
//! Up to version 21, a signed comparison of two bytes that were both taken out of a word is selected as a comparison of the bytes
//! extended with zeros: 0x80 is then greater than 0x7f. Comparisons of 32-bit integers are right, and cost the same: the
//! instruction that takes a byte out extends its sign as well.

use inkwell::module::Module;
use llvm_sys::{LLVMIntPredicate::*, LLVMOpcode, LLVMTypeKind, core::*, prelude::*};

/// Has every signed comparison of bytes compare 32-bit integers. To be done after optimisation, which would undo it.
pub fn widen_signed_comparisons(module: &Module<'_>) {
    // SAFETY: walks live IR of the module; the next instruction is taken before one is erased, and what is built lies before it.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        let mut f = LLVMGetFirstFunction(module.as_mut_ptr());
        while !f.is_null() {
            let mut b = LLVMGetFirstBasicBlock(f);
            while !b.is_null() {
                let mut i = LLVMGetFirstInstruction(b);
                while !i.is_null() {
                    let next = LLVMGetNextInstruction(i);
                    if let Some(wide) = wide_type(context, i) {
                        widen(builder, i, wide);
                    }
                    i = next;
                }
                b = LLVMGetNextBasicBlock(b);
            }
            f = LLVMGetNextFunction(f);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// What the operands of `i` are to be extended to; nothing if it is not a signed comparison of bytes.
///
/// # Safety
/// `i` must be a live instruction of the context.
unsafe fn wide_type(context: LLVMContextRef, i: LLVMValueRef) -> Option<LLVMTypeRef> {
    // SAFETY: the caller's promise; the predicate is asked of a comparison only, lengths of vectors only.
    unsafe {
        let signed = LLVMGetInstructionOpcode(i) == LLVMOpcode::LLVMICmp
            && matches!(LLVMGetICmpPredicate(i), LLVMIntSGT | LLVMIntSGE | LLVMIntSLT | LLVMIntSLE);
        if !signed {
            return None;
        }
        let narrow = LLVMTypeOf(LLVMGetOperand(i, 0));
        let is_byte = |t| LLVMGetTypeKind(t) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == u8::BITS;
        let word = LLVMInt32TypeInContext(context);
        match LLVMGetTypeKind(narrow) {
            LLVMTypeKind::LLVMVectorTypeKind if is_byte(LLVMGetElementType(narrow)) => {
                Some(LLVMVectorType(word, LLVMGetVectorSize(narrow)))
            }
            _ if is_byte(narrow) => Some(word),
            _ => None,
        }
    }
}

/// # Safety
/// `comparison` must be a live comparison of integers, and `wide` a wider type of the same shape.
unsafe fn widen(builder: LLVMBuilderRef, comparison: LLVMValueRef, wide: LLVMTypeRef) {
    // SAFETY: the caller's promise; the comparison is erased when nothing uses it any more.
    unsafe {
        LLVMPositionBuilderBefore(builder, comparison);
        let [a, b] = [0, 1].map(|n| LLVMBuildSExt(builder, LLVMGetOperand(comparison, n), wide, c"".as_ptr()));
        let new = LLVMBuildICmp(builder, LLVMGetICmpPredicate(comparison), a, b, c"".as_ptr());
        LLVMReplaceAllUsesWith(comparison, new);
        LLVMInstructionEraseFromParent(comparison);
    }
}
