//! Reductions, scans and dots.

use super::{Generator, Need, Traits};
use tile_interp::format::{self, Real, Round, encode};
use tile_interp::program::{FloatMode, OpKind, Overflow, Predicate, Signedness, Value};
use tile_interp::types::{Element, Number, TileType, Type};

impl Generator {
    /// A shape with a dimension to combine along.
    fn long_shape(&mut self) -> (Vec<usize>, usize) {
        let mut shape = self.shape();
        if shape.is_empty() {
            shape = vec![1 << self.rng.below(9)];
        }
        let dim = self.rng.below(shape.len());
        (shape, dim)
    }

    pub(super) fn aggregate(&mut self) {
        let (shape, dim) = self.long_shape();
        let scan = self.rng.coin();
        match self.rng.below(5) {
            0 | 1 => self.aggregate_integers(&shape, dim, scan),
            2 | 3 => self.aggregate_floats(&shape, dim, scan),
            _ if scan => self.recurrence(&shape, dim),
            _ => self.arg_extremum(&shape, dim),
        }
    }

    /// The op around a body that combines pairs of arguments into one value for each operand.
    pub(super) fn combine(
        &mut self,
        operands: &[Value],
        dim: usize,
        scan: bool,
        identities: Vec<u64>,
        traits: Traits,
        body: impl FnOnce(&mut Self, &[(Value, Value)]) -> Vec<Value>,
    ) {
        let mut arguments = vec![];
        let mut results = vec![];
        let mut pairs = vec![];
        for v in operands {
            let t = self.ty(*v);
            let scalar = TileType::new(&[], t.element);
            let pair =
                (self.value(scalar.clone().into(), Traits::default()), self.value(scalar.into(), Traits::default()));
            arguments.extend([pair.0, pair.1]);
            pairs.push(pair);
            let mut shape = t.shape.clone();
            if !scan {
                shape.remove(dim);
            }
            results.push((Type::Tile(TileType::new(&shape, t.element)), traits));
        }
        let block = self.block(arguments, |g| {
            let out = body(g, &pairs);
            g.end(OpKind::Yield, &out);
        });
        let reverse = self.rng.coin();
        let kind = if scan { OpKind::Scan { dim, reverse, identities } } else { OpKind::Reduce { dim, identities } };
        self.emit_all(kind, operands, &results, vec![block]);
    }

    fn aggregate_integers(&mut self, shape: &[usize], dim: usize, scan: bool) {
        let n = self.rng.pick(&[Number::I32, Number::I32, Number::I64, Number::I16, Number::I8, Number::I1]);
        let t = TileType::of(shape, n);
        let scalar = TileType::scalar(n);
        let both = self.rng.one_in(4);
        let mut operands = vec![];
        let mut kinds = vec![];
        let mut identities = vec![];
        for _ in 0..if both { 2 } else { 1 } {
            operands.push(self.operand(&t, Need::Exact));
            let (low, high) = (1u64 << (n.width() - 1), n.mask() >> 1);
            let (kind, identity) = match self.rng.below(9) {
                0 | 1 => (OpKind::AddI(Overflow::default()), 0),
                2 => (OpKind::MulI(Overflow::default()), 1),
                3 => (OpKind::AndI, n.mask()),
                4 => (OpKind::OrI, 0),
                5 => (OpKind::XorI, 0),
                6 => (OpKind::MaxI(Signedness::Signed), low),
                7 => (OpKind::MinI(Signedness::Signed), high),
                _ => (OpKind::MinI(Signedness::Unsigned), n.mask()),
            };
            kinds.push(kind);
            identities.push(identity);
        }
        self.combine(&operands, dim, scan, identities, Traits::default(), |g, pairs| {
            pairs.iter().zip(kinds).map(|((a, b), kind)| g.derive(kind, &[*a, *b], scalar.clone())).collect()
        });
    }

