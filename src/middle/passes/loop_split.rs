//! `loop-split` splits a loop on a branch over its induction variable into two loops without the branch.
//!
//! ```text
//! for i in (lb to ub, step d) {        s = split point
//!   c = cmpi less_than i, bound        for i in (lb to min(s, ub), step d) { A }
//!   if c { A } else { B }              for i in (max(s, lb) to ub, step d) { B }
//! }
//! ```
//!
//! The second loop starts with the values carried by the first one. [`point`] documents the split point and why its
//! computation does not overflow.
//!
//! Only branches directly in the body are resolved. For other uses, such as an `if` nested in another `if`, the
//! condition becomes a constant, and canonicalization does the rest.

mod point;

use crate::{
    dialect::{
        attributes::LOOP_SPLIT,
        cuda_tile::*,
        elements,
        pass::{Failed, PassContext, RustPass, descriptors::loop_split as options, fail},
        rt::*,
        types::{self, integer_width},
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Attribute, Location, Type, r#type::IntegerType},
};
use point::{Arithmetic, Bounds, Known};

#[derive(Clone, Default)]
pub struct LoopSplit;

impl RustPass for LoopSplit {
    pass_descriptor!(loop_split);

    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let default = options::Options(cx).split_threshold();
        // Visit inner loops first, each loop once; loops created by a split are not visited.
        let mut loops = vec![];
        collect(op, &mut loops);
        for for_op in loops {
            let Some(split) = Split::find(for_op, default) else { continue };
            split.apply(context).map_err(|e| fail(for_op.op(), e.to_string()))?;
            cx.stat_add(0, 1);
        }
        Ok(())
    }
}

/// Collects the loops in `op`, inner loops before outer ones.
fn collect<'c>(op: OpRef<'c>, loops: &mut Vec<ForOp<'c>>) {
    for i in 0..region_count(op) {
        if let Some(block) = entry_block(region(op, i)) {
            for inner in ops_of(block) {
                collect(inner, loops);
                loops.extend(ForOp::cast(inner));
            }
        }
    }
}

/// A loop and the comparison on which it is split.
struct Split<'c> {
    op: ForOp<'c>,
    condition: CmpIOp<'c>,
    /// The value that the induction variable is compared with.
    bound: Val<'c>,
    /// The predicate, with the induction variable on the left.
    predicate: ComparisonPredicate,
}

impl<'c> Split<'c> {
    fn find(op: ForOp<'c>, default: i64) -> Option<Self> {
        let mut found = None;
        walk(op.op(), &mut |inner| {
            let Some(branch) = IfOp::cast(inner).filter(|_| found.is_none()) else { return };
            if is_worth(branch, threshold(branch, op, default)) {
                found = Split::of(op, branch.condition());
            }
        });
        found
    }

    fn of(op: ForOp<'c>, condition: Val<'c>) -> Option<Self> {
        use ComparisonPredicate::*;
        let condition = CmpIOp::cast(defining_op(condition)?)?;
        let signedness = if op.unsigned_cmp() { Signedness::Unsigned } else { Signedness::Signed };
        let variable = arg(entry_block(op.region())?, 0);
        let (bound, predicate) = match (condition.lhs() == variable, condition.rhs() == variable) {
            (true, false) => (condition.rhs(), condition.comparison_predicate()),
            (false, true) => (
                condition.lhs(),
                match condition.comparison_predicate() {
                    LessThan => GreaterThan,
                    LessThanOrEqual => GreaterThanOrEqual,
                    GreaterThan => LessThan,
                    GreaterThanOrEqual => LessThanOrEqual,
                    other => other,
                },
            ),
            _ => return None,
        };
        let ordered = !matches!(predicate, Equal | NotEqual);
        let split = Split { op, condition, bound, predicate };
        let fits = ordered && condition.signedness() == signedness && !is_inside(bound, op.op());
        (fits && !split.bounds().never_changes(&split.known())).then_some(split)
    }

    fn bounds(&self) -> Bounds<Val<'c>> {
        Bounds {
            lower: self.op.lower_bound(),
            upper: self.op.upper_bound(),
            step: self.op.step(),
            bound: self.bound,
            after: matches!(self.predicate, ComparisonPredicate::LessThanOrEqual | ComparisonPredicate::GreaterThan),
            signed: !self.op.unsigned_cmp(),
        }
    }

    fn known(&self) -> Known {
        let width = width(ty(self.op.step()));
        let value = |v| constant_value(v, width, !self.op.unsigned_cmp());
        Known { lower: value(self.op.lower_bound()), step: value(self.op.step()), bound: value(self.bound), width }
    }

    /// The value of the condition in the first loop.
    fn first_value(&self) -> bool {
        matches!(self.predicate, ComparisonPredicate::LessThan | ComparisonPredicate::LessThanOrEqual)
    }

    fn apply(&self, context: &'c Context) -> Result<(), BuildError> {
        let for_op = self.op.op();
        let b = Builder::before(context, for_op);
        let (end, start) = self.bounds().split(&Built { b: &b, t: ty(self.op.step()) }, &self.known())?;
        let (first, second) = (clone_detached(for_op), clone_detached(for_op));
        for copy in [first, second] {
            LOOP_SPLIT.remove(copy);
            b.insert_op(copy);
        }
        set_operand(first, 1, end);
        set_operand(second, 0, start);
        for (i, v) in results(first).enumerate() {
            set_operand(second, INITIAL + i, v);
        }
        for (copy, value) in [(first, self.first_value()), (second, !self.first_value())] {
            let mut path = vec![];
            path_to(self.condition.op(), for_op, &mut path);
            resolve(context, copy, follow(copy, &path), value)?;
        }
        for (i, v) in results(for_op).enumerate() {
            replace_all_uses(v, result(second, i));
        }
        erase(for_op);
        Ok(())
    }
}

