//! Structured control flow to blocks.
//!
//! Carried registers are arguments of blocks. A big tensor is carried in an array: what is passed on is copied to it.

use super::{Lower, Lowered, array::Array, llvm::Cmp};
use crate::dialect::{
    debug_scope,
    pass::{Failed, fail},
    rt::*,
};
use melior::ir::Type;

impl<'c> Lower<'c, '_> {
    /// Types of the registers of `values`; tokens take none.
    fn flat_types(&self, op: OpRef<'c>, values: impl Iterator<Item = Val<'c>>) -> Result<Vec<Type<'c>>, Failed> {
        let mut types = vec![];
        for v in values {
            if !is_token(v) && !self.is_big(v) {
                let element = self.element_of(op, v)?;
                types.extend(std::iter::repeat_n(element, self.registers(op, v)?));
            }
        }
        Ok(types)
    }
    fn flat_values(&self, op: OpRef<'c>, values: impl Iterator<Item = Val<'c>>) -> Result<Vec<Val<'c>>, Failed> {
        let mut flat = vec![];
        for v in values {
            if !is_token(v) && !self.is_big(v) {
                flat.extend(self.fragment(op, v)?);
            }
        }
        Ok(flat)
    }
    /// Binds `values` to consecutive registers of `flat`.
    fn bind(&mut self, op: OpRef<'c>, values: impl Iterator<Item = Val<'c>>, flat: &[Val<'c>]) -> Result<(), Failed> {
        let mut rest = flat;
        for v in values {
            if is_token(v) {
                self.values.insert(key(v), Lowered::Nothing);
                continue;
            }
            if self.is_big(v) {
                continue;
            }
            let (mine, after) = rest.split_at(self.registers(op, v)?);
            self.set_all(v, mine.to_vec());
            rest = after;
        }
        Ok(())
    }

    /// An array for each big tensor of `values`, with its position.
    fn arrays(
        &mut self,
        op: OpRef<'c>,
        values: impl Iterator<Item = Val<'c>>,
    ) -> Result<Vec<(usize, Array<'c>)>, Failed> {
        let mut list = vec![];
        for (i, v) in values.enumerate() {
            if !self.is_big(v) {
                continue;
            }
            list.push((i, self.new_array(op, v)?));
        }
        Ok(list)
    }
    /// Copies what is passed on to the arrays.
    fn pass_on(
        &mut self,
        op: OpRef<'c>,
        values: impl Iterator<Item = Val<'c>>,
        arrays: &[(usize, Array<'c>)],
    ) -> Result<(), Failed> {
        if arrays.is_empty() {
            return Ok(());
        }
        let values: Vec<Val<'c>> = values.collect();
        self.copy(op, &arrays.iter().map(|&(i, array)| (values[i], array)).collect::<Vec<_>>())
    }
    fn bind_arrays(&mut self, values: impl Iterator<Item = Val<'c>>, arrays: &[(usize, Array<'c>)]) {
        let values: Vec<Val<'c>> = values.collect();
        for &(i, array) in arrays {
            // Arguments of a block belong to its op, which makes them its results.
            let array = if defining_op(values[i]).is_some() { array } else { array.lent() };
            self.values.insert(key(values[i]), Lowered::Array(array));
        }
    }

    /// Head that tests, body, exit:
    /// `head(iv, carried..): iv < ub ? body : exit(carried..)`, `body: ... head(iv + step, next..)`.
    pub(super) fn scf_for(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let source = entry_block(region(op, 0)).ok_or_else(|| fail(op, "loop has no body"))?;
        let iv_type = ty(arg(source, 0));
        let lower = self.scalar(op, operand(op, 0))?;
        let upper = self.scalar(op, operand(op, 1))?;
        let step = self.scalar(op, operand(op, 2))?;
        let carried = self.flat_types(op, results(op))?;
        let init = self.flat_values(op, operands(op).skip(3))?;
        let arrays = self.arrays(op, results(op))?;
        self.pass_on(op, operands(op).skip(3), &arrays)?;
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
        self.values.insert(key(arg(source, 0)), Lowered::Scalar(arg(head, 0)));
        self.bind(op, args(source).skip(1), &now)?;
        self.bind_arrays(args(source).skip(1), &arrays);
        let yielded = self.body(source)?;
        self.pass_on(op, operands(yielded), &arrays)?;
        self.release(yielded);
        let mut next = vec![self.l.add(arg(head, 0), step)];
        next.extend(self.flat_values(op, operands(yielded))?);
        self.l.b.set_location(debug_scope::lowered(op.location()));
        self.l.br(head, &next);

        self.l.b.set_end(exit);
        let out: Vec<Val<'c>> = args(exit).collect();
        self.bind_arrays(results(op), &arrays);
        self.bind(op, results(op), &out)
    }

    pub(super) fn scf_if(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let condition = self.scalar(op, operand(op, 0))?;
        let types = self.flat_types(op, results(op))?;
        let arrays = self.arrays(op, results(op))?;
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
                    self.pass_on(op, operands(yielded), &arrays)?;
                    let values = self.flat_values(op, operands(yielded))?;
                    self.release(yielded);
                    self.l.b.set_location(debug_scope::lowered(op.location()));
                    self.l.br(exit, &values);
                }
                None => self.l.br(exit, &[]),
            }
        }
        self.l.b.set_end(exit);
        let out: Vec<Val<'c>> = args(exit).collect();
        self.bind_arrays(results(op), &arrays);
        self.bind(op, results(op), &out)
    }

    /// `before(args..): ... condition ? after : exit`, `after: ... before(next..)`.
    pub(super) fn scf_while(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let no_body = || fail(op, "loop has no body");
        let (before, after) =
            (entry_block(region(op, 0)).ok_or_else(no_body)?, entry_block(region(op, 1)).ok_or_else(no_body)?);
        let entering = self.flat_types(op, args(before))?;
        let leaving = self.flat_types(op, results(op))?;
        let (carried, found) = (self.arrays(op, args(before))?, self.arrays(op, results(op))?);
        self.pass_on(op, operands(op), &carried)?;
        let here = self.l.b.block();
        let head = self.l.new_block(&entering, here);
        let body = self.l.new_block(&[], head);
        let exit = self.l.new_block(&leaving, body);
        let init = self.flat_values(op, operands(op))?;
        self.l.br(head, &init);

        self.l.b.set_end(head);
        let now: Vec<Val<'c>> = args(head).collect();
        self.bind(op, args(before), &now)?;
        self.bind_arrays(args(before), &carried);
        let condition = self.body(before)?;
        self.pass_on(op, operands(condition).skip(1), &found)?;
        self.release(condition);
        let go_on = self.scalar(op, operand(condition, 0))?;
        let out = self.flat_values(op, operands(condition).skip(1))?;
        self.l.b.set_location(debug_scope::lowered(op.location()));
        self.l.cond_br(go_on, (body, &[]), (exit, &out));

        self.l.b.set_end(body);
        self.bind(op, args(after), &out)?;
        self.bind_arrays(args(after), &found);
        let yielded = self.body(after)?;
        self.pass_on(op, operands(yielded), &carried)?;
        self.release(yielded);
        let next = self.flat_values(op, operands(yielded))?;
        self.l.b.set_location(debug_scope::lowered(op.location()));
        self.l.br(head, &next);

        self.l.b.set_end(exit);
        let values: Vec<Val<'c>> = args(exit).collect();
        carried.into_iter().for_each(|(_, array)| self.free_array(array));
        self.bind_arrays(results(op), &found);
        self.bind(op, results(op), &values)
    }

    /// Emits a block of the source up to its terminator, which is returned.
    fn body(&mut self, source: Blk<'c>) -> Result<OpRef<'c>, Failed> {
        let mut ops: Vec<OpRef<'c>> = ops_of(source).collect();
        let last = ops.pop().expect("the verifier wants a terminator");
        self.ops(&ops)?;
        Ok(last)
    }
}

fn is_token(v: Val<'_>) -> bool {
    crate::dialect::nv_tileaa::MemTokenType::cast(ty(v)).is_some()
        || crate::dialect::nv_tileas::AsyncTokenType::cast(ty(v)).is_some()
}
