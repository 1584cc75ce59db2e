//! `tileas-remove-layout-conversions` assigns one layout to as much of the program as possible.
//!
//! Layout conversions cost shuffles or a round trip through shared memory. The pass drops all of them and assigns
//! layouts again:
//!
//! 1. *Anchors* are dots, and global memory accesses, heaviest first (bytes moved times an assumed trip count of
//!    eight for each enclosing loop), in their current layouts. A dot never changes its layouts; an access may. The
//!    layouts of a dot's left and right operands are only useful for the dot, because they replicate elements in many
//!    warps. They flood only the widening casts and shape changes before the dot, so that narrow elements are moved,
//!    except for a left operand of `wgmma` that consumers compute from a tile in a stage, and for scale factors that
//!    consumers of `mma.sync` load.
//! 2. An anchor's layout *floods* the def-use graph, forward and backward, through every op for which the layout on
//!    one side determines the layout on the other: elementwise ops, scans, loop-carried values, `view`, `permute`,
//!    `cat`, `pack` and `unpack`, `broadcast` toward its source, and `reduce` toward its results. It flows forward
//!    through `extract_slice`, where every thread keeps a part of its elements. It enters only values that do not
//!    have a layout yet. It enters an access only if the access stays efficient, within a factor of the sectors that
//!    the access's own layout touches. It does not reach the addresses of a store that it would scatter.
//! 3. The remaining values get the default layout of their shape.
//! 4. If an operand's layout differs from the layout that its user needs, cheap producers (ranges, splats, constants
//!    and short chains of arithmetic on them) are recomputed in the needed layout; other operands are converted.
//!
//! The result is valid for any choice, because step 4 fixes every mismatch. The exception is `replicate`, which has
//! the same layout as its operand; there the access decides. Conversions of loop-invariant values are placed before
//! the loop.
//!
//! A tensor that does not fit into registers is an array. Slices are best extracted from a layout in which threads
//! hold whole slices, so the tensor is converted to such a layout before the loop that extracts slices. Tensors that
//! are assembled slice by slice keep the layout assigned for that purpose.

mod rewrite;

use crate::{
    analysis::{
        access::{AccessPlan, access_of, operand_layout, tile_of},
        carried::{carried_by_argument, carried_by_operand, carried_by_result, of_one_type},
        facts::Facts,
        layouts::{default_layout, default_packing, packing_log2, project},
        narrow::{self, Narrow},
        producers::Source,
        registers::Limit,
        staged_tiles::computes_fragments,
        warps::warps_of,
    },
    dialect::{
        attributes::{OWN_STAGES, STAGED},
        behaviour::{LayoutRelation, is_loop, layout_relation, widens},
        dot_plan::{CONVERTER, DotPlan},
        dots::{ACC, AnyDot, Instruction, LHS_SCALE},
        layouts::{Tensor, storage_bits},
        nv_tileaa,
        nv_tileas::{
            AnyOp, BroadcastOp, CatOp, ConvertLayoutOp, InsertSliceOp, PermuteOp, ProduceOneOp, ReduceOp, ReplicateOp,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        remark::{self, remark},
        rt::*,
        thread_scope::ThreadScope,
    },
    pass_descriptor,
};
use melior::Context;
use rustc_hash::FxHashMap;
use tile_layout::Layout;

#[derive(Clone, Default)]
pub struct RemoveLayoutConversions;

impl RustPass for RemoveLayoutConversions {
    pass_descriptor!(tileas_remove_layout_conversions);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_remove_layout_conversions::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let mut assignment = Assignment::new(function, context)?;
            let before = assignment.strip();
            assignment.assign();
            let kept = assignment.rewrite()?;
            cx.stat_add(stat::NUM_REMOVED, before.saturating_sub(kept) as i64);
            cx.stat_add(stat::NUM_KEPT, kept as i64);
        }
        Ok(())
    }
}

/// The maximum factor of sectors, relative to its own layout, that a load or a store may touch to avoid a conversion.
const LOAD_SLACK: u64 = 4;
const STORE_SLACK: u64 = 2;
/// The maximum number of ops that step 4 recomputes for one operand.
const RECOMPUTE_LIMIT: usize = 12;

