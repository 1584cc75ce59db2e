//! A warp: its register planes, its divergent parts, and operand access.

use super::lanes::{Lanes, Lanes64, lane_mask, mask_lanes, store};
use super::memory::{Bytes, MAX_LOCAL};
use super::program::{DArg, DInst, MemBase, SHARED_START};
use super::race::{Origin, Releasing};
use super::record::Event;
use super::tensor::WgmmaState;
use super::undefined::Undefined;
use crate::ir::Special;
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;

/// The condition that a part of a warp waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The rest of the warp must reach the same instruction (`.aligned`).
    Converge,
    /// These lanes must reach the same instruction.
    Lanes(u32),
    /// These lanes must reach any `bar.warp.sync`.
    WarpBarrier(u32),
    Barrier {
        id: u32,
        generation: u64,
    },
    Cluster {
        generation: u64,
    },
    /// An mbarrier phase. A `timed` wait may give up.
    Mbarrier {
        cta: usize,
        offset: u32,
        parity: u32,
        timed: bool,
    },
    /// A free range of tensor memory.
    TmemAlloc {
        columns: u32,
    },
    /// A timed wait that may report failure.
    TimedOut,
    /// Lets other parts run once.
    Yield,
}

/// A return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Return {
    pub func: u32,
    pub pc: u32,
    pub frame: u32,
    pub order: u32,
}

/// Lanes of a warp that execute together.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    pub mask: u32,
    pub pc: u32,
    pub func: u32,
    pub frame: u32,
    pub stack: SmallVec<[Return; 2]>,
    /// Convergence order; the lowest runs first.
    pub order: u32,
    /// Raised when the part used its time slice while others waited, so that spinning parts yield.
    pub penalty: u32,
    /// Time used since the penalty was last raised.
    pub spent: u64,
    pub wait: Option<Wait>,
}

/// Registers and local memory of one activation of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub planes: Vec<Lanes>,
    pub preds: Vec<u32>,
    /// Carry flag of extended-precision arithmetic.
    pub carry: u32,
    /// Start of the frame in each lane's local memory.
    pub local: u32,
    pub free: bool,
}

/// Values that do not change while a CTA runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env {
    pub tid: [Lanes; 3],
    pub ntid: [u32; 3],
    pub ctaid: [u32; 3],
    pub nctaid: [u32; 3],
    pub warpid: u32,
    pub nwarps: u32,
    pub smid: u32,
    pub nsm: u32,
    pub gridid: u64,
    pub clusterid: [u32; 3],
    pub nclusterid: [u32; 3],
    pub cluster_ctaid: [u32; 3],
    pub cluster_nctaid: [u32; 3],
    pub rank: u32,
    pub explicit_cluster: bool,
    pub dynamic_shared: u32,
    pub total_shared: u32,
}

/// A group of `cp.async` or bulk copies of one lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneGroups {
    /// Operations that are not committed yet.
    pub open: Vec<u64>,
    pub committed: std::collections::VecDeque<Vec<u64>>,
}

pub(crate) struct Warp {
    /// CTA slot.
    pub cta: usize,
    pub index: u32,
    /// Lanes that have not exited.
    pub live: u32,
    pub splits: Vec<Split>,
    pub frames: Vec<Frame>,
    /// Local memory of each lane.
    pub local: Vec<Bytes>,
    pub local_top: u32,
    /// Local memory of the kernel itself.
    pub kernel_local: u32,
    pub env: Env,
    /// The value of `%clock`: executed instructions plus time slept.
    pub clock: u64,
    /// Prescribed clock readings, and how many have been read.
    pub clock_reads: Option<(Arc<[u64]>, Cell<usize>)>,
    /// Number of executed instructions.
    pub steps: u32,
    /// Register count set by `setmaxnreg`.
    pub maxnreg: Option<u32>,
    pub setmaxnreg_count: u32,
    /// Outstanding `cp.async` groups. Lanes of a warp may commit together or separately.
    pub cp_async: Vec<LaneGroups>,
    pub bulk: Vec<LaneGroups>,
    pub wgmma: WgmmaState,
    /// Race-detection number of the warp, unique in the launch.
    pub agent: u32,
    pub cluster_phase: [u64; 32],
    /// The undefined registers, if tracked.
    pub undefined: Option<Box<Undefined>>,
    /// The executed instructions, if recorded.
    pub events: Vec<Event>,
}

