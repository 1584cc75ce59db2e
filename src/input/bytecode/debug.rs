//! The Debug section: locations of functions and operations, and the scopes they refer to.
//!
//! ```text
//! VarInt slots;   pad 4; u32 offset[slots]     into the indices, in elements: one run for each function slot
//! VarInt indices; pad 8; u64 index[indices]    debug attributes
//! VarInt attrs;   pad 4; u32 offset[attrs]; records
//! ```
//!
//! In the public container a run holds the function's own location, followed by one for each operation in the order
//! of their records. In references, 0 means "unknown" and `n` means attribute `n - 1`. In the specification
//! container, operations store their location themselves, a run holds only the function's location, and references
//! count from 0.
//!
//! The records of compile units, locations, subprograms and call sites have different fields in the two containers:
//!
//! ```text
//!               public                            specification
//! compile unit  file                              file, producer, flags
//! location      scope, name of the file,          scope, file, line, column, and the call site if it is inlined
//!               line, column
//! subprogram    file, line, name, linkage name,   unit, name, linkage name, scope, line, flags, purpose, and
//!               unit, scope line                  more flags if there are any
//! call site     callee, caller                    callee, caller, line, column
//! ```
//!
//! References may point forward but must not form a cycle. One non-recursive check covers the whole table.

use crate::container::WireProfile;
use crate::error::{ErrorKind, Field, ReadError, ReadResult};
use crate::module::*;
use crate::schema::V13_5;
use crate::sections::{DEBUG_ATTRS, Table, expect_end, put_table};
use crate::varint::{Cursor, Encode};

const COMPILE_UNIT: u64 = 1;
const FILE: u64 = 2;
const LEXICAL_BLOCK: u64 = 3;
const LOC: u64 = 4;
const SUBPROGRAM: u64 = 5;
const CALL_SITE: u64 = 6;

/// Limit on nested call sites and scopes, because MLIR traverses them recursively.
const MAX_DEPTH: u32 = 1000;

/// The location runs of the functions.
#[derive(Default)]
pub(crate) struct Runs<'a> {
    runs: Vec<&'a [u8]>,
}

impl<'a> Runs<'a> {
    pub fn get(&self, slot: u64) -> Option<Run<'a>> {
        self.runs.get(usize::try_from(slot).ok()?).map(|r| Run { rest: r })
    }
}

/// The remaining location indices of one function.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    rest: &'a [u8],
}

impl Run<'_> {
    #[inline]
    pub fn next(&mut self) -> Option<u64> {
        let (head, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*head))
    }

    pub fn left(&self) -> usize {
        self.rest.len() / 8
    }
}

/// Whether the attribute can be a scope.
fn is_scope(a: &DebugAttr) -> bool {
    matches!(a, DebugAttr::LexicalBlock { .. }) || is_subprogram(a)
}

fn is_subprogram(a: &DebugAttr) -> bool {
    matches!(a, DebugAttr::Subprogram(_) | DebugAttr::SpecSubprogram(_))
}

fn is_file(a: &DebugAttr) -> bool {
    matches!(a, DebugAttr::File { .. })
}

fn is_unit(a: &DebugAttr) -> bool {
    matches!(a, DebugAttr::CompileUnit { .. } | DebugAttr::SpecCompileUnit { .. })
}

/// Whether the attribute can be the location of an operation or a call site.
pub(crate) fn is_location(a: &DebugAttr) -> bool {
    use DebugAttr::*;
    matches!(a, Unknown | Loc { .. } | CallSite { .. } | SpecLoc { .. } | SpecCallSite { .. })
}

struct DebugReader<'w, 'a> {
    wire: &'w WireProfile,
    version: Version,
    strings: &'w Blobs,
    table: Table<'a>,
}

