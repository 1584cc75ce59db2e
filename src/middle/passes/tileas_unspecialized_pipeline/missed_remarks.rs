//! Remarks on loads of dot operands that are not started ahead of their iterations.

use crate::{
    analysis::{
        access::View,
        constants::is_all_zeros,
        ring_loads::{Candidates, backward_slice, feeds_dot, is_inside},
    },
    dialect::{
        behaviour,
        layouts::{Tensor, memory_bits, storage_bits},
        nv_tileaa::{Ordering, Padding},
        nv_tileas::{ConvertLayoutOp, LoadOp, ReplicateOp, TiledLoadOp},
        remark::{self, remark},
        rt::*,
    },
};
use tile_interface::Advice;

/// Reports the loads of dot operands in the loop `op` that are not pipelined.
pub(super) fn remark_on_loads<'c>(op: OpRef<'c>, found: Option<&Candidates<'c>>) {
    let Some(body) = entry_block(region(op, 0)).filter(|_| remark::wanted()) else { return };
    for load in ops_of(body) {
        if found.is_some_and(|f| f.loads.iter().any(|l| l.op == load)) {
            continue;
        }
        if let Some((reason, advice)) = why_not(load, op, body) {
            let reason = format!("the load is not started ahead of its iteration: {reason}");
            remark(load, remark::NOT_PIPELINED, reason, advice);
        }
    }
}

/// Returns the reason why a load of a dot operand cannot be a copy into a ring, and advice. Returns `None` for
/// other ops.
fn why_not<'c>(op: OpRef<'c>, parent: OpRef<'c>, body: Blk<'c>) -> Option<(String, Option<Advice>)> {
    let (value, token_in, ordering, vector, zeros, gathers) = if let Some(x) = TiledLoadOp::cast(op) {
        let view = View::of(x.view())?;
        let zeros = matches!(view.ty.padding(), None | Some(Padding::Zero));
        let gathers = view.ty.sparse_dim().is_some();
        (x.result(), x.token(), x.ordering(), x.vector(), zeros, gathers)
    } else {
        let x = LoadOp::cast(op)?;
        let zeros = x.other().is_none_or(is_all_zeros);
        (x.result(), x.token(), x.ordering(), x.vector(), zeros, false)
    };
    let tensor = Tensor::of_value(value)?;
    // A value that other threads may change is loaded by one thread and replicated.
    let copies =
        |v: Val<'c>| uses(v).iter().any(|(user, _)| ReplicateOp::cast(*user).is_some_and(|r| feeds_dot(r.result())));
    if !feeds_dot(value) && !copies(value) {
        return None;
    }
    let bits = memory_bits(tensor.element);
    let bytes = vector as u64 * u64::from(bits) / 8;
    let because = |reason: &str, advice: Option<Advice>| Some((reason.to_string(), advice));
    match () {
        _ if gathers => because("it gathers rows", None),
        _ if !zeros => because("asynchronous copies can only pad with zeros", Some(Advice::PadWithZeros)),
        _ if uses(value).len() != 1 => because("its tile is used more than once", Some(Advice::LoadForEachUse)),
        _ if ordering != Ordering::Weak => {
            because("it is ordered with accesses of other threads", Some(Advice::WeakOrder))
        }
        _ if token_in.is_some_and(|t| is_inside(t, parent)) => {
            because("it waits for an access of the same loop", Some(Advice::TokenFromOutside))
        }
        _ if bits != storage_bits(tensor.element) || bytes < 4 => Some((
            format!("asynchronous copies move at least 4 bytes, but its vectors have only {bytes}"),
            Some(Advice::AlignCopy),
        )),
        _ if backward_slice(op, (parent, body)).is_none() => because(
            "its address depends on loop-carried values or on more than a few loaded integers",
            Some(Advice::InductionAddress),
        ),
        // Dots of scalar instructions use the tile in the layout of its load.
        _ if !ConvertLayoutOp::cast(uses(value)[0].0).is_some_and(|c| behaviour::moves_between_threads(c.op())) => None,
        _ => because("no shared-memory layout suits both the copy and the dot", None),
    }
}
