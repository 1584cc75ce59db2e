//! PTX parser and functional simulator.

pub mod num;
pub mod tensor;
