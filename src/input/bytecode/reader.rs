//! Decodes bytes into a [`Module`].
//!
//! References between sections fix the order of decoding: strings, producer, types, constants, debug information,
//! globals, functions. Each section is decoded completely, and must be consumed to its last byte, before a later
//! section can refer to it.

use crate::attrs::{AttrReader, check_blob, constant_ref, dense_matches, element_count};
use crate::body::Body;
use crate::container::{self, Envelope, PREVIEW, Profile, WireProfile};
use crate::debug::{self, Runs};
use crate::error::{ErrorKind, Field, ReadError, ReadResult, SectionId};
use crate::module::*;
use crate::ops::BodyReader;
use crate::preview;
use crate::schema::{V13_5, VISIBILITY};
use crate::sections::{self, expect_end};
use crate::spec_ops::{self, Entries};
use crate::types;
use crate::varint::Cursor;

/// Options of the reader.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Reject overlong integers in the public container too (the specification container always rejects them).
    pub strict: bool,
    /// Accept files that need a preview feature.
    pub preview: bool,
    /// Names that the specification container's dialect list may hold.
    pub dialects: Vec<String>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions { strict: false, preview: false, dialects: vec!["cuda_tile".to_owned()] }
    }
}

/// Reads a file of either container.
///
/// # Errors
///
/// Returns the first error in the file, with its absolute offset.
pub fn read(data: &[u8], options: &ReadOptions) -> ReadResult<Module> {
    Ok(read_with_profile(data, options)?.0)
}

/// Reads a file and also returns its container.
pub fn read_with_profile(data: &[u8], options: &ReadOptions) -> ReadResult<(Module, Profile)> {
    if data.len() >= u32::MAX as usize {
        return Err(ReadError::new(0, ErrorKind::InputTooLarge(data.len())));
    }
    let wire = container::detect(data)?;
    let mut cur = Cursor::new(data, options.strict || wire.canonical);
    let envelope = container::read_envelope(&mut cur, wire, options)?;
    envelope.mandatory(SectionId::String)?;
    envelope.mandatory(SectionId::Func)?;
    Ok((read_sections(wire, &envelope)?, wire.profile))
}

/// Runs `read` over a section, requires that it consumes all of it, and attributes errors to the section.
fn section<'a, T>(
    envelope: &Envelope<'a>,
    id: SectionId,
    read: impl FnOnce(&mut Cursor<'a>) -> ReadResult<T>,
) -> ReadResult<Option<T>> {
    let Some(mut cur) = envelope.section(id) else { return Ok(None) };
    let end = cur.end();
    let result = read(&mut cur).and_then(|value| expect_end(&cur, id.name()).map(|()| value));
    result.map(Some).map_err(|e| e.in_section(id, end))
}

fn read_sections(wire: &'static WireProfile, envelope: &Envelope) -> ReadResult<Module> {
    let version = envelope.version;
    let mut module = Module::new(version);
    let public = wire.is_public();
    module.layout.order = envelope.order();

    module.strings = section(envelope, SectionId::String, sections::read_strings)?.unwrap_or_default();
    module.producer =
        section(envelope, SectionId::Producer, |cur| string(cur, &module.strings, Field::ProducerString))?;
    module.types = section(envelope, SectionId::Type, |cur| types::read_types(cur, version, !public, &module.strings))?
        .unwrap_or_default();
    module.declared_types = module.types.len();

    let mut entries = Entries::default();
    if public {
        module.constants = section(envelope, SectionId::Constant, sections::read_constants)?.unwrap_or_default();
    } else {
        let attrs = &mut attr_reader(wire, &mut module);
        entries = section(envelope, SectionId::Constant, |cur| spec_ops::read_entries(cur, attrs))?.unwrap_or_default();
    }

    let mut runs = Runs::default();
    if let Some((attrs, r)) =
        section(envelope, SectionId::Debug, |cur| debug::read_debug(cur, wire, version, &module.strings))?
    {
        module.debug = attrs;
        runs = r;
    }

    module.globals =
        section(envelope, SectionId::Global, |cur| read_globals(cur, wire, &module, &entries))?.unwrap_or_default();
    section(envelope, SectionId::Func, |cur| read_functions(cur, wire, &mut module, &runs, &entries))?;
    Ok(module)
}

