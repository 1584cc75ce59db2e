//! Matrix multiplication.
//!
//! Products are exact and are added to the accumulator in double precision, in the order of the inner dimension. The
//! sum is rounded once, to nearest. (Products of two f64 numbers are fused with the addition.) A compiler may sum in
//! any order, and in any precision at least that of the accumulator. So a result is exact only if every order gives
//! it: all terms are multiples of one power of two that the accumulator can represent, and the sum of their
//! magnitudes fits in its precision.
//!
//! With [`Limits::canonical`](super::Limits::canonical), products of f32 are chains of fused multiply-adds.

use super::{Cause, Elements, Executor, Outcome, malformed, one};
use crate::format::{self, Real, Round, decode, encode};
use crate::int;
use crate::program::{Op, OpKind};
use crate::scalar::{Certainty, Scalar, last_place, power};
use crate::types::Number;

/// Extents of a matrix multiplication: B x M x K times B x K x N.
struct Extents {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
}

impl Executor<'_> {
    fn extents_of_product(&self, op: &Op) -> Result<Extents, Cause> {
        let (lhs, rhs) = (&self.tile_type(op.operands[0])?.shape, &self.tile_type(op.operands[1])?.shape);
        match (&lhs[..], &rhs[..]) {
            ([m, k], [_, n]) => Ok(Extents { batch: 1, m: *m, n: *n, k: *k }),
            ([b, m, k], [_, _, n]) => Ok(Extents { batch: *b, m: *m, n: *n, k: *k }),
            _ => Err(malformed("a dot takes tiles of two or three dimensions")),
        }
    }

    pub(super) fn matrix(&mut self, op: &Op) -> Outcome {
        let e = self.extents_of_product(op)?;
        let v = &op.operands;
        let (from, acc) = (self.number(v[0])?, self.number(v[2])?);
        let (lhs, rhs, init) = (self.elements(v[0])?, self.elements(v[1])?, self.elements(v[2])?);
        match &op.kind {
            OpKind::MmaI { lhs: sign_l, rhs: sign_r } => {
                let values = |x: &Elements, sign| -> Vec<(i128, bool)> {
                    x.iter().map(|x| (int::value(x.bits, from, sign), x.is_unknown())).collect()
                };
                let (a, b) = (values(&lhs, *sign_l), values(&rhs, *sign_r));
                one(product(&e, &a, &b, |i, row, column| {
                    let sum = row.iter().zip(column).fold(i128::from(init[i].bits), |s, ((l, _), (r, _))| s + l * r);
                    let unknown = row.iter().chain(column).any(|(_, unknown)| *unknown);
                    let bits = int::wrap(sum, acc);
                    if unknown || init[i].is_unknown() { Scalar::unknown(bits) } else { Scalar::exact(bits) }
                }))
            }
            OpKind::MmaF { fast_acc } => {
                let (a, b) = (numbers(&lhs, from), numbers(&rhs, from));
                let chained = self.limits.canonical && [from, acc] == [Number::F32; 2];
                let dots = Dots::new(acc, *fast_acc, from, [&a, &b]);
                one(product(&e, &a, &b, |i, row, column| {
                    let chain =
                        chained.then(|| chain(init[i], row.iter().copied().zip(column.iter().copied()))).flatten();
                    chain.unwrap_or_else(|| dots.dot(init[i], row, column))
                }))
            }
            OpKind::MmaFScaled => {
                let scale = self.number(v[3])?;
                let (scale_l, scale_r) = (self.elements(v[3])?, self.elements(v[4])?);
                let k_scales =
                    *self.tile_type(v[3])?.shape.last().ok_or_else(|| malformed("scales have dimensions"))?;
                if scale == Number::E4m3
                    && scale_l.iter().chain(scale_r.iter()).any(|s| decode(s.bits, scale).negative())
                {
                    return Err(Cause::Undefined("a scale is negative".into()));
                }
                let block = e.k / k_scales;
                let (mut a, mut b) = (numbers(&lhs, from), numbers(&rhs, from));
                let (p, q) = (numbers(&scale_l, scale), numbers(&scale_r, scale));
                // Rows of scales are shorter than rows of elements, and so are columns.
                for (l, a) in a.iter_mut().enumerate() {
                    *a = a.times(p[l / e.k * k_scales + l % e.k / block]);
                }
                for (r, b) in b.iter_mut().enumerate() {
                    let (batch, k, column) = (r / (e.k * e.n), r / e.n % e.k, r % e.n);
                    *b = b.times(q[(batch * k_scales + k / block) * e.n + column]);
                }
                let dots = Dots::new(acc, false, from, [&a, &b]);
                one(product(&e, &a, &b, |i, row, column| dots.dot(init[i], row, column)))
            }
            _ => Err(malformed("the op is not a dot")),
        }
    }
}

