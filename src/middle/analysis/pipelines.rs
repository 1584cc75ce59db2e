//! Extracts the synchronization protocol of a kernel's pipelines and checks it with `tile_protocol`.
//!
//! The protocol consists of the operations on stages and barriers of each agent (waits, arrivals, copies and dots)
//! and the loops and branches around them. For example,
//!
//! ```text
//! for i: wait full;  dot reads stage;  release empty          // consumer
//! for i: acquire empty;  copy fills stage, arrives at full    // producer
//! ```
//!
//! An iterator becomes the number of its steps so far. This number determines the stage, the parity, and the *tag* of
//! the contents of a stage: a dot that reads with iterator `n` must read the copy that was issued with `n`. All other
//! values are unknown.
//!
//! # Loops and branches
//!
//! The trip count of a loop is a parameter of the protocol. Agents share the parameter of a loop whose bounds are
//! computed alike in them; `common` finds these loops. A branch is taken never, always, in odd iterations, or in even
//! iterations. If a run-time test decides which views have tensor maps, the protocol of each outcome is checked.
//! `resident` explains loops without pipeline ops.
//!
//! # Pairs of CTAs
//!
//! If two CTAs share pipelines, the protocol has the agents of both. Each CTA has its own stages and barriers, except
//! that the barriers of the leader count some phases for both. The loops and branches of both CTAs are the same, which
//! `tileaa-plan-dots` has checked.
//!
//! # Ping-pong
//!
//! Warpgroups that ping-pong (`create_ping_pong`) run the program independently, so each of them is an agent of the
//! protocol. Barriers of all threads of an agent are not part of the protocol. They cannot block warpgroups that
//! ping-pong: no warpgroup may reach one while it holds a turn, and all of them reach the same barriers in the same
//! order.
//!
//! # Warpgroups with barriers of their own
//!
//! If a pipeline has barriers for each warpgroup (`create_pipeline ... warpgroups`), the consumers' warpgroups are
//! agents of the protocol too. Each has its own part of a stage in tensor memory. A barrier of all threads of the
//! consumers is one of the protocol.
//!
//! # Result
//!
//! The check reports a violation with an interleaving of agents that causes it, or the reason why the protocol cannot
//! be extracted.
//!
//! # Assumptions and bound on the work
//!
//! The protocol is checked for trip counts up to twice the number of stages plus 2; a violation that needs longer
//! loops would be missed. `loops` reduces these ranges if they have too many combinations, and joins nested loops
//! into one where possible. Extraction visits each op once per agent or warpgroup.

mod common;
mod handovers;
mod loops;
mod resident;

pub use loops::only_asks;

use super::{facts::Facts, producers::skip_conversions, tensor_map_ops::readiness};
use crate::dialect::{
    behaviour::{SyncKind, sync_kind},
    dot_plan::{Agent, DotPlan, WARPGROUP},
    dots::SharedDot,
    elements,
    layouts::Tensor,
    nv_tileaa::{FuncOp, MemTokenType},
    nv_tileas::{
        AgentSwitchOp, AllocTensorOp, AnyOp, AsyncDotOp, ConsumerReleaseOp, ConsumerWaitOp, CreatePingPongOp,
        CreatePipelineOp, EndPingPongOp, IncIterOp, MemDescSlotOp, MemDescType, MmaKind, PingPongArriveOp,
        PingPongType, PingPongWaitOp, PipelineIteratorType, PipelineType, ProducerAcquireOp, ProducerCommitOp, StageOp,
        TmemScaleOp, TmemStoreOp,
    },
    phases::{self, Handover},
    rt::*,
    shared_memory::{SCRATCH_BYTES, stored_bits},
    thread_scope::ThreadScope,
    types::is_bool,
    upstream::{Arith, Scf},
};
use common::Commons;
use handovers::{Barriers, Pipeline};
use loops::LoopPart;
use resident::{Residents, in_iterations};
use rustc_hash::{FxHashMap, FxHashSet};
use tile_protocol::{Array, Engine, Expr, Op, Program, StageAccess, Var};

/// A faulty op, and a reason or a violation with its interleaving.
pub type Fault<'c> = (OpRef<'c>, String);

