//! Pass pipelines: one options struct, one function that builds the text from it.

pub mod options;

pub use options::{OptionError, Options, Stage, Step};
