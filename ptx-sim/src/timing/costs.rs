//! The cost of each instruction, from the machine's numbers.
//!
//! The machine does not execute PTX directly. The rules here model the assembler where its output is the same for
//! every kernel. Copies between registers, conversions between address spaces and loads of parameters vanish, and
//! 64-bit integer operations take two instructions. 8-bit float MMAs become conversions and f16 MMAs on a machine that
//! lacks them.

use crate::exec::state::program::{Class, DArg, DInst, MemBase};
use crate::ir::*;
use smallvec::SmallVec;
use tile_machine::{Error, Machine};

/// An execution unit of a scheduler, which accepts one instruction at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pipe {
    None,
    Fma,
    Alu,
    Mufu,
    Pack,
    Convert,
    Tensor,
}

impl Pipe {
    pub const COUNT: usize = 7;
    pub const NAMES: [&'static str; 7] = ["", "fma", "alu", "mufu", "pack", "convert", "tensor"];
}

/// The effects of an instruction in addition to occupying a pipe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    Compute,
    /// A copy without cost: the result is ready when the sources are.
    Alias,
    Shared,
    Exchange {
        redux: bool,
    },
    Memory {
        load: bool,
        atomic: bool,
    },
    CopyAsync,
    CopyCommit,
    CopyWait,
    CopyArrive,
    Barrier {
        arrive: bool,
    },
    Mbarrier(MbarrierOp),
    Bulk {
        load: bool,
        engine: Engine,
    },
    BulkCommit,
    BulkWait {
        /// Waits only until shared memory has been read.
        read: bool,
    },
    Wgmma {
        clk: f64,
        /// Clocks from the end of the operation until its completion is visible.
        completion: f64,
        /// Bits of an operand element.
        bits: u32,
    },
    WgmmaCommit,
    WgmmaWait,
    /// An operation of the tensor core on tensor memory: `tcgen05` MMAs, copies and shifts.
    TensorCore {
        /// Clocks for each column of D; the event holds the number of columns. 0 for copies and shifts.
        column: f64,
        /// Additional clocks.
        clk: f64,
        /// Whether two SMs execute it together.
        pair: bool,
    },
    TensorCommit,
    /// A warp's access to its lanes of tensor memory.
    TensorMemory {
        load: bool,
        clk: f64,
    },
    TensorWait {
        load: bool,
    },
    TensorAlloc,
    TensorFree,
    Setmaxnreg {
        clk: f64,
    },
    /// A request of cluster launch control, which is answered after this time.
    Request {
        latency: f64,
    },
    /// Reads `%clock`.
    Clock,
    Control,
}

/// How far an instruction may move within its basic block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Free,
    Load(Space),
    Store(Space),
    /// No instruction may move across it.
    Fixed,
}

/// The static cost of an instruction.
#[derive(Clone, Debug)]
pub(crate) struct InstCost {
    pub pipe: Pipe,
    /// Issue slots, and clocks during which the pipe is occupied.
    pub issues: f64,
    pub interval: f64,
    pub latency: f64,
    pub effect: Effect,
    pub order: Order,
    /// Bytes per lane moved to or from global memory.
    pub bytes: u32,
    /// Registers: planes, and predicates numbered from [`PREDICATES`].
    pub reads: SmallVec<[u32; 8]>,
    pub writes: SmallVec<[u32; 4]>,
    /// Clocks during which it occupies the register ports; known only for instructions of an image.
    pub ports: f64,
    /// The control code, for an instruction of an image; register dependences are then ignored.
    pub control: Option<Control>,
    /// For an instruction of an image with a control code, its relation to blocks of the PTX.
    pub bridge: Option<Box<Bridge>>,
}

/// Registers of the PTX that connect a block of an image with blocks of the PTX.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bridge {
    /// The registers that the replaced block reads before it writes them. Only the first instruction has them.
    pub needs: Vec<u32>,
    /// The registers that get the result of the instruction.
    pub results: Vec<u32>,
}

/// The part of an instruction's encoding that controls when the warp's next instruction may issue. The assembler
/// covers results of fixed latency with a number of clocks. For others the machine counts the operations in flight
/// with six scoreboards, here called *boards*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Control {
    /// Clocks until the warp's next instruction may issue.
    pub stall: u8,
    /// The boards that must be empty before this instruction, one bit each.
    pub wait: u8,
    /// The boards that count this instruction until its result is ready, and until its operands have been read.
    pub result: Option<u8>,
    pub operands: Option<u8>,
}

