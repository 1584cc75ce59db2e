//! Operation records and constants of the specification container.
//!
//! ```text
//! VarInt opcode | signed LEB128 location | [VarInt result count] | result types
//!   | VarInt operand count | operands | VarInt dictionary | [VarInt region count | regions]
//! ```
//!
//! Records describe themselves. All attributes of an operation are in one dictionary, which is an entry of the
//! Constant section: `n` is entry `n - 1`, and 0 is the empty dictionary. The Constant section holds tagged
//! attributes, so constants carry their type and shape. The sizes of the operand groups of segmented operations are
//! the 64-bit array `operandSegmentSizes`. The other entries of a dictionary:
//!
//! | schema kind | entry |
//! |---|---|
//! | enumeration, 32-bit integer | integer of type `i32` |
//! | 64-bit integer | integer of type `i64` |
//! | bool, unit | bool |
//! | string, symbol / type | string / type |
//! | dense elements | elements in place |
//! | `i32` array | 64-bit array |
//! | array / hints | array / dictionary |
//!  tagged | predicate around the attribute (the attribute itself if it is not a predicate) |
//!
//! Worked example: `%c = addi %a, %b : tile<8xi32>` without a location is `03 7F 03 02 04 05 00`: opcode 3, location
//! -1, result type 3, two operands, values 4 and 5, no attributes (the overflow attribute has its default).

use crate::attrs::{AttrReader, AttrWriter, dense_matches, element_count, is_predicate};
use crate::body::{AttrValue, OpRef};
use crate::container::AttrTag;
use crate::debug::is_location;
use crate::error::{ErrorKind, Field, ReadError, ReadResult, WriteError};
use crate::module::*;
use crate::ops::{BodyReader, check_operand_count};
use crate::reader::check_dense;
use crate::schema::{Arity, AttrField, AttrKind, NO_BIT, OpSpec};
use crate::sections::{CONSTANTS, Table, expect_end};
use crate::varint::{Cursor, Encode};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Dictionary key of the operand group sizes.
pub(crate) const SEGMENT_SIZES: &str = "operandSegmentSizes";

/// Entries of the Constant section; empty for the public container.
#[derive(Default)]
pub(crate) struct Entries {
    attrs: Vec<Attr>,
    /// Interned conversions of dictionary values, because many operations may share a large one.
    interned: RefCell<FxHashMap<Interned, u32>>,
}

/// A dictionary value used as a field of an operation: the entry, its position in the entry, and the kind of the
/// field.
type Interned = (u64, usize, std::mem::Discriminant<AttrKind>);

impl Entries {
    pub fn len(&self) -> usize {
        self.attrs.len()
    }

    pub fn get(&self, index: u64) -> Option<&Attr> {
        self.attrs.get(usize::try_from(index).ok()?)
    }
}

pub(crate) fn read_entries(cur: &mut Cursor, attrs: &mut AttrReader) -> ReadResult<Entries> {
    let table = Table::read(cur, cur.pos(), &CONSTANTS)?;
    let mut entries = Vec::with_capacity(table.len());
    for i in 0..table.len() {
        let mut record = table.record(i);
        entries.push(attrs.tagged(&mut record)?);
        expect_end(&record, "constant")?;
    }
    Ok(Entries { attrs: entries, interned: RefCell::default() })
}

impl BodyReader<'_, '_> {
    /// Reads a function body: a region with one block, whose arguments are the function's.
    pub(crate) fn spec_body(&mut self, cur: &mut Cursor, name: StringId) -> ReadResult<()> {
        let at = cur.pos();
        let blocks = cur.varint(Field::BlockCount)?;
        if blocks != 1 {
            return Err(ReadError::new(at, ErrorKind::BodyBlocks(blocks)));
        }
        let at = cur.pos();
        let n = cur.count(1, Field::BlockArguments)?;
        let mut matches = n == self.inputs().len();
        for i in 0..n {
            let ty = self.attr_reader().ty(cur, Field::BlockArgumentType)?;
            matches = matches && self.inputs()[i] == ty;
        }
        if !matches {
            return Err(ReadError::new(at, ErrorKind::BodyArguments { function: self.module.text(name) }));
        }
        let mut terminated = false;
        for _ in 0..cur.count(2, Field::BlockOperations)? {
            terminated = self.spec_op(cur, 0)?;
        }
        if !terminated {
            return cur.fail(ErrorKind::MissingTerminator);
        }
        Ok(())
    }

