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
//! Registers hold fragments of `mma.sync`, as `tcgen05.ld.16x256b` moves them (`16x128b` if several elements share a
//! register), or whole rows, as `tcgen05.ld.32x32b` does. The wait for a load passes the loaded registers through
//! inline assembly. Otherwise LLVM could move their users above the wait.

use super::{
    Lower, Lowered,
    llvm::{Cmp, FloatPredicate, Operands},
    warpgroup::{Carrier, Descriptor},
};
use crate::dialect::{
    dots::{TensorDot, TensorLeft, WarpgroupTile, element_of},
    layouts::storage_bits,
    nv_tileas::{
        AllocTensorOp, AsyncDotOp, MemDescSlotOp, MemDescType, TmemAllocateOp, TmemCopyOp, TmemFenceOp, TmemFreeOp,
        TmemLoadOp, TmemScaleOp, TmemSliceOp, TmemStoreOp,
    },
    pass::{Failed, fail},
    rt::*,
    shared_memory::{scale_factors, tensor_columns, tensor_memory},
};
use tile_layout::{HardwareSwizzle, Major, MatrixDescriptor, MoveShape, ScaleFactors, Shape, TensorLoad, TensorMemory};
use tile_mma::Element;

const FENCE_BEFORE: &str = "tcgen05.fence::before_thread_sync;";
const FENCE_AFTER: &str = "tcgen05.fence::after_thread_sync;";

const WAIT_FOR_LOADS: &str = "tcgen05.wait::ld.sync.aligned;";
const WAIT_FOR_STORES: &str = "tcgen05.wait::st.sync.aligned;";

/// Columns that an instruction moves: of a tile in registers, and of one that is scaled in place, which need not all be
/// in registers at once.
const MOVED_COLUMNS: u32 = 32;
const SCALED_COLUMNS: u32 = 16;
/// A barrier of all threads of the cluster.
const CLUSTER_BARRIER: &str = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;";

/// The CTAs that instructions act for.
fn group(pair: bool) -> &'static str {
    if pair { "cta_group::2" } else { "cta_group::1" }
}

/// The distance of groups of eight rows of 16 bytes in scale factors.
const SCALE_ROWS: u64 = 128;

