//! `tileas-materialize-register-loops` processes tensors with too many registers one chunk at a time.
//!
//! A *big* tensor gives a thread more elements than it should hold in registers (`analysis::registers` has the
//! limit). Its ops move into loops, each iteration of which processes one *chunk*: the registers whose highest number
//! bits equal the iteration number. The layout algebra makes this simple. A register bit is a bit of the position
//! like any other, so the bits that number the chunks can also be bits of the warp number: in a chunk, a warp acts as
//! one of many *virtual warps*, whose layout has few registers. A chunk is therefore an ordinary tensor, and the code
//! of every op that stays within a warp works on it unchanged.
//!
//! Consecutive ops share one loop, a *group*, as long as each uses only results of the same chunk. Values that live
//! past the loop are arrays in local memory, written in one chunk and read in the same chunk of another loop. A
//! sequence of load, compute and store thus uses only registers:
//!
//! ```text
//! %x = load; %y = exp %x; store %y             register_loop { x = load; y = exp x; store y }
//!
//! %x = load; %m = reduce %x; ...               register_loop { x = load; array_store x, a[k]; m = reduce x; .. }
//! %e = exp(%x - %m); store %e                  ...
//!                                              register_loop { x = array_load a[k]; e = exp(x - m); store e }
//! ```
//!
//! * *Aligned.* An op can be in a group if chunk `k` of its results needs only chunk `k` of its operands.
//! * *Gathering.* Ops that only rename registers read them from arrays, at an index that is a linear function of the
//!   chunk.
//! * *Lazy.* Values that are cheap to compute from scratch (ranges, splats, arithmetic on them) are cloned into every
//!   loop that uses them.
//!
//! Tokens keep the order of global memory accesses within a thread: an access never shares a loop with an access
//! whose token it depends on if either of them writes. An op that is not part of a group and does not need its
//! results stays before the group's loop; other ops end the group. Loop-carried and yielded values become arrays
//! ([`control`]).
//!
//! This is the second of two steps. Scans and dots relate elements of different chunks; `tileas-slicing` has already
//! turned them into loops over slices, before layouts were assigned, and the values that those loops carry become
//! arrays here.

mod arrays;
mod chunk;
mod control;

use crate::{
    analysis::{
        register_maps,
        registers::{Limit, MAX_REGISTER_BITS, PASS_REGISTERS, register_bits},
        warps::warps_of,
    },
    dialect::{
        behaviour::{LayoutRelation, is_cheap, layout_relation},
        dot_plan::Agent,
        layouts::Tensor,
        nv_tileaa::{self, MemTokenType},
        nv_tileas::{
            AgentSwitchOp, AnyOp, ArrayExchangeOp, ArrayInsertOp, ArrayLoadOp, AsyncCreateNoneOp, AsyncTokenType,
            ExchangeOp, GatherRegistersOp, InsertSliceOp,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        upstream::{Scf, Ub},
    },
    pass_descriptor,
};
use arrays::{Array, Pool};
use melior::Context;
use mlir_sys::mlirBlockEraseArgument;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum number of lazy ops that are cloned for one value.
const LAZY_LIMIT: u32 = 12;

#[derive(Clone, Default)]
pub struct MaterializeRegisterLoops;

impl RustPass for MaterializeRegisterLoops {
    pass_descriptor!(tileas_materialize_register_loops);

    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_materialize_register_loops::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let Some(body) = entry_block(function.body()) else { continue };
            let mut loops = RegisterLoops {
                context,
                warp_bits: warps_of(function)?.ilog2(),
                limit: Limit::of(function.op()),
                values: FxHashMap::default(),
                pending: FxHashSet::default(),
                pool: Pool::default(),
                done: FxHashSet::default(),
                dead: vec![],
                dead_arguments: vec![],
                rebuilt: FxHashMap::default(),
                loops: 0,
                created: 0,
            };
            loops.block(body)?;
            loops.clean_up()?;
            cx.stat_add(stat::NUM_LOOPS, loops.loops);
            cx.stat_add(stat::NUM_ARRAYS, loops.created);
        }
        Ok(())
    }
}

