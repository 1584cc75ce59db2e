//! `tileas-lower-tma-load-store-to-async` gives agents a TMA store epilogue.
//!
//! ```text
//! for .. { x = ..; y = convert_layout x; tiled_store y, view[i, j] }
//! ```
//!
//! in an agent becomes
//!
//! ```text
//! map = make_tiled_tma_desc view; s = alloc_tensor
//! for .. {
//!   x = ..
//!   tma_store_wait s; barrier                        the tile before has been written
//!   local_store x, s; fence; barrier
//!   tiled_tma_store s to view[i, j] by map           one thread, while the others go on
//! }
//! tma_store_wait s read
//! ```
//!
//! Threads then need neither addresses nor predicates for the store, and the conversion to a layout that stores well
//! is removed.
//!
//! Where code after the dots stores slices of results, stores of the same shape take two storages in turn: threads
//! write one while TMA reads the other one. Waits then count stores (`pending`) where all stores are in one block.
//!
//! A TMA store writes whole units of 16 bytes. If the rows of the view might not consist of whole units, a run-time
//! test selects between the TMA store and the original store.
//!
//! Only weak stores change, because TMA writes through another proxy and the data arrives only after a wait. Tokens
//! may order such a store only before and after other stores that the pass changes; each of them waits for the
//! previous ones.

use crate::{
    analysis::{
        access::View,
        branches::innermost_block,
        clones::clone_op,
        facts::Facts,
        operand_stages::stage_of,
        pipelines::scratch_bytes,
        producers::skip_conversions,
        tensor_map_ops::TensorMaps,
        tensor_maps::{self, PlannedStore},
        tokens,
    },
    dialect::{
        arith::IntPredicate,
        attributes::REUSE,
        behaviour,
        dot_plan::DotPlan,
        hints::bool_hint,
        layouts::{Tensor, storage_bits},
        loops::is_in_loop,
        loops::new_if,
        nv_tileaa::{self, AnyOp, CreateMemTokenOp, Ordering},
        nv_tileas::{
            AgentSwitchOp, AllocTensorOp, AsyncFenceOp, AsyncTiledTmaStoreOp, AsyncTmaStoreWaitOp, BarrierOp,
            ConvertLayoutOp, LocalStoreOp, MemDescType, TiledLoadOp, TiledStoreOp,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        remark::{self, Better},
        rt::*,
        shared_memory::{STORAGES, memdesc_bytes, shared_layout, vector_of},
        target::target,
    },
    pass_descriptor,
};
use melior::Context;
use rustc_hash::FxHashSet;
use tile_layout::{Direction, SharedAccess};
use tile_targets::{Feature, Target};

#[derive(Clone, Default)]
pub struct LowerTmaLoadStoreToAsync;

impl RustPass for LowerTmaLoadStoreToAsync {
    pass_descriptor!(tileas_lower_tma_load_store_to_async);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_lower_tma_load_store_to_async::{Options, stat};
        let target = target(op, Options(cx).compute_capability())?;
        if !target.has(Feature::Tma) {
            return Ok(());
        }
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            for agents in collect_ops(function.op(), AgentSwitchOp::cast) {
                let facts = Facts::of(function.op());
                for i in 0..region_count(agents.op()) {
                    let Some(agent) = entry_block(region(agents.op(), i)) else { continue };
                    let stores = stores_of(agent, agents.op(), &facts, target);
                    cx.stat_add(stat::NUM_STORES, stores.len() as i64);
                    rewrite(agent, &stores, context)?;
                }
            }
        }
        Ok(())
    }
}

/// A store that can become a TMA store.
struct Store<'c> {
    op: TiledStoreOp<'c>,
    /// The stored value, in the layout that threads hold.
    value: Val<'c>,
    storage: MemDescType<'c>,
    /// The number of elements that one instruction writes to the storage.
    vector: i64,
    planned: PlannedStore<'c>,
}

