//! The errors of the reader and the writer.
//!
//! Every read error carries the absolute byte offset at which it was noticed, an [`ErrorKind`] and the part of the
//! file that was being read. It is rendered as `error at offset N: TEXT`. The texts are an interface, because tools
//! search logs for them. They are spelled exactly as the format's documents quote them, with or without a final
//! period.
//!
//! [`ReadError::class`] distinguishes a broken envelope, a missing mandatory section, and a section whose body does
//! not decode.

use crate::module::Version;
use thiserror::Error;

/// Result of every reading function.
pub type ReadResult<T> = Result<T, ReadError>;

/// Sections of a bytecode file, by wire identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum SectionId {
    End = 0,
    String = 1,
    Func = 2,
    Debug = 3,
    Constant = 4,
    Type = 5,
    Global = 6,
    /// Since version 13.3, public container only.
    Producer = 7,
}

impl SectionId {
    pub const ALL: [SectionId; 8] = [
        SectionId::End,
        SectionId::String,
        SectionId::Func,
        SectionId::Debug,
        SectionId::Constant,
        SectionId::Type,
        SectionId::Global,
        SectionId::Producer,
    ];

    pub fn from_wire(id: u64) -> Option<SectionId> {
        Self::ALL.get(usize::try_from(id).ok()?).copied()
    }

    pub fn name(self) -> &'static str {
        match self {
            SectionId::End => "end",
            SectionId::String => "string",
            SectionId::Func => "function",
            SectionId::Debug => "debug",
            SectionId::Constant => "constant",
            SectionId::Type => "type",
            SectionId::Global => "global",
            SectionId::Producer => "producer",
        }
    }
}

/// The part of the file that an error belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Magic, version, section headers or descriptors.
    Header,
    Section(SectionId),
}

/// The three channels of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The envelope is broken: the file is not readable as bytecode at all.
    Structural,
    /// The envelope is sound but a mandatory section is missing.
    MissingSection(SectionId),
    /// The envelope is sound but the body of this section does not decode.
    Section(SectionId),
}

/// A failed read. Cheap to move: the details are boxed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    offset: usize,
    kind: ErrorKind,
    part: Part,
    /// Offset at which reading of the part was given up; printed in the second line of the report.
    part_offset: usize,
}

impl ReadError {
    pub fn new(offset: usize, kind: ErrorKind) -> Self {
        ReadError(Box::new(Details { offset, kind, part: Part::Header, part_offset: offset }))
    }

    /// Attributes the error to a section; `end` is the offset one past the section.
    #[must_use]
    pub fn in_section(mut self, section: SectionId, end: usize) -> Self {
        self.0.part = Part::Section(section);
        self.0.part_offset = end;
        self
    }

    /// Replaces the error of a field that ended early by a more detailed one.
    #[must_use]
    pub(crate) fn instead_of_field(mut self, kind: impl FnOnce() -> ErrorKind) -> Self {
        if matches!(self.0.kind, ErrorKind::Field(_)) {
            self.0.kind = kind();
        }
        self
    }

    /// Absolute byte offset at which the problem was noticed.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    pub fn part(&self) -> Part {
        self.0.part
    }

    pub fn class(&self) -> Class {
        match (self.0.part, &self.0.kind) {
            (_, ErrorKind::MissingSection(s)) => Class::MissingSection(*s),
            (Part::Header, _) => Class::Structural,
            (Part::Section(s), _) => Class::Section(s),
        }
    }

    /// The line that follows the cause in a full report, e.g. `error at offset 109: failed to parse function section`.
    pub fn context(&self) -> Option<String> {
        let at = self.0.part_offset;
        match (self.0.part, &self.0.kind) {
            (_, ErrorKind::MissingSection(_)) => None,
            (
                Part::Header,
                ErrorKind::UnsupportedVersion { .. }
                | ErrorKind::BadMagic { .. }
                | ErrorKind::Field(_)
                | ErrorKind::VersionTag(_),
            ) => Some(format!("error at offset {at}: failed to parse bytecode header")),
            (Part::Header, _) => None,
            (Part::Section(s), ErrorKind::UnknownDebugTag) => {
                let kind = format!("error at offset {at}: fail to read kind");
                Some(format!("{kind}\nerror at offset {at}: failed to parse {} section", s.name()))
            }
            (Part::Section(s), _) => Some(format!("error at offset {at}: failed to parse {} section", s.name())),
        }
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error at offset {}: {}", self.0.offset, self.0.kind)
    }
}

