//! Symbol names that PTX can spell.
//!
//! A PTX identifier is a letter followed by letters, digits, `_` and `$`, or `_` or `$` followed by at least one of
//! those. MLIR and LLVM accept any bytes. LLVM's printer aborts the process on most names that PTX cannot spell, and
//! drops a leading byte 1.
//!
//! Callers find an entry by its name, so an entry name that PTX cannot spell is an error. Other symbols are not
//! looked up by name, so they are renamed.

use super::CodegenError;
use crate::dialect::{
    attributes::{GPU_KERNEL, NVVM_KERNEL},
    gpu_module::functions,
    location,
    rt::*,
};
use inkwell::{module::Module, values::AsValueRef};
use llvm_sys::{LLVMLinkage, core::*, prelude::LLVMValueRef};
use tile_diag::{Diagnostic, Location, Severity};

/// Whether a name is a PTX identifier. Identifiers that begin with `%` are excluded, because LLVM does not print
/// them.
fn is_spellable(name: &[u8]) -> bool {
    let follows = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
    match name {
        // A predefined constant.
        b"WARP_SZ" => false,
        [b'_' | b'$', rest @ ..] => !rest.is_empty() && rest.iter().all(follows),
        [first, rest @ ..] => first.is_ascii_alphabetic() && rest.iter().all(follows),
        [] => false,
    }
}

