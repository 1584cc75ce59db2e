//! Memory with a shadow that tracks which bytes were written.
//!
//! # The generic address space
//!
//! Global memory is at its own addresses. Each other space appears in a window of 4 GiB, at one of the bases below;
//! the offset in the window equals the address in the space. Bits 24 and up of a shared address hold the rank of its
//! CTA in the cluster, so a `shared::cta` address is also a valid `shared::cluster` address.

use std::cell::Cell;

/// First address of device allocations.
pub(crate) const GLOBAL_BASE: u64 = 0x2_0000_0000;

pub(crate) const FUNCTION_BASE: u64 = 0x7c00_0000_0000;

pub(crate) const PARAM_BASE: u64 = 0x7d00_0000_0000;

pub(crate) const CONST_BASE: u64 = 0x7e00_0000_0000;

pub(crate) const SHARED_BASE: u64 = 0x7f00_0000_0000;

pub(crate) const LOCAL_BASE: u64 = 0x7f80_0000_0000;

/// Size of each window.
pub(crate) const WINDOW: u64 = 1 << 32;

/// Local memory of a thread, in bytes, as on the hardware.
pub(crate) const MAX_LOCAL: u32 = 512 << 10;

/// Why a memory access is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    OutOfBounds,
    /// Offset of the first byte that was never written.
    Uninitialised(u64),
    ReadOnly,
}

/// Bytes, each with a "was written" bit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bytes {
    data: Vec<u8>,
    /// `None` if every byte was written, as in most arrays.
    init: Option<Vec<u64>>,
}

impl Bytes {
    /// Creates `len` bytes that count as never written.
    pub fn new(len: usize) -> Bytes {
        Bytes { data: vec![0; len], init: Some(vec![0; len.div_ceil(64)]) }
    }

    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Grows to `len` bytes.
    pub fn grow(&mut self, len: usize) {
        if len > self.data.len() {
            let old = self.data.len();
            self.data.resize(len, 0);
            self.bits(old).resize(len.div_ceil(64), 0);
        }
    }

    pub fn slice(&self, at: usize, len: usize) -> Option<&[u8]> {
        self.data.get(at..at.checked_add(len)?)
    }

    /// The first unwritten byte of a range that is within bounds.
    #[inline]
    pub fn first_unwritten(&self, at: usize, len: usize) -> Option<usize> {
        let init = self.init.as_ref()?;
        if len <= 64 - at % 64 && len > 0 {
            let want = (u64::MAX >> (64 - len)) << (at % 64);
            let have = init[at / 64] & want;
            return if have == want { None } else { Some(at / 64 * 64 + (want & !have).trailing_zeros() as usize) };
        }
        (at..at + len).find(|i| init[i / 64] >> (i % 64) & 1 == 0)
    }

    /// The written bits; created on demand for `len` written bytes.
    fn bits(&mut self, len: usize) -> &mut Vec<u64> {
        self.init.get_or_insert_with(|| {
            let mut bits = vec![u64::MAX; len.div_ceil(64)];
            if let Some(last) = bits.last_mut().filter(|_| !len.is_multiple_of(64)) {
                *last = (1 << (len % 64)) - 1;
            }
            bits
        })
    }

    #[inline]
    fn mark(&mut self, at: usize, len: usize, written: bool) {
        if written && (self.init.is_none() || len == self.data.len()) {
            self.init = None;
            return;
        }
        let all = self.data.len();
        let init = self.bits(all);
        let mut i = at;
        let end = at + len;
        while i < end {
            let n = (64 - i % 64).min(end - i);
            let bits = (u64::MAX >> (64 - n)) << (i % 64);
            if written {
                init[i / 64] |= bits;
            } else {
                init[i / 64] &= !bits;
            }
            i += n;
        }
    }

