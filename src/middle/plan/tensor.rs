//! Plans dots of `tcgen05.mma`, whose accumulators are in tensor memory.
//!
//! One thread issues the dots, and another one the loads of their operands. The dots of a pair of CTAs read rows of A
//! and half of the columns of B from each CTA. If TMA cannot load an operand, warps of the
//! producer compute it. All other warps read finished accumulators and run the rest of the program. During the loop
//! nothing is in registers, so the number of these warps depends on the code after the loop only: its tensors must fit
//! the registers of a thread. All threads have the same number of registers, unless warps of the producer compute: then
//! each agent takes what it needs (`setmaxnreg`), and consists of whole warpgroups.
//!
//! # Bound on the work
//!
//! Three divisions into warpgroups, with at most two sizes of the producer and a few numbers of slices; the cost of
//! each is linear in the number of dots.

use std::ops::RangeInclusive;
use tile_mma::{Element, Major, ScaleFactors, Unit};

use crate::dot::{DotLoop, Hints, NoPlan, ScaleAgent};
use crate::machine::Machine;
use crate::model::MAX_STAGES;

/// The least stages of a ring.
const LEAST_STAGES: u32 = 2;
/// The columns of tensor memory.
pub(crate) const COLUMNS: u32 = 512;
/// A later candidate must need less than this fraction of the clocks of the best one so far.
const CLEARLY: f64 = 0.95;
/// The maximum number of slices in which code after the dots processes accumulators.
pub const MOST_SLICES: u32 = 8;
/// The rows of an instruction.
pub(crate) const ROWS: u32 = 128;
/// The warps that issue dots.
pub(crate) const MATRIX_WARPS: u32 = 1;
/// The warps that issue loads, if TMA loads all operands.
pub(crate) const LOADING_WARPS: u32 = 1;
/// The warps that issue loads if they share a warpgroup with the thread that issues dots.
const SHARING_WARPS: u32 = 2;
/// The warps that bring scale factors.
const SCALE_WARPS: u32 = 4;
/// The least stages beside the scale factors of which two accumulators are worth their columns.
const STAGES_BESIDE_TWO: u32 = 3;
/// The columns of a fragment, the least that a warpgroup reads.
const FRAGMENT: u32 = 8;
/// The columns of the dots of a pair.
const PAIR_COLUMNS: RangeInclusive<u32> = 64..=256;
/// Bytes of a row of the widest swizzle.
const LINE: u32 = 128;
/// Clocks of `mma.sync` for each clock of `tcgen05.mma`.
const SLOWDOWN: f64 = 4.0;
/// Registers of a thread for addresses and counters, in addition to tensors.
const OTHER_REGISTERS: u32 = 40;
/// Registers of the threads of the warpgroup that issues dots.
const MATRIX_REGISTERS: u32 = 40;
/// Registers that the producer gets in addition to its estimate.
const SPARE_REGISTERS: u32 = 96;
/// The maximum number of registers of a thread.
const MAX_REGISTERS: u32 = 248;
/// Numbers of warpgroups that read accumulators, in order of preference. Loads of one warpgroup overlap with stores of
/// another one, and each warpgroup more has fewer registers.
const WARPGROUPS: [u32; 3] = [2, 4, 1];

/// The plan of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorPlan {
    /// Warpgroups that read accumulators.
    pub warpgroups: u32,
    /// Warps of the producer.
    pub producer_warps: u32,
    /// Warps that compute left operands and store them to tensor memory.
    pub converter_warps: u32,
    /// Warps that load scale factors, and that convert them in their stages.
    pub scale_warps: [u32; 2],
    /// The maximum number of columns of an instruction.
    pub columns: u32,
    /// Stages of each accumulator.
    pub accumulators: u32,
    /// Slices of columns in which code after the dots processes an accumulator.
    pub slices: u32,
    /// The most stages of each ring.
    pub stages: u32,
    /// Registers per thread at launch.
    pub registers: u32,
    /// Registers per thread of each agent, if they divide the registers of the CTA.
    pub divided: Option<Divided>,
    /// Shared memory available to a CTA.
    pub shared_available: u32,
    /// The predicted clocks of an iteration of all dots, in each CTA.
    pub clocks: f64,
    /// The reasons for the choice, which remarks print.
    pub reasons: Vec<String>,
}

/// Registers per thread of agents that consist of whole warpgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Divided {
    /// Of the consumers.
    pub consumer: u32,
    /// Of the producer.
    pub producer: u32,
    /// Of the warpgroup whose first thread issues dots.
    pub matrix: u32,
}

