//! Dots whose instruction applies block scales: `mma.sync` with `.block_scale`.
//!
//! For each operand, the instruction reads a word of four bytes from some lanes: the scales of the rows of A or the
//! columns of B. With thread selector zero, row `g` below eight takes its scales from lane `4g`, row `g + 8` from
//! lane `4g + 1`, and column `g` from lane `4g`. Other selectors choose the lanes after these, which have the scales of
//! the next instructions; [`DotShape::scales`] returns this as a layout. The byte selector chooses one, two or four
//! bytes of the word, one for each block of the instruction's depth. A word therefore serves several instructions, for
//! four blocks along K and for 32 rows or columns, without moving scales in between.
//!
//! The table in `tile_mma` lists the supported formats, scales and blocks.
//!
//! 4-bit elements are values of a byte each. The instruction takes eight per word. If all operands are words of packed
//! elements that were loaded from shared memory, these words are the operands. Otherwise words are packed from two
//! words of bytes.

use super::{
    Lower,
    dot::{Job, operand_list},
};
use crate::dialect::{
    nv_tileas::DotScaledOp,
    pass::{Failed, fail},
    rt::*,
};
use melior::ir::Type;
use rustc_hash::FxHashMap;
use tile_layout::{DotShape, DotStep, Layout, LayoutError, Operand};
use tile_mma::Instruction;