/// Whether all stages of all pipelines have been filled and emptied before `op`: no op of its agent, or of the
/// function if there are no agents, uses a pipeline from there on. All copies into rings and all dots that read them
/// are then complete, even if other agents still run, because the agent waits for each stage that is filled.
pub fn is_after_pipelines(op: OpRef<'_>) -> bool {
    let mut at = op;
    let mut waits = false;
    loop {
        let Some(block) = block_around(at) else { return false };
        let mut later = false;
        for o in ops_of(block) {
            // The op that contains the previous one has been examined from inside.
            if o != at || at == op {
                if (later || o == op) && uses_pipelines(o) {
                    return false;
                }
                walk(o, &mut |inner| waits |= ConsumerWaitOp::cast(inner).is_some());
            }
            later |= o == at;
        }
        let Some(parent) = parent_op(at).filter(|p| ThreadScope::of_region(*p, 0).is_none()) else { break };
        // The whole body of a loop follows each op in it, in the next iteration. The other side of a branch does not.
        if Scf::of(parent) != Some(Scf::If) && uses_pipelines(parent) {
            return false;
        }
        at = parent;
    }
    // A producer does not wait for the stages that it fills, so their copies may still be in flight.
    waits
}

fn uses_pipelines(op: OpRef<'_>) -> bool {
    let mut any = false;
    walk(op, &mut |inner| any |= is_pipeline_op(inner));
    any
}

/// Bytes of shared memory that a layout conversion at `op` may use. After the pipelines, their rings are free.
pub fn scratch_bytes(op: OpRef<'_>) -> u64 {
    match DotPlan::around(op) {
        None => SCRATCH_BYTES,
        Some(plan) if is_after_pipelines(op) && plan.reads_fragments() => LAST_SCRATCH_BYTES / 2,
        Some(_) if is_after_pipelines(op) => LAST_SCRATCH_BYTES,
        Some(plan) => plan.scratch.into(),
    }
}

/// The limit for conversions after the pipelines. It lets the largest accumulators, 256x256 of f16 or 128x256 of f32,
/// be converted at once. Targets without `wgmma` and tensor memory have less than half of the shared memory.
const LAST_SCRATCH_BYTES: u64 = 128 << 10;

/// Threads of a warp.
const THREADS: u32 = 32;

/// Checks the pipelines of a function, if it has any.
pub fn check<'c>(function: OpRef<'c>) -> Result<(), Fault<'c>> {
    let pipelines = collect_ops(function, CreatePipelineOp::cast);
    let ping_pong = collect_ops(function, CreatePingPongOp::cast);
    let mut created = pipelines.iter().map(|p| p.op()).chain(ping_pong.iter().map(|t| t.op()));
    let Some(first) = created.next() else { return Ok(()) };
    let is_tested = !collect_ops(function, readiness).is_empty();
    let outcomes: &[bool] = if is_tested { &[true, false] } else { &[true] };
    let facts = Facts::of(function);
    outcomes.iter().try_for_each(|ready| check_one(function, &pipelines, (first, *ready), &facts))
}

/// Checks the protocol for one outcome of the run-time tests of views: all are `ready`, or none is.
fn check_one<'c>(
    function: OpRef<'c>,
    pipelines: &[CreatePipelineOp<'c>],
    (first, ready): (OpRef<'c>, bool),
    facts: &Facts,
) -> Result<(), Fault<'c>> {
    // Whether a loop does more than run its inner loop is known only after its body is extracted. If it does, the
    // protocol is extracted again without joining loops.
    let extract = |joins: bool| extract(function, pipelines, (ready, joins), facts);
    let program = extract(true).or_else(|_| extract(false))?;
    program.check().map_err(|violation| (first, violation.to_string()))
}

