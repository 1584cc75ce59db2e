//! Warp-wide and CTA-wide instructions: shuffles, votes, reductions, barriers.

use crate::exec::state::error::SimErrorKind;
use crate::exec::state::lanes::{Lanes, lane_mask, lanes};
use crate::exec::state::machine::{Fail, Flow, Machine, StepResult};
use crate::exec::state::program::DInst;
use crate::exec::state::race::SyncKey;
use crate::exec::state::warp::{Split, Wait, Warp};
use crate::ir::*;
use crate::num::{self, Format, MinMax};

/// The lanes that specify the same member mask as the first lane.
///
/// Lanes with other member masks, such as other tiles of the warp, are split off and execute the instruction
/// later.
fn same_members(w: &mut Warp, si: usize, inst: &DInst, mask: u32) -> u32 {
    let index = match &inst.op {
        Op::Shfl { .. } => 5,
        Op::Match { .. } => 3,
        Op::Vote { .. } | Op::Redux { .. } | Op::Elect => 2,
        Op::BarWarpSync => 0,
        _ => return mask,
    };
    let members = w.src32(w.splits[si].frame, &inst.args[index]);
    let first = members[mask.trailing_zeros() as usize & 31];
    let together = lanes(mask).filter(|l| members[*l] == first).fold(0, |m, l| m | 1 << l);
    if together != mask {
        let s = &mut w.splits[si];
        let others = Split { mask: mask & !together, wait: None, ..s.clone() };
        s.mask &= !others.mask;
        w.splits.push(others);
    }
    together
}

/// Instructions across a warp or a CTA.
pub(crate) trait WarpOps {
    fn warp_op(&mut self, w: &mut Warp, si: usize, inst: &DInst, mask: u32) -> StepResult;

    /// Orders memory accesses among the lanes of a warp, for `bar.warp.sync`.
    fn warp_synchronised(&mut self, w: &Warp, lanes: u32);

    /// Completes barriers of the CTA or cluster that were only waiting for threads that have exited.
    fn barriers_after_exit(&mut self, cta: usize);
}

