//! Finds code after dots that can process accumulators slice by slice.
//!
//! A *slice* of an accumulator is some of its columns. Code that computes element by element and stores the result
//! needs only a slice at a time, and therefore fewer registers:
//!
//! ```text
//! y = f(sum, broadcast bias)               for each slice s (unrolled):
//! tiled_store y, C[i, j] : 128x256   =>      y_s = f(extract sum[0, s], broadcast (slice s of bias))
//!                                            tiled_store y_s, C'[i, S * j + s] : 128x(256 / S)
//! ```
//!
//! The analysis follows the results of accumulations forward to stores, and the other operands on the way backward to
//! loads and constants. For each value it finds the dimension that the slices divide.
//!
//! Slices are stored in order, where the last of the stores is. This keeps the order that tokens require: no store
//! depends on another one of these stores, and a load that they depend on has no other dependents.
//!
//! # Bound on the work
//!
//! Each use of a value is visited once.

use super::{
    access::View,
    facts::Facts,
    layouts::moved_dimension,
    producers::{accumulation, skip_conversions},
};
use crate::dialect::{
    behaviour::{self, LayoutRelation},
    dots::{ACC, TileDot, is_zero},
    elements,
    layouts::{Tensor, storage_bits},
    loops::FIRST_INIT,
    nv_tileaa::{AnyOp, MakeTiledViewOp, MemTokenType, Ordering, TiledStoreOp, TiledViewType},
    rt::*,
};
use rustc_hash::{FxHashMap, FxHashSet};
use tile_plan::MOST_SLICES;

/// Code of one block that can be sliced.
pub struct ColumnSlices<'c> {
    /// The accumulators.
    pub sums: Vec<Val<'c>>,
    /// The ops from the accumulators to the stores, in program order. The last one is a store.
    pub ops: Vec<OpRef<'c>>,
    /// The dimension of each tensor that the slices divide. Tensors without a dimension stay whole.
    dims: FxHashMap<usize, usize>,
    /// The columns of the accumulators.
    pub columns: i64,
    /// The most slices with a bounds check for each one that may be outside of its view.
    pub most: u32,
}

/// The stores of a function whose tiles can be divided into slices of columns, if all stores of matrices can. A slice
/// has whole units of 32 bytes in each row.
pub fn stores(function: OpRef<'_>, count: u32) -> Vec<TiledStoreOp<'_>> {
    let (all, count) = (collect_ops(function, TiledStoreOp::cast), i64::from(count));
    let matrices = all.into_iter().filter(|s| is_matrix(s.value()));
    let fits = |s: &TiledStoreOp<'_>| {
        let unit = Tensor::of_value(s.value()).map_or(0, |t| {
            let columns = t.shape.last().copied().unwrap_or(1);
            if columns % count == 0 { columns / count * i64::from(storage_bits(t.element)) / 8 } else { 0 }
        });
        let made = defining_op(s.view()).and_then(MakeTiledViewOp::cast).is_some();
        made && s.ordering() == Ordering::Weak && unit > 0 && unit % SLICE_BYTES == 0
    };
    let matrices: Vec<TiledStoreOp<'_>> = matrices.collect();
    if matrices.iter().all(fits) { matrices } else { vec![] }
}

/// Each row of a slice has a multiple of this.
const SLICE_BYTES: i64 = 32;

/// Whether a tensor has several rows and columns.
fn is_matrix(v: Val<'_>) -> bool {
    Tensor::of_value(v).is_some_and(|t| t.shape.iter().filter(|n| **n > 1).count() > 1)
}

/// The value that the program uses of the accumulator of a dot, and its start: of the loop that only adds to it, or of
/// the dot.
pub fn accumulator(dot: OpRef<'_>) -> (Val<'_>, Val<'_>) {
    match accumulation(dot) {
        Some((around, i)) => (result(around, i), operand(around, FIRST_INIT + i)),
        None => (result(dot, 0), operand(dot, ACC)),
    }
}

/// The code that uses the accumulators of all dots of a function, by block. Returns `None` if some of it cannot be
/// sliced.
pub fn of_all<'c>(function: OpRef<'c>, facts: &Facts) -> Option<Vec<ColumnSlices<'c>>> {
    let mut blocks: Vec<Vec<Val<'c>>> = vec![];
    for dot in collect_ops(function, TileDot::cast) {
        let (sum, start) = accumulator(dot.op());
        // The consumers add another start than zero to the whole accumulator.
        is_zero(skip_conversions(start)).then_some(())?;
        match blocks.iter_mut().find(|sums| home_of(sums[0]) == home_of(sum)) {
            // Several dots may add to one accumulator.
            Some(sums) if sums.contains(&sum) => {}
            Some(sums) => sums.push(sum),
            None => blocks.push(vec![sum]),
        }
    }
    blocks.iter().map(|sums| ColumnSlices::of(sums, facts)).collect()
}