/// Extracts the protocol. If `joins` is set, a loop that only runs another loop is joined with it.
fn extract<'c>(
    function: OpRef<'c>,
    pipelines: &[CreatePipelineOp<'c>],
    (ready, joins): (bool, bool),
    facts: &Facts,
) -> Result<Program, Fault<'c>> {
    let mut extract = Extract::new(function, pipelines, ready, facts)?;
    let switches = collect_ops(function, AgentSwitchOp::cast);
    let agents: Vec<Blk<'c>> = match switches[..] {
        [] => entry_block(region(function, 0)).into_iter().collect(),
        [one] => (0..region_count(one.op())).filter_map(|i| entry_block(region(one.op(), i))).collect(),
        _ => return Err((switches[1].op(), "only one 'nv_tileas.agent_switch' per function is supported".into())),
    };
    extract.match_agents(&agents, joins);
    // Agents of one rank run only there.
    let ranks: Vec<Option<u32>> = match switches[..] {
        [one] => Agent::of_switch(one).into_iter().map(|agent| agent.rank).collect(),
        _ => vec![],
    };
    let runs = |rank: usize, number: usize| {
        let only = ranks.get(number).copied().flatten();
        only.is_none_or(|only| only as usize == rank)
    };
    let all = (0..extract.ctas).flat_map(|rank| agents.iter().enumerate().map(move |(i, block)| (rank, i, block)));
    for (rank, number, block) in all.filter(|(rank, number, _)| runs(*rank, *number)) {
        extract.agent = number;
        extract.rank = rank;
        extract.fills = ops_of(*block).any(|op| {
            let mut commits = false;
            walk(op, &mut |o| commits |= ProducerCommitOp::cast(o).is_some());
            commits
        });
        let mut created = vec![];
        ops_of(*block).for_each(|op| walk(op, &mut |o| created.extend(CreatePingPongOp::cast(o))));
        // Each ping-pong of an agent includes all of its warpgroups.
        let divided = extract.divide(number, *block);
        extract.groups = created.first().map_or(divided.map_or(1, |(n, _)| n), |t| groups_of(t.ping_pong()));
        extract.meeting = divided.map(|(_, barrier)| barrier);
        for group in 0..extract.groups {
            extract.group = group;
            extract.residents.next_agent();
            extract.stored = false;
            extract.has_turn = false;
            let body = extract.block(*block)?;
            let mut name = match extract.groups {
                1 => format!("agent {number}"),
                _ => format!("warpgroup {group} of agent {number}"),
            };
            if extract.ctas > 1 {
                name = format!("{name} of CTA {rank}");
            }
            let warps = ops_of(*block).next().and_then(ThreadScope::of).and_then(|scope| scope.warps);
            let warps = if extract.groups > 1 { WARPGROUP } else { warps.map_or(WARPGROUP, |w| w as u32) };
            extract.program.agent(&name, warps * THREADS, body);
        }
    }
    extract.limit_runs();
    Ok(extract.program)
}

struct Extract<'a, 'c> {
    facts: &'a Facts,
    program: Program,
    pipelines: FxHashMap<usize, Pipeline>,
    /// The barriers of each ping-pong, one per warpgroup.
    ping_pong: FxHashMap<usize, Array>,
    /// The stages of each CTA, and of each warpgroup that has a part of its own.
    storages: FxHashMap<(usize, usize, Option<u32>), Array>,
    /// The number of steps of each iterator, and the value of each boolean.
    values: FxHashMap<usize, Expr>,
    commons: Commons<'c>,
    residents: Residents<'c>,
    /// The number of CTAs that share pipelines, and the rank of the current one.
    ctas: usize,
    rank: usize,
    /// The index of the current agent.
    agent: usize,
    /// The index of the current warpgroup of the agent, and their number. An agent without ping-pong counts as one
    /// warpgroup.
    group: u32,
    groups: u32,
    /// Whether the warpgroup holds a ping-pong turn.
    has_turn: bool,
    /// The barrier of all threads of an agent whose warpgroups have barriers of their own.
    meeting: Option<Array>,
    /// Whether the agent's warps fill stages.
    fills: bool,
    /// Whether they have stored data that is not yet committed.
    stored: bool,
    /// Counters of the enclosing loops, outermost first, and their trip counts.
    counters: Vec<Var>,
    trips: Vec<Expr>,
    /// Pipeline and ping-pong ops, and the ops that contain them.
    relevant: FxHashSet<usize>,
    /// The outcome of all run-time tests of views.
    ready: bool,
}

