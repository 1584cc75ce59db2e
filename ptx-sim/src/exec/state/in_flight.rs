//! Asynchronous operations in flight: their effects, their signals, and the data that they have already read.

use super::location::Location;
use super::phases::Phases;
use super::race::Origin;
use crate::ir::{AtomOp, Type};
use crate::units::{Coordinates, ReduceOp, ReduceType, TensorMap};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The signal that an operation sends when it has been applied: CTA slot and shared offset of an mbarrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub cta: usize,
    pub offset: u32,
    pub kind: SignalKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum SignalKind {
    /// `complete_tx` of that many bytes.
    Bytes(u32),
    /// That many arrivals.
    Arrivals(u32),
}

/// Owned coordinates of a TMA copy.
#[derive(Clone, Debug)]
pub(crate) enum Coords {
    Tile(Vec<i32>),
    Im2col { base: Vec<i32>, offsets: Vec<u16> },
    Rows4 { column: i32, rows: [i32; 4] },
}

impl Coords {
    pub fn borrow(&self) -> Coordinates<'_> {
        match self {
            Coords::Tile(c) => Coordinates::Tile(c),
            Coords::Im2col { base, offsets } => Coordinates::Im2col { base, offsets },
            Coords::Rows4 { column, rows } => Coordinates::Rows4 { column: *column, rows: *rows },
        }
    }
}

/// One element copy of `cp.async`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneCopy {
    pub src: Location,
    pub dst: Location,
    pub bytes: u32,
    /// Bytes read; the rest of the destination is filled with zeros.
    pub src_bytes: u32,
}

/// The effect of an operation.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Lanes(Vec<LaneCopy>),
    Copy {
        src: Location,
        dsts: SmallVec<[Location; 2]>,
        bytes: u32,
        byte_mask: Option<u16>,
    },
    BulkReduce {
        src: Location,
        dst: Location,
        bytes: u32,
        op: ReduceOp,
        ty: ReduceType,
    },
    TensorLoad {
        map: Box<TensorMap>,
        coords: Coords,
        dsts: SmallVec<[(usize, u32); 2]>,
    },
    TensorStore {
        map: Box<TensorMap>,
        coords: Coords,
        src: (usize, u32),
        reduce: Option<ReduceOp>,
    },
    Store {
        dst: Location,
        bytes: Vec<u8>,
        /// Whether this is the answer to a request of cluster launch control.
        answer: bool,
    },
    Reduce {
        dst: Location,
        op: AtomOp,
        ty: Type,
        value: u64,
    },
    /// The completion of the `tcgen05` operations that a thread has started so far: warp and lane.
    Commit(u32, u8),
}

/// A write whose source has already been read.
#[derive(Clone, Debug)]
pub(crate) enum Staged {
    Write(Location, Vec<u8>),
    Reduce(Location, ReduceOp, ReduceType, u64),
    Atomic(Location, AtomOp, Type, u64),
}

/// An operation in flight.
#[derive(Clone, Debug)]
pub(crate) struct AsyncOp {
    pub work: Work,
    pub signals: SmallVec<[Signal; 2]>,
    pub origin: Origin,
    pub func: u32,
    pub cta_id: [u32; 3],
    pub thread: [u32; 3],
    /// Whether it goes through the asynchronous proxy (all but `cp.async`).
    pub proxy: bool,
    pub race_agent: Option<u32>,
    pub staged: Option<Vec<Staged>>,
}

/// The operations in flight, by issue number.
#[derive(Debug)]
pub(crate) struct AsyncEngine {
    pub late: bool,
    pub next: u64,
    pub pending: BTreeMap<u64, AsyncOp>,
    /// Arrivals that wait for the listed operations.
    pub arrivals: Vec<(Vec<u64>, Signal)>,
    pub phases: Phases,
}

impl AsyncEngine {
    pub fn new(late: bool) -> AsyncEngine {
        AsyncEngine { late, next: 1, pending: BTreeMap::new(), arrivals: Vec::new(), phases: Phases::default() }
    }

    /// The operation in flight that will write `target`.
    pub fn writer(&self, target: Location) -> Option<&AsyncOp> {
        self.pending.values().find(|op| op.covers(target))
    }

    /// Whether an operation in flight accesses the shared memory of these CTA slots.
    pub fn uses_ctas(&self, ctas: &std::ops::Range<usize>) -> bool {
        self.pending.values().any(|op| op.touches(ctas))
    }

    pub fn describe_pending(&self) -> Vec<String> {
        self.pending
            .values()
            .map(|op| format!("an asynchronous operation of line {} is in flight", op.origin.line))
            .collect()
    }

    /// Returns a number for an operation that completes immediately, in the issue order of the others.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    pub fn is_pending(&self, id: u64) -> bool {
        self.pending.contains_key(&id)
    }
}

impl AsyncOp {
    fn covers(&self, target: Location) -> bool {
        let within = |start: Location, len: u64| match (start, target) {
            (Location::Shared { cta: a, offset: s }, Location::Shared { cta: b, offset: t }) => {
                a == b && t >= s && u64::from(t - s) < len
            }
            (Location::Global(s), Location::Global(t)) => t >= s && t - s < len,
            _ => false,
        };
        match &self.work {
            Work::Lanes(list) => list.iter().any(|l| within(l.dst, l.bytes.into())),
            Work::Copy { dsts, bytes, .. } => dsts.iter().any(|d| within(*d, u64::from(*bytes))),
            Work::TensorLoad { map, coords, dsts } => {
                let len = u64::from(map.box_bytes(&coords.borrow()));
                dsts.iter().any(|(cta, offset)| within(Location::Shared { cta: *cta, offset: *offset }, len))
            }
            Work::Store { dst, bytes, .. } => within(*dst, bytes.len() as u64),
            _ => false,
        }
    }

    fn touches(&self, ctas: &std::ops::Range<usize>) -> bool {
        let shared = |p: &Location| matches!(p, Location::Shared { cta, .. } if ctas.contains(cta));
        let signals = self.signals.iter().any(|s| ctas.contains(&s.cta));
        signals
            || match &self.work {
                Work::Lanes(list) => list.iter().any(|l| shared(&l.dst)),
                Work::Copy { src, dsts, .. } => shared(src) && self.staged.is_none() || dsts.iter().any(shared),
                Work::BulkReduce { src, dst, .. } => shared(src) && self.staged.is_none() || shared(dst),
                Work::TensorLoad { dsts, .. } => dsts.iter().any(|(c, _)| ctas.contains(c)),
                Work::TensorStore { src, .. } => self.staged.is_none() && ctas.contains(&src.0),
                Work::Store { dst, .. } | Work::Reduce { dst, .. } => shared(dst),
                Work::Commit(..) => false,
            }
    }
}
