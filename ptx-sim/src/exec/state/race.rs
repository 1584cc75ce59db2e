//! Detects data races with vector clocks.
//!
//! Every warp and every asynchronous copy is an *agent* with a logical clock. For each other agent, an agent knows up
//! to which time that agent's accesses happened before its own. Barriers, mbarriers, and atomics with fences pass this
//! knowledge on. The detector keeps the last writes, and the reads since then, of every four bytes of memory. An
//! access that conflicts with one that its agent does not know of is a race.
//!
//! Releases, acquires and strong accesses have a scope, and order only threads within each other's scopes. Scopes
//! nest: two threads are within each other's scopes exactly if they are in the same CTA, cluster or device, whichever
//! the narrower of the two scopes names. A release at a location is therefore recorded for each [`Domain`] up to its
//! scope. An acquire receives the releases in the reader's own domains up to its scope.
//!
//! Within a warp, [`LaneOrder`] distinguishes the lanes. If only some lanes release, they pass on only what they know
//! themselves: all accesses of the warp up to the last time that all lanes met and, after that, the accesses that each
//! lane made or has learned of. For example, all lanes store, and then lane 0 releases a flag. Without `bar.warp.sync`
//! between them, a thread that acquires the flag knows only of lane 0's store.
//!
//! An agent has a second clock for the *asynchronous proxy*: the ordinary writes that `fence.proxy.async` has made
//! visible to it. An asynchronous copy inherits both clocks of its issuer and checks ordinary writes against the
//! second. For example, warp 1 stores to shared memory, all warps meet at `bar.sync 0`, and warp 0 starts a bulk store
//! of the data. The barrier orders the store before the copy, but without a proxy fence between them the copy's proxy
//! clock does not contain the store. The detector then reports a missing proxy fence.
//!
//! A copy arrives on its mbarrier through the generic proxy, so the initialization of the mbarrier only has to be
//! ordered before it. The initialization is recorded separately from the cells, because arrivals of threads overwrite
//! them.
//!
//! A third proxy reads tensor maps. Its clock is kept for each map ([`MapClock`]), because
//! `fence.proxy.tensormap::generic.acquire` names one map; `fence.proxy.async` has no effect on it.

use super::lane_order::LaneOrder;
use super::lanes::lanes;
use super::shadow::Shadow;
use crate::ir::Scope;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// A time for each agent; absent means 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(Vec<(u32, u32)>);

impl Clock {
    fn get(&self, agent: u32) -> u32 {
        self.0.binary_search_by_key(&agent, |e| e.0).map_or(0, |i| self.0[i].1)
    }

    fn tick(&mut self, agent: u32) {
        match self.0.binary_search_by_key(&agent, |e| e.0) {
            Ok(i) => self.0[i].1 += 1,
            Err(i) => self.0.insert(i, (agent, 1)),
        }
    }

    /// Raises the time of an agent to `time`.
    fn raise(&mut self, agent: u32, time: u32) {
        match self.0.binary_search_by_key(&agent, |e| e.0) {
            Ok(i) => self.0[i].1 = self.0[i].1.max(time),
            Err(i) => self.0.insert(i, (agent, time)),
        }
    }

    /// Takes the later time of each agent.
    fn join(&mut self, other: &Clock) {
        if other.0.is_empty() {
            return;
        }
        let mut out = Vec::with_capacity(self.0.len().max(other.0.len()));
        let (mut i, mut j) = (0, 0);
        while i < self.0.len() && j < other.0.len() {
            let (a, b) = (self.0[i], other.0[j]);
            match a.0.cmp(&b.0) {
                std::cmp::Ordering::Less => {
                    out.push(a);
                    i += 1;
                }
                std::cmp::Ordering::Greater => {
                    out.push(b);
                    j += 1;
                }
                std::cmp::Ordering::Equal => {
                    out.push((a.0, a.1.max(b.1)));
                    i += 1;
                    j += 1;
                }
            }
        }
        out.extend_from_slice(&self.0[i..]);
        out.extend_from_slice(&other.0[j..]);
        self.0 = out;
    }
}

/// What is known of the lanes of other agents that release individually.
#[derive(Clone, Debug, Default)]
struct LaneClock {
    /// All lanes of an agent, up to this time.
    all: Clock,
    /// Single lanes, up to this step of the warp; keyed by [`LaneClock::key`].
    one: Clock,
}

