//! Applies the bodies of reductions and scans, and moves values between lanes for them.

use super::Lower;
use crate::dialect::{
    nv_tileaa::{FpKind, FpOp},
    nv_tileas::YieldOp,
    pass::{Failed, fail},
    rt::*,
    upstream::{Arith, Math},
};

/// The lane to read from.
#[derive(Clone, Copy)]
pub(super) enum From<'c> {
    /// The own lane number with these bits flipped.
    Flip(u32),
    Lane(Val<'c>),
}

impl<'c> Lower<'c, '_> {
    /// Applies the body of `op` to one value of each operand on both sides. `earlier` precedes `later` along the
    /// dimension, in the direction of the op.
    pub(super) fn combine(
        &mut self,
        op: OpRef<'c>,
        earlier: &[Val<'c>],
        later: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>, Failed> {
        let body = entry_block(region(op, 0)).ok_or_else(|| fail(op, "no body"))?;
        for (i, (a, b)) in earlier.iter().zip(later).enumerate() {
            self.set_all(arg(body, 2 * i), vec![*a]);
            self.set_all(arg(body, 2 * i + 1), vec![*b]);
        }
        for inner in ops_of(body) {
            match YieldOp::cast(inner) {
                None => self.op(inner)?,
                Some(end) => return end.operands().map(|v| self.scalar(inner, v)).collect(),
            }
        }
        Err(fail(op, "body does not yield"))
    }

    /// Returns `v` of another lane.
    pub(super) fn value_of_lane(&self, v: Val<'c>, from: From<'c>) -> Val<'c> {
        self.rows_from_lane(&[vec![v]], from)[0][0]
    }

    /// Returns rows of values from another lane. All rows have the same types.
    pub(super) fn rows_from_lane(&self, rows: &[Vec<Val<'c>>], from: From<'c>) -> Vec<Vec<Val<'c>>> {
        let (kind, lane) = match from {
            From::Flip(mask) => ("bfly", self.l.i32c(mask.into())),
            From::Lane(lane) => ("idx", lane),
        };
        // The values of one operand have one type, so narrow values can share words.
        let operands = rows.first().map_or(0, Vec::len);
        let columns: Vec<Vec<Val<'c>>> = (0..operands)
            .map(|i| {
                let column: Vec<Val<'c>> = rows.iter().map(|row| row[i]).collect();
                self.through_words(&column, |word| self.shfl(kind, word, lane))
            })
            .collect();
        (0..rows.len()).map(|r| columns.iter().map(|column| column[r]).collect()).collect()
    }
}

/// Returns the op that combines operand `i`, for each operand; `None` if the body does anything else.
pub(super) fn simple_ops<'c>(op: OpRef<'c>) -> Option<Vec<OpRef<'c>>> {
    let body = entry_block(region(op, 0))?;
    let end = ops_of(body).last().and_then(YieldOp::cast)?;
    end.operands()
        .enumerate()
        .map(|(i, v)| {
            let combining = defining_op(v).filter(|o| operand_count(*o) == 2 && commutes(*o))?;
            let sides = [arg(body, 2 * i), arg(body, 2 * i + 1)];
            let both = [operand(combining, 0), operand(combining, 1)];
            (both == sides || both == [sides[1], sides[0]]).then_some(combining)
        })
        .collect()
}

/// Whether the body of `op` visibly gives the same bits when its two sides are swapped.
pub(super) fn is_symmetric(op: OpRef<'_>) -> bool {
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
    let inside = |v: Val<'c>| defining_op(v).filter(|o| block_of(*o) == body);
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

fn block_of<'c>(op: OpRef<'c>) -> Blk<'c> {
    block_around(op).expect("an op of a body is in a block")
}
