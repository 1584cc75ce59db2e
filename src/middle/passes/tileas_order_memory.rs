//! `tileas-order-memory` inserts barriers where tokens order accesses of different threads.
//!
//! Within a thread, program order suffices. Between threads of a CTA, a token means that the access it comes from is
//! done: if a later access touches bytes that another thread wrote (or writes bytes that another thread read), the
//! threads must synchronize in between. The bytes that a thread touches depend on layouts and addresses, and kernel
//! arguments may alias. The pass therefore assumes that any two accesses conflict if one of them writes.
//!
//! Updates in place are an exception. A load and a store of the same tile of the same view in the same layout touch
//! each element in the same thread, and program order suffices. This requires that elements are known to be distinct
//! in memory and that no thread holds a copy of another thread's element. It does not hold across loop iterations,
//! where the same indices denote another tile.
//!
//! Ordered accesses to global memory are ordered for the thread that executes them; barriers extend the order to the
//! CTA:
//!
//! * *Acquire.* One thread has observed a release by another CTA. Any access that a token orders after it needs a
//!   barrier, even a read; after the barrier the other threads observe the release too.
//! * *Release.* One thread publishes the CTA's earlier accesses. All of them must be complete, including reads, so a
//!   barrier precedes it. The thread's release covers the accesses that it observed at the barrier.
//!
//! For example, a lock that four warps hold together, with a star for accesses by one thread:
//!
//! ```text
//! cas* acquire   barrier   load, store   barrier   xchg* release
//! ```
//!
//! Accesses that only the first thread executes (a scalar store, an update of one element) are ordered among
//! themselves.
//!
//! The walk tracks, for every token, the accesses it covers that no barrier has settled yet. A barrier, inserted or
//! already present, settles all of them. Branches are joined, and loops are iterated to a fixed point. To bound the
//! work, the walk tracks only live tokens: it drops a token after its last use, so branches copy few tokens. A loop
//! is walked with only the tokens used inside it, and a loop that is reached again in the same state reuses its
//! earlier result. Otherwise the cost would be quadratic in the length of a program, and cubic or exponential for
//! nested loops.
//!
//! Finally, the pass weakens orders that cannot be observed. An update with unused token and result does not have an
//! acquire effect. A release whose token does not cover any access publishes nothing.

use crate::dialect::{
    attributes::REUSE,
    layouts::Tensor,
    nv_tileaa::{self, JoinMemTokenOp, MemTokenType, Ordering, StridedMemRefType, TiledViewType},
    nv_tileas::{AnyOp, BarrierOp, ExternCallOp, PrintOp},
    pass::{Failed, PassContext, RustPass, descriptors, fail},
    rt::*,
    thread_scope::ThreadScope,
    upstream::{Arith, Scf},
};
use crate::pass_descriptor;
use melior::Context;
use rustc_hash::{FxHashMap, FxHashSet};
use tile_layout::Layout;

#[derive(Clone, Default)]
pub struct OrderMemory;

impl RustPass for OrderMemory {
    pass_descriptor!(tileas_order_memory);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, pass: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_order_memory::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let Some(body) = entry_block(function.body()) else { continue };
            let (last_used, reach_into) = (last_used(function.op()), reach_into(function.op()));
            let mut order = Order { last_used, reach_into, ..Order::default() };
            order.block(body, &mut TokenUses::default());
            for &op in &order.barriers {
                let b = Builder::before(context, op);
                BarrierOp::build(&b, None, None).map_err(|e| fail(op, e.to_string()))?;
            }
            order.weaken(context);
            pass.stat_add(stat::NUM_BARRIERS, order.barriers.len() as i64);
            pass.stat_add(stat::NUM_WALKS, order.walks);
        }
        Ok(())
    }
}

/// Whether the op orders accesses with accesses outside the grid, for each thread separately.
fn is_token_order(op: OpRef<'_>) -> bool {
    use nv_tileaa::AnyOp::*;
    matches!(nv_tileaa::AnyOp::cast(op), Some(LaunchDependentsOp(_) | WaitForGridsOp(_) | FenceAliasOp(_)))
}

/// A set of access kinds; accesses by the first thread alone are kept separate from the others.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Kinds(u8);
const READ: Kinds = Kinds(1);
const WRITE: Kinds = Kinds(2);
/// Accesses that acquired for the thread that executed them.
const ACQUIRE: Kinds = Kinds(4);

