//! `tileaa-narrow-loads` loads single elements of a tile instead of the whole tile.
//!
//! ```text
//! %tile = tiled_load %view[%g, 0] -> tensor<1x8xi64>         %one = tiled_load %elements[%g, 2] -> tensor<1x1xi64>
//! %one = extract_slice %tile[0, 2] -> tensor<1x1xi64>   =>
//! ```
//!
//! Front ends pass lists of arrays as records in memory: address, extents, strides. A record is loaded as a tile and
//! its fields are extracted. The elements of a tile are held by single threads, whereas all threads can load a
//! scalar. With scalar loads, each agent loads the fields itself, and views of such arrays can use tensor maps.
//!
//! The pass rewrites a weak load if no op is ordered after it and its tile is only used to extract elements at
//! constant indices. Along each dimension where the tile has several elements, two more conditions hold:
//!
//! * The tile's index is constant, so the element's index is known and fits its type.
//! * The element is known to be inside the view, by a constant extent or an assumption of the program. A
//!   single-element tile inside the grid of tiles needs no bounds check, whereas an element of a larger tile may be
//!   past the end of the view.
//!
//! Functions without dots, and targets whose dots do not read copied tiles, do not change.

use crate::{
    analysis::access::View,
    dialect::{
        behaviour,
        fallback::Fallback,
        layouts::Tensor,
        nv_tileaa::{self, DotOp, ExtractSliceOp, MakeTiledViewOp, Ordering, TiledLoadOp, TiledViewType},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::target,
    },
    pass_descriptor,
};
use melior::Context;
use tile_mma::agent_unit;

#[derive(Clone, Default)]
pub struct NarrowLoads;

impl RustPass for NarrowLoads {
    pass_descriptor!(tileaa_narrow_loads);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_narrow_loads::{Options, stat};
        if agent_unit(target(op, Options(cx).compute_capability())?).is_none() {
            return Ok(());
        }
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let multiplies = !collect_ops(function.op(), DotOp::cast).is_empty();
            if !multiplies || !Fallback::within(function.op()).allows_agents() {
                continue;
            }
            for load in collect_ops(function.op(), TiledLoadOp::cast) {
                let Some(taken) = taken_out(load) else { continue };
                cx.stat_add(stat::NUM_NARROWED, taken.len() as i64);
                for (element, numbers) in taken {
                    let one = load_one(load, element, &numbers, context);
                    let one = one.map_err(|e| fail(load.op(), e.to_string()))?;
                    replace_all_uses(element.result(), one);
                    erase(element.op());
                }
                erase(load.op());
            }
        }
        Ok(())
    }
}

/// Returns the ops that extract elements of a loaded tile, each with its element index along the dimensions with
/// constant indices. Returns `None` if the tile has other uses.
fn taken_out(load: TiledLoadOp<'_>) -> Option<Vec<(ExtractSliceOp<'_>, Vec<Option<i64>>)>> {
    let view = View::of(load.view())?;
    let (tile, steps) = (view.ty.tile(), view.ty.steps());
    let promised = bool_list(load.in_bounds());
    let ordered = load.ordering() != Ordering::Weak || has_uses(load.result_token());
    if ordered || view.ty.sparse_dim().is_some() || tile.iter().all(|&extent| extent == 1) {
        return None;
    }
    let mut taken = vec![];
    for (user, _) in uses(load.result()) {
        let element = ExtractSliceOp::cast(user)?;
        if Tensor::of_value(element.result())?.elements() != 1 {
            return None;
        }
        let number = |(d, (index, inside)): (usize, (Val<'_>, Val<'_>))| {
            let inside = behaviour::int_constant(inside)?;
            // An out-of-range slice is undefined; do not load it.
            if !(0..tile[d]).contains(&inside) {
                return None;
            }
            if tile[d] == 1 {
                return Some(None);
            }
            let first = behaviour::int_constant(index).filter(|first| *first >= 0)?.checked_mul(steps[d])?;
            let number = first.checked_add(inside)?;
            let extent = view.extent(view.ty.dim_map()[d] as usize);
            let in_view = promised.get(d) == Some(&true) || extent.is_ok_and(|extent| number < extent);
            (in_view && i32::try_from(number).is_ok()).then_some(Some(number))
        };
        taken.push((element, load.indices().zip(element.indices()).enumerate().map(number).collect::<Option<_>>()?));
    }
    (!taken.is_empty()).then_some(taken)
}

/// Loads one extracted element, before the load of the whole tile.
fn load_one<'c>(
    load: TiledLoadOp<'c>,
    element: ExtractSliceOp<'c>,
    numbers: &[Option<i64>],
    context: &'c Context,
) -> Result<Val<'c>, BuildError> {
    let b = Builder::before(context, load.op());
    b.set_location(element.op().location());
    let not = || BuildError("the form of the tile's view is not supported".into());
    let old = TiledViewType::cast(ty(load.view())).ok_or_else(not)?;
    let memref = defining_op(load.view()).and_then(MakeTiledViewOp::cast).ok_or_else(not)?.memref();
    let ones = vec![1; numbers.len()];
    let steps: Vec<i64> =
        numbers.iter().zip(old.steps()).map(|(n, &step)| if n.is_some() { 1 } else { step }).collect();
    let location = load.op().location();
    let view = TiledViewType::get(location, &ones, old.memref(), old.dim_map(), &steps, old.padding(), None)
        .ok_or_else(not)?;
    let view = MakeTiledViewOp::build(&b, view.into(), memref)?.result();
    let indices: Vec<Val<'c>> = (numbers.iter().zip(load.indices()))
        .map(|(number, index)| match number {
            Some(number) => b.int_constant(ty(index), *number),
            None => index,
        })
        .collect();
    let one = TiledLoadOp::build(
        &b,
        ty(element.result()),
        ty(load.result_token()),
        view,
        &indices,
        load.token(),
        load.ordering(),
        load.scope(),
        load.hints(),
        load.in_bounds(),
    )?;
    Ok(one.result())
}
