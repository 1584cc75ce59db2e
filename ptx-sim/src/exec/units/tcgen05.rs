//! `tcgen05`: tensor memory and the matrix instructions that work on it.
//!
//! Every instruction executes at issue, in order, because the operations of one thread are ordered among themselves.
//! Under an adversarial schedule a result counts as in flight until the wait for it, and an earlier use is an error
//! (see [`super::tensor_touch`]). A load is in flight until `tcgen05.wait::ld` and a store until `tcgen05.wait::st`.
//! The registers of a load hold their values at once: the ISA orders a load before the instructions that use its
//! registers, and the wait only orders its read of tensor memory. Other operations are in flight until a commit, whose
//! arrival is itself an asynchronous operation that completes late.

use super::access::MemoryAccess;
use super::completion::Operations;
use super::tensor_ops::UnitError;
use super::tensor_touch::TensorTouch;
use crate::exec::state::error::SimErrorKind;
use crate::exec::state::in_flight::{Signal, SignalKind, Work};
use crate::exec::state::lanes::{Lanes, lanes};
use crate::exec::state::location::Location;
use crate::exec::state::machine::{Fail, Flow, Machine, StepResult};
use crate::exec::state::program::{DArg, DInst};
use crate::exec::state::race::{AccessKind, Origin, SyncKey};
use crate::exec::state::tensor::{Access, Flight, Region, TmemState, Touch};
use crate::exec::state::warp::{Wait, Warp};
use crate::ir::*;
use crate::tensor::tcgen05::{ASource, Participant};
use crate::tensor::{CopyShape, DataShape, InstructionDescriptor, MatrixFormat, Tcgen05Kind, Tcgen05Mma, TensorError};
use smallvec::{SmallVec, smallvec};

fn tensor(e: TensorError) -> SimErrorKind {
    SimErrorKind::Tensor(e.to_string())
}

pub(super) fn kind(k: MmaKind) -> Tcgen05Kind {
    match k {
        MmaKind::F16 => Tcgen05Kind::F16,
        MmaKind::Tf32 => Tcgen05Kind::Tf32,
        MmaKind::F8f6f4 => Tcgen05Kind::F8f6f4,
        MmaKind::I8 => Tcgen05Kind::I8,
        MmaKind::Mxf8f6f4 => Tcgen05Kind::Mxf8f6f4,
        MmaKind::Mxf4 => Tcgen05Kind::Mxf4,
        MmaKind::Mxf4nvf4 => Tcgen05Kind::Mxf4nvf4,
    }
}

/// `tcgen05`.
pub(crate) trait TensorMemoryOps {
    fn tmem_available(&self, cta: usize, columns: u32) -> bool;

    fn tcgen05_op(&mut self, w: &mut Warp, si: usize, op: &Tcgen05Op, inst: &DInst, mask: u32) -> StepResult;
}

