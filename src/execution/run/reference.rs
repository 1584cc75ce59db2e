//! Runs a launch on the reference interpreter.
//!
//! Arguments become entry parameters by the same convention as on the simulated device (see [`crate::execute`]).
//! Grid, entry and expectations of the launch have the same meaning; the CTA size and shared memory are ignored.

use crate::execute::{Error, Outcome, describe, extents_and_strides, parameter_hint};
use crate::launch::{Argument, ArrayArgument, Launch};
use ptx_sim::Report;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tile_diag::Diagnostic;
use tile_interface::{CompileError, InputKind};
use tile_interp::machine::{BrokenPromise, HostFunction, Limits, Machine};
use tile_interp::program::{Block, OpKind, Program};
use tile_interp::scalar::Scalar;

/// Parses Tile IR into a program of the interpreter. The binary that links MLIR provides one.
pub type Reader<'a> = dyn Fn(&[u8], InputKind, &mut dyn FnMut(Diagnostic)) -> Result<Program, CompileError> + 'a;

/// Finds a function in a shared library, to compute calls of a function of a tile library. `None` if the library lacks
/// it. The binary provides one, because calling code of another language is unsafe.
pub type HostLoader<'a> = dyn Fn(&Path, &str) -> Result<Option<HostFunction>, String> + 'a;

/// The host functions of the calls of a program, from the first library that has each. Functions without one are
/// reported when they are called.
///
/// # Errors
/// A library cannot be loaded.
pub fn host_functions<P: AsRef<Path>>(
    program: &Program,
    libraries: &[P],
    loader: &HostLoader<'_>,
) -> Result<Vec<(String, HostFunction)>, String> {
    let mut callees = BTreeSet::new();
    program.entries.iter().for_each(|e| collect_callees(&e.body, &mut callees));
    let mut functions = vec![];
    for callee in callees {
        for library in libraries {
            if let Some(function) = loader(library.as_ref(), callee)? {
                functions.push((callee.to_owned(), function));
                break;
            }
        }
    }
    Ok(functions)
}

fn collect_callees<'p>(block: &'p Block, callees: &mut BTreeSet<&'p str>) {
    for op in &block.ops {
        if let OpKind::ForeignCall { callee, .. } = &op.kind {
            callees.insert(callee);
        }
        op.regions.iter().for_each(|region| collect_callees(region, callees));
    }
}

/// The results of a launch.
#[derive(Debug)]
pub struct ReferenceResults {
    pub outcome: Outcome,
    /// The elements of all arrays, with the precision that the language promises for each.
    pub promised: Vec<Vec<Vec<Scalar>>>,
    /// A decision that depended on an undetermined element. If set, the results are unknown.
    pub guess: Option<String>,
}

/// Runs a launch once, with these host functions in place of functions of tile libraries, and passes broken promises
/// that are not errors to `note`. The launch's arrays are not modified.
pub fn execute(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    host: &[(String, HostFunction)],
    note: &mut dyn FnMut(&BrokenPromise),
) -> Result<ReferenceResults, Error> {
    let names = || program.entries.iter().map(|e| e.name.as_str()).collect::<Vec<_>>().join(", ");
    let entry = match &launch.entry {
        Some(name) => program
            .entries
            .iter()
            .find(|e| e.name == *name)
            .ok_or_else(|| Error::UnknownEntry { name: name.clone(), entries: names() })?,
        None => match &program.entries[..] {
            [] => return Err(Error::NoEntry),
            [one] => one,
            _ => return Err(Error::SeveralEntries(names())),
        },
    };
    let mut machine = Machine::new(program);
    host.iter().for_each(|(name, function)| machine.register(name, function.clone()));
    let mut addresses = vec![];
    let mut parameters = vec![];
    for (i, argument) in launch.args.iter().enumerate() {
        addresses.push(flatten(&mut machine, &format!("argument {i}"), argument, &mut parameters)?);
    }
    if parameters.len() != entry.body.arguments.len() {
        return Err(Error::ParameterCount {
            entry: entry.name.clone(),
            found: parameters.len(),
            expected: entry.body.arguments.len(),
            given: describe(&launch.args),
            hint: parameter_hint(&launch.args, entry.body.arguments.len()),
        });
    }
    let report = machine.launch(&entry.name, launch.grid, &parameters, limits);
    machine.broken_promises.iter().for_each(note);
    let report = report?;
    if let Some(message) = report.failed_assertions.first().cloned() {
        return Err(Error::Assertion { message, printed: report.output });
    }
    let (mut arrays, mut promised) = (vec![], vec![]);
    for (argument, addresses) in launch.args.iter().zip(addresses) {
        let (mut of, mut scalars) = (vec![], vec![]);
        for (a, address) in argument.arrays().iter().zip(addresses) {
            let mut array = a.array.clone();
            if let Some((bytes, _)) = machine.memory.contents(address) {
                array.data.copy_from_slice(bytes);
            }
            scalars.push(machine.array(address, a.element.number(), array.len()));
            of.push(array);
        }
        arrays.push(of);
        promised.push(scalars);
    }
    let outcome =
        Outcome { arrays, variables: BTreeMap::new(), report: Report { output: report.output, ..Report::default() } };
    Ok(ReferenceResults { outcome, promised, guess: report.guess })
}

/// Copies an array to memory as on the simulated device. Memory that is not initialized holds zeros that are unknown.
fn upload(machine: &mut Machine<'_>, name: &str, a: &ArrayArgument) -> u64 {
    let data = &a.array.data;
    if !a.unwritten && a.extents.is_none() {
        return machine.memory.allocate(name, data.clone());
    }
    let address = machine.memory.allocate_unknown(name, data.len() as u64, 1);
    if a.extents.is_some() {
        let size = a.array.item_size();
        for at in a.passed_elements().map(|n| n * size) {
            machine.memory.fill(address + at as u64, &data[at..][..size]);
        }
    }
    address
}

/// Appends the parameters of an argument, as bits. Returns the addresses of its arrays.
fn flatten(machine: &mut Machine<'_>, name: &str, argument: &Argument, out: &mut Vec<u64>) -> Result<Vec<u64>, Error> {
    let bits = |bytes: &[u8]| bytes.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
    Ok(match argument {
        Argument::Buffer(a) => {
            let address = upload(machine, name, a);
            out.push(address);
            vec![address]
        }
        Argument::Bytes(_) | Argument::TensorMap { .. } => return Err(Error::NoTileArgument(name.to_owned())),
        Argument::Scalar { bytes, .. } => {
            out.push(bits(bytes));
            vec![]
        }
        Argument::Array(a) => {
            let address = upload(machine, name, a);
            out.push(address);
            out.extend(extents_and_strides(a));
            vec![address]
        }
        Argument::Multicast(members) => {
            let allocate = |(i, a): (usize, &ArrayArgument)| upload(machine, &format!("{name}[{i}]"), a);
            let addresses: Vec<u64> = members.iter().enumerate().map(allocate).collect();
            out.push(machine.memory.multicast(&addresses, members[0].array.data.len() as u64));
            out.extend(extents_and_strides(&members[0]));
            addresses
        }
        Argument::List(list) => {
            let mut words = vec![];
            let mut addresses = vec![];
            for (i, a) in list.iter().enumerate() {
                let address = upload(machine, &format!("{name}[{i}]"), a);
                words.push(address);
                words.extend(extents_and_strides(a));
                addresses.push(address);
            }
            let bytes = words.into_iter().flat_map(u64::to_le_bytes).collect();
            out.push(machine.memory.allocate(name, bytes));
            out.push(list.len() as u64);
            addresses
        }
    })
}
