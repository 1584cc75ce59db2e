//! In-memory form of a function's operations.
//!
//! A body must stay close to the size of its records: a record of two bytes must not become a hundred. So a body is
//! one array of words, in which the operations of an operation's regions follow it directly. An [`OpId`] is the index
//! of the first word of an operation:
//!
//! ```text
//! [head][location][first result][regions ...][present]
//! [result count][operand counts ...][attributes ...][types ...][operands ...]
//! ```
//!
//! * *head*: the opcode in the low 8 bits; the other bits hold the distance in the file from the previous record, in
//!   pre-order.
//! * *location*: the debug attribute plus one, or 0 if unknown; only in bodies that were read or built with
//!   locations.
//! * *first result*: a value number; only if the operation can have results.
//! * *regions*: for each the index of its block plus one, or 0 if it is absent.
//! * *present*: the bit set of optional attributes and operands, in the schema's flag order; only if there are any.
//! * *result count*: only if the number of results varies.
//! * *operand counts*: one for each variadic group (segmented), or the total (other variadic operations).
//! * *attributes*: one word for each attribute except unit attributes.
//!
//! Worked example: `%5 = addi %3, %4` with overflow `none` and result type 2, whose record starts four bytes after
//! the previous one, is stored as the words `[0x403, 5, 0, 2, 3, 4]`.
//!
//! Values are numbered for the whole function and numbers are never reused: arguments first, then block arguments and
//! results as they are completed. Only the reader and the writer use the wire's stack-like numbers.

use crate::module::{AttrId, ConstantId, DebugId, OpId, StringId, TypeId, ValueId};
use crate::schema::{self, Arity, AttrKind, NO_BIT, OpSpec};
use std::ops::Range;

/// The operations of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    words: Box<[u32]>,
    tables: Option<Box<SideTables>>,
    /// Offset of the first record in the file.
    start: u32,
    /// Number of operations.
    ops: u32,
    /// Number of values.
    values: u32,
    /// Number of function arguments (values 0 and up).
    arguments: u32,
    /// Operations have a location word.
    location_words: bool,
    located: bool,
}

/// Tables that small bodies do not need.
#[derive(Clone, Debug, Default)]
struct SideTables {
    /// Integers of attributes that need more than 31 bits.
    wide: Vec<u64>,
    blocks: Vec<Block>,
    /// Types of the arguments of blocks.
    argument_types: Vec<u32>,
    /// Distances that do not fit in the head of their operation.
    far: Vec<(OpId, u32)>,
}

/// A region: one block, or none (the missing `else` of an `if`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region(pub Option<u32>);

/// A block of a region. `[first_op, end_op)` includes the operations nested in its own operations' regions.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    argument_types: u32,
    arguments: u32,
    first_argument: u32,
    first_op: u32,
    end_op: u32,
}

/// Flag in the word of an integer: the word is an index into [`SideTables::wide`].
const WIDE: u32 = 1 << 31;

/// Distance in a head that refers to [`SideTables::far`].
const FAR: u32 = (1 << 24) - 1;

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
    Bools(BoolList),
    /// [`Attr::I32s`](crate::Attr::I32s), [`Attr::Array`](crate::Attr::Array), [`Attr::Hints`](crate::Attr::Hints) or,
    /// for a tagged field, any attribute.
    Attr(AttrId),
}

/// A list of booleans in one word: a bit for each, followed by a set bit that marks the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoolList(pub(crate) u32);

impl BoolList {
    /// The maximum length. Views have fewer dimensions.
    pub const MAX: usize = 31;

    /// Returns `None` if there are more than [`BoolList::MAX`] values.
    pub fn new(values: &[bool]) -> Option<BoolList> {
        let end = 1u32.checked_shl(values.len() as u32)?;
        Some(BoolList(values.iter().enumerate().fold(end, |word, (i, v)| word | u32::from(*v) << i)))
    }

    pub fn iter(self) -> impl ExactSizeIterator<Item = bool> {
        let n = self.0.checked_ilog2().unwrap_or(0);
        (0..n).map(move |i| self.0 >> i & 1 != 0)
    }

    /// Whether any of the values is true.
    pub fn any(self) -> bool {
        !self.0.is_power_of_two()
    }
}