impl TensorMemoryOps for Machine<'_> {
    fn tmem_available(&self, cta: usize, columns: u32) -> bool {
        // The attempt works on a copy, so it does not allocate.
        match &self.ctas[cta].tmem.memory {
            Some(m) => !matches!(m.clone().allocate(columns), Ok(None)),
            None => true,
        }
    }

    fn tcgen05_op(&mut self, w: &mut Warp, si: usize, op: &Tcgen05Op, inst: &DInst, mask: u32) -> StepResult {
        let frame = w.splits[si].frame;
        let func = w.splits[si].func;
        let args = &inst.args;
        let from = w.origin(inst);
        let first = mask.trailing_zeros() as usize;
        let aligned = matches!(
            op,
            Tcgen05Op::Alloc { .. }
                | Tcgen05Op::Dealloc { .. }
                | Tcgen05Op::RelinquishAllocPermit { .. }
                | Tcgen05Op::Ld { .. }
                | Tcgen05Op::St { .. }
                | Tcgen05Op::WaitLd
                | Tcgen05Op::WaitSt
        );
        if aligned && let Some(wait) = self.converged(w, mask) {
            return Ok(wait);
        }
        match op {
            Tcgen05Op::Alloc { cta_group, space } => {
                let columns = w.uniform(frame, &args[1], mask) as u32;
                // For a CTA pair, each CTA executes the instruction and allocates its own columns.
                for other in self.tcgen05_group(w, *cta_group)?.into_iter().filter(|cta| *cta != w.cta) {
                    self.check_started(w, other)?;
                }
                let Some(address) = self.ctas[w.cta].tmem.get().allocate(columns).map_err(tensor)? else {
                    return Ok(Flow::Wait(Wait::TmemAlloc { columns }));
                };
                let target = Self::addresses(w, frame, &args[0])[first];
                let location = self.resolve(w.cta, *space, target)?;
                self.note(w.agent, location, 4, AccessKind::WRITE, from)?;
                self.write_location(w, first, location, &address.to_le_bytes())
                    .map_err(|f| self.fault(f, "store", location, 4))?;
                self.mark_progress();
            }
            Tcgen05Op::Dealloc { .. } => {
                let address = w.uniform(frame, &args[0], mask) as u32;
                let columns = w.uniform(frame, &args[1], mask) as u32;
                self.ctas[w.cta].tmem.get().deallocate(address, columns).map_err(tensor)?;
                if self.race.is_some() {
                    let region = Region { lanes: u128::MAX, columns: (address, address + columns) };
                    let touch = self.warp_touch(w, from, region, true, None);
                    self.release_columns(w.cta, touch)?;
                }
                self.mark_progress();
            }
            Tcgen05Op::RelinquishAllocPermit { .. } => self.ctas[w.cta].tmem.get().relinquish(),
            Tcgen05Op::Ld { shape, num, pack16 } => {
                let split = args.get(2).map_or(0, |a| w.uniform(frame, a, mask) as u32);
                let address = self.own_quarter(w, Self::addresses(w, frame, &args[1])[first] as u32);
                let shape = data_shape(*shape, split);
                let memory = self.ctas[w.cta].tmem.get();
                let out = memory.load(w.index % 4, address, shape, u32::from(*num), *pack16).map_err(tensor)?;
                let DArg::Vec(dst) = &args[0] else {
                    return Err(SimErrorKind::InvalidOperand("registers of tcgen05.ld".into()).into());
                };
                let count = out.len() / 32;
                let values = (0..count).map(|r| std::array::from_fn(|l| out[l * count + r]));
                for (d, value) in dst.iter().zip(values) {
                    w.set32(frame, d, &value, mask);
                }
                if self.race.is_some() {
                    for region in data_regions(address, shape, u32::from(*num) << u32::from(*pack16)) {
                        let touch = self.warp_touch(w, from, region, false, Some(Flight::Load));
                        self.touch(w.cta, touch)?;
                    }
                }
            }
            Tcgen05Op::St { shape, num, unpack16 } => {
                let split = if args.len() > 2 { w.uniform(frame, &args[1], mask) as u32 } else { 0 };
                let address = self.own_quarter(w, Self::addresses(w, frame, &args[0])[first] as u32);
                let DArg::Vec(src) = &args[args.len() - 1] else {
                    return Err(SimErrorKind::InvalidOperand("registers of tcgen05.st".into()).into());
                };
                let regs: Vec<Lanes> = src.iter().map(|r| w.src32(frame, r)).collect();
                let values: Vec<u32> = (0..32).flat_map(|l| regs.iter().map(move |r| r[l])).collect();
                let shape = data_shape(*shape, split);
                let memory = self.ctas[w.cta].tmem.get();
                memory.store(w.index % 4, address, shape, u32::from(*num), *unpack16, &values).map_err(tensor)?;
                if self.race.is_some() {
                    for region in data_regions(address, shape, u32::from(*num) << u32::from(*unpack16)) {
                        let touch = self.warp_touch(w, from, region, true, Some(Flight::Store));
                        self.touch(w.cta, touch)?;
                    }
                }
                self.mark_progress();
            }
            Tcgen05Op::WaitLd => self.land(w.cta, w.agent, Flight::Load),
            Tcgen05Op::WaitSt => self.land(w.cta, w.agent, Flight::Store),
            Tcgen05Op::FenceBefore => {
                if let Some(race) = &mut self.race {
                    race.tensor_publish(w.agent);
                }
            }
            Tcgen05Op::FenceAfter => {
                if let Some(race) = &mut self.race {
                    race.tensor_receive(w.agent);
                }
            }
            Tcgen05Op::Commit { space, multicast, .. } => {
                let address = Self::addresses(w, frame, &args[0]);
                let cast = if *multicast { Some(w.src32(frame, &args[1])) } else { None };
                for lane in lanes(mask) {
                    let location = self.resolve(w.cta, *space, address[lane]).map_err(|e| Fail::at(e, lane))?;
                    let Location::Shared { cta, offset } = location else {
                        let what = format!("address {:#x} is not in shared memory", address[lane]);
                        return Err(Fail::at(SimErrorKind::Mbarrier(what), lane));
                    };
                    let kind = SignalKind::Arrivals(1);
                    let mut signals: SmallVec<[Signal; 2]> = SmallVec::new();
                    match &cast {
                        None => signals.push(Signal { cta, offset, kind }),
                        Some(cast) => {
                            let cluster = self.ctas[w.cta].cluster;
                            for rank in lanes(cast[lane] & 0xffff) {
                                let cta = self.remote(cluster, rank as u32, 0).map_err(|e| Fail::at(e, lane))?;
                                signals.push(Signal { cta, offset, kind });
                            }
                        }
                    }
                    let id = self.issue(w, lane, func, from, Work::Commit(w.agent, lane as u8), signals)?;
                    if let (Some(agent), Some(race)) = (self.engine_race_agent(id), &mut self.race) {
                        // The arrival releases the thread's operations; it includes the fence.
                        race.acquire(agent, SyncKey::Thread(w.agent, lane as u8));
                        race.tensor_receive(agent);
                        race.tensor_publish(agent);
                    }
                }
            }
            Tcgen05Op::Cp { cta_group, shape, pairs, src_fmt, .. } => {
                let address = Self::addresses(w, frame, &args[0])[first] as u32;
                let descriptor = w.uniform(frame, &args[1], mask);
                let shape = match (shape, pairs) {
                    (CpShape::S128x256b, _) => CopyShape::L128x256b,
                    (CpShape::S4x256b, _) => CopyShape::L4x256b,
                    (CpShape::S128x128b, _) => CopyShape::L128x128b,
                    (CpShape::S64x128b, Some(true)) => CopyShape::L64x128bWarpx2Pairs02And13,
                    (CpShape::S64x128b, Some(false)) => CopyShape::L64x128bWarpx2Pairs01And23,
                    (CpShape::S32x128b, _) => CopyShape::L32x128bWarpx4,
                    _ => return Err(SimErrorKind::Unsupported(self.prog.text(inst)).into()),
                };
                let format = match src_fmt {
                    Some(Type::B6x16P32) => MatrixFormat::B6x16P32,
                    Some(Type::B4x16P64) => MatrixFormat::B4x16P64,
                    _ => MatrixFormat::B8,
                };
                let mut operation = Operation::default();
                for cta in self.tcgen05_group(w, *cta_group)? {
                    let mut memory = std::mem::take(&mut self.ctas[cta].tmem);
                    let result = memory.get().copy(address, descriptor, shape, format, |a, bytes| {
                        operation.reads.push((cta, a & 0x3_ffff, bytes));
                        self.tcgen05_read(cta, a, bytes)
                    });
                    self.ctas[cta].tmem = memory;
                    result.map_err(SimErrorKind::from)?;
                    let (lanes, width) = shape.footprint();
                    operation.uses.push((cta, Region { lanes, columns: (address, address + width) }, true));
                }
                self.tensor_operation(w, first, from, Access::Copy, operation)?;
                self.mark_progress();
            }
            Tcgen05Op::Shift { cta_group } => {
                let address = Self::addresses(w, frame, &args[0])[first] as u32;
                let mut operation = Operation::default();
                for cta in self.tcgen05_group(w, *cta_group)? {
                    self.ctas[cta].tmem.get().shift_down(address).map_err(tensor)?;
                    let lanes = lane_range(address >> 16, 32);
                    let column = address & 0xffff;
                    operation.uses.push((cta, Region { lanes, columns: (column, column + 8) }, true));
                }
                self.tensor_operation(w, first, from, Access::Shift, operation)?;
            }
            Tcgen05Op::Mma { cta_group, kind: k, scale_vec, a_tmem, ws } => {
                for lane in lanes(mask) {
                    self.tcgen05_mma(w, frame, *cta_group, *k, *scale_vec, *a_tmem, *ws, inst, lane)
                        .map_err(|e| Fail::at(e, lane))?;
                }
                self.mark_progress();
            }
        }
        Ok(Flow::Next)
    }
}

