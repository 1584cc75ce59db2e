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

/// The numbers of the parameters that affect anything other than jumps.
pub fn needed_parameters(code: &[Vec<Inst<'_>>]) -> Vec<usize> {
    let mut needed = vec![];
    for inst in code.iter().flatten() {
        match inst {
            Inst::Set(_, value) => value.parameters(&mut needed),
            Inst::Do(op) => op.exprs().into_iter().for_each(|e| e.parameters(&mut needed)),
            Inst::Jump(_) | Inst::JumpUnless(..) => {}
        }
    }
    needed
}

/// The position of an agent, with its variables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor {
    pub pc: usize,
    pub variables: Vec<i64>,
}

impl Cursor {
    pub fn new(variables: usize) -> Self {
        Self { pc: 0, variables: vec![0; variables] }
    }

    /// Advances to the next operation visible to other agents; returns `None` at the end.
    pub fn next<'a>(&mut self, code: &[Inst<'a>], parameters: &[i64]) -> Option<&'a Op> {
        self.next_within(code, parameters, parameters).unwrap_or_default()
    }

    /// Like [`Cursor::next`], for parameters within a range of values.
    ///
    /// # Errors
    ///
    /// The number of a parameter that a jump depends on. The cursor stays before the jump.
    pub fn next_within<'a>(&mut self, code: &[Inst<'a>], least: &[i64], most: &[i64]) -> Result<Option<&'a Op>, usize> {
        loop {
            match code.get(self.pc) {
                None => return Ok(None),
                Some(Inst::Do(op)) => return Ok(Some(op)),
                Some(Inst::Set(var, value)) => {
                    self.variables[var.0] = value.eval(&self.variables, least);
                    self.pc += 1;
                }
                Some(Inst::Jump(to)) => self.pc = *to,
                Some(Inst::JumpUnless(condition, to)) => {
                    let holds = condition.decide(&self.variables, least, most)?;
                    self.pc = if holds { self.pc + 1 } else { *to };
                }
            }
        }
    }
}
