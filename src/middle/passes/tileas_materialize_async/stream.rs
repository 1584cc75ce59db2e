//! Products that share a ring, and the change of each.
//!
//! The iterator of the ring is carried through loops and branches, from one product to the next in the order of the
//! program.

use super::{
    ProducerComputed, Product, RingPlan, addresses, convert_stage, is_promoted, reshaped,
    top::{PipelinedRing, Tile, store},
};
use crate::analysis::{
    clones::clone_op, producers::behind_conversions, schedule::solved, tensor_map_ops::come_behind,
    thread_copies::build_copy, tokens,
};
use crate::dialect::{
    behaviour::{LayoutRelation, is_cheap, is_pure, layout_relation},
    dot_plan::DotPlan,
    dots::is_zero,
    layouts::{Tensor, storage_bits},
    loops::{extend_for, extend_if, extend_while, extend_yield, is_in_loop, loops_around, new_if},
    nv_tileas::{
        AsyncDotOp, AsyncDotWaitOp, AsyncFenceOp, AsyncTiledTmaLoadOp, BarrierOp, ConsumerReleaseOp, ConsumerTokenType,
        ConsumerWaitOp, DotOp, ElectOp, IncIterOp, MemDescSlotOp, PipelineType, ProduceOneOp, ProducerAcquireOp,
        ProducerCommitOp, ProducerTokenType, PromotedDotOp, StageOp, YieldOp,
    },
    pass::{Failed, fail},
    rt::*,
    upstream::Scf,
};
use melior::{
    Context,
    ir::{Region, Type, attribute::IntegerAttribute, r#type::IntegerType},
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use tile_plan::PROMOTION;

/// A product with what stands at the top of the function for it.
pub(super) struct Placed<'c> {
    pub product: Product<'c>,
    /// Of each of the products that take a stage together.
    pub tiles: Vec<[Tile<'c>; 2]>,
    /// Of each operand that tensor copies bring to the ring, or may bring.
    pub maps: Vec<Val<'c>>,
    /// Whether they may.
    ready: Option<Val<'c>>,
    /// Whether the product has been replaced, so that its op is no more.
    done: Cell<bool>,
}

impl<'c> Placed<'c> {
    pub fn new(
        product: Product<'c>,
        tiles: Vec<[Tile<'c>; 2]>,
        (maps, ready): (Vec<Val<'c>>, Option<Val<'c>>),
    ) -> Self {
        Self { product, tiles, maps, ready, done: Cell::new(false) }
    }

    fn erase(&self) {
        self.done.set(true);
        self.product.dots.iter().for_each(|dot| erase(dot.op()));
    }
}

/// Products whose operands have stages alike take turns with one ring.
pub(super) struct Stream<'c> {
    /// None where no operand is loaded.
    ring: Option<PipelinedRing<'c>>,
    pub products: Vec<Placed<'c>>,
    context: &'c Context,
    plan: DotPlan,
}

/// A product that is under way when its iteration ends, or several that take a stage together.
struct Flight<'c> {
    place: OpRef<'c>,
    /// The numbers of the values that carry the sums.
    indices: Vec<usize>,
    /// The sums as the loop's body gets them.
    sums: Vec<Val<'c>>,
    /// Whether the next products add to the sums as they are.
    adds_on: bool,
    /// The stage that the product before reads, and whether there was one.
    last: Option<(Val<'c>, Val<'c>)>,
}

/// Where the programs of a stream are: the iterator, if there is a ring.
type RingIndex<'c> = Option<Val<'c>>;

impl<'c> Stream<'c> {
    /// Products such as this one, with a ring.
    pub fn new(product: &Product<'c>, top: &Builder<'c>, plan: DotPlan, ring: RingPlan) -> Result<Self, Failed> {
        let ring = PipelinedRing::of(product, top, plan, ring)?;
        Ok(Self { ring, products: vec![], context: top.context(), plan })
    }

    /// Whether a product's operands come in the same stages.
    pub fn takes(&self, product: &Product<'c>) -> bool {
        self.products.first().is_some_and(|p| p.product.is_like(product))
    }

    pub fn rewrite(&self, entry: Blk<'c>) -> Result<(), Failed> {
        self.block(entry, self.ring.as_ref().map(|r| r.first), &mut vec![])?;
        for (_, copied) in self.products.iter().flat_map(|p| p.product.copied()) {
            // All that stood between the load and the product.
            erase_users(copied.copy.load.result());
            let load = copied.copy.load.op();
            tokens::pass_over(self.context, load).map_err(|e| fail(load, e.to_string()))?;
            erase(load);
        }
        for (_, made) in self.products.iter().flat_map(|p| p.product.made()) {
            erase_users(result(made.by.op(), 0));
            erase(made.by.op());
        }
        Ok(())
    }

    fn placed(&self, op: OpRef<'c>) -> Option<&Placed<'c>> {
        self.products.iter().find(|p| !p.done.get() && p.product.place() == op)
    }

    fn holds_product(&self, op: OpRef<'c>) -> bool {
        let mut holds = false;
        walk(op, &mut |o| holds |= self.placed(o).is_some());
        holds
    }

    /// Changes the products of a block in their order; the index behind them.
    fn block(
        &self,
        block: Blk<'c>,
        index: RingIndex<'c>,
        flights: &mut Vec<Flight<'c>>,
    ) -> Result<RingIndex<'c>, Failed> {
        let mut index = index;
        let ops: Vec<OpRef<'c>> = ops_of(block).filter(|o| self.holds_product(*o)).collect();
        for op in ops {
            index = match (self.placed(op), Scf::of(op)) {
                (Some(placed), _) => match flights.iter_mut().find(|f| f.place == op) {
                    Some(flight) => self.in_flight(placed, index, flight)?,
                    None => self.until_used(placed, index)?,
                },
                (None, Some(Scf::For)) => self.counted(op, index)?,
                (None, Some(Scf::If)) => self.branch(op, index)?,
                (None, Some(Scf::While)) => self.conditional(op, index)?,
                _ => return Err(fail(op, "a product is in neither a loop nor a branch")),
            };
        }
        Ok(index)
    }

    /// Carries the index through a loop, and what its products under way need from one iteration to the next.
    fn counted(&self, op: OpRef<'c>, index: RingIndex<'c>) -> Result<RingIndex<'c>, Failed> {
        let error = |e: BuildError| fail(op, e.to_string());
        let b = Builder::before(self.context, op);
        let number = result_count(op);
        self.maps_come_behind(op, index);
        let body = entry_block(region(op, 0)).ok_or_else(|| fail(op, "loop has no body"))?;
        let mut flights = self.flights(op, body);
        let mut inits: Vec<Val<'c>> = index.into_iter().collect();
        if let Some(it) = index.filter(|_| !flights.is_empty()) {
            let never = self.truth(&b, false);
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
            let sums: Vec<Val<'c>> = flight.indices.iter().map(|index| result(new, *index)).collect();
            b.set_after(new);
            b.set_location(new.location());
            self.wait_for(&b, &sums, 0)?;
            if let Some(ring) = &self.ring {
                let (last, started) = (result(new, number + 1 + 2 * i), result(new, number + 2 + 2 * i));
                ConsumerReleaseOp::build(&b, ring.pipeline, last, Some(started), None).map_err(error)?;
            }
        }
        Ok(index.map(|_| result(new, number)))
    }

    /// Carries the index through a loop that asks each time whether it goes on.
    fn conditional(&self, op: OpRef<'c>, index: RingIndex<'c>) -> Result<RingIndex<'c>, Failed> {
        let error = |e: BuildError| fail(op, e.to_string());
        let b = Builder::before(self.context, op);
        let number = result_count(op);
        self.maps_come_behind(op, index);
        let inits: Vec<Val<'c>> = index.into_iter().collect();
        let (new, inside) = extend_while(&b, op, &inits).map_err(error)?;
        for (i, inside) in inside.iter().enumerate() {
            let block = entry_block(region(new, i)).ok_or_else(|| fail(new, "loop has no block"))?;
            let after: Vec<Val<'c>> = self.block(block, inside.first().copied(), &mut vec![])?.into_iter().collect();
            extend_yield(&b, block, &after).map_err(|e| fail(new, e.to_string()))?;
        }
        Ok(index.map(|_| result(new, number)))
    }

    /// Products of a loop's body that are under way when an iteration ends.
    fn flights(&self, op: OpRef<'c>, body: Blk<'c>) -> Vec<Flight<'c>> {
        let inside = self.products.iter().filter(|p| !p.done.get());
        let inside = inside.filter(|p| block_of(p.product.place()) == block_key(body));
        inside.filter_map(|p| Flight::of(&p.product, op, body)).filter(|f| self.has_room(f, body)).collect()
    }

    /// Whether the ring goes on while a product in flight keeps its stage: consumers wait for fewer stages than it has
    /// from the start of the product to the release of the stage, in the next iteration.
    fn has_room(&self, flight: &Flight<'c>, body: Blk<'c>) -> bool {
        let Some(stages) = self.stages() else { return true };
        let after: Option<i64> = ops_after(flight.place).map(|o| self.taken(o)).sum();
        let released = if flight.adds_on { Some(flight.place) } else { first_user(body, flight.sums[0]) };
        let until = ops_of(body).take_while(|o| Some(*o) != released);
        let before: Option<i64> = until.map(|o| self.taken(o)).sum();
        after.zip(before).is_some_and(|(a, b)| a + b + i64::from(flight.adds_on) < stages)
    }

    /// The last op, `user` or one before it, until which the ring goes on while `dot` keeps its stage.
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

    fn stages(&self) -> Option<i64> {
        Some(PipelineType::cast(ty(self.ring.as_ref()?.pipeline))?.stages())
    }

    /// How many stages consumers wait for in an op. `None` if they do so in a loop, which takes a stage in each
    /// iteration. Both sides of a branch count.
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

    /// A product that is waited for in the next iteration. The next index.
    fn in_flight(
        &self,
        placed: &Placed<'c>,
        index: RingIndex<'c>,
        flight: &mut Flight<'c>,
    ) -> Result<RingIndex<'c>, Failed> {
        let place = placed.product.place();
        let error = |e: BuildError| fail(place, e.to_string());
        if !flight.adds_on {
            self.wait_for_last(place, flight)?;
        }
        let b = Builder::before(self.context, place);
        let sums = self.multiply(&b, placed, index)?;
        for (dot, sum) in placed.product.dots.iter().zip(&sums) {
            replace_all_uses(dot.result(), *sum);
        }
        if flight.adds_on {
            AsyncDotWaitOp::build(&b, &[], &[], i64_attr(self.context, sums.len() as i64)).map_err(error)?;
            self.release(&b, place, flight.last)?;
        }
        let next = self.next(&b, place, index)?;
        if let Some(now) = index {
            flight.last = Some((now, self.truth(&b, true)));
        }
        placed.erase();
        Ok(next)
    }

    /// Waits for the product of the iteration before where its sum is first used, or with another wait before that.
    fn wait_for_last(&self, dot: OpRef<'c>, flight: &Flight<'c>) -> Result<(), Failed> {
        let block = block_around(dot).ok_or_else(|| fail(dot, "product is in no block"))?;
        let sum_before = flight.sums[0];
        let first = first_user(block, sum_before).ok_or_else(|| fail(dot, "sum of a product is not used"))?;
        let before: Vec<OpRef<'c>> = ops_of(block).take_while(|o| *o != first).collect();
        let other = before.iter().filter_map(|o| AsyncDotWaitOp::cast(*o)).find(|w| w.pending() == 0);
        let b = Builder::before(self.context, first);
        b.set_location(dot.location());
        let mut sources = vec![sum_before];
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
        let sum = results(wait).last().ok_or_else(|| fail(dot, "a wait has no results"))?;
        for (user, at) in uses(sum_before) {
            if user != wait {
                set_operand(user, at, sum);
            }
        }
        self.release(&b, dot, flight.last)
    }

    /// A product that is waited for where its sum is first used, or where the ring needs its stage. The next index.
    fn until_used(&self, placed: &Placed<'c>, index: RingIndex<'c>) -> Result<RingIndex<'c>, Failed> {
        let [dot] = placed.product.dots[..] else { return self.until_done(placed, index) };
        let error = |e: BuildError| fail(dot.op(), e.to_string());
        let b = Builder::before(self.context, dot.op());
        let sum = self.multiply(&b, placed, index)?[0];
        let user = block_around(dot.op()).and_then(|block| first_user(block, dot.result()));
        let user = user.map(|user| self.room_until(dot.op(), user));
        let promoted = is_promoted(dot);
        replace_all_uses(dot.result(), sum);
        if let Some(user) = user.filter(|_| !promoted) {
            // Groups that are started before that may be under way still.
            let between = groups(dot.op(), user);
            b.set_before(user);
            self.wait_for(&b, &[sum], between.len())?;
        } else if !promoted {
            self.wait(&b, &[sum], 0)?;
        }
        if let (Some(ring), Some(it)) = (&self.ring, index) {
            // Where a younger product is under way, what is computed until the wait for it comes first.
            let after = user.and_then(|user| {
                let younger = groups(dot.op(), user).pop()?;
                let place = first_user(block_around(younger)?, result(younger, 0))?;
                let last = last_between(user, place).filter(|_| self.room_until(dot.op(), place) == place)?;
                b.set_before(place);
                Some(last)
            });
            ConsumerReleaseOp::build(&b, ring.pipeline, it, None, after).map_err(error)?;
        }
        b.set_before(dot.op());
        let next = self.next(&b, dot.op(), index)?;
        placed.erase();
        Ok(next)
    }

    /// Products that take a stage together and are waited for at once. The next index.
    fn until_done(&self, placed: &Placed<'c>, index: RingIndex<'c>) -> Result<RingIndex<'c>, Failed> {
        let place = placed.product.place();
        let b = Builder::before(self.context, place);
        let sums = self.multiply(&b, placed, index)?;
        let mut under_way = vec![];
        for (dot, sum) in placed.product.dots.iter().zip(&sums) {
            replace_all_uses(dot.result(), *sum);
            under_way.extend((!is_promoted(*dot)).then_some(*sum));
        }
        if !under_way.is_empty() {
            self.wait_for(&b, &under_way, 0)?;
        }
        if let (Some(ring), Some(it)) = (&self.ring, index) {
            ConsumerReleaseOp::build(&b, ring.pipeline, it, None, None).map_err(|e| fail(place, e.to_string()))?;
        }
        let next = self.next(&b, place, index)?;
        placed.erase();
        Ok(next)
    }

    /// Maps of the stream's copies that are made in front of a loop or product, in a loop: the copies so far are by
    /// those before them.
    fn maps_come_behind(&self, op: OpRef<'c>, index: RingIndex<'c>) {
        let Some((ring, it)) = self.ring.as_ref().zip(index) else { return };
        let maps: Vec<Val<'c>> = self.products.iter().flat_map(|p| p.maps.iter().copied()).collect();
        if is_in_loop(op) {
            come_behind(self.context, op, &maps, (ring.pipeline, it));
        }
    }

    /// Waits until no more than `pending` younger groups are under way.
    fn wait(&self, b: &Builder<'c>, sums: &[Val<'c>], pending: usize) -> Result<OpRef<'c>, Failed> {
        let types: Vec<Type<'c>> = sums.iter().map(|v| ty(*v)).collect();
        let wait = AsyncDotWaitOp::build(b, &types, sums, i64_attr(self.context, pending as i64));
        wait.map(|w| w.op()).map_err(|e| fail(self.products[0].product.place(), e.to_string()))
    }

    /// The same, and what uses the sums uses what is waited for.
    fn wait_for(&self, b: &Builder<'c>, sums: &[Val<'c>], pending: usize) -> Result<(), Failed> {
        let wait = self.wait(b, sums, pending)?;
        for (sum, complete) in sums.iter().zip(results(wait)) {
            for (user, at) in uses(*sum).into_iter().filter(|(user, _)| *user != wait) {
                set_operand(user, at, complete);
            }
        }
        Ok(())
    }

    fn release(&self, b: &Builder<'c>, op: OpRef<'c>, last: Option<(Val<'c>, Val<'c>)>) -> Result<(), Failed> {
        let (Some(ring), Some((last, started))) = (&self.ring, last) else { return Ok(()) };
        ConsumerReleaseOp::build(b, ring.pipeline, last, Some(started), None).map_err(|e| fail(op, e.to_string()))?;
        Ok(())
    }

    fn next(&self, b: &Builder<'c>, op: OpRef<'c>, index: RingIndex<'c>) -> Result<RingIndex<'c>, Failed> {
        let (Some(ring), Some(it)) = (&self.ring, index) else { return Ok(None) };
        let next = IncIterOp::build(b, ty(it), it, ring.pipeline).map_err(|e| fail(op, e.to_string()))?;
        Ok(Some(next.next()))
    }

    /// Fills a stage, waits for it and starts the products that take it; their results.
    fn multiply(&self, b: &Builder<'c>, placed: &Placed<'c>, index: RingIndex<'c>) -> Result<Vec<Val<'c>>, Failed> {
        let place = placed.product.place();
        let error = |e: BuildError| fail(place, e.to_string());
        let mut ready = vec![];
        if let (Some(ring), Some(it)) = (&self.ring, index) {
            self.maps_come_behind(place, index);
            self.fill(b, placed, ring, it)?;
            if ring.converted {
                self.prepare(b, placed, ring, it)?;
            }
            self.wait_for_stage(b, (place, ring), it, ring.converted)?;
            if placed.product.by_threads().0 {
                // Copies of threads write as these do, and nobody has fenced for products yet.
                AsyncFenceOp::build(b).map_err(error)?;
            }
            let slots = self.slots(b, placed, ring, it)?;
            let here = !ring.converted && placed.product.is_converted();
            if here {
                convert_stage::change(b, &placed.product, &slots, self.plan.consumer_warps())?;
            }
            ready = convert_stage::changed(b, &placed.product, &slots)?;
            if here {
                AsyncFenceOp::build(b).map_err(error)?;
                BarrierOp::build(b, None, None).map_err(error)?;
            }
        }
        let mut sums = vec![];
        for (dot, tiles) in placed.product.dots.iter().zip(&placed.tiles) {
            let mut operands = vec![];
            for (number, tile) in tiles.iter().enumerate() {
                operands.push(match *tile {
                    Tile::Memory(v) => v,
                    Tile::Registers => operand(dot.op(), number),
                    Tile::PipelinedRing { side, place: at } => {
                        let stage = ready.get(side).copied();
                        let mut memory = stage.ok_or_else(|| fail(dot.op(), "an operand is in no ring"))?;
                        for op in &placed.product.sides[side].places[at].moved {
                            memory = reshaped(b, *op, memory)?;
                        }
                        memory
                    }
                });
            }
            sums.push(self.start(b, *dot, (operands[0], operands[1]))?);
        }
        Ok(sums)
    }

    /// Waits, for the product `op`, until a stage is full, or until it is prepared, too.
    fn wait_for_stage(
        &self,
        b: &Builder<'c>,
        (op, ring): (OpRef<'c>, &PipelinedRing<'c>),
        it: Val<'c>,
        converted: bool,
    ) -> Result<(), Failed> {
        let waited = ConsumerTokenType::get(op.location()).ok_or_else(|| fail(op, "no type of tokens"))?;
        ConsumerWaitOp::build(b, waited.into(), ring.pipeline, it, converted).map_err(|e| fail(op, e.to_string()))?;
        Ok(())
    }

    /// The program of warps that change a stage which has been filled.
    fn prepare(
        &self,
        b: &Builder<'c>,
        placed: &Placed<'c>,
        ring: &PipelinedRing<'c>,
        it: Val<'c>,
    ) -> Result<(), Failed> {
        let op = placed.product.place();
        let error = |e: BuildError| fail(op, e.to_string());
        let region = Region::new();
        let program = append_block(&region, &[], op.location());
        let inside = Builder::at_end(self.context, program, op.location());
        self.wait_for_stage(&inside, (op, ring), it, false)?;
        let slots = self.slots(&inside, placed, ring, it)?;
        let warps = self.plan.converter_warps();
        convert_stage::change(&inside, &placed.product, &slots, warps)?;
        ProducerCommitOp::build(&inside, ring.pipeline, it, false, true).map_err(error)?;
        YieldOp::build(&inside, &[]).map_err(error)?;
        let [warps, fast] = [warps.into(), 0].map(|n| i64_attr(self.context, n));
        ProduceOneOp::build(b, &[], warps, fast, false, true, region).map_err(error)?;
        Ok(())
    }

    /// Starts a product of operands that are where they have to be; its result.
    fn start(&self, b: &Builder<'c>, dot: DotOp<'c>, (lhs, rhs): (Val<'c>, Val<'c>)) -> Result<Val<'c>, Failed> {
        let error = |e: BuildError| fail(dot.op(), e.to_string());
        let by = attr(dot.op(), "instruction").ok_or_else(|| fail(dot.op(), "no instruction"))?;
        let (t, acc) = (ty(dot.result()), dot.acc());
        if is_promoted(dot) {
            let depth = Tensor::of_value(dot.lhs()).map_or(0, |t| t.shape[1]).min(PROMOTION.into());
            let product = PromotedDotOp::build(b, t, lhs, rhs, acc, by, i64_attr(self.context, depth));
            return Ok(product.map_err(error)?.result());
        }
        let product = AsyncDotOp::build(b, t, lhs, rhs, acc, by, dot.lhs_unsigned(), dot.rhs_unsigned());
        Ok(product.map_err(error)?.result())
    }

    /// The program that fills a stage: of one thread, where all operands of the product are copied, or else of the
    /// producer's warps. Where it depends on a test what can be copied, there are two.
    fn fill(&self, b: &Builder<'c>, placed: &Placed<'c>, ring: &PipelinedRing<'c>, it: Val<'c>) -> Result<(), Failed> {
        let op = placed.product.place();
        if placed.product.made().next().is_none() {
            return self.copy(b, placed, ring, it, false);
        }
        let tested = placed.product.made().any(|(_, made)| made.if_ready.is_some());
        let Some(ready) = placed.ready.filter(|_| tested) else { return self.make(b, placed, ring, it, false) };
        let (_, blocks) = new_if(b, ready, &[]).map_err(|e| fail(op, e.to_string()))?;
        for (block, ready) in blocks.into_iter().zip([true, false]) {
            let branch = Builder::at_end(self.context, block, op.location());
            self.make(&branch, placed, ring, it, ready)?;
            branch.insert(branch.state("scf.yield")).map_err(|e| fail(op, e.to_string()))?;
        }
        Ok(())
    }

    /// The program of the producer's warps, where all views that are tested are `ready`, or may not be.
    fn make(
        &self,
        b: &Builder<'c>,
        placed: &Placed<'c>,
        ring: &PipelinedRing<'c>,
        it: Val<'c>,
        ready: bool,
    ) -> Result<(), Failed> {
        let op = placed.product.place();
        let error = |e: BuildError| fail(op, e.to_string());
        let all: Vec<(usize, ProducerComputed<'c>)> = placed.product.made().collect();
        let Some((_, first)) = all.first() else { return Err(fail(op, "no warps make an operand")) };
        let made = || all.iter().filter(|(_, one)| !(ready && one.if_ready.is_some()));
        let filled = Region::new();
        let program = append_block(&filled, &[], op.location());
        let inside = Builder::at_end(self.context, program, op.location());
        if placed.product.copies(true).next().is_some() {
            self.copy(&inside, placed, ring, it, ready)?;
        }
        // What is loaded to registers is under way while the stage is waited for; copies need the stage.
        let around = loops_around(op).next();
        let mut values = vec![];
        for (_, one) in made() {
            let by = one.by.op();
            let body = entry_block(region(by, 0)).ok_or_else(|| fail(by, "it has no program"))?;
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
        let token = ProducerTokenType::get(op.location()).ok_or_else(|| fail(op, "no type of tokens"))?;
        ProducerAcquireOp::build(&inside, token.into(), ring.pipeline, it, None).map_err(error)?;
        let slots = self.slots(&inside, placed, ring, it)?;
        for ((side, one), map) in made().zip(values) {
            let slot = slots[*side];
            let of = |v: Val<'c>| map.get(&key(v)).copied().unwrap_or(v);
            if let Some(load) = one.load {
                inside.set_location(load.location());
                build_copy(&inside, load, slot, None, of)?;
                inside.set_location(op.location());
                continue;
            }
            let by = one.by.op();
            let last = entry_block(region(by, 0)).and_then(|body| ops_of(body).last());
            let tile = of(operand(last.ok_or_else(|| fail(by, "it has no program"))?, 0));
            store(&inside, by, tile, slot)?;
        }
        let (copies, stores) = placed.product.by_threads();
        for copies in [false, true].into_iter().zip([stores, copies]).filter(|(_, any)| *any).map(|(copies, _)| copies)
        {
            ProducerCommitOp::build(&inside, ring.pipeline, it, copies, false).map_err(error)?;
        }
        YieldOp::build(&inside, &[]).map_err(error)?;
        let [warps, fast] = [first.by.warps(), first.by.fast()].map(|n| i64_attr(self.context, n));
        let program = ProduceOneOp::build(b, &[], warps, fast, false, false, filled);
        let fills: Vec<OpRef<'c>> = all.iter().map(|(_, one)| one.by.op()).collect();
        give_agent(&fills, program.map_err(error)?.op());
        Ok(())
    }

    /// The program of one thread that copies what is copied of the operands of a product, with what is if views are
    /// `ready`, and announces it.
    fn copy(
        &self,
        b: &Builder<'c>,
        placed: &Placed<'c>,
        ring: &PipelinedRing<'c>,
        it: Val<'c>,
        ready: bool,
    ) -> Result<(), Failed> {
        let op = placed.product.place();
        let error = |e: BuildError| fail(op, e.to_string());
        let region = Region::new();
        let program = append_block(&region, &[], op.location());
        let inside = Builder::at_end(self.context, program, op.location());
        let bytes: i64 = placed.product.copies(ready).map(|(_, c)| i64::from(c.bytes)).sum();
        let token = ProducerTokenType::get(op.location()).ok_or_else(|| fail(op, "no type of tokens"))?;
        let acquired =
            ProducerAcquireOp::build(&inside, token.into(), ring.pipeline, it, Some(i64_attr(self.context, bytes)))
                .map_err(error)?;
        let slots = self.slots(&inside, placed, ring, it)?;
        // Maps are those of all copies that there may be.
        let starts = |side: usize| placed.product.copies(ready).any(|(s, _)| s == side);
        for ((side, copy), map) in placed.product.copies(true).zip(&placed.maps).filter(|((s, _), _)| starts(*s)) {
            let slot = slots[side];
            let indices: Vec<Val<'c>> = copy.load.indices().collect();
            inside.set_location(copy.load.op().location());
            AsyncTiledTmaLoadOp::build(&inside, copy.load.view(), &indices, *map, slot, acquired.token())
                .map_err(error)?;
        }
        let elect = ElectOp::build(b, region).map_err(error)?;
        let loads: Vec<OpRef<'c>> = placed.product.copies(ready).map(|(_, c)| c.load.op()).collect();
        give_agent(&loads, elect.op());
        Ok(())
    }

    /// The iterator's stage of each storage.
    fn slots(
        &self,
        b: &Builder<'c>,
        placed: &Placed<'c>,
        ring: &PipelinedRing<'c>,
        it: Val<'c>,
    ) -> Result<Vec<Val<'c>>, Failed> {
        let error = |e: BuildError| fail(placed.product.place(), e.to_string());
        let stage = StageOp::build(b, IntegerType::new(self.context, 32).into(), it).map_err(error)?.index();
        let sides = placed.product.sides.iter().zip(&ring.storages);
        sides
            .map(|(side, ring)| MemDescSlotOp::build(b, side.desc.into(), *ring, stage).map(|s| s.result()))
            .collect::<Result<_, _>>()
            .map_err(error)
    }

    fn truth(&self, b: &Builder<'c>, value: bool) -> Val<'c> {
        let t: Type<'c> = IntegerType::new(self.context, 1).into();
        b.value("arith.constant", t, &[], &[("value", IntegerAttribute::new(t, value.into()).into())])
    }
}

impl<'c> Flight<'c> {
    /// A product whose sum goes from one iteration of the loop around it to the next and is not used before that. Of
    /// products that take a stage together all must be such, and add on.
    fn of(product: &Product<'c>, around: OpRef<'c>, body: Blk<'c>) -> Option<Self> {
        let last = ops_of(body).last()?;
        let (mut indices, mut sums, mut adds_on) = (vec![], vec![], true);
        for dot in &product.dots {
            let (user, index) = match uses(dot.result())[..] {
                [one] => one,
                _ => return None,
            };
            // Registers that the loop carries to the product get their next values at the end of the iteration, and
            // may not while a product reads them.
            let lhs = behind_conversions(dot.lhs());
            let reads_carried = defining_op(lhs).is_none() && home_of(lhs) == block_key(body);
            if is_promoted(*dot) || reads_carried || user != last || index >= result_count(around) {
                return None;
            }
            let sum = arg(body, index + 1);
            let this_adds_on = dot.acc() == sum && uses(sum).len() == 1;
            // A loop that begins with the sum has registers of its own for it, which would be copied while the product
            // is in flight.
            let used_before = || {
                let first = first_user(body, sum).filter(|user| region_count(*user) == 0);
                product.dots.len() == 1 && first.is_some() && shares_registers(*dot, sum, body)
            };
            if !this_adds_on && !used_before() {
                return None;
            }
            adds_on &= this_adds_on;
            indices.push(index);
            sums.push(sum);
        }
        Some(Self { place: product.place(), indices, sums, adds_on, last: None })
    }
}

/// Whether a product's sum can have the registers of `sum`, the one of the iteration before, which the loop carries. It
/// must, since the end of the iteration would copy it while the product is in flight. Nothing may read the old sum once
/// the new one takes form: that is at the product where this begins at zero, or with what the loop does not change, and
/// otherwise where the old sum is changed element by element to what the product adds to.
fn shares_registers<'c>(dot: DotOp<'c>, sum: Val<'c>, body: Blk<'c>) -> bool {
    let users = uses(sum);
    let is_before = |user: OpRef<'c>| {
        let at = std::iter::successors(Some(user), |o| parent_op(*o)).find(|o| block_of(*o) == block_key(body));
        at.is_some_and(|at| ops_after(at).any(|o| o == dot.op()))
    };
    if !users.iter().all(|(user, _)| is_before(*user)) {
        return false;
    }
    let acc = dot.acc();
    let starts = is_zero(acc) || home_of(acc) != block_key(body);
    starts || users.iter().all(|(user, _)| *user == users[0].0) && comes_of(acc, sum)
}

