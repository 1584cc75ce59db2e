//! The device library on the host: calls by registry entry, error measures, and oracles.

pub mod arguments;
pub mod formats;
pub mod oracle;
pub mod runtime;

use tile_rtlib::Function;

mod ffi {
    include!(concat!(env!("OUT_DIR"), "/ffi.rs"));

    unsafe extern "C" {
        pub fn tl_set_host_model(model: i32);
    }
}

/// The behavior of approximate instructions in this thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Correctly rounded.
    Exact,
    /// Off by the documented maximum, towards +inf.
    High,
    /// Off by the documented maximum, towards -inf.
    Low,
}

pub const MODELS: [Model; 3] = [Model::Exact, Model::High, Model::Low];

pub fn set_model(model: Model) {
    let code = match model {
        Model::Exact => 0,
        Model::High => 1,
        Model::Low => -1,
    };
    // SAFETY: the function writes one thread-local integer.
    unsafe { ffi::tl_set_host_model(code) }
}

/// A Rust type that corresponds to a type of the registry.
pub trait Value {
    const TYPE: tile_rtlib::Type;
}

macro_rules! values {
    ($($rust:ty => $ty:ident),*) => {
        $(impl Value for $rust { const TYPE: tile_rtlib::Type = tile_rtlib::Type::$ty; })*
    };
}
values!(u8 => I8, u16 => I16, u32 => I32, u64 => I64, f32 => F32, f64 => F64);

fn checked(function: Function, parameters: &[tile_rtlib::Type], result: tile_rtlib::Type) -> *const () {
    let signature = function.signature();
    assert!(
        signature.parameters == parameters && signature.result == result,
        "{function} has the signature {signature:?}"
    );
    ffi::address(&function.symbol()).unwrap_or_else(|| panic!("{function} is not in the host build"))
}

pub fn unary<A: Value, R: Value>(function: Function) -> impl Fn(A) -> R + Copy {
    let address = checked(function, &[A::TYPE], R::TYPE);
    // SAFETY: the generated declaration behind the address has these types, which the line above compared.
    let call: extern "C" fn(A) -> R = unsafe { std::mem::transmute(address) };
    move |a| call(a)
}

pub fn binary<A: Value, R: Value>(function: Function) -> impl Fn(A, A) -> R + Copy {
    let address = checked(function, &[A::TYPE, A::TYPE], R::TYPE);
    // SAFETY: as in `unary`.
    let call: extern "C" fn(A, A) -> R = unsafe { std::mem::transmute(address) };
    move |a, b| call(a, b)
}

pub fn ternary<A: Value, R: Value>(function: Function) -> impl Fn(A, A, A) -> R + Copy {
    let address = checked(function, &[A::TYPE, A::TYPE, A::TYPE], R::TYPE);
    // SAFETY: as in `unary`.
    let call: extern "C" fn(A, A, A) -> R = unsafe { std::mem::transmute(address) };
    move |a, b, c| call(a, b, c)
}

/// The distance of an f32 from the exact value, in units in the last place of the exact value. An infinity counts as
/// the number after the largest. Infinite if exactly one of the two is NaN.
pub fn error_f32(got: f32, exact: f64) -> f64 {
    const BEYOND: f64 = 340282366920938463463374607431768211456.0; // 2^128
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let clamp = |x: f64| x.clamp(-BEYOND, BEYOND);
    let (got, exact) = (clamp(f64::from(got)), clamp(exact));
    let magnitude = exact.abs().min(f64::from(f32::MAX)).max(f64::from(f32::MIN_POSITIVE));
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
    (got - exact).abs() / f64::from_bits(((exponent - 23 + 1023) as u64) << 52)
}

/// A reproducible stream of 64-bit words.
pub struct Stream(u64);

impl Stream {
    pub fn new(seed: u64) -> Self {
        Stream(seed)
    }

    /// The next word (splitmix64).
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.word() >> 11) as f64 * (0.5f64).powi(53))
    }

    /// A number of random sign and mantissa with an exponent in [low, high).
    pub fn spread(&mut self, low: i32, high: i32) -> f64 {
        let exponent = self.between(f64::from(low), f64::from(high)).floor() as i32;
        let mantissa = 1.0 + (self.word() >> 12) as f64 * (0.5f64).powi(52);
        // In two steps, so that subnormals are rounded instead of flushed.
        let value = mantissa * (2f64).powi(exponent / 2) * (2f64).powi(exponent - exponent / 2);
        if self.word() & 1 == 0 { value } else { -value }
    }
}

/// Whether the long versions of the tests are requested.
pub fn full() -> bool {
    std::env::var_os("TILEIR_FULL").is_some_and(|v| v == "1")
}