    /// Copies bytes out; with `check`, all of them must have been written.
    #[inline]
    pub fn read(&self, at: usize, out: &mut [u8], check: bool) -> Result<(), Fault> {
        let Some(src) = self.slice(at, out.len()) else { return Err(Fault::OutOfBounds) };
        if check && let Some(bad) = self.first_unwritten(at, out.len()) {
            return Err(Fault::Uninitialised((bad - at) as u64));
        }
        out.copy_from_slice(src);
        Ok(())
    }

    #[inline]
    pub fn write(&mut self, at: usize, bytes: &[u8]) -> Result<(), Fault> {
        let end = at.checked_add(bytes.len()).ok_or(Fault::OutOfBounds)?;
        self.data.get_mut(at..end).ok_or(Fault::OutOfBounds)?.copy_from_slice(bytes);
        self.mark(at, bytes.len(), true);
        Ok(())
    }

    /// Marks a range as never written and fills it with a recognizable pattern.
    pub fn poison(&mut self, at: usize, len: usize) {
        let end = at.saturating_add(len).min(self.data.len());
        if at < end {
            self.data[at..end].fill(0xcd);
            self.mark(at, end - at, false);
        }
    }

    /// Copies a range with its shadow; does nothing if either range is out of bounds.
    pub fn copy_within(&mut self, from: usize, to: usize, len: usize) {
        if from.max(to).saturating_add(len) > self.data.len() {
            return;
        }
        self.data.copy_within(from..from + len, to);
        for i in 0..len {
            let written = self.first_unwritten(from + i, 1).is_none();
            self.mark(to + i, 1, written);
        }
    }
}

/// One allocation in the generic address space.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    pub base: u64,
    pub bytes: Bytes,
    pub read_only: bool,
}

/// A range of addresses, each of which refers to one location in each of several allocations.
#[derive(Clone, Debug)]
pub(crate) struct Multicast {
    base: u64,
    bytes: u64,
    /// Start addresses of the members.
    members: Vec<u64>,
}

/// Global, constant and parameter memory: disjoint allocations, ordered by address.
#[derive(Debug, Default)]
pub(crate) struct GlobalMemory {
    allocations: Vec<Allocation>,
    multicast: Vec<Multicast>,
    /// Index of the most recently found allocation, because accesses cluster.
    last: Cell<usize>,
    next: u64,
}

impl GlobalMemory {
    pub fn new() -> GlobalMemory {
        GlobalMemory { allocations: Vec::new(), multicast: Vec::new(), last: Cell::new(0), next: GLOBAL_BASE }
    }

    /// Allocates global memory, followed by an unmapped gap so that overruns are detected.
    pub fn allocate(&mut self, bytes: u64, align: u64) -> u64 {
        let align = align.max(256);
        let base = self.next.div_ceil(align) * align;
        self.next = base + bytes + 4096;
        self.insert(base, bytes, false);
        base
    }

    /// Reserves a range of multicast addresses for `bytes` bytes of each member.
    pub fn multicast(&mut self, members: Vec<u64>, bytes: u64) -> u64 {
        let base = self.next.next_multiple_of(256);
        self.next = base + bytes + 4096;
        self.multicast.push(Multicast { base, bytes, members });
        base
    }

    /// The member addresses of a multicast address; `None` if it is not one.
    pub fn members(&self, address: u64) -> Option<impl Iterator<Item = u64>> {
        let of = self.multicast.iter().find(|m| address.checked_sub(m.base).is_some_and(|at| at < m.bytes))?;
        Some(of.members.iter().map(move |m| m + (address - of.base)))
    }

    /// Maps memory at a fixed address.
    pub fn insert(&mut self, base: u64, bytes: u64, read_only: bool) {
        let at = self.allocations.partition_point(|a| a.base < base);
        self.allocations.insert(at, Allocation { base, bytes: Bytes::new(bytes as usize), read_only });
    }

    /// Unmaps the allocation at `base`; returns false if there is none.
    pub fn remove(&mut self, base: u64) -> bool {
        match self.allocations.binary_search_by_key(&base, |a| a.base) {
            Ok(i) => {
                self.allocations.remove(i);
                true
            }
            Err(_) => false,
        }
    }

