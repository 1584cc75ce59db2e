//! Issue and completion of asynchronous operations.
//!
//! An instruction issues an operation, which takes effect in two steps: it *stages*, that is, reads its source; then
//! it *applies*, that is, writes its destination and signals its mbarrier. By default both steps happen at issue.
//! Under an adversarial schedule they happen as late as is legal: when a wait requires them, at a random time, or when
//! nothing else can run. Until then the destination is poisoned, so that a read of it fails.

use super::access::MemoryAccess;
use super::combine::combine;
use super::report::Reports;
use super::tensor_touch::TensorTouch;
use crate::exec::state::error::{SimError, SimErrorKind, Site};
use crate::exec::state::in_flight::{AsyncOp, Signal, SignalKind, Staged, Work};
use crate::exec::state::location::Location;
use crate::exec::state::machine::{Fail, Machine};
use crate::exec::state::memory::Fault;
use crate::exec::state::phases::BarrierKey;
use crate::exec::state::race::{AccessKind, Origin, SyncKey};
use crate::exec::state::warp::Warp;
use crate::units::{Mbarrier, TmaError};
use smallvec::SmallVec;

/// A fault at a location, as the error of a callback.
struct CopyFault(Location, Fault, u32);

enum CopyError {
    Tma(TmaError),
    CopyFault(CopyFault),
}

impl From<TmaError> for CopyError {
    fn from(e: TmaError) -> CopyError {
        CopyError::Tma(e)
    }
}

/// Issue and completion of asynchronous operations, and updates of their mbarriers.
pub(crate) trait Operations {
    /// Starts an operation. Returns its number, by which groups refer to it.
    fn issue(
        &mut self,
        w: &mut Warp,
        lane: usize,
        func: u32,
        origin: Origin,
        work: Work,
        signals: SmallVec<[Signal; 2]>,
    ) -> Result<u64, Fail>;

    /// Delivers a signal to an mbarrier.
    fn signal(&mut self, s: Signal, agent: Option<u32>) -> Result<(), SimErrorKind>;

    /// Updates the mbarrier object at a shared offset.
    fn mbarrier_update<T>(
        &mut self,
        cta: usize,
        offset: u32,
        f: impl FnOnce(&mut Mbarrier) -> Result<T, crate::units::MbarrierError>,
    ) -> Result<T, SimErrorKind>;

    fn barrier_key(&self, cta: usize, offset: u32) -> BarrierKey;

    /// Discards the history of an mbarrier that is initialized or invalidated.
    fn mbarrier_forget(&mut self, cta: usize, offset: u32);

    /// The mbarrier object at a shared offset.
    fn mbarrier_read(&self, cta: usize, offset: u32) -> Result<Mbarrier, SimErrorKind>;

    fn mbarrier_ready(&self, cta: usize, offset: u32, parity: u32) -> bool;

    fn describe_mbarrier(&self, cta: usize, offset: u32, parity: u32) -> String;

    /// Completes an operation now, because a wait demands it.
    fn complete(&mut self, id: u64) -> Result<(), SimError>;

    /// Makes an operation read its source now, for `wait_group.read`.
    fn stage_now(&mut self, id: u64) -> Result<(), SimError>;

    /// Orders the effects of completed operations before what the warp does next.
    fn acquire_operations(&mut self, agent: u32, ids: &[u64]);

    /// Lets one random operation make progress; returns false if none is in flight.
    fn engine_advance(&mut self, stalled: bool) -> Result<bool, SimError>;

    /// Completes all operations at the end of the grid.
    fn engine_drain(&mut self) -> Result<(), SimError>;

    /// The race-detection agent of an operation in flight.
    fn engine_race_agent(&self, id: u64) -> Option<u32>;

    /// Arrives on an mbarrier when the operations `ids` are complete. The arrival releases the effects of `done`.
    fn engine_arrive_after(
        &mut self,
        ids: Vec<u64>,
        done: &[u64],
        signal: Signal,
        agent: u32,
    ) -> Result<(), SimErrorKind>;

