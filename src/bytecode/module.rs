//! The data model: a decoded file, without MLIR.
//!
//! A [`Module`] keeps the pools of the file (strings, types, constants, debug attributes) in their order, so that writing what
//! was read gives the same bytes. Operations are stored once for all versions: a field that the file's version does not have
//! holds its default, and a result that it does not have exists without a wire number.
//!
//! # Memory layout of a body
//!
//! Reading must stay small (a two-byte record must not become a hundred bytes), so a body is three flat arrays. [`OpData`] is
//! a fixed header per operation, in pre-order: an operation is followed by the operations of its regions. Everything of
//! variable length is in `words`:
//!
//! ```text
//! [region][present][result count][operand counts ...][attributes ...][result types ...][operands ...]
//!    |        |          |              |                  |
//!    |        |          |              |                  one word for each attribute but unit attributes
//!    |        |          |              one for each variadic group (segmented), or the total (other variadic operations)
//!    |        |          only if a result is variadic
//!    |        bit set of optional attributes and operands, in the schema's flag order; only if there are any
//!    index of the first region; only if the operation has regions
//! ```
//!
//! Worked example: `%5 = addi %3, %4` with overflow `none` and result type 2 is the words `[0, 2, 3, 4]`.
//!
//! Values are numbered for the whole function and never reused: arguments first, then block arguments and results as they
//! are completed. The wire's stack-like numbers are a matter of reader and writer.

use crate::error::SectionId;
use crate::schema::{self, Arity, AttrKind, NO_BIT, OpSpec};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A bytecode version. Only major and minor select a format; any tag is accepted and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    pub major: u8,
    pub minor: u8,
    pub tag: u32,
}

impl Version {
    pub const fn new(major: u8, minor: u8) -> Self {
        Version { major, minor, tag: 0 }
    }

    /// Whether this version has what `since` introduced.
    pub const fn at_least(self, since: Version) -> bool {
        self.major > since.major || (self.major == since.major && self.minor >= since.minor)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// Index into [`Module::strings`].
    StringId,
    /// Index into [`Module::types`].
    TypeId,
    /// Index into [`Module::constants`].
    ConstantId,
    /// Index into [`Module::attrs`].
    AttrId,
    /// Index into [`Module::debug`].
    DebugId,
    /// A value of a function.
    ValueId,
    /// Index into [`Body::ops`].
    OpId,
}

/// Variable-length byte strings, end to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blobs {
    data: Vec<u8>,
    ends: Vec<u32>,
}

impl Blobs {
    pub fn with_capacity(count: usize, bytes: usize) -> Self {
        Blobs { data: Vec::with_capacity(bytes), ends: Vec::with_capacity(count) }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn push(&mut self, blob: &[u8]) -> u32 {
        self.data.extend_from_slice(blob);
        self.ends.push(self.data.len() as u32);
        self.ends.len() as u32 - 1
    }

    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |p| self.ends[p] as usize);
        Some(&self.data[start..end])
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.get(i).expect("the index is in range"))
    }
}

/// A decoded bytecode file.
#[derive(Clone, Debug)]
pub struct Module {
    pub version: Version,
    pub producer: Option<StringId>,
    pub strings: Blobs,
    pub types: Vec<TypeEntry>,
    /// Types past this index are not in the file: fields newer than the file needed them. A writer drops them if the
    /// target does not need them either.
    pub declared_types: usize,
    /// Raw little-endian elements, row-major; `i1` packed, least significant bit first. One element alone is a splat.
    pub constants: Blobs,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    pub debug: Vec<DebugAttr>,
    /// Attributes that do not fit in a word, each once.
    pub attrs: AttrPool,
    /// How the file was laid out, where producers differ.
    pub layout: Layout,
}

/// Choices that the format leaves to the producer. The default is the reference writer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Order of the sections.
    pub order: Vec<SectionId>,
    /// The Function section is padded to eight bytes.
    pub pad_functions: bool,
}

