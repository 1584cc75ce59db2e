//! The run-time functions on the host. Addresses are those of the test's memory.

use std::ffi::{c_char, c_void};
use tile_rtlib::maps::KEY_WORDS;

/// A function that receives the format and the arguments of a print.
pub type Print = extern "C" fn(*const c_char, *const c_void);

mod ffi {
    use super::Print;

    include!(concat!(env!("OUT_DIR"), "/runtime.rs"));

    unsafe extern "C" {
        pub fn tl_set_host_print(print: Print);
    }
}

/// Sets the function that receives the prints of this thread.
pub fn set_print(print: Print) {
    // SAFETY: the function stores a pointer.
    unsafe { ffi::tl_set_host_print(print) }
}

/// Calls a function whose last parameters are a key.
macro_rules! with_key {
    ($function:ident, $key:ident, $($argument:expr),*) => {{
        let [w0, w1, w2, w3, w4, w5, w6, w7, w8, w9] = $key;
        // SAFETY: the caller's table has all its slots, and its words are accessed in turn or atomically.
        unsafe { ffi::$function($($argument),*, w0, w1, w2, w3, w4, w5, w6, w7, w8, w9) }
    }};
}

pub fn map_glance(table: u64, lane: u32, length: u32, key: [u64; KEY_WORDS]) -> u32 {
    with_key!(__tileir_map_glance, key, table, lane, length)
}

pub fn map_claim(table: u64, length: u32, key: [u64; KEY_WORDS]) -> u32 {
    with_key!(__tileir_map_claim, key, table, length)
}

pub fn map_publish(table: u64, slot: u32, length: u32, key: [u64; KEY_WORDS]) {
    with_key!(__tileir_map_publish, key, table, slot, length)
}

pub fn maps_borrow(pool: u64, maps: u32, cta: u32) -> u32 {
    // SAFETY: the caller's pool has all its entries.
    unsafe { ffi::__tileir_maps_borrow(pool, maps, cta) }
}

pub fn maps_return(entry: u64) {
    // SAFETY: the caller has borrowed the entry.
    unsafe { ffi::__tileir_maps_return(entry) }
}

#[allow(clippy::too_many_arguments, reason = "the parameters of the function in C")]
pub fn print_element(
    format: u64,
    buffer: u64,
    texts: u64,
    stride: u32,
    closed: u64,
    rank: u32,
    index: u32,
    value: u64,
) {
    // SAFETY: the caller's buffer has room for two arguments, and its tables have the sizes that the rank implies.
    unsafe { ffi::__tileir_print_element(format, buffer, texts, stride, closed, rank, index, value) }
}

#[allow(clippy::too_many_arguments, reason = "the parameters of the function in C")]
pub fn print_failures(
    format: u64,
    buffer: u64,
    word: u32,
    first: u32,
    thread: u32,
    bases: u64,
    fields: u64,
    rank: u32,
) {
    // SAFETY: the caller's buffer has room for the coordinates, and its tables have the sizes that the rank implies.
    unsafe { ffi::__tileir_print_failures(format, buffer, word, first, thread, bases, fields, rank) }
}
