//! The runtime of the generated views: copyable handles, accessors, and a builder with an insertion point.

use melior::{
    Context,
    ir::{
        Attribute, AttributeLike, BlockLike, BlockRef, Location, Region, RegionLike, RegionRef, Type, TypeLike, Value,
        ValueLike,
        attribute::{ArrayAttribute, StringAttribute},
    },
};
use mlir_sys::*;
use std::cell::Cell;

pub use melior::ir::operation::OperationLike;

/// An op. Copyable, and valid until the op is erased.
pub type OpRef<'c> = melior::ir::operation::OperationRef<'c, 'c>;
/// An SSA value.
pub type Val<'c> = Value<'c, 'c>;
/// A block.
pub type Blk<'c> = BlockRef<'c, 'c>;
/// A region of an op.
pub type Rgn<'c> = RegionRef<'c, 'c>;

/// An op could not be created: its result types could not be inferred.
#[derive(Debug, thiserror::Error)]
#[error("cannot build {0}")]
pub struct BuildError(pub String);

/// A typed view of an op.
pub trait OpView<'c>: Copy {
    const NAME: &'static str;
    fn op(self) -> OpRef<'c>;
    fn wrap(op: OpRef<'c>) -> Self;
    /// The identity of the op's class.
    fn type_id() -> usize;
    fn cast(op: OpRef<'c>) -> Option<Self> {
        (op_type_id(op) == Self::type_id()).then(|| Self::wrap(op))
    }
}

