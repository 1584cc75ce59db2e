//! Parses PTX text to [`crate::ir::Module`]: a scanner over bytes and a recursive-descent parser.
//!
//! The parser accepts the PTX written by LLVM's NVPTX backend, inline assembly and nvcc. Any unknown element is an
//! error with line and column, because silently dropping a modifier would produce wrong simulation results.

mod alu;
mod async_ops;
mod cursor;
mod error;
mod form;
mod function;
mod insts;
mod memory;
mod module;
mod operands;
mod tensor_ops;
mod warp_ops;

pub use error::{ParseError, ParseErrorKind};

use crate::ir::Module;

impl Module {
    /// Parses PTX text.
    pub fn parse(text: &str) -> Result<Module, ParseError> {
        module::parse_module(text)
    }
}
