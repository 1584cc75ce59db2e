//! What stands at the top of a function with asynchronous products: rings with their pipelines, and storage of operands
//! that stay.

use super::{Product, RingPlan, iterator_type};
use crate::{
    analysis::producers::{behind_conversions, computed_stage},
    dialect::{
        dot_plan::DotPlan,
        layouts::{Tensor, storage_bits},
        nv_tileas::{
            AllocTensorOp, AsyncFenceOp, BarrierOp, CreateIteratorOp, CreatePipelineOp, LocalStoreOp, MemDescType,
            PipelineType,
        },
        pass::{Failed, fail},
        rt::*,
        shared_memory::{ALIGNMENT, REUSE, aligned_storage_type, shared_layout, vector_of, with_stages},
    },
};
use melior::ir::r#type::IntegerType;
use rustc_hash::FxHashMap;
use tile_layout::{Direction, SharedAccess};

/// Threads of a warp.
const THREADS: i64 = 32;

/// A ring of stages with its pipeline.
pub(super) struct PipelinedRing<'c> {
    pub pipeline: Val<'c>,
    /// Whether others than the consumers change its stages before these have them.
    pub converted: bool,
    /// One for each operand.
    pub storages: Vec<Val<'c>>,
    /// The iterator of the first stage.
    pub first: Val<'c>,
}

impl<'c> PipelinedRing<'c> {
    /// A ring for the operands of a product; none if it has no such operands.
    pub fn of(
        product: &Product<'c>,
        top: &Builder<'c>,
        plan: DotPlan,
        RingPlan { stages, converted }: RingPlan,
    ) -> Result<Option<Self>, Failed> {
        if product.sides.is_empty() {
            return Ok(None);
        }
        let op = product.place();
        let error = |e: BuildError| fail(op, e.to_string());
        let stages = i64::from(stages);
        let mut storages = vec![];
        for side in &product.sides {
            let desc = with_stages(op, side.desc, stages).ok_or_else(|| fail(op, "no ring can hold this tile"))?;
            storages.push(AllocTensorOp::build(top, desc.into(), None).map_err(error)?.result());
        }
        let words = ((if converted { 3 } else { 2 }) * stages as u64).next_power_of_two();
        let bases: Vec<u64> = (0..words.ilog2()).map(|i| 1 << i).collect();
        let context = top.context();
        let barriers =
            aligned_storage_type(op, &[words as i64], IntegerType::new(context, 64).into(), &bases, ALIGNMENT)
                .map_err(error)?;
        let barriers = AllocTensorOp::build(top, barriers.into(), None).map_err(error)?.result();
        let pipeline =
            PipelineType::get(op.location(), stages).ok_or_else(|| fail(op, "no pipeline of so many stages"))?;
        let consumers = i64_attr(context, plan.consumer_warps().into());
        // One thread announces what tensor copies bring; each warp that stores says when it has, and each thread when
        // its copies are done.
        let announces = i64::from(product.copies(true).next().is_some());
        let (copies, stores) = product.by_threads();
        let each = i64::from(stores) + if copies { THREADS } else { 0 };
        let arrivals = product.made().next().map(|(_, made)| i64_attr(context, made.by.warps() * each + announces));
        let converters = converted.then(|| i64_attr(context, plan.converter_warps().into()));
        let pipeline = CreatePipelineOp::build(top, pipeline.into(), barriers, consumers, arrivals, converters);
        let pipeline = pipeline.map_err(error)?.pipeline();
        let first = CreateIteratorOp::build(top, iterator_type(op)?, pipeline).map_err(error)?.iterator();
        Ok(Some(Self { pipeline, converted, storages, first }))
    }
}

/// Where an operand is when it is multiplied.
#[derive(Clone, Copy)]
pub(super) enum Tile<'c> {
    /// In the ring: which side of the stage, and which of its places this is.
    PipelinedRing { side: usize, place: usize },
    /// In storage of its own.
    Memory(Val<'c>),
    /// In registers, as the product has it.
    Registers,
}

