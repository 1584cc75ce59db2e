//! Atomic updates of global memory, and the broadcast of results from owners to other threads of the warp.
//!
//! An update is inline PTX predicated by the mask and by ownership, because LLVM's atomics support neither predicates
//! nor vectors. If the result is unused, the update is a `red`, which does not wait. Memory order is enforced where
//! it is cheapest: on the instruction if a thread executes only one, and otherwise by a fence before all of them
//! (release), after them (acquire), or both.
//!
//! `red` cannot acquire. An addition of bf16 without a native instruction is a compare-and-swap loop:
//!
//! ```text
//! old = load;  do { got = cas(old, old + value);  done = got == old;  old = got } while (!done)
//! ```

use super::{
    Lower,
    combine::From,
    element_type,
    global::{Strength, fence_text, pointee, scope_name},
    llvm::{Cmp, Operands},
};
use crate::{
    analysis::{
        atomics::{Form, Update},
        layouts::within_warps,
    },
    dialect::{
        nv_tileaa::{AtomicKind, Ordering, Scope},
        nv_tileas::{AtomicCasOp, AtomicRmwOp, ReplicateOp, TiledAtomicRmwOp},
        pass::{Failed, fail},
        rt::*,
        types::is_llvm_pointer,
    },
};
use melior::ir::Type;