/// Whether each element of `v` is computed from the same element of `sum`, by products too, which add to registers.
fn comes_of<'c>(v: Val<'c>, sum: Val<'c>) -> bool {
    let (mut work, mut seen) = (vec![v], FxHashSet::default());
    while let Some(v) = work.pop() {
        if v == sum {
            return true;
        }
        let Some(op) = defining_op(v).filter(|_| seen.insert(key(v))) else { continue };
        if let Some(dot) = DotOp::cast(op) {
            work.push(dot.acc());
        } else if let Some(dot) = AsyncDotOp::cast(op) {
            work.push(dot.acc());
        } else if let Some(dot) = PromotedDotOp::cast(op) {
            work.push(dot.acc());
        } else if let Some(wait) = AsyncDotWaitOp::cast(op) {
            work.extend(results(op).zip(wait.sources()).filter(|(r, _)| *r == v).map(|(_, source)| source));
        } else if layout_relation(op) == LayoutRelation::Same {
            work.extend(operands(op));
        }
    }
    false
}

/// The products between `dot` and `user` that are started there and may be in flight at `user`: those after the last
/// one that is waited for before `user`, since products complete in order. Products in loops and branches do not count:
/// control may not pass through them.
fn groups<'c>(dot: OpRef<'c>, user: OpRef<'c>) -> Vec<OpRef<'c>> {
    let mut groups: Vec<OpRef<'c>> = vec![];
    for op in ops_after(dot).take_while(|o| *o != user) {
        // A use waits for the product.
        let used = groups.iter().rposition(|g| operands_within(op).any(|v| defining_op(v) == Some(*g)));
        groups.drain(..used.map_or(0, |last| last + 1));
        if PromotedDotOp::cast(op).is_some() || DotOp::cast(op).is_some_and(is_promoted) {
            groups.clear();
        } else if DotOp::cast(op).is_some() || AsyncDotOp::cast(op).is_some() {
            groups.push(op);
        }
    }
    groups
}

