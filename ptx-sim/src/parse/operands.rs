//! Operands: their syntax, and their check against the kinds that an instruction expects.

use super::cursor::Cursor;
use super::error::{ParseError, ParseErrorKind, Result};
use super::function::FnState;
use crate::ir::*;
use smallvec::SmallVec;

/// The kind of operand that an instruction expects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum K {
    /// Destination register of the type's width, or `_`.
    D(Type),
    /// Destination register at least as wide as the type.
    Dw(Type),
    /// Source of the type's width: register, immediate, special register or symbol address.
    S(Type),
    /// Source at least as wide as the type.
    Sw(Type),
    /// Destination predicate.
    Dp,
    /// Source predicate, possibly negated.
    Sp,
    /// `d` or `d|p`: yields two operands, the second a predicate or a sink.
    Pair(Type),
    /// `p` or `p|q`.
    PredPair,
    /// `[address]`.
    Mem,
    /// `[map, {coordinates}]`.
    Tensor,
    /// Vector of that many destination registers; a single register needs no braces.
    Vd(usize, Type),
    /// Like `Vd`, with registers at least as wide as the type.
    Vdw(usize, Type),
    Vs(usize, Type),
    Vsw(usize, Type),
    /// An integer immediate.
    Int,
    /// The source size of `cp.async`, or the predicate that ignores the source.
    SizeOrPred,
    /// `{offsets}` of im2col copies, merged into the tensor operand.
    Im2col,
    /// A branch target.
    Label,
    /// A table of branch targets.
    Table,
}

impl K {
    fn is_destination(self) -> bool {
        matches!(self, K::D(_) | K::Dw(_) | K::Dp | K::Pair(_) | K::PredPair | K::Vd(..) | K::Vdw(..))
    }

    fn describe(self) -> String {
        match self {
            K::D(t) => format!("a destination register of {} bits", t.bits()),
            K::Dw(t) => format!("a destination register of at least {} bits", t.bits()),
            K::S(t) => format!("a source of type .{t}"),
            K::Sw(t) => format!("a source of at least {} bits", t.bits()),
            K::Dp | K::PredPair => "a destination predicate".into(),
            K::Sp => "a source predicate".into(),
            K::Pair(t) => format!("a destination register of {} bits, optionally with a predicate", t.bits()),
            K::Mem => "an address".into(),
            K::Tensor => "a tensor map address with coordinates".into(),
            K::Vd(n, t) | K::Vdw(n, t) => format!("{n} destination registers of {} bits", t.bits()),
            K::Vs(n, t) | K::Vsw(n, t) => format!("{n} source registers of {} bits", t.bits()),
            K::Int => "an integer immediate".into(),
            K::SizeOrPred => "a source size or a predicate".into(),
            K::Im2col => "a vector of im2col offsets".into(),
            K::Label => "a label".into(),
            K::Table => "a branch target table".into(),
        }
    }
}

/// An operand before it is checked.
pub(crate) struct Raw {
    pub op: Operand,
    /// The part after `|`.
    pub second: Option<Box<Operand>>,
}

pub(crate) type RawArgs = SmallVec<[Raw; 8]>;

/// Converts an immediate to the type of its instruction: float literals are converted, integers keep their bits.
pub(crate) fn imm_for(ty: Type, imm: Imm) -> Imm {
    match (ty, imm) {
        (Type::F32, Imm::F64(bits)) => Imm::F32((f64::from_bits(bits) as f32).to_bits()),
        (Type::F64, Imm::F32(bits)) => Imm::F64(f64::from(f32::from_bits(bits)).to_bits()),
        (Type::F16, Imm::F64(bits)) => Imm::Int(u64::from(half::f16::from_f64(f64::from_bits(bits)).to_bits())),
        (Type::BF16, Imm::F64(bits)) => Imm::Int(u64::from(half::bf16::from_f64(f64::from_bits(bits)).to_bits())),
        _ => imm,
    }
}

/// Parses operands within a function.
pub(crate) struct OperandParser<'a, 's> {
    pub c: &'a mut Cursor<'s>,
    pub f: &'a mut FnState<'s>,
    pub globals: &'a rustc_hash::FxHashMap<&'s str, Symbol>,
}