impl Warp {
    #[inline]
    pub fn frame(&mut self, frame: u32) -> &mut Frame {
        &mut self.frames[frame as usize]
    }

    pub fn special(&self, s: Special, now: u64) -> Lanes64 {
        let e = &self.env;
        let per_lane = |f: &dyn Fn(u32) -> u32| std::array::from_fn(|i| u64::from(f(i as u32)));
        let uniform = |v: u32| [u64::from(v); 32];
        let at = |v: &[u32; 3], c: u8| v.get(usize::from(c)).copied().unwrap_or(0);
        match s {
            Special::Tid(c) => match e.tid.get(usize::from(c)) {
                Some(t) => per_lane(&|i| t[i as usize]),
                None => uniform(0),
            },
            Special::Ntid(c) => uniform(at(&e.ntid, c)),
            Special::Ctaid(c) => uniform(at(&e.ctaid, c)),
            Special::Nctaid(c) => uniform(at(&e.nctaid, c)),
            Special::Laneid => per_lane(&|i| i),
            Special::Warpid => uniform(e.warpid),
            Special::Nwarpid => uniform(e.nwarps),
            Special::Smid => uniform(e.smid),
            Special::Nsmid => uniform(e.nsm),
            Special::Gridid => [e.gridid; 32],
            Special::LanemaskEq => per_lane(&|i| 1 << i),
            Special::LanemaskLe => per_lane(&|i| u32::MAX >> (31 - i)),
            Special::LanemaskLt => per_lane(&|i| (1u32 << i) - 1),
            Special::LanemaskGe => per_lane(&|i| u32::MAX << i),
            Special::LanemaskGt => per_lane(&|i| !(u32::MAX >> (31 - i))),
            Special::Clock => uniform(self.read_clock() as u32),
            Special::ClockHi => uniform((self.read_clock() >> 32) as u32),
            Special::Clock64 => [self.read_clock(); 32],
            Special::Globaltimer => [now; 32],
            Special::GlobaltimerLo => uniform(now as u32),
            Special::GlobaltimerHi => uniform((now >> 32) as u32),
            Special::IsExplicitCluster => uniform(u32::from(e.explicit_cluster)),
            Special::Clusterid(c) => uniform(at(&e.clusterid, c)),
            Special::Nclusterid(c) => uniform(at(&e.nclusterid, c)),
            Special::ClusterCtaid(c) => uniform(at(&e.cluster_ctaid, c)),
            Special::ClusterNctaid(c) => uniform(at(&e.cluster_nctaid, c)),
            Special::ClusterCtarank => uniform(e.rank),
            Special::ClusterNctarank => uniform(e.cluster_nctaid.iter().product()),
            Special::DynamicSmemSize => uniform(e.dynamic_shared),
            Special::TotalSmemSize | Special::AggrSmemSize => uniform(e.total_shared),
            Special::ReservedSmemOffsetBegin => uniform(0),
            Special::ReservedSmemOffsetEnd | Special::ReservedSmemOffsetCap => uniform(SHARED_START),
            Special::CurrentGraphExec | Special::Envreg(_) | Special::Pm(_) => uniform(0),
        }
    }

    fn read_clock(&self) -> u64 {
        let Some((readings, next)) = &self.clock_reads else { return self.clock };
        let at = next.replace(next.get() + 1);
        readings.get(at).or(readings.last()).copied().unwrap_or(self.clock)
    }

    /// The shared-window address of a shared variable of this CTA.
    #[inline]
    pub fn shared_address(&self, offset: u32) -> u32 {
        self.env.rank << 24 | offset
    }

    /// A source operand of up to 32 bits.
    #[inline]
    pub fn src32(&self, frame: u32, arg: &DArg) -> Lanes {
        match arg {
            DArg::R(slot, _) => self.frames[frame as usize].planes[*slot as usize],
            DArg::Imm(v) => [*v as u32; 32],
            _ => self.src64(frame, arg).map(|v| v as u32),
        }
    }

