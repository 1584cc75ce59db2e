//! TMA loads and stores of tiles: the tensor map of a view, and the boxes that make up a tile.
//!
//! A *tensor map* describes an array in global memory and a *box*, the part that one instruction copies. In shared
//! memory a box is dense: dimension 0 of the map is innermost, lines are consecutive, and the swizzle permutes
//! 16-byte chunks. A tile with a given layout in shared memory may take several boxes. This module finds the largest
//! box that fits the layout, and the conditions under which the hardware accepts it.
//!
//! # From a layout to a box
//!
//! Undo the swizzle in the bases of the layout (address bit `7 + i` flips bit `4 + i`). If every remaining vector is
//! a single coordinate bit, read them from the low end: bits 0, 1, 2, ... of the innermost dimension as long as they
//! are in order, then bits 0, 1, ... of a second dimension, and so on. They form the box. The dimensions of the map
//! are in the order in which they occur; a map may list its dimensions in any order, except that the innermost must
//! have a stride of one element. The box ends when a dimension occurs a second time or a hardware limit is reached.
//! Each further bit doubles the number of boxes. All swizzles are tried, and the one with the largest box is taken.
//!
//! *Worked example.* A 128x128 tile of bf16 in two panels of 64 columns with the 128-byte swizzle. The bases without
//! the swizzle are column bits 0 to 5, row bits 0 to 6, column bit 6. The box is 64 columns by 128 rows, 16 KB.
//! Column bit 6 makes two boxes, at columns 0 and 64 and at bytes 0 and 16384. An mbarrier that waits for both
//! expects 32768 bytes, because a box counts in full even if the bounds of the array clip it.
//!
//! # Static and runtime conditions
//!
//! Extents, strides and base addresses are often runtime values with only a divisor known. A limit that is certainly
//! violated makes the copy impossible ([`Ineligible`]). A limit that cannot be proved becomes a [`Condition`], which
//! generated code tests once before the copies; if it fails, ordinary loads are used instead.
//!
//! No address uses the stride of a dimension with one element. Such a stride is unconstrained, and the code that
//! builds the map substitutes a legal one ([`SINGLE_STRIDE`]), even if only the kernel knows that the extent is 1.
//!
//! Coordinates are 32-bit element counts. The parts of a tile outside the array are filled, but a coordinate that
//! overflows wraps back into the array. The code that computes coordinates must therefore saturate them.
#![deny(missing_docs)]

use thiserror::Error;

use crate::access::{Direction, SharedLayout};
use crate::error::{LayoutError, Result as LayoutResult};
use crate::hardware_swizzle::HardwareSwizzle;
use crate::shape::Shape;

/// The most elements of a box along one dimension.
const MAX_BOX: u64 = 256;
/// The most dimensions of a tensor map.
const MAX_RANK: usize = 5;
/// Addresses, strides, the innermost extent of a box and the start of a row are multiples of this many bytes.
pub const MAP_UNIT: u64 = 16;
/// The alignment of a box in shared memory, in bytes.
const BOX_ALIGNMENT: u64 = 128;
/// Strides are less than this many bytes.
pub const MAP_STRIDE_LIMIT: u64 = 1 << 40;
/// The stride, in bytes, of a map dimension with a single element: the smallest legal one.
pub const SINGLE_STRIDE: u64 = MAP_UNIT;
/// The most bytes that one phase of an mbarrier can count.
const MAX_TRANSACTION: u64 = (1 << 20) - 1;

/// The compile-time knowledge about an integer of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Known {
    /// A compile-time constant.
    Constant(u64),
    /// A runtime value that is a multiple of this.
    Multiple(u64),
}

impl Known {
    /// Whether the value is a multiple of `unit`; `None` if unknown.
    fn is_multiple_of(self, unit: u64) -> Option<bool> {
        match self {
            Self::Constant(value) => Some(value.is_multiple_of(unit)),
            Self::Multiple(divisor) if divisor.is_multiple_of(unit) => Some(true),
            Self::Multiple(_) => None,
        }
    }
}

/// Element types of tensor maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TensorElement {
    U8,
    U16,
    U32,
    U64,
    F16,
    Bf16,
    F32,
    /// f32 in memory, rounded to the nearest tf32 (ties to even) during the copy.
    Tf32,
    F64,
}

