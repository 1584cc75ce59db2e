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
    iterator_type,
    left_operands::LeftOperand,
    staged_tiles::StagedTile,
    top::{create_pipeline, slot},
};
use crate::{
    analysis::{
        clones::{clone_op, mapped},
        facts::Facts,
        producers::Source,
        tensor_map_ops::TensorMaps,
    },
    dialect::{
        attributes::STAGED,
        dot_plan::{CONVERTER, DotPlan},
        dots::AnyDot,
        layouts::Tensor,
        loops::carry_through,
        nv_tileas::{
            AllocTensorOp, IncIterOp, MemDescType, ProduceOneOp, ProducerAcquireOp, ProducerCommitOp,
            ProducerTokenType, TiledLoadOp, TmemFenceOp, TmemStoreOp, YieldOp,
        },
        pass::{Failed, fail},
        phases,
        rt::*,
        shared_memory::tensor_memory_type,
    },
};
use melior::ir::Region;
use rustc_hash::FxHashMap;

/// The left operand of a dot, with its pipelines.
pub(super) struct ComputedLeft<'c> {
    dot: AnyDot<'c>,
    by: ProduceOneOp<'c>,
    sources: Vec<StagedTile<'c>>,
    pipeline: Val<'c>,
    first: Val<'c>,
    /// The types of all stages in tensor memory and of one.
    memory: [MemDescType<'c>; 2],
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
            sources.push(StagedTile::of(load, (top, &mut *maps), (stages, warps), facts)?);
        }
        let phases = [(phases::FULL, warps), (phases::EMPTY, 1)];
        let (pipeline, first) = create_pipeline(op, top, stages, &phases, &[])?;
        Ok(Self { dot, by, sources, pipeline, first, memory: [memory(stages)?, memory(1)?] })
    }

    /// Writes the loads of the tiles and the converter's program, and returns the operand. `iterators` belong to the
    /// rings of the tiles, and the last one to the ring of the operand.
    fn write(&self, b: &Builder<'c>, storage: Val<'c>, iterators: &[Val<'c>]) -> Result<LeftOperand<'c>, Failed> {
        let op = self.by.op();
        let error = |e: BuildError| fail(op, e.to_string());
        for (tile, it) in self.sources.iter().zip(iterators) {
            tile.load(b, *it)?;
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
            match self.sources.iter().zip(iterators).find(|(s, _)| s.op() == step) {
                Some((source, it)) => {
                    let loaded = source.read(&inside, source.registers(), *it)?;
                    map.insert(key(result(step, 0)), loaded);
                }
                None => _ = clone_op(&inside, step, &mut map),
            }
        }
        let tile = tile.ok_or_else(|| fail(op, "its region yields no tile"))?;
        inside.set_location(op.location());
        let token = ProducerTokenType::get(op.location()).ok_or_else(|| fail(op, "cannot build a token"))?;
        ProducerAcquireOp::build(&inside, token.into(), self.pipeline, own, None, None, None, None).map_err(error)?;
        TmemFenceOp::build(&inside, true).map_err(error)?;
        let memory = slot(&inside, op, (self.memory[1], storage), own)?;
        TmemStoreOp::build(&inside, tile, memory).map_err(error)?;
        TmemFenceOp::build(&inside, false).map_err(error)?;
        ProducerCommitOp::build(&inside, self.pipeline, own, false, false, true, None, None).map_err(error)?;
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
