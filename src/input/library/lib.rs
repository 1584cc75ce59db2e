//! Tile libraries: functions that threads execute, for programs of tiles.
//!
//! A library has three parts: an *interface* declares functions, a *catalogue* describes their implementations, and
//! the *code* has one function for each of them. The first two are bytecode with preview content. [`file`] reads and
//! writes the files, [`select`] chooses the implementation of a call.
//!
//! ```text
//! call @f<[4]>(tile<512xf32>)                  constants and types of the call
//!   |  interface:  @f<[N: index]>(tile<512xf32> inout)
//!   |  catalogue:  @sym<[N: index]> implements @f<[N]>, fragment [N]xf32, map (1, 128, N):(0, N, 1)
//!   v
//! sym__N4, fragment 4xf32, map (1, 128, 4):(0, 4, 1)
//! ```

#![forbid(unsafe_code)]

pub mod code;
pub mod create;
pub mod file;
pub mod ptx;
pub mod select;
mod values;

pub use code::CodeKind;
pub use create::{CreateError, create};
pub use file::{Library, LibraryError};
pub use select::{
    Call, Chosen, Context, Fragment, Mismatch, NoImplementation, Resolution, Tile, constant, element, redefinition,
    resolve,
};
pub use values::{Mode, Modes, Value};