impl Body {
    pub fn op(&self, id: OpId) -> OpRef<'_> {
        let spec = spec_of(self.words[id.index()]);
        OpRef { body: self, id, spec, base: id.index() + lead(self.location_words) }
    }

    /// The operations of the function's own block, in order.
    pub fn top_level(&self) -> BlockOps<'_> {
        BlockOps { body: self, next: 0, end: self.words.len() as u32 }
    }

    /// Number of operations, nested ones included.
    pub fn len(&self) -> usize {
        self.ops as usize
    }

    pub fn is_empty(&self) -> bool {
        self.ops == 0
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
        self.located
    }

    pub(crate) fn forget_locations(&mut self) {
        self.located = false;
    }

    /// All operations, in pre-order.
    pub fn all_ops(&self) -> AllOps<'_> {
        AllOps { body: self, next: 0, left: self.ops as usize }
    }

    /// Offsets of the records in the file, in pre-order.
    pub fn offsets(&self) -> impl ExactSizeIterator<Item = u32> {
        let mut offset = self.start;
        self.all_ops().map(move |op| {
            offset += self.distance(op.id);
            offset
        })
    }

    fn distance(&self, id: OpId) -> u32 {
        let distance = self.words[id.index()] >> 8;
        if distance < FAR {
            return distance;
        }
        let far = self.tables.as_ref().map_or(&[][..], |r| &r.far);
        far.binary_search_by_key(&id, |f| f.0).map_or(distance, |i| far[i].1)
    }

    fn block(&self, index: u32) -> Option<&Block> {
        self.tables.as_ref()?.blocks.get(index as usize)
    }

    fn int(&self, word: u32) -> u64 {
        match &self.tables {
            Some(tables) if word & WIDE != 0 => tables.wide[(word & !WIDE) as usize],
            _ => word.into(),
        }
    }
}

fn spec_of(head: u32) -> &'static OpSpec {
    schema::by_code(head as u8).expect("bodies hold known opcodes only")
}

/// Number of words before the ones that the schema's row describes.
fn lead(location_words: bool) -> usize {
    1 + location_words as usize
}

/// Iterator over all operations of a body.
pub struct AllOps<'a> {
    body: &'a Body,
    next: u32,
    left: usize,
}

impl<'a> Iterator for AllOps<'a> {
    type Item = OpRef<'a>;

    fn next(&mut self) -> Option<OpRef<'a>> {
        self.left = self.left.checked_sub(1)?;
        let op = self.body.op(OpId(self.next));
        self.next = op.end();
        Some(op)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for AllOps<'_> {}

/// Iterator over the operations of one block.
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
    pub spec: &'static OpSpec,
    /// Index of the first word that the schema's row describes.
    base: usize,
}

impl<'a> OpRef<'a> {
    fn word(&self, i: usize) -> u32 {
        self.body.words[self.base + i]
    }

    fn slice(&self, start: usize, len: usize) -> &'a [u32] {
        &self.body.words[self.base + start..][..len]
    }

    fn results_at(&self) -> usize {
        self.spec.head_words() + self.spec.attr_words as usize
    }

    fn operands_at(&self) -> usize {
        self.results_at() + self.result_count()
    }

    /// Index of the next operation in pre-order.
    fn end(&self) -> u32 {
        (self.base + self.operands_at() + self.operand_count()) as u32
    }

    /// Bit set of the optional fields that are present, in the schema's flag order.
    pub fn present(&self) -> u32 {
        if self.spec.bits > 0 { self.word(self.spec.present_at()) } else { 0 }
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
        let first = if self.spec.has_results() { self.word(schema::FIRST_RESULT_AT) } else { 0 };
        (first..first + self.result_count() as u32).map(ValueId)
    }

    /// Number of operands in each group of the schema.
    pub fn group_len(&self, group: usize) -> usize {
        let field = &self.spec.operands[group];
        match field.arity {
            Arity::One => 1,
            Arity::Optional if self.spec.segmented => (self.present() >> self.spec.operand_bits[group] & 1) as usize,
            Arity::Variadic if self.spec.segmented => {
                let before = self.spec.operands[..group].iter().filter(|f| f.arity == Arity::Variadic).count();
                self.word(self.spec.counts_at() + before) as usize
            }
            Arity::Optional | Arity::Variadic => self.word(self.spec.counts_at()) as usize - self.spec.fixed_operands(),
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

    /// Whether the attribute is present; required attributes always are.
    pub fn has_attr(&self, index: usize) -> bool {
        let bit = self.spec.attr_bits[index];
        bit == NO_BIT || self.present() >> bit & 1 != 0
    }

    /// Attribute `index` of the schema, if present. A list of booleans that are all false counts as absent, because
    /// versions without the field imply that.
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
            AttrKind::Bools => match word() {
                0 => return None,
                word => AttrValue::Bools(BoolList(word)),
            },
            AttrKind::I32s | AttrKind::Array | AttrKind::Hints | AttrKind::Tagged => AttrValue::Attr(AttrId(word())),
        })
    }

    pub fn regions(&self) -> impl DoubleEndedIterator<Item = Region> + ExactSizeIterator + use<'a> {
        self.slice(self.spec.regions_at(), self.spec.regions).iter().map(|w| Region(w.checked_sub(1)))
    }

    /// The region's block.
    pub fn block(&self, region: Region) -> Option<&'a Block> {
        self.body.block(region.0?)
    }

    /// Index of the first operation after this one and the operations nested in it.
    fn subtree_end(&self) -> u32 {
        let last = self.regions().rev().find_map(|r| self.block(r));
        last.map_or_else(|| self.end(), |b| b.end_op)
    }

    /// Debug attribute of the operation's location.
    pub fn location(&self) -> Option<DebugId> {
        if !self.body.located {
            return None;
        }
        self.body.words[self.id.index() + 1].checked_sub(1).map(DebugId)
    }
}

