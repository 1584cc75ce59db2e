//! `tileaa-pair-tile-blocks` lets two CTAs run neighbouring tile blocks together.
//!
//! Two CTAs of a cluster can run the dots of a tile of 256 rows together, so that each loads only half of the right
//! operand (`tileaa-plan-dots`). Tile blocks of 128 rows can do the same in pairs if both multiply by the same right
//! operand. Neighbours along a dimension of the grid often do:
//!
//! ```text
//! x = get_program_id                     c = get_program_id;  r = get_cta_rank;  n = get_num_programs
//! for k:                                 x = 2 * c + r
//!   a = tiled_load A[x, k] : 128x64  =>  for step in 0 .. (2 * c < n ? 1 : 0):
//!   b = tiled_load B[k, y] : 64x256        for k: ..                              unchanged
//!   sum = dot a, b, sum                    tiled_store sum, C[x < n ? x : outside, y]
//! tiled_store sum, C[x, y]
//! ```
//!
//! The grid of a launch counts clusters, so half of them have no tile blocks. If the number of tile blocks is odd, the
//! last one is alone: the other CTA computes it too, and stores nothing.
//!
//! # Grids with one dimension
//!
//! If the id is divided into rows and columns, neighbours have the same column only mostly. Then both columns are
//! computed. If they differ, the two tile blocks take a step each, in which both CTAs multiply by the right operand of
//! that tile block, and only the first one stores:
//!
//! ```text
//! same = column(2 * c) == column(2 * c + 1)
//! for step in 0 .. (2 * c < n ? (same ? 1 : 2) : 0):
//!   x = 2 * c + (same ? r : step);  j = column(2 * c + step)
//!   for k: ..;  b = tiled_load B[k, j];  ..
//!   tiled_store sum, C[same || r == 0 ? x : outside, j]
//! ```
//!
//! A launch that does not fill the device has clusters for both steps: a cluster in the other half of the grid then
//! takes the second one.
//!
//! # Loops over tiles
//!
//! A persistent kernel has as many tile blocks as SMs, and each loops over tiles from its id, in steps of their number.
//! Then the number of a tile takes the place of the id: in each iteration, the two CTAs run tiles `t` and `t + 1`.
//!
//! # Conditions
//!
//! * Two CTAs can run all dots together, and each dot is in one loop, for each tile block or in a loop over tiles. Tile
//!   blocks neither wait for one another nor have other effects than stores to views.
//! * What both CTAs must agree in, the right operands with their scale factors and the bounds of loops, does not depend
//!   on the id, or is the same for most neighbours ([`Neighbours`]).
//! * The prediction is better by more than the scalars cost.

use super::{
    Found, Loads, analyze, takeover,
    tensor::{self, PAIR},
};
use crate::{
    analysis::{
        clones::{ValueMap, clone_op, mapped},
        column_slices,
        facts::Facts,
        neighbours::{Change, Neighbours},
        producers::{LoadedOperand, accumulation},
        tile_programs::TileProgram,
    },
    dialect::{
        arith::IntPredicate,
        attributes::{MAY_BE_OUTSIDE, NUM_CTAS, STEPS_OF_PAIR},
        behaviour,
        dots::{TileDot, tile_dots},
        fallback::Fallback,
        hints::{IGNORED_HINT, int_hint},
        loops::new_if,
        nv_tileaa::{
            self, AnyOp, GetCtaRankOp, GetNumProgramsOp, GetProgramIdOp, MemTokenType, NumTilesOp, TiledLoadOp,
        },
        pass::{Failed, Obstacle, PassContext, RustPass, descriptors, fail},
        remark::{self, remark},
        rt::*,
        target::target,
        types::{int, is_integer},
        upstream::Scf,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Region, Type},
};
use rustc_hash::FxHashSet;
use tile_mma::Unit;
use tile_plan::{DotLoop, Machine};
use tile_targets::Target;

#[derive(Clone, Default)]
pub struct PairTileBlocks;

/// The least predicted gain, as a fraction of the clocks without pairs.
const LEAST_GAIN: f64 = 0.03;

