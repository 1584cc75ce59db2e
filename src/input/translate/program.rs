//! Translates `cuda_tile` modules into programs of the reference interpreter.
//!
//! [`tile_interp::program`] has a variant for every op with operands in the same order, so this is a transcription
//! without simplification, checks or changes. Every verified module has a program.

use crate::dialect::{
    cuda_tile::{self as ct, AnyOp},
    location,
    rt::*,
};
use melior::ir::{Attribute, AttributeLike, Module, Type, TypeLike};
use mlir_sys::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tile_interp::format::{Round, decode, encode};
use tile_interp::program::{
    AccessOrder, Block, Constant, Entry, FloatMode, Global, Op, OpKind, Order, Overflow, Predicate, Program, Promise,
    Rounding, Scope, Signedness, Update, Value,
};
use tile_interp::types::{self, Element, Number, Padding, TensorType, TileType, Tiling, ViewType};

/// The error for a module that is not a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {message}")]
pub struct ProgramError {
    pub location: String,
    pub message: String,
}

type Result<T> = std::result::Result<T, ProgramError>;

fn error<T>(op: OpRef<'_>, message: impl Into<String>) -> Result<T> {
    Err(ProgramError { location: location_text(op), message: message.into() })
}

/// File and line of an op, or its name if it has no location.
fn location_text(op: OpRef<'_>) -> String {
    match location::file_line(op.location()) {
        Some(at) => format!("{}:{}:{}", at.file, at.line, at.column),
        None => op_name(op).to_string(),
    }
}

/// Translates the only `cuda_tile.module` in a module.
pub fn program(module: &Module<'_>) -> Result<Program> {
    let top = op_ref(module.as_operation().to_raw());
    let inside = |op| region_count(op).checked_sub(1).and_then(|_| entry_block(region(op, 0)));
    let mut modules = inside(top).into_iter().flat_map(ops_of).filter_map(ct::ModuleOp::cast);
    let (Some(source), None) = (modules.next(), modules.next()) else {
        return error(top, "the input must contain exactly one cuda_tile.module");
    };
    let mut program = Program { name: source.sym_name().to_string(), ..Program::default() };
    for op in entry_block(source.body()).into_iter().flat_map(ops_of) {
        match AnyOp::cast(op) {
            Some(AnyOp::GlobalOp(g)) => program.globals.push(global(g)?),
            Some(AnyOp::EntryOp(e)) => program.entries.push(entry(e)?),
            // They have no code. Host functions compute calls.
            Some(AnyOp::PreviewFuncOp(_) | AnyOp::PreviewExternImplOp(_)) => {}
            _ => return error(op, "expected a global or an entry"),
        }
    }
    Ok(program)
}

fn global(g: ct::GlobalOp<'_>) -> Result<Global> {
    let t = tile_type(attr_type(g.value())).filter(|t| t.shape.len() == 1);
    let Some((stored, element)) = t.and_then(|t| Some((t.element.number()?, t))) else {
        return error(g.op(), "the value of a global must be a one-dimensional tile of numbers");
    };
    let t = g.element_type().and_then(|t| number(held_type(t))).unwrap_or(stored);
    let values = dense(g.value(), t);
    let values = if values.len() == 1 { vec![values[0]; element.count()] } else { values };
    Ok(Global {
        name: g.sym_name().to_string(),
        element: t,
        values,
        alignment: g.alignment().unwrap_or(0) as u64,
        constant: g.constant(),
        private: g.symbol_visibility() == ct::SymbolVisibility::Private,
    })
}

fn entry(e: ct::EntryOp<'_>) -> Result<Entry> {
    let mut builder = ProgramBuilder::default();
    builder.entry.name = e.sym_name().to_string();
    let Some(body) = entry_block(e.body()) else { return error(e.op(), "the entry lacks a body") };
    let body = builder.block(e.op(), body)?;
    Ok(Entry { body, ..builder.entry })
}

//===-- types ---------------------------------------------------------------//

