//! The expansion: rewrites a loop so that its loads become copies into rings, as a schedule prescribes.
//!
//! Loads whose copies start the same number of iterations ahead form a [`Batch`]: one iteration ahead, one predicate,
//! one pair of stages to read and write. If the earliest copies start `D` iterations ahead, `D` groups of copies are
//! in flight at the start of each iteration. If the latest batch starts `a` iterations ahead, its group is the
//! youngest that the iteration reads, so at most `a - 1` groups may be pending after the wait.
//!
//! *Worked example.* Copies of `a` start three iterations ahead, copies of `b` one:
//!
//! ```text
//! group:                 0    1    2      3      4
//! started in             prologue         i = 0  i = 1
//! a of iteration         0    1    2      3      4
//! b of iteration                   0      1      2
//! ```
//!
//! Iteration 0 reads the tiles of groups 0 and 2. It waits for groups 0 to 2, which are all groups. Since groups
//! complete in order, the copies of `a` in groups 1 and 2 are complete then too.

use super::{Candidates, Depths, Resident, RingLoad, Slice, StageRounding, indices::clone_missing, shared_ring};
use crate::analysis::{
    clones::mapped,
    thread_copies::{async_token, build_copy},
    tokens,
};
use crate::dialect::{
    arith::IntPredicate,
    attributes::{REUSE, copy_schedule},
    behaviour,
    dots::LHS,
    location::unnamed,
    loops::extend_yield,
    nv_tileaa,
    nv_tileas::{
        AllocTensorOp, AsyncCommitOp, AsyncWaitOp, BarrierOp, LocalLoadOp, LocalStoreOp, MemDescReinterpretOp,
        MemDescSlotOp, MemDescType, ReduceOp, ScanOp,
    },
    pass::{Failed, fail},
    rt::*,
    shared_memory::with_stages,
    types,
};
use melior::{
    Context,
    ir::{Region, Type},
};
use rustc_hash::FxHashSet;

/// Loads whose copies start the same number of iterations ahead.
pub(super) struct Batch<'a, 'c> {
    pub ahead: i64,
    /// The loads, each with its ring.
    pub loads: Vec<(&'a RingLoad<'c>, Val<'c>)>,
}

impl Batch<'_, '_> {
    fn stages(&self) -> i64 {
        self.ahead + 1
    }
}

/// Pipelines the loop of the candidates. Returns the new loop.
pub fn expand<'c>(found: &Candidates<'c>, depths: &Depths, context: &'c Context) -> Result<OpRef<'c>, Failed> {
    let op = found.op;
    let b = Builder::before(context, op);
    if depths.shared > 0 {
        let batches = shared_ring::batches(found, depths.shared, &b)?;
        separate(&b, op)?;
        for resident in found.residents.iter().filter(|_| depths.residents) {
            resident.keep(&b).map_err(|e| fail(op, e.to_string()))?;
        }
        let expansion = Expansion { is_shared: true, ..Expansion::new(op, &b, &batches)? };
        return expansion.with_shared_ring(depths.shared);
    }
    let mut batches: Vec<Batch<'_, 'c>> = vec![];
    for (load, &ahead) in found.loads.iter().zip(&depths.ahead).filter(|(_, ahead)| **ahead > 0) {
        let desc =
            with_stages(load.op, load.desc, ahead + 1).ok_or_else(|| fail(load.op, "no ring can hold this tile"))?;
        let ring = AllocTensorOp::build(&b, desc.into(), None).map_err(|e| fail(op, e.to_string()))?.result();
        match batches.iter_mut().find(|b| b.ahead == ahead) {
            Some(batch) => batch.loads.push((load, ring)),
            None => batches.push(Batch { ahead, loads: vec![(load, ring)] }),
        }
    }
    if batches.is_empty() {
        return Ok(op);
    }
    separate(&b, op)?;
    for resident in found.residents.iter().filter(|_| depths.residents) {
        resident.keep(&b).map_err(|e| fail(op, e.to_string()))?;
    }
    let expansion = Expansion::new(op, &b, &batches)?;
    let indices: Vec<_> =
        batches.iter().map(|batch| expansion.first_indices(batch, batch.ahead)).collect::<Result<_, _>>()?;
    let groups = expansion.prologue(&indices)?;
    expansion.main_loop(&groups, indices.iter().filter_map(|of| of.last().map(Vec::as_slice)).collect())
}

/// Builds the barrier that orders copies after earlier accesses of shared memory.
fn separate<'c>(b: &Builder<'c>, op: OpRef<'c>) -> Result<(), Failed> {
    let before = shared_memory_before(op);
    if before != Before::Unused {
        // All threads must have finished reading these bytes.
        let barrier = BarrierOp::build(b, None, None).map_err(|e| fail(op, e.to_string()))?;
        if before == Before::Reduced {
            REUSE.mark(barrier.op());
        }
    }
    Ok(())
}

