//! Commands and libraries: the entry points for users.
//!
//! The compiler command is the crate `tile-driver` in `driver/`, which calls the compiler through `tile-interface`.
//! The C library is in `capi/`, and the plugin for the stock `mlir-opt` in `plugin/`.

pub mod plugin;
pub mod tools;
