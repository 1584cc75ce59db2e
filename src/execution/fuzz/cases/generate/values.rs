//! New values: constants, input data, indices.

use super::{Generator, Input, Need, Traits};
use crate::case::Parameter;
use tile_interp::format::{self, Real, Round, encode};
use tile_interp::program::{OpKind, Overflow, Signedness, Value};
use tile_interp::types::{Element, Number, TileType};

impl Generator {
    /// The bits of a random number.
    pub(super) fn bits(&mut self, n: Number, small: bool) -> u64 {
        if small {
            let v = self.rng.range(-8, 8);
            return match n {
                Number::I1 => self.rng.bits() & 1,
                Number::E8m0 => self.rng.range(124, 130) as u64,
                Number::E5m3 => encode(Real::from_f64(v.unsigned_abs() as f64), n, Round::NearestEven).bits,
                _ if n.is_integer() => v as u64 & n.mask(),
                _ => {
                    // E2m1 cannot represent 5, 7 and 8.
                    let v = if n == Number::E2m1 { v.clamp(-4, 4) } else { v };
                    encode(Real::from_f64(v as f64), n, Round::NearestEven).bits
                }
            };
        }
        let Some(f) = format::format(n) else {
            if n == Number::E8m0 {
                return self.rng.bits() & 0xff;
            }
            let top = 1u64 << (n.width() - 1);
            let v = match self.rng.below(6) {
                0 => self.rng.pick(&[0, 1, u64::MAX, top, top - 1, top + 1]),
                1 => self.rng.bits(),
                _ => self.rng.range(-100, 100) as u64,
            };
            return v & n.mask();
        };
        match self.rng.below(10) {
            0 => {
                let special = [0, 1, f.largest(), f.largest() + 1, format::nan(n), 1 << f.mantissa_bits];
                self.rng.pick(&special) & n.mask() | if self.rng.coin() { f.sign_bit() } else { 0 }
            }
            1 => self.rng.bits() & n.mask(),
            2 => self.bits(n, true),
            _ => {
                // A magnitude around one.
                let exponent = self.rng.range(-4, 6);
                let mantissa = 1.0 + (self.rng.bits() >> 12) as f64 * 2f64.powi(-52);
                let sign = if self.rng.coin() { -1.0 } else { 1.0 };
                encode(Real::from_f64(sign * mantissa * 2f64.powi(exponent as i32)), n, Round::NearestEven).bits
            }
        }
    }

    /// The contents of memory with `count` numbers.
    pub(super) fn data(&mut self, n: Number, count: usize, small: bool) -> Vec<u8> {
        let size = n.stored_bits() as usize / 8;
        let mut bytes = vec![];
        for _ in 0..count {
            let bits = self.bits(n, small);
            let word = if n == Number::Tf32 { bits << 13 } else { bits };
            bytes.extend(&word.to_le_bytes()[..size]);
        }
        bytes
    }

    pub(super) fn constant(&mut self, t: &TileType, small: bool) -> Value {
        let Element::Number(n) = t.element else { return self.block_id };
        let count = if self.rng.one_in(3) && t.count() <= 64 { t.count() } else { 1 };
        let mut bits = vec![];
        for _ in 0..count {
            bits.push(self.bits(n, small));
        }
        self.emit(OpKind::Constant(bits.into()), &[], t.clone(), Traits { approximate: false, small })
    }

    /// A constant scalar.
    pub(super) fn scalar(&mut self, n: Number, bits: u64) -> Value {
        self.constant_of(&TileType::scalar(n), bits)
    }

    /// A constant with equal elements.
    pub(super) fn constant_of(&mut self, t: &TileType, bits: u64) -> Value {
        let bits = bits & t.element.number().map_or(u64::MAX, Number::mask);
        self.emit(OpKind::Constant([bits].into()), &[], t.clone(), Traits::default())
    }

    /// A scalar parameter with this argument, which the compiler does not know.
    pub(super) fn argument(&mut self, n: Number, bits: u64) -> Value {
        self.parameter(TileType::scalar(n), Parameter::Scalar { number: n, bits }, Traits::default())
    }

