//! The middle end: from the public dialect to one thread's program.
//!
//! [`pipeline`] lists the passes in order; [`passes`] holds one pass per file or folder. Passes query [`analysis`]
//! for facts, and read and write operations through [`dialect`]. Four crates without MLIR do the computations:
//! `layout/` (`tile-layout`), `plan/` (`tile-plan`), `schedule/` (`tile-schedule`) and `protocol/` (`tile-protocol`).

pub mod analysis;
pub mod dialect;
pub mod passes;
pub mod pipeline;
