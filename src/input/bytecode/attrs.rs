//! Self-contained attributes: a tag, then a payload that depends only on the pools.
//!
//! The containers share the kinds of attributes. The profile defines their tags and how a dense elements attribute
//! stores its elements. Payloads:
//!
//! | kind | payload |
//! |---|---|
//! | integer | type, then one byte for `i1`, else a VarInt of the zero-extended bits |
//! | float | type, then one byte up to eight bits, else a VarInt of the zero-extended bit pattern (`varint.rs`) |
//! | bool | one byte |
//! | type, string | index |
//! | array | count, that many tagged attributes |
//! | dictionary, hints | count, that many pairs of key string and tagged attribute |
//! | divisibility | divisor, flags byte (1 every, 2 along), zig-zag for each present |
//! | same elements | count and little-endian `i64` |
//! | bounded | flags byte (1 lower, 2 upper), zig-zag for each present |

use crate::container::{AttrTag, PREVIEW, WireProfile};
use crate::error::{ErrorKind, Field, ReadError, ReadResult, WriteError};
use crate::module::*;
use crate::preview::{self, PreviewReader};
use crate::schema::V13_5;
use crate::varint::{Cursor, Encode};
use rustc_hash::FxHashSet;

/// The language nests dictionaries two deep; this limit leaves room without risking a stack overflow.
const MAX_DEPTH: u32 = 32;

/// Maximum number of elements of a tile.
pub(crate) const MAX_TILE_ELEMENTS: u64 = 1 << 24;

/// The pools that attributes may refer to. Inline elements are added to the constant pool.
pub(crate) struct AttrReader<'a> {
    pub wire: &'static WireProfile,
    pub strings: &'a Blobs,
    pub types: &'a [TypeEntry],
    pub constants: &'a mut Blobs,
    /// Of the file; its tag tells whether the file has previews.
    pub version: Version,
}

