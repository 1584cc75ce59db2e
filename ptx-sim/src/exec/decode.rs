//! Translates a parsed module to its executable form: registers become planes, symbols addresses, labels indices.

use super::flow_order;
use super::state::memory::{CONST_BASE, FUNCTION_BASE, MAX_LOCAL};
use super::state::program::{
    Class, DArg, DInst, ENTRY_PARAM, Func, LoadError, MemBase, ParamSlot, Program, SHARED_START, TensorArg,
};
use crate::ir::*;

/// Maximum size of an entry's parameters, in bytes.
const MAX_PARAMETERS: u64 = 32764;

fn align_up(value: u64, align: u64) -> u64 {
    value.div_ceil(align.max(1)) * align.max(1)
}

/// Addresses of module variables: generic addresses for global and constant memory, offsets for shared memory.
pub(crate) struct Layout {
    pub addresses: Vec<u64>,
    /// Offsets of function-scope shared variables, by function and variable.
    pub local_shared: Vec<Vec<u32>>,
    pub shared_bytes: u32,
}

/// The module's variables that an operand names.
fn named(op: &Operand, found: &mut impl FnMut(usize)) {
    let mut base = |base: &AddrBase| {
        if let AddrBase::Sym(Symbol::Module(i)) = base {
            found(*i as usize);
        }
    };
    match op {
        Operand::Sym(symbol, _) => base(&AddrBase::Sym(*symbol)),
        Operand::Mem(at, _) => base(at),
        Operand::Tensor(t) => base(&t.map),
        Operand::Vec(items) | Operand::List(items) => items.iter().for_each(|item| named(item, found)),
        _ => {}
    }
}

/// Which shared variables of the module a launch of an entry needs: those that the entry or any function that is not
/// an entry names, or all if an initializer contains the address of one.
fn needed(module: &Module, entry: usize) -> Vec<bool> {
    let shared =
        |symbol: &Symbol| matches!(symbol, Symbol::Module(i) if module.variables[*i as usize].space == Space::Shared);
    let initialised = module.variables.iter().flat_map(|v| &v.init);
    let in_memory = initialised
        .filter_map(|piece| match &piece.value {
            InitValue::Address { symbol, .. } => Some(symbol),
            InitValue::Bits(_) => None,
        })
        .any(shared);
    let mut out = vec![in_memory; module.variables.len()];
    let functions = module.functions.iter().enumerate().filter(|(i, f)| *i == entry || !f.is_entry);
    for arg in functions.flat_map(|(_, f)| &f.body).flat_map(|inst| &inst.args) {
        named(arg, &mut |i| out[i] = true);
    }
    out
}

/// Lays out the shared variables of an entry; dynamic (extern, unsized) ones start after the static ones. Other entries
/// of the module have shared memory of their own.
pub(crate) fn layout_shared(module: &Module, addresses: Vec<u64>, entry: usize) -> Result<Layout, LoadError> {
    let mut layout = Layout { addresses, local_shared: Vec::new(), shared_bytes: 0 };
    let mut end = u64::from(SHARED_START);
    let needed = needed(module, entry);
    let place = |v: &Variable, end: &mut u64| {
        let at = align_up(*end, v.align);
        *end = at.saturating_add(v.size.unwrap_or(0));
        at
    };
    for (i, v) in module.variables.iter().enumerate() {
        if v.space == Space::Shared && v.size.is_some() && needed[i] {
            layout.addresses[i] = place(v, &mut end);
        }
    }
    for (i, f) in module.functions.iter().enumerate() {
        let launched = i == entry || !f.is_entry;
        let offsets = f.variables.iter().map(|v| match v.space {
            Space::Shared if v.size.is_some() && launched => place(v, &mut end) as u32,
            _ => 0,
        });
        layout.local_shared.push(offsets.collect());
    }
    let mut dynamic_align = 16u64;
    let unsized_vars = module.variables.iter().chain(module.functions.iter().flat_map(|f| &f.variables));
    for v in unsized_vars.filter(|v| v.space == Space::Shared && v.size.is_none()) {
        dynamic_align = dynamic_align.max(v.align);
    }
    let dynamic = align_up(end, dynamic_align);
    for (i, v) in module.variables.iter().enumerate() {
        if v.space == Space::Shared && v.size.is_none() {
            layout.addresses[i] = dynamic;
        }
    }
    for (f, offsets) in module.functions.iter().zip(&mut layout.local_shared) {
        for (v, offset) in f.variables.iter().zip(offsets) {
            if v.space == Space::Shared && v.size.is_none() {
                *offset = dynamic as u32;
            }
        }
    }
    if dynamic > u64::from(u32::MAX) {
        return Err(LoadError::SharedTooLarge);
    }
    layout.shared_bytes = dynamic as u32 - SHARED_START;
    Ok(layout)
}

