//! Elements that share a 32-bit register.
//!
//! Each element is a separate value, but memory and matrix instructions move words. If elements extracted from a word
//! are packed again in the same order, the word itself is reused. `prmt` gathers bytes that come from several words.

use super::{
    Lower, element_type,
    llvm::{FloatPredicate, Llvm},
};
use crate::dialect::{
    attributes::TESTED_ONCE,
    layouts::Tensor,
    nv_tileaa::{FpCastOp, Rounding},
    pass::Failed,
    rt::*,
    types::{is_bf16, is_e4m3, is_e5m2, is_f16, is_f32},
};
use melior::ir::Type;
use tile_rtlib as lib;
use tile_targets::Feature;

impl<'c> Lower<'c, '_> {
    /// Records that `element` is part number `index` of `word`, split into equal parts.
    pub(super) fn note_origin(&self, element: Val<'c>, word: Val<'c>, index: u32) {
        self.values.origins.borrow_mut().insert(key(element), (word, index));
    }

    /// Returns the word that an element was extracted from and the number of its part.
    pub(super) fn origin(&self, element: Val<'c>) -> Option<(Val<'c>, u32)> {
        self.values.origins.borrow().get(&key(element)).copied()
    }

    /// Returns the word that consists of exactly `elements`, in this order.
    pub(super) fn common_word(&self, elements: &[Val<'c>], to: Type<'c>) -> Option<Val<'c>> {
        let origins = self.values.origins.borrow();
        let (word, _) = *origins.get(&key(*elements.first()?))?;
        let same = |(i, e): (usize, &Val<'c>)| origins.get(&key(*e)).is_some_and(|o| o.0 == word && o.1 as usize == i);
        (ty(word) == to && elements.iter().enumerate().all(same)).then_some(word)
    }

    /// Packs 8-bit or 16-bit elements into a 32-bit word; missing elements are zero.
    pub(super) fn pack_word(&self, element: Type<'c>, elements: &[Option<Val<'c>>]) -> Val<'c> {
        let l = &self.l;
        let register = element_type(l.context(), element).expect("checked with the tensor");
        if let Some(all) = elements.iter().copied().collect::<Option<Vec<_>>>() {
            return self.join_word(&all);
        }
        let empty = l.b.value("llvm.mlir.zero", l.vector(elements.len() as u64, register), &[], &[]);
        let present = elements.iter().enumerate().filter_map(|(i, e)| e.map(|e| (i, e)));
        let vector = present.fold(empty, |vector, (i, e)| l.insert(vector, e, i));
        l.cast("bitcast", vector, l.i32)
    }

    /// Packs values of one 8-bit or 16-bit type into a full 32-bit word.
    pub(super) fn join_word(&self, values: &[Val<'c>]) -> Val<'c> {
        let l = &self.l;
        self.common_word(values, l.i32)
            .or_else(|| self.gathered_bytes(values))
            .unwrap_or_else(|| l.cast("bitcast", l.join(values), l.i32))
    }

    /// The inverse of [`Self::join_word`]: extracts `count` values of type `t`.
    pub(super) fn part_word(&self, word: Val<'c>, count: usize, t: Type<'c>) -> Vec<Val<'c>> {
        let parts = self.cut(word, count, self.int(32 / count as u32));
        let noted = |(i, part): (usize, Val<'c>)| {
            let v = self.reinterpret(part, t);
            self.note_origin(v, word, i as u32);
            v
        };
        parts.into_iter().enumerate().map(noted).collect()
    }

    /// Gathers four bytes from 32-bit words.
    ///
    /// Two `prmt` instructions each combine two words into a pair of bytes, and a third joins the pairs. The pairs
    /// are chosen so that the words of a transposed 4x4 block of bytes share them: the block takes eight
    /// instructions.
    fn gathered_bytes(&self, elements: &[Val<'c>]) -> Option<Val<'c>> {
        let l = &self.l;
        let [a, b, c, d] = elements else { return None };
        let from = |e: &Val<'c>| {
            let origin = self.values.origins.borrow().get(&key(*e)).copied();
            origin.filter(|(word, _)| ty(*word) == l.i32 && ty(*e) == l.i8)
        };
        let prmt = |x: Val<'c>, y: Val<'c>, selector: u32| l.prmt(x, y, l.i32c(selector.into()));
        // A word that contains both bytes, and their position in it.
        let pair = |x: &Val<'c>, y: &Val<'c>| {
            let ((x, i), (y, j)) = (from(x)?, from(y)?);
            Some(if x == y && j == i + 1 {
                (x, i)
            } else if i != j {
                (prmt(x, y, i | (4 + j) << 4), 0)
            } else if i < 2 {
                (prmt(x, y, 0x5140), 2 * i)
            } else {
                (prmt(x, y, 0x7362), 2 * i - 4)
            })
        };
        // Build nothing unless all four bytes come from words.
        if elements.iter().any(|e| from(e).is_none()) {
            return None;
        }
        let ((low, i), (high, j)) = (pair(a, b)?, pair(c, d)?);
        Some(prmt(low, high, i | (i + 1) << 4 | (4 + j) << 8 | (5 + j) << 12))
    }

    /// Lowers a cast of a tensor from an 8-bit float, two elements at a time. Returns whether it did.
    ///
    /// Each pair converts to two f16, from which wider formats and bf16 follow exactly. e4m3 uses the target's
    /// instruction if there is one; bytes of e5m2 are the high halves of f16. Neighboring registers of an operand
    /// share a word of an instruction, and so do the two halves of a pair here.
    pub(super) fn widened_pairs(&mut self, op: FpCastOp<'c>) -> Result<bool, Failed> {
        let (Some(from), Some(to)) = (Tensor::of_value(op.source()), Tensor::of_value(op.result())) else {
            return Ok(false);
        };
        let (f16, f32, bf16) = (is_f16(to.element), is_f32(to.element), is_bf16(to.element));
        let (e4m3, e5m2) = (is_e4m3(from.element), is_e5m2(from.element));
        let values = self.fragment(op.op(), op.source())?;
        if !(f16 || f32 || bf16) || !(e4m3 || e5m2) || values.len() % 2 != 0 {
            return Ok(false);
        }
        let format = if e4m3 { lib::Format::E4m3 } else { lib::Format::E5m2 };
        let by_instruction = e4m3 && self.function.target.has(Feature::Fp8Convert);
        let symbol = lib::Function::WidenPair { from: format }.symbol();
        let l = &self.l;
        let halves = l.vector(2, l.f16);
        let mut wide = Vec::with_capacity(values.len());
        for pair in values.chunks(2) {
            let packed = self.neighbours(pair).unwrap_or_else(|| l.cast("bitcast", l.join(pair), l.i16));
            let word = if by_instruction {
                let text = "cvt.rn.f16x2.e4m3x2 $0, $1;";
                l.pure_asm(text, "=r,h", l.i32, &[packed])
            } else {
                self.call(&symbol, l.i32, &[packed])
            };
            let vector = l.cast("bitcast", word, halves);
            for i in 0..2 {
                let element = l.extract(vector, l.f16, i);
                wide.push(if f16 {
                    self.note_origin(element, word, i as u32);
                    element
                } else {
                    let exact = l.cast("fpext", element, l.f32);
                    if f32 { exact } else { l.cast("fptrunc", exact, to.element) }
                });
            }
        }
        self.set_all(op.result(), wide);
        Ok(true)
    }

    /// Lowers a cast of a tensor to an 8-bit float by the target's instruction, two elements at a time. Returns
    /// whether it did.
    ///
    /// The instruction saturates to the largest number where the cast requires the format's NaN or infinity. A marked
    /// cast tests once in a warp whether any element is that large.
    pub(super) fn narrowed_pairs(&mut self, op: FpCastOp<'c>) -> Result<bool, Failed> {
        let (Some(from), Some(to)) = (Tensor::of_value(op.source()), Tensor::of_value(op.result())) else {
            return Ok(false);
        };
        let exact = is_f32(from.element) || is_f16(from.element) || is_bf16(from.element);
        let (e4m3, e5m2) = (is_e4m3(to.element), is_e5m2(to.element));
        let has_instruction = self.function.target.has(Feature::Fp8Convert) && (e4m3 || e5m2);
        if !has_instruction || !exact || op.rounding() != Rounding::NearestEven {
            return Ok(false);
        }
        let values = self.fragment(op.op(), op.source())?;
        if values.len() % 2 != 0 {
            return Ok(false);
        }
        let name = if e4m3 { "e4m3x2" } else { "e5m2x2" };
        let text = format!("cvt.rn.satfinite.{name}.f32 $0, $1, $2;");
        let l = &self.l;
        let widened = |v: &Val<'c>| if ty(*v) == l.f32 { *v } else { l.cast("fpext", *v, l.f32) };
        let wide: Vec<Val<'c>> = values.iter().map(widened).collect();
        // The number of elements per word.
        let each = if wide.len().is_multiple_of(4) { 4 } else { 2 };
        let saturated = |group: &[Val<'c>]| {
            let halves: Vec<Val<'c>> =
                (group.chunks(2)).map(|pair| l.pure_asm(&text, "=h,f,f", l.i16, &[pair[1], pair[0]])).collect();
            match halves[..] {
                [one] => l.cast("zext", one, l.i32),
                _ => self.join_word(&halves),
            }
        };
        let words: Vec<Val<'c>> = wide.chunks(each).map(saturated).collect();
        let exact = |l: &Llvm<'c>| -> Vec<Val<'c>> {
            wide.chunks(each).zip(&words).map(|(group, word)| beyond_the_largest(l, group, *word, e4m3)).collect()
        };
        let narrow = if !TESTED_ONCE.is_on(op.op()) {
            exact(l)
        } else {
            // `maxnum` ignores NaN, whose code is already correct.
            let size = |v: &Val<'c>| l.un("intr.fabs", *v);
            let largest = wide.iter().map(size).reduce(|a, b| l.bin("intr.maxnum", a, b)).expect("there are some");
            let (more, limit) = beyond(e4m3);
            let is_more = l.fcmp(more, largest, l.float(l.f32, limit));
            let any = l.intrinsic("llvm.nvvm.vote.any.sync", l.i1, &[l.i32c(-1), is_more]);
            l.either(any, &vec![l.i32; words.len()], || exact(l), || words.clone())
        };
        let mut bytes = Vec::with_capacity(wide.len());
        for word in narrow {
            for i in 0..each {
                let shifted = if i == 0 { word } else { l.bin("lshr", word, l.i32c(8 * i as i64)) };
                let byte = l.cast("trunc", shifted, l.i8);
                self.note_origin(byte, word, i as u32);
                bytes.push(byte);
            }
        }
        self.set_all(op.result(), bytes);
        Ok(true)
    }

    /// Lowers a rounding of an f32 tensor to 16-bit elements, two at a time.
    pub(super) fn rounded_pairs(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let values = self.fragment(op, operand(op, 0))?;
        let element = self.element_of(op, result(op, 0))?;
        let l = &self.l;
        let mut rounded = Vec::with_capacity(values.len());
        for pair in values.chunks(2) {
            let vector = l.cast("fptrunc", l.join(pair), l.vector(2, element));
            let word = l.cast("bitcast", vector, l.i32);
            for i in 0..2 {
                let element = l.extract(vector, element, i);
                self.note_origin(element, word, i as u32);
                rounded.push(element);
            }
        }
        self.set_all(result(op, 0), rounded);
        Ok(())
    }

    /// Returns two bytes that form an aligned half of one word.
    fn neighbours(&self, pair: &[Val<'c>]) -> Option<Val<'c>> {
        let l = &self.l;
        let origins = self.values.origins.borrow();
        let (&(word, i), &(other, j)) = (origins.get(&key(pair[0]))?, origins.get(&key(pair[1]))?);
        if word != other || ty(word) != l.i32 || i % 2 != 0 || j != i + 1 {
            return None;
        }
        let shifted = if i == 0 { word } else { l.bin("lshr", word, l.i32c(16)) };
        Some(l.cast("trunc", shifted, l.i16))
    }
}

/// Returns the predicate and limit that identify numbers that round above the largest number of an 8-bit float. The
/// tie above the largest number rounds down in e4m3 and up in e5m2. The predicates are false for NaN.
fn beyond(e4m3: bool) -> (FloatPredicate, f64) {
    if e4m3 { (FloatPredicate::Ogt, 464.0) } else { (FloatPredicate::Oge, 61440.0) }
}

/// Corrects a word of 8-bit floats that were saturated to the largest number: out-of-range elements become NaN or
/// infinity, the next code after the largest number. A NaN compares false and already has its code.
fn beyond_the_largest<'c>(l: &Llvm<'c>, wide: &[Val<'c>], word: Val<'c>, e4m3: bool) -> Val<'c> {
    let (more, limit) = beyond(e4m3);
    wide.iter().enumerate().fold(word, |word, (i, x)| {
        let is_more = l.fcmp(more, l.un("intr.fabs", *x), l.float(l.f32, limit));
        l.add(word, l.select(is_more, l.i32c(1 << (8 * i)), l.i32c(0)))
    })
}
