//! `tileas-materialize-async`: replaces `wgmma` dots and the loads of their operands by asynchronous ops.
//!
//! In a function with a plan (`dialect::dot_plan`),
//!
//! ```text
//! for i iter_args(c) { a = tiled_load ..; b = tiled_load ..; yield dot a, b, c }
//! ```
//!
//! becomes, with a ring of S stages for each operand and a pipeline of their barriers,
//!
//! ```text
//! for i iter_args(c, it, last, started) {
//!   elect { acquire [it]; copy a into ring[it]; copy b into ring[it] }
//!   wait [it]
//!   c = async.dot ring[it], ring[it], c
//!   dot_wait pending 1                     the dot of the previous iteration is complete
//!   if started: release [last]             its stage may be filled again
//!   yield c, next it, it, true
//! }
//! c = dot_wait c pending 0; if started: release [last]
//! ```
//!
//! The result is a sequential program: an iteration fills the stage that its dot reads. With two stages or more it
//! never waits for itself. `tileas-specialize-agents` later moves the `elect` and `produce_one` regions to other
//! warps. All loops and branches around a dot carry the iterator of its pipeline, so a ring continues from one tile to
//! the next.
//!
//! **Waits.** A dot is in flight for as long as its accumulator allows:
//!
//! * If the next iteration only adds to the accumulator, the dot is awaited after the next dot has been issued, as
//!   above.
//! * If the next iteration changes the accumulator before it adds to it, the dot is awaited at that change, together
//!   with the first other dot that is awaited anyway. The second dot of attention is in flight while the next scores
//!   are computed.
//! * If the result is used in the same iteration, or the dot is not in a loop, the dot is awaited at the first use, or
//!   earlier if the ring needs its stage before. The stage is released after the wait.
//! * 8-bit floats that must be accumulated exactly use `promoted_dot`, which is awaited in place. It adds the partial
//!   results of the tensor cores, over a few elements of K, to an accumulator that the tensor cores do not touch.
//!
//! **Rings.** Dots with the same kind of stages share a ring. Dots that read the same tile share a stage, which holds
//! the tile once, next to their other tiles. Such dots are issued back to back, and all are awaited before the stage
//! is released; in a loop, each of them must be a pure accumulation. A ring has the number of stages that the plan
//! gives, or, if the loops of all its dots are scheduled, the maximum of the schedules. Stages have the layout of
//! `tile_layout::HardwareLayout::panels`.
//!
//! **Conversion.** If an operand is computed element by element from the loaded tile, or must be transposed, threads
//! convert the stage between the wait and the dot (`convert_stage`), while the previous dot is in flight. If the plan
//! has a *converter* warpgroup, its warps do so, and the consumers wait for them:
//!
//! ```text
//!   elect { acquire [it]; copy a into ring[it] .. }
//!   produce_one of converter { wait [it]; convert ring[it]; commit [it] at converted }
//!   wait [it] at converted;  c = async.dot ..
//! ```
//!
//! **Producer-computed operands.** Warps of the producer store the operand to its stage (`produce_one`). They announce
//! no bytes; each warp arrives when it has stored its part:
//!
//! ```text
//!   produce_one { elect { acquire [it]; copy b .. };  a = ..;  acquire [it];  local_store a, ring[it];  commit [it] }
//! ```
//!
//! A tile that is only loaded goes to its stage by `cp.async`, if that can copy it. Each thread arrives when its
//! copies complete, so all stages of the ring can be in flight:
//!
//! ```text
//!   produce_one { pointers = ..;  acquire [it];  copy pointers into ring[it];  commit [it] copies }
//!   wait [it]; fence
//! ```
//!
//! If only the alignment or strides of a view prevent a TMA load (`or_copy`), the program contains both versions. One
//! test at the top of the function covers all such views. Both versions make the same number of arrivals:
//!
//! ```text
//!   if ready { produce_one { elect { acquire [it] bytes; copy b into ring[it] }  acquire [it]; commit [it] } }
//!   else     { produce_one { elect { acquire [it] bytes 0 }  b = ..;  acquire [it]; local_store b; commit [it] } }
//! ```
//!
//! **Tensor memory.** With `tcgen05.mma`, the accumulators of a loop are in tensor memory (`accumulators`). A thread of
//! the agent `matrix` waits for a stage, issues the dot, and continues; the completion of the dot releases the stage:
//!
//! ```text
//!   elect { acquire [it]; copy a into ring[it] .. }
//!   elect of matrix { wait [it];  async.dot .. into acc;  release [it] dots }
//! ```
//!
//! With `tensor_pair`, two CTAs run each dot together (`pairs`). The thread of the agent `matrix` is in the first one,
//! the leader, whose barriers count the arrivals of both.
//! Left operands that consumers compute go to tensor memory too, and resident operands have pipelines
//! (`left_operands`). A converter computes left operands from tiles in stages (`computed_left`). Scale factors pass
//! through shared memory on their way there (`scale_factors`).
//!
//! **Tile blocks.** If CTAs take over tile blocks of the grid, their coordinates come through a pipeline of their own
//! (`tile_blocks`).
//!
//! **Fragments.** With `mma.sync`, each warp of the consumers reads the fragments of its part of a dot from the stage,
//! and releases the stage after the dot:
//!
//! ```text
//!   elect { acquire [it]; copy a into ring[it] .. }
//!   wait [it];  x = local_load ring[it];  y = local_load ring[it];  c = dot x, y, c;  release [it]
//! ```
//!
//! A left operand that is loaded before the loop passes through a stage too, and then stays in registers.
//!
//! **Other operands.** A resident operand is stored to shared memory after its definition. An operand that is computed
//! in fragments of the instruction is read from registers, and so are all others of `mma.sync`.
//!
//! **Tensor maps** are created at the top of the function. The map of a view that a loop or branch creates is created
//! before the loop of its copies.
//!
//! Assumptions: `tileas-assign-dot-layouts` has chosen the instructions of the dots, tensors have layouts, and the
//! conditions of `tileaa-plan-dots` still hold. A violation is an error, not a fallback.

