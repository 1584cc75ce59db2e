//! Lowers constants. A register whose element has the same value in every thread is an immediate. Other elements are
//! looked up: in a shifted 64-bit immediate if they all fit, and otherwise in a table in global memory.

use super::{Lower, element_type};
use crate::dialect::{
    elements,
    layouts::{Tensor, storage_bits},
    pass::{Failed, fail},
    rt::*,
    types::{is_float, is_integer},
};
use melior::ir::{Attribute, Type};
use std::collections::BTreeSet;
use tile_layout::Layout;

impl<'c> Lower<'c, '_> {
    pub(super) fn constant(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let value = attr(op, "value").ok_or_else(|| fail(op, "constant has no value"))?;
        let r = result(op, 0);
        let Some(tensor) = Tensor::of_value(r) else {
            let v = self.constant_of(op, value)?;
            self.set_all(r, vec![v]);
            return Ok(());
        };
        let layout = self.layout(op, r)?;
        if let Some(element) = elements::splat(value) {
            let v = self.constant_of(op, element)?;
            self.set_all(r, vec![v; layout.registers() as usize]);
            return Ok(());
        }
        let bits = elements::element_bits(value).ok_or_else(|| fail(op, "value is not dense elements"))?;
        let registers = self.different(op, &tensor, &layout, &bits)?;
        self.set_all(r, registers);
        Ok(())
    }

    /// Lowers a scalar constant to its register type.
    fn constant_of(&self, op: OpRef<'c>, value: Attribute<'c>) -> Result<Val<'c>, Failed> {
        let source = attr_type(value);
        let to = element_type(self.l.context(), source)
            .ok_or_else(|| fail(op, format!("type {source} has no LLVM form")))?;
        if to == source {
            return Ok(self.l.constant(to, value));
        }
        let bits = elements::scalar_bits(value).ok_or_else(|| fail(op, "value is not a number"))?;
        Ok(self.immediate(to, bits))
    }

    /// Returns the value of register type `t` with the given bits.
    fn immediate(&self, t: Type<'c>, bits: u64) -> Val<'c> {
        let l = &self.l;
        let int = match () {
            _ if t == l.f64 => l.i64,
            _ if t == l.f32 => l.i32,
            _ if is_float(t) => l.i16,
            _ => t,
        };
        // Sign-extend to a number that the type can represent.
        let width = l.width(int);
        let signed = (bits << (64 - width)) as i64 >> (64 - width);
        let signed = if width == 1 { (bits & 1) as i64 } else { signed };
        self.of_bits(l.int(int, signed), t)
    }

    /// Returns the registers of elements that are not all equal.
    fn different(
        &self,
        op: OpRef<'c>,
        tensor: &Tensor<'c>,
        layout: &Layout,
        bits: &[u64],
    ) -> Result<Vec<Val<'c>>, Failed> {
        let l = &self.l;
        let t = element_type(l.context(), tensor.element)
            .ok_or_else(|| fail(op, format!("type {} has no LLVM form", tensor.element)))?;
        let index = layout.index_expr();
        let threads: BTreeSet<u64> = layout.all_threads().map(|thread| layout.thread_base(thread)).collect();
        let fixed: Vec<Option<u64>> = index
            .registers
            .iter()
            .map(|r| {
                let mut values = threads.iter().map(|base| bits[(base ^ r) as usize]);
                let first = values.next()?;
                values.all(|v| v == first).then_some(first)
            })
            .collect();
        if let Some(all) = fixed.iter().copied().collect::<Option<Vec<u64>>>() {
            return Ok(all.into_iter().map(|v| self.immediate(t, v)).collect());
        }
        let width = if t == l.i1 { 1 } else { storage_bits(tensor.element) };
        if bits.len() as u32 * width <= 64 {
            return Ok(self.shifted(t, layout, bits, width));
        }
        let table = self.table(bits, storage_bits(tensor.element));
        let shape = tensor.tile_shape();
        let fastest: Vec<usize> = (0..shape.rank()).rev().collect();
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let widest = (128 / u64::from(storage_bits(tensor.element))).max(1);
        let vector = layout.vector_width(&shape, &fastest, widest).map_err(error)?;
        let groups = super::groups::vectors(op, layout, &shape, fastest[0], vector)?;
        let bytes = i64::from(storage_bits(tensor.element) / 8);
        let thread = self.linear(&index.thread);
        let base = l.byte_offset(table, l.mul(l.zext64(thread), l.i64c(bytes)));
        Ok(self.gather(layout, &groups, |g| {
            let register = index.registers[g[0] as usize];
            let address = if index.disjoint {
                l.const_offset(base, register as i64 * bytes)
            } else {
                let element = l.bin("xor", thread, l.i32c(register as i64));
                l.byte_offset(table, l.mul(l.zext64(element), l.i64c(bytes)))
            };
            self.read_plain(address, tensor.element, g.len() as u64)
        }))
    }

    /// Extracts elements of `width` bits from one 64-bit number.
    fn shifted(&self, t: Type<'c>, layout: &Layout, bits: &[u64], width: u32) -> Vec<Val<'c>> {
        let l = &self.l;
        let all = bits.iter().rev().fold(0u64, |v, b| if width < 64 { v << width | b } else { *b });
        let (all, index) = (l.i64c(all as i64), layout.index_expr());
        let thread = self.linear(&index.thread);
        let part = match width {
            1 => l.i1,
            // An i4 is stored as a byte.
            8 if is_integer(t) => t,
            8 => l.i8,
            16 => l.i16,
            32 => l.i32,
            _ => l.i64,
        };
        let element = |r: &u64| {
            let i = if *r == 0 { thread } else { l.bin("xor", thread, l.i32c(*r as i64)) };
            let amount = l.mul(l.zext64(i), l.i64c(width.into()));
            self.of_bits(l.cast("trunc", l.bin("lshr", all, amount), part), t)
        };
        index.registers.iter().map(element).collect()
    }
}
