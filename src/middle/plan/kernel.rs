//! Kernels whose products depend on each other: attention, rows that go through several products.
//!
//! A product's result is computed with and becomes an operand of the next one, so a warpgroup keeps whole rows and no
//! product is alone: tensor cores, arithmetic and waits of one warpgroup follow each other, and overlap with those of
//! others. What is decided is the same as for a loop over one product, by a coarser model:
//!
//! * *tensor cores*: the products of an iteration, one after the other;
//! * *arithmetic*: elements that are computed, 128 a clock, and twice as long beside products; sums that are added to
//!   an accumulator beside the tensor cores' own are among them;
//! * *one warpgroup*: its own share of both, where products that read registers are under way while there is
//!   arithmetic, and what each chain costs that is waited for. All warpgroups on the multiprocessor work at a time.
//!
//! *Worked example.* Attention on an H100, 128 queries and 128 keys of depth 128 in bf16. Tensor cores: 2048 clocks.
//! Arithmetic: eight operations for each score and one for each of the result, 147 456 elements, 2304 clocks. One of
//! two warpgroups needs half of the first product and of the arithmetic, and two chains, about 2100 clocks: arithmetic
//! is the bound.

use crate::machine::Machine;
use crate::model::{Candidate, Numbers, PROMOTION};
use crate::product::{AStorage, DotLoop, Hints, NoPlan, Registers, divide_registers};

/// What the products of a kernel have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Products of an iteration. Those whose left operand comes from registers depend on the others.
    pub dots: Vec<DotLoop>,
    /// Those of other loops and branches, which the same warpgroups carry out.
    pub elsewhere: Vec<DotLoop>,
    pub rings: Vec<Ring>,
    /// Bytes of operands that stay in shared memory.
    pub resident: u32,
    /// Bytes for everything else that goes through shared memory.
    pub scratch: u32,
    /// Registers of a producer's thread that makes tiles.
    pub producer_registers: u32,
    /// Elements that are computed beside the products in an iteration.
    pub computed: u64,
}

/// A ring of stages, which products whose operands are alike take turns with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// Bytes of a stage.
    pub stage: u32,
    /// Products of an iteration that take a stage each; none of a ring that only products elsewhere use.
    pub steps: u32,
}

/// The decision.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelPlan {
    /// Consumer warpgroups, all along the rows.
    pub groups: u32,
    /// Columns of an instruction at most.
    pub columns: u32,
    pub blocks: u32,
    /// Stages of each ring.
    pub stages: u32,
    pub registers: Registers,
    /// Bytes of shared memory that nothing takes.
    pub shared_left: u32,
    /// Clocks of an iteration, for one block.
    pub iteration: f64,
    /// Why, for remarks.
    pub reasons: Vec<String>,
}

/// Rings are not deeper than this, whatever fits.
pub const MAX_STAGES: u32 = 8;
/// Registers that hold what a warpgroup reads of a stage to write it back otherwise, and where it does.
const CONVERTING_REGISTERS: u32 = 24;
/// Instructions are not narrower than this to save registers.
const LEAST_COLUMNS: u32 = 64;
/// What a gain is worth mentioning from.
const CLEARLY: f64 = 0.9;
/// Elements that a multiprocessor computes in a clock.
const LANES: f64 = 128.0;
/// By how much products slow other instructions down.
const DURING_DOTS: f64 = 2.0;

/// Decides how the products of a kernel are carried out. `live` says how many registers of a consumer's thread hold
/// tiles where most do, if so many warpgroups share the rows.
///
/// Errors: no way fits, with what is missing; the caller then takes instructions of single warps.
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
    // Two warpgroups of one block share what is loaded: the model must see a clear gain in anything else.
    for (groups, blocks) in [(2, 1), (1, 2), (1, 1)] {
        if groups > rows {
            continue;
        }
        let candidate = Candidate { groups: (groups, 1), columns, producers: 1, converter: false, blocks, stages: 0 };
        match converted(kernel, live(groups), &numbers, candidate) {
            Ok(plan) if best.as_ref().is_none_or(|b| plan.iteration < b.iteration * CLEARLY) => best = Some(plan),
            Ok(_) => {}
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    let mut plan = best.ok_or(refusal.unwrap_or(NoPlan::Shape { m: 0, n: 0, k: 0 }))?;
    let hinted =
        [("occupancy", hints.occupancy, plan.blocks), ("num_worker_warps", hints.worker_warps, 4 * plan.groups)];
    for (name, asked, taken) in hinted {
        if let Some(asked) = asked.filter(|&asked| asked != taken) {
            plan.reasons.push(format!("the hint {name} = {asked} is not followed: {taken} is better or all that fits"));
        }
    }
    Ok(plan)
}

/// As many stages as make whole iterations, if two of them fit: each iteration then begins at the same stage modulo its
/// steps, so that only one of its steps can be the one from the last stage to the first.
fn whole_rounds(stages: u32, rings: &[Ring]) -> u32 {
    let whole = |stages: u32| rings.iter().all(|r| stages.is_multiple_of(r.steps.max(1)) && stages >= 2 * r.steps);
    (2..=stages).rev().find(|s| whole(*s)).unwrap_or(stages)
}

/// With a warpgroup of its own for stages that have to be changed, if that is faster, or else by those who multiply.
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

/// With as many columns of an instruction as there are registers for the sums that are added to accumulators: narrower
/// instructions need fewer at a time, for more chains that are waited for.
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
    let live = live + promoted.unwrap_or(0) + if converted && !converter { CONVERTING_REGISTERS } else { 0 };
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
    // Consumers compute nothing while they change a stage.
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
    let from_registers = kernel.dots.iter().filter(|p| matches!(p.a_storage, AStorage::Registers { .. })).count();
    let plural = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let narrow = kernel.dots.iter().any(|p| p.promoted() && columns < p.n.min(256));
    let mut reasons = vec![
        format!(
            "{} an iteration, {from_registers} with rows from registers, by {}",
            plural(kernel.dots.len() as u32, "product"),
            plural(groups, "consumer warpgroup")
        ),
        format!(
            "{stages} stages of {stage} bytes beside {} bytes that stay; {live} registers of tiles, {} in all of {}",
            kernel.resident, registers.estimate, registers.consumer
        ),
        format!("{} of an SM; an iteration takes {iteration:.0} clocks, bound by {bound}", plural(blocks, "block")),
    ];
    if let Some(registers) = registers.converter {
        reasons.push(format!(
            "a warpgroup of {registers} registers a thread changes stages before they are multiplied, {conversion:.0} \
             clocks"
        ));
    }
    if narrow {
        reasons.push(format!("instructions of {columns} columns, so that what they sum up needs fewer registers"));
    }
    let shared_left = room - stages * stage;
    Ok(KernelPlan { groups, columns, blocks, stages, registers, shared_left, iteration, reasons })
}
