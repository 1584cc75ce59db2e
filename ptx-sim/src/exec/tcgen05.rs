//! `tcgen05`: tensor memory and the matrix instructions that work on it.
//!
//! Multiplications and copies are executed when they are issued, in order, as one thread's operations are ordered
//! among themselves. Under an adversarial schedule the commit's arrival is an operation in flight and comes late, so
//! that a wait on its mbarrier that is missing or wrong shows.

use super::async_engine::{Signal, SignalKind, Work};
use super::error::SimErrorKind;
use super::ldst::Place;
use super::machine::{Fail, Flow, Machine, Step};
use super::program::{Arg, DInst};
use super::race::How;
use super::tensor_ops::UnitError;
use super::warp::{Lanes, Wait, Warp, lanes};
use crate::ir::*;
use crate::tensor::tcgen05::{ASource, Participant};
use crate::tensor::{
    CopyShape, DataShape, InstructionDescriptor, Kind, MatrixFormat, Tcgen05Mma, TensorError, TensorMemory,
};
use smallvec::{SmallVec, smallvec};

/// The tensor memory of a CTA, made when it is first used.
#[derive(Debug, Default)]
pub(crate) struct TmemState {
    memory: Option<Box<TensorMemory>>,
}

impl TmemState {
    fn get(&mut self) -> &mut TensorMemory {
        self.memory.get_or_insert_with(Box::default)
    }

    /// Columns that were allocated and not freed.
    pub fn leaked(&self) -> u32 {
        self.memory.as_ref().map_or(0, |m| m.allocated_columns())
    }
}

fn tensor(e: TensorError) -> SimErrorKind {
    SimErrorKind::Tensor(e.to_string())
}

fn kind(k: MmaKind) -> Kind {
    match k {
        MmaKind::F16 => Kind::F16,
        MmaKind::Tf32 => Kind::Tf32,
        MmaKind::F8f6f4 => Kind::F8f6f4,
        MmaKind::I8 => Kind::I8,
        MmaKind::Mxf8f6f4 => Kind::Mxf8f6f4,
        MmaKind::Mxf4 => Kind::Mxf4,
        MmaKind::Mxf4nvf4 => Kind::Mxf4nvf4,
    }
}

