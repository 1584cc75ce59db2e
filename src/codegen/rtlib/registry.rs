//! The registry of the library: every function by its meaning, with its symbol, types and error bound.

use std::fmt;

/// A function of the library. Not every combination of fields exists: [`Function::all`] lists the existing ones, and
/// [`Function::exists`] tests one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// An elementary function or an approximate operation.
    Math { operation: Math, float: Float, mode: Mode },
    /// Converts a number to a narrower format, rounded once to nearest even.
    Narrow { from: Number, to: Format, overflow: Overflow },
    /// Converts f32 to tf32 with ties away from zero.
    NarrowTiesAway,
    /// Converts f32 to f16 or bf16, rounded in one direction.
    NarrowDirected { to: Half, direction: Direction },
    /// Rounds the magnitude of a number to a power of two (e8m0), towards zero or up.
    Scale { from: Float, direction: Direction, overflow: Overflow },
    /// Converts a narrow format to a wider one, exactly.
    Widen { from: Format, to: Wide },
    /// Converts two packed narrow numbers to two f16 in one word. Element 0 is in the low bits on both sides.
    WidenPair { from: Format },
    /// Converts two f32 (element 0 first) to two packed narrow numbers.
    NarrowPair { to: Format, overflow: Overflow },
    /// f16 or bf16 arithmetic, rounded in one direction.
    Directed { operation: Arithmetic, half: Half, direction: Direction },
}

/// Elementary functions. `Atan2` takes the numerator first, `Div` the dividend, `Pow` the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Math {
    Exp,
    Exp2,
    Log,
    Log2,
    Sin,
    Cos,
    Tan,
    Sinh,
    Cosh,
    Tanh,
    Pow,
    Atan2,
    Remf,
    Rsqrt,
    Sqrt,
    Div,
}

/// A variant of an elementary function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// The default: within [`Function::ulp_bound`] over the whole domain.
    Full,
    /// Like `Full`, with subnormal inputs and results flushed to zeros of the same sign.
    FullFlush,
    /// The hardware's approximation.
    Approximate,
    /// The hardware's approximation, with subnormals flushed.
    ApproximateFlush,
    /// As accurate as `Full`, without the special function unit.
    Polynomial,
    /// Like `Full`, by operations whose bits IEEE 754 defines.
    Portable,
    /// Like `Portable`, with subnormals flushed.
    PortableFlush,
}

/// Floating-point types with native arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Float {
    F32,
    F64,
}

/// Half-width types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Half {
    F16,
    Bf16,
}

/// Sources of narrowing conversions. Narrower integers are extended to 32 bits first, other floats widened to f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Number {
    F32,
    F64,
    I32,
    U32,
    I64,
    U64,
}

/// Storage formats. tf32 is stored in the high 19 bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    F16,
    Bf16,
    Tf32,
    E4m3,
    E5m2,
    E8m0,
    E2m1,
}

/// Targets of widening conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wide {
    F16,
    Bf16,
    F32,
}

/// The result for a number beyond the largest of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Overflow {
    /// Infinity, or NaN in formats without infinity. e2m1 has neither and saturates.
    Infinite,
    /// The largest number. NaN stays NaN if the format has one.
    Saturate,
}

/// The direction of a directed rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    Zero,
    Down,
    Up,
}

/// Operations of [`Function::Directed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Sqrt,
}

/// The LLVM types of parameters and results. Narrow formats are passed as integers of their storage width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

/// The types of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub parameters: Vec<Type>,
    pub result: Type,
}

impl Function {
    /// Every function of the library, in a fixed order.
    pub fn all() -> Vec<Function> {
        let mut all = Vec::new();
        for operation in Math::ALL {
            for float in [Float::F32, Float::F64] {
                for mode in Mode::ALL {
                    all.push(Function::Math { operation, float, mode });
                }
            }
        }
        for overflow in [Overflow::Infinite, Overflow::Saturate] {
            for to in Format::ALL {
                for from in Number::ALL {
                    all.push(Function::Narrow { from, to, overflow });
                }
                all.push(Function::NarrowPair { to, overflow });
            }
            for from in [Float::F32, Float::F64] {
                for direction in Direction::ALL {
                    all.push(Function::Scale { from, direction, overflow });
                }
            }
        }
        all.push(Function::NarrowTiesAway);
        for from in Format::ALL {
            for to in [Wide::F16, Wide::Bf16, Wide::F32] {
                all.push(Function::Widen { from, to });
            }
            all.push(Function::WidenPair { from });
        }
        for half in [Half::F16, Half::Bf16] {
            for direction in Direction::ALL {
                all.push(Function::NarrowDirected { to: half, direction });
                for operation in Arithmetic::ALL {
                    all.push(Function::Directed { operation, half, direction });
                }
            }
        }
        all.retain(|function| function.exists());
        all
    }

