//! Data races between warps, found by vector clocks.
//!
//! Every warp and every asynchronous copy is an *agent* with a logical clock. An agent knows, for each other agent,
//! up to which time that agent's accesses happened before its own; barriers, mbarriers, and atomics with fences pass
//! this knowledge on. For every four bytes of memory the last writes and the reads since then are remembered; an
//! access that conflicts with one it does not know of is a race.
//!
//! An agent has a second clock for the *asynchronous proxy*: which ordinary writes have been made visible to it by
//! `fence.proxy.async`. An asynchronous copy takes over its issuer's clocks and judges ordinary writes by the second
//! one. Example: warp 1 stores to shared memory, all warps meet at `bar.sync 0`, warp 0 starts a bulk store of it.
//! The barrier orders the store before the copy, but without a proxy fence between them the copy's proxy clock does
//! not contain the store: a missing proxy fence is reported.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// For each agent, a time; absent means 0.
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

    /// The later time of each agent.
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

/// What two agents may synchronise through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SyncKey {
    /// CTA, barrier, generation.
    Barrier(u32, u32, u64),
    /// First CTA of the cluster, generation.
    Cluster(u32, u64),
    /// A memory location used with strong operations.
    Location(MemKey, u64),
    /// CTA and offset of an mbarrier: what its completed phases release.
    Mbarrier(u32, u32),
    /// What the arrivals of its open phase release, once that is complete.
    OpenPhase(u32, u32),
    /// Completion of an asynchronous operation.
    Operation(u64),
    /// Arrival of a warp at its own barrier.
    Warp(u32),
}

/// A memory: global, or the shared memory of a CTA.
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
    /// The warp that executed it.
    pub warp: u32,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    agent: u32,
    time: u32,
    /// Which of the four bytes.
    bytes: u8,
    strong: bool,
    asynchronous: bool,
    write: bool,
    origin: Origin,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    writes: SmallVec<[Seen; 1]>,
    reads: SmallVec<[Seen; 2]>,
}

#[derive(Clone, Debug, Default)]
struct Agent {
    known: Clock,
    /// Ordinary writes that the asynchronous proxy sees.
    proxy: Clock,
    /// What was known at the last fence; released by later relaxed writes.
    fenced: Clock,
    fenced_proxy: Clock,
    /// What strong reads have seen; acquired by the next fence.
    pending: Clock,
    pending_proxy: Clock,
}

/// How an access is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub write: bool,
    /// Atomic or otherwise strong: does not race with other strong accesses.
    pub strong: bool,
    pub asynchronous: bool,
}

/// A conflict without order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub address: u64,
    /// The agent of the first access.
    pub first_agent: u32,
    pub first: (Origin, How),
    /// Ordered, but only for the generic proxy.
    pub proxy: bool,
}

/// The detector's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Race {
    agents: FxHashMap<u32, Agent>,
    cells: FxHashMap<(MemKey, u64), Cell>,
    syncs: FxHashMap<SyncKey, (Clock, Clock)>,
    next_async: u32,
}

/// Agents from here on are asynchronous operations.
const ASYNC: u32 = 1 << 31;

impl Race {
    pub fn new_agent(&mut self, agent: u32) {
        let mut a = Agent::default();
        a.known.tick(agent);
        self.agents.insert(agent, a);
    }

    /// A new asynchronous operation started by `agent`: it knows what its issuer knows.
    pub fn fork(&mut self, agent: u32) -> u32 {
        let id = ASYNC | self.next_async;
        self.next_async += 1;
        let mut child = self.agents.get(&agent).cloned().unwrap_or_default();
        child.known.tick(id);
        child.proxy.tick(id);
        self.agents.insert(id, child);
        // Later accesses of the issuer are not known to the operation.
        if let Some(a) = self.agents.get_mut(&agent) {
            a.known.tick(agent);
        }
        id
    }

    /// Forgets an asynchronous operation that has been completed.
    pub fn retire(&mut self, agent: u32) {
        self.agents.remove(&agent);
    }

