//! `tileas-unspecialized-pipeline`: loads of the iterations to come run while products of the present one are computed.
//!
//! A loop is pipelined when it has loads whose only purpose is an operand of a matrix product. With `S` stages
//!
//! ```text
//! for i { a = load(i); x = convert_layout a; c = dot x, ..., c }
//! ```
//!
//! becomes, with a ring of `S` tiles in shared memory,
//!
//! ```text
//! for s in 0 .. S-1 { if s < n { ring[s] <- load(s) }; group }                   prologue: S-1 groups
//! for i {
//!   wait until at most S-2 groups are pending                                    the group of iteration i is done
//!   barrier
//!   if i + S-1 < n { ring[(i + S-1) % S] <- load(i + S-1) }; group
//!   x = local_load ring[i % S]; c = dot x, ..., c
//! }
//! ```
//!
//! One barrier an iteration is enough: behind it all threads see the tile of iteration `i`, and all have read the tile
//! of iteration `i - 1`, whose place is the one that is filled next. The last iterations start no copies but close
//! their (empty) groups, so that the same count of pending groups is right in all of them; a wait behind the loop says
//! that nothing is left.
//!
//! Starting a load early is legal because tokens say so: its token is made outside of the loop, so no access in the
//! loop precedes it, and nobody waits for the token that it returns. Its address must follow from the loop's counter
//! and from what does not change in the loop; the ops that compute it are cloned for the iteration ahead.
//!
//! A left operand that the loop does not change, such as the queries of attention, would live in registers next to all
//! accumulators. Where they are short, it stays in shared memory like a tile of the ring, and is read for each product.
//!
//! `cp.async` moves 4, 8 or 16 bytes and fills up with zeros. Loads of narrower vectors or with other paddings stay as
//! they are.

use crate::{
    analysis::{
        access::{View, fast_dimension},
        registers::{register_bits, words},
        warps::warps_of,
    },
    dialect::{
        behaviour::{self, LayoutRelation},
        dots::{AnyDot, LHS},
        layouts::{Tensor, layout_attr, memory_bits, storage_bits},
        nv_tileaa::{self, Ordering, Padding},
        nv_tileas::{
            AllocTensorOp, AsyncCommitOp, AsyncLoadOp, AsyncTiledLoadOp, AsyncTokenType, AsyncWaitOp, BarrierOp,
            ConvertLayoutOp, LoadOp, LocalLoadOp, LocalStoreOp, MemDescSlotOp, MemDescType, SplatOp, TiledLoadOp,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        remark::{self, remark},
        rt::*,
        shared_memory::{memdesc_bytes, padded_bytes, storage_type, with_stages},
        target::target,
        upstream::Scf,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{
        Attribute, AttributeLike, Region, RegionLike, Type, TypeLike, ValueLike, attribute::IntegerAttribute,
        operation::OperationLike, r#type::IntegerType,
    },
};
use mlir_sys::*;
use rustc_hash::FxHashMap;
use tile_layout::{AccessMode, Run, SharedOptions, plan_shared};
use tile_targets::Target;

mod declined;

#[derive(Clone, Default)]
pub struct UnspecializedPipeline;

impl RustPass for UnspecializedPipeline {
    pass_descriptor!(tileas_unspecialized_pipeline);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_unspecialized_pipeline::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        let most = Options(cx).num_stages();
        if most < 1 {
            return Err(fail(op, format!("unspecialized-pipeline-num-stages must be positive, got {most}")));
        }
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            warps_of(function)?;
            let mut loops = vec![];
            walk(function.op(), &mut |o| {
                if Scf::of(o) == Some(Scf::For) {
                    loops.push(o);
                }
            });
            // Inner loops first: outer ones must leave room for their rings.
            for op in loops.into_iter().rev() {
                let found = Loop::find(op);
                declined::remark_on_loads(op, found.as_ref());
                let Some(mut found) = found else { continue };
                let stages = found.stages(target, most);
                found.remark_on_stages(stages, target, most);
                if stages < 2 {
                    continue;
                }
                cx.stat_add(stat::NUM_LOOPS, 1);
                cx.stat_add(stat::NUM_LOADS, found.loads.len() as i64);
                found.pipeline(stages, context)?;
            }
        }
        Ok(())
    }
}