impl TensorElement {
    /// log2 of the bytes of an element.
    pub const fn log2_bytes(self) -> u32 {
        match self {
            Self::U8 => 0,
            Self::U16 | Self::F16 | Self::Bf16 => 1,
            Self::U32 | Self::F32 | Self::Tf32 => 2,
            Self::U64 | Self::F64 => 3,
        }
    }

    /// Whether the type has a NaN to fill with.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::Tf32 | Self::F64)
    }

    /// The code for `tensormap.replace.elemtype`.
    pub const fn code(self) -> u32 {
        match self {
            Self::U8 => 0,
            Self::U16 => 1,
            Self::U32 => 2,
            Self::U64 => 4,
            Self::F16 => 6,
            Self::F32 => 7,
            Self::F64 => 9,
            Self::Bf16 => 10,
            Self::Tf32 => 11,
        }
    }
}

/// The value of the tile's elements outside the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outside {
    /// The tile never leaves the array, or the elements outside it are never read.
    Anything,
    /// Zeros.
    Zero,
    /// NaNs.
    Nan,
    /// Another value, with which no tensor map can fill.
    Other,
}

/// One dimension of a view, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ViewDim {
    /// The extent.
    pub extent: Known,
    /// The distance between neighbors.
    pub stride: Known,
}

/// An array in global memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GlobalView {
    /// Element type.
    pub element: TensorElement,
    /// A known divisor of the base address, in bytes.
    pub alignment: u64,
    /// The dimensions in the order of the view.
    pub dims: Vec<ViewDim>,
}

/// One dimension of a tile in a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TileDim {
    /// The corresponding dimension of the view.
    pub view: usize,
    /// The distance between neighbors of the tile, in elements along the view's dimension; 1 to 8.
    pub step: u32,
    /// The first coordinate of the tile.
    pub origin: Known,
}

/// A tile of a view and its copy in shared memory.
#[derive(Debug, Clone, Copy)]
pub struct TileCopy<'a> {
    /// The shape of the tile.
    pub shape: &'a Shape,
    /// The view dimension of each tile dimension; each view dimension occurs once.
    pub dims: &'a [TileDim],
    /// The layout in shared memory.
    pub shared: &'a SharedLayout,
    /// [`Direction::Load`] writes shared memory, [`Direction::Store`] reads it.
    pub direction: Direction,
    /// The value that a load writes for elements outside the array.
    pub outside: Outside,
    /// Whether no coordinate of the tile is negative.
    pub nonnegative: bool,
}

/// The reasons why tensor maps cannot copy a tile.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Ineligible {
    #[error("the view has {rank} dimensions, but a tensor map has 1 to 5")]
    Rank { rank: usize },
    #[error("dimension {dim} of the view, which the tile stores contiguously, has stride {stride} instead of 1")]
    InnerStride { dim: usize, stride: u64 },
    #[error("dimension {dim} of the view has a stride of {bytes} bytes, which is not a multiple of 16")]
    Stride { dim: usize, bytes: u64 },
    #[error("dimension {dim} of the view has a stride of {bytes} bytes, but strides must be less than 2^40")]
    StrideTooLarge { dim: usize, bytes: u64 },
    #[error("dimension {dim} of the view has extent {extent}, but extents must be from 1 to 2^31 - 1")]
    Extent { dim: usize, extent: u64 },
    #[error("the step along dimension {dim} is {step}, but it must be at most 8, and 1 along the contiguous dimension")]
    Step { dim: usize, step: u32 },
    #[error("elements outside of the view have a value that tensor maps cannot fill with")]
    Padding,
    #[error("tiles do not start at multiples of 16 bytes along the contiguous dimension {dim}")]
    Origin { dim: usize },
    #[error("a store may start before the view, which the hardware rejects")]
    NegativeStore,
    #[error("bit {bit} of the byte offset in shared memory does not fit a box with any swizzle")]
    Arrangement { bit: u32 },
    #[error("only {bytes} bytes are contiguous in shared memory, but a box needs at least 16")]
    InnerBox { bytes: u64 },
    #[error("the tile has {bytes} bytes, more than an mbarrier can count")]
    TooManyBytes { bytes: u64 },
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// A test on runtime values. Dimensions are dimensions of the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The base address is a multiple of 16.
    Base,
    /// The stride is 1.
    UnitStride {
        /// The dimension of the view.
        dim: usize,
    },
    /// The stride is a multiple of `multiple` elements (16 bytes), unless the extent is 1.
    Stride {
        /// The dimension of the view.
        dim: usize,
        /// The number of elements.
        multiple: u64,
    },
    /// The stride is less than `limit` elements (2^40 bytes), unless the extent is 1.
    StrideBelow {
        /// The dimension of the view.
        dim: usize,
        /// The number of elements.
        limit: u64,
    },
    /// The extent is from 1 to 2^31 - 1. A tensor map interprets an extent of zero as 2^32.
    Extent {
        /// The dimension of the view.
        dim: usize,
    },
}

