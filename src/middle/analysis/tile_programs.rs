//! Finds the ops that compute a producer-computed operand and clones them for the producer.
//!
//! TMA cannot load an operand that is gathered, widened, scaled or otherwise computed. The warps of a producer
//! compute it instead. They run a clone of all tensor ops that the operand depends on, starting from scalars and
//! memory. For example, the program of the left operand in
//!
//! ```text
//! for i: w8 = load A[i];  w16 = extend w8;  s = load S[i];  a = w16 * s;  acc = dot(a, b, acc)
//! ```
//!
//! is both loads, the extension and the multiplication.
//!
//! # Conditions
//!
//! * No op of the program has an effect, except weak loads, whose mutual order does not matter.
//! * The loads are not ordered after any access, except the preceding grids, for which every agent waits.
//! * Accesses that are ordered after the loads follow the dot, which waits for the tile and therefore for the loads.
//! * Values from outside of the loop are recomputed in it. A loop-carried tensor must advance by the same step in
//!   each iteration, so that its value follows from the loop counter.
//!
//! # Estimates
//!
//! The planner compares the program with unspecialized code by its instructions, its chain of dependent loads and its
//! registers. These are estimates before layouts exist. They assume that elements are spread evenly over threads,
//! that all loads of an iteration are in flight together, and that element-wise computations proceed element by
//! element.
//!
//! # Bound on the work
//!
//! The search visits each op once and scans the steps so far for duplicates, so it is quadratic in the size of the
//! program. The estimates and clones are linear.

