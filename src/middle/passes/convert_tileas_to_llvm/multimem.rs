//! Accesses to multicast memory: `multimem` instructions, which require sm_90 or later.
//!
//! The smallest access is 32 bits, so f16 and bf16 elements are accessed in pairs. A single half, at an edge of the
//! view or where pairs are not known to be aligned, is accessed through the aligned word around it. This is safe
//! because multicast memory consists of whole pages and never ends inside a word.
//!
//! * A load extracts its half of the word.
//! * An addition adds -0.0 to the other half, which leaves it unchanged.
//! * A store clears and sets the bits of its half by two updates, since another thread may own the other half. In
//!   between, the element is neither old nor new, which only a weak store may expose; other orderings are an error.

use super::{
    Lower,
    global::{Strength, TileAccess},
    llvm::{Cmp, Operands},
    transfer::Fill,
};
use crate::{
    analysis::multimem::{Action, Multimem},
    dialect::{
        nv_tileaa::{Ordering, Scope},
        nv_tileas::{Bounds, MultimemLoadReduceOp, MultimemReduceOp, MultimemStoreOp},
        pass::{Failed, fail},
        rt::*,
    },
};
use melior::ir::Type;
use tile_targets::Feature;

/// The instructions of one op in one thread.
struct MulticastAccess<'c> {
    instruction: Multimem,
    element: Type<'c>,
    of_tile: TileAccess<'c>,
    strength: Strength,
    owner: Option<Val<'c>>,
}

impl MulticastAccess<'_> {
    /// Returns the name of an instruction on `words` words.
    fn name(&self, instruction: &str, words: usize) -> String {
        let Multimem { operation, kind, .. } = &self.instruction;
        let qualifier = &self.strength.qualifier;
        format!("multimem.{instruction}{qualifier}.global{operation}{}.{kind}", Operands::vector(words))
    }
}

