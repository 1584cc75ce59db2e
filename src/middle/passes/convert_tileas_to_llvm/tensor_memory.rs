//! Lowers dots into tensor memory to `tcgen05.mma`, and accesses of tensor memory.
//!
//! One thread issues the instructions of a dot, which is one for each block of the accumulator and each step along K:
//!
//! ```text
//! tcgen05.mma [column], a, b, kind, more      more is false for the first step of an accumulator that starts at zero
//! tcgen05.commit [barrier]                    arrives when all instructions so far are complete
//! ```
//!
//! An address in tensor memory has the column in its low and the lane in its high 16 bits. The kernel allocates columns
//! once. The hardware stores their address to shared memory, and each thread reads it after the barrier that follows.
//!
//! Registers hold fragments of `mma.sync`, as `tcgen05.ld.16x256b` moves them. The wait for a load passes the loaded
//! registers through inline assembly. Otherwise LLVM could move their users above the wait.

use super::{
    Lower, Lowered,
    llvm::{Cmp, Operands},
    warpgroup::Carrier,
};
use crate::dialect::{
    dots::{TensorDot, WarpgroupTile, element_of},
    nv_tileas::{
        AllocTensorOp, AsyncDotOp, MemDescSlotOp, MemDescType, TmemAllocateOp, TmemFenceOp, TmemFreeOp, TmemLoadOp,
        TmemSliceOp, TmemStoreOp,
    },
    pass::{Failed, fail},
    rt::*,
    shared_memory::{tensor_columns, tensor_memory},
};
use tile_layout::{Major, TensorLoad, TensorMemory};

const FENCE_BEFORE: &str = "tcgen05.fence::before_thread_sync;";
const FENCE_AFTER: &str = "tcgen05.fence::after_thread_sync;";

/// A barrier of all threads of the cluster.
const CLUSTER_BARRIER: &str = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;";

/// The CTAs that instructions act for.
fn group(pair: bool) -> &'static str {
    if pair { "cta_group::2" } else { "cta_group::1" }
}

/// Distance in an address of the lanes of two warps, and of two lanes.
const QUARTER: i64 = 32 * LANE;
const LANE: i64 = 1 << 16;

