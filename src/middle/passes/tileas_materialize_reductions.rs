//! `tileas-materialize-reductions` splits reductions and scans across warps into steps within warps.
//!
//! A reduction along a dimension that several warps share is done in two steps. The first step keeps the coordinate
//! bits held by warps, so it stays within warps. Its results go to all warps through shared memory, and every warp
//! combines them in the second step:
//!
//! ```text
//! %p = reduce %x dim 1 kept 768           tensor<1x4096xf32> -> tensor<1x4xf32>
//! %m = alloc_tensor
//! barrier                                 earlier readers of the same storage are done
//! local_store %p, %m                      one lane of each warp
//! barrier
//! %q = local_load %m                      every thread all four
//! %r = reduce %q dim 1                    tensor<1x4xf32> -> tensor<1xf32>
//! ```
//!
//! A scan is split if its coordinate crosses warps. A view splits the dimension into segments and positions within a
//! segment; a warp scans its segments, and `carry` adds the preceding total to each:
//!
//! ```text
//! %v = view %x                            tensor<1x1024xf32> -> tensor<1x4x256xf32>
//! %s = scan %v dim 2
//! %t = pick %s dim 2 at 255               the total of each segment
//! ...                                     through shared memory, unless one warp has all segments
//! %c = carry %s totals %u dim 1
//! %r = view %c
//! ```
//!
//! A tensor that is processed in passes over a thread's registers is reduced as if each pass were a warp
//! (`Layout::registers_as_warps`): the first reduction keeps the bits that distinguish passes, so every pass leaves
//! few elements, and a second reduction combines them.
//!
//! If neither is possible in the operands' layout, they are converted first: for a reduction to the default layout of
//! the shape, and for a scan to a layout whose coordinate goes from registers to lanes to warps.

use crate::{
    analysis::{
        layouts::default_layout,
        registers::{Limit, PASS_REGISTERS},
        warps::warps_of,
    },
    dialect::{
        attributes::CANONICAL,
        behaviour,
        layouts::{Tensor, layout_attr, storage_bits, tensor_type},
        loops::is_in_loop,
        nv_tileaa,
        nv_tileas::{CarryOp, ConvertLayoutOp, PickOp, ReduceOp, ScanOp, ViewOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        shared_memory::{SCRATCH_BYTES, exchange},
        thread_scope::ThreadScope,
    },
    pass_descriptor,
};
use melior::{Context, ir::Type};
use tile_layout::{Layout, Shape, register_permutation};

mod canonical;

#[derive(Clone, Default)]
pub struct MaterializeReductions;

/// The maximum number of totals that a thread holds for one scan; above it, another layout gives fewer segments.
const MAX_TOTALS: u64 = 64;
/// The number of warp number bits that each thread combines alone; the other bits go to free lanes.
const BITS_IN_REGISTERS: usize = 3;

impl RustPass for MaterializeReductions {
    pass_descriptor!(tileas_materialize_reductions);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let warps = warps_of(function)?;
            let mut ops = vec![];
            // Bodies move with their ops.
            let in_body = |o| parent_op(o).is_some_and(|p| ReduceOp::cast(p).is_some() || ScanOp::cast(p).is_some());
            walk(function.op(), &mut |o| ops.extend((!in_body(o)).then_some(o)));
            let limit = Limit::of(function.op());
            let mut materialize = Materialize { context, cx, warps, limit, touched: false };
            for o in ops {
                materialize.warps = ThreadScope::of(o).and_then(|s| s.warps).map_or(warps, |w| w as u64);
                if let Some(reduce) = ReduceOp::cast(o) {
                    materialize.reduce(reduce)?;
                } else if let Some(scan) = ScanOp::cast(o) {
                    materialize.scan(scan)?;
                } else {
                    materialize.touched |= region_count(o) == 0 && behaviour::uses_shared_memory(o);
                }
            }
        }
        Ok(())
    }
}

struct Materialize<'c, 'p> {
    context: &'c Context,
    cx: &'p PassContext,
    warps: u64,
    limit: Limit,
    /// Whether an earlier access to shared memory may still be in flight.
    touched: bool,
}

