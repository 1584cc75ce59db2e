//! Says where a launch failed in the user's terms: the line of the source, and the element of which argument.

use crate::launch::{ArrayArgument, Launch};
use ptx_sim::timing::LineTable;
use ptx_sim::{DevicePtr, SimError, SimErrorKind};

/// Maximum characters of a line of the source.
const WIDTH: usize = 100;

/// The element of an argument at the address of an error, if it is in or near an array.
pub(crate) fn element(error: &SimError, launch: &Launch, pointers: &[Vec<DevicePtr>]) -> Option<String> {
    let address = match &error.kind {
        SimErrorKind::OutOfBounds { space: "global" | "generic", address, .. }
        | SimErrorKind::Misaligned { space: "global" | "generic", address, .. }
        | SimErrorKind::ReadOnly { address } => *address,
        SimErrorKind::Uninitialised { space: "global" | "generic", address_of_byte, .. } => *address_of_byte,
        SimErrorKind::Race(race) if matches!(race.space, "global" | "generic") => race.address,
        _ => return None,
    };
    let arrays = launch.args.iter().zip(pointers).enumerate().flat_map(|(number, (argument, pointers))| {
        let is_list = argument.arrays().len() > 1;
        let name =
            move |i: usize| if is_list { format!("argument {number}[{i}]") } else { format!("argument {number}") };
        argument.arrays().iter().zip(pointers).enumerate().map(move |(i, (a, pointer))| (name(i), a, pointer.0))
    });
    // The array that contains the address, or the last one before it.
    let (name, a, start) = arrays.filter(|(_, _, start)| *start <= address).max_by_key(|(_, _, start)| *start)?;
    Some(format!("{name} ({}): {}", a.name, position(a, address - start)))
}

/// The element at an offset in bytes.
fn position(a: &ArrayArgument, offset: u64) -> String {
    let at = (offset / a.array.item_size().max(1) as u64) as usize;
    let listed = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let shape = listed(&a.array.shape);
    match a.array.len() {
        count if at < count => format!("element [{}] of [{shape}]", listed(&a.array.index_of(at))),
        count => format!("element {at} of {count}, beyond its end, for an array of shape [{shape}]"),
    }
}

/// The line of the source of an error in PTX with line information, with its text if the file can be read.
pub(crate) fn line(error: &SimError, ptx: &str) -> Option<String> {
    let table = LineTable::of(ptx);
    let (file, line) = table.at(error.at.as_ref()?.line)?;
    let text = std::fs::read_to_string(file).ok();
    let text = text.as_ref().and_then(|t| t.lines().nth(line.checked_sub(1)? as usize)).map(str::trim);
    Some(match text.filter(|t| !t.is_empty()) {
        Some(text) if text.chars().count() > WIDTH => {
            format!("{file}:{line}: {}...", text.chars().take(WIDTH).collect::<String>())
        }
        Some(text) => format!("{file}:{line}: {text}"),
        None => format!("{file}:{line}"),
    })
}
