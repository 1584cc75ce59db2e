//! `tileaa-plan-dots`: decides which kernels have agents, and how these multiply.
//!
//! On targets with TMA, a kernel whose dots read tiles that it loads runs as *agents*: a producer keeps rings of tiles
//! in shared memory filled. With `wgmma`, one or two consumer warpgroups multiply them; with `tcgen05.mma`, one thread
//! does, and the consumers read the results from tensor memory. On targets with neither, consumer warps read fragments
//! and use `mma.sync`. This pass checks whether a kernel can run that way. If so, `tile_plan` chooses warpgroups,
//! instructions, stages and registers from measured numbers of the machine. The result is an attribute of the function
//! (`dialect::dot_plan`), which later passes follow. A kernel without the attribute uses `mma.sync` in warps that also
//! load.
//!
//! ```text
//! func @f { for i { a = tiled_load ..; b = tiled_load ..; acc = dot a, b, acc } }
//! ```
//!
//! becomes, for example,
//!
//! ```text
//! func @f attributes {nv_tileas.dot_plan = #nv_tileas.dot_plan<groups = [2, 1], columns = 128, stages = 4,
//!   scratch = 32768, launch_registers = 168,
//!   agents = [<"consumers", warps = 8, registers = 232>, <"producer", warps = 4, registers = 40>]>} { .. unchanged .. }
//! ```
//!
//! An operand of a dot must be one of these:
//!
//! * **Ring.** A tile of a view that TMA can load (`analysis::tensor_maps`). It is loaded next to the dot and used by
//!   nothing else, except by other dots that add to separate accumulators. It may be reshaped, or computed element by
//!   element in the same number of bits.
//! * **Resident.** A value from before the loop around the dot. It is stored to shared memory once.
//! * **Registers.** A left operand that is computed from the result of another dot or, for a dot of
//!   `wgmma` or `mma.sync`, from tiles that TMA can load.
//! * **Producer-computed.** Any other tile that warps of the producer can load or compute (`analysis::tile_programs`).
//!   If only the alignment or strides of a view are unknown, a run-time test chooses between TMA and these warps.
//!
//! Two more conditions apply:
//!
//! * The loads are weak and follow no other access. Accesses that are ordered after a load are after the dot.
//! * The producer can repeat the computation of addresses and of the control flow around the loads
//!   (`analysis::producers`).
//!
//! If all dots have the same M, N and element types, are in different blocks and read both operands from rings, one
//! plan fits each of their loops (`tile_plan::plan`). Otherwise the kernel is planned as a whole (`kernel`). Dots of
//! `tcgen05.mma` are planned by `tensor` if they read both operands from rings, and otherwise by `dependent`. Dots of
//! `mma.sync` must read the right operand from a ring (`sync`). A remark names the obstacle if a kernel is not planned.
//! The pass changes no ops; it only marks producer-computed operands for `tileaa-outline-producers`.

mod dependent;
mod kernel;
pub mod pair_tile_blocks;
mod resident_loads;
mod room;
mod scales;
mod staged;
mod sync;
mod takeover;
mod tensor;
pub mod tile_block_loops;

use crate::{
    analysis::{
        access::{View, places},
        facts::Facts,
        operand_stages::computed_stage,
        pipelines::only_asks,
        producers::{LoadedOperand, Slice, Source, groups_by_tiles, is_computed_from_dot, reads_mn_major},
        tensor_map_ops::is_inside,
        tensor_maps,
        tile_programs::{self, Mark, TileProgram, is_free, is_over_for_others},
    },
    dialect::{
        attributes::{DYNAMIC_PERSISTENT, OWN_STAGES, STAGED},
        dot_plan::{Agent, CONSUMERS, CONVERTER, DotPlan, PRODUCER, WARPGROUP},
        dots::{ACC, LHS, LHS_SCALE, RHS, RHS_SCALE, TileDot, element_of, operand_format, promotes, tile_dots},
        fallback::Fallback,
        hints::{bool_hint, int_hint},
        layouts::{Tensor, storage_bits},
        loops::{known_trips, loops_around},
        nv_tileaa::{self, AnyOp, MemTokenType, Ordering, TiledLoadOp},
        nv_tileas::{MemDescType, MmaKind},
        pass::{Failed, Obstacle, PassContext, RustPass, descriptors},
        remark::{self, Better, remark},
        rt::*,
        shared_memory::{ALIGNMENT, padded_bytes},
        target::target,
        upstream::Scf,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Attribute, Type},
};
use room::{HIDING_STAGES, NO_ROOM, OTHER_BYTES, Room, least_scratch, scratch};
use rustc_hash::FxHashSet;
use staged::{StagedTiles, keeps_up};
use std::cell::OnceCell;
use tile_mma::{Element, Major, Unit};
use tile_plan::{AStorage, DotLoop, Hints, Machine, NoPlan, Registers, Scales, plural};
use tile_targets::Target;

#[derive(Clone, Default)]
pub struct PlanDots;

