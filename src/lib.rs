//! Open compiler for CUDA Tile IR.
//!
//! The folders follow the path of a program: [`translate`] reads it (`input/`), the passes of `middle/` lower it,
//! [`codegen`] makes PTX of it, and [`compile`] runs all of these in order.

pub mod codegen;
pub mod compile;

mod command;
mod execution;
mod input;
mod middle;

pub use command::{plugin, tools};
pub use compile::{locations, snapshots};
pub use execution::fuzz;
pub use input::translate;
pub use middle::{analysis, dialect, passes, pipeline};

/// Contexts, for passes in other crates.
pub use melior;
