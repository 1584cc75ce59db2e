//! Linear layouts over F2.
#![forbid(unsafe_code)]

mod access;
mod bank;
mod blocked;
mod convert;
mod error;
mod expr;
mod layout;
mod map;
mod mma;
mod ops;
mod shape;
mod shuffle;
mod subspace;
mod swizzle;

pub use access::{AccessMode, Direction, Instruction, SharedAccess, SharedLayout, ThreadBases, elem_log2_bytes};
pub use bank::*;
pub use convert::{Conversion, ConvertOptions, convert, register_permutation};
pub use error::{LayoutError, Result};
pub use expr::{BitExpr, Coordinate, LinearExpr, Term};
pub use layout::{Input, InputMasks, LANE_BITS, Layout, Place, Thread, WARP_SIZE};
pub use map::{LinearMap, combine};
pub use mma::{Fragment, MmaInstruction, MmaTiling, Operand, TmemShape, TmemTile, mma_tiled, tmem_layout};
pub use shape::Shape;
pub use shuffle::{Exchange, ShufflePlan, ShuffleRound};
pub use subspace::Subspace;
pub use swizzle::{SharedOptions, SharedPlan, plan_shared};
