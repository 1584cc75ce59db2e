//! Reductions in the canonical order.
//!
//! The canonical order of a reduction is a function of the shape alone: a tree over the bits of the coordinate. Each
//! step combines the elements whose coordinates differ in one bit. Along the last dimension bits 0 and 1 come first.
//! The other bits follow from the highest to the lowest, so a step combines the lower half of what is left with the
//! upper half:
//!
//! ```text
//! x[0] .. x[15]   bits 0, 1: y[i] = (x[4i] + x[4i+1]) + (x[4i+2] + x[4i+3])   bit 3: z[i] = y[i] + y[i+2]   bit 2: ..
//! ```
//!
//! A layout says which register, lane or warp bit holds each coordinate bit. The tree is thus a list of steps, one for
//! each bit: a combination of registers, an exchange between lanes, or an exchange through shared memory. Most layouts
//! hold vectors of four elements or more of the last dimension, and the high bits of each dimension, in registers,
//! which is the reason for this order.
//!
//! The order composes. A reduction of the first bits of the order that keeps the others leaves a shorter dimension,
//! with fewer bits that come first. A tile whose next bit is in the wrong place is converted in between.

use crate::error::Result;
use crate::layout::{Input, LANE_BITS, Layout};
use crate::map::low_mask;
use crate::reduction::Reduction;
use crate::shape::Shape;

/// The low coordinate bits that come first in the canonical order along a dimension.
pub fn canonical_first(shape: &Shape, dim: usize) -> u32 {
    let (last, width) = (dim + 1 == shape.rank(), shape.log2().get(dim).copied().unwrap_or(0));
    if last { width.min(2) } else { 0 }
}

/// The coordinate bits in the canonical order: `first` low bits, then the others of `width` from the highest.
pub fn canonical_bits(width: u32, first: u32) -> Vec<u32> {
    (0..first.min(width)).chain((first.min(width)..width).rev()).collect()
}

/// One step of a reduction within a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// Combines the values that a thread has left in pairs: those whose numbers differ in this bit. The number of the
    /// combination lacks the bit.
    Register(u32),
    /// Combines each value with the value of the lane that differs in this bit of its number. The thread's bit is zero
    /// on the lower side.
    Lane(u32),
}

/// A plan for reducing a tile along a dimension in the canonical order, without leaving the warp.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CanonicalReduction {
    pub plan: Reduction,
    /// In order. `plan.registers` lists the registers of each result by ascending coordinate; the place in the list
    /// numbers the values.
    pub steps: Vec<Step>,
}

/// The next part of a reduction in the canonical order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The warp combines all elements ([`Layout::canonical_reduction`]).
    Finish,
    /// The warp combines the first bits of the order and keeps the others: the mask of the kept bits, and how many of
    /// them still come first.
    Keep { kept: u64, first: u32 },
    /// The tile goes through shared memory to this layout of the same rows ([`Layout::spread_canonically`]).
    Spread(Layout),
    /// The tile is converted to this layout, and the result is converted back.
    Convert(Layout),
}

/// The most coordinate bits that each warp combines in registers on its own after an exchange. With more bits, the
/// warps divide the work, which takes another exchange.
const REDUNDANT_BITS: usize = 4;

impl Stage {
    /// Combines the first `count` bits of the order and keeps the others.
    pub fn keep(width: u32, first: u32, count: u32) -> Self {
        let kept = canonical_bits(width, first).iter().skip(count as usize).fold(0, |mask, b| mask | 1 << b);
        Self::Keep { kept, first: first.saturating_sub(count) }
    }
}

impl Layout {
    /// The next part of a reduction along `dim` in the canonical order, for a tile with this layout in `warps` warps,
    /// if `first` low bits come first. After at most a few parts, the reduction is finished, whatever the layout is.
    ///
    /// Errors: the dimension does not exist, or `warps` is not a power of two.
    pub fn canonical_stage(&self, shape: &Shape, dim: usize, first: u32, warps: u64) -> Result<Stage> {
        let (_, width) = shape.field(dim)?;
        let Some(count) = self.canonical_prefix(shape, dim, first)? else {
            return Ok(Stage::Convert(Self::descending(shape, dim, warps)?));
        };
        Ok(match count {
            count if count == width => Stage::Finish,
            0 => Stage::Spread(self.spread_canonically(shape, dim, first, REDUNDANT_BITS)?),
            count => Stage::keep(width, first, count),
        })
    }

