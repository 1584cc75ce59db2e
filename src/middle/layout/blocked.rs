//! Blocked layouts: each thread holds a small box of elements, the lanes tile the warp's box, and the warps tile the
//! block's box.

use crate::error::{LayoutError, Result};
use crate::layout::{LANE_BITS, Layout};
use crate::shape::Shape;

/// Assigns the bits of a tile's coordinates, low bits first, to the input dimensions of a layout.
struct Filler<'a> {
    shape: &'a Shape,
    /// The position of each dimension's field, and the number of its bits already taken.
    low: Vec<u32>,
    taken: Vec<u32>,
}

impl<'a> Filler<'a> {
    fn new(shape: &'a Shape) -> Self {
        let low = shape.fields().into_iter().map(|(low, _)| low).collect();
        Self { shape, low, taken: vec![0; shape.rank()] }
    }

    fn left(&self, dim: usize) -> u32 {
        self.shape.log2()[dim] - self.taken[dim]
    }

    /// Takes up to `count` bits of `dim`.
    fn take(&mut self, dim: usize, count: u32, into: &mut Vec<u64>) -> u32 {
        let count = count.min(self.left(dim));
        let start = self.low[dim] + self.taken[dim];
        into.extend((start..start + count).map(|bit| 1u64 << bit));
        self.taken[dim] += count;
        count
    }

    /// Takes up to `count` bits, dimension after dimension.
    fn take_in_order(&mut self, order: impl IntoIterator<Item = usize>, count: u32, into: &mut Vec<u64>) {
        let mut left = count;
        for dim in order {
            left -= self.take(dim, left, into);
        }
    }
}

fn log2(what: &'static str, value: u64) -> Result<u32> {
    if value.is_power_of_two() {
        Ok(value.ilog2())
    } else {
        Err(LayoutError::Mismatch { what, expected: value.checked_next_power_of_two().unwrap_or(1), found: value })
    }
}

impl Layout {
    /// The blocked layout. Each thread holds a box of `size_per_thread`; `lanes` boxes per dimension make a warp's
    /// box, and `warps` of those make the block's box. `order` lists the dimensions from the fastest, for registers,
    /// lanes and warps alike. A tile larger than the block's box repeats the box in further registers. Along a
    /// dimension where the tile is smaller, threads hold replicas.
    ///
    /// Errors: a list whose length is not the rank, or a count that is not a power of two. The product of `lanes`
    /// must be 32.
    pub fn blocked(
        shape: &Shape,
        size_per_thread: &[u64],
        order: &[usize],
        lanes: &[u64],
        warps: &[u64],
    ) -> Result<Self> {
        shape.check_order(order)?;
        let rank = shape.rank();
        for (what, list) in [("size per thread", size_per_thread), ("lanes", lanes), ("warps", warps)] {
            if list.len() != rank {
                return Err(LayoutError::Mismatch { what, expected: rank as u64, found: list.len() as u64 });
            }
        }
        let mut filler = Filler::new(shape);
        let mut bases: [Vec<u64>; 3] = Default::default();
        let levels = [("size per thread", size_per_thread), ("lanes", lanes), ("warps", warps)];
        for (level, (what, list)) in levels.into_iter().enumerate() {
            for &dim in order {
                let wanted = log2(what, list[dim])?;
                let got = filler.take(dim, wanted, &mut bases[level]);
                if level > 0 {
                    bases[level].extend((got..wanted).map(|_| 0));
                }
            }
        }
        let [mut register, mut lane, warp] = bases;
        if rank == 0 {
            lane = vec![0; LANE_BITS as usize];
        }
        filler.take_in_order(order.iter().copied(), u32::MAX, &mut register);
        Self::new(register, lane, warp, Vec::new())
    }

    /// The layout for global memory accesses to a tile whose memory order is `order` (dimensions from the fastest).
    ///
    /// Each thread holds vectors of up to `vec_elems` elements along the fastest dimension, at most 16 bytes. Lanes
    /// continue along that dimension until they cover 128 bytes (one cache line), then along the next dimensions.
    /// Warps take the next dimensions, and the rest of the tile repeats in registers, fastest dimension first. If a
    /// small tile leaves threads idle, the vectors get shorter first; after that, threads hold replicas. An
    /// `elem_bits` below 8 counts as 8.
    ///
    /// Errors: `order` is not a permutation, or `vec_elems` or `num_warps` is not a power of two.
    pub fn coalesced(shape: &Shape, elem_bits: u32, order: &[usize], vec_elems: u64, num_warps: u64) -> Result<Self> {
        let after: Vec<usize> = order.iter().skip(1).chain(order.first()).copied().collect();
        Self::coalesced_over(shape, elem_bits, order, [1, vec_elems], num_warps, [&after, &after])
    }

    /// Like [`Layout::coalesced`], with more control. Vectors have at least `least` elements even if threads go idle.
    /// The lanes that remain after a cache line go to the dimensions of `lanes_over`, and the warps to the dimensions
    /// of `warps_over`.
    pub fn coalesced_over(
        shape: &Shape,
        elem_bits: u32,
        order: &[usize],
        [least, most]: [u64; 2],
        num_warps: u64,
        [lanes_over, warps_over]: [&[usize]; 2],
    ) -> Result<Self> {
        for list in [order, lanes_over, warps_over] {
            shape.check_order(list)?;
        }
        let (least, vec) = (log2("vector elements", least)?, log2("vector elements", most)?);
        let warp_bits = log2("warps", num_warps)?;
        let elem_log2_bytes = elem_bits.max(8).next_power_of_two().ilog2() - 3;
        let (register, lane, warp);
        if let Some(fastest) = order.first() {
            let mut filler = Filler::new(shape);
            let [mut r, mut l, mut w]: [Vec<u64>; 3] = Default::default();
            // A vector must not be so long that other threads go idle.
            let per_thread = shape.bits().saturating_sub(LANE_BITS + warp_bits);
            let vec = vec.min(4u32.saturating_sub(elem_log2_bytes)).min(per_thread.max(least));
            let got = filler.take(*fastest, vec, &mut r);
            let line = 7u32.saturating_sub(elem_log2_bytes + got).min(LANE_BITS);
            filler.take(*fastest, line, &mut l);
            filler.take_in_order(lanes_over.iter().copied(), LANE_BITS - l.len() as u32, &mut l);
            filler.take_in_order(warps_over.iter().copied(), warp_bits, &mut w);
            filler.take_in_order(order.iter().copied(), u32::MAX, &mut r);
            l.resize(LANE_BITS as usize, 0);
            w.resize(warp_bits as usize, 0);
            (register, lane, warp) = (r, l, w);
        } else {
            (register, lane, warp) = (Vec::new(), vec![0; LANE_BITS as usize], vec![0; warp_bits as usize]);
        }
        Self::new(register, lane, warp, Vec::new())
    }
}
