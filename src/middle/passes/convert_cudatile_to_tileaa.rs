//! `convert-cudatile-to-tileaa` converts the public language to alias-aware tiles.
//!
//! The pass rebuilds modules instead of rewriting them. For each `cuda_tile.module` it builds a `gpu.module` next to
//! it, op by op, with a map from old values to new ones, and finally erases the old module. No module is ever partly
//! converted. [`Translator::op`] is an exhaustive match over the dialect, so an op without a case does not compile.
//!
//! * Tiles of rank zero become scalars, other tiles become tensors ([`types`]).
//! * Ops with an exact equivalent in `arith` or `math` become that op ([`arith`], [`convert`]); others become
//!   `nv_tileaa` ops.
//! * Early exits become structured control flow ([`exits`] has the algorithm, [`control`] applies it to IR).
//! * Tokens map one to one: an access without a token operand is not ordered after any other.
//! * Locations are kept.

mod aggregate;
mod arith;
mod constants;
mod control;
mod convert;
mod e5m3;
mod exits;
mod library;
mod memory;
mod shape;
mod strict;
mod types;

use crate::{
    dialect::{
        attributes::PORTABLE,
        cuda_tile::{self as ct, AnyOp},
        fallback::Fallback,
        nv_tileaa as aa,
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::target,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{
        Attribute, Location, Region, Type,
        attribute::{StringAttribute, TypeAttribute},
        r#type::FunctionType,
    },
};
use rustc_hash::FxHashMap;

#[derive(Clone, Default)]
pub struct ConvertCudaTileToTileAA;

impl RustPass for ConvertCudaTileToTileAA {
    pass_descriptor!(convert_cudatile_to_tileaa);

    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let options = descriptors::convert_cudatile_to_tileaa::Options(cx);
        let relaxed = Relaxed { approx: options.approx(), ftz: options.ftz() };
        let (canonical, portable) = match options.numerics() {
            "default" => (false, false),
            "pinned" => (true, false),
            "portable" => (true, true),
            other => return Err(fail(op, format!("numerics must be default, pinned or portable, got '{other}'"))),
        };
        if !options.strict_types().is_empty() {
            strict::check(op, target(op, options.strict_types())?)?;
        }
        let Some(body) = entry_block(region(op, 0)) else { return Ok(()) };
        let modules: Vec<ct::ModuleOp> = ops_of(body).filter_map(ct::ModuleOp::cast).collect();
        for module in modules {
            let mut translator = Translator::new(context, module.op(), relaxed, (canonical, portable))?;
            translator.module(module)?;
            erase(module.op());
        }
        Ok(())
    }
}

/// Builds the new module while walking the old one.
struct Translator<'c> {
    context: &'c Context,
    b: Builder<'c>,
    /// The new value of each old value, by the old value's key.
    values: FxHashMap<usize, Val<'c>>,
    /// The op being translated, at which errors are reported.
    current: OpRef<'c>,
    /// The `arith` overflow flags by [`ct::IntegerOverflow`].
    overflow: [Option<Attribute<'c>>; 4],
    token: Type<'c>,
    relaxed: Relaxed,
    /// Whether reductions and scans combine elements in the canonical order.
    canonical: bool,
    /// Whether functions avoid instructions whose bits PTX does not define.
    portable: bool,
}

/// Relaxations of all f32 arithmetic of the module, in addition to those on its operations.
#[derive(Clone, Copy)]
struct Relaxed {
    approx: bool,
    ftz: bool,
}

impl<'c> Translator<'c> {
    fn new(
        context: &'c Context,
        module: OpRef<'c>,
        relaxed: Relaxed,
        (canonical, portable): (bool, bool),
    ) -> Result<Self, Failed> {
        let flags = |text: &str| {
            Attribute::parse(context, &format!("#arith.overflow<{text}>"))
                .map(Some)
                .ok_or_else(|| fail(module, "the arith dialect is not loaded"))
        };
        Ok(Translator {
            context,
            b: Builder::before(context, module),
            values: FxHashMap::default(),
            current: module,
            overflow: [None, flags("nsw")?, flags("nuw")?, flags("nsw, nuw")?],
            token: types::token(context),
            relaxed,
            canonical,
            portable,
        })
    }

    //===-- modules ---------------------------------------------------------//

