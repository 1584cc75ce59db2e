//! Translates the types, attributes and operations of preview features.

use super::{ExportError, Exporter, Result, attribute, name, string};
use crate::dialect::ffi;
use crate::translate::raw::{bytes, ints};
use melior::ir::operation::OperationRef;
use mlir_sys::*;
use tile_bytecode::{
    Attr, Binary, Body, Fragment, Function, Implementation, LayoutMap, LibraryFunction, Preview, Scratch, StringId,
    Type, TypeId, schema,
};

/// The operations of library functions.
pub(super) const FUNCTIONS: [&str; 2] = ["cuda_tile.preview$func", "cuda_tile.preview$extern_impl"];

/// Describes a call of a library function without its tokens.
///
/// # Errors
///
/// Fails if a type or a constant has no counterpart in bytecode.
pub fn library_call(op: OperationRef) -> Result<tile_library::Call> {
    let raw = op.to_raw();
    let mut exporter = Exporter::new(raw);
    // SAFETY: the operation is alive; references are read from its own attribute.
    let callee = attribute(raw, "callee").map(|a| unsafe { bytes(mlirFlatSymbolRefAttrGetValue(a)) });
    let callee = String::from_utf8_lossy(callee.unwrap_or_default()).into_owned();
    let mut constants = vec![];
    for constant in exporter.list(raw, "const_args")?.unwrap_or_default() {
        match constant {
            Attr::Preview(e) => constants.push(*e),
            _ => return exporter.missing(raw, "const_args"),
        }
    }
    let mut types = |values: Vec<MlirValue>| -> Result<Vec<TypeId>> {
        // SAFETY: the values are alive.
        values.into_iter().map(|v| exporter.ty(unsafe { mlirValueGetType(v) })).collect()
    };
    // SAFETY: the operation is alive and has these operands and results.
    let (operands, results) = unsafe {
        (
            types((0..mlirOperationGetNumOperands(raw)).map(|i| mlirOperationGetOperand(raw, i)).collect())?,
            types((0..mlirOperationGetNumResults(raw)).map(|i| mlirOperationGetResult(raw, i)).collect())?,
        )
    };
    let mut module = tile_bytecode::Module::new(schema::V13_5);
    std::mem::take(&mut exporter.pools).finish(&mut module);
    let tile = |t: &TypeId| match module.ty(*t) {
        Type::Token => None,
        Type::Tile { element, shape } => {
            let element = tile_library::element(&module, *element).unwrap_or_default();
            Some(tile_library::Tile { shape: shape.to_vec(), element })
        }
        // No parameter has such a type.
        _ => Some(tile_library::Tile { shape: vec![], element: String::new() }),
    };
    Ok(tile_library::Call {
        callee,
        constants: constants.iter().map(|e| tile_library::constant(&module, e)).collect(),
        operands: operands.iter().filter_map(tile).collect(),
        results: results.iter().filter_map(tile).collect(),
    })
}

/// Entries of a dictionary.
type Entries = Box<[(StringId, Attr)]>;

impl Exporter {
    /// A type of a preview feature; `None` for others.
    pub(super) fn preview_type(&mut self, t: MlirType) -> Result<Option<Type>> {
        let refuse = || ExportError::Type { ty: super::print(t) };
        // SAFETY: the type is alive, and each accessor is called on its own class only.
        unsafe {
            Ok(Some(if ffi::tileir_cuda_tile_isa_SymbolicType(t) {
                Type::Symbolic(self.preview(ffi::tileir_cuda_tile_SymbolicType_variable(t)).ok_or_else(refuse)?)
            } else if ffi::tileir_cuda_tile_isa_FragmentType(t) {
                Type::Fragment(Box::new(self.fragment(t)?.ok_or_else(refuse)?))
            } else if ffi::tileir_cuda_tile_isa_DatatypeType(t) {
                Type::Datatype
            } else if ffi::tileir_cuda_tile_isa_ShapeType(t) {
                Type::Shape
            } else if ffi::tileir_cuda_tile_isa_StringType(t) {
                Type::Text
            } else if mlirTypeIsAIndex(t) {
                Type::Index
            } else if mlirTypeIsANone(t) {
                Type::None
            } else {
                return Ok(None);
            }))
        }
    }

    fn fragment(&mut self, t: MlirType) -> Result<Option<Fragment>> {
        // SAFETY: the type is alive and a fragment.
        let (element, shape, sizes, space, layout, map, alignment) = unsafe {
            (
                ffi::tileir_cuda_tile_FragmentType_element_type(t),
                ffi::tileir_cuda_tile_FragmentType_shape(t),
                ints(|d| ffi::tileir_cuda_tile_FragmentType_sizes(t, d)),
                ffi::tileir_cuda_tile_FragmentType_space(t),
                ffi::tileir_cuda_tile_FragmentType_mem_layout(t),
                ffi::tileir_cuda_tile_FragmentType_fragmap(t),
                ffi::tileir_cuda_tile_FragmentType_alignment(t),
            )
        };
        let element = self.ty(element)?;
        let parts = (self.tuple(shape), self.layout(layout), self.layout(map), self.preview(alignment));
        let (Some(shape), Some(layout), Some(map), Some(alignment)) = parts else { return Ok(None) };
        Ok(Some(Fragment { shape, sizes: sizes.into(), element, space: space as u32, layout, map, alignment }))
    }

