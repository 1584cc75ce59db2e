//! What stands at the top of a function with asynchronous products: rings with their pipelines, maps of views, and
//! storage of operands that stay.

use super::{Product, Side, iterator_type};
use crate::{
    analysis::{access::View, producers::behind_conversions},
    dialect::{
        layouts::{Tensor, storage_bits},
        nv_tileaa::MakeTiledViewOp,
        nv_tileas::{
            AllocTensorOp, AsyncFenceOp, BarrierOp, CreateIteratorOp, CreatePipelineOp, LocalStoreOp,
            MakeTiledTmaDescOp, PipelineType,
        },
        pass::{Failed, fail},
        product_plan::ProductPlan,
        rt::*,
        shared_memory::{ALIGNMENT, REUSE, aligned_storage_type, shared_layout, vector_of, with_stages},
    },
};
use melior::ir::{TypeLike, r#type::IntegerType};
use rustc_hash::FxHashMap;
use tile_layout::{Direction, HardwareLayout, SharedAccess};

/// Bytes of a map, and the layout of storage in which it is built.
const MAP: i64 = 128;
const MAP_BASES: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// A ring of stages with its pipeline.
pub(super) struct Ring<'c> {
    pub pipeline: Val<'c>,
    /// One for each operand.
    pub storages: Vec<Val<'c>>,
    /// The iterator of the first stage.
    pub first: Val<'c>,
}

impl<'c> Ring<'c> {
    /// A ring for the operands of a product; none if it has no such operands.
    pub fn of(product: &Product<'c>, top: &Builder<'c>, plan: ProductPlan) -> Result<Option<Self>, Failed> {
        if product.sides.is_empty() {
            return Ok(None);
        }
        let op = product.dot.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let stages = i64::from(plan.stages);
        let mut storages = vec![];
        for side in &product.sides {
            let desc = with_stages(op, side.desc, stages).ok_or_else(|| fail(op, "no ring can hold this tile"))?;
            storages.push(AllocTensorOp::build(top, desc.into(), None).map_err(error)?.result());
        }
        let words = (2 * stages as u64).next_power_of_two();
        let bases: Vec<u64> = (0..words.ilog2()).map(|i| 1 << i).collect();
        let context = top.context();
        let barriers =
            aligned_storage_type(op, &[words as i64], IntegerType::new(context, 64).into(), &bases, ALIGNMENT)
                .map_err(error)?;
        let barriers = AllocTensorOp::build(top, barriers.into(), None).map_err(error)?.result();
        let pipeline =
            PipelineType::get(op.location(), stages).ok_or_else(|| fail(op, "no pipeline of so many stages"))?;
        let consumers = i64_attr(context, plan.consumer_warps().into());
        let pipeline = CreatePipelineOp::build(top, pipeline.into(), barriers, consumers).map_err(error)?.pipeline();
        let first = CreateIteratorOp::build(top, iterator_type(op)?, pipeline).map_err(error)?.iterator();
        Ok(Some(Self { pipeline, storages, first }))
    }
}

/// Maps, by the view and the type: loads of one view share theirs.
#[derive(Default)]
pub(super) struct Maps<'c>(FxHashMap<(usize, usize), Val<'c>>);

impl<'c> Maps<'c> {
    pub fn of(&mut self, side: &Side<'c>, top: &Builder<'c>) -> Result<Val<'c>, Failed> {
        let op = side.load.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let name = (key(side.load.view()), side.map.to_raw().ptr as usize);
        if let Some(map) = self.0.get(&name) {
            return Ok(*map);
        }
        let bytes = IntegerType::new(top.context(), 8).into();
        let scratch = aligned_storage_type(op, &[MAP], bytes, &MAP_BASES, ALIGNMENT).map_err(error)?;
        let scratch = AllocTensorOp::build(top, scratch.into(), None).map_err(error)?.result();
        let map = side.map_behind_view(top, scratch)?;
        self.0.insert(name, map);
        Ok(map)
    }
}