impl LaneClock {
    fn key(warp: u32, lane: usize) -> u32 {
        warp << 5 | lane as u32
    }

    fn join(&mut self, other: &LaneClock) {
        self.all.join(&other.all);
        self.one.join(&other.one);
    }

    /// A lane that made the access and is not known; the inner `None` denotes the whole warp.
    fn unknown(&self, seen: &PastAccess) -> Option<Option<u8>> {
        if seen.time <= self.all.get(seen.agent) {
            return None;
        }
        if seen.lanes == 0 {
            return Some(None);
        }
        let unknown = |lane: &usize| seen.origin.step > self.one.get(LaneClock::key(seen.agent, *lane));
        lanes(seen.lanes).find(unknown).map(|lane| Some(lane as u8))
    }
}

/// The releasing lanes of a warp, its live lanes, and its instruction count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Releasing {
    pub lanes: u32,
    pub live: u32,
    pub step: u32,
}

/// The ordinary writes visible to copies through a tensor map, as sorted (map address, agent, time). Keeps the latest
/// time of each agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct MapClock(Vec<(u64, u32, u32)>);

impl MapClock {
    fn get(&self, map: u64, agent: u32) -> u32 {
        self.0.binary_search_by_key(&(map, agent), |e| (e.0, e.1)).map_or(0, |i| self.0[i].2)
    }

    fn raise(&mut self, map: u64, agent: u32, time: u32) {
        match self.0.binary_search_by_key(&(map, agent), |e| (e.0, e.1)) {
            Ok(i) => self.0[i].2 = self.0[i].2.max(time),
            Err(i) => self.0.insert(i, (map, agent, time)),
        }
    }

    fn join(&mut self, other: &MapClock) {
        for (map, agent, time) in &other.0 {
            self.raise(*map, *agent, *time);
        }
    }
}

/// An object that two agents may synchronize through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SyncKey {
    /// CTA, barrier, generation.
    Barrier(u32, u32, u64),
    /// First CTA of the cluster, generation.
    Cluster(u32, u64),
    /// A memory location accessed by strong operations, for the threads of a domain.
    Location(MemKey, u64, Domain),
    /// CTA and offset of an mbarrier: what its completed phases release.
    Mbarrier(u32, u32),
    /// What the arrivals of the open phase release once the phase completes.
    OpenPhase(u32, u32),
    /// Completion of an asynchronous operation.
    Operation(u64),
    /// Arrival of a warp at its own warp barrier.
    Warp(u32),
    /// The `tcgen05` operations of a thread: warp and lane.
    Thread(u32, u8),
}

/// The threads that a release reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Domain {
    Cta(u32),
    /// Identified by a number unique among the clusters of the launch.
    Cluster(u32),
    /// The whole device. There is only one, so `.sys` is equivalent to `.gpu`.
    Device,
}

/// The CTA and cluster of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Home {
    pub cta: u32,
    pub cluster: u32,
}

/// Number of kinds of domains.
const LEVELS: usize = 3;

impl Home {
    /// The domains of a thread here, narrowest first, up to `scope`.
    fn domains(self, scope: Scope) -> impl Iterator<Item = Domain> {
        let all: [Domain; LEVELS] = [Domain::Cta(self.cta), Domain::Cluster(self.cluster), Domain::Device];
        all.into_iter().take(reach(scope))
    }

    /// Whether the threads of both share a domain of `scope`.
    fn shares(self, other: Home, scope: Scope) -> bool {
        match scope {
            Scope::Cta => self.cta == other.cta,
            Scope::Cluster => self.cluster == other.cluster,
            Scope::Gpu | Scope::Sys => true,
        }
    }
}

/// Number of kinds of domains within a scope.
fn reach(scope: Scope) -> usize {
    match scope {
        Scope::Cta => 1,
        Scope::Cluster => 2,
        Scope::Gpu | Scope::Sys => LEVELS,
    }
}

/// A memory: global memory or the shared memory of a CTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MemKey {
    Global,
    Shared(u32),
}

/// The instruction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub line: u32,
    pub span: (u32, u32),
    /// The warp that executed the instruction.
    pub warp: u32,
    /// The lane, if a single lane made the access.
    pub lane: Option<u8>,
    /// The warp's instruction count.
    pub step: u32,
}

