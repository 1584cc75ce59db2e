//! The plan of a kernel's warp-specialized dots, an attribute of its function, and the agents of the plan.
//!
//! `tileaa-plan-dots` chooses the plan (crate `tile_plan`). The passes that assign layouts to dots, make copies
//! asynchronous, and divide the work among agents follow it. In a function without the attribute, dots use
//! instructions of single warps.

use super::{
    attributes::DOT_PLAN,
    nv_tileas::{AgentAttr, AgentSwitchOp, DotPlanAttr, MmaKind},
    rt::*,
};
use melior::{
    Context,
    ir::{Attribute, Location, attribute::ArrayAttribute},
};
use tile_mma::Unit;

/// Warps per warpgroup.
pub const WARPGROUP: u32 = 4;

/// The agent whose warps issue the dots, or read their results from tensor memory. It is the first agent of a plan
/// and runs what no other agent runs.
pub const CONSUMERS: &str = "consumers";
/// The agent whose only thread issues dots that accumulate in tensor memory.
pub const MATRIX: &str = "matrix";
/// The agent that fills the stages of rings.
pub const PRODUCER: &str = "producer";
/// The agent that brings scale factors to the stages of rings.
pub const SCALES: &str = "scales";
/// Agents without a program that fill up a warpgroup, to which `setmaxnreg` applies, and their warps.
pub const SPARE: [(&str, u32); 2] = [("spare", 2), ("spare_warp", 1)];
/// The agent that converts operands in their stages.
pub const CONVERTER: &str = "converter";

/// An agent: warps that run a program of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub name: String,
    pub warps: u32,
    /// Registers of each thread, if the agents divide the registers of the CTA.
    pub registers: Option<u32>,
    /// The rank of the only CTA of a cluster that runs the agent; `None` if all do.
    pub rank: Option<u32>,
}

impl Agent {
    pub fn new(name: &str, warps: u32, registers: u32) -> Self {
        Self { name: name.to_string(), warps, registers: Some(registers), rank: None }
    }

    /// Whether the agent has a program.
    pub fn has_program(&self) -> bool {
        SPARE.iter().all(|(name, _)| *name != self.name)
    }

    /// The agents of a list attribute.
    fn list(agents: Attribute<'_>) -> Vec<Self> {
        let agent = |a: AgentAttr<'_>| Self {
            name: a.name().to_string(),
            warps: a.warps() as u32,
            registers: a.registers().map(|r| r as u32),
            rank: a.rank().map(|r| r as u32),
        };
        array_attr(agents).into_iter().filter_map(AgentAttr::cast).map(agent).collect()
    }

    /// The agents of an op, one for each region.
    pub fn of_switch(op: AgentSwitchOp<'_>) -> Vec<Self> {
        Self::list(op.agents())
    }

    /// The list attribute of some agents.
    pub fn to_attr<'c>(agents: &[Self], context: &'c Context) -> Attribute<'c> {
        let location = Location::unknown(context);
        let attr = |a: &Self| {
            let (registers, rank) = (a.registers.map(i64::from), a.rank.map(i64::from));
            let attr = AgentAttr::get(location, &a.name, a.warps.into(), registers, rank);
            attr.expect("an agent with a name and warps").into()
        };
        let all: Vec<Attribute<'c>> = agents.iter().map(attr).collect();
        ArrayAttribute::new(context, &all).into()
    }
}

/// The warps of an op's agents, one number for each region.
pub fn warps_of_agents(op: AgentSwitchOp<'_>) -> Vec<i64> {
    array_attr(op.agents()).into_iter().filter_map(AgentAttr::cast).map(AgentAttr::warps).collect()
}

/// The plan. All numbers are positive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DotPlan {
    /// The kind of the instructions: `warpgroup`; `tensor` for accumulators in tensor memory, and `tensor_pair` for
    /// dots of two CTAs; or `sync` for fragments that warps read from the stages.
    pub unit: MmaKind,
    /// Stages of each accumulator in tensor memory.
    pub accumulators: u32,
    /// Slices of columns in which code after the dots processes an accumulator in tensor memory.
    pub slices: u32,
    /// Whether a thread reads whole rows of accumulators in tensor memory, since dots depend on each other.
    pub whole_rows: bool,
    /// Whether computed left operands have columns of their own in tensor memory, and the first dots of an iteration
    /// are issued before the last dots of the previous one.
    pub issue_ahead: bool,
    /// Consumer warpgroups along the rows and along the columns.
    pub groups: [u32; 2],
    /// Maximum columns of an instruction.
    pub columns: u32,
    /// Stages of each ring.
    pub stages: u32,
    /// Bytes of shared memory that a layout conversion may use in addition to the rings.
    pub scratch: u32,
    /// Registers per thread at launch.
    pub launch_registers: u32,
    /// The consumers, and then the agents that run the regions with their names.
    pub agents: Vec<Agent>,
}

