//! Operation records of the public container, and the part of body reading that both containers share.
//!
//! ```text
//! VarInt opcode | [VarInt result count] | result types | [VarInt flags] | attributes | operands | [regions]
//! ```
//!
//! Which of the bracketed parts exist follows from the schema row and the file's version. Operands are indices into a stack:
//! function arguments, then every serialised result and block argument in order; at the end of a block all its values are
//! popped, so the results of a region operation reuse the numbers of its body. Locations are not in the record: the n-th
//! record of a function has the n-th index of its run in the Debug section.
//!
//! Worked example, the record `65 05 08 00 00 01 02`: `store_ptr_tko`, result type 5; flags 8 = bit 3, the token is there and
//! scope, hints and mask are not; ordering `weak`; operands 0 (destination), 1 (value), 2 (token).

use crate::attrs::{AttrReader, constant_ref};
use crate::container::WireProfile;
use crate::debug::{Run, is_location};
use crate::error::{Field, Kind, ReadError, ReadResult};
use crate::module::*;
use crate::reader::check_dense;
use crate::schema::{self, Arity, AttrKind, NO_BIT, OpSpec};
use crate::spec_ops::Entries;
use crate::varint::Cursor;

/// Nesting of regions: more than programs have, less than stacks can take.
const MAX_DEPTH: u32 = 256;

/// Reads the body of one function.
pub(crate) struct BodyReader<'m, 'a> {
    pub(crate) wire: &'static WireProfile,
    pub(crate) module: &'m mut Module,
    pub(crate) body: Body,
    /// Wire numbers to values, after the arguments, whose wire number is the value: a long signature that many functions
    /// share costs nothing here.
    stack: Vec<u32>,
    run: Option<Run<'a>>,
    pub(crate) located: bool,
    signature: TypeId,
    pub(crate) entries: &'m Entries,
}

