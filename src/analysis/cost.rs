//! What it costs to compute a tensor again.

use crate::dialect::{layouts::Tensor, rt::*};

/// Ops that cost next to nothing for each element and touch no memory.
pub fn is_cheap(op: OpRef<'_>) -> bool {
    let name = op_name(op);
    result_count(op) == 1
        && region_count(op) == 0
        && Tensor::of_value(result(op, 0)).is_some()
        && matches!(
            name,
            "nv_tileas.view"
                | "nv_tileas.permute"
                | "nv_tileas.broadcast"
                | "nv_tileas.make_range"
                | "nv_tileas.splat"
                | "nv_tileaa.addptr"
                | "arith.constant"
                | "arith.addi"
                | "arith.subi"
                | "arith.muli"
                | "arith.andi"
                | "arith.ori"
                | "arith.xori"
                | "arith.cmpi"
                | "arith.extsi"
                | "arith.extui"
                | "arith.trunci"
                | "arith.shli"
                | "arith.select"
        )
}
