//! `tileas-materialize-convert-layout` decides how each layout conversion and slice extraction is carried out.
//!
//! A slice in a thread's registers is numbered by its indices, like a CTA of a cluster by its rank. With the slice
//! number in place of the CTA number, an extraction is a conversion to the layout that spreads the whole tensor over
//! the slices (`Layout::over_blocks`). Both are thus one problem for the layout algebra, with four solutions,
//! cheapest first:
//!
//! * Every thread already holds the elements it needs: the op stays and only renames registers.
//! * Every warp holds the elements that its threads need: `shuffle`, if it takes few enough shuffles and selects.
//! * Otherwise the elements go through shared memory:
//!
//!   ```text
//!   %m = alloc_tensor            in a swizzle that both sides access without bank conflicts, where there is one
//!   barrier                      earlier readers of the same storage are done
//!   local_store %source, %m
//!   barrier
//!   %r = local_load %m           local_load_slice for a slice
//!   ```
//!
//!   The first barrier is omitted if no earlier access to shared memory can be in flight: at the first conversion of
//!   a function, outside loops. Consecutive round trips are merged.
//! * A tensor larger than the storage available to a conversion uses `exchange`, part by part.
//!
//! A tensor with too many registers for a thread is processed in passes, as if there were more warps
//! (`Layout::registers_as_warps`). Its conversion may stay, or become a shuffle, if no element moves between passes;
//! otherwise it is an `exchange`. A slice of such a tensor is extracted in two steps. The first step extracts a
//! larger slice, with one element per thread, from a layout in which threads hold whole slices; the second step
//! extracts the wanted slice from it.

mod extern_calls;
mod merge;
mod replicate;

use crate::{
    analysis::{
        layouts::{default_layout, slice_over_blocks},
        pipelines::scratch_bytes,
        registers::{Limit, PASS_REGISTERS},
        warps::{warps_at, warps_of},
    },
    dialect::{
        behaviour,
        layouts::{Tensor, layout_attr, storage_bits, tensor_type},
        loops::is_in_loop,
        nv_tileaa,
        nv_tileas::{
            AllocTensorOp, AnyOp, ConvertLayoutOp, CopyOp, ExchangeOp, ExternCallOp, ExtractSliceOp, LocalLoadOp,
            LocalLoadSliceOp, LocalStoreOp, MemDescType, MemorySpace, ShuffleOp,
        },
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        remark::{self, remark},
        rt::*,
        shared_memory::{Stored, loaded_matrices, storage_type, store_all, vector_of},
        target::target,
    },
    pass_descriptor,
};
use melior::Context;
use tile_layout::{
    Conversion, ConvertOptions, Layout, Matrices, PartsPlan, Shape, SharedOptions, SharedPlan, ShufflePlan, convert,
    register_map,
};

#[derive(Clone, Default)]
pub struct MaterializeConvertLayout;

impl RustPass for MaterializeConvertLayout {
    pass_descriptor!(tileas_materialize_convert_layout);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let target = target(op, descriptors::tileas_materialize_convert_layout::Options(cx).compute_capability())?;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            warps_of(function)?;
            let limit = Limit::of(function.op());
            lower_copies(function.op(), context)?;
            let mut moves = vec![];
            let mut touched = false;
            walk(function.op(), &mut |o| {
                touched |= region_count(o) == 0 && behaviour::touches_shared_memory(o);
                let moves_data = matches!(AnyOp::cast(o), Some(AnyOp::ConvertLayoutOp(_) | AnyOp::ExtractSliceOp(_)));
                if moves_data || replicate::concerns(o) || ExternCallOp::cast(o).is_some() {
                    moves.push(o);
                }
            });
            let mut moves: Vec<OpRef<'c>> = moves.into_iter().rev().collect();
            while let Some(op) = moves.pop() {
                let barrier_first = touched || is_in_loop(op);
                touched |= if let Some(call) = ExternCallOp::cast(op) {
                    extern_calls::materialize(call, barrier_first, context)?
                } else if replicate::concerns(op) {
                    replicate::materialize(op, barrier_first, context)?
                } else {
                    let limits = (warps_at(op)?, limit, loaded_matrices(target));
                    Move::of(op, context)?.materialize(barrier_first, limits, &mut moves)?
                };
            }
            merge::merge(function.op(), target);
        }
        Ok(())
    }
}

