//! Accesses of global memory: the fast dimension, the vector width, the bounds that need a check, and the number of
//! sectors that a layout touches.

use super::{
    combined::Combined,
    facts::{Facts, TOP, pointee_bytes},
    layouts::{index_layout, sparse_dimension},
    multimem::{Action, Multimem},
};
use crate::dialect::{
    attributes::MAY_BE_OUTSIDE,
    layouts::{Tensor, memory_bits, storage_bits},
    nv_tileaa::{MakeMemRefOp, MakeTiledViewOp, StridedMemRefType, TiledViewType},
    nv_tileas::{AnyOp, Bounds},
    rt::*,
};
use std::collections::BTreeSet;
use tile_layout::{Layout, Shape};

/// An extent or stride that is unknown at compile time.
pub const DYNAMIC: i64 = i64::MIN;

/// The widest access of the hardware, in bytes.
const MAX_VECTOR_BYTES: u64 = 16;

/// The constraints of one access.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessPlan {
    /// The dimensions of the tile, fastest in memory first.
    pub order: Vec<usize>,
    /// The largest number of elements that one instruction may move along `order[0]`.
    pub vector: u64,
    pub bounds: Bounds,
    /// The dimensions in which the tile is known to be inside the view.
    pub in_bounds: Vec<bool>,
    /// The smallest number of adjacent elements along `order[0]` that a thread must hold: in multicast memory, 16-bit
    /// floats come in pairs.
    pub least: u64,
    /// The size of an element in bytes. One for 4-bit elements, whose vectors are therefore half as wide as they
    /// could be.
    pub element_bytes: u64,
}

/// A view of memory with the ops that create it.
pub struct View<'c> {
    pub ty: TiledViewType<'c>,
    pub memref: StridedMemRefType<'c>,
    pub make: MakeMemRefOp<'c>,
}

impl<'c> View<'c> {
    /// Returns `None` if the view is not created in this function; the language disallows views as block arguments.
    pub fn of(v: Val<'c>) -> Option<Self> {
        let tiled = MakeTiledViewOp::cast(defining_op(v)?)?;
        let make = MakeMemRefOp::cast(defining_op(tiled.memref())?)?;
        let ty = TiledViewType::cast(ty(v))?;
        Some(View { ty, memref: StridedMemRefType::cast(ty.memref())?, make })
    }

    /// Whether all elements inside the view are less than 2^32 bytes from its start along each dimension: according to
    /// the requested width of address arithmetic, if any, and to the view's type otherwise.
    pub fn has_narrow_offsets(&self, index_bits: Option<i64>) -> bool {
        if let Some(bits) = index_bits {
            return bits == 32;
        }
        let bytes = i64::from(storage_bits(self.memref.element_type()) / 8);
        (0..self.memref.shape().len()).all(|d| match (self.extent(d), self.stride(d)) {
            (Ok(extent), Ok(stride)) if stride >= 0 => (extent - 1)
                .max(0)
                .checked_mul(stride)
                .and_then(|last| last.checked_mul(bytes))
                .is_some_and(|last| last < 1 << 32),
            _ => false,
        })
    }
    /// Returns the extent of dimension `d` of the memref: a constant, or the value that holds it.
    pub fn extent(&self, d: usize) -> Result<i64, Val<'c>> {
        dynamic(self.memref.shape(), d, self.make.dynamic_shape())
    }
    pub fn stride(&self, d: usize) -> Result<i64, Val<'c>> {
        dynamic(self.memref.strides(), d, self.make.dynamic_strides())
    }
    /// Returns a divisor, in elements, of the address offsets inside the view along dimension `d` of the memref.
    /// Along a dimension of one element, the only coordinate is zero, so the stride does not matter.
    pub fn stride_divisor(&self, d: usize, facts: &Facts) -> u64 {
        if self.extent(d) == Ok(1) { TOP } else { divisor(self.stride(d), facts) }
    }
    /// Whether accesses of slices that are outside the view are bounds-checked, if tiles have `slices` slices along
    /// dimension `d`. There is no check if tiles divide the extent. If slices divide the extent but tiles do not, a
    /// slice may be outside without a check.
    pub fn tests_slices(&self, d: usize, slices: i64, facts: &Facts) -> bool {
        let extent = self.extent(self.ty.dim_map()[d] as usize);
        let divides = |tile: i64| match extent {
            Ok(extent) => extent % tile == 0,
            Err(v) => facts.get(v).scalar_divisor() >= tile as u64,
        };
        let tile = self.ty.tile()[d];
        divides(tile) || !divides(tile / slices)
    }
}

