//! `tileaa-narrow-loads`: elements that are taken out of a loaded tile one by one are loaded one by one.
//!
//! ```text
//! %tile = tiled_load %view[%g, 0] -> tensor<1x8xi64>         %one = tiled_load %elements[%g, 2] -> tensor<1x1xi64>
//! %one = extract_slice %tile[0, 2] -> tensor<1x1xi64>   =>
//! ```
//!
//! Front ends hand over lists of arrays as records in memory: address, extents, strides. A record comes as a tile, out
//! of which each field is taken. All threads can load a field, while elements of a tile are in single ones; so agents
//! can do it each for itself, and views of such arrays are copied by tensor maps.
//!
//! A weak load changes if nothing is ordered behind it and all that is done with its tile is to take out elements by
//! constant numbers. Where the tile has more than one element along a dimension, its own number there must be constant
//! too: the numbers of elements are then, and none is too large for its type. And there the element must be known to
//! lie in the view, by a constant extent or a promise of the program: no test is made for a tile of one element, which
//! lies inside as its number does, while an element of a larger tile may be behind the end of the view.
//!
//! Functions without products, and targets whose products take no copies, stay as they are.

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
use melior::{Context, ir::attribute::IntegerAttribute};
use tile_mma::{Unit, has_unit};

#[derive(Clone, Default)]
pub struct NarrowLoads;

impl RustPass for NarrowLoads {
    pass_descriptor!(tileaa_narrow_loads);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_narrow_loads::{Options, stat};
        if !has_unit(Unit::Warpgroup, target(op, Options(cx).compute_capability())?) {
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

/// The ops that take elements out of a loaded tile, each with the element's number along the dimensions whose numbers
/// are constant; none if the tile is needed otherwise.
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
            // A slice that is not there may be anything, and is not read.
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

/// Loads what is taken out, in front of the load of the whole tile.
fn load_one<'c>(
    load: TiledLoadOp<'c>,
    element: ExtractSliceOp<'c>,
    numbers: &[Option<i64>],
    context: &'c Context,
) -> Result<Val<'c>, BuildError> {
    let b = Builder::before(context, load.op());
    b.set_location(element.op().location());
    let not = || BuildError("the view of a tile is not of a form that is known".into());
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
            Some(number) => {
                let value = IntegerAttribute::new(ty(index), *number);
                b.value("arith.constant", ty(index), &[], &[("value", value.into())])
            }
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