/// Distance in an address of the lanes of two warps, and of two lanes.
const QUARTER: i64 = 32 * LANE;
const LANE: i64 = 1 << 16;
/// The lanes of tensor memory.
const LANES: i64 = 128;

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
        let a = match &dot.lhs {
            TensorLeft::Shared(tile) => Left::Shared(of(op.lhs(), tile, 0)?, tile),
            TensorLeft::Tensor { block, step } => Left::Tensor {
                first: self.tensor_address(op.op(), op.lhs())?,
                block: (*block).into(),
                step: (*step).into(),
            },
        };
        let b = of(op.rhs(), &dot.rhs, 1)?;
        let acc = self.tensor_address(op.op(), op.acc())?;
        let more = op.accumulate().map(|v| self.scalar(op.op(), v)).transpose()?;
        let scales = match (op.lhs_scale(), op.rhs_scale()) {
            (Some(left), Some(right)) => {
                Some([self.tensor_address(op.op(), left)?, self.tensor_address(op.op(), right)?])
            }
            _ => None,
        };
        let is_mn = |tile: &WarpgroupTile| tile.operand.major == Major::Mn;
        let kind = i.tensor_descriptor([dot.lhs.tile().is_some_and(is_mn), is_mn(&dot.rhs)]);
        let kind = kind.ok_or_else(|| fail(op.op(), format!("{name} has no descriptor")))?;
        let outside = || fail(op.op(), "an instruction is outside of its tiles");
        let units = |tile: &WarpgroupTile, mn: u32, k| {
            tile.operand.offset(mn as usize, k).map(|bytes| (bytes >> 4) as i64).ok_or_else(outside)
        };
        let l = &self.l;
        let at_column = |first, column: u32| if column == 0 { first } else { l.add(first, l.i32c(column.into())) };
        let is_asked = |row: u32| op.row_block().is_none_or(|block| block == i64::from(row));
        for &[row, column, at] in dot.blocks.iter().filter(|block| is_asked(block[0])) {
            let d = at_column(acc, at);
            for k in 0..dot.steps {
                let (left, class, form) = match &a {
                    Left::Shared(a, tile) => (a.at(l, units(tile, row, k)?), "l", "$1"),
                    Left::Tensor { first, block, step } => {
                        let column = i64::from(row) * block + k as i64 * step;
                        (if column == 0 { *first } else { l.add(*first, l.i32c(column)) }, "r", "[$1]")
                    }
                };
                let right = b.at(l, units(&dot.rhs, column, k)?);
                let places = scales.zip(dot.scale_places([row, column], k as u32));
                let (bytes, scaled, classes) = match places {
                    Some((_, [(_, left), (_, right)])) => (tile_mma::scale_bytes(left, right), " [$4], [$5],", ",r,r"),
                    None => (0, "", ""),
                };
                let mut args = vec![d, left, right, l.i32c((kind | bytes).into())];
                if let Some(([left, right], [(left_column, _), (right_column, _)])) = places {
                    args.extend([at_column(left, left_column), at_column(right, right_column)]);
                }
                match more.filter(|_| k == 0) {
                    Some(more) => {
                        let last = args.len();
                        args.push(more);
                        let text = format!("{name} [$0], {form}, $2, $3,{scaled} ${last};");
                        l.asm(&text, &format!("r,{class},l,r{classes},b,~{{memory}}"), &args);
                    }
                    None => {
                        let text = format!(
                            "{{ .reg .pred more; setp.eq.b32 more, 0, 0; {name} [$0], {form}, $2, $3,{scaled} more; }}"
                        );
                        l.asm(&text, &format!("r,{class},l,r{classes},~{{memory}}"), &args);
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

    /// The same columns as another tile.
    pub(super) fn tensor_alias(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let address = self.tensor_address(op, operand(op, 0))?;
        self.set(result(op, 0), Lowered::Tensor(address));
        Ok(())
    }

    pub(super) fn tmem_load(&mut self, op: TmemLoadOp<'c>) -> Result<(), Failed> {
        let moves = self.tensor_moves(op.op(), op.source(), op.result())?;
        let mut registers = vec![];
        for (address, load) in &moves.places {
            registers.extend(self.load_columns(&moves, *address, load.count as usize));
        }
        let loaded = self.tied(WAIT_FOR_LOADS, "~{memory}", moves.carrier, &registers, &[], false);
        self.set_all(op.result(), loaded);
        Ok(())
    }

    pub(super) fn tmem_store(&mut self, op: TmemStoreOp<'c>) -> Result<(), Failed> {
        let moves = self.tensor_moves(op.op(), op.dest(), op.source())?;
        let bits = storage_bits(self.tensor(op.op(), op.source())?.element);
        let registers =
            if bits < 32 { self.register_words(op.op(), op.source())? } else { self.fragment(op.op(), op.source())? };
        for (address, store) in &moves.places {
            self.store_columns(&moves, *address, &registers[store.register as usize..][..store.count as usize]);
        }
        self.l.order(WAIT_FOR_STORES);
        Ok(())
    }

    /// Multiplies the rows of each warp by their factors, unless all of them are one.
    pub(super) fn tmem_scale(&mut self, op: TmemScaleOp<'c>) -> Result<(), Failed> {
        let desc = self.memdesc(op.op(), op.memory())?;
        let is_half = desc.shape()[0] < LANES;
        let moves = if is_half {
            self.fragment_moves(op.op(), op.memory(), desc, SCALED_COLUMNS)?
        } else {
            self.row_moves(op.op(), op.memory(), desc, SCALED_COLUMNS)?
        };
        let shape = Shape::new(desc.shape()).map_err(|e| fail(op.op(), e.to_string()))?;
        let factors = self.fragment(op.op(), op.factor())?;
        let needed = TensorMemory::row_factors(&shape, self.threads.warps as u32);
        if needed.map_err(|e| fail(op.op(), e.to_string()))? != self.layout(op.op(), op.factor())? {
            return Err(fail(op.op(), "the layout of the factors is not that of the rows"));
        }
        let l = &self.l;
        let scales = |factor: &Val<'c>| l.fcmp(FloatPredicate::Une, *factor, l.float(ty(*factor), 1.0));
        let any = factors.iter().map(scales).reduce(|a, b| l.bin("or", a, b));
        let any = any.ok_or_else(|| fail(op.op(), "a thread has no rows"))?;
        let predicate = op.predicate().map(|p| self.scalar(op.op(), p)).transpose()?;
        let any = l.intrinsic("llvm.nvvm.vote.any.sync", l.i1, &[l.i32c(-1), any]);
        let wanted = self.both(predicate, Some(any)).expect("one of the two is there");
        // A register of fragments belongs to one of two rows, and all registers of an access in rows to the same row.
        let parts = moves.places.len() / if is_half { 1 } else { factors.len() };
        let factor = |place: usize, register: usize| factors[if is_half { register / 2 % 2 } else { place / parts }];
        l.when(wanted, || {
            for (i, (address, part)) in moves.places.iter().enumerate() {
                let loaded = self.load_columns(&moves, *address, part.count as usize);
                let loaded = self.tied(WAIT_FOR_LOADS, "~{memory}", moves.carrier, &loaded, &[], false);
                let factors: Vec<Val<'c>> = (0..loaded.len()).map(|r| factor(i, r)).collect();
                let scaled = self.pairwise("mul", &[&loaded, &factors]).unwrap_or_else(|| {
                    loaded.iter().zip(&factors).map(|(v, factor)| l.bin("fmul", *v, *factor)).collect()
                });
                self.store_columns(&moves, *address, &scaled);
            }
            l.order(WAIT_FOR_STORES);
        });
        Ok(())
    }

    /// Copies scale factors, 512 bytes at a time.
    pub(super) fn tmem_copy(&mut self, op: TmemCopyOp<'c>) -> Result<(), Failed> {
        let (source, dest) = (self.memdesc(op.op(), op.source())?, self.memdesc(op.op(), op.dest())?);
        let blocks = [0, 1].into_iter().find_map(|lines| {
            let [from, to] = [source, dest].map(|desc| scale_factors(desc, lines));
            from.filter(|from| Some(from) == to.as_ref())
        });
        let blocks =
            blocks.ok_or_else(|| fail(op.op(), "scale factors are not laid out in blocks that can be copied"))?;
        let rows = MatrixDescriptor { swizzle: HardwareSwizzle::None, leading: 0, stride: SCALE_ROWS };
        let from = self.shared_descriptor(op.op(), (op.source(), rows.tensor_constant()), |at| at)?;
        let to = self.tensor_address(op.op(), op.dest())?;
        let l = &self.l;
        let text = format!("tcgen05.cp.{}.32x128b.warpx4 [$0], $1;", group(op.pair()));
        for block in 0..blocks.blocks() {
            let column = blocks.column_of_block(block);
            let to = if column == 0 { to } else { l.add(to, l.i32c(column.into())) };
            let units = (u64::from(block) * ScaleFactors::BLOCK_BYTES / 16) as i64;
            l.asm(&text, "r,l,~{memory}", &[to, from.at(l, units)]);
        }
        Ok(())
    }

    /// Plans the moves of a tile between tensor memory and registers, with the address of each.
    fn tensor_moves(&self, op: OpRef<'c>, memory: Val<'c>, tensor: Val<'c>) -> Result<Moves<'c>, Failed> {
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let desc = self.memdesc(op, memory)?;
        let (layout, tensor) = (self.layout(op, tensor)?, self.tensor(op, tensor)?);
        let (shape, warps) = (tensor.tile_shape(), self.threads.warps as u32);
        let gap = tensor_memory(desc).and_then(|memory| memory.gap_of_accumulator(&shape));
        let gap = gap.ok_or_else(|| fail(op, "the storage is not laid out as an accumulator or a left operand"))?;
        let bits = storage_bits(desc.element_type());
        let in_rows = TensorMemory::operand(&shape, warps, bits).is_ok_and(|rows| rows == layout);
        match (in_rows, desc.shape()[0] < LANES) {
            (true, false) => return self.row_moves(op, memory, desc, MOVED_COLUMNS),
            (true, true) => return self.fragment_moves(op, memory, desc, MOVED_COLUMNS),
            _ => {}
        }
        let slices = TensorMemory::slices_of(&shape, &layout).filter(|_| layout.warps() == warps && gap == 0);
        let slices =
            slices.ok_or_else(|| fail(op, "the layout of the tensor is not one that tensor memory can move"))?;
        let element = element_of(tensor.element, false).filter(|e| e.bits() == 32);
        let carrier = self.carrier(element.ok_or_else(|| fail(op, "fragments of tensor memory have 32 bits"))?);
        let apart = TensorMemory::columns_of_warps(&shape, warps, slices).map_err(error)?;
        let l = &self.l;
        let lanes = self.own_lanes(op, memory)?;
        let part = l.mul(l.bin("lshr", self.threads.warp, l.i32c(2)), l.i32c(apart.into()));
        let own = l.add(lanes, part);
        let loads = TensorMemory::loads(&shape, warps, slices).map_err(error)?;
        let offset = |load: &TensorLoad| i64::from(load.lane) * LANE + i64::from(load.column);
        let places = loads.into_iter().map(|load| (l.add(own, l.i32c(offset(&load))), load)).collect();
        Ok(Moves { shape: MoveShape::Fragments, places, carrier })
    }

    /// Plans the moves of fragments of 64 rows, at most `most` columns at a time.
    fn fragment_moves(
        &self,
        op: OpRef<'c>,
        memory: Val<'c>,
        desc: MemDescType<'c>,
        most: u32,
    ) -> Result<Moves<'c>, Failed> {
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let shape = Shape::new(desc.shape()).map_err(error)?;
        let warps = self.threads.warps as u32;
        // Several elements of fewer bits share a register and a column.
        let packed = 32 / storage_bits(desc.element_type());
        let form = if packed == 1 { MoveShape::Fragments } else { MoveShape::HalfFragments };
        let element = element_of(desc.element_type(), false).filter(|e| e.bits() == 32);
        let carrier = self.carrier(element.unwrap_or(Element::S32));
        let apart = TensorMemory::columns_of_warps(&shape, warps, 1).map_err(error)? / packed;
        let l = &self.l;
        let part = l.mul(l.bin("lshr", self.threads.warp, l.i32c(2)), l.i32c(apart.into()));
        let own = l.add(self.own_lanes(op, memory)?, part);
        let loads = TensorMemory::loads_of_columns(&shape, warps, most * packed).map_err(error)?;
        let at = |load: &TensorLoad| l.add(own, l.i32c((load.column / packed).into()));
        let word =
            |load: TensorLoad| TensorLoad { register: load.register / packed, count: load.count / packed, ..load };
        let places = loads.into_iter().map(|load| (at(&load), word(load))).collect();
        Ok(Moves { shape: form, places, carrier })
    }

    /// Plans the moves of whole rows, at most `most` columns at a time. Several elements of fewer bits share a register
    /// and a column.
    fn row_moves(&self, op: OpRef<'c>, memory: Val<'c>, desc: MemDescType<'c>, most: u32) -> Result<Moves<'c>, Failed> {
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let bits = storage_bits(desc.element_type());
        let mut extents = desc.shape().to_vec();
        extents[1] = extents[1] * i64::from(bits) / 32;
        let (shape, warps) = (Shape::new(&extents).map_err(error)?, self.threads.warps as u32);
        let element = element_of(desc.element_type(), false).filter(|e| e.bits() == 32);
        let carrier = self.carrier(element.unwrap_or(Element::S32));
        let l = &self.l;
        let own = self.own_lanes(op, memory)?;
        let gap = tensor_memory(desc).map_or(0, |memory| memory.gap());
        let first = TensorMemory::columns_of_row_warps(&shape, warps, gap).map_err(error)?;
        // Each bit of the group's number adds columns.
        let group = l.bin("lshr", self.threads.warp, l.i32c(2));
        let bits = (0..first.len().ilog2()).map(|bit| {
            let one = l.bin("and", l.bin("lshr", group, l.i32c(bit.into())), l.i32c(1));
            l.mul(one, l.i32c(first[1 << bit].into()))
        });
        let own = bits.fold(own, |sum, part| l.add(sum, part));
        let loads = TensorMemory::row_loads(&shape, warps, most, gap).map_err(error)?;
        let at = |load: &TensorLoad| if load.column == 0 { own } else { l.add(own, l.i32c(load.column.into())) };
        let places = loads.into_iter().map(|load| (at(&load), load)).collect();
        Ok(Moves { shape: MoveShape::Rows, places, carrier })
    }

    /// The address of the first lane that the warp reaches.
    fn own_lanes(&self, op: OpRef<'c>, memory: Val<'c>) -> Result<Val<'c>, Failed> {
        let address = self.tensor_address(op, memory)?;
        let l = &self.l;
        let quarter = l.mul(l.bin("and", self.threads.warp, l.i32c(3)), l.i32c(QUARTER));
        Ok(l.add(address, quarter))
    }

    fn load_columns(&self, moves: &Moves<'c>, address: Val<'c>, count: usize) -> Vec<Val<'c>> {
        let list = super::dot::operand_list(0, count);
        let text = format!("tcgen05.ld.sync.aligned.{}.b32 {list}, [${count}];", moves.form(count));
        self.tied(&text, "r,~{memory}", moves.carrier, &vec![address; count], &[address], true)
    }

    fn store_columns(&self, moves: &Moves<'c>, address: Val<'c>, registers: &[Val<'c>]) {
        let mut operands = Operands::default();
        let at = operands.input("r", address);
        operands.inputs(moves.carrier.class, registers);
        let list = super::dot::operand_list(1, registers.len());
        let form = moves.form(registers.len());
        operands.emit(&self.l, &format!("tcgen05.st.sync.aligned.{form}.b32 [{at}], {list};"));
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

/// The left operand of a dot: a descriptor of shared memory, or an address in tensor memory.
enum Left<'c, 'd> {
    Shared(Descriptor<'c>, &'d WarpgroupTile),
    Tensor {
        first: Val<'c>,
        /// Columns of a block of rows, and of a step along K.
        block: i64,
        step: i64,
    },
}

/// The moves of a thread's part of a tile.
struct Moves<'c> {
    shape: MoveShape,
    /// The addresses, and the registers and columns.
    places: Vec<(Val<'c>, TensorLoad)>,
    carrier: Carrier<'c>,
}

impl Moves<'_> {
    /// The name of an instruction's shape for `registers` registers.
    fn form(&self, registers: usize) -> String {
        match self.shape {
            MoveShape::Fragments => format!("16x256b.x{}", registers / 4),
            MoveShape::HalfFragments => format!("16x128b.x{}", registers / 2),
            MoveShape::Rows => format!("32x32b.x{registers}"),
        }
    }
}

const NO_COLUMNS: &str = "the number of columns is not known; run tileas-optimize-alloc-tensor first";

/// The address of the kernel's tensor memory.
#[derive(Clone, Copy)]
pub(super) enum TensorMemoryBase<'c> {
    /// It is in shared memory, and has not been read yet.
    In(Val<'c>),
    Known(Val<'c>),
}
