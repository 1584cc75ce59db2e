//! Pass pipelines: one options struct, one function that builds the text from it.

mod old_names;
pub mod options;
mod register;

pub use options::{OptionError, Options, Snapshot, Stage, Step, Strategy};
pub(crate) use register::register;
