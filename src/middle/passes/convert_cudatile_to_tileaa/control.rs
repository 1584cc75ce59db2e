//! Lowers `if`, `for`, `loop` and their exits to `scf`. [`super::exits`] describes the algorithm.
//!
//! The *outcome* of a body depends on what it belongs to:
//!
//! | body of | outcome | becomes |
//! |---|---|---|
//! | entry | nothing | `nv_tileaa.return` |
//! | `for` | what `continue` carries | `scf.yield` |
//! | `loop` | whether to go on, what `continue` carries, what `break` carries | `scf.condition` |
//!
//! A `loop` becomes an `scf.while` with all of its work in the condition region. Parts of an outcome that do not
//! apply are poison, or new tokens, since tokens have no run-time value.
//!
//! A `for` with an unsigned comparison becomes an `scf.for`, which compares signed, over bounds with the sign bit
//! flipped. Flipping maps the unsigned order to the signed one and commutes with adding the step. If both bounds are
//! known to be non-negative, the two orders agree and no bit is flipped.

use super::{
    Translator, at_places, ct,
    exits::{Block, End, Item, PathStep, Seq, Tail, structure},
    types,
};
use crate::dialect::{
    cuda_tile::AnyOp,
    fallback::Fallback,
    nv_tileaa as aa,
    pass::{Failed, fail},
    rt::*,
};
use melior::ir::Type;

/// The values that the outcome of a body consists of.
enum Body<'c> {
    Function,
    For(Vec<Type<'c>>),
    Loop { continued: Vec<Type<'c>>, broken: Vec<Type<'c>> },
}

/// A body and the joins around the current block, outermost first, with the result types of their `if`s.
struct Frame<'c> {
    body: Body<'c>,
    joins: Vec<Vec<Type<'c>>>,
}

impl<'c> Frame<'c> {
    fn new(body: Body<'c>) -> Self {
        Frame { body, joins: vec![] }
    }
    /// Returns the types of the values that a block inside `depth` joins produces.
    fn types(&self, i1: Type<'c>, depth: usize) -> Vec<Type<'c>> {
        let mut types = vec![];
        for join in self.joins[..depth].iter().rev() {
            types.push(i1);
            types.extend(join);
        }
        match &self.body {
            Body::Function => {}
            Body::For(continued) => types.extend(continued),
            Body::Loop { continued, broken } => {
                types.push(i1);
                types.extend(continued);
                types.extend(broken);
            }
        }
        types
    }
}

/// Builds the tree of a source block for [`structure`].
fn tree<'c>(block: Blk<'c>) -> Block<OpRef<'c>> {
    let mut items = vec![];
    for op in ops_of(block) {
        match AnyOp::cast(op) {
            Some(AnyOp::IfOp(branch)) => {
                let child = |region| match entry_block(region) {
                    Some(block) => tree(block),
                    None => Block::new(vec![], End::Fall(None)),
                };
                let (then, other) = (child(branch.then_region()), child(branch.else_region()));
                items.push(if then.leaves() || other.leaves() { Item::If(op, then, other) } else { Item::Op(op) });
            }
            Some(AnyOp::YieldOp(_)) => return Block::new(items, End::Fall(Some(op))),
            Some(AnyOp::BreakOp(_) | AnyOp::ContinueOp(_) | AnyOp::ReturnOp(_)) => {
                return Block::new(items, End::Leave(op));
            }
            _ => items.push(Item::Op(op)),
        }
    }
    Block::new(items, End::Fall(None))
}