impl Block {
    pub fn arg_types<'a>(&self, body: &'a Body) -> impl ExactSizeIterator<Item = TypeId> + use<'a> {
        let all = body.tables.as_ref().map_or(&[][..], |r| &r.argument_types);
        all[self.argument_types as usize..][..self.arguments as usize].iter().map(|&w| TypeId(w))
    }

    /// Number of arguments.
    pub fn arg_count(&self) -> u32 {
        self.arguments
    }

    pub fn args(&self) -> impl ExactSizeIterator<Item = ValueId> + use<> {
        (self.first_argument..self.first_argument + self.arguments).map(ValueId)
    }

    pub fn ops<'a>(&self, body: &'a Body) -> BlockOps<'a> {
        BlockOps { body, next: self.first_op, end: self.end_op }
    }
}

/// A body under construction.
///
/// For each operation, call `begin`, push its types and then its operands, build its regions, and number its results
/// with `end`.
pub(crate) struct Draft {
    words: Vec<u32>,
    tables: SideTables,
    start: u32,
    /// Offset of the last record.
    last: u32,
    /// End of the records.
    end: Option<u32>,
    ops: u32,
    pub values: u32,
    pub arguments: u32,
    location_words: bool,
    any_location: bool,
}

impl Draft {
    /// An empty body. When reading, `records` is the range of its records in the file.
    pub fn new(arguments: u32, location_words: bool, records: Option<Range<usize>>) -> Self {
        let start = records.as_ref().map_or(0, |r| r.start as u32);
        Draft {
            words: Vec::new(),
            tables: SideTables::default(),
            start,
            last: start,
            end: records.map(|r| r.end as u32),
            ops: 0,
            values: arguments,
            arguments,
            location_words,
            any_location: false,
        }
    }

    /// Reserves space for `n` more words.
    ///
    /// When reading, the first guess is a word for each byte, which suffices for most programs. If it does not, the
    /// second guess is the upper bound for the remaining records, so words are moved at most once. Doubling would
    /// temporarily hold three times the needed memory.
    fn reserve(&mut self, n: usize) {
        if self.words.capacity() - self.words.len() >= n {
            return;
        }
        let Some(end) = self.end else { return self.words.reserve(n) };
        let left = (end - self.last) as usize;
        let guess = if self.words.is_empty() { left } else { left * 7 / 4 };
        let locations = if self.location_words { left / 2 } else { 0 };
        self.words.reserve_exact(n + guess + locations);
    }

    /// Appends an operation; its words of fixed length start as zeros.
    pub fn begin(&mut self, spec: &OpSpec, offset: usize, location: u32) -> OpId {
        let id = OpId(self.words.len() as u32);
        let distance = offset as u32 - self.last;
        self.last = offset as u32;
        let fixed = spec.head_words() + spec.attr_words as usize;
        self.reserve(lead(self.location_words) + fixed);
        if distance >= FAR {
            self.tables.far.push((id, distance));
        }
        self.any_location |= location != 0;
        self.words.push(u32::from(spec.opcode) | distance.min(FAR) << 8);
        if self.location_words {
            self.words.push(location);
        }
        self.words.resize(self.words.len() + fixed, 0);
        self.ops += 1;
        id
    }

    /// One of the operation's words of fixed length.
    pub fn word(&mut self, op: OpId, at: usize) -> &mut u32 {
        &mut self.words[op.index() + lead(self.location_words) + at]
    }

    #[inline]
    pub fn push(&mut self, word: u32) {
        self.reserve(1);
        self.words.push(word);
    }

    /// Encodes an integer attribute as a word.
    pub fn int_word(&mut self, v: u64) -> u32 {
        if v < u64::from(WIDE) {
            return v as u32;
        }
        self.tables.wide.push(v);
        (self.tables.wide.len() as u32 - 1) | WIDE
    }

