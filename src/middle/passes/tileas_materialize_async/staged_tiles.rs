//! Tiles that TMA loads to a ring of their own, from which warps read them to registers.
//!
//! A tile that consumers read next to the operands of a dot, such as a bias, would otherwise take the latency of a load
//! in each iteration:
//!
//! ```text
//!                               elect { acquire s[it] bytes n; copy x into slots[it] }
//! x = tiled_load ..      =>     wait s[it];  x = local_load slots[it];  release s[it]
//! ```
//!
//! Warps of a converter read the tiles of left operands in the same way (`computed_left`).

use super::{
    flight::first_user,
    iterator_type,
    top::{create_pipeline, load, slot, wait},
};
use crate::{
    analysis::{access::View, facts::Facts, staged_tiles, tensor_map_ops::TensorMaps, tensor_maps, tokens},
    dialect::{
        attributes::OWN_STAGES,
        dot_plan::DotPlan,
        loops::carry_through,
        nv_tileas::{
            AllocTensorOp, AsyncTiledTmaLoadOp, ConsumerReleaseOp, ConvertLayoutOp, ElectOp, IncIterOp, MemDescType,
            ProducerAcquireOp, ProducerTokenType, TiledLoadOp,
        },
        pass::{Failed, fail},
        phases,
        rt::*,
        shared_memory::with_stages,
    },
};
use melior::ir::Region;

/// A tile with its ring.
pub(super) struct StagedTile<'c> {
    load: TiledLoadOp<'c>,
    /// The size of the tile.
    bytes: u32,
    map: Val<'c>,
    stage: MemDescType<'c>,
    pub storage: Val<'c>,
    pub pipeline: Val<'c>,
    /// The iterator of the first stage.
    pub first: Val<'c>,
}

impl<'c> StagedTile<'c> {
    /// Creates the ring of a load at the top of the function. Each of `readers` warps arrives when it has read a stage.
    pub fn of(
        load: TiledLoadOp<'c>,
        (top, maps): (&Builder<'c>, &mut TensorMaps<'c>),
        (stages, readers): (i64, i64),
        facts: &Facts,
    ) -> Result<Self, Failed> {
        let op = load.op();
        let view = View::of(load.view()).ok_or_else(|| fail(op, "its view is not created in this function"))?;
        let stage = staged_tiles::stage(op, &view).map_err(|e| fail(op, e))?;
        Self::with_stage(load, stage, (top, maps), (stages, readers), facts)
    }

    /// The same for stages of a given type.
    pub fn with_stage(
        load: TiledLoadOp<'c>,
        stage: MemDescType<'c>,
        (top, maps): (&Builder<'c>, &mut TensorMaps<'c>),
        (stages, readers): (i64, i64),
        facts: &Facts,
    ) -> Result<Self, Failed> {
        let op = load.op();
        let (map, bytes) = tensor_maps::plan(load, stage, facts).map_err(|e| fail(op, e))?;
        let all = with_stages(op, stage, stages).ok_or_else(|| fail(op, "no ring can hold this tile"))?;
        let storage = AllocTensorOp::build(top, all.into(), None).map_err(|e| fail(op, e.to_string()))?.result();
        let phases = [(phases::FULL, 1), (phases::EMPTY, readers)];
        let (pipeline, first) = create_pipeline(op, top, stages, &phases, &[])?;
        Ok(Self { load, bytes, map: maps.of(op, load.view(), map, top)?, stage, storage, pipeline, first })
    }

