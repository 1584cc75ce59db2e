//! Predicts the time that a launch takes on a machine.
//!
//! A prediction has three steps.
//!
//! 1. The functional simulator runs a few CTAs of the grid, after one warm-up CTA, and records what each warp executes
//!    together with its cost parameters: passes of shared memory, sectors of global memory, barriers, bytes of copies.
//!    It also runs the start of all CTAs that would be resident at the same time, to find out how much of their loaded
//!    data is shared.
//! 2. A model of one SM issues the recorded warps again, now with clocks (`replay`). Its numbers come from a machine
//!    file of `tile-machine`. Instructions are reordered as an assembler would order them (`schedule`).
//! 3. The result is extrapolated to the grid. The SM gets its share of the CTAs, and of the bandwidth of L2 and
//!    memory. If it runs more CTAs than were replayed, the others follow at the rate of the later half of the replayed
//!    ones.

mod agents;
mod costs;
mod fuse;
mod grid;
mod html;
mod image;
mod json;
mod l1;
mod notes;
mod pairs;
mod power;
mod prediction;
mod replay;
mod report;
mod schedule;
mod source;
mod stores;
mod waits;

pub use agents::Agent;
pub use notes::{Missed, Note, Notes, Roof};
pub use power::{Power, PowerModel};
pub use prediction::{Prediction, PtxLine, SourceLine};
pub use replay::{Busy, Replay};
pub use source::LineTable;
pub use waits::{InstStats, Reason, Span};

use crate::exec::state::program::{Func, Program};
use crate::exec::state::record::{BlockClocks, BlockTrace, ClockReads, Event, Footprint, RecordOptions, Recording};
use crate::{Device, LaunchConfig, Module, RunOptions, SimError};
use costs::{Bandwidth, Costs, Effect, InstCost, NoCost, PREDICATES};
use grid::{SAMPLES, Takeovers};
use image::Image;
use replay::{Block, Input, Sm};
use rustc_hash::FxHashMap;
use schedule::Orders;
use tile_machine::Machine;

/// Number of rounds of resident CTAs to replay in detail: as many as stay below this number of events, within bounds.
/// These constants and the ones of [`grid`] trade effort for precision; they do not describe a machine.
const DETAILED_EVENTS: usize = 2_000_000;
const DETAILED_ROUNDS: std::ops::RangeInclusive<usize> = 2..=16;
/// Number of warp instructions per warp whose loads determine how much data CTAs share.
const SHARING_START: u64 = 3000;

/// Why a launch has no prediction.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Machine(#[from] tile_machine::Error),
    #[error("{0}")]
    Run(#[from] SimError),
    #[error("line {line}: the timing model does not know `{text}`")]
    Unknown { line: u32, text: String },
    #[error("line {line}: `{text}` has no time: {missing}")]
    NoNumber { line: u32, text: String, missing: tile_machine::Error },
    #[error("a block needs {what} than an SM of {machine} has")]
    DoesNotFit { what: String, machine: String },
    #[error("line {line}: the replay found warps that wait for each other at `{text}`")]
    Stuck { line: u32, text: String },
}

/// Information about the launch in addition to the PTX.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Registers per thread as the assembler allocated them; estimated if `None`.
    pub registers: Option<u32>,
    /// The listing of the assembled image by `nvdisasm -c`.
    pub listing: Option<String>,
    pub clock: Clock,
}

/// The clock of a prediction. SMs and L2 have the same rates per clock at every frequency; memory has the same bytes
/// per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Clock {
    /// The machine's highest clock.
    #[default]
    Highest,
    /// A fixed clock in MHz.
    At(f64),
    /// The clock that the machine sustains within its power limit when the launch is repeated.
    Sustained,
}

