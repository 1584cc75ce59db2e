//! `tileas-dynamic-persistent`: lets CTAs take over tile blocks that have not started.
//!
//! A kernel that runs one tile block per CTA loads nothing while it stores results. If a CTA runs several tile blocks,
//! its agents can work on different ones: the loads of the next tile block, and the dots if there are two accumulators,
//! overlap with the end of this one. The grid of the program stays: `clusterlaunchcontrol` cancels a tile block that
//! has not started and gives its coordinates to a CTA that runs already.
//!
//! ```text
//! %x, %y, %z = get_program_id              %a, %b, %c = get_program_id
//! program(%x, %y, %z)                 =>   do (%x, %y, %z = %a, %b, %c) {
//!                                            program(%x, %y, %z)
//!                                            %a, %b, %c, %more = async.next_tile_block
//!                                          } while (%more) with (%a, %b, %c)
//! ```
//!
//! Ops of the entry block that do not depend on the tile block and have no effects stay before the loop.
//!
//! `tileaa-plan-dots` marks the kernels (`nv_tileas.dynamic_persistent`). No tile block of such a kernel waits for
//! another one, since the CTA that waits could be the one that would run the other later.

use crate::{
    analysis::tile_blocks::{set_tile_block, tile_block_program},
    dialect::{
        attributes::DYNAMIC_PERSISTENT,
        nv_tileaa::{self, GetProgramIdOp},
        nv_tileas::NextTileBlockOp,
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Region, Type, r#type::IntegerType},
};
use mlir_sys::*;

#[derive(Clone, Default)]
pub struct DynamicPersistent;

impl RustPass for DynamicPersistent {
    pass_descriptor!(tileas_dynamic_persistent);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_dynamic_persistent::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            if DYNAMIC_PERSISTENT.take(function.op()).is_some() {
                cx.stat_add(stat::NUM_LOOPS, 1);
                repeat(function, context)?;
            }
        }
        Ok(())
    }
}

/// Runs the program of a function for one tile block after another.
fn repeat<'c>(function: nv_tileaa::FuncOp<'c>, context: &'c Context) -> Result<(), Failed> {
    let op = function.op();
    let error = |e: BuildError| fail(op, e.to_string());
    let (program, last) = tile_block_program(function)?;
    // All ops that stay are before the loop.
    let b = Builder::before(context, last);
    b.set_location(op.location());
    let i32_type: Type<'c> = IntegerType::new(context, 32).into();
    let types = [i32_type; 3];
    let own = GetProgramIdOp::build(&b, types[0], types[1], types[2]).map_err(error)?.op();
    let (before, after) = (Region::new(), Region::new());
    let run = append_block(&before, &types, op.location());
    let again = append_block(&after, &types, op.location());
    let mut state = b.state("scf.while");
    state.operands(&results(own).collect::<Vec<_>>());
    state.results(&types);
    state.region(before);
    state.region(after);
    b.insert(state).map_err(error)?;
    for moved in &program {
        // SAFETY: the op changes its block, which takes it over.
        unsafe {
            mlirOperationRemoveFromParent(moved.to_raw());
            mlirBlockAppendOwnedOperation(run.to_raw(), moved.to_raw());
        }
    }
    set_tile_block(&program, [arg(run, 0), arg(run, 1), arg(run, 2)]);
    let end = Builder::at_end(context, run, op.location());
    let next = NextTileBlockOp::build(
        &end,
        types[0],
        types[1],
        types[2],
        IntegerType::new(context, 1).into(),
        None,
        None,
        None,
    )
    .map_err(error)?;
    end.create("scf.condition", &[], &[next.more(), next.x(), next.y(), next.z()], &[]);
    let yields = Builder::at_end(context, again, op.location());
    yields.create("scf.yield", &[], &args(again).collect::<Vec<_>>(), &[]);
    Ok(())
}
