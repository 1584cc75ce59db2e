//! Types: the tag table, and the records of the Type section.
//!
//! A record is a VarInt tag and its payload. Components are referred to by index and may come later in the table. A
//! type must not contain itself, and composites must not nest deeper than the language can use.

use crate::container::{PREVIEW, PUBLIC};
use crate::error::{ErrorKind, Field, ReadError, ReadResult, WriteError};
use crate::module::*;
use crate::preview::{self, PreviewReader};
use crate::schema::{ALWAYS, PADDING, POINTER_KIND, V13_2, V13_3, V13_4, V13_5};
use crate::sections::{TYPES, Table, expect_end};
use crate::varint::{Cursor, Encode};

/// Element types by wire tag, with the version that introduced them.
const SCALAR_TAGS: &[(u64, Scalar, Version)] = &[
    (0, Scalar::I1, ALWAYS),
    (1, Scalar::I8, ALWAYS),
    (2, Scalar::I16, ALWAYS),
    (3, Scalar::I32, ALWAYS),
    (4, Scalar::I64, ALWAYS),
    (5, Scalar::F16, ALWAYS),
    (6, Scalar::BF16, ALWAYS),
    (7, Scalar::F32, ALWAYS),
    (8, Scalar::TF32, ALWAYS),
    (9, Scalar::F64, ALWAYS),
    (10, Scalar::F8E4M3FN, ALWAYS),
    (11, Scalar::F8E5M2, ALWAYS),
    (18, Scalar::F8E8M0FNU, V13_2),
    (19, Scalar::F4E2M1FN, V13_3),
    (22, Scalar::I4, V13_3),
    (130, Scalar::FNV8E5M3FNU, V13_4),
];

const POINTER: u64 = 12;
const TILE: u64 = 13;
const TENSOR_VIEW: u64 = 14;
const PARTITION_VIEW: u64 = 15;
const FUNCTION: u64 = 16;
const TOKEN: u64 = 17;
const GATHER_SCATTER_VIEW: u64 = 20;
const STRIDED_VIEW: u64 = 21;

/// The deepest valid type nests 4 levels: function, view, tile, pointer, element.
const MAX_DEPTH: u32 = 16;

impl Scalar {
    /// Width of the value in bits.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::I1 => 1,
            Scalar::I4 | Scalar::F4E2M1FN => 4,
            Scalar::I8 | Scalar::F8E4M3FN | Scalar::F8E5M2 | Scalar::F8E8M0FNU | Scalar::FNV8E5M3FNU => 8,
            Scalar::I16 | Scalar::F16 | Scalar::BF16 => 16,
            Scalar::TF32 => 19,
            Scalar::I32 | Scalar::F32 => 32,
            Scalar::I64 | Scalar::F64 => 64,
        }
    }

    pub fn is_integer(self) -> bool {
        matches!(self, Scalar::I1 | Scalar::I4 | Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// Spelling in MLIR text.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::I1 => "i1",
            Scalar::I4 => "i4",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::F16 => "f16",
            Scalar::BF16 => "bf16",
            Scalar::F32 => "f32",
            Scalar::TF32 => "tf32",
            Scalar::F64 => "f64",
            Scalar::F8E4M3FN => "f8E4M3FN",
            Scalar::F8E5M2 => "f8E5M2",
            Scalar::F8E8M0FNU => "f8E8M0FNU",
            Scalar::F4E2M1FN => "f4E2M1FN",
            Scalar::FNV8E5M3FNU => "fnv8E5M3FNU",
        }
    }

    /// Name in diagnostics about versions.
    fn class(self) -> &'static str {
        match self {
            Scalar::F8E8M0FNU => "Float8E8M0FNU",
            Scalar::F4E2M1FN => "Float4E2M1FN",
            Scalar::FNV8E5M3FNU => "FloatNV8E5M3FNU",
            Scalar::I4 => "Int4",
            other => other.name(),
        }
    }

    fn tag(self) -> (u64, Version) {
        SCALAR_TAGS.iter().find(|t| t.1 == self).map(|t| (t.0, t.2)).expect("every scalar has a tag")
    }

    /// Size in bytes of `elements` constants: each takes whole bytes, except that eight `i1` are packed into a byte.
    pub fn constant_bytes(self, elements: u64) -> u64 {
        match self {
            Scalar::I1 => elements.div_ceil(8),
            other => elements.saturating_mul(u64::from(other.bits().div_ceil(8))),
        }
    }

    /// Size in bytes of a splat constant, which holds one element.
    pub fn splat_bytes(self) -> u64 {
        self.constant_bytes(1)
    }
}