mod accumulators;
mod addresses;
mod computed_left;
mod convert_stage;
mod flight;
mod left_operands;
mod pairs;
mod readiness;
mod resident_loads;
mod scale_factors;
mod staged_tiles;
mod stream;
mod tile_blocks;
mod top;

use crate::{
    analysis::{
        access::View,
        bulk_copies::BulkOperand,
        converted_scales::ConvertedScales,
        facts::Facts,
        operand_stages::{computed_stage, converted_stage_of},
        producers::{LoadedOperand, ResidentTile, Source, bring_together, groups_by_tiles, skip_conversions},
        schedule::agents::stages_of,
        tensor_map_ops::TensorMaps,
        tensor_maps,
        thread_copies::PlainLoad,
        tile_programs::{is_unordered_load, may_leave_loops},
    },
    dialect::{
        attributes::STAGED,
        dot_plan::{CONVERTER, DotPlan},
        dots::{AnyDot, LHS, LHS_SCALE, RHS, RHS_SCALE, element_of, promotes},
        layouts::Tensor,
        nv_tileaa,
        nv_tileas::{
            BarrierOp, ConvertLayoutOp, MemDescPermuteOp, MemDescType, MemDescViewOp, PermuteOp, PipelineIteratorType,
            ProduceOneOp, SharedLayoutAttr, TiledLoadOp, TmaDescType,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        shared_memory::{reshaped_storage, scale_types},
    },
    pass_descriptor,
};
use accumulators::Accumulators;
use computed_left::ComputedLeft;
use left_operands::LeftOperands;
use melior::{Context, ir::Type};
use stream::{Placed, Stream};
use tile_blocks::TileBlocks;
use tile_mma::Unit;
use tile_plan::PROMOTION;
use top::Residents;

#[derive(Clone, Default)]
pub struct MaterializeAsync;

impl RustPass for MaterializeAsync {
    pass_descriptor!(tileas_materialize_async);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_materialize_async::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let Some(plan) = DotPlan::of(function.op()) else { continue };
            let dots = collect_ops(function.op(), |o| {
                let by = AnyDot::cast(o)?.instruction()?;
                AnyDot::cast(o).filter(|_| plan.has_instruction(by.kind))
            });
            if dots.is_empty() {
                continue;
            }
            cx.stat_add(stat::NUM_DOTS, dots.len() as i64);
            let entry = entry_block(function.body()).ok_or_else(|| fail(op, "function has no body"))?;
            let first = ops_of(entry).next().ok_or_else(|| fail(op, "function has no terminator"))?;
            let top = Builder::before(context, first);
            top.set_location(function.op().location());
            // Storage and pipelines come first, followed by a barrier.
            let mut facts = Facts::of(function.op());
            if plan.is_pair() {
                pairs::halve(&dots, &facts, context)?;
                facts = Facts::of(function.op());
            }
            let unit = plan.dot_unit();
            let mut residents = Residents::default();
            let tiles: Vec<Vec<usize>> = dots.iter().map(|dot| tiles_of(*dot)).collect();
            let mut groups: Vec<DotGroup<'c>> = vec![];
            for group in groups_by_tiles(&tiles) {
                groups.push(DotGroup::of(group.into_iter().map(|i| dots[i]).collect(), (&facts, unit))?);
            }
            if plan.reads_fragments() {
                groups.extend(collect_ops(function.op(), |o| DotGroup::of_resident(o, &facts)));
            }
            let ready = readiness::test(context, entry, &mut groups)?;
            let mut maps = TensorMaps::default();
            let mut streams: Vec<Stream<'c>> = vec![];
            let rings: Vec<RingPlan> = groups.iter().map(|p| ring(p, &groups, &plan)).collect::<Result<_, _>>()?;
            for (group, ring) in groups.into_iter().zip(rings) {
                let shared = streams.iter_mut().find(|s| s.takes(&group));
                let stream = match shared {
                    Some(stream) => stream,
                    None => {
                        streams.push(Stream::new(&group, &top, &plan, ring)?);
                        streams.last_mut().expect("one was added")
                    }
                };
                let place = group.place();
                let mut map = |c: &TiledCopy<'c>| c.map.map(|map| maps.of(place, c.load.view(), map, &top)).transpose();
                let of_copies = group.copies(true).map(|(_, c)| map(&c)).collect::<Result<_, _>>()?;
                let mut tiles = vec![];
                for dot in 0..group.dots.len() {
                    let mut of =
                        |number| residents.of(&group, (dot, number), (&top, entry), &mut maps, (&plan, &facts));
                    tiles.push([of(0)?, of(1)?]);
                }
                stream.groups.push(Placed::new(group, tiles, (of_copies, ready)));
            }
            let tile_blocks = TileBlocks::of(function.op(), &top, &plan)?;
            let staged = staged_tiles::of_consumers(function.op(), (&top, &mut maps), &plan, &facts)?;
            let (mut in_memory, mut left, mut computed_left, mut followers) = (vec![], vec![], vec![], vec![]);
            if plan.accumulates_in_memory() {
                followers = accumulators::followers(&dots, context);
                let leads = |dot: &AnyDot<'c>| followers.iter().all(|(other, _)| other.op() != dot.op());
                let leaders: Vec<AnyDot<'c>> = dots.iter().copied().filter(leads).collect();
                // The barriers of all pipelines are initialized before a pair allocates.
                in_memory = Accumulators::of_all(&leaders, &top, &plan)?;
                left = LeftOperands::of(&dots, &top, &plan)?;
                computed_left = ComputedLeft::of_all(&dots, (&top, &mut maps), &plan, &facts)?;
                accumulators::allocate(function.op(), entry, &top, &plan)?;
            }
            BarrierOp::build(&top, None, None).map_err(|e| fail(op, e.to_string()))?;
            if let Some(tile_blocks) = tile_blocks {
                tile_blocks.rewrite(entry, &top)?;
            }
            staged_tiles::rewrite(&staged, entry, &top)?;
            let in_memory = accumulators::rewrite((&in_memory, &followers), entry, &top)?;
            let mut left = left_operands::rewrite(&left, &in_memory, entry, &top)?;
            left.extend(computed_left::rewrite(&computed_left, entry, &top)?);
            for placed in streams.iter().flat_map(|stream| &stream.groups) {
                let known = placed.group.dots.iter().filter_map(|dot| in_memory.get(&op_key(dot.op())).copied());
                placed.accumulators.borrow_mut().extend(known);
                let stored = placed.group.dots.iter().map(|dot| left.get(&op_key(dot.op())).copied());
                placed.left_operands.borrow_mut().extend(stored);
            }
            for stream in &mut streams {
                stream.allocate_columns(&top)?;
            }
            for stream in &streams {
                stream.rewrite(entry)?;
            }
            computed_left.iter().for_each(ComputedLeft::erase);
            residents.erase_loads(context)?;
        }
        Ok(())
    }
}

