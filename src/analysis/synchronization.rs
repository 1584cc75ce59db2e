//! Which accesses of shared memory no barrier separates.
//!
//! A forward data flow over the structured program. The state is the set of *pending* accesses: those that some path
//! has made since its last barrier. An access conflicts with a pending one when
//!
//! * their bytes overlap,
//! * at least one of them writes, and
//! * different threads may touch one byte. Of two accesses of one storage the layouts tell: the thread that holds an
//!   element in the one layout must be the only one that touches it in the other. Two storages that share bytes tell
//!   nothing.
//!
//! An asynchronous copy writes at any time between its start and a wait that leaves no group pending; barriers in
//! between say nothing about it. Behind such a wait it is a write like any other. Stages of one storage are told apart
//! at run time only: that a copy does not write the stage that is read is what `tileas-unspecialized-pipeline`
//! promises, so a copy and a later read of one storage with stages are taken for different stages; a read and a later
//! copy are not, since that is the reuse of a stage.
//!
//! Paths join by union. Around a loop the body is walked until the state at its head grows no more; a conflict found on
//! the second walk is one between iterations. A barrier empties the state. So every conflict that can happen is found;
//! one that is found may be impossible only because of branches that exclude each other.
//!
//! What an op does is a list of [`Effect`]s in one function, [`effects`]: a new op that touches shared memory needs an
//! arm there and nothing else. Of lanes of one warp no order is assumed either.

use crate::dialect::{
    layouts::Tensor,
    nv_tileas::{AllocTensorOp, AnyOp, MemDescType},
    rt::*,
    shared_memory::memdesc_bytes,
};
use rustc_hash::{FxHashMap, FxHashSet};
use tile_layout::{Layout, LinearMap};

/// One access of shared memory.
#[derive(Clone)]
pub struct Access<'c> {
    pub op: OpRef<'c>,
    pub write: bool,
    /// First byte, and the byte behind the last.
    pub bytes: (u64, u64),
    /// The storage, and where the elements lie in registers; none when any thread may touch any byte.
    place: Option<(usize, Layout)>,
    /// The storage with stages.
    ring: Option<usize>,
    /// Under way until a wait.
    asynchronous: bool,
}

impl Access<'_> {
    /// `read of bytes [0, 128)`.
    pub fn describe(&self) -> String {
        let what = if self.write { "write" } else { "read" };
        format!("{what} of shared bytes [{}, {})", self.bytes.0, self.bytes.1)
    }

    fn conflicts(&self, later: &Self) -> bool {
        let overlap = self.bytes.0 < later.bytes.1 && later.bytes.0 < self.bytes.1;
        if !overlap || !(self.write || later.write) {
            return false;
        }
        // Copies of different iterations go to different stages, and so do a copy and the reads behind it.
        if self.ring.is_some() && self.ring == later.ring && self.asynchronous {
            return false;
        }
        match (&self.place, &later.place) {
            (Some((a, from)), Some((b, to))) if a == b => !same_threads((from, self.write), (to, later.write)),
            _ => true,
        }
    }
}

/// Whether each element is touched by one and the same thread in both accesses.
fn same_threads(a: (&Layout, bool), b: (&Layout, bool)) -> bool {
    let (Some(from), Some(to)) = (Owners::of(a), Owners::of(b)) else { return false };
    to.columns.iter().all(|&e| matches!((from.thread(e), to.thread(e)), (Some(x), Some(y)) if x == y))
}

/// The only thread that touches each element.
struct Owners {
    /// Vectors of lanes and warps, then of registers, that take part.
    columns: Vec<u64>,
    /// Bit of the thread's number for each of the first columns; lanes below warps.
    bits: Vec<u32>,
    map: LinearMap,
}