impl Type {
    /// Indices of the component types.
    pub fn components(&self) -> impl Iterator<Item = TypeId> + '_ {
        let mut previews = Vec::new();
        match self {
            Type::Symbolic(attr) => attr.types(&mut previews),
            Type::Fragment(fragment) => fragment.types(&mut previews),
            _ => {}
        }
        let (one, many): (Option<TypeId>, [&[TypeId]; 2]) = match self {
            Type::Scalar(_)
            | Type::Token
            | Type::Symbolic(_)
            | Type::Fragment(_)
            | Type::Datatype
            | Type::Shape
            | Type::Text
            | Type::Index
            | Type::None => (None, [&[], &[]]),
            Type::Pointer { pointee: t, .. } | Type::Tile { element: t, .. } | Type::TensorView { element: t, .. } => {
                (Some(*t), [&[], &[]])
            }
            Type::PartitionView(v) => (Some(v.view), [&[], &[]]),
            Type::GatherScatterView(v) => (Some(v.view), [&[], &[]]),
            Type::StridedView(v) => (Some(v.view), [&[], &[]]),
            Type::Function { inputs, results } => (None, [inputs, results]),
        };
        one.into_iter().chain(many.into_iter().flatten().copied()).chain(previews)
    }

    /// Whether the type belongs to a preview feature.
    pub(crate) fn is_preview(&self) -> bool {
        use Type::{Datatype, Fragment, Index, None, Shape, Symbolic, Text};
        matches!(self, Symbolic(_) | Fragment(_) | Datatype | Shape | Text | Index | None)
    }

    fn since(&self) -> (&'static str, Version) {
        match self {
            Type::Scalar(s) => (s.class(), s.tag().1),
            Type::GatherScatterView(_) => ("GatherScatterView", V13_3),
            Type::StridedView(_) => ("StridedView", V13_3),
            _ => ("", ALWAYS),
        }
    }
}

/// The name of a pointer attribute in the writer's diagnostics, and the version that introduced it. An unknown number
/// gets a version that no file can have.
fn pointer_kind_since(kind: u32) -> (&'static str, Version) {
    const SINCE: [(&str, Version); 3] =
        [("ptr_attr<none>", V13_4), ("ptr_attr<unicast>", V13_5), ("ptr_attr<multicast>", V13_5)];
    const _: () = assert!(SINCE.len() == POINTER_KIND.keywords.len());
    SINCE.get(kind as usize).copied().unwrap_or(("ptr_attr", Version::new(u8::MAX, u8::MAX)))
}

