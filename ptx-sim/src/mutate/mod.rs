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
mod patch;
#[cfg(test)]
mod tests;

use crate::exec::{ArbitraryLanes, Coverage, Executed};
use crate::ir::*;
pub use operators::OPERATORS;
use patch::Patch;
pub use patch::{Class, Operator};

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
