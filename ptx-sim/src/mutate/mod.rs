//! Mutants: a module with one instruction changed, as a miscompilation could have changed it.
//!
//! A good check detects most of them. [`mutants`] lists the mutants of a module according to the table of operators,
//! [`OPERATORS`]; [`Mutant::of`] builds the module. Mutants are built from the typed instructions, so each is valid
//! PTX, except for errors that an assembler cannot detect, such as a wrong count.
//!
//! An operator changes an instruction, or replaces it by a `nop`. If an operand is a register, the operator changes
//! its value in an instruction inserted before the changed one:
//!
//! ```text
//! mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;
//!
//! xor.b32 %new, %r2, 1;
//! mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %new;
//! ```

mod lost;
mod operators;
#[cfg(test)]
mod tests;

use crate::exec::{ArbitraryLanes, Coverage, Executed};
use crate::ir::*;
pub use operators::OPERATORS;

/// The kind of error that a mutant contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    Barrier,
    Mbarrier,
    Asynchronous,
    Fence,
    Predicate,
    Address,
    Shuffle,
    Rounding,
    Order,
    Initialisation,
    Arithmetic,
}

impl Class {
    pub const ALL: [Class; 11] = [
        Class::Barrier,
        Class::Mbarrier,
        Class::Asynchronous,
        Class::Fence,
        Class::Predicate,
        Class::Address,
        Class::Shuffle,
        Class::Rounding,
        Class::Order,
        Class::Initialisation,
        Class::Arithmetic,
    ];

    /// The name in command lines and tables.
    pub fn name(self) -> &'static str {
        match self {
            Class::Barrier => "barrier",
            Class::Mbarrier => "mbarrier",
            Class::Asynchronous => "async",
            Class::Fence => "fence",
            Class::Predicate => "predicate",
            Class::Address => "address",
            Class::Shuffle => "shuffle",
            Class::Rounding => "rounding",
            Class::Order => "order",
            Class::Initialisation => "init",
            Class::Arithmetic => "arithmetic",
        }
    }

    /// A short description of the operators of the class.
    pub fn summary(self) -> &'static str {
        match self {
            Class::Barrier => "barriers of a CTA, a cluster or a warp dropped, their counts changed",
            Class::Mbarrier => "waits and arrivals dropped, parity flipped, expected bytes and counts changed",
            Class::Asynchronous => "commits and waits of asynchronous groups dropped, one more group left in flight",
            Class::Fence => "fences of memory, of proxies and of matrix instructions dropped",
            Class::Predicate => "guards negated or dropped, choices swapped",
            Class::Address => "addresses, coordinates and descriptors one access or 16 bytes off",
            Class::Shuffle => "another lane, another mode, votes and reductions of another kind",
            Class::Rounding => "another rounding mode, subnormals flushed or kept",
            Class::Order => "scopes narrowed to the CTA, orderings weakened",
            Class::Initialisation => "constants, barriers, stores to shared memory, fields of tensor maps left out",
            Class::Arithmetic => "another operation, comparison, sign, direction or constant",
        }
    }
}

/// One way to change an instruction.
#[derive(Clone, Copy)]
pub struct Operator {
    pub class: Class,
    pub name: &'static str,
    /// Returns the changed instruction, or `None` if the operator does not apply.
    apply: fn(&mut Patch<'_>, &Inst) -> Option<Inst>,
}

/// The difference between a changed module and the original.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub class: Class,
    /// The name of the operator.
    pub operator: &'static str,
    /// Index into [`Module::functions`].
    pub function: usize,
    /// Index into [`Function::body`].
    pub at: usize,
    /// Line in the source, from 1.
    pub line: u32,
    before: Vec<Inst>,
    inst: Inst,
    registers: Vec<Type>,
}

/// All mutants of a module, in instruction order.
pub fn mutants(module: &Module) -> Vec<Mutant> {
    let mut out = vec![];
    for (function, f) in module.functions.iter().enumerate() {
        for (at, inst) in f.body.iter().enumerate() {
            for operator in OPERATORS {
                let mut patch = Patch { function: f, before: vec![], registers: vec![] };
                if let Some(changed) = (operator.apply)(&mut patch, inst) {
                    let Patch { before, registers, .. } = patch;
                    let Operator { class, name, .. } = *operator;
                    let line = inst.line;
                    out.push(Mutant { class, operator: name, function, at, line, before, inst: changed, registers });
                }
            }
        }
    }
    out
}

impl Mutant {
    /// Builds the changed module.
    pub fn of(&self, module: &Module) -> Module {
        let mut functions = module.functions.clone();
        if let Some(f) = functions.get_mut(self.function) {
            f.registers.extend(&self.registers);
            let changed = self.before.iter().chain([&self.inst]).cloned();
            f.body.splice(self.at..=self.at, changed);
            for label in f.labels.iter_mut().filter(|l| l.at as usize > self.at) {
                label.at += self.before.len() as u32;
            }
        }
        module.with(module.variables.clone(), functions)
    }