impl<'a, 'c> Extract<'a, 'c> {
    fn new(
        function: OpRef<'c>,
        pipelines: &[CreatePipelineOp<'c>],
        ready: bool,
        facts: &'a Facts,
    ) -> Result<Self, Fault<'c>> {
        let mut program = Program::new("pipelines");
        let mut known = FxHashMap::default();
        let ctas = if pipelines.iter().any(|p| phases::is_shared(p.pipeline())) { 2 } else { 1 };
        for (i, pipeline) in pipelines.iter().enumerate() {
            let op = pipeline.op();
            let stages =
                PipelineType::cast(ty(pipeline.pipeline())).ok_or((op, "not a pipeline".to_string()))?.stages();
            let mut phases_of = vec![];
            for group in 0..pipeline.warpgroups().unwrap_or(1) {
                let mut own = vec![];
                for (name, arrivals) in pipeline.phases().into_iter().zip(pipeline.arrivals()) {
                    let arrivals = u32::try_from(arrivals).map_err(|_| (op, "too many arrivals".to_string()))?;
                    let of_group = if group > 0 { format!(" of warpgroup {group}") } else { String::new() };
                    let of_cta = |rank| if ctas > 1 { format!(" of CTA {rank}") } else { String::new() };
                    let mut barriers = |rank| {
                        let name = format!("{name}{i}{of_group}{}", of_cta(rank));
                        program.barrier(&name, stages as usize, arrivals)
                    };
                    let by_leader = phases::is_by_leader(pipeline.pipeline(), name);
                    let counted = if by_leader { 1 } else { ctas };
                    let of_ctas = (0..counted).map(&mut barriers).collect();
                    let by_dots = !by_leader && phases::is_shared(pipeline.pipeline());
                    own.push((name.to_string(), Barriers { of_ctas, by_leader, by_dots }));
                }
                phases_of.push(own);
            }
            known.insert(key(pipeline.pipeline()), Pipeline { stages, phases: phases_of });
        }
        let mut ping_pong = FxHashMap::default();
        for (i, create) in collect_ops(function, CreatePingPongOp::cast).into_iter().enumerate() {
            let groups = groups_of(create.ping_pong()) as usize;
            ping_pong.insert(
                key(create.ping_pong()),
                program.named(&format!("ping_pong{i}"), groups, 2 * WARPGROUP * THREADS),
            );
        }
        let mut relevant = FxHashSet::default();
        walk(function, &mut |o| {
            if is_pipeline_op(o) || is_ping_pong(o) {
                relevant.extend(std::iter::successors(Some(o), |p| parent_op(*p)).map(op_key));
            }
        });
        Ok(Self {
            facts,
            program,
            pipelines: known,
            ping_pong,
            storages: FxHashMap::default(),
            values: FxHashMap::default(),
            commons: Commons::default(),
            residents: Residents::default(),
            ctas,
            rank: 0,
            agent: 0,
            group: 0,
            groups: 1,
            has_turn: false,
            meeting: None,
            fills: false,
            stored: false,
            counters: vec![],
            trips: vec![],
            relevant,
            ready,
        })
    }

