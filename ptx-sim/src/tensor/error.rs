//! Errors of matrix instructions.

use super::dot::Accumulator;
use super::element::Element;

/// Why a matrix instruction is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    #[error("shape m{m}n{n}k{k} does not exist for {a:?} x {b:?} into {d:?}")]
    Shape { m: u32, n: u32, k: u32, a: Element, b: Element, d: Accumulator },
    #[error("operand {operand} takes {expected} registers per thread, {found} given")]
    Registers { operand: char, expected: usize, found: usize },
    #[error("scale selector byte {byte}, thread {thread} is not valid for scale_vec::{vector}X")]
    ScaleSelector { byte: u16, thread: u16, vector: u32 },
    #[error("{0}")]
    Invalid(&'static str),
    #[error("matrix descriptor {descriptor:#018x}: {reason}")]
    Descriptor { descriptor: u64, reason: &'static str },
    #[error("instruction descriptor {descriptor:#010x}: {reason}")]
    InstructionDescriptor { descriptor: u32, reason: &'static str },
    #[error("tensor memory address {address:#010x}: {reason}")]
    TensorAddress { address: u32, reason: &'static str },
    #[error("shared memory at {address:#x}: {reason}")]
    Shared { address: u32, reason: String },
}
