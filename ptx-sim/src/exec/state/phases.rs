//! The mbarrier phases that each warp waited for, so that a report about the data of an asynchronous copy can tell a
//! wait for the wrong phase from a missing wait.
//!
//! A parity wait passes when the *previous* phase has that parity. A wait with the wrong parity therefore passes
//! immediately, on a phase that ended long ago. On a fresh mbarrier a wait for parity 1 passes although nothing has
//! happened; a wait that forgot to flip its parity passes again on the phase of its last iteration. Neither is an
//! error in itself (producers wait for empty buffers this way), so it is only reported together with another error.
//!
//! Phases are numbered from 0 here and in messages: an mbarrier with `completed` = 2 is in its third phase, phase 2.

use super::race::Origin;
use rustc_hash::FxHashMap;

/// CTA number, in order of admission, and offset of an mbarrier.
pub(crate) type BarrierKey = (u32, u32);

/// A wait that passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassedWait {
    pub barrier: BarrierKey,
    /// Number of completed phases.
    pub completed: u64,
    /// Whether the same lanes had already passed a wait on this phase.
    pub again: bool,
    lanes: u32,
    pub origin: Origin,
}

impl PassedWait {
    /// Whether the wait passed on a phase that the lanes had already seen, or on no phase at all.
    pub fn is_suspicious(&self) -> bool {
        self.completed == 0 || self.again
    }

    /// Names the phase, as in "phase 3".
    pub fn phase(&self) -> String {
        match self.completed.checked_sub(1) {
            Some(phase) if self.again => format!("phase {phase} again"),
            Some(phase) => format!("phase {phase}"),
            None if self.again => "the phase before the first one again".into(),
            None => "the phase before the first one".into(),
        }
    }
}

/// The mbarrier that an asynchronous operation signals, and its open phase when the operation was issued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub barrier: BarrierKey,
    pub phase: u64,
    /// The last wait of the issuing warp.
    pub issuer: Option<PassedWait>,
}

#[derive(Debug, Default)]
pub(crate) struct Phases {
    /// Number of completed phases since initialization.
    completed: FxHashMap<BarrierKey, u64>,
    /// The last wait of each warp on each mbarrier, most recent last.
    waits: FxHashMap<u32, Vec<PassedWait>>,
    /// By the operation's race-detection number.
    completions: FxHashMap<u32, Completion>,
}

impl Phases {
    pub fn initialised(&mut self, barrier: BarrierKey) {
        self.completed.insert(barrier, 0);
        for list in self.waits.values_mut() {
            list.retain(|w| w.barrier != barrier);
        }
    }

    pub fn phase_ended(&mut self, barrier: BarrierKey) {
        *self.completed.entry(barrier).or_default() += 1;
    }

    /// Records that `lanes` of a warp passed a wait.
    pub fn passed(&mut self, warp: u32, barrier: BarrierKey, lanes: u32, origin: Origin) {
        let completed = self.completed.get(&barrier).copied().unwrap_or(0);
        let list = self.waits.entry(warp).or_default();
        let before = list.iter().position(|w| w.barrier == barrier).map(|i| list.remove(i));
        let same = before.filter(|w| w.completed == completed);
        let again = same.is_some_and(|w| w.again || w.lanes & lanes != 0);
        // Lanes of a warp that pass separately count as one wait.
        let lanes = lanes | same.filter(|w| w.origin == origin && !again).map_or(0, |w| w.lanes);
        list.push(PassedWait { barrier, completed, again, lanes, origin });
    }

    /// Records that a warp issued an operation that signals `barrier`.
    pub fn issued(&mut self, operation: u32, barrier: BarrierKey, warp: u32) {
        let phase = self.completed.get(&barrier).copied().unwrap_or(0);
        self.completions.insert(operation, Completion { barrier, phase, issuer: self.last(warp).copied() });
    }

    pub fn completion(&self, operation: u32) -> Option<&Completion> {
        self.completions.get(&operation)
    }

    /// The warp's last wait on an mbarrier.
    pub fn wait_on(&self, warp: u32, barrier: BarrierKey) -> Option<&PassedWait> {
        self.waits.get(&warp)?.iter().find(|w| w.barrier == barrier)
    }

    /// For each warp and mbarrier, the last wait if it passed on the same phase a second time.
    pub fn repeated(&self) -> Vec<PassedWait> {
        let mut list: Vec<PassedWait> = self.waits.values().flatten().filter(|w| w.again).copied().collect();
        list.sort_by_key(|w| (w.origin.warp, w.barrier));
        list
    }

    /// The warp's last wait on any mbarrier.
    pub fn last(&self, warp: u32) -> Option<&PassedWait> {
        self.waits.get(&warp)?.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAR: BarrierKey = (0, 1024);

    fn at(line: u32) -> Origin {
        Origin { line, span: (0, 0), warp: 0, lane: None, step: 0 }
    }

    #[test]
    fn a_wait_passes_on_a_phase_for_the_second_time() {
        let mut p = Phases::default();
        p.initialised(BAR);
        p.passed(7, BAR, u32::MAX, at(1));
        assert!(p.wait_on(7, BAR).unwrap().is_suspicious(), "nothing is complete");
        p.phase_ended(BAR);
        p.passed(7, BAR, u32::MAX, at(1));
        assert!(!p.wait_on(7, BAR).unwrap().is_suspicious());
        p.passed(7, BAR, u32::MAX, at(1));
        let wait = p.wait_on(7, BAR).unwrap();
        assert!(wait.is_suspicious());
        assert_eq!(wait.phase(), "phase 0 again");
        assert!(p.wait_on(8, BAR).is_none());
    }

    #[test]
    fn lanes_that_pass_one_by_one_are_one_wait() {
        let mut p = Phases::default();
        p.initialised(BAR);
        p.phase_ended(BAR);
        p.passed(7, BAR, 0xffff, at(1));
        p.passed(7, BAR, 0xffff_0000, at(1));
        assert!(!p.wait_on(7, BAR).unwrap().again);
        p.passed(7, BAR, 0xffff_0000, at(1));
        assert!(p.wait_on(7, BAR).unwrap().again);
    }
}
