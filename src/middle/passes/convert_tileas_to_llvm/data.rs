//! Memory that outlives a thread's registers: initialized globals, constant tables and strings, and the heap.

use super::{Lower, i32_array, llvm::Cmp, parse};
use crate::dialect::{
    attributes::SYM_VISIBILITY,
    elements,
    layouts::{memory_bits, storage_bits},
    llvm_types::GLOBAL,
    nv_tileaa::{GetGlobalOp, GlobalOp},
    nv_tileas::{HeapAllocOp, HeapFreeOp},
    pass::{Failed, fail},
    rt::*,
};
use melior::{
    Context,
    dialect::llvm,
    ir::{
        Attribute, AttributeLike, Region, Type, TypeLike,
        attribute::{FlatSymbolRefAttribute, StringAttribute, TypeAttribute},
        r#type::IntegerType,
    },
};
use mlir_sys::*;

/// The minimum alignment of globals in bytes, so that vectors of any width can be loaded from their start.
const ALIGNMENT: i64 = 16;

/// Returns the elements of a dense attribute as bits, in the in-memory form of [`storage_bits`]; a splat gives one.
pub(super) fn element_bits(op: OpRef<'_>, value: Attribute<'_>) -> Result<Vec<u64>, Failed> {
    // SAFETY: the attribute is alive and checked to be dense elements of numbers; the raw data of `n` elements, or of
    // one for a splat, has `bytes` bytes per element, except for i1.
    unsafe {
        let raw = value.to_raw();
        if !mlirAttributeIsADenseElements(raw) {
            return Err(fail(op, "value is not dense elements"));
        }
        let splat = mlirDenseElementsAttrIsSplat(raw);
        let element = Type::from_raw(mlirShapedTypeGetElementType(mlirAttributeGetType(raw)));
        let n = if splat { 1 } else { mlirElementsAttrGetNumElements(raw) as usize };
        let width = if mlirTypeIsAInteger(element.to_raw()) {
            mlirIntegerTypeGetWidth(element.to_raw())
        } else {
            mlirFloatTypeGetWidth(element.to_raw())
        };
        if width == 1 {
            let bit = |i| {
                if splat {
                    mlirDenseElementsAttrGetBoolSplatValue(raw) != 0
                } else {
                    mlirDenseElementsAttrGetBoolValue(raw, i as isize)
                }
            };
            return Ok((0..n).map(|i| u64::from(bit(i))).collect());
        }
        let bytes = width.div_ceil(8) as usize;
        let data = std::slice::from_raw_parts(mlirDenseElementsAttrGetRawData(raw) as *const u8, n * bytes);
        // In memory, tf32 is an f32 with zero low bits.
        let shift = if mlirTypeIsATF32(element.to_raw()) { 32 - width } else { 0 };
        let whole = |c: &[u8]| c.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b)) << shift;
        Ok(data.chunks(bytes).map(whole).collect())
    }
}

/// Returns the bits of a typed scalar attribute.
pub(super) fn scalar_bits(op: OpRef<'_>, value: Attribute<'_>) -> Result<u64, Failed> {
    let t = attr_type(value);
    let shape = crate::dialect::layouts::tensor_type(&[1], t, None);
    let dense = elements::dense(shape, value);
    Ok(element_bits(op, dense)?[0])
}

/// The declaration of a data symbol.
struct Data<'a> {
    name: &'a str,
    linkage: &'a str,
    constant: bool,
    alignment: i64,
    /// The width of an element in bits: 8, 16, 32 or 64.
    width: u32,
}

