//! Rewrites the dot groups that share a ring.
//!
//! The iterator of the ring is carried through loops and branches, from one group to the next in program order.

mod fragments;
mod tensor;

use super::{
    DotGroup, ProducerComputed, RingPlan,
    accumulators::Accumulator,
    addresses, convert_stage,
    flight::{Flight, dots_in_flight, first_user, ops_after},
    is_promoted,
    left_operands::LeftOperand,
    reshaped,
    scale_factors::filled_up,
    top::{PipelinedRing, Tile, store},
};
use crate::analysis::{
    clones::{clone_op, mapped},
    tensor_map_ops::order_after,
    thread_copies::build_copy,
    tokens,
};
use crate::dialect::{
    attributes::AGENT,
    behaviour::{is_cheap, is_pure},
    dot_plan::{CONVERTER, DotPlan},
    dots::AnyDot,
    layouts::{Tensor, storage_bits},
    loops::{extend_for, extend_if, extend_while, extend_yield, is_in_loop, loops_around, new_if},
    nv_tileas::{
        AsyncBulkLoadOp, AsyncDotOp, AsyncDotWaitOp, AsyncFenceOp, AsyncTiledTmaLoadOp, BarrierOp, ConsumerReleaseOp,
        ConsumerTokenType, ConsumerWaitOp, ElectOp, IncIterOp, MemDescSlotOp, PipelineType, ProduceOneOp,
        ProducerAcquireOp, ProducerCommitOp, ProducerTokenType, PromotedDotOp, StageOp, YieldOp,
    },
    pass::{Failed, fail},
    phases,
    rt::*,
    upstream::Scf,
};
use melior::{
    Context,
    ir::{Attribute, Region, Type, r#type::IntegerType},
};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use tile_plan::PROMOTION;

/// A dot group, with the values that were created for it at the top of the function.
pub(super) struct Placed<'c> {
    pub group: DotGroup<'c>,
    /// The locations of the operands of each dot.
    pub tiles: Vec<[Tile<'c>; 2]>,
    /// The tensor maps of all TMA loads of the group, including loads that depend on a run-time test.
    pub maps: Vec<Option<Val<'c>>>,
    /// The result of that test.
    ready: Option<Val<'c>>,
    /// The accumulators of the dots, if they are in tensor memory.
    pub accumulators: RefCell<Vec<Accumulator<'c>>>,
    /// The left operands of the dots that are in tensor memory.
    pub left_operands: RefCell<Vec<Option<LeftOperand<'c>>>>,
    /// Whether the group has been replaced and its ops erased.
    done: Cell<bool>,
}

impl<'c> Placed<'c> {
    pub fn new(
        group: DotGroup<'c>,
        tiles: Vec<[Tile<'c>; 2]>,
        (maps, ready): (Vec<Option<Val<'c>>>, Option<Val<'c>>),
    ) -> Self {
        let (accumulators, left_operands) = (RefCell::new(vec![]), RefCell::new(vec![]));
        Self { group, tiles, maps, ready, accumulators, left_operands, done: Cell::new(false) }
    }

    fn erase(&self) {
        self.done.set(true);
        self.group.dots.iter().for_each(|dot| erase(dot.op()));
    }
}

/// The dot groups that share a ring, since their operands have the same stages.
pub(super) struct Stream<'c> {
    /// `None` if no operand is loaded.
    ring: Option<PipelinedRing<'c>>,
    /// For each operand, the columns of tensor memory with the scale factors of all stages.
    pub columns: Vec<Option<Val<'c>>>,
    pub groups: Vec<Placed<'c>>,
    /// The groups at each place, found when the first is looked up.
    by_place: OnceCell<FxHashMap<usize, Vec<usize>>>,
    context: &'c Context,
    pub plan: DotPlan,
}

/// The iterator of the current stage, if there is a ring.
type RingIndex<'c> = Option<Val<'c>>;

impl<'c> Stream<'c> {
    /// Creates a stream, with the ring for `group` and groups like it.
    pub fn new(group: &DotGroup<'c>, top: &Builder<'c>, plan: &DotPlan, ring: RingPlan) -> Result<Self, Failed> {
        let ring = PipelinedRing::of(group, top, plan, ring)?;
        let (columns, groups, by_place) = (vec![], vec![], OnceCell::new());
        Ok(Self { ring, columns, groups, by_place, context: top.context(), plan: plan.clone() })
    }

    /// Whether a group's operands come in the same stages.
    pub fn takes(&self, group: &DotGroup<'c>) -> bool {
        self.groups.first().is_some_and(|p| p.group.is_like(group))
    }

    pub fn rewrite(&self, entry: Blk<'c>) -> Result<(), Failed> {
        self.block(entry, self.ring.as_ref().map(|r| r.first), &mut vec![])?;
        for (_, copied) in self.groups.iter().flat_map(|p| p.group.copied()) {
            // Erase everything between the load and the dot.
            erase_users(copied.copy.load.result());
            let load = copied.copy.load.op();
            tokens::pass_over(self.context, load).map_err(|e| fail(load, e.to_string()))?;
            erase(load);
        }
        for (_, tile) in self.groups.iter().flat_map(|p| p.group.producer_computed()) {
            erase_users(result(tile.by.op(), 0));
            erase(tile.by.op());
        }
        Ok(())
    }

    fn placed(&self, op: OpRef<'c>) -> Option<&Placed<'c>> {
        let by_place = self.by_place.get_or_init(|| {
            let mut all: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
            for (i, p) in self.groups.iter().enumerate() {
                all.entry(op_key(p.group.place())).or_default().push(i);
            }
            all
        });
        by_place.get(&op_key(op))?.iter().map(|i| &self.groups[*i]).find(|p| !p.done.get())
    }

    fn holds_dots(&self, op: OpRef<'c>) -> bool {
        let mut holds = false;
        walk(op, &mut |o| holds |= self.placed(o).is_some());
        holds
    }

    /// Rewrites the groups of a block in order. Returns the index after them.
    fn block(
        &self,
        block: Blk<'c>,
        index: RingIndex<'c>,
        flights: &mut Vec<Flight<'c>>,
    ) -> Result<RingIndex<'c>, Failed> {
        let mut index = index;
        let ops: Vec<OpRef<'c>> = ops_of(block).filter(|o| self.holds_dots(*o)).collect();
        for op in ops {
            index = match (self.placed(op), Scf::of(op)) {
                (Some(placed), _) if !placed.accumulators.borrow().is_empty() => {
                    self.multiply_in_memory(placed, index)?
                }
                (Some(placed), _) if self.plan.reads_fragments() => self.multiply_fragments(placed, index)?,
                (Some(placed), _) => match flights.iter_mut().find(|f| f.place == op) {
                    Some(flight) => self.in_flight(placed, index, flight)?,
                    None => self.until_used(placed, index)?,
                },
                (None, Some(Scf::For)) => self.counted(op, index)?,
                (None, Some(Scf::If)) => self.branch(op, index)?,
                (None, Some(Scf::While)) => self.conditional(op, index)?,
                _ => return Err(fail(op, "dot is in neither a loop nor a branch")),
            };
        }
        Ok(index)
    }

    /// Carries the index through a counted loop, and the state of its dots in flight between iterations.
    fn counted(&self, op: OpRef<'c>, index: RingIndex<'c>) -> Result<RingIndex<'c>, Failed> {
        let error = |e: BuildError| fail(op, e.to_string());
        let b = Builder::before(self.context, op);
        let number = result_count(op);
        self.order_maps(op, index);
        let body = entry_block(region(op, 0)).ok_or_else(|| fail(op, "loop has no body"))?;
        let mut flights = self.flights(op, body);
        let mut inits: Vec<Val<'c>> = index.into_iter().collect();
        if let Some(it) = index.filter(|_| !flights.is_empty()) {
            let never = b.bool_constant(false);
            inits.extend(flights.iter().flat_map(|_| [it, never]));
        }
        let (new, inside) = extend_for(&b, op, &inits).map_err(error)?;
        let inner = index.and(inside.first().copied());
        for (i, flight) in flights.iter_mut().enumerate().filter(|_| index.is_some()) {
            flight.last = Some((inside[1 + 2 * i], inside[2 + 2 * i]));
        }
        let mut yielded: Vec<Val<'c>> = self.block(body, inner, &mut flights)?.into_iter().collect();
        yielded.extend(flights.iter().filter_map(|f| f.last).flat_map(|(now, always)| [now, always]));
        extend_yield(&b, body, &yielded).map_err(error)?;

        for (i, flight) in flights.iter().enumerate() {
            let accs: Vec<Val<'c>> = flight.indices.iter().map(|index| result(new, *index)).collect();
            b.set_after(new);
            b.set_location(new.location());
            self.wait_for(&b, &accs, 0)?;
            if let Some(ring) = &self.ring {
                let (last, started) = (result(new, number + 1 + 2 * i), result(new, number + 2 + 2 * i));
                ConsumerReleaseOp::build(&b, ring.pipeline, last, Some(started), None, false, None, None)
                    .map_err(error)?;
            }
        }
        Ok(index.map(|_| result(new, number)))
    }

    /// Carries the index through a loop that tests a condition in each iteration.
    fn conditional(&self, op: OpRef<'c>, index: RingIndex<'c>) -> Result<RingIndex<'c>, Failed> {
        let error = |e: BuildError| fail(op, e.to_string());
        let b = Builder::before(self.context, op);
        let number = result_count(op);
        self.order_maps(op, index);
        let inits: Vec<Val<'c>> = index.into_iter().collect();
        let (new, inside) = extend_while(&b, op, &inits).map_err(error)?;
        for (i, inside) in inside.iter().enumerate() {
            let block = entry_block(region(new, i)).ok_or_else(|| fail(new, "loop has no block"))?;
            let after: Vec<Val<'c>> = self.block(block, inside.first().copied(), &mut vec![])?.into_iter().collect();
            extend_yield(&b, block, &after).map_err(|e| fail(new, e.to_string()))?;
        }
        Ok(index.map(|_| result(new, number)))
    }

    /// Returns the groups of a loop's body that are in flight at the end of an iteration.
    fn flights(&self, op: OpRef<'c>, body: Blk<'c>) -> Vec<Flight<'c>> {
        let inside = self.groups.iter().filter(|p| !p.done.get() && !self.plan.reads_fragments());
        let inside = inside.filter(|p| block_of(p.group.place()) == block_key(body));
        inside.filter_map(|p| Flight::of(&p.group, op, body)).filter(|f| self.has_room(f, body)).collect()
    }

    /// Whether the ring has enough stages for a group in flight: from the start of the group to the release of its
    /// stage in the next iteration, consumers must wait for fewer stages than the ring has.
    fn has_room(&self, flight: &Flight<'c>, body: Blk<'c>) -> bool {
        let Some(stages) = self.stages() else { return true };
        let after: Option<i64> = ops_after(flight.place).map(|o| self.taken(o)).sum();
        let released = if flight.adds_on { Some(flight.place) } else { first_user(body, flight.accs[0]) };
        let until = ops_of(body).take_while(|o| Some(*o) != released);
        let before: Option<i64> = until.map(|o| self.taken(o)).sum();
        after.zip(before).is_some_and(|(a, b)| a + b + i64::from(flight.adds_on) < stages)
    }

    /// Returns the last op, `user` or one before it, at which the wait for `dot` does not yet block the ring.
    fn room_until(&self, dot: OpRef<'c>, user: OpRef<'c>) -> OpRef<'c> {
        let Some(stages) = self.stages() else { return user };
        let mut room = Some(stages - 1);
        let mut until = ops_after(dot).take_while(|o| *o != user);
        let short = until.find(|o| {
            room = room.zip(self.taken(*o)).map(|(room, taken)| room - taken).filter(|room| *room >= 0);
            room.is_none()
        });
        short.unwrap_or(user)
    }

    pub fn stages(&self) -> Option<i64> {
        Some(PipelineType::cast(ty(self.ring.as_ref()?.pipeline))?.stages())
    }

    /// Returns the number of stages for which consumers wait in an op, or `None` if they wait in a loop, which takes a
    /// stage in each iteration. Both sides of a branch count.
    fn taken(&self, op: OpRef<'c>) -> Option<i64> {
        let innermost = |o| loops_around(o).next();
        let (mut taken, home) = (Some(0), innermost(op));
        walk(op, &mut |o| {
            if self.placed(o).is_some() {
                taken = taken.filter(|_| innermost(o) == home).map(|n| n + 1);
            }
        });
        taken
    }

    fn branch(&self, op: OpRef<'c>, index: RingIndex<'c>) -> Result<RingIndex<'c>, Failed> {
        let error = |e: BuildError| fail(op, e.to_string());
        let b = Builder::before(self.context, op);
        let number = result_count(op);
        let types: Vec<Type<'c>> = index.into_iter().map(ty).collect();
        let new = extend_if(&b, op, &types).map_err(error)?;
        for i in 0..2 {
            let block = entry_block(region(new, i)).ok_or_else(|| fail(new, "branch has no block"))?;
            let after: Vec<Val<'c>> = self.block(block, index, &mut vec![])?.into_iter().collect();
            extend_yield(&b, block, &after).map_err(|e| fail(new, e.to_string()))?;
        }
        Ok(index.map(|_| result(new, number)))
    }

    /// Starts a group that is awaited in the next iteration. Returns the next index.
    fn in_flight(
        &self,
        placed: &Placed<'c>,
        index: RingIndex<'c>,
        flight: &mut Flight<'c>,
    ) -> Result<RingIndex<'c>, Failed> {
        let place = placed.group.place();
        let error = |e: BuildError| fail(place, e.to_string());
        if !flight.adds_on {
            self.wait_for_last(place, flight)?;
        }
        let b = Builder::before(self.context, place);
        let accs = self.multiply(&b, placed, index)?;
        for (dot, acc) in placed.group.dots.iter().zip(&accs) {
            replace_all_uses(dot.result(), *acc);
        }
        if flight.adds_on {
            AsyncDotWaitOp::build(&b, &[], &[], i64_attr(self.context, accs.len() as i64)).map_err(error)?;
            self.release(&b, place, flight.last)?;
        }
        let next = self.next(&b, place, index)?;
        if let Some(now) = index {
            flight.last = Some((now, b.bool_constant(true)));
        }
        placed.erase();
        Ok(next)
    }

    /// Waits for the previous iteration's dot where its accumulator is first used, or with an earlier wait.
    fn wait_for_last(&self, dot: OpRef<'c>, flight: &Flight<'c>) -> Result<(), Failed> {
        let block = block_around(dot).ok_or_else(|| fail(dot, "dot is not in a block"))?;
        let acc_before = flight.accs[0];
        let first = first_user(block, acc_before).ok_or_else(|| fail(dot, "accumulator of a dot is not used"))?;
        let before: Vec<OpRef<'c>> = ops_of(block).take_while(|o| *o != first).collect();
        let other = before.iter().filter_map(|o| AsyncDotWaitOp::cast(*o)).find(|w| w.pending() == 0);
        let b = Builder::before(self.context, first);
        b.set_location(dot.location());
        let mut sources = vec![acc_before];
        if let Some(other) = other {
            b.set_before(other.op());
            sources.splice(0..0, other.sources());
        }
        let wait = self.wait(&b, &sources, 0)?;
        if let Some(other) = other {
            for (old, new) in results(other.op()).zip(results(wait)) {
                replace_all_uses(old, new);
            }
            erase(other.op());
        }
        b.set_after(wait);
        let complete = results(wait).last().ok_or_else(|| fail(dot, "a wait has no results"))?;
        for (user, at) in uses(acc_before) {
            if user != wait {
                set_operand(user, at, complete);
            }
        }
        self.release(&b, dot, flight.last)
    }

    /// Starts a dot that is awaited at its first use, or where the ring needs its stage. Returns the next index.
    fn until_used(&self, placed: &Placed<'c>, index: RingIndex<'c>) -> Result<RingIndex<'c>, Failed> {
        let [dot] = placed.group.dots[..] else { return self.until_done(placed, index) };
        let error = |e: BuildError| fail(dot.op(), e.to_string());
        let b = Builder::before(self.context, dot.op());
        let acc = self.multiply(&b, placed, index)?[0];
        let user = block_around(dot.op()).and_then(|block| first_user(block, dot.result()));
        let user = user.map(|user| self.room_until(dot.op(), user));
        let promoted = is_promoted(dot);
        replace_all_uses(dot.result(), acc);
        if let Some(user) = user.filter(|_| !promoted) {
            // Younger dots may remain in flight.
            let between = dots_in_flight(dot.op(), user);
            b.set_before(user);
            self.wait_for(&b, &[acc], between.len())?;
        } else if !promoted {
            self.wait(&b, &[acc], 0)?;
        }
        if let (Some(ring), Some(it)) = (&self.ring, index) {
            // If a younger dot is in flight, the release follows the computation up to the wait for that dot.
            let after = user.and_then(|user| {
                let younger = dots_in_flight(dot.op(), user).pop()?;
                let place = first_user(block_around(younger)?, result(younger, 0))?;
                let last = last_between(user, place).filter(|_| self.room_until(dot.op(), place) == place)?;
                b.set_before(place);
                Some(last)
            });
            ConsumerReleaseOp::build(&b, ring.pipeline, it, None, after, false, None, None).map_err(error)?;
        }
        b.set_before(dot.op());
        let next = self.next(&b, dot.op(), index)?;
        placed.erase();
        Ok(next)
    }

    /// Starts dots that share a stage, and waits for all of them at once. Returns the next index.
    fn until_done(&self, placed: &Placed<'c>, index: RingIndex<'c>) -> Result<RingIndex<'c>, Failed> {
        let place = placed.group.place();
        let b = Builder::before(self.context, place);
        let accs = self.multiply(&b, placed, index)?;
        let mut awaited = vec![];
        for (dot, acc) in placed.group.dots.iter().zip(&accs) {
            replace_all_uses(dot.result(), *acc);
            awaited.extend((!is_promoted(*dot)).then_some(*acc));
        }
        if !awaited.is_empty() {
            self.wait_for(&b, &awaited, 0)?;
        }
        if let (Some(ring), Some(it)) = (&self.ring, index) {
            ConsumerReleaseOp::build(&b, ring.pipeline, it, None, None, false, None, None)
                .map_err(|e| fail(place, e.to_string()))?;
        }
        let next = self.next(&b, place, index)?;
        placed.erase();
        Ok(next)
    }

    /// Orders maps that are created before `op` after the copies so far, if `op` is in a loop: these copies read the
    /// previous contents of the maps' storage.
    fn order_maps(&self, op: OpRef<'c>, index: RingIndex<'c>) {
        let Some((ring, it)) = self.ring.as_ref().zip(index) else { return };
        if is_in_loop(op) {
            let is_ours = |map| self.groups.iter().any(|p| p.maps.contains(&Some(map)));
            order_after(self.context, op, is_ours, (ring.pipeline, it));
        }
    }

    /// Waits until at most `pending` younger dots are in flight.
    fn wait(&self, b: &Builder<'c>, accs: &[Val<'c>], pending: usize) -> Result<OpRef<'c>, Failed> {
        let types: Vec<Type<'c>> = accs.iter().map(|v| ty(*v)).collect();
        let wait = AsyncDotWaitOp::build(b, &types, accs, i64_attr(self.context, pending as i64));
        wait.map(|w| w.op()).map_err(|e| fail(self.groups[0].group.place(), e.to_string()))
    }

    /// Waits in the same way, and replaces the uses of the accumulators by the results of the wait.
    fn wait_for(&self, b: &Builder<'c>, accs: &[Val<'c>], pending: usize) -> Result<(), Failed> {
        let wait = self.wait(b, accs, pending)?;
        for (acc, complete) in accs.iter().zip(results(wait)) {
            for (user, at) in uses(*acc).into_iter().filter(|(user, _)| *user != wait) {
                set_operand(user, at, complete);
            }
        }
        Ok(())
    }

    fn release(&self, b: &Builder<'c>, op: OpRef<'c>, last: Option<(Val<'c>, Val<'c>)>) -> Result<(), Failed> {
        let (Some(ring), Some((last, started))) = (&self.ring, last) else { return Ok(()) };
        ConsumerReleaseOp::build(b, ring.pipeline, last, Some(started), None, false, None, None)
            .map_err(|e| fail(op, e.to_string()))?;
        Ok(())
    }

    fn next(&self, b: &Builder<'c>, op: OpRef<'c>, index: RingIndex<'c>) -> Result<RingIndex<'c>, Failed> {
        let (Some(ring), Some(it)) = (&self.ring, index) else { return Ok(None) };
        let next = IncIterOp::build(b, ty(it), it, ring.pipeline).map_err(|e| fail(op, e.to_string()))?;
        Ok(Some(next.next()))
    }

    /// Fills a stage, waits for it and starts the dots that read it. Returns their results.
    fn multiply(&self, b: &Builder<'c>, placed: &Placed<'c>, index: RingIndex<'c>) -> Result<Vec<Val<'c>>, Failed> {
        let place = placed.group.place();
        let error = |e: BuildError| fail(place, e.to_string());
        let mut ready = vec![];
        if let (Some(ring), Some(it)) = (&self.ring, index) {
            self.order_maps(place, index);
            self.fill(b, placed, ring, it)?;
            if ring.converted {
                self.convert(b, placed, ring, it)?;
            }
            self.wait_for_stage(b, (place, ring), it, ring.before_dots())?;
            if placed.group.by_threads().0 {
                // `cp.async` writes through the generic proxy, and no fence has ordered these writes before the dots.
                AsyncFenceOp::build(b).map_err(error)?;
            }
            let slots = self.slots(b, placed, ring, it)?;
            let here = !ring.converted && placed.group.is_converted();
            if here {
                convert_stage::convert(b, &placed.group, &slots, self.plan.consumer_warps())?;
            }
            ready = convert_stage::converted(b, &placed.group, &slots)?;
            if here {
                AsyncFenceOp::build(b).map_err(error)?;
                BarrierOp::build(b, None, None).map_err(error)?;
            }
        }
        let mut accs = vec![];
        for (dot, tiles) in placed.group.dots.iter().zip(&placed.tiles) {
            let [lhs, rhs] = self.operands(b, placed, (dot.op(), tiles), &ready)?;
            accs.push(self.start(b, *dot, (lhs, rhs))?);
        }
        Ok(accs)
    }

    /// Returns the operands of a dot: stages in their final form, other memory, or registers.
    fn operands(
        &self,
        b: &Builder<'c>,
        placed: &Placed<'c>,
        (dot, tiles): (OpRef<'c>, &[Tile<'c>; 2]),
        ready: &[Val<'c>],
    ) -> Result<[Val<'c>; 2], Failed> {
        let of = |number: usize| match tiles[number] {
            Tile::Memory(v) => Ok(v),
            Tile::Registers => Ok(operand(dot, number)),
            Tile::PipelinedRing { side, place: at } => {
                let mut memory = *ready.get(side).ok_or_else(|| fail(dot, "an operand is not in a ring"))?;
                for op in &placed.group.sides[side].places[at].moved {
                    memory = reshaped(b, *op, memory)?;
                }
                Ok(memory)
            }
        };
        Ok([of(0)?, of(1)?])
    }

    /// Waits, for the group at `op`, for phases of a stage.
    fn wait_for_stage(
        &self,
        b: &Builder<'c>,
        (op, ring): (OpRef<'c>, &PipelinedRing<'c>),
        it: Val<'c>,
        phases: &[&str],
    ) -> Result<(), Failed> {
        let waited = ConsumerTokenType::get(op.location()).ok_or_else(|| fail(op, "cannot build the token type"))?;
        for phase in phases {
            let phase = self.other_than_full(phase);
            ConsumerWaitOp::build(b, waited.into(), ring.pipeline, it, phase, None)
                .map_err(|e| fail(op, e.to_string()))?;
        }
        Ok(())
    }

    /// The name of a phase as an attribute, unless the phase is the default of copies and of waits for them.
    fn other_than_full(&self, phase: &str) -> Option<Attribute<'c>> {
        (phase != phases::FULL).then(|| string_to_attr(self.context, phase))
    }

    /// Writes the region of the converter's warps.
    fn convert(
        &self,
        b: &Builder<'c>,
        placed: &Placed<'c>,
        ring: &PipelinedRing<'c>,
        it: Val<'c>,
    ) -> Result<(), Failed> {
        let op = placed.group.place();
        let error = |e: BuildError| fail(op, e.to_string());
        let region = Region::new();
        let program = append_block(&region, &[], op.location());
        let inside = Builder::at_end(self.context, program, op.location());
        self.wait_for_stage(&inside, (op, ring), it, &[ring.before_conversion()])?;
        let slots = self.slots(&inside, placed, ring, it)?;
        let warps = self.plan.warps(CONVERTER);
        convert_stage::convert(&inside, &placed.group, &slots, warps)?;
        let converted = self.other_than_full(phases::CONVERTED);
        ProducerCommitOp::build(&inside, ring.pipeline, it, false, false, false, converted, None).map_err(error)?;
        YieldOp::build(&inside, &[]).map_err(error)?;
        let [warps, fast] = [warps.into(), 0].map(|n| i64_attr(self.context, n));
        let agent = Some(string_to_attr(self.context, CONVERTER));
        ProduceOneOp::build(b, &[], warps, fast, false, agent, region).map_err(error)?;
        Ok(())
    }

    /// Starts a dot whose operands are in place. Returns its result.
    fn start(&self, b: &Builder<'c>, dot: AnyDot<'c>, (lhs, rhs): (Val<'c>, Val<'c>)) -> Result<Val<'c>, Failed> {
        let error = |e: BuildError| fail(dot.op(), e.to_string());
        let by = attr(dot.op(), "instruction").ok_or_else(|| fail(dot.op(), "no instruction"))?;
        let (t, acc, around) = (ty(dot.result()), dot.acc(), b.location());
        b.set_location(dot.op().location());
        if is_promoted(dot) {
            let depth = Tensor::of_value(dot.lhs()).map_or(0, |t| t.shape[1]).min(PROMOTION.into());
            let built = PromotedDotOp::build(b, t, lhs, rhs, acc, by, i64_attr(self.context, depth));
            b.set_location(around);
            return Ok(built.map_err(error)?.result());
        }
        let [left, right] = dot.unsigned();
        let built = AsyncDotOp::build(b, &[t], lhs, rhs, acc, None, None, None, by, left, right, None, None);
        b.set_location(around);
        Ok(result(built.map_err(error)?.op(), 0))
    }

    /// Writes the region that fills a stage. One thread runs it if TMA loads all operands, otherwise the producer's
    /// warps. If a run-time test decides what TMA loads, there are two regions.
    fn fill(&self, b: &Builder<'c>, placed: &Placed<'c>, ring: &PipelinedRing<'c>, it: Val<'c>) -> Result<(), Failed> {
        let op = placed.group.place();
        let Some((_, computed)) = placed.group.producer_computed().next() else {
            return self.copy(b, placed, ring, it, false);
        };
        if computed.by.agent().is_some() {
            self.copy(b, placed, ring, it, false)?;
            return self.compute(b, placed, ring, it, false);
        }
        let tested = placed.group.producer_computed().any(|(_, tile)| tile.if_ready.is_some());
        let Some(ready) = placed.ready.filter(|_| tested) else { return self.compute(b, placed, ring, it, false) };
        let (_, blocks) = new_if(b, ready, &[]).map_err(|e| fail(op, e.to_string()))?;
        for (block, ready) in blocks.into_iter().zip([true, false]) {
            let branch = Builder::at_end(self.context, block, op.location());
            self.compute(&branch, placed, ring, it, ready)?;
            branch.insert(branch.state("scf.yield")).map_err(|e| fail(op, e.to_string()))?;
        }
        Ok(())
    }

    /// Writes the region of the producer's warps: the version for `ready` views, or the version that does not depend
    /// on the test.
    fn compute(
        &self,
        b: &Builder<'c>,
        placed: &Placed<'c>,
        ring: &PipelinedRing<'c>,
        it: Val<'c>,
        ready: bool,
    ) -> Result<(), Failed> {
        let op = placed.group.place();
        let error = |e: BuildError| fail(op, e.to_string());
        let all: Vec<(usize, ProducerComputed<'c>)> = placed.group.producer_computed().collect();
        let Some((_, first)) = all.first() else { return Err(fail(op, "no operand is producer-computed")) };
        let computed = || all.iter().filter(|(_, one)| !(ready && one.if_ready.is_some()));
        let filled = Region::new();
        let program = append_block(&filled, &[], op.location());
        let inside = Builder::at_end(self.context, program, op.location());
        let agent = first.by.agent();
        if agent.is_none() && placed.group.copies(true).next().is_some() {
            self.copy(&inside, placed, ring, it, ready)?;
        }
        // Loads into registers are in flight during the wait for the stage; copies need the stage first.
        let around = loops_around(op).next();
        let mut values = vec![];
        for (_, one) in computed() {
            let by = one.by.op();
            let body = entry_block(region(by, 0)).ok_or_else(|| fail(by, "produce_one has no body"))?;
            let mut map = FxHashMap::default();
            for inner in ops_of(body).take_while(|o| Some(*o) != one.load && YieldOp::cast(*o).is_none()) {
                inside.set_location(inner.location());
                let address = one.load.is_some_and(|load| defining_op(operand(load, 0)) == Some(inner));
                if !(address && addresses::split(&inside, inner, around, &mut map).map_err(error)?) {
                    clone_op(&inside, inner, &mut map);
                }
            }
            values.push(map);
        }
        inside.set_location(op.location());
        let token = ProducerTokenType::get(op.location()).ok_or_else(|| fail(op, "cannot build the token type"))?;
        ProducerAcquireOp::build(&inside, token.into(), ring.pipeline, it, None, None, None, None).map_err(error)?;
        let slots = self.slots(&inside, placed, ring, it)?;
        for ((side, one), map) in computed().zip(values) {
            let slot = slots[*side];
            let of = |v: Val<'c>| mapped(&map, v);
            if let Some(load) = one.load {
                inside.set_location(load.location());
                build_copy(&inside, load, slot, None, of)?;
                inside.set_location(op.location());
                continue;
            }
            let by = one.by.op();
            let last = entry_block(region(by, 0)).and_then(|body| ops_of(body).last());
            let tile = of(operand(last.ok_or_else(|| fail(by, "produce_one has no body"))?, 0));
            let tile = match placed.group.sides[*side].copied_to {
                Some(_) => filled_up(&inside, by, tile, placed.group.sides[*side].desc)?,
                None => tile,
            };
            store(&inside, by, tile, slot)?;
        }
        let (copies, stores) = placed.group.by_threads();
        for copies in [false, true].into_iter().zip([stores, copies]).filter(|(_, any)| *any).map(|(copies, _)| copies)
        {
            let phase = self.other_than_full(ring.stored());
            ProducerCommitOp::build(&inside, ring.pipeline, it, copies, false, false, phase, None).map_err(error)?;
        }
        YieldOp::build(&inside, &[]).map_err(error)?;
        let [warps, fast] = [first.by.warps(), first.by.fast()].map(|n| i64_attr(self.context, n));
        let agent = agent.map(|name| string_to_attr(self.context, name));
        let program = ProduceOneOp::build(b, &[], warps, fast, false, agent, filled);
        let fills: Vec<OpRef<'c>> = all.iter().map(|(_, one)| one.by.op()).collect();
        give_agent(&fills, program.map_err(error)?.op());
        Ok(())
    }

    /// Writes the region of one thread that announces and issues the TMA loads, including tested ones if `ready`.
    fn copy(
        &self,
        b: &Builder<'c>,
        placed: &Placed<'c>,
        ring: &PipelinedRing<'c>,
        it: Val<'c>,
        ready: bool,
    ) -> Result<(), Failed> {
        let op = placed.group.place();
        let error = |e: BuildError| fail(op, e.to_string());
        let region = Region::new();
        let program = append_block(&region, &[], op.location());
        let inside = Builder::at_end(self.context, program, op.location());
        let filled_by = |side: usize| ring.filled_by(&placed.group.sides[side]);
        let token = ProducerTokenType::get(op.location()).ok_or_else(|| fail(op, "cannot build the token type"))?;
        let mut acquired = vec![];
        let has_copies = |phase: &str| placed.group.copies(true).any(|(side, _)| filled_by(side) == phase);
        for phase in ring.filled().iter().filter(|phase| **phase == phases::FULL || has_copies(phase)) {
            let arriving = placed.group.copies(ready).filter(|(side, _)| filled_by(*side) == *phase);
            let bytes = Some(i64_attr(self.context, arriving.map(|(_, c)| i64::from(c.bytes)).sum()));
            let (token, fills) = (token.into(), self.other_than_full(phase));
            let op =
                ProducerAcquireOp::build(&inside, token, ring.pipeline, it, bytes, fills, None, None).map_err(error)?;
            acquired.push((*phase, op.token()));
        }
        let slots = self.slots(&inside, placed, ring, it)?;
        // `maps` covers the loads of both cases.
        let starts = |side: usize| placed.group.copies(ready).any(|(s, _)| s == side);
        for ((side, copy), map) in placed.group.copies(true).zip(&placed.maps).filter(|((s, _), _)| starts(*s)) {
            let slot = slots[side];
            let indices: Vec<Val<'c>> = copy.load.indices().collect();
            inside.set_location(copy.load.op().location());
            let token = acquired.iter().find(|(phase, _)| *phase == filled_by(side)).map(|(_, token)| *token);
            let token = token.ok_or_else(|| fail(op, "no phase counts the bytes of a copy"))?;
            let view = copy.load.view();
            match map {
                Some(map) => {
                    AsyncTiledTmaLoadOp::build(&inside, view, &indices, *map, slot, token).map_err(error)?;
                }
                None => {
                    AsyncBulkLoadOp::build(&inside, view, &indices, slot, token).map_err(error)?;
                }
            }
        }
        let elect = ElectOp::build(b, None, region).map_err(error)?;
        let loads: Vec<OpRef<'c>> = placed.group.copies(ready).map(|(_, c)| c.load.op()).collect();
        give_agent(&loads, elect.op());
        Ok(())
    }

    /// Returns the iterator's stage of each storage.
    fn slots(
        &self,
        b: &Builder<'c>,
        placed: &Placed<'c>,
        ring: &PipelinedRing<'c>,
        it: Val<'c>,
    ) -> Result<Vec<Val<'c>>, Failed> {
        let error = |e: BuildError| fail(placed.group.place(), e.to_string());
        let stage = StageOp::build(b, IntegerType::new(self.context, 32).into(), it).map_err(error)?.index();
        let sides = placed.group.sides.iter().zip(&ring.storages);
        sides
            .map(|(side, ring)| MemDescSlotOp::build(b, side.desc.into(), *ring, stage).map(|s| s.result()))
            .collect::<Result<_, _>>()
            .map_err(error)
    }
}

/// Returns the last value of 32-bit elements that is computed in the ops from `from` up to `to`. The result of a dot is
/// not: it may be in flight.
fn last_between<'c>(from: OpRef<'c>, to: OpRef<'c>) -> Option<Val<'c>> {
    let between: Vec<OpRef<'c>> = std::iter::once(from).chain(ops_after(from)).take_while(|o| *o != to).collect();
    let computed = |o: &OpRef<'c>| {
        let v = results(*o).next().filter(|_| is_pure(*o) && !is_cheap(*o) && AnyDot::cast(*o).is_none())?;
        let words = Tensor::of_value(v).is_some_and(|t| storage_bits(t.element) == 32);
        words.then_some(v)
    };
    between.iter().rev().find_map(computed)
}

/// Assigns `program` to the agent of the ops that it replaces, if they have one.
fn give_agent<'c>(fills: &[OpRef<'c>], program: OpRef<'c>) {
    if let Some(agent) = fills.iter().find_map(|f| AGENT.get(*f)) {
        AGENT.set(program, agent);
    }
}

/// Erases the users of `v`, and transitively their users.
pub(super) fn erase_users(v: Val<'_>) {
    for (user, _) in uses(v) {
        results(user).for_each(erase_users);
        erase(user);
    }
}
