//! Pipelines: `mbarrier`s that count arrivals and bytes, the iterators that step through them, and the program of one
//! thread.
//!
//! A pipeline of S stages has S 64-bit words for the barriers of its first phase, then S for the second, and so on:
//!
//! ```text
//! offset in words:   0 ..             S ..             2S ..
//!                    full[0..S]       empty[0..S]      converted[0..S]
//! ```
//!
//! If each of the consumers' warpgroups has barriers of its own, the first warpgroup's barriers come first.
//!
//! A barrier completes once per round, and a waiter names the parity of the round. In round r a consumer waits for
//! round r of *full*, and a producer for round r - 1 of *empty*. All stages are empty at the beginning: a wait for the
//! round before the first returns at once.
//!
//! **Pairs of CTAs.** The leader counts some phases of a shared pipeline for both CTAs (`create_pipeline ... leader`).
//! The other CTA arrives at the leader's barriers, whose addresses `mapa` gives. At the other phases, a CTA arrives at
//! its own barriers, and `tcgen05.commit` at the same offset of each CTA.
//!
//! An iterator is two 32-bit words, the values that most of its users need: the address of the stage's first barrier
//! and the parity of the round. Loops carry both. A step is an addition, a comparison and two predicated instructions.
//! The address of the stage's data is linear in the address of the barrier.

use super::{Lower, Lowered, agents::CTA_RANK, llvm::Cmp};
use crate::analysis::rings::{self, Wraps};
use crate::dialect::{
    dot_plan::WARPGROUP,
    nv_tileas::{
        CancelTileBlockOp, ConsumerReleaseOp, ConsumerWaitOp, CreateIteratorOp, CreatePipelineOp, ElectOp, IncIterOp,
        NextTileBlockOp, PipelineType, ProducerAcquireOp, ProducerCommitOp, StageOp,
    },
    pass::{Failed, fail},
    phases::{self, Handover},
    rt::*,
};
use tile_targets::Feature;

/// The stages of a pipeline that its producer has filled or has begun to fill.
pub(super) struct Filled<'c> {
    /// The address of the first stage's first barrier.
    first: Val<'c>,
    /// The bytes from a stage's first barrier to its *full* barrier.
    full: i64,
    stages: i64,
    /// The first stage that the producer has not begun to fill.
    next: Position<'c>,
}

/// The barriers of a phase that take part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The barriers of this CTA.
    Cta,
    /// The barriers of the first CTA of a pair, which count the arrivals of both.
    Leader,
    /// The barriers of both CTAs of a pair, where dots of the leader arrive.
    Both,
}

/// The size of a barrier in bytes.
pub(super) const BARRIER: i64 = 8;
/// A bit that is never set in the address of a barrier.
const NEVER: u32 = 1 << 31;

/// The number of words of an iterator.
pub(super) const ITERATOR_WORDS: usize = 2;

/// An iterator: the address of its stage's first barrier, and the parity of the round.
#[derive(Clone, Copy)]
struct Position<'c> {
    barrier: Val<'c>,
    parity: Val<'c>,
}

