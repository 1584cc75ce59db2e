//! `tileas-delay-loads` limits the registers that hold loaded but unused tiles of a block.
//!
//! Loads early in the program are also early in the code. If a program loads hundreds of tiles and then adds them up,
//! all of them are live until then, and the assembler spills them. In addition, LLVM records each block that such a
//! value lives through, and there are as many blocks as loads. In such a block the pass moves loads down, until the
//! tiles in use fit [`WINDOW`] registers or the load reaches its first use:
//!
//! ```text
//! a = load; b = load; c = load; d = load           a = load; b = load
//! s = a + b                                   ->   s = a + b; c = load; d = load
//! t = s + c; u = t + d                             t = s + c; u = t + d
//! ```
//!
//! As many loads as registers have room for stay in flight. Blocks that never hold more than [`MOST`] registers do
//! not change: the program order is as good as any, and the assembler moves loads further ahead by itself.
//!
//! A load moves if no token orders it, and only past ops that write nothing, wait for nothing and have no regions.
//! Scalars computed only for the load, such as its index, move with it; otherwise they would occupy registers
//! instead. Loads through pointers stay, because the pointers of a tile take more registers than its elements. Tiles
//! that `tileas-materialize-register-loops` will process in passes stay too.
//!
//! # Fragments
//!
//! The operands of a dot are read from stages in shared memory. `tileir-sink-shared-loads` later reads them fragment
//! by fragment, between the products, but not past a barrier. If the operands and the accumulator of a dot take more
//! than [`MOST_OF_DOT`] registers, the pass therefore moves the reads, and the casts that widen them, past changes of
//! layout, which need barriers:
//!
//! ```text
//! x = fp_cast (local_load a)                      u = convert_layout s
//! u = convert_layout s                       ->   x = fp_cast (local_load a)
//! dot x scale u, ..                               dot x scale u, ..
//! ```

use crate::{
    analysis::{
        registers::{MAX_REGISTER_BITS, register_bits, words},
        tile_programs::is_unordered_load,
    },
    dialect::{
        behaviour::{SyncKind, effects, is_pure, sync_kind, widens},
        dots::AnyDot,
        layouts::Tensor,
        nv_tileaa,
        nv_tileas::{ConvertLayoutOp, LocalLoadOp, TiledLoadOp},
        pass::{Failed, PassContext, RustPass, descriptors},
        rt::*,
    },
    pass_descriptor,
};
use melior::Context;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The maximum number of registers per thread for loaded tiles in a block that keeps its order. A thread has 255
/// registers.
const MOST: u64 = 256;
/// The registers for loaded tiles in any other block: with 256 threads, 64 KiB are in flight. Addresses, bounds and
/// computed values take additional registers.
const WINDOW: u64 = 64;
/// The maximum length of a chain of scalars that moves with a load.
const DEEPEST: u32 = 8;
/// The maximum number of registers per thread for the operands and the accumulator of a dot whose reads keep their
/// place. What is computed with them, and reads of less than a word, take about as many.
const MOST_OF_DOT: u64 = 128;

#[derive(Clone, Default)]
pub struct DelayLoads;

impl RustPass for DelayLoads {
    pass_descriptor!(tileas_delay_loads);

    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_delay_loads::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let mut blocks = vec![];
            walk(function.op(), &mut |o| {
                blocks.extend((0..region_count(o)).filter_map(|i| entry_block(region(o, i))));
            });
            for block in blocks {
                let loads = Loads::of(block);
                if loads.most() > MOST {
                    cx.stat_add(stat::NUM_MOVED, loads.delay());
                }
                cx.stat_add(stat::NUM_MOVED, delay_fragments(block));
            }
        }
        Ok(())
    }
}

/// A load of a tile.
struct Load<'c> {
    op: OpRef<'c>,
    may_move: bool,
    /// The registers of the loaded tile.
    words: u64,
    /// The positions of the first and the last op that use it.
    users: (usize, usize),
}

/// The ops of a block, and its loads.
struct Loads<'c> {
    ops: Vec<OpRef<'c>>,
    /// The loads by position.
    loads: FxHashMap<usize, Load<'c>>,
}

impl<'c> Loads<'c> {
    fn of(block: Blk<'c>) -> Self {
        let ops: Vec<OpRef<'c>> = ops_of(block).collect();
        let mut loads = FxHashMap::default();
        if ops.iter().any(|op| TiledLoadOp::cast(*op).is_some()) {
            let places: FxHashMap<usize, usize> = ops.iter().enumerate().map(|(i, op)| (op_key(*op), i)).collect();
            // An op whose region contains a user counts as the user.
            let place =
                |user| std::iter::successors(Some(user), |o| parent_op(*o)).find_map(|o| places.get(&op_key(o)));
            for (at, &op) in ops.iter().enumerate() {
                let Some((words, may_move)) = words_of_load(op) else { continue };
                let users = uses(result(op, 0)).into_iter().filter_map(|(user, _)| place(user).copied());
                let Some(users) = users.fold(None, |all: Option<(usize, usize)>, user| {
                    Some(all.map_or((user, user), |(first, last)| (first.min(user), last.max(user))))
                }) else {
                    continue;
                };
                loads.insert(at, Load { op, may_move, words, users });
            }
        }
        Self { ops, loads }
    }

    /// Returns the maximum number of registers that loaded tiles occupy at any point.
    fn most(&self) -> u64 {
        let mut used_up = vec![0; self.ops.len()];
        let (mut live, mut most) = (0, 0);
        for at in 0..self.ops.len() {
            if let Some(load) = self.loads.get(&at) {
                used_up[load.users.1] += load.words;
                live += load.words;
                most = most.max(live);
            }
            live -= used_up[at];
        }
        most
    }