/// The instructions of one op in one thread.
struct Updates<'c> {
    update: Update,
    element: Type<'c>,
    scope: &'static str,
    strength: Strength,
    /// Whether the old values are used.
    returns: bool,
    /// Whether the ordering requires `atom` even if the result is unused.
    acquires: bool,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn atomic_rmw(&mut self, x: AtomicRmwOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let (pointers, values) = (self.fragment(op, x.ptr())?, self.fragment(op, x.value())?);
        let masks = x.mask().map(|m| self.fragment(op, m)).transpose()?;
        let layout = self.layout(op, x.ptr())?;
        let owner = self.owner(&layout);
        let element = pointee(x.ptr());
        let along = x.along().unwrap_or(0) as usize;
        let update = self.update(op, x.kind(), element)?;
        let width = update.width.min(x.vector() as u64);
        let groups = self.pointer_groups(op, x.ptr(), width, along, true)?;
        let returns = has_uses(x.result());
        let updates = self.updates(update, element, x.ordering(), x.scope(), &groups, returns);
        self.fence(&updates.strength.before);
        let old = self.gather(&layout, &groups, |g| {
            let mask = self.both(masks.as_ref().map(|m| m[g[0] as usize]), owner);
            let operands: Vec<Val<'c>> = g.iter().map(|&r| values[r as usize]).collect();
            self.run_update(&updates, pointers[g[0] as usize], &operands, mask)
        });
        self.fence(&updates.strength.after);
        self.set_all(x.result(), old);
        Ok(())
    }

    pub(super) fn tiled_atomic_rmw(&mut self, x: TiledAtomicRmwOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let indices: Vec<Val<'c>> = x.indices().collect();
        let owner = self.owner(&self.layout(op, x.value())?);
        let element = self.view(op, x.view())?.memref.element_type();
        let update = self.update(op, x.kind(), element)?;
        let what = (x.view(), x.value(), update.width.min(x.vector() as u64), true);
        let access = self.tile_access(op, what, &indices, x.bounds())?;
        let values = self.fragment(op, x.value())?;
        let updates = self.updates(update, element, x.ordering(), x.scope(), access.most(), false);
        self.fence(&updates.strength.before);
        self.by_bounds(&access, &[], |groups, checked| {
            for g in groups {
                let address = self.address(&access.tile, &access.layout, g[0]);
                let inside = self.checked(&access, g, checked);
                let operands: Vec<Val<'c>> = g.iter().map(|&r| values[r as usize]).collect();
                self.run_update(&updates, address, &operands, self.both(inside, owner));
            }
            vec![]
        });
        self.fence(&updates.strength.after);
        Ok(())
    }

    pub(super) fn atomic_cas(&mut self, x: AtomicCasOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let pointers = self.fragment(op, x.ptr())?;
        let (compares, values) = (self.fragment(op, x.compare())?, self.fragment(op, x.value())?);
        let masks = x.mask().map(|m| self.fragment(op, m)).transpose()?;
        let layout = self.layout(op, x.ptr())?;
        let owner = self.owner(&layout);
        let element = pointee(x.ptr());
        let groups = self.pointer_groups(op, x.ptr(), 1, 0, true)?;
        let update = Update { form: Form::Native("cas"), width: 1 };
        let updates = self.updates(update, element, x.ordering(), x.scope(), &groups, true);
        self.fence(&updates.strength.before);
        let old = self.gather(&layout, &groups, |g| {
            let r = g[0] as usize;
            let mask = self.both(masks.as_ref().map(|m| m[r]), owner);
            let words = self.words(element, 1);
            let compare = self.pack_words(element, words, &[compares[r]])[0];
            let value = self.pack_words(element, words, &[values[r]])[0];
            let text = &updates.strength.qualifier;
            let got = self.compare_and_swap(pointers[r], compare, value, text, words.bits, words.class, mask);
            self.unpack_words(element, words, &[got], 1)
        });
        self.fence(&updates.strength.after);
        self.set_all(x.result(), old);
        Ok(())
    }

    /// Copies the owners' values to all lanes that hold the element.
    pub(super) fn replicate(&mut self, x: ReplicateOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let layout = self.layout(op, x.source())?;
        let values = self.fragment(op, x.source())?;
        if !within_warps(&layout) {
            return Err(fail(op, "copies are in other warps; run tileas-materialize-convert-layout first"));
        }
        let free = layout.free_variables();
        if free.lane == 0 {
            self.set_all(x.result(), values);
            return Ok(());
        }
        let owner = self.l.bin("and", self.threads.lane, self.l.i32c(!(free.lane as i64) & 31));
        let groups: Vec<Vec<u32>> = layout.owned().1.into_iter().map(|r| vec![r]).collect();
        let shared =
            self.gather(&layout, &groups, |g| vec![self.value_of_lane(values[g[0] as usize], From::Lane(owner))]);
        self.set_all(x.result(), shared);
        Ok(())
    }

    //===-- instructions ----------------------------------------------------===//

    fn update(&self, op: OpRef<'c>, kind: AtomicKind, element: Type<'c>) -> Result<Update, Failed> {
        Update::of(kind, element, self.function.target)
            .ok_or_else(|| fail(op, format!("no atomic {} of {element}", kind.keyword())))
    }

    fn updates(
        &self,
        update: Update,
        element: Type<'c>,
        ordering: Ordering,
        scope: Scope,
        groups: &[Vec<u32>],
        returns: bool,
    ) -> Updates<'c> {
        let scope = scope_name(scope);
        let acquires = matches!(ordering, Ordering::Acquire | Ordering::AcqRel);
        let releases = matches!(ordering, Ordering::Release | Ordering::AcqRel);
        let words = groups.first().map_or(1, |g| self.words(element, g.len() as u64).count);
        // An instruction can carry the ordering itself if it is the only one and has a single address.
        let alone = groups.len() <= 1 && words == 1 && matches!(update.form, Form::Native(_));
        let order = if alone { ordering.keyword() } else { Ordering::Relaxed.keyword() };
        let fence = |wanted: bool| (wanted && !alone).then(|| fence_text(scope));
        let strength =
            Strength { qualifier: format!(".{order}.{scope}"), before: fence(releases), after: fence(acquires) };
        Updates { update, element, scope, strength, returns, acquires }
    }

    /// Updates neighbors at `address`. Returns the old values if they are used, and poison otherwise.
    fn run_update(&self, u: &Updates<'c>, address: Val<'c>, values: &[Val<'c>], mask: Option<Val<'c>>) -> Vec<Val<'c>> {
        match u.update.form {
            Form::Native(op) => self.native(u, op, address, values, mask),
            Form::Loop => self.update_loop(u, address, values, mask),
        }
    }

    fn native(
        &self,
        u: &Updates<'c>,
        name: &str,
        address: Val<'c>,
        values: &[Val<'c>],
        mask: Option<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let l = &self.l;
        let words = self.words(u.element, values.len() as u64);
        let n = words.count as usize;
        let operands = self.pack_words(u.element, words, values);
        // Two halves of a word are updated as a pair.
        let paired = values.len() > n;
        let (operation, kind) = name.rsplit_once('.').expect("operation and type");
        let kind = if paired { format!("{kind}x2") } else { kind.to_string() };
        // `red` does not support an exchange.
        let atom = u.returns || u.acquires || operation == "exch";
        let mut asm = Operands::results(if atom { n } else { 0 }, words.class);
        let at = asm.input("l", address);
        let list = asm.inputs(words.class, &operands);
        let guard = asm.guard(mask);
        asm.memory();
        let access = format!("{}.global.{operation}{}.{kind}", u.strength.qualifier, Operands::vector(n));
        if !atom {
            asm.emit(l, &format!("{guard}red{access} [{at}], {list};"));
            let t = element_type(l.context(), u.element).expect("checked with the tensor");
            return vec![l.poison(t); values.len()];
        }
        let text = format!("{guard}atom{access} {}, [{at}], {list};", Operands::list(0, n));
        let old = asm.emit_values(l, &text, words.ty);
        self.unpack_words(u.element, words, &old, values.len() as u64)
    }

    /// Emits compare-and-swap of one word; returns `compare` where the mask is false.
    #[allow(clippy::too_many_arguments, reason = "the parts of one instruction")]
    fn compare_and_swap(
        &self,
        address: Val<'c>,
        compare: Val<'c>,
        value: Val<'c>,
        qualifier: &str,
        bits: u64,
        class: char,
        mask: Option<Val<'c>>,
    ) -> Val<'c> {
        let mut operands = Operands::results(1, class);
        let at = operands.input("l", address);
        let (old, new) = (operands.input(class, compare), operands.input(class, value));
        operands.tied(0, compare);
        let guard = operands.guard(mask);
        operands.memory();
        let text = format!("{guard}atom{qualifier}.global.cas.b{bits} $0, [{at}], {old}, {new};");
        operands.emit_values(&self.l, &text, ty(compare))[0]
    }

    fn update_loop(
        &self,
        u: &Updates<'c>,
        address: Val<'c>,
        values: &[Val<'c>],
        mask: Option<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let l = &self.l;
        let count = values.len() as u64;
        let words = self.words(u.element, count);
        let relaxed = format!(".relaxed.{}", u.scope);
        let run = || {
            let load = format!("ld{relaxed}.global.b{} $0, [$1];", words.bits);
            let constraints = format!("={},l,~{{memory}}", words.class);
            let first = l.asm_value(&load, &constraints, words.ty, &[address]);
            let here = l.b.block();
            let again = l.new_block(&[words.ty], here);
            let done = l.new_block(&[], again);
            l.br(again, &[first]);
            l.b.set_end(again);
            let old = arg(again, 0);
            let sums: Vec<Val<'c>> = self
                .unpack_words(u.element, words, &[old], count)
                .into_iter()
                .zip(values)
                .map(|(a, &b)| l.bin("fadd", a, b))
                .collect();
            let new = self.pack_words(u.element, words, &sums)[0];
            let got = self.compare_and_swap(address, old, new, &relaxed, words.bits, words.class, None);
            let same = l.icmp(Cmp::Eq, got, old);
            l.cond_br(same, (done, &[]), (again, &[got]));
            l.b.set_end(done);
            self.unpack_words(u.element, words, &[got], count)
        };
        let Some(mask) = mask else { return run() };
        let t = element_type(l.context(), u.element).expect("checked with the tensor");
        let types = vec![t; values.len()];
        l.either(mask, &types, run, || values.iter().map(|_| l.poison(t)).collect())
    }

    //===-- bits ------------------------------------------------------------===//

    /// Returns the scalar of type `t` with the bits of the integer `v`.
    pub(super) fn of_bits(&self, v: Val<'c>, t: Type<'c>) -> Val<'c> {
        match () {
            _ if ty(v) == t => v,
            _ if self.is_pointer(t) => self.l.cast("inttoptr", v, t),
            _ => self.l.cast("bitcast", v, t),
        }
    }
    fn is_pointer(&self, t: Type<'c>) -> bool {
        is_llvm_pointer(t)
    }
}
