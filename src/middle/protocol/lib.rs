//! A checker for the synchronisation of pipelined kernels.
//!
//! A kernel with asynchronous copies and products is a handful of *agents* (a producer warp, two consumer warpgroups)
//! that pass stages of shared memory to each other through mbarriers. A forgotten arrival hangs the GPU; an arrival
//! that comes one instruction early corrupts one result in a million. Neither shows in a compiler's tests. So every
//! generated kernel has its protocol extracted as a [`Program`], the agents' operations on barriers and stages without
//! the arithmetic, and [`Program::check`] decides whether *any* interleaving of the agents can go wrong, for all small
//! trip counts of its loops (a sample of their combinations in programs with many loops). A [`Violation`] comes with an
//! interleaving that shows it.
//!
//! # What is checked
//!
//! 1. No deadlock.
//! 2. No stage is overwritten while a read or another write of it may be under way; this includes asynchronous
//!    operations that nobody has waited for.
//! 3. No stage is read before it is full, and it holds what the reader expects: each write carries a *tag* (the
//!    iteration that it is for), and each read names the tag that it wants.
//! 4. No phase of a barrier gets more arrivals than its count, and no arrival can fall into an earlier phase than it
//!    does.
//! 5. No phase is missed: a wait on a parity cannot pass on an older phase, and the barrier cannot turn twice before a
//!    waiter has seen the first turn.
//! 6. No phase can complete before the bytes that it should wait for are announced and copied.
//! 7. An ordinary write that an asynchronous operation reads has a proxy fence on the way.
//! 8. At the end no barrier is halfway through a phase, and no asynchronous operation is under way.
//!
//! Not checked: the contents of registers, order of global memory, and which thread of an agent does what. An agent is
//! one sequence of operations; what holds between its warps is the business of the pass that writes barriers into it.
//!
//! # One run stands for all interleavings
//!
//! Two agents and a ring of four stages have millions of interleavings, and exploring them one by one takes seconds.
//! But barrier programs have a property that makes one run enough. A phase ends when *all* its arrivals and bytes are
//! in, in whatever order they come. So if it is certain which arrivals belong to which phase, what has happened before
//! a wait passes does not depend on the interleaving: the program is a fixed partial order of events
//! (*happens-before*), and every interleaving is one of its linear extensions. A partial order is described by vector
//! clocks, which one run computes: each agent carries, for every agent, the number of its operations that it knows to
//! be done, and for every barrier the number of phases that it knows to be complete. Two accesses to a stage can meet
//! in some interleaving exactly if neither knows of the other.
//!
//! It remains to make sure that the partial order *is* fixed. That is what checks 4 to 6 are for:
//!
//! * an arrival (or announcement of bytes, or copy) in phase `p` must know that phase `p - 1` is complete, so that it
//!   cannot come earlier; and since phase `p` needs it, it cannot come later;
//! * a wait that passes on phase `p` must know that phase `p - 1` is complete before it starts, since a parity does not
//!   tell phase `p` from phase `p - 2`; and the end of phase `p + 1` must know that the wait has passed;
//! * the end of a phase must know of every announcement of bytes for it, and all its copies must be done.
//!
//! By induction over the length of a run, any two runs of a program that passes these checks have the same events in
//! the same partial order. The checks are sufficient, not necessary: a program may be refused though its result does
//! not depend on the ambiguity. The protocols that the compiler generates are not of that kind, and the tests show it:
//! an explorer of all interleavings by brute force ([`explore`]) never finds fault with a program that
//! [`Program::check`] accepts, over thousands of random mutations.
//!
//! # Worked example
//!
//! A ring of two stages, one copy an iteration:
//!
//! ```
//! use tile_protocol::{Expr, Op, Program};
//!
//! let mut p = Program::new("ring of two");
//! let trips = p.parameter("trips", 6);
//! let (full, empty) = (p.barrier("full", 2, 1), p.barrier("empty", 2, 1));
//! let a = p.storage("A", 2);
//! let i = p.variable();
//! let (slot, turn) = (Expr::from(i) % 2, Expr::from(i) / 2 % 2);
//! p.agent("producer", 32, vec![Op::Loop { var: i, trips: trips.clone(), body: vec![
//!     // A fresh barrier is in phase 0, and a wait on parity 1 passes.
//!     Op::Wait { barrier: empty.at(&slot), parity: !turn.clone() },
//!     Op::Expect { barrier: full.at(&slot), bytes: 4096 },
//!     Op::Arrive { barrier: full.at(&slot), count: 1 },
//!     Op::Copy { into: a.at(&slot), tag: i.into(), bytes: 4096, barrier: full.at(&slot) },
//! ] }]);
//! let consumer = |release: bool| {
//!     let mut body = vec![
//!         Op::Wait { barrier: full.at(&slot), parity: turn.clone() },
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
