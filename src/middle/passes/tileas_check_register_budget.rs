//! `tileas-check-register-budget`: the registers that agents ask for are there.
//!
//! `setmaxnreg` takes registers from a pool and gives them back to it. The pool is what the block was launched with,
//! and who asks for more than it holds waits until others give some back. If all agents together ask for more than
//! there is, that is for ever. So for each `agent_switch` with registers,
//!
//! * the kernel says how many registers a thread has at launch, and a multiprocessor has those of a block;
//! * the numbers are ones that the instruction can have;
//! * agents are whole warpgroups, which is what the instruction works on;
//! * after it, all agents together have no more than the block had at launch. Warps that are in no agent keep theirs.
//!
//! Plans (`tileaa-plan-dots`) are made so; this looks at what has become of them, and at programs that came as
//! text.

use crate::{
    dialect::{
        dot_plan::WARPGROUP,
        gpu_module::MAX_REGISTERS,
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
                if let Some(registers) = switch.registers() {
                    cx.stat_add(stat::NUM_BUDGETS, 1);
                    check(function, switch, &registers, target).map_err(|reason| fail(switch.op(), reason))?;
                }
            }
        }
        cx.preserve_all();
        Ok(())
    }
}

/// What `setmaxnreg` can be given: multiples of 8 in this range.
const LEAST: i64 = 24;
const MOST: i64 = 256;
const STEP: i64 = 8;

/// Threads of a warp.
const WARP: i64 = 32;

fn check(
    function: nv_tileaa::FuncOp<'_>,
    switch: AgentSwitchOp<'_>,
    registers: &[i64],
    target: &Target,
) -> Result<(), String> {
    if !target.has(Feature::RegisterReallocation) {
        return Err(format!("{} does not support setmaxnreg", target.name));
    }
    let warps = switch.warps();
    if warps.len() != registers.len() {
        return Err(format!("{} agents but {} register counts", warps.len(), registers.len()));
    }
    let launch = discardable_attr(function.op(), MAX_REGISTERS).map(int_attr);
    let launch = launch.ok_or_else(|| format!("the kernel lacks the attribute '{MAX_REGISTERS}'"))?;
    if let Some(wrong) = registers.iter().find(|&&r| !(LEAST..=MOST).contains(&r) || r % STEP != 0) {
        return Err(format!(
            "an agent's register count must be a multiple of {STEP} from {LEAST} to {MOST}, got {wrong}"
        ));
    }
    if let Some(partial) = warps.iter().find(|&&w| w % i64::from(WARPGROUP) != 0) {
        return Err(format!("setmaxnreg applies to whole warpgroups, but an agent has {partial} warps"));
    }
    let agents: i64 = warps.iter().sum();
    let block = function.num_warps().unwrap_or(agents);
    let at_launch = block * WARP * launch;
    let most = i64::from(target.limits.registers_per_sm);
    if at_launch > most {
        return Err(format!("the block starts with {at_launch} registers, but an SM has only {most}"));
    }
    let asked: i64 = warps.iter().zip(registers).map(|(w, r)| w * WARP * r).sum();
    let there = agents * WARP * launch;
    if asked > there {
        return Err(format!("agents request {asked} registers but have {there} at launch: setmaxnreg would deadlock"));
    }
    Ok(())
}