    fn block(&mut self, block: Blk<'c>) -> Result<Vec<Op>, Fault<'c>> {
        let mut ops = vec![];
        let held = self.has_turn;
        for op in ops_of(block) {
            if self.has_turn && meets(op) {
                return Err((
                    op,
                    "all threads of the agent synchronize here while a warpgroup holds its ping-pong turn".into(),
                ));
            }
            self.op(op, &mut ops)?;
        }
        match ops_of(block).last().filter(|_| self.has_turn != held) {
            Some(last) => Err((last, "a ping-pong wait in this block has no arrive, or an arrive has no wait".into())),
            None => Ok(ops),
        }
    }

    fn op(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        if let Some(meeting) = self.meeting.filter(|_| !self.relevant.contains(&op_key(op)) && meets(op)) {
            out.push(Op::Sync(meeting.at(&Expr::from(0))));
        }
        match Scf::of(op) {
            Some(Scf::For) if self.relevant.contains(&op_key(op)) => return self.counted(op, out),
            Some(Scf::For) if adds_in_memory(op) => return self.resident(op, out),
            Some(Scf::If) if readiness(op).is_some() => {
                if let Some(side) = entry_block(region(op, usize::from(!self.ready))) {
                    out.extend(self.block(side)?);
                }
                return Ok(());
            }
            Some(Scf::If) if self.relevant.contains(&op_key(op)) => return self.branch(op, out),
            Some(Scf::While) if self.relevant.contains(&op_key(op)) => return self.conditional(op, out),
            Some(Scf::If) if stores_accumulator(op) => return self.store_unless_run(op, out),
            _ => {}
        }
        if Arith::of(op) == Some(Arith::Constant) {
            if let Some(value) = attr(op, "value").and_then(elements::integer) {
                self.values.insert(key(result(op, 0)), Expr::from(value & 1));
            }
            return Ok(());
        }
        use AnyOp::*;
        match AnyOp::cast(op) {
            Some(CreateIteratorOp(x)) => {
                self.values.insert(key(x.iterator()), Expr::from(0));
            }
            Some(IncIterOp(x)) => {
                let next = self.value(op, x.iterator())? + 1;
                self.values.insert(key(x.next()), next);
            }
            // One thread of the agent executes it, so only the first warpgroup does.
            Some(ElectOp(_)) if self.group > 0 => {}
            Some(ElectOp(_)) => {
                let body = entry_block(region(op, 0)).ok_or((op, "elect has no body".to_string()))?;
                out.extend(self.block(body)?);
            }
            Some(ProducerAcquireOp(x)) => self.acquire(x, out)?,
            Some(ProducerCommitOp(x)) => self.commit(x, out)?,
            Some(AsyncFenceOp(_)) => out.push(Op::Fence),
            Some(AsyncLoadOp(x)) => self.copy(op, x.dest(), out)?,
            Some(AsyncTiledLoadOp(x)) => self.copy(op, x.dest(), out)?,
            Some(ConsumerWaitOp(x)) => self.wait(x, out)?,
            Some(NextTileBlockOp(x)) => self.next_tile_block(x, out)?,
            Some(CancelTileBlockOp(x)) => self.cancel_tile_block(x, out)?,
            Some(ConsumerReleaseOp(x)) => self.release(x, out)?,
            Some(AsyncTiledTmaLoadOp(x)) => self.copy_by_tma(op, (x.dest(), x.token()), out)?,
            Some(AsyncBulkLoadOp(x)) => self.copy_by_tma(op, (x.dest(), x.token()), out)?,
            Some(AsyncDotOp(_) | PromotedDotOp(_)) => {
                self.dot(op, out)?;
            }
            Some(AsyncDotWaitOp(x)) => {
                out.push(Op::WaitGroups { engine: Engine::Dot, pending: x.pending() as u32 });
            }
            Some(CreatePingPongOp(_) | PingPongWaitOp(_) | PingPongArriveOp(_) | EndPingPongOp(_)) => {
                self.ping_pong(op, out)?
            }
            Some(LocalLoadOp(x)) => self.touch(op, x.source(), out)?,
            Some(TmemLoadOp(x)) => self.touch(op, x.source(), out)?,
            Some(TmemCopyOp(x)) => {
                for rank in if x.pair() { 0..self.ctas } else { self.rank..self.rank + 1 } {
                    for (memory, access) in [(x.source(), StageAccess::Read), (x.dest(), StageAccess::Write)] {
                        if let Some((place, tag)) = self.place_in(op, memory, rank)? {
                            out.push(Op::Begin { engine: Engine::Dot, access, place, tag });
                        }
                    }
                }
                out.push(Op::Commit(Engine::Dot));
            }
            Some(TmemStoreOp(x)) => {
                if let Some((into, tag)) = self.place(op, x.dest())? {
                    out.push(Op::Write { into, tag });
                }
            }
            Some(TmemScaleOp(x)) => self.scale(x, out)?,
            Some(LocalStoreOp(x)) => self.store(op, x.dest(), out)?,
            Some(LocalTransposeOp(x)) => {
                self.touch(op, x.source(), out)?;
                self.store(op, x.dest(), out)?;
            }
            _ if self.relevant.contains(&op_key(op)) && region_count(op) > 0 => {
                return Err((op, "pipeline ops inside of this op are not supported".into()));
            }
            _ => {}
        }
        Ok(())
    }

    /// Extracts a copy whose bytes the stage of the token counts.
    fn copy_by_tma(
        &mut self,
        op: OpRef<'c>,
        (dest, token): (Val<'c>, Val<'c>),
        out: &mut Vec<Op>,
    ) -> Result<(), Fault<'c>> {
        let acquired = defining_op(token).and_then(ProducerAcquireOp::cast);
        let acquired = acquired.ok_or((op, "its token does not come from the acquire of a stage".to_string()))?;
        let place = self.place(op, dest)?;
        let (into, tag) = place.ok_or((op, "it does not copy to a stage of a pipeline".to_string()))?;
        let (slot, _) = self.slot(op, acquired.pipeline(), acquired.iterator())?;
        let barrier = self.phase(Handover::Acquire(acquired), phases::filled(acquired))?.of(self.rank).at(&slot);
        let bytes = bytes_of(dest).ok_or((op, "not a memdesc".to_string()))?;
        out.push(Op::Copy { into, tag, bytes, barrier });
        Ok(())
    }

