//! Reductions in the canonical order, split into parts that a warp can do.
//!
//! A warp follows the canonical order as long as its registers and lanes hold the next bit. Then the rest of the tile
//! goes through shared memory to a layout that continues:
//!
//! ```text
//! tensor<1x4096xf32>   registers hold bits 9 to 11, 1 and 0, lanes 2 to 6, warps 7 and 8
//!   reduce kept 508    bits 0, 1, 11, 10 and 9 in each thread
//! tensor<1x128xf32>    through shared memory: registers hold bits 6 to 8, lanes 2 to 5
//!   reduce             bits 8 to 2 in each warp
//! ```

use super::{Materialize, Operands};
use crate::{
    analysis::registers::PASS_REGISTERS,
    dialect::{
        attributes::CANONICAL,
        nv_tileas::ReduceOp,
        pass::{Failed, descriptors, fail},
        rt::*,
    },
};
use tile_layout::{Layout, Stage, canonical_bits};

impl<'c> Materialize<'c, '_> {
    pub(super) fn reduce_canonically(&mut self, x: ReduceOp<'c>, all: &Operands) -> Result<(), Failed> {
        use descriptors::tileas_materialize_reductions::stat;
        let op = x.op();
        if x.kept().is_some() {
            return Err(fail(op, "a reduction that keeps elements must stay within warps"));
        }
        if operands(op).any(|v| self.limit.is_exceeded(v)) {
            return self.reduce_canonically_in_passes(x, all);
        }
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        match all.layout.canonical_stage(&all.shape, all.dim, first_of(op), self.warps).map_err(error)? {
            Stage::Finish => Ok(()),
            Stage::Convert(to) => self.continue_in(x, all, &to),
            Stage::Spread(to) => {
                self.cx.stat_add(stat::NUM_REDUCTIONS, 1);
                let b = Builder::before(self.context, op);
                let moved = self.share_with_all_warps(&b, op, &operands(op).collect::<Vec<_>>(), &to)?;
                self.continue_with(x, moved)
            }
            Stage::Keep { kept, first } => {
                let plan = all.layout.reduction(&all.shape, all.dim, kept).map_err(error)?;
                let plan = plan.ok_or_else(|| fail(op, "layout cannot be reduced within warps"))?;
                let b = Builder::before(self.context, op);
                let partial = self.partial(&b, op, (&plan.shape, &plan.layout), kept);
                CANONICAL.set(op, first.into());
                self.continue_with(x, results(partial).collect())
            }
        }
    }

    /// Reduces operands that are processed in passes over a thread's registers. Each pass combines the highest bits of
    /// the coordinate, as if it were a warp.
    fn reduce_canonically_in_passes(&mut self, x: ReduceOp<'c>, all: &Operands) -> Result<(), Failed> {
        let op = x.op();
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let warp_bits = self.warps.ilog2() as usize;
        let passes = all.layout.register().len().saturating_sub(PASS_REGISTERS as usize);
        let each = all.layout.registers_as_warps(passes, warp_bits);
        let width = all.mask.count_ones();
        let first = first_of(op);
        match each.canonical_prefix(&all.shape, all.dim, first).map_err(error)? {
            Some(count) if count == width => Ok(()),
            Some(count) if count > 0 => {
                let Stage::Keep { kept, first } = Stage::keep(width, first, count) else { return Ok(()) };
                let plan = each.reduction(&all.shape, all.dim, kept).map_err(error)?;
                let plan = plan.ok_or_else(|| fail(op, "layout cannot be reduced within passes"))?;
                let b = Builder::before(self.context, op);
                let partial = self.partial(&b, op, (&plan.shape, &plan.layout.warps_as_registers(warp_bits)), kept);
                CANONICAL.set(op, first.into());
                self.continue_with(x, results(partial).collect())
            }
            held => {
                // Registers that hold the first bits come first, so that passes contain them.
                let order = canonical_bits(width, first);
                let place = |b: u64| order.iter().position(|bit| all.along(b) == 1 << bit).unwrap_or(order.len());
                let mut register = all.layout.register().to_vec();
                register.sort_by_key(|b| place(*b));
                let next = register.first().is_some_and(|b| place(*b) == 0);
                let [lane, warp] = [all.layout.lane(), all.layout.warp()].map(<[u64]>::to_vec);
                let sorted = Layout::new(register, lane, warp, vec![]).map_err(error)?;
                let to = match held {
                    Some(_) if next && sorted != all.layout => sorted,
                    _ => Layout::descending(&all.shape, all.dim, self.warps).map_err(error)?,
                };
                self.continue_in(x, all, &to)
            }
        }
    }

    /// Continues with other operands, whose layout has the same coordinates in the other dimensions.
    fn continue_with(&mut self, x: ReduceOp<'c>, values: Vec<Val<'c>>) -> Result<(), Failed> {
        for (i, v) in values.into_iter().enumerate() {
            set_operand(x.op(), i, v);
        }
        self.reduce(x)
    }

    /// Continues with the operands in another layout.
    fn continue_in(&mut self, x: ReduceOp<'c>, all: &Operands, to: &Layout) -> Result<(), Failed> {
        use descriptors::tileas_materialize_reductions::stat;
        if *to == all.layout {
            return Err(fail(x.op(), "the operand's layout cannot be reduced in the canonical order"));
        }
        self.cx.stat_add(stat::NUM_CONVERTED, 1);
        let new = self.reduce_in(x, all, to)?;
        self.reduce(new)
    }
}

/// The number of low coordinate bits that come first.
fn first_of(op: OpRef<'_>) -> u32 {
    CANONICAL.get(op).unwrap_or(0).clamp(0, 63) as u32
}
