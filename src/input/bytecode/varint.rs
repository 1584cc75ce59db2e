//! Byte cursor, variable-length integers and their writers.
//!
//! Both containers use one integer encoding: unsigned LEB128 with at most ten bytes for 64 bits. Each byte holds
//! seven payload bits, least significant group first, and bit 7 is set on every byte but the last. Signed values are
//! zig-zag mapped first, so small magnitudes of either sign stay short: 0, -1, 1, -2 become 0, 1, 2, 3. The one
//! exception is the location slot in the specification container's operation record. It is a *signed* LEB128 (two's
//! complement; bit 6 of the last byte is the sign), in which -1 is the single byte `7F`.
//!
//! One field is wider: the bit pattern of a float attribute, which is also zig-zag mapped. NVIDIA's compiler
//! interprets the 64 bits of an f64 as a signed number, so a set sign bit makes it negative. This writer does the
//! same. cuTile Python interprets them as a positive number of any width, whose zig-zag form needs 65 bits when the
//! sign bit is set. For example, -inf is `80 80 80 80 80 80 80 F0 FF 03` there and `FF FF FF FF FF FF FF 0F` here.
//! The two encodings never assign different patterns to the same bytes, so the reader accepts both and calls the
//! longer one non-canonical.
//!
//! Worked example: 300 = 0b10_0101100 is written `AC 02`, the low seven bits 0101100 with the continuation bit, then
//! 10. `AC 82 00` decodes to the same number, but its last byte adds nothing, so that encoding is non-canonical.
//!
//! The cursor never allocates and never reads outside its window. Every reading function takes the field that it
//! reads, so the error names that field. Only faults of the encoding itself (too long, non-canonical) have generic
//! texts.

use crate::error::{ErrorKind, Field, ReadError, ReadResult};

/// A window `[pos, end)` into the input; offsets in errors are absolute.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    data: &'a [u8],
    pos: usize,
    end: usize,
    canonical: bool,
}

/// Longest LEB128 encoding of a 64-bit integer, in bytes.
pub const MAX_VARINT_BYTES: usize = 10;

impl<'a> Cursor<'a> {
    /// A cursor over all of `data`. If `canonical` is set, overlong integers are errors.
    pub fn new(data: &'a [u8], canonical: bool) -> Self {
        Self { data, pos: 0, end: data.len(), canonical }
    }

