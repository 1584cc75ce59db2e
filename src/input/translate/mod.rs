//! Bytecode to MLIR and back, and MLIR to programs of the reference interpreter.
//!
//! The crate `tile-bytecode` defines wire modules and does not depend on MLIR. This module translates them to
//! `cuda_tile` operations and back. The same schema table drives both directions: an operation's name, the names of
//! its attributes and its operand groups are the same on both sides, so no operation needs special code.
//!
//! ```text
//! bytes --tile_bytecode::read--> wire module --import--> builtin.module { cuda_tile.module @kernels { ... } }
//! bytes <--tile_bytecode::write-- wire module <--export-- builtin.module { cuda_tile.module @any { ... } }
//!                tile_interp::Program <--program-- builtin.module { cuda_tile.module @any { ... } }
//! ```

mod export;
mod import;
pub mod nesting;
mod program;
mod raw;

pub use export::{ExportError, Refusal, export, export_operation, export_wire, library_call};
pub use import::{Diagnostic, ImportError, dialects, import, import_wire, import_with_options};
pub use program::{ProgramError, program};
pub use tile_bytecode::{Profile, ReadError, ReadOptions, Version, WriteError};
