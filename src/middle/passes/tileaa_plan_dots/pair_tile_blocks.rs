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
//! computed. If they differ, the pair takes a step for each, with the right operand of that tile block, and only its
//! CTA stores:
//!
//! ```text
//! j0 = column(2 * c);  j1 = column(2 * c + 1)
//! for step in 0 .. (j0 == j1 ? 1 : 2):
//!   j = step == 0 ? j0 : j1
//!   for k: ..;  b = tiled_load B[k, j];  ..
//!   tiled_store sum, C[j0 == j1 || step == r ? x : outside, y]
//! ```
//!
//! A launch of few rows could have neighbours that always differ. If already the first two tile blocks do, both CTAs of
//! each cluster run the same tile block, and one of them stores.
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
        clones::{ValueMap, clone_op},
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
        dots::TileDot,
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
    /// Operands in which both CTAs must agree, by op and number.
    common: Vec<(OpRef<'c>, usize)>,
    /// The scalars that these depend on and that may differ between the tile blocks.
    differing: Vec<Val<'c>>,
    /// The accesses of tiles of each tile block, with the dimension along which they are moved out of the view.
    own: Vec<(OpRef<'c>, usize)>,
}

impl<'c> Pairing<'c> {
    /// Returns `None` if tile blocks cannot be paired, or if that does not pay.
    fn of(function: nv_tileaa::FuncOp<'c>, target: &Target) -> Option<Self> {
        let dots = collect_ops(function.op(), |o| TileDot::cast(o).map(TileDot::op));
        if dots.is_empty() {
            return None;
        }
        let loops = paired_dots(function.op(), &dots, target).ok()?;
        if !pays(function, &loops, target) {
            return None;
        }
        let along = |d: usize| Self::along(Program::of(function, d, &dots)?, d, &dots).ok();
        let all: Vec<Self> = (0..3).filter_map(along).collect();
        let first = all.iter().position(|p| p.differing.is_empty()).unwrap_or(0);
        all.into_iter().nth(first)
    }

    /// Pairs tile blocks along dimension `d` of the grid.
    fn along(program: Program<'c>, d: usize, dots: &[OpRef<'c>]) -> Result<Self, Obstacle<'c>> {
        let neighbours = Neighbours::of(program.function, program.number);
        let mut pairing = Self { program, dimension: d, common: vec![], differing: vec![], own: vec![] };
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

    /// Makes both CTAs agree in operand `i` of an op that is the loop `around` a dot, or in it.
    fn agree(
        &mut self,
        op: OpRef<'c>,
        i: usize,
        around: OpRef<'c>,
        neighbours: &Neighbours,
    ) -> Result<(), Obstacle<'c>> {
        let v = operand(op, i);
        if neighbours.change(v) == Change::Never || self.common.contains(&(op, i)) {
            return Ok(());
        }
        let iteration = entry_block(region(around, 0)).map(|body| arg(body, 0));
        let (mut work, mut seen) = (vec![v], FxHashSet::default());
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
            match defining_op(v) {
                Some(by) if op != around && is_copied(by, op) => work.extend(operands(by)),
                _ => return Err((op, "the right operand cannot be computed for another tile block".into())),
            }
        }
        self.common.push((op, i));
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

/// Whether the op `by`, on which `op` depends, can be computed a second time next to it.
fn is_copied<'c>(by: OpRef<'c>, op: OpRef<'c>) -> bool {
    let has_effects = behaviour::effects(by).is_none_or(|list| !list.is_empty());
    block_of(by) == block_of(op) && region_count(by) == 0 && !has_effects
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

/// Numbers of tiles, and the choices that depend on them.
struct Place<'c> {
    rank: Val<'c>,
    /// The number of the tile of this CTA.
    own: Val<'c>,
    /// The numbers of the tiles of both CTAs. Both exist if the cluster has any.
    both: [Val<'c>; 2],
    /// Whether the cluster has tiles; always so in a loop over them.
    any: Option<Val<'c>>,
    /// Whether this CTA has a tile.
    runs: Val<'c>,
}

/// What is the same for all tiles of a CTA.
struct Launch<'c> {
    rank: Val<'c>,
    /// Whether clusters run two tile blocks; always so if there is no value.
    paired: Option<Val<'c>>,
    /// Whether this CTA runs one of them: in a launch without pairs, only the first CTA does.
    is_used: Option<Val<'c>>,
}

