//! Forms of moves, arithmetic, logic, comparison and conversion.

use super::error::ParseErrorKind;
use super::form::{FormResult, Mods, form as mk, form_opt};
use super::operands::{K, RawArgs};
use crate::ir::*;
use Type::*;

const INT16_64: &[Type] = &[U16, U32, U64, S16, S32, S64];

/// Returns the form of an instruction of this group, or `None` if the opcode belongs to another group.
pub(crate) fn form(m: &mut Mods<'_>, raw: &RawArgs) -> Option<FormResult> {
    Some(match m.base {
        "mov" => mov(m, raw),
        "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "abs" | "neg" | "min" | "max" | "addc" | "subc"
        | "madc" => arithmetic(m),
        "mul24" | "mad24" => mul24(m),
        "sad" => m
            .ty_of(|t| INT16_64.contains(&t))
            .and_then(|ty| int(IntOp::Sad, ty, &[K::D(ty), K::S(ty), K::S(ty), K::S(ty)])),
        "dp4a" | "dp2a" => dot(m),
        "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => special(m),
        "copysign" => m
            .ty_of(|t| matches!(t, F32 | F64))
            .and_then(|ty| mk(Op::Float { op: FloatOp::Copysign, ty, m: plain() }, &[K::D(ty), K::S(ty), K::S(ty)])),
        "and" | "or" | "xor" | "not" | "cnot" => logic(m),
        "shl" | "shr" => shift(m),
        "shf" => funnel(m),
        "lop3" => lop3(m),
        "prmt" => {
            let mode = m.pick::<PrmtMode>();
            m.ty_of(|t| t == B32).and_then(|ty| bits(BitOp::Prmt(mode), ty, &[K::D(ty), K::S(ty), K::S(ty), K::S(ty)]))
        }
        "popc" | "clz" => {
            let op = if m.base == "popc" { BitOp::Popc } else { BitOp::Clz };
            m.ty_of(|t| matches!(t, B32 | B64)).and_then(|ty| bits(op, ty, &[K::D(U32), K::S(ty)]))
        }
        "brev" => m.ty_of(|t| matches!(t, B32 | B64)).and_then(|ty| bits(BitOp::Brev, ty, &[K::D(ty), K::S(ty)])),
        "bfind" => {
            let shiftamt = m.flag("shiftamt");
            m.ty_of(|t| matches!(t, U32 | U64 | S32 | S64))
                .and_then(|ty| bits(BitOp::Bfind { shiftamt }, ty, &[K::D(U32), K::S(ty)]))
        }
        "bfe" => m
            .ty_of(|t| matches!(t, U32 | U64 | S32 | S64))
            .and_then(|ty| bits(BitOp::Bfe, ty, &[K::D(ty), K::S(ty), K::S(U32), K::S(U32)])),
        "bfi" => m
            .ty_of(|t| matches!(t, B32 | B64))
            .and_then(|ty| bits(BitOp::Bfi, ty, &[K::D(ty), K::S(ty), K::S(ty), K::S(U32), K::S(U32)])),
        "fns" => m.ty_of(|t| t == B32).and_then(|ty| bits(BitOp::Fns, ty, &[K::D(ty), K::S(ty), K::S(ty), K::S(S32)])),
        "szext" | "bmsk" => wrapped(m),
        "testp" => {
            let prop = m.pick::<TestProp>().ok_or_else(|| m.missing("a property"));
            prop.and_then(|prop| {
                let ty = m.ty_of(|t| matches!(t, F32 | F64))?;
                mk(Op::Testp { prop, ty }, &[K::Dp, K::S(ty)])
            })
        }
        "setp" | "set" => compare(m),
        "selp" => m
            .ty_of(|t| t.bits() >= 16 && t.bits() <= 64)
            .and_then(|ty| mk(Op::Selp { ty }, &[K::D(ty), K::S(ty), K::S(ty), K::Sp])),
        "slct" => slct(m),
        "cvt" => cvt(m),
        _ => return None,
    })
}

fn plain() -> FloatMods {
    FloatMods {
        rnd: Rnd::Rn,
        accuracy: Accuracy::Ieee,
        ftz: false,
        sat: false,
        relu: false,
        nan: false,
        xorsign_abs: false,
        abs: false,
    }
}

fn int(op: IntOp, ty: Type, kinds: &[K]) -> FormResult {
    mk(Op::Int { op, ty, sat: false }, kinds)
}

