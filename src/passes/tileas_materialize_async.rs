//! `tileas-materialize-async`: products of warpgroups and the loads of their operands become asynchronous.
//!
//! In a function with a plan (`dialect::product_plan`),
//!
//! ```text
//! for i iter_args(c) { a = tiled_load ..; b = tiled_load ..; yield dot a, b, c }
//! ```
//!
//! becomes, with a ring of S stages for each operand and a pipeline of their barriers,
//!
//! ```text
//! for i iter_args(c, it, last, started) {
//!   elect { acquire [it]; copy a into ring[it]; copy b into ring[it] }
//!   wait [it]
//!   c = async.dot ring[it], ring[it], c
//!   dot_wait pending 1                     the product of the iteration before is done
//!   if started: release [last]             and its stage may be filled again
//!   yield c, next it, it, true
//! }
//! c = dot_wait c pending 0; if started: release [last]
//! ```
//!
//! A product whose sum is used in the same iteration, or that is in no loop, is waited for at once, and its stage is
//! released then. So is one of 8-bit floats whose sums must be exact: `promoted_dot` adds what the tensor cores sum up,
//! a few elements of K at a time, to an accumulator that they do not touch.
//!
//! The iterator of a pipeline is carried by all loops and branches around the product, so that a ring runs on from one
//! tile to the next. The program is sequential: an iteration fills the stage that it multiplies. With two stages or
//! more it never waits for itself. `tileas-specialize-agents` makes a program of its own of what `elect` does.
//!
//! Where an operand is computed from what is loaded, element by element, or must be turned, threads change the stage
//! between the wait and the product (`prepare`), while the product before is under way.
//!
//! Operands lie in shared memory as `tile_layout::HardwareLayout::panels` says. Maps of the views are made at the top
//! of the function.

mod prepare;

use crate::{
    analysis::{
        access::View,
        facts::Facts,
        producers::{LoadedOperand, prepared_stage_of, stage_of},
        tensor_maps,
    },
    dialect::{
        dots::{AnyDot, element_of},
        layouts::Tensor,
        loops::{extend_for, extend_if, extend_yield},
        nv_tileaa::{self, MakeTiledViewOp},
        nv_tileas::{
            AllocTensorOp, AsyncDotOp, AsyncDotWaitOp, AsyncTiledTmaLoadOp, BarrierOp, ConsumerReleaseOp,
            ConsumerTokenType, ConsumerWaitOp, CreateIteratorOp, CreatePipelineOp, DotOp, ElectOp, IncIterOp,
            MakeTiledTmaDescOp, MemDescPermuteOp, MemDescSlotOp, MemDescType, MemDescViewOp, MmaKind, PermuteOp,
            PipelineIteratorType, PipelineType, ProducerAcquireOp, ProducerTokenType, PromotedDotOp, SharedLayoutAttr,
            StageOp, TiledLoadOp,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        product_plan::ProductPlan,
        rt::*,
        shared_memory::{ALIGNMENT, aligned_storage_type, with_stages},
        upstream::Scf,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Region, Type, attribute::IntegerAttribute, r#type::IntegerType},
};
use tile_mma::Element;
use tile_plan::PROMOTION;

#[derive(Clone, Default)]
pub struct MaterializeAsync;

impl RustPass for MaterializeAsync {
    pass_descriptor!(tileas_materialize_async);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_materialize_async::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let Some(plan) = ProductPlan::of(function.op()) else { continue };
            let dots = collect_ops(function.op(), |o| {
                let by = AnyDot::cast(o)?.instruction()?;
                DotOp::cast(o).filter(|_| by.kind == MmaKind::Warpgroup)
            });
            if dots.is_empty() {
                continue;
            }
            cx.stat_add(stat::NUM_PRODUCTS, dots.len() as i64);
            let entry = entry_block(function.body()).ok_or_else(|| fail(op, "function has no body"))?;
            let top = Builder::at_end(context, entry, function.op().location());
            let first = ops_of(entry).next().ok_or_else(|| fail(op, "function has no terminator"))?;
            let warps = plan.consumer_warps();
            // Storage and pipelines stand in front of everything else, and a barrier behind them.
            let facts = Facts::of(function.op());
            let products: Vec<Product<'c>> =
                dots.into_iter().map(|d| Product::of(d, function.op(), &facts)).collect::<Result<_, _>>()?;
            top.set_before(first);
            let rings: Vec<Ring<'c>> = products.iter().map(|p| p.ring(&top, plan)).collect::<Result<_, _>>()?;
            BarrierOp::build(&top, None, None).map_err(|e| fail(op, e.to_string()))?;
            for (product, ring) in products.iter().zip(&rings) {
                Rewrite { context, product, ring, warps }.run(function.op())?;
            }
        }
        Ok(())
    }
}

