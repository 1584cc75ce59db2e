//! `tcgen05` in time: the tensor core of a multiprocessor, and tensor memory.
//!
//! The tensor core does what it is given in order. A product takes the longer of two times: that of its
//! multiplications, and that in which shared memory gives the operands that lie there. What is read for a product that
//! waits in the queue is read later, so it must not hold up accesses that warps make meanwhile: products are noted, and
//! what they have read until a time is charged when somebody uses shared memory at that time.

use super::{Blocked, Event, Reason, Sm};

/// What a product reads from shared memory while it is executed, evenly.
pub(super) struct Operands {
    start: f64,
    end: f64,
    passes: f64,
}

impl Sm<'_> {
    /// Charges shared memory with what products have read until a time. While these read, at most as fast as shared
    /// memory gives it, a backlog of others stays by as much as they read.
    pub(super) fn operands_until(&mut self, time: f64) {
        while let Some(o) = self.operands.front_mut().filter(|o| o.start < time) {
            let until = o.end.min(time);
            let read = o.passes * (until - o.start) / (o.end - o.start);
            self.shared_free = until.max(self.shared_free.max(o.start) + read);
            o.passes -= read;
            o.start = until;
            if until == o.end {
                self.operands.pop_front();
            }
        }
    }

    /// The tensor core multiplies for `math` clocks, and reads as many bytes as the event says.
    pub(super) fn tensor_core(
        &mut self,
        at: usize,
        event: &Event,
        math: f64,
        completion: f64,
        time: f64,
    ) -> (f64, Reason) {
        let Ok(costs) = &self.input.costs.tcgen05 else { return (time, Reason::AsyncProducts) };
        self.operands_until(time);
        let start = self.tensor_core_free.max(time);
        let passes = f64::from(event.b) / costs.shared_rate;
        let end = (start + math).max(self.shared_free.max(start) + passes);
        if passes > 0.0 {
            self.operands.push_back(Operands { start, end, passes });
        }
        self.tensor_core_free = end;
        self.out.busy.tcgen05 += end - start;
        self.out.busy.shared += passes;
        self.warps[at].tensor = (end + completion, (event.func, event.pc));
        self.span(at, "product", start, end);
        (time, Reason::AsyncProducts)
    }

    /// An mbarrier hears of the end of what the thread has given to the tensor core. A warp stands for its thread.
    pub(super) fn tensor_commit(&mut self, at: usize, event: &Event, time: f64) -> (f64, Reason) {
        let (done, last) = self.warps[at].tensor;
        let by = if done > time { last } else { (event.func, event.pc) };
        self.signal(at, event.a, done.max(time), i64::from(event.lanes.count_ones()), 0, by);
        (time, Reason::Mbarrier)
    }

    /// A warp moves words between its registers and its lanes of tensor memory, which takes their port some clocks.
    pub(super) fn tensor_memory(
        &mut self,
        at: usize,
        event: &Event,
        (load, clk): (bool, f64),
        latency: f64,
        time: f64,
    ) -> (f64, Reason) {
        let w = &mut self.warps[at];
        let free = &mut self.tensor_memory_free[w.index as usize % self.slot_free.len()];
        *free = free.max(time) + clk;
        let done = *free + latency;
        let group = if load { &mut w.tensor_loads } else { &mut w.tensor_stores };
        group.add(done, (event.func, event.pc));
        self.out.busy.tensor_memory += clk;
        (if load { done } else { time }, Reason::TensorMemory)
    }

    /// Gives columns of tensor memory to warps that wait for some, as far as there are any.
    pub(super) fn give_columns(&mut self, time: f64) {
        let latency = self.input.costs.tcgen05.as_ref().map_or(0.0, |t| t.alloc);
        for w in &mut self.warps {
            let Blocked::Columns(wanted) = w.blocked else { continue };
            if wanted > self.columns {
                continue;
            }
            self.columns -= wanted;
            w.blocked = Blocked::No;
            w.earliest = w.earliest.max(time + latency);
            if w.earliest > w.own.0 {
                w.own = (w.earliest, w.wait);
            }
        }
    }
}
