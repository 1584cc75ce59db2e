//! Accumulators in tensor memory.
//!
//! One thread of the agent `matrix` issues the dots. The accumulator of a loop of dots is a stage of a pipeline of its
//! own: the thread acquires it before the loop, and the completion of the dots fills it. The consumers then read it to
//! registers and release it:
//!
//! ```text
//! for i iter_args(c = 0) { .. yield dot a, b, c };  use c
//! ```
//!
//! becomes
//!
//! ```text
//! elect of matrix { producer_acquire q[j]; fence }
//! for i { ..
//!   elect of matrix { wait p[it];  async.dot ring[it], ring[it], acc[j] accumulate i != 0;  release p[it] dots }
//! }
//! elect of matrix { producer_commit q[j] dots }
//! consumer_wait q[j]; fence;  c = tmem_load acc[j];  fence;  consumer_release q[j]
//! use c
//! ```
//!
//! If the program uses the accumulator in slices of its columns, each slice is loaded where it is extracted, and the
//! memory is released after the last one.
//!
//! If the loop may not run, the consumers first store zeros in that case. Accumulators start at zero; the consumers add
//! another start at the end.
//!
//! If the loop multiplies the rows of the accumulator by factors before each dot (`analysis::memory_dots`), the
//! consumers do so in tensor memory, from the second iteration on. Another start than zero is stored before the loop:
//!
//! ```text
//! for i iter_args(c = 0) { .. yield dot a, b, c * factor }      for i { .. tmem_scale acc[j] by factor if i != 0; .. }
//! ```
//!
//! Loops and branches around the loop of dots carry the iterator `j`.

use super::{
    pairs::CTAS,
    top::{create_pipeline, slot, wait},
};
use crate::{
    analysis::{
        memory_dots::{ScaledAccumulation, shared_accumulators},
        producers::{accumulation, accumulation_chain, carried_number, skip_conversions},
        tensor_map_ops::maps_before,
    },
    dialect::{
        arith::IntPredicate,
        behaviour::{int_constant, is_pure},
        dot_plan::{DotPlan, MATRIX},
        dots::{ACC, AnyDot, is_zero},
        layouts::{Tensor, converted},
        loops::{FIRST_INIT, always_runs, carry_through_all, drop_carried, extend_for, extend_yield, new_if},
        nv_tileas::{
            AllocTensorOp, ConsumerReleaseOp, ConvertLayoutOp, ElectOp, ExtractSliceOp, IncIterOp, MemDescType,
            ProducerAcquireOp, ProducerCommitOp, ProducerTokenType, TmemAllocateOp, TmemFenceOp, TmemFreeOp,
            TmemLoadOp, TmemScaleOp, TmemSliceOp, TmemStoreOp,
        },
        pass::{Failed, fail},
        phases,
        rt::*,
        shared_memory::{storage_type, tensor_memory_type, with_stages},
        types::{element, is_float},
    },
};
use melior::{
    Context,
    ir::{Region, Type, r#type::IntegerType},
};
use rustc_hash::{FxHashMap, FxHashSet};
use tile_layout::TensorMemory;

/// The accumulator of a dot in tensor memory.
#[derive(Clone, Copy)]
pub(super) struct Accumulator<'c> {
    pub memory: Val<'c>,
    /// Whether the dot adds to the memory, rather than overwrite it.
    pub accumulate: Val<'c>,
}

/// A pipeline of accumulators, and the dots that fill it, which run one after another.
pub(super) struct Accumulators<'c> {
    pipeline: Val<'c>,
    first: Val<'c>,
    /// The type of all stages.
    memory: MemDescType<'c>,
    /// The warps that read them.
    warps: u32,
    dots: Vec<Filled<'c>>,
}

/// A dot that fills an accumulator.
struct Filled<'c> {
    dot: AnyDot<'c>,
    /// The multiplication of rows by factors before each dot of a loop.
    scaled: Option<ScaledAccumulation<'c>>,
}

