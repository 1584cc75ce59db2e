//! The input of the modulo scheduler for a function's loops: `ScheduleAnalysis`.
//!
//! `tileas-generate-schedule-constraints` numbers the ops of each loop that contains copies or dots. This analysis
//! holds the cost of each of them. `tileas-materialize-schedule` takes it from MLIR's analysis manager and never
//! rebuilds it. Cleanup passes may run between the two. They may erase ops, but may not add any, move one out of its
//! loop, or reorder two. Dependences are read from the program when it is scheduled.
//!
//! # Costs
//!
//! Costs are clocks of one SM for the whole CTA. An op on a tile needs a number of instructions per warp, and each
//! pipe accepts one instruction per interval (`tile-machine`), which is longer while `wgmma` dots are in flight. For
//! example, an `addf` of 64 elements per thread in 8 warps takes 64 * 8 / 4 = 128 instructions of each of the 4
//! schedulers, times the interval of the `fma` pipe.
//!
//! # Agents
//!
//! A loop of `wgmma` dots is divided between a producer and consumers ([`agents`]).
//!
//! # Assumptions and bound on the work
//!
//! Costs serve to compare orders of ops, not to predict times. Elements are spread evenly over threads, and each op
//! starts with its operands available. The cost of an op takes time linear in its nested ops. Finding the dependences
//! of an op visits each pair of a value and an iteration distance at most once; the distance is at most the number of
//! loop-carried values.

pub mod agents;
pub mod declared;

use super::{
    registers::{register_bits, words},
    ring_loads::Candidates,
    warps::warps_at,
};
use crate::dialect::{
    attributes,
    behaviour::{self, LayoutRelation, Pipe},
    dot_plan::{DotPlan, PRODUCER},
    dots::AnyDot,
    layouts::{Tensor, memory_bits, storage_bits},
    nv_tileaa,
    nv_tileas::{ConvertLayoutOp, LoadOp, ReduceOp, ScanOp, TiledLoadOp},
    pass::Analysis,
    rt::*,
    types::is_bool,
    upstream::Scf,
};
use agents::{Division, Role};
use rustc_hash::{FxHashMap, FxHashSet};
use tile_machine::Machine;
use tile_plan::Numbers;
use tile_schedule::{Agent, Edge, Graph, Group, Node, Pool, Reservation};
use tile_targets::Target;

/// The costs of the loops of a module.
pub struct ScheduleAnalysis {
    /// The address of the module. The analysis manager does not keep the analysis longer than the module.
    module: usize,
    pub loops: Vec<LoopCosts>,
}

/// The ops of a loop's body that have a cost, in program order.
#[derive(Clone, Debug)]
pub struct LoopCosts {
    pub nodes: Vec<Cost>,
    pub pools: Vec<Pool>,
    /// The agents that share the loop, with their registers per thread.
    pub agents: Vec<Agent>,
    /// Clocks after which one agent observes the progress of another.
    pub crossing: u32,
}

/// The cost of an op.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The name of the op.
    pub op: String,
    /// The number of its group, from the attribute [`attributes::GID`].
    pub gid: i64,
    /// The pools that it occupies, with the clocks from its start.
    pub footprint: Vec<Reservation>,
    /// Clocks for which it occupies its agent.
    pub issue: u32,
    /// Clocks from its start until its results are available.
    pub latency: u32,
    /// Registers per thread of its results.
    pub registers: u32,
    /// Whether the agent continues before the results are available.
    pub asynchronous: bool,
    /// The agent that executes the op.
    pub agent: usize,
}

impl Analysis for ScheduleAnalysis {
    const SLOT: isize = 0;

    fn build(op: OpRef<'_>) -> Self {
        let mut loops = vec![];
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let Some((target, machine)) = machine_of(function.op()) else { continue };
            loops.extend(
                constrained_loops(function.op()).into_iter().filter_map(|l| LoopCosts::of(l, target, &machine)),
            );
        }
        Self { module: op_key(op), loops }
    }

    /// MLIR's cleanup passes do not declare that they preserve this analysis, so it is valid as long as it describes
    /// the program.
    fn is_invalidated(&self, preserved: bool) -> bool {
        // SAFETY: the analysis manager calls this while the module is alive.
        let module = op_ref(mlir_sys::MlirOperation { ptr: self.module as *mut std::ffi::c_void });
        !preserved && !self.describes(module)
    }
}

