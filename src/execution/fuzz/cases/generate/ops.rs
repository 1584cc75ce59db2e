//! Elementwise ops, conversions, shape ops, assumptions, assertions and prints.

use super::{FLOATS, Generator, INTEGERS, Need, STORAGE, Traits};
use tile_interp::program::{FloatMode, OpKind, Overflow, Predicate, Promise, Rounding, Signedness, Value};
use tile_interp::types::{Element, Number, Shape, TileType};

impl Generator {
    fn signedness(&mut self) -> Signedness {
        self.rng.pick(&[Signedness::Signed, Signedness::Unsigned])
    }

    fn overflow(&mut self) -> Overflow {
        if self.rng.one_in(4) {
            Overflow { no_signed_wrap: self.rng.coin(), no_unsigned_wrap: self.rng.coin() }
        } else {
            Overflow::default()
        }
    }

    fn mode(&mut self, n: Number) -> FloatMode {
        let modes = [
            Rounding::NearestEven,
            Rounding::NearestEven,
            Rounding::NearestEven,
            Rounding::Zero,
            Rounding::NegativeInf,
            Rounding::PositiveInf,
        ];
        FloatMode { rounding: self.rng.pick(&modes), flush: n == Number::F32 && self.rng.one_in(4) }
    }

    /// A type that is in use, or a random one.
    fn tile_of(&mut self, numbers: &[Number]) -> TileType {
        let found = self.find(Need::Any, |t| t.element.number().is_some_and(|n| numbers.contains(&n)));
        match found {
            Some(v) if !self.rng.one_in(3) => self.ty(v),
            _ => {
                let shape = self.shape();
                TileType::of(&shape, self.rng.pick(numbers))
            }
        }
    }

    pub(super) fn float_op(&mut self) {
        let t = self.tile_of(&FLOATS);
        let Some(n) = t.element.number() else { return };
        let mode = self.mode(n);
        let f32 = n == Number::F32;
        let exact = Traits::default();
        let approximate = Traits { approximate: true, small: false };
        let choice = self.rng.below(22);
        // Ops that propagate approximate operands.
        let pick = |g: &mut Self| g.operand(&t, Need::Any);
        match choice {
            0..8 => {
                let (a, b) = (pick(self), pick(self));
                let kind = match choice {
                    0..2 => OpKind::AddF(mode),
                    2 => OpKind::SubF(mode),
                    3..5 => OpKind::MulF(mode),
                    5 => OpKind::MaxF { propagate_nan: self.rng.coin(), flush: mode.flush },
                    6 => OpKind::MinF { propagate_nan: self.rng.coin(), flush: mode.flush },
                    _ => {
                        let c = pick(self);
                        self.derive(OpKind::Fma(mode), &[a, b, c], t);
                        return;
                    }
                };
                self.derive(kind, &[a, b], t);
                return;
            }
            8 | 9 => {
                let a = pick(self);
                let kind = if choice == 8 { OpKind::NegF } else { OpKind::AbsF };
                self.rearrange(kind, &[a], t);
                return;
            }
            _ => {}
        }
        let a = self.operand(&t, Need::Exact);
        match choice {
            10 => {
                let kind = if self.rng.coin() { OpKind::Ceil } else { OpKind::Floor };
                self.emit(kind, &[a], t, exact);
            }
            11 | 12 => {
                let b = self.operand(&t, Need::Exact);
                let is_fast = f32 && self.rng.one_in(3);
                let rounding = if is_fast { self.rng.pick(&[Rounding::Approx, Rounding::Full]) } else { mode.rounding };
                let kind = OpKind::DivF(FloatMode { rounding, ..mode });
                self.emit(kind, &[a, b], t, if is_fast { approximate } else { exact });
            }
            13 => {
                let is_fast = f32 && self.rng.one_in(3);
                let rounding = if is_fast { Rounding::Approx } else { mode.rounding };
                let kind = OpKind::Sqrt(FloatMode { rounding, ..mode });
                self.emit(kind, &[a], t, if is_fast { approximate } else { exact });
            }
            14 => {
                let b = self.operand(&t, Need::Exact);
                self.emit(OpKind::RemF, &[a, b], t, exact);
            }
            15 if self.rng.one_in(3) => {
                let exponent = self.rng.pick(&[Number::I1, Number::I8, Number::I16, Number::I32]);
                let b = self.operand(&t.with(Element::Number(exponent)), Need::Exact);
                self.emit(OpKind::PowI { exponent }, &[a, b], t, approximate);
            }
            15 => {
                let b = self.operand(&t, Need::Exact);
                let kind = if self.rng.coin() { OpKind::Pow } else { OpKind::Atan2 };
                self.emit(kind, &[a, b], t, approximate);
            }
            _ => {
                let rounding = if f32 && self.rng.one_in(3) { Rounding::Approx } else { Rounding::Full };
                let kinds = [
                    OpKind::Exp { rounding },
                    OpKind::Tanh { rounding },
                    OpKind::Exp2 { flush: mode.flush },
                    OpKind::Rsqrt { flush: mode.flush },
                    OpKind::Log,
                    OpKind::Log2,
                    OpKind::Sin,
                    OpKind::Cos,
                    OpKind::Tan,
                    OpKind::Sinh,
                    OpKind::Cosh,
                ];
                let kind = kinds[self.rng.below(kinds.len())].clone();
                self.emit(kind, &[a], t, approximate);
            }
        }
    }

