//! Floating-point arithmetic, comparison and conversion, lane by lane on top of [`crate::num`].
//!
//! Round-to-nearest f32 and f64 arithmetic without flushing has its own loops here; everything else uses the exact
//! routines.

use crate::exec::state::lanes::{Lanes, Lanes64, lanes};
use crate::exec::state::program::DArg;
use crate::exec::state::warp::Warp;
use crate::ir::*;
use crate::num::{self, CvtOpts, Flags, Format, IntType, MinMax, Rounding};
use std::cmp::Ordering;

/// The numeric format of a scalar type, or of the elements of a packed type.
fn format(ty: Type) -> Format {
    match ty {
        Type::F16 | Type::F16x2 => Format::F16,
        Type::BF16 | Type::BF16x2 => Format::Bf16,
        Type::TF32 => Format::Tf32,
        Type::F64 => Format::F64,
        Type::E4M3 | Type::E4M3x2 => Format::E4m3,
        Type::E5M2 | Type::E5M2x2 => Format::E5m2,
        Type::E3M2 | Type::E3M2x2 => Format::E3m2,
        Type::E2M3 | Type::E2M3x2 => Format::E2m3,
        Type::E2M1 | Type::E2M1x2 => Format::E2m1,
        Type::UE8M0 | Type::UE8M0x2 => Format::Ue8m0,
        Type::UE4M3 => Format::Ue4m3,
        _ => Format::F32,
    }
}

fn rounding(rnd: Rnd) -> Rounding {
    match rnd {
        Rnd::Rn | Rnd::Rni | Rnd::Rs => Rounding::NearestEven,
        Rnd::Rna => Rounding::NearestAway,
        Rnd::Rz | Rnd::Rzi => Rounding::TowardZero,
        Rnd::Rm | Rnd::Rmi => Rounding::Down,
        Rnd::Rp | Rnd::Rpi => Rounding::Up,
    }
}

/// Applies `f` to 64-bit values in each lane of `mask`.
fn each(w: &mut Warp, frame: u32, args: &[DArg], mask: u32, f: impl Fn(u64, u64, u64) -> u64) {
    let a = w.src64(frame, &args[1]);
    let b = args.get(2).map_or([0; 32], |x| w.src64(frame, x));
    let c = args.get(3).map_or([0; 32], |x| w.src64(frame, x));
    let mut out = [0u64; 32];
    for lane in lanes(mask) {
        out[lane] = f(a[lane], b[lane], c[lane]);
    }
    w.set64(frame, &args[0], &out, mask);
}

/// Splits packed values and applies `f` to each element.
fn per_element(ty: Type, f: impl Fn(u64, u64, u64) -> u64) -> impl Fn(u64, u64, u64) -> u64 {
    move |a, b, c| match ty {
        Type::F16x2 | Type::BF16x2 => {
            let lo = f(a & 0xffff, b & 0xffff, c & 0xffff) & 0xffff;
            let hi = f(a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) & 0xffff;
            lo | hi << 16
        }
        Type::F32x2 => {
            let low = 0xffff_ffff;
            f(a & low, b & low, c & low) & low | f(a >> 32, b >> 32, c >> 32) << 32
        }
        _ => f(a, b, c),
    }
}

#[inline]
fn canonical(v: f32) -> u32 {
    if v.is_nan() { 0x7fff_ffff } else { v.to_bits() }
}

fn fast_f32(op: FloatOp, a: &Lanes, b: &Lanes, c: &Lanes) -> Option<Lanes> {
    let f = f32::from_bits;
    Some(match op {
        FloatOp::Add => std::array::from_fn(|i| canonical(f(a[i]) + f(b[i]))),
        FloatOp::Sub => std::array::from_fn(|i| canonical(f(a[i]) - f(b[i]))),
        FloatOp::Mul => std::array::from_fn(|i| canonical(f(a[i]) * f(b[i]))),
        FloatOp::Fma => fma_lanes(a, b, c),
        _ => return None,
    })
}

