//! Modulo scheduling of loops. Knows nothing of MLIR.
//!
//! A loop is software-pipelined when an iteration begins before the one in front of it has ended. A *modulo schedule*
//! gives each operation of the body one time; iteration `i` does it `i` *intervals* later. Divided by the interval, the
//! time says in which *stage* the operation is, how many iterations behind the newest one; what remains is its *row*,
//! the clock in each interval. Two operations that keep one unit busy must not meet in a row, and a value must arrive
//! before it is used, in the same iteration or so many later as its edge says.
//!
//! ```text
//! interval 4             row 0     row 1     row 2     row 3
//! copy     time 0        copy i+2
//! product  time 5                  product i+1
//! add      time 10                           add i
//! ```
//!
//! # What is modelled
//!
//! * Pools of units ([`Pool`]). An operation's footprint says which it keeps busy, from when, for how long.
//! * Agents ([`Agent`]): programs that issue one operation at a time, and hold values in registers of their own. An
//!   edge between two agents costs more than one within an agent.
//! * Groups ([`Group`]), whose operations stay in one stage, at most so many stages behind a leader's.
//! * Rings of stages ([`rings`]), which agents fill and empty: how many stages a schedule takes, and what holds it to
//!   fewer.
//!
//! # How it is solved
//!
//! The interval starts at the larger of two bounds ([`bounds`](bounds::minimum)), what the units are busy for and what
//! values that come round take, and grows until [`place`](place::place) finds places for all: by one, or by less than a
//! hundredth and back by halves. Loops of up to [`exact::MAX_NODES`] operations can be searched exhaustively as well.
//! Every schedule can be checked against its loop by a few lines that share nothing with the search
//! ([`Schedule::check`]).
//!
//! ```
//! use tile_schedule::{Agent, Edge, Graph, Node, Pool, Settings, Reservation, overlap};
//!
//! let node = |name: &str, pool, clocks| Node {
//!     name: name.into(),
//!     footprint: vec![Reservation { pool, start: 0, clocks }],
//!     ..Node::default()
//! };
//! let edge = |from, to, latency| Edge { from, to, latency, distance: 0, crossing: 0, value: true };
//! let graph = Graph {
//!     pools: vec![Pool { name: "copies".into(), units: 1 }, Pool { name: "products".into(), units: 1 }],
//!     agents: vec![Agent { name: "all".into(), registers: None }],
//!     nodes: vec![node("load", 0, 3), node("multiply", 1, 4), node("store", 0, 1)],
//!     edges: vec![edge(0, 1, 20), edge(1, 2, 9)],
//!     groups: vec![],
//! };
//! let schedule = overlap(&graph, &Settings::default())?;
//! // Both units are always busy, and nine iterations are under way.
//! assert_eq!((schedule.interval, schedule.stages()), (4, 8));
//! # Ok::<(), tile_schedule::Failure>(())
//! ```
#![forbid(unsafe_code)]

pub mod bounds;
pub mod exact;
mod graph;
mod lifetimes;
pub mod place;
pub mod report;
pub mod rings;
mod solve;
mod table;

pub use bounds::Bound;
pub use graph::{Agent, Edge, Graph, GraphError, Group, Node, Pool, Reservation};
pub use solve::{Failure, Infeasible, MIN_NODES, Method, Obstacle, Schedule, Settings, overlap, serial, solve};
