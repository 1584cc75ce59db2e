//! Pipelines: barriers in shared memory that count arrivals and bytes (`mbarrier`), and the program of one thread.
//!
//! The barriers of a pipeline of S stages are S words that say *full*, then S that say *empty*. A barrier completes one
//! phase after another; who waits names the parity of the phase. An iterator is one word: the stage in its low half,
//! and above it the parity of the round. In round r a consumer waits for phase r of *full*, and a producer for phase r
//! - 1 of *empty*, since all stages are empty at the beginning: waiting for the phase before the first returns at once.

use super::{Lower, Lowered, llvm::Cmp};
use crate::dialect::{
    nv_tileas::{
        ConsumerReleaseOp, ConsumerWaitOp, CreateIteratorOp, CreatePipelineOp, ElectOp, IncIterOp, PipelineType,
        ProducerAcquireOp, ProducerCommitOp, StageOp,
    },
    pass::{Failed, fail},
    rt::*,
};

/// The stages of a pipeline that its producer has filled, or has begun to fill.
pub(super) struct Filled<'c> {
    barriers: Val<'c>,
    stages: i64,
    /// The iterator of the first that it has not.
    next: Val<'c>,
}

/// Bytes of a barrier.
const BARRIER: i64 = 8;
/// The bit of an iterator that holds the parity of the round; the stage is below it.
const PARITY: i64 = 16;
/// A bit that no iterator has.
const NEVER: u32 = 1 << 31;

