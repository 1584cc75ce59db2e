//! Types and attributes of preview features: symbolic expressions, layouts, fragments, and the records of functions
//! in tile libraries.
//!
//! Files have them only if the header has the preview bit. Payloads, after the tag (`e`: a tagged expression):
//!
//! | tag | attribute | payload |
//! |---|---|---|
//! | D1 | integer | zig-zag |
//! | D2 | variable | string |
//! | D3 D4 D5 D6 D7 DA | product, quotient, sum, difference, quotient rounded down, rounded up | e e |
//! | D8 | tuple | count, e... |
//! | D9 | layout | count, e... (extents), count, e... (strides) |
//! | DB | type | type |
//! | DC | negation | e |
//! | DD DE DF | memory space, synchronization, access | number |
//! | E0 | scratch memory | e (bytes), e (alignment) |
//! | E2 | constant parameter | string, type of its kind |
//! | E3 | builtin | string, type |
//! | E4 | string | string |
//!
//! ```text
//! type D1:     variable, as a tagged attribute
//! type D2:     shape (D8), sizes, element type, space byte, layout (D9), map (D9), alignment (e)
//! declaration: head | array of argument attributes | body length 0 | array of constant parameters
//! implementation:
//!   head | bits | symbol | implements | [constant parameters] [constant arguments] | signature |
//!   [argument attributes] [result attributes] [scratch: e e] [config] [architectures] [ABI] [synchronization] |
//!   [score] | 1 region | 0 blocks | body length 0
//! ```

use crate::attrs::AttrReader;
use crate::container::WireProfile;
use crate::error::{ErrorKind, Field, ReadError, ReadResult};
use crate::module::{Attr, Blobs, StringId, TypeId};
use crate::varint::{Cursor, Encode};

/// An attribute that only preview features have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Preview {
    Int(i64),
    Variable(StringId),
    Binary(Binary, Box<[Preview; 2]>),
    Negation(Box<Preview>),
    Tuple(Box<[Preview]>),
    Type(TypeId),
    Text(StringId),
    Builtin {
        name: StringId,
        ty: TypeId,
    },
    Layout(Box<LayoutMap>),
    /// Index into `local`, `smem`.
    Space(u32),
    /// Index into `none`, `warp`, `warpgroup`, `cta`.
    Synchronization(u32),
    /// Index into `in`, `out`, `inout`.
    Access(u32),
    Scratch(Box<Scratch>),
    Parameter {
        name: StringId,
        kind: TypeId,
    },
}

/// Arithmetic on two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    Mul,
    Div,
    Add,
    Sub,
    FloorDiv,
    CeilDiv,
}

/// Extents and strides of the modes of a layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LayoutMap {
    pub shapes: Box<[Preview]>,
    pub strides: Box<[Preview]>,
}

/// Shared memory that a function needs, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scratch {
    pub size: Preview,
    pub alignment: Preview,
}

/// The part of a tile that one call of a function gets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    pub shape: Box<[Preview]>,
    /// The constant sizes of the shape; [`DYNAMIC`](crate::DYNAMIC) for other expressions.
    pub sizes: Box<[i64]>,
    pub element: TypeId,
    /// As [`Preview::Space`].
    pub space: u32,
    pub layout: LayoutMap,
    pub map: LayoutMap,
    /// In elements.
    pub alignment: Preview,
}

/// The record of an implementation. Arrays hold attributes as they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    /// The function of the code. The name in the head of the record has no other use.
    pub symbol: StringId,
    pub implements: StringId,
    pub parameters: Option<Box<[Attr]>>,
    pub arguments: Option<Box<[Attr]>>,
    pub signature: TypeId,
    pub arg_attrs: Option<Box<[Attr]>>,
    pub res_attrs: Option<Box<[Attr]>>,
    pub scratch: Option<Scratch>,
    pub config: Option<Box<[(StringId, Attr)]>>,
    pub architectures: Option<Box<[Attr]>>,
    pub abi: Option<Box<[(StringId, Attr)]>>,
    /// As [`Preview::Synchronization`].
    pub synchronization: Option<u32>,
    pub score: Option<u64>,
}

/// The range of tags.
const FIRST: u64 = 0xD1;
const LAST: u64 = 0xE4;

/// Limit of the nesting of expressions, as for other attributes.
const MAX_DEPTH: u32 = 32;