use super::{
    access::{AccessPlan, View, places, pointer_access, tiled_access},
    clones::{clone_op, mapped},
    constants::is_all_zeros,
    facts::Facts,
    layouts::moved_dimension,
    tokens,
};
use crate::dialect::{
    attributes::{CONVERTED, MAY_BE_OUTSIDE, OR_COPIED, OUTSIDE, OWN_STAGES, PRODUCER_COMPUTED, STAGED},
    behaviour::{self, LayoutRelation},
    layouts::{Tensor, memory_bits, storage_bits, tensor_type},
    loops::loops_around,
    nv_tileaa::{self, CreateMemTokenOp, MemTokenType, Ordering, Padding, ReduceOp, ScanOp, WaitForGridsOp},
    nv_tileas,
    rt::*,
    types::is_integer,
    upstream::{Arith, Math, Scf},
};
use melior::{
    Context,
    ir::{Type, r#type::IntegerType},
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The ops that compute a tile.
pub struct TileProgram<'c> {
    tile: Val<'c>,
    /// Each step follows the steps that it depends on.
    steps: Vec<ProgramStep<'c>>,
}

#[derive(Clone, Copy)]
enum ProgramStep<'c> {
    /// An op, and the number of loops that contain the dot but not the op.
    Op(OpRef<'c>, usize),
    Carried(Carried<'c>),
}

/// A loop-carried tensor of pointers or integers that advances by a loop-invariant step.
#[derive(Clone, Copy)]
struct Carried<'c> {
    around: OpRef<'c>,
    /// The value at the start of an iteration, and at the start of the first iteration.
    inside: Val<'c>,
    first: Val<'c>,
    /// The step of an iteration.
    by: Val<'c>,
}

impl<'c> TileProgram<'c> {
    /// The program that computes `tile`, an operand of `dot` in `function`.
    ///
    /// Errors: an op that producer warps cannot run, with the reason.
    pub fn of(tile: Val<'c>, dot: OpRef<'c>, function: OpRef<'c>) -> Result<Self, (OpRef<'c>, String)> {
        let mut search = Search {
            dot,
            function,
            depth: loops_around(dot).count(),
            of: FxHashMap::default(),
            found: FxHashSet::default(),
        };
        let mut steps = vec![];
        search.follow(tile, &mut steps)?;
        Ok(Self { tile, steps })
    }

    /// Writes a clone of the program at the insertion point and returns the tile.
    pub fn write(&self, b: &Builder<'c>) -> Result<Val<'c>, BuildError> {
        let mut map: FxHashMap<usize, Val<'c>> = FxHashMap::default();
        for step in &self.steps {
            match *step {
                ProgramStep::Op(op, outside) => {
                    b.set_location(op.location());
                    let copy = clone_op(b, op, &mut map);
                    if outside > 0 && weak_load(op).is_some() {
                        OUTSIDE.set(copy, outside as i64);
                    }
                }
                ProgramStep::Carried(carried) => {
                    let v = carried.write(b, &map)?;
                    map.insert(key(carried.inside), v);
                }
            }
        }
        Ok(mapped(&map, self.tile))
    }

    /// Erases the original ops that are now unused.
    pub fn erase_dead(self, context: &'c Context) -> Result<(), (OpRef<'c>, BuildError)> {
        let is_token = |v: &Val<'c>| MemTokenType::cast(ty(*v)).is_some();
        let ops: Vec<OpRef<'c>> = self.ops().collect();
        for op in ops.into_iter().rev() {
            if results(op).any(|r| !is_token(&r) && has_uses(r)) {
                continue;
            }
            tokens::pass_over(context, op).map_err(|e| (op, e))?;
            erase(op);
        }
        Ok(())
    }

    /// The ops of the program, each after the ops that it depends on.
    pub fn ops(&self) -> impl Iterator<Item = OpRef<'c>> {
        self.placed().map(|(op, _)| op)
    }

    /// The loads of matrices of at least [`LARGE`] bytes in each iteration.
    pub fn large_tiles(&self) -> impl Iterator<Item = nv_tileaa::TiledLoadOp<'c>> {
        let is_large = |load: &nv_tileaa::TiledLoadOp<'c>| {
            Tensor::of_value(load.result()).is_some_and(|t| t.shape.len() == 2 && bits_of(&t) >= 8 * LARGE)
        };
        let inside = self.placed().filter(|(_, outside)| *outside == 0);
        inside.filter_map(|(op, _)| nv_tileaa::TiledLoadOp::cast(op)).filter(is_large)
    }

    /// The ops, with the number of loops that contain the dot but not the op.
    fn placed(&self) -> impl Iterator<Item = (OpRef<'c>, usize)> {
        self.steps.iter().filter_map(|step| match step {
            ProgramStep::Op(op, outside) => Some((*op, *outside)),
            ProgramStep::Carried(_) => None,
        })
    }

    /// The dimension of the tile along which the memory of its largest input is contiguous, if that is known.
    pub fn contiguous_dimension(&self, facts: &Facts) -> Option<usize> {
        let mut moved = vec![];
        let mut v = self.tile;
        // Follow the largest operand of each op to a load.
        while let Some(op) = defining_op(v) {
            if let Some((plan, _)) = access_of_load(op, facts) {
                moved.reverse();
                let shape = Tensor::of_value(v).map(|t| t.tile_shape());
                return plan.order.first().zip(shape).and_then(|(&fast, s)| moved_dimension(s, fast, &moved));
            }
            if matches!(behaviour::layout_relation(op), LayoutRelation::Reshape | LayoutRelation::Permute) {
                moved.push(op);
            }
            let bits = |v: &Val<'c>| Tensor::of_value(*v).map_or(0, |t| bits_of(&t));
            // Among operands of equal size, the first is taken.
            let main = operands(op).filter(|v| bits(v) > 0).reduce(|a, b| if bits(&b) > bits(&a) { b } else { a });
            let Some(main) = main else { break };
            v = main;
        }
        None
    }

    /// Whether asynchronous copies by threads (`thread_copies`) can bring the tile to a stage in which it is
    /// contiguous along `fast`, as far as this is known before layouts are assigned. The tile must be the result of a
    /// load, elements outside of the view must be zero or irrelevant, and an instruction must move 4, 8 or 16 bytes.
    pub fn is_copied(&self, fast: usize, facts: &Facts) -> bool {
        let Some(op) = defining_op(self.tile) else { return false };
        let zeros = match (nv_tileaa::TiledLoadOp::cast(op), nv_tileaa::LoadOp::cast(op)) {
            (Some(load), _) => View::of(load.view()).is_some_and(|view| {
                matches!(view.ty.padding(), None | Some(Padding::Zero)) && view.ty.sparse_dim().is_none()
            }),
            (_, Some(load)) => load.other().is_none_or(is_all_zeros),
            _ => false,
        };
        zeros
            && self.placed().any(|(o, outside)| o == op && outside == 0)
            && access_of_load(op, facts).zip(Tensor::of_value(self.tile)).is_some_and(|((access, _), t)| {
                let bytes = access.vector * u64::from(storage_bits(t.element) / 8);
                access.order.first() == Some(&fast)
                    && memory_bits(t.element) == storage_bits(t.element)
                    && matches!(bytes, 4 | 8 | 16)
            })
    }

    /// An estimate of the instructions per thread and iteration with `warps` warps. It includes stores of the tile to
    /// its stage, unless the tile is `copied`.
    pub fn instructions(&self, warps: u32, copied: bool, facts: &Facts) -> u32 {
        let threads = u64::from(32 * warps);
        let each = |v: Val<'c>| Tensor::of_value(v).map_or(0, |t| t.elements().unsigned_abs().div_ceil(threads));
        // Addresses and masks are computed once per load instruction and counted with it.
        let (mut addresses, mut work) = (FxHashSet::default(), vec![]);
        for op in self.ops().filter(|op| weak_load(*op).is_some()) {
            work.extend(operands(op).filter_map(defining_op));
        }
        while let Some(op) = work.pop() {
            if addresses.insert(op_key(op)) {
                work.extend(operands(op).filter_map(defining_op));
            }
        }
        let of = |op: OpRef<'c>| -> u64 {
            if let Some((access, _)) = access_of_load(op, facts) {
                return each(result(op, 0)).div_ceil(access.vector) * LOAD;
            }
            if addresses.contains(&op_key(op)) || behaviour::layout_relation(op) != LayoutRelation::Same {
                return 0;
            }
            use Arith::*;
            let cost = match Arith::of(op) {
                Some(DivF | DivSI | DivUI | RemF | RemSI | RemUI) => SLOW,
                Some(SIToFP | UIToFP | FPToSI | FPToUI | ExtF | TruncF) => CONVERSION,
                _ if Math::of(op).is_some() => SLOW,
                _ if nv_tileaa::FpCastOp::cast(op).is_some() => CONVERSION,
                _ => 1,
            };
            each(result(op, 0)) * cost
        };
        let inside = self.placed().filter(|(_, outside)| *outside == 0).map(|(op, _)| of(op)).sum::<u64>();
        let stored = Tensor::of_value(self.tile).map_or(0, |t| bits_of(&t).div_ceil(32 * threads));
        u32::try_from(inside + if copied { 0 } else { stored }).unwrap_or(u32::MAX)
    }

    /// The number of loads in the longest chain of dependent loads, because an address may be loaded itself. The
    /// result of the last load is not waited for if the tile is `copied`.
    pub fn loads_in_a_row(&self, copied: bool) -> u32 {
        let mut depths: FxHashMap<usize, u32> = FxHashMap::default();
        for (op, outside) in self.placed() {
            let before = operands(op).filter_map(|v| depths.get(&key(v))).max().copied().unwrap_or(0);
            let here = before + u32::from(outside == 0 && weak_load(op).is_some());
            depths.extend(results(op).map(|r| (key(r), here)));
        }
        depths.get(&key(self.tile)).copied().unwrap_or(0).max(1) - u32::from(copied)
    }

    /// An estimate of the maximum registers per thread that are live at any point, with `warps` warps, if values from
    /// outside of the loop stay in registers. All loads are in flight together, and element-wise results take no
    /// registers of their own. A `copied` tile takes only the registers of its addresses.
    pub fn registers(&self, warps: u32, copied: bool, facts: &Facts) -> u32 {
        let threads = u64::from(32 * warps);
        let of = |v: Val<'c>| Tensor::of_value(v).map_or(0, |t| bits_of(&t).div_ceil(32 * threads));
        let held = |op: OpRef<'c>| -> u64 {
            if let Some((access, pointers)) = access_of_load(op, facts) {
                let t = Tensor::of_value(result(op, 0)).expect("an access moves a tensor");
                let pieces = (t.elements().unsigned_abs() / access.vector).div_ceil(threads);
                let is_copy = copied && defining_op(self.tile) == Some(op);
                let words = if is_copy { 0 } else { (access.vector * u64::from(storage_bits(t.element))).div_ceil(32) };
                return pieces * (words + if pointers { 2 } else { 0 });
            }
            let by_element = matches!(
                behaviour::layout_relation(op),
                LayoutRelation::Same | LayoutRelation::Leaf | LayoutRelation::Broadcast
            );
            if by_element && region_count(op) == 0 { 0 } else { results(op).map(of).sum() }
        };
        let mut last: FxHashMap<usize, usize> = FxHashMap::default();
        for (place, op) in self.ops().enumerate() {
            last.extend(operands(op).map(|v| (key(v), place)));
        }
        let (mut now, mut most, mut ends) = (0, 0, vec![0; self.steps.len() + 1]);
        for (place, (op, outside)) in self.placed().enumerate() {
            // An element-wise result keeps its inputs live to the end.
            let end = if weak_load(op).is_some() { None } else { results(op).filter_map(|v| last.get(&key(v))).max() };
            let weight = held(op);
            now += weight;
            most = most.max(now);
            if outside == 0 {
                ends[end.copied().unwrap_or(self.steps.len())] += weight;
            }
            now -= ends[place];
        }
        u32::try_from(most.max(if copied { 0 } else { of(self.tile) })).unwrap_or(u32::MAX)
    }
}