/// Chooses warpgroups and registers of a kernel with these dots. In a loop over tiles (`over_tiles`), accumulators have
/// two stages if they fit, so that the consumers read one while dots add to the other. `pressure` estimates the
/// registers of a thread that hold tensors, if that many warpgroups divide them, and code after the dots processes
/// accumulators in a number of slices, at most `most_slices`. The plan has the fewest slices that fit the registers and
/// have rows of at most 128 bytes in memory.
///
/// Errors: an instruction does not cover a tile, accumulators exceed tensor memory, or tensors exceed the registers.
pub fn plan_tensor(
    dots: &[DotLoop],
    (over_tiles, most_slices): (bool, u32),
    pressure: &dyn Fn(u32, u32) -> u32,
    hints: &Hints,
    machine: &Machine,
) -> Result<TensorPlan, NoPlan> {
    let whole = |key: &str| machine.get(key).map(|v| v as u32);
    let (all, shared) = (whole("sm.registers")?, whole("sm.shared_bytes")? - whole("sm.shared_reserved")?);
    dots.iter().try_for_each(DotLoop::check_tensor_shape)?;
    let needed: u32 = dots.iter().map(DotLoop::tensor_columns).sum();
    // The scale factors and the computed left operands of each stage have columns of their own.
    let left_columns: u32 = dots.iter().map(DotLoop::left_columns).sum();
    let scale_columns: u32 = dots.iter().map(DotLoop::scale_columns).sum();
    let of_stage = scale_columns + left_columns;
    let stages_beside = |accumulators: u32| {
        let rest = COLUMNS.checked_sub(accumulators * needed)?;
        Some(rest.checked_div(of_stage).unwrap_or(MAX_STAGES).min(MAX_STAGES))
    };
    let two = stages_beside(2).filter(|stages| over_tiles && *stages >= STAGES_BESIDE_TWO);
    let accumulators = if two.is_some() { 2 } else { 1 };
    let stages = stages_beside(accumulators).filter(|stages| *stages >= LEAST_STAGES);
    let stages = stages.ok_or(NoPlan::TensorMemory { needed: needed + LEAST_STAGES * of_stage, available: COLUMNS })?;
    let scale_warps = [ScaleAgent::Warps, ScaleAgent::Converter].map(|by| {
        let any = dots.iter().any(|dot| dot.has_scale_agent(by));
        if any { SCALE_WARPS } else { 0 }
    });
    let interval = machine.get("tcgen05.f16.n256.interval")?;
    let shared_rate = machine.get("shared.bytes_per_clk")?;
    let tensor: f64 = dots.iter().map(|dot| dot.tensor_clocks(interval)).sum();
    let instructions = f64::from(dots.iter().map(|dot| dot.producer_instructions).sum::<u32>());
    let bytes = f64::from(dots.iter().map(DotLoop::producer_bytes).sum::<u32>());
    let loaded = f64::from(dots.iter().map(DotLoop::stage_bytes).sum::<u32>()) / machine.get("l2.all_shared")?;
    // Warps of a warpgroup run on different schedulers.
    let production = |groups: u32| (instructions / f64::from(groups)).max(bytes / shared_rate);
    let producers: &[u32] = if bytes > 0.0 { &[1, 2] } else { &[0] };
    let need = |(groups, slices): (u32, u32)| pressure(groups, slices) + OTHER_REGISTERS;
    let hinted = hints.worker_warps.map(|warps| warps / 4);
    let narrowest = dots.iter().map(|dot| dot.n).min().unwrap_or(FRAGMENT);
    let order = hinted.into_iter().filter(|groups| WARPGROUPS.contains(groups)).chain(WARPGROUPS);
    let order: Vec<u32> = order.collect();
    let least_slices = whole_lines(dots).clamp(1, most_slices);
    let numbers = (least_slices.ilog2()..=most_slices.ilog2()).map(|i| 1 << i);
    let in_slices = numbers.flat_map(|slices| order.iter().map(move |groups| (*groups, slices)));
    let in_slices = in_slices.filter(|(groups, slices)| groups * slices * FRAGMENT <= narrowest);
    let all_candidates = in_slices.flat_map(|(groups, slices)| producers.iter().map(move |p| (groups, slices, *p)));
    let mut best: Option<(f64, Candidate)> = None;
    // The least excess over the available registers, which are the second number.
    let mut refusal: Option<(u32, u32)> = None;
    for (warpgroups, slices, producers) in all_candidates {
        let of_producer = |dot: &DotLoop| dot.producer_registers[producers.saturating_sub(1) as usize];
        let needs = [need((warpgroups, slices)), dots.iter().map(of_producer).max().unwrap_or(0)];
        let (registers, divided) = match divide(all, [warpgroups, producers], scale_warps.iter().sum(), needs) {
            Ok(found) => found,
            Err(other) => {
                refusal = refusal.map_or(Some(other), |least| Some(least.min(other)));
                continue;
            }
        };
        let [producer_warps, converter_warps] = match producers {
            0 => [LOADING_WARPS, 0],
            // Loads then share the warpgroup of the thread that issues dots.
            _ if left_columns > 0 => [SHARING_WARPS, 4 * producers],
            _ => [4 * producers, 0],
        };
        let clocks = tensor.max(loaded).max(if producers == 0 { 0.0 } else { production(producers) });
        if best.as_ref().is_none_or(|(least, _)| clocks < least * CLEARLY) {
            let candidate = Candidate { warpgroups, slices, producer_warps, converter_warps, registers, divided };
            best = Some((clocks, candidate));
        }
    }
    let Some((clocks, candidate)) = best else {
        let (excess, available) = refusal.unwrap_or((need((1, 1)).saturating_sub(MAX_REGISTERS), MAX_REGISTERS));
        return Err(NoPlan::Registers { needed: available + excess, available });
    };
    let Candidate { warpgroups, slices, producer_warps, converter_warps, registers, divided } = candidate;
    let instead = SLOWDOWN * tensor + instructions / 2.0;
    if clocks > instead.max(loaded) {
        return Err(NoPlan::Production { producer: clocks, instead });
    }
    let columns = dots.iter().map(|dot| dot.n.min(256)).max().unwrap_or(256);
    let mut reasons = vec![
        format!(
            "one thread issues dots of {ROWS} rows and up to {columns} columns into tensor memory{}",
            if dots.iter().any(|dot| dot.pair) { " of each of two CTAs" } else { "" }
        ),
        format!("{} of {COLUMNS} columns of tensor memory", accumulators * needed + stages * of_stage),
        format!(
            "{warpgroups} warpgroups read accumulators{}, with {} registers per thread and an estimated need of {}",
            if slices > 1 { format!(" in {slices} slices") } else { String::new() },
            divided.map_or(registers, |d| d.consumer),
            need((warpgroups, slices))
        ),
        format!("an iteration takes {clocks:.0} clocks: tensor cores {tensor:.0}, L2 {loaded:.0}"),
    ];
    reasons.extend(reason_of_scales(scale_warps, scale_columns));
    if bytes > 0.0 {
        let own = divided.map_or(registers, |d| d.producer);
        let warps = [producer_warps, converter_warps];
        reasons.push(reason_of_production(warps, left_columns, &format!("{bytes:.0} bytes of each stage"), own));
    }
    Ok(TensorPlan {
        warpgroups,
        producer_warps,
        converter_warps,
        scale_warps,
        columns,
        accumulators,
        slices,
        stages,
        registers,
        divided,
        shared_available: shared,
        clocks,
        reasons,
    })
}

