//! Instructions that an assembler joins.
//!
//! A machine with maxima and minima of three operands needs one instruction for two of PTX, if the result of the first
//! has no other use. ptxas 13.5 does so for sm_100, 103 and 110 (`FMNMX3`): of the chain `max(max(max(a, b), c), d)` it
//! joins the first two and leaves the third.

use super::costs::{Effect, InstCost};
use crate::exec::state::program::{Class, DInst, Func};
use crate::ir::{FloatOp, Op, Type};

/// Makes the first of two maxima, or minima, that become one instruction free.
pub(super) fn maxima(func: &Func, slots: &mut [InstCost]) {
    let mut joined = vec![false; slots.len()];
    for first in 0..slots.len() {
        if joined[first] || !is_minmax(&func.code[first]) || slots[first].writes.len() != 1 {
            continue;
        }
        let Some(second) = only_use(func, slots, first) else { continue };
        if func.code[first].op == func.code[second].op && func.code[first].guard == func.code[second].guard {
            joined[second] = true;
            slots[first] =
                InstCost { issues: 0.0, interval: 0.0, latency: 0.0, effect: Effect::Alias, ..slots[first].clone() };
        }
    }
}

fn is_minmax(inst: &DInst) -> bool {
    matches!(&inst.op, Op::Float { op: FloatOp::Min | FloatOp::Max, ty: Type::F32, .. })
}

/// The only instruction that reads the result of another, if the basic block shows that it is the only one: the
/// register is written again, or read nowhere else in the function.
fn only_use(func: &Func, slots: &[InstCost], first: usize) -> Option<usize> {
    let register = *slots[first].writes.first()?;
    let mut user = None;
    for (at, (slot, inst)) in slots.iter().zip(&func.code).enumerate().skip(first + 1) {
        if inst.leader {
            break;
        }
        if slot.reads.contains(&register) {
            if user.is_some() {
                return None;
            }
            user = Some(at);
        }
        if slot.writes.contains(&register) {
            return user;
        }
        if inst.class == Class::Control {
            break;
        }
    }
    let user = user?;
    let elsewhere = (0..slots.len()).any(|at| at != user && slots[at].reads.contains(&register));
    (!elsewhere).then_some(user)
}
