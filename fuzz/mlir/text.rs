#![no_main]

use fuzz_targets::within_a_second;

libfuzzer_sys::fuzz_target!(|data: &[u8]| within_a_second(|| tileiras::fuzz::text::text(data)));
