//! Linear functions of the number of the thread, and conditions on it.

use super::Lower;
use crate::dialect::{
    loops::{ADDRESSES_IN_LOOP, loops_around},
    rt::*,
};
use tile_layout::{Input, LinearExpr, Term};

impl<'c> Lower<'c, '_> {
    /// Evaluates `expr` for this thread's lane and warp.
    pub fn linear(&self, expr: &LinearExpr) -> Val<'c> {
        self.linear_in_block(expr, None)
    }

    /// Returns a copy of `v` that is opaque to LLVM in a loop that keeps its addresses, so that LLVM cannot hoist
    /// dependent code; elsewhere returns `v`. `tileas-keep-addresses-in-loops` marks these loops.
    pub fn hide_from_licm(&self, op: OpRef<'c>, v: Val<'c>) -> Val<'c> {
        if !loops_around(op).any(|l| discardable_attr(l, ADDRESSES_IN_LOOP).is_some()) {
            return v;
        }
        let (width, class) = if ty(v) == self.l.i32 { ("32", "r") } else { ("64", "l") };
        let text = format!("mov.b{width} $0, $1;");
        self.l.asm_value(&text, &format!("={class},{class}"), ty(v), &[v])
    }

    /// Evaluates `expr` for this thread's lane and warp, with `block` as the CTA number. In a cluster of one CTA the
    /// number is zero.
    pub fn linear_in_block(&self, expr: &LinearExpr, block: Option<Val<'c>>) -> Val<'c> {
        let l = &self.l;
        let mut sum: Option<Val<'c>> = None;
        // If the expression has all lane bits and, five bits above, all warp bits, together they form the thread
        // number.
        let all = |t: &Term, source, mask| t.source == source && t.mask == mask && !t.needs_mask && t.shift >= 0;
        let lanes = expr.terms.iter().find(|t| all(t, Input::Lane, 31));
        let warps = lanes.and_then(|lanes| {
            expr.terms.iter().find(|t| all(t, Input::Warp, self.threads.warps - 1) && t.shift == lanes.shift + 5)
        });
        for term in &expr.terms {
            let source = match (term.source, block) {
                (Input::Lane, _) if warps.is_some() && Some(term) == lanes => self.threads.thread,
                (Input::Warp, _) if Some(term) == warps => continue,
                (Input::Lane, _) => self.threads.lane,
                (Input::Warp, _) => self.threads.warp,
                (Input::Block, Some(block)) => block,
                (Input::Block | Input::Register, _) => continue,
            };
            let mut v = source;
            if term.needs_mask {
                v = l.bin("and", v, l.i32c(term.mask as i64));
            }
            if term.shift > 0 {
                v = l.bin("shl", v, l.i32c(term.shift.into()));
            } else if term.shift < 0 {
                v = l.bin("lshr", v, l.i32c(i64::from(-term.shift)));
            }
            sum = Some(match sum {
                Some(s) if expr.disjoint => self.or_disjoint(s, v),
                Some(s) => l.bin("xor", s, v),
                None => v,
            });
        }
        sum.unwrap_or_else(|| l.i32c(0))
    }
    /// Adds values that have no bits in common.
    pub fn or_disjoint(&self, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.l.b.value("llvm.or", ty(a), &[a, b], &[("isDisjoint", self.l.b.unit())])
    }
}
