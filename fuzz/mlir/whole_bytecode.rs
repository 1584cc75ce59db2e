#![no_main]

use fuzz_targets::within;

// A large tile gives long code.
libfuzzer_sys::fuzz_target!(|data: &[u8]| within(60, || tileiras::fuzz::whole::bytecode(data)));
