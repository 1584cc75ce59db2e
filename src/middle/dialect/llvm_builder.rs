//! A builder of LLVM dialect ops: `convert-tileas-to-llvm` writes the program of a thread with it.

use super::{
    elements,
    llvm_types::SHARED,
    rt::{self, *},
    types::integer_width,
};
use melior::{
    Context,
    dialect::llvm,
    ir::{
        Attribute, BlockLike, Location, Type, TypeLike,
        attribute::{DenseI32ArrayAttribute, FlatSymbolRefAttribute, IntegerAttribute, StringAttribute, TypeAttribute},
        r#type::IntegerType,
    },
};
use mlir_sys::*;
use std::fmt::Display;

/// The operands of inline PTX: first the results, then the inputs in the order in which they are added. The methods
/// return an operand as the text names it.
#[derive(Default)]
pub struct Operands<'c> {
    constraints: Vec<String>,
    args: Vec<Val<'c>>,
}

impl<'c> Operands<'c> {
    /// Operands with `count` results in registers of a class.
    pub fn results(count: usize, class: impl Display) -> Self {
        Operands { constraints: vec![format!("={class}"); count], args: vec![] }
    }
    pub fn input(&mut self, class: impl Display, v: Val<'c>) -> String {
        self.constraints.push(class.to_string());
        self.args.push(v);
        format!("${}", self.constraints.len() - 1)
    }
    /// Adds inputs that the text names as one operand.
    pub fn inputs(&mut self, class: impl Display, values: &[Val<'c>]) -> String {
        let first = self.constraints.len();
        values.iter().for_each(|v| _ = self.input(&class, *v));
        Self::list(first, values.len())
    }
    /// Adds an input in the register of a result.
    pub fn tied(&mut self, result: usize, v: Val<'c>) {
        self.input(result, v);
    }
    /// Adds the predicate of an instruction, if it has one.
    pub fn guard(&mut self, predicate: Option<Val<'c>>) -> String {
        predicate.map(|p| format!("@{} ", self.input("b", p))).unwrap_or_default()
    }
    /// Orders the instruction with memory accesses. Comes last.
    pub fn memory(&mut self) {
        self.constraints.push("~{memory}".into());
    }
    /// Names `count` operands from `first` on: one by itself, and several as a PTX vector.
    pub fn list(first: usize, count: usize) -> String {
        let names: Vec<String> = (first..first + count).map(|i| format!("${i}")).collect();
        if count == 1 { names[0].clone() } else { format!("{{{}}}", names.join(", ")) }
    }
    /// Returns the suffix of an instruction that accesses `count` words.
    pub fn vector(count: usize) -> String {
        if count == 1 { String::new() } else { format!(".v{count}") }
    }
    /// Emits PTX without results.
    pub fn emit(self, l: &Llvm<'c>, text: &str) {
        l.asm(text, &self.constraints.join(","), &self.args);
    }
    /// Emits PTX and returns its results, which have type `t`.
    pub fn emit_values(self, l: &Llvm<'c>, text: &str, t: Type<'c>) -> Vec<Val<'c>> {
        let count = self.constraints.iter().take_while(|c| c.starts_with('=')).count();
        l.asm_values(text, &self.constraints.join(","), (t, count), &self.args)
    }
}

pub use crate::dialect::arith::{FloatPredicate, IntPredicate as Cmp};

/// A builder with the common types of its context.
pub struct Llvm<'c> {
    pub b: Builder<'c>,
    pub i1: Type<'c>,
    pub i8: Type<'c>,
    pub i16: Type<'c>,
    pub i32: Type<'c>,
    pub i64: Type<'c>,
    pub f16: Type<'c>,
    pub f32: Type<'c>,
    pub f64: Type<'c>,
    pub shared_ptr: Type<'c>,
}

