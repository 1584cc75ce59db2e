//! `tileas-optimize-alloc-tensor` assigns byte offsets in shared memory, and columns of tensor memory.
//!
//! Ops are numbered in program order. Storage is live from its first to its last access. An access inside a loop,
//! branch or agent that does not contain the allocation counts as the whole op. If all accesses are in one side of a
//! branch, their positions there count instead. Storages of different agents of one `agent_switch` are live at the
//! same time, regardless of program order.
//!
//! Storages with disjoint live ranges may share bytes. A barrier precedes each write that reuses bytes:
//! `tileas-materialize-convert-layout` inserts one before every store except the first. The ring of a pipeline is
//! dead once the consumer has emptied it for the last time, so later storage may reuse it. Placement is first fit,
//! largest first, at multiples of the descriptor's alignment.
//!
//! If the result takes at most [`BARRIER_SAVING_BUDGET`] bytes, live ranges extend to the next barrier that exists
//! for another reason. The next storage is then placed elsewhere, and the barrier that would guard the reuse becomes
//! redundant; `tileas-check-synchronization` removes it.

use crate::{
    analysis::branches::innermost_block,
    dialect::{
        attributes::{MAY_BE_UNREAD, REUSE},
        nv_tileaa,
        nv_tileas::{
            AgentSwitchOp, AllocTensorOp, BarrierOp, ConsumerReleaseOp, MemDescSlotOp, MemDescType, MemorySpace,
            PipelineType, StageOp, TmemAllocateOp, TmemFreeOp,
        },
        pass::{Failed, PassContext, RustPass, fail},
        rt::*,
        shared_memory::{memdesc_bytes, tensor_columns},
        thread_scope::ThreadScope,
    },
    pass_descriptor,
};
use melior::Context;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Bytes of shared memory that a CTA may use to save barriers. Eight such CTAs fit on the smallest SM.
const BARRIER_SAVING_BUDGET: u64 = 12 << 10;

#[derive(Clone, Default)]
pub struct OptimizeAllocTensor;

struct Storage<'c> {
    op: AllocTensorOp<'c>,
    bytes: u64,
    alignment: u64,
    /// The op whose regions run concurrently, and the region that contains the allocation.
    agent: Option<(usize, usize)>,
    /// For a ring, the agent that empties it.
    consumer: Option<(usize, usize)>,
    live: (usize, usize),
    /// The position of the first barrier after the live range that guards more than reuse, or the end of the live
    /// range.
    settled: usize,
}

impl RustPass for OptimizeAllocTensor {
    pass_descriptor!(tileas_optimize_alloc_tensor);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, _: &PassContext) -> Result<(), Failed> {
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let (in_tensor_memory, mut storages): (Vec<_>, Vec<_>) =
                collect(function.op())?.into_iter().partition(Storage::is_in_tensor_memory);
            place_columns(function.op(), in_tensor_memory, context)?;
            // Program order breaks ties, so the result is deterministic.
            storages.sort_by_key(|s| (std::cmp::Reverse(s.bytes), s.live));
            let tight = place(&storages, |s| s.live);
            let roomy = place(&storages, |s| (s.live.0, s.settled));
            let offsets = if end(&storages, &roomy) <= BARRIER_SAVING_BUDGET { roomy } else { tight };
            for (storage, offset) in storages.iter().zip(offsets) {
                set_attr(storage.op.op(), "offset", i64_attr(context, offset as i64));
            }
        }
        Ok(())
    }
}

impl Storage<'_> {
    fn is_in_tensor_memory(&self) -> bool {
        MemDescType::cast(ty(self.op.result())).is_some_and(|desc| desc.space() != MemorySpace::Shared)
    }
}

/// The columns that hold a block of scale factors.
const SCALE_COLUMNS: u64 = 4;

/// The least and the largest number of columns of tensor memory that can be allocated.
const COLUMNS: [u64; 2] = [32, 512];

/// Assigns columns of tensor memory, and sets the number of columns that the kernel allocates.
fn place_columns<'c>(function: OpRef<'c>, mut storages: Vec<Storage<'c>>, context: &'c Context) -> Result<(), Failed> {
    storages.sort_by_key(|s| (std::cmp::Reverse(s.bytes), s.live));
    let columns = place(&storages, |s| s.live);
    let end = end(&storages, &columns).next_power_of_two().max(COLUMNS[0]);
    if end > COLUMNS[1] {
        let text =
            format!("its accumulators and scale factors need {end} columns of tensor memory, which has {}", COLUMNS[1]);
        return Err(fail(function, text));
    }
    for (storage, column) in storages.iter().zip(columns) {
        set_attr(storage.op.op(), "offset", i64_attr(context, column as i64));
    }
    walk(function, &mut |op| {
        if TmemAllocateOp::cast(op).is_some() || TmemFreeOp::cast(op).is_some() {
            set_attr(op, "columns", i64_attr(context, end as i64));
        }
    });
    Ok(())
}