/// Builds operations before the loop.
struct Built<'b, 'c> {
    b: &'b Builder<'c>,
    /// The type of the induction variable.
    t: Type<'c>,
}

impl<'c> Arithmetic for Built<'_, 'c> {
    type Value = Val<'c>;
    type Error = BuildError;

    fn constant(&self, v: i64) -> Result<Val<'c>, BuildError> {
        Ok(ConstantOp::build(self.b, self.t, number(self.t, v))?.result())
    }
    fn add(&self, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>, BuildError> {
        Ok(AddIOp::build(self.b, self.t, x, y, None)?.result())
    }
    fn sub(&self, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>, BuildError> {
        Ok(SubIOp::build(self.b, self.t, x, y, None)?.result())
    }
    fn mul(&self, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>, BuildError> {
        Ok(MulIOp::build(self.b, self.t, x, y, None)?.result())
    }
    fn min(&self, x: Val<'c>, y: Val<'c>, signed: bool) -> Result<Val<'c>, BuildError> {
        Ok(MinIOp::build(self.b, self.t, x, y, signedness(signed))?.result())
    }
    fn max(&self, x: Val<'c>, y: Val<'c>, signed: bool) -> Result<Val<'c>, BuildError> {
        Ok(MaxIOp::build(self.b, self.t, x, y, signedness(signed))?.result())
    }
    fn ceil_div(&self, x: Val<'c>, y: Val<'c>, signed: bool) -> Result<Val<'c>, BuildError> {
        let rounding = Some(RoundingMode::PositiveInf);
        Ok(DivIOp::build(self.b, self.t, x, y, signedness(signed), rounding)?.result())
    }
    fn unsigned_rem(&self, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>, BuildError> {
        Ok(RemIOp::build(self.b, self.t, x, y, Signedness::Unsigned)?.result())
    }
    fn unless_zero(&self, test: Val<'c>, other: Val<'c>) -> Result<Val<'c>, BuildError> {
        let zero = self.constant(0)?;
        let equal = ComparisonPredicate::Equal;
        let is_zero = CmpIOp::build(self.b, bool_tile(self.b.context()), test, zero, equal, Signedness::Unsigned)?;
        Ok(SelectOp::build(self.b, self.t, is_zero.result(), zero, other)?.result())
    }
}

fn signedness(signed: bool) -> Signedness {
    if signed { Signedness::Signed } else { Signedness::Unsigned }
}

/// Returns the integer width of a tile's elements.
fn width(t: Type<'_>) -> u32 {
    TileType::cast(t).map_or(0, |t| integer_width(t.element_type()))
}

fn bool_tile(context: &Context) -> Type<'_> {
    let element = IntegerType::new(context, 1).into();
    TileType::get(Location::unknown(context), &[], element).expect("a tile of rank 0 can hold any number").into()
}

/// Returns the value of a constant, as a signed or unsigned number.
fn constant_value(v: Val<'_>, width: u32, signed: bool) -> Option<i128> {
    let value = ConstantOp::cast(defining_op(v)?)?.value();
    let element = elements::splat(value)?;
    let value = i128::from(int_attr(element));
    Some(if signed { value } else { value & ((1 << width) - 1) })
}

/// The number of operands of a `for` before its initial values.
const INITIAL: usize = 3;

/// Returns `n` as an attribute of type `t`, a tile of rank 0.
fn number<'c>(t: Type<'c>, n: i64) -> Attribute<'c> {
    let element = TileType::cast(t).map_or(t, |t| t.element_type());
    elements::dense(t, elements::integer_of(element, n))
}

/// Returns the minimum size of a branch of `branch` for a split; 0 for never.
fn threshold<'c>(branch: IfOp<'c>, op: ForOp<'c>, default: i64) -> i64 {
    let mut function = parent_op(op.op());
    while let Some(f) = function.filter(|f| !AnyOp::is_function(*f)) {
        function = parent_op(f);
    }
    [Some(branch.op()), Some(op.op()), function]
        .into_iter()
        .flatten()
        .find_map(|op| LOOP_SPLIT.get(op))
        .unwrap_or(default)
}

