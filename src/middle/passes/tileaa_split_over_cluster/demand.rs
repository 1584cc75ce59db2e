//! Computes the parts of each value that a CTA needs, backward from the stores.
//!
//! Several parts of a value may be needed: for example, one dot needs a whole tile as its right operand and another
//! dot needs rows of it. Loops and branches then carry each part.

use crate::{
    analysis::{
        access::View,
        carried::{carried_by_argument, carried_by_result},
        facts::Facts,
    },
    dialect::{
        behaviour::{LayoutRelation, effects, is_constant, layout_relation},
        elements,
        layouts::Tensor,
        nv_tileaa::{self, AnyOp, MemTokenType, Ordering, ReduceOp, ScanOp, TiledViewType},
        pass::Obstacle,
        rt::*,
        upstream::{Scf, Ub},
    },
};
use rustc_hash::FxHashMap;

/// The part of a value that a CTA has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Part {
    /// The whole value; scalars are always whole.
    Whole,
    /// The slice of this CTA's rank: the dimension is divided into one equal part per CTA.
    Slice(usize),
}

/// The preferred dimension for slicing dots and stored values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefer {
    Rows,
    Columns,
}

/// The source of a part of a result.
pub(super) enum Origin {
    /// Computed from these parts of operands, by operand number.
    Operands(Vec<(usize, Part)>),
    /// Extracted as a slice of the whole result.
    Whole,
}

/// The maximum number of assignments of parts to stores that the search tries.
const MOST_TRIALS: u32 = 64;

#[derive(Clone)]
pub(super) struct Demands<'c> {
    /// The number of CTAs that split a tile.
    pub count: i64,
    /// The needed parts of each value.
    parts: FxHashMap<usize, Vec<Part>>,
    /// The part that each store writes, in program order.
    stores: Vec<(OpRef<'c>, Part)>,
    loads: Vec<OpRef<'c>>,
    /// The dimension along which each dot is sliced.
    products: FxHashMap<usize, usize>,
}

/// Finds the needed parts: for each store, the first part in order of preference that is consistent with the other
/// stores and passes `accept`.
pub(super) fn find<'c>(
    function: nv_tileaa::FuncOp<'c>,
    count: i64,
    prefer: Prefer,
    facts: &Facts,
    accept: &dyn Fn(&Demands<'c>) -> Result<(), Obstacle<'c>>,
) -> Result<Demands<'c>, Obstacle<'c>> {
    let mut demands =
        Demands { count, parts: FxHashMap::default(), stores: vec![], loads: vec![], products: FxHashMap::default() };
    let body = entry_block(function.body()).ok_or_else(|| (function.op(), "it has no body".to_string()))?;
    let mut stores = vec![];
    demands.roots(body, &mut stores, facts)?;
    if stores.is_empty() {
        return Err((function.op(), "the kernel stores nothing".into()));
    }
    let search = Search { stores: &stores, prefer, facts, accept };
    search.from(0, demands, &mut MOST_TRIALS.clone())
}

struct Search<'a, 'c> {
    stores: &'a [OpRef<'c>],
    prefer: Prefer,
    facts: &'a Facts,
    accept: &'a dyn Fn(&Demands<'c>) -> Result<(), Obstacle<'c>>,
}

impl<'c> Search<'_, 'c> {
    /// Assigns parts to the stores from number `i` on.
    fn from(&self, i: usize, demands: Demands<'c>, trials: &mut u32) -> Result<Demands<'c>, Obstacle<'c>> {
        let Some(&store) = self.stores.get(i) else {
            let mut demands = demands;
            demands.keep_ordered_loads(self.facts)?;
            demands.is_worth_it()?;
            (self.accept)(&demands)?;
            return Ok(demands);
        };
        let shape = stored_tensor(store).map_or(vec![], |t| t.shape);
        let mut candidates: Vec<Part> =
            (0..shape.len()).filter(|&d| shape[d] % demands.count == 0).map(Part::Slice).collect();
        if self.prefer == Prefer::Columns {
            candidates.reverse();
        }
        candidates.push(Part::Whole);
        let mut first = None;
        for part in candidates {
            if *trials == 0 {
                break;
            }
            *trials -= 1;
            let mut tried = demands.clone();
            let result = tried.store(store, part, self.facts).and_then(|()| self.from(i + 1, tried, trials));
            match result {
                Ok(found) => return Ok(found),
                Err(obstacle) => first = first.or(Some(obstacle)),
            }
        }
        Err(first.unwrap_or((store, "there are too many stores to try all combinations of slices".into())))
    }
}

