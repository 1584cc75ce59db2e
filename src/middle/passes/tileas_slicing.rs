//! `tileas-slicing` splits scans and dots of large tiles into loops over slices.
//!
//! Most ops on a tensor that does not fit into registers become loops over chunks of a thread's registers, which
//! `tileas-materialize-register-loops` builds at the end. Scans and dots relate elements of different chunks, so they
//! become loops over slices that fit, before layouts are assigned:
//!
//! ```text
//! %r = scan %x dim 1                 %r, %c = for %j iter_args(%out = poison, %carry = poison) {
//!                                      %x' = extract_slice %x[0, %j]
//!                                      %s = scan %x' dim 1
//!                                      %t = %j == 0 ? %s : body(broadcast %carry, %s)
//!                                      yield insert_slice %t into %out[0, %j], extract_slice %t[.., last]
//!                                    }
//!
//! %r = dot %a, %b, %c                %r = for %j iter_args(%out = poison) {
//!                                      %s = for %k iter_args(%acc = extract_slice %c[m, n]) {
//!                                        yield dot extract_slice %a[m, %k], extract_slice %b[%k, n], %acc
//!                                      }
//!                                      yield insert_slice %s into %out[m, n]
//!                                    }
//! ```
//!
//! A scan in the canonical order (`docs/numerics.md`) is a chain of blocks of [`CANONICAL_BLOCK`] elements, which are
//! its slices.
//!
//! The slices of a scan advance along its dimension first, so that a carry belongs to the previous slice. Splats are
//! not sliced but rebuilt with a smaller shape.

use crate::{
    analysis::{
        layouts::{default_layout, project},
        registers::{Limit, PASS_REGISTERS, words},
        warps::{warps_at, warps_of},
    },
    dialect::{
        arith::IntPredicate,
        attributes::CANONICAL,
        behaviour,
        dots::{ACC, AnyDot, LHS, RHS},
        elements,
        layouts::{Tensor, layout_attr, tensor_type},
        nv_tileaa,
        nv_tileas::{BroadcastOp, ConvertLayoutOp, ExtractSliceOp, InsertSliceOp, ScanOp, SplatOp, YieldOp},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Region, Type, r#type::IntegerType},
};
use rustc_hash::FxHashMap;
use tile_layout::{DotShape, Layout, Multiplier, Operand, Shape};

/// Words per thread of a slice of an accumulator.
const ACCUMULATOR_WORDS: i64 = 32;
/// Elements along K of a slice of a dot, unless a scale covers more.
const DEPTH: i64 = 32;
/// The maximum number of words per thread of a dot's tile, distributed without copies: as many as there are
/// registers. A tile that is slightly too large is better spilled than sliced.
const TILE_WORDS: u64 = 256;
/// The elements that a scan in the canonical order combines as a tree; longer dimensions are chains of such blocks. One
/// warp can hold a block in its registers.
const CANONICAL_BLOCK: i64 = 4096;

#[derive(Clone, Default)]
pub struct Slicing;

impl RustPass for Slicing {
    pass_descriptor!(tileas_slicing);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_slicing::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            warps_of(function)?;
            let (mut scans, mut dots) = (vec![], vec![]);
            walk(function.op(), &mut |o| {
                scans.extend(ScanOp::cast(o));
                dots.extend(AnyDot::cast(o));
            });
            for dot in dots {
                let slicing = Slices { context, warps: warps_at(dot.op())? };
                if slicing.is_large_product(dot) {
                    slicing.dot(dot)?;
                    cx.stat_add(stat::NUM_DOTS, 1);
                }
            }
            for scan in scans.into_iter().filter(is_sliced) {
                Slices { context, warps: warps_at(scan.op())? }.scan(scan)?;
                cx.stat_add(stat::NUM_SCANS, 1);
            }
        }
        Ok(())
    }
}

