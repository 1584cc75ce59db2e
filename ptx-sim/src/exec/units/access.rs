//! Resolves addresses in state spaces and accesses memory, with all checks.

use super::report::Reports;
use crate::exec::state::error::SimErrorKind;
use crate::exec::state::lanes::Lanes64;
use crate::exec::state::machine::Machine;
use crate::exec::state::memory::{CONST_BASE, FUNCTION_BASE, Fault, LOCAL_BASE, PARAM_BASE, SHARED_BASE, WINDOW};
use crate::exec::state::place::Place;
use crate::exec::state::program::{Arg, ENTRY_PARAM, SHARED_START};
use crate::exec::state::race::{Conflict, How, MemKey, Missing, Origin, SyncKey};
use crate::exec::state::warp::Warp;
use crate::ir::*;

/// Checked access to memory by address.
pub(crate) trait MemoryAccess {
    /// Resolves an address in a state space, for a CTA.
    fn place(&self, cta: usize, space: Space, address: u64) -> Result<Place, SimErrorKind>;

    /// Returns the slot of another CTA of the cluster.
    fn remote(&self, cluster: usize, rank: u32, address: u64) -> Result<usize, SimErrorKind>;

    /// Turns a fault into an error that names the access.
    fn fault(&self, fault: Fault, access: &'static str, place: Place, bytes: u32) -> SimErrorKind;

    fn read_place(&self, w: &Warp, lane: usize, place: Place, out: &mut [u8]) -> Result<(), Fault>;

    fn write_place(&mut self, w: &mut Warp, lane: usize, place: Place, bytes: &[u8]) -> Result<(), Fault>;

    /// Records an access for race detection.
    fn note(&mut self, agent: u32, place: Place, len: u64, how: How, origin: Origin) -> Result<(), SimErrorKind>;

    /// Checks that the mbarrier on which an asynchronous operation arrives was initialized for it.
    fn note_arrival(&mut self, agent: u32, place: Place, origin: Origin) -> Result<(), SimErrorKind>;

    /// Turns a conflict of an access of `agent` at `place` into an error.
    fn conflict(&self, agent: u32, place: Place, conflict: Conflict, second: (Origin, How)) -> SimErrorKind;

    /// Records accesses that another proxy makes now on behalf of a warp.
    fn note_async(
        &mut self,
        agent: u32,
        accesses: &[(Place, u64)],
        how: How,
        origin: Origin,
    ) -> Result<(), SimErrorKind>;

    /// The address operand of each lane.
    fn addresses(w: &Warp, frame: u32, arg: &Arg) -> Lanes64;
}

impl MemoryAccess for Machine<'_> {
    #[inline]
    fn place(&self, cta: usize, space: Space, address: u64) -> Result<Place, SimErrorKind> {
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

    fn remote(&self, cluster: usize, rank: u32, address: u64) -> Result<usize, SimErrorKind> {
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

    fn fault(&self, fault: Fault, access: &'static str, place: Place, bytes: u32) -> SimErrorKind {
        let (space, address) = (place.space(), place.address());
        match fault {
            Fault::OutOfBounds => {
                let hint = match place {
                    Place::Global(a) if self.mem.members(a).is_some() => {
                        " (a multicast address, which only multimem instructions can access)".to_string()
                    }
                    Place::Global(a) => match self.mem.nearest(a) {
                        Some((base, len)) if a >= base => {
                            format!(" ({} bytes after the start of a {len}-byte allocation)", a - base)
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
    fn read_place(&self, w: &Warp, lane: usize, place: Place, out: &mut [u8]) -> Result<(), Fault> {
        let check = self.config.trap_uninitialised;
        match place {
            Place::Global(a) => self.mem.read(a, out, check),
            Place::Shared { cta, offset } => self.ctas[cta].shared.read(offset as usize, out, check),
            Place::Local(o) => w.local[lane].read(o as usize, out, check),
        }
    }

    #[inline]
    fn write_place(&mut self, w: &mut Warp, lane: usize, place: Place, bytes: &[u8]) -> Result<(), Fault> {
        match place {
            Place::Global(a) => self.mem.write(a, bytes),
            Place::Shared { cta, offset } => {
                if offset < SHARED_START {
                    return Err(Fault::OutOfBounds);
                }
                self.ctas[cta].shared.write(offset as usize, bytes)
            }
            Place::Local(o) => w.local[lane].write(o as usize, bytes),
        }
    }

    fn note(&mut self, agent: u32, place: Place, len: u64, how: How, origin: Origin) -> Result<(), SimErrorKind> {
        if self.race.is_none() {
            return Ok(());
        }
        let (mem, address) = match place {
            Place::Global(a) if a < FUNCTION_BASE => (MemKey::Global, a),
            Place::Shared { cta, offset } => (MemKey::Shared(self.ctas[cta].uid), u64::from(offset)),
            _ => return Ok(()),
        };
        let Some(race) = &mut self.race else { return Ok(()) };
        let conflict = race.access(agent, mem, address, len, how, origin);
        conflict.map_or(Ok(()), |conflict| Err(self.conflict(agent, place, conflict, (origin, how))))
    }

    fn note_arrival(&mut self, agent: u32, place: Place, origin: Origin) -> Result<(), SimErrorKind> {
        let (Place::Shared { cta, offset }, Some(race)) = (place, &self.race) else { return Ok(()) };
        let how = How { asynchronous: true, ..How::ATOMIC };
        let conflict = race.arrival(agent, (self.ctas[cta].uid, offset));
        conflict.map_or(Ok(()), |conflict| Err(self.conflict(agent, place, conflict, (origin, how))))
    }

    fn conflict(&self, agent: u32, place: Place, conflict: Conflict, second: (Origin, How)) -> SimErrorKind {
        // If one of the accesses is by a copy, the warp of the other should have waited for the copy.
        let hint = match (self.engine.phases.completion(agent), conflict.missing == Missing::Order) {
            (_, false) => None,
            (Some(_), _) => self.phase_hint(agent, conflict.first.0.warp),
            (None, _) => self.phase_hint(conflict.first_agent, second.0.warp),
        };
        let name = match place {
            Place::Shared { .. } => self.prog.shared_name(conflict.address as u32),
            _ => String::new(),
        };
        let (space, address) = (place.space(), conflict.address);
        self.race_error(space, address, name, conflict.first, second, conflict.missing, hint)
    }

    fn note_async(
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
            // The instruction completes before the warp continues, so its reads are ordered before what follows.
            let key = SyncKey::Operation(u64::MAX);
            race.release(proxy, key);
            race.acquire(agent, key);
            race.forget(key);
            race.retire(proxy);
        }
        Ok(())
    }

    #[inline]
    fn addresses(w: &Warp, frame: u32, arg: &Arg) -> Lanes64 {
        match arg {
            Arg::Mem(base, offset) => w.address(frame, *base, *offset),
            other => w.src64(frame, other),
        }
    }
}
