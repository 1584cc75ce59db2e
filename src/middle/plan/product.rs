//! The decision: what is asked, the candidates, and the answer with its reasons.

use thiserror::Error;

use tile_mma::{Element, Major, Unit};

use crate::machine::{Machine, MachineError};
use crate::model::{ASSUMED_TRIPS, CONVERTER_REGISTERS, Candidate, Numbers, PROMOTION};

/// Where A is when it is multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AStorage {
    Shared,
    /// Computed by the consumers; `extra` registers a thread beside the fragment itself.
    Registers {
        extra: u32,
    },
}

/// A loop `accumulator += A * B` with tiles loaded in each iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DotLoop {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub operand: Element,
    pub a_major: Major,
    pub b_major: Major,
    pub a_storage: AStorage,
    /// The consumers compute the elements of A, and of B, from what is loaded.
    pub computed: [bool; 2],
    /// Warps of the producer make A, and B, where no tensor copies load them.
    pub producer_computed: [bool; 2],
    /// Of these, what their threads copy to the stages: nobody waits until it has come but the consumers.
    pub copied: [bool; 2],
    /// Instructions of each thread of a warpgroup that makes them alone.
    pub producer_instructions: u32,
    /// Loads that the warps wait for one after the other in an iteration, because addresses are loaded too.
    pub producer_loads: u32,
    /// Registers of a thread that are needed for it, by one warpgroup and by two.
    pub producer_registers: [u32; 2],
    /// Sums of 8-bit floats are to be as exact as those of f32.
    pub exact_accumulation: bool,
    /// Size of an element of the result in memory.
    pub result_bits: u32,
    /// Registers a thread that the epilogue holds beside the accumulator: a bias, a scale.
    pub epilogue_registers: u32,
    /// Iterations, where known.
    pub trips: Option<u32>,
    /// The program loops over tiles around this loop.
    pub over_tiles: bool,
    /// Tensor copies can load both operands.
    pub tensor_copies: bool,
}

impl DotLoop {
    /// A product with operands contiguous along K and 16-bit results.
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
        }
    }

    /// Bytes that an iteration loads.
    pub fn stage_bytes(&self) -> u32 {
        (self.m + self.n) * self.k * self.operand.bits() / 8
    }

    /// Bytes of the result.
    pub fn result_bytes(&self) -> u32 {
        self.m * self.n * self.result_bits / 8
    }

    /// Bytes of the operands that are changed in shared memory before they are multiplied, because their elements are
    /// computed, or because they must be turned: only 16-bit operands may be contiguous along M or N.
    pub fn converted_bytes(&self) -> u32 {
        let [transposed_a, transposed_b] = self.transposed();
        let a = if self.a_storage == AStorage::Shared && (transposed_a || self.computed[0]) { self.m } else { 0 };
        let b = if transposed_b || self.computed[1] { self.n } else { 0 };
        (a + b) * self.k * self.operand.bits() / 8
    }

    /// Whether warps with few registers can change what must be changed: bytes that are turned in panels of 128x128
    /// (`tile_layout::transposed_panels`), and nothing else.
    pub fn may_have_converter(&self) -> bool {
        let in_panels = |rows: u32| self.operand.bits() == 8 && self.k == PANEL && rows.is_multiple_of(PANEL);
        let all = self
            .transposed()
            .into_iter()
            .zip([self.m, self.n])
            .all(|(transposed, rows)| !transposed || in_panels(rows));
        self.converted_bytes() > 0 && self.computed == [false; 2] && all
    }

    /// Whether A, and B, must be turned in its stage.
    fn transposed(&self) -> [bool; 2] {
        let transposed = |major| major == Major::Mn && self.operand.bits() != 16;
        [self.a_storage == AStorage::Shared && transposed(self.a_major), transposed(self.b_major)]
    }

    /// Bytes of the operands that warps of the producer make in an iteration.
    pub fn producer_bytes(&self) -> u32 {
        let rows = [self.m, self.n]
            .into_iter()
            .zip(self.producer_computed)
            .map(|(rows, computed)| if computed { rows } else { 0 });
        rows.sum::<u32>() * self.k * self.operand.bits() / 8
    }

    /// The tensor cores add 8-bit floats with fewer bits than f32 has, so sums go to a second accumulator now and then.
    pub fn promoted(&self) -> bool {
        matches!(self.operand, Element::E4m3 | Element::E5m2) && self.exact_accumulation
    }

    /// Registers of a thread for what instructions of so many columns sum up beside the accumulator; one chain is under
    /// way at a time.
    pub fn chain_registers(&self, columns: u32) -> u32 {
        if self.promoted() { 64 * columns / 128 } else { 0 }
    }
}