/// A load that can be a copy into a ring, with the conversion that is its only user.
struct RingLoad<'c> {
    op: OpRef<'c>,
    convert: ConvertLayoutOp<'c>,
    /// One stage.
    desc: MemDescType<'c>,
    /// Elements that one instruction reads from it.
    vector: u32,
    /// Ops of the body that compute its operands, in order.
    slice: Vec<OpRef<'c>>,
}

/// A left operand from outside of the loop that is read from shared memory in it.
struct Resident<'c> {
    convert: ConvertLayoutOp<'c>,
    /// From the conversion to the product.
    views: Vec<OpRef<'c>>,
    dot: AnyDot<'c>,
    desc: MemDescType<'c>,
    /// Elements that one instruction writes and reads.
    vectors: [u32; 2],
}

struct Loop<'c> {
    op: OpRef<'c>,
    loads: Vec<RingLoad<'c>>,
    residents: Vec<Resident<'c>>,
}

/// Registers that accumulators and a left operand may take together all through a loop, and those of an operand that is
/// worth a trip.
const RESIDENT_BUDGET: u64 = 144;
const RESIDENT_WORDS: u64 = 32;

impl<'c> Loop<'c> {
    /// None when nothing in the loop can be copied ahead.
    fn find(op: OpRef<'c>) -> Option<Self> {
        let body = entry_block(region(op, 0))?;
        // Iterations ahead are numbered in 64 bits. Counters of 64 bits need steps whose multiples do not overflow.
        // SAFETY: loops count in integers.
        let width = unsafe { mlirIntegerTypeGetWidth(ty(arg(body, 0)).to_raw()) };
        let step = defining_op(operand(op, 2)).filter(|o| behaviour::is_constant(*o)).and_then(|o| attr(o, "value"));
        if width > 32 && !step.is_some_and(|s| (1..1 << 32).contains(&int_attr(s))) {
            return None;
        }
        let loads: Vec<RingLoad<'c>> = ops_of(body).filter_map(|load| RingLoad::of(load, op, body)).collect();
        let dots: Vec<AnyDot<'c>> = ops_of(body).filter_map(AnyDot::cast).collect();
        let taken = |v: Val<'c>| Tensor::of_value(v).map_or(0, |t| words(t.element, register_bits(v).unwrap_or(0)));
        let sums: u64 = dots.iter().map(|d| taken(d.result())).sum();
        let is_short = |d: &AnyDot<'c>| taken(d.lhs()) >= RESIDENT_WORDS && sums + taken(d.lhs()) > RESIDENT_BUDGET;
        let residents = dots.iter().filter(|d| is_short(d)).filter_map(|d| Resident::of(*d, op)).collect();
        (!loads.is_empty()).then_some(Self { op, loads, residents })
    }

    /// As many as fit, with what else the body keeps in shared memory. Operands stay there if that leaves two stages.
    fn stages(&mut self, target: &Target, most: i64) -> i64 {
        let resident = self.residents.iter().map(|r| padded_bytes(r.desc)).sum();
        let stages = self.stages_beside(resident, target, most);
        if stages >= 2 || resident == 0 {
            return stages;
        }
        self.residents.clear();
        self.stages_beside(0, target, most)
    }