impl Machine<'_> {
    pub fn tmem_available(&self, cta: usize, columns: u32) -> bool {
        // The attempt is made on a copy: it tells whether a range is free without taking it.
        match &self.ctas[cta].tmem.memory {
            Some(m) => !matches!(m.clone().allocate(columns), Ok(None)),
            None => true,
        }
    }

    /// The CTA slots that an instruction with this `cta_group` concerns, in rank order.
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

    pub fn tcgen05_op(&mut self, w: &mut Warp, si: usize, op: &Tcgen05Op, inst: &DInst, mask: u32) -> Step {
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
                // For a pair, each CTA executes the instruction and takes its own columns.
                self.tcgen05_group(w, *cta_group)?;
                let Some(address) = self.ctas[w.cta].tmem.get().allocate(columns).map_err(tensor)? else {
                    return Ok(Flow::Wait(Wait::TmemAlloc { columns }));
                };
                let target = Self::addresses(w, frame, &args[0])[first];
                let place = self.place(w.cta, *space, target)?;
                self.note(w.agent, place, 4, How::WRITE, from)?;
                self.write_place(w, first, place, &address.to_le_bytes())
                    .map_err(|f| self.fault(f, "store", place, 4))?;
                self.mark_progress();
            }
            Tcgen05Op::Dealloc { .. } => {
                let address = w.uniform(frame, &args[0], mask) as u32;
                let columns = w.uniform(frame, &args[1], mask) as u32;
                self.ctas[w.cta].tmem.get().deallocate(address, columns).map_err(tensor)?;
                self.mark_progress();
            }
            Tcgen05Op::RelinquishAllocPermit { .. } => self.ctas[w.cta].tmem.get().relinquish(),
            Tcgen05Op::Ld { shape, num, pack16 } => {
                let split = args.get(2).map_or(0, |a| w.uniform(frame, a, mask) as u32);
                let address = Self::addresses(w, frame, &args[1])[first] as u32;
                let shape = data_shape(*shape, split);
                let memory = self.ctas[w.cta].tmem.get();
                let out = memory.load(w.index % 4, address, shape, u32::from(*num), *pack16).map_err(tensor)?;
                let Arg::Vec(dst) = &args[0] else {
                    return Err(SimErrorKind::InvalidOperand("registers of tcgen05.ld".into()).into());
                };
                let count = out.len() / 32;
                for (r, d) in dst.iter().enumerate().take(count) {
                    let value: Lanes = std::array::from_fn(|l| out[l * count + r]);
                    w.set32(frame, d, &value, mask);
                }
            }
            Tcgen05Op::St { shape, num, unpack16 } => {
                let split = if args.len() > 2 { w.uniform(frame, &args[1], mask) as u32 } else { 0 };
                let address = Self::addresses(w, frame, &args[0])[first] as u32;
                let Arg::Vec(src) = &args[args.len() - 1] else {
                    return Err(SimErrorKind::InvalidOperand("registers of tcgen05.st".into()).into());
                };
                let regs: Vec<Lanes> = src.iter().map(|r| w.src32(frame, r)).collect();
                let values: Vec<u32> = (0..32).flat_map(|l| regs.iter().map(move |r| r[l])).collect();
                let shape = data_shape(*shape, split);
                let memory = self.ctas[w.cta].tmem.get();
                memory.store(w.index % 4, address, shape, u32::from(*num), *unpack16, &values).map_err(tensor)?;
                self.mark_progress();
            }
            // Loads and stores of tensor memory take effect at once, so there is nothing to wait for.
            Tcgen05Op::WaitLd | Tcgen05Op::WaitSt | Tcgen05Op::FenceBefore | Tcgen05Op::FenceAfter => {}
            Tcgen05Op::Commit { space, multicast, .. } => {
                let address = Self::addresses(w, frame, &args[0]);
                let cast = if *multicast { Some(w.src32(frame, &args[1])) } else { None };
                for lane in lanes(mask) {
                    let place = self.place(w.cta, *space, address[lane]).map_err(|e| Fail::at(e, lane))?;
                    let Place::Shared { cta, offset } = place else {
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
                    self.issue(w, lane, func, from, Work::Signal, signals)?;
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
                for cta in self.tcgen05_group(w, *cta_group)? {
                    let mut memory = std::mem::take(&mut self.ctas[cta].tmem);
                    let result = memory.get().copy(address, descriptor, shape, format, |a| self.tcgen05_read(cta, a));
                    self.ctas[cta].tmem = memory;
                    result.map_err(SimErrorKind::from)?;
                }
                self.mark_progress();
            }
            Tcgen05Op::Shift { cta_group } => {
                let address = Self::addresses(w, frame, &args[0])[first] as u32;
                for cta in self.tcgen05_group(w, *cta_group)? {
                    self.ctas[cta].tmem.get().shift_down(address).map_err(tensor)?;
                }
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

    /// Sixteen bytes of shared memory for the tensor core.
    fn tcgen05_read(&self, cta: usize, address: u32) -> Result<[u8; 16], UnitError> {
        let offset = address & 0x3_ffff;
        let mut out = [0u8; 16];
        let read = self.ctas[cta].shared.read(offset as usize, &mut out, self.config.trap_uninitialised);
        read.map_err(|f| UnitError::Sim(self.fault(f, "tensor core read", Place::Shared { cta, offset }, 16)))?;
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
        let value = |arg: &Arg| match arg {
            Arg::Mem(base, offset) => w.address(frame, *base, *offset)[lane],
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
        if let Some(Arg::Vec(words)) = args.get(next) {
            for (slot, word) in disabled_lanes.iter_mut().zip(words.iter()) {
                *slot = value(word) as u32;
            }
            next += 1;
        }
        let accumulate = args.get(next).is_some_and(|p| w.src_pred(frame, p) >> lane & 1 != 0);
        let scale_input_d = args.get(next + 1).map_or(0, |s| value(s) as u32);
        let unit = Tcgen05Mma {
            kind,
            descriptor,
            cta_group: cta_group.into(),
            ws,
            d: value(&args[0]) as u32,
            a: if a_tmem { ASource::Tensor(value(&args[1]) as u32) } else { ASource::Shared(value(&args[1])) },
            b: value(&args[2]),
            accumulate,
            scale_input_d,
            disabled_lanes,
            scales,
            scale_vector: scale_vec.into(),
        };
        let group = self.tcgen05_group(w, cta_group)?;
        let mut memories: Vec<TmemState> = group.iter().map(|c| std::mem::take(&mut self.ctas[*c].tmem)).collect();
        let touched = std::cell::RefCell::new(Vec::new());
        let result = {
            let this = &*self;
            let touched = &touched;
            let mut participants: Vec<_> = memories
                .iter_mut()
                .zip(&group)
                .map(|(m, cta)| Participant {
                    tensor: m.get(),
                    read: move |a: u32| {
                        touched.borrow_mut().push((*cta, a & 0x3_ffff));
                        this.tcgen05_read(*cta, a)
                    },
                })
                .collect();
            unit.execute::<UnitError, _>(&mut participants)
        };
        for (m, cta) in memories.into_iter().zip(&group) {
            self.ctas[*cta].tmem = m;
        }
        result?;
        self.stats.tensor_macs += u64::from(descriptor.m) * u64::from(descriptor.n) * u64::from(kind.k());
        if self.race.is_some() {
            let origin = w.origin(inst).of_lane(lane);
            let mut touched = touched.into_inner();
            touched.sort_unstable();
            touched.dedup();
            let how = How::ASYNC_READ;
            let list: Vec<(Place, u64)> =
                touched.into_iter().map(|(cta, offset)| (Place::Shared { cta, offset }, 16)).collect();
            self.note_async(w.agent, &list, how, origin)?;
        }
        Ok(())
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