impl AttrReader<'_> {
    pub fn string(&self, cur: &mut Cursor, what: Field) -> ReadResult<StringId> {
        let at = cur.pos();
        let i = cur.varint(what)?;
        if i >= self.strings.len() as u64 {
            return Err(ReadError::new(at, ErrorKind::StringIndex(i)));
        }
        Ok(StringId(i as u32))
    }

    pub fn ty(&self, cur: &mut Cursor, what: Field) -> ReadResult<TypeId> {
        let at = cur.pos();
        let i = cur.varint(what)?;
        if i >= self.types.len() as u64 {
            return Err(ReadError::new(at, what.into()));
        }
        Ok(TypeId(i as u32))
    }

    fn scalar(&self, cur: &mut Cursor, what: Field, integer: bool) -> ReadResult<(TypeId, Scalar)> {
        let at = cur.pos();
        let ty = self.ty(cur, what)?;
        match self.types[ty.index()].ty {
            Type::Scalar(s) if s.is_integer() == integer => Ok((ty, s)),
            _ => Err(ReadError::new(at, what.into())),
        }
    }

    /// Reads a tag and its payload.
    pub fn tagged(&mut self, cur: &mut Cursor) -> ReadResult<Attr> {
        self.nested(cur, 0)
    }

    fn nested(&mut self, cur: &mut Cursor, depth: u32) -> ReadResult<Attr> {
        let at = cur.pos();
        if depth > MAX_DEPTH {
            return cur.fail(ErrorKind::AttributeDepth);
        }
        let tag = cur.varint(Field::AttributeTag)?;
        if preview::is_attribute_tag(tag) && self.wire.is_public() && self.version.at_least(V13_5) {
            if self.version.tag & PREVIEW == 0 {
                let kind = ErrorKind::PreviewContent { what: "attribute tag", number: tag };
                return Err(ReadError::new(at, kind));
            }
            return Ok(Attr::Preview(Box::new(self.preview().payload(cur, tag, depth)?)));
        }
        let Some(kind) = self.wire.attr_tag(tag) else {
            return Err(ReadError::new(at, ErrorKind::AttributeTag(tag)));
        };
        Ok(match kind {
            AttrTag::Integer => {
                let (ty, s) = self.scalar(cur, Field::IntegerType, true)?;
                let at = cur.pos();
                let value = if s == Scalar::I1 {
                    cur.byte(Field::IntegerValue)?.into()
                } else {
                    cur.varint(Field::IntegerValue)?
                };
                check_width(value, s, at, Field::IntegerValue)?;
                Attr::Integer { ty, value }
            }
            AttrTag::Float => {
                let (ty, s) = self.scalar(cur, Field::FloatType, false)?;
                let at = cur.pos();
                let bits = if s.bits() <= 8 {
                    cur.byte(Field::FloatValue)?.into()
                } else {
                    cur.bit_pattern(Field::FloatValue)?
                };
                check_width(bits, s, at, Field::FloatValue)
                    .map_err(|e| if self.wire.is_public() { e } else { ReadError::new(at, ErrorKind::FloatCast) })?;
                Attr::Float { ty, bits }
            }
            AttrTag::Bool => Attr::Bool(self.bool(cur, Field::BoolValue)?),
            AttrTag::Type => Attr::Type(self.ty(cur, Field::TypeAttribute)?),
            AttrTag::String => Attr::String(self.string(cur, Field::StringAttribute)?),
            AttrTag::Array => Attr::Array(self.array(cur, depth)?),
            AttrTag::DenseRef => {
                let ty = self.ty(cur, Field::DenseType)?;
                let constant = constant_ref(cur, self.constants)?;
                Attr::Dense(Box::new(Dense { ty, shape: None, constant }))
            }
            AttrTag::DenseInline => self.dense_inline(cur)?,
            AttrTag::DenseStrings => {
                let shape = cur.i64s(Field::DenseShape)?;
                let n = cur.count(1, Field::DenseStringCount)?;
                let strings = (0..n).map(|_| self.string(cur, Field::DenseString)).collect::<ReadResult<_>>()?;
                Attr::DenseStrings(Box::new(DenseStrings { shape, strings }))
            }
            AttrTag::DivBy => {
                let divisor = cur.varint(Field::Divisor)?;
                let flags = self.flags(cur, Field::DivByFlags, "DivByAttr", 3)?;
                let every = (flags & 1 != 0).then(|| cur.zigzag(Field::DivByEvery)).transpose()?;
                let along = (flags & 2 != 0).then(|| cur.zigzag(Field::DivByAlong)).transpose()?;
                Attr::DivBy(Box::new(DivBy { divisor, every, along }))
            }
            AttrTag::FixedI64s => Attr::I64s(self.i64s(cur, Field::DenseI64Array)?),
            AttrTag::VarI64s => {
                let n = cur.count(1, Field::DenseI64Array)?;
                let values = (0..n).map(|_| cur.zigzag(Field::DenseI64Array)).collect::<ReadResult<_>>()?;
                Attr::I64s(values)
            }
            AttrTag::SameElements => Attr::SameElements(self.i64s(cur, Field::SameElements)?),
            AttrTag::Dictionary => Attr::Dictionary(self.nested_dictionary(cur, depth)?),
            AttrTag::Hints => Attr::Hints(self.nested_dictionary(cur, depth)?),
            AttrTag::BoundedLower => self.bounded(cur, 1)?,
            AttrTag::BoundedUpper => self.bounded(cur, 2)?,
            AttrTag::Bounded => self.bounded(cur, 3)?,
            AttrTag::Predicate => {
                if cur.is_empty() {
                    return cur.fail(Field::Predicate);
                }
                let at = cur.pos();
                let inner = self.nested(cur, depth + 1)?;
                if !is_predicate(&inner) {
                    return Err(ReadError::new(at, ErrorKind::NotAPredicate));
                }
                inner
            }
        })
    }

    pub fn bool(&self, cur: &mut Cursor, what: Field) -> ReadResult<bool> {
        let at = cur.pos();
        match cur.byte(what)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(ReadError::new(at, ErrorKind::BoolValue(other))),
        }
    }

    fn flags(&self, cur: &mut Cursor, what: Field, name: &'static str, known: u8) -> ReadResult<u8> {
        let at = cur.pos();
        let flags = cur.byte(what)?;
        if flags & !known != 0 {
            return Err(ReadError::new(at, ErrorKind::AttributeFlags { name, flags }));
        }
        Ok(flags)
    }

    fn bounded(&self, cur: &mut Cursor, known: u8) -> ReadResult<Attr> {
        let flags = self.flags(cur, Field::BoundedFlags, "BoundedAttr", known)?;
        let lower = (flags & 1 != 0).then(|| cur.zigzag(Field::BoundedLower)).transpose()?;
        let upper = (flags & 2 != 0).then(|| cur.zigzag(Field::BoundedUpper)).transpose()?;
        Ok(Attr::Bounded(Box::new(Bounded { lower, upper })))
    }

    fn i64s(&self, cur: &mut Cursor, what: Field) -> ReadResult<Box<[i64]>> {
        let values = cur.i64s(what)?;
        match values.iter().find(|v| matches!(**v, i64::MIN | i64::MAX)) {
            Some(&bad) => cur.fail(ErrorKind::ArrayValue(bad)),
            None => Ok(values),
        }
    }

    /// Reads the payload of an `i32s` field of an operation.
    pub fn i32s(&self, cur: &mut Cursor) -> ReadResult<Attr> {
        let values = cur.i32s(Field::DenseI32Array)?;
        match values.iter().find(|v| matches!(**v, i32::MIN | i32::MAX)) {
            Some(&bad) => cur.fail(ErrorKind::ArrayValue(bad.into())),
            None => Ok(Attr::I32s(values)),
        }
    }

    /// The reader of preview attributes.
    pub fn preview(&self) -> PreviewReader<'_> {
        PreviewReader { wire: self.wire, strings: self.strings, types: self.types.len() }
    }

    /// Reads a count and that many tagged attributes.
    pub fn elements(&mut self, cur: &mut Cursor) -> ReadResult<Box<[Attr]>> {
        self.array(cur, 0)
    }

    /// Reads a dictionary without a tag.
    pub fn entries(&mut self, cur: &mut Cursor) -> ReadResult<Box<[(StringId, Attr)]>> {
        self.nested_dictionary(cur, 0)
    }

    pub fn array_field(&mut self, cur: &mut Cursor) -> ReadResult<Attr> {
        Ok(Attr::Array(self.array(cur, 0)?))
    }

    fn array(&mut self, cur: &mut Cursor, depth: u32) -> ReadResult<Box<[Attr]>> {
        let n = cur.count(2, Field::ArrayCount)?;
        (0..n).map(|_| self.nested(cur, depth + 1)).collect()
    }

    /// Reads the payload of a hints field, which is not tagged.
    pub fn hints_field(&mut self, cur: &mut Cursor) -> ReadResult<Attr> {
        Ok(Attr::Hints(self.nested_dictionary(cur, 0)?))
    }

    fn nested_dictionary(&mut self, cur: &mut Cursor, depth: u32) -> ReadResult<Box<[(StringId, Attr)]>> {
        let n = cur.count(3, Field::DictionaryCount)?;
        let mut seen = FxHashSet::default();
        let mut entries = Vec::with_capacity(n);
        for element in 0..n {
            let at = cur.pos();
            let key = self.string(cur, Field::DictionaryKey)?;
            let strings = self.strings;
            let bytes = strings.get(key.index()).unwrap_or_default();
            if bytes.is_empty() {
                return Err(ReadError::new(at, ErrorKind::EmptyKey(element)));
            }
            if !seen.insert(bytes) {
                let key = String::from_utf8_lossy(bytes).into_owned();
                return Err(ReadError::new(at, ErrorKind::DuplicateKey { key, element }));
            }
            entries.push((key, self.nested(cur, depth + 1)?));
        }
        Ok(entries.into())
    }

    /// Reads the element type, the shape and all elements. Equal elements become a splat, as in MLIR's dense
    /// attributes.
    fn dense_inline(&mut self, cur: &mut Cursor) -> ReadResult<Attr> {
        let at = cur.pos();
        let element = self.ty(cur, Field::DenseType)?;
        let Type::Scalar(s) = self.types[element.index()].ty else {
            return Err(ReadError::new(at, Field::DenseType.into()));
        };
        let shape = cur.i64s(Field::DenseShape)?;
        let Some(elements) = element_count(&shape).filter(|n| *n <= MAX_TILE_ELEMENTS) else {
            return cur.fail(Field::DenseShape);
        };
        let size = s.constant_bytes(elements);
        if size > cur.left() as u64 {
            return cur.fail(Field::ConstantBytes);
        }
        let raw = cur.bytes(size as usize, Field::ConstantBytes)?;
        if let Some(bad) = undecodable(raw, s, elements) {
            return cur.fail(ErrorKind::ArrayValue(bad));
        }
        let constant = ConstantId(self.constants.push(&squeeze(raw, s, elements)));
        Ok(Attr::Dense(Box::new(Dense { ty: element, shape: Some(shape), constant })))
    }
}