    fn aggregate_floats(&mut self, shape: &[usize], dim: usize, scan: bool) {
        let n = self.float();
        let t = TileType::of(shape, n);
        let Some(f) = format::format(n) else { return };
        let infinity = f.largest() + 1;
        let one = encode(Real::from_f64(1.0), n, Round::NearestEven).bits;
        let plain = FloatMode::default();
        let sum = self.rng.coin();
        let need = if sum { Need::Small } else { Need::Exact };
        let (kind, identity, approximate) = match self.rng.below(4) {
            _ if sum => (OpKind::AddF(plain), 0, false),
            0 => (OpKind::MaxF { propagate_nan: self.rng.coin(), flush: false }, infinity | f.sign_bit(), false),
            1 => (OpKind::MinF { propagate_nan: self.rng.coin(), flush: false }, infinity, false),
            2 => (OpKind::MulF(plain), one, true),
            _ => (OpKind::AddF(plain), f.sign_bit(), true),
        };
        let v = self.operand(&t, need);
        let scalar = TileType::scalar(n);
        self.combine(&[v], dim, scan, vec![identity], Traits { approximate, small: false }, |g, pairs| {
            let (a, b) = pairs[0];
            let (a, b) = if g.rng.coin() { (a, b) } else { (b, a) };
            vec![g.derive(kind, &[a, b], scalar)]
        });
    }

    /// The maximum element and the first index at which it occurs.
    fn arg_extremum(&mut self, shape: &[usize], dim: usize) {
        let n = self.rng.pick(&[Number::I32, Number::I16, Number::I64]);
        let t = TileType::of(shape, n);
        let v = self.operand(&t, Need::Exact);
        let at = self.indices(shape, Number::I32);
        let identities = vec![1u64 << (n.width() - 1), 0x7fff_ffff];
        let (scalar, index, i1) = (TileType::scalar(n), TileType::scalar(Number::I32), TileType::scalar(Number::I1));
        let compare = |predicate| OpKind::CmpI { predicate, signedness: Signedness::Signed };
        self.combine(&[v, at], dim, false, identities, Traits::default(), |g, pairs| {
            let ((a, b), (i, j)) = (pairs[0], pairs[1]);
            let greater = g.derive(compare(Predicate::GreaterThan), &[a, b], i1.clone());
            let equal = g.derive(compare(Predicate::Equal), &[a, b], i1.clone());
            let before = g.derive(compare(Predicate::LessThan), &[i, j], i1.clone());
            let first = g.derive(OpKind::AndI, &[equal, before], i1.clone());
            let take = g.derive(OpKind::OrI, &[greater, first], i1);
            let value = g.derive(OpKind::Select, &[take, a, b], scalar);
            vec![value, g.derive(OpKind::Select, &[take, i, j], index)]
        });
    }

    /// `h[t] = a[t] * h[t - 1] + b[t]`, as a scan over pairs: associative and not commutative.
    fn recurrence(&mut self, shape: &[usize], dim: usize) {
        let n = self.rng.pick(&[Number::I32, Number::I64, Number::I16]);
        let t = TileType::of(shape, n);
        let (a, b) = (self.operand(&t, Need::Exact), self.operand(&t, Need::Exact));
        let scalar = TileType::scalar(n);
        let (add, mul) = (OpKind::AddI(Overflow::default()), OpKind::MulI(Overflow::default()));
        self.combine(&[a, b], dim, true, vec![1, 0], Traits::default(), |g, pairs| {
            let ((a1, a2), (b1, b2)) = (pairs[0], pairs[1]);
            let a = g.derive(mul.clone(), &[a1, a2], scalar.clone());
            let scaled = g.derive(mul, &[b1, a2], scalar.clone());
            vec![a, g.derive(add, &[scaled, b2], scalar)]
        });
    }

    //===-- matrices --------------------------------------------------------//