/// Decodes all functions of a module, for launches of the entry that the layout is for.
pub(crate) fn decode(module: &Module, layout: &Layout) -> Result<Program, LoadError> {
    let mut funcs = Vec::with_capacity(module.functions.len());
    for (index, f) in module.functions.iter().enumerate() {
        funcs.push(FuncDecoder::new(module, layout, f, index).run()?);
    }
    let of_module = module.variables.iter().zip(layout.addresses.iter().map(|a| *a as u32));
    let of_functions =
        module.functions.iter().zip(&layout.local_shared).flat_map(|(f, o)| f.variables.iter().zip(o.iter().copied()));
    let mut shared: Vec<(u32, u64, String)> = of_module
        .chain(of_functions)
        .filter(|(v, _)| v.space == Space::Shared)
        // A variable of unknown size extends to the end of the CTA's memory.
        .map(|(v, offset)| (offset, v.size.unwrap_or(u64::MAX), v.name.clone()))
        .collect();
    shared.sort();
    Ok(Program { funcs, shared_bytes: layout.shared_bytes, source: module.source.clone(), sm: module.sm(), shared })
}

struct FuncDecoder<'a> {
    module: &'a Module,
    layout: &'a Layout,
    f: &'a Function,
    index: usize,
    /// Plane or predicate number of each register.
    slots: Vec<u32>,
    planes: u32,
    preds: u32,
    locals: Vec<u32>,
    params: Vec<ParamSlot>,
    results: Vec<ParamSlot>,
    entry_params: Vec<(u32, u32)>,
    local_bytes: u64,
    line: u32,
}

impl<'a> FuncDecoder<'a> {
    fn new(module: &'a Module, layout: &'a Layout, f: &'a Function, index: usize) -> Self {
        FuncDecoder {
            module,
            layout,
            f,
            index,
            slots: Vec::with_capacity(f.registers.len()),
            planes: 0,
            preds: 0,
            locals: Vec::new(),
            params: Vec::new(),
            results: Vec::new(),
            entry_params: Vec::new(),
            local_bytes: 0,
            line: 0,
        }
    }