impl RustPass for PlanDots {
    pass_descriptor!(tileaa_plan_dots);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_plan_dots::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        let asked = Options(cx).dynamic_persistent();
        let wanted = takeover::is_wanted(op, asked, target)?;
        let Some(unit) = tile_mma::agent_unit(target) else { return Ok(()) };
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let dots = tile_dots(function.op());
            let fallback = Fallback::within(function.op());
            // A library function may use barrier 0 for all threads of the launch.
            if !collect_ops(function.op(), nv_tileaa::ExternCallOp::cast).is_empty() {
                without_agents(function.op(), &dots, "the kernel has no agents: it calls a library function");
                continue;
            }
            if dots.is_empty() {
                without_agents(function.op(), &dots, "no product reads its tile");
            }
            if dots.is_empty() || function.num_warps().is_some() || !fallback.allows_agents() {
                continue;
            }
            let takes_over = wanted && fallback == Fallback::None && takeover::check(function.op(), &dots).is_ok();
            match plan(function, &dots, (unit, target), (fallback, takes_over)) {
                Ok((plan, reasons)) => {
                    remark(dots[0], remark::WARPGROUP_PLAN, reasons.join("; "), None);
                    let plan = DotPlan { stages: fallback.stages(plan.stages), ..plan };
                    if takes_over && plan.whole_rows && dependent::can_take_over(function.op(), &plan) {
                        DYNAMIC_PERSISTENT.mark(function.op());
                    }
                    cx.stat_add(stat::NUM_PLANNED, 1);
                    plan.attach(function.op(), context);
                }
                Err((op, reason)) => {
                    without_agents(function.op(), &dots, &format!("the kernel has no agents: {reason}"));
                    dots.iter().for_each(|dot| remark::against(*dot, Better::Unit, &reason));
                    let reason = match unit {
                        Unit::Sync => format!("the warps that multiply also load: {reason}"),
                        Unit::Warpgroup => format!("dots use single-warp instructions instead of wgmma: {reason}"),
                        _ => format!("dots use single-warp instructions instead of tcgen05.mma: {reason}"),
                    };
                    remark(op, remark::NO_WARPGROUPS, reason, None);
                }
            }
        }
        Ok(())
    }
}

/// Records why TMA loads no tile of a function and stores none.
fn without_agents(function: OpRef<'_>, dots: &[OpRef<'_>], reason: &str) {
    walk(function, &mut |op| match AnyOp::cast(op) {
        Some(AnyOp::TiledLoadOp(_)) => remark::against(op, Better::Tma, reason),
        Some(AnyOp::TiledStoreOp(_)) if !dots.is_empty() => remark::against(op, Better::Tma, reason),
        _ => {}
    });
}

/// A dot, with the planner's input for it.
struct Found<'c> {
    op: OpRef<'c>,
    dot_loop: DotLoop,
    sides: [PlannedOperand<'c>; 2],
    /// The scale factors of both sides, or none.
    scales: Vec<PlannedOperand<'c>>,
    /// The operands that a stage of its ring holds, and whether warps fill them. Of dots that share tiles, the first
    /// lists the operands of all, and the lists of the others are empty.
    stage: Vec<(MemDescType<'c>, bool)>,
    /// Why TMA cannot load the producer-computed operands.
    no_copies: Vec<Obstacle<'c>>,
}

impl<'c> Found<'c> {
    /// The operands of the dot, with their numbers.
    fn operands(&self) -> impl Iterator<Item = (usize, &PlannedOperand<'c>)> {
        let scales = self.scales.iter().enumerate().map(|(i, scale)| (LHS_SCALE + i, scale));
        self.sides.iter().enumerate().chain(scales)
    }
}

/// The place from which a dot reads an operand.
enum PlannedOperand<'c> {
    /// A ring of such stages, filled by TMA loads that replace `load`.
    Ring { stage: MemDescType<'c>, load: OpRef<'c> },
    /// The same, filled by warps of the producer, or by TMA if a run-time test of the view allows it. `sources` are the
    /// loads of its program that TMA can do, with their stages.
    ProducerComputed { stage: MemDescType<'c>, how: Mark, sources: Vec<(MemDescType<'c>, OpRef<'c>)> },
    /// Shared memory, for as long as the loop around the dot runs.
    Resident(Val<'c>),
    /// Registers.
    Registers(Val<'c>),
}

impl<'c> PlannedOperand<'c> {
    /// The stage of an operand in a ring, and whether warps fill it.
    fn stage(&self) -> Option<(MemDescType<'c>, bool)> {
        match self {
            Self::Ring { stage, .. } => Some((*stage, false)),
            Self::ProducerComputed { stage, .. } => Some((*stage, true)),
            Self::Resident(_) | Self::Registers(_) => None,
        }
    }
}

/// Loads into rings, and the ops that compute operands on the way or in their stages.
#[derive(Default)]
struct Loads<'c> {
    /// The bytes of stages of a tile from which consumers may compute a left operand.
    streams: u32,
    loads: Vec<OpRef<'c>>,
    computed: Vec<OpRef<'c>>,
    /// Loads of the tiles from which consumers compute left operands.
    streamed: Vec<OpRef<'c>>,
    /// The ops by which warps of the producer compute operands.
    producer_ops: Vec<OpRef<'c>>,
    /// The innermost loops and branches around dots with such operands.
    around_computed: Vec<OpRef<'c>>,
    /// The elements of each tile that the function stores, and their bits.
    stored: OnceCell<Vec<(i64, u32)>>,
}

fn plan<'c>(
    function: nv_tileaa::FuncOp<'c>,
    dots: &[OpRef<'c>],
    (unit, target): (Unit, &Target),
    (fallback, takes_over): (Fallback, bool),
) -> Result<Planned, Obstacle<'c>> {
    let plan = |streams| plan_as(function, dots, (unit, target), (fallback, takes_over), streams);
    // Consumers compute left operands from tiles in stages if a plan has the room.
    let is_computed = |dot: TileDot<'c>| {
        matches!(Source::of(dot.lhs(), dot.op()), Source::Computed) && !is_computed_from_dot(dot.lhs())
    };
    let any = dots.iter().filter_map(|op| TileDot::cast(*op)).any(is_computed);
    let streams = any && unit != Unit::Tensor && fallback == Fallback::None;
    let found = streams.then(|| STREAMS.into_iter().find_map(|bytes| plan(bytes).ok())).flatten();
    found.map_or_else(|| plan(0), Ok)
}