/// The properties of a ring.
#[derive(Clone, Copy)]
struct RingPlan {
    stages: u32,
    /// Whether a converter warpgroup converts its stages.
    converted: bool,
}

/// Plans the ring of a dot group. The number of stages is the maximum over the schedules of all groups that share the
/// ring, or the plan's. If any of these groups needs conversion and the plan has a converter, the converter handles all
/// stages of the ring.
fn ring<'c>(group: &DotGroup<'c>, all: &[DotGroup<'c>], plan: &DotPlan) -> Result<RingPlan, Failed> {
    let alike = || all.iter().filter(|p| p.is_like(group));
    // The converter of a pair passes on all scale factors.
    let by_converter = |p: &DotGroup<'c>| p.is_converted() || plan.is_pair() && p.has_scales();
    let converted = plan.agent(CONVERTER).is_some() && alike().any(by_converter);
    let scheduled: Option<Vec<u32>> = alike().map(|p| p.dots.iter().find_map(|dot| stages_of(dot.op()))).collect();
    let Some(most) = scheduled.and_then(|s| s.into_iter().max()) else {
        // A tile that stays in registers is loaded once.
        let stages = if alike().all(|p| p.dots.is_empty()) { 1 } else { plan.stages };
        return Ok(RingPlan { stages, converted });
    };
    if !(2..=plan.stages).contains(&most) {
        let text = format!("the schedule needs a ring of {most} stages, but the plan allows 2 to {}", plan.stages);
        return Err(fail(group.place(), text));
    }
    Ok(RingPlan { stages: most, converted })
}

