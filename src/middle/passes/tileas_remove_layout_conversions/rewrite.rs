//! Rewrites a function with its assigned layouts: sets types, and recomputes or converts operands.

use super::{Assignment, RECOMPUTE_LIMIT, goes_to_memory, needed};
use crate::{
    analysis::access::{operand_layout, tile_of},
    dialect::{
        behaviour::{LayoutRelation, is_cheap, is_constant, is_loop, layout_relation},
        layouts::{Tensor, layout_attr, retype_constant, tensor_type},
        nv_tileas::{AtomicCasOp, ConvertLayoutOp},
        pass::{Failed, fail},
        rt::*,
        upstream::Scf,
    },
};
use rustc_hash::FxHashMap;
use tile_layout::{Layout, Subspace};

impl<'c> Assignment<'c> {
    /// Sets types and fixes operands with mismatched layouts. Returns the number of conversions created.
    pub(super) fn rewrite(&mut self) -> Result<usize, Failed> {
        let mut ops = vec![];
        walk(self.function, &mut |o| ops.push(o));
        for &op in &ops {
            let inner = (0..region_count(op)).filter_map(|i| entry_block(region(op, i))).flat_map(args);
            for v in results(op).chain(inner) {
                if let (Some(t), Some(l)) = (Tensor::of_value(v), self.layouts.get(&key(v))) {
                    set_ty(v, t.with_layout(self.context, l));
                }
            }
            if is_constant(op) {
                retype_constant(op);
            }
        }
        let mut made = 0;
        // Conversions before loops, which all ops of the loop use.
        let mut before_loops: FxHashMap<(usize, usize), Vec<(Layout, Val<'c>)>> = FxHashMap::default();
        for op in ops {
            for i in 0..operand_count(op) {
                let v = operand(op, i);
                let place = outside_of_loops(op, v);
                let b = Builder::before(self.context, place);
                let Some(t) = Tensor::of_value(v) else { continue };
                let Some(want) = self.wanted(op, i) else { continue };
                // A broadcast can read its source's registers in any order.
                let order_matters = layout_relation(op) != LayoutRelation::Broadcast;
                let lies = |l: &Layout| *l == want || !order_matters && same_up_to_registers(l, &want);
                if !self.layouts.get(&key(v)).is_some_and(lies) {
                    let mut budget = RECOMPUTE_LIMIT;
                    let known = before_loops.get(&(op_key(place), key(v)));
                    let known = known.and_then(|all| all.iter().find(|(layout, _)| *layout == want));
                    let new = match known.map(|(_, v)| *v).or_else(|| self.recompute(&b, v, &want, &mut budget)) {
                        Some(new) => new,
                        None => {
                            made += 1;
                            let to = tensor_type(&t.shape, t.element, Some(layout_attr(self.context, &want)));
                            let c = ConvertLayoutOp::build(&b, to, v).map_err(|e| fail(op, e.to_string()))?;
                            self.layouts.insert(key(c.result()), want.clone());
                            if place != op {
                                let all = before_loops.entry((op_key(place), key(v))).or_default();
                                all.push((want.clone(), c.result()));
                            }
                            c.result()
                        }
                    };
                    set_operand(op, i, new);
                }
            }
            if let Some(&a) = self.anchor_of.get(&op_key(op)) {
                let tile = tile_of(op).expect("an access moves a tensor");
                let layout = tile.layout().expect("every tensor has a layout");
                if AtomicCasOp::cast(op).is_none() {
                    let vector = self.anchors[a].access.vector_in(&layout, &tile.tile_shape());
                    set_attr(op, "vector", i64_attr(self.context, vector as i64));
                    self.anchors[a].remark_on_width(&tile, vector);
                }
            }
        }
        self.erase_dead();
        Ok(made)
    }

    /// Returns the layout that operand `i` of `op` must have; `None` if any layout works.
    fn wanted(&self, op: OpRef<'c>, i: usize) -> Option<Layout> {
        let v = operand(op, i);
        let of = |v: Val<'c>| self.layouts.get(&key(v)).cloned();
        if goes_to_memory(op, i) {
            return None;
        }
        match Scf::of(op) {
            Some(Scf::For) => return of(result(op, i - 3)),
            Some(Scf::While) => return of(arg(entry_block(region(op, 0))?, i)),
            Some(Scf::Condition) => return of(arg(entry_block(region(parent_op(op)?, 1))?, i - 1)),
            Some(Scf::Yield) => {
                let parent = parent_op(op)?;
                return match Scf::of(parent) {
                    Some(Scf::While) => of(arg(entry_block(region(parent, 0))?, i)),
                    _ => of(result(parent, i)),
                };
            }
            _ => {}
        }
        match layout_relation(op) {
            LayoutRelation::Leaf => None,
            LayoutRelation::Reduce => self.reductions.get(&op_key(op)).cloned(),
            LayoutRelation::Slice if self.limit.is_exceeded(v) => {
                let (part, whole) = (Tensor::of_value(result(op, 0))?, Tensor::of_value(v)?);
                of(result(op, 0))?.over_registers(&part.tile_shape(), &whole.tile_shape()).ok()
            }
            LayoutRelation::Insert => {
                let (whole, part) = (Tensor::of_value(result(op, 0))?, Tensor::of_value(operand(op, 0))?);
                let layout = of(result(op, 0))?;
                if i == 0 { layout.truncate(&whole.tile_shape(), &part.tile_shape()).ok() } else { Some(layout) }
            }
            _ => {
                if let Some(layout) = self.stores.get(&op_key(op)) {
                    return Some(operand_layout(op, i, &tile_of(op)?.shape, layout));
                }
                if let Some(layouts) = self.dot_operands.get(&op_key(op)) {
                    return layouts.get(i).cloned();
                }
                if let Some(layouts) = self.fixed_operands.get(&op_key(op)) {
                    return layouts.get(i).cloned().flatten();
                }
                let r = results(op).find(|r| Tensor::of_value(*r).is_some());
                match r {
                    Some(r) => needed(op, i, &Tensor::of_value(r)?, &of(r)?),
                    None => of(v),
                }
            }
        }
    }

    /// Recomputes `v` in the layout `want`, if that is cheap.
    fn recompute(&mut self, b: &Builder<'c>, v: Val<'c>, want: &Layout, budget: &mut usize) -> Option<Val<'c>> {
        if self.layouts.get(&key(v)) == Some(want) {
            return Some(v);
        }
        let op = defining_op(v)?;
        if !is_cheap(op) || *budget == 0 {
            return None;
        }
        *budget -= 1;
        let t = Tensor::of_value(v)?;
        let mut inputs = vec![];
        for (i, o) in operands(op).enumerate() {
            inputs.push(match (Tensor::of_value(o), needed(op, i, &t, want)) {
                (Some(_), Some(layout)) => self.recompute(b, o, &layout, budget)?,
                _ => o,
            });
        }
        let copy = clone_detached(op);
        for (i, input) in inputs.into_iter().enumerate() {
            set_operand(copy, i, input);
        }
        let r = result(copy, 0);
        set_ty(r, t.with_layout(self.context, want));
        if is_constant(copy) {
            retype_constant(copy);
        }
        b.insert_op(copy);
        self.layouts.insert(key(r), want.clone());
        Some(r)
    }

    /// Erases recomputed producers that lost their last use.
    fn erase_dead(&self) {
        loop {
            let mut dead = vec![];
            walk(self.function, &mut |op| {
                if is_cheap(op) && results(op).all(|r| !has_uses(r)) {
                    dead.push(op);
                }
            });
            if dead.is_empty() {
                return;
            }
            dead.into_iter().for_each(erase);
        }
    }
}

/// Whether every thread holds the same elements in both layouts, in any registers.
fn same_up_to_registers(a: &Layout, b: &Layout) -> bool {
    (a.lane(), a.warp(), a.block()) == (b.lane(), b.warp(), b.block()) && {
        let span = |l: &Layout| Subspace::span(l.register().iter().copied());
        span(a) == span(b)
    }
}

/// Returns the outermost loop around `op` in which `v` is invariant, or `op` itself.
fn outside_of_loops<'c>(op: OpRef<'c>, v: Val<'c>) -> OpRef<'c> {
    let home = home_of(v);
    let (mut at, mut place) = (op, op);
    while block_of(at) != home {
        let Some(parent) = parent_op(at) else { break };
        at = parent;
        if is_loop(at) {
            place = at;
        }
    }
    place
}
