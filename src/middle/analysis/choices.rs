//! Reports what the compiler chose for each product, load, store, reduction and loop of the final program.
//!
//! Instructions, rings, agents and registers are in the final program, as types and attributes. The deciding passes
//! have recorded the reasons against TMA and against the fastest matrix unit ([`remark::against`]). Ops with the same
//! source are one op of the user: passes copy loops to each agent, slice tiles, and keep two forms of an access where a
//! test at run time decides.

use crate::{
    analysis::{access::View, orders::orders_of},
    dialect::{
        attributes::MAX_REGISTERS,
        behaviour::is_loop,
        dot_plan::{self, DotPlan},
        dots::{AnyDot, Instruction, LHS, SharedDot},
        layouts::{Tensor, memory_bits},
        nv_tileaa::PtrType,
        nv_tileas::{AgentSwitchOp, AnyOp, MemDescType, PipelineType},
        remark::{self, Better},
        rt::*,
    },
};
use melior::ir::Type;
use rustc_hash::FxHashMap;
use tile_diag::Location;
use tile_interface::{Agent, Choice, Copying, LoopPlan, Product, Transfer};
use tile_mma::Unit;
use tile_targets::{Feature, Target};

/// Reports the choices of a function for `target`, in the order of the source.
pub fn remark_on_choices(function: OpRef<'_>, target: &'static Target, warps: u64) {
    if !remark::is_collecting() {
        return;
    }
    let choices = Choices { function, target, warps: warps as u32 };
    let mut found: Vec<Found<'_>> = vec![];
    walk(function, &mut |op| {
        if let Some(choice) = choices.of(op) {
            let place = remark::place_of(op);
            let same = |f: &mut Found<'_>| f.place == place && joined(&mut f.choice, &choice);
            if !found.iter_mut().any(same) {
                found.push(Found { op, place, choice });
            }
        }
    });
    found.extend(orders_of(function).into_iter().map(|(op, order)| {
        let choice = Choice::Order(order);
        Found { op, place: remark::place_of(op), choice }
    }));
    found.sort_by_key(|f| f.place.as_ref().map(|p| (p.file.clone(), p.line, p.column)));
    for Found { op, choice, .. } in found {
        remark::chosen(op, choice);
    }
}

/// A choice, with the first op of its source.
struct Found<'c> {
    op: OpRef<'c>,
    place: Option<Location>,
    choice: Choice,
}

/// Adds another choice with the same source. Returns `false` if it is about another op.
fn joined(all: &mut Choice, more: &Choice) -> bool {
    match (all, more) {
        (Choice::Product(all), Choice::Product(more)) => all == more,
        (Choice::Transfer(all), Choice::Transfer(more)) => {
            let alike = all.is_store == more.is_store && all.tile == more.tile;
            if alike {
                add(&mut all.by, &more.by);
                all.by.sort();
                all.stages = all.stages.max(more.stages);
                add(&mut all.against_tma, &more.against_tma);
            }
            alike
        }
        (Choice::Loop(all), Choice::Loop(more)) => {
            add(&mut all.agents, &more.agents);
            // Each agent has the rings that it uses.
            for stages in &more.rings {
                let count = |rings: &[u32]| rings.iter().filter(|n| *n == stages).count();
                if count(&all.rings) < count(&more.rings) {
                    all.rings.push(*stages);
                }
            }
            true
        }
        _ => false,
    }
}

fn add<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    for item in more {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
}

struct Choices<'c> {
    function: OpRef<'c>,
    target: &'static Target,
    warps: u32,
}

impl<'c> Choices<'c> {
    fn of(&self, op: OpRef<'c>) -> Option<Choice> {
        if is_loop(op) {
            return Some(Choice::Loop(self.of_loop(op)));
        }
        if let Some(dot) = AnyDot::cast(op) {
            return self.product(op, [dot.lhs(), dot.rhs(), dot.acc()], dot.instruction()?);
        }
        if let Some(dot) = SharedDot::cast(op) {
            return self.product(op, [dot.lhs(), dot.rhs(), dot.acc()], dot.instruction()?);
        }
        self.transfer(op).map(Choice::Transfer)
    }

