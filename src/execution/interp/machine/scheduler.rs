//! Scheduling of tile blocks.
//!
//! A tile block may wait for another one by polling a flag, and the language does not define the order in which tile
//! blocks start. So tile blocks run in time slices, round-robin in the order of their numbers. A slice ends when the
//! tile block finishes, when an atomic or non-weak access returns the same value as the last time (it may be
//! polling), or after [`SLICE_OPS`] ops. If no tile block waits for another, they run one after another.
//!
//! After [`IDLE_ROUNDS`] rounds in which all tile blocks only poll and no byte of memory changes, the run ends with
//! an error. A program that counts its polls could still make progress later, but the interpreter does not wait for
//! that.

use super::control::{Frame, SliceEnd};
use super::promises::Breaches;
use super::{Cause, Datum, Error, Executor, Limits, Machine, Report};
use crate::program::Entry;
use crate::race::Races;
use crate::scalar::Scalar;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Instant;

/// Maximum number of ops in a slice. Few tile blocks exceed it, which limits the number of suspended ones: the values
/// of many would not fit in memory.
const SLICE_OPS: u64 = 1 << 20;
/// Rounds without progress after which the tile blocks count as deadlocked.
const IDLE_ROUNDS: u64 = 1 << 14;

/// A suspended tile block.
struct TileBlock<'p> {
    position: [u32; 3],
    values: Vec<Datum>,
    breaches: Breaches,
    stack: Vec<Frame<'p>>,
}

impl<'p> TileBlock<'p> {
    fn new(entry: &'p Entry, position: [u32; 3], args: &[u64]) -> TileBlock<'p> {
        let mut values = vec![Datum::Unset; entry.types.len()];
        for (v, bits) in entry.body.arguments.iter().zip(args) {
            values[v.index()] = Datum::Tile(Rc::new(vec![Scalar::exact(*bits)]));
        }
        TileBlock { position, values, breaches: Breaches::default(), stack: vec![Frame::outermost(&entry.body)] }
    }
}

/// All positions of a grid, in the order of tile block numbers.
fn positions(grid: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [nx, ny, nz] = grid;
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
}

impl Machine<'_> {
    /// Runs all tile blocks of a launch to completion.
    pub(super) fn run_all(
        &mut self,
        entry: &Entry,
        grid: [u32; 3],
        args: &[u64],
        limits: Limits,
        report: &mut Report,
    ) -> Result<(), Error> {
        let stride_only = super::promises::stride_only(entry);
        let mut races = limits.races.then(Races::default);
        let deadline = limits.time.and_then(|t| Instant::now().checked_add(t));
        let mut fresh = positions(grid);
        let mut started: VecDeque<TileBlock<'_>> = VecDeque::new();
        let mut idle = 0;
        while let Some(mut block) =
            fresh.next().map(|at| TileBlock::new(entry, at, args)).or_else(|| started.pop_front())
        {
            let changes = self.memory.changes();
            let mut run = Executor {
                entry,
                memory: &mut self.memory,
                races: races.as_mut(),
                globals: &self.globals,
                sums: &mut self.sums,
                host: &self.host,
                values: std::mem::take(&mut block.values),
                breaches: std::mem::take(&mut block.breaches),
                broken_promises: &mut self.broken_promises,
                stride_only: &stride_only,
                waits: false,
                rounded: None,
                location: "".into(),
                block: block.position,
                grid,
                limits,
                deadline,
                report,
            };
            let end = run.run_slice(&mut block.stack, SLICE_OPS);
            let waits = match end {
                Ok(SliceEnd::Done(_)) => {
                    idle = 0;
                    continue;
                }
                Ok(SliceEnd::Stopped) => Ok(false),
                Ok(SliceEnd::Waiting) => Ok(true),
                Err(e) => Err(e),
            };
            let is_idle = matches!(waits, Ok(true)) && run.memory.changes() == changes;
            idle = if is_idle { idle + 1 } else { 0 };
            let stuck = (idle > IDLE_ROUNDS.saturating_mul(started.len() as u64 + 1)).then(|| {
                let op = block.stack.last().and_then(Frame::last_op);
                op.map(|op| {
                    run.error(
                        op,
                        Cause::Limit("deadlock: every tile block waits for a write that no tile block performs".into()),
                    )
                })
            });
            match (waits, stuck.flatten()) {
                (Ok(_), None) => {
                    (block.values, block.breaches) = (run.values, run.breaches);
                    started.push_back(block);
                }
                (Err(e), _) | (_, Some(e)) => {
                    run.leave_all(block.stack);
                    started.into_iter().for_each(|other| run.leave_all(other.stack));
                    return Err(e);
                }
            }
        }
        Ok(())
    }
}