impl Origin {
    pub fn of_lane(self, lane: usize) -> Origin {
        Origin { lane: Some(lane as u8), ..self }
    }
}

#[derive(Clone, Copy, Debug)]
struct PastAccess {
    agent: u32,
    time: u32,
    /// Lanes of the warp that made the access in one instruction; 0 if no lane made it.
    lanes: u32,
    /// Which of the four bytes.
    bytes: u8,
    strong: bool,
    /// The scope of a strong access.
    scope: Scope,
    home: Home,
    asynchronous: bool,
    write: bool,
    origin: Origin,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    writes: SmallVec<[PastAccess; 1]>,
    reads: SmallVec<[PastAccess; 2]>,
}

/// The knowledge that synchronization passes on.
#[derive(Clone, Debug, Default)]
struct View {
    known: Clock,
    lanes: LaneClock,
    /// Ordinary writes visible to the asynchronous proxy.
    proxy: Clock,
    maps: MapClock,
    /// Accesses to tensor memory published by `tcgen05.fence::before_thread_sync`.
    tensor: Clock,
}

impl View {
    fn join(&mut self, other: &View) {
        self.known.join(&other.known);
        self.lanes.join(&other.lanes);
        self.proxy.join(&other.proxy);
        self.maps.join(&other.maps);
        self.tensor.join(&other.tensor);
    }
}

#[derive(Clone, Debug, Default)]
struct AgentState {
    known: Clock,
    /// Of the knowledge about other warps, what is known of each lane.
    known_lanes: LaneClock,
    /// The time up to which all lanes of the warp know the warp's accesses.
    met: u32,
    proxy: Clock,
    maps: MapClock,
    home: Home,
    /// What was known at the last fence that reaches each domain; later relaxed writes release it.
    fenced: [Arc<View>; LEVELS],
    /// What strong reads have seen in each domain; the next fence that reaches the domain acquires it.
    pending: [View; LEVELS],
    /// Accesses to tensor memory that precede later `tcgen05` instructions.
    tensor: Clock,
    /// Accesses published to this agent that no `tcgen05.fence::after_thread_sync` has received yet.
    tensor_received: Clock,
    /// Accesses that this agent has published.
    tensor_published: Clock,
    /// What the lanes of the warp know of each other.
    lanes: LaneOrder,
    /// For an asynchronous operation, the warp and lane that started it.
    issuer: Option<(u32, u8)>,
}

/// The kind of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessKind {
    pub write: bool,
    /// Atomic or otherwise strong: does not race with other strong accesses.
    pub strong: bool,
    /// The scope of a strong access.
    pub scope: Scope,
    pub asynchronous: bool,
    /// Whether a copy reads the tensor map here.
    pub map: bool,
    /// Whether the access writes the value that the memory already holds.
    pub unchanged: bool,
    /// Whether an asynchronous write needs a proxy fence after ordinary reads, too.
    pub after_reads: bool,
}

impl AccessKind {
    pub const READ: AccessKind = AccessKind {
        write: false,
        strong: false,
        scope: Scope::Sys,
        asynchronous: false,
        map: false,
        unchanged: false,
        after_reads: false,
    };
    pub const WRITE: AccessKind = AccessKind { write: true, ..AccessKind::READ };
    pub const STRONG_READ: AccessKind = AccessKind { strong: true, ..AccessKind::READ };
    pub const ATOMIC: AccessKind = AccessKind { strong: true, ..AccessKind::WRITE };
    pub const ASYNC_READ: AccessKind = AccessKind { asynchronous: true, ..AccessKind::READ };
    pub const MAP_READ: AccessKind = AccessKind { map: true, ..AccessKind::ASYNC_READ };
}

/// The synchronization missing between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Any order between warps, or between a warp and an asynchronous operation.
    Order,
    /// A proxy fence: the accesses are ordered, but only for the generic proxy.
    ProxyFence,
    /// A tensor-map fence: the accesses are ordered, but the copy does not see the written map.
    MapFence,
    /// Order between the lanes of a warp.
    LaneOrder,
    /// Nothing can order them: lanes of one instruction write different values.
    OneWriter,
    /// A tensor fence: the accesses are ordered, but not for `tcgen05` instructions.
    TensorFence,
    /// Wider scopes: the scope of each access must include the other thread.
    Scope,
}

