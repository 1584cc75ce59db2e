//! `tileas-clamp-indices` keeps tiles that are far outside their view from wrapping around into it.
//!
//! `convert-tileas-to-llvm` tests each element of a ragged tile against the rest of the view after the start of the
//! tile, which it computes in 64 bits and then truncates to 32 bits. A tile that starts a little past the end has a
//! negative rest, and no element passes. A tile index that is negative or huge would make the truncated rest positive,
//! and the access would be wild. The language does not define such an index, but front ends hoist the loads of a helper
//! above its early return, so programs execute them and discard the result.
//!
//! The pass replaces such an index by `minui(index, extent / step + 1)`: a negative index is a large unsigned number,
//! and `extent / step + 1` is the number of a tile that is outside the view by less than two steps.
//!
//! An index stays as it is if the dimension needs no test, or if the index is known not to be negative. Program
//! numbers and induction variables are assumed to count tiles of the view, so they are not huge.
//!
//! *Work.* One analysis of facts per function with such accesses, and a bounded search per index.

use crate::{
    analysis::{access::View, facts::Facts},
    dialect::{
        nv_tileaa,
        nv_tileas::{AnyOp, Bounds},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        types::{int, integer_width, is_integer},
        upstream::Arith,
    },
    pass_descriptor,
};
use melior::Context;

#[derive(Clone, Default)]
pub struct ClampIndices;

impl RustPass for ClampIndices {
    pass_descriptor!(tileas_clamp_indices);

    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileas_clamp_indices::stat;
        for function in collect_ops(op, nv_tileaa::FuncOp::cast) {
            let accesses = collect_ops(function.op(), |o| Access::of(o).filter(Access::is_tested));
            if accesses.is_empty() {
                continue;
            }
            let facts = Facts::of(function.op());
            for access in accesses {
                cx.stat_add(stat::NUM_CLAMPED, access.clamp(&facts, context)?);
            }
        }
        Ok(())
    }
}

/// An access of a tile of a view.
struct Access<'c> {
    op: OpRef<'c>,
    view: Val<'c>,
    indices: Vec<Val<'c>>,
    bounds: Bounds,
}

impl<'c> Access<'c> {
    fn of(op: OpRef<'c>) -> Option<Self> {
        let (view, indices, bounds) = match AnyOp::cast(op)? {
            AnyOp::TiledLoadOp(x) => (x.view(), x.indices().collect(), x.bounds()),
            AnyOp::TiledStoreOp(x) => (x.view(), x.indices().collect(), x.bounds()),
            AnyOp::AsyncTiledLoadOp(x) => (x.view(), x.indices().collect(), x.bounds()),
            AnyOp::TiledAtomicRmwOp(x) => (x.view(), x.indices().collect(), x.bounds()),
            AnyOp::MultimemLoadReduceOp(x) => (x.view(), x.indices().collect(), x.bounds()),
            AnyOp::MultimemReduceOp(x) => (x.view(), x.indices().collect(), x.bounds()),
            AnyOp::MultimemStoreOp(x) => (x.view(), x.indices().collect(), x.bounds()),
            _ => return None,
        };
        Some(Self { op, view, indices, bounds })
    }

    /// Whether some dimension is tested.
    fn is_tested(&self) -> bool {
        self.bounds != Bounds::None
    }

    /// Clamps the indices that may be negative. Returns their number.
    fn clamp(&self, facts: &Facts, context: &'c Context) -> Result<i64, Failed> {
        let view = View::of(self.view).ok_or_else(|| fail(self.op, "view is not created in this function"))?;
        let first = operands(self.op).position(|o| o == self.view).map_or(0, |at| at + 1);
        let inside = bool_list(attr(self.op, "inBounds"));
        let b = Builder::before(context, self.op);
        let mut clamped = 0;
        for (d, &index) in self.indices.iter().enumerate() {
            let scalar = is_integer(ty(index));
            if !scalar || inside.get(d) == Some(&true) || is_nonnegative(index, facts, DEPTH) {
                continue;
            }
            let outside = outside(&b, &view, d, integer_width(ty(index)));
            set_operand(self.op, first + d, b.minui(index, outside));
            clamped += 1;
        }
        Ok(clamped)
    }
}

/// Returns the number of a tile that is outside the view along dimension `d`, as an integer of `width` bits.
fn outside<'c>(b: &Builder<'c>, view: &View<'c>, d: usize, width: u32) -> Val<'c> {
    let t = int(b.context(), width);
    let (step, limit) = (view.ty.steps()[d].max(1), i64::MAX >> (64 - width.min(64)));
    match view.extent(view.ty.dim_map()[d] as usize) {
        Ok(extent) => b.int_constant(t, (extent / step + 1).min(limit)),
        Err(extent) => {
            let constant = |v: i64| b.int_constant(ty(extent), v);
            let tiles = b.divui(extent, constant(step));
            let mut outside = b.addi(tiles, constant(1));
            if integer_width(ty(extent)) > width {
                outside = b.minui(outside, constant(limit));
            }
            b.resized(outside, t, true)
        }
    }
}

/// The depth to which the search for a sign follows operands from an index.
const DEPTH: u32 = 8;

/// Whether an integer is known not to be negative, by facts or by the ops that compute it. Results are assumed to fit
/// their types.
fn is_nonnegative(v: Val<'_>, facts: &Facts, depth: u32) -> bool {
    if facts.get(v).range.is_some_and(|(least, _)| least >= 0) {
        return true;
    }
    let Some(op) = defining_op(v).filter(|_| depth > 0) else { return false };
    let of = |i: usize| is_nonnegative(operand(op, i), facts, depth - 1);
    match Arith::of(op) {
        // Zero extension and logical shifts make a negative number huge, which is as far outside.
        Some(Arith::ExtSI | Arith::ExtUI | Arith::ShRUI | Arith::TruncI | Arith::RemSI) => of(0),
        Some(Arith::AndI | Arith::MaxSI | Arith::MinUI) => of(0) || of(1),
        Some(
            Arith::AddI
            | Arith::MulI
            | Arith::DivSI
            | Arith::FloorDivSI
            | Arith::CeilDivSI
            | Arith::MinSI
            | Arith::DivUI,
        ) => of(0) && of(1),
        Some(Arith::RemUI) => of(1),
        Some(Arith::Select) => of(1) && of(2),
        _ => false,
    }
}