pub(crate) fn read_debug<'a>(
    cur: &mut Cursor<'a>,
    wire: &WireProfile,
    version: Version,
    strings: &Blobs,
) -> ReadResult<(Vec<DebugAttr>, Runs<'a>)> {
    let base = cur.pos();
    let slots = cur.count(4, Field::DebugFunctionCount)?;
    cur.align(4, base, Field::DebugFunctionOffsets)?;
    let offsets_at = cur.pos();
    let offsets = cur.bytes(4 * slots, Field::DebugFunctionOffsets)?;
    let count = cur.count(8, Field::DebugIndexCount)?;
    cur.align(8, base, Field::DebugIndices)?;
    let indices = cur.bytes(8 * count, Field::DebugIndices)?;

    let start = |i: usize| {
        offsets.get(4 * i..4 * i + 4).map_or(count as u64, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]).into())
    };
    let mut runs = Runs::default();
    for i in 0..slots {
        let (s, e) = (start(i), start(i + 1));
        // A run holds at least the function's own location.
        if s >= e || e > count as u64 || (i == 0 && s != 0) {
            return Err(ReadError::new(
                offsets_at + 4 * i,
                ErrorKind::DebugRun { start: s, end: e, index: i, size: count },
            ));
        }
        runs.runs.push(&indices[8 * s as usize..8 * e as usize]);
    }
    if slots == 0 && count > 0 {
        return cur.fail(ErrorKind::TrailingBytes { what: "debug indices", count: 8 * count });
    }

    let reader = DebugReader { wire, version, strings, table: Table::read(cur, base, &DEBUG_ATTRS)? };
    let attrs = (0..reader.table.len()).map(|i| reader.attr(i)).collect::<ReadResult<Vec<_>>>()?;
    reader.check_cycles(&attrs)?;
    reader.check_kinds(&attrs)?;
    Ok((attrs, runs))
}

impl DebugReader<'_, '_> {
    fn reference(&self, cur: &mut Cursor, what: Field) -> ReadResult<Option<DebugId>> {
        let at = cur.pos();
        let i = cur.varint(what)?;
        let Some(i) = i.checked_sub(self.wire.debug_base) else { return Ok(None) };
        if i >= self.table.len() as u64 {
            return Err(ReadError::new(at, what.into()));
        }
        Ok(Some(DebugId(i as u32)))
    }

    fn string(&self, cur: &mut Cursor, what: Field) -> ReadResult<StringId> {
        let at = cur.pos();
        let i = cur.varint(what)?;
        if i >= self.strings.len() as u64 {
            return Err(ReadError::new(at, ErrorKind::StringIndex(i)));
        }
        Ok(StringId(i as u32))
    }