impl<'c> Side<'c> {
    /// The map of the view, behind the memref at the top of the function.
    fn map_behind_view(&self, top: &Builder<'c>, scratch: Val<'c>) -> Result<Val<'c>, Failed> {
        let op = self.load.op();
        let view = View::of(self.load.view()).ok_or_else(|| fail(op, "its view is not made here"))?;
        let made = defining_op(self.load.view()).and_then(MakeTiledViewOp::cast);
        let made = made.ok_or_else(|| fail(op, "its view is not made here"))?;
        let b = Builder::before(top.context(), view.make.op());
        b.set_after(view.make.op());
        b.set_location(op.location());
        let copy = clone_detached(made.op());
        b.insert_op(copy);
        let desc = MakeTiledTmaDescOp::build(&b, self.map, result(copy, 0), scratch);
        desc.map(|d| d.desc()).map_err(|e| fail(op, e.to_string()))
    }
}

/// Where an operand is when it is multiplied.
#[derive(Clone, Copy)]
pub(super) enum Tile<'c> {
    /// In the ring.
    Ring,
    /// In storage of its own.
    Memory(Val<'c>),
    /// In registers, as the product has it.
    Registers,
}

/// Storage of operands that stay, by the value and the side.
#[derive(Default)]
pub(super) struct Residents<'c>(FxHashMap<(usize, usize), Val<'c>>);

impl<'c> Residents<'c> {
    /// Operand `number` of a product. One that stays is stored behind its definition.
    pub fn of(&mut self, product: &Product<'c>, number: usize, top: &Builder<'c>) -> Result<Tile<'c>, Failed> {
        if product.sides.iter().any(|s| s.number == number) {
            return Ok(Tile::Ring);
        }
        let v = operand(product.dot.op(), number);
        if matches!(super::Source::of(v, product.dot.op()), super::Source::Computed) {
            return Ok(Tile::Registers);
        }
        let v = behind_conversions(v);
        if let Some(storage) = self.0.get(&(key(v), number)) {
            return Ok(Tile::Memory(*storage));
        }
        let storage = stored(product.dot.op(), (v, number), top)?;
        self.0.insert((key(v), number), storage);
        Ok(Tile::Memory(storage))
    }
}

/// Storage of a tile in an order that products read, filled behind the tile's definition. All threads are done with
/// what was there before, and all wait until it is complete.
fn stored<'c>(op: OpRef<'c>, (v, number): (Val<'c>, usize), top: &Builder<'c>) -> Result<Val<'c>, Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let wrong = |e: tile_layout::LayoutError| fail(op, e.to_string());
    let tensor = Tensor::of_value(v).ok_or_else(|| fail(op, "operand is no tensor"))?;
    let layout = tensor.layout().ok_or_else(|| fail(op, "operand has no layout"))?;
    let bits = storage_bits(tensor.element);
    // Elements are contiguous along K, unless those of 16 bits are held otherwise by threads.
    let depth = 1 - number;
    let by_columns = layout.register().first() == Some(&1);
    let fast = if bits == 16 { usize::from(by_columns) } else { depth };
    let order = HardwareLayout::panels(&tensor.tile_shape(), (fast, 1 - fast), bits);
    let order = order.map_err(|e| fail(op, e.to_string()))?;
    let bases = order.shared_layout().map_err(|e| fail(op, e.to_string()))?;
    let alignment = i64::from(order.alignment()).max(ALIGNMENT);
    let desc = aligned_storage_type(op, &tensor.shape, tensor.element, bases.bases(), alignment).map_err(error)?;
    let storage = AllocTensorOp::build(top, desc.into(), None).map_err(error)?.result();
    let shared = shared_layout(desc).ok_or_else(|| fail(op, "storage has no layout"))?;
    let access = SharedAccess::new(&layout, &shared, bits, Direction::Store, false).map_err(wrong)?;

    let b = Builder::before(top.context(), op);
    match defining_op(v) {
        Some(made) => b.set_after(made),
        None => b.set_before(ops_of(owner_of(v)).next().ok_or_else(|| fail(op, "a block without a terminator"))?),
    }
    b.set_location(op.location());
    let barrier = BarrierOp::build(&b, None, None).map_err(error)?;
    set_discardable_attr(barrier.op(), REUSE, b.unit());
    LocalStoreOp::build(&b, v, storage, i64_attr(top.context(), vector_of(&access))).map_err(error)?;
    AsyncFenceOp::build(&b).map_err(error)?;
    BarrierOp::build(&b, None, None).map_err(error)?;
    Ok(storage)
}
