//! The state of a lowering, in four parts.
//!
//! | part | what it is about | lifetime |
//! |---|---|---|
//! | [`Module`] | symbols besides the kernels: functions, variables, tables | all kernels of a module |
//! | [`Function`] | the kernel: its target, its launch, and variables that are created on first use | one kernel |
//! | [`Threads`] | the threads that run the code at the insertion point | an agent's program, or a loop over chunks |
//! | [`Values`] | the lowered form of each value of the source | one kernel |
//!
//! [`Lower`] combines them with the builder. A file of the lowering adds methods to `Lower` and keeps no state of its
//! own.

use super::{
    array::{Array, Slot},
    llvm::Llvm,
    ping_pong::PingPong,
    rings::Stage,
    tensor_memory::TensorMemoryBase,
};
use crate::{
    analysis::rings::{RingPositions, RingUses},
    dialect::{pass::context_of, rt::*},
};
use melior::{
    Context,
    dialect::llvm,
    ir::{
        Location, Type,
        attribute::{StringAttribute, TypeAttribute},
    },
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use tile_targets::Target;

/// The translation of one kernel.
pub(super) struct Lower<'c, 'm> {
    pub l: Llvm<'c>,
    pub module: Module<'c, 'm>,
    pub function: Function<'c>,
    pub threads: Threads<'c>,
    pub values: Values<'c>,
}

/// The module that the kernels are in.
pub(super) struct Module<'c, 'm> {
    pub op: OpRef<'c>,
    symbols: RefCell<&'m mut Symbols>,
}

/// The symbols that a module has gained besides its kernels.
#[derive(Default)]
pub(super) struct Symbols {
    defined: FxHashSet<String>,
    /// The number of each constant table, by content.
    tables: FxHashMap<Vec<u8>, usize>,
}

/// The kernel as a whole.
pub(super) struct Function<'c> {
    /// The name in the source.
    pub name: &'c str,
    pub target: &'static Target,
    /// Whether instructions whose bits PTX does not define are avoided.
    pub portable: bool,
    /// The requested width of address arithmetic in bits, if any.
    pub index_bits: Option<i64>,
    /// Whether a cluster splits each tile.
    pub clustered: bool,
    /// The number of CTAs of a cluster.
    pub ctas: u32,
    /// Registers per thread at launch, if the kernel sets them.
    pub launched_registers: Option<i64>,
    /// Whether iterators of rings wrap around when they step.
    pub ring_positions: RingPositions,
    pub ring_uses: RingUses,
    pub entry: Blk<'c>,
    /// The number of hardware barriers assigned to agents and ping-pong so far.
    pub barriers_used: u64,
    /// Whether dots have been lowered.
    pub multiplies: bool,
    /// The first byte of the CTA's shared memory, once it is used.
    pub shared: Option<Val<'c>>,
    /// The buffer for the arguments of a print, once there is one.
    pub print_buffer: Option<Val<'c>>,
    /// The tensor memory that the kernel has allocated.
    pub tensor_memory: Option<TensorMemoryBase<'c>>,
    /// The address of the borrowed entry for tensor maps, once the function creates maps.
    pub borrowed: Option<Val<'c>>,
    /// Whether that address is in local memory. It is hardly ever used, but until the end of the kernel, and ptxas
    /// spills it anyway where agents divide registers and consumers need nearly all of theirs.
    pub borrows_in_memory: bool,
}

/// The threads that run the code at the insertion point: all of the CTA, or of an agent, counted from its first.
#[derive(Clone, Copy)]
pub(super) struct Threads<'c> {
    pub lane: Val<'c>,
    /// The warp number; in a loop over chunks of registers, the number of the virtual warp.
    pub warp: Val<'c>,
    pub thread: Val<'c>,
    pub warps: u64,
    /// The number of bits of the physical warp's number.
    pub warp_bits: u32,
    /// The hardware barrier of the agent; `None` uses the CTA's barrier.
    pub barrier: Option<u64>,
}