    /// Extracts a dot, which accesses stages of this CTA, or of both CTAs of a pair.
    fn dot(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let Some(dot) = SharedDot::cast(op) else { return Ok(()) };
        let in_memory = |v: &Val<'c>| MemDescType::cast(ty(*v)).is_some();
        let pair = dot.instruction().is_some_and(|by| by.kind == MmaKind::TensorPair);
        let own = self.rank;
        for rank in if pair { 0..self.ctas } else { own..own + 1 } {
            let scales = AsyncDotOp::cast(op).map(|dot| [dot.lhs_scale(), dot.rhs_scale()]);
            let scales = scales.into_iter().flatten().flatten();
            // Earlier copies of the thread have brought scale factors.
            let read = [dot.lhs(), dot.rhs()].into_iter().map(|v| (v, StageAccess::Read));
            let read = read.chain(scales.map(|v| (v, StageAccess::ReadInOrder)));
            for (memory, access) in read.filter(|(v, _)| in_memory(v)) {
                if let Some((place, tag)) = self.place_in(op, memory, rank)? {
                    out.push(Op::Begin { engine: Engine::Dot, access, place, tag });
                }
            }
            if let Some(memory) = Some(dot.acc()).filter(in_memory) {
                let place = self.place_in(op, memory, rank)?;
                let (place, tag) = place.ok_or((op, "its accumulator is not a stage of a pipeline".to_string()))?;
                out.push(Op::Begin { engine: Engine::Dot, access: StageAccess::Accumulate, place, tag });
            }
        }
        out.push(Op::Commit(Engine::Dot));
        if matches!(dot, SharedDot::Promoted(_)) {
            out.push(Op::WaitGroups { engine: Engine::Dot, pending: 0 });
        }
        Ok(())
    }

    /// Extracts a ping-pong op: a wait for this warpgroup's turn, or the handover of the turn to the next warpgroup.
    fn ping_pong(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let created = CreatePingPongOp::cast(op).map(|c| c.ping_pong());
        let ping_pong = created.unwrap_or_else(|| operand(op, 0));
        let barriers = *self
            .ping_pong
            .get(&key(ping_pong))
            .ok_or((op, "the ping-pong is not created in this function".to_string()))?;
        let of = |group: u32| barriers.at(&Expr::from(i64::from(group)));
        let next = (self.group + 1) % self.groups;
        if created.is_some() {
            out.extend((next == 0).then(|| Op::Post(of(0))));
        } else if EndPingPongOp::cast(op).is_some() {
            out.extend((self.group == 0).then(|| Op::Sync(of(0))));
        } else {
            self.has_turn = PingPongWaitOp::cast(op).is_some();
            out.push(if self.has_turn { Op::Sync(of(self.group)) } else { Op::Post(of(next)) });
        }
        Ok(())
    }