/// Returns all accesses of a storage, including accesses through views of it and accesses of barriers through their
/// pipeline.
fn accesses<'c>(storage: Val<'c>) -> Vec<OpRef<'c>> {
    let (mut list, mut work) = (vec![], vec![storage]);
    while let Some(v) = work.pop() {
        for (user, _) in uses(v) {
            if result_count(user) == 1 && MemDescType::cast(ty(result(user, 0))).is_some() {
                // A view of the storage.
                work.push(result(user, 0));
            } else {
                list.push(user);
                work.extend(results(user).filter(|r| PipelineType::cast(ty(*r)).is_some()));
            }
        }
    }
    list
}

fn collect<'c>(function: OpRef<'c>) -> Result<Vec<Storage<'c>>, Failed> {
    let mut number = FxHashMap::default();
    // The last position in each op.
    let mut ends = FxHashMap::default();
    let (mut allocations, mut barriers) = (vec![], vec![]);
    let mut next = 0;
    walk(function, &mut |o| {
        number.insert(op_key(o), next);
        for around in std::iter::successors(Some(o), |o| parent_op(*o)) {
            ends.insert(op_key(around), next);
        }
        if BarrierOp::cast(o).is_some() && !REUSE.is_on(o) {
            barriers.push(next);
        }
        next += 1;
        allocations.extend(AllocTensorOp::cast(o));
    });
    let end_of = |op: OpRef<'c>| ends[&op_key(op)];
    let mut ends_of_rings = FxHashMap::default();
    allocations
        .into_iter()
        .map(|op| {
            let desc = MemDescType::cast(ty(op.result())).ok_or_else(|| fail(op.op(), "result is not a memdesc"))?;
            let accesses = accesses(op.result());
            let home = block_around(op.op()).ok_or_else(|| fail(op.op(), "the op is not in a block"))?;
            let home = block_key(innermost_block(home, &accesses));
            let mut live = (usize::MAX, 0);
            for user in accesses {
                // The ancestor of the access in the block that uses the storage: a loop counts as a whole.
                let mut at = user;
                while block_of(at) != home {
                    let Some(parent) = parent_op(at) else { break };
                    at = parent;
                }
                live.0 = live.0.min(number[&op_key(at)]);
                live.1 = live.1.max(end_of(at));
            }
            let end = block_around(op.op())
                .filter(|_| is_ring(op))
                .and_then(|block| *ends_of_rings.entry(block_key(block)).or_insert_with(|| end_of_rings(block)));
            match end {
                Some(_) if MAY_BE_UNREAD.is_on(op.op()) => live.1 = end_of(function),
                Some((_, end)) => live.1 = end_of(end),
                None => {}
            }
            if live.0 == usize::MAX {
                live = (number[&op_key(op.op())], number[&op_key(op.op())]);
            }
            // Every thread reads the address of tensor memory, at any time.
            if uses(op.result()).iter().any(|(user, _)| TmemAllocateOp::cast(*user).is_some()) {
                live.1 = end_of(function);
            }
            let settled = barriers.get(barriers.partition_point(|&b| b <= live.1)).copied().unwrap_or(live.1);
            let scope = ThreadScope::of(op.op());
            let agent = scope.filter(|s| s.is_concurrent).map(|s| (op_key(s.op), s.region));
            // Columns instead of bytes for tensor memory.
            let columns = tensor_columns(desc);
            let (bytes, alignment) = match columns {
                Some(columns) if desc.space() == MemorySpace::Scales => (columns, SCALE_COLUMNS),
                Some(columns) => (columns, (columns / desc.stages() as u64).next_power_of_two()),
                None => (memdesc_bytes(desc), desc.alignment() as u64),
            };
            let consumer = end.map(|(agent, _)| agent);
            Ok(Storage { op, bytes, alignment, agent, consumer, live, settled })
        })
        .collect()
}

/// Whether a storage is the ring of a pipeline.
fn is_ring(op: AllocTensorOp<'_>) -> bool {
    let numbered = |user: OpRef<'_>| {
        MemDescSlotOp::cast(user).is_some_and(|s| defining_op(s.index()).is_some_and(|i| StageOp::cast(i).is_some()))
    };
    let uses = uses(op.result());
    !uses.is_empty() && uses.into_iter().all(|(user, _)| numbered(user))
}