    /// Reads the next record with all its regions. Returns whether it is a terminator.
    pub(crate) fn spec_op(&mut self, cur: &mut Cursor, depth: u32) -> ReadResult<bool> {
        let (spec, start) = self.opcode(cur)?;
        let at = cur.pos();
        let location = match cur.sleb(Field::OperationLocation)? {
            -1 => 0,
            index => {
                let i = usize::try_from(index).unwrap_or(usize::MAX);
                if !self.module.debug.get(i).is_some_and(is_location) {
                    return Err(ReadError::new(at, Field::OperationLocation.into()));
                }
                i as u32 + 1
            }
        };
        let op = self.body.begin(spec, start, location);

        let version = self.module.version;
        let available = spec.results.iter().filter(|r| version.at_least(r.since)).count();
        let serialised = if spec.variadic_results { cur.count(1, Field::OperationResults)? } else { available };
        self.result_types(cur, spec, op, serialised)?;

        let at = cur.pos();
        let operands = cur.count(1, Field::OperationOperands)?;
        for operand in 0..operands {
            let at = cur.pos();
            let index = cur.varint(Field::OperandIndex)?;
            let size = self.scope_len();
            self.operand(index).map_err(|()| ReadError::new(at, ErrorKind::OperandIndex { index, size, operand }))?;
        }

        let dictionary_at = cur.pos();
        let index = cur.varint(Field::AttributeDictionary)?;
        let entries = self.entries;
        let dictionary: &[(StringId, Attr)] = match index.checked_sub(1).map(|i| entries.get(i)) {
            None => &[],
            Some(Some(Attr::Dictionary(d))) => d,
            Some(_) => return Err(ReadError::new(dictionary_at, ErrorKind::NotADictionary { index })),
        };
        let segments = self.dictionary(spec, op, index, dictionary).map_err(|k| ReadError::new(dictionary_at, k))?;
        self.groups(spec, op, operands, segments).map_err(|k| ReadError::new(at, k))?;

        if spec.regions > 0 {
            let at = cur.pos();
            let n = cur.varint(Field::RegionCount)?;
            if n != spec.regions as u64 {
                return Err(ReadError::new(
                    at,
                    ErrorKind::RegionCount { class: spec.class, expected: spec.regions, got: n },
                ));
            }
            self.regions(cur, spec, op, depth)?;
        }
        self.complete(op, serialised);
        Ok(spec.terminator)
    }

    fn present_word(&mut self, spec: &OpSpec, op: OpId) -> &mut u32 {
        self.body.word(op, spec.present_at())
    }