/// Reads the Type section. The specification container (`spec`) does not gate the scalar tags that it shares with the
/// public container by version. It also encodes sizes and partition views differently.
pub(crate) fn read_types(
    cur: &mut Cursor,
    version: Version,
    spec: bool,
    strings: &Blobs,
) -> ReadResult<Vec<TypeEntry>> {
    let table = Table::read(cur, cur.pos(), &TYPES)?;
    let mut types = Vec::with_capacity(table.len());
    for i in 0..table.len() {
        let mut record = table.record(i);
        let offset = record.pos() as u32;
        let reader = PreviewReader { wire: &PUBLIC, strings, types: table.len() };
        let ty = match read_preview(&mut record, reader, version, spec)? {
            Some(ty) => ty,
            None => read_type(&mut record, table.len(), version, spec)?,
        };
        expect_end(&record, "type")?;
        types.push(TypeEntry { ty, offset });
    }
    check_nesting(&types)?;
    for e in &types {
        let view = match &e.ty {
            Type::PartitionView(v) => v.view,
            Type::GatherScatterView(v) => v.view,
            Type::StridedView(v) => v.view,
            _ => continue,
        };
        if !matches!(types[view.index()].ty, Type::TensorView { .. }) {
            return Err(ReadError::new(e.offset as usize, Field::TensorViewType.into()));
        }
    }
    Ok(types)
}

/// Reads a count and that many numbers in signed LEB128.
fn signed_list(cur: &mut Cursor, what: Field) -> ReadResult<Box<[i64]>> {
    (0..cur.count(1, what)?).map(|_| cur.sleb(what)).collect()
}

/// Reads the rest of the specification container's record of a partition view, after the view's type: tile sizes, the
/// dimension map and the padding mode. The mode is 0 for no padding, otherwise the number of the padding value plus
/// one.
fn spec_partition_view(cur: &mut Cursor, view: TypeId) -> ReadResult<Type> {
    let small = |cur: &mut Cursor, what: Field| -> ReadResult<Box<[i32]>> {
        let at = cur.pos();
        let values = signed_list(cur, what)?;
        let all: Result<_, _> = values.iter().map(|v| i32::try_from(*v)).collect();
        all.map_err(|_| ReadError::new(at, what.into()))
    };
    let tile = small(cur, Field::TileShape)?;
    let dim_map = small(cur, Field::DimMap)?;
    let at = cur.pos();
    let mode = cur.byte(Field::Padding)?;
    let padding = mode.checked_sub(1).map(u32::from);
    if padding.is_some_and(|p| p as usize >= PADDING.keywords.len()) {
        return Err(ReadError::new(at, ErrorKind::EnumValue(mode.into())));
    }
    Ok(Type::PartitionView(Box::new(PartitionView { tile, view, dim_map, padding })))
}

/// Reads a type of a preview feature, or returns `None` and consumes nothing.
fn read_preview(cur: &mut Cursor, reader: PreviewReader, version: Version, spec: bool) -> ReadResult<Option<Type>> {
    let (start, at) = (*cur, cur.pos());
    let number = cur.varint(Field::TypeTag)?;
    if spec || !version.at_least(V13_5) || !preview::is_type_tag(number) {
        *cur = start;
        return Ok(None);
    }
    if version.tag & PREVIEW == 0 {
        return Err(ReadError::new(at, ErrorKind::PreviewContent { what: "type tag", number }));
    }
    Ok(Some(match number {
        preview::SYMBOLIC => Type::Symbolic(reader.symbolic(cur)?),
        preview::FRAGMENT => Type::Fragment(Box::new(reader.fragment(cur)?)),
        preview::DATATYPE => Type::Datatype,
        preview::SHAPE => Type::Shape,
        preview::STRING => Type::Text,
        preview::INDEX => Type::Index,
        _ => Type::None,
    }))
}

