//! Scalar arithmetic for loop control: the iteration ahead, whether it exists, and the next stage.

use crate::dialect::rt::*;
use melior::{
    Context,
    ir::{Attribute, Type, attribute::IntegerAttribute, r#type::IntegerType},
};

/// Builds scalar arithmetic at the insertion point of `b`.
pub struct Arithmetic<'b, 'c> {
    pub b: &'b Builder<'c>,
    pub context: &'c Context,
}

impl<'c> Arithmetic<'_, 'c> {
    fn int(&self, width: u32) -> Type<'c> {
        IntegerType::new(self.context, width).into()
    }
    fn constant(&self, width: u32, value: i64) -> Val<'c> {
        let t = self.int(width);
        let value: Attribute<'c> = IntegerAttribute::new(t, value).into();
        self.b.value("arith.constant", t, &[], &[("value", value)])
    }
    pub fn constant32(&self, value: i64) -> Val<'c> {
        self.constant(32, value)
    }
    pub fn constant64(&self, value: i64) -> Val<'c> {
        self.constant(64, value)
    }
    pub fn add(&self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.b.value("arith.addi", ty(x), &[x, y], &[])
    }
    pub fn subtract(&self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.b.value("arith.subi", ty(x), &[x, y], &[])
    }
    pub fn both(&self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.b.value("arith.andi", ty(x), &[x, y], &[])
    }
    pub fn mul(&self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.b.value("arith.muli", ty(x), &[x, y], &[])
    }
    /// Extends a value of the loop's control to 64 bits, as the loop compares it.
    pub fn extend(&self, v: Val<'c>, unsigned: bool) -> Val<'c> {
        if ty(v) == self.int(64) {
            return v;
        }
        self.b.value(if unsigned { "arith.extui" } else { "arith.extsi" }, self.int(64), &[v], &[])
    }
    pub fn truncate(&self, v: Val<'c>, to: Type<'c>) -> Val<'c> {
        if ty(v) == to {
            return v;
        }
        self.b.value("arith.trunci", to, &[v], &[])
    }
    fn compare(&self, predicate: i64, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        let predicate: Attribute<'c> = IntegerAttribute::new(self.int(64), predicate).into();
        self.b.value("arith.cmpi", self.int(1), &[x, y], &[("predicate", predicate)])
    }
    pub fn less(&self, x: Val<'c>, y: Val<'c>, unsigned: bool) -> Val<'c> {
        self.compare(if unsigned { 6 } else { 2 }, x, y)
    }
    /// Returns the stage after `stage`, modulo `stages`.
    pub fn next(&self, stage: Val<'c>, stages: i64) -> Val<'c> {
        let after = self.add(stage, self.constant32(1));
        let wraps = self.compare(0, after, self.constant32(stages));
        self.b.value("arith.select", ty(stage), &[wraps, self.constant32(0), after], &[])
    }
}