impl<'c> Carried<'c> {
    fn of(v: Val<'c>) -> Option<Self> {
        let block = owner_of(v);
        let around = parent_of_block(block).filter(|o| Scf::of(*o) == Some(Scf::For))?;
        let i = args(block).position(|a| a == v)?.checked_sub(1)?;
        let next = defining_op(operand(ops_of(block).last()?, i))?;
        let adds = nv_tileaa::AddPtrOp::cast(next).is_some() || Arith::of(next) == Some(Arith::AddI);
        // The yielded value may come from any op, with any number of operands.
        let [a, b] = adds.then(|| [operand(next, 0), operand(next, 1)])?;
        let by = if a == v { b } else { a };
        let comes_from_outside = |v: Val<'c>| {
            let place = defining_op(v).or_else(|| parent_of_block(owner_of(v)));
            !std::iter::successors(place, |o| parent_op(*o)).any(|o| o == around)
        };
        let is_step = Tensor::of_value(by).is_some_and(|t| is_integer(t.element));
        let found = (a == v || b == v) && is_step && comes_from_outside(by);
        found.then(|| Self { around, inside: v, first: operand(around, 3 + i), by })
    }

    /// Writes the value in an iteration: the first value plus the step times the number of preceding iterations.
    fn write(&self, b: &Builder<'c>, map: &FxHashMap<usize, Val<'c>>) -> Result<Val<'c>, BuildError> {
        let of = |v: Val<'c>| mapped(map, v);
        let (first, by) = (of(self.first), of(self.by));
        b.set_location(self.around.location());
        let counter = arg(entry_block(region(self.around, 0)).expect("a loop has a body"), 0);
        let (lower, step) = (operand(self.around, 0), operand(self.around, 2));
        let number = b.divui(b.subi(counter, lower), step);
        let step = Tensor::of_value(by).expect("a tensor");
        let is_pointer = Tensor::of_value(first).is_some_and(|t| !is_integer(t.element));
        // Offsets of pointers may exceed 32 bits. Integers wrap around as in stepwise addition.
        let wide: Type<'c> = if is_pointer { IntegerType::new(b.context(), 64).into() } else { step.element };
        let t = tensor_type(&step.shape, wide, None);
        let number = nv_tileaa::SplatOp::build(b, t, b.resized(number, wide, true))?.result();
        let all = b.muli(number, b.resized(by, t, false));
        if is_pointer {
            return nv_tileaa::AddPtrOp::build(b, ty(first), first, all).map(|x| x.result());
        }
        Ok(b.addi(first, all))
    }
}

