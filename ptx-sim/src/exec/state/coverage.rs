//! Which instructions a launch executes, and digests of their results.
//!
//! Take two launches of the same code on the same schedule that differ in one instruction. They behave identically if
//! that instruction had the same active lanes and produced the same values each time; the digests show whether it did.
//! Digests depend on execution order, so they are comparable only between runs of one schedule.

use super::lanes::lanes;
use super::program::{DArg, DInst, Program};
use super::warp::Warp;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The execution record of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Number of times that a warp reached it.
    pub reached: u64,
    /// Number of times that the guard held for at least one lane.
    pub effective: u64,
    /// Digest of the active lanes of each execution.
    pub lanes: u64,
    /// Digest of the active lanes and of their values in the destination registers.
    pub values: u64,
}

/// The execution record of every instruction of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// By function, then by instruction, in the order of [`crate::ir::Function::body`].
    pub functions: Vec<Vec<Executed>>,
}

impl Coverage {
    pub(crate) fn new(program: &Program) -> Coverage {
        Coverage { functions: program.funcs.iter().map(|f| vec![Executed::default(); f.code.len()]).collect() }
    }

    /// Returns the record of an instruction; an all-zero one for indices out of range.
    pub fn of(&self, function: usize, at: usize) -> Executed {
        self.functions.get(function).and_then(|f| f.get(at)).copied().unwrap_or_default()
    }

    /// Records that a warp reaches an instruction with the active lanes `mask`.
    pub(crate) fn reach(&mut self, func: u32, pc: u32, warp: u32, mask: u32) {
        let Some(e) = self.functions.get_mut(func as usize).and_then(|f| f.get_mut(pc as usize)) else { return };
        e.reached += 1;
        e.effective += u64::from(mask != 0);
        e.lanes = digest(e.lanes, &(warp, mask));
        e.values = digest(e.values, &(warp, mask));
    }

    /// Records the values that an instruction wrote.
    pub(crate) fn result(&mut self, w: &Warp, func: u32, pc: u32, frame: u32, inst: &DInst, mask: u32) {
        let Some(e) = self.functions.get_mut(func as usize).and_then(|f| f.get_mut(pc as usize)) else { return };
        for (i, arg) in inst.args.iter().enumerate().filter(|(i, _)| inst.defs >> i & 1 != 0) {
            e.values = digest(e.values, &i);
            destination(w, frame, arg, mask, &mut e.values);
        }
    }
}

fn digest(seed: u64, what: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    (seed, what).hash(&mut hasher);
    hasher.finish()
}

fn destination(w: &Warp, frame: u32, arg: &DArg, mask: u32, out: &mut u64) {
    match arg {
        DArg::P(_) => *out = digest(*out, &(w.src_pred(frame, arg) & mask)),
        DArg::R(..) => {
            let planes = w.src128(frame, arg);
            for lane in lanes(mask) {
                *out = digest(*out, &planes.map(|p| p[lane]));
            }
        }
        DArg::Vec(parts) => parts.iter().for_each(|part| destination(w, frame, part, mask, out)),
        _ => {}
    }
}
