//! How shape-changing tile operations change a layout.
//!
//! Each operation is a linear (or affine) change of the flattened index, so the layout of the result follows from the
//! layout of the operand. No data moves: values stay in their registers, except for the renumbering that an operation
//! states.

use crate::error::{LayoutError, Result};
use crate::layout::{Input, Layout};
use crate::map::{LinearMap, low_mask};
use crate::shape::Shape;
use crate::subspace::Subspace;

fn mismatch(what: &'static str, expected: u64, found: u64) -> LayoutError {
    LayoutError::Mismatch { what, expected, found }
}

/// `v` without the `width` bits from `low`; higher bits move down.
fn remove_field(v: u64, low: u32, width: u32) -> u64 {
    v & low_mask(low) | v >> (low + width) << low
}

/// `v` with `width` zero bits inserted at `low`; higher bits move up.
fn insert_field(v: u64, low: u32, width: u32) -> u64 {
    v & low_mask(low) | v >> low << (low + width)
}

impl Layout {
    /// The layout after a reshape. A row-major reshape keeps the flattened index, so only the element count is
    /// checked.
    pub fn reshape(&self, from: &Shape, to: &Shape) -> Result<Self> {
        if from.bits() != to.bits() {
            return Err(mismatch("elements of the reshaped tile", from.elements(), to.elements()));
        }
        Ok(self.clone())
    }

    /// The layout and shape after a permutation of dimensions: dimension `i` of the result is dimension `order[i]` of
    /// the operand. No value moves.
    pub fn permute(&self, shape: &Shape, order: &[usize]) -> Result<(Self, Shape)> {
        shape.check_order(order)?;
        let result = Shape::from_log2(order.iter().map(|&d| shape.log2()[d]).collect())?;
        let (from, to) = (shape.fields(), result.fields());
        let moved = |v: u64| {
            let field = |(i, &d): (usize, &usize)| (v >> from[d].0 & low_mask(from[d].1)) << to[i].0;
            order.iter().enumerate().map(field).fold(0, |a, b| a | b)
        };
        Ok((self.map_bases(moved), result))
    }

    /// The layout and shape with a dimension of extent 1 inserted before `dim`.
    pub fn expand_dims(&self, shape: &Shape, dim: usize) -> Result<(Self, Shape)> {
        let mut log2 = shape.log2().to_vec();
        if dim > log2.len() {
            return Err(LayoutError::NoSuchDimension { dim, rank: log2.len() });
        }
        log2.insert(dim, 0);
        Ok((self.clone(), Shape::from_log2(log2)?))
    }

    /// The layout and shape after stretching dimension `dim` from 1 to `extent`. Every thread holds all copies of its
    /// elements. Register `r` of the result is register `r % self.registers()` of the operand.
    ///
    /// Do not convert this layout to a given result layout `l`: the conversion would treat the copies as different
    /// elements. Instead, convert the operand to the layout that `l.reduce(result shape, dim)` returns. Register `r`
    /// of `l` is then register `registers.apply(r)` of the operand.
    pub fn broadcast(&self, shape: &Shape, dim: usize, extent: i64) -> Result<(Self, Shape)> {
        let (low, width) = shape.field(dim)?;
        if width != 0 {
            return Err(mismatch("extent of the broadcast dimension", 1, 1 << width));
        }
        let added = Shape::new(&[extent])?.bits();
        let mut log2 = shape.log2().to_vec();
        log2[dim] = added;
        let stretched = self.map_bases(|v| insert_field(v, low, added));
        let copies = (0..added).map(|i| 1 << (low + i));
        let register = stretched.register().iter().copied().chain(copies).collect();
        Ok((stretched.with(Input::Register, register), Shape::from_log2(log2)?))
    }

    /// The layout of the tile without dimension `dim`: the result of a reduction along `dim`, or the operand of a
    /// broadcast. Coordinates along `dim` are dropped. The result keeps all registers, and lanes and warps that only
    /// spanned `dim` hold replicas. [`Layout::reduce`] returns the layout without duplicate registers.
    pub fn slice(&self, shape: &Shape, dim: usize) -> Result<(Self, Shape)> {
        let (low, width) = shape.field(dim)?;
        let mut log2 = shape.log2().to_vec();
        log2.remove(dim);
        Ok((self.map_bases(|v| remove_field(v, low, width)), Shape::from_log2(log2)?))
    }