/// Returns the keys of the loads whose tiles a dot reads.
fn tiles_of(dot: AnyDot<'_>) -> Vec<usize> {
    let load = |v| match Source::of(v, dot.op()) {
        Source::Loaded(operand) => Some(op_key(operand.load)),
        _ => None,
    };
    [dot.lhs(), dot.rhs()].into_iter().filter_map(load).collect()
}

/// A tile that comes through a ring, as an operand of dots.
struct StagedOperand<'c> {
    /// The operands that read the tile. A tile that is computed or converted has exactly one.
    places: Vec<OperandUse<'c>>,
    /// The type of one stage.
    desc: MemDescType<'c>,
    /// The type of a stage of scale factors in tensor memory, from which dots read them.
    copied_to: Option<MemDescType<'c>>,
    from: FilledBy<'c>,
}

/// An operand that reads a tile from a stage.
struct OperandUse<'c> {
    /// The index of the dot in its group.
    dot: usize,
    /// The number among the operands of the dot.
    number: usize,
    /// The ops that give the tile in the stage the operand's shape.
    moved: Vec<OpRef<'c>>,
}

/// The origin of a stage's contents.
enum FilledBy<'c> {
    /// TMA loads.
    Copied(Copied<'c>),
    /// Warps of the producer.
    ProducerComputed(ProducerComputed<'c>),
}

/// A tile that warps of the producer compute.
#[derive(Clone, Copy)]
struct ProducerComputed<'c> {
    by: ProduceOneOp<'c>,
    /// The load of the tile, if the tile is only loaded and `cp.async` can copy it.
    load: Option<OpRef<'c>>,
    /// The TMA load to use if a run-time test of the view allows it.
    if_ready: Option<TiledCopy<'c>>,
}