impl Kinds {
    fn join(self, other: Self) -> Self {
        Kinds(self.0 | other.0)
    }
    fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    /// Returns the same kinds, executed by the first thread alone.
    fn of_first(self) -> Self {
        Kinds(self.0 << 4)
    }
    /// Returns the kinds that threads other than the first took part in.
    fn of_others(self) -> Self {
        Kinds(self.0 & 15)
    }
    fn of_all(self) -> Self {
        Kinds((self.0 | self.0 >> 4) & 15)
    }
}

/// The location of accesses: the number of one [`TileAccess`], or several.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Where {
    #[default]
    Nowhere,
    At(usize),
    Anywhere,
}

impl Where {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Where::Nowhere, x) | (x, Where::Nowhere) => x,
            (x, y) if x == y => x,
            _ => Where::Anywhere,
        }
    }
}

/// A tile of a view, and the distribution of its elements over threads.
#[derive(PartialEq, Eq, Hash)]
struct TileAccess {
    view: usize,
    indices: Vec<usize>,
    layout: Layout,
}

impl TileAccess {
    /// Returns `None` unless each element is known to be accessed by one thread and to be distinct from all others.
    fn of<'c>(view: Val<'c>, indices: impl Iterator<Item = Val<'c>>, moved: Val<'c>) -> Option<TileAccess> {
        let layout = Tensor::of_value(moved)?.layout()?;
        let free = layout.free_variables();
        let shared = free.lane != 0 || free.warp != 0 || !layout.block().is_empty();
        let view_type = TiledViewType::cast(ty(view))?;
        if shared || view_type.sparse_dim().is_some() || !elements_are_apart(&view_type)? {
            return None;
        }
        Some(TileAccess { view: key(view), indices: indices.map(key).collect(), layout })
    }
}

/// Whether all elements of a tile are at distinct addresses.
fn elements_are_apart(view: &TiledViewType<'_>) -> Option<bool> {
    let memref = StridedMemRefType::cast(view.memref())?;
    let along = view.tile().iter().zip(view.dim_map()).filter(|(extent, _)| **extent > 1);
    let mut steps: Vec<(i64, i64)> = along.map(|(extent, d)| (memref.strides()[*d as usize], *extent)).collect();
    steps.sort();
    let mut reach = 0i64;
    for (stride, extent) in steps {
        // Dynamic strides are encoded as the smallest number.
        if stride <= reach {
            return Some(false);
        }
        reach = stride.checked_mul(extent - 1)?.checked_add(reach)?;
    }
    Some(true)
}

/// The accesses that a token covers.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Behind {
    /// Accesses that no barrier has settled, and their location.
    open: Kinds,
    place: Where,
    /// Whether the token covers any access, settled or not.
    any: bool,
}

impl Behind {
    fn join(self, other: Self) -> Self {
        let place = self.place.join(other.place);
        Behind { open: self.open.join(other.open), place, any: self.any || other.any }
    }

    /// Returns the value as seen from another iteration.
    fn elsewhere(self) -> Self {
        let place = if self.place == Where::Nowhere { Where::Nowhere } else { Where::Anywhere };
        Behind { place, ..self }
    }
}

fn is_token(v: Val<'_>) -> bool {
    MemTokenType::cast(ty(v)).is_some()
}

/// The accesses covered by each token that is still live at one point of the program.
#[derive(Clone, Default, PartialEq)]
struct TokenUses(FxHashMap<usize, Behind>);

impl TokenUses {
    fn behind(&self, token: Val<'_>) -> Behind {
        self.0.get(&key(token)).copied().unwrap_or_default()
    }
    fn set(&mut self, token: Val<'_>, behind: Behind) {
        if is_token(token) && has_uses(token) {
            self.0.insert(key(token), behind);
        }
    }
    fn barrier(&mut self) {
        self.0.values_mut().for_each(|b| (b.open, b.place) = Default::default());
    }
    fn join(&mut self, other: &TokenUses) {
        for (&token, &behind) in &other.0 {
            let here = self.0.entry(token).or_default();
            *here = here.join(behind);
        }
    }
    /// Joins the accesses of each source token, taken from `from`, into its target token.
    fn carry<'c>(&mut self, from: &TokenUses, pairs: impl Iterator<Item = (Val<'c>, Val<'c>)>) {
        for (source, target) in pairs {
            let behind = self.behind(target).join(from.behind(source).elsewhere());
            self.set(target, behind);
        }
    }
}

