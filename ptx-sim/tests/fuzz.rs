//! Runs the bodies of the fuzz targets on changed PTX: no panic, no hang, and deterministic results.
//!
//! Runs a small number of inputs by default. `PTX_SIM_FUZZ_SECONDS=600` continues for that time; `PTX_SIM_FUZZ_SEED=N`
//! selects another sequence. A failing input is kept in the scratch folder and named in the failure.

use ptx_sim::Module;
use ptx_sim::fuzzing::{self, Random};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// All PTX of the tests, sorted by name.
fn seeds() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut paths = vec![];
    for folder in ["cuda/ptx", "ptx", "fuzz"] {
        paths.extend(std::fs::read_dir(root.join(folder)).unwrap().map(|e| e.unwrap().path()));
    }
    paths.sort();
    assert!(paths.len() > 100);
    paths.into_iter().map(|p| String::from_utf8_lossy(&std::fs::read(p).unwrap()).into_owned()).collect()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Runs `body` on unchanged and changed programs.
fn fuzz(name: &str, rounds: u64, body: fn(&[u8])) {
    let seeds = seeds();
    let deadline = number("PTX_SIM_FUZZ_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
    let mut random = Random(number("PTX_SIM_FUZZ_SEED").unwrap_or(0x9e37_79b9_7f4a_7c15) | 1);
    let mut broken: Vec<String> = vec![];
    let (mut done, mut parsed) = (0u64, 0u64);
    let (mut slowest, mut slowest_text) = (Duration::ZERO, String::new());
    while deadline.map_or(done < rounds, |d| Instant::now() < d) && broken.len() < 20 {
        let seed = &seeds[done as usize % seeds.len()];
        // The first round uses the programs unchanged, except for the long ones in a short run.
        let text = if done < seeds.len() as u64 && deadline.is_some() {
            seed.clone()
        } else {
            let seed = &seeds[random.below(seeds.len())];
            fuzzing::mutate(seed, &seeds[random.below(seeds.len())], &mut random)
        };
        done += 1;
        let started = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| body(text.as_bytes())));
        let took = started.elapsed();
        parsed += u64::from(Module::parse(&text).is_ok());
        if result.is_err() {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{done}.ptx"));
            std::fs::write(&path, &text).unwrap();
            broken.push(path.display().to_string());
        }
        if took > slowest {
            (slowest, slowest_text) = (took, text);
        }
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-slowest.ptx"));
    std::fs::write(path, slowest_text).unwrap();
    println!("{name}: {done} inputs, {parsed} of them valid, the slowest took {slowest:?}");
    assert!(broken.is_empty(), "{name} fails on {}", broken.join(", "));
    assert!(parsed * 20 > done, "only {parsed} of {done} inputs are valid PTX");
}

/// Inputs that once failed.
#[test]
fn kept_inputs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    for entry in std::fs::read_dir(folder).unwrap() {
        let data = std::fs::read(entry.unwrap().path()).unwrap();
        fuzzing::parse(&data);
        fuzzing::run(&data);
    }
}

#[test]
fn parser() {
    fuzz("parse", 1500, fuzzing::parse);
}

#[test]
fn simulator() {
    fuzz("run", 250, fuzzing::run);
}