/// Returns the tensor that a store writes; `None` for a scalar.
fn stored_tensor<'c>(store: OpRef<'c>) -> Option<Tensor<'c>> {
    match AnyOp::cast(store)? {
        AnyOp::TiledStoreOp(x) => Tensor::of_value(x.value()),
        AnyOp::StoreOp(x) => Tensor::of_value(x.ptr()),
        AnyOp::ScatterStoreOp(x) => Tensor::of_value(x.offsets()),
        _ => None,
    }
}

/// Whether a value is a token, which only expresses order and cannot be sliced.
pub(super) fn is_token(v: Val<'_>) -> bool {
    MemTokenType::cast(ty(v)).is_some()
}

fn extents(v: Val<'_>) -> Vec<i64> {
    Tensor::of_value(v).map_or(vec![], |t| t.shape)
}

impl<'c> Demands<'c> {
    /// Returns the needed parts of a value; a token is always needed.
    pub fn parts(&self, v: Val<'c>) -> Vec<Part> {
        if is_token(v) { vec![Part::Whole] } else { self.parts.get(&key(v)).cloned().unwrap_or_default() }
    }

    pub fn stores(&self) -> &[(OpRef<'c>, Part)] {
        &self.stores
    }

    /// Returns the part that a store writes; `None` if the op is not a store.
    pub fn stored(&self, op: OpRef<'c>) -> Option<Part> {
        self.stores.iter().find(|(store, _)| *store == op).map(|(_, part)| *part)
    }

    /// Returns all loads and stores.
    pub fn accesses(&self) -> impl Iterator<Item = OpRef<'c>> {
        self.loads.iter().copied().chain(self.stores.iter().map(|(op, _)| *op))
    }

    pub fn is_access(&self, op: OpRef<'c>) -> bool {
        self.accesses().any(|o| o == op)
    }

    /// Returns the dimension along which a dot is sliced.
    pub fn product(&self, dot: OpRef<'c>) -> Option<Prefer> {
        let rank = extents(result(dot, 0)).len();
        match rank - self.products.get(&op_key(dot))? {
            1 => Some(Prefer::Columns),
            2 => Some(Prefer::Rows),
            _ => None,
        }
    }

    /// Describes the split for a remark.
    pub fn summary(&self) -> String {
        let slices = self.stores.iter().filter(|(_, part)| *part != Part::Whole).count();
        let (products, alone) = (self.products.len(), self.stores.len() - slices);
        format!("dots sliced: {products}; stores sliced: {slices}; stores by rank 0: {alone}")
    }

