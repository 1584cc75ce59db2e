//! Integer arithmetic, logic and bit manipulation.

use crate::exec::state::error::SimErrorKind;
use crate::exec::state::lanes::{Lanes, Lanes64, lane_mask, lanes};
use crate::exec::state::machine::Fail;
use crate::exec::state::program::DArg;
use crate::exec::state::warp::Warp;
use crate::ir::*;

/// Sign- or zero-extends the low `bits` of a value.
#[inline]
fn extend(v: u64, bits: u32, signed: bool) -> i128 {
    if bits == 64 {
        return if signed { i128::from(v as i64) } else { i128::from(v) };
    }
    let low = v & ((1 << bits) - 1);
    if signed { i128::from(((low << (64 - bits)) as i64) >> (64 - bits)) } else { i128::from(low) }
}

#[inline]
fn zip32(a: &Lanes, b: &Lanes, f: impl Fn(u32, u32) -> u32) -> Lanes {
    std::array::from_fn(|i| f(a[i], b[i]))
}

#[inline]
fn zip64(a: &Lanes64, b: &Lanes64, f: impl Fn(u64, u64) -> u64) -> Lanes64 {
    std::array::from_fn(|i| f(a[i], b[i]))
}

fn map_x2(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// `add`, `sub`, `mul`, `mad`, `div`, `rem`, `min`, `max`, `abs`, `neg`, `sad` on integers.
pub(crate) fn int(
    w: &mut Warp,
    frame: u32,
    op: IntOp,
    ty: Type,
    sat: bool,
    args: &[DArg],
    mask: u32,
) -> Result<(), Fail> {
    let signed = ty.is_signed();
    let bits = ty.bits();
    // The common 32-bit operations run without widening, so that the Rust compiler can vectorize them.
    if bits == 32 && !sat && !matches!(ty, Type::U16x2 | Type::S16x2) {
        let a = w.src32(frame, &args[1]);
        let unary = matches!(op, IntOp::Abs | IntOp::Neg);
        let b = if unary { [0; 32] } else { w.src32(frame, &args[2]) };
        let out = match op {
            IntOp::Add => Some(zip32(&a, &b, u32::wrapping_add)),
            IntOp::Sub => Some(zip32(&a, &b, u32::wrapping_sub)),
            IntOp::MulLo => Some(zip32(&a, &b, u32::wrapping_mul)),
            IntOp::Min if signed => Some(zip32(&a, &b, |a, b| (a as i32).min(b as i32) as u32)),
            IntOp::Max if signed => Some(zip32(&a, &b, |a, b| (a as i32).max(b as i32) as u32)),
            IntOp::Min => Some(zip32(&a, &b, u32::min)),
            IntOp::Max => Some(zip32(&a, &b, u32::max)),
            IntOp::Neg => Some(a.map(u32::wrapping_neg)),
            IntOp::Abs => Some(a.map(|a| (a as i32).wrapping_abs() as u32)),
            IntOp::MadLo => {
                let c = w.src32(frame, &args[3]);
                Some(std::array::from_fn(|i| a[i].wrapping_mul(b[i]).wrapping_add(c[i])))
            }
            _ => None,
        };
        if let Some(out) = out {
            w.set32(frame, &args[0], &out, mask);
            return Ok(());
        }
        if op == IntOp::MulWide {
            let out: Lanes64 = if signed {
                std::array::from_fn(|i| (i64::from(a[i] as i32) * i64::from(b[i] as i32)) as u64)
            } else {
                std::array::from_fn(|i| u64::from(a[i]) * u64::from(b[i]))
            };
            w.set64(frame, &args[0], &out, mask);
            return Ok(());
        }
    }
    let a = w.src64(frame, &args[1]);
    let b = args.get(2).map_or([0; 32], |x| w.src64(frame, x));
    let c = args.get(3).map_or([0; 32], |x| w.src64(frame, x));
    if bits == 64 {
        let out = match op {
            IntOp::Add => Some(zip64(&a, &b, u64::wrapping_add)),
            IntOp::Sub => Some(zip64(&a, &b, u64::wrapping_sub)),
            IntOp::MulLo => Some(zip64(&a, &b, u64::wrapping_mul)),
            IntOp::MadLo => Some(std::array::from_fn(|i| a[i].wrapping_mul(b[i]).wrapping_add(c[i]))),
            _ => None,
        };
        if let Some(out) = out {
            w.set64(frame, &args[0], &out, mask);
            return Ok(());
        }
    }
    if matches!(ty, Type::U16x2 | Type::S16x2) {
        let f = |x: u16, y: u16| -> u16 {
            let (sx, sy) = (x as i16, y as i16);
            match op {
                IntOp::Add => x.wrapping_add(y),
                IntOp::Min if signed => sx.min(sy) as u16,
                IntOp::Max if signed => sx.max(sy) as u16,
                IntOp::Min => x.min(y),
                IntOp::Max => x.max(y),
                IntOp::MinRelu => sx.min(sy).max(0) as u16,
                _ => sx.max(sy).max(0) as u16,
            }
        };
        let out = std::array::from_fn(|i| map_x2(a[i] as u32, b[i] as u32, f));
        w.set32(frame, &args[0], &out, mask);
        return Ok(());
    }
    let mut out = [0u64; 32];
    for lane in lanes(mask) {
        let (x, y) = (extend(a[lane], bits, signed), extend(b[lane], bits, signed));
        let z = |bits| extend(c[lane], bits, signed);
        let clamp = |v: i128| if sat { v.clamp(i128::from(i32::MIN), i128::from(i32::MAX)) } else { v };
        let x24 = || extend(a[lane], 24, signed);
        let y24 = || extend(b[lane], 24, signed);
        let v = match op {
            IntOp::Add => clamp(x + y),
            IntOp::Sub => clamp(x - y),
            IntOp::MulLo | IntOp::MulWide => x.wrapping_mul(y),
            IntOp::MulHi => high(x, y, bits, signed),
            IntOp::MadLo => x.wrapping_mul(y).wrapping_add(z(bits)),
            IntOp::MadHi => clamp(high(x, y, bits, signed) + z(bits)),
            IntOp::MadWide => (x * y).wrapping_add(z(2 * bits)),
            IntOp::Mul24Lo => x24() * y24(),
            IntOp::Mul24Hi => (x24() * y24()) >> 16,
            IntOp::Mad24Lo => x24() * y24() + z(32),
            IntOp::Mad24Hi => clamp(((x24() * y24()) >> 16) + z(32)),
            IntOp::Sad => z(bits) + (x - y).abs(),
            // PTX leaves the result of a division by zero to the machine; current devices return all ones.
            IntOp::Div => {
                if y == 0 {
                    -1
                } else {
                    x / y
                }
            }
            IntOp::Rem => {
                if y == 0 {
                    x
                } else {
                    x % y
                }
            }
            IntOp::Abs => x.abs(),
            IntOp::Neg => -x,
            IntOp::Min => x.min(y),
            IntOp::Max => x.max(y),
            IntOp::MinRelu => x.min(y).max(0),
            IntOp::MaxRelu => x.max(y).max(0),
        };
        out[lane] = v as u64;
    }
    if bits == 0 {
        return Err(SimErrorKind::InvalidOperand("integer type without width".into()).into());
    }
    // Truncates results narrower than their register. The register of a 16-bit type has 16 bits.
    w.set64(frame, &args[0], &out, mask);
    Ok(())
}

/// The upper half of a product of two `bits`-bit values.
fn high(x: i128, y: i128, bits: u32, signed: bool) -> i128 {
    if bits == 64 && !signed { ((x as u128).wrapping_mul(y as u128) >> 64) as i128 } else { (x * y) >> bits }
}

/// `add.cc` and related instructions. The frame holds the carry flag, one bit for each lane.
#[allow(clippy::too_many_arguments, reason = "the operands of one instruction family")]
pub(crate) fn carry(w: &mut Warp, frame: u32, op: CarryOp, ty: Type, cin: bool, cout: bool, args: &[DArg], mask: u32) {
    let bits = ty.bits();
    let limit = 1u128 << bits;
    let a = w.src64(frame, &args[1]);
    let b = w.src64(frame, &args[2]);
    let c = args.get(3).map_or([0; 32], |x| w.src64(frame, x));
    let flags = w.frames[frame as usize].carry;
    let mut out = [0u64; 32];
    let mut new = 0u32;
    for lane in lanes(mask) {
        let (x, y) = (u128::from(a[lane]) % limit, u128::from(b[lane]) % limit);
        let carry_in = u128::from(cin && flags >> lane & 1 != 0);
        let (value, carried) = match op {
            CarryOp::Add => {
                let s = x + y + carry_in;
                (s, s >= limit)
            }
            CarryOp::Sub => {
                let (s, borrow) = (x.wrapping_sub(y).wrapping_sub(carry_in), x < y + carry_in);
                (s, borrow)
            }
            CarryOp::MadLo | CarryOp::MadHi => {
                let product = if ty.is_signed() {
                    (extend(a[lane], bits, true) * extend(b[lane], bits, true)) as u128
                } else {
                    x.wrapping_mul(y)
                };
                let half = if op == CarryOp::MadLo { product % limit } else { (product >> bits) % limit };
                let s = half + u128::from(c[lane]) % limit + carry_in;
                (s, s >= limit)
            }
        };
        out[lane] = (value % limit) as u64;
        new |= u32::from(carried) << lane;
    }
    w.set64(frame, &args[0], &out, mask);
    if cout {
        let f = w.frame(frame);
        f.carry = (f.carry & !mask) | new;
    }
}

pub(crate) fn dot(w: &mut Warp, frame: u32, op: DotOp, a_signed: bool, b_signed: bool, args: &[DArg], mask: u32) {
    let a = w.src32(frame, &args[1]);
    let b = w.src32(frame, &args[2]);
    let c = w.src32(frame, &args[3]);
    let byte = |v: u32, i: u32, s: bool| extend(u64::from(v >> (8 * i)), 8, s) as i64;
    let half = |v: u32, i: u32, s: bool| extend(u64::from(v >> (16 * i)), 16, s) as i64;
    let out = std::array::from_fn(|l| {
        let sum: i64 = match op {
            DotOp::Dp4a => (0..4).map(|i| byte(a[l], i, a_signed) * byte(b[l], i, b_signed)).sum(),
            DotOp::Dp2aLo => (0..2).map(|i| half(a[l], i, a_signed) * byte(b[l], i, b_signed)).sum(),
            DotOp::Dp2aHi => (0..2).map(|i| half(a[l], i, a_signed) * byte(b[l], i + 2, b_signed)).sum(),
        };
        (i64::from(c[l]) + sum) as u32
    });
    w.set32(frame, &args[0], &out, mask);
}

/// `lop3`: looks up the table's bit for each combination of the three inputs.
#[inline]
fn lop3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let mut out = 0;
    for i in 0..8 {
        if table >> i & 1 != 0 {
            let x = if i & 4 != 0 { a } else { !a };
            let y = if i & 2 != 0 { b } else { !b };
            let z = if i & 1 != 0 { c } else { !c };
            out |= x & y & z;
        }
    }
    out
}

