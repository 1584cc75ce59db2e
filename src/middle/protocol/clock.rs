//! Vector clocks: the events that an agent knows to have happened.

use smallvec::{SmallVec, smallvec};

/// One entry for each agent, the number of its operations known to be done, followed by one for each barrier, the
/// number of its phases known to be complete.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Clock(SmallVec<[u32; USUAL]>);

/// Number of entries in most programs: two agents, and two rings of four stages with two barriers each.
const USUAL: usize = 18;

/// An operation, as its agent and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub agent: usize,
    pub time: u32,
}

impl Clone for Clock {
    // The derived one copies entry by entry.
    fn clone(&self) -> Self {
        Self(SmallVec::from_slice(&self.0))
    }
}

impl Clock {
    pub fn new(entries: usize) -> Self {
        Self(smallvec![0; entries])
    }

    pub fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            *mine = (*mine).max(*theirs);
        }
    }

    pub fn get(&self, entry: usize) -> u32 {
        self.0[entry]
    }

    pub fn raise(&mut self, entry: usize, to: u32) {
        self.0[entry] = self.0[entry].max(to);
    }

    /// Counts one more operation of an agent, and returns its event.
    pub fn tick(&mut self, agent: usize) -> Event {
        self.0[agent] += 1;
        Event { agent, time: self.0[agent] }
    }

    pub fn knows(&self, event: Event) -> bool {
        self.0[event.agent] >= event.time
    }

    pub fn clear(&mut self) {
        self.0.fill(0);
    }
}
