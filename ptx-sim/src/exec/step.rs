//! Execution of one instruction of one part of a warp: dispatch, moves, predicates and control flow.

use super::state::error::SimErrorKind;
use super::state::lanes::{Lanes, lanes};
use super::state::machine::{Fail, Flow, Machine, StepResult};
use super::state::memory::{CONST_BASE, FUNCTION_BASE, LOCAL_BASE, MAX_LOCAL, PARAM_BASE, SHARED_BASE, WINDOW};
use super::state::program::{DArg, DInst, ENTRY_PARAM};
use super::state::warp::{Return, Split, Wait, Warp};
use super::units::async_ops::AsyncOps;
use super::units::cluster_control::ClusterControlOps;
use super::units::completion::Operations;
use super::units::ldst::LoadStore;
use super::units::multimem::MulticastAccess;
use super::units::tcgen05::TensorMemoryOps;
use super::units::tensor_ops::MatrixOps;
use super::units::warp_exec::WarpOps;
use super::units::wgmma::WarpgroupOps;
use super::units::{alu_float, alu_int, builtins};
use crate::ir::*;

/// Executes single instructions.
pub(crate) trait Dispatch {
    /// Executes `inst` for the lanes of `mask`, which is not empty.
    fn step(&mut self, w: &mut Warp, si: usize, inst: &DInst, mask: u32) -> StepResult;
}