impl<'c> Accumulators<'c> {
    /// Creates the pipelines of all dots at the top of the function. Dots that run one after another share one if
    /// threads read whole rows.
    pub fn of_all(dots: &[AnyDot<'c>], top: &Builder<'c>, plan: &DotPlan) -> Result<Vec<Self>, Failed> {
        let groups = if plan.whole_rows {
            shared_accumulators(&dots.iter().map(|dot| dot.op()).collect::<Vec<_>>())
        } else {
            (0..dots.len()).map(|i| vec![i]).collect()
        };
        groups.into_iter().map(|group| Self::of(group.into_iter().map(|i| dots[i]).collect(), top, plan)).collect()
    }

    fn of(dots: Vec<AnyDot<'c>>, top: &Builder<'c>, plan: &DotPlan) -> Result<Self, Failed> {
        let op = dots[0].op();
        let tensor = Tensor::of_value(dots[0].result()).ok_or_else(|| fail(op, "result is not a tensor"))?;
        let stages = i64::from(plan.accumulators);
        let memory = tensor_memory_type(op, &tensor.shape, tensor.element, stages).map_err(|e| fail(op, e))?;
        let (ctas, leader): (_, &[&str]) = if plan.is_pair() { (CTAS, &[phases::EMPTY]) } else { (1, &[]) };
        let phases = [(phases::FULL, 1), (phases::EMPTY, ctas * i64::from(plan.consumer_warps()))];
        let (pipeline, first) = create_pipeline(op, top, stages, &phases, leader)?;
        let scaled = |dot: AnyDot<'c>| ScaledAccumulation::of(dot.op()).filter(|_| plan.whole_rows);
        let dots = dots.into_iter().map(|dot| Filled { dot, scaled: scaled(dot) }).collect();
        Ok(Self { pipeline, first, memory, warps: plan.consumer_warps(), dots })
    }
}

/// A dot that adds to the accumulator of another dot, and that dot.
pub(super) type Follower<'c> = (AnyDot<'c>, AnyDot<'c>);

/// Separates the dots of each loop that add to one accumulator one after another. The first dot then accumulates alone,
/// and the others add to its memory. Returns the others.
pub(super) fn followers<'c>(dots: &[AnyDot<'c>], context: &'c Context) -> Vec<Follower<'c>> {
    let mut all = vec![];
    for first in dots {
        let chain = accumulation_chain(first.op());
        if chain.first() != Some(&first.op()) || chain.len() == 1 || accumulation(first.op()).is_none() {
            continue;
        }
        let others: Vec<AnyDot<'c>> = chain[1..].iter().filter_map(|dot| AnyDot::cast(*dot)).collect();
        let Some(last) = others.last() else { continue };
        for dot in &others {
            let b = Builder::before(context, dot.op());
            b.set_location(dot.op().location());
            let t = ty(dot.acc());
            let nothing = if is_float(element(t)) { b.float_constant(t, 0.0) } else { b.int_constant(t, 0) };
            let old = dot.acc();
            set_operand(dot.op(), ACC, nothing);
            erase_unused_conversions(old);
        }
        let sum = first.result();
        for (user, at) in uses(last.result()) {
            set_operand(user, at, sum);
        }
        all.extend(others.into_iter().map(|dot| (dot, *first)));
    }
    all
}

/// Allocates tensor memory at the top of a function, and frees it at the end.
pub(super) fn allocate<'c>(op: OpRef<'c>, entry: Blk<'c>, top: &Builder<'c>, plan: &DotPlan) -> Result<(), Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let word = storage_type(op, &[1], IntegerType::new(top.context(), 32).into(), &[]).map_err(error)?;
    let slot = AllocTensorOp::build(top, word.into(), None).map_err(error)?.result();
    TmemAllocateOp::build(top, slot, None, plan.is_pair()).map_err(error)?;
    let last = ops_of(entry).last().ok_or_else(|| fail(op, "function has no terminator"))?;
    let end = Builder::before(top.context(), last);
    end.set_location(op.location());
    TmemFreeOp::build(&end, None, plan.is_pair()).map_err(error)?;
    Ok(())
}