    fn run(mut self) -> Result<Func, LoadError> {
        // A register that no instruction names takes no plane: `.reg .b32 %r<1000>` often declares more than are used.
        let mut used = vec![false; self.f.registers.len()];
        mark_used(self.f, &mut used);
        for (ty, used) in self.f.registers.iter().zip(used) {
            if *ty == Type::Pred {
                self.slots.push(self.preds);
                self.preds += u32::from(used);
            } else {
                self.slots.push(self.planes);
                self.planes += if used { ty.bits().div_ceil(32) } else { 0 };
            }
        }
        let mut param_bytes = 0u64;
        if self.f.is_entry {
            for p in &self.f.params {
                let at = align_up(param_bytes, p.align);
                self.entry_params.push((at as u32, p.size as u32));
                param_bytes = at + p.size;
            }
        } else {
            self.results = self.f.results.iter().map(|p| self.place(p)).collect::<Vec<_>>();
            self.params = self.f.params.iter().map(|p| self.place(p)).collect::<Vec<_>>();
        }
        for v in &self.f.variables {
            if matches!(v.space, Space::Local | Space::Param) {
                let at = align_up(self.local_bytes, v.align);
                self.locals.push(at as u32);
                self.local_bytes = at + v.size.unwrap_or(0);
            } else {
                self.locals.push(0);
            }
        }
        for (what, bytes, limit) in
            [("local memory", self.local_bytes, u64::from(MAX_LOCAL)), ("parameters", param_bytes, MAX_PARAMETERS)]
        {
            if bytes > limit {
                let (function, what) = (self.f.name.clone(), what);
                return Err(LoadError::TooMuch { function, what, bytes, limit });
            }
        }
        let mut code = Vec::with_capacity(self.f.body.len() + 1);
        for inst in &self.f.body {
            self.line = inst.line;
            let args = inst.args.iter().map(|a| self.arg(a)).collect::<Result<Vec<_>, _>>()?;
            let guard = inst.guard.map(|g| (self.slots[g.reg.0 as usize], g.negated));
            code.push(DInst {
                op: inst.op.clone(),
                guard,
                args: args.into(),
                defs: inst.defs,
                line: inst.line,
                span: inst.span,
                class: Class::of(&inst.op),
                order: 0,
                loop_order: 0,
                leader: false,
            });
        }
        // Reaching the end of a body is a return.
        code.push(DInst {
            op: Op::Ret,
            guard: None,
            args: Box::new([]),
            defs: 0,
            line: self.line,
            span: (0, 0),
            class: Class::Control,
            order: 0,
            loop_order: 0,
            leader: false,
        });
        flow_order::assign(&mut code);
        Ok(Func {
            name: self.f.name.clone(),
            defined: self.f.defined,
            code,
            planes: self.planes,
            preds: self.preds,
            local_bytes: align_up(self.local_bytes, 16) as u32,
            params: self.params,
            results: self.results,
            entry_params: self.entry_params,
            param_bytes: param_bytes as u32,
            directives: self.f.directives.clone(),
        })
    }

    fn place(&mut self, p: &Param) -> ParamSlot {
        let offset = align_up(self.local_bytes, p.align);
        self.local_bytes = offset + p.size;
        let reg = p.register.map(|r| (self.slots[r.0 as usize], p.ty.bits() as u8));
        ParamSlot { offset: offset as u32, size: p.size as u32, reg }
    }

    fn error<T>(&self, what: impl Into<String>) -> Result<T, LoadError> {
        Err(LoadError::BadInstruction { line: self.line, what: what.into() })
    }

    fn reg(&self, r: RegId) -> DArg {
        let ty = self.f.registers[r.0 as usize];
        let slot = self.slots[r.0 as usize];
        if ty == Type::Pred { DArg::P(slot) } else { DArg::R(slot, ty.bits() as u8) }
    }

    /// The address of a symbol in its own space; an immediate if it is a constant.
    fn symbol(&self, symbol: Symbol, offset: i64) -> Result<DArg, LoadError> {
        let add = |base: u32| base.wrapping_add(offset as u32);
        Ok(match symbol {
            Symbol::Module(i) => {
                let v = &self.module.variables[i as usize];
                let address = self.layout.addresses[i as usize];
                match v.space {
                    Space::Shared => DArg::Shared(add(address as u32)),
                    Space::Const => DArg::Imm(address.wrapping_sub(CONST_BASE).wrapping_add(offset as u64)),
                    _ => DArg::Imm(address.wrapping_add(offset as u64)),
                }
            }
            Symbol::Local(i) => {
                let v = &self.f.variables[i as usize];
                match v.space {
                    Space::Shared => DArg::Shared(add(self.layout.local_shared[self.index][i as usize])),
                    Space::Local | Space::Param => DArg::Local(add(self.locals[i as usize])),
                    _ => return self.error(format!("variable '{}' in space .{}", v.name, v.space)),
                }
            }
            Symbol::Param(i) if self.f.is_entry => {
                DArg::Imm(ENTRY_PARAM | u64::from(self.entry_params[i as usize].0).wrapping_add(offset as u64))
            }
            Symbol::Param(i) => DArg::Local(add(self.params[i as usize].offset)),
            Symbol::Result(i) => DArg::Local(add(self.results[i as usize].offset)),
            Symbol::Function(i) => DArg::Imm(FUNCTION_BASE + 16 * u64::from(i)),
        })
    }