/// Numbers of memory spaces, synchronizations and accesses.
const SPACES: u64 = 2;
const SYNCHRONIZATIONS: u64 = 4;
const ACCESSES: u64 = 3;

/// Tags of types. The last five have no payload.
pub(crate) const SYMBOLIC: u64 = 0xD1;
pub(crate) const FRAGMENT: u64 = 0xD2;
pub(crate) const DATATYPE: u64 = 0xD3;
pub(crate) const SHAPE: u64 = 0xD4;
pub(crate) const STRING: u64 = 0xD5;
pub(crate) const INDEX: u64 = 0xD6;
pub(crate) const NONE: u64 = 0xD7;

/// Whether an attribute tag belongs to a preview feature.
pub(crate) fn is_attribute_tag(tag: u64) -> bool {
    (FIRST..=LAST).contains(&tag) && tag != 0xE1
}

/// Whether a type tag belongs to a preview feature.
pub(crate) fn is_type_tag(tag: u64) -> bool {
    (SYMBOLIC..=NONE).contains(&tag)
}

impl Binary {
    const ALL: [(u64, Binary); 6] = [
        (0xD3, Binary::Mul),
        (0xD4, Binary::Div),
        (0xD5, Binary::Add),
        (0xD6, Binary::Sub),
        (0xD7, Binary::FloorDiv),
        (0xDA, Binary::CeilDiv),
    ];

    fn from_tag(tag: u64) -> Option<Binary> {
        Self::ALL.iter().find(|(t, _)| *t == tag).map(|(_, b)| *b)
    }

    fn tag(self) -> u64 {
        Self::ALL.iter().find(|(_, b)| *b == self).expect("every operation has a tag").0
    }
}

impl Preview {
    fn tag(&self) -> u64 {
        match self {
            Preview::Int(_) => 0xD1,
            Preview::Variable(_) => 0xD2,
            Preview::Binary(binary, _) => binary.tag(),
            Preview::Tuple(_) => 0xD8,
            Preview::Layout(_) => 0xD9,
            Preview::Type(_) => 0xDB,
            Preview::Negation(_) => 0xDC,
            Preview::Space(_) => 0xDD,
            Preview::Synchronization(_) => 0xDE,
            Preview::Access(_) => 0xDF,
            Preview::Scratch(_) => 0xE0,
            Preview::Parameter { .. } => 0xE2,
            Preview::Builtin { .. } => 0xE3,
            Preview::Text(_) => 0xE4,
        }
    }

    /// Adds the types that the attribute mentions.
    pub(crate) fn types(&self, list: &mut Vec<TypeId>) {
        match self {
            Preview::Type(ty) | Preview::Builtin { ty, .. } | Preview::Parameter { kind: ty, .. } => list.push(*ty),
            Preview::Binary(_, operands) => operands.iter().for_each(|e| e.types(list)),
            Preview::Negation(operand) => operand.types(list),
            Preview::Tuple(elements) => elements.iter().for_each(|e| e.types(list)),
            Preview::Layout(layout) => layout.types(list),
            Preview::Scratch(scratch) => [&scratch.size, &scratch.alignment].iter().for_each(|e| e.types(list)),
            Preview::Int(_)
            | Preview::Variable(_)
            | Preview::Text(_)
            | Preview::Space(_)
            | Preview::Synchronization(_)
            | Preview::Access(_) => {}
        }
    }
}

impl LayoutMap {
    fn types(&self, list: &mut Vec<TypeId>) {
        self.shapes.iter().chain(&self.strides).for_each(|e| e.types(list));
    }
}

impl Fragment {
    /// Adds the types that the fragment mentions.
    pub(crate) fn types(&self, list: &mut Vec<TypeId>) {
        list.push(self.element);
        self.shape.iter().for_each(|e| e.types(list));
        self.layout.types(list);
        self.map.types(list);
        self.alignment.types(list);
    }
}

/// Reads attributes that refer to strings and to types, of which only the number need be known.
#[derive(Clone, Copy)]
pub(crate) struct PreviewReader<'a> {
    pub wire: &'static WireProfile,
    pub strings: &'a Blobs,
    pub types: usize,
}

