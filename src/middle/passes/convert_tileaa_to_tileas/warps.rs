//! How many warps a tile block gets.
//!
//! The entry's hint `num_worker_warps_per_cta` decides, then the pass option, then the largest tile: a thread should
//! hold few enough elements that several blocks share a multiprocessor, and have two or more wide accesses under way.
//! Sixteen elements a thread are 32 to 64 bytes of the usual types. A row of 4096 therefore goes to 8 warps: with 4, a
//! thread would hold 32 elements of each value that is alive, and only half the registers' worth of blocks would hide
//! the latency of memory. More than 16 warps wait for each other too long at barriers. Kernels with matrix products
//! have rules of their own ([`crate::analysis::dot_warps`]), and those with a plan have the warps that it says.

use crate::{
    analysis::dot_warps::for_products,
    dialect::{
        dot_plan::DotPlan,
        hints::int_hint,
        layouts::{Tensor, storage_bits},
        nv_tileaa::{AnyOp, FuncOp},
        rt::*,
    },
};
use tile_targets::Target;

const USUAL: i64 = 4;
const MOST: i64 = 16;
const ELEMENTS_PER_THREAD: i64 = 16;

/// Whether a block can have this many warps.
pub fn valid(warps: i64) -> bool {
    matches!(warps, 1 | 2 | 4 | 8 | 16 | 32)
}

/// Warps of `function` on the target of this name; `option` is what the pipeline asks for, zero for nothing.
pub fn choose(function: FuncOp<'_>, target: &str, option: i64) -> i64 {
    let hint = function.hints().and_then(|h| int_hint(h, target, "num_worker_warps_per_cta", valid));
    let option = (option != 0).then_some(option);
    let planned = DotPlan::of(function.op()).map(|p| p.consumer_warps().into());
    function
        .num_warps()
        .or(planned)
        .or(hint)
        .or(option)
        .unwrap_or_else(|| by_tiles(function.op(), Target::by_name(target)))
}

/// What the largest tile that is moved or combined asks for.
fn by_tiles(function: OpRef<'_>, target: Option<&Target>) -> i64 {
    let (mut largest, mut product) = (1, false);
    walk(function, &mut |op| match AnyOp::cast(op) {
        Some(AnyOp::DotOp(_) | AnyOp::DotScaledOp(_)) => product = true,
        Some(
            AnyOp::TiledLoadOp(_)
            | AnyOp::TiledStoreOp(_)
            | AnyOp::LoadOp(_)
            | AnyOp::StoreOp(_)
            | AnyOp::MultimemLoadReduceOp(_)
            | AnyOp::MultimemReduceOp(_)
            | AnyOp::MultimemStoreOp(_)
            | AnyOp::ReduceOp(_)
            | AnyOp::ScanOp(_),
        ) => {
            let tensors = operands(op).chain(results(op)).filter_map(Tensor::of_value);
            largest = tensors.map(|t| t.elements()).fold(largest, i64::max);
        }
        _ => {}
    });
    if product {
        // What is far too large for registers is taken apart; its slices are small for any number of warps.
        enough(function, for_products(function, target, USUAL), &[(32, 1024)])
    } else {
        enough(function, (largest / (32 * ELEMENTS_PER_THREAD)).clamp(USUAL, MOST), &[(16, 128), (32, 4096)])
    }
}

/// At least `least` warps, and more when a thread would hold too much of a tile: up to so many warps where that is more
/// than so many words. From 128 words on registers run out, and from some thousands on the local memory that takes
/// their place.
fn enough(function: OpRef<'_>, least: i64, limits: &[(i64, i64)]) -> i64 {
    let mut words = 0;
    walk(function, &mut |op| {
        for t in results(op).filter_map(Tensor::of_value) {
            words = words.max(t.elements() * i64::from(storage_bits(t.element)).max(32) / 32);
        }
    });
    let mut warps = least;
    for &(most, limit) in limits {
        while warps < most && words / (32 * warps) > limit {
            warps *= 2;
        }
    }
    warps
}