impl<'c> Llvm<'c> {
    pub fn new(b: Builder<'c>) -> Self {
        let c = b.context();
        let int = |w| IntegerType::new(c, w).into();
        Llvm {
            i1: int(1),
            i8: int(8),
            i16: int(16),
            i32: int(32),
            i64: int(64),
            f16: Type::float16(c),
            f32: Type::float32(c),
            f64: Type::float64(c),
            shared_ptr: llvm::r#type::pointer(c, SHARED),
            b,
        }
    }
    /// Returns the width of an integer type in bits.
    pub fn width(&self, t: Type<'c>) -> u32 {
        integer_width(t)
    }
    pub fn context(&self) -> &'c Context {
        self.b.context()
    }
    pub fn location(&self) -> Location<'c> {
        self.b.location()
    }
    pub fn int(&self, ty: Type<'c>, value: i64) -> Val<'c> {
        let attr = IntegerAttribute::new(ty, value).into();
        self.b.value("llvm.mlir.constant", ty, &[], &[("value", attr)])
    }
    pub fn i32c(&self, value: i64) -> Val<'c> {
        self.int(self.i32, value)
    }
    pub fn i64c(&self, value: i64) -> Val<'c> {
        self.int(self.i64, value)
    }
    pub fn constant(&self, ty: Type<'c>, value: Attribute<'c>) -> Val<'c> {
        self.b.value("llvm.mlir.constant", ty, &[], &[("value", value)])
    }
    pub fn float(&self, ty: Type<'c>, value: f64) -> Val<'c> {
        let attr = elements::float_of(ty, value);
        self.constant(ty, attr)
    }
    pub fn poison(&self, ty: Type<'c>) -> Val<'c> {
        self.b.value("llvm.mlir.poison", ty, &[], &[])
    }
    /// Builds `llvm.<op>` of two operands; the result has the operands' type.
    pub fn bin(&self, op: &str, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.b.value(&format!("llvm.{op}"), ty(a), &[a, b], &[])
    }
    pub fn un(&self, op: &str, a: Val<'c>) -> Val<'c> {
        self.b.value(&format!("llvm.{op}"), ty(a), &[a], &[])
    }
    pub fn cast(&self, op: &str, a: Val<'c>, to: Type<'c>) -> Val<'c> {
        if ty(a) == to { a } else { self.b.value(&format!("llvm.{op}"), to, &[a], &[]) }
    }
    pub fn add(&self, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.bin("add", a, b)
    }
    pub fn mul(&self, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.bin("mul", a, b)
    }
    pub fn icmp(&self, predicate: Cmp, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.comparison("llvm.icmp", predicate as i64, a, b)
    }
    pub fn fcmp(&self, predicate: FloatPredicate, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.comparison("llvm.fcmp", predicate as i64, a, b)
    }
    fn comparison(&self, name: &str, predicate: i64, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.b.value(name, self.i1, &[a, b], &[("predicate", i64_attr(self.context(), predicate))])
    }
    pub fn select(&self, c: Val<'c>, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.b.value("llvm.select", ty(a), &[c, a, b], &[])
    }
    /// Zero-extends a scalar to i64.
    pub fn zext64(&self, v: Val<'c>) -> Val<'c> {
        self.cast("zext", v, self.i64)
    }
    /// Computes `ptr + offset`, in bytes.
    pub fn byte_offset(&self, ptr: Val<'c>, offset: Val<'c>) -> Val<'c> {
        let dynamic = DenseI32ArrayAttribute::new(self.context(), &[i32::MIN]).into();
        let elem = TypeAttribute::new(self.i8).into();
        self.b.value(
            "llvm.getelementptr",
            ty(ptr),
            &[ptr, offset],
            &[("elem_type", elem), ("rawConstantIndices", dynamic)],
        )
    }
    /// Computes `ptr + offset`, in bytes; addressing modes absorb the constant.
    pub fn const_offset(&self, ptr: Val<'c>, offset: i64) -> Val<'c> {
        if offset == 0 {
            return ptr;
        }
        match i32::try_from(offset) {
            Ok(o) if o != i32::MIN => {
                let index = DenseI32ArrayAttribute::new(self.context(), &[o]).into();
                let elem = TypeAttribute::new(self.i8).into();
                self.b.value(
                    "llvm.getelementptr",
                    ty(ptr),
                    &[ptr],
                    &[("elem_type", elem), ("rawConstantIndices", index)],
                )
            }
            _ => self.byte_offset(ptr, self.i64c(offset)),
        }
    }
    pub fn load(&self, ty: Type<'c>, ptr: Val<'c>, align: u64) -> Val<'c> {
        self.b.value("llvm.load", ty, &[ptr], &[("alignment", self.alignment(align))])
    }
    pub fn store(&self, value: Val<'c>, ptr: Val<'c>, align: u64) {
        self.b.create("llvm.store", &[], &[value, ptr], &[("alignment", self.alignment(align))]);
    }
    /// A load that LLVM does not remove, so that the variable stays in memory.
    pub fn volatile_load(&self, ty: Type<'c>, ptr: Val<'c>, align: u64) -> Val<'c> {
        let attributes = [("alignment", self.alignment(align)), ("volatile_", self.b.unit())];
        self.b.value("llvm.load", ty, &[ptr], &attributes)
    }
    pub fn volatile_store(&self, value: Val<'c>, ptr: Val<'c>, align: u64) {
        let attributes = [("alignment", self.alignment(align)), ("volatile_", self.b.unit())];
        self.b.create("llvm.store", &[], &[value, ptr], &attributes);
    }
    fn alignment(&self, align: u64) -> Attribute<'c> {
        IntegerAttribute::new(self.i64, align as i64).into()
    }
    /// Allocates a variable of the thread. Call at the start of a function.
    pub fn variable(&self, ty: Type<'c>, align: u64) -> Val<'c> {
        self.variables(1, ty, align)
    }
    /// Allocates consecutive variables of the thread. Call at the start of a function.
    pub fn variables(&self, count: i64, ty: Type<'c>, align: u64) -> Val<'c> {
        let pointer = llvm::r#type::pointer(self.context(), 0);
        let attributes = [("elem_type", TypeAttribute::new(ty).into()), ("alignment", self.alignment(align))];
        self.b.value("llvm.alloca", pointer, &[self.i32c(count)], &attributes)
    }
    /// Returns the type of a fixed-size vector.
    pub fn vector(&self, elements: u64, ty: Type<'c>) -> Type<'c> {
        // SAFETY: the element type is alive.
        unsafe { Type::from_raw(mlirVectorTypeGet(1, &(elements as i64), ty.to_raw())) }
    }
    pub fn extract(&self, vector: Val<'c>, element: Type<'c>, i: usize) -> Val<'c> {
        self.b.value("llvm.extractelement", element, &[vector, self.i32c(i as i64)], &[])
    }
    pub fn insert(&self, vector: Val<'c>, v: Val<'c>, i: usize) -> Val<'c> {
        self.b.value("llvm.insertelement", ty(vector), &[vector, v, self.i32c(i as i64)], &[])
    }
    /// Returns a vector of values of one type.
    pub fn join(&self, values: &[Val<'c>]) -> Val<'c> {
        let empty = self.poison(self.vector(values.len() as u64, ty(values[0])));
        values.iter().enumerate().fold(empty, |vector, (i, v)| self.insert(vector, *v, i))
    }
    /// Returns the elements of a vector.
    pub fn elements(&self, vector: Val<'c>, element: Type<'c>, count: usize) -> Vec<Val<'c>> {
        (0..count).map(|i| self.extract(vector, element, i)).collect()
    }
    /// Calls a function of the module by name.
    pub fn call(&self, callee: &str, result: Type<'c>, args: &[Val<'c>]) -> Val<'c> {
        rt::result(self.any_call(callee, &[result], args), 0)
    }
    /// Calls a function without a result.
    pub fn call_void(&self, callee: &str, args: &[Val<'c>]) {
        self.any_call(callee, &[], args);
    }
    fn any_call(&self, callee: &str, results: &[Type<'c>], args: &[Val<'c>]) -> OpRef<'c> {
        let callee = ("callee", FlatSymbolRefAttribute::new(self.context(), callee).into());
        self.variadic("llvm.call", callee, results, args)
    }
    /// Builds an op whose arguments may be followed by operand bundles, of which there are none.
    fn variadic(
        &self,
        op: &str,
        (name, value): (&str, Attribute<'c>),
        results: &[Type<'c>],
        args: &[Val<'c>],
    ) -> OpRef<'c> {
        let mut s = self.b.state(op);
        s.results(results);
        s.operands(args);
        s.attr(name, value);
        s.segments(&[args.len() as i32, 0]);
        s.attr("op_bundle_sizes", DenseI32ArrayAttribute::new(self.context(), &[]).into());
        self.b.insert(s).expect("no inference asked for")
    }
    /// Calls an LLVM intrinsic that computes a value.
    pub fn intrinsic(&self, name: &str, result: Type<'c>, args: &[Val<'c>]) -> Val<'c> {
        rt::result(self.any_intrinsic(name, &[result], args), 0)
    }
    /// Stops the kernel with an error.
    pub fn trap(&self) {
        self.any_intrinsic("llvm.trap", &[], &[]);
    }
    /// Selects four of the eight bytes of two words; each digit of the selector is the number of a byte.
    pub fn prmt(&self, low: Val<'c>, high: Val<'c>, selector: Val<'c>) -> Val<'c> {
        self.intrinsic("llvm.nvvm.prmt", self.i32, &[low, high, selector])
    }
    fn any_intrinsic(&self, name: &str, results: &[Type<'c>], args: &[Val<'c>]) -> OpRef<'c> {
        let name = ("intrin", StringAttribute::new(self.context(), name).into());
        self.variadic("llvm.call_intrinsic", name, results, args)
    }
    /// Emits inline PTX with side effects and without results.
    pub fn asm(&self, text: &str, constraints: &str, args: &[Val<'c>]) {
        self.any_asm(text, constraints, &[], args, false);
    }
    /// Emits an instruction without operands, in order with memory accesses.
    pub fn order(&self, text: &str) {
        self.asm(text, "~{memory}", &[]);
    }
    /// Emits inline PTX that computes a value and has side effects.
    pub fn asm_value(&self, text: &str, constraints: &str, result: Type<'c>, args: &[Val<'c>]) -> Val<'c> {
        rt::result(self.any_asm(text, constraints, &[result], args, false), 0)
    }
    /// Emits inline PTX that computes `count` values of one type and has side effects.
    pub fn asm_values(
        &self,
        text: &str,
        constraints: &str,
        (t, count): (Type<'c>, usize),
        args: &[Val<'c>],
    ) -> Vec<Val<'c>> {
        if count == 1 {
            return vec![self.asm_value(text, constraints, t, args)];
        }
        let all = self.asm_value(text, constraints, self.structure(&vec![t; count]), args);
        (0..count).map(|i| self.field(all, t, i as i64)).collect()
    }
    /// Emits inline PTX that computes a value from its operands alone. Several results form a struct; [`Self::field`]
    /// extracts them.
    pub fn pure_asm(&self, text: &str, constraints: &str, result: Type<'c>, args: &[Val<'c>]) -> Val<'c> {
        rt::result(self.any_asm(text, constraints, &[result], args, true), 0)
    }
    fn any_asm(&self, text: &str, constraints: &str, results: &[Type<'c>], args: &[Val<'c>], pure: bool) -> OpRef<'c> {
        let mut s = self.b.state("llvm.inline_asm");
        s.results(results);
        s.operands(args);
        s.attr("asm_string", StringAttribute::new(self.context(), text).into());
        s.attr("constraints", StringAttribute::new(self.context(), constraints).into());
        if !pure {
            s.attr("has_side_effects", self.b.unit());
        }
        self.b.insert(s).expect("no inference asked for")
    }
    pub fn field(&self, aggregate: Val<'c>, element: Type<'c>, i: i64) -> Val<'c> {
        let position = i64s_to_attr(self.context(), &[i]);
        self.b.value("llvm.extractvalue", element, &[aggregate], &[("position", position)])
    }
    pub fn structure(&self, fields: &[Type<'c>]) -> Type<'c> {
        llvm::r#type::r#struct(self.context(), fields, false)
    }
    /// Reads a special register at each use; LLVM merges the reads.
    pub fn sreg(&self, name: &str) -> Val<'c> {
        self.b.value(&format!("nvvm.read.ptx.sreg.{name}"), self.i32, &[], &[])
    }
    pub fn br(&self, to: Blk<'c>, args: &[Val<'c>]) {
        let mut s = self.b.state("llvm.br");
        s.operands(args);
        s.successors(&[to]);
        self.b.insert(s).expect("no inference asked for");
    }
    pub fn cond_br(&self, c: Val<'c>, yes: (Blk<'c>, &[Val<'c>]), no: (Blk<'c>, &[Val<'c>])) -> OpRef<'c> {
        let mut s = self.b.state("llvm.cond_br");
        s.operands(&[c]);
        s.operands(yes.1);
        s.operands(no.1);
        s.successors(&[yes.0, no.0]);
        s.segments(&[1, yes.1.len() as i32, no.1.len() as i32]);
        self.b.insert(s).expect("no inference asked for")
    }
    /// Returns the annotation for a back edge that prevents unrolling and peeling.
    pub fn rolled(&self) -> Attribute<'c> {
        let text = "#llvm.loop_annotation<unroll = <disable = true>>";
        Attribute::parse(self.context(), text).expect("a well-formed attribute")
    }
    /// Creates a block with arguments after the given one.
    pub fn new_block(&self, types: &[Type<'c>], after: Blk<'c>) -> Blk<'c> {
        let args: Vec<_> = types.iter().map(|t| (*t, self.location())).collect();
        let block = melior::ir::Block::new(&args).into_raw();
        // SAFETY: the block goes into the region of the live block `after`.
        unsafe {
            mlirRegionInsertOwnedBlockAfter(mlirBlockGetParentRegion(after.to_raw()), after.to_raw(), block);
            Blk::from_raw(block)
        }
    }
    /// Executes `then` if `c` holds.
    pub fn when(&self, c: Val<'c>, then: impl FnOnce()) {
        let here = self.b.block();
        let body = self.new_block(&[], here);
        let exit = self.new_block(&[], body);
        self.cond_br(c, (body, &[]), (exit, &[]));
        self.b.set_end(body);
        then();
        self.br(exit, &[]);
        self.b.set_end(exit);
    }
    /// Returns the values computed by `yes` or `no`, depending on `c`; both return values of `types`.
    pub fn either(
        &self,
        c: Val<'c>,
        types: &[Type<'c>],
        yes: impl FnOnce() -> Vec<Val<'c>>,
        no: impl FnOnce() -> Vec<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let here = self.b.block();
        let yes_block = self.new_block(&[], here);
        let no_block = self.new_block(&[], yes_block);
        let exit = self.new_block(types, no_block);
        self.cond_br(c, (yes_block, &[]), (no_block, &[]));
        self.b.set_end(yes_block);
        let values = yes();
        self.br(exit, &values);
        self.b.set_end(no_block);
        let values = no();
        self.br(exit, &values);
        self.b.set_end(exit);
        args(exit).collect()
    }
}
