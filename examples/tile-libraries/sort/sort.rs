//! Sorts the 32 keys of a warp, one in each lane, in ascending order: the same bitonic sort as in `sort.c`.

#![feature(no_core, lang_items, intrinsics, rustc_attrs, link_llvm_intrinsics, abi_unadjusted)]
#![no_core]

#[path = "../rust/core_free.rs"]
mod core_free;

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    fn lane_number() -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shuffle(mask: u32, value: i32, step: i32, clamp: i32) -> i32;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sort_row(key: *mut i32) {
    // SAFETY: the intrinsic only reads the lane's number.
    let lane = unsafe { lane_number() };
    // SAFETY: the caller passes a pointer to its fragment of one key.
    let mut own = unsafe { *key };
    let mut size = 2;
    while size <= 32 {
        let ascending = (lane & size) == 0;
        let mut step = size >> 1;
        while step > 0 {
            // SAFETY: all lanes of the warp are here, as the catalogue says.
            let other = unsafe { shuffle(0xFFFF_FFFF, own, step as i32, 31) };
            let keeps_smaller = ((lane & step) == 0) == ascending;
            if (other < own) == keeps_smaller {
                own = other;
            }
            step = step >> 1;
        }
        size = size << 1;
    }
    // SAFETY: as above.
    unsafe { *key = own }
}
