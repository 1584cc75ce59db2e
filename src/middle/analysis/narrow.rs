//! Explains why a global memory access moves less than 16 bytes at a time, and how the user can change that.

use super::{
    access::{View, fast_dimension},
    facts::{Facts, TOP, pointee_bytes},
};
use crate::dialect::{
    layouts::{Tensor, storage_bits},
    nv_tileas::AnyOp,
    rt::*,
};
use tile_interface::Advice;

/// The widest access in bytes.
const WIDE: u64 = 16;

/// A reason and advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrow {
    pub reason: String,
    pub advice: Advice,
}

fn narrow(reason: impl Into<String>, advice: Advice) -> Option<Narrow> {
    Some(Narrow { reason: reason.into(), advice })
}

/// Returns the reason why `op` cannot move 16 bytes at a time. Returns `None` if it can, if its tile does not have 16
/// contiguous bytes, or if it does not access a tensor.
pub fn why<'c>(op: OpRef<'c>, facts: &Facts) -> Option<Narrow> {
    match AnyOp::cast(op)? {
        AnyOp::TiledLoadOp(x) => tiled(facts, &View::of(x.view())?, &x.indices().collect::<Vec<_>>()),
        AnyOp::TiledStoreOp(x) => tiled(facts, &View::of(x.view())?, &x.indices().collect::<Vec<_>>()),
        AnyOp::LoadOp(x) => pointers(facts, x.ptr(), x.mask()),
        AnyOp::StoreOp(x) => pointers(facts, x.ptr(), x.mask()),
        _ => None,
    }
}

fn tiled<'c>(facts: &Facts, view: &View<'c>, indices: &[Val<'c>]) -> Option<Narrow> {
    let bytes = u64::from(storage_bits(view.memref.element_type()) / 8);
    let (tile, dim_map, steps) = (view.ty.tile(), view.ty.dim_map(), view.ty.steps());
    let fast = fast_dimension(view);
    if view.ty.sparse_dim() == Some(fast as i64) {
        return narrow("rows of single elements are gathered", Advice::GatherRows);
    }
    if view.stride(*dim_map.get(fast)? as usize) != Ok(1) {
        return narrow("no dimension of the view is known to be contiguous", Advice::ContiguousDimension);
    }
    let wide = WIDE.min(tile[fast] as u64 * bytes);
    let base = facts.get(view.make.base()).scalar_divisor();
    if base < wide {
        let reason = format!("the view's base is only known to be a multiple of {}", plural(base, "byte"));
        return narrow(reason, Advice::AlignBase);
    }
    for d in 0..tile.len() {
        let unit = view.stride_divisor(dim_map[d] as usize, facts);
        let index = indices.get(d).map_or(1, |&i| facts.get(i).scalar_divisor());
        let start = index.saturating_mul(1 << steps[d].trailing_zeros().min(62)).min(TOP);
        let row = if d == fast || tile[d] == 1 { start } else { 1 };
        let aligned = unit.saturating_mul(bytes).saturating_mul(row).min(TOP);
        if aligned >= wide {
            continue;
        }
        if d == fast {
            let reason = format!("tiles are only known to start at multiples of {}", plural(aligned, "byte"));
            return narrow(reason, Advice::WiderTiles);
        }
        let stride = plural(unit.saturating_mul(bytes), "byte");
        let reason = format!("the stride of dimension {} is only known to be a multiple of {stride}", dim_map[d]);
        return narrow(reason, Advice::DivideStride);
    }
    None
}

fn pointers<'c>(facts: &Facts, ptr: Val<'c>, mask: Option<Val<'c>>) -> Option<Narrow> {
    let tensor = Tensor::of_value(ptr)?;
    let bytes = u64::from(pointee_bytes(ptr));
    let fact = facts.get(ptr);
    let fast = (0..tensor.shape.len()).max_by_key(|&d| (fact.contiguity[d], d))?;
    let wide = (WIDE / bytes).max(1).min(tensor.shape[fast] as u64);
    if fact.contiguity[fast] < wide {
        let run = plural(fact.contiguity[fast], "element");
        let reason = format!("pointers are only known to be adjacent in runs of {run}");
        return narrow(reason, Advice::OffsetsFromIota);
    }
    if fact.divisor[fast] < wide * bytes {
        let reason = format!("addresses are only known to be multiples of {}", plural(fact.divisor[fast], "byte"));
        return narrow(reason, Advice::AlignPointer);
    }
    let steady = mask.map_or(u64::MAX, |m| facts.get(m).constancy[fast]);
    if steady < wide {
        return narrow("the mask may change between adjacent elements", Advice::DivideMask);
    }
    None
}

fn plural(n: u64, unit: &str) -> String {
    if n == 1 { format!("1 {unit}") } else { format!("{n} {unit}s") }
}
