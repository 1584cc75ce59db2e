//! Explores all interleavings one by one; the oracle that tests [`Program::check`].
//!
//! The exploration is deliberately naive. A state consists of the position of every agent, the contents of every
//! barrier and stage, and the copies in flight. A step is one operation of one agent, the completion of one copy, or
//! the delivery of an arrival that waited for copies. Faults are what an execution would show: a read of a stage that
//! is being written or holds data of another iteration, a write to a stage in use, too many arrivals, an agent that
//! waits while the phase that would release it comes and goes, or no possible step before the end. Proxy fences have
//! no effect here.
//!
//! Operations that are waited for by group complete at the wait. Earlier completion would allow more steps, but any
//! fault that it exposes also occurs with late completion.

use rustc_hash::FxHashSet;

use crate::code::{Cursor, Inst, flatten};
use crate::program::{Expr, Op, Place, Program, StageAccess};
use crate::violation::ViolationKind;

/// The result of an exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No interleaving goes wrong.
    Right,
    /// Some interleaving goes wrong.
    Wrong(ViolationKind),
    /// The number of states exceeds the limit.
    TooLarge,
}

/// Explores a program for all values of its parameters, with up to `limit` states for each.
pub fn explore(program: &Program, limit: usize) -> Outcome {
    let result = program.for_all_parameters(|parameters| match Explorer::new(program, parameters).run(limit) {
        Outcome::Right => Ok(()),
        other => Err(other),
    });
    result.err().unwrap_or(Outcome::Right)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    agents: Vec<Cursor>,
    /// The parity of the generation of the named barrier at which the agent has arrived.
    syncing: Vec<Option<bool>>,
    open: Vec<[Vec<StageUse>; 3]>,
    committed: Vec<[Vec<Vec<StageUse>>; 3]>,
    barriers: Vec<BarrierState>,
    cells: Vec<CellState>,
    copies: Vec<CopyState>,
    arrivals: Vec<ArrivalState>,
}

/// An arrival that waits for operations an agent had started. Arrivals for one agent and engine are in the order of
/// their operations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ArrivalState {
    /// The agent and the engine.
    of: (usize, usize),
    slot: usize,
    count: u32,
    using: Vec<StageUse>,
}

