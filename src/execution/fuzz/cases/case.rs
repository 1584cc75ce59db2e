//! A program with its launch, its expected results, and the comparison with compiled code.

use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions, SimError, SimErrorKind};
use std::time::Duration;
use tile_interp::machine::{Error, Limits, Machine};
use tile_interp::program::Program;
use tile_interp::scalar::{Certainty, Scalar};
use tile_interp::types::{Element, Number};

/// A parameter of the entry, with its argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// A pointer to numbers in memory.
    Buffer {
        number: Number,
        bytes: Vec<u8>,
    },
    Scalar {
        number: Number,
        bits: u64,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// A program with one entry.
    pub program: Program,
    pub grid: [u32; 3],
    pub parameters: Vec<Parameter>,
}

/// The expected results of a case: the final elements of each buffer, and the printed text.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    pub buffers: Vec<Vec<Scalar>>,
    pub output: String,
    pub failed_assertions: Vec<String>,
    /// A decision of the interpreter that a compiled program may make differently.
    pub guess: Option<String>,
    pub ops: u64,
}

/// The results of compiled code.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub buffers: Vec<Vec<u8>>,
    pub output: String,
}

/// The argument that an entry receives for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument<'a> {
    /// The address of memory with this content.
    Buffer(&'a [u8]),
    Value(Vec<u8>),
}

/// The CTA size that the entry of the PTX requires.
pub fn threads(ptx: &str, entry: &str) -> Result<[u32; 3], String> {
    let module = Module::parse(ptx).map_err(|e| format!("the PTX cannot be parsed: {e}"))?;
    let threads = module.functions.iter().find(|f| f.name == entry).and_then(|f| f.directives.reqntid);
    threads.ok_or_else(|| format!("the PTX does not specify the CTA size of '{entry}'"))
}

/// The number of elements of a number type in `bytes` bytes.
fn elements(number: Number, bytes: usize) -> usize {
    bytes * 8 / number.stored_bits() as usize
}

/// The bits of element `i` in memory.
fn stored(bytes: &[u8], i: usize, n: Number) -> u64 {
    if n == Number::E2m1 {
        return u64::from(bytes[i / 2] >> (4 * (i % 2)) & 0xf);
    }
    let size = n.stored_bits() as usize / 8;
    let word = bytes[i * size..][..size].iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
    // The low bits of a tf32 word are ignored.
    if n == Number::Tf32 { word >> 13 } else { word }
}

/// The elements in memory.
pub fn numbers(bytes: &[u8], n: Number) -> Vec<Scalar> {
    (0..elements(n, bytes.len())).map(|i| Scalar::exact(stored(bytes, i, n))).collect()
}

impl Case {
    /// Name of the entry.
    pub fn entry(&self) -> &str {
        self.program.entries.first().map_or("", |e| &e.name)
    }

    /// Runs the reference interpreter.
    pub fn meaning(&self, limits: Limits) -> Result<Meaning, Error> {
        let mut machine = Machine::new(&self.program);
        let mut args = vec![];
        let mut buffers = vec![];
        for (i, p) in self.parameters.iter().enumerate() {
            args.push(match p {
                Parameter::Buffer { number, bytes } => {
                    let address = machine.memory.allocate(&format!("parameter {i}"), bytes.clone());
                    buffers.push((address, *number, elements(*number, bytes.len())));
                    address
                }
                Parameter::Scalar { bits, .. } => *bits,
            });
        }
        let report = machine.launch(self.entry(), self.grid, &args, limits)?;
        let buffers = buffers.into_iter().map(|(a, n, count)| machine.array(a, n, count)).collect();
        Ok(Meaning {
            buffers,
            output: report.output,
            failed_assertions: report.failed_assertions,
            guess: report.guess,
            ops: report.ops,
        })
    }

    /// Runs compiled code on the simulator, under an adversarial schedule if a seed is given.
    pub fn simulate(&self, ptx: &str, seed: Option<u64>, limit: Duration) -> Result<Outcome, String> {
        let module = Module::parse(ptx).map_err(|e| format!("the PTX cannot be parsed: {e}"))?;
        let first = self.run(&module, seed, limit, Config::default());
        match first {
            // LLVM may widen a load within known memory and discard the extra bytes. If they do matter, the results
            // will differ.
            Err(SimError { kind: SimErrorKind::Uninitialised { .. }, .. }) => {
                self.run(&module, seed, limit, Config { trap_uninitialised: false, ..Config::default() })
            }
            other => other,
        }
        .map_err(|e| e.to_string())
    }