    /// Extracts a read by threads.
    fn touch(&mut self, op: OpRef<'c>, memory: Val<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        if let Some((from, tag)) = self.place(op, memory)? {
            out.push(Op::Read { from, tag });
        }
        Ok(())
    }

    /// Extracts the scaling of an accumulator: a read and a write.
    fn scale(&mut self, x: TmemScaleOp<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let Some((place, tag)) = self.place(x.op(), x.memory())? else { return Ok(()) };
        let both = vec![Op::Read { from: place.clone(), tag: tag.clone() }, Op::Write { into: place, tag }];
        match x.predicate() {
            Some(p) => out.push(Op::If { condition: self.value(x.op(), p)?, then: both, otherwise: vec![] }),
            None => out.extend(both),
        }
        Ok(())
    }

    /// Extracts a store by threads.
    fn store(&mut self, op: OpRef<'c>, memory: Val<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        if !self.fills {
            // A consumer that changes a stage in place must still own it, as for a read.
            return self.touch(op, memory, out);
        }
        // A producer fills the stage, and a converter changes it for the consumers.
        if let Some((into, tag)) = self.place(op, memory)? {
            out.push(Op::Write { into, tag });
            self.stored = true;
        }
        Ok(())
    }

    fn value(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Expr, Fault<'c>> {
        // Iterators that are created before the agents start at zero.
        let from_outside = || match defining_op(v).and_then(AnyOp::cast)? {
            AnyOp::CreateIteratorOp(_) => Some(Expr::from(0)),
            _ => None,
        };
        self.values
            .get(&key(v))
            .cloned()
            .or_else(from_outside)
            .ok_or((op, "the number of steps of an iterator is not known".into()))
    }

    fn pipeline(&self, op: OpRef<'c>, pipeline: Val<'c>) -> Result<&Pipeline, Fault<'c>> {
        self.pipelines.get(&key(pipeline)).ok_or((op, "the pipeline is not created in this function".into()))
    }

    /// The stage of an iterator, and the parity of its round.
    fn slot(&self, op: OpRef<'c>, pipeline: Val<'c>, iterator: Val<'c>) -> Result<(Expr, Expr), Fault<'c>> {
        let stages = self.pipeline(op, pipeline)?.stages;
        let steps = self.value(op, iterator)?;
        Ok((steps.clone() % stages, steps / stages % 2))
    }

    /// Extracts an asynchronous copy by threads.
    fn copy(&mut self, op: OpRef<'c>, memory: Val<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        if let Some((place, tag)) = self.place(op, memory)? {
            out.push(Op::Begin { engine: Engine::Copy, access: StageAccess::Write, place, tag });
        }
        Ok(())
    }

    /// The stage to which a memory descriptor refers, and the number of steps of the iterator that selects it.
    /// Returns `None` for storage that is not the ring of a pipeline.
    fn place(&mut self, op: OpRef<'c>, memory: Val<'c>) -> Result<Option<(tile_protocol::Place, Expr)>, Fault<'c>> {
        self.place_in(op, memory, self.rank)
    }

    /// The same, in the CTA `rank`.
    fn place_in(
        &mut self,
        op: OpRef<'c>,
        mut memory: Val<'c>,
        rank: usize,
    ) -> Result<Option<(tile_protocol::Place, Expr)>, Fault<'c>> {
        let (mut steps, mut part) = (None, None);
        while let Some(from) =
            defining_op(memory).filter(|o| AllocTensorOp::cast(*o).is_none() && operand_count(*o) > 0)
        {
            if let Some(slot) = MemDescSlotOp::cast(from) {
                let stage = defining_op(slot.index()).and_then(StageOp::cast);
                steps = stage.map(|s| self.value(op, s.iterator())).transpose()?;
                part = stage.map(|s| self.part(op, s)).transpose()?.flatten();
            }
            memory = operand(from, 0);
        }
        let Some(steps) = steps else { return Ok(None) };
        let stages = MemDescType::cast(ty(memory)).ok_or((op, "not a memdesc".to_string()))?.stages();
        let next = self.storages.len();
        let program = &mut self.program;
        let storage = *self
            .storages
            .entry((key(memory), rank, part))
            .or_insert_with(|| program.storage(&format!("ring{next}"), stages as usize));
        Ok(Some((storage.at(&(steps.clone() % stages)), steps)))
    }

    fn branch(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let iteration: Expr = self.counters.last().map_or(Expr::from(0), |v| (*v).into());
        let condition = match (loops::part_of_loop(op), self.trips.last()) {
            (Some(LoopPart::First), _) => !iteration,
            (Some(LoopPart::AllButLast), Some(trips)) => trips.clone() - iteration - 1,
            _ => in_iterations(&self.common(op)?.parameter, iteration),
        };
        let given: Vec<(usize, Var)> = (0..result_count(op))
            .filter(|&i| is_followed(result(op, i)))
            .map(|i| (i, self.program.variable()))
            .collect();
        let mut branches = vec![];
        for i in 0..2 {
            let Some(block) = entry_block(region(op, i)) else {
                branches.push(vec![]);
                continue;
            };
            let mut inside = self.block(block)?;
            let last = ops_of(block).last().ok_or((op, "branch has no terminator".to_string()))?;
            for &(i, var) in &given {
                inside.push(Op::Set(var, self.value(last, operand(last, i))?));
            }
            branches.push(inside);
        }
        for (i, var) in given {
            self.values.insert(key(result(op, i)), var.into());
        }
        let otherwise = branches.pop().unwrap_or_default();
        out.push(Op::If { condition, then: branches.pop().unwrap_or_default(), otherwise });
        Ok(())
    }
}

/// Whether the protocol depends on a loop-carried value: an iterator, or a predicate of a release or of the scaling of
/// an accumulator.
fn is_followed(v: Val<'_>) -> bool {
    let decides = |v: Val<'_>| {
        let of = |op| ConsumerReleaseOp::cast(op).is_some() || TmemScaleOp::cast(op).is_some();
        uses(v).iter().any(|(user, _)| of(*user))
    };
    is_iterator(v) || is_bool(ty(v)) && decides(v) || inside_of(v).is_some_and(decides)
}

fn is_iterator(v: Val<'_>) -> bool {
    PipelineIteratorType::cast(ty(v)).is_some()
}

/// The block argument that carries a result of a loop.
fn inside_of<'c>(v: Val<'c>) -> Option<Val<'c>> {
    let op = defining_op(v).filter(|o| Scf::of(*o) == Some(Scf::For))?;
    let i = results(op).position(|r| r == v)?;
    Some(arg(entry_block(region(op, 0))?, i + 1))
}

/// Whether an op in a branch sets an accumulator in tensor memory.
fn stores_accumulator(op: OpRef<'_>) -> bool {
    let mut stores = false;
    walk(op, &mut |o| stores |= TmemStoreOp::cast(o).is_some());
    stores
}