/// Returns the stores of an agent that can become TMA stores.
fn stores_of<'c>(agent: Blk<'c>, agents: OpRef<'c>, facts: &Facts, target: &Target) -> Vec<Store<'c>> {
    let all: Vec<TiledStoreOp<'c>> = ops_of(agent).flat_map(|op| collect_ops(op, TiledStoreOp::cast)).collect();
    let planned = |op: TiledStoreOp<'c>| {
        let store = Store::of(op, agents, facts, target);
        store.map_err(|reason| remark::against(op.op(), Better::Tma, reason)).ok()
    };
    let mut stores: Vec<Store<'c>> = all.into_iter().filter_map(planned).collect();
    // Limit shared memory: storage of stores in loops is in use all the time.
    let (mut lasting, mut passing) = (0, 0);
    let mut storages: Vec<MemDescType<'c>> = vec![];
    stores.retain(|s| {
        let used = if is_in_loop(s.op.op()) { &mut lasting } else { &mut passing };
        if is_sliced(s.op.op()) && storages.iter().filter(|t| **t == s.storage).count() == STORAGES {
            return true;
        }
        // Where memory is short, the other side of a run-time test needs as much for its conversion.
        let is_short = DotPlan::around(s.op.op()).is_some_and(|plan| plan.reads_fragments());
        let sides = if s.planned.whole.is_some() && is_short { 2 } else { 1 };
        let bytes = sides * memdesc_bytes(s.storage);
        let fits = *used + bytes <= scratch_bytes(s.op.op());
        *used += if fits { bytes } else { 0 };
        storages.extend(fits.then_some(s.storage));
        if !fits {
            let reason = format!("its tile takes {bytes} bytes of shared memory, which has no room for it");
            remark::against(s.op.op(), Better::Tma, reason);
        }
        fits
    });
    // Removing one store may disqualify others. A store with a run-time test may only be ordered with itself, because
    // it takes the same side of its branch each time.
    loop {
        let copied = stores.iter().filter(|s| s.planned.whole.is_none());
        let copied: FxHashSet<usize> = copied.map(|s| op_key(s.op.op())).collect();
        let before = stores.len();
        stores.retain(|s| {
            let own = s.planned.whole.map(|_| FxHashSet::from_iter([op_key(s.op.op())]));
            let chosen = own.as_ref().unwrap_or(&copied);
            let is_free = s.op.token().is_none_or(|t| follows_only(t, chosen)) && precedes_only(s.op, chosen);
            if !is_free {
                remark::against(s.op.op(), Better::Tma, "it is ordered with accesses that TMA does not make");
            }
            is_free
        });
        if stores.len() == before {
            return stores;
        }
    }
}

impl<'c> Store<'c> {
    /// Plans a TMA store, or returns the reason against it.
    fn of(op: TiledStoreOp<'c>, agents: OpRef<'c>, facts: &Facts, target: &Target) -> Result<Self, String> {
        if op.hints().and_then(|h| bool_hint(h, target.name, "allow_tma")) == Some(false) {
            return Err("the hint allow_tma forbids TMA".into());
        }
        if op.ordering() != Ordering::Weak {
            return Err("the store is ordered with other accesses".into());
        }
        let view = View::of(op.view()).ok_or("the view is not created in this function")?;
        // The map is created once, before everything else.
        if parent_op(view.make.op()) != Some(agents) {
            return Err("its tensor differs between iterations".into());
        }
        let storage = stage_of(op.op(), &view, view.memref.element_type(), false)?;
        let planned = tensor_maps::plan_store(op.op(), (&view, &op.indices().collect::<Vec<_>>()), storage, facts)?;
        let value = skip_conversions(op.value());
        let tensor = Tensor::of_value(value).ok_or("it stores no tensor")?;
        let access = SharedAccess::new(
            &tensor.layout().ok_or("its value has no layout")?,
            &shared_layout(storage).ok_or("its storage has no layout")?,
            storage_bits(tensor.element),
            Direction::Store,
            target.has(Feature::Stmatrix),
        );
        // Reject conflicting accesses. 32-bit elements would have bank conflicts here, and direct stores of them
        // already fill whole sectors.
        let access = access.ok().filter(|a| a.conflict_degree == 1);
        let access = access.ok_or("its value would reach shared memory with bank conflicts")?;
        if let Some((_, unit)) = planned.whole {
            remark::against(op.op(), Better::Tma, format!("rows may end within a unit of {unit} elements"));
        }
        Ok(Self { op, value, storage, vector: vector_of(&access), planned })
    }

    /// Builds a branch before the store if rows may end within a unit. The first side is for the TMA store and lacks
    /// a terminator; the other contains the original store. The branch yields the token.
    fn branch(&self, context: &'c Context) -> Result<Option<(OpRef<'c>, Blk<'c>)>, BuildError> {
        let Some((extent, unit)) = self.planned.whole else { return Ok(None) };
        let (op, t) = (self.op.op(), ty(extent));
        let b = Builder::before(context, op);
        let rest = b.andi(extent, b.int_constant(t, unit as i64 - 1));
        let is_whole = b.cmpi(IntPredicate::Eq, rest, b.int_constant(t, 0));
        let (branch, [yes, no]) = new_if(&b, is_whole, &[ty(self.op.result_token())])?;
        let no = Builder::at_end(context, no, op.location());
        let stored = self.op.value();
        let converted = if ty(stored) == ty(self.value) {
            self.value
        } else {
            ConvertLayoutOp::build(&no, ty(stored), self.value)?.result()
        };
        let kept = self.op.token().into_iter().map(|token| (key(token), token));
        let copy = clone_op(&no, op, &mut kept.chain([(key(stored), converted)]).collect());
        yields(&no, results(copy).last())?;
        Ok(Some((branch, yes)))
    }
}

