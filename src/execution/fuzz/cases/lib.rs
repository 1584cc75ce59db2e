//! Differential testing of the compiler with randomly generated programs.
//!
//! [`generate`] makes a [`case::Case`] from a number: a program with its launch. The reference interpreter says what it
//! computes and how much of that the language promises; the simulator says what compiled code computes; [`case`]
//! compares. [`reduce`] makes a case that shows something smaller while it still shows it. None of this knows the
//! compiler: who runs it supplies a function from text to PTX.

#![deny(unsafe_code)]

pub mod archive;
pub mod case;
pub mod file;
pub mod generate;
pub mod reduce;
pub mod rng;
pub mod written;