    /// Assigns the dictionary's values to the schema's attributes. Returns the operand group sizes if it has any.
    fn dictionary<'d>(
        &mut self,
        spec: &'static OpSpec,
        op: OpId,
        entry: u64,
        dictionary: &'d [(StringId, Attr)],
    ) -> Result<Option<&'d [i64]>, ErrorKind> {
        let mut segments = None;
        let mut seen = 0u32;
        for (position, (key, value)) in dictionary.iter().enumerate() {
            let name = self.module.string(*key);
            if name == SEGMENT_SIZES.as_bytes() && spec.segmented {
                let Attr::I64s(sizes) = value else { return Err(ErrorKind::SegmentSizes { class: spec.class }) };
                segments = Some(&**sizes);
                continue;
            }
            let version = self.module.version;
            let Some(i) = spec.attrs.iter().position(|f| f.name.as_bytes() == name && version.at_least(f.since)) else {
                return Err(ErrorKind::UnknownAttribute { name: self.module.text(*key), class: spec.class });
            };
            seen |= 1 << i;
            let field = &spec.attrs[i];
            let wrong = ErrorKind::AttributeKind { name: field.name.to_owned(), class: spec.class };
            let cached =
                self.entries.interned.borrow().get(&(entry, position, std::mem::discriminant(&field.kind))).copied();
            let word = match cached {
                Some(word) => word,
                None => self.field(spec, field, value, op, (entry, position), wrong)?,
            };
            let bit = spec.attr_bits[i];
            if bit != NO_BIT && (field.kind != AttrKind::Unit || word != 0) {
                *self.present_word(spec, op) |= 1 << bit;
            }
            if field.kind != AttrKind::Unit {
                let before = spec.attrs[..i].iter().filter(|f| f.kind != AttrKind::Unit).count();
                *self.body.word(op, spec.head_words() + before) = word;
            }
        }
        let mut slot = spec.head_words();
        for (i, field) in spec.attrs.iter().enumerate() {
            if !field.optional && seen >> i & 1 == 0 {
                match field.default {
                    Some(v) => *self.body.word(op, slot) = v,
                    None => return Err(ErrorKind::MissingAttribute { name: field.name, class: spec.class }),
                }
            }
            slot += (field.kind != AttrKind::Unit) as usize;
        }
        Ok(segments)
    }

    fn field(
        &mut self,
        spec: &OpSpec,
        field: &AttrField,
        value: &Attr,
        op: OpId,
        at: (u64, usize),
        wrong: ErrorKind,
    ) -> Result<u32, ErrorKind> {
        let attr = match (field.kind, value) {
            (AttrKind::Enum(e), Attr::Integer { value, .. }) => {
                return e.value(*value, self.module.version);
            }
            (AttrKind::I32, Attr::Integer { value, .. }) if u32::try_from(*value).is_err() => return Err(wrong),
            (AttrKind::I32 | AttrKind::I64, Attr::Integer { value, .. }) => return Ok(self.body.int_word(*value)),
            (AttrKind::Bool | AttrKind::Unit, Attr::Bool(b)) => return Ok((*b).into()),
            (AttrKind::Str, Attr::String(s)) => return Ok(s.0),
            (AttrKind::Sym, Attr::String(s)) => {
                return if self.module.string(*s).is_empty() { Err(ErrorKind::EmptySymbol) } else { Ok(s.0) };
            }
            (AttrKind::Type, Attr::Type(t)) => return Ok(t.0),
            (AttrKind::Dense, Attr::Dense(d)) => {
                let result = self.body.first_result_type(spec, op);
                check_dense(self.module, result, d.constant)?;
                let matches = dense_matches(self.module, result, d);
                return if matches { Ok(d.constant.0) } else { Err(ErrorKind::Field(Field::DenseType)) };
            }
            (AttrKind::I32s, Attr::I64s(v)) => {
                let narrow: Result<Box<[i32]>, i64> = v.iter().map(|&x| i32::try_from(x).map_err(|_| x)).collect();
                Attr::I32s(narrow.map_err(ErrorKind::ArrayValue)?)
            }
            (AttrKind::Array, Attr::Array(_)) => value.clone(),
            (AttrKind::Hints, Attr::Dictionary(d)) => Attr::Hints(d.clone()),
            (AttrKind::Tagged, _) => value.clone(),
            _ => return Err(wrong),
        };
        let word = self.module.attrs.intern(attr).0;
        self.entries.interned.borrow_mut().insert((at.0, at.1, std::mem::discriminant(&field.kind)), word);
        Ok(word)
    }

    /// Assigns operands to groups. Without explicit sizes the assignment must be unambiguous.
    fn groups(
        &mut self,
        spec: &'static OpSpec,
        op: OpId,
        operands: usize,
        segments: Option<&[i64]>,
    ) -> Result<(), ErrorKind> {
        if !spec.segmented {
            if spec.count_words > 0 {
                *self.body.word(op, spec.counts_at()) = operands as u32;
            }
            return check_operand_count(spec, operands);
        }
        let invalid = || ErrorKind::SegmentSizes { class: spec.class };
        let fixed = spec.fixed_operands();
        let sizes: Vec<usize> = match segments {
            Some(sizes) if sizes.len() != spec.operands.len() => return Err(invalid()),
            Some(sizes) => {
                sizes.iter().map(|&s| usize::try_from(s)).collect::<Result<_, _>>().map_err(|_| invalid())?
            }
            None => {
                let rest = operands.checked_sub(fixed).ok_or_else(invalid)?;
                if rest > 0 && spec.operands.len() - fixed != 1 {
                    return Err(invalid());
                }
                spec.operands.iter().map(|f| if f.arity == Arity::One { 1 } else { rest }).collect()
            }
        };
        let total = sizes.iter().try_fold(0usize, |n, &s| n.checked_add(s));
        if total != Some(operands) {
            return Err(invalid());
        }
        let mut count_at = spec.counts_at();
        for (i, (field, &n)) in spec.operands.iter().zip(&sizes).enumerate() {
            match (field.arity, n) {
                (Arity::One, 1) | (Arity::Optional, 0) => {}
                (Arity::Optional, 1) => *self.present_word(spec, op) |= 1 << spec.operand_bits[i],
                (Arity::Variadic, n) => {
                    *self.body.word(op, count_at) = n as u32;
                    count_at += 1;
                }
                _ => return Err(invalid()),
            }
        }
        Ok(())
    }
}