    fn stages_beside(&self, resident: u64, target: &Target, most: i64) -> i64 {
        let (mut inner, mut scratch) = (resident, 0);
        walk(self.op, &mut |o| {
            if let Some(desc) = AllocTensorOp::cast(o).and_then(|a| MemDescType::cast(ty(a.result()))) {
                inner += memdesc_bytes(desc);
            }
            // Other conversions through shared memory happen one after the other.
            if let Some(c) = ConvertLayoutOp::cast(o)
                && self.loads.iter().all(|l| l.convert.op() != o)
                && behaviour::moves_between_threads(c.op())
                && let Some(t) = Tensor::of_value(c.result())
            {
                scratch = scratch.max(t.elements() as u64 * u64::from(storage_bits(t.element)) / 8);
            }
        });
        let stage: u64 = self.loads.iter().map(|l| padded_bytes(l.desc)).sum();
        let left = u64::from(target.limits.static_shared_per_block).saturating_sub(inner + scratch);
        most.min((left / stage.max(1)) as i64)
    }

    /// Tells why the ring has fewer stages than it may, or why there is none.
    fn remark_on_stages(&self, stages: i64, target: &Target, most: i64) {
        if stages >= most || most < 2 {
            return;
        }
        let stage: u64 = self.loads.iter().map(|l| padded_bytes(l.desc)).sum();
        let all = target.limits.static_shared_per_block;
        let suggestion = "take smaller tiles";
        if stages < 2 {
            let reason = format!("no load is started ahead: a stage takes {stage} of {all} bytes of shared memory");
            remark(self.op, remark::NOT_PIPELINED, reason, suggestion);
        } else {
            let reason =
                format!("{stages} stages instead of {most}: each takes {stage} of {all} bytes of shared memory");
            remark(self.op, remark::FEWER_STAGES, reason, suggestion);
        }
    }