    /// The result of a reduction along `dim`: its layout with each element once per thread, its shape, and the map
    /// from operand registers to result registers. All operand registers that map to one result register are
    /// combined. [`Layout::reduction`] returns the whole plan.
    pub fn reduce(&self, shape: &Shape, dim: usize) -> Result<(Self, Shape, LinearMap)> {
        let (sliced, shape) = self.slice(shape, dim)?;
        let (layout, registers) = sliced.squeeze_registers();
        Ok((layout, shape, registers))
    }

    /// The layout and shape of two tiles of this layout joined along `dim`, which doubles. The registers of the
    /// second operand follow the registers of the first.
    pub fn cat(&self, shape: &Shape, dim: usize) -> Result<(Self, Shape)> {
        let (low, width) = shape.field(dim)?;
        let at = low + width;
        let mut log2 = shape.log2().to_vec();
        log2[dim] += 1;
        let widened = self.map_bases(|v| insert_field(v, at, 1));
        let register = widened.register().iter().copied().chain([1 << at]).collect();
        Ok((widened.with(Input::Register, register), Shape::from_log2(log2)?))
    }

    /// The layout of the operands of a [`Layout::cat`] along `dim` with a result of shape `shape` in this layout. Let
    /// `b` be the index bit that tells the halves apart. Every vector loses `b`. The first register with exactly the
    /// vector `b` is removed. Without such a register, the slot decides which operand it takes, and register `r` of
    /// the result is register `r` of either operand.
    pub fn uncat(&self, shape: &Shape, dim: usize) -> Result<(Self, Shape)> {
        let (low, width) = shape.field(dim)?;
        if width == 0 {
            return Err(mismatch("extent of a joined dimension", 2, 1));
        }
        let at = low + width - 1;
        let mut log2 = shape.log2().to_vec();
        log2[dim] -= 1;
        let narrowed = self.map_bases(|v| remove_field(v, at, 1));
        let mut register = narrowed.register().to_vec();
        if let Some(half) = self.half_register(at) {
            register.remove(half);
        }
        Ok((narrowed.with(Input::Register, register), Shape::from_log2(log2)?))
    }

    /// The register bit that only selects between the halves that bit `at` of the index tells apart.
    pub fn half_register(&self, at: u32) -> Option<usize> {
        self.register().iter().position(|&b| b == 1 << at)
    }

    /// Like [`Layout::cat`], but if a lane or warp bit holds replicas, it takes over one half. Otherwise those
    /// threads would repeat the work of others.
    pub fn cat_over_replicas(&self, shape: &Shape, dim: usize) -> Result<(Self, Shape)> {
        let (low, width) = shape.field(dim)?;
        let at = low + width;
        let mut log2 = shape.log2().to_vec();
        log2[dim] += 1;
        let widened = self.map_bases(|v| insert_field(v, at, 1));
        for input in [Input::Lane, Input::Warp] {
            let mut bases = widened.bases(input).to_vec();
            if let Some(free) = bases.iter_mut().find(|b| **b == 0) {
                *free = 1 << at;
                return Ok((widened.with(input, bases), Shape::from_log2(log2)?));
            }
        }
        self.cat(shape, dim)
    }

    /// The layout of a tile of rank 1 after each element is split into `2^log2` parts. The parts stay in their
    /// thread, in its lowest register bits.
    pub fn split_elements(&self, log2: u32) -> Self {
        let scaled = self.map_bases(|v| v << log2);
        let register = (0..log2).map(|i| 1 << i).chain(scaled.register().iter().copied()).collect();
        scaled.with(Input::Register, register)
    }