#[derive(Default)]
struct Order<'c> {
    /// Ops that need a barrier before them, in the order of discovery, and by key.
    barriers: Vec<OpRef<'c>>,
    needed: FxHashSet<usize>,
    /// Ordered accesses in program order, and the accesses that their tokens cover.
    ordered: Vec<OpRef<'c>>,
    found: FxHashMap<usize, Behind>,
    /// The tokens that are last used by each op.
    last_used: FxHashMap<usize, Vec<usize>>,
    /// The tokens from outside each loop that its body uses.
    reach_into: FxHashMap<usize, FxHashSet<usize>>,
    /// The places of accesses, by number.
    places: FxHashMap<TileAccess, usize>,
    /// Cached results of walking each loop, valid for the number of barriers at the time.
    loops: FxHashMap<usize, Walked>,
    /// How often a loop body was walked.
    walks: i64,
}

/// The input and output states of a loop that has been walked.
#[derive(Default)]
struct Walked {
    barriers: usize,
    cases: Vec<(TokenUses, TokenUses)>,
}

/// Maps each op to the tokens of its block that it is the last to use, directly or in a region.
fn last_used(function: OpRef<'_>) -> FxHashMap<usize, Vec<usize>> {
    let mut last = FxHashMap::default();
    let mut tokens = vec![];
    walk(function, &mut |op| {
        for token in operands(op).filter(|v| is_token(*v)) {
            let (home, mut user) = (home_of(token), op);
            while block_of(user) != home {
                let Some(outer) = parent_op(user) else { return };
                user = outer;
            }
            if last.insert(key(token), op_key(user)).is_none() {
                tokens.push(key(token));
            }
        }
    });
    let mut by_user: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for token in tokens {
        by_user.entry(last[&token]).or_default().push(token);
    }
    by_user
}

/// Returns the tokens from outside each loop that its body uses.
fn reach_into(function: OpRef<'_>) -> FxHashMap<usize, FxHashSet<usize>> {
    let mut reached: FxHashMap<usize, FxHashSet<usize>> = FxHashMap::default();
    walk(function, &mut |op| {
        for token in operands(op).filter(|v| is_token(*v)) {
            let (home, mut inner) = (home_of(token), op);
            while block_of(inner) != home {
                let Some(outer) = parent_op(inner) else { return };
                reached.entry(op_key(outer)).or_default().insert(key(token));
                inner = outer;
            }
        }
    });
    reached
}

/// A global memory access.
struct GlobalAccess<'c> {
    token: Option<Val<'c>>,
    out: Val<'c>,
    kinds: Kinds,
    releases: bool,
    /// Whether only the first thread executes it.
    first: bool,
    /// Its location, if known and if the access is weak.
    place: Option<TileAccess>,
}

impl<'c> GlobalAccess<'c> {
    fn of(op: OpRef<'c>) -> Option<Self> {
        use AnyOp::*;
        let (token, out, ordering, kinds, moved) = match AnyOp::cast(op)? {
            TiledLoadOp(x) => (x.token(), x.result_token(), x.ordering(), READ, x.result()),
            TiledStoreOp(x) => (x.token(), x.result_token(), x.ordering(), WRITE, x.value()),
            TiledAtomicRmwOp(x) => (x.token(), x.result_token(), x.ordering(), WRITE, x.value()),
            MultimemLoadReduceOp(x) => {
                // Owners execute it, even if it is weak.
                let owned = first_owns(x.result());
                return Some(Self::new(x.token(), x.result_token(), x.ordering(), READ, owned));
            }
            MultimemReduceOp(x) => (x.token(), x.result_token(), x.ordering(), WRITE, x.value()),
            MultimemStoreOp(x) => (x.token(), x.result_token(), x.ordering(), WRITE, x.value()),
            LoadOp(x) => (x.token(), x.result_token(), x.ordering(), READ, x.ptr()),
            StoreOp(x) => (x.token(), x.result_token(), x.ordering(), WRITE, x.ptr()),
            AsyncTiledLoadOp(x) => (x.token(), x.result_token(), Ordering::Weak, READ, x.dest()),
            AsyncLoadOp(x) => (x.token(), x.result_token(), Ordering::Weak, READ, x.ptr()),
            AtomicRmwOp(x) => (x.token(), x.result_token(), x.ordering(), WRITE, x.ptr()),
            AtomicCasOp(x) => (x.token(), x.result_token(), x.ordering(), WRITE, x.ptr()),
            _ => return None,
        };
        // Every thread that needs the value executes a weak load; owners execute all other accesses.
        let owned = kinds == WRITE || ordering != Ordering::Weak;
        let place = match AnyOp::cast(op)? {
            TiledLoadOp(x) => TileAccess::of(x.view(), x.indices(), moved),
            TiledStoreOp(x) => TileAccess::of(x.view(), x.indices(), moved),
            _ => None,
        };
        let place = place.filter(|_| ordering == Ordering::Weak);
        Some(GlobalAccess { place, ..Self::new(token, out, ordering, kinds, owned && first_owns(moved)) })
    }