/// The fields of a tensor map. The address, extents and strides come from the view.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorMapPlan {
    /// Element type.
    pub element: TensorElement,
    /// The view dimension of each map dimension, innermost first. Its length is the rank.
    pub dims: Vec<usize>,
    /// The extents of the box.
    pub box_dims: Vec<u32>,
    /// The distance between copied elements, for each dimension.
    pub element_strides: Vec<u32>,
    /// The swizzle of the box.
    pub swizzle: HardwareSwizzle,
    /// Whether to fill with NaNs instead of zeros.
    pub nan: bool,
}

/// The box that one instruction copies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorBox {
    /// The offset from the tile's first coordinates, for each dimension of the map.
    pub coordinates: Vec<u64>,
    /// Offset from the tile's start in shared memory, in bytes.
    pub offset: u64,
}

/// A plan for copying a tile.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TensorCopyPlan {
    /// The tensor map.
    pub map: TensorMapPlan,
    /// The boxes, by ascending offset.
    pub boxes: Vec<TensorBox>,
    /// The bytes of one box in shared memory.
    pub box_bytes: u32,
    /// The bytes of all boxes, which an mbarrier expects.
    pub bytes: u32,
    /// The alignment of the tile in shared memory, in bytes.
    pub alignment: u32,
    /// The conditions that must hold at run time.
    pub conditions: Vec<Condition>,
}

/// Plans the copy of a tile.
///
/// Errors: the first reason why tensor maps cannot copy the tile, whatever the runtime values are.
pub fn plan_tensor_copy(view: &GlobalView, tile: &TileCopy) -> Result<TensorCopyPlan, Ineligible> {
    check_dims(view, tile)?;
    let elem_log2 = view.element.log2_bytes();
    let candidates = HardwareSwizzle::ALL.map(|swizzle| find_box(tile, elem_log2, swizzle));
    // The largest box. Among equals the first, which has the narrowest swizzle.
    let mut best: Result<FoundBox, Ineligible> = Err(Ineligible::Arrangement { bit: 0 });
    for candidate in candidates {
        best = match (best, candidate) {
            (Ok(best), Ok(found)) if found.log2 > best.log2 => Ok(found),
            (Err(worse), Err(error)) if progress(&worse) >= progress(&error) => Err(worse),
            (Ok(best), _) => Ok(best),
            (Err(_), candidate) => candidate,
        };
    }
    let found = best?;
    let inner = found.dims[0].0;
    let conditions = conditions(view, tile.dims[inner].view)?;
    check_tile(view, tile, inner)?;
    let bytes = tile.shape.elements() << elem_log2;
    if bytes > MAX_TRANSACTION {
        return Err(Ineligible::TooManyBytes { bytes });
    }
    // The tile dimensions in the order of the map: first the dimensions of the box, then the others.
    let others = (0..tile.shape.rank()).filter(|d| found.dims.iter().all(|(dim, _)| dim != d)).map(|d| (d, 0));
    let order: Vec<(usize, u32)> = found.dims.iter().copied().chain(others).collect();
    let box_extent = |&(dim, log2): &(usize, u32)| ((1 << log2) - 1) * tile.dims[dim].step + 1;
    let map = TensorMapPlan {
        element: view.element,
        dims: order.iter().map(|&(dim, _)| tile.dims[dim].view).collect(),
        box_dims: order.iter().map(box_extent).collect(),
        element_strides: order.iter().map(|&(dim, _)| tile.dims[dim].step).collect(),
        swizzle: found.swizzle,
        nan: tile.outside == Outside::Nan,
    };
    let boxes = (0..1u64 << found.rest.len()).map(|number| {
        let mut coordinates = vec![0; order.len()];
        for (_, &(dim, bit)) in found.rest.iter().enumerate().filter(|(i, _)| number >> i & 1 == 1) {
            let at = order.iter().position(|&(d, _)| d == dim).unwrap_or(0);
            coordinates[at] += u64::from(tile.dims[dim].step) << bit;
        }
        TensorBox { coordinates, offset: number << (found.log2 + elem_log2) }
    });
    Ok(TensorCopyPlan {
        map,
        boxes: boxes.collect(),
        box_bytes: 1 << (found.log2 + elem_log2),
        bytes: bytes as u32,
        alignment: found.swizzle.atom_bytes(),
        conditions,
    })
}

