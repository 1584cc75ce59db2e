//! Encodes a [`Module`] as bytes.
//!
//! Pools are written in their order, so an unchanged module reproduces the file it was read from. Sections follow the
//! reference order unless the layout gives another one. Globals and functions are encoded first, because in the
//! specification container they add to the pools.
//!
//! When writing for an older version, fields and results that it lacks are dropped if no information is lost: the
//! field holds its default, the optional part is absent, or the result is unused.

use crate::attrs::AttrWriter;
use crate::body::{AttrValue, Block, Body, BoolList, OpRef};
use crate::container::{PREVIEW, Payload, Profile, WireProfile, write_envelope};
use crate::debug::{put_debug, wire_reference};
use crate::error::{SectionId, WriteError};
use crate::module::*;
use crate::preview::{Implementation, put_scratch};
use crate::reader::{ENTRY, HINTS, IMPLEMENTATION, PRIVATE};
use crate::schema::{Arity, AttrKind, NO_BIT, OpSpec, V13_3, V13_5};
use crate::sections::put_table;
use crate::spec_ops::{SpecPools, put_dictionary};
use crate::types::put_type;
use crate::varint::Encode;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

type Result<T> = std::result::Result<T, WriteError>;

/// Writes a module in the given container and version.
///
/// # Errors
///
/// Fails if the version or the container cannot express the module, or if the module is inconsistent.
pub fn write(module: &Module, profile: Profile, version: Version) -> Result<Vec<u8>> {
    let module = &*crate::forms::for_container(module, profile);
    let wire = profile.wire();
    if !wire.supports(version) {
        return Err(WriteError::UnsupportedVersion { version, min: wire.min, max: wire.max });
    }
    let mut w = Writer {
        attrs: AttrWriter { wire, module },
        wire,
        version,
        module,
        pools: ExtraPools::new(module),
        entries: IndexSet::default(),
        entry_bytes: 0,
        runs: Vec::new(),
        used_ops: [false; 256],
        implied_types: false,
        preview: version.at_least(V13_5) && version.tag & PREVIEW != 0,
    };
    if module.has_preview_pools() {
        w.uses_preview("a type, attribute or function")?;
    }
    let globals = w.globals()?;
    let functions = w.functions()?;
    let constants = w.constants();
    let debug = w.debug()?;
    let types = w.types()?;
    let strings = w.strings();

    let sections = [
        (SectionId::Global, globals),
        (SectionId::Func, Some(functions)),
        (SectionId::Constant, constants),
        (SectionId::Debug, debug),
        (SectionId::Type, Some(types)),
        (SectionId::Producer, w.producer()),
        (SectionId::String, Some(strings)),
    ];
    let mut sections: Vec<Payload> =
        sections.into_iter().filter_map(|(id, bytes)| bytes.map(|bytes| Payload { id, bytes })).collect();
    // The sort is stable: sections that the order does not mention come last, in the reference order.
    let order = &module.layout.order;
    sections.sort_by_key(|s| order.iter().position(|id| *id == s.id).unwrap_or(order.len()));
    let used_ops = w.used_ops.iter().filter(|u| **u).count();
    let version = Version { tag: version.tag | if w.preview { PREVIEW } else { 0 }, ..version };
    Ok(write_envelope(wire, version, used_ops, &sections))
}

/// The module's strings and types plus the ones that the specification container's dictionaries add.
struct ExtraPools<'m> {
    module: &'m Module,
    names: FxHashMap<String, StringId>,
    strings: Vec<String>,
    scalars: FxHashMap<Scalar, TypeId>,
    types: Vec<Scalar>,
}

impl<'m> ExtraPools<'m> {
    fn new(module: &'m Module) -> Self {
        ExtraPools {
            module,
            names: FxHashMap::default(),
            strings: Vec::new(),
            scalars: FxHashMap::default(),
            types: Vec::new(),
        }
    }
}

impl SpecPools for ExtraPools<'_> {
    fn name(&mut self, name: &str) -> StringId {
        if let Some(&id) = self.names.get(name) {
            return id;
        }
        let known = self.module.strings.iter().position(|s| s == name.as_bytes());
        let id = StringId(known.unwrap_or_else(|| {
            self.strings.push(name.to_owned());
            self.module.strings.len() + self.strings.len() - 1
        }) as u32);
        self.names.insert(name.to_owned(), id);
        id
    }

    fn scalar(&mut self, s: Scalar) -> TypeId {
        if let Some(&id) = self.scalars.get(&s) {
            return id;
        }
        let types = &self.module.types[..self.module.declared_types];
        let known = types.iter().position(|t| t.ty == Type::Scalar(s));
        let id = TypeId(known.unwrap_or_else(|| {
            self.types.push(s);
            types.len() + self.types.len() - 1
        }) as u32);
        self.scalars.insert(s, id);
        id
    }
}

