//! Plans a loop over one dot: the description of the loop, the candidates, and the plan with its reasons.

use thiserror::Error;

use tile_mma::{Element, Major, Unit};

use crate::machine::{Machine, MachineError};
use crate::model::{ASSUMED_TRIPS, CONVERTER_REGISTERS, Candidate, MAX_STAGES, Numbers, PROMOTION};

/// The storage of A when it is multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AStorage {
    Shared,
    /// Registers. The consumers compute A; `extra` is the number of registers per thread in addition to the fragment.
    Registers {
        extra: u32,
    },
}

/// A loop `accumulator += A * B` that loads the tiles of A and B in each iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DotLoop {
    /// Rows of the tile of A and of the accumulator.
    pub m: u32,
    /// Columns of the tile of B and of the accumulator.
    pub n: u32,
    /// Elements of K per iteration.
    pub k: u32,
    /// The element type of A and B.
    pub operand: Element,
    /// The dimension along which the tile of A is contiguous in memory.
    pub a_major: Major,
    /// The dimension along which the tile of B is contiguous in memory.
    pub b_major: Major,
    /// Shared memory or registers.
    pub a_storage: AStorage,
    /// For A and B: whether the consumers compute its elements from a loaded tile.
    pub computed: [bool; 2],
    /// For A and B: whether it is producer-computed because TMA cannot load it.
    pub producer_computed: [bool; 2],
    /// For A and B: whether the producer's threads copy it to its stage asynchronously. Only consumers wait for the
    /// copy.
    pub copied: [bool; 2],
    /// Instructions per thread to compute the operands of an iteration, if the producer is one warpgroup.
    pub producer_instructions: u32,
    /// The length of the longest chain of dependent loads of an iteration, in which addresses are loaded first.
    pub producer_loads: u32,
    /// Registers per thread to compute them, with one producer warpgroup and with two.
    pub producer_registers: [u32; 2],
    /// Whether 8-bit floats must be accumulated as exactly as with f32 accumulators.
    pub exact_accumulation: bool,
    /// Bits of an element of the result in memory.
    pub result_bits: u32,
    /// Registers per thread that the epilogue holds in addition to the accumulator, such as a bias or scale.
    pub epilogue_registers: u32,
    /// The trip count, if known.
    pub trips: Option<u32>,
    /// Whether the program loops over tiles around this loop (a persistent kernel).
    pub over_tiles: bool,
    /// Whether TMA may load both operands.
    pub tensor_copies: bool,
    /// Whether two CTAs run the dot together. `m` counts the rows of one; each loads half of the columns of B.
    pub pair: bool,
    /// Whether the dot adds to the accumulator of the dot before it.
    pub adds_on: bool,
    /// The scale factors of blocks along K, if the dot has any.
    pub scales: Option<Scales>,
    /// If converter warps compute A from tiles in stages and store it to tensor memory: the bytes of these tiles in an
    /// iteration.
    pub left_sources: Option<u32>,
}

/// The scale factors of a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scales {
    pub format: Element,
    /// The elements along K that share a scale factor.
    pub block: u32,
    pub by: ScaleAgent,
}

/// What brings scale factors to the stages, in the order of blocks that the hardware copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaleAgent {
    /// Copies of the producer.
    Producer,
    /// The same, and then warps that rearrange them in the stage.
    Converter,
    /// Warps that load them.
    Warps,
}

impl DotLoop {
    /// A dot with operands contiguous along K and 16-bit results.
    pub fn new((m, n, k): (u32, u32, u32), operand: Element) -> Self {
        Self {
            m,
            n,
            k,
            operand,
            a_major: Major::K,
            b_major: Major::K,
            a_storage: AStorage::Shared,
            computed: [false; 2],
            producer_computed: [false; 2],
            copied: [false; 2],
            producer_instructions: 0,
            producer_loads: 0,
            producer_registers: [0; 2],
            exact_accumulation: true,
            result_bits: 16,
            epilogue_registers: 0,
            trips: None,
            over_tiles: false,
            tensor_copies: true,
            pair: false,
            adds_on: false,
            scales: None,
            left_sources: None,
        }
    }

    /// Bytes of the tiles that a CTA loads in an iteration.
    pub fn stage_bytes(&self) -> u32 {
        let columns = if self.pair { self.n / 2 } else { self.n };
        let bytes = |rows: u32| rows * self.k * self.operand.bits() / 8;
        self.left_sources.unwrap_or(bytes(self.m)) + bytes(columns)
    }

