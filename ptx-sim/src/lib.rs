//! PTX parser and functional simulator.

pub mod ir;
mod parse;

pub use ir::Module;
pub use parse::{ParseError, ParseErrorKind};