/// Whether the attribute can be the predicate of an `assume`.
pub(crate) fn is_predicate(attr: &Attr) -> bool {
    matches!(attr, Attr::DivBy(_) | Attr::SameElements(_) | Attr::Bounded(_))
}

fn check_width(value: u64, s: Scalar, at: usize, what: Field) -> ReadResult<()> {
    if s.bits() < 64 && value >> s.bits() != 0 { Err(ReadError::new(at, what.into())) } else { Ok(()) }
}

pub(crate) fn constant_ref(cur: &mut Cursor, constants: &Blobs) -> ReadResult<ConstantId> {
    let at = cur.pos();
    let index = cur.varint(Field::OperationAttribute)?;
    if index >= constants.len() as u64 {
        return Err(ReadError::new(at, ErrorKind::ConstantIndex { index, size: constants.len() }));
    }
    Ok(ConstantId(index as u32))
}

/// Product of the dimensions, or `None` if one is negative or the product overflows.
pub(crate) fn element_count(shape: &[i64]) -> Option<u64> {
    shape.iter().try_fold(1u64, |n, &d| n.checked_mul(u64::try_from(d).ok()?))
}

/// The last byte of packed `i1` elements, if bits past the last element are set.
fn undecodable(raw: &[u8], s: Scalar, elements: u64) -> Option<i64> {
    let used = elements % 8;
    let last = raw.last().filter(|last| s == Scalar::I1 && used != 0 && **last >> used != 0);
    last.map(|last| i64::from(*last))
}