/// Whether an op contains dots with accumulators in tensor memory.
fn adds_in_memory(op: OpRef<'_>) -> bool {
    let mut adds = false;
    walk(op, &mut |o| adds |= AsyncDotOp::cast(o).is_some_and(|dot| MemDescType::cast(ty(dot.acc())).is_some()));
    adds
}

/// Whether an op uses a pipeline.
fn is_pipeline_op(op: OpRef<'_>) -> bool {
    Handover::cast(op).is_some() || IncIterOp::cast(op).is_some()
}

/// Whether an op belongs to a ping-pong.
fn is_ping_pong(op: OpRef<'_>) -> bool {
    CreatePingPongOp::cast(op).is_some()
        || PingPongWaitOp::cast(op).is_some()
        || PingPongArriveOp::cast(op).is_some()
        || EndPingPongOp::cast(op).is_some()
}

/// The number of warpgroups of a ping-pong.
fn groups_of(ping_pong: Val<'_>) -> u32 {
    PingPongType::cast(ty(ping_pong)).and_then(|t| u32::try_from(t.groups()).ok()).unwrap_or(1)
}

/// Whether all threads of an agent synchronize in an op or in an op nested in it.
pub fn meets(op: OpRef<'_>) -> bool {
    let mut meets = false;
    walk(op, &mut |o| {
        meets |= matches!(sync_kind(o), SyncKind::Barrier | SyncKind::Scratch | SyncKind::ScratchAndMeet);
    });
    meets
}

/// Bytes of one tile.
fn bytes_of(memory: Val<'_>) -> Option<u32> {
    let desc = MemDescType::cast(ty(memory))?;
    let bits = desc.shape().iter().product::<i64>() * i64::from(stored_bits(desc));
    u32::try_from(bits / 8).ok()
}

/// Values with deeper expression trees are taken to differ.
const MOST_DEPTH: usize = 64;

/// Whether two values are computed by the same ops from the same values, or from the counters of corresponding loops.
/// Differences in layouts and tokens are ignored, because each agent has its own.
fn computed_alike<'c>(a: Val<'c>, b: Val<'c>, depth: usize) -> bool {
    let (a, b) = (skip_conversions(a), skip_conversions(b));
    if a == b {
        return true;
    }
    if MemTokenType::cast(ty(a)).is_some() && MemTokenType::cast(ty(b)).is_some() {
        return true;
    }
    let same_type = match (Tensor::of_value(a), Tensor::of_value(b)) {
        (Some(x), Some(y)) => x.shape == y.shape && x.element == y.element,
        _ => ty(a) == ty(b),
    };
    if depth > MOST_DEPTH || !same_type {
        return false;
    }
    match (defining_op(a), defining_op(b)) {
        (Some(x), Some(y)) => {
            let number = |op: OpRef<'c>, v: Val<'c>| results(op).position(|r| r == v);
            if Scf::of(x).is_some() || Scf::of(y).is_some() {
                // Clones of a loop carry fewer values, so the index of a result does not identify it.
                return Scf::of(x) == Scf::of(y);
            }
            op_type_id(x) == op_type_id(y)
                && number(x, a) == number(y, b)
                && operand_count(x) == operand_count(y)
                && same_attributes(x, y)
                && operands(x).zip(operands(y)).all(|(a, b)| computed_alike(a, b, depth + 1))
        }
        // Block arguments of clones of one loop. Clones carry fewer values, so only the counter has a fixed index.
        (None, None) => !is_shared(a) && !is_shared(b) && is_counter(a) == is_counter(b),
        _ => false,
    }
}

/// Whether a block argument is an argument of the function, which all agents share.
fn is_shared(v: Val<'_>) -> bool {
    parent_of_block(owner_of(v)).is_some_and(|o| FuncOp::cast(o).is_some())
}

/// Whether a block argument is the counter of a loop.
fn is_counter(v: Val<'_>) -> bool {
    let block = owner_of(v);
    parent_of_block(block).is_some_and(|o| Scf::of(o) == Some(Scf::For)) && arg(block, 0) == v
}

/// Whether two ops have the same attributes. Splat constants are compared by element, regardless of their layouts.
fn same_attributes(x: OpRef<'_>, y: OpRef<'_>) -> bool {
    let plain = |op| named_attrs(op).into_iter().map(|(name, a)| (name, elements::splat(a).unwrap_or(a)));
    plain(x).eq(plain(y))
}