/// What is computed last from an op of a block to another one.
fn last_between<'c>(from: OpRef<'c>, to: OpRef<'c>) -> Option<Val<'c>> {
    let between: Vec<OpRef<'c>> = std::iter::once(from).chain(ops_after(from)).take_while(|o| *o != to).collect();
    let computed = |o: &OpRef<'c>| {
        let v = results(*o).next().filter(|_| is_pure(*o) && !is_cheap(*o))?;
        let words = Tensor::of_value(v).is_some_and(|t| storage_bits(t.element) == 32);
        words.then_some(v)
    };
    between.iter().rev().find_map(computed)
}

/// A program that fills a stage is done by the agent that what fills it has been given, if it has been.
fn give_agent<'c>(fills: &[OpRef<'c>], program: OpRef<'c>) {
    if let Some(agent) = fills.iter().find_map(|f| discardable_attr(*f, solved::AGENT)) {
        set_discardable_attr(program, solved::AGENT, agent);
    }
}

/// What an op and the ops in its regions use.
fn operands_within<'c>(op: OpRef<'c>) -> impl Iterator<Item = Val<'c>> {
    let mut all = vec![];
    walk(op, &mut |o| all.extend(operands(o)));
    all.into_iter()
}

/// The ops behind one in its block.
fn ops_after<'c>(op: OpRef<'c>) -> impl Iterator<Item = OpRef<'c>> {
    block_around(op).into_iter().flat_map(ops_of).skip_while(move |o| *o != op).skip(1)
}

/// The first op of a block that uses a value, itself or in its regions.
fn first_user<'c>(block: Blk<'c>, v: Val<'c>) -> Option<OpRef<'c>> {
    let home = block_key(block);
    let in_block = |user| std::iter::successors(Some(user), |o| parent_op(*o)).find(|o| block_of(*o) == home);
    let users: Vec<OpRef<'c>> = uses(v).into_iter().filter_map(|(user, _)| in_block(user)).collect();
    ops_of(block).find(|o| users.contains(o))
}

/// Erases ops that nothing uses any more, from the last user of `v` on.
fn erase_users(v: Val<'_>) {
    for (user, _) in uses(v) {
        results(user).for_each(erase_users);
        erase(user);
    }
}