    /// Whether the library has this combination.
    pub fn exists(&self) -> bool {
        use Format::*;
        match *self {
            Function::Math { operation, float: Float::F64, mode } => {
                let portable = mode == Mode::Portable && operation == Math::Rsqrt;
                portable || mode == Mode::Full && !matches!(operation, Math::Sqrt | Math::Div)
            }
            Function::Math { operation, float: Float::F32, mode } => match mode {
                // Square roots rounded to nearest are instructions.
                Mode::Full => operation != Math::Sqrt,
                Mode::FullFlush => matches!(operation, Math::Exp2 | Math::Rsqrt | Math::Div),
                Mode::Approximate => matches!(operation, Math::Exp | Math::Tanh | Math::Sqrt | Math::Div),
                Mode::ApproximateFlush => matches!(operation, Math::Exp | Math::Sqrt | Math::Div),
                Mode::Polynomial => operation == Math::Exp,
                Mode::Portable => {
                    matches!(operation, Math::Exp2 | Math::Tan | Math::Tanh | Math::Rsqrt | Math::Sqrt | Math::Div)
                }
                Mode::PortableFlush => {
                    matches!(operation, Math::Exp | Math::Exp2 | Math::Rsqrt | Math::Sqrt | Math::Div)
                }
            },
            Function::Narrow { to, overflow, .. } => match overflow {
                Overflow::Infinite => to != E8m0,
                Overflow::Saturate => matches!(to, E4m3 | E5m2),
            },
            Function::NarrowPair { to, overflow } => match overflow {
                Overflow::Infinite => matches!(to, Bf16 | E4m3 | E5m2 | E2m1),
                Overflow::Saturate => matches!(to, E4m3 | E5m2),
            },
            Function::Scale { direction, .. } => direction != Direction::Down,
            Function::Widen { from, to } => match to {
                Wide::F16 => matches!(from, E4m3 | E5m2 | E2m1),
                Wide::Bf16 => from == E8m0,
                Wide::F32 => true,
            },
            Function::WidenPair { from } => matches!(from, E4m3 | E5m2 | E2m1),
            Function::NarrowTiesAway | Function::NarrowDirected { .. } | Function::Directed { .. } => true,
        }
    }

    /// The name in the bitcode.
    pub fn symbol(&self) -> String {
        let prefix = crate::PREFIX;
        match *self {
            Function::Math { operation, float, mode } => {
                let suffix = match mode {
                    Mode::Full => "",
                    Mode::FullFlush => "_ftz",
                    Mode::Approximate => "_approx",
                    Mode::ApproximateFlush => "_approx_ftz",
                    Mode::Polynomial => "_poly",
                    Mode::Portable => "_portable",
                    Mode::PortableFlush => "_portable_ftz",
                };
                format!("{prefix}{}_{}{suffix}", operation.name(), float.name())
            }
            Function::Narrow { from, to, overflow } => {
                format!("{prefix}{}_to_{}{}", from.name(), to.name(), overflow.suffix())
            }
            Function::NarrowTiesAway => format!("{prefix}f32_to_tf32_rna"),
            Function::NarrowDirected { to, direction } => {
                format!("{prefix}f32_to_{}_{}", to.name(), direction.suffix())
            }
            Function::Scale { from, direction, overflow } => {
                format!("{prefix}{}_to_e8m0_{}{}", from.name(), direction.suffix(), overflow.suffix())
            }
            Function::Widen { from, to } => format!("{prefix}{}_to_{}", from.name(), to.name()),
            Function::WidenPair { from } => format!("{prefix}{}x2_to_f16x2", from.name()),
            Function::NarrowPair { to, overflow } => {
                format!("{prefix}f32x2_to_{}x2{}", to.name(), overflow.suffix())
            }
            Function::Directed { operation, half, direction } => {
                format!("{prefix}{}_{}_{}", operation.name(), half.name(), direction.suffix())
            }
        }
    }

