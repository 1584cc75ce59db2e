//! Scans in the canonical order.
//!
//! The canonical order is Sklansky's scheme (1960) over all bits of the coordinate, from the lowest: in the step of bit
//! `k`, each element whose coordinate has the bit is combined with the last element of the lower half of its block of
//! `2^(k+1)`. The layout decides only how a step finds that element: in a register, in a lane, or among the totals of
//! the segments. Unlike the default, every element takes part in every step, so that no element depends on which bits
//! a thread holds.

use super::{
    Lower,
    combine::From,
    llvm::Cmp,
    scan::{Segments, Steps, at, put},
};
use crate::dialect::{
    nv_tileas::CarryOp,
    pass::{Failed, fail},
    rt::*,
};
use tile_layout::{LinearMap, combine};

/// The coordinates that have bit `k` and, for each, the last coordinate of the lower half of its block.
fn pairs(count: usize, k: u32) -> impl Iterator<Item = (usize, usize)> {
    let bit = 1usize << k;
    (0..count).filter(move |i| i & bit != 0).map(move |i| (i, i & !(2 * bit - 1) | (bit - 1)))
}

impl<'c> Lower<'c, '_> {
    /// Scans the runs of registers, which are in scan direction.
    pub(super) fn canonical_runs(
        &mut self,
        op: OpRef<'c>,
        runs: &[Vec<u32>],
        values: &mut [Vec<Val<'c>>],
    ) -> Result<(), Failed> {
        for run in runs {
            for k in 0..run.len().ilog2() {
                for (i, before) in pairs(run.len(), k) {
                    let next = self.combine(op, &at(values, run[before]), &at(values, run[i]))?;
                    put(values, run[i], next);
                }
            }
        }
        Ok(())
    }

    /// Continues the steps with the bits that lanes hold.
    pub(super) fn canonical_lanes(
        &mut self,
        op: OpRef<'c>,
        runs: &[Vec<u32>],
        steps: &Steps<'c>,
        values: &mut [Vec<Val<'c>>],
    ) -> Result<(), Failed> {
        for (source, upper) in &steps.blocks {
            let totals: Vec<Vec<Val<'c>>> = runs.iter().map(|run| at(values, run[run.len() - 1])).collect();
            let others = self.rows_from_lane(&totals, From::Lane(*source));
            for (run, other) in runs.iter().zip(others) {
                for &r in run {
                    let new = self.combine_where(op, *upper, &other, &at(values, r))?;
                    put(values, r, new);
                }
            }
        }
        Ok(())
    }

    /// Continues the steps with the bits that number segments. Each thread scans the totals of all segments alongside,
    /// because a step needs the totals after the steps before it.
    pub(super) fn canonical_carry(&mut self, x: CarryOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let scanned: Vec<Val<'c>> = x.scanned().collect();
        let totals: Vec<Val<'c>> = x.totals().collect();
        let tensor = self.tensor(op, scanned[0])?;
        let (layout, totals_layout) = (self.layout(op, scanned[0])?, self.layout(op, totals[0])?);
        let dim = x.dim() as usize;
        let (places, shape) = layout.slice(&tensor.tile_shape(), dim + 1).map_err(error)?;
        let segments = Segments::new(&places, &shape, dim).map_err(error)?;
        let holders = LinearMap::new(totals_layout.register().to_vec(), 64).map_err(error)?;
        let mut values: Vec<Vec<Val<'c>>> = scanned.iter().map(|v| self.fragment(op, *v)).collect::<Result<_, _>>()?;
        let sums: Vec<Vec<Val<'c>>> = totals.iter().map(|v| self.fragment(op, *v)).collect::<Result<_, _>>()?;
        let own = self.linear(&segments.thread);
        let count = segments.count as usize;
        // In reverse, the first segment in scan direction is the last one.
        let turn = if x.reverse() { segments.count - 1 } else { 0 };
        let registers = 0..layout.registers();
        let split: Vec<(u64, u64)> = registers.map(|r| segments.split(combine(places.register(), r.into()))).collect();
        let mut rows: Vec<u64> = split.iter().map(|s| s.0).collect();
        rows.sort_unstable();
        rows.dedup();
        for others in rows {
            // In scan direction.
            let mut stage = vec![];
            for s in 0..segments.count {
                let q = holders.solve(others | (s ^ turn) << segments.low);
                let q = q.ok_or_else(|| fail(op, "a thread lacks the total of a segment"))? as usize;
                stage.push(sums.iter().map(|v| v[q]).collect::<Vec<_>>());
            }
            for k in 0..count.ilog2() {
                for (r, (_, segment)) in split.iter().enumerate().filter(|(_, s)| s.0 == others) {
                    let base = segment ^ turn;
                    let place = self.l.bin("xor", own, self.l.i32c(base as i64));
                    let bit = self.l.bin("and", place, self.l.i32c(1 << k));
                    let takes = self.l.icmp(Cmp::Ne, bit, self.l.i32c(0));
                    // The segments that this register may belong to, depending on the thread.
                    let mut chosen: Option<Vec<Val<'c>>> = None;
                    for (i, before) in pairs(count, k) {
                        let offset = i as u64 ^ base;
                        if !segments.offsets.contains(&offset) {
                            continue;
                        }
                        let candidate = stage[before].clone();
                        chosen = Some(match chosen {
                            None => candidate,
                            Some(chosen) => {
                                let this = self.l.icmp(Cmp::Eq, own, self.l.i32c(offset as i64));
                                candidate.iter().zip(chosen).map(|(a, b)| self.l.select(this, *a, b)).collect()
                            }
                        });
                    }
                    if let Some(prefix) = chosen {
                        let new = self.combine_where(op, takes, &prefix, &at(&values, r as u32))?;
                        put(&mut values, r as u32, new);
                    }
                }
                let before = stage.clone();
                for (i, source) in pairs(count, k) {
                    stage[i] = self.combine(op, &before[source], &before[i])?;
                }
            }
        }
        for (r, values) in results(op).zip(values) {
            self.set_all(r, values);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn a_step_takes_the_last_element_before_the_upper_half() {
        assert_eq!(pairs(4, 0).collect::<Vec<_>>(), [(1, 0), (3, 2)]);
        assert_eq!(pairs(8, 1).collect::<Vec<_>>(), [(2, 1), (3, 1), (6, 5), (7, 5)]);
        // After all steps, each element holds all elements up to its own, in order.
        let mut words: Vec<Vec<usize>> = (0..16).map(|i| vec![i]).collect();
        for k in 0..4 {
            for (i, before) in pairs(16, k) {
                words[i] = [words[before].clone(), words[i].clone()].concat();
            }
        }
        assert!(words.iter().enumerate().all(|(i, word)| word.iter().copied().eq(0..=i)));
    }
}
