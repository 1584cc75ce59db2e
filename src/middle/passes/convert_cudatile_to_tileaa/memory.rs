//! Globals, accesses through pointers and views, tokens, the grid, and printing.

use super::{Translator, ct, hints, shape::constant_value, types};
use crate::dialect::{attributes::SYM_VISIBILITY, nv_tileaa as aa, pass::Failed, rt::*};
use melior::ir::{Type, attribute::StringAttribute};

fn ordering(o: ct::MemoryOrderingSemantics) -> aa::Ordering {
    match o {
        ct::MemoryOrderingSemantics::Weak => aa::Ordering::Weak,
        ct::MemoryOrderingSemantics::Relaxed => aa::Ordering::Relaxed,
        ct::MemoryOrderingSemantics::Acquire => aa::Ordering::Acquire,
        ct::MemoryOrderingSemantics::Release => aa::Ordering::Release,
        ct::MemoryOrderingSemantics::AcqRel => aa::Ordering::AcqRel,
    }
}
fn scope(s: ct::MemoryScope) -> aa::Scope {
    match s {
        ct::MemoryScope::TileBlock => aa::Scope::Block,
        ct::MemoryScope::Device => aa::Scope::Device,
        ct::MemoryScope::System => aa::Scope::System,
    }
}
fn kind(m: ct::AtomicRMWMode) -> aa::AtomicKind {
    match m {
        ct::AtomicRMWMode::And => aa::AtomicKind::And,
        ct::AtomicRMWMode::Or => aa::AtomicKind::Or,
        ct::AtomicRMWMode::Xor => aa::AtomicKind::Xor,
        ct::AtomicRMWMode::Add => aa::AtomicKind::Add,
        ct::AtomicRMWMode::AddF => aa::AtomicKind::AddF,
        ct::AtomicRMWMode::Max => aa::AtomicKind::Max,
        ct::AtomicRMWMode::Min => aa::AtomicKind::Min,
        ct::AtomicRMWMode::UMax => aa::AtomicKind::UMax,
        ct::AtomicRMWMode::UMin => aa::AtomicKind::UMin,
        ct::AtomicRMWMode::Xchg => aa::AtomicKind::Xchg,
    }
}

/// Returns the update that a multicast memory access applies to elements of this type.
fn multimem_kind(k: ct::MultimemReductionKind, element: Type<'_>) -> aa::AtomicKind {
    use ct::MultimemReductionKind::*;
    match k {
        Add if types::is_float(element) => aa::AtomicKind::AddF,
        Add => aa::AtomicKind::Add,
        Min => aa::AtomicKind::Min,
        Max => aa::AtomicKind::Max,
        And => aa::AtomicKind::And,
        Or => aa::AtomicKind::Or,
        Xor => aa::AtomicKind::Xor,
        UMin => aa::AtomicKind::UMin,
        UMax => aa::AtomicKind::UMax,
    }
}

