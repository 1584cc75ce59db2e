//! Loops of agents: which agent does what, in which order, and which stages of rings that takes.
//!
//! A loop with products of warpgroups, in a function with a plan (`dialect::dot_plan`), becomes two programs. The
//! *producer* brings tiles to rings of stages. The *consumers*, the warpgroups that multiply, do all the rest, each on
//! rows or columns of its own. They do the same, so that one of them is an agent to the scheduler, and what it keeps
//! busy all of them do, one behind the other: while one computes, another multiplies. So an iteration takes at least as
//! long as all of them keep a unit busy, and as long as one of them takes to go through its program.
//!
//! Who can do an operation follows from what passes can make of it: tensor copies and the programs of `produce_one` are
//! the producer's, because a consumer would have to wait for what it has just started. What stands between a load and
//! its product says only how the tile lies, or is done to the stage in front of the product.
//!
//! An agent goes through its operations in the order of its program. So each operation of the consumers begins behind
//! the one before it, and the first one behind the last one of the iteration before. There may be two such orders
//! (`dependent_dots`): in the other one the *late* product stands behind the early one of the next iteration, and what
//! is computed with its sums comes last. The scheduler takes the one with the smaller interval, and
//! `tileas-pipeline-dots` follows it.
//!
//! A warpgroup goes on while its product is under way. Products that add to one accumulator do not wait for each other
//! at all: each begins when the tensor cores are free, unless sums must be *promoted* (`tile_plan`).

use super::{Cost, number};
use crate::analysis::{
    access::View,
    dependent_dots::DependentDots,
    producers::{Source, computed_stage, groups_by_tiles},
};
use crate::dialect::{
    dot_plan::DotPlan,
    dots::{AnyDot, element_of, operand_format, promotes},
    layouts::Tensor,
    nv_tileas::{DotOp, MemDescType, MmaKind, TiledLoadOp},
    rt::*,
};
use rustc_hash::FxHashMap;
use tile_machine::Machine;
use tile_mma::Major;
use tile_plan::{AStorage, DotLoop, Numbers, PROMOTION};
use tile_schedule::{Edge, Graph, Reservation, Schedule, rings::RingTile};

/// The agents, by number, and what they are called.
pub const PRODUCER: usize = 0;
pub const CONSUMERS: usize = 1;
pub const NAMES: [&str; 2] = ["producer", "consumers"];

/// A loop that agents share.
pub struct Division<'c> {
    pub plan: DotPlan,
    products: Vec<Fed<'c>>,
    rotation: Option<DependentDots<'c>>,
    roles: FxHashMap<usize, Role>,
}

/// What an operation becomes that is no program of the consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Tensor copies.
    Copied,
    /// A program of the producer's warps.
    ProducerComputed,
    /// Nothing: it stands between a load and its product.
    View,
}

/// A product, with what brings its operands.
struct Fed<'c> {
    dot: DotOp<'c>,
    fills: Vec<OpRef<'c>>,
    /// Its stages, and whether warps fill them. Products with equal ones take turns with one ring. Of products that
    /// share tiles the last one has those of all, because it is the last that reads them, and the others have none.
    stages: Vec<(MemDescType<'c>, bool)>,
    product: DotLoop,
}

/// An order of the consumers' operations.
pub struct Order {
    program: Vec<usize>,
    /// Those that stand in the program of the iteration behind their own.
    late: Vec<usize>,
    /// The early product and the late one, which is started there and then waits for the tensor cores.
    behind: Option<(usize, usize)>,
}

impl Order {
    /// Holds a loop to the order. Its late operations are counted with the iteration in whose program they stand.
    pub fn impose(&self, graph: &mut Graph) {
        self.count_late(graph, 1);
        let behind = |from: usize, to: usize, distance: u32| {
            let latency = graph.nodes[from].issue;
            Edge { from, to, latency, distance, crossing: 0, value: false }
        };
        let mut edges: Vec<Edge> = self.program.windows(2).map(|pair| behind(pair[0], pair[1], 0)).collect();
        edges.extend(self.behind.map(|(early, late)| behind(early, late, 0)));
        if let (Some(first), Some(last)) = (self.program.first(), self.program.last()) {
            edges.push(behind(*last, *first, 1));
        }
        graph.edges.extend(edges);
    }

