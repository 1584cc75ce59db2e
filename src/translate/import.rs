//! From a wire module to MLIR.
//!
//! Types and attributes are built once for each entry of the pools, verified, and reported at the offset of their
//! record if the dialect refuses them. Operations are built in one walk, verified as a whole at the end; only if that
//! fails is the culprit looked for, innermost first, which is the order in which they were created.

use super::raw::{enum_attr, identifier, ints, scalar_type, str_ref};
use crate::dialect::{ffi, rt::shown};
use melior::{Context, ir::Module};
use mlir_sys::*;
use std::{cell::RefCell, rc::Rc};
use tile_bytecode::{
    Attr, AttrValue, Block, Body, DebugAttr, DebugId, Function, OpRef, ReadError, ReadOptions, Scalar, Type, TypeId,
    ValueId,
    schema::{self, Arity, AttrKind},
};

/// A message of MLIR's verifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// `loc(...)` of the offending operation.
    pub location: String,
    pub message: String,
    pub notes: Vec<String>,
}

/// Why bytes are not a valid program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The bytes do not decode.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// A type or attribute that decodes, but that the dialect refuses.
    #[error("error at offset {offset}: {message}")]
    Refused { offset: usize, message: String },
    /// An operation or the module does not verify.
    #[error("{}", .culprit.as_ref().map_or(MODULE_FAILED.to_owned(), |(offset, name)| operation_failed(*offset, name)))]
    Verification {
        diagnostics: Vec<Diagnostic>,
        /// Offset and full name of the first operation that does not verify; none if the module as a whole does not.
        culprit: Option<(usize, String)>,
    },
    /// The signatures that functions share add up to more arguments than can be built.
    #[error("functions have more than {0} arguments in total")]
    TooManyArguments(usize),
}

const MODULE_FAILED: &str = "verification failed for deserialized cuda_tile::ModuleOp";

fn operation_failed(offset: usize, name: &str) -> String {
    format!("error at offset {offset}: failed to create operation '{name}' due to verification error.")
}

impl ImportError {
    /// The complete report, one message a line, cause first.
    pub fn lines(&self) -> Vec<String> {
        match self {
            ImportError::Read(e) => std::iter::once(e.to_string()).chain(e.context()).collect(),
            ImportError::Verification { diagnostics, .. } => {
                diagnostics.iter().map(|d| d.message.clone()).chain([self.to_string()]).collect()
            }
            _ => vec![self.to_string()],
        }
    }
}

/// Reads bytecode of either container into a verified module: a `builtin.module` that holds `cuda_tile.module
/// @kernels`.
///
/// # Errors
///
/// What is wrong with the bytes, at which offset.
pub fn import<'c>(context: &'c Context, data: &[u8]) -> Result<Module<'c>, ImportError> {
    import_with_options(context, data, &ReadOptions { dialects: dialects(context), ..ReadOptions::default() })
}

/// Names of the dialects that the context knows.
pub fn dialects(context: &Context) -> Vec<String> {
    unsafe extern "C" fn append(part: MlirStringRef, names: *mut std::ffi::c_void) {
        // SAFETY: `names` is the string below, and the part lives during the call.
        unsafe { (*names.cast::<String>()).push_str(crate::dialect::rt::raw_to_str(part)) }
    }
    let mut names = String::new();
    // SAFETY: the context is alive, and the string outlives the call.
    unsafe { ffi::mlirxContextDialects(context.to_raw(), Some(append), (&raw mut names).cast()) };
    names.lines().map(str::to_owned).collect()
}

/// [`import`] with options of the reader.
pub fn import_with_options<'c>(
    context: &'c Context,
    data: &[u8],
    options: &ReadOptions,
) -> Result<Module<'c>, ImportError> {
    import_wire(context, &tile_bytecode::read(data, options)?)
}

/// Translates a decoded file.
pub fn import_wire<'c>(context: &'c Context, wire: &tile_bytecode::Module) -> Result<Module<'c>, ImportError> {
    let wire = &*tile_bytecode::forms::for_container(wire, tile_bytecode::Profile::Public);
    let messages = Messages::attach(context);
    let mut importer = Importer::new(context, wire, &messages);
    importer.types()?;
    let module = importer.module()?;
    // SAFETY: the module is alive.
    if unsafe { mlirOperationVerify(mlirModuleGetOperation(module.to_raw())) } {
        return Ok(module);
    }
    let diagnostics = messages.take();
    let culprit = importer.culprit();
    messages.take();
    Err(ImportError::Verification { diagnostics, culprit })
}