    fn run(&self, module: &Module, seed: Option<u64>, limit: Duration, config: Config) -> Result<Outcome, SimError> {
        let mut device = Device::new(config);
        let mut args = vec![];
        let mut buffers = vec![];
        for argument in self.arguments() {
            args.push(match argument {
                Argument::Buffer(bytes) => {
                    let pointer = device.alloc_from(bytes);
                    buffers.push((pointer, bytes.len()));
                    Arg::Ptr(pointer)
                }
                Argument::Value(bytes) => Arg::Bytes(bytes),
            });
        }
        let config = LaunchConfig { grid: self.grid, args: &args, ..LaunchConfig::default() };
        let options = RunOptions { adversarial: seed, strict: true, max_time: Some(limit), ..RunOptions::default() };
        let report = device.launch(module, self.entry(), &config, &options)?;
        let mut out = vec![];
        for (pointer, length) in buffers {
            let mut bytes = vec![0; length];
            device.read(pointer, &mut bytes)?;
            out.push(bytes);
        }
        Ok(Outcome { buffers: out, output: report.output })
    }

    /// The arguments of the entry, in order.
    pub fn arguments(&self) -> Vec<Argument<'_>> {
        let value = |number: Number, bits: u64| {
            let bits = if number == Number::Tf32 { bits << 13 } else { bits };
            bits.to_le_bytes()[..number.stored_bits() as usize / 8].to_vec()
        };
        self.parameters
            .iter()
            .map(|p| match p {
                Parameter::Buffer { bytes, .. } => Argument::Buffer(bytes),
                Parameter::Scalar { number, bits } => Argument::Value(value(*number, *bits)),
            })
            .collect()
    }

    /// Number types of the buffers, in order.
    fn buffer_types(&self) -> impl Iterator<Item = Number> {
        self.parameters.iter().filter_map(|p| match p {
            Parameter::Buffer { number, .. } => Some(*number),
            Parameter::Scalar { .. } => None,
        })
    }

    /// Describes the first result of compiled code that the program does not permit; `None` if all are permitted.
    pub fn difference(&self, meaning: &Meaning, outcome: &Outcome) -> Option<String> {
        if meaning.guess.is_some() {
            return None;
        }
        let parameters = (0..self.parameters.len()).filter(|i| matches!(self.parameters[*i], Parameter::Buffer { .. }));
        for (((i, number), want), got) in
            parameters.zip(self.buffer_types()).zip(&meaning.buffers).zip(&outcome.buffers)
        {
            let bits = |e: usize| stored(got, e, number);
            let wrong: Vec<usize> =
                (0..want.len()).filter(|e| !want[*e].admits(bits(*e), Element::Number(number))).collect();
            if let Some(first) = wrong.first() {
                let (count, all) = (wrong.len(), want.len());
                let (have, expected) = (show(bits(*first), number), describe(want[*first], number));
                return Some(format!(
                    "parameter {i}: {count} of {all} elements are wrong, first {first}: {have}, expected {expected}"
                ));
            }
        }
        // Tile blocks may print in any order.
        let lines = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(String::from).collect();
            lines.sort_unstable();
            lines
        };
        let (want, got) = (lines(&meaning.output), lines(&outcome.output));
        (want != got).then(|| format!("printed {got:?}, expected {want:?}"))
    }
}

/// An element's bits and number.
pub fn show(bits: u64, n: Number) -> String {
    let digits = n.width().div_ceil(4) as usize;
    if n.is_float() {
        format!("{n} 0x{bits:0digits$x} ({:?})", tile_interp::format::decode(bits, n).to_f64())
    } else {
        format!("{n} 0x{bits:0digits$x}")
    }
}

fn describe(x: Scalar, n: Number) -> String {
    let text = show(x.bits, n);
    match x.certainty {
        Certainty::Near(u) if u > 0.0 => format!("{text} within {u} ulp"),
        _ => text,
    }
}

/// The numbers of buffer elements that are exact, approximate, and unknown.
pub fn census(meaning: &Meaning) -> [usize; 3] {
    let mut count = [0; 3];
    for x in meaning.buffers.iter().flatten() {
        count[match x.certainty {
            Certainty::Exact => 0,
            Certainty::Near(_) => 1,
            Certainty::Unknown => 2,
        }] += 1;
    }
    count
}