impl Machine<'_> {
    /// The address that a load or store accesses: a warp always reaches its own quarter of the lanes, whichever quarter
    /// the address names. The ISA does not promise this, so in strict mode the address stays as it is and is checked.
    fn own_quarter(&self, w: &Warp, address: u32) -> u32 {
        if self.options.strict { address } else { address & !(0x60 << 16) | (w.index % 4) << 21 }
    }

    /// Checks that the other CTA of a pair has started when a warp allocates for the pair.
    fn check_started(&self, w: &Warp, other: usize) -> Result<(), SimErrorKind> {
        let mut warps = self.ctas[other].warps.iter().flatten();
        let started = match &self.race {
            Some(race) => warps.any(|o| race.knows_of(w.agent, o.agent)),
            None => warps.any(|o| o.steps > 0),
        };
        if started {
            return Ok(());
        }
        let what =
            "paired tcgen05.alloc, but nothing says that the other CTA has started (a barrier of the cluster does)";
        Err(SimErrorKind::Tensor(what.into()))
    }

    /// The slots, in rank order, of the CTAs affected by an instruction with this `cta_group`.
    fn tcgen05_group(&self, w: &Warp, group: u8) -> Result<SmallVec<[usize; 2]>, SimErrorKind> {
        if group != 2 {
            return Ok(smallvec![w.cta]);
        }
        let even = w.cta - (self.ctas[w.cta].rank as usize & 1);
        if self.shape.cluster_size() < 2 || even + 1 >= self.ctas.len() {
            return Err(SimErrorKind::Tensor("cta_group::2 outside a cluster of at least two CTAs".into()));
        }
        Ok(smallvec![even, even + 1])
    }

    /// Reads the elements of 16 bytes of shared memory for the tensor core.
    fn tcgen05_read(&self, cta: usize, address: u32, bytes: usize) -> Result<[u8; 16], UnitError> {
        let offset = address & 0x3_ffff;
        let mut out = [0u8; 16];
        let read = self.ctas[cta].shared.read(offset as usize, &mut out[..bytes], self.config.trap_uninitialised);
        let location = Location::Shared { cta, offset };
        read.map_err(|f| UnitError::Sim(self.fault(f, "tensor core read", location, bytes as u32)))?;
        Ok(out)
    }

    #[allow(clippy::too_many_arguments, reason = "the operands of one instruction")]
    fn tcgen05_mma(
        &mut self,
        w: &mut Warp,
        frame: u32,
        cta_group: u8,
        k: MmaKind,
        scale_vec: u8,
        a_tmem: bool,
        ws: bool,
        inst: &DInst,
        lane: usize,
    ) -> Result<(), SimErrorKind> {
        let args = &inst.args;
        let value = |arg: &DArg| match arg {
            DArg::Mem(base, offset) => w.address(frame, *base, *offset)[lane],
            other => w.src64(frame, other)[lane],
        };
        let kind = kind(k);
        let descriptor = InstructionDescriptor::decode(kind, value(&args[3]) as u32).map_err(tensor)?;
        let mut next = 4;
        let scales = (scale_vec > 0).then(|| {
            next += 2;
            (value(&args[4]) as u32, value(&args[5]) as u32)
        });
        let mut disabled_lanes = [0u32; 8];
        if let Some(DArg::Vec(words)) = args.get(next) {
            for (slot, word) in disabled_lanes.iter_mut().zip(words.iter()) {
                *slot = value(word) as u32;
            }
            next += 1;
        }
        let accumulate = args.get(next).is_some_and(|p| w.src_pred(frame, p) >> lane & 1 != 0);
        let last = args.get(next + 1).map_or(0, value);
        if ws && last != 0 {
            return Err(SimErrorKind::Unsupported("columns of B that are zero (tcgen05.mma.ws)".into()));
        }
        let unit = Tcgen05Mma {
            kind,
            descriptor,
            cta_group: cta_group.into(),
            ws,
            d: value(&args[0]) as u32,
            a: if a_tmem { ASource::Tensor(value(&args[1]) as u32) } else { ASource::Shared(value(&args[1])) },
            b: value(&args[2]),
            accumulate,
            scale_input_d: last as u32,
            disabled_lanes,
            scales,
            scale_vector: scale_vec.into(),
        };
        let group = self.tcgen05_group(w, cta_group)?;
        self.stats.tensor_macs += u64::from(descriptor.m) * u64::from(descriptor.n) * u64::from(kind.k());
        if self.recorder.is_some() {
            return Ok(());
        }
        let mut memories: Vec<TmemState> = group.iter().map(|c| std::mem::take(&mut self.ctas[*c].tmem)).collect();
        let reads = std::cell::RefCell::new(Vec::new());
        let result = {
            let this = &*self;
            let reads = &reads;
            let mut participants: Vec<_> = memories
                .iter_mut()
                .zip(&group)
                .map(|(m, cta)| Participant {
                    tensor: m.get(),
                    read: move |a: u32, bytes: usize| {
                        reads.borrow_mut().push((*cta, a & 0x3_ffff, bytes));
                        this.tcgen05_read(*cta, a, bytes)
                    },
                })
                .collect();
            unit.execute::<UnitError, _>(&mut participants)
        };
        for (m, cta) in memories.into_iter().zip(&group) {
            self.ctas[*cta].tmem = m;
        }
        result?;
        if self.race.is_some() {
            let operation = Operation { uses: uses_of_mma(&unit, &group), reads: reads.into_inner() };
            self.tensor_operation(w, lane, w.origin(inst), Access::Multiply, operation)?;
        }
        Ok(())
    }

    /// Checks the accesses of an operation of a thread, and keeps them until a commit.
    fn tensor_operation(
        &mut self,
        w: &Warp,
        lane: usize,
        origin: Origin,
        by: Access,
        operation: Operation,
    ) -> Result<(), SimErrorKind> {
        let Some(race) = &mut self.race else { return Ok(()) };
        let origin = origin.of_lane(lane);
        let agent = race.fork(w.agent, origin.lane);
        let time = race.now(agent);
        let flight = Some(Flight::Operation(self.engine.number()));
        let Operation { uses, mut reads } = operation;
        reads.sort_unstable();
        reads.dedup();
        for (cta, offset, bytes) in reads {
            self.note(agent, Location::Shared { cta, offset }, bytes as u64, AccessKind::ASYNC_READ, origin)?;
        }
        for (cta, region, write) in uses {
            let lane = origin.lane;
            self.touch(cta, Touch { region, write, by, agent, warp: w.agent, lane, time, origin, flight })?;
        }
        if let Some(race) = &mut self.race {
            race.tensor_publish(agent);
            race.release(agent, SyncKey::Thread(w.agent, lane as u8));
            race.retire(agent);
        }
        Ok(())
    }

    /// An access to tensor memory by a whole warp.
    fn warp_touch(&self, w: &Warp, origin: Origin, region: Region, write: bool, flight: Option<Flight>) -> Touch {
        let time = self.race.as_ref().map_or(0, |r| r.now(w.agent));
        Touch { region, write, by: Access::Warp, agent: w.agent, warp: w.agent, lane: None, time, origin, flight }
    }
}

