//! Concurrent stores of all SMs.

use super::costs::{Bandwidth, Costs};

/// Models how long SMs keep storing at the same time. They start together, and in the first phase they store together,
/// each at its share of the L2 bandwidth. Some are served before others and continue earlier, so the next time they
/// store they are apart by the time that they waited. The contention therefore shrinks with every phase.
#[derive(Default)]
pub(crate) struct StoreContention {
    /// Clocks of storing in the first phase, which ends when the SM has not stored for a while.
    phase: f64,
    ended: bool,
    /// Clocks lost to contention.
    lag: f64,
}

impl StoreContention {
    /// Clocks for which `bytes` occupy the path to L2, when an SM whose last store ended at `until` stores at `time`.
    pub fn clocks(&mut self, bytes: f64, bandwidth: Bandwidth, costs: &Costs, until: f64, time: f64) -> f64 {
        let (alone, together) = (bytes / bandwidth.store, bytes / bandwidth.store_all);
        // A load from memory, at least, separates two phases.
        self.ended |= self.phase > 0.0 && time > until + costs.store_pause;
        let apart = self.lag / (costs.store_phases * self.phase);
        let part = if self.ended { (1.0 - apart).max(0.0) } else { 1.0 };
        if !self.ended {
            self.phase += together;
        }
        self.lag += part * (together - alone);
        alone + part * (together - alone)
    }
}
