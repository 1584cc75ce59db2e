//! Translates MLIR into a wire module.
//!
//! Pools are filled in the reference writer's order: the signatures of all entries with their components, then
//! globals and functions as they are encoded. The exporter first checks that the module contains only globals and
//! entries, that all operations belong to `cuda_tile`, and that the bodies of reduce and scan are pure. The wire
//! writer reports features that a version cannot express.

mod preview;

pub use preview::library_call;

use super::raw::{bytes, enum_value, ints, optional, scalar_of, str_ref};
use crate::dialect::ffi;
use melior::ir::{Module, operation::OperationRef};
use mlir_sys::*;
use rustc_hash::FxHashMap;
use std::ffi::CString;
use tile_bytecode::{
    Attr, AttrValue, BodyBuilder, BoolList, Bounded, ConstantId, DebugAttr, DebugId, Dense, DivBy, Function,
    GatherScatterView, Global, OpInit, PartitionView, Pools, Profile, Scalar, StridedView, Subprogram, Type, TypeId,
    ValueId, Version, WriteError,
    schema::{self, Arity, AttrKind, OpSpec},
};

/// The reasons for which a module cannot be written as bytecode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    #[error("expected exactly one cuda_tile.module, found {0}")]
    ModuleCount(usize),
    /// With the names of the operations that are not allowed there.
    #[error("only function and global ops are allowed in the body")]
    ForeignOperations(Vec<String>),
    #[error("only ops from the 'cuda_tile' dialect are allowed")]
    ForeignDialect { operation: String },
    #[error("only pure operations allowed")]
    Impure { operation: String },
    #[error("unsupported type in bytecode writer")]
    Type { ty: String },
    #[error("unsupported location, got {0}, expected DILocAttr or CallSiteLoc")]
    Location(&'static str),
    #[error("operation '{operation}' cannot be encoded: attribute '{attribute}' has an unsupported value")]
    Attribute { operation: String, attribute: String },
    #[error("operation '{operation}' cannot be encoded: {what}")]
    Operation { operation: String, what: &'static str },
    #[error("regions are nested too deeply")]
    Depth,
    #[error("{0}")]
    Write(#[from] WriteError),
}

type Result<T> = std::result::Result<T, ExportError>;

/// Writes the `cuda_tile.module` of a verified module as bytecode.
///
/// # Errors
///
/// Fails if the bytecode, the version or the container cannot express the module.
pub fn export(module: &Module, version: Version, profile: Profile) -> Result<Vec<u8>> {
    let wire = export_wire(module, version)?;
    Ok(tile_bytecode::write(&wire, profile, version)?)
}

/// An error with the operations that caused it.
#[derive(Debug)]
pub struct Refusal {
    pub error: ExportError,
    at: MlirOperation,
    culprits: Vec<MlirOperation>,
}

impl Refusal {
    /// Reports the error through the context, with a remark at each operation that is not allowed.
    pub fn emit(&self) {
        // Only names from the program can contain a NUL.
        let message = CString::new(self.error.to_string().replace('\0', " ")).unwrap_or_default();
        // SAFETY: the operations are alive as long as the program is unchanged; MLIR copies the texts.
        unsafe {
            mlirEmitError(mlirOperationGetLocation(self.at), message.as_ptr());
            for culprit in &self.culprits {
                ffi::mlirxEmitRemark(mlirOperationGetLocation(*culprit), crate::dialect::rt::raw_str("invalid op"));
            }
        }
    }
}

/// Writes a `cuda_tile.module`, or the one inside a `builtin.module`.
///
/// # Errors
///
/// As for [`export`], with the operation that caused the error.
pub fn export_operation(op: OperationRef, version: Version, profile: Profile) -> std::result::Result<Vec<u8>, Refusal> {
    let op = op.to_raw();
    let refusal = |error, at| Refusal { error, at, culprits: vec![] };
    let module = module_of(op).map_err(|e| refusal(e, op))?;
    let mut e = Exporter::new(module);
    let wire = e.module(module, version).map_err(|error| Refusal {
        error,
        at: e.at,
        culprits: std::mem::take(&mut e.culprits),
    })?;
    tile_bytecode::write(&wire, profile, version).map_err(|e| refusal(e.into(), module))
}

/// Translates the `cuda_tile.module` of a verified module.
pub fn export_wire(module: &Module, version: Version) -> Result<tile_bytecode::Module> {
    let op = module_of(module.as_operation().to_raw())?;
    Exporter::new(op).module(op, version)
}

/// Returns the operation if it is a `cuda_tile.module`, otherwise the one directly inside it.
fn module_of(op: MlirOperation) -> Result<MlirOperation> {
    if name(op) == "cuda_tile.module" {
        return Ok(op);
    }
    // SAFETY: the operation is alive.
    let has_region = unsafe { mlirOperationGetNumRegions(op) } > 0;
    let body = if has_region { block_of(op, 0) } else { None };
    let found: Vec<MlirOperation> =
        body.into_iter().flat_map(ops).filter(|op| name(*op) == "cuda_tile.module").collect();
    match found[..] {
        [module] => Ok(module),
        _ => Err(ExportError::ModuleCount(found.len())),
    }
}

/// Nesting depth that the reader accepts.
const MAX_DEPTH: u32 = 256;

struct Exporter {
    context: MlirContext,
    pools: Pools,
    /// Indices of the types translated so far, by identity.
    types: FxHashMap<usize, TypeId>,
    debug: FxHashMap<usize, Option<DebugId>>,
    /// Values of the current function.
    values: FxHashMap<usize, ValueId>,
    /// The operation at which an error is reported.
    at: MlirOperation,
    /// Operations that are not allowed where they are.
    culprits: Vec<MlirOperation>,
}

/// The operations of a block.
fn ops(block: MlirBlock) -> impl Iterator<Item = MlirOperation> {
    // SAFETY: the block is alive; operations are not changed while they are listed.
    let mut next = unsafe { mlirBlockGetFirstOperation(block) };
    std::iter::from_fn(move || {
        let current = next;
        // SAFETY: as above, and `current` is not null here.
        (!current.ptr.is_null()).then(|| {
            next = unsafe { mlirOperationGetNextInBlock(current) };
            current
        })
    })
}

fn name<'a>(op: MlirOperation) -> &'a str {
    // SAFETY: the operation is alive.
    let name = unsafe { bytes(mlirIdentifierStr(mlirOperationGetName(op))) };
    std::str::from_utf8(name).unwrap_or_default()
}

/// An inherent attribute, if the operation has it.
fn attribute(op: MlirOperation, name: &str) -> Option<MlirAttribute> {
    // SAFETY: the operation is alive.
    let a = unsafe { mlirOperationGetInherentAttributeByName(op, str_ref(name.as_bytes())) };
    (!a.ptr.is_null()).then_some(a)
}

/// The only block of a region, if the region is not empty.
fn block_of(op: MlirOperation, region: usize) -> Option<MlirBlock> {
    // SAFETY: the operation is alive and has this region.
    let block = unsafe { mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region as isize)) };
    (!block.ptr.is_null()).then_some(block)
}

