//! `tileas-assign-dot-layouts` selects the instruction of each dot and the layouts of its operands.
//!
//! 1. The instruction follows from the target and the element types, by the table in `tile_mma`. Narrow floats
//!    without an instruction on the target are widened to f16, which holds all their values. Scaled dots use an
//!    instruction with block scales if there is one; otherwise they become sums of per-block dots.
//! 2. Warps are distributed over batch, M and N so that each has a part that is as large and as square as possible: a
//!    warp reads `(m + n) k` elements from shared memory for `m n k` multiplications. A dot is split only by rows if
//!    its result, without moving between threads, is the left operand of another dot or is reduced along its rows. A
//!    warp then has whole rows, and neither the second dot nor the reduction needs other warps.
//! 3. `ldmatrix` transposes 16-bit elements on the way from shared memory, and bytes on targets with `matrix-b8`.
//!    Other operands that are contiguous along M or N would be read one element at a time. To avoid that, the rows or
//!    columns of an instruction are spaced apart: a thread then owns the neighbors in between too and reads them at
//!    once ([`FragmentStride`]).
//! 4. The layouts of the accumulator and the operands follow. Conversions connect them to the rest of the program;
//!    `tileas-remove-layout-conversions` keeps the layouts of dots.

use crate::{
    analysis::{
        access::access_of,
        facts::Facts,
        producers::Source,
        warps::{warps_at, warps_of},
    },
    dialect::{
        behaviour::{self, LayoutRelation},
        dot_plan::{CONSUMERS, DotPlan},
        dots::{ACC, AnyDot, Instruction, LHS, RHS, element_of},
        layouts::{Tensor, converted, relayout_result, storage_bits},
        nv_tileaa,
        nv_tileas::{ConvertLayoutOp, MmaKind, PermuteOp, ReduceOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        remark::{self, remark},
        rt::*,
        target::target,
        types::{bit_width, is_float, is_tf32},
    },
    pass_descriptor,
};
use melior::{Context, ir::Type};
use rustc_hash::FxHashSet;
use tile_layout::{DotShape, FragmentStride, Multiplier, Operand, TensorMemory, warpgroup_accumulator, warpgroup_left};
use tile_mma::{Element, Unit};
use tile_targets::{Feature, Target};

#[derive(Clone, Default)]
pub struct AssignDotLayouts;

impl RustPass for AssignDotLayouts {
    pass_descriptor!(tileas_assign_dot_layouts);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let options = descriptors::tileas_assign_dot_layouts::Options(cx);
        let target = target(op, options.compute_capability())?;
        let unit_scales = options.unit_scales();
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            warps_of(function)?;
            let mut dots = vec![];
            walk(function.op(), &mut |o| dots.extend(AnyDot::cast(o)));
            // Look for chains of dots before inserting conversions.
            let facts = Facts::of(function.op());
            let known: Vec<(bool, FragmentStride)> = dots.iter().map(|d| (keeps_rows(*d), apart(*d, &facts))).collect();
            let plan = DotPlan::of(function.op());
            let has_agents = plan.is_some();
            for (dot, (rows, apart)) in dots.into_iter().zip(known) {
                if let Some(plan) = plan.as_ref().filter(|plan| !plan.reads_fragments()) {
                    if plan.accumulates_in_memory() {
                        in_tensor_memory(dot, plan, context)?;
                    } else {
                        by_warpgroups(dot, plan, context)?;
                    }
                    continue;
                }
                let warps = warps_at(dot.op())?.ilog2();
                Assign { context, target, warps, unit_scales, has_agents }.dot(dot, rows, apart)?;
            }
        }
        Ok(())
    }
}