/// What brings scale factors, if there are any.
fn reason_of_scales(warps: [u32; 2], columns: u32) -> Option<String> {
    let by = match warps {
        [0, 0] => "copies bring".to_string(),
        [0, warps] => format!("copies bring, and {warps} warps rearrange,"),
        [warps, 0] => format!("{warps} warps bring"),
        [warps, others] => format!("{warps} warps bring, and {others} warps pass on,"),
    };
    (columns > 0).then(|| format!("{by} scale factors, which take {columns} columns in each stage"))
}

/// What warps compute for each stage.
fn reason_of_production([producer, converter]: [u32; 2], columns: u32, bytes: &str, registers: u32) -> String {
    match converter {
        0 => format!("{producer} producer warps compute {bytes}, with {registers} registers per thread"),
        warps => format!(
            "{warps} warps compute left operands from {bytes}, with {registers} registers per thread, and store them to \
             {columns} columns of tensor memory"
        ),
    }
}

/// The number of slices with rows of 128 bytes in memory. TMA stores such a slice as one box, in the swizzle without
/// bank conflicts, and the stores of some slices overlap with code for the next ones.
fn whole_lines(dots: &[DotLoop]) -> u32 {
    dots.iter().map(|dot| dot.n * dot.result_bits / (8 * LINE)).min().unwrap_or(1)
}

/// Predicts the clocks of an iteration of dots that accumulate in tensor memory, if no other tensors need registers.
/// `sliced`: code after the dots may process accumulators of at most 128 rows in slices.
///
/// Errors: as [`plan_tensor`].
pub fn tensor_clocks(dots: &[DotLoop], sliced: bool, machine: &Machine) -> Result<f64, NoPlan> {
    let accumulators: u32 = dots.iter().map(|dot| dot.m * dot.n / 128).sum();
    let pressure = |groups: u32, slices: u32| accumulators / groups / slices;
    let slices = if sliced && dots.iter().all(|dot| dot.m <= ROWS) { MOST_SLICES } else { 1 };
    plan_tensor(dots, (false, slices), &pressure, &Hints::default(), machine).map(|plan| plan.clocks)
}

