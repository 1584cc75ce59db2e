//! `reduce` and `scan`.
//!
//! Elements are combined one after another, starting from the identities. The body has a pair of arguments for each
//! operand. In a scan, the first of a pair is the accumulator and the second the element: `result[j] = f(result[j -
//! 1], x[j])`. In a reduction the first is the element and the second the accumulator. This makes no difference to a
//! correct program, because the order of elements is unspecified.
//!
//! A compiler may combine elements in any grouping, and the elements of a reduction in any order. The interpreter
//! determines in one of two ways how much of the result is still defined:
//!
//! * Bodies that add or multiply floats are recognized, and the effect of rounding is bounded. For a body with a
//!   single op that does not round, such as a maximum, the result comes from the elements alone, without the
//!   identities.
//! * For any other body the result is computed in three more ways: without the identities, from the other end, and by
//!   halves. Where the results differ, the element is unknown. If one of these ways rounded a float, every
//!   combination of at least three elements is unknown, because other groupings round differently and the difference
//!   is not bounded.
//!
//! With [`Limits::canonical`](super::Limits::canonical), a reduction whose bits depend on the order has one order: a
//! tree over the bits of the coordinate, from the highest, after bits 0 and 1 along the last dimension. A scan doubles
//! the distance that it covers with each step, within blocks of 4096 elements, and carries the last result of a block
//! to the next. Neither takes identities.

use super::{Cause, Datum, Elements, Error, Executor, Flow, coordinates, index, malformed};
use crate::format::{self, Real, decode};
use crate::program::{Block, FloatMode, Op, OpKind, Rounding};
use crate::scalar::{Certainty, Scalar, last_place, power};
use crate::types::Number;
use std::rc::Rc;

/// The low bits of the coordinate along the last dimension that a reduction in the canonical order combines first.
const CANONICAL_FIRST: u32 = 2;
/// The elements that a scan in the canonical order combines as a tree.
const CANONICAL_BLOCK: usize = 4096;

/// One element of each operand.
type Row = Vec<Scalar>;

/// The kinds of bodies that are handled differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Combiner {
    /// Adds the elements of one operand.
    Sum,
    /// Multiplies the elements of one operand.
    Product,
    /// A single op that does not round and is associative and commutative.
    Exact,
    Other,
}