/// The operands of a reduction or scan, which all have the same shape and layout.
struct Operands {
    shape: Shape,
    layout: Layout,
    dim: usize,
    /// The position and mask of the dimension in the index.
    low: u32,
    mask: u64,
}

impl Operands {
    fn of(op: OpRef<'_>, dim: i64) -> Result<Self, Failed> {
        let tensor = Tensor::of_value(operand(op, 0)).ok_or_else(|| fail(op, "operand is not a tensor"))?;
        let layout = tensor.layout().ok_or_else(|| fail(op, "tensor has no layout"))?;
        let (shape, dim) = (tensor.tile_shape(), dim as usize);
        let (low, width) = shape.field(dim).map_err(|e| fail(op, e.to_string()))?;
        Ok(Operands { shape, layout, dim, low, mask: (1 << width) - 1 })
    }
    /// Returns the part of a basis along the dimension.
    fn along(&self, basis: u64) -> u64 {
        basis >> self.low & self.mask
    }
}

impl<'c> Materialize<'c, '_> {
    fn reduce(&mut self, x: ReduceOp<'c>) -> Result<(), Failed> {
        use descriptors::tileas_materialize_reductions::stat;
        let op = x.op();
        let all = Operands::of(op, x.dim())?;
        if CANONICAL.is_on(op) {
            return self.reduce_canonically(x, &all);
        }
        if operands(op).any(|v| self.limit.is_exceeded(v)) {
            return self.reduce_in_passes(x, &all);
        }
        let Some(kept) = kept_by_warps(op, &all, x.kept().unwrap_or(0) as u64)? else {
            let to = default_layout(&all.shape, self.warps);
            if to == all.layout {
                return Err(fail(op, "the operand's default layout cannot be reduced"));
            }
            self.cx.stat_add(stat::NUM_CONVERTED, 1);
            let new = self.reduce_in(x, &all, &to)?;
            return self.reduce(new);
        };
        if kept == 0 {
            return Ok(());
        }
        if x.kept().is_some() {
            return Err(fail(op, "a reduction that keeps elements must stay within warps"));
        }
        self.cx.stat_add(stat::NUM_REDUCTIONS, 1);
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let plan = all.layout.reduction(&all.shape, all.dim, kept).map_err(error)?;
        let plan = plan.ok_or_else(|| fail(op, "layout cannot be reduced within warps"))?;
        let b = Builder::before(self.context, op);
        let partial = self.partial(&b, op, (&plan.shape, &plan.layout), kept);
        let to = spread_over_threads(&plan.layout, &plan.shape, all.dim).map_err(error)?;
        let moved = self.share_with_all_warps(&b, op, &results(partial).collect::<Vec<_>>(), &to)?;
        for (i, v) in moved.into_iter().enumerate() {
            set_operand(op, i, v);
        }
        Ok(())
    }

    /// Reduces operands that are processed in passes.
    fn reduce_in_passes(&mut self, x: ReduceOp<'c>, all: &Operands) -> Result<(), Failed> {
        use descriptors::tileas_materialize_reductions::stat;
        let op = x.op();
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let warp_bits = self.warps.ilog2() as usize;
        let passes = all.layout.register().len().saturating_sub(PASS_REGISTERS as usize);
        let each =
            Operands { layout: all.layout.registers_as_warps(passes, warp_bits), shape: all.shape.clone(), ..*all };
        let to = match kept_by_warps(op, &each, 0)? {
            Some(0) => return Ok(()),
            // Some elements are combined within a pass.
            Some(kept) if kept != all.mask => {
                let plan = each.layout.reduction(&all.shape, all.dim, kept).map_err(error)?;
                let plan = plan.ok_or_else(|| fail(op, "layout cannot be reduced within passes"))?;
                let b = Builder::before(self.context, op);
                let layout = plan.layout.warps_as_registers(warp_bits);
                let partial = self.partial(&b, op, (&plan.shape, &layout), kept);
                for (i, v) in results(partial).enumerate() {
                    set_operand(op, i, v);
                }
                return self.reduce(x);
            }
            // No two elements are combined within a pass: move registers along the dimension first, so that passes
            // contain them.
            Some(_) => {
                let (along, others): (Vec<u64>, Vec<u64>) =
                    all.layout.register().iter().partition(|b| all.along(**b) != 0);
                let register = along.into_iter().chain(others).collect();
                let [lane, warp] = [all.layout.lane(), all.layout.warp()].map(<[u64]>::to_vec);
                Layout::new(register, lane, warp, vec![]).map_err(error)?
            }
            None => default_layout(&all.shape, self.warps),
        };
        // If registers cannot be reordered, only warps hold the dimension.
        let to =
            if to == all.layout { spread_over_threads(&all.layout, &all.shape, all.dim).map_err(error)? } else { to };
        if to == all.layout {
            return Err(fail(op, "the operand's layout cannot be reduced"));
        }
        self.cx.stat_add(stat::NUM_CONVERTED, 1);
        let new = self.reduce_in(x, all, &to)?;
        self.reduce(new)
    }

    /// Builds the part of a reduction that keeps the coordinate bits `kept`, with results of this shape and layout.
    fn partial(&self, b: &Builder<'c>, op: OpRef<'c>, (shape, layout): (&Shape, &Layout), kept: u64) -> OpRef<'c> {
        let inputs: Vec<Val<'c>> = operands(op).collect();
        let partial = self.clone_before(b, op, &inputs, |t| tile_type(self.context, shape, t, layout));
        set_attr(partial, "kept", i64_attr(self.context, kept as i64));
        partial
    }

    /// Rebuilds the reduction with operands in another layout. Its results are converted back.
    fn reduce_in(&mut self, x: ReduceOp<'c>, all: &Operands, to: &Layout) -> Result<ReduceOp<'c>, Failed> {
        let op = x.op();
        let b = Builder::before(self.context, op);
        let kept = x.kept().unwrap_or(0) as u64;
        let (layout, shape, _) = to.reduce_keeping(&all.shape, all.dim, kept).map_err(|e| fail(op, e.to_string()))?;
        let operands = self.convert(&b, op, &operands(op).collect::<Vec<_>>(), to)?;
        let new = self.clone_before(&b, op, &operands, |t| tile_type(self.context, &shape, t, &layout));
        for (old, new) in results(op).zip(results(new)) {
            let back = match Tensor::of_value(old) {
                Some(_) => {
                    let back = ConvertLayoutOp::build(&b, ty(old), new).map_err(|e| fail(op, e.to_string()))?;
                    self.touched |= behaviour::uses_shared_memory(back.op());
                    back.result()
                }
                None => new,
            };
            replace_all_uses(old, back);
        }
        erase(op);
        Ok(ReduceOp::wrap(new))
    }

    fn scan(&mut self, x: ScanOp<'c>) -> Result<(), Failed> {
        use descriptors::tileas_materialize_reductions::stat;
        let op = x.op();
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let all = Operands::of(op, x.dim())?;
        let ordered = Layout::ordered(&all.shape, all.dim, self.warps).map_err(error)?;
        let bits = all.layout.segment_bits(&all.shape, all.dim).map_err(error)?;
        let registers = all.layout.squeeze_registers().0.registers();
        let in_thread = all.layout.register().iter().fold(0, |m, &b| m | all.along(b));
        let rows = u64::from(registers) >> in_thread.count_ones();
        let fits = |bits: &u32| rows.max(1) * ((all.mask + 1) >> bits) <= MAX_TOTALS || all.layout == ordered;
        let Some(bits) = bits.filter(fits) else {
            self.cx.stat_add(stat::NUM_CONVERTED, 1);
            let b = Builder::before(self.context, op);
            let inputs = self.convert(&b, op, &operands(op).collect::<Vec<_>>(), &ordered)?;
            let new = self.clone_before(&b, op, &inputs, |t| tile_type(self.context, &all.shape, t, &ordered));
            for (old, new) in results(op).zip(results(new)) {
                let back = ConvertLayoutOp::build(&b, ty(old), new).map_err(|e| fail(op, e.to_string()))?;
                self.touched |= behaviour::uses_shared_memory(back.op());
                replace_all_uses(old, back.result());
            }
            erase(op);
            return self.scan(ScanOp::wrap(new));
        };
        let segments = (all.mask + 1) >> bits;
        if segments == 1 {
            return Ok(());
        }
        self.cx.stat_add(stat::NUM_SCANS, 1);
        let mut log2 = all.shape.log2().to_vec();
        log2[all.dim] -= bits;
        log2.insert(all.dim + 1, bits);
        let split = Shape::from_log2(log2).map_err(error)?;
        let b = Builder::before(self.context, op);
        let build = |r: Result<Val<'c>, BuildError>| r.map_err(|e| fail(op, e.to_string()));
        let context = self.context;
        let view = |v: Val<'c>, shape: &Shape| {
            let t = Tensor::of_value(v).ok_or_else(|| fail(op, "operand is not a tensor"))?;
            build(ViewOp::build(&b, tile_type(context, shape, t.element, &all.layout), v).map(|o| o.result()))
        };
        let inputs = operands(op).map(|v| view(v, &split)).collect::<Result<Vec<_>, _>>()?;
        let scanned = self.clone_before(&b, op, &inputs, |t| tile_type(self.context, &split, t, &all.layout));
        let dim = i64_attr(self.context, all.dim as i64 + 1);
        set_attr(scanned, "dim", dim);
        let scanned: Vec<Val<'c>> = results(scanned).collect();

        let at = if x.reverse() { 0 } else { (1i64 << bits) - 1 };
        let (found, totals_shape, _) = all.layout.reduce(&split, all.dim + 1).map_err(error)?;
        let mut totals = vec![];
        for &v in &scanned {
            let t = Tensor::of_value(v).ok_or_else(|| fail(op, "operand is not a tensor"))?;
            let to = tile_type(self.context, &totals_shape, t.element, &found);
            totals.push(build(PickOp::build(&b, to, v, dim, i64_attr(self.context, at)).map(|o| o.result()))?);
        }
        let everywhere = in_every_thread(&found, &totals_shape, all.dim).map_err(error)?;
        let totals = match register_permutation(&found, &everywhere) {
            Some(_) => self.convert(&b, op, &totals, &everywhere)?,
            None => self.share_with_all_warps(&b, op, &totals, &everywhere)?,
        };
        let types: Vec<Type<'c>> = scanned.iter().map(|v| ty(*v)).collect();
        let dim = i64_attr(self.context, all.dim as i64);
        let carried = CarryOp::build(&b, &types, &scanned, &totals, dim, x.reverse(), take_body(op))
            .map_err(|e| fail(op, e.to_string()))?;
        CANONICAL.copy(op, carried.op());
        for (old, new) in results(op).zip(carried.results()) {
            replace_all_uses(old, view(new, &all.shape)?);
        }
        erase(op);
        Ok(())
    }

    /// Moves `values` through shared memory to the layout `to`.
    fn share_with_all_warps(
        &mut self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        values: &[Val<'c>],
        to: &Layout,
    ) -> Result<Vec<Val<'c>>, Failed> {
        let bytes: u64 = values.iter().filter_map(|v| Tensor::of_value(*v)).map(|t| bytes_of(&t)).sum();
        if bytes > SCRATCH_BYTES {
            return self.convert(b, op, values, to);
        }
        let barrier_first = self.touched || is_in_loop(op);
        self.touched = true;
        exchange(b, op, values, to, barrier_first)
    }

    fn convert(
        &mut self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        values: &[Val<'c>],
        to: &Layout,
    ) -> Result<Vec<Val<'c>>, Failed> {
        let mut list = vec![];
        for &v in values {
            let t = Tensor::of_value(v).ok_or_else(|| fail(op, "operand is not a tensor"))?;
            let conversion = ConvertLayoutOp::build(b, t.with_layout(self.context, to), v);
            let conversion = conversion.map_err(|e| fail(op, e.to_string()))?;
            self.touched |= behaviour::uses_shared_memory(conversion.op());
            list.push(conversion.result());
        }
        Ok(list)
    }

    /// Copies `op` with other operands; `retype` maps an element type to a result type.
    fn clone_before(
        &self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        operands: &[Val<'c>],
        retype: impl Fn(Type<'c>) -> Type<'c>,
    ) -> OpRef<'c> {
        let copy = clone_detached(op);
        for (i, v) in operands.iter().enumerate() {
            set_operand(copy, i, *v);
        }
        for (r, v) in results(copy).zip(operands) {
            set_ty(r, retype(Tensor::of_value(*v).map_or(ty(*v), |t| t.element)));
        }
        b.insert_op(copy);
        copy
    }
}

