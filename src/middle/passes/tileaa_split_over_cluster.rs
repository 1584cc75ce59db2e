//! `tileaa-split-over-cluster` splits tiles over the CTAs of a cluster.
//!
//! An f32 accumulator of 256x256 elements takes 65536 registers, the whole register file of an SM, so no arrangement
//! of warpgroups can hold it. Two CTAs with half of the rows each can, and multiply at full speed:
//!
//! ```text
//! %a = tiled_load %A[%x, %k] : 256x64       %r = get_cta_rank            %a = tiled_load %A'[2 * %x + %r, %k] : 128x64
//! %b = tiled_load %B[%k, %y] : 64x256  =>                                %b = tiled_load %B[%k, %y] : 64x256
//! %d = dot %a, %b, %c : 256x256                                          %d = dot %a, %b, %c : 128x256
//! tiled_store %d, %C[%x, %y]                                             tiled_store %d, %C'[2 * %x + %r, %y]
//! ```
//!
//! `A'` and `C'` are the same views in tiles of 128 rows. The CTAs do not communicate: each has either the *whole* of
//! a tensor, or the *slice* along one dimension that belongs to its rank.
//!
//! * `demand` propagates the needed parts of each value backward from the stores. A store writes slices. A slice of
//!   a sum needs slices of its operands. A slice of a dot's rows needs the same rows of the left operand and the
//!   whole right operand. A reduction needs slices along a dimension that it does not reduce. Values that do not
//!   depend on dots can be computed whole and sliced afterward. A dot cannot be split if it is needed whole, or both
//!   by rows and by columns.
//! * `order` checks tokens: an access ordered after another one must not depend on the other rank's part of it.
//! * `rebuild` rewrites the function with the needed parts.
//!
//! Functions do not change if an op must run once per tile and no rank can do it alone: atomic updates, accesses that
//! order others, and output. A remark names the obstacle.
//!
//! If all ranks hold the whole of a stored value, rank 0 alone stores it; otherwise unordered writes would target the
//! same location.
//!
//! # Choosing the number of CTAs
//!
//! `num-ctas` sets the number of CTAs; without it the pass minimizes the predicted time. If one CTA does not have a
//! plan of agents, any number with a plan is better. Otherwise, several CTAs would load shared data several times.
//! They are used only if the hint `num_cta_in_cga` requests them and the predicted time is about as good, since a
//! hint is a cost, not an order. Two CTAs that split rows may run dots into tensor memory together, and load each tile
//! once (`tileaa-plan-dots`). The number becomes an attribute of the function, and `convert-tileas-to-llvm` turns
//! it into a cluster size. The grid of a launch still counts tiles.

mod demand;
mod order;
mod rebuild;

use crate::{
    analysis::{column_slices, facts::Facts, producers::LoadedOperand},
    dialect::{
        attributes::NUM_CTAS,
        dots::{TileDot, element_of, operand_format, promotes},
        fallback::Fallback,
        hints::{IGNORED_HINT, int_hint},
        layouts::Tensor,
        loops::loops_around,
        nv_tileaa,
        pass::{Failed, Obstacle, PassContext, RustPass, descriptors, fail},
        remark::{self, remark},
        rt::*,
        target::target,
    },
    pass_descriptor,
};
use demand::{Demands, Prefer};
use melior::Context;
use tile_mma::Unit;
use tile_plan::{DotLoop, Machine, ScaleAgent, Scales};
use tile_targets::Target;

#[derive(Clone, Default)]
pub struct SplitOverCluster;

