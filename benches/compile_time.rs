//! How long compilation takes: bytecode to PTX, in this process, without ptxas.
//!
//! ```text
//! cargo bench --bench compile_time -- [--runs N] [--gpu-name sm_NN] [KERNEL...]
//! ```
//!
//! Prints the least and the median time of N compilations (20 unless told) of each kernel at -O3, in milliseconds, and
//! the size of the PTX. The first compilation of the process pays for the registration of passes and dialects and for the
//! tables of LLVM's target; it is shown by itself.

#[path = "../tests/support/kernels.rs"]
mod kernels;

use kernels::{KERNELS, compile};
use std::{process::ExitCode, time::Instant};
use tile_driver::Emit;
use tile_targets::Target;

struct Settings {
    runs: usize,
    target: &'static Target,
    kernels: Vec<String>,
}

fn main() -> ExitCode {
    let result = settings().and_then(|s| run(&s));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("compile_time: {e}");
            ExitCode::FAILURE
        }
    }
}

fn settings() -> Result<Settings, String> {
    let mut settings = Settings { runs: 20, target: Target::default_target(), kernels: vec![] };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            // What cargo adds by itself.
            "--bench" => {}
            "--runs" => {
                settings.runs =
                    value()?.parse().ok().filter(|n| *n > 0).ok_or("the number of runs must be a positive integer")?;
            }
            "--gpu-name" => {
                let name = value()?;
                settings.target = Target::by_name(&name).ok_or(format!("unknown target '{name}'"))?;
            }
            name if KERNELS.iter().any(|k| k.name == name) => settings.kernels.push(name.to_string()),
            other => return Err(format!("'{other}' is neither an option nor a kernel")),
        }
    }
    Ok(settings)
}

fn run(settings: &Settings) -> Result<(), String> {
    let milliseconds = |input: &[u8]| -> Result<(f64, usize), String> {
        let start = Instant::now();
        let output = compile(input, settings.target, 3, Emit::Ptx)?;
        Ok((start.elapsed().as_secs_f64() * 1e3, output.text.len()))
    };
    let (first, _) = milliseconds(&KERNELS[0].bytes()?)?;
    println!("{}, -O3, {} runs; first compilation of the process {first:.1} ms", settings.target.name, settings.runs);
    println!("{:<22}{:>9}{:>10}{:>12}", "kernel", "min ms", "median ms", "PTX bytes");
    for kernel in KERNELS {
        if !settings.kernels.is_empty() && !settings.kernels.iter().any(|k| k == kernel.name) {
            continue;
        }
        let input = kernel.bytes()?;
        let mut times = vec![];
        let mut size = 0;
        for _ in 0..settings.runs {
            let (time, bytes) = milliseconds(&input).map_err(|e| format!("{}: {e}", kernel.name))?;
            times.push(time);
            size = bytes;
        }
        times.sort_by(f64::total_cmp);
        println!("{:<22}{:>9.1}{:>10.1}{:>12}", kernel.name, times[0], times[times.len() / 2], size);
    }
    Ok(())
}