impl<'s> OperandParser<'_, 's> {
    /// Parses operands separated by commas, up to the semicolon.
    pub fn all(&mut self) -> Result<RawArgs> {
        let mut out = RawArgs::new();
        if self.c.peek() == b';' {
            return Ok(out);
        }
        loop {
            let op = self.operand()?;
            let second = if self.c.eat(b'|') { Some(Box::new(self.operand()?)) } else { None };
            out.push(Raw { op, second });
            if !self.c.eat(b',') {
                return Ok(out);
            }
        }
    }

    pub fn operand(&mut self) -> Result<Operand> {
        match self.c.peek() {
            b'{' => {
                self.c.expect(b'{')?;
                let items = self.list(b'}')?;
                Ok(Operand::Vec(items))
            }
            b'(' => {
                self.c.expect(b'(')?;
                Ok(Operand::List(self.list(b')')?))
            }
            b'[' => self.memory(),
            b'!' => {
                self.c.expect(b'!')?;
                let at = self.c.pos();
                match self.operand()? {
                    Operand::Reg(r) => Ok(Operand::NotReg(r)),
                    _ => Err(self.c.error_at(
                        at,
                        ParseErrorKind::Expected {
                            expected: "a predicate register".into(),
                            found: "something else".into(),
                        },
                    )),
                }
            }
            _ if self.c.at_number() => Ok(Operand::Imm(self.c.number()?)),
            _ => self.named(),
        }
    }

    fn list(&mut self, close: u8) -> Result<Vec<Operand>> {
        let mut items = Vec::new();
        if self.c.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(self.operand()?);
            if self.c.eat(close) {
                return Ok(items);
            }
            self.c.expect(b',')?;
        }
    }

    fn named(&mut self) -> Result<Operand> {
        self.c.skip_space();
        let at = self.c.pos();
        let name = self.c.name("an operand")?;
        if name == "_" {
            return Ok(Operand::Sink);
        }
        if let Some(reg) = self.f.register(name) {
            return Ok(Operand::Reg(reg));
        }
        if let Some(base) = name.strip_prefix('%') {
            if let Some(special) = self.special(base) {
                return Ok(Operand::Special(special));
            }
            return Err(self.c.error_at(at, ParseErrorKind::Undefined(name.into())));
        }
        if name == "WARP_SZ" {
            return Ok(Operand::Imm(Imm::Int(32)));
        }
        if let Some(symbol) = self.symbol(name) {
            let offset = self.offset()?;
            return Ok(Operand::Sym(symbol, offset));
        }
        if let Some(table) = self.f.table(name) {
            return Ok(Operand::Table(table));
        }
        Ok(Operand::Label(self.f.label_use(name, at)))
    }

    fn special(&mut self, base: &str) -> Option<Special> {
        let saved = self.c.save();
        if let Some(component) = self.c.try_modifier() {
            if let Some(special) = Special::parse(&format!("{base}.{component}")) {
                return Some(special);
            }
            self.c.restore(saved);
        }
        Special::parse(base)
    }

    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.f.symbol(name).or_else(|| self.globals.get(name).copied())
    }

    /// Parses `+ n`, `- n` or `+ -n`, repeated.
    fn offset(&mut self) -> Result<i64> {
        let mut offset = 0i64;
        loop {
            let negative = match self.c.peek() {
                b'+' => {
                    self.c.expect(b'+')?;
                    false
                }
                b'-' => {
                    self.c.expect(b'-')?;
                    true
                }
                _ => return Ok(offset),
            };
            if !self.c.at_number() {
                return self.c.expected("an address offset");
            }
            let at = self.c.pos();
            match self.c.number()? {
                Imm::Int(v) if negative => offset = offset.wrapping_sub(v as i64),
                Imm::Int(v) => offset = offset.wrapping_add(v as i64),
                _ => {
                    return Err(self
                        .c
                        .error_at(at, ParseErrorKind::BadValue("address offset must be an integer".into())));
                }
            }
        }
    }

    fn memory(&mut self) -> Result<Operand> {
        self.c.expect(b'[')?;
        let (base, mut offset) = if self.c.at_number() {
            let at = self.c.pos();
            match self.c.number()? {
                Imm::Int(v) => (AddrBase::Absolute, v as i64),
                _ => return Err(self.c.error_at(at, ParseErrorKind::BadValue("address must be an integer".into()))),
            }
        } else {
            let at = self.c.pos();
            let name = self.c.name("an address")?;
            if let Some(reg) = self.f.register(name) {
                (AddrBase::Reg(reg), 0)
            } else if let Some(symbol) = self.symbol(name) {
                (AddrBase::Sym(symbol), 0)
            } else {
                return Err(self.c.error_at(at, ParseErrorKind::Undefined(name.into())));
            }
        };
        offset = offset.wrapping_add(self.offset()?);
        if self.c.eat(b',') {
            self.c.expect(b'{')?;
            let coords = self.list(b'}')?;
            let im2col = Vec::new();
            self.c.expect(b']')?;
            return Ok(Operand::Tensor(Box::new(TensorOperand { map: base, offset, coords, im2col })));
        }
        self.c.expect(b']')?;
        Ok(Operand::Mem(base, offset))
    }
}