/// The specification container expands splats; this limits the output of a small module.
const MAX_ENTRY_BYTES: usize = 1 << 30;

struct Writer<'m> {
    wire: &'static WireProfile,
    version: Version,
    module: &'m Module,
    attrs: AttrWriter<'m>,
    pools: ExtraPools<'m>,
    /// Entries of the specification container's Constant section, and their total size.
    entries: IndexSet<Vec<u8>, FxBuildHasher>,
    entry_bytes: usize,
    /// Location runs of the Debug section.
    runs: Vec<Vec<u64>>,
    used_ops: [bool; 256],
    /// Whether a type past the declared ones is used.
    implied_types: bool,
    /// Whether the file has previews.
    preview: bool,
}

/// Wire numbers of the values of a function.
struct ValueNumbers {
    /// Wire number of each value that has been numbered so far.
    numbers: Vec<u32>,
    stack: Vec<u32>,
    /// Results that do not exist in the target version.
    dropped: FxHashMap<u32, (&'static str, Version)>,
}

impl ValueNumbers {
    fn push(&mut self, value: ValueId) {
        self.numbers[value.index()] = self.stack.len() as u32;
        self.stack.push(value.0);
    }

    /// The number of a value, if it is in scope.
    fn number(&self, value: ValueId) -> Option<u32> {
        let n = *self.numbers.get(value.index())?;
        (self.stack.get(n as usize) == Some(&value.0)).then_some(n)
    }
}

impl Writer<'_> {
    /// Notes that the file needs the preview bit, which only one version has.
    fn uses_preview(&mut self, what: &'static str) -> Result<()> {
        if !self.wire.is_public() || !self.version.at_least(V13_5) {
            return Err(WriteError::Preview { what, version: self.version });
        }
        self.preview = true;
        Ok(())
    }

    fn string(&self, out: &mut Vec<u8>, s: StringId) -> Result<()> {
        let size = self.module.strings.len();
        check("string", s.index(), size)?;
        out.put_varint(s.0.into());
        Ok(())
    }

    fn ty(&mut self, out: &mut Vec<u8>, t: TypeId) -> Result<()> {
        check("type", t.index(), self.module.types.len())?;
        self.implied_types |= t.index() >= self.module.declared_types;
        out.put_varint(t.0.into());
        Ok(())
    }

    /// Index of an entry of the Constant section; adds it if necessary.
    fn entry(&mut self, bytes: Vec<u8>) -> Result<u64> {
        let size = bytes.len();
        let (index, new) = self.entries.insert_full(bytes);
        self.entry_bytes += if new { size } else { 0 };
        if self.entry_bytes > MAX_ENTRY_BYTES {
            return Err(WriteError::TooLarge { what: "constant section", max: MAX_ENTRY_BYTES });
        }
        Ok(index as u64)
    }

    fn globals(&mut self) -> Result<Option<Vec<u8>>> {
        let module = self.module;
        if module.globals.is_empty() {
            return Ok(None);
        }
        let version = self.version;
        let mut out = Vec::new();
        out.put_varint(module.globals.len() as u64);
        for g in &module.globals {
            if !version.at_least(V13_3) {
                if g.constant {
                    return Err(WriteError::ConstantGlobal { name: module.text(g.name), version });
                }
                if g.private {
                    return Err(WriteError::PrivateGlobal { name: module.text(g.name), version });
                }
            }
            self.string(&mut out, g.name)?;
            self.ty(&mut out, g.ty)?;
            check("constant", g.value.index(), module.constants.len())?;
            if self.wire.is_public() {
                out.put_varint(g.value.0.into());
            } else {
                let (element, shape) = crate::attrs::dense_type(module, g.ty)?;
                let mut entry = Vec::new();
                self.attrs.dense_inline(&mut entry, element, &shape, g.value)?;
                let index = self.entry(entry)?;
                out.put_varint(index);
            }
            out.put_varint(g.alignment);
            if version.at_least(V13_3) {
                out.put_varint(g.private.into());
                out.put_varint(g.constant.into());
            }
        }
        Ok(Some(out))
    }