impl std::error::Error for ReadError {}

macro_rules! fields {
    ($($name:ident = $text:literal,)*) => {
        /// A field that ended early or holds an invalid reference. The text names the field.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Field { $($name,)* }

        impl Field {
            pub const ALL: &'static [Field] = &[$(Field::$name,)*];

            pub fn text(self) -> &'static str {
                match self { $(Field::$name => $text,)* }
            }
        }
    };
}

fields! {
    // Envelope.
    Magic = "failed to read magic",
    Major = "failed to read major",
    Minor = "failed to read minor",
    VersionTag = "failed to read version tag",
    DialectCount = "failed to read number of dialects",
    DialectName = "failed to read dialect name",
    DialectOps = "failed to read number of dialect operations",
    SectionCount = "failed to read number of sections",
    SectionDescriptor = "failed to read section descriptor",
    SectionHeader = "failed to read section header",
    SectionLength = "failed to read section length",
    SectionAlignment = "failed to read section alignment",
    SectionPadding = "failed to read section padding",
    // String section.
    StringCount = "failed to read number of strings",
    StringOffsets = "failed to read string start indices",
    StringBytes = "failed to read string data",
    // Producer section.
    ProducerString = "failed to read producer string index",
    // Type section.
    TypeCount = "failed to read number of types",
    TypeOffsets = "failed to read type start indices",
    TypeTag = "failed to read type tag",
    TypeFlags = "failed to read flags of type",
    PointeeType = "failed to get pointeeType type",
    ElementType = "failed to get elementType type",
    PointerAttribute = "failed to read ptr_attr",
    TensorViewType = "failed to get tensor_view type",
    Shape = "failed to read shape",
    Strides = "failed to read strides",
    TileShape = "failed to read tile_shape data",
    TraversalStrides = "failed to read traversal_strides data",
    DimMap = "failed to read dim_map data",
    SparseDim = "failed to read sparse_dim",
    Padding = "failed to read padding_value",
    ParameterCount = "failed to read number of function parameters",
    ParameterType = "failed to get parameter type",
    ResultCount = "failed to read number of function results",
    FunctionResultType = "failed to get result type",
    // Constant section.
    ConstantCount = "failed to read number of constants",
    ConstantOffsets = "failed to read constant start indices",
    ConstantSize = "failed to read size of constant",
    ConstantBytes = "failed to read values data",
    // Global section.
    GlobalCount = "failed to read number of globals",
    GlobalName = "failed to read name of global",
    GlobalType = "failed to get type of global",
    GlobalValue = "failed to read value of global",
    GlobalAlignment = "failed to read alignment of global",
    GlobalVisibility = "failed to read visibility of global",
    GlobalConstant = "failed to read constant flag of global",
    // Function section.
    FunctionCount = "failed to read number of functions",
    FunctionName = "failed to read function name",
    FunctionSignature = "failed to read function signature",
    FunctionFlags = "failed to read function flags",
    FunctionLocation = "failed to read function location",
    FunctionBodySize = "failed to read function body length",
    FunctionBody = "failed to read function body",
    // Operations.
    OperationOpcode = "failed to read operation opcode.",
    OperationLocation = "failed to read operation location.",
    OperationResults = "failed to read number of operation results",
    OperationFlags = "failed to read operation flags",
    OperationOperands = "failed to read number of operation operands",
    OperandIndex = "failed to read operand index",
    OperationAttribute = "failed to read operation attribute",
    AttributeDictionary = "failed to read attribute dictionary of operation",
    RegionCount = "failed to read number of regions",
    BlockCount = "failed to read number of blocks",
    BlockArguments = "failed to read number of block arguments",
    BlockArgumentType = "failed to get block argument type",
    BlockOperations = "failed to read number of operations in block",
    // Self-contained attributes.
    AttributeTag = "failed to read AttributeTag for self-contained attribute.",
    IntegerType = "failed to read valid IntegerType for IntegerAttr",
    IntegerValue = "failed to read value for IntegerAttr",
    FloatType = "failed to read valid FloatType for FloatAttr",
    FloatValue = "failed to read value for FloatAttr",
    BoolValue = "failed to read value for BoolAttr",
    TypeAttribute = "failed to get referenced type for TypeAttr",
    StringAttribute = "failed to read StringAttr.",
    ArrayCount = "failed to read number of elements for ArrayAttr",
    DenseType = "failed to read valid MLIR Type for self-contained DenseElementsAttr",
    DenseShape = "failed to read shape for DenseElementsAttr",
    DenseStringCount = "failed to read number of string attrs in DenseElementsAttr",
    DenseString = "failed to read string in DenseElementsAttr",
    Divisor = "failed to read divisor for DivByAttr",
    DivByFlags = "failed to read flags byte for DivByAttr",
    DivByEvery = "failed to read value for 'every' in DivByAttr",
    DivByAlong = "failed to read value for 'along' in DivByAttr",
    DenseI64Array = "failed to read DenseI64ArrayAttr values.",
    DenseI32Array = "failed to read DenseI32ArrayAttr values.",
    SameElements = "failed to read DenseI64ArrayAttr for SameElementsAttr",
    BoundedFlags = "failed to read flags byte for BoundedAttr",
    BoundedLower = "failed to read lower bound for BoundedAttr",
    BoundedUpper = "failed to read upper bound for BoundedAttr",
    DictionaryCount = "failed to read number of elements for DictionaryAttr",
    DictionaryKey = "failed to read attribute name for DictionaryAttr",
    Predicate = "failed to read predicate for AssumePredicateAttr",
    // Previews.
    PreviewInteger = "failed to read value of expression",
    PreviewCount = "failed to read number of expressions",
    PreviewEnum = "failed to read enum value",
    PreviewType = "failed to read type type",
    // Debug section.
    DebugFunctionCount = "failed to read number of functions in debug section",
    DebugFunctionOffsets = "failed to read function offsets in debug section",
    DebugIndexCount = "failed to read number of indices in debug section",
    DebugIndices = "failed to read indices in debug section",
    DebugAttributeCount = "failed to read number of attributes in debug section",
    DebugAttributeOffsets = "failed to read attribute offsets in debug section",
    DebugKind = "failed to read kind tag",
    CompileUnitFile = "failed to read file attribute when parsing DICompileUnitAttr",
    CompileUnitProducer = "failed to read producer for DICompileUnitAttr",
    CompileUnitFlags = "failed to read flags for DICompileUnitAttr",
    FileName = "failed to read file name attribute when parsing DIFileAttr",
    FileDirectory = "failed to read directory attribute when parsing DIFileAttr",
    BlockScope = "failed to read scope attribute when parsing DILexicalBlockAttr",
    BlockFile = "failed to read file attribute when parsing DILexicalBlockAttr",
    BlockLine = "failed to read line number when parsing DILexicalBlockAttr",
    BlockColumn = "failed to read column number when parsing DILexicalBlockAttr",
    LocScope = "failed to read scope attribute when parsing DILocAttr",
    LocFileName = "failed to read file name attribute when parsing FileLineColLoc",
    LocLine = "failed to read line number when parsing FileLineColLoc",
    LocColumn = "failed to read column number when parsing FileLineColLoc",
    LocInlinedAt = "failed to read inlined-at attribute when parsing DILocAttr",
    CallSiteLine = "failed to read line number when parsing CallSiteLoc",
    CallSiteColumn = "failed to read column number when parsing CallSiteLoc",
    SubprogramScope = "failed to read scope attribute when parsing DISubprogramAttr",
    SubprogramFlags = "failed to read flags when parsing DISubprogramAttr",
    SubprogramPurpose = "failed to read purpose when parsing DISubprogramAttr",
    SubprogramSpFlags = "failed to read subprogram flags when parsing DISubprogramAttr",
    SubprogramFile = "failed to read file attribute when parsing DISubprogramAttr",
    SubprogramLine = "failed to read line number when parsing DISubprogramAttr",
    SubprogramName = "failed to read name attribute when parsing DISubprogramAttr",
    SubprogramLinkage = "failed to read linkage name attribute when parsing DISubprogramAttr",
    SubprogramUnit = "failed to read compile unit attribute when parsing DISubprogramAttr",
    SubprogramScopeLine = "failed to read scope line when parsing DISubprogramAttr",
    Callee = "failed to read callee attribute when parsing CallSiteLoc",
    Caller = "failed to read caller attribute when parsing CallSiteLoc",
}

