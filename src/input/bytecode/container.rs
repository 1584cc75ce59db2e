//! The two envelopes: magic, version and the list of sections.
//!
//! Public container: a fixed-width version, then the sections one after another, each preceded by a small header. A
//! zero byte ends the file. Payload alignment is counted from the start of the file.
//!
//! ```text
//! 7F 54 69 6C 65 49 52 00 | 0D 01 | 00 00 | 82 18 08 CB | 24 bytes | ... | 00
//! magic                     13.1    tag     Func, length 24, align 8, one byte of padding    end
//! ```
//!
//! Specification container: the version as VarInts, the dialects, then a 24-byte descriptor for each section, the
//! last of which is the end marker. The descriptors give the positions of the bodies.
//!
//! ```text
//! 06 03 80 54 69 6C 65 00 | 0D 01 00 | 01  09 "cuda_tile" 02 | 03 | descriptor x 3 | bodies
//! magic                     13.1.0     one dialect, two ops     three sections
//! ```

use crate::error::{ErrorKind, Field, ReadError, ReadResult, SectionId};
use crate::module::Version;
use crate::reader::ReadOptions;
use crate::schema::{V13_1, V13_5};
use crate::varint::{Cursor, Encode};

/// The containers, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    Public,
    Specification,
}

/// Kinds of self-contained attributes. The profile defines their wire tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttrTag {
    Integer,
    Float,
    Bool,
    Type,
    String,
    Array,
    /// Type and constant index.
    DenseRef,
    /// Type, shape and inline elements.
    DenseInline,
    DenseStrings,
    DivBy,
    /// Little-endian elements.
    FixedI64s,
    /// Zig-zag elements.
    VarI64s,
    SameElements,
    Dictionary,
    Hints,
    BoundedLower,
    BoundedUpper,
    Bounded,
    Predicate,
}

/// The differences between the containers.
#[derive(Debug)]
pub struct WireProfile {
    pub profile: Profile,
    pub magic: [u8; 8],
    pub min: Version,
    pub max: Version,
    /// Padding byte that the writer emits; the reader ignores its value.
    pub padding: u8,
    /// Number of the first debug attribute in references: 1 reserves 0 for "unknown".
    pub(crate) debug_base: u64,
    /// Overlong integers are errors even if the reader is not in strict mode.
    pub(crate) canonical: bool,
    /// Attribute kinds by tag.
    pub(crate) attr_tags: &'static [Option<AttrTag>],
    /// Highest section id.
    pub(crate) last_section: SectionId,
}

pub static PUBLIC: WireProfile = WireProfile {
    profile: Profile::Public,
    magic: *b"\x7FTileIR\0",
    min: V13_1,
    max: V13_5,
    padding: 0xCB,
    debug_base: 1,
    canonical: false,
    attr_tags: &[
        None,
        Some(AttrTag::Integer),
        Some(AttrTag::Float),
        Some(AttrTag::Bool),
        Some(AttrTag::Type),
        Some(AttrTag::String),
        Some(AttrTag::Array),
        Some(AttrTag::DenseRef),
        Some(AttrTag::DivBy),
        Some(AttrTag::SameElements),
        Some(AttrTag::Dictionary),
        Some(AttrTag::Hints),
        Some(AttrTag::Bounded),
    ],
    last_section: SectionId::Producer,
};

pub static SPECIFICATION: WireProfile = WireProfile {
    profile: Profile::Specification,
    magic: *b"\x06\x03\x80Tile\0",
    min: V13_1,
    max: V13_1,
    padding: 0xCF,
    debug_base: 0,
    canonical: true,
    attr_tags: &[
        None,
        Some(AttrTag::String),
        Some(AttrTag::Float),
        Some(AttrTag::Type),
        Some(AttrTag::DenseInline),
        Some(AttrTag::DenseStrings),
        Some(AttrTag::DivBy),
        Some(AttrTag::FixedI64s),
        Some(AttrTag::VarI64s),
        Some(AttrTag::SameElements),
        Some(AttrTag::BoundedLower),
        Some(AttrTag::BoundedUpper),
        Some(AttrTag::Bounded),
        Some(AttrTag::Predicate),
        Some(AttrTag::Integer),
        Some(AttrTag::Bool),
        Some(AttrTag::Array),
        Some(AttrTag::Dictionary),
    ],
    last_section: SectionId::Global,
};

impl Profile {
    pub fn wire(self) -> &'static WireProfile {
        match self {
            Profile::Public => &PUBLIC,
            Profile::Specification => &SPECIFICATION,
        }
    }
}