    fn functions(&mut self) -> Result<Vec<u8>> {
        let module = self.module;
        let mut out = Vec::new();
        out.put_varint(module.functions.len() as u64);
        for (index, f) in module.functions.iter().enumerate() {
            self.function(&mut out, index, f)?;
        }
        if module.layout.pad_functions {
            out.put_padding(8, self.wire.padding);
        }
        Ok(out)
    }

    fn function(&mut self, out: &mut Vec<u8>, index: usize, f: &Function) -> Result<()> {
        let module = self.module;
        self.string(out, f.name)?;
        self.ty(out, f.signature)?;
        let Type::Function { inputs, .. } = module.ty(f.signature) else {
            return Err(WriteError::Malformed { what: "signature of function" });
        };
        match module.library_function(index) {
            None => {}
            Some(LibraryFunction::Extern(constants)) => return self.declaration(out, f, constants),
            Some(LibraryFunction::Implementation(i)) => return self.implementation(out, f, i),
        }
        if inputs.len() != f.body.arguments().len() {
            return Err(WriteError::Malformed { what: "arguments of function" });
        }
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let complete = self.wire.is_public() && self.version.at_least(V13_5);
        if f.arg_attrs.is_some() && !complete {
            return Err(WriteError::OptionalAttribute { name: "arg_attrs", since: V13_5, version: self.version });
        }
        out.push(ENTRY | flag(f.private, PRIVATE) | flag(f.hints.is_some() && !complete, HINTS));
        self.location(out, f)?;
        let pooled = |id: AttrId| {
            check("attribute", id.index(), module.attrs.len())?;
            Ok(module.attr(id))
        };
        match f.hints.map(pooled).transpose()? {
            Some(hints) => self.attrs.tagged(out, hints)?,
            None if complete => self.attrs.tagged(out, &Attr::Hints(Box::new([])))?,
            None => {}
        }
        if complete {
            let attributes = f.arg_attrs.map(pooled).transpose()?;
            self.attrs.tagged(out, attributes.unwrap_or(&Attr::Array(Box::new([]))))?;
        }

        let mut numbers = ValueNumbers {
            numbers: vec![u32::MAX; f.body.value_count()],
            stack: Vec::new(),
            dropped: FxHashMap::default(),
        };
        f.body.arguments().for_each(|a| numbers.push(a));
        let mut body = Vec::new();
        if self.wire.is_public() {
            for op in f.body.top_level() {
                self.op(&mut body, op, &mut numbers)?;
            }
        } else {
            body.put_varint(1);
            body.put_varint(inputs.len() as u64);
            for &t in inputs {
                self.ty(&mut body, t)?;
            }
            body.put_varint(f.body.top_level().count() as u64);
            for op in f.body.top_level() {
                self.op(&mut body, op, &mut numbers)?;
            }
        }
        out.put_varint(body.len() as u64);
        out.extend(body);
        Ok(())
    }

    fn declaration(&mut self, out: &mut Vec<u8>, f: &Function, constants: &[Attr]) -> Result<()> {
        out.push(if f.private { PRIVATE } else { 0 });
        self.location(out, f)?;
        let module = self.module;
        let attributes = match f.arg_attrs {
            Some(id) => {
                check("attribute", id.index(), module.attrs.len())?;
                module.attr(id)
            }
            None => &Attr::Array(Box::new([])),
        };
        self.attrs.tagged(out, attributes)?;
        out.put_varint(0);
        self.attrs.tagged(out, &Attr::Array(constants.into()))
    }

    fn implementation(&mut self, out: &mut Vec<u8>, f: &Function, i: &Implementation) -> Result<()> {
        out.push(IMPLEMENTATION | if f.private { PRIVATE } else { 0 });
        self.location(out, f)?;
        out.put_varint(i.bits());
        self.string(out, i.symbol)?;
        self.string(out, i.implements)?;
        let array = |w: &Self, out: &mut Vec<u8>, list: &Option<Box<[Attr]>>| {
            list.as_ref().map_or(Ok(()), |list| w.attrs.array(out, list))
        };
        let dictionary = |w: &Self, out: &mut Vec<u8>, list: &Option<Box<[(StringId, Attr)]>>| {
            list.as_ref().map_or(Ok(()), |list| w.attrs.dictionary(out, list))
        };
        array(self, out, &i.parameters)?;
        array(self, out, &i.arguments)?;
        self.ty(out, i.signature)?;
        array(self, out, &i.arg_attrs)?;
        array(self, out, &i.res_attrs)?;
        if let Some(scratch) = &i.scratch {
            put_scratch(out, scratch);
        }
        dictionary(self, out, &i.config)?;
        array(self, out, &i.architectures)?;
        dictionary(self, out, &i.abi)?;
        i.synchronization.into_iter().for_each(|s| out.put_varint(s.into()));
        i.score.into_iter().for_each(|s| out.put_varint(s));
        // One region without blocks, and no body.
        out.extend([1, 0, 0]);
        Ok(())
    }

