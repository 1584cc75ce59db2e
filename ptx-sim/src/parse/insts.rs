//! Function bodies: statements, and the dispatch from an opcode to the parser of its family.

use super::cursor::Cursor;
use super::error::{ParseErrorKind, Result};
use super::form::{FormResult, Mods};
use super::function::FnState;
use super::module::Parser;
use super::operands::{Checker, OperandParser, RawArgs};
use super::{alu, async_ops, memory, tensor_ops, warp_ops};
use crate::ir::*;
use smallvec::SmallVec;

fn dispatch(m: &mut Mods<'_>, raw: &RawArgs) -> FormResult {
    if let Some(result) = alu::form(m, raw) {
        return result;
    }
    if let Some(result) = memory::form(m) {
        return result;
    }
    if let Some(result) = warp_ops::form(m, raw) {
        return result;
    }
    if let Some(result) = async_ops::form(m, raw) {
        return result;
    }
    if let Some(result) = tensor_ops::form(m, raw) {
        return result;
    }
    Err(if NOT_SIMULATED.contains(&m.base) { m.unsupported() } else { m.unknown() })
}

/// PTX instructions that the simulator does not support: textures and surfaces, older matrix instructions, and video
/// instructions.
const NOT_SIMULATED: [&str; 27] = [
    "tex",
    "tld4",
    "txq",
    "suld",
    "sust",
    "sured",
    "suq",
    "istypep",
    "wmma",
    "vadd",
    "vsub",
    "vabsdiff",
    "vmin",
    "vmax",
    "vshl",
    "vshr",
    "vmad",
    "vset",
    "vadd2",
    "vsub2",
    "vavrg2",
    "vabsdiff2",
    "vadd4",
    "vsub4",
    "vavrg4",
    "vabsdiff4",
    "vset4",
];

impl<'s> Parser<'s> {
    /// Parses statements up to the closing brace of the function; the opening brace has been consumed.
    pub fn body(&mut self, f: &mut FnState<'s>) -> Result<()> {
        let outer = f.depth();
        loop {
            match self.c.peek() {
                b'}' => {
                    self.c.expect(b'}')?;
                    if f.depth() == outer {
                        return Ok(());
                    }
                    f.pop_scope();
                }
                b'{' => {
                    self.c.expect(b'{')?;
                    if f.depth() > 256 {
                        return Err(self.c.error(ParseErrorKind::BadValue("scopes nested too deeply".into())));
                    }
                    f.push_scope();
                }
                b';' => self.c.expect(b';')?,
                b'.' => self.local_directive(f)?,
                b'@' => self.instruction(f)?,
                _ if self.c.at_end() => return self.c.expected("'}'"),
                _ => self.label_or_instruction(f)?,
            }
        }
    }

    fn label_or_instruction(&mut self, f: &mut FnState<'s>) -> Result<()> {
        let saved = self.c.save();
        let at = self.c.pos();
        let name = self.c.name("an instruction or label")?;
        if self.c.peek() == b':' {
            self.c.expect(b':')?;
            return self.label(f, name, at);
        }
        self.c.restore(saved);
        self.instruction(f)
    }

    fn label(&mut self, f: &mut FnState<'s>, name: &'s str, at: usize) -> Result<()> {
        if self.c.peek() == b'.' {
            if self.c.eat_directive("branchtargets") {
                let mut targets = Vec::new();
                loop {
                    self.c.skip_space();
                    let at = self.c.pos();
                    let target = self.c.name("a label")?;
                    targets.push(f.label_use(target, at));
                    if !self.c.eat(b',') {
                        break;
                    }
                }
                f.declare_table(name, TargetTableKind::Branch(targets));
                return self.c.expect(b';');
            }
            if self.c.eat_directive("calltargets") {
                let mut targets = Vec::new();
                loop {
                    let target = self.c.name("a function")?;
                    match self.globals.get(target) {
                        Some(Symbol::Function(index)) => targets.push(*index),
                        _ => return Err(self.c.error(ParseErrorKind::Undefined(target.into()))),
                    }
                    if !self.c.eat(b',') {
                        break;
                    }
                }
                f.declare_table(name, TargetTableKind::Call(targets));
                return self.c.expect(b';');
            }
            if self.c.eat_directive("callprototype") {
                let kind = self.prototype()?;
                f.declare_table(name, kind);
                return self.c.expect(b';');
            }
        }
        f.label_define(&self.c, name, at)
    }

    fn local_directive(&mut self, f: &mut FnState<'s>) -> Result<()> {
        let at = self.c.pos();
        let word = self.c.try_directive().unwrap_or("");
        let space = match word {
            "reg" => return self.registers(f),
            "local" => Space::Local,
            "shared" => Space::Shared,
            "param" => Space::Param,
            "global" => Space::Global,
            "const" => Space::Const,
            "loc" | "file" => {
                self.c.skip_line();
                return Ok(());
            }
            "pragma" => return self.pragma(),
            "section" => return self.section(),
            _ => return Err(self.c.error_at(at, ParseErrorKind::UnknownDirective(word.into()))),
        };
        for (name, variable) in self.variables(space, Some(f))? {
            let symbol = if matches!(space, Space::Global | Space::Const) {
                // Static data of a function has the lifetime of the module.
                let index = self.module.variables.len() as u32;
                self.module.variables.push(variable);
                Symbol::Module(index)
            } else {
                let index = f.function.variables.len() as u32;
                f.function.variables.push(variable);
                Symbol::Local(index)
            };
            f.declare_symbol(name, symbol);
        }
        Ok(())
    }