impl RustPass for SplitOverCluster {
    pass_descriptor!(tileaa_split_over_cluster);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_split_over_cluster::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        let asked = Options(cx).num_ctas();
        let most = i64::from(target.limits.portable_cluster_size);
        if asked != 0 && !(asked > 0 && (asked as u64).is_power_of_two() && asked <= 8) {
            return Err(fail(op, format!("num-ctas must be 1, 2, 4 or 8, or 0 to choose, got {asked}")));
        }
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let calls_library = !collect_ops(function.op(), nv_tileaa::ExternCallOp::cast).is_empty();
            let is_decided = asked == 1 || NUM_CTAS.is_on(function.op()) || calls_library;
            if is_decided || asked == 0 && !Fallback::within(function.op()).allows_agents() {
                continue;
            }
            if asked > most {
                let text = format!("{} does not support clusters of {asked} CTAs", target.name);
                remark(function.op(), remark::NOT_SPLIT, text, None);
                continue;
            }
            let facts = Facts::of(function.op());
            let chosen = match asked {
                0 => choose(function, &facts, target, most),
                count => slice(function, count, &facts).map(Some).map_err(|o| (count, o)),
            };
            match chosen {
                Ok(None) => {}
                Ok(Some(demands)) => {
                    cx.stat_add(stat::NUM_SLICED, 1);
                    let text = format!("{} CTAs split each tile: {}", demands.count, demands.summary());
                    remark(function.op(), remark::SPLIT_TILE, text, None);
                    NUM_CTAS.set(function.op(), demands.count);
                    rebuild::rebuild(function, &demands, &facts, context)?;
                }
                Err((count, (at, reason))) => {
                    let text = format!("{count} CTAs cannot split the tile: {reason}");
                    remark(at, remark::NOT_SPLIT, text, None);
                }
            }
        }
        Ok(())
    }
}

/// Returns the parts that each CTA needs if `count` CTAs split the tile.
fn slice<'c>(function: nv_tileaa::FuncOp<'c>, count: i64, facts: &Facts) -> Result<Demands<'c>, Obstacle<'c>> {
    [Prefer::Rows, Prefer::Columns]
        .into_iter()
        .map(|prefer| sliced_by(function, count, prefer, facts))
        .reduce(Result::or)
        .expect("two ways")
}

fn sliced_by<'c>(
    function: nv_tileaa::FuncOp<'c>,
    count: i64,
    prefer: Prefer,
    facts: &Facts,
) -> Result<Demands<'c>, Obstacle<'c>> {
    demand::find(function, count, prefer, facts, &|demands| order::check(function, demands))
}

