//! Test kernels as files, for running them elsewhere.
//!
//! With `PTX_SIM_CASES=DIR` in the environment, every test kernel that finishes under the plain schedule is written to
//! its own folder in `DIR`: `kernel.ptx`, and the launch with its arrays and expected results in the format of
//! `tile-run --launch`. `cargo xtask ptx-cases` does this for all of them.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use ptx_sim::units::{ElementType, Fill, TileParams};
use ptx_sim::{LaunchConfig, Module, Report};
use tile_launch::element::Element;
use tile_launch::launch::{Argument, ArrayArgument, Expect, Launch, MapParams, Match, Source};
use tile_launch::npy::Array;

/// The cases written under each name.
static WRITTEN: Mutex<BTreeMap<String, Vec<(String, Launch)>>> = Mutex::new(BTreeMap::new());

/// An argument of a hand-written kernel.
pub enum Given<'a> {
    /// Contents before and after.
    Memory(Element, &'a [u8], &'a [u8]),
    /// Memory that is unwritten before, with its contents afterwards.
    Unwritten(Element, &'a [u8]),
    /// A tensor map over floats, with their contents before and after.
    Mapped(&'a TileParams<'a>, &'a [u8], &'a [u8]),
    /// A 32-bit number.
    Word(u32),
    Structure(&'a [u8]),
}

/// Parts of PTX whose results legitimately differ between machines.
const OPEN: [&str; 8] = [".approx", "%clock", "%globaltimer", "%smid", "%nsmid", "%warpid", "activemask", "elect"];

/// Writes a hand-written kernel as a case named after the running test. The expected results are the simulator's,
/// which the test checks as far as it can.
pub fn record_run(ptx: &str, entry: &str, launch: &LaunchConfig<'_>, given: &[Given<'_>], report: &Report) {
    if std::env::var_os("PTX_SIM_CASES").is_none() {
        return;
    }
    let array = |element: Element, data: &[u8]| {
        let count = data.len() / element.size();
        Array { descr: element.descr().into(), shape: vec![count as u64], fortran: false, data: data.into() }
    };
    let exact = !OPEN.iter().any(|part| ptx.contains(part));
    let note = if exact { "expected results are the simulator's" } else { "results differ between machines" };
    let mut description = Launch {
        entry: Some(entry.into()),
        grid: launch.grid,
        block: launch.block,
        cluster: launch.cluster,
        dynamic_shared: launch.dynamic_shared,
        note: Some(note.into()),
        ..Launch::default()
    };
    for (arg, given) in given.iter().enumerate() {
        let (element, before, after) = match given {
            Given::Memory(element, before, after) => (*element, Some(*before), *after),
            Given::Unwritten(element, after) => (*element, None, *after),
            Given::Mapped(_, before, after) => (Element::F32, Some(*before), *after),
            Given::Word(value) => {
                let bytes = value.to_le_bytes().to_vec();
                description.args.push(Argument::Scalar { element: Element::U32, bytes });
                continue;
            }
            Given::Structure(bytes) => {
                description.args.push(Argument::Bytes(bytes.to_vec()));
                continue;
            }
        };
        let contents = array(element, before.unwrap_or(&vec![0; after.len()]));
        let (wide_index, unwritten) = (false, before.is_none());
        let name = "contents.npy".into();
        let argument =
            ArrayArgument { name, array: contents, element, wide_index, strides: None, extents: None, unwritten };
        description.args.push(match given {
            Given::Mapped(map, ..) => Argument::TensorMap { of: argument, params: params(map) },
            _ => Argument::Buffer(argument),
        });
        if exact {
            description.expect.push(Expect {
                arg,
                values: vec![array(element, after)],
                how: Match::Bits,
                loose: None,
                source: Source::Description,
            });
        }
    }
    if exact && !report.output.is_empty() {
        description.stdout = Some(report.output_lines().map(String::from).collect());
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("main").replace("::", "-");
    record(&format!("{}-{test}", env!("CARGO_CRATE_NAME")), ptx, &description);
}

/// The tensor map of a host, in the form of a launch description.
pub fn params(map: &TileParams<'_>) -> MapParams {
    MapParams {
        element: (0..16).find(|n| ElementType::from_driver(*n) == Some(map.element)).unwrap_or(0),
        dims: map.dims.into(),
        strides: map.strides.into(),
        box_dims: map.box_dims.into(),
        steps: map.element_strides.into(),
        swizzle: map.swizzle,
        fill_nan: map.fill == Fill::Nan,
    }
}

/// Writes a case as `name`, or as `name.2` and so on for further cases. Identical cases are written once.
pub fn record(name: &str, ptx: &str, launch: &Launch) {
    let Some(root) = std::env::var_os("PTX_SIM_CASES").map(PathBuf::from) else { return };
    let mut written = WRITTEN.lock().unwrap_or_else(|e| e.into_inner());
    let cases = written.entry(name.into()).or_default();
    if cases.iter().any(|(p, l)| p == ptx && l == launch) {
        return;
    }
    cases.push((ptx.into(), launch.clone()));
    let folder = match cases.len() {
        1 => root.join(name),
        n => root.join(format!("{name}.{n}")),
    };
    let kernel = folder.join("kernel.ptx");
    std::fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    std::fs::write(&kernel, ptx).unwrap_or_else(|e| panic!("{}: {e}", kernel.display()));
    let mut launch = Launch { kernel: Some(kernel), ..launch.clone() };
    // A reader without a PTX parser needs the dimensions that the entry itself specifies.
    if let Some(entry) = Module::parse(ptx).ok().as_ref().and_then(|m| m.function(launch.entry.as_deref()?)) {
        launch.block = launch.block.or(entry.directives.reqntid);
        launch.cluster = launch.cluster.or(entry.directives.reqnctapercluster);
    }
    launch.write(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
}