/// Bytes of a map, and the layout of storage in which it is built.
const MAP: i64 = 128;
const MAP_BASES: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// An operand of a product.
struct Side<'c> {
    operand: LoadedOperand<'c>,
    load: TiledLoadOp<'c>,
    /// One stage.
    desc: MemDescType<'c>,
    /// What threads make of a stage before it is multiplied, where they have to.
    prepared: Option<MemDescType<'c>>,
    /// Type of the map, and bytes of the tile.
    map: Type<'c>,
    bytes: u32,
}

struct Product<'c> {
    dot: DotOp<'c>,
    sides: Vec<Side<'c>>,
}

/// What stands at the top of the function for a product.
struct Ring<'c> {
    pipeline: Val<'c>,
    storages: Vec<Val<'c>>,
    maps: Vec<Val<'c>>,
    first: Val<'c>,
}

impl<'c> Product<'c> {
    fn of(dot: DotOp<'c>, function: OpRef<'c>, facts: &Facts) -> Result<Self, Failed> {
        let op = dot.op();
        let mut sides = vec![];
        for (v, depth) in [(dot.lhs(), 1), (dot.rhs(), 0)] {
            let operand = LoadedOperand::of(v).ok_or_else(|| fail(op, "operand is not a tile loaded for it alone"))?;
            let load = TiledLoadOp::cast(operand.load).ok_or_else(|| fail(op, "operand is not loaded from a view"))?;
            let view = View::of(load.view()).ok_or_else(|| fail(load.op(), "its view is not made here"))?;
            let desc = stage_of(load.op(), &view).map_err(|e| fail(load.op(), e))?;
            let (map, bytes) = tensor_maps::plan(load, desc, facts).map_err(|e| fail(load.op(), e))?;
            if parent_op(view.make.op()) != Some(function) {
                return Err(fail(load.op(), "its memref is not made at the top of the function"));
            }
            let turned = operand.must_be_turned(&view, depth);
            let prepared = if turned || !operand.computed.is_empty() {
                let element = Tensor::of_value(v).ok_or_else(|| fail(op, "operand is no tensor"))?.element;
                Some(prepared_stage_of(load.op(), &view, element, turned).map_err(|e| fail(load.op(), e))?)
            } else {
                None
            };
            sides.push(Side { operand, load, desc, prepared, map: map.into(), bytes });
        }
        Ok(Self { dot, sides })
    }

    fn ring(&self, top: &Builder<'c>, plan: ProductPlan) -> Result<Ring<'c>, Failed> {
        let op = self.dot.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let stages = i64::from(plan.stages);
        let mut storages = vec![];
        for side in &self.sides {
            let desc = with_stages(op, side.desc, stages).ok_or_else(|| fail(op, "no ring can hold this tile"))?;
            storages.push(AllocTensorOp::build(top, desc.into(), None).map_err(error)?.result());
        }
        let words = (2 * stages as u64).next_power_of_two();
        let bases: Vec<u64> = (0..words.ilog2()).map(|i| 1 << i).collect();
        let context = top.context();
        let barriers =
            aligned_storage_type(op, &[words as i64], IntegerType::new(context, 64).into(), &bases, ALIGNMENT)
                .map_err(error)?;
        let barriers = AllocTensorOp::build(top, barriers.into(), None).map_err(error)?.result();
        let pipeline =
            PipelineType::get(op.location(), stages).ok_or_else(|| fail(op, "no pipeline of so many stages"))?;
        let consumers = i64_attr(context, plan.consumer_warps().into());
        let pipeline = CreatePipelineOp::build(top, pipeline.into(), barriers, consumers).map_err(error)?.pipeline();
        let first = CreateIteratorOp::build(top, iterator_type(op)?, pipeline).map_err(error)?.iterator();
        let mut maps = vec![];
        for side in &self.sides {
            let bytes = aligned_storage_type(op, &[MAP], IntegerType::new(context, 8).into(), &MAP_BASES, ALIGNMENT);
            let scratch = AllocTensorOp::build(top, bytes.map_err(error)?.into(), None).map_err(error)?.result();
            maps.push(side.map(context, scratch)?);
        }
        Ok(Ring { pipeline, storages, maps, first })
    }
}

impl<'c> Side<'c> {
    /// The map of the view, behind the memref at the top of the function.
    fn map(&self, context: &'c Context, scratch: Val<'c>) -> Result<Val<'c>, Failed> {
        let op = self.load.op();
        let view = View::of(self.load.view()).ok_or_else(|| fail(op, "its view is not made here"))?;
        let made = defining_op(self.load.view()).and_then(MakeTiledViewOp::cast);
        let made = made.ok_or_else(|| fail(op, "its view is not made here"))?;
        let b = Builder::before(context, view.make.op());
        b.set_after(view.make.op());
        b.set_location(op.location());
        let copy = clone_detached(made.op());
        b.insert_op(copy);
        let desc = MakeTiledTmaDescOp::build(&b, self.map, result(copy, 0), scratch);
        desc.map(|d| d.desc()).map_err(|e| fail(op, e.to_string()))
    }
}

