//! Tensors in local memory: as an array of a thread's registers.
//!
//! Register `r` is element `r` of the array. Arrays of the same size share memory when their lives do not meet; who makes one
//! gives it back.

use super::{Lower, llvm::Cmp, parse};
use crate::{
    analysis::registers::register_bits,
    dialect::{
        layouts::{Tensor, storage_bits},
        pass::{Failed, fail},
        remark::{self, remark},
        rt::*,
    },
};
use melior::ir::{
    Type,
    attribute::{IntegerAttribute, TypeAttribute},
};

/// Local memory that the hardware gives a thread, without what the compiler of the machine's code may need itself.
const MAX_LOCAL_BYTES: u64 = (512 << 10) - (16 << 10);

/// Bytes of the widest access of local memory.
const VECTOR_BYTES: u64 = 16;

/// An array of a thread's registers.
#[derive(Clone, Copy)]
pub(super) struct Array<'c> {
    base: Val<'c>,
    /// log2 of the number of registers.
    pub bits: u32,
    element: Type<'c>,
    slot: usize,
    /// Somebody else gives it back.
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

/// Memory of arrays.
#[derive(Default)]
pub(super) struct Pool<'c> {
    slots: Vec<Slot<'c>>,
}

struct Slot<'c> {
    base: Val<'c>,
    bytes: u64,
    busy: bool,
}

impl Pool<'_> {
    /// Whether no array is in use.
    pub(super) fn is_idle(&self) -> bool {
        self.slots.iter().all(|s| !s.busy)
    }
}

fn element_bytes(element: Type<'_>) -> u64 {
    u64::from(storage_bits(element) / 8)
}

