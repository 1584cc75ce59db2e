//! The single definition of the language's operations, enumerations and element types.
//!
//! [`OPS`] alone defines an operation's operands, results, attributes and regions, in wire order, and the versions
//! that introduced them. The reader, the writer, the translation to MLIR and the generated documentation all use it.
//!
//! Rules that follow from a row are computed here:
//!
//! * *variadic*: some operand or result is `many`. Only then is the number of results on the wire.
//! * *flag bits*: one for every optional attribute in order of declaration, then, if the operation is segmented, one
//!   for every optional operand; stably sorted by the version that introduced the field. A unit attribute is encoded
//!   by its bit alone.
//! * the flags word exists if the first bit's field is as old as the operation, or not newer than the file.

use crate::error::ErrorKind;
use crate::module::Version;

pub const V13_1: Version = Version::new(13, 1);
pub const V13_2: Version = Version::new(13, 2);
pub const V13_3: Version = Version::new(13, 3);
pub const V13_4: Version = Version::new(13, 4);
pub const V13_5: Version = Version::new(13, 5);
/// The version of a field that is as old as its operation.
pub const ALWAYS: Version = Version::new(0, 0);

/// How often an operand or result occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    One,
    Optional,
    Variadic,
}

/// An operand or a result.
#[derive(Clone, Copy, Debug)]
pub struct ValueField {
    pub name: &'static str,
    pub arity: Arity,
    /// [`ALWAYS`] unless the field is newer than the operation.
    pub since: Version,
}

/// The kind of value that an attribute holds, which determines its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    Enum(&'static EnumSpec),
    /// Non-negative integer that is a 32-bit attribute in MLIR.
    I32,
    /// Non-negative integer that is a 64-bit attribute in MLIR.
    I64,
    Bool,
    /// Present or absent; encoded by its flag bit alone.
    Unit,
    Str,
    /// Flat symbol reference.
    Sym,
    Type,
    /// Elements of the tile type that is the operation's first result.
    Dense,
    /// Dense array of `i32`.
    I32s,
    /// Dense array of `bool`, one for each operand of the variadic group; an absent array is all false.
    Bools,
    /// Array of self-contained attributes.
    Array,
    /// Optimization hints: a dictionary without a tag.
    Hints,
    /// One self-contained attribute.
    Tagged,
}

#[derive(Clone, Copy, Debug)]
pub struct AttrField {
    pub name: &'static str,
    pub kind: AttrKind,
    pub optional: bool,
    pub since: Version,
    /// The value that a file without the field implies, which is also the only one that such a file can express.
    pub default: Option<u32>,
}

/// An enumeration; the wire integer is the index of the keyword.
#[derive(Debug, PartialEq, Eq)]
pub struct EnumSpec {
    pub name: &'static str,
    /// Mnemonic of the dialect attribute, or `None` if MLIR stores a plain 32-bit integer.
    pub mnemonic: Option<&'static str>,
    pub keywords: &'static [&'static str],
    /// Keywords that were added after the enumeration, with the version that added each.
    pub newer: &'static [(&'static str, Version)],
}

impl EnumSpec {
    /// The version that introduced a value.
    pub fn since(&self, value: u32) -> Version {
        let keyword = self.keywords.get(value as usize);
        self.newer.iter().find(|(newer, _)| Some(newer) == keyword).map_or(ALWAYS, |(_, since)| *since)
    }

    /// The value with the given wire number in a file of the given version.
    pub(crate) fn value(&self, number: u64, version: Version) -> Result<u32, ErrorKind> {
        if number >= self.keywords.len() as u64 {
            return Err(ErrorKind::EnumValue(number));
        }
        let value = number as u32;
        if version.at_least(self.since(value)) { Ok(value) } else { Err(ErrorKind::EnumVersion { value, version }) }
    }
}

pub static SIGNEDNESS: EnumSpec =
    EnumSpec { name: "Signedness", mnemonic: Some("signedness"), keywords: &["unsigned", "signed"], newer: &[] };