fn string<'a>(a: MlirAttribute) -> Option<&'a [u8]> {
    // SAFETY: the attribute is alive.
    unsafe { mlirAttributeIsAString(a).then(|| bytes(mlirStringAttrGetValue(a))) }
}

fn print(ty: MlirType) -> String {
    // SAFETY: the type is alive.
    unsafe { melior::ir::Type::from_raw(ty) }.to_string()
}

impl Exporter {
    fn new(module: MlirOperation) -> Self {
        Exporter {
            // SAFETY: the operation is alive.
            context: unsafe { mlirOperationGetContext(module) },
            pools: Pools::default(),
            types: FxHashMap::default(),
            debug: FxHashMap::default(),
            values: FxHashMap::default(),
            at: module,
            culprits: vec![],
        }
    }

    fn module(&mut self, module: MlirOperation, version: Version) -> Result<tile_bytecode::Module> {
        let body = block_of(module, 0);
        let children: Vec<MlirOperation> = body.into_iter().flat_map(ops).collect();
        let belongs = |op: &MlirOperation| {
            matches!(name(*op), "cuda_tile.entry" | "cuda_tile.global") || Exporter::is_library_function(*op)
        };
        self.culprits = children.iter().copied().filter(|op| !belongs(op)).collect();
        if !self.culprits.is_empty() {
            let foreign = self.culprits.iter().map(|op| name(*op).to_owned()).collect();
            return Err(ExportError::ForeignOperations(foreign));
        }
        let (globals, entries): (Vec<_>, Vec<_>) = children.into_iter().partition(|op| name(*op) == "cuda_tile.global");
        for entry in &entries {
            if let Some(b) = block_of(*entry, 0) {
                self.check_block(b, false, 0)?;
            }
        }

        let mut wire = tile_bytecode::Module::new(version);
        let signatures = entries.iter().map(|e| self.signature(*e)).collect::<Result<Vec<_>>>()?;
        for g in &globals {
            wire.globals.push(self.global(*g)?);
        }
        for (entry, signature) in entries.into_iter().zip(signatures) {
            let function = if Exporter::is_library_function(entry) {
                let (function, record) = self.library_function(entry, signature)?;
                wire.library.push((wire.functions.len() as u32, record));
                function
            } else {
                self.function(entry, signature)?
            };
            wire.functions.push(function);
        }
        wire.producer = attribute(module, "producer").and_then(string).map(|s| self.pools.string(s));
        std::mem::take(&mut self.pools).finish(&mut wire);
        Ok(wire)
    }