    /// A window over `start..end` of the same input. The range must be within the input.
    pub fn window(&self, start: usize, end: usize) -> Cursor<'a> {
        debug_assert!(start <= end && end <= self.data.len());
        Cursor { data: self.data, pos: start, end, canonical: self.canonical }
    }

    /// Absolute offset of the next byte.
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// Absolute offset one past the last byte of the window.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Bytes left in the window.
    pub fn left(&self) -> usize {
        self.end - self.pos
    }

    pub fn is_empty(&self) -> bool {
        self.pos == self.end
    }

    /// An error at the current offset.
    pub fn fail<T>(&self, kind: impl Into<ErrorKind>) -> ReadResult<T> {
        Err(ReadError::new(self.pos, kind.into()))
    }

    #[inline]
    pub fn byte(&mut self, what: Field) -> ReadResult<u8> {
        if self.pos >= self.end {
            return self.fail(what);
        }
        let b = self.data[self.pos];
        self.pos += 1;
        Ok(b)
    }

    /// Takes `n` raw bytes.
    #[inline]
    pub fn bytes(&mut self, n: usize, what: Field) -> ReadResult<&'a [u8]> {
        if self.left() < n {
            return self.fail(what);
        }
        let s = &self.data[self.pos..self.pos + n];
        self.pos += n;
        Ok(s)
    }

    /// Splits off a window of `n` bytes and moves past it.
    pub fn split(&mut self, n: usize, what: Field) -> ReadResult<Cursor<'a>> {
        if self.left() < n {
            return self.fail(what);
        }
        let w = self.window(self.pos, self.pos + n);
        self.pos += n;
        Ok(w)
    }

    /// Reads an unsigned LEB128.
    #[inline]
    pub fn varint(&mut self, what: Field) -> ReadResult<u64> {
        // Nine of ten integers in real files take one byte.
        if self.pos < self.end {
            let b = self.data[self.pos];
            if b < 0x80 {
                self.pos += 1;
                return Ok(u64::from(b));
            }
        }
        self.varint_slow(what)
    }

    fn varint_slow(&mut self, what: Field) -> ReadResult<u64> {
        Ok(self.leb(64, what)? as u64)
    }

    /// Reads an unsigned LEB128 of at most `width` bits, 64 to 70. The tenth byte holds the highest bits.
    fn leb(&mut self, width: u32, what: Field) -> ReadResult<u128> {
        let start = self.pos;
        let (mut value, mut shift) = (0u128, 0u32);
        loop {
            let b = self.byte(what)?;
            let payload = u128::from(b & 0x7F);
            if shift == 63 && u32::from(b) >> (width - 63) != 0 {
                return Err(ReadError::new(start, ErrorKind::VarIntTooLong));
            }
            value |= payload << shift;
            if b & 0x80 == 0 {
                if b == 0 && shift > 0 && self.canonical {
                    return Err(ReadError::new(start, ErrorKind::NonCanonicalVarInt));
                }
                return Ok(value);
            }
            shift += 7;
        }
    }

    /// Reads an unsigned LEB128 that must fit in an index: a `u32` other than the largest, which is a sentinel.
    #[inline]
    pub fn index(&mut self, what: Field) -> ReadResult<u32> {
        let start = self.pos;
        let v = self.varint(what)?;
        if v >= u64::from(u32::MAX) {
            return Err(ReadError::new(start, ErrorKind::CapacityExceeded { value: v, max: u64::from(u32::MAX) - 1 }));
        }
        Ok(v as u32)
    }

    /// Reads a count of records that take at least `min_bytes` each. A count that cannot fit in the window is
    /// rejected before anything is allocated for the records.
    pub fn count(&mut self, min_bytes: usize, what: Field) -> ReadResult<usize> {
        let start = self.pos;
        let n = self.index(what)? as usize;
        if n.saturating_mul(min_bytes) > self.left() {
            return Err(ReadError::new(start, ErrorKind::AbsurdCount { what, count: n as u64, left: self.left() }));
        }
        Ok(n)
    }

    /// Reads a zig-zag LEB128.
    pub fn zigzag(&mut self, what: Field) -> ReadResult<i64> {
        let u = self.varint(what)?;
        Ok((u >> 1) as i64 ^ -((u & 1) as i64))
    }

    /// Reads the bit pattern of a float: the zig-zag LEB128 of its value as a signed number, or as a positive one,
    /// which takes 65 bits.
    pub fn bit_pattern(&mut self, what: Field) -> ReadResult<u64> {
        let start = self.pos;
        let u = self.leb(65, what)?;
        let half = (u >> 1) as u64;
        match (u >> 64 != 0, u & 1 != 0) {
            (false, is_negative) => Ok(half ^ u64::from(is_negative).wrapping_neg()),
            (true, false) if !self.canonical => Ok(half),
            (true, false) => Err(ReadError::new(start, ErrorKind::NonCanonicalVarInt)),
            // A negative number too small for 64 bits.
            (true, true) => Err(ReadError::new(start, ErrorKind::VarIntTooLong)),
        }
    }

    /// Reads a signed LEB128 (two's complement), which the specification container uses for operation locations.
    pub fn sleb(&mut self, what: Field) -> ReadResult<i64> {
        let start = self.pos;
        let (mut value, mut shift, mut previous) = (0i64, 0u32, 0u8);
        loop {
            let b = self.byte(what)?;
            // At shift 63 only the sign bit remains, so the seven payload bits are all zeros or all ones.
            if shift >= 63 && b != 0 && b != 0x7F {
                return Err(ReadError::new(start, ErrorKind::VarIntTooLong));
            }
            value |= i64::from(b & 0x7F) << shift;
            shift += 7;
            if b & 0x80 == 0 {
                if shift < 64 && b & 0x40 != 0 {
                    value |= -1i64 << shift;
                }
                let redundant = shift > 7 && ((b == 0 && previous & 0x40 == 0) || (b == 0x7F && previous & 0x40 != 0));
                if redundant && self.canonical {
                    return Err(ReadError::new(start, ErrorKind::NonCanonicalVarInt));
                }
                return Ok(value);
            }
            previous = b;
        }
    }

    pub fn u16_le(&mut self, what: Field) -> ReadResult<u16> {
        Ok(u16::from_le_bytes(self.bytes(2, what)?.try_into().expect("two bytes were taken")))
    }

    pub fn u32_le(&mut self, what: Field) -> ReadResult<u32> {
        Ok(u32::from_le_bytes(self.bytes(4, what)?.try_into().expect("four bytes were taken")))
    }

    pub fn u64_le(&mut self, what: Field) -> ReadResult<u64> {
        Ok(u64::from_le_bytes(self.bytes(8, what)?.try_into().expect("eight bytes were taken")))
    }

    /// Reads a VarInt element count followed by that many little-endian `i64`.
    pub fn i64s(&mut self, what: Field) -> ReadResult<Box<[i64]>> {
        let n = self.count(8, what)?;
        let raw = self.bytes(8 * n, what)?;
        Ok(raw.chunks_exact(8).map(|c| i64::from_le_bytes(c.try_into().expect("chunks of eight"))).collect())
    }

    /// Reads a VarInt element count followed by that many little-endian `i32`.
    pub fn i32s(&mut self, what: Field) -> ReadResult<Box<[i32]>> {
        let n = self.count(4, what)?;
        let raw = self.bytes(4 * n, what)?;
        Ok(raw.chunks_exact(4).map(|c| i32::from_le_bytes(c.try_into().expect("chunks of four"))).collect())
    }

    /// Skips padding up to the next multiple of `align`, counted from offset `base`. The padding bytes are not
    /// checked.
    pub fn align(&mut self, align: usize, base: usize, what: Field) -> ReadResult<()> {
        let n = (self.pos - base).next_multiple_of(align) - (self.pos - base);
        self.bytes(n, what).map(|_| ())
    }
}

