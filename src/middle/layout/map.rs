//! Linear maps over F2, stored by columns.
//!
//! A map from `n` input bits to `m` output bits is an m x n bit matrix. Column `i`, a `u64`, is the image of the
//! input with only bit `i` set. The image of any other input is the XOR of the columns of its set bits. Both sides
//! have at most 64 bits, so a vector is one machine word and elimination does not allocate per row.

use crate::error::{LayoutError, Result};
use crate::subspace::Subspace;

/// A linear map from `in_bits` to `out_bits` bits: `apply(a ^ b) == apply(a) ^ apply(b)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinearMap {
    columns: Vec<u64>,
    out_bits: u32,
}

/// The XOR of the `columns` whose bit is set in `x`. Bits of `x` beyond the columns are ignored.
pub fn combine(columns: &[u64], x: u64) -> u64 {
    columns.iter().enumerate().fold(0, |sum, (i, &c)| if x >> i & 1 == 1 { sum ^ c } else { sum })
}

/// A word with the `n` low bits set.
pub fn low_mask(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// Gaussian elimination on a list of columns. It records which columns make up each reduced vector.
struct Elimination {
    /// The reduced vectors by descending leading bit, each with the mask of the columns that sum to it. Only the
    /// first independent columns of the list take part, which makes every solution below deterministic.
    rows: Vec<(u64, u64)>,
    /// Masks of columns that sum to zero, one for each dependent column.
    kernel: Vec<u64>,
}

impl Elimination {
    fn new(columns: &[u64]) -> Self {
        let mut result = Self { rows: Vec::new(), kernel: Vec::new() };
        for (i, &column) in columns.iter().enumerate() {
            let (rest, mask) = result.reduce(column);
            if rest == 0 {
                result.kernel.push(mask | 1 << i);
            } else {
                let at = result.rows.partition_point(|&(row, _)| row > rest);
                result.rows.insert(at, (rest, mask | 1 << i));
            }
        }
        result
    }

    /// Returns the remainder of `v` after subtracting rows, and the mask of the subtracted columns.
    fn reduce(&self, mut v: u64) -> (u64, u64) {
        let mut mask = 0;
        for &(row, columns) in &self.rows {
            // The sum is smaller exactly when `v` has the leading bit of `row`.
            if v ^ row < v {
                v ^= row;
                mask ^= columns;
            }
        }
        (v, mask)
    }
}

impl LinearMap {
    /// The most bits on each side of a map.
    pub const MAX_BITS: usize = 64;

    /// Creates the map with the given columns; column `i` is the image of input bit `i`.
    ///
    /// Errors: more than 64 bits on a side, or a column with a bit at or above `out_bits`.
    pub fn new(columns: Vec<u64>, out_bits: u32) -> Result<Self> {
        let limit = Self::MAX_BITS;
        if columns.len() > limit {
            return Err(LayoutError::TooManyBits { what: "the input of a map", bits: columns.len(), limit });
        }
        if out_bits as usize > limit {
            return Err(LayoutError::TooManyBits { what: "the output of a map", bits: out_bits as usize, limit });
        }
        match columns.iter().find(|&&c| c & !low_mask(out_bits) != 0) {
            Some(&value) => Err(LayoutError::OutOfRange { what: "column", value, bits: out_bits }),
            None => Ok(Self { columns, out_bits }),
        }
    }

    /// The identity on `bits` bits, at most 64.
    pub fn identity(bits: u32) -> Self {
        let bits = bits.min(64);
        Self { columns: (0..bits).map(|i| 1 << i).collect(), out_bits: bits }
    }

    /// The map that sends everything to zero.
    pub fn zero(in_bits: u32, out_bits: u32) -> Self {
        Self { columns: vec![0; in_bits.min(64) as usize], out_bits: out_bits.min(64) }
    }

    pub fn in_bits(&self) -> u32 {
        self.columns.len() as u32
    }

    pub fn out_bits(&self) -> u32 {
        self.out_bits
    }

    /// The images of the input bits.
    pub fn columns(&self) -> &[u64] {
        &self.columns
    }

    /// The image of `x`; input bits beyond `in_bits` are ignored.
    pub fn apply(&self, x: u64) -> u64 {
        combine(&self.columns, x)
    }

    /// `self` after `inner`: the map `x -> self.apply(inner.apply(x))`.
    pub fn compose(&self, inner: &Self) -> Result<Self> {
        if inner.out_bits != self.in_bits() {
            return Err(LayoutError::Mismatch {
                what: "output bits of the inner map",
                expected: self.in_bits().into(),
                found: inner.out_bits.into(),
            });
        }
        Ok(Self { columns: inner.columns.iter().map(|&c| self.apply(c)).collect(), out_bits: self.out_bits })
    }

    /// The direct sum: `self` on the low bits of both sides, `high` on the bits above them.
    pub fn product(&self, high: &Self) -> Result<Self> {
        let (shift, out_bits) = (self.out_bits, self.out_bits + high.out_bits);
        if out_bits as usize > Self::MAX_BITS {
            let (bits, limit) = (out_bits as usize, Self::MAX_BITS);
            return Err(LayoutError::TooManyBits { what: "the output of a product", bits, limit });
        }
        // A column of `high` is zero when `shift` is 64, and a shift by 64 is not defined.
        let lifted = high.columns.iter().map(|&c| c.checked_shl(shift).unwrap_or(0));
        Self::new(self.columns.iter().copied().chain(lifted).collect(), out_bits)
    }

    /// `[self | right]`: the input bits of `right` follow the input bits of `self`; outputs are added.
    pub fn concat(&self, right: &Self) -> Result<Self> {
        self.same_output(right)?;
        Self::new(self.columns.iter().chain(&right.columns).copied().collect(), self.out_bits)
    }

    /// Both maps applied to the same input, with the output of `high` above the output of `self`.
    pub fn stack(&self, high: &Self) -> Result<Self> {
        if self.in_bits() != high.in_bits() {
            let (expected, found) = (self.in_bits().into(), high.in_bits().into());
            return Err(LayoutError::Mismatch { what: "input bits", expected, found });
        }
        let columns = self.columns.iter().zip(&high.columns);
        let columns = columns.map(|(&a, &b)| a | b.checked_shl(self.out_bits).unwrap_or(0)).collect();
        Self::new(columns, self.out_bits + high.out_bits)
    }

    /// The sum (XOR) of two maps of the same size.
    pub fn add(&self, other: &Self) -> Result<Self> {
        self.same_output(other)?;
        if self.in_bits() != other.in_bits() {
            let (expected, found) = (self.in_bits().into(), other.in_bits().into());
            return Err(LayoutError::Mismatch { what: "input bits", expected, found });
        }
        let columns = self.columns.iter().zip(&other.columns).map(|(a, b)| a ^ b).collect();
        Ok(Self { columns, out_bits: self.out_bits })
    }

    fn same_output(&self, other: &Self) -> Result<()> {
        if self.out_bits != other.out_bits {
            let (expected, found) = (self.out_bits.into(), other.out_bits.into());
            return Err(LayoutError::Mismatch { what: "output bits", expected, found });
        }
        Ok(())
    }

    /// The transposed matrix.
    pub fn transpose(&self) -> Self {
        let row = |j: u32| self.columns.iter().enumerate().fold(0, |row, (i, &c)| row | (c >> j & 1) << i);
        Self { columns: (0..self.out_bits).map(row).collect(), out_bits: self.in_bits() }
    }

    /// The sub-matrix of the given input bits and output bits, in the given order.
    pub fn sublayout(&self, inputs: &[u32], outputs: &[u32]) -> Result<Self> {
        if let Some(&i) = inputs.iter().find(|&&i| i >= self.in_bits()) {
            return Err(LayoutError::OutOfRange { what: "input bit", value: i.into(), bits: self.in_bits() });
        }
        if let Some(&j) = outputs.iter().find(|&&j| j >= self.out_bits) {
            return Err(LayoutError::OutOfRange { what: "output bit", value: j.into(), bits: self.out_bits });
        }
        let pick = |c: u64| outputs.iter().enumerate().fold(0, |v, (to, &from)| v | (c >> from & 1) << to);
        Self::new(inputs.iter().map(|&i| pick(self.columns[i as usize])).collect(), outputs.len() as u32)
    }

    /// The dimension of the image.
    pub fn rank(&self) -> u32 {
        self.image().dim() as u32
    }

    /// The outputs that the map reaches.
    pub fn image(&self) -> Subspace {
        Subspace::span(self.columns.iter().copied())
    }

    /// A basis of the inputs that the map sends to zero. Each vector belongs to an input bit whose column depends on
    /// the columns before it: that bit, and the earlier independent bits that cancel it.
    pub fn kernel(&self) -> Vec<u64> {
        Elimination::new(&self.columns).kernel
    }

    pub fn is_injective(&self) -> bool {
        self.rank() == self.in_bits()
    }

    pub fn is_surjective(&self) -> bool {
        self.rank() == self.out_bits
    }

    pub fn is_bijective(&self) -> bool {
        self.is_injective() && self.is_surjective()
    }

    /// Some `x` with `apply(x) == y`, or `None` if the map does not reach `y`. The solution uses only input bits with
    /// columns that are independent of the columns before them.
    pub fn solve(&self, y: u64) -> Option<u64> {
        let (rest, x) = Elimination::new(&self.columns).reduce(y);
        (rest == 0).then_some(x)
    }

    /// A map `x` with `self.compose(x) == target`, solved column by column as in [`LinearMap::solve`].
    pub fn solve_map(&self, target: &Self) -> Option<Self> {
        if self.out_bits != target.out_bits {
            return None;
        }
        let elimination = Elimination::new(&self.columns);
        let columns = target.columns.iter().map(|&y| match elimination.reduce(y) {
            (0, x) => Some(x),
            _ => None,
        });
        Some(Self { columns: columns.collect::<Option<_>>()?, out_bits: self.in_bits() })
    }

    /// The two-sided inverse of a bijective map.
    pub fn inverse(&self) -> Result<Self> {
        if self.is_bijective() { self.right_inverse() } else { Err(self.not_invertible()) }
    }

    /// A map `r` such that `self` after `r` is the identity. It exists if `self` is surjective. It uses the first
    /// independent input bits and leaves the others zero: among several holders of an element it names the first.
    pub fn right_inverse(&self) -> Result<Self> {
        self.solve_map(&Self::identity(self.out_bits)).ok_or_else(|| self.not_invertible())
    }

    /// A map `l` such that `l` after `self` is the identity. It exists if `self` is injective.
    pub fn left_inverse(&self) -> Result<Self> {
        if self.is_injective() { Ok(self.pseudo_inverse()) } else { Err(self.not_invertible()) }
    }

    /// A generalized inverse `p`, for which `self.p.self == self` always holds. It solves for every output that the
    /// map reaches, and is zero on the unit vectors that complete the image to the whole space.
    pub fn pseudo_inverse(&self) -> Self {
        // Unit vectors extend the columns so that every output is reached. Dropping the units from the solution
        // afterwards projects the part outside the image away.
        let mut columns = self.columns.clone();
        let units = self.image().extend((0..self.out_bits).map(|i| 1 << i));
        columns.retain({
            let mut seen = Subspace::default();
            move |&c| seen.insert(c)
        });
        let kept: Vec<u32> = {
            let mut seen = Subspace::default();
            (0..self.in_bits()).filter(|&i| seen.insert(self.columns[i as usize])).collect()
        };
        columns.extend(units);
        let elimination = Elimination::new(&columns);
        let back = |y: u64| {
            let (_, x) = elimination.reduce(y);
            kept.iter().enumerate().fold(0, |v, (i, &bit)| v | (x >> i & 1) << bit)
        };
        Self { columns: (0..self.out_bits).map(|j| back(1 << j)).collect(), out_bits: self.in_bits() }
    }

    /// The quotient `q` with `self == tile.product(q)`, or `None` if `self` does not start with `tile`: the low input
    /// bits must act as `tile` on the low output bits, and the other input bits must not affect those output bits.
    pub fn left_divide(&self, tile: &Self) -> Option<Self> {
        let (n, m) = (tile.columns.len(), tile.out_bits);
        if n > self.columns.len() || m > self.out_bits || self.columns[..n] != tile.columns {
            return None;
        }
        let rest = &self.columns[n..];
        if rest.iter().any(|&c| c & low_mask(m) != 0) {
            return None;
        }
        let columns = rest.iter().map(|&c| c.checked_shr(m).unwrap_or(0)).collect();
        Some(Self { columns, out_bits: self.out_bits - m })
    }

    /// The reduced row echelon form, and the input bits of its pivots in ascending order. Output bit `k` of the
    /// result is the row of the `k`-th pivot; rows beyond the rank are zero.
    pub fn reduced_row_echelon(&self) -> (Self, Vec<u32>) {
        let mut rows = self.transpose().columns;
        let mut pivots = Vec::new();
        for column in 0..self.in_bits() {
            let done = pivots.len();
            let Some(found) = (done..rows.len()).find(|&r| rows[r] >> column & 1 == 1) else { continue };
            rows.swap(done, found);
            let pivot = rows[done];
            for (r, row) in rows.iter_mut().enumerate() {
                if r != done && *row >> column & 1 == 1 {
                    *row ^= pivot;
                }
            }
            pivots.push(column);
        }
        let by_rows = Self { columns: rows, out_bits: self.in_bits() };
        (by_rows.transpose(), pivots)
    }

    fn not_invertible(&self) -> LayoutError {
        LayoutError::NotInvertible { rank: self.rank(), in_bits: self.in_bits(), out_bits: self.out_bits }
    }
}
