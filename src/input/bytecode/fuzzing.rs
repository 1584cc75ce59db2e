//! Bodies of the fuzz targets, which a stable toolchain can also run over a corpus.
//!
//! Each takes arbitrary bytes and panics only if this crate breaks one of its guarantees:
//!
//! * The reader never panics, and strict mode never accepts a file that the lenient mode rejects.
//! * A file that was read can be written in its container and version. The result can be read again and is then
//!   written to the same bytes.

use crate::attrs::element_count;
use crate::container::{Payload, Profile, detect, read_envelope, write_envelope};
use crate::error::SectionId;
use crate::module::{Module, Version};
use crate::reader::{ReadOptions, read, read_with_profile};
use crate::varint::Cursor;
use crate::writer::write;

/// Preview content may be read, so that its readers are tested too.
fn options() -> ReadOptions {
    ReadOptions { preview: true, ..ReadOptions::default() }
}

/// Passes arbitrary bytes to the reader.
pub fn raw(data: &[u8]) {
    if let Some((module, profile)) = accepted(data) {
        stable(&module, profile);
    }
}

/// The module of a readable file. Checks that errors have an offset and that the strict reader does not accept more.
fn accepted(data: &[u8]) -> Option<(Module, Profile)> {
    let lenient = read_with_profile(data, &options());
    let strict = read_with_profile(data, &ReadOptions { strict: true, ..options() });
    match (&lenient, strict) {
        (Err(e), Ok(_)) => panic!("strict reading accepts what lenient reading refuses: {e}"),
        (Err(e), _) => assert!(e.offset() <= data.len(), "{e} in {} bytes", data.len()),
        (Ok(_), _) => {}
    }
    lenient.ok()
}

/// Checks that a module survives writing and reading without a change.
pub fn round_trip(data: &[u8]) {
    if let Ok((module, profile)) = read_with_profile(data, &options()) {
        stable(&module, profile);
        // If the other container can express the program, its bytes must survive as well.
        let other = if profile == Profile::Public { Profile::Specification } else { Profile::Public };
        if other == Profile::Specification && elements(&module) > MOST_ELEMENTS {
            return;
        }
        if let Ok(bytes) = write(&module, other, crate::schema::V13_1) {
            rewritten(&bytes, other);
        }
    }
}

/// Limit for the specification container. It expands splats, so a few bytes can become the largest tile, which is
/// slow and tests nothing new.
const MOST_ELEMENTS: u64 = 1 << 18;

/// Number of elements of all constants of operations and globals.
fn elements(module: &Module) -> u64 {
    let of_type = |ty| match module.ty(ty) {
        crate::Type::Tile { shape, .. } => element_count(shape).unwrap_or(0),
        _ => 0,
    };
    let constants = module.functions.iter().flat_map(|f| f.body.all_ops()).filter(|op| op.spec.name == "constant");
    let of_ops = constants.flat_map(|op| op.result_types()).map(of_type);
    of_ops.chain(module.globals.iter().map(|g| of_type(g.ty))).fold(0, u64::saturating_add)
}

fn stable(module: &Module, profile: Profile) {
    rewritten(&write(module, profile, module.version).expect("what was read can be written"), profile);
}

/// Checks that written bytes can be read in strict mode and are written to the same bytes again.
fn rewritten(first: &[u8], profile: Profile) {
    let again = read(first, &ReadOptions { strict: true, ..options() }).expect("what was written reads");
    let second = write(&again, profile, again.version).expect("what was read can be written");
    assert!(first == second, "the second writing differs");
}

/// Damages one section of a valid file. The input is the file followed by [`INSTRUCTIONS`] bytes that describe the
/// damage. Lengths are then corrected, so the damage reaches the section's own reader.
pub fn section_aware(data: &[u8]) {
    if let Some(damaged) = damaged(data) {
        raw(&damaged);
    }
}

/// The damaged file that the input of [`section_aware`] describes.
pub fn damaged(data: &[u8]) -> Option<Vec<u8>> {
    let (file, how) = data.len().checked_sub(INSTRUCTIONS).and_then(|n| data.split_at_checked(n))?;
    damage(file, how)
}

/// Length of the instructions of [`section_aware`].
pub const INSTRUCTIONS: usize = 8;

/// The place of the version's tag in the header of the public container.
const TAG: std::ops::Range<usize> = 10..12;

fn damage(file: &[u8], how: &[u8]) -> Option<Vec<u8>> {
    let wire = detect(file).ok()?;
    let envelope = read_envelope(&mut Cursor::new(file, false), wire, &options()).ok()?;
    let mut sections: Vec<Payload> = SectionId::ALL
        .into_iter()
        .filter(|id| *id != SectionId::End)
        .filter_map(|id| envelope.section(id).map(|w| Payload { id, bytes: file[w.pos()..w.end()].to_vec() }))
        .collect();
    let chosen = how[0] as usize % sections.len().max(1);
    let bytes = &mut sections.get_mut(chosen)?.bytes;
    if bytes.is_empty() {
        return None;
    }
    let at = (how[1] as usize | (how[2] as usize) << 8 | (how[3] as usize) << 16) % bytes.len();
    let n = 1 + how[5] as usize % 16;
    let end = (at + n).min(bytes.len());
    match how[4] % 7 {
        0 => bytes[at] ^= 1 << (how[5] % 8),
        1 => bytes[at] = how[5],
        2 => bytes.insert(at, how[5]),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let copy = bytes[at..end].to_vec();
            let to = (how[6] as usize | (how[7] as usize) << 8) % (bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        // Replace a byte with a long integer.
        5 => drop(bytes.splice(at..=at, [0xFF, 0xFF, how[5] | 0x80, how[6] & 0x7F])),
        _ => bytes.truncate(at),
    }
    let mut damaged = write_envelope(wire, envelope.version, 1, &sections);
    // The header of the public container tells whether the sections have preview content.
    if wire.profile == Profile::Public
        && let (Some(to), Some(from)) = (damaged.get_mut(TAG), file.get(TAG))
    {
        to.copy_from_slice(from);
    }
    Some(damaged)
}

/// The first byte selects a version for the valid public file that follows.
pub fn version_swap(data: &[u8]) {
    let Some((choice, file)) = data.split_first() else { return };
    let mut file = file.to_vec();
    if let Some(minor) = file.get_mut(9) {
        *minor = choice % 6;
    }
    let Some((module, profile)) = accepted(&file) else { return };
    if profile != Profile::Public {
        return stable(&module, profile);
    }
    // A module can always be written in the version that it was read in.
    assert!(write(&module, profile, module.version).is_ok(), "what was read can be written");
    for minor in 1..=4 {
        if let Ok(bytes) = write(&module, profile, Version::new(13, minor)) {
            rewritten(&bytes, profile);
        }
    }
}
