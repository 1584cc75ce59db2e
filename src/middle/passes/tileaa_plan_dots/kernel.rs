//! Plans kernels whose dots depend on each other or share a block, such as attention.
//!
//! Each warpgroup owns whole rows of all dots. The register pressure of its tiles is the maximum over all program
//! points, as if each tile had the layout of an accumulator: a thread holds one row in 32 and one column in four.
//!
//! ```text
//! warpgroups = 2, a tile of 128 x 64 f32:   128 / (32 * 2) rows * 64 / 4 columns = 32 registers of a thread
//! ```
//!
//! All dots of the kernel share one plan: the block with the most multiplications decides.

use super::{
    Found, Limits, OTHER_BYTES, Obstacle, Planned, PlannedOperand, agents, least_scratch, reasons, refusal, rings,
    room::stored_in_loops,
};
use crate::{
    analysis::{
        facts::Facts,
        memory_dots::ScaledAccumulation,
        pressure::fullest,
        producers::{LoadedOperand, accumulation, is_computed_from_dot},
        tensor_map_ops::MAP_BYTES,
        tile_programs::TileProgram,
    },
    dialect::{
        behaviour::{LayoutRelation, computes_locally, is_cheap, layout_relation},
        dot_plan::DotPlan,
        dots::TileDot,
        layouts::{Tensor, storage_bits},
        nv_tileaa::{DotOp, ReduceOp, ScanOp, TiledLoadOp, TiledStoreOp},
        nv_tileas::MmaKind,
        rt::*,
        shared_memory::{SCRATCH_BYTES, padded_bytes},
    },
};
use rustc_hash::FxHashSet;
use tile_plan::{Kernel, MAX_STAGES, Ring, plan_kernel};

/// The maximum number of consumer warpgroups in a plan of a kernel.
pub(super) const MOST_GROUPS: u32 = 2;

pub(super) fn plan<'c>(
    function: OpRef<'c>,
    found: &[Found<'c>],
    (hints, machine, staged): Limits<'_>,
) -> Result<Planned, Obstacle<'c>> {
    let op = found[0].op;
    if let Some(p) = found.iter().find(|p| p.dot_loop.operand.bits() > 16) {
        return Err((p.op, "dots of 32-bit elements depend on each other or are in the same block".into()));
    }
    if rings(found).is_empty() {
        return Err((op, "no operand of its dots is loaded".into()));
    }
    let movers = movers(found);
    let least = least_scratch(MOST_GROUPS);
    let pressure = Pressure::of(function, found);
    let beside = |stored: u32| {
        let kernel = kernel(function, found, staged + stored.saturating_sub(least));
        plan_kernel(&kernel, &|groups| pressure.registers(groups), hints, machine)
    };
    // Threads store the results of loops if TMA has no memory of its own.
    let stored = stored_in_loops(function, &Facts::of(function)).unwrap_or(0);
    let (stored, plan) = match beside(stored) {
        Err(_) if stored > 0 => (0, beside(0)),
        plan => (stored, plan),
    };
    let plan = plan.map_err(|e| refusal(found, &e))?;
    let reasons = reasons(plan.reasons, found);
    let plan = DotPlan {
        unit: MmaKind::Warpgroup,
        accumulators: 1,
        slices: 1,
        whole_rows: false,
        issue_ahead: false,
        groups: [plan.groups, 1],
        columns: plan.columns,
        stages: plan.stages,
        launch_registers: plan.registers.launch,
        agents: agents(plan.groups, 1, &plan.registers),
        scratch: (least.max(stored) + plan.shared_left / movers).min(stored.max(SCRATCH_BYTES as u32)),
    };
    Ok((plan, reasons))
}