/// Lowers copies between registers and shared memory to loads and stores.
fn lower_copies<'c>(function: OpRef<'c>, context: &'c Context) -> Result<(), Failed> {
    let copies = collect_ops(function, CopyOp::cast);
    for copy in copies {
        let op = copy.op();
        let memory = copy.dest().unwrap_or(copy.source());
        let space = MemDescType::cast(ty(memory)).map(MemDescType::space);
        let between_memories = copy.dest().is_some() && MemDescType::cast(ty(copy.source())).is_some();
        if space != Some(MemorySpace::Shared) || between_memories {
            return Err(fail(op, "a copy from or to tensor memory has no lowering"));
        }
        let b = Builder::before(context, op);
        let built = match copy.result().next() {
            Some(old) => LocalLoadOp::build(&b, ty(old), copy.source(), i64_attr(context, 1))
                .map(|load| replace_all_uses(old, load.result())),
            None => LocalStoreOp::build(&b, copy.source(), memory, i64_attr(context, 1)).map(|_| ()),
        };
        built.map_err(|e| fail(op, e.to_string()))?;
        erase(op);
    }
    Ok(())
}

/// A conversion or an extraction.
struct Move<'c> {
    op: OpRef<'c>,
    context: &'c Context,
    source: Val<'c>,
    result: Val<'c>,
    /// The indices of an extraction.
    indices: Vec<Val<'c>>,
    whole: Tensor<'c>,
    from: Layout,
    to: Layout,
    /// Whether each element of the result is in a register of the same thread.
    stays: bool,
}

impl<'c> Move<'c> {
    fn of(op: OpRef<'c>, context: &'c Context) -> Result<Self, Failed> {
        let (source, result, indices) = match (ConvertLayoutOp::cast(op), ExtractSliceOp::cast(op)) {
            (Some(x), _) => (x.source(), x.result(), vec![]),
            (_, Some(x)) => (x.source(), x.result(), x.indices().collect()),
            _ => return Err(fail(op, "neither a conversion nor an extraction")),
        };
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let tensor = |v| Tensor::of_value(v).ok_or_else(|| fail(op, "operand is not a tensor"));
        let (whole, part) = (tensor(source)?, tensor(result)?);
        let (Some(from), Some(to)) = (whole.layout(), part.layout()) else {
            return Err(fail(op, "tensor has no layout"));
        };
        let all = to.over_registers(&part.tile_shape(), &whole.tile_shape()).map_err(error)?;
        let stays = register_map(&from, &all).is_some();
        let to = slice_over_blocks(&to, &part, &whole).map_err(error)?;
        Ok(Move { op, context, source, result, indices, whole, from, to, stays })
    }

    /// Materializes the move. Returns whether it goes through shared memory.
    ///
    /// Moves that it creates and that still need to be materialized are added to `more`.
    fn materialize(
        self,
        barrier_first: bool,
        (warps, limit, matrices): (u64, Limit, Matrices),
        more: &mut Vec<OpRef<'c>>,
    ) -> Result<bool, Failed> {
        if self.stays {
            return Ok(false);
        }
        if limit.is_exceeded(self.source) || limit.is_exceeded(self.result) {
            return self.of_many(warps, more);
        }
        let error = |e: &dyn std::fmt::Display| fail(self.op, e.to_string());
        let mut options = ConvertOptions::new(storage_bits(self.whole.element));
        options.shared.max_bytes = scratch_bytes(self.op);
        // A dynamic slice is loaded element by element.
        options.shared.ldmatrix = if self.indices.is_empty() { matrices } else { Matrices::None };
        let plan = convert(&self.from, &self.to, &self.whole.tile_shape(), &options).map_err(|e| error(&e))?;
        let b = Builder::before(self.context, self.op);
        let plan = match plan {
            Conversion::Identity | Conversion::RegisterPermute { .. } => return Ok(false),
            Conversion::WarpShuffle(_) => {
                let new = ShuffleOp::build(&b, ty(self.result), self.source, &self.indices).map_err(|e| error(&e))?;
                self.replace(new.result());
                return Ok(false);
            }
            Conversion::SharedMemory(plan) => plan,
        };
        if plan.rounds > 1 {
            return self.of_many(warps, more);
        }
        if is_in_loop(self.op) {
            let bytes = self.whole.elements() * i64::from(storage_bits(self.whole.element) / 8);
            let what = if self.indices.is_empty() { "changes its layout" } else { "is sliced across threads" };
            let reason = format!("a tensor of {bytes} bytes {what} through shared memory in every iteration");
            remark(self.op, remark::CONVERSION_IN_LOOP, reason, None);
        }
        let new = self.through_shared(&b, &plan, barrier_first).map_err(|e| error(&e))?;
        self.replace(new);
        Ok(true)
    }