pub fn op_type_id(op: OpRef<'_>) -> usize {
    // SAFETY: `op` is alive.
    unsafe { mlirOperationGetTypeID(op.to_raw()).ptr as usize }
}
pub fn raw_str(s: &str) -> MlirStringRef {
    MlirStringRef { data: s.as_ptr() as *const _, length: s.len() }
}
/// # Safety
/// `s` must stay alive for `'c` and be UTF-8, as the strings of a context are.
pub unsafe fn raw_to_str<'c>(s: MlirStringRef) -> &'c str {
    if s.length == 0 {
        return "";
    }
    // SAFETY: the caller's promise.
    unsafe { std::str::from_utf8(std::slice::from_raw_parts(s.data as *const u8, s.length)).unwrap_or("") }
}
/// # Safety
/// `p` must point at `n` elements that live for `'c`, or `n` be zero.
pub unsafe fn raw_slice<'c, T>(p: *const T, n: isize) -> &'c [T] {
    if n == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(p, n as usize) }
}
pub fn op_ref<'c>(raw: MlirOperation) -> OpRef<'c> {
    // SAFETY: raw handles come from live IR.
    unsafe { OpRef::from_raw(raw) }
}
fn val<'c>(raw: MlirValue) -> Val<'c> {
    // SAFETY: raw handles come from live IR.
    unsafe { Value::from_raw(raw) }
}
/// Returns the full name, `dialect.op`.
pub fn op_name<'c>(op: OpRef<'c>) -> &'c str {
    // SAFETY: identifiers live as long as the context.
    unsafe { raw_to_str(mlirIdentifierStr(mlirOperationGetName(op.to_raw()))) }
}
pub fn operand_count(op: OpRef<'_>) -> usize {
    // SAFETY: `op` is alive.
    unsafe { mlirOperationGetNumOperands(op.to_raw()) as usize }
}
pub fn operand<'c>(op: OpRef<'c>, i: usize) -> Val<'c> {
    assert!(i < operand_count(op), "operand {i} of {}", op_name(op));
    // SAFETY: `op` is alive and the index in range.
    val(unsafe { mlirOperationGetOperand(op.to_raw(), i as isize) })
}
pub fn operands<'c>(op: OpRef<'c>) -> impl ExactSizeIterator<Item = Val<'c>> + Clone {
    (0..operand_count(op)).map(move |i| operand(op, i))
}
pub fn set_operand<'c>(op: OpRef<'c>, i: usize, v: Val<'c>) {
    // SAFETY: `op` and `v` are alive.
    unsafe { mlirOperationSetOperand(op.to_raw(), i as isize, v.to_raw()) }
}
pub fn result_count(op: OpRef<'_>) -> usize {
    // SAFETY: `op` is alive.
    unsafe { mlirOperationGetNumResults(op.to_raw()) as usize }
}
pub fn result<'c>(op: OpRef<'c>, i: usize) -> Val<'c> {
    assert!(i < result_count(op), "result {i} of {}", op_name(op));
    // SAFETY: `op` is alive and the index in range.
    val(unsafe { mlirOperationGetResult(op.to_raw(), i as isize) })
}
pub fn results<'c>(op: OpRef<'c>) -> impl ExactSizeIterator<Item = Val<'c>> + Clone {
    (0..result_count(op)).map(move |i| result(op, i))
}
/// The number of an op's result among the results of its op; zero for a block argument.
pub fn result_number(v: Val<'_>) -> usize {
    // SAFETY: `v` is alive, and the number is only asked of a result.
    unsafe { if mlirValueIsAOpResult(v.to_raw()) { mlirOpResultGetResultNumber(v.to_raw()) as usize } else { 0 } }
}
pub fn region_count(op: OpRef<'_>) -> usize {
    // SAFETY: `op` is alive.
    unsafe { mlirOperationGetNumRegions(op.to_raw()) as usize }
}
pub fn region<'c>(op: OpRef<'c>, i: usize) -> Rgn<'c> {
    assert!(i < region_count(op), "region {i} of {}", op_name(op));
    // SAFETY: `op` is alive and the index in range.
    unsafe { Rgn::from_raw(mlirOperationGetRegion(op.to_raw(), i as isize)) }
}
/// Returns the inherent attribute `name`.
pub fn attr<'c>(op: OpRef<'c>, name: &str) -> Option<Attribute<'c>> {
    // SAFETY: `op` is alive.
    unsafe { Attribute::from_option_raw(mlirOperationGetInherentAttributeByName(op.to_raw(), raw_str(name))) }
}
pub fn set_attr<'c>(op: OpRef<'c>, name: &str, a: Attribute<'c>) {
    // SAFETY: `op` and `a` are alive.
    unsafe { mlirOperationSetInherentAttributeByName(op.to_raw(), raw_str(name), a.to_raw()) }
}
/// Returns the type of a typed attribute, and the none type for all others.
pub fn attr_type<'c>(a: Attribute<'c>) -> Type<'c> {
    // SAFETY: `a` is alive.
    unsafe { Type::from_raw(mlirAttributeGetType(a.to_raw())) }
}
/// Returns the type that a type attribute holds. The attribute must be a type attribute.
pub fn held_type<'c>(a: Attribute<'c>) -> Type<'c> {
    // SAFETY: `a` is alive; the accessors of generated views pass type attributes only.
    unsafe { Type::from_raw(mlirTypeAttrGetValue(a.to_raw())) }
}
/// Returns the sign-extended value of an integer attribute of at most 64 bits.
pub fn int_attr(a: Attribute<'_>) -> i64 {
    // SAFETY: `a` is alive; the accessors of generated views pass integer attributes only.
    unsafe {
        let ty = mlirAttributeGetType(a.to_raw());
        if mlirTypeIsAInteger(ty) && mlirIntegerTypeIsSigned(ty) {
            mlirIntegerAttrGetValueSInt(a.to_raw())
        } else if mlirTypeIsAInteger(ty) && mlirIntegerTypeIsUnsigned(ty) {
            mlirIntegerAttrGetValueUInt(a.to_raw()) as i64
        } else {
            mlirIntegerAttrGetValueInt(a.to_raw())
        }
    }
}
/// Returns `v` as an i32 attribute.
pub fn i32_attr<'c>(context: &'c Context, v: i32) -> Attribute<'c> {
    // SAFETY: the context is alive.
    unsafe { Attribute::from_raw(mlirIntegerAttrGet(mlirIntegerTypeGet(context.to_raw(), 32), v as i64)) }
}
/// Returns `v` as an i64 attribute.
pub fn i64_attr<'c>(context: &'c Context, v: i64) -> Attribute<'c> {
    // SAFETY: the context is alive.
    unsafe { Attribute::from_raw(mlirIntegerAttrGet(mlirIntegerTypeGet(context.to_raw(), 64), v)) }
}
/// Returns the text that MLIR prints for a value, truncated at the first byte that is not UTF-8, which names in debug
/// information may contain. `to_string` would panic there, because the formatter reports an error.
pub fn shown(value: &impl std::fmt::Display) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    if write!(text, "{value}").is_err() {
        text.push_str("... (the rest is not UTF-8)");
    }
    text
}
/// Returns `values` as a dense array of bools.
pub fn bools_attr<'c>(context: &'c Context, values: &[bool]) -> Attribute<'c> {
    let ints: Vec<i32> = values.iter().map(|&b| i32::from(b)).collect();
    // SAFETY: the context is alive; MLIR copies the list.
    unsafe { Attribute::from_raw(mlirDenseBoolArrayGet(context.to_raw(), ints.len() as isize, ints.as_ptr())) }
}
/// Returns the values of a dense array of bools, or an empty list for any other attribute.
pub fn bool_list(a: Option<Attribute<'_>>) -> Vec<bool> {
    let Some(raw) = a.map(|a| a.to_raw()) else { return vec![] };
    // SAFETY: the attribute is alive, a dense array of bools, and read within its length.
    unsafe {
        let n = if mlirAttributeIsADenseBoolArray(raw) { mlirDenseArrayGetNumElements(raw) } else { 0 };
        (0..n).map(|i| mlirDenseBoolArrayGetElement(raw, i)).collect()
    }
}
pub fn float_attr(a: Attribute<'_>) -> f64 {
    // SAFETY: `a` is alive and a float.
    unsafe { mlirFloatAttrGetValueDouble(a.to_raw()) }
}
pub fn bool_attr(a: Attribute<'_>) -> bool {
    // SAFETY: `a` is alive and a bool.
    unsafe { mlirBoolAttrGetValue(a.to_raw()) }
}
pub fn string_attr<'c>(a: Attribute<'c>) -> &'c str {
    // SAFETY: attribute storage lives as long as the context.
    unsafe { raw_to_str(mlirStringAttrGetValue(a.to_raw())) }
}
pub fn i32s_attr(a: Attribute<'_>) -> Vec<i32> {
    // SAFETY: `a` is a DenseI32ArrayAttr, read within its length.
    unsafe {
        let n = mlirDenseArrayGetNumElements(a.to_raw());
        (0..n).map(|i| mlirDenseI32ArrayGetElement(a.to_raw(), i)).collect()
    }
}
pub fn i64s_attr(a: Attribute<'_>) -> Vec<i64> {
    // SAFETY: `a` is a DenseI64ArrayAttr, read within its length.
    unsafe {
        let n = mlirDenseArrayGetNumElements(a.to_raw());
        (0..n).map(|i| mlirDenseI64ArrayGetElement(a.to_raw(), i)).collect()
    }
}
/// Returns a list of numbers as a dense array attribute.
pub fn i64s_to_attr<'c>(context: &'c Context, values: &[i64]) -> Attribute<'c> {
    // SAFETY: the context is alive; MLIR copies the list.
    unsafe { Attribute::from_raw(mlirDenseI64ArrayGet(context.to_raw(), values.len() as isize, values.as_ptr())) }
}
/// The elements of an array attribute.
pub fn array_attr<'c>(a: Attribute<'c>) -> Vec<Attribute<'c>> {
    // SAFETY: `a` is an array, read within its length.
    unsafe {
        let n = mlirArrayAttrGetNumElements(a.to_raw());
        (0..n).map(|i| Attribute::from_raw(mlirArrayAttrGetElement(a.to_raw(), i))).collect()
    }
}
pub fn strings_attr<'c>(a: Attribute<'c>) -> Vec<&'c str> {
    array_attr(a).into_iter().map(string_attr).collect()
}
pub fn string_to_attr<'c>(context: &'c Context, text: &str) -> Attribute<'c> {
    StringAttribute::new(context, text).into()
}
/// Returns a list of strings as an array attribute.
pub fn strings_to_attr<'c>(context: &'c Context, texts: &[&str]) -> Attribute<'c> {
    let all: Vec<Attribute<'c>> = texts.iter().map(|text| string_to_attr(context, text)).collect();
    ArrayAttribute::new(context, &all).into()
}
/// Returns the first operand number and the length of operand group `index`.
pub fn segment(op: OpRef<'_>, index: usize) -> (usize, usize) {
    let a = attr(op, "operandSegmentSizes").expect("an op with operand segments has their sizes").to_raw();
    // SAFETY: the attribute is a DenseI32ArrayAttr with an element for each group.
    let at = |i: usize| unsafe { mlirDenseI32ArrayGetElement(a, i as isize) as usize };
    ((0..index).map(at).sum(), at(index))
}
/// The ops of a block, in order. During iteration, the current op may be erased, but not its successor.
pub fn ops_of(block: Blk<'_>) -> Ops<'_> {
    // SAFETY: `block` is alive.
    Ops { block, next: unsafe { mlirBlockGetFirstOperation(block.to_raw()) } }
}
/// The iterator of [`ops_of`].
#[derive(Clone)]
pub struct Ops<'c> {
    block: Blk<'c>,
    next: MlirOperation,
}
impl<'c> Iterator for Ops<'c> {
    type Item = OpRef<'c>;