/// The reference writer's order of sections.
pub const REFERENCE_ORDER: [SectionId; 7] = [
    SectionId::Global,
    SectionId::Func,
    SectionId::Constant,
    SectionId::Debug,
    SectionId::Type,
    SectionId::Producer,
    SectionId::String,
];

impl Default for Layout {
    fn default() -> Self {
        Layout { order: REFERENCE_ORDER.to_vec(), pad_functions: true }
    }
}

impl Module {
    pub fn new(version: Version) -> Self {
        Module {
            version,
            producer: None,
            strings: Blobs::default(),
            types: Vec::new(),
            declared_types: 0,
            constants: Blobs::default(),
            globals: Vec::new(),
            functions: Vec::new(),
            debug: Vec::new(),
            attrs: AttrPool::default(),
            layout: Layout::default(),
        }
    }

    /// Bytes of a string; empty if the index is out of range.
    pub fn string(&self, id: StringId) -> &[u8] {
        self.strings.get(id.index()).unwrap_or_default()
    }

    /// A string for people: invalid UTF-8 is replaced.
    pub fn text(&self, id: StringId) -> String {
        String::from_utf8_lossy(self.string(id)).into_owned()
    }

    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.index()].ty
    }

    pub fn attr(&self, id: AttrId) -> &Attr {
        self.attrs.get(id)
    }
}

/// A type and the offset of its record in the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeEntry {
    pub ty: Type,
    pub offset: u32,
}

/// Element types that are built into MLIR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Scalar {
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    F16,
    BF16,
    F32,
    TF32,
    F64,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F4E2M1FN,
}

/// A type; components are indices into the type pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Scalar(Scalar),
    Token,
    Pointer(TypeId),
    Tile {
        element: TypeId,
        shape: Box<[i64]>,
    },
    /// Sizes and strides (in elements) use [`DYNAMIC`] for `?`.
    TensorView {
        element: TypeId,
        shape: Box<[i64]>,
        strides: Box<[i64]>,
    },
    PartitionView(Box<PartitionView>),
    GatherScatterView(Box<GatherScatterView>),
    StridedView(Box<StridedView>),
    Function {
        inputs: Box<[TypeId]>,
        results: Box<[TypeId]>,
    },
}

