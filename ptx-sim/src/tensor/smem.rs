//! Matrices in shared memory, as described by `wgmma` and `tcgen05` descriptors.
//!
//! A 64-bit descriptor gives a start address, two strides and a swizzle. The matrix is a grid of 16-byte chunks, each
//! of which holds `T` elements. Let `S` be the swizzle span in bytes (16 without swizzle).
//!
//! **K-major** (consecutive K values of a row are adjacent), row `r`, chunk `c` along K:
//!
//! ```text
//! no swizzle: start + 16 * (r % 8) + SBO * (r / 8) + LBO * c
//! swizzle:    start +  S * (r % 8) + SBO * (r / 8) + 16 * c
//! ```
//!
//! **MN-major** (consecutive M or N values of a column are adjacent), chunk `c` along MN:
//!
//! ```text
//! no swizzle: start + 16 * (k % 8) + LBO * (k / 8) + SBO * c
//! swizzle:    start +  S * (k % L) + SBO * (k / L) + 16 * (c % (S/16)) + LBO * (c / (S/16))
//! ```
//!
//! `L` is 4 for the swizzle of 32-byte units and 8 for the others.
//!
//! The swizzle then XORs address bits: the number of the 128-byte line, counted from the start of the pattern, into
//! the chunk index within the span. Because this applies to the final address, a start address may be advanced by a
//! few chunks inside an atom to step along K.
//!
//! For example: bf16, K-major, 128-byte swizzle, start 0x400, SBO 1024, element (row 3, k 20). The element is in chunk
//! `20 * 2 / 16 = 2`, at byte 8; its linear address is `0x400 + 3 * 128 + 32 + 8 = 0x5a8`. Line 3 changes chunk 2 to
//! `2 ^ 3 = 1`, so the element is at `0x598`.

use super::element::Element;
use super::error::TensorError;

/// The swizzle of a shared-memory matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Swizzle {
    None,
    B32,
    B64,
    B128,
    /// 128-byte span, 32-byte units.
    B128Atom32,
}

impl Swizzle {
    /// Bytes within which the pattern permutes: 16 without swizzle.
    pub const fn span(self) -> u32 {
        match self {
            Swizzle::None => 16,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            Swizzle::B128 | Swizzle::B128Atom32 => 128,
        }
    }

    /// The permuted address; `base_offset` is the line number (mod 8) at which the pattern starts.
    pub const fn apply(self, address: u32, base_offset: u32) -> u32 {
        let line = (address >> 7).wrapping_sub(base_offset) & 7;
        address
            ^ match self {
                Swizzle::None => 0,
                Swizzle::B32 => (line & 1) << 4,
                Swizzle::B64 => (line & 3) << 4,
                Swizzle::B128 => line << 4,
                Swizzle::B128Atom32 => (line & 3) << 5,
            }
    }
}

/// The index along which adjacent elements run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Major {
    K,
    Mn,
}

/// A decoded matrix descriptor; offsets in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmemDescriptor {
    pub start: u32,
    pub leading: u32,
    pub stride: u32,
    pub base_offset: u32,
    pub swizzle: Swizzle,
    /// Whether `leading` is the absolute address of the second half along K (sm_103a).
    pub leading_absolute: bool,
}

impl SmemDescriptor {
    /// Decodes a `wgmma` descriptor (sm_90).
    pub const fn wgmma(raw: u64) -> Self {
        let swizzle = match raw >> 62 {
            0 => Swizzle::None,
            1 => Swizzle::B128,
            2 => Swizzle::B64,
            _ => Swizzle::B32,
        };
        Self::fields(raw, swizzle, false)
    }

    /// Decodes a `tcgen05` descriptor (sm_100).
    ///
    /// # Errors
    ///
    /// A version field other than 1, or an undefined swizzle code.
    pub fn tcgen05(raw: u64) -> Result<Self, TensorError> {
        let fail = |reason| TensorError::Descriptor { descriptor: raw, reason };
        if raw >> 46 & 7 != 1 {
            return Err(fail("bits 46-48 must be 0b001"));
        }
        let swizzle = match raw >> 61 {
            0 => Swizzle::None,
            1 => Swizzle::B128Atom32,
            2 => Swizzle::B128,
            4 => Swizzle::B64,
            6 => Swizzle::B32,
            _ => return Err(fail("swizzle code does not exist")),
        };
        let absolute = raw >> 52 & 1 == 1;
        if absolute && swizzle != Swizzle::B128 {
            return Err(fail("an absolute leading address needs the 128-byte swizzle"));
        }
        Ok(Self::fields(raw, swizzle, absolute))
    }

