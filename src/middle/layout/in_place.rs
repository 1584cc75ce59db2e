//! In-place transposes and conversions of tiles in shared memory: all threads read the tile and write it back to the
//! same bytes, possibly in another order.
//!
//! TMA loads a tile in the order of global memory. If an instruction needs the other dimension contiguous, threads
//! have to transpose the tile. A thread reads words along one dimension and writes words along the other, so with
//! 1-byte elements it holds squares of 4x4. To avoid bank conflicts, the lanes of a warp should access different
//! banks both times. The lanes must therefore spread over the lines *and* the columns of the tile, which takes lanes
//! that move along a diagonal.
//!
//! *Worked example.* A tile of 128x128 bytes in rows of 128 bytes, with bits 4 to 6 of the offset flipped by bits 7
//! to 9. Bits `n0 n1` of the column and `k0 k1` of the line are in a thread's registers. The bank depends on `n2..n6`
//! before the transpose and on `k2..k6` after it. Lane bit `i` therefore moves by `n(2+i)` and `k(2+i)` at once.
//!
//! The tile is divided into *parts* as long as a part occupies the same bytes in both layouts. A thread then holds
//! fewer elements at a time.

use crate::access::{SharedLayout, elem_log2_bytes};
use crate::bank::{BANK_BITS, WORD_LOG2};
use crate::error::{LayoutError, Result};
use crate::layout::{LANE_BITS, Layout};
use crate::map::low_mask;
use crate::shape::Shape;
use crate::subspace::Subspace;

/// log2 of the bytes of a panel row, and of the rows of a panel.
const PANEL: usize = 7;
/// The number of low bits of a row number that flip the row's 16-byte chunks.
const FLIPPED: usize = 3;
/// The lowest bit of the byte offset within a row that is flipped.
const FLIPPED_FROM: usize = 4;

/// Returns the number of panels if both layouts consist of consecutive panels of 128 rows of 128 bytes each, and
/// differ only in that the rows and columns of each panel are exchanged. The 16 bytes at `c` of row `r` are at `c ^
/// (r & 7)`. The transpose then exchanges pairs of 16x16-byte squares, or transposes a square in its place.
pub fn transposed_panels(from: &SharedLayout, to: &SharedLayout) -> Option<u64> {
    let (a, b) = (from.bases(), to.bases());
    let (inside, outside) = (a.get(..2 * PANEL)?, a.get(2 * PANEL..)?);
    let rows_of = |columns: &[u64], rows: &[u64]| -> Vec<u64> {
        let flip = |i: usize| if i < FLIPPED { columns[FLIPPED_FROM + i] } else { 0 };
        rows.iter().enumerate().map(|(i, row)| row ^ flip(i)).collect()
    };
    let (x, y) = (&inside[..PANEL], b.get(..PANEL)?);
    let is_unit = |v: &u64| v.is_power_of_two();
    let is_transposed = x.iter().chain(y).all(is_unit)
        && inside[PANEL..] == rows_of(x, y)
        && b[PANEL..2 * PANEL] == rows_of(y, x)
        && b.get(2 * PANEL..) == Some(outside);
    is_transposed.then(|| 1 << outside.len())
}

/// log2 of the bytes that a thread reads at once if the order does not change.
const VECTOR_LOG2: u32 = 4;

/// A plan that changes a tile in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InPlace {
    /// The number of parts of the tile, which are consecutive in shared memory.
    pub parts: u64,
    pub part: Part,
    /// The registers that hold a part between the loads and the stores.
    pub registers: Layout,
}

/// A tile and its layouts before and after the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub shape: Shape,
    pub from: SharedLayout,
    pub to: SharedLayout,
}

impl InPlace {
    /// Plans the change of a tile of `shape` by `warps` warps that read it in layout `from` and write it in layout
    /// `to`. Each thread holds at most `most` elements at a time if the tile can be divided that far. If the layouts
    /// are equal, the tile is treated as one row of elements.
    ///
    /// Errors: an unsupported element size, or a number of warps that is not a power of two.
    pub fn new(
        shape: &Shape,
        from: &SharedLayout,
        to: &SharedLayout,
        elem_bits: u32,
        warps: u32,
        most: u64,
    ) -> Result<Self> {
        let eb = elem_log2_bytes(elem_bits)?;
        if !warps.is_power_of_two() {
            let found = warps.into();
            return Err(LayoutError::Mismatch { what: "warps", expected: warps.next_power_of_two().into(), found });
        }
        let mut part = if from == to {
            let shape = Shape::from_log2(vec![shape.bits()])?;
            let row = SharedLayout::strided(&shape, &[0])?;
            Part { shape, from: row.clone(), to: row }
        } else {
            Part { shape: shape.clone(), from: from.clone(), to: to.clone() }
        };
        let mut parts = 1;
        while part.shape.elements() > (u64::from(warps) << LANE_BITS) * most
            && let Some(half) = part.half()?
        {
            part = half;
            parts *= 2;
        }
        let registers = part.arrange(eb, warps)?;
        Ok(Self { parts, part, registers })
    }
}

