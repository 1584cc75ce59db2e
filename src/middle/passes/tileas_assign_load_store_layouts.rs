//! `tileas-assign-load-store-layouts` gives each global memory access the layout that suits it best.
//!
//! The access moves to its own layout, and layout conversions connect it to the rest of the program.
//! `tileas-remove-layout-conversions` decides which of them stay. The vector width and the bounds check recorded here
//! follow from facts about addresses and hold in any layout; a layout with shorter runs uses shorter vectors. If
//! several layouts are equally good for memory, a load takes the one in which the reductions and scans that follow
//! are cheapest.

use crate::{
    analysis::{
        access::{AccessPlan, access_of, operand_layout, tile_of},
        atomics::Update,
        combined::Combined,
        facts::Facts,
        warps::{warps_at, warps_of},
    },
    dialect::{
        layouts::{Tensor, converted, relayout_result, tensor_type},
        nv_tileaa,
        nv_tileas::{AnyOp, AtomicCasOp, LoadOp, SplatOp, StoreOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::target,
    },
    pass_descriptor,
};
use melior::Context;
use tile_targets::Target;

#[derive(Clone, Default)]
pub struct AssignLoadStoreLayouts;

impl RustPass for AssignLoadStoreLayouts {
    pass_descriptor!(tileas_assign_load_store_layouts);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let options = descriptors::tileas_assign_load_store_layouts::Options(cx);
        let target = target(op, options.compute_capability())?;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            warps_of(function)?;
            expand_gathers(function.op(), context)?;
            let facts = Facts::of(function.op());
            let mut ops = vec![];
            walk(function.op(), &mut |o| ops.push(o));
            for op in ops {
                if let Some(mut access) = access_of(op, &facts) {
                    if let Some(width) = update_width(op, target) {
                        access.narrow(width);
                    }
                    assign(op, &access, warps_at(op)?, context)?;
                }
            }
        }
        Ok(())
    }
}

/// Rewrites gathers and scatters by offsets to loads and stores through pointers.
fn expand_gathers<'c>(function: OpRef<'c>, context: &'c Context) -> Result<(), Failed> {
    let mut found = vec![];
    walk(function, &mut |o| {
        let any = AnyOp::cast(o);
        if matches!(any, Some(AnyOp::GatherLoadOp(_) | AnyOp::ScatterStoreOp(_))) {
            found.extend(any.map(|any| (o, any)));
        }
    });
    for (op, any) in found {
        let b = Builder::before(context, op);
        let one = i64_attr(context, 1);
        let built = match any {
            AnyOp::GatherLoadOp(x) => pointers(&b, x.base(), x.offsets()).and_then(|p| {
                let (t, token) = (ty(x.result()), ty(x.result_token()));
                let (ordering, scope, hints) = (x.ordering(), x.scope(), x.hints());
                let (mask, other) = (x.mask(), x.other());
                LoadOp::build(&b, t, token, p, mask, other, x.token(), ordering, scope, hints, one, None)
                    .map(OpView::op)
            }),
            AnyOp::ScatterStoreOp(x) => pointers(&b, x.base(), x.offsets()).and_then(|p| {
                let (ordering, scope, hints) = (x.ordering(), x.scope(), x.hints());
                let token = ty(x.result_token());
                StoreOp::build(&b, token, p, x.value(), x.mask(), x.token(), ordering, scope, hints, one, None)
                    .map(OpView::op)
            }),
            _ => continue,
        };
        let new = built.map_err(|e| fail(op, e.to_string()))?;
        for (old, new) in results(op).zip(results(new)) {
            replace_all_uses(old, new);
        }
        erase(op);
    }
    Ok(())
}

/// Computes a pointer for each offset, in the layout of the offsets.
fn pointers<'c>(b: &Builder<'c>, base: Val<'c>, offsets: Val<'c>) -> Result<Val<'c>, BuildError> {
    let Some(t) = Tensor::of_value(offsets) else { return Err(BuildError("nv_tileaa.addptr".into())) };
    let t = tensor_type(&t.shape, ty(base), t.encoding);
    let start = SplatOp::build(b, t, base)?.result();
    Ok(nv_tileaa::AddPtrOp::build(b, t, start, offsets)?.result())
}

/// Returns the maximum number of elements that one atomic instruction updates; `None` for other accesses.
fn update_width(op: OpRef<'_>, target: &Target) -> Option<u64> {
    let width = |kind, v| Update::of(kind, Tensor::of_value(v)?.element, target).map(|u| u.width);
    match AnyOp::cast(op)? {
        AnyOp::AtomicRmwOp(x) => width(x.kind(), x.value()),
        AnyOp::TiledAtomicRmwOp(x) => width(x.kind(), x.value()),
        _ => None,
    }
}

fn assign<'c>(op: OpRef<'c>, access: &AccessPlan, warps: u64, context: &'c Context) -> Result<(), Failed> {
    let tile = tile_of(op).ok_or_else(|| fail(op, "access moves no tensor"))?;
    let loaded = results(op).find(|r| Tensor::of_value(*r).is_some());
    let combined = loaded.map(Combined::of).unwrap_or_default();
    let layout = access.layout_for(&tile.tile_shape(), warps, &combined);
    // Compare-and-swap handles one element at a time.
    if AtomicCasOp::cast(op).is_none() {
        set_attr(op, "vector", i64_attr(context, access.vector as i64));
        if attr(op, "bounds").is_some() {
            set_attr(op, "bounds", access.bounds.to_attr(context));
            set_attr(op, "inBounds", bools_attr(context, &access.in_bounds));
        } else {
            set_attr(op, "along", i64_attr(context, access.order[0] as i64));
        }
    }
    let b = Builder::before(context, op);
    for i in 0..operand_count(op) {
        let wanted = operand_layout(op, i, &tile.shape, &layout);
        set_operand(op, i, converted(&b, op, operand(op, i), &wanted)?);
    }
    b.set_after(op);
    results(op).try_for_each(|r| relayout_result(&b, op, r, &layout))
}