/// The access plan of a weak load of a tensor, and whether the load is through pointers.
fn access_of_load(op: OpRef<'_>, facts: &Facts) -> Option<(AccessPlan, bool)> {
    weak_load(op)?;
    if let Some(load) = nv_tileaa::TiledLoadOp::cast(op) {
        let indices: Vec<Val<'_>> = load.indices().collect();
        let view = View::of(load.view())?;
        return Some((tiled_access(facts, &view, &indices, &places(op)), false));
    }
    let load = nv_tileaa::LoadOp::cast(op)?;
    Tensor::of_value(load.ptr())?;
    Some((pointer_access(facts, load.ptr(), load.mask()), true))
}

/// The least bytes of a tile that is worth a ring, if warps compute an operand from it.
const LARGE: u64 = 2048;
/// Instructions per load instruction: address, bounds, load.
const LOAD: u64 = 10;
/// Instructions per element of a math function or division.
const SLOW: u64 = 12;
/// The cost of a conversion: a quarter of the lanes convert one element per clock.
const CONVERSION: u64 = 4;

fn bits_of(t: &Tensor<'_>) -> u64 {
    t.elements().unsigned_abs() * u64::from(storage_bits(t.element))
}

/// Copies the attributes that say where and how a load may run to the op that replaces it.
pub fn keep_place<'c>(from: OpRef<'c>, to: OpRef<'c>) {
    OUTSIDE.copy(from, to);
    STAGED.copy(from, to);
    OWN_STAGES.copy(from, to);
    MAY_BE_OUTSIDE.copy(from, to);
}