/// A tile that TMA loads into a ring.
struct Copied<'c> {
    operand: LoadedOperand<'c>,
    copy: TiledCopy<'c>,
    /// The type of the stage after conversion, if the tile must be converted.
    converted: Option<MemDescType<'c>>,
}

/// A TMA load that replaces a load.
#[derive(Clone, Copy)]
struct TiledCopy<'c> {
    load: TiledLoadOp<'c>,
    /// The type of the tensor map; `None` for bulk copies, which need none.
    map: Option<TmaDescType<'c>>,
    /// The size of the tile.
    bytes: u32,
}

/// A dot, or several dots that share tiles and therefore a stage. The dots of a group are issued back to back. A tile
/// that stays in registers is a group without dots.
struct DotGroup<'c> {
    dots: Vec<AnyDot<'c>>,
    /// The operands that come through rings.
    sides: Vec<StagedOperand<'c>>,
}

impl<'c> DotGroup<'c> {
    fn of(dots: Vec<AnyDot<'c>>, (facts, unit): (&Facts, Unit)) -> Result<Self, Failed> {
        let mut sides: Vec<StagedOperand<'c>> = vec![];
        for (i, dot) in dots.iter().enumerate() {
            // Warps that read fragments load scale factors themselves.
            let scales = dot.scales().into_iter().filter(|_| unit != Unit::Sync);
            let scales = scales.flat_map(|scales| [LHS_SCALE, RHS_SCALE].into_iter().zip(scales));
            for (number, v) in [(LHS, dot.lhs()), (RHS, dot.rhs())].into_iter().chain(scales) {
                match Source::of(v, dot.op()) {
                    Source::Loaded(operand) if number >= LHS_SCALE => {
                        let place = OperandUse { dot: i, number, moved: operand.moved.clone() };
                        sides.push(StagedOperand::scales(dot.op(), place, facts)?);
                    }
                    Source::Loaded(operand) => {
                        let place = OperandUse { dot: i, number, moved: operand.moved.clone() };
                        match sides.iter_mut().find(|s| s.is_tile_of(operand.load)) {
                            Some(side) => side.places.push(place),
                            None => sides.push(StagedOperand::copied(dot.op(), (place, operand), (facts, unit))?),
                        }
                    }
                    Source::ProducerComputed(by) => {
                        let place = OperandUse { dot: i, number, moved: vec![] };
                        sides.push(StagedOperand::computed(dot.op(), (place, by), facts)?);
                    }
                    Source::Resident | Source::Computed | Source::ConverterComputed(_) => {}
                }
            }
        }
        bring_together(&dots.iter().map(|dot| dot.op()).collect::<Vec<_>>());
        Ok(Self { dots, sides })
    }

    /// The group of a left operand that warps read from a stage before its dots, or `None` for other ops.
    fn of_resident(load: OpRef<'c>, facts: &Facts) -> Option<Self> {
        let load = STAGED.is_on(load).then(|| TiledLoadOp::cast(load))??;
        let tile = ResidentTile::of_load(load.op())?;
        let desc = tile.loaded().stage(&View::of(load.view())?, 1, Unit::Sync).ok()?;
        let (map, bytes) = tensor_maps::plan(load, desc, facts).ok()?;
        let copied =
            Copied { operand: tile.loaded(), copy: TiledCopy { load, map: Some(map), bytes }, converted: None };
        let side = StagedOperand { places: vec![], desc, copied_to: None, from: FilledBy::Copied(copied) };
        Some(Self { dots: vec![], sides: vec![side] })
    }