pub static OVERFLOW: EnumSpec = EnumSpec {
    name: "IntegerOverflow",
    mnemonic: Some("overflow"),
    keywords: &["none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap"],
    newer: &[],
};
pub static ROUNDING: EnumSpec = EnumSpec {
    name: "RoundingMode",
    mnemonic: Some("rounding"),
    keywords: &[
        "nearest_even",
        "zero",
        "negative_inf",
        "positive_inf",
        "approx",
        "full",
        "nearest_int_to_zero",
        "nearest_away",
    ],
    newer: &[("nearest_away", V13_4)],
};
pub static CMP_ORDER: EnumSpec = EnumSpec {
    name: "ComparisonOrdering",
    mnemonic: Some("comparison_ordering"),
    keywords: &["unordered", "ordered"],
    newer: &[],
};
pub static PREDICATE: EnumSpec = EnumSpec {
    name: "ComparisonPredicate",
    mnemonic: Some("comparison_predicate"),
    keywords: &["equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"],
    newer: &[],
};
pub static PADDING: EnumSpec = EnumSpec {
    name: "PaddingValue",
    mnemonic: Some("padding_value"),
    keywords: &["zero", "neg_zero", "nan", "pos_inf", "neg_inf"],
    newer: &[],
};
pub static POINTER_KIND: EnumSpec = EnumSpec {
    name: "PointerKind",
    mnemonic: Some("ptr_attr"),
    keywords: &["none", "unicast", "multicast"],
    newer: &[],
};
pub static VISIBILITY: EnumSpec = EnumSpec {
    name: "SymbolVisibility",
    mnemonic: Some("symbol_visibility"),
    keywords: &["public", "private"],
    newer: &[],
};
pub static RMW_MODE: EnumSpec = EnumSpec {
    name: "AtomicRMWMode",
    mnemonic: None,
    keywords: &["and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg"],
    newer: &[],
};
pub static MULTIMEM_REDUCTION: EnumSpec = EnumSpec {
    name: "MultimemReductionKind",
    mnemonic: Some("multimem_reduction_kind"),
    keywords: &["add", "min", "max", "and", "or", "xor", "umin", "umax"],
    newer: &[],
};
pub static SCOPE: EnumSpec =
    EnumSpec { name: "MemoryScope", mnemonic: None, keywords: &["tl_blk", "device", "sys"], newer: &[] };
pub static ORDERING: EnumSpec = EnumSpec {
    name: "MemoryOrderingSemantics",
    mnemonic: None,
    keywords: &["weak", "relaxed", "acquire", "release", "acq_rel"],
    newer: &[],
};

/// In place of a flag bit: the field has no flag.
pub const NO_BIT: u8 = u8::MAX;

/// One operation.
#[derive(Clone, Copy, Debug)]
pub struct OpSpec {
    /// The opcode, or [`PREVIEW_CODE`] and up for the opcodes of previews from [`PREVIEW_OPCODE`] on.
    pub opcode: u8,
    /// Mnemonic without the dialect prefix.
    pub name: &'static str,
    /// Name of the operation's C++ class, for diagnostics.
    pub class: &'static str,
    pub since: Version,
    pub operands: &'static [ValueField],
    pub results: &'static [ValueField],
    pub attrs: &'static [AttrField],
    pub regions: usize,
    /// Operand groups are encoded one by one (MLIR: `AttrSizedOperandSegments`).
    pub segmented: bool,
    pub terminator: bool,

    // The fields below are derived by `done`.
    /// Some operand or result is variadic.
    pub variadic: bool,
    /// Some result is variadic.
    pub variadic_results: bool,
    /// Flag bit of each attribute and operand, or [`NO_BIT`].
    pub attr_bits: [u8; 8],
    pub operand_bits: [u8; 8],
    /// Number of flag bits.
    pub bits: u8,
    /// Version of the field that owns bit 0.
    pub flags_since: Version,
    /// Number of words that hold operand counts in memory: one for each variadic group of a segmented operation; one
    /// if the number of operands of another operation varies.
    pub count_words: u8,
    /// Number of attributes that take a word in memory (all but unit attributes).
    pub attr_words: u8,
}

/// Index of the first-result word, for operations that can have results.
pub(crate) const FIRST_RESULT_AT: usize = 0;

impl OpSpec {
    /// The opcode in files.
    pub fn wire_opcode(&self) -> u64 {
        match self.opcode.checked_sub(PREVIEW_CODE) {
            Some(number) => PREVIEW_OPCODE + u64::from(number),
            None => self.opcode.into(),
        }
    }

    /// Whether the operation belongs to a preview feature.
    pub fn is_preview(&self) -> bool {
        self.opcode >= PREVIEW_CODE
    }