/// Appends encodings to a byte vector.
pub trait Encode {
    fn put_varint(&mut self, v: u64);
    fn put_sleb(&mut self, v: i64);
    fn put_i32s(&mut self, v: &[i32]);
    fn put_i64s(&mut self, v: &[i64]);
    /// Pads with `fill` until the length is a multiple of `align`.
    fn put_padding(&mut self, align: usize, fill: u8);

    fn put_zigzag(&mut self, v: i64) {
        self.put_varint(((v << 1) ^ (v >> 63)) as u64);
    }
}

impl Encode for Vec<u8> {
    #[inline]
    fn put_varint(&mut self, mut v: u64) {
        while v >= 0x80 {
            self.push(v as u8 | 0x80);
            v >>= 7;
        }
        self.push(v as u8);
    }

    fn put_sleb(&mut self, mut v: i64) {
        loop {
            let b = (v & 0x7F) as u8;
            v >>= 7;
            if (v == 0 && b & 0x40 == 0) || (v == -1 && b & 0x40 != 0) {
                return self.push(b);
            }
            self.push(b | 0x80);
        }
    }

    fn put_i32s(&mut self, v: &[i32]) {
        self.put_varint(v.len() as u64);
        self.extend(v.iter().flat_map(|x| x.to_le_bytes()));
    }

    fn put_i64s(&mut self, v: &[i64]) {
        self.put_varint(v.len() as u64);
        self.extend(v.iter().flat_map(|x| x.to_le_bytes()));
    }

