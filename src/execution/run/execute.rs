//! Runs a launch on a simulated device.
//!
//! Arguments become entry parameters by the calling convention `cutile_python_v1`:
//!
//! | argument | parameters, in order |
//! |---|---|
//! | array of rank n | pointer, n extents, n strides in elements (32 or 64 bits each) |
//! | scalar | itself |
//! | list of arrays of rank n | pointer to descriptors, 32-bit length |
//! | object of multicast memory | multicast pointer, extents and strides of a member |
//!
//! A descriptor is `1 + 2n` 64-bit words: pointer, extents, strides. For example, a 20 x 50 array of floats at 0x1000
//! is passed as `0x1000, 20, 50, 50, 1`.
//!
//! Buffers (a pointer), structures (their bytes) and tensor maps (128 bytes) are one parameter each.

use crate::compare::{Rules, compare_by, compare_lines};
use crate::launch::{Argument, ArrayArgument, Launch, MapParams, Source};
use crate::npy::Array;
use crate::place;
use ptx_sim::ir::{Function, Space};
use ptx_sim::timing::{self, Prediction};
use ptx_sim::units::{ElementType, Fill, TensorMap, TileParams, TmaError};
use ptx_sim::{Arg, Config, Device, DevicePtr, LaunchConfig, Module, Report, RunOptions, SimError, SimErrorKind};
use std::collections::BTreeMap;
use tile_interp::machine::Cause;
use tile_machine::Machine;

/// The results of a launch.
#[derive(Debug)]
pub struct Outcome {
    /// For each argument, its arrays after the launch.
    pub arrays: Vec<Vec<Array>>,
    /// The module's variables in global memory after the launch, by name. A later launch starts with these values.
    pub variables: BTreeMap<String, Vec<u8>>,
    pub report: Report,
}

/// A launch that could not be completed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the kernel has no entry")]
    NoEntry,
    #[error("the kernel has several entries; name one of: {0}")]
    SeveralEntries(String),
    #[error("no entry '{name}' in the kernel (it has: {entries})")]
    UnknownEntry { name: String, entries: String },
    #[error("{found} entry parameters ({given}) for entry '{entry}', which has {expected}{hint}")]
    ParameterCount { entry: String, found: usize, expected: usize, given: String, hint: &'static str },
    #[error("{argument} is {given}, but the parameter is {taken}{advice}")]
    ArgumentType { argument: String, given: String, taken: String, advice: String },
    #[error("the tensor map of {name}: {error}")]
    TensorMap { name: String, error: TmaError },
    /// Only kernels in PTX take structures and tensor maps.
    #[error("{0} is a structure or a tensor map, which tile programs do not take")]
    NoTileArgument(String),
    /// An error of the simulator.
    #[error("{0}")]
    Launch(#[from] SimError),
    /// An error of the timing model.
    #[error("{0}")]
    Timing(#[from] timing::Error),
    /// An error of the reference interpreter.
    #[error("{error}{}", hint(.error))]
    Reference {
        #[from]
        error: tile_interp::machine::Error,
    },
    /// An assertion of the program, and the text printed before it.
    #[error("assertion failed: {message}")]
    Assertion { message: String, printed: String },
    /// An error of the simulator while the kernel ran, and the text printed before it. `place` has lines on the source
    /// and on the argument.
    #[error("{error}{place}")]
    Run { error: Box<SimError>, printed: String, place: String },
}

/// An option with which the interpreter can run the program anyway.
fn hint(error: &tile_interp::machine::Error) -> &'static str {
    match error.cause {
        Cause::Outside { .. } => "; with --outside=masked it is padded and masked, as in most compiled code",
        _ => "",
    }
}

/// Runs a launch on a new device. The launch's arrays are not modified.
pub fn execute(module: &Module, launch: &Launch, options: &RunOptions) -> Result<Outcome, Error> {
    let Prepared { mut device, entry, pointers, parameters } = prepare(module, launch)?;
    let config = config(launch, &parameters);
    let mut report = Report::default();
    for _ in 0..launch.launches.max(1) {
        let next = device.launch(module, &entry.name, &config, options).map_err(|error| Error::Run {
            place: place::element(&error, launch, &pointers).map_or(String::new(), |text| format!("\n  at {text}")),
            error: Box::new(error),
            printed: format!("{}{}", report.output, device.printed_before_failure()),
        })?;
        report = Report { output: report.output + &next.output, ..next };
    }
    let mut arrays = vec![];
    for (n, (argument, pointers)) in launch.args.iter().zip(pointers).enumerate() {
        let mut of = vec![];
        for (a, pointer) in argument.arrays().iter().zip(pointers) {
            let mut array = a.array.clone();
            match device.read(pointer, &mut array.data) {
                // The memory between the elements of a part.
                Err(SimError { kind: SimErrorKind::Uninitialised { .. }, .. }) if a.extents.is_some() => {
                    device.read_unchecked(pointer, &mut array.data)?;
                }
                // Memory that is never written may remain uninitialized if no expectation covers it.
                Err(SimError { kind: SimErrorKind::Uninitialised { .. }, .. })
                    if a.unwritten && launch.expect.iter().all(|e| e.arg != n || e.source != Source::Description) =>
                {
                    device.read_unchecked(pointer, &mut array.data)?;
                }
                other => other?,
            }
            of.push(array);
        }
        arrays.push(of);
    }
    let mut variables = BTreeMap::new();
    for v in module.variables.iter().filter(|v| v.space == Space::Global) {
        let Some((pointer, size)) = device.symbol(module, &v.name)? else { continue };
        let mut bytes = vec![0; size as usize];
        device.read_unchecked(pointer, &mut bytes)?;
        variables.insert(v.name.clone(), bytes);
    }
    Ok(Outcome { arrays, variables, report })
}

/// Predicts the time of a launch on a machine.
pub fn predict(
    module: &Module,
    launch: &Launch,
    machine: &Machine,
    options: &timing::Options,
) -> Result<Prediction, Error> {
    let Prepared { mut device, entry, parameters, .. } = prepare(module, launch)?;
    Ok(timing::predict(&mut device, module, &entry.name, &config(launch, &parameters), machine, options)?)
}

/// A device with a launch's arrays, and the parameters of the entry.
struct Prepared<'a> {
    device: Device,
    entry: &'a Function,
    /// For each argument the addresses of its arrays.
    pointers: Vec<Vec<DevicePtr>>,
    parameters: Vec<Arg>,
}

