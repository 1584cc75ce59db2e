//! Converts early exits to structured control flow.
//!
//! In the public language an `if` may contain `continue`, `break` and `return`: its branches then *leave* instead of
//! *falling through* to the code after the `if`. In `scf`, every branch ends at the end of its `if`. This module
//! converts the first form to the second. It is independent of MLIR: blocks are trees of opaque ops `O`, so tests can
//! run both forms.
//!
//! A body (of a function or a loop) always leaves in the end. The values it leaves with, its *outcome*, are all that
//! the surrounding code sees. The task is therefore to compute one outcome without jumps. There are three cases,
//! depending on which branches of an `if` can fall through:
//!
//! 1. No branch leaves. The `if` does not change; this module treats it as an ordinary op.
//! 2. At most one branch can fall through. The code after the `if` moves to the end of that branch, and the `if`
//!    yields the outcome ([`Tail::Branch`]). No code is duplicated and no run-time value is added.
//!
//!    ```text
//!    x                      x
//!    if c { continue a }    return if c { a } else { y; b }
//!    y
//!    continue b
//!    ```
//! 3. Both branches can fall through, and one may leave. To avoid duplicating the code after the `if`, a flag is
//!    introduced ([`Tail::Join`]): the `if` yields whether it left, its own results, and the outcome. Either the
//!    results or the outcome are meaningless. A second `if` selects the outcome or runs the code after the first one.
//!
//!    ```text
//!    if c {                     left, r, o = if c {
//!      if d { continue a }        if d { true, -, a } else { false, u, - }
//!      yield u                  } else { false, v, - }
//!    } else { yield v }         return if left { o } else { y(r); b }
//!    y(r)
//!    continue b
//!    ```
//!
//! The cases nest: the inner `if d` above is case 2 in a block that produces the triple of case 3. Every op of the
//! source occurs at most once in the result, so the size stays linear; unreachable code is dropped. Only the nesting
//! grows, by one or two levels for each `if` that leaves, and is limited to [`MAX_DEPTH`].

/// The maximum nesting of the result. A body reaches it only with hundreds of early exits in one block.
pub const MAX_DEPTH: usize = 256;

/// The error for a body with more early exits in sequence than can be nested.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {MAX_DEPTH} early exits follow one another in one body")]
pub struct TooDeep;

/// A source block: its ops, and how it ends.
pub struct Block<O> {
    items: Vec<Item<O>>,
    end: End<O>,
    falls: bool,
}

pub enum Item<O> {
    /// An op that control always passes through.
    Op(O),
    /// A branch op with its then-block and else-block, at least one of which may leave.
    If(O, Block<O>, Block<O>),
}

pub enum End<O> {
    /// Falls through to the code after the `if` that owns the block, with the operands of this op; `None` for a
    /// missing else-block.
    Fall(Option<O>),
    /// Leaves the body by `continue`, `break` or `return`.
    Leave(O),
}

impl<O> Block<O> {
    pub fn new(items: Vec<Item<O>>, end: End<O>) -> Self {
        let passes = |item: &Item<O>| !matches!(item, Item::If(_, then, other) if !then.falls && !other.falls);
        let falls = matches!(end, End::Fall(_)) && items.iter().all(passes);
        Block { items, end, falls }
    }
    /// Whether any path leaves.
    pub fn leaves(&self) -> bool {
        matches!(self.end, End::Leave(_)) || self.items.iter().any(|i| matches!(i, Item::If(..)))
    }
}

/// A block without jumps.
#[derive(Debug)]
pub struct Seq<O> {
    pub steps: Vec<PathStep<O>>,
    pub end: Tail<O>,
}

#[derive(Debug)]
pub enum PathStep<O> {
    Op(O),
    /// From here on, the results of branch op `branch` are the operands of `yielded`.
    Bind {
        branch: O,
        yielded: Option<O>,
    },
}

#[derive(Debug)]
pub enum Tail<O> {
    /// The outcome consists of this op's operands.
    Leave(O),
    /// In a branch of a [`Tail::Join`]: the branch did not leave, and its results are the operands of this op.
    Fall(Option<O>),
    /// The outcome of the selected branch.
    Branch { branch: O, then: Box<Seq<O>>, other: Box<Seq<O>> },
    /// The outcome of the selected branch if it left, and otherwise of `rest`, which sees the results of `branch`.
    Join { branch: O, then: Box<Seq<O>>, other: Box<Seq<O>>, rest: Box<Seq<O>> },
}

/// The continuation of a block that falls through.
enum Next<'a, O> {
    /// None: this is the body itself.
    Body,
    /// The end of a branch of a join.
    Join,
    /// The items of `block` starting at `from`, after binding the results of `branch`.
    Rest { branch: O, block: &'a Block<O>, from: usize, next: &'a Next<'a, O> },
}