/// Assigns the layout of `wgmma` fragments to the accumulator, and to a left operand that consumers compute. Other
/// operands keep their layouts until they go to shared memory.
fn by_warpgroups<'c>(dot: AnyDot<'c>, plan: &DotPlan, context: &'c Context) -> Result<(), Failed> {
    let op = dot.op();
    let tensor = |v| Tensor::of_value(v).ok_or_else(|| fail(op, "operand is not a tensor"));
    let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
    let (lhs, acc) = (tensor(dot.lhs())?, tensor(dot.acc())?);
    let bits = storage_bits(lhs.element);
    let groups = (plan.groups[0], plan.groups[1]);
    let columns = acc.shape.last().and_then(|&n| u32::try_from(n).ok()).map_or(plan.columns, |n| n / groups.1);
    let columns = columns.min(plan.columns);
    let row = element_of(lhs.element, false).and_then(|e| tile_mma::generated(Unit::Warpgroup, e).next());
    let row = row.ok_or_else(|| fail(op, "no `wgmma` instruction multiplies elements of this type"))?;
    let instruction = Instruction { kind: MmaKind::Warpgroup, shape: [row.m, columns, row.k] };
    let layout = warpgroup_accumulator(&acc.tile_shape(), groups, columns).map_err(error)?;
    set_attr(op, "instruction", instruction.to_attr(context));
    let b = Builder::before(context, op);
    if matches!(Source::of(dot.lhs(), op), Source::Computed) {
        let left = warpgroup_left(&lhs.tile_shape(), groups, bits).map_err(error)?;
        set_operand(op, LHS, converted(&b, op, dot.lhs(), &left)?);
    }
    set_operand(op, ACC, converted(&b, op, dot.acc(), &layout)?);
    b.set_after(op);
    relayout_result(&b, op, dot.result(), &layout)
}

/// Assigns the layout in which the consumers read an accumulator from tensor memory, and in which they store a left
/// operand there. Operands in shared memory keep their layouts.
fn in_tensor_memory<'c>(dot: AnyDot<'c>, plan: &DotPlan, context: &'c Context) -> Result<(), Failed> {
    let op = dot.op();
    let tensor = |v| Tensor::of_value(v).ok_or_else(|| fail(op, "operand is not a tensor"));
    let (lhs, acc) = (tensor(dot.lhs())?, tensor(dot.acc())?);
    let columns = acc.shape.last().and_then(|&n| u32::try_from(n).ok()).unwrap_or(plan.columns).min(plan.columns);
    let unsigned = dot.unsigned()[0];
    // The instruction with most rows.
    let (unit, scale) = (plan.dot_unit(), dot.scale_blocks());
    let rows = element_of(lhs.element, unsigned).into_iter();
    let rows = rows.flat_map(|e| tile_mma::generated_scaled(unit, e, scale));
    let fits = |r: &&tile_mma::Row| acc.shape.first().is_some_and(|m| *m >= (r.m / unit.ctas()).into());
    let row = rows.filter(fits).max_by_key(|r| r.m);
    let row = row.ok_or_else(|| fail(op, "no `tcgen05.mma` instruction multiplies elements of this type"))?;
    let instruction = Instruction { kind: plan.unit, shape: [row.m, columns, row.k] };
    let of = |t: &Tensor<'c>| {
        let (shape, warps) = (t.tile_shape(), plan.warps(CONSUMERS));
        let registers = if plan.whole_rows {
            TensorMemory::rows(&shape, warps)
        } else {
            TensorMemory::registers(&shape, warps, plan.slices)
        };
        registers.map_err(|e| fail(op, e.to_string()))
    };
    let layout = of(&acc)?;
    set_attr(op, "instruction", instruction.to_attr(context));
    let b = Builder::before(context, op);
    if plan.whole_rows && matches!(Source::of(dot.lhs(), op), Source::Computed) {
        let left = TensorMemory::operand(&lhs.tile_shape(), plan.warps(CONSUMERS), storage_bits(lhs.element));
        let left = left.map_err(|e| fail(op, e.to_string()))?;
        set_operand(op, LHS, converted(&b, op, dot.lhs(), &left)?);
    }
    if let Source::ConverterComputed(by) = Source::of(dot.lhs(), op) {
        // The converter stores the operand to tensor memory.
        let left = TensorMemory::operand(&lhs.tile_shape(), by.warps() as u32, storage_bits(lhs.element));
        let left = left.map_err(|e| fail(op, e.to_string()))?;
        set_ty(result(by.op(), 0), lhs.with_layout(context, &left));
        let last = entry_block(region(by.op(), 0)).and_then(|body| ops_of(body).last());
        let last = last.ok_or_else(|| fail(op, "produce_one has no body"))?;
        b.set_before(last);
        set_operand(last, 0, converted(&b, op, operand(last, 0), &left)?);
        b.set_before(op);
        set_operand(op, LHS, result(by.op(), 0));
    }
    set_operand(op, ACC, converted(&b, op, dot.acc(), &layout)?);
    b.set_after(op);
    relayout_result(&b, op, dot.result(), &layout)
}

