//! Scans within warps, and the carries between their segments.
//!
//! A thread first scans each of its runs of registers sequentially. The last elements of the runs are then scanned
//! across the lanes with Sklansky's scheme (1960): in step `k`, each block of `2^(k+1)` lanes in coordinate order
//! combines the last value of its lower half into all lanes of its upper half. A lane finds its source in a step by
//! setting and clearing bits of its own number, so the bits of the coordinate may be in the lane number in any order.
//! Finally each thread combines the value of the previous lane into its run. No identity element is needed: values
//! without predecessors stay unchanged.

use super::{Lower, combine::From, llvm::Cmp};
use crate::dialect::{
    attributes::CANONICAL,
    nv_tileas::{CarryOp, ScanOp},
    pass::{Failed, fail},
    rt::*,
};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use tile_layout::{Layout, LinearExpr, LinearMap, Shape, WarpScan, combine};

impl<'c> Lower<'c, '_> {
    pub(super) fn scan(&mut self, x: ScanOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let operands: Vec<Val<'c>> = x.operands().collect();
        let tensor = self.tensor(op, operands[0])?;
        let layout = self.layout(op, operands[0])?;
        let plan = layout
            .warp_scan(&tensor.tile_shape(), x.dim() as usize)
            .map_err(|e| fail(op, e.to_string()))?
            .ok_or_else(|| fail(op, "'nv_tileas.scan' spans several warps; run tileas-materialize-reductions first"))?;
        let mut values: Vec<Vec<Val<'c>>> = operands.iter().map(|v| self.fragment(op, *v)).collect::<Result<_, _>>()?;
        let runs: Vec<Vec<u32>> = if x.reverse() {
            plan.runs.iter().map(|run| run.iter().rev().copied().collect()).collect()
        } else {
            plan.runs.clone()
        };
        let canonical = CANONICAL.is_on(op);
        if canonical {
            self.canonical_runs(op, &runs, &mut values)?;
        } else {
            self.scan_runs(op, &runs, &mut values)?;
        }
        let steps = Steps::new(self, &plan, x.reverse());
        if canonical {
            self.canonical_lanes(op, &runs, &steps, &mut values)?;
        } else {
            self.scan_lanes(op, &runs, &steps, &mut values)?;
        }
        for (r, values) in results(op).zip(values) {
            self.set_all(r, plan.same.iter().map(|&s| values[s as usize]).collect());
        }
        Ok(())
    }

    fn scan_runs(&mut self, op: OpRef<'c>, runs: &[Vec<u32>], values: &mut [Vec<Val<'c>>]) -> Result<(), Failed> {
        for pair in runs.iter().flat_map(|run| run.windows(2)) {
            let next = self.combine(op, &at(values, pair[0]), &at(values, pair[1]))?;
            put(values, pair[1], next);
        }
        Ok(())
    }

    /// Scans runs across all lanes; each thread has scanned its own runs. The registers of a run are in scan
    /// direction.
    fn scan_lanes(
        &mut self,
        op: OpRef<'c>,
        runs: &[Vec<u32>],
        steps: &Steps<'c>,
        values: &mut [Vec<Val<'c>>],
    ) -> Result<(), Failed> {
        let Some((before, takes)) = steps.before else { return Ok(()) };
        let last = |run: &Vec<u32>| run[run.len() - 1];
        let mut totals: Vec<Vec<Val<'c>>> = runs.iter().map(|run| at(values, last(run))).collect();
        for (source, upper) in &steps.blocks {
            // Emit all exchanges of a step before its combinations, so that they overlap.
            let others = self.rows_from_lane(&totals, From::Lane(*source));
            for (total, other) in totals.iter_mut().zip(others) {
                *total = self.combine_where(op, *upper, &other, total)?;
            }
        }
        if runs.iter().any(|run| run.len() > 1) {
            let prefixes = self.rows_from_lane(&totals, From::Lane(before));
            for (run, prefix) in runs.iter().zip(prefixes) {
                for &r in &run[..run.len() - 1] {
                    let new = self.combine_where(op, takes, &prefix, &at(values, r))?;
                    put(values, r, new);
                }
            }
        }
        for (run, total) in runs.iter().zip(totals) {
            put(values, last(run), total);
        }
        Ok(())
    }

    /// Combines `later` with `earlier` where `takes` holds, and keeps `later` elsewhere.
    pub(super) fn combine_where(
        &mut self,
        op: OpRef<'c>,
        takes: Val<'c>,
        earlier: &[Val<'c>],
        later: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>, Failed> {
        let both = self.combine(op, earlier, later)?;
        Ok(both.iter().zip(later).map(|(b, l)| self.l.select(takes, *b, *l)).collect())
    }

    /// Combines each element with the totals of all segments before its own. A thread computes the prefixes of all
    /// segments and selects the one for its element's segment.
    pub(super) fn carry(&mut self, x: CarryOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        if CANONICAL.is_on(op) {
            return self.canonical_carry(x);
        }
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let scanned: Vec<Val<'c>> = x.scanned().collect();
        let totals: Vec<Val<'c>> = x.totals().collect();
        let tensor = self.tensor(op, scanned[0])?;
        let (layout, totals_layout) = (self.layout(op, scanned[0])?, self.layout(op, totals[0])?);
        let dim = x.dim() as usize;
        // The index of each element in the numbering of the totals.
        let (places, shape) = layout.slice(&tensor.tile_shape(), dim + 1).map_err(error)?;
        let segments = Segments::new(&places, &shape, dim).map_err(error)?;
        let holders = LinearMap::new(totals_layout.register().to_vec(), 64).map_err(error)?;

        let mut values: Vec<Vec<Val<'c>>> = scanned.iter().map(|v| self.fragment(op, *v)).collect::<Result<_, _>>()?;
        let sums: Vec<Vec<Val<'c>>> = totals.iter().map(|v| self.fragment(op, *v)).collect::<Result<_, _>>()?;
        let own = self.linear(&segments.thread);
        // The prefixes by segment, for each set of other coordinates; and the carry for each such set and register
        // segment.
        let mut prefixes: FxHashMap<u64, Vec<Option<Vec<Val<'c>>>>> = FxHashMap::default();
        let mut carries: FxHashMap<(u64, u64), Carry<'c>> = FxHashMap::default();
        for r in 0..layout.registers() {
            let (others, segment) = segments.split(combine(places.register(), r.into()));
            if let Entry::Vacant(slot) = prefixes.entry(others) {
                let mut of_segment = vec![];
                for s in 0..segments.count {
                    let q = holders.solve(others | s << segments.low);
                    let q = q.ok_or_else(|| fail(op, "a thread lacks the total of a segment"))? as usize;
                    of_segment.push(sums.iter().map(|v| v[q]).collect());
                }
                slot.insert(self.prefixes(op, of_segment, x.reverse())?);
            }
            let of_segment = &prefixes[&others];
            let carry = carries.entry((others, segment)).or_insert_with(|| {
                let candidates: Vec<_> =
                    segments.offsets.iter().map(|&o| (o, of_segment[(segment ^ o) as usize].clone())).collect();
                self.choose(own, &candidates)
            });
            let value = at(&values, r);
            let new = match carry.clone() {
                Carry::None => value,
                Carry::Always(prefix) => self.combine(op, &prefix, &value)?,
                Carry::Where(takes, prefix) => self.combine_where(op, takes, &prefix, &value)?,
            };
            put(&mut values, r, new);
        }
        for (r, values) in results(op).zip(values) {
            self.set_all(r, values);
        }
        Ok(())
    }

    /// For each segment, computes the combination of all earlier totals; `None` for the first one in scan direction.
    #[allow(clippy::type_complexity, reason = "a list of optional lists")]
    fn prefixes(
        &mut self,
        op: OpRef<'c>,
        mut totals: Vec<Vec<Val<'c>>>,
        reverse: bool,
    ) -> Result<Vec<Option<Vec<Val<'c>>>>, Failed> {
        if reverse {
            totals.reverse();
        }
        let mut list: Vec<Option<Vec<Val<'c>>>> = vec![None];
        for total in &totals[..totals.len() - 1] {
            let next = match list.last() {
                Some(Some(prefix)) => self.combine(op, &prefix.clone(), total)?,
                _ => total.clone(),
            };
            list.push(Some(next));
        }
        if reverse {
            list.reverse();
        }
        Ok(list)
    }

    /// Selects the candidate whose number equals `own`.
    fn choose(&self, own: Val<'c>, candidates: &[(u64, Option<Vec<Val<'c>>>)]) -> Carry<'c> {
        let l = &self.l;
        let compare = |predicate, number: u64| l.icmp(predicate, own, l.i32c(number as i64));
        let mut chosen: Option<Vec<Val<'c>>> = None;
        let mut first = None;
        for (number, prefix) in candidates {
            chosen = match (chosen, prefix) {
                (chosen, None) => {
                    first = Some(*number);
                    chosen
                }
                (None, Some(prefix)) => Some(prefix.clone()),
                (Some(chosen), Some(prefix)) => {
                    let this = compare(Cmp::Eq, *number);
                    Some(prefix.iter().zip(chosen).map(|(p, c)| l.select(this, *p, c)).collect())
                }
            };
        }
        match (chosen, first) {
            (None, _) => Carry::None,
            (Some(prefix), None) => Carry::Always(prefix),
            (Some(prefix), Some(first)) => Carry::Where(compare(Cmp::Ne, first), prefix),
        }
    }
}