/// Moves accumulators to tensor memory, and reads them where the program uses them. `top` is after the barrier that
/// follows the allocation. Returns the accumulator of each dot.
pub(super) fn rewrite<'c>(
    (all, followers): (&[Accumulators<'c>], &[Follower<'c>]),
    entry: Blk<'c>,
    top: &Builder<'c>,
) -> Result<FxHashMap<usize, Accumulator<'c>>, Failed> {
    let mut known = FxHashMap::default();
    for one in all {
        let first = one.dots[0].dot.op();
        let memory = AllocTensorOp::build(top, one.memory.into(), None);
        let memory = memory.map_err(|e| fail(first, e.to_string()))?.result();
        let places: Vec<OpRef<'c>> =
            one.dots.iter().map(|filled| filled.around().map_or(filled.dot.op(), |around| around.op)).collect();
        carry_through_all(top.context(), entry, &places, one.first, &mut |i, iterator| {
            let filled = &one.dots[i];
            let (accumulator, next) = one.accumulate(filled, top.context(), places[i], (memory, iterator))?;
            known.insert(op_key(filled.dot.op()), accumulator);
            Ok(next)
        })?;
        if let Some(filled) = one.dots.iter().find(|filled| !known.contains_key(&op_key(filled.dot.op()))) {
            return Err(fail(filled.dot.op(), "dot is in neither a loop nor a branch"));
        }
    }
    for (dot, first) in followers {
        let first = known.get(&op_key(first.op())).ok_or_else(|| fail(dot.op(), "its accumulator is not known"))?;
        let always = Builder::before(top.context(), dot.op()).bool_constant(true);
        let accumulator = Accumulator { memory: first.memory, accumulate: always };
        known.insert(op_key(dot.op()), accumulator);
    }
    Ok(known)
}

impl<'c> Filled<'c> {
    /// The loop that carries the accumulator, which earlier changes may have replaced.
    fn around(&self) -> Option<Around<'c>> {
        let Some(scaled) = self.scaled else {
            return accumulation(self.dot.op()).map(|(op, number)| Around { op, number, scale: None });
        };
        let op = parent_op(self.dot.op())?;
        Some(Around { op, number: carried_number(self.dot.op(), op)?, scale: Some(scaled) })
    }
}

