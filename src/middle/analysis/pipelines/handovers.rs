//! Extracts waits for the phases of stages, and arrivals at them.

use super::{Extract, Fault};
use crate::{
    analysis::rings,
    dialect::{
        dot_plan::WARPGROUP,
        nv_tileas::{
            AsyncDotOp, CancelTileBlockOp, ConsumerReleaseOp, ConsumerWaitOp, NextTileBlockOp, ProducerAcquireOp,
            ProducerCommitOp, StageOp,
        },
        phases::{self, Handover},
        rt::*,
        thread_scope::ThreadScope,
    },
};
use tile_protocol::{Array, Engine, Expr, Op};

/// Threads of a warp.
const THREADS: u32 = 32;
/// Bytes of the answer to a request for a tile block.
const ANSWER: u32 = 16;

pub(super) struct Pipeline {
    pub stages: i64,
    /// The phases, by name, of each warpgroup that has barriers of its own, or of all together.
    pub phases: Vec<Vec<(String, Barriers)>>,
}

/// The barriers of a phase.
pub(super) struct Barriers {
    /// The barriers of each CTA, or of the leader alone.
    pub of_ctas: Vec<Array>,
    /// Whether the leader counts the phase for a pair of CTAs.
    pub by_leader: bool,
    /// Whether dots complete the phase in all CTAs.
    pub by_dots: bool,
}

impl Barriers {
    /// The barriers at which a thread of the CTA `rank` arrives.
    pub fn of(&self, rank: usize) -> Array {
        self.of_ctas[if self.by_leader { 0 } else { rank }]
    }

    /// The barriers at which the completion of dots arrives that a thread of the CTA `rank` issues.
    fn after_dots(&self, rank: usize) -> &[Array] {
        if self.by_dots { &self.of_ctas } else { &self.of_ctas[rank..=rank] }
    }
}

