//! Pipelines: barriers in shared memory that count arrivals and bytes (`mbarrier`), and the program of one thread.
//!
//! The barriers of a pipeline of S stages are S words that say *full*, then S that say *empty*, and where others change
//! stages before consumers have them, S that say *prepared*. A barrier completes one phase after another; who waits
//! names the parity of the phase. An iterator is two words, what most of its users ask for: the address of the stage's
//! barrier that says *full*, and the parity of the round. Loops carry them, so that a step is an addition, a comparison
//! and two predicated instructions, and where the stage itself lies is linear in the barrier's address. In round r a
//! consumer waits for phase r of *full* or *prepared*, and a producer for phase r - 1 of *empty*, since all stages are
//! empty at the beginning: waiting for the phase before the first returns at once.

use super::{Lower, Lowered, llvm::Cmp};
use crate::analysis::rings::{self, Wraps};
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
    /// Address of the first stage's barrier.
    first: Val<'c>,
    stages: i64,
    /// The first that it has not.
    next: Position<'c>,
}

/// Bytes of a barrier.
pub(super) const BARRIER: i64 = 8;
/// A bit that no address of a barrier has.
const NEVER: u32 = 1 << 31;

/// Words of an iterator.
pub(super) const ITERATOR_WORDS: usize = 2;

/// An iterator: the address of its stage's barrier that says full, and the parity of the round.
#[derive(Clone, Copy)]
struct Position<'c> {
    full: Val<'c>,
    parity: Val<'c>,
}

