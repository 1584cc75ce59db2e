//! Operands that consumers hand to the agent `matrix`: left operands in tensor memory, and resident operands in shared
//! memory.
//!
//! The consumers store a computed left operand to tensor memory, in a pipeline of its own:
//!
//! ```text
//! p = ..;  c = dot p, b, c
//! ```
//!
//! becomes
//!
//! ```text
//! p = ..;  producer_acquire q[j];  tmem_store p, left[j];  fence;  producer_commit q[j]
//! elect of matrix { wait r[it];  wait q[j];  fence;  async.dot left[j], ring[it] ..;  release r[it], q[j] dots }
//! ```
//!
//! If the operand is computed from an accumulator that it can replace (`analysis::memory_dots`), it takes the columns
//! of the accumulator. The consumers have then read the accumulator, and its next dot follows the dot that reads the
//! operand, so nothing is acquired or released. Warpgroups that divide the columns of the accumulator meet before they
//! replace it, because narrower elements are in columns that other warps have read. If each has blocks of
//! rows of its own, these take the columns of the same rows.
//!
//! A resident operand is stored to shared memory after its definition. Its pipeline orders the store after the dots
//! that read the previous contents, if the definition is in a loop:
//!
//! ```text
//! v = ..;  producer_acquire q[j];  local_store v, memory;  producer_commit q[j];  elect of matrix { wait q[j] }
//! ..dots..
//! elect of matrix { release q[j] dots }
//! ```

use super::{
    accumulators::{Accumulator, matrix_region},
    top::{create_pipeline, resident_stage, slot, store, wait},
};
use crate::{
    analysis::{
        memory_dots::replaced_accumulator,
        producers::{Source, skip_conversions},
    },
    dialect::{
        dot_plan::{DotPlan, WARPGROUP},
        dots::AnyDot,
        layouts::Tensor,
        loops::carry_through,
        nv_tileas::{
            AllocTensorOp, BarrierOp, ConsumerReleaseOp, IncIterOp, MemDescReinterpretOp, MemDescType,
            ProducerAcquireOp, ProducerCommitOp, ProducerTokenType, TmemFenceOp, TmemScaleOp, TmemStoreOp,
        },
        pass::{Failed, fail},
        phases,
        rt::*,
        shared_memory::{replacing_memory_type, tensor_memory_type},
    },
};
use melior::Context;
use rustc_hash::{FxHashMap, FxHashSet};
use tile_layout::{Shape, TensorMemory};

/// A left operand in tensor memory, for the thread that issues its dot.
#[derive(Clone, Copy)]
pub(super) struct LeftOperand<'c> {
    pub memory: Val<'c>,
    pipeline: Val<'c>,
    iterator: Val<'c>,
    /// Whether the consumers wait for the dot before they store the next operand.
    is_released: bool,
}

impl<'c> LeftOperand<'c> {
    /// An operand in a stage of a pipeline.
    pub fn new(memory: Val<'c>, (pipeline, iterator): (Val<'c>, Val<'c>), is_released: bool) -> Self {
        Self { memory, pipeline, iterator, is_released }
    }

    /// Waits until the consumers have stored the operand, and done everything else before.
    pub fn wait(&self, b: &Builder<'c>, op: OpRef<'c>) -> Result<(), Failed> {
        wait(b, op, (self.pipeline, self.iterator))?;
        TmemFenceOp::build(b, true).map_err(|e| fail(op, e.to_string()))?;
        Ok(())
    }

    /// Lets the completion of the dots release the operand.
    pub fn release(&self, b: &Builder<'c>, op: OpRef<'c>) -> Result<(), Failed> {
        if !self.is_released {
            return Ok(());
        }
        ConsumerReleaseOp::build(b, self.pipeline, self.iterator, None, None, true, None, None)
            .map_err(|e| fail(op, e.to_string()))?;
        Ok(())
    }
}

/// The pipeline of a dot's left operand, and its memory unless it replaces the accumulator of another dot.
pub(super) struct LeftOperands<'c> {
    dot: AnyDot<'c>,
    pipeline: Val<'c>,
    first: Val<'c>,
    memory: LeftMemory<'c>,
    /// Whether warps meet before they store it over an accumulator.
    meets: bool,
}

/// Whether several warps hold a row of the left operand of a dot.
fn meets(dot: AnyDot<'_>, plan: &DotPlan) -> bool {
    let warps = plan.consumer_warps();
    let shape = Tensor::of_value(dot.lhs()).and_then(|t| Shape::new(&t.shape).ok());
    let holds_rows = shape.is_some_and(|shape| TensorMemory::holds_rows(&shape, warps));
    warps > WARPGROUP && !(plan.whole_rows && holds_rows)
}