impl WarpOps for Machine<'_> {
    fn warp_op(&mut self, w: &mut Warp, si: usize, inst: &DInst, mask: u32) -> StepResult {
        let frame = w.splits[si].frame;
        let args = &inst.args;
        let mask = same_members(w, si, inst, mask);
        match &inst.op {
            Op::Shfl { mode } => {
                if let Some(wait) = self.members(w, w.uniform(frame, &args[5], mask) as u32, mask)? {
                    return Ok(wait);
                }
                shfl(w, frame, *mode, inst, mask);
            }
            Op::Vote { mode } => {
                let members = w.uniform(frame, &args[2], mask) as u32;
                if let Some(wait) = self.members(w, members, mask)? {
                    return Ok(wait);
                }
                let p = w.src_pred(frame, &args[1]) & members & mask;
                let all = members & mask;
                match mode {
                    VoteMode::Ballot => w.set32(frame, &args[0], &[p; 32], mask),
                    _ => {
                        let value = match mode {
                            VoteMode::All => p == all,
                            VoteMode::Any => p != 0,
                            _ => p == all || p == 0,
                        };
                        w.set_pred(frame, &args[0], u32::from(value).wrapping_neg(), mask);
                    }
                }
            }
            Op::Match { all, .. } => {
                let members = w.uniform(frame, &args[3], mask) as u32;
                if let Some(wait) = self.members(w, members, mask)? {
                    return Ok(wait);
                }
                let a = w.src64(frame, &args[2]);
                let members = members & mask;
                let same = |lane: usize| lanes(members).filter(|l| a[*l] == a[lane]).fold(0u32, |m, l| m | 1 << l);
                if *all {
                    let first = members.trailing_zeros().min(31) as usize;
                    let hit = same(first) == members;
                    w.set32(frame, &args[0], &[if hit { members } else { 0 }; 32], mask);
                    w.set_pred(frame, &args[1], u32::from(hit).wrapping_neg(), mask);
                } else {
                    let out: Lanes = std::array::from_fn(same);
                    w.set32(frame, &args[0], &out, mask);
                }
            }
            Op::Redux { op, ty, abs, nan } => {
                let members = w.uniform(frame, &args[2], mask) as u32;
                if let Some(wait) = self.members(w, members, mask)? {
                    return Ok(wait);
                }
                let a = w.src32(frame, &args[1]);
                let minmax = MinMax { ftz: false, nan: *nan, abs: *abs, xorsign: false };
                let signed = *ty == Type::S32;
                let float = *ty == Type::F32;
                let join = |x: u32, y: u32| match op {
                    ReduxOp::Add => x.wrapping_add(y),
                    ReduxOp::And => x & y,
                    ReduxOp::Or => x | y,
                    ReduxOp::Xor => x ^ y,
                    ReduxOp::Min if float => num::min(Format::F32, x.into(), y.into(), minmax) as u32,
                    ReduxOp::Max if float => num::max(Format::F32, x.into(), y.into(), minmax) as u32,
                    ReduxOp::Min if signed => (x as i32).min(y as i32) as u32,
                    ReduxOp::Max if signed => (x as i32).max(y as i32) as u32,
                    ReduxOp::Min => x.min(y),
                    ReduxOp::Max => x.max(y),
                };
                let mut values = lanes(members & mask).map(|l| a[l]);
                if let Some(first) = values.next() {
                    // With `.abs`, a single float value must still be reduced to its magnitude.
                    let start = if float { join(first, first) } else { first };
                    let out = values.fold(start, join);
                    w.set32(frame, &args[0], &[out; 32], mask);
                }
            }
            Op::Elect => {
                let members = w.uniform(frame, &args[2], mask) as u32;
                if let Some(wait) = self.members(w, members, mask)? {
                    return Ok(wait);
                }
                let leader = (members & mask).trailing_zeros();
                w.set32(frame, &args[0], &[leader; 32], mask);
                w.set_pred(frame, &args[1], 1u32.checked_shl(leader).unwrap_or(0), mask);
            }
            Op::BarWarpSync => {
                let members = w.uniform(frame, &args[0], mask) as u32;
                self.check_members(members, mask)?;
                if members & w.live & !mask != 0 {
                    if let Some(race) = &mut self.race {
                        race.release(w.agent, SyncKey::Warp(w.agent));
                    }
                    return Ok(Flow::Wait(Wait::WarpBarrier(members)));
                }
                self.warp_synchronised(w, mask);
            }
            Op::Bar { kind, aligned } => return self.bar(w, si, *kind, *aligned, inst, mask),
            Op::BarrierCluster { arrive, sem, aligned } => {
                return self.cluster_barrier(w, *arrive, *sem, *aligned, mask);
            }
            Op::Setmaxnreg { inc } => {
                if let Some(wait) = self.converged(w, mask) {
                    return Ok(wait);
                }
                return self.setmaxnreg(w, *inc, w.uniform(frame, &args[0], mask) as u32);
            }
            // Grids run one at a time, so the grids that this one depends on have finished.
            Op::Griddepcontrol { .. } => {}
            _ => return Err(SimErrorKind::Unsupported(self.prog.text(inst)).into()),
        }
        Ok(Flow::Next)
    }

    fn warp_synchronised(&mut self, w: &Warp, lanes: u32) {
        if let Some(race) = &mut self.race {
            race.lanes_meet(w.agent, lanes, w.live, w.steps);
        }
        self.mark_progress();
    }

    fn barriers_after_exit(&mut self, cta: usize) {
        for id in 0..16 {
            if self.ctas[cta].barriers[id].expected == 0 {
                self.complete_barrier(cta, id);
            }
        }
        self.complete_cluster(self.ctas[cta].cluster);
    }
}

