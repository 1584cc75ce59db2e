//! Predicts clocks and registers of a candidate from the numbers of a machine.

use crate::dot::{AStorage, DotLoop, Prediction};
use crate::machine::{Machine, MachineError};

/// The numbers that decisions need, looked up once.
pub struct Numbers {
    /// Registers per SM.
    pub registers: u32,
    /// Bytes of shared memory per SM.
    pub shared_sm: u32,
    /// Bytes of shared memory that each CTA reserves for the system.
    pub shared_reserved: u32,
    /// Maximum bytes of shared memory of a CTA.
    pub shared_block: u32,
    /// The limits of `setmaxnreg`, in registers per thread.
    pub max_registers: u32,
    pub min_registers: u32,
    /// Registers per consumer thread in addition to accumulators and operands.
    pub other_registers: u32,
    dot_interval: f64,
    chain_shared: f64,
    chain_registers: f64,
    fma_during_dots: f64,
    dot_share_during_fma: f64,
    shared_rate: f64,
    shared_latency: f64,
    barrier: f64,
    l2_rate: f64,
    edge: f64,
    hit: f64,
    /// Latency of a thread's load from global memory, in clocks.
    global_latency: f64,
    /// Pairs of kilobytes and clocks of a TMA load from memory, in ascending order.
    latency: [(f64, f64); 4],
    /// Clocks per byte of a result that is stored through shared memory.
    epilogue: f64,
}

/// Bytes of the tile whose epilogue was measured.
const MEASURED_EPILOGUE: f64 = 128.0 * 256.0 * 2.0;
/// The elements of K after which partial results of 8-bit floats are promoted to the f32 accumulator.
pub const PROMOTION: u32 = 128;

/// The maximum number of stages of a ring.
pub const MAX_STAGES: u32 = 8;

/// Extra registers of a consumer thread that converts a stage in place: the part that it holds, and addresses.
pub const CONVERSION_REGISTERS: u32 = 24;

/// Registers per thread of the converter warpgroup.
pub(crate) const CONVERTER_REGISTERS: u32 = 40;

/// Bytes of a stage that a thread holds at a time during a conversion.
const HELD_BYTES: u32 = 64;

impl Numbers {
    /// Looks up the numbers of a machine.
    ///
    /// Errors: the machine lacks one of them.
    pub fn new(machine: &Machine) -> Result<Self, MachineError> {
        let whole = |key: &str| machine.get(key).map(|v| v as u32);
        let latency = |kb: f64| Ok((kb, machine.get(&format!("tma.dram.latency.{kb}kb"))?));
        Ok(Self {
            registers: whole("sm.registers")?,
            shared_sm: whole("sm.shared_bytes")?,
            shared_reserved: whole("sm.shared_reserved")?,
            shared_block: whole("sm.shared_block_bytes")?,
            max_registers: whole("setmaxnreg.most")?,
            min_registers: whole("setmaxnreg.least")?,
            other_registers: whole("wgmma.registers")?,
            dot_interval: machine.get("wgmma.f16.n256.interval")?,
            chain_shared: machine.get("wgmma.chain.shared")?,
            chain_registers: machine.get("wgmma.chain.registers")?,
            fma_during_dots: machine.get("pipe.fma.beside_wgmma")?,
            dot_share_during_fma: machine.get("wgmma.beside_fma.share")?,
            shared_rate: machine.get("shared.bytes_per_clk")?,
            shared_latency: machine.get("latency.shared")?,
            barrier: machine.get("barrier.named")?,
            l2_rate: machine.get("l2.all_shared")?,
            edge: machine.get("mbarrier.edge")?,
            hit: machine.get("mbarrier.hit")?,
            global_latency: machine.get("latency.dram")?,
            latency: [latency(8.0)?, latency(16.0)?, latency(32.0)?, latency(48.0)?],
            epilogue: machine.get("epilogue.staged")? / MEASURED_EPILOGUE,
        })
    }

    /// Clocks of a TMA load of `bytes` from memory: linear between the measured sizes, extrapolated beyond them.
    pub fn load(&self, bytes: u32) -> f64 {
        let kb = f64::from(bytes) / 1024.0;
        let after = self.latency[1..3].iter().filter(|(size, _)| *size < kb).count();
        let ((x0, y0), (x1, y1)) = (self.latency[after], self.latency[after + 1]);
        (y0 + (kb - x0) * (y1 - y0) / (x1 - x0)).max(self.latency[0].1)
    }