/// Whether a branch is large enough, or contains an operation expensive enough to pay for the second loop.
fn is_worth(branch: IfOp<'_>, threshold: i64) -> bool {
    if threshold <= 1 {
        return threshold == 1;
    }
    [branch.then_region(), branch.else_region()].into_iter().filter_map(entry_block).any(|block| {
        let count = ops_of(block).count() as i64 - 1;
        let mut heavy = false;
        ops_of(block).for_each(|op| walk(op, &mut |op| heavy |= is_heavy(op)));
        count >= threshold || heavy
    })
}

fn is_heavy(op: OpRef<'_>) -> bool {
    use AnyOp::*;
    matches!(
        AnyOp::cast(op),
        Some(
            LoadPtrTkoOp(_)
                | LoadViewTkoOp(_)
                | StorePtrTkoOp(_)
                | StoreViewTkoOp(_)
                | MmaFOp(_)
                | MmaFScaledOp(_)
                | MmaIOp(_)
                | ReduceOp(_)
                | IfOp(_)
                | ForOp(_)
        )
    )
}

/// Whether `v` is defined in a region of `op`.
fn is_inside<'c>(v: Val<'c>, op: OpRef<'c>) -> bool {
    let mut at = defining_op(v).or_else(|| parent_of_block(owner_of(v)));
    // A block argument belongs to the op of its region; a result belongs to the op around its definition.
    if defining_op(v).is_some() {
        at = at.and_then(parent_op);
    }
    while let Some(inner) = at {
        if op_key(inner) == op_key(op) {
            return true;
        }
        at = parent_op(inner);
    }
    false
}

/// Collects the region and position of each operation on the path from `root` to `op`.
fn path_to<'c>(op: OpRef<'c>, root: OpRef<'c>, path: &mut Vec<(usize, usize)>) -> bool {
    for r in 0..region_count(root) {
        let Some(block) = entry_block(region(root, r)) else { continue };
        for (i, inner) in ops_of(block).enumerate() {
            path.push((r, i));
            if op_key(inner) == op_key(op) || path_to(op, inner, path) {
                return true;
            }
            path.pop();
        }
    }
    false
}

fn follow<'c>(root: OpRef<'c>, path: &[(usize, usize)]) -> OpRef<'c> {
    path.iter().fold(root, |op, &(r, i)| {
        let block = entry_block(region(op, r)).expect("a copy has the blocks of its original");
        ops_of(block).nth(i).expect("a copy has the operations of its original")
    })
}

/// Replaces `condition` by the constant `value` in the loop `op`, and its branches in the body by the region they
/// take.
fn resolve<'c>(context: &'c Context, op: OpRef<'c>, condition: OpRef<'c>, value: bool) -> Result<(), BuildError> {
    let body = entry_block(region(op, 0)).expect("a loop has a body");
    let v = result(condition, 0);
    let is_branch = |op: &OpRef<'c>| IfOp::cast(*op).is_some_and(|branch| branch.condition() == v);
    // In program order: a branch that continues with the next iteration removes the branches after it.
    let branches: Vec<IfOp<'c>> = ops_of(body).filter(is_branch).filter_map(IfOp::cast).collect();
    for branch in branches {
        if !take(branch, value) {
            break;
        }
    }
    if has_uses(v) {
        let b = Builder::before(context, condition);
        let t = ty(v);
        let constant = ConstantOp::build(&b, t, truth(context, t, value))?;
        replace_all_uses(v, constant.result());
    }
    erase(condition);
    Ok(())
}

fn truth<'c>(context: &'c Context, t: Type<'c>, value: bool) -> Attribute<'c> {
    elements::dense(t, elements::integer_of(types::int(context, 1), i64::from(value)))
}

/// Replaces `branch` by the operations of one of its regions. Returns whether the code after it is still reachable.
fn take(branch: IfOp<'_>, value: bool) -> bool {
    let op = branch.op();
    let block = entry_block(if value { branch.then_region() } else { branch.else_region() });
    let inner: Vec<OpRef<'_>> = block.into_iter().flat_map(ops_of).collect();
    let Some((last, rest)) = inner.split_last() else {
        // Without an else region, the branch does not have results.
        erase(op);
        return true;
    };
    rest.iter().for_each(|inner| move_before(*inner, op));
    if YieldOp::cast(*last).is_some() {
        for (i, v) in operands(*last).enumerate() {
            replace_all_uses(result(op, i), v);
        }
        erase(op);
        return true;
    }
    // The region continues with the next iteration, so the code after it is unreachable.
    move_before(*last, op);
    let doomed: Vec<OpRef<'_>> = std::iter::successors(Some(op), |op| next_op(*op)).collect();
    doomed.into_iter().rev().for_each(erase);
    false
}
