//! Lowers warpgroup dots to `wgmma`.
//!
//! An op becomes one group of instructions:
//!
//! ```text
//! wgmma.fence                                    orders the threads' earlier accesses to the accumulators
//! wgmma.mma_async {registers}, a, b              for each fragment of the warpgroup and each step along K
//! wgmma.commit_group
//! ```
//!
//! The registers of a fragment are results of the instruction that are tied to its operands. Accumulators thus flow
//! from one instruction to the next, and around loops, as values without other uses, and ptxas keeps the instructions
//! asynchronous. Pairs of f16 stay in one value for the same reason: unpacking would read them. A wait passes its
//! sources through empty inline assembly, so that LLVM cannot move their readers above it.
//!
//! Each op computes the descriptors of its tiles once, from addresses and from a warpgroup number that is known to be
//! warp-uniform; each instruction adds a constant. A left operand in registers does not need a descriptor: its words
//! are operands of the instruction.

use super::{Lower, Lowered, llvm::Llvm, rings::BARRIER};
use crate::dialect::{
    attributes::PINNED,
    dots::{SharedDot, WarpgroupDot, WarpgroupTile, element_of, is_zero},
    layouts::{Tensor, storage_bits},
    nv_tileas::{AsyncDotOp, AsyncDotWaitOp, PromotedDotOp},
    pass::{Failed, fail},
    rt::*,
    thread_scope::ThreadScope,
};
use melior::ir::Type;
use std::ops::Range;
use tile_layout::Major;
use tile_mma::Element;

/// Warps per warpgroup.
const WARPS: i64 = 4;
/// The bits of a shared-memory address that a descriptor holds, and its unit in bytes.
const ADDRESS: i64 = 0x3ffff;
const UNIT: i64 = 16;

/// The inline assembly constraint of a 32-bit register.
const WORD: &str = "r";

const FENCE: &str = "wgmma.fence.sync.aligned;";
const COMMIT: &str = "wgmma.commit_group.sync.aligned;";

fn wait_for(pending: i64) -> String {
    format!("wgmma.wait_group.sync.aligned {pending};")
}

/// A dot, and the descriptors of this warpgroup's parts of its operands.
struct Tiles<'c> {
    op: OpRef<'c>,
    dot: WarpgroupDot,
    a: Left<'c>,
    b: Descriptor<'c>,
}

/// The left operand: this warpgroup's part of a tile in memory, or the words of the thread's fragments.
enum Left<'c> {
    Memory(Descriptor<'c>),
    Registers(Vec<Val<'c>>),
}

/// Words of the left operand that each thread passes to an instruction.
const LEFT_WORDS: usize = 4;

/// The accumulator block of an instruction, the same for each step along K.
struct Block {
    m: usize,
    n: usize,
    registers: Range<usize>,
}

impl Tiles<'_> {
    /// Returns the blocks of an accumulator of `registers` registers, in order.
    fn blocks(&self, registers: usize) -> Vec<Block> {
        let [rows, columns, _] = self.dot.blocks;
        let count = registers / (rows * columns);
        let block = |i| Block { m: i / columns, n: i % columns, registers: i * count..(i + 1) * count };
        (0..rows * columns).map(block).collect()
    }
}

