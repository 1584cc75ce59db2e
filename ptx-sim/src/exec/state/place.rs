//! A resolved memory location.

use super::memory::{CONST_BASE, PARAM_BASE};

/// A memory location: the result of resolving an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Global, constant or parameter memory, by generic address.
    Global(u64),
    /// Shared memory of a CTA slot.
    Shared { cta: usize, offset: u32 },
    /// Local memory of the lane.
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

    /// The location `n` bytes further.
    pub fn plus(self, n: u64) -> Place {
        match self {
            Place::Global(a) => Place::Global(a.wrapping_add(n)),
            Place::Shared { cta, offset } => Place::Shared { cta, offset: offset.wrapping_add(n as u32) },
            Place::Local(o) => Place::Local(o.wrapping_add(n as u32)),
        }
    }
}