pub(crate) fn string(cur: &mut Cursor, strings: &Blobs, what: Field) -> ReadResult<StringId> {
    let at = cur.pos();
    let i = cur.varint(what)?;
    if i >= strings.len() as u64 {
        return Err(ReadError::new(at, ErrorKind::StringIndex(i)));
    }
    Ok(StringId(i as u32))
}

/// Checks that the constant can be the value of `ty`, which must be a tile of integers or floating-point numbers.
pub(crate) fn check_dense(module: &Module, ty: Option<TypeId>, constant: ConstantId) -> Result<(), ErrorKind> {
    let invalid = ErrorKind::Field(Field::DenseType);
    let Some(Type::Tile { element, shape }) = ty.map(|t| module.ty(t)) else { return Err(invalid) };
    let (Type::Scalar(s), Some(n)) = (module.ty(*element), element_count(shape)) else { return Err(invalid) };
    check_blob(module.constants.get(constant.index()).unwrap_or_default().len(), *s, n)
}

fn read_globals(cur: &mut Cursor, wire: &WireProfile, module: &Module, entries: &Entries) -> ReadResult<Vec<Global>> {
    let newer = module.version.at_least(crate::schema::V13_3);
    let n = cur.count(if newer { 6 } else { 4 }, Field::GlobalCount)?;
    let mut globals = Vec::with_capacity(n);
    for _ in 0..n {
        let offset = cur.pos();
        let name = string(cur, &module.strings, Field::GlobalName)?;
        let at = cur.pos();
        let ty = cur.varint(Field::GlobalType)?;
        if ty >= module.types.len() as u64 {
            return Err(ReadError::new(at, Field::GlobalType.into()));
        }
        let ty = TypeId(ty as u32);
        let at = cur.pos();
        let value = if wire.is_public() {
            constant_ref(cur, &module.constants)?
        } else {
            let index = cur.varint(Field::GlobalValue)?;
            match entries.get(index) {
                Some(Attr::Dense(d)) if dense_matches(module, Some(ty), d) => d.constant,
                Some(_) => return Err(ReadError::new(at, ErrorKind::GlobalValue { name: module.text(name) })),
                None => return Err(ReadError::new(at, ErrorKind::ConstantIndex { index, size: entries.len() })),
            }
        };
        check_dense(module, Some(ty), value).map_err(|k| ReadError::new(at, k))?;
        let alignment = cur.varint(Field::GlobalAlignment)?;
        let mut flag = |what: Field, values: usize| {
            let at = cur.pos();
            let v = if newer { cur.varint(what)? } else { 0 };
            if v >= values as u64 { Err(ReadError::new(at, ErrorKind::EnumValue(v))) } else { Ok(v == 1) }
        };
        let private = flag(Field::GlobalVisibility, VISIBILITY.keywords.len())?;
        let constant = flag(Field::GlobalConstant, 2)?;
        globals.push(Global { name, ty, value, alignment, private, constant, offset: offset as u32 });
    }
    Ok(globals)
}

/// Flags of a function record.
pub(crate) const PRIVATE: u8 = 1;
pub(crate) const ENTRY: u8 = 2;
pub(crate) const HINTS: u8 = 4;

/// Since 13.5: the form of a function that is no entry.
const FORMS: u8 = 12;
pub(crate) const IMPLEMENTATION: u8 = 4;
const TESTING: u8 = 8;