/// The type of each accumulator register.
#[derive(Clone, Copy)]
pub(super) struct Carrier<'c> {
    ty: Type<'c>,
    /// The constraint letter of inline assembly.
    pub class: &'static str,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn async_dot(&mut self, op: AsyncDotOp<'c>) -> Result<(), Failed> {
        let Some(result) = op.result().next() else { return self.dot_into_memory(op) };
        let tiles = self.warpgroup_tiles(SharedDot::Async(op))?;
        let from_zero = is_zero(op.acc());
        let mut accumulators = self.accumulators(op.op(), op.acc())?;
        self.l.order(FENCE);
        for block in tiles.blocks(accumulators.len()) {
            self.chain(&tiles, &block, 0..tiles.dot.blocks[2], &mut accumulators[block.registers.clone()], from_zero)?;
        }
        self.l.order(COMMIT);
        self.keep_left_words(&tiles);
        self.bind_accumulators(result, accumulators);
        Ok(())
    }

    /// Computes a chain of `wgmma` from zero for each block and each part of the depth, waits for it, and adds it to
    /// the accumulator. The chains of a warpgroup run sequentially and share one set of registers. While one
    /// warpgroup adds, the tensor cores run the chains of other warpgroups.
    pub(super) fn promoted_dot(&mut self, op: PromotedDotOp<'c>) -> Result<(), Failed> {
        let tiles = self.warpgroup_tiles(SharedDot::Promoted(op))?;
        let step = tiles.dot.instruction.row.k as usize;
        let steps = usize::try_from(op.depth()).map_err(|_| fail(op.op(), "a chain has no depth"))? / step;
        let carrier = self.carrier(tiles.dot.instruction.accumulator);
        let mut accumulators = self.accumulators(op.op(), op.acc())?;
        for block in tiles.blocks(accumulators.len()) {
            for first in (0..tiles.dot.blocks[2]).step_by(steps) {
                let mut chain = vec![self.l.poison(carrier.ty); block.registers.len()];
                self.l.order(FENCE);
                self.chain(&tiles, &block, first..first + steps, &mut chain, true)?;
                self.l.order(COMMIT);
                self.l.order(&wait_for(0));
                let chain = self.tied("", "", carrier, &chain, &[], false);
                for (sum, part) in accumulators[block.registers.clone()].iter_mut().zip(chain) {
                    *sum = self.l.bin("fadd", *sum, part);
                }
            }
        }
        self.set_all(op.result(), accumulators);
        Ok(())
    }

    /// Returns the operands of a dot as its instructions name them.
    fn warpgroup_tiles(&mut self, op: SharedDot<'c>) -> Result<Tiles<'c>, Failed> {
        let dot = WarpgroupDot::of(op).map_err(|e| fail(op.op(), e))?;
        let i = dot.instruction;
        let name = i.ptx();
        if !i.row.is_lowered(i.a, i.b) {
            return Err(fail(op.op(), format!("{name} exists, but has no lowering to LLVM yet")));
        }
        if let Some(feature) = i.row.feature.filter(|f| !self.function.target.has(*f)) {
            return Err(fail(
                op.op(),
                format!("{name} needs {feature}, which {} does not have", self.function.target.name),
            ));
        }
        if ThreadScope::of(op.op()).is_some_and(|s| s.first_warp % WARPS != 0) {
            return Err(fail(
                op.op(),
                "a warpgroup must start at a warp whose number in the block is a multiple of four",
            ));
        }
        self.function.multiplies = true;
        let (rows, columns) = match dot.groups {
            (1, 1) => (None, None),
            groups => {
                let group = self.warpgroup(op.op())?;
                let row = self.l.bin("and", group, self.l.i32c(i64::from(groups.0) - 1));
                let column = self.l.bin("lshr", group, self.l.i32c(groups.0.ilog2().into()));
                (Some((row, groups.0)), Some((column, groups.1)))
            }
        };
        let a = match &dot.lhs {
            Some(tile) => {
                let constant = tile.operand.descriptor.constant();
                Left::Memory(self.descriptor(op.op(), (op.lhs(), constant), tile, 0, rows)?)
            }
            // The words may be the accumulators of an earlier dot. In the same registers, they would keep LLVM from
            // assigning these to the accumulators of this dot where a loop carries them, and it would copy
            // accumulators in flight.
            None if dot.instruction.accumulator == Element::F16 => Left::Registers(self.pinned(&self.left_words(op)?)),
            None => Left::Registers(self.left_words(op)?),
        };
        let constant = dot.rhs.operand.descriptor.constant();
        let b = self.descriptor(op.op(), (op.rhs(), constant), &dot.rhs, 1, columns)?;
        Ok(Tiles { op: op.op(), dot, a, b })
    }

    /// Returns the left operand's registers as words, in the order in which instructions take them.
    fn left_words(&self, op: SharedDot<'c>) -> Result<Vec<Val<'c>>, Failed> {
        if let Some(Lowered::Words(words)) = self.values.lowered.get(&key(op.lhs())) {
            return Ok(words.clone());
        }
        let tensor = self.tensor(op.op(), op.lhs())?;
        let values = self.fragment(op.op(), op.lhs())?;
        let registers: Vec<Option<u32>> = (0..values.len() as u32).map(Some).collect();
        let words = registers.chunks((32 / storage_bits(tensor.element)) as usize);
        Ok(words.map(|word| self.operand_word(tensor.element, &values, word, None)).collect())
    }

    /// Emits the instructions of some steps along K of a block, which accumulate in the same registers.
    fn chain(
        &self,
        tiles: &Tiles<'c>,
        block: &Block,
        steps: Range<usize>,
        registers: &mut [Val<'c>],
        from_zero: bool,
    ) -> Result<(), Failed> {
        let dot = &tiles.dot;
        let carrier = self.carrier(dot.instruction.accumulator);
        let outside = || fail(tiles.op, "an instruction is outside of its tiles");
        let units = |tile: &WarpgroupTile, mn, k| tile.operand.offset(mn, k).map(|bytes| (bytes >> 4) as i64);
        for k in steps.clone() {
            let left = match (&tiles.a, &dot.lhs) {
                (Left::Memory(a), Some(tile)) => vec![a.at(&self.l, units(tile, block.m, k).ok_or_else(outside)?)],
                (Left::Registers(words), _) => {
                    let first = (block.m * dot.blocks[2] + k) * LEFT_WORDS;
                    words.get(first..first + LEFT_WORDS).ok_or_else(outside)?.to_vec()
                }
                _ => return Err(outside()),
            };
            let right = tiles.b.at(&self.l, units(&dot.rhs, block.n, k).ok_or_else(outside)?);
            self.multiply_async(dot, carrier, registers, (&left, right), from_zero && k == steps.start);
        }
        Ok(())
    }

    /// Keeps the words of a left operand in their registers up to the end of the group. Otherwise LLVM might assign
    /// them to the accumulators of a later instruction of the group, which writes them while an earlier one reads them.
    /// Only accumulators in registers of the same class can take them.
    fn keep_left_words(&self, tiles: &Tiles<'c>) {
        if let Left::Registers(words) = &tiles.a
            && self.carrier(tiles.dot.instruction.accumulator).class == WORD
        {
            self.l.asm("", &vec![WORD; words.len()].join(","), words);
        }
    }

    pub(super) fn async_dot_wait(&mut self, op: AsyncDotWaitOp<'c>) -> Result<(), Failed> {
        self.l.order(&wait_for(op.pending()));
        let pinned = PINNED.get(op.op()).unwrap_or_default();
        for (i, (source, result)) in (0..).zip(op.sources().zip(op.results())) {
            let element = Tensor::of_value(source).and_then(|t| element_of(t.element, false));
            let element = element.filter(|e| matches!(e, Element::F16 | Element::F32 | Element::S32));
            let element = element.ok_or_else(|| fail(op.op(), "source is not the accumulator of a dot"))?;
            let accumulators = self.accumulators(op.op(), source)?;
            let accumulators = self.tied("", "", self.carrier(element), &accumulators, &[], false);
            let accumulators = if pinned.contains(&i) { self.pinned(&accumulators) } else { accumulators };
            let accumulators = if element == Element::F16 { self.halves(&accumulators) } else { accumulators };
            self.set_all(result, accumulators);
        }
        Ok(())
    }

    /// Emits one instruction: the product plus `registers`, or the product alone. `left` is a descriptor or words.
    fn multiply_async(
        &self,
        dot: &WarpgroupDot,
        carrier: Carrier<'c>,
        registers: &mut [Val<'c>],
        (left, right): (&[Val<'c>], Val<'c>),
        from_zero: bool,
    ) {
        let i = dot.instruction;
        let count = registers.len();
        let list = super::dot::operand_list(0, count);
        let first = if from_zero { count } else { 2 * count };
        let mut flags = String::new();
        if !matches!(i.accumulator, Element::S32) {
            flags += ", 1, 1";
        }
        if i.row.container == 16 {
            for tile in dot.lhs.iter().chain([&dot.rhs]) {
                flags += &format!(", {}", u8::from(tile.operand.major == Major::Mn));
            }
        }
        let (a, class) = match &dot.lhs {
            Some(_) => (format!("${first}"), "l"),
            None => (super::dot::operand_list(first, left.len()), WORD),
        };
        let before = format!(
            "{{ .reg .pred sum; setp.ne.b32 sum, {}, 0; {} {list}, {a}, ${}, sum{flags}; }}",
            u8::from(!from_zero),
            i.ptx(),
            first + left.len()
        );
        let others = format!("{}l,~{{memory}}", format!("{class},").repeat(left.len()));
        let more: Vec<Val<'c>> = left.iter().copied().chain([right]).collect();
        // The instruction reads its left operand while it writes the accumulators.
        let apart = dot.lhs.is_none() && carrier.class == WORD;
        let carrier = if apart { Carrier { class: "&r", ..carrier } } else { carrier };
        let accumulators = self.tied(&before, &others, carrier, registers, &more, from_zero);
        registers.copy_from_slice(&accumulators);
    }

    /// Returns values after inline assembly that reads and writes them; with `fresh` it only writes them.
    pub(super) fn tied(
        &self,
        text: &str,
        others: &str,
        carrier: Carrier<'c>,
        values: &[Val<'c>],
        more: &[Val<'c>],
        fresh: bool,
    ) -> Vec<Val<'c>> {
        let count = values.len();
        let mut constraints = vec![format!("={}", carrier.class); count];
        let mut args = vec![];
        if !fresh {
            constraints.extend((0..count).map(|i| i.to_string()));
            args.extend_from_slice(values);
        }
        args.extend_from_slice(more);
        if !others.is_empty() {
            constraints.push(others.to_string());
        }
        self.registers_of_asm(text, &constraints, carrier, count, &args)
    }

    /// Returns the registers that inline assembly writes.
    fn registers_of_asm(
        &self,
        text: &str,
        constraints: &[String],
        carrier: Carrier<'c>,
        count: usize,
        args: &[Val<'c>],
    ) -> Vec<Val<'c>> {
        self.l.asm_values(text, &constraints.join(","), (carrier.ty, count), args)
    }

    /// Copies values to new registers with inline assembly. `tileas-choose-register-forms` explains where and why.
    pub(super) fn pinned(&self, accumulators: &[Val<'c>]) -> Vec<Val<'c>> {
        let Some(first) = accumulators.first() else { return vec![] };
        let carrier = self.carrier(if ty(*first) == self.l.f32 { Element::F32 } else { Element::S32 });
        let count = accumulators.len();
        let moves: Vec<String> = (0..count).map(|i| format!("mov.b32 ${i}, ${};", count + i)).collect();
        let constraints =
            [vec![format!("=&{}", carrier.class); count], vec![carrier.class.to_string(); count]].concat();
        self.registers_of_asm(&moves.join(" "), &constraints, carrier, count, accumulators)
    }

    //===-- accumulators ----------------------------------------------------===//

    pub(super) fn carrier(&self, sum: Element) -> Carrier<'c> {
        match sum {
            Element::F32 => Carrier { ty: self.l.f32, class: "f" },
            _ => Carrier { ty: self.l.i32, class: WORD },
        }
    }

    /// Returns the registers of an accumulator.
    fn accumulators(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Vec<Val<'c>>, Failed> {
        let of_halves = Tensor::of_value(v).is_some_and(|t| t.element == self.l.f16);
        if of_halves { self.register_words(op, v) } else { self.fragment(op, v) }
    }

    /// Returns the registers of a tensor of 16-bit or 8-bit elements as words.
    pub(super) fn register_words(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Vec<Val<'c>>, Failed> {
        if let Some(Lowered::Words(words) | Lowered::Packed(words, _)) = self.values.lowered.get(&key(v)) {
            return Ok(words.clone());
        }
        let tensor = self.tensor(op, v)?;
        let elements: Vec<Option<Val<'c>>> = self.fragment(op, v)?.into_iter().map(Some).collect();
        let each = (32 / storage_bits(tensor.element)) as usize;
        Ok(elements.chunks(each).map(|word| self.pack_word(tensor.element, word)).collect())
    }

    /// Binds the accumulator registers of a dot in flight.
    fn bind_accumulators(&mut self, v: Val<'c>, registers: Vec<Val<'c>>) {
        let in_words = Tensor::of_value(v).is_some_and(|t| t.element == self.l.f16);
        let lowered = if in_words { Lowered::Words(registers) } else { Lowered::Fragment(registers) };
        self.set(v, lowered);
    }

    fn halves(&self, pairs: &[Val<'c>]) -> Vec<Val<'c>> {
        let l = &self.l;
        let pair = l.vector(2, l.f16);
        pairs.iter().flat_map(|v| l.elements(l.cast("bitcast", *v, pair), l.f16, 2)).collect()
    }

    //===-- descriptors -----------------------------------------------------===//

    /// Returns the number of this thread's warpgroup, in a form that ptxas knows to be warp-uniform.
    pub(super) fn warpgroup(&mut self, op: OpRef<'c>) -> Result<Val<'c>, Failed> {
        if let Some(v) = self.values.warpgroups.get(&key(self.threads.warp)) {
            return Ok(*v);
        }
        // Insert it after the definition of the warp number, which all threads execute and which is outside loops.
        let source =
            defining_op(self.threads.warp).ok_or_else(|| fail(op, "the warp number is not the result of an op"))?;
        let b = Builder::before(self.l.context(), source);
        b.set_after(source);
        let l = Llvm::new(b);
        let group = l.bin("lshr", self.threads.warp, l.i32c(WARPS.ilog2().into()));
        let args = [l.i32c(-1), group, l.i32c(0), l.i32c(31)];
        let v = l.intrinsic("llvm.nvvm.shfl.sync.idx.i32", l.i32, &args);
        self.values.warpgroups.insert(key(self.threads.warp), v);
        Ok(v)
    }

    /// Returns the descriptor of this warpgroup's part of a tile: part number `part.0` of `part.1` along dimension
    /// `dim`. `constant` is the descriptor of a tile at address zero.
    pub(super) fn descriptor(
        &self,
        op: OpRef<'c>,
        (memory, constant): (Val<'c>, u64),
        tile: &WarpgroupTile,
        dim: usize,
        part: Option<(Val<'c>, u32)>,
    ) -> Result<Descriptor<'c>, Failed> {
        let l = &self.l;
        self.shared_descriptor(op, (memory, constant), |mut at| {
            let Some((number, parts)) = part else { return at };
            let extent = tile.layout.shape().extents()[dim] / u64::from(parts);
            for bit in 0..parts.ilog2() {
                let bytes = tile.layout.linear_offset(dim, extent << bit);
                let one = l.bin("and", l.bin("lshr", number, l.i32c(bit.into())), l.i32c(1));
                at = l.add(at, l.mul(one, l.i32c(bytes as i64)));
            }
            at
        })
    }

    /// Returns the descriptor of storage from the address that `start` computes from its first one. `constant` is the
    /// descriptor of a tile at address zero.
    pub(super) fn shared_descriptor(
        &self,
        op: OpRef<'c>,
        (memory, constant): (Val<'c>, u64),
        start: impl FnOnce(Val<'c>) -> Val<'c>,
    ) -> Result<Descriptor<'c>, Failed> {
        // In a ring, start from the first stage and add a constant for each further stage.
        let stage = self.values.stages.get(&key(memory)).copied().filter(|s| s.bytes % (UNIT * BARRIER) == 0);
        let address = match stage {
            Some(stage) => stage.first,
            None => self.shared_address(op, memory)?,
        };
        let l = &self.l;
        let at = start(l.cast("ptrtoint", address, l.i32));
        let units = l.bin("lshr", l.bin("and", at, l.i32c(ADDRESS)), l.i32c(4));
        let whole = self.or_disjoint(l.zext64(units), l.i64c(constant as i64));
        // Hide the bits from LLVM; otherwise it computes each instruction's descriptor in two halves instead of by
        // one addition.
        Ok(Descriptor(match stage {
            Some(stage) => self.linear_in_stage(op, stage, stage.bytes / (UNIT * BARRIER), whole)?,
            None => l.pure_asm("", "=l,0", l.i64, &[whole]),
        }))
    }
}

/// A descriptor whose address is only known at run time.
pub(super) struct Descriptor<'c>(Val<'c>);

impl<'c> Descriptor<'c> {
    /// Returns the descriptor `units` times 16 bytes further on. The addition does not overflow the address field.
    pub(super) fn at(&self, l: &Llvm<'c>, units: i64) -> Val<'c> {
        if units == 0 { self.0 } else { l.add(self.0, l.i64c(units)) }
    }
}
