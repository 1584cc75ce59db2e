//! Runs a launch on a simulated device.
//!
//! Arguments become entry parameters by the calling convention `cutile_python_v1`:
//!
//! | argument | parameters, in order |
//! |---|---|
//! | array of rank n | pointer, n extents, n strides in elements (32 or 64 bits each) |
//! | scalar | itself |
//! | list of arrays of rank n | pointer to descriptors, 32-bit length |
//!
//! A descriptor is `1 + 2n` words of 64 bits: pointer, extents, strides. So a 20 x 50 array of floats at 0x1000 passes
//! `0x1000, 20, 50, 50, 1`.

use crate::compare::{compare, compare_lines};
use crate::launch::{Argument, ArrayArgument, Launch};
use crate::npy::Array;
use ptx_sim::{Arg, Config, Device, DevicePtr, LaunchConfig, Module, Report, RunOptions, SimError};

/// What a launch left behind.
#[derive(Debug)]
pub struct Outcome {
    /// For each argument its arrays as they are afterwards.
    pub arrays: Vec<Vec<Array>>,
    pub report: Report,
}

/// A launch that could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the kernel has no entry")]
    NoEntry,
    #[error("the kernel has several entries; name one of: {0}")]
    SeveralEntries(String),
    #[error("no entry '{name}' in the kernel (it has: {entries})")]
    UnknownEntry { name: String, entries: String },
    #[error("{found} entry parameters ({given}) for entry '{entry}', which has {expected}")]
    ParameterCount { entry: String, found: usize, expected: usize, given: String },
    /// Of the simulator.
    #[error("{0}")]
    Launch(#[from] SimError),
    /// Of the simulator while the kernel ran, and what it had printed.
    #[error("{error}")]
    Run { error: SimError, printed: String },
}

/// Runs a launch once, on a device of its own. The launch's arrays are not changed.
pub fn execute(module: &Module, launch: &Launch, options: &RunOptions) -> Result<Outcome, Error> {
    let entries: Vec<_> = module.functions.iter().filter(|f| f.is_entry && f.defined).collect();
    let names = || entries.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ");
    let entry = match &launch.entry {
        Some(name) => *entries
            .iter()
            .find(|f| f.name == *name)
            .ok_or_else(|| Error::UnknownEntry { name: name.clone(), entries: names() })?,
        None => match entries[..] {
            [] => return Err(Error::NoEntry),
            [one] => one,
            _ => return Err(Error::SeveralEntries(names())),
        },
    };
    let mut device = Device::new(Config::default());
    let mut pointers = vec![];
    let mut parameters = vec![];
    for argument in &launch.args {
        pointers.push(flatten(&mut device, argument, &mut parameters)?);
    }
    if parameters.len() != entry.params.len() {
        return Err(Error::ParameterCount {
            entry: entry.name.clone(),
            found: parameters.len(),
            expected: entry.params.len(),
            given: describe(&launch.args),
        });
    }
    let config = LaunchConfig {
        grid: launch.grid,
        block: launch.block,
        cluster: None,
        dynamic_shared: launch.dynamic_shared,
        args: &parameters,
    };
    let report = device
        .launch(module, &entry.name, &config, options)
        .map_err(|error| Error::Run { error, printed: device.printed_before_failure().into() })?;
    let mut arrays = vec![];
    for (argument, pointers) in launch.args.iter().zip(pointers) {
        let mut of = vec![];
        for (a, pointer) in argument.arrays().iter().zip(pointers) {
            let mut array = a.array.clone();
            device.read(pointer, &mut array.data)?;
            of.push(array);
        }
        arrays.push(of);
    }
    Ok(Outcome { arrays, report })
}

/// Appends the parameters of an argument; returns where its arrays lie.
fn flatten(device: &mut Device, argument: &Argument, out: &mut Vec<Arg>) -> Result<Vec<DevicePtr>, SimError> {
    match argument {
        Argument::Scalar { bytes, .. } => {
            out.push(Arg::Bytes(bytes.clone()));
            Ok(vec![])
        }
        Argument::Array(a) => {
            let pointer = device.alloc_from(&a.array.data);
            out.push(Arg::Ptr(pointer));
            let sizes = extents_and_strides(a);
            out.extend(sizes.map(|n| if a.wide_index { Arg::I64(n as i64) } else { Arg::I32(n as i32) }));
            Ok(vec![pointer])
        }
        Argument::List(list) => {
            let mut words = vec![];
            let mut pointers = vec![];
            for a in list {
                let pointer = device.alloc_from(&a.array.data);
                words.push(pointer.0);
                words.extend(extents_and_strides(a));
                pointers.push(pointer);
            }
            let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
            out.push(Arg::Ptr(device.alloc_from(&bytes)));
            out.push(Arg::I32(list.len() as i32));
            Ok(pointers)
        }
    }
}

fn extents_and_strides(a: &ArrayArgument) -> impl Iterator<Item = u64> {
    a.array.shape.clone().into_iter().chain(a.array.strides())
}

/// How many parameters each argument passes, for the message when their number is wrong.
fn describe(args: &[Argument]) -> String {
    let one = |a: &Argument| match a {
        Argument::Scalar { element, .. } => format!("{}: 1", element.name()),
        Argument::Array(a) => format!("{}: {}", a.name, 1 + 2 * a.array.shape.len()),
        Argument::List(_) => "list: 2".into(),
    };
    if args.is_empty() { "no arguments".into() } else { args.iter().map(one).collect::<Vec<_>>().join(", ") }
}

/// Complaints about what a launch left behind, by the launch's own expectations; none if all is well.
pub fn check(launch: &Launch, outcome: &Outcome) -> Vec<String> {
    let mut complaints = vec![];
    for expect in &launch.expect {
        let (Some(argument), Some(got)) = (launch.args.get(expect.arg), outcome.arrays.get(expect.arg)) else {
            continue;
        };
        let list = matches!(argument, Argument::List(_));
        for (n, ((a, got), want)) in argument.arrays().iter().zip(got).zip(&expect.values).enumerate() {
            let name = if list { format!("arg {}[{n}]", expect.arg) } else { format!("arg {}", expect.arg) };
            complaints.extend(compare(&name, got, a.element, want, expect.tolerance));
        }
    }
    if let Some(lines) = &launch.stdout {
        complaints.extend(compare_lines(&outcome.report.output, lines));
    }
    complaints
}