impl Part {
    /// Whether each thread writes exactly the bytes that it has read.
    pub fn keeps_order(&self) -> bool {
        self.from == self.to
    }

    /// The first half, or `None` if the layouts do not have the same halves.
    fn half(&self) -> Result<Option<Self>> {
        let (Some(&last), Some(&other)) = (self.from.bases().last(), self.to.bases().last()) else { return Ok(None) };
        let fields = self.shape.fields();
        let is_top = |&(low, width): &(u32, u32)| width > 0 && last == 1 << (low + width - 1);
        let Some(dim) = fields.iter().position(is_top).filter(|_| last == other) else { return Ok(None) };
        let mut log2 = self.shape.log2().to_vec();
        log2[dim] -= 1;
        let shape = Shape::from_log2(log2)?;
        let without = |layout: &SharedLayout| {
            let kept = &layout.bases()[..layout.bases().len() - 1];
            // The index without the removed bit.
            let bases = kept.iter().map(|&b| b & (last - 1) | (b & !(last | (last - 1))) >> 1);
            SharedLayout::new(bases.collect(), shape.bits())
        };
        let (from, to) = (without(&self.from)?, without(&self.to)?);
        Ok(Some(Self { shape, from, to }))
    }

    /// Distributes the elements over the threads.
    fn arrange(&self, eb: u32, warps: u32) -> Result<Layout> {
        let vector = |bytes_log2: u32| bytes_log2.saturating_sub(eb) as usize;
        let (before, after) =
            if self.keeps_order() { (vector(VECTOR_LOG2), 0) } else { (vector(WORD_LOG2), vector(WORD_LOG2)) };
        let mut taken = Subspace::default();
        let neighbours = self.from.bases().iter().take(before).chain(self.to.bases().iter().take(after));
        let mut registers: Vec<u64> = neighbours.copied().filter(|&b| taken.insert(b)).collect();
        // A thread reads and writes from the beginning of a vector.
        let starts = |layout: &SharedLayout, v: u64, bits: usize| layout.offset(v) & low_mask(bits as u32) == 0;
        let is_start = |v: u64| starts(&self.from, v, before) && starts(&self.to, v, after);
        let mut lanes = self.lanes(eb, &mut taken, &is_start);
        let mut rest: Vec<u64> = (0..self.shape.bits()).map(|i| 1 << i).filter(|&b| taken.insert(b)).collect();
        let bits = warps.ilog2() as usize;
        let mut warp = rest.split_off(rest.len().saturating_sub(bits));
        registers.extend(rest);
        // Replicas where there are more threads than elements.
        lanes.resize(LANE_BITS as usize, 0);
        warp.resize(bits, 0);
        Layout::new(registers, lanes, warp, vec![])
    }

    /// Chooses the vectors of the lanes: independent of `taken`, and in different banks for both the loads and the
    /// stores as far as possible.
    fn lanes(&self, eb: u32, taken: &mut Subspace, is_start: &dyn Fn(u64) -> bool) -> Vec<u64> {
        let bits = self.shape.bits();
        let bank = |layout: &SharedLayout, v: u64| (layout.offset(v) << eb >> WORD_LOG2) & low_mask(BANK_BITS);
        let units = (0..bits).map(|i| 1u64 << i);
        let diagonals = (0..bits).flat_map(|i| (0..i).map(move |k| 1u64 << i | 1 << k));
        let candidates: Vec<u64> = units.chain(diagonals).filter(|&v| is_start(v)).collect();
        let (mut before, mut after) = (Subspace::default(), Subspace::default());
        let mut lanes = vec![];
        while lanes.len() < LANE_BITS as usize {
            let new = |v: u64| {
                let is_new = |seen: &Subspace, layout| !seen.contains(bank(layout, v));
                u32::from(is_new(&before, &self.from)) + u32::from(is_new(&after, &self.to))
            };
            let free = candidates.iter().copied().filter(|&v| !taken.contains(v));
            // The first of the best candidates, so units win over diagonals.
            let Some(v) = free.rev().max_by_key(|&v| new(v)) else { break };
            taken.insert(v);
            before.insert(bank(&self.from, v));
            after.insert(bank(&self.to, v));
            lanes.push(v);
        }
        lanes
    }
}