fn number(t: Type<'_>) -> Option<Number> {
    let raw = t.to_raw();
    // SAFETY: the type is alive; the width is read from integers only.
    unsafe {
        if mlirTypeIsAInteger(raw) {
            return Some(match mlirIntegerTypeGetWidth(raw) {
                1 => Number::I1,
                4 => Number::I4,
                8 => Number::I8,
                16 => Number::I16,
                32 => Number::I32,
                64 => Number::I64,
                _ => return None,
            });
        }
        let floats: [(unsafe extern "C" fn(MlirType) -> bool, Number); 9] = [
            (mlirTypeIsAF16, Number::F16),
            (mlirTypeIsABF16, Number::Bf16),
            (mlirTypeIsATF32, Number::Tf32),
            (mlirTypeIsAF32, Number::F32),
            (mlirTypeIsAF64, Number::F64),
            (mlirTypeIsAFloat8E4M3FN, Number::E4m3),
            (mlirTypeIsAFloat8E5M2, Number::E5m2),
            (mlirTypeIsAFloat8E8M0FNU, Number::E8m0),
            (mlirTypeIsAFloat4E2M1FN, Number::E2m1),
        ];
        let builtin = floats.into_iter().find(|(is, _)| is(raw)).map(|(_, n)| n);
        builtin.or_else(|| ct::FloatNV8E5M3FNUType::cast(t).map(|_| Number::E5m3))
    }
}

fn element(t: Type<'_>) -> Option<Element> {
    match ct::PointerType::cast(t) {
        Some(p) => number(p.pointee_type()).map(Element::Pointer),
        None => number(t).map(Element::Number),
    }
}

fn tile_type(t: Type<'_>) -> Option<TileType> {
    let t = ct::TileType::cast(t)?;
    Some(TileType { shape: t.shape().iter().map(|d| *d as usize).collect(), element: element(t.element_type())? })
}

fn tensor_type(t: Type<'_>) -> Option<TensorType> {
    let t = ct::TensorViewType::cast(t)?;
    // The sentinel of dynamic sizes is negative.
    let sizes = |s: &[i64]| s.iter().map(|d| u64::try_from(*d).ok()).collect();
    Some(TensorType { element: number(t.element_type())?, shape: sizes(t.shape()), strides: sizes(t.strides()) })
}

fn view_type(t: Type<'_>) -> Option<ViewType> {
    let sizes = |s: &[i32]| s.iter().map(|d| *d as usize).collect();
    let padding = |p: Option<ct::PaddingValue>| {
        p.map(|p| match p {
            ct::PaddingValue::Zero => Padding::Zero,
            ct::PaddingValue::NegZero => Padding::NegZero,
            ct::PaddingValue::Nan => Padding::Nan,
            ct::PaddingValue::PosInf => Padding::PosInf,
            ct::PaddingValue::NegInf => Padding::NegInf,
        })
    };
    if let Some(v) = ct::PartitionViewType::cast(t) {
        let tiling = Tiling::Partition { dim_map: sizes(v.dim_map()) };
        let tensor = tensor_type(v.tensor_view())?;
        return Some(ViewType { tile: sizes(v.tile_shape()), tensor, tiling, padding: padding(v.padding_value()) });
    }
    if let Some(v) = ct::StridedViewType::cast(t) {
        let steps = v.traversal_strides().iter().map(|d| *d as u64).collect();
        let tiling = Tiling::Strided { steps, dim_map: sizes(v.dim_map()) };
        let tensor = tensor_type(v.tensor_view())?;
        return Some(ViewType { tile: sizes(v.tile_shape()), tensor, tiling, padding: padding(v.padding_value()) });
    }
    let v = ct::GatherScatterViewType::cast(t)?;
    let tiling = Tiling::GatherScatter { sparse_dim: v.sparse_dim() as usize };
    let tensor = tensor_type(v.tensor_view())?;
    Some(ViewType { tile: sizes(v.tile_shape()), tensor, tiling, padding: padding(v.padding_value()) })
}

fn type_of(t: Type<'_>) -> Option<types::Type> {
    if ct::TokenType::cast(t).is_some() {
        return Some(types::Type::Token);
    }
    let tile = tile_type(t).map(types::Type::Tile);
    tile.or_else(|| tensor_type(t).map(types::Type::Tensor)).or_else(|| view_type(t).map(types::Type::View))
}

//===-- attributes ----------------------------------------------------------//