/// Reduces `elements` equal elements to a single one.
fn squeeze(raw: &[u8], s: Scalar, elements: u64) -> Vec<u8> {
    if s == Scalar::I1 {
        // Up to eight elements share one byte, which is already the stored form.
        if elements <= 8 {
            return raw.to_vec();
        }
        let bit = |i: u64| raw[(i / 8) as usize] >> (i % 8) & 1;
        return if (1..elements).all(|i| bit(i) == bit(0)) {
            vec![if bit(0) == 1 { 0xFF } else { 0 }]
        } else {
            raw.to_vec()
        };
    }
    let width = s.splat_bytes() as usize;
    match raw.split_at_checked(width) {
        Some((first, rest)) if rest.chunks_exact(width).all(|c| c == first) => first.to_vec(),
        _ => raw.to_vec(),
    }
}

/// The inverse of [`squeeze`].
pub(crate) fn expand(stored: &[u8], s: Scalar, elements: u64) -> Option<Vec<u8>> {
    let size = usize::try_from(s.constant_bytes(elements)).ok()?;
    // Clear the bits past the last element.
    let unused = |mut out: Vec<u8>| {
        if let Some(last) = out.last_mut().filter(|_| s == Scalar::I1 && !elements.is_multiple_of(8)) {
            *last &= (1 << (elements % 8)) - 1;
        }
        out
    };
    if stored.len() == size {
        return Some(unused(stored.to_vec()));
    }
    if stored.len() as u64 != s.splat_bytes() {
        return None;
    }
    if s == Scalar::I1 {
        return Some(unused(vec![if stored[0] & 1 == 1 { 0xFF } else { 0 }; size]));
    }
    Some(stored.iter().copied().cycle().take(size).collect())
}

/// Whether the inline dense attribute has the tile type `ty`.
pub(crate) fn dense_matches(module: &Module, ty: Option<TypeId>, dense: &Dense) -> bool {
    match ty.map(|t| module.ty(t)) {
        Some(Type::Tile { element, shape }) => {
            module.ty(*element) == module.ty(dense.ty) && dense.shape.as_ref().is_none_or(|s| s == shape)
        }
        _ => false,
    }
}