fn bits(op: BitOp, ty: Type, kinds: &[K]) -> FormResult {
    mk(Op::Bits { op, ty }, kinds)
}

/// The untyped type of a given width, for the parts of a packing `mov`.
fn part(bits: u32) -> Option<Type> {
    Some(match bits {
        8 => B8,
        16 => B16,
        32 => B32,
        64 => B64,
        _ => return None,
    })
}

fn mov(m: &mut Mods<'_>, raw: &RawArgs) -> FormResult {
    let ty = m.ty()?;
    if ty == Pred {
        return mk(Op::Mov { ty }, &[K::Dp, K::Sp]);
    }
    if !(8..=128).contains(&ty.bits()) {
        return Err(m.bad_type(ty));
    }
    let count = |r: Option<&super::operands::Raw>| match r.map(|r| &r.op) {
        Some(Operand::Vec(v)) => v.len() as u32,
        _ => 0,
    };
    let (dst, src) = (count(raw.first()), count(raw.get(1)));
    let part_of = |n: u32| {
        part(ty.bits().checked_div(n).unwrap_or(0))
            .filter(|p| p.bits() * n == ty.bits())
            .ok_or_else(|| ParseErrorKind::BadValue(format!("cannot split .{ty} into {n} parts")))
    };
    let kinds = match (dst, src) {
        (0, 0) => [K::D(ty), K::S(ty)],
        (0, n) => [K::D(ty), K::Vs(n as usize, part_of(n)?)],
        (n, 0) => [K::Vd(n as usize, part_of(n)?), K::S(ty)],
        _ => return Err(ParseErrorKind::BadValue("mov between two vectors".into())),
    };
    mk(Op::Mov { ty }, &kinds)
}

fn float_mods(m: &mut Mods<'_>) -> FloatMods {
    let ftz = m.flag("ftz");
    let sat = m.flag("sat");
    let relu = m.flag("relu");
    let nan = m.flag("NaN");
    let xorsign = m.flag("xorsign");
    let abs = m.flag("abs");
    let accuracy = if m.flag("approx") {
        Accuracy::Approx
    } else if m.flag("full") {
        Accuracy::Full
    } else {
        Accuracy::Ieee
    };
    let rnd = m.pick_with(|s| match s {
        "rn" => Some(Rnd::Rn),
        "rz" => Some(Rnd::Rz),
        "rm" => Some(Rnd::Rm),
        "rp" => Some(Rnd::Rp),
        _ => None,
    });
    FloatMods {
        rnd: rnd.unwrap_or(Rnd::Rn),
        accuracy,
        ftz,
        sat,
        relu,
        nan,
        xorsign_abs: xorsign && abs,
        abs: abs && !xorsign,
    }
}

