//! Matrix instructions: fragment layouts, shared-memory descriptors, tensor memory, and the arithmetic that they
//! share.
//!
//! Everything here is a function of explicit inputs. Registers are slices indexed `lane * registers + register`, and
//! shared memory is a read callback on byte addresses. The executor therefore controls its own storage, and the time
//! at which an asynchronous operation takes effect.
//!
//! | file | instructions |
//! |---|---|
//! | `element` | element types and their encoding in registers and memory |
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
mod error;
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
pub use error::TensorError;
pub use matrix_move::{LoadMatrix, MatrixFormat, StoreMatrix, movmatrix};
pub use mma::{BlockScale, MmaSync, ScaleOperand};
pub use smem::{Major, SmemDescriptor, Swizzle};
pub use tcgen05::{InstructionDescriptor, Tcgen05Kind, Tcgen05Mma};
pub use tmem::{CopyShape, DataShape, TensorMemory};
pub use wgmma::{Wgmma, WgmmaA};