    /// A preview attribute; `None` for others.
    pub(super) fn preview(&mut self, a: MlirAttribute) -> Option<Preview> {
        macro_rules! binary {
            ($($kind:ident: $isa:ident, $lhs:ident, $rhs:ident;)*) => {$(
                // SAFETY: the attribute is alive and of this class.
                if unsafe { ffi::$isa(a) } {
                    // SAFETY: as above.
                    let (lhs, rhs) = unsafe { (ffi::$lhs(a), ffi::$rhs(a)) };
                    return Some(Preview::Binary(Binary::$kind, Box::new([self.preview(lhs)?, self.preview(rhs)?])));
                }
            )*};
        }
        binary! {
            Mul: tileir_cuda_tile_isa_ExprMulAttr, tileir_cuda_tile_ExprMulAttr_lhs, tileir_cuda_tile_ExprMulAttr_rhs;
            Div: tileir_cuda_tile_isa_ExprDivAttr, tileir_cuda_tile_ExprDivAttr_lhs, tileir_cuda_tile_ExprDivAttr_rhs;
            Add: tileir_cuda_tile_isa_ExprAddAttr, tileir_cuda_tile_ExprAddAttr_lhs, tileir_cuda_tile_ExprAddAttr_rhs;
            Sub: tileir_cuda_tile_isa_ExprSubAttr, tileir_cuda_tile_ExprSubAttr_lhs, tileir_cuda_tile_ExprSubAttr_rhs;
            FloorDiv: tileir_cuda_tile_isa_ExprFloorDivAttr, tileir_cuda_tile_ExprFloorDivAttr_lhs,
                tileir_cuda_tile_ExprFloorDivAttr_rhs;
            CeilDiv: tileir_cuda_tile_isa_ExprCeilDivAttr, tileir_cuda_tile_ExprCeilDivAttr_lhs,
                tileir_cuda_tile_ExprCeilDivAttr_rhs;
        }
        // SAFETY: the attribute is alive, and each accessor is called on its own class only.
        unsafe {
            Some(if ffi::tileir_cuda_tile_isa_ExprIntAttr(a) {
                Preview::Int(ffi::tileir_cuda_tile_ExprIntAttr_value(a))
            } else if ffi::tileir_cuda_tile_isa_ExprVarAttr(a) {
                Preview::Variable(self.text(ffi::tileir_cuda_tile_ExprVarAttr_name(a))?)
            } else if ffi::tileir_cuda_tile_isa_ExprNegAttr(a) {
                Preview::Negation(Box::new(self.preview(ffi::tileir_cuda_tile_ExprNegAttr_operand(a))?))
            } else if ffi::tileir_cuda_tile_isa_ExprTupleAttr(a) {
                Preview::Tuple(self.tuple(a)?)
            } else if ffi::tileir_cuda_tile_isa_ExprTypeAttr(a) {
                Preview::Type(self.ty(ffi::tileir_cuda_tile_ExprTypeAttr_type(a)).ok()?)
            } else if ffi::tileir_cuda_tile_isa_ExprStringAttr(a) {
                Preview::Text(self.text(ffi::tileir_cuda_tile_ExprStringAttr_value(a))?)
            } else if ffi::tileir_cuda_tile_isa_ExprBuiltinAttr(a) {
                let name = self.text(ffi::tileir_cuda_tile_ExprBuiltinAttr_name(a))?;
                Preview::Builtin { name, ty: self.ty(ffi::tileir_cuda_tile_ExprBuiltinAttr_type(a)).ok()? }
            } else if ffi::tileir_cuda_tile_isa_LayoutAttr(a) {
                Preview::Layout(Box::new(self.layout(a)?))
            } else if ffi::tileir_cuda_tile_isa_PreviewSpaceAttr(a) {
                Preview::Space(ffi::tileir_cuda_tile_PreviewSpaceAttr_value(a) as u32)
            } else if ffi::tileir_cuda_tile_isa_PreviewSyncAttr(a) {
                Preview::Synchronization(ffi::tileir_cuda_tile_PreviewSyncAttr_value(a) as u32)
            } else if ffi::tileir_cuda_tile_isa_PreviewAccessAttr(a) {
                Preview::Access(ffi::tileir_cuda_tile_PreviewAccessAttr_value(a) as u32)
            } else if ffi::tileir_cuda_tile_isa_ScratchAttr(a) {
                Preview::Scratch(Box::new(self.scratch(a)?))
            } else if ffi::tileir_cuda_tile_isa_ConstParamAttr(a) {
                let name = self.text(ffi::tileir_cuda_tile_ConstParamAttr_name(a))?;
                Preview::Parameter { name, kind: self.ty(ffi::tileir_cuda_tile_ConstParamAttr_type(a)).ok()? }
            } else {
                return None;
            })
        }
    }

    fn text(&mut self, a: MlirAttribute) -> Option<StringId> {
        Some(self.pools.string(string(a)?))
    }