    fn attr(&self, index: usize) -> ReadResult<DebugAttr> {
        let cur = &mut self.table.record(index);
        let at = cur.pos();
        let spec = !self.wire.is_public();
        let attr = match cur.varint(Field::DebugKind)? {
            0 if self.wire.debug_base > 0 => DebugAttr::Unknown,
            0 => return Err(ReadError::new(at, ErrorKind::UnknownDebugTag)),
            COMPILE_UNIT if spec => DebugAttr::SpecCompileUnit {
                file: self.reference(cur, Field::CompileUnitFile)?,
                producer: self.string(cur, Field::CompileUnitProducer)?,
                flags: cur.varint(Field::CompileUnitFlags)?,
            },
            COMPILE_UNIT => {
                DebugAttr::CompileUnit { file: self.reference(cur, Field::CompileUnitFile)?, producer: None, flags: 0 }
            }
            FILE => DebugAttr::File {
                name: self.string(cur, Field::FileName)?,
                directory: self.string(cur, Field::FileDirectory)?,
            },
            LEXICAL_BLOCK => DebugAttr::LexicalBlock {
                scope: self.reference(cur, Field::BlockScope)?,
                file: self.reference(cur, Field::BlockFile)?,
                line: cur.index(Field::BlockLine)?.into(),
                column: cur.index(Field::BlockColumn)?.into(),
            },
            LOC if spec => DebugAttr::SpecLoc {
                scope: self.reference(cur, Field::LocScope)?,
                file: self.reference(cur, Field::LocFileName)?,
                line: cur.index(Field::LocLine)?.into(),
                column: cur.index(Field::LocColumn)?.into(),
                inlined_at: if cur.is_empty() { None } else { self.reference(cur, Field::LocInlinedAt)? },
            },
            LOC => DebugAttr::Loc {
                scope: self.reference(cur, Field::LocScope)?,
                file: self.string(cur, Field::LocFileName)?,
                line: cur.index(Field::LocLine)?.into(),
                column: cur.index(Field::LocColumn)?.into(),
            },
            SUBPROGRAM if spec => DebugAttr::SpecSubprogram(Box::new(SpecSubprogram {
                unit: self.reference(cur, Field::SubprogramUnit)?,
                name: self.string(cur, Field::SubprogramName)?,
                linkage: self.string(cur, Field::SubprogramLinkage)?,
                scope: self.reference(cur, Field::SubprogramScope)?,
                line: cur.index(Field::SubprogramLine)?.into(),
                flags: cur.varint(Field::SubprogramFlags)?,
                purpose: cur.varint(Field::SubprogramPurpose)?,
                sp_flags: if cur.is_empty() { None } else { Some(cur.varint(Field::SubprogramSpFlags)?) },
            })),
            SUBPROGRAM => DebugAttr::Subprogram(Box::new(Subprogram {
                file: self.reference(cur, Field::SubprogramFile)?,
                line: cur.index(Field::SubprogramLine)?.into(),
                name: self.string(cur, Field::SubprogramName)?,
                linkage: self.string(cur, Field::SubprogramLinkage)?,
                unit: self.reference(cur, Field::SubprogramUnit)?,
                scope_line: cur.index(Field::SubprogramScopeLine)?.into(),
                flags: if self.version.at_least(V13_5) { cur.varint(Field::SubprogramFlags)? } else { 0 },
                purpose: 0,
                sp_flags: None,
            })),
            CALL_SITE if spec => DebugAttr::SpecCallSite {
                callee: self.reference(cur, Field::Callee)?,
                caller: self.reference(cur, Field::Caller)?,
                line: cur.index(Field::CallSiteLine)?.into(),
                column: cur.index(Field::CallSiteColumn)?.into(),
            },
            CALL_SITE => DebugAttr::CallSite {
                callee: self.reference(cur, Field::Callee)?,
                caller: self.reference(cur, Field::Caller)?,
            },
            other => return Err(ReadError::new(at, ErrorKind::DebugTag(other))),
        };
        expect_end(cur, "debug attribute")?;
        Ok(attr)
    }

    /// Checks for cycles with an explicit depth-first stack; reaching an attribute that is still open means a cycle.
    fn check_cycles(&self, attrs: &[DebugAttr]) -> ReadResult<()> {
        const NEW: u32 = 0;
        const OPEN: u32 = u32::MAX;
        let mut state = vec![NEW; attrs.len()];
        let mut stack: Vec<u32> = Vec::new();
        for root in 0..attrs.len() as u32 {
            stack.push(root);
            while let Some(&a) = stack.last() {
                let i = a as usize;
                let at = self.table.record(i).pos();
                if state[i] != NEW && state[i] != OPEN {
                    stack.pop();
                    continue;
                }
                let first_visit = state[i] == NEW;
                state[i] = OPEN;
                let mut depth = 0;
                for r in attrs[i].references() {
                    match state[r.index()] {
                        NEW => stack.push(r.0),
                        OPEN if first_visit => return Err(ReadError::new(at, ErrorKind::DebugCycle(r.index()))),
                        OPEN => {}
                        d => depth = depth.max(d),
                    }
                }
                if stack.last() == Some(&a) {
                    if depth >= MAX_DEPTH {
                        return Err(ReadError::new(at, ErrorKind::DebugDepth));
                    }
                    state[i] = depth + 1;
                    stack.pop();
                }
            }
        }
        Ok(())
    }