    /// Writes the function's slot of the Debug section and its run.
    fn location(&mut self, out: &mut Vec<u8>, f: &Function) -> Result<()> {
        let public = self.wire.is_public();
        let own = match f.location {
            None if !f.body.has_locations() || !public => {
                out.put_varint(0);
                return Ok(());
            }
            None => None,
            Some(own) => own,
        };
        let size = self.module.debug.len();
        if let Some(own) = own {
            check("debug attribute", own.index(), size)?;
        } else if !public {
            // The container has no number for "unknown", and operations store their own locations.
            out.put_varint(0);
            return Ok(());
        }
        let mut run = vec![wire_reference(self.wire, own)];
        if public {
            for op in f.body.all_ops() {
                let location = op.location();
                check("debug attribute", location.map_or(0, |l| l.index() + 1), size + 1)?;
                run.push(wire_reference(self.wire, location));
            }
        }
        self.runs.push(run);
        out.put_varint(self.runs.len() as u64);
        Ok(())
    }

    fn op(&mut self, out: &mut Vec<u8>, op: OpRef, numbers: &mut ValueNumbers) -> Result<()> {
        let spec = op.spec;
        let version = self.version;
        if !version.at_least(spec.since) {
            return Err(WriteError::Operation { name: spec.name, version });
        }
        if spec.is_preview() {
            self.uses_preview(spec.name)?;
        }
        self.used_ops[spec.opcode as usize] = true;
        out.put_varint(spec.wire_opcode());
        if !self.wire.is_public() {
            let location = op.location();
            check("debug attribute", location.map_or(0, |l| l.index() + 1), self.module.debug.len() + 1)?;
            out.put_sleb(location.map_or(-1, |l| l.0.into()));
        }

        let results = op.result_types();
        let available = if spec.variadic_results {
            results.len()
        } else {
            spec.results.iter().filter(|r| version.at_least(r.since)).count()
        };
        if if self.wire.is_public() { spec.variadic } else { spec.variadic_results } {
            out.put_varint(available as u64);
        }
        for t in results.take(available) {
            self.ty(out, t)?;
        }

        if self.wire.is_public() {
            self.flags(out, op)?;
            self.attributes(out, op)?;
            self.operands(out, op, numbers)?;
        } else {
            self.flags(&mut Vec::new(), op)?;
            let operands = op.operands();
            out.put_varint(operands.len() as u64);
            for (i, v) in operands.enumerate() {
                put_operand(out, numbers, spec, i, v, version)?;
            }
            check_attribute_indices(self.module, op)?;
            check_defaults(op, version)?;
            let entry = put_dictionary(&self.attrs, &mut self.pools, op, version)?;
            let reference = match entry {
                Some(e) => self.entry(e)? + 1,
                None => 0,
            };
            out.put_varint(reference);
        }

        if spec.regions > 0 {
            out.put_varint(spec.regions as u64);
            for region in op.regions() {
                let block = op.block(region);
                out.put_varint(block.is_some().into());
                if let Some(b) = block {
                    self.block(out, op.body, b, numbers)?;
                }
            }
        }

        for (i, v) in op.results().enumerate() {
            if i < available {
                numbers.push(v);
            } else {
                numbers.dropped.insert(v.0, (spec.results[i].name, spec.results[i].since));
            }
        }
        Ok(())
    }

    fn block(&mut self, out: &mut Vec<u8>, body: &Body, block: &Block, numbers: &mut ValueNumbers) -> Result<()> {
        let height = numbers.stack.len();
        out.put_varint(block.arg_count().into());
        for t in block.arg_types(body) {
            self.ty(out, t)?;
        }
        block.args().for_each(|a| numbers.push(a));
        out.put_varint(block.ops(body).count() as u64);
        for op in block.ops(body) {
            self.op(out, op, numbers)?;
        }
        numbers.stack.truncate(height);
        Ok(())
    }

