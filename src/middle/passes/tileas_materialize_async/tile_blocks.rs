//! Tile blocks that a CTA takes over.
//!
//! The coordinates of the next tile block come through a pipeline: a thread of the producer asks for them after its
//! last load, and all agents read them at the end of the tile block:
//!
//! ```text
//! while (x, y, z) {                         while (x, y, z, it) {
//!   program                                   program
//!   x, y, z, more = next_tile_block     =>    elect { acquire c[it] bytes 16; cancel_tile_block into slots[it] }
//! } (more)                                    x, y, z, more = next_tile_block from slots[it] at c[it]
//!                                           } (more)
//! ```
//!
//! The answer arrives while the dots use what has been loaded. A CTA that asked when a tile block begins would take one
//! away from a CTA that is done earlier.
//!
//! With two stages the producer may be a tile block ahead of the consumers. If two CTAs run dots together, the leader
//! asks for both, once all agents of both have read the stage.

use super::{
    pairs::CTAS,
    top::{create_pipeline, slot},
};
use crate::dialect::{
    dot_plan::DotPlan,
    loops::carry_through,
    nv_tileas::{
        AllocTensorOp, CancelTileBlockOp, ElectOp, IncIterOp, MemDescType, NextTileBlockOp, ProducerAcquireOp,
        ProducerTokenType,
    },
    pass::{Failed, fail},
    phases,
    rt::*,
    shared_memory::{storage_type, with_stages},
};
use melior::ir::{Region, r#type::IntegerType};

/// Stages of the pipeline.
const STAGES: i64 = 2;
/// The words and the bytes of an answer.
const WORDS: i64 = 4;
const BYTES: i64 = 16;

/// The pipeline of a function that takes over tile blocks.
pub(super) struct TileBlocks<'c> {
    next: NextTileBlockOp<'c>,
    pipeline: Val<'c>,
    first: Val<'c>,
    slots: Val<'c>,
    slot: MemDescType<'c>,
}

impl<'c> TileBlocks<'c> {
    /// Creates the pipeline at the top of the function; `None` if it does not take over tile blocks.
    pub fn of(function: OpRef<'c>, top: &Builder<'c>, plan: &DotPlan) -> Result<Option<Self>, Failed> {
        let Some(next) = collect_ops(function, NextTileBlockOp::cast).into_iter().next() else { return Ok(None) };
        let op = next.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let slot = storage_type(op, &[WORDS], IntegerType::new(top.context(), 32).into(), &[1, 2]).map_err(error)?;
        let all = with_stages(op, slot, STAGES).ok_or_else(|| fail(op, "cannot build the type of the answers"))?;
        let slots = AllocTensorOp::build(top, all.into(), None).map_err(error)?.result();
        // One arrival of each agent.
        let agents = plan.agents.iter().filter(|agent| agent.has_program());
        let (alone, everywhere): (Vec<_>, Vec<_>) = agents.partition(|agent| agent.rank.is_some());
        let ctas = if plan.is_pair() { CTAS } else { 1 };
        let readers = alone.len() as i64 + ctas * everywhere.len() as i64;
        let leader: &[&str] = if plan.is_pair() { &[phases::EMPTY] } else { &[] };
        let phases = [(phases::FULL, 1), (phases::EMPTY, readers)];
        let (pipeline, first) = create_pipeline(op, top, STAGES, &phases, leader)?;
        Ok(Some(Self { next, pipeline, first, slots, slot }))
    }

    /// Asks for the next tile block at the end of the loop over tile blocks, and reads the answer.
    pub fn rewrite(&self, entry: Blk<'c>, top: &Builder<'c>) -> Result<(), Failed> {
        let op = self.next.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let context = top.context();
        let slots = (self.slot, self.slots);
        carry_through(context, entry, op, self.first, &mut |iterator| {
            let b = Builder::before(context, op);
            b.set_location(op.location());
            let region = Region::new();
            let program = append_block(&region, &[], op.location());
            let inside = Builder::at_end(context, program, op.location());
            let token = ProducerTokenType::get(op.location()).ok_or_else(|| fail(op, "cannot build the token type"))?;
            let bytes = Some(i64_attr(context, BYTES));
            let acquired =
                ProducerAcquireOp::build(&inside, token.into(), self.pipeline, iterator, bytes, None, None, None)
                    .map_err(error)?;
            let asked = slot(&inside, op, slots, iterator)?;
            CancelTileBlockOp::build(&inside, asked, acquired.token()).map_err(error)?;
            ElectOp::build(&b, None, region).map_err(error)?;
            let answer = slot(&b, op, slots, iterator)?;
            let [x, y, z, more] = [self.next.x(), self.next.y(), self.next.z(), self.next.more()].map(ty);
            let (slot, pipeline) = (Some(answer), Some(self.pipeline));
            let next = NextTileBlockOp::build(&b, x, y, z, more, slot, pipeline, Some(iterator)).map_err(error)?;
            results(op).zip(results(next.op())).for_each(|(old, new)| replace_all_uses(old, new));
            let after = IncIterOp::build(&b, ty(iterator), iterator, self.pipeline).map_err(error)?.next();
            erase(op);
            Ok(after)
        })?;
        Ok(())
    }
}
