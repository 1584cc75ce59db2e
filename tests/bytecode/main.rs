//! Tests of the bytecode reader and writer.

mod bytes;
mod corpus;
mod dump;
mod roundtrip;