impl WireProfile {
    pub fn is_public(&self) -> bool {
        self.profile == Profile::Public
    }

    pub(crate) fn attr_tag(&self, wire: u64) -> Option<AttrTag> {
        *self.attr_tags.get(usize::try_from(wire).ok()?)?
    }

    pub(crate) fn wire_tag(&self, tag: AttrTag) -> Option<u64> {
        self.attr_tags.iter().position(|&t| t == Some(tag)).map(|p| p as u64)
    }

    pub fn supports(&self, v: Version) -> bool {
        v.at_least(self.min) && self.max.at_least(v)
    }
}

/// Alignment that the public container requires of a section's payload.
pub(crate) fn required_alignment(section: SectionId) -> Option<usize> {
    match section {
        SectionId::String | SectionId::Type => Some(4),
        SectionId::Func | SectionId::Debug | SectionId::Constant => Some(8),
        SectionId::End | SectionId::Global | SectionId::Producer => None,
    }
}

/// Whether the data starts with the magic of one of the containers.
pub fn is_bytecode(data: &[u8]) -> bool {
    detect(data).is_ok()
}

/// Whether the data starts like upstream MLIR bytecode.
pub fn is_mlir_bytecode(data: &[u8]) -> bool {
    data.starts_with(b"ML\xEFR")
}

/// Selects the container by the magic.
pub(crate) fn detect(data: &[u8]) -> ReadResult<&'static WireProfile> {
    let Some(got) = data.get(..8) else {
        return Err(ReadError::new(0, Field::Magic.into()));
    };
    for p in [&PUBLIC, &SPECIFICATION] {
        if got == p.magic {
            return Ok(p);
        }
    }
    // The first byte tells which of the two was intended.
    let expected = if got[0] == SPECIFICATION.magic[0] { SPECIFICATION.magic } else { PUBLIC.magic };
    let position = got.iter().zip(&expected).position(|(a, b)| a != b).unwrap_or(0);
    Err(ReadError::new(position, ErrorKind::BadMagic { position, got: got.to_vec(), expected }))
}

/// The decoded envelope: the version and a window for each section.
pub(crate) struct Envelope<'a> {
    pub version: Version,
    sections: [Option<Cursor<'a>>; 8],
}

impl<'a> Envelope<'a> {
    pub fn section(&self, id: SectionId) -> Option<Cursor<'a>> {
        self.sections[id as usize]
    }

    pub fn mandatory(&self, id: SectionId) -> ReadResult<Cursor<'a>> {
        self.section(id).ok_or_else(|| ReadError::new(0, ErrorKind::MissingSection(id)))
    }

    /// The sections in file order.
    pub fn order(&self) -> Vec<SectionId> {
        let mut order: Vec<SectionId> =
            SectionId::ALL.into_iter().filter(|s| *s != SectionId::End && self.section(*s).is_some()).collect();
        order.sort_by_key(|s| self.section(*s).map(|w| w.pos()));
        order
    }

    fn add(&mut self, id: SectionId, offset: usize, window: Cursor<'a>) -> ReadResult<()> {
        if self.sections[id as usize].replace(window).is_some() {
            return Err(ReadError::new(offset, ErrorKind::DuplicateSection(id)));
        }
        Ok(())
    }
}

/// Reads the magic, the version and the section list.
pub(crate) fn read_envelope<'a>(
    cur: &mut Cursor<'a>,
    wire: &WireProfile,
    options: &ReadOptions,
) -> ReadResult<Envelope<'a>> {
    cur.bytes(8, Field::Magic)?;
    match wire.profile {
        Profile::Public => read_public(cur, wire, options),
        Profile::Specification => read_specification(cur, wire, options),
    }
}

fn check_version(cur: &Cursor, wire: &WireProfile, major: u64, minor: u64, patch: Option<u64>) -> ReadResult<Version> {
    let version = match (u8::try_from(major), u8::try_from(minor)) {
        (Ok(major), Ok(minor)) => {
            Some(Version { major, minor, tag: patch.unwrap_or(0).min(u64::from(u32::MAX)) as u32 })
        }
        _ => None,
    };
    match version {
        Some(v) if wire.supports(v) => Ok(v),
        _ => cur.fail(ErrorKind::UnsupportedVersion { major, minor, patch, min: wire.min, max: wire.max }),
    }
}

/// Bit of the version tag in versions with previews: the file needs a preview feature.
pub(crate) const PREVIEW: u32 = 1;

