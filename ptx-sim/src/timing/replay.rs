//! Replays recorded warps on one SM, now with clocks.
//!
//! Warps issue in their rescheduled order. A warp's next instruction can issue when its operands are ready, its
//! scheduler has a free slot, and the pipe is free. The warp that can issue first goes first; among several, the one
//! that has waited longest. Resources shared by the schedulers (shared memory, the path to L2, memory) are servers
//! with a rate: a request starts when the server has finished the previous ones.
//!
//! Asynchronous work (copies, `wgmma`) runs on its own servers. Its end is an event that completes a group or a phase
//! of an mbarrier. Every clock that a warp waits is charged to the instruction that it waits before, with the reason.

mod memory;
mod tensor;

use super::costs::{BOARDS, Bandwidth, Costs, Effect, InstCost, PREDICATES, Pipe};
use super::l1::LocalCache;
use super::stores::StoreContention;
use super::waits::{InstKey, InstStats, Reason, Span, WaitCause};
use crate::exec::state::record::Event;
use crate::ir::MbarrierOp;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The work of all warps that have the same number within their CTAs.
#[derive(Clone, Copy, Debug, Default)]
pub struct WarpCost {
    pub cost: InstStats,
    /// Loads by the copy engine that it started, and MMAs.
    pub copies: u64,
    pub products: u64,
}

/// Busy clocks of the units.
#[derive(Clone, Debug, Default)]
pub struct Busy {
    /// Of the pipes of all schedulers together, by `Pipe`.
    pub pipes: [f64; Pipe::COUNT],
    pub issue: f64,
    pub wgmma: f64,
    /// The part of `wgmma` with 8-bit operands.
    pub wgmma_8bit: f64,
    /// Of the SM's tensor core, operating on tensor memory.
    pub tcgen05: f64,
    /// Of all quarters of tensor memory together, by accesses of warps.
    pub tensor_memory: f64,
    pub shared: f64,
    pub l2: f64,
    pub dram: f64,
}

/// The result of a replay.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// When each CTA of the queue ended.
    pub ends: Vec<f64>,
    pub lines: FxHashMap<(u32, u32), InstStats>,
    /// By warp number within the CTA.
    pub warps: Vec<WarpCost>,
    pub busy: Busy,
    /// Of the first CTA only.
    pub spans: Vec<Span>,
    /// When the warps of each CTA of the queue read their clocks.
    pub clocks: Vec<Vec<Vec<u64>>>,
}

/// A CTA that can be started.
#[derive(Clone)]
pub(crate) struct Block<'a> {
    pub warps: Vec<&'a [Event]>,
    /// How many times as much as other CTAs it stores; at least 1.
    pub stores_more: f64,
}

pub(crate) struct Input<'a> {
    pub costs: &'a Costs,
    /// By function and program counter.
    pub slots: &'a [Vec<InstCost>],
    /// Share of first accesses, by function and program counter.
    pub first: &'a [Vec<f64>],
    pub planes: u32,
    pub bandwidth: Bandwidth,
    /// Lines of the L1 cache.
    pub l1_lines: usize,
}

#[derive(Clone, Copy, Debug)]
enum Blocked {
    No,
    Barrier,
    Mbarrier {
        offset: u32,
        parity: u32,
    },
    /// This many columns of tensor memory are not free.
    Columns(f64),
}

/// Groups of asynchronous work: when each completes, and its last part to complete.
#[derive(Default)]
struct Groups {
    open: (f64, InstKey),
    committed: VecDeque<(f64, InstKey)>,
}

impl Groups {
    fn add(&mut self, done: f64, by: InstKey) {
        if done > self.open.0 {
            self.open = (done, by);
        }
    }

    fn commit(&mut self) {
        self.committed.push_back(std::mem::take(&mut self.open));
    }

    /// Returns when all but the last `left` groups are complete.
    fn wait(&mut self, left: usize) -> (f64, InstKey) {
        let mut last = (0.0f64, InstKey::default());
        while self.committed.len() > left {
            let group = self.committed.pop_front().unwrap_or_default();
            last = if group.0 > last.0 { group } else { last };
        }
        last
    }
}

