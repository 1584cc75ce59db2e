//! A resolved memory location.

use super::memory::{CONST_BASE, PARAM_BASE};

/// A memory location: the result of resolving an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// Global, constant or parameter memory, by generic address.
    Global(u64),
    /// Shared memory of a CTA slot.
    Shared { cta: usize, offset: u32 },
    /// Local memory of the lane.
    Local(u32),
}

impl Location {
    pub fn space(self) -> &'static str {
        match self {
            Location::Global(a) if a >= CONST_BASE => "const",
            Location::Global(a) if a >= PARAM_BASE => "param",
            Location::Global(_) => "global",
            Location::Shared { .. } => "shared",
            Location::Local(_) => "local",
        }
    }

    pub fn address(self) -> u64 {
        match self {
            Location::Global(a) => a,
            Location::Shared { offset, .. } => u64::from(offset),
            Location::Local(o) => u64::from(o),
        }
    }

    /// The location `n` bytes further.
    pub fn plus(self, n: u64) -> Location {
        match self {
            Location::Global(a) => Location::Global(a.wrapping_add(n)),
            Location::Shared { cta, offset } => Location::Shared { cta, offset: offset.wrapping_add(n as u32) },
            Location::Local(o) => Location::Local(o.wrapping_add(n as u32)),
        }
    }
}
