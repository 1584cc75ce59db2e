//! One run of a program with vector clocks, which represents all interleavings; see the crate documentation.
//!
//! Agents run one at a time, each as far as possible. Copies complete only when no agent can proceed. Any order would
//! do; this one makes copies late.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::clock::{Clock, Event};
use crate::code::{Cursor, Inst};
use crate::program::{Engine, Expr, Op, Place, Program, StageAccess};
use crate::storage::{Cell, Clash, End, Ends, Knowledge, Proxy, Span};
use crate::violation::{Violation, ViolationKind};

#[derive(Clone)]
pub struct Run<'a> {
    program: &'a Program,
    /// The code of each agent.
    code: &'a [Vec<Inst<'a>>],
    /// The minimum and maximum values of the parameters that reach this point of the run.
    least: Vec<i64>,
    most: Vec<i64>,
    agents: Vec<AgentState>,
    slots: Vec<BarrierSlot>,
    cells: Vec<Cell>,
    copies: VecDeque<InFlight>,
    /// For each operation of an engine, by number, the events that imply that it is done: a wait, or a phase that
    /// counts on it.
    groups: Vec<Ends>,
    /// The number of groups at which unused ones are removed.
    most_groups: usize,
    /// Recorded only in the second run, which explains a fault.
    trace: Option<Vec<Traced>>,
}

/// The numbers of groups that are committed together.
type Numbers = SmallVec<[usize; 4]>;

#[derive(Clone)]
struct AgentState {
    cursor: Cursor,
    clock: Clock,
    /// The events before the last proxy fence that the agent knows of.
    fenced: Clock,
    open: [Numbers; 3],
    committed: [VecDeque<Numbers>; 3],
    /// The generation of the named barrier at which the agent has arrived and waits.
    syncing: Option<u32>,
}

/// A barrier of either kind.
#[derive(Clone)]
struct BarrierSlot {
    count: u32,
    pending: u32,
    bytes: i64,
    /// Number of complete phases.
    phase: u32,
    /// Knowledge of the arrivals of the current phase.
    arrived: Clock,
    arrived_fenced: Clock,
    /// Knowledge available once the last phase is complete.
    done: Clock,
    done_fenced: Clock,
    announced: Vec<Event>,
    /// Waits that passed on the last complete phase.
    waits: Vec<Event>,
}

/// A copy in flight, or an arrival that waits for copies.
#[derive(Clone)]
struct InFlight {
    slot: usize,
    bytes: i64,
    arrivals: u32,
    clock: Clock,
    event: Event,
    text: String,
}

#[derive(Clone)]
struct Traced {
    event: Option<Event>,
    /// For the end of a copy: the barrier's clock entry, and the number of phases whose completion needs it.
    phase: Option<(usize, u32)>,
    clock: Clock,
    text: String,
}

/// Number of groups that are kept without a look at who refers to them.
const FEW_GROUPS: usize = 8;

/// A violation before it is explained.
struct Fault {
    kind: ViolationKind,
    message: String,
    /// Events that must happen before.
    pasts: Vec<Clock>,
    /// The operations that then go wrong, in this order.
    order: Vec<Event>,
    everything: bool,
}

impl Fault {
    fn new(kind: ViolationKind, message: String, order: Vec<Event>) -> Self {
        Self { kind, message, pasts: Vec::new(), order, everything: false }
    }
}

type StepResult<T> = Result<T, Box<Fault>>;

/// Why a run stops.
enum Stop {
    Fault(Box<Fault>),
    /// The run depends on a parameter, given by its number.
    Open(usize),
}

impl From<Box<Fault>> for Stop {
    fn from(fault: Box<Fault>) -> Self {
        Self::Fault(fault)
    }
}

