//! Measures compile time: bytecode to PTX, in this process, without ptxas.
//!
//! ```text
//! cargo bench --bench compile_time -- [--runs N] [--gpu-name sm_NN] [PROGRAM...]
//! ```
//!
//! Prints the minimum and the median time of N compilations (default 20) at -O3 for each file of the corpus whose
//! name contains one of PROGRAM (default: all), in milliseconds, and the size of the PTX; then the median and the
//! maximum of these medians. The first compilation of the process includes the registration of passes and dialects
//! and the tables of LLVM's target; it is reported separately. Files in versions that the reader does not support are
//! omitted.

use std::{fs, path::Path, process::ExitCode, time::Instant};
use tile_interface::Emit;
use tile_targets::Target;
use tile_test_support::kernels::compile;

struct Settings {
    runs: usize,
    target: &'static Target,
    programs: Vec<String>,
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
    let mut settings = Settings { runs: 20, target: Target::default_target(), programs: vec![] };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            // Added by cargo.
            "--bench" => {}
            "--runs" => {
                settings.runs =
                    value()?.parse().ok().filter(|n| *n > 0).ok_or("the number of runs must be a positive integer")?;
            }
            "--gpu-name" => {
                let name = value()?;
                settings.target = Target::by_name(&name).ok_or(format!("unknown target '{name}'"))?;
            }
            option if option.starts_with('-') => return Err(format!("unknown option '{option}'")),
            name => settings.programs.push(name.to_string()),
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
    let programs: Vec<(String, Vec<u8>)> = corpus()?
        .into_iter()
        .filter(|(name, _)| settings.programs.is_empty() || settings.programs.iter().any(|p| name.contains(p)))
        .collect();
    let (_, input) = programs.first().ok_or("no matching program")?;
    let (first, _) = milliseconds(input)?;
    println!("{}, -O3, {} runs; first compilation of the process {first:.1} ms", settings.target.name, settings.runs);
    println!("{:<30}{:>9}{:>10}{:>12}", "program", "min ms", "median ms", "PTX bytes");
    let mut medians = vec![];
    for (name, input) in &programs {
        let mut times = vec![];
        let mut size = 0;
        for _ in 0..settings.runs {
            let (time, bytes) = milliseconds(input).map_err(|e| format!("{name}: {e}"))?;
            times.push(time);
            size = bytes;
        }
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        medians.push(median);
        println!("{name:<30}{:>9.1}{median:>10.1}{size:>12}", times[0]);
    }
    medians.sort_by(f64::total_cmp);
    println!(
        "{} programs: median {:.1}, greatest {:.1}",
        medians.len(),
        medians[medians.len() / 2],
        medians[medians.len() - 1]
    );
    Ok(())
}

/// Names and contents of the files, sorted by name.
fn corpus() -> Result<Vec<(String, Vec<u8>)>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut programs = vec![];
    for entry in fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        let name = path.file_name().and_then(|n| n.to_str()).and_then(|n| n.strip_suffix(".tileirbc"));
        let Some(name) = name.filter(|n| !n.ends_with(".13.4")) else { continue };
        programs.push((name.to_string(), fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?));
    }
    programs.sort();
    Ok(programs)
}