/// Collects errors while it is alive, so that they reach the caller and nothing else.
struct Messages<'c> {
    context: &'c Context,
    handler: melior::diagnostic::DiagnosticHandlerId,
    list: Rc<RefCell<Vec<Diagnostic>>>,
}

impl<'c> Messages<'c> {
    fn attach(context: &'c Context) -> Self {
        let list = Rc::new(RefCell::new(Vec::new()));
        let sink = list.clone();
        let handler = context.attach_diagnostic_handler(move |d| {
            if !matches!(d.severity(), melior::diagnostic::DiagnosticSeverity::Error) {
                return false;
            }
            let notes = (0..d.note_count()).filter_map(|i| d.note(i).ok().map(|n| shown(&n))).collect();
            sink.borrow_mut().push(Diagnostic { location: shown(&d.location()), message: shown(&d), notes });
            true
        });
        Messages { context, handler, list }
    }

    fn take(&self) -> Vec<Diagnostic> {
        self.list.take()
    }

    /// The collected messages as one text.
    fn text(&self) -> String {
        self.take().into_iter().map(|d| d.message).collect::<Vec<_>>().join("; ")
    }
}

impl Drop for Messages<'_> {
    fn drop(&mut self) {
        self.context.detach_diagnostic_handler(self.handler);
    }
}

/// Arguments that all functions may have together; a signature may be shared by many functions.
const MAX_ARGUMENTS: usize = 1 << 24;

struct Importer<'m> {
    context: MlirContext,
    unknown: MlirLocation,
    wire: &'m tile_bytecode::Module,
    messages: &'m Messages<'m>,
    types: Vec<MlirType>,
    /// Debug attributes that were needed so far.
    debug: Vec<Option<MlirAttribute>>,
    /// Attributes of the pool that were needed so far.
    attrs: Vec<Option<MlirAttribute>>,
    /// Attributes of each enumeration, in the order of [`schema`]'s use.
    enums: Vec<(&'static schema::EnumSpec, Vec<MlirAttribute>)>,
    /// Identifiers of attribute names.
    names: rustc_hash::FxHashMap<&'static str, MlirIdentifier>,
    /// Every operation that has an offset, innermost first.
    created: Vec<(MlirOperation, u32)>,
    /// Offsets of the operations of the current function that are still to come.
    offsets: std::vec::IntoIter<u32>,
    values: Vec<MlirValue>,
}

impl<'m> Importer<'m> {
    fn new(context: &Context, wire: &'m tile_bytecode::Module, messages: &'m Messages) -> Self {
        let context = context.to_raw();
        Importer {
            context,
            // SAFETY: the context is alive.
            unknown: unsafe { mlirLocationUnknownGet(context) },
            wire,
            messages,
            types: Vec::with_capacity(wire.types.len()),
            debug: vec![None; wire.debug.len()],
            attrs: vec![None; wire.attrs.len()],
            enums: Vec::new(),
            names: rustc_hash::FxHashMap::default(),
            created: Vec::new(),
            offsets: Vec::new().into_iter(),
            values: Vec::new(),
        }
    }

    fn refused<T>(&self, offset: usize) -> Result<T, ImportError> {
        let mut message = self.messages.text();
        if message.is_empty() {
            message = "component of the wrong kind".to_owned();
        }
        Err(ImportError::Refused { offset, message })
    }

    /// Builds the types. Components may come later in the table, so they are built on demand.
    fn types(&mut self) -> Result<(), ImportError> {
        let mut built = vec![None; self.wire.types.len()];
        for i in 0..built.len() {
            self.ty(TypeId(i as u32), &mut built)?;
        }
        self.types = built.into_iter().flatten().collect();
        Ok(())
    }