impl<'c> Translator<'c> {
    fn i1(&self) -> Type<'c> {
        types::int(self.context, 1)
    }
    fn bool(&self, v: bool) -> Val<'c> {
        self.b.bool_constant(v)
    }
    fn convert_types(&self, list: impl Iterator<Item = Val<'c>>) -> Result<Vec<Type<'c>>, Failed> {
        list.map(|v| self.result_type(v)).collect()
    }
    /// Returns placeholder values that are never read.
    fn meaningless(&self, types: &[Type<'c>]) -> Vec<Val<'c>> {
        types
            .iter()
            .map(|t| {
                let name = if types::is_token(*t) { aa::CreateMemTokenOp::NAME } else { "ub.poison" };
                self.b.value(name, *t, &[], &[])
            })
            .collect()
    }

    //===-- bodies ----------------------------------------------------------//

    pub(super) fn function_body(&mut self, source: Blk<'c>) -> Result<(), Failed> {
        self.body(source, Body::Function)?;
        self.built(aa::ReturnOp::build(&self.b, &[]))?;
        Ok(())
    }

    /// Translates a body into the current block and returns its outcome.
    fn body(&mut self, source: Blk<'c>, body: Body<'c>) -> Result<Vec<Val<'c>>, Failed> {
        let owner = self.current;
        let seq = structure(&tree(source)).map_err(|e| fail(owner, e.to_string()))?;
        self.sequence(&seq, &mut Frame::new(body))
    }

    /// Translates a restructured block and returns the values that it produces.
    fn sequence(&mut self, seq: &Seq<OpRef<'c>>, frame: &mut Frame<'c>) -> Result<Vec<Val<'c>>, Failed> {
        for step in &seq.steps {
            match step {
                PathStep::Op(op) => self.op(*op)?,
                PathStep::Bind { branch, yielded } => {
                    let values = yielded.map_or(vec![], |y| self.get_all(operands(y)));
                    for (old, new) in results(*branch).zip(values) {
                        self.set(old, new);
                    }
                }
            }
        }
        match &seq.end {
            Tail::Leave(op) => self.leave(*op, frame),
            Tail::Fall(yielded) => {
                let Some((_, outer)) = frame.joins.split_last() else {
                    return Err(fail(self.current, "block does not end in a terminator"));
                };
                let outer = frame.types(self.i1(), outer.len());
                if let Some(op) = yielded {
                    self.at(*op);
                }
                let mut values = vec![self.bool(false)];
                values.extend(yielded.map_or(vec![], |y| self.get_all(operands(y))));
                values.extend(self.meaningless(&outer));
                Ok(values)
            }
            Tail::Branch { branch, then, other } => self.branch(*branch, then, other, frame),
            Tail::Join { branch, then, other, rest } => {
                let own = self.convert_types(results(*branch))?;
                frame.joins.push(own);
                let produced = self.branch(*branch, then, other, frame);
                let own = frame.joins.pop().expect("pushed above").len();
                let produced = produced?;
                for (old, new) in results(*branch).zip(&produced[1..]) {
                    self.set(old, *new);
                }
                let outcome = &produced[1 + own..];
                let types = frame.types(self.i1(), frame.joins.len());
                self.choose(produced[0], &types, |_| Ok(outcome.to_vec()), |this| this.sequence(rest, frame))
            }
        }
    }

    /// Returns the outcome of `break`, `continue` or `return`, for all joins around it.
    fn leave(&mut self, op: OpRef<'c>, frame: &Frame<'c>) -> Result<Vec<Val<'c>>, Failed> {
        self.at(op);
        let carried = self.get_all(operands(op));
        let is_break = ct::BreakOp::cast(op).is_some();
        let mut values = vec![];
        for join in frame.joins.iter().rev() {
            values.push(self.bool(true));
            values.extend(self.meaningless(join));
        }
        match &frame.body {
            Body::Function => {}
            Body::For(_) => values.extend(carried),
            Body::Loop { continued, .. } if is_break => {
                values.push(self.bool(false));
                values.extend(self.meaningless(continued));
                values.extend(carried);
            }
            Body::Loop { broken, .. } => {
                values.push(self.bool(true));
                values.extend(carried);
                values.extend(self.meaningless(broken));
            }
        }
        Ok(values)
    }

    fn branch(
        &mut self,
        branch: OpRef<'c>,
        then: &Seq<OpRef<'c>>,
        other: &Seq<OpRef<'c>>,
        frame: &mut Frame<'c>,
    ) -> Result<Vec<Val<'c>>, Failed> {
        self.at(branch);
        let condition = self.get(operand(branch, 0));
        let types = frame.types(self.i1(), frame.joins.len());
        let frame = std::cell::RefCell::new(frame);
        self.choose(
            condition,
            &types,
            |this| this.sequence(then, &mut frame.borrow_mut()),
            |this| this.sequence(other, &mut frame.borrow_mut()),
        )
    }

    /// Builds an `scf.if` at the current location and returns its results.
    fn choose(
        &mut self,
        condition: Val<'c>,
        types: &[Type<'c>],
        then: impl FnOnce(&mut Self) -> Result<Vec<Val<'c>>, Failed>,
        other: impl FnOnce(&mut Self) -> Result<Vec<Val<'c>>, Failed>,
    ) -> Result<Vec<Val<'c>>, Failed> {
        let current = self.current;
        let mut state = self.b.state("scf.if");
        state.operands(&[condition]);
        state.results(types);
        let then = self.in_region(&[], |this, _| {
            let values = then(this)?;
            this.b.create("scf.yield", &[], &values, &[]);
            Ok(())
        })?;
        let other = self.in_region(&[], |this, _| {
            let values = other(this)?;
            this.b.create("scf.yield", &[], &values, &[]);
            Ok(())
        })?;
        state.region(then);
        state.region(other);
        self.at(current);
        let built = self.b.insert(state);
        Ok(results(self.built(built)?).collect())
    }

    //===-- ops -------------------------------------------------------------//

    /// Translates an `if` that no path leaves.
    pub(super) fn plain_if(&mut self, o: ct::IfOp<'c>) -> Result<(), Failed> {
        let types = self.convert_types(o.results())?;
        let condition = self.get(o.condition());
        let branch = |region: Rgn<'c>| {
            move |this: &mut Self| {
                let Some(block) = entry_block(region) else { return Ok(vec![]) };
                for op in ops_of(block) {
                    if let Some(end) = ct::YieldOp::cast(op) {
                        this.at(op);
                        return Ok(this.get_all(end.operands()));
                    }
                    this.op(op)?;
                }
                Ok(vec![])
            }
        };
        let new = self.choose(condition, &types, branch(o.then_region()), branch(o.else_region()))?;
        for (old, new) in o.results().zip(new) {
            self.set(old, new);
        }
        Ok(())
    }

    pub(super) fn counted_loop(&mut self, o: ct::ForOp<'c>) -> Result<(), Failed> {
        let Some(source) = entry_block(o.region()) else { return Err(fail(o.op(), "loop without a body")) };
        let index = self.result_type(o.lower_bound())?;
        let carried = self.convert_types(o.result_values())?;
        let bounds = [self.get(o.lower_bound()), self.get(o.upper_bound()), self.get(o.step())];
        let counter = Counter::choose(self, o, index);
        let mut operands = counter.bounds(self, bounds);
        operands.extend(self.get_all(o.init_values()));

        let mut arguments = vec![ty(operands[0])];
        arguments.extend(&carried);
        let region = self.in_region(&at_places(&arguments, args(source)), |this, block| {
            let iv = counter.value(this, arg(block, 0), index);
            this.set(arg(source, 0), iv);
            for (old, new) in args(source).zip(args(block)).skip(1) {
                this.set(old, new);
            }
            let outcome = this.body(source, Body::For(carried.clone()))?;
            this.b.create("scf.yield", &[], &outcome, &[]);
            Ok(())
        })?;
        self.at(o.op());
        let mut state = self.b.state("scf.for");
        state.operands(&operands);
        state.results(&carried);
        state.region(region);
        let built = self.b.insert(state);
        let new = self.built(built)?;
        Fallback::hand_on(o.op(), new);
        for (old, new) in o.result_values().zip(results(new)) {
            self.set(old, new);
        }
        Ok(())
    }

    pub(super) fn endless_loop(&mut self, o: ct::LoopOp<'c>) -> Result<(), Failed> {
        let Some(source) = entry_block(o.region()) else { return Err(fail(o.op(), "loop without a body")) };
        let continued = self.convert_types(o.init_values())?;
        let broken = self.convert_types(o.result_values())?;
        let init = self.get_all(o.init_values());
        let places = at_places(&continued, args(source));
        let before = self.in_region(&places, |this, block| {
            for (old, new) in args(source).zip(args(block)) {
                this.set(old, new);
            }
            let body = Body::Loop { continued: continued.clone(), broken: broken.clone() };
            let outcome = this.body(source, body)?;
            this.b.create("scf.condition", &[], &outcome, &[]);
            Ok(())
        })?;
        self.at(o.op());
        let forwarded: Vec<_> = continued.iter().chain(&broken).copied().collect();
        let places = at_places(&forwarded, args(source).chain(o.result_values()));
        let after = self.in_region(&places, |this, block| {
            let next: Vec<_> = args(block).take(continued.len()).collect();
            this.b.create("scf.yield", &[], &next, &[]);
            Ok(())
        })?;
        let mut state = self.b.state("scf.while");
        state.operands(&init);
        state.results(&forwarded);
        state.region(before);
        state.region(after);
        let built = self.b.insert(state);
        let new = self.built(built)?;
        Fallback::hand_on(o.op(), new);
        for (old, new) in o.result_values().zip(results(new).skip(continued.len())) {
            self.set(old, new);
        }
        Ok(())
    }
}

