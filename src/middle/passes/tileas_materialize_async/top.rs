//! The top of a function with asynchronous dots: rings with their pipelines, and storage of resident operands.

use super::{DotGroup, RingPlan, iterator_type, left_operands, pairs::CTAS, resident_loads::ResidentLoad};
use crate::{
    analysis::{facts::Facts, operand_stages::computed_stage, producers::skip_conversions, tensor_map_ops::TensorMaps},
    dialect::{
        attributes::REUSE,
        dot_plan::{CONVERTER, DotPlan},
        layouts::{Tensor, storage_bits},
        nv_tileas::{
            AllocTensorOp, AsyncFenceOp, BarrierOp, ConsumerTokenType, ConsumerWaitOp, CreateIteratorOp,
            CreatePipelineOp, LocalLoadOp, LocalStoreOp, MemDescSlotOp, MemDescType, PipelineType, StageOp,
        },
        pass::{Failed, fail},
        phases,
        rt::*,
        shared_memory::{ALIGNMENT, barrier_storage_type, shared_layout, vector_of, with_stages},
    },
};
use melior::{Context, ir::r#type::IntegerType};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use tile_layout::{Direction, SharedAccess};

/// The number of threads of a warp.
const THREADS: i64 = 32;
/// The size of a barrier.
const WORD_BYTES: i64 = 8;

/// A ring of stages with its pipeline.
pub(super) struct PipelinedRing<'c> {
    pub pipeline: Val<'c>,
    /// Whether a converter warpgroup converts the stages.
    pub converted: bool,
    /// Whether each CTA of a pair counts the arrivals of its own scale factors, because its converter waits for them.
    own_scales: bool,
    /// One for each operand.
    pub storages: Vec<Val<'c>>,
    /// The iterator of the first stage.
    pub first: Val<'c>,
}

impl<'c> PipelinedRing<'c> {
    /// Creates the ring for the operands of a group, or returns `None` if none of its operands comes through a ring.
    pub fn of(
        group: &DotGroup<'c>,
        top: &Builder<'c>,
        plan: &DotPlan,
        RingPlan { stages, converted }: RingPlan,
    ) -> Result<Option<Self>, Failed> {
        if group.sides.is_empty() {
            return Ok(None);
        }
        let op = group.place();
        let error = |e: BuildError| fail(op, e.to_string());
        let stages = i64::from(stages);
        let mut storages = vec![];
        for side in &group.sides {
            let desc = with_stages(op, side.desc, stages).ok_or_else(|| fail(op, "no ring can hold this tile"))?;
            storages.push(AllocTensorOp::build(top, desc.into(), None).map_err(error)?.result());
        }
        let own_scales = converted && plan.is_pair();
        let is_own = |side: &super::StagedOperand<'c>| own_scales && side.copied_to.is_some();
        // Arrivals: one of the thread that announces TMA loads, one of each warp that stores, and one of each thread
        // that copies.
        let announces = |own: bool| i64::from(group.copied().any(|(side, _)| is_own(side) == own));
        let (copies, stores) = group.by_threads();
        let each = i64::from(stores) + if copies { THREADS } else { 0 };
        let stored = group.producer_computed().next().map_or(0, |(_, tile)| tile.by.warps() * each);
        let tested = group.copies(true).next().is_some();
        let arrivals = if own_scales { announces(false) } else { stored + i64::from(tested || stored == 0) };
        // One arrival follows the completion of dots that one thread issues.
        let readers = if plan.accumulates_in_memory() { 1 } else { plan.consumer_warps() };
        let mut phases = vec![(phases::FULL, arrivals), (phases::EMPTY, readers.into())];
        // The converters of both CTAs of a pair arrive at the barriers of the leader.
        let ctas = if plan.is_pair() { CTAS } else { 1 };
        phases.extend(converted.then(|| (phases::CONVERTED, ctas * i64::from(plan.warps(CONVERTER)))));
        phases.extend(own_scales.then(|| (phases::SCALES, stored + announces(true))));
        let leader: &[&str] = match (plan.is_pair(), converted) {
            (true, true) => &[phases::FULL, phases::CONVERTED],
            (true, false) => &[phases::FULL],
            (false, _) => &[],
        };
        let (pipeline, first) = create_pipeline(op, top, stages, &phases, leader)?;
        Ok(Some(Self { pipeline, converted, own_scales, storages, first }))
    }