    /// Clocks of a CTA's start and end, in which it multiplies nothing: its first `loaded` bytes arrive, and its
    /// `stored` bytes leave.
    pub(crate) fn ends(&self, loaded: u32, stored: u32) -> f64 {
        self.load(loaded) + f64::from(stored) * self.epilogue
    }

    /// Clocks of a round trip of a stage: the load, two barriers, and the dots that read it.
    pub fn round_trip(&self, product: &DotLoop, columns: u32, latency: f64) -> f64 {
        latency * self.load(product.stage_bytes()) + 2.0 * self.edge + self.tensor(product, columns)
    }

    /// Clocks of the tensor cores for an iteration, with instructions of `columns` columns. Narrow instructions are
    /// bound by their reads of shared memory: 64 rows of A (unless they are in registers) and `columns` of B, 32
    /// bytes of each.
    pub fn tensor(&self, product: &DotLoop, columns: u32) -> f64 {
        let steps = f64::from(product.k * product.operand.bits() / 256);
        let instructions = f64::from(product.m) / 64.0 * steps * f64::from(product.n) / f64::from(columns);
        let read = if product.a_storage == AStorage::Shared { 64 + columns } else { columns };
        let interval = self.dot_interval * f64::from(columns) / 256.0;
        instructions * interval.max(f64::from(32 * read) / self.shared_rate)
    }

    /// Predicts the clocks of a candidate. The measured latency of loads is multiplied by `latency`.
    pub fn predict(&self, product: &DotLoop, candidate: &Candidate, latency: f64) -> Prediction {
        let tensor = self.tensor(product, candidate.columns);
        let trip = self.round_trip(product, candidate.columns, latency);
        let promotion = if product.promoted() {
            // One addition per accumulator; the four warps of a warpgroup run on four schedulers.
            let additions = f64::from(product.m * product.n) / 128.0 * f64::from(product.k) / f64::from(PROMOTION);
            additions * self.fma_during_dots
        } else {
            0.0
        };
        let conversion = self.conversion(product, candidate.converting());
        let l2 = f64::from(product.stage_bytes()) / self.l2_rate;
        let production = self.production(product, candidate.producers);
        let ring = trip / f64::from(candidate.stages);
        // Additions take issue slots from the dots.
        let slowed = (1.0 - self.dot_share_during_fma) * promotion;
        let chain = tensor + slowed + self.exposed(product, candidate, tensor, promotion, conversion);
        let bounds = [
            (chain, "tensor cores"),
            (l2, "L2"),
            (ring, "latency of the ring"),
            (promotion, "promotion"),
            (conversion, "conversion of operands"),
            (production, "the producer's warps"),
        ];
        let (iteration, bound) =
            bounds.into_iter().fold((0.0, "nothing"), |best, b| if b.0 > best.0 { b } else { best });
        let trips = f64::from(product.trips.unwrap_or(ASSUMED_TRIPS));
        let epilogue = f64::from(product.result_bytes()) * self.epilogue;
        let main = trips * iteration;
        let tile = if product.over_tiles {
            // The ring runs on and stores are asynchronous, so only the copy of the results to shared memory is
            // exposed.
            main.max(epilogue) + f64::from(product.result_bytes()) / self.shared_rate
        } else if candidate.blocks > 1 {
            // Another CTA multiplies while this one starts, ends, or waits for its ring or its dots.
            let shared = [tensor + slowed, l2, promotion, conversion, production].into_iter().fold(0.0, f64::max);
            let alone = main + self.ends(product.stage_bytes(), product.result_bytes());
            (trips * shared).max(alone / f64::from(candidate.blocks))
        } else {
            main + self.ends(product.stage_bytes(), product.result_bytes())
        };
        Prediction {
            tensor,
            l2,
            ring,
            promotion,
            conversion,
            production,
            iteration,
            bound,
            tile,
            share: trips * tensor / tile,
        }
    }
}

impl Numbers {
    /// Clocks in which `warpgroups` warpgroups convert the operands of a stage. They read and write it part by part,
    /// and after each read wait for the data and for all of their threads.
    pub(crate) fn conversion(&self, product: &DotLoop, warpgroups: u32) -> f64 {
        let bytes = product.converted_bytes();
        let parts = bytes.div_ceil(warpgroups * 128 * HELD_BYTES);
        2.0 * f64::from(bytes) / self.shared_rate + f64::from(parts) * (self.shared_latency + self.barrier)
    }