    /// The last of the dots. All are issued there, after everything that any of them needs. Without dots, the load.
    fn place(&self) -> OpRef<'c> {
        let load = || self.copied().next().map(|(_, copied)| copied.operand.load);
        self.dots.last().map(|dot| dot.op()).or_else(load).expect("a group has dots or a load")
    }

    /// Whether the operands of another dot group have the same stages, filled in the same way.
    fn is_like(&self, other: &Self) -> bool {
        let by = |s: &StagedOperand<'c>| match &s.from {
            FilledBy::Copied(_) => None,
            FilledBy::ProducerComputed(tile) => Some((tile.load.is_some(), tile.if_ready.is_some())),
        };
        let stages = |p: &Self| p.sides.iter().map(|s| (s.desc, by(s))).collect::<Vec<_>>();
        stages(self) == stages(other)
    }

    /// The operands that TMA loads.
    fn copied(&self) -> impl Iterator<Item = (&StagedOperand<'c>, &Copied<'c>)> {
        self.sides.iter().filter_map(|s| if let FilledBy::Copied(copied) = &s.from { Some((s, copied)) } else { None })
    }

    /// Whether threads convert a stage before the dots read it.
    fn is_converted(&self) -> bool {
        self.copied().any(|(_, c)| c.converted.is_some())
    }

    /// Whether the dots have scale factors.
    fn has_scales(&self) -> bool {
        self.sides.iter().any(|side| side.copied_to.is_some())
    }

    /// The TMA loads and the indices of the sides that they fill: unconditional ones, and with `if_ready` also those
    /// that depend on a run-time test.
    fn copies(&self, if_ready: bool) -> impl Iterator<Item = (usize, TiledCopy<'c>)> {
        self.sides.iter().enumerate().filter_map(move |(i, s)| match &s.from {
            FilledBy::Copied(copied) => Some((i, copied.copy)),
            FilledBy::ProducerComputed(tile) => tile.if_ready.filter(|_| if_ready).map(|copy| (i, copy)),
        })
    }

    /// The producer-computed operands and the indices of their sides.
    fn producer_computed(&self) -> impl Iterator<Item = (usize, ProducerComputed<'c>)> {
        let computed = |(i, s): (usize, &StagedOperand<'c>)| {
            if let FilledBy::ProducerComputed(tile) = s.from { Some((i, tile)) } else { None }
        };
        self.sides.iter().enumerate().filter_map(computed)
    }

    /// Whether threads of the producer copy an operand by `cp.async`, and whether they store one.
    fn by_threads(&self) -> (bool, bool) {
        let any = |copies| self.producer_computed().any(|(_, tile)| tile.load.is_some() == copies);
        (any(true), any(false))
    }
}

/// Whether the dot of 8-bit floats must be promoted: the tensor cores do not accumulate exactly enough.
fn is_promoted(dot: AnyDot<'_>) -> bool {
    let Some(lhs) = Tensor::of_value(dot.lhs()) else { return false };
    let acc = (skip_conversions(dot.acc()), lhs.shape[1]);
    element_of(lhs.element, false).is_some_and(|e| promotes(e, dot.fast_acc(), acc, PROMOTION))
}

