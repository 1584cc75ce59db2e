//! Expands compound ops to simpler ones before layouts are assigned.
//!
//! ```text
//! gather_load %p[%i]       load (addptr (splat %p), %i)
//! scatter_store %v, %p[%i] store (addptr (splat %p), %i), %v
//! expand_dims %x, 0        view %x
//! histogram %x             reduce (extui (cmpi eq (broadcast %x), (broadcast (make_range)))) along the elements
//! execute { ... }          its ops
//! mark_for_reuse %v        nothing: no target makes use of it
//! ```

use crate::analysis::tile_programs::keep_place;
use crate::dialect::{
    arith::IntPredicate,
    layouts::{Tensor, tensor_type},
    nv_tileaa::{
        AddPtrOp, AnyOp, BroadcastOp, CreateMemTokenOp, ExecuteOp, FuncOp, GatherLoadOp, HistogramOp, LoadOp,
        MakeRangeOp, MarkForReuseOp, ReduceOp, ScatterStoreOp, SplatOp, StoreOp, ViewOp, YieldOp,
    },
    pass::{Failed, fail},
    rt::*,
    types::integer_width,
};
use melior::{
    Context,
    ir::{
        Region, Type,
        attribute::{ArrayAttribute, IntegerAttribute},
        r#type::IntegerType,
    },
};

/// The maximum number of elements of a tensor.
const MAX_ELEMENTS: i64 = 1 << 24;

/// Expands all compound ops of the function.
pub(super) fn expand<'c>(function: FuncOp<'c>, context: &'c Context) -> Result<(), Failed> {
    let mut found = vec![];
    walk(function.op(), &mut |o| {
        use AnyOp::*;
        let any = AnyOp::cast(o);
        if matches!(
            any,
            Some(
                ExpandDimsOp(_)
                    | GatherLoadOp(_)
                    | ScatterStoreOp(_)
                    | HistogramOp(_)
                    | ExecuteOp(_)
                    | MarkForReuseOp(_)
            )
        ) {
            found.extend(any.map(|any| (o, any)));
        }
    });
    for (op, any) in found {
        let b = Builder::before(context, op);
        let new = match any {
            AnyOp::ExpandDimsOp(x) => ViewOp::build(&b, ty(x.result()), x.source()).map(|v| vec![v.result()]),
            AnyOp::GatherLoadOp(x) => gather(&b, x),
            AnyOp::ScatterStoreOp(x) => scatter(&b, x),
            AnyOp::HistogramOp(x) => {
                let elements = |v| Tensor::of_value(v).map_or(1, |t| t.elements());
                let pairs = elements(x.source()) * elements(x.result());
                if pairs > MAX_ELEMENTS {
                    let text = format!(
                        "a histogram compares each element with each bin, and these {pairs} pairs exceed the limit of \
                         {MAX_ELEMENTS} elements per tensor"
                    );
                    return Err(fail(op, text));
                }
                histogram(&b, x)
            }
            AnyOp::ExecuteOp(x) => Ok(inline(x)),
            AnyOp::MarkForReuseOp(x) => without(&b, x),
            _ => continue,
        }
        .map_err(|e| fail(op, e.to_string()))?;
        for (old, new) in results(op).zip(new) {
            replace_all_uses(old, new);
        }
        erase(op);
    }
    Ok(())
}

/// Computes a pointer for each offset.
fn pointers<'c>(b: &Builder<'c>, base: Val<'c>, offsets: Val<'c>) -> Result<Val<'c>, BuildError> {
    let shape = Tensor::of_value(offsets).map(|t| t.shape).unwrap_or_default();
    let t = tensor_type(&shape, ty(base), None);
    let start = SplatOp::build(b, t, base)?.result();
    Ok(AddPtrOp::build(b, t, start, offsets)?.result())
}

