//! Philox4x32-10, as in `philox.c`.

#![feature(no_core, lang_items, intrinsics, rustc_attrs)]
#![no_core]

#[path = "../rust/core_free.rs"]
mod core_free;

#[repr(C)]
pub struct Key(u32, u32);
#[repr(C)]
pub struct Words(u32, u32, u32, u32);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn philox4x32(counter: *const u32, key: *const Key, words: *mut Words) {
    // SAFETY: the caller passes pointers to its fragments, which have these types.
    unsafe {
        let (mut x0, mut x1, mut x2, mut x3) = (*counter, 0u32, 0u32, 0u32);
        let (mut k0, mut k1) = ((*key).0, (*key).1);
        let mut round = 0;
        while round < 10 {
            let p = 0xD2511F53u64 * x0 as u64;
            let q = 0xCD9E8D57u64 * x2 as u64;
            x0 = (q >> 32) as u32 ^ x1 ^ k0;
            x2 = (p >> 32) as u32 ^ x3 ^ k1;
            x1 = q as u32;
            x3 = p as u32;
            k0 = k0 + 0x9E3779B9;
            k1 = k1 + 0xBB67AE85;
            round = round + 1;
        }
        *words = Words(x0, x1, x2, x3);
    }
}