    /// Counts the late operations of a loop and of its schedule with their own iterations. Of edges those are left that
    /// can be said so.
    pub fn give_back(&self, graph: &mut Graph, schedule: &mut Schedule) {
        self.count_late(graph, -1);
        self.late.iter().for_each(|i| schedule.times[*i] += schedule.interval);
    }

    fn count_late(&self, graph: &mut Graph, iterations: i64) {
        graph.edges.retain_mut(|e| {
            let is_late = |i: usize| i64::from(self.late.contains(&i));
            let distance = i64::from(e.distance) + iterations * (is_late(e.to) - is_late(e.from));
            u32::try_from(distance).is_ok_and(|d| {
                e.distance = d;
                true
            })
        });
    }
}

/// The turns of a ring.
pub struct ScheduledRing<'c> {
    pub products: Vec<OpRef<'c>>,
    pub steps: Vec<RingTile>,
}

impl<'c> Division<'c> {
    /// None for a loop that is one program.
    pub fn of(around: OpRef<'c>) -> Option<Self> {
        let plan = DotPlan::around(around)?;
        let body = entry_block(region(around, 0))?;
        let by_warpgroups =
            |dot: &DotOp<'c>| AnyDot::Plain(*dot).instruction().is_some_and(|by| by.kind == MmaKind::Warpgroup);
        let dots: Vec<DotOp<'c>> = ops_of(body).filter_map(DotOp::cast).filter(by_warpgroups).collect();
        let mut roles = FxHashMap::default();
        let products: Option<Vec<_>> = dots.into_iter().map(|dot| Fed::of(dot, &mut roles)).collect();
        let mut products = products.filter(|p| !p.is_empty())?;
        share_stages(&mut products);
        Some(Self { plan, products, rotation: DependentDots::of(around), roles })
    }

    pub fn role(&self, op: OpRef<'_>) -> Option<Role> {
        self.roles.get(&op_key(op)).copied()
    }

    /// What a product costs.
    pub fn product_cost(&self, op: OpRef<'_>, machine: &Machine, numbers: &Numbers, cost: Cost) -> Option<Cost> {
        let fed = self.products.iter().find(|p| p.dot.op() == op)?;
        let p = &fed.product;
        let columns = self.plan.columns.min(p.n);
        let clocks = |c: f64| c.ceil() as u32;
        // Consumers change stages before they multiply, unless others do.
        let changed = clocks(2.0 * f64::from(p.converted_bytes()) / machine.get("shared.bytes_per_clk").ok()?);
        let start = if self.plan.converter.is_some() { 0 } else { changed };
        let tensor = clocks(numbers.tensor(p, columns));
        let chain = clocks(numbers.chain(p.a_storage));
        let warpgroups = self.warpgroups();
        let instructions = (p.m / 64) * (p.n / columns) * (p.k * p.operand.bits() / 256);
        let mut footprint = vec![Reservation { pool: super::TENSOR, start, clocks: tensor }];
        if changed > 0 {
            footprint.push(Reservation { pool: super::SHARED, start: 0, clocks: changed });
        }
        // One warpgroup's part of it.
        let mut issue = start.div_ceil(warpgroups) + instructions.div_ceil(warpgroups);
        let mut latency = (start + tensor).div_ceil(warpgroups) + chain;
        if p.promoted() {
            // Each sum of each thread once, by the warps of a warpgroup on four schedulers; all of it is waited for.
            let additions = f64::from(p.m * p.n) / 128.0 * f64::from(p.k.div_ceil(PROMOTION));
            let clocks = clocks(additions * machine.get("pipe.fma.beside_wgmma").ok()?);
            footprint.push(Reservation { pool: super::FMA, start: start + tensor, clocks });
            latency += clocks.div_ceil(warpgroups);
            issue = latency;
        }
        Some(Cost { footprint, issue, latency, asynchronous: true, ..cost })
    }

