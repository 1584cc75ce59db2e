//! Global memory: allocations separated by guards, and shadow memory that records how much is known of each byte.

use crate::scalar::{Certainty, Scalar};
use crate::types::Number;
use std::collections::BTreeMap;

/// An invalid access.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("access of {size} bytes at {address:#x}, which is outside all allocations{near}")]
    OutOfBounds { address: u64, size: u64, near: String },
    #[error("access of {size} bytes at {address:#x}, which is not a multiple of that size")]
    Misaligned { address: u64, size: u64 },
    #[error("write to {name}, which is constant")]
    Constant { name: String },
}

#[derive(Clone, Debug)]
struct Allocation {
    name: String,
    bytes: Vec<u8>,
    /// Empty while every byte is exact.
    shadow: Vec<Certainty>,
    constant: bool,
}

/// The address of an element. Two e2m1 numbers share a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementAddress {
    pub address: u64,
    pub high_nibble: bool,
}

impl ElementAddress {
    pub fn at(address: u64) -> ElementAddress {
        ElementAddress { address, high_nibble: false }
    }
}

#[derive(Clone, Debug)]
pub struct Memory {
    allocations: BTreeMap<u64, Allocation>,
    /// Objects of multicast memory, by their first address: size in bytes, and the first address of each member.
    multicast: BTreeMap<u64, (u64, Vec<u64>)>,
    next: u64,
    /// Number of writes that changed a byte.
    changes: u64,
}

/// Every allocation starts at a multiple of this, as on a device.
const ALIGNMENT: u64 = 256;
/// Unallocated bytes before and after each allocation.
const GUARD: u64 = 1 << 16;

impl Default for Memory {
    fn default() -> Memory {
        Memory { allocations: BTreeMap::new(), multicast: BTreeMap::new(), next: 1 << 40, changes: 0 }
    }
}

impl Memory {
    fn insert(&mut self, allocation: Allocation, alignment: u64) -> u64 {
        let address = self.next.next_multiple_of(alignment.max(ALIGNMENT));
        self.next = address + allocation.bytes.len() as u64 + GUARD;
        self.allocations.insert(address, allocation);
        address
    }

    /// Allocates memory with contents and returns its address.
    pub fn allocate(&mut self, name: &str, bytes: Vec<u8>) -> u64 {
        self.insert(Allocation { name: name.into(), bytes, shadow: vec![], constant: false }, ALIGNMENT)
    }

    /// Allocates uninitialized memory and returns its address.
    pub fn allocate_unknown(&mut self, name: &str, size: u64, alignment: u64) -> u64 {
        let size = size as usize;
        let (bytes, shadow) = (vec![0; size], vec![Certainty::Unknown; size]);
        self.insert(Allocation { name: name.into(), bytes, shadow, constant: false }, alignment)
    }

    /// Writes bytes into an allocation from outside the program. Does nothing if they do not fit.
    pub fn fill(&mut self, address: u64, bytes: &[u8]) {
        let Some((base, a)) = self.allocations.range_mut(..=address).next_back() else { return };
        let start = (address - base) as usize;
        if let Some(to) = a.bytes.get_mut(start..start + bytes.len()) {
            to.copy_from_slice(bytes);
        }
        if let Some(states) = a.shadow.get_mut(start..start + bytes.len()) {
            states.fill(Certainty::Exact);
        }
    }

    /// Reserves addresses outside of all allocations, each of which maps to an address in every member.
    pub fn multicast(&mut self, members: &[u64], bytes: u64) -> u64 {
        let address = self.next.next_multiple_of(ALIGNMENT);
        self.next = address + bytes + GUARD;
        self.multicast.insert(address, (bytes, members.to_vec()));
        address
    }

    /// The addresses that an address of multicast memory maps to.
    pub fn members(&self, address: u64) -> Option<Vec<u64>> {
        let (base, (bytes, members)) = self.multicast.range(..=address).next_back()?;
        (address - base < *bytes).then(|| members.iter().map(|m| m + (address - base)).collect())
    }