/// An element as a number, its error bound, and whether its value is known at all.
#[derive(Clone, Copy)]
struct Factor {
    value: f64,
    error: f64,
    /// Exponent of the lowest set bit.
    lowest: i32,
    sure: bool,
}

impl Factor {
    /// Scales the factor. The product is exact, because only elements of at most eight bits are scaled.
    fn times(self, scale: Factor) -> Factor {
        let (value, lowest) = (self.value * scale.value, self.lowest + scale.lowest);
        Factor { value, error: self.error_of_product(scale), lowest, sure: self.sure && scale.sure }
    }

    /// The error bound of a product.
    fn error_of_product(self, other: Factor) -> f64 {
        if self.error == 0.0 && other.error == 0.0 {
            return 0.0;
        }
        self.value.abs() * other.error + other.value.abs() * self.error + self.error * other.error
    }
}

fn numbers(x: &Elements, n: Number) -> Vec<Factor> {
    let factor = |x: &Scalar| {
        let real = decode(x.bits, n);
        let value = real.to_f64();
        let error = match x.certainty {
            Certainty::Near(ulps) if !real.is_nan() => ulps * power(last_place(real, n)),
            _ => 0.0,
        };
        Factor { value, error, lowest: lowest_bit(value), sure: !x.is_unknown() }
    };
    x.iter().map(factor).collect()
}

/// Computes each element of the result from its index and the row and the column that are multiplied for it.
fn product<T: Copy>(e: &Extents, lhs: &[T], rhs: &[T], f: impl Fn(usize, &[T], &[T]) -> Scalar) -> Vec<Scalar> {
    let mut out = Vec::with_capacity(e.batch * e.m * e.n);
    for batch in 0..e.batch {
        let of = |column| (0..e.k).map(move |k| rhs[(batch * e.k + k) * e.n + column]);
        let columns: Vec<T> = (0..e.n).flat_map(of).collect();
        for row in 0..e.m {
            let row = &lhs[(batch * e.m + row) * e.k..][..e.k];
            for column in 0..e.n {
                out.push(f(out.len(), row, &columns[column * e.k..][..e.k]));
            }
        }
    }
    out
}

/// `init` plus the sum of products of f32, as a chain of fused multiply-adds in the order of the inner dimension. No
/// matrix unit multiplies f32, so pinned compiled code has the same bits. `None` if a number is not exact.
fn chain(init: Scalar, mut terms: impl Iterator<Item = (Factor, Factor)>) -> Option<Scalar> {
    let start = (init.certainty == Certainty::Exact).then(|| decode(init.bits, Number::F32).to_f64() as f32)?;
    let exact = |f: Factor| (f.sure && f.error == 0.0).then_some(f.value as f32);
    let sum = terms.try_fold(start, |sum, (a, b)| Some(exact(a)?.mul_add(exact(b)?, sum)))?;
    Some(if sum.is_nan() { Scalar::nan(Number::F32) } else { Scalar::exact(sum.to_bits().into()) })
}

/// The sum of the products of a row and a column, in the order of the inner dimension.
struct Sum {
    sum: f64,
    /// The sum of the finite magnitudes.
    magnitude: f64,
    /// Exponent of the lowest set bit of all terms.
    lowest: i32,
    error: f64,
    sure: bool,
}

