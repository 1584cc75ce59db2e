//! `tileas-order-memory`: barriers where tokens order accesses of different threads.
//!
//! Within a thread program order stands. Between threads of a block, a token means that what it comes from is
//! done: if an access that follows touches bytes that another thread wrote (or writes bytes that another thread read), the
//! threads must meet in between. Which bytes a thread touches depends on layouts and addresses, and arguments of a kernel may
//! alias, so the pass assumes the worst of any two accesses of which one writes.
//!
//! The walk carries, for every token, which accesses stand behind it that no barrier has settled yet. Around loops the sets are
//! iterated until nothing is added.

use crate::{
    dialect::{
        nv_tileaa,
        nv_tileas::{AnyOp, BarrierOp},
        pass::{Failed, PassContext, RustPass, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::Context;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

#[derive(Clone, Default)]
pub struct OrderMemory;

impl RustPass for OrderMemory {
    pass_descriptor!(tileas_order_memory);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, _: &PassContext) -> Result<(), Failed> {
        let mut functions = vec![];
        walk(op, &mut |o| functions.extend(nv_tileaa::FuncOp::cast(o)));
        for function in functions {
            let Some(body) = entry_block(function.body()) else { continue };
            let mut order = Order { pending: FxHashMap::default(), barriers: BTreeSet::new(), list: vec![] };
            order.block(body);
            for op in order.list {
                let b = Builder::before(context, op);
                BarrierOp::build(&b).map_err(|e| fail(op, e.to_string()))?;
            }
        }
        Ok(())
    }
}

/// The kinds of unsettled accesses behind a token.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Pending {
    reads: bool,
    writes: bool,
}
impl Pending {
    fn join(self, other: Self) -> Self {
        Pending { reads: self.reads || other.reads, writes: self.writes || other.writes }
    }
}

struct Order<'c> {
    /// What is behind each token.
    pending: FxHashMap<usize, Pending>,
    /// Ops that need a barrier before them, by key, and in program order.
    barriers: BTreeSet<usize>,
    list: Vec<OpRef<'c>>,
}

impl<'c> Order<'c> {
    fn block(&mut self, block: Blk<'c>) {
        for op in ops_of(block) {
            self.op(op);
        }
    }

    fn op(&mut self, op: OpRef<'c>) {
        match op_name(op) {
            "scf.for" => self.looped(op, 3, &[0], 1, 0),
            "scf.while" => self.looped(op, 0, &[0, 1], 0, 1),
            "scf.if" => {
                for i in 0..region_count(op) {
                    entry_block(region(op, i)).into_iter().for_each(|b| self.block(b));
                }
                for i in 0..2 {
                    if let Some(y) = entry_block(region(op, i)).and_then(|b| ops_of(b).last()) {
                        self.carry(operands(y).zip(results(op)));
                    }
                }
            }
            "nv_tileaa.join_mem_token" | "arith.select" => {
                let all = operands(op).map(|v| self.behind(v)).fold(Pending::default(), Pending::join);
                self.pending.insert(key(result(op, 0)), all);
            }
            _ => self.access(op),
        }
    }

    fn access(&mut self, op: OpRef<'c>) {
        let Some(typed) = AnyOp::cast(op) else { return };
        let (token, out, writes) = match typed {
            AnyOp::TiledLoadOp(x) => (x.token(), x.result_token(), false),
            AnyOp::TiledStoreOp(x) => (x.token(), x.result_token(), true),
            AnyOp::LoadOp(x) => (x.token(), x.result_token(), false),
            AnyOp::AsyncTiledLoadOp(x) => (x.token(), x.result_token(), false),
            AnyOp::AsyncLoadOp(x) => (x.token(), x.result_token(), false),
            AnyOp::StoreOp(x) => (x.token(), x.result_token(), true),
            _ => return,
        };
        let before = token.map(|t| self.behind(t)).unwrap_or_default();
        if (before.writes || (before.reads && writes)) && self.barriers.insert(op_key(op)) {
            self.list.push(op);
        }
        let settled = self.barriers.contains(&op_key(op));
        let mine = Pending { reads: !writes, writes };
        let after = if settled { mine } else { before.join(mine) };
        let old = self.behind(out);
        self.pending.insert(key(out), old.join(after));
    }

    fn behind(&self, token: Val<'c>) -> Pending {
        self.pending.get(&key(token)).copied().unwrap_or_default()
    }

    /// Adds what is behind each first value to the second; whether anything was new.
    fn carry(&mut self, pairs: impl Iterator<Item = (Val<'c>, Val<'c>)>) -> bool {
        let mut changed = false;
        for (from, to) in pairs.collect::<Vec<_>>() {
            let old = self.behind(to);
            let new = old.join(self.behind(from));
            if new != old {
                self.pending.insert(key(to), new);
                changed = true;
            }
        }
        changed
    }

    /// A loop whose inits start at operand `first`, whose regions run in order, and whose carried arguments start at
    /// `offset`. Terminator operands start at `skip`.
    fn looped(&mut self, op: OpRef<'c>, first: usize, regions: &[usize], offset: usize, skip: usize) {
        let blocks: Vec<Blk<'c>> = regions.iter().filter_map(|&r| entry_block(region(op, r))).collect();
        let (Some(&head), Some(&tail)) = (blocks.first(), blocks.last()) else { return };
        self.carry(operands(op).skip(first).zip(args(head).skip(offset)));
        loop {
            let mut changed = false;
            for (i, &b) in blocks.iter().enumerate() {
                self.block(b);
                let Some(last) = ops_of(b).last() else { continue };
                if i + 1 < blocks.len() {
                    // `scf.condition` forwards to the next region and to the results.
                    changed |= self.carry(operands(last).skip(skip).zip(args(blocks[i + 1])));
                    changed |= self.carry(operands(last).skip(skip).zip(results(op)));
                }
            }
            if let Some(last) = ops_of(tail).last() {
                changed |= self.carry(operands(last).zip(args(head).skip(offset)));
            }
            if !changed {
                break;
            }
        }
        if blocks.len() == 1 {
            self.carry(args(head).skip(offset).zip(results(op)));
        }
    }
}