    /// Materializes a move of a tensor that is too large for registers or for its storage.
    fn of_many(self, warps: u64, more: &mut Vec<OpRef<'c>>) -> Result<bool, Failed> {
        let error = |e: &dyn std::fmt::Display| fail(self.op, e.to_string());
        let b = Builder::before(self.context, self.op);
        if !self.indices.is_empty() {
            let new = self.in_steps(&b, warps, more)?;
            self.replace(new);
            return Ok(false);
        }
        if self.shuffles_in_passes(warps) {
            let new = ShuffleOp::build(&b, ty(self.result), self.source, &[]).map_err(|e| error(&e))?;
            self.replace(new.result());
            return Ok(false);
        }
        // Registers that repeat an element of their thread are renamed separately from the exchange.
        let (from, to) = (self.from.squeeze_registers().0, self.to.squeeze_registers().0);
        let bits = storage_bits(self.whole.element);
        let mut options = SharedOptions::new(bits);
        // Enough for one pass of each thread.
        let pass = ((warps * 32) << PASS_REGISTERS) * u64::from(bits / 8);
        options.max_bytes = scratch_bytes(self.op).min(pass);
        let plan = PartsPlan::new(&from, &to, &self.whole.tile_shape(), &options).map_err(|e| error(&e))?;
        let bytes = self.whole.elements() * i64::from(bits / 8);
        let (parts, size) = (plan.parts(), plan.bytes);
        remark(
            self.op,
            remark::CONVERSION_IN_PARTS,
            format!(
                "a tensor of {bytes} bytes changes its layout through shared memory in {parts} parts of {size} bytes"
            ),
            None,
        );
        let in_layout = |l: &Layout| self.whole.with_layout(self.context, l);
        let squeezed = |v: Val<'c>, l: &Layout| -> Result<Val<'c>, BuildError> {
            if ty(v) == in_layout(l) { Ok(v) } else { Ok(ConvertLayoutOp::build(&b, in_layout(l), v)?.result()) }
        };
        let source = squeezed(self.source, &from).map_err(|e| error(&e))?;
        let extent = 1 << plan.layout.offset_bits();
        let storage = self.storage(&b, &[extent], plan.layout.bases()).map_err(|e| error(&e))?;
        let moved = ExchangeOp::build(&b, in_layout(&to), source, storage).map_err(|e| error(&e))?;
        let new = squeezed(moved.result(), &self.to).map_err(|e| error(&e))?;
        self.replace(new);
        Ok(true)
    }

    /// Whether shuffles suffice if passes are treated as virtual warps.
    fn shuffles_in_passes(&self, warps: u64) -> bool {
        let (n, m) = (self.from.register().len(), self.to.register().len());
        let Some(passes) = n.checked_sub(PASS_REGISTERS as usize).filter(|_| n == m) else { return false };
        let [from, to] = [&self.from, &self.to].map(|l| l.registers_as_warps(passes, warps.ilog2() as usize));
        let options = ConvertOptions::new(storage_bits(self.whole.element));
        ShufflePlan::new(&from, &to, options.shared.elem_bits).is_some_and(|plan| {
            let selects = options.max_selects_per_element << PASS_REGISTERS;
            plan.shuffles() <= options.max_shuffles && plan.selects() <= selects
        })
    }