/// Storage of operands that stay, by the value and the side.
#[derive(Default)]
pub(super) struct Residents<'c>(FxHashMap<(usize, usize), Val<'c>>);

impl<'c> Residents<'c> {
    /// Operand `number` of one of the products. One that stays is stored behind its definition.
    pub fn of(
        &mut self,
        product: &Product<'c>,
        (dot, number): (usize, usize),
        top: &Builder<'c>,
    ) -> Result<Tile<'c>, Failed> {
        let is_here = |s: &super::StagedOperand<'c>| s.places.iter().position(|p| (p.dot, p.number) == (dot, number));
        let mut sides = product.sides.iter().enumerate();
        if let Some(found) = sides.find_map(|(side, s)| is_here(s).map(|place| Tile::PipelinedRing { side, place })) {
            return Ok(found);
        }
        let dot = product.dots[dot].op();
        let v = operand(dot, number);
        if matches!(super::Source::of(v, dot), super::Source::Computed) {
            return Ok(Tile::Registers);
        }
        let v = behind_conversions(v);
        if let Some(storage) = self.0.get(&(key(v), number)) {
            return Ok(Tile::Memory(*storage));
        }
        let storage = stored(dot, (v, number), top)?;
        self.0.insert((key(v), number), storage);
        Ok(Tile::Memory(storage))
    }
}

/// Storage of a tile in an order that products read, filled behind the tile's definition. All threads are done with
/// what was there before, and all wait until it is complete.
fn stored<'c>(op: OpRef<'c>, (v, number): (Val<'c>, usize), top: &Builder<'c>) -> Result<Val<'c>, Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let tensor = Tensor::of_value(v).ok_or_else(|| fail(op, "operand is no tensor"))?;
    let layout = tensor.layout().ok_or_else(|| fail(op, "operand has no layout"))?;
    let bits = storage_bits(tensor.element);
    // Elements are contiguous along K, unless those of 16 bits are held otherwise by threads.
    let depth = 1 - number;
    let by_columns = layout.register().first() == Some(&1);
    let fast = if bits == 16 { usize::from(by_columns) } else { depth };
    let desc = computed_stage(op, v, fast).map_err(|e| fail(op, e))?;
    let storage = AllocTensorOp::build(top, desc.into(), None).map_err(error)?.result();
    let b = Builder::before(top.context(), op);
    match defining_op(v) {
        Some(made) => b.set_after(made),
        None => b.set_before(ops_of(owner_of(v)).next().ok_or_else(|| fail(op, "a block without a terminator"))?),
    }
    b.set_location(op.location());
    let barrier = BarrierOp::build(&b, None, None).map_err(error)?;
    set_discardable_attr(barrier.op(), REUSE, b.unit());
    store(&b, op, v, storage)?;
    AsyncFenceOp::build(&b).map_err(error)?;
    BarrierOp::build(&b, None, None).map_err(error)?;
    Ok(storage)
}

/// Stores a tile to storage in an order that products read. `op` is what needs it.
pub(super) fn store<'c>(b: &Builder<'c>, op: OpRef<'c>, tile: Val<'c>, storage: Val<'c>) -> Result<(), Failed> {
    let not = |what: &str| fail(op, what);
    let layout = Tensor::of_value(tile).and_then(|t| t.layout()).ok_or_else(|| not("its tile has no layout"))?;
    let desc = MemDescType::cast(ty(storage)).ok_or_else(|| not("not a memdesc"))?;
    let shared = shared_layout(desc).ok_or_else(|| not("storage has no layout"))?;
    let bits = storage_bits(desc.element_type());
    let access = SharedAccess::new(&layout, &shared, bits, Direction::Store, false);
    let vector = access.map(|a| vector_of(&a)).map_err(|e| fail(op, e.to_string()))?;
    LocalStoreOp::build(b, tile, storage, i64_attr(b.context(), vector)).map_err(|e| fail(op, e.to_string()))?;
    Ok(())
}
