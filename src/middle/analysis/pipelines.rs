//! The protocol of a kernel's pipelines, for `tile_protocol` to check.
//!
//! What agents do with stages and barriers is taken out of the program: waits, arrivals, copies, products, and the
//! loops and branches around them. An iterator becomes the number of steps that it has gone, which gives the stage, the
//! parity, and the *tag* of what a stage holds: a product that reads with iterator `n` wants what was copied with `n`.
//! The other values of the program are not known. Loops of different agents are taken as the same loop if they are the
//! same one in order; their bounds must be computed alike. Each gets a parameter, its number of iterations, and the
//! protocol is checked for all small ones. A branch is never taken, always, or by turns. Where a test of views decides
//! which copies there are, the protocol of each answer is checked.
//!
//! Warpgroups that take turns (`create_ping_pong`) go through their program each for itself, so each of them is an
//! agent of the protocol. Barriers of all threads of an agent take no part in it. They cannot stop those who take
//! turns, because nobody may come to one with a turn that has not been given, and all come to the same ones in the same
//! order.
//!
//! What is found is a violation of the protocol with an interleaving that leads to it, or a reason why the program
//! cannot be followed.

mod loops;

pub use loops::only_asks;

use super::{producers::behind_conversions, tensor_map_ops::readiness};
use crate::dialect::{
    behaviour::{SyncKind, sync_kind},
    dot_plan::{DotPlan, WARPGROUP},
    dots::SharedDot,
    layouts::{Tensor, storage_bits},
    nv_tileaa::MemTokenType,
    nv_tileas::{
        AgentSwitchOp, AllocTensorOp, AnyOp, ConsumerReleaseOp, ConsumerWaitOp, CreatePingPongOp, CreatePipelineOp,
        EndPingPongOp, IncIterOp, MemDescSlotOp, MemDescType, PingPongArriveOp, PingPongType, PingPongWaitOp,
        PipelineIteratorType, PipelineType, ProducerAcquireOp, ProducerCommitOp, StageOp,
    },
    rt::*,
    shared_memory::SCRATCH_BYTES,
    thread_scope::ThreadScope,
    upstream::{Arith, Scf},
};
use melior::ir::AttributeLike;
use rustc_hash::{FxHashMap, FxHashSet};
use tile_protocol::{Array, Engine, Expr, Op, Program, StageAccess, Var};

/// What is wrong with a protocol: the op, and the reason or the violation with its interleaving.
pub type Fault<'c> = (OpRef<'c>, String);

/// Whether `op` comes when all stages of all pipelines have been filled and emptied: nothing of its agent, or of the
/// function where there are none, uses a pipeline from there on. Copies into rings and products that read them are done
/// then, whatever other agents are at, since each stage that is filled is also waited for.
pub fn is_behind_pipelines(op: OpRef<'_>) -> bool {
    let mut at = op;
    let mut waits = false;
    loop {
        let Some(block) = block_around(at) else { return false };
        let mut later = false;
        for o in ops_of(block) {
            // What contains the op has been looked at, from inside.
            if o != at || at == op {
                if (later || o == op) && uses_pipelines(o) {
                    return false;
                }
                walk(o, &mut |inner| waits |= ConsumerWaitOp::cast(inner).is_some());
            }
            later |= o == at;
        }
        let Some(parent) = parent_op(at).filter(|p| ThreadScope::of_region(*p, 0).is_none()) else { break };
        // Behind what stands in a loop comes all of the loop again; the other side of a branch does not come.
        if Scf::of(parent) != Some(Scf::If) && uses_pipelines(parent) {
            return false;
        }
        at = parent;
    }
    // A producer is never behind what it fills.
    waits
}

fn uses_pipelines(op: OpRef<'_>) -> bool {
    let mut any = false;
    walk(op, &mut |inner| any |= takes_part(inner));
    any
}

/// Bytes of shared memory that a conversion at `op` may take: behind the pipelines their rings are free.
pub fn scratch_bytes(op: OpRef<'_>) -> u64 {
    match DotPlan::around(op) {
        None => SCRATCH_BYTES,
        Some(_) if is_behind_pipelines(op) => LAST_SCRATCH_BYTES,
        Some(plan) => plan.scratch.into(),
    }
}