/// Whether a load may leave a loop around it.
pub fn may_leave_loops(op: OpRef<'_>) -> bool {
    OUTSIDE.is_on(op)
}

/// Hoists loads, with the computation of their addresses, out of the loops that they may leave. Called once `program`
/// is in the loops of a producer.
pub fn leave_loops(program: Blk<'_>) {
    let mut found = vec![];
    for op in ops_of(program) {
        walk(op, &mut |o| {
            found.extend(OUTSIDE.take(o).map(|outside| (o, outside)));
        });
    }
    for (load, outside) in found {
        for _ in 0..outside {
            let Some(around) = loops_around(load).next() else { break };
            let Some(slice) = invariant(load, around) else { break };
            slice.into_iter().for_each(|op| move_before(op, around));
        }
    }
}

/// The ops in a loop on which `load` depends, and `load`, in program order. Returns `None` if one of them is not
/// loop-invariant or cannot be hoisted.
fn invariant<'c>(load: OpRef<'c>, around: OpRef<'c>) -> Option<Vec<OpRef<'c>>> {
    let body = entry_block(region(around, 0)).filter(|body| block_of(load) == block_key(*body))?;
    let (mut needed, mut work) = (FxHashSet::default(), vec![load]);
    while let Some(op) = work.pop() {
        if !needed.insert(op_key(op)) {
            continue;
        }
        if op != load && (region_count(op) > 0 || !behaviour::is_pure(op)) {
            return None;
        }
        for v in operands(op).filter(|v| home_of(*v) == block_key(body)) {
            work.push(defining_op(v)?);
        }
    }
    Some(ops_of(body).filter(|op| needed.contains(&op_key(*op))).collect())
}

struct Search<'c> {
    dot: OpRef<'c>,
    function: OpRef<'c>,
    /// Loops around the dot.
    depth: usize,
    /// Whether a value is a tensor or computed from tensors; `None` while this is being determined.
    of: FxHashMap<usize, Option<bool>>,
    /// The ops and loop-carried values that are steps already.
    found: FxHashSet<usize>,
}

impl<'c> Search<'c> {
    /// Adds the steps that compute `v`, as far as `v` depends on tensors.
    fn follow(&mut self, v: Val<'c>, steps: &mut Vec<ProgramStep<'c>>) -> Result<(), (OpRef<'c>, String)> {
        if !self.comes_from_tensors(v) {
            return Ok(());
        }
        let Some(op) = defining_op(v) else {
            if self.found.contains(&key(v)) {
                return Ok(());
            }
            let not = || {
                (
                    self.dot,
                    "it depends on a loop-carried tensor that does not advance by a loop-invariant step".to_string(),
                )
            };
            let carried = Carried::of(v).ok_or_else(not)?;
            self.follow(carried.first, steps)?;
            self.follow(carried.by, steps)?;
            self.found.insert(key(v));
            steps.push(ProgramStep::Carried(carried));
            return Ok(());
        };
        if self.found.contains(&op_key(op)) {
            return Ok(());
        }
        self.check(op)?;
        for o in operands(op).filter(|o| MemTokenType::cast(ty(*o)).is_none()) {
            self.follow(o, steps)?;
        }
        self.found.insert(op_key(op));
        steps.push(ProgramStep::Op(op, self.depth.saturating_sub(loops_around(op).count())));
        Ok(())
    }