fn read_type(cur: &mut Cursor, count: usize, version: Version, spec: bool) -> ReadResult<Type> {
    let at = cur.pos();
    let tag = cur.varint(Field::TypeTag)?;
    let unified = version.at_least(V13_3);
    let gate = |name: &'static str, since: Version| {
        if version.at_least(since) {
            Ok(())
        } else {
            Err(ReadError::new(at, ErrorKind::TypeVersion { name, since, version }))
        }
    };
    // The last scalar type is newer than the specification container.
    let known = |scalar| !(spec && scalar == Scalar::FNV8E5M3FNU);
    if let Some(&(_, scalar, since)) = SCALAR_TAGS.iter().find(|t| t.0 == tag && known(t.1)) {
        if !(spec && scalar == Scalar::F8E8M0FNU) {
            gate(scalar.class(), since)?;
        }
        return Ok(Type::Scalar(scalar));
    }
    let reference = |cur: &mut Cursor, what: Field| {
        let at = cur.pos();
        let i = cur.varint(what)?;
        if i >= count as u64 { Err(ReadError::new(at, what.into())) } else { Ok(TypeId(i as u32)) }
    };
    let references = |cur: &mut Cursor, n: Field, each: Field| -> ReadResult<Box<[TypeId]>> {
        (0..cur.count(1, n)?).map(|_| reference(cur, each)).collect()
    };
    // Since 13.3 a leading flags word says whether there is padding; before, a byte at the padding's position does.
    let flags = |cur: &mut Cursor, name: &'static str| -> ReadResult<bool> {
        let at = cur.pos();
        let flags = cur.varint(Field::TypeFlags)?;
        if flags > 1 { Err(ReadError::new(at, ErrorKind::TypeFlags { name, flags })) } else { Ok(flags == 1) }
    };
    let padding = |cur: &mut Cursor, present: bool| -> ReadResult<Option<u32>> {
        if !present {
            return Ok(None);
        }
        let at = cur.pos();
        let v = cur.varint(Field::Padding)?;
        if v >= PADDING.keywords.len() as u64 {
            Err(ReadError::new(at, ErrorKind::EnumValue(v)))
        } else {
            Ok(Some(v as u32))
        }
    };
    // Sizes are 8-byte words in the public container and signed LEB128 in the specification container.
    let dims = |cur: &mut Cursor, what: Field| if spec { signed_list(cur, what) } else { cur.i64s(what) };
    // Since 13.4 a leading flags word says whether an attribute of the pointer follows.
    let attributed = |cur: &mut Cursor, name: &'static str| Ok(version.at_least(V13_4) && !spec && flags(cur, name)?);
    let pointer_kind = |cur: &mut Cursor, present: bool| -> ReadResult<Option<u32>> {
        if !present {
            return Ok(None);
        }
        let at = cur.pos();
        let v = cur.varint(Field::PointerAttribute)?;
        let known = u32::try_from(v).ok().filter(|v| version.at_least(pointer_kind_since(*v).1));
        known.map(Some).ok_or_else(|| ReadError::new(at, ErrorKind::EnumValue(v)))
    };
    match tag {
        POINTER => {
            let present = attributed(cur, "Pointer")?;
            let pointee = reference(cur, Field::PointeeType)?;
            Ok(Type::Pointer { pointee, attr: pointer_kind(cur, present)? })
        }
        TILE => Ok(Type::Tile { element: reference(cur, Field::ElementType)?, shape: dims(cur, Field::Shape)? }),
        TENSOR_VIEW => {
            let present = attributed(cur, "TensorView")?;
            let element = reference(cur, Field::ElementType)?;
            let shape = dims(cur, Field::Shape)?;
            let strides = dims(cur, Field::Strides)?;
            Ok(Type::TensorView { element, shape, strides, attr: pointer_kind(cur, present)? })
        }
        PARTITION_VIEW if spec => {
            let view = reference(cur, Field::TensorViewType)?;
            spec_partition_view(cur, view)
        }
        PARTITION_VIEW => {
            let present = unified && flags(cur, "PartitionView")?;
            let tile = cur.i32s(Field::TileShape)?;
            let view = reference(cur, Field::TensorViewType)?;
            let dim_map = cur.i32s(Field::DimMap)?;
            let present = if unified { present } else { flags(cur, "PartitionView")? };
            Ok(Type::PartitionView(Box::new(PartitionView { tile, view, dim_map, padding: padding(cur, present)? })))
        }
        FUNCTION => Ok(Type::Function {
            inputs: references(cur, Field::ParameterCount, Field::ParameterType)?,
            results: references(cur, Field::ResultCount, Field::FunctionResultType)?,
        }),
        TOKEN => Ok(Type::Token),
        GATHER_SCATTER_VIEW => {
            gate("GatherScatterView", V13_3)?;
            let present = flags(cur, "GatherScatterView")?;
            let tile = cur.i32s(Field::TileShape)?;
            let view = reference(cur, Field::TensorViewType)?;
            let sparse_dim = cur.index(Field::SparseDim)?;
            let padding = padding(cur, present)?;
            Ok(Type::GatherScatterView(Box::new(GatherScatterView { tile, view, sparse_dim, padding })))
        }
        STRIDED_VIEW => {
            gate("StridedView", V13_3)?;
            let present = flags(cur, "StridedView")?;
            let tile = cur.i32s(Field::TileShape)?;
            let traversal_strides = cur.i32s(Field::TraversalStrides)?;
            let view = reference(cur, Field::TensorViewType)?;
            let dim_map = cur.i32s(Field::DimMap)?;
            let padding = padding(cur, present)?;
            Ok(Type::StridedView(Box::new(StridedView { tile, traversal_strides, view, dim_map, padding })))
        }
        _ => Err(ReadError::new(at, ErrorKind::UnknownTypeTag(tag))),
    }
}

