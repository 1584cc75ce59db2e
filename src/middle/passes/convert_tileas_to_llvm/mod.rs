//! `convert-tileas-to-llvm` lowers a tile program to the program of one thread.
//!
//! The pass builds a new function next to the old one and then erases the old one, so no function is ever partly
//! converted. A tensor becomes one SSA value for each register of its layout. A scalar stays one value. Views and
//! tokens have no values at run time; the translation only records facts about them. Structured control flow becomes
//! blocks whose arguments are the flattened values. One match over the ops drives the translation; an op without an
//! arm is an error at its location.

mod agents;
mod array;
mod async_copy;
mod atomic;
mod block_scale;
mod combine;
mod constant;
mod control;
mod data;
mod dot;
mod exchange;
mod global;
mod groups;
mod llvm;
mod missed_remarks;
mod movement;
mod multimem;
mod nibble;
mod ping_pong;
mod print;
mod reduce;
mod rings;
mod scalar;
mod scale_factors;
mod scan;
mod shape;
mod shared;
mod tma;
mod transfer;
mod transpose;
mod warpgroup;
mod words;

use crate::{
    analysis::{rings::RingPositions, warps::warps_of},
    dialect::{
        attributes::{ADDRESSES_IN_LOOP, MAX_REGISTERS, MIN_BLOCKS, MULTIPLIES, NUM_CTAS, NUM_WARPS, NVVM_KERNEL},
        debug_scope,
        hints::int_hint,
        layouts::Tensor,
        llvm_types::element_type,
        location,
        loops::loops_around,
        nv_tileaa::{self, MemTokenType},
        nv_tileas,
        pass::{Failed, PassContext, RustPass, context_of, descriptors, fail},
        rt::*,
        target::target,
        types::is_llvm_pointer,
        upstream::{Arith, Math, Scf, Ub},
    },
    pass_descriptor,
};
use llvm::Llvm;
use melior::{
    Context,
    dialect::llvm as ll,
    ir::{
        Attribute, Location, Region, Type,
        attribute::{ArrayAttribute, StringAttribute, TypeAttribute},
    },
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use tile_layout::{Input, Layout, LinearExpr, Term};
use tile_targets::{Feature, Target};

#[derive(Clone, Default)]
pub struct ConvertTileASToLLVM;

impl RustPass for ConvertTileASToLLVM {
    pass_descriptor!(convert_tileas_to_llvm);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let options = descriptors::convert_tileas_to_llvm::Options(cx);
        let target = target(op, options.compute_capability())?;
        let index_bits = match options.index_bitwidth() {
            0 => None,
            bits @ (32 | 64) => Some(bits),
            bits => return Err(fail(op, format!("index-bitwidth must be 32 or 64, or 0 to choose, got {bits}"))),
        };
        let functions = collect_ops(op, nv_tileaa::FuncOp::cast);
        let mut declared: FxHashMap<usize, Symbols> = FxHashMap::default();
        for function in functions {
            let module = parent_op(function.op()).ok_or_else(|| fail(function.op(), "function is not in a module"))?;
            let known = declared.entry(op_key(module)).or_default();
            Lower::function(function, module, (target, index_bits), known)?;
            erase(function.op());
        }
        let globals = collect_ops(op, nv_tileaa::GlobalOp::cast);
        globals.into_iter().try_for_each(|g| data::global(g, context))
    }
}

/// The symbols that a module gains besides its functions.
#[derive(Default)]
struct Symbols {
    declared: FxHashSet<String>,
    /// The number of each constant data table, by content.
    data: FxHashMap<Vec<u8>, usize>,
}