/// `prmt`: selects four of the eight bytes of `{b, a}`.
fn prmt(a: u32, b: u32, c: u32, mode: Option<PrmtMode>) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    let byte = |i: u32| (bytes >> (8 * (i & 7))) as u32 & 0xff;
    let pick = |sel: [u32; 4]| sel.iter().enumerate().fold(0, |v, (i, s)| v | byte(*s) << (8 * i));
    let n = c & 3;
    match mode {
        None => (0..4).fold(0, |v, i| {
            let sel = c >> (4 * i) & 0xf;
            let value = byte(sel);
            let value = if sel & 8 != 0 { if value & 0x80 != 0 { 0xff } else { 0 } } else { value };
            v | value << (8 * i)
        }),
        Some(PrmtMode::F4e) => pick([n, n + 1, n + 2, n + 3]),
        Some(PrmtMode::B4e) => pick([n, n.wrapping_sub(1), n.wrapping_sub(2), n.wrapping_sub(3)]),
        Some(PrmtMode::Rc8) => pick([n; 4]),
        Some(PrmtMode::Ecl) => pick([n, 1.max(n), 2.max(n), 3]),
        Some(PrmtMode::Ecr) => pick([0, 1.min(n), 2.min(n), n]),
        Some(PrmtMode::Rc16) => {
            let low = 2 * (n & 1);
            pick([low, low + 1, low, low + 1])
        }
    }
}