    fn pipeline(&self, stages: i64, context: &'c Context) -> Result<(), Failed> {
        let op = self.op;
        let error = |e: &dyn std::fmt::Display| fail(op, e.to_string());
        let body = entry_block(region(op, 0)).ok_or_else(|| fail(op, "loop has no body"))?;
        let b = Builder::before(context, op);
        let a = Arithmetic { b: &b, context };
        let (lower, upper, step) = (operand(op, 0), operand(op, 1), operand(op, 2));
        let unsigned = attr(op, "unsignedCmp").is_some();
        let counter = ty(lower);

        let mut rings = vec![];
        for load in &self.loads {
            let desc =
                with_stages(load.op, load.desc, stages).ok_or_else(|| fail(load.op, "no ring can hold this tile"))?;
            rings.push(AllocTensorOp::build(&b, desc.into(), None).map_err(|e| error(&e))?.result());
        }
        if shared_memory_before(op) {
            // The last readers of these bytes are done.
            BarrierOp::build(&b, None, None).map_err(|e| error(&e))?;
        }
        for resident in &self.residents {
            resident.keep(&b).map_err(|e| error(&e))?;
        }
        // Everything about iterations ahead is computed in 64 bits, which do not overflow.
        let [lower64, upper64, step64] = [lower, upper, step].map(|v| a.extend(v, unsigned));
        // How far the iteration is from the end, without a sign, where it is before the end.
        let exists = |a: &Arithmetic<'_, 'c>, here: Val<'c>, distance: Val<'c>| {
            a.less(distance, a.subtract(upper64, here), true)
        };
        let token_type: Type<'c> = async_token(op)?;
        let mut groups = vec![];
        let any = a.less(lower64, upper64, unsigned);
        for s in 0..stages - 1 {
            let distance = a.mul(step64, a.constant64(s));
            let ahead = if s == 0 { lower } else { a.truncate(a.add(lower64, distance), counter) };
            let predicate = if s == 0 { any } else { a.both(any, exists(&a, lower64, distance)) };
            let slot = a.constant32(s);
            groups.push(self.copies(&b, arg(body, 0), ahead, predicate, slot, &rings, token_type)?);
        }

        // The loop again, with the stages that are read and written and the groups under way as carried values.
        let fixed = operand_count(op);
        let carried = fixed - 3;
        let (read, write) = (a.constant32(0), a.constant32(stages - 1));
        let mut inits: Vec<Val<'c>> = operands(op).collect();
        inits.extend([read, write]);
        inits.extend(&groups);
        let extra: Vec<Type<'c>> = inits[fixed..].iter().map(|v| ty(*v)).collect();
        let mut types: Vec<Type<'c>> = results(op).map(ty).collect();
        types.extend(&extra);
        let mut state = b.state("scf.for");
        state.results(&types);
        state.operands(&inits);
        if unsigned {
            state.attr("unsignedCmp", b.unit());
        }
        let region_of_new = Region::new();
        state.region(region_of_new);
        let new = b.insert(state).map_err(|e| error(&e))?;
        // SAFETY: both ops are alive; the old one gives its body up.
        let body = unsafe {
            mlirRegionTakeBody(region(new, 0).to_raw(), region(op, 0).to_raw());
            let body = entry_block(region(new, 0)).ok_or_else(|| fail(new, "loop has no body"))?;
            for t in &extra {
                mlirBlockAddArgument(body.to_raw(), t.to_raw(), op.location().to_raw());
            }
            body
        };
        let mine: Vec<Val<'c>> = args(body).skip(1 + carried).collect();
        let (read, write, groups) = (mine[0], mine[1], &mine[2..]);

        b.set_start(body);
        AsyncWaitOp::build(&b, &groups[..1], i64_attr(context, stages - 2)).map_err(|e| error(&e))?;
        BarrierOp::build(&b, None, None).map_err(|e| error(&e))?;
        let (here, distance) = (a.extend(arg(body, 0), unsigned), a.mul(step64, a.constant64(stages - 1)));
        let ahead = a.truncate(a.add(here, distance), counter);
        let predicate = exists(&a, here, distance);
        let group = self.copies(&b, arg(body, 0), ahead, predicate, write, &rings, token_type)?;

        for (load, ring) in self.loads.iter().zip(&rings) {
            // As late as can be: operands of a product should not wait in registers for what else the iteration does.
            b.set_before(first_user(load.convert.result(), body).unwrap_or(load.convert.op()));
            b.set_location(load.op.location());
            let slot = MemDescSlotOp::build(&b, load.desc.into(), *ring, read).map_err(|e| error(&e))?;
            let vector = i64_attr(context, load.vector.into());
            let value =
                LocalLoadOp::build(&b, ty(load.convert.result()), slot.result(), vector).map_err(|e| error(&e))?;
            replace_all_uses(load.convert.result(), value.result());
            erase(load.convert.op());
            erase(load.op);
        }
        let last = ops_of(body).last().ok_or_else(|| fail(new, "loop has no terminator"))?;
        b.set_before(last);
        let mut yields: Vec<Val<'c>> = operands(last).collect();
        yields.extend([a.next(read, stages), a.next(write, stages)]);
        yields.extend(&groups[1..]);
        yields.push(group);
        let mut state = b.state("scf.yield");
        state.operands(&yields);
        b.insert(state).map_err(|e| error(&e))?;
        erase(last);
        for (old, new) in results(op).zip(results(new)) {
            replace_all_uses(old, new);
        }
        // The last groups are empty: this costs nothing and says so.
        b.set_after(new);
        b.set_location(op.location());
        let left: Vec<Val<'c>> = results(new).skip(carried + 2).collect();
        AsyncWaitOp::build(&b, &left, i64_attr(context, 0)).map_err(|e| error(&e))?;
        erase(op);
        self.erase_unused(body);
        Ok(())
    }

