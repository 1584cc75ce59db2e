//! What the body of a reduction or a scan computes from its two sides.

use crate::dialect::{
    nv_tileaa::{FpKind, FpOp},
    rt::*,
    upstream::{Arith, Math},
};

/// Returns the op that combines operand `i`, for each operand; `None` if the body does anything else.
pub fn simple_ops<'c>(op: OpRef<'c>) -> Option<Vec<OpRef<'c>>> {
    let body = entry_block(region(op, 0))?;
    operands(ops_of(body).last()?)
        .enumerate()
        .map(|(i, v)| {
            let combining = defining_op(v).filter(|o| operand_count(*o) == 2 && commutes(*o))?;
            let sides = [arg(body, 2 * i), arg(body, 2 * i + 1)];
            let both = [operand(combining, 0), operand(combining, 1)];
            (both == sides || both == [sides[1], sides[0]]).then_some(combining)
        })
        .collect()
}

/// Whether a reduction or scan visibly gives the same bits in any order of elements and any grouping: each operand is
/// combined on its own by an operation that is commutative and associative without rounding.
pub fn is_order_free(op: OpRef<'_>) -> bool {
    let exact = |o: &OpRef<'_>| match FpOp::cast(*o) {
        Some(fp) => matches!(fp.kind(), FpKind::Max | FpKind::Min | FpKind::MaxNan | FpKind::MinNan),
        None => !matches!(Arith::of(*o), None | Some(Arith::AddF | Arith::MulF)),
    };
    simple_ops(op).is_some_and(|ops| ops.iter().all(exact))
}

/// Whether the body of `op` visibly gives the same bits when its two sides are swapped.
pub fn is_symmetric(op: OpRef<'_>) -> bool {
    let Some(body) = entry_block(region(op, 0)) else { return false };
    let Some(end) = ops_of(body).last() else { return false };
    let mut budget = 256;
    operands(end).all(|v| mirrored(body, v, v, &mut budget))
}

/// Whether `a` computes the same function of the sides of `body` as `b` does with the sides swapped.
fn mirrored<'c>(body: Blk<'c>, a: Val<'c>, b: Val<'c>, budget: &mut u32) -> bool {
    if *budget == 0 {
        return false;
    }
    *budget -= 1;
    if let Some(i) = args(body).position(|x| x == a) {
        return b == arg(body, i ^ 1);
    }
    let inside = |v: Val<'c>| defining_op(v).filter(|o| block_around(*o) == Some(body));
    let (Some(x), Some(y)) = (inside(a), inside(b)) else { return a == b };
    let same_result = results(x).position(|r| r == a) == results(y).position(|r| r == b);
    if !same_result || op_type_id(x) != op_type_id(y) || operand_count(x) != operand_count(y) || !same_attributes(x, y)
    {
        return false;
    }
    let mut straight = operands(x).zip(operands(y));
    if straight.all(|(a, b)| mirrored(body, a, b, budget)) {
        return true;
    }
    commutes(x)
        && operand_count(x) >= 2
        && mirrored(body, operand(x, 0), operand(y, 1), budget)
        && mirrored(body, operand(x, 1), operand(y, 0), budget)
        && operands(x).zip(operands(y)).skip(2).all(|(a, b)| mirrored(body, a, b, budget))
}

/// Whether swapping the first two operands of an op keeps every bit of the result.
fn commutes(op: OpRef<'_>) -> bool {
    if let Some(fp) = FpOp::cast(op) {
        return !matches!(fp.kind(), FpKind::Sub | FpKind::Div);
    }
    use Arith::*;
    let commutes = matches!(
        Arith::of(op),
        Some(
            AddI | MulI
                | AndI
                | OrI
                | XOrI
                | MaxSI
                | MinSI
                | MaxUI
                | MinUI
                | AddF
                | MulF
                | MaximumF
                | MinimumF
                | MaxNumF
                | MinNumF
        )
    );
    commutes || Math::of(op) == Some(Math::Fma)
}

fn same_attributes(a: OpRef<'_>, b: OpRef<'_>) -> bool {
    named_attrs(a) == named_attrs(b)
}
