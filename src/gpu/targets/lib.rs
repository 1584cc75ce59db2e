//! What each GPU target can do, and the last pass over PTX text.
//!
//! * [`Target`] and [`TARGETS`]: the one table of targets. Code generation, the scheduler, the driver and the
//!   documentation read it; nothing else in the project may compare `sm` numbers to decide what a target can do.
//! * [`Feature`]: one name for each thing that some targets can do and others cannot.
//! * [`requirements()`]: the PTX version and the feature that an instruction needs.
//! * [`intrinsic::missing_for`]: why LLVM 21 cannot select an intrinsic for a target.
//! * [`scan`]: where the header, the entries and the instructions of a PTX text are.
//! * [`file_names`]: names in `.file` directives that ptxas reads.
//! * [`finalise()`]: turns the PTX that LLVM 21 prints into the PTX that the target takes, and verifies the result.
//!
//! The facts in the tables are measured, not believed: `tests/ptxas.rs` assembles a sample of each row on each
//! target, with the version that the row names and with the version before it.

#![deny(unsafe_code)]

mod feature;
pub mod file_names;
pub mod finalise;
pub mod intrinsic;
mod requirement;
pub mod scan;
mod strict;
mod target;
mod version;

pub use feature::{Feature, Features};
pub use finalise::{Directive, EntryDirectives, FinaliseError, Finalised, finalise};
pub use requirement::{Requirement, requirements, requirements_of};
pub use strict::STRICT_TYPES;
pub use target::{DEFAULT_TARGET, Limits, TARGETS, Target, markdown_table};
pub use version::PtxVersion;