    /// An integer tile without zeros, positive if `signed`.
    fn divisor(&mut self, t: &TileType, signed: bool) -> Value {
        let n = t.element.number().unwrap_or(Number::I32);
        let mut v = self.operand(t, Need::Exact);
        if signed {
            let mask = self.constant_of(t, n.mask() >> 1);
            v = self.derive(OpKind::AndI, &[v, mask], t.clone());
        }
        let one = self.constant_of(t, 1);
        self.derive(OpKind::OrI, &[v, one], t.clone())
    }

    pub(super) fn integer_op(&mut self) {
        let t = self.tile_of(&INTEGERS);
        let (sign, overflow) = (self.signedness(), self.overflow());
        let a = self.operand(&t, Need::Exact);
        let one_bit = t.element == Element::Number(Number::I1);
        let kind = match self.rng.below(18) {
            0 => OpKind::AbsI,
            1 => OpKind::NegI(Overflow {
                no_unsigned_wrap: overflow.no_signed_wrap && overflow.no_unsigned_wrap,
                ..overflow
            }),
            2 | 3 => OpKind::AddI(overflow),
            4 => OpKind::SubI(overflow),
            5 | 6 => OpKind::MulI(overflow),
            7 => OpKind::ShlI(overflow),
            8 => OpKind::ShrI(sign),
            9 => OpKind::MulhiI,
            10 => OpKind::AndI,
            11 => OpKind::OrI,
            12 => OpKind::XorI,
            13 => OpKind::MaxI(sign),
            14 => OpKind::MinI(sign),
            15 | 16 => {
                let signed = sign == Signedness::Signed;
                let rounding = match self.rng.below(3) {
                    0 => Rounding::PositiveInf,
                    1 if signed => Rounding::NegativeInf,
                    _ => Rounding::Zero,
                };
                // The only odd signed number of one bit is -1, the lowest one.
                if one_bit && signed {
                    return;
                }
                let b = self.divisor(&t, signed);
                self.derive(OpKind::DivI { signedness: sign, rounding }, &[a, b], t);
                return;
            }
            _ => {
                let b = self.divisor(&t, false);
                self.derive(OpKind::RemI(sign), &[a, b], t);
                return;
            }
        };
        if matches!(kind, OpKind::AbsI | OpKind::NegI(_)) {
            self.derive(kind, &[a], t);
            return;
        }
        let mut b = self.operand(&t, Need::Exact);
        if matches!(kind, OpKind::ShlI(_) | OpKind::ShrI(_)) && !self.rng.one_in(4) {
            // Mostly shift by less than the width.
            let n = t.element.number().unwrap_or(Number::I32);
            let mask = self.constant_of(&t, u64::from(n.width() - 1));
            b = self.derive(OpKind::AndI, &[b, mask], t.clone());
        }
        self.derive(kind, &[a, b], t);
    }

    fn predicate(&mut self) -> Predicate {
        self.rng.pick(&Predicate::ALL)
    }