/// Returns the largest power of two that is known to divide an extent or stride.
fn divisor(x: Result<i64, Val<'_>>, facts: &Facts) -> u64 {
    match x {
        Ok(0) => TOP,
        Ok(c) => 1 << c.trailing_zeros().min(62),
        Err(v) => facts.get(v).scalar_divisor(),
    }
}

fn dynamic<'c>(list: &[i64], d: usize, mut values: impl Iterator<Item = Val<'c>>) -> Result<i64, Val<'c>> {
    if list[d] != DYNAMIC {
        return Ok(list[d]);
    }
    let before = list[..d].iter().filter(|&&x| x == DYNAMIC).count();
    Err(values.nth(before).expect("one operand for each dynamic entry"))
}

/// Returns the dimensions of the tile, fastest in memory first: a unit stride comes first, then later dimensions of
/// the memref.
pub fn memory_order(view: &View<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..view.ty.tile().len()).collect();
    order.sort_by_key(|&d| {
        let m = view.ty.dim_map()[d] as usize;
        (view.stride(m) != Ok(1), std::cmp::Reverse(m))
    });
    order
}

/// Returns the dimension of the tile along which vectors extend.
pub fn fast_dimension(view: &View<'_>) -> usize {
    memory_order(view).first().copied().unwrap_or(0)
}

/// Where the tile of an access may be along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Inside the view: the program promises it.
    Inside,
    /// Inside the view, or over its edge: the index is one of the index space.
    InSpace,
    /// Anywhere: the compiler moves tiles out of the view that must not be accessed.
    Anywhere,
}

/// Returns where the tile of a load or store may be, for the dimensions with promises.
pub fn places(op: OpRef<'_>) -> Vec<Place> {
    let promised = bool_list(attr(op, "inBounds"));
    let outside = MAY_BE_OUTSIDE.get(op).and_then(|d| usize::try_from(d).ok());
    let count = promised.len().max(outside.map_or(0, |d| d + 1));
    let place = |d: usize| match promised.get(d) {
        _ if outside == Some(d) => Place::Anywhere,
        Some(true) => Place::Inside,
        _ => Place::InSpace,
    };
    (0..count).map(place).collect()
}

/// Returns the constraints of an access of a tile of `view` at `indices`. Dimensions without a place are
/// [`Place::InSpace`].
pub fn tiled_access<'c>(facts: &Facts, view: &View<'c>, indices: &[Val<'c>], places: &[Place]) -> AccessPlan {
    let (tile, dim_map, steps) = (view.ty.tile(), view.ty.dim_map(), view.ty.steps());
    let element_bytes = u64::from(storage_bits(view.memref.element_type()) / 8);
    let sparse = view.ty.sparse_dim().map(|d| d as usize);

    // An index outside the space of tiles is undefined, so a dimension that tiles divide has no ragged edge.
    let in_bounds: Vec<bool> = (0..tile.len())
        .map(|d| {
            let whole = match view.extent(dim_map[d] as usize) {
                Ok(extent) => extent % tile[d] == 0,
                Err(v) => facts.get(v).scalar_divisor() >= tile[d] as u64,
            };
            match places.get(d) {
                Some(Place::Inside) => true,
                Some(Place::Anywhere) => false,
                Some(Place::InSpace) | None => steps[d] == tile[d] && whole && sparse != Some(d),
            }
        })
        .collect();

    let order = memory_order(view);
    let fast = order[0];
    let mut vector = 1;
    if view.stride(dim_map[fast] as usize) == Ok(1) && sparse != Some(fast) {
        let mut alignment = facts.get(view.make.base()).scalar_divisor();
        if memory_bits(view.memref.element_type()) < 8 {
            // Strides count elements, of which two share a byte.
            alignment = alignment.saturating_mul(2);
        }
        for d in 0..tile.len() {
            let stride = view.stride_divisor(dim_map[d] as usize, facts).saturating_mul(element_bytes);
            let index = indices.get(d).map_or(1, |&i| facts.get(i).scalar_divisor());
            let start = index.saturating_mul(1 << steps[d].trailing_zeros().min(62)).min(TOP);
            let row = if d == fast || tile[d] == 1 { start } else { 1 };
            alignment = alignment.min(stride.saturating_mul(row).min(TOP));
        }
        let limit = (MAX_VECTOR_BYTES / element_bytes).max(1).min(tile[fast] as u64);
        vector = (alignment / element_bytes).clamp(1, limit);
    }
    let exact = in_bounds[fast] || vector == 1 || divisor(view.extent(dim_map[fast] as usize), facts) >= vector;
    let bounds = match () {
        _ if in_bounds.iter().all(|&b| b) => Bounds::None,
        _ if exact => Bounds::Vector,
        _ => Bounds::Split,
    };
    AccessPlan { order, vector, bounds, in_bounds, least: 1, element_bytes }
}

