//! `libtileiras_dialects.so`, a plugin for the stock `mlir-opt` of LLVM 21:
//!
//! ```text
//! mlir-opt-21 --load-dialect-plugin=libtileiras_dialects.so --load-pass-plugin=libtileiras_dialects.so kernel.mlir \
//!     --pass-pipeline='builtin.module(convert-cudatile-to-tileaa,canonicalize)'
//! ```

tileiras::plugin!(c"tileiras", c"1.0");