pub(crate) const BOARDS: usize = 6;

impl Control {
    /// Decodes the second word of an encoding, whose bits from 41 up hold the control code.
    pub fn of(word: u64) -> Control {
        let field = |at: u32, bits: u32| (word >> (41 + at) & ((1 << bits) - 1)) as u8;
        let board = |n: u8| (usize::from(n) < BOARDS).then_some(n);
        Control { stall: field(0, 4), wait: field(11, 6), result: board(field(5, 3)), operands: board(field(8, 3)) }
    }

    /// The control code of an implied operation, which nothing waits for.
    pub const SILENT: Control = Control { stall: 0, wait: 0, result: None, operands: None };
}

/// The first register number used for predicates.
pub(crate) const PREDICATES: u32 = 1 << 24;

/// Defines a struct of machine numbers.
macro_rules! numbers {
    (
        $(#[$meta:meta])*
        $name:ident { $($field:ident = $key:literal),* $(,)? } $({ $($group:ident: $type:ident),* })?
    ) => {
        $(#[$meta])*
        pub(crate) struct $name { $(pub $field: f64,)* $($(pub $group: Result<$type, Error>),*)? }

        impl $name {
            pub fn of(machine: &Machine) -> Result<$name, Error> {
                Ok($name { $($field: machine.get($key)?,)* $($($group: $type::of(machine)),*)? })
            }
        }
    };
}

numbers! {
    /// Numbers of `wgmma`, and of instructions that execute concurrently with it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    Wgmma {
        n256 = "wgmma.f16.n256.interval",
        completion = "wgmma.completion",
        shared = "wgmma.chain.shared",
        registers = "wgmma.chain.registers",
        fma_beside = "pipe.fma.beside_wgmma",
        alu_beside = "pipe.alu.beside_wgmma",
        mufu_beside = "pipe.mufu.beside_wgmma",
        pack_beside = "pipe.pack.beside_wgmma",
        shuffle_beside = "pipe.shuffle.beside_wgmma",
    }
}

numbers! {
    /// Numbers of `tcgen05` and tensor memory. Intervals are for MMAs with 128 rows, 256 columns and 32 bytes of K.
    #[derive(Clone, Copy, Debug, PartialEq)]
    Tcgen05 {
        tf32 = "tcgen05.tf32.n256.interval",
        f16 = "tcgen05.f16.n256.interval",
        f8 = "tcgen05.f8.n256.interval",
        i8 = "tcgen05.i8.n256.interval",
        f4 = "tcgen05.f4.n256.interval",
        completion = "tcgen05.completion",
        shift = "tcgen05.shift.interval",
        load_rate = "tcgen05.ld.rate",
        load = "tcgen05.ld.latency",
        store_rate = "tcgen05.st.rate",
        store = "tcgen05.st.latency",
        alloc = "tcgen05.alloc.latency",
        columns = "tcgen05.columns",
        shared_rate = "shared.bytes_per_clk",
    }
}

numbers! {
    /// Numbers of the copy engine.
    #[derive(Clone, Copy, Debug, PartialEq)]
    Engine {
        l2_8 = "tma.l2.latency.8kb",
        l2_16 = "tma.l2.latency.16kb",
        l2_32 = "tma.l2.latency.32kb",
        l2_48 = "tma.l2.latency.48kb",
        dram_8 = "tma.dram.latency.8kb",
        dram_48 = "tma.dram.latency.48kb",
        store = "tma.store.latency.8kb",
        issue = "tma.issue",
    }
}

numbers! {
    /// Numbers of `setmaxnreg`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    Setmaxnreg {
        dec = "setmaxnreg.dec",
        inc = "setmaxnreg.inc",
    }
}

numbers! {
    /// Numbers of 8-bit float MMAs, and of the instructions that an assembler adds to them.
    #[derive(Clone, Copy, Debug, PartialEq)]
    ProductF8 {
        interval = "mma.f8.m16n8k32.interval",
        products = "mma.f8.m16n8k32.products",
        conversions = "mma.f8.m16n8k32.conversions",
        additions = "mma.f8.m16n8k32.additions",
    }
}

numbers! {
    /// Numbers of cluster launch control.
    #[derive(Clone, Copy, Debug, PartialEq)]
    LaunchControl {
        latency = "clc.latency",
    }
}

numbers! {
    /// Numbers of block-scaled 8-bit float MMAs.
    #[derive(Clone, Copy, Debug, PartialEq)]
    ProductMx8 {
        interval = "mma.mxf8.m16n8k32.interval",
    }
}