    /// What each edge of the program is to agents: products that add to an accumulator follow each other, and what
    /// leads to another agent takes `crossing` clocks more.
    pub fn complete(&self, edges: &mut [Edge], ops: &[OpRef<'c>], costs: &[&Cost], crossing: u32) {
        for e in edges.iter_mut() {
            e.crossing = crossing;
            let (from, to) = (self.fed(ops[e.from]), self.fed(ops[e.to]));
            if let (Some(from), Some(to)) = (from, to)
                && !from.product.promoted()
                && to.adds_to(from)
            {
                e.latency = self.follows(costs[e.from]);
            }
        }
    }

    /// Clocks from the beginning of a product until the tensor cores are free for the same warpgroup's next one.
    fn follows(&self, cost: &Cost) -> u32 {
        let tensor = cost.footprint.iter().filter(|u| u.pool == super::TENSOR);
        tensor.map(|u| u.start + u.clocks / self.warpgroups()).max().unwrap_or(0)
    }

    /// Warpgroups that do the consumers' program.
    pub fn warpgroups(&self) -> u32 {
        self.plan.groups.iter().product()
    }

    /// The orders in which consumers can go through the loop.
    pub fn orders(&self, ops: &[OpRef<'c>]) -> Vec<Order> {
        let own = |op: &OpRef<'c>| self.role(*op).is_none();
        let numbers: FxHashMap<usize, usize> = ops.iter().enumerate().map(|(i, o)| (op_key(*o), i)).collect();
        let number = |op: OpRef<'c>| numbers.get(&op_key(op)).copied();
        let program = (0..ops.len()).filter(|i| own(&ops[*i])).collect();
        let mut orders = vec![Order { program, late: vec![], behind: None }];
        let rotated = self.rotation.as_ref().and_then(|r| {
            let late = number(r.late.op())?;
            let last: Vec<usize> = r.users_of_sums().into_iter().filter_map(number).collect();
            let mut program = orders[0].program.clone();
            program.retain(|i| *i != late && !last.contains(i));
            program.extend(last);
            // What brings its right operand goes with it.
            let own = r.needed.iter().filter(|o| r.exclusive.contains(&op_key(**o)) && self.role(**o).is_some());
            let early = number(r.early.op())?;
            Some(Order {
                program,
                late: own.filter_map(|o| number(*o)).chain([late]).collect(),
                behind: Some((early, late)),
            })
        });
        orders.extend(rotated);
        orders
    }

    /// The rings of the loop, with the numbers of their operations among `ops`.
    pub fn rings(&self, ops: &[OpRef<'c>], costs: &[&Cost], crossing: u32) -> Vec<ScheduledRing<'c>> {
        let place = |op: OpRef<'c>| ops.iter().position(|o| *o == op);
        let mut rings: Vec<(&[(MemDescType<'c>, bool)], ScheduledRing<'c>)> = vec![];
        for fed in self.products.iter().filter(|p| !p.fills.is_empty()) {
            let Some(reader) = place(fed.dot.op()) else { continue };
            let fills: Vec<usize> = fed.fills.iter().filter_map(|f| place(*f)).collect();
            let lead = fills.iter().map(|f| costs[*f].latency + crossing).max().unwrap_or(0);
            let step = RingTile { fills, lead, reader, done: costs[reader].latency, back: crossing };
            match rings.iter_mut().find(|(stages, _)| *stages == fed.stages) {
                Some((_, ring)) => {
                    ring.products.push(fed.dot.op());
                    ring.steps.push(step);
                }
                None => rings.push((&fed.stages, ScheduledRing { products: vec![fed.dot.op()], steps: vec![step] })),
            }
        }
        rings.into_iter().map(|(_, ring)| ring).collect()
    }

    fn fed(&self, op: OpRef<'c>) -> Option<&Fed<'c>> {
        self.products.iter().find(|p| p.dot.op() == op)
    }
}

impl<'c> Fed<'c> {
    /// None where no ring can hold an operand; the roles of what stands in front of the product are added.
    fn of(dot: DotOp<'c>, roles: &mut FxHashMap<usize, Role>) -> Option<Self> {
        let (lhs, rhs) = (Tensor::of_value(dot.lhs())?, Tensor::of_value(dot.rhs())?);
        let operand = operand_format([(dot.lhs(), dot.lhs_unsigned()), (dot.rhs(), dot.rhs_unsigned())])?;
        let extent = |e: i64| u32::try_from(e).ok();
        let (m, n, k) = (*lhs.shape.first()?, *rhs.shape.get(1)?, *lhs.shape.get(1)?);
        let mut product = DotLoop::new((extent(m)?, extent(n)?, extent(k)?), operand);
        let element = element_of(lhs.element, false);
        product.exact_accumulation = element.is_some_and(|e| promotes(e, dot.fast_acc(), (dot.acc(), k), PROMOTION));
        let (mut fills, mut stages) = (vec![], vec![]);
        for (number, v) in [dot.lhs(), dot.rhs()].into_iter().enumerate() {
            match Source::of(v, dot.op()) {
                Source::Loaded(found) => {
                    let view = View::of(TiledLoadOp::cast(found.load)?.view())?;
                    stages.push((found.stage(&view).ok()?, false));
                    fills.push(found.load);
                    roles.insert(op_key(found.load), Role::Copied);
                    between(v, &|op| op == found.load, roles);
                    product.computed[number] = !found.computed.is_empty();
                    if found.must_be_transposed(&view, 1 - number) {
                        *[&mut product.a_major, &mut product.b_major][number] = Major::Mn;
                    }
                }
                Source::ProducerComputed(by) => {
                    stages.push((computed_stage(by.op(), by.tile().next()?, by.fast() as usize).ok()?, true));
                    fills.push(by.op());
                    roles.insert(op_key(by.op()), Role::ProducerComputed);
                    between(v, &|op| op == by.op(), roles);
                }
                // It is stored where it is computed, as it lies there.
                Source::Resident => between(v, &|op| block_of(op) != block_of(dot.op()), roles),
                Source::Computed if number == 0 => product.a_storage = AStorage::Registers { extra: 0 },
                Source::Computed => {}
            }
        }
        Some(Self { dot, fills, stages, product })
    }

    /// Whether the sums of another product are what this one adds to, as they are.
    fn adds_to(&self, other: &Self) -> bool {
        let acc = self.dot.acc();
        let home = home_of(acc);
        let block = block_around(self.dot.op()).filter(|b| block_key(*b) == home);
        let carried = || {
            let at = args(block?).position(|a| a == acc)?.checked_sub(1)?;
            ops_of(block?).last().map(|end| operand(end, at))
        };
        let sums = if defining_op(acc).is_some() { Some(acc) } else { carried() };
        sums == Some(other.dot.result())
    }
}

/// Gives the last of products that share tiles what fills the stages of all, each once.
fn share_stages(products: &mut [Fed<'_>]) {
    let loads = |p: &Fed<'_>| p.fills.iter().map(|f| op_key(*f)).collect();
    let tiles: Vec<Vec<usize>> = products.iter().map(loads).collect();
    for group in groups_by_tiles(&tiles) {
        let (mut fills, mut stages) = (vec![], vec![]);
        for i in &group {
            let own = std::mem::take(&mut products[*i].fills).into_iter();
            for (fill, stage) in own.zip(std::mem::take(&mut products[*i].stages)) {
                if !fills.contains(&fill) {
                    fills.push(fill);
                    stages.push(stage);
                }
            }
        }
        let last = &mut products[group[group.len() - 1]];
        (last.fills, last.stages) = (fills, stages);
    }
}

/// What stands between a product's operand and the op that makes it.
fn between<'c>(mut v: Val<'c>, is_end: &dyn Fn(OpRef<'c>) -> bool, roles: &mut FxHashMap<usize, Role>) {
    while let Some(op) = defining_op(v).filter(|op| !is_end(*op) && operand_count(*op) > 0) {
        roles.insert(op_key(op), Role::View);
        v = operand(op, 0);
    }
}

/// The agent that an operation has been given; none if it has not been.
pub fn agent_of(op: OpRef<'_>) -> Option<&str> {
    discardable_attr(op, super::solved::AGENT).map(string_attr)
}

/// Stages of the ring that the schedule of a product asks for.
pub fn stages_of(dot: OpRef<'_>) -> Option<u32> {
    number(dot, super::solved::RING_STAGES).and_then(|n| u32::try_from(n).ok())
}
