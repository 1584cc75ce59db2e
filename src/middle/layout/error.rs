//! Errors of the layout algebra.

use thiserror::Error;

/// A request that the layout algebra cannot satisfy. Every variant names the offending quantity, and
/// [`LayoutError::code`] is a stable identifier for diagnostics.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LayoutError {
    #[error("dimension {dim} has extent {extent}, which is not a positive power of two")]
    NotPowerOfTwo { dim: usize, extent: i64 },
    #[error("{what}: {bits} bits exceed the limit of {limit}")]
    TooManyBits { what: &'static str, bits: usize, limit: usize },
    #[error("{what}: expected {expected}, found {found}")]
    Mismatch { what: &'static str, expected: u64, found: u64 },
    #[error("{what} {value:#x} does not fit in {bits} bits")]
    OutOfRange { what: &'static str, value: u64, bits: u32 },
    #[error("dimension {dim} does not exist in a tile of rank {rank}")]
    NoSuchDimension { dim: usize, rank: usize },
    #[error("{order:?} is not a permutation of the {rank} dimensions of the tile")]
    NotAPermutation { order: Vec<usize>, rank: usize },
    #[error("the layout reaches 2^{reached} of the 2^{total} elements of the tile")]
    NotSurjective { reached: u32, total: u32 },
    #[error("the map from {in_bits} to {out_bits} bits has rank {rank} and cannot be inverted")]
    NotInvertible { rank: u32, in_bits: u32, out_bits: u32 },
    #[error("the conversion moves elements between the blocks of a cluster")]
    CrossBlock,
    #[error("the conversion needs at least {needed} bytes of shared memory, but only {available} are available")]
    ScratchTooSmall { needed: u64, available: u64 },
    #[error("elements of {bits} bits are not supported here: expected {expected}")]
    UnsupportedElement { bits: u32, expected: &'static str },
    #[error("dimension {dim} of the tile has extent {extent}, but {what} needs at least {needed}")]
    TileTooSmall { what: &'static str, dim: usize, extent: u64, needed: u64 },
    #[error("the layout does not consist of fragments of 64 rows by {columns} columns for {groups} warpgroups")]
    NotInFragments { columns: u32, groups: u32 },
    #[error("malformed layout at byte {at}: expected {expected}")]
    Syntax { at: usize, expected: &'static str },
}

impl LayoutError {
    /// The stable identifier of the kind of error, for tables of diagnostics.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotPowerOfTwo { .. } => "layout-not-power-of-two",
            Self::TooManyBits { .. } => "layout-too-many-bits",
            Self::Mismatch { .. } => "layout-mismatch",
            Self::OutOfRange { .. } => "layout-out-of-range",
            Self::NoSuchDimension { .. } => "layout-no-such-dimension",
            Self::NotAPermutation { .. } => "layout-not-a-permutation",
            Self::NotSurjective { .. } => "layout-not-surjective",
            Self::NotInvertible { .. } => "layout-not-invertible",
            Self::CrossBlock => "layout-cross-block",
            Self::ScratchTooSmall { .. } => "layout-scratch-too-small",
            Self::UnsupportedElement { .. } => "layout-unsupported-element",
            Self::TileTooSmall { .. } => "layout-tile-too-small",
            Self::NotInFragments { .. } => "layout-not-in-fragments",
            Self::Syntax { .. } => "layout-syntax",
        }
    }
}

/// The result of an operation of the layout algebra.
pub type Result<T> = std::result::Result<T, LayoutError>;
