//! `tileas-assign-load-store-layouts`: every access of global memory in the layout that suits it best.
//!
//! The access moves to its own layout and layout conversions join it to the rest; `tileas-remove-layout-conversions` decides
//! which of them stay. The vector width and the bounds check recorded here follow from facts about addresses
//! and hold in any layout; a layout with shorter runs takes shorter vectors.

use super::convert_tileaa_to_tileas::i64_attr;
use crate::{
    analysis::{
        access::{self, Access, View},
        facts::Facts,
    },
    dialect::{
        layouts::{Tensor, layout_attr, tensor_type},
        nv_tileaa,
        nv_tileas::{AnyOp, ConvertLayoutOp},
        pass::{Failed, PassContext, RustPass, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::{Context, ir::Attribute};
use tile_layout::Layout;

#[derive(Clone, Default)]
pub struct AssignLoadStoreLayouts;

impl RustPass for AssignLoadStoreLayouts {
    pass_descriptor!(tileas_assign_load_store_layouts);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, _: &PassContext) -> Result<(), Failed> {
        let mut functions = vec![];
        walk(op, &mut |o| functions.extend(nv_tileaa::FuncOp::cast(o)));
        for function in functions {
            let warps = warps_of(function)?;
            let facts = Facts::of(function.op());
            let mut ops = vec![];
            walk(function.op(), &mut |o| ops.push(o));
            for op in ops {
                if let Some(access) = access_of(op, &facts) {
                    assign(op, &access, warps, context)?;
                }
            }
        }
        Ok(())
    }
}

/// Warps of a block, set by `convert-tileaa-to-tileas`.
pub fn warps_of(function: nv_tileaa::FuncOp<'_>) -> Result<u64, Failed> {
    function
        .num_warps()
        .map(|w| w as u64)
        .ok_or_else(|| fail(function.op(), "function has no numWarps; run convert-tileaa-to-tileas first"))
}

/// The access that `op` makes, when it moves a tensor.
pub fn access_of(op: OpRef<'_>, facts: &Facts) -> Option<Access> {
    match AnyOp::cast(op)? {
        AnyOp::TiledLoadOp(x) => Some(access::tiled(facts, &View::of(x.view())?, &x.indices().collect::<Vec<_>>())),
        AnyOp::TiledStoreOp(x) => Some(access::tiled(facts, &View::of(x.view())?, &x.indices().collect::<Vec<_>>())),
        AnyOp::LoadOp(x) => Tensor::of_value(x.ptr()).map(|_| access::pointers(facts, x.ptr(), x.mask())),
        AnyOp::StoreOp(x) => Tensor::of_value(x.ptr()).map(|_| access::pointers(facts, x.ptr(), x.mask())),
        _ => None,
    }
}

/// A tensor that an access moves: its shape is the tile's.
pub fn tile_of<'c>(op: OpRef<'c>) -> Option<Tensor<'c>> {
    operands(op).chain(results(op)).find_map(Tensor::of_value)
}

fn assign<'c>(op: OpRef<'c>, access: &Access, warps: u64, context: &'c Context) -> Result<(), Failed> {
    let tile = tile_of(op).ok_or_else(|| fail(op, "access moves no tensor"))?;
    let layout = access.layout(&tile.tile_shape(), warps);
    set_attr(op, "vector", i64_attr(context, access.vector as i64));
    if matches!(op_name(op), "nv_tileas.tiled_load" | "nv_tileas.tiled_store") {
        set_attr(op, "bounds", access.bounds.to_attr(context));
        set_attr(op, "inBounds", bools(context, &access.in_bounds));
    } else {
        set_attr(op, "along", i64_attr(context, access.order[0] as i64));
    }
    let b = Builder::before(context, op);
    for i in 0..operand_count(op) {
        let v = operand(op, i);
        if let Some(converted) = convert(&b, v, &layout, context)? {
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
