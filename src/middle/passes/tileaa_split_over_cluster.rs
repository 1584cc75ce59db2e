//! `tileaa-split-over-cluster`: the thread blocks of a cluster share a tile block.
//!
//! Sums of 256x256 elements of f32 are 65536 registers, which is all that a multiprocessor has: no arrangement of
//! warpgroups holds them. Two thread blocks that have half of the rows each do, and multiply as fast as others:
//!
//! ```text
//! %a = tiled_load %A[%x, %k] : 256x64       %r = get_cta_rank            %a = tiled_load %A'[2 * %x + %r, %k] : 128x64
//! %b = tiled_load %B[%k, %y] : 64x256  =>                                %b = tiled_load %B[%k, %y] : 64x256
//! %d = dot %a, %b, %c : 256x256                                          %d = dot %a, %b, %c : 128x256
//! tiled_store %d, %C[%x, %y]                                             tiled_store %d, %C'[2 * %x + %r, %y]
//! ```
//!
//! where `A'` and `C'` are the same views in tiles of 128 rows. Nothing is communicated: each thread block has the
//! *whole* of a tensor, or the *slice* of it along one dimension that belongs to its rank.
//!
//! * `demand` finds what is needed of each value, from the stores backwards. A store writes slices; a slice of a sum
//!   needs slices of its operands; a slice of a product's rows needs these rows of the left operand and the whole right
//!   one; a reduction needs slices along a dimension that it does not reduce. What does not depend on products may be
//!   needed whole, and slices of it can be taken out of the whole. A product that is needed whole, or both by rows and
//!   by columns, is in the way.
//! * `order` looks at tokens: an access that is ordered after another one must not need what another rank did there.
//! * `rebuild` writes the function anew with what is needed.
//!
//! Programs stay as they are that do something once for a tile block which no rank can do for itself: atomic updates,
//! accesses that order others, output. What is in the way is said by a remark.
//!
//! A store of what all ranks have whole is done by rank 0 alone: if all did it, nothing would order writes to the same
//! place.
//!
//! # How many
//!
//! `num-ctas` says it, or else the least predicted time. Without a plan of warpgroups for one thread block any number
//! with a plan is better. With one, several thread blocks would load what they share several times; they are taken
//! where the program's hint `num_cta_in_cga` asks for as many and the prediction is about as good, since a hint is a
//! cost and not an order. The number becomes an attribute of the function, which `convert-tileas-to-llvm` makes a
//! cluster of; launches count tile blocks as before.

mod demand;
mod order;
mod rebuild;

use crate::{
    analysis::facts::Facts,
    dialect::{
        dots::{element_of, operand_type, promotes},
        fallback::Fallback,
        gpu_module::NUM_CTAS,
        hints::int_hint,
        layouts::Tensor,
        nv_tileaa::{self, AnyOp, DotOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        remark::{self, remark},
        rt::*,
        target::target,
    },
    pass_descriptor,
};
use demand::{Demands, Obstacle, Prefer};
use melior::Context;
use tile_plan::{DotLoop, Machine};
use tile_targets::{Feature, Target};

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
            let is_decided = asked == 1 || discardable_attr(function.op(), NUM_CTAS).is_some();
            if is_decided || asked == 0 && !Fallback::within(function.op()).allows_agents() {
                continue;
            }
            if asked > most {
                let text = format!("{} has no clusters of {asked} thread blocks", target.name);
                remark(function.op(), remark::NOT_SPLIT, text, "");
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
                    let text = format!("{} thread blocks share a tile block: {}", demands.count, demands.summary());
                    remark(function.op(), remark::SPLIT_TILE, text, "");
                    set_discardable_attr(function.op(), NUM_CTAS, i64_attr(context, demands.count));
                    rebuild::rebuild(function, &demands, &facts, context)?;
                }
                Err((count, (at, reason))) => {
                    let text = format!("{count} thread blocks cannot share the tile block: {reason}");
                    remark(at, remark::NOT_SPLIT, text, "");
                }
            }
        }
        Ok(())
    }
}

/// What is needed if `count` thread blocks share the tile block.
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

/// What a plan is charged for a hint that it does not follow.
const IGNORED_HINT: f64 = 1.03;

/// The number of thread blocks with the least predicted time: none where one is best, or where no number has a plan;
/// an error where several would have one and something is in the way.
fn choose<'c>(
    function: nv_tileaa::FuncOp<'c>,
    facts: &Facts,
    target: &Target,
    most: i64,
) -> Result<Option<Demands<'c>>, (i64, Obstacle<'c>)> {
    if !target.has(Feature::Wgmma) {
        return Ok(None);
    }
    let dots = collect_ops(function.op(), |o| match AnyOp::cast(o) {
        Some(AnyOp::DotOp(_) | AnyOp::DotScaledOp(_)) => Some(o),
        _ => None,
    });
    let products: Option<Vec<DotLoop>> = dots.iter().map(|dot| product_of(DotOp::cast(*dot)?)).collect();
    let (Some(products), Ok(machine)) = (products, Machine::named(target.name)) else { return Ok(None) };
    if products.is_empty() {
        return Ok(None);
    }
    let valid = |n: &i64| (1..=most).contains(n) && n.count_ones() == 1;
    let hint = function.hints().and_then(|h| int_hint(h, target.name, "num_cta_in_cga", |n| valid(&n)));
    let clocks = |products: &[DotLoop]| -> Option<f64> {
        let plans = products.iter().map(|p| tile_plan::plan(p, &tile_plan::Hints::default(), &machine).ok());
        plans.map(|plan| Some(plan?.prediction.tile)).sum()
    };
    let charge = |count: i64| if hint.is_none_or(|h| h == count) { 1.0 } else { IGNORED_HINT };
    let alone = clocks(&products).map(|c| c * charge(1));
    if alone.is_some() && hint.is_none_or(|h| h == 1) {
        return Ok(None);
    }
    let mut best: Option<(f64, Demands<'c>)> = None;
    let mut obstacle = None;
    for count in [2, 4, 8].into_iter().filter(valid) {
        for prefer in [Prefer::Rows, Prefer::Columns] {
            // A number without a plan is not worth a look.
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
                    // Each of them takes a multiprocessor.
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

/// The part of a product that one of `count` thread blocks computes.
fn part(product: &DotLoop, count: i64, by: Prefer) -> DotLoop {
    let count = count as u32;
    match by {
        Prefer::Rows => DotLoop { m: product.m / count, ..*product },
        Prefer::Columns => DotLoop { n: product.n / count, ..*product },
    }
}

/// The product as the planner knows it before anybody has looked where its operands come from; none if warpgroups
/// cannot multiply such elements.
fn product_of(dot: DotOp<'_>) -> Option<DotLoop> {
    let (lhs, rhs) = (Tensor::of_value(dot.lhs())?, Tensor::of_value(dot.rhs())?);
    let [.., m, k] = lhs.shape[..] else { return None };
    let extent = |e: i64| u32::try_from(e).ok();
    let n = *rhs.shape.last()?;
    let mut product = DotLoop::new(
        (extent(m)?, extent(n)?, extent(k)?),
        operand_type([(dot.lhs(), dot.lhs_unsigned()), (dot.rhs(), dot.rhs_unsigned())])?,
    );
    product.exact_accumulation = element_of(lhs.element, false)
        .is_some_and(|e| promotes(e, dot.fast_acc(), (dot.acc(), k), tile_plan::PROMOTION));
    Some(product)
}
