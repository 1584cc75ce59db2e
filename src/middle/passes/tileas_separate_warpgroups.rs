//! `tileas-separate-warpgroups` gives each warpgroup of the consumers barriers of its own.
//!
//! In attention with tiles of 256 queries, two warpgroups of consumers read 128 rows of scores each. If both wait for
//! the same barrier, they compute at the same time, while the tensor cores are idle, and then wait for the tensor cores
//! at the same time:
//!
//! ```text
//! matrix:      acquire s;  dot q, k into s;  commit s;    wait p;  dot p, v into o
//! consumers:   wait s;  read s;  release s;  store p;  commit p
//! ```
//!
//! But no row of one warpgroup depends on a row of the other. The pass gives both of them barriers, and divides
//! each dot of the agent `matrix` by its rows:
//!
//! ```text
//! matrix:      acquire s 0;  acquire s 1;  dot q, k into s rows 0;  dot q, k into s rows 1;  commit s 0;  commit s 1;
//!              wait p 0;  wait p 1;  dot p, v into o rows 0;  dot p, v into o rows 1
//! ```
//!
//! The consumers' program does not change: a thread's ops mean the barriers of its warpgroup. `tileas-issue-ahead` then
//! orders the dots of a loop by warpgroups, so that the dots of one run while the other computes.
//!
//! # Conditions
//!
//! * Dots of the plan depend on each other, and accumulate in tensor memory (`whole_rows`). No two CTAs share them.
//! * Each warpgroup of the consumers has the rows of one instruction of each dot, and reads and writes only these rows
//!   of tensor memory.
//! * The pipelines that get barriers for each warpgroup are between the consumers and the agent `matrix` alone. The
//!   consumers fill no others.

use crate::{
    analysis::clones::clone_op,
    dialect::{
        dot_plan::{Agent, DotPlan, MATRIX, WARPGROUP},
        dots::Instruction,
        layouts::Tensor,
        nv_tileaa,
        nv_tileas::{
            AgentSwitchOp, AllocTensorOp, AsyncDotOp, CreatePipelineOp, ElectOp, MemDescType, MemorySpace, TmemCopyOp,
            TmemLoadOp, TmemScaleOp, TmemSliceOp, TmemStoreOp,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        phases::Handover,
        rt::*,
        shared_memory::{barrier_storage_type, root_of, tensor_columns},
    },
    pass_descriptor,
};
use melior::Context;
use rustc_hash::{FxHashMap, FxHashSet};

/// The rows of an instruction, and of a warpgroup.
const ROWS: i64 = 128;
/// log2 of the warps of a warpgroup.
const WARPS_LOG2: usize = WARPGROUP.ilog2() as usize;

#[derive(Clone, Default)]
pub struct SeparateWarpgroups;

impl RustPass for SeparateWarpgroups {
    pass_descriptor!(tileas_separate_warpgroups);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_separate_warpgroups::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            if DotPlan::of(function.op()).is_none_or(|plan| !plan.whole_rows || plan.is_pair()) {
                continue;
            }
            for switch in collect_ops(function.op(), AgentSwitchOp::cast) {
                let Some(found) = Separation::of(switch) else { continue };
                cx.stat_add(stat::NUM_PIPELINES, found.pipelines.len() as i64);
                found.rewrite(context)?;
            }
        }
        Ok(())
    }
}

/// Pipelines whose warpgroups can have barriers of their own.
struct Separation<'c> {
    groups: i64,
    /// The pipelines, each with the phases at which consumers arrive.
    pipelines: Vec<(CreatePipelineOp<'c>, FxHashSet<String>)>,
    /// The ops of the agent `matrix` that are divided among the warpgroups.
    divided: Vec<OpRef<'c>>,
}

/// How agents use a pipeline.
#[derive(Default)]
struct Users {
    agents: FxHashSet<usize>,
    /// The phases at which consumers arrive.
    phases: FxHashSet<String>,
    /// Whether the warpgroups of consumers fill a stage of shared memory together, or one thread acts for all of them.
    is_joint: bool,
}

impl<'c> Separation<'c> {
    fn of(switch: AgentSwitchOp<'c>) -> Option<Self> {
        let agents = Agent::of_switch(switch);
        let matrix = agents.iter().position(|agent| agent.name == MATRIX)?;
        let groups = i64::from(agents.first()?.warps / WARPGROUP);
        if groups < 2 || !(0..=matrix).all(|i| rows_are_separate(switch, i, groups)) {
            return None;
        }
        let mut users: FxHashMap<usize, Users> = FxHashMap::default();
        let mut created = vec![];
        for number in 0..agents.len() {
            each_op(switch, number, &mut |op| {
                let Some(x) = Handover::cast(op) else { return };
                let of = users.entry(key(x.pipeline())).or_default();
                if of.agents.is_empty() {
                    created.extend(defining_op(x.pipeline()).and_then(CreatePipelineOp::cast));
                }
                of.agents.insert(number);
                if number > 0 {
                    return;
                }
                of.is_joint |= match x {
                    Handover::Commit(x) => !x.tensor(),
                    Handover::Next(_) => false,
                    _ => parent_op(op).is_some_and(|o| ElectOp::cast(o).is_some()),
                };
                if matches!(x, Handover::Commit(_) | Handover::Release(_)) {
                    of.phases.insert(x.phase().to_string());
                }
            });
        }
        if users.values().any(|of| of.is_joint) {
            return None;
        }
        let both: FxHashSet<usize> = [0, matrix].into_iter().collect();
        let separate = created.into_iter().filter_map(|pipeline| {
            let of = users.remove(&key(pipeline.pipeline())).filter(|of| of.agents == both)?;
            Some((pipeline, of.phases))
        });
        let pipelines: Vec<_> = separate.collect();
        let names: FxHashSet<usize> = pipelines.iter().map(|(pipeline, _)| key(pipeline.pipeline())).collect();
        let mut divided = vec![];
        each_op(switch, matrix, &mut |op| {
            let is_own = Handover::cast(op).is_some_and(|x| names.contains(&key(x.pipeline())));
            divided.extend((is_own || AsyncDotOp::cast(op).is_some()).then_some(op));
        });
        let are_new = pipelines.iter().all(|(p, _)| p.warpgroups().is_none() && p.leader().is_none());
        (are_new && !pipelines.is_empty()).then_some(Self { groups, pipelines, divided })
    }