    /// A new value of a number type.
    pub(super) fn fresh(&mut self, t: &TileType, need: Need) -> Value {
        let Element::Number(n) = t.element else { return self.block_id };
        let small = need == Need::Small || self.rng.one_in(4);
        if matches!(n, Number::I4 | Number::E2m1) {
            return self.narrow(t, small);
        }
        match self.rng.below(8) {
            0..2 => self.constant(t, small),
            2 if n.is_integer() && need != Need::Small && t.count() as u64 - 1 <= n.mask() => self.indices(&t.shape, n),
            3 if !t.shape.is_empty() => {
                let scalar = self.operand(&TileType::scalar(n), if small { Need::Small } else { Need::Exact });
                self.splat(scalar, &t.shape)
            }
            _ => self.load_input(t, small),
        }
    }

    /// A tile of 4-bit elements, which cannot be constants or be loaded individually.
    fn narrow(&mut self, t: &TileType, small: bool) -> Value {
        let traits = Traits { approximate: false, small };
        if t.element == Element::Number(Number::I4) {
            let wide = self.load_input(&t.with(Element::Number(Number::I8)), small);
            return self.emit(OpKind::TruncI(Overflow::default()), &[wide], t.clone(), traits);
        }
        let wide = self.load_input(&t.with(Element::Number(Number::F32)), small);
        let rounding = tile_interp::program::Rounding::NearestEven;
        self.emit(OpKind::FToF { rounding }, &[wide], t.clone(), traits)
    }

    /// A tile that repeats a scalar.
    pub(super) fn splat(&mut self, scalar: Value, shape: &[usize]) -> Value {
        let element = self.ty(scalar).element;
        if shape.is_empty() {
            return scalar;
        }
        let ones = TileType::new(&vec![1; shape.len()], element);
        let v = self.rearrange(OpKind::Reshape, &[scalar], ones.clone());
        if ones.shape == shape { v } else { self.rearrange(OpKind::Broadcast, &[v], TileType::new(shape, element)) }
    }

    /// The index of each element.
    pub(super) fn indices(&mut self, shape: &[usize], n: Number) -> Value {
        let count = shape.iter().product();
        let line = self.emit(OpKind::Iota, &[], TileType::of(&[count], n), Traits::default());
        if shape.len() == 1 { line } else { self.rearrange(OpKind::Reshape, &[line], TileType::of(shape, n)) }
    }

    /// Indices below `count`, a power of two. Each occurs at most once if there are enough of them.
    pub(super) fn spread(&mut self, shape: &[usize], count: usize) -> Value {
        let t = TileType::of(shape, Number::I32);
        let mut v = self.indices(shape, Number::I32);
        if self.rng.coin() {
            return v;
        }
        let odd = self.rng.pick(&[1, 3, 5, 7]);
        let (odd, shift) = (self.constant_of(&t, odd), self.rng.below(count));
        v = self.derive(OpKind::MulI(Overflow::default()), &[v, odd], t.clone());
        let flip = self.constant_of(&t, shift as u64);
        v = self.derive(OpKind::XorI, &[v, flip], t.clone());
        let mask = self.constant_of(&t, count as u64 - 1);
        self.derive(OpKind::AndI, &[v, mask], t)
    }

    /// The same integers in another width.
    pub(super) fn widened(&mut self, v: Value) -> Value {
        let t = self.ty(v);
        if self.rng.coin() {
            return v;
        }
        self.derive(OpKind::ExtI(Signedness::Signed), &[v], t.with(Element::Number(Number::I64)))
    }

    /// A read-only buffer with at least `count` numbers.
    pub(super) fn input(&mut self, n: Number, count: usize, small: bool) -> (Value, usize) {
        let fits = |i: &&Input| i.number == n && i.small == small && i.count >= count && i.count <= 4 * count;
        if let Some(i) = self.inputs.iter().find(fits) {
            return (i.pointer, i.count);
        }
        let bytes = self.data(n, count, small);
        let pointer = TileType::new(&[], Element::Pointer(n));
        let pointer = self.parameter(pointer, Parameter::Buffer { number: n, bytes }, Traits::default());
        self.inputs.push(Input { pointer, number: n, count, small });
        (pointer, count)
    }
}
