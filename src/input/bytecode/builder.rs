//! Builds a module from scratch: interned pools, and bodies that are well formed by construction.

use crate::body::{AttrValue, Body, Draft};
use crate::error::WriteError;
use crate::module::*;
use crate::schema::{Arity, AttrKind, NO_BIT, OpSpec};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// Interning wrapper around a module's pools. Equal entries share one index; indices follow the order of first use.
#[derive(Default)]
pub struct Pools {
    strings: IndexSet<Vec<u8>, FxBuildHasher>,
    types: IndexSet<Type, FxBuildHasher>,
    constants: IndexSet<Vec<u8>, FxBuildHasher>,
    debug: IndexSet<DebugAttr, FxBuildHasher>,
    pub attrs: AttrPool,
}

impl Pools {
    pub fn string(&mut self, s: &[u8]) -> StringId {
        let known = self.strings.get_index_of(s);
        StringId(known.unwrap_or_else(|| self.strings.insert_full(s.to_vec()).0) as u32)
    }

    /// Interns a type. Its components must have been interned before, so they have lower indices.
    pub fn ty(&mut self, ty: Type) -> TypeId {
        TypeId(self.types.insert_full(ty).0 as u32)
    }

    pub fn get_type(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// Interns the raw elements of a constant (see [`Module::constants`]).
    pub fn constant(&mut self, raw: &[u8]) -> ConstantId {
        let known = self.constants.get_index_of(raw);
        ConstantId(known.unwrap_or_else(|| self.constants.insert_full(raw.to_vec()).0) as u32)
    }

    pub fn debug(&mut self, attr: DebugAttr) -> DebugId {
        DebugId(self.debug.insert_full(attr).0 as u32)
    }

    pub fn get_debug(&self, id: DebugId) -> &DebugAttr {
        &self.debug[id.index()]
    }

    /// Moves the pools into a module.
    pub fn finish(self, module: &mut Module) {
        self.strings.iter().for_each(|s| _ = module.strings.push(s));
        module.types = self.types.into_iter().map(|ty| TypeEntry { ty, offset: 0 }).collect();
        module.declared_types = module.types.len();
        self.constants.iter().for_each(|c| _ = module.constants.push(c));
        module.debug = self.debug.into_iter().collect();
        module.attrs = self.attrs;
    }
}

/// An operation without its regions.
pub struct OpInit<'a> {
    pub spec: &'static OpSpec,
    pub result_types: &'a [TypeId],
    /// One entry for each attribute of the schema; `None` only for an attribute that is optional or has a default.
    pub attrs: &'a [Option<AttrValue>],
    /// One entry for each operand group of the schema.
    pub operands: &'a [&'a [ValueId]],
    pub location: Option<DebugId>,
}

/// Builds a body in pre-order: [`begin`](Self::begin) an operation, then build its regions in order, then
/// [`end`](Self::end) it.
pub struct BodyBuilder {
    body: Draft,
}

impl BodyBuilder {
    pub fn new(arguments: u32) -> Self {
        BodyBuilder { body: Draft::new(arguments, true, None) }
    }

    /// Appends the operation without its results.
    pub fn begin(&mut self, init: &OpInit) -> Result<OpId, WriteError> {
        let spec = init.spec;
        let malformed = || WriteError::Malformed { what: spec.name };
        if init.attrs.len() != spec.attrs.len() || init.operands.len() != spec.operands.len() {
            return Err(malformed());
        }
        if !spec.variadic_results && init.result_types.len() != spec.results.len() {
            return Err(malformed());
        }
        let mut present = 0u32;
        for (i, field) in spec.operands.iter().enumerate() {
            match (field.arity, init.operands[i].len()) {
                (Arity::One, 1) | (Arity::Optional, 0) | (Arity::Variadic, _) => {}
                (Arity::Optional, 1) if spec.segmented => present |= 1 << spec.operand_bits[i],
                (Arity::Optional, 1) => {}
                _ => return Err(malformed()),
            }
        }
        let mut attr_words = Vec::with_capacity(spec.attrs.len());
        for (i, (field, value)) in spec.attrs.iter().zip(init.attrs).enumerate() {
            let bit = spec.attr_bits[i];
            if value.is_some() && bit != NO_BIT {
                present |= 1 << bit;
            }
            let word = match (field.kind, value) {
                (AttrKind::Unit, Some(AttrValue::Unit) | None) => continue,
                (_, None) if field.optional => 0,
                (_, None) => field.default.ok_or_else(malformed)?,
                (AttrKind::Enum(e), Some(AttrValue::Enum(v))) if (*v as usize) < e.keywords.len() => *v,
                (AttrKind::I32 | AttrKind::I64, Some(AttrValue::Int(v))) => self.body.int_word(*v),
                (AttrKind::Bool, Some(AttrValue::Bool(b))) => (*b).into(),
                (AttrKind::Str, Some(AttrValue::Str(s))) | (AttrKind::Sym, Some(AttrValue::Sym(s))) => s.0,
                (AttrKind::Type, Some(AttrValue::Type(t))) => t.0,
                (AttrKind::Bools, Some(AttrValue::Bools(b))) => b.0,
                (AttrKind::Dense, Some(AttrValue::Dense(c))) => c.0,
                (AttrKind::I32s | AttrKind::Array | AttrKind::Hints | AttrKind::Tagged, Some(AttrValue::Attr(a))) => {
                    a.0
                }
                _ => return Err(malformed()),
            };
            attr_words.push(word);
        }

        let body = &mut self.body;
        let op = body.begin(spec, 0, init.location.map_or(0, |l| l.0 + 1));
        if spec.bits > 0 {
            *body.word(op, spec.present_at()) = present;
        }
        if spec.variadic_results {
            *body.word(op, spec.result_count_at()) = init.result_types.len() as u32;
        }
        if spec.segmented {
            let variadic = spec.operands.iter().zip(init.operands).filter(|(f, _)| f.arity == Arity::Variadic);
            for (at, (_, group)) in (spec.counts_at()..).zip(variadic) {
                *body.word(op, at) = group.len() as u32;
            }
        } else if spec.count_words > 0 {
            *body.word(op, spec.counts_at()) = init.operands.iter().map(|g| g.len() as u32).sum();
        }
        for (at, word) in (spec.head_words()..).zip(attr_words) {
            *body.word(op, at) = word;
        }
        init.result_types.iter().for_each(|t| body.push(t.0));
        init.operands.iter().copied().flatten().for_each(|v| body.push(v.0));
        Ok(op)
    }

    /// Opens the block of region `region` of `op`. Returns its index and its arguments.
    pub fn begin_block(&mut self, op: OpId, region: usize, args: &[TypeId]) -> (u32, Vec<ValueId>) {
        args.iter().for_each(|&t| self.body.push_argument_type(t));
        let (block, first) = self.body.begin_block(op, region, args.len());
        (block, (first..first + args.len() as u32).map(ValueId).collect())
    }

    /// Closes a block.
    pub fn end_block(&mut self, block: u32) {
        self.body.end_block(block);
    }

    /// Completes the operation and numbers its results.
    pub fn end(&mut self, op: OpId) -> Vec<ValueId> {
        let (first, n) = self.body.end(op);
        (first..first + n).map(ValueId).collect()
    }

    /// Returns the finished body. Without `locations`, the locations of the operations are dropped.
    pub fn finish(self, locations: bool) -> Body {
        self.body.finish(locations)
    }
}
