//! Agents as flat code: loops and branches become jumps.

use crate::program::{Expr, Op, Var};

/// One instruction.
#[derive(Debug, Clone)]
pub enum Inst<'a> {
    Set(Var, Expr),
    JumpUnless(Expr, usize),
    Jump(usize),
    /// An operation on barriers or stages.
    Do(&'a Op),
}

pub fn flatten(body: &[Op]) -> Vec<Inst<'_>> {
    let mut code = Vec::new();
    append(body, &mut code);
    code
}

fn append<'a>(body: &'a [Op], code: &mut Vec<Inst<'a>>) {
    for op in body {
        match op {
            Op::Set(var, value) => code.push(Inst::Set(*var, value.clone())),
            Op::Loop { var, trips, body } => {
                code.push(Inst::Set(*var, 0.into()));
                let top = code.len();
                code.push(Inst::Jump(0));
                append(body, code);
                code.push(Inst::Set(*var, Expr::from(*var) + 1));
                code.push(Inst::Jump(top));
                code[top] = Inst::JumpUnless(Expr::from(*var).less(trips.clone()), code.len());
            }
            Op::If { condition, then, otherwise } => {
                let branch = code.len();
                code.push(Inst::Jump(0));
                append(then, code);
                let over = code.len();
                code.push(Inst::Jump(0));
                code[branch] = Inst::JumpUnless(condition.clone(), code.len());
                append(otherwise, code);
                code[over] = Inst::Jump(code.len());
            }
            _ => code.push(Inst::Do(op)),
        }
    }
}

/// Where an agent is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor {
    pub pc: usize,
    pub variables: Vec<i64>,
}

impl Cursor {
    pub fn new(variables: usize) -> Self {
        Self { pc: 0, variables: vec![0; variables] }
    }

    /// Runs to the next operation that others can see; `None` at the end.
    pub fn next<'a>(&mut self, code: &[Inst<'a>], parameters: &[i64]) -> Option<&'a Op> {
        loop {
            match code.get(self.pc)? {
                Inst::Do(op) => return Some(op),
                Inst::Set(var, value) => {
                    self.variables[var.0] = value.eval(&self.variables, parameters);
                    self.pc += 1;
                }
                Inst::Jump(to) => self.pc = *to,
                Inst::JumpUnless(condition, to) => {
                    let holds = condition.eval(&self.variables, parameters) != 0;
                    self.pc = if holds { self.pc + 1 } else { *to };
                }
            }
        }
    }
}