pub(super) struct Expansion<'a, 'c> {
    pub op: OpRef<'c>,
    pub b: &'a Builder<'c>,
    pub batches: &'a [Batch<'a, 'c>],
    pub unsigned: bool,
    /// Bounds and step of the loop, in 64 bits.
    pub lower: Val<'c>,
    pub upper: Val<'c>,
    pub step: Val<'c>,
    token: Type<'c>,
    /// Whether all loads share a ring. Its stages are read as they are.
    is_shared: bool,
}

impl<'a, 'c> Expansion<'a, 'c> {
    fn new(op: OpRef<'c>, b: &'a Builder<'c>, batches: &'a [Batch<'a, 'c>]) -> Result<Self, Failed> {
        let unsigned = attr(op, "unsignedCmp").is_some();
        // Values of iterations ahead are computed in 64 bits, which do not overflow.
        let wide = types::int(b.context(), 64);
        let [lower, upper, step] = [0, 1, 2].map(|i| b.resized(operand(op, i), wide, unsigned));
        Ok(Self { op, b, batches, unsigned, lower, upper, step, token: async_token(op)?, is_shared: false })
    }
}

impl<'c> Expansion<'_, 'c> {
    pub fn body(&self, op: OpRef<'c>) -> Result<Blk<'c>, Failed> {
        entry_block(region(op, 0)).ok_or_else(|| fail(op, "loop has no body"))
    }
    pub fn error(&self) -> impl Fn(BuildError) -> Failed {
        let op = self.op;
        move |e| fail(op, e.to_string())
    }

    /// The number of groups in flight at the start of an iteration.
    fn depth(&self) -> i64 {
        self.batches.iter().map(|b| b.ahead).max().unwrap_or(0)
    }
    /// The number of iterations between the start of the latest copies and their use.
    fn least(&self) -> i64 {
        self.batches.iter().map(|b| b.ahead).min().unwrap_or(0)
    }

    /// Whether the iteration at `distance` from `here` exists. `here` is before the end, so the comparison is
    /// unsigned.
    pub fn exists(&self, here: Val<'c>, distance: Val<'c>) -> Val<'c> {
        self.b.cmpi(IntPredicate::Ult, distance, self.b.subi(self.upper, here))
    }

    /// Starts the copies of the prologue, with the indices of each batch and iteration. Returns the tokens of their
    /// groups, oldest first.
    fn prologue(&self, indices: &[Vec<Vec<Val<'c>>>]) -> Result<Vec<Val<'c>>, Failed> {
        let (b, first) = (self.b, operand(self.op, 0));
        let counter = arg(self.body(self.op)?, 0);
        let any = b.cmpi(IntPredicate::less(self.unsigned), self.lower, self.upper);
        let mut groups = vec![];
        for group in 0..self.depth() {
            let mut done = vec![];
            for (batch, indices) in self.batches.iter().zip(indices) {
                let number = group - (self.depth() - batch.ahead);
                if number < 0 {
                    continue;
                }
                let distance = b.muli(self.step, b.i64_constant(number));
                let (ahead, predicate) = if number == 0 {
                    (first, any)
                } else {
                    let ahead = b.resized(b.addi(self.lower, distance), ty(first), self.unsigned);
                    (ahead, b.andi(any, self.exists(self.lower, distance)))
                };
                let slot = b.i32_constant(number);
                done.extend(self.copies(batch, counter, ahead, (predicate, slot), &indices[number as usize])?);
            }
            groups.push(self.commit(&done)?);
        }
        Ok(groups)
    }

    /// Creates the pipelined loop. It carries the original values, then for each batch the stages to read and to
    /// write, then the indices of each batch, then the groups in flight.
    fn main_loop(&self, groups: &[Val<'c>], indices: Vec<&[Val<'c>]>) -> Result<OpRef<'c>, Failed> {
        let (op, b) = (self.op, self.b);
        let mut extra = vec![];
        for batch in self.batches {
            extra.extend([b.i32_constant(0), b.i32_constant(batch.ahead)]);
        }
        extra.extend(indices.iter().copied().flatten());
        extra.extend(groups);
        let (new, body) = self.with_carried(&extra)?;
        let carried = operand_count(op) - 3;
        let mine: Vec<Val<'c>> = args(body).skip(1 + carried).collect();
        let (slots, mine) = mine.split_at(2 * self.batches.len());
        let (mut indices, groups) = mine.split_at(mine.len() - groups.len());
        let slots: Vec<[Val<'c>; 2]> = slots.chunks(2).map(|s| [s[0], s[1]]).collect();

        b.set_start(body);
        let read_now = &groups[..=(self.depth() - self.least()) as usize];
        AsyncWaitOp::build(b, read_now, i64_attr(b.context(), self.least() - 1)).map_err(self.error())?;
        self.round_stages(&slots).map_err(self.error())?;
        BarrierOp::build(b, None, None).map_err(self.error())?;
        let counter = arg(body, 0);
        let here = b.resized(counter, ty(self.lower), self.unsigned);
        let mut done = vec![];
        for (batch, [_, write]) in self.batches.iter().zip(&slots) {
            let distance = b.muli(self.step, b.i64_constant(batch.ahead));
            let ahead = b.resized(b.addi(here, distance), ty(counter), self.unsigned);
            let predicate = self.exists(here, distance);
            let (now, others) = indices.split_at(batch.indices().len());
            indices = others;
            done.extend(self.copies(batch, counter, ahead, (predicate, *write), now)?);
        }
        let group = self.commit(&done)?;
        let next: Vec<Val<'c>> =
            self.batches.iter().flat_map(|batch| self.next_indices(batch, counter, batch.ahead + 1)).collect();
        self.read_rings(body, &slots)?;

        let last = ops_of(body).last().ok_or_else(|| fail(new, "loop has no terminator"))?;
        b.set_before(last);
        let mut stages = vec![];
        for (batch, [read, write]) in self.batches.iter().zip(&slots) {
            stages.extend([*read, *write].map(|stage| next_stage(b, stage, batch.stages())));
        }
        self.end((new, body), &[stages, next].concat(), &[&groups[1..], &[group]].concat())?;
        Ok(new)
    }

    /// Ends the new loop, which also carries `more` and pending `groups`, and replaces the results of the old one.
    pub fn end(&self, (new, body): (OpRef<'c>, Blk<'c>), more: &[Val<'c>], groups: &[Val<'c>]) -> Result<(), Failed> {
        let (op, b) = (self.op, self.b);
        extend_yield(b, body, &[more, groups].concat()).map_err(self.error())?;
        for (old, new) in results(op).zip(results(new)) {
            replace_all_uses(old, new);
        }
        // The last groups are empty, so this wait costs nothing. It tells later passes that no copy is pending.
        b.set_after(new);
        b.set_location(op.location());
        let left: Vec<Val<'c>> = results(new).skip(result_count(new) - groups.len()).collect();
        AsyncWaitOp::build(b, &left, i64_attr(b.context(), 0)).map_err(self.error())?;
        copy_schedule(op, new);
        erase(op);
        self.erase_unused(body)
    }

    /// Creates a loop before the old one, with the old body. It carries `extra` in addition to the original values.
    pub fn with_carried(&self, extra: &[Val<'c>]) -> Result<(OpRef<'c>, Blk<'c>), Failed> {
        let (op, b) = (self.op, self.b);
        let types: Vec<Type<'c>> = extra.iter().map(|v| ty(*v)).collect();
        b.set_location(op.location());
        let mut state = b.state("scf.for");
        state.results(&results(op).map(ty).chain(types.iter().copied()).collect::<Vec<_>>());
        state.operands(&operands(op).chain(extra.iter().copied()).collect::<Vec<_>>());
        if self.unsigned {
            state.attr("unsignedCmp", b.unit());
        }
        state.region(Region::new());
        let new = b.insert(state).map_err(self.error())?;
        take_blocks(region(new, 0), region(op, 0));
        let body = self.body(new)?;
        for t in &types {
            add_argument(body, *t, unnamed(op.location()));
        }
        Ok((new, body))
    }

    /// Starts the copies of a batch for the iteration `ahead`, into stage `slot`, with the values of its index loads.
    /// Returns their tokens.
    pub fn copies(
        &self,
        batch: &Batch<'_, 'c>,
        counter: Val<'c>,
        ahead: Val<'c>,
        (predicate, slot): (Val<'c>, Val<'c>),
        indices: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>, Failed> {
        let b = self.b;
        let mut map = batch.indices_as(indices);
        map.insert(key(counter), ahead);
        let mut done = vec![];
        for (load, ring) in &batch.loads {
            b.set_location(load.op.location());
            clone_missing(b, &load.slice.ops, &mut map);
            let of = |v: Val<'c>| mapped(&map, v);
            let stage = self.stage(load, *ring, slot).map_err(|e| fail(load.op, e.to_string()))?;
            done.push(build_copy(b, load.op, stage, Some(predicate), of)?);
        }
        Ok(done)
    }

    pub fn commit(&self, copies: &[Val<'c>]) -> Result<Val<'c>, Failed> {
        AsyncCommitOp::build(self.b, self.token, copies).map(|c| c.group()).map_err(self.error())
    }

    /// Rounds the stages to read in place, each element once.
    fn round_stages(&self, slots: &[[Val<'c>; 2]]) -> Result<(), BuildError> {
        let b = self.b;
        let mut read_to = vec![];
        for (batch, [read, _]) in self.batches.iter().zip(slots) {
            for (load, ring) in &batch.loads {
                let Some(StageRounding { cast, desc, vector }) = load.rounding else { continue };
                if read_to.is_empty() {
                    BarrierOp::build(b, None, None)?;
                }
                b.set_location(cast.op().location());
                let stage = self.stage(load, *ring, *read)?;
                let (own, vector) = (ty(load.convert.source()), i64_attr(b.context(), vector.into()));
                let value = LocalLoadOp::build(b, own, stage, vector)?.result();
                let rounded = types::with_element(own, desc.element_type());
                let value = nv_tileaa::FpCastOp::build(b, rounded, value, Some(cast.rounding()))?.result();
                let stage = MemDescReinterpretOp::build(b, desc.into(), stage)?.result();
                read_to.push((value, stage, vector));
            }
        }
        if !read_to.is_empty() {
            BarrierOp::build(b, None, None)?;
        }
        for (value, stage, vector) in read_to {
            LocalStoreOp::build(b, value, stage, vector)?;
        }
        Ok(())
    }

    /// Replaces the loads by reads of the rings.
    fn read_rings(&self, body: Blk<'c>, slots: &[[Val<'c>; 2]]) -> Result<(), Failed> {
        let b = self.b;
        for (batch, [read, _]) in self.batches.iter().zip(slots) {
            for (load, ring) in &batch.loads {
                // As late as possible: operands of a dot should not occupy registers during unrelated work of the
                // iteration.
                b.set_before(first_user(load.convert.result(), body).unwrap_or(load.convert.op()));
                b.set_location(load.op.location());
                self.read_stage(load, *ring, *read)?;
                self.erase_load(load)?;
            }
        }
        Ok(())
    }

    /// Replaces the uses of a load by a read of stage `slot` of its ring, at the position of the builder.
    pub fn read_stage(&self, load: &RingLoad<'c>, ring: Val<'c>, slot: Val<'c>) -> Result<(), Failed> {
        let b = self.b;
        let mut stage = self.stage(load, ring, slot).map_err(self.error())?;
        let mut fragments = ty(load.convert.result());
        let rounding = load.rounding.filter(|_| !self.is_shared);
        if let Some(StageRounding { desc, .. }) = rounding {
            stage = MemDescReinterpretOp::build(b, desc.into(), stage).map_err(self.error())?.result();
            fragments = types::with_element(fragments, desc.element_type());
        }
        let vector = i64_attr(b.context(), load.vector.into());
        let value = LocalLoadOp::build(b, fragments, stage, vector).map_err(self.error())?.result();
        replace_all_uses(load.convert.result(), value);
        if let Some(rounding) = rounding {
            rounding.pass_over(value);
        }
        erase(load.convert.op());
        Ok(())
    }

    /// Erases a load without uses.
    pub fn erase_load(&self, load: &RingLoad<'c>) -> Result<(), Failed> {
        tokens::pass_over(self.b.context(), load.op).map_err(self.error())?;
        erase(load.op);
        Ok(())
    }

    /// Stage `slot` of a ring, as storage of the load's tile.
    fn stage(&self, load: &RingLoad<'c>, ring: Val<'c>, slot: Val<'c>) -> Result<Val<'c>, BuildError> {
        let of_ring = MemDescType::cast(ty(ring)).and_then(|ring| with_stages(load.op, ring, 1));
        match of_ring.filter(|stage| *stage != load.desc) {
            Some(stage) => {
                let stage = MemDescSlotOp::build(self.b, stage.into(), ring, slot)?.result();
                Ok(MemDescReinterpretOp::build(self.b, load.desc.into(), stage)?.result())
            }
            None => Ok(MemDescSlotOp::build(self.b, load.desc.into(), ring, slot)?.result()),
        }
    }

    /// Erases the ops that only the loads needed.
    pub fn erase_unused(&self, body: Blk<'c>) -> Result<(), Failed> {
        let slices = || self.batches.iter().flat_map(|batch| &batch.loads).map(|(load, _)| &load.slice);
        let indices: FxHashSet<usize> = slices().flat_map(|slice| &slice.indices).map(|i| op_key(i.op)).collect();
        let of = |slice: &'_ Slice<'c>| {
            [&*slice.ops, &*slice.indices.iter().flat_map(|i| &i.slice).copied().collect::<Vec<_>>()].concat()
        };
        let keys: FxHashSet<usize> = slices().flat_map(of).map(op_key).chain(indices.iter().copied()).collect();
        let mut present: Vec<OpRef<'c>> = ops_of(body).filter(|o| keys.contains(&op_key(*o))).collect();
        present.reverse();
        for op in present {
            if indices.contains(&op_key(op)) && !has_uses(result(op, 0)) {
                tokens::pass_over(self.b.context(), op).map_err(self.error())?;
            }
            if results(op).all(|r| !has_uses(r)) {
                erase(op);
            }
        }
        Ok(())
    }
}

impl<'c> StageRounding<'c> {
    /// Removes the rounding of fragments that are rounded already. The reshapes before it move rounded fragments.
    fn pass_over(&self, fragments: Val<'c>) {
        let mut v = fragments;
        while let Some((user, _)) = uses(v).first().copied().filter(|(user, _)| *user != self.cast.op()) {
            v = result(user, 0);
            set_ty(v, types::with_element(ty(v), self.desc.element_type()));
        }
        replace_all_uses(self.cast.result(), v);
        erase(self.cast.op());
    }
}

impl<'c> Resident<'c> {
    /// Stores the operand before the loop and reads it before each dot. The first barrier of an iteration separates the
    /// two.
    fn keep(&self, b: &Builder<'c>) -> Result<(), BuildError> {
        let context = b.context();
        let storage = AllocTensorOp::build(b, self.desc.into(), None)?.result();
        let [store, load] = self.vectors.map(|v| i64_attr(context, v.into()));
        LocalStoreOp::build(b, self.convert.source(), storage, store)?;
        for dot in &self.dots {
            let inside = Builder::before(context, dot.op());
            let mut value = LocalLoadOp::build(&inside, ty(self.convert.result()), storage, load)?.result();
            for &view in &self.views {
                let copy = clone_detached(view);
                set_operand(copy, 0, value);
                inside.insert_op(copy);
                value = result(copy, 0);
            }
            set_operand(dot.op(), LHS, value);
        }
        self.views.iter().rev().for_each(|&view| erase(view));
        erase(self.convert.op());
        Ok(())
    }
}

/// Returns the stage after `stage`, modulo `stages`.
pub(super) fn next_stage<'c>(b: &Builder<'c>, stage: Val<'c>, stages: i64) -> Val<'c> {
    let after = b.addi(stage, b.i32_constant(1));
    let wraps = b.cmpi(IntPredicate::Eq, after, b.i32_constant(stages));
    b.select(wraps, b.i32_constant(0), after)
}

/// Returns the first op of the block that uses the value, itself or in its regions.
pub(super) fn first_user<'c>(v: Val<'c>, block: Blk<'c>) -> Option<OpRef<'c>> {
    let mut users = vec![];
    for (user, _) in uses(v) {
        let mut at = Some(user);
        while let Some(op) = at {
            users.push(op_key(op));
            at = parent_op(op);
        }
    }
    ops_of(block).find(|o| users.contains(&op_key(*o)))
}

/// The possible uses of shared memory before a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Unused,
    /// By an earlier reduction or scan, if that uses shared memory.
    Reduced,
    /// By a previous iteration of an enclosing loop, or by another earlier op.
    Used,
}

fn shared_memory_before(op: OpRef<'_>) -> Before {
    let mut around = std::iter::successors(parent_op(op), |o| parent_op(*o));
    if around.any(behaviour::is_loop) {
        return Before::Used;
    }
    let mut found = Before::Unused;
    let around = std::iter::successors(Some(op), |o| parent_op(*o));
    for inner in around.take_while(|o| nv_tileaa::FuncOp::cast(*o).is_none()) {
        // In a row of loops, the previous one is enough.
        if ops_before(inner).any(|o| is_used(o, &mut found)) {
            return Before::Used;
        }
    }
    found
}

/// Whether an op or an op nested in it uses shared memory, apart from reductions and scans, which are noted in `found`.
fn is_used(op: OpRef<'_>, found: &mut Before) -> bool {
    if behaviour::uses_shared_memory(op) {
        if region_count(op) == 0 {
            return true;
        }
        if ReduceOp::cast(op).is_some() || ScanOp::cast(op).is_some() {
            *found = Before::Reduced;
        }
    }
    let inside = (0..region_count(op)).filter_map(|i| entry_block(region(op, i))).flat_map(ops_of);
    inside.into_iter().any(|o| is_used(o, found))
}
