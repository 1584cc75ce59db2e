//! Execution of launches, in three layers.
//!
//! | layer | modules | contents |
//! |---|---|---|
//! | state | `state` | memory, warps, CTAs, operations in flight, the race detector, counters. Imports no unit |
//! | units | `units` | families of instructions. Each is a trait on [`state::machine::Machine`] with few methods |
//! | executor | `step`, `executor`, `device` | dispatch of an instruction, scheduling of warps, launches |
//!
//! `decode` and `flow_order` produce the executable form of a module, which all layers read.
//!
//! A unit's trait holds the methods that other modules call, so callers import the trait. Methods private to a unit
//! are inherent methods in its own file. The imports therefore show every dependency; a test checks that they form no
//! cycle.

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