/// `?` among sizes and strides.
pub const DYNAMIC: i64 = i64::MIN;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionView {
    pub tile: Box<[i32]>,
    pub view: TypeId,
    pub dim_map: Box<[i32]>,
    /// Index into [`schema::PADDING`].
    pub padding: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GatherScatterView {
    pub tile: Box<[i32]>,
    pub view: TypeId,
    pub sparse_dim: u32,
    pub padding: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StridedView {
    pub tile: Box<[i32]>,
    pub traversal_strides: Box<[i32]>,
    pub view: TypeId,
    pub dim_map: Box<[i32]>,
    pub padding: Option<u32>,
}

/// A self-contained attribute, or an array that an operation holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attr {
    /// The value is the zero-extended bit pattern.
    Integer {
        ty: TypeId,
        value: u64,
    },
    /// The value is the zero-extended bit pattern.
    Float {
        ty: TypeId,
        bits: u64,
    },
    Bool(bool),
    Type(TypeId),
    String(StringId),
    Array(Box<[Attr]>),
    Dense(Box<Dense>),
    DivBy(Box<DivBy>),
    SameElements(Box<[i64]>),
    Dictionary(Box<[(StringId, Attr)]>),
    Hints(Box<[(StringId, Attr)]>),
    Bounded(Box<Bounded>),
    /// Payload of an `i32s` field.
    I32s(Box<[i32]>),
    /// Specification container only.
    I64s(Box<[i64]>),
    /// Specification container only.
    DenseStrings(Box<DenseStrings>),
}

/// Elements with their type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dense {
    /// Without a shape, the type of the whole (a tile type); with one, the element type.
    pub ty: TypeId,
    pub shape: Option<Box<[i64]>>,
    pub constant: ConstantId,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DivBy {
    pub divisor: u64,
    pub every: Option<i64>,
    pub along: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bounded {
    pub lower: Option<i64>,
    pub upper: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DenseStrings {
    pub shape: Box<[i64]>,
    pub strings: Box<[StringId]>,
}

/// Interned attributes.
#[derive(Clone, Debug, Default)]
pub struct AttrPool(IndexSet<Attr, FxBuildHasher>);

impl AttrPool {
    pub fn intern(&mut self, attr: Attr) -> AttrId {
        AttrId(self.0.insert_full(attr).0 as u32)
    }

    pub fn get(&self, id: AttrId) -> &Attr {
        &self.0[id.index()]
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    pub name: StringId,
    pub ty: TypeId,
    pub value: ConstantId,
    /// In bytes; 0 means natural alignment.
    pub alignment: u64,
    pub private: bool,
    pub constant: bool,
    pub offset: u32,
}

/// An entry: the only kind of function a file may hold.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: StringId,
    pub signature: TypeId,
    pub private: bool,
    /// An [`Attr::Hints`].
    pub hints: Option<AttrId>,
    /// `None`: no locations for the whole function. `Some(None)`: unknown.
    pub location: Option<Option<DebugId>>,
    pub body: Body,
    pub offset: u32,
}

impl Function {
    /// The function without any location.
    #[must_use]
    pub fn without_locations(mut self) -> Self {
        self.location = None;
        self.body.locations = Vec::new();
        self
    }
}

/// A debug attribute; `None` stands for an unknown location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DebugAttr {
    Unknown,
    CompileUnit { file: Option<DebugId> },
    File { name: StringId, directory: StringId },
    LexicalBlock { scope: Option<DebugId>, file: Option<DebugId>, line: u64, column: u64 },
    Loc { scope: Option<DebugId>, file: StringId, line: u64, column: u64 },
    Subprogram(Box<Subprogram>),
    CallSite { callee: Option<DebugId>, caller: Option<DebugId> },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subprogram {
    pub file: Option<DebugId>,
    pub line: u64,
    pub name: StringId,
    pub linkage: StringId,
    pub unit: Option<DebugId>,
    pub scope_line: u64,
}

/// Header of one operation.
#[derive(Clone, Copy, Debug)]
pub struct OpData {
    /// Where the operation's words start.
    pub words: u32,
    /// Offset of the record in the file.
    pub offset: u32,
    /// First result; the others follow. Set when the operation is complete.
    pub first_result: u32,
    pub opcode: u8,
}

/// A region: one block, an index into [`Body::blocks`], or none (the missing `else` of an `if`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region(pub Option<u32>);

/// A block: its argument types are in `words`, its operations are `[first_op, end_op)` without those nested deeper.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub words: u32,
    pub args: u32,
    pub first_arg: u32,
    pub first_op: u32,
    pub end_op: u32,
}

/// Operations of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    pub(crate) ops: Vec<OpData>,
    pub(crate) words: Vec<u32>,
    /// Integers of attributes that need more than 31 bits.
    pub(crate) wide: Vec<u64>,
    pub(crate) regions: Vec<Region>,
    pub(crate) blocks: Vec<Block>,
    /// For each operation a debug attribute index plus one, or 0 for unknown; empty if the function has no locations.
    pub(crate) locations: Vec<u32>,
    /// Number of values.
    pub(crate) values: u32,
    /// Number of function arguments (values 0 and up).
    pub(crate) arguments: u32,
}

/// In an integer's word: the value is in [`Body::wide`].
pub(crate) const WIDE: u32 = 1 << 31;

/// Value of one attribute of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrValue {
    /// Index into the keywords.
    Enum(u32),
    Int(u64),
    Bool(bool),
    Unit,
    Str(StringId),
    Sym(StringId),
    Type(TypeId),
    Dense(ConstantId),
    /// [`Attr::I32s`], [`Attr::Array`], [`Attr::Hints`] or, for a tagged field, any attribute.
    Attr(AttrId),
}