fn arithmetic(m: &mut Mods<'_>) -> FormResult {
    let cc = m.flag("cc");
    if cc || m.base.len() == 4 && m.base.ends_with('c') {
        return carry(m, cc);
    }
    let width = m.pick_with(|s| matches!(s, "lo" | "hi" | "wide").then_some(s));
    let fm = float_mods(m);
    let ty = m.ty()?;
    let base = m.base;
    if ty.is_float() {
        if width.is_some() {
            return Err(m.bad_type(ty));
        }
        let op = match base {
            "add" => FloatOp::Add,
            "sub" => FloatOp::Sub,
            "mul" => FloatOp::Mul,
            "mad" | "fma" => FloatOp::Fma,
            "div" => FloatOp::Div,
            "abs" => FloatOp::Abs,
            "neg" => FloatOp::Neg,
            "min" => FloatOp::Min,
            "max" => FloatOp::Max,
            _ => return Err(m.bad_type(ty)),
        };
        if let Some(src) = m.pick::<Type>() {
            // `add.f32.bf16 d, a, c`: the narrow operands come first; the addend has the type of the result.
            if ty != F32 || !matches!(src, F16 | BF16) || !matches!(op, FloatOp::Add | FloatOp::Sub | FloatOp::Fma) {
                return Err(m.bad_type(src));
            }
            let kinds: &[K] = if op == FloatOp::Fma {
                &[K::D(ty), K::S(src), K::S(src), K::S(ty)]
            } else {
                &[K::D(ty), K::S(src), K::S(ty)]
            };
            return mk(Op::MixedFloat { op, ty, src, m: fm }, kinds);
        }
        if matches!(op, FloatOp::Div) && !matches!(ty, F32 | F64) || ty == TF32 {
            return Err(m.bad_type(ty));
        }
        let op = Op::Float { op, ty, m: fm };
        let (d, s) = (K::D(ty), K::S(ty));
        return match base {
            "abs" | "neg" => mk(op, &[d, s]),
            "fma" | "mad" => mk(op, &[d, s, s, s]),
            "min" | "max" => form_opt(op, &[d, s, s], &[s]),
            _ => mk(op, &[d, s, s]),
        };
    }
    if fm != (FloatMods { sat: fm.sat, relu: fm.relu, ..plain() }) {
        return Err(m.bad_type(ty));
    }
    let small_packed = matches!(ty, U16x2 | S16x2);
    if !INT16_64.contains(&ty) && !small_packed {
        return Err(m.bad_type(ty));
    }
    let op = match (base, width) {
        ("add", None) => IntOp::Add,
        ("sub", None) => IntOp::Sub,
        ("mul", Some("lo")) => IntOp::MulLo,
        ("mul", Some("hi")) => IntOp::MulHi,
        ("mul", Some("wide")) => IntOp::MulWide,
        ("mad", Some("lo")) => IntOp::MadLo,
        ("mad", Some("hi")) => IntOp::MadHi,
        ("mad", Some("wide")) => IntOp::MadWide,
        ("mul" | "mad", None) => return Err(m.missing("'.lo', '.hi' or '.wide'")),
        ("div", None) => IntOp::Div,
        ("rem", None) => IntOp::Rem,
        ("abs", None) => IntOp::Abs,
        ("neg", None) => IntOp::Neg,
        ("min", None) if fm.relu => IntOp::MinRelu,
        ("max", None) if fm.relu => IntOp::MaxRelu,
        ("min", None) => IntOp::Min,
        ("max", None) => IntOp::Max,
        _ => return Err(m.bad_type(ty)),
    };
    if small_packed && !matches!(op, IntOp::Add | IntOp::Min | IntOp::Max | IntOp::MinRelu | IntOp::MaxRelu) {
        return Err(m.bad_type(ty));
    }
    let sat_ok = !fm.sat || ty == S32 && matches!(op, IntOp::Add | IntOp::Sub | IntOp::MadHi);
    let relu_ok = !fm.relu || matches!(op, IntOp::MinRelu | IntOp::MaxRelu) && matches!(ty, S32 | S16x2);
    if !sat_ok || !relu_ok {
        return Err(m.bad_type(ty));
    }
    let (d, s) = (K::D(ty), K::S(ty));
    let op_full = Op::Int { op, ty, sat: fm.sat };
    let wide = match ty {
        U16 => Some(U32),
        S16 => Some(S32),
        U32 => Some(U64),
        S32 => Some(S64),
        _ => None,
    };
    match op {
        IntOp::MulWide | IntOp::MadWide => {
            let w = wide.ok_or_else(|| m.bad_type(ty))?;
            if op == IntOp::MulWide { mk(op_full, &[K::D(w), s, s]) } else { mk(op_full, &[K::D(w), s, s, K::S(w)]) }
        }
        IntOp::MadLo | IntOp::MadHi => mk(op_full, &[d, s, s, s]),
        IntOp::Abs | IntOp::Neg => mk(op_full, &[d, s]),
        _ => mk(op_full, &[d, s, s]),
    }
}

fn carry(m: &mut Mods<'_>, cout: bool) -> FormResult {
    let cin = m.base.len() == 4;
    let width = m.pick_with(|s| matches!(s, "lo" | "hi").then_some(s));
    let op = match (m.base, width) {
        ("add" | "addc", None) => CarryOp::Add,
        ("sub" | "subc", None) => CarryOp::Sub,
        ("mad" | "madc", Some("lo")) => CarryOp::MadLo,
        ("mad" | "madc", Some("hi")) => CarryOp::MadHi,
        _ => return Err(m.unknown()),
    };
    let ty = m.ty_of(|t| matches!(t, U32 | S32 | U64 | S64))?;
    let s = K::S(ty);
    let op_full = Op::Carry { op, ty, cin, cout };
    match op {
        CarryOp::Add | CarryOp::Sub => mk(op_full, &[K::D(ty), s, s]),
        _ => mk(op_full, &[K::D(ty), s, s, s]),
    }
}