fn define<'c>(b: &Builder<'c>, data: Data<'_>, bits: &[u64]) -> Result<(), BuildError> {
    let c = b.context();
    let element: Type<'c> = IntegerType::new(c, data.width).into();
    let bytes: Vec<u8> = bits.iter().flat_map(|v| v.to_le_bytes()[..data.width as usize / 8].to_vec()).collect();
    let shape = crate::dialect::layouts::tensor_type(&[bits.len() as i64], element, None);
    // SAFETY: the buffer has the bytes of the tensor's elements; MLIR copies it.
    let value = unsafe {
        Attribute::from_raw(mlirDenseElementsAttrRawBufferGet(shape.to_raw(), bytes.len(), bytes.as_ptr() as *const _))
    };
    let mut s = b.state("llvm.mlir.global");
    s.attr("sym_name", StringAttribute::new(c, data.name).into());
    s.attr("global_type", TypeAttribute::new(llvm::r#type::array(element, bits.len() as u32)).into());
    s.attr("linkage", parse(c, &format!("#llvm.linkage<{}>", data.linkage)));
    s.attr("addr_space", parse(c, &format!("{GLOBAL} : i32")));
    s.attr("alignment", i64_attr(c, data.alignment));
    s.attr("value", value);
    if data.constant {
        s.attr("constant", b.unit());
    }
    s.region(Region::new());
    b.insert(s)?;
    Ok(())
}

/// Lowers a module variable. The host can find variables that are not private by name.
pub(super) fn global<'c>(x: GlobalOp<'c>, context: &'c Context) -> Result<(), Failed> {
    let op = x.op();
    let value = x.value();
    // SAFETY: the type of elements is shaped.
    let (element, count) = unsafe {
        let t = mlirAttributeGetType(value.to_raw());
        (Type::from_raw(mlirShapedTypeGetElementType(t)), mlirElementsAttrGetNumElements(value.to_raw()) as usize)
    };
    let mut bits = element_bits(op, value)?;
    if bits.len() == 1 {
        bits = vec![bits[0]; count];
    }
    if memory_bits(element) == 4 {
        bits = bits.chunks(2).map(|pair| pair[0] & 15 | pair.get(1).map_or(0, |high| (high & 15) << 4)).collect();
        // Stores of half a byte access whole words.
        bits.resize(bits.len().next_multiple_of(4), 0);
    }
    let private = SYM_VISIBILITY.get(op) == Some("private");
    let data = Data {
        name: x.sym_name(),
        linkage: if private { "internal" } else { "external" },
        constant: x.constant(),
        alignment: x.alignment().unwrap_or(0).max(ALIGNMENT),
        width: storage_bits(element),
    };
    define(&Builder::before(context, op), data, &bits).map_err(|e| fail(op, e.to_string()))?;
    erase(op);
    Ok(())
}