impl Owners {
    /// None when several threads touch an element: of threads that hold replicas, one writes and all read.
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

/// What an op does to the order of accesses, step by step.
pub enum Effect<'c> {
    Access(Access<'c>),
    Barrier,
    /// All asynchronous copies of this thread are done.
    Wait,
}

/// The effects of one op, without those of its regions.
pub fn effects<'c>(op: OpRef<'c>) -> Vec<Effect<'c>> {
    let layout = |v: Val<'c>| Tensor::of_value(v).and_then(|t| t.layout());
    let access = |memory: Val<'c>, write: bool, layout: Option<Layout>| {
        let (bytes, ring) = bytes_of(memory);
        let place = layout.filter(|_| ring.is_none()).map(|l| (key(memory), l));
        Effect::Access(Access { op, write, bytes, place, ring, asynchronous: false })
    };
    let copy = |memory: Val<'c>| {
        let (bytes, ring) = bytes_of(memory);
        Effect::Access(Access { op, write: true, bytes, place: None, ring, asynchronous: true })
    };
    match AnyOp::cast(op) {
        Some(AnyOp::BarrierOp(_)) => vec![Effect::Barrier],
        Some(AnyOp::AsyncTiledLoadOp(x)) => vec![copy(x.dest())],
        Some(AnyOp::AsyncLoadOp(x)) => vec![copy(x.dest())],
        Some(AnyOp::AsyncWaitOp(x)) if x.pending() == 0 => vec![Effect::Wait],
        Some(AnyOp::LocalStoreOp(x)) => vec![access(x.dest(), true, layout(x.source()))],
        Some(AnyOp::LocalLoadOp(x)) => vec![access(x.source(), false, layout(x.result()))],
        // Which elements are read depends on the indices.
        Some(AnyOp::LocalLoadSliceOp(x)) => vec![access(x.source(), false, None)],
        // Each part is stored behind a barrier and loaded behind another.
        Some(AnyOp::ExchangeOp(x)) => {
            vec![Effect::Barrier, access(x.storage(), true, None), Effect::Barrier, access(x.storage(), false, None)]
        }
        // The elements meet in the scratch, the first thread reads them.
        Some(AnyOp::PrintOp(x)) if x.scratch().len() > 0 => {
            let mut list = vec![Effect::Barrier];
            for write in [true, false] {
                list.extend(x.scratch().map(|m| access(m, write, None)));
                list.push(Effect::Barrier);
            }
            list
        }
        _ => vec![],
    }
}

/// Bytes of a storage, all of its stages; all of shared memory when its place is not known. And the storage when it has
/// stages.
fn bytes_of(mut memory: Val<'_>) -> ((u64, u64), Option<usize>) {
    // Views of a storage are the storage.
    while let Some(op) = defining_op(memory).filter(|o| {
        matches!(op_name(*o), "nv_tileas.memdesc_slot" | "nv_tileas.memdesc_view" | "nv_tileas.memdesc_permute")
    }) {
        memory = operand(op, 0);
    }
    let desc = MemDescType::cast(ty(memory));
    let ring = desc.filter(|d| d.stages() > 1).map(|_| key(memory));
    let offset = defining_op(memory).and_then(AllocTensorOp::cast).and_then(|a| a.offset());
    match (offset, desc) {
        (Some(offset), Some(desc)) => ((offset as u64, offset as u64 + memdesc_bytes(desc)), ring),
        _ => ((0, u64::MAX), ring),
    }
}

/// Two accesses that nothing separates.
#[derive(Clone)]
pub struct Conflict<'c> {
    pub earlier: Access<'c>,
    pub later: Access<'c>,
    /// The earlier access belongs to an earlier iteration of a loop.
    pub around_loop: bool,
}

/// Added to the step of a copy that is done.
const DONE: usize = 1 << 16;

/// Accesses by op and step, in the order in which they were met first.
type State<'c> = Vec<(usize, usize)>;

