//! The effects of a single op on the order of accesses: its accesses of shared memory, and its synchronization.
//!
//! All of it follows from the interfaces of the op. If a tensor is moved to or from an entire storage, the layouts
//! determine which thread touches which element.

use crate::dialect::{
    attributes::MAY_BE_UNREAD,
    behaviour::{self, Memory, SyncKind},
    layouts::Tensor,
    nv_tileas::{
        AllocTensorOp, AsyncDotOp, AsyncDotWaitOp, AsyncTiledTmaStoreOp, AsyncTmaStoreWaitOp, AsyncTokenType,
        AsyncWaitOp, ConsumerWaitOp, LocalTransposeOp, MakeTiledTmaDescOp, MemDescReinterpretOp, MemDescSlotOp,
        MemDescType, ProducerAcquireOp, ProducerCommitOp, StageOp, TmemCopyOp,
    },
    rt::*,
    shared_memory::{memdesc_bytes, root_of, shared_layout},
    upstream::Arith,
};
use tile_layout::{Layout, LinearMap};

/// Asynchronous work that reads shared memory, in groups that are awaited by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Work {
    /// A warpgroup dot.
    Dot,
    /// A TMA store of a tile.
    Store,
}

/// One access of shared memory.
#[derive(Clone)]
pub struct SharedAccess<'c> {
    pub op: OpRef<'c>,
    pub write: bool,
    /// The first byte, and the byte after the last one, of all stages.
    pub bytes: (u64, u64),
    /// Whether threads access the memory, rather than the async proxy.
    pub(super) by_threads: bool,
    /// The storage, and the layout of its elements in registers; `None` if any thread may touch any byte. For a stage
    /// of a pipeline, or a part of one, elements are numbered by their offset.
    pub(super) place: Option<(usize, Layout)>,
    /// The part of a stage that is accessed.
    pub(super) part: Option<StoragePart>,
    /// The multi-stage storage, and the value that numbers the stage; `None` if it may be any.
    pub(super) ring: Option<(usize, Option<Val<'c>>)>,
    /// Whether the access is in flight until a wait.
    pub asynchronous: bool,
    /// The kind of work that is in flight until a wait for such work.
    pub work: Option<Work>,
    /// Whether the barriers of the access's pipeline order it with the pipeline's other accesses, which
    /// [`crate::analysis::pipelines`] checks.
    pub(super) pipelined: bool,
    /// Whether a copy into the memory may be in flight when all pipelines have ended.
    pub(super) may_be_unread: bool,
    /// For warps that fill stages or convert them for others: the op at which they take ownership of the stage.
    pub(super) turn: Option<usize>,
    /// Whether only the first warp of the scope makes the access, and its lanes synchronize afterwards.
    pub(super) by_first_warp: bool,
}

/// One of several consecutive parts of a storage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct StoragePart {
    whole: usize,
    parts: i64,
    number: i64,
}

impl StoragePart {
    /// Returns the part that a descriptor denotes: a slot with a constant number of a reinterpreted storage.
    fn of(mut memory: Val<'_>) -> Option<Self> {
        loop {
            let op = defining_op(memory).filter(|o| operand_count(*o) > 0)?;
            if let Some(slot) = MemDescSlotOp::cast(op) {
                let number = defining_op(slot.index()).filter(|o| Arith::of(*o) == Some(Arith::Constant))?;
                let whole = MemDescReinterpretOp::cast(defining_op(slot.source())?)?;
                let parts = MemDescType::cast(ty(slot.source()))?.stages();
                return Some(Self { whole: key(whole.source()), parts, number: attr(number, "value").map(int_attr)? });
            }
            memory = operand(op, 0);
        }
    }

    pub(super) fn is_apart(&self, other: &Self) -> bool {
        (self.whole, self.parts) == (other.whole, other.parts) && self.number != other.number
    }
}

impl SharedAccess<'_> {
    /// `read of shared bytes [0, 128)`.
    pub fn describe(&self) -> String {
        let what = if self.write { "write" } else { "read" };
        format!("{what} of shared bytes [{}, {})", self.bytes.0, self.bytes.1)
    }
}

