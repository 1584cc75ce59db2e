//! Loads, stores and atomics: from an address in a state space to bytes, with every check on the way.

use super::error::SimErrorKind;
use super::machine::{Fail, Machine};
use super::memory::{CONST_BASE, FUNCTION_BASE, Fault, LOCAL_BASE, PARAM_BASE, SHARED_BASE, WINDOW};
use super::program::{Arg, DInst, ENTRY_PARAM};
use super::race::{How, MemKey, Missing, Origin, SyncKey};
use super::warp::{Lanes, Lanes64, Warp, lanes};
use crate::ir::*;
use crate::num::{self, Flags, Format, MinMax, Rounding};

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Global, constant or parameter memory, by generic address.
    Global(u64),
    /// Shared memory of a CTA slot.
    Shared { cta: usize, offset: u32 },
    /// The lane's own local memory.
    Local(u32),
}

impl Place {
    pub fn space(self) -> &'static str {
        match self {
            Place::Global(a) if a >= CONST_BASE => "const",
            Place::Global(a) if a >= PARAM_BASE => "param",
            Place::Global(_) => "global",
            Place::Shared { .. } => "shared",
            Place::Local(_) => "local",
        }
    }

    pub fn address(self) -> u64 {
        match self {
            Place::Global(a) => a,
            Place::Shared { offset, .. } => u64::from(offset),
            Place::Local(o) => u64::from(o),
        }
    }

    /// The place `n` bytes further on.
    pub fn plus(self, n: u64) -> Place {
        match self {
            Place::Global(a) => Place::Global(a.wrapping_add(n)),
            Place::Shared { cta, offset } => Place::Shared { cta, offset: offset.wrapping_add(n as u32) },
            Place::Local(o) => Place::Local(o.wrapping_add(n as u32)),
        }
    }
}

