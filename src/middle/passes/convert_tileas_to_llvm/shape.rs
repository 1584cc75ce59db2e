//! Shape ops, which only rename registers.

use super::Lower;
use crate::{
    analysis::{access::View, layouts::project},
    dialect::{
        layouts::Tensor,
        nv_tileaa::{DimOp, NumTilesOp},
        nv_tileas::{BroadcastOp, MakeRangeOp},
        pass::{Failed, fail},
        rt::*,
        types::integer_width,
    },
};

impl<'c> Lower<'c, '_> {
    /// Computes the index of each register's element.
    pub(super) fn make_range(&mut self, op: MakeRangeOp<'c>) -> Result<(), Failed> {
        let layout = self.layout(op.op(), op.result())?;
        let element = self.element_of(op.op(), op.result())?;
        let index = layout.index_expr();
        let thread = self.linear(&index.thread);
        let widen = |v: Val<'c>| {
            let width = |t| integer_width(t);
            if width(element) > 32 { self.l.cast("zext", v, element) } else { self.l.cast("trunc", v, element) }
        };
        let registers = index
            .registers
            .iter()
            .map(|&r| {
                let v = match (r, index.disjoint) {
                    (0, _) => thread,
                    (r, true) => self.or_disjoint(thread, self.l.i32c(r as i64)),
                    (r, false) => self.l.bin("xor", thread, self.l.i32c(r as i64)),
                };
                widen(v)
            })
            .collect();
        self.set_all(op.result(), registers);
        Ok(())
    }

    /// The layout of the result maps each register to the same register of the source.
    pub(super) fn same_registers(&mut self, op: OpRef<'c>, from: Val<'c>, to: Val<'c>) -> Result<(), Failed> {
        let values = self.fragment(op, from)?;
        if values.len() != self.registers(op, to)? {
            return Err(fail(op, "source and result have different numbers of registers"));
        }
        self.set_all(to, values);
        Ok(())
    }

    /// Each register of the result takes the register of the element that it repeats.
    pub(super) fn broadcast(&mut self, op: BroadcastOp<'c>) -> Result<(), Failed> {
        let (from, to) = (self.layout(op.op(), op.source())?, self.layout(op.op(), op.result())?);
        let shape = |v| Tensor::of_value(v).map(|t| t.shape).unwrap_or_default();
        let wanted = project(&to, &shape(op.result()), &shape(op.source()));
        let order = tile_layout::register_permutation(&from, &wanted)
            .ok_or_else(|| fail(op.op(), "the source's layout does not match the result's"))?;
        let values = self.fragment(op.op(), op.source())?;
        self.set_all(op.result(), order.into_iter().map(|r| values[r as usize]).collect());
        Ok(())
    }

    pub(super) fn dim(&mut self, op: DimOp<'c>) -> Result<(), Failed> {
        let make = defining_op(op.memref()).and_then(crate::dialect::nv_tileaa::MakeMemRefOp::cast);
        let make = make.ok_or_else(|| fail(op.op(), "memref is not created in this function"))?;
        let memref = crate::dialect::nv_tileaa::StridedMemRefType::cast(ty(op.memref())).expect("a memref");
        let d = op.index() as usize;
        let Some(&extent) = memref.shape().get(d) else { return Err(fail(op.op(), "no such dimension")) };
        let to = ty(op.result());
        let v = if extent == crate::analysis::access::DYNAMIC {
            let before = memref.shape()[..d].iter().filter(|&&x| x == extent).count();
            let v = make.dynamic_shape().nth(before).expect("one operand for each dynamic extent");
            let v = self.scalar(op.op(), v)?;
            self.resize_unsigned(v, to)
        } else {
            self.l.int(to, extent)
        };
        self.set_scalar(op.result(), v);
        Ok(())
    }

    /// ceil(extent / step).
    pub(super) fn num_tiles(&mut self, op: NumTilesOp<'c>) -> Result<(), Failed> {
        let view = View::of(op.view()).ok_or_else(|| fail(op.op(), "view is not created in this function"))?;
        let t = op.index() as usize;
        let (Some(&m), Some(&step)) = (view.ty.dim_map().get(t), view.ty.steps().get(t)) else {
            return Err(fail(op.op(), "no such dimension"));
        };
        let to = ty(op.result());
        let v = match view.extent(m as usize) {
            Ok(extent) => self.l.int(to, (extent + step - 1) / step),
            Err(v) => {
                let extent = self.scalar(op.op(), v)?;
                let extent = self.l.zext64(extent);
                let sum = self.l.add(extent, self.l.i64c(step - 1));
                let tiles = self.l.bin("udiv", sum, self.l.i64c(step));
                self.resize_unsigned(tiles, to)
            }
        };
        self.set_scalar(op.result(), v);
        Ok(())
    }

    pub(super) fn resize_unsigned(&self, v: Val<'c>, to: melior::ir::Type<'c>) -> Val<'c> {
        let width = |t: melior::ir::Type<'c>| integer_width(t);
        if width(ty(v)) < width(to) { self.l.cast("zext", v, to) } else { self.l.cast("trunc", v, to) }
    }
}

/// Returns the shape of a tensor value, for the layout algebra.
pub(super) fn shape_of(v: Val<'_>) -> Option<tile_layout::Shape> {
    Tensor::of_value(v).map(|t| t.tile_shape())
}