numbers! {
    /// Numbers of block-scaled 4-bit float MMAs.
    #[derive(Clone, Copy, Debug, PartialEq)]
    ProductF4 {
        interval = "mma.f4.m16n8k64.interval",
    }
}

numbers! {
    /// The machine numbers that the model uses. Every program needs the plain fields. The groups are for instructions
    /// that some machines lack; if a group is missing, programs without the instruction can still be timed.
    #[derive(Clone, Debug)]
    Costs {
        sms = "sm.count",
        schedulers = "sm.schedulers",
        warps = "sm.warps",
        blocks = "sm.blocks",
        registers = "sm.registers",
        register_unit = "sm.registers_per_warp_unit",
        shared_bytes = "sm.shared_bytes",
        l1_bytes = "sm.l1_and_shared_bytes",
        shared_reserved = "sm.shared_reserved",
        clock = "clock.max",
        fma = "pipe.fma.interval",
        fma_double = "pipe.fma_double.interval",
        fma_half = "pipe.fma_half.interval",
        alu = "pipe.alu.interval",
        imad = "pipe.imad.interval",
        mufu = "pipe.mufu.interval",
        pack = "pipe.pack.interval",
        convert = "pipe.convert.interval",
        shuffle = "pipe.shuffle.passes",
        redux = "pipe.redux.passes",
        latency_alu = "latency.alu",
        latency_fma = "latency.fma",
        latency_wide = "latency.wide",
        latency_mufu = "latency.mufu",
        latency_convert = "latency.convert",
        latency_special = "latency.special",
        latency_shuffle = "latency.shuffle",
        latency_redux = "latency.redux",
        latency_predicate = "latency.predicate",
        latency_shared = "latency.shared",
        latency_l1 = "latency.l1",
        latency_matrix = "latency.matrix_load",
        latency_l2 = "latency.l2",
        latency_dram = "latency.dram",
        mma_f16 = "mma.f16.m16n8k16.interval",
        mma_tf32 = "mma.tf32.m16n8k8.interval",
        mma_i8 = "mma.i8.m16n8k32.interval",
        mma_f64 = "mma.f64.m8n8k4.interval",
        mma_f16_sum = "mma.f16_sum.share",
        mma_latency = "mma.latency",
        l2_one = "l2.one_sm",
        l2_private = "l2.all_private",
        l2_shared = "l2.all_shared",
        dram_rate = "dram.rate",
        store_rate = "store.one_sm",
        store_all = "store.all_sms",
        store_phases = "store.phases",
        dram_write = "dram.write_rate",
        store_partial = "store.partial_sector",
        store_partial_bytes = "store.partial_sector_bytes",
        barrier = "barrier.named",
        mbarrier_edge = "mbarrier.edge",
        mbarrier_hit = "mbarrier.hit",
        sector = "cache.sector_bytes",
        sectors_of_line = "cache.sectors_of_line",
        minmax_operands = "code.minmax.f32.operands",
        divide_32 = "code.div.i32.instructions",
        divide_64 = "code.div.i64.instructions",
        divide_32_latency = "code.div.i32.latency",
        divide_64_latency = "code.div.i64.latency",
        add_64 = "code.add.i64.instructions",
        minmax_64 = "code.minmax.i64.instructions",
        multiply_64 = "code.mul.i64.instructions",
        several_64_latency = "code.mul.i64.latency",
        divide_exact = "code.div.f32.exact.instructions",
        divide_exact_latency = "code.div.f32.exact.latency",
        divide_approx = "code.div.f32.approx.instructions",
        divide_approx_latency = "code.div.f32.approx.latency",
        exp_scaled = "code.ex2.f32.scaled.instructions",
        exp_scaled_latency = "code.ex2.f32.scaled.latency",
        code_window = "code.window",
        even_rounds = "launch.even_rounds",
        registers_most = "sm.registers_per_thread",
        registers_least = "code.registers.least",
        registers_step = "code.registers.step",
        launch = "launch.overhead",
        launch_block = "launch.block",
        atomic_rate = "atomic.rate",
        latency_operands = "latency.operands",
        beyond_l2 = "latency.beyond_l2",
        store_pause = "store.pause",
    } {
        wgmma: Wgmma, tcgen05: Tcgen05, engine: Engine, setmaxnreg: Setmaxnreg, product_f8: ProductF8,
        product_mx8: ProductMx8, product_f4: ProductF4, control: LaunchControl
    }
}