    fn flags(&self, out: &mut Vec<u8>, op: OpRef) -> Result<()> {
        let (spec, version, present) = (op.spec, self.version, op.present());
        if spec.bits == 0 {
            return Ok(());
        }
        let is_set = |bit: u8| bit != NO_BIT && present >> bit & 1 != 0;
        for (f, &bit) in spec.attrs.iter().zip(&spec.attr_bits) {
            if is_set(bit) && !version.at_least(f.since) {
                return Err(WriteError::OptionalAttribute { name: f.name, since: f.since, version });
            }
        }
        for (f, &bit) in spec.operands.iter().zip(&spec.operand_bits) {
            if is_set(bit) && !version.at_least(f.since) {
                return Err(WriteError::OptionalOperand { name: f.name, since: f.since, version });
            }
        }
        if spec.has_flags(version) {
            out.put_varint(present.into());
        }
        Ok(())
    }

    fn attributes(&self, out: &mut Vec<u8>, op: OpRef) -> Result<()> {
        check_attribute_indices(self.module, op)?;
        check_defaults(op, self.version)?;
        for (i, field) in op.spec.attrs.iter().enumerate() {
            if !self.version.at_least(field.since) {
                continue;
            }
            match op.attr(i) {
                None if field.kind == AttrKind::Bools => {
                    let n = op.spec.operands.iter().position(|f| f.arity == Arity::Variadic);
                    let n = n.map_or(0, |group| op.group_len(group));
                    // Versions without such a list do not limit its length.
                    if n > BoolList::MAX {
                        return Err(WriteError::Malformed { what: field.name });
                    }
                    out.put_varint(n as u64);
                    out.extend(std::iter::repeat_n(0, n));
                }
                Some(AttrValue::Bools(list)) => {
                    out.put_varint(list.iter().len() as u64);
                    out.extend(list.iter().map(u8::from));
                }
                None | Some(AttrValue::Unit) => {}
                Some(AttrValue::Enum(v)) => out.put_varint(v.into()),
                Some(AttrValue::Int(v)) => out.put_varint(v),
                Some(AttrValue::Bool(b)) => out.push(b.into()),
                Some(AttrValue::Str(s) | AttrValue::Sym(s)) => out.put_varint(s.0.into()),
                Some(AttrValue::Type(t)) => out.put_varint(t.0.into()),
                Some(AttrValue::Dense(c)) => out.put_varint(c.0.into()),
                Some(AttrValue::Attr(id)) => match (field.kind, self.module.attr(id)) {
                    (AttrKind::I32s, Attr::I32s(v)) => out.put_i32s(v),
                    (AttrKind::Array, Attr::Array(v)) => self.attrs.array(out, v)?,
                    (AttrKind::Hints, Attr::Hints(d) | Attr::Dictionary(d)) => self.attrs.dictionary(out, d)?,
                    (AttrKind::Tagged, a) => self.attrs.tagged(out, a)?,
                    _ => return Err(WriteError::Malformed { what: field.name }),
                },
            }
        }
        Ok(())
    }

    fn operands(&self, out: &mut Vec<u8>, op: OpRef, numbers: &ValueNumbers) -> Result<()> {
        let spec = op.spec;
        let mut values = op.operands().enumerate();
        if !spec.segmented {
            if spec.count_words > 0 {
                out.put_varint(values.len() as u64);
            }
            return values.try_for_each(|(i, v)| put_operand(out, numbers, spec, i, v, self.version));
        }
        for (g, field) in spec.operands.iter().enumerate() {
            let n = op.group_len(g);
            if field.arity == Arity::Variadic {
                out.put_varint(n as u64);
            }
            for (i, v) in values.by_ref().take(n) {
                put_operand(out, numbers, spec, i, v, self.version)?;
            }
        }
        Ok(())
    }

    fn constants(&self) -> Option<Vec<u8>> {
        let mut records = Blobs::default();
        if self.wire.is_public() {
            let mut record = Vec::new();
            for blob in self.module.constants.iter() {
                record.clear();
                record.put_varint(blob.len() as u64);
                record.extend(blob);
                records.push(&record);
            }
        } else {
            self.entries.iter().for_each(|e| _ = records.push(e));
        }
        if records.is_empty() {
            return None;
        }
        let mut out = Vec::new();
        put_table(&mut out, 8, self.wire.padding, &records);
        Some(out)
    }

