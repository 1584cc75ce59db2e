//! Splits long basic blocks before code generation.
//!
//! LLVM's vectorizer of loads and stores, which NVPTX runs first, compares all pairs of accesses in a block and numbers
//! the instructions of the block again for each chain that it finds. It took half of the time of a program with 2500
//! loads and stores in a row. Later, CodeGenPrepare joins the parts. No program of the corpus has such a block.

use crate::dialect::ffi;
use inkwell::module::Module;

/// The most instructions of a block that is not split.
const LONGEST: usize = 4096;

/// Returns the number of new blocks.
pub fn split(module: &Module<'_>) -> usize {
    // SAFETY: the module is alive.
    unsafe { ffi::mlirxLLVMModuleSplitBlocks(module.as_mut_ptr().cast(), LONGEST) }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, split};
    use inkwell::{context::Context, memory_buffer::MemoryBuffer};

    #[test]
    fn parts_follow_each_other() {
        let (adds, llvm) = (2 * LONGEST + 10, Context::create());
        let add = |i: usize| format!("  %x{} = add i32 %x{i}, 1\n", i + 1);
        let body: String = (0..adds).map(add).collect();
        let text = format!("define i32 @f(i32 %x0) {{\n{body}  ret i32 %x{adds}\n}}\n\0");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = llvm.create_module_from_ir(buffer).unwrap();
        assert_eq!(split(&module), 2);
        module.verify().unwrap();
        let blocks = module.get_function("f").unwrap().get_basic_blocks();
        let counts: Vec<usize> = blocks.iter().map(|b| b.get_instructions().count()).collect();
        // The first two end with a branch.
        assert_eq!(counts, [LONGEST + 1, LONGEST + 1, 11]);
        assert_eq!(split(&module), 0, "a branch may follow the last instruction");
    }
}