    /// The text of the original instruction.
    pub fn text<'m>(&self, module: &'m Module) -> &'m str {
        let inst = module.functions.get(self.function).and_then(|f| f.body.get(self.at));
        inst.map_or("", |inst| module.text_of(inst))
    }

    /// How the original instruction was executed, in a launch of the original.
    pub fn original(&self, coverage: &Coverage) -> Executed {
        coverage.of(self.function, self.at)
    }

    /// How the changed instruction was executed, in a launch of the changed module.
    pub fn changed(&self, coverage: &Coverage) -> Executed {
        coverage.of(self.function, self.moved(self.at))
    }

    /// The index in the changed module of an instruction of the original.
    fn moved(&self, at: usize) -> usize {
        if at < self.at { at } else { at + self.before.len() }
    }

    /// Whether the changed values affect nothing, whatever the arrays contain, given how the original and the changed
    /// module executed in one launch.
    pub fn is_lost(&self, module: &Module, before: &Coverage, after: &Coverage) -> bool {
        self.gives_values_only() && lost::is_lost(self, module, before, after)
    }

    /// Whether the changed instruction, like the original, affects the launch only through its destination registers.
    pub fn gives_values_only(&self) -> bool {
        gives_values_only(&self.inst)
    }

    /// The lanes in which the destination registers of the original instruction may hold different values, if the
    /// mutant has no other effect.
    pub fn lanes_with_other_values(&self, module: &Module) -> Option<ArbitraryLanes> {
        let original = module.functions.get(self.function)?.body.get(self.at)?;
        if !gives_values_only(original) {
            return None;
        }
        match self.operator {
            operators::DROP_GUARD => Some(ArbitraryLanes::Skipped),
            operators::NEGATE_GUARD => Some(ArbitraryLanes::All),
            _ if self.inst.op == Op::Nop || self.gives_values_only() => Some(ArbitraryLanes::Executed),
            _ => None,
        }
    }

    /// Whether the mutant changes only the lanes that execute the instruction.
    pub fn changes_guard_only(&self) -> bool {
        matches!(self.operator, operators::NEGATE_GUARD | operators::DROP_GUARD)
    }
}

/// Whether an instruction affects only its destination registers.
fn gives_values_only(inst: &Inst) -> bool {
    let pure = matches!(
        inst.op,
        Op::Mov { .. }
            | Op::Int { .. }
            | Op::Bits { .. }
            | Op::Float { .. }
            | Op::MixedFloat { .. }
            | Op::Setp { .. }
            | Op::Set { .. }
            | Op::Selp { .. }
            | Op::Cvt(_)
            | Op::Shfl { .. }
            | Op::Vote { .. }
            | Op::Redux { .. }
            | Op::Ld(LoadStoreMods { sem: Sem::Weak, .. })
            | Op::Ldmatrix(_)
    );
    pure && inst.defs != 0
}

/// Additions of an operator to the function.
struct Patch<'a> {
    function: &'a Function,
    before: Vec<Inst>,
    registers: Vec<Type>,
}

impl Patch<'_> {
    /// The type of a register of the original function.
    fn type_of(&self, register: RegId) -> Option<Type> {
        self.function.registers.get(register.0 as usize).copied()
    }

    /// Changes an integer operand by a constant: an immediate directly, a register in an inserted instruction.
    fn changed(&mut self, inst: &Inst, operand: &Operand, how: Change) -> Option<Operand> {
        match operand {
            Operand::Imm(Imm::Int(v)) => Some(Operand::Imm(Imm::Int(match how {
                Change::Add(n) => v.wrapping_add_signed(n),
                Change::Xor(n) => v ^ n,
            }))),
            Operand::Reg(register) => {
                let bits = self.type_of(*register)?.bits();
                let (op, constant) = match (how, bits) {
                    (Change::Add(n), 32) => (Op::Int { op: IntOp::Add, ty: Type::S32, sat: false }, n as u32 as u64),
                    (Change::Add(n), 64) => (Op::Int { op: IntOp::Add, ty: Type::S64, sat: false }, n as u64),
                    (Change::Xor(n), 32) => (Op::Bits { op: BitOp::Xor, ty: Type::B32 }, n),
                    (Change::Xor(n), 64) => (Op::Bits { op: BitOp::Xor, ty: Type::B64 }, n),
                    _ => return None,
                };
                let new = RegId((self.function.registers.len() + self.registers.len()) as u32);
                self.registers.push(if bits == 32 { Type::B32 } else { Type::B64 });
                let args = vec![Operand::Reg(new), operand.clone(), Operand::Imm(Imm::Int(constant))];
                self.before.push(Inst { guard: None, op, args, defs: 1, line: inst.line, span: inst.span });
                Some(Operand::Reg(new))
            }
            _ => None,
        }
    }
}

/// A change of an integer.
#[derive(Clone, Copy)]
enum Change {
    Add(i64),
    Xor(u64),
}