    /// Starts the copies of the iteration numbered `ahead` into `slot`; the token of their group.
    #[allow(clippy::too_many_arguments)]
    fn copies(
        &self,
        b: &Builder<'c>,
        counter: Val<'c>,
        ahead: Val<'c>,
        predicate: Val<'c>,
        slot: Val<'c>,
        rings: &[Val<'c>],
        token: Type<'c>,
    ) -> Result<Val<'c>, Failed> {
        let mut map: FxHashMap<usize, Val<'c>> = FxHashMap::default();
        map.insert(key(counter), ahead);
        let mut done = vec![];
        for (load, ring) in self.loads.iter().zip(rings) {
            b.set_location(load.op.location());
            for &op in &load.slice {
                if results(op).all(|r| map.contains_key(&key(r))) {
                    continue;
                }
                // SAFETY: `op` is alive; the clone is owned by the block it goes into.
                let copy = op_ref(unsafe { mlirOperationClone(op.to_raw()) });
                for (i, v) in operands(op).enumerate() {
                    if let Some(new) = map.get(&key(v)) {
                        set_operand(copy, i, *new);
                    }
                }
                b.insert_op(copy);
                for (old, new) in results(op).zip(results(copy)) {
                    map.insert(key(old), new);
                }
            }
            let of = |v: Val<'c>| map.get(&key(v)).copied().unwrap_or(v);
            let stage =
                MemDescSlotOp::build(b, load.desc.into(), *ring, slot).map_err(|e| fail(load.op, e.to_string()))?;
            let copy = load.build(b, stage.result(), predicate, of, token)?;
            done.push(copy);
        }
        AsyncCommitOp::build(b, token, &done).map(|c| c.group()).map_err(|e| fail(self.op, e.to_string()))
    }

    /// What only the loads needed.
    fn erase_unused(&self, body: Blk<'c>) {
        let mut slices: Vec<OpRef<'c>> = vec![];
        for load in &self.loads {
            slices.extend(&load.slice);
        }
        let keys: Vec<usize> = slices.iter().map(|o| op_key(*o)).collect();
        let mut present: Vec<OpRef<'c>> = ops_of(body).filter(|o| keys.contains(&op_key(*o))).collect();
        present.reverse();
        for op in present {
            if results(op).all(|r| !has_uses(r)) {
                erase(op);
            }
        }
    }
}

impl<'c> Resident<'c> {
    /// None unless the left operand of `dot` is brought to its layout in front of the loop, for this product alone.
    fn of(dot: AnyDot<'c>, parent: OpRef<'c>) -> Option<Self> {
        let (mut v, mut views) = (dot.lhs(), vec![]);
        let convert = loop {
            let op = defining_op(v).filter(|_| !is_inside(v, parent) && uses(v).len() == 1)?;
            if let Some(convert) = ConvertLayoutOp::cast(op) {
                break convert;
            }
            if behaviour::layout_relation(op) != LayoutRelation::Reshape {
                return None;
            }
            views.push(op);
            v = operand(op, 0);
        };
        if !behaviour::moves_between_threads(convert.op()) || parent_op(convert.op()) != parent_op(parent) {
            return None;
        }
        views.reverse();
        let tensor = Tensor::of_value(convert.source())?;
        let (from, to) = (tensor.layout()?, Tensor::of_value(convert.result())?.layout()?);
        let options = SharedOptions { ldmatrix: true, ..SharedOptions::new(storage_bits(tensor.element)) };
        let plan = plan_shared(&from, &to, &tensor.tile_shape(), &options).ok()?;
        let op = convert.op();
        let desc = storage_type(op, &tensor.shape, tensor.element, plan.layout.bases()).ok()?;
        let vectors = [&plan.store, &plan.load].map(|access| match access.mode {
            AccessMode::Vector { elements } | AccessMode::Matrix { elements, .. } => elements,
        });
        Some(Self { convert, views, dot, desc, vectors })
    }

