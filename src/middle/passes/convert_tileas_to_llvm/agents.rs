//! Lowers agents to branches on the warp number.
//!
//! Inside an agent's program, warps and threads are numbered from the agent's first. Each agent has a named barrier of
//! its threads.
//!
//! ```text
//! warp < w0          ? agent 0
//! warp < w0 + w1     ? agent 1      warp' = warp - w0, thread' = thread - 32 w0, barrier 2 of 32 w1 threads
//! ...                               remaining warps continue after the switch
//! ```
//!
//! An agent of one rank of a cluster branches to the end in the other CTAs.
//!
//! With registers, warpgroups branch apart first, since `setmaxnreg` is an instruction of a whole warpgroup. The agents
//! of one warpgroup branch apart after it.

use super::{Lower, llvm::Cmp, state::Threads};
use crate::dialect::{
    attributes::MAX_REGISTERS,
    debug_scope,
    dot_plan::{Agent, WARPGROUP},
    nv_tileas::AgentSwitchOp,
    pass::{Failed, fail},
    rt::*,
    thread_scope::ThreadScope,
};
use std::ops::Range;

/// The number of named barriers of a CTA. Barrier zero belongs to all threads of the CTA.
pub(super) const BARRIERS: u64 = 16;
/// The special register with the rank of the CTA in its cluster.
pub(super) const CTA_RANK: &str = "cluster.ctarank";

impl<'c> Lower<'c, '_> {
    pub(super) fn agent_switch(&mut self, op: AgentSwitchOp<'c>) -> Result<(), Failed> {
        let agents = Agent::of_switch(op);
        let here = self.l.b.block();
        let exit = self.l.new_block(&[], here);
        let end_of = |i: usize| agents[..=i].iter().map(|agent| i64::from(agent.warps)).sum();
        for part in warpgroups(&agents) {
            let next = self.branch_before(end_of(part.end - 1));
            let registers = agents[part.start].registers;
            if part.len() == 1 {
                self.agent(op, (part.start, registers), exit)?;
            } else {
                self.set_registers(op.op(), registers)?;
                for i in part {
                    let next = self.branch_before(end_of(i));
                    self.agent(op, (i, None), exit)?;
                    self.l.b.set_end(next);
                }
                self.l.br(exit, &[]);
            }
            self.l.b.set_end(next);
        }
        self.l.br(exit, &[]);
        self.l.b.set_end(exit);
        Ok(())
    }

    /// Branches to a new block if the warp is before warp `end`, and continues there. Returns the block of the other
    /// warps. Warps of earlier agents have already branched away, so comparing with the last warp suffices.
    fn branch_before(&mut self, end: i64) -> Blk<'c> {
        let before = self.l.b.block();
        let next = self.l.new_block(&[], before);
        let program = self.l.new_block(&[], before);
        let is_mine = self.l.icmp(Cmp::Ult, self.threads.warp, self.l.i32c(end));
        self.l.cond_br(is_mine, (program, &[]), (next, &[]));
        self.l.b.set_end(program);
        next
    }

    fn set_registers(&mut self, op: OpRef<'c>, registers: Option<u32>) -> Result<(), Failed> {
        let Some(registers) = registers.map(i64::from) else { return Ok(()) };
        let launched = self.function.launched_registers.ok_or_else(|| {
            let text = format!("the kernel lacks the attribute '{MAX_REGISTERS}'");
            fail(op, text)
        })?;
        let way = if registers < launched { "dec" } else { "inc" };
        self.l.order(&format!("setmaxnreg.{way}.sync.aligned.u32 {registers};"));
        Ok(())
    }

    /// Lowers the program of agent `i`, which ends with a branch to `exit`. With `registers` the agent begins by
    /// setting its registers.
    fn agent(
        &mut self,
        op: AgentSwitchOp<'c>,
        (i, registers): (usize, Option<u32>),
        exit: Blk<'c>,
    ) -> Result<(), Failed> {
        let scope = ThreadScope::of_region(op.op(), i).ok_or_else(|| fail(op.op(), "region has no warps"))?;
        let warps = scope.warps.ok_or_else(|| fail(op.op(), "region has no warps"))?;
        let source = entry_block(region(op.op(), i)).ok_or_else(|| fail(op.op(), "agent has no program"))?;
        self.function.barriers_used += 1;
        if self.function.barriers_used >= BARRIERS {
            let text = format!("agents and ping-pong need more than the {} named barriers of a block", BARRIERS - 1);
            return Err(fail(op.op(), text));
        }
        let outside = self.threads;
        let rank = Agent::of_switch(op).get(i).and_then(|agent| agent.rank);
        if let Some(rank) = rank {
            let before = self.l.b.block();
            let program = self.l.new_block(&[], before);
            let is_here = self.l.icmp(Cmp::Eq, self.l.sreg(CTA_RANK), self.l.i32c(rank.into()));
            self.l.cond_br(is_here, (program, &[]), (exit, &[]));
            self.l.b.set_end(program);
        }
        let l = &self.l;
        self.threads = Threads {
            thread: l.bin("sub", outside.thread, l.i32c(scope.first_warp * 32)),
            warp: l.bin("sub", outside.warp, l.i32c(scope.first_warp)),
            warps: warps as u64,
            warp_bits: warps.ilog2(),
            barrier: Some(self.function.barriers_used),
            ..outside
        };
        self.set_registers(op.op(), registers)?;
        self.block(source)?;
        self.threads = outside;
        self.l.b.set_location(debug_scope::lowered(op.op().location()));
        self.l.br(exit, &[]);
        Ok(())
    }
}

/// Returns the agents as ranges, of which each has whole warpgroups. Agents without registers need no ranges.
fn warpgroups(agents: &[Agent]) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut warps) = (vec![], 0, 0);
    for (i, agent) in agents.iter().enumerate() {
        warps += agent.warps;
        if agent.registers.is_none() || warps.is_multiple_of(WARPGROUP) || i + 1 == agents.len() {
            parts.push(start..i + 1);
            start = i + 1;
        }
    }
    parts
}
