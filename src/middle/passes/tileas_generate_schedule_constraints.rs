//! `tileas-generate-schedule-constraints` generates the modulo scheduler's input.
//!
//! It numbers the operations of loops that contain dots, or loads that can be copied ahead
//! (`tileas.schedule.constraint.gid`). Each operation gets a unique number unless the program already numbers it;
//! operations with the same number are scheduled in the same stage. `ScheduleAnalysis` (`analysis::schedule`) then
//! holds their costs on the target.

use crate::{
    analysis::{
        schedule::{self, ScheduleAnalysis, declared},
        warps::warps_of,
    },
    dialect::{
        attributes::{GID, MACHINE},
        fallback::Fallback,
        nv_tileaa,
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::target,
    },
    pass_descriptor,
};
use melior::Context;

#[derive(Clone, Default)]
pub struct GenerateScheduleConstraints;

impl RustPass for GenerateScheduleConstraints {
    pass_descriptor!(tileas_generate_schedule_constraints);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_generate_schedule_constraints::{Options, stat};
        let name = Options(cx).compute_capability();
        let target = target(op, name)?;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            // Costs depend on the number of warps.
            warps_of(function)?;
            MACHINE.set(function.op(), name);
            for around in schedule::loops_in(function.op()) {
                if !schedule::is_worth_scheduling(around, target) || !Fallback::around(around).allows_schedules() {
                    continue;
                }
                let nodes = schedule::nodes_of(around);
                let given = || nodes.iter().filter_map(|o| GID.get(*o));
                if let Some(negative) = given().find(|n| *n < 0) {
                    return Err(fail(around, format!("{GID} cannot be {negative}")));
                }
                let mut next = given().max().map_or(0, |n| n + 1);
                for node in &nodes {
                    if !GID.is_on(*node) {
                        GID.set(*node, next);
                        next += 1;
                    }
                }
                cx.stat_add(stat::NUM_LOOPS, 1);
                cx.stat_add(stat::NUM_NODES, nodes.len() as i64);
            }
        }
        cx.analysis::<ScheduleAnalysis>();
        cx.preserve::<ScheduleAnalysis>();
        declared::watch(context.to_raw());
        Ok(())
    }
}