    /// Clocks in which `producers` warpgroups compute their operands of a stage. Loads of the tile are issued an
    /// iteration ahead, so their latency overlaps with the instructions. On each scheduler, one warp of each
    /// warpgroup issues.
    fn production(&self, product: &DotLoop, producers: u32) -> f64 {
        if product.producer_bytes() == 0 {
            return 0.0;
        }
        let issue = f64::from(product.producer_instructions) / f64::from(producers);
        // Loads of addresses must complete before the loads that depend on them can be issued.
        let addresses = self.global_latency * f64::from(product.producer_loads.saturating_sub(1));
        let tile = if product.producer_loads > 0 { self.global_latency } else { 0.0 };
        tile.max(issue) + addresses + self.edge
    }

    /// A lower bound on the clocks of an iteration without specialization, where the same warps compute the operands
    /// and multiply them. Instructions of single warps have half the rate of `wgmma`, and eight warps share the
    /// computation.
    pub fn without_agents(&self, product: &DotLoop) -> f64 {
        2.0 * self.tensor(product, product.n.min(256)) + f64::from(product.producer_instructions) / 2.0
    }

    /// Clocks from the end of a chain of instructions that is waited for to the start of the next.
    pub fn chain(&self, a: AStorage) -> f64 {
        if a == AStorage::Shared { self.chain_shared } else { self.chain_registers }
    }

    /// Clocks of an iteration in which the tensor cores are idle. A warpgroup waits for its chain, adds the partial
    /// results to the accumulator if they are promoted, waits for the next stage, converts it if necessary, and
    /// issues the next chain. The tensor cores are idle if all other chains in flight end before that.
    fn exposed(&self, product: &DotLoop, candidate: &Candidate, tensor: f64, promotion: f64, conversion: f64) -> f64 {
        let conversion = if candidate.converter { 0.0 } else { conversion };
        let overhead = self.chain(product.a_storage);
        let consumers = f64::from(candidate.consumers());
        if product.promoted() {
            // A consumer completes and promotes each of its chains before it issues the next. Meanwhile the tensor
            // cores run the chains of the other consumers.
            let blocks = product.m / 64 * product.n / candidate.columns / candidate.consumers();
            let chains = f64::from(blocks * product.k.div_ceil(PROMOTION));
            let alone = (tensor + promotion) / consumers + chains * (overhead + self.hit);
            return (alone + conversion - tensor).max(0.0);
        }
        // Each consumer has one more chain in flight.
        let in_flight = tensor * (2.0 - 1.0 / consumers);
        (overhead + self.hit + conversion - in_flight).max(0.0)
    }
}

/// The trip count of loops whose trip count is not known.
pub const ASSUMED_TRIPS: u32 = 64;

/// One way to carry out a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Consumer warpgroups along the rows and along the columns.
    pub groups: (u32, u32),
    /// Columns of an instruction.
    pub columns: u32,
    /// Warpgroups of the producer.
    pub producers: u32,
    /// Whether a converter warpgroup converts operands in place of the consumers.
    pub converter: bool,
    /// Resident CTAs per SM.
    pub blocks: u32,
    /// Stages of the ring; 0 until it is chosen.
    pub stages: u32,
}

impl Candidate {
    /// The number of consumer warpgroups.
    pub fn consumers(&self) -> u32 {
        self.groups.0 * self.groups.1
    }

    /// The number of warpgroups that convert stages.
    pub fn converting(&self) -> u32 {
        if self.converter { 1 } else { self.consumers() }
    }

    /// Threads of a CTA.
    pub fn threads(&self) -> u32 {
        128 * (self.consumers() + self.producers + u32::from(self.converter))
    }

    /// Accumulators per consumer thread.
    pub fn accumulators(&self, product: &DotLoop) -> u32 {
        product.m * product.n / (self.consumers() * 128)
    }

    /// Registers that a consumer thread needs.
    pub fn registers(&self, product: &DotLoop, numbers: &Numbers) -> u32 {
        let promoted = product.chain_registers(self.columns);
        let operand = match product.a_storage {
            AStorage::Shared => 0,
            // The fragment of one stage, as 32-bit words.
            AStorage::Registers { extra } => {
                product.m / self.groups.0 * product.k * product.operand.bits() / 32 / 128 + extra
            }
        };
        let converted = if product.converted_bytes() > 0 && !self.converter { CONVERSION_REGISTERS } else { 0 };
        // A stage is converted while no chain is in flight, so the two needs do not add up.
        let other = promoted.max(converted) + operand + product.epilogue_registers + numbers.other_registers;
        self.accumulators(product) + other
    }
}