impl<'c> ColumnSlices<'c> {
    /// The code that uses `sums`, which are results of ops of one block. Returns `None` if it cannot be sliced.
    fn of(sums: &[Val<'c>], facts: &Facts) -> Option<Self> {
        let first = *sums.first()?;
        let home = home_of(first);
        let columns = *Tensor::of_value(first)?.shape.last()?;
        let alike = |v: &Val<'c>| {
            let t = Tensor::of_value(*v);
            t.is_some_and(|t| t.shape.len() == 2 && t.shape[1] == columns)
        };
        if !sums.iter().all(alike) {
            return None;
        }
        let (dims, chosen) = (FxHashMap::default(), FxHashSet::default());
        let mut search = Search { home, columns, facts, most: MOST_SLICES, dims, chosen };
        search.dims.extend(sums.iter().map(|sum| (key(*sum), 1)));
        let mut work = sums.to_vec();
        while let Some(v) = work.pop() {
            for (user, _) in uses(v) {
                let fresh = search.chosen.insert(op_key(user));
                let given = search.user(user, v)?;
                work.extend(given.into_iter().filter(|_| fresh));
            }
        }
        let block = block_around(defining_op(first)?)?;
        let ops: Vec<OpRef<'c>> = ops_of(block).filter(|o| search.chosen.contains(&op_key(*o))).collect();
        for op in &ops {
            search.operands(*op)?;
        }
        search.keeps_order(&ops)?;
        Some(Self { sums: sums.to_vec(), ops, dims: search.dims, columns, most: search.most })
    }

    /// Whether slices of the accumulators are consecutive columns of tensor memory.
    pub fn is_in_columns(&self) -> bool {
        self.sums.iter().all(|sum| Tensor::of_value(*sum).is_some_and(|t| t.shape[0] <= MOST_ROWS))
    }

    /// Whether registers hold a value slice by slice.
    pub fn holds(&self, v: Val<'c>) -> bool {
        self.dims.contains_key(&key(v)) && defining_op(v).is_some_and(|op| block_of(op) == home_of(self.sums[0]))
    }

    /// The dimension that the slices divide; `None` if the value stays whole.
    pub fn dimension(&self, v: Val<'c>) -> Option<usize> {
        self.dims.get(&key(v)).copied()
    }
}

/// The maximum number of rows of an accumulator in slices: its columns are then consecutive in tensor memory.
const MOST_ROWS: i64 = 128;

struct Search<'f> {
    /// The block of the code.
    home: usize,
    columns: i64,
    facts: &'f Facts,
    most: u32,
    dims: FxHashMap<usize, usize>,
    /// The ops from the accumulators to the stores.
    chosen: FxHashSet<usize>,
}

