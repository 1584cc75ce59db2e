//! Open compiler for CUDA Tile IR.

pub mod analysis;
pub mod codegen;
pub mod compile;
pub mod dialect;
pub mod fuzz;
pub mod locations;
pub mod passes;
pub mod pipeline;
pub mod plugin;
pub mod snapshots;
pub mod tools;
pub mod translate;

/// Contexts, for passes in other crates.
pub use melior;
