//! `wgmma`: matrix multiplication by a warpgroup, with deferred completion.
//!
//! Each of the four warps computes its own 16 rows of the result, which depend only on its own registers and on shared
//! memory, so the simulator does not synchronize the warps. Under an adversarial schedule a multiplication executes
//! when a `wait_group` requires it. Until then the accumulator registers hold noise, and the true values are kept
//! separately.

use super::access::MemoryAccess;
use super::tensor_ops::{UnitError, accumulator, element};
use crate::exec::state::error::SimErrorKind;
use crate::exec::state::lanes::{Lanes, lanes};
use crate::exec::state::location::Location;
use crate::exec::state::machine::{Flow, Machine, StepResult};
use crate::exec::state::memory::Fault;
use crate::exec::state::program::{DArg, DInst};
use crate::exec::state::race::{AccessKind, SyncKey};
use crate::exec::state::tensor::{PendingA, PendingWgmma};
use crate::exec::state::warp::Warp;
use crate::ir::*;
use crate::tensor::smem::read_matrix;
use crate::tensor::{Accumulator, Major, SmemDescriptor, Wgmma, fragment};

fn first_plane(dst: &[DArg]) -> u32 {
    match dst.first() {
        Some(DArg::R(slot, _)) => *slot,
        _ => u32::MAX,
    }
}

/// `wgmma`.
pub(crate) trait WarpgroupOps {
    fn wgmma_op(&mut self, w: &mut Warp, si: usize, inst: &DInst, mask: u32) -> StepResult;
}

impl WarpgroupOps for Machine<'_> {
    fn wgmma_op(&mut self, w: &mut Warp, si: usize, inst: &DInst, mask: u32) -> StepResult {
        if let Some(flow) = self.whole_warp(w, mask)? {
            return Ok(flow);
        }
        let frame = w.splits[si].frame;
        match &inst.op {
            Op::WgmmaFence => w.wgmma.fenced = true,
            Op::WgmmaCommit => w.wgmma.next_group += 1,
            Op::WgmmaWait => {
                let left = w.uniform(frame, &inst.args[0], u32::MAX);
                let done = w.wgmma.next_group.saturating_sub(left);
                while w.wgmma.queue.front().is_some_and(|p| p.group < done) {
                    self.wgmma_complete(w)?;
                }
            }
            Op::Wgmma(m) => self.wgmma_issue(w, frame, m, inst)?,
            _ => return Err(SimErrorKind::Unsupported(self.prog.text(inst)).into()),
        }
        Ok(Flow::Next)
    }
}

