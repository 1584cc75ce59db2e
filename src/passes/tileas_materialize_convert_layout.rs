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
use tile_layout::{AccessMode, Layout, SharedAccess, SharedOptions, SharedPlan, plan_shared, register_permutation};

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

pub fn in_loop(op: OpRef<'_>) -> bool {
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
    let layout = |v: Val<'c>| Tensor::of_value(v).and_then(|t| t.layout());
    let (Some(from), Some(to)) = (layout(op.source()), layout(op.result())) else {
        return Err(fail(op.op(), "tensor has no layout"));
    };
    if register_permutation(&from, &to).is_some() {
        return Ok(false);
    }
    let b = Builder::before(context, op.op());
    let moved = exchange(&b, op.op(), &[op.source()], &to, barrier_first, context)?;
    replace_all_uses(op.result(), moved[0]);
    erase(op.op());
    Ok(true)
}

/// Values, all of one shape and layout, in the layout `to`, through shared memory. They go together: all stores, one
/// barrier, all loads.
pub fn exchange<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    values: &[Val<'c>],
    to: &Layout,
    barrier_first: bool,
    context: &'c Context,
) -> Result<Vec<Val<'c>>, Failed> {
    let location = op.location();
    let mut transfers = vec![];
    for &v in values {
        let tensor = Tensor::of_value(v).ok_or_else(|| fail(op, "operand is no tensor"))?;
        let from = tensor.layout().ok_or_else(|| fail(op, "tensor has no layout"))?;
        let options = SharedOptions::new(storage_bits(tensor.element));
        let plan = plan_shared(&from, to, &tensor.tile_shape(), &options).map_err(|e| fail(op, e.to_string()))?;
        let bases: Vec<i64> = plan.layout.bases().iter().map(|&b| b as i64).collect();
        let layout = SharedLayoutAttr::get(location, &bases).ok_or(Failed)?;
        let desc = MemDescType::get(location, &tensor.shape, tensor.element, layout.into()).ok_or(Failed)?;
        let storage = AllocTensorOp::build(b, desc.into(), None).map_err(|e| fail(op, e.to_string()))?;
        transfers.push((v, tensor, plan, storage.result()));
    }
    let error = |e: BuildError| fail(op, e.to_string());
    if barrier_first {
        BarrierOp::build(b).map_err(error)?;
    }
    let width = |access: &SharedAccess| match access.mode {
        AccessMode::Vector { elements } | AccessMode::Matrix { elements, .. } => i64_attr(context, elements.into()),
    };
    for (v, _, plan, storage) in &transfers {
        LocalStoreOp::build(b, *v, *storage, width(&plan.store)).map_err(error)?;
    }
    BarrierOp::build(b).map_err(error)?;
    let load = |(_, tensor, plan, storage): &(Val<'c>, Tensor<'c>, SharedPlan, Val<'c>)| {
        LocalLoadOp::build(b, tensor.with_layout(context, to), *storage, width(&plan.load)).map(|l| l.result())
    };
    transfers.iter().map(|t| load(t).map_err(error)).collect()
}