/// The bytes of the stages of a tile from which consumers compute a left operand. More of them hide the latency of
/// memory better.
const STREAMS: [u32; 2] = [65536, 32768];

/// Plans the dots. Unless `streams` is zero, consumers compute left operands from tiles in stages of that many bytes.
fn plan_as<'c>(
    function: nv_tileaa::FuncOp<'c>,
    dots: &[OpRef<'c>],
    (unit, target): (Unit, &Target),
    (fallback, takes_over): (Fallback, bool),
    streams: u32,
) -> Result<Planned, Obstacle<'c>> {
    let facts = Facts::of(function.op());
    let mut found: Vec<Found<'c>> = vec![];
    let mut loads = Loads { streams, ..Loads::default() };
    for &op in dots {
        let scaled = || (op, "its operands have scales".to_string());
        let takes = |dot: &TileDot<'c>| unit != Unit::Warpgroup || dot.scales().is_none();
        let dot = TileDot::cast(op).filter(takes).ok_or_else(scaled)?;
        found.push(analyze(dot, function.op(), (&facts, unit, target), &mut loads)?);
    }
    share_stages(&mut found);
    let is_token = |v: Val<'c>| MemTokenType::cast(ty(v)).is_some();
    let roots = [&*loads.loads, &loads.around_computed].concat();
    Slice::of(function.op(), &roots, &|_| false, &is_token)?;
    // Tensors that producer-computed operands depend on are part of the producer's program.
    let is_known = |v: Val<'c>| is_token(v) || Tensor::of_value(v).is_some();
    Slice::of(function.op(), &loads.producer_ops, &|_| false, &is_known)?;
    let machine = Machine::named(target.name).map_err(|e| (found[0].op, e.to_string()))?;
    let hints = hints(function, &loads.loads, target);
    let staged = match fallback {
        Fallback::None => StagedTiles::of(function.op(), (&found, &loads), (&facts, target)),
        _ => StagedTiles::none(),
    };
    // A plan with tiles of consumers must have the warps of the plan without them, so both are plans for long loops.
    if unit == Unit::Warpgroup && staged.is_empty() && loads.streamed.is_empty() {
        found.iter_mut().for_each(|p| p.dot_loop.trips = known_trips(p.op));
    }
    let with = |staged: &StagedTiles<'c>| {
        let limits = (&hints, &machine, staged.bytes());
        match unit {
            Unit::Warpgroup => plan_warpgroups(function.op(), &found, &loads.computed, limits),
            Unit::Sync => sync::plan(function.op(), &found, (&facts, target), limits),
            _ if dependent::applies(&found) => dependent::plan(function.op(), (&found, takes_over), limits),
            _ => tensor::plan(function.op(), (&found, takes_over), (&loads.computed, &facts), limits),
        }
    };
    let without = with(&StagedTiles::none());
    let beside = if staged.is_empty() { None } else { with(&staged).ok() };
    let (plan, reasons) = match (without, beside) {
        (Ok((without, _)), Some((plan, reasons))) if keeps_up(&plan, &without) => {
            staged.mark();
            (plan, reasons)
        }
        (Ok(_), _) if !loads.streamed.is_empty() => return Err((found[0].op, NO_ROOM.to_string())),
        (without, beside) => {
            beside.iter().for_each(|_| staged.give_up());
            without?
        }
    };
    if let Some(load) = loads.streamed.iter().find(|load| !OWN_STAGES.is_on(**load)) {
        staged.unmark();
        return Err((*load, NO_ROOM.to_string()));
    }
    resident_loads::mark_all(&found, function.op(), (&facts, unit, target));
    Ok((plan, reasons))
}

/// A plan, and the reasons for it.
type Planned = (DotPlan, Vec<String>);

/// The hints of a program, the machine, and the bytes of shared memory that tiles of consumers take.
type Limits<'a> = (&'a Hints, &'a Machine, u32);

