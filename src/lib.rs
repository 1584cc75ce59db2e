//! Open compiler for CUDA Tile IR.

pub mod analysis;
pub mod dialect;
pub mod passes;
pub mod translate;
