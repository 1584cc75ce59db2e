//! Plans for combining the elements of a tile along one dimension.
//!
//! # Reductions
//!
//! A reduction drops the coordinate along a dimension. The basis vectors of a layout fall into three classes: vectors
//! that become zero (flipping the bit moves only along the dimension), vectors that do not change, and zero vectors,
//! which stay replicas. The reduction combines over the bits of the first class. It starts with registers, which
//! costs only the combining operations. Lanes follow, with one butterfly exchange per bit, then warps, through
//! memory. Afterwards every thread along the dimension holds the result, because the vector of its bit has become
//! zero.
//!
//! A reduction across warps takes two reductions. The first *keeps* the coordinate bits that warps hold, which leaves
//! one element per warp. After these elements have been sent to all warps, the second reduction combines them. The
//! kept bits are bits of coordinates, not of slots, so the two reductions compute the full reduction whatever the
//! layouts are.
//!
//! # Scans
//!
//! A scan depends on the order of elements. It takes the coordinate bits from the lowest: first the bits that
//! registers hold, which a thread scans alone, then the bits that lanes hold. Together these bits number the elements
//! of a *segment*, which a warp scans on its own; the bits above number the segments. If all bits of a segment are
//! below all others, splitting the dimension into two turns the scan into a scan of segments plus the carries between
//! them, wherever the segments are.

use crate::error::{LayoutError, Result};
use crate::layout::{Input, InputMasks, LANE_BITS, Layout};
use crate::map::{LinearMap, combine, low_mask};
use crate::shape::Shape;
use crate::subspace::Subspace;

/// A plan for reducing a tile along a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// The layout of the result. It has each element once per thread, and replicas in all threads along the
    /// dimension.
    pub layout: Layout,
    pub shape: Shape,
    /// For every register of the result, the registers of the operand that the thread combines. Each element occurs
    /// once, by ascending coordinate (in threads with zero in their own part of the coordinate).
    pub registers: Vec<Vec<u32>>,
    /// The lane, warp and block bits to combine across afterwards, with one exchange each.
    pub across: InputMasks,
}

/// A plan by which a warp scans a tile along a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WarpScan {
    /// Runs of a thread's registers, each by ascending coordinate along the dimension. Runs differ in the other
    /// coordinates.
    pub runs: Vec<Vec<u32>>,
    /// For every register, the register in the runs that holds the same element.
    pub same: Vec<u32>,
    /// The lane bits that select the part of the coordinate above the registers, from the lowest coordinate bit.
    pub lanes: Vec<u32>,
}

/// `v` without the bits of the field at `low` that are not in `kept`. The remaining bits move together.
fn project(v: u64, low: u32, width: u32, kept: u64) -> u64 {
    let mut at = low;
    let mut result = v & low_mask(low);
    for i in (0..width).filter(|i| kept >> i & 1 == 1) {
        result |= (v >> (low + i) & 1) << at;
        at += 1;
    }
    result | v >> (low + width) << at
}

impl Layout {
    /// The layout and shape after a reduction along `dim` of the elements that agree in the coordinate bits `kept`.
    /// Without kept bits the dimension disappears; otherwise it has one element for each value of those bits. The
    /// result holds each element once per thread. The map takes registers of the operand to registers of the result.
    pub fn reduce_keeping(&self, shape: &Shape, dim: usize, kept: u64) -> Result<(Self, Shape, LinearMap)> {
        let (low, width) = shape.field(dim)?;
        let mut log2 = shape.log2().to_vec();
        match kept & low_mask(width) {
            0 => drop(log2.remove(dim)),
            kept => log2[dim] = kept.count_ones(),
        }
        let (layout, registers) = self.map_bases(|v| project(v, low, width, kept)).squeeze_registers();
        Ok((layout, Shape::from_log2(log2)?, registers))
    }

    /// Plans a reduction along `dim` that keeps the bits `kept` of the coordinate. Returns `None` if a lane, warp or
    /// block bit moves along the dimension and elsewhere at once, or is not independent of the other bits along the
    /// dimension. The tile must then be converted to another layout first.
    pub fn reduction(&self, shape: &Shape, dim: usize, kept: u64) -> Result<Option<Reduction>> {
        let (low, width) = shape.field(dim)?;
        let kept = kept & low_mask(width);
        let (layout, result, to) = self.reduce_keeping(shape, dim, kept)?;
        let forgotten = |v: u64| project(v, low, width, kept) == 0;
        // A register that repeats an element of the thread would count it twice.
        let once = self.distinct_registers();
        let mut registers = vec![vec![]; layout.registers() as usize];
        for &r in &once {
            registers[to.apply(r.into()) as usize].push(r);
        }
        for list in &mut registers {
            list.sort_by_key(|&r| combine(self.register(), r.into()) >> low & low_mask(width));
        }
        // The positions that one thread combines, then the positions that each further bit adds.
        let fibre = registers[0].iter().map(|&r| combine(self.register(), r.into()));
        let mut covered: Subspace = fibre.collect();
        let mut independent = true;
        let mut across = |input| {
            let bases = self.bases(input).iter().enumerate();
            bases.filter(|(_, b)| **b != 0 && forgotten(**b)).fold(0, |mask, (i, &b)| {
                independent &= covered.insert(b);
                mask | 1 << i
            })
        };
        let (lane, warp, block) = (across(Input::Lane), across(Input::Warp), across(Input::Block));
        let complete = independent && covered.dim() == (width - kept.count_ones()) as usize;
        let across = InputMasks { register: 0, lane, warp, block };
        Ok(complete.then_some(Reduction { layout, shape: result, registers, across }))
    }