/// Plans dots of `wgmma`.
fn plan_warpgroups<'c>(
    function: OpRef<'c>,
    found: &[Found<'c>],
    computed: &[OpRef<'c>],
    (hints, machine, staged): Limits<'_>,
) -> Result<Planned, Obstacle<'c>> {
    let first = &found[0];
    let alone = |p: &Found<'c>| {
        let both = p.sides.iter().all(|s| s.stage().is_some());
        both && found.iter().all(|o| o.op == p.op || block_of(o.op) != block_of(p.op))
    };
    let alike = |p: &Found<'c>| {
        let of = |p: &Found<'c>| (p.dot_loop.m, p.dot_loop.n, p.dot_loop.operand);
        of(p) == of(first)
    };
    if !found.iter().all(|p| alone(p) && alike(p)) {
        let plan = kernel::plan(function, found, (hints, machine, staged))?;
        mark_computed(found, false);
        return Ok(plan);
    }
    for p in found {
        p.dot_loop.check_shape().map_err(|e| refusal(std::slice::from_ref(p), &e))?;
    }
    let op = first.op;
    // The deepest dot has the largest stages.
    let deepest = found.iter().map(|p| p.dot_loop).max_by_key(|p| p.k).unwrap_or(first.dot_loop);
    let trips: Option<u32> = found.iter().map(|p| p.dot_loop.trips).sum();
    let dot_loop = DotLoop { over_tiles: loops(op) > 1, trips, ..deepest };
    let rings = rings(found).len() as u32;
    // If the producer's warps compute tiles, they need scratch memory too.
    let movers = if dot_loop.producer_computed.contains(&true) { 2 } else { 1 };
    let (stage, other) = (dot_loop.stage_bytes(), OTHER_BYTES + staged);
    let scratch = scratch(function, &dot_loop, found, computed);
    let divided = |hints: &Hints| -> Result<(tile_plan::Plan, u32, u32), Obstacle<'c>> {
        let plan = tile_plan::plan(&dot_loop, hints, machine).map_err(|e| refusal(found, &e))?;
        let room = Room { available: plan.shared_available, stages: plan.stages, stage, rings, movers, other };
        let least = least_scratch(plan.groups.0 * plan.groups.1);
        let (stages, scratch) = room.divide(scratch.max(least)).ok_or_else(|| (op, NO_ROOM.to_string()))?;
        Ok((plan, stages, scratch))
    };
    // Two CTAs that the program does not ask for must have the shared memory for their rings.
    let is_short = |(plan, stages, _): &(tile_plan::Plan, u32, u32)| *stages < plan.stages.min(HIDING_STAGES);
    let (plan, stages, scratch) = match divided(hints) {
        Ok(divided) if hints.occupancy.is_some() || divided.0.blocks == 1 || !is_short(&divided) => divided,
        Err(error) if hints.occupancy.is_some() || trips.is_none() => return Err(error),
        _ => divided(&Hints { occupancy: Some(1), ..*hints })?,
    };
    mark_computed(found, false);
    let mut reasons = reasons(plan.reasons, found);
    if stages < plan.stages {
        reasons.push(format!("{}, next to {scratch} bytes for other uses of shared memory", plural(stages, "stage")));
    }
    let planned = DotPlan {
        unit: MmaKind::Warpgroup,
        accumulators: 1,
        slices: 1,
        whole_rows: false,
        issue_ahead: false,
        groups: [plan.groups.0, plan.groups.1],
        columns: plan.columns,
        stages,
        scratch,
        launch_registers: plan.registers.launch,
        agents: agents(plan.groups.0 * plan.groups.1, plan.producers, &plan.registers),
    };
    Ok((planned, reasons))
}

/// The agents of a plan, in the order of their warps.
fn agents(consumers: u32, producers: u32, registers: &Registers) -> Vec<Agent> {
    let consumers = Agent::new(CONSUMERS, consumers * WARPGROUP, registers.consumer);
    let producer = Agent::new(PRODUCER, producers * WARPGROUP, registers.producer);
    let converter = registers.converter.map(|count| Agent::new(CONVERTER, WARPGROUP, count));
    [consumers, producer].into_iter().chain(converter).collect()
}

/// The consumers and the producer of a plan, whose registers may be divided.
fn agents_of_warps([consumers, producer]: [u32; 2], registers: Option<[u32; 2]>) -> Vec<Agent> {
    let agent = |name: &str, warps, i: usize| {
        let registers = registers.map(|r| r[i]);
        Agent { name: name.to_string(), warps, registers, rank: None }
    };
    vec![agent(CONSUMERS, consumers, 0), agent(PRODUCER, producer, 1)]
}