    /// Collects loads and stores, and demands the values that control flow needs regardless of the stores.
    fn roots(&mut self, block: Blk<'c>, stores: &mut Vec<OpRef<'c>>, facts: &Facts) -> Result<(), Obstacle<'c>> {
        for op in ops_of(block) {
            let whole = |range: std::ops::Range<usize>| range.map(|i| operand(op, i)).collect::<Vec<_>>();
            let mut needed = vec![];
            match Scf::of(op) {
                Some(Scf::For) => needed = whole(0..3),
                Some(Scf::If | Scf::Condition) => needed = whole(0..1),
                Some(Scf::While | Scf::Yield) => {}
                Some(_) => return Err((op, format!("'{}' cannot be sliced", op_name(op)))),
                None => {
                    self.root(op, stores)?;
                    // Demand the values that select between tokens.
                    if result_count(op) > 0 && results(op).all(is_token) && !self.is_access(op) && !stores.contains(&op)
                    {
                        needed = operands(op).filter(|v| !is_token(*v)).collect();
                    }
                }
            }
            for v in needed {
                self.need(v, Part::Whole, op, facts)?;
            }
            if Scf::of(op).is_some() {
                for inner in (0..region_count(op)).filter_map(|i| entry_block(region(op, i))) {
                    self.roots(inner, stores, facts)?;
                }
            }
        }
        Ok(())
    }

    fn root(&mut self, op: OpRef<'c>, stores: &mut Vec<OpRef<'c>>) -> Result<(), Obstacle<'c>> {
        let weak = |ordering| match ordering {
            Ordering::Weak => Ok(()),
            _ => Err((op, format!("'{}' orders accesses of other threads", op_name(op)))),
        };
        match AnyOp::cast(op) {
            Some(AnyOp::TiledLoadOp(x)) => weak(x.ordering())?,
            Some(AnyOp::LoadOp(x)) => weak(x.ordering())?,
            Some(AnyOp::GatherLoadOp(x)) => weak(x.ordering())?,
            Some(AnyOp::TiledStoreOp(x)) => weak(x.ordering())?,
            Some(AnyOp::StoreOp(x)) => weak(x.ordering())?,
            Some(AnyOp::ScatterStoreOp(x)) => weak(x.ordering())?,
            // Each CTA executes it separately.
            Some(
                AnyOp::WaitForGridsOp(_)
                | AnyOp::LaunchDependentsOp(_)
                | AnyOp::FenceAliasOp(_)
                | AnyOp::ReduceOp(_)
                | AnyOp::ScanOp(_),
            ) => return Ok(()),
            Some(AnyOp::ReturnOp(x)) if x.operands().len() == 0 => return Ok(()),
            _ if region_count(op) == 0 && effects(op).is_some_and(|list| list.is_empty()) => return Ok(()),
            _ => return Err((op, format!("'{}' must run once per tile", op_name(op)))),
        }
        match AnyOp::cast(op) {
            Some(AnyOp::TiledStoreOp(_) | AnyOp::StoreOp(_) | AnyOp::ScatterStoreOp(_)) => stores.push(op),
            _ => self.loads.push(op),
        }
        Ok(())
    }

    /// Makes a store write a part of its value.
    fn store(&mut self, store: OpRef<'c>, part: Part, facts: &Facts) -> Result<(), Obstacle<'c>> {
        self.stores.push((store, part));
        for (i, part) in self.access_operands(store, part, facts)? {
            self.need(operand(store, i), part, store, facts)?;
        }
        Ok(())
    }

    /// Keeps loads that other accesses are ordered after, even if their values are not needed.
    fn keep_ordered_loads(&mut self, facts: &Facts) -> Result<(), Obstacle<'c>> {
        for load in self.loads.clone() {
            let value = result(load, 0);
            if self.parts(value).is_empty() && results(load).any(|r| is_token(r) && has_uses(r)) {
                self.need(value, Part::Whole, load, facts)?;
            }
        }
        Ok(())
    }

    /// Requires that at least one store is sliced.
    fn is_worth_it(&self) -> Result<(), Obstacle<'c>> {
        match self.stores.first() {
            Some((store, _)) if self.stores.iter().all(|(_, part)| *part == Part::Whole) => {
                Err((*store, "no store can be sliced".into()))
            }
            _ => Ok(()),
        }
    }

    /// Demands a part of a value; `user` cannot use any other part.
    fn need(&mut self, v: Val<'c>, part: Part, user: OpRef<'c>, facts: &Facts) -> Result<(), Obstacle<'c>> {
        let mut work = vec![(v, part, user)];
        while let Some((v, part, user)) = work.pop() {
            let known = self.parts.entry(key(v)).or_default();
            if is_token(v) || known.contains(&part) {
                continue;
            }
            known.push(part);
            known.sort_unstable();
            if let Part::Slice(d) = part
                && extents(v)[d] % self.count != 0
            {
                let text = format!("{} cannot be divided into {} slices along dimension {d}", ty(v), self.count);
                return Err((user, text));
            }
            match defining_op(v).filter(|op| Scf::of(*op).is_none()) {
                Some(op) => {
                    let operands = match self.origin(op, v, part, user, facts)? {
                        Origin::Whole => {
                            work.push((v, Part::Whole, op));
                            continue;
                        }
                        Origin::Operands(operands) => operands,
                    };
                    for (i, p) in operands {
                        let combines = ReduceOp::cast(op).is_some() || ScanOp::cast(op).is_some();
                        let reason = if combines || p == Part::Whole && part != Part::Whole { op } else { user };
                        work.push((operand(op, i), p, reason));
                    }
                    // Values that regions use from outside.
                    if region_count(op) > 0 {
                        let mut inner = vec![];
                        walk(op, &mut |o| inner.extend(operands_from_outside(o, op)));
                        work.extend(inner.into_iter().map(|v| (v, Part::Whole, op)));
                    }
                }
                None => work.extend(same_slot(v).into_iter().map(|v| (v, part, user))),
            }
        }
        Ok(())
    }

    /// Returns the source of a part of `v`, a result of `op`.
    fn origin(
        &mut self,
        op: OpRef<'c>,
        v: Val<'c>,
        part: Part,
        user: OpRef<'c>,
        facts: &Facts,
    ) -> Result<Origin, Obstacle<'c>> {
        let is_product = layout_relation(op) == LayoutRelation::Dot;
        match part {
            Part::Whole if is_product => Err((user, format!("'{}' needs the whole result of a dot", op_name(user)))),
            Part::Whole => Ok(Origin::Operands((0..operand_count(op)).map(|i| (i, Part::Whole)).collect())),
            Part::Slice(d) => {
                if is_product && *self.products.entry(op_key(op)).or_insert(d) != d {
                    return Err((user, format!("'{}' needs different slices of a dot than another op", op_name(user))));
                }
                self.sliced(op, v, d, facts)
            }
        }
    }

    /// Returns the source of the slice of `v` along dimension `d`. `rebuild` repeats this query.
    pub fn sliced(&self, op: OpRef<'c>, v: Val<'c>, d: usize, facts: &Facts) -> Result<Origin, Obstacle<'c>> {
        let all = |part: Part| {
            let of = |i: usize| if Tensor::of_value(operand(op, i)).is_some() { part } else { Part::Whole };
            Ok(Origin::Operands((0..operand_count(op)).map(|i| (i, of(i))).collect()))
        };
        let rank = extents(v).len();
        let one = |part| Ok(Origin::Operands(vec![(0, part)]));
        match AnyOp::cast(op) {
            Some(AnyOp::TiledLoadOp(_) | AnyOp::LoadOp(_) | AnyOp::GatherLoadOp(_)) => {
                return self.access_operands(op, Part::Slice(d), facts).map(Origin::Operands);
            }
            Some(AnyOp::DotOp(_) | AnyOp::DotScaledOp(_)) => {
                let slice = Part::Slice(d);
                let [lhs, rhs] = match rank - d {
                    1 => [Part::Whole, slice],
                    2 => [slice, Part::Whole],
                    _ => [slice, slice],
                };
                // The operands, the accumulator, the scales.
                let parts = [lhs, rhs, slice, lhs, rhs];
                return Ok(Origin::Operands((0..operand_count(op)).map(|i| (i, parts[i])).collect()));
            }
            Some(AnyOp::ReduceOp(x)) => {
                let reduced = x.dim() as usize;
                return all(Part::Slice(if d < reduced { d } else { d + 1 }));
            }
            Some(AnyOp::ScanOp(x)) if x.dim() as usize != d => return all(Part::Slice(d)),
            Some(AnyOp::CatOp(x)) if x.dim() as usize != d => return all(Part::Slice(d)),
            Some(AnyOp::PermuteOp(x)) => return one(Part::Slice(x.order()[d] as usize)),
            Some(AnyOp::BroadcastOp(x)) => {
                return one(if extents(x.source())[d] == extents(v)[d] { Part::Slice(d) } else { Part::Whole });
            }
            Some(AnyOp::PackOp(_) | AnyOp::UnpackOp(_)) if extents(operand(op, 0))[0] % self.count == 0 => {
                return one(Part::Slice(0));
            }
            Some(AnyOp::SplatOp(_)) => return one(Part::Whole),
            Some(AnyOp::MakeRangeOp(_)) => return Ok(Origin::Operands(vec![])),
            // An assumption about all elements need not hold for a slice.
            Some(AnyOp::AssumeOp(_)) => return one(Part::Slice(d)),
            _ => {}
        }
        let elementwise = region_count(op) == 0 && effects(op).is_some_and(|list| list.is_empty());
        match layout_relation(op) {
            LayoutRelation::Same if elementwise && ScanOp::cast(op).is_none() => all(Part::Slice(d)),
            LayoutRelation::Reshape => Ok(match same_dimension(&extents(v), d, &extents(operand(op, 0)), self.count) {
                Some(from) => Origin::Operands(vec![(0, Part::Slice(from))]),
                None => Origin::Whole,
            }),
            LayoutRelation::Leaf if is_splat(op) || Ub::of(op) == Some(Ub::Poison) => Ok(Origin::Operands(vec![])),
            _ => Ok(Origin::Whole),
        }
    }

    /// Returns the operands of an access to a part of a tile, without tokens.
    pub fn access_operands(
        &self,
        op: OpRef<'c>,
        part: Part,
        facts: &Facts,
    ) -> Result<Vec<(usize, Part)>, Obstacle<'c>> {
        let data = (0..operand_count(op)).filter(|&i| !is_token(operand(op, i)));
        let tiled = match AnyOp::cast(op) {
            Some(AnyOp::TiledLoadOp(x)) => Some((x.view(), 1, x.in_bounds())),
            Some(AnyOp::TiledStoreOp(x)) => Some((x.view(), 2, x.in_bounds())),
            _ => None,
        };
        let (Part::Slice(d), Some((view, first, promised))) = (part, tiled) else {
            let of = |i: usize| if Tensor::of_value(operand(op, i)).is_some() { part } else { Part::Whole };
            return Ok(data.map(|i| (i, of(i))).collect());
        };
        let t = TiledViewType::cast(ty(view)).ok_or_else(|| (op, "its view is not known".to_string()))?;
        let sparse = t.sparse_dim() == Some(d as i64);
        if t.tile()[d] != t.steps()[d] && !sparse {
            return Err((op, "its tiles overlap or have gaps".into()));
        }
        let promised = bool_list(promised).get(d) == Some(&true);
        if !sparse && !promised && !View::of(view).is_some_and(|view| view.tests_slices(d, self.count, facts)) {
            let text = "a slice could be out of bounds without a check: the extent is not a multiple of the tile";
            return Err((op, text.into()));
        }
        let of = |i: usize| match i {
            _ if i == first + d && sparse => Part::Slice(0),
            0 if first == 2 => part,
            _ => Part::Whole,
        };
        Ok(data.map(|i| (i, of(i))).collect())
    }
}

