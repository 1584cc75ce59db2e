//! Linear functions of the number of the thread, and conditions on it.

use super::{Lower, llvm::Cmp};
use crate::dialect::{attributes::ADDRESSES_IN_LOOP, loops::loops_around, rt::*};
use tile_layout::{Input, InputMasks, Layout, LinearExpr, Term};

impl<'c> Lower<'c, '_> {
    /// Evaluates `expr` for this thread's lane and warp.
    pub fn linear(&self, expr: &LinearExpr) -> Val<'c> {
        self.linear_in_block(expr, None)
    }

    /// Returns a copy of `v` that is opaque to LLVM in a loop that keeps its addresses, so that LLVM cannot hoist
    /// dependent code; elsewhere returns `v`. `tileas-keep-addresses-in-loops` marks these loops.
    pub fn hide_from_licm(&self, op: OpRef<'c>, v: Val<'c>) -> Val<'c> {
        if !loops_around(op).any(|l| ADDRESSES_IN_LOOP.is_on(l)) {
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

    pub fn both(&self, a: Option<Val<'c>>, b: Option<Val<'c>>) -> Option<Val<'c>> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.l.bin("and", a, b)),
            (a, b) => a.or(b),
        }
    }

    /// Returns the condition that a thread owns elements, in the registers of [`Layout::owned`]; `None` if every
    /// thread does.
    pub fn owner(&self, layout: &Layout) -> Option<Val<'c>> {
        self.where_zero(layout.free_variables())
    }

    /// Returns the condition that a thread stores. As many registers as possible take part, for wide vectors; the
    /// registers of other threads are copies.
    pub fn storer(&self, layout: &Layout) -> Option<Val<'c>> {
        self.where_zero(layout.free_threads())
    }

    /// Whether the thread has zeros in these bits of its numbers; `None` if there are no such bits.
    pub fn where_zero(&self, bits: InputMasks) -> Option<Val<'c>> {
        let zero = |v: Val<'c>, mask: u32| {
            (mask != 0).then(|| {
                let bits = self.l.bin("and", v, self.l.i32c(mask.into()));
                self.l.icmp(Cmp::Eq, bits, self.l.i32c(0))
            })
        };
        self.both(zero(self.threads.lane, bits.lane as u32), zero(self.threads.warp, bits.warp as u32))
    }
}