/// Whether an operand belongs to a dot that reads shared memory, and goes there from any layout.
fn goes_to_memory(op: OpRef<'_>, i: usize) -> bool {
    let reads = || AnyDot::cast(op).and_then(|d| d.instruction()).is_some_and(Instruction::reads_shared_memory);
    i < ACC && reads() && matches!(Source::of(operand(op, i), op), Source::Resident)
}

struct Anchor<'c> {
    op: OpRef<'c>,
    access: AccessPlan,
    layout: Layout,
    weight: u64,
    /// The reason why even the best layout has narrow accesses, if it does.
    narrow: Option<Narrow>,
}

impl<'c> Anchor<'c> {
    /// Reports why the access moves only `vector` elements at a time instead of 16 bytes, if it is worth reporting.
    fn remark_on_width(&self, tile: &Tensor<'c>, vector: u64) {
        if vector >= tile.elements().unsigned_abs() {
            return;
        }
        let bytes = vector * self.access.element_bytes;
        let own = self.access.vector_in(&self.layout, &tile.tile_shape());
        let what =
            format!("{} at a time instead of 16", if bytes == 1 { "1 byte".into() } else { format!("{bytes} bytes") });
        if let Some(Narrow { reason, advice }) = &self.narrow {
            remark(self.op, remark::NARROW_ACCESS, format!("{what}: {reason}"), *advice);
        } else if vector < own {
            let reason = format!("{what}: the tile has the layout that a heavier access needs");
            remark(self.op, remark::NARROW_ACCESS, reason, None);
        }
    }
}

struct Assignment<'c> {
    context: &'c Context,
    function: OpRef<'c>,
    /// The number of each op in program order. The order of uses in memory depends on the passes before, and text does
    /// not have it.
    numbers: FxHashMap<usize, usize>,
    warps: u64,
    limit: Limit,
    anchors: Vec<Anchor<'c>>,
    /// The anchor of each access, by op.
    anchor_of: FxHashMap<usize, usize>,
    /// The assigned layouts, by value.
    layouts: FxHashMap<usize, Layout>,
    /// The assigned layouts of stores, by op.
    stores: FxHashMap<usize, Layout>,
    /// Dots in program order.
    dots: Vec<AnyDot<'c>>,
    /// The layouts of the operands of dots, by op.
    dot_operands: FxHashMap<usize, Vec<Layout>>,
    /// The layouts of the operands of ops whose layouts never change, by op; `None` for operands that are not
    /// tensors.
    fixed_operands: FxHashMap<usize, Vec<Option<Layout>>>,
    /// The assigned layouts of the operands of reductions, by op.
    reductions: FxHashMap<usize, Layout>,
}

