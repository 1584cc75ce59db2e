//! `tileaa-outline-producers` outlines the computation of producer-computed operands.
//!
//! `tileaa-plan-dots` marks the operands that TMA cannot load. For each of them, this pass copies the ops that
//! compute it (`analysis::tile_programs`) into a producer region before the dot:
//!
//! ```text
//! %p = nv_tileas.async.pipeline.produce_one warps 4 fast 1 { rows, addresses, loads, conversions; yield %tile }
//! dot %p, ..
//! ```
//!
//! Later passes therefore choose layouts for the producer's warps. The program still runs sequentially:
//! `tileas-materialize-async` passes the tile through a ring, and `tileas-specialize-agents` runs the region
//! concurrently with the dots. Ops that only computed the operand are erased.

use crate::{
    analysis::tile_programs::{Mark, TileProgram, take_mark},
    dialect::{
        dot_plan::{CONVERTER, DotPlan, PRODUCER, SCALES},
        dots::{LHS_SCALE, TileDot},
        nv_tileaa,
        nv_tileas::{ProduceOneOp, YieldOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::{Context, ir::Region};

#[derive(Clone, Default)]
pub struct OutlineProducers;

impl RustPass for OutlineProducers {
    pass_descriptor!(tileaa_outline_producers);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_outline_producers::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            for dot in collect_ops(function.op(), TileDot::cast) {
                let Some((made, plan)) = take_mark(dot.op()).zip(DotPlan::of(function.op())) else { continue };
                for (i, how) in made.into_iter().enumerate() {
                    if let Some(how) = how {
                        cx.stat_add(stat::NUM_OUTLINED, 1);
                        outline(dot.op(), (i, how), (function.op(), &plan), context)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Outlines the program that computes operand `i` of a dot.
fn outline<'c>(
    dot: OpRef<'c>,
    (i, how): (usize, Mark),
    (function, plan): (OpRef<'c>, &DotPlan),
    context: &'c Context,
) -> Result<(), Failed> {
    let error = |e: BuildError| fail(dot, e.to_string());
    let tile = operand(dot, i);
    let program = TileProgram::of(tile, dot, function).map_err(|(at, reason)| fail(at, reason))?;
    let region = Region::new();
    let block = append_block(&region, &[], dot.location());
    let inside = Builder::at_end(context, block, dot.location());
    let made = program.write(&inside).map_err(error)?;
    inside.set_location(dot.location());
    YieldOp::build(&inside, &[made]).map_err(error)?;
    let b = Builder::before(context, dot);
    // Scale factors have an agent of their own.
    let agent = match how.converted {
        true => CONVERTER,
        false if i >= LHS_SCALE => SCALES,
        false => PRODUCER,
    };
    let warps = i64_attr(context, plan.warps(agent).into());
    let fast = i64_attr(context, how.fast as i64);
    let named = (agent != PRODUCER).then(|| string_to_attr(context, agent));
    let produced = ProduceOneOp::build(&b, &[ty(tile)], warps, fast, how.or_copy, named, region).map_err(error)?;
    set_operand(dot, i, result(produced.op(), 0));
    program.erase_dead(context).map_err(|(op, e)| fail(op, e.to_string()))
}