/// Fused multiply-add of 32 lanes. The product of two f32 values is exact in f64, so only the addition rounds. If that
/// rounding could differ from a single rounding to f32 (the result is near a tie, or subnormal), the exact routine
/// computes the result.
fn fma_lanes(a: &Lanes, b: &Lanes, c: &Lanes) -> Lanes {
    let f = |v: u32| f64::from(f32::from_bits(v));
    let wide: [f64; 32] = std::array::from_fn(|i| f(a[i]) * f(b[i]) + f(c[i]));
    let mut doubtful = 0u32;
    for (i, v) in wide.iter().enumerate() {
        let low = v.to_bits() & 0x1fff_ffff;
        let exponent = v.to_bits() >> 52 & 0x7ff;
        // A tie pattern in the discarded bits, or a result outside the normal range of f32.
        let tie = low.wrapping_sub(0x0fff_ffff) <= 2;
        let range = exponent.wrapping_sub(897) > 253;
        doubtful |= u32::from(tie || range && *v != 0.0) << i;
    }
    let mut out: Lanes = std::array::from_fn(|i| (wide[i] as f32).to_bits());
    for i in lanes(doubtful) {
        out[i] = num::f32_fma(a[i], b[i], c[i], Rounding::NearestEven, false, false);
    }
    out
}

/// Arithmetic, roots and transcendentals.
pub(crate) fn float(w: &mut Warp, frame: u32, op: FloatOp, ty: Type, m: &FloatMods, args: &[DArg], mask: u32) {
    let plain = m.rnd == Rnd::Rn && !m.ftz && !m.sat && !m.relu;
    if ty == Type::F32 && plain && matches!(op, FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Fma) {
        let a = w.src32(frame, &args[1]);
        let b = w.src32(frame, &args[2]);
        let c = args.get(3).map_or([0; 32], |x| w.src32(frame, x));
        if let Some(out) = fast_f32(op, &a, &b, &c) {
            return w.set32(frame, &args[0], &out, mask);
        }
    }
    let fmt = format(ty);
    let rnd = rounding(m.rnd);
    let flags = Flags { ftz: m.ftz, sat: m.sat, relu: m.relu };
    let minmax = MinMax { ftz: m.ftz, nan: m.nan, abs: m.abs || m.xorsign_abs, xorsign: m.xorsign_abs };
    let three = args.len() > 3;
    let (approx, full) = (m.accuracy == Accuracy::Approx, m.accuracy == Accuracy::Full);
    let f32_only = fmt == Format::F32;
    let f = |a: u64, b: u64, c: u64| -> u64 {
        match op {
            FloatOp::Add if f32_only => num::f32_add(a as u32, b as u32, rnd, m.ftz, m.sat).into(),
            FloatOp::Sub if f32_only => num::f32_sub(a as u32, b as u32, rnd, m.ftz, m.sat).into(),
            FloatOp::Mul if f32_only => num::f32_mul(a as u32, b as u32, rnd, m.ftz, m.sat).into(),
            FloatOp::Fma if f32_only && !m.relu => num::f32_fma(a as u32, b as u32, c as u32, rnd, m.ftz, m.sat).into(),
            FloatOp::Add if fmt == Format::F64 => num::f64_add(a, b, rnd),
            FloatOp::Sub if fmt == Format::F64 => num::f64_sub(a, b, rnd),
            FloatOp::Mul if fmt == Format::F64 => num::f64_mul(a, b, rnd),
            FloatOp::Fma if fmt == Format::F64 => num::f64_fma(a, b, c, rnd),
            FloatOp::Add => num::add(fmt, a, b, rnd, flags),
            FloatOp::Sub => num::sub(fmt, a, b, rnd, flags),
            FloatOp::Mul => num::mul(fmt, a, b, rnd, flags),
            FloatOp::Fma => num::fma(fmt, a, b, c, rnd, flags),
            FloatOp::Div if approx => num::f32_div_approx(a as u32, b as u32, m.ftz).into(),
            FloatOp::Div if full => num::f32_div_full(a as u32, b as u32, m.ftz).into(),
            FloatOp::Div if f32_only => num::f32_div(a as u32, b as u32, rnd, m.ftz).into(),
            FloatOp::Div => num::f64_div(a, b, rnd),
            FloatOp::Abs => num::abs(fmt, a, m.ftz),
            FloatOp::Neg => num::neg(fmt, a, m.ftz),
            FloatOp::Min if three => num::min3(fmt, a, b, c, minmax),
            FloatOp::Max if three => num::max3(fmt, a, b, c, minmax),
            FloatOp::Min => num::min(fmt, a, b, minmax),
            FloatOp::Max => num::max(fmt, a, b, minmax),
            FloatOp::Rcp if approx && f32_only => num::f32_rcp_approx(a as u32, m.ftz).into(),
            FloatOp::Rcp if approx => num::f64_rcp_approx_ftz(a),
            FloatOp::Rcp if f32_only => num::f32_rcp(a as u32, rnd, m.ftz).into(),
            FloatOp::Rcp => num::f64_rcp(a, rnd),
            FloatOp::Sqrt if approx => num::f32_sqrt_approx(a as u32, m.ftz).into(),
            FloatOp::Sqrt if f32_only => num::f32_sqrt(a as u32, rnd, m.ftz).into(),
            FloatOp::Sqrt => num::f64_sqrt(a, rnd),
            FloatOp::Rsqrt if f32_only => num::f32_rsqrt(a as u32, m.ftz).into(),
            FloatOp::Rsqrt if m.ftz => num::f64_rsqrt_approx_ftz(a),
            FloatOp::Rsqrt => num::f64_rsqrt_approx(a),
            FloatOp::Sin => num::f32_sin(a as u32, m.ftz).into(),
            FloatOp::Cos => num::f32_cos(a as u32, m.ftz).into(),
            FloatOp::Lg2 => num::f32_lg2(a as u32, m.ftz).into(),
            FloatOp::Ex2 => match fmt {
                Format::F16 => num::f16_ex2(a as u16).into(),
                Format::Bf16 => num::bf16_ex2(a as u16).into(),
                _ => num::f32_ex2(a as u32, m.ftz).into(),
            },
            FloatOp::Tanh => match fmt {
                Format::F16 => num::f16_tanh(a as u16).into(),
                Format::Bf16 => num::bf16_tanh(a as u16).into(),
                _ => num::f32_tanh(a as u32).into(),
            },
            // `copysign d, a, b`: the sign of a, the magnitude of b.
            FloatOp::Copysign => num::copysign(fmt, a, b),
        }
    };
    each(w, frame, args, mask, per_element(ty, f));
}