fn bfe(a: u64, pos: u32, len: u32, bits: u32, signed: bool) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    let value = extend(a, bits, false) as u64;
    let sign_at = if len == 0 { None } else { Some((pos + len - 1).min(bits - 1)) };
    let sign = signed && sign_at.is_some_and(|p| value >> p & 1 != 0);
    (0..bits).fold(0, |v, i| {
        let bit = if i < len && pos + i < bits { value >> (pos + i) & 1 != 0 } else { sign };
        v | u64::from(bit) << i
    })
}

fn bfi(a: u64, b: u64, pos: u32, len: u32, bits: u32) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    let len = len.min(bits.saturating_sub(pos));
    if len == 0 || pos >= bits {
        return b;
    }
    let field = (u64::MAX >> (64 - len)) << pos;
    (b & !field) | (a << pos & field)
}

fn bfind(a: u64, bits: u32, signed: bool, shiftamt: bool) -> u32 {
    let mut value = extend(a, bits, false) as u64;
    if signed && value >> (bits - 1) & 1 != 0 {
        value = !value & (u64::MAX >> (64 - bits));
    }
    if value == 0 {
        return u32::MAX;
    }
    let position = 63 - value.leading_zeros();
    if shiftamt { bits - 1 - position } else { position }
}

/// `fns`: the position of the n-th set bit counted from a base, or all ones.
fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    let set = |i: i32| (0..32).contains(&i) && mask >> i & 1 != 0;
    let base = (base & 31) as i32;
    if offset == 0 {
        return if set(base) { base as u32 } else { u32::MAX };
    }
    let step = offset.signum();
    let mut left = offset.unsigned_abs();
    let mut at = base;
    while (0..32).contains(&at) {
        if set(at) {
            left -= 1;
            if left == 0 {
                return at as u32;
            }
        }
        at += step;
    }
    u32::MAX
}