impl ScheduleAnalysis {
    /// Whether the loops of the module are those of the analysis, possibly with some ops erased.
    pub fn describes(&self, module: OpRef<'_>) -> bool {
        let loops = loops_of(module);
        loops.len() == self.loops.len() && loops.iter().zip(&self.loops).all(|(l, costs)| costs.of_nodes(*l).is_some())
    }
}

/// The loops of a module that have constraints, in program order.
pub fn loops_of<'c>(module: OpRef<'c>) -> Vec<OpRef<'c>> {
    let functions = collect_ops(module, nv_tileaa::FuncOp::cast).into_iter().map(|f| f.op());
    functions.filter(|f| attributes::MACHINE.is_on(*f)).flat_map(constrained_loops).collect()
}

fn constrained_loops<'c>(function: OpRef<'c>) -> Vec<OpRef<'c>> {
    let numbered = |l: OpRef<'c>| nodes_of(l).iter().any(|n| attributes::GID.get(*n).is_some());
    loops_in(function).into_iter().filter(|l| numbered(*l)).collect()
}

/// All `scf.for` loops, outer loops first.
pub fn loops_in<'c>(function: OpRef<'c>) -> Vec<OpRef<'c>> {
    collect_ops(function, |o| (Scf::of(o) == Some(Scf::For)).then_some(o))
}

/// The loops that passes transform before scheduling, outer loops first: those worth scheduling in functions without
/// a dot plan. A dot plan already determines the source of each operand and the work of each agent.
pub fn loops_to_shape<'c>(module: OpRef<'c>, target: &Target) -> Vec<OpRef<'c>> {
    let functions = collect_ops(module, nv_tileaa::FuncOp::cast).into_iter().map(|f| f.op());
    let unplanned = functions.filter(|f| DotPlan::of(*f).is_none());
    unplanned.flat_map(loops_in).filter(|l| is_worth_scheduling(*l, target)).collect()
}

/// The target and machine of a function with constraints. A target without a machine file uses that of its family.
pub fn machine_of<'c>(function: OpRef<'c>) -> Option<(&'static Target, Machine)> {
    let name = attributes::MACHINE.get(function)?;
    let machine = Machine::of_target(name).ok()?;
    Some((Target::by_name(name)?, machine))
}

/// The clock at which an op of a loop starts, from the start of its iteration; `None` if the op is not scheduled.
pub fn time(op: OpRef<'_>, around: OpRef<'_>) -> Option<i64> {
    let stage = attributes::STAGE.get(op)?.checked_mul(attributes::INTERVAL.get(around)?)?;
    stage.checked_add(attributes::CLOCK.get(op)?)
}

/// The ops of a loop's body that are scheduled: all except scalar arithmetic, constants and the terminator.
pub fn nodes_of<'c>(around: OpRef<'c>) -> Vec<OpRef<'c>> {
    let body = entry_block(region(around, 0));
    body.into_iter().flat_map(ops_of).filter(|o| !is_free(*o)).collect()
}

/// Whether an op is scalar arithmetic, a constant or the terminator.
fn is_free(op: OpRef<'_>) -> bool {
    let scalar = region_count(op) == 0 && behaviour::is_pure(op) && results(op).all(|v| Tensor::of_value(v).is_none());
    behaviour::is_constant(op) || scalar || next_is_none(op)
}

fn next_is_none(op: OpRef<'_>) -> bool {
    Scf::of(op) == Some(Scf::Yield)
}

/// Whether a loop has copies or dots. Other loops have nothing to overlap.
pub fn is_worth_scheduling(around: OpRef<'_>, target: &Target) -> bool {
    Candidates::of(around, target).is_some() || nodes_of(around).iter().any(|o| AnyDot::cast(*o).is_some())
}

/// The pipes of an SM in the order of [`Pipe`], and the keys of the clocks that one instruction of a warp occupies a
/// scheduler's pipe, alone and while `wgmma` dots are in flight.
const PIPES: [(&str, [&str; 2]); 4] = [
    ("fma", ["pipe.fma.interval", "pipe.fma.beside_wgmma"]),
    ("alu", ["pipe.alu.interval", "pipe.alu.beside_wgmma"]),
    ("mufu", ["pipe.mufu.interval", "pipe.mufu.beside_wgmma"]),
    ("convert", ["pipe.convert.interval", "pipe.pack.beside_wgmma"]),
];
/// The pools that follow the pipes.
const TENSOR: usize = 4;
const SHARED: usize = 5;
const MEMORY: usize = 6;