/// The current form of a tensor of the original program.
#[derive(Clone, Copy)]
enum TensorState<'c> {
    /// In registers, as a whole.
    Registers,
    /// Computed in the loop of a group that has not been built yet.
    Pending,
    /// Big, in local memory.
    Array(Array<'c>),
    /// Big, and computed on demand by this op, at the given cost in ops.
    Lazy(OpRef<'c>, u32),
}

/// The state of one function.
///
/// Loops are built before the ops that need their results. Replaced ops on big tensors stay in place, dead, until
/// everything is built, because their use lists are still consulted.
struct RegisterLoops<'c> {
    context: &'c Context,
    warp_bits: u32,
    limit: Limit,
    /// Big tensors that are arrays or lazy.
    values: FxHashMap<usize, TensorState<'c>>,
    /// Results of the ops of the current group.
    pending: FxHashSet<usize>,
    pool: Pool,
    /// Ops whose code has been built.
    done: FxHashSet<usize>,
    /// Ops and block arguments that have been replaced, in program order.
    dead: Vec<OpRef<'c>>,
    dead_arguments: Vec<(Blk<'c>, Vec<usize>)>,
    /// The ops that replaced ops with regions.
    rebuilt: FxHashMap<usize, OpRef<'c>>,
    loops: i64,
    created: i64,
}

/// How an op is processed.
enum Role {
    /// The op has no big tensors, or handles them itself.
    Plain,
    Lazy(u32),
    /// In a loop over chunks.
    Chunks,
}

/// Ops that will share a loop.
#[derive(Default)]
struct Group<'c> {
    ops: Vec<OpRef<'c>>,
    members: FxHashSet<usize>,
    bits: u32,
    /// Ops that only use tokens of the group: they follow the loop and are cloned into it where needed.
    joins: Vec<OpRef<'c>>,
}

impl<'c> Group<'c> {
    fn made(&self, v: Val<'c>) -> bool {
        defining_op(v).is_some_and(|op| self.members.contains(&op_key(op)))
    }
    fn joins(&self, v: Val<'c>) -> bool {
        defining_op(v).is_some_and(|op| self.joins.iter().any(|j| op_key(*j) == op_key(op)))
    }
    fn push(&mut self, op: OpRef<'c>, bits: u32) {
        self.bits = bits;
        self.members.insert(op_key(op));
        self.ops.push(op);
    }
}

impl<'c> RegisterLoops<'c> {
    fn is_big(&self, v: Val<'c>) -> bool {
        self.limit.is_exceeded(v)
    }