    /// Bytes of the result in memory.
    pub fn result_bytes(&self) -> u32 {
        self.m * self.n * self.result_bits / 8
    }

    /// Bytes of the operands that must be converted in shared memory before the dot, because their elements are
    /// computed or because they must be transposed: only 16-bit operands may be contiguous along M or N.
    pub fn converted_bytes(&self) -> u32 {
        let [transposed_a, transposed_b] = self.transposed();
        let a = if self.a_storage == AStorage::Shared && (transposed_a || self.computed[0]) { self.m } else { 0 };
        let b = if transposed_b || self.computed[1] { self.n } else { 0 };
        (a + b) * self.k * self.operand.bits() / 8
    }

    /// Whether a converter warpgroup, which has few registers, can do all conversions of a stage. It can transpose
    /// 8-bit operands in panels of 128x128 bytes (`tile_layout::transposed_panels`), nothing else.
    pub fn may_have_converter(&self) -> bool {
        let in_panels = |rows: u32| self.operand.bits() == 8 && self.k == PANEL && rows.is_multiple_of(PANEL);
        let all = self
            .transposed()
            .into_iter()
            .zip([self.m, self.n])
            .all(|(transposed, rows)| !transposed || in_panels(rows));
        self.converted_bytes() > 0 && self.computed == [false; 2] && all
    }

    /// For A and B: whether it must be transposed in its stage.
    fn transposed(&self) -> [bool; 2] {
        let transposed = |major| major == Major::Mn && self.operand.bits() != 16;
        [self.a_storage == AStorage::Shared && transposed(self.a_major), transposed(self.b_major)]
    }

    /// Bytes of the producer-computed operands of an iteration, which go through shared memory: the operands, or the
    /// tiles from which they are computed.
    pub fn producer_bytes(&self) -> u32 {
        if let Some(bytes) = self.left_sources {
            return bytes;
        }
        let rows = [self.m, self.n]
            .into_iter()
            .zip(self.producer_computed)
            .map(|(rows, computed)| if computed { rows } else { 0 });
        rows.sum::<u32>() * self.k * self.operand.bits() / 8
    }

    /// Whether partial results are promoted to an f32 accumulator. The tensor cores accumulate 8-bit floats with
    /// fewer bits than f32 has.
    pub fn promoted(&self) -> bool {
        matches!(self.operand, Element::E4m3 | Element::E5m2) && self.exact_accumulation
    }

    /// Registers per thread for the partial results of instructions of `columns` columns before they are promoted.
    /// One chain is in flight at a time.
    pub fn chain_registers(&self, columns: u32) -> u32 {
        if self.promoted() { 64 * columns / 128 } else { 0 }
    }
}

/// The program's hints. Each is a cost, not a constraint. (A program that forbids TMA sets [`DotLoop::tensor_copies`]
/// to false, which is a constraint.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hints {
    /// The expected latency of loads, from 1 to 10.
    pub latency: Option<u32>,
    /// Resident CTAs per SM.
    pub occupancy: Option<u32>,
    /// Warps that compute.
    pub worker_warps: Option<u32>,
}

impl Hints {
    /// The factor on the cost of a plan for the hints that it ignores.
    pub(crate) fn ignored(&self, blocks: u32, consumers: u32) -> f64 {
        let missed =
            [self.occupancy.is_some_and(|o| o != blocks), self.worker_warps.is_some_and(|w| w != 4 * consumers)];
        IGNORED_HINT.powi(missed.into_iter().filter(|&m| m).count() as i32)
    }
}

/// How the epilogue stores results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epilogue {
    /// Columns of a chunk; its rows have 128 bytes.
    pub columns: u32,
    /// Buffers per consumer.
    pub buffers: u32,
    /// Bytes of all buffers.
    pub bytes: u32,
    /// Whether the buffers reuse the memory of the ring.
    pub in_ring: bool,
}

/// Registers per thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// The estimated need of a consumer.
    pub estimate: u32,
    /// At launch (`.maxnreg`).
    pub launch: u32,
    /// After `setmaxnreg`.
    pub producer: u32,
    pub consumer: u32,
    /// Of the converter warpgroup, if there is one.
    pub converter: Option<u32>,
}

impl Registers {
    pub(crate) fn reason(&self) -> String {
        let &Self { launch, producer, consumer, converter, .. } = self;
        match converter {
            None => {
                format!("registers: {launch} at launch, then {producer} for the producer and {consumer} for consumers")
            }
            Some(converter) => format!(
                "registers: {launch} at launch, then {producer} for the producer, {converter} for the converter and \
                 {consumer} for consumers"
            ),
        }
    }
}

