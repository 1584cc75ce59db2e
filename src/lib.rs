//! Open compiler for CUDA Tile IR.

pub mod dialect;
pub mod passes;
