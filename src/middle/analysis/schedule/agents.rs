//! Divides loops between agents: the work of each agent, its order, and the stages of rings that it needs.
//!
//! A loop of `wgmma` dots, in a function with a plan (`dialect::dot_plan`), becomes two programs. The *producer*
//! brings tiles to rings of stages. The *consumers*, the warpgroups that issue the dots, do everything else:
//!
//! ```text
//! producer:   for i: acquire;  load a[i], b[i]
//! consumers:  for i: wait;  s = dot(a[i], b[i]);  x = f(s);  release
//! ```
//!
//! # The model of consumers
//!
//! Each consumer computes its own rows or columns, with the same program. The scheduler therefore sees one agent. The
//! consumers alternate: while one computes, another multiplies. An iteration takes at least the time for which all of
//! them together occupy a unit, and at least the time in which one of them runs its program.
//!
//! # The agent of an op
//!
//! TMA loads and the bodies of `produce_one` run in the producer, because a consumer would have to wait for a load
//! that it has just issued. Ops between a load and its dot only change the view of the tile, or are applied to the
//! stage before the dot.
//!
//! # Orders
//!
//! An agent executes ops in program order. Each op of the consumers starts after the previous one, and the first one
//! after the last one of the previous iteration. If the loop has dependent dots (`dependent_dots`), there is a
//! second, software-pipelined order: the *late* dot follows the early dot of the next iteration, and the ops that use
//! its accumulator come last. The scheduler takes the order with the smaller interval, and `tileas-pipeline-dots`
//! implements it.
//!
//! # Assumptions and bound on the work
//!
//! A warpgroup continues while its dots are in flight. Dots that add to the same accumulator do not wait for each
//! other; each starts when the tensor cores are free, unless partial results must be *promoted* (`tile_plan`). A loop
//! has at most two orders. Completing the edges of its graph searches the dots once per edge.

use super::Cost;
use crate::analysis::{
    access::View,
    dependent_dots::DependentDots,
    operand_stages::computed_stage,
    producers::{Source, groups_by_tiles},
};
use crate::dialect::{
    attributes::{AGENT, RING_STAGES},
    behaviour::Pipe,
    dot_plan::{self, CONVERTER, DotPlan},
    dots::{AnyDot, element_of, operand_format, promotes},
    layouts::Tensor,
    nv_tileas::{DotOp, MemDescType, MmaKind, TiledLoadOp},
    rt::*,
};
use rustc_hash::FxHashMap;
use tile_machine::Machine;
use tile_mma::{Major, Unit};
use tile_plan::{AStorage, DotLoop, Numbers, PROMOTION};
use tile_schedule::{Edge, Graph, Reservation, Schedule, rings::RingTile};

/// The indices and names of the agents.
pub const PRODUCER: usize = 0;
pub const CONSUMERS: usize = 1;
pub const NAMES: [&str; 2] = [dot_plan::PRODUCER, dot_plan::CONSUMERS];

/// A loop that a producer and consumers share.
pub struct Division<'c> {
    pub plan: DotPlan,
    products: Vec<Fed<'c>>,
    rotation: Option<DependentDots<'c>>,
    roles: FxHashMap<usize, Role>,
}

/// The role of an op that is not part of the consumers' program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A TMA load.
    Copied,
    /// A program of producer warps.
    ProducerComputed,
    /// An op between a load and its dot, which emits no code.
    View,
}

/// A dot, and the ops that bring its operands.
struct Fed<'c> {
    dot: DotOp<'c>,
    fills: Vec<OpRef<'c>>,
    /// The stages of the operands, and whether warps fill them. Dots with equal stages share a ring. When dots share
    /// tiles, the last reader owns all their stages.
    stages: Vec<(MemDescType<'c>, bool)>,
    product: DotLoop,
}

/// An order of the consumers' ops.
pub struct Order {
    program: Vec<usize>,
    /// Ops that execute in the iteration after their own.
    late: Vec<usize>,
    /// The early dot and the late dot. The late one is issued after the early one and waits for the tensor cores.
    pipelined: Option<(usize, usize)>,
}