/// `add.f32.bf16 d, a, c` and `fma.rn.f32.f16 d, a, b, c`: the narrow operands are widened exactly.
pub(crate) fn mixed(w: &mut Warp, frame: u32, op: FloatOp, src: Type, m: &FloatMods, args: &[DArg], mask: u32) {
    let rnd = rounding(m.rnd);
    let widen = |v: u64| num::convert(format(src), v & 0xffff, Format::F32, &CvtOpts::default()) as u32;
    each(w, frame, args, mask, |a, b, c| {
        u64::from(match op {
            FloatOp::Fma => num::f32_fma(widen(a), widen(b), c as u32, rnd, m.ftz, m.sat),
            FloatOp::Sub => num::f32_sub(widen(a), b as u32, rnd, m.ftz, m.sat),
            _ => num::f32_add(widen(a), b as u32, rnd, m.ftz, m.sat),
        })
    });
}

/// `testp`; zeros count as normal numbers.
pub(crate) fn testp(w: &mut Warp, frame: u32, prop: TestProp, ty: Type, args: &[DArg], mask: u32) {
    let a = w.src64(frame, &args[1]);
    let test = |v: u64| {
        let (nan, inf, normal, subnormal) = if ty == Type::F64 {
            let f = f64::from_bits(v);
            (f.is_nan(), f.is_infinite(), f.is_normal() || f == 0.0, f.is_subnormal())
        } else {
            let f = f32::from_bits(v as u32);
            (f.is_nan(), f.is_infinite(), f.is_normal() || f == 0.0, f.is_subnormal())
        };
        match prop {
            TestProp::Finite => !nan && !inf,
            TestProp::Infinite => inf,
            TestProp::Number => !nan,
            TestProp::Notanumber => nan,
            TestProp::Normal => normal,
            TestProp::Subnormal => subnormal,
        }
    };
    let p = a.iter().enumerate().fold(0, |m, (i, v)| m | u32::from(test(*v)) << i);
    w.set_pred(frame, &args[0], p, mask);
}

