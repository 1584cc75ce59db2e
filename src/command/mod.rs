//! Commands and libraries: the ways in for users.
//!
//! The command itself is the crate `tile-driver` in `driver/`; it talks to the compiler through `tile-interface`. The
//! C library is in `capi/`, the plugin for the stock `mlir-opt` in `plugin/`.

pub mod plugin;
pub mod tools;