impl Executor<'_> {
    pub(super) fn reduce(&mut self, op: &Op, dim: usize, identities: &[u64]) -> Result<Vec<Datum>, Error> {
        let (operands, shape) = self.operands(op, dim).map_err(|c| self.error(op, c))?;
        let mut result_shape = shape.clone();
        result_shape.remove(dim);
        let mut out = vec![vec![]; operands.len()];
        for i in 0..result_shape.iter().product() {
            let mut at = coordinates(i, &result_shape);
            at.insert(dim, 0);
            let rows = rows(&operands, &shape, dim, at);
            let first = if dim + 1 == shape.len() { CANONICAL_FIRST } else { 0 };
            let result = self.reduce_rows(op, rows, first, identities)?;
            for (o, s) in out.iter_mut().zip(result) {
                o.push(s);
            }
        }
        Ok(out.into_iter().map(|o| Datum::Tile(Rc::new(o))).collect())
    }

    pub(super) fn scan(&mut self, op: &Op, dim: usize, reverse: bool, identities: &[u64]) -> Result<Vec<Datum>, Error> {
        let (operands, shape) = self.operands(op, dim).map_err(|c| self.error(op, c))?;
        let mut out: Vec<Vec<Scalar>> = operands.iter().map(|o| vec![Scalar::unknown(0); o.len()]).collect();
        let mut lines = shape.clone();
        lines[dim] = 1;
        for i in 0..lines.iter().product() {
            let start = coordinates(i, &lines);
            let mut rows = rows(&operands, &shape, dim, start.clone());
            if reverse {
                rows.reverse();
            }
            let result = self.scan_rows(op, rows, identities)?;
            for (k, row) in result.into_iter().enumerate() {
                let mut at = start.clone();
                at[dim] = if reverse { shape[dim] - 1 - k } else { k };
                for (o, s) in out.iter_mut().zip(row) {
                    o[index(&at, &shape)] = s;
                }
            }
        }
        Ok(out.into_iter().map(|o| Datum::Tile(Rc::new(o))).collect())
    }

    fn reduce_rows(&mut self, op: &Op, rows: Vec<Row>, first: u32, identities: &[u64]) -> Result<Row, Error> {
        if let [block] = &op.regions[..]
            && self.limits.canonical
            && self.recognise(op, block) != Combiner::Exact
        {
            return self.tree(op, block, rows, first);
        }
        let result = self.fold(op, &rows, identities, false)?;
        Ok(result.into_iter().next_back().unwrap_or_default())
    }

    fn scan_rows(&mut self, op: &Op, rows: Vec<Row>, identities: &[u64]) -> Result<Vec<Row>, Error> {
        let [block] = &op.regions[..] else { return Err(self.error(op, malformed("an aggregate has one region"))) };
        if !self.limits.canonical || self.recognise(op, block) == Combiner::Exact {
            return self.fold(op, &rows, identities, true);
        }
        let mut results: Vec<Row> = vec![];
        for part in rows.chunks(CANONICAL_BLOCK) {
            let mut part = part.to_vec();
            let mut half = 1;
            while half < part.len() {
                for i in (0..part.len()).filter(|i| i & half != 0) {
                    let before = part[i & !(2 * half - 1) | (half - 1)].clone();
                    part[i] = self.combine(op, block, &part[i].clone(), &before)?;
                }
                half *= 2;
            }
            if let Some(before) = results.last().cloned() {
                for row in &mut part {
                    *row = self.combine(op, block, &row.clone(), &before)?;
                }
            }
            results.extend(part);
        }
        Ok(results)
    }

    /// Combines neighbors `first` times, then the lower half of the rows with the upper half until one row is left.
    fn tree(&mut self, op: &Op, block: &Block, mut rows: Vec<Row>, first: u32) -> Result<Row, Error> {
        for _ in 0..first {
            let pairs = rows.chunks(2).map(|pair| match pair {
                [low, high] => self.combine(op, block, low, high),
                _ => Ok(pair.concat()),
            });
            rows = pairs.collect::<Result<_, _>>()?;
        }
        while rows.len() > 1 {
            let high = rows.split_off(rows.len() / 2);
            for (low, high) in rows.iter_mut().zip(&high) {
                *low = self.combine(op, block, low, high)?;
            }
        }
        rows.pop().ok_or_else(|| self.error(op, malformed("a dimension has elements")))
    }

    fn operands(&self, op: &Op, dim: usize) -> Result<(Vec<Elements>, Vec<usize>), Cause> {
        let operands = op.operands.iter().map(|v| self.elements(*v)).collect::<Result<Vec<_>, _>>()?;
        let first = op.operands.first().ok_or_else(|| malformed("an aggregate has operands"))?;
        let shape = self.tile_type(*first)?.shape.clone();
        if dim >= shape.len() {
            return Err(malformed("the dimension does not exist"));
        }
        Ok((operands, shape))
    }

    /// The combinations of all rows up to each row (with `prefixes`), or of all rows.
    fn fold(&mut self, op: &Op, rows: &[Row], identities: &[u64], prefixes: bool) -> Result<Vec<Row>, Error> {
        let [block] = &op.regions[..] else { return Err(self.error(op, malformed("an aggregate has one region"))) };
        let identity: Row = identities.iter().copied().map(Scalar::exact).collect();
        let mut results = vec![];
        let outer = self.rounded.replace(false);
        let mut state = identity;
        for row in rows {
            state = self.combine(op, block, row, &state)?;
            results.push(state.clone());
        }
        let body = self.recognise(op, block);
        let n = self.number(op.operands[0]).map_err(|c| self.error(op, c))?;
        if body == Combiner::Other {
            self.try_other_ways(op, block, rows, &mut results, prefixes)?;
        }
        let rounded = std::mem::replace(&mut self.rounded, outer) == Some(true);
        if body == Combiner::Other && rounded {
            // There is only one way to combine two elements.
            results.iter_mut().skip(2).flatten().for_each(|x| *x = Scalar::unknown(x.bits));
        }
        if body == Combiner::Exact {
            self.without_identity(op, block, rows, &mut results)?;
        }
        if matches!(body, Combiner::Sum | Combiner::Product) {
            let mut bound = Bound::new(n);
            for (row, result) in rows.iter().zip(&mut results) {
                bound.add(row[0]);
                result[0] = if body == Combiner::Sum { bound.sum(result[0]) } else { bound.product(result[0]) };
            }
        }
        Ok(results)
    }

    /// Combines the elements alone, of which there is at least one, and updates the results. A correct identity
    /// changes nothing, with one exception: a maximum that ignores NaN has no identity, so NaNs alone give NaN. If
    /// the identity makes another difference, it is not an identity and the result is unknown.
    fn without_identity(&mut self, op: &Op, block: &Block, rows: &[Row], results: &mut [Row]) -> Result<(), Error> {
        let n = self.number(op.operands[0]).map_err(|c| self.error(op, c))?;
        let mut state: Option<Row> = None;
        for (row, result) in rows.iter().zip(results) {
            let alone = match &state {
                None => row.clone(),
                Some(state) => self.combine(op, block, row, state)?,
            };
            let is_nan = n.is_float() && !alone[0].is_unknown() && decode(alone[0].bits, n).is_nan();
            result[0] = if is_nan { Scalar::nan(n) } else { weaker(n, result[0], alone[0]) };
            state = Some(alone);
        }
        Ok(())
    }

    fn try_other_ways(
        &mut self,
        op: &Op,
        block: &Block,
        rows: &[Row],
        results: &mut [Row],
        prefixes: bool,
    ) -> Result<(), Error> {
        // Without the identities.
        let Some((first, rest)) = rows.split_first() else { return Ok(()) };
        let mut state = first.clone();
        let mut plain = vec![state.clone()];
        for row in rest {
            state = self.combine(op, block, row, &state)?;
            plain.push(state.clone());
        }
        for (result, other) in results.iter_mut().zip(&plain) {
            self.agree(op, result, other)?;
        }
        if prefixes {
            // Each half separately; then the first half is combined with each prefix of the second.
            let half = rows.len() / 2;
            if let Some(before) = half.checked_sub(1).map(|h| plain[h].clone()) {
                let mut state: Option<Row> = None;
                for (row, result) in rows.iter().zip(results.iter_mut()).skip(half) {
                    let next = match &state {
                        None => row.clone(),
                        Some(s) => self.combine(op, block, row, s)?,
                    };
                    let whole = self.combine(op, block, &next, &before)?;
                    self.agree(op, result, &whole)?;
                    state = Some(next);
                }
            }
            return Ok(());
        }
        let Some(result) = results.last_mut() else { return Ok(()) };
        // From the other end.
        let mut state = rows[rows.len() - 1].clone();
        for row in rows.iter().rev().skip(1) {
            state = self.combine(op, block, row, &state)?;
        }
        self.agree(op, result, &state)?;
        // By halves: a tree that pairs elements half the extent apart.
        let mut level = rows.to_vec();
        while level.len() > 1 {
            let half = level.len().div_ceil(2);
            for i in 0..level.len() - half {
                level[i] = self.combine(op, block, &level[i + half].clone(), &level[i].clone())?;
            }
            level.truncate(half);
        }
        self.agree(op, result, &level[0])
    }

    /// Weakens `result` to the values that both ways admit.
    fn agree(&self, op: &Op, result: &mut Row, other: &Row) -> Result<(), Error> {
        for ((r, o), v) in result.iter_mut().zip(other).zip(&op.operands) {
            let n = self.number(*v).map_err(|c| self.error(op, c))?;
            *r = weaker(n, *r, *o);
        }
        Ok(())
    }

    /// Runs the body on one element and one accumulator of each operand.
    fn combine(&mut self, op: &Op, block: &Block, elements: &[Scalar], state: &[Scalar]) -> Result<Row, Error> {
        let scalar = |s: &Scalar| Datum::Tile(Rc::new(vec![*s]));
        let state_first = matches!(op.kind, OpKind::Scan { .. });
        let pair = |(e, s)| if state_first { [scalar(s), scalar(e)] } else { [scalar(e), scalar(s)] };
        let arguments = elements.iter().zip(state).flat_map(pair).collect();
        self.assign(&block.arguments, arguments).map_err(|c| self.error(op, c))?;
        let Flow::Yield(data) = self.region(block)? else {
            return Err(self.error(op, malformed("the body of an aggregate ends in 'yield'")));
        };
        let mut out = vec![];
        for d in data {
            match d {
                Datum::Tile(t) if t.len() == 1 => out.push(t[0]),
                _ => return Err(self.error(op, malformed("the body of an aggregate yields scalars"))),
            }
        }
        if out.len() != op.operands.len() {
            return Err(self.error(op, malformed("the body of an aggregate yields a value for each operand")));
        }
        Ok(out)
    }

    fn recognise(&self, op: &Op, block: &Block) -> Combiner {
        let ([only, last], [a, b]) = (&block.ops[..], &block.arguments[..]) else { return Combiner::Other };
        let both = only.operands[..] == [*a, *b] || only.operands[..] == [*b, *a];
        if !both || last.kind != OpKind::Yield || last.operands != only.results || op.operands.len() != 1 {
            return Combiner::Other;
        }
        let nearest = FloatMode { rounding: Rounding::NearestEven, flush: false };
        match &only.kind {
            OpKind::AddF(m) if *m == nearest => Combiner::Sum,
            OpKind::MulF(m) if *m == nearest => Combiner::Product,
            OpKind::AndI | OpKind::OrI | OpKind::XorI | OpKind::MaxI(_) | OpKind::MinI(_) => Combiner::Exact,
            OpKind::AddI(o) | OpKind::MulI(o) if o.keyword().is_none() => Combiner::Exact,
            OpKind::MaxF { .. } | OpKind::MinF { .. } => Combiner::Exact,
            _ => Combiner::Other,
        }
    }
}

