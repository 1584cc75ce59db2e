//! Data races: conflicting accesses that no token orders.
//!
//! The language orders accesses by tokens only, not by program order or data dependence. Every access is an *event*.
//! The token that it returns represents the event and all events that its own token operand represents. Two events
//! conflict if both touch a byte and one of them writes. Unless one is ordered after the other, or both are atomic,
//! the result of the program depends on which happens first.
//!
//! ```text
//! %t0 = store %p, %a                    event 0
//! %x, %t1 = load %p token = %t0         event 1, after 0
//! %t2 = store %p, %b token = %t0        event 2, after 0, but not after 1: a race with the load
//! ```
//!
//! Events of different tile blocks are never ordered. That is stricter than the language, in which a release and an
//! acquire order them, but correct for programs that do not synchronize tile blocks.

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Number of an access.
pub type Event = u32;

/// The events that a token represents: one bit for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventSet(Rc<Vec<u64>>);

impl EventSet {
    pub fn contains(&self, e: Event) -> bool {
        self.0.get(e as usize / 64).is_some_and(|w| w >> (e % 64) & 1 != 0)
    }

    pub fn with(&self, e: Event) -> EventSet {
        let mut words = (*self.0).clone();
        let at = e as usize / 64;
        if words.len() <= at {
            words.resize(at + 1, 0);
        }
        words[at] |= 1 << (e % 64);
        EventSet(Rc::new(words))
    }

    pub fn join(&self, other: &EventSet) -> EventSet {
        let (mut long, short) =
            if self.0.len() >= other.0.len() { ((*self.0).clone(), &other.0) } else { ((*other.0).clone(), &self.0) };
        for (a, b) in long.iter_mut().zip(short.iter()) {
            *a |= b;
        }
        EventSet(Rc::new(long))
    }
}

/// An access in progress.
#[derive(Clone, Debug)]
pub struct TracedAccess {
    pub event: Event,
    pub after: EventSet,
    /// Whether the access is an atomic update. Atomic updates do not race with each other.
    pub atomic: bool,
}

#[derive(Clone, Debug, Default)]
struct Byte {
    /// The last write, and whether it was atomic.
    written: Option<(Event, bool)>,
    /// The reads since the last write.
    read: Vec<(Event, bool)>,
}

/// The accesses to each byte.
#[derive(Clone, Debug, Default)]
pub struct Races {
    bytes: FxHashMap<u64, Byte>,
    events: Event,
}

impl Races {
    /// Registers an access that is ordered after `after`.
    pub fn event(&mut self, after: EventSet, atomic: bool) -> TracedAccess {
        let event = self.events;
        self.events += 1;
        TracedAccess { event, after, atomic }
    }

    /// Records a read. Returns an event that it races with, if any.
    pub fn read(&mut self, access: &TracedAccess, address: u64, size: u64) -> Option<Event> {
        let mut found = None;
        for a in address..address + size {
            let byte = self.bytes.entry(a).or_default();
            let entry = (access.event, access.atomic);
            found = found.or(conflict(access, byte.written.iter()));
            if byte.read.last() != Some(&entry) {
                byte.read.push(entry);
            }
        }
        found
    }

    /// Whether this access was the last to write to a byte.
    pub fn has_written(&self, access: &TracedAccess, address: u64) -> bool {
        self.bytes.get(&address).and_then(|b| b.written).is_some_and(|(e, _)| e == access.event)
    }

    /// Records a write. Returns an event that it races with, if any.
    pub fn write(&mut self, access: &TracedAccess, address: u64, size: u64) -> Option<Event> {
        let mut found = None;
        for a in address..address + size {
            let byte = self.bytes.entry(a).or_default();
            found = found.or(conflict(access, byte.written.iter().chain(&byte.read)));
            byte.written = Some((access.event, access.atomic));
            byte.read.clear();
        }
        found
    }

    /// Forgets memory that has been freed.
    pub fn release(&mut self, address: u64, size: u64) {
        if size < self.bytes.len() as u64 {
            (address..address + size).for_each(|a| drop(self.bytes.remove(&a)));
        } else {
            self.bytes.retain(|a, _| !(address..address + size).contains(a));
        }
    }
}

fn conflict<'a>(access: &TracedAccess, mut others: impl Iterator<Item = &'a (Event, bool)>) -> Option<Event> {
    let ordered =
        |(e, atomic): &(Event, bool)| *e == access.event || (*atomic && access.atomic) || access.after.contains(*e);
    others.find(|o| !ordered(o)).map(|(e, _)| *e)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_order() {
        let mut r = Races::default();
        let store = r.event(EventSet::default(), false);
        assert_eq!(r.write(&store, 100, 4), None);
        let first = EventSet::default().with(store.event);
        let load = r.event(first.clone(), false);
        assert_eq!(r.read(&load, 102, 2), None);
        let early = r.event(first.clone(), false);
        assert_eq!(r.clone().write(&early, 102, 1), Some(load.event));
        assert_eq!(r.clone().write(&early, 100, 1), None);
        let both = first.join(&EventSet::default().with(load.event));
        let late = r.event(both, false);
        assert_eq!(r.write(&late, 100, 4), None);
        let stray = r.event(EventSet::default(), false);
        assert_eq!(r.read(&stray, 103, 1), Some(late.event));
        assert_eq!(r.read(&stray, 104, 1), None);
        r.release(100, 4);
        assert_eq!(r.read(&stray, 100, 4), None);
    }

    #[test]
    fn atomic_updates_do_not_race() {
        let mut r = Races::default();
        let (a, b) = (r.event(EventSet::default(), true), r.event(EventSet::default(), true));
        assert_eq!(r.write(&a, 0, 4), None);
        assert_eq!(r.write(&b, 0, 4), None);
        let load = r.event(EventSet::default(), false);
        assert_eq!(r.read(&load, 0, 4), Some(b.event));
    }

    #[test]
    fn pasts() {
        let p = EventSet::default().with(3).join(&EventSet::default().with(200));
        for (e, there) in [(3, true), (200, true), (4, false), (199, false), (1000, false)] {
            assert_eq!(p.contains(e), there, "{e}");
        }
    }
}