    /// Parameter and result types.
    pub fn signature(&self) -> Signature {
        let (parameters, result) = match *self {
            Function::Math { operation, float, .. } => (vec![float.ty(); operation.arity()], float.ty()),
            Function::Narrow { from, to, .. } => (vec![from.ty()], to.storage()),
            Function::NarrowTiesAway => (vec![Type::F32], Type::I32),
            Function::NarrowDirected { .. } => (vec![Type::F32], Type::I16),
            Function::Scale { from, .. } => (vec![from.ty()], Type::I8),
            Function::Widen { from, to } => (vec![from.storage()], to.ty()),
            Function::WidenPair { from } => (vec![from.pair()], Type::I32),
            Function::NarrowPair { to, .. } => (vec![Type::F32; 2], to.pair()),
            Function::Directed { operation, .. } => (vec![Type::I16; operation.arity()], Type::I16),
        };
        Signature { parameters, result }
    }

    /// The largest error, in units in the last place of the result, over all arguments and including subnormal
    /// results. `None` for approximations with an error that is not relative to the result; their documentation gives
    /// the bound. Conversions and directed arithmetic round once: 0.5 to nearest, 1 in one direction.
    pub fn ulp_bound(&self) -> Option<f64> {
        match *self {
            Function::Math { operation, float, mode } => match (operation, float, mode) {
                (Math::Remf, ..) => Some(0.0),
                (Math::Tanh, Float::F64, _) => Some(1.0),
                // The argument times log2(e) is rounded before the power is taken; tanh.approx has 2^-11.
                (Math::Exp | Math::Tanh, _, Mode::Approximate | Mode::ApproximateFlush) => None,
                // Holds only for divisors in [2^-126, 2^126].
                (Math::Div, _, Mode::Approximate | Mode::ApproximateFlush) => Some(2.0),
                _ => Some(2.0),
            },
            Function::Narrow { .. } | Function::NarrowPair { .. } | Function::NarrowTiesAway => Some(0.5),
            Function::Widen { .. } | Function::WidenPair { .. } => Some(0.0),
            Function::Scale { .. } | Function::NarrowDirected { .. } | Function::Directed { .. } => Some(1.0),
        }
    }