/// Bits of the elements of a dense attribute; one element for a splat.
fn dense(a: Attribute<'_>, n: Number) -> Vec<u64> {
    let raw = a.to_raw();
    // SAFETY: the attribute is dense. Its buffer holds one element or all of them, each in whole bytes, except that
    // an i1 takes one bit.
    unsafe {
        let splat = mlirDenseElementsAttrIsSplat(raw);
        let count = if splat { 1 } else { mlirElementsAttrGetNumElements(raw) as usize };
        let data = mlirDenseElementsAttrGetRawData(raw).cast::<u8>();
        if n == Number::I1 {
            let bytes = std::slice::from_raw_parts(data, count.div_ceil(8));
            return (0..count).map(|i| u64::from(bytes[i / 8] >> (i % 8) & 1)).collect();
        }
        let size = n.width().div_ceil(8) as usize;
        let bytes = std::slice::from_raw_parts(data, count * size);
        let word = |b: &[u8]| b.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
        bytes.chunks_exact(size).map(|b| word(b) & n.mask()).collect()
    }
}

/// Bits of an integer or float attribute in a type. An f16 attribute may hold the bits of a bf16 and vice versa.
fn bits(a: Attribute<'_>, n: Number) -> Option<u64> {
    let from = number(attr_type(a))?;
    if n.is_integer() {
        return from.is_integer().then(|| int_attr(a) as u64 & n.mask());
    }
    // SAFETY: the attribute is alive and of a float type; a dense attribute with one element holds its exact bits.
    let dense = unsafe {
        if !mlirAttributeIsAFloat(a.to_raw()) {
            return None;
        }
        let tensor = mlirRankedTensorTypeGet(1, [1].as_ptr(), attr_type(a).to_raw(), mlirAttributeGetNull());
        Attribute::from_raw(mlirDenseElementsAttrSplatGet(tensor, a.to_raw()))
    };
    let own = *self::dense(dense, from).first()?;
    Some(if from == n { own } else { encode(decode(own, from), n, Round::NearestEven).bits })
}

fn rounding(r: ct::RoundingMode) -> Rounding {
    match r {
        ct::RoundingMode::NearestEven => Rounding::NearestEven,
        ct::RoundingMode::Zero => Rounding::Zero,
        ct::RoundingMode::NegativeInf => Rounding::NegativeInf,
        ct::RoundingMode::PositiveInf => Rounding::PositiveInf,
        ct::RoundingMode::Approx => Rounding::Approx,
        ct::RoundingMode::Full => Rounding::Full,
        ct::RoundingMode::NearestIntToZero => Rounding::NearestIntToZero,
        ct::RoundingMode::NearestAway => Rounding::NearestAway,
    }
}

fn mode(r: ct::RoundingMode, flush: bool) -> FloatMode {
    FloatMode { rounding: rounding(r), flush }
}

fn signedness(s: ct::Signedness) -> Signedness {
    match s {
        ct::Signedness::Unsigned => Signedness::Unsigned,
        ct::Signedness::Signed => Signedness::Signed,
    }
}

fn overflow(o: ct::IntegerOverflow) -> Overflow {
    let (no_signed_wrap, no_unsigned_wrap) = match o {
        ct::IntegerOverflow::None => (false, false),
        ct::IntegerOverflow::NoSignedWrap => (true, false),
        ct::IntegerOverflow::NoUnsignedWrap => (false, true),
        ct::IntegerOverflow::NoWrap => (true, true),
    };
    Overflow { no_signed_wrap, no_unsigned_wrap }
}

fn predicate(p: ct::ComparisonPredicate) -> Predicate {
    match p {
        ct::ComparisonPredicate::Equal => Predicate::Equal,
        ct::ComparisonPredicate::NotEqual => Predicate::NotEqual,
        ct::ComparisonPredicate::LessThan => Predicate::LessThan,
        ct::ComparisonPredicate::LessThanOrEqual => Predicate::LessThanOrEqual,
        ct::ComparisonPredicate::GreaterThan => Predicate::GreaterThan,
        ct::ComparisonPredicate::GreaterThanOrEqual => Predicate::GreaterThanOrEqual,
    }
}

fn access(order: ct::MemoryOrderingSemantics, scope: Option<ct::MemoryScope>) -> AccessOrder {
    let order = match order {
        ct::MemoryOrderingSemantics::Weak => Order::Weak,
        ct::MemoryOrderingSemantics::Relaxed => Order::Relaxed,
        ct::MemoryOrderingSemantics::Acquire => Order::Acquire,
        ct::MemoryOrderingSemantics::Release => Order::Release,
        ct::MemoryOrderingSemantics::AcqRel => Order::AcqRel,
    };
    let scope = scope.map(|s| match s {
        ct::MemoryScope::TileBlock => Scope::TileBlock,
        ct::MemoryScope::Device => Scope::Device,
        ct::MemoryScope::System => Scope::System,
    });
    AccessOrder { order, scope }
}