/// Whether a token only orders after stores of a set, and after earlier grids that have been waited for.
fn follows_only(token: Val<'_>, chosen: &FxHashSet<usize>) -> bool {
    let (mut work, mut seen) = (vec![token], FxHashSet::default());
    while let Some(token) = work.pop() {
        let Some(sources) = tokens::sources(token) else { return false };
        for op in sources.into_iter().filter(|op| seen.insert(op_key(*op))) {
            match AnyOp::cast(op) {
                Some(AnyOp::CreateMemTokenOp(_)) => {}
                Some(AnyOp::WaitForGridsOp(x)) => work.extend(x.token()),
                Some(AnyOp::LaunchDependentsOp(x)) => work.extend(x.token()),
                _ if chosen.contains(&op_key(op)) => {}
                _ => return false,
            }
        }
    }
    true
}

/// Whether only stores of a set are ordered after a store.
fn precedes_only(store: TiledStoreOp<'_>, chosen: &FxHashSet<usize>) -> bool {
    tokens::users(store.result_token()).is_some_and(|all| all.iter().all(|user| chosen.contains(&op_key(user.op))))
}

/// Whether code after the dots stores slices of results.
fn is_sliced(op: OpRef<'_>) -> bool {
    DotPlan::around(op).is_some_and(|plan| plan.slices > 1)
}

/// The storage of each store of an agent.
struct Storages<'c> {
    types: Vec<MemDescType<'c>>,
    /// By store: the number of its storage, and how many later stores may be in flight when it is written again.
    /// `None`: nothing has used the storage before.
    uses: Vec<(usize, Option<i64>)>,
    /// Whether waits count stores, and need not wait until they are complete.
    counted: bool,
}