impl PreviewReader<'_> {
    fn string(&self, cur: &mut Cursor) -> ReadResult<StringId> {
        crate::reader::string(cur, self.strings, Field::StringAttribute)
    }

    fn ty(&self, cur: &mut Cursor) -> ReadResult<TypeId> {
        let at = cur.pos();
        let i = cur.varint(Field::PreviewType)?;
        if i >= self.types as u64 { Err(ReadError::new(at, Field::PreviewType.into())) } else { Ok(TypeId(i as u32)) }
    }

    fn number(&self, cur: &mut Cursor, count: u64) -> ReadResult<u32> {
        let at = cur.pos();
        let v = cur.varint(Field::PreviewEnum)?;
        if v >= count { Err(ReadError::new(at, ErrorKind::PreviewEnum(v))) } else { Ok(v as u32) }
    }

    /// Reads the payload of a tag for which [`is_attribute_tag`] holds.
    pub fn payload(&self, cur: &mut Cursor, tag: u64, depth: u32) -> ReadResult<Preview> {
        if depth > MAX_DEPTH {
            return cur.fail(ErrorKind::AttributeDepth);
        }
        if let Some(binary) = Binary::from_tag(tag) {
            let lhs = self.nested(cur, "lhs", depth)?;
            return Ok(Preview::Binary(binary, Box::new([lhs, self.nested(cur, "rhs", depth)?])));
        }
        Ok(match tag {
            0xD1 => Preview::Int(cur.zigzag(Field::PreviewInteger)?),
            0xD2 => Preview::Variable(self.string(cur)?),
            0xD8 => Preview::Tuple(self.list(cur, depth)?),
            0xD9 => Preview::Layout(Box::new(self.modes(cur, depth)?)),
            0xDB => Preview::Type(self.ty(cur)?),
            0xDC => Preview::Negation(Box::new(self.nested(cur, "operand", depth)?)),
            0xDD => Preview::Space(self.number(cur, SPACES)?),
            0xDE => Preview::Synchronization(self.number(cur, SYNCHRONIZATIONS)?),
            0xDF => Preview::Access(self.number(cur, ACCESSES)?),
            0xE0 => Preview::Scratch(Box::new(self.scratch(cur, depth)?)),
            0xE2 => Preview::Parameter { name: self.string(cur)?, kind: self.ty(cur)? },
            0xE3 => Preview::Builtin { name: self.string(cur)?, ty: self.ty(cur)? },
            0xE4 => Preview::Text(self.string(cur)?),
            _ => return cur.fail(ErrorKind::AttributeTag(tag)),
        })
    }

    fn scratch(&self, cur: &mut Cursor, depth: u32) -> ReadResult<Scratch> {
        let size = self.nested(cur, "size", depth)?;
        Ok(Scratch { size, alignment: self.nested(cur, "alignment", depth)? })
    }

    fn nested(&self, cur: &mut Cursor, parameter: &'static str, depth: u32) -> ReadResult<Preview> {
        let at = cur.pos();
        let tag = cur.varint(Field::AttributeTag)?;
        if !is_attribute_tag(tag) && self.wire.attr_tag(tag).is_none() {
            return Err(ReadError::new(at, ErrorKind::AttributeTag(tag)));
        }
        // Expressions; other attributes of previews are not operands.
        if !is_attribute_tag(tag) || matches!(tag, 0xD9 | 0xDD..=0xE2) {
            return Err(ReadError::new(at, ErrorKind::NotAnExpression { parameter, tag }));
        }
        self.payload(cur, tag, depth + 1)
    }

    fn list(&self, cur: &mut Cursor, depth: u32) -> ReadResult<Box<[Preview]>> {
        (0..cur.count(2, Field::PreviewCount)?).map(|_| self.nested(cur, "elements", depth)).collect()
    }

    fn modes(&self, cur: &mut Cursor, depth: u32) -> ReadResult<LayoutMap> {
        let shapes = self.list(cur, depth)?;
        Ok(LayoutMap { shapes, strides: self.list(cur, depth)? })
    }

    /// Reads a tag and its payload; the tag must be `expected`.
    fn expect(&self, cur: &mut Cursor, expected: u64) -> ReadResult<Preview> {
        let at = cur.pos();
        let tag = cur.varint(Field::AttributeTag)?;
        if tag != expected {
            return Err(ReadError::new(at, ErrorKind::PreviewKind { expected, got: tag }));
        }
        self.payload(cur, tag, 0)
    }

    fn layout(&self, cur: &mut Cursor) -> ReadResult<LayoutMap> {
        match self.expect(cur, 0xD9)? {
            Preview::Layout(layout) => Ok(*layout),
            _ => cur.fail(Field::PreviewCount),
        }
    }

    /// Reads the payload of a fragment type.
    pub fn fragment(&self, cur: &mut Cursor) -> ReadResult<Fragment> {
        let at = cur.pos();
        let tag = cur.varint(Field::AttributeTag)?;
        if tag != 0xD8 {
            return Err(ReadError::new(at, ErrorKind::FragmentShape));
        }
        let shape = self.list(cur, 0)?;
        let sizes = cur.i64s(Field::Shape)?;
        let element = self.ty(cur)?;
        let at = cur.pos();
        let space = cur.byte(Field::PreviewEnum)?;
        if u64::from(space) >= SPACES {
            return Err(ReadError::new(at, ErrorKind::MemorySpace(space)));
        }
        let (layout, map) = (self.layout(cur)?, self.layout(cur)?);
        let alignment = self.nested(cur, "alignment", 0)?;
        Ok(Fragment { shape, sizes, element, space: space.into(), layout, map, alignment })
    }

    /// Reads the payload of a symbolic type.
    pub fn symbolic(&self, cur: &mut Cursor) -> ReadResult<Preview> {
        self.nested(cur, "variable", 0)
    }
}