fn update(m: ct::AtomicRMWMode) -> Update {
    match m {
        ct::AtomicRMWMode::And => Update::And,
        ct::AtomicRMWMode::Or => Update::Or,
        ct::AtomicRMWMode::Xor => Update::Xor,
        ct::AtomicRMWMode::Add => Update::Add,
        ct::AtomicRMWMode::AddF => Update::AddF,
        ct::AtomicRMWMode::Max => Update::Max,
        ct::AtomicRMWMode::Min => Update::Min,
        ct::AtomicRMWMode::UMax => Update::UMax,
        ct::AtomicRMWMode::UMin => Update::UMin,
        ct::AtomicRMWMode::Xchg => Update::Xchg,
    }
}

fn multimem_update(k: ct::MultimemReductionKind, view: Val<'_>) -> Update {
    use ct::MultimemReductionKind as Kind;
    match k {
        Kind::Add if view_type(ty(view)).is_some_and(|v| v.tensor.element.is_float()) => Update::AddF,
        Kind::Add => Update::Add,
        Kind::Min => Update::Min,
        Kind::Max => Update::Max,
        Kind::And => Update::And,
        Kind::Or => Update::Or,
        Kind::Xor => Update::Xor,
        Kind::UMin => Update::UMin,
        Kind::UMax => Update::UMax,
    }
}

fn promise(a: Attribute<'_>) -> Option<Promise> {
    if let Some(a) = ct::DivByAttr::cast(a) {
        return Some(Promise::DivBy { divisor: a.divisor() as u64, groups: a.every().zip(a.along()) });
    }
    if let Some(a) = ct::SameElementsAttr::cast(a) {
        return Some(Promise::SameElements(a.values().to_vec()));
    }
    let a = ct::BoundedAttr::cast(a)?;
    Some(Promise::Bounded { low: a.lb(), high: a.ub() })
}

//===-- ops -----------------------------------------------------------------//

#[derive(Default)]
struct ProgramBuilder {
    entry: Entry,
    values: FxHashMap<usize, Value>,
    /// Interned texts of locations, which many ops share.
    locations: FxHashMap<String, Arc<str>>,
}

impl ProgramBuilder {
    fn define(&mut self, op: OpRef<'_>, v: Val<'_>) -> Result<Value> {
        let Some(t) = type_of(ty(v)) else { return error(op, format!("unsupported type {}", ty(v))) };
        let value = self.entry.value(t);
        self.values.insert(key(v), value);
        Ok(value)
    }

    fn block(&mut self, parent: OpRef<'_>, source: Blk<'_>) -> Result<Block> {
        let mut block = Block::default();
        for a in args(source) {
            block.arguments.push(self.define(parent, a)?);
        }
        for op in ops_of(source) {
            block.ops.push(self.op(op)?);
        }
        Ok(block)
    }

    fn op(&mut self, op: OpRef<'_>) -> Result<Op> {
        let kind = self.kind(op)?;
        let mut new = Op { kind, operands: vec![], results: vec![], regions: vec![], location: self.location(op) };
        for v in operands(op) {
            let Some(v) = self.values.get(&key(v)) else { return error(op, "a value from outside the entry") };
            new.operands.push(*v);
        }
        for i in 0..region_count(op) {
            // A missing branch of an `if` becomes an empty block.
            new.regions.push(match entry_block(region(op, i)) {
                Some(b) => self.block(op, b)?,
                None => Block::default(),
            });
        }
        for v in results(op) {
            new.results.push(self.define(op, v)?);
        }
        Ok(new)
    }

    fn location(&mut self, op: OpRef<'_>) -> Arc<str> {
        let text = location_text(op);
        self.locations.entry(text).or_insert_with_key(|t| t.as_str().into()).clone()
    }