    fn next(&mut self) -> Option<OpRef<'c>> {
        let current = self.next;
        (!current.ptr.is_null()).then(|| {
            // SAFETY: `current` is alive: it was read before the caller could erase it.
            self.next = unsafe { mlirOperationGetNextInBlock(current) };
            op_ref(current)
        })
    }

    /// Takes constant time if the block has a terminator.
    fn last(self) -> Option<OpRef<'c>> {
        // SAFETY: `block` is alive.
        let end = unsafe { mlirBlockGetTerminator(self.block.to_raw()) };
        if self.next.ptr.is_null() || end.ptr.is_null() {
            return self.fold(None, |_, op| Some(op));
        }
        Some(op_ref(end))
    }
}
/// The ops before an op in its block, nearest first.
pub fn ops_before<'c>(op: OpRef<'c>) -> impl Iterator<Item = OpRef<'c>> {
    // SAFETY: the op is alive.
    let before = |op: OpRef<'c>| unsafe { super::ffi::mlirxOperationPrev(op.to_raw()) };
    std::iter::successors(Some(op), move |op| Some(before(*op)).filter(|o| !o.ptr.is_null()).map(op_ref)).skip(1)
}
/// The identity of the block of an op.
pub fn block_of(op: OpRef<'_>) -> usize {
    // SAFETY: `op` is alive.
    unsafe { mlirOperationGetBlock(op.to_raw()).ptr as usize }
}
/// The identity of the block that defines a value.
pub fn home_of(v: Val<'_>) -> usize {
    match defining_op(v) {
        Some(op) => block_of(op),
        // SAFETY: `v` is a block argument of live IR.
        None => unsafe { mlirBlockArgumentGetOwner(v.to_raw()).ptr as usize },
    }
}
/// Returns the first block of a region, or `None` if the region is empty.
pub fn entry_block<'c>(region: Rgn<'c>) -> Option<Blk<'c>> {
    // SAFETY: `region` is alive.
    let raw = unsafe { mlirRegionGetFirstBlock(region.to_raw()) };
    // SAFETY: not null.
    (!raw.ptr.is_null()).then(|| unsafe { Blk::from_raw(raw) })
}
pub fn arg_count(block: Blk<'_>) -> usize {
    // SAFETY: `block` is alive.
    unsafe { mlirBlockGetNumArguments(block.to_raw()) as usize }
}
pub fn arg<'c>(block: Blk<'c>, i: usize) -> Val<'c> {
    assert!(i < arg_count(block), "block argument {i}");
    // SAFETY: `block` is alive and the index in range.
    val(unsafe { mlirBlockGetArgument(block.to_raw(), i as isize) })
}
pub fn args<'c>(block: Blk<'c>) -> impl ExactSizeIterator<Item = Val<'c>> + Clone {
    (0..arg_count(block)).map(move |i| arg(block, i))
}
pub fn ty<'c>(v: Val<'c>) -> Type<'c> {
    // SAFETY: `v` is alive.
    unsafe { Type::from_raw(mlirValueGetType(v.to_raw())) }
}
pub fn set_ty<'c>(v: Val<'c>, t: Type<'c>) {
    // SAFETY: `v` and `t` are alive.
    unsafe { mlirValueSetType(v.to_raw(), t.to_raw()) }
}
/// Returns the op that defines `v`, or `None` for a block argument.
pub fn defining_op<'c>(v: Val<'c>) -> Option<OpRef<'c>> {
    // SAFETY: `v` is alive.
    unsafe { mlirValueIsAOpResult(v.to_raw()).then(|| op_ref(mlirOpResultGetOwner(v.to_raw()))) }
}
pub fn parent_op<'c>(op: OpRef<'c>) -> Option<OpRef<'c>> {
    // SAFETY: `op` is alive.
    let raw = unsafe { mlirOperationGetParentOperation(op.to_raw()) };
    (!raw.ptr.is_null()).then(|| op_ref(raw))
}
pub fn replace_all_uses<'c>(of: Val<'c>, with: Val<'c>) {
    // SAFETY: both are alive.
    unsafe { mlirValueReplaceAllUsesOfWith(of.to_raw(), with.to_raw()) }
}
pub fn has_uses(v: Val<'_>) -> bool {
    // SAFETY: `v` is alive.
    unsafe { !mlirOpOperandIsNull(mlirValueGetFirstUse(v.to_raw())) }
}
/// Returns `(user, operand number)` of every use.
pub fn uses<'c>(v: Val<'c>) -> Vec<(OpRef<'c>, usize)> {
    let mut list = vec![];
    // SAFETY: `v` is alive and the use list is not changed while it is walked.
    unsafe {
        let mut u = mlirValueGetFirstUse(v.to_raw());
        while !mlirOpOperandIsNull(u) {
            list.push((op_ref(mlirOpOperandGetOwner(u)), mlirOpOperandGetOperandNumber(u) as usize));
            u = mlirOpOperandGetNextUse(u);
        }
    }
    list
}
/// Erases an op without remaining uses.
pub fn erase(op: OpRef<'_>) {
    // SAFETY: the caller gives up the op.
    unsafe { mlirOperationDestroy(op.to_raw()) }
}
/// Returns a detached copy, which uses the same outside values as the op.
pub fn clone_detached<'c>(op: OpRef<'c>) -> OpRef<'c> {
    // SAFETY: `op` is alive; the copy belongs to the caller.
    op_ref(unsafe { mlirOperationClone(op.to_raw()) })
}
pub fn move_before<'c>(op: OpRef<'c>, before: OpRef<'c>) {
    // SAFETY: both are alive and `before` is in a block.
    unsafe { mlirOperationMoveBefore(op.to_raw(), before.to_raw()) }
}
/// Returns the op after `op` in its block.
pub fn next_op<'c>(op: OpRef<'c>) -> Option<OpRef<'c>> {
    // SAFETY: `op` is alive and in a block.
    let next = unsafe { mlirOperationGetNextInBlock(op.to_raw()) };
    (!next.ptr.is_null()).then(|| op_ref(next))
}
/// Returns the attributes of an op with their names, inherent and discardable ones.
pub fn named_attrs<'c>(op: OpRef<'c>) -> Vec<(&'c str, Attribute<'c>)> {
    // SAFETY: `op` is alive; names and attributes live as long as the context.
    unsafe {
        let count = mlirOperationGetNumAttributes(op.to_raw());
        let named = (0..count).map(|i| mlirOperationGetAttribute(op.to_raw(), i));
        named.map(|a| (raw_to_str(mlirIdentifierStr(a.name)), Attribute::from_raw(a.attribute))).collect()
    }
}
/// Returns the location of a value: of its op, or of the block argument.
pub fn location_of<'c>(v: Val<'c>) -> Location<'c> {
    // SAFETY: `v` is alive.
    unsafe { Location::from_raw(mlirValueGetLocation(v.to_raw())) }
}
/// Replaces all operands of an op.
pub fn set_operands<'c>(op: OpRef<'c>, values: &[Val<'c>]) {
    // SAFETY: the op and the values are alive; `Value` is a transparent handle.
    unsafe { mlirOperationSetOperands(op.to_raw(), values.len() as isize, values.as_ptr() as *const _) }
}
/// Moves the blocks of `from` into the empty region `to`.
pub fn take_blocks<'c>(to: Rgn<'c>, from: Rgn<'c>) {
    // SAFETY: both regions are alive.
    unsafe { mlirRegionTakeBody(to.to_raw(), from.to_raw()) }
}
/// Erases the blocks of a region, of which no values are used outside.
pub fn erase_blocks(of: Rgn<'_>) {
    let erased = Region::new();
    // SAFETY: both regions are alive; the new one owns the blocks and is dropped with them.
    unsafe { mlirRegionTakeBody(erased.to_raw(), of.to_raw()) }
}
pub fn set_location<'c>(op: OpRef<'c>, location: Location<'c>) {
    // SAFETY: `op` and `location` are alive.
    unsafe { super::ffi::mlirxOperationSetLocation(op.to_raw(), location.to_raw()) }
}
/// Appends an argument to a block.
pub fn add_argument<'c>(block: Blk<'c>, t: Type<'c>, location: Location<'c>) -> Val<'c> {
    // SAFETY: block, type and location are alive.
    val(unsafe { mlirBlockAddArgument(block.to_raw(), t.to_raw(), location.to_raw()) })
}
/// The address of a value's storage: a key for maps.
/// Erases a block argument without uses.
pub fn erase_argument(block: Blk<'_>, i: usize) {
    assert!(!has_uses(arg(block, i)), "argument {i} has uses");
    // SAFETY: the block is alive, the index in range, and nothing refers to the argument.
    unsafe { mlirBlockEraseArgument(block.to_raw(), i as u32) }
}
pub fn key(v: Val<'_>) -> usize {
    v.to_raw().ptr as usize
}
pub fn op_key(op: OpRef<'_>) -> usize {
    op.to_raw().ptr as usize
}
/// Returns the block that contains an op, or `None` if the op is detached.
pub fn block_around<'c>(op: OpRef<'c>) -> Option<Blk<'c>> {
    // SAFETY: the op is alive.
    let raw = unsafe { mlirOperationGetBlock(op.to_raw()) };
    // SAFETY: the block is alive as long as it contains the op.
    (!raw.ptr.is_null()).then(|| unsafe { Blk::from_raw(raw) })
}
/// The identity of a block.
pub fn block_key(block: Blk<'_>) -> usize {
    block.to_raw().ptr as usize
}
/// Returns the block after `block` in its region.
pub fn next_block<'c>(block: Blk<'c>) -> Option<Blk<'c>> {
    // SAFETY: `block` is alive.
    let next = unsafe { mlirBlockGetNextInRegion(block.to_raw()) };
    // SAFETY: not null.
    (!next.ptr.is_null()).then(|| unsafe { Blk::from_raw(next) })
}
/// Returns the block that `v` is an argument of.
pub fn owner_of<'c>(v: Val<'c>) -> Blk<'c> {
    assert!(defining_op(v).is_none(), "a block argument");
    // SAFETY: `v` is a block argument of live IR.
    unsafe { Blk::from_raw(mlirBlockArgumentGetOwner(v.to_raw())) }
}
/// Returns the op whose region contains `block`.
pub fn parent_of_block<'c>(block: Blk<'c>) -> Option<OpRef<'c>> {
    // SAFETY: `block` is alive.
    let raw = unsafe { mlirBlockGetParentOperation(block.to_raw()) };
    (!raw.ptr.is_null()).then(|| op_ref(raw))
}
/// Visits `op` and every op inside it, parents first.
pub fn walk<'c>(op: OpRef<'c>, f: &mut impl FnMut(OpRef<'c>)) {
    f(op);
    for i in 0..region_count(op) {
        let mut block = entry_block(region(op, i));
        while let Some(b) = block {
            for inner in ops_of(b) {
                walk(inner, f);
            }
            block = next_block(b);
        }
    }
}