/// Checks operands against the kinds that an instruction expects.
pub(crate) struct Checker<'a, 's> {
    pub c: &'a Cursor<'s>,
    pub f: &'a FnState<'s>,
    pub instruction: &'a str,
    /// Byte position of the instruction, for errors.
    pub at: usize,
}

impl Checker<'_, '_> {
    fn bad(&self, index: usize, kind: K, op: &Operand) -> ParseError {
        let found = match op {
            Operand::Reg(r) | Operand::NotReg(r) => format!("a .{} register", self.f.register_type(*r)),
            Operand::Imm(_) => "an immediate".into(),
            Operand::Special(_) => "a special register".into(),
            Operand::Sym(..) => "a symbol".into(),
            Operand::Vec(v) => format!("a vector of {}", v.len()),
            Operand::Mem(..) => "an address".into(),
            Operand::Tensor(_) => "a tensor address".into(),
            Operand::Label(_) => "an undefined name".into(),
            Operand::Table(_) => "a target table".into(),
            Operand::List(_) => "a list".into(),
            Operand::Sink => "'_'".into(),
        };
        self.c.error_at(
            self.at,
            ParseErrorKind::BadOperand {
                instruction: self.instruction.into(),
                index: index + 1,
                expected: kind.describe(),
                found,
            },
        )
    }

    fn reg_bits(&self, r: RegId) -> u32 {
        self.f.register_type(r).bits()
    }

    fn fits(&self, op: &Operand, ty: Type, wide: bool, source: bool) -> bool {
        let bits = ty.bits().max(8);
        let ok = |b: u32| if wide { b >= bits } else { b == bits };
        match op {
            Operand::Reg(r) => self.reg_bits(*r) != 1 && ok(self.reg_bits(*r)),
            Operand::Sink => !source,
            Operand::Imm(imm) => {
                source
                    && match imm {
                        Imm::Int(_) => ty != Type::F32 && ty != Type::F64,
                        Imm::F32(_) => bits >= 32,
                        Imm::F64(_) => bits >= 64,
                    }
            }
            Operand::Special(s) => source && s.bits() != 1 && (s.bits() <= bits || wide || bits == 32),
            Operand::Sym(..) => source && bits >= 32,
            _ => false,
        }
    }

    fn normalise(&self, op: &mut Operand, ty: Type) {
        if let Operand::Imm(imm) = op {
            *imm = imm_for(ty, *imm);
        }
    }

    fn vector(
        &self,
        op: Operand,
        n: usize,
        ty: Type,
        wide: bool,
        source: bool,
    ) -> std::result::Result<Operand, Operand> {
        let mut items = match op {
            Operand::Vec(items) => items,
            single if n == 1 => vec![single],
            other => return Err(other),
        };
        for item in &mut items {
            self.normalise(item, ty);
        }
        if items.len() == n && items.iter().all(|i| self.fits(i, ty, wide, source)) {
            Ok(Operand::Vec(items))
        } else {
            Err(Operand::Vec(items))
        }
    }

