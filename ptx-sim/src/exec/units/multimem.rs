//! `multimem`: accesses to multicast addresses, each of which refers to one location in every member of an object.
//!
//! An access accesses each member once, in order. For race detection each of these accesses is as strong as the
//! instruction specifies, and an update is atomic in each member. No fence is required between these accesses and
//! accesses by the members' own addresses.

use super::access::MemoryAccess;
use super::combine::combine;
use super::ldst::LoadStore;
use crate::exec::state::error::SimErrorKind;
use crate::exec::state::lanes::lanes;
use crate::exec::state::location::Location;
use crate::exec::state::machine::{Fail, Machine};
use crate::exec::state::program::{DArg, DInst};
use crate::exec::state::race::{AccessKind, Origin, Releasing};
use crate::exec::state::warp::Warp;
use crate::ir::*;
use crate::num::{self, CvtOpts, Format, Rounding};

pub(crate) trait MulticastAccess {
    fn multimem(
        &mut self,
        w: &mut Warp,
        frame: u32,
        m: &MultimemMods,
        args: &[DArg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail>;
}

impl MulticastAccess for Machine<'_> {
    fn multimem(
        &mut self,
        w: &mut Warp,
        frame: u32,
        m: &MultimemMods,
        args: &[DArg],
        mask: u32,
        inst: &DInst,
    ) -> Result<(), Fail> {
        let loads = matches!(m.kind, MultimemKind::LdReduce { .. });
        let (mem, data) = if loads { (&args[1], &args[0]) } else { (&args[0], &args[1]) };
        let address = Self::addresses(w, frame, mem);
        let (element, n) = (m.ty.bytes() as usize, usize::from(m.vec));
        let total = (element * n) as u64;
        let item = |v: usize| match data {
            DArg::Vec(items) => items[v].clone(),
            other => other.clone(),
        };
        let mut values = [[0u64; 32]; 8];
        if !loads {
            for (v, value) in values.iter_mut().enumerate().take(n) {
                *value = w.src64(frame, &item(v));
            }
        }
        let origin = w.origin(inst);
        for lane in lanes(mask) {
            let members = self.members_of(m, address[lane], total).map_err(|e| Fail::at(e, lane))?;
            for (v, value) in values.iter_mut().enumerate().take(n) {
                let locations: Vec<Location> =
                    members.iter().map(|at| Location::Global(at + (v * element) as u64)).collect();
                match m.kind {
                    MultimemKind::LdReduce { op, wide } => {
                        value[lane] =
                            self.combined(w, lane, &locations, m.ty, op, wide).map_err(|e| Fail::at(e, lane))?;
                    }
                    _ => self.written(w, lane, &locations, m, value[lane]).map_err(|e| Fail::at(e, lane))?,
                }
            }
            for member in &members {
                self.multimem_order(
                    w.agent,
                    Location::Global(*member),
                    total,
                    m,
                    (origin.of_lane(lane), w.releasing(mask)),
                )
                .map_err(|e| Fail::at(e, lane))?;
            }
            let count = members.len() as u64;
            self.stats.memory(m.space, false, loads, total * count);
        }
        if m.sem == Sem::Acquire {
            self.all_lanes_meet(w);
        }
        if loads {
            self.spin_hints += u64::from(m.sem != Sem::Weak);
            for (v, value) in values.iter().enumerate().take(n) {
                w.set64(frame, &item(v), value, mask);
            }
        } else {
            self.mark_progress();
        }
        Ok(())
    }
}

impl Machine<'_> {
    /// The locations to which a multicast address refers.
    fn members_of(&self, m: &MultimemMods, address: u64, bytes: u64) -> Result<Vec<u64>, SimErrorKind> {
        let access = match m.kind {
            MultimemKind::LdReduce { .. } => "multimem load",
            MultimemKind::Red(_) => "multimem update",
            MultimemKind::St => "multimem store",
        };
        if !address.is_multiple_of(bytes) {
            return Err(SimErrorKind::Misaligned { access, space: "global", address, bytes: bytes as u32 });
        }
        let members = self.mem.members(address).map(Iterator::collect);
        members.ok_or_else(|| {
            let hint = " (not a multicast address)".to_string();
            SimErrorKind::OutOfBounds { access, space: "global", address, bytes: bytes as u32, hint }
        })
    }

    /// Combines one element of all members, in order. With `wide`, halves are combined in f32 and rounded once.
    fn combined(
        &self,
        w: &Warp,
        lane: usize,
        locations: &[Location],
        ty: Type,
        op: AtomOp,
        wide: bool,
    ) -> Result<u64, SimErrorKind> {
        let bytes = ty.bytes() as usize;
        let mut all = vec![];
        for location in locations {
            let mut raw = [0u8; 8];
            self.read_location(w, lane, *location, &mut raw[..bytes])
                .map_err(|f| self.fault(f, "multimem load", *location, bytes as u32))?;
            all.push(u64::from_le_bytes(raw));
        }
        if !wide {
            return Ok(all.into_iter().reduce(|a, b| combine(op, ty, a, b, false)).unwrap_or_default());
        }
        let format = if matches!(ty, Type::F16 | Type::F16x2) { Format::F16 } else { Format::Bf16 };
        let options = CvtOpts::default();
        let widened = |bits: u64| num::convert(format, bits & 0xffff, Format::F32, &options) as u32;
        let half = |i: u32| {
            let terms = all.iter().map(|bits| widened(bits >> (16 * i)));
            let sum = terms.reduce(|a, b| num::f32_add(a, b, Rounding::NearestEven, false, false)).unwrap_or_default();
            (num::convert(Format::F32, u64::from(sum), format, &options) & 0xffff) << (16 * i)
        };
        Ok((0..bytes as u32 / 2).fold(0, |word, i| word | half(i)))
    }

    /// Updates or stores one element of all members.
    fn written(
        &mut self,
        w: &mut Warp,
        lane: usize,
        locations: &[Location],
        m: &MultimemMods,
        operand: u64,
    ) -> Result<(), SimErrorKind> {
        let bytes = m.ty.bytes() as usize;
        for &location in locations {
            let fault = |this: &Self, f| this.fault(f, "multimem access", location, bytes as u32);
            let mut new = operand;
            if let MultimemKind::Red(op) = m.kind {
                let mut raw = [0u8; 8];
                self.read_location(w, lane, location, &mut raw[..bytes]).map_err(|f| fault(self, f))?;
                new = combine(op, m.ty, u64::from_le_bytes(raw), operand, true);
            }
            self.write_location(w, lane, location, &new.to_le_bytes()[..bytes]).map_err(|f| fault(self, f))?;
        }
        Ok(())
    }

    /// Records the access to one member for race detection.
    fn multimem_order(
        &mut self,
        agent: u32,
        location: Location,
        bytes: u64,
        m: &MultimemMods,
        (origin, by): (Origin, Releasing),
    ) -> Result<(), SimErrorKind> {
        if self.race.is_none() {
            return Ok(());
        }
        let (strong, scope) = (m.sem != Sem::Weak, m.scope);
        let loads = matches!(m.kind, MultimemKind::LdReduce { .. });
        self.note(agent, location, bytes, AccessKind { write: !loads, strong, scope, ..AccessKind::READ }, origin)?;
        if strong && loads {
            self.strong_read(agent, location, m.sem == Sem::Acquire, scope);
        } else if strong {
            self.strong_write(agent, location, (m.sem == Sem::Release).then_some(by), scope);
        }
        Ok(())
    }
}
