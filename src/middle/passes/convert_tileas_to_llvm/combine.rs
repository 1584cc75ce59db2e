//! Applies the bodies of reductions and scans, and moves values between lanes for them.

use super::Lower;
use crate::dialect::{
    nv_tileas::YieldOp,
    pass::{Failed, fail},
    rt::*,
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