    /// Checks the kind of each referenced attribute. Unknown is accepted where a location is required.
    fn check_kinds(&self, attrs: &[DebugAttr]) -> ReadResult<()> {
        for (i, attr) in attrs.iter().enumerate() {
            let check = |r: Option<DebugId>, wanted: fn(&DebugAttr) -> bool, unknown: bool, what: Field| match r {
                None if unknown => Ok(()),
                Some(r) if wanted(&attrs[r.index()]) => Ok(()),
                _ => Err(ReadError::new(self.table.record(i).pos(), what.into())),
            };
            match attr {
                DebugAttr::Unknown | DebugAttr::File { .. } => {}
                DebugAttr::CompileUnit { file, .. } | DebugAttr::SpecCompileUnit { file, .. } => {
                    check(*file, is_file, false, Field::CompileUnitFile)?;
                }
                DebugAttr::LexicalBlock { scope, file, .. } => {
                    // An example in the specification uses a file as the scope of a block.
                    let scopes =
                        if self.wire.is_public() { is_scope } else { |a: &DebugAttr| is_scope(a) || is_file(a) };
                    check(*scope, scopes, false, Field::BlockScope)?;
                    check(*file, is_file, false, Field::BlockFile)?;
                }
                DebugAttr::Loc { scope, .. } => check(*scope, is_scope, false, Field::LocScope)?,
                DebugAttr::Subprogram(s) => {
                    check(s.file, is_file, false, Field::SubprogramFile)?;
                    check(s.unit, is_unit, false, Field::SubprogramUnit)?;
                }
                DebugAttr::CallSite { callee, caller } => {
                    check(*callee, is_location, true, Field::Callee)?;
                    check(*caller, is_location, true, Field::Caller)?;
                }
                DebugAttr::SpecLoc { scope, file, inlined_at, .. } => {
                    check(*scope, is_scope, false, Field::LocScope)?;
                    check(*file, is_file, false, Field::LocFileName)?;
                    check(*inlined_at, is_location, true, Field::LocInlinedAt)?;
                }
                DebugAttr::SpecSubprogram(s) => {
                    let scopes = |a: &DebugAttr| is_scope(a) || is_file(a) || is_unit(a);
                    check(s.unit, is_unit, false, Field::SubprogramUnit)?;
                    check(s.scope, scopes, false, Field::SubprogramScope)?;
                }
                DebugAttr::SpecCallSite { callee, caller, .. } => {
                    let ends = |a: &DebugAttr| is_subprogram(a) || is_location(a);
                    check(*callee, ends, false, Field::Callee)?;
                    check(*caller, ends, false, Field::Caller)?;
                }
            }
        }
        Ok(())
    }
}

impl DebugAttr {
    /// The attributes that this one refers to.
    pub fn references(&self) -> impl Iterator<Item = DebugId> {
        let list = match self {
            DebugAttr::Unknown | DebugAttr::File { .. } => [None; 3],
            DebugAttr::CompileUnit { file, .. } | DebugAttr::SpecCompileUnit { file, .. } => [*file, None, None],
            DebugAttr::LexicalBlock { scope, file, .. } => [*scope, *file, None],
            DebugAttr::Loc { scope, .. } => [*scope, None, None],
            DebugAttr::SpecLoc { scope, file, inlined_at, .. } => [*scope, *file, *inlined_at],
            DebugAttr::Subprogram(s) => [s.file, s.unit, None],
            DebugAttr::SpecSubprogram(s) => [s.unit, s.scope, None],
            DebugAttr::CallSite { callee, caller } | DebugAttr::SpecCallSite { callee, caller, .. } => {
                [*callee, *caller, None]
            }
        };
        list.into_iter().flatten()
    }
}

/// Encodes the section: one run of references (already in wire numbering) for each function with a location.
pub(crate) fn put_debug(wire: &WireProfile, version: Version, attrs: &[DebugAttr], runs: &[Vec<u64>]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_varint(runs.len() as u64);
    out.put_padding(4, wire.padding);
    let mut offset = 0u32;
    for run in runs {
        out.extend(offset.to_le_bytes());
        offset += run.len() as u32;
    }
    out.put_varint(offset.into());
    out.put_padding(8, wire.padding);
    for index in runs.iter().flatten() {
        out.extend(index.to_le_bytes());
    }
    let mut records = Blobs::default();
    let mut record = Vec::new();
    for attr in attrs {
        record.clear();
        put_attr(&mut record, wire, version, attr);
        records.push(&record);
    }
    put_table(&mut out, 4, wire.padding, &records);
    out
}