/// Returns the names of the kernels with a body, in order.
///
/// Errors: the first name that PTX cannot spell.
pub fn kernels(gpu_module: OpRef<'_>) -> Result<Vec<String>, Box<Diagnostic>> {
    let kernels = functions(gpu_module).into_iter().filter(|f| NVVM_KERNEL.is_on(*f) || GPU_KERNEL.is_on(*f));
    let mut names = vec![];
    for kernel in kernels.filter(|f| entry_block(region(*f, 0)).is_some()) {
        let name = attr(kernel, "sym_name").map_or("", |name| string_attr(name));
        if !is_spellable(name.as_bytes()) {
            let text = format!("PTX cannot spell the name of the entry {name:?}");
            let mut diagnostic = Diagnostic::new(Severity::Error, text).note(
                "a name consists of ASCII letters, digits, '_' and '$', does not begin with a digit, and is not '_', '$' \
                 or 'WARP_SZ'",
            );
            diagnostic.location =
                location::file_line(kernel.location()).map(|p| Location::new(p.file, p.line, p.column));
            return Err(Box::new(diagnostic));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// Like [`kernels`], for a module of LLVM IR.
pub fn kernels_in(module: &Module<'_>) -> Result<Vec<String>, CodegenError> {
    /// LLVM's number for the calling convention `ptx_kernel`.
    const PTX_KERNEL: u32 = 71;
    let kernels =
        module.get_functions().filter(|f| f.get_call_conventions() == PTX_KERNEL && f.count_basic_blocks() > 0);
    kernels
        .map(|f| {
            // SAFETY: the function is live.
            let name = unsafe { name_of(f.as_value_ref()) };
            let text = String::from_utf8_lossy(&name).into_owned();
            if is_spellable(&name) { Ok(text) } else { Err(CodegenError::Name(text)) }
        })
        .collect()
}

/// Renames symbols other than kernels that PTX cannot spell. [`kernels`] has checked the kernels.
pub fn respell(module: &Module<'_>) {
    respell_unless(module, |_, _| false);
}

/// Like [`respell`], for a module that was optimized and printed. The optimizer puts dots into the names of parts of
/// variables. These are local to the module, and LLVM's code generator respells them itself.
pub fn respell_printed(module: &Module<'_>) {
    respell_unless(module, |value, name| {
        // SAFETY: the value is live.
        let linkage = unsafe { LLVMGetLinkage(value) };
        let is_local = matches!(linkage, LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage);
        is_local && is_spellable(&name.iter().map(|b| if *b == b'.' { b'_' } else { *b }).collect::<Vec<u8>>())
    });
}

fn respell_unless(module: &Module<'_>, stays: impl Fn(LLVMValueRef, &[u8]) -> bool) {
    for value in symbols(module) {
        // SAFETY: the value is live; the name is copied before it changes. LLVM makes it one that no other symbol has.
        unsafe {
            let name = name_of(value);
            let is_llvms = name.starts_with(b"llvm.")
                && (!LLVMIsAFunction(value).is_null() || LLVMGetLinkage(value) == LLVMLinkage::LLVMAppendingLinkage);
            if is_llvms || is_spellable(&name) || stays(value, &name) {
                continue;
            }
            let mut new = String::from("_$");
            for byte in &name {
                match byte {
                    b if b.is_ascii_alphanumeric() || *b == b'_' => new.push(char::from(*b)),
                    b => new.push_str(&format!("_${b:02x}")),
                }
            }
            // LLVM would make equal names unique with a dot and a number.
            let mut unique = new.clone();
            let mut number = 0;
            while is_taken(module, &unique) {
                number += 1;
                unique = format!("{new}_${number}");
            }
            LLVMSetValueName2(value, unique.as_ptr().cast(), unique.len());
        }
    }
}

fn is_taken(module: &Module<'_>, name: &str) -> bool {
    module.get_function(name).is_some() || module.get_global(name).is_some()
}

/// Functions, globals and aliases.
fn symbols(module: &Module<'_>) -> Vec<LLVMValueRef> {
    let mut all: Vec<LLVMValueRef> = module.get_functions().map(|f| f.as_value_ref()).collect();
    all.extend(module.get_globals().map(|g| g.as_value_ref()));
    // SAFETY: the module is alive; a list ends with null.
    unsafe {
        let mut alias = LLVMGetFirstGlobalAlias(module.as_mut_ptr());
        while !alias.is_null() {
            all.push(alias);
            alias = LLVMGetNextGlobalAlias(alias);
        }
    }
    all
}

/// A copy of the name, which may have any bytes.
///
/// # Safety
/// `value` must be live.
unsafe fn name_of(value: LLVMValueRef) -> Vec<u8> {
    let mut length = 0;
    // SAFETY: the caller's promise; the name lives until it is changed.
    unsafe {
        let name = LLVMGetValueName2(value, &mut length);
        std::slice::from_raw_parts(name.cast::<u8>(), length).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::{context::Context, memory_buffer::MemoryBuffer};

    #[test]
    fn identifiers() {
        for name in ["k", "K9_$", "__", "$a", "_1", "mov", "entry"] {
            assert!(is_spellable(name.as_bytes()), "{name}");
        }
        for name in ["", "_", "$", "1a", "a.b", "a b", "a-b", "ü", "%a", "a\0", "\u{1}a", "a@b", "WARP_SZ"] {
            assert!(!is_spellable(name.as_bytes()), "{name:?}");
        }
    }

    /// Symbols other than kernels get unique new names, and intrinsics keep theirs.
    #[test]
    fn others_are_respelt() {
        let text = "@\"a b\" = addrspace(1) global i32 1\n@\"_$a_$20b\" = addrspace(1) global i32 2\n\
                    @\"\\01x\" = addrspace(1) global i32 3\n@0 = addrspace(1) global i32 4\n\
                    declare void @llvm.assume(i1)\ndefine void @\"f g\"() { call void @llvm.assume(i1 true) ret void }\n\0";
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let context = Context::create();
        let module = context.create_module_from_ir(buffer).unwrap();
        respell(&module);
        // SAFETY: the symbols are live.
        let names: Vec<Vec<u8>> = symbols(&module).into_iter().map(|s| unsafe { name_of(s) }).collect();
        let names: Vec<&str> = names.iter().map(|n| std::str::from_utf8(n).unwrap()).collect();
        let expected = ["llvm.assume", "_$f_$20g", "_$a_$20b_$1", "_$a_$20b", "_$_$01x", "_$"];
        assert_eq!(names, expected);
    }
}