/// Returns the constraints of an access through a tensor of pointers with an optional mask.
pub fn pointer_access<'c>(facts: &Facts, ptr: Val<'c>, mask: Option<Val<'c>>) -> AccessPlan {
    let tensor = Tensor::of_value(ptr).expect("a tensor of pointers");
    let rank = tensor.shape.len();
    let bytes = u64::from(pointee_bytes(ptr));
    let fact = facts.get(ptr);
    let mask = mask.map(|m| facts.get(m));
    let width = |d: usize| {
        let masked = mask.as_ref().map_or(u64::MAX, |m| m.constancy[d]);
        let aligned = (fact.divisor[d] / bytes).max(1);
        fact.contiguity[d].min(masked).min(aligned).min((MAX_VECTOR_BYTES / bytes).max(1))
    };
    let mut order: Vec<usize> = (0..rank).collect();
    order.sort_by_key(|&d| (std::cmp::Reverse(fact.contiguity[d]), std::cmp::Reverse(d)));
    let vector = width(order[0]);
    AccessPlan { vector, bounds: Bounds::None, in_bounds: vec![true; rank], least: 1, element_bytes: bytes, order }
}

/// Returns the constraints of the access that `op` makes, if it moves a tensor.
pub fn access_of(op: OpRef<'_>, facts: &Facts) -> Option<AccessPlan> {
    let tiled = |view, indices: Vec<Val<'_>>| Some(tiled_access(facts, &View::of(view)?, &indices, &places(op)));
    let pointers = |ptr, mask| Tensor::of_value(ptr).map(|_| pointer_access(facts, ptr, mask));
    match AnyOp::cast(op)? {
        AnyOp::TiledLoadOp(x) => tiled(x.view(), x.indices().collect()),
        AnyOp::TiledStoreOp(x) => tiled(x.view(), x.indices().collect()),
        AnyOp::TiledAtomicRmwOp(x) => tiled(x.view(), x.indices().collect()),
        AnyOp::MultimemLoadReduceOp(x) => {
            tiled(x.view(), x.indices().collect())?.multicast(Action::Load(x.kind()), x.result())
        }
        AnyOp::MultimemReduceOp(x) => {
            tiled(x.view(), x.indices().collect())?.multicast(Action::Update(x.kind()), x.value())
        }
        AnyOp::MultimemStoreOp(x) => tiled(x.view(), x.indices().collect())?.multicast(Action::Store, x.value()),
        AnyOp::LoadOp(x) => pointers(x.ptr(), x.mask()),
        AnyOp::StoreOp(x) => pointers(x.ptr(), x.mask()),
        AnyOp::AtomicRmwOp(x) => pointers(x.ptr(), x.mask()),
        AnyOp::AtomicCasOp(x) => pointers(x.ptr(), x.mask()).map(|mut a| {
            a.narrow(1);
            a
        }),
        _ => None,
    }
}

/// Returns a tensor that an access moves, which has the shape of the tile.
pub fn tile_of<'c>(op: OpRef<'c>) -> Option<Tensor<'c>> {
    match AnyOp::cast(op) {
        // The index of a sparse dimension precedes the result.
        Some(AnyOp::TiledLoadOp(x)) => Tensor::of_value(x.result()),
        Some(AnyOp::MultimemLoadReduceOp(x)) => Tensor::of_value(x.result()),
        _ => operands(op).chain(results(op)).find_map(Tensor::of_value),
    }
}

/// Returns the layout that operand `i` of an access needs if its tile with the extents `tile` has `layout`.
pub fn operand_layout(op: OpRef<'_>, i: usize, tile: &[i64], layout: &Layout) -> Layout {
    let index = match AnyOp::cast(op) {
        Some(AnyOp::TiledLoadOp(x)) => sparse_dimension(x.view()).filter(|d| *d + 1 == i),
        Some(AnyOp::TiledStoreOp(x)) => sparse_dimension(x.view()).filter(|d| *d + 2 == i),
        Some(AnyOp::MultimemLoadReduceOp(x)) => sparse_dimension(x.view()).filter(|d| *d + 1 == i),
        Some(AnyOp::MultimemReduceOp(x)) => sparse_dimension(x.view()).filter(|d| *d + 2 == i),
        Some(AnyOp::MultimemStoreOp(x)) => sparse_dimension(x.view()).filter(|d| *d + 2 == i),
        _ => None,
    };
    index.map_or_else(|| layout.clone(), |d| index_layout(layout, tile, d))
}

