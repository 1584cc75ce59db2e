//! `tileas-materialize-convert-layout`: layout conversions that cross threads become trips through shared memory.
//!
//! A conversion that the thread can do alone stays: it only renames registers. Any other becomes
//!
//! ```text
//! %m = alloc_tensor            in a swizzle that both sides access without bank conflicts, where there is one
//! barrier                      earlier readers of the same storage are done
//! local_store %source, %m
//! barrier
//! %r = local_load %m
//! ```
//!
//! The first barrier is left out where no earlier access of shared memory can still be under way: at the first conversion
//! of a function outside of loops.

use super::{convert_tileaa_to_tileas::i64_attr, tileas_assign_load_store_layouts::warps_of};
use crate::{
    dialect::{
        layouts::{Tensor, storage_bits},
        nv_tileaa,
        nv_tileas::{
            AllocTensorOp, BarrierOp, ConvertLayoutOp, LocalLoadOp, LocalStoreOp, MemDescType, SharedLayoutAttr,
        },
        pass::{Failed, PassContext, RustPass, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::Context;
use tile_layout::{AccessMode, SharedAccess, SharedOptions, plan_shared, register_permutation};

#[derive(Clone, Default)]
pub struct MaterializeConvertLayout;

impl RustPass for MaterializeConvertLayout {
    pass_descriptor!(tileas_materialize_convert_layout);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, _: &PassContext) -> Result<(), Failed> {
        let mut functions = vec![];
        walk(op, &mut |o| functions.extend(nv_tileaa::FuncOp::cast(o)));
        for function in functions {
            warps_of(function)?;
            let mut conversions = vec![];
            let mut touched = false;
            walk(function.op(), &mut |o| {
                touched |= LocalLoadOp::cast(o).is_some();
                conversions.extend(ConvertLayoutOp::cast(o));
            });
            for conversion in conversions {
                touched |= materialize(conversion, touched || in_loop(conversion.op()), context)?;
            }
        }
        Ok(())
    }
}

fn in_loop(op: OpRef<'_>) -> bool {
    let mut at = parent_op(op);
    while let Some(p) = at {
        if matches!(op_name(p), "scf.for" | "scf.while") {
            return true;
        }
        at = parent_op(p);
    }
    false
}

/// Whether the conversion went through shared memory.
fn materialize<'c>(op: ConvertLayoutOp<'c>, barrier_first: bool, context: &'c Context) -> Result<bool, Failed> {
    let error = |e: &dyn std::fmt::Display| fail(op.op(), e.to_string());
    let tensor = Tensor::of_value(op.source()).ok_or_else(|| fail(op.op(), "operand is no tensor"))?;
    let to = Tensor::of_value(op.result()).and_then(|t| t.layout());
    let (Some(from), Some(to)) = (tensor.layout(), to) else { return Err(fail(op.op(), "tensor has no layout")) };
    if register_permutation(&from, &to).is_some() {
        return Ok(false);
    }
    // Every target loads matrices.
    let options = SharedOptions { ldmatrix: true, ..SharedOptions::new(storage_bits(tensor.element)) };
    let plan = plan_shared(&from, &to, &tensor.tile_shape(), &options).map_err(|e| error(&e))?;
    let bases: Vec<i64> = plan.layout.bases().iter().map(|&b| b as i64).collect();
    let location = op.op().location();
    let layout = SharedLayoutAttr::get(location, &bases).ok_or(Failed)?;
    let desc = MemDescType::get(location, &tensor.shape, tensor.element, layout.into(), 1).ok_or(Failed)?;

    let b = Builder::before(context, op.op());
    let storage = AllocTensorOp::build(&b, desc.into(), None).map_err(|e| error(&e))?;
    if barrier_first {
        BarrierOp::build(&b).map_err(|e| error(&e))?;
    }
    let width = |access: &SharedAccess| match access.mode {
        AccessMode::Vector { elements } | AccessMode::Matrix { elements, .. } => i64_attr(context, elements.into()),
    };
    LocalStoreOp::build(&b, op.source(), storage.result(), width(&plan.store)).map_err(|e| error(&e))?;
    BarrierOp::build(&b).map_err(|e| error(&e))?;
    let load = LocalLoadOp::build(&b, ty(op.result()), storage.result(), width(&plan.load)).map_err(|e| error(&e))?;
    replace_all_uses(op.result(), load.result());
    erase(op.op());
    Ok(true)
}