    fn debug(&self) -> Result<Option<Vec<u8>>> {
        let module = self.module;
        if module.debug.is_empty() && self.runs.is_empty() {
            return Ok(None);
        }
        for a in &module.debug {
            for r in a.references() {
                check("debug attribute", r.index(), module.debug.len())?;
            }
            if !self.wire.is_public() && a.has_unknown() {
                return Err(WriteError::Malformed {
                    what: "unknown location in a debug attribute of the specification container",
                });
            }
            for s in a.strings() {
                check("string", s.index(), module.strings.len())?;
            }
        }
        Ok(Some(put_debug(self.wire, self.version, &module.debug, &self.runs)))
    }

    fn types(&self) -> Result<Vec<u8>> {
        let module = self.module;
        let size = if self.implied_types { module.types.len() } else { module.declared_types };
        let public = self.wire.is_public();
        let mut records = Blobs::default();
        let mut record = Vec::new();
        let extra = self.pools.types.iter().map(|&s| Type::Scalar(s)).collect::<Vec<_>>();
        for ty in module.types[..size].iter().map(|e| &e.ty).chain(&extra) {
            for c in ty.components() {
                check("type", c.index(), size)?;
            }
            record.clear();
            put_type(&mut record, ty, self.version, !public)?;
            records.push(&record);
        }
        let mut out = Vec::new();
        put_table(&mut out, 4, self.wire.padding, &records);
        if records.is_empty() {
            out.put_padding(4, self.wire.padding);
        }
        Ok(out)
    }

    fn producer(&self) -> Option<Vec<u8>> {
        let p = self.module.producer.filter(|_| self.version.at_least(V13_3) && self.wire.is_public())?;
        let mut out = Vec::new();
        out.put_varint(p.0.into());
        Some(out)
    }

    fn strings(&self) -> Vec<u8> {
        let mut records = self.module.strings.clone();
        for s in &self.pools.strings {
            records.push(s.as_bytes());
        }
        let mut out = Vec::new();
        put_table(&mut out, 4, self.wire.padding, &records);
        if records.is_empty() {
            out.put_padding(4, self.wire.padding);
        }
        out
    }
}

fn check(what: &'static str, index: usize, size: usize) -> Result<()> {
    if index < size { Ok(()) } else { Err(WriteError::Index { what, index, size }) }
}

fn put_operand(
    out: &mut Vec<u8>,
    numbers: &ValueNumbers,
    spec: &OpSpec,
    operand: usize,
    v: ValueId,
    version: Version,
) -> Result<()> {
    if let Some(&(name, since)) = numbers.dropped.get(&v.0) {
        return Err(WriteError::Result { name, since, version });
    }
    let n = numbers.number(v).ok_or(WriteError::Scope { name: spec.name, operand })?;
    out.put_varint(n.into());
    Ok(())
}

/// Checks that fields which the version lacks hold the value that its readers assume, and that all other values exist
/// in it.
fn check_defaults(op: OpRef, version: Version) -> Result<()> {
    for (i, f) in op.spec.attrs.iter().enumerate() {
        if let (AttrKind::Enum(e), Some(AttrValue::Enum(v))) = (f.kind, op.attr(i))
            && !version.at_least(e.since(v))
        {
            let value = e.keywords.get(v as usize).copied().unwrap_or_default();
            return Err(WriteError::EnumValue { name: f.name, value, since: e.since(v), version });
        }
        if version.at_least(f.since) || f.optional {
            continue;
        }
        let value = match op.attr(i) {
            Some(AttrValue::Enum(v)) => Some(v),
            Some(AttrValue::Int(v)) => u32::try_from(v).ok(),
            Some(AttrValue::Bool(b)) => Some(b.into()),
            Some(AttrValue::Bools(list)) => Some(list.any().into()),
            None if f.kind == AttrKind::Bools => f.default,
            _ => None,
        };
        if value != f.default {
            return Err(WriteError::Attribute { name: f.name, since: f.since, version });
        }
    }
    Ok(())
}

fn check_attribute_indices(module: &Module, op: OpRef) -> Result<()> {
    for i in 0..op.spec.attrs.len() {
        match op.attr(i) {
            Some(AttrValue::Str(s) | AttrValue::Sym(s)) => check("string", s.index(), module.strings.len())?,
            Some(AttrValue::Type(t)) => check("type", t.index(), module.types.len())?,
            Some(AttrValue::Dense(c)) => check("constant", c.index(), module.constants.len())?,
            Some(AttrValue::Attr(a)) => check("attribute", a.index(), module.attrs.len())?,
            _ => {}
        }
    }
    Ok(())
}