impl<'c> Accumulators<'c> {
    /// Rewrites the loop that accumulates, or a single dot. Returns the accumulator, and the next iterator.
    fn accumulate(
        &self,
        filled: &Filled<'c>,
        context: &'c Context,
        place: OpRef<'c>,
        (memory, iterator): (Val<'c>, Val<'c>),
    ) -> Result<(Accumulator<'c>, Val<'c>), Failed> {
        let (dot, op) = (filled.dot, filled.dot.op());
        let error = |e: BuildError| fail(op, e.to_string());
        let b = Builder::before(context, place);
        b.set_location(op.location());
        let stage = with_stages(op, self.memory, 1).ok_or_else(|| fail(op, "cannot build the type of a stage"))?;
        let memory = slot(&b, op, (stage, memory), iterator)?;
        // Maps must stay directly before the loop of their copies.
        let first_map = maps_before(place).last().copied();
        first_map.into_iter().for_each(|map| b.set_before(map));
        matrix_region(&b, op, |inside| {
            let token = ProducerTokenType::get(op.location()).ok_or_else(|| fail(op, "cannot build the token type"))?;
            ProducerAcquireOp::build(inside, token.into(), self.pipeline, iterator, None, None, None, None)
                .map_err(error)?;
            TmemFenceOp::build(inside, true).map_err(error)?;
            Ok(())
        })?;
        b.set_before(place);
        let around = filled.around();
        // The value that the program uses, its start, and, for a loop that may not run, whether it does not.
        let (accumulate, old, start, none) = match around {
            None => (b.bool_constant(false), dot.result(), dot.acc(), None),
            Some(around) => {
                let Around { op: around, number, scale } = around;
                let body = entry_block(region(around, 0)).ok_or_else(|| fail(around, "loop has no body"))?;
                let (first, end) = (operand(around, 0), operand(around, 1));
                let start = operand(around, FIRST_INIT + number);
                let inside = Builder::before(context, ops_of(body).next().ok_or_else(|| fail(op, "empty loop"))?);
                inside.set_location(op.location());
                let is_stored = scale.is_some() && !is_zero(skip_conversions(start));
                if is_stored {
                    let t = ty(dot.result());
                    let stored = if ty(start) == t {
                        start
                    } else {
                        ConvertLayoutOp::build(&b, t, start).map_err(error)?.result()
                    };
                    TmemStoreOp::build(&b, stored, memory).map_err(error)?;
                }
                let accumulate =
                    if is_stored { b.bool_constant(true) } else { inside.cmpi(IntPredicate::Ne, arg(body, 0), first) };
                let ends = IntPredicate::less_or_equal(attr(around, "unsignedCmp").is_some());
                let none = (!always_runs(around) && !is_stored).then(|| b.cmpi(ends, end, first));
                (accumulate, result(around, number), start, none)
            }
        };
        b.set_after(place);
        b.set_location(op.location());
        matrix_region(&b, op, |inside| {
            ProducerCommitOp::build(inside, self.pipeline, iterator, false, true, false, None, None).map_err(error)?;
            Ok(())
        })?;
        wait(&b, op, (self.pipeline, iterator))?;
        TmemFenceOp::build(&b, true).map_err(error)?;
        let is_scaled = around.is_some_and(|around| around.scale.is_some());
        let slices = slices_of(old);
        let parts = parts(&b, dot, memory, slices.first().copied())?;
        if let Some(none) = none {
            set_to_zero(&b, op, none, &parts)?;
        }
        for slice in &slices {
            b.set_before(slice.op());
            b.set_location(slice.op().location());
            let number =
                slice.indices().last().and_then(int_constant).and_then(|i| parts.get(usize::try_from(i).ok()?));
            let (part, t) = *number.ok_or_else(|| fail(op, "the number of a slice of an accumulator is not known"))?;
            let loaded = TmemLoadOp::build(&b, t, part).map_err(error)?.result();
            replace_all_uses(slice.result(), in_layout_of(&b, loaded, slice.result()).map_err(error)?);
            b.set_after(slice.op());
            erase_with_conversions(slice.op());
        }
        if let ([(part, t)], []) = (&parts[..], &slices[..]) {
            let load = TmemLoadOp::build(&b, *t, *part).map_err(error)?;
            let mut used = in_layout_of(&b, load.result(), old).map_err(error)?;
            if !is_scaled && !is_zero(skip_conversions(start)) {
                used = if is_float(element(ty(used))) { b.addf(used, start) } else { b.addi(used, start) };
            }
            replace_all_uses(old, used);
            // The memory is free once it has been loaded.
            b.set_after(load.op());
        }
        TmemFenceOp::build(&b, false).map_err(error)?;
        ConsumerReleaseOp::build(&b, self.pipeline, iterator, None, None, false, None, None).map_err(error)?;
        let next = IncIterOp::build(&b, ty(iterator), iterator, self.pipeline).map_err(error)?.next();
        if let Some(Around { op: around, number, scale }) = around {
            let is_stored = is_scaled && !is_zero(skip_conversions(start));
            let scaled = scale
                .map(|scale| self.scale((context, dot), (around, number), scale, (memory, is_stored)))
                .transpose()?;
            drop_carried(&b, scaled.unwrap_or(around), number).map_err(error)?;
            erase_conversions(dot.result());
        }
        Ok((Accumulator { memory, accumulate }, next))
    }

