//! Helpers shared by the tests.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod cases;

use cases::Given;
use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, Report, RunOptions, SimError, SimErrorKind};
use tile_launch::element::Element;

pub const HEADER: &str = ".version 8.8\n.target sm_90a\n.address_size 64\n";

/// Wraps a body into an entry `k(p0, p1)` with the usual registers. `%rd1` is the output buffer, `%rd2` the input
/// buffer, `%r1` is `%tid.x`, and `%rd3` the address of the thread's 8 output bytes.
pub fn entry(decls: &str, threads: u32, body: &str) -> String {
    format!(
        "{HEADER}{decls}\n.visible .entry k(.param .u64 p0, .param .u64 p1) .reqntid {threads} {{
.reg .b64 %rd<64>; .reg .b32 %r<128>; .reg .b16 %rs<32>; .reg .f32 %f<64>; .reg .f64 %fd<16>; .reg .pred %p<16>; .reg .b128 %rq<4>; .reg .b8 %rc<8>;
ld.param.b64 %rd1, [p0]; ld.param.b64 %rd2, [p1]; mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 8; add.s64 %rd3, %rd1, %rd3;
{body}
ret; }}"
    )
}

/// The same text for sm_100a, in the latest PTX version.
pub fn newest(text: &str) -> String {
    text.replace("sm_90a", "sm_100a").replace(".version 8.8", ".version 9.2")
}

pub struct Run {
    pub out: Vec<u64>,
    pub report: Report,
}

/// Runs an [`entry`] with an output buffer of 8 bytes per thread of the grid and the given input.
pub fn run_with(
    text: &str,
    grid: u32,
    input: &[u8],
    launch: LaunchConfig<'_>,
    options: &RunOptions,
) -> Result<Run, SimError> {
    let module = Module::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut device = Device::new(Config::default());
    let threads = module.function("k").and_then(|f| f.directives.reqntid).map_or(32, |b| b[0] * b[1] * b[2]);
    let n = (grid * threads) as usize;
    let (zeros, contents) = (vec![0; 8 * n], input);
    let out = device.alloc_from(&zeros);
    let input = device.alloc_from(contents);
    let args = [Arg::Ptr(out), Arg::Ptr(input)];
    let launch = LaunchConfig { grid: [grid, 1, 1], args: &args, ..launch };
    let report = device.launch(&module, "k", &launch, options)?;
    let mut bytes = vec![0; 8 * n];
    device.read(out, &mut bytes)?;
    if options.adversarial.is_none() {
        let mut after = vec![0; contents.len()];
        device.read(input, &mut after)?;
        let given = [Given::Memory(Element::U64, &zeros, &bytes), Given::Memory(Element::U8, contents, &after)];
        cases::record_run(text, "k", &launch, &given, &report);
    }
    let out = bytes.chunks(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect();
    Ok(Run { out, report })
}

/// Runs one CTA; panics on an error.
pub fn run(text: &str) -> Vec<u64> {
    run_with(text, 1, &[0; 4096], LaunchConfig::default(), &RunOptions::default())
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
        .out
}

/// Runs `body` with 32 threads that each store `%rd10` at the end.
pub fn lanes(body: &str) -> Vec<u64> {
    run(&entry("", 32, &format!("{body}\nst.global.b64 [%rd3], %rd10;")))
}

/// Runs one CTA and returns its error; panics if it succeeds.
pub fn error(text: &str) -> SimError {
    match run_with(text, 1, &[0; 4096], LaunchConfig::default(), &RunOptions::default()) {
        Ok(_) => panic!("no error from\n{text}"),
        Err(e) => e,
    }
}

/// Runs under several seeds in strict mode until one fails, and returns its error; panics if none fails.
pub fn adversarial_error(text: &str) -> SimError {
    for seed in 0..20 {
        let options = RunOptions { adversarial: Some(seed), undefined: true, strict: true, ..RunOptions::default() };
        if let Err(e) = run_with(text, 1, &[1; 4096], LaunchConfig::default(), &options) {
            return e;
        }
    }
    panic!("no seed gave an error for\n{text}");
}

/// Runs under the plain schedule and several seeds in strict mode; all must succeed with the same results.
pub fn adversarial_ok(text: &str, seeds: u64) -> Vec<u64> {
    all_ok(text, seeds, true)
}

/// As [`adversarial_ok`], with or without strict mode.
pub fn all_ok(text: &str, seeds: u64, strict: bool) -> Vec<u64> {
    let mut first = None;
    for seed in std::iter::once(None).chain((0..seeds).map(Some)) {
        let options = RunOptions { adversarial: seed, undefined: true, strict, ..RunOptions::default() };
        let run = run_with(text, 1, &[1; 4096], LaunchConfig::default(), &options);
        let out = run.unwrap_or_else(|e| panic!("seed {seed:?}: {e}\n{text}")).out;
        assert_eq!(*first.get_or_insert_with(|| out.clone()), out, "seed {seed:?}");
    }
    first.unwrap()
}

pub fn is_deadlock(e: &SimError) -> bool {
    matches!(e.kind, SimErrorKind::Deadlock(_))
}
