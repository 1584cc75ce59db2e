//! Plans dots of `mma.sync` whose operands TMA loads.
//!
//! A producer warp fills the rings, and consumer warps read fragments of their stages by `ldmatrix`. The two warps of
//! a scheduler wait at different times, so that one multiplies while the other one reads or computes.
//!
//! # Registers
//!
//! A CTA gets registers for whole groups of four warps, one of each scheduler. Eight consumer warps and one producer
//! warp therefore have the registers of twelve, 168 for each thread. If the consumers need more, the producer has four
//! warps, and `setmaxnreg` gives their registers to the consumers.
//!
//! *Example.* 128x128x64 of bf16, eight consumer warps of 64x32: 64 accumulators, 24 registers of fragments and 40
//! others are 128 of 168. 128x256x64: 128, 32 and 40 are 200, so that the producer has four warps and the consumers 224
//! registers.
//!
//! # Bound on the work
//!
//! Two numbers of consumer warps, each with two sizes of the producer and at most four occupancies; the cost of each is
//! linear in the number of dots.

use crate::dot::{DotLoop, Hints, NoPlan};
use crate::machine::Machine;
use crate::model::MAX_STAGES;
use crate::plural;
use tile_mma::Major;

/// Numbers of consumer warps, in order of preference.
const CONSUMERS: [u32; 2] = [8, 4];
/// Warps that get registers together.
const GROUP: u32 = 4;
/// Registers of a thread for addresses and counters, in addition to tensors and fragments.
const OTHER_REGISTERS: u32 = 40;
/// The maximum number of registers of a thread without `setmaxnreg`.
const MAX_REGISTERS: u32 = 248;
/// Registers of a producer thread, from many to few. To look up tensor maps takes some 50 without spills.
const PRODUCER_REGISTERS: [u32; 3] = [56, 40, 24];
/// The rows and columns of an instruction.
const INSTRUCTION: (u32, u32) = (16, 8);
/// The most columns of which a warp holds fragments.
const COLUMNS: u32 = 64;
/// The least number of stages with which a second CTA shares an SM.
const SHARING_STAGES: u32 = 4;
/// The smallest number of stages that hides the latency of loads.
const HIDING_STAGES: u32 = 3;
/// Bytes of scratch memory for each consumer thread.
const SCRATCH_OF_THREAD: u32 = 8;

/// The dots of a kernel and its use of shared memory.
#[derive(Debug, Clone, PartialEq)]
pub struct SyncKernel {
    pub dots: Vec<DotLoop>,
    /// Whether each warp has whole rows of the accumulators, as in attention.
    pub whole_rows: bool,
    /// Whether `ldmatrix` transposes 8-bit elements.
    pub byte_matrices: bool,
    /// Bytes of one stage of all rings.
    pub ring: u32,
    /// Bytes of shared memory for other purposes.
    pub other: u32,
    /// The most stages of a ring that an iteration reads.
    pub steps: u32,
    /// Bytes of shared memory in which tensors change their layout at once while the rings are in use.
    pub scratch: u32,
    /// Bytes of the largest result that is stored while the rings are in use.
    pub result: u32,
}

/// The plan of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct SyncPlan {
    pub consumer_warps: u32,
    pub producer_warps: u32,
    /// Registers per thread at launch.
    pub launch_registers: u32,
    /// Registers of the consumers and of the producer, if `setmaxnreg` divides them.
    pub divided: Option<[u32; 2]>,
    /// Stages of each ring.
    pub stages: u32,
    /// Bytes of shared memory for layout conversions.
    pub scratch: u32,
    /// The reasons for the choice, which remarks print.
    pub reasons: Vec<String>,
}

/// Chooses warps, registers and stages. `pressure` estimates the registers of a thread that hold tensors, if that many
/// groups of four warps divide them.
///
/// Errors: a tile is too small, an operand cannot be read by `ldmatrix`, or registers or shared memory are too few.
pub fn plan_sync(
    kernel: &SyncKernel,
    pressure: &dyn Fn(u32) -> u32,
    hints: &Hints,
    machine: &Machine,
) -> Result<SyncPlan, NoPlan> {
    kernel.dots.iter().try_for_each(|dot| dot.check_sync(kernel.byte_matrices))?;
    let limits = Limits::new(machine)?;
    let most_blocks = hints.occupancy.map_or(2, |blocks| blocks.clamp(1, 4));
    let hinted = hints.worker_warps.filter(|warps| CONSUMERS.contains(warps));
    let (mut refusal, mut tried) = (None, vec![]);
    for consumers in hinted.into_iter().chain(CONSUMERS) {
        if tried.contains(&consumers) || !kernel.dots.iter().all(|dot| kernel.grid(dot, consumers).is_some()) {
            continue;
        }
        tried.push(consumers);
        let need = pressure(consumers / GROUP) + kernel.fragments(consumers) + OTHER_REGISTERS;
        // Several CTAs hide each other's prologue and epilogue, if all of them keep the tensor cores busy.
        for blocks in (1..=most_blocks).rev() {
            let least = if blocks > 1 { SHARING_STAGES } else { 2 };
            match limits.complete(kernel, (consumers, need), (blocks, least)) {
                Ok(plan) => return Ok(plan),
                // A CTA that has the SM to itself comes closest.
                Err(error) if blocks == 1 => refusal = Some(refusal.unwrap_or(error)),
                Err(_) => {}
            }
        }
    }
    let smallest = kernel.dots.iter().map(|dot| (dot.m, dot.n, dot.k)).min().unwrap_or_default();
    let (m, n, k) = smallest;
    Err(refusal.unwrap_or(NoPlan::SyncShape { m, n, k }))
}