    fn new(token: Option<Val<'c>>, out: Val<'c>, ordering: Ordering, kinds: Kinds, first: bool) -> Self {
        let acquires = matches!(ordering, Ordering::Acquire | Ordering::AcqRel);
        let releases = matches!(ordering, Ordering::Release | Ordering::AcqRel);
        let kinds = if acquires { kinds.join(ACQUIRE) } else { kinds };
        GlobalAccess { token, out, kinds, releases, first, place: None }
    }

    /// Whether a barrier is required between the open accesses and this access.
    fn conflicts(&self, open: Kinds) -> bool {
        let open = if self.first { open.of_others() } else { open.of_all() };
        open.meets(WRITE.join(ACQUIRE)) || open.meets(READ) && (self.kinds.meets(WRITE) || self.releases)
    }
}

/// Whether the first thread owns every element.
fn first_owns(moved: Val<'_>) -> bool {
    let Some(tensor) = Tensor::of_value(moved) else { return true };
    tensor.layout().is_some_and(|l| {
        let free = l.free_variables();
        free.lane.count_ones() as usize == l.lane().len() && free.warp.count_ones() as usize == l.warp().len()
    })
}

impl<'c> Order<'c> {
    fn block(&mut self, block: Blk<'c>, state: &mut TokenUses) {
        let mut ops = ops_of(block).peekable();
        while let Some(op) = ops.next() {
            self.op(op, state);
            // The terminator's operands are carried on; see `leave`.
            if ops.peek().is_some() {
                self.forget(op, state);
            }
        }
    }

    /// Drops the tokens that are not used after an op.
    fn forget(&self, op: OpRef<'c>, state: &mut TokenUses) {
        self.last_used.get(&op_key(op)).into_iter().flatten().for_each(|token| {
            state.0.remove(token);
        });
    }

    /// Drops the tokens of a block at its end: its arguments, and the operands of its terminator.
    fn leave(&self, block: Blk<'c>, state: &mut TokenUses) {
        args(block).for_each(|a| {
            state.0.remove(&key(a));
        });
        if let Some(terminator) = ops_of(block).last() {
            self.forget(terminator, state);
        }
    }

    /// Walks a loop, unless it was already walked in the same state. Tokens that are not used inside are set aside. A
    /// pseudo token, keyed by the loop itself, records whether the loop settles them.
    fn cyclic(&mut self, op: OpRef<'c>, state: &mut TokenUses, walk: impl FnOnce(&mut Self, &mut TokenUses)) {
        let mut wanted = self.reach_into.get(&op_key(op)).cloned().unwrap_or_default();
        wanted.extend(operands(op).map(key));
        let (mut inside, mut aside): (FxHashMap<_, _>, FxHashMap<_, _>) =
            state.0.drain().partition(|(token, _)| wanted.contains(token));
        inside.insert(op_key(op), Behind { open: READ, place: Where::Anywhere, any: true });
        let before = TokenUses(inside);
        let mut after = self.walked(op, before, walk);
        if after.0.remove(&op_key(op)).is_some_and(|own| own.open == Kinds::default()) {
            let mut settled = TokenUses(aside);
            settled.barrier();
            aside = settled.0;
        }
        after.0.extend(aside);
        *state = after;
    }

