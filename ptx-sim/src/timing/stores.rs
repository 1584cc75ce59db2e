//! Stores of all multiprocessors at the same time.

use super::costs::Costs;
use super::replay::Share;

/// How far multiprocessors still store at the same time. They start together, and what they store first they store
/// together, each at its share of what L2 takes. But some are served before others and go on earlier: by as much as
/// that made them wait they are apart when they store again. So a part of the sharing goes with every time.
#[derive(Default)]
pub(crate) struct InStep {
    /// Clocks that storing together took in the first phase, which ends when nothing has been stored for a while.
    phase: f64,
    ended: bool,
    /// Clocks lost by sharing.
    lag: f64,
}

impl InStep {
    /// Clocks for which `bytes` keep the way to L2, when a multiprocessor that has stored until `until` stores at
    /// `time`.
    pub fn clocks(&mut self, bytes: f64, share: Share, costs: &Costs, until: f64, time: f64) -> f64 {
        let (alone, together) = (bytes / share.store, bytes / share.store_all);
        // Between two phases lies at least a load from memory.
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