    /// A source operand, zero-extended to 64 bits.
    #[inline]
    pub fn src64(&self, frame: u32, arg: &DArg) -> Lanes64 {
        let f = &self.frames[frame as usize];
        match arg {
            DArg::R(slot, bits) => {
                let lo = &f.planes[*slot as usize];
                if *bits > 32 {
                    let hi = &f.planes[*slot as usize + 1];
                    std::array::from_fn(|i| u64::from(lo[i]) | u64::from(hi[i]) << 32)
                } else {
                    lo.map(u64::from)
                }
            }
            DArg::Imm(v) => [*v; 32],
            DArg::Special(s) => self.special(*s, self.clock),
            DArg::Shared(offset) => [u64::from(self.shared_address(*offset)); 32],
            DArg::Local(offset) => [u64::from(f.local.wrapping_add(*offset)); 32],
            DArg::P(p) => mask_lanes(f.preds[*p as usize]),
            DArg::NotP(p) => mask_lanes(!f.preds[*p as usize]),
            _ => [0; 32],
        }
    }

    /// A source operand of 128 bits, as four planes.
    pub fn src128(&self, frame: u32, arg: &DArg) -> [Lanes; 4] {
        match arg {
            DArg::R(slot, 128) => {
                let planes = &self.frames[frame as usize].planes;
                std::array::from_fn(|i| planes[*slot as usize + i])
            }
            _ => {
                let v = self.src64(frame, arg);
                [v.map(|v| v as u32), v.map(|v| (v >> 32) as u32), [0; 32], [0; 32]]
            }
        }
    }

    /// A predicate operand as a lane mask.
    #[inline]
    pub fn src_pred(&self, frame: u32, arg: &DArg) -> u32 {
        let f = &self.frames[frame as usize];
        match arg {
            DArg::P(p) => f.preds[*p as usize],
            DArg::NotP(p) => !f.preds[*p as usize],
            DArg::Imm(v) if *v != 0 => u32::MAX,
            DArg::Special(s) => lane_mask(&self.special(*s, 0)),
            _ => 0,
        }
    }

    /// Writes the lanes of `mask`. A 64-bit destination is zero-extended.
    #[inline]
    pub fn set32(&mut self, frame: u32, arg: &DArg, value: &Lanes, mask: u32) {
        if let DArg::R(slot, bits) = arg {
            let planes = &mut self.frames[frame as usize].planes;
            match *bits {
                8 | 16 => {
                    let keep = (1u32 << *bits) - 1;
                    store(&mut planes[*slot as usize], &value.map(|v| v & keep), mask);
                }
                32 => store(&mut planes[*slot as usize], value, mask),
                _ => {
                    store(&mut planes[*slot as usize], value, mask);
                    for extra in 1..*bits as usize / 32 {
                        store(&mut planes[*slot as usize + extra], &[0; 32], mask);
                    }
                }
            }
        }
    }

    /// Writes the lanes of `mask`, truncated to the destination's width.
    #[inline]
    pub fn set64(&mut self, frame: u32, arg: &DArg, value: &Lanes64, mask: u32) {
        if let DArg::R(slot, bits) = arg {
            if *bits <= 32 {
                return self.set32(frame, arg, &value.map(|v| v as u32), mask);
            }
            let planes = &mut self.frames[frame as usize].planes;
            store(&mut planes[*slot as usize], &value.map(|v| v as u32), mask);
            store(&mut planes[*slot as usize + 1], &value.map(|v| (v >> 32) as u32), mask);
            if *bits == 128 {
                store(&mut planes[*slot as usize + 2], &[0; 32], mask);
                store(&mut planes[*slot as usize + 3], &[0; 32], mask);
            }
        }
    }

    pub fn set128(&mut self, frame: u32, arg: &DArg, value: &[Lanes; 4], mask: u32) {
        if let DArg::R(slot, bits) = arg {
            let planes = &mut self.frames[frame as usize].planes;
            for i in 0..(*bits as usize).div_ceil(32).min(4) {
                store(&mut planes[*slot as usize + i], &value[i], mask);
            }
        }
    }

    /// Writes a predicate in the lanes of `mask`.
    #[inline]
    pub fn set_pred(&mut self, frame: u32, arg: &DArg, value: u32, mask: u32) {
        if let DArg::P(p) = arg {
            let p = &mut self.frames[frame as usize].preds[*p as usize];
            *p = (*p & !mask) | (value & mask);
        }
    }

    /// The instruction, as the origin of accesses.
    pub fn origin(&self, inst: &DInst) -> Origin {
        Origin { line: inst.line, span: inst.span, warp: self.agent, lane: None, step: self.steps }
    }