impl LoopCosts {
    fn of(around: OpRef<'_>, target: &'static Target, machine: &Machine) -> Option<Self> {
        let warps = warps_at(around).ok()?;
        let division = Division::of(around);
        let rings: FxHashSet<usize> = match division {
            Some(_) => FxHashSet::default(),
            None => Candidates::of(around, target).iter().flat_map(|c| &c.loads).map(|l| op_key(l.op)).collect(),
        };
        let thread = machine.get("sm.registers_per_thread").ok()? as u32;
        let agent = |name: &str, registers| Agent { name: name.into(), registers: Some(registers) };
        let (agents, crossing) = match &division {
            None => (vec![agent("threads", thread)], 0),
            Some(d) => {
                let agents = agents::NAMES.iter().map(|name| agent(name, d.plan.registers(name)));
                (agents.collect(), machine.get("mbarrier.edge").ok()?.ceil() as u32)
            }
        };
        let division = match division {
            None => None,
            Some(d) => {
                let planned = tile_plan::Machine::named(&machine.name).ok()?;
                Some((d, Numbers::new(&planned).ok()?))
            }
        };
        let model = Model { machine, warps, rings, division };
        let nodes = nodes_of(around).into_iter().map(|o| model.cost(o)).collect::<Option<_>>()?;
        let names = PIPES.iter().map(|(name, _)| *name).chain(["tensor", "shared", "memory"]);
        let pools = names.map(|name| Pool { name: name.into(), units: 1 }).collect();
        Some(Self { nodes, pools, agents, crossing })
    }

    /// Whether several agents share the loop.
    pub fn has_agents(&self) -> bool {
        self.agents.len() > 1
    }

    /// The rings of a loop of agents, and the possible orders of the consumers' program. Returns `None` if the
    /// analysis does not describe the loop.
    pub fn rings<'c>(&self, around: OpRef<'c>) -> Option<(Vec<agents::ScheduledRing<'c>>, Vec<agents::Order>)> {
        let costs: Vec<&Cost> = self.of_nodes(around)?.into_iter().map(|i| &self.nodes[i]).collect();
        let (division, ops) = (Division::of(around)?, nodes_of(around));
        Some((division.rings(&ops, &costs, self.crossing), division.orders(&ops)))
    }

    /// The node of each scheduled op of the loop. Returns `None` if an op is new or was reordered.
    pub fn of_nodes(&self, around: OpRef<'_>) -> Option<Vec<usize>> {
        let mut left = self.nodes.iter().enumerate();
        let find = |op: OpRef<'_>| {
            let gid = attributes::GID.get(op)?;
            left.find(|(_, n)| n.gid == gid && n.op == op_name(op)).map(|(i, _)| i)
        };
        nodes_of(around).into_iter().map(find).collect()
    }

    /// The graph for the scheduler. Returns `None` if the analysis does not describe the loop.
    pub fn graph(&self, around: OpRef<'_>) -> Option<Graph> {
        let ops = nodes_of(around);
        let costs: Vec<&Cost> = self.of_nodes(around)?.into_iter().map(|i| &self.nodes[i]).collect();
        // The groups by number, with their leaders.
        let mut gids: Vec<i64> = costs.iter().map(|c| c.gid).collect();
        gids.sort_unstable();
        gids.dedup();
        let group = |gid: i64| gids.binary_search(&gid).ok();
        let mut groups = vec![Group::default(); gids.len()];
        for (op, cost) in ops.iter().zip(&costs) {
            let leader = attributes::LEADER_GID.get(*op).and_then(group);
            if let (Some(g), Some(leader)) = (group(cost.gid), leader) {
                let max_depth = attributes::MAX_DEPTH.get(*op).and_then(|d| u32::try_from(d).ok()).unwrap_or(0);
                groups[g] = Group { leader: Some(leader), max_depth };
            }
        }
        // The scheduler only needs groups of several ops and groups that have or are leaders.
        let alone = |g: usize| {
            let members = costs.iter().filter(|c| group(c.gid) == Some(g)).count();
            members == 1 && groups[g].leader.is_none() && groups.iter().all(|o| o.leader != Some(g))
        };
        let node = |cost: &&Cost| Node {
            name: format!("{} {}", cost.gid, cost.op),
            footprint: cost.footprint.clone(),
            issue: cost.issue,
            registers: cost.registers,
            asynchronous: cost.asynchronous,
            agents: vec![cost.agent],
            group: group(cost.gid).filter(|g| !alone(*g)),
        };
        let mut edges = edges(around, &ops, &costs);
        if self.has_agents() {
            Division::of(around)?.complete(&mut edges, &ops, &costs, self.crossing);
        }
        let nodes = costs.iter().map(node).collect();
        Some(Graph { pools: self.pools.clone(), agents: self.agents.clone(), nodes, edges, groups })
    }
}