/// Whether a comparison holds for an ordering; `None` means unordered.
#[inline]
fn holds(cmp: Cmp, order: Option<Ordering>) -> bool {
    use Ordering::*;
    match cmp {
        Cmp::Eq => order == Some(Equal),
        Cmp::Ne => matches!(order, Some(Less | Greater)),
        Cmp::Lt | Cmp::Lo => order == Some(Less),
        Cmp::Le | Cmp::Ls => matches!(order, Some(Less | Equal)),
        Cmp::Gt | Cmp::Hi => order == Some(Greater),
        Cmp::Ge | Cmp::Hs => matches!(order, Some(Greater | Equal)),
        Cmp::Equ => matches!(order, None | Some(Equal)),
        Cmp::Neu => order != Some(Equal),
        Cmp::Ltu => matches!(order, None | Some(Less)),
        Cmp::Leu => order != Some(Greater),
        Cmp::Gtu => matches!(order, None | Some(Greater)),
        Cmp::Geu => order != Some(Less),
        Cmp::Num => order.is_some(),
        Cmp::Nan => order.is_none(),
    }
}

/// The lanes for which a comparison holds, and for packed types those for which it holds in the upper elements.
fn compare(w: &Warp, frame: u32, cmp: Cmp, ty: Type, ftz: bool, a: &DArg, b: &DArg) -> (u32, u32) {
    let collect = |f: &dyn Fn(usize) -> bool| (0..32).fold(0u32, |m, i| m | u32::from(f(i)) << i);
    if ty.bits() == 32 && !ty.is_float() {
        let (a, b) = (w.src32(frame, a), w.src32(frame, b));
        let mut m = 0u32;
        macro_rules! loop_cmp {
            ($t:ty, $op:tt) => {{
                for i in 0..32 {
                    m |= u32::from((a[i] as $t) $op (b[i] as $t)) << i;
                }
            }};
        }
        match (cmp, ty.is_signed()) {
            (Cmp::Eq, _) => loop_cmp!(u32, ==),
            (Cmp::Ne, _) => loop_cmp!(u32, !=),
            (Cmp::Lt, true) => loop_cmp!(i32, <),
            (Cmp::Le, true) => loop_cmp!(i32, <=),
            (Cmp::Gt, true) => loop_cmp!(i32, >),
            (Cmp::Ge, true) => loop_cmp!(i32, >=),
            (Cmp::Lt | Cmp::Lo, _) => loop_cmp!(u32, <),
            (Cmp::Le | Cmp::Ls, _) => loop_cmp!(u32, <=),
            (Cmp::Gt | Cmp::Hi, _) => loop_cmp!(u32, >),
            _ => loop_cmp!(u32, >=),
        }
        return (m, 0);
    }
    let (a, b) = (w.src64(frame, a), w.src64(frame, b));
    if ty.is_float() {
        let fmt = format(ty);
        return match ty {
            Type::F16x2 | Type::BF16x2 => (
                collect(&|i| holds(cmp, num::compare(fmt, a[i] & 0xffff, b[i] & 0xffff, ftz))),
                collect(&|i| holds(cmp, num::compare(fmt, a[i] >> 16 & 0xffff, b[i] >> 16 & 0xffff, ftz))),
            ),
            Type::F32 if !ftz => {
                let f = |v: u64| f32::from_bits(v as u32);
                (collect(&|i| holds(cmp, f(a[i]).partial_cmp(&f(b[i])))), 0)
            }
            Type::F64 => {
                let f = f64::from_bits;
                (collect(&|i| holds(cmp, f(a[i]).partial_cmp(&f(b[i])))), 0)
            }
            _ => (collect(&|i| holds(cmp, num::compare(fmt, a[i], b[i], ftz))), 0),
        };
    }
    let bits = ty.bits();
    let shift = 64 - bits;
    let m = if ty.is_signed() {
        let s = |v: u64| ((v << shift) as i64) >> shift;
        collect(&|i| holds(cmp, Some(s(a[i]).cmp(&s(b[i])))))
    } else {
        let u = |v: u64| v << shift >> shift;
        collect(&|i| holds(cmp, Some(u(a[i]).cmp(&u(b[i])))))
    };
    (m, 0)
}