/// What the program asks for. Each is a cost, not an order, but for `tensor_copies: false`, which is the program's
/// right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hints {
    /// 1 to 10: how long loads are expected to take.
    pub latency: Option<u32>,
    /// Blocks of an SM.
    pub occupancy: Option<u32>,
    /// Warps that compute.
    pub worker_warps: Option<u32>,
}

/// How results leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epilogue {
    /// Columns of a chunk: rows of 128 bytes.
    pub columns: u32,
    /// Buffers for each consumer.
    pub buffers: u32,
    /// Bytes of all buffers.
    pub bytes: u32,
    /// They lie where the ring was.
    pub in_ring: bool,
}

/// Registers of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// What a consumer is estimated to need.
    pub estimate: u32,
    /// At launch: `.maxnreg`.
    pub launch: u32,
    /// After `setmaxnreg`.
    pub producer: u32,
    pub consumer: u32,
    /// Of a warpgroup that changes stages, if there is one.
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

/// Clocks, for one block with all SMs busy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    pub tensor: f64,
    pub l2: f64,
    pub ring: f64,
    pub promotion: f64,
    pub conversion: f64,
    pub production: f64,
    /// The largest of them.
    pub iteration: f64,
    /// Its name.
    pub bound: &'static str,
    /// A whole tile.
    pub tile: f64,
    /// The part of it in which the tensor cores are busy.
    pub share: f64,
}

/// The decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Consumer warpgroups along the rows and along the columns.
    pub groups: (u32, u32),
    /// Columns of an instruction.
    pub columns: u32,
    /// Warpgroups of the producer.
    pub producers: u32,
    /// Threads of a block.
    pub threads: u32,
    pub blocks: u32,
    pub stages: u32,
    pub epilogue: Epilogue,
    pub shared_bytes: u32,
    /// Shared memory that a block may take if all `blocks` are to have it.
    pub shared_available: u32,
    pub registers: Registers,
    pub persistent: bool,
    pub prediction: Prediction,
    /// Why, for remarks.
    pub reasons: Vec<String>,
}

impl Plan {
    pub fn consumers(&self) -> u32 {
        self.groups.0 * self.groups.1
    }
}

/// Why there is no plan: other instructions have to do.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NoPlan {
    #[error("a tile of {m} rows, {n} columns and depth {k} is not made of whole warpgroup products")]
    Shape { m: u32, n: u32, k: u32 },
    #[error("tensor copies cannot load the operands")]
    NoTensorCopies,
    #[error("no arrangement of warpgroups fits: the best needs {needed} registers a thread and gets {available}")]
    Registers { needed: u32, available: u32 },
    #[error("two stages of {stage} bytes do not fit into {available} bytes of shared memory")]
    SharedMemory { stage: u32, available: u32 },
    #[error("a producer's warps would take {producer:.0} clocks to make a stage, and those that multiply {instead:.0}")]
    Production { producer: f64, instead: f64 },
    #[error(transparent)]
    Machine(#[from] MachineError),
}

/// Rows, and bytes of a row, of what can be turned in few registers.
const PANEL: u32 = 128;
/// Bytes of a chunk of the epilogue: 64 rows of 128 bytes.
const CHUNK: u32 = 64 * 128;
/// Room for barriers and small things.
const BARRIERS: u32 = 1024;
/// What a plan is charged for each hint that it does not follow.
const IGNORED_HINT: f64 = 1.03;
/// A ring is not deeper than this, whatever fits.
const MAX_STAGES: u32 = 8;