/// Collects, in program order, the results of `select` that are `Some` for `root` and the ops in it.
pub fn collect_ops<'c, T>(root: OpRef<'c>, select: impl Fn(OpRef<'c>) -> Option<T>) -> Vec<T> {
    let mut found = vec![];
    walk(root, &mut |o| found.extend(select(o)));
    found
}

/// Detaches and returns the body of an op.
pub fn take_body(op: OpRef<'_>) -> Region<'_> {
    let body = Region::new();
    // SAFETY: both regions are alive; the blocks change owners.
    unsafe { mlirRegionTakeBody(body.to_raw(), mlirOperationGetRegion(op.to_raw(), 0)) };
    body
}

/// The description of an op before its creation.
pub struct OperationState<'c> {
    raw: MlirOperationState,
    context: &'c Context,
    name: String,
}
impl<'c> OperationState<'c> {
    pub fn context(&self) -> &'c Context {
        self.context
    }
    pub fn results(&mut self, t: &[Type<'c>]) {
        // SAFETY: `Type` is a transparent handle.
        unsafe { mlirOperationStateAddResults(&mut self.raw, t.len() as isize, t.as_ptr() as *const _) }
    }
    pub fn operands(&mut self, v: &[Val<'c>]) {
        // SAFETY: `Value` is a transparent handle.
        unsafe { mlirOperationStateAddOperands(&mut self.raw, v.len() as isize, v.as_ptr() as *const _) }
    }
    pub fn attr(&mut self, name: &str, a: Attribute<'c>) {
        // SAFETY: context and attribute are alive.
        unsafe {
            let id = mlirIdentifierGet(self.context.to_raw(), raw_str(name));
            mlirOperationStateAddAttributes(&mut self.raw, 1, &mlirNamedAttributeGet(id, a.to_raw()))
        }
    }
    pub fn segments(&mut self, sizes: &[i32]) {
        // SAFETY: the context is alive.
        let a = unsafe {
            Attribute::from_raw(mlirDenseI32ArrayGet(self.context.to_raw(), sizes.len() as isize, sizes.as_ptr()))
        };
        self.attr("operandSegmentSizes", a)
    }
    pub fn region(&mut self, r: Region<'c>) {
        let raw = r.into_raw();
        // SAFETY: the op takes ownership of the region.
        unsafe { mlirOperationStateAddOwnedRegions(&mut self.raw, 1, &raw) }
    }
    pub fn successors(&mut self, s: &[Blk<'c>]) {
        // SAFETY: `BlockRef` is a transparent handle.
        unsafe { mlirOperationStateAddSuccessors(&mut self.raw, s.len() as isize, s.as_ptr() as *const _) }
    }
    pub fn infer(&mut self) {
        // SAFETY: plain state.
        unsafe { mlirOperationStateEnableResultTypeInference(&mut self.raw) }
    }
}

/// An insertion point, before an anchor op or at the end of a block, and the location of new ops.
pub struct Builder<'c> {
    context: &'c Context,
    block: Cell<MlirBlock>,
    anchor: Cell<MlirOperation>,
    location: Cell<MlirLocation>,
}
const END: MlirOperation = MlirOperation { ptr: std::ptr::null_mut() };
impl<'c> Builder<'c> {
    pub fn at_end(context: &'c Context, block: Blk<'c>, location: Location<'c>) -> Self {
        Self {
            context,
            block: Cell::new(block.to_raw()),
            anchor: Cell::new(END),
            location: Cell::new(location.to_raw()),
        }
    }
    pub fn before(context: &'c Context, op: OpRef<'c>) -> Self {
        let b = Self {
            context,
            block: Cell::new(MlirBlock { ptr: std::ptr::null_mut() }),
            anchor: Cell::new(END),
            location: Cell::new(op.location().to_raw()),
        };
        b.set_before(op);
        b
    }
    pub fn set_before(&self, op: OpRef<'c>) {
        // SAFETY: `op` is alive.
        self.block.set(unsafe { mlirOperationGetBlock(op.to_raw()) });
        self.anchor.set(op.to_raw());
    }
    pub fn set_after(&self, op: OpRef<'c>) {
        // SAFETY: `op` is alive.
        unsafe {
            self.block.set(mlirOperationGetBlock(op.to_raw()));
            self.anchor.set(mlirOperationGetNextInBlock(op.to_raw()));
        }
    }
    pub fn set_start(&self, block: Blk<'c>) {
        self.block.set(block.to_raw());
        // SAFETY: `block` is alive.
        self.anchor.set(unsafe { mlirBlockGetFirstOperation(block.to_raw()) });
    }
    pub fn set_end(&self, block: Blk<'c>) {
        self.block.set(block.to_raw());
        self.anchor.set(END);
    }
    pub fn set_location(&self, location: Location<'c>) {
        self.location.set(location.to_raw())
    }
    pub fn location(&self) -> Location<'c> {
        // SAFETY: locations live as long as the context.
        unsafe { Location::from_raw(self.location.get()) }
    }
    pub fn context(&self) -> &'c Context {
        self.context
    }
    pub fn block(&self) -> Blk<'c> {
        // SAFETY: the insertion block is alive.
        unsafe { Blk::from_raw(self.block.get()) }
    }
    pub fn unit(&self) -> Attribute<'c> {
        // SAFETY: the context is alive.
        unsafe { Attribute::from_raw(mlirUnitAttrGet(self.context.to_raw())) }
    }
    pub fn state(&self, name: &str) -> OperationState<'c> {
        // SAFETY: MLIR copies the name.
        let raw = unsafe { mlirOperationStateGet(raw_str(name), self.location.get()) };
        OperationState { raw, context: self.context, name: name.to_string() }
    }
    /// Creates the op at the insertion point.
    pub fn insert(&self, mut s: OperationState<'c>) -> Result<OpRef<'c>, BuildError> {
        // The state holds a pointer to the name, which may have moved.
        s.raw.name = raw_str(&s.name);
        // SAFETY: the state is complete; a null result is a failed inference.
        unsafe {
            let op = mlirOperationCreate(&mut s.raw);
            if op.ptr.is_null() {
                return Err(BuildError(s.name));
            }
            mlirBlockInsertOwnedOperationBefore(self.block.get(), self.anchor.get(), op);
            Ok(op_ref(op))
        }
    }
    /// Inserts a detached op at the insertion point.
    pub fn insert_op(&self, op: OpRef<'c>) {
        // SAFETY: the op has no owner yet; the block becomes its owner.
        unsafe { mlirBlockInsertOwnedOperationBefore(self.block.get(), self.anchor.get(), op.to_raw()) }
    }
    /// Creates an op by name, for dialects without generated views. This never fails, because the result types are
    /// given.
    pub fn create(
        &self,
        name: &str,
        results: &[Type<'c>],
        operands: &[Val<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> OpRef<'c> {
        let mut s = self.state(name);
        s.results(results);
        s.operands(operands);
        for (n, a) in attributes {
            s.attr(n, *a)
        }
        self.insert(s).expect("no inference asked for")
    }
    /// [`Builder::create`] for an op with one result, which it returns.
    pub fn value(
        &self,
        name: &str,
        ty: Type<'c>,
        operands: &[Val<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> Val<'c> {
        result(self.create(name, &[ty], operands, attributes), 0)
    }
}

/// Appends a block with arguments to `region`.
pub fn append_block<'c>(region: &Region<'c>, types: &[Type<'c>], location: Location<'c>) -> Blk<'c> {
    let args: Vec<(Type<'c>, Location<'c>)> = types.iter().map(|t| (*t, location)).collect();
    append_block_at(region, &args)
}
/// [`append_block`] with a location for each argument.
pub fn append_block_at<'c>(region: &Region<'c>, args: &[(Type<'c>, Location<'c>)]) -> Blk<'c> {
    let block = region.append_block(melior::ir::Block::new(args));
    // SAFETY: the block lives in the region, which its op will own.
    unsafe { Blk::from_raw(block.to_raw()) }
}
