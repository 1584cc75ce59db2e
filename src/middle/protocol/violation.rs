//! The kinds of violations, and their description.

use std::fmt;

/// The kind of a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViolationKind {
    /// Agents wait for each other.
    Deadlock,
    /// A phase receives more arrivals than its count.
    TooManyArrivals,
    /// An arrival, an announcement or a copy may fall into an earlier phase.
    EarlyArrival,
    /// A wait may pass on an older phase of the same parity.
    StaleWait,
    /// A barrier may advance by two phases before a waiting agent has seen the first.
    MissedPhase,
    /// A phase may end before bytes of it are announced.
    LateAnnouncement,
    /// A phase ends while a copy that counts on it is in flight.
    CopyNotAwaited,
    /// A stage is read that was never written.
    NeverWritten,
    /// A stage may be read before its write is done.
    ReadBeforeFull,
    /// A stage holds the data of another iteration.
    WrongContents,
    /// A stage may be overwritten while it is read or written.
    Overwritten,
    /// An asynchronous operation reads an ordinary write without a fence between them.
    MissingFence,
    /// A barrier is in the middle of a phase at the end.
    NotQuiescent,
    /// An operation is in flight at the end.
    UnfinishedAtExit,
    /// A barrier or stage that does not exist.
    NoSuchSlot,
}

/// A violation, with an interleaving that demonstrates it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub program: String,
    pub kind: ViolationKind,
    /// The trip counts for which it occurs.
    pub parameters: Vec<(String, i64)>,
    pub message: String,
    /// The operations of the agents up to the violation, one per line. Operations that do not matter are omitted.
    pub interleaving: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.program, self.message)?;
        for (i, (name, value)) in self.parameters.iter().enumerate() {
            write!(f, "{} {name} = {value}", if i == 0 { "\nfor" } else { "," })?;
        }
        writeln!(f, "\nin this order:")?;
        self.interleaving.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

impl std::error::Error for Violation {}