impl<'c> Launch<'c> {
    fn in_pairs(&self, b: &Builder<'c>, yes: Val<'c>, no: Val<'c>) -> Val<'c> {
        self.paired.map_or(yes, |paired| b.select(paired, yes, no))
    }

    /// The number of the first tile block of a cluster.
    fn start(&self, b: &Builder<'c>, cluster: Val<'c>) -> Val<'c> {
        b.muli(cluster, self.in_pairs(b, b.i32_constant(PAIR), b.i32_constant(1)))
    }

    /// The tiles of the cluster whose first one has the number `start`, of `count` tiles.
    fn place(&self, b: &Builder<'c>, start: Val<'c>, count: Val<'c>) -> Place<'c> {
        let (zero, one) = (b.i32_constant(0), b.i32_constant(1));
        let most = b.subi(count, one);
        let mine = b.addi(start, self.in_pairs(b, self.rank, zero));
        let mut runs = exists(b, mine, count);
        runs = self.is_used.map_or(runs, |is_used| b.andi(runs, is_used));
        let inside = |number: Val<'c>| b.minui(number, most);
        let both = [inside(start), inside(b.addi(start, self.in_pairs(b, one, zero)))];
        Place { rank: self.rank, own: inside(mine), both, any: Some(exists(b, start, count)), runs }
    }
}

fn exists<'c>(b: &Builder<'c>, number: Val<'c>, count: Val<'c>) -> Val<'c> {
    b.cmpi(IntPredicate::Ult, number, count)
}

impl<'c> Pairing<'c> {
    fn rewrite(&self, context: &'c Context) -> Result<(), Failed> {
        let Program { function, ids, tiles, number, scalars, last, .. } = &self.program;
        let error = |e: BuildError| fail(*function, e.to_string());
        let b = Builder::before(context, *last);
        b.set_location(ids.op().location());
        let users = uses(*number);
        let place = match tiles {
            None => {
                move_before(ids.op(), *last);
                self.tile_block(&b).map_err(error)?
            }
            Some(tiles) => self.tile(&b, *tiles).map_err(error)?,
        };
        users.into_iter().for_each(|(user, i)| set_operand(user, i, place.own));
        scalars.iter().for_each(|op| move_before(*op, *last));
        self.step(&b, &place)
    }

    /// Builds the tile block of this CTA.
    fn tile_block(&self, b: &Builder<'c>) -> Result<Place<'c>, BuildError> {
        let (count, rank) = self.counts(b)?;
        let zero = b.i32_constant(0);
        let paired = self.is_paired(b, (count, zero));
        let launch = Launch { rank, paired, is_used: is_used(b, paired, rank) };
        Ok(launch.place(b, launch.start(b, self.program.number), count))
    }

    /// Builds the number of the tile of this CTA in an iteration of the loop over tiles.
    fn tile(&self, b: &Builder<'c>, tiles: OpRef<'c>) -> Result<Place<'c>, BuildError> {
        let outside = Builder::before(b.context(), tiles);
        outside.set_location(b.location());
        let (blocks, rank) = self.counts(&outside)?;
        let (cluster, end, zero) = (operand(tiles, 0), operand(tiles, 1), outside.i32_constant(0));
        let paired = match self.differing[..] {
            [] => None,
            // The program divides by numbers that may be zero if there are no tiles.
            _ => {
                let any = outside.cmpi(IntPredicate::Slt, zero, end);
                let (choice, [then, otherwise]) = new_if(&outside, any, &[int(b.context(), 1)])?;
                let then = Builder::at_end(b.context(), then, b.location());
                let paired = self.is_paired(&then, (end, zero)).into_iter().collect::<Vec<_>>();
                then.create("scf.yield", &[], &paired, &[]);
                let otherwise = Builder::at_end(b.context(), otherwise, b.location());
                otherwise.create("scf.yield", &[], &[otherwise.bool_constant(false)], &[]);
                Some(result(choice, 0))
            }
        };
        let launch = Launch { rank, paired, is_used: is_used(&outside, paired, rank) };
        let start = launch.start(&outside, cluster);
        let block = launch.place(&outside, start, blocks);
        let any = block.any.expect("tile blocks are counted");
        set_operand(tiles, 0, outside.select(any, start, end));
        // The second tile block of the last cluster may not exist, although its tile does.
        let has_second = outside.cmpi(IntPredicate::Ne, block.both[0], block.both[1]);
        let mut place = launch.place(b, self.program.number, end);
        place.runs = b.andi(place.runs, block.runs);
        place.both[1] = b.select(has_second, place.both[1], place.both[0]);
        Ok(Place { any: None, ..place })
    }