enum LeftMemory<'c> {
    Own(MemDescType<'c>),
    Replaces(AnyDot<'c>),
}

impl<'c> LeftOperands<'c> {
    /// Creates the pipelines of all computed left operands at the top of the function.
    pub fn of(dots: &[AnyDot<'c>], top: &Builder<'c>, plan: &DotPlan) -> Result<Vec<Self>, Failed> {
        let mut replaced = FxHashSet::default();
        let computed = dots.iter().filter(|dot| matches!(Source::of(dot.lhs(), dot.op()), Source::Computed));
        let mut all = vec![];
        for dot in computed {
            let op = dot.op();
            let is_free = |from| !plan.issue_ahead && !replaced.contains(&op_key(from));
            let from = replaced_accumulator(op, is_free).and_then(AnyDot::cast);
            let (memory, empty) = match from {
                Some(from) => {
                    replaced.insert(op_key(from.op()));
                    (LeftMemory::Replaces(from), None)
                }
                None => {
                    let tensor = Tensor::of_value(dot.lhs()).ok_or_else(|| fail(op, "operand is not a tensor"))?;
                    let memory = tensor_memory_type(op, &tensor.shape, tensor.element, 1).map_err(|e| fail(op, e))?;
                    (LeftMemory::Own(memory), Some((phases::EMPTY, 1)))
                }
            };
            let full = (phases::FULL, i64::from(plan.consumer_warps()));
            let phases: Vec<(&str, i64)> = [full].into_iter().chain(empty).collect();
            let (pipeline, first) = create_pipeline(op, top, 1, &phases, &[])?;
            all.push(Self { dot: *dot, pipeline, first, memory, meets: meets(*dot, plan) });
        }
        Ok(all)
    }

    /// Stores the operand before its dot, and returns it with the next iterator.
    fn store(
        &self,
        context: &'c Context,
        (storage, iterator): (Option<Val<'c>>, Val<'c>),
        accumulators: &FxHashMap<usize, Accumulator<'c>>,
    ) -> Result<(LeftOperand<'c>, Val<'c>), Failed> {
        let op = self.dot.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let b = Builder::before(context, op);
        b.set_location(op.location());
        let (memory, is_released) = match &self.memory {
            LeftMemory::Replaces(from) => {
                if self.meets {
                    BarrierOp::build(&b, None, None).map_err(error)?;
                    TmemFenceOp::build(&b, true).map_err(error)?;
                }
                let scores =
                    accumulators.get(&op_key(from.op())).ok_or_else(|| fail(op, "a dot has no accumulator"))?;
                let tensor = Tensor::of_value(self.dot.lhs()).ok_or_else(|| fail(op, "operand is not a tensor"))?;
                let t = replacing_memory_type(op, &tensor.shape, tensor.element).map_err(|e| fail(op, e))?;
                (MemDescReinterpretOp::build(&b, t.into(), scores.memory).map_err(error)?.result(), false)
            }
            LeftMemory::Own(t) => {
                let storage = storage.ok_or_else(|| fail(op, "a left operand has no memory"))?;
                let own = accumulators.get(&op_key(op)).ok_or_else(|| fail(op, "a dot has no accumulator"))?;
                self.acquire(&b, (iterator, own.memory))?;
                (slot(&b, op, (*t, storage), iterator)?, true)
            }
        };
        TmemStoreOp::build(&b, self.dot.lhs(), memory).map_err(error)?;
        TmemFenceOp::build(&b, false).map_err(error)?;
        ProducerCommitOp::build(&b, self.pipeline, iterator, false, false, true, None, None).map_err(error)?;
        let next = IncIterOp::build(&b, ty(iterator), iterator, self.pipeline).map_err(error)?.next();
        Ok((LeftOperand { memory, pipeline: self.pipeline, iterator, is_released }, next))
    }
}

impl<'c> LeftOperands<'c> {
    /// Acquires the stage of the operand. If consumers scale the accumulator of the dot before, they acquire first: the
    /// dots of the previous iteration are then complete.
    fn acquire(&self, b: &Builder<'c>, (iterator, accumulator): (Val<'c>, Val<'c>)) -> Result<(), Failed> {
        let op = self.dot.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let scales = |o: &OpRef<'c>| TmemScaleOp::cast(*o).is_some_and(|scale| scale.memory() == accumulator);
        let before = block_around(op).into_iter().flat_map(ops_of).take_while(|o| *o != op);
        let first = before.into_iter().find(scales);
        let early = Builder::before(b.context(), first.unwrap_or(op));
        early.set_location(op.location());
        let token = ProducerTokenType::get(op.location()).ok_or_else(|| fail(op, "cannot build a token"))?;
        ProducerAcquireOp::build(&early, token.into(), self.pipeline, iterator, None, None, None, None)
            .map_err(error)?;
        TmemFenceOp::build(&early, true).map_err(error)?;
        Ok(())
    }
}

/// Stores computed left operands before their dots. `top` is after the barrier that follows the allocation of tensor
/// memory. Returns the operand of each dot.
pub(super) fn rewrite<'c>(
    all: &[LeftOperands<'c>],
    accumulators: &FxHashMap<usize, Accumulator<'c>>,
    entry: Blk<'c>,
    top: &Builder<'c>,
) -> Result<FxHashMap<usize, LeftOperand<'c>>, Failed> {
    let mut known = FxHashMap::default();
    for one in all {
        let op = one.dot.op();
        let storage = match &one.memory {
            LeftMemory::Own(t) => {
                Some(AllocTensorOp::build(top, (*t).into(), None).map_err(|e| fail(op, e.to_string()))?.result())
            }
            LeftMemory::Replaces(_) => None,
        };
        let mut stored = None;
        carry_through(top.context(), entry, op, one.first, &mut |iterator| {
            let (operand, next) = one.store(top.context(), (storage, iterator), accumulators)?;
            stored = Some(operand);
            Ok(next)
        })?;
        known.insert(op_key(op), stored.ok_or_else(|| fail(op, "dot is in neither a loop nor a branch"))?);
    }
    Ok(known)
}

/// Allocates shared memory for operand `number` of a dot, stores the resident value `v` after its definition, and lets
/// the agent `matrix` wait for it. Returns the memory.
pub(super) fn resident<'c>(
    dot: OpRef<'c>,
    (v, number): (Val<'c>, usize),
    (top, entry): (&Builder<'c>, Blk<'c>),
    plan: &DotPlan,
) -> Result<Val<'c>, Failed> {
    let error = |e: BuildError| fail(dot, e.to_string());
    let desc = resident_stage(dot, (v, number))?;
    let storage = AllocTensorOp::build(top, desc.into(), None).map_err(error)?.result();
    let phases = [(phases::FULL, i64::from(plan.consumer_warps())), (phases::EMPTY, 1)];
    let (pipeline, first) = create_pipeline(dot, top, 1, &phases, &[])?;
    let definition = defining_op(v).ok_or_else(|| fail(dot, "a loop or branch carries an operand"))?;
    let mut memory = None;
    let last = carry_through(top.context(), entry, definition, first, &mut |iterator| {
        let b = Builder::before(top.context(), definition);
        b.set_after(definition);
        b.set_location(dot.location());
        let token = ProducerTokenType::get(dot.location()).ok_or_else(|| fail(dot, "cannot build a token"))?;
        ProducerAcquireOp::build(&b, token.into(), pipeline, iterator, None, None, None, None).map_err(error)?;
        let stage = slot(&b, dot, (desc, storage), iterator)?;
        store(&b, dot, v, stage)?;
        ProducerCommitOp::build(&b, pipeline, iterator, false, false, false, None, None).map_err(error)?;
        matrix_region(&b, dot, |inside| wait(inside, dot, (pipeline, iterator)))?;
        let block = block_around(definition).ok_or_else(|| fail(dot, "an operand is not computed in a block"))?;
        let last = ops_of(block).filter(|o| reads(*o, v)).last().ok_or_else(|| fail(dot, "no dot reads an operand"))?;
        b.set_after(last);
        b.set_location(dot.location());
        matrix_region(&b, dot, |inside| {
            ConsumerReleaseOp::build(inside, pipeline, iterator, None, None, true, None, None).map_err(error)?;
            Ok(())
        })?;
        memory = Some(stage);
        Ok(IncIterOp::build(&b, ty(iterator), iterator, pipeline).map_err(error)?.next())
    })?;
    // A step that nothing needs would count as a use of the pipeline, after which rings are free for other storage.
    if let Some(step) = defining_op(last).filter(|o| IncIterOp::cast(*o).is_some() && !has_uses(last)) {
        erase(step);
    }
    memory.ok_or_else(|| fail(dot, "an operand is computed in neither a loop nor a branch"))
}

/// Whether an op is, or contains, a dot that reads `v`.
pub(super) fn reads<'c>(op: OpRef<'c>, v: Val<'c>) -> bool {
    let mut found = false;
    walk(op, &mut |o| {
        found |=
            AnyDot::cast(o).is_some_and(|dot| [dot.lhs(), dot.rhs()].into_iter().any(|x| skip_conversions(x) == v));
    });
    found
}
