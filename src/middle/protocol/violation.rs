//! What can go wrong, and how it is told.

use std::fmt;

/// The kind of a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViolationKind {
    /// Agents wait for each other.
    Deadlock,
    /// A phase gets more arrivals than its count.
    TooManyArrivals,
    /// An arrival, an announcement or a copy may fall into an earlier phase.
    EarlyArrival,
    /// A wait may pass on an older phase of the same parity.
    StaleWait,
    /// A barrier may turn twice before a waiter has seen the first turn.
    MissedPhase,
    /// A phase may end before bytes of it are announced.
    LateAnnouncement,
    /// A phase ends though a copy that counts on it is under way.
    CopyNotAwaited,
    /// A stage is read that nobody has written.
    NeverWritten,
    /// A stage may be read before its write is done.
    ReadBeforeFull,
    /// A stage holds the data of another iteration.
    WrongContents,
    /// A stage may be overwritten while it is read or written.
    Overwritten,
    /// An ordinary write is read by an asynchronous operation with no fence between.
    MissingFence,
    /// A barrier is halfway through a phase at the end.
    NotQuiescent,
    /// An operation is under way at the end.
    UnfinishedAtExit,
    /// A barrier or stage that does not exist.
    NoSuchSlot,
}

/// A violation with an interleaving that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub program: String,
    pub kind: ViolationKind,
    /// The trip counts for which it happens.
    pub parameters: Vec<(String, i64)>,
    pub message: String,
    /// What the agents do, one operation a line, up to the violation. Operations that do not matter to it are left out.
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