/// How far the search for a box got before it failed. The failure that got furthest is reported.
fn progress(error: &Ineligible) -> u32 {
    match error {
        Ineligible::Arrangement { bit } => *bit,
        _ => u32::MAX,
    }
}

/// The box that a swizzle allows.
struct FoundBox {
    swizzle: HardwareSwizzle,
    /// The tile dimensions and log2 of the box's extents along them, innermost first.
    dims: Vec<(usize, u32)>,
    /// log2 of the elements of the box.
    log2: u32,
    /// The dimension and coordinate bit of each bit of the box number.
    rest: Vec<(usize, u32)>,
}

fn find_box(tile: &TileCopy, elem_log2: u32, swizzle: HardwareSwizzle) -> Result<FoundBox, Ineligible> {
    let bits = straight_bits(tile, elem_log2, swizzle)?;
    let limit = |dim: usize, innermost: bool| {
        let span = if swizzle == HardwareSwizzle::None { MAX_BOX } else { u64::from(swizzle.span()) >> elem_log2 };
        // A box spans `(count - 1) * step + 1` elements of the view.
        let count = (MAX_BOX - 1) / u64::from(tile.dims[dim].step) + 1;
        if innermost { count.min(span).ilog2() } else { count.ilog2() }
    };
    let mut dims: Vec<(usize, u32)> = Vec::new();
    let mut used = 0;
    for &(dim, bit) in &bits {
        let fresh = bit == 0 && dims.iter().all(|(d, _)| *d != dim) && limit(dim, dims.is_empty()) > 0;
        let grows = bit < limit(dim, dims.len() == 1);
        match dims.last_mut() {
            Some((last, count)) if *last == dim && bit == *count && grows => *count += 1,
            _ if fresh => dims.push((dim, 1)),
            _ => break,
        }
        used += 1;
    }
    // A tile of one element does not have any bits.
    let inner = dims.first().map_or(0, |(_, log2)| *log2);
    if 1u64 << (inner + elem_log2) < MAP_UNIT {
        return Err(Ineligible::InnerBox { bytes: 1 << (inner + elem_log2) });
    }
    if used < bits.len() && 1 << (used as u32 + elem_log2) < BOX_ALIGNMENT {
        return Err(Ineligible::Arrangement { bit: used as u32 + elem_log2 });
    }
    Ok(FoundBox { swizzle, dims, log2: used as u32, rest: bits[used..].to_vec() })
}

/// The dimension and coordinate bit of each offset bit, with the swizzle undone.
fn straight_bits(tile: &TileCopy, elem_log2: u32, swizzle: HardwareSwizzle) -> Result<Vec<(usize, u32)>, Ineligible> {
    let fields = tile.shape.fields();
    let bases = tile.shared.bases();
    let straight = bases.iter().zip(elem_log2..).map(|(&basis, bit)| {
        let flip = swizzle.flipped_by(bit).and_then(|chunk| bases.get(chunk.checked_sub(elem_log2)? as usize));
        let unit = basis ^ flip.copied().unwrap_or(0);
        let at = unit.trailing_zeros();
        let dim = fields.iter().position(|&(low, width)| (low..low + width).contains(&at));
        match dim {
            Some(dim) if unit.is_power_of_two() => Ok((dim, at - fields[dim].0)),
            _ => Err(Ineligible::Arrangement { bit }),
        }
    });
    straight.collect()
}