/// Two conflicting accesses without an order between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub address: u64,
    /// The agent of the first access.
    pub first_agent: u32,
    pub first: (Origin, AccessKind),
    pub missing: Missing,
}

impl AgentState {
    /// The knowledge that a release passes on, by all lanes or only by `by`.
    fn view(&self, agent: u32, by: Option<Releasing>) -> View {
        let mut tensor = self.tensor_published.clone();
        tensor.join(&self.tensor_received);
        let mut lanes = self.known_lanes.clone();
        match by.filter(|by| by.lanes & by.live != by.live) {
            None => lanes.all.raise(agent, self.known.get(agent)),
            Some(by) => {
                lanes.all.raise(agent, self.met);
                for lane in super::lanes::lanes(by.lanes) {
                    lanes.one.raise(LaneClock::key(agent, lane), by.step);
                    for (other, until) in self.lanes.met_since(lane) {
                        lanes.one.raise(LaneClock::key(agent, other), until);
                    }
                }
            }
        }
        let (known, proxy, maps) = (self.known.clone(), self.proxy.clone(), self.maps.clone());
        View { known, lanes, proxy, maps, tensor }
    }

    fn receive(&mut self, view: &View) {
        self.known.join(&view.known);
        self.known_lanes.join(&view.lanes);
        self.proxy.join(&view.proxy);
        self.maps.join(&view.maps);
        self.tensor_received.join(&view.tensor);
    }

    /// Whether an asynchronous access that begins at `address` needs no proxy fence after another access, or has one.
    fn sees(&self, seen: &PastAccess, mem: MemKey, address: u64, how: AccessKind) -> bool {
        let map = how.map && mem == MemKey::Global;
        let until = if map { self.maps.get(address, seen.agent) } else { self.proxy.get(seen.agent) };
        let needed = how.asynchronous && !seen.asynchronous && (seen.write || how.after_reads);
        !needed || seen.time <= until
    }

    /// Checks an access of a lane after one by other lanes of the same warp. Returns the missing synchronization and
    /// the lane.
    fn between_lanes(&self, seen: &PastAccess, how: AccessKind, origin: Origin) -> Option<(Missing, Option<u8>)> {
        let lane = usize::from(origin.lane?);
        // A write that changes nothing is harmless. A lane that wrote the same value as the other lanes may read it.
        let own = seen.write && !how.write && seen.lanes >> lane & 1 != 0;
        if !seen.write && !how.write || how.unchanged || own {
            return None;
        }
        let step = seen.origin.step;
        let other = lanes(seen.lanes).find(|b| !self.lanes.knows(lane, *b, step))?;
        let missing = if step == origin.step { Missing::OneWriter } else { Missing::LaneOrder };
        Some((missing, Some(other as u8)))
    }

    /// Checks an access of an asynchronous operation after one by its issuing warp: the issuing lane must know of the
    /// access.
    fn before_issue(&self, seen: &PastAccess) -> Option<(Missing, Option<u8>)> {
        let (_, lane) = self.issuer.filter(|(warp, _)| *warp == seen.agent)?;
        let step = seen.origin.step;
        let other = lanes(seen.lanes).find(|b| !self.lanes.knows(usize::from(lane), *b, step))?;
        Some((Missing::LaneOrder, Some(other as u8)))
    }
}

/// The detector's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Race {
    agents: FxHashMap<u32, AgentState>,
    cells: Shadow<MemKey, Cell>,
    syncs: FxHashMap<SyncKey, View>,
    /// For the mbarrier at a CTA's offset, the agent that initialized it and the time.
    initialised: FxHashMap<(u32, u32), (u32, u32, Origin)>,
    next_async: u32,
    /// Whether accesses to tensor memory by different threads always need the `tcgen05` fences.
    strict: bool,
}

/// Bytes of a tensor map.
const MAP_BYTES: u64 = 128;

/// The time of an agent's start.
const START: u32 = 1;

/// Numbers from here on denote asynchronous operations.
const ASYNC: u32 = 1 << 31;

impl Race {
    pub fn new(strict: bool) -> Race {
        Race { strict, ..Race::default() }
    }

    pub fn new_agent(&mut self, agent: u32, home: Home) {
        let mut a = AgentState { home, ..AgentState::default() };
        // No access has the first time, which stands for the start.
        a.known.raise(agent, START + 1);
        self.agents.insert(agent, a);
    }

