//! Reference interpreter of cuda_tile.
pub mod float;
pub mod format;
pub mod int;
pub mod machine;
pub mod memory;
pub mod print;
pub mod program;
pub mod scalar;
pub mod text;
pub mod types;
