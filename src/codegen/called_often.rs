//! Functions that are called very often get external linkage, because LLVM's code generator visits all calls of an
//! internal function at each of its calls.
//!
//! NVPTX chooses the alignment of the parameters of an internal function, unless its address is taken. It searches all
//! uses for that, at each call: a program with 1500 sines spent a third of its time there. The function becomes
//! `linkonce_odr`, which is `.weak` in PTX. Its name gets a digest of the module, so that the linker merges it only
//! with the same function of the same program.
//!
//! ```text
//! define internal float @tl_far_sin_f32(...)             more than MAX_CALLS uses
//!    =
//! define linkonce_odr float @tl_far_sin_f32_5d0f...(...)
//! ```

use inkwell::{
    module::{Linkage, Module},
    values::{AsValueRef, FunctionValue},
};
use llvm_sys::core::{LLVMGetFirstUse, LLVMGetNextUse};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most uses of a function that stays internal.
const MAX_CALLS: usize = 256;

/// Gives functions that are called too often external linkage. Returns their number.
pub fn expose(module: &Module<'_>) -> usize {
    let often: Vec<_> = module.get_functions().filter(|f| is_local(*f) && has_many_uses(*f)).collect();
    if !often.is_empty() {
        let mut digest = DefaultHasher::new();
        module.print_to_string().to_bytes().hash(&mut digest);
        let digest = digest.finish();
        for f in &often {
            f.as_global_value().set_name(&format!("{}_{digest:016x}", f.get_name().to_string_lossy()));
            f.set_linkage(Linkage::LinkOnceODR);
        }
    }
    often.len()
}

fn is_local(f: FunctionValue<'_>) -> bool {
    f.count_basic_blocks() > 0 && matches!(f.get_linkage(), Linkage::Internal | Linkage::Private)
}

fn has_many_uses(f: FunctionValue<'_>) -> bool {
    // SAFETY: the function is live, and its uses do not change meanwhile.
    let uses = std::iter::successors(Some(unsafe { LLVMGetFirstUse(f.as_value_ref()) }), |u| {
        if u.is_null() { None } else { Some(unsafe { LLVMGetNextUse(*u) }) }
    });
    uses.take_while(|u| !u.is_null()).take(MAX_CALLS + 1).count() > MAX_CALLS
}

#[cfg(test)]
mod tests {
    use super::{MAX_CALLS, expose};
    use inkwell::{context::Context, memory_buffer::MemoryBuffer};

    fn exposed(calls: usize) -> (usize, String) {
        let call = "  call void @f()\n".repeat(calls);
        let text = format!("define internal void @f() {{\n  ret void\n}}\ndefine void @g() {{\n{call}  ret void\n}}\n");
        let llvm = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "test");
        let module = llvm.create_module_from_ir(buffer).unwrap();
        (expose(&module), module.print_to_string().to_string())
    }

    #[test]
    fn functions_called_often_are_external() {
        let (count, text) = exposed(MAX_CALLS);
        assert!(count == 0 && text.contains("define internal void @f()"), "{text}");
        let (count, text) = exposed(MAX_CALLS + 1);
        assert!(count == 1 && text.contains("define linkonce_odr dso_local void @f_"), "{text}");
    }

    /// The linker merges functions by their names.
    #[test]
    fn names_depend_on_the_module() {
        let name = |calls| exposed(calls).1.split_once("linkonce_odr dso_local void @").unwrap().1[..20].to_string();
        assert_eq!(name(300), name(300));
        assert_ne!(name(300), name(400));
    }
}