/// Returns the operands in a stage of each ring. Dots with the same list of operands share a ring.
fn rings<'c>(found: &[Found<'c>]) -> Vec<Vec<(MemDescType<'c>, bool)>> {
    let mut all: Vec<Vec<(MemDescType<'c>, bool)>> = vec![];
    for p in found {
        if !p.stage.is_empty() && !all.contains(&p.stage) {
            all.push(p.stage.clone());
        }
    }
    all
}

/// Sets the stage of each dot. A tile that several dots read is in the stage once.
fn share_stages(found: &mut [Found<'_>]) {
    let tiles: Vec<Vec<usize>> = found.iter().map(|p| p.sides.iter().filter_map(load_of).collect()).collect();
    for group in groups_by_tiles(&tiles) {
        let (mut stage, mut seen) = (vec![], FxHashSet::default());
        let sides = group.iter().flat_map(|i| found[*i].operands().map(|(_, side)| side));
        for side in sides.filter(|s| load_of(s).is_none_or(|load| seen.insert(load))) {
            stage.extend(side.stage());
        }
        found[group[0]].stage = stage;
    }
}

/// Returns the bytes of the largest stage. Each CTA of a pair has half of the right operands. If computed operands are
/// `converted`, stages hold the tiles from which they are computed.
fn stage_bytes(found: &[Found<'_>], pair: bool, converted: bool) -> u32 {
    let bytes = |side: &PlannedOperand<'_>, number: usize| match side {
        PlannedOperand::ProducerComputed { sources, .. } if converted => source_bytes(sources),
        _ => {
            let all = side.stage().map_or(0, |(desc, _)| padded_bytes(desc) as u32);
            if pair && number == RHS { all / 2 } else { all }
        }
    };
    let of_group = |group: Vec<usize>| {
        let mut seen = FxHashSet::default();
        let sides = group.iter().flat_map(|i| found[*i].operands());
        let fresh = sides.filter(|(_, side)| load_of(side).is_none_or(|load| seen.insert(load)));
        fresh.map(|(number, side)| bytes(side, number)).sum::<u32>()
    };
    let tiles: Vec<Vec<usize>> = found.iter().map(|p| p.sides.iter().filter_map(load_of).collect()).collect();
    groups_by_tiles(&tiles).into_iter().map(of_group).max().unwrap_or(0)
}

/// The bytes of the tiles from which an operand is computed.
fn source_bytes(sources: &[(MemDescType<'_>, OpRef<'_>)]) -> u32 {
    sources.iter().map(|(desc, _)| padded_bytes(*desc).next_multiple_of(ALIGNMENT as u64) as u32).sum()
}

/// The load of an operand that TMA loads into a ring.
fn load_of(side: &PlannedOperand<'_>) -> Option<usize> {
    if let PlannedOperand::Ring { load, .. } = side { Some(op_key(*load)) } else { None }
}

/// Adds to the reasons for a plan why TMA does not load its producer-computed operands.
fn reasons(mut reasons: Vec<String>, found: &[Found<'_>]) -> Vec<String> {
    reasons.extend(found.iter().flat_map(|p| &p.no_copies).map(|(_, reason)| reason.clone()));
    reasons
}

/// Explains why planning failed. If an operand is producer-computed, the reason starts with the obstacle to TMA.
fn refusal<'c>(found: &[Found<'c>], error: &NoPlan) -> Obstacle<'c> {
    match found.iter().find_map(|p| p.no_copies.first()) {
        Some((op, reason)) => (*op, format!("{reason}; {error}")),
        None => (found[0].op, error.to_string()),
    }
}

/// Marks producer-computed operands for `tileaa-outline-producers`. If they are `converted`, warps of the converter
/// compute them from tiles in stages.
fn mark_computed(found: &[Found<'_>], converted: bool) {
    for p in found {
        let mut marks = vec![None; if p.scales.is_empty() { ACC } else { RHS_SCALE + 1 }];
        for (number, side) in p.operands() {
            if let PlannedOperand::ProducerComputed { how, sources, .. } = side {
                marks[number] = Some(Mark { converted, ..*how });
                sources.iter().filter(|_| converted).for_each(|(_, load)| STAGED.mark(*load));
            }
        }
        if marks.iter().any(Option::is_some) {
            tile_programs::mark(p.op, &marks);
        }
    }
}

/// Returns the hints of the program.
fn hints<'c>(function: nv_tileaa::FuncOp<'c>, loads: &[OpRef<'c>], target: &Target) -> Hints {
    let of = |hints: Option<Attribute<'c>>, name: &str, most: i64| {
        let value = int_hint(hints?, target.name, name, |v| (1..=most).contains(&v))?;
        u32::try_from(value).ok()
    };
    let latencies = loads.iter().filter_map(|o| of(TiledLoadOp::cast(*o)?.hints(), "latency", 10));
    Hints {
        latency: latencies.max(),
        occupancy: of(function.hints(), "occupancy", 32).or_else(|| of(function.hints(), "min_ctas_per_sm", 32)),
        worker_warps: of(function.hints(), "num_worker_warps_per_cta", 32),
    }
}

/// The number of loops around an op.
fn loops(op: OpRef<'_>) -> usize {
    loops_around(op).count()
}