struct Assign<'c> {
    context: &'c Context,
    target: &'static Target,
    warps: u32,
    /// Whether plain dots may use instructions with block scales.
    unit_scales: bool,
    /// Whether agents load the operands and multiply them.
    has_agents: bool,
}

/// How elements of a type are multiplied on a target.
enum Choice {
    Use(Instruction),
    /// Widen to f16 first.
    Widen,
}

/// Selects the instruction for a depth of `k` elements. Types without matrix instructions use scalar arithmetic.
fn choose(element: Type<'_>, k: i64, target: &Target) -> Choice {
    let depth = k.clamp(0, u32::MAX.into()) as u32;
    let rows = element_of(element, false).map(|e| tile_mma::candidates(e, depth, false, target)).unwrap_or_default();
    match rows.first() {
        Some(row) => Choice::Use(Instruction::of_row(row)),
        None if is_narrow_float(element) => Choice::Widen,
        None => Choice::Use(Instruction::FMA),
    }
}

fn is_narrow_float(element: Type<'_>) -> bool {
    is_float(element) && bit_width(element).is_some_and(|width| width <= 8)
}

impl<'c> Assign<'c> {
    fn dot(&self, dot: AnyDot<'c>, rows: bool, apart: FragmentStride) -> Result<(), Failed> {
        let op = dot.op();
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let b = Builder::before(self.context, op);
        let tensor = |v| Tensor::of_value(v).ok_or_else(|| fail(op, "operand is not a tensor"));
        let (mut lhs, acc) = (tensor(dot.lhs())?, tensor(dot.acc())?);
        let depth = lhs.shape[lhs.shape.len() - 1];
        let choice = match dot {
            AnyDot::Scaled(o) => {
                match Instruction::block_scaled(lhs.element, tensor(o.lhs_scale())?.element, self.target) {
                    Some(instruction) => Choice::Use(instruction),
                    None => {
                        let reason = "the target has no `mma` with block scales: the scales are applied in registers to each block's sum";
                        remark(op, remark::SCALES_IN_REGISTERS, reason, None);
                        choose(lhs.element, self.block(dot, depth), self.target)
                    }
                }
            }
            AnyDot::Plain(_) => match self.with_unit_scales(dot, (lhs.element, acc.element), depth) {
                Some(instruction) => Choice::Use(instruction),
                None => choose(lhs.element, depth, self.target),
            },
        };
        let instruction = match choice {
            Choice::Use(instruction) => instruction,
            Choice::Widen => {
                let f16 = Type::float16(self.context);
                for i in [LHS, RHS] {
                    let source = operand(op, i);
                    let wide = Tensor { element: f16, ..tensor(source)? }.ty();
                    let cast =
                        nv_tileaa::FpCastOp::build(&b, wide, source, None).map_err(|e| fail(op, e.to_string()))?;
                    set_operand(op, i, cast.result());
                }
                lhs.element = f16;
                match choose(f16, self.block(dot, depth), self.target) {
                    Choice::Use(instruction) => instruction,
                    Choice::Widen => return Err(fail(op, "no instruction multiplies these elements")),
                }
            }
        };
        let rhs = tensor(dot.rhs())?;
        let multiplier = instruction
            .multiplier(lhs.element)
            .ok_or_else(|| fail(op, "the instruction does not accumulate in registers"))?;
        let product = DotShape::new(&lhs.tile_shape(), &rhs.tile_shape(), &acc.tile_shape()).map_err(error)?;
        let mut grid = product.arrange(multiplier, self.warps, rows);
        let words = self.reads_words(lhs.element);
        // `ldmatrix` reads four words of a left operand that is contiguous along K; a load reads one of the right one.
        if words && !rows && apart.m == 0 && apart.n > 0 {
            grid = product.with_more_rows(grid);
        }
        let apart = if words || self.transposes(multiplier, lhs.element) { FragmentStride::default() } else { apart };
        let layout = product.accumulator(multiplier, grid, apart).map_err(error)?;
        let mut layouts = vec![
            product.operand(multiplier, &layout, Operand::A).map_err(error)?,
            product.operand(multiplier, &layout, Operand::B).map_err(error)?,
            layout.clone(),
        ];
        if let AnyDot::Scaled(scaled) = dot {
            let blocks =
                product.with_depth(tensor(scaled.lhs_scale())?.tile_shape().log2().last().copied().unwrap_or(0));
            for side in [Operand::A, Operand::B] {
                layouts.push(
                    match instruction.kind {
                        MmaKind::BlockScale => blocks.scales(multiplier, &layout, side),
                        _ => blocks.operand(Multiplier::Scalar, &layout, side),
                    }
                    .map_err(error)?,
                );
            }
        }
        set_attr(op, "instruction", instruction.to_attr(self.context));
        for (i, layout) in layouts.iter().enumerate() {
            set_operand(op, i, converted(&b, op, operand(op, i), layout)?);
        }
        b.set_after(op);
        relayout_result(&b, op, dot.result(), &layout)
    }