    /// Makes an allocation constant: later writes are errors.
    pub fn protect(&mut self, address: u64) {
        if let Some(a) = self.allocations.get_mut(&address) {
            a.constant = true;
        }
    }

    /// Number of writes that changed a byte, which shows whether the program makes progress.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    pub fn release(&mut self, address: u64) {
        self.allocations.remove(&address);
    }

    /// Contents of an allocation, and how much is known of each byte.
    pub fn contents(&self, address: u64) -> Option<(&[u8], impl Fn(usize) -> Certainty)> {
        let a = self.allocations.get(&address)?;
        Some((&a.bytes, |i: usize| a.shadow.get(i).copied().unwrap_or(Certainty::Exact)))
    }

    /// The allocation that contains all the bytes, and the offset of the first one.
    fn find(&mut self, address: u64, size: u64) -> Result<(&mut Allocation, usize), Fault> {
        if !address.is_multiple_of(size) {
            return Err(Fault::Misaligned { address, size });
        }
        let Some((base, below)) = self.allocations.range(..=address).next_back() else {
            return Err(Fault::OutOfBounds { address, size, near: String::new() });
        };
        let (base, offset, length) = (*base, address - base, below.bytes.len() as u64);
        let inside = offset.checked_add(size).is_some_and(|end| end <= length);
        let near = if offset < length + GUARD {
            format!(" (byte {offset} of {}, which has {length})", below.name)
        } else {
            String::new()
        };
        if inside && let Some(a) = self.allocations.get_mut(&base) {
            return Ok((a, offset as usize));
        }
        Err(Fault::OutOfBounds { address, size, near })
    }

    /// Name of the allocation that contains an address.
    pub fn name_of(&self, address: u64) -> Option<&str> {
        self.allocations.range(..=address).next_back().map(|(_, a)| a.name.as_str())
    }

    /// Reads a number of type `n`.
    pub fn read(&mut self, at: ElementAddress, n: Number) -> Result<Scalar, Fault> {
        let size = u64::from(n.stored_bits().div_ceil(8));
        let (a, offset) = self.find(at.address, size)?;
        let range = offset..offset + size as usize;
        let mut word = [0; 8];
        word[..size as usize].copy_from_slice(&a.bytes[range.clone()]);
        let stored = u64::from_le_bytes(word);
        let bits = match n {
            Number::I1 => u64::from(stored != 0),
            Number::Tf32 => stored >> 13,
            Number::E2m1 if at.high_nibble => stored >> 4,
            Number::E2m1 => stored & 0xf,
            _ => stored,
        };
        let states = a.shadow.get(range).unwrap_or(&[]);
        // Approximate bytes are only meaningful in the type that they were written with.
        let certainty = match states {
            [] => Certainty::Exact,
            [first, rest @ ..] if n.is_float() && rest.iter().all(|s| s == first) => *first,
            all if all.iter().all(|s| *s == Certainty::Exact) => Certainty::Exact,
            _ => Certainty::Unknown,
        };
        Ok(Scalar { bits, certainty })
    }

    pub fn write(&mut self, at: ElementAddress, n: Number, value: Scalar) -> Result<(), Fault> {
        let size = u64::from(n.stored_bits().div_ceil(8));
        let (a, offset) = self.find(at.address, size)?;
        if a.constant {
            return Err(Fault::Constant { name: a.name.clone() });
        }
        let old = u64::from(a.bytes[offset]);
        let stored = match n {
            Number::Tf32 => value.bits << 13,
            Number::E2m1 if at.high_nibble => old & 0xf | value.bits << 4,
            Number::E2m1 => old & 0xf0 | value.bits,
            _ => value.bits,
        };
        let mut certainty = value.certainty;
        if n == Number::E2m1 && a.shadow.get(offset).is_some_and(|s| *s != Certainty::Exact) {
            // The shadow entry covers both halves of the byte, one of which is not exact.
            certainty = Certainty::Unknown;
        }
        let range = offset..offset + size as usize;
        let (bytes, new) = (&mut a.bytes[range.clone()], &stored.to_le_bytes()[..size as usize]);
        let changed = bytes != new;
        bytes.copy_from_slice(new);
        if certainty != Certainty::Exact && a.shadow.is_empty() {
            a.shadow = vec![Certainty::Exact; a.bytes.len()];
        }
        if let Some(states) = a.shadow.get_mut(range) {
            states.fill(certainty);
        }
        self.changes += u64::from(changed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds() {
        let mut m = Memory::default();
        let p = m.allocate("x", vec![0; 12]);
        let q = m.allocate("y", vec![0; 4]);
        assert!(m.read(ElementAddress::at(p + 8), Number::F32).is_ok());
        assert!(matches!(m.read(ElementAddress::at(p + 12), Number::F32), Err(Fault::OutOfBounds { .. })));
        assert!(matches!(m.read(ElementAddress::at(p + 8), Number::F64), Err(Fault::OutOfBounds { .. })));
        assert!(matches!(m.read(ElementAddress::at(p + 2), Number::F32), Err(Fault::Misaligned { .. })));
        assert!(matches!(m.read(ElementAddress::at(q - 4), Number::F32), Err(Fault::OutOfBounds { .. })));
        assert!(matches!(m.read(ElementAddress::at(0), Number::I8), Err(Fault::OutOfBounds { .. })));
        let text = m.read(ElementAddress::at(p + 12), Number::I8).unwrap_err().to_string();
        assert!(text.ends_with("(byte 12 of x, which has 12)"), "{text}");
        m.protect(q);
        assert!(matches!(m.write(ElementAddress::at(q), Number::I8, Scalar::exact(1)), Err(Fault::Constant { .. })));
        m.release(p);
        assert!(m.read(ElementAddress::at(p), Number::I8).is_err());
    }

    #[test]
    fn formats() {
        let mut m = Memory::default();
        let p = m.allocate("x", vec![0xff, 0x3c, 0, 0x80, 0x3f, 0, 0, 0]);
        assert_eq!(m.read(ElementAddress::at(p), Number::I1), Ok(Scalar::exact(1)));
        assert_eq!(m.read(ElementAddress::at(p + 1), Number::E2m1), Ok(Scalar::exact(0xc)));
        assert_eq!(m.read(ElementAddress { address: p + 1, high_nibble: true }, Number::E2m1), Ok(Scalar::exact(3)));
        m.write(ElementAddress { address: p + 1, high_nibble: true }, Number::E2m1, Scalar::exact(5)).unwrap();
        assert_eq!(m.read(ElementAddress::at(p + 1), Number::I8), Ok(Scalar::exact(0x5c)));
        m.write(ElementAddress::at(p + 4), Number::Tf32, Scalar::exact(0x1fc00)).unwrap();
        assert_eq!(m.read(ElementAddress::at(p + 4), Number::F32), Ok(Scalar::exact(0x3f80_0000)));
        assert_eq!(m.read(ElementAddress::at(p + 4), Number::Tf32), Ok(Scalar::exact(0x1fc00)));
    }

    #[test]
    fn what_is_known_of_bytes() {
        let mut m = Memory::default();
        let p = m.allocate_unknown("x", 8, 16);
        assert!(m.read(ElementAddress::at(p), Number::I32).unwrap().is_unknown());
        m.write(ElementAddress::at(p), Number::I32, Scalar::exact(7)).unwrap();
        assert_eq!(m.read(ElementAddress::at(p), Number::I32), Ok(Scalar::exact(7)));
        assert!(m.read(ElementAddress::at(p), Number::I64).unwrap().is_unknown());
        let near = Scalar { bits: 0x3f80_0000, certainty: Certainty::Near(2.0) };
        m.write(ElementAddress::at(p + 4), Number::F32, near).unwrap();
        assert_eq!(m.read(ElementAddress::at(p + 4), Number::F32), Ok(near));
        assert!(m.read(ElementAddress::at(p + 4), Number::I32).unwrap().is_unknown());
    }
}