impl<'c> Assignment<'c> {
    fn new(function: nv_tileaa::FuncOp<'c>, context: &'c Context) -> Result<Self, Failed> {
        let warps = warps_of(function)?;
        let facts = Facts::of(function.op());
        let mut anchors = vec![];
        let mut error = None;
        let (mut dots, mut dot_operands) = (vec![], FxHashMap::default());
        collect(function.op(), 0, &mut |op, depth| {
            if let Some(dot) = AnyDot::cast(op) {
                dots.push(dot);
                let layouts: Option<Vec<Layout>> =
                    operands(op).map(|v| Tensor::of_value(v).and_then(|t| t.layout())).collect();
                match layouts {
                    Some(layouts) => {
                        dot_operands.insert(op_key(op), layouts);
                    }
                    None => {
                        error.get_or_insert(op);
                    }
                }
            }
            // Threads read a staged tile from shared memory, in any layout.
            let in_program = || parent_op(op).is_some_and(|around| ProduceOneOp::cast(around).is_some());
            if STAGED.is_on(op) && in_program() || OWN_STAGES.is_on(op) {
                return;
            }
            let Some(mut access) = access_of(op, &facts) else { return };
            let Some(tile) = tile_of(op) else { return };
            if is_update(op) {
                // The pass that assigned the layout knows how many elements one instruction of the target updates.
                access.narrow(attr(op, "vector").map_or(1, |a| int_attr(a) as u64));
            }
            let Some(layout) = tile.layout() else {
                error.get_or_insert(op);
                return;
            };
            let weight = (tile.elements() as u64 * access.element_bytes).saturating_mul(8u64.saturating_pow(depth));
            let narrow = remark::wanted().then(|| narrow::why(op, &facts)).flatten();
            anchors.push(Anchor { op, access, layout, weight, narrow });
        });
        if let Some(op) = error {
            return Err(fail(op, "op has no layout; run convert-tileaa-to-tileas first"));
        }
        anchors.sort_by_key(|a| std::cmp::Reverse(a.weight));
        let anchor_of = anchors.iter().enumerate().map(|(i, a)| (op_key(a.op), i)).collect();
        let mut numbers = FxHashMap::default();
        walk(function.op(), &mut |op| _ = numbers.insert(op_key(op), numbers.len()));
        Ok(Assignment {
            context,
            function: function.op(),
            numbers,
            warps,
            limit: Limit::of(function.op()),
            anchors,
            anchor_of,
            layouts: FxHashMap::default(),
            stores: FxHashMap::default(),
            dots,
            dot_operands,
            fixed_operands: FxHashMap::default(),
            reductions: FxHashMap::default(),
        })
    }

    /// Removes every conversion; types are inconsistent until [`Self::rewrite`]. Returns the number of conversions.
    fn strip(&self) -> usize {
        let mut conversions = vec![];
        walk(self.function, &mut |o| conversions.extend(ConvertLayoutOp::cast(o)));
        for c in &conversions {
            replace_all_uses(c.result(), c.source());
            erase(c.op());
        }
        conversions.len()
    }

    fn assign(&mut self) {
        self.fix();
        // Results before operands: values between two dots belong to the first one.
        let mut inserts = vec![];
        walk(self.function, &mut |o| inserts.extend(InsertSliceOp::cast(o)));
        for insert in inserts {
            if let Some(layout) = Tensor::of_value(insert.result()).and_then(|t| t.layout()) {
                self.flood(insert.result(), layout.clone());
                self.flood(insert.dest(), layout);
            }
        }
        for dot in self.dots.clone() {
            let layouts = self.dot_operands[&op_key(dot.op())].clone();
            self.layouts.insert(key(dot.result()), layouts[ACC].clone());
            for (user, i) in uses(dot.result()) {
                let Some(t) = Tensor::of_value(dot.result()) else { continue };
                let mut work = vec![];
                self.follow(user, i, &t, &layouts[ACC], &mut work);
                work.into_iter().for_each(|(v, layout)| self.flood(v, layout));
            }
            self.flood(dot.acc(), layouts[ACC].clone());
        }
        // Warps of an agent start loads of scale factors an iteration ahead. An exchange would need a barrier.
        let loads_scales = DotPlan::of(self.function).is_some_and(|plan| plan.reads_fragments());
        for dot in self.dots.clone() {
            let layouts = self.dot_operands[&op_key(dot.op())].clone();
            for (i, (v, layout)) in operands(dot.op()).zip(layouts).enumerate() {
                if computes_fragments(dot, i) || i >= LHS_SCALE && loads_scales {
                    self.flood(v, layout);
                } else if !goes_to_memory(dot.op(), i) {
                    self.flood_operand(v, layout);
                }
            }
        }
        for i in 0..self.anchors.len() {
            let (op, layout) = (self.anchors[i].op, self.anchors[i].layout.clone());
            if result_count(op) > 0 && Tensor::of_value(result(op, 0)).is_some() {
                self.flood(result(op, 0), layout.clone());
                let chosen = self.layouts.get(&key(result(op, 0))).cloned().unwrap_or(layout);
                self.flood_operands(op, &chosen);
            } else {
                // A store accepts its value's layout if it is good enough.
                let value = operands(op).find(|v| Tensor::of_value(*v).is_some()).expect("a store of a tensor");
                self.flood(value, layout.clone());
                // A value that cannot have this layout, such as the result of a reduction, stays without a layout
                // here.
                let found = self.layouts.get(&key(value)).cloned();
                let takes = |f: &Layout| self.accepts(i, f, STORE_SLACK) && !self.scatters(i, f);
                let chosen = found.filter(takes).unwrap_or(layout);
                self.flood_operands(op, &chosen);
                self.stores.insert(op_key(op), chosen);
            }
        }
        let mut rest = vec![];
        walk(self.function, &mut |op| {
            rest.extend(results(op));
            for i in 0..region_count(op) {
                rest.extend(entry_block(region(op, i)).into_iter().flat_map(args));
            }
        });
        for v in rest {
            if let Some(t) = Tensor::of_value(v)
                && !self.layouts.contains_key(&key(v))
            {
                self.flood(v, self.fallback(v, &t));
            }
        }
        // After an access that leaves results only in the owners of elements, other threads get them from
        // `replicate`, so a conversion must come after it.
        walk(self.function, &mut |op| {
            if let Some(x) = ReplicateOp::cast(op)
                && let Some(layout) = self.layouts.get(&key(x.source())).cloned()
            {
                self.layouts.insert(key(x.result()), layout);
            }
        });
    }