    /// Whether `ldmatrix` transposes the operands of an instruction.
    fn transposes(&self, multiplier: Multiplier, element: Type<'c>) -> bool {
        let bytes = matches!(multiplier, Multiplier::Matrix(shape) if shape.per_word() == 4);
        bytes && bit_width(element) == Some(8) && self.target.has(Feature::MatrixB8)
    }

    /// Whether warps read fragments of 32-bit elements word by word: of stages that TMA fills in units of 32 bytes,
    /// where eight rows or columns of four steps of K are in different banks, and of stages that are rounded to tf32 in
    /// place. The assembler moves neighbors that are read at once, unless it rounds them.
    fn reads_words(&self, element: Type<'c>) -> bool {
        storage_bits(element) == 32 && (self.has_agents || is_tf32(element) && !self.target.has(Feature::Tf32RoundEven))
    }

    /// Returns the instruction with block scales for a plain dot of 8-bit floats. All scales are one, so that the
    /// results are the same.
    fn with_unit_scales(
        &self,
        dot: AnyDot<'c>,
        (element, sum): (Type<'c>, Type<'c>),
        depth: i64,
    ) -> Option<Instruction> {
        if !self.unit_scales || bit_width(element) != Some(8) || element_of(sum, false) != Some(Element::F32) {
            return None;
        }
        let element = element_of(element, false).filter(|e| matches!(e, Element::E4m3 | Element::E5m2))?;
        let rows = tile_mma::candidates(element, u32::MAX, true, self.target);
        let row = rows.into_iter().find(|row| i64::from(row.k) <= depth)?;
        let reason = "8-bit floats use the instruction with block scales, all of them one, which some GPUs run twice \
                      as fast; --pipeline-option=unit-scales=false uses the plain one";
        remark(dot.op(), remark::UNIT_SCALES, reason, None);
        Some(Instruction::of_row(row))
    }

    /// Returns the depth that one instruction may cover: the depth of a block with one scale.
    fn block(&self, dot: AnyDot<'c>, depth: i64) -> i64 {
        match dot {
            AnyDot::Plain(_) => depth,
            AnyDot::Scaled(o) => {
                let scales = Tensor::of_value(o.lhs_scale()).and_then(|t| t.shape.last().copied()).unwrap_or(1);
                depth / scales.max(1)
            }
        }
    }
}

/// Returns the spacing of rows and columns for operands that are contiguous along them in memory.
fn apart(dot: AnyDot<'_>, facts: &Facts) -> FragmentStride {
    let neighbours = |v: Val<'_>, dim: usize| match contiguous(v, facts) {
        // Sixteen bytes of neighbors, or a word of bytes, as needed to transpose 4x4 bytes.
        Some((d, 8)) if d == dim => 2,
        Some((d, bits @ (32 | 64))) if d == dim => (128 / bits).ilog2(),
        _ => 0,
    };
    let rank = Tensor::of_value(dot.acc()).map_or(2, |t| t.shape.len());
    FragmentStride { m: neighbours(dot.lhs(), rank - 2), n: neighbours(dot.rhs(), rank - 1) }
}

