#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tile_bytecode::fuzzing::round_trip(data));
