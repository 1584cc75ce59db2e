//! Ops that move elements between registers and lanes, or split them into parts.
//!
//! A dynamic slice is modeled as the part of a tile that a CTA of a cluster holds: the slice number takes the place
//! of the CTA number in the layout algebra.

use super::{Lower, llvm::Cmp};
use crate::{
    analysis::{
        layouts::{kept_in_registers, packing_log2, slice_over_blocks},
        register_maps,
    },
    dialect::{
        layouts::{Tensor, storage_bits},
        nv_tileas::{
            CatOp, ConvertLayoutOp, ExtractSliceOp, InsertSliceOp, LocalLoadSliceOp, PackOp, ShuffleOp, UnpackOp,
        },
        pass::{Failed, fail},
        rt::*,
        types::{bit_width, is_tf32},
        upstream::is_llvm_constant,
    },
};
use melior::ir::Type;
use rustc_hash::FxHashMap;
use tile_layout::{Exchange, ShufflePlan, ThreadBases, combine};

impl<'c> Lower<'c, '_> {
    //===-- registers -------------------------------------------------------===//

    /// Lowers a conversion that does not move elements between threads.
    pub(super) fn convert_registers(&mut self, op: ConvertLayoutOp<'c>) -> Result<(), Failed> {
        let permutation = self.kept(op.op(), op.source(), op.result())?;
        let values = self.fragment(op.op(), op.source())?;
        self.set_all(op.result(), permutation.into_iter().map(|r| values[r as usize]).collect());
        Ok(())
    }

    /// Extracts a slice held by the thread: selects one of several source registers for each result register.
    pub(super) fn extract_slice(&mut self, op: ExtractSliceOp<'c>) -> Result<(), Failed> {
        let permutation = self.kept(op.op(), op.source(), op.result())?;
        let values = self.fragment(op.op(), op.source())?;
        let count = self.registers(op.op(), op.result())?;
        let mut candidates: Vec<Val<'c>> = permutation.into_iter().map(|r| values[r as usize]).collect();
        let slice = self.slice_number(op.op(), op.indices(), op.source(), op.result())?;
        // The highest bit of the slice number selects between the halves of the remaining candidates.
        while candidates.len() > count {
            let upper = candidates.split_off(candidates.len() / 2);
            let bit = (upper.len() / count).ilog2();
            candidates = match self.bit_of(slice, bit) {
                Bit::Known(true) => upper,
                Bit::Known(false) => candidates,
                Bit::Value(c) => candidates.iter().zip(&upper).map(|(&a, &b)| self.l.select(c, b, a)).collect(),
            };
        }
        self.set_all(op.result(), candidates);
        Ok(())
    }

    /// Returns the source register for each result register of the first slice, then of the second, and so on.
    fn kept(&self, op: OpRef<'c>, source: Val<'c>, result: Val<'c>) -> Result<Vec<u32>, Failed> {
        let (from, to) = (self.layout(op, source)?, self.layout(op, result)?);
        let (whole, part) = (tensor(source), tensor(result));
        kept_in_registers(&from, &to, &part, &whole)
            .map_err(|e| fail(op, e.to_string()))?
            .ok_or_else(|| fail(op, "elements cross threads; run tileas-materialize-convert-layout first"))
    }

    /// Replaces a slice of a tensor: selects the old or new value for each register.
    pub(super) fn insert_slice(&mut self, op: InsertSliceOp<'c>) -> Result<(), Failed> {
        let columns = register_maps::insertion(&tensor(op.slice()), &tensor(op.dest()))
            .ok_or_else(|| fail(op.op(), "slices cross threads"))?;
        let slice = self.fragment(op.op(), op.slice())?;
        let mut registers = self.fragment(op.op(), op.dest())?;
        let number = self.slice_number(op.op(), op.indices(), op.dest(), op.slice())?;
        let inner = slice.len().ilog2() as usize;
        for k in 0..1u64 << (columns.len() - inner) {
            let chosen = match known_int(number) {
                Some(n) if n as u64 == k => None,
                Some(_) => continue,
                None => Some(self.l.icmp(Cmp::Eq, number, self.l.i32c(k as i64))),
            };
            let first = combine(&columns[inner..], k);
            for (r, &new) in slice.iter().enumerate() {
                let at = (first ^ combine(&columns[..inner], r as u64)) as usize;
                registers[at] = chosen.map_or(new, |c| self.l.select(c, new, registers[at]));
            }
        }
        self.set_all(op.result(), registers);
        Ok(())
    }

    /// Concatenates two tensors. The index bit that distinguishes the halves is a function of register and thread.
    pub(super) fn cat(&mut self, op: CatOp<'c>) -> Result<(), Failed> {
        let layout = self.layout(op.op(), op.result())?;
        let shape = tensor(op.result()).tile_shape();
        let (low, width) = shape.field(op.dim() as usize).map_err(|e| fail(op.op(), e.to_string()))?;
        let at = low + width - 1;
        let (lhs, rhs) = (self.fragment(op.op(), op.lhs())?, self.fragment(op.op(), op.rhs())?);
        let left_out = layout.half_register(at);
        let half = |bases: &[u64]| bases.iter().map(|b| b >> at & 1).collect::<Vec<u64>>();
        let thread = ThreadBases { lane: half(layout.lane()), warp: half(layout.warp()), block: vec![] };
        let thread = (!thread.is_zero()).then(|| {
            let bit = self.linear(&thread.expr());
            self.l.cast("trunc", bit, self.l.i1)
        });
        let of_register = half(layout.register());
        let registers = (0..layout.registers())
            .map(|r| {
                let operand = match left_out {
                    Some(bit) => (r & ((1 << bit) - 1)) | (r >> (bit + 1) << bit),
                    None => r,
                };
                let (mut first, mut second) = (lhs[operand as usize], rhs[operand as usize]);
                if combine(&of_register, r.into()) == 1 {
                    std::mem::swap(&mut first, &mut second);
                }
                thread.map_or(first, |c| self.l.select(c, second, first))
            })
            .collect();
        self.set_all(op.result(), registers);
        Ok(())
    }

    //===-- element widths --------------------------------------------------===//

    pub(super) fn pack(&mut self, op: PackOp<'c>) -> Result<(), Failed> {
        let (from, to) = (tensor(op.source()), tensor(op.result()));
        let values = self.fragment(op.op(), op.source())?;
        let parts = 1 << packing_log2(&from, &to);
        let bytes = if from.elements() < to.elements() {
            values.iter().flat_map(|&v| self.cut(v, parts, self.l.i8)).collect()
        } else {
            values.chunks(parts).map(|nibbles| self.join_bits(nibbles, 8 / parts as u32)).collect()
        };
        self.set_all(op.result(), bytes);
        Ok(())
    }

    pub(super) fn unpack(&mut self, op: UnpackOp<'c>) -> Result<(), Failed> {
        let (from, to) = (tensor(op.source()), tensor(op.result()));
        let values = self.fragment(op.op(), op.source())?;
        let parts = 1 << packing_log2(&from, &to);
        let element = self.element_of(op.op(), op.result())?;
        let elements: Vec<Val<'c>> = if from.elements() < to.elements() {
            values.iter().flat_map(|&byte| self.split_bits(byte, parts, element)).collect()
        } else {
            values.chunks(parts).map(|bytes| self.glue(bytes, element)).collect()
        };
        let elements = if is_tf32(to.element) {
            elements.into_iter().map(|v| self.without_low_bits(v)).collect()
        } else {
            elements
        };
        self.set_all(op.result(), elements);
        Ok(())
    }

    /// Clears the low bits of a `tf32`. They are not significant, and all users expect zeros there.
    fn without_low_bits(&self, v: Val<'c>) -> Val<'c> {
        let l = &self.l;
        let bits = l.bin("and", l.cast("bitcast", v, l.i32), l.int(l.i32, -1 << 13));
        l.cast("bitcast", bits, ty(v))
    }

    /// Splits a value into parts, from its low end.
    pub(super) fn cut(&self, v: Val<'c>, parts: usize, part: Type<'c>) -> Vec<Val<'c>> {
        let l = &self.l;
        if parts == 2 && part == l.i8 {
            // LLVM 21 cannot select the vector of halves that it forms from bytes cast from one half.
            let bits = l.cast("bitcast", v, l.i16);
            return (0..parts)
                .map(|i| l.cast("trunc", l.bin("lshr", bits, l.int(l.i16, 8 * i as i64)), part))
                .collect();
        }
        l.elements(l.cast("bitcast", v, l.vector(parts as u64, part)), part, parts)
    }
    /// The inverse of [`Self::cut`].
    fn glue(&self, parts: &[Val<'c>], whole: Type<'c>) -> Val<'c> {
        let l = &self.l;
        l.cast("bitcast", l.join(parts), whole)
    }
    /// Packs elements of `bits` bits into a byte, the first in the low bits.
    fn join_bits(&self, elements: &[Val<'c>], bits: u32) -> Val<'c> {
        let l = &self.l;
        let mask = (1 << bits) - 1;
        let byte = |v: Val<'c>| {
            if self.is_narrow_int(ty(v)) {
                l.cast("zext", v, l.i8)
            } else {
                // A narrow float is already a byte.
                l.bin("and", v, l.int(l.i8, mask))
            }
        };
        let shifted = elements.iter().enumerate().map(|(i, &v)| match i {
            0 => byte(v),
            _ => l.bin("shl", byte(v), l.int(l.i8, i as i64 * i64::from(bits))),
        });
        shifted.reduce(|a, b| self.or_disjoint(a, b)).expect("a byte has a first element")
    }
    /// The inverse of [`Self::join_bits`].
    fn split_bits(&self, byte: Val<'c>, parts: usize, element: Type<'c>) -> Vec<Val<'c>> {
        let l = &self.l;
        let bits = 8 / parts as i64;
        (0..parts as i64)
            .map(|i| {
                let low = if i == 0 { byte } else { l.bin("lshr", byte, l.int(l.i8, i * bits)) };
                if self.is_narrow_int(element) {
                    l.cast("trunc", low, element)
                } else {
                    l.bin("and", low, l.int(l.i8, (1 << bits) - 1))
                }
            })
            .collect()
    }

    //===-- lanes -----------------------------------------------------------===//

    /// Converts a layout within warps as planned by the layout algebra: rotate registers, exchange between lanes,
    /// place.
    pub(super) fn shuffle(&mut self, op: ShuffleOp<'c>) -> Result<(), Failed> {
        let (whole, part) = (tensor(op.source()), tensor(op.result()));
        let (from, to) = (self.layout(op.op(), op.source())?, self.layout(op.op(), op.result())?);
        let to = slice_over_blocks(&to, &part, &whole).map_err(|e| fail(op.op(), e.to_string()))?;
        let plan = ShufflePlan::new(&from, &to, storage_bits(whole.element))
            .ok_or_else(|| fail(op.op(), "elements cross warps; no shuffle can move them"))?;
        let block = match op.indices().len() {
            0 => None,
            _ => Some(self.slice_number(op.op(), op.indices(), op.source(), op.result())?),
        };
        let values = self.fragment(op.op(), op.source())?;
        let moved = self.run_shuffle(&plan, &values, block);
        self.set_all(op.result(), moved);
        Ok(())
    }

    pub(super) fn run_shuffle(&self, plan: &ShufflePlan, values: &[Val<'c>], block: Option<Val<'c>>) -> Vec<Val<'c>> {
        let source = self.rotated(values, &plan.rotation, block);
        let indexed = plan.rounds.iter().any(|r| matches!(r.exchange, Exchange::Indexed { .. }));
        let lane = indexed.then(|| self.linear_in_block(&plan.source.expr(), block));
        let mut received: Vec<Option<Val<'c>>> = vec![None; plan.rounds.iter().map(|r| r.receive.len()).sum()];
        for round in &plan.rounds {
            let sent: Vec<Val<'c>> = round.publish.iter().map(|&r| source[r as usize]).collect();
            let got = match round.exchange {
                Exchange::Stay => sent,
                Exchange::Butterfly { xor_lane } => {
                    let offset = self.l.i32c(xor_lane.into());
                    self.through_words(&sent, |word| self.shfl("bfly", word, offset))
                }
                Exchange::Indexed { xor_lane } => {
                    let lane = lane.expect("computed for indexed rounds");
                    let lane = if xor_lane == 0 { lane } else { self.l.bin("xor", lane, self.l.i32c(xor_lane.into())) };
                    self.through_words(&sent, |word| self.shfl("idx", word, lane))
                }
            };
            for (&to, v) in round.receive.iter().zip(got) {
                received[to as usize] = Some(v);
            }
        }
        let received: Vec<Val<'c>> = received.into_iter().map(|v| v.expect("a plan serves all registers")).collect();
        let placed = self.rotated(&received, &plan.placement, block);
        plan.result.iter().map(|&r| placed[r as usize]).collect()
    }

    /// Returns `out[r] = values[r ^ by(thread)]`.
    fn rotated(&self, values: &[Val<'c>], by: &ThreadBases, block: Option<Val<'c>>) -> Vec<Val<'c>> {
        let mut out = values.to_vec();
        let inputs = [(Some(self.threads.lane), &by.lane), (Some(self.threads.warp), &by.warp), (block, &by.block)];
        for (input, bases) in inputs {
            let Some(input) = input else { continue };
            for (i, &b) in bases.iter().enumerate().filter(|(_, b)| **b != 0) {
                let partners: Vec<Val<'c>> = (0..out.len()).map(|r| out[r ^ b as usize]).collect();
                out = match self.bit_of(input, i as u32) {
                    Bit::Known(false) => continue,
                    Bit::Known(true) => partners,
                    Bit::Value(c) => self.chosen_words(c, &partners, &out),
                };
            }
        }
        out
    }

    /// Selects `yes` if `c` holds and `no` otherwise, element by element. Elements at the same position of two words
    /// are selected as whole words.
    fn chosen_words(&self, c: Val<'c>, yes: &[Val<'c>], no: &[Val<'c>]) -> Vec<Val<'c>> {
        let l = &self.l;
        let mut parts: FxHashMap<(usize, usize), Vec<Val<'c>>> = FxHashMap::default();
        let one = |(&a, &b): (&Val<'c>, &Val<'c>)| {
            let words = self.origin(a).zip(self.origin(b));
            match words.filter(|((x, i), (y, j))| i == j && ty(*x) == l.i32 && ty(*y) == l.i32) {
                None => l.select(c, a, b),
                Some(((x, i), (y, _))) => {
                    let count = 32 / self.register_bits(ty(a)) as usize;
                    let of_words = || self.part_word(l.select(c, x, y), count, ty(a));
                    parts.entry((key(x), key(y))).or_insert_with(of_words)[i as usize]
                }
            }
        };
        yes.iter().zip(no).map(one).collect()
    }

    pub(super) fn shfl(&self, kind: &str, word: Val<'c>, by: Val<'c>) -> Val<'c> {
        let l = &self.l;
        let name = format!("llvm.nvvm.shfl.sync.{kind}.i32");
        l.intrinsic(&name, l.i32, &[l.i32c(-1), word, by, l.i32c(31)])
    }

    /// Applies `f` to the 32-bit words of values of one type: several narrow values share a word, and a wide value
    /// takes two.
    pub(super) fn through_words(&self, values: &[Val<'c>], f: impl Fn(Val<'c>) -> Val<'c>) -> Vec<Val<'c>> {
        let l = &self.l;
        let t = ty(values[0]);
        let bits = self.register_bits(t);
        if bits > 32 {
            let (words, int) = (bits as usize / 32, self.int(bits));
            let moved = |&v: &Val<'c>| -> Val<'c> {
                let parts: Vec<Val<'c>> =
                    self.cut(self.reinterpret(v, int), words, l.i32).into_iter().map(&f).collect();
                self.reinterpret(self.glue(&parts, int), t)
            };
            return values.iter().map(moved).collect();
        }
        if bits == 32 {
            return values.iter().map(|&v| self.reinterpret(f(self.reinterpret(v, l.i32)), t)).collect();
        }
        // Integers narrower than a byte are passed as bytes.
        let width = bits.max(8);
        let int = self.int(width);
        let per_word = (32 / width) as usize;
        let mut out = vec![];
        for group in values.chunks(per_word) {
            if bits >= 8 && group.len() == per_word {
                out.extend(self.part_word(f(self.join_word(group)), per_word, t));
                continue;
            }
            let mut full: Vec<Val<'c>> = (group.iter())
                .map(|&v| if bits < 8 { l.cast("zext", v, int) } else { self.reinterpret(v, int) })
                .collect();
            let word = match full[..] {
                [one] => l.cast("zext", one, l.i32),
                _ => {
                    full.resize(per_word, l.poison(int));
                    self.glue(&full, l.i32)
                }
            };
            let word = f(word);
            let parts = match group {
                [_] => vec![l.cast("trunc", word, int)],
                _ => self.cut(word, per_word, int),
            };
            let back = |v: Val<'c>| if bits < 8 { l.cast("trunc", v, t) } else { self.reinterpret(v, t) };
            out.extend(parts.into_iter().take(group.len()).map(back));
        }
        out
    }

    pub(super) fn int(&self, bits: u32) -> Type<'c> {
        melior::ir::r#type::IntegerType::new(self.l.context(), bits).into()
    }

    /// Returns the width of an LLVM scalar in bits.
    pub(super) fn register_bits(&self, t: Type<'c>) -> u32 {
        bit_width(t).unwrap_or(64)
    }

    //===-- slices ----------------------------------------------------------===//

    pub(super) fn local_load_slice(&mut self, op: LocalLoadSliceOp<'c>) -> Result<(), Failed> {
        let desc = self.memdesc(op.op(), op.source())?;
        let whole = Tensor { shape: desc.shape().to_vec(), element: desc.element_type(), encoding: None };
        let part = tensor(op.result());
        let layout = slice_over_blocks(&self.layout(op.op(), op.result())?, &part, &whole)
            .map_err(|e| fail(op.op(), e.to_string()))?;
        let slice = self.number(op.op(), op.indices(), &whole, &part)?;
        let registers = self.read_shared(op.op(), op.source(), &layout, Some(slice))?;
        self.set_all(op.result(), registers);
        Ok(())
    }

    pub(super) fn slice_number(
        &self,
        op: OpRef<'c>,
        indices: impl Iterator<Item = Val<'c>>,
        source: Val<'c>,
        result: Val<'c>,
    ) -> Result<Val<'c>, Failed> {
        self.number(op, indices, &tensor(source), &tensor(result))
    }

    /// Packs the indices into one number, dimension 0 in the low bits. An index outside the tensor has an undefined
    /// result but must not access memory outside the tensor's storage.
    pub(super) fn number(
        &self,
        op: OpRef<'c>,
        indices: impl Iterator<Item = Val<'c>>,
        whole: &Tensor<'c>,
        part: &Tensor<'c>,
    ) -> Result<Val<'c>, Failed> {
        let l = &self.l;
        let (mut sum, mut at, mut known) = (None, 0, 0i64);
        for (d, index) in indices.enumerate() {
            let slices = whole.shape[d] / part.shape[d];
            if slices == 1 {
                continue;
            }
            let index = self.scalar(op, index)?;
            match known_int(index) {
                Some(v) => known |= (v & (slices - 1)) << at,
                None => {
                    let masked = l.bin("and", index, l.i32c(slices - 1));
                    let placed = if at == 0 { masked } else { l.bin("shl", masked, l.i32c(at)) };
                    sum = Some(sum.map_or(placed, |s| self.or_disjoint(s, placed)));
                }
            }
            at += i64::from(slices.ilog2());
        }
        Ok(match sum {
            Some(s) if known == 0 => s,
            Some(s) => self.or_disjoint(s, l.i32c(known)),
            None => l.i32c(known),
        })
    }

    fn bit_of(&self, v: Val<'c>, bit: u32) -> Bit<'c> {
        let l = &self.l;
        if let Some(v) = known_int(v) {
            return Bit::Known(v >> bit & 1 == 1);
        }
        let masked = l.bin("and", v, l.i32c(1 << bit));
        Bit::Value(l.icmp(Cmp::Ne, masked, l.i32c(0)))
    }
}

/// A bit that may be known at compile time.
enum Bit<'c> {
    Known(bool),
    Value(Val<'c>),
}

fn known_int(v: Val<'_>) -> Option<i64> {
    let op = defining_op(v).filter(|op| is_llvm_constant(*op))?;
    attr(op, "value").map(int_attr)
}

fn tensor<'c>(v: Val<'c>) -> Tensor<'c> {
    Tensor::of_value(v).expect("a tensor operand")
}