/// Returns the dimension along which a loaded tensor is contiguous in memory, and the element width in memory in
/// bits.
fn contiguous(v: Val<'_>, facts: &Facts) -> Option<(usize, u32)> {
    let t = Tensor::of_value(v)?;
    let dim_of =
        |unit: u32| (0..t.shape.len()).find(|&d| t.tile_shape().field(d).is_ok_and(|(low, w)| low == unit && w > 0));
    let (unit, bits) = unit_of(v, facts)?;
    dim_of(unit).map(|d| (d, bits))
}

/// Returns the bit of the row-major index that corresponds to one element in memory.
fn unit_of(v: Val<'_>, facts: &Facts) -> Option<(u32, u32)> {
    let (t, op) = (Tensor::of_value(v)?, defining_op(v)?);
    if let Some(access) = access_of(op, facts) {
        let (low, width) = t.tile_shape().field(access.order[0]).ok()?;
        return (width > 0).then_some((low, storage_bits(t.element)));
    }
    if let Some(permute) = PermuteOp::cast(op) {
        let from = Tensor::of_value(permute.source())?;
        let (unit, bits) = unit_of(permute.source(), facts)?;
        let source =
            (0..from.shape.len()).find(|&d| from.tile_shape().field(d).is_ok_and(|(low, w)| low == unit && w > 0))?;
        let d = permute.order().iter().position(|&o| o as usize == source)?;
        return t.tile_shape().field(d).ok().map(|(low, _)| (low, bits));
    }
    let keeps = behaviour::layout_relation(op) == LayoutRelation::Reshape
        || ConvertLayoutOp::cast(op).is_some()
        || behaviour::widens(op);
    if keeps { unit_of(operand(op, 0), facts) } else { None }
}

/// Whether whole rows of the result should stay in one warp: it becomes the left operand of another dot, it is
/// reduced along the columns, or the left operand is the result of another dot.
fn keeps_rows(dot: AnyDot<'_>) -> bool {
    leads_to_rows(dot.result()) || comes_from_dot(dot.lhs())
}

/// Follows values with the same layout as `v` forward. Returns whether one of them is used by row.
fn leads_to_rows(v: Val<'_>) -> bool {
    let (mut work, mut seen) = (vec![v], FxHashSet::default());
    while let Some(v) = work.pop() {
        if !seen.insert(key(v)) {
            continue;
        }
        let rank = Tensor::of_value(v).map_or(0, |t| t.shape.len()) as i64;
        for (user, i) in uses(v) {
            if i == LHS && AnyDot::cast(user).is_some() || ReduceOp::cast(user).is_some_and(|r| r.dim() == rank - 1) {
                return true;
            }
            if passes_on(user) {
                work.extend(results(user));
            }
        }
    }
    false
}

fn comes_from_dot(v: Val<'_>) -> bool {
    let (mut work, mut seen) = (vec![v], FxHashSet::default());
    while let Some(v) = work.pop() {
        let Some(op) = defining_op(v).filter(|_| seen.insert(key(v))) else { continue };
        if AnyDot::cast(op).is_some() {
            return true;
        }
        if passes_on(op) {
            work.extend(operands(op));
        }
    }
    false
}

/// Whether the threads that hold a row of an op's results hold the same row of its operands: elements stay in place,
/// or columns are added or taken out.
fn passes_on(op: OpRef<'_>) -> bool {
    let alike = match behaviour::layout_relation(op) {
        LayoutRelation::Same => true,
        LayoutRelation::Cat | LayoutRelation::Slice => {
            let rows = |v| Tensor::of_value(v).and_then(|t| t.shape.first().copied());
            result_count(op) > 0 && rows(operand(op, 0)) == rows(result(op, 0))
        }
        _ => false,
    };
    alike && result_count(op) > 0 && Tensor::of_value(result(op, 0)).is_some()
}