/// The operands and attributes that the ops have in common.
struct Parts<'c> {
    op: OpRef<'c>,
    action: Action,
    view: Val<'c>,
    indices: Vec<Val<'c>>,
    /// The tile that is loaded or stored.
    moved: Val<'c>,
    ordering: Ordering,
    scope: Option<Scope>,
    vector: i64,
    bounds: Bounds,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn multimem_load_reduce(&mut self, x: MultimemLoadReduceOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let a = self.multimem(Parts {
            op,
            action: Action::Load(x.kind()),
            view: x.view(),
            indices: x.indices().collect(),
            moved: x.result(),
            ordering: x.ordering(),
            scope: x.scope(),
            vector: x.vector(),
            bounds: x.bounds(),
        })?;
        let Fill::Value(fill) = self.padding(op, a.element, a.of_tile.view.ty.padding())? else {
            unreachable!("a view has one padding")
        };
        let layout = &a.of_tile.layout;
        let types = vec![self.element_of(op, x.result())?; layout.registers() as usize];
        let values = self.by_bounds(&a.of_tile, &types, |groups, checked| {
            self.gather(layout, groups, |g| self.multimem_read(&a, g, checked, fill))
        });
        self.fence(&a.strength.after);
        self.set_all(x.result(), values);
        Ok(())
    }

    pub(super) fn multimem_reduce(&mut self, x: MultimemReduceOp<'c>) -> Result<(), Failed> {
        let a = self.multimem(Parts {
            op: x.op(),
            action: Action::Update(x.kind()),
            view: x.view(),
            indices: x.indices().collect(),
            moved: x.value(),
            ordering: x.ordering(),
            scope: Some(x.scope()),
            vector: x.vector(),
            bounds: x.bounds(),
        })?;
        let values = self.fragment(x.op(), x.value())?;
        self.multimem_write(&a, "red", &values, |this, word, value, mask| {
            // -0.0 is the neutral element of addition.
            let lower = this.l.bin("or", value, this.l.i32c(0x8000_0000));
            let upper = this.l.bin("or", this.l.bin("shl", value, this.l.i32c(16)), this.l.i32c(0x8000));
            let operand = this.l.select(word.is_lower, lower, upper);
            let text = format!("multimem.red{}.global.add.{}", a.strength.qualifier, a.instruction.kind);
            this.word_update(&text, word.address, operand, mask);
        });
        Ok(())
    }

    pub(super) fn multimem_store(&mut self, x: MultimemStoreOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let a = self.multimem(Parts {
            op,
            action: Action::Store,
            view: x.view(),
            indices: x.indices().collect(),
            moved: x.value(),
            ordering: x.ordering(),
            scope: x.scope(),
            vector: x.vector(),
            bounds: x.bounds(),
        })?;
        let single = a.of_tile.most().iter().any(|g| g.len() == 1);
        if a.instruction.is_paired() && single && x.ordering() != Ordering::Weak {
            let (element, ordering, target) = (a.element, x.ordering().keyword(), self.function.target.name);
            let text = format!(
                "{target} has no {ordering} store of a single {element} to multicast memory: promise that pairs are \
                 aligned and inside the view, with assume div_by and inbounds"
            );
            return Err(fail(op, text));
        }
        let values = self.fragment(op, x.value())?;
        self.multimem_write(&a, "st", &values, |this, word, value, mask| {
            let l = &this.l;
            let keep = l.select(word.is_lower, l.i32c(0xffff_0000), l.i32c(0xffff));
            let set = l.select(word.is_lower, value, l.bin("shl", value, l.i32c(16)));
            this.word_update("multimem.red.relaxed.sys.global.and.b32", word.address, keep, mask);
            this.word_update("multimem.red.relaxed.sys.global.or.b32", word.address, set, mask);
        });
        Ok(())
    }

    fn multimem(&self, p: Parts<'c>) -> Result<MulticastAccess<'c>, Failed> {
        let op = p.op;
        let element = self.view(op, p.view)?.memref.element_type();
        let target = self.function.target.name;
        if !self.function.target.has(Feature::Multimem) {
            let text =
                format!("multicast memory of {element} needs sm_90 or newer: {target} has no instructions for it");
            return Err(fail(op, text));
        }
        let instruction = Multimem::of(p.action, element).ok_or_else(|| {
            fail(op, format!("{target} has no instruction for this access to multicast memory of {element}"))
        })?;
        let what = (p.view, p.moved, instruction.width.min(p.vector as u64), true);
        let of_tile = self.tile_access(op, what, &p.indices, p.bounds)?;
        let mut strength = self.strength(op, p.ordering, p.scope, of_tile.most().len())?;
        if p.ordering == Ordering::Weak {
            strength.qualifier = ".weak".into();
        }
        let owner = self.owner(&of_tile.layout);
        Ok(MulticastAccess { instruction, element, of_tile, strength, owner })
    }

    //===-- instructions ----------------------------------------------------===//

    /// Reads the combined values of neighbors; elements outside the view are `fill`.
    fn multimem_read(&self, a: &MulticastAccess<'c>, group: &[u32], checked: bool, fill: Val<'c>) -> Vec<Val<'c>> {
        let l = &self.l;
        let address = self.address(&a.of_tile.tile, &a.of_tile.layout, group[0]);
        let mask = self.both(self.checked(&a.of_tile, group, checked), a.owner);
        let single = a.instruction.is_paired() && group.len() == 1;
        let count = if single { 2 } else { group.len() as u64 };
        let words = self.words(a.element, count);
        let word = single.then(|| self.word_around(address));
        let n = words.count as usize;
        let mut operands = Operands::results(n, words.class);
        let at = operands.input("l", word.as_ref().map_or(address, |w| w.address));
        let guard = operands.guard(mask);
        if mask.is_some() {
            let fill = self.pack_words(a.element, words, &vec![fill; count as usize]);
            fill.into_iter().enumerate().for_each(|(i, f)| operands.tied(i, f));
        }
        operands.memory();
        let text = format!("{guard}{} {}, [{at}];", a.name("ld_reduce", n), Operands::list(0, n));
        let read = operands.emit_values(l, &text, words.ty);
        let values = self.unpack_words(a.element, words, &read, count);
        match word {
            Some(word) => vec![l.select(word.is_lower, values[0], values[1])],
            None => values,
        }
    }

    /// Updates or stores the tile. `single` handles one half of a word; the value is in its low bits.
    fn multimem_write(
        &self,
        a: &MulticastAccess<'c>,
        name: &str,
        values: &[Val<'c>],
        single: impl Fn(&Self, &HalfOfWord<'c>, Val<'c>, Option<Val<'c>>),
    ) {
        self.fence(&a.strength.before);
        self.by_bounds(&a.of_tile, &[], |groups, checked| {
            for g in groups {
                let address = self.address(&a.of_tile.tile, &a.of_tile.layout, g[0]);
                let mask = self.both(self.checked(&a.of_tile, g, checked), a.owner);
                let operands: Vec<Val<'c>> = g.iter().map(|&r| values[r as usize]).collect();
                if a.instruction.is_paired() && g.len() == 1 {
                    let bits = self.l.cast("bitcast", operands[0], self.l.i16);
                    single(self, &self.word_around(address), self.l.cast("zext", bits, self.l.i32), mask);
                } else {
                    self.multimem_vector(a, name, address, &operands, mask);
                }
            }
            vec![]
        });
    }

    fn multimem_vector(
        &self,
        a: &MulticastAccess<'c>,
        name: &str,
        address: Val<'c>,
        values: &[Val<'c>],
        mask: Option<Val<'c>>,
    ) {
        let words = self.words(a.element, values.len() as u64);
        let mut operands = Operands::default();
        let at = operands.input("l", address);
        let list = operands.inputs(words.class, &self.pack_words(a.element, words, values));
        let guard = operands.guard(mask);
        operands.memory();
        operands.emit(&self.l, &format!("{guard}{} [{at}], {list};", a.name(name, words.count as usize)));
    }

    /// Emits one instruction that updates a word.
    pub(super) fn word_update(&self, instruction: &str, address: Val<'c>, operand: Val<'c>, mask: Option<Val<'c>>) {
        let mut operands = Operands::default();
        let (at, operand) = (operands.input("l", address), operands.input("r", operand));
        let guard = operands.guard(mask);
        operands.memory();
        operands.emit(&self.l, &format!("{guard}{instruction} [{at}], {operand};"));
    }

    fn word_around(&self, half: Val<'c>) -> HalfOfWord<'c> {
        let l = &self.l;
        let number = l.cast("ptrtoint", half, l.i64);
        let upper = l.bin("and", number, l.i64c(2));
        HalfOfWord {
            address: l.byte_offset(half, l.bin("sub", l.i64c(0), upper)),
            is_lower: l.icmp(Cmp::Eq, upper, l.i64c(0)),
        }
    }
}

/// One half of an aligned word.
struct HalfOfWord<'c> {
    address: Val<'c>,
    is_lower: Val<'c>,
}
