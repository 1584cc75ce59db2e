//! PTX parser and functional simulator.

pub mod num;
pub mod tensor;
pub mod units;
