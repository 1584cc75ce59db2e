//! Rejects modules on which LLVM's NVPTX backend would abort the process. Only text input can contain these
//! constructs; no pass of this compiler generates them.
//!
//! * Unsupported types: scalable vectors, floating-point numbers of 80 and 128 bits, integers of more than 128 bits.
//!   As parameters or results also integers of 65 to 127 bits, vectors of integers of more than 64 bits, and types
//!   without a size.
//! * Variables outside global and constant memory with an initial value, and circular initial values.
//! * Inline PTX that uses an operand that does not exist.
//! * Atomic operations of 128 bits. Targets without tensor memory are named as such; for the others LLVM 21 has no
//!   instruction.
//!
//! `intrinsics.rs` checks intrinsics and `names.rs` checks names. `docs/reliability.md` has the complete list.

use super::CodegenError;
use inkwell::{module::Module, values::AsValueRef};
use llvm_sys::{LLVMTypeKind::*, core::*, prelude::*};
use rustc_hash::{FxHashMap, FxHashSet};
use tile_targets::{Feature, Target};

/// Checks a module.
///
/// Errors: the first unsupported construct.
pub fn check(module: &Module<'_>, target: &Target) -> Result<(), CodegenError> {
    // SAFETY: the module is live and valid, and nothing of it is changed.
    unsafe {
        let mut global = LLVMGetFirstGlobal(module.as_mut_ptr());
        let mut states = FxHashMap::default();
        let mut sound = FxHashSet::default();
        while !global.is_null() {
            variable(global)?;
            acyclic(global, &mut states)?;
            typed(LLVMGlobalGetValueType(global), &mut sound)?;
            global = LLVMGetNextGlobal(global);
        }
        for function in module.get_functions() {
            let result = LLVMGetReturnType(LLVMGlobalGetValueType(function.as_value_ref()));
            let parameters = (0..function.count_params()).map(|i| LLVMTypeOf(LLVMGetParam(function.as_value_ref(), i)));
            let is_intrinsic = LLVMGetIntrinsicID(function.as_value_ref()) != 0;
            for ty in parameters.chain((LLVMGetTypeKind(result) != LLVMVoidTypeKind).then_some(result)) {
                typed(ty, &mut sound)?;
                if !is_intrinsic {
                    passed(ty)?;
                }
            }
        }
        for instruction in super::instructions(module).map(|i| i.as_value_ref()) {
            typed(LLVMTypeOf(instruction), &mut sound)?;
            atomic(instruction, target)?;
            for n in 0..LLVMGetNumOperands(instruction) as u32 {
                let operand = LLVMGetOperand(instruction, n);
                if LLVMIsABasicBlock(operand).is_null() {
                    typed(LLVMTypeOf(operand), &mut sound)?;
                }
                if !LLVMIsAInlineAsm(operand).is_null() {
                    named_operands(operand)?;
                }
            }
        }
    }
    Ok(())
}

fn refuse<T>(text: String) -> Result<T, CodegenError> {
    Err(CodegenError::Unsupported(text))
}

/// Checks the width of an atomic operation.
///
/// # Safety
/// The instruction must be live.
unsafe fn atomic(instruction: LLVMValueRef, target: &Target) -> Result<(), CodegenError> {
    // SAFETY: the caller's promise; an atomic update has a pointer and a value, a comparison two values.
    unsafe {
        let is_atomic =
            !LLVMIsAAtomicRMWInst(instruction).is_null() || !LLVMIsAAtomicCmpXchgInst(instruction).is_null();
        let width = |ty| if LLVMGetTypeKind(ty) == LLVMIntegerTypeKind { LLVMGetIntTypeWidth(ty) } else { 0 };
        if !is_atomic || width(LLVMTypeOf(LLVMGetOperand(instruction, 1))) <= 64 {
            return Ok(());
        }
    }
    if target.has(Feature::Tcgen05) {
        return refuse("LLVM 21 has no instruction for an atomic operation of 128 bits".into());
    }
    refuse(format!("an atomic operation of 128 bits needs a target with tensor memory, which {} lacks", target.name))
}

