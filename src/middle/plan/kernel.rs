//! Plans kernels whose dots depend on each other, such as attention or a chain of projections of the same rows.
//!
//! In such a kernel the result of one dot is computed with and becomes an operand of the next. A warpgroup therefore
//! keeps whole rows. Its tensor-core work, arithmetic and waits follow each other, and overlap only with the work of
//! other warpgroups. The decisions are the same as for a loop over one dot ([`crate::plan`]), but the model is
//! coarser. An iteration takes as long as the slowest of:
//!
//! * *tensor cores*: all dots of the iteration, back to back;
//! * *arithmetic*: the computed elements at 128 per clock, twice as long while dots are in flight. The additions of
//!   promoted partial results to an f32 accumulator count as arithmetic;
//! * *one warpgroup's chain*: its share of both, plus the cost of each chain of instructions that it waits for. Dots
//!   whose left operand is in registers overlap with the arithmetic. The warpgroups of all resident CTAs work
//!   concurrently;
//! * *conversion*: the transposes and element-wise conversions of operands in shared memory.
//!
//! *Example.* Attention on an H100, 128 queries and 128 keys of depth 128 in bf16. Tensor cores: 2048 clocks.
//! Arithmetic: eight operations per score and one per element of the result, 147 456 in all, 2304 clocks. Each of the
//! two warpgroups needs half of the first dot, half of the arithmetic, and two chains, about 2100 clocks. Arithmetic
//! is the bound.
//!
//! If the trip count is known, a CTA's start and end are added to its iterations. A second CTA on the SM hides them.
//!
//! *Assumptions.* All operands that are not resident come through rings with the same number of stages. Every dot of
//! the kernel uses the same consumer warpgroups. The clocks serve to compare candidates. Without a trip count they
//! ignore the prologue and epilogue.
//!
//! *Bound on the work.* Three divisions into warpgroups and CTAs, each with at most two choices of the converter and
//! three widths of an instruction; the cost of each is linear in the number of dots.

use crate::dot::{AStorage, CLEARLY, DotLoop, Hints, NoPlan, Registers, divide_registers};
use crate::machine::Machine;
use crate::model::{CONVERSION_REGISTERS, Candidate, MAX_STAGES, Numbers, PROMOTION};
use crate::plural;

/// The dots of a kernel and the resources that they share.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// The dots of an iteration. A dot with its left operand in registers depends on the others.
    pub dots: Vec<DotLoop>,
    /// Dots of other loops and branches, which the same warpgroups issue.
    pub elsewhere: Vec<DotLoop>,
    /// The rings through which operands come.
    pub rings: Vec<Ring>,
    /// Bytes of operands that are resident in shared memory.
    pub resident: u32,
    /// Bytes of all other data that passes through shared memory.
    pub scratch: u32,
    /// Registers per producer thread if the producer computes operands; 0 if it only issues TMA loads.
    pub producer_registers: u32,
    /// Elements that an iteration computes, other than in dots.
    pub computed: u64,
    /// The trip count, if known.
    pub trips: Option<u32>,
}

/// A ring of stages. Dots whose operands have the same shape and type share a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// Bytes of a stage.
    pub stage: u32,
    /// Stages that an iteration consumes; 0 if only dots outside the loop use the ring.
    pub steps: u32,
}

/// The chosen plan of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelPlan {
    /// Consumer warpgroups, all along the rows.
    pub groups: u32,
    /// Maximum columns of an instruction.
    pub columns: u32,
    /// Resident CTAs per SM.
    pub blocks: u32,
    /// Stages of each ring.
    pub stages: u32,
    pub registers: Registers,
    /// Bytes of shared memory that remain free.
    pub shared_left: u32,
    /// Predicted clocks of an iteration of one CTA.
    pub iteration: f64,
    /// Predicted clocks of the SM for a whole CTA, if the trip count is known.
    pub tile: Option<f64>,
    /// The reasons for the choice, which remarks print.
    pub reasons: Vec<String>,
}

/// Instructions are not made narrower than this to save registers.
const LEAST_COLUMNS: u32 = 64;
/// Elements that an SM computes per clock.
const LANES: f64 = 128.0;
/// The slowdown of other instructions while dots are in flight.
const DURING_DOTS: f64 = 2.0;

