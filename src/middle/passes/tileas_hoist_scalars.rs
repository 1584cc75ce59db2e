//! `tileas-hoist-scalars` states constants, promises and views once per kernel.
//!
//! Each agent needs the scalars of the kernel and the views of its tensors, so earlier passes copy them into the
//! program of every agent. A reader sees the same dozen ops three times:
//!
//! ```mlir
//! agent_switch ... {                                         %m:2 = assume [bounded<0, ?>, div_by<16>], %arg1, %arg2
//!   %1 = assume div_by<16>, %arg1                            %a = make_memref %arg0, shape = [%m#0, %m#1], ...
//!   %2 = assume bounded<0, ?>, %1                            agent_switch ... {
//!   %3 = assume div_by<16>, %2                                 ... %a ...
//!   ... the same of %arg2 ...                         =>     }, {
//!   %7 = make_memref %arg0, shape = [%3, %6], ...              ... %a ...
//! }, {                                                       }
//!   ... all of it again ...
//! }
//! ```
//!
//! None of these ops generates code: `convert-tileas-to-llvm` looks through promises and views, and constants have no
//! place in LLVM IR. They can therefore move without changing the code, as long as every use has the same facts:
//!
//! * A promise that one branch makes does not hold for the others, so promises do not leave loops and branches.
//! * A promise is merged with the one before it only if that one has no other use.
//!
//! Tensors are not moved, because they are in the registers of the threads of one agent.

use crate::{
    dialect::{
        ffi::mlirxFoldScalars,
        location::unnamed,
        nv_tileaa::{self, FuncOp, MakeTiledViewOp, NumTilesOp, TiledViewType},
        nv_tileas::{self, AgentSwitchOp, ElectOp},
        pass::{Failed, PassContext, RustPass, context_of, descriptors, fail},
        rt::*,
        types::is_tensor,
        upstream::{Arith, Scf},
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Attribute, AttributeLike, TypeLike, attribute::ArrayAttribute, operation::OperationLike},
};
use rustc_hash::FxHashMap;

#[derive(Clone, Default)]
pub struct HoistScalars;

impl RustPass for HoistScalars {
    pass_descriptor!(tileas_hoist_scalars);

    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_hoist_scalars::stat;
        for function in collect_ops(op, FuncOp::cast) {
            let Some(entry) = entry_block(function.body()) else { continue };
            let before = collect_ops(function.op(), Some).len();
            // SAFETY: the function is alive. Nothing refers to the ops that folding erases.
            unsafe { mlirxFoldScalars(function.op().to_raw()) };
            hoist(function.op(), entry);
            merge_equal(entry);
            share_views(function.op());
            erase_unused(function.op());
            merge_promises(entry)?;
            drop_empty_branches(function.op());
            drop_names(function.op());
            let after = collect_ops(function.op(), Some).len();
            cx.stat_add(stat::NUM_OPS, before.saturating_sub(after) as i64);
        }
        Ok(())
    }
}

/// A kind of op that generates no code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Free {
    /// A view or a scalar constant.
    Anywhere,
    /// A promise, which holds where control reaches it.
    Promise,
    /// A token, which matters only to the ops that use it.
    Token,
}

fn free(op: OpRef<'_>) -> Option<Free> {
    use nv_tileaa::AnyOp::*;
    match nv_tileaa::AnyOp::cast(op) {
        Some(MakeMemRefOp(_) | MakeTiledViewOp(_)) => Some(Free::Anywhere),
        Some(AssumeOp(x)) if !is_tensor(ty(x.value())) => Some(Free::Promise),
        Some(CreateMemTokenOp(_) | JoinMemTokenOp(_)) => Some(Free::Token),
        _ => {
            let is_scalar = || !is_tensor(ty(result(op, 0)));
            (Arith::of(op) == Some(Arith::Constant) && is_scalar()).then_some(Free::Anywhere)
        }
    }
}

