//! `tileas-prefetch-tiles` makes agents start loads of the next iteration before they compute the current one.
//!
//! A producer's loop over tiles waits for memory in each iteration, unless its loads were started in the previous
//! iteration:
//!
//! ```text
//! for i { x = load f(i); t = g(x); acquire; store t; commit }
//! ```
//!
//! becomes
//!
//! ```text
//! x = if l < u { load f(l) } else { 0 }
//! for i iter_args(x) { y = load f(min(i + 1, last)); t = g(x); acquire; store t; commit; yield y }
//! ```
//!
//! The last iteration reloads its own inputs, and no op uses the result. Only existing iterations are loaded, so
//! known facts about addresses and bounds still hold.
//!
//! Other loops that wait for stages, as consumers do, start small loads ahead: the scales of a block, for example. Such
//! a load would otherwise take its latency in each iteration, and a few registers hold its result. All other loads stay
//! where they are. The loads follow the last op that reads the current values, so that both take the same registers. If
//! this op need not wait, it moves to the top of the loop with the loads: they then overlap with all that the iteration
//! waits for.
//!
//! ```text
//! for i iter_args(x) { s = f(x); y = load ..; wait; acc += s * tile; yield y }
//! ```
//!
//! The pass changes only loops of agents whose loads are unordered, if the agent's registers hold the loaded values
//! twice. Addresses may depend on the induction variable but not on other loop-carried values.