    /// Keeps the layouts of the operands and results of ops whose layouts must not change, and of left operands that
    /// the converter stores to tensor memory.
    fn fix(&mut self) {
        let layout_of = |v: Val<'c>| Tensor::of_value(v).and_then(|t| t.layout());
        for by in collect_ops(self.function, ProduceOneOp::cast) {
            let last = entry_block(region(by.op(), 0)).and_then(|body| ops_of(body).last());
            let tile = by.tile().next().filter(|_| by.agent() == Some(CONVERTER));
            if let (Some(last), Some((tile, layout))) = (last, tile.and_then(|tile| Some((tile, layout_of(tile)?)))) {
                self.layouts.insert(key(tile), layout.clone());
                self.fixed_operands.insert(op_key(last), vec![Some(layout.clone())]);
                self.flood(operand(last, 0), layout);
            }
        }
        let mut fixed = vec![];
        walk(self.function, &mut |op| {
            if layout_relation(op) == LayoutRelation::None {
                fixed.push(op);
            }
        });
        for op in fixed {
            self.fixed_operands.insert(op_key(op), operands(op).map(layout_of).collect());
            for r in results(op) {
                if let Some(layout) = layout_of(r) {
                    self.flood(r, layout);
                }
            }
        }
    }

    /// Returns the layout of a value that no anchor reaches.
    fn fallback(&self, v: Val<'c>, t: &Tensor<'c>) -> Layout {
        let place = defining_op(v).or_else(|| parent_of_block(owner_of(v)));
        let warps = place.and_then(ThreadScope::of).and_then(|s| s.warps).map_or(self.warps, |w| w as u64);
        match defining_op(v) {
            Some(op) if layout_relation(op) == LayoutRelation::Packing => {
                let from = Tensor::of_value(operand(op, 0)).expect("a packed tensor");
                default_packing(&from, t, warps).1
            }
            _ => default_layout(&t.tile_shape(), warps),
        }
    }

    /// Gives the operands of an access whose tile has `layout` the layouts they need.
    fn flood_operands(&mut self, op: OpRef<'c>, layout: &Layout) {
        let Some(tile) = tile_of(op) else { return };
        for (i, v) in operands(op).enumerate() {
            self.flood(v, operand_layout(op, i, &tile.shape, layout));
        }
    }

    /// Whether a store in the layout of an accumulator would take at least four times as many instructions as in its
    /// own layout. Each instruction has a separate address and test, and half of every sector that it touches belongs
    /// to another instruction.
    fn scatters(&self, anchor: usize, layout: &Layout) -> bool {
        let a = &self.anchors[anchor];
        let Some(tile) = tile_of(a.op) else { return false };
        let from_product = self.dot_operands.values().any(|l| l.get(ACC) == Some(layout));
        from_product && 4 * a.access.vector_in(layout, &tile.tile_shape()) <= a.access.vector
    }

