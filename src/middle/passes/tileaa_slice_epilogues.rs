//! `tileaa-slice-epilogues` processes accumulators in tensor memory in slices of their columns.
//!
//! The plan of a kernel says how many slices keep the tensors after its dots within the registers of a thread
//! (`tileaa-plan-dots`). The pass repeats the code from the accumulators to the stores for each slice
//! (`analysis::column_slices`):
//!
//! ```text
//! %z = arith.addf %sum, %y : 128x256          %s0 = extract_slice %sum[0, 0] : 128x128
//! tiled_store %z, %C[%i, %j]                  %z0 = arith.addf %s0, (slice 0 of %y) : 128x128
//!                                        =>   tiled_store %z0, %C'[%i, 2 * %j]
//!                                             %s1 = extract_slice %sum[0, 1] : 128x128
//!                                             %z1 = arith.addf %s1, (slice 1 of %y) : 128x128
//!                                             tiled_store %z1, %C'[%i, 2 * %j + 1]
//! ```
//!
//! `C'` is the same view in tiles of 128 columns. `tileas-materialize-async` loads each slice where it is extracted.
//!
//! If dots depend on each other, threads hold whole rows of the last accumulator. Only its stores are sliced then: the
//! result moves through shared memory slice by slice.

use crate::{
    analysis::{
        column_slices::{self, ColumnSlices},
        facts::Facts,
        tile_parts::{index_of_part, view_of_parts},
    },
    dialect::{
        behaviour::is_constant,
        dot_plan::DotPlan,
        layouts::{Tensor, retype_constant},
        nv_tileaa::{
            self, ExtractSliceOp, JoinMemTokenOp, MakeTiledViewOp, MemTokenType, TiledLoadOp, TiledStoreOp,
            TiledViewType,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::{Context, ir::r#type::IntegerType};
use rustc_hash::FxHashMap;

#[derive(Clone, Default)]
pub struct SliceEpilogues;

impl RustPass for SliceEpilogues {
    pass_descriptor!(tileaa_slice_epilogues);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileaa_slice_epilogues::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let Some(plan) = DotPlan::of(function.op()).filter(|plan| plan.slices > 1) else { continue };
            let facts = Facts::of(function.op());
            if plan.whole_rows {
                for store in column_slices::stores(function.op(), plan.slices) {
                    cx.stat_add(stat::NUM_SLICED, 1);
                    slice_store(store, plan.slices.into(), &facts, context)?;
                }
                continue;
            }
            let found = column_slices::of_all(function.op(), &facts);
            let found = found.ok_or_else(|| fail(function.op(), "the code after its dots cannot be sliced"))?;
            for code in found {
                cx.stat_add(stat::NUM_SLICED, 1);
                slice(&code, plan.slices.into(), &facts, context)?;
            }
        }
        Ok(())
    }
}

fn slice<'c>(code: &ColumnSlices<'c>, count: i64, facts: &Facts, context: &'c Context) -> Result<(), Failed> {
    let Some(last) = code.ops.last() else { return Ok(()) };
    let b = Builder::before(context, *last);
    let mut views = FxHashMap::default();
    // The tokens of each store, one for each slice.
    let mut tokens: FxHashMap<usize, (Val<'c>, Vec<Val<'c>>)> = FxHashMap::default();
    let mut inputs = vec![];
    for number in 0..count {
        let mut part =
            Part { code, count, number, facts, b: &b, views: &mut views, inputs: vec![], values: FxHashMap::default() };
        for op in &code.ops {
            let copy = part.copy(*op)?;
            for (old, new) in results(*op).zip(results(copy)).filter(|(old, _)| MemTokenType::cast(ty(*old)).is_some())
            {
                tokens.entry(key(old)).or_insert_with(|| (old, vec![])).1.push(new);
            }
        }
        inputs = part.inputs;
    }
    for (old, parts) in tokens.into_values().filter(|(old, _)| has_uses(*old)) {
        let joined = JoinMemTokenOp::build(&b, ty(old), &parts).map_err(|e| fail(*last, e.to_string()))?.result();
        replace_all_uses(old, joined);
    }
    code.ops.iter().rev().for_each(|op| erase(*op));
    // An op follows the ops that compute its operands.
    for op in inputs.into_iter().rev().filter(|op| results(*op).all(|v| !has_uses(v))) {
        erase(op);
    }
    Ok(())
}

/// Stores slices of the columns of a tile.
fn slice_store<'c>(store: TiledStoreOp<'c>, count: i64, facts: &Facts, context: &'c Context) -> Result<(), Failed> {
    let op = store.op();
    let error = |e: BuildError| fail(op, e.to_string());
    let unknown = || fail(op, "the form of the tile's view is not supported");
    let mut tensor = Tensor::of_value(store.value()).ok_or_else(unknown)?;
    let made = defining_op(store.view()).and_then(MakeTiledViewOp::cast).ok_or_else(unknown)?;
    let b = Builder::before(context, made.op());
    b.set_location(made.op().location());
    let d = tensor.shape.len() - 1;
    let of = TiledViewType::cast(ty(store.view())).ok_or_else(unknown)?;
    let parts = view_of_parts(&b, of, made.memref(), (d, count)).ok_or_else(unknown)?.map_err(error)?;
    tensor.shape[d] /= count;
    b.set_before(op);
    b.set_location(op.location());
    let t: melior::ir::Type<'c> = IntegerType::new(context, 32).into();
    let index = operand(op, VIEW + 1 + d);
    let mut tokens = vec![];
    for number in 0..count {
        let indices: Vec<Val<'c>> = (0..=d).map(|i| b.int_constant(t, if i == d { number } else { 0 })).collect();
        let slice = ExtractSliceOp::build(&b, tensor.ty(), store.value(), &indices).map_err(error)?.result();
        let at = index_of_part(&b, (index, index), (b.int_constant(t, number), count), facts);
        let copy = clone_detached(op);
        b.insert_op(copy);
        for (i, v) in [(VIEW - 1, slice), (VIEW, parts), (VIEW + 1 + d, at)] {
            set_operand(copy, i, v);
        }
        tokens.extend(results(copy));
    }
    if has_uses(store.result_token()) {
        let joined = JoinMemTokenOp::build(&b, ty(store.result_token()), &tokens).map_err(error)?;
        replace_all_uses(store.result_token(), joined.result());
    }
    erase(op);
    Ok(())
}

