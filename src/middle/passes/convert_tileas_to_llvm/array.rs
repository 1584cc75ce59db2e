//! Loops over chunks of registers and arrays in local memory, as decided by `tileas-materialize-register-loops`.
//!
//! Register `r` of a tensor is element `r` of its array. In the body of a loop the thread acts as a thread of a
//! virtual warp, so `Lower::warp` is the virtual warp's number there; the rest follows from the layouts.

use super::{Lower, Lowered, llvm::Cmp};
use crate::{
    analysis::{register_maps, registers::register_bits},
    dialect::{
        layouts::{Tensor, storage_bits},
        nv_tileas::{
            AllocArrayOp, ArrayCatOp, ArrayInsertOp, ArrayLoadOp, ArrayStoreOp, GatherRegistersOp, RegisterArrayType,
            RegisterLoopOp, YieldOp,
        },
        pass::{Failed, fail},
        rt::*,
    },
};
use melior::ir::Type;
use rustc_hash::FxHashMap;
use tile_layout::{Layout, LinearExpr, combine};

/// The widest local memory access in bytes.
const VECTOR_BYTES: u64 = 16;

/// An array of a thread's registers.
#[derive(Clone, Copy)]
pub(super) struct Array<'c> {
    base: Val<'c>,
    /// Log2 of the number of registers.
    pub bits: u32,
    element: Type<'c>,
}

/// The size of a slot that arrays share, and its address once one of them has been allocated.
pub(super) struct Slot<'c> {
    bytes: u64,
    base: Option<Val<'c>>,
}

/// Returns the slots of a function by number.
pub(super) fn slots<'c>(function: OpRef<'c>) -> FxHashMap<i64, Slot<'c>> {
    let mut slots: FxHashMap<i64, Slot<'c>> = FxHashMap::default();
    walk(function, &mut |op| {
        if let Some(alloc) = AllocArrayOp::cast(op)
            && let Some(tensor) = tensor_of(alloc.result())
        {
            let slot = slots.entry(alloc.slot()).or_insert(Slot { bytes: 0, base: None });
            slot.bytes = slot.bytes.max(bytes_of(&tensor));
        }
    });
    slots
}

/// Returns the tensor whose registers an array holds.
pub(super) fn tensor_of<'c>(array: Val<'c>) -> Option<Tensor<'c>> {
    Tensor::of(RegisterArrayType::cast(ty(array))?.tensor())
}

fn element_bytes(element: Type<'_>) -> u64 {
    u64::from(storage_bits(element) / 8)
}

fn bytes_of(tensor: &Tensor<'_>) -> u64 {
    let bits = tensor.layout().map_or(0, |l| l.register().len());
    (element_bytes(tensor.element) << bits).next_multiple_of(VECTOR_BYTES)
}