/// Checks the tag of the version. Before 13.5 any tag is accepted.
fn check_tag(cur: &Cursor, version: Version, options: &ReadOptions) -> ReadResult<()> {
    if !version.at_least(V13_5) {
        if version.tag == PREVIEW && options.preview {
            return cur.fail(ErrorKind::PreviewVersion { version, tag: version.tag });
        }
        return Ok(());
    }
    if version.tag & !PREVIEW != 0 {
        return cur.fail(ErrorKind::VersionTag(version.tag & !PREVIEW));
    }
    if version.tag & PREVIEW != 0 && !options.preview {
        return cur.fail(ErrorKind::PreviewOff);
    }
    Ok(())
}

fn read_public<'a>(cur: &mut Cursor<'a>, wire: &WireProfile, options: &ReadOptions) -> ReadResult<Envelope<'a>> {
    let major = cur.byte(Field::Major)?;
    let minor = cur.byte(Field::Minor)?;
    let tag = cur.u16_le(Field::VersionTag)?;
    let version = check_version(cur, wire, major.into(), minor.into(), Some(tag.into()))?;
    check_tag(cur, version, options)?;
    let mut envelope = Envelope { version, sections: [None; 8] };
    loop {
        if cur.is_empty() {
            return cur.fail(ErrorKind::EndSectionMissing);
        }
        let header = cur.pos();
        let byte = cur.byte(Field::SectionHeader)?;
        let (id, aligned) = (byte & 0x7F, byte & 0x80 != 0);
        let Some(section) = SectionId::from_wire(id.into()).filter(|s| *s <= wire.last_section) else {
            return Err(ReadError::new(header, ErrorKind::UnknownSection(id.into())));
        };
        if section == SectionId::End {
            if aligned {
                return cur.fail(ErrorKind::EndSectionAligned);
            }
            if !cur.is_empty() {
                return cur.fail(ErrorKind::EndSectionNotLast);
            }
            return Ok(envelope);
        }
        let length = cur.varint(Field::SectionLength)?;
        let alignment = if aligned { Some(cur.varint(Field::SectionAlignment)?) } else { None };
        if let Some(a) = alignment {
            if !a.is_power_of_two() {
                return cur.fail(ErrorKind::InvalidAlignment(a));
            }
            // An alignment beyond the end of the input can only be met at offset 0, where no payload starts.
            let a = usize::try_from(a).unwrap_or(usize::MAX);
            if a > cur.end() {
                return cur.fail(Field::SectionPadding);
            }
            cur.align(a, 0, Field::SectionPadding)?;
        }
        if let Some(required) = required_alignment(section)
            && alignment.is_none_or(|a| a % required as u64 != 0)
        {
            return cur.fail(ErrorKind::SectionMisaligned { section, required });
        }
        if length > cur.left() as u64 {
            return cur.fail(ErrorKind::SectionTooLong { length, left: cur.left() });
        }
        let window = cur.split(length as usize, Field::SectionHeader)?;
        envelope.add(section, header, window)?;
    }
}

/// Size of a `BlobSectionDesc` record: kind u8, three bytes of padding, offset u64, length u64, alignment u32.
pub(crate) const DESCRIPTOR_BYTES: usize = 24;

