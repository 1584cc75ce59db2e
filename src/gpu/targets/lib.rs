//! The capabilities of each GPU target, and the last pass over PTX text.
//!
//! * [`Target`] and [`TARGETS`]: the table of targets. Code generation, the scheduler, the driver and the
//!   documentation read it. No other code in the project may compare `sm` numbers to decide what a target supports.
//! * [`Feature`]: a capability that some targets have and others lack.
//! * [`requirements()`]: the PTX version and the feature that an instruction needs.
//! * [`intrinsic::missing_for`]: why LLVM 21 cannot select an intrinsic for a target.
//! * [`scan`]: finds the header, the entries and the instructions in PTX text.
//! * [`file_names`]: rewrites names in `.file` directives that ptxas cannot read.
//! * [`finalise()`]: turns the PTX that LLVM 21 prints into PTX for the target, and verifies the result.
//!
//! The facts in the tables are measured: `tests/ptxas.rs` assembles a sample of each row on each target, with the
//! version that the row names and with the previous version.

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