    /// Checks in strict mode, after threads of a CTA have exited, that no copy still reads its shared memory. Shared
    /// memory is kept until such copies have finished.
    fn check_exit(&self, cta: usize) -> Result<(), SimError>;
}

impl Operations for Machine<'_> {
    fn issue(
        &mut self,
        w: &mut Warp,
        lane: usize,
        func: u32,
        origin: Origin,
        work: Work,
        signals: SmallVec<[Signal; 2]>,
    ) -> Result<u64, Fail> {
        let id = self.engine.number();
        let proxy = !matches!(work, Work::Lanes(_));
        let issuer = proxy.then_some(lane as u8);
        let race_agent = self.race.as_mut().map(|r| r.fork(w.agent, issuer));
        if let (Some(agent), Some(race), false) = (race_agent, &mut self.race, proxy) {
            race.writes_ordinarily(agent);
        }
        if let (Some(agent), Some(s)) = (race_agent, signals.first()) {
            let barrier = self.barrier_key(s.cta, s.offset);
            self.engine.phases.issued(agent, barrier, w.agent);
        }
        let op = AsyncOp {
            work,
            signals,
            origin: Origin { lane: issuer, ..origin },
            func,
            cta_id: w.env.ctaid,
            thread: std::array::from_fn(|i| w.env.tid[i][lane]),
            proxy,
            race_agent,
            staged: None,
        };
        self.mark_progress();
        if !self.engine.late {
            self.finish(id, op).map_err(|e| Fail { kind: Box::new(e.kind), lane: Some(lane) })?;
            return Ok(id);
        }
        self.poison(&op);
        self.engine.pending.insert(id, op);
        Ok(id)
    }

    fn signal(&mut self, s: Signal, agent: Option<u32>) -> Result<(), SimErrorKind> {
        let uid = self.ctas[s.cta].uid;
        if let (Some(agent), Some(race)) = (agent, &mut self.race) {
            race.release(agent, SyncKey::OpenPhase(uid, s.offset));
        }
        self.mbarrier_update(s.cta, s.offset, |b| match s.kind {
            SignalKind::Bytes(n) => b.complete_tx(n),
            SignalKind::Arrivals(n) => b.arrive(n).map(|_| ()),
        })
    }

    fn mbarrier_update<T>(
        &mut self,
        cta: usize,
        offset: u32,
        f: impl FnOnce(&mut Mbarrier) -> Result<T, crate::units::MbarrierError>,
    ) -> Result<T, SimErrorKind> {
        let mut b = self.mbarrier_read(cta, offset)?;
        let bad = |e: crate::units::MbarrierError| {
            let name = self.prog.shared_name(offset);
            let wait = self.running.and_then(|w| self.engine.phases.last(w)).filter(|w| w.again);
            let hint = wait.map_or(String::new(), |w| format!("; the last {}: wrong parity?", self.passed_wait(w)));
            SimErrorKind::Mbarrier(format!("{e} at shared offset {offset:#x}{name}{hint}"))
        };
        let open = b.parity;
        let out = f(&mut b).map_err(bad)?;
        if b.parity != open && self.race.is_some() {
            self.phase_ended(cta, offset);
        }
        // The object was just read from this location.
        let _ = self.ctas[cta].shared.write(offset as usize, &b.encode().to_le_bytes());
        self.mark_progress();
        Ok(out)
    }

    fn barrier_key(&self, cta: usize, offset: u32) -> BarrierKey {
        (self.ctas[cta].uid, offset)
    }

    fn mbarrier_forget(&mut self, cta: usize, offset: u32) {
        let key = self.barrier_key(cta, offset);
        if let Some(race) = &mut self.race {
            race.forget(SyncKey::OpenPhase(key.0, key.1));
            race.forget(SyncKey::Mbarrier(key.0, key.1));
            self.engine.phases.initialised(key);
        }
    }

    fn mbarrier_read(&self, cta: usize, offset: u32) -> Result<Mbarrier, SimErrorKind> {
        let mut raw = [0u8; 8];
        let read = self.ctas[cta].shared.read(offset as usize, &mut raw, true);
        if !offset.is_multiple_of(8) {
            return Err(SimErrorKind::Mbarrier(format!("shared offset {offset:#x} is not a multiple of 8")));
        }
        match read {
            Ok(()) => Mbarrier::decode(u64::from_le_bytes(raw))
                .map_err(|e| SimErrorKind::Mbarrier(format!("{e} at shared offset {offset:#x}"))),
            Err(Fault::Uninitialised(_)) => {
                Err(SimErrorKind::Mbarrier(format!("no mbarrier was initialized at shared offset {offset:#x}")))
            }
            Err(f) => Err(self.fault(f, "mbarrier access", Location::Shared { cta, offset }, 8)),
        }
    }

    fn mbarrier_ready(&self, cta: usize, offset: u32, parity: u32) -> bool {
        // An object that has become invalid wakes the waiting warp, whose instruction then reports the error.
        self.mbarrier_read(cta, offset).map_or(true, |b| b.test_wait_parity(parity & 1 != 0))
    }

    fn describe_mbarrier(&self, cta: usize, offset: u32, parity: u32) -> String {
        let [x, y, z] = self.ctas[cta].id;
        match self.mbarrier_read(cta, offset) {
            Ok(b) => {
                let name = self.prog.shared_name(offset);
                let key = self.barrier_key(cta, offset);
                let coming = self.engine.pending.values().flat_map(|op| &op.signals).any(|s| {
                    let signalled = self.barrier_key(s.cta, s.offset);
                    signalled == key
                });
                // The counts are final if no copy is in flight and no other thread arrives.
                let verdict = match (b.pending, b.transactions) {
                    (0, n) if n > 0 && !coming => {
                        format!(": {n} bytes were expected but not copied (wrong expect_tx?)")
                    }
                    (_, n) if n < 0 => {
                        format!(": {} bytes were copied but not expected (wrong expect_tx?)", -n)
                    }
                    _ => String::new(),
                };
                format!(
                    "waits on mbarrier {offset:#x}{name} of CTA ({x},{y},{z}) for the phase of parity {parity}: phase of parity \
                     {} is open with {} of {} arrivals pending and {} transaction bytes outstanding{verdict}",
                    u32::from(b.parity),
                    b.pending,
                    b.expected,
                    b.transactions
                )
            }
            Err(e) => format!("waits on mbarrier {offset:#x}: {e}"),
        }
    }

    fn complete(&mut self, id: u64) -> Result<(), SimError> {
        if !self.options.strict {
            self.complete_earlier_commits(id)?;
        }
        match self.engine.pending.remove(&id) {
            Some(op) => self.finish(id, op),
            None => Ok(()),
        }
    }

    fn stage_now(&mut self, id: u64) -> Result<(), SimError> {
        if let Some(mut op) = self.engine.pending.remove(&id) {
            let result = self.stage(&mut op);
            self.engine.pending.insert(id, op);
            result?;
        }
        Ok(())
    }

    fn acquire_operations(&mut self, agent: u32, ids: &[u64]) {
        if let Some(race) = &mut self.race {
            for id in ids {
                race.acquire(agent, SyncKey::Operation(*id));
            }
        }
    }

    fn engine_advance(&mut self, stalled: bool) -> Result<bool, SimError> {
        let n = self.engine.pending.len() as u64;
        if n == 0 {
            return Ok(false);
        }
        let pick = self.rng.below(n);
        let Some(id) = self.engine.pending.keys().nth(pick as usize).copied() else { return Ok(false) };
        // Unless all warps are stalled, an operation may also only read its source.
        if !stalled && self.rng.below(4) == 0 {
            self.stage_now(id)?
        } else {
            self.complete(id)?
        }
        // A CTA that was waiting only for this operation can now be retired.
        self.recheck_exits();
        Ok(true)
    }

    fn engine_drain(&mut self) -> Result<(), SimError> {
        while self.engine_advance(true)? {}
        Ok(())
    }

    fn engine_race_agent(&self, id: u64) -> Option<u32> {
        self.engine.pending.get(&id).and_then(|op| op.race_agent)
    }

    fn engine_arrive_after(
        &mut self,
        ids: Vec<u64>,
        done: &[u64],
        signal: Signal,
        agent: u32,
    ) -> Result<(), SimErrorKind> {
        let uid = self.ctas[signal.cta].uid;
        if let Some(race) = &mut self.race {
            // The arrival releases the effects of the copies, but does not order them for the issuing thread.
            let proxy = race.fork(agent, None);
            for id in done {
                race.acquire(proxy, SyncKey::Operation(*id));
            }
            race.release(proxy, SyncKey::OpenPhase(uid, signal.offset));
            race.retire(proxy);
        }
        if ids.is_empty() {
            return self.signal(signal, None);
        }
        self.engine.arrivals.push((ids, signal));
        Ok(())
    }

    fn check_exit(&self, cta: usize) -> Result<(), SimError> {
        if !self.options.strict || self.ctas[cta].live_threads != 0 {
            return Ok(());
        }
        for op in self.engine.pending.values().filter(|op| op.staged.is_none()) {
            let reads = match &op.work {
                Work::Copy { src: Location::Shared { cta: c, .. }, .. }
                | Work::BulkReduce { src: Location::Shared { cta: c, .. }, .. } => *c == cta,
                Work::TensorStore { src, .. } => src.0 == cta,
                _ => false,
            };
            if reads {
                let what = "the CTA exits while this copy may still read its shared memory (missing wait_group.read)";
                return Err(self.op_error(op, SimErrorKind::AsyncCopy(what.into())));
            }
        }
        Ok(())
    }
}