impl DotPlan {
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    /// The warps of an agent; 0 if the plan does not have it.
    pub fn warps(&self, name: &str) -> u32 {
        self.agent(name).map_or(0, |agent| agent.warps)
    }

    /// Registers per thread of an agent, which are those at launch if the plan does not say otherwise.
    pub fn registers(&self, name: &str) -> u32 {
        self.agent(name).and_then(|agent| agent.registers).unwrap_or(self.launch_registers)
    }

    /// Warps of all consumer warpgroups.
    pub fn consumer_warps(&self) -> u32 {
        self.groups[0] * self.groups[1] * WARPGROUP
    }

    /// Whether accumulators are in tensor memory.
    pub fn accumulates_in_memory(&self) -> bool {
        matches!(self.unit, MmaKind::Tensor | MmaKind::TensorPair)
    }

    /// Whether two CTAs run each dot together.
    pub fn is_pair(&self) -> bool {
        self.unit == MmaKind::TensorPair
    }

    /// The unit that executes the dots.
    pub fn dot_unit(&self) -> Unit {
        match self.unit {
            MmaKind::Tensor => Unit::Tensor,
            MmaKind::TensorPair => Unit::TensorPair,
            MmaKind::Sync => Unit::Sync,
            _ => Unit::Warpgroup,
        }
    }

    /// Whether dots of the plan use instructions of this kind. Scales do not matter.
    pub fn has_instruction(&self, kind: MmaKind) -> bool {
        kind == self.unit || self.reads_fragments() && kind == MmaKind::BlockScale
    }

    /// Whether the agents divide the registers of the CTA by `setmaxnreg`.
    pub fn divides(&self) -> bool {
        self.agents.iter().any(|agent| agent.registers.is_some())
    }

    /// Whether consumers read operands from their stages to registers.
    pub fn reads_fragments(&self) -> bool {
        self.unit == MmaKind::Sync
    }

    /// Sets the plan's attribute on a function.
    pub fn attach<'c>(&self, function: OpRef<'c>, context: &'c Context) {
        let [m, n] = self.groups.map(i64::from);
        let [columns, stages, scratch, launch] =
            [self.columns, self.stages, self.scratch, self.launch_registers].map(i64::from);
        let agents = Agent::to_attr(&self.agents, context);
        let location = Location::unknown(context);
        let [accumulators, slices] = [self.accumulators, self.slices].map(i64::from);
        let plan = DotPlanAttr::get(
            location,
            &[m, n],
            columns,
            stages,
            scratch,
            launch,
            agents,
            self.unit,
            accumulators,
            slices,
            self.whole_rows,
            self.issue_ahead,
        );
        DOT_PLAN.set(function, plan.expect("a valid plan").into());
    }

    /// The plan of a function, or `None` if it has none.
    pub fn of(function: OpRef<'_>) -> Option<Self> {
        let plan = DotPlanAttr::cast(DOT_PLAN.get(function)?)?;
        let &[m, n] = plan.groups() else { return None };
        Some(Self {
            unit: plan.unit(),
            accumulators: plan.accumulators() as u32,
            slices: plan.slices() as u32,
            whole_rows: plan.whole_rows(),
            issue_ahead: plan.issue_ahead(),
            groups: [m as u32, n as u32],
            columns: plan.columns() as u32,
            stages: plan.stages() as u32,
            scratch: plan.scratch() as u32,
            launch_registers: plan.launch_registers() as u32,
            agents: Agent::list(plan.agents()?),
        })
    }

    /// The plan of the function that contains `op`.
    pub fn around(op: OpRef<'_>) -> Option<Self> {
        std::iter::successors(Some(op), |o| parent_op(*o)).find_map(Self::of)
    }
}
