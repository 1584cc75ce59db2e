//! Values known at compile time.

use crate::dialect::{behaviour, nv_tileaa, nv_tileas::SplatOp, rt::*};
use melior::ir::AttributeLike;
use mlir_sys::*;

/// Whether a tensor or scalar is a constant of zeros, none of them negative.
pub fn is_all_zeros(v: Val<'_>) -> bool {
    let constant = |op: OpRef<'_>| -> bool {
        let Some(value) = attr(op, "value") else { return false };
        // SAFETY: the attribute is alive, and its kind is tested before it is read as that kind.
        unsafe {
            let raw = value.to_raw();
            let scalar = if !mlirAttributeIsADenseElements(raw) {
                raw
            } else if mlirDenseElementsAttrIsSplat(raw) {
                mlirDenseElementsAttrGetSplatValue(raw)
            } else {
                return false;
            };
            if mlirAttributeIsAInteger(scalar) {
                return mlirIntegerAttrGetValueInt(scalar) == 0;
            }
            // Negative zero has another bit pattern.
            mlirAttributeIsAFloat(scalar) && mlirFloatAttrGetValueDouble(scalar).to_bits() == 0
        }
    };
    match defining_op(v) {
        Some(op) if behaviour::is_constant(op) => constant(op),
        Some(op) if SplatOp::cast(op).is_some() || nv_tileaa::SplatOp::cast(op).is_some() => {
            is_all_zeros(operand(op, 0))
        }
        _ => false,
    }
}