    /// The layout of a tile of rank 1 after `2^log2` consecutive elements become one. Returns `None` if they are not
    /// all in one thread, or if the position within a group depends on anything but their registers.
    pub fn merge_elements(&self, log2: u32) -> Option<Self> {
        let part = low_mask(log2);
        let register: Vec<u64> = self.register().iter().copied().filter(|b| b & part == 0).collect();
        let parts = self.register().iter().filter(|b| *b & part != 0);
        let whole = parts.clone().count() == log2 as usize && parts.clone().all(|b| b & !part == 0);
        let spanned = Subspace::span(parts.copied()).dim() == log2 as usize;
        let others = [Input::Lane, Input::Warp, Input::Block];
        let apart = others.iter().all(|&i| self.bases(i).iter().all(|b| b & part == 0));
        let shrink = |bases: &[u64]| bases.iter().map(|b| b >> log2).collect::<Vec<u64>>();
        (whole && spanned && apart).then(|| {
            let [lane, warp, block] = others.map(|i| shrink(self.bases(i)));
            Self::from_bases([shrink(&register), lane, warp, block])
        })
    }

    /// Like [`Layout::over_blocks`] with all dimensions in order, but every thread holds all parts of the larger
    /// tile. The bits that number the parts become the last register bits, starting with the bits of dimension 0.
    pub fn over_registers(&self, part: &Shape, whole: &Shape) -> Result<Self> {
        let order: Vec<usize> = (0..whole.rank()).collect();
        let over = self.over_blocks(part, whole, &order)?;
        let (kept, parts) = over.block().split_at(self.block().len());
        let register = over.register().iter().chain(parts).copied().collect();
        Self::new(register, over.lane().to_vec(), over.warp().to_vec(), kept.to_vec())
    }

    /// Moves the last `count` register bits to the end of the warp number, after `warps` bits of actual warps. The
    /// result describes one of `2^count` passes over the tile's registers, with the pass as the number of a virtual
    /// warp.
    pub fn registers_as_warps(&self, count: usize, warps: usize) -> Self {
        let (kept, moved) = self.register().split_at(self.register().len() - count.min(self.register().len()));
        let mut warp = self.warp().to_vec();
        warp.resize(warps.max(warp.len()), 0);
        warp.extend(moved);
        self.with(Input::Register, kept.to_vec()).with(Input::Warp, warp)
    }

    /// The inverse of [`Layout::registers_as_warps`]: moves all bits of the warp number from `warps` on to the end of
    /// the register number.
    pub fn warps_as_registers(&self, warps: usize) -> Self {
        let (kept, moved) = self.warp().split_at(warps.min(self.warp().len()));
        let register = self.register().iter().chain(moved).copied().collect();
        self.with(Input::Register, register).with(Input::Warp, kept.to_vec())
    }

    /// The layout and shape of two tiles of this layout joined along a new last dimension of extent 2.
    pub fn join(&self, shape: &Shape) -> Result<(Self, Shape)> {
        let (layout, shape) = self.expand_dims(shape, shape.rank())?;
        layout.cat(&shape, shape.rank() - 1)
    }

    /// The layout of an aligned sub-tile of extents `sub` in which every thread of `self` takes part. Threads and
    /// registers outside the sub-tile hold the elements at the same coordinates modulo `sub`. Data moves unless the
    /// sub-tile repeats within the thread; use the result as the target of a conversion.
    pub fn truncate(&self, shape: &Shape, sub: &Shape) -> Result<Self> {
        if sub.rank() != shape.rank() {
            return Err(mismatch("rank of the sub-tile", shape.rank() as u64, sub.rank() as u64));
        }
        if let Some(dim) = (0..shape.rank()).find(|&d| sub.log2()[d] > shape.log2()[d]) {
            return Err(mismatch("extent of the sub-tile", shape.extents()[dim], sub.extents()[dim]));
        }
        let (from, to) = (shape.fields(), sub.fields());
        let moved = |v: u64| {
            let fields = from.iter().zip(&to);
            fields.fold(0, |r, (&(low, _), &(at, width))| r | (v >> low & low_mask(width)) << at)
        };
        Ok(self.map_bases(moved).squeeze_registers().0)
    }

