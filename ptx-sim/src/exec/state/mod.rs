//! The state of a running launch. No module here implements an instruction.

pub mod coverage;
pub mod error;
pub mod in_flight;
pub mod lane_order;
pub mod lanes;
pub mod location;
pub mod machine;
pub mod memory;
pub mod options;
pub mod phases;
pub mod program;
pub mod race;
pub mod record;
pub mod rng;
pub mod shadow;
pub mod stats;
pub mod tensor;
pub mod undefined;
pub mod warp;