    const fn fields(raw: u64, swizzle: Swizzle, leading_absolute: bool) -> Self {
        const fn field(raw: u64, low: u32) -> u32 {
            ((raw >> low & 0x3fff) << 4) as u32
        }
        Self {
            start: field(raw, 0),
            leading: field(raw, 16),
            stride: field(raw, 32),
            base_offset: (raw >> 49 & 7) as u32,
            swizzle,
            leading_absolute,
        }
    }

    /// The address of the 16-byte chunk `(line, chunk)`. For [`Major::K`] a line is a row and chunks run along K; for
    /// [`Major::Mn`] a line is one k.
    pub const fn chunk(&self, major: Major, line: u32, chunk: u32) -> u32 {
        let span = self.swizzle.span();
        let linear = match (major, self.swizzle) {
            (Major::K, Swizzle::None) => 16 * (line % 8) + self.stride * (line / 8) + self.leading * chunk,
            (Major::K, _) => span * (line % 8) + self.stride * (line / 8) + 16 * chunk,
            (Major::Mn, Swizzle::None) => 16 * (line % 8) + self.leading * (line / 8) + self.stride * chunk,
            (Major::Mn, _) => {
                let per_span = span / 16;
                // The atom of 32-byte units has four lines.
                let group = if matches!(self.swizzle, Swizzle::B128Atom32) { 4 } else { 8 };
                span * (line % group)
                    + self.stride * (line / group)
                    + 16 * (chunk % per_span)
                    + self.leading * (chunk / per_span)
            }
        };
        if self.leading_absolute && matches!(major, Major::K) {
            // Chunks beyond the 128-byte line of the start address continue at the second address.
            let offset = self.start % 128 + 16 * chunk;
            if offset >= 128 {
                let rows = span * (line % 8) + self.stride * (line / 8);
                return self.swizzle.apply(self.leading / 128 * 128 + rows + offset - 128, self.base_offset);
            }
        }
        self.swizzle.apply(self.start + linear, self.base_offset)
    }

    /// Byte address and first bit of element `(mn, k)`.
    ///
    /// `container` is the element's width in the dense grid: its own width when packed, or 8 when 16 elements of 4 or
    /// 6 bits share a padded chunk.
    pub const fn element(&self, major: Major, mn: u32, k: u32, container: u32, bits: u32) -> (u32, u32) {
        let (line, along) = match major {
            Major::K => (mn, k),
            Major::Mn => (k, mn),
        };
        let per_chunk = 128 / container;
        // Elements in a chunk are packed at their own width.
        let bit = along % per_chunk * bits;
        (self.chunk(major, line, along / per_chunk) + bit / 8, bit % 8)
    }
}