/// Appends a tag and its payload.
pub(crate) fn put_preview(out: &mut Vec<u8>, attr: &Preview) {
    out.put_varint(attr.tag());
    match attr {
        Preview::Int(v) => out.put_zigzag(*v),
        Preview::Variable(s) | Preview::Text(s) => out.put_varint(s.0.into()),
        Preview::Binary(_, operands) => operands.iter().for_each(|e| put_preview(out, e)),
        Preview::Negation(operand) => put_preview(out, operand),
        Preview::Tuple(elements) => put_list(out, elements),
        Preview::Layout(layout) => put_modes(out, layout),
        Preview::Type(t) => out.put_varint(t.0.into()),
        Preview::Space(v) | Preview::Synchronization(v) | Preview::Access(v) => out.put_varint((*v).into()),
        Preview::Scratch(scratch) => put_scratch(out, scratch),
        Preview::Parameter { name, kind: ty } | Preview::Builtin { name, ty } => {
            out.put_varint(name.0.into());
            out.put_varint(ty.0.into());
        }
    }
}

fn put_list(out: &mut Vec<u8>, list: &[Preview]) {
    out.put_varint(list.len() as u64);
    list.iter().for_each(|e| put_preview(out, e));
}

fn put_modes(out: &mut Vec<u8>, layout: &LayoutMap) {
    put_list(out, &layout.shapes);
    put_list(out, &layout.strides);
}

/// Appends the two expressions of a scratch request, without a tag.
pub(crate) fn put_scratch(out: &mut Vec<u8>, scratch: &Scratch) {
    put_preview(out, &scratch.size);
    put_preview(out, &scratch.alignment);
}

/// Appends the payload of a fragment type.
pub(crate) fn put_fragment(out: &mut Vec<u8>, fragment: &Fragment) {
    out.put_varint(0xD8);
    put_list(out, &fragment.shape);
    out.put_i64s(&fragment.sizes);
    out.put_varint(fragment.element.0.into());
    out.push(fragment.space as u8);
    for layout in [&fragment.layout, &fragment.map] {
        out.put_varint(0xD9);
        put_modes(out, layout);
    }
    put_preview(out, &fragment.alignment);
}

/// Bits of an implementation's record, in the order of its optional fields.
mod bit {
    pub const PARAMETERS: u64 = 1 << 0;
    pub const ARGUMENTS: u64 = 1 << 1;
    pub const ARG_ATTRS: u64 = 1 << 2;
    pub const RES_ATTRS: u64 = 1 << 3;
    pub const SCRATCH: u64 = 1 << 4;
    pub const CONFIG: u64 = 1 << 5;
    pub const ARCHITECTURES: u64 = 1 << 6;
    pub const ABI: u64 = 1 << 7;
    pub const SYNCHRONIZATION: u64 = 1 << 8;
    pub const SCORE: u64 = 1 << 9;
}