    pub(super) fn comparison(&mut self) {
        let predicate = self.predicate();
        let condition = if self.rng.coin() {
            let t = self.tile_of(&FLOATS);
            let (a, b) = (self.operand(&t, Need::Exact), self.operand(&t, Need::Exact));
            let kind = OpKind::CmpF { predicate, ordered: self.rng.coin() };
            self.derive(kind, &[a, b], t.with(Element::Number(Number::I1)))
        } else {
            let t = self.tile_of(&INTEGERS);
            let (a, b) = (self.operand(&t, Need::Exact), self.operand(&t, Need::Exact));
            let kind = OpKind::CmpI { predicate, signedness: self.signedness() };
            self.derive(kind, &[a, b], t.with(Element::Number(Number::I1)))
        };
        if self.rng.coin() {
            return;
        }
        let shape = self.ty(condition).shape;
        let numbers: Vec<Number> = FLOATS.into_iter().chain(INTEGERS).chain(STORAGE).collect();
        let t = TileType::of(&shape, self.rng.pick(&numbers));
        let (a, b) = (self.operand(&t, Need::Any), self.operand(&t, Need::Any));
        let traits = [a, b].map(|v| self.traits[v.index()]);
        let traits =
            Traits { approximate: traits.iter().any(|t| t.approximate), small: traits.iter().all(|t| t.small) };
        self.emit(OpKind::Select, &[condition, a, b], t, traits);
    }

    pub(super) fn conversion(&mut self) {
        match self.rng.below(12) {
            0..2 => {
                let t = self.tile_of(&INTEGERS);
                let from = t.element.number().unwrap_or(Number::I32);
                let others: Vec<Number> = [Number::I1, Number::I4, Number::I8, Number::I16, Number::I32, Number::I64]
                    .into_iter()
                    .filter(|n| n.width() != from.width())
                    .collect();
                let to = self.rng.pick(&others);
                let wider = to.width() > from.width();
                let kind = if wider { OpKind::ExtI(self.signedness()) } else { OpKind::TruncI(self.overflow()) };
                let a = self.operand(&t, Need::Exact);
                let narrow = self.derive(kind, &[a], t.with(Element::Number(to)));
                if to == Number::I4 {
                    let kind = OpKind::ExtI(self.signedness());
                    self.derive(kind, &[narrow], t.with(Element::Number(Number::I8)));
                }
            }
            2..6 => {
                let all: Vec<Number> = FLOATS.into_iter().chain(STORAGE).chain([Number::E2m1]).collect();
                let t = self.tile_of(&all);
                let from = t.element.number().unwrap_or(Number::F32);
                let to = self.rng.pick(&all);
                // Tiles of e2m1 have an even extent.
                let odd = t.shape.iter().all(|d| *d == 1);
                if from == to || (odd && (from == Number::E2m1 || to == Number::E2m1)) {
                    return;
                }
                let modes = conversion_modes(from, to);
                // Use the common mode in most programs.
                let rounding = if modes[0] == Rounding::NearestEven && self.rng.coin() {
                    Rounding::NearestEven
                } else {
                    self.rng.pick(modes)
                };
                let a =
                    self.operand(&t, if matches!(to, Number::E8m0 | Number::E5m3) { Need::Exact } else { Need::Any });
                let v = self.derive(OpKind::FToF { rounding }, &[a], t.with(Element::Number(to)));
                if to == Number::E2m1 {
                    self.derive(OpKind::FToF { rounding }, &[v], t.with(Element::Number(Number::F16)));
                }
            }
            6..8 => {
                let all: Vec<Number> = FLOATS.into_iter().chain(STORAGE).collect();
                let t = self.tile_of(&all);
                let to = self.integer();
                let need = if self.rng.coin() { Need::Small } else { Need::Exact };
                let a = self.operand(&t, need);
                let saturating = self.rng.one_in(4);
                let kind = OpKind::FToI { signedness: self.signedness(), saturating };
                // A value out of range may be converted to anything.
                let approximate = !saturating && !self.traits[a.index()].small;
                self.emit(kind, &[a], t.with(Element::Number(to)), Traits { approximate, small: false });
            }
            8..10 => {
                let t = self.tile_of(&INTEGERS);
                let targets = [
                    Number::F32,
                    Number::F16,
                    Number::Bf16,
                    Number::F64,
                    Number::Tf32,
                    Number::E4m3,
                    Number::E5m2,
                    Number::E5m3,
                ];
                let to = self.rng.pick(&targets);
                let a = self.operand(&t, Need::Exact);
                let kind = OpKind::IToF(self.signedness());
                let small = self.traits[a.index()].small && kind == OpKind::IToF(Signedness::Signed);
                self.emit(kind, &[a], t.with(Element::Number(to)), Traits { approximate: false, small });
            }
            10 => {
                let classes: [&[Number]; 4] = [
                    &[Number::I8, Number::E4m3, Number::E5m2, Number::E5m3, Number::E8m0],
                    &[Number::I16, Number::F16, Number::Bf16],
                    &[Number::I32, Number::F32],
                    &[Number::I64, Number::F64],
                ];
                let class = classes[self.rng.below(4)];
                let (from, to) = (self.rng.pick(class), self.rng.pick(class));
                let t = self.tile_of(&[from]);
                let a = self.operand(&t, Need::Exact);
                self.derive(OpKind::Bitcast, &[a], t.with(Element::Number(to)));
            }
            _ => self.repack(),
        }
    }