impl Sum {
    /// Adds the products.
    fn add(&mut self, row: &[Factor], column: &[Factor]) {
        for (a, b) in row.iter().zip(column) {
            self.sure &= a.sure && b.sure;
            self.error += a.error_of_product(*b);
            self.sum = a.value.mul_add(b.value, self.sum);
            self.count((a.value * b.value).abs(), a.lowest + b.lowest);
        }
    }

    /// As [`Sum::add`], for factors without errors whose products are exact in double precision. This holds for all
    /// types of at most 32 bits.
    fn add_exact(&mut self, row: &[Factor], column: &[Factor]) {
        for (a, b) in row.iter().zip(column) {
            let product = a.value * b.value;
            self.sum += product;
            self.count(product.abs(), a.lowest + b.lowest);
        }
    }

    fn count(&mut self, product: f64, lowest: i32) {
        // A zero product adds nothing, whatever its sign.
        if product != 0.0 {
            self.magnitude += finite(product);
            self.lowest = self.lowest.min(lowest);
        }
    }
}

/// Only finite magnitudes count.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

/// The dots of one op.
struct Dots {
    acc: Number,
    fast: bool,
    /// Whether [`Sum::add_exact`] can add the products.
    is_exact: bool,
}

impl Dots {
    fn new(acc: Number, fast: bool, from: Number, factors: [&[Factor]; 2]) -> Self {
        let is_exact = from.width() <= 32 && factors.into_iter().flatten().all(|f| f.sure && f.error == 0.0);
        Self { acc, fast, is_exact }
    }

    /// `init` plus the sum of the products.
    fn dot(&self, init: Scalar, row: &[Factor], column: &[Factor]) -> Scalar {
        let start = decode(init.bits, self.acc);
        let error = match init.certainty {
            Certainty::Near(ulps) if !start.is_nan() => ulps * power(last_place(start, self.acc)),
            _ => 0.0,
        };
        let start = start.to_f64();
        let (magnitude, lowest) = (finite(start.abs()), lowest_bit(start));
        let mut sum = Sum { sum: start, magnitude, lowest, error, sure: !init.is_unknown() };
        if self.is_exact {
            sum.add_exact(row, column);
        } else {
            sum.add(row, column);
        }
        rounded(self.acc, self.fast, start, row.len(), &sum)
    }
}

/// The result of a dot of `count` products that begins with `start`.
fn rounded(acc: Number, fast: bool, start: f64, count: usize, sum: &Sum) -> Scalar {
    let &Sum { sum, magnitude, lowest, error, sure } = sum;
    let count = 1.0 + count as f64;
    let bits = encode(Real::from_f64(sum), acc, Round::NearestEven).bits;
    let Some(f) = format::format(acc).filter(|_| sure) else { return Scalar::unknown(bits) };
    // An infinity times a value that may be zero or of either sign can be anything.
    if !sum.is_finite() && error != 0.0 {
        return Scalar::unknown(bits);
    }
    if decode(bits, acc).is_nan() {
        return Scalar::nan(acc);
    }
    // Partial sums may overflow in another order.
    if magnitude + error >= crate::float::largest(acc) {
        return Scalar::unknown(bits);
    }
    if sum.is_infinite() {
        return Scalar { bits, certainty: Certainty::Near(0.0) };
    }
    // Tensor cores keep fewer bits if fast accumulation is allowed.
    let precision = if fast { 13 } else { f.mantissa_bits as i32 + 1 };
    // Bits below the accumulator's subnormal numbers may be rounded away in a partial sum, which may leave a zero of
    // either sign.
    let holds = magnitude.log2() <= f64::from(lowest + precision) && lowest >= f.smallest_exponent();
    let exact = magnitude == 0.0 || holds;
    if exact && error == 0.0 {
        // Terms that cancel give +0 in any order. But a result of -0 depends on whether zeros are added at all.
        let open = magnitude == 0.0 && start.is_sign_negative();
        return Scalar { bits, certainty: if open { Certainty::Near(0.0) } else { Certainty::Exact } };
    }
    // Each addition may truncate, so it is off by at most one unit in the last place of the largest partial sum.
    let bound = (magnitude + error) * count * libm::ldexp(1.0, 1 - precision) + error;
    let ulps = bound / power(last_place(decode(bits, acc), acc)) + 1.0;
    Scalar { bits, certainty: Certainty::Near(ulps) }
}

