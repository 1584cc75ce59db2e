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
    global::{Strength, Tile},
    groups::singles,
    llvm::Cmp,
    transfer::Fill,
};
use crate::{
    analysis::{
        access::View,
        multimem::{Action, Multimem},
    },
    dialect::{
        nv_tileaa::{Ordering, Scope},
        nv_tileas::{Bounds, MultimemLoadReduceOp, MultimemReduceOp, MultimemStoreOp},
        pass::{Failed, fail},
        rt::*,
    },
};
use melior::ir::Type;
use tile_layout::Layout;
use tile_targets::Feature;

/// The instructions of one op in one thread.
struct MulticastAccess<'c> {
    instruction: Multimem,
    element: Type<'c>,
    view: View<'c>,
    layout: Layout,
    tile: Tile<'c>,
    bounds: Bounds,
    /// Groups of neighbors, each accessed by one instruction.
    groups: Vec<Vec<u32>>,
    singles: Vec<Vec<u32>>,
    strength: Strength,
    owner: Option<Val<'c>>,
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
        let Fill::Value(fill) = self.padding(op, a.element, a.view.ty.padding())? else {
            unreachable!("a view has one padding")
        };
        let read = |this: &Self, groups: &[Vec<u32>], checked: bool| {
            this.gather(&a.layout, groups, |g| this.multimem_read(&a, g, checked, fill))
        };
        let values = match a.bounds {
            Bounds::None => read(self, &a.groups, false),
            Bounds::Vector => read(self, &a.groups, true),
            Bounds::Split => {
                let whole = self.whole(&a.view, &a.tile);
                let types = vec![self.element_of(op, x.result())?; a.layout.registers() as usize];
                self.l.either(whole, &types, || read(self, &a.groups, false), || read(self, &a.singles, true))
            }
        };
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
            this.multimem_word(&text, word.address, operand, mask);
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
        let single = a.bounds == Bounds::Split || a.groups.iter().any(|g| g.len() == 1);
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
            this.multimem_word("multimem.red.relaxed.sys.global.and.b32", word.address, keep, mask);
            this.multimem_word("multimem.red.relaxed.sys.global.or.b32", word.address, set, mask);
        });
        Ok(())
    }

    fn multimem(&self, p: Parts<'c>) -> Result<MulticastAccess<'c>, Failed> {
        let op = p.op;
        let (view, layout) = (self.view(op, p.view)?, self.layout(op, p.moved)?);
        let element = view.memref.element_type();
        let target = self.function.target.name;
        if !self.function.target.has(Feature::Multimem) {
            let text =
                format!("multicast memory of {element} needs sm_90 or newer: {target} has no instructions for it");
            return Err(fail(op, text));
        }
        let instruction = Multimem::of(p.action, element).ok_or_else(|| {
            fail(op, format!("{target} has no instruction for this access to multicast memory of {element}"))
        })?;
        let in_bounds = self.in_bounds(op, p.indices.len(), p.bounds);
        let tile = self.tile(op, &view, &p.indices, &layout, p.moved, &in_bounds)?;
        let groups = self.groups(op, &view, &layout, p.moved, instruction.width.min(p.vector as u64), true)?;
        let singles = singles(&groups);
        let count = if p.bounds == Bounds::Split { singles.len() } else { groups.len() };
        let mut strength = self.strength(op, p.ordering, p.scope, count)?;
        if p.ordering == Ordering::Weak {
            strength.qualifier = ".weak".into();
        }
        let owner = self.owner(&layout);
        Ok(MulticastAccess {
            instruction,
            element,
            view,
            layout,
            tile,
            bounds: p.bounds,
            groups,
            singles,
            strength,
            owner,
        })
    }

    //===-- instructions ----------------------------------------------------===//

    /// Reads the combined values of neighbors; elements outside the view are `fill`.
    fn multimem_read(&self, a: &MulticastAccess<'c>, group: &[u32], checked: bool, fill: Val<'c>) -> Vec<Val<'c>> {
        let l = &self.l;
        let address = self.address(&a.tile, &a.layout, group[0]);
        let inside = if checked { self.inside(&a.tile, group[0]) } else { None };
        let mask = self.both(inside, a.owner);
        let single = a.instruction.is_paired() && group.len() == 1;
        let count = if single { 2 } else { group.len() as u64 };
        let words = self.words(a.element, count);
        let word = single.then(|| self.word_around(address));
        let n = words.count as usize;
        let guard = mask.map(|_| format!("@${} ", n + 1)).unwrap_or_default();
        let text = format!(
            "{guard}multimem.ld_reduce{}.global{}{}.{} {}, [${n}];",
            a.strength.qualifier,
            a.instruction.operation,
            vector(n),
            a.instruction.kind,
            list(0, n)
        );
        let mut constraints = vec![format!("={}", words.class); n];
        constraints.push("l".into());
        let mut args = vec![word.as_ref().map_or(address, |w| w.address)];
        if let Some(m) = mask {
            constraints.push("b".into());
            args.push(m);
            for (i, f) in self.pack_words(a.element, words, &vec![fill; count as usize]).into_iter().enumerate() {
                constraints.push(i.to_string());
                args.push(f);
            }
        }
        constraints.push("~{memory}".into());
        let read = l.asm_values(&text, &constraints.join(","), (words.ty, n), &args);
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
        let write = |groups: &[Vec<u32>], checked: bool| {
            for g in groups {
                let address = self.address(&a.tile, &a.layout, g[0]);
                let inside = if checked { self.inside(&a.tile, g[0]) } else { None };
                let mask = self.both(inside, a.owner);
                let operands: Vec<Val<'c>> = g.iter().map(|&r| values[r as usize]).collect();
                if a.instruction.is_paired() && g.len() == 1 {
                    let bits = self.l.cast("bitcast", operands[0], self.l.i16);
                    single(self, &self.word_around(address), self.l.cast("zext", bits, self.l.i32), mask);
                } else {
                    self.multimem_vector(a, name, address, &operands, mask);
                }
            }
            vec![]
        };
        self.fence(&a.strength.before);
        match a.bounds {
            Bounds::None => _ = write(&a.groups, false),
            Bounds::Vector => _ = write(&a.groups, true),
            Bounds::Split => {
                let whole = self.whole(&a.view, &a.tile);
                self.l.either(whole, &[], || write(&a.groups, false), || write(&a.singles, true));
            }
        }
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
        let n = words.count as usize;
        let guard = mask.map(|_| format!("@${} ", n + 1)).unwrap_or_default();
        let text = format!(
            "{guard}multimem.{name}{}.global{}{}.{} [$0], {};",
            a.strength.qualifier,
            a.instruction.operation,
            vector(n),
            a.instruction.kind,
            list(1, n)
        );
        let mut constraints = vec!["l".to_string()];
        constraints.extend(vec![words.class.to_string(); n]);
        let mut args = vec![address];
        args.extend(self.pack_words(a.element, words, values));
        if let Some(m) = mask {
            constraints.push("b".into());
            args.push(m);
        }
        constraints.push("~{memory}".into());
        self.l.asm(&text, &constraints.join(","), &args);
    }

    /// Emits one instruction on a word.
    fn multimem_word(&self, instruction: &str, address: Val<'c>, operand: Val<'c>, mask: Option<Val<'c>>) {
        let (guard, predicate) = if mask.is_some() { ("@$2 ", ",b") } else { ("", "") };
        let mut args = vec![address, operand];
        args.extend(mask);
        let text = format!("{guard}{instruction} [$0], $1;");
        self.l.asm(&text, &format!("l,r{predicate},~{{memory}}"), &args);
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

fn vector(n: usize) -> String {
    if n == 1 { String::new() } else { format!(".v{n}") }
}

fn list(from: usize, n: usize) -> String {
    let names: Vec<String> = (from..from + n).map(|i| format!("${i}")).collect();
    if n == 1 { names[0].clone() } else { format!("{{{}}}", names.join(", ")) }
}