    /// The registers that hold an element of the thread for the first time, in order.
    fn distinct_registers(&self) -> Vec<u32> {
        let mut seen = Subspace::default();
        let bits = (0..self.register().len()).filter(|&i| seen.insert(self.register()[i]));
        let free: Vec<u64> = bits.map(|i| 1 << i).collect();
        (0..1u64 << free.len()).map(|x| combine(&free, x) as u32).collect()
    }

    /// The number of coordinate bits along `dim` that form a segment: the low ones that registers hold, then those
    /// that lanes hold. Returns `None` if some coordinate bit is not held by exactly one bit of the slot. The tile
    /// must then be converted to another layout first.
    pub fn segment_bits(&self, shape: &Shape, dim: usize) -> Result<Option<u32>> {
        let (low, width) = shape.field(dim)?;
        let Some(holders) = self.holders(low, width) else { return Ok(None) };
        let registers = holders.iter().take_while(|h| h.0 == Input::Register).count();
        let lanes = holders[registers..].iter().take_while(|h| h.0 == Input::Lane).count();
        Ok(Some((registers + lanes) as u32))
    }

    /// The slot bit that holds each bit of a coordinate. Returns `None` if a coordinate bit has several holders or
    /// none, or if a holder also moves elsewhere.
    pub(crate) fn holders(&self, low: u32, width: u32) -> Option<Vec<(Input, u32)>> {
        let field = low_mask(width) << low;
        let mut holders = vec![None; width as usize];
        for input in Input::ALL {
            for (i, &b) in self.bases(input).iter().enumerate().filter(|(_, b)| **b & field != 0) {
                let holder = holders.get_mut((b >> low).trailing_zeros() as usize)?;
                if !b.is_power_of_two() {
                    return None;
                }
                match holder {
                    // A register that repeats another one is harmless; a thread bit that does so would be a replica.
                    Some((Input::Register, _)) if input == Input::Register => {}
                    Some(_) => return None,
                    None => *holder = Some((input, i as u32)),
                }
            }
        }
        holders.into_iter().collect()
    }

    /// Plans a scan along `dim` within warps. Returns `None` unless the bits of one segment hold the whole dimension.
    pub fn warp_scan(&self, shape: &Shape, dim: usize) -> Result<Option<WarpScan>> {
        let (low, width) = shape.field(dim)?;
        if self.segment_bits(shape, dim)? != Some(width) {
            return Ok(None);
        }
        let field = low_mask(width) << low;
        let holders = self.holders(low, width).unwrap_or_default();
        let lanes = holders.iter().filter(|h| h.0 == Input::Lane).map(|h| h.1).collect();
        let element = |r: u32| combine(self.register(), r.into());
        let mut once = self.distinct_registers();
        once.sort_by_key(|&r| (element(r) & !field, element(r) & field));
        let mut runs: Vec<Vec<u32>> = vec![];
        for &r in &once {
            match runs.last_mut() {
                Some(run) if (element(run[0]) ^ element(r)) & !field == 0 => run.push(r),
                _ => runs.push(vec![r]),
            }
        }
        let same = (0..self.registers())
            .map(|r| once.iter().copied().find(|&o| element(o) == element(r)).unwrap_or(r))
            .collect();
        Ok(Some(WarpScan { runs, same, lanes }))
    }

    /// A layout in which a scan along `dim` is cheap: the coordinate goes to registers first, then to lanes, then to
    /// warps. If the other dimensions are large enough, the registers of one thread hold the whole of `dim`.
    ///
    /// Errors: `warps` is not a power of two.
    pub fn ordered(shape: &Shape, dim: usize, warps: u64) -> Result<Self> {
        if !warps.is_power_of_two() {
            let expected = warps.checked_next_power_of_two().unwrap_or(1);
            return Err(LayoutError::Mismatch { what: "warps", expected, found: warps });
        }
        let (low, width) = shape.field(dim)?;
        let (lane_bits, warp_bits) = (LANE_BITS as usize, warps.ilog2() as usize);
        let mut along: Vec<u64> = (low..low + width).map(|i| 1 << i).collect();
        let mut others: Vec<u64> =
            (0..shape.bits()).filter(|i| !(low..low + width).contains(i)).map(|i| 1 << i).collect();
        let per_thread = (shape.bits() as usize).saturating_sub(lane_bits + warp_bits);
        let mut register: Vec<u64> = along.drain(..per_thread.min(width as usize)).collect();
        let mut spread = |bits: usize| {
            let mut bases: Vec<u64> = along.drain(..bits.min(along.len())).collect();
            bases.extend(others.drain(..(bits - bases.len()).min(others.len())));
            bases.resize(bits, 0);
            bases
        };
        let (lane, warp) = (spread(lane_bits), spread(warp_bits));
        register.extend(along);
        register.extend(others);
        Self::new(register, lane, warp, vec![])
    }
}