impl AccessPlan {
    /// Returns the layout that touches the fewest sectors.
    pub fn layout(&self, shape: &Shape, warps: u64) -> Layout {
        let after: Vec<usize> = self.order.iter().skip(1).chain(self.order.first()).copied().collect();
        let (bits, vector) = ((self.element_bytes * 8) as u32, [self.least, self.vector]);
        Layout::coalesced_over(shape, bits, &self.order, vector, warps, [&after, &after])
            .expect("a tile has a coalesced layout")
    }
    /// Returns, of the layouts that touch the fewest sectors, the one in which combining elements is cheapest: within
    /// a thread rather than across lanes, across lanes rather than across warps.
    pub fn layout_for(&self, shape: &Shape, warps: u64, combined: &Combined) -> Layout {
        let best = self.layout(shape, warps);
        if *combined == Combined::default() {
            return best;
        }
        let is_combined = |d: &usize| combined.reduced.contains(d) || combined.scanned.contains(d);
        let after: Vec<usize> = self.order.iter().skip(1).chain(self.order.first()).copied().collect();
        // Assigns threads to uncombined dimensions before combined ones.
        let mut others_first = after.clone();
        others_first.sort_by_key(is_combined);
        let spreads: [[&[usize]; 2]; 3] =
            [[&after, &others_first], [&others_first, &others_first], [&self.order, &others_first]];
        let bits = (self.element_bytes * 8) as u32;
        let candidates = spreads.into_iter().filter_map(|spread| {
            Layout::coalesced_over(shape, bits, &self.order, [self.least, self.vector], warps, spread).ok()
        });
        let (sectors, vector) = (self.sectors(&best, shape), self.vector_in(&best, shape));
        let mut best = (combined.cost(&best, shape), best);
        for layout in candidates {
            let cost = combined.cost(&layout, shape);
            let as_good = self.vector_in(&layout, shape) == vector && self.sectors(&layout, shape) <= sectors;
            if cost < best.0 && as_good {
                best = (cost, layout);
            }
        }
        best.1
    }
    /// Applies the limits of the multicast instructions to the access of a tile.
    fn multicast(mut self, action: Action, tile: Val<'_>) -> Option<Self> {
        let instruction = Multimem::of(action, Tensor::of_value(tile)?.element)?;
        self.narrow(instruction.width);
        self.least = if instruction.is_paired() { self.vector.min(2) } else { 1 };
        Some(self)
    }
    /// Limits vectors to `width` elements. One bounds check per vector then becomes one per narrower vector.
    pub fn narrow(&mut self, width: u64) {
        self.vector = self.vector.min(width);
        if self.bounds == Bounds::Split && self.vector == 1 {
            self.bounds = Bounds::Vector;
        }
    }
    /// Returns the vector width that `layout` supports.
    pub fn vector_in(&self, layout: &Layout, shape: &Shape) -> u64 {
        layout.vector_width(shape, &self.order, self.vector).unwrap_or(1)
    }
    /// Returns the number of 32-byte sectors that the first warp touches over all its instructions, if rows are far
    /// apart.
    pub fn sectors(&self, layout: &Layout, shape: &Shape) -> u64 {
        let vector = self.vector_in(layout, shape);
        let fast = self.order[0];
        let Ok((low, width)) = shape.field(fast) else { return u64::MAX };
        let Ok((groups, _)) = layout.vectors(shape, fast, vector) else { return u64::MAX };
        let mask = (1u64 << width) - 1;
        // Another group of registers flips the same bits of all elements, and thus of rows and sectors, so every
        // group touches the same number.
        let Some(group) = groups.first() else { return 0 };
        let mut touched = BTreeSet::new();
        for lane in 0..32 {
            let thread = tile_layout::Thread { lane, warp: 0, block: 0 };
            let element = layout.thread_base(thread) ^ register_part(layout, group[0]);
            let column = element >> low & mask;
            let row = element & !(mask << low);
            touched.insert((row, column * self.element_bytes / 32));
        }
        (touched.len() * groups.len()) as u64
    }
}

fn register_part(layout: &Layout, register: u32) -> u64 {
    layout.register().iter().enumerate().filter(|(i, _)| register >> i & 1 == 1).fold(0, |x, (_, b)| x ^ b)
}