fn read_specification<'a>(cur: &mut Cursor<'a>, wire: &WireProfile, options: &ReadOptions) -> ReadResult<Envelope<'a>> {
    let major = cur.varint(Field::Major)?;
    let minor = cur.varint(Field::Minor)?;
    let patch = if cur.is_empty() { None } else { Some(cur.varint(Field::VersionTag)?) };
    let version = check_version(cur, wire, major, minor, patch)?;

    for _ in 0..cur.count(2, Field::DialectCount)? {
        let n = cur.count(1, Field::DialectName)?;
        let at = cur.pos();
        let name = cur.bytes(n, Field::DialectName)?;
        if !options.dialects.iter().any(|d| d.as_bytes() == name) {
            return Err(ReadError::new(at, ErrorKind::UnregisteredDialect(String::from_utf8_lossy(name).into_owned())));
        }
        cur.varint(Field::DialectOps)?;
    }

    let count = cur.count(DESCRIPTOR_BYTES, Field::SectionCount)?;
    let mut envelope = Envelope { version, sections: [None; 8] };
    let mut taken: Vec<(u64, u64, SectionId)> = Vec::with_capacity(count.min(8));
    let size = cur.end();
    let descriptors_end = cur.pos() + count * DESCRIPTOR_BYTES;
    for i in 0..count {
        let at = cur.pos();
        let fail = |kind| Err(ReadError::new(at, kind));
        let kind = cur.byte(Field::SectionDescriptor)?;
        cur.bytes(3, Field::SectionDescriptor)?;
        let offset = cur.u64_le(Field::SectionDescriptor)?;
        let length = cur.u64_le(Field::SectionDescriptor)?;
        let alignment = cur.u32_le(Field::SectionDescriptor)?;
        let Some(section) = SectionId::from_wire(kind.into()).filter(|s| *s <= wire.last_section) else {
            return fail(ErrorKind::UnknownSection(kind.into()));
        };
        if section == SectionId::End {
            if alignment != 0 {
                return fail(ErrorKind::EndSectionAligned);
            }
            if i + 1 != count {
                return fail(ErrorKind::EndSectionNotLast);
            }
        } else if i + 1 == count {
            return fail(ErrorKind::EndSectionMissing);
        }
        if alignment != 0 && (!alignment.is_power_of_two() || offset % u64::from(alignment) != 0) {
            return fail(ErrorKind::InvalidAlignment(alignment.into()));
        }
        let end = u128::from(offset) + u128::from(length);
        if end > size as u128 || (length > 0 && offset < descriptors_end as u64) {
            return fail(ErrorKind::SectionOutOfBounds { section, start: offset, end, size });
        }
        let end = end as u64;
        if let Some(&(_, _, other)) = taken.iter().find(|(s, e, _)| offset < *e && *s < end) {
            return fail(ErrorKind::SectionOverlap { section, other });
        }
        if envelope.section(section).is_some() {
            return fail(ErrorKind::DuplicateSection(section));
        }
        taken.push((offset, end, section));
        let window = cur.window(offset as usize, end as usize);
        if section == SectionId::End && length > 0 && data_of(window) != [0] {
            return fail(ErrorKind::EndSectionPayload);
        }
        envelope.add(section, at, window)?;
    }
    if count == 0 {
        return cur.fail(ErrorKind::EndSectionMissing);
    }
    Ok(envelope)
}

fn data_of(mut window: Cursor) -> Vec<u8> {
    window.bytes(window.left(), Field::SectionDescriptor).map(<[u8]>::to_vec).unwrap_or_default()
}

/// A section that is ready to be written.
pub(crate) struct Payload {
    pub id: SectionId,
    pub bytes: Vec<u8>,
}

/// Lays out the sections in the given order.
pub(crate) fn write_envelope(wire: &WireProfile, version: Version, used_ops: usize, sections: &[Payload]) -> Vec<u8> {
    let mut out = wire.magic.to_vec();
    match wire.profile {
        Profile::Public => {
            out.extend([version.major, version.minor]);
            out.extend((version.tag.min(0xFFFF) as u16).to_le_bytes());
            for s in sections {
                let alignment = required_alignment(s.id);
                out.push(s.id as u8 | if alignment.is_some() { 0x80 } else { 0 });
                out.put_varint(s.bytes.len() as u64);
                if let Some(a) = alignment {
                    out.put_varint(a as u64);
                    out.put_padding(a, wire.padding);
                }
                out.extend(&s.bytes);
            }
            out.push(SectionId::End as u8);
        }
        Profile::Specification => {
            out.put_varint(version.major.into());
            out.put_varint(version.minor.into());
            out.put_varint(version.tag.into());
            out.put_varint(1);
            let dialect = b"cuda_tile";
            out.put_varint(dialect.len() as u64);
            out.extend(dialect);
            out.put_varint(used_ops as u64);
            out.put_varint(sections.len() as u64 + 1);
            let descriptors = out.len();
            out.resize(descriptors + (sections.len() + 1) * DESCRIPTOR_BYTES, 0);
            for (i, s) in sections.iter().enumerate() {
                let alignment = required_alignment(s.id).unwrap_or(1);
                out.put_padding(alignment, wire.padding);
                let offset = out.len();
                out.extend(&s.bytes);
                put_descriptor(
                    &mut out[descriptors + i * DESCRIPTOR_BYTES..],
                    s.id,
                    offset,
                    s.bytes.len(),
                    alignment as u32,
                );
            }
            let offset = out.len();
            out.push(0);
            put_descriptor(&mut out[descriptors + sections.len() * DESCRIPTOR_BYTES..], SectionId::End, offset, 1, 0);
        }
    }
    out
}

fn put_descriptor(at: &mut [u8], id: SectionId, offset: usize, length: usize, alignment: u32) {
    at[0] = id as u8;
    at[4..12].copy_from_slice(&(offset as u64).to_le_bytes());
    at[12..20].copy_from_slice(&(length as u64).to_le_bytes());
    at[20..24].copy_from_slice(&alignment.to_le_bytes());
}