/// Predicted clocks for one CTA while all SMs are busy, per iteration except for [`Self::tile`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    pub tensor: f64,
    pub l2: f64,
    pub ring: f64,
    pub promotion: f64,
    pub conversion: f64,
    pub production: f64,
    /// The largest of the above.
    pub iteration: f64,
    /// The name of the largest.
    pub bound: &'static str,
    /// Clocks of a whole tile.
    pub tile: f64,
    /// The fraction of the tile's time in which the tensor cores are busy.
    pub share: f64,
}

/// The chosen plan of a loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Consumer warpgroups along the rows and along the columns.
    pub groups: (u32, u32),
    /// Columns of an instruction.
    pub columns: u32,
    /// Warpgroups of the producer.
    pub producers: u32,
    /// Threads of a CTA.
    pub threads: u32,
    /// Resident CTAs per SM.
    pub blocks: u32,
    /// Stages of the ring.
    pub stages: u32,
    pub epilogue: Epilogue,
    /// Shared memory of a CTA, in bytes.
    pub shared_bytes: u32,
    /// Shared memory available to a CTA if `blocks` of them are resident.
    pub shared_available: u32,
    pub registers: Registers,
    /// Whether the ring continues from one tile to the next.
    pub persistent: bool,
    pub prediction: Prediction,
    /// The reasons for the choice, which remarks print.
    pub reasons: Vec<String>,
}

impl Plan {
    /// The number of consumer warpgroups.
    pub fn consumers(&self) -> u32 {
        self.groups.0 * self.groups.1
    }
}

/// Why no plan fits. The caller falls back to instructions of single warps.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NoPlan {
    #[error("warpgroup instructions cannot cover a tile of {m} rows, {n} columns and depth {k}")]
    Shape { m: u32, n: u32, k: u32 },
    #[error("dots into tensor memory cannot cover a tile of {m} rows, {n} columns and depth {k}")]
    TensorShape { m: u32, n: u32, k: u32 },
    #[error("eight or four warps cannot divide a tile of {m} rows, {n} columns and depth {k}")]
    SyncShape { m: u32, n: u32, k: u32 },
    #[error("accumulators need {needed} columns of tensor memory, which has {available}")]
    TensorMemory { needed: u32, available: u32 },
    #[error("an operand must be converted in shared memory")]
    Converted,
    #[error("TMA cannot load the operands")]
    NoTensorCopies,
    #[error("no division into warpgroups fits: the closest needs {needed} registers per thread and gets {available}")]
    Registers { needed: u32, available: u32 },
    #[error("two stages of {stage} bytes do not fit into {available} bytes of shared memory")]
    SharedMemory { stage: u32, available: u32 },
    #[error(
        "producer warps would take {producer:.0} clocks for a stage, but an iteration without them only {instead:.0}"
    )]
    Production { producer: f64, instead: f64 },
    #[error(transparent)]
    Machine(#[from] MachineError),
}

/// Rows, and bytes of a row, of a panel that is transposed in few registers.
const PANEL: u32 = 128;
/// Bytes of a chunk of the epilogue: 64 rows of 128 bytes.
const CHUNK: u32 = 64 * 128;
/// Bytes reserved for barriers and other small allocations.
const BARRIERS: u32 = 1024;
/// The factor on the cost of a plan for each hint that it ignores.
const IGNORED_HINT: f64 = 1.03;
/// A plan that gives up what usually pays must cost less than this fraction of the best plan so far. On an H200, two
/// CTAs per SM were measured to be 14 % faster than one at 16 iterations of 128x128x64, 3 % faster at 32, and 6 %
/// slower at 64.
pub(crate) const CLEARLY: f64 = 0.9;