    /// Scales the accumulator before the dot, in tensor memory instead of registers, except in the first iteration
    /// unless the start `is_stored` there. Returns the loop, which carries whether there was an earlier iteration.
    fn scale(
        &self,
        (context, dot): (&'c Context, AnyDot<'c>),
        (around, number): (OpRef<'c>, usize),
        ScaledAccumulation { scale, spread, ready, .. }: ScaledAccumulation<'c>,
        (memory, is_stored): (Val<'c>, bool),
    ) -> Result<OpRef<'c>, Failed> {
        let op = dot.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let b = Builder::before(context, around);
        b.set_location(op.location());
        let (new, predicate) = if is_stored {
            (around, None)
        } else {
            let (new, inside) = extend_for(&b, around, &[b.bool_constant(false)]).map_err(error)?;
            let body = entry_block(region(new, 0)).ok_or_else(|| fail(op, "loop has no body"))?;
            let always = Builder::before(context, ops_of(body).last().ok_or_else(|| fail(op, "empty loop"))?);
            extend_yield(&b, body, &[always.bool_constant(true)]).map_err(error)?;
            (new, inside.first().copied())
        };
        let shape = Tensor::of_value(dot.result()).ok_or_else(|| fail(op, "result is not a tensor"))?.tile_shape();
        let layout = TensorMemory::row_factors(&shape, self.warps).map_err(|e| fail(op, e.to_string()))?;
        // Early: while the accumulator is scaled, few other values should be in registers.
        match AnyDot::cast(ready) {
            Some(_) => b.set_before(op),
            None => {
                compute_early(ready);
                b.set_after(ready);
            }
        }
        b.set_location(scale.location());
        let factor = converted(&b, scale, operand(spread, 0), &layout)?;
        TmemScaleOp::build(&b, memory, factor, predicate).map_err(error)?;
        let body = entry_block(region(new, 0)).ok_or_else(|| fail(op, "loop has no body"))?;
        let old = operand(op, ACC);
        set_operand(op, ACC, arg(body, number + 1));
        erase_unused(body, old);
        Ok(new)
    }
}

/// The parts of the accumulator of a dot that are loaded one at a time, each with the type of the registers: slices
/// like the given one, or the whole accumulator.
fn parts<'c>(
    b: &Builder<'c>,
    dot: AnyDot<'c>,
    memory: Val<'c>,
    slice: Option<ExtractSliceOp<'c>>,
) -> Result<Vec<(Val<'c>, Type<'c>)>, Failed> {
    let op = dot.op();
    let whole = Tensor::of_value(dot.result()).ok_or_else(|| fail(op, "result is not a tensor"))?;
    let Some(slice) = slice else { return Ok(vec![(memory, whole.ty())]) };
    let tensor = Tensor::of_value(slice.result()).ok_or_else(|| fail(op, "result is not a tensor"))?;
    let warps = whole.layout().ok_or_else(|| fail(op, "the accumulator has no layout"))?.warps();
    let layout = TensorMemory::registers(&tensor.tile_shape(), warps, 1).map_err(|e| fail(op, e.to_string()))?;
    let part = tensor_memory_type(op, &tensor.shape, tensor.element, 1).map_err(|e| fail(op, e))?;
    let columns = (0..whole.shape[1]).step_by(tensor.shape[1].max(1) as usize);
    let part = |column| TmemSliceOp::build(b, part.into(), memory, i64_attr(b.context(), column));
    columns
        .map(|column| Ok((part(column)?.result(), tensor.with_layout(b.context(), &layout))))
        .collect::<Result<_, BuildError>>()
        .map_err(|e| fail(op, e.to_string()))
}

/// The loop that carries an accumulator from dot to dot.
#[derive(Clone, Copy)]
struct Around<'c> {
    op: OpRef<'c>,
    /// The number of the accumulator among the loop's results.
    number: usize,
    /// The multiplication of its rows before each dot.
    scale: Option<ScaledAccumulation<'c>>,
}

/// Moves an op, and the pure ops of its block that it depends on, up to the ops that they depend on.
fn compute_early(op: OpRef<'_>) {
    let Some(block) = block_around(op) else { return };
    let inside = |v| defining_op(v).filter(|o| block_of(*o) == block_key(block));
    let (mut work, mut sources) = (vec![op], FxHashSet::default());
    while let Some(op) = work.pop() {
        if is_pure(op) && sources.insert(op_key(op)) {
            work.extend(operands(op).filter_map(inside));
        }
    }
    let moved: Vec<OpRef<'_>> = ops_of(block).filter(|o| sources.contains(&op_key(*o))).collect();
    for op in moved {
        let needed: Vec<OpRef<'_>> = operands(op).filter_map(inside).collect();
        // Accesses, and the handovers around them, stay in their order.
        let last = ops_of(block).filter(|o| needed.contains(o)).last().filter(|o| sources.contains(&op_key(*o)));
        if let Some(next) = last.and_then(next_op).filter(|next| *next != op) {
            move_before(op, next);
        }
    }
}