/// The format of the operands of a dot, if the unit multiplies them into accumulators of type `acc`.
fn format_of(dot: TileDot<'_>, acc: Type<'_>, (unit, target): (Unit, &Target)) -> Result<Element, &'static str> {
    let (unsigned, scale) = (dot.unsigned(), dot.scale_blocks());
    let multiplies = |o: &Element| {
        // Warpgroups promote partial results of 8-bit floats to f32, so f16 accumulates only f16 there.
        let fits = |a: &Element| *a != Element::F16 || *o == Element::F16 || unit == Unit::Sync;
        let acc = element_of(acc, false).filter(fits);
        // Tensor memory keeps accumulators of 16 bits in columns of 32, which nothing reads yet.
        let held = |a: &Element| unit != Unit::Tensor || a.bits() == 32;
        let accumulates = |r: &tile_mma::Row, a: &Element| r.is_on(target) && r.accumulators.contains(a);
        // The warps that multiply by `mma.sync` load scale factors for an instruction that applies them.
        let by = if unit == Unit::Sync && scale.is_some() { Unit::BlockScale } else { unit };
        acc.filter(held).is_some_and(|a| tile_mma::generated_scaled(by, *o, scale).any(|r| accumulates(r, &a)))
    };
    let format = operand_format([(dot.lhs(), unsigned[0]), (dot.rhs(), unsigned[1])]).filter(multiplies);
    format.ok_or(match unit {
        Unit::Sync => "no instruction of a warp multiplies these types",
        Unit::Warpgroup => "no warpgroup instruction multiplies these types",
        _ => "no instruction multiplies these types into tensor memory",
    })
}