impl<'c> Lower<'c, '_> {
    pub(super) fn get_global(&mut self, x: GetGlobalOp<'c>) -> Result<(), Failed> {
        let name = attr(x.op(), "name").ok_or_else(|| fail(x.op(), "no name"))?;
        let name = elements::symbol(name).ok_or_else(|| fail(x.op(), "'name' is not a symbol"))?;
        let v = self.address_of(name);
        self.set_all(x.result(), vec![v]);
        Ok(())
    }

    /// Returns the address of data in global memory.
    fn address_of(&self, name: &str) -> Val<'c> {
        let l = &self.l;
        let symbol = FlatSymbolRefAttribute::new(l.context(), name).into();
        let t = llvm::r#type::pointer(l.context(), GLOBAL);
        l.b.value("llvm.mlir.addressof", t, &[], &[("global_name", symbol)])
    }

    /// Returns the address of constant elements of `width` bits. The module holds equal tables once.
    pub(super) fn table(&self, bits: &[u64], width: u32) -> Val<'c> {
        let mut data: Vec<u8> = vec![width as u8];
        data.extend(bits.iter().flat_map(|v| v.to_le_bytes()[..width as usize / 8].to_vec()));
        let known = self.data.borrow().len();
        let number = *self.data.borrow_mut().entry(data).or_insert(known);
        let name = format!("__tileir_data_{number}");
        if number == known {
            let body = entry_block(region(self.module, 0)).expect("a module has a body");
            let b = Builder::at_end(self.l.context(), body, melior::ir::Location::unknown(self.l.context()));
            b.set_start(body);
            let alignment = if width == 8 && bits.len() < ALIGNMENT as usize { 1 } else { ALIGNMENT };
            let data = Data { name: &name, linkage: "internal", constant: true, alignment, width };
            define(&b, data, bits).expect("no inference asked for");
        }
        self.address_of(&name)
    }

    /// Returns the address of a module variable that is zero-initialized at load time and outlives kernels.
    pub(super) fn zeros(&self, name: &str, bytes: i64, alignment: i64) -> Val<'c> {
        if self.declared.borrow_mut().insert(name.to_string()) {
            let c = self.l.context();
            let body = entry_block(region(self.module, 0)).expect("a module has a body");
            let b = Builder::at_end(c, body, melior::ir::Location::unknown(c));
            b.set_start(body);
            let mut s = b.state("llvm.mlir.global");
            s.attr("sym_name", StringAttribute::new(c, name).into());
            s.attr("global_type", TypeAttribute::new(llvm::r#type::array(self.l.i8, bytes as u32)).into());
            s.attr("linkage", parse(c, "#llvm.linkage<internal>"));
            s.attr("addr_space", parse(c, &format!("{GLOBAL} : i32")));
            s.attr("alignment", i64_attr(c, alignment));
            s.attr("value", parse(c, &format!("dense<0> : tensor<{bytes}xi8>")));
            s.region(Region::new());
            b.insert(s).expect("no inference asked for");
        }
        self.address_of(name)
    }

    /// Returns the generic address of a null-terminated string.
    pub(super) fn text(&self, text: &str) -> Val<'c> {
        let bits: Vec<u64> = text.bytes().chain([0]).map(u64::from).collect();
        self.generic(self.table(&bits, 8))
    }

    /// Converts a pointer to a generic address.
    pub(super) fn generic(&self, p: Val<'c>) -> Val<'c> {
        self.l.b.value("llvm.addrspacecast", llvm::r#type::pointer(self.l.context(), 0), &[p], &[])
    }

    //===-- the heap --------------------------------------------------------===//

    pub(super) fn heap_alloc(&mut self, x: HeapAllocOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let layout = self.layout(op, x.result())?;
        let (owner, registers) = (self.owner(&layout), layout.registers() as usize);
        let generic = llvm::r#type::pointer(self.l.context(), 0);
        let global = llvm::r#type::pointer(self.l.context(), GLOBAL);
        self.declare("malloc", generic, &[self.l.i64]);
        let l = &self.l;
        let allocate = || {
            let p = l.call("malloc", generic, &[l.i64c(x.bytes())]);
            let null = l.b.value("llvm.mlir.zero", generic, &[], &[]);
            l.when(l.icmp(Cmp::Eq, p, null), || _ = l.intrinsic("llvm.trap", None, &[]));
            vec![l.b.value("llvm.addrspacecast", global, &[p], &[])]
        };
        let p = match owner {
            Some(owner) => l.either(owner, &[global], allocate, || vec![l.poison(global)]),
            None => allocate(),
        };
        self.set_all(x.result(), vec![p[0]; registers]);
        Ok(())
    }

    pub(super) fn heap_free(&mut self, x: HeapFreeOp<'c>) -> Result<(), Failed> {
        let p = self.scalar(x.op(), x.ptr())?;
        let generic = llvm::r#type::pointer(self.l.context(), 0);
        self.declare("free", llvm::r#type::void(self.l.context()), &[generic]);
        let first = self.first_thread();
        self.l.when(first, || self.l.call_void("free", &[self.generic(p)]));
        Ok(())
    }

    pub(super) fn first_thread(&self) -> Val<'c> {
        self.l.icmp(Cmp::Eq, self.thread, self.l.i32c(0))
    }
}

impl<'c> super::llvm::Llvm<'c> {
    /// Calls a function without a result.
    pub fn call_void(&self, callee: &str, args: &[Val<'c>]) {
        let mut s = self.b.state("llvm.call");
        s.operands(args);
        s.attr("callee", FlatSymbolRefAttribute::new(self.context(), callee).into());
        s.segments(&[args.len() as i32, 0]);
        s.attr("op_bundle_sizes", i32_array(self.context(), &[]));
        self.b.insert(s).expect("no inference asked for");
    }
}