fn mul24(m: &mut Mods<'_>) -> FormResult {
    let hi = m.pick_with(|s| match s {
        "lo" => Some(false),
        "hi" => Some(true),
        _ => None,
    });
    let hi = hi.ok_or_else(|| m.missing("'.lo' or '.hi'"))?;
    let sat = m.flag("sat");
    let ty = m.ty_of(|t| matches!(t, U32 | S32))?;
    let s = K::S(ty);
    let (op, kinds): (IntOp, &[K]) = match (m.base, hi) {
        ("mul24", false) => (IntOp::Mul24Lo, &[K::D(ty), s, s]),
        ("mul24", true) => (IntOp::Mul24Hi, &[K::D(ty), s, s]),
        (_, false) => (IntOp::Mad24Lo, &[K::D(ty), s, s, s]),
        (_, true) => (IntOp::Mad24Hi, &[K::D(ty), s, s, s]),
    };
    if sat && !(op == IntOp::Mad24Hi && ty == S32) {
        return Err(m.bad_type(ty));
    }
    mk(Op::Int { op, ty, sat }, kinds)
}

fn dot(m: &mut Mods<'_>) -> FormResult {
    let op = if m.base == "dp4a" {
        DotOp::Dp4a
    } else if m.flag("lo") {
        DotOp::Dp2aLo
    } else if m.flag("hi") {
        DotOp::Dp2aHi
    } else {
        return Err(m.missing("'.lo' or '.hi'"));
    };
    let a = m.ty_of(|t| matches!(t, U32 | S32))?;
    let b = m.ty_of(|t| matches!(t, U32 | S32))?;
    let op = Op::Dot { op, a_signed: a == S32, b_signed: b == S32 };
    mk(op, &[K::D(B32), K::S(B32), K::S(B32), K::S(B32)])
}

fn special(m: &mut Mods<'_>) -> FormResult {
    let rounding_given = ["rn", "rz", "rm", "rp"].iter().any(|r| m.has(r));
    let fm = float_mods(m);
    let op = match m.base {
        "rcp" => FloatOp::Rcp,
        "sqrt" => FloatOp::Sqrt,
        "rsqrt" => FloatOp::Rsqrt,
        "sin" => FloatOp::Sin,
        "cos" => FloatOp::Cos,
        "lg2" => FloatOp::Lg2,
        "ex2" => FloatOp::Ex2,
        _ => FloatOp::Tanh,
    };
    let ty = m.ty()?;
    let approx = fm.accuracy == Accuracy::Approx;
    if approx == rounding_given {
        return Err(m.missing("'.approx' or a rounding mode"));
    }
    let ok = match op {
        FloatOp::Rcp => ty == F32 || ty == F64 && (!approx || fm.ftz),
        FloatOp::Sqrt => ty == F32 || ty == F64 && !approx,
        FloatOp::Rsqrt => approx && matches!(ty, F32 | F64),
        FloatOp::Sin | FloatOp::Cos | FloatOp::Lg2 => approx && ty == F32,
        _ => approx && matches!(ty, F32 | F16 | F16x2 | BF16 | BF16x2),
    };
    if !ok {
        return Err(m.bad_type(ty));
    }
    mk(Op::Float { op, ty, m: fm }, &[K::D(ty), K::S(ty)])
}

fn logic(m: &mut Mods<'_>) -> FormResult {
    let ty = m.ty_of(|t| matches!(t, Pred | B16 | B32 | B64))?;
    let op = match m.base {
        "and" => BitOp::And,
        "or" => BitOp::Or,
        "xor" => BitOp::Xor,
        "not" => BitOp::Not,
        _ => BitOp::Cnot,
    };
    let (d, s) = if ty == Pred { (K::Dp, K::Sp) } else { (K::D(ty), K::S(ty)) };
    match op {
        BitOp::Not => bits(op, ty, &[d, s]),
        BitOp::Cnot if ty != Pred => bits(op, ty, &[d, s]),
        BitOp::Cnot => Err(m.bad_type(ty)),
        _ => bits(op, ty, &[d, s, s]),
    }
}