impl<'c> Extract<'_, 'c> {
    /// The barriers of an op's phase.
    pub(super) fn barriers_of(&self, x: Handover<'c>) -> Result<&Barriers, Fault<'c>> {
        self.phase(x, x.phase())
    }

    /// The barriers of a phase of an op's pipeline, of the warpgroup that the op means.
    ///
    /// Errors: the pipeline does not have them.
    pub(super) fn phase(&self, x: Handover<'c>, name: &str) -> Result<&Barriers, Fault<'c>> {
        let (op, pipeline) = (x.op(), self.pipeline(x.op(), x.pipeline())?);
        let own = if pipeline.phases.len() > 1 { self.group as usize } else { 0 };
        let group = x.warpgroup().map_or(own, |number| number as usize);
        let phases = pipeline.phases.get(group).map_or(&[][..], |phases| phases);
        let found = phases.iter().find(|(phase, _)| phase == name);
        let missing = || format!("'{}' refers to the phase '{name}', which the pipeline does not have", op_name(op));
        found.map(|(_, barriers)| barriers).ok_or_else(|| (op, missing()))
    }

    /// The warpgroups of an agent that have barriers of their own in some pipeline, and the barrier at which all of
    /// them meet.
    pub(super) fn divide(&mut self, agent: usize, block: Blk<'c>) -> Option<(u32, Array)> {
        let mut groups = None;
        for op in ops_of(block) {
            walk(op, &mut |o| {
                let found = Handover::cast(o).filter(|x| x.warpgroup().is_none());
                groups = groups.or(found.and_then(|x| phases::warpgroups(x.pipeline())));
            });
        }
        let groups = u32::try_from(groups?).ok()?;
        Some((groups, self.program.named(&format!("meet{agent}"), 1, groups * WARPGROUP * THREADS)))
    }

    /// The warpgroup whose part of a stage an op touches, if the warpgroups divide it.
    pub(super) fn part(&self, op: OpRef<'c>, stage: StageOp<'c>) -> Result<Option<u32>, Fault<'c>> {
        let Some(pipeline) = rings::pipeline_of(stage.iterator()) else { return Ok(None) };
        if phases::warpgroups(pipeline).is_none() {
            return Ok(None);
        }
        let Some(dot) = AsyncDotOp::cast(op) else { return Ok(Some(self.group)) };
        let block = dot.row_block().and_then(|block| u32::try_from(block).ok());
        block.map(Some).ok_or((op, "it covers the rows of several warpgroups, which have barriers of their own".into()))
    }

    /// The barrier of an op's phase and stage, and the parity of the round.
    pub(super) fn barrier_of(&self, x: Handover<'c>) -> Result<(tile_protocol::Place, Expr), Fault<'c>> {
        let (slot, parity) = self.slot(x.op(), x.pipeline(), x.iterator())?;
        let barriers = self.barriers_of(x)?;
        let waits = matches!(x, Handover::Acquire(_) | Handover::Wait(_) | Handover::Next(_));
        if barriers.by_leader && self.rank > 0 && waits {
            return Err((x.op(), format!("only the leader of the pair can wait for the phase '{}'", x.phase())));
        }
        Ok((barriers.of(self.rank).at(&slot), parity))
    }

    /// The arrival of the completion of dots.
    pub(super) fn after_dots(&self, x: Handover<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let (slot, _) = self.slot(x.op(), x.pipeline(), x.iterator())?;
        let barriers = self.barriers_of(x)?.after_dots(self.rank).iter();
        out.extend(barriers.map(|b| Op::ArriveAfter { engine: Engine::Dot, barrier: b.at(&slot), count: 1 }));
        Ok(())
    }

    pub(super) fn acquire(&mut self, x: ProducerAcquireOp<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let op = x.op();
        // A CTA that only announces bytes of the leader's request does not wait.
        let follows = self.rank > 0 && x.bytes().is_some() && self.barriers_of(Handover::Acquire(x))?.by_leader;
        if !follows {
            let (empty, parity) = self.barrier_of(Handover::Acquire(x))?;
            out.push(Op::Wait { barrier: empty, parity: !parity });
        }
        let Some(bytes) = x.bytes() else { return Ok(()) };
        let bytes = u32::try_from(bytes).map_err(|_| (op, "too many bytes".to_string()))?;
        let (slot, _) = self.slot(op, x.pipeline(), x.iterator())?;
        let full = self.phase(Handover::Acquire(x), phases::filled(x))?;
        // The leader announces the bytes of both CTAs.
        if full.by_leader && self.rank > 0 {
            return Ok(());
        }
        let bytes = if full.by_leader { bytes * self.ctas as u32 } else { bytes };
        let full = full.of(self.rank);
        out.push(Op::Expect { barrier: full.at(&slot), bytes });
        out.push(Op::Arrive { barrier: full.at(&slot), count: 1 });
        Ok(())
    }

    /// Extracts the request for a tile block, whose answer goes to the stages of all CTAs that share the pipeline.
    pub(super) fn cancel_tile_block(&mut self, x: CancelTileBlockOp<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let op = x.op();
        let acquired = defining_op(x.token()).and_then(ProducerAcquireOp::cast);
        let acquired = acquired.ok_or((op, "its token does not come from the acquire of a stage".to_string()))?;
        let (slot, _) = self.slot(op, acquired.pipeline(), acquired.iterator())?;
        let full = self.phase(Handover::Acquire(acquired), phases::FULL)?;
        let barriers: Vec<Array> = if self.rank == 0 { full.after_dots(0).to_vec() } else { vec![] };
        for (rank, barrier) in barriers.into_iter().enumerate() {
            let place = self.place_in(op, x.slot(), rank)?;
            let (into, tag) = place.ok_or((op, "its slot is not a stage of a pipeline".to_string()))?;
            out.push(Op::Copy { into, tag, bytes: ANSWER, barrier: barrier.at(&slot) });
        }
        Ok(())
    }

    /// Extracts the read of an answer by an agent, which then releases its stage.
    pub(super) fn next_tile_block(&mut self, x: NextTileBlockOp<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let op = x.op();
        let (Some(memory), Some(pipeline), Some(iterator)) = (x.slot(), x.pipeline(), x.iterator()) else {
            return Err((op, "it does not name a slot".into()));
        };
        let (barrier, parity) = self.barrier_of(Handover::Next(x))?;
        out.push(Op::Wait { barrier, parity });
        self.touch(op, memory, out)?;
        let (slot, _) = self.slot(op, pipeline, iterator)?;
        let empty = self.phase(Handover::Next(x), phases::EMPTY)?;
        let arrive = Op::Arrive { barrier: empty.of(self.rank).at(&slot), count: 1 };
        // The first warpgroup arrives when all of them have read the answer.
        out.extend(self.meeting.map(|meeting| Op::Sync(meeting.at(&Expr::from(0)))));
        out.extend([Op::Fence, arrive].into_iter().filter(|_| self.group == 0));
        Ok(())
    }

    /// Extracts the commit of all stores by the agent's warps, or of the asynchronous copies of its threads.
    pub(super) fn commit(&mut self, x: ProducerCommitOp<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let op = x.op();
        if x.dots() {
            return self.after_dots(Handover::Commit(x), out);
        }
        let (barrier, _) = self.barrier_of(Handover::Commit(x))?;
        let warps = ThreadScope::of(op).and_then(|s| s.warps).and_then(|w| u32::try_from(w).ok());
        let count = warps.ok_or((op, "the number of warps that commit is not known".to_string()))?;
        if self.groups > 1 && phases::warpgroups(x.pipeline()).is_none() {
            return Err((op, "warpgroups that run independently cannot fill a stage together".into()));
        }
        let count = count / self.groups;
        if x.copies() && self.stored {
            return Err((op, "stores of the warps are not committed before their copies".into()));
        }
        self.stored = false;
        if x.copies() {
            out.push(Op::ArriveAfter { engine: Engine::Copy, barrier, count: THREADS * count });
        } else {
            out.extend([Op::Fence, Op::Arrive { barrier, count }]);
        }
        Ok(())
    }

    pub(super) fn wait(&mut self, x: ConsumerWaitOp<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let (barrier, parity) = self.barrier_of(Handover::Wait(x))?;
        out.push(Op::Wait { barrier, parity });
        Ok(())
    }

    pub(super) fn release(&mut self, x: ConsumerReleaseOp<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        if x.dots() {
            return self.after_dots(Handover::Release(x), out);
        }
        let (barrier, _) = self.barrier_of(Handover::Release(x))?;
        // Each warp that executes the release arrives once, regardless of the number that the barrier expects.
        let warps = ThreadScope::of(x.op()).and_then(|s| s.warps).and_then(|w| u32::try_from(w).ok());
        let warps = warps.ok_or((x.op(), "the number of warps that release is not known".to_string()))?;
        let arrive = Op::Arrive { barrier, count: warps / self.groups };
        out.push(match x.predicate() {
            Some(p) => Op::If { condition: self.value(x.op(), p)?, then: vec![arrive], otherwise: vec![] },
            None => arrive,
        });
        Ok(())
    }
}