    /// The function of NVIDIA's libdevice that computes the same, by its name in the CUDA documentation. `None` if
    /// libdevice lacks it, or if this is not the full function.
    pub fn libdevice(&self) -> Option<&'static str> {
        let Function::Math { operation, float, mode: Mode::Full | Mode::Polynomial } = *self else { return None };
        Some(match (operation, float) {
            (Math::Exp, Float::F32) => "__nv_expf",
            (Math::Exp, Float::F64) => "__nv_exp",
            (Math::Exp2, Float::F32) => "__nv_exp2f",
            (Math::Exp2, Float::F64) => "__nv_exp2",
            (Math::Log, Float::F32) => "__nv_logf",
            (Math::Log, Float::F64) => "__nv_log",
            (Math::Log2, Float::F32) => "__nv_log2f",
            (Math::Log2, Float::F64) => "__nv_log2",
            (Math::Sin, Float::F32) => "__nv_sinf",
            (Math::Sin, Float::F64) => "__nv_sin",
            (Math::Cos, Float::F32) => "__nv_cosf",
            (Math::Cos, Float::F64) => "__nv_cos",
            (Math::Tan, Float::F32) => "__nv_tanf",
            (Math::Tan, Float::F64) => "__nv_tan",
            (Math::Sinh, Float::F32) => "__nv_sinhf",
            (Math::Sinh, Float::F64) => "__nv_sinh",
            (Math::Cosh, Float::F32) => "__nv_coshf",
            (Math::Cosh, Float::F64) => "__nv_cosh",
            (Math::Tanh, Float::F32) => "__nv_tanhf",
            (Math::Tanh, Float::F64) => "__nv_tanh",
            (Math::Pow, Float::F32) => "__nv_powf",
            (Math::Pow, Float::F64) => "__nv_pow",
            (Math::Atan2, Float::F32) => "__nv_atan2f",
            (Math::Atan2, Float::F64) => "__nv_atan2",
            (Math::Remf, Float::F32) => "__nv_fmodf",
            (Math::Remf, Float::F64) => "__nv_fmod",
            (Math::Rsqrt, Float::F32) => "__nv_rsqrtf",
            (Math::Rsqrt, Float::F64) => "__nv_rsqrt",
            // Square roots and the approximate division are instructions.
            (Math::Sqrt | Math::Div, _) => return None,
        })
    }

    /// The largest error of [`Function::libdevice`], in units in the last place, from the tables of the CUDA C++
    /// Programming Guide, "Mathematical Functions". They count from the correctly rounded result; from the exact
    /// result, the error is up to half a unit more.
    pub fn libdevice_bound(&self) -> Option<f64> {
        let Function::Math { operation, float, .. } = *self else { return None };
        self.libdevice()?;
        Some(match (operation, float) {
            (Math::Remf, _) => 0.0,
            (Math::Exp | Math::Log | Math::Log2, _) => 1.0,
            (Math::Exp2 | Math::Rsqrt | Math::Cosh | Math::Tanh, Float::F64) => 1.0,
            (Math::Exp2 | Math::Rsqrt | Math::Cosh | Math::Tanh, Float::F32) => 2.0,
            (Math::Sin | Math::Cos, _) => 2.0,
            (Math::Tan, Float::F32) => 4.0,
            (Math::Sinh, Float::F32) => 3.0,
            (Math::Pow, Float::F32) => 4.0,
            (Math::Atan2, Float::F32) => 3.0,
            (Math::Tan | Math::Sinh | Math::Pow | Math::Atan2, Float::F64) => 2.0,
            (Math::Sqrt | Math::Div, _) => return None,
        })
    }

    /// Returns the function with the same meaning whose bits IEEE 754 defines: this one, if it has no approximate
    /// instruction.
    pub fn portable(self) -> Function {
        let Function::Math { operation, float, mode } = self else { return self };
        let mode = match (operation, float, mode) {
            (Math::Rsqrt, Float::F64, Mode::Full) => Mode::Portable,
            _ if !self.uses_approximation() => return self,
            (Math::Exp, _, Mode::Full | Mode::Approximate) => Mode::Polynomial,
            (_, _, Mode::FullFlush | Mode::ApproximateFlush) => Mode::PortableFlush,
            _ => Mode::Portable,
        };
        Function::Math { operation, float, mode }
    }

    /// Whether the accuracy depends on an approximate hardware instruction (`ex2`, `rcp`, `rsqrt`, ...).
    pub fn uses_approximation(&self) -> bool {
        match *self {
            Function::Math { operation, float, mode } => match mode {
                Mode::Full => {
                    float == Float::F32
                        && matches!(
                            operation,
                            Math::Exp | Math::Exp2 | Math::Tan | Math::Tanh | Math::Rsqrt | Math::Div
                        )
                }
                Mode::Polynomial | Mode::Portable | Mode::PortableFlush => false,
                _ => true,
            },
            _ => false,
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.symbol())
    }
}

impl Math {
    /// All values, in declaration order.
    pub const ALL: [Math; 16] = {
        use Math::*;
        [Exp, Exp2, Log, Log2, Sin, Cos, Tan, Sinh, Cosh, Tanh, Pow, Atan2, Remf, Rsqrt, Sqrt, Div]
    };

    fn name(self) -> &'static str {
        match self {
            Math::Exp => "exp",
            Math::Exp2 => "exp2",
            Math::Log => "log",
            Math::Log2 => "log2",
            Math::Sin => "sin",
            Math::Cos => "cos",
            Math::Tan => "tan",
            Math::Sinh => "sinh",
            Math::Cosh => "cosh",
            Math::Tanh => "tanh",
            Math::Pow => "pow",
            Math::Atan2 => "atan2",
            Math::Remf => "remf",
            Math::Rsqrt => "rsqrt",
            Math::Sqrt => "sqrt",
            Math::Div => "div",
        }
    }

    fn arity(self) -> usize {
        if matches!(self, Math::Pow | Math::Atan2 | Math::Remf | Math::Div) { 2 } else { 1 }
    }
}

impl Mode {
    const ALL: [Mode; 7] = {
        use Mode::*;
        [Full, FullFlush, Approximate, ApproximateFlush, Polynomial, Portable, PortableFlush]
    };
}

impl Float {
    fn name(self) -> &'static str {
        match self {
            Float::F32 => "f32",
            Float::F64 => "f64",
        }
    }

    fn ty(self) -> Type {
        match self {
            Float::F32 => Type::F32,
            Float::F64 => Type::F64,
        }
    }
}