impl<'c> StagedOperand<'c> {
    fn computed(op: OpRef<'c>, (place, by): (OperandUse<'c>, ProduceOneOp<'c>), facts: &Facts) -> Result<Self, Failed> {
        let tile = by.tile().next().ok_or_else(|| fail(by.op(), "produce_one has no result"))?;
        let (desc, copied_to) = match place.number {
            LHS | RHS => (computed_stage(by.op(), tile, by.fast() as usize).map_err(|e| fail(op, e))?, None),
            number => {
                let tensor = Tensor::of_value(tile).ok_or_else(|| fail(op, "operand is not a tensor"))?;
                let types = scale_types(op, &tensor.shape, tensor.element, number - LHS_SCALE);
                let [stage, columns] = types.map_err(|e| fail(op, e))?;
                (stage, Some(columns))
            }
        };
        let if_ready = by.or_copy().then(|| TiledCopy::of(by, desc, facts)).transpose()?;
        Ok(Self {
            places: vec![place],
            desc,
            copied_to,
            from: FilledBy::ProducerComputed(ProducerComputed { by, load: plain_load(by, desc), if_ready }),
        })
    }

    /// Scale factors that the producer copies, as they are or for a conversion in their stage.
    fn scales(op: OpRef<'c>, place: OperandUse<'c>, facts: &Facts) -> Result<Self, Failed> {
        let v = self::operand(op, place.number);
        let tensor = Tensor::of_value(v).ok_or_else(|| fail(op, "operand is not a tensor"))?;
        let types = scale_types(op, &tensor.shape, tensor.element, place.number - LHS_SCALE);
        let [storage, columns] = types.map_err(|e| fail(op, e))?;
        let load_of = |operand: &LoadedOperand<'c>| {
            TiledLoadOp::cast(operand.load).ok_or_else(|| fail(op, "operand is not loaded from a view"))
        };
        let (desc, copied) = match BulkOperand::of(v, op, storage, facts) {
            Ok(BulkOperand { operand, stage, bytes }) => {
                let copy = TiledCopy { load: load_of(&operand)?, map: None, bytes };
                (stage, Copied { operand, copy, converted: None })
            }
            Err(_) => {
                let found = ConvertedScales::of(v, op, storage, facts).map_err(|reason| fail(op, reason))?;
                let load = load_of(&found.operand)?;
                let (map, bytes) = tensor_maps::plan(load, found.stage, facts).map_err(|e| fail(load.op(), e))?;
                let copy = TiledCopy { load, map: Some(map), bytes };
                (found.stage, Copied { operand: found.operand, copy, converted: Some(found.converted) })
            }
        };
        Ok(Self { places: vec![place], desc, copied_to: Some(columns), from: FilledBy::Copied(copied) })
    }

    fn copied(
        op: OpRef<'c>,
        (place, operand): (OperandUse<'c>, LoadedOperand<'c>),
        (facts, unit): (&Facts, Unit),
    ) -> Result<Self, Failed> {
        let load = TiledLoadOp::cast(operand.load).ok_or_else(|| fail(op, "operand is not loaded from a view"))?;
        let view = View::of(load.view()).ok_or_else(|| fail(load.op(), "its view is not created in this function"))?;
        let desc = operand.stage(&view, 1 - place.number, unit).map_err(|e| fail(load.op(), e))?;
        let (map, bytes) = tensor_maps::plan(load, desc, facts).map_err(|e| fail(load.op(), e))?;
        let transposed = operand.must_be_transposed(&view, 1 - place.number, unit);
        let converted = if transposed || !operand.computed.is_empty() {
            let v = self::operand(op, place.number);
            let element = Tensor::of_value(v).ok_or_else(|| fail(op, "operand is not a tensor"))?.element;
            Some(converted_stage_of(load.op(), &view, element, transposed).map_err(|e| fail(load.op(), e))?)
        } else {
            None
        };
        Ok(Self {
            places: vec![place],
            desc,
            copied_to: None,
            from: FilledBy::Copied(Copied { operand, copy: TiledCopy { load, map: Some(map), bytes }, converted }),
        })
    }

    /// Whether the operand is the tile of `load`.
    fn is_tile_of(&self, load: OpRef<'c>) -> bool {
        matches!(&self.from, FilledBy::Copied(copied) if copied.operand.load == load)
    }
}

