//! Elementwise ops, lowered one register at a time.

use super::{
    Lower, element_type,
    llvm::{Cmp, FloatPredicate},
};
use crate::dialect::{
    attributes::OFTEN_ONE,
    layouts::Tensor,
    nv_tileaa::{self, FpKind, FpOp, Rounding},
    pass::{Failed, fail},
    rt::*,
    types::{integer_width, is_bf16, is_e2m1, is_e4m3, is_e5m2, is_e8m0, is_tf32},
    upstream::{Arith, Math},
};
use melior::ir::Type;
use tile_rtlib as lib;
use tile_targets::Feature;

impl<'c> Lower<'c, '_> {
    /// Applies a scalar op to every register of its operands. Scalar operands apply to all registers.
    pub(super) fn elementwise(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        let inputs: Vec<Vec<Val<'c>>> = operands(op).map(|v| self.fragment(op, v)).collect::<Result<_, _>>()?;
        let count = self.registers(op, result(op, 0))?;
        if OFTEN_ONE.is_on(op) && count > 1 {
            let products = self.unless_one(&inputs[0], &inputs[1]);
            self.set_all(result(op, 0), products);
            return Ok(());
        }
        if let Some(values) = self.packed(op, &inputs, count) {
            self.set_all(result(op, 0), values);
            return Ok(());
        }
        let mut outputs: Vec<Vec<Val<'c>>> = vec![Vec::with_capacity(count); result_count(op)];
        for r in 0..count {
            let args: Vec<Val<'c>> = inputs.iter().map(|i| if i.len() == 1 { i[0] } else { i[r] }).collect();
            for (out, v) in outputs.iter_mut().zip(self.scalar_op(op, &args)?) {
                out.push(v);
            }
        }
        for (r, registers) in results(op).zip(outputs) {
            self.set_all(r, registers);
        }
        Ok(())
    }

    /// Computes pairs of f32 with one instruction each, which rounds as two would. Returns `None` if the op has no such
    /// instruction, or if the kernel does not use any.
    fn packed(&self, op: OpRef<'c>, inputs: &[Vec<Val<'c>>], count: usize) -> Option<Vec<Val<'c>>> {
        if !self.uses_pairs() {
            return None;
        }
        let name = match (Arith::of(op), Math::of(op)) {
            (Some(Arith::AddF), _) => "add",
            (Some(Arith::SubF), _) => "sub",
            (Some(Arith::MulF), _) => "mul",
            (_, Some(Math::Fma)) => "fma",
            _ => return None,
        };
        let whole: Vec<Vec<Val<'c>>> =
            inputs.iter().map(|i| if i.len() == 1 { vec![i[0]; count] } else { i.clone() }).collect();
        self.pairwise(name, &whole.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// Applies `name`, which is `add`, `sub`, `mul` or `fma`, to pairs of f32 if the kernel uses instructions for them.
    ///
    /// Kernels with accumulators in tensor memory do: a few warps compute beside the tensor cores, and share the issue
    /// slots of their schedulers. Other kernels wait for memory. The pairs exist only inside of the assembly, because
    /// LLVM builds vectors of converted elements by arithmetic on 64-bit integers.
    pub(super) fn pairwise(&self, name: &str, inputs: &[&[Val<'c>]]) -> Option<Vec<Val<'c>>> {
        let l = &self.l;
        let count = inputs.first().map_or(0, |values| values.len());
        let is_f32 = || inputs.iter().copied().flatten().all(|v| ty(*v) == l.f32);
        if count < 2 || !count.is_multiple_of(2) || !self.uses_pairs() || !is_f32() {
            return None;
        }
        let given: String = (0..inputs.len())
            .map(|i| format!(".reg .b64 p{i}; mov.b64 p{i}, {{${}, ${}}}; ", 2 * i + 2, 2 * i + 3))
            .collect();
        let names: Vec<String> = (0..inputs.len()).map(|i| format!("p{i}")).collect();
        let text = format!("{{ {given}{name}.rn.f32x2 p0, {}; mov.b64 {{$0, $1}}, p0; }}", names.join(", "));
        let constraints = format!("=f,=f{}", ",f".repeat(2 * inputs.len()));
        let of = |r: usize| {
            let args: Vec<Val<'c>> = inputs.iter().flat_map(|values| [values[r], values[r + 1]]).collect();
            let pair = l.pure_asm(&text, &constraints, l.structure(&[l.f32; 2]), &args);
            [0, 1].map(|i| l.field(pair, l.f32, i))
        };
        Some((0..count).step_by(2).flat_map(of).collect())
    }

    /// Whether the kernel uses instructions for pairs of f32.
    fn uses_pairs(&self) -> bool {
        self.function.tensor_memory.is_some() && self.function.target.has(Feature::F32x2)
    }

    /// Multiplies by factors that are often one: if all factors of a warp are one, returns the values unchanged.
    fn unless_one(&self, values: &[Val<'c>], factors: &[Val<'c>]) -> Vec<Val<'c>> {
        let l = &self.l;
        let mut different: Vec<Val<'c>> = vec![];
        for factor in factors {
            if !different.contains(factor) {
                different.push(*factor);
            }
        }
        let one = |factor: Val<'c>| l.fcmp(FloatPredicate::Oeq, factor, l.float(ty(factor), 1.0));
        let all = different.into_iter().map(one).reduce(|a, b| l.bin("and", a, b)).expect("tensors have registers");
        let all = l.intrinsic("llvm.nvvm.vote.all.sync", l.i1, &[l.i32c(-1), all]);
        let types: Vec<_> = values.iter().map(|v| ty(*v)).collect();
        let scaled = || values.iter().zip(factors.iter().cycle()).map(|(v, f)| l.bin("fmul", *v, *f)).collect();
        l.either(all, &types, || values.to_vec(), scaled)
    }

    /// Lowers one register of an elementwise op.
    fn scalar_op(&self, op: OpRef<'c>, a: &[Val<'c>]) -> Result<Vec<Val<'c>>, Failed> {
        if let Some(kind) = Arith::of(op) {
            return self.arith_op(op, kind, a);
        }
        if let Some(kind) = Math::of(op) {
            return self.math_op(op, kind, a);
        }
        let l = &self.l;
        let element = |v: Val<'c>| Tensor::of_value(v).map_or(ty(v), |t| t.element);
        let to = self.element_of(op, result(op, 0))?;
        let one = |v: Val<'c>| Ok(vec![v]);
        use nv_tileaa::AnyOp::*;
        let Some(typed) = nv_tileaa::AnyOp::cast(op) else { return Err(no_lowering(op)) };
        match typed {
            AddPtrOp(x) => {
                let r = x.result();
                let bytes = crate::analysis::facts::pointee_bytes(r);
                let offset = if self.int_width(ty(a[1])) < 64 { l.cast("sext", a[1], l.i64) } else { a[1] };
                if super::nibble::is_nibble(super::global::pointee(r)) {
                    // Pointers address bytes, each of which holds two elements.
                    return one(l.byte_offset(a[0], l.bin("ashr", offset, l.i64c(1))));
                }
                one(l.byte_offset(a[0], l.mul(offset, l.i64c(bytes.into()))))
            }
            IntToPtrOp(_) => one(l.cast("inttoptr", a[0], to)),
            PtrToIntOp(_) => one(l.cast("ptrtoint", a[0], to)),
            PtrToPtrOp(_) => one(a[0]),
            FpOp(x) => one(self.modified(x, a)?),
            FpCastOp(x) => one(self.narrow_cast(op, a[0], element(x.source()), element(x.result()), x.rounding())?),
            BitcastOp(_) if ty(a[0]) == to => one(a[0]),
            // A 4-bit float is stored in the low half of a byte.
            BitcastOp(_) if self.is_narrow_int(to) => one(l.cast("trunc", a[0], to)),
            BitcastOp(_) if self.is_narrow_int(ty(a[0])) => one(l.cast("zext", a[0], to)),
            BitcastOp(_) => one(l.cast("bitcast", a[0], to)),
            _ => Err(no_lowering(op)),
        }
    }

    fn arith_op(&self, op: OpRef<'c>, kind: Arith, a: &[Val<'c>]) -> Result<Vec<Val<'c>>, Failed> {
        let l = &self.l;
        let to = self.element_of(op, result(op, 0))?;
        let one = |v: Val<'c>| Ok(vec![v]);
        use Arith::*;
        match kind {
            AddI => one(self.wrapping(op, "add", a)),
            SubI => one(self.wrapping(op, "sub", a)),
            MulI => one(self.wrapping(op, "mul", a)),
            ShLI => one(self.shifted_out(a, self.wrapping(op, "shl", a))),
            AndI => one(l.bin("and", a[0], a[1])),
            OrI => one(l.bin("or", a[0], a[1])),
            XOrI => one(l.bin("xor", a[0], a[1])),
            ShRSI => {
                // A shift by the width or more equals a shift by the width minus one: all sign bits.
                let most = l.int(ty(a[1]), i64::from(self.int_width(ty(a[1]))) - 1);
                one(l.bin("ashr", a[0], l.bin("intr.umin", a[1], most)))
            }
            ShRUI => one(self.shifted_out(a, l.bin("lshr", a[0], a[1]))),
            DivSI => one(l.bin("sdiv", a[0], a[1])),
            DivUI => one(l.bin("udiv", a[0], a[1])),
            RemSI => one(l.bin("srem", a[0], a[1])),
            RemUI => one(l.bin("urem", a[0], a[1])),
            FloorDivSI => one(self.rounded_division(a[0], a[1], true)),
            CeilDivSI => one(self.rounded_division(a[0], a[1], false)),
            CeilDivUI => {
                // Compute a / b plus one if there is a remainder, because a + b - 1 may wrap.
                let q = l.bin("udiv", a[0], a[1]);
                let rest = l.bin("urem", a[0], a[1]);
                let some = l.icmp(Cmp::Ne, rest, l.int(ty(rest), 0));
                one(l.add(q, l.cast("zext", some, ty(q))))
            }
            MaxSI => one(l.bin("intr.smax", a[0], a[1])),
            MinSI => one(l.bin("intr.smin", a[0], a[1])),
            MaxUI => one(l.bin("intr.umax", a[0], a[1])),
            MinUI => one(l.bin("intr.umin", a[0], a[1])),
            MulUIExtended => {
                let width = self.int_width(ty(a[0]));
                let wide: Type<'c> = melior::ir::r#type::IntegerType::new(l.context(), width * 2).into();
                let product = l.mul(l.cast("zext", a[0], wide), l.cast("zext", a[1], wide));
                let high = l.bin("lshr", product, l.int(wide, width.into()));
                Ok(vec![l.mul(a[0], a[1]), l.cast("trunc", high, ty(a[0]))])
            }
            CmpI => one(l.icmp(Cmp::of(op).expect("verified"), a[0], a[1])),
            CmpF => one(l.fcmp(FloatPredicate::of(op).expect("verified"), a[0], a[1])),
            Select => one(l.select(a[0], a[1], a[2])),
            ExtSI => one(l.cast("sext", a[0], to)),
            ExtUI => one(l.cast("zext", a[0], to)),
            TruncI => one(l.cast("trunc", a[0], to)),
            SIToFP => one(self.int_to_float(a[0], to, true)),
            UIToFP => one(self.int_to_float(a[0], to, false)),
            FPToSI => one(l.cast("fptosi", a[0], to)),
            FPToUI => one(l.cast("fptoui", a[0], to)),
            ExtF => one(self.extend(a[0], to)),
            TruncF => one(self.truncate(a[0], to)),
            Bitcast => one(l.cast("bitcast", a[0], to)),
            IndexCast => one(if self.int_width(ty(a[0])) < self.int_width(to) {
                l.cast("sext", a[0], to)
            } else {
                l.cast("trunc", a[0], to)
            }),
            AddF => one(l.bin("fadd", a[0], a[1])),
            SubF => one(l.bin("fsub", a[0], a[1])),
            MulF => one(l.bin("fmul", a[0], a[1])),
            DivF => one(l.bin("fdiv", a[0], a[1])),
            RemF => one(self.math(op, lib::Math::Remf, lib::Mode::Full, a)?),
            NegF => one(l.un("fneg", a[0])),
            MaximumF => one(self.max_or_min(a, true)),
            MinimumF => one(self.max_or_min(a, false)),
            MaxNumF => one(l.bin("intr.maxnum", a[0], a[1])),
            MinNumF => one(l.bin("intr.minnum", a[0], a[1])),
            _ => Err(no_lowering(op)),
        }
    }

    fn math_op(&self, op: OpRef<'c>, kind: Math, a: &[Val<'c>]) -> Result<Vec<Val<'c>>, Failed> {
        let l = &self.l;
        let to = self.element_of(op, result(op, 0))?;
        let one = |v: Val<'c>| Ok(vec![v]);
        match kind {
            Math::AbsI => {
                let negative = l.icmp(Cmp::Slt, a[0], l.int(ty(a[0]), 0));
                one(l.select(negative, l.bin("sub", l.int(ty(a[0]), 0), a[0]), a[0]))
            }
            Math::AbsF => one(l.un("intr.fabs", a[0])),
            Math::Floor => one(l.un("intr.floor", a[0])),
            Math::Ceil => one(l.un("intr.ceil", a[0])),
            Math::Fma => one(l.b.value("llvm.intr.fma", to, a, &[])),
            Math::Sqrt => one(self.square_root(op, a[0])?),
            Math::Exp => one(self.math(op, lib::Math::Exp, lib::Mode::Full, a)?),
            Math::Exp2 => one(self.math(op, lib::Math::Exp2, lib::Mode::Full, a)?),
            Math::Log => one(self.math(op, lib::Math::Log, lib::Mode::Full, a)?),
            Math::Log2 => one(self.math(op, lib::Math::Log2, lib::Mode::Full, a)?),
            Math::Sin => one(self.math(op, lib::Math::Sin, lib::Mode::Full, a)?),
            Math::Cos => one(self.math(op, lib::Math::Cos, lib::Mode::Full, a)?),
            Math::Tan => one(self.math(op, lib::Math::Tan, lib::Mode::Full, a)?),
            Math::Sinh => one(self.math(op, lib::Math::Sinh, lib::Mode::Full, a)?),
            Math::Cosh => one(self.math(op, lib::Math::Cosh, lib::Mode::Full, a)?),
            Math::Tanh => one(self.math(op, lib::Math::Tanh, lib::Mode::Full, a)?),
            Math::PowF => one(self.math(op, lib::Math::Pow, lib::Mode::Full, a)?),
            Math::Atan2 => one(self.math(op, lib::Math::Atan2, lib::Mode::Full, a)?),
            Math::Rsqrt => one(self.math(op, lib::Math::Rsqrt, lib::Mode::Full, a)?),
            _ => Err(no_lowering(op)),
        }
    }

    /// Fixes a shift that shifts in zeros. The language allows any shift amount; LLVM's instructions are poison from
    /// the width on. LLVM drops the comparison if the amount is known to be smaller.
    fn shifted_out(&self, a: &[Val<'c>], shifted: Val<'c>) -> Val<'c> {
        let l = &self.l;
        let t = ty(a[1]);
        let fits = l.icmp(Cmp::Ult, a[1], l.int(t, self.int_width(t).into()));
        l.select(fits, shifted, l.int(ty(shifted), 0))
    }

    /// Emits integer arithmetic with the overflow flags of the source.
    fn wrapping(&self, op: OpRef<'c>, name: &str, a: &[Val<'c>]) -> Val<'c> {
        let promises = attr(op, "overflowFlags").map(|f| f.to_string()).unwrap_or_default();
        let flags = match (promises.contains("nsw"), promises.contains("nuw")) {
            (false, false) => return self.l.bin(name, a[0], a[1]),
            (true, false) => "#llvm.overflow<nsw>",
            (false, true) => "#llvm.overflow<nuw>",
            (true, true) => "#llvm.overflow<nsw, nuw>",
        };
        let flags = super::parse(self.l.context(), flags);
        self.l.b.value(&format!("llvm.{name}"), ty(a[0]), a, &[("overflowFlags", flags)])
    }

    fn int_width(&self, t: Type<'c>) -> u32 {
        integer_width(t)
    }

    /// Truncated quotient, adjusted by one down (floor) or up (ceiling) if there is a remainder on that side.
    fn rounded_division(&self, a: Val<'c>, b: Val<'c>, floor: bool) -> Val<'c> {
        let l = &self.l;
        let zero = l.int(ty(a), 0);
        let q = l.bin("sdiv", a, b);
        let rest = l.bin("sub", a, l.mul(q, b));
        let inexact = l.icmp(Cmp::Ne, rest, zero);
        let opposite = l.icmp(Cmp::Slt, l.bin("xor", a, b), zero);
        let side = if floor { opposite } else { l.bin("xor", opposite, l.int(l.i1, 1)) };
        let adjust = l.bin("and", inexact, side);
        // The sign extension of true is minus one.
        let delta = l.cast(if floor { "sext" } else { "zext" }, adjust, ty(a));
        l.add(q, delta)
    }

    /// Converts an integer to a float, rounding once to nearest even. Targets without a conversion to bf16 convert to
    /// f32 first, rounding to odd: the step truncates and sets the last bit if the result is inexact. The 24 bits of
    /// f32 are enough for the second rounding, to 8 bits, to give the correctly rounded result.
    fn int_to_float(&self, a: Val<'c>, to: Type<'c>, signed: bool) -> Val<'c> {
        let l = &self.l;
        let convert = if signed { "sitofp" } else { "uitofp" };
        let bf16 = is_bf16(to);
        if !bf16 || self.function.target.features.contains(Feature::Bf16Arithmetic) {
            return l.cast(convert, a, to);
        }
        let width = self.int_width(ty(a));
        if width < 24 {
            return l.cast("fptrunc", l.cast(convert, a, l.f32), to);
        }
        let name = match (signed, width) {
            (true, ..=32) => "i2f",
            (false, ..=32) => "ui2f",
            (true, _) => "ll2f",
            (false, _) => "ull2f",
        };
        let truncated = l.intrinsic(&format!("llvm.nvvm.{name}.rz"), l.f32, &[a]);
        let back = l.cast(if signed { "fptosi" } else { "fptoui" }, truncated, ty(a));
        let inexact = l.cast("zext", l.icmp(Cmp::Ne, back, a), l.i32);
        let odd = l.bin("or", l.cast("bitcast", truncated, l.i32), inexact);
        l.cast("fptrunc", l.cast("bitcast", odd, l.f32), to)
    }

    /// Maximum or minimum that is NaN if an operand is NaN. The result is the hardware's canonical NaN.
    fn max_or_min(&self, a: &[Val<'c>], max: bool) -> Val<'c> {
        let l = &self.l;
        if ty(a[0]) != l.f64 {
            return l.bin(if max { "intr.maximum" } else { "intr.minimum" }, a[0], a[1]);
        }
        // f64 lacks an instruction for this.
        let name = if max { "llvm.nvvm.fmax.d" } else { "llvm.nvvm.fmin.d" };
        let number = l.intrinsic(name, l.f64, a);
        let canonical = l.cast("bitcast", l.i64c(0xfff8_0000_0000_0000_u64 as i64), l.f64);
        l.select(l.fcmp(FloatPredicate::Uno, a[0], a[1]), canonical, number)
    }

    /// Extends a float. A bf16 is the upper half of an f32; with integer ops it stays in the word that it was loaded
    /// in.
    fn extend(&self, a: Val<'c>, to: Type<'c>) -> Val<'c> {
        let l = &self.l;
        if !is_bf16(ty(a)) {
            return l.cast("fpext", a, to);
        }
        let bits = l.cast("zext", l.cast("bitcast", a, l.i16), l.i32);
        let wide = l.cast("bitcast", l.bin("shl", bits, l.i32c(16)), l.f32);
        l.cast("fpext", wide, to)
    }

    /// Rounds to nearest even. f64 to a half format must not round twice; LLVM's `fptrunc` guarantees that.
    fn truncate(&self, a: Val<'c>, to: Type<'c>) -> Val<'c> {
        self.l.cast("fptrunc", a, to)
    }

    /// Calls an elementary function of the device library, in its portable form if the kernel is portable. Half formats
    /// are evaluated in f32.
    fn math(&self, op: OpRef<'c>, operation: lib::Math, mode: lib::Mode, a: &[Val<'c>]) -> Result<Val<'c>, Failed> {
        let l = &self.l;
        let t = ty(a[0]);
        let float = if t == l.f64 { lib::Float::F64 } else { lib::Float::F32 };
        let wide = if t == l.f64 { l.f64 } else { l.f32 };
        let function = lib::Function::Math { operation, float, mode };
        if !function.exists() {
            return Err(fail(op, format!("no {mode:?} form of {operation:?} for {t}")));
        }
        let function = if self.function.portable { function.portable() } else { function };
        let args: Vec<Val<'c>> = a.iter().map(|v| l.cast("fpext", *v, wide)).collect();
        let v = self.call(&function.symbol(), wide, &args);
        Ok(l.cast("fptrunc", v, t))
    }

    fn square_root(&self, _op: OpRef<'c>, a: Val<'c>) -> Result<Val<'c>, Failed> {
        let (l, t) = (&self.l, ty(a));
        // The f32 root of a half rounds to the correct half.
        let wide = if t == l.f64 || t == l.f32 { t } else { l.f32 };
        Ok(l.cast("fptrunc", l.un("intr.sqrt", l.cast("fpext", a, wide)), t))
    }

    /// Lowers operations with a rounding mode or flush-to-zero.
    fn modified(&self, op: FpOp<'c>, a: &[Val<'c>]) -> Result<Val<'c>, Failed> {
        use FpKind::*;
        let (l, kind, ftz, rounding) = (&self.l, op.kind(), op.ftz(), op.rounding());
        let t = ty(a[0]);
        let mode = match (rounding, ftz) {
            (Rounding::Approx, false) => lib::Mode::Approximate,
            (Rounding::Approx, true) => lib::Mode::ApproximateFlush,
            (_, true) => lib::Mode::FullFlush,
            (_, false) => lib::Mode::Full,
        };
        let direct = |name: &str, a: &[Val<'c>]| {
            let suffix = match t {
                t if t == l.f32 => "f",
                t if t == l.f64 => "d",
                _ => return None,
            };
            let flush = if ftz { ".ftz" } else { "" };
            let mode = match rounding {
                Rounding::NearestEven => "rn",
                Rounding::Zero => "rz",
                Rounding::NegativeInf => "rm",
                Rounding::PositiveInf => "rp",
                _ => return None,
            };
            Some(l.intrinsic(&format!("llvm.nvvm.{name}.{mode}{flush}.{suffix}"), t, a))
        };
        let unsupported = || fail(op.op(), format!("no form of {kind:?} for {t} with this rounding"));
        match kind {
            Exp => self.math(op.op(), lib::Math::Exp, mode, a),
            Exp2 => self.math(op.op(), lib::Math::Exp2, mode, a),
            Tanh => self.math(op.op(), lib::Math::Tanh, mode, a),
            Rsqrt => self.math(op.op(), lib::Math::Rsqrt, mode, a),
            Div if matches!(rounding, Rounding::Approx | Rounding::Full) => self.math(op.op(), lib::Math::Div, mode, a),
            Sqrt if rounding == Rounding::Approx => self.math(op.op(), lib::Math::Sqrt, mode, a),
            Add => direct("add", a).ok_or(()).or_else(|()| self.directed_half(op, lib::Arithmetic::Add, a)),
            Mul => direct("mul", a).ok_or(()).or_else(|()| self.directed_half(op, lib::Arithmetic::Mul, a)),
            Div => direct("div", a).ok_or(()).or_else(|()| self.directed_half(op, lib::Arithmetic::Div, a)),
            Fma => direct("fma", a).ok_or(()).or_else(|()| self.directed_half(op, lib::Arithmetic::Fma, a)),
            Sqrt => direct("sqrt", a).ok_or(()).or_else(|()| self.directed_half(op, lib::Arithmetic::Sqrt, a)),
            // Negation is exact, so a - b equals a + (-b) in every rounding mode.
            Sub if t == l.f32 || t == l.f64 => direct("add", &[a[0], l.un("fneg", a[1])]).ok_or_else(unsupported),
            Sub => self.directed_half(op, lib::Arithmetic::Sub, a),
            Max | Min | MaxNan | MinNan => {
                let (name, nan) = match kind {
                    Max => ("fmax", ""),
                    Min => ("fmin", ""),
                    MaxNan => ("fmax", ".nan"),
                    _ => ("fmin", ".nan"),
                };
                let (suffix, wide) = if t == l.f64 { ("d", t) } else { ("f", l.f32) };
                let flush = if ftz { ".ftz" } else { "" };
                if t == l.f64 && !nan.is_empty() {
                    return Ok(self.max_or_min(a, kind == MaxNan));
                }
                let args = [l.cast("fpext", a[0], wide), l.cast("fpext", a[1], wide)];
                let name = format!("llvm.nvvm.{name}{flush}{nan}.{suffix}");
                let v = l.intrinsic(&name, wide, &args);
                Ok(l.cast("fptrunc", v, t))
            }
        }
    }

    /// Lowers f16 and bf16 arithmetic with directed rounding.
    fn directed_half(&self, op: FpOp<'c>, operation: lib::Arithmetic, a: &[Val<'c>]) -> Result<Val<'c>, Failed> {
        let (l, t) = (&self.l, ty(a[0]));
        let direction = match op.rounding() {
            Rounding::Zero => lib::Direction::Zero,
            Rounding::NegativeInf => lib::Direction::Down,
            Rounding::PositiveInf => lib::Direction::Up,
            _ => return Err(fail(op.op(), format!("no such operation on {t} with this rounding"))),
        };
        let half = if t == l.f16 { lib::Half::F16 } else { lib::Half::Bf16 };
        let function = lib::Function::Directed { operation, half, direction };
        if !function.exists() {
            return Err(fail(op.op(), format!("no directed {operation:?} for {t}")));
        }
        let args: Vec<Val<'c>> = a.iter().map(|v| l.cast("bitcast", *v, l.i16)).collect();
        Ok(l.cast("bitcast", self.call(&function.symbol(), l.i16, &args), t))
    }

    /// Lowers conversions from or to a format narrower than 16 bits, or tf32.
    pub(super) fn narrow_cast(
        &self,
        op: OpRef<'c>,
        a: Val<'c>,
        from: Type<'c>,
        to: Type<'c>,
        rounding: Rounding,
    ) -> Result<Val<'c>, Failed> {
        let l = &self.l;
        let unsupported = || fail(op, format!("no conversion from {from} to {to} with this rounding"));
        let call = |function: lib::Function, result: Type<'c>, v: Val<'c>| {
            if !function.exists() {
                return Err(unsupported());
            }
            Ok(self.call(&function.symbol(), result, &[v]))
        };
        // Convert to f32 or f64 first, which is exact for every narrow format.
        let wide = match narrow(from) {
            Some(lib::Format::Tf32) => a,
            Some(format) => call(lib::Function::Widen { from: format, to: lib::Wide::F32 }, l.f32, a)?,
            None if from == l.f64 => a,
            None => l.cast("fpext", a, l.f32),
        };
        let Some(format) = narrow(to) else {
            let target = element_type(l.context(), to).ok_or_else(unsupported)?;
            if target == l.f64 {
                return Ok(l.cast("fpext", wide, l.f64));
            }
            return Ok(if ty(wide) == target { wide } else { l.cast("fptrunc", wide, target) });
        };
        let number = if ty(wide) == l.f64 { lib::Number::F64 } else { lib::Number::F32 };
        let float = if ty(wide) == l.f64 { lib::Float::F64 } else { lib::Float::F32 };
        match format {
            lib::Format::E8m0 => {
                let direction = match rounding {
                    Rounding::Zero => lib::Direction::Zero,
                    Rounding::PositiveInf => lib::Direction::Up,
                    _ => return Err(unsupported()),
                };
                call(lib::Function::Scale { from: float, direction, overflow: lib::Overflow::Infinite }, l.i8, wide)
            }
            lib::Format::Tf32 if ty(wide) == l.f32 && self.function.target.has(Feature::Tf32RoundEven) => {
                let bits = l.intrinsic("llvm.nvvm.f2tf32.rn", l.i32, &[wide]);
                Ok(l.cast("bitcast", bits, l.f32))
            }
            lib::Format::Tf32 => {
                let bits = call(
                    lib::Function::Narrow { from: number, to: format, overflow: lib::Overflow::Infinite },
                    l.i32,
                    wide,
                )?;
                Ok(l.cast("bitcast", bits, l.f32))
            }
            _ => {
                call(lib::Function::Narrow { from: number, to: format, overflow: lib::Overflow::Infinite }, l.i8, wide)
            }
        }
    }
}

/// Returns the library's name for a narrow format; `None` for formats with LLVM types.
fn narrow(t: Type<'_>) -> Option<lib::Format> {
    Some(match t {
        _ if is_tf32(t) => lib::Format::Tf32,
        _ if is_e4m3(t) => lib::Format::E4m3,
        _ if is_e5m2(t) => lib::Format::E5m2,
        _ if is_e8m0(t) => lib::Format::E8m0,
        _ if is_e2m1(t) => lib::Format::E2m1,
        _ => return None,
    })
}

fn no_lowering(op: OpRef<'_>) -> Failed {
    fail(op, format!("'{}' has no lowering to LLVM", op_name(op)))
}