/// A reference in wire numbering. The specification container has no number for "unknown", so nothing there refers to
/// it.
pub(crate) fn wire_reference(wire: &WireProfile, r: Option<DebugId>) -> u64 {
    r.map_or(0, |r| u64::from(r.0) + wire.debug_base)
}

fn put_attr(out: &mut Vec<u8>, wire: &WireProfile, version: Version, attr: &DebugAttr) {
    let mut put = |values: &[u64]| values.iter().for_each(|v| out.put_varint(*v));
    let reference = |r: Option<DebugId>| wire_reference(wire, r);
    let string = |s: StringId| u64::from(s.0);
    match attr {
        DebugAttr::Unknown => put(&[0]),
        DebugAttr::CompileUnit { file, .. } => put(&[COMPILE_UNIT, reference(*file)]),
        DebugAttr::File { name, directory } => put(&[FILE, string(*name), string(*directory)]),
        DebugAttr::LexicalBlock { scope, file, line, column } => {
            put(&[LEXICAL_BLOCK, reference(*scope), reference(*file), *line, *column]);
        }
        DebugAttr::Loc { scope, file, line, column } => put(&[LOC, reference(*scope), string(*file), *line, *column]),
        DebugAttr::Subprogram(s) => {
            put(&[
                SUBPROGRAM,
                reference(s.file),
                s.line,
                string(s.name),
                string(s.linkage),
                reference(s.unit),
                s.scope_line,
            ]);
            if version.at_least(V13_5) {
                put(&[s.flags]);
            }
        }
        DebugAttr::CallSite { callee, caller } => put(&[CALL_SITE, reference(*callee), reference(*caller)]),
        DebugAttr::SpecCompileUnit { file, producer, flags } => {
            put(&[COMPILE_UNIT, reference(*file), string(*producer), *flags]);
        }
        DebugAttr::SpecLoc { scope, file, line, column, inlined_at } => {
            put(&[LOC, reference(*scope), reference(*file), *line, *column]);
            if inlined_at.is_some() {
                put(&[reference(*inlined_at)]);
            }
        }
        DebugAttr::SpecSubprogram(s) => {
            put(&[SUBPROGRAM, reference(s.unit), string(s.name), string(s.linkage), reference(s.scope)]);
            put(&[s.line, s.flags, s.purpose]);
            put(s.sp_flags.as_slice());
        }
        DebugAttr::SpecCallSite { callee, caller, line, column } => {
            put(&[CALL_SITE, reference(*callee), reference(*caller), *line, *column]);
        }
    }
}

impl DebugAttr {
    /// The strings of the attribute.
    pub(crate) fn strings(&self) -> impl Iterator<Item = StringId> {
        let (a, b) = match self {
            DebugAttr::File { name, directory } => (Some(*name), Some(*directory)),
            DebugAttr::Loc { file, .. } => (Some(*file), None),
            DebugAttr::Subprogram(s) => (Some(s.name), Some(s.linkage)),
            DebugAttr::SpecSubprogram(s) => (Some(s.name), Some(s.linkage)),
            DebugAttr::SpecCompileUnit { producer, .. } => (Some(*producer), None),
            DebugAttr::CompileUnit { producer, .. } => (*producer, None),
            _ => (None, None),
        };
        a.into_iter().chain(b)
    }

    /// Whether the attribute is the unknown location or refers to it.
    pub(crate) fn has_unknown(&self) -> bool {
        let wanted = match self {
            DebugAttr::Unknown => return true,
            DebugAttr::File { .. } => 0,
            DebugAttr::CompileUnit { .. } | DebugAttr::SpecCompileUnit { .. } | DebugAttr::Loc { .. } => 1,
            DebugAttr::LexicalBlock { .. } | DebugAttr::Subprogram(_) | DebugAttr::CallSite { .. } => 2,
            DebugAttr::SpecLoc { .. } | DebugAttr::SpecSubprogram(_) | DebugAttr::SpecCallSite { .. } => 2,
        };
        self.references().count() < wanted
    }
}
