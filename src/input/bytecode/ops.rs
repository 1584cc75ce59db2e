//! Operation records of the public container, and the parts of the body reader that both containers share.
//!
//! ```text
//! VarInt opcode | [VarInt result count] | result types | [VarInt flags] | attributes | operands | [regions]
//! ```
//!
//! The schema row and the file's version determine which of the bracketed parts exist. Operands are indices into a
//! stack: function arguments, then every serialized result and block argument in order. The end of a block pops all
//! its values, so the results of a region operation reuse the numbers of its body. Locations are not part of the
//! record: the n-th record of a function has the n-th index of its run in the Debug section.
//!
//! Worked example: the record `65 05 08 00 00 01 02` is a `store_ptr_tko` with result type 5. Flags 8 = bit 3: the
//! token is present; scope, hints and mask are not. The ordering is `weak`; the operands are 0 (destination), 1
//! (value) and 2 (token).

use crate::attrs::{AttrReader, constant_ref};
use crate::body::{Body, BoolList, Draft};
use crate::container::PREVIEW;
use crate::container::WireProfile;
use crate::debug::{Run, is_location};
use crate::error::{ErrorKind, Field, ReadError, ReadResult};
use crate::module::*;
use crate::reader::check_dense;
use crate::schema::{self, Arity, AttrKind, NO_BIT, OpSpec};
use crate::spec_ops::Entries;
use crate::varint::Cursor;

/// Maximum nesting depth of regions: more than programs use, less than the stack can take.
pub const MAX_REGIONS: u32 = 256;

/// Reads the body of one function.
pub(crate) struct BodyReader<'m, 'a> {
    pub(crate) wire: &'static WireProfile,
    pub(crate) module: &'m mut Module,
    pub(crate) body: Draft,
    stack: ValueStack,
    run: Option<Run<'a>>,
    pub(crate) located: bool,
    signature: TypeId,
    pub(crate) entries: &'m Entries,
}

/// Maps wire numbers to values. Function arguments are not stored, because their wire number is the value; a long
/// signature that many functions share costs nothing here.
///
/// Wire numbers and values both ascend, and their difference changes only where a block has ended. So the stack
/// stores ranges of constant difference instead of values: a program without regions needs one.
#[derive(Default)]
struct ValueStack {
    ranges: Vec<WireRange>,
    len: u32,
}

struct WireRange {
    wire: u32,
    value: u32,
}

impl ValueStack {
    fn push(&mut self, first: u32, n: u32) {
        let follows = self.ranges.last().is_some_and(|s| s.value + (self.len - s.wire) == first);
        if !follows && n > 0 {
            self.ranges.push(WireRange { wire: self.len, value: first });
        }
        self.len += n;
    }

    fn get(&self, wire: u64) -> Option<u32> {
        let wire = u32::try_from(wire).ok().filter(|w| *w < self.len)?;
        let last = self.ranges.last()?;
        let range =
            if last.wire <= wire { last } else { &self.ranges[self.ranges.partition_point(|s| s.wire <= wire) - 1] };
        Some(range.value + (wire - range.wire))
    }

    fn truncate(&mut self, len: u32) {
        self.len = len;
        while self.ranges.last().is_some_and(|s| s.wire >= len) {
            self.ranges.pop();
        }
    }
}

impl<'m, 'a> BodyReader<'m, 'a> {
    pub fn new(
        wire: &'static WireProfile,
        module: &'m mut Module,
        signature: TypeId,
        run: Option<Run<'a>>,
        located: bool,
        entries: &'m Entries,
    ) -> Self {
        let body = Draft::new(0, false, None);
        BodyReader { wire, module, body, stack: ValueStack::default(), run, located, signature, entries }
    }

    pub fn read(&mut self, mut cur: Cursor, name: StringId) -> ReadResult<()> {
        let location_words = !self.wire.is_public() || self.run.is_some();
        self.body = Draft::new(self.inputs().len() as u32, location_words, Some(cur.pos()..cur.end()));
        if self.wire.is_public() {
            let mut terminated = false;
            while !cur.is_empty() {
                terminated = self.op(&mut cur, 0)?;
            }
            if !terminated {
                return cur.fail(ErrorKind::MissingTerminator);
            }
            let left = self.run.map_or(0, |r| r.left());
            if left > 0 {
                return cur.fail(ErrorKind::LocationsLeft { function: self.module.text(name), count: left });
            }
        } else {
            self.spec_body(&mut cur, name)?;
            crate::sections::expect_end(&cur, "function body")?;
        }
        Ok(())
    }

