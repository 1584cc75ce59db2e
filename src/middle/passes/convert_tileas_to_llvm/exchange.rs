//! Converts the layout of tensors larger than their storage, part by part (`tile_layout::PartsPlan`).

use super::{Lower, array::tensor_of};
use crate::{
    analysis::registers::words,
    dialect::{
        layouts::storage_bits,
        nv_tileas::ArrayExchangeOp,
        pass::{Failed, fail},
        rt::*,
        shared_memory::memdesc_bytes,
    },
};
use tile_layout::{Input, PartRegisters, PartsPlan, SharedOptions};

/// log2 of the number of parts up to which the code of a part is repeated, rather than run in a loop.
const MOST_COPIES: u32 = 3;
/// The number of registers of a tensor up to which it is.
const MOST_REGISTERS: u64 = 64;

/// Whether all threads hold a part in the same registers.
fn of_part(side: &PartRegisters) -> bool {
    side.first().expr().terms.iter().all(|term| term.source == Input::Block)
}

impl<'c> Lower<'c, '_> {
    pub(super) fn array_exchange(&mut self, x: ArrayExchangeOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let side = |v| {
            let tensor = tensor_of(v)?;
            Some((tensor.layout()?, tensor))
        };
        let (Some((from, tensor)), Some((to, _))) = (side(x.source()), side(x.dest())) else {
            return Err(fail(op, "operand is not an array"));
        };
        let desc = self.memdesc(op, x.storage())?;
        let mut options = SharedOptions::new(storage_bits(tensor.element));
        options.max_bytes = memdesc_bytes(desc);
        let plan = PartsPlan::new(&from, &to, &tensor.tile_shape(), &options).map_err(|e| fail(op, e.to_string()))?;
        let memory = self.shared_address(op, x.storage())?;
        let (source, target) = (self.array(op, x.source())?, self.array(op, x.dest())?);
        let exchange = |this: &mut Self, part| {
            this.barrier();
            this.store_part(&plan, memory, source, tensor.element, part);
            this.barrier();
            this.load_part(&plan, memory, target, tensor.element, part)
        };
        // With constant numbers of parts, LLVM keeps the arrays in registers.
        let registers = words(tensor.element, source.bits.max(target.bits));
        if plan.log2 <= MOST_COPIES && registers <= MOST_REGISTERS && of_part(&plan.source) && of_part(&plan.target) {
            return (0..1 << plan.log2).try_for_each(|part| exchange(self, self.l.i32c(part)));
        }
        self.counted(plan.log2, exchange)
    }

    /// Returns the first register of a part, and whether the offsets of the part's other registers share no bits with
    /// it.
    fn first_of_part(&self, side: &PartRegisters, part: Val<'c>) -> (Val<'c>, bool) {
        let expr = side.first().expr();
        let reach = expr.reach();
        let disjoint = side.inner.iter().all(|r| r & reach == 0);
        (self.linear_in_block(&expr, Some(part)), disjoint)
    }

    fn store_part(
        &mut self,
        plan: &PartsPlan,
        memory: Val<'c>,
        source: super::array::Array<'c>,
        element: melior::ir::Type<'c>,
        part: Val<'c>,
    ) {
        let guard = self.where_zero(plan.store.guard);
        let stores = || {
            let (first, disjoint) = self.first_of_part(&plan.source, part);
            let thread = self.linear(&plan.store.address.expr());
            for i in &plan.store.instructions {
                let values: Vec<Val<'c>> = i
                    .registers
                    .iter()
                    .map(|&r| self.read_element(source, first, plan.source.register(r), disjoint))
                    .collect();
                self.write_plain(self.instruction_address(memory, thread, i), element, &values);
            }
        };
        match guard {
            Some(g) => self.l.when(g, stores),
            None => stores(),
        }
    }

    fn load_part(
        &mut self,
        plan: &PartsPlan,
        memory: Val<'c>,
        target: super::array::Array<'c>,
        element: melior::ir::Type<'c>,
        part: Val<'c>,
    ) -> Result<(), Failed> {
        let (first, disjoint) = self.first_of_part(&plan.target, part);
        let thread = self.linear_in_block(&plan.load.address.expr(), Some(part));
        for i in &plan.load.instructions {
            let values =
                self.read_plain(self.instruction_address(memory, thread, i), element, i.registers.len() as u64);
            for (&r, v) in i.registers.iter().zip(values) {
                self.write_element(target, first, plan.target.register(r), disjoint, v);
            }
        }
        Ok(())
    }
}