impl RustPass for PairTileBlocks {
    pass_descriptor!(tileaa_pair_tile_blocks);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_pair_tile_blocks::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        if tile_mma::agent_unit(target) != Some(Unit::Tensor) {
            return Ok(());
        }
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let is_alone = !NUM_CTAS.is_on(function.op()) && function.num_warps().is_none();
            if !is_alone || Fallback::within(function.op()) != Fallback::None {
                continue;
            }
            if let Some(pairing) = Pairing::of(function, target) {
                cx.stat_add(stat::NUM_PAIRED, 1);
                let name = ["x", "y", "z"][pairing.dimension];
                let mostly = if pairing.differing.is_empty() { "" } else { ", if they have the same right operands" };
                let text = format!("two CTAs run neighbouring tile blocks along {name} together{mostly}");
                remark(function.op(), remark::PAIRED_TILE_BLOCKS, text, None);
                NUM_CTAS.set(function.op(), PAIR);
                pairing.rewrite(context)?;
            }
        }
        Ok(())
    }
}

/// The program of a tile block, or of a tile if each tile block loops over tiles.
struct Program<'c> {
    function: OpRef<'c>,
    ids: GetProgramIdOp<'c>,
    /// The loop over tiles from the id, in steps of the number of tile blocks.
    tiles: Option<OpRef<'c>>,
    block: Blk<'c>,
    /// The number of the tile: the id along the dimension of neighbours, or the variable of the loop.
    number: Val<'c>,
    /// Integers that depend on the number, or on another coordinate of the id.
    scalars: Vec<OpRef<'c>>,
    /// Ops with effects, and all that depends on them or produces tensors for them.
    rest: Vec<OpRef<'c>>,
    last: OpRef<'c>,
}

impl<'c> Program<'c> {
    /// Returns `None` if the function does not read the id exactly once, in its entry block, or has another loop
    /// around its dots.
    fn of(function: nv_tileaa::FuncOp<'c>, d: usize, dots: &[OpRef<'c>]) -> Option<Self> {
        let entry = entry_block(function.body())?;
        let [ids] = collect_ops(function.op(), GetProgramIdOp::cast)[..] else { return None };
        let id = result(ids.op(), d);
        let (first, _) = accumulation(*dots.first()?)?;
        let around = parent_op(first)?;
        let tiles = (around != function.op()).then_some(around);
        let (block, number, given) = match tiles {
            None => (entry, id, results(ids.op()).map(key).collect()),
            Some(tiles) => {
                loops_over_tiles(tiles, id, d)?;
                let body = entry_block(region(tiles, 0)).filter(|_| parent_op(tiles) == Some(function.op()))?;
                (body, arg(body, 0), vec![key(arg(body, 0))])
            }
        };
        let last = ops_of(block).last()?;
        let (mut scalars, mut rest) = (vec![], vec![]);
        let (mut of_id, mut of_rest) = (FxHashSet::from_iter(given), FxHashSet::default());
        for op in ops_of(block).take_while(|op| *op != last).filter(|op| *op != ids.op()) {
            let repeats = region_count(op) == 0 && behaviour::effects(op).is_some_and(|list| list.is_empty());
            let uses = |set: &FxHashSet<usize>| operands(op).any(|v| set.contains(&key(v)));
            if !repeats || uses(&of_rest) || uses(&of_id) && !results(op).all(|r| is_integer(ty(r))) {
                of_rest.extend(results(op).map(key));
                rest.push(op);
            } else if uses(&of_id) {
                of_id.extend(results(op).map(key));
                scalars.push(op);
            }
        }
        let program = Self { function: function.op(), ids, tiles, block, number, scalars, rest, last };
        (block_around(ids.op()) == Some(entry)).then_some(program)
    }

    /// The tokens that the loop over tiles carries through the rest of the program, by the number of their results.
    fn tokens(&self) -> Vec<usize> {
        if self.tiles.is_none() {
            return vec![];
        }
        let moved: FxHashSet<usize> = self.rest.iter().flat_map(|op| results(*op)).map(key).collect();
        (0..operand_count(self.last)).filter(|i| moved.contains(&key(operand(self.last, *i)))).collect()
    }

    /// Whether a value is the number of the tile, or an integer that depends only on it and values from outside.
    fn is_scalar(&self, v: Val<'c>) -> bool {
        v == self.number || defining_op(v).is_some_and(|op| self.scalars.contains(&op))
    }
}

