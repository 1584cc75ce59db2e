//! Left operands that warps of the converter compute from tiles in stages.
//!
//! TMA loads the tiles to rings of their own, and the converter stores the operand to a ring of stages in tensor
//! memory:
//!
//! ```text
//! p = produce_one of converter { x = tiled_load X[i];  s = tiled_load S[i];  yield f(x, s) };  c = dot p, b, c
//! ```
//!
//! becomes
//!
//! ```text
//! elect { acquire r[it];  copy X[i] into stages[it] }
//! produce_one of converter {
//!   wait r[it];  x = local_load stages[it];  release r[it];  s = tiled_load S[i];  p = f(x, s)
//!   producer_acquire q[j];  fence;  tmem_store p, left[j];  fence;  producer_commit q[j]
//! }
//! elect of matrix { wait q[j];  fence;  async.dot left[j], ..;  release q[j] dots }
//! ```
//!
//! A stage of the rings is free as soon as the converter has read it, and a stage in tensor memory once the dot is
//! complete. Small tiles such as scales stay loads of the converter's threads.

use super::{
    TiledCopy, iterator_type,
    left_operands::LeftOperand,
    top::{create_pipeline, load, slot, wait},
};
use crate::{
    analysis::{
        access::View,
        clones::{clone_op, mapped},
        facts::Facts,
        producers::{LoadedOperand, Source},
        tensor_map_ops::TensorMaps,
        tensor_maps,
    },
    dialect::{
        attributes::STAGED,
        dot_plan::{CONVERTER, DotPlan},
        dots::AnyDot,
        layouts::Tensor,
        loops::carry_through,
        nv_tileas::{
            AllocTensorOp, AsyncTiledTmaLoadOp, ConsumerReleaseOp, ElectOp, IncIterOp, MemDescType, ProduceOneOp,
            ProducerAcquireOp, ProducerCommitOp, ProducerTokenType, TiledLoadOp, TmemFenceOp, TmemStoreOp, YieldOp,
        },
        pass::{Failed, fail},
        phases,
        rt::*,
        shared_memory::{tensor_memory_type, with_stages},
    },
};
use melior::ir::Region;
use rustc_hash::FxHashMap;

/// The left operand of a dot, with its pipelines.
pub(super) struct ComputedLeft<'c> {
    dot: AnyDot<'c>,
    by: ProduceOneOp<'c>,
    sources: Vec<SourceTile<'c>>,
    pipeline: Val<'c>,
    first: Val<'c>,
    /// The types of all stages in tensor memory and of one.
    memory: [MemDescType<'c>; 2],
}

/// A tile from which the operand is computed.
struct SourceTile<'c> {
    copy: TiledCopy<'c>,
    map: Val<'c>,
    stage: MemDescType<'c>,
    storage: Val<'c>,
    pipeline: Val<'c>,
    first: Val<'c>,
}