    fn comes_from_tensors(&mut self, v: Val<'c>) -> bool {
        if Tensor::of_value(v).is_some() {
            return true;
        }
        match self.of.get(&key(v)) {
            Some(known) => return known.unwrap_or(false),
            None => self.of.insert(key(v), None),
        };
        // Results of loops and branches count as scalars.
        let op = defining_op(v).filter(|op| Scf::of(*op).is_none() && MemTokenType::cast(ty(v)).is_none());
        let found = op.is_some_and(|op| operands(op).any(|o| self.comes_from_tensors(o)));
        self.of.insert(key(v), Some(found));
        found
    }

    fn check(&self, op: OpRef<'c>) -> Result<(), (OpRef<'c>, String)> {
        if let Some(load) = weak_load(op) {
            if !load.token.is_none_or(|token| is_free(token, self.function)) {
                return Err((op, "the load is ordered after another access".into()));
            }
            if !is_over_for_others(load.result_token, self.dot) {
                return Err((op, "other accesses are ordered after the load".into()));
            }
            return Ok(());
        }
        let folds = ReduceOp::cast(op).is_some() || ScanOp::cast(op).is_some();
        let no_effects = behaviour::effects(op).is_some_and(|list| list.is_empty());
        let multiplies = behaviour::layout_relation(op) == LayoutRelation::Dot;
        if region_count(op) > 0 && !folds || !no_effects || multiplies {
            return Err((op, format!("producer warps cannot run '{}'", op_name(op))));
        }
        Ok(())
    }
}

/// A load that only tokens order.
struct WeakLoad<'c> {
    token: Option<Val<'c>>,
    result_token: Val<'c>,
}

fn weak_load(op: OpRef<'_>) -> Option<WeakLoad<'_>> {
    let (ordering, token, result_token) = if let Some(x) = nv_tileaa::TiledLoadOp::cast(op) {
        (x.ordering(), x.token(), x.result_token())
    } else if let Some(x) = nv_tileaa::LoadOp::cast(op) {
        (x.ordering(), x.token(), x.result_token())
    } else if let Some(x) = nv_tileaa::GatherLoadOp::cast(op) {
        (x.ordering(), x.token(), x.result_token())
    } else if let Some(x) = nv_tileas::TiledLoadOp::cast(op) {
        (x.ordering(), x.token(), x.result_token())
    } else {
        let x = nv_tileas::LoadOp::cast(op)?;
        (x.ordering(), x.token(), x.result_token())
    };
    (ordering == Ordering::Weak).then_some(WeakLoad { token, result_token })
}

/// Whether an op is a weak load with a new input token, or none, and an unused result token.
pub fn is_unordered_load(op: OpRef<'_>) -> bool {
    let is_new = |token| defining_op(token).is_some_and(|op| CreateMemTokenOp::cast(op).is_some());
    weak_load(op).is_some_and(|load| load.token.is_none_or(is_new) && !has_uses(load.result_token))
}

/// Whether several agents may each execute a load: it is ordered only after accesses that [`is_free`] allows, and
/// only other such loads are ordered after it.
pub fn may_be_repeated<'c>(load: OpRef<'c>, function: OpRef<'c>) -> bool {
    let Some(first) = weak_load(load) else { return false };
    if !first.token.is_none_or(|token| is_free(token, function)) {
        return false;
    }
    let (mut work, mut seen) = (vec![first.result_token], FxHashSet::default());
    while let Some(token) = work.pop() {
        let Some(users) = tokens::users(token) else { return false };
        for user in users.into_iter().filter(|user| seen.insert(op_key(user.op))) {
            let Some(load) = weak_load(user.op) else { return false };
            work.push(load.result_token);
        }
    }
    true
}