    /// The phase at which warps arrive that store operands or scale factors.
    pub fn stored(&self) -> &'static str {
        if self.own_scales { phases::SCALES } else { phases::FULL }
    }

    /// The phases at which copies of the producer arrive.
    pub fn filled(&self) -> &'static [&'static str] {
        if self.own_scales { &[phases::FULL, phases::SCALES] } else { &[phases::FULL] }
    }

    /// The phase at which the copy of an operand arrives.
    pub fn filled_by(&self, side: &super::StagedOperand<'c>) -> &'static str {
        if self.own_scales && side.copied_to.is_some() { phases::SCALES } else { phases::FULL }
    }

    /// The phase for which the converter waits.
    pub fn before_conversion(&self) -> &'static str {
        if self.own_scales { phases::SCALES } else { phases::FULL }
    }

    /// The phases for which the dots wait. If the converter waits for all copies, it is enough to wait for the
    /// converter.
    pub fn before_dots(&self) -> &'static [&'static str] {
        match (self.converted, self.own_scales) {
            (false, _) => &[phases::FULL],
            (true, false) => &[phases::CONVERTED],
            (true, true) => &[phases::FULL, phases::CONVERTED],
        }
    }
}

/// Creates a pipeline with barriers for these phases, each with the number of its arrivals. The phases `leader` are
/// counted for both CTAs of a pair by the first one. Returns the pipeline and the iterator of its first stage.
pub(super) fn create_pipeline<'c>(
    op: OpRef<'c>,
    top: &Builder<'c>,
    stages: i64,
    phases: &[(&str, i64)],
    leader: &[&str],
) -> Result<(Val<'c>, Val<'c>), Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let context = top.context();
    // Two CTAs with dependent dots share the memory of an SM, which their tiles nearly fill.
    let is_dense = DotPlan::around(op).is_some_and(|plan| plan.whole_rows);
    let alignment = if is_dense { WORD_BYTES } else { ALIGNMENT };
    let barriers = barrier_storage_type(op, phases.len() as i64 * stages, alignment).map_err(error)?;
    let barriers = AllocTensorOp::build(top, barriers.into(), None).map_err(error)?.result();
    let pipeline = PipelineType::get(op.location(), stages)
        .ok_or_else(|| fail(op, "cannot build a pipeline of that many stages"))?;
    let (names, arrivals): (Vec<&str>, Vec<i64>) = phases.iter().copied().unzip();
    let (names, arrivals) = (strings_to_attr(context, &names), i64s_to_attr(context, &arrivals));
    let leader = (!leader.is_empty()).then(|| strings_to_attr(context, leader));
    let pipeline = CreatePipelineOp::build(top, pipeline.into(), barriers, names, arrivals, leader, None);
    let pipeline = pipeline.map_err(error)?.pipeline();
    let first = CreateIteratorOp::build(top, iterator_type(op)?, pipeline).map_err(error)?.iterator();
    Ok((pipeline, first))
}

/// The location of an operand when its dot reads it.
#[derive(Clone, Copy)]
pub(super) enum Tile<'c> {
    /// The ring: an index of `DotGroup::sides`, and an index of that side's `places`.
    PipelinedRing { side: usize, place: usize },
    /// Storage in shared memory outside the rings.
    Memory(Val<'c>),
    /// Registers, as the operand of the dot.
    Registers,
}

/// The storage of resident operands.
#[derive(Default)]
pub(super) struct Residents<'c> {
    /// By value and operand number.
    memory: FxHashMap<(usize, usize), Val<'c>>,
    /// Operands that TMA loads, by their loads.
    loads: FxHashMap<usize, ResidentLoad<'c>>,
}

impl<'c> Residents<'c> {
    /// Returns the location of operand `number` of a dot of `group`. Stores a resident operand after its definition.
    pub fn of(
        &mut self,
        group: &DotGroup<'c>,
        (dot, number): (usize, usize),
        (top, entry): (&Builder<'c>, Blk<'c>),
        maps: &mut TensorMaps<'c>,
        (plan, facts): (&DotPlan, &Facts),
    ) -> Result<Tile<'c>, Failed> {
        let is_here = |s: &super::StagedOperand<'c>| s.places.iter().position(|p| (p.dot, p.number) == (dot, number));
        let mut sides = group.sides.iter().enumerate();
        if let Some(found) = sides.find_map(|(side, s)| is_here(s).map(|place| Tile::PipelinedRing { side, place })) {
            return Ok(found);
        }
        let dot = group.dots[dot].op();
        let v = operand(dot, number);
        let source = super::Source::of(v, dot);
        if plan.reads_fragments() || matches!(source, super::Source::Computed | super::Source::ConverterComputed(_)) {
            return Ok(Tile::Registers);
        }
        let v = skip_conversions(v);
        if let Some(storage) = self.memory.get(&(key(v), number)) {
            return Ok(Tile::Memory(*storage));
        }
        let storage = if let Some(load) = ResidentLoad::load_of(v) {
            let found = match self.loads.entry(op_key(load)) {
                Entry::Occupied(found) => found.into_mut(),
                Entry::Vacant(new) => new.insert(ResidentLoad::new(load, (top, entry), maps, (plan, facts))?),
            };
            found.memory(top.context(), v)?
        } else if plan.accumulates_in_memory() {
            left_operands::resident(dot, (v, number), (top, entry), plan)?
        } else {
            stored(dot, (v, number), top)?
        };
        self.memory.insert((key(v), number), storage);
        Ok(Tile::Memory(storage))
    }

    /// Erases the loads that TMA replaces, after their dots have been rewritten.
    pub fn erase_loads(&self, context: &'c Context) -> Result<(), Failed> {
        self.loads.values().try_for_each(|load| load.erase(context))
    }
}