    fn product(&self, op: OpRef<'c>, [lhs, rhs, acc]: [Val<'c>; 3], by: Instruction) -> Option<Choice> {
        // A CTA of a pair has only half of the right operand, so the accumulator gives the columns.
        let ((left, a), (_, b), (mut extents, sum)) = (tile(lhs)?, tile(rhs)?, tile(acc)?);
        extents.push(*left.last()?);
        let unit = by.unit();
        Some(Choice::Product(Product {
            extents,
            elements: [a, b, sum].map(|t| t.to_string()),
            unit: unit.map_or("FMA", Unit::title),
            instruction: unit.map(|_| by.shape),
            faster: self.faster(op, unit),
        }))
    }

    /// The fastest unit of the target, if a dot does not use it, and the reasons.
    fn faster(&self, op: OpRef<'c>, unit: Option<Unit>) -> Option<(&'static str, Vec<String>)> {
        let reasons = remark::reasons(op, Better::Unit);
        let fastest = tile_mma::shared_memory_unit(self.target).or(Some(Unit::Sync))?;
        match unit {
            // The rate of pairs is the same: their dots only read less from shared memory.
            Some(Unit::Tensor) if !reasons.is_empty() => Some((Unit::TensorPair.title(), reasons)),
            Some(unit) if unit >= fastest || fastest == Unit::Sync => None,
            None if fastest == Unit::Sync => {
                let element = tile(operand(op, LHS)).map_or("this type".to_owned(), |(_, t)| t.to_string());
                let reason = format!("{} has no matrix instruction for operands of type {element}", self.target.name);
                Some((fastest.title(), vec![reason]))
            }
            _ if reasons.is_empty() => Some((fastest.title(), self.without_agents())),
            _ => Some((fastest.title(), reasons)),
        }
    }

    /// The reason why no agents run a kernel, if no pass gave one.
    fn without_agents(&self) -> Vec<String> {
        match DotPlan::of(self.function) {
            Some(_) => vec![],
            None => vec!["the kernel has no agents".to_owned()],
        }
    }

    fn transfer(&self, op: OpRef<'c>) -> Option<Transfer> {
        let of_view = |view| View::of(view).map(|view| (view.ty.tile().to_vec(), view.memref.element_type()));
        let of_pointers = |ptr: Val<'c>| {
            let tensor = Tensor::of_value(ptr);
            let element = tensor.as_ref().map_or(ty(ptr), |t| t.element);
            Some((tensor.map(|t| t.shape.clone()).unwrap_or_default(), PtrType::cast(element)?.pointee()))
        };
        let by = |instruction, vector: i64, element: Type<'c>| {
            let bits = vector.max(1).unsigned_abs() * u64::from(memory_bits(element));
            Copying::Threads { instruction, bytes: bits.div_ceil(8) }
        };
        let (is_store, (shape, element), copying, dest) = match AnyOp::cast(op)? {
            AnyOp::AsyncTiledTmaLoadOp(x) => (false, of_view(x.view())?, None, Some(x.dest())),
            AnyOp::AsyncTiledTmaStoreOp(x) => (true, of_view(x.view())?, None, None),
            AnyOp::AsyncTiledLoadOp(x) => (false, of_view(x.view())?, Some(("cp.async", x.vector())), Some(x.dest())),
            AnyOp::AsyncLoadOp(x) => (false, of_pointers(x.ptr())?, Some(("cp.async", x.vector())), Some(x.dest())),
            AnyOp::TiledLoadOp(x) => (false, of_view(x.view())?, Some(("ld.global", x.vector())), None),
            AnyOp::TiledStoreOp(x) => (true, of_view(x.view())?, Some(("st.global", x.vector())), None),
            AnyOp::LoadOp(x) => (false, of_pointers(x.ptr())?, Some(("ld.global", x.vector())), None),
            AnyOp::StoreOp(x) => (true, of_pointers(x.ptr())?, Some(("st.global", x.vector())), None),
            AnyOp::MultimemLoadReduceOp(x) => {
                (false, of_view(x.view())?, Some(("multimem.ld_reduce", x.vector())), None)
            }
            AnyOp::MultimemStoreOp(x) => (true, of_view(x.view())?, Some(("multimem.st", x.vector())), None),
            _ => return None,
        };
        let extents: String = shape.iter().map(|n| format!("{n}x")).collect();
        Some(Transfer {
            is_store,
            tile: format!("{extents}{element}"),
            by: vec![copying.map_or(Copying::Tma, |(instruction, vector)| by(instruction, vector, element))],
            stages: dest.and_then(stages_of),
            against_tma: if copying.is_some() { self.against_tma(op) } else { vec![] },
        })
    }

    /// The reasons why TMA does not move a tile.
    fn against_tma(&self, op: OpRef<'c>) -> Vec<String> {
        let reasons = remark::reasons(op, Better::Tma);
        let by_pointers = matches!(AnyOp::cast(op), Some(AnyOp::LoadOp(_) | AnyOp::StoreOp(_) | AnyOp::AsyncLoadOp(_)));
        let is_store = matches!(AnyOp::cast(op), Some(AnyOp::TiledStoreOp(_)));
        let given = match () {
            _ if !self.target.has(Feature::Tma) => format!("{} has no TMA", self.target.name),
            _ if by_pointers => "it goes through pointers, not through a view".to_owned(),
            _ if !reasons.is_empty() => return reasons,
            _ if DotPlan::of(self.function).is_none() => "the kernel has no agents".to_owned(),
            _ if is_store => return vec![],
            _ => "it is not an operand that a product reads from a ring".to_owned(),
        };
        vec![given]
    }

    fn of_loop(&self, op: OpRef<'c>) -> LoopPlan {
        let mut rings: FxHashMap<usize, u32> = FxHashMap::default();
        walk(op, &mut |inner| {
            for v in operands(inner) {
                if let Some(pipeline) = PipelineType::cast(ty(v)) {
                    rings.insert(key(v), pipeline.stages() as u32);
                }
            }
            let copies = match AnyOp::cast(inner) {
                Some(AnyOp::AsyncTiledLoadOp(x)) => Some(x.dest()),
                Some(AnyOp::AsyncLoadOp(x)) => Some(x.dest()),
                _ => None,
            };
            // A ring with a pipeline is counted as that. Others are filled by groups of copies.
            let has_pipelines = AgentSwitchOp::cast(inner).is_some() || self.agent_of(inner).is_some();
            if let Some((ring, stages)) = copies.filter(|_| !has_pipelines).and_then(ring_of) {
                rings.insert(key(ring), stages);
            }
        });
        let mut rings: Vec<u32> = rings.into_values().collect();
        rings.sort_unstable();
        let registers = MAX_REGISTERS.get(self.function).map(|n| n as u32);
        LoopPlan { agents: self.agent_of(op).into_iter().collect(), warps: self.warps, registers, rings }
    }

    /// The agent that runs an op.
    fn agent_of(&self, op: OpRef<'c>) -> Option<Agent> {
        let mut inner = op;
        loop {
            let outer = parent_op(inner)?;
            if let Some(switch) = AgentSwitchOp::cast(outer) {
                let number = (0..region_count(outer))
                    .find(|i| entry_block(region(outer, *i)).is_some_and(|b| block_key(b) == block_of(inner)))?;
                let agent = dot_plan::Agent::of_switch(switch).into_iter().nth(number)?;
                return Some(Agent { name: agent.name, warps: agent.warps, registers: agent.registers });
            }
            inner = outer;
        }
    }
}

/// The extents and the element type of a tile in registers, in shared memory or in tensor memory.
fn tile(v: Val<'_>) -> Option<(Vec<i64>, Type<'_>)> {
    match Tensor::of_value(v) {
        Some(tensor) => Some((tensor.shape.clone(), tensor.element)),
        None => MemDescType::cast(ty(v)).map(|desc| (desc.shape().to_vec(), desc.element_type())),
    }
}

/// The storage with several stages that contains `v`, and their number.
fn ring_of(mut v: Val<'_>) -> Option<(Val<'_>, u32)> {
    loop {
        let desc = MemDescType::cast(ty(v))?;
        if desc.stages() > 1 {
            return Some((v, desc.stages() as u32));
        }
        let op = defining_op(v)?;
        match AnyOp::cast(op)? {
            AnyOp::MemDescSlotOp(_)
            | AnyOp::MemDescViewOp(_)
            | AnyOp::MemDescPermuteOp(_)
            | AnyOp::MemDescReinterpretOp(_) => v = operand(op, 0),
            _ => return None,
        }
    }
}

fn stages_of(v: Val<'_>) -> Option<u32> {
    ring_of(v).map(|(_, stages)| stages)
}