struct WarpState<'a> {
    block: usize,
    index: u32,
    events: &'a [Event],
    next: usize,
    /// When the value of each register is ready, and its producer.
    ready: Vec<(f64, WaitCause)>,
    /// For each register, whether an instruction of an image wrote it last.
    imaged: Vec<bool>,
    /// When each scoreboard of an image is empty, and what it waits for.
    boards: [(f64, WaitCause); BOARDS],
    /// When all results of an image are ready that belong to no register of the PTX.
    unnamed: (f64, WaitCause),
    earliest: f64,
    wait: WaitCause,
    /// When the warp's own results and waits allow its next instruction; shared resources may delay it further.
    own: (f64, WaitCause),
    last_issue: f64,
    blocked: Blocked,
    copies: Groups,
    bulk: Groups,
    /// The bulk groups again: when shared memory has been read.
    bulk_read: Groups,
    products: Groups,
    /// When its operations on tensor memory complete, and the last of them.
    tensor: (f64, InstKey),
    tensor_loads: Groups,
    tensor_stores: Groups,
}

#[derive(Default)]
struct MbarrierState {
    expected: i64,
    pending: i64,
    bytes: i64,
    phase: u32,
}

/// The operands that an MMA reads from shared memory, evenly while it executes.
struct Operands {
    start: f64,
    end: f64,
    passes: f64,
}

struct Running {
    number: usize,
    stores_more: f64,
    live: u32,
    barriers: FxHashMap<u32, u32>,
    mbarriers: FxHashMap<u32, MbarrierState>,
}

/// An update of an mbarrier at a future time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MbarrierUpdate {
    time: f64,
    block: usize,
    offset: u32,
    arrivals: i64,
    bytes: i64,
    by: InstKey,
}

impl Eq for MbarrierUpdate {}

impl PartialOrd for MbarrierUpdate {
    fn partial_cmp(&self, other: &MbarrierUpdate) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MbarrierUpdate {
    fn cmp(&self, other: &MbarrierUpdate) -> std::cmp::Ordering {
        self.time.total_cmp(&other.time).then(self.offset.cmp(&other.offset)).then(self.block.cmp(&other.block))
    }
}

pub(crate) struct Sm<'a> {
    input: &'a Input<'a>,
    warps: Vec<WarpState<'a>>,
    blocks: Vec<Option<Running>>,
    signals: BinaryHeap<Reverse<MbarrierUpdate>>,
    slot_free: Vec<f64>,
    pipe_free: Vec<[f64; Pipe::COUNT]>,
    tensor_free: Vec<f64>,
    /// When the tensor core has finished its operations on tensor memory, and the operands that these read.
    tensor_core_free: f64,
    operands: VecDeque<Operands>,
    /// By quarter of the lanes of tensor memory, each of which belongs to the warps of one scheduler.
    tensor_memory_free: Vec<f64>,
    /// Free columns of tensor memory.
    columns: f64,
    ports_free: Vec<f64>,
    shared_free: f64,
    l2_free: f64,
    dram_free: f64,
    store_free: f64,
    contention: StoreContention,
    local: LocalCache,
    /// By function and program counter.
    lines: Vec<Vec<InstStats>>,
    out: Replay,
}

/// A record whose warps wait for each other forever; a correct record never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplayDeadlock {
    pub event: Option<Event>,
}