/// What a conversion may take where there is nothing else in shared memory: the largest accumulators, 256x256 of f16 or
/// 128x256 of f32, go through it at once.
const LAST_SCRATCH_BYTES: u64 = 128 << 10;

/// Threads of a warp.
const THREADS: u32 = 32;

/// Checks the pipelines of a function, if it has any.
pub fn check<'c>(function: OpRef<'c>) -> Result<(), Fault<'c>> {
    let pipelines = collect_ops(function, CreatePipelineOp::cast);
    let ping_pong = collect_ops(function, CreatePingPongOp::cast);
    let mut made = pipelines.iter().map(|p| p.op()).chain(ping_pong.iter().map(|t| t.op()));
    let Some(first) = made.next() else { return Ok(()) };
    let is_tested = !collect_ops(function, readiness).is_empty();
    let answers: &[bool] = if is_tested { &[true, false] } else { &[true] };
    answers.iter().try_for_each(|ready| check_one(function, &pipelines, first, *ready))
}

/// Checks the protocol that there is where views are `ready`, or are not.
fn check_one<'c>(
    function: OpRef<'c>,
    pipelines: &[CreatePipelineOp<'c>],
    first: OpRef<'c>,
    ready: bool,
) -> Result<(), Fault<'c>> {
    // Whether a loop does more than go through another one is known only once its body is extracted; if one does, the
    // protocol is extracted again with all loops as they are.
    let program = extract(function, pipelines, ready, true).or_else(|_| extract(function, pipelines, ready, false))?;
    program.check().map_err(|violation| (first, violation.to_string()))
}

/// The protocol, with loops around others joined to these or not.
fn extract<'c>(
    function: OpRef<'c>,
    pipelines: &[CreatePipelineOp<'c>],
    ready: bool,
    joins: bool,
) -> Result<Program, Fault<'c>> {
    let mut extract = Extract::new(function, pipelines, ready)?;
    let switches = collect_ops(function, AgentSwitchOp::cast);
    let agents: Vec<Blk<'c>> = match switches[..] {
        [] => entry_block(region(function, 0)).into_iter().collect(),
        [one] => (0..region_count(one.op())).filter_map(|i| entry_block(region(one.op(), i))).collect(),
        _ => return Err((switches[1].op(), "a second division into agents cannot be followed".into())),
    };
    if joins {
        let of_agents = agents.iter().map(|block| extract.joins_in(*block));
        let both = |a: Vec<bool>, b: Vec<bool>| a.into_iter().zip(b).map(|(a, b)| a && b).collect();
        extract.joined = of_agents.reduce(both).unwrap_or_default();
    }
    for (number, block) in agents.iter().enumerate() {
        extract.number = number;
        extract.fills = ops_of(*block).any(|op| {
            let mut commits = false;
            walk(op, &mut |o| commits |= ProducerCommitOp::cast(o).is_some());
            commits
        });
        let mut taken = vec![];
        ops_of(*block).for_each(|op| walk(op, &mut |o| taken.extend(CreatePingPongOp::cast(o))));
        // All that an agent has are those of all its warpgroups.
        extract.groups = taken.first().map_or(1, |t| groups_of(t.ping_pong()));
        for group in 0..extract.groups {
            extract.group = group;
            extract.loops_seen = 0;
            extract.branches_seen = 0;
            extract.stored = false;
            extract.holds = false;
            let body = extract.block(*block)?;
            let name = match extract.groups {
                1 => format!("agent {number}"),
                _ => format!("warpgroup {group} of agent {number}"),
            };
            extract.program.agent(&name, WARPGROUP * THREADS, body);
        }
    }
    extract.limit_runs();
    Ok(extract.program)
}

struct Pipeline {
    stages: i64,
    consumers: u32,
    full: Array,
    empty: Array,
    /// Where others change stages before consumers have them.
    converted: Option<Array>,
}

impl Pipeline {
    /// The barriers that say that stages are full, or that they are prepared.
    fn ready(&self, op: OpRef<'_>, converted: bool) -> Result<Array, String> {
        if !converted {
            return Ok(self.full);
        }
        self.converted.ok_or_else(|| format!("'{}' is about converters, which the pipeline has not", op_name(op)))
    }
}