/// Whether an op is a constant with equal elements.
fn is_splat(op: OpRef<'_>) -> bool {
    let value = attr(op, "value").filter(|_| is_constant(op));
    value.is_some_and(|a| elements::splat(a).is_some())
}

/// Returns the dimension of another shape of the same elements whose slices equal the slices of `shape` along
/// dimension `d`: the first bits of both select the same elements.
fn same_dimension(shape: &[i64], d: usize, other: &[i64], count: i64) -> Option<usize> {
    let from = |shape: &[i64], d: usize| shape[d..].iter().product::<i64>();
    (0..other.len()).find(|&o| from(other, o) == from(shape, d) && other[o] % count == 0)
}

/// Returns the operands of an op inside `outer` that are defined outside it.
fn operands_from_outside<'c>(op: OpRef<'c>, outer: OpRef<'c>) -> Vec<Val<'c>> {
    if op == outer {
        return vec![];
    }
    let inside = |block: Option<OpRef<'c>>| std::iter::successors(block, |o| parent_op(*o)).any(|o| o == outer);
    let is_inside = |v: Val<'c>| match defining_op(v) {
        Some(source) => inside(parent_op(source)),
        None => inside(parent_of_block(owner_of(v))),
    };
    operands(op).filter(|v| !is_inside(*v)).collect()
}

/// Returns the values that hold the same value as `v`, a result of structured control flow or an argument of its
/// blocks: before, in and after a loop, or in the branches.
fn same_slot<'c>(v: Val<'c>) -> Vec<Val<'c>> {
    let mut all = vec![];
    match defining_op(v) {
        Some(op) => {
            let number = results(op).position(|r| r == v).expect("a result of its op");
            carried_by_result(op, number, |v| all.push(v));
        }
        None => carried_by_argument(v, |v| all.push(v)),
    }
    all
}