/// Allocates storage for a tile, in a layout that dots read, and fills it after the tile's definition. One barrier
/// orders the stores after earlier uses of the memory, and another orders later reads after the stores.
fn stored<'c>(op: OpRef<'c>, (v, number): (Val<'c>, usize), top: &Builder<'c>) -> Result<Val<'c>, Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let desc = resident_stage(op, (v, number))?;
    let storage = AllocTensorOp::build(top, desc.into(), None).map_err(error)?.result();
    let b = Builder::before(top.context(), op);
    match defining_op(v) {
        Some(definition) => b.set_after(definition),
        None => b.set_before(ops_of(owner_of(v)).next().ok_or_else(|| fail(op, "block has no terminator"))?),
    }
    b.set_location(op.location());
    let barrier = BarrierOp::build(&b, None, None).map_err(error)?;
    REUSE.mark(barrier.op());
    store(&b, op, v, storage)?;
    AsyncFenceOp::build(&b).map_err(error)?;
    BarrierOp::build(&b, None, None).map_err(error)?;
    Ok(storage)
}

/// The storage of a resident operand.
pub(super) fn resident_stage<'c>(op: OpRef<'c>, (v, number): (Val<'c>, usize)) -> Result<MemDescType<'c>, Failed> {
    let tensor = Tensor::of_value(v).ok_or_else(|| fail(op, "operand is not a tensor"))?;
    let layout = tensor.layout().ok_or_else(|| fail(op, "operand has no layout"))?;
    let bits = storage_bits(tensor.element);
    // Elements are contiguous along K, except 16-bit elements that threads hold contiguously along the other
    // dimension.
    let depth = 1 - number;
    let by_columns = layout.register().first() == Some(&1);
    let fast = if bits == 16 { usize::from(by_columns) } else { depth };
    computed_stage(op, v, fast).map_err(|e| fail(op, e))
}

/// Loads a tile from storage, in the layout of `like`. `op` gives the location of errors.
pub(super) fn load<'c>(b: &Builder<'c>, op: OpRef<'c>, (like, storage): (Val<'c>, Val<'c>)) -> Result<Val<'c>, Failed> {
    let vector = access(op, like, storage, Direction::Load)?;
    let loaded = LocalLoadOp::build(b, ty(like), storage, i64_attr(b.context(), vector));
    Ok(loaded.map_err(|e| fail(op, e.to_string()))?.result())
}

/// Stores a tile to storage in a layout that dots read. `op` gives the location of errors.
pub(super) fn store<'c>(b: &Builder<'c>, op: OpRef<'c>, tile: Val<'c>, storage: Val<'c>) -> Result<(), Failed> {
    let vector = access(op, tile, storage, Direction::Store)?;
    LocalStoreOp::build(b, tile, storage, i64_attr(b.context(), vector)).map_err(|e| fail(op, e.to_string()))?;
    Ok(())
}

/// The elements of an access of a tile in storage. `op` gives the location of errors.
fn access<'c>(op: OpRef<'c>, tile: Val<'c>, storage: Val<'c>, direction: Direction) -> Result<i64, Failed> {
    let not = |what: &str| fail(op, what);
    let layout = Tensor::of_value(tile).and_then(|t| t.layout()).ok_or_else(|| not("its tile has no layout"))?;
    let desc = MemDescType::cast(ty(storage)).ok_or_else(|| not("not a memdesc"))?;
    let shared = shared_layout(desc).ok_or_else(|| not("storage has no layout"))?;
    let bits = storage_bits(desc.element_type());
    // Every target has `ldmatrix`.
    let access = SharedAccess::new(&layout, &shared, bits, direction, direction == Direction::Load);
    access.map(|a| vector_of(&a)).map_err(|e| fail(op, e.to_string()))
}

/// Waits until the stage of an iterator is full.
pub(super) fn wait<'c>(b: &Builder<'c>, op: OpRef<'c>, (pipeline, iterator): (Val<'c>, Val<'c>)) -> Result<(), Failed> {
    let waited = ConsumerTokenType::get(op.location()).ok_or_else(|| fail(op, "cannot build the token type"))?;
    ConsumerWaitOp::build(b, waited.into(), pipeline, iterator, None, None).map_err(|e| fail(op, e.to_string()))?;
    Ok(())
}

/// The stage of an iterator.
pub(super) fn slot<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    (t, storage): (MemDescType<'c>, Val<'c>),
    iterator: Val<'c>,
) -> Result<Val<'c>, Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let index = StageOp::build(b, IntegerType::new(b.context(), 32).into(), iterator).map_err(error)?.index();
    Ok(MemDescSlotOp::build(b, t.into(), storage, index).map_err(error)?.result())
}
