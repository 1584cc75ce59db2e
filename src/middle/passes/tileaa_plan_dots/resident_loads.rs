//! Left operands that TMA loads before the loop around their dots, such as the queries of attention.

use super::{Found, PlannedOperand, check_order};
use crate::{
    analysis::{
        access::{View, places},
        facts::Facts,
        producers::{LoadedOperand, ResidentTile, Slice, accumulation, reads_mn_major},
        tensor_maps,
    },
    dialect::{
        attributes::STAGED,
        behaviour,
        hints::bool_hint,
        loops::is_in_loop,
        nv_tileaa::{MemTokenType, TiledLoadOp},
        nv_tileas::MemDescType,
        rt::*,
    },
};
use rustc_hash::FxHashSet;
use tile_mma::Unit;
use tile_targets::{Feature, Target};

/// A left operand that TMA loads before the loop around its dots, and its stage.
pub(super) struct ResidentLoad<'c> {
    load: OpRef<'c>,
    pub stage: MemDescType<'c>,
    /// Whether no dot that reads the tile is in flight after the loop around it, because the loop uses its result.
    is_free_after_dots: bool,
}

impl<'c> ResidentLoad<'c> {
    /// Returns the left operand of a dot if TMA can load it and the unit can read it.
    pub fn of(p: &Found<'c>, function: OpRef<'c>, (facts, unit, target): (&Facts, Unit, &Target)) -> Option<Self> {
        let PlannedOperand::Resident(v) = p.sides[0] else { return None };
        let tile = ResidentTile::of(v)?;
        let load = TiledLoadOp::cast(tile.load)?;
        let in_order = tile.dots.iter().all(|(dot, _)| check_order(load, *dot, function).is_ok());
        let allowed = load.hints().and_then(|h| bool_hint(h, target.name, "allow_tma")) != Some(false);
        let is_token = |v: Val<'c>| MemTokenType::cast(ty(v)).is_some();
        if !in_order || !allowed || Slice::of(function, &[load.op()], &|_| false, &is_token).is_err() {
            return None;
        }
        let view = View::of(load.view())?;
        let along_depth = tile.dots.iter().all(|(_, moved)| {
            let operand = LoadedOperand { moved: moved.clone(), ..tile.loaded() };
            operand.contiguous_dimension(&view) == Some(1)
        });
        let stage = tile.loaded().stage(&view, 1, unit).ok();
        let stage = stage.filter(|_| along_depth || transposes(unit, p.dot_loop.operand.bits(), target))?;
        let indices: Vec<Val<'c>> = load.indices().collect();
        let copy = tensor_maps::plan_copy(&view, &indices, &places(load.op()), stage, facts).ok()?;
        let is_free_after_dots = tile.dots.iter().all(|(dot, _)| accumulation(*dot).is_none());
        copy.unproved.is_empty().then_some(Self { load: load.op(), stage, is_free_after_dots })
    }

    /// Lets the producer load the tile.
    pub fn mark(&self) {
        STAGED.mark(self.load);
    }
}

/// Lets the producer load all left operands of dots of `tcgen05.mma` that it can. With `mma.sync` this depends on the
/// plan. With `wgmma`, consumers store them to shared memory, unless a loop over tiles repeats the load: then the tile
/// of the next iteration arrives while consumers still store results.
pub(super) fn mark_all<'c>(found: &[Found<'c>], function: OpRef<'c>, unit: (&Facts, Unit, &Target)) {
    let all = found.iter().filter_map(|p| ResidentLoad::of(p, function, unit));
    let gains = |load: &ResidentLoad<'c>| match unit.1 {
        Unit::Tensor => true,
        Unit::Warpgroup => is_in_loop(load.load) && load.is_free_after_dots,
        _ => false,
    };
    all.filter(|load| gains(load) && is_of_arguments(operand(load.load, 0))).for_each(|load| load.mark());
}

/// Whether a view follows from the arguments of the kernel. The map of another view may have to be built, which takes
/// longer than the only load through it gains.
fn is_of_arguments(view: Val<'_>) -> bool {
    let (mut work, mut seen) = (vec![view], FxHashSet::default());
    while let Some(v) = work.pop() {
        let Some(op) = defining_op(v) else { continue };
        if !behaviour::is_pure(op) {
            return false;
        }
        work.extend(operands(op).filter(|v| seen.insert(key(*v))));
    }
    true
}

/// Whether a unit reads elements of `bits` bits that are not contiguous along K.
fn transposes(unit: Unit, bits: u32, target: &Target) -> bool {
    reads_mn_major(unit, bits) && (unit != Unit::Sync || bits != 8 || target.has(Feature::MatrixB8))
}
