//! mbarrier instructions, asynchronous copies, tensor maps and proxy fences.

use super::access::MemoryAccess;
use super::completion::Operations;
use crate::exec::state::error::SimErrorKind;
use crate::exec::state::in_flight::{Coords, LaneCopy, Signal, SignalKind, Work};
use crate::exec::state::lanes::lanes;
use crate::exec::state::location::Location;
use crate::exec::state::machine::{Fail, Flow, Machine, StepResult};
use crate::exec::state::phases::BarrierKey;
use crate::exec::state::program::{DArg, DInst, TensorArg};
use crate::exec::state::race::{AccessKind, Origin, SyncKey};
use crate::exec::state::warp::{Wait, Warp};
use crate::ir::*;
use crate::units::tensor_map::TensorMapField;
use crate::units::{Mbarrier, ReduceOp, ReduceType, TensorMap, check_bulk};
use smallvec::{SmallVec, smallvec};

/// Destinations of a tensor load: CTA slots and shared offsets.
type Targets = SmallVec<[(usize, u32); 2]>;

fn origin(w: &Warp, inst: &DInst) -> Origin {
    w.origin(inst)
}

fn reduce_op(op: AtomOp) -> Option<ReduceOp> {
    Some(match op {
        AtomOp::Add => ReduceOp::Add,
        AtomOp::Min => ReduceOp::Min,
        AtomOp::Max => ReduceOp::Max,
        AtomOp::Inc => ReduceOp::Inc,
        AtomOp::Dec => ReduceOp::Dec,
        AtomOp::And => ReduceOp::And,
        AtomOp::Or => ReduceOp::Or,
        AtomOp::Xor => ReduceOp::Xor,
        AtomOp::Exch | AtomOp::Cas => return None,
    })
}

fn reduce_type(ty: Type) -> Option<ReduceType> {
    Some(match ty {
        Type::U32 | Type::B32 => ReduceType::U32,
        Type::S32 => ReduceType::S32,
        Type::U64 | Type::B64 => ReduceType::U64,
        Type::S64 => ReduceType::S64,
        Type::F16 => ReduceType::F16,
        Type::BF16 => ReduceType::Bf16,
        Type::F32 => ReduceType::F32,
        Type::F64 => ReduceType::F64,
        _ => return None,
    })
}

/// mbarrier instructions, asynchronous copies, tensor maps and proxy fences.
pub(crate) trait AsyncOps {
    fn async_op(&mut self, w: &mut Warp, si: usize, inst: &DInst, mask: u32) -> StepResult;

    /// Proxy fences. They only affect race detection; see [`crate::exec::state::race`].
    fn fence_proxy(&mut self, w: &mut Warp, frame: u32, f: ProxyFence, args: &[DArg], mask: u32) -> Result<(), Fail>;

    /// The mbarrier at a shared address.
    fn barrier_at(&self, w: &Warp, space: Space, address: u64, lane: usize) -> Result<(usize, u32), Fail>;

    /// A signal to the mbarrier at a shared address, which must be initialized.
    fn signal_at(&self, w: &Warp, space: Space, address: u64, kind: SignalKind, lane: usize) -> Result<Signal, Fail>;
}

