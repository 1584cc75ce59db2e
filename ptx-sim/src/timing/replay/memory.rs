//! Memory accesses over time: when shared memory, L2 and memory serve them.

use super::super::costs::{Bandwidth, Engine};
use super::super::pairs::BOTH;
use super::{Event, Reason, Sm};

impl Sm<'_> {
    /// Serves `passes` passes of shared memory, one clock each; returns when the last pass starts.
    pub(super) fn shared(&mut self, time: f64, passes: f64) -> f64 {
        self.operands_until(time);
        let start = self.shared_free.max(time);
        self.shared_free = start + passes;
        self.out.busy.shared += passes;
        // The latency includes the first pass.
        self.shared_free - 1.0
    }

    pub(super) fn memory(&mut self, at: usize, event: &Event, load: bool, atomic: bool, time: f64) -> (f64, Reason) {
        let costs = self.input.costs;
        if event.a == 0 {
            return self.local(at, event, load, time);
        }
        let (lines, partial) = (event.b & 0xffff, event.b >> 16);
        let start = self.shared(time, f64::from(lines.max(1)));
        let bytes = costs.sector * f64::from(event.a);
        let asked = self.input.slots[event.func as usize][event.pc as usize].bytes * event.lanes.count_ones();
        if asked > 0 {
            let line = &mut self.lines[event.func as usize][event.pc as usize];
            line.used += f64::from(asked).min(bytes);
            line.moved += bytes;
        }
        let first = self.first(event);
        if atomic {
            self.l2_free = self.l2_free.max(start) + bytes / costs.atomic_rate;
            return (self.l2_free + costs.latency_l2, Reason::GlobalMemory);
        }
        if load {
            let end = self.request(start, bytes, first);
            return (end + costs.latency_l2 + first * costs.beyond_l2, Reason::GlobalMemory);
        }
        let whole = f64::from(event.a - partial.min(event.a));
        let partial = f64::from(partial);
        let sectors = whole + partial * costs.store_partial;
        self.store(at, start, costs.sector * sectors);
        // Data that is written again has not left L2 yet.
        let new = f64::from(event.c) / f64::from(event.a);
        let written = new * (costs.sector * whole + costs.store_partial_bytes * partial);
        self.write(at, start, written);
        (time, Reason::GlobalMemory)
    }

    /// An access to local memory, which L1 holds as far as it has room; stores always continue to L2.
    fn local(&mut self, at: usize, event: &Event, load: bool, time: f64) -> (f64, Reason) {
        let costs = self.input.costs;
        let w = &self.warps[at];
        let number = self.blocks[w.block].as_ref().map_or(0, |b| b.number);
        let warp = number * costs.warps as usize + w.index as usize;
        let line = costs.sector * costs.sectors_of_line;
        if load {
            let lines = self.local.load(warp, event.c, event.b);
            let end = self.shared(time, f64::from(lines.all));
            if lines.other == 0 {
                return (end + costs.latency_l1, Reason::GlobalMemory);
            }
            let end = self.request(end, line * f64::from(lines.other), 0.0);
            return (end + costs.latency_l2, Reason::GlobalMemory);
        }
        let lines = self.local.store(warp, event.c, event.b);
        let start = self.shared(time, f64::from(lines.all));
        let sectors = f64::from(lines.all - lines.other) + f64::from(lines.other) * costs.store_partial;
        self.store(at, start, line * sectors);
        (time, Reason::GlobalMemory)
    }

    /// The share of an instruction's loaded data that no CTA has loaded before.
    fn first(&self, event: &Event) -> f64 {
        let new = f64::from(event.c) / f64::from(event.a.max(1));
        new * self.input.first[event.func as usize][event.pc as usize]
    }

    /// Requests bytes from L2, with the share `first` from memory; returns when the last has arrived, without the
    /// latency.
    fn request(&mut self, time: f64, bytes: f64, first: f64) -> f64 {
        let Bandwidth { l2, dram, .. } = self.input.bandwidth;
        self.l2_free = self.l2_free.max(time) + bytes / l2;
        self.out.busy.l2 += bytes / l2;
        if first > 0.0 {
            self.dram_free = self.dram_free.max(time) + first * bytes / dram;
            self.out.busy.dram += first * bytes / dram;
            return self.l2_free.max(self.dram_free);
        }
        self.l2_free
    }

    /// Stores bytes to L2.
    fn store(&mut self, at: usize, time: f64, bytes: f64) {
        let bandwidth = self.input.bandwidth;
        let bandwidth = Bandwidth { store_all: self.part_of_stores(at, bandwidth.store_all), ..bandwidth };
        let clocks = self.contention.clocks(bytes, bandwidth, self.input.costs, self.store_free, time);
        self.store_free = self.store_free.max(time) + clocks;
    }

    /// Writes bytes to memory.
    fn write(&mut self, at: usize, time: f64, bytes: f64) {
        let clocks = bytes / self.part_of_stores(at, self.input.bandwidth.dram_write);
        self.dram_free = self.dram_free.max(time) + clocks;
        self.out.busy.dram += clocks;
    }

    /// The share of a common store rate that a warp's CTA gets. A CTA that stores more than others has the whole rate
    /// for part of the time.
    fn part_of_stores(&self, at: usize, rate: f64) -> f64 {
        let more = self.blocks[self.warps[at].block].as_ref().map_or(1.0, |b| b.stores_more);
        if more > 1.0 { (rate * more).min(self.input.bandwidth.store.max(rate)) } else { rate }
    }

    pub(super) fn bulk(
        &mut self,
        at: usize,
        event: &Event,
        (load, engine): (bool, &Engine),
        time: f64,
    ) -> (f64, Reason) {
        let costs = self.input.costs;
        let bytes = f64::from(event.a);
        let first = self.first(event);
        self.warps[at].earliest = time + engine.issue;
        let (read, done) = if load {
            // In isolation a copy takes its latency, which includes the transfer; after others it ends when the path
            // is free.
            let end = self.request(time, bytes, first);
            let alone = time + engine.latency(bytes, first);
            let queued = end + engine.latency(0.0, first);
            (alone.max(queued), alone.max(queued))
        } else {
            self.store(at, time, bytes);
            self.write(at, time, f64::from(event.c));
            let alone = time + engine.store.min(bytes / costs.store_rate + engine.issue);
            // Data accepted by L2 counts as read before it reaches memory.
            let read = alone.max(self.store_free);
            (read, read.max(self.dram_free))
        };
        self.span(at, if load { "load" } else { "store" }, time, done);
        if event.b == u32::MAX {
            self.warps[at].bulk.add(done, (event.func, event.pc));
            self.warps[at].bulk_read.add(read, (event.func, event.pc));
        } else {
            let copies = if event.b & BOTH != 0 { 2 } else { 1 };
            self.signal(at, event.b & !BOTH, done, 0, copies * i64::from(event.a), (event.func, event.pc));
        }
        (time, Reason::Copies)
    }
}
