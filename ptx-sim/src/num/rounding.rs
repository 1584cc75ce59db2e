//! Rounding modes, and the modifiers of an arithmetic instruction.

/// How a value between two representable neighbors is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Rounding {
    /// To nearest, ties to the even significand (`.rn`, `.rni`).
    #[default]
    NearestEven,
    /// To nearest, ties away from zero (`.rna`).
    NearestAway,
    /// Toward zero (`.rz`, `.rzi`).
    TowardZero,
    /// Toward minus infinity (`.rm`, `.rmi`).
    Down,
    /// Toward plus infinity (`.rp`, `.rpi`).
    Up,
    /// Stochastic (`.rs`): adds `bits` to the top `width` discarded bits; a carry rounds away from zero. `width` is
    /// 1..=32.
    Stochastic { bits: u32, width: u8 },
}

/// Modifiers of an arithmetic instruction, without its rounding mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// Subnormal inputs and results become zeros of the same sign.
    pub ftz: bool,
    /// The result is clamped to [0, 1]; NaN becomes +0.
    pub sat: bool,
    /// A negative result becomes +0; NaN becomes the canonical NaN.
    pub relu: bool,
}
