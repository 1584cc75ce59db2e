//! Communication from owners of elements to other threads: `replicate` across warps, and scratch memory of prints.
//!
//! ```text
//! %r = replicate %x          %m = alloc_tensor
//!                            barrier               earlier readers of the same storage are done
//!                       =>   local_store %x, %m    by the owners
//!                            barrier
//!                            %r = local_load %m    by all holders
//! ```

use crate::{
    analysis::layouts::within_warps,
    dialect::{
        layouts::Tensor,
        nv_tileas::{AllocTensorOp, PrintOp, ReplicateOp},
        pass::{Failed, fail},
        rt::*,
        shared_memory::{exchange, storage_type},
    },
};
use melior::Context;

/// The number of elements of a tensor printed between two barriers.
const PRINT_ELEMENTS: i64 = 1024;

/// Whether [`materialize`] handles the op.
pub fn concerns(op: OpRef<'_>) -> bool {
    ReplicateOp::cast(op).is_some() || PrintOp::cast(op).is_some()
}

/// Rewrites `op`. Returns whether it uses shared memory afterward.
pub fn materialize<'c>(op: OpRef<'c>, barrier_first: bool, context: &'c Context) -> Result<bool, Failed> {
    match (ReplicateOp::cast(op), PrintOp::cast(op)) {
        (Some(x), _) => replicate(x, barrier_first, context),
        (_, Some(x)) => print(x, context),
        _ => Ok(false),
    }
}

fn replicate<'c>(x: ReplicateOp<'c>, barrier_first: bool, context: &'c Context) -> Result<bool, Failed> {
    let op = x.op();
    let tensor = Tensor::of_value(x.source()).ok_or_else(|| fail(op, "operand is not a tensor"))?;
    let layout = tensor.layout().ok_or_else(|| fail(op, "tensor has no layout"))?;
    if within_warps(&layout) {
        if layout.free_variables().lane == 0 {
            replace_all_uses(x.result(), x.source());
            erase(op);
        }
        return Ok(false);
    }
    let b = Builder::before(context, op);
    let shared = exchange(&b, op, &[x.source()], &layout, barrier_first)?;
    replace_all_uses(x.result(), shared[0]);
    erase(op);
    Ok(true)
}

/// Allocates scratch memory for a print of tensors.
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
        let storage = storage_type(op, &[elements], t.element, &bases)
            .and_then(|desc| AllocTensorOp::build(&b, desc.into(), None));
        scratch.push(storage.map_err(|e| fail(op, e.to_string()))?.result());
    }
    let format = attr(op, "format").ok_or_else(|| fail(op, "print has no format"))?;
    let arguments: Vec<Val<'c>> = x.args().collect();
    let built = PrintOp::build(&b, ty(x.result_token()), &arguments, &scratch, x.token(), format);
    let new = built.map_err(|e| fail(op, e.to_string()))?;
    replace_all_uses(x.result_token(), new.result_token());
    erase(op);
    Ok(true)
}