    /// Moves loads down. Returns how many moved.
    fn delay(&self) -> i64 {
        let mut held = Held { live: 0, used_up: vec![0; self.ops.len()] };
        let mut wanted: Vec<Vec<usize>> = vec![vec![]; self.ops.len()];
        let mut delayed: VecDeque<usize> = VecDeque::new();
        let mut moved = 0;
        for (at, &op) in self.ops.iter().enumerate() {
            if let Some(load) = self.loads.get(&at) {
                if !load.may_move || delayed.is_empty() && held.has_room_for(load) {
                    held.add(load);
                } else {
                    delayed.push_back(at);
                    wanted[load.users.0].push(at);
                    moved += 1;
                }
                continue;
            }
            let mut here: Vec<usize> = if may_be_passed(op) { vec![] } else { delayed.drain(..).collect() };
            for number in std::mem::take(&mut wanted[at]) {
                here.extend(delayed.binary_search(&number).ok().and_then(|i| delayed.remove(i)));
            }
            for load in here.iter().map(|number| &self.loads[number]) {
                move_down(load.op, op, DEEPEST);
                held.add(load);
            }
            held.live -= held.used_up[at];
            let Some(&next) = self.ops.get(at + 1) else { continue };
            while let Some(load) = delayed.front().map(|number| &self.loads[number]).filter(|l| held.has_room_for(l)) {
                move_down(load.op, next, DEEPEST);
                held.add(load);
                delayed.pop_front();
            }
        }
        moved
    }
}

/// The loaded tiles at a point of a block.
struct Held {
    /// The registers that they take.
    live: u64,
    /// The registers freed after each op.
    used_up: Vec<u64>,
}

impl Held {
    fn has_room_for(&self, load: &Load<'_>) -> bool {
        self.live + load.words <= WINDOW
    }

    fn add(&mut self, load: &Load<'_>) {
        self.live += load.words;
        self.used_up[load.users.1] += load.words;
    }
}

/// Returns the registers of the tile that an op loads through a view, and whether the load may move.
fn words_of_load(op: OpRef<'_>) -> Option<(u64, bool)> {
    let tile = TiledLoadOp::cast(op)?.result();
    let bits = register_bits(tile).filter(|bits| *bits <= MAX_REGISTER_BITS)?;
    let is_scalar = |v| Tensor::of_value(v).is_none();
    Some((words(Tensor::of_value(tile)?.element, bits), is_unordered_load(op) && operands(op).all(is_scalar)))
}

/// Moves an op down before another one, with the scalars computed only for it.
fn move_down<'c>(op: OpRef<'c>, before: OpRef<'c>, deepest: u32) {
    for v in operands(op) {
        let is_own = |o: &OpRef<'c>| block_of(*o) == block_of(op) && region_count(*o) == 0 && result_count(*o) == 1;
        if let Some(own) = defining_op(v).filter(is_own).filter(|o| is_pure(*o) && uses(v).len() == 1)
            && Tensor::of_value(v).is_none()
            && deepest > 0
        {
            move_down(own, before, deepest - 1);
        }
    }
    move_before(op, before);
}

/// Whether a load may move past an op.
fn may_be_passed(op: OpRef<'_>) -> bool {
    let writes = || effects(op).is_none_or(|list| list.iter().any(|effect| !effect.reads()));
    region_count(op) == 0 && sync_kind(op) == SyncKind::None && !writes()
}

/// Moves the operands of dots that take many registers past changes of layout. Returns how many reads moved.
fn delay_fragments(block: Blk<'_>) -> i64 {
    let ops: Vec<OpRef<'_>> = ops_of(block).collect();
    let places: FxHashMap<usize, usize> = ops.iter().enumerate().map(|(i, op)| (op_key(*op), i)).collect();
    let mut moved = 0;
    for (at, dot) in ops.iter().enumerate().filter_map(|(at, op)| Some((at, AnyDot::cast(*op)?))) {
        let held: u64 = [dot.lhs(), dot.rhs(), dot.acc()].into_iter().filter_map(words_of).sum();
        if held <= MOST_OF_DOT {
            continue;
        }
        let chains: Vec<Vec<usize>> = [dot.lhs(), dot.rhs()].into_iter().filter_map(|v| read_of(v, &places)).collect();
        let Some(first) = chains.iter().map(|chain| chain[0]).min() else { continue };
        let others: Vec<OpRef<'_>> =
            (first..at).filter(|i| !chains.iter().flatten().any(|own| own == i)).map(|i| ops[i]).collect();
        if others.iter().all(|op| may_be_passed(*op)) && others.iter().any(|op| ConvertLayoutOp::cast(*op).is_some()) {
            chains.iter().flatten().for_each(|i| move_before(ops[*i], dot.op()));
            moved += chains.len() as i64;
        }
    }
    moved
}

/// The registers of a tensor.
fn words_of(v: Val<'_>) -> Option<u64> {
    Some(words(Tensor::of_value(v)?.element, register_bits(v)?))
}

/// Returns the read of shared memory of which `v` is a widening cast, and the casts, if only they use it. Ops are
/// numbers of `places`, in program order.
fn read_of(mut v: Val<'_>, places: &FxHashMap<usize, usize>) -> Option<Vec<usize>> {
    let mut chain = vec![];
    loop {
        let op = defining_op(v).filter(|_| uses(v).len() == 1)?;
        chain.insert(0, *places.get(&op_key(op))?);
        if LocalLoadOp::cast(op).is_some() {
            return Some(chain);
        }
        v = widens(op).then(|| operand(op, 0))?;
    }
}