fn combined(value: u32, combine: Option<BoolOp>, c: u32) -> u32 {
    match combine {
        None => value,
        Some(BoolOp::And) => value & c,
        Some(BoolOp::Or) => value | c,
        Some(BoolOp::Xor) => value ^ c,
    }
}

#[allow(clippy::too_many_arguments, reason = "the operands of one instruction family")]
pub(crate) fn setp(
    w: &mut Warp,
    frame: u32,
    cmp: Cmp,
    ty: Type,
    ftz: bool,
    combine: Option<BoolOp>,
    args: &[DArg],
    mask: u32,
) {
    let (lower, upper) = compare(w, frame, cmp, ty, ftz, &args[2], &args[3]);
    let c = args.get(4).map_or(0, |c| w.src_pred(frame, c));
    // For packed types the second destination receives the upper element, otherwise the complement.
    let second = if matches!(ty, Type::F16x2 | Type::BF16x2) { upper } else { !lower };
    w.set_pred(frame, &args[0], combined(lower, combine, c), mask);
    w.set_pred(frame, &args[1], combined(second, combine, c), mask);
}

#[allow(clippy::too_many_arguments, reason = "the operands of one instruction family")]
pub(crate) fn set(
    w: &mut Warp,
    frame: u32,
    cmp: Cmp,
    (dty, ty): (Type, Type),
    ftz: bool,
    combine: Option<BoolOp>,
    args: &[DArg],
    mask: u32,
) {
    let (lower, upper) = compare(w, frame, cmp, ty, ftz, &args[1], &args[2]);
    let c = args.get(3).map_or(0, |c| w.src_pred(frame, c));
    let (lower, upper) = (combined(lower, combine, c), combined(upper, combine, c));
    let value = |p: u32, i: usize, one: u32| if p >> i & 1 != 0 { one } else { 0 };
    let packed_source = matches!(ty, Type::F16x2 | Type::BF16x2);
    let out: Lanes = std::array::from_fn(|i| match dty {
        Type::F32 => value(lower, i, 0x3f80_0000),
        Type::F16 => value(lower, i, 0x3c00),
        Type::BF16 => value(lower, i, 0x3f80),
        Type::F16x2 => value(lower, i, 0x3c00) | value(upper, i, 0x3c00 << 16),
        Type::BF16x2 => value(lower, i, 0x3f80) | value(upper, i, 0x3f80 << 16),
        // A packed comparison with an integer destination produces a 16-bit mask for each element.
        _ if packed_source => value(lower, i, 0xffff) | value(upper, i, 0xffff_0000),
        _ => value(lower, i, u32::MAX),
    });
    w.set32(frame, &args[0], &out, mask);
}

fn int_type(ty: Type) -> Option<IntType> {
    Some(match ty {
        Type::U8 => IntType::U8,
        Type::S8 => IntType::S8,
        Type::U16 => IntType::U16,
        Type::S16 => IntType::S16,
        Type::U32 => IntType::U32,
        Type::S32 => IntType::S32,
        Type::U64 => IntType::U64,
        Type::S64 => IntType::S64,
        Type::U4 => IntType { bits: 4, signed: false },
        Type::S4 => IntType { bits: 4, signed: true },
        _ => return None,
    })
}

/// Bits of one element of a packed conversion type in its register.
fn element_bits(ty: Type) -> u32 {
    match ty {
        Type::F16x2 | Type::BF16x2 => 16,
        Type::E2M1x2 => 4,
        _ => 8,
    }
}

fn is_pair(ty: Type) -> bool {
    use Type::*;
    matches!(ty, F16x2 | BF16x2 | E4M3x2 | E5M2x2 | E3M2x2 | E2M3x2 | E2M1x2 | UE8M0x2)
}

