//! Turns of warpgroups, by the barriers that a block has by number.
//!
//! Each warpgroup has a barrier, at which two meet: the one that it belongs to waits there (`bar.sync`), and the one
//! before arrives without waiting (`bar.arrive`). So a phase is a turn that is given and taken.
//!
//! ```text
//! create_turns   the last one:   bar.arrive barrier 0
//! take_turn                      bar.sync   barrier g
//! give_turn                      bar.arrive barrier g + 1, of the last one 0
//! end_turns      the first one:  bar.sync   barrier 0
//! ```

use super::{Lower, agents::BARRIERS, llvm::Cmp};
use crate::dialect::{
    nv_tileas::{CreateTurnsOp, EndTurnsOp, GiveTurnOp, TakeTurnOp, TurnsType},
    pass::{Failed, fail},
    product_plan::WARPGROUP,
    rt::*,
};

/// Threads that meet at a barrier: those of two warpgroups.
const MEET: u32 = 2 * WARPGROUP * 32;

/// The barriers of those who take turns.
#[derive(Clone, Copy)]
pub(super) struct Turns<'c> {
    first: u64,
    groups: i64,
    /// The number of the thread's warpgroup.
    group: Val<'c>,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn create_turns(&mut self, op: CreateTurnsOp<'c>) -> Result<(), Failed> {
        let groups = TurnsType::cast(ty(op.turns())).ok_or_else(|| fail(op.op(), "no turns"))?.groups();
        let first = self.barriers_used + 1;
        self.barriers_used += groups as u64;
        if self.barriers_used >= BARRIERS {
            let text = format!("a block has {} barriers for agents and turns, and these are more", BARRIERS - 1);
            return Err(fail(op.op(), text));
        }
        let group = self.warpgroup(op.op())?;
        let turns = Turns { first, groups, group };
        self.turns.insert(key(op.turns()), turns);
        let l = &self.l;
        let last = l.icmp(Cmp::Eq, group, l.i32c(groups - 1));
        let text = format!("@$0 bar.arrive {first}, {MEET};");
        l.asm(&text, "b,~{memory}", None, &[last], false);
        Ok(())
    }

    pub(super) fn take_turn(&self, op: TakeTurnOp<'c>) -> Result<(), Failed> {
        let turns = self.turns_of(op.op(), op.turns())?;
        let l = &self.l;
        let barrier = l.add(turns.group, l.i32c(turns.first as i64));
        l.asm(&format!("bar.sync $0, {MEET};"), "r,~{memory}", None, &[barrier], false);
        Ok(())
    }

    pub(super) fn give_turn(&self, op: GiveTurnOp<'c>) -> Result<(), Failed> {
        let Turns { first, groups, group } = self.turns_of(op.op(), op.turns())?;
        let l = &self.l;
        let is_last = l.icmp(Cmp::Eq, group, l.i32c(groups - 1));
        let next = l.select(is_last, l.i32c(first as i64), l.add(group, l.i32c(first as i64 + 1)));
        l.asm(&format!("bar.arrive $0, {MEET};"), "r,~{memory}", None, &[next], false);
        Ok(())
    }

    pub(super) fn end_turns(&self, op: EndTurnsOp<'c>) -> Result<(), Failed> {
        let turns = self.turns_of(op.op(), op.turns())?;
        let l = &self.l;
        let is_first = l.icmp(Cmp::Eq, turns.group, l.i32c(0));
        let text = format!("@$0 bar.sync {}, {MEET};", turns.first);
        l.asm(&text, "b,~{memory}", None, &[is_first], false);
        Ok(())
    }

    fn turns_of(&self, op: OpRef<'c>, turns: Val<'c>) -> Result<Turns<'c>, Failed> {
        self.turns.get(&key(turns)).copied().ok_or_else(|| fail(op, "turns that are not made here"))
    }
}
