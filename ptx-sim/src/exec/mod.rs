//! Execution of launches, in three layers.
//!
//! | layer | modules | contents |
//! |---|---|---|
//! | state | `state` | memory, warps, blocks, operations in flight, the race detector, counters. Imports no unit |
//! | units | `units` | families of instructions. Each is a trait on [`state::machine::Machine`] with few methods |
//! | executor | `step`, `executor`, `device` | dispatch of an instruction, turns of warps, launches |
//!
//! `decode` and `flow_order` make the executable form of a module, which the layers read.
//!
//! What a unit offers to others is in its trait, so that whoever calls it imports it; what is private to it are
//! inherent methods in its own file. The imports therefore say all that depends on what, and a test keeps them without
//! a cycle.

mod decode;
mod device;
mod executor;
mod flow_order;
pub(crate) mod state;
mod step;
#[cfg(test)]
mod tests;
mod units;

pub use device::{Arg, Device, DevicePtr, LaunchConfig, Report};
pub use state::coverage::{Coverage, Executed};
pub use state::error::{AccessReport, RaceReport, SimError, SimErrorKind, Site};
pub use state::options::{Arbitrary, ArbitraryLanes, Config, RunOptions};
pub use state::program::{Class, LoadError};
pub use state::record::{BlockClocks, ClockReads, RecordOptions, Recording};
pub use state::stats::Stats;
