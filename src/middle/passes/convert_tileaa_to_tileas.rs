//! `convert-tileaa-to-tileas` assigns layouts to tensors and makes the movement of elements explicit.
//!
//! Tensors start in the default layout of their shape: row-major, with lanes along the last dimension. Elementwise
//! ops and structured control flow keep their form, because equal shapes have equal layouts. Ops that relate two
//! shapes (`view`, `permute`, `broadcast`) determine the layout of the other side, so they get a `convert_layout` to
//! or from the default layout. The layout passes choose better layouts later; this pass only guarantees a valid
//! program.

mod expand;
mod owner_ops;
mod warps;

use crate::{
    analysis::{
        layouts::{default_layout, default_packing, project},
        tile_programs::keep_place,
    },
    dialect::{
        attributes::CANONICAL,
        behaviour,
        dots::Instruction,
        hints,
        layouts::{Tensor, converted, retype_constant},
        nv_tileaa::{self, AnyOp},
        nv_tileas,
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        remark,
        rt::*,
        thread_scope::ThreadScope,
    },
    pass_descriptor,
};
use melior::{Context, ir::Type};
use tile_layout::{DotShape, Layout, Multiplier, Operand, Shape};
use tile_targets::Target;

#[derive(Clone, Default)]
pub struct ConvertTileAAToTileAS;

impl RustPass for ConvertTileAAToTileAS {
    pass_descriptor!(convert_tileaa_to_tileas);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let options = descriptors::convert_tileaa_to_tileas::Options(cx);
        let num_warps = options.num_warps();
        if num_warps != 0 && !warps::valid(num_warps) {
            return Err(fail(op, format!("num-warps must be a power of two from 1 to 32, got {num_warps}")));
        }
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            if let Some(target) = Target::by_name(options.compute_capability()).filter(|_| remark::wanted()) {
                hints::report_unused(function, target);
            }
            expand::expand(function, context)?;
            let warps = warps::choose(function, options.compute_capability(), num_warps);
            set_attr(function.op(), "numWarps", i64_attr(context, warps));
            Convert { context, warps: warps as u64 }.function(function)?;
        }
        Ok(())
    }
}

struct Convert<'c> {
    context: &'c Context,
    warps: u64,
}

impl<'c> Convert<'c> {
    fn function(&self, function: nv_tileaa::FuncOp<'c>) -> Result<(), Failed> {
        let mut ops = vec![];
        walk(function.op(), &mut |o| ops.push(o));
        for op in &ops {
            check_extents(*op)?;
        }
        for op in &ops {
            self.at(*op).give_layouts(*op);
        }
        for op in ops {
            self.at(op).op(op)?;
        }
        Ok(())
    }

    /// Returns the conversion for the threads that run `op`.
    fn at(&self, op: OpRef<'c>) -> Self {
        let warps = ThreadScope::of(op).and_then(|s| s.warps).map_or(self.warps, |w| w as u64);
        Self { context: self.context, warps }
    }