    fn registers(&mut self, f: &mut FnState<'s>) -> Result<()> {
        let ty = self.type_directive()?;
        if matches!(ty, Type::B1 | Type::B4 | Type::U4 | Type::S4) {
            return Err(self.c.error(ParseErrorKind::BadValue(format!("registers of type .{ty}"))));
        }
        loop {
            let name = self.c.name("a register name")?;
            if self.c.eat(b'<') {
                let count = self.c.small("a register count")?;
                self.c.expect(b'>')?;
                f.declare_range(&self.c, name, count, ty)?;
            } else {
                f.declare_register(&self.c, name, ty)?;
            }
            if !self.c.eat(b',') {
                return self.c.expect(b';');
            }
        }
    }

    fn instruction(&mut self, f: &mut FnState<'s>) -> Result<()> {
        self.c.skip_space();
        let start = self.c.pos();
        let line = self.c.line();
        let mut guard = None;
        if self.c.eat(b'@') {
            let negated = self.c.eat(b'!');
            self.c.skip_space();
            let at = self.c.pos();
            let name = self.c.name("a predicate")?;
            let reg = f.register(name).ok_or_else(|| self.c.error_at(at, ParseErrorKind::Undefined(name.into())))?;
            if f.register_type(reg) != Type::Pred {
                return Err(self.c.error_at(
                    at,
                    ParseErrorKind::Expected { expected: "a predicate".into(), found: format!("'{name}'") },
                ));
            }
            guard = Some(Guard { reg, negated });
        }
        self.c.skip_space();
        let at = self.c.pos();
        let base = self.c.name("an instruction")?;
        let mut mods = Mods { base, items: SmallVec::new(), used: 0 };
        while let Some(modifier) = self.c.try_modifier() {
            mods.items.push(modifier);
        }
        if mods.items.len() > 40 {
            return Err(self.c.error_at(at, ParseErrorKind::UnknownInstruction(base.into())));
        }
        let (op, args, defs) = if base == "call" {
            let (op, args) = self.call(f, &mut mods)?;
            (op, args, 0)
        } else {
            let mut parser = OperandParser { c: &mut self.c, f: &mut *f, globals: &self.globals };
            let raw = parser.all()?;
            self.check(f, &mut mods, raw, at)?
        };
        self.c.expect(b';')?;
        let span = (start as u32, self.c.pos() as u32);
        f.function.body.push(Inst { guard, op, args, defs, line, span });
        Ok(())
    }

    fn check(
        &mut self,
        f: &FnState<'s>,
        mods: &mut Mods<'s>,
        raw: RawArgs,
        at: usize,
    ) -> Result<(Op, Vec<Operand>, u32)> {
        let form = dispatch(mods, &raw).map_err(|kind| self.c.error_at(at, kind))?;
        mods.finish().map_err(|kind| self.c.error_at(at, kind))?;
        let c: &Cursor<'s> = &self.c;
        let checker = Checker { c, f, instruction: mods.base, at };
        let (args, defs) = checker.all(raw, &form.required, &form.optional)?;
        Ok((form.op, args, defs))
    }

    /// Parses `call{.uni} (results), callee, (arguments), table;`, in which everything but the callee is optional.
    fn call(&mut self, f: &mut FnState<'s>, mods: &mut Mods<'s>) -> Result<(Op, Vec<Operand>)> {
        let at = self.c.pos();
        mods.flag("uni");
        mods.finish().map_err(|kind| self.c.error_at(at, kind))?;
        let mut parser = OperandParser { c: &mut self.c, f, globals: &self.globals };
        let raw = parser.all()?;
        let mut items: Vec<Operand> = raw.into_iter().map(|r| r.op).collect();
        if !matches!(items.first(), Some(Operand::List(_))) {
            items.insert(0, Operand::List(Vec::new()));
        }
        if items.len() == 2 {
            items.push(Operand::List(Vec::new()));
        }
        let callee_ok = matches!(items.get(1), Some(Operand::Sym(Symbol::Function(_), 0) | Operand::Reg(_)));
        let args_ok = matches!(items.get(2), Some(Operand::List(_)));
        let table_ok = matches!(items.get(3), None | Some(Operand::Table(_)));
        if !callee_ok || !args_ok || !table_ok || items.len() > 4 {
            return Err(self.c.error_at(
                at,
                ParseErrorKind::BadOperand {
                    instruction: "call".into(),
                    index: if callee_ok { 3 } else { 2 },
                    expected: "a function and argument lists".into(),
                    found: "something else".into(),
                },
            ));
        }
        Ok((Op::Call, items))
    }
}