impl Body {
    pub fn op(&self, id: OpId) -> OpRef<'_> {
        let data = &self.ops[id.index()];
        let spec = schema::lookup(u64::from(data.opcode)).expect("bodies hold known opcodes only");
        OpRef { body: self, id, data, spec }
    }

    /// Operations of the function's own block, in order.
    pub fn top_level(&self) -> BlockOps<'_> {
        BlockOps { body: self, next: 0, end: self.ops.len() as u32 }
    }

    /// Number of operations, nested ones included.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Number of values; every [`ValueId`] of the body is below it.
    pub fn value_count(&self) -> usize {
        self.values as usize
    }

    /// The function's arguments.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = ValueId> + use<> {
        (0..self.arguments).map(ValueId)
    }

    /// Whether operations have locations.
    pub fn has_locations(&self) -> bool {
        !self.locations.is_empty()
    }

    /// All operations, in pre-order.
    pub fn all_ops(&self) -> impl ExactSizeIterator<Item = OpRef<'_>> {
        (0..self.ops.len() as u32).map(|i| self.op(OpId(i)))
    }

    pub(crate) fn int_word(&mut self, v: u64) -> u32 {
        if v < u64::from(WIDE) {
            return v as u32;
        }
        self.wide.push(v);
        (self.wide.len() as u32 - 1) | WIDE
    }

    fn int(&self, word: u32) -> u64 {
        if word & WIDE == 0 { u64::from(word) } else { self.wide[(word & !WIDE) as usize] }
    }
}

/// Operations of one block.
pub struct BlockOps<'a> {
    body: &'a Body,
    next: u32,
    end: u32,
}

impl<'a> Iterator for BlockOps<'a> {
    type Item = OpRef<'a>;

    fn next(&mut self) -> Option<OpRef<'a>> {
        if self.next >= self.end {
            return None;
        }
        let op = self.body.op(OpId(self.next));
        self.next = op.subtree_end();
        Some(op)
    }
}

/// A view of one operation.
#[derive(Clone, Copy)]
pub struct OpRef<'a> {
    pub body: &'a Body,
    pub id: OpId,
    pub data: &'a OpData,
    pub spec: &'static OpSpec,
}

impl<'a> OpRef<'a> {
    fn word(&self, i: usize) -> u32 {
        self.body.words[self.data.words as usize + i]
    }

