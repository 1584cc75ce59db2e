//! TMA copies of tiles.
//!
//! A copy names its tensor map (`tensor_map.rs`), the tile's first coordinates, and shared memory. A tile is one box of
//! the map or several, each copied by one instruction.

use super::{Lower, llvm::Cmp};
use crate::{
    analysis::{access::View, bulk_copies, tensor_maps},
    dialect::{
        layouts::storage_bits,
        nv_tileas::{
            AsyncBulkLoadOp, AsyncTiledTmaLoadOp, AsyncTiledTmaStoreOp, AsyncTmaStoreWaitOp, ProducerAcquireOp,
            TmaDescType, TmaReadyOp,
        },
        pass::{Failed, fail},
        phases,
        rt::*,
    },
};
use tile_layout::{MAP_STRIDE_LIMIT, MAP_UNIT, TensorCopyPlan};
use tile_targets::Feature;

/// The largest coordinate, and the largest extent of a map's dimension.
pub(super) const LARGEST: i64 = i32::MAX as i64;

/// A copy of a tile between a view and shared memory.
struct Copy<'c> {
    view: View<'c>,
    plan: TensorCopyPlan,
    /// The address of the map.
    map: Val<'c>,
    memory: Val<'c>,
    /// The coordinates of the tile in map order, in 64 bits.
    starts: Vec<Val<'c>>,
}

impl Copy<'_> {
    /// Returns the coordinates as operands of the instruction, numbered from `first`.
    fn coordinates(&self, first: usize) -> String {
        let list: Vec<String> = (0..self.starts.len()).map(|d| format!("${}", d + first)).collect();
        list.join(", ")
    }
}