/// The lowered form of a value.
#[derive(Clone)]
enum Lowered<'c> {
    Scalar(Val<'c>),
    /// One value for each register.
    Fragment(Vec<Val<'c>>),
    /// One word for every two 16-bit or four 8-bit registers: the accumulators of a `wgmma` dot that may be in
    /// flight, or a left operand on its way to one.
    Words(Vec<Val<'c>>),
    /// Words of packed elements of the given type, which users unpack.
    Packed(Vec<Val<'c>>, Type<'c>),
    /// An array in local memory.
    Array(array::Array<'c>),
    /// A tensor in shared memory: the address of its first byte.
    Shared(Val<'c>),
    /// Views and tokens, which have no value at run time.
    Nothing,
}

/// The translation of one function.
struct Lower<'c, 'm> {
    l: Llvm<'c>,
    target: &'static Target,
    /// The requested width of address arithmetic in bits, if any.
    index_bits: Option<i64>,
    module: OpRef<'c>,
    /// External functions already declared in the module.
    declared: RefCell<&'m mut FxHashSet<String>>,
    data: RefCell<&'m mut FxHashMap<Vec<u8>, usize>>,
    values: FxHashMap<usize, Lowered<'c>>,
    ring_positions: RingPositions,
    /// The ring stage of each stage storage.
    stages: FxHashMap<usize, rings::Stage<'c>>,
    /// The function's entry block.
    entry: Blk<'c>,
    lane: Val<'c>,
    /// The warp number; in a loop over chunks of registers, the number of the virtual warp.
    warp: Val<'c>,
    /// The number of bits of the physical warp's number.
    warp_bits: u32,
    thread: Val<'c>,
    warps: u64,
    /// Whether a cluster splits each tile.
    clustered: bool,
    /// The hardware barrier of the current agent; `None` uses the CTA's barrier.
    barrier_id: Option<u64>,
    /// Registers per thread at launch, if the kernel sets them.
    launched_registers: Option<i64>,
    /// The number of hardware barriers assigned to agents and ping-pong so far.
    barriers_used: u64,
    /// Local memory slots that arrays share.
    slots: FxHashMap<i64, array::Slot<'c>>,
    /// The first byte of the CTA's shared memory, once it is used.
    shared: Option<Val<'c>>,
    /// For each element extracted from a word: the word and the element's position in it.
    origins: RefCell<FxHashMap<usize, (Val<'c>, u32)>>,
    /// A thread's warpgroup number, by its warp number.
    warpgroups: FxHashMap<usize, Val<'c>>,
    /// The state of each ping-pong, by its value.
    ping_pong: FxHashMap<usize, ping_pong::PingPong<'c>>,
    /// Whether the function contains dots.
    multiplies: bool,
    /// Whether the function has so many bounds-checked accesses that each gets a single form, without a fast path.
    one_form: bool,
    /// The function's name in the source.
    name: &'c str,
    /// The buffer for the arguments of a print, once there is one.
    print_buffer: Option<Val<'c>>,
    /// The address of the borrowed entry for tensor maps, once the function creates maps.
    borrowed: Option<Val<'c>>,
}

impl<'c, 'm> Lower<'c, 'm> {
    fn function(
        f: nv_tileaa::FuncOp<'c>,
        module: OpRef<'c>,
        (target, index_bits): (&'static Target, Option<i64>),
        symbols: &'m mut Symbols,
    ) -> Result<(), Failed> {
        let context = context_of(f.op());
        let warps = warps_of(f)?;
        let source = entry_block(f.body()).ok_or_else(|| fail(f.op(), "function has no body"))?;
        let location = location::leaf(f.op().location());
        let types: Vec<Type<'c>> = args(source)
            .map(|a| {
                element_type(context, ty(a))
                    .ok_or_else(|| fail(f.op(), format!("argument type {} has no LLVM form", ty(a))))
            })
            .collect::<Result<_, _>>()?;
        let region = Region::new();
        let entry = append_block(&region, &types, location);

        let b = Builder::before(context, f.op());
        b.set_location(debug_scope::scoped_leaf(f.op()));
        let void = ll::r#type::void(context);
        let function_type = ll::r#type::function(void, &types, false);
        let mut s = b.state("llvm.func");
        s.attr("sym_name", StringAttribute::new(context, f.sym_name()).into());
        s.attr("function_type", TypeAttribute::new(function_type).into());
        s.attr("CConv", parse(context, "#llvm.cconv<ccc>"));
        s.attr("linkage", parse(context, "#llvm.linkage<external>"));
        s.attr("visibility_", i64_attr(context, 0));
        NVVM_KERNEL.add(&mut s, ());
        // Launch parameters; `tileir-gpu-module-prepare` translates them to NVVM attributes.
        NUM_WARPS.add(&mut s, warps as i64);
        if let Some(registers) = MAX_REGISTERS.get(f.op()) {
            MAX_REGISTERS.add(&mut s, registers);
        }
        if let Some(blocks) = NUM_CTAS.get(f.op()) {
            NUM_CTAS.add(&mut s, blocks);
        }
        // Ignore an occupancy hint that the SM's thread limit rules out.
        let most = i64::from(target.limits.threads_per_sm) / (32 * warps as i64);
        let wish = f.hints().and_then(|h| int_hint(h, target.name, "min_ctas_per_sm", |n| (1..=most).contains(&n)));
        if let Some(blocks) = wish {
            MIN_BLOCKS.add(&mut s, blocks);
        }
        if let Some(attrs) = argument_attributes(context, source, &types) {
            s.attr("arg_attrs", attrs);
        }
        s.region(region);
        let function = b.insert(s).map_err(|e| fail(f.op(), e.to_string()))?;

        let l = Llvm::new(Builder::at_end(context, entry, location));
        let thread = l.sreg("tid.x");
        let lane = l.bin("and", thread, l.i32c(31));
        let warp = l.bin("lshr", thread, l.i32c(5));
        let mut lower = Lower {
            l,
            target,
            index_bits,
            module,
            declared: RefCell::new(&mut symbols.declared),
            data: RefCell::new(&mut symbols.data),
            values: FxHashMap::default(),
            ring_positions: RingPositions::of(f.op()),
            stages: FxHashMap::default(),
            entry,
            lane,
            warp,
            warp_bits: warps.ilog2(),
            thread,
            warps,
            clustered: NUM_CTAS.is_on(f.op()),
            barrier_id: None,
            launched_registers: MAX_REGISTERS.get(f.op()),
            barriers_used: 0,
            slots: array::slots(f.op()),
            shared: None,
            origins: RefCell::default(),
            warpgroups: FxHashMap::default(),
            ping_pong: FxHashMap::default(),
            multiplies: false,
            one_form: global::has_many_checked(f.op()),
            name: f.sym_name(),
            print_buffer: None,
            borrowed: None,
        };
        for (i, a) in args(source).enumerate() {
            lower.values.insert(key(a), Lowered::Scalar(arg(entry, i)));
        }
        lower.remark_on_missed(f.op());
        let done = lower.block(source);
        match done {
            Ok(()) if lower.multiplies => {
                MULTIPLIES.mark(function);
            }
            Ok(()) => {}
            Err(_) => erase(function),
        }
        done
    }

    /// Emits all ops of a source block at the insertion point.
    fn block(&mut self, source: Blk<'c>) -> Result<(), Failed> {
        ops_of(source).try_for_each(|op| self.op(op))
    }

    fn op(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        self.l.b.set_location(debug_scope::lowered(op.location()));
        if let Some(typed) = nv_tileaa::AnyOp::cast(op) {
            return self.tileaa(op, typed);
        }
        if let Some(typed) = nv_tileas::AnyOp::cast(op) {
            return self.tileas(op, typed);
        }
        match Scf::of(op) {
            Some(Scf::For) => return self.scf_for(op),
            Some(Scf::If) => return self.scf_if(op),
            Some(Scf::While) => return self.scf_while(op),
            _ => {}
        }
        if let Some(Ub::Poison) = Ub::of(op) {
            let e = self.element_of(op, result(op, 0))?;
            let n = self.registers(op, result(op, 0))?;
            let v = self.l.poison(e);
            self.set_all(result(op, 0), vec![v; n]);
            return Ok(());
        }
        match Arith::of(op) {
            Some(Arith::Constant) => self.constant(op),
            // Canonicalization turns branches into selects of tokens.
            Some(Arith::Select) if MemTokenType::cast(ty(result(op, 0))).is_some() => Ok(()),
            Some(Arith::TruncF) if self.rounded_pairs(op)? => Ok(()),
            Some(_) => self.elementwise(op),
            None if Math::of(op).is_some() => self.elementwise(op),
            None => Err(fail(op, format!("'{}' has no lowering to LLVM", op_name(op)))),
        }
    }

    fn tileaa(&mut self, op: OpRef<'c>, typed: nv_tileaa::AnyOp<'c>) -> Result<(), Failed> {
        use nv_tileaa::AnyOp::*;
        match typed {
            ReturnOp(x) if x.operands().len() > 0 => {
                return Err(fail(op, "a function with results has no lowering to LLVM: it is not a kernel"));
            }
            ReturnOp(_) => {
                self.give_back_maps();
                self.l.b.create("llvm.return", &[], &[], &[]);
            }
            GetProgramIdOp(_) => self.special(op, self.grid("ctaid", "clusterid")),
            GetCtaRankOp(_) if self.clustered => self.special(op, ["cluster.ctarank".to_string()]),
            GetCtaRankOp(x) => {
                let zero = self.l.i32c(0);
                self.set_all(x.result(), vec![zero]);
            }
            IsValidProgramIdOp(x) => self.is_valid_program_id(x)?,
            GetNumProgramsOp(_) => self.special(op, self.grid("nctaid", "nclusterid")),
            AssumeOp(x) => {
                let v = self.values.get(&key(x.value())).cloned().unwrap_or(Lowered::Nothing);
                self.values.insert(key(x.result()), v);
            }
            // Users look through views and tokens.
            MakeMemRefOp(_) | MakeTiledViewOp(_) | CreateMemTokenOp(_) | JoinMemTokenOp(_) => {}
            // Before sm_90, a grid starts after the grids that it depends on have ended.
            LaunchDependentsOp(_) | WaitForGridsOp(_) if !self.target.has(Feature::DependentLaunch) => {}
            LaunchDependentsOp(_) => self.order("griddepcontrol.launch_dependents;"),
            WaitForGridsOp(_) => self.order("griddepcontrol.wait;"),
            FenceAliasOp(_) => self.order("fence.proxy.alias;"),
            GetGlobalOp(x) => self.get_global(x)?,
            AssertOp(x) => self.assert(x)?,
            DimOp(x) => self.dim(x)?,
            NumTilesOp(x) => self.num_tiles(x)?,
            FpCastOp(x) => {
                if !self.widened_pairs(x)? && !self.narrowed_pairs(x)? {
                    self.elementwise(op)?;
                }
            }
            AddPtrOp(_) | IntToPtrOp(_) | PtrToIntOp(_) | PtrToPtrOp(_) | FpOp(_) | BitcastOp(_) => {
                self.elementwise(op)?
            }
            _ => return Err(fail(op, format!("'{}' has no lowering to LLVM", op_name(op)))),
        }
        Ok(())
    }

    fn tileas(&mut self, op: OpRef<'c>, typed: nv_tileas::AnyOp<'c>) -> Result<(), Failed> {
        use nv_tileas::AnyOp::*;
        match typed {
            MakeRangeOp(x) => self.make_range(x),
            SplatOp(x) => {
                let n = self.registers(op, x.result())?;
                let v = self.scalar(op, x.source())?;
                self.set_all(x.result(), vec![v; n]);
                Ok(())
            }
            UnsplatOp(x) => {
                let v = self.fragment(op, x.source())?[0];
                self.values.insert(key(x.result()), Lowered::Scalar(v));
                Ok(())
            }
            // These ops keep the row-major index, so the registers stay the same.
            ViewOp(x) => self.same_registers(op, x.source(), x.result()),
            PermuteOp(x) => self.same_registers(op, x.source(), x.result()),
            ExpandDimsOp(x) => self.same_registers(op, x.source(), x.result()),
            ReinterpretOp(x) => self.same_registers(op, x.source(), x.result()),
            CopyOp(_) => Err(fail(op, "a copy must be lowered first; run tileas-materialize-convert-layout")),
            GatherLoadOp(_) | ScatterStoreOp(_) => {
                Err(fail(op, format!("'{}' must be lowered first; run tileas-assign-load-store-layouts", op_name(op))))
            }
            BroadcastOp(x) => self.broadcast(x),
            ConvertLayoutOp(x) => self.convert_registers(x),
            CatOp(x) => self.cat(x),
            ExtractSliceOp(x) => self.extract_slice(x),
            InsertSliceOp(x) => self.insert_slice(x),
            PackOp(x) => self.pack(x),
            UnpackOp(x) => self.unpack(x),
            ShuffleOp(x) => self.shuffle(x),
            LocalLoadSliceOp(x) => self.local_load_slice(x),
            ExchangeOp(_) => Err(fail(op, "an exchange must be lowered first; run tileas-materialize-register-loops")),
            RegisterLoopOp(x) => self.register_loop(x),
            GatherRegistersOp(x) => self.gather_registers(x),
            AllocArrayOp(x) => self.alloc_array(x),
            ArrayLoadOp(x) => self.array_load(x),
            ArrayStoreOp(x) => self.array_store(x),
            ArrayInsertOp(x) => self.array_insert(x),
            ArrayCatOp(x) => self.array_cat(x),
            ArrayExchangeOp(x) => self.array_exchange(x),
            ReduceOp(x) => self.reduce(x),
            ScanOp(x) => self.scan(x),
            CarryOp(x) => self.carry(x),
            PickOp(x) => self.pick(x),
            YieldOp(_) => Err(fail(op, "a body is lowered with its op")),
            TiledLoadOp(x) => self.tiled_load(x),
            TiledStoreOp(x) => self.tiled_store(x),
            LoadOp(x) => self.pointer_load(x),
            StoreOp(x) => self.pointer_store(x),
            AtomicRmwOp(x) => self.atomic_rmw(x),
            AtomicCasOp(x) => self.atomic_cas(x),
            TiledAtomicRmwOp(x) => self.tiled_atomic_rmw(x),
            MultimemLoadReduceOp(x) => self.multimem_load_reduce(x),
            MultimemReduceOp(x) => self.multimem_reduce(x),
            MultimemStoreOp(x) => self.multimem_store(x),
            ReplicateOp(x) => self.replicate(x),
            HeapAllocOp(x) => self.heap_alloc(x),
            HeapFreeOp(x) => self.heap_free(x),
            PrintOp(x) => self.print(x),
            AllocTensorOp(x) => self.alloc_tensor(x),
            LocalStoreOp(x) => self.local_store(x),
            LocalTransposeOp(x) => self.local_transpose(x),
            LocalLoadOp(x) => self.local_load(x),
            BarrierOp(_) => {
                self.barrier();
                Ok(())
            }
            AgentSwitchOp(x) => self.agent_switch(x),
            CreatePingPongOp(x) => self.create_ping_pong(x),
            PingPongWaitOp(x) => self.ping_pong_wait(x),
            PingPongArriveOp(x) => self.ping_pong_arrive(x),
            EndPingPongOp(x) => self.end_ping_pong(x),
            AsyncCreateNoneOp(_) => Ok(()),
            DotOp(x) => self.dot(x),
            DotScaledOp(x) => self.dot_scaled(x),
            AsyncTiledLoadOp(x) => self.async_tiled_load(x),
            AsyncLoadOp(x) => self.async_load(x),
            AsyncCommitOp(_) => self.async_commit(op),
            AsyncWaitOp(x) => self.async_wait(x),
            MemDescSlotOp(x) => self.memdesc_slot(x),
            MemDescViewOp(_) | MemDescPermuteOp(_) | MemDescReinterpretOp(_) => self.memdesc_alias(op),
            CreatePipelineOp(x) => self.create_pipeline(x),
            CreateIteratorOp(x) => self.create_iterator(x),
            IncIterOp(x) => self.inc_iter(x),
            StageOp(x) => self.stage(x),
            ProducerAcquireOp(x) => self.producer_acquire(x),
            ProducerCommitOp(x) => self.producer_commit(x),
            ConsumerWaitOp(x) => self.consumer_wait(x),
            ConsumerReleaseOp(x) => self.consumer_release(x),
            ElectOp(x) => self.elect(x),
            ProduceOneOp(_) => Err(fail(
                op,
                "a region for producer warps cannot be lowered in place; run tileas-specialize-agents first",
            )),
            MakeTiledTmaDescOp(x) => self.make_tiled_tma_desc(x),
            TmaReadyOp(x) => self.tma_ready(x),
            AsyncTiledTmaLoadOp(x) => self.async_tiled_tma_load(x),
            AsyncTiledTmaStoreOp(x) => self.async_tiled_tma_store(x),
            AsyncTmaStoreWaitOp(x) => {
                self.async_tma_store_wait(x);
                Ok(())
            }
            AsyncDotOp(x) => self.async_dot(x),
            PromotedDotOp(x) => self.promoted_dot(x),
            AsyncDotWaitOp(x) => self.async_dot_wait(x),
            AsyncFenceOp(_) => {
                self.async_fence();
                Ok(())
            }
        }
    }

    /// Emits the same op with the barrier number of the current agent; `convert-tileas-to-nvgpu` lowers it.
    fn barrier(&self) {
        let int = |v: u64| i64_attr(self.l.context(), v as i64);
        let (id, threads) = self.barrier_id.map_or((None, None), |id| (Some(int(id)), Some(int(self.warps * 32))));
        nv_tileas::BarrierOp::build(&self.l.b, id, threads).expect("an op without operands and results");
    }

    /// Emits an instruction that all threads execute, ordered with their memory accesses.
    fn order(&self, instruction: &str) {
        self.l.asm(instruction, "~{memory}", None, &[], false);
    }

    /// Whether each coordinate, as an unsigned number, is less than the grid's extent.
    fn is_valid_program_id(&mut self, x: nv_tileaa::IsValidProgramIdOp<'c>) -> Result<(), Failed> {
        let mut valid = None;
        for (v, extent) in [x.x(), x.y(), x.z()].into_iter().zip(self.grid("nctaid", "nclusterid")) {
            let v = self.scalar(x.op(), v)?;
            let inside = self.l.icmp(llvm::Cmp::Ult, v, self.l.sreg(&extent));
            valid = self.both(valid, Some(inside));
        }
        self.set_all(x.result(), vec![valid.expect("three coordinates")]);
        Ok(())
    }

    /// Returns the special registers of a tile's grid position: the CTA's, or the cluster's if a cluster splits the
    /// tile.
    fn grid(&self, of_block: &str, of_cluster: &str) -> [String; 3] {
        ["x", "y", "z"].map(|d| format!("{}.{d}", if self.clustered { of_cluster } else { of_block }))
    }

    fn special<const N: usize>(&mut self, op: OpRef<'c>, names: [String; N]) {
        for (r, name) in results(op).zip(names) {
            let v = self.l.sreg(&name);
            self.values.insert(key(r), Lowered::Scalar(v));
        }
    }

    //===-- values ----------------------------------------------------------===//

    fn scalar(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Val<'c>, Failed> {
        match self.values.get(&key(v)) {
            Some(Lowered::Scalar(x)) => Ok(*x),
            _ => Err(fail(op, "operand is not a scalar here")),
        }
    }
    /// Returns the registers of a tensor, or the single register of a scalar.
    fn fragment(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Vec<Val<'c>>, Failed> {
        match self.values.get(&key(v)) {
            Some(Lowered::Scalar(x)) => Ok(vec![*x]),
            Some(Lowered::Fragment(f)) => Ok(f.clone()),
            Some(Lowered::Packed(words, element)) => {
                let each = self.registers(op, v)? / words.len();
                Ok(words.iter().flat_map(|word| self.part_word(*word, each, *element)).collect())
            }
            _ => Err(fail(op, "operand holds no values here")),
        }
    }
    /// Binds the registers of `v`.
    fn set_all(&mut self, v: Val<'c>, registers: Vec<Val<'c>>) {
        let lowered = match Tensor::of_value(v) {
            None if registers.len() == 1 => Lowered::Scalar(registers[0]),
            _ => Lowered::Fragment(registers),
        };
        self.values.insert(key(v), lowered);
    }
    /// Returns the layout of `v`.
    fn layout(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Layout, Failed> {
        Tensor::of_value(v).and_then(|t| t.layout()).ok_or_else(|| fail(op, "tensor has no layout"))
    }
    /// Returns the number of registers that `v` takes in each thread.
    fn registers(&self, op: OpRef<'c>, v: Val<'c>) -> Result<usize, Failed> {
        match Tensor::of_value(v) {
            Some(_) => Ok(self.layout(op, v)?.registers() as usize),
            None if nv_tileas::PipelineIteratorType::cast(ty(v)).is_some() => Ok(rings::ITERATOR_WORDS),
            None => Ok(1),
        }
    }
    /// Returns the LLVM type of a scalar or of a tensor's element.
    fn element_of(&self, op: OpRef<'c>, v: Val<'c>) -> Result<Type<'c>, Failed> {
        let element = Tensor::of_value(v).map_or(ty(v), |t| t.element);
        element_type(self.l.context(), element).ok_or_else(|| fail(op, format!("type {element} has no LLVM form")))
    }

    /// Evaluates `expr` for this thread's lane and warp.
    fn linear(&self, expr: &LinearExpr) -> Val<'c> {
        self.linear_in_block(expr, None)
    }

    /// Returns a copy of `v` that is opaque to LLVM in a loop that keeps its addresses, so that LLVM cannot hoist
    /// dependent code; elsewhere returns `v`. `tileas-keep-addresses-in-loops` marks these loops.
    fn hide_from_licm(&self, op: OpRef<'c>, v: Val<'c>) -> Val<'c> {
        if !loops_around(op).any(|l| ADDRESSES_IN_LOOP.is_on(l)) {
            return v;
        }
        let (width, class) = if ty(v) == self.l.i32 { ("32", "r") } else { ("64", "l") };
        let text = format!("mov.b{width} $0, $1;");
        self.l.asm(&text, &format!("={class},{class}"), Some(ty(v)), &[v], false).expect("asm with a result")
    }

    /// Evaluates `expr` for this thread's lane and warp, with `block` as the CTA number. In a cluster of one CTA the
    /// number is zero.
    fn linear_in_block(&self, expr: &LinearExpr, block: Option<Val<'c>>) -> Val<'c> {
        let l = &self.l;
        let mut sum: Option<Val<'c>> = None;
        // If the expression has all lane bits and, five bits above, all warp bits, together they form the thread
        // number.
        let all = |t: &Term, source, mask| t.source == source && t.mask == mask && !t.needs_mask && t.shift >= 0;
        let lanes = expr.terms.iter().find(|t| all(t, Input::Lane, 31));
        let warps = lanes.and_then(|lanes| {
            expr.terms.iter().find(|t| all(t, Input::Warp, self.warps - 1) && t.shift == lanes.shift + 5)
        });
        for term in &expr.terms {
            let source = match (term.source, block) {
                (Input::Lane, _) if warps.is_some() && Some(term) == lanes => self.thread,
                (Input::Warp, _) if Some(term) == warps => continue,
                (Input::Lane, _) => self.lane,
                (Input::Warp, _) => self.warp,
                (Input::Block, Some(block)) => block,
                (Input::Block | Input::Register, _) => continue,
            };
            let mut v = source;
            if term.needs_mask {
                v = l.bin("and", v, l.i32c(term.mask as i64));
            }
            if term.shift > 0 {
                v = l.bin("shl", v, l.i32c(term.shift.into()));
            } else if term.shift < 0 {
                v = l.bin("lshr", v, l.i32c(i64::from(-term.shift)));
            }
            sum = Some(match sum {
                Some(s) if expr.disjoint => self.or_disjoint(s, v),
                Some(s) => l.bin("xor", s, v),
                None => v,
            });
        }
        sum.unwrap_or_else(|| l.i32c(0))
    }
    /// Adds values that have no bits in common.
    fn or_disjoint(&self, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.l.b.value("llvm.or", ty(a), &[a, b], &[("isDisjoint", self.l.b.unit())])
    }

    /// Declares an external function in the module, once.
    fn declare(&self, name: &str, result: Type<'c>, arguments: &[Type<'c>]) {
        if !self.declared.borrow_mut().insert(name.to_string()) {
            return;
        }
        let context = self.l.context();
        let body = entry_block(region(self.module, 0)).expect("a module has a body");
        let b = Builder::at_end(context, body, Location::unknown(context));
        b.set_start(body);
        let mut s = b.state("llvm.func");
        s.attr("sym_name", StringAttribute::new(context, name).into());
        s.attr("function_type", TypeAttribute::new(ll::r#type::function(result, arguments, false)).into());
        s.attr("CConv", parse(context, "#llvm.cconv<ccc>"));
        s.attr("linkage", parse(context, "#llvm.linkage<external>"));
        s.attr("visibility_", i64_attr(context, 0));
        s.region(Region::new());
        b.insert(s).expect("no inference asked for");
    }
}

fn parse<'c>(context: &'c Context, text: &str) -> Attribute<'c> {
    Attribute::parse(context, text).expect("a well-formed attribute")
}

fn i32_array<'c>(context: &'c Context, values: &[i32]) -> Attribute<'c> {
    melior::ir::attribute::DenseI32ArrayAttribute::new(context, values).into()
}

/// Returns the attributes of pointer arguments with the alignment promised by `assume`, which becomes part of the
/// kernel's signature.
fn argument_attributes<'c>(context: &'c Context, entry: Blk<'c>, types: &[Type<'c>]) -> Option<Attribute<'c>> {
    let mut any = false;
    let list: Vec<Attribute<'c>> = args(entry)
        .zip(types)
        .map(|(a, t)| {
            let pointer = is_llvm_pointer(*t);
            let align = if pointer { promised_alignment(a) } else { 1 };
            if align > 1 {
                any = true;
                parse(context, &format!("{{llvm.align = {align} : i64}}"))
            } else {
                parse(context, "{}")
            }
        })
        .collect();
    any.then(|| ArrayAttribute::new(context, &list).into())
}

fn promised_alignment(a: Val<'_>) -> u64 {
    let divisible = |(op, _): &(OpRef<'_>, usize)| {
        let predicate = nv_tileaa::AssumeOp::cast(*op)?.predicate();
        crate::analysis::promises::divisor_of(predicate)
    };
    uses(a).iter().filter_map(divisible).max().unwrap_or(1).min(128)
}