/// Checks that no type contains itself and none is nested deeper than [`MAX_DEPTH`]. Iterative, so no input can
/// exhaust the stack.
fn check_nesting(types: &[TypeEntry]) -> ReadResult<()> {
    const NEW: u32 = 0;
    const OPEN: u32 = u32::MAX;
    // For a finished type, its depth plus one.
    let mut state = vec![NEW; types.len()];
    let mut stack = Vec::new();
    for root in 0..types.len() {
        if state[root] == NEW {
            stack.push(root);
        }
        while let Some(&t) = stack.last() {
            let fail = |kind| Err(ReadError::new(types[t].offset as usize, kind));
            if state[t] != NEW && state[t] != OPEN {
                stack.pop();
                continue;
            }
            let first_visit = state[t] == NEW;
            state[t] = OPEN;
            let mut depth = 0;
            for c in types[t].ty.components() {
                match state[c.index()] {
                    NEW => stack.push(c.index()),
                    OPEN if first_visit || c.index() == t => return fail(ErrorKind::RecursiveType(t)),
                    OPEN => {}
                    d => depth = depth.max(d),
                }
            }
            if *stack.last().expect("the type itself is still there") == t {
                if depth >= MAX_DEPTH {
                    return fail(ErrorKind::TypeDepth(t));
                }
                state[t] = depth + 1;
                stack.pop();
            }
        }
    }
    Ok(())
}

/// Appends the record of a type that only preview features have.
fn put_preview_type(out: &mut Vec<u8>, ty: &Type) {
    match ty {
        Type::Symbolic(attr) => {
            out.put_varint(preview::SYMBOLIC);
            preview::put_preview(out, attr);
        }
        Type::Fragment(fragment) => {
            out.put_varint(preview::FRAGMENT);
            preview::put_fragment(out, fragment);
        }
        Type::Datatype => out.put_varint(preview::DATATYPE),
        Type::Shape => out.put_varint(preview::SHAPE),
        Type::Text => out.put_varint(preview::STRING),
        Type::Index => out.put_varint(preview::INDEX),
        Type::None => out.put_varint(preview::NONE),
        _ => unreachable!("not a type of preview features"),
    }
}