/// Restructures the body `block`, which leaves on every path.
pub fn structure<O: Copy>(block: &Block<O>) -> Result<Seq<O>, TooDeep> {
    sequence(block, 0, &Next::Body, 0)
}

fn sequence<O: Copy>(block: &Block<O>, from: usize, next: &Next<'_, O>, depth: usize) -> Result<Seq<O>, TooDeep> {
    if depth > MAX_DEPTH {
        return Err(TooDeep);
    }
    let (mut block, mut from, mut next) = (block, from, next);
    let mut steps = vec![];
    loop {
        for (i, item) in block.items.iter().enumerate().skip(from) {
            let (branch, then, other) = match item {
                Item::Op(op) => {
                    steps.push(PathStep::Op(*op));
                    continue;
                }
                Item::If(branch, then, other) => (*branch, then, other),
            };
            let end = if then.falls && other.falls {
                Tail::Join {
                    branch,
                    then: Box::new(sequence(then, 0, &Next::Join, depth + 1)?),
                    other: Box::new(sequence(other, 0, &Next::Join, depth + 1)?),
                    rest: Box::new(sequence(block, i + 1, next, depth + 1)?),
                }
            } else {
                let rest = Next::Rest { branch, block, from: i + 1, next };
                Tail::Branch {
                    branch,
                    then: Box::new(sequence(then, 0, &rest, depth + 1)?),
                    other: Box::new(sequence(other, 0, &rest, depth + 1)?),
                }
            };
            return Ok(Seq { steps, end });
        }
        let yielded = match block.end {
            End::Leave(op) => return Ok(Seq { steps, end: Tail::Leave(op) }),
            End::Fall(yielded) => yielded,
        };
        match next {
            Next::Body | Next::Join => return Ok(Seq { steps, end: Tail::Fall(yielded) }),
            Next::Rest { branch, block: b, from: f, next: n } => {
                steps.push(PathStep::Bind { branch: *branch, yielded });
                (block, from, next) = (b, *f, n);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Tree = Block<u32>;

    /// The observable behavior of a run: ops run, results bound, and the op that left the body.
    type Trace = Vec<(char, u32, Option<u32>)>;

    /// Selects a branch depending on everything that happened before.
    fn choose(branch: u32, trace: &Trace, seed: u64) -> bool {
        let mut h = seed ^ u64::from(branch);
        for (kind, op, other) in trace {
            h = h.wrapping_mul(0x9E37_79B9_7F4A_7C15)
                ^ u64::from(*op)
                ^ u64::from(other.unwrap_or(7)) << 20
                ^ *kind as u64;
        }
        (h ^ (h >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 63 == 1
    }

    /// Returns `Some` if the block fell through.
    fn run_source(block: &Tree, trace: &mut Trace, seed: u64) -> Option<Option<u32>> {
        for item in &block.items {
            match item {
                Item::Op(op) => trace.push(('o', *op, None)),
                Item::If(branch, then, other) => {
                    let taken = if choose(*branch, trace, seed) { then } else { other };
                    let yielded = run_source(taken, trace, seed)?;
                    trace.push(('b', *branch, yielded));
                }
            }
        }
        match block.end {
            End::Fall(yielded) => Some(yielded),
            End::Leave(op) => {
                trace.push(('l', op, None));
                None
            }
        }
    }

    fn run_result(seq: &Seq<u32>, trace: &mut Trace, seed: u64) -> Option<Option<u32>> {
        for step in &seq.steps {
            match step {
                PathStep::Op(op) => trace.push(('o', *op, None)),
                PathStep::Bind { branch, yielded } => trace.push(('b', *branch, *yielded)),
            }
        }
        match &seq.end {
            Tail::Leave(op) => {
                trace.push(('l', *op, None));
                None
            }
            Tail::Fall(yielded) => Some(*yielded),
            Tail::Branch { branch, then, other } => {
                run_result(if choose(*branch, trace, seed) { then } else { other }, trace, seed)
            }
            Tail::Join { branch, then, other, rest } => {
                let taken = if choose(*branch, trace, seed) { then } else { other };
                let yielded = run_result(taken, trace, seed)?;
                trace.push(('b', *branch, yielded));
                run_result(rest, trace, seed)
            }
        }
    }

    /// Collects the ops of the result; panics if one occurs twice, as it would in duplicated code.
    fn collect(seq: &Seq<u32>, seen: &mut BTreeSet<u32>) {
        for step in &seq.steps {
            if let PathStep::Op(op) = step {
                assert!(seen.insert(*op), "op {op} occurs twice");
            }
        }
        match &seq.end {
            Tail::Leave(op) | Tail::Fall(Some(op)) => assert!(seen.insert(*op), "op {op} occurs twice"),
            Tail::Fall(None) => {}
            Tail::Branch { branch, then, other } => {
                assert!(seen.insert(*branch), "op {branch} occurs twice");
                collect(then, seen);
                collect(other, seen);
            }
            Tail::Join { branch, then, other, rest } => {
                assert!(seen.insert(*branch), "op {branch} occurs twice");
                for s in [then, other, rest] {
                    collect(s, seen);
                }
            }
        }
    }

    #[derive(Clone, Debug)]
    enum Shape {
        Op,
        If(Vec<Shape>, bool, Vec<Shape>, bool),
    }

    fn shapes() -> impl Strategy<Value = Vec<Shape>> {
        let item = Just(Shape::Op).prop_recursive(4, 24, 4, |inner| {
            let list = prop::collection::vec(inner, 0..4);
            prop_oneof![
                Just(Shape::Op),
                (list.clone(), any::<bool>(), list, any::<bool>()).prop_map(|(a, x, b, y)| Shape::If(a, x, b, y)),
            ]
        });
        prop::collection::vec(item, 0..5)
    }

    fn build(shapes: &[Shape], leave: bool, counter: &mut u32) -> Tree {
        let mut fresh = || {
            *counter += 1;
            *counter
        };
        let end = if leave { End::Leave(fresh()) } else { End::Fall(Some(fresh())) };
        let mut items = vec![];
        for shape in shapes {
            *counter += 1;
            let op = *counter;
            items.push(match shape {
                Shape::Op => Item::Op(op),
                Shape::If(a, x, b, y) => {
                    let (then, other) = (build(a, *x, counter), build(b, *y, counter));
                    // As in the caller, an `if` that never leaves is an ordinary op.
                    if then.leaves() || other.leaves() { Item::If(op, then, other) } else { Item::Op(op) }
                }
            });
        }
        Block::new(items, end)
    }

    proptest! {
        #[test]
        fn same_trace(shapes in shapes(), seeds in prop::array::uniform16(any::<u64>())) {
            let tree = build(&shapes, true, &mut 0);
            let seq = structure(&tree).unwrap();
            collect(&seq, &mut BTreeSet::new());
            for seed in seeds {
                let (mut a, mut b) = (vec![], vec![]);
                prop_assert_eq!(run_source(&tree, &mut a, seed), run_result(&seq, &mut b, seed));
                prop_assert_eq!(a, b);
            }
        }
    }

    fn leave(op: u32) -> Tree {
        Block::new(vec![], End::Leave(op))
    }
    fn fall(op: u32) -> Tree {
        Block::new(vec![], End::Fall(Some(op)))
    }

    #[test]
    fn one_exit_moves_the_rest_into_the_other_branch() {
        let tree = Block::new(
            vec![Item::Op(1), Item::If(2, leave(3), Block::new(vec![], End::Fall(None))), Item::Op(4)],
            End::Leave(5),
        );
        let seq = structure(&tree).unwrap();
        let Tail::Branch { branch: 2, then, other } = &seq.end else { panic!("{seq:?}") };
        assert!(matches!(then.end, Tail::Leave(3)));
        assert!(matches!(other.steps[..], [PathStep::Bind { branch: 2, yielded: None }, PathStep::Op(4)]));
        assert!(matches!(other.end, Tail::Leave(5)));
    }

    #[test]
    fn partial_exit_makes_a_join() {
        let inner = Block::new(vec![Item::If(2, leave(3), fall(4))], End::Fall(Some(5)));
        let seq = structure(&Block::new(vec![Item::If(1, inner, fall(6))], End::Leave(7))).unwrap();
        let Tail::Join { branch: 1, then, other, rest } = &seq.end else { panic!("{seq:?}") };
        assert!(matches!(then.end, Tail::Branch { branch: 2, .. }));
        assert!(matches!(other.end, Tail::Fall(Some(6))));
        assert!(matches!(rest.end, Tail::Leave(7)));
    }

    #[test]
    fn unreachable_code_is_dropped() {
        let seq = structure(&Block::new(vec![Item::If(1, leave(2), leave(3)), Item::Op(4)], End::Leave(5))).unwrap();
        let mut seen = BTreeSet::new();
        collect(&seq, &mut seen);
        assert_eq!(seen, BTreeSet::from([1, 2, 3]));
    }

    #[test]
    fn depth_is_limited() {
        let exits = |n: u32| (0..n).map(|i| Item::If(3 * i + 1, leave(3 * i + 2), fall(3 * i + 3))).collect::<Vec<_>>();
        assert!(structure(&Block::new(exits(MAX_DEPTH as u32), End::Leave(0))).is_ok());
        assert_eq!(structure(&Block::new(exits(MAX_DEPTH as u32 + 1), End::Leave(0))).unwrap_err(), TooDeep);
    }
}
