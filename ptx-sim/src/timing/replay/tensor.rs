//! `tcgen05` over time: the tensor core of an SM, and tensor memory.
//!
//! The tensor core executes in order. An MMA takes the longer of two times: the multiplications, and reading its
//! operands from shared memory. The operands of a queued MMA are read later and must not delay accesses that warps
//! make in the meantime. MMAs are therefore recorded, and their reads up to a time are charged when shared memory is
//! next used.

use super::{Blocked, Event, Operands, Reason, Sm};

impl Sm<'_> {
    /// Charges shared memory with the operand reads of MMAs until a time. These reads are at most as fast as shared
    /// memory, and extend a backlog of other accesses by their own length.
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

    /// Executes an MMA of `math` clocks that reads the event's number of bytes.
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

    /// Arrives on an mbarrier when the operations that the thread gave to the tensor core end. Tracked by warp, not by
    /// thread.
    pub(super) fn tensor_commit(&mut self, at: usize, event: &Event, time: f64) -> (f64, Reason) {
        let (done, last) = self.warps[at].tensor;
        let by = if done > time { last } else { (event.func, event.pc) };
        self.signal(at, event.a, done.max(time), i64::from(event.lanes.count_ones()), 0, by);
        (time, Reason::Mbarrier)
    }

    /// Moves words between a warp's registers and its lanes of tensor memory, which occupies their port.
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

    /// Gives free columns of tensor memory to waiting warps.
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
