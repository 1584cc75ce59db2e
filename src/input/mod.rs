//! Input: bytecode and its translation to the public dialect.
//!
//! `bytecode/` is the crate `tile-bytecode`, which knows nothing of MLIR.

pub mod translate;
