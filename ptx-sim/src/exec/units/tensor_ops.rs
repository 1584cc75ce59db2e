//! `ldmatrix`, `stmatrix`, `movmatrix` and `mma.sync`: connects registers and shared memory to the units of
//! [`crate::tensor`].

use super::access::MemoryAccess;
use super::combine::bank_conflicts;
use crate::exec::state::error::SimErrorKind;
use crate::exec::state::lanes::Lanes64;
use crate::exec::state::location::Location;
use crate::exec::state::machine::{Fail, Flow, Machine, StepResult};
use crate::exec::state::program::{DArg, DInst};
use crate::exec::state::race::AccessKind;
use crate::exec::state::warp::Warp;
use crate::ir::*;
use crate::num::Format;
use crate::tensor::{
    Accumulator, BlockScale, Element, LoadMatrix, MatrixFormat, MmaBitOp, MmaSync, ScaleOperand, StoreMatrix,
    TensorError, movmatrix,
};

/// An error of a unit, or of a memory access that it made.
pub(crate) enum UnitError {
    Tensor(TensorError),
    Sim(SimErrorKind),
}

impl From<TensorError> for UnitError {
    fn from(e: TensorError) -> UnitError {
        UnitError::Tensor(e)
    }
}

impl From<UnitError> for SimErrorKind {
    fn from(e: UnitError) -> SimErrorKind {
        match e {
            UnitError::Tensor(e) => SimErrorKind::Tensor(e.to_string()),
            UnitError::Sim(e) => e,
        }
    }
}

pub(crate) fn element(ty: Type) -> Option<Element> {
    Some(match ty {
        Type::F16 => Element::F16,
        Type::BF16 => Element::Bf16,
        Type::TF32 => Element::Tf32,
        Type::F64 => Element::F64,
        Type::E4M3 => Element::E4m3,
        Type::E5M2 => Element::E5m2,
        Type::E3M2 => Element::E3m2,
        Type::E2M3 => Element::E2m3,
        Type::E2M1 => Element::E2m1,
        Type::S8 => Element::S8,
        Type::U8 => Element::U8,
        Type::S4 => Element::S4,
        Type::U4 => Element::U4,
        Type::B1 => Element::B1,
        _ => return None,
    })
}

pub(crate) fn accumulator(ty: Type, saturate: bool) -> Accumulator {
    match ty {
        Type::F16 => Accumulator::F16,
        Type::F64 => Accumulator::F64,
        Type::S32 => Accumulator::S32 { saturate },
        _ => Accumulator::F32,
    }
}

fn items(arg: &DArg) -> &[DArg] {
    match arg {
        DArg::Vec(v) => v,
        single => std::slice::from_ref(single),
    }
}

/// Matrix moves and `mma.sync`.
pub(crate) trait MatrixOps {
    fn tensor_op(&mut self, w: &mut Warp, si: usize, inst: &DInst, mask: u32) -> StepResult;
}

impl MatrixOps for Machine<'_> {
    fn tensor_op(&mut self, w: &mut Warp, si: usize, inst: &DInst, mask: u32) -> StepResult {
        if let Some(flow) = self.whole_warp(w, mask)? {
            return Ok(flow);
        }
        let frame = w.splits[si].frame;
        let args = &inst.args;
        match &inst.op {
            Op::Ldmatrix(m) => self.ldmatrix(w, frame, m, inst)?,
            Op::Stmatrix(m) => self.stmatrix(w, frame, m, inst)?,
            Op::Movmatrix => {
                let out = movmatrix(&w.src32(frame, &args[1]));
                w.set32(frame, &args[0], &out, mask);
            }
            Op::Mma(m) => self.mma(w, frame, m, args)?,
            _ => return Err(SimErrorKind::Unsupported(self.prog.text(inst)).into()),
        }
        Ok(Flow::Next)
    }
}

