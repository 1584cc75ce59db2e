//! Measures every elementary function against an oracle, and compares the largest errors with the registry's bounds
//! and with the figures in `measured.tsv`, from which the table in `docs/math.md` is generated.
//!
//! The default run samples: strides through all f32, and random points with more in the interesting ranges. With
//! TILEIR_FULL=1, the f32 functions of one argument are tested on all 2^32 values, and the others on a hundred times
//! more points. TILEIR_FUNCTION=log_f32,sin_f64 restricts a run to functions with these symbol suffixes. With
//! TILEIR_UPDATE=1, the measurements are written to the file and to the document.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tile_rtlib::{Float, Function, Math, Mode};
use tile_rtlib_tests::arguments::{argument, pair};
use tile_rtlib_tests::oracle::{Oracle, exact_f32};
use tile_rtlib_tests::{MODELS, Model, Stream, binary, error_f32, full, set_model, unary};

/// The largest error with the exact hardware model and with the worst documented one.
#[derive(Clone, Copy, Default)]
struct Measured {
    exact: (f64, f64, f64),
    worst: (f64, f64, f64),
}

impl Measured {
    fn take(&mut self, model: Model, error: f64, x: f64, y: f64) {
        if model == Model::Exact && error > self.exact.0 {
            self.exact = (error, x, y);
        }
        if error > self.worst.0 {
            self.worst = (error, x, y);
        }
    }
}

impl Measured {
    fn merge(&mut self, other: Measured) {
        for (mine, theirs) in [(&mut self.exact, other.exact), (&mut self.worst, other.worst)] {
            if theirs.0 > mine.0 {
                *mine = theirs;
            }
        }
    }
}

fn models(function: Function) -> &'static [Model] {
    if function.uses_approximation() { &MODELS } else { &MODELS[..1] }
}

fn flush(x: f64) -> f64 {
    if x.abs() < f64::from(f32::MIN_POSITIVE) { 0f64.copysign(x) } else { x }
}

fn flushes(mode: Mode) -> bool {
    matches!(mode, Mode::FullFlush | Mode::ApproximateFlush | Mode::PortableFlush)
}

/// The exact value of the function, before rounding.
fn wanted(operation: Math, mode: Mode, x: f32, y: f32) -> f64 {
    let (x, y) = (f64::from(x), f64::from(y));
    match mode {
        mode if flushes(mode) => flush(exact_f32(operation, flush(x), flush(y))),
        _ => exact_f32(operation, x, y),
    }
}

fn one_f32(function: Function, operation: Math, mode: Mode) -> Measured {
    let call = unary::<f32, f32>(function);
    let check = |measured: &mut Measured, model: Model, bits: u32| {
        let x = f32::from_bits(bits);
        let exact = wanted(operation, mode, x, 0.0);
        let got = call(x);
        // At the threshold of flushing, both results are correct.
        let flushing = flushes(mode);
        let tiny = 1.0001 * f64::from(f32::MIN_POSITIVE);
        if flushing && exact.abs().max(f64::from(got.abs())) < tiny {
            return;
        }
        measured.take(model, error_f32(got, exact), f64::from(x), 0.0);
    };
    let mut measured = Measured::default();
    for &model in models(function) {
        set_model(model);
        // Around each power of two, where the spacing of results changes, and near multiples of pi/2.
        for exponent in 0..512u32 {
            (0..64u32).for_each(|i| check(&mut measured, model, (exponent << 23).wrapping_add(i).wrapping_sub(32)));
        }
        for k in 1..200_000u32 {
            let near = (f64::from(k) * std::f64::consts::FRAC_PI_2) as f32;
            check(&mut measured, model, near.to_bits());
        }
        // With the deviating models, the result changes too little from one argument to the next to need all of them.
        let stride: u64 = match (full(), model) {
            (false, _) => 3001,
            (true, Model::Exact) => 1,
            (true, _) => 17,
        };
        let threads = if full() { std::thread::available_parallelism().map_or(1, |n| n.get() as u64) } else { 1 };
        let parts = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|thread| {
                    let check = &check;
                    scope.spawn(move || {
                        set_model(model);
                        let mut part = Measured::default();
                        let (first, step) = (thread * stride, (threads * stride) as usize);
                        (first..1 << 32).step_by(step).for_each(|bits| check(&mut part, model, bits as u32));
                        part
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().expect("a worker ends")).collect::<Vec<_>>()
        });
        parts.into_iter().for_each(|part| measured.merge(part));
    }
    measured
}

fn two_f32(function: Function, operation: Math, mode: Mode) -> Measured {
    let call = binary::<f32, f32>(function);
    let mut measured = Measured::default();
    let count = if full() { 50_000_000 } else { 1_000_000 };
    for &model in models(function) {
        set_model(model);
        let mut stream = Stream::new(17);
        for index in 0..count {
            let (x, y) = pair(operation, index, &mut stream, -150, 128, 24);
            let (x, y) = (x as f32, y as f32);
            if matches!(mode, Mode::Approximate | Mode::ApproximateFlush)
                && !(2f32.powi(-126)..=2f32.powi(126)).contains(&y.abs())
            {
                continue;
            }
            let exact = wanted(operation, mode, x, y);
            let got = call(x, y);
            if flushes(mode) && exact.abs().max(f64::from(got.abs())) < 1.0001 * f64::from(f32::MIN_POSITIVE) {
                continue;
            }
            measured.take(model, error_f32(got, exact), f64::from(x), f64::from(y));
        }
    }
    measured
}