impl Half {
    fn name(self) -> &'static str {
        match self {
            Half::F16 => "f16",
            Half::Bf16 => "bf16",
        }
    }
}

impl Number {
    const ALL: [Number; 6] = [Number::F32, Number::F64, Number::I32, Number::U32, Number::I64, Number::U64];

    fn name(self) -> &'static str {
        match self {
            Number::F32 => "f32",
            Number::F64 => "f64",
            Number::I32 => "i32",
            Number::U32 => "u32",
            Number::I64 => "i64",
            Number::U64 => "u64",
        }
    }

    fn ty(self) -> Type {
        match self {
            Number::F32 => Type::F32,
            Number::F64 => Type::F64,
            Number::I32 | Number::U32 => Type::I32,
            Number::I64 | Number::U64 => Type::I64,
        }
    }
}

impl Format {
    /// All values, in declaration order.
    pub const ALL: [Format; 7] = {
        use Format::*;
        [F16, Bf16, Tf32, E4m3, E5m2, E8m0, E2m1]
    };

    fn name(self) -> &'static str {
        match self {
            Format::F16 => "f16",
            Format::Bf16 => "bf16",
            Format::Tf32 => "tf32",
            Format::E4m3 => "e4m3",
            Format::E5m2 => "e5m2",
            Format::E8m0 => "e8m0",
            Format::E2m1 => "e2m1",
        }
    }

    /// One element; e2m1 in the low four bits of a byte.
    fn storage(self) -> Type {
        match self {
            Format::F16 | Format::Bf16 => Type::I16,
            Format::Tf32 => Type::I32,
            Format::E4m3 | Format::E5m2 | Format::E8m0 | Format::E2m1 => Type::I8,
        }
    }

    /// Two packed elements.
    fn pair(self) -> Type {
        match self {
            Format::F16 | Format::Bf16 => Type::I32,
            Format::Tf32 => Type::I64,
            Format::E4m3 | Format::E5m2 | Format::E8m0 => Type::I16,
            Format::E2m1 => Type::I8,
        }
    }
}

impl Wide {
    fn name(self) -> &'static str {
        match self {
            Wide::F16 => "f16",
            Wide::Bf16 => "bf16",
            Wide::F32 => "f32",
        }
    }

    fn ty(self) -> Type {
        match self {
            Wide::F16 | Wide::Bf16 => Type::I16,
            Wide::F32 => Type::F32,
        }
    }
}

impl Overflow {
    fn suffix(self) -> &'static str {
        match self {
            Overflow::Infinite => "",
            Overflow::Saturate => "_sat",
        }
    }
}

impl Direction {
    /// All values, in declaration order.
    pub const ALL: [Direction; 3] = [Direction::Zero, Direction::Down, Direction::Up];

    fn suffix(self) -> &'static str {
        match self {
            Direction::Zero => "rz",
            Direction::Down => "rm",
            Direction::Up => "rp",
        }
    }
}

impl Arithmetic {
    /// All values, in declaration order.
    pub const ALL: [Arithmetic; 6] = {
        use Arithmetic::*;
        [Add, Sub, Mul, Fma, Div, Sqrt]
    };

    fn name(self) -> &'static str {
        match self {
            Arithmetic::Add => "add",
            Arithmetic::Sub => "sub",
            Arithmetic::Mul => "mul",
            Arithmetic::Fma => "fma",
            Arithmetic::Div => "div",
            Arithmetic::Sqrt => "sqrt",
        }
    }

    fn arity(self) -> usize {
        match self {
            Arithmetic::Fma => 3,
            Arithmetic::Sqrt => 1,
            _ => 2,
        }
    }
}

impl Type {
    /// The name in LLVM IR.
    pub fn llvm(self) -> &'static str {
        match self {
            Type::I8 => "i8",
            Type::I16 => "i16",
            Type::I32 => "i32",
            Type::I64 => "i64",
            Type::F32 => "float",
            Type::F64 => "double",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flushing and the number of arguments stay; nothing approximate is left.
    #[test]
    fn every_function_has_a_portable_form() {
        for function in Function::all() {
            let portable = function.portable();
            assert!(portable.exists() && !portable.uses_approximation(), "{function}");
            assert_eq!((portable.portable(), portable.signature()), (portable, function.signature()));
            let flushes = |f: Function| f.symbol().ends_with("_ftz");
            assert_eq!(flushes(portable), flushes(function), "{function}");
        }
    }
}
