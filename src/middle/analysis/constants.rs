//! Values known at compile time.

use crate::dialect::{behaviour, elements, nv_tileaa, nv_tileas::SplatOp, rt::*};

/// Whether a tensor or scalar is a constant of zeros, none of them negative.
pub fn is_all_zeros(v: Val<'_>) -> bool {
    match defining_op(v) {
        Some(op) if behaviour::is_constant(op) => attr(op, "value").is_some_and(elements::is_zero),
        Some(op) if SplatOp::cast(op).is_some() || nv_tileaa::SplatOp::cast(op).is_some() => {
            is_all_zeros(operand(op, 0))
        }
        _ => false,
    }
}