    fn rewrite(self, context: &'c Context) -> Result<(), Failed> {
        for (pipeline, phases) in &self.pipelines {
            self.divide(context, *pipeline, phases)?;
        }
        let number = |n: i64| i64_attr(context, n);
        for op in self.divided {
            let name = if AsyncDotOp::cast(op).is_some() { "rowBlock" } else { "warpgroup" };
            set_attr(op, name, number(0));
            let b = Builder::before(context, op);
            b.set_after(op);
            b.set_location(op.location());
            for group in 1..self.groups {
                let copy = clone_op(&b, op, &mut FxHashMap::default());
                set_attr(copy, name, number(group));
            }
        }
        Ok(())
    }

    /// Gives each warpgroup barriers of its own. Phases at which consumers arrive expect the arrivals of one warpgroup.
    fn divide(
        &self,
        context: &'c Context,
        pipeline: CreatePipelineOp<'c>,
        by_consumers: &FxHashSet<String>,
    ) -> Result<(), Failed> {
        let op = pipeline.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let old = defining_op(pipeline.barriers()).and_then(AllocTensorOp::cast);
        let old = old.ok_or_else(|| fail(op, "its barriers are not storage of their own"))?;
        let desc = MemDescType::cast(ty(pipeline.barriers())).ok_or_else(|| fail(op, "its barriers are no memdesc"))?;
        let barriers = desc.shape().iter().product::<i64>() * self.groups;
        let t = barrier_storage_type(op, barriers, desc.alignment()).map_err(error)?;
        let b = Builder::before(context, old.op());
        b.set_location(old.op().location());
        let storage = AllocTensorOp::build(&b, t.into(), None).map_err(error)?.result();
        replace_all_uses(pipeline.barriers(), storage);
        erase(old.op());
        let of = |(name, count): (&str, i64)| if by_consumers.contains(name) { count / self.groups } else { count };
        let arrivals: Vec<i64> = pipeline.phases().into_iter().zip(pipeline.arrivals()).map(of).collect();
        set_attr(op, "arrivals", i64s_to_attr(context, &arrivals));
        set_attr(op, "warpgroups", i64_attr(context, self.groups));
        Ok(())
    }
}

/// Calls `f` for each op of an agent's program.
fn each_op<'c>(switch: AgentSwitchOp<'c>, agent: usize, f: &mut impl FnMut(OpRef<'c>)) {
    let program = entry_block(region(switch.op(), agent));
    program.into_iter().flat_map(ops_of).for_each(|op| walk(op, f));
}

/// Whether each access of an agent to tensor memory belongs to one of the `groups` warpgroups of consumers: a dot has
/// an instruction for each of them, and a warpgroup reads and writes the rows of its instruction.
fn rows_are_separate(switch: AgentSwitchOp<'_>, agent: usize, groups: i64) -> bool {
    let mut are_separate = true;
    each_op(switch, agent, &mut |op| {
        are_separate &= if let Some(dot) = AsyncDotOp::cast(op) {
            let rows = attr(op, "instruction").and_then(Instruction::of).map(|by| i64::from(by.shape[0]));
            let sums = MemDescType::cast(ty(dot.acc())).and_then(|desc| desc.shape().first().copied());
            let is_plain = dot.lhs_scale().is_none() && dot.row_block().is_none();
            let has_one_each = rows == Some(ROWS) && sums == Some(groups * ROWS);
            is_plain && has_one_each && [dot.acc(), dot.lhs()].into_iter().all(covers_storage)
        } else if let Some(x) = TmemLoadOp::cast(op) {
            has_own_rows(x.result(), groups) && covers_storage(x.source())
        } else if let Some(x) = TmemStoreOp::cast(op) {
            has_own_rows(x.source(), groups) && covers_storage(x.dest())
        } else if let Some(x) = TmemScaleOp::cast(op) {
            has_own_rows(x.factor(), groups) && covers_storage(x.memory())
        } else {
            TmemSliceOp::cast(op).is_none() && TmemCopyOp::cast(op).is_none()
        };
    });
    are_separate
}

/// Whether a tile extends over all columns of its storage in tensor memory. It then has the same blocks of rows as
/// other such tiles.
fn covers_storage(v: Val<'_>) -> bool {
    let [own, all] = [v, root_of(v)].map(|v| MemDescType::cast(ty(v)));
    let (Some(own), Some(all)) = (own, all) else { return false };
    let columns = |desc| tensor_columns(desc).map(|n| n as i64);
    own.space() != MemorySpace::Tensor || columns(own).map(|n| n * all.stages()) == columns(all)
}

/// Whether the number of a warpgroup is the number of a block of rows of a tensor.
fn has_own_rows(v: Val<'_>, groups: i64) -> bool {
    let Some(tensor) = Tensor::of_value(v) else { return false };
    let (Some(layout), [rows, columns]) = (tensor.layout(), &tensor.shape[..]) else { return false };
    let own = layout.warp().iter().skip(WARPS_LOG2);
    let blocks = (0..groups.ilog2()).map(|i| ((ROWS << i) * columns) as u64);
    *rows == groups * ROWS && own.copied().eq(blocks)
}
