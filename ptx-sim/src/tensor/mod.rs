//! Matrix instructions: fragment layouts, shared-memory descriptors, tensor memory, and the arithmetic that they
//! share.
//!
//! Everything here is a function of explicit inputs. Registers are slices indexed `lane * registers + register`, and
//! shared memory is a read callback on byte addresses. The executor therefore controls its own storage, and the time
//! at which an asynchronous operation takes effect.
//!
//! | file | instructions |
//! |---|---|
//!  | `element` | element types and their encoding in registers and memory |
//! | `dot` | the arithmetic of one output element |
//! | `fragment` | (lane, element) to (row, column) for `mma.sync` and `wgmma` |
//! | `mma` | `mma.sync` |
//! | `matrix_move` | `ldmatrix`, `stmatrix`, `movmatrix` |
//! | `smem` | matrix descriptors of `wgmma` and `tcgen05` |
//! | `wgmma` | `wgmma.mma_async` |
//! | `tmem` | tensor memory: allocation, `tcgen05.ld`, `.st`, `.cp`, `.shift` |
//! | `tcgen05` | `tcgen05.mma` and its instruction descriptor |

pub mod dot;
pub mod element;
pub mod fragment;
pub mod matrix_move;
pub mod mma;
pub mod smem;
pub mod tcgen05;
pub mod tmem;
pub mod wgmma;

#[cfg(test)]
mod tests;

pub use dot::{Accumulator, MmaBitOp};
pub use element::Element;
pub use matrix_move::{LoadMatrix, MatrixFormat, StoreMatrix, movmatrix};
pub use mma::{BlockScale, MmaSync, ScaleOperand};
pub use smem::{Major, SmemDescriptor, Swizzle};
pub use tcgen05::{InstructionDescriptor, Tcgen05Kind, Tcgen05Mma};
pub use tmem::{CopyShape, DataShape, TensorMemory};
pub use wgmma::{Wgmma, WgmmaA};

/// Why a matrix instruction is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    #[error("shape m{m}n{n}k{k} does not exist for {a:?} x {b:?} into {d:?}")]
    Shape { m: u32, n: u32, k: u32, a: Element, b: Element, d: Accumulator },
    #[error("operand {operand} takes {expected} registers per thread, {found} given")]
    Registers { operand: char, expected: usize, found: usize },
    #[error("scale selector byte {byte}, thread {thread} is not valid for scale_vec::{vector}X")]
    ScaleSelector { byte: u16, thread: u16, vector: u32 },
    #[error("{0}")]
    Invalid(&'static str),
    #[error("matrix descriptor {descriptor:#018x}: {reason}")]
    Descriptor { descriptor: u64, reason: &'static str },
    #[error("instruction descriptor {descriptor:#010x}: {reason}")]
    InstructionDescriptor { descriptor: u32, reason: &'static str },
    #[error("tensor memory address {address:#010x}: {reason}")]
    TensorAddress { address: u32, reason: &'static str },
    #[error("shared memory at {address:#x}: {reason}")]
    Shared { address: u32, reason: String },
}