impl Search<'_> {
    /// Follows a use of the sliced value `v`. Returns the sliced results.
    fn user<'c>(&mut self, op: OpRef<'c>, v: Val<'c>) -> Option<Vec<Val<'c>>> {
        let d = *self.dims.get(&key(v))?;
        if block_of(op) != self.home || region_count(op) > 0 {
            return None;
        }
        if let Some(AnyOp::TiledStoreOp(store)) = AnyOp::cast(op) {
            let weak = store.ordering() == Ordering::Weak && store.value() == v;
            self.is_divisible(store.view(), d).filter(|_| weak)?;
            return Some(vec![]);
        }
        let given = result_dimension(op, d).filter(|_| behaviour::is_pure(op))?;
        let sliced: Vec<Val<'c>> = results(op).collect();
        sliced.iter().try_for_each(|result| self.assign(*result, given))?;
        Some(sliced)
    }

    /// Records the dimension of a value. `None` if it has another one, or another extent.
    fn assign(&mut self, v: Val<'_>, d: usize) -> Option<()> {
        let extent = Tensor::of_value(v)?.shape.get(d).copied();
        (extent == Some(self.columns) && *self.dims.entry(key(v)).or_insert(d) == d).then_some(())
    }

    /// Follows the operands of an element-wise op backward to accumulators, loads and constants.
    fn operands(&mut self, op: OpRef<'_>) -> Option<()> {
        let tensors = |op| operands(op).filter(|o| Tensor::of_value(*o).is_some());
        let d = match results(op).next().filter(|_| behaviour::layout_relation(op) == LayoutRelation::Same) {
            Some(v) => self.dims.get(&key(v)).copied(),
            None => None,
        };
        let Some(d) = d else { return Some(()) };
        let mut work: Vec<_> = tensors(op).map(|v| (v, d)).collect();
        while let Some((v, d)) = work.pop() {
            let known = self.dims.contains_key(&key(v));
            self.assign(v, d)?;
            if known {
                continue;
            }
            let op = defining_op(v)?;
            let elementwise = behaviour::layout_relation(op) == LayoutRelation::Same && behaviour::is_pure(op);
            match AnyOp::cast(op) {
                _ if behaviour::is_constant(op) => {
                    attr(op, "value").and_then(elements::splat)?;
                }
                Some(AnyOp::SplatOp(_)) => {}
                Some(AnyOp::BroadcastOp(x)) => {
                    // A dimension of one element is the same for all slices.
                    if Tensor::of_value(x.source())?.shape.get(d) != Some(&1) {
                        work.push((x.source(), d));
                    }
                }
                Some(AnyOp::ViewOp(x)) => work.push((x.source(), source_dimension(op, x.source(), d)?)),
                Some(AnyOp::PermuteOp(x)) => work.push((x.source(), *x.order().get(d)? as usize)),
                Some(AnyOp::TiledLoadOp(x)) => {
                    // The load moves to the stores, so nothing may be ordered after it.
                    let moves = x.ordering() == Ordering::Weak && block_of(op) == self.home;
                    let unordered = results(op).filter(is_token).all(|token| !has_uses(token));
                    self.is_divisible(x.view(), d).filter(|_| moves && unordered)?;
                }
                _ if elementwise => work.extend(tensors(op).map(|o| (o, d))),
                _ => return None,
            }
        }
        Some(())
    }

    /// Whether the tiles of a view can be divided along a dimension.
    fn is_divisible(&mut self, view: Val<'_>, d: usize) -> Option<()> {
        let of = TiledViewType::cast(ty(view))?;
        defining_op(view).and_then(MakeTiledViewOp::cast)?;
        let whole = View::of(view)?;
        // More slices have a check only if fewer have.
        let counts = (0..=MOST_SLICES.ilog2()).map(|i| 1 << i);
        let checked = counts.take_while(|count| whole.tests_slices(d, i64::from(*count), self.facts));
        self.most = self.most.min(checked.last().unwrap_or(1));
        let partition = of.tile().get(d) == Some(&self.columns) && of.steps().get(d) == Some(&self.columns);
        (partition && of.sparse_dim().is_none()).then_some(())
    }

    /// Whether stores may run at the last of them, slice after slice: none depends on another one, and everything that
    /// depends on them is after the last.
    fn keeps_order(&self, ops: &[OpRef<'_>]) -> Option<()> {
        let last = *ops.last()?;
        let block = block_around(last)?;
        let mut after = FxHashSet::default();
        for op in ops_of(block).skip_while(|o| *o != last).skip(1) {
            walk(op, &mut |inner| {
                after.insert(op_key(inner));
            });
        }
        let in_order = |op: &OpRef<'_>| {
            let mut tokens = results(*op).filter(is_token).flat_map(uses);
            tokens.all(|(user, _)| after.contains(&op_key(user)))
        };
        (AnyOp::cast(last).is_some_and(|op| matches!(op, AnyOp::TiledStoreOp(_))) && ops.iter().all(in_order))
            .then_some(())
    }
}

fn is_token(v: &Val<'_>) -> bool {
    MemTokenType::cast(ty(*v)).is_some()
}

/// The dimension of the results of an op that corresponds to dimension `d` of its operand.
fn result_dimension(op: OpRef<'_>, d: usize) -> Option<usize> {
    match behaviour::layout_relation(op) {
        LayoutRelation::Same => Some(d),
        LayoutRelation::Reshape | LayoutRelation::Permute => {
            let from = Tensor::of_value(operand(op, 0))?;
            let to = moved_dimension(from.tile_shape(), d, &[op])?;
            (Tensor::of_value(result(op, 0))?.shape[to] == from.shape[d]).then_some(to)
        }
        _ => None,
    }
}

/// The dimension of the source of a reshape that becomes dimension `d`.
fn source_dimension<'c>(op: OpRef<'c>, source: Val<'c>, d: usize) -> Option<usize> {
    (0..Tensor::of_value(source)?.shape.len()).find(|from| result_dimension(op, *from) == Some(d))
}