/// Bandwidth of one SM, in bytes per clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bandwidth {
    pub l2: f64,
    /// Reads from memory, and writes to it.
    pub dram: f64,
    pub dram_write: f64,
    /// Stores to L2, from one SM alone and when all SMs store at the same time.
    pub store: f64,
    pub store_all: f64,
}

/// Why an instruction has no cost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoCost {
    /// The instruction is unknown to the model.
    Unknown,
    /// The machine lacks a number.
    Number(Error),
}

fn of<T: Clone>(group: &Result<T, Error>) -> Result<T, NoCost> {
    group.clone().map_err(NoCost::Number)
}

/// Pipe, issue slots, clocks during which the pipe is occupied, latency, and the other [`InstCost`] fields that do not
/// depend on registers.
type BaseCost = (Pipe, f64, f64, f64, Effect, Order);

impl Engine {
    /// Clocks of a tensor load in isolation, interpolated between measured sizes.
    pub fn latency(&self, bytes: f64, dram_share: f64) -> f64 {
        let points = [(8.0, self.l2_8), (16.0, self.l2_16), (32.0, self.l2_32), (48.0, self.l2_48)];
        let kb = bytes / 1024.0;
        let i = points.iter().position(|(x, _)| kb <= *x).unwrap_or(points.len() - 1).max(1);
        let ((x0, y0), (x1, y1)) = (points[i - 1], points[i]);
        let l2 = y0 + (y1 - y0) * (kb - x0) / (x1 - x0);
        let (d0, d1) = (self.dram_8 - self.l2_8, self.dram_48 - self.l2_48);
        let dram = d0 + (d1 - d0) * (kb - 8.0) / (48.0 - 8.0);
        l2.max(0.0) + dram_share * dram.max(0.0)
    }
}

impl Tcgen05 {
    fn kind(&self, op: &Tcgen05Op) -> BaseCost {
        let fixed = |latency, effect| (Pipe::None, 1.0, 0.0, latency, effect, Order::Fixed);
        // Each lane of the warp holds one word of each register.
        let bytes = |shape: TmemShape, num: u8, halves: bool| {
            let registers = (usize::from(num) * shape.words()) << usize::from(halves);
            32.0 * 4.0 * registers as f64
        };
        match *op {
            Tcgen05Op::Mma { kind, cta_group, .. } => {
                let n256 = match kind {
                    MmaKind::Tf32 => self.tf32,
                    MmaKind::F16 => self.f16,
                    MmaKind::F8f6f4 | MmaKind::Mxf8f6f4 => self.f8,
                    MmaKind::I8 => self.i8,
                    MmaKind::Mxf4 | MmaKind::Mxf4nvf4 => self.f4,
                };
                let work = Effect::TensorCore { column: n256 / 256.0, clk: 0.0, pair: cta_group == 2 };
                fixed(self.completion, work)
            }
            Tcgen05Op::Cp { .. } => fixed(self.completion, Effect::TensorCore { column: 0.0, clk: 0.0, pair: false }),
            Tcgen05Op::Shift { .. } => {
                fixed(self.completion, Effect::TensorCore { column: 0.0, clk: self.shift, pair: false })
            }
            Tcgen05Op::Commit { .. } => fixed(0.0, Effect::TensorCommit),
            Tcgen05Op::Ld { shape, num, pack16 } => {
                let clk = bytes(shape, num, pack16) / self.load_rate;
                fixed(self.load, Effect::TensorMemory { load: true, clk })
            }
            Tcgen05Op::St { shape, num, unpack16 } => {
                let clk = bytes(shape, num, unpack16) / self.store_rate;
                fixed(self.store, Effect::TensorMemory { load: false, clk })
            }
            Tcgen05Op::WaitLd => fixed(0.0, Effect::TensorWait { load: true }),
            Tcgen05Op::WaitSt => fixed(0.0, Effect::TensorWait { load: false }),
            Tcgen05Op::Alloc { .. } => fixed(self.alloc, Effect::TensorAlloc),
            Tcgen05Op::Dealloc { .. } => fixed(0.0, Effect::TensorFree),
            Tcgen05Op::RelinquishAllocPermit { .. } | Tcgen05Op::FenceBefore | Tcgen05Op::FenceAfter => {
                fixed(0.0, Effect::Compute)
            }
        }
    }
}