fn bytes_of(t: &Tensor<'_>) -> u64 {
    t.elements() as u64 * u64::from(storage_bits(t.element) / 8)
}

/// Returns the type of a tile, or of a scalar if the shape has rank zero.
fn tile_type<'c>(context: &'c Context, shape: &Shape, element: Type<'c>, layout: &Layout) -> Type<'c> {
    if shape.rank() == 0 {
        return element;
    }
    let extents: Vec<i64> = shape.extents().into_iter().map(|e| e as i64).collect();
    tensor_type(&extents, element, Some(layout_attr(context, layout)))
}

/// Returns the coordinate bits that warps hold, or `None` if warps do not hold single bits.
fn kept_by_warps(op: OpRef<'_>, all: &Operands, kept: u64) -> Result<Option<u64>, Failed> {
    let plan = all.layout.reduction(&all.shape, all.dim, kept).map_err(|e| fail(op, e.to_string()))?;
    let Some(plan) = plan else { return Ok(None) };
    if plan.across.block != 0 {
        return Err(fail(op, "reductions across the blocks of a cluster have no lowering"));
    }
    let bases = all.layout.warp().iter().enumerate().filter(|(i, _)| plan.across.warp >> i & 1 == 1);
    let parts: Vec<u64> = bases.map(|(_, &b)| all.along(b)).collect();
    let bits = parts.iter().fold(0, |m, p| m | p);
    if !parts.iter().all(|p| p.is_power_of_two()) {
        return Ok(None);
    }
    // The kept elements must not be held by other threads as well.
    let within = all.layout.reduction(&all.shape, all.dim, kept | bits).map_err(|e| fail(op, e.to_string()))?;
    Ok(within.filter(|p| p.across.warp == 0).map(|_| bits))
}

