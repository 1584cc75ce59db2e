//! Errors of tensor maps and bulk copies.

/// Why a TMA copy is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TmaError {
    #[error("tensor map: {0}")]
    Map(&'static str),
    #[error("TMA copy: {0}")]
    Copy(&'static str),
    #[error("bulk copy: {what} {value:#x} is not a multiple of 16")]
    Bulk { what: &'static str, value: u64 },
    #[error("shared memory address {address:#x} is not a multiple of {alignment}")]
    SharedAlignment { address: u32, alignment: u32 },
}