/// Analyzes a dot for the planner. Adds its loads, and the ops that compute its operands, to `loads`.
fn analyze<'c>(
    dot: TileDot<'c>,
    function: OpRef<'c>,
    (facts, unit, target): (&Facts, Unit, &Target),
    loads: &mut Loads<'c>,
) -> Result<Found<'c>, Obstacle<'c>> {
    let op = dot.op();
    let not = |reason: &str| (op, reason.to_string());
    let tensor = |v| Tensor::of_value(v).ok_or_else(|| not("operand is not a tensor"));
    let (lhs, rhs, acc) = (tensor(dot.lhs())?, tensor(dot.rhs())?, tensor(dot.acc())?);
    let [m, k] = lhs.shape[..] else { return Err(not("it has a batch dimension")) };
    let n = rhs.shape[1];
    let scale = dot.scale_blocks();
    let operand = format_of(dot, acc.element, (unit, target)).map_err(&not)?;
    let extent = |e: i64| u32::try_from(e).unwrap_or(u32::MAX);
    let mut dot_loop = DotLoop::new((extent(m), extent(n), extent(k)), operand);
    dot_loop.exact_accumulation = unit == Unit::Warpgroup
        && element_of(lhs.element, false)
            .is_some_and(|e| promotes(e, dot.fast_acc(), (dot.acc(), k), tile_plan::PROMOTION));
    dot_loop.result_bits = loads.stored_bits(function, m * n).unwrap_or(storage_bits(acc.element));
    let (mut sides, mut no_copies) = (vec![], vec![]);
    for (i, (v, depth)) in [(dot.lhs(), 1), (dot.rhs(), 0)].into_iter().enumerate() {
        let name = ["lhs", "rhs"][i];
        // The stage that TMA fills if a run-time test of the view allows it.
        let mut if_ready = None;
        let obstacle = match Source::of(v, op) {
            // Consumers are not between the loads and the dots, so they cannot convert a stage.
            Source::Loaded(found) if unit != Unit::Warpgroup && !found.computed.is_empty() => {
                (found.load, "its elements are computed".to_string())
            }
            Source::Loaded(found) => match copied((dot, depth), &found, function, (facts, unit, target)) {
                Ok(Copied { view, desc, unproved }) if unproved.is_empty() => {
                    if found.contiguous_dimension(&view) != Some(depth) {
                        *[&mut dot_loop.a_major, &mut dot_loop.b_major][i] = Major::Mn;
                    }
                    dot_loop.computed[i] = !found.computed.is_empty();
                    // A warp looks up its map between the loads.
                    if is_inside(view.make.op()) {
                        dot_loop.producer_registers = dot_loop.producer_registers.map(|r| r.max(MAP_REGISTERS));
                    }
                    loads.computed.extend(found.rounded.into_iter().chain(found.computed));
                    loads.loads.push(found.load);
                    sides.push(PlannedOperand::Ring { stage: desc, load: found.load });
                    continue;
                }
                Ok(Copied { view, desc, unproved }) => {
                    // A region of producer warps computes one operand.
                    let as_loaded = found.computed.is_empty() && found.moved.is_empty() && !found.shared;
                    if_ready = Some(desc).filter(|_| as_loaded && !is_inside(view.make.op()));
                    unproved.iter().for_each(|reason| remark::against(found.load, Better::Tma, reason));
                    (found.load, format!("TMA cannot load it: {}", unproved.join(", and ")))
                }
                Err((op, reason)) => {
                    remark::against(found.load, Better::Tma, &reason);
                    (op, reason)
                }
            },
            Source::Resident => {
                sides.push(PlannedOperand::Resident(v));
                continue;
            }
            Source::Computed if in_registers(v, (dot, i), &dot_loop, (function, facts, target), loads) => {
                dot_loop.a_storage = AStorage::Registers { extra: 0 };
                sides.push(PlannedOperand::Registers(v));
                continue;
            }
            _ => not("it is not a tile that is loaded only for dots"),
        };
        // A warp that computes an operand would keep up with eight warps that multiply only if it did very little.
        // Beside warps that bring scale factors, such warps would have few registers.
        if unit == Unit::Sync || scale.is_some() {
            return Err((obstacle.0, format!("{name}: {}", obstacle.1)));
        }
        let (stage, tile) = match plan_computed(v, (dot, unit), depth, (function, facts), loads) {
            Ok(planned) => planned,
            // The obstacle to TMA, then the obstacle to producer warps.
            Err((_, reason)) if reason == obstacle.1 => return Err((obstacle.0, format!("{name}: {reason}"))),
            Err((_, reason)) => return Err((obstacle.0, format!("{name}: {}; {reason}", obstacle.1))),
        };
        // TMA must fill the same stage, and the warps must do nothing but load the tile.
        let or_copy = if_ready == Some(stage) && tile.is_load;
        let when = if or_copy { " if a run-time test requires it" } else { "" };
        no_copies.push((obstacle.0, format!("producer warps compute {name}{when}: {}", obstacle.1)));
        if tile.fast != depth {
            *[&mut dot_loop.a_major, &mut dot_loop.b_major][i] = Major::Mn;
        }
        dot_loop.producer_computed[i] = true;
        dot_loop.copied[i] = tile.copied;
        dot_loop.producer_instructions += tile.instructions;
        dot_loop.producer_loads = dot_loop.producer_loads.max(tile.loads);
        for (most, registers) in dot_loop.producer_registers.iter_mut().zip(tile.registers) {
            *most = registers.max(*most);
        }
        let sources = sources(v, (dot, i), function, (facts, unit, target));
        sides.push(PlannedOperand::ProducerComputed { stage, how: Mark::new(tile.fast, or_copy), sources });
    }
    let sides: [PlannedOperand<'c>; 2] = sides.try_into().map_err(|_| not("it does not have two operands"))?;
    if unit == Unit::Sync {
        return Ok(Found { op, dot_loop, sides, scales: vec![], stage: vec![], no_copies });
    }
    let (scales, by, reasons) = scales::plan(dot, (function, facts, target), loads)?;
    dot_loop.scales = scale.map(|(format, block)| Scales { format, block, by });
    no_copies.extend(reasons.into_iter().map(|reason| (op, reason)));
    Ok(Found { op, dot_loop, sides, scales, stage: vec![], no_copies })
}

/// Whether consumers can compute operand `i` of a dot in registers: from another dot or, without tensor memory, from
/// tiles that TMA loads, whose loads are added to `loads`. Consumers would wait for memory in each iteration otherwise.
fn in_registers<'c>(
    v: Val<'c>,
    (dot, i): (TileDot<'c>, usize),
    dot_loop: &DotLoop,
    (function, facts, target): (OpRef<'c>, &Facts, &Target),
    loads: &mut Loads<'c>,
) -> bool {
    if i != LHS || !matches!(dot_loop.operand.bits(), 8 | 16) {
        return false;
    }
    if is_computed_from_dot(v) {
        return true;
    }
    let from =
        if loads.streams > 0 { sources(v, (dot, i), function, (facts, Unit::Warpgroup, target)) } else { vec![] };
    loads.streamed.extend(from.iter().map(|(_, load)| *load));
    !from.is_empty()
}

/// The tiles in memory that TMA can load for warps that compute operand `i` of a dot into tensor memory. Small tiles do
/// not need TMA: the warps load them an iteration ahead.
fn sources<'c>(
    v: Val<'c>,
    (dot, i): (TileDot<'c>, usize),
    function: OpRef<'c>,
    (facts, unit, target): (&Facts, Unit, &Target),
) -> Vec<(MemDescType<'c>, OpRef<'c>)> {
    if unit == Unit::Sync || i != LHS {
        return vec![];
    }
    let Ok(program) = TileProgram::of(v, dot.op(), function) else { return vec![] };
    let source = |load: TiledLoadOp<'c>| {
        let operand = LoadedOperand::plain(load.op());
        let is_only = uses(load.result()).len() == 1;
        let copied = is_only.then(|| copied((dot, 1), &operand, function, (facts, unit, target)).ok())??;
        copied.unproved.is_empty().then_some((copied.desc, load.op()))
    };
    program.large_tiles().filter_map(source).collect()
}

/// A tile that TMA loads.
struct Copied<'c> {
    view: View<'c>,
    desc: MemDescType<'c>,
    /// The properties that a run-time test must establish.
    unproved: Vec<String>,
}