    /// The load that TMA replaces.
    pub fn op(&self) -> OpRef<'c> {
        self.load.op()
    }

    /// Writes the region of one thread that starts the load.
    pub fn load(&self, b: &Builder<'c>, it: Val<'c>) -> Result<(), Failed> {
        let load = self.load;
        let (op, around) = (load.op(), b.location());
        let error = |e: BuildError| fail(op, e.to_string());
        let program = Region::new();
        let block = append_block(&program, &[], around);
        let inside = Builder::at_end(b.context(), block, op.location());
        let bytes = Some(i64_attr(b.context(), self.bytes.into()));
        let token = ProducerTokenType::get(op.location()).ok_or_else(|| fail(op, "cannot build a token"))?;
        let acquired = ProducerAcquireOp::build(&inside, token.into(), self.pipeline, it, bytes, None, None, None);
        let token = acquired.map_err(error)?.token();
        let stage = self.slot(&inside, it)?;
        let indices: Vec<Val<'c>> = load.indices().collect();
        AsyncTiledTmaLoadOp::build(&inside, load.view(), &indices, self.map, stage, token).map_err(error)?;
        ElectOp::build(b, None, program).map_err(error)?;
        Ok(())
    }

    /// The stage of an iterator.
    pub fn slot(&self, b: &Builder<'c>, it: Val<'c>) -> Result<Val<'c>, Failed> {
        slot(b, self.op(), (self.stage, self.storage), it)
    }

    /// Reads the tile from its stage to the registers of `like`, and releases the stage.
    pub fn read(&self, b: &Builder<'c>, like: Val<'c>, it: Val<'c>) -> Result<Val<'c>, Failed> {
        let op = self.op();
        wait(b, op, (self.pipeline, it))?;
        let stage = self.slot(b, it)?;
        let tile = load(b, op, (like, stage))?;
        ConsumerReleaseOp::build(b, self.pipeline, it, None, None, false, None, None)
            .map_err(|e| fail(op, e.to_string()))?;
        Ok(tile)
    }

    /// The registers of the load's result.
    pub fn registers(&self) -> Val<'c> {
        self.load.result()
    }

    /// Replaces the load of a tile that consumers read.
    fn rewrite(&self, entry: Blk<'c>, top: &Builder<'c>) -> Result<(), Failed> {
        let (op, context) = (self.op(), top.context());
        let error = |e: BuildError| fail(op, e.to_string());
        let body = block_around(op).ok_or_else(|| fail(op, "it is not in a block"))?;
        let b = Builder::before(context, op);
        b.set_location(op.location());
        carry_through(context, entry, op, self.first, &mut |iterator| {
            self.load(&b, iterator)?;
            // The tile is read where it is used, in the layout in which it is used.
            let (mut v, mut replaced) = (self.registers(), vec![op]);
            while let [(user, _)] = uses(v)[..]
                && let Some(convert) = ConvertLayoutOp::cast(user)
                && block_of(user) == block_of(op)
            {
                v = convert.result();
                replaced.push(user);
            }
            if let Some(user) = first_user(body, v) {
                b.set_before(user);
            }
            let tile = self.read(&b, v, iterator)?;
            let next = IncIterOp::build(&b, iterator_type(op)?, iterator, self.pipeline).map_err(error)?.next();
            replace_all_uses(v, tile);
            tokens::pass_over(context, op).map_err(error)?;
            replaced.into_iter().rev().for_each(erase);
            Ok(next)
        })?;
        Ok(())
    }
}

/// Creates the rings of all tiles that consumers read.
pub(super) fn of_consumers<'c>(
    function: OpRef<'c>,
    (top, maps): (&Builder<'c>, &mut TensorMaps<'c>),
    plan: &DotPlan,
    facts: &Facts,
) -> Result<Vec<StagedTile<'c>>, Failed> {
    let loads = collect_ops(function, |o| Some((TiledLoadOp::cast(o)?, OWN_STAGES.get(o)?)));
    let readers = plan.consumer_warps().into();
    loads.into_iter().map(|(load, stages)| StagedTile::of(load, (top, maps), (stages, readers), facts)).collect()
}

/// Replaces the loads of all tiles.
pub(super) fn rewrite<'c>(all: &[StagedTile<'c>], entry: Blk<'c>, top: &Builder<'c>) -> Result<(), Failed> {
    all.iter().try_for_each(|tile| tile.rewrite(entry, top))
}
