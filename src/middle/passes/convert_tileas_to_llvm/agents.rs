//! Lowers agents to branches on the warp number.
//!
//! Inside an agent's program, warps and threads are numbered from the agent's first. Each agent has a named barrier of
//! its threads. An agent with `registers` starts with `setmaxnreg`.
//!
//! ```text
//! warp < w0          ? agent 0
//! warp < w0 + w1     ? agent 1      warp' = warp - w0, thread' = thread - 32 w0, barrier 2 of 32 w1 threads
//! ...                               remaining warps continue after the switch
//! ```

use super::{Lower, llvm::Cmp};
use crate::dialect::{
    attributes::MAX_REGISTERS,
    debug_scope,
    nv_tileas::AgentSwitchOp,
    pass::{Failed, fail},
    rt::*,
    thread_scope::ThreadScope,
};

/// The number of named barriers of a CTA. Barrier zero belongs to all threads of the CTA.
pub(super) const BARRIERS: u64 = 16;

impl<'c> Lower<'c, '_> {
    pub(super) fn agent_switch(&mut self, op: AgentSwitchOp<'c>) -> Result<(), Failed> {
        let here = self.l.b.block();
        let exit = self.l.new_block(&[], here);
        for i in 0..region_count(op.op()) {
            let scope = ThreadScope::of_region(op.op(), i).ok_or_else(|| fail(op.op(), "region has no warps"))?;
            let warps = scope.warps.ok_or_else(|| fail(op.op(), "region has no warps"))?;
            let source = entry_block(region(op.op(), i)).ok_or_else(|| fail(op.op(), "agent has no program"))?;
            let before = self.l.b.block();
            let next = self.l.new_block(&[], before);
            let program = self.l.new_block(&[], before);
            // Warps of earlier agents have already branched away, so comparing with the last warp suffices.
            let is_mine = self.l.icmp(Cmp::Ult, self.warp, self.l.i32c(scope.first_warp + warps));
            self.l.cond_br(is_mine, (program, &[]), (next, &[]));

            self.l.b.set_end(program);
            self.barriers_used += 1;
            if self.barriers_used >= BARRIERS {
                let text =
                    format!("agents and ping-pong need more than the {} named barriers of a block", BARRIERS - 1);
                return Err(fail(op.op(), text));
            }
            let outside = (self.warp, self.warp_bits, self.thread, self.warps, self.barrier_id);
            let l = &self.l;
            self.thread = l.bin("sub", self.thread, l.i32c(scope.first_warp * 32));
            self.warp = l.bin("sub", self.warp, l.i32c(scope.first_warp));
            (self.warps, self.warp_bits) = (warps as u64, warps.ilog2());
            self.barrier_id = Some(self.barriers_used);
            if let Some(registers) = op.registers() {
                let launched = self.launched_registers.ok_or_else(|| {
                    let text = format!("the kernel lacks the attribute '{}'", MAX_REGISTERS);
                    fail(op.op(), text)
                })?;
                let (count, way) = (registers[i], if registers[i] < launched { "dec" } else { "inc" });
                let text = format!("setmaxnreg.{way}.sync.aligned.u32 {count};");
                self.l.asm(&text, "~{memory}", None, &[], false);
            }
            self.block(source)?;
            (self.warp, self.warp_bits, self.thread, self.warps, self.barrier_id) = outside;
            self.l.b.set_location(debug_scope::lowered(op.op().location()));
            self.l.br(exit, &[]);
            self.l.b.set_end(next);
        }
        self.l.br(exit, &[]);
        self.l.b.set_end(exit);
        Ok(())
    }
}