    pub fn finish(self) -> Body {
        let located = self.located || self.body.any_location();
        self.body.finish(located)
    }

    /// Types of the function's arguments.
    pub(crate) fn inputs(&self) -> &[TypeId] {
        match self.module.ty(self.signature) {
            Type::Function { inputs, .. } => inputs,
            _ => &[],
        }
    }

    /// Reads the next record with all its regions. Returns whether it is a terminator.
    fn op(&mut self, cur: &mut Cursor, depth: u32) -> ReadResult<bool> {
        let (spec, start) = self.opcode(cur)?;
        let mut location = 0;
        if let Some(run) = &mut self.run {
            let known = run.next().and_then(|i| location_word(&self.module.debug, i));
            let Some(known) = known else { return cur.fail(Field::OperationLocation) };
            location = known;
        }
        let op = self.body.begin(spec, start, location);

        // Result types. Results that are newer than the file are appended with their implied type.
        let version = self.module.version;
        let available = spec.results.iter().filter(|r| version.at_least(r.since)).count();
        let mut serialised = available;
        if spec.variadic {
            let at = cur.pos();
            let n = cur.count(1, Field::OperationResults)?;
            if !spec.variadic_results && n != available {
                return Err(ReadError::new(
                    at,
                    ErrorKind::ResultCount { class: spec.class, expected: available, got: n as u64 },
                ));
            }
            serialised = n;
        }
        self.result_types(cur, spec, op, serialised)?;

        // Flags.
        let mut present = 0;
        if spec.has_flags(version) {
            let at = cur.pos();
            let flags = cur.varint(Field::OperationFlags)?;
            if flags >> spec.bits != 0 {
                return Err(ReadError::new(at, ErrorKind::OperationFlags { class: spec.class, flags }));
            }
            present = flags as u32;
        }
        if spec.bits > 0 {
            *self.body.word(op, spec.present_at()) = present;
        }

        self.attributes(cur, spec, op, present)?;
        self.operands(cur, spec, op, present)?;
        if spec.regions > 0 {
            let at = cur.pos();
            let n = cur.varint(Field::RegionCount)?;
            if n != spec.regions as u64 {
                return Err(ReadError::new(
                    at,
                    ErrorKind::RegionCount { class: spec.class, expected: spec.regions, got: n },
                ));
            }
            self.regions(cur, spec, op, depth)?;
        }
        self.complete(op, serialised);
        Ok(spec.terminator)
    }

    /// Reads and checks an opcode.
    pub(crate) fn opcode(&mut self, cur: &mut Cursor) -> ReadResult<(&'static OpSpec, usize)> {
        let start = cur.pos();
        let opcode = cur.varint(Field::OperationOpcode)?;
        let fail = |kind| Err(ReadError::new(start, kind));
        let version = self.module.version;
        let Some(spec) = schema::lookup(opcode) else { return fail(ErrorKind::UnknownOpcode(opcode)) };
        if !version.at_least(spec.since) {
            // The specification's reader supports one version, in which newer operations do not exist.
            let unknown = !self.wire.is_public();
            return fail(if unknown {
                ErrorKind::UnknownOpcode(opcode)
            } else {
                ErrorKind::OpcodeVersion { opcode, version }
            });
        }
        if spec.is_preview() && version.tag & PREVIEW == 0 {
            return fail(ErrorKind::PreviewContent { what: "opcode", number: opcode });
        }
        if matches!(spec.name, "entry" | "global" | "module") {
            return fail(ErrorKind::NotABodyOperation(spec.name));
        }
        Ok((spec, start))
    }

    pub(crate) fn result_types(
        &mut self,
        cur: &mut Cursor,
        spec: &'static OpSpec,
        op: OpId,
        n: usize,
    ) -> ReadResult<()> {
        for result in 0..n {
            let at = cur.pos();
            let bad = || ErrorKind::ResultType { result, class: spec.class };
            let ty = cur.varint(Field::FunctionResultType).map_err(|e| e.instead_of_field(bad))?;
            if ty >= self.module.types.len() as u64 {
                return Err(ReadError::new(at, bad()));
            }
            self.body.push(ty as u32);
        }
        if spec.variadic_results {
            *self.body.word(op, spec.result_count_at()) = n as u32;
        } else {
            for _ in n..spec.results.len() {
                let token = self.implied_token();
                self.body.push(token.0);
            }
        }
        Ok(())
    }