impl Machine<'_> {
    fn matrix_row(&self, w: &Warp, space: Space, address: u64, lane: usize) -> Result<Location, Fail> {
        let location = self.resolve(w.cta, space, address).map_err(|e| Fail::at(e, lane))?;
        if !matches!(location, Location::Shared { .. }) {
            return Err(Fail::at(SimErrorKind::Tensor(format!("address {address:#x} is not in shared memory")), lane));
        }
        if !address.is_multiple_of(16) {
            let kind = SimErrorKind::Misaligned { access: "matrix row", space: "shared", address, bytes: 16 };
            return Err(Fail::at(kind, lane));
        }
        Ok(location)
    }

    fn ldmatrix(&mut self, w: &mut Warp, frame: u32, m: &MatrixMods, inst: &DInst) -> Result<(), Fail> {
        let format = match m.ty {
            Type::B16 => MatrixFormat::B16,
            Type::B6x16P32 => MatrixFormat::B6x16P32,
            Type::B4x16P64 => MatrixFormat::B4x16P64,
            _ => MatrixFormat::B8,
        };
        let unit = LoadMatrix { format, count: usize::from(m.num), transpose: m.trans };
        let address = Self::addresses(w, frame, &inst.args[1]);
        let from = w.origin(inst);
        let mut rows = [[0u8; 16]; 32];
        let (how, bytes) = (AccessKind::READ, format.row_bytes());
        for (lane, row) in rows.iter_mut().enumerate().take(unit.address_lanes()) {
            let location = self.matrix_row(w, m.space, address[lane], lane)?;
            self.note(w.agent, location, bytes as u64, how, from.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
            self.read_location(w, lane, location, &mut row[..bytes])
                .map_err(|f| Fail::at(self.fault(f, "load", location, bytes as u32), lane))?;
        }
        let out = unit.execute::<std::convert::Infallible>(|lane| Ok(rows[lane & 31]));
        let Ok(out) = out;
        for (i, dst) in items(&inst.args[0]).iter().enumerate().take(4) {
            w.set32(frame, dst, &std::array::from_fn(|l| out[l][i]), u32::MAX);
        }
        self.stats.memory(m.space, true, true, 16 * unit.address_lanes() as u64);
        if self.options.stats {
            self.stats.bank_conflicts += matrix_conflicts(&address, unit.address_lanes());
        }
        Ok(())
    }

    fn stmatrix(&mut self, w: &mut Warp, frame: u32, m: &MatrixMods, inst: &DInst) -> Result<(), Fail> {
        let format = if m.ty == Type::B16 { MatrixFormat::B16 } else { MatrixFormat::B8 };
        let unit = StoreMatrix { format, count: usize::from(m.num), transpose: m.trans };
        let address = Self::addresses(w, frame, &inst.args[0]);
        let mut registers = [[0u32; 4]; 32];
        for (i, src) in items(&inst.args[1]).iter().enumerate().take(4) {
            let value = w.src32(frame, src);
            for lane in 0..32 {
                registers[lane][i] = value[lane];
            }
        }
        let mut rows = Vec::new();
        let Ok(()) = unit.execute::<std::convert::Infallible>(&registers, |lane, row| {
            rows.push((lane, row));
            Ok(())
        });
        let from = w.origin(inst);
        for (lane, row) in rows {
            let location = self.matrix_row(w, m.space, address[lane], lane)?;
            let mut old = [0u8; 16];
            let unchanged =
                self.race.is_some() && self.read_location(w, lane, location, &mut old).is_ok() && old == row;
            let how = AccessKind { unchanged, ..AccessKind::WRITE };
            self.note(w.agent, location, 16, how, from.of_lane(lane)).map_err(|e| Fail::at(e, lane))?;
            self.write_location(w, lane, location, &row)
                .map_err(|f| Fail::at(self.fault(f, "store", location, 16), lane))?;
        }
        self.mark_progress();
        self.stats.memory(m.space, true, false, 16 * unit.address_lanes() as u64);
        if self.options.stats {
            self.stats.bank_conflicts += matrix_conflicts(&address, unit.address_lanes());
        }
        Ok(())
    }

    fn mma(&mut self, w: &mut Warp, frame: u32, m: &MmaMods, args: &[DArg]) -> Result<(), Fail> {
        if self.recorder.is_some() {
            return Ok(());
        }
        let unsupported = || Fail::from(SimErrorKind::Tensor("element types of mma.sync".into()));
        let (a, b) = element(m.aty).zip(element(m.bty)).ok_or_else(unsupported)?;
        let mut unit = MmaSync::new(m.m.into(), m.n.into(), m.k.into(), a, b, accumulator(m.dty, m.satfinite));
        unit.bit_op = m.bit_op.map(|op| if op == BoolOp::And { MmaBitOp::And } else { MmaBitOp::Xor });
        unit.scale = m.block_scale.map(|(vector, ty)| BlockScale {
            vector: vector.into(),
            format: if ty == Type::UE4M3 { Format::Ue4m3 } else { Format::Ue8m0 },
        });
        let gather = |arg: &DArg| -> Vec<u64> {
            let regs: Vec<Lanes64> = items(arg).iter().map(|r| w.src64(frame, r)).collect();
            (0..32).flat_map(|lane| regs.iter().map(move |r| r[lane])).collect()
        };
        let (va, vb, vc) = (gather(&args[1]), gather(&args[2]), gather(&args[3]));
        let scale = |at: usize| {
            let words = w.src32(frame, &items(&args[at])[0]);
            let selector = |i: usize| items(&args[at + 1]).get(i).map_or(0, |s| w.src32(frame, s)[0] as u16);
            (words, selector(0), selector(1))
        };
        let scales = unit.scale.map(|_| (scale(4), scale(6)));
        let operand = |s: &'_ ([u32; 32], u16, u16)| (s.1, s.2);
        let result = match &scales {
            None => unit.execute(&va, &vb, &vc, None),
            Some((sa, sb)) => {
                let ((ba, ta), (bb, tb)) = (operand(sa), operand(sb));
                let a = ScaleOperand { words: &sa.0, byte: ba, thread: ta };
                let b = ScaleOperand { words: &sb.0, byte: bb, thread: tb };
                unit.execute(&va, &vb, &vc, Some((a, b)))
            }
        };
        let d = result.map_err(|e| SimErrorKind::Tensor(e.to_string()))?;
        let count = d.len() / 32;
        for (i, dst) in items(&args[0]).iter().enumerate().take(count) {
            w.set64(frame, dst, &std::array::from_fn(|l| d[l * count + i]), u32::MAX);
        }
        self.stats.tensor_macs += u64::from(m.m) * u64::from(m.n) * u64::from(m.k);
        Ok(())
    }
}

/// Bank conflicts of matrix rows; eight rows of 16 bytes are accessed at once.
fn matrix_conflicts(address: &Lanes64, lanes: usize) -> u64 {
    let mask = if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 };
    bank_conflicts(address, mask, 16)
}