    /// Adds an asynchronous operation started by `agent`, with the knowledge of its issuer. If one lane started it, it
    /// has only that lane's knowledge of the other lanes.
    pub fn fork(&mut self, agent: u32, lane: Option<u8>) -> u32 {
        let id = ASYNC | self.next_async;
        self.next_async += 1;
        let mut child = self.agents.get(&agent).cloned().unwrap_or_default();
        // `before_issue` distinguishes the lanes of the issuer.
        child.known_lanes.all.raise(agent, child.known.get(agent));
        child.known.tick(id);
        child.proxy.tick(id);
        child.issuer = lane.map(|lane| (agent, lane));
        self.agents.insert(id, child);
        // The operation does not know later accesses of the issuer.
        if let Some(a) = self.agents.get_mut(&agent) {
            a.known.tick(agent);
        }
        id
    }

    /// Marks an operation that writes through the generic proxy (`cp.async`): the asynchronous proxy needs a fence to
    /// see it.
    pub fn writes_ordinarily(&mut self, operation: u32) {
        if let Some(a) = self.agents.get_mut(&operation) {
            a.proxy.0.retain(|e| e.0 != operation);
        }
    }

    /// Drops an asynchronous operation that has completed.
    pub fn retire(&mut self, agent: u32) {
        self.agents.remove(&agent);
    }

    /// Records that lanes of a warp synchronized.
    pub fn lanes_meet(&mut self, agent: u32, together: u32, live: u32, step: u32) {
        if let Some(a) = self.agents.get_mut(&agent) {
            a.lanes.meet(together, live, step);
            if together & live == live {
                a.met = a.known.get(agent);
                a.known.tick(agent);
            }
        }
    }

    /// Passes the knowledge of `agent` to `key`.
    pub fn release(&mut self, agent: u32, key: SyncKey) {
        self.release_by(agent, key, None);
    }