/// Decides how a product is carried out.
///
/// Errors: no way fits, with what is missing; the caller then takes instructions of single warps.
pub fn plan(product: &DotLoop, hints: &Hints, machine: &Machine) -> Result<Plan, NoPlan> {
    let numbers = Numbers::new(machine)?;
    product.check_shape()?;
    if !product.tensor_copies {
        return Err(NoPlan::NoTensorCopies);
    }
    let mut best: Option<(f64, Plan)> = None;
    // The refusal of the plan that came closest.
    let mut refusal: Option<NoPlan> = None;
    for candidate in candidates(product, hints) {
        match complete(product, hints, &numbers, candidate) {
            Ok(plan) => {
                let cost = plan.prediction.tile * ignored(&plan, hints);
                // Candidates come in the order of preference: a later one has to be better.
                if best.as_ref().is_none_or(|(least, _)| cost < least * 0.995) {
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
    /// Whether instructions of warpgroups make up the tile.
    ///
    /// Errors: its shape, if they do not.
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
        // Registers and memory were enough.
        (Some(production @ NoPlan::Production { .. }), _) => production,
        // Registers were enough: memory is what is missing.
        (Some(memory @ NoPlan::SharedMemory { .. }), _) => memory,
        (_, new) => new,
    }
}

/// All ways to share out a tile, in the order of preference: two warpgroups above each other hide each other's waits; a
/// split along the columns reads A twice; wide instructions are fewer.
fn candidates(product: &DotLoop, hints: &Hints) -> Vec<Candidate> {
    let rows = product.m / 64;
    let mut groups: Vec<(u32, u32)> = [(2, 1), (1, 1), (1, 2), (2, 2), (4, 1)].to_vec();
    groups.retain(|&(m, n)| m <= rows && product.n / n >= 8);
    let occupancy = hints.occupancy.unwrap_or(1).clamp(1, 4);
    let mut blocks = vec![1];
    // More warps of a producer make tiles faster.
    let producers = if product.producer_computed.contains(&true) { 1..=2 } else { 1..=1 };
    let converters: &[bool] = if product.may_have_converter() { &[false, true] } else { &[false] };
    // One block with the whole memory is the rule; a hint makes others worth a look.
    blocks.extend((2..=occupancy).filter(|_| !product.over_tiles));
    let mut all = Vec::new();
    for &blocks in &blocks {
        for &groups in &groups {
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

/// How much of the hints a plan leaves out, as a factor of cost.
fn ignored(plan: &Plan, hints: &Hints) -> f64 {
    let missed = [
        hints.occupancy.is_some_and(|o| o != plan.blocks),
        hints.worker_warps.is_some_and(|w| w != 4 * plan.consumers()),
    ];
    IGNORED_HINT.powi(missed.into_iter().filter(|&m| m).count() as i32)
}

/// Registers, ring and epilogue of a candidate, or what it lacks.
fn complete(product: &DotLoop, hints: &Hints, numbers: &Numbers, candidate: Candidate) -> Result<Plan, NoPlan> {
    let made = product.producer_registers[candidate.producers as usize - 1];
    let needed = [candidate.registers(product, numbers), made];
    let registers = divide_registers(needed, numbers, &candidate)?;
    // What the hint makes of the latency; less than measured is not believed.
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
    // A second buffer overlaps chunks of a tile; a stage that hides latency in every iteration is worth more.
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

/// Registers beside the accumulators of an instruction without which ptxas does not compile it: it asks for 90 in all
/// where an instruction of 128 columns has 64 accumulators (C7602).
const INSTRUCTION_REGISTERS: u32 = 26;

/// What consumers keep beyond what they are estimated to need, when a producer could use more than it was given.
const SPARE_REGISTERS: u32 = 16;

/// What a thread that makes tiles gets at most beyond its estimate.
const MORE_REGISTERS: u32 = 64;

/// Divides an SM's registers: the producer gets little, or what it needs to make tiles, and the consumers the rest,
/// which must be `estimate` at least.
pub(crate) fn divide_registers(
    [estimate, made]: [u32; 2],
    numbers: &Numbers,
    candidate: &Candidate,
) -> Result<Registers, NoPlan> {
    let eights = |r: u32| r / 8 * 8;
    let launch = eights(numbers.registers / (candidate.threads() * candidate.blocks)).min(numbers.max_registers);
    // The finaliser wants an instruction's registers to be there at launch.
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
    // A producer is comfortable with 40 registers; where consumers need more it makes do with the least.
    if made > numbers.max_registers {
        return Err(NoPlan::Registers { needed: made, available: numbers.max_registers });
    }
    let least = made.next_multiple_of(8).clamp(numbers.min_registers, numbers.max_registers);
    // Warps that make tiles get more than they are estimated to need, if consumers can spare it: what is loaded ahead
    // is there twice, and estimates are rough where much is computed.
    let kept = consumers * (estimate + SPARE_REGISTERS).next_multiple_of(8);
    let spared = eights(pool.saturating_sub(kept) / candidate.producers);
    let ample = if made > 0 {
        spared.min(made + made.min(MORE_REGISTERS)).next_multiple_of(8).clamp(least, numbers.max_registers)
    } else {
        40.max(least)
    };
    let producers = [ample, least];
    // Estimates are rough, and beside a converter there is little left of what consumers could have had otherwise.
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
            "{} consumer {warpgroups} of {} rows and {} columns, {} accumulators of an estimated {} registers a thread",
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
        reasons.push(format!("instructions of {} columns, so that fewer registers are in use at once", plan.columns));
    }
    if product.promoted() {
        reasons.push(format!(
            "sums of 8-bit floats are added to a second accumulator after each {PROMOTION} elements of K, {:.0} clocks",
            p.promotion
        ));
    }
    if product.producer_bytes() > 0 {
        let copies =
            if product.copied == product.producer_computed { 2 } else { usize::from(product.copied.contains(&true)) };
        reasons.push(format!(
            "{} warps of the producer make {} bytes of each stage, {:.0} clocks, {}in an estimated {} registers",
            4 * plan.producers,
            product.producer_bytes(),
            p.production,
            ["", "some of it by copies of their threads, ", "by copies of their threads, "][copies],
            product.producer_registers[plan.producers as usize - 1]
        ));
    }
    if product.converted_bytes() > 0 {
        let computed = product.computed.contains(&true);
        let why =
            if computed { "their elements are computed" } else { "the instruction wants them contiguous along K" };
        let who = if plan.registers.converter.is_some() { "a warpgroup of their own" } else { "those who multiply" };
        reasons.push(format!(
            "{} bytes of each stage are changed in shared memory by {who}, {:.0} clocks: {why}",
            product.converted_bytes(),
            p.conversion
        ));
    }
    let place =
        if plan.epilogue.in_ring { "in the ring's memory" } else { "beside the ring, which runs on across tiles" };
    let chunks = &plan.epilogue;
    reasons.push(format!("results leave in chunks of {} columns, {} buffers {place}", chunks.columns, chunks.buffers));
    let trips = product.trips.map_or(format!("{ASSUMED_TRIPS} iterations assumed"), |t| format!("{t} iterations"));
    reasons.push(format!(
        "a tile takes {:.0} clocks, the tensor cores busy for {:.0} % ({trips})",
        p.tile,
        100.0 * p.share
    ));
    let hinted =
        [("occupancy", hints.occupancy, plan.blocks), ("num_worker_warps", hints.worker_warps, 4 * plan.consumers())];
    for (name, asked, taken) in hinted {
        if let Some(asked) = asked.filter(|&asked| asked != taken) {
            reasons.push(format!("the hint {name} = {asked} is not followed: {taken} is better or all that fits"));
        }
    }
    reasons
}
