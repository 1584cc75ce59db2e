//! Differential testing of the compiler with randomly generated programs.
//!
//! [`generate`] generates a [`case::Case`] from a seed: a program with its launch. The reference interpreter
//! determines its results and how far the language defines them; the simulator runs the compiled code; [`case`]
//! compares the two. [`reduce`] shrinks a failing case. This crate does not depend on the compiler: the caller
//! supplies a function from text to PTX.

#![deny(unsafe_code)]

pub mod archive;
pub mod case;
pub mod file;
pub mod generate;
pub mod reduce;
pub mod rng;
pub mod written;