/// A stage of a ring: `bytes` for each eight of the distance of its barrier from the first.
#[derive(Clone, Copy)]
pub(super) struct Stage<'c> {
    /// The first stage.
    pub first: Val<'c>,
    pub bytes: i64,
    pub pipeline: Val<'c>,
    /// Address of the stage's barrier.
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
            l.asm(&text, "r,~{memory}", None, &[barrier], false);
        };
        l.when(l.icmp(Cmp::Eq, self.thread, l.i32c(0)), || {
            for stage in 0..stages {
                init(stage, op.arrivals().unwrap_or(1));
                init(stages + stage, op.consumers());
                if let Some(converters) = op.converters() {
                    init(2 * stages + stage, converters);
                }
            }
            // Copies by the tensor memory accelerator arrive at them too.
            l.asm("fence.proxy.async.shared::cta;", "~{memory}", None, &[], false);
        });
        // Hidden from LLVM: an address that it knows it makes again wherever a ring ends.
        let first = l.cast("ptrtoint", barriers, l.i32);
        let first = l.asm("", "=r,0", Some(l.i32), &[first], true).expect("asm with a result");
        self.values.insert(key(op.pipeline()), Lowered::Scalar(first));
        Ok(())
    }

    pub(super) fn create_iterator(&mut self, op: CreateIteratorOp<'c>) -> Result<(), Failed> {
        let full = self.scalar(op.op(), op.pipeline())?;
        self.set_position(op.iterator(), Position { full, parity: self.l.i32c(0) });
        Ok(())
    }

    pub(super) fn inc_iter(&mut self, op: IncIterOp<'c>) -> Result<(), Failed> {
        let bytes = stages(op.op(), op.pipeline())? * BARRIER;
        let first = self.scalar(op.op(), op.pipeline())?;
        let Position { full, parity } = self.position(op.op(), op.iterator())?;
        let l = &self.l;
        let (full, parity) = match self.ring_positions.step_from(op.iterator()) {
            Wraps::Never => (l.add(full, l.i32c(BARRIER)), parity),
            Wraps::Always => (l.add(full, l.i32c(BARRIER - bytes)), l.bin("xor", parity, l.i32c(1))),
            Wraps::Sometimes => {
                let end = l.add(first, l.i32c(bytes));
                // Back to the first stage, in a round of the other parity. Written by predicates: of selections LLVM
                // and the finaliser make more instructions.
                let text = format!(
                    "{{ .reg .pred around; add.u32 $0, $2, {BARRIER}; mov.b32 $1, $3; setp.eq.u32 around, $0, $4; \
                     @around sub.u32 $0, $0, {bytes}; @around xor.b32 $1, $1, 1; }}"
                );
                let words = Some(l.structure(&[l.i32, l.i32]));
                let next = l.asm(&text, "=&r,=&r,r,r,r", words, &[full, parity, end], true);
                let next = next.expect("asm with a result");
                (l.field(next, l.i32, 0), l.field(next, l.i32, 1))
            }
        };
        self.set_position(op.next(), Position { full, parity });
        Ok(())
    }

    pub(super) fn stage(&mut self, op: StageOp<'c>) -> Result<(), Failed> {
        let first = self.scalar(op.op(), pipeline_of(op.op(), op.iterator())?)?;
        let Position { full, .. } = self.position(op.op(), op.iterator())?;
        let l = &self.l;
        let index = l.bin("lshr", l.bin("sub", full, first), l.i32c(BARRIER.ilog2().into()));
        self.values.insert(key(op.index()), Lowered::Scalar(index));
        Ok(())
    }

    /// The stage of a ring whose number is `index`, if an iterator says so.
    pub(super) fn stage_at(&self, memory: Val<'c>, bytes: i64, index: Val<'c>) -> Result<Option<Stage<'c>>, Failed> {
        let Some(op) = defining_op(index).and_then(StageOp::cast) else { return Ok(None) };
        let pipeline = pipeline_of(op.op(), op.iterator())?;
        let Position { full: barrier, .. } = self.position(op.op(), op.iterator())?;
        Ok(Some(Stage { first: memory, bytes, pipeline, barrier }))
    }

    /// `units` for each byte of the distance of a stage's barrier from the first, added to `first`.
    ///
    /// The finaliser has an instruction that multiplies and adds. LLVM would subtract the addresses before it
    /// multiplies, or multiply where several blocks can share the product.
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
        Ok(l.asm(&text, "=l,r,l", Some(l.i64), &[stage.barrier, origin], true).expect("asm with a result"))
    }

    pub(super) fn producer_acquire(&mut self, op: ProducerAcquireOp<'c>) -> Result<(), Failed> {
        let Position { full, parity } = self.position(op.op(), op.iterator())?;
        let empty = self.empty_of(op.op(), op.pipeline(), full)?;
        let l = &self.l;
        self.wait_for(empty, l.bin("xor", parity, l.i32c(1)));
        if let Some(bytes) = op.bytes() {
            let text = format!("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {bytes};");
            l.asm(&text, "r,~{memory}", None, &[full], false);
        }
        let full = l.b.value("llvm.inttoptr", l.shared_ptr, &[full], &[]);
        self.values.insert(key(op.token()), Lowered::Shared(full));
        Ok(())
    }

    /// What a warp has stored is complete when one of its lanes arrives for all; of what threads copy each arrives by
    /// itself.
    pub(super) fn producer_commit(&mut self, op: ProducerCommitOp<'c>) -> Result<(), Failed> {
        let Position { full, .. } = self.position(op.op(), op.iterator())?;
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
        let barrier = self.ready_of(op.op(), op.pipeline(), full, op.converted())?;
        l.asm("@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}", None, &[barrier, first], false);
        Ok(())
    }

    pub(super) fn consumer_wait(&mut self, op: ConsumerWaitOp<'c>) -> Result<(), Failed> {
        let Position { full, parity } = self.position(op.op(), op.iterator())?;
        let barrier = self.ready_of(op.op(), op.pipeline(), full, op.converted())?;
        self.wait_for(barrier, parity);
        self.values.insert(key(op.token()), Lowered::Nothing);
        Ok(())
    }

    pub(super) fn consumer_release(&mut self, op: ConsumerReleaseOp<'c>) -> Result<(), Failed> {
        let Position { full, .. } = self.position(op.op(), op.iterator())?;
        let predicate = op.predicate().map(|p| self.scalar(op.op(), p)).transpose()?;
        let l = &self.l;
        if !rings::only_multiplied(op.op(), op.pipeline()) {
            // The other lanes have read the stage as well. Products read for all lanes at once.
            l.asm("bar.warp.sync -1;", "~{memory}", None, &[], false);
        }
        let first = l.icmp(Cmp::Eq, self.lane, l.i32c(0));
        let predicate = self.both(predicate, Some(first)).expect("one of the two is there");
        let Some(after) = op.after() else {
            let empty = self.empty_of(op.op(), op.pipeline(), full)?;
            l.asm("@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}", None, &[empty, predicate], false);
            return Ok(());
        };
        // The highest bit of an address in shared memory is never set, which nobody who reads the code can tell: the
        // address depends on what has been computed.
        let registers = self.fragment(op.op(), after)?;
        let word = |v: Val<'c>| if ty(v) == l.i32 { v } else { l.cast("bitcast", v, l.i32) };
        let empty = stages(op.op(), op.pipeline())? * BARRIER;
        let mut args = vec![full, predicate];
        args.extend([registers.first(), registers.last()].into_iter().flatten().map(|v| word(*v)));
        let text = format!(
            "{{ .reg .b32 a; or.b32 a, $2, $3; and.b32 a, a, $0; and.b32 a, a, {NEVER:#x}; add.u32 a, a, $0; \
             @$1 mbarrier.arrive.shared::cta.b64 _, [a+{empty}]; }}"
        );
        l.asm(&text, "r,b,r,r,~{memory}", None, &args, false);
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
        let (first, next) = (self.scalar(op, pipeline)?, self.position(op, next)?);
        Ok(Filled { first, stages: stages(op, pipeline)?, next })
    }

    /// Waits until stages are full, each in the last round in which its producer has come to it.
    pub(super) fn wait_for_filled(&self, filled: &Filled<'c>) {
        let l = &self.l;
        let Position { full, parity } = filled.next;
        let before = l.bin("xor", parity, l.i32c(1));
        for stage in 0..filled.stages {
            let barrier = l.add(filled.first, l.i32c(stage * BARRIER));
            let in_this_round = l.icmp(Cmp::Ult, barrier, full);
            self.wait_for(barrier, l.select(in_this_round, parity, before));
        }
    }

    fn position(&self, op: OpRef<'c>, iterator: Val<'c>) -> Result<Position<'c>, Failed> {
        match self.fragment(op, iterator)?[..] {
            [full, parity] => Ok(Position { full, parity }),
            _ => Err(fail(op, "not an iterator")),
        }
    }

    fn set_position(&mut self, iterator: Val<'c>, position: Position<'c>) {
        self.set_all(iterator, vec![position.full, position.parity]);
    }

    /// Address of the barrier that says empty, of the stage whose other barrier says full.
    fn empty_of(&self, op: OpRef<'c>, pipeline: Val<'c>, full: Val<'c>) -> Result<Val<'c>, Failed> {
        Ok(self.l.add(full, self.l.i32c(stages(op, pipeline)? * BARRIER)))
    }

    /// Address of the barrier that says full, or of the same stage's that says prepared.
    fn ready_of(&self, op: OpRef<'c>, pipeline: Val<'c>, full: Val<'c>, converted: bool) -> Result<Val<'c>, Failed> {
        if !converted {
            return Ok(full);
        }
        Ok(self.l.add(full, self.l.i32c(2 * stages(op, pipeline)? * BARRIER)))
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

/// The pipeline that an iterator steps through.
fn pipeline_of<'c>(op: OpRef<'c>, iterator: Val<'c>) -> Result<Val<'c>, Failed> {
    rings::pipeline_of(iterator).ok_or_else(|| fail(op, "an iterator of no pipeline"))
}