/// The accesses of an operation: regions of the tensor memory of CTAs, with whether they are written, and pieces
/// of their shared memory.
#[derive(Default)]
struct Operation {
    uses: Vec<(usize, Region, bool)>,
    reads: Vec<(usize, u32, usize)>,
}

fn lane_range(start: u32, count: u32) -> u128 {
    (start..(start + count).min(128)).fold(0, |mask, lane| mask | 1 << lane)
}

fn uses_of_mma(unit: &Tcgen05Mma, group: &[usize]) -> Vec<(usize, Region, bool)> {
    let mut uses = vec![];
    for (rank, cta) in group.iter().enumerate() {
        let (lanes, width) = unit.extent_of_d(rank as u32);
        let at = |address: u32, width: u32| (address & 0xffff, (address & 0xffff) + width);
        uses.push((*cta, Region { lanes, columns: at(unit.d, width) }, true));
        if let ASource::Tensor(a) = unit.a {
            uses.push((*cta, Region { lanes, columns: at(a, unit.columns_of_a()) }, false));
        }
        for (address, words) in unit.scales.iter().flat_map(|(a, b)| unit.scale_words(*a, *b)) {
            uses.push((*cta, Region { lanes: u128::MAX, columns: at(address, words) }, false));
        }
    }
    uses
}

/// The regions that a load or store of `repeat` times its shape accesses.
fn data_regions(address: u32, shape: DataShape, repeat: u32) -> SmallVec<[Region; 2]> {
    let (lane, column) = (address >> 16, address & 0xffff);
    let lanes = lane_range(lane, shape.lanes());
    let region = |start: u32, width: u32| Region { lanes, columns: (start, start.saturating_add(width)) };
    match shape {
        DataShape::L16x32bx2 { split } => {
            smallvec![region(column, repeat), region(column.saturating_add(split & 0xffff), repeat)]
        }
        _ => smallvec![region(column, shape.registers(repeat) as u32 * 32 / shape.lanes())],
    }
}

fn data_shape(shape: TmemShape, split: u32) -> DataShape {
    match shape {
        TmemShape::S32x32b => DataShape::L32x32b,
        TmemShape::S16x64b => DataShape::L16x64b,
        TmemShape::S16x128b => DataShape::L16x128b,
        TmemShape::S16x256b => DataShape::L16x256b,
        TmemShape::S16x32bx2 => DataShape::L16x32bx2 { split },
    }
}