    /// Extracts a slice of a large tensor in two steps: first a slice with one element per thread, from the registers
    /// of a suitable layout, then the wanted slice from it. The first index is the high part of the wanted index.
    fn in_steps(&self, b: &Builder<'c>, warps: u64, more: &mut Vec<OpRef<'c>>) -> Result<Val<'c>, Failed> {
        let error = |e: &dyn std::fmt::Display| fail(self.op, e.to_string());
        let wanted = Tensor::of_value(self.result).ok_or_else(|| fail(self.op, "result is not a tensor"))?;
        let whole = self.whole.tile_shape();
        let mut log2 = wanted.tile_shape().log2().to_vec();
        let enough = 5 + warps.ilog2();
        // Grow the slice, starting with the last dimension.
        for d in (0..log2.len()).rev() {
            let missing = enough.saturating_sub(log2.iter().sum::<u32>());
            log2[d] += missing.min(whole.log2()[d] - log2[d]);
        }
        let step = Shape::from_log2(log2).map_err(|e| error(&e))?;
        let layout = default_layout(&step, warps);
        let spread = layout.over_registers(&step, &whole).map_err(|e| error(&e))?;
        let in_registers = ConvertLayoutOp::build(b, self.whole.with_layout(self.context, &spread), self.source)
            .map_err(|e| error(&e))?;
        let part = |index: Val<'c>, d: usize, high: bool| -> Val<'c> {
            let bits = step.log2()[d] - wanted.tile_shape().log2()[d];
            let amount = if high { i64::from(bits) } else { (1 << bits) - 1 };
            let by = b.int_constant(ty(index), amount);
            if high { b.shrui(index, by) } else { b.andi(index, by) }
        };
        let indices = |high| self.indices.iter().enumerate().map(|(d, i)| part(*i, d, high)).collect::<Vec<_>>();
        let extents: Vec<i64> = step.extents().into_iter().map(|e| e as i64).collect();
        let middle = tensor_type(&extents, self.whole.element, Some(layout_attr(self.context, &layout)));
        let outer = ExtractSliceOp::build(b, middle, in_registers.result(), &indices(true)).map_err(|e| error(&e))?;
        let (inner, moved) = if step == wanted.tile_shape() {
            ConvertLayoutOp::build(b, ty(self.result), outer.result()).map(|c| (c.op(), c.result()))
        } else {
            ExtractSliceOp::build(b, ty(self.result), outer.result(), &indices(false)).map(|x| (x.op(), x.result()))
        }
        .map_err(|e| error(&e))?;
        more.extend([inner, outer.op(), in_registers.op()]);
        Ok(moved)
    }

    fn replace(self, new: Val<'c>) {
        replace_all_uses(self.result, new);
        erase(self.op);
    }

    fn storage(&self, b: &Builder<'c>, shape: &[i64], bases: &[u64]) -> Result<Val<'c>, BuildError> {
        let desc = storage_type(self.op, shape, self.whole.element, bases)?;
        Ok(AllocTensorOp::build(b, desc.into(), None)?.result())
    }

    fn through_shared(&self, b: &Builder<'c>, plan: &SharedPlan, barrier_first: bool) -> Result<Val<'c>, BuildError> {
        let storage = self.storage(b, &self.whole.shape, plan.layout.bases())?;
        store_all(b, &[Stored { value: self.source, storage, vector: vector_of(&plan.store) }], barrier_first)?;
        let (to, vector) = (ty(self.result), i64_attr(self.context, vector_of(&plan.load)));
        Ok(if self.indices.is_empty() {
            LocalLoadOp::build(b, to, storage, vector)?.result()
        } else {
            LocalLoadSliceOp::build(b, to, storage, &self.indices, vector)?.result()
        })
    }
}
