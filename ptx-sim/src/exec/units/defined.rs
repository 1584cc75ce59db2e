//! Detection of registers that were never written.
//!
//! With [`RunOptions::undefined`], an adversarial launch tracks for each bit of the entry's registers whether it is
//! *undefined*. Moves, selects and arithmetic propagate undefined bits, because a compiler may compute with values
//! that it later discards. An undefined bit is an error where it matters: in an address, in the guard of a branch or
//! of an instruction with effects, in a stored value, and in an operand of a copy or matrix instruction.
//!
//! The results of shuffles, votes and calls count as defined, and so do all registers of called functions.
//!
//! With [`RunOptions::arbitrary`], registers are defined at first, and the results of one instruction are not.
//! Shuffles, votes and calls with undefined operands are then errors too, so a launch without an error proves that the
//! results of the instruction do not matter.
//!
//! [`RunOptions::undefined`]: crate::RunOptions::undefined
//!
//! [`RunOptions::arbitrary`]: crate::RunOptions::arbitrary

use crate::exec::state::error::SimErrorKind;
use crate::exec::state::lanes::Lanes;
use crate::exec::state::machine::Fail;
use crate::exec::state::options::ArbitraryLanes;
use crate::exec::state::program::{Class, DArg, DInst};
use crate::exec::state::undefined::{NONE, Undefined, spread};
use crate::exec::state::warp::Warp;
use crate::ir::*;

/// The frame of the entry itself.
const ENTRY: u32 = 0;

/// Whether an instruction does nothing but compute registers.
fn is_pure(inst: &DInst) -> bool {
    matches!(inst.class, Class::Move | Class::Integer | Class::Float | Class::Convert | Class::Compare)
}

/// Whether the data sources of an instruction must be defined, in addition to its addresses.
fn uses_data(op: &Op, class: Class) -> bool {
    match op {
        // Arguments of calls may contain padding.
        Op::St(a) => !matches!(a.space, Space::Param | Space::ParamFunc),
        Op::StBulk { .. } | Op::BrxIdx => true,
        _ => matches!(class, Class::Atomic | Class::Async | Class::Tensor),
    }
}

/// The source of undefined bits.
#[derive(Clone, Copy)]
pub(crate) enum Watch {
    Unwritten,
    /// The results of one instruction. `here` is set, with the lanes, at that instruction.
    Arbitrary {
        here: Option<ArbitraryLanes>,
    },
}

/// Checks an instruction before it executes, and records which registers it defines. `lanes` reach the instruction;
/// `mask` are the lanes that execute it.
pub(crate) fn check(w: &mut Warp, frame: u32, inst: &DInst, lanes: u32, mask: u32, watch: Watch) -> Result<(), Fail> {
    if frame != ENTRY {
        // Undefined bits are not tracked inside a called function.
        return match watch {
            Watch::Arbitrary { here: Some(_) } => refuse("a register of a called function", lanes),
            _ => Ok(()),
        };
    }
    let Some(mut undefined) = w.undefined.take() else { return Ok(()) };
    let strict = matches!(watch, Watch::Arbitrary { .. });
    let result = undefined.instruction(w, inst, lanes, mask, strict);
    if let Watch::Arbitrary { here: Some(which) } = watch {
        for target in targets(inst) {
            undefined.set(target, &[[u32::MAX; 32]; 4], which.of(lanes, mask));
        }
    }
    w.undefined = Some(undefined);
    result
}

/// The destination registers.
fn targets(inst: &DInst) -> impl Iterator<Item = &DArg> {
    inst.args.iter().enumerate().filter(|(i, _)| inst.defs >> i & 1 != 0).map(|(_, arg)| arg)
}

impl Undefined {
    fn instruction(&mut self, w: &Warp, inst: &DInst, lanes: u32, mask: u32, strict: bool) -> Result<(), Fail> {
        let guard = inst.guard.map_or(0, |(p, _)| self.preds[p as usize]) & lanes;
        if is_pure(inst) {
            self.compute(w, inst, mask & !guard);
            for target in targets(inst) {
                self.set(target, &[[u32::MAX; 32]; 4], guard);
            }
            return Ok(());
        }
        refuse("the guard", guard)?;
        for (i, arg) in inst.args.iter().enumerate().filter(|(i, _)| inst.defs >> i & 1 == 0) {
            let what = match arg {
                DArg::Mem(..) | DArg::Tensor(_) => "the address".to_string(),
                _ if strict || uses_data(&inst.op, inst.class) => format!("operand {}", i + 1),
                _ => continue,
            };
            refuse(&what, self.lanes(arg) & mask)?;
        }
        for target in targets(inst) {
            self.set(target, &NONE, mask);
        }
        if let (Op::Call, Some(results)) = (&inst.op, inst.args.first()) {
            self.set(results, &NONE, mask);
        }
        Ok(())
    }

    /// Propagates undefined source bits to the destinations of an instruction.
    fn compute(&mut self, w: &Warp, inst: &DInst, mask: u32) {
        let args = &inst.args;
        match &inst.op {
            Op::Mov { ty } => self.mov(*ty, args, mask),
            Op::Selp { .. } => {
                let (p, condition) = (w.src_pred(ENTRY, &args[3]), self.lanes(&args[3]));
                let (a, b) = (self.bits(&args[1]), self.bits(&args[2]));
                self.set(&args[0], &a, mask & p & !condition);
                self.set(&args[0], &b, mask & !p & !condition);
                self.set(&args[0], &[[u32::MAX; 32]; 4], mask & condition);
            }
            // If a defined bit alone determines the result, the result is defined.
            Op::Bits { op: op @ (BitOp::And | BitOp::Or), .. } => {
                let decides = |arg: &DArg| -> [Lanes; 4] {
                    let value = match arg {
                        DArg::P(_) | DArg::NotP(_) => [spread(w.src_pred(ENTRY, arg)), [0; 32], [0; 32], [0; 32]],
                        _ => w.src128(ENTRY, arg),
                    };
                    if *op == BitOp::And { value } else { value.map(|p| p.map(|v| !v)) }
                };
                let (a, b) = (decides(&args[1]), decides(&args[2]));
                let (x, y) = (self.bits(&args[1]), self.bits(&args[2]));
                let out = std::array::from_fn(|i| {
                    std::array::from_fn(|l| x[i][l] & (y[i][l] | b[i][l]) | y[i][l] & (x[i][l] | a[i][l]))
                });
                self.set(&args[0], &out, mask);
            }
            _ => {
                let sources = args.iter().enumerate().filter(|(i, _)| inst.defs >> i & 1 == 0);
                let lanes = sources.fold(0, |lanes, (_, arg)| lanes | self.lanes(arg));
                let out = [spread(lanes); 4];
                for (_, arg) in args.iter().enumerate().filter(|(i, _)| inst.defs >> i & 1 != 0) {
                    self.set(arg, &out, mask);
                }
            }
        }
    }
}

fn refuse(what: &str, lanes: u32) -> Result<(), Fail> {
    match lanes {
        0 => Ok(()),
        lanes => Err(Fail::at(SimErrorKind::UndefinedRegister(what.into()), lanes.trailing_zeros() as usize)),
    }
}