    /// Whether `op` is a store that keeps its own layout because this one would scatter it. Its addresses and its mask
    /// then need its own layout too.
    fn keeps_own(&self, op: OpRef<'c>, layout: &Layout) -> bool {
        let is_store = results(op).all(|r| Tensor::of_value(r).is_none());
        is_store && self.anchor_of.get(&op_key(op)).is_some_and(|anchor| self.scatters(*anchor, layout))
    }

    fn accepts(&self, anchor: usize, layout: &Layout, slack: u64) -> bool {
        let a = &self.anchors[anchor];
        let Some(tile) = tile_of(a.op) else { return false };
        let shape = tile.tile_shape();
        a.access.vector_in(layout, &shape) >= a.access.least
            && a.access.sectors(layout, &shape) <= slack * a.access.sectors(&a.layout, &shape)
    }

    /// Gives an operand of a dot the layout that the dot needs, and propagates it to the ops that widen the operand.
    fn flood_operand(&mut self, v: Val<'c>, layout: Layout) {
        let (Some(t), Some(op)) = (Tensor::of_value(v), defining_op(v)) else { return };
        let shapes = matches!(
            layout_relation(op),
            LayoutRelation::Reshape | LayoutRelation::Permute | LayoutRelation::Broadcast
        );
        if self.layouts.contains_key(&key(v)) || uses(v).len() != 1 || !(widens(op) || shapes) {
            return;
        }
        let Some(from) = Tensor::of_value(operand(op, 0)) else { return };
        let Some(before) = needed(op, 0, &t, &layout) else { return };
        if storage_bits(from.element) <= storage_bits(t.element) {
            self.layouts.insert(key(v), layout);
            self.flood_operand(operand(op, 0), before);
        }
    }

    /// Gives `v` a layout and propagates it to the values whose layouts follow from it.
    fn flood(&mut self, v: Val<'c>, layout: Layout) {
        let mut work = vec![(v, layout)];
        while let Some((v, layout)) = work.pop() {
            let Some(t) = Tensor::of_value(v) else { continue };
            if self.layouts.contains_key(&key(v)) {
                continue;
            }
            if let Some(&anchor) = defining_op(v).and_then(|op| self.anchor_of.get(&op_key(op)))
                && self.anchors[anchor].layout != layout
                && !self.accepts(anchor, &layout, LOAD_SLACK)
            {
                continue;
            }
            if !producible(v, &t, &layout) {
                continue;
            }
            // The layout of a reduction's results follows from its operands.
            if let Some(op) = defining_op(v).filter(|op| layout_relation(*op) == LayoutRelation::Reduce)
                && self.reduced(op).is_none_or(|l| l != layout)
            {
                continue;
            }
            // A conversion cannot fix a loop whose result and argument have different layouts. Both get the layout
            // together, since another path through the program may reach one of them with another layout.
            let both = [Some(v), of_one_type(v)];
            both.iter().flatten().for_each(|v| _ = self.layouts.insert(key(*v), layout.clone()));
            for v in both.into_iter().flatten() {
                if let Some(op) = defining_op(v) {
                    self.backward(op, v, &t, &layout, &mut work);
                } else {
                    carried_by_argument(v, |tied| work.push((tied, layout.clone())));
                }
                for (user, i) in self.in_order(v) {
                    self.follow(user, i, &t, &layout, &mut work);
                }
            }
        }
    }

    /// The uses of a value in program order.
    fn in_order(&self, v: Val<'c>) -> Vec<(OpRef<'c>, usize)> {
        let mut all: Vec<_> = uses(v).into_iter().collect();
        all.sort_by_key(|(user, i)| (self.numbers.get(&op_key(*user)).copied(), *i));
        all
    }