fn check_dims(view: &GlobalView, tile: &TileCopy) -> Result<(), Ineligible> {
    let rank = view.dims.len();
    if !(1..=MAX_RANK).contains(&rank) {
        return Err(Ineligible::Rank { rank });
    }
    let order: Vec<usize> = tile.dims.iter().map(|d| d.view).collect();
    is_order(&order, rank)?;
    let (expected, found) = (rank as u64, tile.shape.rank() as u64);
    if expected != found {
        return Err(LayoutError::Mismatch { what: "dimensions of the tile", expected, found }.into());
    }
    if tile.shared.offset_bits() != tile.shape.bits() {
        let (expected, found) = (tile.shape.bits().into(), tile.shared.offset_bits().into());
        return Err(LayoutError::Mismatch { what: "bits of the offset in shared memory", expected, found }.into());
    }
    match tile.dims.iter().position(|d| !(1..=8).contains(&d.step)) {
        Some(dim) => Err(Ineligible::Step { dim, step: tile.dims[dim].step }),
        None => Ok(()),
    }
}

fn is_order(order: &[usize], rank: usize) -> LayoutResult<()> {
    Shape::from_log2(vec![0; rank])?.check_order(order)
}

/// Checks the limits that depend on the tile and its innermost dimension.
fn check_tile(view: &GlobalView, tile: &TileCopy, inner: usize) -> Result<(), Ineligible> {
    let innermost = tile.dims[inner];
    if innermost.step != 1 {
        return Err(Ineligible::Step { dim: inner, step: innermost.step });
    }
    if innermost.origin.is_multiple_of(MAP_UNIT >> view.element.log2_bytes()) != Some(true) {
        return Err(Ineligible::Origin { dim: innermost.view });
    }
    match tile.direction {
        Direction::Store if !tile.nonnegative => Err(Ineligible::NegativeStore),
        Direction::Store => Ok(()),
        Direction::Load => match tile.outside {
            Outside::Other => Err(Ineligible::Padding),
            Outside::Nan if !view.element.is_float() => Err(Ineligible::Padding),
            _ => Ok(()),
        },
    }
}

/// Returns the conditions on the view that are not known to hold, or the first limit that it violates.
fn conditions(view: &GlobalView, inner: usize) -> Result<Vec<Condition>, Ineligible> {
    let elem_log2 = view.element.log2_bytes();
    let multiple = (MAP_UNIT >> elem_log2).max(1);
    let limit = MAP_STRIDE_LIMIT >> elem_log2;
    let mut conditions = Vec::new();
    if !view.alignment.is_multiple_of(MAP_UNIT) || view.alignment == 0 {
        conditions.push(Condition::Base);
    }
    for (dim, &ViewDim { extent, stride }) in view.dims.iter().enumerate() {
        match extent {
            Known::Constant(extent) if extent == 0 || extent > i32::MAX as u64 => {
                return Err(Ineligible::Extent { dim, extent });
            }
            Known::Constant(_) => {}
            Known::Multiple(_) => conditions.push(Condition::Extent { dim }),
        }
        if dim == inner {
            match stride {
                Known::Constant(1) => {}
                Known::Constant(stride) => return Err(Ineligible::InnerStride { dim, stride }),
                Known::Multiple(_) => conditions.push(Condition::UnitStride { dim }),
            }
            continue;
        }
        // No address uses the stride of a single element, so the map may have any stride.
        if extent == Known::Constant(1) {
            continue;
        }
        match (stride, stride.is_multiple_of(multiple)) {
            (Known::Constant(stride), Some(false)) => {
                return Err(Ineligible::Stride { dim, bytes: stride << elem_log2 });
            }
            (Known::Constant(stride), _) if stride >= limit => {
                return Err(Ineligible::StrideTooLarge { dim, bytes: stride.saturating_mul(1 << elem_log2) });
            }
            (Known::Constant(_), _) => {}
            (Known::Multiple(_), proved) => {
                if proved != Some(true) {
                    conditions.push(Condition::Stride { dim, multiple });
                }
                conditions.push(Condition::StrideBelow { dim, limit });
            }
        }
    }
    Ok(conditions)
}