use crate::{
    analysis::{clones::clone_op, registers::register_bits, tile_programs::is_unordered_load},
    dialect::{
        arith::IntPredicate,
        behaviour,
        dot_plan::Agent,
        layouts::{Tensor, storage_bits},
        loops::{extend_for, extend_yield, new_if},
        nv_tileaa,
        nv_tileas::{AgentSwitchOp, AnyOp, ConsumerWaitOp, ProducerCommitOp, SplatOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        types::{is_float, is_integer},
        upstream::Scf,
    },
    pass_descriptor,
};
use melior::{Context, ir::Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// Registers per thread that a producer needs for other purposes: addresses, bounds, computed values.
const OTHER_REGISTERS: u64 = 48;
/// The most registers per thread that loads ahead of a loop that waits for stages may take.
const SMALL: u64 = 8;

#[derive(Clone, Default)]
pub struct PrefetchTiles;

impl RustPass for PrefetchTiles {
    pass_descriptor!(tileas_prefetch_tiles);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_prefetch_tiles::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            for switch in collect_ops(function.op(), AgentSwitchOp::cast) {
                for (i, agent) in Agent::of_switch(switch).into_iter().enumerate() {
                    let budget = agent.registers.map_or(u64::MAX, u64::from);
                    let Some(program) = entry_block(region(switch.op(), i)) else { continue };
                    let mut loops = vec![];
                    for o in ops_of(program) {
                        walk(o, &mut |inner| loops.extend(kind(inner).map(|kind| (inner, kind))));
                    }
                    for (op, kind) in loops {
                        let Some(ahead) = Ahead::of(op, kind).filter(|a| a.fits(budget)) else { continue };
                        cx.stat_add(stat::NUM_LOADS, ahead.loads.len() as i64);
                        ahead.rewrite(context).map_err(|e| fail(op, e.to_string()))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A loop whose loads may start ahead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It stores a tile to a stage in each iteration.
    Produces,
    /// It waits for a stage in each iteration.
    Waits,
}

fn kind(op: OpRef<'_>) -> Option<Kind> {
    let op = Some(op).filter(|op| Scf::of(*op) == Some(Scf::For))?;
    let body = entry_block(region(op, 0))?;
    let any = |is: &dyn Fn(OpRef<'_>) -> bool| ops_of(body).any(is);
    if any(&|o| ProducerCommitOp::cast(o).is_some()) {
        return Some(Kind::Produces);
    }
    any(&|o| ConsumerWaitOp::cast(o).is_some()).then_some(Kind::Waits)
}

/// Whether the elements of an op's result stay in the registers of its operand.
fn renames_registers(op: OpRef<'_>) -> bool {
    use AnyOp::*;
    matches!(
        AnyOp::cast(op),
        Some(ViewOp(_) | ExpandDimsOp(_) | PermuteOp(_) | BroadcastOp(_) | SplatOp(_) | UnsplatOp(_))
    )
}

/// The registers of a thread that a load's result takes.
fn words(load: OpRef<'_>) -> u64 {
    let v = result(load, 0);
    let bits = Tensor::of_value(v).map_or(32, |t| u64::from(storage_bits(t.element)));
    let elements = 1 << register_bits(v).unwrap_or(0);
    let vector = attr(load, "vector").map_or(1, |a| int_attr(a) as u64).clamp(1, elements);
    elements / vector * (vector * bits).div_ceil(32)
}

/// The loads that a loop can start ahead.
struct Ahead<'c> {
    op: OpRef<'c>,
    kind: Kind,
    body: Blk<'c>,
    loads: Vec<OpRef<'c>>,
    /// The loads and the ops that they depend on, in program order.
    slice: Vec<OpRef<'c>>,
}

impl<'c> Ahead<'c> {
    fn of(op: OpRef<'c>, kind: Kind) -> Option<Self> {
        let body = entry_block(region(op, 0))?;
        let is_number = |v: Val<'c>| Tensor::of_value(v).is_some_and(|t| is_integer(t.element) || is_float(t.element));
        let mut loads: Vec<OpRef<'c>> =
            ops_of(body).filter(|o| is_unordered_load(*o) && is_number(result(*o, 0))).collect();
        if kind == Kind::Waits {
            let mut left = SMALL;
            loads.retain(|load| {
                let rest = left.checked_sub(words(*load));
                left = rest.unwrap_or(left);
                rest.is_some()
            });
        }
        let (mut needed, mut work) = (FxHashSet::default(), loads.clone());
        while let Some(o) = work.pop() {
            if !needed.insert(op_key(o)) {
                continue;
            }
            let repeats = is_unordered_load(o) || behaviour::effects(o).is_some_and(|list| list.is_empty());
            if region_count(o) > 0 || !repeats {
                return None;
            }
            for v in operands(o).filter(|v| home_of(*v) == block_key(body)) {
                match defining_op(v) {
                    Some(o) => work.push(o),
                    None if v == arg(body, 0) => {}
                    None => return None,
                }
            }
        }
        let slice = ops_of(body).filter(|o| needed.contains(&op_key(*o))).collect();
        (!loads.is_empty()).then_some(Self { op, kind, body, loads, slice })
    }

    /// Whether a thread has enough registers to hold the loaded values twice.
    fn fits(&self, registers: u64) -> bool {
        2 * self.loads.iter().map(|load| words(*load)).sum::<u64>() + OTHER_REGISTERS <= registers
    }

    fn rewrite(self, context: &'c Context) -> Result<(), BuildError> {
        let (lower, upper, step) = (operand(self.op, 0), operand(self.op, 1), operand(self.op, 2));
        let b = Builder::before(context, self.op);
        b.set_location(self.op.location());
        let unsigned = attr(self.op, "unsignedCmp").is_some();
        let any = b.cmpi(IntPredicate::less(unsigned), lower, upper);
        let first = self.first(&b, any, lower)?;
        let (new, carried) = extend_for(&b, self.op, &first)?;

        // The next induction variable, or the current one in the last iteration: there is a next iteration if the
        // remaining distance exceeds one step.
        let counter = arg(self.body, 0);
        let waits = self.kind == Kind::Waits;
        let early = waits.then(|| self.early_users()).flatten().unwrap_or_default();
        let top = ops_of(self.body).find(|op| !early.contains(op)).expect("a body has a terminator");
        early.iter().for_each(|op| move_before(*op, top));
        match early.last().copied().or_else(|| waits.then(|| self.last_user()).flatten()) {
            Some(user) => b.set_after(user),
            None => b.set_before(top),
        }
        b.set_location(new.location());
        let more = b.cmpi(IntPredicate::Ugt, b.subi(upper, counter), step);
        let next = b.select(more, b.addi(counter, step), counter);
        let loaded = self.at(&b, next);
        for (load, now) in self.loads.iter().zip(carried) {
            replace_all_uses(result(*load, 0), now);
        }
        for op in self.slice.iter().rev().filter(|o| results(**o).all(|r| !has_uses(r))) {
            erase(*op);
        }
        extend_yield(&b, self.body, &loaded)
    }

    /// The ops that read the registers of loaded values, in program order, if all of them may run at the top of the
    /// loop: they compute little, from nothing that the iteration computes otherwise. The loads then follow them before
    /// the first wait of the iteration, and have until the top of the next one.
    fn early_users(&self) -> Option<Vec<OpRef<'c>>> {
        let mut held: FxHashSet<usize> = self.loads.iter().map(|load| key(result(*load, 0))).collect();
        let (mut early, mut computed, mut left) = (vec![], FxHashSet::default(), SMALL);
        for op in ops_of(self.body) {
            let mut inside = false;
            walk(op, &mut |o| inside |= o != op && operands(o).any(|v| held.contains(&key(v))));
            let reads = operands(op).any(|v| held.contains(&key(v)));
            if inside || reads && !(renames_registers(op) || behaviour::computes_locally(op)) {
                return None;
            }
            if !reads {
                continue;
            }
            let is_ready = |v: Val<'c>| {
                let is_here = home_of(v) == block_key(self.body) && defining_op(v).is_some();
                !is_here || held.contains(&key(v)) || computed.contains(&key(v))
            };
            if !operands(op).all(is_ready) {
                return None;
            }
            early.push(op);
            if renames_registers(op) {
                held.extend(results(op).map(key));
            } else {
                left = left.checked_sub(words(op))?;
                computed.extend(results(op).map(key));
            }
        }
        Some(early)
    }

    /// The last op of the body that reads the registers of a loaded value, other than its terminator. Loads that follow
    /// it may take these registers. Before it, ptxas would load to other registers and copy them at the end of the
    /// iteration, where the copies wait for the loads. A value that the loop carries keeps its registers in any case.
    fn last_user(&self) -> Option<OpRef<'c>> {
        let (mut users, mut seen) = (FxHashSet::default(), FxHashSet::default());
        let mut work: Vec<Val<'c>> = self.loads.iter().map(|load| result(*load, 0)).collect();
        while let Some(v) = work.pop() {
            for (user, _) in uses(v).into_iter().filter(|(user, _)| seen.insert(op_key(*user))) {
                let mut around = std::iter::successors(Some(user), |o| parent_op(*o));
                users.extend(around.find(|o| block_of(*o) == block_key(self.body)).map(op_key));
                work.extend(results(user).filter(|_| renames_registers(user)));
            }
        }
        let end = ops_of(self.body).last();
        ops_of(self.body).filter(|o| Some(*o) != end && users.contains(&op_key(*o))).last()
    }

    /// Emits the loop's loads for induction variable `counter`.
    fn at(&self, b: &Builder<'c>, counter: Val<'c>) -> Vec<Val<'c>> {
        let mut map = FxHashMap::default();
        map.insert(key(arg(self.body, 0)), counter);
        for op in &self.slice {
            b.set_location(op.location());
            clone_op(b, *op, &mut map);
        }
        self.loads.iter().map(|load| map[&key(result(*load, 0))]).collect()
    }

    /// Emits the loads of the first iteration, if `any` says that there is one.
    fn first(&self, b: &Builder<'c>, any: Val<'c>, lower: Val<'c>) -> Result<Vec<Val<'c>>, BuildError> {
        let types: Vec<Type<'c>> = self.loads.iter().map(|load| ty(result(*load, 0))).collect();
        let (op, blocks) = new_if(b, any, &types)?;
        for (i, block) in blocks.into_iter().enumerate() {
            b.set_end(block);
            let values = if i == 0 { self.at(b, lower) } else { zeros(b, &types)? };
            b.set_location(self.op.location());
            let mut state = b.state("scf.yield");
            state.operands(&values);
            b.insert(state)?;
        }
        b.set_after(op);
        Ok(results(op).collect())
    }
}

fn zeros<'c>(b: &Builder<'c>, types: &[Type<'c>]) -> Result<Vec<Val<'c>>, BuildError> {
    let zero = |t: &Type<'c>| {
        let element = Tensor::of(*t).map(|t| t.element).expect("a tensor");
        let scalar = if is_float(element) { b.float_constant(element, 0.0) } else { b.int_constant(element, 0) };
        SplatOp::build(b, *t, scalar).map(|s| s.result())
    };
    types.iter().map(zero).collect()
}