/// Chooses warpgroups, stages, registers and the epilogue of a loop over one dot.
///
/// Errors: no candidate fits; the error is that of the candidate that came closest. The caller then falls back to
/// instructions of single warps.
pub fn plan(product: &DotLoop, hints: &Hints, machine: &Machine) -> Result<Plan, NoPlan> {
    let numbers = Numbers::new(machine)?;
    product.check_shape()?;
    if !product.tensor_copies {
        return Err(NoPlan::NoTensorCopies);
    }
    let mut best: Option<(f64, Plan)> = None;
    // The refusal of the candidate that came closest.
    let mut refusal: Option<NoPlan> = None;
    for candidate in candidates(product, hints) {
        match complete(product, hints, &numbers, candidate) {
            Ok(plan) => {
                let cost = plan.prediction.tile * hints.ignored(plan.blocks, plan.consumers());
                // Candidates are listed in order of preference, so a later one must be better.
                let margin = |best: &Plan| {
                    let shares = hints.occupancy.is_none() && plan.blocks > best.blocks;
                    if shares { CLEARLY } else { 0.995 }
                };
                if best.as_ref().is_none_or(|(least, best)| cost < least * margin(best)) {
                    best = Some((cost, plan));
                }
            }
            Err(error) => refusal = Some(closer(refusal, error)),
        }
    }
    let (m, n, k) = (product.m, product.n, product.k);
    best.map(|(_, plan)| plan).ok_or(refusal.unwrap_or(NoPlan::Shape { m, n, k }))
}

impl DotLoop {
    /// Checks that warpgroup instructions can cover the tile.
    ///
    /// Errors: the shape of the tile, if they cannot.
    pub fn check_shape(&self) -> Result<(), NoPlan> {
        let &Self { m, n, k, .. } = self;
        let mut rows = tile_mma::generated(Unit::Warpgroup, self.operand);
        let whole = rows.any(|r| m >= r.m && r.n.iter().next().is_some_and(|least| n >= least) && k >= r.k);
        if !whole || ![m, n, k].into_iter().all(|e| e.is_power_of_two() && e <= 1 << 12) {
            return Err(NoPlan::Shape { m, n, k });
        }
        Ok(())
    }
}

fn closer(old: Option<NoPlan>, new: NoPlan) -> NoPlan {
    match (old, new) {
        (Some(NoPlan::Registers { needed, available }), NoPlan::Registers { needed: n, available: a }) => {
            if needed.saturating_sub(available) <= n.saturating_sub(a) {
                NoPlan::Registers { needed, available }
            } else {
                NoPlan::Registers { needed: n, available: a }
            }
        }
        // This candidate had enough registers and memory.
        (Some(production @ NoPlan::Production { .. }), _) => production,
        // This candidate had enough registers but too little memory.
        (Some(memory @ NoPlan::SharedMemory { .. }), _) => memory,
        (_, new) => new,
    }
}

/// All candidates in order of preference. Two warpgroups along the rows hide each other's waits. If several CTAs share
/// an SM, they do that, and one warpgroup has the registers for wider instructions. A split along the columns reads A
/// twice. Wider instructions are fewer.
fn candidates(product: &DotLoop, hints: &Hints) -> Vec<Candidate> {
    let rows = product.m / 64;
    // One CTA with all of the shared memory is the default. An occupancy hint adds candidates. So does a known trip
    // count, since two CTAs hide each other's start and end.
    let most = match (product.over_tiles, hints.occupancy, product.trips) {
        (true, _, _) | (_, None, None) => 1,
        (_, Some(asked), _) => asked.clamp(1, 4),
        (_, None, Some(_)) => 2,
    };
    // More producer warps compute operands faster.
    let producers = if product.producer_computed.contains(&true) { 1..=2 } else { 1..=1 };
    let converters: &[bool] = if product.may_have_converter() { &[false, true] } else { &[false] };
    let mut all = Vec::new();
    for blocks in 1..=most {
        let along_rows = if blocks == 1 { [(2, 1), (1, 1)] } else { [(1, 1), (2, 1)] };
        let groups = along_rows.into_iter().chain([(1, 2), (2, 2), (4, 1)]);
        for groups in groups.filter(|&(m, n)| m <= rows && product.n / n >= 8) {
            let mut columns = (product.n / groups.1).min(256);
            while columns >= 8.max(product.n / groups.1 / 8) {
                for producers in producers.clone() {
                    let candidate = |converter| Candidate { groups, columns, producers, converter, blocks, stages: 0 };
                    all.extend(converters.iter().map(|converter| candidate(*converter)));
                }
                columns /= 2;
            }
        }
    }
    all
}

