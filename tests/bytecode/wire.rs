//! Tests of the bytecode reader and writer.

mod bytes;
mod corpus;
mod damage;
mod diagnostics;
mod dump;
mod previews;
mod records;
mod roundtrip;
mod synthetic;