/// Whether a token orders a load only after preceding grids, by a wait at the top level of the function, which every
/// agent executes. Weak loads are not ordered with each other.
pub fn is_free<'c>(token: Val<'c>, function: OpRef<'c>) -> bool {
    let (mut work, mut seen) = (vec![token], FxHashSet::default());
    while let Some(token) = work.pop() {
        let Some(sources) = tokens::sources(token) else { return false };
        for op in sources.into_iter().filter(|op| seen.insert(op_key(*op))) {
            if CreateMemTokenOp::cast(op).is_some() {
                continue;
            }
            if let Some(wait) = WaitForGridsOp::cast(op).filter(|_| parent_op(op) == Some(function)) {
                work.extend(wait.token());
            } else if let Some(load) = weak_load(op) {
                work.extend(load.token);
            } else {
                return false;
            }
        }
    }
    true
}

/// Whether all accesses that are ordered after a load with this token follow the start of `dot`, which depends on the
/// load.
pub fn is_over_for_others<'c>(token: Val<'c>, dot: OpRef<'c>) -> bool {
    let (mut work, mut seen) = (vec![token], FxHashSet::default());
    while let Some(token) = work.pop() {
        let Some(users) = tokens::users(token) else { return false };
        for user in users.into_iter().filter(|user| !user.carried && seen.insert(op_key(user.op))) {
            match weak_load(user.op) {
                Some(load) => work.push(load.result_token),
                None if !follows(user.op, dot) => return false,
                None => {}
            }
        }
    }
    true
}

/// Whether `op` follows `dot` in each iteration of the loops that contain both.
fn follows<'c>(op: OpRef<'c>, dot: OpRef<'c>) -> bool {
    let outwards = |o| std::iter::successors(Some(o), |o| parent_op(*o));
    // The innermost block that contains both.
    let pair = outwards(dot).find_map(|d| outwards(op).find(|o| block_of(*o) == block_of(d)).map(|o| (o, d)));
    let Some((op, dot)) = pair.filter(|(op, dot)| op != dot) else { return false };
    block_around(dot).is_some_and(|block| ops_of(block).take_while(|o| *o != op).any(|o| o == dot))
}

/// How producer warps compute an operand.
#[derive(Clone, Copy)]
pub struct Mark {
    /// The dimension along which the operand is contiguous in its stage.
    pub fast: usize,
    /// Whether TMA loads the operand instead if `tma_ready` holds at run time.
    pub or_copy: bool,
    /// Whether warps of the converter compute it from tiles in stages, and store it to tensor memory.
    pub converted: bool,
}

impl Mark {
    /// Warps of the producer compute the operand.
    pub fn new(fast: usize, or_copy: bool) -> Self {
        Self { fast, or_copy, converted: false }
    }
}

/// Marks the producer-computed operands of a dot, by operand number.
pub fn mark(dot: OpRef<'_>, marks: &[Option<Mark>]) {
    PRODUCER_COMPUTED.set(dot, marks.iter().map(|m| m.map_or(-1, |m| m.fast as i64)).collect());
    let or_copied: Vec<i64> = (0..).zip(marks).filter(|(_, m)| m.is_some_and(|m| m.or_copy)).map(|(i, _)| i).collect();
    if !or_copied.is_empty() {
        OR_COPIED.set(dot, or_copied);
    }
    let converted: Vec<i64> =
        (0..).zip(marks).filter(|(_, m)| m.is_some_and(|m| m.converted)).map(|(i, _)| i).collect();
    if !converted.is_empty() {
        CONVERTED.set(dot, converted);
    }
}

/// Removes and returns the marks.
pub fn take_mark(dot: OpRef<'_>) -> Option<Vec<Option<Mark>>> {
    let fast = PRODUCER_COMPUTED.take(dot)?;
    let [or_copied, converted] = [OR_COPIED, CONVERTED].map(|key| key.take(dot).unwrap_or_default());
    let of = |(i, fast): (i64, &i64)| {
        let fast = usize::try_from(*fast).ok()?;
        Some(Mark { fast, or_copy: or_copied.contains(&i), converted: converted.contains(&i) })
    };
    Some((0..).zip(&fast).map(of).collect())
}
