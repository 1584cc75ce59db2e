//! Builders of `arith` ops, as methods of [`Builder`] with the names of the ops.
//!
//! Operands are scalars or tensors. Results have the type of the operands, and comparisons have `i1` elements in the
//! same shape and layout. The enums of predicates are generated from upstream's TableGen.

use super::{elements, rt::*, types};
use melior::ir::{Attribute, Type};

pub use super::upstream::{FloatPredicate, IntPredicate};

impl IntPredicate {
    /// Returns the predicate of an `arith.cmpi`.
    pub fn of(op: OpRef<'_>) -> Option<Self> {
        attr(op, "predicate").and_then(elements::integer).and_then(Self::from_i64)
    }
    /// Returns the predicate "less than" of a signedness.
    pub fn less(unsigned: bool) -> Self {
        if unsigned { Self::Ult } else { Self::Slt }
    }
    /// Returns the predicate "less than or equal" of a signedness.
    pub fn less_or_equal(unsigned: bool) -> Self {
        if unsigned { Self::Ule } else { Self::Sle }
    }
}

impl FloatPredicate {
    /// Returns the predicate of an `arith.cmpf`.
    pub fn of(op: OpRef<'_>) -> Option<Self> {
        attr(op, "predicate").and_then(elements::integer).and_then(Self::from_i64)
    }
}

macro_rules! binary {
    ($($name:ident)*) => {
        impl<'c> Builder<'c> {$(
            #[doc = concat!("Builds `arith.", stringify!($name), "` of operands of one type.")]
            pub fn $name(&self, x: Val<'c>, y: Val<'c>) -> Val<'c> {
                self.value(concat!("arith.", stringify!($name)), ty(x), &[x, y], &[])
            }
        )*}
    };
}
macro_rules! conversion {
    ($($name:ident)*) => {
        impl<'c> Builder<'c> {$(
            #[doc = concat!("Builds `arith.", stringify!($name), "` from a value to a type.")]
            pub fn $name(&self, v: Val<'c>, to: Type<'c>) -> Val<'c> {
                self.value(concat!("arith.", stringify!($name)), to, &[v], &[])
            }
        )*}
    };
}
binary! { addi andi divui maxsi minsi minui muli ori shli shrsi shrui subi xori addf maxnumf mulf }
conversion! { bitcast extsi extui index_cast index_castui trunci }