    /// Whether this operation's record in a file of `version` has a flags word.
    pub fn has_flags(&self, version: Version) -> bool {
        self.bits > 0 && version.at_least(self.flags_since)
    }

    pub(crate) fn has_results(&self) -> bool {
        !self.results.is_empty()
    }

    /// Index of the region words among the words of an operation (see [`crate::Body`]). All indices here count from
    /// the first word after the ones that every operation has.
    pub(crate) fn regions_at(&self) -> usize {
        self.has_results() as usize
    }

    /// Index of the word with the bits of the optional fields that are present.
    pub(crate) fn present_at(&self) -> usize {
        self.regions_at() + self.regions
    }

    /// Index of the result count.
    pub(crate) fn result_count_at(&self) -> usize {
        self.present_at() + (self.bits > 0) as usize
    }

    /// Index of the operand counts.
    pub(crate) fn counts_at(&self) -> usize {
        self.result_count_at() + self.variadic_results as usize
    }

    /// Number of words before the attributes.
    pub(crate) fn head_words(&self) -> usize {
        self.counts_at() + self.count_words as usize
    }

    /// Full name, with the dialect.
    pub fn full_name(&self) -> String {
        format!("cuda_tile.{}", self.name)
    }

    /// Number of operands outside of variadic groups, for an operation that is not segmented.
    pub fn fixed_operands(&self) -> usize {
        self.operands.iter().filter(|f| f.arity == Arity::One).count()
    }

    const fn operands(mut self, f: &'static [ValueField]) -> Self {
        self.operands = f;
        self
    }

    const fn results(mut self, f: &'static [ValueField]) -> Self {
        self.results = f;
        self
    }

    const fn attrs(mut self, f: &'static [AttrField]) -> Self {
        self.attrs = f;
        self
    }

    const fn segmented(mut self) -> Self {
        self.segmented = true;
        self
    }

    const fn regions(mut self, n: usize) -> Self {
        self.regions = n;
        self
    }

    const fn terminator(mut self) -> Self {
        self.terminator = true;
        self
    }

    const fn done(mut self) -> Self {
        let mut i = 0;
        let mut variadic_operands = 0;
        let mut optional_operands = 0;
        while i < self.operands.len() {
            match self.operands[i].arity {
                Arity::Variadic => variadic_operands += 1,
                Arity::Optional => optional_operands += 1,
                Arity::One => {}
            }
            i += 1;
        }
        i = 0;
        while i < self.results.len() {
            self.variadic_results |= matches!(self.results[i].arity, Arity::Variadic);
            i += 1;
        }
        self.variadic = variadic_operands > 0 || self.variadic_results;
        self.count_words =
            if self.segmented { variadic_operands } else { (variadic_operands + optional_operands > 0) as u8 };
        i = 0;
        while i < self.attrs.len() {
            self.attr_words += !matches!(self.attrs[i].kind, AttrKind::Unit) as u8;
            i += 1;
        }
        // Ascending versions; within a version attributes before operands, each in order of declaration.
        let mut minor = 0;
        while minor <= V13_5.minor {
            i = 0;
            while i < self.attrs.len() {
                if self.attrs[i].optional && self.attrs[i].since.minor == minor {
                    if self.bits == 0 {
                        self.flags_since = self.attrs[i].since;
                    }
                    self.attr_bits[i] = self.bits;
                    self.bits += 1;
                }
                i += 1;
            }
            i = 0;
            while self.segmented && i < self.operands.len() {
                if matches!(self.operands[i].arity, Arity::Optional) && self.operands[i].since.minor == minor {
                    if self.bits == 0 {
                        self.flags_since = self.operands[i].since;
                    }
                    self.operand_bits[i] = self.bits;
                    self.bits += 1;
                }
                i += 1;
            }
            minor += 1;
        }
        self
    }
}

const fn op(opcode: u8, name: &'static str, class: &'static str, since: Version) -> OpSpec {
    OpSpec {
        opcode,
        name,
        class,
        since,
        operands: &[],
        results: &[],
        attrs: &[],
        regions: 0,
        segmented: false,
        terminator: false,
        variadic: false,
        variadic_results: false,
        attr_bits: [NO_BIT; 8],
        operand_bits: [NO_BIT; 8],
        bits: 0,
        flags_since: ALWAYS,
        count_words: 0,
        attr_words: 0,
    }
}

