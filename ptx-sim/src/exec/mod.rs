//! Execution: decoding, scheduling, memory, instructions.

mod alu_float;
mod alu_int;
mod async_engine;
mod async_ops;
mod builtins;
mod device;
mod error;
mod flow_order;
mod lane_order;
mod ldst;
mod machine;
mod memory;
mod phases;
mod program;
mod race;
mod report;
mod rng;
mod step;
mod tcgen05;
mod tensor_ops;
mod tensor_touch;
mod warp;
mod warp_exec;
mod wgmma;

pub use device::{Arg, Config, Device, DevicePtr, LaunchConfig, Report, RunOptions, Stats};
pub use error::{AccessReport, RaceReport, SimError, SimErrorKind, Site};
pub use program::{Class, LoadError};