/// Checks that a loop runs from `id`, its only use, in steps of the number of tile blocks along dimension `d`, and
/// carries nothing but tokens.
fn loops_over_tiles<'c>(tiles: OpRef<'c>, id: Val<'c>, d: usize) -> Option<()> {
    let is_for = Scf::of(tiles) == Some(Scf::For) && attr(tiles, "unsignedCmp").is_none();
    let step = defining_op(operand(tiles, 2)).and_then(GetNumProgramsOp::cast)?;
    let is_from_id = operand(tiles, 0) == id && uses(id).len() == 1 && operand(tiles, 2) == result(step.op(), d);
    let carries_tokens = results(tiles).all(|r| MemTokenType::cast(ty(r)).is_some());
    (is_for && is_from_id && carries_tokens).then_some(())
}

/// How the tile blocks of a function are paired.
struct Pairing<'c> {
    program: Program<'c>,
    /// The dimension of the grid along which they are neighbours.
    dimension: usize,
    /// The number of SMs of the device.
    sms: i64,
    /// The scalars on which the right operands depend and that may differ between the tile blocks.
    differing: Vec<Val<'c>>,
    /// The accesses of tiles of each tile block, with the dimension along which they are moved out of the view.
    own: Vec<(OpRef<'c>, usize)>,
}

impl<'c> Pairing<'c> {
    /// Returns `None` if tile blocks cannot be paired, or if that does not pay.
    fn of(function: nv_tileaa::FuncOp<'c>, target: &Target) -> Option<Self> {
        let dots = tile_dots(function.op());
        if dots.is_empty() {
            return None;
        }
        let loops = paired_dots(function.op(), &dots, target).ok()?;
        if !pays(function, &loops, target) {
            return None;
        }
        let sms = Machine::named(target.name).ok()?.get("sm.count").ok()? as i64;
        let along = |d: usize| Self::along(Program::of(function, d, &dots)?, (d, sms), &dots).ok();
        let all: Vec<Self> = (0..3).filter_map(along).collect();
        let first = all.iter().position(|p| p.differing.is_empty()).unwrap_or(0);
        all.into_iter().nth(first)
    }

