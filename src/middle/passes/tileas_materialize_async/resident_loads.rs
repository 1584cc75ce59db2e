//! Resident operands that the producer loads by TMA, such as the queries of attention on sm_100.
//!
//! ```text
//! q = tiled_load ..                 elect { acquire s[it] bytes n; copy q into memory }
//! for .. { .. dot q, .. }      =>   elect of matrix { wait s[it] }
//!                                   for .. { .. async.dot memory, .. }
//!                                   elect of matrix { release s[it] dots }
//! ```
//!
//! The tile does not pass through registers, and its copy starts before the copies of the loop. If CTAs take over tile
//! blocks, the tile of the next one is loaded as soon as the last dot that reads this one is complete.

use super::{
    accumulators::matrix_region, iterator_type, left_operands::reads, reshaped, staged_tiles::StagedTile, top::wait,
};
use crate::{
    analysis::{
        access::View,
        facts::Facts,
        producers::{ResidentTile, skip_conversions},
        tensor_map_ops::TensorMaps,
        tokens,
    },
    dialect::{
        attributes::{MAY_BE_UNREAD, STAGED},
        dot_plan::DotPlan,
        dots::LHS,
        loops::{always_runs, carry_through},
        nv_tileas::{ConsumerReleaseOp, IncIterOp, TiledLoadOp},
        pass::{Failed, fail},
        rt::*,
        upstream::Scf,
    },
};
use melior::Context;

/// A resident operand that TMA loads.
pub(super) struct ResidentLoad<'c> {
    tile: ResidentTile<'c>,
    memory: Val<'c>,
}

impl<'c> ResidentLoad<'c> {
    /// The load of which a value is a reshape, if TMA shall do it.
    pub fn load_of(v: Val<'c>) -> Option<OpRef<'c>> {
        ResidentTile::of(v).map(|tile| tile.load).filter(|load| STAGED.is_on(*load))
    }

    /// Lets the producer load the tile, and the agent `matrix` wait for it.
    pub fn new(
        load: OpRef<'c>,
        (top, entry): (&Builder<'c>, Blk<'c>),
        maps: &mut TensorMaps<'c>,
        (plan, facts): (&DotPlan, &Facts),
    ) -> Result<Self, Failed> {
        let error = |e: BuildError| fail(load, e.to_string());
        let not = |what: &str| fail(load, what);
        let tile = ResidentTile::of_load(load).ok_or_else(|| not("its tile is used by other ops than dots"))?;
        let tiled = TiledLoadOp::cast(load).ok_or_else(|| not("it does not load from a view"))?;
        let view = View::of(tiled.view()).ok_or_else(|| not("its view is not created in this function"))?;
        let stage = tile.loaded().stage(&view, 1, plan.dot_unit()).map_err(|e| fail(load, e))?;
        // The agent `matrix`, or each warp of the consumers.
        let in_memory = plan.accumulates_in_memory();
        let readers = if in_memory { 1 } else { plan.consumer_warps().into() };
        let copied = StagedTile::with_stage(tiled, stage, (top, maps), (1, readers), facts)?;
        let parents = |op: OpRef<'c>| std::iter::successors(parent_op(op), |op| parent_op(*op));
        let runs = |around: OpRef<'c>| Scf::of(around) == Some(Scf::For) && always_runs(around);
        let is_read = |dot| parents(dot).take_while(|around| parents(load).all(|p| p != *around)).all(runs);
        if in_memory && !tile.dots.iter().any(|(dot, _)| is_read(*dot)) {
            defining_op(copied.storage).into_iter().for_each(|storage| MAY_BE_UNREAD.mark(storage));
        }
        let mut memory = None;
        let last = carry_through(top.context(), entry, load, copied.first, &mut |iterator| {
            let b = Builder::before(top.context(), load);
            b.set_location(load.location());
            copied.load(&b, iterator)?;
            by_readers(&b, load, in_memory, |b| wait(b, load, (copied.pipeline, iterator)))?;
            memory = Some(copied.slot(&b, iterator)?);
            let block = block_around(load).ok_or_else(|| not("it is not in a block"))?;
            let reader = |o: &OpRef<'c>| tile.dots.iter().any(|(dot, _)| reads(*o, operand(*dot, LHS)));
            b.set_after(ops_of(block).filter(reader).last().ok_or_else(|| not("no dot reads its tile"))?);
            b.set_location(load.location());
            by_readers(&b, load, in_memory, |b| {
                ConsumerReleaseOp::build(b, copied.pipeline, iterator, None, None, in_memory, None, None)
                    .map_err(error)?;
                Ok(())
            })?;
            Ok(IncIterOp::build(&b, iterator_type(load)?, iterator, copied.pipeline).map_err(error)?.next())
        })?;
        // A step that nothing needs would count as a use of the pipeline, after which rings are free for other storage.
        if let Some(step) = defining_op(last).filter(|o| IncIterOp::cast(*o).is_some() && !has_uses(last)) {
            erase(step);
        }
        let memory = memory.ok_or_else(|| not("it is in neither a loop nor a branch"))?;
        Ok(Self { tile, memory })
    }

    /// The memory of an operand that is a reshape of the tile.
    pub fn memory(&self, context: &'c Context, v: Val<'c>) -> Result<Val<'c>, Failed> {
        let load = self.tile.load;
        let of = |(dot, _): &&(OpRef<'c>, Vec<OpRef<'c>>)| skip_conversions(operand(*dot, LHS)) == v;
        let (_, moved) = self.tile.dots.iter().find(of).ok_or_else(|| fail(load, "no dot reads its tile"))?;
        let b = Builder::before(context, load);
        moved.iter().try_fold(self.memory, |memory, op| reshaped(&b, *op, memory))
    }

    /// Erases the load, whose tile has no more uses.
    pub fn erase(&self, context: &'c Context) -> Result<(), Failed> {
        let load = self.tile.load;
        let mut unused = vec![];
        let mut work = vec![load];
        while let Some(op) = work.pop() {
            unused.push(op);
            work.extend(uses(result(op, 0)).into_iter().map(|(user, _)| user));
        }
        tokens::pass_over(context, load).map_err(|e| fail(load, e.to_string()))?;
        for op in unused.into_iter().rev() {
            if results(op).any(has_uses) {
                return Err(fail(load, "its tile is still used"));
            }
            erase(op);
        }
        Ok(())
    }
}

/// Writes what the readers of a tile do: the agent `matrix` for dots in tensor memory, and otherwise all consumers.
fn by_readers<'c>(
    b: &Builder<'c>,
    load: OpRef<'c>,
    in_memory: bool,
    write: impl FnOnce(&Builder<'c>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    if in_memory { matrix_region(b, load, write) } else { write(b) }
}