/// Reads a matrix from shared memory, as exact values, `rows * k` by rows.
///
/// # Errors
///
/// Returns the errors of `read`, which receives the address of a 16-byte chunk and how many of its bytes are elements;
/// the rest is padding, which no instruction reads.
pub fn read_matrix<E>(
    descriptor: &SmemDescriptor,
    major: Major,
    element: Element,
    container: u32,
    (rows, k): (usize, usize),
    mut read: impl FnMut(u32, usize) -> Result<[u8; 16], E>,
) -> Result<Vec<f64>, E> {
    let mut out = vec![0.0; rows * k];
    let per_chunk = (128 / container) as usize;
    let bits = element.bits() as usize;
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let (lines, along) = if major == Major::K { (rows, k) } else { (k, rows) };
    for line in 0..lines {
        for chunk in 0..along.div_ceil(per_chunk) {
            let bytes = read(descriptor.chunk(major, line as u32, chunk as u32), per_chunk * bits / 8)?;
            let word = u128::from_le_bytes(bytes);
            for i in 0..per_chunk.min(along - chunk * per_chunk) {
                let value = element.value((word >> (i * bits)) as u64 & mask);
                let position = chunk * per_chunk + i;
                let (row, col) = if major == Major::K { (line, position) } else { (position, line) };
                out[row * k + col] = value;
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn descriptor(start: u64, lbo: u64, sbo: u64, swizzle: u64) -> SmemDescriptor {
        SmemDescriptor::wgmma(start >> 4 | (lbo >> 4) << 16 | (sbo >> 4) << 32 | swizzle << 62)
    }

    /// The destination chunk of every source chunk, as tabulated in the PTX ISA, 8 chunks of 16 bytes to a line.
    #[test]
    fn swizzle_tables() {
        type Table = [[u32; 8]; 8];
        const B32: Table = [
            [0, 1, 2, 3, 4, 5, 6, 7],
            [1, 0, 3, 2, 5, 4, 7, 6],
            [0, 1, 2, 3, 4, 5, 6, 7],
            [1, 0, 3, 2, 5, 4, 7, 6],
            [0, 1, 2, 3, 4, 5, 6, 7],
            [1, 0, 3, 2, 5, 4, 7, 6],
            [0, 1, 2, 3, 4, 5, 6, 7],
            [1, 0, 3, 2, 5, 4, 7, 6],
        ];
        const B64: Table = [
            [0, 1, 2, 3, 4, 5, 6, 7],
            [1, 0, 3, 2, 5, 4, 7, 6],
            [2, 3, 0, 1, 6, 7, 4, 5],
            [3, 2, 1, 0, 7, 6, 5, 4],
            [0, 1, 2, 3, 4, 5, 6, 7],
            [1, 0, 3, 2, 5, 4, 7, 6],
            [2, 3, 0, 1, 6, 7, 4, 5],
            [3, 2, 1, 0, 7, 6, 5, 4],
        ];
        const B128: Table = [
            [0, 1, 2, 3, 4, 5, 6, 7],
            [1, 0, 3, 2, 5, 4, 7, 6],
            [2, 3, 0, 1, 6, 7, 4, 5],
            [3, 2, 1, 0, 7, 6, 5, 4],
            [4, 5, 6, 7, 0, 1, 2, 3],
            [5, 4, 7, 6, 1, 0, 3, 2],
            [6, 7, 4, 5, 2, 3, 0, 1],
            [7, 6, 5, 4, 3, 2, 1, 0],
        ];
        const ATOM32: Table = [
            [0, 1, 2, 3, 4, 5, 6, 7],
            [2, 3, 0, 1, 6, 7, 4, 5],
            [4, 5, 6, 7, 0, 1, 2, 3],
            [6, 7, 4, 5, 2, 3, 0, 1],
            [0, 1, 2, 3, 4, 5, 6, 7],
            [2, 3, 0, 1, 6, 7, 4, 5],
            [4, 5, 6, 7, 0, 1, 2, 3],
            [6, 7, 4, 5, 2, 3, 0, 1],
        ];
        let rows = [(Swizzle::B32, B32), (Swizzle::B64, B64), (Swizzle::B128, B128), (Swizzle::B128Atom32, ATOM32)];
        for (swizzle, table) in rows {
            for (line, expected) in (0..8).zip(table) {
                for (chunk, want) in (0..8).zip(expected) {
                    let address = 0x2000 + line * 128 + chunk * 16;
                    assert_eq!(swizzle.apply(address + 5, 0), 0x2000 + line * 128 + want * 16 + 5);
                    // A pattern that starts three lines later is the same pattern, shifted.
                    let shifted = address + 3 * 128;
                    assert_eq!(swizzle.apply(shifted, 3), 0x2000 + (line + 3) * 128 + want * 16);
                }
            }
        }
    }

    /// The layouts that the PTX ISA gives next to its figures.
    #[test]
    fn canonical_layouts() {
        // tf32, K-major, no swizzle: ((8,2),(4,4)):((4,32),(1,64)) in elements.
        let d = descriptor(0, 64 * 4, 32 * 4, 0);
        for row in 0..16 {
            for k in 0..16 {
                let expected = row % 8 * 4 + row / 8 * 32 + k % 4 + k / 4 * 64;
                assert_eq!(d.element(Major::K, row, k, 32, 32), (expected * 4, 0));
            }
        }
        // tf32, K-major, 32-byte swizzle: ((8,2),(4,4)):((8,64),(1,4)); along K, two atoms are adjacent only inside
        // the 32-byte span.
        let d = descriptor(0, 0, 64 * 4, 3);
        for row in 0..16 {
            for k in 0..8 {
                let linear = (row % 8 * 8 + row / 8 * 64 + k) * 4;
                assert_eq!(d.element(Major::K, row, k, 32, 32).0, linear ^ (linear >> 7 & 1) << 4);
            }
        }
        // bf16, MN-major, no swizzle: ((8,1,2),(8,2)):((1,8,64),(8,128)).
        let d = descriptor(0, 128 * 2, 64 * 2, 0);
        for mn in 0..16 {
            for k in 0..16 {
                let expected = mn % 8 + mn / 8 * 64 + k % 8 * 8 + k / 8 * 128;
                assert_eq!(d.element(Major::Mn, mn, k, 16, 16), (expected * 2, 0));
            }
        }
        // bf16, MN-major, 64-byte swizzle: ((8,4,2),(8,2)):((1,8,256),(32,512)).
        let d = descriptor(0, 256 * 2, 512 * 2, 2);
        for mn in 0..64 {
            for k in 0..16 {
                let linear = (mn % 32 + mn / 32 * 256 + k % 8 * 32 + k / 8 * 512) * 2;
                assert_eq!(d.element(Major::Mn, mn, k, 16, 16).0, linear ^ (linear >> 7 & 3) << 4);
            }
        }
    }

    /// The atom of 32-byte units: four lines of 128 bytes.
    #[test]
    fn groups_of_four_lines() {
        let raw = 1 << 61 | 1 << 46 | (4096u64 >> 4) << 16 | (512u64 >> 4) << 32;
        let d = SmemDescriptor::tcgen05(raw).unwrap();
        for mn in 0..64 {
            for k in 0..16 {
                let linear = (mn % 32 * 4) + mn / 32 * 4096 + k % 4 * 128 + k / 4 * 512;
                assert_eq!(d.element(Major::Mn, mn, k, 32, 32).0, linear ^ (linear >> 7 & 3) << 5);
            }
        }
    }

    #[test]
    fn the_worked_example() {
        let d = descriptor(0x400, 16, 1024, 1);
        assert_eq!(d.element(Major::K, 3, 20, 16, 16), (0x598, 0));
        // Advancing the start address by 32 bytes advances K by 16 elements.
        let next = descriptor(0x420, 16, 1024, 1);
        assert_eq!(next.element(Major::K, 3, 4, 16, 16), (0x598, 0));
    }

    #[test]
    fn atoms_are_dense() {
        for (code, span) in [(1, 128), (2, 64), (3, 32)] {
            let d = descriptor(0x800, 0, u64::from(span) * 8, code);
            let k = span / 2;
            let all: BTreeSet<u32> = (0..64)
                .flat_map(|row| (0..k).map(move |k| (row, k)))
                .map(|(row, k)| d.element(Major::K, row, k, 16, 16).0)
                .collect();
            assert_eq!(all.len() as u32, 64 * k);
            assert_eq!(all.first(), Some(&0x800));
            assert_eq!(all.last(), Some(&(0x800 + 64 * span - 2)));
        }
    }

    #[test]
    fn tcgen05_descriptors() {
        let raw = 0x4000_0000_0000_0000 | 1 << 46 | 0x40 << 32 | 0x1000 >> 4;
        let d = SmemDescriptor::tcgen05(raw).unwrap();
        assert_eq!((d.start, d.stride, d.swizzle), (0x1000, 1024, Swizzle::B128));
        assert!(SmemDescriptor::tcgen05(raw & !(1 << 46)).is_err());
        assert!(SmemDescriptor::tcgen05(raw | 1 << 61).is_err());
        assert_eq!(SmemDescriptor::tcgen05(1 << 46 | 6 << 61).unwrap().swizzle, Swizzle::B32);
    }

    #[test]
    fn padded_small_elements() {
        // Sixteen 6-bit elements share a chunk; element 5 starts at bit 30.
        let d = descriptor(0, 128, 256, 0);
        assert_eq!(d.element(Major::K, 0, 5, 8, 6), (3, 6));
        assert_eq!(d.element(Major::K, 0, 16, 8, 6), (128, 0));
        let chunk = (0..16u128).fold(0, |w, i| w | i << (4 * i));
        let read = |_, bytes| if bytes == 8 { Ok(chunk.to_le_bytes()) } else { Err(bytes) };
        let m = read_matrix(&d, Major::K, Element::E2m1, 8, (1, 16), read).unwrap();
        assert_eq!(&m[..8], &[0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
    }
}