    fn state(&self, v: Val<'c>) -> TensorState<'c> {
        match self.values.get(&key(v)) {
            Some(state) => *state,
            None if self.pending.contains(&key(v)) => TensorState::Pending,
            None => TensorState::Registers,
        }
    }

    /// Processes the ops of one block in order and moves ops on big tensors into loops.
    fn block(&mut self, block: Blk<'c>) -> Result<(), Failed> {
        let mut ops: Vec<OpRef<'c>> = ops_of(block).collect();
        // The parent op handles the operands of a terminator.
        let Some(end) = ops.pop() else { return Ok(()) };
        let mut group = Group::default();
        for &op in &ops {
            match self.role(op)? {
                Role::Lazy(cost) => {
                    self.values.insert(key(result(op, 0)), TensorState::Lazy(op, cost));
                    self.dead.push(op);
                }
                Role::Chunks => {
                    if !group.ops.is_empty() && !self.joins(op, &group) {
                        self.flush(&mut group, &ops, op)?;
                    }
                    let bits = if group.ops.is_empty() { chunk_bits(op) } else { group.bits };
                    group.push(op, bits);
                    self.pending.extend(results(op).map(key));
                    self.dead.push(op);
                }
                Role::Plain => {
                    if !group.ops.is_empty() && !may_pass(op, &group) {
                        self.flush(&mut group, &ops, op)?;
                    }
                    if operands(op).any(|v| group.made(v) || group.joins(v)) {
                        group.joins.push(op);
                    } else {
                        self.plain(op)?;
                    }
                }
            }
            if group.ops.is_empty() {
                self.release(op);
            }
        }
        self.flush(&mut group, &ops, end)
    }

    fn role(&self, op: OpRef<'c>) -> Result<Role, Failed> {
        let tensors = || operands(op).chain(results(op));
        if !tensors().any(|v| self.is_big(v)) || Scf::of(op).is_some() {
            return Ok(Role::Plain);
        }
        if let Some(cost) = self.lazy_cost(op) {
            return Ok(Role::Lazy(cost));
        }
        match AnyOp::cast(op) {
            Some(AnyOp::ExchangeOp(_) | AnyOp::InsertSliceOp(_) | AnyOp::PrintOp(_)) => return Ok(Role::Plain),
            // Renames registers of a big tensor to a few, which are read from its array.
            Some(AnyOp::ConvertLayoutOp(_) | AnyOp::ExtractSliceOp(_)) if !self.is_big(result(op, 0)) => {
                return Ok(Role::Plain);
            }
            _ => {}
        }
        if aligned(op, chunk_bits(op)) || gathers(op) {
            return Ok(Role::Chunks);
        }
        let bits = tensors().filter_map(register_bits).max().unwrap_or(0);
        let name = op_name(op);
        Err(fail(
            op,
            format!(
                "tile is too large: each thread would hold {} elements, and '{name}' cannot be split into parts",
                1u64 << bits
            ),
        ))
    }

    /// Returns the cost of computing `op` where its result is needed, or `None` if it must be computed once, in
    /// place.
    fn lazy_cost(&self, op: OpRef<'c>) -> Option<u32> {
        if Ub::of(op) == Some(Ub::Poison) {
            return Some(0);
        }
        if !is_cheap(op) {
            return None;
        }
        let broadcast = layout_relation(op) == LayoutRelation::Broadcast;
        let mut cost = 1;
        for v in operands(op).filter(|v| Tensor::of_value(*v).is_some()) {
            match self.state(v) {
                TensorState::Lazy(_, c) if broadcast => {
                    let identity = |(i, c): (usize, &u64)| *c == 1 << i;
                    if !gather_map(op, v)?.iter().enumerate().all(identity) {
                        return None;
                    }
                    cost += c;
                }
                TensorState::Lazy(_, c) => cost += c,
                // The broadcast reads the same registers in every chunk.
                TensorState::Registers if broadcast => {
                    if varying(op, &gather_map(op, v)?, chunk_bits(op)) != 0 {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        (cost <= LAZY_LIMIT).then_some(cost)
    }

    fn joins(&self, op: OpRef<'c>, group: &Group<'c>) -> bool {
        let aligned = aligned(op, group.bits);
        let fits = aligned
            || register_bits(result_or_operand(op))
                .is_some_and(|b| b >= group.bits && b - group.bits <= MAX_REGISTER_BITS);
        // Values read from arrays must be complete before the loop.
        let from_arrays = !aligned && operands(op).any(|v| group.made(v) && !is_token(v));
        fits && !from_arrays && !ordered_behind(op, group)
    }

    //===-- ops that are not in loops ----------------------------------------===//

    fn plain(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        match Scf::of(op) {
            Some(Scf::For) => return self.scf_for(op),
            Some(Scf::If) => return self.scf_if(op),
            Some(Scf::While) => return self.scf_while(op),
            _ => {}
        }
        if let Some(agents) = AgentSwitchOp::cast(op) {
            let outside = self.warp_bits;
            for (i, agent) in Agent::of_switch(agents).into_iter().enumerate() {
                let Some(body) = entry_block(region(op, i)) else { continue };
                self.warp_bits = agent.warps.ilog2();
                // An agent's program lacks a terminator, so this op marks its end temporarily.
                let b = Builder::at_end(self.context, body, op.location());
                let token = AsyncTokenType::get(op.location()).ok_or_else(|| fail(op, "no type of tokens"))?;
                let end = AsyncCreateNoneOp::build(&b, token.into()).map_err(|e| fail(op, e.to_string()))?;
                self.block(body)?;
                erase(end.op());
            }
            self.warp_bits = outside;
            return Ok(());
        }
        // Parts of an exchange are numbered at run time, so it needs arrays even for small tensors.
        if let Some(x) = ExchangeOp::cast(op) {
            return self.exchange(x);
        }
        if !operands(op).chain(results(op)).any(|v| self.is_big(v)) {
            return Ok(());
        }
        match AnyOp::cast(op) {
            Some(AnyOp::InsertSliceOp(x)) => self.insert(x),
            Some(AnyOp::PrintOp(_)) => self.print(op),
            Some(AnyOp::ConvertLayoutOp(_) | AnyOp::ExtractSliceOp(_)) => self.few_of_many(op),
            _ => Err(fail(op, "unexpected tensor that does not fit into registers")),
        }
    }

    /// Returns the array of `v`: its own, or a new copy that the caller frees.
    fn array_for(&mut self, b: &Builder<'c>, op: OpRef<'c>, v: Val<'c>) -> Result<(Array<'c>, bool), Failed> {
        match self.state(v) {
            TensorState::Array(array) => Ok((array, false)),
            _ => Ok((self.array_of(b, op, v)?, true)),
        }
    }

    /// Handles the result `v` of an op that is in `array`: it stays there if it is big and is loaded otherwise.
    fn settle(&mut self, b: &Builder<'c>, op: OpRef<'c>, v: Val<'c>, array: Array<'c>) -> Result<(), Failed> {
        if self.is_big(v) {
            self.values.insert(key(v), TensorState::Array(array));
            return Ok(());
        }
        let loaded = ArrayLoadOp::build(b, ty(v), array.value, None).map_err(|e| fail(op, e.to_string()))?;
        replace_all_uses(v, loaded.result());
        self.free_array(array);
        Ok(())
    }

    fn exchange(&mut self, x: ExchangeOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let b = Builder::before(self.context, op);
        let (source, made) = self.array_for(&b, op, x.source())?;
        let target = self.new_array(&b, op, x.result())?;
        if self.is_big(x.result()) {
            self.remark_on_array(op, x.result());
        }
        ArrayExchangeOp::build(&b, source.value, target.value, x.storage()).map_err(|e| fail(op, e.to_string()))?;
        if made {
            self.free_array(source);
        }
        self.dead.push(op);
        self.settle(&b, op, x.result(), target)
    }

    /// Replaces a slice of a big tensor, in place if the tensor has no other uses.
    fn insert(&mut self, x: InsertSliceOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        if !matches!(self.state(x.slice()), TensorState::Registers) {
            return Err(fail(op, "the slice does not fit into registers"));
        }
        let b = Builder::before(self.context, op);
        let alone = uses(x.dest()).len() == 1 && home_of(x.dest()) == block_of(op);
        let array = match self.state(x.dest()) {
            TensorState::Array(array) if alone => {
                self.values.remove(&key(x.dest()));
                array
            }
            _ => self.array_of(&b, op, x.dest())?,
        };
        let indices: Vec<Val<'c>> = x.indices().collect();
        ArrayInsertOp::build(&b, x.slice(), array.value, &indices).map_err(|e| fail(op, e.to_string()))?;
        self.values.insert(key(x.result()), TensorState::Array(array));
        self.dead.push(op);
        Ok(())
    }

    /// Prints big tensors from arrays.
    fn print(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let b = Builder::before(self.context, op);
        let new = clone_detached(op);
        let mut temporary = vec![];
        for (i, v) in operands(op).enumerate().filter(|(_, v)| self.is_big(*v)).collect::<Vec<_>>() {
            let (array, made) = self.array_for(&b, op, v)?;
            set_operand(new, i, array.value);
            temporary.extend(made.then_some(array));
        }
        b.insert_op(new);
        for (old, new) in results(op).zip(results(new)) {
            replace_all_uses(old, new);
        }
        self.dead.push(op);
        temporary.into_iter().for_each(|array| self.free_array(array));
        Ok(())
    }

    /// Handles an op that takes few registers of a big tensor.
    fn few_of_many(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let b = Builder::before(self.context, op);
        let (array, made) = self.array_for(&b, op, operand(op, 0))?;
        let indices: Vec<Val<'c>> = operands(op).skip(1).collect();
        let few = GatherRegistersOp::build(&b, ty(result(op, 0)), array.value, None, &indices);
        replace_all_uses(result(op, 0), few.map_err(|e| fail(op, e.to_string()))?.result());
        if made {
            self.free_array(array);
        }
        self.dead.push(op);
        Ok(())
    }

    //===-- lives of arrays ---------------------------------------------------===//

    /// Frees arrays of tensors that are not used after `op`.
    fn release(&mut self, op: OpRef<'c>) {
        let now = self.rebuilt.get(&op_key(op)).copied().unwrap_or(op);
        self.done.extend([op_key(op), op_key(now)]);
        if self.pool.is_idle() {
            return;
        }
        let mut used: Vec<Val<'c>> = operands(op).chain(results(op)).collect();
        if region_count(now) > 0 {
            walk(now, &mut |o| used.extend(operands(o)));
        }
        for v in used {
            if let TensorState::Array(array) = self.state(v)
                && self.is_last_use(v, op)
            {
                self.values.remove(&key(v));
                self.free_array(array);
            }
        }
    }

    /// Whether `v` is defined in the block of `op` and all its uses are done.
    fn is_last_use(&self, v: Val<'c>, op: OpRef<'c>) -> bool {
        // A value from outside the block may be used again when the block runs again.
        let own = defining_op(v).is_some_and(|maker| block_of(maker) == block_of(op));
        own && uses(v).iter().all(|(user, _)| {
            let mut at = *user;
            while block_of(at) != block_of(op) {
                let Some(parent) = parent_op(at) else { return false };
                at = parent;
            }
            self.done.contains(&op_key(at))
        })
    }

    /// Erases the replaced ops and arguments.
    fn clean_up(&mut self) -> Result<(), Failed> {
        for op in self.dead.drain(..).rev() {
            if results(op).any(has_uses) {
                return Err(fail(op, "unexpected use of a tensor that does not fit into registers"));
            }
            erase(op);
        }
        for (block, mut positions) in self.dead_arguments.drain(..) {
            positions.sort_unstable();
            for i in positions.into_iter().rev() {
                // SAFETY: the block is alive, and what used the argument is erased.
                unsafe { mlirBlockEraseArgument(block.to_raw(), i as u32) }
            }
        }
        Ok(())
    }
}

/// Returns log2 of the number of chunks for a single op.
fn chunk_bits(op: OpRef<'_>) -> u32 {
    let registers = operands(op).chain(results(op)).filter_map(register_bits).max().unwrap_or(0);
    registers.saturating_sub(PASS_REGISTERS)
}

/// Whether chunk `k` of `2^bits` of the results needs only chunk `k` of the operands.
fn aligned(op: OpRef<'_>, bits: u32) -> bool {
    let all: Vec<u32> = operands(op).chain(results(op)).filter_map(register_bits).collect();
    if all.iter().any(|&b| b < bits || b - bits > MAX_REGISTER_BITS) {
        return false;
    }
    let equal = all.windows(2).all(|w| w[0] == w[1]);
    match AnyOp::cast(op) {
        None => equal,
        Some(AnyOp::BroadcastOp(_) | AnyOp::ConvertLayoutOp(_)) => {
            let (from, to) = (operand(op, 0), result(op, 0));
            let Some(columns) = gather_map(op, from) else { return false };
            let (m, n) = (register_bits(from).unwrap_or(0) - bits, register_bits(to).unwrap_or(0) - bits);
            let within = columns[..n as usize].iter().all(|c| c >> m == 0);
            let same = columns[n as usize..].iter().enumerate().all(|(i, &c)| c == 1 << (m as usize + i));
            within && same
        }
        Some(AnyOp::CatOp(x)) => {
            let Some(tensor) = Tensor::of_value(x.result()) else { return false };
            let (Some(layout), Some(at)) = (tensor.layout(), register_maps::half_bit(&tensor, x.dim() as usize)) else {
                return false;
            };
            let inner = layout.register().len() - bits as usize;
            layout.half_register(at).is_none_or(|r| r < inner)
        }
        Some(AnyOp::PackOp(_) | AnyOp::UnpackOp(_)) => true,
        Some(AnyOp::ReduceOp(x)) => results(op).all(|r| {
            let operand = operand(op, 0);
            let Some(t) = Tensor::of_value(operand) else { return false };
            let Ok((low, width)) = t.tile_shape().field(x.dim() as usize) else { return false };
            let kept = x.kept().unwrap_or(0) as u64;
            last_bases(r, bits, |b| b) == last_bases(operand, bits, |b| forget(b, low, width, kept))
        }),
        Some(
            AnyOp::MakeRangeOp(_)
            | AnyOp::SplatOp(_)
            | AnyOp::ViewOp(_)
            | AnyOp::PermuteOp(_)
            | AnyOp::TiledLoadOp(_)
            | AnyOp::TiledStoreOp(_)
            | AnyOp::LoadOp(_)
            | AnyOp::StoreOp(_)
            | AnyOp::AtomicRmwOp(_)
            | AnyOp::AtomicCasOp(_)
            | AnyOp::TiledAtomicRmwOp(_)
            | AnyOp::MultimemLoadReduceOp(_)
            | AnyOp::MultimemReduceOp(_)
            | AnyOp::MultimemStoreOp(_)
            | AnyOp::ReplicateOp(_)
            | AnyOp::ShuffleOp(_)
            | AnyOp::LocalStoreOp(_)
            | AnyOp::LocalLoadOp(_)
            | AnyOp::LocalLoadSliceOp(_),
        ) => equal,
        _ => false,
    }
}

/// Returns the bases of the last `bits` register bits of a tensor, mapped by `map`.
fn last_bases(v: Val<'_>, bits: u32, map: impl Fn(u64) -> u64) -> Option<Vec<u64>> {
    let layout = Tensor::of_value(v)?.layout()?;
    Some(layout.register()[layout.register().len() - bits as usize..].iter().map(|&b| map(b)).collect())
}

/// For an op that renames registers, returns the register of operand `v` that each register bit of the result
/// contributes, followed by the contributions of the bits of a slice's number.
fn gather_map<'c>(op: OpRef<'c>, v: Val<'c>) -> Option<Vec<u64>> {
    let (from, to) = (Tensor::of_value(v)?, Tensor::of_value(result(op, 0))?);
    let whole = to.layout()?;
    match AnyOp::cast(op)? {
        AnyOp::BroadcastOp(_) | AnyOp::ConvertLayoutOp(_) => register_maps::gather(&from, &to, &whole, false),
        AnyOp::ExtractSliceOp(_) => register_maps::gather(&from, &to, &whole, true),
        AnyOp::CatOp(x) => register_maps::halves(&to, &whole, x.dim() as usize),
        _ => None,
    }
}

/// Returns the bits of an operand's register number that depend on the chunk.
fn varying(op: OpRef<'_>, columns: &[u64], bits: u32) -> u64 {
    register_maps::varying(columns, register_bits(result(op, 0)).unwrap_or(0), bits)
}

/// Whether the op only renames registers.
fn gathers(op: OpRef<'_>) -> bool {
    matches!(
        AnyOp::cast(op),
        Some(AnyOp::BroadcastOp(_) | AnyOp::ConvertLayoutOp(_) | AnyOp::ExtractSliceOp(_) | AnyOp::CatOp(_))
    )
}

fn result_or_operand<'c>(op: OpRef<'c>) -> Val<'c> {
    if result_count(op) > 0 { result(op, 0) } else { operand(op, 0) }
}

/// Removes the bits of a field from an index, except the coordinate bits in the mask `kept`, and closes the gap.
fn forget(index: u64, low: u32, width: u32, kept: u64) -> u64 {
    let mut out = index & ((1 << low) - 1);
    let mut at = low;
    for i in (0..width).filter(|i| kept >> i & 1 == 1) {
        out |= (index >> (low + i) & 1) << at;
        at += 1;
    }
    out | index >> (low + width) << at
}

fn is_token(v: Val<'_>) -> bool {
    MemTokenType::cast(ty(v)).is_some()
}

/// Whether an op can move before the loop of a preceding group; uses of the group's tokens move it after the loop.
fn may_pass<'c>(op: OpRef<'c>, group: &Group<'c>) -> bool {
    // SAFETY: `op` is alive.
    let movable = unsafe {
        crate::dialect::ffi::mlirxOperationIsPure(op.to_raw())
            && !crate::dialect::ffi::mlirxOperationIsTerminatorTrait(op.to_raw())
    };
    movable && region_count(op) == 0 && operands(op).all(|v| is_token(v) || !group.made(v))
}

/// Whether an access must not share a loop with group members whose tokens it depends on.
fn ordered_behind<'c>(op: OpRef<'c>, group: &Group<'c>) -> bool {
    let mut work: Vec<Val<'c>> = operands(op).filter(|v| is_token(*v)).collect();
    let mut seen = FxHashSet::default();
    while let Some(token) = work.pop() {
        let Some(maker) = defining_op(token).filter(|_| seen.insert(key(token))) else { continue };
        match nv_tileaa::AnyOp::cast(maker) {
            Some(nv_tileaa::AnyOp::JoinMemTokenOp(_)) => work.extend(operands(maker)),
            _ if !group.members.contains(&op_key(maker)) => {}
            _ if !reads_only(op) || !reads_only(maker) => return true,
            _ => work.extend(operands(maker).filter(|v| is_token(*v))),
        }
    }
    false
}

fn reads_only(op: OpRef<'_>) -> bool {
    matches!(AnyOp::cast(op), Some(AnyOp::TiledLoadOp(_) | AnyOp::LoadOp(_) | AnyOp::MultimemLoadReduceOp(_)))
}