impl<'a> Sm<'a> {
    /// Runs a queue of CTAs on an SM that holds `resident` of them at a time.
    pub fn run(input: &'a Input<'a>, queue: &[Block<'a>], resident: usize) -> Result<Replay, ReplayDeadlock> {
        let schedulers = input.costs.schedulers as usize;
        let mut sm = Sm {
            input,
            warps: Vec::new(),
            blocks: (0..resident).map(|_| None).collect(),
            signals: BinaryHeap::new(),
            slot_free: vec![0.0; schedulers],
            pipe_free: vec![[0.0; Pipe::COUNT]; schedulers],
            tensor_free: vec![0.0; schedulers],
            tensor_core_free: 0.0,
            operands: VecDeque::new(),
            tensor_memory_free: vec![0.0; schedulers],
            columns: input.costs.tcgen05.as_ref().map_or(0.0, |t| t.columns),
            ports_free: vec![0.0; schedulers],
            shared_free: 0.0,
            l2_free: 0.0,
            dram_free: 0.0,
            store_free: 0.0,
            contention: StoreContention::default(),
            local: LocalCache::new(input.l1_lines),
            lines: input.slots.iter().map(|f| vec![InstStats::default(); f.len()]).collect(),
            out: Replay {
                ends: vec![0.0; queue.len()],
                clocks: queue.iter().map(|block| vec![Vec::new(); block.warps.len()]).collect(),
                ..Replay::default()
            },
        };
        let mut next = 0;
        while next < queue.len().min(resident) {
            sm.start(next, next, &queue[next], 0.0);
            next += 1;
        }
        while let Some(at) = sm.pick()? {
            let finished = sm.issue(at);
            if let Some((slot, time)) = finished
                && next < queue.len()
            {
                sm.start(slot, next, &queue[next], time + input.costs.launch_block);
                next += 1;
            }
        }
        for (func, lines) in sm.lines.iter().enumerate() {
            let here = lines.iter().enumerate().filter(|(_, l)| l.issued > 0);
            sm.out.lines.extend(here.map(|(pc, line)| ((func as u32, pc as u32), *line)));
        }
        Ok(sm.out)
    }

    fn start(&mut self, slot: usize, number: usize, block: &Block<'a>, time: f64) {
        self.warps.retain(|w| w.block != slot);
        let live = block.warps.len() as u32;
        self.blocks[slot] = Some(Running {
            number,
            stores_more: block.stores_more,
            live,
            barriers: FxHashMap::default(),
            mbarriers: FxHashMap::default(),
        });
        if self.out.warps.len() < block.warps.len() {
            self.out.warps.resize(block.warps.len(), WarpCost::default());
        }
        for (index, events) in block.warps.iter().enumerate() {
            let wait =
                WaitCause { why: Reason::Start, by: events.first().map_or_else(InstKey::default, |e| (e.func, e.pc)) };
            self.warps.push(WarpState {
                block: slot,
                index: index as u32,
                events,
                next: 0,
                ready: vec![(0.0, wait); self.input.planes as usize],
                imaged: vec![false; self.input.planes as usize],
                boards: [(0.0, wait); BOARDS],
                unnamed: (0.0, wait),
                earliest: time,
                wait,
                own: (time, wait),
                last_issue: time,
                blocked: Blocked::No,
                copies: Groups::default(),
                bulk: Groups::default(),
                bulk_read: Groups::default(),
                products: Groups::default(),
                tensor: (0.0, InstKey::default()),
                tensor_loads: Groups::default(),
                tensor_stores: Groups::default(),
            });
        }
    }

    fn register(&self, r: u32) -> usize {
        // Predicates are numbered after the planes.
        if r >= PREDICATES { self.input.planes as usize - 1 - (r - PREDICATES) as usize } else { r as usize }
    }

    /// When a warp's next instruction can issue, and what it waits for until then.
    fn candidate(&self, w: &WarpState<'_>) -> Option<(f64, WaitCause)> {
        let event = w.events.get(w.next)?;
        if !matches!(w.blocked, Blocked::No) {
            return None;
        }
        let slot = &self.input.slots[event.func as usize][event.pc as usize];
        let mut best = w.own;
        let mut later = |time: f64, wait: WaitCause| {
            if time > best.0 {
                best = (time, wait);
            }
        };
        let itself = |why| WaitCause { why, by: (event.func, event.pc) };
        if slot.issues > 0.0 {
            let s = w.index as usize % self.slot_free.len();
            later(self.slot_free[s], itself(Reason::Slot));
            later(self.pipe_free[s][slot.pipe as usize], itself(Reason::Pipe));
            if slot.ports > 0.0 {
                later(self.ports_free[s], itself(Reason::Pipe));
            }
            // A window of requests may be in flight.
            let room = match slot.effect {
                Effect::Memory { atomic: true, .. } => self.l2_free - self.input.costs.latency_l2,
                Effect::Memory { load: false, .. } => {
                    self.dram_free.max(self.store_free) - self.input.costs.latency_dram
                }
                _ => 0.0,
            };
            later(room, itself(Reason::StoreQueue));
        }
        Some(best)
    }

    /// Computes when the warp's own results and waits allow its next instruction.
    fn look_ahead(&mut self, at: usize) {
        let w = &self.warps[at];
        let mut best = (w.earliest, w.wait);
        if let Some(event) = w.events.get(w.next) {
            let slot = &self.input.slots[event.func as usize][event.pc as usize];
            let mut later = |(time, wait): (f64, WaitCause)| {
                if time > best.0 {
                    best = (time, wait);
                }
            };
            let before = w.next.checked_sub(1).map(|i| w.events[i]);
            let imaged = before.map(|e| self.input.slots[e.func as usize][e.pc as usize].control.is_some());
            match slot.control {
                Some(control) => {
                    (0..BOARDS).filter(|b| control.wait >> b & 1 != 0).for_each(|b| later(w.boards[b]));
                    // The block waits for what it needs from blocks of the PTX where it begins.
                    let needs = slot.bridge.iter().flat_map(|bridge| &bridge.needs).map(|r| self.register(*r));
                    needs.filter(|r| !w.imaged[*r]).for_each(|r| later(w.ready[r]));
                }
                None => {
                    if slot.effect != Effect::Alias {
                        slot.reads.iter().for_each(|r| later(w.ready[self.register(*r)]));
                    }
                    // The PTX does not say which of its instructions read these results.
                    if imaged == Some(true) {
                        later(w.unnamed);
                    }
                }
            }
        }
        self.warps[at].own = best;
    }

    /// Returns the warp that issues next, or `None` when all are done.
    fn pick(&mut self) -> Result<Option<usize>, ReplayDeadlock> {
        loop {
            let mut best: Option<(f64, f64, usize)> = None;
            for (i, w) in self.warps.iter().enumerate() {
                if let Some((time, _)) = self.candidate(w)
                    && best.is_none_or(|(t, last, _)| (time, w.last_issue) < (t, last))
                {
                    best = Some((time, w.last_issue, i));
                }
            }
            match (best, self.signals.peek()) {
                (Some((time, ..)), Some(Reverse(signal))) if signal.time <= time => self.deliver(),
                (None, Some(_)) => self.deliver(),
                (Some((.., i)), _) => return Ok(Some(i)),
                (None, None) => {
                    let stuck = self.warps.iter().find(|w| w.next < w.events.len());
                    return match stuck {
                        Some(w) => Err(ReplayDeadlock { event: w.events.get(w.next).copied() }),
                        None => Ok(None),
                    };
                }
            }
        }
    }

    /// Applies the next signal to its mbarrier.
    fn deliver(&mut self) {
        let Some(Reverse(s)) = self.signals.pop() else { return };
        let Some(running) = &mut self.blocks[s.block] else { return };
        let b = running.mbarriers.entry(s.offset).or_default();
        b.pending -= s.arrivals;
        b.bytes -= s.bytes;
        self.complete_phase(s.block, s.offset, s.time, s.by);
    }

    fn complete_phase(&mut self, block: usize, offset: u32, time: f64, by: InstKey) {
        let Some(running) = &mut self.blocks[block] else { return };
        let b = running.mbarriers.entry(offset).or_default();
        if b.pending > 0 || b.bytes != 0 {
            return;
        }
        b.phase ^= 1;
        b.pending = b.expected;
        let phase = b.phase;
        let edge = self.input.costs.mbarrier_edge;
        for w in self.warps.iter_mut().filter(|w| w.block == block) {
            if let Blocked::Mbarrier { offset: o, parity } = w.blocked
                && o == offset
                && phase != parity
            {
                w.blocked = Blocked::No;
                w.earliest = w.earliest.max(time + edge);
                w.wait = WaitCause { why: Reason::Mbarrier, by };
                // The next instruction may have to wait for something later.
                if w.earliest > w.own.0 {
                    w.own = (w.earliest, w.wait);
                }
            }
        }
    }

    /// Issues a warp's next instruction. If its CTA ends with it, returns the slot and time.
    fn issue(&mut self, at: usize) -> Option<(usize, f64)> {
        let (time, wait) = self.candidate(&self.warps[at])?;
        let costs = self.input.costs;
        let w = &mut self.warps[at];
        let event = w.events[w.next];
        w.next += 1;
        let key = (event.func, event.pc);
        let slot = &self.input.slots[key.0 as usize][key.1 as usize];
        // An instruction without an issue slot leaves its wait to the next one that has a slot.
        let waited = if slot.issues > 0.0 { (time - w.last_issue).max(0.0) } else { 0.0 };
        let line = &mut self.lines[key.0 as usize][key.1 as usize];
        line.issued += 1;
        line.waits[wait.why as usize] += waited;
        self.lines[wait.by.0 as usize][wait.by.1 as usize].caused[wait.why as usize] += waited;
        let active = event.lanes != 0;
        let warp = &mut self.out.warps[w.index as usize];
        warp.cost.issued += 1;
        warp.cost.waits[wait.why as usize] += waited;
        warp.copies += u64::from(active && matches!(slot.effect, Effect::Bulk { load: true, .. }));
        let asynchronous = match slot.effect {
            Effect::Wgmma { .. } => true,
            Effect::TensorCore { column, .. } => active && column > 0.0,
            _ => false,
        };
        warp.products += u64::from(slot.pipe == Pipe::Tensor || asynchronous);
        (w.earliest, w.wait) = (time, WaitCause { why: Reason::Slot, by: key });
        let s = w.index as usize % self.slot_free.len();
        if slot.issues > 0.0 {
            w.last_issue = time;
            let beside = self.tensor_free[s] > time;
            let interval = if beside { costs.beside_wgmma(slot.pipe, slot.interval) } else { slot.interval };
            self.slot_free[s] = time + slot.issues;
            self.ports_free[s] = self.ports_free[s].max(time + slot.ports);
            if slot.pipe != Pipe::None {
                self.pipe_free[s][slot.pipe as usize] = time + interval;
                self.out.busy.pipes[slot.pipe as usize] += interval;
            }
            self.out.busy.issue += slot.issues;
            w.earliest = time + slot.control.map_or(slot.issues, |c| f64::from(c.stall).max(slot.issues));
        }
        // Earlier requests to shared memory delay the reading of its operands.
        let read = self.shared_free.max(time) + costs.latency_operands;
        let plain = |(time, why)| (time, WaitCause { why, by: key });
        let done = match slot.effect {
            Effect::Alias if active => {
                let w = &self.warps[at];
                let none = plain((time, Reason::Arithmetic));
                slot.reads.iter().map(|r| w.ready[self.register(*r)]).fold(none, |a, b| if b.0 > a.0 { b } else { a })
            }
            _ if active => plain(self.effect(at, &event, slot, time)),
            _ => plain((time, Reason::Arithmetic)),
        };
        match slot.control {
            Some(control) => {
                let boards = &mut self.warps[at].boards;
                let mut count = |board: Option<u8>, until: (f64, WaitCause)| {
                    if let Some(board) = board.map(usize::from)
                        && until.0 > boards[board].0
                    {
                        boards[board] = until;
                    }
                };
                // Copy groups have their own wait instruction.
                count(control.result.filter(|_| slot.effect != Effect::CopyCommit), done);
                count(control.operands, (read, done.1));
                let named = slot.bridge.as_ref().map_or(&[][..], |bridge| &bridge.results);
                self.set_ready(at, named, done, true);
                let w = &mut self.warps[at];
                if named.is_empty() && control.result.is_some() && done.0 > w.unnamed.0 {
                    w.unnamed = done;
                }
            }
            None => self.set_ready(at, &slot.writes, done, false),
        }
        self.look_ahead(at);
        self.ended(at)
    }

    /// Sets when a warp's registers are ready, and whether an instruction of an image wrote them.
    fn set_ready(&mut self, at: usize, registers: &[u32], done: (f64, WaitCause), imaged: bool) {
        for register in registers {
            let r = self.register(*register);
            let w = &mut self.warps[at];
            (w.ready[r], w.imaged[r]) = (done, imaged);
        }
    }

    /// Returns the slot and time of the CTA if the warp has ended, and the CTA with it.
    fn ended(&mut self, at: usize) -> Option<(usize, f64)> {
        let w = &self.warps[at];
        if w.next < w.events.len() {
            return None;
        }
        let (block, time) = (w.block, w.earliest);
        let running = self.blocks[block].as_mut()?;
        running.live -= 1;
        let (live, number) = (running.live, running.number);
        let full: Vec<u32> = running.barriers.keys().copied().collect();
        self.out.ends[number] = self.out.ends[number].max(time);
        if live == 0 {
            let end = self.out.ends[number];
            self.blocks[block] = None;
            return Some((block, end));
        }
        for id in full {
            self.complete_barrier(block, id, 0, time);
        }
        None
    }

    /// Applies the effect of an instruction; returns when its result is ready, and the reason to wait for it.
    fn effect(&mut self, at: usize, event: &Event, slot: &InstCost, time: f64) -> (f64, Reason) {
        let costs = self.input.costs;
        let key = (event.func, event.pc);
        match slot.effect {
            Effect::Compute | Effect::Control | Effect::Alias => {
                let why = if slot.pipe == Pipe::Tensor { Reason::Product } else { Reason::Arithmetic };
                (time + slot.latency, why)
            }
            Effect::Shared => {
                let end = self.shared(time, f64::from(event.a.max(1)));
                (end + slot.latency, Reason::SharedMemory)
            }
            Effect::Exchange { redux } => {
                let s = self.warps[at].index as usize % self.slot_free.len();
                let passes = match (redux, &costs.wgmma) {
                    (_, Ok(beside)) if self.tensor_free[s] > time => beside.shuffle_beside,
                    (true, _) => costs.redux,
                    (false, _) => costs.shuffle,
                };
                (self.shared(time, passes) + slot.latency, Reason::SharedMemory)
            }
            Effect::Memory { load, atomic } => {
                // Global memory passes through L1 too, in sectors; asynchronous copies bypass it.
                if event.a > 0 && !atomic {
                    self.local.others(event.c.div_ceil(costs.sectors_of_line as u32));
                }
                self.memory(at, event, load, atomic, time)
            }
            Effect::CopyAsync => {
                let (done, _) = self.memory(at, event, true, false, time);
                self.warps[at].copies.add(done, key);
                (time, Reason::Copies)
            }
            Effect::CopyCommit => {
                self.warps[at].copies.commit();
                (time, Reason::Copies)
            }
            Effect::CopyWait => self.wait(at, event, Reason::Copies, |w| &mut w.copies),
            Effect::CopyArrive => {
                let w = &self.warps[at];
                let all = w.copies.committed.iter().copied().chain([w.copies.open]);
                let (done, by) = all.fold((time, key), |a, b| if b.0 > a.0 { b } else { a });
                self.signal(at, event.a, done, i64::from(event.lanes.count_ones()), 0, by);
                (time, Reason::Copies)
            }
            Effect::Barrier { arrive } => {
                self.barrier(at, event, arrive, time);
                (time, Reason::Barrier)
            }
            Effect::Mbarrier(op) => self.mbarrier(at, event, op, time),
            Effect::Bulk { load, engine } => self.bulk(at, event, (load, &engine), time),
            Effect::BulkCommit => {
                self.warps[at].bulk.commit();
                self.warps[at].bulk_read.commit();
                (time, Reason::Copies)
            }
            Effect::BulkWait { read: false } => self.wait(at, event, Reason::Copies, |w| &mut w.bulk),
            Effect::BulkWait { read: true } => self.wait(at, event, Reason::Copies, |w| &mut w.bulk_read),
            Effect::Wgmma { clk, completion, bits } => {
                let s = self.warps[at].index as usize % self.slot_free.len();
                // After a pause the first MMA takes longer to start. The following ones are queued before it ends.
                let first = slot.latency - completion;
                let pause = time - self.tensor_free[s] > first;
                let start = self.tensor_free[s].max(time) + if pause { first } else { 0.0 };
                self.tensor_free[s] = start + clk;
                self.out.busy.wgmma += clk;
                self.out.busy.wgmma_8bit += if bits <= 8 { clk } else { 0.0 };
                self.warps[at].products.add(start + clk + completion, key);
                self.span(at, "product", start, start + clk);
                (time, Reason::AsyncProducts)
            }
            Effect::WgmmaCommit => {
                self.warps[at].products.commit();
                (time, Reason::AsyncProducts)
            }
            Effect::WgmmaWait => self.wait(at, event, Reason::AsyncProducts, |w| &mut w.products),
            Effect::TensorCore { column, clk, .. } => {
                self.tensor_core(at, event, clk + column * f64::from(event.a), slot.latency, time)
            }
            Effect::TensorCommit => self.tensor_commit(at, event, time),
            Effect::TensorMemory { load, clk } => self.tensor_memory(at, event, (load, clk), slot.latency, time),
            Effect::TensorWait { load: true } => {
                self.warps[at].tensor_loads.commit();
                self.wait(at, event, Reason::TensorMemory, |w| &mut w.tensor_loads)
            }
            Effect::TensorWait { load: false } => {
                self.warps[at].tensor_stores.commit();
                self.wait(at, event, Reason::TensorMemory, |w| &mut w.tensor_stores)
            }
            Effect::TensorAlloc => {
                let w = &mut self.warps[at];
                w.blocked = Blocked::Columns(f64::from(event.a));
                w.wait = WaitCause { why: Reason::TensorMemory, by: key };
                self.give_columns(time);
                (time, Reason::TensorMemory)
            }
            Effect::TensorFree => {
                self.columns += f64::from(event.a);
                self.give_columns(time);
                (time, Reason::TensorMemory)
            }
            Effect::Request { latency } => {
                self.signal(at, event.b, time + latency, 0, 16, key);
                (time, Reason::Mbarrier)
            }
            Effect::Clock => {
                let w = &self.warps[at];
                if let Some(running) = &self.blocks[w.block] {
                    self.out.clocks[running.number][w.index as usize].push(time.round() as u64);
                }
                (time + costs.latency_special, Reason::Arithmetic)
            }
            Effect::Setmaxnreg { clk } => {
                let w = &mut self.warps[at];
                (w.earliest, w.wait) = (time + clk, WaitCause { why: Reason::Arithmetic, by: key });
                (time + clk, Reason::Arithmetic)
            }
        }
    }

    fn span(&mut self, at: usize, name: &'static str, start: f64, end: f64) {
        let w = &self.warps[at];
        if self.blocks[w.block].as_ref().is_some_and(|b| b.number == 0) {
            self.out.spans.push(Span { row: w.index, name, start, end });
        }
    }

    /// Makes the warp wait until all but the last groups are complete; the event holds how many may remain.
    fn wait(
        &mut self,
        at: usize,
        event: &Event,
        why: Reason,
        of: for<'w> fn(&'w mut WarpState<'a>) -> &'w mut Groups,
    ) -> (f64, Reason) {
        let w = &mut self.warps[at];
        let (done, by) = of(w).wait(event.a as usize);
        let from = w.earliest;
        if done > w.earliest {
            (w.earliest, w.wait) = (done, WaitCause { why, by });
            self.span(at, why.name(), from, done);
        }
        (done, why)
    }

    fn signal(&mut self, at: usize, offset: u32, time: f64, arrivals: i64, bytes: i64, by: InstKey) {
        let block = self.warps[at].block;
        self.signals.push(Reverse(MbarrierUpdate { time, block, offset, arrivals, bytes, by }));
    }

    fn barrier(&mut self, at: usize, event: &Event, arrive: bool, time: f64) {
        let block = self.warps[at].block;
        if !arrive {
            self.warps[at].blocked = Blocked::Barrier;
            self.warps[at].wait = WaitCause { why: Reason::Barrier, by: (event.func, event.pc) };
        }
        if let Some(running) = &mut self.blocks[block] {
            *running.barriers.entry(event.a).or_default() += 1;
        }
        // The low bits identify the barrier that a warp waits on.
        self.warps[at].earliest = time;
        self.complete_barrier(block, event.a, event.b.div_ceil(32), time);
    }

    /// Releases the warps of a barrier when as many as needed have arrived; 0 stands for all live warps.
    fn complete_barrier(&mut self, block: usize, id: u32, needed: u32, time: f64) {
        let Some(running) = &mut self.blocks[block] else { return };
        let needed = if needed == 0 { running.live } else { needed };
        let Some(arrived) = running.barriers.get_mut(&id).filter(|n| **n >= needed && **n > 0) else { return };
        *arrived = 0;
        let release = time + self.input.costs.barrier;
        let mut waited = Vec::new();
        for (i, w) in self.warps.iter_mut().enumerate().filter(|(_, w)| w.block == block) {
            let here = w.next > 0 && w.events[w.next - 1].a == id;
            if matches!(w.blocked, Blocked::Barrier) && here {
                waited.push((i, w.earliest));
                w.blocked = Blocked::No;
                w.earliest = release;
                if w.earliest > w.own.0 {
                    w.own = (w.earliest, w.wait);
                }
            }
        }
        for (i, from) in waited {
            self.span(i, "barrier", from, release);
        }
    }

    fn mbarrier(&mut self, at: usize, event: &Event, op: MbarrierOp, time: f64) -> (f64, Reason) {
        let costs = self.input.costs;
        let block = self.warps[at].block;
        let Some(running) = &mut self.blocks[block] else { return (time, Reason::Mbarrier) };
        let b = running.mbarriers.entry(event.a).or_default();
        let count = i64::from(event.b);
        match op {
            MbarrierOp::Init { .. } => {
                *b = MbarrierState { expected: count, pending: count, bytes: 0, phase: 0 };
            }
            MbarrierOp::ExpectTx { .. } => b.bytes += count,
            MbarrierOp::CompleteTx { .. } => b.bytes -= count,
            MbarrierOp::Arrive { expect_tx, drop, .. } => {
                let arrivals = if expect_tx { i64::from(event.lanes.count_ones()) } else { count };
                b.bytes += if expect_tx { count } else { 0 };
                b.pending -= arrivals;
                b.expected -= if drop { arrivals } else { 0 };
                self.complete_phase(block, event.a, time, (event.func, event.pc));
            }
            MbarrierOp::Wait { .. } => {
                let w = &mut self.warps[at];
                if b.phase != event.b & 1 {
                    w.earliest = w.earliest.max(time + costs.mbarrier_hit);
                } else {
                    w.blocked = Blocked::Mbarrier { offset: event.a, parity: event.b & 1 };
                }
                w.wait = WaitCause { why: Reason::Mbarrier, by: (event.func, event.pc) };
            }
            MbarrierOp::Inval { .. } | MbarrierOp::PendingCount => {}
        }
        (time, Reason::Mbarrier)
    }
}
