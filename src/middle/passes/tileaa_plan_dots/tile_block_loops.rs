//! `tileaa-loop-over-tile-blocks` lets one CTA for each SM run all tile blocks of a large grid.
//!
//! A kernel that runs one tile block per CTA multiplies nothing while its first tiles arrive and while it stores its
//! results. In a loop over tile blocks, the producer loads the first tiles of the next one meanwhile. Targets with
//! cluster launch control take over tile blocks (`tileas-dynamic-persistent`). Elsewhere, the first CTAs of the grid
//! run all tile blocks, and the others end at once:
//!
//! ```text
//! x, y, z = get_program_id          many = K <= 68
//! for k in 0 .. K:             =>   for i in 0 .. num_programs_of_cta many:
//!   ..                                x, y, z = program_of_cta i, many
//! tiled_store sum, C[x, y]            for k in 0 .. K: ..
//!                                     tiled_store sum, C[x, y]
//! ```
//!
//! The hardware starts CTAs in this order too. A CTA that ends at once takes 402 clocks of an SM (measured).
//!
//! # Conditions
//!
//! * Dots of `wgmma` read both operands from rings, and have a plan in the loop. The tiles that TMA stores have memory
//!   of their own there.
//! * Tile blocks neither wait for one another nor have other effects than stores.
//! * The trip counts of the loops around dots do not depend on the tile block, so that CTAs with equal numbers of tile
//!   blocks take equal time. If they are not constants, a test at run time chooses: long loops gain little.
//! * The program does not ask for a number of CTAs per SM.

use super::{
    Found, Loads, PlannedOperand, analyze, hints, plan, rings,
    room::{HIDING_STAGES, stored_in_loops},
    share_stages, takeover,
};
use crate::{
    analysis::{
        clones::{ValueMap, clone_op},
        facts::Facts,
        tile_blocks::{set_tile_block, tile_block_program},
    },
    dialect::{
        arith::IntPredicate,
        attributes::NUM_CTAS,
        dots::{TileDot, tile_dots},
        elements,
        fallback::Fallback,
        loops::known_trips,
        nv_tileaa::{self, NumProgramsOfCtaOp, ProgramOfCtaOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        remark::{self, remark},
        rt::*,
        target::target,
        types::int,
    },
    pass_descriptor,
};
use melior::{Context, ir::Region};
use rustc_hash::FxHashSet;
use tile_mma::Unit;
use tile_plan::{DotLoop, Machine};
use tile_targets::Target;

#[derive(Clone, Default)]
pub struct LoopOverTileBlocks;

/// The least predicted gain, as a fraction of the clocks of the dots. On an H200, persistent kernels with tiles of
/// 128x256x64 were measured to be 20 % faster at 16 iterations, 4 % faster at 64, and equal at 128.
const LEAST_GAIN: f64 = 0.08;

impl RustPass for LoopOverTileBlocks {
    pass_descriptor!(tileaa_loop_over_tile_blocks);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_loop_over_tile_blocks::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        if tile_mma::agent_unit(target) != Some(Unit::Warpgroup) {
            return Ok(());
        }
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let is_alone = !NUM_CTAS.is_on(function.op()) && function.num_warps().is_none();
            if !is_alone || Fallback::within(function.op()) != Fallback::None {
                continue;
            }
            let Some(most) = most_trips(function, target) else { continue };
            let is_known = known(function.op()).is_some();
            if let Some(looped) = looped(function, (most, target), context)? {
                cx.stat_add(stat::NUM_LOOPS, 1);
                let text = "one CTA for each SM runs all tile blocks of a large grid";
                let when = if is_known { String::new() } else { format!(", up to {most} iterations") };
                remark(looped, remark::LOOPED_TILE_BLOCKS, format!("{text}{when}"), None);
            }
        }
        Ok(())
    }
}

/// The sum of the trip counts of the loops around dots, if these are constants.
fn known(function: OpRef<'_>) -> Option<u32> {
    let mut seen = FxHashSet::default();
    let first_of_loop = |dot: &OpRef<'_>| seen.insert(parent_op(*dot).map(op_key));
    tile_dots(function).into_iter().filter(first_of_loop).map(known_trips).sum()
}

/// The largest number of iterations of dots for which a loop over tile blocks pays. `None` if it never does, or if the
/// kernel cannot have one.
fn most_trips(function: nv_tileaa::FuncOp<'_>, target: &Target) -> Option<u32> {
    let dots = tile_dots(function.op());
    takeover::check(function.op(), &dots).ok().filter(|()| !dots.is_empty())?;
    let (facts, mut loads) = (Facts::of(function.op()), Loads::default());
    let each = dots
        .iter()
        .map(|op| analyze(TileDot::cast(*op)?, function.op(), (&facts, Unit::Warpgroup, target), &mut loads).ok());
    let mut found = each.collect::<Option<Vec<Found<'_>>>>()?;
    let in_rings = |p: &Found<'_>| p.sides.iter().all(|side| matches!(side, PlannedOperand::Ring { .. }));
    share_stages(&mut found);
    let hints = hints(function, &loads.loads, target);
    if !found.iter().all(in_rings) || rings(&found).len() != 1 || hints.occupancy.is_some() {
        return None;
    }
    let machine = Machine::named(target.name).ok()?;
    // Two CTAs per SM, which short loops could have, were measured to be slower than a loop over tile blocks.
    let with = |over_tiles: bool| {
        let dot_loop = DotLoop { over_tiles, trips: None, ..found[0].dot_loop };
        Some(tile_plan::plan(&dot_loop, &hints, &machine).ok()?.prediction)
    };
    let (alone, looped) = (with(false)?, with(true)?);
    let most = ((alone.tile - looped.tile) / LEAST_GAIN / (looped.iteration * found.len() as f64)).max(0.0) as u32;
    (known(function.op()).unwrap_or(1) <= most).then_some(most)
}

