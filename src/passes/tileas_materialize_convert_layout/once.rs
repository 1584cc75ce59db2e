//! What owners of elements tell the others: `replicate` across warps, and the elements that a print prints.
//!
//! ```text
//! %r = replicate %x          %m = alloc_tensor
//!                            barrier               earlier readers of the same storage are done
//!                       =>   local_store %x, %m    by the owners
//!                            barrier
//!                            %r = local_load %m    by all holders
//! ```

use super::REUSE;
use crate::dialect::{
    layouts::{Tensor, storage_bits},
    nv_tileas::{
        AllocTensorOp, BarrierOp, LocalLoadOp, LocalStoreOp, MemDescType, MemorySpace, PrintOp, ReplicateOp,
        SharedLayoutAttr,
    },
    pass::{Failed, fail},
    rt::*,
};
use crate::passes::convert_tileaa_to_tileas::i64_attr;
use melior::{Context, ir::Type};
use tile_layout::{AccessMode, Layout, SharedAccess, SharedOptions, plan_shared};

/// Elements of a tensor that are printed between two barriers.
const PRINT_ELEMENTS: i64 = 1024;

/// Whether [`materialize`] has something to do with an op.
pub fn concerns(op: OpRef<'_>) -> bool {
    ReplicateOp::cast(op).is_some() || PrintOp::cast(op).is_some()
}

/// Whether shuffles within warps tell every holder what the owner has: no warp bit is free, free lane bits select plain
/// copies, and every register is one that its thread owns, or repeats one.
pub fn within_warps(layout: &Layout) -> bool {
    let (free, zero) = (layout.free_variables(), layout.zero_bits());
    let (owned, _) = layout.owned();
    free.warp == 0 && free.lane & !zero.lane == 0 && layout.squeeze_registers().0.registers() == owned.registers()
}

/// Rewrites `op`; whether it uses shared memory afterwards.
pub fn materialize<'c>(op: OpRef<'c>, barrier_first: bool, context: &'c Context) -> Result<bool, Failed> {
    match (ReplicateOp::cast(op), PrintOp::cast(op)) {
        (Some(x), _) => replicate(x, barrier_first, context),
        (_, Some(x)) => print(x, context),
        _ => Ok(false),
    }
}

fn replicate<'c>(x: ReplicateOp<'c>, barrier_first: bool, context: &'c Context) -> Result<bool, Failed> {
    let op = x.op();
    let error = |e: &dyn std::fmt::Display| fail(op, e.to_string());
    let tensor = Tensor::of_value(x.source()).ok_or_else(|| fail(op, "operand is no tensor"))?;
    let layout = tensor.layout().ok_or_else(|| fail(op, "tensor has no layout"))?;
    if within_warps(&layout) {
        if layout.free_variables().lane == 0 {
            replace_all_uses(x.result(), x.source());
            erase(op);
        }
        return Ok(false);
    }
    let options = SharedOptions::new(storage_bits(tensor.element));
    let plan = plan_shared(&layout, &layout, &tensor.tile_shape(), &options).map_err(|e| error(&e))?;
    let width = |access: &SharedAccess| match access.mode {
        AccessMode::Vector { elements } | AccessMode::Matrix { elements, .. } => i64_attr(context, elements.into()),
    };
    let b = Builder::before(context, op);
    let desc = storage(op, &tensor.shape, tensor.element, plan.layout.bases())?;
    let memory = AllocTensorOp::build(&b, desc, None).map_err(|e| error(&e))?.result();
    if barrier_first {
        let barrier = BarrierOp::build(&b).map_err(|e| error(&e))?;
        set_discardable_attr(barrier.op(), REUSE, b.unit());
    }
    LocalStoreOp::build(&b, x.source(), memory, width(&plan.store)).map_err(|e| error(&e))?;
    BarrierOp::build(&b).map_err(|e| error(&e))?;
    let load = LocalLoadOp::build(&b, ty(x.result()), memory, width(&plan.load)).map_err(|e| error(&e))?;
    replace_all_uses(x.result(), load.result());
    erase(op);
    Ok(true)
}

/// Gives a print of tensors its scratch.
fn print<'c>(x: PrintOp<'c>, context: &'c Context) -> Result<bool, Failed> {
    let op = x.op();
    let tensors: Vec<Tensor<'c>> = x.args().filter_map(Tensor::of_value).collect();
    if tensors.is_empty() || x.scratch().len() > 0 {
        return Ok(!tensors.is_empty());
    }
    let b = Builder::before(context, op);
    let mut scratch = vec![];
    for t in tensors {
        let elements = t.elements().min(PRINT_ELEMENTS);
        let bases: Vec<u64> = (0..elements.ilog2()).map(|i| 1 << i).collect();
        let desc = storage(op, &[elements], t.element, &bases)?;
        scratch.push(AllocTensorOp::build(&b, desc, None).map_err(|e| fail(op, e.to_string()))?.result());
    }
    let format = attr(op, "format").ok_or_else(|| fail(op, "print has no format"))?;
    let arguments: Vec<Val<'c>> = x.args().collect();
    let built = PrintOp::build(&b, ty(x.result_token()), &arguments, &scratch, x.token(), format);
    let new = built.map_err(|e| fail(op, e.to_string()))?;
    replace_all_uses(x.result_token(), new.result_token());
    erase(op);
    Ok(true)
}

fn storage<'c>(op: OpRef<'c>, shape: &[i64], element: Type<'c>, bases: &[u64]) -> Result<Type<'c>, Failed> {
    let bases: Vec<i64> = bases.iter().map(|&b| b as i64).collect();
    let layout = SharedLayoutAttr::get(op.location(), &bases).ok_or(Failed)?;
    Ok(MemDescType::get(op.location(), shape, element, layout.into(), 1, MemorySpace::Shared).ok_or(Failed)?.into())
}