/// Logic, shifts and bit fields.
pub(crate) fn bits(w: &mut Warp, frame: u32, op: BitOp, ty: Type, args: &[DArg], mask: u32) {
    if ty == Type::Pred {
        let a = w.src_pred(frame, &args[1]);
        let b = args.get(2).map_or(0, |x| w.src_pred(frame, x));
        let out = match op {
            BitOp::And => a & b,
            BitOp::Or => a | b,
            BitOp::Xor => a ^ b,
            _ => !a,
        };
        return w.set_pred(frame, &args[0], out, mask);
    }
    let width = ty.bits();
    let signed = ty.is_signed();
    if width == 32 {
        let a = w.src32(frame, &args[1]);
        let fast = match op {
            BitOp::And => Some(zip32(&a, &w.src32(frame, &args[2]), |a, b| a & b)),
            BitOp::Or => Some(zip32(&a, &w.src32(frame, &args[2]), |a, b| a | b)),
            BitOp::Xor => Some(zip32(&a, &w.src32(frame, &args[2]), |a, b| a ^ b)),
            BitOp::Not => Some(a.map(|a| !a)),
            BitOp::Shl => Some(zip32(&a, &w.src32(frame, &args[2]), |a, b| if b > 31 { 0 } else { a << b })),
            BitOp::Shr if signed => Some(zip32(&a, &w.src32(frame, &args[2]), |a, b| ((a as i32) >> b.min(31)) as u32)),
            BitOp::Shr => Some(zip32(&a, &w.src32(frame, &args[2]), |a, b| if b > 31 { 0 } else { a >> b })),
            BitOp::Lop3 => {
                let (b, c) = (w.src32(frame, &args[2]), w.src32(frame, &args[3]));
                let table = w.src32(frame, &args[4])[0];
                Some(std::array::from_fn(|i| lop3(a[i], b[i], c[i], table)))
            }
            _ => None,
        };
        if let Some(out) = fast {
            return w.set32(frame, &args[0], &out, mask);
        }
    }
    if let BitOp::Lop3Bool(combine) = op {
        let a = w.src32(frame, &args[2]);
        let (b, c) = (w.src32(frame, &args[3]), w.src32(frame, &args[4]));
        let table = w.src32(frame, &args[5])[0];
        let q = w.src_pred(frame, &args[6]);
        let out: Lanes = std::array::from_fn(|i| lop3(a[i], b[i], c[i], table));
        let nonzero = lane_mask(&out.map(u64::from));
        let p = match combine {
            BoolOp::And => nonzero & q,
            BoolOp::Or => nonzero | q,
            BoolOp::Xor => nonzero ^ q,
        };
        w.set32(frame, &args[0], &out, mask);
        return w.set_pred(frame, &args[1], p, mask);
    }
    let a = w.src64(frame, &args[1]);
    let b = args.get(2).map_or([0; 32], |x| w.src64(frame, x));
    let c = args.get(3).map_or([0; 32], |x| w.src64(frame, x));
    let d = args.get(4).map_or([0; 32], |x| w.src64(frame, x));
    let out: Lanes64 = std::array::from_fn(|i| {
        let (x, y, z) = (a[i], b[i], c[i]);
        let amount = y as u32;
        match op {
            BitOp::And => x & y,
            BitOp::Or => x | y,
            BitOp::Xor => x ^ y,
            BitOp::Not => !x,
            BitOp::Cnot => u64::from(extend(x, width, false) == 0),
            BitOp::Shl => x.checked_shl(amount).filter(|_| amount < width).unwrap_or(0),
            BitOp::Shr => (extend(x, width, signed) >> amount.min(127)) as u64,
            BitOp::ShfL { wrap } => {
                let n = if wrap { z as u32 & 31 } else { (z as u32).min(32) };
                (y << 32 | x & 0xffff_ffff) << n >> 32
            }
            BitOp::ShfR { wrap } => {
                let n = if wrap { z as u32 & 31 } else { (z as u32).min(32) };
                (y << 32 | x & 0xffff_ffff) >> n
            }
            BitOp::Prmt(mode) => u64::from(prmt(x as u32, y as u32, z as u32, mode)),
            BitOp::Popc => u64::from((extend(x, width, false) as u64).count_ones()),
            BitOp::Clz => u64::from((extend(x, width, false) as u64).leading_zeros() - (64 - width)),
            BitOp::Brev => x.reverse_bits() >> (64 - width),
            BitOp::Bfe => bfe(x, y as u32, z as u32, width, signed),
            BitOp::Bfi => bfi(x, y, z as u32, d[i] as u32, width),
            BitOp::Bfind { shiftamt } => u64::from(bfind(x, width, signed, shiftamt)),
            BitOp::Fns => u64::from(fns(x as u32, y as u32, z as u32 as i32)),
            BitOp::Szext { wrap } => {
                let n = if wrap { y as u32 & 31 } else { (y as u32).min(32) };
                if n == 0 { 0 } else { extend(x, n, signed) as u64 }
            }
            BitOp::Bmsk { wrap } => {
                let (pos, len) = (x as u32, y as u32);
                let (pos, len) = if wrap { (pos & 31, len & 31) } else { (pos, len.min(32)) };
                let field = if len == 0 { 0 } else { u64::MAX >> (64 - len) };
                if pos > 31 { 0 } else { field << pos }
            }
            BitOp::Lop3 | BitOp::Lop3Bool(_) => 0,
        }
    });
    w.set64(frame, &args[0], &out, mask);
}