    fn module(&mut self, module: ct::ModuleOp<'c>) -> Result<(), Failed> {
        let region = Region::new();
        let body = append_block(&region, &[], module.op().location());
        let mut state = self.b.state("gpu.module");
        state.attr("sym_name", StringAttribute::new(self.context, module.sym_name()).into());
        state.region(region);
        let built = self.b.insert(state);
        let new = self.built(built)?;
        self.b.set_end(body);
        let translated = self.module_body(module);
        if translated.is_err() {
            // The unfinished module would clash with the source module, which has the same symbol.
            erase(new);
        }
        translated
    }

    fn module_body(&mut self, module: ct::ModuleOp<'c>) -> Result<(), Failed> {
        let Some(source) = entry_block(module.body()) else { return Ok(()) };
        for op in ops_of(source) {
            self.at(op);
            match AnyOp::cast(op) {
                Some(AnyOp::EntryOp(o)) => self.entry(o)?,
                Some(AnyOp::GlobalOp(o)) => self.global(o)?,
                // Calls refer to them; they have no code.
                Some(AnyOp::PreviewFuncOp(_) | AnyOp::PreviewExternImplOp(_)) => {}
                _ => return Err(self.no_conversion(op)),
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: ct::EntryOp<'c>) -> Result<(), Failed> {
        let Some(source) = entry_block(entry.body()) else { return Err(fail(entry.op(), "entry without a body")) };
        let mut inputs = vec![];
        for a in args(source) {
            inputs.push(self.result_type(a)?);
        }
        let outer = self.b.block();
        let region = Region::new();
        let body = append_block_at(&region, &at_places(&inputs, args(source)));
        for (old, new) in args(source).zip(args(body)) {
            self.set(old, new);
        }
        self.b.set_end(body);
        self.function_body(source)?;
        self.at(entry.op());
        self.b.set_end(outer);
        let name = StringAttribute::new(self.context, entry.sym_name()).into();
        let function_type: Type = FunctionType::new(self.context, &inputs, &[]).into();
        let hints = hints(entry.optimization_hints());
        let ty = TypeAttribute::new(function_type).into();
        let function = self.built(aa::FuncOp::build(&self.b, name, ty, None, None, hints, None, region))?;
        Fallback::hand_on(entry.op(), function.op());
        if self.portable {
            PORTABLE.set(function.op(), ());
        }
        Ok(())
    }

    //===-- one op ----------------------------------------------------------//

    /// Translates one op. Terminators are translated with their blocks and never reach this function.
    fn op(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        self.at(op);
        let Some(any) = AnyOp::cast(op) else { return Err(self.no_conversion(op)) };
        use AnyOp::*;
        match any {
            AbsFOp(o) => self.plain("math.absf", &[o.source()], &[], o.result()),
            AbsIOp(o) => self.absolute(o),
            AddFOp(o) => {
                let m = (o.rounding_mode(), o.flush_to_zero());
                self.rounded("arith.addf", aa::FpKind::Add, &[o.lhs(), o.rhs()], m, o.result())
            }
            SubFOp(o) => {
                let m = (o.rounding_mode(), o.flush_to_zero());
                self.rounded("arith.subf", aa::FpKind::Sub, &[o.lhs(), o.rhs()], m, o.result())
            }
            MulFOp(o) => {
                let m = (o.rounding_mode(), o.flush_to_zero());
                self.rounded("arith.mulf", aa::FpKind::Mul, &[o.lhs(), o.rhs()], m, o.result())
            }
            DivFOp(o) => {
                let m = (o.rounding_mode(), o.flush_to_zero());
                self.rounded("arith.divf", aa::FpKind::Div, &[o.lhs(), o.rhs()], m, o.result())
            }
            FmaOp(o) => {
                let m = (o.rounding_mode(), o.flush_to_zero());
                self.rounded("math.fma", aa::FpKind::Fma, &[o.lhs(), o.rhs(), o.acc()], m, o.result())
            }
            SqrtOp(o) => {
                let m = (o.rounding_mode(), o.flush_to_zero());
                self.rounded("math.sqrt", aa::FpKind::Sqrt, &[o.source()], m, o.result())
            }
            RsqrtOp(o) => self.flushing("math.rsqrt", aa::FpKind::Rsqrt, o.source(), o.flush_to_zero(), o.result()),
            Exp2Op(o) => self.flushing("math.exp2", aa::FpKind::Exp2, o.source(), o.flush_to_zero(), o.result()),
            ExpOp(o) => self.approximable("math.exp", aa::FpKind::Exp, o.source(), o.rounding_mode(), o.result()),
            TanHOp(o) => self.approximable("math.tanh", aa::FpKind::Tanh, o.source(), o.rounding_mode(), o.result()),
            MaxFOp(o) => self.max_min(true, o.lhs(), o.rhs(), o.propagate_nan(), o.flush_to_zero(), o.result()),
            MinFOp(o) => self.max_min(false, o.lhs(), o.rhs(), o.propagate_nan(), o.flush_to_zero(), o.result()),
            NegFOp(o) => self.plain("arith.negf", &[o.source()], &[], o.result()),
            CeilOp(o) => self.plain("math.ceil", &[o.source()], &[], o.result()),
            FloorOp(o) => self.plain("math.floor", &[o.source()], &[], o.result()),
            LogOp(o) => self.function("math.log", &[o.source()], o.result()),
            Log2Op(o) => self.function("math.log2", &[o.source()], o.result()),
            SinOp(o) => self.function("math.sin", &[o.source()], o.result()),
            CosOp(o) => self.function("math.cos", &[o.source()], o.result()),
            TanOp(o) => self.function("math.tan", &[o.source()], o.result()),
            SinHOp(o) => self.function("math.sinh", &[o.source()], o.result()),
            CosHOp(o) => self.function("math.cosh", &[o.source()], o.result()),
            FPowIOp(o) => self.integer_power(o),
            PowOp(o) => self.function("math.powf", &[o.source(), o.exponent()], o.result()),
            // Both operations take the numerator first.
            Atan2Op(o) => self.angle(o),
            RemFOp(o) => self.plain("arith.remf", &[o.lhs(), o.rhs()], &[], o.result()),
            CmpFOp(o) => self.compare_float(o),

            AddIOp(o) => self.wrapping("arith.addi", o.lhs(), o.rhs(), o.overflow(), o.result()),
            SubIOp(o) => self.wrapping("arith.subi", o.lhs(), o.rhs(), o.overflow(), o.result()),
            MulIOp(o) => self.wrapping("arith.muli", o.lhs(), o.rhs(), o.overflow(), o.result()),
            ShLIOp(o) => self.wrapping("arith.shli", o.lhs(), o.rhs(), o.overflow(), o.result()),
            NegIOp(o) => self.negate(o),
            MulhiIOp(o) => self.high_product(o),
            DivIOp(o) => self.divide(o),
            RemIOp(o) => self.remainder(o),
            MaxIOp(o) => {
                let name = by_sign(o.signedness(), "arith.maxsi", "arith.maxui");
                self.plain(name, &[o.lhs(), o.rhs()], &[], o.result())
            }
            MinIOp(o) => {
                let name = by_sign(o.signedness(), "arith.minsi", "arith.minui");
                self.plain(name, &[o.lhs(), o.rhs()], &[], o.result())
            }
            ShRIOp(o) => {
                let name = by_sign(o.signedness(), "arith.shrsi", "arith.shrui");
                self.plain(name, &[o.lhs(), o.rhs()], &[], o.result())
            }
            AndIOp(o) => self.plain("arith.andi", &[o.lhs(), o.rhs()], &[], o.result()),
            OrIOp(o) => self.plain("arith.ori", &[o.lhs(), o.rhs()], &[], o.result()),
            XOrIOp(o) => self.plain("arith.xori", &[o.lhs(), o.rhs()], &[], o.result()),
            CmpIOp(o) => self.compare_int(o),
            SelectOp(o) => self.plain("arith.select", &[o.cond(), o.val_if_true(), o.val_if_false()], &[], o.result()),

            ExtIOp(o) => self.plain(by_sign(o.signedness(), "arith.extsi", "arith.extui"), &[o.from()], &[], o.to()),
            TruncIOp(o) => {
                let flags = self.overflow_flags(o.overflow());
                self.plain("arith.trunci", &[o.from()], &flags, o.to())
            }
            FToFOp(o) => self.float_to_float(o),
            FToIOp(o) => self.float_to_int(o),
            IToFOp(o) => self.int_to_float(o),
            BitcastOp(o) => self.bitcast(o),
            PtrToIntOp(o) => self.plain(aa::PtrToIntOp::NAME, &[o.source()], &[], o.result()),
            IntToPtrOp(o) => self.plain(aa::IntToPtrOp::NAME, &[o.source()], &[], o.result()),
            PtrToPtrOp(o) => self.plain(aa::PtrToPtrOp::NAME, &[o.source()], &[], o.result()),
            PackOp(o) => self.plain(aa::PackOp::NAME, &[o.source()], &[], o.result()),
            UnpackOp(o) => self.plain(aa::UnpackOp::NAME, &[o.source()], &[], o.result()),

            ConstantOp(o) => self.constant(o),
            IotaOp(o) => self.plain(aa::MakeRangeOp::NAME, &[], &[], o.result()),
            BroadcastOp(o) => self.broadcast(o),
            ReshapeOp(o) => self.reshape(o),
            PermuteOp(o) => self.permute(o),
            CatOp(o) => self.cat(o),
            ExtractOp(o) => self.extract(o),
            InsertOp(o) => self.insert(o),

            OffsetOp(o) => self.plain(aa::AddPtrOp::NAME, &[o.ptr(), o.offset()], &[], o.result()),
            MakeTokenOp(o) => self.plain(aa::CreateMemTokenOp::NAME, &[], &[], o.result()),
            JoinTokensOp(o) => {
                let tokens: Vec<_> = o.tokens().collect();
                self.plain(aa::JoinMemTokenOp::NAME, &tokens, &[], o.result())
            }
            GdcLaunchDependentsTkoOp(o) => {
                let tokens: Vec<_> = o.token().into_iter().collect();
                self.plain(aa::LaunchDependentsOp::NAME, &tokens, &[], o.result_token())
            }
            GdcWaitTkoOp(o) => {
                let tokens: Vec<_> = o.token().into_iter().collect();
                self.plain(aa::WaitForGridsOp::NAME, &tokens, &[], o.result_token())
            }
            MemoryFenceAliasTkoOp(o) => self.plain(aa::FenceAliasOp::NAME, &[o.token()], &[], o.result_token()),
            LoadPtrTkoOp(o) => self.load(o),
            StorePtrTkoOp(o) => self.store(o),
            AtomicCASTkoOp(o) => self.compare_and_swap(o),
            AtomicRMWTkoOp(o) => self.read_modify_write(o),
            AllocaOp(o) => self.alloca(o),
            GetGlobalOp(o) => self.plain(aa::GetGlobalOp::NAME, &[], &[("name", o.name())], o.result()),
            MakeTensorViewOp(o) => self.tensor_view(o),
            MakePartitionViewOp(o) => self.plain(aa::MakeTiledViewOp::NAME, &[o.tensor_view()], &[], o.result()),
            MakeStridedViewOp(o) => self.plain(aa::MakeTiledViewOp::NAME, &[o.tensor_view()], &[], o.result()),
            MakeGatherScatterViewOp(o) => self.plain(aa::MakeTiledViewOp::NAME, &[o.tensor_view()], &[], o.result()),
            LoadViewTkoOp(o) => self.tiled_load(o),
            StoreViewTkoOp(o) => self.tiled_store(o),
            AtomicRedViewTkoOp(o) => self.tiled_update(o),
            MultimemLoadReduceViewTkoOp(o) => self.multimem_load_reduce(o),
            MultimemReduceViewTkoOp(o) => self.multimem_reduce(o),
            MultimemStoreViewTkoOp(o) => self.multimem_store(o),
            GetTensorShapeOp(o) => self.extents(aa::DimOp::NAME, o.src(), results(op)),
            GetIndexSpaceShapeOp(o) => self.extents(aa::NumTilesOp::NAME, o.src(), results(op)),
            GetTileBlockIdOp(_) => self.grid(aa::GetProgramIdOp::NAME, op),
            GetNumTileBlocksOp(_) => self.grid(aa::GetNumProgramsOp::NAME, op),

            MmaFOp(o) => self.dot(o),
            MmaIOp(o) => self.integer_dot(o),
            MmaFScaledOp(o) => self.scaled_dot(o),
            ReduceOp(o) => self.reduce(o),
            ScanOp(o) => self.scan(o),

            AssumeOp(o) => self.plain(aa::AssumeOp::NAME, &[o.value()], &[("predicate", o.predicate())], o.result()),
            AssertOp(o) => self.assert(o),
            PrintTkoOp(o) => self.print(o),

            IfOp(o) => self.plain_if(o),
            ForOp(o) => self.counted_loop(o),
            LoopOp(o) => self.endless_loop(o),

            // The first four terminate blocks; the others appear in modules.
            BreakOp(_)
            | ContinueOp(_)
            | ReturnOp(_)
            | YieldOp(_)
            | EntryOp(_)
            | GlobalOp(_)
            | ModuleOp(_)
            | TestingFuncOp(_)
            | PreviewFuncOp(_)
            | PreviewExternImplOp(_) => Err(self.no_conversion(op)),
            PreviewCallOp(o) => self.library_call(o),
        }
    }

    //===-- helpers of all families -----------------------------------------//

    /// Sets the location of the following ops, and of errors, to the location of `op`.
    fn at(&mut self, op: OpRef<'c>) {
        self.current = op;
        self.b.set_location(op.location());
    }
    fn get(&self, v: Val<'c>) -> Val<'c> {
        *self.values.get(&key(v)).expect("a value is translated before its uses")
    }
    fn get_all(&self, list: impl IntoIterator<Item = Val<'c>>) -> Vec<Val<'c>> {
        list.into_iter().map(|v| self.get(v)).collect()
    }
    fn set(&mut self, old: Val<'c>, new: Val<'c>) {
        self.values.insert(key(old), new);
    }
    /// Returns the new type of an old value.
    fn result_type(&self, old: Val<'c>) -> Result<Type<'c>, Failed> {
        self.convert_type(ty(old))
    }
    fn convert_type(&self, t: Type<'c>) -> Result<Type<'c>, Failed> {
        types::convert(self.context, t)
            .ok_or_else(|| fail(self.current, format!("type {t} has no conversion to nv_tileaa")))
    }
    /// Translates an op with one result to op `name`.
    fn plain(
        &mut self,
        name: &str,
        operands: &[Val<'c>],
        attributes: &[(&str, Attribute<'c>)],
        result: Val<'c>,
    ) -> Result<(), Failed> {
        let operands = self.get_all(operands.iter().copied());
        let new = self.b.value(name, self.result_type(result)?, &operands, attributes);
        self.set(result, new);
        Ok(())
    }
    fn built<T>(&self, built: Result<T, BuildError>) -> Result<T, Failed> {
        built.map_err(|e| fail(self.current, e.to_string()))
    }
    /// Maps the results of `old` to those of the new op, in order.
    fn replace<O: OpView<'c>>(&mut self, old: OpRef<'c>, built: Result<O, BuildError>) -> Result<(), Failed> {
        let new = self.built(built)?.op();
        results(old).zip(results(new)).for_each(|(old, new)| self.set(old, new));
        Ok(())
    }
    fn no_conversion(&self, op: OpRef<'c>) -> Failed {
        fail(op, format!("'{}' op has no conversion to nv_tileaa", op_name(op)))
    }
    /// Builds a region of one block, which `body` fills and terminates. Restores the insertion point.
    fn in_region(
        &mut self,
        arguments: &[(Type<'c>, Location<'c>)],
        body: impl FnOnce(&mut Self, Blk<'c>) -> Result<(), Failed>,
    ) -> Result<Region<'c>, Failed> {
        let outer = self.b.block();
        let region = Region::new();
        let block = append_block_at(&region, arguments);
        self.b.set_end(block);
        let done = body(self, block);
        self.b.set_end(outer);
        done.map(|()| region)
    }
    fn i64_attr(&self, v: i64) -> Attribute<'c> {
        i64_attr(self.context, v)
    }
}

/// Pairs types with the locations of the values that they replace, which may hold the values' names.
fn at_places<'c>(types: &[Type<'c>], of: impl Iterator<Item = Val<'c>>) -> Vec<(Type<'c>, Location<'c>)> {
    types.iter().copied().zip(of.map(location_of)).collect()
}

fn by_sign(s: ct::Signedness, signed: &'static str, unsigned: &'static str) -> &'static str {
    match s {
        ct::Signedness::Signed => signed,
        ct::Signedness::Unsigned => unsigned,
    }
}

/// Returns the dictionary of an optimization-hints attribute.
fn hints<'c>(a: Option<Attribute<'c>>) -> Option<Attribute<'c>> {
    ct::OptimizationHintsAttr::cast(a?)?.value()
}
