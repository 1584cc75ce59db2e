//! Counts the low bytes of eight values of each of 128 threads in shared memory, as in `histogram.c`.
//!
//! Rust lacks pointers to shared memory, so inline PTX stores and counts.

#![feature(no_core, lang_items, intrinsics, rustc_attrs, link_llvm_intrinsics, abi_unadjusted)]
#![feature(asm_experimental_arch, decl_macro)]
#![no_core]

#[path = "../rust/core_free.rs"]
mod core_free;

#[rustc_builtin_macro]
pub macro asm("assembly template", $(operands,)* $(options($(option),*))?) {}

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
    fn thread_number() -> u32;
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    fn barrier(number: i32);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn count_bytes(values: *const u32, counts: u32) {
    // SAFETY: the caller passes its eight values and the address of 256 counts; all threads of the CTA are here.
    unsafe {
        let own = counts + 4 * thread_number();
        asm!("st.shared.b32 [{0}], 0; st.shared.b32 [{0}+512], 0;", in(reg32) own);
        barrier(0);
        let mut i = 0;
        while i < 8 {
            let value = *core_free::arith_offset(values, i);
            asm!("red.shared.add.u32 [{}], 1;", in(reg32) counts + 4 * (value & 255));
            i = i + 1;
        }
    }
}