    /// Type of the first result, if it has been pushed.
    pub fn first_result_type(&self, spec: &OpSpec, op: OpId) -> Option<TypeId> {
        let at = op.index() + lead(self.location_words) + spec.head_words() + spec.attr_words as usize;
        self.words.get(at).map(|&w| TypeId(w))
    }

    pub fn push_argument_type(&mut self, ty: TypeId) {
        grow(&mut self.tables.argument_types);
        self.tables.argument_types.push(ty.0);
    }

    /// Opens the block of a region. Its argument types must have been pushed last. Returns the block's index and
    /// first argument.
    pub fn begin_block(&mut self, op: OpId, region: usize, arguments: usize) -> (u32, u32) {
        let (first_argument, arguments) = (self.values, arguments as u32);
        let first_op = self.words.len() as u32;
        let argument_types = self.tables.argument_types.len() as u32 - arguments;
        grow(&mut self.tables.blocks);
        self.tables.blocks.push(Block { argument_types, arguments, first_argument, first_op, end_op: first_op });
        self.values += arguments;
        let block = self.tables.blocks.len() as u32 - 1;
        let at = spec_of(self.words[op.index()]).regions_at();
        *self.word(op, at + region) = block + 1;
        (block, first_argument)
    }

    pub fn end_block(&mut self, block: u32) {
        self.tables.blocks[block as usize].end_op = self.words.len() as u32;
    }

    /// Numbers the results of an operation with complete regions. Returns the first number and the count.
    pub fn end(&mut self, op: OpId) -> (u32, u32) {
        let spec = spec_of(self.words[op.index()]);
        if !spec.has_results() {
            return (self.values, 0);
        }
        let n = if spec.variadic_results { *self.word(op, spec.result_count_at()) } else { spec.results.len() as u32 };
        let first = self.values;
        *self.word(op, schema::FIRST_RESULT_AT) = first;
        self.values += n;
        (first, n)
    }

    pub fn finish(self, located: bool) -> Body {
        let Draft { words, mut tables, start, ops, values, arguments, location_words, .. } = self;
        tables.wide.shrink_to_fit();
        tables.blocks.shrink_to_fit();
        tables.argument_types.shrink_to_fit();
        let plain = tables.wide.is_empty() && tables.blocks.is_empty() && tables.far.is_empty();
        Body {
            words: words.into_boxed_slice(),
            tables: (!plain).then(|| Box::new(tables)),
            start,
            ops,
            values,
            arguments,
            location_words,
            located: located && location_words,
        }
    }

    /// Whether any operation has a known location.
    pub fn any_location(&self) -> bool {
        self.any_location
    }
}

/// Grows by a quarter, because doubling would leave half of a large body's memory unused.
fn grow<T>(v: &mut Vec<T>) {
    if v.capacity() == v.len() {
        v.reserve_exact(v.len() / 4 + 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{OPS, V13_1, V13_2, V13_3};

    /// Checks the bound that [`Draft::reserve`] relies on.
    #[test]
    fn seven_words_for_four_bytes() {
        for op in &OPS {
            for version in [V13_1, V13_2, V13_3] {
                // The shortest record has an opcode and one byte for each required field.
                let mut bytes = 1 + op.variadic as usize + op.has_flags(version) as usize;
                let mut words = 1 + op.head_words() + op.attr_words as usize;
                if !op.variadic_results {
                    bytes += op.results.iter().filter(|r| version.at_least(r.since)).count();
                    words += op.results.len();
                }
                bytes += op.attrs.iter().filter(|a| !a.optional && version.at_least(a.since)).count();
                bytes += op.fixed_operands();
                words += op.fixed_operands();
                bytes += if op.segmented {
                    op.operands.iter().filter(|f| f.arity == Arity::Variadic).count()
                } else {
                    (op.count_words > 0) as usize
                };
                bytes += if op.regions > 0 { 1 + op.regions } else { 0 };
                assert!(4 * words <= 7 * bytes, "{} {version}: {words} words from {bytes} bytes", op.name);
            }
        }
    }

    /// Offsets are stored as distances of any size.
    #[test]
    fn offsets() {
        let spec = schema::by_name("make_token").unwrap();
        let mut draft = Draft::new(0, false, Some(100..(3 << 30) + 2));
        let offsets = [100, 102, 107, 107 + FAR as usize - 1, 106 + 2 * FAR as usize, 1 << 30, 3 << 30];
        for at in offsets {
            let op = draft.begin(spec, at, 0);
            draft.push(0);
            draft.end(op);
        }
        let body = draft.finish(false);
        assert_eq!(body.offsets().map(|o| o as usize).collect::<Vec<_>>(), offsets);
        assert_eq!(body.tables.as_ref().unwrap().far.len(), 3);
        assert_eq!(body.all_ops().len(), offsets.len());
    }
}
