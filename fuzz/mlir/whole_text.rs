#![no_main]

use fuzz_targets::within;
use tileiras::fuzz::{mutate, whole};

// A tile may be large, and its code long.
libfuzzer_sys::fuzz_target!(|data: &[u8]| within(60, || whole::text(data)));

// Few inputs with changed bytes get past the parser, so most changes work on words and lines. The first such change
// turns a bytecode seed into text.
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let text = data[..size].split_first().and_then(|(_, input)| match std::str::from_utf8(input) {
        Ok(text) => Some(text.to_owned()),
        Err(_) => whole::as_text(input),
    });
    match text {
        Some(text) if !seed.is_multiple_of(8) => {
            let made = mutate::program(&text, seed.into());
            let length = made.len().min(max_size - 1);
            data[1..=length].copy_from_slice(&made.as_bytes()[..length]);
            // The target and the level.
            if seed % 8 == 1 {
                data[0] = data[0].wrapping_add((seed >> 8) as u8);
            }
            length + 1
        }
        _ => libfuzzer_sys::fuzzer_mutate(data, size, max_size),
    }
});