/// Returns register `r` of every operand.
pub(super) fn at<'c>(values: &[Vec<Val<'c>>], r: u32) -> Vec<Val<'c>> {
    values.iter().map(|v| v[r as usize]).collect()
}

pub(super) fn put<'c>(values: &mut [Vec<Val<'c>>], r: u32, new: Vec<Val<'c>>) {
    values.iter_mut().zip(new).for_each(|(v, n)| v[r as usize] = n);
}

/// The prefix that an element is combined with.
#[derive(Clone)]
enum Carry<'c> {
    None,
    Always(Vec<Val<'c>>),
    /// Only in threads where the condition holds.
    Where(Val<'c>, Vec<Val<'c>>),
}

/// Splits an index into its segment and the other coordinates.
pub(super) struct Segments {
    pub low: u32,
    mask: u64,
    pub count: u64,
    /// The thread's contribution to the segment number.
    pub thread: LinearExpr,
    /// All values of this contribution, starting with zero.
    pub offsets: Vec<u64>,
}

impl Segments {
    pub fn new(places: &Layout, shape: &Shape, dim: usize) -> tile_layout::Result<Self> {
        let (low, width) = shape.field(dim)?;
        let mask = (1u64 << width) - 1;
        let part = |bases: &[u64]| -> Vec<u64> { bases.iter().map(|b| b >> low & mask).collect() };
        let (lane, warp, block) = (part(places.lane()), part(places.warp()), part(places.block()));
        let reach: tile_layout::Subspace = lane.iter().chain(&warp).chain(&block).copied().collect();
        let thread = LinearExpr::new(&lane, &warp, &block);
        Ok(Segments { low, mask, count: mask + 1, thread, offsets: reach.members().collect() })
    }
    /// Returns the other coordinates of an index, and its segment.
    pub fn split(&self, index: u64) -> (u64, u64) {
        (index & !(self.mask << self.low), index >> self.low & self.mask)
    }
}