    /// The token type, for results that older versions do not have.
    fn implied_token(&mut self) -> TypeId {
        let types = &mut self.module.types;
        let found = types.iter().position(|e| e.ty == Type::Token);
        TypeId(found.unwrap_or_else(|| {
            types.push(TypeEntry { ty: Type::Token, offset: 0 });
            types.len() - 1
        }) as u32)
    }

    fn attributes(&mut self, cur: &mut Cursor, spec: &'static OpSpec, op: OpId, present: u32) -> ReadResult<()> {
        let mut slot = spec.head_words();
        let version = self.module.version;
        for (i, field) in spec.attrs.iter().enumerate() {
            if field.kind == AttrKind::Unit {
                continue;
            }
            let bit = spec.attr_bits[i];
            let word = if !version.at_least(field.since) {
                field.default.unwrap_or(0)
            } else if bit != NO_BIT && present >> bit & 1 == 0 {
                0
            } else {
                self.attribute(cur, spec, field.kind, op)?
            };
            *self.body.word(op, slot) = word;
            slot += 1;
        }
        Ok(())
    }

    pub(crate) fn attr_reader(&mut self) -> AttrReader<'_> {
        let m = &mut *self.module;
        AttrReader {
            wire: self.wire,
            strings: &m.strings,
            types: &m.types,
            constants: &mut m.constants,
            version: m.version,
        }
    }

    fn attribute(&mut self, cur: &mut Cursor, spec: &OpSpec, kind: AttrKind, op: OpId) -> ReadResult<u32> {
        const WHAT: Field = Field::OperationAttribute;
        let at = cur.pos();
        let attr = match kind {
            AttrKind::Enum(e) => {
                let v = cur.varint(WHAT)?;
                return e.value(v, self.module.version).map_err(|kind| ReadError::new(at, kind));
            }
            AttrKind::I32 | AttrKind::I64 => {
                let v = cur.varint(WHAT)?;
                if kind == AttrKind::I32 && u32::try_from(v).is_err() {
                    return Err(ReadError::new(at, WHAT.into()));
                }
                return Ok(self.body.int_word(v));
            }
            AttrKind::Bool => return self.attr_reader().bool(cur, WHAT).map(u32::from),
            AttrKind::Unit => return Ok(1),
            AttrKind::Str => return self.attr_reader().string(cur, WHAT).map(|s| s.0),
            AttrKind::Sym => {
                let s = self.attr_reader().string(cur, WHAT)?;
                return if self.module.string(s).is_empty() {
                    Err(ReadError::new(at, ErrorKind::EmptySymbol))
                } else {
                    Ok(s.0)
                };
            }
            AttrKind::Type => return self.attr_reader().ty(cur, Field::TypeAttribute).map(|t| t.0),
            AttrKind::Dense => {
                let c = constant_ref(cur, &self.module.constants)?;
                let ty = self.body.first_result_type(spec, op);
                check_dense(self.module, ty, c).map_err(|k| ReadError::new(at, k))?;
                return Ok(c.0);
            }
            AttrKind::Bools => {
                let n = cur.count(1, WHAT)?;
                let values = (0..n).map(|_| self.attr_reader().bool(cur, WHAT)).collect::<Result<Vec<_>, _>>()?;
                let list = BoolList::new(&values).ok_or_else(|| ReadError::new(at, ErrorKind::Field(WHAT)))?;
                return Ok(list.0);
            }
            AttrKind::I32s => self.attr_reader().i32s(cur)?,
            AttrKind::Array => self.attr_reader().array_field(cur)?,
            AttrKind::Hints => self.attr_reader().hints_field(cur)?,
            AttrKind::Tagged => self.attr_reader().tagged(cur)?,
        };
        Ok(self.module.attrs.intern(attr).0)
    }

    fn operands(&mut self, cur: &mut Cursor, spec: &'static OpSpec, op: OpId, present: u32) -> ReadResult<()> {
        if spec.segmented {
            let mut count_at = spec.counts_at();
            for (g, field) in spec.operands.iter().enumerate() {
                let n = match field.arity {
                    Arity::One => 1,
                    Arity::Optional => (present >> spec.operand_bits[g] & 1) as usize,
                    Arity::Variadic => {
                        let n = cur.count(1, Field::OperationOperands)?;
                        *self.body.word(op, count_at) = n as u32;
                        count_at += 1;
                        n
                    }
                };
                for element in 0..n {
                    let at = cur.pos();
                    let index = cur.varint(Field::OperandIndex)?;
                    let size = self.scope_len();
                    let segment = field.name;
                    self.operand(index)
                        .map_err(|()| ReadError::new(at, ErrorKind::SegmentIndex { index, size, segment, element }))?;
                }
            }
            return Ok(());
        }
        let mut n = spec.operands.len();
        if spec.count_words > 0 {
            let at = cur.pos();
            n = cur.count(1, Field::OperationOperands)?;
            *self.body.word(op, spec.counts_at()) = n as u32;
            check_operand_count(spec, n).map_err(|k| ReadError::new(at, k))?;
        }
        for operand in 0..n {
            let at = cur.pos();
            let index = cur.varint(Field::OperandIndex)?;
            let size = self.scope_len();
            self.operand(index).map_err(|()| ReadError::new(at, ErrorKind::OperandIndex { index, size, operand }))?;
        }
        Ok(())
    }

    /// Pushes the value with the given wire number.
    #[inline]
    pub(crate) fn operand(&mut self, index: u64) -> Result<(), ()> {
        let value = match index.checked_sub(self.body.arguments.into()) {
            None => index as u32,
            Some(i) => self.stack.get(i).ok_or(())?,
        };
        self.body.push(value);
        Ok(())
    }

    /// Number of values that an operand may refer to.
    pub(crate) fn scope_len(&self) -> usize {
        self.body.arguments as usize + self.stack.len as usize
    }

    /// Reads the regions of an operation after its header and operands.
    pub(crate) fn regions(&mut self, cur: &mut Cursor, spec: &'static OpSpec, op: OpId, depth: u32) -> ReadResult<()> {
        if depth >= MAX_REGIONS {
            return cur.fail(ErrorKind::RegionDepth);
        }
        for region in 0..spec.regions {
            let at = cur.pos();
            match cur.varint(Field::BlockCount)? {
                0 => continue,
                1 => {}
                _ => return Err(ReadError::new(at, ErrorKind::RegionBlocks { op: spec.name, region })),
            }
            self.block(cur, op, region, depth)?;
        }
        Ok(())
    }

    fn block(&mut self, cur: &mut Cursor, op: OpId, region: usize, depth: u32) -> ReadResult<()> {
        let height = self.stack.len;
        let n = cur.count(1, Field::BlockArguments)?;
        for _ in 0..n {
            let ty = self.attr_reader().ty(cur, Field::BlockArgumentType)?;
            self.body.push_argument_type(ty);
        }
        let (block, first) = self.body.begin_block(op, region, n);
        self.stack.push(first, n as u32);
        let mut terminated = false;
        let ops = cur.count(2, Field::BlockOperations)?;
        for _ in 0..ops {
            terminated = if self.wire.is_public() { self.op(cur, depth + 1)? } else { self.spec_op(cur, depth + 1)? };
        }
        if !terminated {
            return cur.fail(ErrorKind::MissingTerminator);
        }
        self.body.end_block(block);
        self.stack.truncate(height);
        Ok(())
    }

    /// Numbers the results. The results on the wire are pushed on the stack; the others only become values.
    pub(crate) fn complete(&mut self, op: OpId, serialised: usize) {
        let (first, _) = self.body.end(op);
        self.stack.push(first, serialised as u32);
    }
}

/// Checks the operand count of an operation that is not segmented.
pub(crate) fn check_operand_count(spec: &OpSpec, n: usize) -> Result<(), ErrorKind> {
    let fixed = spec.fixed_operands();
    let open = spec.operands.iter().any(|f| f.arity == Arity::Variadic);
    let most = if open { usize::MAX } else { spec.operands.len() };
    if n < fixed || n > most {
        let expected = match open {
            true => format!("at least {fixed}"),
            false if most > fixed => format!("{fixed} to {most}"),
            false => format!("{fixed}"),
        };
        return Err(ErrorKind::OperandCount { class: spec.class, expected, got: n as u64 });
    }
    Ok(())
}

/// The location word for a public location index; `None` if operations cannot have that attribute as their location.
fn location_word(debug: &[DebugAttr], index: u64) -> Option<u32> {
    if index == 0 {
        return Some(0);
    }
    let i = usize::try_from(index - 1).ok()?;
    debug.get(i).filter(|a| is_location(a))?;
    Some(i as u32 + 1)
}