/// The reader of attributes that refer to the pools of the module.
fn attr_reader<'m>(wire: &'static WireProfile, module: &'m mut Module) -> AttrReader<'m> {
    AttrReader {
        wire,
        strings: &module.strings,
        types: &module.types,
        constants: &mut module.constants,
        version: module.version,
    }
}

fn read_functions(
    cur: &mut Cursor,
    wire: &'static WireProfile,
    module: &mut Module,
    runs: &Runs,
    entries: &Entries,
) -> ReadResult<()> {
    let base = cur.pos();
    let n = cur.count(5, Field::FunctionCount)?;
    // A function takes at least four fields, the length of the body and a terminator of three bytes.
    module.functions.reserve_exact(n.min(cur.left() / 8));
    for _ in 0..n {
        let function = read_function(cur, wire, module, runs, entries)?;
        module.functions.push(function);
    }
    // The reference writer pads the payload to eight bytes. If the payload ends on a multiple of eight, assume
    // padding.
    module.layout.pad_functions = (cur.end() - base).is_multiple_of(8);
    if !cur.is_empty() && cur.left() < 8 {
        cur.align(8, base, Field::FunctionBody)?;
    }
    Ok(())
}

/// Checks the flags of a function. Returns whether it is an entry; other functions are previews.
fn check_flags(flags: u8, module: &Module, complete: bool, name: StringId) -> Result<bool, ErrorKind> {
    if !complete {
        if flags & !(PRIVATE | ENTRY | HINTS) != 0 {
            return Err(ErrorKind::UnknownFunctionFlags(flags));
        }
    } else if flags & !(PRIVATE | ENTRY | FORMS) != 0 {
        return Err(ErrorKind::FunctionFlagBits(flags & !(PRIVATE | ENTRY | FORMS)));
    } else {
        match flags & FORMS {
            0 => {}
            IMPLEMENTATION if flags & ENTRY != 0 => return Err(ErrorKind::EntryImplementation),
            IMPLEMENTATION => {}
            TESTING => return Err(ErrorKind::TestingForm),
            _ => return Err(ErrorKind::ReservedForm),
        }
    }
    let entry = flags & ENTRY != 0;
    if !entry && (!complete || module.version.tag & PREVIEW == 0) {
        return Err(ErrorKind::NonEntryFunction { name: module.text(name) });
    }
    if !entry && module.string(name).is_empty() {
        return Err(ErrorKind::EmptyFunctionName(module.functions.len() as u32));
    }
    Ok(entry)
}

