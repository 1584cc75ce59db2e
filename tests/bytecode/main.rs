//! Tests of the bytecode reader and writer.

mod corpus;
mod dump;