    fn walked(&mut self, op: OpRef<'c>, before: TokenUses, walk: impl FnOnce(&mut Self, &mut TokenUses)) -> TokenUses {
        let barriers = self.barriers.len();
        let known = self.loops.get(&op_key(op)).filter(|w| w.barriers == barriers);
        if let Some((_, after)) = known.and_then(|w| w.cases.iter().find(|(b, _)| *b == before)) {
            return after.clone();
        }
        let mut after = before.clone();
        walk(self, &mut after);
        let barriers = self.barriers.len();
        let walked = self.loops.entry(op_key(op)).or_default();
        if walked.barriers != barriers {
            *walked = Walked { barriers, cases: vec![] };
        }
        walked.cases.push((before, after.clone()));
        after
    }

    fn op(&mut self, op: OpRef<'c>, state: &mut TokenUses) {
        match Scf::of(op) {
            Some(Scf::For) => return self.cyclic(op, state, |this, state| this.for_loop(op, state)),
            Some(Scf::While) => return self.cyclic(op, state, |this, state| this.while_loop(op, state)),
            Some(Scf::If) => return self.branch(op, state),
            _ => {}
        }
        if ThreadScope::of_region(op, 0).is_some_and(|s| s.is_concurrent) {
            return self.agents(op, state);
        }
        if JoinMemTokenOp::cast(op).is_some() || Arith::of(op) == Some(Arith::Select) {
            let all = operands(op).map(|v| state.behind(v)).fold(Behind::default(), Behind::join);
            state.set(result(op, 0), all);
        } else if BarrierOp::cast(op).is_some() {
            // A barrier that only guards the reuse of shared storage may be removed later, so it cannot be relied
            // upon.
            if !REUSE.is_on(op) {
                state.barrier();
            }
        } else if is_token_order(op) {
            // Each thread orders its own accesses; accesses of other threads still need a barrier.
            let behind = operands(op).next().map(|t| state.behind(t)).unwrap_or_default();
            state.set(result(op, 0), behind);
        } else if let Some(call) = ExternCallOp::cast(op) {
            // Barriers precede and follow the call, so its accesses are ordered like those of one thread.
            state.barrier();
            let behind = call.token().map(|t| state.behind(t)).unwrap_or_default();
            state.set(call.result_token(), behind);
        } else if let Some(print) = PrintOp::cast(op) {
            if print.scratch().len() > 0 {
                state.barrier();
            }
            let behind = print.token().map(|t| state.behind(t)).unwrap_or_default();
            state.set(print.result_token(), behind);
        } else {
            self.access(op, state);
        }
    }

    fn access(&mut self, op: OpRef<'c>, state: &mut TokenUses) {
        let Some(mut access) = GlobalAccess::of(op) else { return };
        let next = self.places.len();
        let place = access.place.take().map_or(Where::Anywhere, |p| Where::At(*self.places.entry(p).or_insert(next)));
        let behind = |state: &TokenUses| access.token.map(|t| state.behind(t)).unwrap_or_default();
        let before = behind(state);
        if !self.found.contains_key(&op_key(op)) {
            self.ordered.push(op);
        }
        let found = self.found.entry(op_key(op)).or_default();
        *found = found.join(before);
        let in_place = matches!(place, Where::At(_)) && before.place == place;
        if !in_place && access.conflicts(before.open) && self.needed.insert(op_key(op)) {
            self.barriers.push(op);
        }
        if self.needed.contains(&op_key(op)) {
            state.barrier();
        }
        let kinds = if access.first { access.kinds.of_first() } else { access.kinds };
        let mine = Behind { open: kinds, place, any: true };
        let after = behind(state).join(mine);
        state.set(access.out, after);
    }

    fn branch(&mut self, op: OpRef<'c>, state: &mut TokenUses) {
        let before = state.clone();
        let mut after: Option<TokenUses> = None;
        for i in 0..2 {
            let mut inside = before.clone();
            if let Some(block) = entry_block(region(op, i)) {
                self.block(block, &mut inside);
                if let Some(y) = ops_of(block).last() {
                    let known = inside.clone();
                    inside.carry(&known, operands(y).zip(results(op)));
                }
                self.leave(block, &mut inside);
            }
            match &mut after {
                Some(after) => after.join(&inside),
                None => after = Some(inside),
            }
        }
        *state = after.unwrap_or(before);
    }

