//! The data model: a decoded file, without MLIR.
//!
//! A [`Module`] keeps the file's pools (strings, types, constants, debug attributes) in their order, so writing an
//! unchanged module reproduces the file. Operations are stored in one form for all versions: a field that the file's
//! version lacks holds its default, and a result that it lacks exists without a wire number.

use crate::body::Body;
use crate::error::SectionId;
use crate::preview::{Fragment, Implementation, Preview};
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

    /// Whether this version includes features introduced in `since`.
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
    /// An operation of a function: the index of its first word. Outside this crate only comparisons are meaningful.
    OpId,
}

/// Variable-length byte strings, stored contiguously.
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
    /// Number of types that the file declares. Later types are not in the file: they were added for fields that are
    /// newer than it. The writer drops them if the target version does not need them either.
    pub declared_types: usize,
    /// Raw little-endian elements, row-major; `i1` elements are packed, least significant bit first. A single element
    /// is a splat.
    pub constants: Blobs,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    /// The records of a tile library by the index of their function, in ascending order. Other functions are entries.
    pub library: Vec<(u32, LibraryFunction)>,
    pub debug: Vec<DebugAttr>,
    /// Attributes that do not fit in a word, interned.
    pub attrs: AttrPool,
    /// Layout choices of the producer.
    pub layout: Layout,
}

/// Layout choices that the format leaves to the producer. The default is the reference writer's layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Order of the sections.
    pub order: Vec<SectionId>,
    /// Whether the Function section is padded to eight bytes.
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
            library: Vec::new(),
            debug: Vec::new(),
            attrs: AttrPool::default(),
            layout: Layout::default(),
        }
    }

    /// Bytes of a string; empty if the index is out of range.
    pub fn string(&self, id: StringId) -> &[u8] {
        self.strings.get(id.index()).unwrap_or_default()
    }

    /// The string with invalid UTF-8 replaced, for messages.
    pub fn text(&self, id: StringId) -> String {
        String::from_utf8_lossy(self.string(id)).into_owned()
    }

    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.index()].ty
    }

    pub fn attr(&self, id: AttrId) -> &Attr {
        self.attrs.get(id)
    }

    /// The record of function `index`, if it belongs to a tile library.
    pub fn library_function(&self, index: usize) -> Option<&LibraryFunction> {
        let found = self.library.binary_search_by_key(&index, |(i, _)| *i as usize);
        found.ok().map(|i| &self.library[i].1)
    }
}

/// A type and the offset of its record in the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeEntry {
    pub ty: Type,
    pub offset: u32,
}

/// Element types. All except `fnv8E5M3FNU` are MLIR builtin types.
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
        /// As for a pointer.
        attr: Option<u32>,
    },
    PartitionView(Box<PartitionView>),
    GatherScatterView(Box<GatherScatterView>),
    StridedView(Box<StridedView>),
    Function {
        inputs: Box<[TypeId]>,
        results: Box<[TypeId]>,
    },
    /// An element type that a constant parameter names.
    Symbolic(Preview),
    Fragment(Box<Fragment>),
    /// Kinds of constant parameters: element types, shapes, strings, integers, and the wildcard.
    Datatype,
    Shape,
    Text,
    Index,
    None,
}

/// The value of `?` in sizes and strides.
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
    Preview(Box<Preview>),
    /// Payload of an `i32s` field.
    I32s(Box<[i32]>),
    /// Specification container only.
    I64s(Box<[i64]>),
    /// Specification container only.
    DenseStrings(Box<DenseStrings>),
}

/// Elements and their type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dense {
    /// If `shape` is `None`, the type of the whole (a tile type); otherwise the element type.
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

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Attr> {
        self.0.iter()
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

/// An entry function, or a record of a tile library, which has no body.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: StringId,
    pub signature: TypeId,
    pub private: bool,
    /// An [`Attr::Hints`].
    pub hints: Option<AttrId>,
    /// A non-empty [`Attr::Array`] of dictionaries. Since 13.5.
    pub arg_attrs: Option<AttrId>,
    /// `None`: the function has no locations at all. `Some(None)`: its location is unknown.
    pub location: Option<Option<DebugId>>,
    pub body: Body,
    pub offset: u32,
}

/// A record of a tile library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryFunction {
    /// The declaration of a function with its constant parameters.
    Extern(Box<[Attr]>),
    /// The description of a function of the library's code.
    Implementation(Implementation),
}

impl Function {
    /// Returns the function without any locations.
    #[must_use]
    pub fn without_locations(mut self) -> Self {
        self.location = None;
        self.body.forget_locations();
        self
    }
}

/// A debug attribute; `None` in a reference means an unknown location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DebugAttr {
    Unknown,
    /// The producer and the flags come from the specification container; the public one cannot hold them.
    CompileUnit {
        file: Option<DebugId>,
        producer: Option<StringId>,
        flags: u64,
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
    /// The four variants below are records of the specification container that differ from the public ones; see
    /// [`crate::forms`].
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
    /// The enclosing scope: a file, a unit, a block or another subprogram.
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
    /// Since 13.5. The bits have no documented meaning; they are kept as read.
    pub flags: u64,
    /// This and the next come from the specification container; the public one cannot hold them.
    pub purpose: u64,
    pub sp_flags: Option<u64>,
}