    /// Propagates the layout of `t`, operand `i` of `user`.
    fn follow(
        &mut self,
        user: OpRef<'c>,
        i: usize,
        t: &Tensor<'c>,
        layout: &Layout,
        work: &mut Vec<(Val<'c>, Layout)>,
    ) {
        if layout_relation(user) == LayoutRelation::Reduce {
            self.reduce(user, layout, work);
        } else {
            self.forward(user, i, t, layout, work);
        }
    }

    /// The first operand of a reduction that gets a layout determines the layouts of the other operands and the
    /// results.
    fn reduce(&mut self, op: OpRef<'c>, layout: &Layout, work: &mut Vec<(Val<'c>, Layout)>) {
        if self.reductions.contains_key(&op_key(op)) {
            return;
        }
        self.reductions.insert(op_key(op), layout.clone());
        work.extend(operands(op).map(|v| (v, layout.clone())));
        if let Some(reduced) = self.reduced(op) {
            work.extend(results(op).map(|r| (r, reduced.clone())));
        }
    }

    /// Returns the layout of the results of a reduction, once its operands have a layout.
    fn reduced(&self, op: OpRef<'c>) -> Option<Layout> {
        let reduce = ReduceOp::cast(op)?;
        let operand = Tensor::of_value(operand(op, 0))?;
        let layout = self.reductions.get(&op_key(op))?;
        let kept = reduce.kept().unwrap_or(0) as u64;
        layout.reduce_keeping(&operand.tile_shape(), reduce.dim() as usize, kept).ok().map(|(l, ..)| l)
    }

    fn backward(&self, op: OpRef<'c>, v: Val<'c>, t: &Tensor<'c>, layout: &Layout, work: &mut Vec<(Val<'c>, Layout)>) {
        match layout_relation(op) {
            LayoutRelation::None
            | LayoutRelation::Leaf
            | LayoutRelation::Slice
            | LayoutRelation::Dot
            | LayoutRelation::Insert => {}
            LayoutRelation::Control => {
                let index = results(op).position(|r| r == v).expect("a result of its op");
                carried_by_result(op, index, |tied| work.push((tied, layout.clone())));
            }
            _ => {
                for (i, o) in operands(op).enumerate() {
                    if let Some(needed) = needed(op, i, t, layout) {
                        work.push((o, needed));
                    }
                }
                if matches!(layout_relation(op), LayoutRelation::Same | LayoutRelation::Access) {
                    work.extend(results(op).filter(|r| same_shape(*r, t)).map(|r| (r, layout.clone())));
                }
            }
        }
    }

    fn forward(&self, op: OpRef<'c>, i: usize, t: &Tensor<'c>, layout: &Layout, work: &mut Vec<(Val<'c>, Layout)>) {
        match layout_relation(op) {
            // A store decides for itself, and several layouts fit the result of a broadcast.
            LayoutRelation::Same | LayoutRelation::Access
                if self.stores.contains_key(&op_key(op)) || result_count(op) == 0 || self.keeps_own(op, layout) => {}
            LayoutRelation::Same | LayoutRelation::Access => {
                let both = operands(op).chain(results(op));
                work.extend(both.filter(|v| same_shape(*v, t)).map(|v| (v, layout.clone())));
            }
            LayoutRelation::Reshape => work.push((result(op, 0), layout.clone())),
            LayoutRelation::Permute => {
                let order: Vec<usize> =
                    PermuteOp::cast(op).expect("a permute").order().iter().map(|&d| d as usize).collect();
                if let Ok((moved, _)) = layout.permute(&t.tile_shape(), &order) {
                    work.push((result(op, 0), moved));
                }
            }
            LayoutRelation::Cat => {
                let dim = CatOp::cast(op).expect("a cat").dim() as usize;
                work.extend(layout.cat_over_replicas(&t.tile_shape(), dim).ok().map(|(l, _)| (result(op, 0), l)));
            }
            LayoutRelation::Slice if self.limit.is_exceeded(operand(op, 0)) => {}
            LayoutRelation::Slice => {
                let slice = Tensor::of_value(result(op, 0)).expect("a slice is a tensor");
                let part = layout.truncate(&t.tile_shape(), &slice.tile_shape());
                work.extend(part.ok().map(|l| (result(op, 0), l)));
            }
            LayoutRelation::Packing => {
                let to = Tensor::of_value(result(op, 0)).expect("a packed tensor");
                let ratio = packing_log2(t, &to);
                let image = if t.elements() < to.elements() {
                    Some(layout.split_elements(ratio))
                } else {
                    layout.merge_elements(ratio)
                };
                work.extend(image.map(|l| (result(op, 0), l)));
            }
            LayoutRelation::Control => carried_by_operand(op, i, |tied| work.push((tied, layout.clone()))),
            LayoutRelation::None
            | LayoutRelation::Broadcast
            | LayoutRelation::Reduce
            | LayoutRelation::Leaf
            | LayoutRelation::Dot
            | LayoutRelation::Insert => {}
        }
    }
}