/// Additions to the module's pools that the dictionary of an operation needs.
pub(crate) trait SpecPools {
    fn name(&mut self, name: &str) -> StringId;
    fn scalar(&mut self, s: Scalar) -> TypeId;
}

/// Encodes the dictionary of an operation, sorted by key; returns `None` if it is empty.
pub(crate) fn put_dictionary(
    attrs: &AttrWriter,
    pools: &mut impl SpecPools,
    op: OpRef,
    version: Version,
) -> Result<Option<Vec<u8>>, WriteError> {
    let mut entries: Vec<(&str, Vec<u8>)> = Vec::new();
    let tag =
        |t: AttrTag| attrs.wire.wire_tag(t).expect("the specification container has all kinds that are used here");
    let put_integer = |out: &mut Vec<u8>, ty: TypeId, v: u64| {
        out.put_varint(tag(AttrTag::Integer));
        out.put_varint(ty.0.into());
        out.put_varint(v);
    };
    for (i, field) in op.spec.attrs.iter().enumerate() {
        let Some(value) = op.attr(i) else { continue };
        if !version.at_least(field.since) || is_default(field, value) {
            continue;
        }
        let mut out = Vec::new();
        match value {
            AttrValue::Enum(v) => put_integer(&mut out, pools.scalar(Scalar::I32), v.into()),
            AttrValue::Int(v) => {
                let s = if field.kind == AttrKind::I32 { Scalar::I32 } else { Scalar::I64 };
                put_integer(&mut out, pools.scalar(s), v);
            }
            AttrValue::Bool(b) => attrs.tagged(&mut out, &Attr::Bool(b))?,
            AttrValue::Unit => attrs.tagged(&mut out, &Attr::Bool(true))?,
            AttrValue::Str(s) | AttrValue::Sym(s) => attrs.tagged(&mut out, &Attr::String(s))?,
            AttrValue::Type(t) => attrs.tagged(&mut out, &Attr::Type(t))?,
            AttrValue::Dense(c) => {
                let ty = op.result_types().next().ok_or(WriteError::Malformed { what: "type of constant" })?;
                let (element, shape) = crate::attrs::dense_type(attrs.module, ty)?;
                debug_assert!(element_count(&shape).is_some());
                attrs.dense_inline(&mut out, element, &shape, c)?;
            }
            // Lists of booleans are newer than all versions of this container.
            AttrValue::Bools(_) => return Err(WriteError::Malformed { what: field.name }),
            AttrValue::Attr(id) => {
                let attr = attrs.module.attr(id);
                let wrapped = field.kind == AttrKind::Tagged && is_predicate(attr);
                if wrapped { attrs.predicate(&mut out, attr)? } else { attrs.tagged(&mut out, attr)? }
            }
        }
        entries.push((field.name, out));
    }
    if op.spec.segmented {
        let sizes = (0..op.spec.operands.len()).map(|g| op.group_len(g) as i64).collect();
        let mut out = Vec::new();
        attrs.tagged(&mut out, &Attr::I64s(sizes))?;
        entries.push((SEGMENT_SIZES, out));
    }
    if entries.is_empty() {
        return Ok(None);
    }
    entries.sort_unstable_by_key(|e| e.0);
    let mut out = Vec::new();
    out.put_varint(tag(AttrTag::Dictionary));
    out.put_varint(entries.len() as u64);
    for (name, value) in entries {
        out.put_varint(pools.name(name).0.into());
        out.extend(value);
    }
    Ok(Some(out))
}

/// Whether the value equals the default that an absent field implies.
fn is_default(field: &AttrField, value: AttrValue) -> bool {
    let value = match value {
        AttrValue::Enum(v) => u64::from(v),
        AttrValue::Int(v) => v,
        _ => return false,
    };
    field.default.is_some_and(|d| u64::from(d) == value)
}
