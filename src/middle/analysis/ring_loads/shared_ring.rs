//! One ring for all loads of a loop.
//!
//! Loads of equally large tiles can share a ring of `S` stages. An iteration with `L` loads takes `L` *steps*, in the
//! order in which it uses the tiles. Step `t` of the whole loop reads stage `t % S`, and starts the copy for step
//! `t + S - 1`, into the stage that step `t - 1` has read:
//!
//! ```text
//! for t in 0 .. S-1 { ring[t] <- tile of step t; group }                         prologue
//! for i {
//!   for each load, with the number t of its step {
//!     wait until at most S-2 groups are pending                                   the group of step t is complete
//!     barrier                                                                     all threads have read stage t - 1
//!     ring[(t - 1) % S] <- tile of step t + S - 1; group
//!     x = local_load ring[t % S]; c = dot x, ..., c
//!   }
//! }
//! ```
//!
//! *Example.* Attention with halves of the tiles of keys and values has four steps in an iteration. Of a ring of six
//! stages, step 0 reads stage 0 and starts the copy of step 5: the second half of the keys of the next iteration.
//!
//! A ring of each load needs twice the tiles of an iteration, for the same number of copies in flight as a shared ring
//! with one stage more than an iteration has loads. It has one barrier for each iteration, so that it is preferred if
//! it fits.

use super::{
    Candidates, RingLoad,
    expansion::{Batch, Expansion, first_user, next_stage},
    taken_beside,
};
use crate::dialect::{
    arith::IntPredicate,
    behaviour::{self, LayoutRelation},
    layouts::storage_bits,
    nv_tileas::{AllocTensorOp, AsyncWaitOp, BarrierOp},
    pass::{Failed, fail},
    rt::*,
    shared_memory::{padded_bytes, with_stages},
};
use tile_plan::MAX_STAGES;

/// The smallest useful number of stages: one is read, and two are in flight.
const LEAST_STAGES: i64 = 3;

impl<'c> Candidates<'c> {
    /// The stages of a ring that all loads share next to `resident` bytes of resident operands, if `shared` bytes of
    /// shared memory are available. Returns `None` if the loads cannot share one, or if each can have two stages of its
    /// own next to them.
    pub fn shared_stages(&self, shared: u64, resident: u64) -> Option<i64> {
        let stage = |l: &RingLoad<'c>| (padded_bytes(l.desc), storage_bits(l.desc.element_type()));
        let first = stage(self.loads.first()?);
        let alike = self.loads.iter().all(|l| stage(l) == first);
        let own = vec![1; self.loads.len()];
        if !self.may_share || self.loads.len() < 2 || !alike || self.bytes(&own) + resident <= shared {
            return None;
        }
        let stages = shared.saturating_sub(taken_beside(self, resident)) / first.0.max(1);
        let stages = stages.min(u64::from(MAX_STAGES)) as i64;
        (stages >= LEAST_STAGES).then_some(stages)
    }
}

/// Allocates the ring. Returns the loads in the order in which the iteration uses their tiles.
pub(super) fn batches<'a, 'c>(
    found: &'a Candidates<'c>,
    stages: i64,
    b: &Builder<'c>,
) -> Result<Vec<Batch<'a, 'c>>, Failed> {
    let op = found.op;
    let body = entry_block(region(op, 0)).ok_or_else(|| fail(op, "loop has no body"))?;
    found.loads.iter().for_each(|load| delay_views(load.convert.result()));
    let place = |load: &&RingLoad<'c>| {
        let user = first_user(load.convert.result(), body).unwrap_or(load.convert.op());
        ops_of(body).position(|o| o == user)
    };
    let mut loads: Vec<&RingLoad<'c>> = found.loads.iter().collect();
    loads.sort_by_key(place);
    let first = loads[0];
    let desc = with_stages(first.op, first.desc, stages).ok_or_else(|| fail(op, "no ring can hold this tile"))?;
    let ring = AllocTensorOp::build(b, desc.into(), None).map_err(|e| fail(op, e.to_string()))?.result();
    Ok(loads.into_iter().map(|load| Batch { ahead: stages - 1, loads: vec![(load, ring)] }).collect())
}

/// Moves the reshapes and permutations of a tile to their user, so that the tile is read there.
fn delay_views(mut v: Val<'_>) {
    let mut views = vec![];
    let user = loop {
        let [(user, _)] = uses(v)[..] else { return };
        if !matches!(behaviour::layout_relation(user), LayoutRelation::Reshape | LayoutRelation::Permute) {
            break user;
        }
        views.push(user);
        v = result(user, 0);
    };
    if views.iter().all(|view| block_of(*view) == block_of(user)) {
        views.into_iter().for_each(|view| move_before(view, user));
    }
}

