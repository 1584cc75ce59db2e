//! Chooses tiles that consumers read next to the operands of a dot, such as a bias or the scales of a block: TMA loads
//! them to rings of their own. Otherwise each iteration would take the latency of their loads.
//!
//! Such a tile is loaded in the block of a dot and in a loop, no other access is ordered after its load, the producer
//! can compute its address, and TMA can load it without a test.
//!
//! A tile that takes a few registers is loaded an iteration ahead instead (`tileas-prefetch-tiles`): the wait for a
//! stage costs more than that.

use super::{Found, Loads, check_load, kernel::MOST_GROUPS, room::HIDING_STAGES};
use crate::{
    analysis::{
        access::{View, places},
        facts::Facts,
        producers::{ResidentTile, Slice},
        staged_tiles,
        tensor_map_ops::is_inside,
        tensor_maps,
    },
    dialect::{
        attributes::OWN_STAGES,
        dot_plan::{DotPlan, WARPGROUP},
        hints::bool_hint,
        layouts::{memory_bits, storage_bits},
        loops::is_in_loop,
        nv_tileaa::{MemTokenType, TiledLoadOp},
        remark::{self, Better},
        rt::*,
        shared_memory::{ALIGNMENT, padded_bytes},
    },
};
use tile_plan::MAX_STAGES;
use tile_targets::Target;

/// The stages of a tile. Consumers release a stage as soon as they have read it.
const STAGES: u32 = 2;
/// The registers of a thread for which a load ahead is as good.
const FEW_REGISTERS: u32 = 8;
/// The rows of a tile for which a warpgroup is a consumer.
const ROWS: u32 = 64;

/// A tile of consumers that TMA loads.
struct StagedTile<'c> {
    load: OpRef<'c>,
    stages: u32,
    /// The bytes of a stage.
    bytes: u32,
}

/// All tiles of consumers that TMA loads.
pub(super) struct StagedTiles<'c>(Vec<StagedTile<'c>>);

impl<'c> StagedTiles<'c> {
    pub fn none() -> Self {
        Self(vec![])
    }

    /// The tiles of a function whose dots have these operands.
    pub fn of(
        function: OpRef<'c>,
        (found, operands): (&[Found<'c>], &Loads<'c>),
        (facts, target): (&Facts, &Target),
    ) -> Self {
        let of_operands = [&*operands.loads, &operands.computed, &operands.producer_ops].concat();
        let is_token = |v: Val<'c>| MemTokenType::cast(ty(v)).is_some();
        let Ok(of_producer) = Slice::of(function, &of_operands, &|_| false, &is_token) else { return Self::none() };
        let tile = |load: TiledLoadOp<'c>| {
            let p = found.iter().find(|p| block_of(p.op) == block_of(load.op()))?;
            if !is_in_loop(load.op()) || ResidentTile::of_load(load.op()).is_some() {
                return None;
            }
            let is_operand = operands.streamed.contains(&load.op());
            let repeats = Slice::of(function, &[load.op()], &|_| false, &is_token).map(|_| ()).map_err(|(_, why)| why);
            match repeats.and_then(|()| stage(load, (p, is_operand), function, (facts, target))) {
                Ok(bytes) => {
                    let stages = if is_operand { (operands.streams / bytes).clamp(STAGES, MAX_STAGES) } else { STAGES };
                    Some(StagedTile { load: load.op(), stages, bytes })
                }
                Err(reason) => {
                    remark::against(load.op(), Better::Tma, reason);
                    None
                }
            }
        };
        let loads = collect_ops(function, TiledLoadOp::cast).into_iter();
        Self(loads.filter(|load| !of_producer.contains(load.op())).filter_map(tile).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The shared memory of all stages and their barriers.
    pub fn bytes(&self) -> u32 {
        self.0.iter().map(|tile| tile.stages * (tile.bytes + BARRIERS)).sum()
    }

    /// Records that the stages of the operands need the room.
    pub fn give_up(&self) {
        let reason = "beside two stages of it, the rings of operands would be too short";
        self.0.iter().for_each(|tile| remark::against(tile.load, Better::Tma, reason));
    }

    /// Marks the loads for `tileas-materialize-async`.
    pub fn mark(&self) {
        self.0.iter().for_each(|tile| OWN_STAGES.set(tile.load, tile.stages.into()));
    }

    /// Takes the marks away again.
    pub fn unmark(&self) {
        self.0.iter().for_each(|tile| _ = OWN_STAGES.take(tile.load));
    }
}

/// The bytes of the barriers of a stage.
const BARRIERS: u32 = 16;

/// The bytes of a stage of the tile of `load`, which is loaded next to a dot.
///
/// `is_operand` says that consumers compute a left operand from it.
///
/// Errors: the reason why it has no ring.
fn stage<'c>(
    load: TiledLoadOp<'c>,
    (p, is_operand): (&Found<'c>, bool),
    function: OpRef<'c>,
    (facts, target): (&Facts, &Target),
) -> Result<u32, String> {
    let not = |reason: &str| Err(reason.to_string());
    if load.hints().and_then(|h| bool_hint(h, target.name, "allow_tma")) == Some(false) {
        return not("the hint allow_tma forbids TMA");
    }
    check_load(load, p.op, function).map_err(|(_, reason)| reason)?;
    let view = View::of(load.view()).ok_or("its view is not created in this function")?;
    let element = view.memref.element_type();
    if is_inside(view.make.op()) || memory_bits(element) != storage_bits(element) {
        return not("it is not an operand that a product reads from a ring");
    }
    let stage = staged_tiles::stage(load.op(), &view)?;
    let bytes = padded_bytes(stage).next_multiple_of(ALIGNMENT as u64) as u32;
    let threads = (p.dot_loop.m / ROWS).clamp(1, MOST_GROUPS) * WARPGROUP * 32;
    if !is_operand && bytes <= FEW_REGISTERS * 4 * threads {
        return not("it takes few registers, into which threads load it an iteration ahead");
    }
    let indices: Vec<Val<'c>> = load.indices().collect();
    let copy = tensor_maps::plan_copy(&view, &indices, &places(load.op()), stage, facts)?;
    if copy.unproved.is_empty() { Ok(bytes) } else { Err(copy.unproved.join(", and ")) }
}

/// Whether a plan leaves room for tiles of consumers without more than a shorter ring.
pub(super) fn keeps_up(plan: &DotPlan, without: &DotPlan) -> bool {
    // Of dots that depend on each other, only stores are divided.
    let slices = |p: &DotPlan| if p.whole_rows { 1 } else { p.slices };
    let alike =
        |p: &DotPlan| (p.unit, p.groups, p.columns, p.launch_registers, p.accumulators, slices(p), p.issue_ahead);
    alike(plan) == alike(without) && plan.stages >= without.stages.min(HIDING_STAGES)
}
