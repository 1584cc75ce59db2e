//! Functional units outside the cores: mbarriers, tensor maps and the copies that use them, and reductions in memory.

pub mod bulk;
mod error;
pub mod mbarrier;
pub mod reduce;
pub mod tensor_map;
pub mod tma;

#[cfg(test)]
mod tests;

pub use bulk::check_bulk;
pub use error::TmaError;
pub use mbarrier::{Mbarrier, MbarrierError};
pub use reduce::{ReduceOp, ReduceType};
pub use tensor_map::{ElementType, Fill, Mode, TensorMap, TensorMapField, TileParams};
pub use tma::Coordinates;