impl Dispatch for Machine<'_> {
    fn step(&mut self, w: &mut Warp, si: usize, inst: &DInst, mask: u32) -> StepResult {
        let frame = w.splits[si].frame;
        let args = &inst.args;
        match &inst.op {
            Op::Mov { ty } => mov(w, frame, *ty, args, mask),
            Op::Int { op, ty, sat } => alu_int::int(w, frame, *op, *ty, *sat, args, mask)?,
            Op::Carry { op, ty, cin, cout } => alu_int::carry(w, frame, *op, *ty, *cin, *cout, args, mask),
            Op::Dot { op, a_signed, b_signed } => alu_int::dot(w, frame, *op, *a_signed, *b_signed, args, mask),
            Op::Bits { op, ty } => alu_int::bits(w, frame, *op, *ty, args, mask),
            Op::Float { op, ty, m } => alu_float::float(w, frame, *op, *ty, m, args, mask),
            Op::MixedFloat { op, src, m, .. } => alu_float::mixed(w, frame, *op, *src, m, args, mask),
            Op::Testp { prop, ty } => alu_float::testp(w, frame, *prop, *ty, args, mask),
            Op::Setp { cmp, ty, ftz, combine } => alu_float::setp(w, frame, *cmp, *ty, *ftz, *combine, args, mask),
            Op::Set { cmp, dty, ty, ftz, combine } => {
                alu_float::set(w, frame, *cmp, (*dty, *ty), *ftz, *combine, args, mask);
            }
            Op::Selp { .. } => {
                let p = w.src_pred(frame, &args[3]);
                let (a, b) = (w.src64(frame, &args[1]), w.src64(frame, &args[2]));
                w.set64(frame, &args[0], &std::array::from_fn(|i| if p >> i & 1 != 0 { a[i] } else { b[i] }), mask);
            }
            Op::Slct { cty, ftz, .. } => {
                let (a, b, c) = (w.src64(frame, &args[1]), w.src64(frame, &args[2]), w.src32(frame, &args[3]));
                let first = |c: u32| {
                    if *cty == Type::S32 {
                        (c as i32) >= 0
                    } else {
                        let subnormal = c & 0x7f80_0000 == 0;
                        f32::from_bits(c) >= 0.0 || *ftz && subnormal
                    }
                };
                w.set64(frame, &args[0], &std::array::from_fn(|i| if first(c[i]) { a[i] } else { b[i] }), mask);
            }
            Op::Cvt(m) => alu_float::cvt(w, frame, m, args, mask),
            Op::CvtPack { dty, .. } => alu_float::cvt_pack(w, frame, *dty, args, mask),
            Op::Ld(a) => self.load(w, frame, a, args, mask, inst)?,
            Op::St(a) => self.store(w, frame, a, args, mask, inst)?,
            Op::StBulk { space } => self.store_bulk(w, frame, *space, args, mask, inst)?,
            Op::Atom(m) => self.atomic(w, frame, m, true, args, mask, inst)?,
            Op::Red(m) => self.atomic(w, frame, m, false, args, mask, inst)?,
            Op::Multimem(m) => self.multimem(w, frame, m, args, mask, inst)?,
            Op::Hint { .. } | Op::Nop => {}
            Op::Createpolicy => w.set64(frame, &args[0], &[0x1000_0000_0000_0000; 32], mask),
            Op::Cvta { to, space, .. } => cvta(w, frame, *to, *space, args, mask),
            Op::Isspacep { space } => self.isspacep(w, frame, *space, args, mask),
            Op::Mapa { shared, .. } => self.mapa(w, frame, *shared, args, mask)?,
            Op::Getctarank { .. } => {
                let a = w.src64(frame, &args[1]);
                w.set64(frame, &args[0], &a.map(|a| a >> 24 & 0xff), mask);
            }
            Op::Fence { scope, .. } => self.fence(w, *scope),
            Op::FenceProxy(f) => self.fence_proxy(w, frame, *f, args, mask)?,
            Op::Alloca { .. } => {
                let bytes = w.uniform(frame, &args[1], mask).div_ceil(16) * 16;
                let align = args.get(2).map_or(16, |a| w.uniform(frame, a, mask)).clamp(16, 4096) as u32;
                if bytes > u64::from(MAX_LOCAL) {
                    return Err(no_local().into());
                }
                let Some(at) = w.push_local(bytes as u32, align) else { return Err(no_local().into()) };
                w.set64(frame, &args[0], &[u64::from(at); 32], mask);
            }
            Op::Stacksave { .. } => {
                let top = u64::from(w.local_top);
                w.set64(frame, &args[0], &[top; 32], mask);
            }
            Op::Stackrestore { .. } => {
                let top = w.uniform(frame, &args[0], mask);
                if top > u64::from(w.local_top) {
                    let what = format!("stackrestore of {top:#x}, which stacksave did not return");
                    return Err(SimErrorKind::InvalidOperand(what).into());
                }
                w.local_top = top as u32;
            }
            Op::Bra { .. } => return Ok(self.branch(w, si, mask, args)),
            Op::BrxIdx => return self.branch_indexed(w, si, mask, args),
            Op::Call => return self.call(w, si, mask, args),
            Op::Ret => return self.ret(w, si, mask),
            Op::Exit => {
                self.exit_lanes(w, si, mask)?;
                return Ok(Flow::Moved);
            }
            Op::Trap => return Err(SimErrorKind::Trap.into()),
            Op::Brkpt => return Err(SimErrorKind::Breakpoint.into()),
            Op::Nanosleep => {
                if self.resumed.is_none() {
                    w.clock += w.uniform(frame, &args[0], mask).min(1_000_000);
                    return Ok(Flow::Wait(Wait::Yield));
                }
            }
            Op::Activemask => w.set32(frame, &args[0], &[mask; 32], mask),
            Op::Shfl { .. }
            | Op::Vote { .. }
            | Op::Match { .. }
            | Op::Redux { .. }
            | Op::Elect
            | Op::BarWarpSync
            | Op::Bar { .. }
            | Op::BarrierCluster { .. }
            | Op::Setmaxnreg { .. }
            | Op::Griddepcontrol { .. } => return self.warp_op(w, si, inst, mask),
            Op::Mbarrier(_)
            | Op::CpAsync { .. }
            | Op::CpAsyncCommit
            | Op::CpAsyncWait { .. }
            | Op::CpAsyncMbarrierArrive { .. }
            | Op::CpBulk(_)
            | Op::CpTensor(_)
            | Op::BulkCommit
            | Op::BulkWait { .. }
            | Op::StAsync { .. }
            | Op::RedAsync { .. }
            | Op::TensormapReplace { .. }
            | Op::TensormapCpFenceproxy { .. } => return self.async_op(w, si, inst, mask),
            Op::Cluster(op) => self.cluster_control(w, frame, *op, inst, mask)?,
            Op::Ldmatrix(_) | Op::Stmatrix(_) | Op::Movmatrix | Op::Mma(_) => return self.tensor_op(w, si, inst, mask),
            Op::WgmmaFence | Op::WgmmaCommit | Op::WgmmaWait | Op::Wgmma(_) => {
                return self.wgmma_op(w, si, inst, mask);
            }
            Op::Tcgen05(op) => return self.tcgen05_op(w, si, op, inst, mask),
        }
        Ok(Flow::Next)
    }
}

