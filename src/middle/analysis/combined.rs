//! The dimensions of a loaded tile along which reductions and scans combine its elements.

use crate::dialect::{
    layouts::Tensor,
    nv_tileas::{AnyOp, PermuteOp},
    rt::*,
};
use rustc_hash::FxHashSet;
use tile_layout::{Layout, Shape};

/// The dimensions of a tile that reductions and scans combine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Combined {
    pub reduced: Vec<usize>,
    pub scanned: Vec<usize>,
}

/// The cost of an exchange between warps, in shuffles: two barriers and a round trip through shared memory.
const EXCHANGE: u64 = 64;
/// The cost if there is no plan: the tile is converted first.
const CONVERSION: u64 = 1 << 20;
/// The number of values up to which the uses of a tile are followed. Sums of all tiles of a long program use each one.
const MOST_VALUES: usize = 512;

impl Combined {
    /// Collects the combined dimensions of `v`, through elementwise ops and ops that rename its dimensions. Follows the
    /// first [`MOST_VALUES`] values.
    pub fn of(v: Val<'_>) -> Self {
        let mut found = Self::default();
        let Some(t) = Tensor::of_value(v) else { return found };
        // Each value with the tile dimension of each of its dimensions; unit dimensions may correspond to none.
        let mut work = vec![(v, (0..t.shape.len()).map(Some).collect::<Vec<_>>())];
        let mut seen = FxHashSet::default();
        while let Some((v, dims)) = work.pop() {
            if !seen.insert(key(v)) {
                continue;
            }
            if seen.len() > MOST_VALUES {
                break;
            }
            for (user, _) in uses(v) {
                found.follow(user, v, &dims, &mut work);
            }
        }
        for list in [&mut found.reduced, &mut found.scanned] {
            list.sort_unstable();
            list.dedup();
        }
        found
    }

    fn follow<'c>(
        &mut self,
        op: OpRef<'c>,
        v: Val<'c>,
        dims: &[Option<usize>],
        work: &mut Vec<(Val<'c>, Vec<Option<usize>>)>,
    ) {
        match AnyOp::cast(op) {
            Some(AnyOp::ReduceOp(x)) => {
                let mut rest = dims.to_vec();
                self.reduced.extend(rest.remove(x.dim() as usize));
                work.extend(results(op).map(|r| (r, rest.clone())));
            }
            Some(AnyOp::ScanOp(x)) => {
                self.scanned.extend(dims[x.dim() as usize]);
                work.extend(results(op).map(|r| (r, dims.to_vec())));
            }
            Some(AnyOp::PermuteOp(_)) => {
                let order = PermuteOp::wrap(op).order();
                work.push((result(op, 0), order.iter().map(|&d| dims[d as usize]).collect()));
            }
            Some(AnyOp::ViewOp(x)) => {
                let shape = |v| Tensor::of_value(v).map(|t| t.shape).unwrap_or_default();
                work.extend(without_units(&shape(v), &shape(x.result()), dims).map(|dims| (x.result(), dims)));
            }
            Some(AnyOp::ConvertLayoutOp(x)) => work.push((x.result(), dims.to_vec())),
            Some(_) => {}
            None if region_count(op) == 0 => {
                let like = Tensor::of_value(v).map(|t| t.shape);
                let same = results(op).filter(|r| Tensor::of_value(*r).map(|t| t.shape) == like);
                work.extend(same.map(|r| (r, dims.to_vec())));
            }
            None => {}
        }
    }

    /// Returns the cost of combining elements if the tile has `layout`, in units of a shuffle.
    pub fn cost(&self, layout: &Layout, shape: &Shape) -> u64 {
        let reduction = |&d: &usize| {
            let Ok(Some(plan)) = layout.reduction(shape, d, 0) else { return CONVERSION };
            let rows = u64::from(plan.layout.registers());
            let exchange = if plan.across.warp != 0 { EXCHANGE + 2 * rows } else { 0 };
            rows * u64::from(plan.across.lane.count_ones()) + exchange
        };
        let scan = |&d: &usize| {
            let (Ok(Some(bits)), Ok((low, width))) = (layout.segment_bits(shape, d), shape.field(d)) else {
                return CONVERSION;
            };
            let along = |bases: &[u64]| bases.iter().filter(|b| **b >> low & ((1 << width) - 1) != 0).count() as u32;
            let (registers, lanes) = (along(layout.register()), along(layout.lane()));
            // Runs of registers that a thread scans one by one, each of which continues through the lanes.
            let in_runs = bits.saturating_sub(lanes).min(registers);
            let runs = u64::from(layout.registers()) >> in_runs;
            let exchange = if along(layout.warp()) != 0 { EXCHANGE } else { 0 };
            runs * (u64::from(lanes) + 1) + exchange + (1 << (width - bits))
        };
        self.reduced.iter().map(reduction).sum::<u64>() + self.scanned.iter().map(scan).sum::<u64>()
    }
}

/// Returns the dimensions of a view that only adds or drops extents of one.
fn without_units(from: &[i64], to: &[i64], dims: &[Option<usize>]) -> Option<Vec<Option<usize>>> {
    let mut long = from.iter().zip(dims).filter(|(e, _)| **e != 1);
    let mapped = to.iter().map(|&extent| match extent {
        1 => Some(None),
        _ => long.next().filter(|(e, _)| **e == extent).map(|(_, d)| *d),
    });
    mapped.collect::<Option<Vec<_>>>().filter(|_| long.next().is_none())
}
