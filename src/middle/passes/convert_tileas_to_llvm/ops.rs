//! The op that selects a lowering: one match over the ops of each dialect.

use super::{Lower, Lowered, agents::CTA_RANK, llvm::Cmp};
use crate::dialect::{
    attributes::IN_PAIRS,
    debug_scope,
    nv_tileaa::{self, MemTokenType},
    nv_tileas,
    pass::{Failed, fail},
    rt::*,
    upstream::{Arith, Math, Scf, Ub},
};
use tile_targets::Feature;

const IN_PLACE: &str = "a region for producer warps cannot be lowered in place; run tileas-specialize-agents first";

impl<'c> Lower<'c, '_> {
    /// Emits all ops of a source block at the insertion point.
    pub fn block(&mut self, source: Blk<'c>) -> Result<(), Failed> {
        ops_of(source).try_for_each(|op| self.op(op))
    }

    pub fn op(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
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
            Some(Arith::TruncF) if IN_PAIRS.is_on(op) => self.rounded_pairs(op),
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
            GetCtaRankOp(_) if self.function.clustered => self.special(op, [CTA_RANK.to_string()]),
            GetCtaRankOp(x) => {
                let zero = self.l.i32c(0);
                self.set_all(x.result(), vec![zero]);
            }
            IsValidProgramIdOp(x) => self.is_valid_program_id(x)?,
            NumProgramsOfCtaOp(x) => self.num_programs_of_cta(x)?,
            ProgramOfCtaOp(x) => self.program_of_cta(x)?,
            GetNumProgramsOp(_) => self.special(op, self.grid("nctaid", "nclusterid")),
            AssumeOp(_) => self.promised(op)?,
            // Users look through views and tokens.
            MakeMemRefOp(_) | MakeTiledViewOp(_) | CreateMemTokenOp(_) | JoinMemTokenOp(_) => {}
            // Before sm_90, a grid starts after the grids that it depends on have ended.
            LaunchDependentsOp(_) | WaitForGridsOp(_) if !self.function.target.has(Feature::DependentLaunch) => {}
            LaunchDependentsOp(_) => self.l.order("griddepcontrol.launch_dependents;"),
            WaitForGridsOp(_) => self.l.order("griddepcontrol.wait;"),
            FenceAliasOp(_) => self.l.order("fence.proxy.alias;"),
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
                self.set_scalar(x.result(), v);
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
            AssumeOp(_) => self.promised(op),
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
            ExternCallOp(x) => self.extern_call(x),
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
            CancelTileBlockOp(x) => self.cancel_tile_block(x),
            NextTileBlockOp(x) => self.next_tile_block(x),
            ConsumerWaitOp(x) => self.consumer_wait(x),
            ConsumerReleaseOp(x) => self.consumer_release(x),
            ElectOp(x) => self.elect(x),
            ProduceOneOp(_) => Err(fail(op, IN_PLACE)),
            MakeTiledTmaDescOp(x) => self.make_tiled_tma_desc(x),
            TmaReadyOp(x) => self.tma_ready(x),
            AsyncTiledTmaLoadOp(x) => self.async_tiled_tma_load(x),
            AsyncBulkLoadOp(x) => self.async_bulk_load(x),
            AsyncTiledTmaStoreOp(x) => self.async_tiled_tma_store(x),
            AsyncTmaStoreWaitOp(x) => self.async_tma_store_wait(x),
            AsyncDotOp(x) => self.async_dot(x),
            PromotedDotOp(x) => self.promoted_dot(x),
            AsyncDotWaitOp(x) => self.async_dot_wait(x),
            TmemAllocateOp(x) => self.tmem_allocate(x),
            TmemFreeOp(x) => self.tmem_free(x),
            TmemLoadOp(x) => self.tmem_load(x),
            TmemSliceOp(x) => self.tmem_slice(x),
            TmemStoreOp(x) => self.tmem_store(x),
            TmemScaleOp(x) => self.tmem_scale(x),
            TmemCopyOp(x) => self.tmem_copy(x),
            TmemFenceOp(x) => self.tmem_fence(x),
            AsyncFenceOp(_) => {
                self.async_fence();
                Ok(())
            }
        }
    }

    /// Emits the same op with the barrier number of the current agent; `convert-tileas-to-nvgpu` lowers it.
    pub fn barrier(&self) {
        let int = |v: u64| i64_attr(self.l.context(), v as i64);
        let (id, threads) =
            self.threads.barrier.map_or((None, None), |id| (Some(int(id)), Some(int(self.threads.warps * 32))));
        nv_tileas::BarrierOp::build(&self.l.b, id, threads).expect("an op without operands and results");
    }

    /// Gives each result of an `assume` the value of its operand.
    fn promised(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        for (value, r) in operands(op).zip(results(op)) {
            let v = self.values.lowered.get(&key(value)).cloned().unwrap_or(Lowered::Nothing);
            self.set(r, v);
        }
        Ok(())
    }

    /// Whether each coordinate, as an unsigned number, is less than the grid's extent.
    fn is_valid_program_id(&mut self, x: nv_tileaa::IsValidProgramIdOp<'c>) -> Result<(), Failed> {
        let mut valid = None;
        for (v, extent) in [x.x(), x.y(), x.z()].into_iter().zip(self.grid("nctaid", "nclusterid")) {
            let v = self.scalar(x.op(), v)?;
            let inside = self.l.icmp(Cmp::Ult, v, self.l.sreg(&extent));
            valid = self.both(valid, Some(inside));
        }
        self.set_all(x.result(), vec![valid.expect("three coordinates")]);
        Ok(())
    }

    /// Returns the special registers of a tile's grid position: the CTA's, or the cluster's if a cluster splits the
    /// tile.
    pub fn grid(&self, of_block: &str, of_cluster: &str) -> [String; 3] {
        ["x", "y", "z"].map(|d| format!("{}.{d}", if self.function.clustered { of_cluster } else { of_block }))
    }

    fn special<const N: usize>(&mut self, op: OpRef<'c>, names: [String; N]) {
        for (r, name) in results(op).zip(names) {
            let v = self.l.sreg(&name);
            self.set_scalar(r, v);
        }
    }
}
