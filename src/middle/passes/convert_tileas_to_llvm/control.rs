//! Lowers structured control flow to blocks. Loop-carried registers become block arguments.

use super::{Lower, Lowered, llvm::Cmp};
use crate::dialect::{
    debug_scope,
    layouts::{Tensor, storage_bits},
    nv_tileas::{AsyncDotOp, TiledLoadOp},
    pass::{Failed, fail},
    rt::*,
    upstream::Scf,
};
use melior::ir::Type;

impl<'c> Lower<'c, '_> {
    /// Returns the types of the registers of `values`; tokens have no registers.
    fn flat_types(&self, op: OpRef<'c>, values: impl Iterator<Item = Val<'c>>) -> Result<Vec<Type<'c>>, Failed> {
        let mut types = vec![];
        for v in values {
            if !is_token(v) {
                let registers = self.registers(op, v)?;
                let each = self.carried_together(v);
                let t = if each > 1 { self.l.i32 } else { self.element_of(op, v)? };
                types.extend(std::iter::repeat_n(t, registers / each));
            }
        }
        Ok(types)
    }
    /// Returns the registers of `values` in the form in which the registers of `to` are carried.
    fn flat_values(
        &self,
        op: OpRef<'c>,
        values: impl Iterator<Item = Val<'c>>,
        to: impl Iterator<Item = Val<'c>>,
    ) -> Result<Vec<Val<'c>>, Failed> {
        let mut flat = vec![];
        for (v, to) in values.zip(to) {
            if !is_token(v) {
                flat.extend(self.carried_as(op, v, to)?);
            }
        }
        Ok(flat)
    }
    /// Binds `values` to consecutive registers of `flat`.
    fn bind(&mut self, op: OpRef<'c>, values: impl Iterator<Item = Val<'c>>, flat: &[Val<'c>]) -> Result<(), Failed> {
        let mut rest = flat;
        for v in values {
            if is_token(v) {
                self.set(v, Lowered::Nothing);
                continue;
            }
            let each = self.carried_together(v);
            let (mine, after) = rest.split_at(self.registers(op, v)? / each);
            if self.elements_of_words(v) > 1 {
                self.set(v, Lowered::Words(mine.to_vec()));
            } else if each > 1 {
                let element = self.element_of(op, v)?;
                self.set(v, Lowered::Packed(mine.to_vec(), element));
            } else {
                self.set_all(v, mine.to_vec());
            }
            rest = after;
        }
        Ok(())
    }

    /// Returns the number of elements per register when a loop or branch carries `v`. Loaded bytes stay packed in
    /// their words until they are used; otherwise LLVM would unpack and repack them in each iteration. It does not do
    /// that to 16-bit halves.
    fn carried_together(&self, v: Val<'c>) -> usize {
        let each = self.elements_of_words(v);
        let Some(tensor) = Tensor::of_value(v).filter(|_| each == 1) else { return each };
        let bits = storage_bits(tensor.element);
        let is_loaded = |y: Val<'c>| {
            let load = defining_op(y).and_then(TiledLoadOp::cast);
            load.is_some_and(|load| load.vector() * i64::from(bits) >= 32)
        };
        if bits == 8 && yielded_as(v).any(is_loaded) { 4 } else { 1 }
    }

    /// Returns the registers of `v` in the form in which the registers of `to` are carried.
    fn carried_as(&self, op: OpRef<'c>, v: Val<'c>, to: Val<'c>) -> Result<Vec<Val<'c>>, Failed> {
        if self.carried_together(to) > 1 { self.register_words(op, v) } else { self.fragment(op, v) }
    }

    /// Lowers to a testing head, a body and an exit: `head(iv, carried..): iv < ub ? body : exit(carried..)`, `body:
    /// ... head(iv + step, next..)`.
    pub(super) fn scf_for(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let source = entry_block(region(op, 0)).ok_or_else(|| fail(op, "loop has no body"))?;
        let iv_type = ty(arg(source, 0));
        let lower = self.scalar(op, operand(op, 0))?;
        let upper = self.scalar(op, operand(op, 1))?;
        let step = self.scalar(op, operand(op, 2))?;
        let carried = self.flat_types(op, results(op))?;
        let last = ops_of(source).last().ok_or_else(|| fail(op, "loop has no terminator"))?;
        let mut init = vec![];
        for (i, (v, to)) in operands(op).skip(3).zip(results(op)).enumerate() {
            let values = self.flat_values(op, [v].into_iter(), [to].into_iter())?;
            let is_sum = defining_op(operand(last, i)).is_some_and(|o| AsyncDotOp::cast(o).is_some());
            init.extend(if is_sum { self.pinned(&values) } else { values });
        }
        let here = self.l.b.block();
        let mut head_types = vec![iv_type];
        head_types.extend(&carried);
        let head = self.l.new_block(&head_types, here);
        let body = self.l.new_block(&[], head);
        let exit = self.l.new_block(&carried, body);

        let mut first = vec![lower];
        first.extend(init);
        self.l.br(head, &first);
        self.l.b.set_end(head);
        let unsigned = attr(op, "unsignedCmp").is_some();
        let before = if unsigned { Cmp::Ult } else { Cmp::Slt };
        let more = self.l.icmp(before, arg(head, 0), upper);
        let now: Vec<Val<'c>> = args(head).skip(1).collect();
        self.l.cond_br(more, (body, &[]), (exit, &now));

        self.l.b.set_end(body);
        self.set_scalar(arg(source, 0), arg(head, 0));
        self.bind(op, args(source).skip(1), &now)?;
        let yielded = self.body(source)?;
        let mut next = vec![self.l.add(arg(head, 0), step)];
        next.extend(self.flat_values(op, operands(yielded), results(op))?);
        self.l.b.set_location(debug_scope::lowered(op.location()));
        self.l.br(head, &next);
        // Peeling an iteration would copy the accumulators while the instruction still writes them.
        let in_flight = operands(yielded).filter_map(defining_op).any(|o| AsyncDotOp::cast(o).is_some());
        if let Some(branch) = ops_of(self.l.b.block()).last().filter(|_| in_flight) {
            set_attr(branch, "loop_annotation", self.l.rolled());
        }

        self.l.b.set_end(exit);
        let out: Vec<Val<'c>> = args(exit).collect();
        self.bind(op, results(op), &out)
    }

    pub(super) fn scf_if(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let condition = self.scalar(op, operand(op, 0))?;
        let types = self.flat_types(op, results(op))?;
        let here = self.l.b.block();
        let exit = self.l.new_block(&types, here);
        let no = self.l.new_block(&[], here);
        let yes = self.l.new_block(&[], here);
        self.l.cond_br(condition, (yes, &[]), (no, &[]));
        for (block, i) in [(yes, 0), (no, 1)] {
            self.l.b.set_end(block);
            match entry_block(region(op, i)) {
                Some(source) => {
                    let yielded = self.body(source)?;
                    let values = self.flat_values(op, operands(yielded), results(op))?;
                    self.l.b.set_location(debug_scope::lowered(op.location()));
                    self.l.br(exit, &values);
                }
                None => self.l.br(exit, &[]),
            }
        }
        self.l.b.set_end(exit);
        let out: Vec<Val<'c>> = args(exit).collect();
        self.bind(op, results(op), &out)
    }

    /// `before(args..): ... condition ? after : exit`, `after: ... before(next..)`.
    pub(super) fn scf_while(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let no_body = || fail(op, "loop has no body");
        let (before, after) =
            (entry_block(region(op, 0)).ok_or_else(no_body)?, entry_block(region(op, 1)).ok_or_else(no_body)?);
        let entering = self.flat_types(op, args(before))?;
        let leaving = self.flat_types(op, results(op))?;
        let here = self.l.b.block();
        let head = self.l.new_block(&entering, here);
        let body = self.l.new_block(&[], head);
        let exit = self.l.new_block(&leaving, body);
        let init = self.flat_values(op, operands(op), args(before))?;
        self.l.br(head, &init);

        self.l.b.set_end(head);
        let now: Vec<Val<'c>> = args(head).collect();
        self.bind(op, args(before), &now)?;
        let condition = self.body(before)?;
        let go_on = self.scalar(op, operand(condition, 0))?;
        let out = self.flat_values(op, operands(condition).skip(1), results(op))?;
        self.l.b.set_location(debug_scope::lowered(op.location()));
        self.l.cond_br(go_on, (body, &[]), (exit, &out));

        self.l.b.set_end(body);
        self.bind(op, args(after), &out)?;
        let yielded = self.body(after)?;
        let next = self.flat_values(op, operands(yielded), args(before))?;
        self.l.b.set_location(debug_scope::lowered(op.location()));
        self.l.br(head, &next);

        self.l.b.set_end(exit);
        let values: Vec<Val<'c>> = args(exit).collect();
        self.bind(op, results(op), &values)
    }

    /// Emits a source block without its terminator, and returns the terminator.
    fn body(&mut self, source: Blk<'c>) -> Result<OpRef<'c>, Failed> {
        let mut ops: Vec<OpRef<'c>> = ops_of(source).collect();
        let last = ops.pop().expect("the verifier wants a terminator");
        ops.into_iter().try_for_each(|op| self.op(op))?;
        Ok(last)
    }
}

/// Returns the values that the regions of a loop or branch yield for `v`, a result of the op or an argument of the
/// loop's body.
pub(super) fn yielded_as<'c>(v: Val<'c>) -> impl Iterator<Item = Val<'c>> {
    let place = match defining_op(v) {
        Some(op) => results(op).position(|r| r == v).map(|i| (op, i)),
        None => {
            let block = owner_of(v);
            // The induction variable precedes the loop-carried arguments.
            let at = args(block).position(|a| a == v).and_then(|i| i.checked_sub(1));
            parent_of_block(block).zip(at)
        }
    };
    let place = place.filter(|(op, _)| matches!(Scf::of(*op), Some(Scf::For | Scf::If)));
    place.into_iter().flat_map(|(op, i)| {
        let blocks = (0..region_count(op)).filter_map(move |n| entry_block(region(op, n)));
        blocks
            .filter_map(|b| ops_of(b).last())
            .filter(move |last| i < operand_count(*last))
            .map(move |last| operand(last, i))
    })
}

fn is_token(v: Val<'_>) -> bool {
    crate::dialect::nv_tileaa::MemTokenType::cast(ty(v)).is_some()
        || crate::dialect::nv_tileas::AsyncTokenType::cast(ty(v)).is_some()
}
