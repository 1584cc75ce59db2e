//! Lowers structured control flow to blocks. Loop-carried registers become block arguments.

use super::{Lower, Lowered, llvm::Cmp};
use crate::dialect::{
    attributes::PINNED,
    debug_scope,
    layouts::{Tensor, storage_bits},
    pass::{Failed, fail},
    register_forms::{self, Form},
    rt::*,
};
use melior::ir::Type;

impl<'c> Lower<'c, '_> {
    /// Returns the types of the registers of `values`, which `around` carries; tokens have no registers.
    fn flat_types(&self, around: OpRef<'c>, values: impl Iterator<Item = Val<'c>>) -> Result<Vec<Type<'c>>, Failed> {
        let mut types = vec![];
        for carried in self.carried(around, values)? {
            types.extend(std::iter::repeat_n(carried.register, carried.count));
        }
        Ok(types)
    }
    /// Returns the registers of `values` in the form in which `around` carries `to`.
    fn flat_values(
        &self,
        around: OpRef<'c>,
        values: impl Iterator<Item = Val<'c>>,
        to: impl Iterator<Item = Val<'c>>,
    ) -> Result<Vec<Vec<Val<'c>>>, Failed> {
        let mut flat = vec![];
        for (v, to) in values.zip(self.carried(around, to)?) {
            flat.push(match to.form {
                _ if is_token(v) => vec![],
                Form::Elements => self.fragment(around, v)?,
                Form::Words | Form::Packed => self.register_words(around, v)?,
            });
        }
        Ok(flat)
    }
    /// Binds `values` to consecutive registers of `flat`.
    fn bind(
        &mut self,
        around: OpRef<'c>,
        values: impl Iterator<Item = Val<'c>>,
        mut flat: &[Val<'c>],
    ) -> Result<(), Failed> {
        for Carried { value, form, count, .. } in self.carried(around, values)? {
            let (mine, rest) = flat.split_at(count);
            match form {
                _ if is_token(value) => self.set(value, Lowered::Nothing),
                Form::Elements => self.set_all(value, mine.to_vec()),
                Form::Words => self.set(value, Lowered::Words(mine.to_vec())),
                Form::Packed => {
                    let element = self.element_of(around, value)?;
                    self.set(value, Lowered::Packed(mine.to_vec(), element));
                }
            }
            flat = rest;
        }
        Ok(())
    }

    /// Returns how `around` carries `values`, all that it carries, as `tileas-choose-register-forms` has chosen.
    fn carried(&self, around: OpRef<'c>, values: impl Iterator<Item = Val<'c>>) -> Result<Vec<Carried<'c>>, Failed> {
        let values: Vec<Val<'c>> = values.collect();
        let forms = register_forms::forms(around, values.len());
        let one = |(value, form): (Val<'c>, Form)| {
            if is_token(value) {
                return Ok(Carried { value, form, register: self.l.i1, count: 0 });
            }
            let (registers, element) = (self.registers(around, value)?, self.element_of(around, value)?);
            let each = match (form, Tensor::of_value(value)) {
                (Form::Words | Form::Packed, Some(tensor)) => 32 / storage_bits(tensor.element) as usize,
                _ => 1,
            };
            let register = if each > 1 { self.l.i32 } else { element };
            Ok(Carried { value, form, register, count: registers / each })
        };
        values.into_iter().zip(forms).map(one).collect()
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
        let mut init = self.flat_values(op, operands(op).skip(3), results(op))?;
        let pinned = register_forms::numbers(op, PINNED);
        for &i in &pinned {
            init[i as usize] = self.pinned(&init[i as usize]);
        }
        let here = self.l.b.block();
        let mut head_types = vec![iv_type];
        head_types.extend(&carried);
        let head = self.l.new_block(&head_types, here);
        let body = self.l.new_block(&[], head);
        let exit = self.l.new_block(&carried, body);

        let mut first = vec![lower];
        first.extend(init.concat());
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
        next.extend(self.flat_values(op, operands(yielded), results(op))?.concat());
        self.l.b.set_location(debug_scope::lowered(op.location()));
        self.l.br(head, &next);
        // Peeling an iteration would copy the accumulators while the instruction still writes them.
        if let Some(branch) = ops_of(self.l.b.block()).last().filter(|_| !pinned.is_empty()) {
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
                    let values = self.flat_values(op, operands(yielded), results(op))?.concat();
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
        let init = self.flat_values(op, operands(op), args(before))?.concat();
        self.l.br(head, &init);

        self.l.b.set_end(head);
        let now: Vec<Val<'c>> = args(head).collect();
        self.bind(op, args(before), &now)?;
        let condition = self.body(before)?;
        let go_on = self.scalar(op, operand(condition, 0))?;
        let out = self.flat_values(op, operands(condition).skip(1), results(op))?.concat();
        self.l.b.set_location(debug_scope::lowered(op.location()));
        self.l.cond_br(go_on, (body, &[]), (exit, &out));

        self.l.b.set_end(body);
        self.bind(op, args(after), &out)?;
        let yielded = self.body(after)?;
        let next = self.flat_values(op, operands(yielded), args(before))?.concat();
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

/// A value that a loop or branch carries.
struct Carried<'c> {
    value: Val<'c>,
    form: Form,
    /// The type of a register, and their number.
    register: Type<'c>,
    count: usize,
}

fn is_token(v: Val<'_>) -> bool {
    crate::dialect::nv_tileaa::MemTokenType::cast(ty(v)).is_some()
        || crate::dialect::nv_tileas::AsyncTokenType::cast(ty(v)).is_some()
}