impl<'c> Lower<'c, '_> {
    //===-- loops -----------------------------------------------------------===//

    pub(super) fn register_loop(&mut self, x: RegisterLoopOp<'c>) -> Result<(), Failed> {
        let body = entry_block(x.body()).ok_or_else(|| fail(x.op(), "loop has no body"))?;
        let bits = (x.chunks() as u64).ilog2();
        self.counted(bits, |this, number| {
            let actual = this.threads.warp;
            let shifted = this.l.bin("shl", number, this.l.i32c(this.threads.warp_bits.into()));
            this.threads.warp = this.or_disjoint(actual, shifted);
            this.set_scalar(arg(body, 0), number);
            let done = ops_of(body).filter(|op| YieldOp::cast(*op).is_none()).try_for_each(|op| this.op(op));
            this.threads.warp = actual;
            done
        })
    }

    /// Emits a loop over `0 .. 2^bits` that LLVM does not unroll. `body` receives the counter.
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
        set_attr(branch, "loop_annotation", self.l.rolled());
        self.l.b.set_end(exit);
        Ok(())
    }

    //===-- arrays ----------------------------------------------------------===//

    pub(super) fn alloc_array(&mut self, x: AllocArrayOp<'c>) -> Result<(), Failed> {
        let tensor = tensor_of(x.result()).ok_or_else(|| fail(x.op(), "not an array"))?;
        let layout = tensor.layout().ok_or_else(|| fail(x.op(), "tensor has no layout"))?;
        let slot = self.values.slots.get(&x.slot()).ok_or_else(|| fail(x.op(), "no such slot"))?;
        let base = match slot.base {
            Some(base) => base,
            None => self.local_memory(slot.bytes),
        };
        self.values.slots.entry(x.slot()).and_modify(|slot| slot.base = Some(base));
        let array = Array { base, bits: layout.register().len() as u32, element: tensor.element };
        self.set(x.result(), Lowered::Array(array));
        Ok(())
    }

    /// Allocates uninitialized memory of the thread for the whole kernel.
    fn local_memory(&self, bytes: u64) -> Val<'c> {
        self.at_entry().variables(bytes as i64, self.l.i8, VECTOR_BYTES)
    }

    pub(super) fn array(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Array<'c>, Failed> {
        match self.values.lowered.get(&key(v)) {
            Some(Lowered::Array(array)) => Ok(*array),
            _ => Err(fail(op, "operand is not an array")),
        }
    }

    /// Returns the number of the first register of a chunk of `2^inner` registers; `None` for all registers.
    fn first_register(&self, op: OpRef<'c>, chunk: Option<Val<'c>>, inner: u32) -> Result<Option<Val<'c>>, Failed> {
        let Some(number) = chunk.map(|chunk| self.scalar(op, chunk)).transpose()? else { return Ok(None) };
        Ok(Some(match inner {
            0 => number,
            _ => self.l.bin("shl", number, self.l.i32c(inner.into())),
        }))
    }

    pub(super) fn array_load(&mut self, x: ArrayLoadOp<'c>) -> Result<(), Failed> {
        let array = self.array(x.op(), x.source())?;
        let inner = register_bits(x.result()).ok_or_else(|| fail(x.op(), "tensor has no layout"))?;
        let first = self.first_register(x.op(), x.chunk(), inner)?;
        let registers = self.read_array(array, first, inner);
        self.set_all(x.result(), registers);
        Ok(())
    }

    pub(super) fn array_store(&mut self, x: ArrayStoreOp<'c>) -> Result<(), Failed> {
        let array = self.array(x.op(), x.dest())?;
        let registers = self.fragment(x.op(), x.value())?;
        let first = self.first_register(x.op(), x.chunk(), registers.len().ilog2())?;
        self.write_array(array, first, &registers);
        Ok(())
    }

    /// Returns the address of register `first`.
    fn array_address(&self, array: Array<'c>, first: Option<Val<'c>>) -> Val<'c> {
        let l = &self.l;
        let Some(first) = first else { return array.base };
        let bytes = element_bytes(array.element);
        let offset = l.bin("shl", l.zext64(first), l.i64c(bytes.ilog2().into()));
        l.byte_offset(array.base, offset)
    }

    /// Reads `2^bits` consecutive registers, starting at a multiple of that number.
    pub(super) fn read_array(&self, array: Array<'c>, first: Option<Val<'c>>, bits: u32) -> Vec<Val<'c>> {
        let bytes = element_bytes(array.element);
        let per_access = (VECTOR_BYTES / bytes).min(1 << bits);
        let base = self.array_address(array, first);
        (0..1u64 << bits)
            .step_by(per_access as usize)
            .flat_map(|r| self.read_plain(self.l.const_offset(base, (r * bytes) as i64), array.element, per_access))
            .collect()
    }

    fn write_array(&self, array: Array<'c>, first: Option<Val<'c>>, registers: &[Val<'c>]) {
        let bytes = element_bytes(array.element);
        let per_access = (VECTOR_BYTES / bytes).min(registers.len() as u64);
        let base = self.array_address(array, first);
        for (i, group) in registers.chunks(per_access as usize).enumerate() {
            let address = self.l.const_offset(base, (i as u64 * per_access * bytes) as i64);
            self.write_plain(address, array.element, group);
        }
    }

    /// Returns the address of register `first ^ offset`; `disjoint` if the two have no common bits.
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

    //===-- renamed registers -----------------------------------------------===//

    /// Returns the layout of the whole tensor that `v` is a chunk of, and log2 of the number of chunks.
    fn whole_layout(&self, op: OpRef<'c>, v: Val<'c>, chunk: Option<Val<'c>>) -> Result<(Layout, usize), Failed> {
        let layout = self.layout(op, v)?;
        let warps = self.threads.warp_bits as usize;
        Ok(match chunk {
            Some(_) => (layout.warps_as_registers(warps), layout.warp().len().saturating_sub(warps)),
            None => (layout, 0),
        })
    }

    pub(super) fn gather_registers(&mut self, x: GatherRegistersOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let no_tensor = || fail(op, "operand is not a tensor");
        let from = Tensor::of_value(x.source()).or_else(|| tensor_of(x.source())).ok_or_else(no_tensor)?;
        let to = Tensor::of_value(x.result()).ok_or_else(no_tensor)?;
        let (whole, chunk_bits) = self.whole_layout(op, x.result(), x.chunk())?;
        let sliced = x.indices().len() > 0;
        let columns = register_maps::gather(&from, &to, &whole, sliced)
            .ok_or_else(|| fail(op, "elements cross threads; run tileas-materialize-convert-layout first"))?;
        let n = whole.register().len();
        let inner = n - chunk_bits;
        let number = |r: u64| combine(&columns[..inner], r);
        if let Some(Lowered::Fragment(values)) = self.values.lowered.get(&key(x.source())).cloned() {
            if sliced || register_maps::varying(&columns, n as u32, chunk_bits as u32) != 0 {
                return Err(fail(op, "registers that depend on the chunk or the slice must be in an array"));
            }
            let registers = (0..1u64 << inner).map(|r| values[number(r) as usize]).collect();
            self.set_all(x.result(), registers);
            return Ok(());
        }
        let array = self.array(op, x.source())?;
        let mut parts = vec![];
        let slice = if sliced { Some(self.number(op, x.indices(), &from, &to)?) } else { None };
        if let Some(chunk) = x.chunk() {
            parts.push((self.scalar(op, chunk)?, &columns[inner..n]));
        }
        parts.extend(slice.map(|slice| (slice, &columns[n..])));
        let reach = parts.iter().flat_map(|(_, c)| c.iter()).fold(0, |all, c| all | c);
        let disjoint = columns[..inner].iter().all(|c| c & reach == 0);
        let first = self.sum_of(&parts);
        let registers = (0..1u64 << inner).map(|r| self.read_element(array, first, number(r), disjoint)).collect();
        self.set_all(x.result(), registers);
        Ok(())
    }

    /// Computes the XOR of linear functions of numbers.
    fn sum_of(&self, parts: &[(Val<'c>, &[u64])]) -> Val<'c> {
        let terms = parts.iter().map(|(number, columns)| {
            let expr = LinearExpr::new(&[], &[], columns);
            self.linear_in_block(&expr, Some(*number))
        });
        terms.reduce(|a, b| self.l.bin("xor", a, b)).unwrap_or_else(|| self.l.i32c(0))
    }

    pub(super) fn array_cat(&mut self, x: ArrayCatOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let to = self.tensor(op, x.result())?;
        let (whole, _) = self.whole_layout(op, x.result(), Some(x.chunk()))?;
        let maps = register_maps::half_bit(&to, x.dim() as usize)
            .and_then(|at| Some((at, register_maps::halves(&to, &whole, x.dim() as usize)?)));
        let (at, columns) = maps.ok_or_else(|| fail(op, "no such dimension"))?;
        let (left, right) = (self.array(op, x.lhs())?, self.array(op, x.rhs())?);
        // The half that an element belongs to depends on the thread, the chunk and the register.
        let half = |bases: &[u64]| bases.iter().map(|b| b >> at & 1).collect::<Vec<u64>>();
        let chunk = self.layout(op, x.result())?;
        let inner = chunk.register().len();
        let place = self.linear(&LinearExpr::new(&half(chunk.lane()), &half(chunk.warp()), &[]));
        let second = self.l.cast("trunc", place, self.l.i1);
        let of_register = half(chunk.register());
        let number = self.scalar(op, x.chunk())?;
        let first = self.sum_of(&[(number, &columns[inner..])]);
        let reach = columns[inner..].iter().fold(0, |all, c| all | c);
        let disjoint = columns[..inner].iter().all(|c| c & reach == 0);
        let registers = (0..1u64 << inner)
            .map(|r| {
                let number = combine(&columns[..inner], r);
                let mut both = [left, right].map(|a| self.read_element(a, first, number, disjoint));
                if combine(&of_register, r) == 1 {
                    both.swap(0, 1);
                }
                self.l.select(second, both[1], both[0])
            })
            .collect();
        self.set_all(x.result(), registers);
        Ok(())
    }

    pub(super) fn array_insert(&mut self, x: ArrayInsertOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let (Some(part), Some(whole)) = (Tensor::of_value(x.slice()), tensor_of(x.dest())) else {
            return Err(fail(op, "operand is not a tensor"));
        };
        let columns = register_maps::insertion(&part, &whole).ok_or_else(|| fail(op, "slices cross threads"))?;
        let array = self.array(op, x.dest())?;
        let slice = self.number(op, x.indices(), &whole, &part)?;
        let registers = self.fragment(op, x.slice())?;
        let inner = registers.len().ilog2() as usize;
        let first = self.sum_of(&[(slice, &columns[inner..])]);
        let reach = columns[inner..].iter().fold(0, |all, c| all | c);
        let disjoint = columns[..inner].iter().all(|c| c & reach == 0);
        for (r, v) in registers.into_iter().enumerate() {
            let number = combine(&columns[..inner], r as u64);
            self.write_element(array, first, number, disjoint, v);
        }
        Ok(())
    }
}