    /// Pairs tile blocks along dimension `d` of the grid.
    fn along(program: Program<'c>, (d, sms): (usize, i64), dots: &[OpRef<'c>]) -> Result<Self, Obstacle<'c>> {
        let neighbours = Neighbours::of(program.function, program.number);
        let mut pairing = Self { program, dimension: d, sms, differing: vec![], own: vec![] };
        // Loads in which both CTAs agree, and loads that each CTA has for itself inside the views.
        let (mut common, mut kept) = (FxHashSet::default(), FxHashSet::default());
        for op in dots {
            let not = |reason: &str| (*op, reason.to_string());
            let around = accumulation(*op).map(|(around, _)| around);
            let around = around.filter(|around| block_around(*around) == Some(pairing.program.block));
            let around = around.ok_or_else(|| not("it is not in a loop that adds to it"))?;
            let dot = TileDot::cast(*op).ok_or_else(|| not("not a dot"))?;
            let tile = LoadedOperand::of(dot.rhs()).ok_or_else(|| not("the right operand is not loaded"))?;
            let mut right = vec![tile.load];
            if let Some([left, of_right]) = dot.scales() {
                kept.extend(TileProgram::of(left, *op, pairing.program.function)?.ops().map(op_key));
                let program = TileProgram::of(of_right, *op, pairing.program.function)?;
                right.extend(loads_alike(&program, *op, &neighbours)?);
            }
            for load in right.into_iter().filter_map(TiledLoadOp::cast) {
                if neighbours.change(load.view()) != Change::Never {
                    return Err(not("the views of right operands differ"));
                }
                if common.insert(op_key(load.op())) {
                    let indices = load.indices().len();
                    (0..indices).try_for_each(|i| pairing.agree(load.op(), 1 + i, around, &neighbours))?;
                }
            }
            (0..3).try_for_each(|i| pairing.agree(around, i, around, &neighbours))?;
        }
        let mut accesses = vec![];
        walk(pairing.program.function, &mut |op| accesses.extend(AnyOp::cast(op).map(|any| (op, any))));
        for (op, any) in accesses {
            let not = |reason: &str| (op, reason.to_string());
            // The largest change is that of rows, if columns are the same for most neighbours.
            let moved = |indices: Vec<Val<'c>>| {
                let of = |(d, v): (usize, &Val<'c>)| Some((neighbours.change(*v), d)).filter(|_| is_integer(ty(*v)));
                let all = indices.iter().enumerate().filter_map(of).filter(|(change, _)| *change != Change::Never);
                all.max_by_key(|(change, d)| (*change == Change::Step, std::cmp::Reverse(*d))).map(|(_, d)| d)
            };
            match any {
                AnyOp::TiledLoadOp(x) if !common.contains(&op_key(op)) && !kept.contains(&op_key(op)) => {
                    pairing.own.extend(moved(x.indices().collect()).map(|d| (op, d)));
                }
                AnyOp::TiledStoreOp(x) => {
                    let d = moved(x.indices().collect());
                    pairing.own.push((op, d.ok_or_else(|| not("a store does not depend on the tile block"))?));
                }
                AnyOp::StoreOp(_) | AnyOp::ScatterStoreOp(_) => return Err(not("it stores through pointers")),
                _ => {}
            }
        }
        Ok(pairing)
    }

    /// Finds what makes operand `i` of an op differ between neighbours. The op is the loop `around` a dot, or in it.
    fn agree(
        &mut self,
        op: OpRef<'c>,
        i: usize,
        around: OpRef<'c>,
        neighbours: &Neighbours,
    ) -> Result<(), Obstacle<'c>> {
        let iteration = entry_block(region(around, 0)).map(|body| arg(body, 0));
        let (mut work, mut seen) = (vec![operand(op, i)], FxHashSet::default());
        while let Some(v) = work.pop() {
            if Some(v) == iteration || neighbours.change(v) == Change::Never || !seen.insert(key(v)) {
                continue;
            }
            if self.program.is_scalar(v) {
                if neighbours.change(v) != Change::Seldom {
                    return Err((op, "neighbours have different right operands".into()));
                }
                if !self.differing.contains(&v) {
                    self.differing.push(v);
                }
                continue;
            }
            match defining_op(v).filter(|by| region_count(*by) == 0 && behaviour::is_pure(*by)) {
                Some(by) => work.extend(operands(by)),
                None => return Err((op, "neighbours may have different right operands".into())),
            }
        }
        Ok(())
    }
}

/// The loads of views from which a program computes a tile, if it differs between neighbours in nothing else.
fn loads_alike<'c>(
    program: &TileProgram<'c>,
    dot: OpRef<'c>,
    neighbours: &Neighbours,
) -> Result<Vec<OpRef<'c>>, Obstacle<'c>> {
    let inside: FxHashSet<usize> = program.ops().flat_map(results).map(key).collect();
    let (loads, others): (Vec<_>, Vec<_>) = program.ops().partition(|op| TiledLoadOp::cast(*op).is_some());
    let is_alike = |v: Val<'c>| inside.contains(&key(v)) || neighbours.change(v) == Change::Never;
    if !others.into_iter().all(|op| operands(op).all(is_alike)) {
        return Err((dot, "scale factors of the right operand cannot be computed for another tile block".into()));
    }
    Ok(loads)
}