impl Machine<'_> {
    fn check_members(&self, members: u32, mask: u32) -> Result<(), Fail> {
        if mask & !members != 0 {
            let lane = (mask & !members).trailing_zeros() as usize;
            let what = format!("lane {lane} executes it but is not in the member mask {members:#x}");
            return Err(Fail::at(SimErrorKind::InvalidOperand(what), lane));
        }
        Ok(())
    }

    /// Waits until all lanes of the member mask that have not exited are at the instruction.
    fn members(&self, w: &Warp, members: u32, mask: u32) -> Result<Option<Flow>, Fail> {
        self.check_members(members, mask)?;
        Ok((members & w.live & !mask != 0).then_some(Flow::Wait(Wait::Lanes(members))))
    }

    fn bar(&mut self, w: &mut Warp, si: usize, kind: BarKind, aligned: bool, inst: &DInst, mask: u32) -> StepResult {
        let frame = w.splits[si].frame;
        let args = &inst.args;
        let red = matches!(kind, BarKind::RedPopc | BarKind::RedAnd | BarKind::RedOr);
        let base = usize::from(red);
        let id = w.uniform(frame, &args[base], mask) as u32;
        if id >= 16 {
            return Err(SimErrorKind::Barrier(format!("barrier {id}: a CTA has barriers 0 to 15")).into());
        }
        let uid = self.ctas[w.cta].uid;
        if let Some(Wait::Barrier { generation, .. }) = self.resumed.take() {
            let b = &self.ctas[w.cta].barriers[id as usize];
            if red {
                let (ones, voters) = (b.last_ones, b.last_voters);
                match kind {
                    BarKind::RedPopc => w.set32(frame, &args[0], &[ones; 32], mask),
                    BarKind::RedAnd => w.set_pred(frame, &args[0], u32::from(ones == voters).wrapping_neg(), mask),
                    _ => w.set_pred(frame, &args[0], u32::from(ones != 0).wrapping_neg(), mask),
                }
            }
            if let Some(race) = &mut self.race {
                race.acquire(w.agent, SyncKey::Barrier(uid, id, generation));
            }
            self.all_lanes_meet(w);
            return Ok(Flow::Next);
        }
        if aligned && let Some(wait) = self.converged(w, mask) {
            return Ok(wait);
        }
        let count_arg = if red { if args.len() > 3 { Some(&args[2]) } else { None } } else { args.get(1) };
        let count = count_arg.map_or(0, |c| w.uniform(frame, c, mask) as u32);
        if count_arg.is_some() && (count == 0 || count % 32 != 0) {
            let what = format!("barrier {id}: the thread count {count} is not a positive multiple of 32");
            return Err(SimErrorKind::Barrier(what).into());
        }
        // A barrier with a count works by warps: a warp that arrives with all its live lanes counts as 32 threads.
        let arriving = if count != 0 && mask == w.live { 32 } else { mask.count_ones() };
        let cta = &mut self.ctas[w.cta];
        let b = &mut cta.barriers[id as usize];
        if b.arrived != 0 && b.expected != count {
            let what = format!(
                "barrier {id}: {} threads wait with an expected count of {}, and now a warp arrives with {count} (0 is the whole CTA)",
                b.arrived, b.expected
            );
            return Err(SimErrorKind::Barrier(what).into());
        }
        b.expected = count;
        b.arrived += arriving;
        if count != 0 && b.arrived > count {
            let what = format!("barrier {id}: {} threads have arrived where {count} are expected", b.arrived);
            return Err(SimErrorKind::Barrier(what).into());
        }
        if red {
            let p = w.src_pred(frame, &args[args.len() - 1]);
            b.ones += (p & mask).count_ones();
            b.voters += mask.count_ones();
        }
        let generation = b.generation;
        if let Some(race) = &mut self.race {
            race.release(w.agent, SyncKey::Barrier(uid, id, generation));
        }
        self.complete_barrier(w.cta, id as usize);
        self.mark_progress();
        self.stats.barrier_arrivals += 1;
        if kind == BarKind::Arrive {
            return Ok(Flow::Next);
        }
        Ok(Flow::Wait(Wait::Barrier { id, generation }))
    }

    /// Ends the barrier's phase if all threads have arrived.
    fn complete_barrier(&mut self, cta: usize, id: usize) {
        let live = self.ctas[cta].live_threads;
        let b = &mut self.ctas[cta].barriers[id];
        let needed = if b.expected == 0 { live } else { b.expected };
        if b.arrived != 0 && b.arrived >= needed {
            b.generation += 1;
            b.arrived = 0;
            b.expected = 0;
            b.last_ones = std::mem::take(&mut b.ones);
            b.last_voters = std::mem::take(&mut b.voters);
            let (uid, generation) = (self.ctas[cta].uid, self.ctas[cta].barriers[id].generation);
            if let (Some(race), Some(old)) = (&mut self.race, generation.checked_sub(3)) {
                race.forget(SyncKey::Barrier(uid, id as u32, old));
            }
        }
    }

    fn cluster_barrier(&mut self, w: &mut Warp, arrive: bool, sem: Sem, aligned: bool, mask: u32) -> StepResult {
        let cluster = self.ctas[w.cta].cluster;
        let first = self.ctas[cluster * self.shape.cluster_size()].uid;
        if aligned && let Some(wait) = self.converged(w, mask) {
            return Ok(wait);
        }
        let generation = self.clusters[cluster].generation;
        if arrive {
            for lane in lanes(mask) {
                if w.cluster_phase[lane] == generation + 1 {
                    let what = "barrier.cluster.arrive twice without barrier.cluster.wait".to_string();
                    return Err(Fail::at(SimErrorKind::Barrier(what), lane));
                }
                // Stored plus one, so that zero means "never arrived".
                w.cluster_phase[lane] = generation + 1;
            }
            let key = SyncKey::Cluster(first, generation);
            match &mut self.race {
                Some(race) if sem == Sem::Relaxed => race.release_relaxed(w.agent, key),
                Some(race) => race.release(w.agent, key),
                None => {}
            }
            self.clusters[cluster].arrived += mask.count_ones();
            self.complete_cluster(cluster);
            self.mark_progress();
            return Ok(Flow::Next);
        }
        let lane = mask.trailing_zeros() as usize;
        let phase = w.cluster_phase[lane];
        if phase == 0 {
            return Err(SimErrorKind::Barrier("barrier.cluster.wait without barrier.cluster.arrive".into()).into());
        }
        if self.clusters[cluster].generation < phase {
            return Ok(Flow::Wait(Wait::Cluster { generation: phase - 1 }));
        }
        if let Some(race) = &mut self.race {
            race.acquire(w.agent, SyncKey::Cluster(first, phase - 1));
        }
        self.all_lanes_meet(w);
        for lane in lanes(mask) {
            w.cluster_phase[lane] = 0;
        }
        Ok(Flow::Next)
    }

    fn complete_cluster(&mut self, cluster: usize) {
        let size = self.shape.cluster_size();
        let live: u32 = self.ctas[cluster * size..].iter().take(size).map(|c| c.live_threads).sum();
        let c = &mut self.clusters[cluster];
        if c.arrived != 0 && c.arrived >= live {
            c.generation += 1;
            c.arrived = 0;
        }
    }

    /// `setmaxnreg`: all warps of a warpgroup must specify the same count, and it must be legal.
    fn setmaxnreg(&mut self, w: &mut Warp, inc: bool, count: u32) -> StepResult {
        if !(24..=256).contains(&count) || !count.is_multiple_of(8) {
            let what = format!("setmaxnreg {count}: the count must be a multiple of 8 from 24 to 256");
            return Err(SimErrorKind::InvalidOperand(what).into());
        }
        if let Some(current) = w.maxnreg
            && (inc && count < current || !inc && count > current)
        {
            let what = format!("setmaxnreg.{} {count} with {current} registers", if inc { "inc" } else { "dec" });
            return Err(SimErrorKind::InvalidOperand(what).into());
        }
        w.setmaxnreg_count += 1;
        w.maxnreg = Some(count);
        // Warps of the group that have executed the same number of these instructions must have the same count.
        let group = w.index / 4 * 4;
        for other in self.ctas[w.cta].warps.iter().skip(group as usize).take(4).flatten() {
            if other.setmaxnreg_count == w.setmaxnreg_count && other.maxnreg != w.maxnreg {
                let what = format!(
                    "setmaxnreg {count} in warp {}, but warp {} of the same warpgroup has {}",
                    w.index,
                    other.index,
                    other.maxnreg.unwrap_or(0)
                );
                return Err(SimErrorKind::InvalidOperand(what).into());
            }
        }
        Ok(Flow::Next)
    }
}