fn shift(m: &mut Mods<'_>) -> FormResult {
    if m.base == "shl" {
        let ty = m.ty_of(|t| matches!(t, B16 | B32 | B64))?;
        bits(BitOp::Shl, ty, &[K::D(ty), K::S(ty), K::S(U32)])
    } else {
        let ty = m.ty_of(|t| matches!(t, B16 | B32 | B64) || INT16_64.contains(&t))?;
        bits(BitOp::Shr, ty, &[K::D(ty), K::S(ty), K::S(U32)])
    }
}

fn wrap_mode(m: &mut Mods<'_>) -> std::result::Result<bool, ParseErrorKind> {
    m.pick_with(|s| match s {
        "wrap" => Some(true),
        "clamp" => Some(false),
        _ => None,
    })
    .ok_or_else(|| m.missing("'.wrap' or '.clamp'"))
}

fn funnel(m: &mut Mods<'_>) -> FormResult {
    let left = m.flag("l");
    if !left {
        m.require("r")?;
    }
    let wrap = wrap_mode(m)?;
    let ty = m.ty_of(|t| t == B32)?;
    let op = if left { BitOp::ShfL { wrap } } else { BitOp::ShfR { wrap } };
    bits(op, ty, &[K::D(ty), K::S(ty), K::S(ty), K::S(U32)])
}

fn wrapped(m: &mut Mods<'_>) -> FormResult {
    let wrap = wrap_mode(m)?;
    if m.base == "szext" {
        let ty = m.ty_of(|t| matches!(t, U32 | S32))?;
        bits(BitOp::Szext { wrap }, ty, &[K::D(ty), K::S(ty), K::S(U32)])
    } else {
        let ty = m.ty_of(|t| t == B32)?;
        bits(BitOp::Bmsk { wrap }, ty, &[K::D(ty), K::S(U32), K::S(U32)])
    }
}

fn lop3(m: &mut Mods<'_>) -> FormResult {
    let combine = m.pick::<BoolOp>();
    let ty = m.ty_of(|t| t == B32)?;
    let s = K::S(ty);
    match combine {
        None => bits(BitOp::Lop3, ty, &[K::D(ty), s, s, s, K::Int]),
        Some(op) => bits(BitOp::Lop3Bool(op), ty, &[K::Pair(ty), s, s, s, K::Int, K::Sp]),
    }
}

fn compare(m: &mut Mods<'_>) -> FormResult {
    let cmp = m.pick::<Cmp>().ok_or_else(|| m.missing("a comparison"))?;
    let combine = m.pick::<BoolOp>();
    let ftz = m.flag("ftz");
    let dty = if m.base == "set" { Some(m.ty()?) } else { None };
    let ty = m.ty()?;
    use Cmp::*;
    let ok = if ty.is_float() {
        !matches!(cmp, Lo | Ls | Hi | Hs) && ty != TF32 && ty != F32x2
    } else if ty.is_bits() {
        matches!(cmp, Eq | Ne) && ty.bits() >= 16 && ty.bits() <= 64
    } else if INT16_64.contains(&ty) {
        matches!(cmp, Eq | Ne | Lt | Le | Gt | Ge) || !ty.is_signed() && matches!(cmp, Lo | Ls | Hi | Hs)
    } else {
        false
    };
    if !ok {
        return Err(m.bad_type(ty));
    }
    let s = K::S(ty);
    let mut kinds = vec![];
    let op = match dty {
        Some(dty) => {
            if !matches!(dty, U32 | S32 | F32 | U16 | S16 | F16 | BF16 | F16x2 | BF16x2) {
                return Err(m.bad_type(dty));
            }
            kinds.push(K::D(dty));
            Op::Set { cmp, dty, ty, ftz, combine }
        }
        None => {
            kinds.push(K::PredPair);
            Op::Setp { cmp, ty, ftz, combine }
        }
    };
    kinds.extend([s, s]);
    if combine.is_some() {
        kinds.push(K::Sp);
    }
    mk(op, &kinds)
}

fn slct(m: &mut Mods<'_>) -> FormResult {
    let ftz = m.flag("ftz");
    let ty = m.ty_of(|t| t.bits() >= 16 && t.bits() <= 64)?;
    let cty = m.ty_of(|t| matches!(t, S32 | F32))?;
    mk(Op::Slct { ty, cty, ftz }, &[K::D(ty), K::S(ty), K::S(ty), K::S(cty)])
}