/// Whether a scan becomes a loop: its operands are too large, or its canonical order is a chain of blocks.
fn is_sliced(scan: &ScanOp<'_>) -> bool {
    let extent = |v| Tensor::of_value(v).map_or(0, |t| t.shape[scan.dim() as usize]);
    let chained = CANONICAL.is_on(scan.op()) && scan.operands().any(|v| extent(v) > CANONICAL_BLOCK);
    chained || scan.operands().any(|v| Limit::USUAL.is_exceeded(v))
}

struct Slices<'c> {
    context: &'c Context,
    warps: u64,
}

/// A loop under construction.
struct Loop<'c> {
    /// The builder in the body.
    b: Builder<'c>,
    counter: Val<'c>,
    carried: Vec<Val<'c>>,
    region: Region<'c>,
    count: i64,
}

impl<'c> Slices<'c> {
    fn i32(&self) -> Type<'c> {
        IntegerType::new(self.context, 32).into()
    }
    fn layout(&self, shape: &[i64]) -> Layout {
        default_layout(&Shape::new(shape).expect("extents are powers of two"), self.warps)
    }
    fn tile(&self, shape: &[i64], element: Type<'c>) -> Type<'c> {
        tensor_type(shape, element, Some(layout_attr(self.context, &self.layout(shape))))
    }
    /// Returns the layout of a tensor in which each slice has the default layout, with all slices in the same
    /// threads.
    fn spread(&self, part: &[i64], whole: &[i64]) -> Layout {
        let shape = |s: &[i64]| Shape::new(s).expect("extents are powers of two");
        self.layout(part).over_registers(&shape(part), &shape(whole)).expect("slices tile the whole")
    }
    fn threads(&self) -> i64 {
        self.warps as i64 * 32
    }

    //===-- loops -----------------------------------------------------------===//

    /// Starts a loop that runs `count` times and carries values of these types.
    fn begin(&self, op: OpRef<'c>, count: i64, types: &[Type<'c>]) -> Loop<'c> {
        let region = Region::new();
        let mut all = vec![self.i32()];
        all.extend(types);
        let block = append_block(&region, &all, op.location());
        Loop {
            b: Builder::at_end(self.context, block, op.location()),
            counter: arg(block, 0),
            carried: args(block).skip(1).collect(),
            region,
            count,
        }
    }
    /// Ends the body and builds the loop. Returns its results.
    fn end(
        &self,
        b: &Builder<'c>,
        body: Loop<'c>,
        init: &[Val<'c>],
        yielded: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>, BuildError> {
        body.b.create("scf.yield", &[], yielded, &[]);
        let mut operands = vec![b.i32_constant(0), b.i32_constant(body.count), b.i32_constant(1)];
        operands.extend(init);
        let mut s = b.state("scf.for");
        s.operands(&operands);
        s.results(&init.iter().map(|v| ty(*v)).collect::<Vec<_>>());
        s.region(body.region);
        Ok(results(b.insert(s)?).collect())
    }
    fn poison(&self, b: &Builder<'c>, t: Type<'c>) -> Val<'c> {
        b.value("ub.poison", t, &[], &[])
    }

    //===-- slices ----------------------------------------------------------===//

    /// Returns the slice indices of part `number` of the `whole`. The dimensions of `order` are counted, the first
    /// one fastest.
    fn indices(&self, b: &Builder<'c>, number: Val<'c>, part: &[i64], whole: &[i64], order: &[usize]) -> Vec<Val<'c>> {
        let zero = b.i32_constant(0);
        let mut list = vec![zero; whole.len()];
        let mut shift = 0;
        for &d in order {
            let slices = whole[d] / part[d];
            if slices > 1 {
                let moved = if shift == 0 { number } else { b.shrui(number, b.i32_constant(shift)) };
                list[d] = b.andi(moved, b.i32_constant(slices - 1));
                shift += i64::from(slices.ilog2());
            }
        }
        list
    }
    fn extract(
        &self,
        b: &Builder<'c>,
        source: Val<'c>,
        part: &[i64],
        indices: &[Val<'c>],
    ) -> Result<Val<'c>, BuildError> {
        // The layout of the whole does not matter for its slices.
        let mut source = source;
        while let Some(conversion) = defining_op(source).and_then(ConvertLayoutOp::cast) {
            source = conversion.source();
        }
        let t = Tensor::of_value(source).ok_or_else(|| BuildError("the sliced value is not a tensor".into()))?;
        let to = self.tile(part, t.element);
        if let Some(same) = self.smaller_splat(b, source, to)? {
            return Ok(same);
        }
        Ok(ExtractSliceOp::build(b, to, source, indices)?.result())
    }
    /// Rebuilds a splat or a constant with equal elements with another type.
    fn smaller_splat(&self, b: &Builder<'c>, v: Val<'c>, to: Type<'c>) -> Result<Option<Val<'c>>, BuildError> {
        let Some(op) = defining_op(v) else { return Ok(None) };
        if let Some(splat) = SplatOp::cast(op) {
            return Ok(Some(SplatOp::build(b, to, splat.source())?.result()));
        }
        let Some(value) = attr(op, "value").filter(|_| behaviour::is_constant(op)) else { return Ok(None) };

        let new = elements::splat(value).map(|element| elements::dense(to, element));
        Ok(new.map(|new| b.constant(to, new)))
    }
    /// Returns the type of a result while slices are inserted into it one by one.
    fn collecting(&self, part: &[i64], whole: &Tensor<'c>) -> Type<'c> {
        whole.with_layout(self.context, &self.spread(part, &whole.shape))
    }

    //===-- scans -----------------------------------------------------------===//

    fn scan(&self, x: ScanOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        self.sliced_scan(x).map_err(|e| fail(op, e.to_string()))
    }

    fn sliced_scan(&self, x: ScanOp<'c>) -> Result<(), BuildError> {
        let op = x.op();
        let dim = x.dim() as usize;
        let tensors: Vec<Tensor<'c>> = x.operands().filter_map(Tensor::of_value).collect();
        let whole = tensors[0].shape.clone();
        // First one element in another row for each thread, then a run along the dimension.
        let mut part = vec![1; whole.len()];
        let mut room = self.threads() << PASS_REGISTERS;
        let canonical = CANONICAL.is_on(op);
        if canonical {
            // The order determines the slices along the dimension, and the other dimensions share what is left.
            part[dim] = whole[dim].min(CANONICAL_BLOCK);
            room = (room / part[dim]).max(1);
        }
        let mut grow = |part: &mut Vec<i64>, d: usize, most: i64| {
            let by = (whole[d] / part[d]).min(room).min(most).max(1);
            part[d] *= by;
            room /= by;
        };
        let others: Vec<usize> = (0..whole.len()).rev().filter(|&d| d != dim).collect();
        let mut spread = self.threads();
        for &d in &others {
            grow(&mut part, d, spread);
            spread /= part[d];
        }
        if !canonical {
            grow(&mut part, dim, i64::MAX);
        }
        for &d in &others {
            grow(&mut part, d, i64::MAX);
        }
        let count = whole.iter().product::<i64>() / part.iter().product::<i64>();
        let along = whole[dim] / part[dim];
        let mut edge = part.clone();
        edge[dim] = 1;

        let b = Builder::before(self.context, op);
        let mut types: Vec<Type<'c>> = tensors.iter().map(|t| self.collecting(&part, t)).collect();
        types.extend(tensors.iter().map(|t| self.tile(&edge, t.element)));
        let init: Vec<Val<'c>> = types.iter().map(|t| self.poison(&b, *t)).collect();
        let body = self.begin(op, count, &types);
        let n = tensors.len();
        let mut order = vec![dim];
        order.extend(&others);
        let i = &body.b;
        let mut indices = self.indices(i, body.counter, &part, &whole, &order);
        let step = indices[dim];
        if x.reverse() && along > 1 {
            indices[dim] = i.subi(i.i32_constant(along - 1), step);
        }
        let slices = x.operands().map(|v| self.extract(i, v, &part, &indices)).collect::<Result<Vec<_>, _>>()?;
        let scanned = clone_detached(op);
        for (k, v) in slices.iter().enumerate() {
            set_operand(scanned, k, *v);
            set_ty(result(scanned, k), ty(*v));
        }
        i.insert_op(scanned);
        let mut found: Vec<Val<'c>> = results(scanned).collect();
        if along > 1 {
            let first = i.cmpi(IntPredicate::Eq, step, i.i32_constant(0));
            let mut before = vec![];
            for (k, v) in found.iter().enumerate() {
                let aligned = Tensor::of_value(*v).and_then(|t| t.layout());
                let layout =
                    project(&aligned.ok_or_else(|| BuildError("slice without a layout".into()))?, &part, &edge);
                let carry = body.carried[n + k];
                let wanted = tensor_type(&edge, tensors[k].element, Some(layout_attr(self.context, &layout)));
                let carry =
                    if ty(carry) == wanted { carry } else { ConvertLayoutOp::build(i, wanted, carry)?.result() };
                before.push(BroadcastOp::build(i, ty(*v), carry)?.result());
            }
            let combined = self.combine(i, op, &before, &found)?;
            for (v, c) in found.iter_mut().zip(combined) {
                *v = i.select(first, *v, c);
            }
        }
        let mut yielded = vec![];
        for (k, v) in found.iter().enumerate() {
            yielded.push(InsertSliceOp::build(i, types[k], *v, body.carried[k], &indices)?.result());
        }
        for v in &found {
            let mut at = vec![i.i32_constant(0); part.len()];
            at[dim] = i.i32_constant(if x.reverse() { 0 } else { part[dim] - 1 });
            yielded.push(self.extract(i, *v, &edge, &at)?);
        }
        let out = self.end(&b, body, &init, &yielded)?;
        for (old, new) in results(op).zip(out) {
            let back = ConvertLayoutOp::build(&b, ty(old), new)?;
            replace_all_uses(old, back.result());
        }
        erase(op);
        Ok(())
    }

    /// Applies the body of a scan to whole tensors: the values before, and the values after them.
    fn combine(
        &self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        before: &[Val<'c>],
        after: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>, BuildError> {
        let block = entry_block(region(op, 0)).ok_or_else(|| BuildError("scan without a body".into()))?;
        let shape = Tensor::of_value(after[0]).ok_or_else(|| BuildError("scan of no tensor".into()))?;
        let mut values: FxHashMap<usize, Val<'c>> = FxHashMap::default();
        for (i, a) in args(block).enumerate() {
            values.insert(key(a), if i % 2 == 0 { before[i / 2] } else { after[i / 2] });
        }
        let lifted = |t: Type<'c>| tensor_type(&shape.shape, t, shape.encoding);
        for inner in ops_of(block) {
            let mut inputs = vec![];
            for v in operands(inner) {
                inputs.push(match values.get(&key(v)) {
                    Some(v) => *v,
                    // A scalar from outside the body.
                    None => SplatOp::build(b, lifted(ty(v)), v)?.result(),
                });
            }
            if YieldOp::cast(inner).is_some() {
                return Ok(inputs);
            }
            let copy = clone_detached(inner);
            b.insert_op(copy);
            if behaviour::is_constant(inner) {
                let splat = SplatOp::build(b, lifted(ty(result(copy, 0))), result(copy, 0))?;
                values.insert(key(result(inner, 0)), splat.result());
                continue;
            }
            for (i, v) in inputs.into_iter().enumerate() {
                set_operand(copy, i, v);
            }
            for (old, new) in results(inner).zip(results(copy)) {
                set_ty(new, lifted(ty(new)));
                values.insert(key(old), new);
            }
        }
        Err(BuildError("scan whose body does not yield".into()))
    }

    //===-- matrix products -------------------------------------------------===//

    /// Whether a tile of the dot is too large even if it is distributed over the threads without copies.
    fn is_large_product(&self, dot: AnyDot<'c>) -> bool {
        let op = dot.op();
        [LHS, RHS, ACC].into_iter().filter_map(|i| Tensor::of_value(operand(op, i))).any(|t| {
            let each = (t.elements() as u64).div_ceil(self.threads() as u64).next_power_of_two();
            words(t.element, each.ilog2()) > TILE_WORDS
        })
    }

    fn dot(&self, dot: AnyDot<'c>) -> Result<(), Failed> {
        let op = dot.op();
        self.sliced_dot(op).map_err(|e| fail(op, e.to_string()))
    }

    fn sliced_dot(&self, op: OpRef<'c>) -> Result<(), BuildError> {
        let no_tensor = || BuildError("an operand of the dot is not a tensor".into());
        let tensors: Vec<Tensor<'c>> =
            operands(op).map(|v| Tensor::of_value(v).ok_or_else(no_tensor)).collect::<Result<_, _>>()?;
        let (lhs, acc) = (&tensors[LHS], &tensors[ACC]);
        let rank = acc.shape.len();
        let (m, n) = (rank - 2, rank - 1);
        let depth = lhs.shape[n];
        // As square as possible; small tiles of a batch may be combined with others.
        let mut part = vec![1; rank];
        let mut room = self.threads() * ACCUMULATOR_WORDS;
        while room > 1 && (part[m] < acc.shape[m] || part[n] < acc.shape[n]) {
            let d = if part[m] < acc.shape[m] && (part[m] <= part[n] || part[n] == acc.shape[n]) { m } else { n };
            part[d] *= 2;
            room /= 2;
        }
        // Elements along K that one scale covers.
        let covered = tensors.get(3).map_or(1, |s| depth / s.shape[n]);
        let k = DEPTH.max(covered).min(depth);
        let extents = |i: usize| -> Vec<i64> {
            let mut shape = part.clone();
            match i {
                LHS => shape[n] = k,
                RHS => shape[m] = k,
                ACC => {}
                3 => shape[n] = k / covered,
                _ => shape[m] = k / covered,
            }
            shape
        };
        let order: Vec<usize> = (0..rank).rev().collect();
        let count = acc.shape.iter().product::<i64>() / part.iter().product::<i64>();

        let b = Builder::before(self.context, op);
        let collecting = self.collecting(&part, acc);
        let init = self.poison(&b, collecting);
        let outer = self.begin(op, count, &[collecting]);
        let i = &outer.b;
        let place = self.indices(i, outer.counter, &part, &acc.shape, &order);
        let start = self.extract(i, operand(op, ACC), &part, &place)?;
        let inner = self.begin(op, depth / k, &[ty(start)]);
        let j = &inner.b;
        let product = clone_detached(op);
        let shape = |s: &[i64]| Shape::new(s).expect("extents are powers of two");
        let accumulator = self.layout(&part);
        for (o, v) in operands(op).enumerate() {
            if o == ACC {
                set_operand(product, o, inner.carried[0]);
                continue;
            }
            // Scales have the same orientation along K as their operands.
            let left = o == LHS || o == 3;
            let mut at = place.clone();
            at[if left { n } else { m }] = inner.counter;
            let slice = self.extract(j, v, &extents(o), &at)?;
            // Scalar arithmetic, until an instruction is selected.
            let (l, r) = if o < 3 { (LHS, RHS) } else { (3, 4) };
            let invalid = |e: tile_layout::LayoutError| BuildError(e.to_string());
            let of_slices = DotShape::new(&shape(&extents(l)), &shape(&extents(r)), &shape(&part)).map_err(invalid)?;
            let side = if left { Operand::A } else { Operand::B };
            let layout = of_slices.operand(Multiplier::Scalar, &accumulator, side).map_err(invalid)?;
            let wanted = tensor_type(&extents(o), tensors[o].element, Some(layout_attr(self.context, &layout)));
            let lies = ConvertLayoutOp::build(j, wanted, slice)?;
            set_operand(product, o, lies.result());
        }
        set_ty(result(product, 0), ty(start));
        j.insert_op(product);
        let sum = self.end(i, inner, &[start], &[result(product, 0)])?[0];
        let inserted = InsertSliceOp::build(i, collecting, sum, outer.carried[0], &place)?;
        let out = self.end(&b, outer, &[init], &[inserted.result()])?[0];
        let back = ConvertLayoutOp::build(&b, ty(result(op, 0)), out)?;
        replace_all_uses(result(op, 0), back.result());
        erase(op);
        Ok(())
    }
}