/// Returns a layout in which each thread, or each group of lanes, holds all elements along `dim`: some in registers,
/// the rest in lanes that hold replicas.
fn spread_over_threads(layout: &Layout, shape: &Shape, dim: usize) -> tile_layout::Result<Layout> {
    let (low, width) = shape.field(dim)?;
    let field = ((1u64 << width) - 1) << low;
    let mut bits: Vec<u64> = (low..low + width).map(|i| 1 << i).collect();
    let clear = |bases: &[u64]| -> Vec<u64> { bases.iter().map(|b| b & !field).collect() };
    let mut lane = clear(layout.lane());
    let mut to_lanes = bits.split_off(bits.len().min(BITS_IN_REGISTERS));
    for basis in lane.iter_mut().filter(|b| **b == 0) {
        if let Some(bit) = to_lanes.pop() {
            *basis = bit;
        }
    }
    let register = bits.into_iter().chain(to_lanes).chain(clear(layout.register())).filter(|b| *b != 0).collect();
    Layout::new(register, lane, clear(layout.warp()), clear(layout.block()))
}

/// Returns a layout in which each thread holds all totals along `dim`.
fn in_every_thread(layout: &Layout, shape: &Shape, dim: usize) -> tile_layout::Result<Layout> {
    let (low, width) = shape.field(dim)?;
    let field = ((1u64 << width) - 1) << low;
    let clear = |bases: &[u64]| -> Vec<u64> { bases.iter().map(|b| b & !field).collect() };
    let bits = (low..low + width).map(|i| 1 << i);
    let register = bits.chain(clear(layout.register())).filter(|b| *b != 0).collect();
    Layout::new(register, clear(layout.lane()), clear(layout.warp()), clear(layout.block()))
}
