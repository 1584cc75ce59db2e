//! `tileas-check-register-budget`: proves that the `setmaxnreg` of agents cannot deadlock.
//!
//! `setmaxnreg` takes registers from a pool or returns them to it. The pool initially holds the registers with which
//! the CTA was launched. A warpgroup that requests more than the pool holds waits until others return some. If all
//! agents together request more than the CTA has, that wait never ends:
//!
//! ```text
//! 8 warps of 240 registers, 4 of 24     launch 168: 8*32*240 + 4*32*24 = 64512 = 12*32*168, accepted
//! 8 warps of 240 registers, 4 of 40     66560 > 64512: rejected
//! ```
//!
//! For each `agent_switch` with registers, the pass checks that
//!
//! * the target has `setmaxnreg`;
//! * the kernel states the registers per thread at launch, and an SM has that many for the whole CTA;
//! * each count is valid for the instruction: a multiple of 8 from 24 to 256;
//! * each agent consists of whole warpgroups, the unit to which the instruction applies, or is in one warpgroup whose
//!   agents fill it and request the same count;
//! * all agents together request no more than their warps had at launch. Warps outside the agents keep theirs.
//!
//! Plans of `tileaa-plan-dots` satisfy these rules. The pass checks that later passes have kept them, and checks
//! programs that were read as text. It changes nothing.

use crate::{
    dialect::{
        attributes::MAX_REGISTERS,
        dot_plan::{Agent, WARPGROUP},
        nv_tileaa,
        nv_tileas::AgentSwitchOp,
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::target,
    },
    pass_descriptor,
};
use melior::Context;
use tile_targets::{Feature, Target};

#[derive(Clone, Default)]
pub struct CheckRegisterBudget;

impl RustPass for CheckRegisterBudget {
    pass_descriptor!(tileas_check_register_budget);
    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_check_register_budget::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            for switch in collect_ops(function.op(), AgentSwitchOp::cast) {
                let agents = Agent::of_switch(switch);
                if agents.iter().any(|agent| agent.registers.is_some()) {
                    cx.stat_add(stat::NUM_BUDGETS, 1);
                    check(function, &agents, target).map_err(|reason| fail(switch.op(), reason))?;
                }
            }
        }
        cx.preserve_all();
        Ok(())
    }
}

/// The counts that `setmaxnreg` accepts: multiples of `STEP` in this range.
const LEAST: i64 = 24;
const MOST: i64 = 256;
const STEP: i64 = 8;

/// The number of threads of a warp.
const WARP: i64 = 32;

fn check(function: nv_tileaa::FuncOp<'_>, agents: &[Agent], target: &Target) -> Result<(), String> {
    if !target.has(Feature::RegisterReallocation) {
        return Err(format!("{} does not support setmaxnreg", target.name));
    }
    let launch = MAX_REGISTERS.get(function.op());
    let launch = launch.ok_or_else(|| format!("the kernel lacks the attribute '{MAX_REGISTERS}'"))?;
    let (mut asked, mut warps) = (0, 0);
    // The agents so far that share an unfinished warpgroup.
    let mut together: Vec<&Agent> = vec![];
    for agent in agents {
        let registers = agent.registers.map_or(launch, i64::from);
        if !(LEAST..=MOST).contains(&registers) || registers % STEP != 0 {
            return Err(format!(
                "an agent's register count must be a multiple of {STEP} from {LEAST} to {MOST}, got {registers}"
            ));
        }
        if let Some(other) = together.first().filter(|other| other.registers != agent.registers) {
            return Err(format!(
                "agents '{}' and '{}' share a warpgroup but request different register counts",
                other.name, agent.name
            ));
        }
        together.push(agent);
        let filled: u32 = together.iter().map(|agent| agent.warps).sum();
        if filled > WARPGROUP && filled != agent.warps || agent.warps > WARPGROUP && agent.warps % WARPGROUP != 0 {
            return Err(format!(
                "setmaxnreg applies to whole warpgroups, but agent '{}' has {} warps from warp {warps}",
                agent.name, agent.warps
            ));
        }
        if filled.is_multiple_of(WARPGROUP) {
            together.clear();
        }
        warps += i64::from(agent.warps);
        asked += i64::from(agent.warps) * WARP * registers;
    }
    if let Some(partial) = together.last() {
        return Err(format!(
            "setmaxnreg applies to whole warpgroups, but agent '{}' ends with warp {} of the block",
            partial.name,
            warps - 1
        ));
    }
    let block = function.num_warps().unwrap_or(warps);
    let at_launch = block * WARP * launch;
    let most = i64::from(target.limits.registers_per_sm);
    if at_launch > most {
        return Err(format!("the block starts with {at_launch} registers, but an SM has only {most}"));
    }
    let limit = warps * WARP * launch;
    if asked > limit {
        return Err(format!("agents request {asked} registers but have {limit} at launch: setmaxnreg would deadlock"));
    }
    Ok(())
}