    fn tuple(&mut self, a: MlirAttribute) -> Option<Box<[Preview]>> {
        // SAFETY: the attribute is alive and a tuple, whose elements are an array.
        unsafe {
            let elements = ffi::tileir_cuda_tile_ExprTupleAttr_elements(a);
            let n = mlirArrayAttrGetNumElements(elements);
            (0..n).map(|i| self.preview(mlirArrayAttrGetElement(elements, i))).collect()
        }
    }

    fn layout(&mut self, a: MlirAttribute) -> Option<LayoutMap> {
        // SAFETY: the attribute is alive and a layout.
        let (shapes, strides) =
            unsafe { (ffi::tileir_cuda_tile_LayoutAttr_shapes(a), ffi::tileir_cuda_tile_LayoutAttr_strides(a)) };
        Some(LayoutMap { shapes: self.tuple(shapes)?, strides: self.tuple(strides)? })
    }

    fn scratch(&mut self, a: MlirAttribute) -> Option<Scratch> {
        // SAFETY: the attribute is alive and a request.
        let (size, alignment) =
            unsafe { (ffi::tileir_cuda_tile_ScratchAttr_size(a), ffi::tileir_cuda_tile_ScratchAttr_alignment(a)) };
        Some(Scratch { size: self.preview(size)?, alignment: self.preview(alignment)? })
    }

    /// Whether the operation describes a library function; such operations have no body.
    pub(super) fn is_library_function(op: MlirOperation) -> bool {
        FUNCTIONS.contains(&name(op))
    }

    pub(super) fn library_function(
        &mut self,
        op: MlirOperation,
        signature: TypeId,
    ) -> Result<(Function, LibraryFunction)> {
        self.at = op;
        let Some(symbol) = attribute(op, "sym_name").and_then(string) else { return self.missing(op, "sym_name") };
        let symbol = self.pools.string(symbol);
        // SAFETY: the operation is alive.
        let location = self.location(unsafe { mlirOperationGetLocation(op) })?;
        let private = attribute(op, "sym_visibility").and_then(string) == Some(b"private");
        let mut arg_attrs = None;
        let record = if name(op) == FUNCTIONS[0] {
            if let Some(list) = self.list(op, "arg_attrs")? {
                arg_attrs = (!list.is_empty()).then(|| self.pools.attrs.intern(Attr::Array(list)));
            }
            LibraryFunction::Extern(self.list(op, "const_params")?.unwrap_or_default())
        } else {
            LibraryFunction::Implementation(self.implementation(op, symbol, signature)?)
        };
        let function = Function {
            name: symbol,
            signature,
            private,
            hints: None,
            arg_attrs,
            location: location.map(Some),
            body: Body::default(),
            offset: 0,
        };
        Ok((function, record))
    }

    fn implementation(&mut self, op: MlirOperation, symbol: StringId, signature: TypeId) -> Result<Implementation> {
        // SAFETY: the attribute is alive and a flat reference, by its constraint.
        let implements = attribute(op, "implements").map(|a| unsafe { bytes(mlirFlatSymbolRefAttrGetValue(a)) });
        let Some(implements) = implements else { return self.missing(op, "implements") };
        let implements = self.pools.string(implements);
        let scratch = match attribute(op, "scratch_smem") {
            Some(a) => match self.scratch(a) {
                Some(scratch) => Some(scratch),
                None => return self.missing(op, "scratch_smem"),
            },
            None => None,
        };
        // SAFETY: the attributes are alive and, by their constraints, of these classes.
        let (synchronization, score) = unsafe {
            (
                attribute(op, "synchronization").map(|a| ffi::tileir_cuda_tile_PreviewSyncAttr_value(a) as u32),
                attribute(op, "provider_score").map(|a| mlirIntegerAttrGetValueInt(a) as u64),
            )
        };
        Ok(Implementation {
            symbol,
            implements,
            parameters: self.list(op, "const_params")?,
            arguments: self.list(op, "const_args")?,
            signature,
            arg_attrs: self.list(op, "arg_attrs")?,
            // The records of existing tools have an empty list.
            res_attrs: Some(self.list(op, "res_attrs")?.unwrap_or_default()),
            scratch,
            config: self.entries(op, "config")?,
            architectures: self.list(op, "arch")?,
            abi: self.entries(op, "frontendABI")?,
            synchronization,
            score,
        })
    }

    /// The elements of an array attribute, if the operation has it.
    fn list(&mut self, op: MlirOperation, field: &'static str) -> Result<Option<Box<[Attr]>>> {
        let Some(a) = attribute(op, field) else { return Ok(None) };
        match self.attr(a) {
            Some(Attr::Array(list)) => Ok(Some(list)),
            _ => self.missing(op, field),
        }
    }

    /// The entries of a dictionary attribute, if the operation has it.
    fn entries(&mut self, op: MlirOperation, field: &'static str) -> Result<Option<Entries>> {
        let Some(a) = attribute(op, field) else { return Ok(None) };
        match self.attr(a) {
            Some(Attr::Dictionary(entries)) => Ok(Some(entries)),
            _ => self.missing(op, field),
        }
    }
}
