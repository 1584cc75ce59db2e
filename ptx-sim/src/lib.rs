//! PTX parser and functional simulator.

mod exec;
pub mod ir;
pub mod num;
mod parse;
pub mod tensor;
pub mod units;

pub use exec::{
    AccessReport, Arg, Class, Config, Device, DevicePtr, LaunchConfig, LoadError, RaceReport, Report, RunOptions,
    SimError, SimErrorKind, Site, Stats,
};
pub use ir::Module;
pub use parse::{ParseError, ParseErrorKind};