impl Order {
    /// Constrains a graph to this order. Late ops are counted with the iteration in which they execute.
    pub fn impose(&self, graph: &mut Graph) {
        self.count_late(graph, 1);
        let after = |from: usize, to: usize, distance: u32| {
            let latency = graph.nodes[from].issue;
            Edge { from, to, latency, distance, crossing: 0, value: false }
        };
        let mut edges: Vec<Edge> = self.program.windows(2).map(|pair| after(pair[0], pair[1], 0)).collect();
        edges.extend(self.pipelined.map(|(early, late)| after(early, late, 0)));
        if let (Some(first), Some(last)) = (self.program.first(), self.program.last()) {
            edges.push(after(*last, *first, 1));
        }
        graph.edges.extend(edges);
    }

    /// Counts the late ops of a graph and of its schedule with their own iterations again. Edges whose distance would
    /// become negative are removed.
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

/// A ring, and the tiles that pass through it in an iteration.
pub struct ScheduledRing<'c> {
    pub products: Vec<OpRef<'c>>,
    pub steps: Vec<RingTile>,
}

impl<'c> Division<'c> {
    /// The division of a loop, or `None` if the loop has no agents.
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

    /// The role of an op; `None` for ops of the consumers' program.
    pub fn role(&self, op: OpRef<'_>) -> Option<Role> {
        self.roles.get(&op_key(op)).copied()
    }

    /// The cost of a dot.
    pub fn product_cost(&self, op: OpRef<'_>, machine: &Machine, numbers: &Numbers, cost: Cost) -> Option<Cost> {
        let fed = self.products.iter().find(|p| p.dot.op() == op)?;
        let p = &fed.product;
        let columns = self.plan.columns.min(p.n);
        let clocks = |c: f64| c.ceil() as u32;
        // Consumers convert operands before the dot, unless a converter warpgroup does.
        let changed = clocks(2.0 * f64::from(p.converted_bytes()) / machine.get("shared.bytes_per_clk").ok()?);
        let start = if self.plan.agent(CONVERTER).is_some() { 0 } else { changed };
        let tensor = clocks(numbers.tensor(p, columns));
        let chain = clocks(numbers.chain(p.a_storage));
        let warpgroups = self.warpgroups();
        let instructions = (p.m / 64) * (p.n / columns) * (p.k * p.operand.bits() / 256);
        let mut footprint = vec![Reservation { pool: super::TENSOR, start, clocks: tensor }];
        if changed > 0 {
            footprint.push(Reservation { pool: super::SHARED, start: 0, clocks: changed });
        }
        // The part of one warpgroup.
        let mut issue = start.div_ceil(warpgroups) + instructions.div_ceil(warpgroups);
        let mut latency = (start + tensor).div_ceil(warpgroups) + chain;
        if p.promoted() {
            // One addition per accumulator, by the warps of a warpgroup on four schedulers. The warpgroup waits for
            // all of them.
            let additions = f64::from(p.m * p.n) / 128.0 * f64::from(p.k.div_ceil(PROMOTION));
            let clocks = clocks(additions * machine.get("pipe.fma.beside_wgmma").ok()?);
            footprint.push(Reservation { pool: Pipe::Fma as usize, start: start + tensor, clocks });
            latency += clocks.div_ceil(warpgroups);
            issue = latency;
        }
        Some(Cost { footprint, issue, latency, asynchronous: true, ..cost })
    }

    /// Completes the edges for several agents. A dot that adds to the accumulator of another only waits for the
    /// tensor cores, and an edge to another agent takes `crossing` additional clocks.
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

    /// Clocks from the start of a dot until the tensor cores can start the next one of the same warpgroup.
    fn follows(&self, cost: &Cost) -> u32 {
        let tensor = cost.footprint.iter().filter(|u| u.pool == super::TENSOR);
        tensor.map(|u| u.start + u.clocks / self.warpgroups()).max().unwrap_or(0)
    }

    /// The number of consumer warpgroups.
    pub fn warpgroups(&self) -> u32 {
        self.plan.groups.iter().product()
    }