/// Exponent of the lowest set bit; a large number for zero.
fn lowest_bit(x: f64) -> i32 {
    match Real::from_f64(x) {
        Real::Finite(f) => f.exponent + f.significand.trailing_zeros() as i32,
        _ => 4096,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dot of f32 numbers. If products can be added without fused operations, they have the same sum.
    fn dot(init: Scalar, row: &[Factor], column: &[Factor]) -> Scalar {
        let dots = Dots::new(Number::F32, false, Number::F32, [row, column]);
        let fused = Dots { is_exact: false, ..dots }.dot(init, row, column);
        assert_eq!(dots.dot(init, row, column), fused);
        fused
    }

    /// The sum of two products that cancel: `magnitude` and its negative.
    fn cancelled(magnitude: f64) -> Scalar {
        let factor = |value: f64| Factor { value, error: 0.0, lowest: lowest_bit(value), sure: true };
        let (row, column) = ([magnitude, -magnitude].map(factor), [factor(1.0); 2]);
        dot(Scalar::exact(0), &row, &column)
    }

    #[test]
    fn errors_of_factors_are_passed_on() {
        let two = Scalar { bits: 2f32.to_bits().into(), certainty: Certainty::Near(4.0) };
        let three = Scalar::exact(3f32.to_bits().into());
        let [two, three] = [two, three].map(|x| numbers(&std::rc::Rc::new(vec![x]), Number::F32)[0]);
        let sum = dot(Scalar::exact(0), &[two], &[three]);
        let element = crate::types::Element::Number(Number::F32);
        let off = |ulps: u32| u64::from((3.0 * f32::from_bits(2f32.to_bits() + ulps)).to_bits());
        assert!(sum.admits(off(0), element) && sum.admits(off(4), element) && !sum.admits(off(40), element), "{sum:?}");
        // Infinity times a value that may be zero is a NaN or an infinity.
        let zero = Factor { value: 0.0, error: 1.0, lowest: 4096, sure: true };
        let infinity = Factor { value: f64::INFINITY, error: 0.0, lowest: 4096, sure: true };
        assert!(dot(Scalar::exact(0), &[zero], &[infinity]).is_unknown());
    }

    #[test]
    fn chains_round_after_each_product() {
        let factor = |value: f64| Factor { value, error: 0.0, lowest: lowest_bit(value), sure: true };
        // 2^-24 is half of the last place of 1: two additions round down, while their sum would not.
        let half = (factor(power(-24)), factor(1.0));
        let one = Scalar::exact(1f32.to_bits().into());
        let terms = [half, half, (factor(3.0), factor(5.0))].into_iter();
        assert_eq!(chain(one, terms.clone()), Some(Scalar::exact(16f32.to_bits().into())));
        let (row, column) = ([half.0; 2], [half.1; 2]);
        assert_ne!(dot(one, &row, &column).bits, u64::from(1f32.to_bits()));
        assert_eq!(chain(one, [half, half].into_iter()).map(|s| s.bits), Some(1f32.to_bits().into()));
        // A number that is not exact leaves the sum to the bounds of any order.
        let near = Factor { error: 1.0, ..factor(1.0) };
        assert_eq!(chain(one, [(near, near)].into_iter()), None);
    }

    #[test]
    fn sums_below_the_subnormal_numbers_promise_no_sign_of_zero() {
        assert_eq!(cancelled(power(-149)).certainty, Certainty::Exact);
        assert!(matches!(cancelled(power(-150)).certainty, Certainty::Near(_)));
        assert!(matches!(cancelled(power(-254)).certainty, Certainty::Near(_)));
    }
}