/// Appends the record of a type.
pub(crate) fn put_type(out: &mut Vec<u8>, ty: &Type, version: Version, spec: bool) -> Result<(), WriteError> {
    let (name, since) = ty.since();
    let lifted = spec && *ty == Type::Scalar(Scalar::F8E8M0FNU);
    if !lifted && !version.at_least(since) {
        return Err(WriteError::Type { name, since, version });
    }
    let unified = version.at_least(V13_3);
    let put_ids = |out: &mut Vec<u8>, ids: &[TypeId]| {
        out.put_varint(ids.len() as u64);
        ids.iter().for_each(|t| out.put_varint(t.0.into()));
    };
    let put_padding = |out: &mut Vec<u8>, p: Option<u32>| {
        if let Some(p) = p {
            out.put_varint(p.into());
        }
    };
    let put_dims = |out: &mut Vec<u8>, dims: &[i64]| {
        if !spec {
            return out.put_i64s(dims);
        }
        out.put_varint(dims.len() as u64);
        dims.iter().for_each(|d| out.put_sleb(*d));
    };
    let attr = match ty {
        Type::Pointer { attr, .. } | Type::TensorView { attr, .. } => *attr,
        _ => None,
    };
    if let Some((name, since)) = attr.map(pointer_kind_since)
        && !version.at_least(since)
    {
        return Err(WriteError::Attribute { name, since, version });
    }
    let put_attributed = |out: &mut Vec<u8>| {
        if version.at_least(V13_4) {
            out.put_varint(attr.is_some().into());
        }
    };
    let put_pointer_kind = |out: &mut Vec<u8>| {
        if let Some(kind) = attr {
            out.put_varint(kind.into());
        }
    };
    match ty {
        Type::Scalar(s) => out.put_varint(s.tag().0),
        Type::Token => out.put_varint(TOKEN),
        Type::Pointer { pointee, .. } => {
            out.put_varint(POINTER);
            put_attributed(out);
            out.put_varint(pointee.0.into());
            put_pointer_kind(out);
        }
        Type::Tile { element, shape } => {
            out.put_varint(TILE);
            out.put_varint(element.0.into());
            put_dims(out, shape);
        }
        Type::TensorView { element, shape, strides, .. } => {
            out.put_varint(TENSOR_VIEW);
            put_attributed(out);
            out.put_varint(element.0.into());
            put_dims(out, shape);
            put_dims(out, strides);
            put_pointer_kind(out);
        }
        Type::PartitionView(v) if spec => {
            out.put_varint(PARTITION_VIEW);
            out.put_varint(v.view.0.into());
            let wide = |values: &[i32]| values.iter().map(|v| i64::from(*v)).collect::<Vec<_>>();
            put_dims(out, &wide(&v.tile));
            put_dims(out, &wide(&v.dim_map));
            out.push(v.padding.map_or(0, |p| p as u8 + 1));
        }
        Type::PartitionView(v) => {
            out.put_varint(PARTITION_VIEW);
            if unified {
                out.put_varint(v.padding.is_some().into());
            }
            out.put_i32s(&v.tile);
            out.put_varint(v.view.0.into());
            out.put_i32s(&v.dim_map);
            if !unified {
                out.put_varint(v.padding.is_some().into());
            }
            put_padding(out, v.padding);
        }
        Type::Function { inputs, results } => {
            out.put_varint(FUNCTION);
            put_ids(out, inputs);
            put_ids(out, results);
        }
        Type::Symbolic(_)
        | Type::Fragment(_)
        | Type::Datatype
        | Type::Shape
        | Type::Text
        | Type::Index
        | Type::None => put_preview_type(out, ty),
        Type::GatherScatterView(v) => {
            out.put_varint(GATHER_SCATTER_VIEW);
            out.put_varint(v.padding.is_some().into());
            out.put_i32s(&v.tile);
            out.put_varint(v.view.0.into());
            out.put_varint(v.sparse_dim.into());
            put_padding(out, v.padding);
        }
        Type::StridedView(v) => {
            out.put_varint(STRIDED_VIEW);
            out.put_varint(v.padding.is_some().into());
            out.put_i32s(&v.tile);
            out.put_i32s(&v.traversal_strides);
            out.put_varint(v.view.0.into());
            out.put_i32s(&v.dim_map);
            put_padding(out, v.padding);
        }
    }
    Ok(())
}