    /// Plans a reduction along `dim` in the canonical order that keeps the bits `kept` of the coordinate, which are the
    /// last ones of the order. Returns `None` if warps or blocks hold one of the other bits, or if a coordinate bit is
    /// not held by exactly one bit of the slot. The tile must then be converted to another layout first.
    ///
    /// Errors: the dimension does not exist.
    pub fn canonical_reduction(
        &self,
        shape: &Shape,
        dim: usize,
        first: u32,
        kept: u64,
    ) -> Result<Option<CanonicalReduction>> {
        let (low, width) = shape.field(dim)?;
        let (Some(holders), Some(plan)) = (self.holders(low, width), self.reduction(shape, dim, kept)?) else {
            return Ok(None);
        };
        // The registers that are left, by ascending coordinate bit: the place of a bit is its bit in the number.
        let combined = |bit: &u32| kept >> bit & 1 == 0;
        let mut left: Vec<u32> =
            (0..width).filter(combined).filter(|b| holders[*b as usize].0 == Input::Register).collect();
        let mut steps = vec![];
        for bit in canonical_bits(width, first).into_iter().filter(combined) {
            steps.push(match holders[bit as usize] {
                (Input::Register, _) => {
                    let at = left.iter().position(|b| *b == bit).unwrap_or(0);
                    left.remove(at);
                    Step::Register(at as u32)
                }
                (Input::Lane, lane) => Step::Lane(lane),
                (Input::Warp | Input::Block, _) => return Ok(None),
            });
        }
        Ok(Some(CanonicalReduction { plan, steps }))
    }

    /// The slot bit that holds each bit of the coordinate along `dim`, from the lowest. Returns `None` if a coordinate
    /// bit is not held by exactly one bit of the slot.
    ///
    /// Errors: the dimension does not exist.
    pub fn coordinate_holders(&self, shape: &Shape, dim: usize) -> Result<Option<Vec<(Input, u32)>>> {
        let (low, width) = shape.field(dim)?;
        Ok(self.holders(low, width))
    }

    /// The number of bits of the canonical order along `dim` that a warp can combine on its own. Returns `None` if a
    /// coordinate bit is not held by exactly one bit of the slot. The tile must then be converted to another layout
    /// first.
    ///
    /// Errors: the dimension does not exist.
    pub fn canonical_prefix(&self, shape: &Shape, dim: usize, first: u32) -> Result<Option<u32>> {
        let (low, width) = shape.field(dim)?;
        let Some(holders) = self.holders(low, width) else { return Ok(None) };
        let inside = |b: &u32| matches!(holders[*b as usize].0, Input::Register | Input::Lane);
        Ok(Some(canonical_bits(width, first).iter().take_while(|b| inside(b)).count() as u32))
    }

    /// A layout in which the canonical order along `dim` starts in each thread: the coordinate goes to registers
    /// first, then to lanes, then to warps, in the canonical order of the shape.
    ///
    /// Errors: the dimension does not exist, or `warps` is not a power of two.
    pub fn descending(shape: &Shape, dim: usize, warps: u64) -> Result<Self> {
        let (low, width) = shape.field(dim)?;
        let ordered = Self::ordered(shape, dim, warps)?;
        let field = low_mask(width) << low;
        let order = canonical_bits(width, canonical_first(shape, dim));
        let turned = |b: u64| if b & field == 0 { b } else { 1 << (low + order[(b.trailing_zeros() - low) as usize]) };
        Ok(ordered.map_bases(turned))
    }

    /// A layout of the same threads' rows in which every warp, or every group of warps, holds all elements along
    /// `dim`, for a tile that goes through shared memory between two parts of a canonical reduction. The first bits
    /// of the order are in registers, as many as necessary and at least three, the next ones in lanes that hold
    /// replicas. If more than `most` bits are in registers, the last bits are in warps that hold replicas.
    ///
    /// Errors: the dimension does not exist, or the layout has too many bits.
    pub fn spread_canonically(&self, shape: &Shape, dim: usize, first: u32, most: usize) -> Result<Self> {
        const LEAST: usize = 3;
        let (low, width) = shape.field(dim)?;
        let field = low_mask(width) << low;
        let cleared = self.map_bases(|b| b & !field);
        let free = |input| cleared.bases(input).iter().filter(|b| **b == 0).count();
        let width = width as usize;
        let lanes = free(Input::Lane).min(width.saturating_sub(LEAST));
        let warps = if width - lanes > most { free(Input::Warp).min(width - lanes - LEAST) } else { 0 };
        debug_assert!(lanes <= LANE_BITS as usize);
        // From the last bit of the order, ascending for the usual order.
        let mut bits = canonical_bits(width as u32, first).into_iter().rev().map(|i| 1u64 << (low + i));
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