    /// Passes what `agent` knows to `key`.
    pub fn release(&mut self, agent: u32, key: SyncKey) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        let entry = self.syncs.entry(key).or_default();
        entry.0.join(&a.known);
        entry.1.join(&a.proxy);
        a.known.tick(agent);
    }

    /// Takes over what `key` holds.
    pub fn acquire(&mut self, agent: u32, key: SyncKey) {
        let Some(entry) = self.syncs.get(&key) else { return };
        let Some(a) = self.agents.get_mut(&agent) else { return };
        a.known.join(&entry.0);
        a.proxy.join(&entry.1);
    }

    /// Adds what one key holds to another.
    pub fn pass(&mut self, from: SyncKey, to: SyncKey) {
        let Some((known, proxy)) = self.syncs.get(&from).cloned() else { return };
        let entry = self.syncs.entry(to).or_default();
        entry.0.join(&known);
        entry.1.join(&proxy);
    }

    pub fn forget(&mut self, key: SyncKey) {
        self.syncs.remove(&key);
    }

    /// A memory fence: what strong reads saw is acquired, and later relaxed writes release all that is known.
    pub fn fence(&mut self, agent: u32) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        let (pending, pending_proxy) = (std::mem::take(&mut a.pending), std::mem::take(&mut a.pending_proxy));
        a.known.join(&pending);
        a.proxy.join(&pending_proxy);
        a.fenced = a.known.clone();
        a.fenced_proxy = a.proxy.clone();
        a.known.tick(agent);
    }

    /// `fence.proxy.async`: all ordinary writes known so far become visible to the asynchronous proxy.
    pub fn proxy_fence(&mut self, agent: u32) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        a.proxy = a.known.clone();
        a.known.tick(agent);
    }

    /// A strong write to a location.
    pub fn strong_write(&mut self, agent: u32, key: SyncKey, release: bool) {
        let Some(a) = self.agents.get_mut(&agent) else { return };
        let entry = self.syncs.entry(key).or_default();
        if release {
            entry.0.join(&a.known);
            entry.1.join(&a.proxy);
            a.known.tick(agent);
        } else {
            entry.0.join(&a.fenced);
            entry.1.join(&a.fenced_proxy);
        }
    }

    /// A strong read of a location.
    pub fn strong_read(&mut self, agent: u32, key: SyncKey, acquire: bool) {
        let Some(entry) = self.syncs.get(&key) else { return };
        let Some(a) = self.agents.get_mut(&agent) else { return };
        if acquire {
            a.known.join(&entry.0);
            a.proxy.join(&entry.1);
        } else {
            a.pending.join(&entry.0);
            a.pending_proxy.join(&entry.1);
        }
    }

    /// Records an access of `len` bytes and returns the first conflict.
    pub fn access(
        &mut self,
        agent: u32,
        mem: MemKey,
        address: u64,
        len: u64,
        how: How,
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
            let cell = self.cells.entry((mem, granule)).or_default();
            let against = |seen: &Seen| -> Option<Conflict> {
                if seen.agent == agent || seen.bytes & bytes == 0 || seen.strong && how.strong {
                    return None;
                }
                let known = seen.time <= a.known.get(seen.agent);
                let visible = known
                    && (!how.asynchronous || seen.asynchronous || !seen.write || seen.time <= a.proxy.get(seen.agent));
                if visible {
                    return None;
                }
                let first = How { write: seen.write, strong: seen.strong, asynchronous: seen.asynchronous };
                let byte = granule * 4 + u64::from((seen.bytes & bytes).trailing_zeros());
                Some(Conflict { address: byte, first_agent: seen.agent, first: (seen.origin, first), proxy: known })
            };
            if conflict.is_none() {
                conflict = cell.writes.iter().find_map(against);
                if how.write && conflict.is_none() {
                    conflict = cell.reads.iter().find_map(against);
                }
            }
            let seen = Seen {
                agent,
                time,
                bytes,
                strong: how.strong,
                asynchronous: how.asynchronous,
                write: how.write,
                origin,
            };
            if how.write {
                // A later write hides what it covers; what it was ordered after is ordered before its successors too.
                cell.writes.retain(|s| s.bytes & !bytes != 0);
                cell.reads.retain(|s| s.bytes & !bytes != 0);
                cell.writes.push(seen);
            } else {
                match cell.reads.iter_mut().find(|s| s.agent == agent && s.strong == how.strong) {
                    Some(s) => *s = Seen { bytes: s.bytes | bytes, ..seen },
                    None => cell.reads.push(seen),
                }
            }
            at = end;
        }
        conflict
    }
}