    /// Passes the knowledge of these lanes of `agent` to `key`.
    pub fn release_by(&mut self, agent: u32, key: SyncKey, by: Option<Releasing>) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        self.syncs.entry(key).or_default().join(&a.view(agent, by));
        a.known.tick(agent);
    }

    /// A relaxed release, such as `barrier.cluster.arrive.relaxed`: passes on that the agent has started, what an
    /// earlier fence covers, and the accesses to tensor memory that `tcgen05.fence::before_thread_sync` has published.
    pub fn release_relaxed(&mut self, agent: u32, key: SyncKey) {
        let Some(a) = self.agents.get(&agent) else { return };
        let mut view = View::clone(&a.fenced[reach(Scope::Cluster) - 1]);
        view.known.raise(agent, START);
        view.tensor.join(&a.tensor_published);
        view.tensor.join(&a.tensor_received);
        self.syncs.entry(key).or_default().join(&view);
    }

    /// A relaxed acquire: receives accesses to tensor memory for `tcgen05.fence::after_thread_sync`, and the others for
    /// a later fence.
    pub fn acquire_relaxed(&mut self, agent: u32, key: SyncKey) {
        if let (Some(view), Some(a)) = (self.syncs.get(&key), self.agents.get_mut(&agent)) {
            a.tensor_received.join(&view.tensor);
            a.pending[0].join(view);
        }
    }

    /// Receives the knowledge stored at `key`.
    pub fn acquire(&mut self, agent: u32, key: SyncKey) {
        if let (Some(view), Some(a)) = (self.syncs.get(&key), self.agents.get_mut(&agent)) {
            a.receive(view);
        }
    }

    /// Adds the knowledge stored at one key to another.
    pub fn pass(&mut self, from: SyncKey, to: SyncKey) {
        if let Some(view) = self.syncs.get(&from).cloned() {
            self.syncs.entry(to).or_default().join(&view);
        }
    }

    pub fn forget(&mut self, key: SyncKey) {
        self.syncs.remove(&key);
    }

    /// A memory fence: acquires what strong reads have seen, and makes later relaxed writes release everything known,
    /// both up to `scope`.
    pub fn fence(&mut self, agent: u32, scope: Scope) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        for level in 0..reach(scope) {
            let pending = std::mem::take(&mut a.pending[level]);
            a.receive(&pending);
        }
        let view = Arc::new(a.view(agent, None));
        a.fenced[..reach(scope)].fill(view);
        a.known.tick(agent);
    }

    /// `fence.proxy.async`: makes all ordinary writes known so far visible to the asynchronous proxy.
    pub fn proxy_fence(&mut self, agent: u32) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        a.proxy = a.known.clone();
        a.known.tick(agent);
    }

    /// Records that `agent` initializes an mbarrier.
    pub fn barrier_initialised(&mut self, agent: u32, (cta, offset): (u32, u32), origin: Origin) {
        self.initialised.insert((cta, offset), (agent, self.now(agent), origin));
    }

    /// Checks the arrival of an asynchronous operation against the initialization of its mbarrier.
    pub fn arrival(&self, agent: u32, (cta, offset): (u32, u32)) -> Option<Conflict> {
        let a = self.agents.get(&agent)?;
        let (first_agent, time, origin) = *self.initialised.get(&(cta, offset))?;
        let first = (origin, AccessKind::WRITE);
        (time > a.known.get(first_agent)).then_some(Conflict {
            address: offset.into(),
            first_agent,
            first,
            missing: Missing::Order,
        })
    }

    /// `fence.proxy.tensormap::generic.acquire`: makes the ordinary writes of the map known so far visible to copies.
    pub fn map_fence(&mut self, agent: u32, map: u64) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        for granule in map / 4..(map + MAP_BYTES) / 4 {
            let writes = self.cells.get(MemKey::Global, granule).map_or(&[][..], |cell| &cell.writes);
            let known = |seen: &&PastAccess| {
                let lanes = || seen.agent == agent || a.known_lanes.unknown(seen).is_none();
                seen.time <= a.known.get(seen.agent) && lanes()
            };
            for seen in writes.iter().filter(known) {
                a.maps.raise(map, seen.agent, seen.time);
            }
        }
    }

    /// `tcgen05.fence::before_thread_sync`: publishes the agent's accesses to tensor memory with its next release.
    pub fn tensor_publish(&mut self, agent: u32) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        let tensor = a.tensor.clone();
        a.tensor_published.join(&tensor);
        a.tensor_published.raise(agent, a.known.get(agent));
        a.known.tick(agent);
    }

    /// `tcgen05.fence::after_thread_sync`: orders the accesses published to the agent before its later `tcgen05`
    /// instructions.
    pub fn tensor_receive(&mut self, agent: u32) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        let received = a.tensor_received.clone();
        a.tensor.join(&received);
    }

    /// Whether an agent has received anything from another.
    pub fn knows_of(&self, agent: u32, other: u32) -> bool {
        self.agents.get(&agent).is_some_and(|a| a.known.get(other) > 0)
    }

    /// The time of an access that `agent` makes now.
    pub fn now(&self, agent: u32) -> u32 {
        self.agents.get(&agent).map_or(0, |a| a.known.get(agent))
    }

    /// Returns the synchronization missing between an access to tensor memory by `first` at `time` and one by `second`
    /// now. `warp` made or issued the first access.
    pub fn tensor_order(&self, (first, warp, time): (u32, u32, u32), second: u32) -> Option<Missing> {
        let a = self.agents.get(&second)?;
        let own = first == second || a.issuer.is_some_and(|(issuer, _)| issuer == first);
        if own || time <= a.tensor.get(first) {
            None
        } else if time <= a.known.get(first) {
            // Release and acquire order these accesses too. The warp that issued an operation and waited for it needs
            // no fence.
            let issuer = a.issuer.map_or(second, |(issuer, _)| issuer) == warp;
            (self.strict && !issuer).then_some(Missing::TensorFence)
        } else if time <= a.tensor_received.get(first) {
            Some(Missing::TensorFence)
        } else {
            Some(Missing::Order)
        }
    }

    /// Records a strong write to a location; `by` holds the releasing lanes.
    pub fn strong_write(&mut self, agent: u32, (mem, address): (MemKey, u64), by: Option<Releasing>, scope: Scope) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        let own = by.map(|by| a.view(agent, Some(by)));
        for (domain, fenced) in a.home.domains(scope).zip(&a.fenced) {
            let entry = self.syncs.entry(SyncKey::Location(mem, address, domain)).or_default();
            entry.join(own.as_ref().unwrap_or(fenced));
        }
        if by.is_some() {
            a.known.tick(agent);
        }
    }

    /// Records a strong read of a location.
    pub fn strong_read(&mut self, agent: u32, (mem, address): (MemKey, u64), acquire: bool, scope: Scope) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        for (level, domain) in a.home.domains(scope).enumerate() {
            let Some(view) = self.syncs.get(&SyncKey::Location(mem, address, domain)) else { continue };
            if acquire {
                a.receive(view);
            } else {
                a.pending[level].join(view);
            }
        }
    }

    /// Records an access of `len` bytes and returns the first conflict.
    pub fn access(
        &mut self,
        agent: u32,
        mem: MemKey,
        address: u64,
        len: u64,
        how: AccessKind,
        origin: Origin,
    ) -> Option<Conflict> {
        let a = self.agents.get(&agent)?;
        let time = a.known.get(agent);
        let mut conflict = None;
        let mut at = address;
        while at < address + len {
            let granule = at / 4;
            let end = (granule * 4 + 4).min(address + len);
            let bytes = (at..end).fold(0u8, |m, b| m | 1 << (b % 4));
            let cell = self.cells.at(mem, granule);
            let against = |seen: &PastAccess| -> Option<Conflict> {
                let both_strong = seen.strong && how.strong;
                let same_proxy = seen.asynchronous == how.asynchronous;
                // Writes of one value to the same bytes have one outcome in any order.
                if seen.write && how.unchanged && seen.bytes == bytes && seen.agent != agent && same_proxy {
                    return None;
                }
                let in_scope = seen.home.shares(a.home, seen.scope.min(how.scope));
                if seen.bytes & bytes == 0 || both_strong && in_scope {
                    return None;
                }
                let (missing, lane) = if seen.agent == agent {
                    a.between_lanes(seen, how, origin)?
                } else if seen.time > a.known.get(seen.agent) {
                    (if both_strong { Missing::Scope } else { Missing::Order }, None)
                } else if let Some(lane) = a.known_lanes.unknown(seen) {
                    (Missing::LaneOrder, lane)
                } else if !a.sees(seen, mem, address, how) {
                    (if how.map { Missing::MapFence } else { Missing::ProxyFence }, None)
                } else {
                    a.before_issue(seen)?
                };
                let PastAccess { write, strong, scope, asynchronous, .. } = *seen;
                let first = AccessKind { write, strong, scope, asynchronous, ..AccessKind::READ };
                let byte = granule * 4 + u64::from((seen.bytes & bytes).trailing_zeros());
                let at = Origin { lane: lane.or(seen.origin.lane), ..seen.origin };
                Some(Conflict { address: byte, first_agent: seen.agent, first: (at, first), missing })
            };
            if conflict.is_none() {
                conflict = cell.writes.iter().find_map(against);
                if how.write && conflict.is_none() {
                    conflict = cell.reads.iter().find_map(against);
                }
            }
            let seen = PastAccess {
                agent,
                time,
                lanes: origin.lane.map_or(0, |lane| 1 << lane),
                bytes,
                strong: how.strong,
                scope: how.scope,
                home: a.home,
                asynchronous: how.asynchronous,
                write: how.write,
                origin,
            };
            if how.write {
                let same = |s: &&mut PastAccess| s.agent == agent && s.bytes == bytes && s.origin.step == origin.step;
                let joined = cell.writes.iter_mut().find(same).filter(|_| how.unchanged).map(|s| s.lanes |= seen.lanes);
                // A later write replaces the ones it covers: whatever they were ordered before is also ordered before
                // its successors.
                if joined.is_some() {
                    at = end;
                    continue;
                }
                // A reader must come after all writes of one value that are not ordered.
                let apart = |s: &PastAccess| how.unchanged && s.agent != agent && s.time > a.known.get(s.agent);
                cell.writes.retain(|s| s.bytes & !bytes != 0 || apart(s));
                cell.reads.retain(|s| s.bytes & !bytes != 0);
                cell.writes.push(seen);
            } else {
                let mut merged = false;
                cell.reads.retain(|s| {
                    if s.agent != agent || s.strong != how.strong || s.scope != how.scope {
                        return true;
                    }
                    if s.origin.step == origin.step && s.lanes != 0 && s.bytes == bytes {
                        s.lanes |= seen.lanes;
                        merged = true;
                    }
                    // The latest read of a warp replaces its earlier ones of the same bytes.
                    s.origin.step == origin.step || s.bytes & !bytes != 0
                });
                if !merged {
                    cell.reads.push(seen);
                }
            }
            at = end;
        }
        conflict
    }
}