/// Completes a candidate with registers, ring and epilogue.
///
/// Errors: the limit that it exceeds.
fn complete(product: &DotLoop, hints: &Hints, numbers: &Numbers, candidate: Candidate) -> Result<Plan, NoPlan> {
    let producer_need = product.producer_registers[candidate.producers as usize - 1];
    let needed = [candidate.registers(product, numbers), producer_need];
    let registers = divide_registers(needed, numbers, &candidate)?;
    // The hint can only raise the latency above the measured one.
    let latency = if hints.latency.is_some_and(|l| l >= 7) { 2.0 } else { 1.0 };
    let per_sm = numbers.shared_sm / candidate.blocks - numbers.shared_reserved;
    let available = per_sm.min(numbers.shared_block) - BARRIERS;
    let stage = product.stage_bytes();
    let in_ring = !product.over_tiles;
    let chunks = |buffers: u32| buffers * candidate.consumers() * CHUNK;
    let fit =
        |buffers: u32| if in_ring { available / stage } else { available.saturating_sub(chunks(buffers)) / stage };
    let trip = numbers.round_trip(product, candidate.columns, latency);
    let busy = numbers.predict(product, &Candidate { stages: u32::MAX, ..candidate }, latency).iteration;
    let wanted = ((trip / busy).ceil() as u32 + 1).clamp(2, MAX_STAGES);
    // A second buffer overlaps the chunks of one tile. A stage hides latency in every iteration, so it has priority.
    let buffers = if fit(2) >= wanted.min(fit(1)) { 2 } else { 1 };
    let stages = fit(buffers).min(wanted);
    if stages < 2 {
        return Err(NoPlan::SharedMemory { stage, available });
    }
    let candidate = Candidate { stages, ..candidate };
    let prediction = numbers.predict(product, &candidate, latency);
    let instead = numbers.without_agents(product);
    if prediction.production > instead {
        return Err(NoPlan::Production { producer: prediction.production, instead });
    }
    let epilogue = Epilogue {
        columns: (1024 / product.result_bits).min(product.n / candidate.groups.1),
        buffers,
        bytes: chunks(buffers),
        in_ring,
    };
    let ring = stages * stage;
    let shared_bytes = if in_ring { ring.max(epilogue.bytes) } else { ring + epilogue.bytes } + BARRIERS;
    let mut plan = Plan {
        groups: candidate.groups,
        columns: candidate.columns,
        producers: candidate.producers,
        threads: candidate.threads(),
        blocks: candidate.blocks,
        stages,
        epilogue,
        shared_bytes,
        shared_available: available + BARRIERS,
        registers,
        persistent: product.over_tiles,
        prediction,
        reasons: Vec::new(),
    };
    plan.reasons = reasons(product, hints, &plan, (fit(buffers), wanted));
    Ok(plan)
}

/// Registers per thread in addition to the accumulators of an instruction below which ptxas rejects it (C7602): an
/// instruction of 128 columns has 64 accumulators and needs 90 registers in all.
const INSTRUCTION_REGISTERS: u32 = 26;

/// Registers that consumers keep beyond their estimate while a producer could use more than its least.
const SPARE_REGISTERS: u32 = 16;

/// The maximum that a producer thread that computes operands gets beyond its estimate.
const MORE_REGISTERS: u32 = 64;

/// Divides an SM's registers. The producer gets few, or its need if it computes operands. The consumers get the rest,
/// which must be at least `estimate`.
pub(crate) fn divide_registers(
    [estimate, producer_need]: [u32; 2],
    numbers: &Numbers,
    candidate: &Candidate,
) -> Result<Registers, NoPlan> {
    let eights = |r: u32| r / 8 * 8;
    let launch = eights(numbers.registers / (candidate.threads() * candidate.blocks)).min(numbers.max_registers);
    // ptxas requires the registers of an instruction to be available at launch.
    let instruction = candidate.columns / 2 + INSTRUCTION_REGISTERS;
    if launch < instruction {
        return Err(NoPlan::Registers { needed: instruction, available: launch });
    }
    let consumers = candidate.consumers();
    let converter = candidate.converter.then_some(CONVERTER_REGISTERS);
    let pool = (launch * candidate.threads() / 128).saturating_sub(converter.unwrap_or(0));
    let rest = |producer: u32| {
        eights(pool.saturating_sub(candidate.producers * producer) / consumers).min(numbers.max_registers)
    };
    // A producer that only issues loads runs well with 40 registers, and with the minimum where consumers need more.
    if producer_need > numbers.max_registers {
        return Err(NoPlan::Registers { needed: producer_need, available: numbers.max_registers });
    }
    let least = producer_need.next_multiple_of(8).clamp(numbers.min_registers, numbers.max_registers);
    // A producer that computes operands gets more than its estimate if the consumers can spare it: data loaded ahead
    // is held twice, and estimates are rough where much is computed.
    let kept = consumers * (estimate + SPARE_REGISTERS).next_multiple_of(8);
    let spared = eights(pool.saturating_sub(kept) / candidate.producers);
    let ample = if producer_need > 0 {
        spared
            .min(producer_need + producer_need.min(MORE_REGISTERS))
            .next_multiple_of(8)
            .clamp(least, numbers.max_registers)
    } else {
        40.max(least)
    };
    let producers = [ample, least];
    // Estimates are rough, and a converter leaves the consumers few spare registers.
    let wanted = estimate + if candidate.converter { 8 } else { 0 };
    let producer = producers.into_iter().find(|&p| rest(p) >= wanted).unwrap_or(least);
    let consumer = rest(producer);
    if consumer < estimate {
        return Err(NoPlan::Registers { needed: estimate, available: consumer });
    }
    Ok(Registers { estimate, launch, producer, consumer, converter })
}

