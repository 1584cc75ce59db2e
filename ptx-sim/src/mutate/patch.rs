//! Operators, and the changes that they make to a function.

use crate::ir::*;

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
    pub(super) apply: fn(&mut Patch<'_>, &Inst) -> Option<Inst>,
}

/// Additions of an operator to the function.
pub(super) struct Patch<'a> {
    pub function: &'a Function,
    pub before: Vec<Inst>,
    pub registers: Vec<Type>,
}

impl Patch<'_> {
    /// The type of a register of the original function.
    pub fn type_of(&self, register: RegId) -> Option<Type> {
        self.function.registers.get(register.0 as usize).copied()
    }

    /// Changes an integer operand by a constant: an immediate directly, a register in an inserted instruction.
    pub fn changed(&mut self, inst: &Inst, operand: &Operand, how: Change) -> Option<Operand> {
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
pub(super) enum Change {
    Add(i64),
    Xor(u64),
}