impl Costs {
    /// The cost of an instruction.
    pub fn inst_cost(&self, inst: &DInst) -> Result<InstCost, NoCost> {
        let (pipe, issues, interval, latency, effect, order) = self.kind(inst)?;
        let bytes = match &inst.op {
            Op::Ld(a) | Op::St(a) => a.ty.bytes() * u32::from(a.vec),
            Op::Atom(m) | Op::Red(m) => m.ty.bytes() * u32::from(m.vec),
            Op::Multimem(m) => m.ty.bytes() * u32::from(m.vec),
            _ => 0,
        };
        let (reads, writes) = (SmallVec::new(), SmallVec::new());
        let mut slot = InstCost {
            pipe,
            issues,
            interval,
            latency,
            effect,
            order,
            bytes,
            reads,
            writes,
            ports: 0.0,
            control: None,
            bridge: None,
        };
        let written = destinations(inst);
        for (i, arg) in inst.args.iter().enumerate() {
            if i < written {
                registers(arg, &mut slot.writes);
            } else {
                registers(arg, &mut slot.reads);
            }
        }
        if let Some((p, _)) = inst.guard {
            slot.reads.push(PREDICATES + p);
        }
        Ok(slot)
    }

    fn kind(&self, inst: &DInst) -> Result<BaseCost, NoCost> {
        use Effect::*;
        let free = |pipe, issues: f64, interval: f64, latency| (pipe, issues, interval, latency, Compute, Order::Free);
        let alu = |n: f64| free(Pipe::Alu, n, n * self.alu, if n > 1.0 { self.latency_wide } else { self.latency_alu });
        let fixed = |effect| (Pipe::None, 1.0, 0.0, 0.0, effect, Order::Fixed);
        let words = |ty: &Type| f64::from(ty.bits().div_ceil(32).max(1));
        let alias = (Pipe::None, 0.0, 0.0, 0.0, Alias, Order::Free);
        Ok(match &inst.op {
            Op::Mov { .. } if matches!(inst.args.get(1), Some(DArg::Special(s)) if s.is_clock()) => fixed(Clock),
            Op::Mov { .. } if matches!(inst.args.get(1), Some(DArg::Special(_))) => {
                free(Pipe::Alu, 1.0, self.alu, self.latency_special)
            }
            Op::Mov { .. } | Op::Cvta { .. } | Op::Createpolicy | Op::Hint { .. } | Op::Nop => alias,
            Op::Int { op, ty, .. } => self.integer(*op, ty),
            Op::Carry { .. } => alu(1.0),
            Op::Dot { .. } => free(Pipe::Fma, 1.0, self.imad, self.latency_alu),
            Op::Bits { op: BitOp::Popc | BitOp::Clz | BitOp::Brev | BitOp::Bfind { .. }, .. } => {
                free(Pipe::Convert, 1.0, self.convert, self.latency_convert)
            }
            Op::Bits { ty, .. } => alu(words(ty)),
            Op::Setp { ty, .. } | Op::Set { ty, .. } => {
                let n = if ty.is_float() { 1.0 } else { words(ty) };
                free(Pipe::Alu, n, n * self.alu, self.latency_predicate)
            }
            Op::Testp { .. } | Op::Isspacep { .. } | Op::Slct { .. } => alu(1.0),
            Op::Selp { ty } => alu(words(ty)),
            Op::Float { op, ty, m } => self.float(*op, ty, m),
            Op::MixedFloat { .. } => free(Pipe::Fma, 1.0, self.fma, self.latency_fma),
            Op::Cvt(m) => self.conversion(m),
            Op::CvtPack { .. } => free(Pipe::Pack, 1.0, self.pack, self.latency_alu),
            Op::Ld(a) => match a.space {
                Space::Param | Space::ParamEntry | Space::ParamFunc | Space::Const => alias,
                space if is_shared(space) => {
                    (Pipe::None, 1.0, 0.0, self.latency_shared, Shared, load_order(a.sem, Space::Shared))
                }
                _ => {
                    (Pipe::None, 1.0, 0.0, 0.0, Memory { load: true, atomic: false }, load_order(a.sem, Space::Global))
                }
            },
            Op::St(a) if is_shared(a.space) => (Pipe::None, 1.0, 0.0, 0.0, Shared, Order::Store(Space::Shared)),
            Op::St(a) if matches!(a.space, Space::Param | Space::ParamFunc) => alias,
            Op::St(_) => {
                (Pipe::None, 1.0, 0.0, 0.0, Memory { load: false, atomic: false }, Order::Store(Space::Global))
            }
            Op::Atom(m) | Op::Red(m) if is_shared(m.space) => {
                (Pipe::None, 1.0, 0.0, self.latency_shared, Shared, Order::Fixed)
            }
            Op::Atom(m) | Op::Red(m) => {
                let load = matches!(inst.op, Op::Atom(_));
                let order = if m.sem == Sem::Relaxed { Order::Store(Space::Global) } else { Order::Fixed };
                (Pipe::None, 1.0, 0.0, 0.0, Memory { load, atomic: true }, order)
            }
            Op::Multimem(m) => {
                // Costs as much as an update of local memory; the cost of the other members has not been measured.
                let load = matches!(m.kind, MultimemKind::LdReduce { .. });
                (Pipe::None, 1.0, 0.0, 0.0, Memory { load, atomic: true }, Order::Fixed)
            }
            Op::Ldmatrix(_) => (Pipe::None, 1.0, 0.0, self.latency_matrix, Shared, Order::Load(Space::Shared)),
            Op::Stmatrix(_) => (Pipe::None, 1.0, 0.0, 0.0, Shared, Order::Store(Space::Shared)),
            Op::Movmatrix => (Pipe::None, 1.0, 0.0, self.latency_shuffle, Exchange { redux: false }, Order::Free),
            Op::Mma(m) => self.product(m)?,
            Op::Shfl { .. } => (Pipe::None, 1.0, 0.0, self.latency_shuffle, Exchange { redux: false }, Order::Free),
            Op::Redux { .. } | Op::Match { .. } => {
                (Pipe::None, 1.0, 0.0, self.latency_redux, Exchange { redux: true }, Order::Free)
            }
            Op::Vote { .. } | Op::Activemask | Op::Elect => free(Pipe::Alu, 1.0, self.alu, self.latency_redux),
            Op::BarWarpSync => fixed(Compute),
            Op::Bar { kind, .. } => fixed(Barrier { arrive: *kind == BarKind::Arrive }),
            Op::CpAsync { .. } => (Pipe::None, 1.0, 0.0, 0.0, CopyAsync, Order::Store(Space::Shared)),
            Op::CpAsyncCommit => fixed(CopyCommit),
            Op::CpAsyncWait { .. } => fixed(CopyWait),
            Op::CpAsyncMbarrierArrive { .. } => fixed(CopyArrive),
            Op::Mbarrier(op) => fixed(Mbarrier(*op)),
            Op::CpBulk(m) if !m.prefetch => fixed(Bulk { load: m.dst != Space::Global, engine: of(&self.engine)? }),
            Op::CpTensor(m) if m.kind != TensorCopyKind::Prefetch => {
                fixed(Bulk { load: m.kind == TensorCopyKind::Load, engine: of(&self.engine)? })
            }
            Op::BulkCommit => fixed(BulkCommit),
            Op::BulkWait { read } => fixed(BulkWait { read: *read }),
            Op::Wgmma(m) => {
                let numbers = of(&self.wgmma)?;
                let depth = f64::from(m.k) * f64::from(m.aty.bits()) / 256.0;
                let clk = numbers.n256 * f64::from(m.n) / 256.0 * depth;
                let latency = if matches!(inst.args[1], DArg::Vec(_)) { numbers.registers } else { numbers.shared };
                let effect = Wgmma { clk, completion: numbers.completion, bits: m.aty.bits() };
                (Pipe::None, 1.0, 0.0, latency, effect, Order::Fixed)
            }
            Op::WgmmaCommit => fixed(WgmmaCommit),
            Op::WgmmaWait => fixed(WgmmaWait),
            Op::Setmaxnreg { inc } => {
                let numbers = of(&self.setmaxnreg)?;
                fixed(Setmaxnreg { clk: if *inc { numbers.inc } else { numbers.dec } })
            }
            Op::Tcgen05(op) => of(&self.tcgen05)?.kind(op),
            Op::Cluster(ClusterControl::TryCancel { .. }) => fixed(Request { latency: of(&self.control)?.latency }),
            Op::Cluster(_) => alu(1.0),
            Op::StAsync { .. } | Op::RedAsync { .. } => return Err(NoCost::Unknown),
            _ if inst.class == Class::Control => fixed(Control),
            _ => fixed(Compute),
        })
    }

