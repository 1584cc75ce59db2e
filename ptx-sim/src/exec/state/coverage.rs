//! Which instructions a launch executes, and digests of what they gave.
//!
//! Two launches of the same code on the same schedule that differ in one instruction are the same launch if that
//! instruction had the same lanes and gave them the same values each time: then nothing else can differ either. The
//! digests say whether it did. They are in order of execution, so they compare runs of one schedule only.

use super::lanes::lanes;
use super::program::{Arg, DInst, Program};
use super::warp::Warp;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// How an instruction was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// How often a warp came to it.
    pub reached: u64,
    /// How often it did so with a lane for which the guard holds.
    pub effective: u64,
    /// Digest of the lanes of each time.
    pub lanes: u64,
    /// Digest of the lanes and of what they got in the destination registers.
    pub values: u64,
}

/// How each instruction of a module was executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// By function, then by instruction, in the order of [`crate::ir::Function::body`].
    pub functions: Vec<Vec<Executed>>,
}

impl Coverage {
    pub(crate) fn new(program: &Program) -> Coverage {
        Coverage { functions: program.funcs.iter().map(|f| vec![Executed::default(); f.code.len()]).collect() }
    }

    /// How an instruction was executed; indices that do not exist have never been.
    pub fn of(&self, function: usize, at: usize) -> Executed {
        self.functions.get(function).and_then(|f| f.get(at)).copied().unwrap_or_default()
    }

    /// Notes that a warp comes to an instruction with these lanes.
    pub(crate) fn reach(&mut self, func: u32, pc: u32, warp: u32, mask: u32) {
        let Some(e) = self.functions.get_mut(func as usize).and_then(|f| f.get_mut(pc as usize)) else { return };
        e.reached += 1;
        e.effective += u64::from(mask != 0);
        e.lanes = digest(e.lanes, &(warp, mask));
        e.values = digest(e.values, &(warp, mask));
    }

    /// Notes what an instruction gave.
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

fn destination(w: &Warp, frame: u32, arg: &Arg, mask: u32, out: &mut u64) {
    match arg {
        Arg::P(_) => *out = digest(*out, &(w.src_pred(frame, arg) & mask)),
        Arg::R(..) => {
            let planes = w.src128(frame, arg);
            for lane in lanes(mask) {
                *out = digest(*out, &planes.map(|p| p[lane]));
            }
        }
        Arg::Vec(parts) => parts.iter().for_each(|part| destination(w, frame, part, mask, out)),
        _ => {}
    }
}