/// Reads the rest of an implementation's record. Unknown bits are ignored, as by other readers.
pub(crate) fn read_implementation(cur: &mut Cursor, attrs: &mut AttrReader) -> ReadResult<Implementation> {
    let bits = cur.varint(Field::OperationFlags)?;
    let has = |bit: u64| bits & bit != 0;
    let symbol = attrs.string(cur, Field::StringAttribute)?;
    let at = cur.pos();
    let implements = attrs.string(cur, Field::StringAttribute)?;
    if attrs.strings.get(implements.index()).is_none_or(<[u8]>::is_empty) {
        return Err(ReadError::new(at, ErrorKind::EmptySymbol));
    }
    let parameters = has(bit::PARAMETERS).then(|| attrs.elements(cur)).transpose()?;
    let arguments = has(bit::ARGUMENTS).then(|| attrs.elements(cur)).transpose()?;
    let signature = attrs.ty(cur, Field::FunctionSignature)?;
    let arg_attrs = has(bit::ARG_ATTRS).then(|| attrs.elements(cur)).transpose()?;
    let res_attrs = has(bit::RES_ATTRS).then(|| attrs.elements(cur)).transpose()?;
    let scratch = has(bit::SCRATCH).then(|| attrs.preview().scratch(cur, 0)).transpose()?;
    let config = has(bit::CONFIG).then(|| attrs.entries(cur)).transpose()?;
    let architectures = has(bit::ARCHITECTURES).then(|| attrs.elements(cur)).transpose()?;
    let abi = has(bit::ABI).then(|| attrs.entries(cur)).transpose()?;
    let synchronization = if has(bit::SYNCHRONIZATION) {
        let at = cur.pos();
        let v = cur.varint(Field::PreviewEnum)?;
        if v >= SYNCHRONIZATIONS {
            return Err(ReadError::new(at, ErrorKind::EnumValue(v)));
        }
        Some(v as u32)
    } else {
        None
    };
    let score = has(bit::SCORE).then(|| cur.varint(Field::OperationAttribute)).transpose()?;
    let at = cur.pos();
    let regions = cur.varint(Field::RegionCount)?;
    if regions != 1 {
        return Err(ReadError::new(at, ErrorKind::ImplementationRegions(regions)));
    }
    let at = cur.pos();
    let blocks = cur.varint(Field::BlockCount)?;
    if blocks != 0 {
        return Err(ReadError::new(at, ErrorKind::ImplementationBlocks(blocks)));
    }
    let at = cur.pos();
    let length = cur.varint(Field::FunctionBodySize)?;
    if length != 0 {
        return Err(ReadError::new(at, ErrorKind::ImplementationBody(length)));
    }
    Ok(Implementation {
        symbol,
        implements,
        parameters,
        arguments,
        signature,
        arg_attrs,
        res_attrs,
        scratch,
        config,
        architectures,
        abi,
        synchronization,
        score,
    })
}

impl Implementation {
    /// The bits of the fields that are present.
    pub(crate) fn bits(&self) -> u64 {
        let set = |present: bool, bit: u64| if present { bit } else { 0 };
        set(self.parameters.is_some(), bit::PARAMETERS)
            | set(self.arguments.is_some(), bit::ARGUMENTS)
            | set(self.arg_attrs.is_some(), bit::ARG_ATTRS)
            | set(self.res_attrs.is_some(), bit::RES_ATTRS)
            | set(self.scratch.is_some(), bit::SCRATCH)
            | set(self.config.is_some(), bit::CONFIG)
            | set(self.architectures.is_some(), bit::ARCHITECTURES)
            | set(self.abi.is_some(), bit::ABI)
            | set(self.synchronization.is_some(), bit::SYNCHRONIZATION)
            | set(self.score.is_some(), bit::SCORE)
    }
}

/// Whether an attribute, or one inside it, belongs to a preview feature.
pub(crate) fn is_preview(attr: &Attr) -> bool {
    match attr {
        Attr::Preview(_) => true,
        Attr::Array(elements) => elements.iter().any(is_preview),
        Attr::Dictionary(entries) | Attr::Hints(entries) => entries.iter().any(|(_, value)| is_preview(value)),
        _ => false,
    }
}

impl crate::module::Module {
    /// Whether types, attributes or functions belong to a preview feature. Operations are not examined.
    pub(crate) fn has_preview_pools(&self) -> bool {
        let types = self.types[..self.declared_types].iter().any(|t| t.ty.is_preview());
        types || !self.library.is_empty() || self.attrs.iter().any(is_preview)
    }
}
