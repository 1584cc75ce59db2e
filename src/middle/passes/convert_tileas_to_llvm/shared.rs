//! Shared memory accesses. A thread's addresses are one linear function of its number; each instruction flips bits or
//! adds a constant, as planned by the layout algebra.

use super::{Lower, Lowered, data::variable_state, dot::operand_list as braced, llvm::Operands, values::planned};
use crate::dialect::{
    nv_tileas::{AllocTensorOp, LocalLoadOp, LocalStoreOp, MemDescType, MemorySpace},
    pass::{Failed, fail},
    rt::*,
    shared_memory::{ALIGNMENT, access_plan, memdesc_bytes},
};
use melior::ir::{Attribute, Region, attribute::FlatSymbolRefAttribute};
use tile_layout::{AccessMode, Direction, Instruction, Layout, SharedAccess};

/// The symbol of the CTA's shared memory.
pub(super) const SHARED_SYMBOL: &str = "__tileir_shared";

impl<'c> Lower<'c, '_> {
    pub(super) fn alloc_tensor(&mut self, op: AllocTensorOp<'c>) -> Result<(), Failed> {
        let offset = op
            .offset()
            .ok_or_else(|| fail(op.op(), "storage has no offset; run tileas-optimize-alloc-tensor first"))?;
        let desc = self.memdesc(op.op(), op.result())?;
        if desc.space() != MemorySpace::Shared {
            return self.alloc_tensor_memory(op, offset);
        }
        let base = self.shared_base();
        let address = self.l.const_offset(base, offset);
        self.set(op.result(), Lowered::Shared(address));
        Ok(())
    }

    pub(super) fn local_store(&mut self, op: LocalStoreOp<'c>) -> Result<(), Failed> {
        let memory = self.shared_address(op.op(), op.dest())?;
        let desc = self.memdesc(op.op(), op.dest())?;
        let layout = self.layout(op.op(), op.source())?;
        let values = self.fragment(op.op(), op.source())?;
        if desc.packed() {
            return Err(fail(op.op(), "threads do not store packed elements"));
        }
        let plan = self.plan(op.op(), &layout, desc, Direction::Store)?;
        let element = desc.element_type();
        let thread = self.linear(&plan.address.expr());
        let guard = self.where_zero(plan.guard);
        let stores = || {
            for i in &plan.instructions {
                let address = self.instruction_address(memory, thread, i);
                let elements: Vec<Val<'c>> = i.registers.iter().map(|&r| values[r as usize]).collect();
                let words = self.words(element, elements.len() as u64);
                let out = self.pack_words(element, words, &elements);
                if let AccessMode::Matrix { transposed, .. } = plan.mode {
                    self.store_matrices(address, &out, transposed);
                    continue;
                }
                self.write_words(address, words, &out, None, "");
            }
        };
        match guard {
            Some(g) => self.l.when(g, stores),
            None => stores(),
        }
        Ok(())
    }

    pub(super) fn local_load(&mut self, op: LocalLoadOp<'c>) -> Result<(), Failed> {
        let layout = self.layout(op.op(), op.result())?;
        let registers = self.read_shared(op.op(), op.source(), &layout, None)?;
        self.set_all(op.result(), registers);
        Ok(())
    }

    /// Reads the elements that a thread holds of a shared-memory tensor in `layout`. `block` replaces the CTA number.
    pub(super) fn read_shared(
        &mut self,
        op: OpRef<'c>,
        memory: Val<'c>,
        layout: &Layout,
        block: Option<Val<'c>>,
    ) -> Result<Vec<Val<'c>>, Failed> {
        let desc = self.memdesc(op, memory)?;
        let packed = desc.packed();
        let memory = self.shared_address(op, memory)?;
        let plan = self.plan(op, layout, desc, Direction::Load)?;
        let element = desc.element_type();
        let thread = self.hide_from_licm(op, self.linear_in_block(&plan.address.expr(), block));
        let mut registers: Vec<Option<Val<'c>>> = vec![None; layout.registers() as usize];
        for i in &plan.instructions {
            let count = i.registers.len() as u64;
            let words = self.words(element, count);
            let loaded: Vec<Val<'c>> = if let AccessMode::Matrix { .. } = plan.mode {
                let rows = self.row_address(memory, thread, i);
                self.load_matrices(rows, i.add, words.count as usize, plan.mode)
            } else {
                self.read_words(self.instruction_address(memory, thread, i), words, None, &[], "")
            };
            if packed {
                // A register of the plan is a pair of elements.
                for (n, element) in self.nibbles_of_words(words, &loaded, count).into_iter().enumerate() {
                    registers[2 * i.registers[n / 2] as usize + n % 2] = Some(element);
                }
                continue;
            }
            for (&r, e) in i.registers.iter().zip(self.unpack_words(element, words, &loaded, count)) {
                registers[r as usize] = Some(e);
            }
        }
        let each = if packed { 2 } else { 1 };
        for (to, from) in &plan.copies {
            for half in 0..each {
                registers[each * *to as usize + half] = registers[each * *from as usize + half];
            }
        }
        let registers: Option<Vec<Val<'c>>> = registers.into_iter().collect();
        registers.ok_or_else(|| fail(op, "plan leaves a register unset"))
    }

    fn plan(
        &self,
        op: OpRef<'c>,
        layout: &Layout,
        desc: MemDescType<'c>,
        direction: Direction,
    ) -> Result<SharedAccess, Failed> {
        let plan = access_plan(layout, desc, direction, self.function.target);
        planned(op, plan.ok_or_else(|| fail(op, "storage has no valid layout"))?)
    }

    /// Loads 8x8 matrices of 16-bit elements, or rows of 16 bytes of other elements; each lane gets a word of each
    /// matrix. Bytes are transposed by 16x16, and each lane gets two words of each matrix.
    ///
    /// The constant part of the address is an immediate of the instruction. If it were added before an intrinsic,
    /// LLVM would hoist the sums out of loops, at the cost of a register per instruction throughout the loop.
    pub(super) fn load_matrices(&self, rows: Val<'c>, add: u64, count: usize, mode: AccessMode) -> Vec<Val<'c>> {
        let l = &self.l;
        let what = match mode {
            _ if mode.matrix_rows() == Some(16) => format!("m16n16.x{}.trans.shared.b8", count / 2),
            AccessMode::Matrix { transposed: true, .. } => format!("m8n8.x{count}.trans.shared.b16"),
            _ => format!("m8n8.x{count}.shared.b16"),
        };
        let add = if add == 0 { String::new() } else { format!("+{add}") };
        let mut operands = Operands::results(count, "r");
        let (at, list) = (operands.input("r", rows), braced(0, count));
        let text = format!("ldmatrix.sync.aligned.{what} {list}, [{at}{add}];");
        operands.emit_values(l, &text, l.i32)
    }

    pub(super) fn store_matrices(&self, address: Val<'c>, words: &[Val<'c>], transposed: bool) {
        let trans = if transposed { ".trans" } else { "" };
        let mut operands = Operands::default();
        let at = operands.input("r", address);
        operands.inputs("r", words);
        let (count, list) = (words.len(), braced(1, words.len()));
        operands.emit(&self.l, &format!("stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [{at}], {list};"));
    }

    /// `memory + ((thread ^ xor) + add)`.
    pub(super) fn instruction_address(&self, memory: Val<'c>, thread: Val<'c>, i: &Instruction) -> Val<'c> {
        self.l.const_offset(self.row_address(memory, thread, i), i.add as i64)
    }

    /// `memory + (thread ^ xor)`.
    fn row_address(&self, memory: Val<'c>, thread: Val<'c>, i: &Instruction) -> Val<'c> {
        let l = &self.l;
        let offset = if i.xor == 0 { thread } else { l.bin("xor", thread, l.i32c(i.xor as i64)) };
        l.byte_offset(memory, offset)
    }

    pub(super) fn shared_address(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Val<'c>, Failed> {
        match self.values.lowered.get(&key(v)) {
            Some(Lowered::Shared(address)) => Ok(*address),
            _ => Err(fail(op, "storage is not allocated here")),
        }
    }

    /// Returns the address of the CTA's shared memory. The symbol is declared once per module, large enough for all
    /// its functions.
    fn shared_base(&mut self) -> Val<'c> {
        if let Some(v) = self.function.shared {
            return v;
        }
        self.module.define(SHARED_SYMBOL, |b| {
            let (bytes, alignment) = shared_bytes(self.module.op);
            let bytes = melior::dialect::llvm::r#type::array(self.l.i8, bytes as u32);
            let mut s = variable_state(b, SHARED_SYMBOL, bytes, "internal");
            s.attr("addr_space", super::parse(b.context(), "3 : i32"));
            s.attr("alignment", i64_attr(b.context(), alignment));
            s.region(Region::new());
            b.insert(s).expect("no inference asked for");
        });
        let name: Attribute<'c> = FlatSymbolRefAttribute::new(self.l.context(), SHARED_SYMBOL).into();
        let v = self.at_entry().b.value("llvm.mlir.addressof", self.l.shared_ptr, &[], &[("global_name", name)]);
        self.function.shared = Some(v);
        v
    }
}

/// Returns the bytes of shared memory that the functions of a module use (the largest end of an allocation), and the
/// alignment.
fn shared_bytes(module: OpRef<'_>) -> (u64, i64) {
    let (mut end, mut alignment) = (0, ALIGNMENT);
    walk(module, &mut |op| {
        if let Some(a) = AllocTensorOp::cast(op)
            && let (Some(offset), Some(desc)) = (a.offset(), MemDescType::cast(ty(a.result())))
        {
            end = end.max(offset as u64 + memdesc_bytes(desc));
            alignment = alignment.max(desc.alignment());
        }
    });
    (end.max(1), alignment)
}
