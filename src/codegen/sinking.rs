//! Sinks instructions that only one branch needs into that branch, but not further down the same path.
//!
//! `dialects-td/lib/mlirx/Sink.cpp` explains why LLVM's own sinking passes are disabled ([`super::initialise`]).

use crate::dialect::ffi;
use inkwell::module::Module;

/// Sinks instructions of all functions. Returns their number.
pub(super) fn into_branches(module: &Module<'_>) -> u32 {
    // SAFETY: the module is alive, and nothing walks over its instructions meanwhile.
    unsafe { ffi::mlirxLLVMModuleSinkIntoBranches(module.as_mut_ptr().cast()) }
}

#[cfg(test)]
mod tests {
    use super::into_branches;
    use inkwell::{context::Context, memory_buffer::MemoryBuffer};

    /// The number of instructions that move, and the blocks of the named instructions.
    fn sunk(body: &str) -> (u32, Vec<(String, String)>) {
        let text = format!(
            "declare void @f()\ndeclare float @g(float)\n\
             define void @k(i1 %p, i1 %q, float %x, ptr %u, ptr noalias %v) {{\n{body}\n}}\n\0"
        );
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let context = Context::create();
        let module = context.create_module_from_ir(buffer).unwrap();
        let count = into_branches(&module);
        module.verify().unwrap();
        let function = module.get_function("k").unwrap();
        let mut places = vec![];
        for block in function.get_basic_block_iter() {
            for name in block.get_instructions().filter_map(|i| Some(i.get_name()?.to_string_lossy().into_owned())) {
                places.push((name, block.get_name().to_string_lossy().into_owned()));
            }
        }
        (count, places.into_iter().filter(|(name, _)| !name.is_empty()).collect())
    }

    /// A branch around `rare`, with code before it, in it and after it.
    fn around(before: &str, rare: &str, after: &str) -> String {
        format!(
            "a:\n{before}\n  br i1 %p, label %rare, label %join\nrare:\n{rare}\n  br label %join\njoin:\n{after}\n  ret void"
        )
    }

    const SQUARE: &str = "  %s = fmul float %x, %x\n  %t = fadd float %s, 1.0";

    fn places(body: &str) -> Vec<String> {
        sunk(body).1.into_iter().map(|(name, block)| format!("{name} {block}")).collect()
    }

    #[test]
    fn chains_move_into_branches() {
        assert_eq!(places(&around(SQUARE, "  store float %t, ptr %u", "")), ["s rare", "t rare"]);
        let load = "  %s = load float, ptr %u";
        assert_eq!(places(&around(load, "  store float %s, ptr %v", "")), ["s rare"]);
    }

    #[test]
    fn nothing_moves_down_the_path() {
        let stores = "  store float %t, ptr %u";
        for (before, rare, after) in [
            (SQUARE, "", stores),
            (SQUARE, stores, stores),
            // A store may alias, and a call may need all threads.
            ("  %t = load float, ptr %u\n  store float 0.0, ptr %v", stores, ""),
            ("  %t = call float @g(float %x)", stores, ""),
        ] {
            assert_eq!(sunk(&around(before, rare, after)).0, 0, "{before} {rare} {after}");
        }
    }

    #[test]
    fn loops_are_left_alone() {
        let body = "a:\n  %s = fmul float %x, %x\n  br i1 %p, label %l, label %e\n\
                    l:\n  store volatile float %s, ptr %u\n  br i1 %q, label %l, label %e\n\
                    e:\n  ret void";
        assert_eq!(sunk(body).0, 0);
        // Before the loop, whether one iteration needs it or many do.
        let body = "a:\n  %s = fmul float %x, %x\n  br i1 %p, label %w, label %e\n\
                    w:\n  call void @f()\n  br label %l\n\
                    l:\n  store volatile float %s, ptr %u\n  br i1 %q, label %l, label %e\n\
                    e:\n  ret void";
        assert_eq!(places(body), ["s w"]);
    }

    /// Among blocks that run equally often, the first one is chosen.
    #[test]
    fn registers_are_not_kept_in_the_branch() {
        let body = "a:\n  %s = fmul float %x, %x\n  br i1 %p, label %b, label %e\n\
                    b:\n  call void @f()\n  br i1 %q, label %c, label %d\n\
                    c:\n  call void @f()\n  br label %d\n\
                    d:\n  store float %s, ptr %u\n  br label %e\n\
                    e:\n  ret void";
        assert_eq!(places(body), ["s b"]);
    }
}