/// Whether `op` updates memory atomically.
fn is_update(op: OpRef<'_>) -> bool {
    matches!(AnyOp::cast(op), Some(AnyOp::AtomicRmwOp(_) | AnyOp::AtomicCasOp(_) | AnyOp::TiledAtomicRmwOp(_)))
}

fn same_shape(v: Val<'_>, t: &Tensor<'_>) -> bool {
    Tensor::of_value(v).is_some_and(|o| o.shape == t.shape)
}

/// Returns the layout that operand `i` needs if the result `t` of `op` has `layout`.
fn needed<'c>(op: OpRef<'c>, i: usize, t: &Tensor<'c>, layout: &Layout) -> Option<Layout> {
    let from = Tensor::of_value(operand(op, i))?;
    match layout_relation(op) {
        LayoutRelation::Same => Some(layout.clone()),
        LayoutRelation::Access => Some(operand_layout(op, i, &t.shape, layout)),
        LayoutRelation::Reshape => Some(layout.clone()),
        LayoutRelation::Permute => {
            let order = PermuteOp::cast(op)?.order();
            let mut inverse = vec![0; order.len()];
            for (k, &d) in order.iter().enumerate() {
                inverse[d as usize] = k;
            }
            layout.permute(&t.tile_shape(), &inverse).ok().map(|(l, _)| l)
        }
        LayoutRelation::Broadcast => {
            BroadcastOp::cast(op)?;
            // Repeated elements do not need separate registers.
            Some(project(layout, &t.shape, &from.shape).squeeze_registers().0)
        }
        LayoutRelation::Cat => {
            layout.uncat(&t.tile_shape(), CatOp::cast(op)?.dim() as usize).ok().map(|(operand, _)| operand)
        }
        LayoutRelation::Packing => {
            let ratio = packing_log2(&from, t);
            if from.elements() < t.elements() {
                layout.merge_elements(ratio)
            } else {
                Some(layout.split_elements(ratio))
            }
        }
        LayoutRelation::None
        | LayoutRelation::Reduce
        | LayoutRelation::Leaf
        | LayoutRelation::Slice
        | LayoutRelation::Insert
        | LayoutRelation::Control
        | LayoutRelation::Dot => None,
    }
}

/// Whether the op that defines `v` can produce `layout`: a change of the element width leaves the parts of an element
/// in the first registers.
fn producible<'c>(v: Val<'c>, t: &Tensor<'c>, layout: &Layout) -> bool {
    let Some(op) = defining_op(v).filter(|op| layout_relation(*op) == LayoutRelation::Packing) else { return true };
    let Some(from) = Tensor::of_value(operand(op, 0)).filter(|from| from.elements() < t.elements()) else {
        return true;
    };
    let ratio = packing_log2(&from, t);
    layout.merge_elements(ratio).is_some_and(|whole| whole.split_elements(ratio) == *layout)
}

/// Visits ops with the number of loops around them.
fn collect<'c>(op: OpRef<'c>, depth: u32, f: &mut impl FnMut(OpRef<'c>, u32)) {
    f(op, depth);
    let inner = depth + u32::from(is_loop(op));
    for i in 0..region_count(op) {
        for o in entry_block(region(op, i)).into_iter().flat_map(ops_of) {
            collect(o, inner, f);
        }
    }
}