struct Extract<'c> {
    program: Program,
    pipelines: FxHashMap<usize, Pipeline>,
    /// Barriers of those who take turns, one for each warpgroup.
    ping_pong: FxHashMap<usize, Array>,
    storages: FxHashMap<usize, Array>,
    /// Iterators by the number of their steps, and truth values.
    values: FxHashMap<usize, Expr>,
    loops: Vec<loops::Common<'c>>,
    branches: Vec<loops::Common<'c>>,
    loops_seen: usize,
    branches_seen: usize,
    /// The agent.
    number: usize,
    /// The warpgroup of the agent, of so many that take turns; the only one where none do.
    group: u32,
    groups: u32,
    /// Whether it has a turn that it has not given.
    holds: bool,
    /// Whether its warps fill stages themselves.
    fills: bool,
    /// Whether they have stored what they have not committed.
    stored: bool,
    /// Counters of the loops around, from the outside.
    counters: Vec<Var>,
    /// Ops that take part, or hold some that do.
    relevant: FxHashSet<usize>,
    /// The answer of all tests of views.
    ready: bool,
    /// Whether each loop is one with the loop in it, by their order: where it can be in all agents.
    joined: Vec<bool>,
}

impl<'c> Extract<'c> {
    fn new(function: OpRef<'c>, pipelines: &[CreatePipelineOp<'c>], ready: bool) -> Result<Self, Fault<'c>> {
        let mut program = Program::new("pipelines");
        let mut known = FxHashMap::default();
        for (i, pipeline) in pipelines.iter().enumerate() {
            let op = pipeline.op();
            let stages =
                PipelineType::cast(ty(pipeline.pipeline())).ok_or((op, "not a pipeline".to_string()))?.stages();
            let consumers = pipeline.consumers() as u32;
            let arrivals =
                u32::try_from(pipeline.arrivals().unwrap_or(1)).map_err(|_| (op, "too many arrivals".to_string()))?;
            let full = program.barrier(&format!("full{i}"), stages as usize, arrivals);
            let empty = program.barrier(&format!("empty{i}"), stages as usize, consumers);
            let converted = pipeline.converters().map(|warps| {
                let warps = u32::try_from(warps).map_err(|_| (op, "too many converters".to_string()))?;
                Ok(program.barrier(&format!("prepared{i}"), stages as usize, warps))
            });
            let converted = converted.transpose()?;
            known.insert(key(pipeline.pipeline()), Pipeline { stages, consumers, full, empty, converted });
        }
        let mut ping_pong = FxHashMap::default();
        for (i, made) in collect_ops(function, CreatePingPongOp::cast).into_iter().enumerate() {
            let groups = groups_of(made.ping_pong()) as usize;
            ping_pong
                .insert(key(made.ping_pong()), program.named(&format!("turn{i}"), groups, 2 * WARPGROUP * THREADS));
        }
        let mut relevant = FxHashSet::default();
        walk(function, &mut |o| {
            if takes_part(o) || takes_turns(o) {
                relevant.extend(std::iter::successors(Some(o), |p| parent_op(*p)).map(op_key));
            }
        });
        Ok(Self {
            program,
            pipelines: known,
            ping_pong,
            storages: FxHashMap::default(),
            values: FxHashMap::default(),
            loops: vec![],
            branches: vec![],
            loops_seen: 0,
            branches_seen: 0,
            number: 0,
            group: 0,
            groups: 1,
            holds: false,
            fills: false,
            stored: false,
            counters: vec![],
            relevant,
            ready,
            joined: vec![],
        })
    }

    fn block(&mut self, block: Blk<'c>) -> Result<Vec<Op>, Fault<'c>> {
        let mut ops = vec![];
        let held = self.holds;
        for op in ops_of(block) {
            if self.holds && meets(op) {
                return Err((op, "threads meet here, and one warpgroup has not given its turn".into()));
            }
            self.op(op, &mut ops)?;
        }
        match ops_of(block).last().filter(|_| self.holds != held) {
            Some(last) => Err((last, "a turn that is taken before this is not given, or given and not taken".into())),
            None => Ok(ops),
        }
    }

    fn op(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        match Scf::of(op) {
            Some(Scf::For) if self.relevant.contains(&op_key(op)) => return self.counted(op, out),
            Some(Scf::If) if readiness(op).is_some() => {
                if let Some(side) = entry_block(region(op, usize::from(!self.ready))) {
                    out.extend(self.block(side)?);
                }
                return Ok(());
            }
            Some(Scf::If) if self.relevant.contains(&op_key(op)) => return self.branch(op, out),
            Some(Scf::While) if self.relevant.contains(&op_key(op)) => return self.conditional(op, out),
            _ => {}
        }
        if Arith::of(op) == Some(Arith::Constant) {
            let value = attr(op, "value").filter(|a| {
                // SAFETY: the attribute is alive.
                unsafe { mlir_sys::mlirAttributeIsAInteger(a.to_raw()) }
            });
            if let Some(value) = value {
                self.values.insert(key(result(op, 0)), Expr::from(int_attr(value) & 1));
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
            // One thread of all.
            Some(ElectOp(_)) if self.group > 0 => {}
            Some(ElectOp(_)) => {
                let body = entry_block(region(op, 0)).ok_or((op, "no program".to_string()))?;
                out.extend(self.block(body)?);
            }
            Some(ProducerAcquireOp(x)) => self.acquire(x, out)?,
            Some(ProducerCommitOp(x)) => self.commit(x, out)?,
            Some(AsyncFenceOp(_)) => out.push(Op::Fence),
            Some(AsyncLoadOp(x)) => self.copy(op, x.dest(), out)?,
            Some(AsyncTiledLoadOp(x)) => self.copy(op, x.dest(), out)?,
            Some(ConsumerWaitOp(x)) => self.wait(x, out)?,
            Some(ConsumerReleaseOp(x)) => self.release(x, out)?,
            Some(AsyncTiledTmaLoadOp(x)) => {
                let acquired = defining_op(x.token()).and_then(self::ProducerAcquireOp::cast);
                let acquired = acquired.ok_or((op, "the stage that it arrives at is not known".to_string()))?;
                let (into, tag) = self.place(op, x.dest())?.ok_or((op, "it copies to no stage".to_string()))?;
                let (slot, _) = self.slot(op, acquired.pipeline(), acquired.iterator())?;
                let barrier = self.pipeline(op, acquired.pipeline())?.full.at(&slot);
                let bytes = bytes_of(x.dest()).ok_or((op, "not a memdesc".to_string()))?;
                out.push(Op::Copy { into, tag, bytes, barrier });
            }
            Some(AsyncDotOp(_) | PromotedDotOp(_)) => {
                let tiles = SharedDot::cast(op).into_iter().flat_map(|x| [x.lhs(), x.rhs()]);
                for memory in tiles.filter(|v| MemDescType::cast(ty(*v)).is_some()) {
                    if let Some((place, tag)) = self.place(op, memory)? {
                        out.push(Op::Begin { engine: Engine::Product, access: StageAccess::Read, place, tag });
                    }
                }
                out.push(Op::Commit(Engine::Product));
                if matches!(SharedDot::cast(op), Some(SharedDot::Promoted(_))) {
                    out.push(Op::WaitGroups { engine: Engine::Product, pending: 0 });
                }
            }
            Some(AsyncDotWaitOp(x)) => {
                out.push(Op::WaitGroups { engine: Engine::Product, pending: x.pending() as u32 });
            }
            Some(CreatePingPongOp(_) | PingPongWaitOp(_) | PingPongArriveOp(_) | EndPingPongOp(_)) => {
                self.turn(op, out)?
            }
            Some(LocalLoadOp(x)) => self.touch(op, x.source(), out)?,
            Some(LocalStoreOp(x)) => self.store(op, x.dest(), out)?,
            Some(LocalTransposeOp(x)) => {
                self.touch(op, x.source(), out)?;
                self.store(op, x.dest(), out)?;
            }
            _ if self.relevant.contains(&op_key(op)) && region_count(op) > 0 => {
                return Err((op, "a pipeline in this op cannot be followed".into()));
            }
            _ => {}
        }
        Ok(())
    }

    /// A turn of this warpgroup, or one that it gives.
    fn turn(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let made = CreatePingPongOp::cast(op).map(|c| c.ping_pong());
        let ping_pong = made.unwrap_or_else(|| operand(op, 0));
        let barriers =
            *self.ping_pong.get(&key(ping_pong)).ok_or((op, "the turns are not made in this function".to_string()))?;
        let of = |group: u32| barriers.at(&Expr::from(i64::from(group)));
        let next = (self.group + 1) % self.groups;
        if made.is_some() {
            out.extend((next == 0).then(|| Op::Post(of(0))));
        } else if EndPingPongOp::cast(op).is_some() {
            out.extend((self.group == 0).then(|| Op::Sync(of(0))));
        } else {
            self.holds = PingPongWaitOp::cast(op).is_some();
            out.push(if self.holds { Op::Sync(of(self.group)) } else { Op::Post(of(next)) });
        }
        Ok(())
    }

    /// An access by threads.
    fn touch(&mut self, op: OpRef<'c>, memory: Val<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        if let Some((from, tag)) = self.place(op, memory)? {
            out.push(Op::Read { from, tag });
        }
        Ok(())
    }

    /// What threads store to a stage.
    fn store(&mut self, op: OpRef<'c>, memory: Val<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        if !self.fills {
            // They change what they have been given: the stage must still be theirs, as for a read.
            return self.touch(op, memory, out);
        }
        // They fill it, or change it for others.
        if let Some((into, tag)) = self.place(op, memory)? {
            out.push(Op::Write { into, tag });
            self.stored = true;
        }
        Ok(())
    }

    fn value(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Expr, Fault<'c>> {
        // Values from before the agents are computed once.
        let from_outside = || match defining_op(v).and_then(AnyOp::cast)? {
            AnyOp::CreateIteratorOp(_) => Some(Expr::from(0)),
            _ => None,
        };
        self.values.get(&key(v)).cloned().or_else(from_outside).ok_or((op, "an iterator cannot be followed".into()))
    }

    fn pipeline(&self, op: OpRef<'c>, pipeline: Val<'c>) -> Result<&Pipeline, Fault<'c>> {
        self.pipelines.get(&key(pipeline)).ok_or((op, "the pipeline is not made in this function".into()))
    }

    /// The stage of an iterator, and the parity of its round.
    fn slot(&self, op: OpRef<'c>, pipeline: Val<'c>, iterator: Val<'c>) -> Result<(Expr, Expr), Fault<'c>> {
        let stages = self.pipeline(op, pipeline)?.stages;
        let steps = self.value(op, iterator)?;
        Ok((steps.clone() % stages, steps / stages % 2))
    }

    fn acquire(&mut self, x: ProducerAcquireOp<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let op = x.op();
        let (slot, parity) = self.slot(op, x.pipeline(), x.iterator())?;
        let pipeline = self.pipeline(op, x.pipeline())?;
        out.push(Op::Wait { barrier: pipeline.empty.at(&slot), parity: !parity });
        let Some(bytes) = x.bytes() else { return Ok(()) };
        let bytes = u32::try_from(bytes).map_err(|_| (op, "too many bytes".to_string()))?;
        out.push(Op::Expect { barrier: pipeline.full.at(&slot), bytes });
        out.push(Op::Arrive { barrier: pipeline.full.at(&slot), count: 1 });
        Ok(())
    }

    /// A copy that threads start.
    fn copy(&mut self, op: OpRef<'c>, memory: Val<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        if let Some((place, tag)) = self.place(op, memory)? {
            out.push(Op::Begin { engine: Engine::Copy, access: StageAccess::Write, place, tag });
        }
        Ok(())
    }

    /// All that the warps of the agent have stored, or what its threads copy.
    fn commit(&mut self, x: ProducerCommitOp<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let op = x.op();
        let (slot, _) = self.slot(op, x.pipeline(), x.iterator())?;
        let pipeline = self.pipeline(op, x.pipeline())?;
        let warps = ThreadScope::of(op).and_then(|s| s.warps).and_then(|w| u32::try_from(w).ok());
        let count = warps.ok_or((op, "the number of its warps is not known".to_string()))?;
        if self.groups > 1 {
            return Err((op, "warpgroups that take turns fill a stage together, which cannot be followed".into()));
        }
        let barrier = pipeline.ready(op, x.converted()).map_err(|text| (op, text))?.at(&slot);
        if x.copies() && self.stored {
            return Err((op, "what the warps have stored is not committed before their copies".into()));
        }
        self.stored = false;
        if x.copies() {
            out.push(Op::ArriveAfter { engine: Engine::Copy, barrier, count: THREADS * count });
        } else {
            out.extend([Op::Fence, Op::Arrive { barrier, count }]);
        }
        Ok(())
    }

    fn wait(&mut self, x: ConsumerWaitOp<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let (slot, parity) = self.slot(x.op(), x.pipeline(), x.iterator())?;
        let pipeline = self.pipeline(x.op(), x.pipeline())?;
        let barrier = pipeline.ready(x.op(), x.converted()).map_err(|text| (x.op(), text))?.at(&slot);
        out.push(Op::Wait { barrier, parity });
        Ok(())
    }

    fn release(&mut self, x: ConsumerReleaseOp<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let (slot, _) = self.slot(x.op(), x.pipeline(), x.iterator())?;
        let pipeline = self.pipeline(x.op(), x.pipeline())?;
        // Once for each warp that gets here, however many the barrier waits for.
        let warps = ThreadScope::of(x.op()).and_then(|s| s.warps).and_then(|w| u32::try_from(w).ok());
        let count = warps.unwrap_or(pipeline.consumers) / self.groups;
        let arrive = Op::Arrive { barrier: pipeline.empty.at(&slot), count };
        out.push(match x.predicate() {
            Some(p) => Op::If { condition: self.value(x.op(), p)?, then: vec![arrive], otherwise: vec![] },
            None => arrive,
        });
        Ok(())
    }

    /// The stage that a descriptor of memory leads to, and the steps of the iterator that numbers it; none for storage
    /// that belongs to no pipeline.
    fn place(&mut self, op: OpRef<'c>, mut memory: Val<'c>) -> Result<Option<(tile_protocol::Place, Expr)>, Fault<'c>> {
        let mut steps = None;
        while let Some(made) =
            defining_op(memory).filter(|o| AllocTensorOp::cast(*o).is_none() && operand_count(*o) > 0)
        {
            if let Some(slot) = MemDescSlotOp::cast(made) {
                let stage = defining_op(slot.index()).and_then(StageOp::cast);
                steps = stage.map(|s| self.value(op, s.iterator())).transpose()?;
            }
            memory = operand(made, 0);
        }
        let Some(steps) = steps else { return Ok(None) };
        let stages = MemDescType::cast(ty(memory)).ok_or((op, "not a memdesc".to_string()))?.stages();
        let next = self.storages.len();
        let program = &mut self.program;
        let storage = *self
            .storages
            .entry(key(memory))
            .or_insert_with(|| program.storage(&format!("ring{next}"), stages as usize));
        Ok(Some((storage.at(&(steps.clone() % stages)), steps)))
    }

    fn branch(&mut self, op: OpRef<'c>, out: &mut Vec<Op>) -> Result<(), Fault<'c>> {
        let pattern = self.common(op, false)?;
        // Never, always, in odd iterations, in even ones.
        let turn: Expr = self.counters.last().map_or(Expr::from(0), |v| (*v).into());
        let is = |n: i64| !(pattern.clone() - n);
        let condition = is(1) + is(2) * (turn.clone() % 2) + is(3) * ((turn + 1) % 2);
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

/// Whether the protocol depends on a value of this type that loops carry.
fn is_followed(v: Val<'_>) -> bool {
    is_iterator(v)
        || {
            // SAFETY: the type is alive; only integers are asked for their width.
            unsafe {
                let raw = melior::ir::TypeLike::to_raw(&ty(v));
                mlir_sys::mlirTypeIsAInteger(raw) && mlir_sys::mlirIntegerTypeGetWidth(raw) == 1
            }
        } && uses(v).iter().any(|(user, _)| ConsumerReleaseOp::cast(*user).is_some())
        || inside_of(v).is_some_and(|a| uses(a).iter().any(|(user, _)| ConsumerReleaseOp::cast(*user).is_some()))
}

fn is_iterator(v: Val<'_>) -> bool {
    PipelineIteratorType::cast(ty(v)).is_some()
}

/// The block argument of the carried value that is a result of a loop.
fn inside_of<'c>(v: Val<'c>) -> Option<Val<'c>> {
    let op = defining_op(v).filter(|o| Scf::of(*o) == Some(Scf::For))?;
    let i = results(op).position(|r| r == v)?;
    Some(arg(entry_block(region(op, 0))?, i + 1))
}

