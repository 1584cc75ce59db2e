//! Converting a tile from one distributed layout to another, by the cheapest means.
//!
//! In order of cost: nothing at all, a renumbering of registers (free: registers are SSA values), shuffles inside
//! warps, and a round trip through shared memory. The classes are decided by linear algebra on the bases, without
//! enumerating the tile.

use crate::error::Result;
use crate::layout::{Input, Layout};
use crate::map::LinearMap;
use crate::shape::Shape;
use crate::shuffle::ShufflePlan;
use crate::swizzle::{SharedOptions, SharedPlan, plan_shared};

/// How to convert a tile.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// The layouts are the same map: register `i` stays register `i`.
    Identity,
    /// Register `d` of the result is register `source[d]` of the same thread, in all threads.
    RegisterPermute {
        source: Vec<u32>,
    },
    WarpShuffle(Box<ShufflePlan>),
    SharedMemory(Box<SharedPlan>),
}

/// What the target allows, and when shuffles are preferred to shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConvertOptions {
    pub shared: SharedOptions,
    /// Shuffles are taken when they need at most this many selects per shuffled or copied element ...
    pub max_selects_per_element: u32,
    /// ... and at most this many shuffle instructions in all. The default admits up to 64: beyond that a trip through
    /// shared memory with wide vectors is shorter even with its barrier.
    pub max_shuffles: u32,
}

impl ConvertOptions {
    /// The defaults for elements of `elem_bits`: no matrix instructions, unlimited buffer.
    pub fn new(elem_bits: u32) -> Self {
        Self { shared: SharedOptions::new(elem_bits), max_selects_per_element: 4, max_shuffles: 64 }
    }
}

/// The register of `src` that holds what each register of `dst` wants, when every thread has all its elements already
/// and in registers that do not depend on the thread. Blocks count as threads.
pub fn register_permutation(src: &Layout, dst: &Layout) -> Option<Vec<u32>> {
    let registers = register_map(src, dst)?;
    Some((0..u64::from(dst.registers())).map(|d| registers.apply(d) as u32).collect())
}

/// [`register_permutation`] as a map, for tiles with too many registers to list.
pub fn register_map(src: &Layout, dst: &Layout) -> Option<LinearMap> {
    let at = |layout: &Layout, input, i: usize| layout.bases(input).get(i).copied().unwrap_or(0);
    let same = |input| {
        let bits = src.bases(input).len().max(dst.bases(input).len());
        (0..bits).all(|i| at(src, input, i) == at(dst, input, i))
    };
    if ![Input::Lane, Input::Warp, Input::Block].into_iter().all(same) {
        return None;
    }
    let from = LinearMap::new(src.register().to_vec(), 64).ok()?;
    let to = LinearMap::new(dst.register().to_vec(), 64).ok()?;
    from.solve_map(&to)
}

/// The cheapest conversion of a tile of `shape` from `src` to `dst`. Both layouts may hold replicas; `src` must reach
/// every element that `dst` wants in the same block.
///
/// Errors: those of [`plan_shared`].
pub fn convert(src: &Layout, dst: &Layout, shape: &Shape, options: &ConvertOptions) -> Result<Conversion> {
    src.to_map(shape)?;
    dst.to_map(shape)?;
    if src == dst {
        return Ok(Conversion::Identity);
    }
    if let Some(source) = register_permutation(src, dst) {
        return Ok(Conversion::RegisterPermute { source });
    }
    if let Some(plan) = ShufflePlan::new(src, dst, options.shared.elem_bits) {
        let selects = options.max_selects_per_element.saturating_mul(src.registers().max(dst.registers()));
        if plan.shuffles() <= options.max_shuffles && plan.selects() <= selects {
            return Ok(Conversion::WarpShuffle(Box::new(plan)));
        }
    }
    plan_shared(src, dst, shape, &options.shared).map(|plan| Conversion::SharedMemory(Box::new(plan)))
}
