//! `tileas-assign-load-store-layouts`: every access of global memory in the layout that suits it best.
//!
//! The access moves to its own layout and layout conversions join it to the rest; `tileas-remove-layout-conversions` decides
//! which of them stay. The vector width and the bounds check recorded here follow from facts about addresses
//! and hold in any layout; a layout with shorter runs takes shorter vectors. Where several layouts are equally good for
//! memory, a load takes the one in which the reductions and scans that follow are cheapest.

use super::convert_tileaa_to_tileas::{i64_attr, index_layout, sparse_dimension};
use crate::{
    analysis::{
        access::{self, Access, View},
        atomics::Update,
        combined::Combined,
        facts::Facts,
    },
    dialect::{
        layouts::{Tensor, layout_attr, tensor_type},
        nv_tileaa,
        nv_tileas::{AnyOp, ConvertLayoutOp, LoadOp, SplatOp, StoreOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::{Context, ir::Attribute};
use tile_layout::Layout;
use tile_targets::Target;

#[derive(Clone, Default)]
pub struct AssignLoadStoreLayouts;

impl RustPass for AssignLoadStoreLayouts {
    pass_descriptor!(tileas_assign_load_store_layouts);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let options = descriptors::tileas_assign_load_store_layouts::Options(cx);
        let target = target(op, options.compute_capability())?;
        let mut functions = vec![];
        walk(op, &mut |o| functions.extend(nv_tileaa::FuncOp::cast(o)));
        for function in functions {
            let warps = warps_of(function)?;
            expand_gathers(function.op(), context)?;
            let facts = Facts::of(function.op());
            let mut ops = vec![];
            walk(function.op(), &mut |o| ops.push(o));
            for op in ops {
                if let Some(mut access) = access_of(op, &facts) {
                    if let Some(width) = update_width(op, target) {
                        access.narrow(width);
                    }
                    assign(op, &access, warps, context)?;
                }
            }
        }
        Ok(())
    }
}

/// Gathers and scatters by offsets become loads and stores through pointers.
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

/// A pointer for each offset, in the layout of the offsets.
fn pointers<'c>(b: &Builder<'c>, base: Val<'c>, offsets: Val<'c>) -> Result<Val<'c>, BuildError> {
    let Some(t) = Tensor::of_value(offsets) else { return Err(BuildError("nv_tileaa.addptr".into())) };
    let t = tensor_type(&t.shape, ty(base), t.encoding);
    let start = SplatOp::build(b, t, base)?.result();
    Ok(nv_tileaa::AddPtrOp::build(b, t, start, offsets)?.result())
}

/// Warps of a block, set by `convert-tileaa-to-tileas`.
pub fn warps_of(function: nv_tileaa::FuncOp<'_>) -> Result<u64, Failed> {
    function
        .num_warps()
        .map(|w| w as u64)
        .ok_or_else(|| fail(function.op(), "function has no numWarps; run convert-tileaa-to-tileas first"))
}

/// The target of an option.
pub fn target(op: OpRef<'_>, name: &str) -> Result<&'static Target, Failed> {
    Target::by_name(name).ok_or_else(|| fail(op, format!("compute-capability '{name}' is no target")))
}

/// The access that `op` makes, when it moves a tensor.
pub fn access_of(op: OpRef<'_>, facts: &Facts) -> Option<Access> {
    let tiled = |view, indices: Vec<Val<'_>>| Some(access::tiled(facts, &View::of(view)?, &indices));
    let pointers = |ptr, mask| Tensor::of_value(ptr).map(|_| access::pointers(facts, ptr, mask));
    match AnyOp::cast(op)? {
        AnyOp::TiledLoadOp(x) => tiled(x.view(), x.indices().collect()),
        AnyOp::TiledStoreOp(x) => tiled(x.view(), x.indices().collect()),
        AnyOp::TiledAtomicRmwOp(x) => tiled(x.view(), x.indices().collect()),
        AnyOp::LoadOp(x) => pointers(x.ptr(), x.mask()),
        AnyOp::StoreOp(x) => pointers(x.ptr(), x.mask()),
        AnyOp::AtomicRmwOp(x) => pointers(x.ptr(), x.mask()),
        AnyOp::AtomicCasOp(x) => pointers(x.ptr(), x.mask()).map(|mut a| {
            a.narrow(1);
            a
        }),
        _ => None,
    }
}

/// Elements that one instruction of an atomic update takes at most; none for other accesses.
fn update_width(op: OpRef<'_>, target: &Target) -> Option<u64> {
    let width = |kind, v| Update::of(kind, Tensor::of_value(v)?.element, target).map(|u| u.width);
    match AnyOp::cast(op)? {
        AnyOp::AtomicRmwOp(x) => width(x.kind(), x.value()),
        AnyOp::TiledAtomicRmwOp(x) => width(x.kind(), x.value()),
        _ => None,
    }
}

/// A tensor that an access moves: its shape is the tile's.
pub fn tile_of<'c>(op: OpRef<'c>) -> Option<Tensor<'c>> {
    match AnyOp::cast(op) {
        // The index of a sparse dimension stands before the result.
        Some(AnyOp::TiledLoadOp(x)) => Tensor::of_value(x.result()),
        _ => operands(op).chain(results(op)).find_map(Tensor::of_value),
    }
}

