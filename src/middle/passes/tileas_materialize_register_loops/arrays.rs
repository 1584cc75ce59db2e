//! Arrays in local memory, and the slots that they share.
//!
//! Arrays of the same size share a slot if they are in use at different times. The code that creates an array frees
//! it.

use super::RegisterLoops;
use crate::{
    analysis::registers::register_bits,
    dialect::{
        layouts::{Tensor, storage_bits},
        nv_tileas::{AllocArrayOp, RegisterArrayType},
        pass::{Failed, fail},
        remark::{self, remark},
        rt::*,
    },
};
use melior::ir::Location;
use tile_interface::Advice;

/// Local memory per thread that the hardware provides, minus a reserve for ptxas.
const MAX_LOCAL_BYTES: u64 = (512 << 10) - (16 << 10);

/// The widest local memory access in bytes.
const VECTOR_BYTES: u64 = 16;

/// An array of a thread's registers.
#[derive(Clone, Copy)]
pub(super) struct Array<'c> {
    pub value: Val<'c>,
    /// Log2 of the number of registers.
    pub bits: u32,
    slot: usize,
    /// Whether another owner frees the array.
    lent: bool,
}

impl Array<'_> {
    pub(super) fn lent(self) -> Self {
        Array { lent: true, ..self }
    }
    /// Whether both are the same memory.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.slot == other.slot
    }
}

/// The slots of a function.
#[derive(Default)]
pub(super) struct Pool {
    slots: Vec<Slot>,
}

struct Slot {
    bytes: u64,
    busy: bool,
}

impl Pool {
    /// Whether no array is in use.
    pub(super) fn is_idle(&self) -> bool {
        self.slots.iter().all(|s| !s.busy)
    }

    /// Returns a free slot of `bytes`, creating one if necessary. The error is the total that a thread would need.
    fn take(&mut self, bytes: u64) -> Result<usize, u64> {
        let slot = match self.slots.iter().position(|s| !s.busy && s.bytes == bytes) {
            Some(slot) => slot,
            None => {
                let total = self.slots.iter().map(|s| s.bytes).sum::<u64>() + bytes;
                if total > MAX_LOCAL_BYTES {
                    return Err(total);
                }
                self.slots.push(Slot { bytes, busy: false });
                self.slots.len() - 1
            }
        };
        self.slots[slot].busy = true;
        Ok(slot)
    }
}

/// Returns the size in bytes of an array for a tensor like `v`.
fn bytes_of(v: Val<'_>) -> Option<u64> {
    Some(u64::from(storage_bits(Tensor::of_value(v)?.element) / 8) << register_bits(v)?)
}

impl<'c> RegisterLoops<'c> {
    /// Creates an array for the registers of a tensor like `v`, allocated by `b` on behalf of `op`.
    pub(super) fn new_array(&mut self, b: &Builder<'c>, op: OpRef<'c>, v: Val<'c>) -> Result<Array<'c>, Failed> {
        let (Some(bytes), Some(bits)) = (bytes_of(v), register_bits(v)) else {
            return Err(fail(op, "tensor has no layout"));
        };
        let slot = self.pool.take(bytes.next_multiple_of(VECTOR_BYTES)).map_err(|total| {
            let reason = format!("a thread would need {total} bytes of local memory but has only {MAX_LOCAL_BYTES}");
            fail(op, format!("tile is too large: {reason}"))
        })?;
        let array_type = RegisterArrayType::get(Location::unknown(self.context), ty(v))
            .ok_or_else(|| fail(op, "tensor has no layout"))?;
        let alloc = AllocArrayOp::build(b, array_type.into(), i64_attr(self.context, slot as i64));
        let value = alloc.map_err(|e| fail(op, e.to_string()))?.result();
        self.created += 1;
        Ok(Array { value, bits, slot, lent: false })
    }

    pub(super) fn free_array(&mut self, array: Array<'c>) {
        if !array.lent {
            self.pool.slots[array.slot].busy = false;
        }
    }

    /// Reports that `v` does not fit into registers.
    pub(super) fn remark_on_array(&self, op: OpRef<'c>, v: Val<'c>) {
        if let Some(bytes) = bytes_of(v) {
            let reason =
                format!("a tensor of {bytes} bytes per thread does not fit into registers and is kept in local memory");
            remark(op, remark::LOCAL_MEMORY, reason, Advice::SmallerTilesOrSlices);
        }
    }
}