    fn slice(&self, start: usize, len: usize) -> &'a [u32] {
        &self.body.words[self.data.words as usize + start..][..len]
    }

    fn results_at(&self) -> usize {
        self.spec.head_words() + self.spec.attr_words as usize
    }

    fn operands_at(&self) -> usize {
        self.results_at() + self.result_count()
    }

    /// Type of the first result while the operation is still being read.
    pub(crate) fn first_pushed_type(&self) -> Option<TypeId> {
        self.body.words.get(self.data.words as usize + self.results_at()).map(|&w| TypeId(w))
    }

    /// Bit set of present optional fields, in the schema's flag order.
    pub fn present(&self) -> u32 {
        if self.spec.bits > 0 { self.word((self.spec.regions > 0) as usize) } else { 0 }
    }

    pub fn result_count(&self) -> usize {
        if self.spec.variadic_results {
            self.word(self.spec.result_count_at()) as usize
        } else {
            self.spec.results.len()
        }
    }

    pub fn result_types(&self) -> impl ExactSizeIterator<Item = TypeId> + use<'a> {
        self.slice(self.results_at(), self.result_count()).iter().map(|&w| TypeId(w))
    }

    pub fn results(&self) -> impl ExactSizeIterator<Item = ValueId> + use<'a> {
        let first = self.data.first_result;
        (first..first + self.result_count() as u32).map(ValueId)
    }

    /// Number of operands in each group of the schema.
    pub fn group_len(&self, group: usize) -> usize {
        let field = &self.spec.operands[group];
        match field.arity {
            Arity::One => 1,
            Arity::Optional => (self.present() >> self.spec.operand_bits[group] & 1) as usize,
            Arity::Variadic if self.spec.segmented => {
                let before = self.spec.operands[..group].iter().filter(|f| f.arity == Arity::Variadic).count();
                self.word(self.spec.counts_at() + before) as usize
            }
            Arity::Variadic => self.word(self.spec.counts_at()) as usize - self.spec.fixed_operands(),
        }
    }

    pub fn operand_count(&self) -> usize {
        if self.spec.segmented {
            (0..self.spec.operands.len()).map(|g| self.group_len(g)).sum()
        } else if self.spec.count_words > 0 {
            self.word(self.spec.counts_at()) as usize
        } else {
            self.spec.operands.len()
        }
    }

    pub fn operands(&self) -> impl ExactSizeIterator<Item = ValueId> + use<'a> {
        self.slice(self.operands_at(), self.operand_count()).iter().map(|&w| ValueId(w))
    }

    /// Whether the optional attribute is there; required ones always are.
    pub fn has_attr(&self, index: usize) -> bool {
        let bit = self.spec.attr_bits[index];
        bit == NO_BIT || self.present() >> bit & 1 != 0
    }

    /// Attribute `index` of the schema, if present.
    pub fn attr(&self, index: usize) -> Option<AttrValue> {
        if index >= self.spec.attrs.len() || !self.has_attr(index) {
            return None;
        }
        let attrs = self.spec.attrs;
        let before = attrs[..index].iter().filter(|a| a.kind != AttrKind::Unit).count();
        let word = || self.word(self.spec.head_words() + before);
        Some(match attrs[index].kind {
            AttrKind::Enum(_) => AttrValue::Enum(word()),
            AttrKind::I32 | AttrKind::I64 => AttrValue::Int(self.body.int(word())),
            AttrKind::Bool => AttrValue::Bool(word() != 0),
            AttrKind::Unit => AttrValue::Unit,
            AttrKind::Str => AttrValue::Str(StringId(word())),
            AttrKind::Sym => AttrValue::Sym(StringId(word())),
            AttrKind::Type => AttrValue::Type(TypeId(word())),
            AttrKind::Dense => AttrValue::Dense(ConstantId(word())),
            AttrKind::I32s | AttrKind::Array | AttrKind::Hints | AttrKind::Tagged => AttrValue::Attr(AttrId(word())),
        })
    }

    pub fn regions(&self) -> &'a [Region] {
        if self.spec.regions == 0 {
            return &[];
        }
        &self.body.regions[self.word(0) as usize..][..self.spec.regions]
    }

    /// The region's block.
    pub fn block(&self, region: Region) -> Option<&'a Block> {
        region.0.map(|b| &self.body.blocks[b as usize])
    }

    /// Index of the first operation after this one and all that it contains.
    pub fn subtree_end(&self) -> u32 {
        let last = self.regions().iter().rev().find_map(|r| r.0);
        last.map_or(self.id.0 + 1, |b| self.body.blocks[b as usize].end_op)
    }

    /// Debug attribute of the operation's location.
    pub fn location(&self) -> Option<DebugId> {
        self.body.locations.get(self.id.index())?.checked_sub(1).map(DebugId)
    }

    /// Offset of the record in the file.
    pub fn offset(&self) -> usize {
        self.data.offset as usize
    }
}

impl Block {
    pub fn arg_types<'a>(&self, body: &'a Body) -> impl ExactSizeIterator<Item = TypeId> + use<'a> {
        body.words[self.words as usize..][..self.args as usize].iter().map(|&w| TypeId(w))
    }

    pub fn args(&self) -> impl ExactSizeIterator<Item = ValueId> + use<> {
        (self.first_arg..self.first_arg + self.args).map(ValueId)
    }

    pub fn ops<'a>(&self, body: &'a Body) -> BlockOps<'a> {
        BlockOps { body, next: self.first_op, end: self.end_op }
    }
}