/// Erases the pure ops of a block that only compute `v`, which nothing uses.
fn erase_unused<'c>(block: Blk<'c>, v: Val<'c>) {
    let (mut work, mut sources) = (vec![v], FxHashSet::default());
    while let Some(v) = work.pop() {
        let Some(op) = defining_op(v).filter(|o| block_of(*o) == block_key(block) && is_pure(*o)) else { continue };
        if sources.insert(op_key(op)) {
            work.extend(operands(op));
        }
    }
    let mut found: Vec<OpRef<'c>> = ops_of(block).filter(|o| sources.contains(&op_key(*o))).collect();
    while let Some(op) = found.pop() {
        if !results(op).any(has_uses) {
            erase(op);
        }
    }
}

/// Sets the parts of an accumulator to zero if a condition holds.
fn set_to_zero<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    condition: Val<'c>,
    parts: &[(Val<'c>, Type<'c>)],
) -> Result<(), Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let (_, blocks) = new_if(b, condition, &[]).map_err(error)?;
    for (block, stores) in blocks.into_iter().zip([true, false]) {
        let inside = Builder::at_end(b.context(), block, op.location());
        for (part, t) in parts.iter().filter(|_| stores) {
            let is_float = is_float(element(*t));
            let zero = if is_float { inside.float_constant(*t, 0.0) } else { inside.int_constant(*t, 0) };
            TmemStoreOp::build(&inside, zero, *part).map_err(error)?;
        }
        inside.insert(inside.state("scf.yield")).map_err(error)?;
    }
    Ok(())
}

/// Converts a value to the layout of another one, if it has a different layout.
fn in_layout_of<'c>(b: &Builder<'c>, v: Val<'c>, other: Val<'c>) -> Result<Val<'c>, BuildError> {
    if ty(v) == ty(other) { Ok(v) } else { ConvertLayoutOp::build(b, ty(other), v).map(|convert| convert.result()) }
}

/// The slices that are extracted from a value, in program order; empty if it has other uses.
fn slices_of(v: Val<'_>) -> Vec<ExtractSliceOp<'_>> {
    let (mut work, mut slices) = (vec![v], vec![]);
    while let Some(v) = work.pop() {
        for (user, _) in uses(v) {
            match (ConvertLayoutOp::cast(user), ExtractSliceOp::cast(user)) {
                (Some(convert), _) => work.push(convert.result()),
                (_, Some(slice)) => slices.push(slice),
                _ => return vec![],
            }
        }
    }
    let block = slices.first().and_then(|slice| block_around(slice.op()));
    let order: FxHashMap<usize, usize> = block.into_iter().flat_map(ops_of).map(op_key).zip(0..).collect();
    slices.sort_by_key(|slice| order.get(&op_key(slice.op())));
    slices
}

/// Erases an op that nothing uses, and the layout conversions that only it used.
fn erase_with_conversions(op: OpRef<'_>) {
    let source = operand(op, 0);
    erase(op);
    erase_unused_conversions(source);
}

/// Erases the layout conversions that end in `v`, if nothing uses it.
fn erase_unused_conversions(mut v: Val<'_>) {
    while let Some(convert) = defining_op(v).and_then(ConvertLayoutOp::cast).filter(|c| !has_uses(c.result())) {
        v = convert.source();
        erase(convert.op());
    }
}

/// Erases the layout conversions of a value, which nothing uses.
fn erase_conversions(v: Val<'_>) {
    for (user, _) in uses(v) {
        results(user).for_each(erase_conversions);
        erase(user);
    }
}

/// Writes a region of the thread that issues dots, for `op`.
pub(super) fn matrix_region<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    write: impl FnOnce(&Builder<'c>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let region = Region::new();
    let program = append_block(&region, &[], op.location());
    write(&Builder::at_end(b.context(), program, op.location()))?;
    let agent = string_to_attr(b.context(), MATRIX);
    ElectOp::build(b, Some(agent), region).map_err(|e| fail(op, e.to_string()))?;
    Ok(())
}