const fn one(name: &'static str) -> ValueField {
    ValueField { name, arity: Arity::One, since: ALWAYS }
}

const fn opt(name: &'static str) -> ValueField {
    ValueField { name, arity: Arity::Optional, since: ALWAYS }
}

const fn many(name: &'static str) -> ValueField {
    ValueField { name, arity: Arity::Variadic, since: ALWAYS }
}

const fn req(name: &'static str, kind: AttrKind) -> AttrField {
    AttrField { name, kind, optional: false, since: ALWAYS, default: None }
}

const fn may(name: &'static str, kind: AttrKind) -> AttrField {
    AttrField { name, kind, optional: true, since: ALWAYS, default: None }
}

impl ValueField {
    const fn since(mut self, v: Version) -> Self {
        self.since = v;
        self
    }
}

impl AttrField {
    const fn since(mut self, v: Version) -> Self {
        self.since = v;
        self
    }

    const fn default(mut self, v: u32) -> Self {
        self.default = Some(v);
        self
    }
}

/// The specification of `opcode`, whatever version introduced it.
pub fn lookup(opcode: u64) -> Option<&'static OpSpec> {
    match opcode.checked_sub(PREVIEW_OPCODE) {
        Some(number) => by_code(PREVIEW_CODE.checked_add(u8::try_from(number).ok()?)?),
        None => by_code(u8::try_from(opcode).ok().filter(|code| *code < PREVIEW_CODE)?),
    }
}

/// The specification of an operation by [`OpSpec::opcode`].
pub(crate) fn by_code(code: u8) -> Option<&'static OpSpec> {
    let slot = BY_OPCODE[code as usize];
    (slot != EMPTY).then(|| &OPS[slot as usize])
}

/// The specification of a mnemonic (without the dialect prefix).
pub fn by_name(name: &str) -> Option<&'static OpSpec> {
    OPS.iter().find(|o| o.name == name)
}

/// Highest opcode that a file of `version` may hold.
pub fn highest_opcode(version: Version) -> u64 {
    OPS.iter().filter(|o| version.at_least(o.since) && !o.is_preview()).map(|o| u64::from(o.opcode)).max().unwrap_or(0)
}

/// The first opcode of previews, and its number in memory, where opcodes are bytes.
const PREVIEW_OPCODE: u64 = 0x4000;
const PREVIEW_CODE: u8 = 0xF0;

const EMPTY: u8 = u8::MAX;

static BY_OPCODE: [u8; 256] = {
    let mut table = [EMPTY; 256];
    let mut i = 0;
    while i < OPS.len() {
        table[OPS[i].opcode as usize] = i as u8;
        i += 1;
    }
    table
};

use AttrKind::*;