    fn integer(&self, op: IntOp, ty: &Type) -> BaseCost {
        let wide = ty.bits() > 32;
        let (pipe, issues, latency) = match (op, wide) {
            (IntOp::Add | IntOp::Sub | IntOp::Min | IntOp::Max | IntOp::Abs | IntOp::Neg | IntOp::Sad, false) => {
                (Pipe::Alu, 1.0, self.latency_alu)
            }
            (IntOp::Add | IntOp::Sub | IntOp::Abs | IntOp::Neg, true) => (Pipe::Alu, self.add_64, self.latency_wide),
            (IntOp::Min | IntOp::Max, true) => (Pipe::Alu, self.minmax_64, self.several_64_latency),
            (IntOp::Div | IntOp::Rem, false) => (Pipe::Alu, self.divide_32, self.divide_32_latency),
            (IntOp::Div | IntOp::Rem, true) => (Pipe::Alu, self.divide_64, self.divide_64_latency),
            (_, false) => (Pipe::Fma, 1.0, self.latency_alu),
            (_, true) => (Pipe::Fma, self.multiply_64, self.several_64_latency),
        };
        let interval = if pipe == Pipe::Fma { self.imad } else { self.alu };
        (pipe, issues, issues * interval, latency, Effect::Compute, Order::Free)
    }

