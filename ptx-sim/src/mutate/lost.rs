//! Determines whether a mutant's change is lost for every possible contents of the arrays.
//!
//! Some values depend only on constants, parameters and the position of the thread, such as the angles of a Fourier
//! transform. Every launch computes them identically, whatever the arrays contain. If a change in such a value is
//! lost, for example in a rounding, it is lost in every launch:
//!
//! ```text
//! fma.rn.f32 %r2, %r1, 0fB94CAADA, 0f3C0883BE;      changed: different last bit of %r2 in some lanes
//! fma.rn.f32 %r3, %r2, %r1, 0fBE2AAAA3;             only reader of %r2; %r3 is unchanged in each lane, each time
//! ```

use super::{Mutant, gives_values_only};
use crate::exec::Coverage;
use crate::ir::*;

impl Mutant {
    /// Whether the changed values affect nothing, whatever the arrays contain, given how the original and the changed
    /// module executed in one launch.
    pub fn is_lost(&self, module: &Module, before: &Coverage, after: &Coverage) -> bool {
        self.gives_values_only() && is_lost(self, module, before, after)
    }
}

/// Whether the values that the mutant changed are lost in instructions that do not depend on the contents of arrays,
/// judging by the results of the original and the mutant in one launch.
fn is_lost(mutant: &Mutant, module: &Module, before: &Coverage, after: &Coverage) -> bool {
    let Some(function) = module.functions.get(mutant.function) else { return false };
    // A path that depends on no array contents is the same in every launch, so unreached instructions stay unreached.
    let executed: Vec<&Inst> = function
        .body
        .iter()
        .enumerate()
        .filter(|(at, _)| before.of(mutant.function, *at).reached > 0)
        .map(|(_, inst)| inst)
        .collect();
    let Some(fixed) = fixed_registers(function, &executed) else { return false };
    let is_fixed = |inst: &Inst| {
        let mut registers = vec![];
        destinations(inst).for_each(|arg| {
            registers_of(arg, &mut registers);
        });
        gives_values_only(inst) && !registers.is_empty() && registers.iter().all(|r| fixed[r.0 as usize])
    };
    let (mut changed, mut next) = (vec![false; function.body.len()], vec![mutant.at]);
    while let Some(at) = next.pop() {
        let inst = &function.body[at];
        if !is_fixed(inst) {
            return false;
        }
        if std::mem::replace(&mut changed[at], true) {
            continue;
        }
        let mut given = vec![];
        destinations(inst).for_each(|arg| {
            registers_of(arg, &mut given);
        });
        for (user, inst) in function.body.iter().enumerate() {
            let mut read = vec![];
            sources(inst).for_each(|arg| {
                registers_of(arg, &mut read);
            });
            read.extend(inst.guard.map(|g| g.reg));
            if !given.iter().any(|r| read.contains(r)) {
                continue;
            }
            let same = before.of(mutant.function, user).values == after.of(mutant.function, mutant.moved(user)).values;
            // An instruction whose results differ must be array-independent too; other readers of a changed value may
            // have effects.
            if !same || !is_fixed(inst) {
                next.push(user);
            }
        }
    }
    true
}

/// The registers whose values do not depend on array contents, in a launch that executes these instructions. Returns
/// `None` if the control flow depends on array contents.
fn fixed_registers(function: &Function, executed: &[&Inst]) -> Option<Vec<bool>> {
    if !function.is_entry {
        return None;
    }
    let mut fixed = vec![true; function.registers.len()];
    loop {
        let mut settled = true;
        for inst in executed {
            let mut read = vec![];
            let known = sources(inst).all(|arg| registers_of(arg, &mut read));
            read.extend(inst.guard.map(|g| g.reg));
            if computes(&inst.op) && known && read.iter().all(|r| fixed[r.0 as usize]) {
                continue;
            }
            let mut given = vec![];
            destinations(inst).for_each(|arg| {
                registers_of(arg, &mut given);
            });
            for register in given {
                settled &= !std::mem::replace(&mut fixed[register.0 as usize], false);
            }
        }
        if settled {
            break;
        }
    }
    let follows = |inst: &&Inst| match inst.op {
        Op::Bra { .. } | Op::Ret | Op::Exit => inst.guard.is_none_or(|g| fixed[g.reg.0 as usize]),
        Op::BrxIdx | Op::Call => false,
        _ => true,
    };
    executed.iter().all(follows).then_some(fixed)
}

/// Whether an instruction's results depend only on its operands, or are a parameter.
fn computes(op: &Op) -> bool {
    matches!(
        op,
        Op::Mov { .. }
            | Op::Int { .. }
            | Op::Bits { .. }
            | Op::Float { .. }
            | Op::MixedFloat { .. }
            | Op::Setp { .. }
            | Op::Set { .. }
            | Op::Selp { .. }
            | Op::Cvt(_)
            | Op::Ld(LoadStoreMods { space: Space::Param | Space::ParamEntry, .. })
    )
}

fn destinations(inst: &Inst) -> impl Iterator<Item = &Operand> {
    inst.args.iter().enumerate().filter(|(i, _)| inst.defs >> i & 1 != 0).map(|(_, arg)| arg)
}

fn sources(inst: &Inst) -> impl Iterator<Item = &Operand> {
    inst.args.iter().enumerate().filter(|(i, _)| inst.defs >> i & 1 == 0).map(|(_, arg)| arg)
}

/// Adds the registers of an operand. Returns `false` if its value depends on something else too.
fn registers_of(operand: &Operand, out: &mut Vec<RegId>) -> bool {
    let base = |base: &AddrBase, out: &mut Vec<RegId>| {
        if let AddrBase::Reg(r) = base {
            out.push(*r);
        }
    };
    match operand {
        Operand::Reg(r) | Operand::NotReg(r) => out.push(*r),
        Operand::Vec(parts) | Operand::List(parts) => {
            // Visits all of them, even after one that returns false.
            let mut all = true;
            for part in parts {
                all &= registers_of(part, out);
            }
            return all;
        }
        Operand::Mem(address, _) => base(address, out),
        Operand::Tensor(tensor) => {
            base(&tensor.map, out);
            tensor.coords.iter().chain(&tensor.im2col).for_each(|c| {
                registers_of(c, out);
            });
        }
        Operand::Special(special) => {
            use Special::*;
            return matches!(special, Tid(_) | Ntid(_) | Ctaid(_) | Nctaid(_) | Laneid);
        }
        _ => {}
    }
    true
}
