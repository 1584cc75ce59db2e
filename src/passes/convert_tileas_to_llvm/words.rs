//! Elements that share a 32-bit register.
//!
//! Every element is a value of its own, but memory and matrix instructions move words. Where elements leave a word and
//! meet again in the same order, the word itself is used; bytes that come from several words are gathered by `prmt`.

use super::{Lower, element_type};
use crate::dialect::rt::*;
use melior::ir::Type;

impl<'c> Lower<'c, '_> {
    /// Notes that `element` is number `index` of the equal parts of `word`.
    pub(super) fn note_origin(&self, element: Val<'c>, word: Val<'c>, index: u32) {
        self.origins.borrow_mut().insert(key(element), (word, index));
    }

    /// The word that `elements` came out of, in this order and all of it.
    pub(super) fn common_word(&self, elements: &[Val<'c>], to: Type<'c>) -> Option<Val<'c>> {
        let origins = self.origins.borrow();
        let (word, _) = *origins.get(&key(*elements.first()?))?;
        let same = |(i, e): (usize, &Val<'c>)| origins.get(&key(*e)).is_some_and(|o| o.0 == word && o.1 as usize == i);
        (ty(word) == to && elements.iter().enumerate().all(same)).then_some(word)
    }

    /// A 32-bit word of elements of 8 or 16 bits; missing ones are zero.
    pub(super) fn pack_word(&self, element: Type<'c>, elements: &[Option<Val<'c>>]) -> Val<'c> {
        let l = &self.l;
        let register = element_type(l.context(), element).expect("checked with the tensor");
        if let Some(all) = elements.iter().copied().collect::<Option<Vec<_>>>()
            && let Some(word) = self.common_word(&all, l.i32).or_else(|| self.gathered_bytes(&all))
        {
            return word;
        }
        let empty = l.b.value("llvm.mlir.zero", l.vector(elements.len() as u64, register), &[], &[]);
        let present = elements.iter().enumerate().filter_map(|(i, e)| e.map(|e| (i, e)));
        let vector = present.fold(empty, |vector, (i, e)| l.insert(vector, e, i));
        l.cast("bitcast", vector, l.i32)
    }

    /// Four bytes out of 32-bit words.
    ///
    /// Two `prmt` make pairs out of two words each, a third joins the pairs. The pairs are chosen so that the words of a
    /// transposed 4x4 block of bytes share them: eight instructions for the block.
    fn gathered_bytes(&self, elements: &[Val<'c>]) -> Option<Val<'c>> {
        let l = &self.l;
        let [a, b, c, d] = elements else { return None };
        let from = |e: &Val<'c>| {
            let origin = self.origins.borrow().get(&key(*e)).copied();
            origin.filter(|(word, _)| ty(*word) == l.i32 && ty(*e) == l.i8)
        };
        let prmt = |x: Val<'c>, y: Val<'c>, selector: u32| {
            let args = [x, y, l.i32c(selector.into())];
            l.intrinsic("llvm.nvvm.prmt", Some(l.i32), &args).expect("an intrinsic with a result")
        };
        // Both bytes, and where they are in the result.
        let pair = |x: &Val<'c>, y: &Val<'c>| {
            let ((x, i), (y, j)) = (from(x)?, from(y)?);
            Some(match i == j {
                true if i < 2 => (prmt(x, y, 0x5140), 2 * i),
                true => (prmt(x, y, 0x7362), 2 * i - 4),
                false => (prmt(x, y, i | (4 + j) << 4), 0),
            })
        };
        // Nothing is built unless all four are there.
        if elements.iter().any(|e| from(e).is_none()) {
            return None;
        }
        let ((low, i), (high, j)) = (pair(a, b)?, pair(c, d)?);
        Some(prmt(low, high, i | (i + 1) << 4 | (4 + j) << 8 | (5 + j) << 12))
    }
}
