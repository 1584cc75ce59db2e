//! `clusterlaunchcontrol`: a running cluster takes over the work of one that has not started.
//!
//! A request is answered with the first CTA of a canceled cluster, which then never starts, or with a refusal. PTX
//! leaves open which cluster it is, and a device may refuse while clusters are left. The plain schedule grants clusters
//! in the order of the grid until none is left. Adversarial schedules grant them in random order, and by the remainder
//! of the seed divided by 4:
//!
//! | remainder | requests are |
//! |---|---|
//! | 0, 1 | granted while clusters are left |
//! | 2 | refused at random |
//! | 3 | refused |
//!
//! Clusters that are left after a refusal start as usual. A CTA that has seen a refusal must not ask again: PTX calls
//! that undefined.
//!
//! The response holds the index of the first CTA in its first three words, and whether there is one in the highest bit
//! of the last word.

use super::access::MemoryAccess;
use super::async_ops::AsyncOps;
use super::completion::Operations;
use crate::exec::state::error::SimErrorKind;
use crate::exec::state::in_flight::{Signal, SignalKind, Work};
use crate::exec::state::lanes::lanes;
use crate::exec::state::location::Location;
use crate::exec::state::machine::{Fail, Machine};
use crate::exec::state::program::{DArg, DInst};
use crate::exec::state::warp::Warp;
use crate::ir::*;
use smallvec::smallvec;

/// `clusterlaunchcontrol`.
pub(crate) trait ClusterControlOps {
    fn cluster_control(
        &mut self,
        w: &mut Warp,
        frame: u32,
        op: ClusterControl,
        inst: &DInst,
        mask: u32,
    ) -> Result<(), Fail>;
}

impl ClusterControlOps for Machine<'_> {
    fn cluster_control(
        &mut self,
        w: &mut Warp,
        frame: u32,
        op: ClusterControl,
        inst: &DInst,
        mask: u32,
    ) -> Result<(), Fail> {
        let args = &inst.args;
        match op {
            ClusterControl::TryCancel { multicast } => {
                let (dst, bar) = (Self::addresses(w, frame, &args[0]), Self::addresses(w, frame, &args[1]));
                for lane in lanes(mask) {
                    self.try_cancel(w, multicast, (dst[lane], bar[lane]), inst, lane)?;
                }
            }
            ClusterControl::IsCanceled => {
                let response = w.src128(frame, &args[1]);
                let p = (0..32).fold(0u32, |m, l| m | (response[3][l] >> 31) << l);
                self.ctas[w.cta].refused |= p & mask != mask;
                w.set_pred(frame, &args[0], p, mask);
            }
            ClusterControl::FirstCtaid(component) => {
                let response = w.src128(frame, &args[1]);
                if lanes(mask).any(|l| response[3][l] >> 31 == 0) {
                    let what = "get_first_ctaid of a response that is not a cancellation".to_string();
                    return Err(SimErrorKind::InvalidOperand(what).into());
                }
                match &args[0] {
                    DArg::Vec(items) => {
                        for (i, item) in items.iter().enumerate().take(4) {
                            let value = if i < 3 { response[i] } else { [0; 32] };
                            w.set32(frame, item, &value, mask);
                        }
                    }
                    dst => w.set32(frame, dst, &response[usize::from(component).min(2)], mask),
                }
            }
        }
        Ok(())
    }
}

impl Machine<'_> {
    fn try_cancel(
        &mut self,
        w: &mut Warp,
        multicast: bool,
        (dst, bar): (u64, u64),
        inst: &DInst,
        lane: usize,
    ) -> Result<(), Fail> {
        if self.ctas[w.cta].refused {
            let what = "clusterlaunchcontrol.try_cancel after the CTA has seen that an earlier request was refused";
            return Err(Fail::at(SimErrorKind::InvalidOperand(what.into()), lane));
        }
        let (cta, offset) = self.barrier_at(w, Space::SharedCta, dst, lane)?;
        if offset % 16 != 0 {
            let (space, address) = ("shared", u64::from(offset));
            let kind = SimErrorKind::Misaligned { access: "response", space, address, bytes: 16 };
            return Err(Fail::at(kind, lane));
        }
        let signal = self.signal_at(w, Space::SharedCta, bar, SignalKind::Bytes(16), lane)?;
        let mut bytes = vec![0; 16];
        if let Some(first) = self.cancel_cluster(self.ctas[w.cta].cluster) {
            for (word, value) in bytes.chunks_mut(4).zip([first[0], first[1], first[2], 1 << 31]) {
                word.copy_from_slice(&value.to_le_bytes());
            }
        }
        let size = self.shape.cluster_size();
        let base = self.ctas[w.cta].cluster * size;
        let targets = if multicast { (base..base + size).collect::<Vec<_>>() } else { vec![cta] };
        for target in targets {
            let dst = Location::Shared { cta: target, offset };
            let work = Work::Store { dst, bytes: bytes.clone(), answer: true };
            let signal = Signal { cta: target, ..signal };
            self.issue(w, lane, 0, w.origin(inst), work, smallvec![signal])?;
        }
        Ok(())
    }

    /// Takes a cluster out of those that have not started, for the cluster in a slot. Returns its first CTA, or `None`
    /// for a refusal.
    fn cancel_cluster(&mut self, slot: usize) -> Option<[u32; 3]> {
        let end = self.total_clusters();
        if let Some(recorder) = &self.recorder {
            let index = *recorder.options.takeovers.get(&self.clusters[slot].last)?;
            self.clusters[slot].last = index;
            let id = self.cluster_id(index);
            return Some(std::array::from_fn(|i| id[i] * self.shape.cluster[i]));
        }
        let left = self.next_cluster..end;
        let refused = match self.options.adversarial.map(|seed| seed % 4) {
            Some(2) => self.rng.below(3) == 0,
            Some(3) => true,
            _ => false,
        };
        if refused || left.is_empty() {
            return None;
        }
        let from = match self.options.adversarial {
            Some(_) => left.start + self.rng.below(end - left.start),
            None => left.start,
        };
        let index = (from..end).chain(left.start..from).find(|index| !self.canceled.contains(index))?;
        self.canceled.insert(index);
        self.mark_progress();
        let id = self.cluster_id(index);
        Some(std::array::from_fn(|i| id[i] * self.shape.cluster[i]))
    }
}