    /// Stores the operand in front of the loop, and reads it in front of the product. The barrier at the head of an
    /// iteration stands between them.
    fn keep(&self, b: &Builder<'c>) -> Result<(), BuildError> {
        let context = b.context();
        let storage = AllocTensorOp::build(b, self.desc.into(), None)?.result();
        let [store, load] = self.vectors.map(|v| i64_attr(context, v.into()));
        LocalStoreOp::build(b, self.convert.source(), storage, store)?;
        let inside = Builder::before(context, self.dot.op());
        let mut value = LocalLoadOp::build(&inside, ty(self.convert.result()), storage, load)?.result();
        for &view in &self.views {
            // SAFETY: `view` is alive; the clone is owned by the block it goes into.
            let copy = op_ref(unsafe { mlirOperationClone(view.to_raw()) });
            set_operand(copy, 0, value);
            inside.insert_op(copy);
            value = result(copy, 0);
        }
        set_operand(self.dot.op(), LHS, value);
        self.views.iter().rev().for_each(|&view| erase(view));
        erase(self.convert.op());
        Ok(())
    }
}

impl<'c> RingLoad<'c> {
    fn of(op: OpRef<'c>, parent: OpRef<'c>, body: Blk<'c>) -> Option<Self> {
        let (value, token_out, token_in, ordering) = if let Some(x) = TiledLoadOp::cast(op) {
            let view = View::of(x.view())?;
            let zeros = matches!(view.ty.padding(), None | Some(Padding::Zero));
            if !zeros || view.ty.sparse_dim().is_some() {
                return None;
            }
            (x.result(), x.result_token(), x.token(), x.ordering())
        } else {
            let x = LoadOp::cast(op)?;
            if !x.other().is_none_or(is_zero) {
                return None;
            }
            (x.result(), x.result_token(), x.token(), x.ordering())
        };
        let tensor = Tensor::of_value(value)?;
        let [(user, _)] = uses(value)[..] else { return None };
        let convert = ConvertLayoutOp::cast(user)?;
        let alone = ordering == Ordering::Weak && !has_uses(token_out);
        let early = token_in.is_none_or(|t| !is_inside(t, parent));
        if !alone || !early || !behaviour::moves_between_threads(convert.op()) || !feeds_dot(convert.result()) {
            return None;
        }
        // A ring that both sides reach without bank conflicts, by copies as wide as the load.
        let (from, to) = (tensor.layout()?, Tensor::of_value(convert.result())?.layout()?);
        let (vector, dim) = if let Some(x) = TiledLoadOp::cast(op) {
            (x.vector(), fast_dimension(&View::of(x.view())?))
        } else {
            let x = LoadOp::cast(op)?;
            (x.vector(), x.along().unwrap_or(0) as usize)
        };
        let bits = storage_bits(tensor.element);
        let bytes = vector as u64 * u64::from(bits / 8);
        // A copy does not take bytes apart.
        if memory_bits(tensor.element) != bits || !matches!(bytes, 4 | 8 | 16) {
            return None;
        }
        let shape = tensor.tile_shape();
        let run = Run { low: shape.field(dim).ok()?.0, log2: vector.ilog2() };
        let options = SharedOptions { ldmatrix: true, run: Some(run), ..SharedOptions::new(bits) };
        let plan = plan_shared(&from, &to, &shape, &options).ok()?;
        plan.store.runs(&from, &shape, dim, vector as u32, bytes)?;
        let desc = storage_type(op, &tensor.shape, tensor.element, plan.layout.bases()).ok()?;
        let slice = slice(op, body)?;
        let (AccessMode::Vector { elements: vector } | AccessMode::Matrix { elements: vector, .. }) = plan.load.mode;
        Some(Self { op, convert, desc, vector, slice })
    }