/// Checks that a constant of `bytes` bytes can be the value of a tile of `elements` elements.
pub(crate) fn check_blob(bytes: usize, s: Scalar, elements: u64) -> Result<(), ErrorKind> {
    let size = bytes as u64;
    if size == s.constant_bytes(elements) || size == s.splat_bytes() {
        Ok(())
    } else if s == Scalar::I1 {
        Err(ErrorKind::DenseI1Size(bytes))
    } else {
        Err(ErrorKind::DenseSize { bytes, elements, element: s.name() })
    }
}

/// Writes attributes that refer to the module's pools.
pub(crate) struct AttrWriter<'a> {
    pub wire: &'static WireProfile,
    pub module: &'a Module,
}

impl AttrWriter<'_> {
    fn tag(&self, out: &mut Vec<u8>, tag: AttrTag) -> Result<(), WriteError> {
        let wire = self.wire.wire_tag(tag).ok_or(WriteError::Malformed { what: "attribute of the other container" })?;
        out.put_varint(wire);
        Ok(())
    }

    pub fn scalar(&self, ty: TypeId) -> Result<Scalar, WriteError> {
        match self.module.types.get(ty.index()).map(|e| &e.ty) {
            Some(Type::Scalar(s)) => Ok(*s),
            _ => Err(WriteError::Malformed { what: "type of attribute" }),
        }
    }

    pub fn tagged(&self, out: &mut Vec<u8>, attr: &Attr) -> Result<(), WriteError> {
        let public = self.wire.is_public();
        match attr {
            Attr::Integer { ty, value } => {
                self.tag(out, AttrTag::Integer)?;
                out.put_varint(ty.0.into());
                if self.scalar(*ty)? == Scalar::I1 { out.push(*value as u8) } else { out.put_varint(*value) }
            }
            Attr::Float { ty, bits } => {
                self.tag(out, AttrTag::Float)?;
                out.put_varint(ty.0.into());
                if self.scalar(*ty)?.bits() <= 8 { out.push(*bits as u8) } else { out.put_zigzag(*bits as i64) }
            }
            Attr::Bool(b) => {
                self.tag(out, AttrTag::Bool)?;
                out.push((*b).into());
            }
            Attr::Type(t) => {
                self.tag(out, AttrTag::Type)?;
                out.put_varint(t.0.into());
            }
            Attr::String(s) => {
                self.tag(out, AttrTag::String)?;
                out.put_varint(s.0.into());
            }
            Attr::Array(elements) => {
                self.tag(out, AttrTag::Array)?;
                self.array(out, elements)?;
            }
            Attr::Dense(d) if public => {
                self.tag(out, AttrTag::DenseRef)?;
                let ty = match &d.shape {
                    None => d.ty,
                    Some(shape) => self.tile_type(d.ty, shape)?,
                };
                out.put_varint(ty.0.into());
                out.put_varint(d.constant.0.into());
            }
            Attr::Dense(d) => match &d.shape {
                Some(shape) => self.dense_inline(out, d.ty, shape, d.constant)?,
                None => {
                    let (element, shape) = dense_type(self.module, d.ty)?;
                    self.dense_inline(out, element, &shape, d.constant)?;
                }
            },
            Attr::DivBy(d) => {
                self.tag(out, AttrTag::DivBy)?;
                out.put_varint(d.divisor);
                out.push(u8::from(d.every.is_some()) | u8::from(d.along.is_some()) << 1);
                d.every.into_iter().chain(d.along).for_each(|v| out.put_zigzag(v));
            }
            Attr::SameElements(v) => {
                self.tag(out, AttrTag::SameElements)?;
                out.put_i64s(v);
            }
            // The specification container has one dictionary kind; hints are dictionaries there.
            Attr::Dictionary(d) => {
                self.tag(out, AttrTag::Dictionary)?;
                self.dictionary(out, d)?;
            }
            Attr::Hints(d) => {
                self.tag(out, if public { AttrTag::Hints } else { AttrTag::Dictionary })?;
                self.dictionary(out, d)?;
            }
            Attr::Bounded(b) => {
                let tag = match (public, b.lower, b.upper) {
                    (false, Some(_), None) => AttrTag::BoundedLower,
                    (false, None, Some(_)) => AttrTag::BoundedUpper,
                    _ => AttrTag::Bounded,
                };
                self.tag(out, tag)?;
                out.push(u8::from(b.lower.is_some()) | u8::from(b.upper.is_some()) << 1);
                b.lower.into_iter().chain(b.upper).for_each(|v| out.put_zigzag(v));
            }
            Attr::Preview(p) if public => preview::put_preview(out, p),
            Attr::Preview(_) => return Err(WriteError::Malformed { what: "attribute of the other container" }),
            Attr::I64s(v) => {
                self.tag(out, AttrTag::FixedI64s)?;
                out.put_i64s(v);
            }
            Attr::I32s(v) => {
                self.tag(out, AttrTag::FixedI64s)?;
                out.put_i64s(&v.iter().map(|&x| x.into()).collect::<Vec<_>>());
            }
            Attr::DenseStrings(d) => {
                self.tag(out, AttrTag::DenseStrings)?;
                out.put_i64s(&d.shape);
                out.put_varint(d.strings.len() as u64);
                d.strings.iter().for_each(|s| out.put_varint(s.0.into()));
            }
        }
        Ok(())
    }

    fn tile_type(&self, element: TypeId, shape: &[i64]) -> Result<TypeId, WriteError> {
        let is_it =
            |t: &TypeEntry| matches!(&t.ty, Type::Tile { element: e, shape: s } if *e == element && **s == *shape);
        let known = self.module.types.iter().position(is_it);
        known.map(|i| TypeId(i as u32)).ok_or(WriteError::Malformed { what: "type of dense attribute" })
    }

    pub fn predicate(&self, out: &mut Vec<u8>, attr: &Attr) -> Result<(), WriteError> {
        self.tag(out, AttrTag::Predicate)?;
        self.tagged(out, attr)
    }

    pub fn array(&self, out: &mut Vec<u8>, elements: &[Attr]) -> Result<(), WriteError> {
        out.put_varint(elements.len() as u64);
        elements.iter().try_for_each(|e| self.tagged(out, e))
    }

    pub fn dictionary(&self, out: &mut Vec<u8>, entries: &[(StringId, Attr)]) -> Result<(), WriteError> {
        out.put_varint(entries.len() as u64);
        entries.iter().try_for_each(|(key, value)| {
            out.put_varint(key.0.into());
            self.tagged(out, value)
        })
    }

    pub fn dense_inline(
        &self,
        out: &mut Vec<u8>,
        element: TypeId,
        shape: &[i64],
        constant: ConstantId,
    ) -> Result<(), WriteError> {
        let s = self.scalar(element)?;
        let stored =
            self.module.constants.get(constant.index()).ok_or(WriteError::Malformed { what: "constant reference" })?;
        let elements = element_count(shape).ok_or(WriteError::Malformed { what: "shape of dense attribute" })?;
        // A splat is expanded, so the size of the module does not bound it.
        if elements > MAX_TILE_ELEMENTS {
            return Err(WriteError::TileSize { elements, max: MAX_TILE_ELEMENTS });
        }
        let raw = expand(stored, s, elements).ok_or(WriteError::DenseSize {
            bytes: stored.len(),
            elements,
            element: s.name(),
        })?;
        self.tag(out, AttrTag::DenseInline)?;
        out.put_varint(element.0.into());
        out.put_i64s(shape);
        out.extend(raw);
        Ok(())
    }
}

/// Element type and shape of the type of a dense attribute: a tile type, or an element type, which means a single
/// element.
pub(crate) fn dense_type(module: &Module, ty: TypeId) -> Result<(TypeId, Box<[i64]>), WriteError> {
    match module.types.get(ty.index()).map(|e| &e.ty) {
        Some(Type::Tile { element, shape }) => Ok((*element, shape.clone())),
        Some(Type::Scalar(_)) => Ok((ty, Box::new([]))),
        _ => Err(WriteError::Malformed { what: "type of dense attribute" }),
    }
}
