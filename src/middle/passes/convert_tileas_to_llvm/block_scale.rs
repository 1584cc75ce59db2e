//! Products whose instruction scales blocks of its operands: `mma.sync` with `.block_scale`.
//!
//! Beside each operand the instruction takes a word of four bytes from some lanes, which are the scales of the rows of
//! A or of the columns of B. For thread number zero the row `g` below eight has its scales in lane `4g`, row `g + 8` in
//! lane `4g + 1`, and column `g` in lane `4g`; [`DotShape::scales`] is that as a layout. The number of the first byte
//! says which one, two or four bytes of the word are meant: one for each block of the instruction's depth. So a word
//! serves several instructions, those of four blocks along K or those of several fragments, and nothing is moved in
//! between.
//!
//! Which formats, scales and blocks there are is in the table of `tile_mma`.
//!
//! Elements of four bits take a byte each in registers and in shared memory; the instruction wants eight in a word,
//! which are made of two words of bytes.

use super::{
    Lower,
    dot::{Job, operand_list},
};
use crate::dialect::{
    layouts::Tensor,
    nv_tileas::DotScaledOp,
    pass::{Failed, fail},
    rt::*,
};
use melior::ir::Type;
use rustc_hash::FxHashMap;
use tile_layout::{DotShape, DotStep, Layout, LayoutError, Operand};
use tile_mma::Instruction;

/// The scales of one operand: where they are, and the words that were made of them.
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
        let tensor = |v| Tensor::of_value(v).ok_or_else(|| fail(op.op(), "operand is no tensor"));
        let (element, scale) = (tensor(op.lhs())?.element, tensor(op.lhs_scale())?.element);
        let blocks = tensor(op.lhs_scale())?.tile_shape().log2().last().copied().unwrap_or(0);
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
        let mut sums = self.fragment(op.op(), op.acc())?;
        let outside = self.outside(job);
        let mut packed: [FxHashMap<Vec<Option<u32>>, Val<'c>>; 2] = Default::default();
        let per_word = (32 / instruction.row.container) as usize;
        self.multiplies = true;
        for step in &job.steps {
            let mut args = vec![];
            for (side, (list, values)) in [(&step.lhs, &job.lhs), (&step.rhs, &job.rhs)].into_iter().enumerate() {
                for word in list.chunks(per_word) {
                    let v = packed[side].get(word).copied().unwrap_or_else(|| {
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
            let mut first_bytes = [0; 2];
            for (scales, byte) in scales.iter_mut().zip(&mut first_bytes) {
                let (word, first) =
                    self.scale_word(scales, &per_block, &acc, step, step.k / block, count).map_err(error)?;
                args.push(word);
                *byte = first;
            }
            self.scaled_instruction(&name, args, first_bytes, step, &mut sums);
        }
        self.set_all(op.result(), sums);
        Ok(())
    }

    /// The word with the scales of `count` blocks from `block` on for the rows or columns of an instruction, and the
    /// number of the first byte.
    fn scale_word(
        &self,
        scales: &mut Scales<'c>,
        per_block: &DotShape,
        acc: &Layout,
        step: &DotStep,
        block: u32,
        count: u32,
    ) -> Result<(Val<'c>, u32), LayoutError> {
        let origin = step.accumulator[0].unwrap_or(0);
        let register = per_block.scale_register(acc, &scales.layout, scales.side, block, origin)?;
        let (_, _, _, blocks) = per_block.log2();
        let values = &scales.values;
        // Blocks that the tile lacks have elements of zero; their scales must be numbers, which those of another row
        // need not be.
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
        Ok((word, register - start))
    }

    /// Eight elements of four bits, each in a byte, in one word: byte `i` has element `i` of both words. Both operands
    /// have their elements in this order, and no word has those of two blocks, so the products and their scales are the
    /// same as in order.
    fn nibbles_of_bytes(&self, low: Val<'c>, high: Val<'c>) -> Val<'c> {
        let l = &self.l;
        let even = l.bin("and", low, l.i32c(0x0f0f_0f0f));
        let odd = l.bin("and", l.bin("shl", high, l.i32c(4)), l.i32c(!0x0f0f_0f0f));
        l.bin("or", even, odd)
    }

    /// One instruction. `args`: words of both operands, then of both scales. LLVM has no intrinsic for it.
    fn scaled_instruction(
        &self,
        name: &str,
        mut args: Vec<Val<'c>>,
        first_bytes: [u32; 2],
        step: &DotStep,
        sums: &mut [Val<'c>],
    ) {
        let l = &self.l;
        let (count, words) = (step.accumulator.len(), args.len() - 2);
        let zero = l.float(l.f32, 0.0);
        args.extend(step.accumulator.iter().map(|r| r.map_or(zero, |r| sums[r as usize])));
        // A has twice the words of B.
        let (lhs, rhs) = (words / 3 * 2, words / 3);
        let [left, right] = [count + words, count + words + 1];
        let text = format!(
            "{name} {}, {}, {}, {}, ${left}, {{{}, 0}}, ${right}, {{{}, 0}};",
            operand_list(0, count),
            operand_list(count, lhs),
            operand_list(count + lhs, rhs),
            operand_list(right + 1, count),
            first_bytes[0],
            first_bytes[1],
        );
        let constraints = [vec!["=f"; count], vec!["r"; words + 2], vec!["f"; count]].concat().join(",");
        let fields = l.structure(&vec![l.f32; count]);
        let result = l.asm(&text, &constraints, Some(fields), &args, true).expect("an instruction with a result");
        for (i, r) in step.accumulator.iter().enumerate() {
            if let Some(r) = r {
                sums[*r as usize] = l.field(result, l.f32, i as i64);
            }
        }
    }
}