    fn put_padding(&mut self, align: usize, fill: u8) {
        let n = self.len().next_multiple_of(align);
        self.resize(n, fill);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHAT: Field = Field::OperationOpcode;

    #[test]
    fn integers_survive_a_round_trip() {
        let mut values = vec![0u64, 1, 127, 128, 300, u64::MAX, u64::MAX - 1];
        values.extend((0..64).flat_map(|s| [1u64 << s, (1u64 << s) - 1, !(1u64 << s)]));
        for &v in &values {
            let mut out = Vec::new();
            out.put_varint(v);
            out.put_zigzag(v as i64);
            out.put_sleb(v as i64);
            assert!(out.len() <= 3 * MAX_VARINT_BYTES);
            let mut c = Cursor::new(&out, true);
            assert_eq!(c.varint(WHAT).unwrap(), v);
            assert_eq!(c.zigzag(WHAT).unwrap(), v as i64);
            assert_eq!(c.sleb(WHAT).unwrap(), v as i64);
            assert!(c.is_empty());
        }
    }

    /// Reads each pattern in the form that this crate writes and as a positive number of 65 bits.
    #[test]
    fn bit_patterns_in_both_forms() {
        let mut patterns = vec![0u64, u64::MAX];
        patterns.extend((0..64).flat_map(|s| [1u64 << s, !(1u64 << s)]));
        patterns.extend([f64::NEG_INFINITY, -1.0, f64::INFINITY, -0.0, f64::NAN].map(f64::to_bits));
        for bits in patterns {
            let mut short = Vec::new();
            short.put_zigzag(bits as i64);
            let wide = u128::from(bits) << 1;
            let mut long: Vec<u8> = (0..10).map(|i| (wide >> (7 * i)) as u8 | 0x80).collect();
            long.truncate((128 - wide.leading_zeros()).div_ceil(7).max(1) as usize);
            *long.last_mut().unwrap() &= 0x7F;
            for (bytes, strict) in [(&short, true), (&short, false), (&long, false)] {
                let mut c = Cursor::new(bytes, strict);
                assert_eq!(c.bit_pattern(WHAT).unwrap(), bits, "{bytes:02X?}");
                assert!(c.is_empty());
            }
            let strict = Cursor::new(&long, true).bit_pattern(WHAT).map_err(|e| e.to_string());
            match bits >> 63 {
                0 => assert_eq!(strict, Ok(bits)),
                _ => assert_eq!(strict, Err("error at offset 0: non-canonical VarInt".to_owned()), "{long:02X?}"),
            }
        }
        let minus_infinity = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xF0, 0xFF, 0x03];
        assert_eq!(Cursor::new(&minus_infinity, false).bit_pattern(WHAT).unwrap(), f64::NEG_INFINITY.to_bits());
        for last in [0x02, 0x03, 0x04, 0x7F, 0x83] {
            // The odd 65-bit numbers are below the range of 64 bits; the other encodings have too many bits.
            let bytes = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, last];
            let got = Cursor::new(&bytes, false).bit_pattern(WHAT).map_err(|e| e.to_string());
            assert_eq!(got, Err("error at offset 0: VarInt does not fit in 64 bits".to_owned()), "{bytes:02X?}");
        }
    }

    #[test]
    fn spellings() {
        for (bytes, strict, value) in [
            (&[0xAC, 0x02][..], true, Ok(300)),
            (&[0xAC, 0x82, 0x00], false, Ok(300)),
            (&[0xAC, 0x82, 0x00], true, Err("error at offset 0: non-canonical VarInt")),
            (&[0x80], true, Err("error at offset 1: failed to read operation opcode.")),
            (&[0xFF; 11], true, Err("error at offset 0: VarInt does not fit in 64 bits")),
            (&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], true, Ok(u64::MAX)),
            (
                &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02],
                true,
                Err("error at offset 0: VarInt does not fit in 64 bits"),
            ),
        ] {
            let got = Cursor::new(bytes, strict).varint(WHAT).map_err(|e| e.to_string());
            assert_eq!(got, value.map_err(str::to_owned), "{bytes:02X?}");
        }
        for (bytes, value) in [
            (&[0x7F][..], Some(-1)),
            (&[0x00], Some(0)),
            (&[0x01], Some(1)),
            (&[0xFF, 0x7F], None),
            (&[0x80, 0x00], None),
        ] {
            assert_eq!(Cursor::new(bytes, true).sleb(WHAT).ok(), value, "{bytes:02X?}");
        }
    }
}