fn reasons(product: &DotLoop, hints: &Hints, plan: &Plan, (fit, wanted): (u32, u32)) -> Vec<String> {
    let p = &plan.prediction;
    let (m_groups, n_groups) = plan.groups;
    let warpgroups = if plan.consumers() == 1 { "warpgroup" } else { "warpgroups" };
    let mut reasons = vec![
        format!(
            "{} consumer {warpgroups} of {} rows and {} columns, {} accumulators in an estimated {} registers per thread",
            plan.consumers(),
            product.m / m_groups,
            product.n / n_groups,
            product.m * product.n / (plan.consumers() * 128),
            plan.registers.estimate
        ),
        plan.registers.reason(),
        format!(
            "{} stages of {} bytes: {wanted} hide a load from memory with one to spare, {fit} fit",
            plan.stages,
            product.stage_bytes()
        ),
        format!(
            "an iteration takes {:.0} clocks, bound by {}: tensor cores {:.0}, L2 {:.0}, ring {:.0}",
            p.iteration, p.bound, p.tensor, p.l2, p.ring
        ),
    ];
    if plan.columns < (product.n / n_groups).min(256) {
        reasons.push(format!("instructions of {} columns, which use fewer registers at a time", plan.columns));
    }
    if product.promoted() {
        reasons.push(format!(
            "8-bit floats are promoted to an f32 accumulator after every {PROMOTION} elements of K, {:.0} clocks",
            p.promotion
        ));
    }
    if product.producer_bytes() > 0 {
        let copies =
            if product.copied == product.producer_computed { 2 } else { usize::from(product.copied.contains(&true)) };
        reasons.push(format!(
            "{} producer warps compute {} bytes of each stage in {:.0} clocks, {}with an estimated {} registers per thread",
            4 * plan.producers,
            product.producer_bytes(),
            p.production,
            ["", "partly by asynchronous copies, ", "by asynchronous copies, "][copies],
            product.producer_registers[plan.producers as usize - 1]
        ));
    }
    if product.converted_bytes() > 0 {
        let computed = product.computed.contains(&true);
        let why =
            if computed { "their elements are computed" } else { "the instruction requires them contiguous along K" };
        let by = if plan.registers.converter.is_some() { "a converter warpgroup" } else { "the consumers" };
        reasons.push(format!(
            "{} bytes of each stage are converted in place by {by} in {:.0} clocks: {why}",
            product.converted_bytes(),
            p.conversion
        ));
    }
    let place = if plan.epilogue.in_ring {
        "in the memory of the ring"
    } else {
        "next to the ring, which continues across tiles"
    };
    let chunks = &plan.epilogue;
    reasons.push(format!(
        "the epilogue stores chunks of {} columns from {} buffers {place}",
        chunks.columns, chunks.buffers
    ));
    let trips = product.trips.map_or(format!("{ASSUMED_TRIPS} iterations assumed"), |t| format!("{t} iterations"));
    reasons.push(format!(
        "a tile takes {:.0} clocks, in {:.0} % of which the tensor cores are busy ({trips})",
        p.tile,
        100.0 * p.share
    ));
    let hinted =
        [("occupancy", hints.occupancy, plan.blocks), ("num_worker_warps", hints.worker_warps, 4 * plan.consumers())];
    for (name, asked, taken) in hinted {
        if let Some(asked) = asked.filter(|&asked| asked != taken) {
            reasons.push(format!("the hint {name} = {asked} is ignored: {taken} is faster or the most that fits"));
        }
    }
    reasons
}