/// How a loop that compares signed counts the induction variable of a `for`.
#[derive(Clone, Copy)]
enum Counter {
    AsIs,
    /// With the sign bit flipped.
    Flipped,
    /// In 32 bits, because a signed 1-bit type cannot hold a positive step.
    Widened {
        signed: bool,
    },
}

impl Counter {
    fn choose<'c>(t: &Translator<'c>, o: ct::ForOp<'c>, index: Type<'c>) -> Self {
        let unsigned = o.unsigned_cmp();
        if types::width(index) == 1 {
            return Counter::Widened { signed: !unsigned };
        }
        let both = || not_negative(t, o.lower_bound()) && not_negative(t, o.upper_bound());
        if unsigned && !both() { Counter::Flipped } else { Counter::AsIs }
    }
    /// Returns the bounds and step of the new loop.
    fn bounds<'c>(self, t: &Translator<'c>, [lower, upper, step]: [Val<'c>; 3]) -> Vec<Val<'c>> {
        match self {
            Counter::AsIs => vec![lower, upper, step],
            Counter::Flipped => vec![t.flip_sign(lower), t.flip_sign(upper), step],
            Counter::Widened { signed } => {
                let i32 = types::int(t.context, 32);
                let bound = |v| if signed { t.b.extsi(v, i32) } else { t.b.extui(v, i32) };
                vec![bound(lower), bound(upper), t.b.extui(step, i32)]
            }
        }
    }
    /// Returns the induction variable of the source loop.
    fn value<'c>(self, t: &Translator<'c>, counted: Val<'c>, index: Type<'c>) -> Val<'c> {
        match self {
            Counter::AsIs => counted,
            Counter::Flipped => t.flip_sign(counted),
            Counter::Widened { .. } => t.b.trunci(counted, index),
        }
    }
}

impl<'c> Translator<'c> {
    fn flip_sign(&self, v: Val<'c>) -> Val<'c> {
        let sign = self.b.int_constant(ty(v), 1i64.wrapping_shl(types::width(ty(v)) - 1));
        self.b.xori(v, sign)
    }
}

/// Whether a source scalar is known to be non-negative as a signed number.
fn not_negative<'c>(t: &Translator<'c>, mut v: Val<'c>) -> bool {
    let mut promised = false;
    loop {
        match defining_op(v).and_then(AnyOp::cast) {
            Some(AnyOp::AssumeOp(o)) => {
                let bounded = ct::BoundedAttr::cast(o.predicate()).and_then(|b| b.lb());
                promised |= bounded.is_some_and(|lower| lower >= 0);
                v = o.value();
            }
            // Assumptions do not change a constant.
            Some(AnyOp::ConstantOp(_)) => return super::arith::splat_constant(t.get(v)).is_some_and(|n| n >= 0),
            // Grid coordinates and extents are below 2^24.
            Some(AnyOp::GetTileBlockIdOp(_) | AnyOp::GetNumTileBlocksOp(_)) => return true,
            _ => return promised,
        }
    }
}