/// An elementary effect of an op on the order of accesses.
pub(super) enum SyncStep<'c> {
    Access(SharedAccess<'c>),
    /// Barrier of the threads of the scope.
    Barrier,
    /// The copies since the last commit become a group.
    Commit(Val<'c>),
    /// The thread's groups of at least this age are complete.
    Wait(i64),
    /// The work of this kind since the last commit becomes a group.
    CommitWork(Work),
    /// The groups of this kind of at least this age are complete.
    WaitForWork(Work, i64),
}

/// Returns the steps of an op, excluding its regions.
pub(super) fn steps<'c>(op: OpRef<'c>) -> Vec<SyncStep<'c>> {
    let layout = |v: Val<'c>| Tensor::of_value(v).and_then(|t| t.layout());
    let is_asynchronous = results(op).any(|r| AsyncTokenType::cast(ty(r)).is_some());
    let work = if AsyncDotOp::cast(op).is_some() || TmemCopyOp::cast(op).is_some() {
        Some(Work::Dot)
    } else {
        AsyncTiledTmaStoreOp::cast(op).map(|_| Work::Store)
    };
    let mut accesses = vec![];
    for effect in behaviour::effects(op).unwrap_or_default() {
        let Some(memory) = effect.operand.map(|i| operand(op, i)).filter(|_| effect.memory.may_be_shared()) else {
            continue;
        };
        if MemDescType::cast(ty(memory)).is_none() || !(effect.reads() || effect.writes()) {
            continue;
        }
        // The layouts determine the threads if a single tensor is moved to or from the entire storage.
        let tensors: Vec<Val<'c>> =
            operands(op).chain(results(op)).filter(|v| Tensor::of_value(*v).is_some()).collect();
        let whole = match tensors[..] {
            [one] if !is_asynchronous && same_elements(one, memory) => layout(one),
            _ => None,
        };
        let (bytes, ring) = bytes_of(memory);
        let pipelined = ring.is_some_and(|(_, slot)| slot.is_some_and(is_of_pipeline));
        let part = StoragePart::of(memory);
        let place = match ring {
            None => whole.map(|l| (key(root_of(memory)), l)),
            // Stages are accessed through several types, so elements are numbered by bytes.
            Some(_) if pipelined => whole.and_then(|l| Some((key(below_types(memory)), in_bytes(&l, memory)?))),
            Some(_) => None,
        };
        accesses.push(SharedAccess {
            op,
            write: effect.writes(),
            bytes,
            by_threads: effect.memory != Memory::SharedAsyncProxy,
            place,
            part,
            ring,
            asynchronous: is_asynchronous,
            work,
            pipelined,
            may_be_unread: defining_op(root_of(memory)).is_some_and(|storage| MAY_BE_UNREAD.is_on(storage)),
            turn: pipelined.then(|| turn_of(op)).flatten(),
            by_first_warp: MakeTiledTmaDescOp::cast(op).is_some(),
        });
    }
    if LocalTransposeOp::cast(op).is_some() {
        // Each warp reads exactly the bytes that it writes.
        accesses.retain(|a| a.write);
    }
    if let Some(wait) = AsyncDotWaitOp::cast(op) {
        return vec![SyncStep::WaitForWork(Work::Dot, wait.pending())];
    }
    if let Some(wait) = AsyncTmaStoreWaitOp::cast(op) {
        return vec![SyncStep::WaitForWork(Work::Store, wait.pending().unwrap_or(0))];
    }
    match behaviour::sync_kind(op) {
        SyncKind::None => accesses.into_iter().map(SyncStep::Access).chain(work.map(SyncStep::CommitWork)).collect(),
        SyncKind::Barrier => vec![SyncStep::Barrier],
        SyncKind::Commit => vec![SyncStep::Commit(result(op, 0))],
        SyncKind::Wait => vec![SyncStep::Wait(AsyncWaitOp::cast(op).map_or(i64::MAX, |w| w.pending()))],
        SyncKind::Scratch | SyncKind::ScratchAndMeet if accesses.is_empty() => vec![],
        kind @ (SyncKind::Scratch | SyncKind::ScratchAndMeet) => {
            let anyone = |a: SharedAccess<'c>| SyncStep::Access(SharedAccess { place: None, ..a });
            let (writes, reads): (Vec<_>, Vec<_>) = accesses.into_iter().partition(|a| a.write);
            let mut list = vec![SyncStep::Barrier];
            list.extend(writes.into_iter().map(anyone));
            list.push(SyncStep::Barrier);
            list.extend(reads.into_iter().map(anyone));
            list.extend((kind == SyncKind::ScratchAndMeet).then_some(SyncStep::Barrier));
            list
        }
    }
}

/// Returns the op that gives the threads around `op` ownership of a stage, to fill it or to change it for others:
/// the last op before it in its block at which all of them wait.
fn turn_of(op: OpRef<'_>) -> Option<usize> {
    let block = block_around(op)?;
    let passes_on = ops_of(block).any(|o| ProducerCommitOp::cast(o).is_some_and(|c| c.phase().is_some()));
    let gives = |o: &OpRef<'_>| {
        let empty = ProducerAcquireOp::cast(*o).is_some_and(|a| a.bytes().is_none());
        empty || passes_on && ConsumerWaitOp::cast(*o).is_some()
    };
    ops_of(block).take_while(|o| *o != op).filter(gives).last().map(op_key)
}

/// Whether a stage number comes from a pipeline's iterator.
fn is_of_pipeline(slot: Val<'_>) -> bool {
    defining_op(slot).is_some_and(|op| StageOp::cast(op).is_some())
}