    fn kind(&mut self, op: OpRef<'_>) -> Result<OpKind> {
        use AnyOp::*;
        let Some(any) = AnyOp::cast(op) else {
            return error(op, format!("'{}' is not an op of cuda_tile", op_name(op)));
        };
        Ok(match any {
            AbsFOp(_) => OpKind::AbsF,
            NegFOp(_) => OpKind::NegF,
            CeilOp(_) => OpKind::Ceil,
            FloorOp(_) => OpKind::Floor,
            AddFOp(o) => OpKind::AddF(mode(o.rounding_mode(), o.flush_to_zero())),
            SubFOp(o) => OpKind::SubF(mode(o.rounding_mode(), o.flush_to_zero())),
            MulFOp(o) => OpKind::MulF(mode(o.rounding_mode(), o.flush_to_zero())),
            DivFOp(o) => OpKind::DivF(mode(o.rounding_mode(), o.flush_to_zero())),
            FmaOp(o) => OpKind::Fma(mode(o.rounding_mode(), o.flush_to_zero())),
            SqrtOp(o) => OpKind::Sqrt(mode(o.rounding_mode(), o.flush_to_zero())),
            RsqrtOp(o) => OpKind::Rsqrt { flush: o.flush_to_zero() },
            Exp2Op(o) => OpKind::Exp2 { flush: o.flush_to_zero() },
            ExpOp(o) => OpKind::Exp { rounding: rounding(o.rounding_mode()) },
            TanHOp(o) => OpKind::Tanh { rounding: rounding(o.rounding_mode()) },
            LogOp(_) => OpKind::Log,
            Log2Op(_) => OpKind::Log2,
            SinOp(_) => OpKind::Sin,
            CosOp(_) => OpKind::Cos,
            TanOp(_) => OpKind::Tan,
            SinHOp(_) => OpKind::Sinh,
            CosHOp(_) => OpKind::Cosh,
            PowOp(_) => OpKind::Pow,
            FPowIOp(o) => match tile_type(ty(o.exponent())).and_then(|t| t.element.number()) {
                Some(exponent) => OpKind::PowI { exponent },
                None => return error(op, "the exponent must be a tile of integers"),
            },
            Atan2Op(_) => OpKind::Atan2,
            RemFOp(_) => OpKind::RemF,
            MaxFOp(o) => OpKind::MaxF { propagate_nan: o.propagate_nan(), flush: o.flush_to_zero() },
            MinFOp(o) => OpKind::MinF { propagate_nan: o.propagate_nan(), flush: o.flush_to_zero() },
            CmpFOp(o) => OpKind::CmpF {
                predicate: predicate(o.comparison_predicate()),
                ordered: o.comparison_ordering() == ct::ComparisonOrdering::Ordered,
            },
            AbsIOp(_) => OpKind::AbsI,
            NegIOp(o) => OpKind::NegI(overflow(o.overflow())),
            AddIOp(o) => OpKind::AddI(overflow(o.overflow())),
            SubIOp(o) => OpKind::SubI(overflow(o.overflow())),
            MulIOp(o) => OpKind::MulI(overflow(o.overflow())),
            ShLIOp(o) => OpKind::ShlI(overflow(o.overflow())),
            ShRIOp(o) => OpKind::ShrI(signedness(o.signedness())),
            MulhiIOp(_) => OpKind::MulhiI,
            DivIOp(o) => OpKind::DivI { signedness: signedness(o.signedness()), rounding: rounding(o.rounding()) },
            RemIOp(o) => OpKind::RemI(signedness(o.signedness())),
            MaxIOp(o) => OpKind::MaxI(signedness(o.signedness())),
            MinIOp(o) => OpKind::MinI(signedness(o.signedness())),
            AndIOp(_) => OpKind::AndI,
            OrIOp(_) => OpKind::OrI,
            XOrIOp(_) => OpKind::XorI,
            CmpIOp(o) => {
                OpKind::CmpI { predicate: predicate(o.comparison_predicate()), signedness: signedness(o.signedness()) }
            }
            ExtIOp(o) => OpKind::ExtI(signedness(o.signedness())),
            TruncIOp(o) => OpKind::TruncI(overflow(o.overflow())),
            FToFOp(o) => OpKind::FToF { rounding: rounding(o.rounding_mode()) },
            FToIOp(o) => OpKind::FToI { signedness: signedness(o.signedness()), saturating: o.saturating() },
            IToFOp(o) => OpKind::IToF(signedness(o.signedness())),
            BitcastOp(_) => OpKind::Bitcast,
            PtrToIntOp(_) => OpKind::PtrToInt,
            IntToPtrOp(_) => OpKind::IntToPtr,
            PtrToPtrOp(_) => OpKind::PtrToPtr,
            PackOp(_) => OpKind::Pack,
            UnpackOp(_) => OpKind::Unpack,
            ConstantOp(o) => match tile_type(ty(o.result())).and_then(|t| t.element.number()) {
                Some(n) => OpKind::Constant(dense(o.value(), n).into()),
                None => return error(op, "a constant must be a tile of numbers"),
            },
            IotaOp(_) => OpKind::Iota,
            BroadcastOp(_) => OpKind::Broadcast,
            ReshapeOp(_) => OpKind::Reshape,
            PermuteOp(o) => OpKind::Permute(o.permutation().iter().map(|d| *d as usize).collect()),
            CatOp(o) => OpKind::Cat { dim: o.dim() as usize },
            ExtractOp(_) => OpKind::Extract,
            InsertOp(_) => OpKind::Insert,
            SelectOp(_) => OpKind::Select,
            OffsetOp(_) => OpKind::Offset,
            LoadPtrTkoOp(o) => OpKind::LoadPtr {
                access: access(o.memory_ordering_semantics(), o.memory_scope()),
                mask: o.mask().is_some(),
                padding: o.padding_value().is_some(),
                token: o.token().is_some(),
            },
            StorePtrTkoOp(o) => OpKind::StorePtr {
                access: access(o.memory_ordering_semantics(), o.memory_scope()),
                mask: o.mask().is_some(),
                token: o.token().is_some(),
            },
            AtomicCASTkoOp(o) => OpKind::AtomicCas {
                access: access(o.memory_ordering_semantics(), Some(o.memory_scope())),
                mask: o.mask().is_some(),
                token: o.token().is_some(),
            },
            AtomicRMWTkoOp(o) => OpKind::AtomicRmw {
                access: access(o.memory_ordering_semantics(), Some(o.memory_scope())),
                update: update(o.mode()),
                mask: o.mask().is_some(),
                token: o.token().is_some(),
            },
            AllocaOp(o) => {
                OpKind::Alloca { count: o.num_elem() as u64, alignment: o.alignment() as u64, global: o.global() }
            }
            GetGlobalOp(o) => OpKind::GetGlobal(symbol(o.name()).to_string()),
            MakeTensorViewOp(_) => OpKind::MakeTensorView,
            MakePartitionViewOp(_) | MakeStridedViewOp(_) | MakeGatherScatterViewOp(_) => OpKind::MakeView,
            LoadViewTkoOp(o) => OpKind::LoadView {
                access: access(o.memory_ordering_semantics(), o.memory_scope()),
                token: o.token().is_some(),
                inbounds: bool_list(o.inbounds()),
            },
            StoreViewTkoOp(o) => OpKind::StoreView {
                access: access(o.memory_ordering_semantics(), o.memory_scope()),
                token: o.token().is_some(),
                inbounds: bool_list(o.inbounds()),
            },
            AtomicRedViewTkoOp(o) => OpKind::AtomicRedView {
                access: access(o.memory_ordering_semantics(), Some(o.memory_scope())),
                update: update(o.mode()),
                token: o.token().is_some(),
                inbounds: bool_list(o.inbounds()),
            },
            MultimemLoadReduceViewTkoOp(o) => OpKind::MultimemLoadReduce {
                access: access(o.memory_ordering_semantics(), o.memory_scope()),
                update: multimem_update(o.reduction(), o.view()),
                token: o.token().is_some(),
                inbounds: bool_list(o.inbounds()),
            },
            MultimemReduceViewTkoOp(o) => OpKind::MultimemReduce {
                access: access(o.memory_ordering_semantics(), Some(o.memory_scope())),
                update: multimem_update(o.reduction(), o.view()),
                token: o.token().is_some(),
                inbounds: bool_list(o.inbounds()),
            },
            MultimemStoreViewTkoOp(o) => OpKind::MultimemStore {
                access: access(o.memory_ordering_semantics(), o.memory_scope()),
                token: o.token().is_some(),
                inbounds: bool_list(o.inbounds()),
            },
            GetTensorShapeOp(_) => OpKind::GetTensorShape,
            GetIndexSpaceShapeOp(_) => OpKind::GetIndexSpaceShape,
            GdcLaunchDependentsTkoOp(_) => OpKind::LaunchDependents,
            GdcWaitTkoOp(_) => OpKind::WaitForGrids,
            MemoryFenceAliasTkoOp(_) => OpKind::FenceAlias,
            MakeTokenOp(_) => OpKind::MakeToken,
            JoinTokensOp(_) => OpKind::JoinTokens,
            MmaFOp(o) => OpKind::MmaF { fast_acc: o.fast_acc() },
            MmaIOp(o) => OpKind::MmaI { lhs: signedness(o.signedness_lhs()), rhs: signedness(o.signedness_rhs()) },
            MmaFScaledOp(_) => OpKind::MmaFScaled,
            ReduceOp(o) => OpKind::Reduce { dim: o.dim() as usize, identities: identities(op, o.identities())? },
            ScanOp(o) => OpKind::Scan {
                dim: o.dim() as usize,
                reverse: o.reverse(),
                identities: identities(op, o.identities())?,
            },
            IfOp(_) => OpKind::If,
            ForOp(o) => OpKind::For { unsigned: o.unsigned_cmp() },
            LoopOp(_) => OpKind::Loop,
            BreakOp(_) => OpKind::Break,
            ContinueOp(_) => OpKind::Continue,
            YieldOp(_) => OpKind::Yield,
            ReturnOp(_) => OpKind::Return,
            GetTileBlockIdOp(_) => OpKind::GetTileBlockId,
            GetNumTileBlocksOp(_) => OpKind::GetNumTileBlocks,
            AssertOp(o) => OpKind::Assert(o.message().to_string()),
            AssumeOp(o) => match promise(o.predicate()) {
                Some(p) => OpKind::Assume(p),
                None => return error(op, "unknown promise"),
            },
            PrintTkoOp(o) => OpKind::Print { format: o.str().to_string(), token: o.token().is_some() },
            PreviewCallOp(_) => {
                let call = super::library_call(op).or_else(|e| error(op, e.to_string()))?;
                let constants: std::result::Result<Vec<Constant>, &String> =
                    call.constants.iter().map(|c| c.as_ref().map(library_constant)).collect();
                match constants {
                    Ok(constants) => OpKind::ForeignCall { callee: call.callee, constants },
                    Err(why) => return error(op, why.clone()),
                }
            }
            ModuleOp(_) | GlobalOp(_) | EntryOp(_) | TestingFuncOp(_) | PreviewFuncOp(_) | PreviewExternImplOp(_) => {
                return error(op, format!("'{}' is not allowed inside an entry", op_name(op)));
            }
        })
    }
}