impl<'c> Builder<'c> {
    /// Builds the constant `value`, an attribute of type `t`.
    pub fn constant(&self, t: Type<'c>, value: Attribute<'c>) -> Val<'c> {
        self.value("arith.constant", t, &[], &[("value", value)])
    }
    /// Builds a constant of the integer type `t`, or of a tensor of integers whose elements all equal `v`.
    pub fn int_constant(&self, t: Type<'c>, v: i64) -> Val<'c> {
        self.constant(t, elements::filled(t, elements::integer_of(types::element(t), v)))
    }
    /// Builds a constant of the float type `t`, or of a tensor of floats whose elements all equal `v`, rounded.
    pub fn float_constant(&self, t: Type<'c>, v: f64) -> Val<'c> {
        self.constant(t, elements::filled(t, elements::float_of(types::element(t), v)))
    }
    /// Builds an i32 constant.
    pub fn i32_constant(&self, v: i64) -> Val<'c> {
        self.int_constant(types::int(self.context(), 32), v)
    }
    /// Builds an i64 constant.
    pub fn i64_constant(&self, v: i64) -> Val<'c> {
        self.int_constant(types::int(self.context(), 64), v)
    }
    /// Builds an i1 constant.
    pub fn bool_constant(&self, v: bool) -> Val<'c> {
        self.int_constant(types::int(self.context(), 1), v.into())
    }
    /// Builds `arith.cmpi`.
    pub fn cmpi(&self, predicate: IntPredicate, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.comparison("arith.cmpi", predicate as i64, x, y)
    }
    /// Builds `arith.cmpf`.
    pub fn cmpf(&self, predicate: FloatPredicate, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        self.comparison("arith.cmpf", predicate as i64, x, y)
    }
    fn comparison(&self, name: &str, predicate: i64, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        let t = types::with_element(ty(x), types::int(self.context(), 1));
        self.value(name, t, &[x, y], &[("predicate", i64_attr(self.context(), predicate))])
    }
    /// Builds `arith.select`.
    pub fn select(&self, condition: Val<'c>, yes: Val<'c>, no: Val<'c>) -> Val<'c> {
        self.value("arith.select", ty(yes), &[condition, yes, no], &[])
    }
    /// Converts an integer or index to the integer or index type `t`: by extension, truncation or a cast of the index,
    /// or not at all if the width is the same.
    pub fn resized(&self, v: Val<'c>, t: Type<'c>, unsigned: bool) -> Val<'c> {
        let [from, to] = [ty(v), t].map(|t| types::bit_width(types::element(t)));
        match (from, to) {
            _ if from == to => v,
            (Some(from), Some(to)) if from > to => self.trunci(v, t),
            (Some(_), Some(_)) if unsigned => self.extui(v, t),
            (Some(_), Some(_)) => self.extsi(v, t),
            _ if unsigned => self.index_castui(v, t),
            _ => self.index_cast(v, t),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::ir::{BlockLike, Location, Module};

    /// Returns the ops that `build` adds, one a line.
    fn built(build: impl for<'c> Fn(&Builder<'c>)) -> Vec<String> {
        let context = super::super::context();
        let module = Module::new(Location::unknown(&context));
        // SAFETY: the module outlives the handle of its block.
        let body = unsafe { Blk::from_raw(module.body().to_raw()) };
        build(&Builder::at_end(&context, body, Location::unknown(&context)));
        assert!(module.as_operation().verify());
        ops_of(body).map(|op| shown(&op).split(" = ").last().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn integers_are_resized_by_width() {
        let ops = built(|b| {
            let (narrow, wide) = (types::int(b.context(), 16), types::int(b.context(), 64));
            let index = Type::index(b.context());
            let x = b.i32_constant(-1);
            assert_eq!(b.resized(x, ty(x), true), x);
            for (t, unsigned) in [(wide, true), (wide, false), (narrow, true), (index, false), (index, true)] {
                assert_eq!(ty(b.resized(x, t, unsigned)), t);
            }
        });
        let names: Vec<&str> = ops.iter().filter_map(|op| op.split(' ').next()).collect();
        let expected =
            ["constant", "extui", "extsi", "trunci", "index_cast", "index_castui"].map(|n| format!("arith.{n}"));
        assert_eq!(names, expected);
    }

    #[test]
    fn comparisons_keep_the_shape_and_name_their_predicates() {
        let ops = built(|b| {
            let tile = types::tensor(&[4], types::int(b.context(), 8));
            let (x, y) = (b.int_constant(tile, 1), b.int_constant(tile, 2));
            let smaller = b.cmpi(IntPredicate::less(true), x, y);
            let least = b.select(smaller, x, y);
            assert_eq!(ty(least), tile);
            let real = types::tensor(&[4], types::f32(b.context()));
            let z = b.float_constant(real, 0.5);
            let op = defining_op(b.cmpf(FloatPredicate::Uno, z, z)).unwrap();
            assert_eq!(FloatPredicate::of(op), Some(FloatPredicate::Uno));
            assert_eq!(IntPredicate::of(defining_op(smaller).unwrap()), Some(IntPredicate::Ult));
        });
        assert_eq!(ops[0], "arith.constant dense<1> : tensor<4xi8>");
        assert!(ops[2].starts_with("arith.cmpi ult, ") && ops[2].ends_with(" : tensor<4xi8>"), "{}", ops[2]);
        assert!(ops[5].starts_with("arith.cmpf uno, "), "{}", ops[5]);
    }
}