/// Whether a tensor has as many elements as a storage. The type of a slice does not tell which elements it reads.
fn same_elements(tensor: Val<'_>, memory: Val<'_>) -> bool {
    let count = |shape: &[i64]| shape.iter().product::<i64>();
    match (Tensor::of_value(tensor), MemDescType::cast(ty(memory))) {
        (Some(t), Some(m)) => count(&t.shape) == count(m.shape()),
        _ => false,
    }
}

/// Returns the storage under reinterpretations of it and of its parts.
fn below_types(mut memory: Val<'_>) -> Val<'_> {
    while let Some(op) = defining_op(memory) {
        let is_part = MemDescSlotOp::cast(op).is_some() && StoragePart::of(memory).is_some();
        if !is_part && MemDescReinterpretOp::cast(op).is_none() {
            break;
        }
        memory = operand(op, 0);
    }
    memory
}

/// Returns the layout with elements numbered by their offset in the storage.
fn in_bytes(layout: &Layout, memory: Val<'_>) -> Option<Layout> {
    let shared = shared_layout(MemDescType::cast(ty(memory))?)?;
    let offsets = |bases: &[u64]| bases.iter().map(|&b| shared.offset(b)).collect();
    let [register, lane, warp, block] = [layout.register(), layout.lane(), layout.warp(), layout.block()].map(offsets);
    Layout::new(register, lane, warp, block).ok()
}

/// Returns the bytes of all stages of a storage, or all of shared memory if its offset is unknown. For storage of
/// several stages, or of a pipeline, also returns the storage and the value that numbers the stage.
#[allow(clippy::type_complexity)]
fn bytes_of<'c>(memory: Val<'c>) -> ((u64, u64), Option<(usize, Option<Val<'c>>)>) {
    let root = root_of(memory);
    let mut slot = None;
    let mut at = memory;
    while let Some(op) = defining_op(at).filter(|_| at != root) {
        if let Some(s) = MemDescSlotOp::cast(op) {
            slot = Some(s.index());
        }
        at = operand(op, 0);
    }
    let desc = MemDescType::cast(ty(root));
    // The barriers of a pipeline order the accesses of its stage even if it has only one.
    let is_ring = |d: &MemDescType<'c>| d.stages() > 1 || slot.is_some_and(is_of_pipeline);
    let ring = desc.filter(is_ring).map(|_| (key(root), slot));
    let offset = defining_op(root).and_then(AllocTensorOp::cast).and_then(|a| a.offset());
    match (offset, desc) {
        (Some(offset), Some(desc)) => ((offset as u64, offset as u64 + memdesc_bytes(desc)), ring),
        _ => ((0, u64::MAX), ring),
    }
}

/// Whether the same single thread touches each element in both accesses.
pub(super) fn same_threads(a: (&Layout, bool), b: (&Layout, bool)) -> bool {
    let (Some(from), Some(to)) = (Owners::of(a), Owners::of(b)) else { return false };
    to.columns.iter().all(|&e| matches!((from.thread(e), to.thread(e)), (Some(x), Some(y)) if x == y))
}

/// The only thread that touches each element.
struct Owners {
    /// The basis vectors of lanes and warps, then of registers, that take part.
    columns: Vec<u64>,
    /// The bit of the thread's number for each of the first columns; lanes come before warps.
    bits: Vec<u32>,
    map: LinearMap,
}

impl Owners {
    /// Returns `None` if several threads touch an element. Of the threads that hold replicas, one writes and all
    /// read.
    fn of((layout, write): (&Layout, bool)) -> Option<Self> {
        let free = if write { layout.free_variables() } else { Default::default() };
        let numbered = |bases: &[u64], mask: u64, from: u32| -> Vec<(u32, u64)> {
            let kept = bases.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 0);
            kept.map(|(i, &b)| (from + i as u32, b)).collect()
        };
        let mut threads = numbered(layout.lane(), free.lane, 0);
        threads.extend(numbered(layout.warp(), free.warp, layout.lane().len() as u32));
        let registers = numbered(layout.register(), free.register, 0);
        let columns: Vec<u64> = threads.iter().chain(&registers).map(|&(_, b)| b).collect();
        let map = LinearMap::new(columns.clone(), 64).ok()?;
        let thread_bits = (1u64 << threads.len()) - 1;
        let one_each = map.kernel().iter().all(|k| k & thread_bits == 0);
        one_each.then(|| Owners { columns, bits: threads.into_iter().map(|(bit, _)| bit).collect(), map })
    }

    fn thread(&self, element: u64) -> Option<u64> {
        let place = self.map.solve(element)?;
        Some(self.bits.iter().enumerate().fold(0, |thread, (i, &bit)| thread | (place >> i & 1) << bit))
    }
}