/// The number of the view among the operands of a store, after the value and before the indices.
const VIEW: usize = 1;

/// The code of one slice.
struct Part<'a, 'c> {
    code: &'a ColumnSlices<'c>,
    /// The number of slices, and the number of this one.
    count: i64,
    number: i64,
    facts: &'a Facts,
    b: &'a Builder<'c>,
    /// The views of slices, by the view of whole tiles.
    views: &'a mut FxHashMap<usize, Val<'c>>,
    /// The ops that are copied because others use their slices.
    inputs: Vec<OpRef<'c>>,
    /// The slices, by the whole value.
    values: FxHashMap<usize, Val<'c>>,
}

impl<'c> Part<'_, 'c> {
    /// The slice of a value, or the value if it stays whole.
    fn of(&mut self, v: Val<'c>) -> Result<Val<'c>, Failed> {
        if let Some(slice) = self.values.get(&key(v)) {
            return Ok(*slice);
        }
        let (Some(d), Some(op)) = (self.code.dimension(v), defining_op(v)) else { return Ok(v) };
        if !self.code.sums.contains(&v) {
            self.copy(op)?;
            self.inputs.push(op);
            return self.values.get(&key(v)).copied().ok_or_else(|| fail(op, "it has no slice"));
        }
        let t: melior::ir::Type<'c> = IntegerType::new(self.b.context(), 32).into();
        let rank = Tensor::of_value(v).map_or(0, |t| t.shape.len());
        let indices: Vec<Val<'c>> =
            (0..rank).map(|i| self.b.int_constant(t, if i == d { self.number } else { 0 })).collect();
        let slice = ExtractSliceOp::build(self.b, self.sliced_type(v), v, &indices);
        let slice = slice.map_err(|e| fail(op, e.to_string()))?.result();
        self.values.insert(key(v), slice);
        Ok(slice)
    }

    fn sliced_type(&self, v: Val<'c>) -> melior::ir::Type<'c> {
        match (self.code.dimension(v), Tensor::of_value(v)) {
            (Some(d), Some(mut t)) => {
                t.shape[d] /= self.count;
                t.ty()
            }
            _ => ty(v),
        }
    }

    /// Copies an op for this slice.
    fn copy(&mut self, op: OpRef<'c>) -> Result<OpRef<'c>, Failed> {
        let given: Vec<Val<'c>> = operands(op).map(|v| self.of(v)).collect::<Result<_, _>>()?;
        self.b.set_location(op.location());
        let access = TiledLoadOp::cast(op).map(|load| (0, load.result()));
        let access = access.or_else(|| TiledStoreOp::cast(op).map(|store| (1, store.value())));
        let access = access.map(|(at, v)| self.access(op, at, v)).transpose()?;
        let copy = clone_detached(op);
        self.b.insert_op(copy);
        for (i, v) in given.into_iter().enumerate() {
            set_operand(copy, i, v);
        }
        for (at, v) in access.into_iter().flatten() {
            set_operand(copy, at, v);
        }
        for (old, new) in results(op).zip(results(copy)) {
            set_ty(new, self.sliced_type(old));
            self.values.insert(key(old), new);
        }
        if is_constant(op) {
            retype_constant(copy);
        }
        Ok(copy)
    }

    /// The view and the index of the access to a slice of `tile`, with their operand numbers. The view is operand `at`,
    /// and the indices follow it.
    fn access(&mut self, op: OpRef<'c>, at: usize, tile: Val<'c>) -> Result<[(usize, Val<'c>); 2], Failed> {
        let view = operand(op, at);
        let unknown = || fail(op, "the form of the tile's view is not supported");
        let d = self.code.dimension(tile).ok_or_else(unknown)?;
        let made = defining_op(view).and_then(MakeTiledViewOp::cast).ok_or_else(unknown)?;
        let parts = match self.views.get(&key(view)) {
            Some(parts) => *parts,
            None => {
                let b = Builder::before(self.b.context(), made.op());
                b.set_location(made.op().location());
                let of = TiledViewType::cast(ty(view)).ok_or_else(unknown)?;
                let parts = view_of_parts(&b, of, made.memref(), (d, self.count)).ok_or_else(unknown)?;
                let parts = parts.map_err(|e| fail(op, e.to_string()))?;
                self.views.insert(key(view), parts);
                parts
            }
        };
        let index = operand(op, at + 1 + d);
        let number = self.b.int_constant(IntegerType::new(self.b.context(), 32).into(), self.number);
        let index = index_of_part(self.b, (index, index), (number, self.count), self.facts);
        Ok([(at, parts), (at + 1 + d, index)])
    }
}