impl Machine<'_> {
    fn wgmma_issue(&mut self, w: &mut Warp, frame: u32, m: &WgmmaMods, inst: &DInst) -> Result<(), SimErrorKind> {
        let args = &inst.args;
        if !w.wgmma.fenced {
            return Err(SimErrorKind::Tensor("wgmma.mma_async without a wgmma.fence before it".into()));
        }
        if w.env.nwarps < w.index / 4 * 4 + 4 {
            return Err(SimErrorKind::Tensor("wgmma in a warpgroup with fewer than four warps".into()));
        }
        let (Some(a), Some(b)) = (element(m.aty), element(m.bty)) else {
            return Err(SimErrorKind::Unsupported(self.prog.text(inst)));
        };
        let immediate = |i: usize| match args.get(i) {
            Some(DArg::Imm(v)) => Some(*v as i64),
            _ => None,
        };
        let mut unit = Wgmma::new(m.n.into(), m.k.into(), a, b, accumulator(m.dty, m.satfinite));
        let scale = w.src_pred(frame, &args[3]);
        if scale != 0 && scale != u32::MAX {
            return Err(SimErrorKind::Tensor("scale-d differs between the lanes of a warp".into()));
        }
        unit.scale_d = scale != 0;
        unit.negate_a = immediate(4) == Some(-1);
        unit.negate_b = immediate(5) == Some(-1);
        let a_registers = matches!(args[1], DArg::Vec(_));
        let transpose = |i: usize| if immediate(i) == Some(1) { Major::Mn } else { Major::K };
        if a_registers {
            unit.b_major = transpose(6);
        } else {
            unit.a_major = transpose(6);
            unit.b_major = transpose(7);
        }
        unit.validate().map_err(|e| SimErrorKind::Tensor(e.to_string()))?;
        let source = match &args[1] {
            DArg::Vec(regs) => PendingA::Registers(Box::new(std::array::from_fn(|i| w.src32(frame, &regs[i])))),
            desc => PendingA::Shared(w.uniform(frame, desc, u32::MAX)),
        };
        let DArg::Vec(dst) = &args[0] else {
            return Err(SimErrorKind::InvalidOperand("accumulators of wgmma".into()));
        };
        let origin = w.origin(inst);
        let agent = self.race.as_mut().map(|r| r.fork(w.agent, None));
        let pending = PendingWgmma {
            unit,
            a: source,
            b: w.uniform(frame, &args[2], u32::MAX),
            frame,
            dst: dst.to_vec(),
            group: w.wgmma.next_group,
            agent,
            origin,
        };
        // The four warps together compute m64; each counts its share.
        self.stats.tensor_macs += 16 * u64::from(m.n) * u64::from(m.k);
        self.mark_progress();
        if self.recorder.is_some() {
            return Ok(());
        }
        if self.options.adversarial.is_none() {
            let mut d: Vec<Lanes> = dst.iter().map(|r| w.src32(frame, r)).collect();
            self.wgmma_execute(w, &pending, &mut d)?;
            for (r, v) in dst.iter().zip(&d) {
                w.set32(frame, r, v, u32::MAX);
            }
            return Ok(());
        }
        let first = first_plane(dst);
        if !w.wgmma.held.iter().any(|(p, f, _)| (*p, *f) == (first, frame)) {
            let values: Vec<Lanes> = dst.iter().map(|r| w.src32(frame, r)).collect();
            w.wgmma.held.push((first, frame, values));
        }
        let noise = self.rng.next() as u32 | 0x7ff0_0000;
        for r in dst {
            w.set32(frame, r, &[noise; 32], u32::MAX);
        }
        w.wgmma.queue.push_back(pending);
        Ok(())
    }

    /// Executes the oldest multiplication in flight.
    fn wgmma_complete(&mut self, w: &mut Warp) -> Result<(), SimErrorKind> {
        let Some(p) = w.wgmma.queue.pop_front() else { return Ok(()) };
        let key = (first_plane(&p.dst), p.frame);
        let Some(at) = w.wgmma.held.iter().position(|(s, f, _)| (*s, *f) == key) else { return Ok(()) };
        let (slot, frame, mut d) = w.wgmma.held.swap_remove(at);
        if d.len() != p.dst.len() {
            return Err(SimErrorKind::Tensor("two wgmma in flight share accumulators but differ in shape".into()));
        }
        self.wgmma_execute(w, &p, &mut d)?;
        let again = w.wgmma.queue.iter().any(|q| (first_plane(&q.dst), q.frame) == key);
        if again {
            w.wgmma.held.push((slot, frame, d));
        } else {
            for (r, v) in p.dst.iter().zip(&d) {
                w.set32(p.frame, r, v, u32::MAX);
            }
        }
        if let (Some(agent), Some(race)) = (p.agent, &mut self.race) {
            // The wait orders the reads of the multiplication before what follows.
            let key = SyncKey::Operation(u64::MAX);
            race.release(agent, key);
            race.acquire(w.agent, key);
            race.forget(key);
            race.retire(agent);
        }
        Ok(())
    }

    /// Computes the warp's 16 rows.
    fn wgmma_execute(&mut self, w: &Warp, p: &PendingWgmma, d: &mut [Lanes]) -> Result<(), SimErrorKind> {
        let (n, k) = (p.unit.n as usize, p.unit.k as usize);
        let warp = (w.index % 4) as usize;
        let mut touched = Vec::new();
        let check = self.config.trap_uninitialised;
        let shared = &self.ctas[w.cta].shared;
        let mut fault: Option<(u32, Fault)> = None;
        let mut read = |address: u32, _: usize| -> Result<[u8; 16], UnitError> {
            let offset = address & 0x3_ffff;
            let mut out = [0u8; 16];
            match shared.read(offset as usize, &mut out, check) {
                Ok(()) => {
                    touched.push(offset);
                    Ok(out)
                }
                Err(f) => {
                    fault = Some((offset, f));
                    Err(UnitError::Sim(SimErrorKind::Trap))
                }
            }
        };
        let bits = |e: crate::tensor::Element| e.bits();
        let left = match &p.a {
            PendingA::Shared(raw) => {
                let desc = SmemDescriptor::wgmma(*raw);
                read_matrix(&desc, p.unit.a_major, p.unit.a, bits(p.unit.a), (64, k), &mut read)
            }
            PendingA::Registers(regs) => {
                let width = p.unit.a.bits() as usize;
                let per = 32 / width;
                let mut left = vec![0.0; 64 * k];
                for lane in lanes(u32::MAX) {
                    for i in 0..4 * per {
                        let at = fragment::wgmma_a(per, 32 * warp + lane, i);
                        let raw = u64::from(regs[i / per][lane]) >> (i % per * width) & (u64::MAX >> (64 - width));
                        left[at.row * k + at.col] = p.unit.a.value(raw);
                    }
                }
                Ok(left)
            }
        };
        let desc = SmemDescriptor::wgmma(p.b);
        let right = left.and_then(|left| {
            let right = read_matrix(&desc, p.unit.b_major, p.unit.b, bits(p.unit.b), (n, k), &mut read)?;
            Ok((left, right))
        });
        let (mut left, mut right) = match right {
            Ok(pair) => pair,
            Err(e) => {
                return Err(match fault {
                    Some((offset, f)) => self.fault(f, "wgmma read", Location::Shared { cta: w.cta, offset }, 16),
                    None => e.into(),
                });
            }
        };
        if p.unit.negate_a {
            left.iter_mut().for_each(|x| *x = -*x);
        }
        if p.unit.negate_b {
            right.iter_mut().for_each(|x| *x = -*x);
        }
        let half = p.unit.d == Accumulator::F16;
        for lane in lanes(u32::MAX) {
            for i in 0..n / 2 {
                let at = fragment::wgmma_d(32 * warp + lane, i);
                let (reg, shift) = if half { (i / 2, 16 * (i % 2)) } else { (i, 0) };
                let old = if half { d[reg][lane] >> shift & 0xffff } else { d[reg][lane] };
                let start = if p.unit.scale_d { u64::from(old) } else { 0 };
                let (x, y) = (&left[at.row * k..][..k], &right[at.col * k..][..k]);
                let value = p.unit.d.dot(x, y, start) as u32;
                d[reg][lane] = if half { d[reg][lane] & !(0xffff << shift) | (value & 0xffff) << shift } else { value };
            }
        }
        if let Some(agent) = p.agent {
            touched.sort_unstable();
            touched.dedup();
            let how = AccessKind::ASYNC_READ;
            for offset in touched {
                self.note(agent, Location::Shared { cta: w.cta, offset }, 16, how, p.origin)?;
            }
        }
        Ok(())
    }
}