    #[inline]
    fn find(&self, address: u64) -> Option<usize> {
        let last = self.last.get();
        if let Some(a) = self.allocations.get(last)
            && address >= a.base
            && address - a.base < a.bytes.len() as u64
        {
            return Some(last);
        }
        let i = self.allocations.partition_point(|a| a.base <= address).checked_sub(1)?;
        let a = &self.allocations[i];
        if address - a.base >= a.bytes.len() as u64 {
            return None;
        }
        self.last.set(i);
        Some(i)
    }

    /// The allocation that contains an address.
    pub fn allocation(&self, address: u64) -> Option<&Allocation> {
        self.find(address).map(|i| &self.allocations[i])
    }

    #[inline]
    pub fn read(&self, address: u64, out: &mut [u8], check: bool) -> Result<(), Fault> {
        let a = &self.allocations[self.find(address).ok_or(Fault::OutOfBounds)?];
        a.bytes.read((address - a.base) as usize, out, check)
    }

    #[inline]
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        let i = self.find(address).ok_or(Fault::OutOfBounds)?;
        let a = &mut self.allocations[i];
        if a.read_only {
            return Err(Fault::ReadOnly);
        }
        a.bytes.write((address - a.base) as usize, bytes)
    }

    /// Writes regardless of protection, for the host and the loader.
    pub fn host_write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.is_empty() {
            return Ok(());
        }
        let i = self.find(address).ok_or(Fault::OutOfBounds)?;
        let a = &mut self.allocations[i];
        a.bytes.write((address - a.base) as usize, bytes)
    }

    /// Marks memory as written without changing its contents.
    pub fn mark_written(&mut self, address: u64, len: usize) {
        if let Some(i) = self.find(address) {
            let a = &mut self.allocations[i];
            let at = (address - a.base) as usize;
            a.bytes.mark(at, len.min(a.bytes.len() - at), true);
        }
    }

    /// Poisons the destination of a copy in flight.
    pub fn poison(&mut self, address: u64, len: usize) {
        if let Some(i) = self.find(address) {
            let a = &mut self.allocations[i];
            a.bytes.poison((address - a.base) as usize, len);
        }
    }

    /// Returns the allocation closest to an unmapped address, for messages.
    pub fn nearest(&self, address: u64) -> Option<(u64, u64)> {
        let i = self.allocations.partition_point(|a| a.base <= address);
        let before = i.checked_sub(1).map(|i| &self.allocations[i]);
        let after = self.allocations.get(i);
        let distance = |a: &Allocation| {
            let end = a.base + a.bytes.len() as u64;
            if address < a.base { a.base - address } else { address.saturating_sub(end) }
        };
        let best = before.into_iter().chain(after).min_by_key(|a| distance(a))?;
        Some((best.base, best.bytes.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_follow_writes_poison_and_growth() {
        let mut b = Bytes::new(100);
        assert_eq!(b.first_unwritten(0, 100), Some(0));
        b.write(10, &[1; 80]).unwrap();
        assert_eq!((b.first_unwritten(10, 80), b.first_unwritten(10, 81)), (None, Some(90)));
        b.write(0, &[2; 100]).unwrap();
        assert_eq!(b.first_unwritten(0, 100), None);
        b.grow(130);
        assert_eq!((b.first_unwritten(0, 100), b.first_unwritten(0, 130)), (None, Some(100)));
        b.write(100, &[3; 30]).unwrap();
        assert_eq!(b.first_unwritten(0, 130), None);
        b.poison(64, 2);
        assert_eq!((b.first_unwritten(0, 130), b.first_unwritten(66, 64)), (Some(64), None));
        b.copy_within(60, 0, 8);
        assert_eq!(b.first_unwritten(0, 8), Some(4));
        let mut out = [0; 4];
        assert_eq!(b.read(62, &mut out, true), Err(Fault::Uninitialised(2)));
        assert_eq!(b.read(128, &mut out, true), Err(Fault::OutOfBounds));
    }
}