/// The agents that need scratch memory: the consumers, and the producer if its warps compute tiles.
pub(super) fn movers(found: &[Found<'_>]) -> u32 {
    if found.iter().any(|p| p.dot_loop.producer_computed.contains(&true)) { 2 } else { 1 }
}

/// Returns the input of the planner. Tiles of consumers take `staged` bytes of shared memory. The block with the most
/// multiplications decides; the rings of other blocks have the same number of stages.
pub(super) fn kernel<'c>(function: OpRef<'c>, found: &[Found<'c>], staged: u32) -> Kernel {
    let rings = rings(found);
    let work = |block: usize| {
        let of = found.iter().filter(|p| block_of(p.op) == block).map(|p| p.dot_loop);
        of.map(|p| u64::from(p.m) * u64::from(p.n) * u64::from(p.k)).sum::<u64>()
    };
    let block = found.iter().map(|p| block_of(p.op)).max_by_key(|b| work(*b)).unwrap_or_default();
    let inside = || found.iter().filter(|p| block_of(p.op) == block);
    let computed = inside().next().and_then(|p| block_around(p.op)).map_or(0, elements_computed);
    // Two barriers for each stage, or three if a converter may change the stage.
    let converted = found.iter().any(|p| p.dot_loop.converted_bytes() > 0);
    let barriers = (if converted { 3 } else { 2 }) * rings.len() as u32 * MAX_STAGES;
    Kernel {
        dots: inside().map(|p| p.dot_loop).collect(),
        elsewhere: found.iter().filter(|p| block_of(p.op) != block).map(|p| p.dot_loop).collect(),
        rings: rings
            .iter()
            .map(|operands| Ring {
                stage: operands.iter().map(|(s, _)| padded_bytes(*s) as u32).sum(),
                steps: inside().filter(|p| p.stage == *operands).count() as u32,
            })
            .collect(),
        resident: resident_bytes(found),
        scratch: least_scratch(MOST_GROUPS) * movers(found) + other_bytes(function, barriers) + staged,
        producer_registers: found.iter().map(|p| p.dot_loop.producer_registers[0]).max().unwrap_or(0),
        computed,
        trips: inside().next().and_then(|p| p.dot_loop.trips),
    }
}

/// Returns the bytes of the resident operands, counting each once.
pub(super) fn resident_bytes(found: &[Found<'_>]) -> u32 {
    let mut seen = FxHashSet::default();
    let sides = found.iter().flat_map(|p| &p.sides);
    sides
        .filter_map(|side| match side {
            PlannedOperand::Resident(v) if seen.insert(key(*v)) => Tensor::of_value(*v),
            _ => None,
        })
        .map(|t| (t.elements() as u32 * storage_bits(t.element) / 8).next_multiple_of(1024))
        .sum()
}

/// Returns the bytes of barriers, tensor maps under construction, and data that warps exchange in reductions and
/// scans, at most `OTHER_BYTES`, which every kernel reserves.
pub(super) fn other_bytes(function: OpRef<'_>, barriers: u32) -> u32 {
    let (mut maps, mut exchanged) = (0, 0);
    walk(function, &mut |op| {
        maps += u32::from(TiledLoadOp::cast(op).is_some() || TiledStoreOp::cast(op).is_some());
        let dim = ReduceOp::cast(op).map(|x| x.dim()).or_else(|| ScanOp::cast(op).map(|x| x.dim()));
        let Some(dim) = dim.and_then(|d| usize::try_from(d).ok()) else { return };
        for t in operands(op).filter(|v| !is_in_rows(*v, dim)).filter_map(Tensor::of_value) {
            let along = t.shape.get(dim).map_or(1, |n| (*n).max(1) as u64);
            let lines = t.elements() as u64 / along * along.min(4 * u64::from(MOST_GROUPS));
            exchanged += u32::try_from(lines * u64::from(storage_bits(t.element)) / 8).unwrap_or(OTHER_BYTES);
        }
    });
    (barriers * size_of::<u64>() as u32 + maps * MAP_BYTES as u32).saturating_add(exchanged).min(OTHER_BYTES)
}

/// The bytes by which [`other_bytes`] counts the map of a view again, for a second load or store through it.
pub(super) fn repeated_maps(function: OpRef<'_>) -> u32 {
    let of =
        |op| TiledLoadOp::cast(op).map(TiledLoadOp::view).or_else(|| TiledStoreOp::cast(op).map(TiledStoreOp::view));
    let views: Vec<usize> = collect_ops(function, of).into_iter().map(key).collect();
    let distinct: FxHashSet<usize> = views.iter().copied().collect();
    (views.len() - distinct.len()) as u32 * MAP_BYTES as u32
}

/// Whether each warp has the whole dimension `dim`: the columns of an accumulator, or of a value that is computed from
/// one element by element.
pub(super) fn is_in_rows(v: Val<'_>, dim: usize) -> bool {
    let shape = |v: Val<'_>| Tensor::of_value(v).map(|t| t.shape);
    let (mut next, mut seen) = (vec![v], FxHashSet::default());
    while let Some(v) = next.pop() {
        let Some(op) = defining_op(v).filter(|_| seen.insert(key(v))) else { continue };
        if TileDot::cast(op).is_some() {
            return dim == 1;
        }
        if computes_locally(op) {
            next.extend(operands(op).filter(|o| shape(*o) == shape(v)));
        }
    }
    false
}

/// The number of elements that the ops of a block compute, dots excluded.
pub(super) fn elements_computed(block: Blk<'_>) -> u64 {
    let of = |op| {
        let source = ReduceOp::cast(op).map(|_| operand(op, 0));
        let computes = source.is_some() || computes_locally(op) && !is_cheap(op);
        let v = source.or_else(|| results(op).next()).filter(|_| computes);
        v.and_then(Tensor::of_value).map_or(0, |t| t.elements() as u64)
    };
    ops_of(block).map(of).sum()
}

/// The tiles that consumers hold in registers.
pub(super) struct Pressure<'c> {
    function: OpRef<'c>,
    /// Left operands in registers, which dots read while they are in flight.
    read: Vec<Val<'c>>,
    /// Values that are in shared memory instead of registers.
    elsewhere: FxHashSet<usize>,
    /// Whether threads hold whole rows.
    in_rows: bool,
    /// Whether parts of a concatenated tensor, as `tileaa-slice-keys` makes them, have the registers of the whole.
    shares_parts: bool,
}

impl<'c> Pressure<'c> {
    pub(super) fn of(function: OpRef<'c>, found: &[Found<'c>]) -> Self {
        let (mut read, mut elsewhere) = (vec![], FxHashSet::default());
        for p in found {
            for (i, side) in p.operands() {
                let v = operand(p.op, i);
                match side {
                    PlannedOperand::Registers(v) => {
                        read.push(*v);
                        // Threads compute such an operand from a tile in a stage element by element.
                        if !is_computed_from_dot(*v) {
                            let program = TileProgram::of(*v, p.op, function).ok();
                            let between = program.iter().flat_map(TileProgram::ops).filter(|op| computes_locally(*op));
                            elsewhere.extend(between.flat_map(results).map(key).filter(|r| *r != key(*v)));
                        }
                    }
                    PlannedOperand::Resident(v) if uses(*v).iter().all(|(user, _)| DotOp::cast(*user).is_some()) => {
                        elsewhere.insert(key(*v));
                    }
                    PlannedOperand::Resident(_) => {}
                    PlannedOperand::ProducerComputed { .. } => {
                        let program = TileProgram::of(v, p.op, function).ok();
                        elsewhere.extend(program.iter().flat_map(TileProgram::ops).flat_map(results).map(key));
                    }
                    PlannedOperand::Ring { .. } => {
                        let loaded = LoadedOperand::of(v);
                        let ops = loaded.iter().flat_map(|l| l.ops().chain([l.load]));
                        elsewhere.extend(ops.flat_map(results).map(key));
                    }
                }
            }
        }
        Self { function, read, elsewhere, in_rows: false, shares_parts: false }
    }

    /// The same for dots with accumulators and computed left operands in tensor memory: registers hold neither left
    /// operands nor the accumulators of these loops.
    pub(super) fn without_accumulators(function: OpRef<'c>, found: &[Found<'c>]) -> Self {
        let mut pressure = Self { in_rows: true, ..Self::of(function, found) };
        pressure.elsewhere.extend(pressure.read.drain(..).map(key));
        let scaled: Vec<_> = found.iter().filter_map(|p| ScaledAccumulation::of(p.op)).collect();
        pressure.elsewhere.extend(scaled.iter().map(|s| key(result(s.scale, 0))));
        pressure.without_carried(found)
    }

    /// Does not count accumulators that loops carry, because they are in tensor memory.
    pub(super) fn without_carried(mut self, found: &[Found<'c>]) -> Self {
        for p in found {
            let scaled = ScaledAccumulation::of(p.op).map(|s| (s.around, s.number));
            let Some((around, number)) = scaled.or_else(|| accumulation(p.op)) else { continue };
            let argument = entry_block(region(around, 0)).and_then(|body| args(body).nth(number + 1));
            self.elsewhere.extend(argument.into_iter().chain([result(p.op, 0)]).map(key));
        }
        self
    }

    /// Counts resident operands, which dots of single warps read from registers.
    pub(super) fn with_residents(mut self, found: &[Found<'c>]) -> Self {
        for side in found.iter().flat_map(|p| &p.sides) {
            if let PlannedOperand::Resident(v) = side {
                self.elsewhere.remove(&key(*v));
            }
        }
        self
    }

    /// Counts tensors that are only concatenated, and slices that dots read, with the whole.
    pub(super) fn with_parts(self) -> Self {
        let read = self.read.iter().map(|v| whole_of_slice(*v).unwrap_or(*v)).collect();
        Self { shares_parts: true, read, ..self }
    }

    /// The maximum number of registers of a thread that hold tiles, if `groups` warpgroups divide the rows.
    pub(super) fn registers(&self, groups: u32) -> u32 {
        self.registers_in_parts(groups, &|_| 1)
    }

    /// The same, if a thread holds a value in a number of parts, one at a time.
    pub(super) fn registers_in_parts(&self, groups: u32, parts: &dyn Fn(Val<'c>) -> u32) -> u32 {
        let weight = |v: Val<'c>| {
            let Some(t) = Tensor::of_value(v) else { return 0 };
            let of = if self.in_rows { registers_of_rows } else { registers_of };
            let is_part = self.shares_parts && (is_part(v) || whole_of_slice(v).is_some());
            let held = !is_part && !is_spread(v, MOST_STEPS, self.in_rows) && !self.elsewhere.contains(&key(v));
            if held { of(&as_read(v, t, MOST_STEPS), groups).div_ceil(parts(v)) } else { 0 }
        };
        fullest(self.function, &weight, &self.read)
    }
}

/// The tensor of a value in the shape in which other ops read it. Threads hold a row of scales that is viewed as a
/// column as this column.
fn as_read<'c>(v: Val<'c>, tensor: Tensor<'c>, steps: u32) -> Tensor<'c> {
    let reshapes = |op| matches!(layout_relation(op), LayoutRelation::Reshape | LayoutRelation::Permute);
    let read = match uses(v)[..] {
        [(user, _)] if steps > 0 && reshapes(user) => result(user, 0),
        _ => return tensor,
    };
    Tensor::of_value(read).map_or(tensor, |shown| as_read(read, shown, steps - 1))
}

/// The tensor of which `v` is a slice that only dots read.
fn whole_of_slice(v: Val<'_>) -> Option<Val<'_>> {
    let slice = defining_op(v).filter(|op| layout_relation(*op) == LayoutRelation::Slice)?;
    uses(v).iter().all(|(user, _)| DotOp::cast(*user).is_some()).then(|| operand(slice, 0))
}

/// Whether a tensor is only concatenated with another one.
fn is_part(v: Val<'_>) -> bool {
    matches!(uses(v)[..], [(user, _)] if layout_relation(user) == LayoutRelation::Cat)
}

/// The maximum number of ops through which a tensor is followed.
const MOST_STEPS: u32 = 8;

/// Whether a tensor repeats a few numbers, or is computed only from such tensors. A thread keeps the numbers and
/// computes the rest at each use. With `exact`, a tensor of another shape is such a tensor only if its source is.
fn is_spread(v: Val<'_>, steps: u32, exact: bool) -> bool {
    let Some(op) = defining_op(v) else { return false };
    let reshapes = matches!(layout_relation(op), LayoutRelation::Reshape | LayoutRelation::Permute);
    if exact && reshapes && steps > 0 {
        return is_spread(operand(op, 0), steps - 1, exact);
    }
    if is_cheap(op) && layout_relation(op) != LayoutRelation::Same {
        return true;
    }
    let mut tensors = operands(op).filter(|v| Tensor::of_value(*v).is_some()).peekable();
    let alike = layout_relation(op) == LayoutRelation::Same && tensors.peek().is_some();
    alike && steps > 0 && tensors.all(|v| is_spread(v, steps - 1, exact))
}

/// A tensor of more dimensions is that many more rows.
fn rows_and_columns(t: &Tensor<'_>) -> (u64, u64) {
    let (rows, columns): (i64, i64) = match t.shape[..] {
        [] => (1, 1),
        [rows] => (rows, 1),
        [ref rows @ .., columns] => (rows.iter().product(), columns),
    };
    (rows as u64, columns as u64)
}

/// The same if threads hold whole rows.
fn registers_of_rows(t: &Tensor<'_>, groups: u32) -> u32 {
    let bits = storage_bits(t.element);
    let (rows, columns) = rows_and_columns(t);
    // Warpgroups divide blocks of 128 rows, and then columns.
    let groups = u64::from(groups);
    let blocks = rows.div_ceil(LANES);
    let own = blocks.div_ceil(groups) * columns.div_ceil(groups.div_ceil(blocks));
    // Four threads share two of 64 rows.
    let own = if rows * 2 == LANES { own.div_ceil(2).max(2) } else { own };
    if bits < 8 { 0 } else { (own * u64::from(bits)).div_ceil(32).min(u64::from(u16::MAX)) as u32 }
}

/// The lanes of tensor memory.
pub(super) const LANES: u64 = 128;

/// The registers of a thread that a tensor takes in the layout of an accumulator of `groups` warpgroups. Booleans
/// count zero: they are short-lived predicates. A one-dimensional tensor has one element per row.
pub(super) fn registers_of(t: &Tensor<'_>, groups: u32) -> u32 {
    let bits = storage_bits(t.element);
    if bits < 8 {
        return 0;
    }
    let (rows, columns) = rows_and_columns(t);
    let each = |extent: u64, unit: u32| extent.div_ceil(u64::from(unit));
    let elements = each(rows, 32 * groups) * each(columns, 4);
    (elements * u64::from(bits)).div_ceil(32).min(u64::from(u16::MAX)) as u32
}