/// Checks that a type can be the type of a parameter or a result.
///
/// # Safety
/// The type must be of a live context.
unsafe fn passed(ty: LLVMTypeRef) -> Result<(), CodegenError> {
    // SAFETY: the caller's promise; each query is made only on a kind of type that supports it.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMIntegerTypeKind if (65..128).contains(&LLVMGetIntTypeWidth(ty)) => {
                refuse(format!("an integer of {} bits cannot be passed", LLVMGetIntTypeWidth(ty)))
            }
            LLVMVectorTypeKind => match LLVMGetElementType(ty) {
                e if LLVMGetTypeKind(e) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(e) > 64 => {
                    refuse("a vector of integers of more than 64 bits cannot be passed".into())
                }
                _ => Ok(()),
            },
            LLVMArrayTypeKind if LLVMGetArrayLength2(ty) > 0 => passed(LLVMGetElementType(ty)),
            LLVMStructTypeKind if LLVMCountStructElementTypes(ty) > 0 => {
                (0..LLVMCountStructElementTypes(ty)).try_for_each(|i| passed(LLVMStructGetTypeAtIndex(ty, i)))
            }
            LLVMArrayTypeKind | LLVMStructTypeKind => refuse("a value without a size cannot be passed".into()),
            _ => Ok(()),
        }
    }
}

/// # Safety
/// The type must be of a live context.
unsafe fn typed(ty: LLVMTypeRef, sound: &mut FxHashSet<LLVMTypeRef>) -> Result<(), CodegenError> {
    if !sound.insert(ty) {
        return Ok(());
    }
    // SAFETY: the caller's promise; each query is made only on a kind of type that supports it.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMScalableVectorTypeKind => refuse("scalable vectors are not supported".into()),
            LLVMX86_FP80TypeKind | LLVMFP128TypeKind | LLVMPPC_FP128TypeKind | LLVMX86_AMXTypeKind => {
                refuse("floating-point numbers of more than 64 bits are not supported".into())
            }
            LLVMIntegerTypeKind if LLVMGetIntTypeWidth(ty) > 128 => {
                refuse("integers of more than 128 bits are not supported".into())
            }
            LLVMVectorTypeKind | LLVMArrayTypeKind => typed(LLVMGetElementType(ty), sound),
            LLVMStructTypeKind => {
                (0..LLVMCountStructElementTypes(ty)).try_for_each(|i| typed(LLVMStructGetTypeAtIndex(ty, i), sound))
            }
            _ => Ok(()),
        }
    }
}

