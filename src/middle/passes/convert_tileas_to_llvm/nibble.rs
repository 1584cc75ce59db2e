//! 4-bit formats in global memory: two elements share a byte, the even-numbered one in the low half.
//!
//! Addresses are computed as if elements were bytes, and the distance from the base of the view is halved. An access
//! of two or more elements starts at an even distance and covers whole bytes. A single element is half a byte. A load
//! extracts it. A store clears and sets its bits by two reductions on the containing word, since another thread may
//! own the other half. The word may extend up to three bytes past the end of the data; these bytes keep their values,
//! and no driver allocation ends inside a word. A pointer always refers to a low half, and no thread owns the high
//! one.

use super::{Lower, transfer::Words};
use crate::dialect::rt::*;
use melior::ir::Type;

/// The location, mask and qualifier of an access.
pub(super) struct Nibbles<'c, 'q> {
    /// The address of the view's first byte.
    pub origin: Val<'c>,
    /// `origin` plus the index of the first element.
    pub element: Val<'c>,
    pub mask: Option<Val<'c>>,
    pub qualifier: &'q str,
}

impl<'c> Lower<'c, '_> {
    /// Returns the words that hold the bytes of one access.
    fn byte_words(&self, bytes: u64) -> Words<'c> {
        let l = &self.l;
        match bytes {
            1 => Words { count: 1, ty: l.i8, bits: 8, class: 'h' },
            2 => Words { count: 1, ty: l.i16, bits: 16, class: 'h' },
            _ => Words { count: bytes / 4, ty: l.i32, bits: 32, class: 'r' },
        }
    }

    /// Returns the byte of an element and whether the element is in the high half.
    fn place_of_nibble(&self, origin: Val<'c>, element: Val<'c>) -> (Val<'c>, Val<'c>) {
        let l = &self.l;
        let address = |p: Val<'c>| l.cast("ptrtoint", p, l.i64);
        let distance = l.bin("sub", address(element), address(origin));
        let byte = l.byte_offset(origin, l.bin("lshr", distance, l.i64c(1)));
        (byte, l.bin("and", l.cast("trunc", distance, l.i32), l.i32c(1)))
    }

    /// Reads `count` neighboring elements; the result is `fill` if the mask is false.
    pub(super) fn read_nibbles(&self, at: &Nibbles<'c, '_>, count: u64, fill: Val<'c>) -> Vec<Val<'c>> {
        let l = &self.l;
        let (byte, half) = self.place_of_nibble(at.origin, at.element);
        let words = self.byte_words(count.div_ceil(2));
        let per_word = words.bits / 4;
        // The fill value in every half.
        let wide = l.cast("zext", fill, l.i32);
        let all = l.cast("trunc", l.mul(wide, l.i32c(0x1111_1111)), words.ty);
        let loaded = self.read_words(byte, words, at.mask, &vec![all; words.count as usize], at.qualifier);
        if words.bits == 32 {
            return loaded.into_iter().flat_map(|word| self.bytes_of_nibbles(word)).collect();
        }
        (0..count)
            .map(|i| {
                let word = l.cast("zext", loaded[(i / per_word) as usize], l.i32);
                let by = match count {
                    1 => l.bin("shl", half, l.i32c(2)),
                    _ => l.i32c((i % per_word * 4) as i64),
                };
                l.cast("trunc", l.bin("and", l.bin("lshr", word, by), l.i32c(15)), l.i8)
            })
            .collect()
    }

    /// Unpacks the eight elements of a word into the bytes of two words. If the elements stay neighbors, later
    /// packing reuses the words.
    fn bytes_of_nibbles(&self, word: Val<'c>) -> Vec<Val<'c>> {
        let l = &self.l;
        let every_other = |v: Val<'c>| l.bin("and", v, l.i32c(0x0f0f_0f0f));
        let (even, odd) = (every_other(word), every_other(l.bin("lshr", word, l.i32c(4))));
        let bytes = l.vector(4, l.i8);
        let mut elements = Vec::with_capacity(8);
        for selector in [0x5140, 0x7362] {
            let four = l.prmt(even, odd, l.i32c(selector));
            let vector = l.cast("bitcast", four, bytes);
            for i in 0..4 {
                let element = l.extract(vector, l.i8, i);
                self.note_origin(element, four, i as u32);
                elements.push(element);
            }
        }
        elements
    }

    /// Unpacks words of `bytes` bytes, each with two elements. Instructions that take packed elements reuse the words
    /// ([`Self::word_of_nibbles`]).
    pub(super) fn nibbles_of_words(&self, words: Words<'c>, loaded: &[Val<'c>], bytes: u64) -> Vec<Val<'c>> {
        let l = &self.l;
        let half = |v: Val<'c>, by: u64| {
            let shifted = if by == 0 { v } else { l.bin("lshr", v, l.int(ty(v), by as i64)) };
            let element = l.bin("and", shifted, l.int(ty(v), 15));
            if ty(v) == l.i8 { element } else { l.cast("trunc", element, l.i8) }
        };
        if words.bits != 32 {
            let pairs = self.unpack_words(l.i8, words, loaded, bytes);
            return pairs.into_iter().flat_map(|pair| [half(pair, 0), half(pair, 4)]).collect();
        }
        let elements = loaded.iter().flat_map(|&word| (0..8).map(move |i| (word, i)));
        let noted = elements.map(|(word, i)| {
            let element = half(word, 4 * u64::from(i));
            self.values.nibbles.borrow_mut().insert(key(element), (word, i));
            element
        });
        noted.collect()
    }

    /// Returns the word that consists of exactly these eight elements, in this order.
    pub(super) fn word_of_nibbles(&self, elements: &[Val<'c>]) -> Option<Val<'c>> {
        let nibbles = self.values.nibbles.borrow();
        let (word, _) = *nibbles.get(&key(*elements.first()?))?;
        let same = |(i, e): (usize, &Val<'c>)| nibbles.get(&key(*e)).is_some_and(|o| *o == (word, i as u32));
        (elements.len() == 8 && elements.iter().enumerate().all(same)).then_some(word)
    }

    pub(super) fn write_nibbles(&self, at: &Nibbles<'c, '_>, values: &[Val<'c>]) {
        let l = &self.l;
        let (byte, half) = self.place_of_nibble(at.origin, at.element);
        if let [value] = values {
            return self.write_half(byte, half, *value, at.mask, at.qualifier);
        }
        let words = self.byte_words(values.len() as u64 / 2);
        let packed: Vec<Val<'c>> = values
            .chunks((words.bits / 4) as usize)
            .map(|chunk| {
                let parts = chunk.iter().enumerate().map(|(i, &v)| {
                    let wide = l.bin("and", l.cast("zext", v, l.i32), l.i32c(15));
                    if i == 0 { wide } else { l.bin("shl", wide, l.i32c(i as i64 * 4)) }
                });
                let word = parts.reduce(|a, b| l.bin("or", a, b)).expect("chunks have elements");
                l.cast("trunc", word, words.ty)
            })
            .collect();
        self.write_words(byte, words, &packed, at.mask, at.qualifier);
    }

    /// Writes half a byte by two reductions. No other access of the same element may come between them; accesses of
    /// neighbors are harmless.
    fn write_half(&self, byte: Val<'c>, half: Val<'c>, v: Val<'c>, mask: Option<Val<'c>>, qualifier: &str) {
        let l = &self.l;
        let address = l.cast("ptrtoint", byte, l.i64);
        let word = l.cast("inttoptr", l.bin("and", address, l.i64c(!3)), ty(byte));
        let bytes = l.bin("and", l.cast("trunc", address, l.i32), l.i32c(3));
        let shift = l.add(l.bin("shl", bytes, l.i32c(3)), l.bin("shl", half, l.i32c(2)));
        let bits = |n: Val<'c>| l.bin("shl", n, shift);
        let keep = l.bin("xor", bits(l.i32c(15)), l.i32c(-1));
        let set = bits(l.bin("and", l.cast("zext", v, l.i32), l.i32c(15)));
        // Other writers of the word may be in another CTA.
        let scope = if qualifier.ends_with(".sys") { "sys" } else { "gpu" };
        for (operation, operand) in [("and", keep), ("or", set)] {
            self.word_update(&format!("red.relaxed.{scope}.global.{operation}.b32"), word, operand, mask);
        }
    }

    /// Reads the element at a pointer.
    pub(super) fn read_low_half(&self, p: Val<'c>, mask: Option<Val<'c>>, fill: Val<'c>, qualifier: &str) -> Val<'c> {
        let l = &self.l;
        let byte = self.read_words(p, self.byte_words(1), mask, &[fill], qualifier)[0];
        l.bin("and", byte, l.int(l.i8, 15))
    }

    pub(super) fn write_low_half(&self, p: Val<'c>, v: Val<'c>, mask: Option<Val<'c>>, qualifier: &str) {
        let l = &self.l;
        let words = self.byte_words(1);
        let old = self.read_words(p, words, mask, &[l.int(l.i8, 0)], "")[0];
        let high = l.bin("and", old, l.int(l.i8, -16));
        let new = l.bin("or", high, l.bin("and", v, l.int(l.i8, 15)));
        self.write_words(p, words, &[new], mask, qualifier);
    }
}

/// Whether two elements of a type share a byte in global memory.
pub(super) fn is_nibble(element: Type<'_>) -> bool {
    crate::dialect::layouts::memory_bits(element) < 8
}