/// Moves free ops to the function's block, before the op that contains them, if their operands are available there.
fn hoist<'c>(function: OpRef<'c>, entry: Blk<'c>) {
    let home = block_key(entry);
    for op in collect_ops(function, |op| free(op).filter(|kind| *kind != Free::Token).map(|_| op)) {
        if block_of(op) == home || operands(op).any(|v| home_of(v) != home) {
            continue;
        }
        let above: Vec<OpRef<'c>> = std::iter::successors(parent_op(op), |o| parent_op(*o)).collect();
        let Some(at) = above.iter().position(|o| block_of(*o) == home) else { continue };
        let always = |o: &OpRef<'c>| AgentSwitchOp::cast(*o).is_some() || ElectOp::cast(*o).is_some();
        if free(op) == Some(Free::Anywhere) || above[..=at].iter().all(always) {
            move_before(op, above[at]);
        }
    }
}

/// Replaces free ops of the function's block by equal ones before them.
fn merge_equal(entry: Blk<'_>) {
    type Looks<'c> = (&'c str, Vec<usize>, Vec<(&'c str, usize)>, usize);
    let mut known: FxHashMap<Looks<'_>, Val<'_>> = FxHashMap::default();
    for op in ops_of(entry) {
        if free(op).is_none_or(|kind| kind == Free::Token) {
            continue;
        }
        let attributes = named_attrs(op).into_iter().map(|(name, a)| (name, a.to_raw().ptr as usize)).collect();
        let value = result(op, 0);
        let looks = (op_name(op), operands(op).map(key).collect(), attributes, ty(value).to_raw().ptr as usize);
        match known.get(&looks) {
            Some(same) => {
                replace_all_uses(value, *same);
                erase(op);
            }
            None => {
                known.insert(looks, value);
            }
        }
    }
}

/// Lets the number of tiles refer to a view that others use. Padding does not affect it.
fn share_views(function: OpRef<'_>) {
    for tiles in collect_ops(function, NumTilesOp::cast) {
        let Some(view) = defining_op(tiles.view()).and_then(MakeTiledViewOp::cast) else { continue };
        let divides = |t: TiledViewType<'_>| (t.tile().to_vec(), t.steps().to_vec(), t.dim_map().to_vec());
        let wanted = TiledViewType::cast(ty(tiles.view())).map(divides);
        let is_other = |other: &MakeTiledViewOp<'_>| {
            op_key(other.op()) != op_key(view.op())
                && block_of(other.op()) == block_of(view.op())
                && TiledViewType::cast(ty(other.result())).map(divides) == wanted
                && uses(other.result()).iter().any(|(user, _)| NumTilesOp::cast(*user).is_none())
        };
        let others = uses(view.memref()).into_iter().filter_map(|(user, _)| MakeTiledViewOp::cast(user));
        // Uses are in no particular order; the first view in the block is before the op.
        let mut others: Vec<_> = others.filter(is_other).collect();
        others.sort_by_key(|other| ops_before(other.op()));
        let Some(first) = others.first() else { continue };
        if ops_before(first.op()) > ops_before(view.op()) {
            move_before(first.op(), view.op());
        }
        set_operand(tiles.op(), 0, first.result());
    }
}

/// The number of ops before an op in its block.
fn ops_before(op: OpRef<'_>) -> usize {
    let block = block_around(op);
    block.and_then(|block| ops_of(block).position(|o| op_key(o) == op_key(op))).unwrap_or_default()
}

fn erase_unused(function: OpRef<'_>) {
    for op in collect_ops(function, Some).into_iter().rev() {
        if free(op).is_some() && results(op).all(|v| !has_uses(v)) {
            erase(op);
        }
    }
}

/// Removes the names of the program from ops that passes have added: constants, rings and copies.
fn drop_names(function: OpRef<'_>) {
    use nv_tileas::AnyOp::*;
    for op in collect_ops(function, Some) {
        let is_added = match nv_tileas::AnyOp::cast(op) {
            Some(
                CreatePipelineOp(_)
                | CreateIteratorOp(_)
                | IncIterOp(_)
                | StageOp(_)
                | ProducerAcquireOp(_)
                | ConsumerWaitOp(_)
                | AsyncDotWaitOp(_)
                | MemDescSlotOp(_)
                | MemDescViewOp(_)
                | MemDescPermuteOp(_)
                | MemDescReinterpretOp(_)
                | AllocTensorOp(_)
                | MakeTiledTmaDescOp(_),
            ) => true,
            _ => Arith::of(op) == Some(Arith::Constant),
        };
        if is_added {
            set_location(op, unnamed(op.location()));
        }
    }
}

