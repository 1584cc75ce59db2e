//! Builds attributes: numbers, constants and locations.

use super::{ImportError, Importer};
use crate::dialect::ffi;
use crate::translate::raw::{enum_attr, identifier, ints, scalar_type, str_ref};
use mlir_sys::*;
use tile_bytecode::{Attr, DebugAttr, DebugId, Scalar, Type, TypeId, schema};

impl Importer<'_> {
    pub(super) fn string(&self, s: tile_bytecode::StringId) -> MlirAttribute {
        // SAFETY: the context is alive and the string is copied.
        unsafe { mlirStringAttrGet(self.context, str_ref(self.wire.string(s))) }
    }

    /// A string of the program. The code after the reader requires UTF-8, except for names in debug information.
    pub(super) fn utf8(&self, s: tile_bytecode::StringId, offset: usize) -> Result<MlirAttribute, ImportError> {
        match std::str::from_utf8(self.wire.string(s)) {
            Ok(_) => Ok(self.string(s)),
            Err(_) => {
                let message = format!("the string '{}' is not UTF-8", self.wire.string(s).escape_ascii());
                Err(ImportError::Refused { offset, message })
            }
        }
    }

    pub(super) fn integer(&self, width: u32, value: i64) -> MlirAttribute {
        // SAFETY: the context is alive.
        unsafe { mlirIntegerAttrGet(mlirIntegerTypeGet(self.context, width), value) }
    }

    pub(super) fn unit(&self) -> MlirAttribute {
        // SAFETY: the context is alive.
        unsafe { mlirUnitAttrGet(self.context) }
    }

    /// Elements of the tile type `ty` from a constant of the pool.
    pub(super) fn dense(
        &self,
        ty: MlirType,
        s: Scalar,
        elements: u64,
        constant: tile_bytecode::ConstantId,
        offset: usize,
    ) -> Result<MlirAttribute, ImportError> {
        let stored = self.wire.constants.get(constant.index()).unwrap_or_default();
        let splat_i1 = if s == Scalar::I1 { uniform_bits(stored, elements) } else { None };
        let raw: &[u8] = match splat_i1 {
            // MLIR stores a uniform i1 value as a byte of equal bits.
            Some(true) => &[0xFF],
            Some(false) => &[0],
            None => stored,
        };
        // MLIR has no numbers of this type, so the attribute holds their bits.
        let ty = match s {
            Scalar::FNV8E5M3FNU => {
                let bits = scalar_type(self.context, Scalar::I8);
                // SAFETY: the types are alive, the first is a tile type, and the shape is copied.
                unsafe {
                    let shape = ints(|d| ffi::tileir_cuda_tile_TileType_shape(ty, d));
                    ffi::tileir_cuda_tile_get_TileType(self.unknown, shape.len() as isize, shape.as_ptr(), bits)
                }
            }
            _ => ty,
        };
        // SAFETY: the type is alive and shaped; the buffer is copied, or rejected if its size does not fit.
        let attr = unsafe { mlirDenseElementsAttrRawBufferGet(ty, raw.len(), raw.as_ptr().cast()) };
        if attr.ptr.is_null() { self.refused(offset) } else { Ok(attr) }
    }

    /// Elements for an operation result or a global of type `ty`.
    pub(super) fn dense_of(
        &self,
        ty: TypeId,
        constant: tile_bytecode::ConstantId,
        offset: usize,
    ) -> Result<MlirAttribute, ImportError> {
        let Type::Tile { element, shape } = self.wire.ty(ty) else { return self.refused(offset) };
        let Type::Scalar(s) = self.wire.ty(*element) else { return self.refused(offset) };
        let elements = shape.iter().map(|d| *d as u64).product();
        self.dense(self.types[ty.index()], *s, elements, constant, offset)
    }

    /// A float attribute with exactly these bits, because a conversion of the value could change a NaN.
    pub(super) fn float(&self, ty: MlirType, s: Scalar, bits: u64) -> MlirAttribute {
        let raw = &bits.to_le_bytes()[..s.splat_bytes() as usize];
        let shape = [1i64];
        // SAFETY: the type is alive, and the buffer holds one element of it.
        unsafe {
            let tensor = mlirRankedTensorTypeGet(1, shape.as_ptr(), ty, MlirAttribute { ptr: std::ptr::null() });
            let dense = mlirDenseElementsAttrRawBufferGet(tensor, raw.len(), raw.as_ptr().cast());
            mlirDenseElementsAttrGetSplatValue(dense)
        }
    }

    pub(super) fn scalar(&self, ty: TypeId) -> Option<Scalar> {
        match self.wire.ty(ty) {
            Type::Scalar(s) => Some(*s),
            _ => None,
        }
    }

    /// A self-contained attribute. The reader has bounded the nesting.
    pub(super) fn attr(&self, a: &Attr, offset: usize) -> Result<MlirAttribute, ImportError> {
        let l = self.unknown;
        // SAFETY: the context and all components are alive; strings and arrays are copied.
        let attr = unsafe {
            match a {
                Attr::Integer { ty, value } => {
                    let width = self.scalar(*ty).map_or(64, Scalar::bits);
                    let shift = 64 - width;
                    mlirIntegerAttrGet(self.types[ty.index()], ((*value << shift) as i64) >> shift)
                }
                Attr::Float { ty, bits } => match self.scalar(*ty) {
                    None | Some(Scalar::FNV8E5M3FNU) => return self.refused(offset),
                    Some(s) => self.float(self.types[ty.index()], s, *bits),
                },
                Attr::Bool(b) => mlirBoolAttrGet(self.context, i32::from(*b)),
                Attr::Type(t) => mlirTypeAttrGet(self.types[t.index()]),
                Attr::String(s) => self.utf8(*s, offset)?,
                Attr::Array(elements) => {
                    let elements = elements.iter().map(|e| self.attr(e, offset)).collect::<Result<Vec<_>, _>>()?;
                    mlirArrayAttrGet(self.context, elements.len() as isize, elements.as_ptr())
                }
                Attr::Dense(d) => {
                    let (ty, element, elements) = match (&d.shape, self.wire.ty(d.ty)) {
                        (None, Type::Tile { element, shape }) => {
                            let n = shape.iter().map(|d| *d as u64).product::<u64>();
                            (self.types[d.ty.index()], *element, n)
                        }
                        (Some(shape), _) => {
                            let element = self.types[d.ty.index()];
                            let tile =
                                ffi::tileir_cuda_tile_get_TileType(l, shape.len() as isize, shape.as_ptr(), element);
                            (tile, d.ty, shape.iter().map(|d| *d as u64).product())
                        }
                        _ => return self.refused(offset),
                    };
                    match self.scalar(element) {
                        Some(s) if !ty.ptr.is_null() => self.dense(ty, s, elements, d.constant, offset)?,
                        _ => return self.refused(offset),
                    }
                }
                Attr::DivBy(d) => {
                    let (every, along) = (d.every.unwrap_or(0), d.along.unwrap_or(0));
                    ffi::tileir_cuda_tile_get_DivByAttr(
                        l,
                        d.divisor as i64,
                        d.every.is_some(),
                        every,
                        d.along.is_some(),
                        along,
                    )
                }
                Attr::SameElements(v) => ffi::tileir_cuda_tile_get_SameElementsAttr(l, v.len() as isize, v.as_ptr()),
                Attr::Bounded(b) => {
                    let (lower, upper) = (b.lower.unwrap_or(0), b.upper.unwrap_or(0));
                    ffi::tileir_cuda_tile_get_BoundedAttr(l, b.lower.is_some(), lower, b.upper.is_some(), upper)
                }
                Attr::Dictionary(d) => self.dictionary(d, offset)?,
                Attr::Hints(d) => ffi::tileir_cuda_tile_get_OptimizationHintsAttr(l, self.dictionary(d, offset)?),
                Attr::Preview(p) => self.preview(p)?,
                Attr::I32s(v) => mlirDenseI32ArrayGet(self.context, v.len() as isize, v.as_ptr()),
                Attr::I64s(v) => mlirDenseI64ArrayGet(self.context, v.len() as isize, v.as_ptr()),
                Attr::DenseStrings(_) => return self.refused(offset),
            }
        };
        if attr.ptr.is_null() { self.refused(offset) } else { Ok(attr) }
    }

    pub(super) fn dictionary(
        &self,
        d: &[(tile_bytecode::StringId, Attr)],
        offset: usize,
    ) -> Result<MlirAttribute, ImportError> {
        let mut entries = Vec::with_capacity(d.len());
        for (key, value) in d {
            let value = self.attr(value, offset)?;
            // SAFETY: the context is alive and the string is copied.
            entries.push(unsafe {
                mlirNamedAttributeGet(mlirIdentifierGet(self.context, str_ref(self.wire.string(*key))), value)
            });
        }
        // SAFETY: the entries are alive; the reader has checked that keys are unique.
        Ok(unsafe { mlirDictionaryAttrGet(self.context, entries.len() as isize, entries.as_ptr()) })
    }

    pub(super) fn pooled(&mut self, id: tile_bytecode::AttrId, offset: usize) -> Result<MlirAttribute, ImportError> {
        if let Some(a) = self.attrs[id.index()] {
            return Ok(a);
        }
        let wire = self.wire;
        let a = self.attr(wire.attr(id), offset)?;
        self.attrs[id.index()] = Some(a);
        Ok(a)
    }

    pub(super) fn enumerator(&mut self, e: &'static schema::EnumSpec, value: u32) -> MlirAttribute {
        let known = self.enums.iter().position(|(k, _)| std::ptr::eq(*k, e));
        let i = known.unwrap_or_else(|| {
            let all = (0..e.keywords.len() as u32).map(|v| enum_attr(self.unknown, e, v)).collect();
            self.enums.push((e, all));
            self.enums.len() - 1
        });
        self.enums[i].1[value as usize]
    }

    pub(super) fn named(&mut self, name: &'static str, value: MlirAttribute) -> MlirNamedAttribute {
        let context = self.context;
        let name = *self.names.entry(name).or_insert_with(|| identifier(context, name));
        MlirNamedAttribute { name, attribute: value }
    }

    /// A debug attribute; null if it has the wrong kind for its use. The reader has bounded the nesting.
    pub(super) fn debug_attr(&mut self, id: Option<DebugId>) -> MlirAttribute {
        let null = MlirAttribute { ptr: std::ptr::null() };
        let Some(id) = id else { return null };
        if let Some(a) = self.debug[id.index()] {
            return a;
        }
        let wire = self.wire;
        let l = self.unknown;
        // SAFETY: the context is alive; the constructors return null for components that are null or of a wrong
        // class.
        let attr = unsafe {
            match &wire.debug[id.index()] {
                // Records of the specification container have already been converted to public ones.
                DebugAttr::Unknown
                | DebugAttr::SpecCompileUnit { .. }
                | DebugAttr::SpecLoc { .. }
                | DebugAttr::SpecSubprogram(_)
                | DebugAttr::SpecCallSite { .. } => null,
                DebugAttr::File { name, directory } => {
                    ffi::tileir_cuda_tile_get_DIFileAttr(l, self.string(*name), self.string(*directory))
                }
                DebugAttr::CompileUnit { file, producer, flags } => match self.debug_attr(*file) {
                    file if file.ptr.is_null() => null,
                    file => {
                        let producer = match producer {
                            Some(text) => self.string(*text),
                            None => mlirStringAttrGet(self.context, str_ref(b"")),
                        };
                        ffi::tileir_cuda_tile_get_DICompileUnitAttr(l, file, producer, *flags as i64)
                    }
                },
                DebugAttr::LexicalBlock { scope, file, line, column } => {
                    match (self.debug_attr(*scope), self.debug_attr(*file)) {
                        (s, f) if s.ptr.is_null() || f.ptr.is_null() => null,
                        (s, f) => ffi::tileir_cuda_tile_get_DILexicalBlockAttr(l, s, f, *line as i64, *column as i64),
                    }
                }
                DebugAttr::Subprogram(s) => match (self.debug_attr(s.file), self.debug_attr(s.unit)) {
                    (f, u) if f.ptr.is_null() || u.ptr.is_null() => null,
                    (f, u) => {
                        let (name, linkage) = (self.string(s.name), self.string(s.linkage));
                        ffi::tileir_cuda_tile_get_DISubprogramAttr(
                            l,
                            f,
                            s.line as i64,
                            name,
                            linkage,
                            u,
                            s.scope_line as i64,
                            s.flags as i64,
                            s.purpose as i64,
                            s.sp_flags.unwrap_or(0) as i64,
                        )
                    }
                },
                DebugAttr::Loc { scope, file, line, column } => match self.debug_attr(*scope) {
                    s if s.ptr.is_null() => null,
                    s => {
                        let file = str_ref(wire.string(*file));
                        let source = mlirLocationFileLineColGet(self.context, file, *line as u32, *column as u32);
                        ffi::tileir_cuda_tile_get_DILocAttr(l, mlirLocationGetAttribute(source), s)
                    }
                },
                DebugAttr::CallSite { callee, caller } => {
                    let (callee, caller) = (self.location(*callee), self.location(*caller));
                    mlirLocationGetAttribute(mlirLocationCallSiteGet(callee, caller))
                }
            }
        };
        self.debug[id.index()] = Some(attr);
        attr
    }

    pub(super) fn location(&mut self, id: Option<DebugId>) -> MlirLocation {
        let attr = self.debug_attr(id);
        if attr.ptr.is_null() {
            return self.unknown;
        }
        // SAFETY: the reader accepts only locations here, and those attributes are locations in MLIR too.
        unsafe { mlirLocationFromAttribute(attr) }
    }
}

/// The common value of all `elements` bits of a stored `i1` constant, if they are equal.
fn uniform_bits(stored: &[u8], elements: u64) -> Option<bool> {
    let first = stored.first()? & 1 == 1;
    if stored.len() == 1 && elements > 8 {
        return Some(first);
    }
    if elements.div_ceil(8) > stored.len() as u64 {
        return None;
    }
    (0..elements).all(|i| (stored[(i / 8) as usize] >> (i % 8) & 1 == 1) == first).then_some(first)
}