    fn layout(&self, shape: &[i64]) -> Layout {
        default_layout(&Shape::new(shape).expect("tile extents are powers of two"), self.warps)
    }
    fn default_type(&self, t: &Tensor<'c>) -> Type<'c> {
        t.with_layout(self.context, &self.layout(&t.shape))
    }

    /// Assigns layouts to the results and block arguments of `op`, and to the value of a constant.
    fn give_layouts(&self, op: OpRef<'c>) {
        for v in results(op) {
            if let Some(t) = Tensor::of_value(v) {
                set_ty(v, self.default_type(&t));
            }
        }
        for i in 0..region_count(op) {
            for a in entry_block(region(op, i)).into_iter().flat_map(args) {
                if let Some(t) = Tensor::of_value(a) {
                    set_ty(a, self.default_type(&t));
                }
            }
        }
        if behaviour::is_constant(op) {
            retype_constant(op);
        }
    }

    fn op(&self, op: OpRef<'c>) -> Result<(), Failed> {
        let Some(typed) = AnyOp::cast(op) else { return Ok(()) };
        let b = Builder::before(self.context, op);
        let build = |r: Result<OpRef<'c>, BuildError>| r.map_err(|e| fail(op, e.to_string()));
        let c = self.context;
        let one = || i64_attr(c, 1);
        let new = match typed {
            AnyOp::MakeRangeOp(x) => build(nv_tileas::MakeRangeOp::build(&b, ty(x.result())).map(OpView::op))?,
            AnyOp::SplatOp(x) => build(nv_tileas::SplatOp::build(&b, ty(x.result()), x.source()).map(OpView::op))?,
            AnyOp::UnsplatOp(x) => build(nv_tileas::UnsplatOp::build(&b, ty(x.result()), x.source()).map(OpView::op))?,
            AnyOp::BroadcastOp(x) => {
                // The source needs the layout that the result's layout projects to.
                let (from, to) = (tensor(x.source()), tensor(x.result()));
                let layout = project(&self.layout(&to.shape), &to.shape, &from.shape);
                let source = converted(&b, op, x.source(), &layout)?;
                build(nv_tileas::BroadcastOp::build(&b, ty(x.result()), source).map(OpView::op))?
            }
            AnyOp::ViewOp(x) => {
                let source = converted(&b, op, x.source(), &self.layout(&tensor(x.result()).shape))?;
                build(nv_tileas::ViewOp::build(&b, ty(x.result()), source).map(OpView::op))?
            }
            AnyOp::PermuteOp(x) => {
                let to = tensor(x.result());
                let mut inverse = vec![0; to.shape.len()];
                for (i, &d) in x.order().iter().enumerate() {
                    inverse[d as usize] = i;
                }
                let (layout, _) =
                    self.layout(&to.shape).permute(&to.tile_shape(), &inverse).map_err(|e| fail(op, e.to_string()))?;
                let source = converted(&b, op, x.source(), &layout)?;
                let order = attr(op, "order").expect("permute has an order");
                build(nv_tileas::PermuteOp::build(&b, ty(x.result()), source, order).map(OpView::op))?
            }
            AnyOp::TiledLoadOp(x) => build(
                nv_tileas::TiledLoadOp::build(
                    &b,
                    ty(x.result()),
                    ty(x.result_token()),
                    x.view(),
                    &self.indices(&b, op, x.view(), x.indices(), &tensor(x.result()))?,
                    x.token(),
                    x.ordering(),
                    x.scope(),
                    x.hints(),
                    one(),
                    nv_tileas::Bounds::Split,
                    x.in_bounds(),
                )
                .map(OpView::op),
            )?,
            AnyOp::TiledStoreOp(x) => build(
                nv_tileas::TiledStoreOp::build(
                    &b,
                    ty(x.result_token()),
                    x.value(),
                    x.view(),
                    &self.indices(&b, op, x.view(), x.indices(), &tensor(x.value()))?,
                    x.token(),
                    x.ordering(),
                    x.scope(),
                    x.hints(),
                    one(),
                    nv_tileas::Bounds::Split,
                    x.in_bounds(),
                )
                .map(OpView::op),
            )?,
            AnyOp::LoadOp(x) if x.ordering() != nv_tileaa::Ordering::Weak => return self.strong_load(x),
            AnyOp::LoadOp(x) => build(
                nv_tileas::LoadOp::build(
                    &b,
                    ty(x.result()),
                    ty(x.result_token()),
                    x.ptr(),
                    x.mask(),
                    x.other(),
                    x.token(),
                    x.ordering(),
                    x.scope(),
                    x.hints(),
                    one(),
                    None,
                )
                .map(OpView::op),
            )?,
            AnyOp::StoreOp(x) => build(
                nv_tileas::StoreOp::build(
                    &b,
                    ty(x.result_token()),
                    x.ptr(),
                    x.value(),
                    x.mask(),
                    x.token(),
                    x.ordering(),
                    x.scope(),
                    x.hints(),
                    one(),
                    None,
                )
                .map(OpView::op),
            )?,
            AnyOp::CatOp(x) => {
                let to = tensor(x.result());
                let (operand, _) = self
                    .layout(&to.shape)
                    .uncat(&to.tile_shape(), x.dim() as usize)
                    .map_err(|e| fail(op, e.to_string()))?;
                let (lhs, rhs) = (converted(&b, op, x.lhs(), &operand)?, converted(&b, op, x.rhs(), &operand)?);
                let dim = attr(op, "dim").expect("cat has a dimension");
                build(nv_tileas::CatOp::build(&b, ty(x.result()), lhs, rhs, dim).map(OpView::op))?
            }
            AnyOp::ExtractSliceOp(x) => {
                let indices: Vec<Val<'c>> = x.indices().collect();
                build(nv_tileas::ExtractSliceOp::build(&b, ty(x.result()), x.source(), &indices).map(OpView::op))?
            }
            AnyOp::PackOp(x) => self.packing(&b, op, x.source(), x.result(), |b, source, to| {
                build(nv_tileas::PackOp::build(b, to, source).map(OpView::op))
            })?,
            AnyOp::UnpackOp(x) => self.packing(&b, op, x.source(), x.result(), |b, source, to| {
                build(nv_tileas::UnpackOp::build(b, to, source).map(OpView::op))
            })?,
            AnyOp::DotOp(x) => {
                let [lhs, rhs, acc] = self.dot_operands(&b, op, [x.lhs(), x.rhs(), x.acc()])?;
                let by = Instruction::FMA.to_attr(c);
                let (left, right, fast) = (x.lhs_unsigned(), x.rhs_unsigned(), x.fast_acc());
                build(
                    nv_tileas::DotOp::build(&b, ty(x.result()), lhs, rhs, acc, by, left, right, fast).map(OpView::op),
                )?
            }
            AnyOp::DotScaledOp(x) => {
                let [lhs, rhs, acc] = self.dot_operands(&b, op, [x.lhs(), x.rhs(), x.acc()])?;
                let [left, right, _] = self.dot_operands(&b, op, [x.lhs_scale(), x.rhs_scale(), x.acc()])?;
                let by = Instruction::FMA.to_attr(c);
                build(
                    nv_tileas::DotScaledOp::build(&b, ty(x.result()), lhs, rhs, acc, left, right, by).map(OpView::op),
                )?
            }
            AnyOp::ReduceOp(x) => self.reduce(&b, x)?,
            AnyOp::ScanOp(x) => {
                let (operands, types) = (x.operands().collect::<Vec<_>>(), x.results().map(ty).collect::<Vec<_>>());
                let dim = i64_attr(c, x.dim());
                let body = take_body(op);
                let build = nv_tileas::ScanOp::build(&b, &types, &operands, dim, x.reverse(), x.identities(), body);
                let new = build.map(OpView::op).map_err(|e| fail(op, e.to_string()))?;
                CANONICAL.copy(op, new);
                new
            }
            // The body has already moved to the new op, and the terminator moves with it.
            AnyOp::YieldOp(x) => {
                build(nv_tileas::YieldOp::build(&b, &x.operands().collect::<Vec<_>>()).map(OpView::op))?
            }
            AnyOp::AtomicRmwOp(x) => return self.atomic_rmw(x),
            AnyOp::AtomicCasOp(x) => return self.atomic_cas(x),
            AnyOp::TiledAtomicRmwOp(x) => return self.tiled_atomic_rmw(x),
            AnyOp::MultimemLoadReduceOp(x) => return self.multimem_load_reduce(x),
            AnyOp::MultimemReduceOp(x) => return self.multimem_reduce(x),
            AnyOp::MultimemStoreOp(x) => return self.multimem_store(x),
            AnyOp::AllocaOp(x) => return self.alloca(x),
            AnyOp::PrintOp(x) => return self.print(x),
            AnyOp::ExternCallOp(x) => return self.extern_call(x),
            // Scalars, views, tokens, and elementwise ops keep their form.
            _ => return Ok(()),
        };
        for (old, new) in results(op).zip(results(new)) {
            replace_all_uses(old, new);
        }
        keep_place(op, new);
        erase(op);
        self.share_strong(new)
    }

    /// Builds a change of element width between layout conversions: each thread must hold all parts of an element.
    fn packing(
        &self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        source: Val<'c>,
        result: Val<'c>,
        build: impl FnOnce(&Builder<'c>, Val<'c>, Type<'c>) -> Result<OpRef<'c>, Failed>,
    ) -> Result<OpRef<'c>, Failed> {
        let (from, to) = (tensor(source), tensor(result));
        let (source_layout, result_layout) = default_packing(&from, &to, self.warps);
        let source = converted(b, op, source, &source_layout)?;
        let new = build(b, source, to.with_layout(self.context, &result_layout))?;
        let back = converted(b, op, crate::dialect::rt::result(new, 0), &self.layout(&to.shape))?;
        Ok(defining_op(back).expect("the op or its conversion"))
    }

    /// Returns the operands of a scalar dot with its accumulator in the default layout.
    fn dot_operands(
        &self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        [lhs, rhs, acc]: [Val<'c>; 3],
    ) -> Result<[Val<'c>; 3], Failed> {
        let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
        let [l, r, c] = [tensor(lhs).tile_shape(), tensor(rhs).tile_shape(), tensor(acc).tile_shape()];
        let product = DotShape::new(&l, &r, &c).map_err(error)?;
        let layout = self.layout(&tensor(acc).shape);
        let operand = |side| product.operand(Multiplier::Scalar, &layout, side).map_err(error);
        let (left, right) = (operand(Operand::A)?, operand(Operand::B)?);
        Ok([converted(b, op, lhs, &left)?, converted(b, op, rhs, &right)?, acc])
    }

    /// Builds a reduction with result layouts that follow from the operands; conversions bring the results to the
    /// default.
    fn reduce(&self, b: &Builder<'c>, x: nv_tileaa::ReduceOp<'c>) -> Result<OpRef<'c>, Failed> {
        let (op, c) = (x.op(), self.context);
        let operands: Vec<Val<'c>> = x.operands().collect();
        let from = tensor(operands[0]);
        let (layout, ..) = self
            .layout(&from.shape)
            .reduce(&from.tile_shape(), x.dim() as usize)
            .map_err(|e| fail(op, e.to_string()))?;
        let reduced = |r: Val<'c>| Tensor::of_value(r).map_or(ty(r), |t| t.with_layout(c, &layout));
        let types: Vec<Type<'c>> = x.results().map(reduced).collect();
        let dim = i64_attr(c, x.dim());
        let new = nv_tileas::ReduceOp::build(b, &types, &operands, dim, None, x.identities(), take_body(op))
            .map_err(|e| fail(op, e.to_string()))?;
        CANONICAL.copy(op, new.op());
        for (old, new) in x.results().zip(new.results()) {
            let back = match Tensor::of_value(old) {
                Some(t) => converted(b, op, new, &self.layout(&t.shape))?,
                None => new,
            };
            replace_all_uses(old, back);
        }
        Ok(new.op())
    }
}

/// Rejects tensors that are not tiles. The public language cannot express them, but textual input of this level can.
fn check_extents(op: OpRef<'_>) -> Result<(), Failed> {
    let inner = (0..region_count(op)).filter_map(|i| entry_block(region(op, i))).flat_map(args);
    for v in results(op).chain(inner) {
        if let Some(t) = Tensor::of_value(v)
            && let Err(e) = Shape::new(&t.shape)
        {
            return Err(fail(op, format!("{} is not a tile: {e}", ty(v))));
        }
    }
    Ok(())
}

fn tensor<'c>(v: Val<'c>) -> Tensor<'c> {
    Tensor::of_value(v).expect("a tensor operand")
}