impl<'c> Lower<'c, '_> {
    pub(super) fn create_pipeline(&mut self, op: CreatePipelineOp<'c>) -> Result<(), Failed> {
        let barriers = self.shared_address(op.op(), op.barriers())?;
        let stages = stages(op.op(), op.pipeline())?;
        let l = &self.l;
        let init = |at: i64, count: i64| {
            let barrier = l.const_offset(barriers, at * BARRIER);
            let text = format!("mbarrier.init.shared::cta.b64 [$0], {count};");
            l.asm(&text, "r,~{memory}", None, &[barrier], false);
        };
        l.when(l.icmp(Cmp::Eq, self.thread, l.i32c(0)), || {
            for stage in 0..stages {
                init(stage, op.arrivals().unwrap_or(1));
                init(stages + stage, op.consumers());
            }
            // Copies by the tensor memory accelerator arrive at them too.
            l.asm("fence.proxy.async.shared::cta;", "~{memory}", None, &[], false);
        });
        self.values.insert(key(op.pipeline()), Lowered::Shared(barriers));
        Ok(())
    }

    pub(super) fn create_iterator(&mut self, op: CreateIteratorOp<'c>) -> Result<(), Failed> {
        self.values.insert(key(op.iterator()), Lowered::Scalar(self.l.i32c(0)));
        Ok(())
    }

    pub(super) fn inc_iter(&mut self, op: IncIterOp<'c>) -> Result<(), Failed> {
        let stages = stages(op.op(), op.pipeline())?;
        let iterator = self.scalar(op.op(), op.iterator())?;
        let l = &self.l;
        let next = l.add(iterator, l.i32c(1));
        let around = l.icmp(Cmp::Eq, self.stage_of(next), l.i32c(stages));
        // Back to stage zero, in a round of the other parity.
        let wrapped = l.bin("xor", next, l.i32c((1 << PARITY) | stages));
        let next = l.select(around, wrapped, next);
        self.values.insert(key(op.next()), Lowered::Scalar(next));
        Ok(())
    }

    pub(super) fn stage(&mut self, op: StageOp<'c>) -> Result<(), Failed> {
        let stage = self.stage_of(self.scalar(op.op(), op.iterator())?);
        self.values.insert(key(op.index()), Lowered::Scalar(stage));
        Ok(())
    }

    pub(super) fn producer_acquire(&mut self, op: ProducerAcquireOp<'c>) -> Result<(), Failed> {
        let iterator = self.scalar(op.op(), op.iterator())?;
        let empty = self.barrier_of(op.op(), op.pipeline(), iterator, true)?;
        let full = self.barrier_of(op.op(), op.pipeline(), iterator, false)?;
        let l = &self.l;
        let parity = l.bin("xor", self.parity_of(iterator), l.i32c(1));
        self.wait_for(empty, parity);
        if let Some(bytes) = op.bytes() {
            let text = format!("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {bytes};");
            l.asm(&text, "r,~{memory}", None, &[full], false);
        }
        self.values.insert(key(op.token()), Lowered::Shared(full));
        Ok(())
    }

    /// What a warp has stored is complete when one of its lanes arrives for all; of what threads copy each arrives by
    /// itself.
    pub(super) fn producer_commit(&mut self, op: ProducerCommitOp<'c>) -> Result<(), Failed> {
        let iterator = self.scalar(op.op(), op.iterator())?;
        let full = self.barrier_of(op.op(), op.pipeline(), iterator, false)?;
        let l = &self.l;
        if op.copies() {
            // The arrival is one of those that the barrier was told of, whenever it comes.
            l.asm("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", "r,~{memory}", None, &[full], false);
            return Ok(());
        }
        // Tensor cores read through a proxy of their own.
        l.asm("fence.proxy.async.shared::cta;", "~{memory}", None, &[], false);
        l.asm("bar.warp.sync -1;", "~{memory}", None, &[], false);
        let first = l.icmp(Cmp::Eq, self.lane, l.i32c(0));
        l.asm("@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}", None, &[full, first], false);
        Ok(())
    }

    pub(super) fn consumer_wait(&mut self, op: ConsumerWaitOp<'c>) -> Result<(), Failed> {
        let iterator = self.scalar(op.op(), op.iterator())?;
        let full = self.barrier_of(op.op(), op.pipeline(), iterator, false)?;
        self.wait_for(full, self.parity_of(iterator));
        self.values.insert(key(op.token()), Lowered::Nothing);
        Ok(())
    }

    pub(super) fn consumer_release(&mut self, op: ConsumerReleaseOp<'c>) -> Result<(), Failed> {
        let iterator = self.scalar(op.op(), op.iterator())?;
        let empty = self.barrier_of(op.op(), op.pipeline(), iterator, true)?;
        let predicate = op.predicate().map(|p| self.scalar(op.op(), p)).transpose()?;
        let l = &self.l;
        // The other lanes have read the stage as well.
        l.asm("bar.warp.sync -1;", "~{memory}", None, &[], false);
        let first = l.icmp(Cmp::Eq, self.lane, l.i32c(0));
        let predicate = self.both(predicate, Some(first)).expect("one of the two is there");
        let Some(after) = op.after() else {
            l.asm("@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}", None, &[empty, predicate], false);
            return Ok(());
        };
        // The highest bit of an iterator is never set, which nobody who reads the code can tell: the address depends on
        // what has been computed.
        let registers = self.fragment(op.op(), after)?;
        let word = |v: Val<'c>| if ty(v) == l.i32 { v } else { l.cast("bitcast", v, l.i32) };
        let mut args = vec![empty, predicate, iterator];
        args.extend([registers.first(), registers.last()].into_iter().flatten().map(|v| word(*v)));
        let text = format!(
            "{{ .reg .b32 a; or.b32 a, $3, $4; and.b32 a, a, $2; and.b32 a, a, {NEVER:#x}; add.u32 a, a, $0; \
             @$1 mbarrier.arrive.shared::cta.b64 _, [a]; }}"
        );
        l.asm(&text, "r,b,r,r,r,~{memory}", None, &args, false);
        Ok(())
    }

    /// The first thread goes through the body, the others past it.
    pub(super) fn elect(&mut self, op: ElectOp<'c>) -> Result<(), Failed> {
        let source = entry_block(region(op.op(), 0)).ok_or_else(|| fail(op.op(), "no program"))?;
        let here = self.l.b.block();
        let exit = self.l.new_block(&[], here);
        let body = self.l.new_block(&[], here);
        let first = self.l.icmp(Cmp::Eq, self.thread, self.l.i32c(0));
        self.l.cond_br(first, (body, &[]), (exit, &[]));
        self.l.b.set_end(body);
        self.block(source)?;
        self.l.br(exit, &[]);
        self.l.b.set_end(exit);
        Ok(())
    }

    /// The stages of a pipeline before that of an iterator.
    pub(super) fn filled(&self, op: OpRef<'c>, pipeline: Val<'c>, next: Val<'c>) -> Result<Filled<'c>, Failed> {
        let (barriers, next) = (self.shared_address(op, pipeline)?, self.scalar(op, next)?);
        Ok(Filled { barriers, stages: stages(op, pipeline)?, next })
    }

    /// Waits until stages are full, each in the last round in which its producer has come to it.
    pub(super) fn wait_for_filled(&self, filled: &Filled<'c>) {
        let l = &self.l;
        let (next, now) = (self.stage_of(filled.next), self.parity_of(filled.next));
        let before = l.bin("xor", now, l.i32c(1));
        for stage in 0..filled.stages {
            let in_this_round = l.icmp(Cmp::Slt, l.i32c(stage), next);
            let parity = l.select(in_this_round, now, before);
            self.wait_for(l.const_offset(filled.barriers, stage * BARRIER), parity);
        }
    }

    fn stage_of(&self, iterator: Val<'c>) -> Val<'c> {
        self.l.bin("and", iterator, self.l.i32c((1 << PARITY) - 1))
    }

    fn parity_of(&self, iterator: Val<'c>) -> Val<'c> {
        self.l.bin("lshr", iterator, self.l.i32c(PARITY))
    }

    /// Address of the barrier of an iterator's stage that says full or empty.
    fn barrier_of(&self, op: OpRef<'c>, pipeline: Val<'c>, iterator: Val<'c>, empty: bool) -> Result<Val<'c>, Failed> {
        let barriers = self.shared_address(op, pipeline)?;
        let l = &self.l;
        let at = l.byte_offset(barriers, l.mul(self.stage_of(iterator), l.i32c(BARRIER)));
        Ok(if empty { l.const_offset(at, stages(op, pipeline)? * BARRIER) } else { at })
    }

    /// Waits until the phase of this parity is complete.
    fn wait_for(&self, barrier: Val<'c>, parity: Val<'c>) {
        let text = "{ .reg .pred done; \
                    again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; \
                    @!done bra again; }";
        self.l.asm(text, "r,r,~{memory}", None, &[barrier, parity], false);
    }
}

fn stages<'c>(op: OpRef<'c>, pipeline: Val<'c>) -> Result<i64, Failed> {
    let t = PipelineType::cast(ty(pipeline)).ok_or_else(|| fail(op, "not a pipeline"))?;
    Ok(t.stages())
}
