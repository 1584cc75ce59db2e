//! Modulo scheduling of loops, independent of MLIR.
//!
//! A software-pipelined loop starts an iteration before the previous one has ended. A *modulo schedule* gives each
//! operation of the body a time; iteration `i` starts it `i` *intervals* later. The time divided by the interval is
//! the operation's *stage*: by how many iterations it lags the newest one. The remainder is its *row*, the clock
//! within each interval. Two operations that occupy the same unit must not overlap in a row, and a value must arrive
//! before its use, which may be some iterations later, as its edge says.
//!
//! ```text
//! interval 4             row 0     row 1     row 2     row 3
//! copy     time 0        copy i+2
//! dot      time 5                  dot i+1
//! add      time 10                           add i
//! ```
//!
//! # The model
//!
//! * Pools of units ([`Pool`]). An operation's footprint says which units it occupies, from when and for how long.
//! * Agents ([`Agent`]), such as a producer and consumers. An agent issues one operation at a time and holds values
//!   in its own registers. An edge between two agents costs more than one within an agent.
//! * Groups ([`Group`]) of operations that stay in one stage, within a maximum distance from the stage of a leader.
//! * Rings of stages ([`rings`]), which agents fill and empty: how many stages a schedule needs, and the edges that
//!   limit it to fewer.
//!
//! # The algorithm
//!
//! The interval starts at the larger of two lower bounds ([`bounds`](bounds::minimum)): the clocks for which the
//! units are busy, and the length of the recurrences. It grows until [`place`](place::place) finds a slot for every
//! operation. Short intervals grow by one clock; long ones grow by up to a 64th and are then refined by bisection.
//! Loops can also be searched exhaustively: by the order of operations on units ([`disjunctive`]), which proves that
//! an interval is the smallest, or small loops row by row ([`exact`]). [`Schedule::check`] verifies any
//! schedule against its loop, with a few lines that share no code with the search.
//!
//! ```
//! use tile_schedule::{Agent, Edge, Graph, Node, Pool, Reservation, Settings, overlap};
//!
//! let node = |name: &str, pool, clocks| Node {
//!     name: name.into(),
//!     footprint: vec![Reservation { pool, start: 0, clocks }],
//!     ..Node::default()
//! };
//! let edge = |from, to, latency| Edge { from, to, latency, distance: 0, crossing: 0, value: true };
//! let graph = Graph {
//!     pools: vec![Pool { name: "copies".into(), units: 1 }, Pool { name: "dots".into(), units: 1 }],
//!     agents: vec![Agent { name: "all".into(), registers: None }],
//!     nodes: vec![node("load", 0, 3), node("multiply", 1, 4), node("store", 0, 1)],
//!     edges: vec![edge(0, 1, 20), edge(1, 2, 9)],
//!     groups: vec![],
//! };
//! let schedule = overlap(&graph, &Settings::default())?;
//! // Both units are always busy, and eight iterations are in flight.
//! assert_eq!((schedule.interval, schedule.stages()), (4, 8));
//! # Ok::<(), tile_schedule::Failure>(())
//! ```
#![forbid(unsafe_code)]

pub mod bounds;
pub mod disjunctive;
pub mod exact;
mod graph;
mod lifetimes;
pub mod place;
pub mod report;
pub mod rings;
mod searched;
mod solve;
mod table;

pub use bounds::Bound;
pub use graph::{Agent, Edge, Graph, GraphError, Group, Node, Pool, Reservation};
pub use solve::{
    Effort, End, Failure, Infeasible, MIN_NODES, Method, Obstacle, Schedule, Settings, overlap, serial, solve,
};