    fn float(&self, op: FloatOp, ty: &Type, m: &FloatMods) -> BaseCost {
        let half = ty.bits() <= 16 || matches!(ty, Type::F16x2 | Type::BF16x2);
        let arithmetic = match ty {
            Type::F64 => self.fma_double,
            // One instruction for two results; the rate of results is that of single ones.
            Type::F32x2 => 2.0 * self.fma,
            _ if half => self.fma_half,
            _ => self.fma,
        };
        let exact = m.accuracy == Accuracy::Ieee;
        let (pipe, issues, interval, latency) = match op {
            FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Fma => (Pipe::Fma, 1.0, arithmetic, self.latency_fma),
            FloatOp::Abs | FloatOp::Neg | FloatOp::Min | FloatOp::Max | FloatOp::Copysign => {
                (Pipe::Alu, 1.0, self.alu, self.latency_alu)
            }
            FloatOp::Div | FloatOp::Rcp | FloatOp::Sqrt if exact => {
                (Pipe::Mufu, self.divide_exact, self.mufu, self.divide_exact_latency)
            }
            FloatOp::Div => (Pipe::Mufu, self.divide_approx, self.mufu, self.divide_approx_latency),
            // Without flushing, the argument and the result of an exponential are scaled to handle subnormal results.
            FloatOp::Ex2 if !m.ftz && !half => (Pipe::Mufu, self.exp_scaled, self.mufu, self.exp_scaled_latency),
            _ => (Pipe::Mufu, 1.0, self.mufu, self.latency_mufu),
        };
        (pipe, issues, interval, latency, Effect::Compute, Order::Free)
    }

    fn conversion(&self, m: &CvtMods) -> BaseCost {
        let (from, to) = (m.sty.is_float(), m.dty.is_float());
        let (pipe, issues, interval, latency) = match (from, to) {
            (false, false) if m.dty.bits() <= m.sty.bits() => (Pipe::None, 0.0, 0.0, 0.0),
            (false, false) => (Pipe::Alu, 1.0, self.alu, self.latency_alu),
            (true, true) if m.sty.bits() <= 32 && m.dty.bits() <= 32 => (Pipe::Pack, 1.0, self.pack, self.latency_alu),
            _ => (Pipe::Convert, 1.0, self.convert, self.latency_convert),
        };
        let effect = if issues == 0.0 { Effect::Alias } else { Effect::Compute };
        (pipe, issues, interval, latency, effect, Order::Free)
    }