/// Ops of pipelines.
fn takes_part(op: OpRef<'_>) -> bool {
    ProducerAcquireOp::cast(op).is_some()
        || ProducerCommitOp::cast(op).is_some()
        || ConsumerWaitOp::cast(op).is_some()
        || ConsumerReleaseOp::cast(op).is_some()
        || IncIterOp::cast(op).is_some()
}

/// Ops by which warpgroups take turns.
fn takes_turns(op: OpRef<'_>) -> bool {
    CreatePingPongOp::cast(op).is_some()
        || PingPongWaitOp::cast(op).is_some()
        || PingPongArriveOp::cast(op).is_some()
        || EndPingPongOp::cast(op).is_some()
}

/// Warpgroups that take turns.
fn groups_of(ping_pong: Val<'_>) -> u32 {
    PingPongType::cast(ty(ping_pong)).and_then(|t| u32::try_from(t.groups()).ok()).unwrap_or(1)
}

/// Whether all threads of an agent meet, in an op or in those inside of it.
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
    let bits = desc.shape().iter().product::<i64>() * i64::from(storage_bits(desc.element_type()));
    u32::try_from(bits / 8).ok()
}

/// Deeper trees of ops are taken as different.
const MOST_DEPTH: usize = 64;

/// Whether two values are computed by the same ops from the same values, or from what corresponding loops count.
/// Layouts are those of each agent's warps, and loads are ordered by tokens of each agent.
fn computed_alike<'c>(a: Val<'c>, b: Val<'c>, depth: usize) -> bool {
    let (a, b) = (behind_conversions(a), behind_conversions(b));
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
                // Copies of loops carry fewer values: which one it is cannot be told by its number.
                return Scf::of(x) == Scf::of(y);
            }
            op_type_id(x) == op_type_id(y)
                && number(x, a) == number(y, b)
                && operand_count(x) == operand_count(y)
                && same_attributes(x, y)
                && operands(x).zip(operands(y)).all(|(a, b)| computed_alike(a, b, depth + 1))
        }
        // Arguments of copies of one loop.
        (None, None) => true,
        _ => false,
    }
}

