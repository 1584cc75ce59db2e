//! Lowers ping-pong between warpgroups to named barriers.
//!
//! Each warpgroup has a barrier. The warpgroup waits at its own barrier (`bar.sync`), and the previous warpgroup
//! arrives there without waiting (`bar.arrive`). Each phase of a barrier hands the tensor cores on once.
//!
//! ```text
//! create_ping_pong   the last one:   bar.arrive barrier 0
//! ping_pong_wait                      bar.sync   barrier g
//! ping_pong_arrive                      bar.arrive barrier g + 1, of the last one 0
//! end_ping_pong      the first one:  bar.sync   barrier 0
//! ```

use super::{Lower, agents::BARRIERS, llvm::Cmp};
use crate::dialect::{
    dot_plan::WARPGROUP,
    nv_tileas::{CreatePingPongOp, EndPingPongOp, PingPongArriveOp, PingPongType, PingPongWaitOp},
    pass::{Failed, fail},
    rt::*,
};

/// The threads that meet at a barrier: two warpgroups.
const MEET: u32 = 2 * WARPGROUP * 32;

/// The barriers of one ping-pong.
#[derive(Clone, Copy)]
pub(super) struct PingPong<'c> {
    first: u64,
    groups: i64,
    /// The number of the thread's warpgroup.
    group: Val<'c>,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn create_ping_pong(&mut self, op: CreatePingPongOp<'c>) -> Result<(), Failed> {
        let groups =
            PingPongType::cast(ty(op.ping_pong())).ok_or_else(|| fail(op.op(), "operand is not a ping-pong"))?.groups();
        let first = self.function.barriers_used + 1;
        self.function.barriers_used += groups as u64;
        if self.function.barriers_used >= BARRIERS {
            let text = format!("agents and ping-pong need more than the {} named barriers of a block", BARRIERS - 1);
            return Err(fail(op.op(), text));
        }
        let group = self.warpgroup(op.op())?;
        let ping_pong = PingPong { first, groups, group };
        self.values.ping_pong.insert(key(op.ping_pong()), ping_pong);
        let l = &self.l;
        let last = l.icmp(Cmp::Eq, group, l.i32c(groups - 1));
        let text = format!("@$0 bar.arrive {first}, {MEET};");
        l.asm(&text, "b,~{memory}", &[last]);
        Ok(())
    }

    pub(super) fn ping_pong_wait(&self, op: PingPongWaitOp<'c>) -> Result<(), Failed> {
        let ping_pong = self.ping_pong_of(op.op(), op.ping_pong())?;
        let l = &self.l;
        let barrier = l.add(ping_pong.group, l.i32c(ping_pong.first as i64));
        l.asm(&format!("bar.sync $0, {MEET};"), "r,~{memory}", &[barrier]);
        Ok(())
    }

    pub(super) fn ping_pong_arrive(&self, op: PingPongArriveOp<'c>) -> Result<(), Failed> {
        let PingPong { first, groups, group } = self.ping_pong_of(op.op(), op.ping_pong())?;
        let l = &self.l;
        let is_last = l.icmp(Cmp::Eq, group, l.i32c(groups - 1));
        let next = l.select(is_last, l.i32c(first as i64), l.add(group, l.i32c(first as i64 + 1)));
        l.asm(&format!("bar.arrive $0, {MEET};"), "r,~{memory}", &[next]);
        Ok(())
    }

    pub(super) fn end_ping_pong(&self, op: EndPingPongOp<'c>) -> Result<(), Failed> {
        let ping_pong = self.ping_pong_of(op.op(), op.ping_pong())?;
        let l = &self.l;
        let is_first = l.icmp(Cmp::Eq, ping_pong.group, l.i32c(0));
        let text = format!("@$0 bar.sync {}, {MEET};", ping_pong.first);
        l.asm(&text, "b,~{memory}", &[is_first]);
        Ok(())
    }

    fn ping_pong_of(&self, op: OpRef<'c>, ping_pong: Val<'c>) -> Result<PingPong<'c>, Failed> {
        self.values
            .ping_pong
            .get(&key(ping_pong))
            .copied()
            .ok_or_else(|| fail(op, "the ping-pong is not created in this function"))
    }
}