impl AsyncOps for Machine<'_> {
    fn async_op(&mut self, w: &mut Warp, si: usize, inst: &DInst, mask: u32) -> StepResult {
        let frame = w.splits[si].frame;
        let func = w.splits[si].func;
        let args = &inst.args;
        match &inst.op {
            Op::Mbarrier(op) => return self.mbarrier(w, frame, *op, inst, mask),
            Op::CpAsync { .. } => self.cp_async(w, frame, func, inst, mask)?,
            Op::CpAsyncCommit => {
                for lane in lanes(mask) {
                    let g = &mut w.cp_async[lane];
                    let open = std::mem::take(&mut g.open);
                    g.committed.push_back(open);
                }
            }
            Op::CpAsyncWait { all } => {
                let left = if *all { 0 } else { w.uniform(frame, &args[0], mask) as usize };
                for lane in lanes(mask) {
                    if *all {
                        let open = std::mem::take(&mut w.cp_async[lane].open);
                        w.cp_async[lane].committed.push_back(open);
                    }
                    while w.cp_async[lane].committed.len() > left {
                        let group = w.cp_async[lane].committed.pop_front().unwrap_or_default();
                        for id in &group {
                            self.complete(*id).map_err(Fail::of_operation)?;
                        }
                        self.acquire_operations(w.agent, &group);
                    }
                }
            }
            Op::CpAsyncMbarrierArrive { noinc, space } => {
                self.cp_async_arrive(w, frame, func, *noinc, *space, inst, mask)?
            }
            Op::CpBulk(m) => self.bulk_copy(w, frame, func, m, inst, mask)?,
            Op::CpTensor(m) => self.tensor_copy(w, frame, func, m, inst, mask)?,
            Op::BulkCommit => {
                for lane in lanes(mask) {
                    let g = &mut w.bulk[lane];
                    let open = std::mem::take(&mut g.open);
                    g.committed.push_back(open);
                }
            }
            Op::BulkWait { read } => {
                let left = w.uniform(frame, &args[0], mask) as usize;
                for lane in lanes(mask) {
                    let count = w.bulk[lane].committed.len().saturating_sub(left);
                    let groups: Vec<Vec<u64>> = if *read {
                        w.bulk[lane].committed.iter().take(count).cloned().collect()
                    } else {
                        w.bulk[lane].committed.drain(..count).collect()
                    };
                    for group in &groups {
                        for id in group {
                            if *read {
                                self.stage_now(*id).map_err(Fail::of_operation)?;
                                self.acquire_stage(w.agent, *id);
                            } else {
                                self.complete(*id).map_err(Fail::of_operation)?;
                            }
                        }
                        self.acquire_operations(w.agent, group);
                    }
                }
            }
            Op::StAsync { ty, vec } => {
                let address = Self::addresses(w, frame, &args[0]);
                let bar = Self::addresses(w, frame, &args[2]);
                for lane in lanes(mask) {
                    let dst =
                        self.resolve(w.cta, Space::SharedCluster, address[lane]).map_err(|e| Fail::at(e, lane))?;
                    let mut bytes = Vec::new();
                    let items: &[DArg] = match &args[1] {
                        DArg::Vec(v) => v,
                        single => std::slice::from_ref(single),
                    };
                    for item in items.iter().take(usize::from(*vec)) {
                        let value = w.src64(frame, item)[lane];
                        bytes.extend_from_slice(&value.to_le_bytes()[..ty.bytes() as usize]);
                    }
                    let n = bytes.len() as u32;
                    let signal = self.signal_at(w, Space::SharedCluster, bar[lane], SignalKind::Bytes(n), lane)?;
                    self.issue(
                        w,
                        lane,
                        func,
                        origin(w, inst),
                        Work::Store { dst, bytes, answer: false },
                        smallvec![signal],
                    )?;
                }
            }
            Op::RedAsync { op, ty } => {
                let address = Self::addresses(w, frame, &args[0]);
                let value = w.src64(frame, &args[1]);
                let bar = Self::addresses(w, frame, &args[2]);
                for lane in lanes(mask) {
                    let dst =
                        self.resolve(w.cta, Space::SharedCluster, address[lane]).map_err(|e| Fail::at(e, lane))?;
                    let kind = SignalKind::Bytes(ty.bytes());
                    let signal = self.signal_at(w, Space::SharedCluster, bar[lane], kind, lane)?;
                    let work = Work::Reduce { dst, op: *op, ty: *ty, value: value[lane] };
                    self.issue(w, lane, func, origin(w, inst), work, smallvec![signal])?;
                }
            }
            Op::TensormapReplace { field, space } => self.tensormap_replace(w, frame, *field, *space, inst, mask)?,
            Op::TensormapCpFenceproxy { scope } => {
                if let Some(wait) = self.converged(w, mask) {
                    return Ok(wait);
                }
                self.publish_map(w, frame, *scope, inst, mask)?;
            }
            _ => return Err(SimErrorKind::Unsupported(self.prog.text(inst)).into()),
        }
        Ok(Flow::Next)
    }

    fn fence_proxy(&mut self, w: &mut Warp, frame: u32, f: ProxyFence, args: &[DArg], mask: u32) -> Result<(), Fail> {
        // An acquire names a tensor map; the lanes may name different ones.
        let mut maps: SmallVec<[u64; 1]> = SmallVec::new();
        if let (ProxyFence::Tensormap { acquire: true, .. }, Some(arg)) = (f, args.first()) {
            let address = Self::addresses(w, frame, arg);
            for lane in lanes(mask) {
                let location = self.resolve(w.cta, Space::Generic, address[lane]).map_err(|e| Fail::at(e, lane))?;
                if let Location::Global(map) = location
                    && !maps.contains(&map)
                {
                    maps.push(map);
                }
            }
        }
        let Some(race) = &mut self.race else { return Ok(()) };
        match f {
            ProxyFence::Async(_) | ProxyFence::Alias | ProxyFence::AsyncGeneric { .. } => race.proxy_fence(w.agent),
            ProxyFence::Tensormap { scope, .. } => {
                race.fence(w.agent, scope);
                maps.into_iter().for_each(|map| race.map_fence(w.agent, map));
                race.lanes_meet(w.agent, u32::MAX, w.live, w.steps);
            }
            ProxyFence::MbarrierInit | ProxyFence::SyncRestrict { .. } => race.fence(w.agent, Scope::Cluster),
        }
        Ok(())
    }

    fn barrier_at(&self, w: &Warp, space: Space, address: u64, lane: usize) -> Result<(usize, u32), Fail> {
        match self.resolve(w.cta, space, address).map_err(|e| Fail::at(e, lane))? {
            Location::Shared { cta, offset } => Ok((cta, offset)),
            _ => Err(Fail::at(SimErrorKind::Mbarrier(format!("address {address:#x} is not in shared memory")), lane)),
        }
    }

    fn signal_at(&self, w: &Warp, space: Space, address: u64, kind: SignalKind, lane: usize) -> Result<Signal, Fail> {
        let (cta, offset) = self.barrier_at(w, space, address, lane)?;
        self.mbarrier_read(cta, offset).map_err(|e| Fail::at(e, lane))?;
        Ok(Signal { cta, offset, kind })
    }
}

