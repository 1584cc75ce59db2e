//! A cell of shared memory: its last write, the reads since then, and whether they are known to be done.

use smallvec::SmallVec;

use crate::clock::{Clock, Event};
use crate::violation::ViolationKind;

/// When an access ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At an operation of an agent.
    At(Event),
    /// When a barrier, given by its clock entry, has completed `count` phases.
    Phase { entry: usize, count: u32 },
    /// When this group has been waited for, or a phase ends that waits for it.
    Group(usize),
}

/// The events of which each implies that a group is done.
pub type Ends = SmallVec<[End; 2]>;

/// The accessed contents: the array and the tag.
pub type Contents = (usize, i64);

/// An access, in flight or done.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub start: Event,
    pub end: End,
}

#[derive(Debug, Clone, Default)]
pub struct Cell {
    write: Option<(Span, Contents, Proxy)>,
    reads: Vec<Span>,
}

/// With this number of reads since the last write, a cell looks for reads that others imply.
const MANY_READS: usize = 16;

/// The proxy of a memory access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proxy {
    Ordinary,
    Asynchronous,
}

/// An access that may go wrong, with the access that it conflicts with.
pub struct Clash {
    pub kind: ViolationKind,
    pub other: Option<Span>,
}

/// The knowledge of an agent when it starts an access.
pub struct Knowledge<'a> {
    pub clock: &'a Clock,
    pub fenced: &'a Clock,
    /// The events of which each implies that a group is done.
    pub groups: &'a [Ends],
}

impl Knowledge<'_> {
    pub fn done(&self, end: End) -> bool {
        self.covers(self.clock, end)
    }

    fn fenced(&self, end: End) -> bool {
        self.covers(self.fenced, end)
    }

    fn covers(&self, clock: &Clock, end: End) -> bool {
        match end {
            End::At(event) => clock.knows(event),
            End::Phase { entry, count } => clock.get(entry) >= count,
            End::Group(id) => self.groups[id].iter().any(|end| self.covers(clock, *end)),
        }
    }
}

impl Cell {
    pub fn read(&mut self, span: Span, wanted: Contents, proxy: Proxy, known: &Knowledge) -> Result<(), Clash> {
        let clash = |kind, other| Err(Clash { kind, other });
        let Some((write, contents, wrote)) = self.write else { return clash(ViolationKind::NeverWritten, None) };
        if !known.done(write.end) {
            // Either the expected data is in flight, or other data is.
            return clash(
                if contents == wanted { ViolationKind::ReadBeforeFull } else { ViolationKind::Overwritten },
                Some(write),
            );
        }
        if contents != wanted {
            return clash(ViolationKind::WrongContents, None);
        }
        if wrote == Proxy::Ordinary && proxy == Proxy::Asynchronous && !known.fenced(write.end) {
            return clash(ViolationKind::MissingFence, None);
        }
        self.add_read(span);
        Ok(())
    }

    /// A read by an engine that executes the operations of an agent in order. An earlier operation of the agent may
    /// still write the same contents.
    pub fn read_in_order(&mut self, span: Span, wanted: Contents, known: &Knowledge) -> Result<(), Clash> {
        match self.write {
            Some((write, contents, _)) if contents == wanted && is_in_order(&write, &span) => {
                self.add_read(span);
                Ok(())
            }
            _ => self.read(span, wanted, Proxy::Asynchronous, known),
        }
    }

    pub fn write(&mut self, span: Span, contents: Contents, proxy: Proxy, known: &Knowledge) -> Result<(), Clash> {
        match self.unfinished(known) {
            Some(other) => Err(Clash { kind: ViolationKind::Overwritten, other: Some(other) }),
            None => {
                self.write = Some((span, contents, proxy));
                self.reads.clear();
                Ok(())
            }
        }
    }

    /// A write by an engine that executes the operations of an agent in order. Earlier operations of the agent may
    /// still read the cell, or write the same contents.
    pub fn accumulate(&mut self, span: Span, contents: Contents, known: &Knowledge) -> Result<(), Clash> {
        let in_order = |last: &Span| is_in_order(last, &span);
        let write =
            self.write.iter().filter(|(last, of, _)| !(*of == contents && in_order(last))).map(|(last, ..)| last);
        let mut others = write.chain(self.reads.iter().filter(|last| !in_order(last)));
        if let Some(other) = others.find(|last| !known.done(last.end)) {
            return Err(Clash { kind: ViolationKind::Overwritten, other: Some(*other) });
        }
        self.write = Some((span, contents, Proxy::Asynchronous));
        self.reads.clear();
        Ok(())
    }

    /// Adds a read. If there are many, only the last of an agent's reads that end at once is kept: whoever knows of it
    /// knows of the earlier ones. A run is copied at each value of a parameter, so it must not grow with its length.
    fn add_read(&mut self, span: Span) {
        if self.reads.len() >= MANY_READS && self.reads.len().is_power_of_two() {
            let mut agents = vec![];
            self.reads.reverse();
            self.reads.retain(|read| {
                let is_last = !agents.contains(&read.start.agent);
                let ends_at_once = read.end == End::At(read.start);
                if ends_at_once && is_last {
                    agents.push(read.start.agent);
                }
                !ends_at_once || is_last
            });
            self.reads.reverse();
        }
        self.reads.push(span);
    }

    /// Calls a function on the number of each group that an access refers to.
    pub fn groups(&mut self, mut visit: impl FnMut(&mut usize)) {
        let write = self.write.iter_mut().map(|(span, ..)| span);
        for span in write.chain(&mut self.reads) {
            if let End::Group(id) = &mut span.end {
                visit(id);
            }
        }
    }

    /// Returns an access that is not known to be done.
    pub fn unfinished(&self, known: &Knowledge) -> Option<Span> {
        let write = self.write.iter().map(|(span, _, _)| *span);
        write.chain(self.reads.iter().copied()).find(|span| !known.done(span.end))
    }
}

/// Whether an engine that executes the operations of an agent in order executes `last` before `next`.
fn is_in_order(last: &Span, next: &Span) -> bool {
    last.start.agent == next.start.agent && matches!(last.end, End::Group(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of two agents, of which the second also reads asynchronously once.
    #[test]
    fn the_last_read_of_an_agent_stands_for_earlier_ones() {
        let mut cell = Cell::default();
        let event = |agent, time| Event { agent, time };
        let span = |agent, time, end| Span { start: event(agent, time), end };
        cell.add_read(span(1, 1, End::Group(0)));
        for time in 2..200 {
            for agent in [0, 1] {
                cell.add_read(span(agent, time, End::At(event(agent, time))));
            }
        }
        assert!(cell.reads.len() < 2 * MANY_READS);
        // The group is done for whoever knows of the event (1, 300).
        let mut groups = vec![Ends::from_iter([End::At(event(1, 300))])];
        let unfinished = |clock: [u32; 2], groups: &[Ends]| {
            let mut known = Clock::new(2);
            (0..2).for_each(|agent| known.raise(agent, clock[agent]));
            let known = Knowledge { clock: &known, fenced: &known, groups };
            cell.unfinished(&known).map(|span| (span.start.agent, span.end == End::Group(0)))
        };
        assert_eq!(unfinished([199, 299], &groups), Some((1, true)));
        assert_eq!(unfinished([198, 300], &groups), Some((0, false)));
        assert_eq!(unfinished([199, 300], &groups), None);
        groups[0].push(End::At(event(1, 198)));
        assert_eq!(unfinished([199, 198], &groups), Some((1, false)));
    }
}
