#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use ptx_sim::fuzzing::{self, Random};

fuzz_target!(|data: &[u8]| fuzzing::parse(data));

// Half of the changes work on tokens and lines of PTX, so that more results get past the parser.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let text = match std::str::from_utf8(&data[..size]) {
        Ok(text) if seed % 2 == 0 => text,
        _ => return fuzzer_mutate(data, size, max_size),
    };
    let changed = fuzzing::mutate(text, text, &mut Random(u64::from(seed) | 1));
    let n = changed.len().min(max_size).min(data.len());
    data[..n].copy_from_slice(&changed.as_bytes()[..n]);
    n
});