/// Every error that reading can report.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ErrorKind {
    #[error("{}", .0.text())]
    Field(Field),

    // Integers and counts.
    #[error("non-canonical VarInt")]
    NonCanonicalVarInt,
    #[error("VarInt does not fit in 64 bits")]
    VarIntTooLong,
    #[error("varint value exceeds maximum supported capacity: {value} > {max}")]
    CapacityExceeded { value: u64, max: u64 },
    #[error("{}: {count} records cannot fit in the remaining {left} bytes", .what.text())]
    AbsurdCount { what: Field, count: u64, left: usize },

    // Envelope.
    #[error("invalid magic number at position {position}, got {} expected {}", hex(.got), hex(.expected))]
    BadMagic { position: usize, got: Vec<u8>, expected: [u8; 8] },
    #[error("unsupported Tile version {}, this reader supports versions [{min}{}{max}]", VersionText(*.major, *.minor, *.patch), between(.min, .max))]
    UnsupportedVersion { major: u64, minor: u64, patch: Option<u64>, min: Version, max: Version },
    #[error("header has unrecognized version tag bits ({0:#x});")]
    VersionTag(u32),
    #[error("public-preview bytecode requires at least one enabled preview feature")]
    PreviewOff,
    #[error(
        "public-preview bytecode at version {version}.{tag} is not readable; preview content is only valid at the \
         current version 13.5"
    )]
    PreviewVersion { version: Version, tag: u32 },
    #[error(
        "malformed bytecode: encountered public-preview {what} {number} but the header does not advertise preview \
         content"
    )]
    PreviewContent { what: &'static str, number: u64 },
    #[error("unregistered dialect: {0}")]
    UnregisteredDialect(String),
    #[error("end section should not have alignment flag set")]
    EndSectionAligned,
    #[error("end section is not the last section")]
    EndSectionNotLast,
    #[error("end section is missing")]
    EndSectionMissing,
    #[error("end section holds more than a single zero byte")]
    EndSectionPayload,
    #[error("unknown section ID: {0}")]
    UnknownSection(u64),
    #[error("duplicate {} section", .0.name())]
    DuplicateSection(SectionId),
    #[error("section length {length} exceeds remaining data size {left}")]
    SectionTooLong { length: u64, left: usize },
    #[error("invalid alignment value: {0}")]
    InvalidAlignment(u64),
    #[error("{} section must be aligned to {required} bytes", .section.name())]
    SectionMisaligned { section: SectionId, required: usize },
    #[error("{} section at [{start}, {end}) is outside the {size} bytes of the file", .section.name())]
    SectionOutOfBounds { section: SectionId, start: u64, end: u128, size: usize },
    #[error("{} section overlaps {} section", .section.name(), .other.name())]
    SectionOverlap { section: SectionId, other: SectionId },
    #[error("missing mandatory {} section", .0.name())]
    MissingSection(SectionId),
    #[error("input of {0} bytes is larger than the supported 4 GiB")]
    InputTooLarge(usize),

    // Tables.
    #[error("invalid {} start indices: end ({end}) is less than start ({start}) for {} {index}", .section.name(), .section.name())]
    TableOrder { section: SectionId, start: u64, end: u64, index: usize },
    #[error("invalid {} start index {start} for {} {index}: the first must be 0 and all must be within the {size} bytes of data", .section.name(), .section.name())]
    TableBounds { section: SectionId, start: u64, size: usize, index: usize },
    #[error("{count} bytes left over in {what}")]
    TrailingBytes { what: &'static str, count: usize },

    // References.
    #[error("string index {0} out of bounds")]
    StringIndex(u64),
    #[error("constant index {index} out of bounds (size={size})")]
    ConstantIndex { index: u64, size: usize },
    #[error("operand index {index} out of bounds (size={size}) for operand {operand}")]
    OperandIndex { index: u64, size: usize, operand: usize },
    #[error("operand index {index} out of bounds (size={size}) for {segment} segment, element {element}")]
    SegmentIndex { index: u64, size: usize, segment: &'static str, element: usize },
    #[error("failed to get result type {result} for {class}")]
    ResultType { result: usize, class: &'static str },
    #[error("function signature index {index} out of bounds for function '{function}'")]
    SignatureIndex { index: u64, function: String },
    #[error("signature of function '{function}' is not a function type")]
    SignatureKind { function: String },
    #[error("failed to read function location for '{function}'")]
    FunctionLocationIndex { function: String },
    #[error("the locations of function '{function}' have {count} extra entries")]
    LocationsLeft { function: String, count: usize },

    // Types.
    #[error("unknown type tag: {0}")]
    UnknownTypeTag(u64),
    #[error("type '{name}' requires bytecode version {since}+, file version is {version}")]
    TypeVersion { name: &'static str, since: Version, version: Version },
    #[error("unknown flags {flags:#x} for type '{name}'")]
    TypeFlags { name: &'static str, flags: u64 },
    #[error("recursive type reference at index {0}")]
    RecursiveType(usize),
    #[error("type {0} is nested too deeply")]
    TypeDepth(usize),

    // Functions and operations.
    #[error("un-expected non-entry function '{name}': no operation can call it")]
    NonEntryFunction { name: String },
    #[error("unknown function flags {0:#x}")]
    UnknownFunctionFlags(u8),
    #[error("function entry has unrecognized flag bits ({0:#x});")]
    FunctionFlagBits(u8),
    #[error("function entry has testing form in non-test build")]
    TestingForm,
    #[error("function entry has reserved form value")]
    ReservedForm,
    #[error("function entry cannot be both kernel and extern impl")]
    EntryImplementation,
    #[error("function name at index {0} is empty")]
    EmptyFunctionName(u32),
    #[error("'cuda_tile.preview$func' op must be extern when serialized to bytecode")]
    ExternBody,
    #[error("extern function const params payload is not an ArrayAttr")]
    ConstantParameters,
    #[error("cuda_tile.preview$extern_impl op expected 1 regions, got {0}")]
    ImplementationRegions(u64),
    #[error("extern implementation entry has {0} blocks; bodiless extern implementations must have none")]
    ImplementationBlocks(u64),
    #[error(
        "extern implementation entry has non-zero body length ({0}); bodiless extern implementations must have body \
         length 0"
    )]
    ImplementationBody(u64),
    #[error("optimization hints of a function must be an OptimizationHintsAttr")]
    HintsKind,
    #[error("attributes of the arguments of a function must be an array of dictionaries")]
    ArgumentAttributes,
    #[error("unknown or unimplemented opcode: {0}")]
    UnknownOpcode(u64),
    #[error("unsupported opcode {opcode} for bytecode version {version}")]
    OpcodeVersion { opcode: u64, version: Version },
    #[error("operation 'cuda_tile.{0}' cannot appear in a function body")]
    NotABodyOperation(&'static str),
    #[error("expected {expected} results for {class}, got {got}")]
    ResultCount { class: &'static str, expected: usize, got: u64 },
    #[error("expected {expected} operands for {class}, got {got}")]
    OperandCount { class: &'static str, expected: String, got: u64 },
    #[error("unknown flags {flags:#x} for {class}")]
    OperationFlags { class: &'static str, flags: u64 },
    #[error("expected {expected} regions for {class}, got {got}")]
    RegionCount { class: &'static str, expected: usize, got: u64 },
    #[error("a function body must be one block, got {0}")]
    BodyBlocks(u64),
    #[error("block arguments do not match the signature of function '{function}'")]
    BodyArguments { function: String },
    #[error("regions are nested too deeply")]
    RegionDepth,
    #[error("block does not end in a terminator")]
    MissingTerminator,
    #[error("'cuda_tile.{op}' op expects region #{region} to have 0 or 1 blocks")]
    RegionBlocks { op: &'static str, region: usize },
    #[error("missing attribute '{name}' for {class}")]
    MissingAttribute { name: &'static str, class: &'static str },
    #[error("unknown attribute '{name}' for {class}")]
    UnknownAttribute { name: String, class: &'static str },
    #[error("attribute '{name}' of {class} has the wrong kind")]
    AttributeKind { name: String, class: &'static str },
    #[error("attribute dictionary reference {index} of operation is not a dictionary")]
    NotADictionary { index: u64 },
    #[error("invalid 'operandSegmentSizes' for {class}")]
    SegmentSizes { class: &'static str },

    // Attributes.
    #[error("invalid integer value for enum type: {0}")]
    EnumValue(u64),
    #[error("enum value {value} is not available in bytecode version {version}")]
    EnumVersion { value: u32, version: Version },
    #[error("invalid enum value for value: {0}")]
    PreviewEnum(u64),
    #[error("invalid ::mlir::cuda_tile::MemorySpace enum value {0}")]
    MemorySpace(u8),
    #[error("symbolic shape must be a SymbolicTupleAttr")]
    FragmentShape,
    #[error("expected a symbolic expression for parameter '{parameter}', got attribute tag {tag}")]
    NotAnExpression { parameter: &'static str, tag: u64 },
    #[error("expected attribute tag {expected}, got {got}")]
    PreviewKind { expected: u64, got: u64 },
    #[error("invalid value for BoolAttr: {0}")]
    BoolValue(u8),
    #[error("invalid empty symbol reference")]
    EmptySymbol,
    #[error("unsupported AttributeTag {0} for self-contained attribute")]
    AttributeTag(u64),
    #[error("failed to cast parsed attribute to FloatAttr")]
    FloatCast,
    #[error("array contains unsupported value {0}")]
    ArrayValue(i64),
    #[error("invalid empty attribute name for DictionaryAttr element {0}")]
    EmptyKey(usize),
    #[error("duplicate attribute name '{key}' for DictionaryAttr element {element}")]
    DuplicateKey { key: String, element: usize },
    #[error("attributes are nested too deeply")]
    AttributeDepth,
    #[error("unknown flags {flags:#x} for {name}")]
    AttributeFlags { name: &'static str, flags: u8 },
    #[error("attribute of AssumePredicateAttr is not a predicate")]
    NotAPredicate,
    #[error("value of global '{name}' is not a dense integer or floating-point elements attribute of its type")]
    GlobalValue { name: String },
    #[error("dense attribute payload of {bytes} bytes does not match {elements} elements of type {element}")]
    DenseSize { bytes: usize, elements: u64, element: &'static str },
    #[error("i1 dense attribute payload size {0} is not a recognized encoding")]
    DenseI1Size(usize),

    // Debug section.
    #[error("unknown debug attribute tag")]
    UnknownDebugTag,
    #[error("unsupported DebugTag {0}")]
    DebugTag(u64),
    #[error("cyclic debug attribute reference at index {0}")]
    DebugCycle(usize),
    #[error("debug attributes are nested too deeply")]
    DebugDepth,
    #[error("invalid location run [{start}, {end}) of function {index} in debug section with {size} indices")]
    DebugRun { start: u64, end: u64, index: usize, size: usize },
}

impl From<Field> for ErrorKind {
    fn from(f: Field) -> Self {
        ErrorKind::Field(f)
    }
}

struct VersionText(u64, u64, Option<u64>);

impl std::fmt::Display for VersionText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)?;
        self.2.map_or(Ok(()), |p| write!(f, ".{p}"))
    }
}

/// The separator in a range of versions. NVIDIA's readers that support a single version print a comma.
fn between(min: &Version, max: &Version) -> &'static str {
    if min == max { ", " } else { " - " }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02X}")).collect::<Vec<_>>().join(" ")
}

/// The reasons for which a module cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WriteError {
    #[error("unsupported Tile version {version}, this writer supports versions [{min}, {max}]")]
    UnsupportedVersion { version: Version, min: Version, max: Version },
    #[error("operation 'cuda_tile.{name}' is not available in bytecode version {version}")]
    Operation { name: &'static str, version: Version },
    #[error("type '{name}' requires bytecode version {since}+, targeting {version}")]
    Type { name: &'static str, since: Version, version: Version },
    #[error("attribute '{name}' requires bytecode version {since}+, but targeting {version}")]
    Attribute { name: &'static str, since: Version, version: Version },
    #[error("value '{value}' of attribute '{name}' requires bytecode version {since}+, but targeting {version}")]
    EnumValue { name: &'static str, value: &'static str, since: Version, version: Version },
    #[error("optional attribute '{name}' is provided but requires bytecode version {since}, targeting {version}")]
    OptionalAttribute { name: &'static str, since: Version, version: Version },
    #[error("optional operand '{name}' is provided but requires bytecode version {since}, targeting {version}")]
    OptionalOperand { name: &'static str, since: Version, version: Version },
    #[error("result '{name}' requires bytecode version {since} but is being used and targeting {version}")]
    Result { name: &'static str, since: Version, version: Version },
    #[error(
        "constant global `{name}` cannot be encoded in bytecode version {version} (the `constant` attribute requires bytecode 13.3+)"
    )]
    ConstantGlobal { name: String, version: Version },
    #[error(
        "global `{name}` uses non-public symbol visibility, which cannot be encoded in bytecode version {version} (requires bytecode 13.3+)"
    )]
    PrivateGlobal { name: String, version: Version },
    #[error("type '{name}' cannot be written in this container")]
    ContainerType { name: &'static str },
    #[error("operand {operand} of 'cuda_tile.{name}' does not dominate its use")]
    Scope { name: &'static str, operand: usize },
    #[error("{what} index {index} out of bounds (size={size})")]
    Index { what: &'static str, index: usize, size: usize },
    #[error("constant of {bytes} bytes does not match {elements} elements of type {element}")]
    DenseSize { bytes: usize, elements: u64, element: &'static str },
    #[error("tile of {elements} elements exceeds the maximum of {max}")]
    TileSize { elements: u64, max: u64 },
    #[error("{what} is a preview, which requires bytecode version 13.5, targeting {version}")]
    Preview { what: &'static str, version: Version },
    #[error("{what} is larger than the supported {max} bytes")]
    TooLarge { what: &'static str, max: usize },
    #[error("malformed '{what}'")]
    Malformed { what: &'static str },
}
