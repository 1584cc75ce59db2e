//! Tile shapes with power-of-two extents, and the row-major numbering of their elements.

use crate::error::{LayoutError, Result};
use crate::map::low_mask;

/// The shape of a tile. The last coordinate of element `(i0, i1, ...)` is the low bits of its flattened row-major
/// index, so every coordinate is a field of consecutive index bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    log2: Vec<u32>,
}

impl Shape {
    /// Tiles have at most `2^MAX_BITS` elements, which leaves room for replicated thread bits in 64-bit maps.
    pub const MAX_BITS: usize = 32;

    /// Creates a shape with the given extents.
    ///
    /// Errors: an extent that is not a positive power of two, or more than `2^32` elements in all.
    pub fn new(extents: &[i64]) -> Result<Self> {
        let mut log2 = Vec::with_capacity(extents.len());
        for (dim, &extent) in extents.iter().enumerate() {
            if extent <= 0 || extent & (extent - 1) != 0 {
                return Err(LayoutError::NotPowerOfTwo { dim, extent });
            }
            log2.push(extent.trailing_zeros());
        }
        Self::from_log2(log2)
    }

    /// The shape with extents `2^log2[i]`.
    pub fn from_log2(log2: Vec<u32>) -> Result<Self> {
        let bits = log2.iter().map(|&b| b as usize).sum();
        if bits > Self::MAX_BITS {
            return Err(LayoutError::TooManyBits { what: "the index of a tile", bits, limit: Self::MAX_BITS });
        }
        Ok(Self { log2 })
    }

    pub fn rank(&self) -> usize {
        self.log2.len()
    }

    /// The number of bits of the flattened index.
    pub fn bits(&self) -> u32 {
        self.log2.iter().sum()
    }

    /// The number of elements.
    pub fn elements(&self) -> u64 {
        1 << self.bits()
    }

    /// The number of bits of each coordinate.
    pub fn log2(&self) -> &[u32] {
        &self.log2
    }

    pub fn extents(&self) -> Vec<u64> {
        self.log2.iter().map(|&b| 1 << b).collect()
    }

    /// The position and width of the field of dimension `dim` in the flattened index.
    pub fn field(&self, dim: usize) -> Result<(u32, u32)> {
        match self.log2.get(dim) {
            Some(&width) => Ok((self.log2[dim + 1..].iter().sum(), width)),
            None => Err(LayoutError::NoSuchDimension { dim, rank: self.rank() }),
        }
    }

    /// The fields of all dimensions, slowest first.
    pub fn fields(&self) -> Vec<(u32, u32)> {
        let mut low = self.bits();
        let field = |&width| {
            low -= width;
            (low, width)
        };
        self.log2.iter().map(field).collect()
    }

    /// The flattened index of a point. Coordinates beyond the extents wrap.
    pub fn flatten(&self, point: &[u64]) -> u64 {
        let fields = self.fields().into_iter().zip(point);
        fields.fold(0, |index, ((low, width), &x)| index | (x & low_mask(width)) << low)
    }

    /// The coordinates of a flattened index.
    pub fn unflatten(&self, index: u64) -> Vec<u64> {
        self.fields().into_iter().map(|(low, width)| index >> low & low_mask(width)).collect()
    }

    /// Checks that `order` names every dimension once.
    pub fn check_order(&self, order: &[usize]) -> Result<()> {
        let mut seen = vec![false; self.rank()];
        let fresh = |&d: &usize| seen.get_mut(d).is_some_and(|s| !std::mem::replace(s, true));
        if order.len() == self.rank() && order.iter().all(fresh) {
            Ok(())
        } else {
            Err(LayoutError::NotAPermutation { order: order.to_vec(), rank: self.rank() })
        }
    }
}
