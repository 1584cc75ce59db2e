//! An open compiler for CUDA Tile IR.
//!
//! The directories follow the path of a program: [`translate`] reads it (`input/`), the passes in `middle/` lower it,
//! [`codegen`] generates PTX, and [`compile`] runs all of these in order.

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