/// Predicts the time of a launch. The simulated CTAs modify the device's memory.
pub fn predict(
    device: &mut Device,
    module: &Module,
    entry: &str,
    config: &LaunchConfig<'_>,
    machine: &Machine,
    options: &Options,
) -> Result<Prediction, Error> {
    let costs = Costs::of(machine)?;
    let model = PowerModel::of(machine);
    let record = |device: &mut Device, options: RecordOptions| recorded(device, module, entry, config, options);
    let (sector, line) = (costs.sector as u64, (costs.sector * costs.sectors_of_line) as u64);
    let grain = RecordOptions { sector, line, ..RecordOptions::default() };
    let empty = record(device, grain.clone())?;
    let program = empty.program.clone();
    let mut functions: Vec<Vec<InstCost>> =
        program.funcs.iter().map(|f| inst_costs(f, &costs, &program)).collect::<Result<_, _>>()?;
    let (resident, limited_by, registers) = occupancy(&empty, &functions, &costs, machine, options)?;
    let total = empty.cluster_grid.iter().map(|n| u64::from(*n)).product();
    // Clusters that are resident at the same time. Only the start of each is run. They may take over the others.
    let together = (resident as u64 * costs.sms as u64 / u64::from(empty.blocks_per_cluster.max(1))).min(total);
    let all = || record(device, grid::start(total, &grain));
    let takeovers = program.takes_over().then(|| Takeovers::of((total, together), all)).transpose()?;
    let run_all = takeovers.is_none()
        && first_run_all((total, together), |clusters| record(device, grid::start_of(clusters, &grain)))?;
    // The others end at once, one after the other.
    let ends = if run_all { costs.launch_block * (total - together) as f64 / together as f64 } else { 0.0 };
    let first_only = takeovers.is_some() || run_all;
    let started = if first_only { [together as u32, 1, 1] } else { empty.cluster_grid };
    let one_round = first_only || together == total;
    let samples = grid::samples(started, one_round, takeovers.as_ref());
    let next = takeovers.as_ref().map(|takeovers| takeovers.next.clone());
    let grain = RecordOptions { takeovers: next.unwrap_or_default(), ..grain };
    // A first run creates the state that the kernel keeps, such as tensor maps.
    record(device, RecordOptions { clusters: samples.iter().take(1).copied().collect(), ..grain.clone() })?;
    let detailed = RecordOptions { clusters: samples, instructions: true, ..grain.clone() };
    let mut recording = record(device, detailed)?;
    let share = grid::keep_busy(&mut recording.blocks, recording.blocks_per_cluster.max(1) as usize);
    recording.blocks = pairs::leaders(std::mem::take(&mut recording.blocks), &functions);
    let stored = stored(&recording.blocks, &functions, &costs, one_round);
    grid::longest_first(&mut recording.blocks, one_round);
    let start = RecordOptions { clusters: (0..together).collect(), budget: Some(SHARING_START), ..grain };
    let mut first = first_shares(&program, &record(device, start)?.footprint);
    let orders: Vec<Orders> =
        program.funcs.iter().zip(&functions).map(|(f, s)| schedule::orders(f, s, &costs)).collect();
    let planes = program.funcs.iter().map(|f| f.planes).max().unwrap_or(0);
    let entry = recording.entry as usize;
    let image =
        options.listing.as_ref().map(|text| Image::of(text, &program.funcs[entry], &functions[entry], &costs, planes));
    let in_order = InOrder { orders: &orders, entry: recording.entry, image: image.as_ref() };
    let traces: Vec<Vec<Vec<Event>>> = recording.blocks.iter().map(|b| in_order.block(b)).collect();
    let issued = traces.iter().flatten().map(Vec::len).sum::<usize>().max(1);
    let listed = traces.iter().flatten().flatten().filter(|e| e.func as usize == program.funcs.len()).count();
    if let Some(image) = &image {
        first.push(image.origin.iter().map(|pc| first[entry][*pc as usize]).collect());
        functions.push(image.slots.clone());
    }
    let all = together * u64::from(recording.blocks_per_cluster);
    let started_blocks = if first_only { all } else { recording.grid_blocks };
    let started_blocks = ((started_blocks as f64 * share).round() as u64).max(1);
    let per_sm = started_blocks.div_ceil(costs.sms as u64);
    let first_share = mean_first_share(&traces, &functions, &first, &costs);
    let planes = planes + image::REGISTERS + program.funcs.iter().map(|f| f.preds).max().unwrap_or(0) + 1;
    let resident_here = resident.min(per_sm as usize).max(1);
    let l1_bytes = costs.l1_bytes - (recording.shared_bytes as f64 + costs.shared_reserved) * resident_here as f64;
    let l1_lines = (l1_bytes / (costs.sector * costs.sectors_of_line)) as usize;
    let rounds = (per_sm as usize).div_ceil(resident_here).min(detailed_rounds(&traces, resident_here));
    let blocks: Vec<Block<'_>> = recording.blocks.iter().zip(&traces).map(|(b, t)| stored.block(b, t)).collect();
    let length = (rounds * resident_here).min(per_sm as usize);
    let queue: Vec<Block<'_>> = grid::queue(&blocks, length, one_round).cloned().collect();
    let place = |func: u32, pc: u32| match &image {
        Some(image) if func as usize == program.funcs.len() => (recording.entry, image.origin[pc as usize]),
        _ => (func, pc),
    };
    let time_at = |mhz: f64| -> Result<(Replay, f64), Error> {
        let bandwidth = bandwidth(&costs, mhz, (started_blocks as f64).min(costs.sms), first_share);
        let input = Input { costs: &costs, slots: &functions, first: &first, planes, bandwidth, l1_lines };
        let replay = Sm::run(&input, &queue, resident_here).map_err(|stuck| {
            let at = stuck.event.map(|e| place(e.func, e.pc));
            stuck_error(at, &program)
        })?;
        let mean = started_blocks as f64 / costs.sms;
        let clocks = extend(&replay.ends, resident_here, traces.len(), mean, per_sm, costs.even_rounds) + ends;
        Ok((replay, clocks))
    };
    let active = started_blocks as f64 / (per_sm as f64 * costs.sms);
    let draws = |replay: &Replay, mhz: f64| model.as_ref().map(|m| m.launch(replay, costs.schedulers, active, mhz));
    let mut mhz = if let Clock::At(mhz) = options.clock { mhz } else { costs.clock };
    let (mut replay, mut clocks) = time_at(mhz)?;
    if options.clock == Clock::Sustained {
        mhz = draws(&replay, mhz).map_err(Clone::clone)?.sustained;
        if mhz < costs.clock {
            (replay, clocks) = time_at(mhz)?;
        }
    }
    let power = draws(&replay, mhz).ok();
    for ((func, pc), line) in std::mem::take(&mut replay.lines) {
        replay.lines.entry(place(func, pc)).or_default().add(&line);
    }
    let clock_reads = clock_reads(&recording.blocks, std::mem::take(&mut replay.clocks));
    Ok(report::prediction(report::Parts {
        entry: &program.funcs[entry].name,
        machine: machine.name.clone(),
        clocks,
        mhz,
        power,
        microseconds: clocks / mhz + costs.launch,
        blocks: recording.grid_blocks,
        resident,
        limited_by,
        registers,
        per_sm,
        first_share,
        from_image: listed as f64 / issued as f64,
        replay,
        clock_reads,
        program: &program,
        schedulers: costs.schedulers,
    }))
}