/// A stage of a ring. A distance of eight bytes between barriers corresponds to `bytes` bytes of stages.
#[derive(Clone, Copy)]
pub(super) struct Stage<'c> {
    /// The address of the first stage.
    pub first: Val<'c>,
    pub bytes: i64,
    pub pipeline: Val<'c>,
    /// The address of the stage's first barrier.
    pub barrier: Val<'c>,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn create_pipeline(&mut self, op: CreatePipelineOp<'c>) -> Result<(), Failed> {
        let barriers = self.shared_address(op.op(), op.barriers())?;
        let stages = stages(op.op(), op.pipeline())?;
        let l = &self.l;
        let init = |at: i64, count: i64| {
            let barrier = l.const_offset(barriers, at * BARRIER);
            let text = format!("mbarrier.init.shared::cta.b64 [$0], {count};");
            l.asm(&text, "r,~{memory}", &[barrier]);
        };
        l.when(l.icmp(Cmp::Eq, self.threads.thread, l.i32c(0)), || {
            let arrivals = op.arrivals();
            for stage in 0..stages {
                for group in 0..op.warpgroups().unwrap_or(1) {
                    for (phase, count) in arrivals.iter().enumerate() {
                        init((group * arrivals.len() as i64 + phase as i64) * stages + stage, *count);
                    }
                }
            }
        });
        // Hidden from LLVM, which would otherwise recompute the known address wherever a ring ends.
        let first = l.cast("ptrtoint", barriers, l.i32);
        let first = l.pure_asm("", "=r,0", l.i32, &[first]);
        self.set_scalar(op.pipeline(), first);
        Ok(())
    }

    pub(super) fn create_iterator(&mut self, op: CreateIteratorOp<'c>) -> Result<(), Failed> {
        let barrier = self.scalar(op.op(), op.pipeline())?;
        self.set_position(op.iterator(), Position { barrier, parity: self.l.i32c(0) });
        Ok(())
    }

    pub(super) fn inc_iter(&mut self, op: IncIterOp<'c>) -> Result<(), Failed> {
        let bytes = stages(op.op(), op.pipeline())? * BARRIER;
        let first = self.scalar(op.op(), op.pipeline())?;
        let at @ Position { barrier, parity } = self.position(op.op(), op.iterator())?;
        if !self.function.ring_uses.is_used_by_agent(op.op(), op.pipeline()) {
            self.set_position(op.next(), at);
            return Ok(());
        }
        let l = &self.l;
        let (barrier, parity) = match self.function.ring_positions.step_from(op.iterator()) {
            Wraps::Never => (l.add(barrier, l.i32c(BARRIER)), parity),
            Wraps::Always => (l.add(barrier, l.i32c(BARRIER - bytes)), l.bin("xor", parity, l.i32c(1))),
            Wraps::Sometimes => {
                let end = l.add(first, l.i32c(bytes));
                // Wraps to the first stage, in a round of the other parity. Written with predicates: LLVM and ptxas
                // generate more instructions for selects.
                let text = format!(
                    "{{ .reg .pred around; add.u32 $0, $2, {BARRIER}; mov.b32 $1, $3; setp.eq.u32 around, $0, $4; \
                     @around sub.u32 $0, $0, {bytes}; @around xor.b32 $1, $1, 1; }}"
                );
                let words = l.structure(&[l.i32, l.i32]);
                let next = l.pure_asm(&text, "=&r,=&r,r,r,r", words, &[barrier, parity, end]);
                (l.field(next, l.i32, 0), l.field(next, l.i32, 1))
            }
        };
        self.set_position(op.next(), Position { barrier, parity });
        Ok(())
    }

    pub(super) fn stage(&mut self, op: StageOp<'c>) -> Result<(), Failed> {
        let first = self.scalar(op.op(), pipeline_of(op.op(), op.iterator())?)?;
        let Position { barrier, .. } = self.position(op.op(), op.iterator())?;
        let l = &self.l;
        let index = l.bin("lshr", l.bin("sub", barrier, first), l.i32c(BARRIER.ilog2().into()));
        self.set_scalar(op.index(), index);
        Ok(())
    }

    /// Returns the stage of a ring with number `index`, or `None` if `index` does not come from an iterator.
    pub(super) fn stage_at(&self, memory: Val<'c>, bytes: i64, index: Val<'c>) -> Result<Option<Stage<'c>>, Failed> {
        let Some(op) = defining_op(index).and_then(StageOp::cast) else { return Ok(None) };
        let pipeline = pipeline_of(op.op(), op.iterator())?;
        let Position { barrier, .. } = self.position(op.op(), op.iterator())?;
        Ok(Some(Stage { first: memory, bytes, pipeline, barrier }))
    }

    /// Returns `first` plus `units` for each byte between the first barrier and the stage's barrier.
    ///
    /// Written in PTX because ptxas has an instruction that multiplies and adds. LLVM would subtract the addresses
    /// before the multiplication, or hoist the multiplication to a place where several blocks share it.
    pub(super) fn linear_in_stage(
        &self,
        op: OpRef<'c>,
        stage: Stage<'c>,
        units: i64,
        first: Val<'c>,
    ) -> Result<Val<'c>, Failed> {
        let from = self.scalar(op, stage.pipeline)?;
        let l = &self.l;
        let origin = l.bin("sub", first, l.mul(l.zext64(from), l.i64c(units)));
        let text = format!("{{ .reg .b64 a; mul.wide.u32 a, $1, {units}; add.s64 $0, a, $2; }}");
        Ok(l.pure_asm(&text, "=l,r,l", l.i64, &[stage.barrier, origin]))
    }

    /// The address of a stage, which is linear in the address of its barrier.
    pub(super) fn address_of_stage(&self, op: OpRef<'c>, stage: Stage<'c>) -> Result<Val<'c>, Failed> {
        let (from, units) = (self.scalar(op, stage.pipeline)?, stage.bytes / BARRIER);
        let l = &self.l;
        let first = l.cast("ptrtoint", stage.first, l.i32);
        let origin = l.bin("sub", first, l.mul(from, l.i32c(units)));
        let text = format!("mad.lo.u32 $0, $1, {units}, $2;");
        let address = l.pure_asm(&text, "=r,r,r", l.i32, &[stage.barrier, origin]);
        Ok(l.b.value("llvm.inttoptr", l.shared_ptr, &[address], &[]))
    }

    pub(super) fn producer_acquire(&mut self, op: ProducerAcquireOp<'c>) -> Result<(), Failed> {
        let at = self.position(op.op(), op.iterator())?;
        let empty = self.barrier_of(Handover::Acquire(op), at)?;
        let full = self.barrier_at(Handover::Acquire(op), at, phases::filled(op))?;
        let l = &self.l;
        let scope = self.scope(op.pipeline(), Handover::Acquire(op).phase());
        let before = l.bin("xor", at.parity, l.i32c(1));
        if scope == Scope::Leader && op.bytes().is_some() {
            // The other CTA only announces the bytes of the leader's request.
            l.when(self.is_leader(), || self.wait_for(empty, before, scope));
        } else {
            self.wait_for(empty, before, scope);
        }
        let scope = self.scope(op.pipeline(), phases::filled(op));
        if let Some(bytes) = op.bytes() {
            if scope == Scope::Leader {
                // The leader announces the bytes of both CTAs.
                let bytes = 2 * bytes;
                let text = format!("@$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {bytes};");
                l.asm(&text, "r,b,~{memory}", &[full, self.is_leader()]);
            } else {
                let text = format!("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {bytes};");
                l.asm(&text, "r,~{memory}", &[full]);
            }
        }
        let full = if scope == Scope::Leader { self.of_leader(full) } else { full };
        let full = l.b.value("llvm.inttoptr", l.shared_ptr, &[full], &[]);
        self.set(op.token(), Lowered::Shared(full));
        Ok(())
    }

    /// Arrives for the stores of a warp, by one lane after all lanes have stored. With `copies`, each thread arrives
    /// separately when its copies complete.
    pub(super) fn producer_commit(&mut self, op: ProducerCommitOp<'c>) -> Result<(), Failed> {
        let at = self.position(op.op(), op.iterator())?;
        let scope = self.scope(op.pipeline(), Handover::Commit(op).phase());
        if op.dots() {
            let barrier = self.barrier_of(Handover::Commit(op), at)?;
            self.arrive_after_dots(barrier, scope == Scope::Both);
            return Ok(());
        }
        let l = &self.l;
        if op.copies() {
            if scope == Scope::Leader {
                return Err(fail(op.op(), "copies of threads cannot arrive at barriers of the other CTA"));
            }
            let barrier = self.barrier_of(Handover::Commit(op), at)?;
            // `noinc`: the barrier's count, set at initialization, already includes this arrival.
            l.asm("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", "r,~{memory}", &[barrier]);
            return Ok(());
        }
        // Tensor cores read a stage in shared memory through the async proxy.
        if !op.tensor() {
            l.order("fence.proxy.async.shared::cta;");
        }
        l.order("bar.warp.sync -1;");
        let first = l.icmp(Cmp::Eq, self.threads.lane, l.i32c(0));
        self.arrive((self.barrier_of(Handover::Commit(op), at)?, scope), first);
        Ok(())
    }

    /// Arrives at a barrier of this CTA, or of the leader, if `is_arriving`.
    fn arrive(&self, (barrier, scope): (Val<'c>, Scope), is_arriving: Val<'c>) {
        if scope == Scope::Leader {
            let text = "@$1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [$0];";
            self.l.asm(text, "r,b,~{memory}", &[self.of_leader(barrier), is_arriving]);
        } else {
            self.l.asm("@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}", &[barrier, is_arriving]);
        }
    }

    pub(super) fn consumer_wait(&mut self, op: ConsumerWaitOp<'c>) -> Result<(), Failed> {
        let at = self.position(op.op(), op.iterator())?;
        let scope = self.scope(op.pipeline(), Handover::Wait(op).phase());
        self.wait_for(self.barrier_of(Handover::Wait(op), at)?, at.parity, scope);
        self.set(op.token(), Lowered::Nothing);
        Ok(())
    }

    pub(super) fn consumer_release(&mut self, op: ConsumerReleaseOp<'c>) -> Result<(), Failed> {
        let at = self.position(op.op(), op.iterator())?;
        let scope = self.scope(op.pipeline(), Handover::Release(op).phase());
        if op.dots() {
            let barrier = self.barrier_of(Handover::Release(op), at)?;
            self.arrive_after_dots(barrier, scope == Scope::Both);
            return Ok(());
        }
        let predicate = op.predicate().map(|p| self.scalar(op.op(), p)).transpose()?;
        let l = &self.l;
        if !self.function.ring_uses.only_multiplied(op.op(), op.pipeline()) {
            // The other lanes must have read the stage too. Dots read it for all lanes at once.
            l.order("bar.warp.sync -1;");
        }
        let first = l.icmp(Cmp::Eq, self.threads.lane, l.i32c(0));
        let predicate = self.both(predicate, Some(first)).expect("one of the two is there");
        let Some(after) = op.after() else {
            self.arrive((self.barrier_of(Handover::Release(op), at)?, scope), predicate);
            return Ok(());
        };
        if scope != Scope::Cta {
            return Err(fail(op.op(), "'after' applies to pipelines of one CTA"));
        }
        // Adds zero, computed from `after`, to the address: the highest bit of a shared-memory address is never set.
        // Neither LLVM nor ptxas knows this, so the release cannot move before the computation of `after`.
        let registers = self.fragment(op.op(), after)?;
        let word = |v: Val<'c>| if ty(v) == l.i32 { v } else { l.cast("bitcast", v, l.i32) };
        let empty = offset_of(op.op(), op.pipeline(), Handover::Release(op).phase())?;
        let mut args = vec![self.first_barrier(Handover::Release(op), at)?, predicate];
        args.extend([registers.first(), registers.last()].into_iter().flatten().map(|v| word(*v)));
        let text = format!(
            "{{ .reg .b32 a; or.b32 a, $2, $3; and.b32 a, a, $0; and.b32 a, a, {NEVER:#x}; add.u32 a, a, $0; \
             @$1 mbarrier.arrive.shared::cta.b64 _, [a+{empty}]; }}"
        );
        l.asm(&text, "r,b,r,r,~{memory}", &args);
        Ok(())
    }

    /// Asks for a tile block. The leader of a pair asks for both CTAs.
    pub(super) fn cancel_tile_block(&mut self, op: CancelTileBlockOp<'c>) -> Result<(), Failed> {
        let (slot, barrier) = (self.shared_address(op.op(), op.slot())?, self.shared_address(op.op(), op.token())?);
        let acquired = defining_op(op.token()).and_then(ProducerAcquireOp::cast);
        let is_shared = acquired.is_some_and(|acquired| phases::is_shared(acquired.pipeline()));
        let multicast = if is_shared { ".multicast::cluster::all" } else { "" };
        let text = format!(
            "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{multicast}.b128 [$0], [$1];"
        );
        let l = &self.l;
        let ask = || l.asm(&text, "r,r,~{memory}", &[slot, barrier]);
        if is_shared {
            l.when(self.is_leader(), ask);
        } else {
            ask();
        }
        Ok(())
    }

    /// Reads the coordinates of the next tile block. The last thread of the agent that has read them releases the
    /// stage.
    pub(super) fn next_tile_block(&mut self, op: NextTileBlockOp<'c>) -> Result<(), Failed> {
        let (Some(slot), Some(pipeline), Some(iterator)) = (op.slot(), op.pipeline(), op.iterator()) else {
            return Err(fail(op.op(), "it has no slot; run tileas-materialize-async first"));
        };
        let at = self.position(op.op(), iterator)?;
        self.wait_for(self.barrier_of(Handover::Next(op), at)?, at.parity, Scope::Cta);
        let slot = self.shared_address(op.op(), slot)?;
        let l = &self.l;
        let text = "{ .reg .b128 answer; .reg .pred more; .reg .b32 none; ld.shared.b128 answer, [$4]; \
                    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 more, answer; \
                    mov.b32 $0, 0; mov.b32 $1, 0; mov.b32 $2, 0; \
                    @more clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {$0, $1, $2, none}, answer; \
                    selp.b32 $3, 1, 0, more; }";
        let words = l.structure(&[l.i32; 4]);
        let found = l.asm_value(text, "=&r,=&r,=&r,=&r,r,~{memory}", words, &[slot]);
        let [x, y, z, more] = [0, 1, 2, 3].map(|i| l.field(found, l.i32, i));
        // The answer names the first CTA of a cluster, which is a tile block here.
        let ctas = self.function.ctas.ilog2();
        let x = if ctas == 0 { x } else { l.bin("lshr", x, l.i32c(ctas.into())) };
        let more = l.icmp(Cmp::Ne, more, l.i32c(0));
        l.order("fence.proxy.async.shared::cta;");
        let is_alone = std::iter::successors(parent_op(op.op()), |o| parent_op(*o)).any(|o| ElectOp::cast(o).is_some());
        let first = if is_alone {
            l.icmp(Cmp::Eq, l.i32c(0), l.i32c(0))
        } else {
            self.barrier();
            self.l.icmp(Cmp::Eq, self.threads.thread, self.l.i32c(0))
        };
        let empty = self.barrier_at(Handover::Next(op), at, phases::EMPTY)?;
        self.arrive((empty, self.scope(pipeline, phases::EMPTY)), first);
        for (v, word) in [(op.x(), x), (op.y(), y), (op.z(), z), (op.more(), more)] {
            self.set_scalar(v, word);
        }
        Ok(())
    }

    /// Lowers `elect`: the first thread runs the body, and the others branch past it. On targets with `tcgen05`,
    /// `elect.sync` names the thread of the first warp: ptxas then knows that a single thread issues the instructions
    /// of the body, and need not loop over the threads of the warp for each of them.
    pub(super) fn elect(&mut self, op: ElectOp<'c>) -> Result<(), Failed> {
        let source = entry_block(region(op.op(), 0)).ok_or_else(|| fail(op.op(), "no program"))?;
        let here = self.l.b.block();
        let exit = self.l.new_block(&[], here);
        if self.threads.warps > 1 && self.function.target.has(Feature::Tcgen05) {
            let warp = self.l.new_block(&[], here);
            let is_first = self.l.icmp(Cmp::Eq, self.threads.warp, self.l.i32c(0));
            self.l.cond_br(is_first, (warp, &[]), (exit, &[]));
            self.l.b.set_end(warp);
        }
        let body = self.l.new_block(&[], here);
        let elects = self.threads.warps == 1 && self.function.target.has(Feature::Elect);
        let first = if elects || self.function.target.has(Feature::Tcgen05) {
            let text = "{ .reg .pred one; elect.sync _|one, -1; selp.b32 $0, 1, 0, one; }";
            let one = self.l.asm_value(text, "=r", self.l.i32, &[]);
            self.l.icmp(Cmp::Ne, one, self.l.i32c(0))
        } else {
            self.l.icmp(Cmp::Eq, self.threads.thread, self.l.i32c(0))
        };
        self.l.cond_br(first, (body, &[]), (exit, &[]));
        self.l.b.set_end(body);
        self.block(source)?;
        self.l.br(exit, &[]);
        self.l.b.set_end(exit);
        Ok(())
    }

    /// Returns the stages of a pipeline before the stage of the iterator `next`.
    pub(super) fn filled(&self, op: OpRef<'c>, pipeline: Val<'c>, next: Val<'c>) -> Result<Filled<'c>, Failed> {
        let (first, next) = (self.scalar(op, pipeline)?, self.position(op, next)?);
        Ok(Filled { first, full: offset_of(op, pipeline, phases::FULL)?, stages: stages(op, pipeline)?, next })
    }

    /// Waits until every stage is full, each in the last round in which its producer has reached it.
    pub(super) fn wait_for_filled(&self, filled: &Filled<'c>) {
        let l = &self.l;
        let Position { barrier: next, parity } = filled.next;
        let before = l.bin("xor", parity, l.i32c(1));
        for stage in 0..filled.stages {
            let barrier = l.add(filled.first, l.i32c(stage * BARRIER));
            let in_this_round = l.icmp(Cmp::Ult, barrier, next);
            let full = if filled.full == 0 { barrier } else { l.add(barrier, l.i32c(filled.full)) };
            self.wait_for(full, l.select(in_this_round, parity, before), Scope::Cta);
        }
    }

    fn position(&self, op: OpRef<'c>, iterator: Val<'c>) -> Result<Position<'c>, Failed> {
        match self.fragment(op, iterator)?[..] {
            [barrier, parity] => Ok(Position { barrier, parity }),
            _ => Err(fail(op, "not an iterator")),
        }
    }

    fn set_position(&mut self, iterator: Val<'c>, position: Position<'c>) {
        self.set_all(iterator, vec![position.barrier, position.parity]);
    }

    /// The address of the barrier for which an op waits or at which it arrives.
    fn barrier_of(&self, op: Handover<'c>, at: Position<'c>) -> Result<Val<'c>, Failed> {
        self.barrier_at(op, at, op.phase())
    }

    /// The address of a phase's barrier of the stage at `at`.
    fn barrier_at(&self, op: Handover<'c>, at: Position<'c>, phase: &str) -> Result<Val<'c>, Failed> {
        let first = self.first_barrier(op, at)?;
        Ok(match offset_of(op.op(), op.pipeline(), phase)? {
            0 => first,
            offset => self.l.add(first, self.l.i32c(offset)),
        })
    }

    /// The address of the first barrier of the stage at `at`, of the warpgroup that the op means: the one that it
    /// names, or that of the thread.
    fn first_barrier(&self, op: Handover<'c>, at: Position<'c>) -> Result<Val<'c>, Failed> {
        if phases::warpgroups(op.pipeline()).is_none() {
            return Ok(at.barrier);
        }
        let l = &self.l;
        let bytes = phases::count(op.pipeline()) as i64 * stages(op.op(), op.pipeline())? * BARRIER;
        Ok(match op.warpgroup() {
            Some(0) => at.barrier,
            Some(number) => l.add(at.barrier, l.i32c(number * bytes)),
            None => {
                let group = l.bin("lshr", self.threads.warp, l.i32c(WARPGROUP.ilog2().into()));
                l.add(at.barrier, l.mul(group, l.i32c(bytes)))
            }
        })
    }

    /// Waits until the round with this parity is complete.
    fn wait_for(&self, barrier: Val<'c>, parity: Val<'c>, scope: Scope) {
        // The other CTA arrives with `release.cluster`.
        let order = if scope == Scope::Leader { ".acquire.cluster" } else { "" };
        let text = format!(
            "{{ .reg .pred done; \
             again: mbarrier.try_wait.parity{order}.shared::cta.b64 done, [$0], $1; \
             @!done bra again; }}"
        );
        self.l.asm(&text, "r,r,~{memory}", &[barrier, parity]);
    }

    fn scope(&self, pipeline: Val<'c>, phase: &str) -> Scope {
        match (phases::is_shared(pipeline), phases::is_by_leader(pipeline, phase)) {
            (false, _) => Scope::Cta,
            (true, true) => Scope::Leader,
            (true, false) => Scope::Both,
        }
    }

    /// The address in the leader's shared memory that corresponds to an address in this CTA's.
    fn of_leader(&self, address: Val<'c>) -> Val<'c> {
        self.l.pure_asm("mapa.shared::cluster.u32 $0, $1, 0;", "=r,r", self.l.i32, &[address])
    }

    fn is_leader(&self) -> Val<'c> {
        self.l.icmp(Cmp::Eq, self.l.sreg(CTA_RANK), self.l.i32c(0))
    }
}

/// The bytes from a stage's first barrier to the barrier of a phase.
fn offset_of<'c>(op: OpRef<'c>, pipeline: Val<'c>, phase: &str) -> Result<i64, Failed> {
    let number = phases::number(pipeline, phase);
    let number = number.ok_or_else(|| fail(op, format!("the pipeline has no phase '{phase}'")))?;
    Ok(number as i64 * stages(op, pipeline)? * BARRIER)
}

fn stages<'c>(op: OpRef<'c>, pipeline: Val<'c>) -> Result<i64, Failed> {
    let t = PipelineType::cast(ty(pipeline)).ok_or_else(|| fail(op, "not a pipeline"))?;
    Ok(t.stages())
}

/// Returns the pipeline that an iterator steps through.
fn pipeline_of<'c>(op: OpRef<'c>, iterator: Val<'c>) -> Result<Val<'c>, Failed> {
    rings::pipeline_of(iterator).ok_or_else(|| fail(op, "cannot find the pipeline of the iterator"))
}