    /// Builds the number of tile blocks along the dimension, and the rank of this CTA.
    fn counts(&self, b: &Builder<'c>) -> Result<(Val<'c>, Val<'c>), BuildError> {
        let t = int(b.context(), 32);
        let rank = GetCtaRankOp::build(b, t)?.result();
        Ok((result(GetNumProgramsOp::build(b, t, t, t)?.op(), self.dimension), rank))
    }

    /// Builds whether the first two of `count` tiles have the same right operands; `None` if that is known. All
    /// clusters of a launch must come to the same result, which therefore depends on no id.
    fn is_paired(&self, b: &Builder<'c>, (count, zero): (Val<'c>, Val<'c>)) -> Option<Val<'c>> {
        let one = b.i32_constant(1);
        let of = |number: Val<'c>| {
            let others = results(self.program.ids.op()).filter(|_| self.program.tiles.is_none()).map(|v| (v, zero));
            self.evaluate(b, others.chain([(self.program.number, number)]), true)
        };
        equal(b, &of(zero), &of(b.minui(one, b.subi(count, one))))
    }

    /// Builds the loop over the steps of a pair, and moves the rest of the program there.
    fn step(&self, b: &Builder<'c>, place: &Place<'c>) -> Result<(), Failed> {
        let Program { function, rest, last, .. } = &self.program;
        let (zero, one) = (b.i32_constant(0), b.i32_constant(1));
        let [first, second] = place.both.map(|number| self.evaluate(b, [(place.own, number)], false));
        let same = equal(b, &first, &second);
        let steps = same.map_or(one, |same| b.select(same, one, b.i32_constant(2)));
        let steps = place.any.map_or(steps, |any| b.select(any, steps, zero));
        // Tokens that the loop over tiles carries, by the number of their results.
        let moved: FxHashSet<usize> = rest.iter().flat_map(|op| results(*op)).map(key).collect();
        let tokens: Vec<usize> = match self.program.tiles {
            Some(_) => (0..operand_count(*last)).filter(|i| moved.contains(&key(operand(*last, *i)))).collect(),
            None => vec![],
        };
        let given: Vec<Val<'c>> = tokens.iter().map(|i| arg(self.program.block, i + 1)).collect();
        let types: Vec<Type<'c>> = given.iter().map(|v| ty(*v)).collect();
        let users: Vec<_> = given.iter().map(|v| uses(*v)).collect();
        let mut state = b.state("scf.for");
        state.results(&types);
        state.operands(&[vec![zero, steps, one], given].concat());
        let region = Region::new();
        let body = append_block(&region, &[vec![ty(zero)], types].concat(), function.location());
        state.region(region);
        let around = b.insert(state).map_err(|e| fail(*function, e.to_string()))?;
        STEPS_OF_PAIR.mark(around);
        let inside = Builder::at_end(b.context(), body, function.location());
        let step = arg(body, 0);
        let mut stores = place.runs;
        let mut map = ValueMap::default();
        if let Some(same) = same {
            let is_own = inside.cmpi(IntPredicate::Eq, step, place.rank);
            stores = inside.andi(stores, inside.ori(same, is_own));
            let is_first = inside.cmpi(IntPredicate::Eq, step, zero);
            for (v, (a, b)) in self.differing.iter().zip(first.iter().zip(&second)) {
                map.insert(key(*v), inside.select(is_first, *a, *b));
            }
        }
        let yielded: Vec<Val<'c>> = tokens.iter().map(|i| operand(*last, *i)).collect();
        let end = inside.create("scf.yield", &[], &yielded, &[]);
        for (n, i) in tokens.iter().enumerate() {
            set_operand(*last, *i, result(around, n));
            let inner = users[n].iter().filter(|(user, _)| user != last);
            inner.for_each(|(user, at)| set_operand(*user, *at, arg(body, n + 1)));
        }
        rest.iter().for_each(|op| move_before(*op, end));
        self.common.iter().for_each(|(op, i)| give_common(b.context(), *op, *i, &map));
        let mut own = self.own.iter();
        own.try_for_each(|(op, d)| move_out(b.context(), *op, *d, (stores, around)))
    }

