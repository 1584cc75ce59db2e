//! Pass pipelines: one options struct, and the function that builds the pipeline text from it.

mod old_names;
pub mod options;
pub mod preserved;
mod register;

pub use options::{Numerics, OptionError, Options, PipelineStep, Snapshot, Stage, Strategy};
pub(crate) use register::register;