/// `shfl.sync`: operand c packs the segment mask and the clamp value.
fn shfl(w: &mut Warp, frame: u32, mode: ShflMode, inst: &DInst, mask: u32) {
    let args = &inst.args;
    let (a, b, c) = (w.src32(frame, &args[2]), w.src32(frame, &args[3]), w.src32(frame, &args[4]));
    let mut out = [0u32; 32];
    let mut valid = [0u64; 32];
    for lane in 0..32u32 {
        let i = lane as usize;
        let b = b[i] & 31;
        let clamp = c[i] & 31;
        let segment = c[i] >> 8 & 31;
        let max = (lane & segment) | (clamp & !segment);
        let min = lane & segment;
        let (source, ok) = match mode {
            ShflMode::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= max as i32),
            ShflMode::Down => (lane + b, lane + b <= max),
            ShflMode::Bfly => (lane ^ b, (lane ^ b) <= max),
            ShflMode::Idx => {
                let j = min | (b & !segment);
                (j, j <= max)
            }
        };
        let source = if ok { source & 31 } else { lane };
        // Reading a lane that does not participate is undefined in PTX; here it returns zero.
        out[i] = if mask >> source & 1 != 0 { a[source as usize] } else { 0 };
        valid[i] = u64::from(ok);
    }
    w.set32(frame, &args[0], &out, mask);
    w.set_pred(frame, &args[1], lane_mask(&valid), mask);
}