impl<'c> Lower<'c, '_> {
    pub(super) fn dot_into_memory(&mut self, op: AsyncDotOp<'c>) -> Result<(), Failed> {
        let dot = TensorDot::of(op).map_err(|e| fail(op.op(), e))?;
        let i = dot.instruction;
        let name = i.ptx();
        if !i.row.is_lowered(i.a, i.b) {
            return Err(fail(op.op(), format!("{name} exists, but has no lowering to LLVM yet")));
        }
        if let Some(feature) = i.row.feature.filter(|f| !self.function.target.has(*f)) {
            let target = self.function.target.name;
            return Err(fail(op.op(), format!("{name} needs {feature}, which {target} does not have")));
        }
        self.function.multiplies = true;
        let of = |memory, tile: &WarpgroupTile, dim| {
            let constant = tile.operand.descriptor.tensor_constant();
            self.descriptor(op.op(), (memory, constant), tile, dim, None)
        };
        let (a, b) = (of(op.lhs(), &dot.lhs, 0)?, of(op.rhs(), &dot.rhs, 1)?);
        let acc = self.tensor_address(op.op(), op.acc())?;
        let more = op.accumulate().map(|v| self.scalar(op.op(), v)).transpose()?;
        let is_mn = |tile: &WarpgroupTile| tile.operand.major == Major::Mn;
        let kind = i.tensor_descriptor([is_mn(&dot.lhs), is_mn(&dot.rhs)]);
        let kind = kind.ok_or_else(|| fail(op.op(), format!("{name} has no descriptor")))?;
        let outside = || fail(op.op(), "an instruction is outside of its tiles");
        let units = |tile: &WarpgroupTile, mn: u32, k| {
            tile.operand.offset(mn as usize, k).map(|bytes| (bytes >> 4) as i64).ok_or_else(outside)
        };
        let l = &self.l;
        for [row, column, at] in dot.blocks {
            let d = if at == 0 { acc } else { l.add(acc, l.i32c(at.into())) };
            for k in 0..dot.steps {
                let left = a.at(l, units(&dot.lhs, row, k)?);
                let right = b.at(l, units(&dot.rhs, column, k)?);
                let args = [d, left, right, l.i32c(kind.into())];
                match more.filter(|_| k == 0) {
                    Some(more) => {
                        let args = [&args[..], &[more]].concat();
                        l.asm(&format!("{name} [$0], $1, $2, $3, $4;"), "r,l,l,r,b,~{memory}", &args);
                    }
                    None => {
                        let text =
                            format!("{{ .reg .pred more; setp.eq.b32 more, 0, 0; {name} [$0], $1, $2, $3, more; }}");
                        l.asm(&text, "r,l,l,r,~{memory}", &args);
                    }
                }
            }
        }
        Ok(())
    }

    /// Lets a barrier's arrival follow the completion of all dots that the thread has issued: the barrier of this CTA,
    /// or the barriers of both CTAs of a pair.
    pub(super) fn arrive_after_dots(&self, barrier: Val<'c>, in_pair: bool) {
        let text = if in_pair {
            "{ .reg .b64 a; .reg .b16 both; cvt.u64.u32 a, $0; mov.b16 both, 3; \
             tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [a], both; }"
        } else {
            "{ .reg .b64 a; cvt.u64.u32 a, $0; \
             tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [a]; }"
        };
        self.l.asm(text, "r,~{memory}", &[barrier]);
    }

    pub(super) fn tmem_allocate(&mut self, op: TmemAllocateOp<'c>) -> Result<(), Failed> {
        let columns = op.columns().ok_or_else(|| fail(op.op(), NO_COLUMNS))?;
        let slot = self.shared_address(op.op(), op.slot())?;
        let l = &self.l;
        let group = group(op.pair());
        if op.pair() {
            // The other CTA must have started, and its barriers must be initialized.
            l.order("fence.mbarrier_init.release.cluster;");
            l.order(CLUSTER_BARRIER);
        }
        l.when(l.icmp(Cmp::Eq, self.threads.warp, l.i32c(0)), || {
            let text = format!("tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [$0], {columns};");
            l.asm(&text, "r,~{memory}", &[slot]);
            l.order(&format!("tcgen05.relinquish_alloc_permit.{group}.sync.aligned;"));
        });
        l.order(FENCE_BEFORE);
        self.function.tensor_memory = Some(TensorMemoryBase::In(slot));
        Ok(())
    }

    pub(super) fn tmem_free(&mut self, op: TmemFreeOp<'c>) -> Result<(), Failed> {
        let columns = op.columns().ok_or_else(|| fail(op.op(), NO_COLUMNS))?;
        let base = self.tensor_base(op.op())?;
        // Threads of a warp that have run different programs come together again.
        self.l.order("bar.warp.sync -1;");
        self.l.order(FENCE_BEFORE);
        if op.pair() {
            self.l.order(CLUSTER_BARRIER);
        } else {
            self.barrier();
        }
        let (l, group) = (&self.l, group(op.pair()));
        l.when(l.icmp(Cmp::Eq, self.threads.warp, l.i32c(0)), || {
            l.order(FENCE_AFTER);
            l.asm(&format!("tcgen05.dealloc.{group}.sync.aligned.b32 $0, {columns};"), "r,~{memory}", &[base]);
        });
        Ok(())
    }

    pub(super) fn tmem_fence(&self, op: TmemFenceOp<'c>) -> Result<(), Failed> {
        self.l.order(if op.after() { FENCE_AFTER } else { FENCE_BEFORE });
        Ok(())
    }

    /// A part of the kernel's tensor memory.
    pub(super) fn alloc_tensor_memory(&mut self, op: AllocTensorOp<'c>, column: i64) -> Result<(), Failed> {
        let base = self.tensor_base(op.op())?;
        let address = if column == 0 { base } else { self.l.add(base, self.l.i32c(column)) };
        self.set(op.result(), Lowered::Tensor(address));
        Ok(())
    }

    /// The address of some columns of an accumulator.
    pub(super) fn tmem_slice(&mut self, op: TmemSliceOp<'c>) -> Result<(), Failed> {
        let first = self.tensor_address(op.op(), op.source())?;
        let address = if op.column() == 0 { first } else { self.l.add(first, self.l.i32c(op.column())) };
        self.set(op.result(), Lowered::Tensor(address));
        Ok(())
    }

    /// The address of a stage in tensor memory.
    pub(super) fn tensor_slot(&mut self, op: MemDescSlotOp<'c>, desc: MemDescType<'c>) -> Result<(), Failed> {
        let first = self.tensor_address(op.op(), op.source())?;
        let columns = tensor_columns(desc).ok_or_else(|| fail(op.op(), "storage has no valid layout"))?;
        let index = self.scalar(op.op(), op.index())?;
        let address = match desc.stages() {
            1 => first,
            stages => self.l.add(first, self.l.mul(index, self.l.i32c(columns as i64 / stages))),
        };
        self.set(op.result(), Lowered::Tensor(address));
        Ok(())
    }

    pub(super) fn tmem_load(&mut self, op: TmemLoadOp<'c>) -> Result<(), Failed> {
        let moves = self.tensor_moves(op.op(), op.source(), op.result())?;
        let mut registers = vec![];
        for (address, load) in moves.places {
            registers.extend(self.load_fragments(address, load.count as usize, moves.carrier));
        }
        let wait = "tcgen05.wait::ld.sync.aligned;";
        let loaded = self.tied(wait, "~{memory}", moves.carrier, &registers, &[], false);
        self.set_all(op.result(), loaded);
        Ok(())
    }

    pub(super) fn tmem_store(&mut self, op: TmemStoreOp<'c>) -> Result<(), Failed> {
        let moves = self.tensor_moves(op.op(), op.dest(), op.source())?;
        let registers = self.fragment(op.op(), op.source())?;
        for (address, store) in moves.places {
            let mut operands = Operands::default();
            let at = operands.input("r", address);
            let own = &registers[store.register as usize..][..store.count as usize];
            operands.inputs(moves.carrier.class, own);
            let list = super::dot::operand_list(1, own.len());
            let text = format!("tcgen05.st.sync.aligned.16x256b.x{}.b32 [{at}], {list};", own.len() / 4);
            operands.emit(&self.l, &text);
        }
        self.l.order("tcgen05.wait::st.sync.aligned;");
        Ok(())
    }

    /// Plans the moves of an accumulator between tensor memory and registers, with the address of each.
    fn tensor_moves(&self, op: OpRef<'c>, memory: Val<'c>, tensor: Val<'c>) -> Result<Moves<'c>, Failed> {
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let desc = self.memdesc(op, memory)?;
        let (layout, tensor) = (self.layout(op, tensor)?, self.tensor(op, tensor)?);
        let (shape, warps) = (tensor.tile_shape(), self.threads.warps as u32);
        let slices = TensorMemory::slices_of(&shape, &layout).filter(|_| layout.warps() == warps);
        let slices =
            slices.ok_or_else(|| fail(op, "the layout of the tensor is not one that tensor memory can move"))?;
        if tensor_memory(desc) != TensorMemory::accumulator(&shape).ok() {
            return Err(fail(op, "the storage is not laid out as an accumulator"));
        }
        let element = element_of(tensor.element, false).filter(|e| e.bits() == 32);
        let carrier = self.carrier(element.ok_or_else(|| fail(op, "elements of tensor memory have 32 bits"))?);
        let address = self.tensor_address(op, memory)?;
        let apart = TensorMemory::columns_of_warps(&shape, warps, slices).map_err(error)?;
        let l = &self.l;
        let quarter = l.mul(l.bin("and", self.threads.warp, l.i32c(3)), l.i32c(QUARTER));
        let part = l.mul(l.bin("lshr", self.threads.warp, l.i32c(2)), l.i32c(apart.into()));
        let own = l.add(l.add(address, quarter), part);
        let loads = TensorMemory::loads(&shape, warps, slices).map_err(error)?;
        let offset = |load: &TensorLoad| i64::from(load.lane) * LANE + i64::from(load.column);
        let places = loads.into_iter().map(|load| (l.add(own, l.i32c(offset(&load))), load)).collect();
        Ok(Moves { places, carrier })
    }

    /// Loads fragments of 16 lanes.
    fn load_fragments(&self, address: Val<'c>, count: usize, carrier: Carrier<'c>) -> Vec<Val<'c>> {
        let list = super::dot::operand_list(0, count);
        let text = format!("tcgen05.ld.sync.aligned.16x256b.x{}.b32 {list}, [${count}];", count / 4);
        self.tied(&text, "r,~{memory}", carrier, &vec![address; count], &[address], true)
    }

    /// The address of the first column that the kernel has allocated.
    fn tensor_base(&mut self, op: OpRef<'c>) -> Result<Val<'c>, Failed> {
        let base = self.function.tensor_memory.ok_or_else(|| fail(op, "no tensor memory is allocated before"))?;
        let slot = match base {
            TensorMemoryBase::Known(base) => return Ok(base),
            TensorMemoryBase::In(slot) => slot,
        };
        self.l.order(FENCE_AFTER);
        let base = self.l.asm_value("ld.shared.b32 $0, [$1];", "=r,r,~{memory}", self.l.i32, &[slot]);
        self.function.tensor_memory = Some(TensorMemoryBase::Known(base));
        Ok(base)
    }

    fn tensor_address(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Val<'c>, Failed> {
        match self.values.lowered.get(&key(v)) {
            Some(Lowered::Tensor(address)) => Ok(*address),
            _ => Err(fail(op, "tensor memory is not allocated here")),
        }
    }
}

/// The moves of a thread's part of an accumulator.
struct Moves<'c> {
    /// The addresses, and the registers and columns.
    places: Vec<(Val<'c>, TensorLoad)>,
    carrier: Carrier<'c>,
}

const NO_COLUMNS: &str = "the number of columns is not known; run tileas-optimize-alloc-tensor first";

/// The address of the kernel's tensor memory.
#[derive(Clone, Copy)]
pub(super) enum TensorMemoryBase<'c> {
    /// It is in shared memory, and has not been read yet.
    In(Val<'c>),
    Known(Val<'c>),
}