fn f64_function(function: Function, operation: Math, oracle: &mut Oracle) -> Measured {
    set_model(Model::Exact);
    let mut measured = Measured::default();
    let count = if full() { 100_000 } else { 2_000 };
    let mut stream = Stream::new(23);
    let two = function.signature().parameters.len() == 2;
    for index in 0..count {
        let (x, y, got);
        if two {
            (x, y) = pair(operation, index, &mut stream, -1074, 1024, 53);
            if !x.is_finite() || !y.is_finite() || x == 0.0 || y == 0.0 {
                continue;
            }
            got = binary::<f64, f64>(function)(x, y);
        } else {
            x = argument(operation, index, &mut stream);
            y = 0.0;
            got = unary::<f64, f64>(function)(x);
        }
        measured.take(Model::Exact, oracle.error(operation, x, y, got), x, y);
    }
    measured
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// From symbol to columns: exact and worst model of the sampled run, then of the full run.
type Table = BTreeMap<String, [String; 4]>;

fn read_table() -> Table {
    let text = std::fs::read_to_string(data("measured.tsv")).unwrap_or_default();
    let mut table = Table::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t').map(str::to_owned);
        if let Some(symbol) = fields.next() {
            table.insert(symbol, std::array::from_fn(|_| fields.next().unwrap_or_else(|| "-".into())));
        }
    }
    table
}

fn measured_functions() -> Vec<(Function, Math, Float, Mode)> {
    Function::all()
        .into_iter()
        .filter_map(|function| match function {
            Function::Math { operation, float, mode } if function.ulp_bound().is_some() => {
                Some((function, operation, float, mode))
            }
            _ => None,
        })
        .collect()
}

/// The bound under the worst model: the registry's bound, plus the errors of reduction and scaling on top of an
/// instruction that already uses its whole allowance.
const WORST_MODEL_SLACK: f64 = 0.55;

#[test]
fn errors_stay_within_bounds() {
    let update = std::env::var_os("TILEIR_UPDATE").is_some_and(|v| v == "1");
    let mut oracle = Oracle::new().expect("constants of the oracle");
    let mut table = read_table();
    let mut failures = String::new();
    let only = std::env::var("TILEIR_FUNCTION").unwrap_or_default();
    for (function, operation, float, mode) in measured_functions() {
        if !only.is_empty() && !only.split(',').any(|name| function.symbol().ends_with(name)) {
            continue;
        }
        let started = std::time::Instant::now();
        let measured = match (float, function.signature().parameters.len()) {
            (Float::F32, 1) => one_f32(function, operation, mode),
            (Float::F32, _) => two_f32(function, operation, mode),
            (Float::F64, _) => f64_function(function, operation, &mut oracle),
        };
        let (exact, worst) = (format!("{:.3}", measured.exact.0), format!("{:.3}", measured.worst.0));
        println!(
            "{function}: {exact} at {:e} {:e}, worst model {worst} at {:e} {:e}, {:.1} s",
            measured.exact.1,
            measured.exact.2,
            measured.worst.1,
            measured.worst.2,
            started.elapsed().as_secs_f32()
        );
        let bound = function.ulp_bound().unwrap_or(0.0);
        let slack = if function.uses_approximation() { WORST_MODEL_SLACK } else { 0.0 };
        if measured.exact.0 > bound || measured.worst.0 > bound + slack {
            let _ = writeln!(failures, "{function}: {exact} and {worst}, bound {bound}");
        }
        let row = table.entry(function.symbol()).or_insert_with(|| std::array::from_fn(|_| "-".into()));
        let at = if full() { 2 } else { 0 };
        if update {
            (row[at], row[at + 1]) = (exact, worst);
            write_table(&table);
        } else {
            // The last place of the oracle may differ between C libraries, which affects only later digits.
            for (recorded, now) in [(&row[at], &exact), (&row[at + 1], &worst)] {
                let near = match (recorded.parse::<f64>(), now.parse::<f64>()) {
                    (Ok(a), Ok(b)) => (a - b).abs() < 0.002,
                    _ => false,
                };
                if !near {
                    let _ = writeln!(failures, "{function}: measured {now}, measured.tsv says {recorded}");
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

fn write_table(table: &Table) {
    let mut text = String::from("# symbol, then the largest errors: sampled (exact, worst model), full (the same)\n");
    for (symbol, row) in table {
        let _ = writeln!(text, "{symbol}\t{}", row.join("\t"));
    }
    std::fs::write(data("measured.tsv"), text).expect("measured.tsv can be written");
    std::fs::write(data("../../docs/math.md"), document(table)).expect("docs/math.md can be written");
}

/// The text of `docs/math.md`.
fn document(table: &Table) -> String {
    let mut text = String::from(include_str!("../math.md.in"));
    text.push_str("| function | bound | sampled | worst instructions | full run | worst instructions |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for (function, ..) in measured_functions() {
        let row = table.get(&function.symbol()).cloned().unwrap_or_else(|| std::array::from_fn(|_| "-".into()));
        let bound = function.ulp_bound().unwrap_or(0.0);
        let worst = |cell: &str| if function.uses_approximation() { cell.to_owned() } else { String::new() };
        let _ = writeln!(
            text,
            "| `{}` | {bound} | {} | {} | {} | {} |",
            function.symbol(),
            row[0],
            worst(&row[1]),
            row[2],
            worst(&row[3])
        );
    }
    text
}

#[test]
fn document_is_current() {
    let written = std::fs::read_to_string(data("../../docs/math.md")).unwrap_or_default();
    let update = std::env::var_os("TILEIR_UPDATE").is_some_and(|v| v == "1");
    assert!(update || written == document(&read_table()), "run the accuracy tests with TILEIR_UPDATE=1");
}