/// Returns the demands for the number of CTAs with the least predicted time. Returns `None` if one CTA is best or no
/// number has a plan, and an error if only several CTAs would have a plan but an obstacle prevents the split.
fn choose<'c>(
    function: nv_tileaa::FuncOp<'c>,
    facts: &Facts,
    target: &Target,
    most: i64,
) -> Result<Option<Demands<'c>>, (i64, Obstacle<'c>)> {
    let Some(unit) = tile_mma::shared_memory_unit(target) else { return Ok(None) };
    let all = collect_ops(function.op(), TileDot::cast);
    let products: Option<Vec<DotLoop>> = all.iter().map(|dot| product_of(*dot, unit)).collect();
    let dots: Vec<OpRef<'c>> = all.iter().map(|dot| dot.op()).collect();
    let (Some(products), Ok(machine)) = (products, Machine::named(target.name)) else { return Ok(None) };
    // Each CTA would compute all of an operand that is not sliced, which costs more than other dots save.
    let is_loaded = |v| LoadedOperand::of(v).is_some_and(|operand| operand.computed.is_empty());
    let load = |dot: &TileDot<'c>| is_loaded(dot.lhs()) && is_loaded(dot.rhs());
    if products.is_empty() || unit != Unit::Warpgroup && !all.iter().all(load) {
        return Ok(None);
    }
    let sliced = unit != Unit::Warpgroup && {
        let found = column_slices::of_all(function.op(), facts);
        found.is_some_and(|all| all.iter().all(|code| code.most > 1))
    };
    let valid = |n: &i64| (1..=most).contains(n) && n.count_ones() == 1;
    let hint = function.hints().and_then(|h| int_hint(h, target.name, "num_cta_in_cga", |n| valid(&n)));
    let clocks = |products: &[DotLoop]| match unit {
        Unit::Warpgroup => clocks_of_warpgroups(products, &machine),
        _ => tile_plan::tensor_clocks(products, sliced, &machine).ok(),
    };
    let part = |product: &DotLoop, count: i64, by: Prefer| {
        let pair = unit != Unit::Warpgroup && by == Prefer::Rows && count == 2;
        DotLoop { pair, ..part(product, count, by) }
    };
    let over_tiles = dots.iter().any(|dot| loops_around(*dot).count() > 1);
    let charge = |count: i64| match hint {
        None => 1.0,
        Some(hinted) if hinted == count => 1.0,
        // A program that loops over tiles is launched with one tile block for each `hinted` SMs.
        Some(hinted) if over_tiles && unit != Unit::Warpgroup => IGNORED_HINT.max(hinted as f64 / count as f64),
        Some(_) => IGNORED_HINT,
    };
    let alone = clocks(&products).map(|c| c * charge(1));
    if alone.is_some() && hint.is_none_or(|h| h == 1) {
        return Ok(None);
    }
    let mut best: Option<(f64, Demands<'c>)> = None;
    let mut obstacle = None;
    for count in [2, 4, 8].into_iter().filter(valid) {
        for prefer in [Prefer::Rows, Prefer::Columns] {
            // Skip numbers without a plan.
            let fits = clocks(&products.iter().map(|p| part(p, count, prefer)).collect::<Vec<_>>());
            if fits.is_none() {
                continue;
            }
            match sliced_by(function, count, prefer, facts) {
                Ok(demands) => {
                    let parts = dots.iter().zip(&products).map(|(dot, p)| match demands.product(*dot) {
                        Some(by) => part(p, count, by),
                        None => *p,
                    });
                    // Each CTA takes an SM.
                    let cost = clocks(&parts.collect::<Vec<_>>()).map(|c| c * count as f64 * charge(count));
                    let least = best.as_ref().map(|(c, _)| *c).or(alone);
                    if let Some(cost) = cost.filter(|c| least.is_none_or(|least| *c < least)) {
                        best = Some((cost, demands));
                    }
                }
                Err(o) => obstacle = obstacle.or(Some((count, o))),
            }
        }
    }
    match (best, obstacle) {
        (Some((_, demands)), _) => Ok(Some(demands)),
        (None, Some(obstacle)) if alone.is_none() => Err(obstacle),
        (None, _) => Ok(None),
    }
}

/// Returns the predicted clocks of a tile's dots by `wgmma`, or `None` if one of them has no plan.
fn clocks_of_warpgroups(products: &[DotLoop], machine: &Machine) -> Option<f64> {
    let plans = products.iter().map(|p| tile_plan::plan(p, &tile_plan::Hints::default(), machine).ok());
    plans.map(|plan| Some(plan?.prediction.tile)).sum()
}

/// Returns the part of a dot that one of `count` CTAs computes.
fn part(product: &DotLoop, count: i64, by: Prefer) -> DotLoop {
    let count = count as u32;
    match by {
        Prefer::Rows => DotLoop { m: product.m / count, ..*product },
        Prefer::Columns => DotLoop { n: product.n / count, ..*product },
    }
}

/// Returns the dot as the planner sees it before its operands are analyzed, or `None` if the unit does not support its
/// element types.
fn product_of(dot: TileDot<'_>, unit: Unit) -> Option<DotLoop> {
    let (lhs, rhs) = (Tensor::of_value(dot.lhs())?, Tensor::of_value(dot.rhs())?);
    let [.., m, k] = lhs.shape[..] else { return None };
    let extent = |e: i64| u32::try_from(e).ok();
    let n = *rhs.shape.last()?;
    let unsigned = dot.unsigned();
    let operand = operand_format([(dot.lhs(), unsigned[0]), (dot.rhs(), unsigned[1])])?;
    let scale = dot.scale_blocks();
    tile_mma::generated_scaled(unit, operand, scale).next()?;
    let mut product = DotLoop::new((extent(m)?, extent(n)?, extent(k)?), operand);
    product.exact_accumulation = element_of(lhs.element, false)
        .is_some_and(|e| promotes(e, dot.fast_acc(), (dot.acc(), k), tile_plan::PROMOTION));
    product.scales = scale.map(|(format, block)| Scales { format, block, by: ScaleAgent::Warps });
    Some(product)
}