    /// Packs elements of one width into bytes and unpacks them as elements of another.
    fn repack(&mut self) {
        let widths = [
            Number::I1,
            Number::I4,
            Number::I16,
            Number::I32,
            Number::I64,
            Number::F16,
            Number::F32,
            Number::Tf32,
            Number::E2m1,
        ];
        let (from, to) = (self.rng.pick(&widths), self.rng.pick(&widths));
        let bits = |n: Number| n.packed_width() as usize;
        let bytes = self.rng.pick(&[8usize, 32, 128]);
        let count = bytes * 8 / bits(from);
        let t = TileType::of(&[count], from);
        let a = self.operand(&t, Need::Exact);
        let packed = self.derive(OpKind::Pack, &[a], TileType::of(&[bytes], Number::I8));
        let out = self.derive(OpKind::Unpack, &[packed], TileType::of(&[bytes * 8 / bits(to)], to));
        if to == Number::I4 {
            let t = TileType::of(&[bytes * 2], Number::I8);
            self.derive(OpKind::ExtI(Signedness::Signed), &[out], t);
        }
    }

    fn any_tile(&mut self) -> Value {
        let numbers: Vec<Number> = FLOATS.into_iter().chain(INTEGERS).chain(STORAGE).collect();
        let t = self.tile_of(&numbers);
        self.operand(&t, Need::Any)
    }

    pub(super) fn shape_op(&mut self) {
        let v = self.any_tile();
        let TileType { shape, element } = self.ty(v);
        let count: usize = shape.iter().product();
        match self.rng.below(7) {
            0 => {
                // The same number of elements in a shape with other extents.
                let bits = count.ilog2() as usize;
                let rank = 1 + self.rng.below(3);
                let mut left = bits;
                let mut new: Shape = (1..rank)
                    .map(|_| {
                        let b = self.rng.below(left + 1);
                        left -= b;
                        1 << b
                    })
                    .collect();
                new.push(1 << left);
                if count == 1 && self.rng.coin() {
                    new.clear();
                }
                let v = self.rearrange(OpKind::Reshape, &[v], TileType::new(&new, element));
                self.shapes.push(self.ty(v).shape);
            }
            1 | 2 if shape.len() >= 2 => {
                let mut permutation: Vec<usize> = (0..shape.len()).collect();
                for i in (1..shape.len()).rev() {
                    permutation.swap(i, self.rng.below(i + 1));
                }
                let new: Shape = permutation.iter().map(|p| shape[*p]).collect();
                self.rearrange(OpKind::Permute(permutation), &[v], TileType::new(&new, element));
            }
            3 if !shape.is_empty() && count <= 1024 => {
                let dim = self.rng.below(shape.len());
                let mut new = shape.clone();
                new[dim] *= 2;
                let w = self.operand(&TileType::new(&shape, element), Need::Any);
                self.rearrange(OpKind::Cat { dim }, &[v, w], TileType::new(&new, element));
            }
            4 if !shape.is_empty() => {
                let mut new = shape.clone();
                let mut indices = vec![];
                for d in &mut new {
                    let slices = 1usize << self.rng.below(d.ilog2() as usize + 1);
                    *d /= slices;
                    // A known or an unknown index.
                    let slice = self.rng.below(slices) as u64;
                    indices.push(if self.rng.one_in(3) {
                        self.argument(Number::I32, slice)
                    } else {
                        self.scalar(Number::I32, slice)
                    });
                }
                let part = TileType::new(&new, element);
                let whole = self.traits[v.index()];
                if self.rng.coin() {
                    let w = self.operand(&part, Need::Any);
                    let put = self.traits[w.index()];
                    let traits =
                        Traits { approximate: whole.approximate || put.approximate, small: whole.small && put.small };
                    let operands: Vec<Value> = [w, v].into_iter().chain(indices).collect();
                    self.emit(OpKind::Insert, &operands, TileType::new(&shape, element), traits);
                } else {
                    let operands: Vec<Value> = [v].into_iter().chain(indices).collect();
                    self.emit(OpKind::Extract, &operands, part, whole);
                }
            }
            5 if shape.contains(&1) => {
                let mut new = shape.clone();
                for d in &mut new {
                    if *d == 1 && self.rng.coin() {
                        *d = 1 << self.rng.below(5);
                    }
                }
                if new.iter().product::<usize>() <= 4096 {
                    self.rearrange(OpKind::Broadcast, &[v], TileType::new(&new, element));
                }
            }
            6 if shape.is_empty() => {
                let new = self.shape();
                self.splat(v, &new);
            }
            _ => {
                let new = self.shape();
                if !new.is_empty() {
                    self.indices(&new, Number::I32);
                }
            }
        }
    }