fn config<'a>(launch: &Launch, parameters: &'a [Arg]) -> LaunchConfig<'a> {
    LaunchConfig {
        grid: launch.grid,
        block: launch.block,
        cluster: launch.cluster,
        dynamic_shared: launch.dynamic_shared,
        args: parameters,
    }
}

fn prepare<'a>(module: &'a Module, launch: &Launch) -> Result<Prepared<'a>, Error> {
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
            hint: parameter_hint(&launch.args, entry.params.len()),
        });
    }
    Ok(Prepared { device, entry, pointers, parameters })
}

/// A hint if the entry takes as many pointers as there are arrays.
pub fn parameter_hint(arguments: &[Argument], expected: usize) -> &'static str {
    let has_arrays = arguments.iter().any(|a| matches!(a, Argument::Array(_)));
    if has_arrays && arguments.len() == expected {
        ": to pass only the pointer of an array, write FILE.npy:ptr or zeros:TYPE:NxM:ptr"
    } else {
        ""
    }
}

/// Appends the parameters of an argument. Returns the addresses of its arrays.
fn flatten(device: &mut Device, argument: &Argument, out: &mut Vec<Arg>) -> Result<Vec<DevicePtr>, Error> {
    match argument {
        Argument::Bytes(bytes) => {
            out.push(Arg::Bytes(bytes.clone()));
            Ok(vec![])
        }
        Argument::Buffer(a) => {
            let pointer = upload(device, a);
            out.push(Arg::Ptr(pointer));
            Ok(vec![pointer])
        }
        Argument::TensorMap { of, params } => {
            let pointer = upload(device, of);
            let map = encode(params, pointer).map_err(|error| Error::TensorMap { name: of.name.clone(), error })?;
            out.push(Arg::Bytes(map.encode().to_vec()));
            Ok(vec![pointer])
        }
        Argument::Scalar { bytes, .. } => {
            out.push(Arg::Bytes(bytes.clone()));
            Ok(vec![])
        }
        Argument::Array(a) => {
            let pointer = upload(device, a);
            out.push(Arg::Ptr(pointer));
            out.extend(sizes_of(a));
            Ok(vec![pointer])
        }
        Argument::Multicast(members) => {
            // Multicast memory consists of pages, which never end inside a word.
            let bytes = members[0].array.data.len().next_multiple_of(4);
            let place = |a: &ArrayArgument| {
                let mut data = a.array.data.clone();
                data.resize(bytes, 0);
                device.alloc_from(&data)
            };
            let pointers: Vec<DevicePtr> = members.iter().map(place).collect();
            out.push(Arg::Ptr(device.multicast(&pointers, bytes as u64)));
            out.extend(sizes_of(&members[0]));
            Ok(pointers)
        }
        Argument::List(list) => {
            let mut words = vec![];
            let mut pointers = vec![];
            for a in list {
                let pointer = upload(device, a);
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

/// The passed extents and strides.
fn sizes_of(a: &ArrayArgument) -> impl Iterator<Item = Arg> {
    let wide = a.wide_index;
    extents_and_strides(a).map(move |n| if wide { Arg::I64(n as i64) } else { Arg::I32(n as i32) })
}

/// Copies an array to the device.
fn upload(device: &mut Device, a: &ArrayArgument) -> DevicePtr {
    if !a.unwritten && a.extents.is_none() {
        return device.alloc_from(&a.array.data);
    }
    let pointer = device.alloc(a.array.data.len() as u64);
    if a.extents.is_some() {
        let size = a.array.item_size();
        for at in a.passed_elements().map(|n| n * size) {
            // Launches whose part exceeds the array have been rejected.
            let _ = device.write(pointer.offset(at as u64), &a.array.data[at..][..size]);
        }
    }
    pointer
}

fn encode(params: &MapParams, address: DevicePtr) -> Result<TensorMap, TmaError> {
    let element = ElementType::from_driver(params.element).ok_or(TmaError::Map("element type does not exist"))?;
    TensorMap::tiled(&TileParams {
        element,
        address: address.0,
        dims: &params.dims,
        strides: &params.strides,
        box_dims: &params.box_dims,
        element_strides: &params.steps,
        interleave: 0,
        swizzle: params.swizzle,
        fill: if params.fill_nan { Fill::Nan } else { Fill::Zero },
    })
}

pub(crate) fn extents_and_strides(a: &ArrayArgument) -> impl Iterator<Item = u64> {
    a.passed_extents().into_iter().chain(a.passed_strides())
}

/// The number of parameters that each argument passes, for the message about a wrong total.
pub(crate) fn describe(args: &[Argument]) -> String {
    let one = |a: &Argument| match a {
        Argument::Scalar { element, .. } => format!("{}: 1", element.name()),
        Argument::Array(a) => format!("{}: {}", a.name, 1 + 2 * a.array.shape.len()),
        Argument::List(_) => "list: 2".into(),
        Argument::Multicast(list) => format!("multicast {}: {}", list[0].name, 1 + 2 * list[0].array.shape.len()),
        Argument::Buffer(a) => format!("buffer {}: 1", a.name),
        Argument::Bytes(b) => format!("{} bytes: 1", b.len()),
        Argument::TensorMap { of, .. } => format!("tensor map of {}: 1", of.name),
    };
    if args.is_empty() { "no arguments".into() } else { args.iter().map(one).collect::<Vec<_>>().join(", ") }
}

/// Returns complaints about the results of a launch according to its expectations.
pub fn check(launch: &Launch, outcome: &Outcome) -> Vec<String> {
    let mut complaints = vec![];
    for expect in &launch.expect {
        let (Some(argument), Some(got)) = (launch.args.get(expect.arg), outcome.arrays.get(expect.arg)) else {
            continue;
        };
        let list = matches!(argument, Argument::List(_) | Argument::Multicast(_));
        for (n, ((a, got), want)) in argument.arrays().iter().zip(got).zip(&expect.values).enumerate() {
            let name = if list { format!("arg {}[{n}]", expect.arg) } else { format!("arg {}", expect.arg) };
            let part = a.extents.is_some() && expect.source != Source::Description;
            let rules = Rules {
                how: expect.how,
                loose: expect.loose.as_deref(),
                places: part.then(|| a.passed_elements().collect()),
                promised: match &expect.source {
                    Source::Promised(arrays) => arrays.get(n).map(Vec::as_slice),
                    _ => None,
                },
            };
            complaints.extend(compare_by(&name, got, a.element, want, rules));
        }
    }
    if let Some(lines) = &launch.stdout {
        complaints.extend(compare_lines(&outcome.report.output, lines));
    }
    complaints
}