/// Every operation, by ascending opcode.
#[rustfmt::skip]
pub static OPS: [OpSpec; 109] = [
    op(0x00, "absf", "AbsFOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x01, "absi", "AbsIOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x02, "addf", "AddFOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("rounding_mode", Enum(&ROUNDING)), may("flush_to_zero", Unit)]).done(),
    op(0x03, "addi", "AddIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("overflow", Enum(&OVERFLOW)).default(0)]).done(),
    op(0x04, "andi", "AndIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")]).done(),
    op(0x05, "assert", "AssertOp", V13_1).operands(&[one("condition")]).attrs(&[req("message", Str)]).done(),
    op(0x06, "assume", "AssumeOp", V13_1).operands(&[one("value")]).results(&[one("result")])
        .attrs(&[req("predicate", Tagged)]).done(),
    op(0x07, "atomic_cas_tko", "AtomicCASTkoOp", V13_1).segmented()
        .operands(&[one("pointers"), one("cmp"), one("val"), opt("mask"), opt("token")])
        .results(&[one("result"), one("result_token")])
        .attrs(&[req("memory_ordering_semantics", Enum(&ORDERING)), req("memory_scope", Enum(&SCOPE))]).done(),
    op(0x08, "atomic_rmw_tko", "AtomicRMWTkoOp", V13_1).segmented()
        .operands(&[one("pointers"), one("arg"), opt("mask"), opt("token")])
        .results(&[one("result"), one("result_token")])
        .attrs(&[req("memory_ordering_semantics", Enum(&ORDERING)), req("memory_scope", Enum(&SCOPE)),
            req("mode", Enum(&RMW_MODE))]).done(),
    op(0x09, "bitcast", "BitcastOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x0A, "break", "BreakOp", V13_1).operands(&[many("operands")]).terminator().done(),
    op(0x0B, "broadcast", "BroadcastOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x0C, "cat", "CatOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("dim", I64)]).done(),
    op(0x0D, "ceil", "CeilOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x0E, "cmpf", "CmpFOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("comparison_predicate", Enum(&PREDICATE)), req("comparison_ordering", Enum(&CMP_ORDER))]).done(),
    op(0x0F, "cmpi", "CmpIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("comparison_predicate", Enum(&PREDICATE)), req("signedness", Enum(&SIGNEDNESS))]).done(),
    op(0x10, "constant", "ConstantOp", V13_1).results(&[one("result")]).attrs(&[req("value", Dense)]).done(),
    op(0x11, "continue", "ContinueOp", V13_1).operands(&[many("operands")]).terminator().done(),
    op(0x12, "cos", "CosOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x13, "cosh", "CosHOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x14, "divf", "DivFOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("rounding_mode", Enum(&ROUNDING)), may("flush_to_zero", Unit)]).done(),
    op(0x15, "divi", "DivIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("signedness", Enum(&SIGNEDNESS)), req("rounding", Enum(&ROUNDING)).default(1)]).done(),
    op(0x16, "entry", "EntryOp", V13_1)
        .attrs(&[req("sym_name", Str), req("function_type", Type), may("arg_attrs", Array), may("res_attrs", Array),
            may("optimization_hints", Hints)])
        .regions(1).done(),
    op(0x17, "exp", "ExpOp", V13_1).operands(&[one("source")]).results(&[one("result")])
        .attrs(&[req("rounding_mode", Enum(&ROUNDING)).since(V13_3).default(5)]).done(),
    op(0x18, "exp2", "Exp2Op", V13_1).operands(&[one("source")]).results(&[one("result")])
        .attrs(&[may("flush_to_zero", Unit)]).done(),
    op(0x25, "exti", "ExtIOp", V13_1).operands(&[one("from")]).results(&[one("to")])
        .attrs(&[req("signedness", Enum(&SIGNEDNESS))]).done(),
    op(0x26, "extract", "ExtractOp", V13_1).operands(&[one("source"), many("indices")])
        .results(&[one("result")]).done(),
    op(0x27, "floor", "FloorOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x28, "fma", "FmaOp", V13_1).operands(&[one("lhs"), one("rhs"), one("acc")]).results(&[one("result")])
        .attrs(&[req("rounding_mode", Enum(&ROUNDING)), may("flush_to_zero", Unit)]).done(),
    op(0x29, "for", "ForOp", V13_1).operands(&[one("lowerBound"), one("upperBound"), one("step"), many("initValues")])
        .results(&[many("resultValues")]).attrs(&[may("unsignedCmp", Unit).since(V13_2)]).regions(1).done(),
    op(0x2A, "ftof", "FToFOp", V13_1).operands(&[one("from")]).results(&[one("to")])
        .attrs(&[req("rounding_mode", Enum(&ROUNDING)).default(0)]).done(),
    op(0x2B, "ftoi", "FToIOp", V13_1).operands(&[one("from")]).results(&[one("to")])
        .attrs(&[req("signedness", Enum(&SIGNEDNESS)), req("rounding_mode", Enum(&ROUNDING)),
            may("saturating", Unit).since(V13_4)]).done(),
    op(0x2C, "get_global", "GetGlobalOp", V13_1).results(&[one("result")]).attrs(&[req("name", Sym)]).done(),
    op(0x2D, "get_index_space_shape", "GetIndexSpaceShapeOp", V13_1).operands(&[one("src")])
        .results(&[many("result")]).done(),
    op(0x2E, "get_num_tile_blocks", "GetNumTileBlocksOp", V13_1)
        .results(&[one("gridSize_x"), one("gridSize_y"), one("gridSize_z")]).done(),
    op(0x2F, "get_tensor_shape", "GetTensorShapeOp", V13_1).operands(&[one("src")]).results(&[many("result")]).done(),
    op(0x30, "get_tile_block_id", "GetTileBlockIdOp", V13_1)
        .results(&[one("blockId_x"), one("blockId_y"), one("blockId_z")]).done(),
    op(0x31, "global", "GlobalOp", V13_1)
        .attrs(&[req("sym_name", Str), req("value", Dense), req("alignment", I64).default(0),
            may("constant", Unit).since(V13_3),
            req("symbol_visibility", Enum(&VISIBILITY)).since(V13_3).default(0)]).done(),
    op(0x32, "if", "IfOp", V13_1).operands(&[one("condition")]).results(&[many("results")]).regions(2).done(),
    op(0x33, "int_to_ptr", "IntToPtrOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x3A, "iota", "IotaOp", V13_1).results(&[one("result")]).done(),
    op(0x3B, "itof", "IToFOp", V13_1).operands(&[one("from")]).results(&[one("to")])
        .attrs(&[req("signedness", Enum(&SIGNEDNESS)), req("rounding_mode", Enum(&ROUNDING))]).done(),
    op(0x3C, "join_tokens", "JoinTokensOp", V13_1).operands(&[many("tokens")]).results(&[one("result")]).done(),
    op(0x3D, "load_ptr_tko", "LoadPtrTkoOp", V13_1).segmented()
        .operands(&[one("source"), opt("mask"), opt("paddingValue"), opt("token")])
        .results(&[one("result"), one("result_token")])
        .attrs(&[req("memory_ordering_semantics", Enum(&ORDERING)), may("memory_scope", Enum(&SCOPE)),
            may("optimization_hints", Hints)]).done(),
    op(0x3E, "load_view_tko", "LoadViewTkoOp", V13_1).segmented()
        .operands(&[one("view"), many("index"), opt("token")]).results(&[one("tile"), one("result_token")])
        .attrs(&[req("memory_ordering_semantics", Enum(&ORDERING)), may("memory_scope", Enum(&SCOPE)),
            may("optimization_hints", Hints), req("inbounds", Bools).since(V13_4).default(0)]).done(),
    op(0x3F, "log", "LogOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x40, "log2", "Log2Op", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x41, "loop", "LoopOp", V13_1).operands(&[many("initValues")]).results(&[many("resultValues")])
        .regions(1).done(),
    op(0x42, "make_partition_view", "MakePartitionViewOp", V13_1).operands(&[one("tensor_view")])
        .results(&[one("result")]).done(),
    op(0x43, "make_tensor_view", "MakeTensorViewOp", V13_1).segmented()
        .operands(&[one("base"), many("dynamicShape"), many("dynamicStrides")]).results(&[one("result")]).done(),
    op(0x44, "make_token", "MakeTokenOp", V13_1).results(&[one("result")]).done(),
    op(0x45, "maxf", "MaxFOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[may("propagate_nan", Unit), may("flush_to_zero", Unit)]).done(),
    op(0x46, "maxi", "MaxIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("signedness", Enum(&SIGNEDNESS))]).done(),
    op(0x47, "minf", "MinFOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[may("propagate_nan", Unit), may("flush_to_zero", Unit)]).done(),
    op(0x48, "mini", "MinIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("signedness", Enum(&SIGNEDNESS))]).done(),
    op(0x49, "mmaf", "MmaFOp", V13_1).operands(&[one("lhs"), one("rhs"), one("acc")]).results(&[one("result")])
        .attrs(&[may("fast_acc", Unit).since(V13_3)]).done(),
    op(0x4A, "mmai", "MmaIOp", V13_1).operands(&[one("lhs"), one("rhs"), one("acc")]).results(&[one("result")])
        .attrs(&[req("signedness_lhs", Enum(&SIGNEDNESS)), req("signedness_rhs", Enum(&SIGNEDNESS))]).done(),
    op(0x4B, "module", "ModuleOp", V13_1).attrs(&[req("sym_name", Str), may("producer", Str).since(V13_3)])
        .regions(1).done(),
    op(0x4C, "mulf", "MulFOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("rounding_mode", Enum(&ROUNDING)), may("flush_to_zero", Unit)]).done(),
    op(0x4D, "mulhii", "MulhiIOp", V13_1).operands(&[one("x"), one("y")]).results(&[one("result")]).done(),
    op(0x4E, "muli", "MulIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("overflow", Enum(&OVERFLOW)).default(0)]).done(),
    op(0x4F, "negf", "NegFOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x50, "negi", "NegIOp", V13_1).operands(&[one("source")]).results(&[one("result")])
        .attrs(&[req("overflow", Enum(&OVERFLOW)).since(V13_2).default(0)]).done(),
    op(0x51, "offset", "OffsetOp", V13_1).operands(&[one("ptr"), one("offset")]).results(&[one("result")]).done(),
    op(0x52, "ori", "OrIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")]).done(),
    op(0x53, "permute", "PermuteOp", V13_1).operands(&[one("source")]).results(&[one("result")])
        .attrs(&[req("permutation", I32s)]).done(),
    op(0x54, "fpowf", "PowOp", V13_1).operands(&[one("source"), one("exponent")]).results(&[one("result")]).done(),
    op(0x55, "print_tko", "PrintTkoOp", V13_1).segmented().operands(&[many("args"), opt("token").since(V13_2)])
        .results(&[one("result_token").since(V13_2)]).attrs(&[req("str", Str)]).done(),
    op(0x56, "ptr_to_int", "PtrToIntOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x57, "ptr_to_ptr", "PtrToPtrOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x58, "reduce", "ReduceOp", V13_1).operands(&[many("operands")]).results(&[many("results")])
        .attrs(&[req("dim", I32), req("identities", Array)]).regions(1).done(),
    op(0x59, "remf", "RemFOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")]).done(),
    op(0x5A, "remi", "RemIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("signedness", Enum(&SIGNEDNESS))]).done(),
    op(0x5B, "reshape", "ReshapeOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x5C, "return", "ReturnOp", V13_1).operands(&[many("operands")]).terminator().done(),
    op(0x5D, "rsqrt", "RsqrtOp", V13_1).operands(&[one("source")]).results(&[one("result")])
        .attrs(&[may("flush_to_zero", Unit)]).done(),
    op(0x5E, "scan", "ScanOp", V13_1).operands(&[many("operands")]).results(&[many("results")])
        .attrs(&[req("dim", I32), req("reverse", Bool), req("identities", Array)]).regions(1).done(),
    op(0x5F, "select", "SelectOp", V13_1).operands(&[one("cond"), one("val_if_true"), one("val_if_false")])
        .results(&[one("result")]).done(),
    op(0x60, "shli", "ShLIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("overflow", Enum(&OVERFLOW)).default(0)]).done(),
    op(0x61, "shri", "ShRIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("signedness", Enum(&SIGNEDNESS))]).done(),
    op(0x62, "sin", "SinOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x63, "sinh", "SinHOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x64, "sqrt", "SqrtOp", V13_1).operands(&[one("source")]).results(&[one("result")])
        .attrs(&[req("rounding_mode", Enum(&ROUNDING)), may("flush_to_zero", Unit)]).done(),
    op(0x65, "store_ptr_tko", "StorePtrTkoOp", V13_1).segmented()
        .operands(&[one("destination"), one("value"), opt("mask"), opt("token")]).results(&[one("result_token")])
        .attrs(&[req("memory_ordering_semantics", Enum(&ORDERING)), may("memory_scope", Enum(&SCOPE)),
            may("optimization_hints", Hints)]).done(),
    op(0x66, "store_view_tko", "StoreViewTkoOp", V13_1).segmented()
        .operands(&[one("tile"), one("view"), many("index"), opt("token")]).results(&[one("result_token")])
        .attrs(&[req("memory_ordering_semantics", Enum(&ORDERING)), may("memory_scope", Enum(&SCOPE)),
            may("optimization_hints", Hints), req("inbounds", Bools).since(V13_4).default(0)]).done(),
    op(0x67, "subf", "SubFOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("rounding_mode", Enum(&ROUNDING)), may("flush_to_zero", Unit)]).done(),
    op(0x68, "subi", "SubIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")])
        .attrs(&[req("overflow", Enum(&OVERFLOW)).default(0)]).done(),
    op(0x69, "tan", "TanOp", V13_1).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x6A, "tanh", "TanHOp", V13_1).operands(&[one("source")]).results(&[one("result")])
        .attrs(&[req("rounding_mode", Enum(&ROUNDING)).since(V13_2).default(5)]).done(),
    op(0x6B, "trunci", "TruncIOp", V13_1).operands(&[one("from")]).results(&[one("to")])
        .attrs(&[req("overflow", Enum(&OVERFLOW)).default(0)]).done(),
    op(0x6C, "xori", "XOrIOp", V13_1).operands(&[one("lhs"), one("rhs")]).results(&[one("result")]).done(),
    op(0x6D, "yield", "YieldOp", V13_1).operands(&[many("operands")]).terminator().done(),
    op(0x6E, "atan2", "Atan2Op", V13_2).operands(&[one("x"), one("y")]).results(&[one("result")]).done(),
    op(0x6F, "pack", "PackOp", V13_3).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x70, "unpack", "UnpackOp", V13_3).operands(&[one("source")]).results(&[one("result")]).done(),
    op(0x71, "alloca", "AllocaOp", V13_3).results(&[one("result")])
        .attrs(&[req("num_elem", I64), req("alignment", I64), may("global", Unit)]).done(),
    op(0x72, "mmaf_scaled", "MmaFScaledOp", V13_3)
        .operands(&[one("lhs"), one("rhs"), one("acc"), one("lhs_scale"), one("rhs_scale")])
        .results(&[one("result")]).done(),
    op(0x73, "make_gather_scatter_view", "MakeGatherScatterViewOp", V13_3).operands(&[one("tensor_view")])
        .results(&[one("result")]).done(),
    op(0x74, "make_strided_view", "MakeStridedViewOp", V13_3).operands(&[one("tensor_view")])
        .results(&[one("result")]).done(),
    op(0x75, "atomic_red_view_tko", "AtomicRedViewTkoOp", V13_3).segmented()
        .operands(&[one("view"), many("index"), one("value"), opt("token")]).results(&[one("result_token")])
        .attrs(&[req("memory_ordering_semantics", Enum(&ORDERING)), req("memory_scope", Enum(&SCOPE)),
            req("mode", Enum(&RMW_MODE)), req("inbounds", Bools).since(V13_5).default(0)]).done(),
    op(0x76, "insert", "InsertOp", V13_4).operands(&[one("source"), one("destination"), many("indices")])
        .results(&[one("result")]).done(),
    op(0x77, "gdc_launch_dependents_tko", "GdcLaunchDependentsTkoOp", V13_4).operands(&[opt("token")])
        .results(&[one("result_token")]).done(),
    op(0x78, "gdc_wait_tko", "GdcWaitTkoOp", V13_4).operands(&[opt("token")]).results(&[one("result_token")]).done(),
    op(0x79, "fpowi", "FPowIOp", V13_4).operands(&[one("source"), one("exponent")]).results(&[one("result")]).done(),
    op(0x7A, "memory_fence_alias_tko", "MemoryFenceAliasTkoOp", V13_4).operands(&[one("token")])
        .results(&[one("result_token")]).done(),
    op(0x7B, "multimem_load_reduce_view_tko", "MultimemLoadReduceViewTkoOp", V13_5).segmented()
        .operands(&[one("view"), many("index"), opt("token")])
        .results(&[one("reduced_values"), one("result_token")])
        .attrs(&[req("memory_ordering_semantics", Enum(&ORDERING)), may("memory_scope", Enum(&SCOPE)),
            req("reduction", Enum(&MULTIMEM_REDUCTION)).default(0), req("inbounds", Bools).default(0)]).done(),
    op(0x7C, "multimem_reduce_view_tko", "MultimemReduceViewTkoOp", V13_5).segmented()
        .operands(&[one("view"), one("tile"), many("index"), opt("token")]).results(&[one("result_token")])
        .attrs(&[req("memory_ordering_semantics", Enum(&ORDERING)), req("memory_scope", Enum(&SCOPE)),
            req("reduction", Enum(&MULTIMEM_REDUCTION)).default(0), req("inbounds", Bools).default(0)]).done(),
    op(0x7D, "multimem_store_view_tko", "MultimemStoreViewTkoOp", V13_5).segmented()
        .operands(&[one("view"), one("tile"), many("index"), opt("token")]).results(&[one("result_token")])
        .attrs(&[req("memory_ordering_semantics", Enum(&ORDERING)), may("memory_scope", Enum(&SCOPE)),
            req("inbounds", Bools).default(0)]).done(),
    op(0xF2, "preview$call", "PreviewCallOp", V13_5).operands(&[many("operands")]).results(&[many("results")])
        .attrs(&[req("callee", Sym), req("const_args", Array), may("arg_attrs", Array), may("res_attrs", Array)])
        .done(),
];