/// The elements along `dim` through the coordinates `at`.
fn rows(operands: &[Elements], shape: &[usize], dim: usize, mut at: Vec<usize>) -> Vec<Row> {
    let mut out = vec![];
    for i in 0..shape[dim] {
        at[dim] = i;
        let i = index(&at, shape);
        out.push(operands.iter().map(|o| o[i]).collect());
    }
    out
}

/// The weakest of two results for one element: it admits both.
fn weaker(n: Number, a: Scalar, b: Scalar) -> Scalar {
    if a == b {
        return a;
    }
    if a.is_unknown() || b.is_unknown() || !n.is_float() {
        return Scalar::unknown(a.bits);
    }
    let ulps = |s: Scalar| if let Certainty::Near(u) = s.certainty { u } else { 0.0 };
    let (x, y) = (decode(a.bits, n), decode(b.bits, n));
    match (x, y) {
        (Real::Nan, Real::Nan) | (Real::Zero { .. }, Real::Zero { .. }) => {
            Scalar { bits: a.bits, certainty: Certainty::Near(ulps(a).max(ulps(b))) }
        }
        _ if x == y => Scalar { bits: a.bits, certainty: Certainty::Near(ulps(a).max(ulps(b))) },
        _ => Scalar::unknown(a.bits),
    }
}

