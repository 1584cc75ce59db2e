//! Reductions in the canonical order.
//!
//! The canonical order of a reduction is a function of the extent alone: a tree over the bits of the coordinate, from
//! the highest to the lowest. Each step combines the elements whose coordinates differ in one bit, so it combines the
//! lower half of the dimension with the upper half:
//!
//! ```text
//! x[0] .. x[7]   bit 2: y[i] = x[i] + x[i + 4]   bit 1: z[i] = y[i] + y[i + 2]   bit 0: z[0] + z[1]
//! ```
//!
//! A layout says which register, lane or warp bit holds each coordinate bit. The tree is thus a list of steps, one for
//! each bit: a combination of registers, an exchange between lanes, or an exchange through shared memory. The high
//! bits of most layouts are in registers, which is the reason for this direction.
//!
//! The order composes. A reduction of the highest bits that keeps the others leaves a shorter dimension, and the
//! canonical order of the rest is that of the shorter dimension. A tile whose high bits are in the wrong place is
//! converted in between.

use crate::error::Result;
use crate::layout::{Input, LANE_BITS, Layout};
use crate::map::low_mask;
use crate::reduction::Reduction;
use crate::shape::Shape;

/// One step of a reduction within a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Combines the lower half of the values that a thread has left with the upper half.
    Halves,
    /// Combines each value with the value of the lane that differs in this bit of its number. The thread's bit is zero
    /// on the lower side.
    Lane(u32),
}

/// A plan for reducing a tile along a dimension in the canonical order, without leaving the warp.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CanonicalReduction {
    pub plan: Reduction,
    /// In order. `plan.registers` lists the registers of each result by ascending coordinate, so a step of registers
    /// always concerns the two halves of what is left of the list.
    pub steps: Vec<Step>,
}

/// The next part of a reduction in the canonical order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The warp combines all elements ([`Layout::canonical_reduction`]).
    Finish,
    /// The warp combines the highest bits of the coordinate and keeps the lowest, whose number this is.
    Keep(u32),
    /// The tile goes through shared memory to this layout of the same rows ([`Layout::spread_canonically`]).
    Spread(Layout),
    /// The tile is converted to this layout, and the result is converted back.
    Convert(Layout),
}

/// The most coordinate bits that each warp combines in registers on its own after an exchange. With more bits, the
/// warps divide the work, which takes another exchange.
const REDUNDANT_BITS: usize = 4;

impl Layout {
    /// The next part of a reduction along `dim` in the canonical order, for a tile with this layout in `warps` warps.
    /// After at most a few parts, the reduction is finished, whatever the layout is.
    ///
    /// Errors: the dimension does not exist, or `warps` is not a power of two.
    pub fn canonical_stage(&self, shape: &Shape, dim: usize, warps: u64) -> Result<Stage> {
        let (_, width) = shape.field(dim)?;
        Ok(match self.canonical_bits(shape, dim)? {
            None => Stage::Convert(Self::descending(shape, dim, warps)?),
            Some(bits) if bits == width => Stage::Finish,
            Some(0) => Stage::Spread(self.spread_canonically(shape, dim, REDUNDANT_BITS)?),
            Some(bits) => Stage::Keep(width - bits),
        })
    }

    /// Plans a reduction along `dim` in the canonical order that keeps the lowest `kept` bits of the coordinate.
    /// Returns `None` if warps or blocks hold one of the other bits, or if a coordinate bit is not held by exactly one
    /// bit of the slot. The tile must then be converted to another layout first.
    ///
    /// Errors: the dimension does not exist.
    pub fn canonical_reduction(&self, shape: &Shape, dim: usize, kept: u32) -> Result<Option<CanonicalReduction>> {
        let (low, width) = shape.field(dim)?;
        let (Some(holders), Some(plan)) = (self.holders(low, width), self.reduction(shape, dim, low_mask(kept))?)
        else {
            return Ok(None);
        };
        let step = |(input, bit)| match input {
            Input::Register => Some(Step::Halves),
            Input::Lane => Some(Step::Lane(bit)),
            Input::Warp | Input::Block => None,
        };
        let steps: Option<Vec<Step>> = holders.into_iter().skip(kept as usize).rev().map(step).collect();
        Ok(steps.map(|steps| CanonicalReduction { plan, steps }))
    }