/// What is known about values, by [`key`].
#[derive(Default)]
pub(super) struct Values<'c> {
    pub lowered: FxHashMap<usize, Lowered<'c>>,
    /// For each element extracted from a word: the word and the element's position in it.
    pub origins: RefCell<FxHashMap<usize, (Val<'c>, u32)>>,
    /// The same for 4-bit elements, of which a word has eight.
    pub nibbles: RefCell<FxHashMap<usize, (Val<'c>, u32)>>,
    /// The ring stage of each stage storage.
    pub stages: FxHashMap<usize, Stage<'c>>,
    /// The warpgroup number, by the warp number that it is computed from.
    pub warpgroups: FxHashMap<usize, Val<'c>>,
    /// The state of each ping-pong.
    pub ping_pong: FxHashMap<usize, PingPong<'c>>,
    /// Local memory that arrays share, by the number of its slot.
    pub slots: FxHashMap<i64, Slot<'c>>,
}

/// The lowered form of a value.
#[derive(Clone)]
pub(super) enum Lowered<'c> {
    Scalar(Val<'c>),
    /// One value for each register.
    Fragment(Vec<Val<'c>>),
    /// One word for every two 16-bit or four 8-bit registers: the accumulators of a `wgmma` dot that may be in
    /// flight, or a left operand on its way to one.
    Words(Vec<Val<'c>>),
    /// Words of packed elements of the given type, which users unpack.
    Packed(Vec<Val<'c>>, Type<'c>),
    /// An array in local memory.
    Array(Array<'c>),
    /// A tensor in shared memory: the address of its first byte.
    Shared(Val<'c>),
    /// A tensor in tensor memory: the address of its first lane and column.
    Tensor(Val<'c>),
    /// Views and tokens, which have no value at run time.
    Nothing,
}

impl<'c, 'm> Module<'c, 'm> {
    pub fn new(op: OpRef<'c>, symbols: &'m mut Symbols) -> Self {
        Module { op, symbols: RefCell::new(symbols) }
    }

    /// Defines a symbol at the start of the module, unless it is defined already.
    pub fn define(&self, name: &str, define: impl FnOnce(&Builder<'c>)) {
        if self.symbols.borrow_mut().defined.insert(name.to_string()) {
            define(&self.start());
        }
    }

    /// Returns the name of the table with this content, which `define` defines if it is new.
    pub fn table(&self, content: Vec<u8>, define: impl FnOnce(&Builder<'c>, &str)) -> String {
        let known = self.symbols.borrow().tables.len();
        let number = *self.symbols.borrow_mut().tables.entry(content).or_insert(known);
        let name = format!("__tileir_data_{number}");
        if number == known {
            define(&self.start(), &name);
        }
        name
    }

    fn start(&self) -> Builder<'c> {
        let context = context_of(self.op);
        let body = entry_block(region(self.op, 0)).expect("a module has a body");
        let b = Builder::at_end(context, body, Location::unknown(context));
        b.set_start(body);
        b
    }

    /// Declares an external function.
    pub fn declare(&self, name: &str, result: Type<'c>, arguments: &[Type<'c>]) {
        self.define(name, |b| {
            let mut s = function_state(b, name, llvm::r#type::function(result, arguments, false));
            s.region(melior::ir::Region::new());
            b.insert(s).expect("no inference asked for");
        });
    }
}

/// Returns the state of an `llvm.func` of external linkage without a region.
pub(super) fn function_state<'c>(b: &Builder<'c>, name: &str, t: Type<'c>) -> OperationState<'c> {
    let context: &'c Context = b.context();
    let mut s = b.state("llvm.func");
    s.attr("sym_name", StringAttribute::new(context, name).into());
    s.attr("function_type", TypeAttribute::new(t).into());
    s.attr("CConv", super::parse(context, "#llvm.cconv<ccc>"));
    s.attr("linkage", super::parse(context, "#llvm.linkage<external>"));
    s.attr("visibility_", i64_attr(context, 0));
    s
}

impl<'c> Lower<'c, '_> {
    /// Returns a builder at the start of the kernel, which dominates all uses.
    pub fn at_entry(&self) -> Llvm<'c> {
        let b = Builder::at_end(self.l.context(), self.function.entry, self.l.location());
        b.set_start(self.function.entry);
        Llvm::new(b)
    }
}