    /// The copy in place of the load, with operands as `of` says; its token.
    fn build(
        &self,
        b: &Builder<'c>,
        dest: Val<'c>,
        predicate: Val<'c>,
        of: impl Fn(Val<'c>) -> Val<'c>,
        token: Type<'c>,
    ) -> Result<Val<'c>, Failed> {
        let error = |e: BuildError| fail(self.op, e.to_string());
        let context = b.context();
        if let Some(x) = TiledLoadOp::cast(self.op) {
            let indices: Vec<Val<'c>> = x.indices().map(&of).collect();
            let layout = Tensor::of_value(x.result())
                .and_then(|t| t.layout())
                .ok_or_else(|| fail(self.op, "tensor has no layout"))?;
            let (layout, vector) = (layout_attr(context, &layout), i64_attr(context, x.vector()));
            let in_bounds = attr(self.op, "inBounds");
            return AsyncTiledLoadOp::build(
                b,
                token,
                ty(x.result_token()),
                of(x.view()),
                &indices,
                dest,
                Some(predicate),
                x.token(),
                x.hints(),
                layout,
                vector,
                x.bounds(),
                in_bounds,
            )
            .map(|c| c.done())
            .map_err(error);
        }
        let x = LoadOp::cast(self.op).ok_or_else(|| fail(self.op, "not a load that can be copied"))?;
        let vector = i64_attr(context, x.vector());
        let along = attr(self.op, "along");
        let (ptr, mask) = (of(x.ptr()), x.mask().map(&of));
        AsyncLoadOp::build(
            b,
            token,
            ty(x.result_token()),
            ptr,
            mask,
            dest,
            Some(predicate),
            x.token(),
            x.hints(),
            vector,
            along,
        )
        .map(|c| c.done())
        .map_err(error)
    }
}

/// The ops of the body that the operands of `op` need, in order; none when one of them cannot be computed for another
/// iteration: it has effects, or comes from a value that the loop carries.
fn slice<'c>(op: OpRef<'c>, body: Blk<'c>) -> Option<Vec<OpRef<'c>>> {
    let mut needed: FxHashMap<usize, ()> = FxHashMap::default();
    let mut work: Vec<Val<'c>> = operands(op).collect();
    while let Some(v) = work.pop() {
        if v == arg(body, 0) {
            continue;
        }
        if args(body).any(|a| a == v) {
            return None;
        }
        let Some(producer) = defining_op(v) else { continue };
        if !ops_of(body).any(|o| op_key(o) == op_key(producer)) {
            // Outside of the loop, or inside of a nested region, which cannot be seen from here.
            continue;
        }
        if !behaviour::computes_speculatively(producer) {
            return None;
        }
        if needed.insert(op_key(producer), ()).is_none() {
            work.extend(operands(producer));
        }
    }
    Some(ops_of(body).filter(|o| needed.contains_key(&op_key(*o))).collect())
}

/// Whether the value becomes an operand of a product, perhaps widened, in another shape or layout.
fn feeds_dot(v: Val<'_>) -> bool {
    uses(v).iter().any(|(user, _)| {
        let moved = matches!(behaviour::layout_relation(*user), LayoutRelation::Reshape | LayoutRelation::Permute);
        let through = moved || ConvertLayoutOp::cast(*user).is_some() || behaviour::widens(*user);
        AnyDot::cast(*user).is_some() || (through && feeds_dot(result(*user, 0)))
    })
}

/// The first op of the block that uses the value, itself or inside of it.
fn first_user<'c>(v: Val<'c>, block: Blk<'c>) -> Option<OpRef<'c>> {
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

/// Whether a value is computed in the op's region.
fn is_inside<'c>(v: Val<'c>, op: OpRef<'c>) -> bool {
    let mut at = match defining_op(v) {
        Some(producer) => parent_op(producer),
        // SAFETY: `v` is a block argument of live IR.
        None => Some(op_ref(unsafe { mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v.to_raw())) })),
    };
    while let Some(p) = at {
        if p == op {
            return true;
        }
        at = parent_op(p);
    }
    false
}