    pub(super) fn dot(&mut self) {
        let extent = |g: &mut Self| g.rng.pick(&[16usize, 16, 32, 64]);
        let (m, n, k) = (extent(self), extent(self), extent(self));
        let batch = self.rng.one_in(4).then(|| self.rng.pick(&[1usize, 2]));
        let shape = |x: usize, y: usize| batch.into_iter().chain([x, y]).collect::<Vec<_>>();
        match self.rng.below(5) {
            0 => {
                let lhs = self.operand(&TileType::of(&shape(m, k), Number::I8), Need::Exact);
                let rhs = self.operand(&TileType::of(&shape(k, n), Number::I8), Need::Exact);
                let t = TileType::of(&shape(m, n), Number::I32);
                let acc = self.operand(&t, Need::Exact);
                let sign = |g: &mut Self| g.rng.pick(&[Signedness::Signed, Signedness::Unsigned]);
                let kind = OpKind::MmaI { lhs: sign(self), rhs: sign(self) };
                self.derive(kind, &[lhs, rhs, acc], t);
            }
            1 => self.scaled_dot(batch, m, n),
            _ => {
                let from = self.rng.pick(&[
                    Number::F16,
                    Number::F16,
                    Number::Bf16,
                    Number::Tf32,
                    Number::F32,
                    Number::F64,
                    Number::E4m3,
                    Number::E5m2,
                ]);
                let to = match from {
                    Number::F64 => Number::F64,
                    Number::F16 | Number::E4m3 | Number::E5m2 => self.rng.pick(&[Number::F16, Number::F32]),
                    _ => Number::F32,
                };
                // With small numbers, sums are exact in any order.
                let need = if self.rng.one_in(4) { Need::Exact } else { Need::Small };
                let lhs = self.operand(&TileType::of(&shape(m, k), from), need);
                let rhs = self.operand(&TileType::of(&shape(k, n), from), need);
                let t = TileType::of(&shape(m, n), to);
                let acc = self.operand(&t, need);
                let fast_acc = self.rng.one_in(6);
                let approximate = need == Need::Exact || fast_acc;
                self.emit(OpKind::MmaF { fast_acc }, &[lhs, rhs, acc], t, Traits { approximate, small: false });
            }
        }
    }

    fn scaled_dot(&mut self, batch: Option<usize>, m: usize, n: usize) {
        let shape = |x: usize, y: usize| batch.into_iter().chain([x, y]).collect::<Vec<_>>();
        let k = self.rng.pick(&[32usize, 64]);
        let (from, scale, block) = match self.rng.below(5) {
            0 => (Number::E2m1, Number::E4m3, 16),
            1 => (Number::E2m1, Number::E8m0, self.rng.pick(&[16, 32])),
            2 => (Number::E2m1, Number::E5m3, self.rng.pick(&[16, 32])),
            3 => (Number::E4m3, Number::E8m0, 32),
            _ => (Number::E5m2, Number::E8m0, 32),
        };
        let lhs = self.operand(&TileType::of(&shape(m, k), from), Need::Small);
        let rhs = self.operand(&TileType::of(&shape(k, n), from), Need::Small);
        let t = TileType::of(&shape(m, n), Number::F32);
        let acc = self.operand(&t, Need::Small);
        let mut scales = vec![];
        for s in [shape(m, k / block), shape(k / block, n)] {
            let mut t = TileType::of(&s, scale);
            if scale == Number::E4m3 {
                // Scales must not be negative.
                t = t.with(Element::Number(Number::F32));
                let v = self.load_input(&t, true);
                let v = self.rearrange(OpKind::AbsF, &[v], t.clone());
                let rounding = tile_interp::program::Rounding::NearestEven;
                scales.push(self.rearrange(OpKind::FToF { rounding }, &[v], t.with(Element::Number(scale))));
            } else {
                scales.push(self.operand(&t, Need::Small));
            }
        }
        let traits = Traits::default();
        self.emit(OpKind::MmaFScaled, &[lhs, rhs, acc, scales[0], scales[1]], t, traits);
    }
}
