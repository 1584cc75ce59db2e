//! Memory that outlives a thread's registers: initialized globals, constant tables and strings, and the heap.

use super::{Lower, llvm::Cmp, parse};
use crate::dialect::{
    attributes::SYM_VISIBILITY,
    elements::{self, element_bits},
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

/// The declaration of a data symbol.
struct Data<'a> {
    name: &'a str,
    linkage: &'a str,
    constant: bool,
    alignment: i64,
    /// The width of an element in bits: 8, 16, 32 or 64.
    width: u32,
}

/// Returns the state of an `llvm.mlir.global` without an address space, an alignment and a region.
pub(super) fn variable_state<'c>(b: &Builder<'c>, name: &str, t: Type<'c>, linkage: &str) -> OperationState<'c> {
    let mut s = b.state("llvm.mlir.global");
    s.attr("sym_name", StringAttribute::new(b.context(), name).into());
    s.attr("global_type", TypeAttribute::new(t).into());
    s.attr("linkage", parse(b.context(), &format!("#llvm.linkage<{linkage}>")));
    s
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
    let mut s = variable_state(b, data.name, llvm::r#type::array(element, bits.len() as u32), data.linkage);
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
    let mut bits = element_bits(value).ok_or_else(|| fail(op, "value is not dense elements"))?;
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
        let name = self.module.table(data, |b, name| {
            let alignment = if width == 8 && bits.len() < ALIGNMENT as usize { 1 } else { ALIGNMENT };
            let data = Data { name, linkage: "internal", constant: true, alignment, width };
            define(b, data, bits).expect("no inference asked for");
        });
        self.address_of(&name)
    }

    /// Returns the address of a module variable that is zero-initialized at load time and outlives kernels.
    pub(super) fn zeros(&self, name: &str, bytes: i64, alignment: i64) -> Val<'c> {
        self.module.define(name, |b| {
            let mut s = variable_state(b, name, llvm::r#type::array(self.l.i8, bytes as u32), "internal");
            s.attr("addr_space", parse(b.context(), &format!("{GLOBAL} : i32")));
            s.attr("alignment", i64_attr(b.context(), alignment));
            s.attr("value", parse(b.context(), &format!("dense<0> : tensor<{bytes}xi8>")));
            s.region(Region::new());
            b.insert(s).expect("no inference asked for");
        });
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
        let l = &self.l;
        let allocate = || {
            let p = self.call("malloc", generic, &[l.i64c(x.bytes())]);
            let null = l.b.value("llvm.mlir.zero", generic, &[], &[]);
            l.when(l.icmp(Cmp::Eq, p, null), || l.trap());
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
        self.l.when(self.first_thread(), || self.call_void("free", &[self.generic(p)]));
        Ok(())
    }

    pub(super) fn first_thread(&self) -> Val<'c> {
        self.l.icmp(Cmp::Eq, self.threads.thread, self.l.i32c(0))
    }
}