/// Returns the planner's input for dots into tensor memory that two CTAs can run together.
///
/// Errors: the reason why they cannot, or why tile blocks depend on one another.
fn paired_dots<'c>(function: OpRef<'c>, dots: &[OpRef<'c>], target: &Target) -> Result<Vec<DotLoop>, Obstacle<'c>> {
    takeover::check_independent(function)?;
    let (facts, mut loads) = (Facts::of(function), Loads::default());
    let found: Result<Vec<Found<'c>>, Obstacle<'c>> = dots
        .iter()
        .map(|op| {
            let dot = TileDot::cast(*op).ok_or_else(|| (*op, "not a dot".to_string()))?;
            analyze(dot, function, (&facts, Unit::Tensor, target), &mut loads)
        })
        .collect();
    let found = found?;
    tensor::check_pair(function, &found)?;
    Ok(found.iter().map(|p| p.dot_loop).collect())
}

/// Whether pairs are predicted to be faster.
fn pays(function: nv_tileaa::FuncOp<'_>, loops: &[DotLoop], target: &Target) -> bool {
    let Ok(machine) = Machine::named(target.name) else { return false };
    let facts = Facts::of(function.op());
    let sliced = column_slices::of_all(function.op(), &facts);
    let sliced = sliced.is_some_and(|all| all.iter().all(|code| code.most > 1));
    let clocks = |pair: bool| {
        let dots: Vec<DotLoop> = loops.iter().map(|dot| DotLoop { pair, ..*dot }).collect();
        tile_plan::tensor_clocks(&dots, sliced, &machine)
    };
    let Ok(pairs) = clocks(true) else { return false };
    let hint = function.hints().and_then(|h| int_hint(h, target.name, "num_cta_in_cga", |n| n >= 1));
    let charge = if hint.is_some_and(|n| n != PAIR) { IGNORED_HINT } else { 1.0 };
    clocks(false).is_ok_and(|alone| pairs * charge < alone * (1.0 - LEAST_GAIN))
}

/// The tiles of a cluster.
struct Place<'c> {
    rank: Val<'c>,
    /// Whether the cluster is in the half of the grid that has pairs.
    is_first_half: Val<'c>,
    /// Whether the launch does not fill the device, so that clusters of the other half run second steps.
    is_small: Val<'c>,
    /// Whether the cluster has a pair or may have a second step; always so if there is no value.
    may_run: Option<Val<'c>>,
    /// The numbers of the tiles of the pair, which are equal if it has only one.
    pair: [Val<'c>; 2],
    /// Whether the tile of this CTA exists if both CTAs run their own.
    exists: Val<'c>,
}

/// A value of the program of a tile, for both tiles of a pair, with its users.
struct Scalar<'c> {
    pair: [Val<'c>; 2],
    /// Whether right operands depend on it.
    is_common: bool,
    users: Vec<(OpRef<'c>, usize)>,
}

impl<'c> Pairing<'c> {
    fn rewrite(&self, context: &'c Context) -> Result<(), Failed> {
        let Program { function, ids, tiles, number, scalars, last, .. } = &self.program;
        let error = |e: BuildError| fail(*function, e.to_string());
        let b = Builder::before(context, *last);
        b.set_location(ids.op().location());
        let users = |v: Val<'c>| uses(v).into_iter().filter(|(user, _)| !scalars.contains(user)).collect::<Vec<_>>();
        let values = scalars.iter().flat_map(|op| results(*op)).chain([*number]);
        let values: Vec<_> = values.map(|v| (v, users(v))).filter(|(_, users)| !users.is_empty()).collect();
        let place = match tiles {
            None => {
                move_before(ids.op(), *last);
                self.clusters(&b, *number, None).map_err(error)?
            }
            Some(tiles) => self.tile(&b, *tiles).map_err(error)?,
        };
        let (zero, one, two) = (b.i32_constant(0), b.i32_constant(1), b.i32_constant(PAIR));
        let is_leader = b.cmpi(IntPredicate::Eq, place.rank, zero);
        let stores = if self.differing.is_empty() {
            let own = self.evaluate(&b, b.select(is_leader, place.pair[0], place.pair[1]));
            for (v, users) in values {
                users.into_iter().for_each(|(user, i)| set_operand(user, i, mapped(&own, v)));
            }
            let (around, body) = self.steps(&b, zero, b.select(place.is_first_half, one, zero)).map_err(error)?;
            self.fill(context, around, body);
            (place.exists, around)
        } else {
            let (same, all) = self.compare(&b, &place, values).map_err(error)?;
            let from = b.select(place.is_first_half, zero, one);
            let has_no_second = b.cmpi(IntPredicate::Eq, place.is_first_half, place.is_small);
            let to = b.select(b.ori(same, has_no_second), one, two);
            let (around, body) = self.steps(&b, from, to).map_err(error)?;
            let inside = Builder::at_end(context, body, b.location());
            let is_first_step = inside.cmpi(IntPredicate::Eq, arg(body, 0), zero);
            let takes_first = inside.select(same, is_leader, is_first_step);
            let stores = inside.select(same, place.exists, is_leader);
            for scalar in all {
                let [first, second] = scalar.pair;
                // In a common value both CTAs agree, so it must not seem to depend on the CTA.
                let own = inside.select(if scalar.is_common { is_first_step } else { takes_first }, first, second);
                scalar.users.into_iter().for_each(|(user, i)| set_operand(user, i, own));
            }
            self.fill(context, around, body);
            (stores, around)
        };
        scalars.iter().rev().for_each(|op| erase(*op));
        self.own.iter().try_for_each(|(op, d)| move_out(context, *op, *d, stores))
    }

    /// Builds the place of the cluster with a number among the tile blocks, or among `tiles` if it loops over them.
    fn clusters(&self, b: &Builder<'c>, cluster: Val<'c>, tiles: Option<Val<'c>>) -> Result<Place<'c>, BuildError> {
        let t = int(b.context(), 32);
        let rank = GetCtaRankOp::build(b, t)?.result();
        let counts = GetNumProgramsOp::build(b, t, t, t)?.op();
        let count = result(counts, self.dimension);
        let (one, two) = (b.i32_constant(1), b.i32_constant(PAIR));
        let half = b.divui(b.addi(count, one), two);
        let is_first_half = b.cmpi(IntPredicate::Ult, cluster, half);
        let (is_small, may_run) = if self.differing.is_empty() {
            (b.bool_constant(false), is_first_half)
        } else {
            // Each factor is bounded, so that the product does not overflow.
            let (most, more) = (b.i32_constant(self.sms), b.i32_constant(self.sms + 1));
            let all = tiles.or_else(|| results(counts).map(|n| b.minui(n, more)).reduce(|x, y| b.muli(x, y)));
            let is_small = b.cmpi(IntPredicate::Sle, all.unwrap_or(count), most);
            (is_small, b.ori(is_first_half, is_small))
        };
        let number = b.select(is_first_half, cluster, b.subi(cluster, half));
        let first = b.muli(number, two);
        let second = b.minui(b.addi(first, one), b.subi(count, one));
        let exists = b.cmpi(IntPredicate::Ult, b.addi(first, rank), count);
        Ok(Place { rank, is_first_half, is_small, may_run: Some(may_run), pair: [first, second], exists })
    }

    /// Builds the place of a cluster in an iteration of the loop over tiles, and makes the loop start at its pair.
    fn tile(&self, b: &Builder<'c>, tiles: OpRef<'c>) -> Result<Place<'c>, BuildError> {
        let outside = Builder::before(b.context(), tiles);
        outside.set_location(b.location());
        let end = operand(tiles, 1);
        let blocks = self.clusters(&outside, operand(tiles, 0), Some(end))?;
        let runs = blocks.may_run.unwrap_or(blocks.is_first_half);
        set_operand(tiles, 0, outside.select(runs, blocks.pair[0], end));
        let number = self.program.number;
        // The second tile block of the last cluster may not exist, although its tile does.
        let distance = outside.subi(blocks.pair[1], blocks.pair[0]);
        let second = b.minui(b.addi(number, distance), b.subi(end, b.i32_constant(1)));
        let exists = b.cmpi(IntPredicate::Ult, b.addi(number, blocks.rank), end);
        let exists = b.andi(exists, blocks.exists);
        Ok(Place { may_run: None, pair: [number, second], exists, ..blocks })
    }

    /// Builds the scalars of both tiles, and whether the tiles have the same right operands. Clusters without work skip
    /// that.
    fn compare(
        &self,
        b: &Builder<'c>,
        place: &Place<'c>,
        values: Vec<(Val<'c>, Vec<(OpRef<'c>, usize)>)>,
    ) -> Result<(Val<'c>, Vec<Scalar<'c>>), BuildError> {
        let of_pair = |b: &Builder<'c>| {
            let [first, second] = place.pair.map(|number| self.evaluate(b, number));
            let same = self.differing.iter().map(|v| b.cmpi(IntPredicate::Eq, mapped(&first, *v), mapped(&second, *v)));
            let same = same.reduce(|all, one| b.andi(all, one)).unwrap_or_else(|| b.bool_constant(true));
            let pairs = values.iter().flat_map(|(v, _)| [mapped(&first, *v), mapped(&second, *v)]);
            [same].into_iter().chain(pairs).collect::<Vec<_>>()
        };
        let found = match place.may_run {
            None => of_pair(b),
            Some(may_run) => {
                let scalars = values.iter().flat_map(|(v, _)| [ty(*v), ty(*v)]);
                let types: Vec<Type<'c>> = [int(b.context(), 1)].into_iter().chain(scalars).collect();
                let (choice, [then, otherwise]) = new_if(b, may_run, &types)?;
                let then = Builder::at_end(b.context(), then, b.location());
                then.create("scf.yield", &[], &of_pair(&then), &[]);
                let otherwise = Builder::at_end(b.context(), otherwise, b.location());
                let none: Vec<Val<'c>> = types.iter().map(|t| otherwise.int_constant(*t, 0)).collect();
                otherwise.create("scf.yield", &[], &none, &[]);
                results(choice).collect()
            }
        };
        let all = values.into_iter().zip(found[1..].chunks(2)).map(|((v, users), pair)| Scalar {
            pair: [pair[0], pair[1]],
            is_common: self.differing.contains(&v),
            users,
        });
        Ok((found[0], all.collect()))
    }

    /// Builds the loop over the steps of a pair. Its body is empty.
    fn steps(&self, b: &Builder<'c>, from: Val<'c>, to: Val<'c>) -> Result<(OpRef<'c>, Blk<'c>), BuildError> {
        let Program { function, block, .. } = &self.program;
        let given: Vec<Val<'c>> = self.program.tokens().iter().map(|i| arg(*block, i + 1)).collect();
        let types: Vec<Type<'c>> = given.iter().map(|v| ty(*v)).collect();
        let mut state = b.state("scf.for");
        state.results(&types);
        state.operands(&[vec![from, to, b.i32_constant(1)], given].concat());
        let region = Region::new();
        let body = append_block(&region, &[vec![ty(from)], types].concat(), function.location());
        state.region(region);
        let around = b.insert(state)?;
        STEPS_OF_PAIR.mark(around);
        Ok((around, body))
    }

    /// Moves the rest of the program into the `body` of the loop over the steps of a pair.
    fn fill(&self, context: &'c Context, around: OpRef<'c>, body: Blk<'c>) {
        let Program { function, block, rest, last, .. } = &self.program;
        let tokens = self.program.tokens();
        let b = Builder::at_end(context, body, function.location());
        let yielded: Vec<Val<'c>> = tokens.iter().map(|i| operand(*last, *i)).collect();
        let end = b.create("scf.yield", &[], &yielded, &[]);
        for (n, i) in tokens.into_iter().enumerate() {
            let inner = uses(arg(*block, i + 1)).into_iter().filter(|(user, _)| user != last && *user != around);
            inner.for_each(|(user, at)| set_operand(user, at, arg(body, n + 1)));
            set_operand(*last, i, result(around, n));
        }
        rest.iter().for_each(|op| move_before(*op, end));
    }

    /// Computes the scalars of the tile with another number.
    fn evaluate(&self, b: &Builder<'c>, number: Val<'c>) -> ValueMap<'c> {
        let mut map = ValueMap::from_iter([(key(self.program.number), number)]);
        self.program.scalars.iter().for_each(|op| _ = clone_op(b, *op, &mut map));
        map
    }
}