/// Grows by a quarter: doubling would leave half of a large body's memory unused.
fn reserve<T>(v: &mut Vec<T>, n: usize) {
    if v.capacity() - v.len() < n {
        v.reserve_exact(n.max(v.len() / 4 + 64));
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
        BodyReader { wire, module, body: Body::default(), stack: Vec::new(), run, located, signature, entries }
    }

    pub fn read(&mut self, mut cur: Cursor, name: StringId) -> ReadResult<()> {
        self.body.arguments = self.inputs().len() as u32;
        self.body.values = self.body.arguments;
        if self.wire.is_public() {
            let mut terminated = false;
            while !cur.is_empty() {
                terminated = self.op(&mut cur, 0)?;
            }
            if !terminated {
                return cur.fail(Kind::MissingTerminator);
            }
            let left = self.run.map_or(0, |r| r.left());
            if left > 0 {
                return cur.fail(Kind::LocationsLeft { function: self.module.text(name), count: left });
            }
        } else {
            self.spec_body(&mut cur, name)?;
            crate::sections::expect_end(&cur, "function body")?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> Body {
        // What growth left over; nothing is copied if the allocator can shrink in place.
        self.body.ops.shrink_to_fit();
        self.body.words.shrink_to_fit();
        self.body
    }

    /// Types of the function's arguments.
    pub(crate) fn inputs(&self) -> &[TypeId] {
        match self.module.ty(self.signature) {
            Type::Function { inputs, .. } => inputs,
            _ => &[],
        }
    }

    /// Numbers `n` new values and puts them on the stack; returns the first.
    pub(crate) fn new_values(&mut self, n: usize) -> u32 {
        let first = self.body.values;
        reserve(&mut self.stack, n);
        self.stack.extend(first..first + n as u32);
        self.body.values += n as u32;
        first
    }

    /// Reads the next record with all its regions; whether it is a terminator.
    fn op(&mut self, cur: &mut Cursor, depth: u32) -> ReadResult<bool> {
        let (spec, start) = self.opcode(cur)?;
        if let Some(run) = &mut self.run {
            let location = run.next().and_then(|i| location_word(&self.module.debug, i));
            let Some(location) = location else { return cur.fail(Field::OperationLocation) };
            reserve(&mut self.body.locations, 1);
            self.body.locations.push(location);
        }
        let op = self.begin(spec, start);

        // Result types. Results newer than the file are appended with their implied type.
        let version = self.module.version;
        let available = spec.results.iter().filter(|r| version.at_least(r.since)).count();
        let mut serialised = available;
        if spec.variadic {
            let at = cur.pos();
            let n = cur.count(1, Field::OperationResults)?;
            if !spec.variadic_results && n != available {
                return Err(ReadError::new(
                    at,
                    Kind::ResultCount { class: spec.class, expected: available, got: n as u64 },
                ));
            }
            serialised = n;
        }
        self.result_types(cur, spec, serialised)?;

        // Flags.
        let mut present = 0;
        if spec.has_flags(version) {
            let at = cur.pos();
            let flags = cur.varint(Field::OperationFlags)?;
            if flags >> spec.bits != 0 {
                return Err(ReadError::new(at, Kind::OperationFlags { class: spec.class, flags }));
            }
            present = flags as u32;
        }
        if spec.bits > 0 {
            self.set_word(op, (spec.regions > 0) as usize, present);
        }

        self.attributes(cur, spec, op, present)?;
        self.operands(cur, spec, op, present)?;
        if spec.regions > 0 {
            let at = cur.pos();
            let n = cur.varint(Field::RegionCount)?;
            if n != spec.regions as u64 {
                return Err(ReadError::new(
                    at,
                    Kind::RegionCount { class: spec.class, expected: spec.regions, got: n },
                ));
            }
            self.regions(cur, spec, op, depth)?;
        }
        self.complete(spec, op, serialised);
        Ok(spec.terminator)
    }

    /// Reads and checks an opcode.
    pub(crate) fn opcode(&mut self, cur: &mut Cursor) -> ReadResult<(&'static OpSpec, usize)> {
        let start = cur.pos();
        let opcode = cur.varint(Field::OperationOpcode)?;
        let fail = |kind| Err(ReadError::new(start, kind));
        let version = self.module.version;
        let Some(spec) = schema::lookup(opcode) else { return fail(Kind::UnknownOpcode(opcode)) };
        if !version.at_least(spec.since) {
            // The specification's reader knows one version: what is newer does not exist there.
            let unknown = !self.wire.is_public();
            return fail(if unknown { Kind::UnknownOpcode(opcode) } else { Kind::OpcodeVersion { opcode, version } });
        }
        if matches!(spec.name, "entry" | "global" | "module") {
            return fail(Kind::NotABodyOperation(spec.name));
        }
        Ok((spec, start))
    }

    /// Appends the header and the words of fixed length, zeroed.
    pub(crate) fn begin(&mut self, spec: &OpSpec, offset: usize) -> usize {
        let words = self.body.words.len() as u32;
        let op = self.body.ops.len();
        reserve(&mut self.body.ops, 1);
        self.body.ops.push(OpData { words, offset: offset as u32, first_result: 0, opcode: spec.opcode });
        let fixed = spec.head_words() + spec.attr_words as usize;
        reserve(&mut self.body.words, fixed + 8);
        self.body.words.resize(words as usize + fixed, 0);
        op
    }

    pub(crate) fn set_word(&mut self, op: usize, i: usize, value: u32) {
        let at = self.body.ops[op].words as usize + i;
        self.body.words[at] = value;
    }

    pub(crate) fn push_word(&mut self, w: u32) {
        reserve(&mut self.body.words, 1);
        self.body.words.push(w);
    }

    pub(crate) fn result_types(&mut self, cur: &mut Cursor, spec: &'static OpSpec, n: usize) -> ReadResult<()> {
        let op = self.body.ops.len() - 1;
        for result in 0..n {
            let at = cur.pos();
            let bad = || Kind::ResultType { result, class: spec.class };
            let ty = cur.varint(Field::FunctionResultType).map_err(|e| e.instead_of_field(bad))?;
            if ty >= self.module.types.len() as u64 {
                return Err(ReadError::new(at, bad()));
            }
            self.push_word(ty as u32);
        }
        if spec.variadic_results {
            self.set_word(op, spec.result_count_at(), n as u32);
        } else {
            for _ in n..spec.results.len() {
                let token = self.implied_token();
                self.push_word(token.0);
            }
        }
        Ok(())
    }

    /// The token type, for results that an old file does not mention.
    fn implied_token(&mut self) -> TypeId {
        let types = &mut self.module.types;
        let found = types.iter().position(|e| e.ty == Type::Token);
        TypeId(found.unwrap_or_else(|| {
            types.push(TypeEntry { ty: Type::Token, offset: 0 });
            types.len() - 1
        }) as u32)
    }

    fn attributes(&mut self, cur: &mut Cursor, spec: &'static OpSpec, op: usize, present: u32) -> ReadResult<()> {
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
                self.attribute(cur, field.kind, op)?
            };
            self.set_word(op, slot, word);
            slot += 1;
        }
        Ok(())
    }

    pub(crate) fn attr_reader(&mut self) -> AttrReader<'_> {
        let m = &mut *self.module;
        AttrReader { wire: self.wire, strings: &m.strings, types: &m.types, constants: &mut m.constants }
    }

    fn attribute(&mut self, cur: &mut Cursor, kind: AttrKind, op: usize) -> ReadResult<u32> {
        const WHAT: Field = Field::OperationAttribute;
        let at = cur.pos();
        let attr = match kind {
            AttrKind::Enum(e) => {
                let v = cur.varint(WHAT)?;
                return if v < e.keywords.len() as u64 {
                    Ok(v as u32)
                } else {
                    Err(ReadError::new(at, Kind::EnumValue(v)))
                };
            }
            AttrKind::I32 | AttrKind::I64 => {
                let v = cur.varint(WHAT)?;
                return Ok(self.body.int_word(v));
            }
            AttrKind::Bool => return self.attr_reader().bool(cur, WHAT).map(u32::from),
            AttrKind::Unit => return Ok(1),
            AttrKind::Str => return self.attr_reader().string(cur, WHAT).map(|s| s.0),
            AttrKind::Sym => {
                let s = self.attr_reader().string(cur, WHAT)?;
                return if self.module.string(s).is_empty() {
                    Err(ReadError::new(at, Kind::EmptySymbol))
                } else {
                    Ok(s.0)
                };
            }
            AttrKind::Type => return self.attr_reader().ty(cur, Field::TypeAttribute).map(|t| t.0),
            AttrKind::Dense => {
                let c = constant_ref(cur, &self.module.constants)?;
                let ty = self.body.op(OpId(op as u32)).first_pushed_type();
                check_dense(self.module, ty, c).map_err(|k| ReadError::new(at, k))?;
                return Ok(c.0);
            }
            AttrKind::I32s => self.attr_reader().i32s(cur)?,
            AttrKind::Array => self.attr_reader().array_field(cur)?,
            AttrKind::Hints => self.attr_reader().hints_field(cur)?,
            AttrKind::Tagged => self.attr_reader().tagged(cur)?,
        };
        Ok(self.module.attrs.intern(attr).0)
    }

    fn operands(&mut self, cur: &mut Cursor, spec: &'static OpSpec, op: usize, present: u32) -> ReadResult<()> {
        if spec.segmented {
            let mut count_at = spec.counts_at();
            for (g, field) in spec.operands.iter().enumerate() {
                let n = match field.arity {
                    Arity::One => 1,
                    Arity::Optional => (present >> spec.operand_bits[g] & 1) as usize,
                    Arity::Variadic => {
                        let n = cur.count(1, Field::OperationOperands)?;
                        self.set_word(op, count_at, n as u32);
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
                        .map_err(|()| ReadError::new(at, Kind::SegmentIndex { index, size, segment, element }))?;
                }
            }
            return Ok(());
        }
        let mut n = spec.operands.len();
        if spec.count_words > 0 {
            let at = cur.pos();
            n = cur.count(1, Field::OperationOperands)?;
            self.set_word(op, spec.counts_at(), n as u32);
            check_operand_count(spec, n).map_err(|k| ReadError::new(at, k))?;
        }
        for operand in 0..n {
            let at = cur.pos();
            let index = cur.varint(Field::OperandIndex)?;
            let size = self.scope_len();
            self.operand(index).map_err(|()| ReadError::new(at, Kind::OperandIndex { index, size, operand }))?;
        }
        Ok(())
    }

    /// Pushes the value with a wire number.
    #[inline]
    pub(crate) fn operand(&mut self, index: u64) -> Result<(), ()> {
        let value = match index.checked_sub(self.body.arguments.into()) {
            None => index as u32,
            Some(i) => *usize::try_from(i).ok().and_then(|i| self.stack.get(i)).ok_or(())?,
        };
        self.push_word(value);
        Ok(())
    }

    /// Number of values that an operand may refer to.
    pub(crate) fn scope_len(&self) -> usize {
        self.body.arguments as usize + self.stack.len()
    }

    /// Reads the regions of the operation whose header and operands are complete.
    pub(crate) fn regions(&mut self, cur: &mut Cursor, spec: &'static OpSpec, op: usize, depth: u32) -> ReadResult<()> {
        if depth >= MAX_DEPTH {
            return cur.fail(Kind::RegionDepth);
        }
        let first = self.body.regions.len();
        self.set_word(op, 0, first as u32);
        self.body.regions.resize(first + spec.regions, Region(None));
        for region in 0..spec.regions {
            let at = cur.pos();
            match cur.varint(Field::BlockCount)? {
                0 => continue,
                1 => {}
                _ => return Err(ReadError::new(at, Kind::RegionBlocks { op: spec.name, region })),
            }
            let block = self.block(cur, depth)?;
            self.body.regions[first + region] = Region(Some(block));
        }
        Ok(())
    }

    pub(crate) fn block(&mut self, cur: &mut Cursor, depth: u32) -> ReadResult<u32> {
        let height = self.stack.len();
        let words = self.body.words.len() as u32;
        let n = cur.count(1, Field::BlockArguments)?;
        for _ in 0..n {
            let at = cur.pos();
            let ty = cur.varint(Field::BlockArgumentType)?;
            if ty >= self.module.types.len() as u64 {
                return Err(ReadError::new(at, Field::BlockArgumentType.into()));
            }
            self.push_word(ty as u32);
        }
        let first_arg = self.new_values(n);
        let block = self.body.blocks.len();
        let first_op = self.body.ops.len() as u32;
        self.body.blocks.push(Block { words, args: n as u32, first_arg, first_op, end_op: first_op });
        let mut terminated = false;
        let ops = cur.count(2, Field::BlockOperations)?;
        for _ in 0..ops {
            terminated = if self.wire.is_public() { self.op(cur, depth + 1)? } else { self.spec_op(cur, depth + 1)? };
        }
        if !terminated {
            return cur.fail(Kind::MissingTerminator);
        }
        self.body.blocks[block].end_op = self.body.ops.len() as u32;
        self.stack.truncate(height);
        Ok(block as u32)
    }

    /// Numbers the results: those on the wire go to the stack, the others have a value only.
    pub(crate) fn complete(&mut self, spec: &OpSpec, op: usize, serialised: usize) {
        let first = self.new_values(serialised);
        self.body.ops[op].first_result = first;
        if !spec.variadic_results {
            self.body.values += (spec.results.len() - serialised) as u32;
        }
    }
}

/// The operand count of an operation that is not segmented.
pub(crate) fn check_operand_count(spec: &OpSpec, n: usize) -> Result<(), Kind> {
    let fixed = spec.fixed_operands();
    let open = spec.operands.iter().any(|f| f.arity == Arity::Variadic);
    let most = if open { usize::MAX } else { spec.operands.len() };
    if n < fixed || n > most {
        let expected = if open { format!("at least {fixed}") } else { format!("{fixed}") };
        return Err(Kind::OperandCount { class: spec.class, expected, got: n as u64 });
    }
    Ok(())
}

/// The word that stands for a public location index; `None` if no operation can have it.
fn location_word(debug: &[DebugAttr], index: u64) -> Option<u32> {
    if index == 0 {
        return Some(0);
    }
    let i = usize::try_from(index - 1).ok()?;
    debug.get(i).filter(|a| is_location(a))?;
    Some(i as u32 + 1)
}