    /// A release by these lanes now.
    pub fn releasing(&self, lanes: u32) -> Releasing {
        Releasing { lanes, live: self.live, step: self.steps }
    }

    /// The address operand of each lane, in its own space.
    #[inline]
    pub fn address(&self, frame: u32, base: MemBase, offset: i64) -> Lanes64 {
        let f = &self.frames[frame as usize];
        match base {
            MemBase::R64(slot) => {
                let lo = &f.planes[slot as usize];
                let hi = &f.planes[slot as usize + 1];
                std::array::from_fn(|i| (u64::from(lo[i]) | u64::from(hi[i]) << 32).wrapping_add(offset as u64))
            }
            MemBase::R32(slot) => {
                let lo = &f.planes[slot as usize];
                std::array::from_fn(|i| u64::from(lo[i].wrapping_add(offset as u32)))
            }
            MemBase::Abs => [offset as u64; 32],
            MemBase::Shared(o) => [u64::from(self.shared_address(o)); 32],
            MemBase::Local(o) => [u64::from(f.local.wrapping_add(o)); 32],
        }
    }

    /// The value of a warp-uniform operand, taken from the first active lane.
    pub fn uniform(&self, frame: u32, arg: &DArg, mask: u32) -> u64 {
        let lane = mask.trailing_zeros().min(31) as usize;
        self.src64(frame, arg)[lane]
    }

    /// Pushes `bytes` bytes of local memory. Returns the start address, or `None` if there is no room.
    pub fn push_local(&mut self, bytes: u32, align: u32) -> Option<u32> {
        let start = self.local_top.checked_next_multiple_of(align.max(1))?;
        self.local_top = start.checked_add(bytes).filter(|top| *top <= MAX_LOCAL)?;
        for lane in &mut self.local {
            lane.grow(self.local_top as usize);
            lane.poison(start as usize, bytes as usize);
        }
        Some(start)
    }

    /// Allocates a frame; returns `None` if its local memory does not fit.
    pub fn new_frame(&mut self, planes: u32, preds: u32, local_bytes: u32, fill: u32) -> Option<u32> {
        let local = self.push_local(local_bytes, 16)?;
        let frame = Frame {
            planes: vec![[fill; 32]; planes as usize],
            preds: vec![fill; preds as usize],
            carry: 0,
            local,
            free: false,
        };
        Some(match self.frames.iter().position(|f| f.free) {
            Some(i) => {
                self.frames[i] = frame;
                i as u32
            }
            None => {
                self.frames.push(frame);
                self.frames.len() as u32 - 1
            }
        })
    }

    /// Releases frames that no part refers to.
    pub fn collect_frames(&mut self) {
        let mut used = vec![false; self.frames.len()];
        for s in &self.splits {
            used[s.frame as usize] = true;
            for r in &s.stack {
                used[r.frame as usize] = true;
            }
        }
        for (f, used) in self.frames.iter_mut().zip(used) {
            if !used {
                f.free = true;
            }
        }
        // Local memory is a stack: if no function call is active, everything above the kernel's frame is free.
        if self.splits.iter().all(|s| s.stack.is_empty()) {
            self.local_top = self.kernel_local;
        }
    }

    /// Joins parts that are at the same instruction.
    pub fn merge(&mut self) {
        let mut i = 0;
        while i < self.splits.len() {
            let mut j = i + 1;
            while j < self.splits.len() {
                let (a, b) = (&self.splits[i], &self.splits[j]);
                let meet = a.pc == b.pc && a.frame == b.frame && a.func == b.func && a.stack == b.stack;
                let waiting = |w: &Option<Wait>| matches!(w, None | Some(Wait::Converge | Wait::Lanes(_)));
                // Parts that wait for different lanes stay separate; otherwise they would be split again immediately.
                if meet && waiting(&a.wait) && a.wait == b.wait {
                    let other = self.splits.swap_remove(j);
                    let a = &mut self.splits[i];
                    a.mask |= other.mask;
                    a.order = a.order.min(other.order);
                    a.penalty = a.penalty.min(other.penalty);
                    // The merged part evaluates the instruction again.
                    a.wait = None;
                } else {
                    j += 1;
                }
            }
            i += 1;
        }
    }
}
