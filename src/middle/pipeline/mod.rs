//! Pass pipelines: one options struct, and the function that builds the pipeline text from it.

mod old_names;
pub mod options;
mod register;

pub use options::{OptionError, Options, Snapshot, Stage, Step, Strategy};
pub(crate) use register::register;