fn library_constant(value: &tile_library::Value) -> Constant {
    match value {
        tile_library::Value::Int(v) => Constant::Int(*v),
        tile_library::Value::Text(text) => Constant::Text(text.clone()),
        tile_library::Value::Type(name) => Constant::Type(name.clone()),
        tile_library::Value::Tuple(elements) => Constant::Shape(elements.iter().map(library_constant).collect()),
    }
}

/// Bits of the identities, each in the type of its operand.
fn identities(op: OpRef<'_>, list: Attribute<'_>) -> Result<Vec<u64>> {
    let mut out = vec![];
    for (i, v) in operands(op).enumerate() {
        // SAFETY: identities are an array; the verifier has checked its length.
        let a = unsafe {
            let there =
                mlirAttributeIsAArray(list.to_raw()) && (i as isize) < mlirArrayAttrGetNumElements(list.to_raw());
            there.then(|| Attribute::from_raw(mlirArrayAttrGetElement(list.to_raw(), i as isize)))
        };
        let n = tile_type(ty(v)).and_then(|t| t.element.number());
        match a.zip(n).and_then(|(a, n)| bits(a, n)) {
            Some(bits) => out.push(bits),
            None => return error(op, format!("identity {i} does not have the type of its operand")),
        }
    }
    Ok(out)
}

/// The name in a symbol reference.
fn symbol<'c>(a: Attribute<'c>) -> &'c str {
    // SAFETY: the attribute is a flat symbol reference; its storage lives as long as the context.
    unsafe { raw_to_str(mlirFlatSymbolRefAttrGetValue(a.to_raw())) }
}