impl<'a> Run<'a> {
    pub fn new(program: &'a Program, code: &'a [Vec<Inst<'a>>], least: Vec<i64>, most: Vec<i64>) -> Self {
        let entries = program.agents.len() + program.slots;
        let clock = || Clock::new(entries);
        let agent = |_| AgentState {
            cursor: Cursor::new(program.variables),
            clock: clock(),
            fenced: clock(),
            open: Default::default(),
            committed: Default::default(),
            syncing: None,
        };
        let slot = |count: u32| BarrierSlot {
            count,
            pending: count,
            bytes: 0,
            phase: 0,
            arrived: clock(),
            arrived_fenced: clock(),
            done: clock(),
            done_fenced: clock(),
            announced: Vec::new(),
            waits: Vec::new(),
        };
        // In the order of the program's numbering.
        let mut arrays: Vec<_> = program.barriers.iter().map(|b| (&b.slots, b.count)).collect();
        arrays.extend(program.named.iter().map(|n| (&n.slots, n.threads)));
        arrays.sort_by_key(|(slots, _)| slots.start);
        let slots = arrays.into_iter().flat_map(|(slots, count)| slots.clone().map(move |_| slot(count)));
        Self {
            program,
            code,
            least,
            most,
            agents: program.agents.iter().map(agent).collect(),
            slots: slots.collect(),
            cells: vec![Cell::default(); program.cells],
            copies: VecDeque::new(),
            groups: Vec::new(),
            most_groups: FEW_GROUPS,
            trace: None,
        }
    }

    /// Runs to the end. When the run depends on a parameter, continues once for each value, from the smallest.
    pub fn check(self) -> Result<(), Box<Violation>> {
        let mut runs = vec![self];
        while let Some(mut run) = runs.pop() {
            match run.run() {
                Ok(()) => {}
                Err(Stop::Open(parameter)) => {
                    let mut more = run.clone();
                    more.least[parameter] += 1;
                    run.most[parameter] = run.least[parameter];
                    runs.extend([more, run]);
                }
                Err(Stop::Fault(fault)) => return Err(Box::new(run.explained(*fault))),
            }
        }
        Ok(())
    }

    /// Repeats the run from the start with tracing. The run and its fault are the same.
    fn explained(self, fault: Fault) -> Violation {
        let mut again = Run::new(self.program, self.code, self.least.clone(), self.least.clone());
        again.trace = Some(Vec::new());
        match again.run() {
            Err(Stop::Fault(fault)) => again.explain(*fault),
            Ok(()) | Err(Stop::Open(_)) => self.explain(fault),
        }
    }

    fn run(&mut self) -> Result<(), Stop> {
        loop {
            let mut moved = false;
            for agent in 0..self.agents.len() {
                while self.step(agent)? {
                    moved = true;
                }
            }
            if !moved {
                match self.copies.pop_front() {
                    Some(copy) => self.finish_copy(copy)?,
                    None => return Ok(self.check_end()?),
                }
            }
        }
    }

    /// Executes an agent's next operation; returns false if the agent has to wait or is done.
    fn step(&mut self, agent: usize) -> Result<bool, Stop> {
        let next = self.agents[agent].cursor.next_within(&self.code[agent], &self.least, &self.most);
        let Some(op) = next.map_err(Stop::Open)? else { return Ok(false) };
        match op {
            Op::Wait { barrier, parity } => {
                let slot = self.barrier(agent, barrier)?;
                if i64::from(self.slots[slot].phase & 1) == self.value(agent, parity) {
                    return Ok(false);
                }
                let event = self.begin(agent, op);
                self.pass(agent, slot, event)?;
            }
            Op::Sync(place) => {
                let slot = self.named(agent, place)?;
                match self.agents[agent].syncing {
                    Some(generation) if self.slots[slot].phase == generation => return Ok(false),
                    Some(_) => {
                        self.agents[agent].syncing = None;
                        self.receive(agent, slot);
                    }
                    None => {
                        let event = self.begin(agent, op);
                        self.agents[agent].syncing = Some(self.slots[slot].phase);
                        self.arrive(agent, slot, self.program.agents[agent].threads, event)?;
                        return Ok(true);
                    }
                }
            }
            _ => {
                let event = self.begin(agent, op);
                self.execute(agent, op, event)?;
            }
        }
        self.agents[agent].cursor.pc += 1;
        Ok(true)
    }

    /// Executes an operation that never waits.
    fn execute(&mut self, agent: usize, op: &Op, event: Event) -> StepResult<()> {
        match op {
            Op::Arrive { barrier, count } => {
                let slot = self.barrier(agent, barrier)?;
                self.arrive(agent, slot, *count, event)
            }
            Op::Post(place) => {
                let slot = self.named(agent, place)?;
                self.arrive(agent, slot, self.program.agents[agent].threads, event)
            }
            Op::Expect { barrier, bytes } => {
                let slot = self.barrier(agent, barrier)?;
                self.must_know_last_phase(agent, slot, event)?;
                self.slots[slot].bytes += i64::from(*bytes);
                self.slots[slot].announced.push(event);
                Ok(())
            }
            Op::Copy { into, tag, bytes, barrier } => {
                let slot = self.barrier(agent, barrier)?;
                self.must_know_last_phase(agent, slot, event)?;
                let end = End::Phase { entry: self.entry(slot), count: self.slots[slot].phase + 1 };
                self.touch(agent, into, tag, StageAccess::Write, Proxy::Asynchronous, Span { start: event, end })?;
                let text = match &self.trace {
                    Some(_) => self.program.describe(op, &self.agents[agent].cursor, &self.least),
                    None => String::new(),
                };
                let clock = self.agents[agent].clock.clone();
                self.copies.push_back(InFlight { slot, bytes: i64::from(*bytes), arrivals: 0, clock, event, text });
                Ok(())
            }
            Op::ArriveAfter { engine, barrier, count } => {
                let slot = self.barrier(agent, barrier)?;
                self.must_know_last_phase(agent, slot, event)?;
                let end = End::Phase { entry: self.entry(slot), count: self.slots[slot].phase + 1 };
                let state = &self.agents[agent];
                let started = state.committed[*engine as usize].iter().flatten().chain(&state.open[*engine as usize]);
                started.for_each(|id| ends(&mut self.groups[*id], end));
                let text = match &self.trace {
                    Some(_) => self.program.describe(op, &state.cursor, &self.least),
                    None => String::new(),
                };
                let clock = state.clock.clone();
                self.copies.push_back(InFlight { slot, bytes: 0, arrivals: *count, clock, event, text });
                Ok(())
            }
            Op::Begin { engine, access, place, tag } => {
                let id = self.new_group();
                self.agents[agent].open[*engine as usize].push(id);
                let proxy = if *engine == Engine::Copy { Proxy::Ordinary } else { Proxy::Asynchronous };
                self.touch(agent, place, tag, *access, proxy, Span { start: event, end: End::Group(id) })
            }
            Op::Commit(engine) => {
                let state = &mut self.agents[agent];
                let group = std::mem::take(&mut state.open[*engine as usize]);
                state.committed[*engine as usize].push_back(group);
                Ok(())
            }
            Op::WaitGroups { engine, pending } => {
                while self.agents[agent].committed[*engine as usize].len() > *pending as usize {
                    for id in self.agents[agent].committed[*engine as usize].pop_front().unwrap_or_default() {
                        ends(&mut self.groups[id], End::At(event));
                    }
                }
                Ok(())
            }
            Op::Read { from: place, tag } => {
                let span = Span { start: event, end: End::At(event) };
                self.touch(agent, place, tag, StageAccess::Read, Proxy::Ordinary, span)
            }
            Op::Write { into: place, tag } => {
                let span = Span { start: event, end: End::At(event) };
                self.touch(agent, place, tag, StageAccess::Write, Proxy::Ordinary, span)
            }
            Op::Fence => {
                let state = &mut self.agents[agent];
                state.fenced.join(&state.clock);
                Ok(())
            }
            // Control flow has become jumps, and `step` handles waits.
            Op::Wait { .. } | Op::Sync(_) | Op::Set(..) | Op::Loop { .. } | Op::If { .. } => Ok(()),
        }
    }

    /// The number of a new group. A run starts thousands, and is copied at each value of a parameter, so it only keeps
    /// groups to which an access refers.
    fn new_group(&mut self) -> usize {
        if self.groups.len() >= self.most_groups {
            let mut groups = Vec::new();
            let mut numbers = vec![None; self.groups.len()];
            let mut renumber = |id: &mut usize| {
                *id = *numbers[*id].get_or_insert_with(|| {
                    groups.push(std::mem::take(&mut self.groups[*id]));
                    groups.len() - 1
                });
            };
            self.cells.iter_mut().for_each(|cell| cell.groups(&mut renumber));
            let lists = |agent: &mut AgentState| {
                let committed = agent.committed.iter_mut().flatten();
                for list in agent.open.iter_mut().chain(committed) {
                    list.retain(|id| {
                        numbers[*id].is_some_and(|number| {
                            *id = number;
                            true
                        })
                    });
                }
                // A wait for the oldest ones would end nothing.
                for all in &mut agent.committed {
                    while all.front().is_some_and(SmallVec::is_empty) {
                        all.pop_front();
                    }
                }
            };
            self.agents.iter_mut().for_each(lists);
            self.groups = groups;
            self.most_groups = FEW_GROUPS.max(2 * self.groups.len());
        }
        self.groups.push(Ends::new());
        self.groups.len() - 1
    }

    /// Passes a wait, which observes the end of the last complete phase.
    fn pass(&mut self, agent: usize, slot: usize, event: Event) -> StepResult<()> {
        let (entry, state) = (self.entry(slot), &self.slots[slot]);
        if self.agents[agent].clock.get(entry) + 1 < state.phase {
            let (name, phase) = (self.name(slot), state.phase - 1);
            let message = format!(
                "a wait for phase {phase} of {name} may pass too early, on an older phase: phase {} may be incomplete",
                phase - 1
            );
            return Err(Box::new(Fault::new(ViolationKind::StaleWait, message, vec![event])));
        }
        self.slots[slot].waits.push(event);
        self.receive(agent, slot);
        Ok(())
    }

    /// Receives the knowledge at the end of a barrier's last phase.
    fn receive(&mut self, agent: usize, slot: usize) {
        let state = &mut self.agents[agent];
        state.clock.join(&self.slots[slot].done);
        state.fenced.join(&self.slots[slot].done_fenced);
        if let Some(last) = self.trace.as_mut().and_then(|t| t.last_mut()) {
            last.clock = state.clock.clone();
        }
    }

    fn must_know_last_phase(&self, agent: usize, slot: usize, event: Event) -> StepResult<()> {
        let state = &self.slots[slot];
        if self.agents[agent].clock.get(self.entry(slot)) >= state.phase {
            return Ok(());
        }
        let (name, phase) = (self.name(slot), state.phase);
        let message =
            format!("an operation for phase {phase} of {name} may come before phase {} is complete", phase - 1);
        Err(Box::new(Fault::new(ViolationKind::EarlyArrival, message, vec![event])))
    }

    fn arrive(&mut self, agent: usize, slot: usize, count: u32, event: Event) -> StepResult<()> {
        if count > self.slots[slot].pending {
            return Err(self.too_many(count, slot, event));
        }
        self.must_know_last_phase(agent, slot, event)?;
        let (state, from) = (&mut self.slots[slot], &self.agents[agent]);
        state.pending -= count;
        state.arrived.join(&from.clock);
        state.arrived_fenced.join(&from.fenced);
        self.complete_phase(slot)
    }

    fn finish_copy(&mut self, copy: InFlight) -> StepResult<()> {
        if copy.arrivals > self.slots[copy.slot].pending {
            return Err(self.too_many(copy.arrivals, copy.slot, copy.event));
        }
        let (entry, slot) = (self.entry(copy.slot), &mut self.slots[copy.slot]);
        slot.pending -= copy.arrivals;
        slot.bytes -= copy.bytes;
        slot.arrived.join(&copy.clock);
        let phase = Some((entry, slot.phase + 1));
        if let Some(trace) = &mut self.trace {
            let text = format!("(done: {})", copy.text);
            trace.push(Traced { event: None, phase, clock: copy.clock, text });
        }
        self.complete_phase(copy.slot)
    }

    /// Completes the phase of a barrier if nothing is missing.
    fn complete_phase(&mut self, slot: usize) -> StepResult<()> {
        let entry = self.entry(slot);
        let program = self.program;
        let name = || program.slot_name(slot);
        let state = &mut self.slots[slot];
        if state.pending > 0 || state.bytes != 0 {
            return Ok(());
        }
        let phase = state.phase;
        let fault = |kind, message, event| {
            let pasts = vec![state.arrived.clone()];
            Err(Box::new(Fault { kind, message, pasts, order: vec![event], everything: false }))
        };
        if let Some(&late) = state.announced.iter().find(|&&e| !state.arrived.knows(e)) {
            let message = format!("phase {phase} of {} may end before its bytes are announced", name());
            return fault(ViolationKind::LateAnnouncement, message, late);
        }
        if let Some(copy) = self.copies.iter().find(|c| c.slot == slot) {
            let message = format!("phase {phase} of {} ends while a copy that counts on it is in flight", name());
            return fault(ViolationKind::CopyNotAwaited, message, copy.event);
        }
        if let Some(&wait) = state.waits.iter().find(|&&e| !state.arrived.knows(e)) {
            let before = phase.checked_sub(1).map_or("the start".to_owned(), |p| format!("phase {p}"));
            let message = format!(
                "{} may complete phase {phase} before a wait for {before} has passed: the wait would hang",
                name()
            );
            return fault(ViolationKind::MissedPhase, message, wait);
        }
        state.phase += 1;
        state.pending = state.count;
        state.announced.clear();
        state.waits.clear();
        state.done.join(&state.arrived);
        state.done.raise(entry, state.phase);
        state.done_fenced.join(&state.arrived_fenced);
        state.arrived.clear();
        state.arrived_fenced.clear();
        Ok(())
    }

    /// An access to a stage.
    fn touch(
        &mut self,
        agent: usize,
        place: &Place,
        tag: &Expr,
        access: StageAccess,
        proxy: Proxy,
        span: Span,
    ) -> StepResult<()> {
        let storage = &self.program.storages[place.array.0];
        let index = self.index(agent, place, storage.cells.len(), &storage.name)?;
        let contents = (place.array.0, self.value(agent, tag));
        let state = &self.agents[agent];
        let known = Knowledge { clock: &state.clock, fenced: &state.fenced, groups: &self.groups };
        for cell in storage.cells[index].clone() {
            let result = match access {
                StageAccess::Read => self.cells[cell].read(span, contents, proxy, &known),
                StageAccess::Write => self.cells[cell].write(span, contents, proxy, &known),
                StageAccess::Accumulate => self.cells[cell].accumulate(span, contents, &known),
                StageAccess::ReadInOrder => self.cells[cell].read_in_order(span, contents, &known),
            };
            if let Err(clash) = result {
                return Err(self.clash(&format!("{}[{index}]", storage.name), access, span.start, &clash));
            }
        }
        Ok(())
    }

    fn clash(&self, stage: &str, access: StageAccess, event: Event, clash: &Clash) -> Box<Fault> {
        let name = |event: Event| &self.program.agents[event.agent].name;
        let agent = name(event);
        let message = match clash.kind {
            ViolationKind::NeverWritten => format!("{agent} reads {stage}, which was never written"),
            ViolationKind::ReadBeforeFull => format!("{agent} may read {stage} before its write is done"),
            ViolationKind::WrongContents => format!("{agent} reads {stage}, which holds the data of another iteration"),
            ViolationKind::MissingFence => {
                format!("{agent} reads {stage} asynchronously, with no proxy fence after the ordinary write")
            }
            _ => {
                let writer = clash.other.filter(|_| access.reads()).map_or(agent, |other| name(other.start));
                format!("{writer} may overwrite {stage} while it is in use")
            }
        };
        let order = match clash.other {
            // An operation that ends when it starts cannot be in flight earlier; here it comes too late.
            Some(Span { start, end: End::At(_) }) => vec![event, start],
            Some(Span { start, .. }) => vec![start, event],
            None => vec![event],
        };
        Box::new(Fault::new(clash.kind, message, order))
    }

    /// Checks the final state, when no agent can proceed.
    fn check_end(&mut self) -> StepResult<()> {
        let mut waiting = Vec::new();
        for agent in 0..self.agents.len() {
            let code = &self.code[agent];
            let Some(op) = self.agents[agent].cursor.next(code, &self.least) else { continue };
            let name = &self.program.agents[agent].name;
            let slot = match op {
                Op::Wait { barrier, .. } => self.barrier(agent, barrier)?,
                Op::Sync(place) => self.named(agent, place)?,
                _ => continue,
            };
            let state = &self.slots[slot];
            let bytes = if state.bytes == 0 { String::new() } else { format!(" and {} bytes", state.bytes) };
            let (name_of, phase, pending, count) = (self.name(slot), state.phase, state.pending, state.count);
            waiting.push(format!(
                "{name} waits for {name_of} to leave phase {phase}, which lacks {pending} of {count} arrivals{bytes}"
            ));
        }
        let ended = |kind, message| {
            Err(Box::new(Fault { kind, message, pasts: Vec::new(), order: Vec::new(), everything: true }))
        };
        if !waiting.is_empty() {
            return ended(ViolationKind::Deadlock, format!("deadlock: {}", waiting.join("; ")));
        }
        if let Some(at) = self.slots.iter().position(|s| s.pending != s.count || s.bytes != 0) {
            let (name, pending, count) = (self.name(at), self.slots[at].pending, self.slots[at].count);
            return ended(
                ViolationKind::NotQuiescent,
                format!("{name} is left with {pending} of {count} arrivals missing"),
            );
        }
        let mut all = Clock::new(self.program.agents.len() + self.slots.len());
        self.agents.iter().for_each(|a| all.join(&a.clock));
        let known = Knowledge { clock: &all, fenced: &all, groups: &self.groups };
        match self.cells.iter().find_map(|cell| cell.unfinished(&known)) {
            Some(span) => {
                let message = format!(
                    "{} never waits for an operation that it started",
                    self.program.agents[span.start.agent].name
                );
                Err(Box::new(Fault::new(ViolationKind::UnfinishedAtExit, message, vec![span.start])))
            }
            None => Ok(()),
        }
    }

    fn name(&self, slot: usize) -> String {
        self.program.slot_name(slot)
    }

    fn entry(&self, slot: usize) -> usize {
        self.program.agents.len() + slot
    }

    fn value(&self, agent: usize, e: &Expr) -> i64 {
        e.eval(&self.agents[agent].cursor.variables, &self.least)
    }

    fn barrier(&self, agent: usize, place: &Place) -> StepResult<usize> {
        let array = &self.program.barriers[place.array.0];
        Ok(array.slots.start + self.index(agent, place, array.slots.len(), &array.name)?)
    }

    fn named(&self, agent: usize, place: &Place) -> StepResult<usize> {
        let array = &self.program.named[place.array.0];
        Ok(array.slots.start + self.index(agent, place, array.slots.len(), &array.name)?)
    }

    fn index(&self, agent: usize, place: &Place, len: usize, name: &str) -> StepResult<usize> {
        let slot = self.value(agent, &place.slot);
        match usize::try_from(slot) {
            Ok(index) if index < len => Ok(index),
            _ => {
                let (kind, message) =
                    (ViolationKind::NoSuchSlot, format!("{name} has {len} members, so {name}[{slot}] does not exist"));
                Err(Box::new(Fault { kind, message, pasts: Vec::new(), order: Vec::new(), everything: true }))
            }
        }
    }

    /// Counts an operation, and traces it if faults are explained.
    fn begin(&mut self, agent: usize, op: &Op) -> Event {
        let event = self.agents[agent].clock.tick(agent);
        if let Some(trace) = &mut self.trace {
            let state = &self.agents[agent];
            let what = self.program.describe(op, &state.cursor, &self.least);
            let text = format!("{}: {what}", self.program.agents[agent].name);
            trace.push(Traced { event: Some(event), phase: None, clock: state.clock.clone(), text });
        }
        event
    }

    fn too_many(&self, count: u32, slot: usize, event: Event) -> Box<Fault> {
        let state = &self.slots[slot];
        let name = self.name(slot);
        let message = format!("{count} arrivals at {name}, but phase {} expects only {}", state.phase, state.pending);
        Box::new(Fault::new(ViolationKind::TooManyArrivals, message, vec![event]))
    }

    fn explain(self, fault: Fault) -> Violation {
        let trace = self.trace.unwrap_or_default();
        let mut pasts = fault.pasts;
        for last in &fault.order {
            pasts.extend(trace.iter().filter(|t| t.event.as_ref() == Some(last)).map(|t| t.clock.clone()));
        }
        let before = |t: &&Traced| match (t.event, t.phase) {
            (Some(event), _) => !fault.order.contains(&event) && pasts.iter().any(|c| c.knows(event)),
            (None, Some((entry, count))) => pasts.iter().any(|c| c.get(entry) >= count),
            (None, None) => false,
        };
        let mut interleaving: Vec<String> =
            trace.iter().filter(|t| fault.everything || before(t)).map(|t| t.text.clone()).collect();
        for last in &fault.order {
            interleaving.extend(trace.iter().filter(|t| t.event.as_ref() == Some(last)).map(|t| t.text.clone()));
        }
        let names = self.program.parameters.iter().map(|p| p.name.clone());
        Violation {
            program: self.program.name.clone(),
            kind: fault.kind,
            parameters: names.zip(self.least.iter().copied()).collect(),
            message: fault.message,
            interleaving,
        }
    }
}

/// Records an event that implies that a group is done, unless an earlier one does.
fn ends(group: &mut Ends, end: End) {
    let earlier = |seen: &End| match (seen, end) {
        (End::At(seen), End::At(event)) => seen.agent == event.agent && seen.time <= event.time,
        (End::Phase { entry, count }, End::Phase { entry: of, count: later }) => *entry == of && *count <= later,
        _ => false,
    };
    if !group.iter().any(earlier) {
        group.push(end);
    }
}