impl<'c> Translator<'c> {
    fn optional(&self, v: Option<Val<'c>>) -> Option<Val<'c>> {
        v.map(|v| self.get(v))
    }

    //===-- memory objects --------------------------------------------------//

    pub(super) fn global(&mut self, o: ct::GlobalOp<'c>) -> Result<(), Failed> {
        let value = constant_value(o.value(), self.convert_type(attr_type(o.value()))?);
        let name = StringAttribute::new(self.context, o.sym_name()).into();
        let alignment = o.alignment().filter(|a| *a != 0).map(|a| self.i64_attr(a));
        let built = aa::GlobalOp::build(&self.b, name, value, alignment, o.constant());
        let new = self.built(built)?;
        if o.symbol_visibility() == ct::SymbolVisibility::Private {
            SYM_VISIBILITY.set(new.op(), "private");
        }
        Ok(())
    }

    pub(super) fn alloca(&mut self, o: ct::AllocaOp<'c>) -> Result<(), Failed> {
        let t = self.result_type(o.result())?;
        let (count, alignment) = (self.i64_attr(o.num_elem()), self.i64_attr(o.alignment()));
        let new = self.built(aa::AllocaOp::build(&self.b, t, count, alignment, o.global()))?;
        self.set(o.result(), new.result());
        Ok(())
    }

    //===-- pointers --------------------------------------------------------//

    pub(super) fn load(&mut self, o: ct::LoadPtrTkoOp<'c>) -> Result<(), Failed> {
        let t = self.result_type(o.result())?;
        let built = aa::LoadOp::build(
            &self.b,
            t,
            self.token,
            self.get(o.source()),
            self.optional(o.mask()),
            self.optional(o.padding_value()),
            self.optional(o.token()),
            ordering(o.memory_ordering_semantics()),
            o.memory_scope().map(scope),
            hints(o.optimization_hints()),
        );
        self.replace(o.op(), built)
    }

    pub(super) fn store(&mut self, o: ct::StorePtrTkoOp<'c>) -> Result<(), Failed> {
        let built = aa::StoreOp::build(
            &self.b,
            self.token,
            self.get(o.destination()),
            self.get(o.value()),
            self.optional(o.mask()),
            self.optional(o.token()),
            ordering(o.memory_ordering_semantics()),
            o.memory_scope().map(scope),
            hints(o.optimization_hints()),
        );
        self.replace(o.op(), built)
    }

    pub(super) fn compare_and_swap(&mut self, o: ct::AtomicCASTkoOp<'c>) -> Result<(), Failed> {
        let t = self.result_type(o.result())?;
        let built = aa::AtomicCasOp::build(
            &self.b,
            t,
            self.token,
            self.get(o.pointers()),
            self.get(o.cmp()),
            self.get(o.val()),
            self.optional(o.mask()),
            self.optional(o.token()),
            ordering(o.memory_ordering_semantics()),
            scope(o.memory_scope()),
        );
        self.replace(o.op(), built)
    }

    pub(super) fn read_modify_write(&mut self, o: ct::AtomicRMWTkoOp<'c>) -> Result<(), Failed> {
        let t = self.result_type(o.result())?;
        let built = aa::AtomicRmwOp::build(
            &self.b,
            t,
            self.token,
            self.get(o.pointers()),
            self.get(o.arg()),
            self.optional(o.mask()),
            self.optional(o.token()),
            kind(o.mode()),
            ordering(o.memory_ordering_semantics()),
            scope(o.memory_scope()),
        );
        self.replace(o.op(), built)
    }

    //===-- views -----------------------------------------------------------//

    pub(super) fn tensor_view(&mut self, o: ct::MakeTensorViewOp<'c>) -> Result<(), Failed> {
        let t = self.result_type(o.result())?;
        let (shape, strides) = (self.get_all(o.dynamic_shape()), self.get_all(o.dynamic_strides()));
        let new = self.built(aa::MakeMemRefOp::build(&self.b, t, self.get(o.base()), &shape, &strides))?;
        self.set(o.result(), new.result());
        Ok(())
    }

    pub(super) fn tiled_load(&mut self, o: ct::LoadViewTkoOp<'c>) -> Result<(), Failed> {
        let t = self.result_type(o.tile())?;
        let indices = self.get_all(o.index());
        let built = aa::TiledLoadOp::build(
            &self.b,
            t,
            self.token,
            self.get(o.view()),
            &indices,
            self.optional(o.token()),
            ordering(o.memory_ordering_semantics()),
            o.memory_scope().map(scope),
            hints(o.optimization_hints()),
            o.inbounds(),
        );
        self.replace(o.op(), built)
    }

    pub(super) fn tiled_store(&mut self, o: ct::StoreViewTkoOp<'c>) -> Result<(), Failed> {
        let indices = self.get_all(o.index());
        let built = aa::TiledStoreOp::build(
            &self.b,
            self.token,
            self.get(o.tile()),
            self.get(o.view()),
            &indices,
            self.optional(o.token()),
            ordering(o.memory_ordering_semantics()),
            o.memory_scope().map(scope),
            hints(o.optimization_hints()),
            o.inbounds(),
        );
        self.replace(o.op(), built)
    }

    pub(super) fn tiled_update(&mut self, o: ct::AtomicRedViewTkoOp<'c>) -> Result<(), Failed> {
        let indices = self.get_all(o.index());
        let built = aa::TiledAtomicRmwOp::build(
            &self.b,
            self.token,
            self.get(o.value()),
            self.get(o.view()),
            &indices,
            self.optional(o.token()),
            kind(o.mode()),
            ordering(o.memory_ordering_semantics()),
            scope(o.memory_scope()),
            o.inbounds(),
        );
        self.replace(o.op(), built)
    }

    //===-- multicast memory ------------------------------------------------//

    pub(super) fn multimem_load_reduce(&mut self, o: ct::MultimemLoadReduceViewTkoOp<'c>) -> Result<(), Failed> {
        let t = self.result_type(o.reduced_values())?;
        let indices = self.get_all(o.index());
        let built = aa::MultimemLoadReduceOp::build(
            &self.b,
            t,
            self.token,
            self.get(o.view()),
            &indices,
            self.optional(o.token()),
            multimem_kind(o.reduction(), types::element(t)),
            ordering(o.memory_ordering_semantics()),
            o.memory_scope().map(scope),
            o.inbounds(),
        );
        self.replace(o.op(), built)
    }

    pub(super) fn multimem_reduce(&mut self, o: ct::MultimemReduceViewTkoOp<'c>) -> Result<(), Failed> {
        let indices = self.get_all(o.index());
        let value = self.get(o.tile());
        let built = aa::MultimemReduceOp::build(
            &self.b,
            self.token,
            value,
            self.get(o.view()),
            &indices,
            self.optional(o.token()),
            multimem_kind(o.reduction(), types::element_of(value)),
            ordering(o.memory_ordering_semantics()),
            scope(o.memory_scope()),
            o.inbounds(),
        );
        self.replace(o.op(), built)
    }

    pub(super) fn multimem_store(&mut self, o: ct::MultimemStoreViewTkoOp<'c>) -> Result<(), Failed> {
        let indices = self.get_all(o.index());
        let built = aa::MultimemStoreOp::build(
            &self.b,
            self.token,
            self.get(o.tile()),
            self.get(o.view()),
            &indices,
            self.optional(o.token()),
            ordering(o.memory_ordering_semantics()),
            o.memory_scope().map(scope),
            o.inbounds(),
        );
        self.replace(o.op(), built)
    }

    /// Builds one query op for each of the old results.
    pub(super) fn extents(
        &mut self,
        name: &str,
        source: Val<'c>,
        old: impl Iterator<Item = Val<'c>>,
    ) -> Result<(), Failed> {
        for (i, result) in old.enumerate() {
            let index = self.i64_attr(i as i64);
            self.plain(name, &[source], &[("index", index)], result)?;
        }
        Ok(())
    }

    pub(super) fn grid(&mut self, name: &str, op: OpRef<'c>) -> Result<(), Failed> {
        let i32 = types::int(self.context, 32);
        let new = self.b.create(name, &[i32, i32, i32], &[], &[]);
        for (old, new) in results(op).zip(results(new)) {
            self.set(old, new);
        }
        Ok(())
    }

    //===-- help for the programmer -----------------------------------------//

    pub(super) fn assert(&mut self, o: ct::AssertOp<'c>) -> Result<(), Failed> {
        let message = StringAttribute::new(self.context, o.message()).into();
        self.built(aa::AssertOp::build(&self.b, self.get(o.condition()), message))?;
        Ok(())
    }

    pub(super) fn print(&mut self, o: ct::PrintTkoOp<'c>) -> Result<(), Failed> {
        let args: Vec<_> = o.args().map(|v| self.get_number(v)).collect();
        let format = StringAttribute::new(self.context, o.str()).into();
        let new = self.built(aa::PrintOp::build(&self.b, self.token, &args, self.optional(o.token()), format))?;
        self.set(o.result_token(), new.result_token());
        Ok(())
    }
}