/// The dependences of each op, through scalar arithmetic and loop-carried values.
fn edges(around: OpRef<'_>, ops: &[OpRef<'_>], costs: &[&Cost]) -> Vec<Edge> {
    let Some(body) = entry_block(region(around, 0)) else { return vec![] };
    let node: FxHashMap<usize, usize> = ops.iter().enumerate().map(|(i, o)| (op_key(*o), i)).collect();
    let yielded: Vec<Val<'_>> = ops_of(body).last().map(|y| operands(y).collect()).unwrap_or_default();
    let mut all: Vec<Edge> = vec![];
    for (to, op) in ops.iter().enumerate() {
        let mut inputs: Vec<Val<'_>> = vec![];
        walk(*op, &mut |inner| inputs.extend(operands(inner)));
        let mut work: Vec<(Val<'_>, u32)> = inputs.into_iter().map(|v| (v, 0)).collect();
        let mut seen: FxHashSet<(usize, u32)> = FxHashSet::default();
        while let Some((v, distance)) = work.pop() {
            if !seen.insert((key(v), distance)) {
                continue;
            }
            match defining_op(v) {
                Some(from) => match node.get(&op_key(from)) {
                    Some(&from) if from != to || distance > 0 => {
                        let value = Tensor::of_value(v).is_some();
                        all.push(Edge { from, to, latency: costs[from].latency, distance, crossing: 0, value });
                    }
                    Some(_) => {}
                    None if block_of(from) == block_key(body) => work.extend(operands(from).map(|v| (v, distance))),
                    None => {}
                },
                // A block argument: argument 0 is the counter. The bound on the distance ends cycles of values
                // carried unchanged.
                None if home_of(v) == block_key(body) && (distance as usize) < yielded.len() => {
                    let position = args(body).position(|a| a == v);
                    let before = position.and_then(|i| i.checked_sub(1)).and_then(|i| yielded.get(i));
                    work.extend(before.map(|v| (*v, distance + 1)));
                }
                None => {}
            }
        }
    }
    // Ops with effects but without tokens keep their order.
    let ordered: Vec<usize> = (0..ops.len()).filter(|i| has_untold_effects(ops[*i])).collect();
    let order =
        |pair: &[usize]| Edge { from: pair[0], to: pair[1], latency: 0, distance: 0, crossing: 0, value: false };
    all.extend(ordered.windows(2).map(order));
    all.sort_unstable_by_key(|e| (e.from, e.to, e.distance, !e.value));
    all.dedup_by_key(|e| (e.from, e.to, e.distance));
    all
}

fn has_untold_effects(op: OpRef<'_>) -> bool {
    let token = |v: Val<'_>| nv_tileaa::MemTokenType::cast(ty(v)).is_some();
    !behaviour::is_pure(op) && !results(op).any(token)
}

struct Model<'a, 'c> {
    machine: &'a Machine,
    /// Warps that compute.
    warps: u64,
    rings: FxHashSet<usize>,
    /// The division of a loop among agents, with the planner's numbers of the machine.
    division: Option<(Division<'c>, Numbers)>,
}

impl<'c> Model<'_, 'c> {
    fn cost(&self, op: OpRef<'c>) -> Option<Cost> {
        let get = |key: &str| self.machine.get(key).ok();
        let schedulers = get("sm.schedulers")?;
        // Instructions per scheduler.
        let instructions = |elements: u64| (elements * self.warps) as f64 / schedulers;
        let held: u64 = results(op).map(|v| registers(v)).sum();
        let mut cost = Cost {
            op: op_name(op).to_owned(),
            gid: attributes::GID.get(op)?,
            footprint: vec![],
            issue: 0,
            latency: 0,
            registers: held.try_into().unwrap_or(u32::MAX),
            asynchronous: false,
            agent: 0,
        };
        if let Some((division, numbers)) = &self.division {
            if let Some(role) = division.role(op) {
                return self.for_ring(op, role, (division, numbers), cost);
            }
            cost.agent = agents::CONSUMERS;
            if let Some(of_product) = division.product_cost(op, self.machine, numbers, cost.clone()) {
                return Some(of_product);
            }
        }
        let during_dots = self.division.is_some();
        let mut busy = |pool: usize, clocks: f64| {
            let clocks = clocks.ceil() as u32;
            if clocks > 0 {
                cost.footprint.push(Reservation { pool, start: 0, clocks });
            }
            clocks
        };
        let bytes = |v: Val<'_>, bits: fn(melior::ir::Type<'_>) -> u32| {
            Tensor::of_value(v).map_or(0, |t| t.elements() as u64 * u64::from(bits(t.element)) / 8)
        };
        if let Some(dot) = AnyDot::cast(op) {
            let (a, c) = (Tensor::of_value(dot.lhs())?, Tensor::of_value(dot.result())?);
            let multiplications = c.elements() as f64 * *a.shape.last()? as f64;
            let clocks = match dot.matrix_instruction() {
                // The interval is that of m16n8k16 with 16-bit elements on one scheduler.
                Some(_) => {
                    let bits = f64::from(storage_bits(a.element).max(8));
                    multiplications / 2048.0 / schedulers * get("mma.f16.m16n8k16.interval")? * bits / 16.0
                }
                None => multiplications / 32.0 / schedulers,
            };
            let clocks = busy(if dot.matrix_instruction().is_some() { TENSOR } else { 0 }, clocks);
            cost.issue = (clocks / 8).max(1);
            cost.latency = clocks + get("mma.latency")? as u32;
            cost.asynchronous = true;
        } else if TiledLoadOp::cast(op).is_some() || LoadOp::cast(op).is_some() {
            let moved = bytes(result(op, 0), memory_bits);
            let clocks = busy(MEMORY, moved as f64 / get("l2.all_shared")?);
            cost.latency = clocks + get("latency.dram")? as u32;
            cost.asynchronous = self.rings.contains(&op_key(op));
            cost.issue = (moved / 16 / 32 / schedulers as u64) as u32;
            if cost.asynchronous {
                // The tile is in shared memory until it is read.
                cost.registers = 0;
            }
        } else if ConvertLayoutOp::cast(op).is_some() && behaviour::moves_between_threads(op) {
            let clocks = busy(SHARED, 2.0 * bytes(result(op, 0), storage_bits) as f64 / get("shared.bytes_per_clk")?);
            cost.issue = instructions(held / 2).ceil() as u32;
            cost.latency = clocks.max(cost.issue) + get("latency.shared")? as u32;
        } else if ReduceOp::cast(op).is_some() || ScanOp::cast(op).is_some() {
            let elements: u64 = operands(op).map(|v| threads_elements(v)).sum();
            let alu = Pipe::Alu as usize;
            let clocks = busy(alu, instructions(elements) * interval(alu, self.machine, during_dots)?);
            cost.issue = clocks;
            cost.latency = clocks + 5 * get("latency.shuffle")? as u32;
        } else {
            // The cost of other ops follows from the size of their tile, and that of ops with regions from the nested
            // ops.
            let clocks = arithmetic(op, self.warps, self.machine, during_dots)?;
            let total: u32 = clocks.iter().enumerate().map(|(pool, c)| busy(pool, *c)).max().unwrap_or(0);
            cost.issue = total;
            cost.latency = total + get("latency.alu")?.ceil() as u32;
        }
        if let Some((division, _)) = &self.division {
            // The footprint covers all warpgroups; one of them issues its part only.
            let warpgroups = division.warpgroups();
            let waited = cost.latency - cost.issue.min(cost.latency);
            cost.issue = cost.issue.div_ceil(warpgroups);
            cost.latency = cost.issue + waited;
        }
        Some(cost)
    }

    /// The cost of an op that brings a tile to a ring, or that only changes the view of the tile.
    fn for_ring(
        &self,
        op: OpRef<'c>,
        role: Role,
        (division, numbers): (&Division<'c>, &Numbers),
        cost: Cost,
    ) -> Option<Cost> {
        let cost = Cost { registers: 0, ..cost };
        if role == Role::View {
            return Some(Cost { agent: agents::CONSUMERS, ..cost });
        }
        let t = Tensor::of_value(result(op, 0))?;
        let bytes = t.elements() as u64 * u64::from(memory_bits(t.element)) / 8;
        let moved = (bytes as f64 / self.machine.get("l2.all_shared").ok()?).ceil() as u32;
        let footprint = vec![Reservation { pool: MEMORY, start: 0, clocks: moved }];
        let (issue, latency) = match role {
            Role::ProducerComputed => {
                let clocks = arithmetic(op, division.plan.warps(PRODUCER).into(), self.machine, true)?;
                let issue = clocks.iter().fold(0.0, |most: f64, c| most.max(*c)).ceil() as u32;
                (issue, issue + moved + self.machine.get("latency.dram").ok()?.ceil() as u32)
            }
            _ => {
                let issue = self.machine.get("tma.issue").ok()?.ceil() as u32;
                (issue, numbers.load(u32::try_from(bytes).ok()?).ceil() as u32)
            }
        };
        Some(Cost { footprint, issue, latency, asynchronous: true, agent: agents::PRODUCER, ..cost })
    }
}

/// Clocks that an op and its nested ops occupy each pipe, if run by `warps` warps, alone or with dots in flight.
fn arithmetic(op: OpRef<'_>, warps: u64, machine: &Machine, during_dots: bool) -> Option<[f64; PIPES.len()]> {
    let schedulers = machine.get("sm.schedulers").ok()?;
    let mut clocks = [0.0; PIPES.len()];
    walk(op, &mut |inner| {
        let tile = results(inner).chain(operands(inner)).map(threads_elements).max().unwrap_or(0);
        if computes(inner) {
            let pipe = behaviour::pipe_of(inner) as usize;
            clocks[pipe] += (tile * warps) as f64 / schedulers * interval(pipe, machine, during_dots).unwrap_or(1.0);
        }
    });
    Some(clocks)
}

/// Whether an op emits instructions. Ops that only rename registers do not.
fn computes(op: OpRef<'_>) -> bool {
    behaviour::layout_relation(op) == LayoutRelation::Same && region_count(op) == 0
}

/// Whether a value is a tensor of booleans. Ops on these are usually part of comparisons and selections.
fn is_predicate(v: Val<'_>) -> bool {
    Tensor::of_value(v).is_some_and(|t| is_bool(t.element))
}

/// Clocks that one instruction of a warp occupies a pipe.
fn interval(pipe: usize, machine: &Machine, during_dots: bool) -> Option<f64> {
    machine.get(PIPES[pipe].1[usize::from(during_dots)]).ok()
}

/// The pipe that the ops of a loop's body occupy longest, with its clocks per iteration of `warps` warps: alone, and
/// with dots in flight all the time.
pub fn busiest_pipe(around: OpRef<'_>, warps: u64, machine: &Machine) -> Option<(&'static str, [f64; 2])> {
    let schedulers = machine.get("sm.schedulers").ok()?;
    let mut clocks = [0.0; PIPES.len()];
    let instructions = |elements: u64| (elements * warps) as f64 / schedulers;
    for op in entry_block(region(around, 0)).into_iter().flat_map(ops_of) {
        if ReduceOp::cast(op).is_some() {
            // Each element except the first goes through the combining region.
            let elements: u64 = operands(op).map(threads_elements).sum();
            let combiners = entry_block(region(op, 0)).into_iter().flat_map(ops_of).filter(|o| computes(*o));
            for pipe in combiners.map(|op| behaviour::pipe_of(op) as usize) {
                clocks[pipe] += instructions(elements) * interval(pipe, machine, true)?;
            }
        } else if !results(op).chain(operands(op)).all(is_predicate) {
            clocks.iter_mut().zip(arithmetic(op, warps, machine, true)?).for_each(|(sum, c)| *sum += c);
        }
    }
    let (pipe, clocks) = clocks.into_iter().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let alone = clocks * interval(pipe, machine, false)? / interval(pipe, machine, true)?;
    Some((PIPES[pipe].0, [alone, clocks]))
}

/// Elements per thread of a tile.
fn threads_elements(v: Val<'_>) -> u64 {
    register_bits(v).map_or(0, |bits| 1 << bits)
}

/// Registers per thread that hold a value.
fn registers(v: Val<'_>) -> u64 {
    match (Tensor::of_value(v), register_bits(v)) {
        (Some(t), Some(bits)) => words(t.element, bits),
        _ => 0,
    }
}
