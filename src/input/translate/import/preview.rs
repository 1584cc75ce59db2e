//! Builds the types, attributes and operations of preview features.

use super::{ImportError, Importer};
use crate::dialect::ffi;
use crate::translate::raw::str_ref;
use mlir_sys::*;
use tile_bytecode::{
    Attr, Binary, Fragment, Function, Implementation, LayoutMap, LibraryFunction, Preview, Scratch, StringId, Type,
    TypeId,
};

/// The types of the pool.
type Types<'t> = &'t dyn Fn(TypeId) -> MlirType;

impl Importer<'_> {
    /// A preview type whose components are built; null with a diagnostic if the dialect rejects it, or for other types.
    pub(super) fn preview_type(&self, ty: &Type, built: &[Option<MlirType>]) -> Result<MlirType, ImportError> {
        let l = self.unknown;
        let types = &|id: TypeId| built[id.index()].expect("components are built");
        // SAFETY: the context is alive.
        Ok(unsafe {
            match ty {
                Type::Symbolic(variable) => {
                    ffi::tileir_cuda_tile_get_SymbolicType(l, self.expression(variable, types)?)
                }
                Type::Fragment(fragment) => self.fragment(fragment, types)?,
                Type::Datatype => ffi::tileir_cuda_tile_get_DatatypeType(l),
                Type::Shape => ffi::tileir_cuda_tile_get_ShapeType(l),
                Type::Text => ffi::tileir_cuda_tile_get_StringType(l),
                Type::Index => mlirIndexTypeGet(self.context),
                Type::None => mlirNoneTypeGet(self.context),
                _ => MlirType { ptr: std::ptr::null() },
            }
        })
    }

    fn fragment(&self, f: &Fragment, types: Types) -> Result<MlirType, ImportError> {
        let null = Ok(MlirType { ptr: std::ptr::null() });
        let shape = self.tuple(&f.shape, types)?;
        let layout = self.layout(&f.layout, types)?;
        // The first error suffices.
        if layout.ptr.is_null() {
            return null;
        }
        let map = self.layout(&f.map, types)?;
        let alignment = self.expression(&f.alignment, types)?;
        let element = types(f.element);
        if [shape, map, alignment].iter().any(|a| a.ptr.is_null()) {
            return null;
        }
        // SAFETY: all components are alive and the sizes are copied.
        Ok(unsafe {
            ffi::tileir_cuda_tile_get_FragmentType(
                self.unknown,
                shape,
                f.sizes.len() as isize,
                f.sizes.as_ptr(),
                element,
                f.space.into(),
                layout,
                map,
                alignment,
            )
        })
    }

    /// A preview attribute, or null with a diagnostic. The reader has bounded the nesting.
    pub(super) fn preview(&self, a: &Preview) -> Result<MlirAttribute, ImportError> {
        self.expression(a, &|id| self.types[id.index()])
    }

    fn expression(&self, a: &Preview, types: Types) -> Result<MlirAttribute, ImportError> {
        let l = self.unknown;
        let null = MlirAttribute { ptr: std::ptr::null() };
        // SAFETY: the context and all components are alive.
        Ok(unsafe {
            match a {
                Preview::Int(v) => ffi::tileir_cuda_tile_get_ExprIntAttr(l, *v),
                Preview::Variable(s) => ffi::tileir_cuda_tile_get_ExprVarAttr(l, self.name(*s)?),
                Preview::Binary(kind, operands) => {
                    let [a, b] = [self.expression(&operands[0], types)?, self.expression(&operands[1], types)?];
                    if a.ptr.is_null() || b.ptr.is_null() {
                        return Ok(null);
                    }
                    match kind {
                        Binary::Mul => ffi::tileir_cuda_tile_get_ExprMulAttr(l, a, b),
                        Binary::Div => ffi::tileir_cuda_tile_get_ExprDivAttr(l, a, b),
                        Binary::Add => ffi::tileir_cuda_tile_get_ExprAddAttr(l, a, b),
                        Binary::Sub => ffi::tileir_cuda_tile_get_ExprSubAttr(l, a, b),
                        Binary::FloorDiv => ffi::tileir_cuda_tile_get_ExprFloorDivAttr(l, a, b),
                        Binary::CeilDiv => ffi::tileir_cuda_tile_get_ExprCeilDivAttr(l, a, b),
                    }
                }
                Preview::Negation(operand) => match self.expression(operand, types)? {
                    operand if operand.ptr.is_null() => null,
                    operand => ffi::tileir_cuda_tile_get_ExprNegAttr(l, operand),
                },
                Preview::Tuple(elements) => self.tuple(elements, types)?,
                Preview::Type(t) => ffi::tileir_cuda_tile_get_ExprTypeAttr(l, types(*t)),
                Preview::Text(s) => ffi::tileir_cuda_tile_get_ExprStringAttr(l, self.name(*s)?),
                Preview::Builtin { name, ty: t } => {
                    ffi::tileir_cuda_tile_get_ExprBuiltinAttr(l, self.name(*name)?, types(*t))
                }
                Preview::Layout(layout) => self.layout(layout, types)?,
                Preview::Space(v) => ffi::tileir_cuda_tile_get_PreviewSpaceAttr(l, (*v).into()),
                Preview::Synchronization(v) => ffi::tileir_cuda_tile_get_PreviewSyncAttr(l, (*v).into()),
                Preview::Access(v) => ffi::tileir_cuda_tile_get_PreviewAccessAttr(l, (*v).into()),
                Preview::Scratch(scratch) => self.scratch(scratch, types)?,
                Preview::Parameter { name, kind } => {
                    ffi::tileir_cuda_tile_get_ConstParamAttr(l, self.name(*name)?, types(*kind))
                }
            }
        })
    }

    fn name(&self, s: StringId) -> Result<MlirAttribute, ImportError> {
        self.utf8(s, 0)
    }

    /// A tuple, or null if one of its elements is.
    fn tuple(&self, elements: &[Preview], types: Types) -> Result<MlirAttribute, ImportError> {
        let elements = elements.iter().map(|e| self.expression(e, types)).collect::<Result<Vec<_>, _>>()?;
        if elements.iter().any(|e| e.ptr.is_null()) {
            return Ok(MlirAttribute { ptr: std::ptr::null() });
        }
        // SAFETY: the context and the elements are alive.
        Ok(unsafe {
            let array = mlirArrayAttrGet(self.context, elements.len() as isize, elements.as_ptr());
            ffi::tileir_cuda_tile_get_ExprTupleAttr(self.unknown, array)
        })
    }

    fn layout(&self, layout: &LayoutMap, types: Types) -> Result<MlirAttribute, ImportError> {
        let [shapes, strides] = [self.tuple(&layout.shapes, types)?, self.tuple(&layout.strides, types)?];
        if shapes.ptr.is_null() || strides.ptr.is_null() {
            return Ok(shapes);
        }
        // SAFETY: the components are alive.
        Ok(unsafe { ffi::tileir_cuda_tile_get_LayoutAttr(self.unknown, shapes, strides) })
    }

    fn scratch(&self, scratch: &Scratch, types: Types) -> Result<MlirAttribute, ImportError> {
        let [size, alignment] = [self.expression(&scratch.size, types)?, self.expression(&scratch.alignment, types)?];
        if size.ptr.is_null() || alignment.ptr.is_null() {
            return Ok(size);
        }
        // SAFETY: the components are alive.
        Ok(unsafe { ffi::tileir_cuda_tile_get_ScratchAttr(self.unknown, size, alignment) })
    }

    /// Builds the record of a library function.
    pub(super) fn library_function(
        &mut self,
        f: &Function,
        record: &LibraryFunction,
        parent: MlirBlock,
    ) -> Result<(), ImportError> {
        let location = self.location(f.location.flatten());
        let offset = f.offset as usize;
        let mut attrs = vec![];
        if f.private {
            // SAFETY: the context is alive and the string is copied.
            let private = unsafe { mlirStringAttrGet(self.context, str_ref(b"private")) };
            attrs.push(self.named("sym_visibility", private));
        }
        let name = match record {
            LibraryFunction::Implementation(i) => {
                self.implementation(i, offset, &mut attrs)?;
                "cuda_tile.preview$extern_impl"
            }
            LibraryFunction::Extern(constants) => {
                let symbol = self.utf8(f.name, offset)?;
                attrs.push(self.named("sym_name", symbol));
                // SAFETY: the type is alive.
                let signature = unsafe { mlirTypeAttrGet(self.types[f.signature.index()]) };
                attrs.push(self.named("function_type", signature));
                if let Some(a) = f.arg_attrs {
                    let arg_attrs = self.pooled(a, offset)?;
                    attrs.push(self.named("arg_attrs", arg_attrs));
                }
                let constants = self.array(constants, offset)?;
                attrs.push(self.named("const_params", constants));
                "cuda_tile.preview$func"
            }
        };
        // SAFETY: the operation takes the region, and the block takes the operation.
        let op = unsafe {
            let op = self.create(name, location, &attrs, &[], &[], vec![mlirRegionCreate()]);
            mlirBlockAppendOwnedOperation(parent, op);
            op
        };
        self.created.push((op, f.offset));
        Ok(())
    }

    fn implementation(
        &mut self,
        i: &Implementation,
        offset: usize,
        attrs: &mut Vec<MlirNamedAttribute>,
    ) -> Result<(), ImportError> {
        let symbol = self.utf8(i.symbol, offset)?;
        attrs.push(self.named("sym_name", symbol));
        self.utf8(i.implements, offset)?;
        // SAFETY: the context and the type are alive, and the string is copied.
        let (implements, signature) = unsafe {
            (
                mlirFlatSymbolRefAttrGet(self.context, str_ref(self.wire.string(i.implements))),
                mlirTypeAttrGet(self.types[i.signature.index()]),
            )
        };
        attrs.push(self.named("implements", implements));
        attrs.push(self.named("function_type", signature));
        let arrays = [
            ("const_params", &i.parameters),
            ("const_args", &i.arguments),
            ("arg_attrs", &i.arg_attrs),
            ("res_attrs", &i.res_attrs),
            ("arch", &i.architectures),
        ];
        for (name, list) in arrays {
            // An empty list of result attributes says nothing.
            if let Some(list) = list.as_ref().filter(|list| name != "res_attrs" || !list.is_empty()) {
                let list = self.array(list, offset)?;
                attrs.push(self.named(name, list));
            }
        }
        for (name, entries) in [("config", &i.config), ("frontendABI", &i.abi)] {
            if let Some(entries) = entries {
                let entries = self.dictionary(entries, offset)?;
                attrs.push(self.named(name, entries));
            }
        }
        if let Some(scratch) = &i.scratch {
            let request = self.preview(&Preview::Scratch(Box::new(scratch.clone())))?;
            if request.ptr.is_null() {
                return self.refused(offset);
            }
            attrs.push(self.named("scratch_smem", request));
        }
        if let Some(v) = i.synchronization {
            let sync = self.preview(&Preview::Synchronization(v))?;
            attrs.push(self.named("synchronization", sync));
        }
        if let Some(v) = i.score {
            let score = self.integer(64, v as i64);
            attrs.push(self.named("provider_score", score));
        }
        Ok(())
    }

    fn array(&self, list: &[Attr], offset: usize) -> Result<MlirAttribute, ImportError> {
        let elements = list.iter().map(|e| self.attr(e, offset)).collect::<Result<Vec<_>, _>>()?;
        // SAFETY: the context and the elements are alive.
        Ok(unsafe { mlirArrayAttrGet(self.context, elements.len() as isize, elements.as_ptr()) })
    }
}