/// Removes the `else` branches that do nothing, which agents without their ops have.
fn drop_empty_branches(function: OpRef<'_>) {
    for op in collect_ops(function, |op| (Scf::of(op) == Some(Scf::If) && result_count(op) == 0).then_some(op)) {
        let other = region(op, 1);
        if entry_block(other).is_some_and(|block| ops_of(block).count() == 1) {
            erase_blocks(other);
        }
    }
}

/// Promises about several values of one type, of which the first is where all of them can be stated.
struct Group<'c> {
    promises: Vec<Attribute<'c>>,
    /// The ops that promise something about each value, from the last to the first.
    chains: Vec<Vec<OpRef<'c>>>,
}

impl<'c> Group<'c> {
    /// The values without promises. An earlier group may replace them.
    fn values(&self) -> Vec<Val<'c>> {
        self.chains.iter().filter_map(|chain| chain.last()).map(|first| operand(*first, 0)).collect()
    }
}

/// Merges the promises of the function's block about each value, and then equal promises about several arguments.
fn merge_promises(entry: Blk<'_>) -> Result<(), Failed> {
    let chains: Vec<_> = ops_of(entry).filter_map(nv_tileaa::AssumeOp::cast).collect();
    let is_last = |x: &nv_tileaa::AssumeOp<'_>| !continues(x.result());
    let mut groups: Vec<Group<'_>> = vec![];
    for last in chains.into_iter().filter(|x| free(x.op()).is_some() && is_last(x)) {
        let (mut promises, mut chain) = (vec![last.predicate()], vec![last.op()]);
        let mut value = last.value();
        while let Some(before) = defining_op(value).and_then(nv_tileaa::AssumeOp::cast) {
            if !continues(value) || block_of(before.op()) != block_key(entry) {
                break;
            }
            promises.insert(0, before.predicate());
            chain.push(before.op());
            value = before.value();
        }
        let mut distinct: Vec<Attribute<'_>> = vec![];
        for promise in promises {
            if !distinct.contains(&promise) {
                distinct.push(promise);
            }
        }
        // Arguments are available wherever the group is stated.
        let joins = |g: &&mut Group<'_>| {
            let all = g.values();
            let are_arguments = all.iter().chain([&value]).all(|v| defining_op(*v).is_none());
            are_arguments && ty(all[0]) == ty(value) && g.promises == distinct
        };
        match groups.iter_mut().find(joins) {
            Some(group) => group.chains.push(chain),
            None => groups.push(Group { promises: distinct, chains: vec![chain] }),
        }
    }
    groups.iter().try_for_each(state)
}

/// Whether the only use of a promised value is another promise in the same block.
fn continues(value: Val<'_>) -> bool {
    match uses(value)[..] {
        [(user, _)] => nv_tileaa::AssumeOp::cast(user).is_some() && block_of(user) == home_of(value),
        _ => false,
    }
}

/// Replaces the promises of a group by one op, where the first of them ends.
fn state(group: &Group<'_>) -> Result<(), Failed> {
    let Some(first) = group.chains.first().and_then(|chain| chain.first()).copied() else { return Ok(()) };
    let context = context_of(first);
    let b = Builder::before(context, first);
    b.set_location(first.location());
    let values = group.values();
    let types: Vec<_> = values.iter().map(|v| ty(*v)).collect();
    let promises = ArrayAttribute::new(context, &group.promises).into();
    let assume = nv_tileas::AssumeOp::build(&b, &types, &values, promises);
    let assume = assume.map_err(|e| fail(first, e.to_string()))?.op();
    for (chain, promised) in group.chains.iter().zip(results(assume)) {
        if let Some(last) = chain.first() {
            replace_all_uses(result(*last, 0), promised);
        }
        chain.iter().for_each(|op| erase(*op));
    }
    Ok(())
}