    /// Checks that all operations belong to `cuda_tile`, and that the ones inside a reduction or scan are pure.
    fn check_block(&mut self, block: MlirBlock, pure_only: bool, depth: u32) -> Result<()> {
        if depth >= MAX_DEPTH {
            return Err(ExportError::Depth);
        }
        for op in ops(block) {
            let name = name(op);
            let Some(short) = name.strip_prefix("cuda_tile.") else {
                self.culprits.push(op);
                return Err(ExportError::ForeignDialect { operation: name.to_owned() });
            };
            // SAFETY: the operation is alive.
            if pure_only && short != "yield" && !unsafe { ffi::cudaTileOperationIsPure(op) } {
                self.culprits.push(op);
                return Err(ExportError::Impure { operation: name.to_owned() });
            }
            // SAFETY: the operation is alive.
            for region in 0..unsafe { mlirOperationGetNumRegions(op) } {
                if let Some(b) = block_of(op, region as usize) {
                    self.check_block(b, matches!(short, "reduce" | "scan"), depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn missing<T>(&self, op: MlirOperation, attribute: &str) -> Result<T> {
        Err(ExportError::Attribute { operation: name(op).to_owned(), attribute: attribute.to_owned() })
    }

    fn signature(&mut self, entry: MlirOperation) -> Result<TypeId> {
        self.at = entry;
        // SAFETY: the attribute is alive and a type attribute.
        let ty = attribute(entry, "function_type").filter(|a| unsafe { mlirAttributeIsAType(*a) });
        match ty {
            // SAFETY: as above.
            Some(a) => self.ty(unsafe { mlirTypeAttrGetValue(a) }),
            None => self.missing(entry, "function_type"),
        }
    }

    fn global(&mut self, op: MlirOperation) -> Result<Global> {
        self.at = op;
        let Some(name) = attribute(op, "sym_name").and_then(string) else { return self.missing(op, "sym_name") };
        let name = self.pools.string(name);
        let Some(attr) = attribute(op, "value") else { return self.missing(op, "value") };
        let Some(value) = self.elements(attr) else { return self.missing(op, "value") };
        // SAFETY: the attribute is alive and holds the elements of a tile.
        let mut t = unsafe { mlirAttributeGetType(attr) };
        if let Some(element) = attribute(op, "element_type") {
            let shape = ints(|d| unsafe { ffi::tileir_cuda_tile_TileType_shape(t, d) });
            // SAFETY: `t` is a tile type, and by its constraint the attribute is a type attribute.
            t = unsafe {
                let l = mlirLocationUnknownGet(mlirTypeGetContext(t));
                let element = mlirTypeAttrGetValue(element);
                ffi::tileir_cuda_tile_get_TileType(l, shape.len() as isize, shape.as_ptr(), element)
            };
        }
        let ty = self.ty(t)?;
        // SAFETY: the attribute is alive and, by its constraint, an integer.
        let alignment = attribute(op, "alignment").map_or(0, |a| unsafe { mlirIntegerAttrGetValueInt(a) }) as u64;
        let visibility = attribute(op, "symbol_visibility").and_then(|a| enum_value(&schema::VISIBILITY, a));
        Ok(Global {
            name,
            ty,
            value,
            alignment,
            private: visibility == Some(1),
            constant: attribute(op, "constant").is_some(),
            offset: 0,
        })
    }

    fn function(&mut self, op: MlirOperation, signature: TypeId) -> Result<Function> {
        self.at = op;
        let Some(symbol) = attribute(op, "sym_name").and_then(string) else { return self.missing(op, "sym_name") };
        let symbol = self.pools.string(symbol);
        // SAFETY: the operation is alive.
        let own = self.location(unsafe { mlirOperationGetLocation(op) })?;
        let hints = match attribute(op, "optimization_hints") {
            Some(a) => match self.attr(a) {
                Some(Attr::Hints(d)) if d.is_empty() => None,
                Some(h @ Attr::Hints(_)) => Some(self.pools.attrs.intern(h)),
                _ => return self.missing(op, "optimization_hints"),
            },
            None => None,
        };
        let arg_attrs = match attribute(op, "arg_attrs") {
            Some(a) => match self.attr(a) {
                Some(Attr::Array(a)) if a.is_empty() => None,
                Some(a @ Attr::Array(_)) => Some(self.pools.attrs.intern(a)),
                _ => return self.missing(op, "arg_attrs"),
            },
            None => None,
        };
        let Some(block) = block_of(op, 0) else {
            return Err(ExportError::Operation { operation: name(op).to_owned(), what: "it has no body" });
        };
        // SAFETY: the block is alive.
        let n = unsafe { mlirBlockGetNumArguments(block) };
        let mut builder = BodyBuilder::new(n as u32);
        self.values.clear();
        for i in 0..n {
            // SAFETY: the block has this argument.
            self.values.insert(unsafe { mlirBlockGetArgument(block, i) }.ptr as usize, ValueId(i as u32));
        }
        for inner in ops(block) {
            self.op(inner, &mut builder, 0)?;
        }
        // Operations only have locations if their function has one.
        let body = builder.finish(own.is_some());
        Ok(Function {
            name: symbol,
            signature,
            private: false,
            hints,
            arg_attrs,
            location: own.map(Some),
            body,
            offset: 0,
        })
    }

    fn op(&mut self, op: MlirOperation, builder: &mut BodyBuilder, depth: u32) -> Result<()> {
        self.at = op;
        let full = name(op);
        let refuse = |what| ExportError::Operation { operation: full.to_owned(), what };
        if depth >= MAX_DEPTH {
            return Err(ExportError::Depth);
        }
        let Some(spec) = full.strip_prefix("cuda_tile.").and_then(schema::by_name) else {
            return Err(refuse("it has no opcode"));
        };
        // SAFETY: the operation is alive.
        let (location, n_operands, n_results) =
            unsafe { (mlirOperationGetLocation(op), mlirOperationGetNumOperands(op), mlirOperationGetNumResults(op)) };
        let location = self.location(location)?;
        let mut result_types = Vec::with_capacity(n_results as usize);
        for i in 0..n_results {
            // SAFETY: the operation has this result.
            result_types.push(self.ty(unsafe { mlirValueGetType(mlirOperationGetResult(op, i)) })?);
        }
        let mut attrs = Vec::with_capacity(spec.attrs.len());
        for field in spec.attrs {
            let value = match attribute(op, field.name) {
                None => None,
                Some(a) => match self.value(field.kind, a)? {
                    Some(v) => Some(v),
                    None => return self.missing(op, field.name),
                },
            };
            if value.is_none() && !field.optional && field.default.is_none() {
                return self.missing(op, field.name);
            }
            attrs.push(value);
        }
        let mut operands = Vec::with_capacity(n_operands as usize);
        for i in 0..n_operands {
            // SAFETY: the operation has this operand.
            let value = unsafe { mlirOperationGetOperand(op, i) }.ptr as usize;
            operands.push(*self.values.get(&value).ok_or_else(|| refuse("an operand is not defined in the function"))?);
        }
        let groups = groups(op, spec, &operands).ok_or_else(|| refuse("its operand groups are malformed"))?;
        let id =
            builder.begin(&OpInit { spec, result_types: &result_types, attrs: &attrs, operands: &groups, location })?;
        for region in 0..spec.regions {
            let Some(block) = block_of(op, region) else { continue };
            // SAFETY: the block is alive.
            let n = unsafe { mlirBlockGetNumArguments(block) };
            let mut types = Vec::with_capacity(n as usize);
            for i in 0..n {
                // SAFETY: the block has this argument.
                types.push(self.ty(unsafe { mlirValueGetType(mlirBlockGetArgument(block, i)) })?);
            }
            let (index, args) = builder.begin_block(id, region, &types);
            for (i, v) in args.into_iter().enumerate() {
                // SAFETY: the block has this argument.
                self.values.insert(unsafe { mlirBlockGetArgument(block, i as isize) }.ptr as usize, v);
            }
            for inner in ops(block) {
                self.op(inner, builder, depth + 1)?;
            }
            builder.end_block(index);
        }
        for (i, v) in builder.end(id).into_iter().enumerate() {
            // SAFETY: the operation has this result.
            self.values.insert(unsafe { mlirOperationGetResult(op, i as isize) }.ptr as usize, v);
        }
        Ok(())
    }

    /// Value of an operation's attribute; `None` if it is of another kind.
    fn value(&mut self, kind: AttrKind, a: MlirAttribute) -> Result<Option<AttrValue>> {
        // SAFETY: the attribute is alive, and each accessor is called on its own class only.
        Ok(unsafe {
            match kind {
                AttrKind::Enum(e) => enum_value(e, a).map(AttrValue::Enum),
                AttrKind::I32 | AttrKind::I64 if mlirAttributeIsAInteger(a) => {
                    u64::try_from(mlirIntegerAttrGetValueInt(a)).ok().map(AttrValue::Int)
                }
                AttrKind::Bool if mlirAttributeIsABool(a) => Some(AttrValue::Bool(mlirBoolAttrGetValue(a))),
                AttrKind::Unit if mlirAttributeIsAUnit(a) => Some(AttrValue::Unit),
                AttrKind::Str => string(a).map(|s| AttrValue::Str(self.pools.string(s))),
                AttrKind::Sym if mlirAttributeIsAFlatSymbolRef(a) => {
                    Some(AttrValue::Sym(self.pools.string(bytes(mlirFlatSymbolRefAttrGetValue(a)))))
                }
                AttrKind::Type if mlirAttributeIsAType(a) => Some(AttrValue::Type(self.ty(mlirTypeAttrGetValue(a))?)),
                AttrKind::Dense => self.elements(a).map(AttrValue::Dense),
                AttrKind::I32s if mlirAttributeIsADenseI32Array(a) => {
                    let n = mlirDenseArrayGetNumElements(a);
                    let v = (0..n).map(|i| mlirDenseI32ArrayGetElement(a, i)).collect();
                    Some(AttrValue::Attr(self.pools.attrs.intern(Attr::I32s(v))))
                }
                AttrKind::Bools if mlirAttributeIsADenseBoolArray(a) => {
                    let n = mlirDenseArrayGetNumElements(a);
                    let values: Vec<bool> = (0..n).map(|i| mlirDenseBoolArrayGetElement(a, i)).collect();
                    BoolList::new(&values).map(AttrValue::Bools)
                }
                AttrKind::Array | AttrKind::Hints | AttrKind::Tagged => {
                    self.attr(a).map(|a| AttrValue::Attr(self.pools.attrs.intern(a)))
                }
                _ => None,
            }
        })
    }

    /// Tile type and raw elements of a dense attribute.
    fn dense(&mut self, a: MlirAttribute) -> Result<Option<(TypeId, ConstantId)>> {
        // SAFETY: the attribute is alive; its raw data is as long as its type and form require.
        unsafe {
            if !mlirAttributeIsADenseElements(a) {
                return Ok(None);
            }
            let ty = self.ty(mlirAttributeGetType(a))?;
            Ok(self.elements(a).map(|constant| (ty, constant)))
        }
    }

    /// Raw elements of a dense attribute with a tile type.
    fn elements(&mut self, a: MlirAttribute) -> Option<ConstantId> {
        // SAFETY: the attribute is alive; its raw data is as long as its type and form require.
        unsafe {
            if !mlirAttributeIsADenseElements(a) || !ffi::tileir_cuda_tile_isa_TileType(mlirAttributeGetType(a)) {
                return None;
            }
            let s = scalar_of(ffi::tileir_cuda_tile_TileType_element_type(mlirAttributeGetType(a)))?;
            let elements = if mlirDenseElementsAttrIsSplat(a) { 1 } else { mlirElementsAttrGetNumElements(a) as u64 };
            let raw = mlirDenseElementsAttrGetRawData(a);
            let raw = std::slice::from_raw_parts(raw.cast::<u8>(), s.constant_bytes(elements) as usize);
            Some(self.pools.constant(raw))
        }
    }

    /// A self-contained attribute; `None` if bytecode cannot express it.
    fn attr(&mut self, a: MlirAttribute) -> Option<Attr> {
        // SAFETY: the attribute is alive, and each accessor is called on its own class only.
        unsafe {
            if mlirAttributeIsAInteger(a) {
                let ty = mlirAttributeGetType(a);
                let s = scalar_of(ty)?;
                let mask = if s.bits() == 64 { u64::MAX } else { (1 << s.bits()) - 1 };
                return Some(Attr::Integer {
                    ty: self.ty(ty).ok()?,
                    value: mlirIntegerAttrGetValueInt(a) as u64 & mask,
                });
            }
            if mlirAttributeIsAFloat(a) {
                let ty = mlirAttributeGetType(a);
                let bits = self.float_bits(a, ty, scalar_of(ty)?);
                return Some(Attr::Float { ty: self.ty(ty).ok()?, bits });
            }
            if mlirAttributeIsAType(a) {
                return Some(Attr::Type(self.ty(mlirTypeAttrGetValue(a)).ok()?));
            }
            if mlirAttributeIsAString(a) {
                return Some(Attr::String(self.pools.string(bytes(mlirStringAttrGetValue(a)))));
            }
            if mlirAttributeIsAArray(a) {
                let n = mlirArrayAttrGetNumElements(a);
                return (0..n)
                    .map(|i| self.attr(mlirArrayAttrGetElement(a, i)))
                    .collect::<Option<_>>()
                    .map(Attr::Array);
            }
            if mlirAttributeIsADenseElements(a) {
                let (ty, constant) = self.dense(a).ok()??;
                return Some(Attr::Dense(Box::new(Dense { ty, shape: None, constant })));
            }
            if mlirAttributeIsADictionary(a) {
                return self.dictionary(a).map(Attr::Dictionary);
            }
            if ffi::tileir_cuda_tile_isa_OptimizationHintsAttr(a) {
                return self.dictionary(ffi::tileir_cuda_tile_OptimizationHintsAttr_value(a)).map(Attr::Hints);
            }
            if ffi::tileir_cuda_tile_isa_DivByAttr(a) {
                return Some(Attr::DivBy(Box::new(DivBy {
                    divisor: ffi::tileir_cuda_tile_DivByAttr_divisor(a) as u64,
                    every: optional(|v| ffi::tileir_cuda_tile_DivByAttr_every(a, v)),
                    along: optional(|v| ffi::tileir_cuda_tile_DivByAttr_along(a, v)),
                })));
            }
            if ffi::tileir_cuda_tile_isa_SameElementsAttr(a) {
                return Some(Attr::SameElements(ints(|d| ffi::tileir_cuda_tile_SameElementsAttr_values(a, d)).into()));
            }
            if ffi::tileir_cuda_tile_isa_BoundedAttr(a) {
                return Some(Attr::Bounded(Box::new(Bounded {
                    lower: optional(|v| ffi::tileir_cuda_tile_BoundedAttr_lb(a, v)),
                    upper: optional(|v| ffi::tileir_cuda_tile_BoundedAttr_ub(a, v)),
                })));
            }
        }
        self.preview(a).map(|preview| Attr::Preview(Box::new(preview)))
    }

    fn dictionary(&mut self, a: MlirAttribute) -> Option<Box<[(tile_bytecode::StringId, Attr)]>> {
        // SAFETY: the attribute is alive and a dictionary.
        unsafe {
            (0..mlirDictionaryAttrGetNumElements(a))
                .map(|i| {
                    let entry = mlirDictionaryAttrGetElement(a, i);
                    let key = self.pools.string(bytes(mlirIdentifierStr(entry.name)));
                    Some((key, self.attr(entry.attribute)?))
                })
                .collect()
        }
    }

    /// The exact bits of a float attribute, read from a dense attribute with one element.
    fn float_bits(&self, a: MlirAttribute, ty: MlirType, s: Scalar) -> u64 {
        let shape = [1i64];
        // SAFETY: the attribute and its type are alive; the raw data of one element has its storage size.
        let raw = unsafe {
            let tensor = mlirRankedTensorTypeGet(1, shape.as_ptr(), ty, MlirAttribute { ptr: std::ptr::null() });
            let dense = mlirDenseElementsAttrSplatGet(tensor, a);
            std::slice::from_raw_parts(mlirDenseElementsAttrGetRawData(dense).cast::<u8>(), s.splat_bytes() as usize)
        };
        raw.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
    }

    /// Index of a type; its components get lower indices.
    fn ty(&mut self, t: MlirType) -> Result<TypeId> {
        if let Some(&id) = self.types.get(&(t.ptr as usize)) {
            return Ok(id);
        }
        // SAFETY: the type is alive, and each accessor is called on its own class only.
        let ty = unsafe {
            if let Some(s) = scalar_of(t) {
                Type::Scalar(s)
            } else if ffi::tileir_cuda_tile_isa_TokenType(t) {
                Type::Token
            } else if ffi::tileir_cuda_tile_isa_PointerType(t) {
                Type::Pointer {
                    pointee: self.ty(ffi::tileir_cuda_tile_PointerType_pointee_type(t))?,
                    attr: optional(|v| ffi::tileir_cuda_tile_PointerType_ptr_attr(t, v)).map(|k| k as u32),
                }
            } else if ffi::tileir_cuda_tile_isa_TileType(t) {
                let element = self.ty(ffi::tileir_cuda_tile_TileType_element_type(t))?;
                Type::Tile { element, shape: ints(|d| ffi::tileir_cuda_tile_TileType_shape(t, d)).into() }
            } else if ffi::tileir_cuda_tile_isa_TensorViewType(t) {
                Type::TensorView {
                    element: self.ty(ffi::tileir_cuda_tile_TensorViewType_element_type(t))?,
                    shape: ints(|d| ffi::tileir_cuda_tile_TensorViewType_shape(t, d)).into(),
                    strides: ints(|d| ffi::tileir_cuda_tile_TensorViewType_strides(t, d)).into(),
                    attr: optional(|v| ffi::tileir_cuda_tile_TensorViewType_ptr_attr(t, v)).map(|k| k as u32),
                }
            } else if ffi::tileir_cuda_tile_isa_PartitionViewType(t) {
                Type::PartitionView(Box::new(PartitionView {
                    tile: ints(|d| ffi::tileir_cuda_tile_PartitionViewType_tile_shape(t, d)).into(),
                    view: self.ty(ffi::tileir_cuda_tile_PartitionViewType_tensor_view(t))?,
                    dim_map: ints(|d| ffi::tileir_cuda_tile_PartitionViewType_dim_map(t, d)).into(),
                    padding: optional(|v| ffi::tileir_cuda_tile_PartitionViewType_padding_value(t, v))
                        .map(|p| p as u32),
                }))
            } else if ffi::tileir_cuda_tile_isa_GatherScatterViewType(t) {
                Type::GatherScatterView(Box::new(GatherScatterView {
                    tile: ints(|d| ffi::tileir_cuda_tile_GatherScatterViewType_tile_shape(t, d)).into(),
                    view: self.ty(ffi::tileir_cuda_tile_GatherScatterViewType_tensor_view(t))?,
                    sparse_dim: ffi::tileir_cuda_tile_GatherScatterViewType_sparse_dim(t) as u32,
                    padding: optional(|v| ffi::tileir_cuda_tile_GatherScatterViewType_padding_value(t, v))
                        .map(|p| p as u32),
                }))
            } else if ffi::tileir_cuda_tile_isa_StridedViewType(t) {
                Type::StridedView(Box::new(StridedView {
                    tile: ints(|d| ffi::tileir_cuda_tile_StridedViewType_tile_shape(t, d)).into(),
                    traversal_strides: ints(|d| ffi::tileir_cuda_tile_StridedViewType_traversal_strides(t, d)).into(),
                    view: self.ty(ffi::tileir_cuda_tile_StridedViewType_tensor_view(t))?,
                    dim_map: ints(|d| ffi::tileir_cuda_tile_StridedViewType_dim_map(t, d)).into(),
                    padding: optional(|v| ffi::tileir_cuda_tile_StridedViewType_padding_value(t, v)).map(|p| p as u32),
                }))
            } else if mlirTypeIsAFunction(t) {
                let inputs = (0..mlirFunctionTypeGetNumInputs(t)).map(|i| self.ty(mlirFunctionTypeGetInput(t, i)));
                let inputs = inputs.collect::<Result<_>>()?;
                let results = (0..mlirFunctionTypeGetNumResults(t)).map(|i| self.ty(mlirFunctionTypeGetResult(t, i)));
                Type::Function { inputs, results: results.collect::<Result<_>>()? }
            } else {
                match self.preview_type(t)? {
                    Some(ty) => ty,
                    None => return Err(ExportError::Type { ty: print(t) }),
                }
            }
        };
        let id = self.pools.ty(ty);
        self.types.insert(t.ptr as usize, id);
        Ok(id)
    }

    /// Debug attribute of a location; `None` for a location without a scope.
    fn location(&mut self, l: MlirLocation) -> Result<Option<DebugId>> {
        // SAFETY: the location is alive; each accessor is called on its own class only.
        unsafe {
            let a = mlirLocationGetAttribute(l);
            if let Some(&known) = self.debug.get(&(a.ptr as usize)) {
                return Ok(known);
            }
            let id = if ffi::tileir_cuda_tile_isa_DILocAttr(a) {
                let scope = self.scope(ffi::tileir_cuda_tile_DILocAttr_scope(a));
                let source = mlirLocationFromAttribute(ffi::tileir_cuda_tile_DILocAttr_source_loc(a));
                let file = self.pools.string(bytes(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(source))));
                let line = mlirLocationFileLineColRangeGetStartLine(source).max(0) as u64;
                let column = mlirLocationFileLineColRangeGetStartColumn(source).max(0) as u64;
                Some(self.pools.debug(DebugAttr::Loc { scope, file, line, column }))
            } else if mlirLocationIsACallSite(l) {
                let callee = self.location(mlirLocationCallSiteGetCallee(l))?;
                let caller = self.location(mlirLocationCallSiteGetCaller(l))?;
                Some(self.pools.debug(DebugAttr::CallSite { callee, caller }))
            } else if mlirLocationIsAFused(l) {
                return Err(ExportError::Location("FusedLoc"));
            } else if mlirLocationIsAName(l) {
                return Err(ExportError::Location("NameLoc"));
            } else if mlirLocationIsAFileLineColRange(l)
                || a.ptr == mlirLocationGetAttribute(mlirLocationUnknownGet(self.context)).ptr
            {
                None
            } else {
                return Err(ExportError::Location("OpaqueLoc"));
            };
            self.debug.insert(a.ptr as usize, id);
            Ok(id)
        }
    }

    /// A scope or another component of debug information, after its own components.
    fn scope(&mut self, a: MlirAttribute) -> Option<DebugId> {
        if a.ptr.is_null() {
            return None;
        }
        if let Some(&known) = self.debug.get(&(a.ptr as usize)) {
            return known;
        }
        let text = |e: &mut Self, s: MlirAttribute| e.pools.string(string(s).unwrap_or_default());
        // SAFETY: the attribute is alive, and each accessor is called on its own class only.
        let attr = unsafe {
            if ffi::tileir_cuda_tile_isa_DIFileAttr(a) {
                let name = text(self, ffi::tileir_cuda_tile_DIFileAttr_name(a));
                DebugAttr::File { name, directory: text(self, ffi::tileir_cuda_tile_DIFileAttr_directory(a)) }
            } else if ffi::tileir_cuda_tile_isa_DICompileUnitAttr(a) {
                let producer = string(ffi::tileir_cuda_tile_DICompileUnitAttr_producer(a)).filter(|p| !p.is_empty());
                DebugAttr::CompileUnit {
                    file: self.scope(ffi::tileir_cuda_tile_DICompileUnitAttr_file(a)),
                    producer: producer.map(|p| self.pools.string(p)),
                    flags: ffi::tileir_cuda_tile_DICompileUnitAttr_flags(a) as u64,
                }
            } else if ffi::tileir_cuda_tile_isa_DISubprogramAttr(a) {
                let file = self.scope(ffi::tileir_cuda_tile_DISubprogramAttr_file(a));
                let name = text(self, ffi::tileir_cuda_tile_DISubprogramAttr_name(a));
                let linkage = text(self, ffi::tileir_cuda_tile_DISubprogramAttr_linkage_name(a));
                DebugAttr::Subprogram(Box::new(Subprogram {
                    file,
                    line: ffi::tileir_cuda_tile_DISubprogramAttr_line(a) as u64,
                    name,
                    linkage,
                    unit: self.scope(ffi::tileir_cuda_tile_DISubprogramAttr_compile_unit(a)),
                    scope_line: ffi::tileir_cuda_tile_DISubprogramAttr_scope_line(a) as u64,
                    flags: ffi::tileir_cuda_tile_DISubprogramAttr_flags(a) as u64,
                    purpose: ffi::tileir_cuda_tile_DISubprogramAttr_purpose(a) as u64,
                    sp_flags: Some(ffi::tileir_cuda_tile_DISubprogramAttr_sp_flags(a) as u64).filter(|f| *f != 0),
                }))
            } else if ffi::tileir_cuda_tile_isa_DILexicalBlockAttr(a) {
                DebugAttr::LexicalBlock {
                    scope: self.scope(ffi::tileir_cuda_tile_DILexicalBlockAttr_scope(a)),
                    file: self.scope(ffi::tileir_cuda_tile_DILexicalBlockAttr_file(a)),
                    line: ffi::tileir_cuda_tile_DILexicalBlockAttr_line(a) as u64,
                    column: ffi::tileir_cuda_tile_DILexicalBlockAttr_column(a) as u64,
                }
            } else {
                return None;
            }
        };
        let id = Some(self.pools.debug(attr));
        self.debug.insert(a.ptr as usize, id);
        id
    }
}

/// The operands of each group of the schema.
fn groups<'v>(op: MlirOperation, spec: &OpSpec, operands: &'v [ValueId]) -> Option<Vec<&'v [ValueId]>> {
    let mut rest = operands;
    let mut groups = Vec::with_capacity(spec.operands.len());
    for (i, field) in spec.operands.iter().enumerate() {
        let n = if spec.segmented {
            let sizes = attribute(op, "operandSegmentSizes")?;
            // SAFETY: the attribute is alive, a 32-bit array, and the index is in range.
            unsafe {
                if !mlirAttributeIsADenseI32Array(sizes)
                    || mlirDenseArrayGetNumElements(sizes) != spec.operands.len() as isize
                {
                    return None;
                }
                usize::try_from(mlirDenseI32ArrayGetElement(sizes, i as isize)).ok()?
            }
        } else if field.arity == Arity::One {
            1
        } else {
            operands.len().checked_sub(spec.fixed_operands())?
        };
        let (group, tail) = rest.split_at_checked(n)?;
        groups.push(group);
        rest = tail;
    }
    rest.is_empty().then_some(groups)
}