type StageUse = (usize, StageAccess, (usize, i64));

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct BarrierState {
    pending: u32,
    bytes: i64,
    odd: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct CellState {
    contents: Option<(usize, i64)>,
    /// The contents that the last write brings.
    writing: Option<(usize, i64)>,
    readers: u8,
    writers: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct CopyState {
    slot: usize,
    bytes: i64,
    cells: (usize, usize),
    contents: (usize, i64),
}

struct Explorer<'a> {
    program: &'a Program,
    parameters: &'a [i64],
    code: Vec<Vec<Inst<'a>>>,
    counts: Vec<u32>,
}

impl<'a> Explorer<'a> {
    fn new(program: &'a Program, parameters: &'a [i64]) -> Self {
        let mut counts = vec![0; program.slots];
        for (slots, count) in program.barriers.iter().map(|b| (&b.slots, b.count)) {
            counts[slots.clone()].fill(count);
        }
        for (slots, count) in program.named.iter().map(|b| (&b.slots, b.threads)) {
            counts[slots.clone()].fill(count);
        }
        Self { program, parameters, code: program.agents.iter().map(|a| flatten(&a.body)).collect(), counts }
    }

    fn run(&self, limit: usize) -> Outcome {
        let n = self.program.agents.len();
        let start = State {
            agents: vec![Cursor::new(self.program.variables); n],
            syncing: vec![None; n],
            open: vec![Default::default(); n],
            committed: vec![Default::default(); n],
            barriers: self.counts.iter().map(|&pending| BarrierState { pending, bytes: 0, odd: false }).collect(),
            cells: vec![CellState::default(); self.program.cells],
            copies: Vec::new(),
            arrivals: Vec::new(),
        };
        let mut seen = FxHashSet::default();
        let mut work = vec![start];
        while let Some(mut state) = work.pop() {
            // Advances to the next visible operation, so that equivalent states compare equal.
            for (cursor, code) in state.agents.iter_mut().zip(&self.code) {
                cursor.next(code, self.parameters);
            }
            if !seen.insert(state.clone()) {
                continue;
            }
            if seen.len() > limit {
                return Outcome::TooLarge;
            }
            let before = work.len();
            let steps = (0..n).map(|a| self.agent_step(&state, a));
            let copies = (0..state.copies.len()).map(|c| self.copy_step(&state, c).map(Some));
            let arrivals = (0..state.arrivals.len()).map(|a| self.arrival_step(&state, a).map(Some));
            for step in steps.chain(copies).chain(arrivals) {
                match step {
                    Ok(next) => work.extend(next),
                    Err(kind) => return Outcome::Wrong(kind),
                }
            }
            if work.len() == before
                && let Some(kind) = self.end(&state)
            {
                return Outcome::Wrong(kind);
            }
        }
        Outcome::Right
    }

    /// The state after an agent's next operation, or `None` if the agent has to wait or is done.
    fn agent_step(&self, state: &State, agent: usize) -> Result<Option<State>, ViolationKind> {
        let mut cursor = state.agents[agent].clone();
        let Some(op) = cursor.next(&self.code[agent], self.parameters) else { return Ok(None) };
        let mut next = state.clone();
        let value = |e: &Expr| e.eval(&cursor.variables, self.parameters);
        let index = |place: &Place, len: usize| {
            usize::try_from(value(&place.slot)).ok().filter(|&i| i < len).ok_or(ViolationKind::NoSuchSlot)
        };
        let barrier = |place: &Place| {
            let slots = &self.program.barriers[place.array.0].slots;
            Ok(slots.start + index(place, slots.len())?)
        };
        let named = |place: &Place| {
            let slots = &self.program.named[place.array.0].slots;
            Ok(slots.start + index(place, slots.len())?)
        };
        let cells = |place: &Place| {
            let cells = &self.program.storages[place.array.0].cells;
            Ok(cells[index(place, cells.len())?].clone())
        };
        match op {
            Op::Wait { barrier: b, parity } => {
                if i64::from(state.barriers[barrier(b)?].odd) == value(parity) {
                    return Ok(None);
                }
            }
            Op::Sync(place) => {
                let slot = named(place)?;
                match state.syncing[agent] {
                    Some(odd) if odd == state.barriers[slot].odd => return Ok(None),
                    Some(_) => next.syncing[agent] = None,
                    None => {
                        next.syncing[agent] = Some(state.barriers[slot].odd);
                        self.arrive(&mut next, slot, self.program.agents[agent].threads)?;
                        return Ok(Some(next));
                    }
                }
            }
            Op::Post(place) => self.arrive(&mut next, named(place)?, self.program.agents[agent].threads)?,
            Op::Arrive { barrier: b, count } => self.arrive(&mut next, barrier(b)?, *count)?,
            Op::Expect { barrier: b, bytes } => next.barriers[barrier(b)?].bytes += i64::from(*bytes),
            Op::Copy { into, tag, bytes, barrier: b } => {
                let (range, contents) = (cells(into)?, (into.array.0, value(tag)));
                for cell in range.clone() {
                    start(&mut next.cells[cell], StageAccess::Write, contents, [0; 2])?;
                }
                let slot = barrier(b)?;
                next.copies.push(CopyState {
                    slot,
                    bytes: i64::from(*bytes),
                    cells: (range.start, range.end),
                    contents,
                });
                next.copies.sort();
            }
            Op::ArriveAfter { engine, barrier: b, count } => {
                let mut using: Vec<StageUse> = next.committed[agent][*engine as usize].drain(..).flatten().collect();
                using.append(&mut next.open[agent][*engine as usize]);
                next.arrivals.push(ArrivalState {
                    of: (agent, *engine as usize),
                    slot: barrier(b)?,
                    count: *count,
                    using,
                });
                next.arrivals.sort_by_key(|a| a.of);
            }
            Op::Begin { engine, access, place, tag } => {
                let contents = (place.array.0, value(tag));
                for cell in cells(place)? {
                    // The engine executes the operations of an agent in order.
                    let before = in_flight(&next, (agent, *engine as usize), cell);
                    start(&mut next.cells[cell], *access, contents, before)?;
                    next.open[agent][*engine as usize].push((cell, *access, contents));
                }
            }
            Op::Commit(engine) => {
                let group = std::mem::take(&mut next.open[agent][*engine as usize]);
                next.committed[agent][*engine as usize].push(group);
            }
            Op::WaitGroups { engine, pending } => {
                let groups = &mut next.committed[agent][*engine as usize];
                let done = groups.len().saturating_sub(*pending as usize);
                for (cell, access, contents) in groups.drain(..done).flatten() {
                    finish(&mut next.cells[cell], access, contents);
                }
            }
            Op::Read { from: place, tag } | Op::Write { into: place, tag } => {
                let access = if matches!(op, Op::Read { .. }) { StageAccess::Read } else { StageAccess::Write };
                let contents = (place.array.0, value(tag));
                for cell in cells(place)? {
                    start(&mut next.cells[cell], access, contents, [0; 2])?;
                    finish(&mut next.cells[cell], access, contents);
                }
            }
            Op::Fence | Op::Set(..) | Op::Loop { .. } | Op::If { .. } => {}
        }
        cursor.pc += 1;
        next.agents[agent] = cursor;
        Ok(Some(next))
    }

    fn copy_step(&self, state: &State, copy: usize) -> Result<State, ViolationKind> {
        let mut next = state.clone();
        let done = next.copies.remove(copy);
        for cell in done.cells.0..done.cells.1 {
            finish(&mut next.cells[cell], StageAccess::Write, done.contents);
        }
        next.barriers[done.slot].bytes -= done.bytes;
        self.complete_phase(&mut next, done.slot)?;
        Ok(next)
    }

    fn arrival_step(&self, state: &State, arrival: usize) -> Result<State, ViolationKind> {
        let mut next = state.clone();
        let done = next.arrivals.remove(arrival);
        // Operations of earlier arrivals are done too, although these arrivals may still be missing.
        let earlier = next.arrivals[..arrival].iter_mut().filter(|a| a.of == done.of);
        let using: Vec<StageUse> = earlier.flat_map(|a| std::mem::take(&mut a.using)).chain(done.using).collect();
        for (cell, access, contents) in using {
            finish(&mut next.cells[cell], access, contents);
        }
        self.arrive(&mut next, done.slot, done.count)?;
        Ok(next)
    }

    fn arrive(&self, state: &mut State, slot: usize, count: u32) -> Result<(), ViolationKind> {
        let pending = &mut state.barriers[slot].pending;
        *pending = pending.checked_sub(count).ok_or(ViolationKind::TooManyArrivals)?;
        self.complete_phase(state, slot)
    }

    fn complete_phase(&self, state: &mut State, slot: usize) -> Result<(), ViolationKind> {
        let barrier = state.barriers[slot];
        if barrier.pending > 0 || barrier.bytes != 0 {
            return Ok(());
        }
        // Detects an agent at a wait that it could have passed and no longer can.
        for (agent, cursor) in state.agents.iter().enumerate() {
            let mut cursor = cursor.clone();
            if let Some(Op::Wait { barrier: b, parity }) = cursor.next(&self.code[agent], self.parameters) {
                let array = &self.program.barriers[b.array.0].slots;
                let at = b.slot.eval(&cursor.variables, self.parameters);
                let parity = parity.eval(&cursor.variables, self.parameters);
                if array.start as i64 + at == slot as i64 && parity != i64::from(barrier.odd) {
                    return Err(ViolationKind::MissedPhase);
                }
            }
        }
        state.barriers[slot] = BarrierState { pending: self.counts[slot], bytes: 0, odd: !barrier.odd };
        Ok(())
    }

    /// Returns what is wrong with a state without successors.
    fn end(&self, state: &State) -> Option<ViolationKind> {
        let done = state.agents.iter().zip(&self.code).all(|(c, code)| c.pc >= code.len());
        let whole = state.barriers.iter().zip(&self.counts).all(|(b, &count)| b.pending == count && b.bytes == 0);
        if !done {
            Some(ViolationKind::Deadlock)
        } else if !whole {
            Some(ViolationKind::NotQuiescent)
        } else if state.cells.iter().any(|c| c.readers + c.writers > 0) {
            Some(ViolationKind::UnfinishedAtExit)
        } else {
            None
        }
    }
}

/// The reads and the writes of a cell that an engine has not finished for an agent.
fn in_flight(state: &State, (agent, engine): (usize, usize), cell: usize) -> [u8; 2] {
    let open = state.open[agent][engine].iter().chain(state.committed[agent][engine].iter().flatten());
    let arrivals = state.arrivals.iter().filter(|a| a.of == (agent, engine)).flat_map(|a| &a.using);
    let mut found = [0; 2];
    for (_, access, _) in open.chain(arrivals).filter(|(at, ..)| *at == cell) {
        found[usize::from(!access.reads())] += 1;
    }
    found
}

/// Starts an access, before which the same engine has these reads and writes in flight.
fn start(
    cell: &mut CellState,
    access: StageAccess,
    contents: (usize, i64),
    [reads, writes]: [u8; 2],
) -> Result<(), ViolationKind> {
    let is_free = match access {
        StageAccess::Accumulate => cell.readers == reads && (cell.writers == 0 || cell.writing == Some(contents)),
        _ => cell.readers + cell.writers == 0,
    };
    match access {
        StageAccess::ReadInOrder if writes > 0 && cell.writers == writes && cell.writing == Some(contents) => {
            cell.readers += 1;
            Ok(())
        }
        StageAccess::ReadInOrder => start(cell, StageAccess::Read, contents, [reads, writes]),
        StageAccess::Read if cell.writers > 0 => Err(ViolationKind::ReadBeforeFull),
        StageAccess::Read if cell.contents.is_none() => Err(ViolationKind::NeverWritten),
        StageAccess::Read if cell.contents != Some(contents) => Err(ViolationKind::WrongContents),
        StageAccess::Read => {
            cell.readers += 1;
            Ok(())
        }
        StageAccess::Write | StageAccess::Accumulate if !is_free => Err(ViolationKind::Overwritten),
        StageAccess::Write | StageAccess::Accumulate => {
            cell.writers += 1;
            cell.writing = Some(contents);
            Ok(())
        }
    }
}

fn finish(cell: &mut CellState, access: StageAccess, contents: (usize, i64)) {
    match access {
        StageAccess::Read | StageAccess::ReadInOrder => cell.readers -= 1,
        StageAccess::Write | StageAccess::Accumulate => {
            cell.writers -= 1;
            cell.contents = Some(contents);
        }
    }
}