/// Plans the TMA load of an operand whose dimension `depth` is K, or returns the obstacle.
fn copied<'c>(
    (dot, depth): (TileDot<'c>, usize),
    found: &LoadedOperand<'c>,
    function: OpRef<'c>,
    (facts, unit, target): (&Facts, Unit, &Target),
) -> Result<Copied<'c>, Obstacle<'c>> {
    let op = dot.op();
    let load = TiledLoadOp::cast(found.load).ok_or_else(|| (op, "operand is not loaded from a view".to_string()))?;
    check_load(load, op, function)?;
    if load.hints().and_then(|h| bool_hint(h, target.name, "allow_tma")) == Some(false) {
        return Err((load.op(), "the hint allow_tma forbids TMA".into()));
    }
    let view = View::of(load.view()).ok_or_else(|| (op, "its view is not created in this function".to_string()))?;
    // Looking up a map takes two round trips to L2. This pays for a loop of loads, but not for a single one.
    if loops_around(op).next().is_some_and(|innermost| loops_around(view.make.op()).any(|o| o == innermost)) {
        return Err((load.op(), "its tensor differs between iterations".into()));
    }
    if found.shared && (found.must_be_transposed(&view, depth, unit) || found.is_in_units(&view, depth, unit)) {
        return Err((load.op(), "the dots need the tile in different layouts".into()));
    }
    let indices: Vec<Val<'c>> = load.indices().collect();
    let (desc, planned) = found
        .stage(&view, depth, unit)
        .and_then(|stage| Ok((stage, tensor_maps::plan_copy(&view, &indices, &places(load.op()), stage, facts)?)))
        .map_err(|reason| (load.op(), format!("TMA cannot load it: {reason}")))?;
    Ok(Copied { view, desc, unproved: planned.unproved })
}

/// A tile that warps of the producer compute.
struct ComputedTile {
    /// The dimension along which it is contiguous in its stage.
    fast: usize,
    /// Whether `cp.async` copies the tile.
    copied: bool,
    /// Whether the tile is a tile of a view, as loaded.
    is_load: bool,
    /// Instructions per thread, if one warpgroup computes the tile.
    instructions: u32,
    /// The length of the longest chain of dependent loads.
    loads: u32,
    /// Registers per thread if one warpgroup computes the tile, and if two do.
    registers: [u32; 2],
}

/// Plans the program of producer warps for an operand whose dimension `depth` is K, or returns the obstacle.
fn plan_computed<'c>(
    v: Val<'c>,
    (dot, unit): (TileDot<'c>, Unit),
    depth: usize,
    (function, facts): (OpRef<'c>, &Facts),
    loads: &mut Loads<'c>,
) -> Result<(MemDescType<'c>, ComputedTile), Obstacle<'c>> {
    if is_computed_from_dot(v) {
        return Err((dot.op(), "the right operand is computed from a dot".into()));
    }
    check_loops(dot.op(), function)?;
    let program = TileProgram::of(v, dot.op(), function)?;
    let contiguous = program.contiguous_dimension(facts);
    let bits = Tensor::of_value(v).map_or(0, |t| storage_bits(t.element));
    // Threads do not store units of 32 bytes.
    let fast = contiguous.filter(|_| bits <= 16 && reads_mn_major(unit, bits)).unwrap_or(depth);
    let stage = computed_stage(dot.op(), v, fast).map_err(|reason| (dot.op(), reason))?;
    let copied = program.is_copied(fast, facts);
    let registers = [1, 2].map(|groups| program.registers(groups * WARPGROUP, copied, facts) + PRODUCER_REGISTERS);
    let instructions = program.instructions(WARPGROUP, copied, facts);
    loads.producer_ops.extend(program.ops());
    loads.around_computed.extend(parent_op(dot.op()).filter(|around| *around != function));
    let is_load = program.ops().count() == 1;
    let loads = program.loads_in_a_row(copied);
    Ok((stage, ComputedTile { fast, copied, is_load, instructions, loads, registers }))
}

/// Registers of a thread that looks up tensor maps.
const MAP_REGISTERS: u32 = 80;

/// Registers of a producer thread for addresses, bounds and counters, in addition to the elements of its tiles.
const PRODUCER_REGISTERS: u32 = 40;

/// Checks that another agent may issue a load, ahead of its place in the program.
fn check_load<'c>(load: TiledLoadOp<'c>, dot: OpRef<'c>, function: OpRef<'c>) -> Result<(), Obstacle<'c>> {
    let not = |reason: &str| Err((load.op(), reason.to_string()));
    if block_of(load.op()) != block_of(dot) {
        return not("the operand is not loaded in the block of the dot");
    }
    check_order(load, dot, function)
}

/// Checks that the order of memory accesses allows this.
fn check_order<'c>(load: TiledLoadOp<'c>, dot: OpRef<'c>, function: OpRef<'c>) -> Result<(), Obstacle<'c>> {
    let not = |reason: &str| Err((load.op(), reason.to_string()));
    if load.ordering() != Ordering::Weak || !is_over_for_others(load.result_token(), dot) {
        return not("other accesses are ordered after the load");
    }
    if !load.token().is_none_or(|token| is_free(token, function)) {
        return not("the load is ordered after another access");
    }
    check_loops(load.op(), function)
}

/// Checks that two agents can pass through all branches and loops around an op. A `while` loop must not contain ops
/// after its condition.
fn check_loops<'c>(op: OpRef<'c>, function: OpRef<'c>) -> Result<(), Obstacle<'c>> {
    let mut around = std::iter::successors(parent_op(op), |o| parent_op(*o)).take_while(|o| *o != function);
    if around.all(|o| matches!(Scf::of(o), Some(Scf::For | Scf::If)) || only_asks(o)) {
        Ok(())
    } else {
        Err((op, "the load is in a loop with ops after its condition".into()))
    }
}