    /// Splits a larger tile over the blocks of a cluster. `self` is the layout of the part of one block, of shape
    /// `part`; the result is the layout of the tile of shape `whole`. Block bits go to the dimensions in the order of
    /// `order`, until each has reached its extent in `whole`.
    pub fn over_blocks(&self, part: &Shape, whole: &Shape, order: &[usize]) -> Result<Self> {
        whole.check_order(order)?;
        let (from, to) = (part.fields(), whole.fields());
        if from.len() != to.len() {
            return Err(mismatch("rank of the part of a block", to.len() as u64, from.len() as u64));
        }
        if let Some(d) = (0..from.len()).find(|&d| from[d].1 > to[d].1) {
            return Err(mismatch("extent of the part of a block", whole.extents()[d], part.extents()[d]));
        }
        let moved = |v: u64| {
            let fields = from.iter().zip(&to);
            fields.fold(0, |r, (&(low, width), &(at, _))| r | (v >> low & low_mask(width)) << at)
        };
        let within = self.map_bases(moved);
        let split = order.iter().flat_map(|&d| (from[d].1..to[d].1).map(move |i| (d, i)));
        let block: Vec<u64> = within.block().iter().copied().chain(split.map(|(d, i)| 1 << (to[d].0 + i))).collect();
        let [register, lane, warp] = [Input::Register, Input::Lane, Input::Warp].map(|i| within.bases(i).to_vec());
        Self::new(register, lane, warp, block)
    }

    /// log2 of the longest run of consecutive elements along dimension `dim` that every thread holds, aligned to its
    /// own length, up to `max_log2`. The order of the registers does not matter; [`Layout::vectors`] returns the
    /// groups.
    pub fn contiguity(&self, shape: &Shape, dim: usize, max_log2: u32) -> Result<u32> {
        let (low, width) = shape.field(dim)?;
        let span = Subspace::span(self.register().iter().copied());
        Ok((0..width.min(max_log2)).take_while(|&i| span.contains(1 << (low + i))).count() as u32)
    }

    /// The width, in elements and at most `max`, of the widest vector of consecutive elements along the fastest
    /// dimension `order[0]` that every thread holds.
    pub fn vector_width(&self, shape: &Shape, order: &[usize], max: u64) -> Result<u64> {
        shape.check_order(order)?;
        let Some(&fastest) = order.first() else { return Ok(1) };
        Ok(1 << self.contiguity(shape, fastest, max.max(1).ilog2())?)
    }

    /// The registers in groups of `width` (a power of two within [`Layout::vector_width`]) that hold consecutive
    /// elements along `dim`. Registers that repeat an element of the thread are left out.
    ///
    /// Within a group, the register with the lowest coordinate comes first, *provided that the thread's base has
    /// zeros in the low bits of that coordinate*. The second result says whether all threads satisfy this. If it is
    /// false, some thread finds its group rotated by the XOR of those bits, and wide accesses must not be used.
    pub fn vectors(&self, shape: &Shape, dim: usize, width: u64) -> Result<(Vec<Vec<u32>>, bool)> {
        let (low, _) = shape.field(dim)?;
        let log2 = self.contiguity(shape, dim, width.max(1).ilog2())?;
        if 1 << log2 != width {
            return Err(mismatch("width of a vector", 1 << log2, width));
        }
        let field = low_mask(log2) << low;
        let threads = [Input::Lane, Input::Warp, Input::Block];
        let aligned = threads.iter().all(|&i| self.bases(i).iter().all(|&b| b & field == 0));
        let registers = LinearMap::new(self.register().to_vec(), 64)?;
        // `flips[k]` flips coordinate bit k and nothing else.
        let flips: Option<Vec<u64>> = (0..log2).map(|i| registers.solve(1 << (low + i))).collect();
        let flips = flips.unwrap_or_default();
        let mut seen: Subspace = (0..log2).map(|i| 1u64 << (low + i)).collect();
        let free: Vec<u64> =
            (0..self.register().len()).filter(|&i| seen.insert(self.register()[i])).map(|i| 1 << i).collect();
        let group = |g: u64| {
            let start = crate::map::combine(&free, g);
            let rotation = registers.apply(start) >> low & low_mask(log2);
            let register = |s: u64| (start ^ crate::map::combine(&flips, s ^ rotation)) as u32;
            (0..width).map(register).collect()
        };
        Ok(((0..1u64 << free.len()).map(group).collect(), aligned))
    }
}
