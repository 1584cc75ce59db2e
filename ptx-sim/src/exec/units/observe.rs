//! Extracts the quantities that determine an instruction's cost, for the record of a launch.

use super::access::MemoryAccess;
use super::combine::bank_conflicts;
use super::tcgen05::kind;
use crate::exec::state::lanes::{Lanes64, lanes};
use crate::exec::state::location::Location;
use crate::exec::state::machine::Machine;
use crate::exec::state::memory::FUNCTION_BASE;
use crate::exec::state::program::{DArg, DInst, TensorArg};
use crate::exec::state::record::{Event, REMOTE};
use crate::exec::state::warp::Warp;
use crate::ir::*;
use crate::tensor::InstructionDescriptor;
use crate::units::{Coordinates, Mbarrier, TensorMap};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The kind of an access. A write to memory that was only read before counts as a first access, so the value also tags
/// the object's key in the footprint.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Access {
    Read = 0,
    Write = 1 << 62,
}

/// The number of the CTA in the grid.
fn block_number(w: &Warp) -> u32 {
    let ([x, y, z], [nx, ny, _]) = (w.env.ctaid, w.env.nctaid);
    x.wrapping_add(nx.wrapping_mul(y.wrapping_add(ny.wrapping_mul(z))))
}

/// Records instructions before they execute.
pub(crate) trait Observe {
    /// Returns the event of an instruction, and enters its global-memory accesses into the footprint.
    fn observe(&mut self, w: &Warp, si: usize, inst: &DInst, mask: u32) -> Event;
}

impl Observe for Machine<'_> {
    fn observe(&mut self, w: &Warp, si: usize, inst: &DInst, mask: u32) -> Event {
        let s = &w.splits[si];
        let (frame, args) = (s.frame, &inst.args);
        let mut event = Event { func: s.func, pc: s.pc, lanes: mask, a: 0, b: 0, c: 0 };
        let uniform = |i: usize| args.get(i).map_or(0, |a| w.uniform(frame, a, mask) as u32);
        match &inst.op {
            Op::Ld(a) => self.memory(
                w,
                &mut event,
                a.space,
                &Self::addresses(w, frame, &args[1]),
                a.ty.bytes() * u32::from(a.vec),
                Access::Read,
            ),
            Op::St(a) => self.memory(
                w,
                &mut event,
                a.space,
                &Self::addresses(w, frame, &args[0]),
                a.ty.bytes() * u32::from(a.vec),
                Access::Write,
            ),
            Op::Atom(m) | Op::Red(m) => {
                let at = usize::from(matches!(inst.op, Op::Atom(_)));
                self.memory(
                    w,
                    &mut event,
                    m.space,
                    &Self::addresses(w, frame, &args[at]),
                    m.ty.bytes() * u32::from(m.vec),
                    Access::Write,
                );
            }
            Op::Multimem(m) => {
                let at = usize::from(matches!(m.kind, MultimemKind::LdReduce { .. }));
                let bytes = m.ty.bytes() * u32::from(m.vec);
                self.memory(w, &mut event, m.space, &Self::addresses(w, frame, &args[at]), bytes, Access::Write);
            }
            Op::Ldmatrix(m) | Op::Stmatrix(m) => {
                let at = usize::from(matches!(inst.op, Op::Ldmatrix(_)));
                let rows = if m.num >= 4 { u32::MAX } else { (1 << (8 * u32::from(m.num))) - 1 };
                event.a = passes(&Self::addresses(w, frame, &args[at]), rows, 16);
            }
            Op::CpAsync { .. } => {
                let bytes = uniform(2);
                self.memory(w, &mut event, Space::Global, &Self::addresses(w, frame, &args[1]), bytes, Access::Read);
            }
            Op::CpAsyncWait { all } => event.a = if *all { 0 } else { uniform(0) },
            Op::Tcgen05(op) => self.tensor_memory_event(w, frame, op, args, &mut event),
            Op::BulkWait { .. } | Op::WgmmaWait | Op::Setmaxnreg { .. } => event.a = uniform(0),
            Op::Bar { kind, .. } => {
                let red = matches!(kind, BarKind::RedPopc | BarKind::RedAnd | BarKind::RedOr);
                let base = usize::from(red);
                let counted = if red { args.len() > 3 } else { args.len() > 1 };
                (event.a, event.b) = (uniform(base), if counted { uniform(base + 1) } else { 0 });
            }
            Op::Mbarrier(op) => self.mbarrier_event(w, frame, *op, args, &mut event),
            Op::CpAsyncMbarrierArrive { .. } => event.a = self.barrier_offset(w, frame, &args[0], mask),
            Op::CpBulk(m) if !m.prefetch => {
                let sizes = w.src32(frame, &args[2]);
                event.a = lanes(mask).map(|l| sizes[l]).sum();
                event.b = if m.mbarrier { self.barrier_offset(w, frame, &args[3], mask) } else { u32::MAX };
                let global = if m.dst == Space::Global { &args[0] } else { &args[1] };
                let access = if m.dst == Space::Global { Access::Write } else { Access::Read };
                let address = Self::addresses(w, frame, global);
                for lane in lanes(mask) {
                    self.touch_copy(w, &mut event, address[lane], sizes[lane], access);
                }
            }
            Op::Cluster(ClusterControl::TryCancel { .. }) => {
                event.b = self.barrier_offset(w, frame, &args[1], mask);
            }
            Op::CpTensor(m) if m.kind != TensorCopyKind::Prefetch => {
                let load = m.kind == TensorCopyKind::Load;
                let access = if load { Access::Read } else { Access::Write };
                event.b = if load { self.barrier_offset(w, frame, &args[2], mask) } else { u32::MAX };
                if let DArg::Tensor(t) = &args[usize::from(load)] {
                    for lane in lanes(mask) {
                        let (bytes, key) = self.tensor_box(w, frame, t, lane);
                        event.a += bytes;
                        self.touch_copy(w, &mut event, key, bytes, access);
                    }
                }
            }
            _ => {}
        }
        event
    }
}