/// Chooses warpgroups, stages and registers for the dots of a kernel. `live(groups)` is the maximum number of
/// registers per consumer thread that hold tiles at any point, if `groups` warpgroups share the rows.
///
/// Errors: no candidate fits; the error names the limit. The caller then falls back to instructions of single warps.
pub fn plan_kernel(
    kernel: &Kernel,
    live: &dyn Fn(u32) -> u32,
    hints: &Hints,
    machine: &Machine,
) -> Result<KernelPlan, NoPlan> {
    let numbers = Numbers::new(machine)?;
    let rows = all_dots(kernel).map(|p| p.m / 64).min().unwrap_or(0);
    let columns = kernel.dots.iter().map(|p| p.n.min(256)).max().unwrap_or(0);
    for p in all_dots(kernel) {
        p.check_shape()?;
    }
    let mut best: Option<KernelPlan> = None;
    let mut refusal = None;
    // Two warpgroups of one CTA share the loaded tiles, so the alternatives must be predicted to be clearly faster.
    for (groups, blocks) in [(2, 1), (1, 2), (1, 1)] {
        if groups > rows {
            continue;
        }
        let candidate = Candidate { groups: (groups, 1), columns, producers: 1, converter: false, blocks, stages: 0 };
        match converted(kernel, live(groups), &numbers, candidate) {
            Ok(plan) if best.as_ref().is_none_or(|best| plan.is_better(best, hints)) => best = Some(plan),
            Ok(_) => {}
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    let mut plan = best.ok_or(refusal.unwrap_or(NoPlan::Shape { m: 0, n: 0, k: 0 }))?;
    let hinted =
        [("occupancy", hints.occupancy, plan.blocks), ("num_worker_warps", hints.worker_warps, 4 * plan.groups)];
    for (name, asked, taken) in hinted {
        if let Some(asked) = asked.filter(|&asked| asked != taken) {
            plan.reasons.push(format!("the hint {name} = {asked} is ignored: {taken} is faster or the most that fits"));
        }
    }
    Ok(plan)
}

impl KernelPlan {
    /// Whether the plan is preferred to `best`, which comes first. A plan that follows the hint `occupancy` need only
    /// cost less than one that ignores it.
    fn is_better(&self, best: &Self, hints: &Hints) -> bool {
        let occupancy = Hints { occupancy: hints.occupancy, ..Hints::default() };
        let cost = |p: &Self| p.tile.unwrap_or(p.iteration) * occupancy.ignored(p.blocks, p.groups);
        let follows = |p: &Self| hints.occupancy == Some(p.blocks);
        let margin = if follows(self) && !follows(best) { 1.0 } else { CLEARLY };
        cost(self) < cost(best) * margin
    }
}

/// Rounds the number of stages down to a multiple of the steps of each ring, if at least two iterations fit. Each
/// iteration then begins at the same stage modulo its steps, so only one of its steps can wrap from the last stage to
/// the first. Returns `stages` if there is no such multiple.
pub(crate) fn whole_rounds(stages: u32, rings: &[Ring]) -> u32 {
    let whole = |stages: u32| rings.iter().all(|r| stages.is_multiple_of(r.steps.max(1)) && stages >= 2 * r.steps);
    (2..=stages).rev().find(|s| whole(*s)).unwrap_or(stages)
}

/// Plans `candidate` with a converter warpgroup if that is faster, and otherwise with conversions by the consumers.
fn converted(kernel: &Kernel, live: u32, numbers: &Numbers, candidate: Candidate) -> Result<KernelPlan, NoPlan> {
    let plan = widest(kernel, live, numbers, candidate);
    let mut converted = all_dots(kernel).filter(|p| p.converted_bytes() > 0).peekable();
    if converted.peek().is_none() || !converted.all(DotLoop::may_have_converter) {
        return plan;
    }
    match (plan, widest(kernel, live, numbers, Candidate { converter: true, ..candidate })) {
        (Ok(plan), Ok(other)) => Ok(if other.iteration < plan.iteration { other } else { plan }),
        (Err(_), Ok(other)) => Ok(other),
        (plan, Err(_)) => plan,
    }
}

fn all_dots(kernel: &Kernel) -> impl Iterator<Item = &DotLoop> {
    kernel.dots.iter().chain(&kernel.elsewhere)
}

/// Plans `candidate` with the widest instructions whose partial results fit in registers. If partial results are
/// promoted, narrower instructions need fewer registers at a time, but more chains to wait for.
fn widest(kernel: &Kernel, live: u32, numbers: &Numbers, candidate: Candidate) -> Result<KernelPlan, NoPlan> {
    let columns = candidate.columns;
    let least = if kernel.dots.iter().any(DotLoop::promoted) { LEAST_COLUMNS.min(columns) } else { columns };
    let widths = std::iter::successors(Some(columns), |c| Some(c / 2)).take_while(|c| *c >= least);
    let mut refusal = None;
    for columns in widths {
        match complete(kernel, live, numbers, Candidate { columns, ..candidate }) {
            Ok(plan) => return Ok(plan),
            Err(error @ NoPlan::Registers { .. }) => refusal = refusal.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    Err(refusal.unwrap_or(NoPlan::Shape { m: 0, n: 0, k: 0 }))
}

fn complete(kernel: &Kernel, live: u32, numbers: &Numbers, candidate: Candidate) -> Result<KernelPlan, NoPlan> {
    let Candidate { groups: (groups, _), columns, converter, blocks, .. } = candidate;
    let promoted = kernel.dots.iter().map(|p| p.chain_registers(columns.min(p.n))).max();
    let converted = all_dots(kernel).any(|p| p.converted_bytes() > 0);
    let live = live + promoted.unwrap_or(0) + if converted && !converter { CONVERSION_REGISTERS } else { 0 };
    let registers = divide_registers([live + numbers.other_registers, kernel.producer_registers], numbers, &candidate)?;
    let available = (numbers.shared_sm / blocks - numbers.shared_reserved).min(numbers.shared_block);
    let stage: u32 = kernel.rings.iter().map(|r| r.stage).sum();
    let room = available.saturating_sub(kernel.resident + kernel.scratch);
    let stages = room.checked_div(stage).unwrap_or(MAX_STAGES).min(MAX_STAGES);
    let stages = whole_rounds(stages, &kernel.rings);
    if stages < 2 {
        return Err(NoPlan::SharedMemory { stage, available: room });
    }
    let clocks = |late: bool| -> f64 {
        let of = kernel.dots.iter().filter(|p| matches!(p.a_storage, AStorage::Registers { .. }) == late);
        of.map(|p| numbers.tensor(p, columns.min(p.n))).sum()
    };
    let tensor = clocks(false) + clocks(true);
    let additions = |p: &DotLoop| if p.promoted() { p.m * p.n * p.k.div_ceil(PROMOTION) } else { 0 };
    let computed = kernel.computed + kernel.dots.iter().map(|p| u64::from(additions(p))).sum::<u64>();
    let conversion: f64 = kernel.dots.iter().map(|p| numbers.conversion(p, candidate.converting())).sum();
    // Consumers that convert a stage cannot compute meanwhile.
    let arithmetic = computed as f64 / LANES * DURING_DOTS + if converter { 0.0 } else { conversion };
    let chains = |p: &DotLoop| if p.promoted() { p.n.div_ceil(columns) * p.k.div_ceil(PROMOTION) } else { 1 };
    let waits: f64 = kernel.dots.iter().map(|p| numbers.chain(p.a_storage) * f64::from(chains(p))).sum();
    let alone = (clocks(false) + arithmetic.max(clocks(true))) / f64::from(groups) + waits;
    let bounds = [
        (tensor, "tensor cores"),
        (arithmetic, "arithmetic"),
        (alone / f64::from(blocks), "one warpgroup's chain"),
        (conversion, "conversion of operands"),
    ];
    let (iteration, bound) = bounds.into_iter().fold((0.0, "nothing"), |best, b| if b.0 > best.0 { b } else { best });
    let stored = kernel.dots.iter().map(DotLoop::result_bytes).max().unwrap_or(0);
    let ends = numbers.ends(kernel.resident.max(stage), stored);
    let shared = tensor.max(arithmetic).max(conversion);
    let tile = kernel.trips.map(f64::from).map(|trips| {
        let alone = trips * shared.max(alone) + ends;
        (trips * shared).max(alone / f64::from(blocks))
    });
    let from_registers = kernel.dots.iter().filter(|p| matches!(p.a_storage, AStorage::Registers { .. })).count();
    let narrow = kernel.dots.iter().any(|p| p.promoted() && columns < p.n.min(256));
    let mut reasons = vec![
        format!(
            "{} per iteration, {from_registers} with the left operand in registers, issued by {}",
            plural(kernel.dots.len() as u32, "dot"),
            plural(groups, "consumer warpgroup")
        ),
        format!(
            "{} of {stage} bytes and {} resident bytes; {live} registers for tiles, an estimated {} of {} in all",
            plural(stages, "stage"),
            kernel.resident,
            registers.estimate,
            registers.consumer
        ),
        format!("{} per SM; an iteration takes {iteration:.0} clocks, bound by {bound}", plural(blocks, "CTA")),
    ];
    if let (Some(trips), Some(tile)) = (kernel.trips, tile) {
        let trips = plural(trips, "iteration");
        reasons.push(format!("a tile takes {tile:.0} clocks: {trips}, and {ends:.0} clocks to start and end"));
    }
    if let Some(registers) = registers.converter {
        reasons.push(format!(
            "a converter warpgroup with {registers} registers per thread converts operands in place in \
             {conversion:.0} clocks"
        ));
    }
    if narrow {
        reasons.push(format!("instructions of {columns} columns, which keep fewer partial results in registers"));
    }
    let shared_left = room - stages * stage;
    Ok(KernelPlan { groups, columns, blocks, stages, registers, shared_left, iteration, tile, reasons })
}
