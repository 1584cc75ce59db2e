//! The data model: a decoded file, without MLIR.
//!
//! A [`Module`] keeps the pools of the file (strings, types, constants, debug attributes) in their order, so that
//! writing what was read gives the same bytes. Operations are stored once for all versions: a field that the file's
//! version does not have holds its default, and a result that it does not have exists without a wire number.

use crate::body::Body;
use crate::error::SectionId;
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
    /// An operation of a function: where its words start. Only comparisons mean something outside of this crate.
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

/// Element types. All but `fnv8E5M3FNU` are built into MLIR.
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
    FNV8E5M3FNU,
}

/// A type; components are indices into the type pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Scalar(Scalar),
    Token,
    Pointer {
        pointee: TypeId,
        /// Index into [`schema::POINTER_KIND`](crate::schema::POINTER_KIND).
        attr: Option<u32>,
    },
    Tile {
        element: TypeId,
        shape: Box<[i64]>,
    },
    /// Sizes and strides (in elements) use [`DYNAMIC`] for `?`.
    TensorView {
        element: TypeId,
        shape: Box<[i64]>,
        strides: Box<[i64]>,
        /// As of a pointer.
        attr: Option<u32>,
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
    /// An [`Attr::Array`] of dictionaries that is not empty. Since 13.5.
    pub arg_attrs: Option<AttrId>,
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
        self.body.forget_locations();
        self
    }
}

/// A debug attribute; `None` stands for an unknown location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DebugAttr {
    Unknown,
    CompileUnit {
        file: Option<DebugId>,
    },
    File {
        name: StringId,
        directory: StringId,
    },
    LexicalBlock {
        scope: Option<DebugId>,
        file: Option<DebugId>,
        line: u64,
        column: u64,
    },
    Loc {
        scope: Option<DebugId>,
        file: StringId,
        line: u64,
        column: u64,
    },
    Subprogram(Box<Subprogram>),
    CallSite {
        callee: Option<DebugId>,
        caller: Option<DebugId>,
    },
    /// The four below are the records of the specification container, where it has its own; see [`crate::forms`].
    SpecCompileUnit {
        file: Option<DebugId>,
        producer: StringId,
        flags: u64,
    },
    SpecLoc {
        scope: Option<DebugId>,
        file: Option<DebugId>,
        line: u64,
        column: u64,
        inlined_at: Option<DebugId>,
    },
    SpecSubprogram(Box<SpecSubprogram>),
    SpecCallSite {
        callee: Option<DebugId>,
        caller: Option<DebugId>,
        line: u64,
        column: u64,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpecSubprogram {
    pub unit: Option<DebugId>,
    pub name: StringId,
    pub linkage: StringId,
    /// What the subprogram is in: a file, a unit, a block or another subprogram.
    pub scope: Option<DebugId>,
    pub line: u64,
    pub flags: u64,
    pub purpose: u64,
    pub sp_flags: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subprogram {
    pub file: Option<DebugId>,
    pub line: u64,
    pub name: StringId,
    pub linkage: StringId,
    pub unit: Option<DebugId>,
    pub scope_line: u64,
    /// Since 13.5. Nobody gives the bits a meaning, so they are kept and no more.
    pub flags: u64,
}