/// The change of one product.
struct Rewrite<'c, 'a> {
    context: &'c Context,
    product: &'a Product<'c>,
    ring: &'a Ring<'c>,
    /// Warps that multiply.
    warps: u32,
}

impl<'c> Rewrite<'c, '_> {
    fn run(&self, function: OpRef<'c>) -> Result<(), Failed> {
        let dot = self.product.dot.op();
        let mut chain = vec![];
        let mut at = parent_op(dot);
        while let Some(op) = at.filter(|o| *o != function) {
            chain.push(op);
            at = parent_op(op);
        }
        let carried = if self.promoted() { None } else { self.carried_sum(chain.first().copied()) };
        let inner = chain.first().copied();
        chain.reverse();
        match carried {
            Some(index) => {
                let inner = inner.ok_or_else(|| fail(dot, "product is in no loop"))?;
                chain.pop();
                self.thread(&chain, self.ring.first, &mut |it| self.in_flight(inner, index, it))?;
            }
            None => {
                self.thread(&chain, self.ring.first, &mut |it| self.at_once(it))?;
            }
        }
        for side in &self.product.sides {
            // All that stood between the load and the product.
            erase_users(side.load.result());
            erase(side.load.op());
        }
        Ok(())
    }

    /// The number of the value that a loop carries from one product to the next, if nothing else uses it.
    fn carried_sum(&self, around: Option<OpRef<'c>>) -> Option<usize> {
        let op = around.filter(|o| Scf::of(*o) == Some(Scf::For))?;
        let dot = self.product.dot;
        let body = entry_block(region(op, 0))?;
        let index = args(body).skip(1).position(|a| a == dot.acc())?;
        let last = ops_of(body).last()?;
        let only_yielded = uses(dot.result())[..] == [(last, index)];
        (only_yielded && uses(dot.acc()).len() == 1).then_some(index)
    }

    /// Carries an iterator through loops and branches, from the outside, to where `inner` uses it; its value behind
    /// them.
    fn thread(
        &self,
        chain: &[OpRef<'c>],
        it: Val<'c>,
        inner: &mut dyn FnMut(Val<'c>) -> Result<Val<'c>, Failed>,
    ) -> Result<Val<'c>, Failed> {
        let Some((&op, rest)) = chain.split_first() else { return inner(it) };
        let error = |e: BuildError| fail(op, e.to_string());
        let b = Builder::before(self.context, op);
        let number = result_count(op);
        match Scf::of(op) {
            Some(Scf::For) => {
                let (new, inside) = extend_for(&b, op, &[it]).map_err(error)?;
                let after = self.thread(rest, inside[0], inner)?;
                let body = entry_block(region(new, 0)).ok_or_else(|| fail(new, "loop has no body"))?;
                extend_yield(&b, body, &[after]).map_err(|e| fail(new, e.to_string()))?;
                Ok(result(new, number))
            }
            Some(Scf::If) => {
                // The branch with the product, which moves with its region.
                let home = std::iter::successors(Some(self.product.dot.op()), |o| parent_op(*o))
                    .find(|o| parent_op(*o) == Some(op))
                    .map(block_of);
                let new = extend_if(&b, op, &[ty(it)]).map_err(error)?;
                for i in 0..2 {
                    let block = entry_block(region(new, i)).ok_or_else(|| fail(new, "branch has no block"))?;
                    let after = if Some(block_key(block)) == home { self.thread(rest, it, inner)? } else { it };
                    extend_yield(&b, block, &[after]).map_err(|e| fail(new, e.to_string()))?;
                }
                Ok(result(new, number))
            }
            _ => Err(fail(op, "a product is in a loop without a count")),
        }
    }

    /// A product that is waited for in the next iteration. The iterator behind the loop.
    fn in_flight(&self, op: OpRef<'c>, index: usize, it: Val<'c>) -> Result<Val<'c>, Failed> {
        let b = Builder::before(self.context, op);
        let error = |e: BuildError| fail(self.product.dot.op(), e.to_string());
        let number = result_count(op);
        let never = self.truth(&b, false);
        let (new, inside) = extend_for(&b, op, &[it, it, never]).map_err(error)?;
        let &[now, last, started] = &inside[..] else { return Err(fail(new, "loop lacks carried values")) };
        let body = entry_block(region(new, 0)).ok_or_else(|| fail(new, "loop has no body"))?;
        b.set_before(self.product.dot.op());
        b.set_location(self.product.dot.op().location());
        let sum = self.multiply(&b, now)?;
        replace_all_uses(self.product.dot.result(), sum);
        AsyncDotWaitOp::build(&b, &[], &[], i64_attr(self.context, 1)).map_err(error)?;
        ConsumerReleaseOp::build(&b, self.ring.pipeline, last, Some(started)).map_err(error)?;
        let next = IncIterOp::build(&b, ty(now), now, self.ring.pipeline).map_err(error)?.next();
        let always = self.truth(&b, true);
        erase(self.product.dot.op());
        extend_yield(&b, body, &[next, now, always]).map_err(error)?;

        b.set_after(new);
        b.set_location(new.location());
        let sums = result(new, index);
        let wait = AsyncDotWaitOp::build(&b, &[ty(sums)], &[sums], i64_attr(self.context, 0)).map_err(error)?;
        for (user, i) in uses(sums) {
            if user != wait.op() {
                set_operand(user, i, result(wait.op(), 0));
            }
        }
        let (last, started) = (result(new, number + 1), result(new, number + 2));
        ConsumerReleaseOp::build(&b, self.ring.pipeline, last, Some(started)).map_err(error)?;
        Ok(result(new, number))
    }

    /// A product that is waited for at once. The next iterator.
    fn at_once(&self, it: Val<'c>) -> Result<Val<'c>, Failed> {
        let dot = self.product.dot;
        let error = |e: BuildError| fail(dot.op(), e.to_string());
        let b = Builder::before(self.context, dot.op());
        let mut sum = self.multiply(&b, it)?;
        if !self.promoted() {
            let wait = AsyncDotWaitOp::build(&b, &[ty(sum)], &[sum], i64_attr(self.context, 0)).map_err(error)?;
            sum = result(wait.op(), 0);
        }
        ConsumerReleaseOp::build(&b, self.ring.pipeline, it, None).map_err(error)?;
        let next = IncIterOp::build(&b, ty(it), it, self.ring.pipeline).map_err(error)?.next();
        replace_all_uses(dot.result(), sum);
        erase(dot.op());
        Ok(next)
    }

    /// Whether the sums of the tensor cores are not exact enough: those of 8-bit floats.
    fn promoted(&self) -> bool {
        let element = Tensor::of_value(self.product.dot.lhs()).and_then(|t| element_of(t.element, false));
        matches!(element, Some(Element::E4m3 | Element::E5m2)) && !self.product.dot.fast_acc()
    }

    /// Fills a stage, waits for it and starts the product; its result.
    fn multiply(&self, b: &Builder<'c>, it: Val<'c>) -> Result<Val<'c>, Failed> {
        let dot = self.product.dot;
        let error = |e: BuildError| fail(dot.op(), e.to_string());
        let pipeline = self.ring.pipeline;

        let region = Region::new();
        let program = append_block(&region, &[], dot.op().location());
        let inside = Builder::at_end(self.context, program, dot.op().location());
        let bytes = self.product.sides.iter().map(|s| i64::from(s.bytes)).sum();
        let token = ProducerTokenType::get(dot.op().location()).ok_or_else(|| fail(dot.op(), "no type of tokens"))?;
        let acquired = ProducerAcquireOp::build(&inside, token.into(), pipeline, it, i64_attr(self.context, bytes))
            .map_err(error)?;
        let slots = self.slots(&inside, it)?;
        for ((side, slot), map) in self.product.sides.iter().zip(&slots).zip(&self.ring.maps) {
            let indices: Vec<Val<'c>> = side.load.indices().collect();
            inside.set_location(side.load.op().location());
            AsyncTiledTmaLoadOp::build(&inside, side.load.view(), &indices, *map, *slot, acquired.token())
                .map_err(error)?;
        }
        ElectOp::build(b, region).map_err(error)?;

        let waited = ConsumerTokenType::get(dot.op().location());
        let waited = waited.ok_or_else(|| fail(dot.op(), "no type of tokens"))?;
        ConsumerWaitOp::build(b, waited.into(), pipeline, it).map_err(error)?;
        let slots = prepare::prepare(b, self.product, &self.slots(b, it)?, self.warps)?;
        let mut operands = vec![];
        for (side, slot) in self.product.sides.iter().zip(slots) {
            let mut memory = slot;
            for op in &side.operand.moved {
                memory = reshaped(b, *op, memory)?;
            }
            operands.push(memory);
        }
        let by = attr(dot.op(), "instruction").ok_or_else(|| fail(dot.op(), "no instruction"))?;
        let (t, lhs, rhs, acc) = (ty(dot.result()), operands[0], operands[1], dot.acc());
        if self.promoted() {
            let depth = Tensor::of_value(dot.lhs()).map_or(0, |t| t.shape[1]).min(PROMOTION.into());
            let product = PromotedDotOp::build(b, t, lhs, rhs, acc, by, i64_attr(self.context, depth));
            return Ok(product.map_err(error)?.result());
        }
        let product = AsyncDotOp::build(b, t, lhs, rhs, acc, by, dot.lhs_unsigned(), dot.rhs_unsigned());
        Ok(product.map_err(error)?.result())
    }

    /// The iterator's stage of each storage.
    fn slots(&self, b: &Builder<'c>, it: Val<'c>) -> Result<Vec<Val<'c>>, Failed> {
        let error = |e: BuildError| fail(self.product.dot.op(), e.to_string());
        let stage = StageOp::build(b, IntegerType::new(self.context, 32).into(), it).map_err(error)?.index();
        let sides = self.product.sides.iter().zip(&self.ring.storages);
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