impl<'c> Lower<'c, '_> {
    pub(super) fn tma_ready(&mut self, op: TmaReadyOp<'c>) -> Result<(), Failed> {
        let view = self.view(op.op(), op.view())?;
        let map = TmaDescType::cast(held_type(op.desc())).and_then(tensor_maps::map_of);
        let map = map.ok_or_else(|| fail(op.op(), "not a tensor map"))?;
        let bytes = (storage_bits(view.memref.element_type()) / 8).ilog2();
        let l = &self.l;
        let base = l.cast("ptrtoint", self.scalar(op.op(), view.make.base())?, l.i64);
        // The bits that must be zero.
        let mut wrong = l.bin("and", base, l.i64c(MAP_UNIT as i64 - 1));
        for &dim in &map.dims[1..] {
            let stride = match view.stride(dim) {
                Ok(stride) => l.i64c(stride),
                Err(v) => l.zext64(self.scalar(op.op(), v)?),
            };
            let within = (MAP_STRIDE_LIMIT - MAP_UNIT) as i64 >> bytes;
            let outside = l.bin("and", stride, l.i64c(!within));
            let outside = match view.extent(dim) {
                Ok(1) => l.i64c(0),
                Ok(_) => outside,
                Err(v) => {
                    let single = l.icmp(Cmp::Eq, l.zext64(self.scalar(op.op(), v)?), l.i64c(1));
                    l.select(single, l.i64c(0), outside)
                }
            };
            wrong = l.bin("or", wrong, outside);
        }
        self.set_scalar(op.ready(), l.icmp(Cmp::Eq, wrong, l.i64c(0)));
        Ok(())
    }

    pub(super) fn async_tiled_tma_load(&mut self, op: AsyncTiledTmaLoadOp<'c>) -> Result<(), Failed> {
        let indices: Vec<Val<'c>> = op.indices().collect();
        let copy = self.tile_copy(op.op(), (op.view(), &indices), op.desc(), op.dest())?;
        let barrier = self.shared_address(op.op(), op.token())?;
        // The barrier may be that of the other CTA of a pair.
        let acquired = defining_op(op.token()).and_then(ProducerAcquireOp::cast);
        let by_leader = acquired.is_some_and(|of| phases::is_by_leader(of.pipeline(), phases::filled(of)));
        let group = if by_leader { ".cta_group::2" } else { "" };
        // Targets without dots in shared memory load only to the CTA itself. For `shared::cluster` ptxas compares the
        // CTAs at run time and calls a function, and because of the call it ignores `setmaxnreg`.
        let is_cluster_wide = self.function.target.has(Feature::Wgmma) || self.function.target.has(Feature::Tcgen05);
        let text = format!(
            "cp.async.bulk.tensor.{}d.shared::{}.global.tile.mbarrier::complete_tx::bytes{group} \
             [$0], [$1, {{{}}}], [$2];",
            copy.starts.len(),
            if is_cluster_wide { "cluster" } else { "cta" },
            copy.coordinates(3)
        );
        self.start_boxes(&copy, &text, Some(barrier));
        Ok(())
    }

    pub(super) fn async_bulk_load(&mut self, op: AsyncBulkLoadOp<'c>) -> Result<(), Failed> {
        let indices: Vec<Val<'c>> = op.indices().collect();
        let view = self.view(op.op(), op.view())?;
        let dest = self.memdesc(op.op(), op.dest())?;
        let strides: Vec<Result<i64, Val<'c>>> = view.ty.dim_map().iter().map(|d| view.stride(*d as usize)).collect();
        let constant: Vec<Option<u64>> = strides.iter().map(|s| s.ok().and_then(|s| u64::try_from(s).ok())).collect();
        let copy = bulk_copies::parts(view.ty, &constant, dest).map_err(|reason| fail(op.op(), reason))?;
        let barrier = self.shared_address(op.op(), op.token())?;
        let memory = self.shared_address(op.op(), op.dest())?;
        let base = self.scalar(op.op(), view.make.base())?;
        let starts: Vec<Val<'c>> = (view.ty.dim_map().iter())
            .map(|d| self.first_coordinate(op.op(), &view, &indices, *d as usize))
            .collect::<Result<_, _>>()?;
        let strides: Vec<Val<'c>> = strides
            .into_iter()
            .map(|stride| match stride {
                Ok(stride) => Ok(self.l.i64c(stride)),
                Err(v) => self.scalar(op.op(), v).map(|v| self.l.zext64(v)),
            })
            .collect::<Result<_, _>>()?;
        let l = &self.l;
        let bytes = l.i64c(i64::from(storage_bits(dest.element_type()) / 8));
        let base = l.cast("ptrtoint", base, l.i64);
        let text = format!(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], {}, [$2];",
            copy.bytes
        );
        for part in &copy.parts {
            let dims = starts.iter().zip(&part.coordinates).zip(&strides);
            let from = dims.fold(base, |sum, ((start, coordinate), stride)| {
                let at = if *coordinate == 0 { *start } else { l.add(*start, l.i64c(*coordinate as i64)) };
                l.add(sum, l.mul(l.mul(at, *stride), bytes))
            });
            l.asm(&text, "r,l,r,~{memory}", &[l.const_offset(memory, part.offset as i64), from, barrier]);
        }
        Ok(())
    }

    pub(super) fn async_tiled_tma_store(&mut self, op: AsyncTiledTmaStoreOp<'c>) -> Result<(), Failed> {
        let indices: Vec<Val<'c>> = op.indices().collect();
        let copy = self.tile_copy(op.op(), (op.view(), &indices), op.desc(), op.source())?;
        let l = &self.l;
        // The map of a view without elements has one element, which must not be written.
        let is_first = l.icmp(Cmp::Eq, self.threads.thread, l.i32c(0));
        let mut writes = is_first;
        for (&dim, &start) in copy.plan.map.dims.iter().zip(&copy.starts) {
            if let Err(extent) = copy.view.extent(dim) {
                let is_inside = l.icmp(Cmp::Slt, start, l.zext64(self.scalar(op.op(), extent)?));
                writes = l.bin("and", writes, is_inside);
            }
        }
        let text = format!(
            "cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group [$1, {{{}}}], [$0];",
            copy.starts.len(),
            copy.coordinates(2)
        );
        let commit = || {
            l.order("cp.async.bulk.commit_group;");
        };
        if op.counted() {
            l.when(writes, || self.start_boxes(&copy, &text, None));
            l.when(is_first, commit);
        } else {
            l.when(writes, || {
                self.start_boxes(&copy, &text, None);
                commit();
            });
        }
        Ok(())
    }

    /// Threads that have not started copies do not wait.
    pub(super) fn async_tma_store_wait(&mut self, op: AsyncTmaStoreWaitOp<'c>) -> Result<(), Failed> {
        let until = if op.read() { ".read" } else { "" };
        self.l.order(&format!("cp.async.bulk.wait_group{until} {};", op.pending().unwrap_or(0)));
        Ok(())
    }

    fn tile_copy(
        &self,
        op: OpRef<'c>,
        (view, indices): (Val<'c>, &[Val<'c>]),
        desc: Val<'c>,
        storage: Val<'c>,
    ) -> Result<Copy<'c>, Failed> {
        let view = self.view(op, view)?;
        let of = TmaDescType::cast(ty(desc)).ok_or_else(|| fail(op, "not a tensor map"))?;
        let memory = self.memdesc(op, storage)?;
        let is_packed = memory.packed();
        let plan = tensor_maps::boxes(view.ty, of, memory).map_err(|reason| fail(op, reason))?;
        let map = self.scalar(op, desc)?;
        let memory = self.shared_address(op, storage)?;
        let mut starts: Vec<Val<'c>> = (plan.map.dims.iter())
            .map(|&dim| self.first_coordinate(op, &view, indices, dim))
            .collect::<Result<_, _>>()?;
        if is_packed {
            // The map counts pairs.
            starts[0] = self.l.bin("lshr", starts[0], self.l.i64c(1));
        }
        Ok(Copy { view, plan, map, memory, starts })
    }

    /// Emits one instruction for each box. The operands are the shared-memory address, the map, the barrier if there
    /// is one, and the coordinates.
    fn start_boxes(&self, copy: &Copy<'c>, text: &str, barrier: Option<Val<'c>>) {
        let l = &self.l;
        let registers = ",r".repeat(copy.starts.len() + usize::from(barrier.is_some()));
        let constraints = format!("r,l{registers},~{{memory}}");
        for part in &copy.plan.boxes {
            let mut args = vec![l.const_offset(copy.memory, part.offset as i64), copy.map];
            args.extend(barrier);
            args.extend(copy.starts.iter().zip(&part.coordinates).map(|(&start, &offset)| {
                let at = if offset == 0 { start } else { l.add(start, l.i64c(offset as i64)) };
                l.cast("trunc", l.bin("intr.umin", at, l.i64c(LARGEST)), l.i32)
            }));
            l.asm(text, &constraints, &args);
        }
    }

    /// Returns the first coordinate of a tile along a dimension of its view, in 64 bits. A coordinate past the end of
    /// every view stays past the end.
    fn first_coordinate(
        &self,
        op: OpRef<'c>,
        view: &View<'c>,
        indices: &[Val<'c>],
        dim: usize,
    ) -> Result<Val<'c>, Failed> {
        let l = &self.l;
        let at = view.ty.dim_map().iter().position(|&d| d as usize == dim);
        let at = at.ok_or_else(|| fail(op, "the view has no such dimension"))?;
        let index = self.scalar(op, indices[at])?;
        let wide = l.zext64(index);
        let wide = if ty(index) == l.i64 { l.bin("intr.umin", wide, l.i64c(LARGEST)) } else { wide };
        let step = view.ty.steps()[at].min(LARGEST);
        Ok(if step == 1 { wide } else { l.mul(wide, l.i64c(step)) })
    }
}
