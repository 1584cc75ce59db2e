//! Conversion of a tile from one distributed layout to another.
//!
//! The choices, from the cheapest: nothing, a renumbering of registers (free, because registers are SSA values),
//! shuffles inside warps, and a round trip through shared memory. Linear algebra on the bases decides which one
//! applies, without enumerating the tile.

use crate::error::Result;
use crate::layout::{Input, Layout};
use crate::map::LinearMap;
use crate::shape::Shape;
use crate::shuffle::ShufflePlan;
use crate::swizzle::{SharedOptions, SharedPlan, plan_shared};

/// How to convert a tile.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// The layouts are the same map. Register `i` stays register `i`.
    Identity,
    /// Register `d` of the result is register `source[d]` of the same thread, in all threads.
    RegisterPermute {
        source: Vec<u32>,
    },
    WarpShuffle(Box<ShufflePlan>),
    SharedMemory(Box<SharedPlan>),
}

/// The instructions that the target allows, and the limits up to which shuffles are preferred to shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConvertOptions {
    pub shared: SharedOptions,
    /// The most selects per shuffled or copied element for which shuffles are used.
    pub max_selects_per_element: u32,
    /// The most shuffle instructions in all for which shuffles are used. The default is 64: beyond that, a round trip
    /// through shared memory with wide vectors is shorter even with its barrier.
    pub max_shuffles: u32,
}

impl ConvertOptions {
    /// The defaults for elements of `elem_bits`: no matrix instructions and a buffer of any size.
    pub fn new(elem_bits: u32) -> Self {
        Self { shared: SharedOptions::new(elem_bits), max_selects_per_element: 4, max_shuffles: 64 }
    }
}

/// Returns, for each register of `dst`, the register of `src` in the same thread that holds its element. Returns
/// `None` if a thread lacks an element, or if the register depends on the thread. A thread of another block counts as
/// another thread.
pub fn register_permutation(src: &Layout, dst: &Layout) -> Option<Vec<u32>> {
    let registers = register_map(src, dst)?;
    Some((0..u64::from(dst.registers())).map(|d| registers.apply(d) as u32).collect())
}

/// Like [`register_permutation`], as a map, for tiles with too many registers to list.
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

/// Returns the cheapest conversion of a tile of `shape` from `src` to `dst`. Both layouts may hold replicas. `src`
/// must hold every element in the block where `dst` needs it.
///
/// Errors: as in [`plan_shared`].
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
