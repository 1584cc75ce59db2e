//! Scale factors of block-scaled dots.
//!
//! The producer copies them to the stage of the operands if memory has them in blocks that the hardware copies, or if
//! TMA can load them and a converter rearranges them there.
//! Otherwise warps of the agent `scales` store them there, in such blocks. The thread that issues dots copies a stage
//! to columns of tensor memory of its own before the dots that read them:
//!
//! ```text
//! elect { acquire p[it] bytes N; copy a, b into ring[it] }
//! produce_one of scales { s, t = load ..;  acquire p[it];  local_store s, t, ring[it];  commit p[it] }
//! elect of matrix { wait p[it]; fence;  tmem_copy s[it], columns[it];  tmem_copy t[it], ..
//!                   async.dot .. scales columns[it], ..;  release p[it] dots }
//! ```
//!
//! Each CTA of a pair brings the scale factors of its rows and of all columns, and the leader's copy to tensor memory
//! reads both CTAs' stages. The producers of scale factors arrive at a phase of their own CTA, because the converter
//! waits for it, also if there is nothing to rearrange: neither bulk copies nor copies of threads can arrive at the
//! leader's barriers.
//!
//! ```text
//! elect { acquire p[it] bytes N; copy a, b;  acquire p[it] bytes M fills scales; copy s, t }
//! produce_one of converter { wait p[it] at scales;  convert s, t;  commit p[it] at converted }
//! elect of matrix { wait p[it];  wait p[it] at converted;  fence;  tmem_copy s[it], columns[it] pair .. }
//! ```
//!
//! The completion of the dots releases both the stage and its columns. Tiles with fewer rows, columns or factors than a
//! block has are repeated until the block is full; dots do not read the copies.

use super::{
    reshaped,
    stream::{Placed, Stream},
    top::PipelinedRing,
};
use crate::dialect::{
    layouts::{Tensor, layout_attr, tensor_type},
    nv_tileas::{AllocTensorOp, BroadcastOp, MemDescSlotOp, MemDescType, StageOp, TmemCopyOp, TmemFenceOp, ViewOp},
    pass::{Failed, fail},
    rt::*,
    shared_memory::with_stages,
};
use melior::ir::r#type::IntegerType;
use tile_layout::Layout;

impl<'c> Stream<'c> {
    /// Allocates the columns of all stages for the scale factors of the ring. `top` is after the barrier that follows
    /// the allocation of tensor memory.
    pub fn allocate_columns(&mut self, top: &Builder<'c>) -> Result<(), Failed> {
        let Some((placed, stages)) = self.groups.first().zip(self.stages()) else { return Ok(()) };
        let op = placed.group.place();
        let mut columns = vec![];
        for side in &placed.group.sides {
            let Some(copied_to) = side.copied_to else {
                columns.push(None);
                continue;
            };
            let all = with_stages(op, copied_to, stages).ok_or_else(|| fail(op, "no ring can hold scale factors"))?;
            let storage = AllocTensorOp::build(top, all.into(), None).map_err(|e| fail(op, e.to_string()))?;
            columns.push(Some(storage.result()));
        }
        self.columns = columns;
        Ok(())
    }

    /// Copies the scale factors of a stage to its columns. Returns the columns of each operand that has any.
    pub(super) fn copy_scales(
        &self,
        b: &Builder<'c>,
        placed: &Placed<'c>,
        (ring, it): (&PipelinedRing<'c>, Val<'c>),
        slots: &[Val<'c>],
    ) -> Result<Vec<Option<Val<'c>>>, Failed> {
        let op = placed.group.place();
        let error = |e: BuildError| fail(op, e.to_string());
        if self.columns.iter().all(Option::is_none) {
            return Ok(vec![None; ring.storages.len()]);
        }
        TmemFenceOp::build(b, true).map_err(error)?;
        let index = StageOp::build(b, IntegerType::new(b.context(), 32).into(), it).map_err(error)?.index();
        let mut copied = vec![];
        for ((side, columns), slot) in placed.group.sides.iter().zip(&self.columns).zip(slots) {
            let Some((columns, t)) = columns.zip(side.copied_to) else {
                copied.push(None);
                continue;
            };
            let to = MemDescSlotOp::build(b, t.into(), columns, index).map_err(error)?.result();
            let mut from = *slot;
            for step in side.places.iter().flat_map(|place| &place.moved) {
                from = reshaped(b, *step, from)?;
            }
            TmemCopyOp::build(b, from, to, self.plan.is_pair()).map_err(error)?;
            copied.push(Some(to));
        }
        Ok(copied)
    }
}

/// Repeats a tile along each dimension that is shorter than in its storage. `op` gives the location of errors.
pub(super) fn filled_up<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    tile: Val<'c>,
    storage: MemDescType<'c>,
) -> Result<Val<'c>, Failed> {
    let mut tile = tile;
    for d in 0..storage.shape().len() {
        let tensor = Tensor::of_value(tile).ok_or_else(|| fail(op, "its tile is not a tensor"))?;
        if tensor.shape.get(d).is_some_and(|extent| *extent < storage.shape()[d]) {
            tile = repeated(b, op, (tile, tensor), (d, storage.shape()[d]))?;
        }
    }
    Ok(tile)
}

/// Repeats a tile along dimension `d` until it has this extent. Each thread holds all copies of its elements.
fn repeated<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    (tile, tensor): (Val<'c>, Tensor<'c>),
    (d, extent): (usize, i64),
) -> Result<Val<'c>, Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let layout = tensor.layout().ok_or_else(|| fail(op, "its tile has no layout"))?;
    let copies = extent / tensor.shape[d];
    // Bits of the index above the dimension number the copies.
    let inner: i64 = tensor.shape[d..].iter().product();
    let (low, more) = (inner.ilog2(), copies.ilog2());
    let moved = |bases: &[u64]| bases.iter().map(|b| b & ((1 << low) - 1) | (b >> low) << (low + more)).collect();
    let register: Vec<u64> = moved(layout.register());
    let register = register.into_iter().chain((low..low + more).map(|bit| 1 << bit)).collect();
    let wide = Layout::new(register, moved(layout.lane()), moved(layout.warp()), moved(layout.block()));
    let wide = wide.map_err(|e| fail(op, e.to_string()))?;
    let at = |i: i64| {
        let mut shape = tensor.shape.clone();
        shape.insert(d, i);
        shape
    };
    let t = |shape: &[i64], layout: &Layout| tensor_type(shape, tensor.element, Some(layout_attr(b.context(), layout)));
    let source = ViewOp::build(b, t(&at(1), &layout), tile).map_err(error)?.result();
    let all = BroadcastOp::build(b, t(&at(copies), &wide), source).map_err(error)?.result();
    let mut shape = tensor.shape.clone();
    shape[d] = extent;
    Ok(ViewOp::build(b, t(&shape, &wide), all).map_err(error)?.result())
}
