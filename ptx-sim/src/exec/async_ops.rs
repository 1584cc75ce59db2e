//! x
use super::error::SimErrorKind;
use super::machine::{Machine, Step};
use super::program::{Arg, DInst};
use super::warp::Warp;
use crate::ir::*;

impl Machine<'_> {
    pub fn async_op(&mut self, _w: &mut Warp, _si: usize, inst: &DInst, _mask: u32) -> Step {
        Err(SimErrorKind::Unsupported(self.prog.text(inst)).into())
    }
    pub fn fence_proxy(&mut self, w: &mut Warp, _frame: u32, _f: ProxyFence, _args: &[Arg], _mask: u32) {
        if let Some(race) = &mut self.race {
            race.proxy_fence(w.agent);
        }
    }
    pub fn tensor_op(&mut self, _w: &mut Warp, _si: usize, inst: &DInst, _mask: u32) -> Step {
        Err(SimErrorKind::Unsupported(self.prog.text(inst)).into())
    }
    pub fn tcgen05_op(&mut self, _w: &mut Warp, _si: usize, _op: &Tcgen05Op, inst: &DInst, _mask: u32) -> Step {
        Err(SimErrorKind::Unsupported(self.prog.text(inst)).into())
    }
}