impl<'c> TiledCopy<'c> {
    /// Plans the TMA load that replaces the only load of a producer region.
    fn of(by: ProduceOneOp<'c>, stage: MemDescType<'c>, facts: &Facts) -> Result<Self, Failed> {
        let load = computed_tile(by).map(skip_conversions).and_then(defining_op).and_then(TiledLoadOp::cast);
        let load = load.ok_or_else(|| fail(by.op(), "its result is not a tile of a view"))?;
        let (map, bytes) = tensor_maps::plan_if_ready(load, stage, facts).map_err(|e| fail(load.op(), e))?;
        Ok(Self { load, map: Some(map), bytes })
    }
}

/// Returns the value that a producer region yields.
fn computed_tile(by: ProduceOneOp<'_>) -> Option<Val<'_>> {
    let last = entry_block(region(by.op(), 0)).and_then(|body| ops_of(body).last())?;
    operands(last).next()
}

/// Returns the load of a producer region that only loads, if `cp.async` can copy its tile to a stage.
fn plain_load<'c>(by: ProduceOneOp<'c>, stage: MemDescType<'c>) -> Option<OpRef<'c>> {
    let body = entry_block(region(by.op(), 0))?;
    let mut v = computed_tile(by)?;
    // A copy works with the layout of the load.
    while uses(v).len() == 1
        && let Some(convert) = defining_op(v).and_then(ConvertLayoutOp::cast)
    {
        v = convert.source();
    }
    let load = PlainLoad::of(defining_op(v)?)?;
    let here = block_of(load.op) == block_key(body) && uses(v).len() == 1;
    // Excludes loads that can be hoisted: a copy would repeat them in each iteration.
    (here && is_unordered_load(load.op) && !may_leave_loops(load.op) && load.suits(stage)).then_some(load.op)
}

fn iterator_type(op: OpRef<'_>) -> Result<Type<'_>, Failed> {
    PipelineIteratorType::get(op.location()).map(Into::into).ok_or_else(|| fail(op, "cannot build the iterator type"))
}

/// Applies `op`, which reshapes or permutes a tensor, to storage of one.
fn reshaped<'c>(b: &Builder<'c>, op: OpRef<'c>, memory: Val<'c>) -> Result<Val<'c>, Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let from = MemDescType::cast(ty(memory)).ok_or_else(|| fail(op, "not a memdesc"))?;
    let to = Tensor::of_value(result(op, 0)).ok_or_else(|| fail(op, "result is not a tensor"))?;
    let bases: Vec<u64> = SharedLayoutAttr::cast(from.layout().ok_or_else(|| fail(op, "storage has no layout"))?)
        .map(|l| l.offsets().iter().map(|&b| b as u64).collect())
        .ok_or_else(|| fail(op, "storage has no layout"))?;
    let Some(permute) = PermuteOp::cast(op) else {
        let desc = reshaped_storage(op, from, &to.shape, &bases).map_err(error)?;
        return Ok(MemDescViewOp::build(b, desc.into(), memory).map_err(error)?.result());
    };
    let order: Vec<i32> = permute.order().to_vec();
    let (source, target) = (from.shape().to_vec(), to.shape.clone());
    // Maps the linear index of an element to its index after the permutation.
    let moved = |index: u64| {
        let mut rest = index;
        let mut coordinates = vec![0; source.len()];
        for d in (0..source.len()).rev() {
            coordinates[d] = rest % source[d] as u64;
            rest /= source[d] as u64;
        }
        order.iter().zip(&target).fold(0, |out, (&d, &extent)| out * extent as u64 + coordinates[d as usize])
    };
    let bases: Vec<u64> = bases.into_iter().map(moved).collect();
    let desc = reshaped_storage(op, from, &to.shape, &bases).map_err(error)?;
    let order = attr(op, "order").ok_or_else(|| fail(op, "no order"))?;
    Ok(MemDescPermuteOp::build(b, desc.into(), memory, order).map_err(error)?.result())
}
