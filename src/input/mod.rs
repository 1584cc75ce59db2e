//! Input: bytecode and its translation to the public dialect.
//!
//! `bytecode/` is the crate `tile-bytecode`, which does not depend on MLIR.

pub mod translate;
