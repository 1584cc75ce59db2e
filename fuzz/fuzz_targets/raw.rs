#![no_main]

use tile_fuzz::within_a_second;

libfuzzer_sys::fuzz_target!(|data: &[u8]| within_a_second(|| tile_bytecode::fuzzing::raw(data)));
