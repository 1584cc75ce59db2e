//! Resolves addresses in state spaces and accesses memory, with all checks.

use super::report::Reports;
use crate::exec::state::error::SimErrorKind;
use crate::exec::state::lanes::Lanes64;
use crate::exec::state::location::Location;
use crate::exec::state::machine::Machine;
use crate::exec::state::memory::{CONST_BASE, FUNCTION_BASE, Fault, LOCAL_BASE, PARAM_BASE, SHARED_BASE, WINDOW};
use crate::exec::state::program::{DArg, ENTRY_PARAM, SHARED_START};
use crate::exec::state::race::{AccessKind, Conflict, MemKey, Missing, Origin, SyncKey};
use crate::exec::state::warp::Warp;
use crate::ir::*;

/// Checked access to memory by address.
pub(crate) trait MemoryAccess {
    /// Resolves an address in a state space, for a CTA.
    fn resolve(&self, cta: usize, space: Space, address: u64) -> Result<Location, SimErrorKind>;

    /// Returns the slot of another CTA of the cluster.
    fn remote(&self, cluster: usize, rank: u32, address: u64) -> Result<usize, SimErrorKind>;

    /// Turns a fault into an error that names the access.
    fn fault(&self, fault: Fault, access: &'static str, location: Location, bytes: u32) -> SimErrorKind;

    fn read_location(&self, w: &Warp, lane: usize, location: Location, out: &mut [u8]) -> Result<(), Fault>;

    fn write_location(&mut self, w: &mut Warp, lane: usize, location: Location, bytes: &[u8]) -> Result<(), Fault>;

    /// Records an access for race detection.
    fn note(
        &mut self,
        agent: u32,
        location: Location,
        len: u64,
        how: AccessKind,
        origin: Origin,
    ) -> Result<(), SimErrorKind>;

    /// Checks that the mbarrier on which an asynchronous operation arrives was initialized for it.
    fn note_arrival(&mut self, agent: u32, location: Location, origin: Origin) -> Result<(), SimErrorKind>;

    /// Turns a conflict of an access of `agent` at `location` into an error.
    fn conflict(
        &self,
        agent: u32,
        location: Location,
        conflict: Conflict,
        second: (Origin, AccessKind),
    ) -> SimErrorKind;

    /// Records accesses that another proxy makes now on behalf of a warp.
    fn note_async(
        &mut self,
        agent: u32,
        accesses: &[(Location, u64)],
        how: AccessKind,
        origin: Origin,
    ) -> Result<(), SimErrorKind>;

    /// The address operand of each lane.
    fn addresses(w: &Warp, frame: u32, arg: &DArg) -> Lanes64;
}

impl MemoryAccess for Machine<'_> {
    #[inline]
    fn resolve(&self, cta: usize, space: Space, address: u64) -> Result<Location, SimErrorKind> {
        let bad = |space| SimErrorKind::OutOfBounds { access: "access", space, address, bytes: 0, hint: String::new() };
        match space {
            Space::Global => Ok(Location::Global(address)),
            Space::Shared | Space::SharedCta | Space::SharedCluster => {
                if address >= WINDOW {
                    return Err(bad("shared"));
                }
                let rank = (address >> 24) as u32;
                let own = &self.ctas[cta];
                let offset = address as u32 & 0xff_ffff;
                if rank == own.rank {
                    return Ok(Location::Shared { cta, offset });
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
                self.remote(own.cluster, rank, address).map(|cta| Location::Shared { cta, offset })
            }
            Space::Local => {
                if address >= WINDOW {
                    return Err(bad("local"));
                }
                Ok(Location::Local(address as u32))
            }
            Space::Param | Space::ParamEntry | Space::ParamFunc => {
                if address & ENTRY_PARAM != 0 {
                    Ok(Location::Global(PARAM_BASE + (address & !ENTRY_PARAM)))
                } else if address < WINDOW {
                    Ok(Location::Local(address as u32))
                } else {
                    Err(bad("param"))
                }
            }
            Space::Const => {
                if address < WINDOW {
                    Ok(Location::Global(CONST_BASE + address))
                } else {
                    Err(bad("const"))
                }
            }
            Space::Generic | Space::Reg => {
                if address < FUNCTION_BASE {
                    Ok(Location::Global(address))
                } else if address.wrapping_sub(SHARED_BASE) < WINDOW {
                    self.resolve(cta, Space::SharedCluster, address - SHARED_BASE)
                } else if address.wrapping_sub(LOCAL_BASE) < WINDOW {
                    Ok(Location::Local((address - LOCAL_BASE) as u32))
                } else {
                    Ok(Location::Global(address))
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

    fn fault(&self, fault: Fault, access: &'static str, location: Location, bytes: u32) -> SimErrorKind {
        let (space, address) = (location.space(), location.address());
        match fault {
            Fault::OutOfBounds => {
                let hint = match location {
                    Location::Global(a) if self.mem.members(a).is_some() => {
                        " (a multicast address, which only multimem instructions can access)".to_string()
                    }
                    Location::Global(a) => match self.mem.nearest(a) {
                        Some((base, len)) if a >= base => {
                            format!(" ({} bytes after the start of a {len}-byte allocation)", a - base)
                        }
                        Some((base, len)) => format!(" ({} bytes before a {len}-byte allocation)", base - a),
                        None => String::new(),
                    },
                    Location::Shared { cta, .. } => format!(" (the CTA has {} bytes)", self.ctas[cta].shared.len()),
                    Location::Local(_) => String::new(),
                };
                SimErrorKind::OutOfBounds { access, space, address, bytes, hint }
            }
            Fault::Uninitialised(byte) => {
                let why = self.why_unwritten(location.plus(byte));
                let name = match location {
                    Location::Shared { offset, .. } => self.prog.shared_name(offset + byte as u32),
                    _ => String::new(),
                };
                let address_of_byte = address + byte;
                SimErrorKind::Uninitialised { space, address, bytes, address_of_byte, name, why }
            }
            Fault::ReadOnly => SimErrorKind::ReadOnly { address },
        }
    }

    #[inline]
    fn read_location(&self, w: &Warp, lane: usize, location: Location, out: &mut [u8]) -> Result<(), Fault> {
        let check = self.config.trap_uninitialised;
        match location {
            Location::Global(a) => self.mem.read(a, out, check),
            Location::Shared { cta, offset } => self.ctas[cta].shared.read(offset as usize, out, check),
            Location::Local(o) => w.local[lane].read(o as usize, out, check),
        }
    }

    #[inline]
    fn write_location(&mut self, w: &mut Warp, lane: usize, location: Location, bytes: &[u8]) -> Result<(), Fault> {
        match location {
            Location::Global(a) => self.mem.write(a, bytes),
            Location::Shared { cta, offset } => {
                if offset < SHARED_START {
                    return Err(Fault::OutOfBounds);
                }
                self.ctas[cta].shared.write(offset as usize, bytes)
            }
            Location::Local(o) => w.local[lane].write(o as usize, bytes),
        }
    }

    fn note(
        &mut self,
        agent: u32,
        location: Location,
        len: u64,
        how: AccessKind,
        origin: Origin,
    ) -> Result<(), SimErrorKind> {
        if self.race.is_none() {
            return Ok(());
        }
        let (mem, address) = match location {
            Location::Global(a) if a < FUNCTION_BASE => (MemKey::Global, a),
            Location::Shared { cta, offset } => (MemKey::Shared(self.ctas[cta].uid), u64::from(offset)),
            _ => return Ok(()),
        };
        let Some(race) = &mut self.race else { return Ok(()) };
        let conflict = race.access(agent, mem, address, len, how, origin);
        conflict.map_or(Ok(()), |conflict| Err(self.conflict(agent, location, conflict, (origin, how))))
    }

    fn note_arrival(&mut self, agent: u32, location: Location, origin: Origin) -> Result<(), SimErrorKind> {
        let (Location::Shared { cta, offset }, Some(race)) = (location, &self.race) else { return Ok(()) };
        let how = AccessKind { asynchronous: true, ..AccessKind::ATOMIC };
        let conflict = race.arrival(agent, (self.ctas[cta].uid, offset));
        conflict.map_or(Ok(()), |conflict| Err(self.conflict(agent, location, conflict, (origin, how))))
    }

    fn conflict(
        &self,
        agent: u32,
        location: Location,
        conflict: Conflict,
        second: (Origin, AccessKind),
    ) -> SimErrorKind {
        // If one of the accesses is by a copy, the warp of the other should have waited for the copy.
        let hint = match (self.engine.phases.completion(agent), conflict.missing == Missing::Order) {
            (_, false) => None,
            (Some(_), _) => self.phase_hint(agent, conflict.first.0.warp),
            (None, _) => self.phase_hint(conflict.first_agent, second.0.warp),
        };
        let name = match location {
            Location::Shared { .. } => self.prog.shared_name(conflict.address as u32),
            _ => String::new(),
        };
        let (space, address) = (location.space(), conflict.address);
        self.race_error(space, address, name, conflict.first, second, conflict.missing, hint)
    }

    fn note_async(
        &mut self,
        agent: u32,
        accesses: &[(Location, u64)],
        how: AccessKind,
        origin: Origin,
    ) -> Result<(), SimErrorKind> {
        let Some(race) = &mut self.race else { return Ok(()) };
        let proxy = race.fork(agent, origin.lane);
        for (location, len) in accesses {
            self.note(proxy, *location, *len, how, origin)?;
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
    fn addresses(w: &Warp, frame: u32, arg: &DArg) -> Lanes64 {
        match arg {
            DArg::Mem(base, offset) => w.address(frame, *base, *offset),
            other => w.src64(frame, other),
        }
    }
}