/// Replaces a function by one that loops over tile blocks, and returns it. Returns `None` if that has no plan.
fn looped<'c>(
    function: nv_tileaa::FuncOp<'c>,
    (most, target): (u32, &Target),
    context: &'c Context,
) -> Result<Option<OpRef<'c>>, Failed> {
    let b = Builder::before(context, function.op());
    let copy = clone_op(&b, function.op(), &mut ValueMap::default());
    let Some(new) = nv_tileaa::FuncOp::cast(copy) else { return Ok(None) };
    let unit = (Unit::Warpgroup, target);
    let has_plan = repeat(new, most, context)? && {
        let stored = stored_in_loops(copy, &Facts::of(copy)).ok();
        let plan = plan(new, &tile_dots(copy), unit, (Fallback::None, false)).ok();
        plan.zip(stored).is_some_and(|((plan, _), stored)| plan.stages >= HIDING_STAGES && plan.scratch >= stored)
    };
    erase(if has_plan { function.op() } else { copy });
    Ok(has_plan.then_some(copy))
}

/// Builds the loop over tile blocks. Returns false if trip counts depend on the tile block.
fn repeat<'c>(function: nv_tileaa::FuncOp<'c>, most: u32, context: &'c Context) -> Result<bool, Failed> {
    let op = function.op();
    let error = |e: BuildError| fail(op, e.to_string());
    let (program, last) = tile_block_program(function)?;
    let b = Builder::before(context, last);
    b.set_location(op.location());
    let Some(many) = are_short(&b, function, (most, &program)) else { return Ok(false) };
    let t = int(context, 32);
    let count = NumProgramsOfCtaOp::build(&b, t, many).map_err(error)?.result();
    let (zero, one) = (b.i32_constant(0), b.i32_constant(1));
    let mut state = b.state("scf.for");
    state.operands(&[zero, count, one]);
    let region = Region::new();
    let body = append_block(&region, &[t], op.location());
    state.region(region);
    b.insert(state).map_err(error)?;
    let inside = Builder::at_end(context, body, op.location());
    let own = ProgramOfCtaOp::build(&inside, t, t, t, arg(body, 0), many).map_err(error)?.op();
    let end = inside.create("scf.yield", &[], &[], &[]);
    program.iter().for_each(|moved| move_before(*moved, end));
    set_tile_block(&program, [result(own, 0), result(own, 1), result(own, 2)]);
    Ok(true)
}

/// Builds a test whether the loops around dots have at most `most` iterations in all. Returns `None` if that depends on
/// the tile block, on which the ops of `program` depend.
fn are_short<'c>(
    b: &Builder<'c>,
    function: nv_tileaa::FuncOp<'c>,
    (most, program): (u32, &[OpRef<'c>]),
) -> Option<Val<'c>> {
    if known(function.op()).is_some() {
        return Some(b.bool_constant(true));
    }
    let mut loops: Vec<OpRef<'c>> = tile_dots(function.op()).into_iter().filter_map(parent_op).collect();
    loops.dedup();
    let t = int(b.context(), 32);
    let is_outside = |v: Val<'c>| ty(v) == t && defining_op(v).is_none_or(|by| !program.contains(&by));
    if !loops.iter().all(|of| (0..3).all(|i| is_outside(operand(*of, i)))) {
        return None;
    }
    let is =
        |v: Val<'c>, n: i64| defining_op(v).and_then(|op| attr(op, "value")).and_then(elements::integer) == Some(n);
    // A loop whose end is before its start counts as a long one.
    let trips = loops.into_iter().map(|of| {
        let [from, to, step] = [0, 1, 2].map(|i| operand(of, i));
        let distance = if is(from, 0) { to } else { b.subi(to, from) };
        if is(step, 1) { distance } else { b.divui(b.addi(distance, b.subi(step, b.i32_constant(1))), step) }
    });
    let most = i64::from(most);
    match trips.collect::<Vec<_>>()[..] {
        [only] => Some(b.cmpi(IntPredicate::Ule, only, b.i32_constant(most))),
        ref all => {
            let wide = all.iter().map(|count| b.resized(*count, int(b.context(), 64), true));
            Some(b.cmpi(IntPredicate::Ule, wide.reduce(|x, y| b.addi(x, y))?, b.i64_constant(most)))
        }
    }
}