impl Machine<'_> {
    /// Resolves an address in a state space for a CTA.
    #[inline]
    pub fn place(&self, cta: usize, space: Space, address: u64) -> Result<Place, SimErrorKind> {
        let bad = |space| SimErrorKind::OutOfBounds { access: "access", space, address, bytes: 0, hint: String::new() };
        match space {
            Space::Global => Ok(Place::Global(address)),
            Space::Shared | Space::SharedCta | Space::SharedCluster => {
                if address >= WINDOW {
                    return Err(bad("shared"));
                }
                let rank = (address >> 24) as u32;
                let own = &self.ctas[cta];
                let offset = address as u32 & 0xff_ffff;
                if rank == own.rank {
                    return Ok(Place::Shared { cta, offset });
                }
                if space != Space::SharedCluster {
                    let hint = format!(" (belongs to CTA rank {rank} of the cluster, accessed as shared::cta)");
                    return Err(SimErrorKind::OutOfBounds {
                        access: "access",
                        space: "shared",
                        address,
                        bytes: 0,
                        hint,
                    });
                }
                self.remote(own.cluster, rank, address).map(|cta| Place::Shared { cta, offset })
            }
            Space::Local => {
                if address >= WINDOW {
                    return Err(bad("local"));
                }
                Ok(Place::Local(address as u32))
            }
            Space::Param | Space::ParamEntry | Space::ParamFunc => {
                if address & ENTRY_PARAM != 0 {
                    Ok(Place::Global(PARAM_BASE + (address & !ENTRY_PARAM)))
                } else if address < WINDOW {
                    Ok(Place::Local(address as u32))
                } else {
                    Err(bad("param"))
                }
            }
            Space::Const => {
                if address < WINDOW {
                    Ok(Place::Global(CONST_BASE + address))
                } else {
                    Err(bad("const"))
                }
            }
            Space::Generic | Space::Reg => {
                if address < FUNCTION_BASE {
                    Ok(Place::Global(address))
                } else if address.wrapping_sub(SHARED_BASE) < WINDOW {
                    self.place(cta, Space::SharedCluster, address - SHARED_BASE)
                } else if address.wrapping_sub(LOCAL_BASE) < WINDOW {
                    Ok(Place::Local((address - LOCAL_BASE) as u32))
                } else {
                    Ok(Place::Global(address))
                }
            }
        }
    }

    /// The slot of another CTA of the cluster.
    pub fn remote(&self, cluster: usize, rank: u32, address: u64) -> Result<usize, SimErrorKind> {
        let size = self.shape.cluster_size();
        if rank as usize >= size {
            let hint = format!(" (no CTA of rank {rank} in a cluster of {size})");
            return Err(SimErrorKind::OutOfBounds { access: "access", space: "shared", address, bytes: 0, hint });
        }
        let slot = cluster * size + rank as usize;
        if self.ctas[slot].live_threads == 0 {
            let hint = format!(" (the CTA of rank {rank} has exited)");
            return Err(SimErrorKind::OutOfBounds { access: "access", space: "shared", address, bytes: 0, hint });
        }
        Ok(slot)
    }

    /// Turns a fault into an error that names the access.
    pub fn fault(&self, fault: Fault, access: &'static str, place: Place, bytes: u32) -> SimErrorKind {
        let (space, address) = (place.space(), place.address());
        match fault {
            Fault::OutOfBounds => {
                let hint = match place {
                    Place::Global(a) => match self.mem.nearest(a) {
                        Some((base, len)) if a >= base => {
                            format!(" ({} bytes behind the start of a {len}-byte allocation)", a - base)
                        }
                        Some((base, len)) => format!(" ({} bytes before a {len}-byte allocation)", base - a),
                        None => String::new(),
                    },
                    Place::Shared { cta, .. } => format!(" (the CTA has {} bytes)", self.ctas[cta].shared.len()),
                    Place::Local(_) => String::new(),
                };
                SimErrorKind::OutOfBounds { access, space, address, bytes, hint }
            }
            Fault::Uninitialised(byte) => {
                let why = self.why_unwritten(place.plus(byte));
                let name = match place {
                    Place::Shared { offset, .. } => self.prog.shared_name(offset + byte as u32),
                    _ => String::new(),
                };
                let address_of_byte = address + byte;
                SimErrorKind::Uninitialised { space, address, bytes, address_of_byte, name, why }
            }
            Fault::ReadOnly => SimErrorKind::ReadOnly { address },
        }
    }

    #[inline]
    pub fn read_place(&self, w: &Warp, lane: usize, place: Place, out: &mut [u8]) -> Result<(), Fault> {
        let check = self.config.trap_uninitialised;
        match place {
            Place::Global(a) => self.mem.read(a, out, check),
            Place::Shared { cta, offset } => self.ctas[cta].shared.read(offset as usize, out, check),
            Place::Local(o) => w.local[lane].read(o as usize, out, check),
        }
    }

    #[inline]
    pub fn write_place(&mut self, w: &mut Warp, lane: usize, place: Place, bytes: &[u8]) -> Result<(), Fault> {
        match place {
            Place::Global(a) => self.mem.write(a, bytes),
            Place::Shared { cta, offset } => {
                if offset < super::program::SHARED_START {
                    return Err(Fault::OutOfBounds);
                }
                self.ctas[cta].shared.write(offset as usize, bytes)
            }
            Place::Local(o) => w.local[lane].write(o as usize, bytes),
        }
    }

    /// Records an access for race detection.
    pub fn note(&mut self, agent: u32, place: Place, len: u64, how: How, origin: Origin) -> Result<(), SimErrorKind> {
        if self.race.is_none() {
            return Ok(());
        }
        let (mem, address) = match place {
            Place::Global(a) if a < FUNCTION_BASE => (MemKey::Global, a),
            Place::Shared { cta, offset } => (MemKey::Shared(self.ctas[cta].uid), u64::from(offset)),
            _ => return Ok(()),
        };
        let Some(race) = &mut self.race else { return Ok(()) };
        let Some(conflict) = race.access(agent, mem, address, len, how, origin) else { return Ok(()) };
        // Of two accesses of which one is a copy's, the other's warp should have waited for the copy.
        let hint = match (self.engine.phases.completion(agent), conflict.missing == Missing::Order) {
            (_, false) => None,
            (Some(_), _) => self.phase_hint(agent, conflict.first.0.warp),
            (None, _) => self.phase_hint(conflict.first_agent, origin.warp),
        };
        let name = match place {
            Place::Shared { .. } => self.prog.shared_name(conflict.address as u32),
            _ => String::new(),
        };
        let (space, address) = (place.space(), conflict.address);
        Err(self.race_error(space, address, name, conflict.first, (origin, how), conflict.missing, hint))
    }

    /// Records accesses that another proxy makes on behalf of a warp, at this moment.
    pub fn note_async(
        &mut self,
        agent: u32,
        accesses: &[(Place, u64)],
        how: How,
        origin: Origin,
    ) -> Result<(), SimErrorKind> {
        let Some(race) = &mut self.race else { return Ok(()) };
        let proxy = race.fork(agent, origin.lane);
        for (place, len) in accesses {
            self.note(proxy, *place, *len, how, origin)?;
        }
        if let Some(race) = &mut self.race {
            // The instruction is over when the warp goes on, so its reads are ordered before what follows.
            let key = SyncKey::Operation(u64::MAX);
            race.release(proxy, key);
            race.acquire(agent, key);
            race.forget(key);
            race.retire(proxy);
        }
        Ok(())
    }

    /// The address operand of each lane.
    #[inline]
    pub fn addresses(w: &Warp, frame: u32, arg: &Arg) -> Lanes64 {
        match arg {
            Arg::Mem(base, offset) => w.address(frame, *base, *offset),
            other => w.src64(frame, other),
        }
    }

    pub fn load(
        &mut self,
        w: &mut Warp,
        frame: u32,
        a: &Access,
        args: &[Arg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail> {
        let address = Self::addresses(w, frame, &args[1]);
        let element = a.ty.bytes() as usize;
        let total = element * usize::from(a.vec);
        let strong = !matches!(a.sem, Sem::Weak);
        self.spin_hints += u64::from(strong);
        // Values by element, up to four planes for each.
        let mut values = [[0u64; 32]; 8];
        let mut high = [[0u64; 32]; 2];
        let origin = w.origin(inst);
        let mut shared = false;
        for lane in lanes(mask) {
            let mut raw = [0u8; 32];
            let at = address[lane];
            let place = self.place(w.cta, a.space, at).map_err(|e| Fail::at(e, lane))?;
            if at % total as u64 != 0 {
                let kind =
                    SimErrorKind::Misaligned { access: "load", space: place.space(), address: at, bytes: total as u32 };
                return Err(Fail::at(kind, lane));
            }
            self.read_place(w, lane, place, &mut raw[..total])
                .map_err(|f| Fail::at(self.fault(f, "load", place, total as u32), lane))?;
            shared |= matches!(place, Place::Shared { .. });
            if self.race.is_some() {
                let how = How { strong, ..How::READ };
                self.note(w.agent, place, total as u64, how, origin.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
                if strong {
                    self.strong_read(w.agent, place, matches!(a.sem, Sem::Acquire));
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
                Arg::Vec(items) => &items[v],
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

    pub fn store(
        &mut self,
        w: &mut Warp,
        frame: u32,
        a: &Access,
        args: &[Arg],
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
                Arg::Vec(items) => &items[v],
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
            let place = self.place(w.cta, a.space, at).map_err(|e| Fail::at(e, lane))?;
            if at % total as u64 != 0 {
                let kind = SimErrorKind::Misaligned {
                    access: "store",
                    space: place.space(),
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
            shared |= matches!(place, Place::Shared { .. });
            if self.race.is_some() {
                let mut old = [0u8; 32];
                let unchanged = self.read_place(w, lane, place, &mut old[..total]).is_ok() && old == raw;
                let how = How { strong, unchanged, ..How::WRITE };
                self.note(w.agent, place, total as u64, how, origin.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
                if strong {
                    self.strong_write(w.agent, place, matches!(a.sem, Sem::Release));
                }
            }
            self.write_place(w, lane, place, &raw[..total])
                .map_err(|f| Fail::at(self.fault(f, "store", place, total as u32), lane))?;
        }
        self.mark_progress();
        self.stats.memory(a.space, shared, false, total as u64 * u64::from(mask.count_ones()));
        if shared && self.options.stats {
            self.stats.bank_conflicts += bank_conflicts(&address, mask, total as u32);
        }
        Ok(())
    }

    /// `st.bulk`: zeros of any length.
    pub fn store_bulk(
        &mut self,
        w: &mut Warp,
        frame: u32,
        space: Space,
        args: &[Arg],
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
            let place = self.place(w.cta, space, address[lane]).map_err(|e| Fail::at(e, lane))?;
            let Place::Shared { .. } = place else {
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
                let here = place.plus(at);
                self.note(w.agent, here, n, How::WRITE, origin.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
                self.write_place(w, lane, here, &[0; PIECE as usize][..n as usize])
                    .map_err(|f| Fail::at(self.fault(f, "store", here, n as u32), lane))?;
                at += n;
            }
            self.stats.memory(space, true, false, size[lane]);
        }
        self.mark_progress();
        Ok(())
    }

    fn location(&self, place: Place) -> Option<SyncKey> {
        match place {
            Place::Global(a) => Some(SyncKey::Location(MemKey::Global, a)),
            Place::Shared { cta, offset } => {
                Some(SyncKey::Location(MemKey::Shared(self.ctas[cta].uid), u64::from(offset)))
            }
            Place::Local(_) => None,
        }
    }

    fn strong_read(&mut self, agent: u32, place: Place, acquire: bool) {
        if let Some(key) = self.location(place)
            && let Some(race) = &mut self.race
        {
            race.strong_read(agent, key, acquire);
        }
    }

    fn strong_write(&mut self, agent: u32, place: Place, release: bool) {
        if let Some(key) = self.location(place)
            && let Some(race) = &mut self.race
        {
            race.strong_write(agent, key, release);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the operands of one instruction family")]
    pub fn atomic(
        &mut self,
        w: &mut Warp,
        frame: u32,
        m: &AtomMods,
        returns: bool,
        args: &[Arg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail> {
        let (dst, mem, rest) =
            if returns { (Some(&args[0]), &args[1], &args[2..]) } else { (None, &args[0], &args[1..]) };
        let address = Self::addresses(w, frame, mem);
        let element = m.ty.bytes() as usize;
        let n = usize::from(m.vec);
        let total = element * n;
        let item = |arg: &Arg, v: usize| match arg {
            Arg::Vec(items) => items[v].clone(),
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
            let place = self.place(w.cta, m.space, at).map_err(|e| Fail::at(e, lane))?;
            if at % total as u64 != 0 {
                let kind = SimErrorKind::Misaligned {
                    access: "atomic",
                    space: place.space(),
                    address: at,
                    bytes: total as u32,
                };
                return Err(Fail::at(kind, lane));
            }
            shared |= matches!(place, Place::Shared { .. });
            if self.race.is_some() {
                let how = How::ATOMIC;
                self.note(w.agent, place, total as u64, how, origin.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
                self.strong_read(w.agent, place, matches!(m.sem, Sem::Acquire | Sem::AcqRel));
            }
            for v in 0..n {
                let here = place.plus((v * element) as u64);
                let mut raw = [0u8; 16];
                self.read_place(w, lane, here, &mut raw[..element])
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
                        let global = matches!(place, Place::Global(_));
                        u128::from(combine(op, m.ty, before as u64, operand as u64, global))
                    }
                };
                self.write_place(w, lane, here, &after.to_le_bytes()[..element])
                    .map_err(|f| Fail::at(self.fault(f, "atomic", here, element as u32), lane))?;
                for (i, plane) in old[v].iter_mut().enumerate() {
                    plane[lane] = (before >> (32 * i)) as u32;
                }
                // A failed compare-and-swap has no effect: a spin on it is not progress.
                if after != before || m.op != AtomOp::Cas && m.op != AtomOp::Exch {
                    self.mark_progress();
                }
            }
            if self.race.is_some() {
                self.strong_write(w.agent, place, matches!(m.sem, Sem::Release | Sem::AcqRel));
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

    /// `fence` and `membar`. Memory is sequentially consistent here; the fence matters to race detection.
    pub fn fence(&mut self, w: &Warp, _sem: Sem, _scope: Scope) {
        if let Some(race) = &mut self.race {
            race.fence(w.agent);
        }
        self.all_lanes_meet(w);
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

/// The new value of a read-modify-write. f32 addition in global memory flushes subnormals, as the ISA says.
pub(crate) fn combine(op: AtomOp, ty: Type, old: u64, b: u64, global: bool) -> u64 {
    let bits = ty.bits();
    let cut = |v: u64| if bits >= 64 { v } else { v & ((1 << bits) - 1) };
    let (old, b) = (cut(old), cut(b));
    let element = |fmt: Format, x: u64, y: u64| match op {
        AtomOp::Min => num::min(fmt, x, y, MinMax::default()),
        AtomOp::Max => num::max(fmt, x, y, MinMax::default()),
        _ => num::add(fmt, x, y, Rounding::NearestEven, Flags::default()),
    };
    let pair = |fmt: Format| {
        element(fmt, old & 0xffff, b & 0xffff) & 0xffff | (element(fmt, old >> 16, b >> 16) & 0xffff) << 16
    };
    let signed = |v: u64| ((v << (64 - bits)) as i64) >> (64 - bits);
    match ty {
        Type::F16 => element(Format::F16, old, b),
        Type::BF16 => element(Format::Bf16, old, b),
        Type::F16x2 => pair(Format::F16),
        Type::BF16x2 => pair(Format::Bf16),
        Type::F32 if op == AtomOp::Add => {
            u64::from(num::f32_add(old as u32, b as u32, Rounding::NearestEven, global, false))
        }
        Type::F32 => element(Format::F32, old, b),
        Type::F64 => element(Format::F64, old, b),
        _ => cut(match op {
            AtomOp::Add => old.wrapping_add(b),
            AtomOp::Min if ty.is_signed() => signed(old).min(signed(b)) as u64,
            AtomOp::Max if ty.is_signed() => signed(old).max(signed(b)) as u64,
            AtomOp::Min => old.min(b),
            AtomOp::Max => old.max(b),
            AtomOp::Inc => {
                if old >= b {
                    0
                } else {
                    old + 1
                }
            }
            AtomOp::Dec => {
                if old == 0 || old > b {
                    b
                } else {
                    old - 1
                }
            }
            AtomOp::And => old & b,
            AtomOp::Or => old | b,
            AtomOp::Xor => old ^ b,
            AtomOp::Exch | AtomOp::Cas => b,
        }),
    }
}

/// Extra passes that a shared-memory access takes: 32 banks of four bytes; 8-byte accesses go by half warps, 16-byte
/// accesses by quarters.
pub(crate) fn bank_conflicts(address: &Lanes64, mask: u32, bytes: u32) -> u64 {
    let words = u64::from(bytes.div_ceil(4).max(1));
    let group = (32 / words.clamp(1, 8)) as usize;
    let mut extra = 0u64;
    for start in (0..32).step_by(group) {
        let mut banks: [smallvec::SmallVec<[u64; 4]>; 32] = std::array::from_fn(|_| smallvec::SmallVec::new());
        for lane in (start..start + group).filter(|l| mask >> l & 1 != 0) {
            for k in 0..words {
                let word = address[lane] / 4 + k;
                let bank = &mut banks[(word % 32) as usize];
                if !bank.contains(&word) {
                    bank.push(word);
                }
            }
        }
        let worst = banks.iter().map(|b| b.len() as u64).max().unwrap_or(0);
        extra += worst.saturating_sub(1);
    }
    extra
}