/// Moves the tile of an access out of its view along dimension `d` unless the CTA `stores` its tile. `around` is the
/// loop that runs at most once.
fn move_out<'c>(
    context: &'c Context,
    op: OpRef<'c>,
    d: usize,
    (stores, around): (Val<'c>, OpRef<'c>),
) -> Result<(), Failed> {
    let (view, first) = match AnyOp::cast(op) {
        Some(AnyOp::TiledLoadOp(x)) => (x.view(), 1),
        Some(AnyOp::TiledStoreOp(x)) => (x.view(), 2),
        _ => return Err(fail(op, "not an access of a tile")),
    };
    let index = operand(op, first + d);
    // As far outside as the index is.
    let mut place = op;
    while block_of(place) != home_of(index) && block_of(place) != home_of(view) {
        match parent_op(place).filter(|parent| *parent != around) {
            Some(parent) => place = parent,
            None => break,
        }
    }
    let b = Builder::before(context, place);
    b.set_location(op.location());
    let outside = NumTilesOp::build(&b, ty(index), view, i64_attr(context, d as i64))
        .map_err(|e| fail(op, e.to_string()))?
        .result();
    set_operand(op, first + d, b.select(stores, index, outside));
    MAY_BE_OUTSIDE.set(op, d as i64);
    Ok(())
}