    /// The possible orders of the consumers' program.
    pub fn orders(&self, ops: &[OpRef<'c>]) -> Vec<Order> {
        let own = |op: &OpRef<'c>| self.role(*op).is_none();
        let numbers: FxHashMap<usize, usize> = ops.iter().enumerate().map(|(i, o)| (op_key(*o), i)).collect();
        let number = |op: OpRef<'c>| numbers.get(&op_key(op)).copied();
        let program = (0..ops.len()).filter(|i| own(&ops[*i])).collect();
        let mut orders = vec![Order { program, late: vec![], pipelined: None }];
        let rotated = self.rotation.as_ref().and_then(|r| {
            let late = number(r.late.op())?;
            let last: Vec<usize> = r.users_of_accumulators().into_iter().filter_map(number).collect();
            let mut program = orders[0].program.clone();
            program.retain(|i| *i != late && !last.contains(i));
            program.extend(last);
            // The ops that bring its right operand move with it.
            let own = r.needed.iter().filter(|o| r.exclusive.contains(&op_key(**o)) && self.role(**o).is_some());
            let early = number(r.early.op())?;
            Some(Order {
                program,
                late: own.filter_map(|o| number(*o)).chain([late]).collect(),
                pipelined: Some((early, late)),
            })
        });
        orders.extend(rotated);
        orders
    }

    /// The rings of the loop. Their ops are given as indices of `ops`.
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
    /// Returns `None` if no ring can hold an operand. Adds the roles of the ops before the dot.
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
                    stages.push((found.stage(&view, 1 - number, Unit::Warpgroup).ok()?, false));
                    fills.push(found.load);
                    roles.insert(op_key(found.load), Role::Copied);
                    between(v, &|op| op == found.load, roles);
                    product.computed[number] = !found.computed.is_empty();
                    if found.must_be_transposed(&view, 1 - number, Unit::Warpgroup) {
                        *[&mut product.a_major, &mut product.b_major][number] = Major::Mn;
                    }
                }
                Source::ProducerComputed(by) | Source::ConverterComputed(by) => {
                    stages.push((computed_stage(by.op(), by.tile().next()?, by.fast() as usize).ok()?, true));
                    fills.push(by.op());
                    roles.insert(op_key(by.op()), Role::ProducerComputed);
                    between(v, &|op| op == by.op(), roles);
                }
                // The value is stored to shared memory where it is computed.
                Source::Resident => between(v, &|op| block_of(op) != block_of(dot.op()), roles),
                Source::Computed if number == 0 => product.a_storage = AStorage::Registers { extra: 0 },
                Source::Computed => {}
            }
        }
        Some(Self { dot, fills, stages, product })
    }

    /// Whether the dot adds directly to the result of `other`.
    fn adds_to(&self, other: &Self) -> bool {
        let acc = self.dot.acc();
        let home = home_of(acc);
        let block = block_around(self.dot.op()).filter(|b| block_key(*b) == home);
        let carried = || {
            let at = args(block?).position(|a| a == acc)?.checked_sub(1)?;
            ops_of(block?).last().map(|end| operand(end, at))
        };
        let added = if defining_op(acc).is_some() { Some(acc) } else { carried() };
        added == Some(other.dot.result())
    }
}

/// Gives the last of the dots that share tiles the loads and stages of all, each once.
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

/// Adds the role of the ops between an operand of a dot and the op that produces it.
fn between<'c>(mut v: Val<'c>, is_end: &dyn Fn(OpRef<'c>) -> bool, roles: &mut FxHashMap<usize, Role>) {
    while let Some(op) = defining_op(v).filter(|op| !is_end(*op) && operand_count(*op) > 0) {
        roles.insert(op_key(op), Role::View);
        v = operand(op, 0);
    }
}

/// The agent of a scheduled op.
pub fn agent_of(op: OpRef<'_>) -> Option<&str> {
    AGENT.get(op)
}

/// The number of stages of the ring that the schedule requests for a dot.
pub fn stages_of(dot: OpRef<'_>) -> Option<u32> {
    RING_STAGES.get(dot).and_then(|n| u32::try_from(n).ok())
}
