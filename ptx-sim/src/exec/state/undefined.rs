//! Tracks which bits of registers were never written, for [`crate::exec::units::defined`].

use super::{
    lanes::{Lanes, store},
    program::{DArg, MemBase},
};
use crate::ir::Type;

pub(crate) const NONE: [Lanes; 4] = [[0; 32]; 4];

/// The undefined bits of the entry's registers.
#[derive(Clone, Debug)]
pub(crate) struct Undefined {
    pub(crate) planes: Vec<Lanes>,
    pub(crate) preds: Vec<u32>,
}

impl Undefined {
    /// All registers undefined.
    pub(crate) fn new(planes: u32, preds: u32) -> Undefined {
        Undefined { planes: vec![[u32::MAX; 32]; planes as usize], preds: vec![u32::MAX; preds as usize] }
    }

    /// All registers defined.
    pub(crate) fn nothing(planes: u32, preds: u32) -> Undefined {
        Undefined { planes: vec![[0; 32]; planes as usize], preds: vec![0; preds as usize] }
    }

    /// The undefined bits of an operand; for a predicate, all bits of each undefined lane.
    pub(crate) fn bits(&self, arg: &DArg) -> [Lanes; 4] {
        let mut out = NONE;
        match arg {
            DArg::R(slot, bits) => {
                for (i, plane) in out.iter_mut().take(usize::from(*bits).div_ceil(32)).enumerate() {
                    *plane = self.planes[*slot as usize + i];
                }
                if *bits < 32 {
                    out[0] = out[0].map(|v| v & ((1 << *bits) - 1));
                }
            }
            DArg::P(p) | DArg::NotP(p) => out[0] = spread(self.preds[*p as usize]),
            _ => {}
        }
        out
    }

    /// The lanes in which any bit of an operand is undefined.
    pub(crate) fn lanes(&self, arg: &DArg) -> u32 {
        match arg {
            DArg::R(..) => gather(&self.bits(arg)),
            DArg::P(p) | DArg::NotP(p) => self.preds[*p as usize],
            DArg::Mem(base, _) => self.base(*base),
            DArg::Tensor(t) => {
                t.coords.iter().chain(&t.im2col).fold(self.base(t.map), |lanes, arg| lanes | self.lanes(arg))
            }
            DArg::Vec(items) => items.iter().fold(0, |lanes, arg| lanes | self.lanes(arg)),
            _ => 0,
        }
    }

    fn base(&self, base: MemBase) -> u32 {
        match base {
            MemBase::R32(slot) => self.lanes(&DArg::R(slot, 32)),
            MemBase::R64(slot) => self.lanes(&DArg::R(slot, 64)),
            _ => 0,
        }
    }

    pub(crate) fn set(&mut self, arg: &DArg, value: &[Lanes; 4], mask: u32) {
        match arg {
            DArg::R(slot, bits) => {
                for (i, plane) in value.iter().take(usize::from(*bits).div_ceil(32)).enumerate() {
                    store(&mut self.planes[*slot as usize + i], plane, mask);
                }
            }
            DArg::P(p) => {
                let p = &mut self.preds[*p as usize];
                *p = *p & !mask | gather(value) & mask;
            }
            DArg::Vec(items) => items.iter().for_each(|item| self.set(item, value, mask)),
            _ => {}
        }
    }

    /// Propagates through a move, which may pack or unpack.
    pub(crate) fn mov(&mut self, ty: Type, args: &[DArg], mask: u32) {
        let parts = |n: usize| ty.bits() as usize / n.max(1);
        match (&args[0], &args[1]) {
            (DArg::Vec(items), source) => {
                let (value, bits) = (self.bits(source), parts(items.len()));
                for (i, item) in items.iter().enumerate() {
                    self.set(item, &shifted_down(&value, i * bits), mask);
                }
            }
            (target, DArg::Vec(items)) => {
                let (mut value, bits) = (NONE, parts(items.len()));
                for (i, item) in items.iter().enumerate() {
                    let (part, at) = (self.bits(item), i * bits);
                    for (k, plane) in part.iter().enumerate().take(bits.div_ceil(32)) {
                        let into = &mut value[at / 32 + k];
                        *into = std::array::from_fn(|l| into[l] | plane[l] << (at % 32));
                    }
                }
                self.set(target, &value, mask);
            }
            (target, source) => self.set(target, &self.bits(source), mask),
        }
    }
}

pub(crate) fn spread(lanes: u32) -> Lanes {
    std::array::from_fn(|l| if lanes >> l & 1 != 0 { u32::MAX } else { 0 })
}

pub(crate) fn gather(planes: &[Lanes; 4]) -> u32 {
    (0..32).filter(|l| planes.iter().any(|p| p[*l] != 0)).fold(0, |lanes, l| lanes | 1 << l)
}

/// Drops the bits below `at`.
fn shifted_down(value: &[Lanes; 4], at: usize) -> [Lanes; 4] {
    let mut out = NONE;
    for (i, plane) in out.iter_mut().enumerate().take(4 - at / 32) {
        *plane = value[i + at / 32].map(|v| v >> (at % 32));
    }
    out
}