    /// Computes `differing` for another tile. `numbers` has its number, and other coordinates, each with the one that
    /// it replaces. If `elsewhere`, the code is outside of the block of the program, so that everything is computed.
    fn evaluate(
        &self,
        b: &Builder<'c>,
        numbers: impl IntoIterator<Item = (Val<'c>, Val<'c>)>,
        elsewhere: bool,
    ) -> Vec<Val<'c>> {
        let Program { block, scalars, rest, .. } = &self.program;
        let all: Vec<OpRef<'c>> = if elsewhere && self.program.tiles.is_some() {
            let rest: FxHashSet<usize> = rest.iter().map(|op| op_key(*op)).collect();
            ops_of(*block).filter(|op| !rest.contains(&op_key(*op))).collect()
        } else {
            scalars.clone()
        };
        let mut needed: FxHashSet<usize> = self.differing.iter().map(|v| key(*v)).collect();
        for op in all.iter().rev() {
            if results(*op).any(|r| needed.contains(&key(r))) {
                needed.extend(operands(*op).map(key));
            }
        }
        let mut map: ValueMap<'c> = numbers.into_iter().map(|(old, new)| (key(old), new)).collect();
        for op in all.into_iter().filter(|op| results(*op).any(|r| needed.contains(&key(r)))) {
            let changes = operands(op).any(|v| map.contains_key(&key(v)));
            if changes || block_around(op) != Some(b.block()) && elsewhere {
                clone_op(b, op, &mut map);
            }
        }
        self.differing.iter().map(|v| map.get(&key(*v)).copied().unwrap_or(*v)).collect()
    }
}

/// Whether this CTA runs a tile block, if clusters of two may run one.
fn is_used<'c>(b: &Builder<'c>, paired: Option<Val<'c>>, rank: Val<'c>) -> Option<Val<'c>> {
    paired.map(|paired| b.ori(paired, b.cmpi(IntPredicate::Eq, rank, b.i32_constant(0))))
}

/// Whether two lists of values are equal; `None` if they are empty.
fn equal<'c>(b: &Builder<'c>, left: &[Val<'c>], right: &[Val<'c>]) -> Option<Val<'c>> {
    let pairs = left.iter().zip(right).map(|(x, y)| b.cmpi(IntPredicate::Eq, *x, *y));
    pairs.reduce(|all, one| b.andi(all, one))
}

/// Computes operand `i` of an op from the values in which both CTAs agree.
fn give_common<'c>(context: &'c Context, op: OpRef<'c>, i: usize, common: &ValueMap<'c>) {
    let (mut work, mut needed) = (vec![operand(op, i)], FxHashSet::default());
    while let Some(v) = work.pop() {
        if common.contains_key(&key(v)) {
            continue;
        }
        if let Some(by) = defining_op(v).filter(|by| is_copied(*by, op)).filter(|by| needed.insert(op_key(*by))) {
            work.extend(operands(by));
        }
    }
    let Some(block) = block_around(op) else { return };
    let before: Vec<OpRef<'c>> = ops_of(block).take_while(|o| *o != op).collect();
    let mut map = common.clone();
    for by in before.into_iter().filter(|by| needed.contains(&op_key(*by))) {
        if operands(by).any(|v| map.contains_key(&key(v))) {
            let b = Builder::before(context, op);
            b.set_location(by.location());
            clone_op(&b, by, &mut map);
        }
    }
    if let Some(v) = map.get(&key(operand(op, i))) {
        set_operand(op, i, *v);
    }
}

/// Moves the tile of an access out of its view along dimension `d` unless the CTA runs its tile block in this
/// iteration of the loop `around` it.
fn move_out<'c>(
    context: &'c Context,
    op: OpRef<'c>,
    d: usize,
    (runs, around): (Val<'c>, OpRef<'c>),
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
    set_operand(op, first + d, b.select(runs, index, outside));
    MAY_BE_OUTSIDE.set(op, d as i64);
    Ok(())
}