fn iterator_type(op: OpRef<'_>) -> Result<Type<'_>, Failed> {
    PipelineIteratorType::get(op.location()).map(Into::into).ok_or_else(|| fail(op, "no type of iterators"))
}

/// What `op` does to a tensor, done to storage of one.
fn reshaped<'c>(b: &Builder<'c>, op: OpRef<'c>, memory: Val<'c>) -> Result<Val<'c>, Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let from = MemDescType::cast(ty(memory)).ok_or_else(|| fail(op, "not a memdesc"))?;
    let to = Tensor::of_value(result(op, 0)).ok_or_else(|| fail(op, "result is no tensor"))?;
    let bases: Vec<u64> = SharedLayoutAttr::cast(from.layout().ok_or_else(|| fail(op, "storage has no layout"))?)
        .map(|l| l.offsets().iter().map(|&b| b as u64).collect())
        .ok_or_else(|| fail(op, "storage has no layout"))?;
    let Some(permute) = PermuteOp::cast(op) else {
        let desc = aligned_storage_type(op, &to.shape, from.element_type(), &bases, from.alignment()).map_err(error)?;
        return Ok(MemDescViewOp::build(b, desc.into(), memory).map_err(error)?.result());
    };
    let order: Vec<i32> = permute.order().to_vec();
    let (source, target) = (from.shape().to_vec(), to.shape.clone());
    // Where an element's index goes when its coordinates change places.
    let moved = |index: u64| {
        let mut rest = index;
        let mut coordinates = vec![0; source.len()];
        for d in (0..source.len()).rev() {
            coordinates[d] = rest % source[d] as u64;
            rest /= source[d] as u64;
        }
        order.iter().zip(&target).fold(0, |out, (&d, &extent)| out * extent as u64 + coordinates[d as usize])
    };
    let bases: Vec<u64> = bases.into_iter().map(moved).collect();
    let desc = aligned_storage_type(op, &to.shape, from.element_type(), &bases, from.alignment()).map_err(error)?;
    let order = attr(op, "order").ok_or_else(|| fail(op, "no order"))?;
    Ok(MemDescPermuteOp::build(b, desc.into(), memory, order).map_err(error)?.result())
}

/// Erases ops that nothing uses any more, from the last user of `v` on.
fn erase_users(v: Val<'_>) {
    for (user, _) in uses(v) {
        results(user).for_each(erase_users);
        erase(user);
    }
}