/// # Safety
/// The value must be live and have a name.
unsafe fn name(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: the caller's promise; the name lives as long as the value.
    let bytes = unsafe { std::slice::from_raw_parts(LLVMGetValueName2(value, &mut length) as *const u8, length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// # Safety
/// The global must be live.
unsafe fn variable(global: LLVMValueRef) -> Result<(), CodegenError> {
    // SAFETY: the caller's promise; the initial value is checked before use.
    unsafe {
        let initial = LLVMGetInitializer(global);
        let space = LLVMGetPointerAddressSpace(LLVMTypeOf(global));
        // Generic, global and constant memory are initialized when the code is loaded.
        if initial.is_null() || [0, 1, 4].contains(&space) || LLVMIsUndef(initial) != 0 {
            return Ok(());
        }
        refuse(format!("the variable '{}' in memory space {space} cannot have an initial value", name(global)))
    }
}

/// Checks that no initial value refers to its own variable.
///
/// # Safety
/// The global must be live.
unsafe fn acyclic(global: LLVMValueRef, states: &mut FxHashMap<LLVMValueRef, bool>) -> Result<(), CodegenError> {
    // The work list: variables with an initial value to visit, or already visited.
    let mut stack = vec![(global, false)];
    while let Some((variable, is_done)) = stack.pop() {
        if is_done {
            states.insert(variable, true);
            continue;
        }
        match states.insert(variable, false) {
            Some(true) => {
                states.insert(variable, true);
                continue;
            }
            // SAFETY: the variable is live.
            Some(false) => {
                return refuse(format!("the initial value of '{}' refers to itself", unsafe { name(variable) }));
            }
            None => {}
        }
        stack.push((variable, true));
        // SAFETY: the caller's promise; constants live as long as the values that contain them.
        unsafe {
            let mut constants = vec![LLVMGetInitializer(variable)];
            let mut seen = FxHashSet::default();
            while let Some(constant) = constants.pop() {
                if constant.is_null() || !seen.insert(constant) {
                    continue;
                }
                if !LLVMIsAGlobalVariable(constant).is_null() {
                    match states.get(&constant) {
                        Some(true) => {}
                        _ => stack.push((constant, false)),
                    }
                } else if LLVMIsAFunction(constant).is_null() && !LLVMIsAUser(constant).is_null() {
                    constants.extend((0..LLVMGetNumOperands(constant) as u32).map(|n| LLVMGetOperand(constant, n)));
                }
            }
        }
    }
    Ok(())
}

/// # Safety
/// The value must be live inline assembly.
unsafe fn named_operands(asm: LLVMValueRef) -> Result<(), CodegenError> {
    let text = |get: unsafe extern "C" fn(LLVMValueRef, *mut usize) -> *const std::ffi::c_char| {
        let mut length = 0;
        // SAFETY: the caller's promise; the text lives as long as the value.
        let bytes = unsafe { std::slice::from_raw_parts(get(asm, &mut length) as *const u8, length) };
        String::from_utf8_lossy(bytes).into_owned()
    };
    let (code, constraints) = (text(LLVMGetInlineAsmAsmString), text(LLVMGetInlineAsmConstraintString));
    let operands = constraints.split(',').filter(|c| !c.is_empty() && !c.starts_with('~')).count();
    match beyond(&code, operands) {
        Some(name) => refuse(format!("inline PTX uses the operand '{name}' but has only {operands}: '{code}'")),
        None => Ok(()),
    }
}

/// Returns the first operand that does not exist, or that LLVM cannot parse. `$$` is a dollar sign, and `$(` and `)`
/// enclose alternatives.
fn beyond(code: &str, operands: usize) -> Option<&str> {
    let mut rest = code;
    while let Some(at) = rest.find('$') {
        let after = &rest[at + 1..];
        let (skipped, number) = match after.as_bytes().first() {
            Some(b'$' | b'(' | b')' | b'|') => (1, None),
            Some(b'{') if after.starts_with("{:") => (1, None),
            Some(b'{') => (1, Some(&after[1..])),
            _ => (0, Some(after)),
        };
        if let Some(number) = number {
            let digits = number.len() - number.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if number[..digits].parse::<usize>().ok().is_none_or(|n| n >= operands) {
                let end = skipped + digits.max(usize::from(!number.is_empty() && number.is_char_boundary(1)));
                return Some(&rest[at..at + 1 + end]);
            }
        }
        rest = &after[skipped..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::beyond;

    #[test]
    fn operands_that_are_not_there() {
        for (code, operands, missing) in [
            ("mov.b32 $0, $1;", 2, None),
            ("mov.b32 $0, ${1:h};", 2, None),
            ("mov.b32 $0, $$0; ${:uid}", 1, None),
            ("mov.b32 $0, $1;", 1, Some("$1")),
            ("foo ${9};", 1, Some("${9")),
            ("foo $x;", 1, Some("$x")),
            ("foo $", 1, Some("$")),
            ("foo $99999999999999999999999;", 1, Some("$99999999999999999999999")),
        ] {
            assert_eq!(beyond(code, operands), missing, "{code}");
        }
    }
}
