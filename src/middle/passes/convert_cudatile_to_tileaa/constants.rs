//! Keeps MLIR from evaluating functions of constants when numerics are pinned.
//!
//! MLIR folds `math.exp` of a constant by the function `exp` of the machine that compiles, at the levels that run
//! `canonicalize`. The device library has other bits. A maximum of the operand with itself hides the constant, and LLVM
//! removes it again:
//!
//! ```text
//! %c = arith.constant 2.0 : f32          %c = arith.constant 2.0 : f32
//! %r = math.exp %c : f32                 %h = nv_tileaa.fp <max> %c, %c : f32
//!                                        %r = math.exp %h : f32
//! ```
//!
//! An operand that cannot become a constant stays as it is. The test follows definitions upward to a load, a product or
//! another op that never folds, and gives up after [`DEPTH`] ops. A variable that is hidden as well costs nothing.

use super::{Translator, aa};
use crate::dialect::{
    pass::Failed,
    rt::*,
    upstream::{Arith, Math},
};

/// The longest chain of definitions that is followed.
const DEPTH: u32 = 16;

impl<'c> Translator<'c> {
    /// Translates a function of the device library to an op of `math` with the same operands.
    pub(super) fn function(&mut self, name: &str, operands: &[Val<'c>], old: Val<'c>) -> Result<(), Failed> {
        let mut values = self.get_all(operands.iter().copied());
        for v in &mut values {
            *v = self.hidden(*v)?;
        }
        let new = self.b.value(name, self.result_type(old)?, &values, &[]);
        self.set(old, new);
        Ok(())
    }

    /// Returns a value equal to `v` that no pass of MLIR evaluates, if numerics are pinned.
    pub(super) fn hidden(&self, v: Val<'c>) -> Result<Val<'c>, Failed> {
        if !self.canonical || is_variable(v, DEPTH) {
            return Ok(v);
        }
        let built = aa::FpOp::build(&self.b, ty(v), &[v, v], aa::FpKind::Max, None, false);
        Ok(self.built(built)?.result())
    }
}

/// Whether no pass can turn a value into a constant.
fn is_variable(v: Val<'_>, depth: u32) -> bool {
    // A loop or a branch may carry constants.
    let Some(op) = defining_op(v) else { return false };
    if depth == 0 {
        return false;
    }
    let operand_is = |i| is_variable(operand(op, i), depth - 1);
    let any = || (0..operand_count(op)).any(operand_is);
    if let Some(kind) = Arith::of(op) {
        use Arith::*;
        return match kind {
            AddF | SubF | MulF | DivF | MaximumF | MinimumF => any(),
            NegF | ExtF | TruncF | SIToFP | UIToFP => operand_is(0),
            Select => operand_is(1) && operand_is(2),
            _ => false,
        };
    }
    if Math::of(op).is_some() {
        // The functions of several operands fold only if all are constants.
        return any();
    }
    use aa::AnyOp::*;
    match aa::AnyOp::cast(op) {
        Some(FpOp(_)) => any(),
        Some(FpCastOp(_) | BitcastOp(_) | BroadcastOp(_) | PermuteOp(_) | SplatOp(_) | ViewOp(_)) => operand_is(0),
        Some(TiledLoadOp(_) | LoadOp(_) | GatherLoadOp(_) | AtomicRmwOp(_) | AtomicCasOp(_)) => true,
        Some(ReduceOp(_) | ScanOp(_) | DotOp(_) | DotScaledOp(_) | MakeRangeOp(_) | GetProgramIdOp(_)) => true,
        _ => false,
    }
}