impl<'c> Storages<'c> {
    /// Gives each store its own storage, or, where slices are stored, some storages in turn.
    fn of(stores: &[Store<'c>]) -> Self {
        let Some(first) = stores.first().filter(|s| is_sliced(s.op.op())) else {
            let used = |(i, s): (usize, &Store<'c>)| (i, (i > 0 || is_in_loop(s.op.op())).then_some(0));
            let uses = stores.iter().enumerate().map(used).collect();
            return Self { types: stores.iter().map(|s| s.storage).collect(), uses, counted: false };
        };
        let mut types: Vec<MemDescType<'c>> = vec![];
        let numbers: Vec<usize> = stores
            .iter()
            .enumerate()
            .map(|(i, s)| {
                let before = stores[..i].iter().filter(|other| other.storage == s.storage).count();
                if before < STORAGES {
                    types.push(s.storage);
                }
                let same = types.iter().enumerate().filter(|(_, t)| **t == s.storage).map(|(n, _)| n);
                same.collect::<Vec<_>>()[before % STORAGES]
            })
            .collect();
        let home = block_around(first.op.op()).map(block_key);
        let in_turn = |s: &Store<'c>| block_around(s.op.op()).map(block_key) == home && s.planned.whole.is_none();
        let is_free = |s: &Store<'c>| s.op.token().is_none_or(|token| follows_only(token, &FxHashSet::default()));
        let counted = stores.iter().all(|s| in_turn(s) && is_free(s));
        let uses = numbers.iter().enumerate().map(|(i, number)| {
            // The last use before this one, in this iteration or in the previous one.
            let earlier = |range: std::ops::Range<usize>| range.rev().find(|j| numbers[*j] == *number);
            let since = earlier(0..i).map(|j| i - j - 1);
            let around = || earlier(i..numbers.len()).map(|j| i + numbers.len() - j - 1);
            let pending = if is_in_loop(stores[i].op.op()) { since.or_else(around) } else { since };
            (*number, pending.map(|n| if counted { n as i64 } else { 0 }))
        });
        let uses = uses.collect();
        Self { types, uses, counted }
    }
}

/// Rewrites the stores of an agent, in program order.
fn rewrite<'c>(agent: Blk<'c>, stores: &[Store<'c>], context: &'c Context) -> Result<(), Failed> {
    let Some(first) = stores.first().and_then(|_| ops_of(agent).next()) else { return Ok(()) };
    let top = Builder::before(context, first);
    let mut maps = TensorMaps::default();
    let (mut sources, mut copies) = (vec![], vec![]);
    let storages = Storages::of(stores);
    for (store, (number, again)) in stores.iter().zip(&storages.uses) {
        let op = store.op.op();
        let error = |e: BuildError| fail(op, e.to_string());
        top.set_location(op.location());
        let map = maps.of(op, store.op.view(), store.planned.map, &top)?;
        if *number == sources.len() {
            let t = storages.types[*number].into();
            sources.push(AllocTensorOp::build(&top, t, None).map_err(error)?.result());
        }
        let storage = sources[*number];
        let branch = store.branch(context).map_err(error)?;
        let b = match branch {
            Some((_, yes)) => Builder::at_end(context, yes, op.location()),
            None => Builder::before(context, op),
        };
        if let Some(pending) = again {
            let of = if is_sliced(op) { &sources[*number..=*number] } else { &sources[..] };
            let pending = (*pending > 0).then(|| i64_attr(context, *pending));
            AsyncTmaStoreWaitOp::build(&b, of, storages.counted, pending).map_err(error)?;
        }
        let barrier = BarrierOp::build(&b, None, None).map_err(error)?;
        REUSE.mark(barrier.op());
        LocalStoreOp::build(&b, store.value, storage, i64_attr(context, store.vector)).map_err(error)?;
        AsyncFenceOp::build(&b).map_err(error)?;
        BarrierOp::build(&b, None, None).map_err(error)?;
        let indices: Vec<Val<'c>> = store.op.indices().collect();
        let copy = AsyncTiledTmaStoreOp::build(&b, storage, store.op.view(), &indices, map, storages.counted);
        let copy = copy.map_err(error)?;
        let token = CreateMemTokenOp::build(&b, ty(store.op.result_token())).map_err(error)?.result();
        let (copy, token) = match branch {
            Some((branch, _)) => {
                yields(&b, Some(token)).map_err(error)?;
                (branch, result(branch, 0))
            }
            None => (copy.op(), token),
        };
        copies.push(copy);
        replace_all_uses(store.op.result_token(), token);
        let stored = store.op.value();
        erase(op);
        erase_conversions(stored);
    }
    // Other storage may have occupied the memory where maps are built, so a barrier comes first. Only the first warp
    // builds the maps. After the second barrier ptxas knows that the threads have reconverged, which keeps the
    // addresses of the loops' dots in uniform registers.
    let made: Vec<OpRef<'c>> = ops_of(agent).filter(|o| maps.has(*o)).collect();
    if let Some(load) = made.last().and_then(|last| last_load_after(*last)) {
        let next = next_op(load).ok_or_else(|| fail(first, "an agent has no end"))?;
        made.iter().for_each(|map| move_before(*map, next));
    }
    for map in &made {
        top.set_before(*map);
        let barrier = BarrierOp::build(&top, None, None).map_err(|e| fail(first, e.to_string()))?;
        REUSE.mark(barrier.op());
    }
    if let Some(last) = made.last() {
        top.set_after(*last);
        BarrierOp::build(&top, None, None).map_err(|e| fail(first, e.to_string()))?;
    }
    // Wait for the last store in the innermost block that contains all stores; afterward the storage is free.
    let last = innermost_block(agent, &copies);
    let end = match ops_of(last).last().filter(|_| block_key(last) != block_key(agent)) {
        Some(leave) => Builder::before(context, leave),
        None => Builder::at_end(context, agent, top.location()),
    };
    AsyncTmaStoreWaitOp::build(&end, &sources, true, None).map_err(|e| fail(first, e.to_string()))?;
    Ok(())
}

/// The last of the loads after `op` that wait for nothing. Maps are looked up while such loads are in flight.
fn last_load_after(op: OpRef<'_>) -> Option<OpRef<'_>> {
    let is_load = |o: &OpRef<'_>| TiledLoadOp::cast(*o).is_some_and(|load| load.ordering() == Ordering::Weak);
    let after = std::iter::successors(next_op(op), |o| next_op(*o));
    after
        .take_while(|o| behaviour::is_pure(*o) || is_load(o) || CreateMemTokenOp::cast(*o).is_some())
        .filter(is_load)
        .last()
}

fn yields<'c>(b: &Builder<'c>, value: Option<Val<'c>>) -> Result<OpRef<'c>, BuildError> {
    let mut state = b.state("scf.yield");
    state.operands(value.as_slice());
    b.insert(state)
}

/// Erases conversions without uses, starting at `v`.
fn erase_conversions(mut v: Val<'_>) {
    while let Some(convert) = defining_op(v).and_then(ConvertLayoutOp::cast).filter(|_| uses(v).is_empty()) {
        v = convert.source();
        erase(convert.op());
    }
}