impl Machine<'_> {
    /// `wait_group.read` orders the source reads of an operation before what follows.
    fn acquire_stage(&mut self, agent: u32, id: u64) {
        if let Some(op_agent) = self.engine_race_agent(id)
            && let Some(race) = &mut self.race
        {
            race.release(op_agent, SyncKey::Operation(u64::MAX));
            race.acquire(agent, SyncKey::Operation(u64::MAX));
            race.forget(SyncKey::Operation(u64::MAX));
        }
    }

    fn mbarrier(&mut self, w: &mut Warp, frame: u32, op: MbarrierOp, inst: &DInst, mask: u32) -> StepResult {
        let args = &inst.args;
        let from = origin(w, inst);
        let plain = AccessKind::WRITE;
        let atomic = AccessKind::ATOMIC;
        match op {
            MbarrierOp::Init { space } | MbarrierOp::Inval { space } => {
                let address = Self::addresses(w, frame, &args[0]);
                let init = matches!(op, MbarrierOp::Init { .. });
                let count = if init { w.src32(frame, &args[1]) } else { [0; 32] };
                for lane in lanes(mask) {
                    let (cta, offset) = self.barrier_at(w, space, address[lane], lane)?;
                    let location = Location::Shared { cta, offset };
                    let word = if init {
                        let b = Mbarrier::init(count[lane]);
                        b.map_err(|e| Fail::at(SimErrorKind::Mbarrier(e.to_string()), lane))?.encode()
                    } else {
                        self.mbarrier_read(cta, offset).map_err(|e| Fail::at(e, lane))?;
                        0
                    };
                    if offset % 8 != 0 {
                        let (space, address) = ("shared", u64::from(offset));
                        let kind = SimErrorKind::Misaligned { access: "mbarrier", space, address, bytes: 8 };
                        return Err(Fail::at(kind, lane));
                    }
                    self.note(w.agent, location, 8, plain, from.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
                    self.write_location(w, lane, location, &word.to_le_bytes())
                        .map_err(|f| Fail::at(self.fault(f, "mbarrier access", location, 8), lane))?;
                    self.mbarrier_forget(cta, offset);
                    let key = self.barrier_key(cta, offset);
                    if let Some(race) = self.race.as_mut().filter(|_| init) {
                        race.barrier_initialised(w.agent, key, from.of_lane(lane));
                    }
                    self.mark_progress();
                }
            }
            MbarrierOp::ExpectTx { space } | MbarrierOp::CompleteTx { space } => {
                let address = Self::addresses(w, frame, &args[0]);
                let bytes = w.src32(frame, &args[1]);
                let expect = matches!(op, MbarrierOp::ExpectTx { .. });
                for lane in lanes(mask) {
                    let (cta, offset) = self.barrier_at(w, space, address[lane], lane)?;
                    self.note(w.agent, Location::Shared { cta, offset }, 8, atomic, from.of_lane(lane))
                        .map_err(|e| Fail::at(e, lane))?;
                    let n = bytes[lane];
                    self.mbarrier_update(cta, offset, |b| if expect { b.expect_tx(n) } else { b.complete_tx(n) })
                        .map_err(|e| Fail::at(e, lane))?;
                }
            }
            MbarrierOp::Arrive { space, drop, expect_tx, no_complete, sem, .. } => {
                let has_state = !matches!(args[0], DArg::Mem(..));
                let base = usize::from(has_state);
                let address = Self::addresses(w, frame, &args[base]);
                let count = args.get(base + 1).map_or([1; 32], |c| w.src32(frame, c));
                let mut state = [0u64; 32];
                for lane in lanes(mask) {
                    let (cta, offset) = self.barrier_at(w, space, address[lane], lane)?;
                    self.note(w.agent, Location::Shared { cta, offset }, 8, atomic, from.of_lane(lane))
                        .map_err(|e| Fail::at(e, lane))?;
                    let key = SyncKey::OpenPhase(self.ctas[cta].uid, offset);
                    match &mut self.race {
                        Some(race) if sem == Sem::Relaxed => race.release_relaxed(w.agent, key),
                        Some(race) => race.release_by(w.agent, key, Some(w.releasing(mask))),
                        None => {}
                    }
                    let n = count[lane];
                    state[lane] = self
                        .mbarrier_update(cta, offset, |b| match (expect_tx, drop, no_complete) {
                            (true, true, _) => {
                                b.expect_tx(n)?;
                                b.arrive_drop(1)
                            }
                            (true, false, _) => b.arrive_expect_tx(n),
                            (_, true, _) => b.arrive_drop(n),
                            (_, _, true) => b.arrive_no_complete(n),
                            _ => b.arrive(n),
                        })
                        .map_err(|e| Fail::at(e, lane))?;
                }
                if has_state {
                    w.set64(frame, &args[0], &state, mask);
                }
            }
            MbarrierOp::Wait { space, try_wait, parity, sem, .. } => {
                return self.mbarrier_wait(w, frame, space, try_wait, parity, sem, inst, mask);
            }
            MbarrierOp::PendingCount => {
                let state = w.src64(frame, &args[1]);
                let mut out = [0u32; 32];
                for lane in lanes(mask) {
                    out[lane] = Mbarrier::pending_count(state[lane])
                        .map_err(|e| Fail::at(SimErrorKind::Mbarrier(e.to_string()), lane))?;
                }
                w.set32(frame, &args[0], &out, mask);
            }
        }
        Ok(Flow::Next)
    }

    #[allow(clippy::too_many_arguments, reason = "the operands of one instruction family")]
    fn mbarrier_wait(
        &mut self,
        w: &mut Warp,
        frame: u32,
        space: Space,
        try_wait: bool,
        parity: bool,
        sem: Sem,
        inst: &DInst,
        mask: u32,
    ) -> StepResult {
        let args = &inst.args;
        let address = Self::addresses(w, frame, &args[1]);
        let phase = w.src64(frame, &args[2]);
        let timed_out = self.resumed.take() == Some(Wait::TimedOut);
        let spurious = try_wait && self.options.adversarial.is_some() && self.rng.below(16) == 0;
        let mut done = 0u32;
        let mut waiting = None;
        let mut passed: SmallVec<[(BarrierKey, u32); 1]> = SmallVec::new();
        let from = origin(w, inst);
        for lane in lanes(mask) {
            let (cta, offset) = self.barrier_at(w, space, address[lane], lane)?;
            let how = AccessKind::STRONG_READ;
            self.note(w.agent, Location::Shared { cta, offset }, 8, how, from.of_lane(lane))
                .map_err(|e| Fail::at(e, lane))?;
            let b = self.mbarrier_read(cta, offset).map_err(|e| Fail::at(e, lane))?;
            let asked = if parity {
                phase[lane] & 1 != 0
            } else {
                let state = Mbarrier::decode(phase[lane]);
                state.map_err(|e| Fail::at(SimErrorKind::Mbarrier(e.to_string()), lane))?.parity
            };
            if b.test_wait_parity(asked) && !spurious {
                done |= 1 << lane;
                let released = SyncKey::Mbarrier(self.ctas[cta].uid, offset);
                match &mut self.race {
                    Some(race) if sem == Sem::Relaxed => race.acquire_relaxed(w.agent, released),
                    Some(race) => race.acquire(w.agent, released),
                    None => {}
                }
                let key = self.barrier_key(cta, offset);
                match passed.iter_mut().find(|(k, _)| *k == key) {
                    Some((_, lanes)) => *lanes |= 1 << lane,
                    None => passed.push((key, 1 << lane)),
                }
            } else {
                waiting = Some(Wait::Mbarrier { cta, offset, parity: u32::from(asked), timed: true });
            }
        }
        if try_wait
            && done == 0
            && !timed_out
            && !spurious
            && let Some(wait) = waiting
        {
            self.stats.mbarrier_waits += 1;
            return Ok(Flow::Wait(wait));
        }
        if self.race.is_some() {
            for (barrier, lanes) in passed {
                self.engine.phases.passed(w.agent, barrier, lanes, from);
                self.all_lanes_meet(w);
            }
        }
        self.spin_hints += u64::from(done == 0);
        w.set_pred(frame, &args[0], done, mask);
        Ok(Flow::Next)
    }

    fn cp_async(&mut self, w: &mut Warp, frame: u32, func: u32, inst: &DInst, mask: u32) -> Result<(), Fail> {
        let args = &inst.args;
        let (dst, src) = (Self::addresses(w, frame, &args[0]), Self::addresses(w, frame, &args[1]));
        let bytes = w.uniform(frame, &args[2], mask) as u32;
        if !matches!(bytes, 4 | 8 | 16) {
            return Err(SimErrorKind::AsyncCopy(format!("cp.async of {bytes} bytes")).into());
        }
        let size: [u32; 32] = match args.get(3) {
            Some(DArg::P(_) | DArg::NotP(_)) => {
                let ignore = w.src_pred(frame, &args[3]);
                std::array::from_fn(|l| if ignore >> l & 1 != 0 { 0 } else { bytes })
            }
            Some(other) => w.src32(frame, other),
            None => [bytes; 32],
        };
        let mut list = Vec::new();
        for lane in lanes(mask) {
            let to = self.resolve(w.cta, Space::SharedCta, dst[lane]).map_err(|e| Fail::at(e, lane))?;
            let from = self.resolve(w.cta, Space::Global, src[lane]).map_err(|e| Fail::at(e, lane))?;
            for location in [to, from] {
                if location.address() % u64::from(bytes) != 0 && (location == to || size[lane] > 0) {
                    let (space, address) = (location.space(), location.address());
                    return Err(Fail::at(SimErrorKind::Misaligned { access: "cp.async", space, address, bytes }, lane));
                }
            }
            if size[lane] > bytes {
                let what = format!("cp.async with source size {} of {bytes} bytes", size[lane]);
                return Err(Fail::at(SimErrorKind::AsyncCopy(what), lane));
            }
            list.push(LaneCopy { src: from, dst: to, bytes, src_bytes: size[lane] });
        }
        let lane = mask.trailing_zeros() as usize;
        let id = self.issue(w, lane, func, origin(w, inst), Work::Lanes(list), SmallVec::new())?;
        for lane in lanes(mask) {
            w.cp_async[lane].open.push(id);
        }
        Ok(())
    }

    /// An arrival that takes effect when all earlier `cp.async` of the thread are complete.
    #[allow(clippy::too_many_arguments, reason = "the operands of one instruction family")]
    fn cp_async_arrive(
        &mut self,
        w: &mut Warp,
        frame: u32,
        _func: u32,
        noinc: bool,
        space: Space,
        inst: &DInst,
        mask: u32,
    ) -> Result<(), Fail> {
        let address = Self::addresses(w, frame, &inst.args[0]);
        let how = AccessKind::ATOMIC;
        for lane in lanes(mask) {
            let (cta, offset) = self.barrier_at(w, space, address[lane], lane)?;
            self.note(w.agent, Location::Shared { cta, offset }, 8, how, origin(w, inst).of_lane(lane))
                .map_err(|e| Fail::at(e, lane))?;
            if !noinc {
                self.mbarrier_update(cta, offset, |b| b.add_pending(1)).map_err(|e| Fail::at(e, lane))?;
            }
            let ids: Vec<u64> = w.cp_async[lane]
                .committed
                .iter()
                .flatten()
                .chain(&w.cp_async[lane].open)
                .copied()
                .filter(|id| self.engine.is_pending(*id))
                .collect();
            let signal = Signal { cta, offset, kind: SignalKind::Arrivals(1) };
            // The arrival releases the writes of the completed copies, although the thread itself has not waited for
            // them.
            let done: Vec<u64> =
                w.cp_async[lane].committed.iter().flatten().chain(&w.cp_async[lane].open).copied().collect();
            self.engine_arrive_after(ids, &done, signal, w.agent).map_err(|e| Fail::at(e, lane))?;
        }
        Ok(())
    }

    fn bulk_copy(
        &mut self,
        w: &mut Warp,
        frame: u32,
        func: u32,
        m: &BulkMods,
        inst: &DInst,
        mask: u32,
    ) -> Result<(), Fail> {
        let args = &inst.args;
        if m.prefetch {
            return Ok(());
        }
        let (dst, src) = (Self::addresses(w, frame, &args[0]), Self::addresses(w, frame, &args[1]));
        let size = w.src32(frame, &args[2]);
        let mut next = 3;
        let mut take = |present: bool| {
            let at = next;
            next += usize::from(present);
            present.then_some(at)
        };
        let (bar, cast) = (take(m.mbarrier), take(m.multicast));
        let byte_mask = m.byte_mask.then(|| args.len() - 1);
        let bar = bar.map(|i| Self::addresses(w, frame, &args[i]));
        let cast = cast.map(|i| w.src32(frame, &args[i]));
        let byte_mask = byte_mask.map(|i| w.src32(frame, &args[i]));
        for lane in lanes(mask) {
            let n = size[lane];
            let tma = |e: crate::units::TmaError| Fail::at(SimErrorKind::AsyncCopy(e.to_string()), lane);
            check_bulk(dst[lane], src[lane], n.into()).map_err(tma)?;
            let to = self.resolve(w.cta, m.dst, dst[lane]).map_err(|e| Fail::at(e, lane))?;
            let from = self.resolve(w.cta, m.src, src[lane]).map_err(|e| Fail::at(e, lane))?;
            let mut signals: SmallVec<[Signal; 2]> = SmallVec::new();
            let mut dsts: SmallVec<[Location; 2]> = smallvec![to];
            if let Some(bar) = &bar {
                let signal = self.signal_at(w, Space::SharedCluster, bar[lane], SignalKind::Bytes(n), lane)?;
                signals.push(signal);
            }
            if let (Some(cast), Location::Shared { offset, .. }) = (&cast, to) {
                let targets = self.multicast_targets(w, cast[lane], lane)?;
                dsts = targets.iter().map(|cta| Location::Shared { cta: *cta, offset }).collect();
                let own = signals.pop();
                signals.extend(targets.iter().filter_map(|cta| own.map(|s| Signal { cta: *cta, ..s })));
            }
            let work = match m.reduce {
                None => {
                    let byte_mask = byte_mask.as_ref().map(|b| b[lane] as u16);
                    Work::Copy { src: from, dsts, bytes: n, byte_mask }
                }
                Some((op, ty)) => {
                    let pair = reduce_op(op).zip(reduce_type(ty)).filter(|(o, t)| o.apply(*t, 0, 0).is_some());
                    let Some((op, ty)) = pair else {
                        return Err(SimErrorKind::Unsupported(self.prog.text(inst)).into());
                    };
                    Work::BulkReduce { src: from, dst: to, bytes: n, op, ty }
                }
            };
            let id = self.issue(w, lane, func, origin(w, inst), work, signals)?;
            if !m.mbarrier {
                w.bulk[lane].open.push(id);
            }
        }
        Ok(())
    }

    /// The CTA slots that a multicast mask selects.
    fn multicast_targets(&self, w: &Warp, cast: u32, lane: usize) -> Result<Vec<usize>, Fail> {
        let cluster = self.ctas[w.cta].cluster;
        let cast = cast & 0xffff;
        if cast == 0 {
            return Err(Fail::at(SimErrorKind::AsyncCopy("the multicast mask selects no CTA".into()), lane));
        }
        lanes(cast).map(|rank| self.remote(cluster, rank as u32, 0).map_err(|e| Fail::at(e, lane))).collect()
    }

    /// Reads the tensor map that an operand points to.
    fn tensor_map(
        &mut self,
        w: &Warp,
        frame: u32,
        t: &TensorArg,
        lane: usize,
        from: Origin,
    ) -> Result<TensorMap, Fail> {
        let address = w.address(frame, t.map, t.offset)[lane];
        let location = self.resolve(w.cta, Space::Generic, address).map_err(|e| Fail::at(e, lane))?;
        if !address.is_multiple_of(64) {
            let kind = SimErrorKind::Misaligned { access: "tensor map", space: location.space(), address, bytes: 64 };
            return Err(Fail::at(kind, lane));
        }
        let how = AccessKind::MAP_READ;
        self.note_async(w.agent, &[(location, 128)], how, from.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
        let mut raw = [0u8; 128];
        self.read_location(w, lane, location, &mut raw)
            .map_err(|f| Fail::at(self.fault(f, "tensor map read", location, 128), lane))?;
        let refuse = |why: String| Fail::at(SimErrorKind::AsyncCopy(why), lane);
        let map = TensorMap::decode(&raw).map_err(|e| refuse(e.to_string()))?;
        if map.swizzle_atomicity > 0 && self.prog.sm < 100 {
            return Err(refuse("tensor map: swizzles of units larger than 16 bytes need sm_100".into()));
        }
        Ok(map)
    }

    fn tensor_copy(
        &mut self,
        w: &mut Warp,
        frame: u32,
        func: u32,
        m: &TensorCopyMods,
        inst: &DInst,
        mask: u32,
    ) -> Result<(), Fail> {
        let args = &inst.args;
        let load = m.kind == TensorCopyKind::Load;
        let tensor_at = usize::from(load);
        let DArg::Tensor(t) = &args[tensor_at] else {
            return Err(SimErrorKind::InvalidOperand("no tensor operand".into()).into());
        };
        let coords: Vec<[u32; 32]> = t.coords.iter().map(|c| w.src32(frame, c)).collect();
        let offsets: Vec<[u32; 32]> = t.im2col.iter().map(|c| w.src32(frame, c)).collect();
        let from = origin(w, inst);
        for lane in lanes(mask) {
            let map = self.tensor_map(w, frame, t, lane, from)?;
            if m.kind == TensorCopyKind::Prefetch {
                continue;
            }
            let at = |v: &[[u32; 32]]| v.iter().map(|c| c[lane] as i32).collect::<Vec<i32>>();
            let coords = match m.mode {
                TensorMode::Tile => Coords::Tile(at(&coords)),
                TensorMode::Gather4 | TensorMode::Scatter4 => {
                    let c = at(&coords);
                    match c.as_slice() {
                        [column, a, b, c, d] => Coords::Rows4 { column: *column, rows: [*a, *b, *c, *d] },
                        _ => {
                            let what = "gather4 and scatter4 take five coordinates".to_string();
                            return Err(Fail::at(SimErrorKind::AsyncCopy(what), lane));
                        }
                    }
                }
                TensorMode::Im2col | TensorMode::Im2colNoOffs => {
                    let mut offsets: Vec<u16> = offsets.iter().map(|o| o[lane] as u16).collect();
                    offsets.resize(usize::from(m.rank).saturating_sub(2), 0);
                    Coords::Im2col { base: at(&coords), offsets }
                }
                TensorMode::Im2colW | TensorMode::Im2colW128 => {
                    return Err(SimErrorKind::Unsupported(self.prog.text(inst)).into());
                }
            };
            let map = Box::new(map);
            if load {
                let dst = Self::addresses(w, frame, &args[0])[lane];
                let bar = Self::addresses(w, frame, &args[2])[lane];
                let (cta, offset) = self.barrier_at(w, m.dst, dst, lane)?;
                let kind = SignalKind::Bytes(map.transaction_bytes(&coords.borrow()));
                let signal = self.signal_at(w, Space::SharedCluster, bar, kind, lane)?;
                let (dsts, signals): (Targets, SmallVec<[Signal; 2]>) = if m.multicast {
                    let cast = w.src32(frame, &args[3])[lane];
                    let targets = self.multicast_targets(w, cast, lane)?;
                    let base = self.ctas[w.cta].cluster * self.shape.cluster_size();
                    // In a CTA pair, the signal goes to the CTA that the barrier's address selects.
                    let bar_rank = self.ctas[signal.cta].rank as usize;
                    let signaled =
                        |cta: usize| if m.cta_group == 2 { base + ((cta - base) & !1 | bar_rank & 1) } else { cta };
                    (
                        targets.iter().map(|c| (*c, offset)).collect(),
                        targets.iter().map(|c| Signal { cta: signaled(*c), ..signal }).collect(),
                    )
                } else {
                    (smallvec![(cta, offset)], smallvec![signal])
                };
                self.issue(w, lane, func, from, Work::TensorLoad { map, coords, dsts }, signals)?;
            } else {
                let src = Self::addresses(w, frame, &args[1])[lane];
                let src = self.barrier_at(w, Space::SharedCta, src, lane)?;
                let reduce = match m.kind {
                    TensorCopyKind::Reduce(op) => reduce_op(op),
                    _ => None,
                };
                let work = Work::TensorStore { map, coords, src, reduce };
                let id = self.issue(w, lane, func, from, work, SmallVec::new())?;
                w.bulk[lane].open.push(id);
            }
        }
        Ok(())
    }

    fn tensormap_replace(
        &mut self,
        w: &mut Warp,
        frame: u32,
        field: TensormapField,
        space: Space,
        inst: &DInst,
        mask: u32,
    ) -> Result<(), Fail> {
        let args = &inst.args;
        let address = Self::addresses(w, frame, &args[0]);
        let ordinal = if args.len() == 3 { w.uniform(frame, &args[1], mask) as usize } else { 0 };
        let value = w.src64(frame, &args[args.len() - 1]);
        let field = match field {
            TensormapField::GlobalAddress => TensorMapField::GlobalAddress,
            TensormapField::Rank => TensorMapField::Rank,
            TensormapField::BoxDim => TensorMapField::BoxDim,
            TensormapField::GlobalDim => TensorMapField::GlobalDim,
            TensormapField::GlobalStride => TensorMapField::GlobalStride,
            TensormapField::ElementStride => TensorMapField::ElementStride,
            TensormapField::Elemtype => TensorMapField::ElementType,
            TensormapField::InterleaveLayout => TensorMapField::InterleaveLayout,
            TensormapField::SwizzleMode => TensorMapField::SwizzleMode,
            TensormapField::SwizzleAtomicity => TensorMapField::SwizzleAtomicity,
            TensormapField::FillMode => TensorMapField::FillMode,
        };
        for lane in lanes(mask) {
            let location = self.resolve(w.cta, space, address[lane]).map_err(|e| Fail::at(e, lane))?;
            let mut raw = [0u8; 128];
            let how = AccessKind::WRITE;
            self.note(w.agent, location, 128, how, origin(w, inst).of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
            self.read_location(w, lane, location, &mut raw)
                .map_err(|f| Fail::at(self.fault(f, "tensor map read", location, 128), lane))?;
            TensorMap::replace(&mut raw, field, ordinal, value[lane])
                .map_err(|e| Fail::at(SimErrorKind::AsyncCopy(e.to_string()), lane))?;
            self.write_location(w, lane, location, &raw)
                .map_err(|f| Fail::at(self.fault(f, "tensor map write", location, 128), lane))?;
            self.mark_progress();
        }
        Ok(())
    }

    /// `tensormap.cp_fenceproxy`: a warp copies a tensor map from shared to global memory and releases it.
    fn publish_map(&mut self, w: &mut Warp, frame: u32, scope: Scope, inst: &DInst, mask: u32) -> Result<(), Fail> {
        let (dst, src) = (Self::addresses(w, frame, &inst.args[0]), Self::addresses(w, frame, &inst.args[1]));
        let lane = mask.trailing_zeros() as usize;
        let mut bytes = [0u8; 128];
        let from = self.resolve(w.cta, Space::SharedCta, src[lane])?;
        // The whole warp reads, so the writes of one lane must be ordered before the reads of all lanes.
        for reader in lanes(mask) {
            self.note(w.agent, from, 128, AccessKind::READ, origin(w, inst).of_lane(reader))?;
        }
        self.read_location(w, lane, from, &mut bytes).map_err(|f| self.fault(f, "load", from, 128))?;
        let to = self.resolve(w.cta, Space::Global, dst[lane])?;
        self.note(w.agent, to, 128, AccessKind::WRITE, origin(w, inst))?;
        self.write_location(w, lane, to, &bytes).map_err(|f| self.fault(f, "store", to, 128))?;
        if let Some(race) = &mut self.race {
            race.fence(w.agent, scope);
        }
        self.mark_progress();
        Ok(())
    }
}