/// Layout that operand `i` of an access must have when its tile of extents `tile` has `layout`.
pub fn operand_layout(op: OpRef<'_>, i: usize, tile: &[i64], layout: &Layout) -> Layout {
    let index = match AnyOp::cast(op) {
        Some(AnyOp::TiledLoadOp(x)) => sparse_dimension(x.view()).filter(|d| *d + 1 == i),
        Some(AnyOp::TiledStoreOp(x)) => sparse_dimension(x.view()).filter(|d| *d + 2 == i),
        _ => None,
    };
    index.map_or_else(|| layout.clone(), |d| index_layout(layout, tile, d))
}

fn assign<'c>(op: OpRef<'c>, access: &Access, warps: u64, context: &'c Context) -> Result<(), Failed> {
    let tile = tile_of(op).ok_or_else(|| fail(op, "access moves no tensor"))?;
    let loaded = results(op).find(|r| Tensor::of_value(*r).is_some());
    let combined = loaded.map(Combined::of).unwrap_or_default();
    let layout = access.layout_for(&tile.tile_shape(), warps, &combined);
    if op_name(op) != "nv_tileas.atomic_cas" {
        set_attr(op, "vector", i64_attr(context, access.vector as i64));
    }
    match op_name(op) {
        "nv_tileas.tiled_load" | "nv_tileas.tiled_store" | "nv_tileas.tiled_atomic_rmw" => {
            set_attr(op, "bounds", access.bounds.to_attr(context));
            set_attr(op, "inBounds", bools(context, &access.in_bounds));
        }
        "nv_tileas.atomic_cas" => {}
        _ => set_attr(op, "along", i64_attr(context, access.order[0] as i64)),
    }
    let b = Builder::before(context, op);
    for i in 0..operand_count(op) {
        let v = operand(op, i);
        if let Some(converted) = convert(&b, v, &operand_layout(op, i, &tile.shape, &layout), context)? {
            set_operand(op, i, converted);
        }
    }
    b.set_after(op);
    for r in results(op) {
        let Some(t) = Tensor::of_value(r) else { continue };
        let (old, new) = (ty(r), t.with_layout(context, &layout));
        if old == new {
            continue;
        }
        set_ty(r, new);
        let users = uses(r);
        let back = ConvertLayoutOp::build(&b, old, r).map_err(|e| fail(op, e.to_string()))?;
        for (user, i) in users {
            set_operand(user, i, back.result());
        }
    }
    Ok(())
}

fn convert<'c>(b: &Builder<'c>, v: Val<'c>, layout: &Layout, context: &'c Context) -> Result<Option<Val<'c>>, Failed> {
    let Some(t) = Tensor::of_value(v) else { return Ok(None) };
    let to = tensor_type(&t.shape, t.element, Some(layout_attr(context, layout)));
    if to == ty(v) {
        return Ok(None);
    }
    ConvertLayoutOp::build(b, to, v).map(|c| Some(c.result())).map_err(|_| Failed)
}

pub fn bools<'c>(context: &'c Context, values: &[bool]) -> Attribute<'c> {
    let ints: Vec<i32> = values.iter().map(|&b| i32::from(b)).collect();
    // SAFETY: the context is alive; MLIR copies the list.
    unsafe {
        Attribute::from_raw(mlir_sys::mlirDenseBoolArrayGet(context.to_raw(), ints.len() as isize, ints.as_ptr()))
    }
}