    fn mem(&self, base: AddrBase, offset: i64) -> Result<(MemBase, i64), LoadError> {
        Ok(match base {
            AddrBase::Reg(r) => match self.reg(r) {
                DArg::R(slot, 32) => (MemBase::R32(slot), offset),
                DArg::R(slot, 64) => (MemBase::R64(slot), offset),
                _ => return self.error("an address register must have 32 or 64 bits"),
            },
            AddrBase::Absolute => (MemBase::Abs, offset),
            AddrBase::Sym(symbol) => match self.symbol(symbol, offset)? {
                DArg::Shared(o) => (MemBase::Shared(o), 0),
                DArg::Local(o) => (MemBase::Local(o), 0),
                DArg::Imm(v) => (MemBase::Abs, v as i64),
                _ => return self.error("address of an unexpected symbol"),
            },
        })
    }

    fn list(&self, items: &[Operand]) -> Result<Box<[DArg]>, LoadError> {
        items.iter().map(|i| self.arg(i)).collect()
    }

    fn arg(&self, operand: &Operand) -> Result<DArg, LoadError> {
        Ok(match operand {
            Operand::Reg(r) => self.reg(*r),
            Operand::NotReg(r) => DArg::NotP(self.slots[r.0 as usize]),
            Operand::Imm(imm) => DArg::Imm(imm.bits()),
            Operand::Special(s) => DArg::Special(*s),
            Operand::Sym(symbol, offset) => self.symbol(*symbol, *offset)?,
            Operand::Vec(items) | Operand::List(items) => DArg::Vec(self.list(items)?),
            Operand::Mem(base, offset) => {
                let (base, offset) = self.mem(*base, *offset)?;
                DArg::Mem(base, offset)
            }
            Operand::Tensor(t) => {
                let (map, offset) = self.mem(t.map, t.offset)?;
                let (coords, im2col) = (self.list(&t.coords)?, self.list(&t.im2col)?);
                DArg::Tensor(Box::new(TensorArg { map, offset, coords, im2col }))
            }
            Operand::Label(l) => DArg::Target(self.f.labels[l.0 as usize].at),
            Operand::Table(t) => match &self.f.tables[*t as usize].kind {
                TargetTableKind::Branch(labels) => {
                    DArg::Targets(labels.iter().map(|l| self.f.labels[l.0 as usize].at).collect())
                }
                _ => DArg::Targets(Box::new([])),
            },
            Operand::Sink => DArg::Sink,
        })
    }
}

/// Marks the registers that the body or the parameters name.
fn mark_used(f: &Function, used: &mut [bool]) {
    fn operand(o: &Operand, used: &mut [bool]) {
        let mut base = |b: &AddrBase| {
            if let AddrBase::Reg(r) = b {
                used[r.0 as usize] = true;
            }
        };
        match o {
            Operand::Reg(r) | Operand::NotReg(r) => used[r.0 as usize] = true,
            Operand::Vec(v) | Operand::List(v) => v.iter().for_each(|o| operand(o, used)),
            Operand::Mem(b, _) => base(b),
            Operand::Tensor(t) => {
                base(&t.map);
                t.coords.iter().chain(&t.im2col).for_each(|o| operand(o, used));
            }
            _ => {}
        }
    }
    for inst in &f.body {
        if let Some(g) = inst.guard {
            used[g.reg.0 as usize] = true;
        }
        inst.args.iter().for_each(|o| operand(o, used));
    }
    for p in f.params.iter().chain(&f.results) {
        if let Some(r) = p.register {
            used[r.0 as usize] = true;
        }
    }
}