    fn product(&self, m: &MmaMods) -> Result<BaseCost, NoCost> {
        let macs = f64::from(m.m) * f64::from(m.n) * f64::from(m.k);
        let share = |m: f64, n: f64, k: f64| macs / (m * n * k);
        // Sums in f16 are faster on machines whose rate of f32 sums is limited.
        let sum = if m.dty == Type::F16 { self.mma_f16_sum } else { 1.0 };
        let (issues, interval, latency) = match (m.aty, m.aty.bits()) {
            (Type::F64, _) => (1.0, self.mma_f64 * share(8.0, 8.0, 4.0), self.mma_latency),
            (Type::TF32, _) => (1.0, self.mma_tf32 * share(16.0, 8.0, 8.0), self.mma_latency),
            _ if matches!(m.kind, Some(MmaKind::Mxf4 | MmaKind::Mxf4nvf4)) => {
                (1.0, of(&self.product_f4)?.interval * share(16.0, 8.0, 64.0), self.mma_latency)
            }
            _ if m.kind == Some(MmaKind::Mxf8f6f4) => {
                (1.0, of(&self.product_mx8)?.interval * share(16.0, 8.0, 32.0), self.mma_latency)
            }
            (Type::E4M3 | Type::E5M2 | Type::E3M2 | Type::E2M3 | Type::E2M1, _) => {
                // The same scheduler issues the conversions and additions on its other pipes.
                let numbers = of(&self.product_f8)?;
                let n = share(16.0, 8.0, 32.0);
                let extra = numbers.conversions + numbers.additions;
                // A machine with native 8-bit float MMA needs neither.
                let beside = numbers.conversions * self.pack + if extra > 0.0 { self.latency_fma } else { 0.0 };
                let sum = if extra > 0.0 { 1.0 } else { sum };
                (numbers.products + extra * n, numbers.interval * sum * n, self.mma_latency + beside)
            }
            (_, bits) if bits <= 8 => (1.0, self.mma_i8 * share(16.0, 8.0, 32.0), self.mma_latency),
            _ => (1.0, self.mma_f16 * sum * share(16.0, 8.0, 16.0), self.mma_latency),
        };
        Ok((Pipe::Tensor, issues, interval, latency, Effect::Compute, Order::Free))
    }

    /// The interval of a pipe while the tensor core reads shared memory for a `wgmma`.
    pub fn beside_wgmma(&self, pipe: Pipe, interval: f64) -> f64 {
        // A machine without `wgmma` has no such slowdown.
        let Ok(beside) = &self.wgmma else { return interval };
        let factor = match pipe {
            Pipe::Fma => beside.fma_beside / self.fma,
            Pipe::Alu => beside.alu_beside / self.alu,
            Pipe::Mufu => beside.mufu_beside / self.mufu,
            Pipe::Pack | Pipe::Convert => beside.pack_beside / self.pack,
            Pipe::None | Pipe::Tensor => 1.0,
        };
        interval * factor
    }
}

pub(crate) fn is_shared(space: Space) -> bool {
    matches!(space, Space::Shared | Space::SharedCta | Space::SharedCluster)
}

fn load_order(sem: Sem, space: Space) -> Order {
    if sem == Sem::Weak { Order::Load(space) } else { Order::Fixed }
}

/// The number of leading operands that are written.
fn destinations(inst: &DInst) -> usize {
    match &inst.op {
        Op::St(_) | Op::StBulk { .. } | Op::Red(_) | Op::Stmatrix(_) | Op::Wgmma(_) | Op::CpAsync { .. } => 0,
        Op::Multimem(m) => usize::from(matches!(m.kind, MultimemKind::LdReduce { .. })),
        Op::CpBulk(_) | Op::CpTensor(_) | Op::Bra { .. } | Op::BrxIdx | Op::Call | Op::Hint { .. } => 0,
        Op::Bar { kind, .. } => usize::from(!matches!(kind, BarKind::Sync | BarKind::Arrive)),
        Op::Setp { .. } | Op::Shfl { .. } | Op::Match { .. } | Op::Elect => 2,
        Op::Mbarrier(MbarrierOp::Wait { .. }) => 1,
        Op::Mbarrier(_) => usize::from(!matches!(inst.args.first(), Some(DArg::Mem(..)))),
        Op::Tcgen05(op) => usize::from(matches!(**op, Tcgen05Op::Ld { .. })),
        _ if matches!(inst.class, Class::Async | Class::Control | Class::Barrier) => 0,
        _ => 1,
    }
}

fn registers<A: smallvec::Array<Item = u32>>(arg: &DArg, out: &mut SmallVec<A>) {
    match arg {
        DArg::R(slot, bits) => out.extend((0..u32::from(*bits).div_ceil(32)).map(|i| slot + i)),
        DArg::P(p) | DArg::NotP(p) => out.push(PREDICATES + p),
        DArg::Mem(base, _) => base_registers(*base, out),
        DArg::Vec(items) => items.iter().for_each(|a| registers(a, out)),
        DArg::Tensor(t) => {
            base_registers(t.map, out);
            t.coords.iter().for_each(|c| registers(c, out));
        }
        _ => {}
    }
}

fn base_registers<A: smallvec::Array<Item = u32>>(base: MemBase, out: &mut SmallVec<A>) {
    match base {
        MemBase::R32(slot) => out.push(slot),
        MemBase::R64(slot) => out.extend([slot, slot + 1]),
        _ => {}
    }
}
