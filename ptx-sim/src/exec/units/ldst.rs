//! Loads, stores and atomics.

use super::access::MemoryAccess;
use super::combine::{bank_conflicts, combine};
use crate::exec::state::error::SimErrorKind;
use crate::exec::state::lanes::{Lanes, lanes};
use crate::exec::state::location::Location;
use crate::exec::state::machine::{Fail, Machine};
use crate::exec::state::program::{DArg, DInst};
use crate::exec::state::race::{AccessKind, MemKey, Releasing};
use crate::exec::state::warp::Warp;
use crate::ir::*;

/// Loads, stores, atomics and fences.
pub(crate) trait LoadStore {
    fn load(
        &mut self,
        w: &mut Warp,
        frame: u32,
        a: &LoadStoreMods,
        args: &[DArg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail>;

    fn store(
        &mut self,
        w: &mut Warp,
        frame: u32,
        a: &LoadStoreMods,
        args: &[DArg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail>;

    /// `st.bulk`: writes zeros to a range of any length.
    fn store_bulk(
        &mut self,
        w: &mut Warp,
        frame: u32,
        space: Space,
        args: &[DArg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail>;

    #[allow(clippy::too_many_arguments, reason = "the operands of one instruction family")]
    fn atomic(
        &mut self,
        w: &mut Warp,
        frame: u32,
        m: &AtomMods,
        returns: bool,
        args: &[DArg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail>;

    /// `fence` and `membar`. Simulated memory is sequentially consistent, so they only affect race detection.
    fn fence(&mut self, w: &Warp, scope: Scope);

    /// Records for race detection what a strong read orders, after the access itself was recorded.
    fn strong_read(&mut self, agent: u32, location: Location, acquire: bool, scope: Scope);

    /// Records for race detection what a strong write orders.
    fn strong_write(&mut self, agent: u32, location: Location, by: Option<Releasing>, scope: Scope);
}

impl LoadStore for Machine<'_> {
    fn load(
        &mut self,
        w: &mut Warp,
        frame: u32,
        a: &LoadStoreMods,
        args: &[DArg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail> {
        let address = Self::addresses(w, frame, &args[1]);
        let element = a.ty.bytes() as usize;
        let total = element * usize::from(a.vec);
        let strong = !matches!(a.sem, Sem::Weak);
        self.spin_hints += u64::from(strong);
        // Values by element, with up to four planes for each.
        let mut values = [[0u64; 32]; 8];
        let mut high = [[0u64; 32]; 2];
        let origin = w.origin(inst);
        let mut shared = false;
        for lane in lanes(mask) {
            let mut raw = [0u8; 32];
            let at = address[lane];
            let location = self.resolve(w.cta, a.space, at).map_err(|e| Fail::at(e, lane))?;
            if at % total as u64 != 0 {
                let kind = SimErrorKind::Misaligned {
                    access: "load",
                    space: location.space(),
                    address: at,
                    bytes: total as u32,
                };
                return Err(Fail::at(kind, lane));
            }
            self.read_location(w, lane, location, &mut raw[..total])
                .map_err(|f| Fail::at(self.fault(f, "load", location, total as u32), lane))?;
            shared |= matches!(location, Location::Shared { .. });
            if self.race.is_some() {
                let how = AccessKind { strong, scope: a.scope, ..AccessKind::READ };
                self.note(w.agent, location, total as u64, how, origin.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
                if strong {
                    self.strong_read(w.agent, location, matches!(a.sem, Sem::Acquire), a.scope);
                }
            }
            for v in 0..usize::from(a.vec) {
                let bytes = &raw[v * element..(v + 1) * element];
                if element == 16 {
                    values[v][lane] = le(&bytes[..8]);
                    high[v][lane] = le(&bytes[8..]);
                } else {
                    values[v][lane] = le(bytes);
                }
            }
        }
        if a.sem == Sem::Acquire {
            self.all_lanes_meet(w);
        }
        self.stats.memory(a.space, shared, true, total as u64 * u64::from(mask.count_ones()));
        if shared && self.options.stats {
            self.stats.bank_conflicts += bank_conflicts(&address, mask, total as u32);
        }
        for v in 0..usize::from(a.vec) {
            let dst = match &args[0] {
                DArg::Vec(items) => &items[v],
                other => other,
            };
            if element == 16 {
                let planes = [
                    values[v].map(|x| x as u32),
                    values[v].map(|x| (x >> 32) as u32),
                    high[v].map(|x| x as u32),
                    high[v].map(|x| (x >> 32) as u32),
                ];
                w.set128(frame, dst, &planes, mask);
                continue;
            }
            if a.ty.is_signed() && element < 8 {
                let shift = 64 - 8 * element as u32;
                for x in &mut values[v] {
                    *x = (((*x << shift) as i64) >> shift) as u64;
                }
            }
            w.set64(frame, dst, &values[v], mask);
        }
        Ok(())
    }

    fn store(
        &mut self,
        w: &mut Warp,
        frame: u32,
        a: &LoadStoreMods,
        args: &[DArg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail> {
        let address = Self::addresses(w, frame, &args[0]);
        let element = a.ty.bytes() as usize;
        let total = element * usize::from(a.vec);
        let strong = !matches!(a.sem, Sem::Weak);
        let mut values = [[0u64; 32]; 8];
        let mut high = [[0u64; 32]; 2];
        for v in 0..usize::from(a.vec) {
            let src = match &args[1] {
                DArg::Vec(items) => &items[v],
                other => other,
            };
            if element == 16 {
                let p = w.src128(frame, src);
                values[v] = std::array::from_fn(|i| u64::from(p[0][i]) | u64::from(p[1][i]) << 32);
                high[v] = std::array::from_fn(|i| u64::from(p[2][i]) | u64::from(p[3][i]) << 32);
            } else {
                values[v] = w.src64(frame, src);
            }
        }
        let origin = w.origin(inst);
        let mut shared = false;
        for lane in lanes(mask) {
            let at = address[lane];
            let location = self.resolve(w.cta, a.space, at).map_err(|e| Fail::at(e, lane))?;
            if at % total as u64 != 0 {
                let kind = SimErrorKind::Misaligned {
                    access: "store",
                    space: location.space(),
                    address: at,
                    bytes: total as u32,
                };
                return Err(Fail::at(kind, lane));
            }
            let mut raw = [0u8; 32];
            for v in 0..usize::from(a.vec) {
                let bytes = values[v][lane].to_le_bytes();
                let n = element.min(8);
                raw[v * element..v * element + n].copy_from_slice(&bytes[..n]);
                if element == 16 {
                    raw[v * element + 8..(v + 1) * element].copy_from_slice(&high[v][lane].to_le_bytes());
                }
            }
            shared |= matches!(location, Location::Shared { .. });
            if self.race.is_some() {
                let mut old = [0u8; 32];
                let unchanged = self.read_location(w, lane, location, &mut old[..total]).is_ok() && old == raw;
                let how = AccessKind { strong, scope: a.scope, unchanged, ..AccessKind::WRITE };
                self.note(w.agent, location, total as u64, how, origin.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
                if strong {
                    let by = matches!(a.sem, Sem::Release).then(|| w.releasing(mask));
                    self.strong_write(w.agent, location, by, a.scope);
                }
            }
            self.write_location(w, lane, location, &raw[..total])
                .map_err(|f| Fail::at(self.fault(f, "store", location, total as u32), lane))?;
        }
        self.mark_progress();
        self.stats.memory(a.space, shared, false, total as u64 * u64::from(mask.count_ones()));
        if shared && self.options.stats {
            self.stats.bank_conflicts += bank_conflicts(&address, mask, total as u32);
        }
        Ok(())
    }

    fn store_bulk(
        &mut self,
        w: &mut Warp,
        frame: u32,
        space: Space,
        args: &[DArg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail> {
        const PIECE: u64 = 1024;
        let address = Self::addresses(w, frame, &args[0]);
        let size = w.src64(frame, &args[1]);
        let value = w.uniform(frame, &args[2], mask);
        if value != 0 {
            return Err(SimErrorKind::InvalidOperand(format!("st.bulk of {value}: only 0 is possible")).into());
        }
        let origin = w.origin(inst);
        for lane in lanes(mask) {
            let location = self.resolve(w.cta, space, address[lane]).map_err(|e| Fail::at(e, lane))?;
            let Location::Shared { .. } = location else {
                let what = format!("st.bulk to address {:#x}, which is not in shared memory", address[lane]);
                return Err(Fail::at(SimErrorKind::InvalidOperand(what), lane));
            };
            if !address[lane].is_multiple_of(8) || !size[lane].is_multiple_of(8) {
                let what =
                    format!("st.bulk of {} bytes at {:#x}: both must be multiples of 8", size[lane], address[lane]);
                return Err(Fail::at(SimErrorKind::InvalidOperand(what), lane));
            }
            let mut at = 0;
            while at < size[lane] {
                let n = PIECE.min(size[lane] - at);
                let here = location.plus(at);
                self.note(w.agent, here, n, AccessKind::WRITE, origin.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
                self.write_location(w, lane, here, &[0; PIECE as usize][..n as usize])
                    .map_err(|f| Fail::at(self.fault(f, "store", here, n as u32), lane))?;
                at += n;
            }
            self.stats.memory(space, true, false, size[lane]);
        }
        self.mark_progress();
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the operands of one instruction family")]
    fn atomic(
        &mut self,
        w: &mut Warp,
        frame: u32,
        m: &AtomMods,
        returns: bool,
        args: &[DArg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail> {
        let (dst, mem, rest) =
            if returns { (Some(&args[0]), &args[1], &args[2..]) } else { (None, &args[0], &args[1..]) };
        let address = Self::addresses(w, frame, mem);
        let element = m.ty.bytes() as usize;
        let n = usize::from(m.vec);
        let total = element * n;
        let item = |arg: &DArg, v: usize| match arg {
            DArg::Vec(items) => items[v].clone(),
            other => other.clone(),
        };
        let b: Vec<[Lanes; 4]> = (0..n).map(|v| w.src128(frame, &item(&rest[0], v))).collect();
        let c: Option<[Lanes; 4]> = (m.op == AtomOp::Cas).then(|| w.src128(frame, &rest[1]));
        let wide =
            |p: &[Lanes; 4], lane: usize| -> u128 { (0..4).fold(0, |v, i| v | u128::from(p[i][lane]) << (32 * i)) };
        let mut old = vec![[[0u32; 32]; 4]; n];
        let origin = w.origin(inst);
        let mut shared = false;
        for lane in lanes(mask) {
            let at = address[lane];
            let location = self.resolve(w.cta, m.space, at).map_err(|e| Fail::at(e, lane))?;
            if at % total as u64 != 0 {
                let kind = SimErrorKind::Misaligned {
                    access: "atomic",
                    space: location.space(),
                    address: at,
                    bytes: total as u32,
                };
                return Err(Fail::at(kind, lane));
            }
            shared |= matches!(location, Location::Shared { .. });
            if self.race.is_some() {
                let how = AccessKind { scope: m.scope, ..AccessKind::ATOMIC };
                self.note(w.agent, location, total as u64, how, origin.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
                self.strong_read(w.agent, location, matches!(m.sem, Sem::Acquire | Sem::AcqRel), m.scope);
            }
            for v in 0..n {
                let here = location.plus((v * element) as u64);
                let mut raw = [0u8; 16];
                self.read_location(w, lane, here, &mut raw[..element])
                    .map_err(|f| Fail::at(self.fault(f, "atomic", here, element as u32), lane))?;
                let before = u128::from_le_bytes(raw);
                let operand = wide(&b[v], lane);
                let after = match (&c, m.op) {
                    (Some(c), _) => {
                        let compare = operand & width_mask(element);
                        if before == compare { wide(c, lane) } else { before }
                    }
                    (None, AtomOp::Exch) => operand,
                    (None, op) => {
                        let global = matches!(location, Location::Global(_));
                        u128::from(combine(op, m.ty, before as u64, operand as u64, global))
                    }
                };
                self.write_location(w, lane, here, &after.to_le_bytes()[..element])
                    .map_err(|f| Fail::at(self.fault(f, "atomic", here, element as u32), lane))?;
                for (i, plane) in old[v].iter_mut().enumerate() {
                    plane[lane] = (before >> (32 * i)) as u32;
                }
                // A failed compare-and-swap has no effect, so spinning on it is not progress.
                if after != before || m.op != AtomOp::Cas && m.op != AtomOp::Exch {
                    self.mark_progress();
                }
            }
            if self.race.is_some() {
                let by = matches!(m.sem, Sem::Release | Sem::AcqRel).then(|| w.releasing(mask));
                self.strong_write(w.agent, location, by, m.scope);
            }
        }
        if matches!(m.sem, Sem::Acquire | Sem::AcqRel) {
            self.all_lanes_meet(w);
        }
        self.spin_hints += u64::from(self.progress != self.executed);
        self.stats.memory(m.space, shared, false, total as u64 * u64::from(mask.count_ones()));
        if let Some(dst) = dst {
            for (v, planes) in old.iter().enumerate() {
                w.set128(frame, &item(dst, v), planes, mask);
            }
        }
        Ok(())
    }

    fn fence(&mut self, w: &Warp, scope: Scope) {
        if let Some(race) = &mut self.race {
            race.fence(w.agent, scope);
        }
        self.all_lanes_meet(w);
    }

    fn strong_read(&mut self, agent: u32, location: Location, acquire: bool, scope: Scope) {
        if let Some(location) = self.location(location)
            && let Some(race) = &mut self.race
        {
            race.strong_read(agent, location, acquire, scope);
        }
    }

    fn strong_write(&mut self, agent: u32, location: Location, by: Option<Releasing>, scope: Scope) {
        if let Some(location) = self.location(location)
            && let Some(race) = &mut self.race
        {
            race.strong_write(agent, location, by, scope);
        }
    }
}

impl Machine<'_> {
    fn location(&self, location: Location) -> Option<(MemKey, u64)> {
        match location {
            Location::Global(a) => Some((MemKey::Global, a)),
            Location::Shared { cta, offset } => Some((MemKey::Shared(self.ctas[cta].uid), u64::from(offset))),
            Location::Local(_) => None,
        }
    }
}

fn width_mask(bytes: usize) -> u128 {
    if bytes >= 16 { u128::MAX } else { (1 << (8 * bytes)) - 1 }
}

/// A little-endian value of up to eight bytes.
#[inline]
fn le(bytes: &[u8]) -> u64 {
    match bytes.len() {
        1 => u64::from(bytes[0]),
        2 => u64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
        4 => u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        _ => bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)),
    }
}
