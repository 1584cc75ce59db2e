//! PTX parser and functional simulator.

pub mod ir;
pub mod num;
mod parse;

pub use ir::Module;
pub use parse::{ParseError, ParseErrorKind};