/// Properties of a growing sequence of floats that bound the rounding error of its sum or product.
pub(super) struct Bound {
    number: Number,
    count: f64,
    /// Sum of the finite magnitudes.
    magnitude: f64,
    /// Sum of the error bounds of approximate elements.
    error: f64,
    /// Exponent of the lowest set bit of all elements.
    lowest: i32,
    /// Logarithms of the products of the magnitudes above one and below one.
    above: f64,
    below: f64,
    unknown: bool,
    negative_zero: bool,
    zero: bool,
    /// Whether there is an infinity, for each sign.
    infinity: [bool; 2],
    nan: bool,
}

impl Bound {
    pub(super) fn new(number: Number) -> Bound {
        Bound {
            number,
            count: 0.0,
            magnitude: 0.0,
            error: 0.0,
            lowest: 4096,
            above: 0.0,
            below: 0.0,
            unknown: false,
            negative_zero: false,
            zero: false,
            infinity: [false; 2],
            nan: false,
        }
    }

    pub(super) fn add(&mut self, x: Scalar) {
        self.count += 1.0;
        let real = decode(x.bits, self.number);
        match x.certainty {
            Certainty::Unknown => self.unknown = true,
            Certainty::Near(u) if !real.is_nan() => self.error += u * power(last_place(real, self.number)),
            _ => {}
        }
        match real {
            Real::Finite(f) => {
                let value = real.to_f64().abs();
                self.magnitude += value;
                self.lowest = self.lowest.min(f.exponent + f.significand.trailing_zeros() as i32);
                self.above += value.log2().max(0.0);
                self.below += value.log2().min(0.0);
            }
            Real::Zero { negative } => {
                self.zero = true;
                self.negative_zero |= negative;
            }
            Real::Infinite { negative } => self.infinity[usize::from(negative)] = true,
            Real::Nan => self.nan = true,
        }
    }

