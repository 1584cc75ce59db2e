//! Chooses the number of warps of a CTA.
//!
//! The entry's hint `num_worker_warps_per_cta` has priority, then the pass option, then the largest tile. A thread
//! should hold few enough elements that several CTAs share an SM, and should have two or more wide accesses in
//! flight. Sixteen elements per thread are 32 to 64 bytes of the usual types. For example, a row of 4096 elements
//! gets 8 warps. With 4 warps, a thread would hold 32 elements of each live value, and register pressure would halve
//! the number of CTAs that hide memory latency. Beyond 16 warps, barriers become too expensive. Kernels with dots
//! follow separate rules ([`crate::analysis::dot_warps`]), and kernels with a dot plan use the plan's number.

use crate::{
    analysis::dot_warps::for_products,
    dialect::{
        dot_plan::DotPlan,
        hints::int_hint,
        layouts::{Tensor, storage_bits},
        nv_tileaa::{AnyOp, ExternCallOp, FuncOp},
        rt::*,
    },
};
use tile_targets::Target;

const USUAL: i64 = 4;
const MOST: i64 = 16;
const ELEMENTS_PER_THREAD: i64 = 16;

/// Whether a CTA can have this number of warps.
pub fn valid(warps: i64) -> bool {
    matches!(warps, 1 | 2 | 4 | 8 | 16 | 32)
}

/// Returns the number of warps for `function` on the named target. `option` is the pipeline's request, or zero.
pub fn choose(function: FuncOp<'_>, target: &str, option: i64) -> i64 {
    let hint = function.hints().and_then(|h| int_hint(h, target, "num_worker_warps_per_cta", valid));
    let option = (option != 0).then_some(option);
    let planned = DotPlan::of(function.op()).map(|p| p.consumer_warps().into());
    function
        .num_warps()
        .or(planned)
        .or(hint)
        .or_else(|| calls_library(function.op()).then_some(USUAL))
        .or(option)
        .unwrap_or_else(|| by_tiles(function.op(), Target::by_name(target)))
}

/// Whether the function calls functions of libraries, which were chosen for the usual number of threads.
fn calls_library(function: OpRef<'_>) -> bool {
    !collect_ops(function, ExternCallOp::cast).is_empty()
}

/// Returns the number of warps for the largest tile that is moved or combined.
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
        // Tiles that are far too large for registers are sliced, and the slices are small for any number of warps.
        enough(function, for_products(function, target, USUAL), &[(32, 1024)])
    } else {
        enough(function, (largest / (32 * ELEMENTS_PER_THREAD)).clamp(USUAL, MOST), &[(16, 128), (32, 4096)])
    }
}

/// Returns at least `least` warps, and more if a thread would hold too much of a tile. Each limit is a maximum number
/// of warps and the number of words per thread above which the number of warps doubles. Above 128 words registers run
/// out; above several thousand, so does the local memory that replaces them.
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
