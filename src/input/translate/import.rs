//! Translates a wire module into MLIR.
//!
//! Types and attributes are built once for each entry of the pools and verified. If the dialect rejects one, the
//! error is reported at the offset of its record. Operations are built in one walk and verified as a whole at the
//! end. Only if that fails are they verified one by one, innermost first (the order of creation), to find the invalid
//! one.

mod attributes;
mod preview;

use super::raw::{scalar_type, str_ref};
use crate::dialect::{ffi, rt::shown};
use melior::{Context, ir::Module};
use mlir_sys::*;
use std::{cell::RefCell, rc::Rc};
use tile_bytecode::{
    Attr, AttrValue, Block, Body, Function, OpRef, Profile, ReadError, ReadOptions, Scalar, Type, TypeId, ValueId,
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

/// The reasons for which bytes are not a valid program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The bytes do not decode.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// A type or attribute that decodes, but that the dialect rejects.
    #[error("error at offset {offset}: {message}")]
    Refused { offset: usize, message: String },
    /// An operation or the module does not verify.
    #[error("{}", .culprit.as_ref().map_or(MODULE_FAILED.to_owned(), |(offset, name)| operation_failed(*offset, name)))]
    Verification {
        diagnostics: Vec<Diagnostic>,
        /// Offset and full name of the first operation that does not verify; `None` if only the module as a whole
        /// does not.
        culprit: Option<(usize, String)>,
    },
    /// The functions have too many arguments in total. Many functions may share a long signature.
    #[error("functions have more than {0} arguments in total")]
    TooManyArguments(usize),
}

const MODULE_FAILED: &str = "verification failed for deserialized cuda_tile::ModuleOp";

fn operation_failed(offset: usize, name: &str) -> String {
    format!("error at offset {offset}: failed to create operation '{name}' due to verification error.")
}

/// An operation whose name in the specification's container differs: here, and there.
const RENAMED: (&str, &str) = ("'cuda_tile.print_tko'", "'cuda_tile.print'");

impl ImportError {
    /// The same error with the names of the specification's container.
    fn with_specification_names(mut self) -> Self {
        if let ImportError::Verification { diagnostics, culprit } = &mut self {
            let rename = |text: &str| text.replace(RENAMED.0, RENAMED.1);
            for d in diagnostics {
                d.message = rename(&d.message);
                d.notes.iter_mut().for_each(|note| *note = rename(note));
            }
            if let Some((_, name)) = culprit {
                *name = rename(&format!("'{name}'")).trim_matches('\'').to_owned();
            }
        }
        self
    }

    /// The complete report: one message per line, cause first.
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

/// Reads bytecode of either container into a verified module: a `builtin.module` that contains `cuda_tile.module
/// @kernels`.
///
/// # Errors
///
/// Returns the first error in the bytes, with its offset if it has one.
pub fn import<'c>(context: &'c Context, data: &[u8]) -> Result<Module<'c>, ImportError> {
    import_with_options(context, data, &ReadOptions { dialects: dialects(context), ..ReadOptions::default() })
}

/// Names of the dialects that are registered in the context.
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

/// As [`import`], with reader options.
pub fn import_with_options<'c>(
    context: &'c Context,
    data: &[u8],
    options: &ReadOptions,
) -> Result<Module<'c>, ImportError> {
    let (wire, profile) = tile_bytecode::read_with_profile(data, options)?;
    let is_specification = profile == Profile::Specification;
    // SAFETY: the context is alive.
    unsafe { ffi::cudaTileUseSpecificationNames(context.to_raw(), is_specification) };
    let imported = import_wire(context, &wire);
    if is_specification { imported.map_err(ImportError::with_specification_names) } else { imported }
}

/// Translates a decoded file.
pub fn import_wire<'c>(context: &'c Context, wire: &tile_bytecode::Module) -> Result<Module<'c>, ImportError> {
    let wire = &*tile_bytecode::forms::for_container(wire, Profile::Public);
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

/// Captures the context's errors while it is alive and returns them to the caller.
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

/// Maximum number of arguments of all functions together. Many functions may share one signature.
const MAX_ARGUMENTS: usize = 1 << 24;

struct Importer<'m> {
    context: MlirContext,
    unknown: MlirLocation,
    wire: &'m tile_bytecode::Module,
    messages: &'m Messages<'m>,
    types: Vec<MlirType>,
    /// Debug attributes built so far.
    debug: Vec<Option<MlirAttribute>>,
    /// Attributes of the pool built so far.
    attrs: Vec<Option<MlirAttribute>>,
    /// Attributes of the enumerations used so far, indexed by value.
    enums: Vec<(&'static schema::EnumSpec, Vec<MlirAttribute>)>,
    /// Identifiers of attribute names.
    names: rustc_hash::FxHashMap<&'static str, MlirIdentifier>,
    /// Every operation with an offset, innermost first.
    created: Vec<(MlirOperation, u32)>,
    /// Offsets of the remaining operations of the current function.
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

    /// Builds a type and its components. The reader has bounded the nesting of types.
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
                Type::Symbolic(_)
                | Type::Fragment(_)
                | Type::Datatype
                | Type::Shape
                | Type::Text
                | Type::Index
                | Type::None => self.preview_type(&entry.ty, built)?,
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
        // SAFETY: blocks, regions and operations are handed to their owners at once and not used afterwards.
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
        for (index, f) in wire.functions.iter().enumerate() {
            match wire.library_function(index) {
                None => self.function(f, block)?,
                Some(record) => self.library_function(f, record, block)?,
            }
        }
        Ok(module)
    }

    /// Creates an operation, which takes ownership of the regions.
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
            // An entry always has hints, which may be empty.
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
        // SAFETY: the block belongs to the region, the region to the operation, and the operation to the module
        // before any of them can be leaked; the block stays alive inside.
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
                    // An absent list means all false.
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
        // SAFETY: the regions are handed to the operation below.
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
