//! Whether what a mutant changes is lost before it reaches anything, whatever arrays hold.
//!
//! Some of what a program computes depends on nothing but constants, parameters and the thread's place, such as the
//! angles of a Fourier transform. Each launch on other contents of the arrays computes the same there. So where a
//! change in it is lost on the way, in a rounding for one, it is lost in all of them:
//!
//! ```text
//! fma.rn.f32 %r2, %r1, 0fB94CAADA, 0f3C0883BE;      changed: another last bit of %r2 in some lanes
//! fma.rn.f32 %r3, %r2, %r1, 0fBE2AAAA3;             all that reads %r2; %r3 is the same in each lane, each time
//! ```

use super::{Mutant, gives_values_only};
use crate::exec::Coverage;
use crate::ir::*;

/// Whether the values that the mutant changed are lost in instructions that do not depend on what arrays hold, by what
/// the original and the mutant gave in one launch.
pub(super) fn is_lost(mutant: &Mutant, module: &Module, before: &Coverage, after: &Coverage) -> bool {
    let Some(function) = module.functions.get(mutant.function) else { return false };
    // Where no warp comes to in this launch, none comes to in the others.
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
            // What has other values must be such an instruction too; what else reads a changed value may do more.
            if !same || !is_fixed(inst) {
                next.push(user);
            }
        }
    }
    true
}

/// Registers that hold the same whatever arrays hold, in a launch that executes these instructions; `None` if the way
/// through the function depends on that.
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

/// Whether an instruction gives what follows from its operands, or a parameter.
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

/// Adds the registers in an operand; `false` if it has more that a value depends on.
fn registers_of(operand: &Operand, out: &mut Vec<RegId>) -> bool {
    let base = |base: &AddrBase, out: &mut Vec<RegId>| {
        if let AddrBase::Reg(r) = base {
            out.push(*r);
        }
    };
    match operand {
        Operand::Reg(r) | Operand::NotReg(r) => out.push(*r),
        Operand::Vec(parts) | Operand::List(parts) => {
            // All of them, also behind one that has more.
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