impl Machine<'_> {
    /// Sends the lanes of `mask` to `target`; the others continue after the branch.
    fn go(&mut self, w: &mut Warp, si: usize, mask: u32, target: u32) {
        let code = &self.prog.funcs[w.splits[si].func as usize].code;
        let s = &mut w.splits[si];
        let here = code[s.pc as usize].order;
        let there = &code[target as usize];
        let order = if there.order <= here { there.loop_order.max(there.order) } else { there.order };
        if mask == s.mask {
            s.pc = target;
            s.order = order;
            return;
        }
        let mut rest = Split { wait: None, ..s.clone() };
        rest.mask &= !mask;
        rest.pc += 1;
        rest.order = code[rest.pc as usize].order;
        s.mask = mask;
        s.pc = target;
        s.order = order;
        w.splits.push(rest);
        self.stats.divergent_branches += 1;
    }

    fn branch(&mut self, w: &mut Warp, si: usize, mask: u32, args: &[DArg]) -> Flow {
        if let Some(DArg::Target(target)) = args.first() {
            self.go(w, si, mask, *target);
        }
        Flow::Moved
    }

    fn branch_indexed(&mut self, w: &mut Warp, si: usize, mask: u32, args: &[DArg]) -> StepResult {
        let frame = w.splits[si].frame;
        let index = w.src32(frame, &args[0]);
        let DArg::Targets(targets) = &args[1] else {
            return Err(SimErrorKind::InvalidOperand("brx.idx without a table".into()).into());
        };
        for lane in lanes(mask) {
            if index[lane] as usize >= targets.len() {
                let what = format!("branch index {} with a table of {}", index[lane], targets.len());
                return Err(Fail::at(SimErrorKind::InvalidOperand(what), lane));
            }
        }
        // The lanes with the same target as the first lane branch now; the others execute the instruction again.
        let first = index[mask.trailing_zeros() as usize];
        let together = lanes(mask).filter(|l| index[*l] == first).fold(0, |m, l| m | 1 << l);
        let others = mask & !together;
        let leaving = w.splits[si].mask & !mask;
        if others != 0 {
            let s = &mut w.splits[si];
            let again = Split { mask: others, wait: None, ..s.clone() };
            s.mask &= !others;
            w.splits.push(again);
        }
        debug_assert!(leaving & together == 0);
        self.go(w, si, together, targets[first as usize]);
        Ok(Flow::Moved)
    }

    fn call(&mut self, w: &mut Warp, si: usize, mask: u32, args: &[DArg]) -> StepResult {
        let frame = w.splits[si].frame;
        let callee = w.src64(frame, &args[1]);
        let first = callee[mask.trailing_zeros() as usize];
        let together = lanes(mask).filter(|l| callee[*l] == first).fold(0, |m, l| m | 1 << l);
        let index = first.wrapping_sub(FUNCTION_BASE) / 16;
        let prog = self.prog;
        let Some(func) = prog.funcs.get(index as usize).filter(|_| first >= FUNCTION_BASE && first.is_multiple_of(16))
        else {
            return Err(SimErrorKind::Call(format!("{first:#x} is not the address of a function")).into());
        };
        // Lanes that do not take this call: those with another target execute it again, and those whose guard is false
        // continue after it.
        let s = &mut w.splits[si];
        let others = mask & !together;
        let skipped = s.mask & !mask;
        if others != 0 || skipped != 0 {
            let base = s.clone();
            s.mask = together;
            if others != 0 {
                w.splits.push(Split { mask: others, wait: None, ..base.clone() });
            }
            if skipped != 0 {
                w.splits.push(Split { mask: skipped, pc: base.pc + 1, wait: None, ..base });
            }
        }
        let (DArg::Vec(results), DArg::Vec(arguments)) = (&args[0], &args[2]) else {
            return Err(SimErrorKind::Call("malformed argument lists".into()).into());
        };
        if !func.defined {
            builtins::call(self, w, frame, &func.name, results, arguments, together)?;
            w.splits[si].pc += 1;
            return Ok(Flow::Moved);
        }
        if arguments.len() != func.params.len() || results.len() != func.results.len() {
            return Err(SimErrorKind::Call(format!("'{}' called with a wrong number of arguments", func.name)).into());
        }
        if w.splits[si].stack.len() > 1000 {
            return Err(SimErrorKind::Call("call depth exceeds 1000".into()).into());
        }
        let fill = if self.options.adversarial.is_some() { self.rng.next() as u32 } else { 0 };
        let Some(callee_frame) = w.new_frame(func.planes, func.preds, func.local_bytes, fill) else {
            return Err(no_local().into());
        };
        let callee_local = w.frames[callee_frame as usize].local;
        for (arg, slot) in arguments.iter().zip(&func.params) {
            match (arg, slot.reg) {
                (DArg::Local(offset), None) => {
                    let from = w.frames[frame as usize].local.wrapping_add(*offset);
                    copy_local(w, together, from, callee_local + slot.offset, slot.size);
                }
                (_, Some((reg, bits))) => {
                    let value = self.argument(w, frame, arg, u32::from(bits) / 8);
                    w.set64(callee_frame, &DArg::R(reg, bits), &value, together);
                }
                (_, None) => {
                    let value = w.src64(frame, arg);
                    for lane in lanes(together) {
                        let bytes = value[lane].to_le_bytes();
                        let n = (slot.size as usize).min(8);
                        let _ = w.local[lane].write((callee_local + slot.offset) as usize, &bytes[..n]);
                    }
                }
            }
        }
        let s = &mut w.splits[si];
        let order = prog.funcs[s.func as usize].code[s.pc as usize].order;
        s.stack.push(Return { func: s.func, pc: s.pc + 1, frame, order });
        s.func = index as u32;
        s.pc = 0;
        s.frame = callee_frame;
        s.order = 0;
        Ok(Flow::Moved)
    }

    /// The value of an argument, which may be a `.param` variable, as up to 64 bits.
    fn argument(&self, w: &Warp, frame: u32, arg: &DArg, bytes: u32) -> [u64; 32] {
        match arg {
            DArg::Local(offset) => {
                let at = w.frames[frame as usize].local.wrapping_add(*offset) as usize;
                std::array::from_fn(|lane| {
                    let mut raw = [0u8; 8];
                    let n = (bytes as usize).min(8);
                    let _ = w.local[lane].read(at, &mut raw[..n], false);
                    u64::from_le_bytes(raw)
                })
            }
            _ => w.src64(frame, arg),
        }
    }

    fn ret(&mut self, w: &mut Warp, si: usize, mask: u32) -> StepResult {
        let Some(ret) = w.splits[si].stack.last().copied() else {
            self.exit_lanes(w, si, mask)?;
            return Ok(Flow::Moved);
        };
        let prog = self.prog;
        let s = &mut w.splits[si];
        if mask != s.mask {
            let rest = Split { mask: s.mask & !mask, pc: s.pc + 1, wait: None, ..s.clone() };
            s.mask = mask;
            w.splits.push(rest);
        }
        let s = &mut w.splits[si];
        let (callee, callee_frame) = (s.func, s.frame);
        s.stack.pop();
        s.func = ret.func;
        s.pc = ret.pc;
        s.frame = ret.frame;
        s.order = ret.order;
        let call = &prog.funcs[ret.func as usize].code[ret.pc as usize - 1];
        if let DArg::Vec(results) = &call.args[0] {
            for (dst, slot) in results.iter().zip(&prog.funcs[callee as usize].results) {
                let from = w.frames[callee_frame as usize].local + slot.offset;
                match (dst, slot.reg) {
                    (DArg::Local(offset), None) => {
                        let to = w.frames[ret.frame as usize].local.wrapping_add(*offset);
                        copy_local(w, mask, from, to, slot.size);
                    }
                    (DArg::Local(offset), Some((reg, bits))) => {
                        let value = w.src64(callee_frame, &DArg::R(reg, bits));
                        let to = w.frames[ret.frame as usize].local.wrapping_add(*offset) as usize;
                        for lane in lanes(mask) {
                            let _ = w.local[lane].write(to, &value[lane].to_le_bytes()[..usize::from(bits) / 8]);
                        }
                    }
                    (_, Some((reg, bits))) => {
                        let value = w.src64(callee_frame, &DArg::R(reg, bits));
                        w.set64(ret.frame, dst, &value, mask);
                    }
                    (_, None) => {
                        let value: [u64; 32] = std::array::from_fn(|lane| {
                            let mut raw = [0u8; 8];
                            let n = (slot.size as usize).min(8);
                            let _ = w.local[lane].read(from as usize, &mut raw[..n], false);
                            u64::from_le_bytes(raw)
                        });
                        w.set64(ret.frame, dst, &value, mask);
                    }
                }
            }
        }
        w.collect_frames();
        Ok(Flow::Moved)
    }

    fn isspacep(&self, w: &mut Warp, frame: u32, space: Space, args: &[DArg], mask: u32) {
        let a = w.src64(frame, &args[1]);
        let window = |base: u64, a: u64| a.wrapping_sub(base) < WINDOW;
        let own = w.env.rank;
        let test = |a: u64| match space {
            Space::Shared | Space::SharedCta => window(SHARED_BASE, a) && (a - SHARED_BASE) as u32 >> 24 == own,
            Space::SharedCluster => window(SHARED_BASE, a),
            Space::Local => window(LOCAL_BASE, a),
            Space::Const => window(CONST_BASE, a),
            Space::Param | Space::ParamEntry => window(PARAM_BASE, a),
            Space::Global => a < FUNCTION_BASE,
            _ => false,
        };
        let p = a.iter().enumerate().fold(0u32, |m, (i, a)| m | u32::from(test(*a)) << i);
        w.set_pred(frame, &args[0], p, mask);
    }

    fn mapa(&self, w: &mut Warp, frame: u32, shared: bool, args: &[DArg], mask: u32) -> Result<(), Fail> {
        let a = w.src64(frame, &args[1]);
        let rank = w.src32(frame, &args[2]);
        let size = self.shape.cluster_size() as u32;
        for lane in lanes(mask) {
            if rank[lane] >= size {
                let what = format!("mapa to CTA rank {} in a cluster of {size}", rank[lane]);
                return Err(Fail::at(SimErrorKind::InvalidOperand(what), lane));
            }
            if !shared && a[lane].wrapping_sub(SHARED_BASE) >= WINDOW {
                let what = format!("mapa of {:#x}, which is not a shared address", a[lane]);
                return Err(Fail::at(SimErrorKind::InvalidOperand(what), lane));
            }
        }
        let out = std::array::from_fn(|i| (a[i] & !0xff00_0000) | u64::from(rank[i]) << 24);
        w.set64(frame, &args[0], &out, mask);
        Ok(())
    }

    /// Removes exited lanes, which may complete barriers.
    fn exit_lanes(&mut self, w: &mut Warp, si: usize, mask: u32) -> Result<(), Fail> {
        w.live &= !mask;
        w.splits[si].mask &= !mask;
        if w.splits[si].mask == 0 {
            w.splits.swap_remove(si);
        } else {
            w.splits[si].pc += 1;
        }
        let n = mask.count_ones();
        self.ctas[w.cta].live_threads -= n;
        self.mark_progress();
        self.exited = true;
        self.barriers_after_exit(w.cta);
        if self.ctas[w.cta].live_threads == 0 {
            let leaked = self.ctas[w.cta].tmem.leaked();
            if leaked > 0 {
                let what = format!("the CTA exits with {leaked} columns of tensor memory allocated");
                return Err(SimErrorKind::Tensor(what).into());
            }
            self.check_exit(w.cta).map_err(Fail::of_operation)?;
        }
        Ok(())
    }
}