    fn format(&self) -> Option<format::Format> {
        format::format(self.number).filter(|_| !self.unknown)
    }

    pub(super) fn sum(&self, result: Scalar) -> Scalar {
        let Some(f) = self.format() else { return Scalar::unknown(result.bits) };
        let n = self.number;
        let value = decode(result.bits, n);
        let largest = crate::float::largest(n);
        match value {
            Real::Nan if self.nan || self.infinity == [true; 2] => return Scalar::nan(n),
            // Partial sums of both infinities although no element is infinite. Another order may avoid them.
            Real::Nan => return Scalar::unknown(result.bits),
            // Partial sums of finite numbers may have overflowed.
            _ if self.magnitude + self.error >= largest => return Scalar::unknown(result.bits),
            Real::Infinite { .. } => return Scalar { bits: result.bits, certainty: Certainty::Exact },
            _ => {}
        }
        let precision = f.mantissa_bits as i32 + 1;
        if self.error == 0.0 && (self.magnitude == 0.0 || self.magnitude.log2() <= f64::from(self.lowest + precision)) {
            let open = matches!(value, Real::Zero { .. }) && self.negative_zero;
            return Scalar { bits: result.bits, certainty: if open { Certainty::Near(0.0) } else { Certainty::Exact } };
        }
        let bound = self.count * libm::ldexp(self.magnitude, -precision) + self.error;
        // Both the interpreter and the implementation may be off by the bound.
        let ulps = 2.1 * bound / power(last_place(value, n)) + 1.0;
        Scalar { bits: result.bits, certainty: Certainty::Near(ulps) }
    }

    fn product(&self, result: Scalar) -> Scalar {
        let Some(f) = self.format() else { return Scalar::unknown(result.bits) };
        let n = self.number;
        let smallest = f64::from(f.smallest_exponent() + f.mantissa_bits as i32);
        if self.nan || (self.error == 0.0 && self.zero && self.infinity.contains(&true)) {
            return Scalar::nan(n);
        }
        // A NaN from a partial product that another order may avoid.
        if decode(result.bits, n).is_nan() {
            return Scalar::unknown(result.bits);
        }
        if self.error != 0.0 || self.above >= crate::float::largest(n).log2() - 1.0 || self.below <= smallest + 1.0 {
            return Scalar::unknown(result.bits);
        }
        Scalar { bits: result.bits, certainty: Certainty::Near(2.1 * self.count + 1.0) }
    }
}
