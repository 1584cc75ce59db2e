//! Ops that stand for simpler ones become those, before any layout is chosen.
//!
//! ```text
//! gather_load %p[%i]       load (addptr (splat %p), %i)
//! scatter_store %v, %p[%i] store (addptr (splat %p), %i), %v
//! expand_dims %x, 0        view %x
//! execute { ... }          its ops
//! mark_for_reuse %v        nothing: no target makes use of it
//! ```

use crate::dialect::{
    layouts::{Tensor, tensor_type},
    nv_tileaa::{
        AddPtrOp, AnyOp, CreateMemTokenOp, ExecuteOp, FuncOp, GatherLoadOp, LoadOp, MarkForReuseOp, ScatterStoreOp,
        SplatOp, StoreOp, ViewOp,
    },
    pass::{Failed, fail},
    rt::*,
};
use melior::Context;

/// Expands every such op of the function.
pub(super) fn expand<'c>(function: FuncOp<'c>, context: &'c Context) -> Result<(), Failed> {
    let mut found = vec![];
    walk(function.op(), &mut |o| {
        use AnyOp::*;
        let any = AnyOp::cast(o);
        if matches!(any, Some(ExpandDimsOp(_) | GatherLoadOp(_) | ScatterStoreOp(_) | ExecuteOp(_) | MarkForReuseOp(_)))
        {
            found.extend(any.map(|any| (o, any)));
        }
    });
    for (op, any) in found {
        let b = Builder::before(context, op);
        let new = match any {
            AnyOp::ExpandDimsOp(x) => ViewOp::build(&b, ty(x.result()), x.source()).map(|v| vec![v.result()]),
            AnyOp::GatherLoadOp(x) => gather(&b, x),
            AnyOp::ScatterStoreOp(x) => scatter(&b, x),
            AnyOp::ExecuteOp(x) => Ok(inline(x)),
            AnyOp::MarkForReuseOp(x) => without(&b, x),
            _ => continue,
        }
        .map_err(|e| fail(op, e.to_string()))?;
        for (old, new) in results(op).zip(new) {
            replace_all_uses(old, new);
        }
        erase(op);
    }
    Ok(())
}

/// A pointer for each offset.
fn pointers<'c>(b: &Builder<'c>, base: Val<'c>, offsets: Val<'c>) -> Result<Val<'c>, BuildError> {
    let shape = Tensor::of_value(offsets).map(|t| t.shape).unwrap_or_default();
    let t = tensor_type(&shape, ty(base), None);
    let start = SplatOp::build(b, t, base)?.result();
    Ok(AddPtrOp::build(b, t, start, offsets)?.result())
}

fn gather<'c>(b: &Builder<'c>, x: GatherLoadOp<'c>) -> Result<Vec<Val<'c>>, BuildError> {
    let p = pointers(b, x.base(), x.offsets())?;
    let (t, token) = (ty(x.result()), ty(x.result_token()));
    let load = LoadOp::build(b, t, token, p, x.mask(), x.other(), x.token(), x.ordering(), x.scope(), x.hints())?;
    Ok(vec![load.result(), load.result_token()])
}

fn scatter<'c>(b: &Builder<'c>, x: ScatterStoreOp<'c>) -> Result<Vec<Val<'c>>, BuildError> {
    let p = pointers(b, x.base(), x.offsets())?;
    let token = ty(x.result_token());
    let store = StoreOp::build(b, token, p, x.value(), x.mask(), x.token(), x.ordering(), x.scope(), x.hints())?;
    Ok(vec![store.result_token()])
}

/// Moves the ops of the region in front of it; the values that it yields.
fn inline<'c>(x: ExecuteOp<'c>) -> Vec<Val<'c>> {
    let ops: Vec<OpRef<'c>> = entry_block(x.body()).into_iter().flat_map(ops_of).collect();
    let Some((terminator, ops)) = ops.split_last() else { return vec![] };
    for op in ops {
        move_before(*op, x.op());
    }
    operands(*terminator).collect()
}

fn without<'c>(b: &Builder<'c>, x: MarkForReuseOp<'c>) -> Result<Vec<Val<'c>>, BuildError> {
    Ok(vec![match x.token() {
        Some(token) => token,
        None => CreateMemTokenOp::build(b, ty(x.result_token()))?.result(),
    }])
}