fn cvt(m: &mut Mods<'_>) -> FormResult {
    if m.flag("pack") {
        m.require("sat")?;
        let dty = m.ty_of(|t| matches!(t, U16 | S16 | U8 | S8 | U4 | S4) || t == B4)?;
        let sty = m.ty_of(|t| t == S32)?;
        let has_c = dty.bits() < 16;
        if has_c {
            m.require("b32")?;
            let kinds = [K::D(B32), K::S(sty), K::S(sty), K::S(B32)];
            return mk(Op::CvtPack { dty, sty, has_c }, &kinds);
        }
        return mk(Op::CvtPack { dty, sty, has_c }, &[K::D(B32), K::S(sty), K::S(sty)]);
    }
    let rnd = m.pick::<Rnd>();
    let ftz = m.flag("ftz");
    let sat = m.flag("sat");
    let relu = m.flag("relu");
    let satfinite = m.flag("satfinite");
    let scaled = m.flag("scaled::n2::ue8m0");
    // Signed fixed point, and four elements at once, whose order of random bits is not modeled.
    if m.has("s2f6x2") || ["e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4"].iter().any(|ty| m.has(ty)) {
        return Err(m.unsupported());
    }
    let dty = m.ty()?;
    let sty = m.ty()?;
    let stochastic = rnd == Some(Rnd::Rs);
    if stochastic && !(matches!(dty, F16x2 | BF16x2) && sty == F32) {
        return Err(m.unsupported());
    }
    if scaled {
        if dty != BF16x2 || !matches!(sty, E4M3x2 | E5M2x2 | E3M2x2 | E2M3x2 | E2M1x2) {
            return Err(m.bad_type(if dty == BF16x2 { sty } else { dty }));
        }
        if rnd != Some(Rnd::Rn) {
            return Err(m.missing("'.rn'"));
        }
        let op = Op::Cvt(CvtMods { dty, sty, rnd, ftz, sat, satfinite, relu, two_sources: false, scaled });
        return mk(op, &[K::Dw(dty), K::Sw(sty), K::S(B16)]);
    }
    let packed = |t: Type| matches!(t, F16x2 | BF16x2 | E4M3x2 | E5M2x2 | E3M2x2 | E2M3x2 | E2M1x2 | UE8M0x2);
    let scalar = |t: Type| matches!(t, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 | F16 | BF16 | F32 | F64 | TF32);
    let two_sources = packed(dty) && sty == F32;
    let one_byte = |t: Type| matches!(t, E4M3x2 | E5M2x2 | E3M2x2 | E2M3x2 | E2M1x2 | UE8M0x2);
    let half2 = |t: Type| matches!(t, F16x2 | BF16x2);
    let pairs_ok = two_sources || one_byte(dty) && half2(sty) || half2(dty) && one_byte(sty);
    if !(pairs_ok || scalar(dty) && scalar(sty)) {
        return Err(m.bad_type(sty));
    }
    let (d_float, s_float) = (dty.is_float() || one_byte(dty), sty.is_float() || one_byte(sty));
    let integral = matches!(rnd, Some(Rnd::Rni | Rnd::Rzi | Rnd::Rmi | Rnd::Rpi));
    let plain_rnd = matches!(rnd, Some(Rnd::Rn | Rnd::Rz | Rnd::Rm | Rnd::Rp | Rnd::Rna));
    let float_bits = |t: Type| if t == BF16 { 16 } else { t.bits() };
    let needs_plain = d_float && !one_byte(dty) && !s_float
        || (d_float && s_float && (float_bits(dty) < float_bits(sty)) && !half2(dty) && !one_byte(dty) && dty != TF32);
    if s_float && !d_float && !integral {
        return Err(m.missing("an integer rounding mode such as '.rni'"));
    }
    if needs_plain && !plain_rnd {
        return Err(m.missing("a rounding mode such as '.rn'"));
    }
    if !d_float && !s_float && rnd.is_some() {
        return Err(ParseErrorKind::UnknownModifier {
            instruction: "cvt".into(),
            modifier: rnd.map_or("", |r| r.name()).into(),
        });
    }
    let op = Op::Cvt(CvtMods { dty, sty, rnd, ftz, sat, satfinite, relu, two_sources, scaled });
    let (d, s) = (K::Dw(dty), K::Sw(sty));
    match (two_sources, stochastic) {
        (true, true) => mk(op, &[d, s, s, K::S(B32)]),
        (true, false) => mk(op, &[d, s, s]),
        _ => mk(op, &[d, s]),
    }
}