impl Machine<'_> {
    /// Bytes of a sector and of a line of the caches; at least 1.
    fn grain(&self) -> (u64, u64) {
        self.recorder.as_ref().map_or((1, 1), |r| (r.options.sector.max(1), r.options.line.max(1)))
    }

    fn memory(&mut self, w: &Warp, event: &mut Event, space: Space, address: &Lanes64, bytes: u32, access: Access) {
        let first = address[event.lanes.trailing_zeros() as usize & 31];
        match self.resolve(w.cta, space, first) {
            Ok(Location::Shared { .. }) => event.a = passes(address, event.lanes, bytes),
            Ok(Location::Global(a)) if a < FUNCTION_BASE => {
                let (bytes_of_sector, bytes_of_line) = self.grain();
                let mut sectors: SmallVec<[(u64, u32); 64]> = SmallVec::new();
                for lane in lanes(event.lanes) {
                    let (start, end) = (address[lane], address[lane].wrapping_add(u64::from(bytes.max(1))));
                    let mut at = start;
                    while at < end {
                        let next = (at / bytes_of_sector + 1) * bytes_of_sector;
                        let covered = (next.min(end) - at) as u32;
                        match sectors.iter_mut().rev().find(|(s, _)| *s == at / bytes_of_sector) {
                            Some((_, n)) => *n += covered,
                            None => sectors.push((at / bytes_of_sector, covered)),
                        }
                        at = next;
                    }
                }
                let partial = sectors.iter().filter(|(_, n)| u64::from(*n) < bytes_of_sector).count() as u32;
                let mut seen: SmallVec<[u64; 32]> = SmallVec::new();
                for (sector, _) in &sectors {
                    let line = sector * bytes_of_sector / bytes_of_line;
                    if !seen.contains(&line) {
                        seen.push(line);
                    }
                }
                (event.a, event.b) = (sectors.len() as u32, seen.len() as u32 | partial << 16);
                let block = block_number(w);
                if let Some(recorder) = &mut self.recorder {
                    for (sector, _) in sectors {
                        let what = sector | access as u64;
                        let is_new = recorder.footprint.touch(block, (event.func, event.pc), what, 1);
                        event.c += u32::from(is_new);
                    }
                }
            }
            Ok(Location::Local(at)) => (event.b, event.c) = (bytes, at),
            // Parameters and constants. Executing the instruction reports invalid addresses.
            _ => {}
        }
    }

    /// Records a copy by the copy engine. Its source counts as one object: tiles of different CTAs are identical or
    /// disjoint.
    fn touch_copy(&mut self, w: &Warp, event: &mut Event, key: u64, bytes: u32, access: Access) {
        let (sector, _) = self.grain();
        let lines = u64::from(bytes).div_ceil(sector);
        if let Some(recorder) = &mut self.recorder
            && recorder.footprint.touch(
                block_number(w),
                (event.func, event.pc),
                key >> 2 | 1 << 63 | access as u64,
                lines,
            )
        {
            event.c += bytes;
        }
    }

    /// The number of bytes of a TMA copy, and a key for its box.
    fn tensor_box(&self, w: &Warp, frame: u32, t: &TensorArg, lane: usize) -> (u32, u64) {
        let address = w.address(frame, t.map, t.offset)[lane];
        let coords: SmallVec<[i32; 5]> = t.coords.iter().map(|c| w.src32(frame, c)[lane] as i32).collect();
        let mut raw = [0u8; 128];
        let location = self.resolve(w.cta, Space::Generic, address);
        let map = location
            .ok()
            .and_then(|p| self.read_location(w, lane, p, &mut raw).ok())
            .and_then(|()| TensorMap::decode(&raw).ok());
        let bytes = map.map_or(0, |map| map.transaction_bytes(&Coordinates::Tile(&coords)));
        // The key depends on the map's contents, not its address: CTAs that build identical maps share the boxes.
        let mut hash = FxHasher::default();
        (raw, &coords).hash(&mut hash);
        (bytes, hash.finish())
    }

    /// The shared offset of the mbarrier that the first lane names, marked if another CTA has it.
    fn barrier_offset(&self, w: &Warp, frame: u32, arg: &DArg, mask: u32) -> u32 {
        let address = Self::addresses(w, frame, arg)[mask.trailing_zeros() as usize & 31] as u32;
        let remote = address >> 24 != self.ctas[w.cta].rank;
        address & 0xff_ffff | if remote { REMOTE } else { 0 }
    }

    fn tensor_memory_event(&self, w: &Warp, frame: u32, op: &Tcgen05Op, args: &[DArg], event: &mut Event) {
        let first = event.lanes.trailing_zeros() as usize & 31;
        match op {
            Tcgen05Op::Alloc { .. } | Tcgen05Op::Dealloc { .. } => event.a = w.src32(frame, &args[1])[first],
            Tcgen05Op::Commit { .. } => event.a = self.barrier_offset(w, frame, &args[0], event.lanes),
            Tcgen05Op::Cp { shape, .. } => event.b = copied_bytes(*shape),
            Tcgen05Op::Mma { cta_group, kind: k, a_tmem, ws, .. } => {
                let (descriptors, group) = (w.src32(frame, &args[3]), u32::from(*cta_group));
                for lane in lanes(event.lanes) {
                    // Executing the instruction reports an invalid descriptor.
                    let Ok(d) = InstructionDescriptor::decode(kind(*k), descriptors[lane]) else { continue };
                    let rows = if *a_tmem { 0 } else { d.m / group };
                    event.a += d.columns_of_d(group, *ws);
                    event.b += (rows + d.n / group) * kind(*k).line_bytes();
                }
            }
            _ => {}
        }
    }

    fn mbarrier_event(&self, w: &Warp, frame: u32, op: MbarrierOp, args: &[DArg], event: &mut Event) {
        let first = event.lanes.trailing_zeros() as usize & 31;
        let lanes = event.lanes.count_ones();
        match op {
            MbarrierOp::Init { .. } => {
                (event.a, event.b) =
                    (self.barrier_offset(w, frame, &args[0], event.lanes), w.src32(frame, &args[1])[first]);
            }
            MbarrierOp::ExpectTx { .. } | MbarrierOp::CompleteTx { .. } => {
                let bytes = w.src32(frame, &args[1])[first];
                (event.a, event.b) = (self.barrier_offset(w, frame, &args[0], event.lanes), bytes * lanes);
            }
            MbarrierOp::Arrive { .. } => {
                let base = usize::from(!matches!(args[0], DArg::Mem(..)));
                let count = args.get(base + 1).map_or(1, |c| w.src32(frame, c)[first]);
                (event.a, event.b) = (self.barrier_offset(w, frame, &args[base], event.lanes), count * lanes);
            }
            MbarrierOp::Wait { parity, .. } => {
                let phase = w.src64(frame, &args[2])[first];
                let parity =
                    if parity { phase & 1 } else { Mbarrier::decode(phase).map_or(0, |b| u64::from(b.parity)) };
                (event.a, event.b) = (self.barrier_offset(w, frame, &args[1], event.lanes), parity as u32);
            }
            MbarrierOp::Inval { .. } | MbarrierOp::PendingCount => {}
        }
    }
}

/// Bytes of shared memory that `tcgen05.cp` reads: lanes times bits per lane.
fn copied_bytes(shape: CpShape) -> u32 {
    let (lanes, bits) = match shape {
        CpShape::S128x256b => (128, 256),
        CpShape::S4x256b => (4, 256),
        CpShape::S128x128b => (128, 128),
        CpShape::S64x128b => (64, 128),
        CpShape::S32x128b => (32, 128),
    };
    lanes * bits / 8
}

/// Passes of a shared-memory access: one for each group of lanes that proceeds together, plus one for each conflict.
fn passes(address: &Lanes64, mask: u32, bytes: u32) -> u32 {
    let words = bytes.div_ceil(4).clamp(1, 8);
    let group = 32 / words;
    let groups = (0..words).filter(|g| mask >> (g * group) & (u32::MAX >> (32 - group)) != 0).count() as u32;
    groups + bank_conflicts(address, mask, bytes) as u32
}