/// Whether the tensor is all zeros.
fn is_zero(v: Val<'_>) -> bool {
    let constant = |op: OpRef<'_>| -> bool {
        let Some(value) = attr(op, "value") else { return false };
        // SAFETY: the attribute is asked for its kind before it is read as one.
        unsafe {
            let raw = value.to_raw();
            let scalar = match mlirAttributeIsADenseElements(raw) {
                true if !mlirDenseElementsAttrIsSplat(raw) => return false,
                true => mlirDenseElementsAttrGetSplatValue(raw),
                false => raw,
            };
            if mlirAttributeIsAInteger(scalar) {
                return mlirIntegerAttrGetValueInt(scalar) == 0;
            }
            // The zero with a sign has another bit pattern.
            mlirAttributeIsAFloat(scalar) && mlirFloatAttrGetValueDouble(scalar).to_bits() == 0
        }
    };
    match defining_op(v) {
        Some(op) if behaviour::is_constant(op) => constant(op),
        Some(op) => SplatOp::cast(op).is_some_and(|splat| is_zero(splat.source())),
        None => false,
    }
}

/// Whether shared memory may still be in use when the loop is reached: by another iteration of a loop around, or by
/// what stands before it.
fn shared_memory_before(op: OpRef<'_>) -> bool {
    let mut function = op;
    while let Some(p) = parent_op(function) {
        if behaviour::is_loop(p) {
            return true;
        }
        if nv_tileaa::FuncOp::cast(function).is_some() {
            break;
        }
        function = p;
    }
    let (mut before, mut found) = (true, false);
    walk(function, &mut |o| {
        before &= o != op;
        found |= before && region_count(o) == 0 && behaviour::uses_shared_memory(o);
    });
    found
}

fn async_token(op: OpRef<'_>) -> Result<Type<'_>, Failed> {
    AsyncTokenType::get(op.location()).map(Into::into).ok_or_else(|| fail(op, "no type of asynchronous tokens"))
}

/// Scalar arithmetic of the loop's control.
struct Arithmetic<'b, 'c> {
    b: &'b Builder<'c>,
    context: &'c Context,
}

impl<'c> Arithmetic<'_, 'c> {
    fn int(&self, width: u32) -> Type<'c> {
        IntegerType::new(self.context, width).into()
    }
    fn constant(&self, width: u32, value: i64) -> Val<'c> {
        let t = self.int(width);
        let value: Attribute<'c> = IntegerAttribute::new(t, value).into();
        self.b.value("arith.constant", t, &[], &[("value", value)])
    }
    fn constant32(&self, value: i64) -> Val<'c> {
        self.constant(32, value)
    }
    fn constant64(&self, value: i64) -> Val<'c> {
        self.constant(64, value)
    }
    fn add(&self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.b.value("arith.addi", ty(x), &[x, y], &[])
    }
    fn subtract(&self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.b.value("arith.subi", ty(x), &[x, y], &[])
    }
    fn both(&self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.b.value("arith.andi", ty(x), &[x, y], &[])
    }
    fn mul(&self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.b.value("arith.muli", ty(x), &[x, y], &[])
    }
    /// The loop's values as the loop compares them.
    fn extend(&self, v: Val<'c>, unsigned: bool) -> Val<'c> {
        if ty(v) == self.int(64) {
            return v;
        }
        self.b.value(if unsigned { "arith.extui" } else { "arith.extsi" }, self.int(64), &[v], &[])
    }
    fn truncate(&self, v: Val<'c>, to: Type<'c>) -> Val<'c> {
        if ty(v) == to {
            return v;
        }
        self.b.value("arith.trunci", to, &[v], &[])
    }
    fn compare(&self, predicate: i64, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        let predicate: Attribute<'c> = IntegerAttribute::new(self.int(64), predicate).into();
        self.b.value("arith.cmpi", self.int(1), &[x, y], &[("predicate", predicate)])
    }
    fn less(&self, x: Val<'c>, y: Val<'c>, unsigned: bool) -> Val<'c> {
        self.compare(if unsigned { 6 } else { 2 }, x, y)
    }
    /// The stage after `stage`.
    fn next(&self, stage: Val<'c>, stages: i64) -> Val<'c> {
        let after = self.add(stage, self.constant32(1));
        let wraps = self.compare(0, after, self.constant32(stages));
        self.b.value("arith.select", ty(stage), &[wraps, self.constant32(0), after], &[])
    }
}