impl<'c> Lower<'c, '_> {
    /// An array for the registers of a tensor like `v`.
    pub(super) fn new_array(&mut self, op: OpRef<'c>, v: Val<'c>) -> Result<Array<'c>, Failed> {
        let tensor = Tensor::of_value(v).ok_or_else(|| fail(op, "value is no tensor"))?;
        let bits = register_bits(v).ok_or_else(|| fail(op, "tensor has no layout"))?;
        let bytes = (element_bytes(tensor.element) << bits).next_multiple_of(VECTOR_BYTES);
        let free = self.pool.slots.iter().position(|s| !s.busy && s.bytes == bytes);
        let slot = match free {
            Some(slot) => slot,
            None => {
                let total = self.pool.slots.iter().map(|s| s.bytes).sum::<u64>() + bytes;
                if total > MAX_LOCAL_BYTES {
                    return Err(fail(
                        op,
                        format!(
                            "tile is too large: a thread would need {total} bytes of local memory, it has {MAX_LOCAL_BYTES}"
                        ),
                    ));
                }
                let base = self.local_memory(bytes);
                self.pool.slots.push(Slot { base, bytes, busy: false });
                self.pool.slots.len() - 1
            }
        };
        self.pool.slots[slot].busy = true;
        Ok(Array { base: self.pool.slots[slot].base, bits, element: tensor.element, slot, lent: false })
    }

    pub(super) fn free_array(&mut self, array: Array<'c>) {
        if !array.lent {
            self.pool.slots[array.slot].busy = false;
        }
    }

    /// Tells the user that `v` does not fit into registers.
    pub(super) fn remark_on_array(&self, op: OpRef<'c>, v: Val<'c>) {
        if let (Some(tensor), Some(bits)) = (Tensor::of_value(v), register_bits(v)) {
            let bytes = element_bytes(tensor.element) << bits;
            let reason =
                format!("{bytes} bytes a thread of a tensor do not fit into registers and lie in local memory");
            remark(op, remark::LOCAL_MEMORY, reason, "take smaller tiles, or loop over slices of the tile");
        }
    }

    /// Uninitialised memory of the thread, for the whole kernel.
    fn local_memory(&self, bytes: u64) -> Val<'c> {
        let context = self.l.context();
        let b = Builder::at_end(context, self.entry, self.l.location());
        b.set_start(self.entry);
        let int = |t: Type<'c>, v: i64| -> melior::ir::Attribute<'c> { IntegerAttribute::new(t, v).into() };
        let count = b.value("llvm.mlir.constant", self.l.i32, &[], &[("value", int(self.l.i32, bytes as i64))]);
        let pointer = melior::dialect::llvm::r#type::pointer(context, 0);
        let element = TypeAttribute::new(self.l.i8).into();
        let alignment = int(self.l.i64, VECTOR_BYTES as i64);
        b.value("llvm.alloca", pointer, &[count], &[("elem_type", element), ("alignment", alignment)])
    }

    /// Address of register `first`.
    fn array_address(&self, array: Array<'c>, first: Option<Val<'c>>) -> Val<'c> {
        let l = &self.l;
        let Some(first) = first else { return array.base };
        let bytes = element_bytes(array.element);
        let offset = l.bin("shl", l.zext64(first), l.i64c(bytes.ilog2().into()));
        l.byte_offset(array.base, offset)
    }

    /// `2^bits` consecutive registers from a multiple of that number on.
    pub(super) fn read_array(&self, array: Array<'c>, first: Option<Val<'c>>, bits: u32) -> Vec<Val<'c>> {
        let bytes = element_bytes(array.element);
        let per_access = (VECTOR_BYTES / bytes).min(1 << bits);
        let base = self.array_address(array, first);
        (0..1u64 << bits)
            .step_by(per_access as usize)
            .flat_map(|r| self.read_plain(self.l.const_offset(base, (r * bytes) as i64), array.element, per_access))
            .collect()
    }

    pub(super) fn write_array(&self, array: Array<'c>, first: Option<Val<'c>>, registers: &[Val<'c>]) {
        let bytes = element_bytes(array.element);
        let per_access = (VECTOR_BYTES / bytes).min(registers.len() as u64);
        let base = self.array_address(array, first);
        for (i, group) in registers.chunks(per_access as usize).enumerate() {
            let address = self.l.const_offset(base, (i as u64 * per_access * bytes) as i64);
            self.write_plain(address, array.element, group);
        }
    }

    /// Register `first ^ offset`; `disjoint` when the two have no common bit.
    fn element_address(&self, array: Array<'c>, first: Val<'c>, offset: u64, disjoint: bool) -> Val<'c> {
        if disjoint {
            let bytes = element_bytes(array.element);
            let base = self.array_address(array, Some(first));
            return self.l.const_offset(base, (offset * bytes) as i64);
        }
        let register = if offset == 0 { first } else { self.l.bin("xor", first, self.l.i32c(offset as i64)) };
        self.array_address(array, Some(register))
    }

    pub(super) fn read_element(&self, array: Array<'c>, first: Val<'c>, offset: u64, disjoint: bool) -> Val<'c> {
        let address = self.element_address(array, first, offset, disjoint);
        self.read_plain(address, array.element, 1)[0]
    }

    pub(super) fn write_element(&self, array: Array<'c>, first: Val<'c>, offset: u64, disjoint: bool, v: Val<'c>) {
        let address = self.element_address(array, first, offset, disjoint);
        self.write_plain(address, array.element, &[v]);
    }

    /// A loop over `0 .. 2^bits`, which is not unrolled. `body` gets the counter.
    pub(super) fn counted(
        &mut self,
        bits: u32,
        body: impl FnOnce(&mut Self, Val<'c>) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let here = self.l.b.block();
        let head = self.l.new_block(&[self.l.i32], here);
        let exit = self.l.new_block(&[], head);
        self.l.br(head, &[self.l.i32c(0)]);
        self.l.b.set_end(head);
        let counter = arg(head, 0);
        body(self, counter)?;
        let next = self.l.add(counter, self.l.i32c(1));
        let more = self.l.icmp(Cmp::Ult, next, self.l.i32c(1 << bits));
        let branch = self.l.cond_br(more, (head, &[next]), (exit, &[]));
        let rolled = parse(self.l.context(), "#llvm.loop_annotation<unroll = <disable = true>>");
        set_attr(branch, "loop_annotation", rolled);
        self.l.b.set_end(exit);
        Ok(())
    }
}
