//! Linear layouts over F2.
#![forbid(unsafe_code)]

mod bank;
mod blocked;
mod error;
mod expr;
mod layout;
mod map;
mod ops;
mod shape;
mod subspace;

pub use bank::*;
pub use error::{LayoutError, Result};
pub use expr::{BitExpr, Coordinate, LinearExpr, Term};
pub use layout::{Input, InputMasks, LANE_BITS, Layout, Place, Thread, WARP_SIZE};
pub use map::{LinearMap, combine};
pub use shape::Shape;
pub use subspace::Subspace;