    /// The reader has bounded the nesting of types.
    fn ty(&self, id: TypeId, built: &mut [Option<MlirType>]) -> Result<MlirType, ImportError> {
        if let Some(t) = built[id.index()] {
            return Ok(t);
        }
        let entry = &self.wire.types[id.index()];
        for c in entry.ty.components() {
            self.ty(c, built)?;
        }
        let get = |id: &TypeId| built[id.index()].expect("components are built");
        let optional = |p: &Option<u32>| (p.is_some(), p.map_or(0, i64::from));
        let l = self.unknown;
        // SAFETY: the context and all component types are alive; arrays are copied.
        let ty = unsafe {
            match &entry.ty {
                Type::Scalar(s) => scalar_type(self.context, *s),
                Type::Token => ffi::tileir_cuda_tile_get_TokenType(l),
                Type::Pointer { pointee, attr } => {
                    let (set, kind) = optional(attr);
                    ffi::tileir_cuda_tile_get_PointerType(l, get(pointee), set, kind)
                }
                Type::Tile { element, shape } => {
                    ffi::tileir_cuda_tile_get_TileType(l, shape.len() as isize, shape.as_ptr(), get(element))
                }
                Type::TensorView { element, shape, strides, attr } => {
                    let (set, kind) = optional(attr);
                    let (n, m) = (shape.len() as isize, strides.len() as isize);
                    ffi::tileir_cuda_tile_get_TensorViewType(
                        l,
                        get(element),
                        n,
                        shape.as_ptr(),
                        m,
                        strides.as_ptr(),
                        set,
                        kind,
                    )
                }
                Type::PartitionView(v) => {
                    let (set, p) = optional(&v.padding);
                    let (n, m) = (v.tile.len() as isize, v.dim_map.len() as isize);
                    ffi::tileir_cuda_tile_get_PartitionViewType(
                        l,
                        n,
                        v.tile.as_ptr(),
                        get(&v.view),
                        m,
                        v.dim_map.as_ptr(),
                        set,
                        p,
                    )
                }
                Type::GatherScatterView(v) => {
                    let (set, p) = optional(&v.padding);
                    let n = v.tile.len() as isize;
                    ffi::tileir_cuda_tile_get_GatherScatterViewType(
                        l,
                        n,
                        v.tile.as_ptr(),
                        get(&v.view),
                        v.sparse_dim.into(),
                        set,
                        p,
                    )
                }
                Type::StridedView(v) => {
                    let (set, p) = optional(&v.padding);
                    ffi::tileir_cuda_tile_get_StridedViewType(
                        l,
                        v.tile.len() as isize,
                        v.tile.as_ptr(),
                        v.traversal_strides.len() as isize,
                        v.traversal_strides.as_ptr(),
                        get(&v.view),
                        v.dim_map.len() as isize,
                        v.dim_map.as_ptr(),
                        set,
                        p,
                    )
                }
                Type::Function { inputs, results } => {
                    let inputs: Vec<MlirType> = inputs.iter().map(get).collect();
                    let results: Vec<MlirType> = results.iter().map(get).collect();
                    mlirFunctionTypeGet(
                        self.context,
                        inputs.len() as isize,
                        inputs.as_ptr(),
                        results.len() as isize,
                        results.as_ptr(),
                    )
                }
            }
        };
        if ty.ptr.is_null() {
            return self.refused(entry.offset as usize);
        }
        built[id.index()] = Some(ty);
        Ok(ty)
    }

    fn string(&self, s: tile_bytecode::StringId) -> MlirAttribute {
        // SAFETY: the context is alive and the string is copied.
        unsafe { mlirStringAttrGet(self.context, str_ref(self.wire.string(s))) }
    }

    /// A string of the program, which is UTF-8 everywhere behind the reader; names in debug information may be
    /// anything.
    fn utf8(&self, s: tile_bytecode::StringId, offset: usize) -> Result<MlirAttribute, ImportError> {
        match std::str::from_utf8(self.wire.string(s)) {
            Ok(_) => Ok(self.string(s)),
            Err(_) => {
                let message = format!("the string '{}' is not UTF-8", self.wire.string(s).escape_ascii());
                Err(ImportError::Refused { offset, message })
            }
        }
    }

    fn integer(&self, width: u32, value: i64) -> MlirAttribute {
        // SAFETY: the context is alive.
        unsafe { mlirIntegerAttrGet(mlirIntegerTypeGet(self.context, width), value) }
    }

    fn unit(&self) -> MlirAttribute {
        // SAFETY: the context is alive.
        unsafe { mlirUnitAttrGet(self.context) }
    }