    /// Promises and assertions that hold, and prints.
    pub(super) fn remark(&mut self) {
        match self.rng.below(5) {
            0 => {
                let t = self.tile_of(&[Number::I32, Number::I64, Number::I16]);
                let a = self.operand(&t, Need::Exact);
                let high = (1u64 << self.rng.range(1, 14)) - 1;
                let mask = self.constant_of(&t, high);
                let v = self.derive(OpKind::AndI, &[a, mask], t.clone());
                let promise = Promise::Bounded { low: Some(0), high: self.rng.coin().then_some(high as i64) };
                self.derive(OpKind::Assume(promise), &[v], t);
            }
            1 => {
                let t = self.tile_of(&[Number::I32, Number::I64]);
                let a = self.operand(&t, Need::Exact);
                let by = self.rng.below(6) as u64;
                let amount = self.constant_of(&t, by);
                let v = self.derive(OpKind::ShlI(Overflow::default()), &[a, amount], t.clone());
                self.derive(OpKind::Assume(Promise::DivBy { divisor: 1 << by, groups: None }), &[v], t);
            }
            2 => {
                let n = self.integer();
                let shape = self.shape();
                if shape.is_empty() {
                    return;
                }
                let scalar = self.operand(&TileType::scalar(n), Need::Exact);
                let v = self.splat(scalar, &shape);
                let groups = shape.iter().map(|d| *d as i64).collect();
                self.derive(OpKind::Assume(Promise::SameElements(groups)), &[v], TileType::of(&shape, n));
            }
            3 => {
                let t = self.tile_of(&[Number::I32]);
                let a = self.operand(&t, Need::Exact);
                let one = self.constant_of(&t, 1);
                let bit = self.derive(OpKind::AndI, &[a, one], t.clone());
                let kind = OpKind::CmpI { predicate: Predicate::LessThanOrEqual, signedness: Signedness::Unsigned };
                let holds = self.derive(kind, &[bit, one], t.with(Element::Number(Number::I1)));
                self.end(OpKind::Assert("a bit is at most one".into()), &[holds]);
            }
            _ => {
                let t = TileType::scalar(self.rng.pick(&[Number::I32, Number::I64, Number::I8]));
                let a = self.operand(&t, Need::Exact);
                let format = self.rng.pick(&["value %d\n", "%5d|\n", "%x %%\n", "%u\n"]).to_string();
                self.emit_all(
                    OpKind::Print { format, token: false },
                    &[a],
                    &[(tile_interp::types::Type::Token, Traits::default())],
                    vec![],
                );
            }
        }
    }
}

/// The rounding modes that the language supports for a conversion between floating-point formats.
fn conversion_modes(from: Number, to: Number) -> &'static [Rounding] {
    use Number::{Bf16, E2m1, E4m3, E5m2, E5m3, E8m0, F16, F32, F64, Tf32};
    use Rounding::{NearestAway, NearestEven, NegativeInf, PositiveInf, Zero};
    match (from, to) {
        (_, E8m0) => &[Zero, PositiveInf],
        (_, E4m3 | E5m2 | E5m3 | E2m1) => &[NearestEven],
        (_, F64) => &[NearestEven, Zero, NegativeInf, PositiveInf, NearestAway],
        (F64, F32) => &[NearestEven, Zero, NegativeInf, PositiveInf],
        (F32, Tf32) => &[NearestEven, Zero, NearestAway],
        (F64 | F32 | Tf32 | E8m0, _) if to != F32 => &[NearestEven, Zero],
        (E8m0, _) | (F16, Bf16) | (Bf16, F16) | (E5m3, F16) => &[NearestEven, Zero],
        _ => &[NearestEven, Zero, NegativeInf, PositiveInf, NearestAway],
    }
}