    /// The slot bit that holds each bit of the coordinate along `dim`, from the lowest. Returns `None` if a coordinate
    /// bit is not held by exactly one bit of the slot.
    ///
    /// Errors: the dimension does not exist.
    pub fn coordinate_holders(&self, shape: &Shape, dim: usize) -> Result<Option<Vec<(Input, u32)>>> {
        let (low, width) = shape.field(dim)?;
        Ok(self.holders(low, width))
    }

    /// The number of the highest coordinate bits along `dim` that a warp can combine in the canonical order on its
    /// own. Returns `None` if a coordinate bit is not held by exactly one bit of the slot. The tile must then be
    /// converted to another layout first.
    ///
    /// Errors: the dimension does not exist.
    pub fn canonical_bits(&self, shape: &Shape, dim: usize) -> Result<Option<u32>> {
        let (low, width) = shape.field(dim)?;
        let Some(holders) = self.holders(low, width) else { return Ok(None) };
        let inside = |h: &&(Input, u32)| matches!(h.0, Input::Register | Input::Lane);
        Ok(Some(holders.iter().rev().take_while(inside).count() as u32))
    }

    /// A layout in which the canonical order along `dim` starts in each thread: the coordinate goes to registers
    /// first, then to lanes, then to warps, from the highest bit.
    ///
    /// Errors: the dimension does not exist, or `warps` is not a power of two.
    pub fn descending(shape: &Shape, dim: usize, warps: u64) -> Result<Self> {
        let (low, width) = shape.field(dim)?;
        let ordered = Self::ordered(shape, dim, warps)?;
        let field = low_mask(width) << low;
        let turned = |b: u64| if b & field == 0 { b } else { 1 << (2 * low + width - 1 - b.trailing_zeros()) };
        Ok(ordered.map_bases(turned))
    }

    /// A layout of the same threads' rows in which every warp, or every group of warps, holds all elements along
    /// `dim`, for a tile that goes through shared memory between two parts of a canonical reduction. The highest bits
    /// are in registers, as many as necessary and at least three, the next ones in lanes that hold replicas. If more
    /// than `most` bits are in registers, the lowest bits are in warps that hold replicas.
    ///
    /// Errors: the dimension does not exist, or the layout has too many bits.
    pub fn spread_canonically(&self, shape: &Shape, dim: usize, most: usize) -> Result<Self> {
        const LEAST: usize = 3;
        let (low, width) = shape.field(dim)?;
        let field = low_mask(width) << low;
        let cleared = self.map_bases(|b| b & !field);
        let free = |input| cleared.bases(input).iter().filter(|b| **b == 0).count();
        let width = width as usize;
        let lanes = free(Input::Lane).min(width.saturating_sub(LEAST));
        let warps = if width - lanes > most { free(Input::Warp).min(width - lanes - LEAST) } else { 0 };
        debug_assert!(lanes <= LANE_BITS as usize);
        let mut bits = (low..).map(|i| 1u64 << i).take(width);
        let mut fill = |input, mut count: usize| -> Vec<u64> {
            let mut bases = cleared.bases(input).to_vec();
            for basis in bases.iter_mut().filter(|b| **b == 0) {
                if count > 0 {
                    *basis = bits.next().unwrap_or(0);
                    count -= 1;
                }
            }
            bases
        };
        let (warp, lane) = (fill(Input::Warp, warps), fill(Input::Lane, lanes));
        let register = bits.chain(cleared.register().iter().copied().filter(|b| *b != 0)).collect();
        Self::new(register, lane, warp, cleared.block().to_vec())
    }
}