/// `cvt` of every kind.
pub(crate) fn cvt(w: &mut Warp, frame: u32, m: &CvtMods, args: &[DArg], mask: u32) {
    let rnd = m.rnd.map_or(Rounding::NearestEven, rounding);
    // The narrow formats saturate even if `.satfinite` is omitted where the instruction requires it.
    let opts = CvtOpts { rounding: rnd, ftz: m.ftz, sat: m.sat, satfinite: m.satfinite, relu: m.relu };
    let (sf, df) = (format(m.sty), format(m.dty));
    if is_pair(m.dty) || is_pair(m.sty) {
        let bits = element_bits(m.dty);
        let keep = (1u64 << bits) - 1;
        if m.rnd == Some(Rnd::Rs) {
            // The low 13 (f16) or 16 (bf16) bits of each half of the last operand are random.
            let width = if m.dty == Type::F16x2 { 13 } else { 16 };
            let element = |v: u64, random: u64| {
                let rounding = Rounding::Stochastic { bits: random as u32 & ((1 << width) - 1), width };
                num::convert(sf, v, df, &CvtOpts { rounding, ..opts })
            };
            return each(w, frame, args, mask, |a, b, c| element(a, c >> 16) << bits | element(b, c));
        }
        if m.two_sources {
            // The first source goes to the upper element.
            return each(w, frame, args, mask, |a, b, _| {
                let hi = num::convert(sf, a, df, &opts) & keep;
                let lo = num::convert(sf, b, df, &opts) & keep;
                hi << bits | lo
            });
        }
        let sbits = element_bits(m.sty);
        let skeep = (1u64 << sbits) - 1;
        if m.scaled {
            // Each element has its own exponent; all ones encodes NaN.
            let element = |v: u64, scale: u64| match scale & 0xff {
                0xff => df.nan(),
                scale => num::scaled_from(sf, v & skeep, scale as i32 - 127, df, &opts),
            };
            return each(w, frame, args, mask, |a, b, _| element(a >> sbits, b >> 8) << bits | element(a, b) & keep);
        }
        return each(w, frame, args, mask, |a, _, _| {
            let lo = num::convert(sf, a & skeep, df, &opts) & keep;
            let hi = num::convert(sf, a >> sbits & skeep, df, &opts) & keep;
            hi << bits | lo
        });
    }
    // Integer results narrower than their register are extended to it.
    let widen = |v: u64, t: IntType| t.value(v) as u64;
    match (int_type(m.sty), int_type(m.dty)) {
        (Some(s), Some(d)) => each(w, frame, args, mask, |a, _, _| widen(num::int_to_int(s, a, d, m.sat), d)),
        (Some(s), None) => each(w, frame, args, mask, |a, _, _| num::int_to_float(s, a, df, &opts)),
        (None, Some(d)) => {
            each(w, frame, args, mask, |a, _, _| widen(num::float_to_int(sf, narrow(sf, a), d, rnd, m.ftz), d));
        }
        (None, None) => {
            let integral = matches!(m.rnd, Some(Rnd::Rni | Rnd::Rzi | Rnd::Rmi | Rnd::Rpi));
            if integral && sf == df {
                each(w, frame, args, mask, |a, _, _| num::round_to_integral(sf, narrow(sf, a), rnd, &opts));
            } else {
                each(w, frame, args, mask, |a, _, _| num::convert(sf, narrow(sf, a), df, &opts));
            }
        }
    }
}

/// The low bits of a register that hold a value of format `f`.
fn narrow(f: Format, v: u64) -> u64 {
    let bits = f.container_bits();
    if bits >= 64 { v } else { v & ((1 << bits) - 1) }
}

pub(crate) fn cvt_pack(w: &mut Warp, frame: u32, dty: Type, args: &[DArg], mask: u32) {
    let Some(element) = int_type(dty) else { return };
    let a: Lanes64 = w.src64(frame, &args[1]);
    let b = w.src64(frame, &args[2]);
    let c = args.get(3).map_or([0; 32], |c| w.src64(frame, c));
    let out = std::array::from_fn(|i| num::cvt_pack(element, a[i] as u32, b[i] as u32, c[i] as u32));
    w.set32(frame, &args[0], &out, mask);
}