/// The values of the clock that the warps of each CTA read.
fn clock_reads(blocks: &[BlockTrace], read: Vec<Vec<Vec<u64>>>) -> ClockReads {
    let of = |(block, warps): (&BlockTrace, Vec<Vec<u64>>)| BlockClocks {
        id: block.id,
        warps: warps.into_iter().map(Into::into).collect(),
    };
    ClockReads { blocks: blocks.iter().zip(read).map(of).collect() }
}

/// Whether the clusters that start at once run the whole grid. `record` records the start of clusters.
fn first_run_all(
    (total, together): (u64, u64),
    record: impl FnOnce(Vec<u64>) -> Result<Recording, Error>,
) -> Result<bool, Error> {
    let Some(later) = total.checked_sub(together).filter(|count| *count > 0) else { return Ok(false) };
    let clusters = [0, together, together + later / 3, together + later * 2 / 3, total - 1];
    Ok(grid::later_are_idle(&record(clusters.into())?))
}

/// Runs a launch for a record.
fn recorded(
    device: &mut Device,
    module: &Module,
    entry: &str,
    config: &LaunchConfig<'_>,
    options: RecordOptions,
) -> Result<Recording, Error> {
    let run = RunOptions { record: Some(options), ..RunOptions::default() };
    let report = device.launch(module, entry, config, &run)?;
    report.recording.ok_or_else(|| Error::Unknown { line: 0, text: "a launch that records nothing".into() })
}