    /// Checks one operand and appends its final form.
    pub fn one(&self, index: usize, kind: K, raw: Raw, out: &mut Vec<Operand>) -> Result<()> {
        let mut op = raw.op;
        if raw.second.is_some() && !matches!(kind, K::Pair(_) | K::PredPair) {
            return Err(self.bad(index, kind, &op));
        }
        let is_pred = |op: &Operand| matches!(op, Operand::Reg(r) if self.reg_bits(*r) == 1);
        // In loads and stores, braces around a single register have no meaning; Triton emits them.
        if matches!(kind, K::Dw(_) | K::Sw(_))
            && let Operand::Vec(items) = &mut op
            && items.len() == 1
            && let Some(only) = items.pop()
        {
            op = only;
        }
        match kind {
            K::D(t) | K::Dw(t) if self.fits(&op, t, matches!(kind, K::Dw(_)), false) => out.push(op),
            K::S(t) | K::Sw(t) => {
                self.normalise(&mut op, t);
                if !self.fits(&op, t, matches!(kind, K::Sw(_)), true) {
                    return Err(self.bad(index, kind, &op));
                }
                out.push(op);
            }
            K::Dp if is_pred(&op) || op == Operand::Sink => out.push(op),
            K::Sp if is_pred(&op) || matches!(op, Operand::Imm(Imm::Int(_))) => out.push(op),
            K::Sp => match op {
                Operand::NotReg(r) if self.reg_bits(r) == 1 => out.push(op),
                Operand::Special(s) if s.bits() == 1 => out.push(op),
                _ => return Err(self.bad(index, kind, &op)),
            },
            K::Pair(_) | K::PredPair => {
                let ok = match kind {
                    K::Pair(t) => self.fits(&op, t, false, false),
                    _ => is_pred(&op) || op == Operand::Sink,
                };
                let second = raw.second.map_or(Operand::Sink, |s| *s);
                if !ok || !(is_pred(&second) || second == Operand::Sink) {
                    return Err(self.bad(index, kind, &op));
                }
                out.push(op);
                out.push(second);
            }
            K::Mem if matches!(op, Operand::Mem(..)) => out.push(op),
            K::Tensor if matches!(op, Operand::Tensor(_)) => out.push(op),
            K::Vd(n, t) | K::Vdw(n, t) | K::Vs(n, t) | K::Vsw(n, t) => {
                let wide = matches!(kind, K::Vdw(..) | K::Vsw(..));
                let source = matches!(kind, K::Vs(..) | K::Vsw(..));
                match self.vector(op, n, t, wide, source) {
                    Ok(op) => out.push(op),
                    Err(op) => return Err(self.bad(index, kind, &op)),
                }
            }
            K::Int if matches!(op, Operand::Imm(Imm::Int(_))) => out.push(op),
            K::SizeOrPred => {
                if !is_pred(&op) && !matches!(op, Operand::NotReg(_)) && !self.fits(&op, Type::U32, false, true) {
                    return Err(self.bad(index, kind, &op));
                }
                out.push(op);
            }
            K::Im2col => {
                let Operand::Vec(items) = op else { return Err(self.bad(index, kind, &op)) };
                match out.iter_mut().rev().find(|o| matches!(o, Operand::Tensor(_))) {
                    Some(Operand::Tensor(t)) => t.im2col = items,
                    _ => return Err(self.bad(index, kind, &Operand::Vec(items))),
                }
            }
            K::Label if matches!(op, Operand::Label(_)) => out.push(op),
            K::Table if matches!(op, Operand::Table(_)) => out.push(op),
            _ => return Err(self.bad(index, kind, &op)),
        }
        Ok(())
    }

    /// Checks all operands against `required`, then a prefix of `optional`. Also returns which are destinations, one
    /// bit each.
    pub fn all(&self, raw: RawArgs, required: &[K], optional: &[K]) -> Result<(Vec<Operand>, u32)> {
        let n = raw.len();
        if n < required.len() || n > required.len() + optional.len() {
            let expected = if optional.is_empty() {
                required.len().to_string()
            } else {
                format!("{} to {}", required.len(), required.len() + optional.len())
            };
            return Err(self.c.error_at(
                self.at,
                ParseErrorKind::OperandCount { instruction: self.instruction.into(), expected, found: n },
            ));
        }
        let mut out = Vec::with_capacity(n + 1);
        let mut defs = 0;
        for (index, (raw, kind)) in raw.into_iter().zip(required.iter().chain(optional)).enumerate() {
            let first = out.len();
            self.one(index, *kind, raw, &mut out)?;
            if kind.is_destination() {
                defs |= (first..out.len()).fold(0, |bits, i| bits | 1 << i);
            }
        }
        Ok((out, defs))
    }
}
