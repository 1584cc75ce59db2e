//! Dots: emits a thread's instructions in the order given by the layout algebra.
//!
//! Operands are passed in words: elements extracted from one word of memory are passed to an instruction as that
//! word.

use super::{Lower, element_type, llvm::Cmp};
use crate::dialect::{
    dots::{AnyDot, Instruction},
    layouts::storage_bits,
    nv_tileas::{DotOp, DotScaledOp},
    pass::{Failed, fail},
    rt::*,
    types::is_integer,
};
use melior::ir::Type;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use tile_layout::{DotShape, DotStep, LayoutError, MmaShape, Multiplier, Operand};
use tile_mma::{Element, Emission};

/// A dot and the data that its instructions are built from.
pub(super) struct Job<'c> {
    op: OpRef<'c>,
    pub product: DotShape,
    multiplier: Multiplier,
    /// `None` for scalar arithmetic.
    pub instruction: Option<tile_mma::Instruction>,
    /// The element types of lhs, rhs and accumulator.
    elements: [Type<'c>; 3],
    unsigned: [bool; 2],
    pub steps: Vec<DotStep>,
    pub lhs: Vec<Val<'c>>,
    pub rhs: Vec<Val<'c>>,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn dot(&mut self, op: DotOp<'c>) -> Result<(), Failed> {
        let job = self.job(AnyDot::Plain(op))?;
        let start = self.fragment(op.op(), op.acc())?;
        self.function.multiplies = true;
        let accumulators = self.multiply(&job, start, &job.steps)?;
        self.set_all(op.result(), accumulators);
        Ok(())
    }

    pub(super) fn dot_scaled(&mut self, op: DotScaledOp<'c>) -> Result<(), Failed> {
        let job = self.job(AnyDot::Scaled(op))?;
        if let Some(instruction) = job.instruction.filter(|i| i.scale.is_some()) {
            return self.block_scaled(op, &job, instruction);
        }
        let error = |e: LayoutError| fail(op.op(), e.to_string());
        let scale_tile = self.tensor(op.op(), op.lhs_scale())?;
        let blocks = scale_tile.tile_shape().log2().last().copied().unwrap_or(0);
        let (_, _, _, depth) = job.product.log2();
        let acc = self.layout(op.op(), op.acc())?;
        let per_block = job.product.with_depth(blocks);
        let scales = self.scales(op.op(), [op.lhs_scale(), op.rhs_scale()])?;
        let mut accumulators = self.fragment(op.op(), op.acc())?;
        self.function.multiplies = true;
        let zero = self.l.float(self.l.f32, 0.0);
        let size = 1u32 << (depth - blocks);
        for block in 0..1u32 << blocks {
            let rows = per_block.scale_registers(&acc, &scales.layouts[0], Operand::A, block).map_err(error)?;
            let columns = per_block.scale_registers(&acc, &scales.layouts[1], Operand::B, block).map_err(error)?;
            // Compute the block's sum unscaled, then apply both scales. Handle few accumulators at a time to limit
            // register pressure.
            let mut steps: Vec<DotStep> = job.steps.iter().filter(|s| s.k / size == block).cloned().collect();
            steps.sort_by(|a, b| a.accumulator.cmp(&b.accumulator));
            let mut groups: Vec<&[DotStep]> = steps.chunk_by(|a, b| a.accumulator == b.accumulator).collect();
            // Keep the fragments of the operand with fewer of them in registers and iterate over the other's.
            let fragments = |side: fn(&DotStep) -> &Vec<Option<u32>>| {
                groups.iter().map(|g| side(&g[0])).collect::<BTreeSet<_>>().len()
            };
            if fragments(|s| &s.lhs) < fragments(|s| &s.rhs) {
                groups.sort_by(|a, b| (&a[0].rhs, &a[0].lhs).cmp(&(&b[0].rhs, &b[0].lhs)))
            } else {
                groups.sort_by(|a, b| (&a[0].lhs, &a[0].rhs).cmp(&(&b[0].lhs, &b[0].rhs)))
            }
            for group in groups {
                let part = self.multiply(&job, vec![zero; accumulators.len()], group)?;
                for r in group[0].accumulator.iter().flatten().map(|&r| r as usize) {
                    accumulators[r] = self.scaled(part[r], &scales, [rows[r], columns[r]], accumulators[r]);
                }
            }
        }
        self.set_all(op.result(), accumulators);
        Ok(())
    }

    fn job(&self, dot: AnyDot<'c>) -> Result<Job<'c>, Failed> {
        let op = dot.op();
        let error = |e: LayoutError| fail(op, e.to_string());
        let [lhs, rhs, acc] = [self.tensor(op, dot.lhs())?, self.tensor(op, dot.rhs())?, self.tensor(op, dot.acc())?];
        let product = DotShape::new(&lhs.tile_shape(), &rhs.tile_shape(), &acc.tile_shape()).map_err(error)?;
        let (instruction, multiplier) = self.generated(dot)?;
        let [left, right, accumulators] =
            [self.layout(op, dot.lhs())?, self.layout(op, dot.rhs())?, self.layout(op, dot.acc())?];
        let steps = product.steps(multiplier, &accumulators, &left, &right).map_err(error)?;
        Ok(Job {
            op,
            product,
            multiplier,
            instruction,
            elements: [lhs.element, rhs.element, acc.element],
            unsigned: dot.unsigned(),
            steps,
            lhs: self.fragment(op, dot.lhs())?,
            rhs: self.fragment(op, dot.rhs())?,
        })
    }

    /// Returns the multiplier of a dot. Fails for table instructions that are not implemented or that the target
    /// lacks.
    fn generated(&self, dot: AnyDot<'c>) -> Result<(Option<tile_mma::Instruction>, Multiplier), Failed> {
        let op = dot.op();
        let by = dot.instruction().ok_or_else(|| fail(op, "the instruction has no lowering to LLVM"))?;
        if by == Instruction::FMA {
            return Ok((None, Multiplier::Scalar));
        }
        let name = by.to_attr(self.l.context());
        let wrong = |why: &str| fail(op, format!("{name} {why}"));
        let i = dot.matrix_instruction().ok_or_else(|| wrong("does not multiply these elements"))?;
        if !i.row.is_lowered(i.a, i.b) {
            return Err(wrong("exists for these elements, but has no lowering to LLVM yet"));
        }
        if let Some(feature) = i.row.feature.filter(|f| !self.function.target.has(*f)) {
            return Err(wrong(&format!("needs {feature}, which {} does not have", self.function.target.name)));
        }
        let shape = i.row.fragments(i.n).ok_or_else(|| wrong("does not accumulate in registers"))?;
        Ok((Some(i), Multiplier::Matrix(shape)))
    }

    /// Computes `start` plus the products of `steps`.
    fn multiply(&self, job: &Job<'c>, start: Vec<Val<'c>>, steps: &[DotStep]) -> Result<Vec<Val<'c>>, Failed> {
        match job.multiplier {
            Multiplier::Scalar => self.multiply_scalars(job, start, steps),
            Multiplier::Matrix(shape) => self.multiply_fragments(job, shape, start, steps),
        }
    }

    //===-- scalar arithmetic -----------------------------------------------===//

    /// Formats narrower than f32 are multiplied and accumulated in f32, which rounds less often.
    fn multiply_scalars(&self, job: &Job<'c>, start: Vec<Val<'c>>, steps: &[DotStep]) -> Result<Vec<Val<'c>>, Failed> {
        let l = &self.l;
        let widen = |values: &[Val<'c>], side: usize| -> Result<Vec<Val<'c>>, Failed> {
            let (element, unsigned) = (job.elements[side], job.unsigned.get(side).copied().unwrap_or(false));
            values
                .iter()
                .map(|&v| {
                    if is_integer(element) {
                        Ok(l.cast(if unsigned { "zext" } else { "sext" }, v, l.i32))
                    } else {
                        self.widened(job.op, v, element)
                    }
                })
                .collect()
        };
        let (lhs, rhs, mut accumulators) = (widen(&job.lhs, 0)?, widen(&job.rhs, 1)?, widen(&start, 2)?);
        let wrong = || fail(job.op, "a multiplication has no registers");
        for step in steps {
            let [Some(c), Some(a), Some(b)] = [step.accumulator[0], step.lhs[0], step.rhs[0]] else {
                return Err(wrong());
            };
            let (a, b, c) = (lhs[a as usize], rhs[b as usize], c as usize);
            accumulators[c] = if is_integer(job.elements[2]) {
                l.add(accumulators[c], l.mul(a, b))
            } else {
                l.b.value("llvm.intr.fma", ty(a), &[a, b, accumulators[c]], &[])
            };
        }
        let to = element_type(l.context(), job.elements[2]).ok_or_else(wrong)?;
        Ok(accumulators.into_iter().map(|v| l.cast("fptrunc", v, to)).collect())
    }

    /// Widens a float exactly to f32; f64 stays f64.
    pub(super) fn widened(&self, op: OpRef<'c>, v: Val<'c>, element: Type<'c>) -> Result<Val<'c>, Failed> {
        let l = &self.l;
        match storage_bits(element) {
            8 => self.narrow_cast(op, v, element, l.f32, crate::dialect::nv_tileaa::Rounding::NearestEven),
            16 => Ok(l.cast("fpext", v, l.f32)),
            _ => Ok(v),
        }
    }

    //===-- mma.sync --------------------------------------------------------===//

    fn multiply_fragments(
        &self,
        job: &Job<'c>,
        shape: MmaShape,
        start: Vec<Val<'c>>,
        steps: &[DotStep],
    ) -> Result<Vec<Val<'c>>, Failed> {
        let instruction = job.instruction.ok_or_else(|| fail(job.op, "no instruction multiplies these elements"))?;
        let mut accumulators = start;
        let outside = self.outside(job);
        let mut packed: [FxHashMap<Vec<Option<u32>>, Val<'c>>; 2] = Default::default();
        let name = Name::of(&instruction);
        for step in steps {
            let mut args = vec![];
            for (side, (list, values)) in [(&step.lhs, &job.lhs), (&step.rhs, &job.rhs)].into_iter().enumerate() {
                for word in list.chunks(shape.per_word() as usize) {
                    let v = match packed[side].get(word) {
                        Some(v) => *v,
                        None => {
                            let v = self.operand_word(job.elements[side], values, word, outside);
                            packed[side].insert(word.to_vec(), v);
                            v
                        }
                    };
                    args.push(v);
                }
            }
            self.accumulate(&name, &instruction, args, &step.accumulator, &mut accumulators)?;
        }
        Ok(accumulators)
    }

    /// Whether the lane is beyond the depth of the tile and supplies zeros; `None` if no lane is.
    pub(super) fn outside(&self, job: &Job<'c>) -> Option<Val<'c>> {
        let lanes = job.product.zero_lanes(job.multiplier);
        (lanes != 0).then(|| {
            let bits = self.l.bin("and", self.threads.lane, self.l.i32c(lanes.into()));
            self.l.icmp(Cmp::Ne, bits, self.l.i32c(0))
        })
    }

    /// Packs a word of an operand; elements that the tile lacks are zero.
    pub(super) fn operand_word(
        &self,
        element: Type<'c>,
        values: &[Val<'c>],
        word: &[Option<u32>],
        outside: Option<Val<'c>>,
    ) -> Val<'c> {
        let l = &self.l;
        let wide = storage_bits(element) == 64;
        let word_type = if wide { l.f64 } else { l.i32 };
        let zero = || if wide { l.float(l.f64, 0.0) } else { l.i32c(0) };
        if word.iter().all(Option::is_none) {
            return zero();
        }
        let v = match word {
            [Some(r)] if wide => values[*r as usize],
            [Some(r)] => l.cast("bitcast", values[*r as usize], l.i32),
            _ => {
                let elements: Vec<Option<Val<'c>>> = word.iter().map(|r| r.map(|r| values[r as usize])).collect();
                self.pack_word(element, &elements)
            }
        };
        debug_assert!(ty(v) == word_type);
        match outside {
            Some(outside) => l.select(outside, zero(), v),
            None => v,
        }
    }

    /// Emits one instruction, which adds the product of the words in `args` to `registers` of the accumulator.
    fn accumulate(
        &self,
        name: &Name,
        instruction: &tile_mma::Instruction,
        mut args: Vec<Val<'c>>,
        accumulator: &[Option<u32>],
        registers: &mut [Val<'c>],
    ) -> Result<(), Failed> {
        let l = &self.l;
        let pair = l.vector(2, l.f16);
        let half = instruction.accumulator == Element::F16;
        if instruction.a == Element::F16 {
            args = args.into_iter().map(|v| l.cast("bitcast", v, pair)).collect();
        }
        let held = accumulator.iter().flatten().next().map(|&r| ty(registers[r as usize]));
        let element = held.expect("an instruction has an accumulator");
        let fill = || if is_integer(element) { l.int(element, 0) } else { l.float(element, 0.0) };
        let mut accumulators: Vec<Val<'c>> =
            accumulator.iter().map(|r| r.map_or_else(fill, |r| registers[r as usize])).collect();
        if half {
            accumulators = accumulators.chunks(2).map(|two| l.join(two)).collect();
        }
        let (count, first) = (accumulators.len(), args.len());
        let result = match name {
            Name::Intrinsic(name) => {
                let fields = l.structure(&vec![ty(accumulators[0]); count]);
                args.extend(accumulators);
                l.intrinsic(name, fields, &args)
            }
            Name::Asm(name) => {
                // Packed f16 pairs use 32-bit registers.
                let (class, carrier) = if half { ("r", l.i32) } else { ("f", l.f32) };
                args.extend(accumulators.into_iter().map(|v| l.cast("bitcast", v, carrier)));
                // A has twice as many words as B.
                let (lhs, rhs) = (first / 3 * 2, first / 3);
                let mut constraints = vec![format!("={class}"); count];
                constraints.extend(vec!["r".to_string(); first]);
                constraints.extend(vec![class.to_string(); count]);
                let mut scales = String::new();
                if instruction.scale.is_some() {
                    args.push(l.i32c(UNIT_SCALES.into()));
                    constraints.push("r".to_string());
                    let word = 2 * count + first;
                    scales = format!(", ${word}, {{0, 0}}, ${word}, {{0, 0}}");
                }
                let text = format!(
                    "{name} {}, {}, {}, {}{scales};",
                    operand_list(0, count),
                    operand_list(count, lhs),
                    operand_list(count + lhs, rhs),
                    operand_list(count + first, count)
                );
                let fields = l.structure(&vec![carrier; count]);
                l.pure_asm(&text, &constraints.join(","), fields, &args)
            }
        };
        let field = match name {
            Name::Asm(_) if half => l.i32,
            _ if half => pair,
            _ => element,
        };
        for (i, r) in accumulator.iter().enumerate() {
            let Some(r) = r else { continue };
            registers[*r as usize] = if half {
                let word = l.cast("bitcast", l.field(result, field, i as i64 / 2), pair);
                l.extract(word, l.f16, i % 2)
            } else {
                l.field(result, field, i as i64)
            };
        }
        Ok(())
    }
}

/// Four scales of one, in ue8m0.
const UNIT_SCALES: u32 = 0x7f7f_7f7f;

/// The intrinsic, or inline PTX where LLVM lacks an intrinsic.
enum Name {
    Intrinsic(String),
    Asm(String),
}

impl Name {
    fn of(i: &tile_mma::Instruction) -> Self {
        let assembly = i.row.lowering.is_some_and(|l| l.emission == Emission::Assembly);
        if assembly {
            return Name::Asm(i.ptx());
        }
        // LLVM's names list only the types that others do not imply: the accumulator types for f16, and both operand
        // types for integers if they differ.
        let types = match (i.a, i.b) {
            (Element::F16, _) => format!("{0}.{0}", i.accumulator.name()),
            (a, b) if a != b => format!("{}.{}", a.name(), b.name()),
            (a, _) => a.name().to_string(),
        };
        Name::Intrinsic(format!("llvm.nvvm.mma.m{}n{}k{}.row.col.{types}", i.row.m, i.n, i.row.k))
    }
}

/// Returns operands `from` to `from + n` of inline assembly, grouped as a PTX vector.
pub(super) fn operand_list(from: usize, n: usize) -> String {
    let names: Vec<String> = (from..from + n).map(|i| format!("${i}")).collect();
    format!("{{{}}}", names.join(", "))
}