/// The share of first accesses, by function and program counter.
fn first_shares(program: &Program, footprint: &Footprint) -> Vec<Vec<f64>> {
    let of = |f: usize, pc: usize| footprint.first_share(f as u32, pc as u32);
    program.funcs.iter().enumerate().map(|(f, func)| (0..func.code.len()).map(|pc| of(f, pc)).collect()).collect()
}

/// The number of rounds to replay, with `resident` CTAs at a time.
fn detailed_rounds(traces: &[Vec<Vec<Event>>], resident: usize) -> usize {
    let instructions: Vec<usize> = traces.iter().map(|b| b.iter().map(Vec::len).sum()).collect();
    let events = instructions.iter().sum::<usize>() / traces.len().max(1) * resident;
    let wanted = (DETAILED_EVENTS / events.max(1)).clamp(*DETAILED_ROUNDS.start(), *DETAILED_ROUNDS.end());
    wanted.max(rounds_of_all(&instructions, resident))
}

/// The number of rounds that contain all kinds of CTAs in the steady state, between a first and a last round; 0 if all
/// CTAs execute about the same number of instructions.
fn rounds_of_all(instructions: &[usize], resident: usize) -> usize {
    let (least, most) = (instructions.iter().min().unwrap_or(&0), instructions.iter().max().unwrap_or(&0));
    if most * 9 <= least * 10 { 0 } else { 2 + instructions.len().div_ceil(resident) }
}

/// Bytes stored by each CTA, by its position. Partly written sectors are weighted by the time they take.
struct Stored {
    by_block: FxHashMap<[u32; 3], f64>,
    mean: f64,
}

impl Stored {
    fn block<'a>(&self, block: &BlockTrace, traces: &'a [Vec<Event>]) -> Block<'a> {
        Block { warps: traces.iter().map(Vec::as_slice).collect(), stores_more: self.more(block) }
    }

    /// How many times the mean a CTA stores; at least 1. A CTA at the edge may store its elements one by one. The
    /// other CTAs then soon finish storing, and leave it their share of the L2 bandwidth.
    fn more(&self, block: &BlockTrace) -> f64 {
        let bytes = self.by_block.get(&block.id).copied().unwrap_or(0.0);
        if self.mean > 0.0 { (bytes / self.mean).max(1.0) } else { 1.0 }
    }
}

fn stored(blocks: &[BlockTrace], slots: &[Vec<InstCost>], costs: &Costs, one_round: bool) -> Stored {
    let bytes = |e: &Event| match slots[e.func as usize][e.pc as usize].effect {
        _ if e.lanes == 0 => 0.0,
        Effect::Memory { load: false, atomic: false } => {
            costs.sector * (f64::from(e.a) + f64::from(e.b >> 16) * (costs.store_partial - 1.0))
        }
        Effect::Bulk { load: false, .. } => f64::from(e.a),
        _ => 0.0,
    };
    let of = |b: &BlockTrace| b.warps.iter().flatten().map(bytes).sum::<f64>();
    let mut all: Vec<([u32; 3], f64)> = blocks.iter().map(|b| (b.id, of(b))).collect();
    let by_block = all.iter().copied().collect();
    // A launch of one round also records its first and last clusters. They are excluded here, because only the others
    // represent equal parts of the grid.
    all.sort_by_key(|(id, _)| [id[2], id[1], id[0]]);
    let counted = if one_round && all.len() > SAMPLES as usize { &all[1..all.len() - 1] } else { &all[..] };
    Stored { by_block, mean: counted.iter().map(|(_, bytes)| bytes).sum::<f64>() / counted.len().max(1) as f64 }
}

fn inst_costs(func: &Func, costs: &Costs, program: &Program) -> Result<Vec<InstCost>, Error> {
    let slots: Result<Vec<InstCost>, Error> = func
        .code
        .iter()
        .map(|inst| {
            costs.inst_cost(inst).map_err(|why| {
                let (line, text) = (inst.line, program.text(inst));
                match why {
                    NoCost::Unknown => Error::Unknown { line, text },
                    NoCost::Number(missing) => Error::NoNumber { line, text, missing },
                }
            })
        })
        .collect();
    let mut slots = slots?;
    if costs.minmax_operands > 2.0 {
        fuse::maxima(func, &mut slots);
    }
    Ok(slots)
}

