//! Elements of four bits of which two share a byte.
//!
//! The hardware moves and swizzles bytes. A tile of packed elements is therefore a tile of *pairs*, with half the
//! extent along the dimension whose neighbors share a byte. The lowest bit of an element's offset is the lowest bit of
//! its coordinate there:
//!
//! ```text
//! 128 x 256 elements of 4 bits, contiguous along columns    =    128 x 128 pairs of 8 bits
//! bases of offsets: [1, 2, 4, ...]                               [1, 2, ...]
//! ```

use crate::access::SharedLayout;
use crate::error::{LayoutError, Result};
use crate::layout::{Input, Layout};
use crate::map::low_mask;
use crate::shape::Shape;

/// A packed tile as a tile of pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs {
    /// The dimension whose neighbors share a byte.
    pub dim: usize,
    pub shape: Shape,
    pub shared: SharedLayout,
}

impl Pairs {
    /// The pairs of a packed tile with this layout.
    ///
    /// Errors: two elements of a byte are not neighbors along a dimension.
    pub fn of(shape: &Shape, shared: &SharedLayout) -> Result<Self> {
        let found = shared.bases().first().copied().unwrap_or(0);
        let is_lowest = |d: &usize| shape.field(*d).is_ok_and(|(low, width)| width > 0 && found == 1 << low);
        let what = "the second element of a byte";
        let not = LayoutError::Mismatch { what, expected: 1, found };
        let dim = (0..shape.rank()).find(is_lowest).ok_or(not.clone())?;
        let (low, _) = shape.field(dim)?;
        if shared.bases()[1..].iter().any(|b| b & found != 0) {
            return Err(not);
        }
        let without = |b: &u64| b & low_mask(low) | b >> (low + 1) << low;
        let shape = halved(shape, dim)?;
        let shared = SharedLayout::new(shared.bases()[1..].iter().map(without).collect(), shape.bits())?;
        Ok(Self { dim, shape, shared })
    }

    /// The registers of a thread that holds whole pairs, for a layout of the elements of a packed tile of `shape`: the
    /// two elements of a pair are in registers `2 r` and `2 r + 1`.
    ///
    /// Errors: a thread has one element of a pair, or has them in other registers.
    pub fn registers(&self, shape: &Shape, layout: &Layout) -> Result<Layout> {
        let (low, _) = shape.field(self.dim)?;
        let second = 1u64 << low;
        let of = |input| layout.bases(input).iter().copied();
        let mut registers = of(Input::Register);
        let found = registers.next().unwrap_or(0);
        let [lane, warp, block] = [Input::Lane, Input::Warp, Input::Block].map(|input| of(input).collect::<Vec<u64>>());
        let registers: Vec<u64> = registers.collect();
        let others = registers.iter().chain(&lane).chain(&warp).chain(&block);
        if found != second || others.into_iter().any(|b| b & second != 0) {
            let what = "the second element of a pair in a register";
            return Err(LayoutError::Mismatch { what, expected: second, found });
        }
        let without = |bases: Vec<u64>| bases.iter().map(|b| b & low_mask(low) | b >> (low + 1) << low).collect();
        Layout::new(without(registers), without(lane), without(warp), without(block))
    }

    /// The bases of the elements of a packed tile, of which neighbors along `dim` share a byte. `arrange` lays out the
    /// tile of pairs.
    ///
    /// Errors: as `arrange`, or a dimension of one element.
    pub fn unpacked<E: From<LayoutError>>(
        shape: &Shape,
        dim: usize,
        arrange: impl FnOnce(&Shape) -> std::result::Result<SharedLayout, E>,
    ) -> std::result::Result<Vec<u64>, E> {
        let (low, _) = shape.field(dim)?;
        let pairs = arrange(&halved(shape, dim)?)?;
        let with = |b: &u64| b & low_mask(low) | b >> low << (low + 1);
        Ok([1 << low].into_iter().chain(pairs.bases().iter().map(with)).collect())
    }
}

/// The shape with half the extent along `dim`.
fn halved(shape: &Shape, dim: usize) -> Result<Shape> {
    let mut log2 = shape.log2().to_vec();
    match log2.get_mut(dim) {
        Some(width) if *width > 0 => *width -= 1,
        _ => return Err(LayoutError::TileTooSmall { what: "a byte", dim, extent: 1, needed: 2 }),
    }
    Shape::from_log2(log2)
}