/// What a constant repeats, whatever the layout of its type; other attributes as they are.
fn element(a: mlir_sys::MlirAttribute) -> mlir_sys::MlirAttribute {
    // SAFETY: the attribute is alive, and only splats are asked for what they repeat.
    unsafe {
        let splat = mlir_sys::mlirAttributeIsADenseElements(a) && mlir_sys::mlirDenseElementsAttrIsSplat(a);
        if splat { mlir_sys::mlirDenseElementsAttrGetSplatValue(a) } else { a }
    }
}

fn same_attributes(x: OpRef<'_>, y: OpRef<'_>) -> bool {
    // SAFETY: both ops are alive; attributes are asked for by numbers that they have.
    unsafe {
        let (x, y) = (x.to_raw(), y.to_raw());
        let count = mlir_sys::mlirOperationGetNumAttributes(x);
        count == mlir_sys::mlirOperationGetNumAttributes(y)
            && (0..count).all(|i| {
                let (a, b) = (mlir_sys::mlirOperationGetAttribute(x, i), mlir_sys::mlirOperationGetAttribute(y, i));
                mlir_sys::mlirIdentifierEqual(a.name, b.name)
                    && mlir_sys::mlirAttributeEqual(element(a.attribute), element(b.attribute))
            })
    }
}