/// The scales of one operand: their registers, and the words packed from them.
struct Scales<'c> {
    side: Operand,
    element: Type<'c>,
    layout: Layout,
    values: Vec<Val<'c>>,
    words: FxHashMap<u32, Val<'c>>,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn block_scaled(
        &mut self,
        op: DotScaledOp<'c>,
        job: &Job<'c>,
        instruction: Instruction,
    ) -> Result<(), Failed> {
        let error = |e: LayoutError| fail(op.op(), e.to_string());
        let scales = self.tensor(op.op(), op.lhs_scale())?;
        let (element, scale) = (self.tensor(op.op(), op.lhs())?.element, scales.element);
        let blocks = scales.tile_shape().log2().last().copied().unwrap_or(0);
        let (_, _, _, depth) = job.product.log2();
        let block = 1u32 << (depth - blocks);
        let name = instruction.ptx();
        let (count, per_block) = (instruction.row.k / block, job.product.with_depth(blocks));
        let scales = |side, v| -> Result<Scales<'c>, Failed> {
            let (layout, values) = (self.layout(op.op(), v)?, self.fragment(op.op(), v)?);
            Ok(Scales { side, element: scale, layout, values, words: FxHashMap::default() })
        };
        let mut scales = [scales(Operand::A, op.lhs_scale())?, scales(Operand::B, op.rhs_scale())?];
        let acc = self.layout(op.op(), op.acc())?;
        let mut accumulators = self.fragment(op.op(), op.acc())?;
        let outside = self.outside(job);
        let mut packed: [FxHashMap<Vec<Option<u32>>, Val<'c>>; 2] = Default::default();
        let per_word = (32 / instruction.row.container) as usize;
        self.function.multiplies = true;
        let as_loaded = |list: &[Option<u32>], values: &[Val<'c>]| {
            let elements: Option<Vec<Val<'c>>> = list.iter().map(|r| r.map(|r| values[r as usize])).collect();
            elements.and_then(|elements| self.word_of_nibbles(&elements)).filter(|_| outside.is_none())
        };
        // Both operands have the same order of elements within a word.
        let are_loaded = per_word == 8
            && job.steps.iter().all(|step| {
                let are_words = |list: &[Option<u32>], values| list.chunks(8).all(|w| as_loaded(w, values).is_some());
                are_words(&step.lhs, &job.lhs) && are_words(&step.rhs, &job.rhs)
            });
        for step in &job.steps {
            let mut args = vec![];
            for (side, (list, values)) in [(&step.lhs, &job.lhs), (&step.rhs, &job.rhs)].into_iter().enumerate() {
                for word in list.chunks(per_word) {
                    let loaded = as_loaded(word, values).filter(|_| are_loaded);
                    let v = loaded.or_else(|| packed[side].get(word).copied()).unwrap_or_else(|| {
                        let bytes = |part| self.operand_word(element, values, part, outside);
                        match word.split_at_checked(4) {
                            Some((low, high)) if !high.is_empty() && word.iter().any(Option::is_some) => {
                                self.nibbles_of_bytes(bytes(low), bytes(high))
                            }
                            _ => bytes(word),
                        }
                    });
                    packed[side].insert(word.to_vec(), v);
                    args.push(v);
                }
            }
            let mut selectors = [(0, 0); 2];
            for (scales, selector) in scales.iter_mut().zip(&mut selectors) {
                let (word, selected) =
                    self.scale_word(scales, &per_block, &acc, step, step.k / block, count).map_err(error)?;
                args.push(word);
                *selector = selected;
            }
            self.scaled_instruction(&name, args, selectors, step, &mut accumulators);
        }
        self.set_all(op.result(), accumulators);
        Ok(())
    }

    /// Returns the word with the scales of `count` blocks from `block` on, for the rows or columns of an instruction,
    /// and the selectors: the number of its first byte, and the lanes.
    fn scale_word(
        &self,
        scales: &mut Scales<'c>,
        per_block: &DotShape,
        acc: &Layout,
        step: &DotStep,
        block: u32,
        count: u32,
    ) -> Result<(Val<'c>, (u32, u32)), LayoutError> {
        let origin = step.accumulator[0].unwrap_or(0);
        let (register, lanes) = per_block.scale_of_fragment(acc, &scales.layout, scales.side, block, origin)?;
        let (_, _, _, blocks) = per_block.log2();
        let values = &scales.values;
        // Blocks that the tile lacks have zero elements. Their scales must be finite numbers, which the scales of
        // another row might not be.
        let (start, end) = if 1 << blocks < count {
            (register, register + (1 << blocks))
        } else {
            (register & !3, (register & !3) + 4)
        };
        let word = scales.words.get(&start).copied().unwrap_or_else(|| {
            let bytes: Vec<Option<Val<'c>>> =
                (start..start + 4).map(|r| values.get(r as usize).copied().filter(|_| r < end)).collect();
            self.pack_word(scales.element, &bytes)
        });
        scales.words.insert(start, word);
        Ok((word, (register - start, lanes)))
    }

    /// Packs eight 4-bit elements, each in a byte, into one word: byte `i` holds element `i` of both words. Both
    /// operands use this order and no word spans two blocks, so products and scales still match.
    fn nibbles_of_bytes(&self, low: Val<'c>, high: Val<'c>) -> Val<'c> {
        let l = &self.l;
        let even = l.bin("and", low, l.i32c(0x0f0f_0f0f));
        let odd = l.bin("and", l.bin("shl", high, l.i32c(4)), l.i32c(!0x0f0f_0f0f));
        l.bin("or", even, odd)
    }

    /// Emits one instruction. `args` holds the words of both operands and then of both scales. LLVM has no intrinsic
    /// for it.
    fn scaled_instruction(
        &self,
        name: &str,
        mut args: Vec<Val<'c>>,
        [lhs_selector, rhs_selector]: [(u32, u32); 2],
        step: &DotStep,
        accumulators: &mut [Val<'c>],
    ) {
        let l = &self.l;
        let (count, words) = (step.accumulator.len(), args.len() - 2);
        let zero = l.float(l.f32, 0.0);
        args.extend(step.accumulator.iter().map(|r| r.map_or(zero, |r| accumulators[r as usize])));
        // A has twice as many words as B.
        let (lhs, rhs) = (words / 3 * 2, words / 3);
        let [left, right] = [count + words, count + words + 1];
        let text = format!(
            "{name} {}, {}, {}, {}, ${left}, {{{}, {}}}, ${right}, {{{}, {}}};",
            operand_list(0, count),
            operand_list(count, lhs),
            operand_list(count + lhs, rhs),
            operand_list(right + 1, count),
            lhs_selector.0,
            lhs_selector.1,
            rhs_selector.0,
            rhs_selector.1,
        );
        let constraints = [vec!["=f"; count], vec!["r"; words + 2], vec!["f"; count]].concat().join(",");
        let fields = l.structure(&vec![l.f32; count]);
        let result = l.pure_asm(&text, &constraints, fields, &args);
        for (i, r) in step.accumulator.iter().enumerate() {
            if let Some(r) = r {
                accumulators[*r as usize] = l.field(result, l.f32, i as i64);
            }
        }
    }
}
