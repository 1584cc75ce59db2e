#![no_main]

use fuzz_targets::within;

// A tile may be large, and its code long.
libfuzzer_sys::fuzz_target!(|data: &[u8]| within(60, || tileiras::fuzz::whole::bytecode(data)));