    /// Handles the programs of agents. Barriers in an agent only synchronize its own threads, so earlier accesses of
    /// all threads are settled before the agents if one of their tokens is used in an agent.
    fn agents(&mut self, op: OpRef<'c>, state: &mut TokenUses) {
        let mut open = false;
        walk(op, &mut |inner| {
            open |= operands(inner).any(|v| state.behind(v).open != Kinds::default());
        });
        if open && self.needed.insert(op_key(op)) {
            self.barriers.push(op);
        }
        if self.needed.contains(&op_key(op)) {
            state.barrier();
        }
        let before = state.clone();
        for i in 0..region_count(op) {
            let Some(block) = entry_block(region(op, i)) else { continue };
            let mut inside = before.clone();
            self.block(block, &mut inside);
            self.leave(block, &mut inside);
            state.join(&inside);
        }
    }

    /// Iterates `once`, which maps the state at a loop's head to the state at its back edge, until the state and the
    /// barriers do not change. Returns the state at the head.
    fn fix_point(
        &mut self,
        mut head: TokenUses,
        mut once: impl FnMut(&mut Self, &TokenUses) -> TokenUses,
    ) -> TokenUses {
        loop {
            let barriers = self.barriers.len();
            self.walks += 1;
            let back = once(self, &head);
            let mut next = head.clone();
            next.join(&back);
            if next == head && barriers == self.barriers.len() {
                return head;
            }
            head = next;
        }
    }

    fn for_loop(&mut self, op: OpRef<'c>, state: &mut TokenUses) {
        let Some(body) = entry_block(region(op, 0)) else { return };
        let mut head = state.clone();
        head.carry(state, operands(op).skip(3).zip(args(body).skip(1)));
        let head = self.fix_point(head, |this, head| {
            let mut inside = head.clone();
            this.block(body, &mut inside);
            let mut back = inside.clone();
            if let Some(y) = ops_of(body).last() {
                this.forget(y, &mut back);
                args(body).skip(1).for_each(|a| back.set(a, Behind::default()));
                back.carry(&inside, operands(y).zip(args(body).skip(1)));
            }
            back
        });
        *state = head.clone();
        state.carry(&head, args(body).skip(1).zip(results(op)));
        self.leave(body, state);
    }

    fn while_loop(&mut self, op: OpRef<'c>, state: &mut TokenUses) {
        let (Some(before), Some(after)) = (entry_block(region(op, 0)), entry_block(region(op, 1))) else { return };
        let mut head = state.clone();
        head.carry(state, operands(op).zip(args(before)));
        // The loop exits after its first region, which computes the condition.
        let mut left = TokenUses::default();
        self.fix_point(head, |this, head| {
            let mut inside = head.clone();
            this.block(before, &mut inside);
            let known = inside.clone();
            if let Some(c) = ops_of(before).last() {
                inside.carry(&known, operands(c).skip(1).zip(results(op)));
                this.forget(c, &mut inside);
                left = inside.clone();
                args(after).for_each(|a| inside.set(a, Behind::default()));
                inside.carry(&known, operands(c).skip(1).zip(args(after)));
            }
            this.block(after, &mut inside);
            let mut back = inside.clone();
            if let Some(y) = ops_of(after).last() {
                this.forget(y, &mut back);
                args(before).for_each(|a| back.set(a, Behind::default()));
                back.carry(&inside, operands(y).zip(args(before)));
            }
            back
        });
        *state = left;
        self.leave(before, state);
        self.leave(after, state);
    }

    /// Weakens orders that cannot be observed.
    fn weaken(&self, context: &'c Context) {
        for &op in &self.ordered {
            let Some(old) = attr(op, "ordering").and_then(Ordering::from_attr) else { continue };
            let publishes = self.found[&op_key(op)].any;
            let observed = results(op).any(has_uses);
            let new = match old {
                Ordering::AcqRel if publishes && !observed => Ordering::Release,
                Ordering::AcqRel if !publishes && observed => Ordering::Acquire,
                Ordering::AcqRel if !publishes => Ordering::Relaxed,
                Ordering::Release if !publishes => Ordering::Relaxed,
                Ordering::Acquire if !observed => Ordering::Relaxed,
                _ => continue,
            };
            set_attr(op, "ordering", new.to_attr(context));
        }
    }
}
