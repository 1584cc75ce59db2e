//! Damaged files cause clean errors or decode as something else. Nothing panics, hangs or exhausts memory.
//!
//! The tests use every prefix and every byte of files up to [`whole`] bytes, and a sample of longer ones. With
//! `TILEIR_FULL=1` they use every byte of all files, except files of the specification container that are long
//! because splats are expanded.

use crate::corpus::supported;
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};
use tile_bytecode::*;

fn full() -> bool {
    std::env::var("TILEIR_FULL").is_ok_and(|v| v == "1")
}

/// Size of the longest file that is tested completely.
fn whole() -> usize {
    if full() { 16 << 10 } else { 1000 }
}

/// The offsets to damage: all, or about `sample` of them.
fn places(data: &[u8], sample: usize) -> impl Iterator<Item = usize> {
    let step = if data.len() <= whole() { 1 } else { 1 + data.len() / sample };
    (0..data.len()).step_by(step)
}

/// The corpus, with each 13.1 file in both containers.
fn inputs() -> Vec<(String, Vec<u8>)> {
    let mut inputs = Vec::new();
    for (name, data) in supported() {
        let m = read(&data, &ReadOptions::default()).unwrap();
        if m.version == schema::V13_1 {
            inputs.push((format!("{name} (specification)"), write(&m, Profile::Specification, m.version).unwrap()));
        }
        inputs.push((name, data));
    }
    inputs
}

/// A generator of test inputs with a fixed seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }
}

#[test]
fn every_prefix_is_refused() {
    for (name, data) in inputs() {
        for n in places(&data, 40) {
            match read(&data[..n], &ReadOptions::default()) {
                Ok(_) => panic!("{name}: {n} of {} bytes read", data.len()),
                Err(e) => assert!(e.offset() <= n, "{name} cut at {n}: {e}"),
            }
        }
    }
}

#[test]
fn flipped_bytes_are_harmless() {
    let mut slowest = (Duration::ZERO, String::new());
    let (mut refused, mut accepted) = (0u64, 0u64);
    let mut swept = BTreeSet::new();
    for (name, data) in inputs() {
        if data.len() <= whole() {
            swept.insert(name.clone());
        }
        for at in places(&data, 60) {
            for flip in [0x01, 0x80, 0xFF] {
                let mut damaged = data.clone();
                damaged[at] ^= flip;
                let start = Instant::now();
                match read_with_profile(&damaged, &ReadOptions::default()) {
                    Ok((m, profile)) => {
                        accepted += 1;
                        let out =
                            write(&m, profile, m.version).unwrap_or_else(|e| panic!("{name} at {at} ^ {flip:#x}: {e}"));
                        let again = read(&out, &ReadOptions::default())
                            .unwrap_or_else(|e| panic!("{name} at {at} ^ {flip:#x}: {e}"));
                        assert_eq!(write(&again, profile, again.version).unwrap(), out, "{name} at {at} ^ {flip:#x}");
                    }
                    Err(e) => {
                        refused += 1;
                        assert!(e.offset() <= damaged.len(), "{name} at {at}: {e}");
                    }
                }
                if start.elapsed() > slowest.0 {
                    slowest = (start.elapsed(), format!("{name} at {at}"));
                }
            }
        }
    }
    println!("swept {} files, refused {refused}, accepted {accepted}, slowest {slowest:?}", swept.len());
    let public = swept.iter().filter(|name| !name.contains("(specification)")).count();
    assert!(public >= 20 && swept.len() > public, "{swept:?}");
    assert!(slowest.0 < Duration::from_secs(1), "{slowest:?}");
    // Most bytes of the specification files are elements of constants, for which any value is valid.
    assert!(refused > 1000 && accepted > 1000);
}

/// As [`fuzz_bodies_over_the_corpus`], over files with preview content: calls, interfaces and catalogues of libraries.
/// The damage follows from the number of the run, so `TILEIR_FUZZ_START` continues where an earlier test stopped.
#[test]
fn fuzz_bodies_over_previews() {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let (start, runs) = (number("TILEIR_FUZZ_START").unwrap_or(0), number("TILEIR_FUZZ_RUNS").unwrap_or(20_000));
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/bytecode/tilelib");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|x| x == "tilebc"));
    files.sort();
    let inputs: Vec<Vec<u8>> = files.iter().map(|f| std::fs::read(f).unwrap()).collect();
    let options = ReadOptions { preview: true, ..ReadOptions::default() };
    let mut accepted = 0u64;
    for run in start..start + runs {
        let mut random = Random((run + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let data = &inputs[random.next() as usize % inputs.len()];
        let mut input = data.clone();
        input.extend(random.next().to_le_bytes());
        fuzzing::section_aware(&input);
        accepted += u64::from(fuzzing::damaged(&input).is_some_and(|damaged| read(&damaged, &options).is_ok()));
        if run % 8 == 0 {
            let at = random.next() as usize % data.len();
            input.truncate(data.len());
            input[at] = random.next() as u8;
            fuzzing::raw(&input);
            fuzzing::version_swap(&[&[random.next() as u8][..], &input].concat());
        }
        if run % 1_000_000 == 999_999 {
            println!("{} runs are done", run + 1);
        }
    }
    println!("{accepted} of {runs} damaged files are valid");
    assert!(inputs.len() >= 40 && accepted > runs / 100, "{} files, {accepted} valid", inputs.len());
}

/// Runs the bodies of the fuzz targets over the corpus with a fixed sequence of damage. `TILEIR_FUZZ_RUNS` sets the
/// number of runs.
#[test]
fn fuzz_bodies_over_the_corpus() {
    let runs = std::env::var("TILEIR_FUZZ_RUNS").ok().and_then(|v| v.parse().ok()).unwrap_or(20_000u64);
    let inputs = inputs();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for (_, data) in &inputs {
        fuzzing::raw(data);
        fuzzing::round_trip(data);
        for version in 0..5 {
            fuzzing::version_swap(&[&[version][..], data].concat());
        }
    }
    for run in 0..runs {
        let (_, data) = &inputs[random.next() as usize % inputs.len()];
        // Short files test as much as long ones here, and are much faster.
        if data.len() > 4000 {
            continue;
        }
        let mut input = data.clone();
        input.extend(random.next().to_le_bytes());
        fuzzing::section_aware(&input);
        if run % 8 == 0 {
            let at = random.next() as usize % data.len();
            input.truncate(data.len());
            input[at] = random.next() as u8;
            fuzzing::raw(&input);
            fuzzing::version_swap(&[&[random.next() as u8][..], &input].concat());
        }
    }
}