fn gather<'c>(b: &Builder<'c>, x: GatherLoadOp<'c>) -> Result<Vec<Val<'c>>, BuildError> {
    let p = pointers(b, x.base(), x.offsets())?;
    let (t, token) = (ty(x.result()), ty(x.result_token()));
    let load = LoadOp::build(b, t, token, p, x.mask(), x.other(), x.token(), x.ordering(), x.scope(), x.hints())?;
    keep_place(x.op(), load.op());
    Ok(vec![load.result(), load.result_token()])
}

fn scatter<'c>(b: &Builder<'c>, x: ScatterStoreOp<'c>) -> Result<Vec<Val<'c>>, BuildError> {
    let p = pointers(b, x.base(), x.offsets())?;
    let token = ty(x.result_token());
    let store = StoreOp::build(b, token, p, x.value(), x.mask(), x.token(), x.ordering(), x.scope(), x.hints())?;
    Ok(vec![store.result_token()])
}

/// Compares every element with every bin and counts the matches of each bin.
fn histogram<'c>(b: &Builder<'c>, x: HistogramOp<'c>) -> Result<Vec<Val<'c>>, BuildError> {
    let c = b.context();
    let int = |width: u32| -> Type<'c> { IntegerType::new(c, width).into() };
    let extents = |v| Tensor::of_value(v).map(|t| (t.shape, t.element));
    let (Some((from, element)), Some((to, count))) = (extents(x.source()), extents(x.result())) else {
        return Ok(vec![]);
    };
    let [n, numbers] = [from[0], to[0]];
    let [width, counted] = [element, count].map(|t| integer_width(t));
    let over = |v: Val<'c>, element: Type<'c>, shape: [i64; 2]| -> Result<Val<'c>, BuildError> {
        let one = ViewOp::build(b, tensor_type(&shape, element, None), v)?.result();
        Ok(BroadcastOp::build(b, tensor_type(&[n, numbers], element, None), one)?.result())
    };
    // Wide enough to represent every bin number.
    let wide = int(width.max(32));
    let source = if width < 32 { b.extui(x.source(), tensor_type(&[n], wide, None)) } else { x.source() };
    let range = MakeRangeOp::build(b, tensor_type(&[numbers], wide, None))?.result();
    let (lhs, rhs) = (over(source, wide, [n, 1])?, over(range, wide, [1, numbers])?);
    let mut equal = b.cmpi(IntPredicate::Eq, lhs, rhs);
    if let Some(mask) = x.mask() {
        equal = b.andi(equal, over(mask, int(1), [n, 1])?);
    }
    let ones = match counted {
        1 => equal,
        _ => b.extui(equal, tensor_type(&[n, numbers], count, None)),
    };
    let body = Region::new();
    let block = append_block(&body, &[count, count], b.location());
    let inside = Builder::at_end(c, block, b.location());
    let sum = inside.addi(arg(block, 0), arg(block, 1));
    YieldOp::build(&inside, &[sum])?;
    let zero = ArrayAttribute::new(c, &[IntegerAttribute::new(count, 0).into()]).into();
    let reduced = ReduceOp::build(b, &[ty(x.result())], &[ones], i64_attr(c, 0), zero, body)?;
    Ok(reduced.results().collect())
}

/// Moves the ops of the region before the op. Returns the values that the region yields.
fn inline<'c>(x: ExecuteOp<'c>) -> Vec<Val<'c>> {
    let ops: Vec<OpRef<'c>> = entry_block(x.body()).into_iter().flat_map(ops_of).collect();
    let Some((terminator, ops)) = ops.split_last() else { return vec![] };
    for op in ops {
        move_before(*op, x.op());
    }
    operands(*terminator).collect()
}

fn without<'c>(b: &Builder<'c>, x: MarkForReuseOp<'c>) -> Result<Vec<Val<'c>>, BuildError> {
    Ok(vec![match x.token() {
        Some(token) => token,
        None => CreateMemTokenOp::build(b, ty(x.result_token()))?.result(),
    }])
}