/// The lanes that a lane reads from, the same for all runs.
pub(super) struct Steps<'c> {
    /// For each doubling step, the source lane and whether this lane is in an upper half.
    pub blocks: Vec<(Val<'c>, Val<'c>)>,
    /// The previous lane and whether there is one; `None` if the scan does not cross lanes.
    before: Option<(Val<'c>, Val<'c>)>,
}

impl<'c> Steps<'c> {
    fn new(lower: &Lower<'c, '_>, plan: &WarpScan, reverse: bool) -> Self {
        let l = &lower.l;
        let constant = |v: u32| l.i32c(i64::from(v as i32));
        let mut blocks = vec![];
        let mut below = 0u32;
        for bit in plan.lanes.iter().map(|b| 1u32 << b) {
            // In reverse, each bit of the coordinate is complemented.
            let (set, clear) = if reverse { (bit, below) } else { (below, bit) };
            let cleared = l.bin("and", lower.threads.lane, constant(!(clear | set)));
            let source = if set == 0 { cleared } else { lower.or_disjoint(cleared, constant(set)) };
            let own = l.bin("and", lower.threads.lane, constant(bit));
            let upper = l.icmp(if reverse { Cmp::Eq } else { Cmp::Ne }, own, constant(0));
            blocks.push((source, upper));
            below |= bit;
        }
        let before = (below != 0).then(|| {
            let own = l.bin("and", lower.threads.lane, constant(below));
            let end = constant(if reverse { below } else { 0 });
            (lower.neighbour(&plan.lanes, below, reverse), l.icmp(Cmp::Ne, own, end))
        });
        Steps { blocks, before }
    }
}

impl<'c> Lower<'c, '_> {
    /// Returns the lane whose coordinate is one less than this lane's, or one more if `up`. The bits `lanes` of the
    /// lane number hold the coordinate.
    fn neighbour(&self, lanes: &[u32], mask: u32, up: bool) -> Val<'c> {
        let l = &self.l;
        let constant = |v: u32| l.i32c(i64::from(v as i32));
        if lanes.is_sorted() {
            // Setting (or clearing) all other bits lets a carry (or borrow) propagate through them.
            let (name, others) = if up { ("add", !mask) } else { ("sub", 0) };
            let own = if up {
                l.bin("or", self.threads.lane, constant(others))
            } else {
                l.bin("and", self.threads.lane, constant(mask))
            };
            let moved = l.bin("and", l.bin(name, own, constant(1 << lanes[0])), constant(mask));
            return self.or_disjoint(moved, l.bin("and", self.threads.lane, constant(!mask)));
        }
        // The coordinate's bits are in a different order than the lane's: each bit flips if all bits below it carry.
        let mut result = self.threads.lane;
        let mut carries: Option<Val<'c>> = None;
        for &bit in lanes {
            let one = l.bin("and", l.bin("lshr", self.threads.lane, constant(bit)), constant(1));
            let flip = carries.unwrap_or_else(|| constant(1));
            result = l.bin("xor", result, l.bin("shl", flip, constant(bit)));
            let goes_on = if up { one } else { l.bin("xor", one, constant(1)) };
            carries = Some(l.bin("and", flip, goes_on));
        }
        result
    }
}