fn stuck_error(at: Option<(u32, u32)>, program: &Program) -> Error {
    let inst = at.and_then(|(func, pc)| program.funcs.get(func as usize)?.code.get(pc as usize));
    let (line, text) = inst.map_or((0, String::new()), |i| (i.line, program.text(i)));
    Error::Stuck { line, text }
}

/// Reorders the recorded instructions of a CTA into issue order.
struct InOrder<'a> {
    orders: &'a [Orders],
    entry: u32,
    image: Option<&'a Image>,
}

impl InOrder<'_> {
    fn block(&self, block: &BlockTrace) -> Vec<Vec<Event>> {
        block.warps.iter().map(|events| self.warp(events)).collect()
    }

    fn warp(&self, events: &[Event]) -> Vec<Event> {
        let mut out = Vec::with_capacity(events.len());
        let mut at = 0;
        while at < events.len() {
            let first = events[at];
            if let Some(image) = self.image.filter(|_| first.func == self.entry)
                && let Some(taken) = image.replace(self.orders.len() as u32, first.pc, &events[at..], &mut out)
            {
                at += taken;
                continue;
            }
            let order = self.orders[first.func as usize].get(&first.pc);
            // A basic block split by divergence or a call keeps the order of the PTX.
            let whole = order.filter(|o| {
                at + o.len() <= events.len()
                    && events[at..at + o.len()].iter().zip(first.pc..).all(|(e, pc)| e.func == first.func && e.pc == pc)
            });
            match whole {
                Some(order) => {
                    out.extend(order.iter().map(|i| events[at + *i as usize]));
                    at += order.len();
                }
                None => {
                    out.push(first);
                    at += 1;
                }
            }
        }
        out
    }
}

/// Returns the number of resident CTAs of an SM, the limiting resource, and the registers of a thread.
fn occupancy(
    recording: &Recording,
    functions: &[Vec<InstCost>],
    costs: &Costs,
    machine: &Machine,
    options: &Options,
) -> Result<(usize, &'static str, u32), Error> {
    let entry = &recording.program.funcs[recording.entry as usize];
    let directives = &entry.directives;
    let threads = u64::from(recording.threads);
    let warps = threads.div_ceil(32);
    let (most, least) = (costs.registers_most as u32, costs.registers_least as u32);
    let cap = match (directives.maxnreg, directives.minnctapersm) {
        (Some(n), _) => n,
        (None, Some(blocks)) => {
            let steps = costs.registers / (threads * u64::from(blocks.max(1))) as f64 / costs.registers_step;
            ((steps.floor() * costs.registers_step) as u32).min(most)
        }
        (None, None) => most,
    };
    let estimate = || pressure(entry, &functions[recording.entry as usize]).min(cap).max(least);
    let registers = options.registers.unwrap_or_else(estimate);
    let per_warp = (f64::from(registers) * 32.0 / costs.register_unit).ceil() * costs.register_unit;
    let shared = recording.shared_bytes as f64 + costs.shared_reserved;
    // Each scheduler has its own registers, for as many warps as the others have.
    let with_registers = (costs.registers / costs.schedulers / per_warp).floor() * costs.schedulers;
    let limits = [
        ((with_registers / warps as f64) as usize, "registers"),
        ((costs.shared_bytes / shared) as usize, "shared memory"),
        ((costs.warps / warps as f64) as usize, "warps"),
        (costs.blocks as usize, "blocks"),
    ];
    let (resident, what) = limits.into_iter().min_by_key(|(n, _)| *n).unwrap_or((1, "blocks"));
    if resident == 0 && what != "registers" {
        return Err(Error::DoesNotFit { what: format!("more {what}"), machine: machine.name.clone() });
    }
    Ok((resident.max(1), what, registers))
}