impl<'c> Expansion<'_, 'c> {
    /// Pipelines the loop with one ring of that many stages. Returns the new loop.
    pub fn with_shared_ring(&self, stages: i64) -> Result<OpRef<'c>, Failed> {
        let steps = 0..self.batches.len() as i64;
        // The indices of the loads in the order in which an iteration starts their copies.
        let of = |step: i64| {
            let (later, iterations) = self.of_step(step + stages - 1);
            self.first_indices(later, iterations)
        };
        let indices: Vec<_> = steps.map(of).collect::<Result<_, _>>()?;
        let groups = self.first_steps(stages - 1, &indices)?;
        let (op, b) = (self.op, self.b);
        // The stage that an iteration reads first, and the one that the step before it has read.
        let mut extra = vec![b.i32_constant(0), b.i32_constant(stages - 1)];
        extra.extend(indices.iter().filter_map(|of| of.last()).flatten());
        let at = extra.len();
        extra.extend(groups);
        let (new, body) = self.with_carried(&extra)?;
        let carried = operand_count(op) - 3;
        let mine: Vec<Val<'c>> = args(body).skip(1 + carried).collect();
        let (mut slot, mut free, mut indices, mut groups) = (mine[0], mine[1], &mine[2..at], mine[at..].to_vec());
        let mut next = vec![];

        let counter = arg(body, 0);
        b.set_start(body);
        let here = b.resized(counter, ty(self.lower), self.unsigned);
        for (number, batch) in self.batches.iter().enumerate() {
            let (load, ring) = batch.loads[0];
            b.set_before(first_user(load.convert.result(), body).unwrap_or(load.convert.op()));
            b.set_location(load.op.location());
            AsyncWaitOp::build(b, &groups[..1], i64_attr(b.context(), stages - 2)).map_err(self.error())?;
            BarrierOp::build(b, None, None).map_err(self.error())?;
            let (later, iterations) = self.of_step(number as i64 + stages - 1);
            let distance = b.muli(self.step, b.i64_constant(iterations));
            let ahead = b.resized(b.addi(here, distance), ty(counter), self.unsigned);
            let (now, others) = indices.split_at(later.indices().len());
            indices = others;
            let done = self.copies(later, counter, ahead, (self.exists(here, distance), free), now)?;
            groups.remove(0);
            groups.push(self.commit(&done)?);
            next.extend(self.next_indices(later, counter, iterations + 1));
            b.set_location(load.op.location());
            self.read_stage(load, ring, slot)?;
            (free, slot) = (slot, next_stage(b, slot, stages));
        }
        self.batches.iter().try_for_each(|batch| self.erase_load(batch.loads[0].0))?;
        self.end((new, body), &[&[slot, free], &*next].concat(), &groups)?;
        Ok(new)
    }

    /// The load of a step, counted from the first one of an iteration, and the iterations by which it is later.
    fn of_step(&self, number: i64) -> (&Batch<'_, 'c>, i64) {
        let count = self.batches.len() as i64;
        (&self.batches[(number % count) as usize], number / count)
    }

    /// Starts the copies of the first steps, with the indices of each load and iteration. Loads are in the order in
    /// which an iteration starts their copies. Returns the tokens of their groups, oldest first.
    fn first_steps(&self, count: i64, indices: &[Vec<Vec<Val<'c>>>]) -> Result<Vec<Val<'c>>, Failed> {
        let (b, first) = (self.b, operand(self.op, 0));
        let counter = arg(self.body(self.op)?, 0);
        let any = b.cmpi(IntPredicate::less(self.unsigned), self.lower, self.upper);
        let group = |number: i64| {
            let (batch, iterations) = self.of_step(number);
            let (ahead, predicate) = if iterations == 0 {
                (first, any)
            } else {
                let distance = b.muli(self.step, b.i64_constant(iterations));
                let ahead = b.resized(b.addi(self.lower, distance), ty(first), self.unsigned);
                (ahead, b.andi(any, self.exists(self.lower, distance)))
            };
            // The iteration that starts the copy of step `count` starts this one's as many steps later.
            let place = (number - count).rem_euclid(self.batches.len() as i64);
            let indices = &indices[place as usize][iterations as usize];
            self.commit(&self.copies(batch, counter, ahead, (predicate, b.i32_constant(number)), indices)?)
        };
        (0..count).map(group).collect()
    }
}