fn read_function(
    cur: &mut Cursor,
    wire: &'static WireProfile,
    module: &mut Module,
    runs: &Runs,
    entries: &Entries,
) -> ReadResult<Function> {
    let offset = cur.pos() as u32;
    let name = string(cur, &module.strings, Field::FunctionName)?;
    let function = || module.text(name);

    let at = cur.pos();
    let index = cur.varint(Field::FunctionSignature)?;
    let signature = match module.types.get(usize::try_from(index).unwrap_or(usize::MAX)).map(|e| &e.ty) {
        None => return Err(ReadError::new(at, ErrorKind::SignatureIndex { index, function: function() })),
        Some(Type::Function { .. }) => TypeId(index as u32),
        Some(_) => return Err(ReadError::new(at, ErrorKind::SignatureKind { function: function() })),
    };

    let at = cur.pos();
    let flags = cur.byte(Field::FunctionFlags)?;
    // Since 13.5 the hints are always present, followed by the attributes of the arguments.
    let complete = wire.is_public() && module.version.at_least(V13_5);
    let entry = check_flags(flags, module, complete, name).map_err(|kind| ReadError::new(at, kind))?;

    let at = cur.pos();
    let slot = cur.varint(Field::FunctionLocation)?;
    let bad_location = || ReadError::new(at, ErrorKind::FunctionLocationIndex { function: function() });
    let mut run = match slot.checked_sub(1) {
        Some(slot) => Some(runs.get(slot).ok_or_else(bad_location)?),
        None => None,
    };
    let location = match &mut run {
        None => None,
        Some(run) => {
            let index = run.next().ok_or_else(bad_location)?;
            let id = index.checked_sub(wire.debug_base).map(|i| DebugId(i.min(u64::from(u32::MAX)) as u32));
            if id.is_some_and(|id| !module.debug.get(id.index()).is_some_and(debug::is_location)) {
                return Err(bad_location());
            }
            Some(id)
        }
    };

    let private = flags & PRIVATE != 0;
    let (hints, body) = (None, Body::default());
    if flags & FORMS == IMPLEMENTATION && complete {
        let implementation = preview::read_implementation(cur, &mut attr_reader(wire, module))?;
        module.library.push((module.functions.len() as u32, LibraryFunction::Implementation(implementation)));
        let arg_attrs = None;
        return Ok(Function { name, signature, private, hints, arg_attrs, location, body, offset });
    }
    if !entry {
        let arg_attrs = read_arg_attrs(cur, wire, module)?;
        let at = cur.pos();
        if cur.varint(Field::FunctionBodySize)? != 0 {
            return Err(ReadError::new(at, ErrorKind::ExternBody));
        }
        let at = cur.pos();
        let Attr::Array(constants) = attr_reader(wire, module).tagged(cur)? else {
            return Err(ReadError::new(at, ErrorKind::ConstantParameters));
        };
        module.library.push((module.functions.len() as u32, LibraryFunction::Extern(constants)));
        return Ok(Function { name, signature, private, hints, arg_attrs, location, body, offset });
    }

    let hints = if flags & HINTS != 0 || complete { read_hints(cur, wire, module, complete)? } else { None };
    let arg_attrs = if complete { read_arg_attrs(cur, wire, module)? } else { None };

    let size = cur.varint(Field::FunctionBodySize)?;
    if size > cur.left() as u64 {
        return cur.fail(Field::FunctionBody);
    }
    let window = cur.split(size as usize, Field::FunctionBody)?;
    let locations = if wire.is_public() { run } else { None };
    let mut reader = BodyReader::new(wire, module, signature, locations, location.is_some(), entries);
    reader.read(window, name)?;
    let body = reader.finish();
    if let (false, Some(run)) = (wire.is_public(), run)
        && run.left() > 0
    {
        return Err(ReadError::new(at, ErrorKind::LocationsLeft { function: module.text(name), count: run.left() }));
    }
    Ok(Function { name, signature, private, hints, arg_attrs, location, body, offset })
}

fn read_hints(
    cur: &mut Cursor,
    wire: &'static WireProfile,
    module: &mut Module,
    complete: bool,
) -> ReadResult<Option<AttrId>> {
    let at = cur.pos();
    let hints = match (attr_reader(wire, module).tagged(cur)?, wire.profile) {
        (hints @ Attr::Hints(_), Profile::Public) => hints,
        (Attr::Dictionary(d), Profile::Specification) => Attr::Hints(d),
        _ => return Err(ReadError::new(at, ErrorKind::HintsKind)),
    };
    // Since 13.5 missing hints are written as an empty dictionary.
    let empty = matches!(&hints, Attr::Hints(d) if d.is_empty());
    Ok(if complete && empty { None } else { Some(module.attrs.intern(hints)) })
}

/// Reads the attributes of the arguments; `None` if the array is empty.
fn read_arg_attrs(cur: &mut Cursor, wire: &'static WireProfile, module: &mut Module) -> ReadResult<Option<AttrId>> {
    let at = cur.pos();
    match attr_reader(wire, module).tagged(cur)? {
        Attr::Array(a) if a.is_empty() => Ok(None),
        Attr::Array(a) if a.iter().all(|d| matches!(d, Attr::Dictionary(_))) => {
            Ok(Some(module.attrs.intern(Attr::Array(a))))
        }
        _ => Err(ReadError::new(at, ErrorKind::ArgumentAttributes)),
    }
}