/// Estimates the maximum number of live 32-bit registers. The estimate treats the code as straight-line: a live range
/// extends from the first write to the last read, and to the end of each loop that it enters.
fn pressure(func: &Func, slots: &[InstCost]) -> u32 {
    let n = func.planes as usize;
    let (mut from, mut to) = (vec![usize::MAX; n], vec![0usize; n]);
    for (i, slot) in slots.iter().enumerate() {
        for r in slot.writes.iter().chain(&slot.reads).filter(|r| **r < PREDICATES) {
            from[*r as usize] = from[*r as usize].min(i);
            to[*r as usize] = to[*r as usize].max(i);
        }
    }
    for (i, inst) in func.code.iter().enumerate().rev() {
        for arg in &inst.args {
            if let crate::exec::state::program::DArg::Target(target) = arg
                && (*target as usize) < i
            {
                for r in 0..n {
                    if from[r] < *target as usize && to[r] >= *target as usize {
                        to[r] = to[r].max(i);
                    }
                }
            }
        }
    }
    let mut change = vec![0i64; slots.len() + 1];
    // Copies and address conversions share the register of their source.
    let vanished: Vec<bool> = slots.iter().map(|s| s.issues == 0.0).collect();
    for r in 0..n {
        if from[r] != usize::MAX && !vanished[from[r]] && to[r] > from[r] {
            change[from[r]] += 1;
            change[to[r]] -= 1;
        }
    }
    let mut live = 0;
    change.iter().fold(0, |most, c| {
        live += c;
        most.max(live as u32)
    })
}

/// The share of bytes that no other CTA had loaded, among the bytes that CTAs load for the first time.
fn mean_first_share(traces: &[Vec<Vec<Event>>], slots: &[Vec<InstCost>], first: &[Vec<f64>], costs: &Costs) -> f64 {
    let (mut all, mut new) = (0.0, 0.0);
    for event in traces.iter().flatten().flatten().filter(|e| e.lanes != 0) {
        let (func, pc) = (event.func as usize, event.pc as usize);
        let bytes = match slots[func][pc].effect {
            // Zero lines: local or shared memory accessed by a generic address.
            Effect::Memory { load: true, atomic: false } | Effect::CopyAsync if event.b & 0xffff != 0 => {
                costs.sector * f64::from(event.c)
            }
            Effect::Bulk { load: true, .. } => f64::from(event.c),
            _ => continue,
        };
        all += bytes;
        new += bytes * first[func][pc];
    }
    if all > 0.0 { new / all } else { 0.0 }
}

/// The bandwidth of one of `sms` busy SMs at a clock.
fn bandwidth(costs: &Costs, mhz: f64, sms: f64, first_share: f64) -> Bandwidth {
    // Data that several SMs read arrives faster than data that only one reads.
    let all = costs.l2_private + (costs.l2_shared - costs.l2_private) * (1.0 - first_share);
    let l2 = costs.l2_one.min(all * costs.sms / sms);
    // GB/s divided by MHz is 1000 bytes per clock.
    let memory = |rate: f64| rate * 1000.0 / mhz / sms;
    let (dram, dram_write) = (memory(costs.dram_rate).min(l2), memory(costs.dram_write));
    let store = costs.store_rate;
    Bandwidth { l2, dram, dram_write, store, store_all: store.min(costs.store_all * costs.sms / sms) }
}

/// Extrapolates from the end times of the replayed CTAs to the clocks of all CTAs. `kinds` is the period with which
/// kinds of CTAs repeat in the queue.
fn extend(ends: &[f64], resident: usize, kinds: usize, mean: f64, most: u64, even_rounds: f64) -> f64 {
    let last = ends.iter().copied().fold(0.0, f64::max);
    if ends.len() as u64 >= most {
        return last;
    }
    // Steady state: the rate at which CTAs end in the later half, measured between the ends of two rounds.
    let mut sorted = ends.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rounds = ends.len() / resident;
    let (mut from, mut to) = ((rounds / 2).max(1) * resident, rounds * resident);
    // The last round does not count if there are enough others, because it no longer overlaps with loads of later
    // CTAs. The measured part must contain all kinds of CTAs equally often.
    let before = to.saturating_sub(resident);
    let half = before.div_ceil(2).div_ceil(kinds) * kinds;
    if half + resident <= before {
        (from, to) = (before - half, before);
    }
    let each = if to > from { (sorted[to - 1] - sorted[from - 1]) / (to - from) as f64 } else { last / to as f64 };
    // With few rounds, the SM with the most CTAs determines the end; over many rounds the load evens out.
    let blocks = if mean / (resident as f64) < even_rounds { most as f64 } else { mean + 0.5 * resident as f64 };
    last + each * (blocks - ends.len() as f64).max(0.0)
}

#[cfg(test)]
mod tests;