/// The registers and the shared memory of an SM.
struct Limits {
    registers: u32,
    most_divided: u32,
    shared: u32,
    reserved: u32,
}

impl Limits {
    fn new(machine: &Machine) -> Result<Self, NoPlan> {
        let whole = |key: &str| machine.get(key).map(|v| v as u32);
        Ok(Self {
            registers: whole("sm.registers")?,
            most_divided: whole("setmaxnreg.most")?,
            shared: whole("sm.shared_bytes")?,
            reserved: whole("sm.shared_reserved")?,
        })
    }

    /// Completes a plan with at least `least` stages, if `blocks` CTAs share an SM.
    fn complete(
        &self,
        kernel: &SyncKernel,
        (consumers, need): (u32, u32),
        (blocks, least): (u32, u32),
    ) -> Result<SyncPlan, NoPlan> {
        let launch = |warps: u32| self.registers / (32 * blocks * warps.next_multiple_of(GROUP)) / 8 * 8;
        let alone = launch(consumers + 1).min(MAX_REGISTERS);
        let (producer_warps, launch_registers, divided) = if need <= alone {
            (1, alone, None)
        } else {
            let each = launch(consumers + GROUP).min(MAX_REGISTERS);
            let pool = each * (consumers + GROUP);
            let rest = |producer: u32| ((pool - GROUP * producer) / consumers / 8 * 8).min(self.most_divided);
            let fewest = PRODUCER_REGISTERS.into_iter().min().unwrap_or(0);
            let enough = PRODUCER_REGISTERS.into_iter().find(|producer| rest(*producer) >= need);
            let producer = enough.ok_or(NoPlan::Registers { needed: need, available: rest(fewest) })?;
            (GROUP, each, Some([rest(producer), producer]))
        };
        let available = (self.shared / blocks).saturating_sub(self.reserved);
        let smallest = consumers * 32 * SCRATCH_OF_THREAD;
        let fit = |scratch: u32| available.saturating_sub(kernel.other + scratch) / kernel.ring.max(1);
        // Rings that are too short cost more than conversions in parts. But while a whole result is stored by TMA, the
        // warps multiply the next tile.
        let within = |bytes: u32, stages: u32| {
            let mut scratch = bytes.max(smallest);
            while scratch > smallest && fit(scratch) < stages {
                scratch = (scratch / 2).max(smallest);
            }
            scratch
        };
        let least_of_steps = 2 * kernel.steps;
        let converted = within(kernel.scratch, least_of_steps.max(HIDING_STAGES));
        let mut scratch = converted.max(within(kernel.result, least_of_steps));
        let stages = fit(scratch).min(MAX_STAGES);
        if stages < least {
            return Err(NoPlan::SharedMemory { stage: kernel.ring, available });
        }
        scratch = available - kernel.other - stages * kernel.ring;
        let mut reasons = vec![
            format!(
                "{consumers} warps read fragments and use mma.sync, with an estimated need of {need} registers per thread"
            ),
            match divided {
                None => format!("a warp issues TMA loads; {launch_registers} registers per thread"),
                Some([consumer, producer]) => format!(
                    "registers: {launch_registers} at launch, then {producer} for the producer and {consumer} for consumers"
                ),
            },
            format!("{} of {} bytes", plural(stages, "stage"), kernel.ring),
        ];
        if blocks > 1 {
            reasons.push(format!("{blocks} CTAs share an SM"));
        }
        Ok(SyncPlan { consumer_warps: consumers, producer_warps, launch_registers, divided, stages, scratch, reasons })
    }
}

impl SyncKernel {
    /// The rows and columns of a warp, as square as possible. `None` if they are fewer than an instruction has.
    fn grid(&self, dot: &DotLoop, consumers: u32) -> Option<(u32, u32)> {
        let splits = (0..=consumers.ilog2()).map(|along| (1 << along, consumers >> along));
        let parts = splits.map(|(rows, columns)| (dot.m / rows, dot.n / columns, columns));
        let fits = |&(m, n, columns): &(u32, u32, u32)| {
            m >= INSTRUCTION.0 && n >= INSTRUCTION.1 && (columns == 1 || !self.whole_rows)
        };
        parts.filter(fits).map(|(m, n, _)| (m, n)).min_by_key(|(m, n)| m + n)
    }

    /// Registers of the fragments of one step along K: eight words of each row and column of a warp. Of many columns,
    /// a part is read at a time.
    fn fragments(&self, consumers: u32) -> u32 {
        let grids = self.dots.iter().filter_map(|dot| self.grid(dot, consumers));
        grids.map(|(m, n)| (m + n.min(COLUMNS)) / 4).max().unwrap_or(0)
    }
}

impl DotLoop {
    /// Checks that warps read the operands as they are in memory. `ldmatrix` transposes 16-bit elements and, on some
    /// targets, 8-bit elements, by 16x16. Loads of words read 32-bit elements in any order.
    fn check_sync(&self, byte_matrices: bool) -> Result<(), NoPlan> {
        let &Self { m, n, k, .. } = self;
        let bits = self.operand.bits();
        if !matches!(bits, 4 | 8 | 16 | 32) || ![m, n, k].into_iter().all(|e| e.is_power_of_two() && e <= 1 << 12) {
            return Err(NoPlan::SyncShape { m, n, k });
        }
        let reads_mn_major = matches!(bits, 16 | 32) || bits == 8 && byte_matrices;
        if !reads_mn_major && (self.a_major == Major::Mn || self.b_major == Major::Mn) {
            return Err(NoPlan::Converted);
        }
        Ok(())
    }
}
