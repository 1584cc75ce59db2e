//! Names of symbols, in the spelling of PTX.
//!
//! A PTX identifier is a letter with letters, digits, `_` and `$` behind it, or one of `_` and `$` with at least one of
//! those behind it. MLIR and LLVM take any bytes, and LLVM's printer ends the process over most that PTX has no
//! spelling for; it also drops a leading byte 1.
//!
//! Callers find an entry by its name, so a name that PTX cannot spell is an error. Nobody finds anything else by its
//! name, and it gets one that can be spelt.

use super::CodegenError;
use crate::dialect::{gpu_module::functions, location, rt::*};
use inkwell::{module::Module, values::AsValueRef};
use llvm_sys::{LLVMLinkage, core::*, prelude::LLVMValueRef};
use tile_diag::{Diagnostic, Location, Severity};

/// Whether PTX has an identifier of this spelling. Those that begin with `%` are left out: LLVM does not print them.
fn is_spellable(name: &[u8]) -> bool {
    let follows = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
    match name {
        // A constant of the language.
        b"WARP_SZ" => false,
        [b'_' | b'$', rest @ ..] => !rest.is_empty() && rest.iter().all(follows),
        [first, rest @ ..] => first.is_ascii_alphabetic() && rest.iter().all(follows),
        [] => false,
    }
}

/// The names of the kernels that have a body, in their order, or what is wrong with one of them.
pub fn kernels(gpu_module: OpRef<'_>) -> Result<Vec<String>, Box<Diagnostic>> {
    let kernels =
        functions(gpu_module).into_iter().filter(|f| ["nvvm.kernel", "gpu.kernel"].iter().any(|k| is_marked(*f, k)));
    let mut names = vec![];
    for kernel in kernels.filter(|f| entry_block(region(*f, 0)).is_some()) {
        let name = attr(kernel, "sym_name").map_or("", |name| string_attr(name));
        if !is_spellable(name.as_bytes()) {
            let text = format!("PTX cannot spell the name of the entry {name:?}");
            let mut diagnostic = Diagnostic::new(Severity::Error, text).note(
                "a name has letters, digits, '_' and '$' of ASCII, does not begin with a digit and is not '_', '$' or \
                 'WARP_SZ'",
            );
            diagnostic.location =
                location::file_line(kernel.location()).map(|p| Location::new(p.file, p.line, p.column));
            return Err(Box::new(diagnostic));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// [`kernels`] of a module of LLVM IR.
pub fn kernels_in(module: &Module<'_>) -> Result<Vec<String>, CodegenError> {
    /// LLVM's number of the calling convention `ptx_kernel`.
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

fn is_marked(function: OpRef<'_>, mark: &str) -> bool {
    discardable_attr(function, mark).is_some()
}

/// Gives what is no kernel a name that can be spelt, if its own cannot. `kernels` have been looked at.
pub fn respell(module: &Module<'_>) {
    respell_unless(module, |_, _| false);
}

/// [`respell`] for a module that was optimised and printed: the optimiser puts dots into names of parts of variables,
/// which are local to the module, and the generator itself writes those anew.
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
            // LLVM would tell equal names apart by a dot and a number.
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

/// A copy of the name, which may be of any bytes.
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

    /// What is no kernel gets another name, which nobody else has, and intrinsics keep theirs.
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