impl Machine<'_> {
    /// Poisons the bytes that the operation will overwrite.
    fn poison(&mut self, op: &AsyncOp) {
        let mut wipe = |location: Location, len: u32| match location {
            Location::Shared { cta, offset } => self.ctas[cta].shared.poison(offset as usize, len as usize),
            Location::Global(a) => self.mem.poison(a, len as usize),
            Location::Local(_) => {}
        };
        match &op.work {
            Work::Lanes(list) => list.iter().for_each(|l| wipe(l.dst, l.bytes)),
            Work::Copy { dsts, bytes, byte_mask: None, .. } => dsts.iter().for_each(|d| wipe(*d, *bytes)),
            Work::TensorLoad { map, coords, dsts } => {
                let len = map.box_bytes(&coords.borrow());
                dsts.iter().for_each(|(cta, offset)| wipe(Location::Shared { cta: *cta, offset: *offset }, len));
            }
            Work::Store { dst, bytes, .. } => wipe(*dst, bytes.len() as u32),
            _ => {}
        }
    }

    /// Completes the earlier commits of the thread whose commit this is: they arrive in the order of the thread.
    fn complete_earlier_commits(&mut self, id: u64) -> Result<(), SimError> {
        let Some(Work::Commit(warp, lane)) = self.engine.pending.get(&id).map(|op| &op.work) else { return Ok(()) };
        let thread = (*warp, *lane);
        let same = |op: &AsyncOp| matches!(op.work, Work::Commit(warp, lane) if (warp, lane) == thread);
        let earlier: Vec<u64> = self.engine.pending.range(..id).filter(|(_, op)| same(op)).map(|(id, _)| *id).collect();
        for id in earlier {
            if let Some(op) = self.engine.pending.remove(&id) {
                self.finish(id, op)?;
            }
        }
        Ok(())
    }

    fn op_error(&self, op: &AsyncOp, kind: SimErrorKind) -> SimError {
        let text = self.prog.source.get(op.origin.span.0 as usize..op.origin.span.1 as usize).unwrap_or("");
        let site = Site {
            function: self.prog.funcs.get(op.func as usize).map(|f| f.name.clone()).unwrap_or_default(),
            line: op.origin.line,
            text: text.trim().into(),
            cta: op.cta_id,
            thread: op.thread,
        };
        SimError { kind, at: Some(Box::new(site)) }
    }

    fn raw_read(&self, location: Location, out: &mut [u8]) -> Result<(), CopyFault> {
        let check = self.config.trap_uninitialised;
        let n = out.len() as u32;
        let result = match location {
            Location::Global(a) => self.mem.read(a, out, check),
            Location::Shared { cta, offset } => self.ctas[cta].shared.read(offset as usize, out, check),
            Location::Local(_) => Err(Fault::OutOfBounds),
        };
        result.map_err(|f| CopyFault(location, f, n))
    }

    fn raw_write(&mut self, location: Location, bytes: &[u8]) -> Result<(), CopyFault> {
        let n = bytes.len() as u32;
        let result = match location {
            Location::Global(a) => self.mem.write(a, bytes),
            Location::Shared { cta, offset } => self.ctas[cta].shared.write(offset as usize, bytes),
            Location::Local(_) => Err(Fault::OutOfBounds),
        };
        result.map_err(|f| CopyFault(location, f, n))
    }

    /// Reads the operation's source.
    fn stage(&mut self, op: &mut AsyncOp) -> Result<(), SimError> {
        if op.staged.is_some() {
            return Ok(());
        }
        let mut reads: Vec<(Location, u64)> = Vec::new();
        let result = self.stage_work(&op.work, &mut reads);
        let staged = match result {
            Ok(staged) => staged,
            Err(CopyError::Tma(e)) => return Err(self.op_error(op, SimErrorKind::AsyncCopy(e.to_string()))),
            Err(CopyError::CopyFault(CopyFault(location, fault, n))) => {
                let kind = self.fault(fault, "asynchronous read", location, n);
                return Err(self.op_error(op, kind));
            }
        };
        if let Some(agent) = op.race_agent {
            let how = AccessKind { asynchronous: op.proxy, ..AccessKind::READ };
            for (location, len) in reads {
                self.note(agent, location, len, how, op.origin).map_err(|k| self.op_error(op, k))?;
            }
        }
        op.staged = Some(staged);
        Ok(())
    }

    fn stage_work(&self, work: &Work, reads: &mut Vec<(Location, u64)>) -> Result<Vec<Staged>, CopyError> {
        let mut out = Vec::new();
        match work {
            Work::Lanes(list) => {
                for l in list {
                    let mut bytes = vec![0; l.bytes as usize];
                    if l.src_bytes > 0 {
                        self.raw_read(l.src, &mut bytes[..l.src_bytes as usize]).map_err(CopyError::CopyFault)?;
                        reads.push((l.src, l.src_bytes.into()));
                    }
                    out.push(Staged::Write(l.dst, bytes));
                }
            }
            Work::Copy { src, dsts, bytes, byte_mask } => {
                let mut data = vec![0; *bytes as usize];
                if !data.is_empty() {
                    self.raw_read(*src, &mut data).map_err(CopyError::CopyFault)?;
                    reads.push((*src, u64::from(*bytes)));
                }
                for dst in dsts {
                    match byte_mask {
                        None => out.push(Staged::Write(*dst, data.clone())),
                        Some(mask) => {
                            for (i, b) in data.iter().enumerate().filter(|(i, _)| mask >> (i % 16) & 1 != 0) {
                                out.push(Staged::Write(dst.plus(i as u64), vec![*b]));
                            }
                        }
                    }
                }
            }
            Work::BulkReduce { src, dst, bytes, op, ty } => {
                let mut data = vec![0; *bytes as usize];
                self.raw_read(*src, &mut data).map_err(CopyError::CopyFault)?;
                reads.push((*src, u64::from(*bytes)));
                for (i, e) in data.chunks(ty.size()).enumerate() {
                    let value = e.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
                    out.push(Staged::Reduce(dst.plus((i * ty.size()) as u64), *op, *ty, value));
                }
            }
            Work::TensorLoad { map, coords, dsts } => {
                for (index, (cta, offset)) in dsts.iter().enumerate() {
                    let read = |address: u64, buffer: &mut [u8]| {
                        if index == 0 {
                            reads.push((Location::Global(address), buffer.len() as u64));
                        }
                        self.raw_read(Location::Global(address), buffer).map_err(CopyError::CopyFault)
                    };
                    let write = |offset: u32, bytes: &[u8]| {
                        out.push(Staged::Write(Location::Shared { cta: *cta, offset }, bytes.to_vec()));
                        Ok(())
                    };
                    map.load::<CopyError>(&coords.borrow(), *offset, read, write)?;
                }
            }
            Work::TensorStore { map, coords, src: (cta, offset), reduce } => {
                let read = |offset: u32, buffer: &mut [u8]| {
                    let location = Location::Shared { cta: *cta, offset };
                    reads.push((location, buffer.len() as u64));
                    self.raw_read(location, buffer).map_err(CopyError::CopyFault)
                };
                match reduce {
                    None => map.store::<CopyError>(&coords.borrow(), *offset, read, |address, bytes| {
                        out.push(Staged::Write(Location::Global(address), bytes.to_vec()));
                        Ok(())
                    })?,
                    Some(op) => {
                        map.reduce::<CopyError>(&coords.borrow(), *offset, *op, read, |address, ty, value| {
                            out.push(Staged::Reduce(Location::Global(address), *op, ty, value));
                            Ok(())
                        })?
                    }
                }
            }
            Work::Store { dst, bytes, .. } => out.push(Staged::Write(*dst, bytes.clone())),
            Work::Reduce { dst, op, ty, value } => out.push(Staged::Atomic(*dst, *op, *ty, *value)),
            Work::Commit(..) => {}
        }
        Ok(out)
    }

    /// Stages the operation if necessary, then applies it and sends its signals.
    fn finish(&mut self, id: u64, mut op: AsyncOp) -> Result<(), SimError> {
        self.stage(&mut op)?;
        let staged = op.staged.take().unwrap_or_default();
        for s in staged {
            let (location, len, strong) = match &s {
                Staged::Write(p, bytes) => (*p, bytes.len(), false),
                Staged::Reduce(p, _, ty, _) => (*p, ty.size(), true),
                Staged::Atomic(p, _, ty, _) => (*p, ty.bytes() as usize, true),
            };
            if let Some(agent) = op.race_agent {
                self.note_staged(agent, &op, &s, (location, len, strong))?;
            }
            self.stats.async_bytes += len as u64;
            self.apply(s).map_err(|CopyFault(location, fault, n)| {
                let kind = self.fault(fault, "asynchronous write", location, n);
                self.op_error(&op, kind)
            })?;
        }
        if let Work::Commit(warp, lane) = op.work {
            self.land_operations((warp, lane), id);
        }
        for signal in std::mem::take(&mut op.signals) {
            // The PTX ISA does not say that `tcgen05.commit` arrives through a proxy.
            let copies = op.proxy && !matches!(op.work, Work::Commit(..));
            if let Some(agent) = op.race_agent.filter(|_| copies) {
                let location = Location::Shared { cta: signal.cta, offset: signal.offset };
                self.note_arrival(agent, location, op.origin).map_err(|k| self.op_error(&op, k))?;
            }
            self.signal(signal, op.race_agent).map_err(|k| self.op_error(&op, k))?;
        }
        if let (Some(agent), Some(race)) = (op.race_agent, &mut self.race) {
            race.release(agent, SyncKey::Operation(id));
            race.retire(agent);
        }
        self.deliver_arrivals(id).map_err(|k| self.op_error(&op, k))?;
        self.mark_progress();
        Ok(())
    }

    /// Records a write that the operation makes now. Of a box, each piece that the swizzle keeps together is compared
    /// with the memory for itself.
    fn note_staged(
        &mut self,
        agent: u32,
        op: &AsyncOp,
        s: &Staged,
        (location, len, strong): (Location, usize, bool),
    ) -> Result<(), SimError> {
        let piece = match &op.work {
            Work::TensorLoad { map, .. } => map.piece(),
            _ => len,
        };
        let mut old = vec![0; piece];
        for at in (0..len).step_by(piece.max(1)) {
            let (here, n) = (location.plus(at as u64), piece.min(len - at));
            let unchanged = match s {
                Staged::Write(_, bytes) => self.raw_read(here, &mut old[..n]).is_ok() && old[..n] == bytes[at..at + n],
                _ => false,
            };
            let after_reads = self.options.strict && matches!(op.work, Work::Store { answer: true, .. });
            let how = AccessKind { strong, unchanged, asynchronous: op.proxy, after_reads, ..AccessKind::WRITE };
            self.note(agent, here, n as u64, how, op.origin).map_err(|k| self.op_error(op, k))?;
        }
        Ok(())
    }

    fn apply(&mut self, s: Staged) -> Result<(), CopyFault> {
        match s {
            Staged::Write(location, bytes) => self.raw_write(location, &bytes),
            Staged::Reduce(location, op, ty, value) => {
                let mut raw = [0u8; 8];
                self.raw_read(location, &mut raw[..ty.size()])?;
                let old = u64::from_le_bytes(raw);
                let new = op.apply(ty, old, value).unwrap_or(old);
                self.raw_write(location, &new.to_le_bytes()[..ty.size()])
            }
            Staged::Atomic(location, op, ty, value) => {
                let mut raw = [0u8; 8];
                let n = ty.bytes() as usize;
                self.raw_read(location, &mut raw[..n])?;
                let new = combine(op, ty, u64::from_le_bytes(raw), value, false);
                self.raw_write(location, &new.to_le_bytes()[..n])
            }
        }
    }

    /// Makes what the phase's arrivals released available to waits.
    fn phase_ended(&mut self, cta: usize, offset: u32) {
        let key = self.barrier_key(cta, offset);
        self.engine.phases.phase_ended(key);
        if let Some(race) = &mut self.race {
            race.pass(SyncKey::OpenPhase(key.0, key.1), SyncKey::Mbarrier(key.0, key.1));
            race.forget(SyncKey::OpenPhase(key.0, key.1));
        }
    }

    /// Delivers the arrivals for which this was the last copy to complete.
    fn deliver_arrivals(&mut self, id: u64) -> Result<(), SimErrorKind> {
        let mut ready = Vec::new();
        let mut tracked = Vec::new();
        self.engine.arrivals.retain_mut(|(ids, signal)| {
            let before = ids.len();
            ids.retain(|i| *i != id);
            if ids.len() != before {
                tracked.push(*signal);
            }
            if ids.is_empty() {
                ready.push(*signal);
            }
            !ids.is_empty()
        });
        // The arrival releases every copy that it waits for, not only the last one.
        for signal in tracked {
            let uid = self.ctas[signal.cta].uid;
            if let Some(race) = &mut self.race {
                race.pass(SyncKey::Operation(id), SyncKey::OpenPhase(uid, signal.offset));
            }
        }
        for signal in ready {
            self.signal(signal, None)?;
        }
        Ok(())
    }
}