/// Returns the consumer of the rings of a block, and its last op that uses pipelines, which ends their live ranges even
/// if producers use them later in program order. Returns `None` if there are no agents.
fn end_of_rings(block: Blk<'_>) -> Option<((usize, usize), OpRef<'_>)> {
    let switch = ops_of(block).find_map(AgentSwitchOp::cast)?;
    // Dots into tensor memory that have emptied the ring are complete when the accumulator is full, for which consumers
    // wait.
    let mut releases = collect_ops(switch.op(), ConsumerReleaseOp::cast);
    releases.retain(|release| !release.dots());
    let consumer = releases.last().and_then(|r| ThreadScope::of(r.op()))?;
    let is_consumer = |op: &OpRef<'_>| ThreadScope::of(*op).is_some_and(|s| s.region == consumer.region);
    let of_consumer: Vec<OpRef<'_>> = releases.iter().map(|r| r.op()).filter(is_consumer).collect();
    let home = innermost_block(entry_block(region(consumer.op, consumer.region))?, &of_consumer);
    let mut around = std::iter::successors(of_consumer.last().copied(), |o| parent_op(*o));
    let last = around.find(|o| block_of(*o) == block_key(home))?;
    Some(((op_key(consumer.op), consumer.region), last))
}

/// Returns the bytes that storages at these offsets take.
fn end(storages: &[Storage<'_>], offsets: &[u64]) -> u64 {
    storages.iter().zip(offsets).map(|(s, offset)| offset + s.bytes).max().unwrap_or(0)
}

/// Returns the offset of each storage, in order: the lowest one that does not overlap storage live at the same time.
fn place<'c>(storages: &[Storage<'c>], live: impl Fn(&Storage<'c>) -> (usize, usize)) -> Vec<u64> {
    let mut placed = Placed::default();
    for s in storages {
        let mine = live(s);
        let taken = placed.meeting(s, mine);
        let mut at = 0;
        for (start, end) in taken {
            if at + s.bytes <= start {
                break;
            }
            at = at.max(end.next_multiple_of(s.alignment));
        }
        placed.add(s, mine, at);
    }
    placed.offsets
}

/// Positions of a live range that [`Placed`] looks up together.
const POSITIONS: usize = 256;

/// The storages that have offsets.
///
/// A lookup examines those whose live ranges touch the same sections of the program. Agents and rings are few, and the
/// bytes of each are merged. So the work is linear, unless many storages are live at the same time.
#[derive(Default)]
struct Placed {
    offsets: Vec<u64>,
    /// The live ranges and bytes.
    ranges: Vec<((usize, usize), (u64, u64))>,
    /// The storages by sections of the program.
    sections: FxHashMap<usize, Vec<usize>>,
    /// The bytes of the storages of each agent, and of the rings of each consumer.
    of_agents: BTreeMap<(usize, usize), Bytes>,
    rings: BTreeMap<(usize, usize), Bytes>,
}

impl Placed {
    /// Returns the bytes of the storages that are live at the same time as `s`, in ascending order.
    fn meeting(&self, s: &Storage<'_>, mine: (usize, usize)) -> Vec<(u64, u64)> {
        let sections = (mine.0 / POSITIONS..=mine.1 / POSITIONS).filter_map(|i| self.sections.get(&i)).flatten();
        let near = sections.map(|&k| &self.ranges[k]).filter(|(live, _)| live.0 <= mine.1 && mine.0 <= live.1);
        let mut taken: Vec<(u64, u64)> = near.map(|(_, bytes)| *bytes).collect();
        let mut add = |bytes: &Bytes| taken.extend(bytes.0.iter().map(|(start, end)| (*start, *end)));
        match s.agent {
            Some((op, mine)) => {
                let others = self.of_agents.iter().filter(|((other, region), _)| *other == op && *region != mine);
                others.for_each(|(_, bytes)| add(bytes));
                // A ring is in use as long as agents other than its consumer run, regardless of program order.
                self.rings.iter().filter(|(consumer, _)| **consumer != (op, mine)).for_each(|(_, bytes)| add(bytes));
            }
            None => {
                let others = self.of_agents.iter().filter(|(agent, _)| s.consumer.is_some_and(|c| c != **agent));
                others.for_each(|(_, bytes)| add(bytes));
            }
        }
        taken.sort_unstable();
        taken.dedup();
        taken
    }

    fn add(&mut self, s: &Storage<'_>, live: (usize, usize), at: u64) {
        let bytes = (at, at + s.bytes);
        for section in live.0 / POSITIONS..=live.1 / POSITIONS {
            self.sections.entry(section).or_default().push(self.offsets.len());
        }
        self.offsets.push(at);
        self.ranges.push((live, bytes));
        match (s.agent, s.consumer) {
            (Some(agent), _) => self.of_agents.entry(agent).or_default().add(bytes),
            (None, Some(consumer)) => self.rings.entry(consumer).or_default().add(bytes),
            (None, None) => {}
        }
    }
}

/// Intervals of bytes that do not touch each other: their starts and ends.
#[derive(Default)]
struct Bytes(BTreeMap<u64, u64>);

impl Bytes {
    fn add(&mut self, (mut start, mut end): (u64, u64)) {
        while let Some((&first, &last)) = self.0.range(..=end).next_back().filter(|(_, last)| **last >= start) {
            self.0.remove(&first);
            (start, end) = (start.min(first), end.max(last));
        }
        self.0.insert(start, end);
    }
}