fn no_local() -> SimErrorKind {
    SimErrorKind::Call(format!("the thread needs more than {} KiB of local memory", MAX_LOCAL >> 10))
}

/// Copies bytes of a lane's local memory, with their shadow.
fn copy_local(w: &mut Warp, mask: u32, from: u32, to: u32, size: u32) {
    for lane in lanes(mask) {
        w.local[lane].copy_within(from as usize, to as usize, size as usize);
    }
}

fn cvta(w: &mut Warp, frame: u32, to: bool, space: Space, args: &[DArg], mask: u32) {
    let base = match space {
        Space::Shared | Space::SharedCta | Space::SharedCluster => SHARED_BASE,
        Space::Local => LOCAL_BASE,
        Space::Const => CONST_BASE,
        Space::Param | Space::ParamEntry | Space::ParamFunc => PARAM_BASE,
        _ => 0,
    };
    let a = w.src64(frame, &args[1]);
    let tag = if base == PARAM_BASE { ENTRY_PARAM } else { 0 };
    let out = if to { a.map(|a| a.wrapping_sub(base) | tag) } else { a.map(|a| (a & !tag).wrapping_add(base)) };
    w.set64(frame, &args[0], &out, mask);
}

/// `mov`: a copy, a pack into a wider register, or an unpack from one.
fn mov(w: &mut Warp, frame: u32, ty: Type, args: &[DArg], mask: u32) {
    match (&args[0], &args[1]) {
        (DArg::Vec(parts), src) => {
            let value = w.src128(frame, src);
            let bits = ty.bits() / parts.len().max(1) as u32;
            for (i, part) in parts.iter().enumerate() {
                let at = i * bits as usize;
                if bits >= 32 {
                    let mut planes = [[0u32; 32]; 4];
                    let n = bits as usize / 32;
                    planes[..n].copy_from_slice(&value[at / 32..at / 32 + n]);
                    w.set128(frame, part, &planes, mask);
                } else {
                    let keep = (1u32 << bits) - 1;
                    let out: Lanes = std::array::from_fn(|l| value[at / 32][l] >> (at % 32) & keep);
                    w.set32(frame, part, &out, mask);
                }
            }
        }
        (dst, DArg::Vec(parts)) => {
            let bits = ty.bits() / parts.len().max(1) as u32;
            let mut planes = [[0u32; 32]; 4];
            for (i, part) in parts.iter().enumerate() {
                let at = i * bits as usize;
                if bits >= 32 {
                    let value = w.src128(frame, part);
                    let n = bits as usize / 32;
                    planes[at / 32..at / 32 + n].copy_from_slice(&value[..n]);
                } else {
                    let value = w.src32(frame, part);
                    for l in 0..32 {
                        planes[at / 32][l] |= (value[l] & ((1 << bits) - 1)) << (at % 32);
                    }
                }
            }
            w.set128(frame, dst, &planes, mask);
        }
        (dst, src) => match ty {
            Type::Pred => {
                let value = w.src_pred(frame, src);
                w.set_pred(frame, dst, value, mask);
            }
            _ if ty.bits() <= 32 => {
                let value = w.src32(frame, src);
                w.set32(frame, dst, &value, mask);
            }
            Type::B128 => {
                let value = w.src128(frame, src);
                w.set128(frame, dst, &value, mask);
            }
            _ => {
                let value = w.src64(frame, src);
                w.set64(frame, dst, &value, mask);
            }
        },
    }
}
