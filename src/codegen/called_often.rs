//! Functions that are called very often get external linkage, because LLVM's code generator visits all calls of an
//! internal function at each of its calls.
//!
//! NVPTX chooses the alignment of the parameters of an internal function, unless its address is taken. It searches all
//! uses for that, at each call: a program with 1500 sines spent a third of its time there. The function becomes
//! `linkonce_odr`, which is `.weak` in PTX. Its name gets a digest of the module, so that the linker merges it only
//! with the same function of the same program. This runs before the module is printed, so that the printed text gives
//! the same PTX: it has the new name, and the function is not internal there.
//!
//! ```text
//! define internal float @tl_far_sin_f32(...)             more than MAX_CALLS uses
//!    =
//! define linkonce_odr float @tl_far_sin_f32_5d0f...(...)
//! ```

use inkwell::{
    module::{Linkage, Module},
    values::{BasicValue, FunctionValue},
};
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
    let first = f.as_global_value().as_pointer_value().get_first_use();
    std::iter::successors(first, |u| u.get_next_use()).nth(MAX_CALLS).is_some()
}

#[cfg(test)]
mod tests {
    use super::{MAX_CALLS, expose};
    use inkwell::{context::Context, memory_buffer::MemoryBuffer};

    fn exposed(calls: usize) -> (usize, String) {
        let call = "  call void @f()\n".repeat(calls);
        exposed_in(&format!(
            "define internal void @f() {{\n  ret void\n}}\ndefine void @g() {{\n{call}  ret void\n}}\n"
        ))
    }

    fn exposed_in(text: &str) -> (usize, String) {
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

    /// The printed text gives the same names.
    #[test]
    fn printed_functions_keep_their_names() {
        let (_, text) = exposed(MAX_CALLS + 1);
        assert_eq!(exposed_in(&text).0, 0);
    }

    /// The linker merges functions by their names.
    #[test]
    fn names_depend_on_the_module() {
        let name = |calls| exposed(calls).1.split_once("linkonce_odr dso_local void @").unwrap().1[..20].to_string();
        assert_eq!(name(300), name(300));
        assert_ne!(name(300), name(400));
    }
}
