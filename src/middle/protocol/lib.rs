//! A checker for the synchronization of pipelined kernels.
//!
//! A kernel with asynchronous copies and MMAs consists of a few *agents* (a producer warp, two consumer warpgroups)
//! that pass stages of shared memory to each other through mbarriers. A missing arrival hangs the GPU; an arrival one
//! instruction too early corrupts one result in a million. A compiler's tests show neither. The compiler therefore
//! extracts the protocol of every generated kernel as a [`Program`]: the agents' operations on barriers and stages,
//! without the arithmetic. [`Program::check`] decides whether *any* interleaving of the agents can go wrong, for all
//! small trip counts of its loops (for a sample of their combinations in programs with many loops). A [`Violation`]
//! contains an interleaving that demonstrates it.
//!
//! # Checks
//!
//! 1. No deadlock.
//! 2. No stage is overwritten while a read or another write of it may be in flight. This includes asynchronous
//!    operations that no agent has waited for.
//! 3. No stage is read before it is full, and it holds the data that the reader expects: each write carries a *tag*
//!    (the iteration that it belongs to), and each read names the tag that it expects.
//! 4. No phase of a barrier receives more arrivals than its count, and no arrival can fall into an earlier phase than
//!    intended.
//! 5. No phase is missed: a parity wait cannot pass on an older phase, and a barrier cannot advance by two phases
//!    before a waiting agent has seen the first.
//! 6. No phase can complete before the bytes that it waits for are announced and copied.
//! 7. A proxy fence separates every ordinary write from an asynchronous operation that reads it.
//! 8. At the end no barrier is in the middle of a phase, and no asynchronous operation is in flight.
//!
//! The checker ignores the contents of registers, the order of global memory accesses, and the division of work among
//! the threads of an agent. An agent is a single sequence of operations; the pass that inserts barriers within an
//! agent is responsible for its warps.
//!
//! # One run represents all interleavings
//!
//! Two agents and a ring of four stages have millions of interleavings, and exploring them one by one takes seconds.
//! Barrier programs have a property that makes one run sufficient. A phase ends when *all* its arrivals and bytes are
//! in, regardless of their order. If the assignment of arrivals to phases is fixed, the events before a wait passes do
//! not depend on the interleaving. The program is then a fixed partial order of events (*happens-before*), and every
//! interleaving is one of its linear extensions. One run computes this partial order with vector clocks. Each agent
//! carries, for every agent, the number of its operations known to be done, and for every barrier, the number of its
//! phases known to be complete. Two accesses to a stage can overlap in some interleaving exactly if neither knows of
//! the other.
//!
//! Checks 4 to 6 ensure that the partial order *is* fixed:
//!
//! * an arrival (or announcement of bytes, or copy) in phase `p` must know that phase `p - 1` is complete, so it
//!   cannot come earlier; since phase `p` needs it, it cannot come later either;
//! * a wait that passes on phase `p` must know that phase `p - 1` is complete before it starts, because a parity does
//!   not distinguish phase `p` from phase `p - 2`; and the end of phase `p + 1` must know that the wait has passed;
//! * the end of a phase must know of every announcement of bytes for it, and all its copies must be done.
//!
//! By induction over the length of a run, any two runs of a program that passes these checks have the same events in
//! the same partial order. The checks are sufficient but not necessary: they can reject a program whose result does
//! not depend on the ambiguity. The compiler does not generate such protocols. The tests support the claim: over
//! thousands of random mutations, a brute-force explorer of all interleavings ([`explore`]) never finds a fault in a
//! program that [`Program::check`] accepts.
//!
//! # Example
//!
//! A ring of two stages, with one copy per iteration:
//!
//! ```
//! use tile_protocol::{Expr, Op, Program};
//!
//! let mut p = Program::new("ring of two");
//! let trips = p.parameter("trips", 6);
//! let (full, empty) = (p.barrier("full", 2, 1), p.barrier("empty", 2, 1));
//! let a = p.storage("A", 2);
//! let i = p.variable();
//! let (slot, parity) = (Expr::from(i) % 2, Expr::from(i) / 2 % 2);
//! p.agent("producer", 32, vec![Op::Loop { var: i, trips: trips.clone(), body: vec![
//!     // A fresh barrier is in phase 0, and a wait on parity 1 passes.
//!     Op::Wait { barrier: empty.at(&slot), parity: !parity.clone() },
//!     Op::Expect { barrier: full.at(&slot), bytes: 4096 },
//!     Op::Arrive { barrier: full.at(&slot), count: 1 },
//!     Op::Copy { into: a.at(&slot), tag: i.into(), bytes: 4096, barrier: full.at(&slot) },
//! ] }]);
//! let consumer = |release: bool| {
//!     let mut body = vec![
//!         Op::Wait { barrier: full.at(&slot), parity: parity.clone() },
//!         Op::Read { from: a.at(&slot), tag: i.into() },
//!     ];
//!     if release {
//!         body.push(Op::Arrive { barrier: empty.at(&slot), count: 1 });
//!     }
//!     vec![Op::Loop { var: i, trips: trips.clone(), body }]
//! };
//! let mut wrong = p.clone();
//! p.agent("consumer", 128, consumer(true));
//! assert!(p.check().is_ok());
//! // Without the release the third iteration waits forever.
//! wrong.agent("consumer", 128, consumer(false));
//! let violation = wrong.check().unwrap_err();
//! assert_eq!(violation.parameters, [("trips".to_owned(), 3)]);
//! assert!(violation.to_string().contains("producer waits for empty[0] to leave phase 0"));
//! ```
#![forbid(unsafe_code)]

mod clock;
mod code;
pub mod explore;
mod print;
mod program;
mod run;
mod storage;
mod violation;

pub use program::{
    Agent, Array, Barrier, Engine, Expr, MOST_COMBINATIONS, Named, Op, Parameter, Place, Program, StageAccess, Storage,
    Var,
};
pub use violation::{Violation, ViolationKind};