    /// Elements of the tile type `ty` from a constant of the pool.
    fn dense(
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
            // MLIR's form of a uniform i1 value is a byte of all bits.
            Some(true) => &[0xFF],
            Some(false) => &[0],
            None => stored,
        };
        // No attribute holds numbers of this type: it holds their bits.
        let ty = match s {
            Scalar::FNV8E5M3FNU => {
                let bits = scalar_type(self.context, Scalar::I8);
                // SAFETY: the types are alive, the first is a tile's, and the shape is copied.
                unsafe {
                    let shape = ints(|d| ffi::tileir_cuda_tile_TileType_shape(ty, d));
                    ffi::tileir_cuda_tile_get_TileType(self.unknown, shape.len() as isize, shape.as_ptr(), bits)
                }
            }
            _ => ty,
        };
        // SAFETY: the type is alive and shaped; the buffer is copied, or refused if its size does not fit.
        let attr = unsafe { mlirDenseElementsAttrRawBufferGet(ty, raw.len(), raw.as_ptr().cast()) };
        if attr.ptr.is_null() { self.refused(offset) } else { Ok(attr) }
    }

    /// Elements for an operation result or a global of type `ty`.
    fn dense_of(
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

    /// A float attribute with exactly these bits: any conversion of the value could change a NaN.
    fn float(&self, ty: MlirType, s: Scalar, bits: u64) -> MlirAttribute {
        let raw = &bits.to_le_bytes()[..s.splat_bytes() as usize];
        let shape = [1i64];
        // SAFETY: the type is alive, and the buffer holds one element of it.
        unsafe {
            let tensor = mlirRankedTensorTypeGet(1, shape.as_ptr(), ty, MlirAttribute { ptr: std::ptr::null() });
            let dense = mlirDenseElementsAttrRawBufferGet(tensor, raw.len(), raw.as_ptr().cast());
            mlirDenseElementsAttrGetSplatValue(dense)
        }
    }

    fn scalar(&self, ty: TypeId) -> Option<Scalar> {
        match self.wire.ty(ty) {
            Type::Scalar(s) => Some(*s),
            _ => None,
        }
    }

    /// A self-contained attribute. Their nesting is bounded by the reader.
    fn attr(&self, a: &Attr, offset: usize) -> Result<MlirAttribute, ImportError> {
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
                Attr::I32s(v) => mlirDenseI32ArrayGet(self.context, v.len() as isize, v.as_ptr()),
                Attr::I64s(v) => mlirDenseI64ArrayGet(self.context, v.len() as isize, v.as_ptr()),
                Attr::DenseStrings(_) => return self.refused(offset),
            }
        };
        if attr.ptr.is_null() { self.refused(offset) } else { Ok(attr) }
    }

    fn dictionary(&self, d: &[(tile_bytecode::StringId, Attr)], offset: usize) -> Result<MlirAttribute, ImportError> {
        let mut entries = Vec::with_capacity(d.len());
        for (key, value) in d {
            let value = self.attr(value, offset)?;
            // SAFETY: the context is alive and the string is copied.
            entries.push(unsafe {
                mlirNamedAttributeGet(mlirIdentifierGet(self.context, str_ref(self.wire.string(*key))), value)
            });
        }
        // SAFETY: the entries are alive; keys are unique, as the reader has checked.
        Ok(unsafe { mlirDictionaryAttrGet(self.context, entries.len() as isize, entries.as_ptr()) })
    }

    fn pooled(&mut self, id: tile_bytecode::AttrId, offset: usize) -> Result<MlirAttribute, ImportError> {
        if let Some(a) = self.attrs[id.index()] {
            return Ok(a);
        }
        let wire = self.wire;
        let a = self.attr(wire.attr(id), offset)?;
        self.attrs[id.index()] = Some(a);
        Ok(a)
    }

    fn enumerator(&mut self, e: &'static schema::EnumSpec, value: u32) -> MlirAttribute {
        let known = self.enums.iter().position(|(k, _)| std::ptr::eq(*k, e));
        let i = known.unwrap_or_else(|| {
            let all = (0..e.keywords.len() as u32).map(|v| enum_attr(self.unknown, e, v)).collect();
            self.enums.push((e, all));
            self.enums.len() - 1
        });
        self.enums[i].1[value as usize]
    }

    fn named(&mut self, name: &'static str, value: MlirAttribute) -> MlirNamedAttribute {
        let context = self.context;
        let name = *self.names.entry(name).or_insert_with(|| identifier(context, name));
        MlirNamedAttribute { name, attribute: value }
    }

    /// A debug attribute; null if it cannot be what it is used as. The reader has bounded their nesting.
    fn debug_attr(&mut self, id: Option<DebugId>) -> MlirAttribute {
        let null = MlirAttribute { ptr: std::ptr::null() };
        let Some(id) = id else { return null };
        if let Some(a) = self.debug[id.index()] {
            return a;
        }
        let wire = self.wire;
        let l = self.unknown;
        // SAFETY: the context is alive; the constructors return null for null components and those of a wrong class.
        let attr = unsafe {
            match &wire.debug[id.index()] {
                // Records of the specification container were changed to public ones before.
                DebugAttr::Unknown
                | DebugAttr::SpecCompileUnit { .. }
                | DebugAttr::SpecLoc { .. }
                | DebugAttr::SpecSubprogram(_)
                | DebugAttr::SpecCallSite { .. } => null,
                DebugAttr::File { name, directory } => {
                    ffi::tileir_cuda_tile_get_DIFileAttr(l, self.string(*name), self.string(*directory))
                }
                DebugAttr::CompileUnit { file } => match self.debug_attr(*file) {
                    file if file.ptr.is_null() => null,
                    file => ffi::tileir_cuda_tile_get_DICompileUnitAttr(l, file),
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

    fn location(&mut self, id: Option<DebugId>) -> MlirLocation {
        let attr = self.debug_attr(id);
        if attr.ptr.is_null() {
            return self.unknown;
        }
        // SAFETY: the reader lets only locations be used as such, and those attributes are locations in MLIR too.
        unsafe { mlirLocationFromAttribute(attr) }
    }

    fn module(&mut self) -> Result<Module<'static>, ImportError> {
        let total = self.wire.functions.iter().map(|f| f.body.arguments().len()).fold(0usize, usize::saturating_add);
        if total > MAX_ARGUMENTS {
            return Err(ImportError::TooManyArguments(MAX_ARGUMENTS));
        }
        // SAFETY: the location is alive; the module is owned from here on and destroyed on error.
        let module = unsafe { Module::from_raw(mlirModuleCreateEmpty(self.unknown)) };
        let mut attrs = vec![];
        // SAFETY: the context is alive and strings are copied.
        let name = unsafe { mlirStringAttrGet(self.context, str_ref(b"kernels")) };
        attrs.push(self.named("sym_name", name));
        if let Some(p) = self.wire.producer {
            let producer = self.string(p);
            attrs.push(self.named("producer", producer));
        }
        // SAFETY: blocks, regions and operations are given to their owners at once; nothing is used after that.
        let block = unsafe {
            let region = mlirRegionCreate();
            let block = mlirBlockCreate(0, std::ptr::null(), std::ptr::null());
            mlirRegionAppendOwnedBlock(region, block);
            let op = self.create("cuda_tile.module", self.unknown, &attrs, &[], &[], vec![region]);
            mlirBlockAppendOwnedOperation(mlirModuleGetBody(module.to_raw()), op);
            block
        };
        let wire = self.wire;
        for g in &wire.globals {
            let offset = g.offset as usize;
            let (name, value) = (self.utf8(g.name, offset)?, self.dense_of(g.ty, g.value, offset)?);
            let mut attrs = vec![self.named("sym_name", name), self.named("value", value)];
            let alignment = self.integer(64, g.alignment as i64);
            attrs.push(self.named("alignment", alignment));
            if let Type::Tile { element, .. } = wire.ty(g.ty)
                && self.scalar(*element) == Some(Scalar::FNV8E5M3FNU)
            {
                // SAFETY: the type is alive.
                let element = unsafe { mlirTypeAttrGet(self.types[element.index()]) };
                attrs.push(self.named("element_type", element));
            }
            if g.constant {
                let unit = self.unit();
                attrs.push(self.named("constant", unit));
            }
            let visibility = self.enumerator(&schema::VISIBILITY, u32::from(g.private));
            attrs.push(self.named("symbol_visibility", visibility));
            let op = self.create("cuda_tile.global", self.unknown, &attrs, &[], &[], vec![]);
            self.created.push((op, g.offset));
            // SAFETY: the block is alive and takes the operation.
            unsafe { mlirBlockAppendOwnedOperation(block, op) };
        }
        for f in &wire.functions {
            self.function(f, block)?;
        }
        Ok(module)
    }

    /// Creates an operation; regions are given to it.
    fn create(
        &self,
        name: &str,
        location: MlirLocation,
        attrs: &[MlirNamedAttribute],
        operands: &[MlirValue],
        results: &[MlirType],
        regions: Vec<MlirRegion>,
    ) -> MlirOperation {
        // SAFETY: all handles are alive; MLIR copies what the state points to.
        unsafe {
            let mut state = mlirOperationStateGet(str_ref(name.as_bytes()), location);
            mlirOperationStateAddAttributes(&mut state, attrs.len() as isize, attrs.as_ptr());
            mlirOperationStateAddOperands(&mut state, operands.len() as isize, operands.as_ptr());
            mlirOperationStateAddResults(&mut state, results.len() as isize, results.as_ptr());
            mlirOperationStateAddOwnedRegions(&mut state, regions.len() as isize, regions.as_ptr());
            mlirOperationCreate(&mut state)
        }
    }

    fn function(&mut self, f: &Function, parent: MlirBlock) -> Result<(), ImportError> {
        let location = self.location(f.location.flatten());
        let offset = f.offset as usize;
        let name = self.utf8(f.name, offset)?;
        // SAFETY: the type is alive.
        let signature = unsafe { mlirTypeAttrGet(self.types[f.signature.index()]) };
        let mut attrs = vec![self.named("sym_name", name), self.named("function_type", signature)];
        let hints = match f.hints {
            Some(h) => self.pooled(h, offset)?,
            // An entry that was read always has hints, if only empty ones.
            None => self.attr(&Attr::Hints(Box::new([])), offset)?,
        };
        attrs.push(self.named("optimization_hints", hints));
        if let Some(a) = f.arg_attrs {
            let arg_attrs = self.pooled(a, offset)?;
            attrs.push(self.named("arg_attrs", arg_attrs));
        }

        let Type::Function { inputs, .. } = self.wire.ty(f.signature) else { return self.refused(offset) };
        let types: Vec<MlirType> = inputs.iter().map(|t| self.types[t.index()]).collect();
        self.values = vec![MlirValue { ptr: std::ptr::null() }; f.body.value_count()];
        // SAFETY: the block belongs to the region, the region to the operation and that to the module before any of
        // them can be lost; the block stays alive inside.
        let block = unsafe {
            let region = mlirRegionCreate();
            let block = mlirBlockCreate(types.len() as isize, types.as_ptr(), vec![location; types.len()].as_ptr());
            mlirRegionAppendOwnedBlock(region, block);
            let op = self.create("cuda_tile.entry", location, &attrs, &[], &[], vec![region]);
            mlirBlockAppendOwnedOperation(parent, op);
            block
        };
        self.arguments(block, f.body.arguments());
        self.offsets = f.body.offsets().collect::<Vec<_>>().into_iter();
        for op in f.body.top_level() {
            self.op(op, block)?;
        }
        Ok(())
    }

    fn arguments(&mut self, block: MlirBlock, args: impl Iterator<Item = ValueId>) {
        for (i, v) in args.enumerate() {
            // SAFETY: the block has an argument for each value.
            self.values[v.index()] = unsafe { mlirBlockGetArgument(block, i as isize) };
        }
    }

    fn op(&mut self, op: OpRef, block: MlirBlock) -> Result<(), ImportError> {
        let offset = self.offsets.next().expect("one for each operation, which are visited in their order") as usize;
        let location = self.location(op.location());
        let spec = op.spec;
        let mut attrs = Vec::with_capacity(spec.attrs.len() + 1);
        for (i, field) in spec.attrs.iter().enumerate() {
            let Some(value) = op.attr(i) else { continue };
            let attr = match (field.kind, value) {
                (AttrKind::Enum(e), AttrValue::Enum(v)) => self.enumerator(e, v),
                (AttrKind::I32, AttrValue::Int(v)) => self.integer(32, v as i64),
                (_, AttrValue::Int(v)) => self.integer(64, v as i64),
                // SAFETY: the context is alive.
                (_, AttrValue::Bool(b)) => unsafe { mlirBoolAttrGet(self.context, i32::from(b)) },
                (_, AttrValue::Str(s)) => self.utf8(s, offset)?,
                // SAFETY: the context is alive and the string is copied.
                (_, AttrValue::Sym(s)) => unsafe {
                    mlirFlatSymbolRefAttrGet(self.context, str_ref(self.wire.string(s)))
                },
                // SAFETY: the type is alive.
                (_, AttrValue::Type(t)) => unsafe { mlirTypeAttrGet(self.types[t.index()]) },
                (_, AttrValue::Dense(c)) => match op.result_types().next() {
                    Some(ty) => self.dense_of(ty, c, offset)?,
                    None => return self.refused(offset),
                },
                (_, AttrValue::Bools(list)) => {
                    let group = spec.operands.iter().position(|f| f.arity == Arity::Variadic);
                    // All false is what its absence says.
                    if !list.any() && group.is_some_and(|g| op.group_len(g) == list.iter().len()) {
                        continue;
                    }
                    let values: Vec<i32> = list.iter().map(i32::from).collect();
                    // SAFETY: the context is alive and the array is copied.
                    unsafe { mlirDenseBoolArrayGet(self.context, values.len() as isize, values.as_ptr()) }
                }
                (_, AttrValue::Attr(a)) => self.pooled(a, offset)?,
                (_, AttrValue::Unit | AttrValue::Enum(_)) => self.unit(),
            };
            attrs.push(self.named(field.name, attr));
        }
        if spec.segmented {
            let sizes: Vec<i32> = (0..spec.operands.len()).map(|g| op.group_len(g) as i32).collect();
            // SAFETY: the context is alive and the array is copied.
            let sizes = unsafe { mlirDenseI32ArrayGet(self.context, sizes.len() as isize, sizes.as_ptr()) };
            attrs.push(self.named("operandSegmentSizes", sizes));
        } else {
            debug_assert!(spec.operands.iter().filter(|f| f.arity != Arity::One).count() <= 1);
        }
        let operands: Vec<MlirValue> = op.operands().map(|v| self.values[v.index()]).collect();
        let results: Vec<MlirType> = op.result_types().map(|t| self.types[t.index()]).collect();
        // SAFETY: regions are given to the operation below.
        let regions: Vec<MlirRegion> = (0..spec.regions).map(|_| unsafe { mlirRegionCreate() }).collect();
        let created = self.create(&spec.full_name(), location, &attrs, &operands, &results, regions);
        // SAFETY: the block takes the operation, which stays alive inside.
        unsafe { mlirBlockAppendOwnedOperation(block, created) };
        for (i, region) in op.regions().enumerate() {
            if let Some(inner) = op.block(region) {
                // SAFETY: the operation is alive and has this region.
                let region = unsafe { mlirOperationGetRegion(created, i as isize) };
                self.block(inner, op.body, region, location)?;
            }
        }
        self.created.push((created, offset as u32));
        for (i, v) in op.results().enumerate() {
            // SAFETY: the operation is alive and has this result.
            self.values[v.index()] = unsafe { mlirOperationGetResult(created, i as isize) };
        }
        Ok(())
    }

    fn block(
        &mut self,
        inner: &Block,
        body: &Body,
        region: MlirRegion,
        location: MlirLocation,
    ) -> Result<(), ImportError> {
        let types: Vec<MlirType> = inner.arg_types(body).map(|t| self.types[t.index()]).collect();
        // SAFETY: the region is alive and takes the block.
        let block = unsafe {
            let block = mlirBlockCreate(types.len() as isize, types.as_ptr(), vec![location; types.len()].as_ptr());
            mlirRegionAppendOwnedBlock(region, block);
            block
        };
        self.arguments(block, inner.args());
        inner.ops(body).try_for_each(|op| self.op(op, block))
    }

    /// The first operation, innermost first, that does not verify.
    fn culprit(&self) -> Option<(usize, String)> {
        // SAFETY: the module that holds the operations is alive.
        let &(op, offset) = self.created.iter().find(|(op, _)| unsafe { !mlirOperationVerify(*op) })?;
        // SAFETY: as above; the identifier is the context's.
        let name = unsafe { super::raw::bytes(mlirIdentifierStr(mlirOperationGetName(op))) };
        Some((offset as usize, String::from_utf8_lossy(name).into_owned()))
    }
}

/// The value of all `elements` bits of a stored `i1` constant, if they agree.
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