impl<'c> ComputedLeft<'c> {
    /// Creates the pipelines of all such operands, and the stages of their tiles, at the top of the function.
    pub fn of_all(
        dots: &[AnyDot<'c>],
        (top, maps): (&Builder<'c>, &mut TensorMaps<'c>),
        plan: &DotPlan,
        facts: &Facts,
    ) -> Result<Vec<Self>, Failed> {
        let mut all = vec![];
        for dot in dots {
            if let Source::ConverterComputed(by) = Source::of(dot.lhs(), dot.op()) {
                all.push(Self::of(*dot, by, (top, maps), plan, facts)?);
            }
        }
        Ok(all)
    }

    fn of(
        dot: AnyDot<'c>,
        by: ProduceOneOp<'c>,
        (top, maps): (&Builder<'c>, &mut TensorMaps<'c>),
        plan: &DotPlan,
        facts: &Facts,
    ) -> Result<Self, Failed> {
        let op = by.op();
        let tensor = Tensor::of_value(dot.lhs()).ok_or_else(|| fail(op, "its tile is not a tensor"))?;
        let stages = i64::from(plan.stages);
        let memory = |stages| tensor_memory_type(op, &tensor.shape, tensor.element, stages).map_err(|e| fail(op, e));
        let warps = by.warps();
        let body = entry_block(region(op, 0)).ok_or_else(|| fail(op, "produce_one has no body"))?;
        let mut sources = vec![];
        for load in ops_of(body).filter(|o| STAGED.is_on(*o)).filter_map(TiledLoadOp::cast) {
            let view = View::of(load.view());
            let view = view.ok_or_else(|| fail(load.op(), "its view is not created in this function"))?;
            let stage = LoadedOperand::plain(load.op()).stage(&view).map_err(|e| fail(load.op(), e))?;
            let (map, bytes) = tensor_maps::plan(load, stage, facts).map_err(|e| fail(load.op(), e))?;
            let all = with_stages(op, stage, stages).ok_or_else(|| fail(load.op(), "no ring can hold this tile"))?;
            let storage = AllocTensorOp::build(top, all.into(), None).map_err(|e| fail(op, e.to_string()))?.result();
            let phases = [(phases::FULL, 1), (phases::EMPTY, warps)];
            let (pipeline, first) = create_pipeline(op, top, stages, &phases, None)?;
            let map_value = maps.of(op, load.view(), map, top)?;
            let copy = TiledCopy { load, map: Some(map), bytes };
            sources.push(SourceTile { copy, map: map_value, stage, storage, pipeline, first });
        }
        let phases = [(phases::FULL, warps), (phases::EMPTY, 1)];
        let (pipeline, first) = create_pipeline(op, top, stages, &phases, None)?;
        Ok(Self { dot, by, sources, pipeline, first, memory: [memory(stages)?, memory(1)?] })
    }

    /// Writes the loads of the tiles and the converter's program, and returns the operand. `iterators` belong to the
    /// rings of the tiles, and the last one to the ring of the operand.
    fn write(&self, b: &Builder<'c>, storage: Val<'c>, iterators: &[Val<'c>]) -> Result<LeftOperand<'c>, Failed> {
        let op = self.by.op();
        let error = |e: BuildError| fail(op, e.to_string());
        for (tile, it) in self.sources.iter().zip(iterators) {
            tile.load(b, op, *it)?;
        }
        let Some(own) = iterators.last().copied() else { return Err(fail(op, "a ring has no iterator")) };
        let program = Region::new();
        let block = append_block(&program, &[], op.location());
        let inside = Builder::at_end(b.context(), block, op.location());
        let body = entry_block(region(op, 0)).ok_or_else(|| fail(op, "produce_one has no body"))?;
        let mut map = FxHashMap::default();
        let mut tile = None;
        for step in ops_of(body) {
            inside.set_location(step.location());
            if YieldOp::cast(step).is_some() {
                tile = operands(step).next().map(|v| mapped(&map, v));
                break;
            }
            match self.sources.iter().zip(iterators).find(|(s, _)| s.copy.load.op() == step) {
                Some((source, it)) => {
                    let loaded = source.read(&inside, op, *it)?;
                    map.insert(key(result(step, 0)), loaded);
                }
                None => _ = clone_op(&inside, step, &mut map),
            }
        }
        let tile = tile.ok_or_else(|| fail(op, "its region yields no tile"))?;
        inside.set_location(op.location());
        let token = ProducerTokenType::get(op.location()).ok_or_else(|| fail(op, "cannot build a token"))?;
        ProducerAcquireOp::build(&inside, token.into(), self.pipeline, own, None, None).map_err(error)?;
        TmemFenceOp::build(&inside, true).map_err(error)?;
        let memory = slot(&inside, op, (self.memory[1], storage), own)?;
        TmemStoreOp::build(&inside, tile, memory).map_err(error)?;
        TmemFenceOp::build(&inside, false).map_err(error)?;
        ProducerCommitOp::build(&inside, self.pipeline, own, false, false, true, None).map_err(error)?;
        YieldOp::build(&inside, &[]).map_err(error)?;
        let [warps, fast] = [self.by.warps(), self.by.fast()].map(|n| i64_attr(b.context(), n));
        let agent = Some(string_to_attr(b.context(), CONVERTER));
        ProduceOneOp::build(b, &[], warps, fast, false, agent, program).map_err(error)?;
        let memory = slot(b, op, (self.memory[1], storage), own)?;
        Ok(LeftOperand::new(memory, (self.pipeline, own), true))
    }

    /// Erases the original program, once the dot is replaced.
    pub fn erase(&self) {
        erase(self.by.op());
    }
}

impl<'c> SourceTile<'c> {
    /// Writes the region of one thread that starts the load.
    fn load(&self, b: &Builder<'c>, op: OpRef<'c>, it: Val<'c>) -> Result<(), Failed> {
        let load = self.copy.load;
        let error = |e: BuildError| fail(load.op(), e.to_string());
        let program = Region::new();
        let block = append_block(&program, &[], op.location());
        let inside = Builder::at_end(b.context(), block, load.op().location());
        let bytes = Some(i64_attr(b.context(), self.copy.bytes.into()));
        let token = ProducerTokenType::get(op.location()).ok_or_else(|| fail(op, "cannot build a token"))?;
        let acquired = ProducerAcquireOp::build(&inside, token.into(), self.pipeline, it, bytes, None);
        let token = acquired.map_err(error)?.token();
        let stage = slot(&inside, op, (self.stage, self.storage), it)?;
        let indices: Vec<Val<'c>> = load.indices().collect();
        AsyncTiledTmaLoadOp::build(&inside, load.view(), &indices, self.map, stage, token).map_err(error)?;
        ElectOp::build(b, None, program).map_err(error)?;
        Ok(())
    }

    /// Reads the tile from its stage to the registers of the load, and releases the stage.
    fn read(&self, b: &Builder<'c>, op: OpRef<'c>, it: Val<'c>) -> Result<Val<'c>, Failed> {
        wait(b, op, (self.pipeline, it))?;
        let stage = slot(b, op, (self.stage, self.storage), it)?;
        let tile = load(b, op, (self.copy.load.result(), stage))?;
        ConsumerReleaseOp::build(b, self.pipeline, it, None, None, false, None).map_err(|e| fail(op, e.to_string()))?;
        Ok(tile)
    }
}

/// Writes the programs of all operands before their dots. `top` is after the barrier that follows the allocation of
/// tensor memory. Returns the operand of each dot.
pub(super) fn rewrite<'c>(
    all: &[ComputedLeft<'c>],
    entry: Blk<'c>,
    top: &Builder<'c>,
) -> Result<FxHashMap<usize, LeftOperand<'c>>, Failed> {
    let mut known = FxHashMap::default();
    for one in all {
        let op = one.by.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let storage = AllocTensorOp::build(top, one.memory[0].into(), None).map_err(error)?.result();
        let b = Builder::before(top.context(), op);
        b.set_location(op.location());
        let mut iterators = vec![];
        let rings = one.sources.iter().map(|source| (source.pipeline, source.first));
        for (pipeline, first) in rings.chain([(one.pipeline, one.first)]) {
            carry_through(top.context(), entry, op, first, &mut |iterator| {
                iterators.push(iterator);
                b.set_after(op);
                Ok(IncIterOp::build(&b, iterator_type(op)?, iterator, pipeline).map_err(error)?.next())
            })?;
        }
        b.set_before(op);
        known.insert(op_key(one.dot.op()), one.write(&b, storage, &iterators)?);
    }
    Ok(known)
}