/// The conflicts of a function. Barriers for which `ignored` holds are taken as not there.
pub struct Races<'c, 'f> {
    ignored: &'f dyn Fn(OpRef<'c>) -> bool,
    pub conflicts: Vec<Conflict<'c>>,
    /// Accesses met, each counted once.
    pub accesses: usize,
    known: FxHashMap<(usize, usize), Access<'c>>,
    order: FxHashMap<usize, usize>,
    reported: FxHashSet<((usize, usize), (usize, usize))>,
}

impl<'c, 'f> Races<'c, 'f> {
    pub fn of(function: OpRef<'c>, ignored: &'f dyn Fn(OpRef<'c>) -> bool) -> Self {
        let mut order = FxHashMap::default();
        walk(function, &mut |o| {
            order.insert(op_key(o), order.len());
        });
        let mut races = Races {
            ignored,
            conflicts: vec![],
            accesses: 0,
            known: FxHashMap::default(),
            order,
            reported: FxHashSet::default(),
        };
        for i in 0..region_count(function) {
            if let Some(block) = entry_block(region(function, i)) {
                races.block(block, vec![]);
            }
        }
        races.accesses = races.known.len();
        races
    }

    fn block(&mut self, block: Blk<'c>, mut state: State<'c>) -> State<'c> {
        for op in ops_of(block) {
            state = self.op(op, state);
        }
        state
    }

    fn region(&mut self, op: OpRef<'c>, i: usize, state: State<'c>) -> State<'c> {
        match (i < region_count(op)).then(|| entry_block(region(op, i))).flatten() {
            Some(block) => self.block(block, state),
            None => state,
        }
    }

    fn op(&mut self, op: OpRef<'c>, mut state: State<'c>) -> State<'c> {
        match op_name(op) {
            "scf.for" => {
                // The body may run no time at all, so what comes behind it stands behind the head's state.
                let mut head = state;
                loop {
                    let tail = self.region(op, 0, head.clone());
                    if !join(&mut head, &tail) {
                        return head;
                    }
                }
            }
            "scf.while" => {
                let mut head = state;
                loop {
                    let test = self.region(op, 0, head.clone());
                    let tail = self.region(op, 1, test.clone());
                    if !join(&mut head, &tail) {
                        return test;
                    }
                }
            }
            "scf.if" => {
                let mut out = self.region(op, 0, state.clone());
                let other = self.region(op, 1, state);
                join(&mut out, &other);
                return out;
            }
            _ => {}
        }
        for (step, effect) in effects(op).into_iter().enumerate() {
            match effect {
                Effect::Barrier if (self.ignored)(op) => {}
                Effect::Barrier => state.retain(|a| self.known[a].asynchronous),
                Effect::Wait => self.settle(&mut state),
                Effect::Access(access) => {
                    let me = (op_key(op), step);
                    for &other in &state {
                        self.meet(other, me, &access);
                    }
                    self.known.entry(me).or_insert(access);
                    if !state.contains(&me) {
                        state.push(me);
                    }
                }
            }
        }
        state
    }

    /// Copies that are done become plain writes.
    fn settle(&mut self, state: &mut State<'c>) {
        for at in state {
            let access = &self.known[at];
            if access.asynchronous {
                let done = Access { asynchronous: false, ..access.clone() };
                at.1 += DONE;
                self.known.entry(*at).or_insert(done);
            }
        }
    }

    fn meet(&mut self, earlier: (usize, usize), me: (usize, usize), later: &Access<'c>) {
        let other = &self.known[&earlier];
        if !other.conflicts(later) || !self.reported.insert((earlier, me)) {
            return;
        }
        let around_loop = self.order[&earlier.0] >= self.order[&me.0];
        self.conflicts.push(Conflict { earlier: other.clone(), later: later.clone(), around_loop });
    }
}

/// Adds the accesses of `from`; whether there were new ones.
fn join(into: &mut State<'_>, from: &State<'_>) -> bool {
    let before = into.len();
    for access in from {
        if !into.contains(access) {
            into.push(*access);
        }
    }
    into.len() > before
}