/// A division into warps, and the registers of each thread.
struct Candidate {
    warpgroups: u32,
    slices: u32,
    producer_warps: u32,
    converter_warps: u32,
    registers: u32,
    divided: Option<Divided>,
}

/// Divides an SM's registers among the threads of a CTA with these warpgroups of consumers and of the producer, which
/// need at least `needs`, beside `others` warps. Returns the registers at launch, and the division if warps of the
/// producer compute.
///
/// Errors: the registers that are missing, and the number that is available.
fn divide(
    all: u32,
    [consumers, producers]: [u32; 2],
    others: u32,
    needs: [u32; 2],
) -> Result<(u32, Option<Divided>), (u32, u32)> {
    let eights = |registers: u32| (registers / 8 * 8).min(MAX_REGISTERS);
    let check = |need: u32, found: u32| if need > found { Err((need - found, found)) } else { Ok(found) };
    if producers == 0 {
        let threads = 32 * (4 * consumers + LOADING_WARPS + MATRIX_WARPS + others);
        return Ok((check(needs[0], eights(all / threads))?, None));
    }
    let groups = consumers + producers + 1;
    let launch = eights(all / (128 * groups));
    let pool = launch * groups - MATRIX_REGISTERS;
    let [consumer, producer] = needs.map(|need| need.next_multiple_of(8));
    let rest = eights(pool.saturating_sub(consumers * consumer) / producers);
    check(producer, rest)?;
    check(consumer, MAX_REGISTERS)?;
    // Estimates are rough where much is computed, so the producer gets more than its estimate. The consumers get the
    // rest.
    let producer = rest.min(producer + SPARE_REGISTERS);
    let consumer = eights((pool - producers * producer) / consumers);
    Ok((launch, Some(Divided { consumer, producer, matrix: MATRIX_REGISTERS })))
}

impl DotLoop {
    /// Clocks of an iteration's instructions, of which one of 256 columns and 32 bytes of K takes `interval`. One of 64
    /// rows takes as long as one of 128 rows, and one of few columns as long as its rows of A need.
    pub(crate) fn tensor_clocks(&self, interval: f64) -> f64 {
        let steps = f64::from(self.m.div_ceil(ROWS)) * f64::from(self.k * self.operand.bits()) / 256.0;
        steps * interval * f64::from(self.n.max(ROWS / 2)) / 256.0
    }

    /// The columns of tensor memory that the accumulator takes.
    pub fn tensor_columns(&self) -> u32 {
        if self.adds_on { 0 } else { self.m.div_ceil(ROWS) * self.n }
    }

    /// The columns of tensor memory that a computed left operand takes.
    pub fn left_columns(&self) -> u32 {
        let columns = self.m.div_ceil(ROWS) * self.k * self.operand.bits() / 32;
        self.left_sources.map_or(0, |_| columns)
    }

    /// Whether this agent brings scale factors or rearranges them. In a pair, they arrive at barriers of their own CTA,
    /// and a converter passes the stages on to the thread that issues dots.
    fn has_scale_agent(&self, agent: ScaleAgent) -> bool {
        self.scales.is_some_and(|scales| scales.by == agent || self.pair && agent == ScaleAgent::Converter)
    }

    /// The columns of tensor memory that the scale factors of an iteration take.
    pub fn scale_columns(&self) -> u32 {
        self.scales.map_or(0, |scales| {
            let factors = self.k / scales.block;
            ScaleFactors::columns(self.m, factors) + ScaleFactors::columns(self.n, factors)
        })
    }

    /// Checks that instructions with accumulators in tensor memory cover the tile, and read both operands as they are.
    ///
    /// Errors: the shape, or an operand that is contiguous along the wrong dimension.
    pub fn check_tensor_shape(&self) -> Result<(), NoPlan> {
        let &Self { m, n, k, .. } = self;
        let unit = if self.pair { Unit::TensorPair } else { Unit::Tensor };
        let scale = self.scales.map(|scales| (scales.format, scales.block));
        let mut rows = tile_mma::generated_scaled(unit, self.operand, scale);
        let least = if matches!(self.operand, Element::S8 | Element::U8) { 16 } else { 8 };
        // One instruction of a pair has all columns, half of them in each CTA.
        let columns = if self.pair { PAIR_COLUMNS.contains(&n) } else { n >= least };
        let whole = columns && rows.any(|r| m >= r.m / unit.ctas() && k >= r.k);
        if !whole || ![m, n, k].into_iter().all(|e| e.is_power_of_two() && e <= 1 << 12) {
            return Err(NoPlan::TensorShape { m, n, k });
        }
        // Packed elements must be contiguous along K.
        if self.operand.bits() == 4 && (self.a_major == Major::Mn || self.b_major == Major::Mn) {
            return Err(NoPlan::Converted);
        }
        Ok(())
    }
}
