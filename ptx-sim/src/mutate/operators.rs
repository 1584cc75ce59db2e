//! The table of operators. Each produces at most one mutant of an instruction.

use super::patch::Class::*;
use super::patch::{Change, Class, Operator, Patch};
use crate::ir::*;

pub(super) const NEGATE_GUARD: &str = "negate guard";
pub(super) const DROP_GUARD: &str = "drop guard";

const fn row(class: Class, name: &'static str, apply: fn(&mut Patch<'_>, &Inst) -> Option<Inst>) -> Operator {
    Operator { class, name, apply }
}

/// All operators, by class.
pub const OPERATORS: &[Operator] = &[
    row(Barrier, "drop barrier", |_, i| {
        let kinds = matches!(i.op, Op::Bar { kind: BarKind::Sync | BarKind::Arrive, .. } | Op::BarrierCluster { .. });
        kinds.then(|| dropped(i))
    }),
    row(Barrier, "drop warp barrier", |_, i| (i.op == Op::BarWarpSync).then(|| dropped(i))),
    row(Barrier, "32 threads more", |p, i| {
        matches!(i.op, Op::Bar { kind: BarKind::Sync | BarKind::Arrive, .. }).then_some(())?;
        operand(p, i, 1, Change::Add(32))
    }),
    row(Mbarrier, "drop wait", |_, i| {
        matches!(i.op, Op::Mbarrier(MbarrierOp::Wait { .. })).then_some(())?;
        let args = vec![i.args.first()?.clone(), Operand::Imm(Imm::Int(1))];
        Some(Inst { op: Op::Mov { ty: Type::Pred }, args, defs: 1, ..i.clone() })
    }),
    row(Mbarrier, "flip parity", |p, i| {
        matches!(i.op, Op::Mbarrier(MbarrierOp::Wait { parity: true, .. })).then_some(())?;
        operand(p, i, 2, Change::Xor(1))
    }),
    row(Mbarrier, "drop arrival", |_, i| {
        matches!(i.op, Op::Mbarrier(MbarrierOp::Arrive { .. }) | Op::CpAsyncMbarrierArrive { .. }).then(|| dropped(i))
    }),
    row(Mbarrier, "drop expectation", |_, i| match i.op {
        Op::Mbarrier(MbarrierOp::ExpectTx { .. }) => Some(dropped(i)),
        Op::Mbarrier(MbarrierOp::Arrive { space, drop, expect_tx: true, no_complete, sem, scope }) => {
            let op = MbarrierOp::Arrive { space, drop, expect_tx: false, no_complete, sem, scope };
            Some(Inst { op: Op::Mbarrier(op), args: i.args.get(..2)?.to_vec(), ..i.clone() })
        }
        _ => None,
    }),
    row(Mbarrier, "16 bytes more", |p, i| expected(p, i, 16)),
    row(Mbarrier, "16 bytes less", |p, i| expected(p, i, -16)),
    row(Mbarrier, "one arrival more", |p, i| {
        matches!(i.op, Op::Mbarrier(MbarrierOp::Init { .. })).then_some(())?;
        operand(p, i, 1, Change::Add(1))
    }),
    row(Asynchronous, "drop commit", |_, i| {
        let tensor = matches!(&i.op, Op::Tcgen05(op) if matches!(**op, Tcgen05Op::Commit { .. }));
        (tensor || matches!(i.op, Op::CpAsyncCommit | Op::BulkCommit | Op::WgmmaCommit)).then(|| dropped(i))
    }),
    row(Asynchronous, "drop wait", |_, i| {
        let tensor = matches!(&i.op, Op::Tcgen05(op) if matches!(**op, Tcgen05Op::WaitLd | Tcgen05Op::WaitSt));
        (tensor || matches!(i.op, Op::CpAsyncWait { .. } | Op::BulkWait { .. } | Op::WgmmaWait)).then(|| dropped(i))
    }),
    row(Asynchronous, "one group more in flight", |p, i| {
        matches!(i.op, Op::CpAsyncWait { all: false } | Op::BulkWait { .. } | Op::WgmmaWait).then_some(())?;
        operand(p, i, 0, Change::Add(1))
    }),
    row(Fence, "drop fence", |_, i| {
        let tensor = matches!(&i.op, Op::Tcgen05(op) if matches!(**op, Tcgen05Op::FenceBefore | Tcgen05Op::FenceAfter));
        (tensor || matches!(i.op, Op::Fence { .. } | Op::FenceProxy(_) | Op::WgmmaFence)).then(|| dropped(i))
    }),
    row(Predicate, NEGATE_GUARD, |_, i| {
        let guard = i.guard?;
        Some(Inst { guard: Some(Guard { negated: !guard.negated, ..guard }), ..i.clone() })
    }),
    row(Predicate, DROP_GUARD, |_, i| i.guard.map(|_| Inst { guard: None, ..i.clone() })),
    row(Predicate, "swap choice", |_, i| {
        matches!(i.op, Op::Selp { .. }).then_some(())?;
        let mut changed = i.clone();
        changed.args.swap(1, 2);
        Some(changed)
    }),
    row(Address, "access + 1", |_, i| moved(i, |bytes| bytes)),
    row(Address, "access - 1", |_, i| moved(i, |bytes| -bytes)),
    row(Address, "16 bytes off", |_, i| moved(i, |bytes| if bytes == 16 { 0 } else { 16 })),
    row(Address, "coordinate + 1", coordinate),
    row(Address, "descriptor + 16 bytes", |p, i| {
        let Op::Wgmma(_) = i.op else { return None };
        operand(p, i, 2, Change::Add(1))
    }),
    row(Shuffle, "another lane", |p, i| {
        matches!(i.op, Op::Shfl { .. }).then_some(())?;
        operand(p, i, 3, Change::Xor(1))
    }),
    row(Shuffle, "half the warp", |_, i| {
        matches!(i.op, Op::Shfl { .. } | Op::Redux { .. } | Op::Vote { .. }).then_some(())?;
        let mut changed = i.clone();
        *changed.args.last_mut()? = Operand::Imm(Imm::Int(0xffff));
        Some(changed)
    }),
    row(Shuffle, "another mode", |_, i| {
        let op = match i.op {
            Op::Shfl { mode: ShflMode::Bfly } => Op::Shfl { mode: ShflMode::Idx },
            Op::Shfl { mode: ShflMode::Idx } => Op::Shfl { mode: ShflMode::Bfly },
            Op::Shfl { mode: ShflMode::Up } => Op::Shfl { mode: ShflMode::Down },
            Op::Shfl { mode: ShflMode::Down } => Op::Shfl { mode: ShflMode::Up },
            Op::Vote { mode: VoteMode::All } => Op::Vote { mode: VoteMode::Any },
            Op::Vote { mode: VoteMode::Any } => Op::Vote { mode: VoteMode::All },
            Op::Redux { op: ReduxOp::Min, ty, abs, nan } => Op::Redux { op: ReduxOp::Max, ty, abs, nan },
            Op::Redux { op: ReduxOp::Max, ty, abs, nan } => Op::Redux { op: ReduxOp::Min, ty, abs, nan },
            Op::Redux { op: ReduxOp::Add, ty, abs, nan } => Op::Redux { op: ReduxOp::Max, ty, abs, nan },
            _ => return None,
        };
        Some(Inst { op, ..i.clone() })
    }),
    row(Rounding, "another rounding", |_, i| rounded(i)),
    row(Rounding, "toggle flush to zero", |_, i| match &i.op {
        Op::Float { op, ty: Type::F32, m } if !matches!(op, FloatOp::Abs | FloatOp::Neg | FloatOp::Copysign) => {
            let m = FloatMods { ftz: !m.ftz, ..*m };
            Some(Inst { op: Op::Float { op: *op, ty: Type::F32, m }, ..i.clone() })
        }
        _ => None,
    }),
    row(Order, "narrow scope", |_, i| scoped(i)),
    row(Order, "weaken ordering", |_, i| weakened(i)),
    row(Initialisation, "drop zero", |_, i| {
        let zero = i.args.get(1).is_some_and(|a| matches!(a, Operand::Imm(imm) if imm.bits() == 0));
        // A move of the register to itself has no effect either, and exposes the previous value.
        (matches!(i.op, Op::Mov { .. }) && zero).then(|| with(i, 1, i.args[0].clone()))
    }),
    row(Initialisation, "drop barrier's initialisation", |_, i| {
        matches!(i.op, Op::Mbarrier(MbarrierOp::Init { .. })).then(|| dropped(i))
    }),
    row(Initialisation, "drop shared store", |_, i| {
        matches!(i.op, Op::St(m) if m.space.is_shared()).then(|| dropped(i))
    }),
    row(Initialisation, "drop field of tensor map", |_, i| {
        matches!(i.op, Op::TensormapReplace { .. }).then(|| dropped(i))
    }),
    row(Arithmetic, "another operation", |_, i| other_operation(i)),
    row(Arithmetic, "another comparison", |_, i| {
        let Op::Setp { cmp, ty, ftz, combine } = i.op else { return None };
        let cmp = match cmp {
            Cmp::Eq => Cmp::Ne,
            Cmp::Ne => Cmp::Eq,
            Cmp::Lt => Cmp::Le,
            Cmp::Le => Cmp::Lt,
            Cmp::Gt => Cmp::Ge,
            Cmp::Ge => Cmp::Gt,
            Cmp::Lo => Cmp::Ls,
            Cmp::Ls => Cmp::Lo,
            Cmp::Hi => Cmp::Hs,
            Cmp::Hs => Cmp::Hi,
            Cmp::Equ => Cmp::Neu,
            Cmp::Neu => Cmp::Equ,
            Cmp::Ltu => Cmp::Leu,
            Cmp::Leu => Cmp::Ltu,
            Cmp::Gtu => Cmp::Geu,
            Cmp::Geu => Cmp::Gtu,
            Cmp::Num => Cmp::Nan,
            Cmp::Nan => Cmp::Num,
        };
        Some(Inst { op: Op::Setp { cmp, ty, ftz, combine }, ..i.clone() })
    }),
    row(Arithmetic, "another sign", |_, i| {
        let op = match &i.op {
            Op::Setp { cmp: Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge, ty, .. } if ty.is_int() => {
                let Op::Setp { cmp, ftz, combine, .. } = i.op else { return None };
                Op::Setp { cmp, ty: other_sign(*ty)?, ftz, combine }
            }
            Op::Int { op: op @ (IntOp::Min | IntOp::Max | IntOp::Div | IntOp::Rem | IntOp::MulWide), ty, sat } => {
                Op::Int { op: *op, ty: other_sign(*ty)?, sat: *sat }
            }
            Op::Bits { op: BitOp::Shr, ty } => Op::Bits { op: BitOp::Shr, ty: other_sign(*ty)? },
            _ => return None,
        };
        Some(Inst { op, ..i.clone() })
    }),
    row(Arithmetic, "constant + 1", |p, i| constant(p, i, 1)),
    row(Arithmetic, "constant - 1", |p, i| constant(p, i, -1)),
    row(Arithmetic, "constant doubled", |_, i| {
        matches!(i.op, Op::Float { .. }).then_some(())?;
        let at = i.args.iter().position(|a| matches!(a, Operand::Imm(Imm::F32(_))))?;
        let Operand::Imm(Imm::F32(bits)) = i.args[at] else { return None };
        let value = f32::from_bits(bits);
        let other = if value.is_normal() { value * 2.0 } else { 1.0 };
        Some(with(i, at, Operand::Imm(Imm::F32(other.to_bits()))))
    }),
    row(Arithmetic, "NaN lost", |_, i| match &i.op {
        Op::Float { op: op @ (FloatOp::Min | FloatOp::Max), ty, m } if m.nan => {
            Some(Inst { op: Op::Float { op: *op, ty: *ty, m: FloatMods { nan: false, ..*m } }, ..i.clone() })
        }
        _ => None,
    }),
];

/// Replaces an instruction by a `nop`.
fn dropped(i: &Inst) -> Inst {
    Inst { guard: None, op: Op::Nop, args: vec![], defs: 0, line: i.line, span: i.span }
}

/// Replaces an operand.
fn with(i: &Inst, at: usize, operand: Operand) -> Inst {
    let mut changed = i.clone();
    changed.args[at] = operand;
    changed
}

/// Changes an integer operand.
fn operand(p: &mut Patch<'_>, i: &Inst, at: usize, how: Change) -> Option<Inst> {
    let changed = p.changed(i, i.args.get(at)?, how)?;
    Some(with(i, at, changed))
}

/// Changes the number of expected bytes.
fn expected(p: &mut Patch<'_>, i: &Inst, bytes: i64) -> Option<Inst> {
    match i.op {
        Op::Mbarrier(MbarrierOp::ExpectTx { .. }) => operand(p, i, 1, Change::Add(bytes)),
        Op::Mbarrier(MbarrierOp::Arrive { expect_tx: true, .. }) => operand(p, i, 2, Change::Add(bytes)),
        _ => None,
    }
}

/// Moves the address of an access. `by` computes the distance from the bytes of the access.
fn moved(i: &Inst, by: fn(i64) -> i64) -> Option<Inst> {
    let parameter = |space: Space| matches!(space, Space::Param | Space::ParamEntry | Space::ParamFunc);
    let (at, bytes) = match &i.op {
        Op::Ld(m) if !parameter(m.space) => (1, m.ty.bytes() * u32::from(m.vec.max(1))),
        Op::St(m) if !parameter(m.space) => (0, m.ty.bytes() * u32::from(m.vec.max(1))),
        Op::Atom(m) => (1, m.ty.bytes() * u32::from(m.vec.max(1))),
        Op::Red(m) => (0, m.ty.bytes() * u32::from(m.vec.max(1))),
        Op::Multimem(m) => {
            let address = usize::from(matches!(m.kind, MultimemKind::LdReduce { .. }));
            (address, m.ty.bytes() * u32::from(m.vec))
        }
        Op::CpAsync { .. } | Op::Stmatrix(_) => (0, 16),
        Op::Ldmatrix(_) | Op::CpBulk(_) => (1, 16),
        _ => return None,
    };
    let Some(Operand::Mem(base, offset)) = i.args.get(at) else { return None };
    match by(i64::from(bytes)) {
        0 => None,
        distance => Some(with(i, at, Operand::Mem(*base, offset + distance))),
    }
}

/// Increments the innermost coordinate of a TMA copy.
fn coordinate(p: &mut Patch<'_>, i: &Inst) -> Option<Inst> {
    let at = i.args.iter().position(|a| matches!(a, Operand::Tensor(_)))?;
    let Operand::Tensor(tensor) = &i.args[at] else { return None };
    let mut tensor = tensor.clone();
    tensor.coords[0] = p.changed(i, tensor.coords.first()?, Change::Add(1))?;
    Some(with(i, at, Operand::Tensor(tensor)))
}

/// Changes the rounding mode, if the instruction has an alternative.
fn rounded(i: &Inst) -> Option<Inst> {
    let other = |rnd: Rnd| match rnd {
        Rnd::Rn => Some(Rnd::Rz),
        Rnd::Rz => Some(Rnd::Rn),
        Rnd::Rm => Some(Rnd::Rp),
        Rnd::Rp => Some(Rnd::Rm),
        Rnd::Rni => Some(Rnd::Rzi),
        Rnd::Rzi => Some(Rnd::Rni),
        Rnd::Rmi => Some(Rnd::Rpi),
        Rnd::Rpi => Some(Rnd::Rmi),
        Rnd::Rna | Rnd::Rs => None,
    };
    let op = match &i.op {
        Op::Float { op, ty: ty @ (Type::F32 | Type::F64), m } if m.accuracy == Accuracy::Ieee => {
            let rounds = matches!(
                op,
                FloatOp::Add | FloatOp::Sub | FloatOp::Mul | FloatOp::Fma | FloatOp::Div | FloatOp::Rcp | FloatOp::Sqrt
            );
            rounds.then_some(())?;
            Op::Float { op: *op, ty: *ty, m: FloatMods { rnd: other(m.rnd)?, ..*m } }
        }
        Op::Cvt(m)
            if matches!(m.dty, Type::F64 | Type::F32 | Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2)
                || m.dty.is_int() =>
        {
            Op::Cvt(CvtMods { rnd: Some(other(m.rnd?)?), ..*m })
        }
        _ => return None,
    };
    Some(Inst { op, ..i.clone() })
}

/// Narrows the scope to the CTA.
fn scoped(i: &Inst) -> Option<Inst> {
    let wide = |scope: Scope, sem: Sem| scope != Scope::Cta && !matches!(sem, Sem::Weak | Sem::Volatile | Sem::Mmio);
    let op = match &i.op {
        Op::Ld(m) if wide(m.scope, m.sem) => Op::Ld(LoadStoreMods { scope: Scope::Cta, ..*m }),
        Op::St(m) if wide(m.scope, m.sem) => Op::St(LoadStoreMods { scope: Scope::Cta, ..*m }),
        Op::Atom(m) if wide(m.scope, m.sem) => Op::Atom(AtomMods { scope: Scope::Cta, ..*m }),
        Op::Red(m) if wide(m.scope, m.sem) => Op::Red(AtomMods { scope: Scope::Cta, ..*m }),
        Op::Multimem(m) if wide(m.scope, m.sem) => Op::Multimem(MultimemMods { scope: Scope::Cta, ..*m }),
        Op::Fence { sem, scope } if wide(*scope, *sem) => Op::Fence { sem: *sem, scope: Scope::Cta },
        _ => return None,
    };
    Some(Inst { op, ..i.clone() })
}

/// Weakens the ordering.
fn weakened(i: &Inst) -> Option<Inst> {
    let access = |sem: Sem| match sem {
        Sem::Acquire | Sem::Release => Some(Sem::Relaxed),
        Sem::Relaxed => Some(Sem::Weak),
        _ => None,
    };
    let atomic = |sem: Sem| match sem {
        Sem::Acquire | Sem::Release | Sem::AcqRel => Some(Sem::Relaxed),
        _ => None,
    };
    let op = match &i.op {
        Op::Ld(m) => Op::Ld(LoadStoreMods { sem: access(m.sem)?, ..*m }),
        Op::St(m) => Op::St(LoadStoreMods { sem: access(m.sem)?, ..*m }),
        Op::Atom(m) => Op::Atom(AtomMods { sem: atomic(m.sem)?, ..*m }),
        Op::Red(m) => Op::Red(AtomMods { sem: atomic(m.sem)?, ..*m }),
        Op::Multimem(m) if matches!(m.kind, MultimemKind::Red(_)) => {
            Op::Multimem(MultimemMods { sem: atomic(m.sem)?, ..*m })
        }
        Op::Multimem(m) => Op::Multimem(MultimemMods { sem: access(m.sem)?, ..*m }),
        _ => return None,
    };
    Some(Inst { op, ..i.clone() })
}

/// The type of the same width and opposite signedness.
fn other_sign(ty: Type) -> Option<Type> {
    Some(match ty {
        Type::S16 => Type::U16,
        Type::S32 => Type::U32,
        Type::S64 => Type::U64,
        Type::U16 | Type::B16 => Type::S16,
        Type::U32 | Type::B32 => Type::S32,
        Type::U64 | Type::B64 => Type::S64,
        _ => return None,
    })
}

/// Replaces the operation: add by subtract, minimum by maximum, and so on.
fn other_operation(i: &Inst) -> Option<Inst> {
    let (op, operands) = match &i.op {
        Op::Int { op, ty, sat } => {
            let (op, operands) = match op {
                IntOp::Add => (IntOp::Sub, 3),
                IntOp::Sub | IntOp::MulLo => (IntOp::Add, 3),
                IntOp::MadLo => (IntOp::MulLo, 3),
                IntOp::MadWide => (IntOp::MulWide, 3),
                IntOp::Min => (IntOp::Max, 3),
                IntOp::Max => (IntOp::Min, 3),
                IntOp::Div => (IntOp::Rem, 3),
                IntOp::Rem => (IntOp::Div, 3),
                _ => return None,
            };
            (Op::Int { op, ty: *ty, sat: *sat }, operands)
        }
        Op::Float { op, ty, m } => {
            let other = match op {
                FloatOp::Add => FloatOp::Sub,
                FloatOp::Sub | FloatOp::Mul => FloatOp::Add,
                FloatOp::Fma => FloatOp::Mul,
                FloatOp::Min => FloatOp::Max,
                FloatOp::Max => FloatOp::Min,
                _ => return None,
            };
            (Op::Float { op: other, ty: *ty, m: *m }, if *op == FloatOp::Fma { 3 } else { i.args.len() })
        }
        Op::Bits { op, ty } => {
            let op = match op {
                BitOp::Shl => BitOp::Shr,
                BitOp::Shr => BitOp::Shl,
                BitOp::And => BitOp::Or,
                BitOp::Or | BitOp::Xor => BitOp::And,
                _ => return None,
            };
            (Op::Bits { op, ty: *ty }, 3)
        }
        _ => return None,
    };
    let mut args = i.args.clone();
    args.truncate(operands);
    Some(Inst { op, args, ..i.clone() })
}

/// Changes the first integer constant.
fn constant(p: &mut Patch<'_>, i: &Inst, by: i64) -> Option<Inst> {
    let plain = match &i.op {
        Op::Bits { op, .. } => !matches!(op, BitOp::Lop3 | BitOp::Lop3Bool(_) | BitOp::Prmt(_)),
        Op::Mov { ty } => *ty != Type::Pred,
        other => matches!(other, Op::Int { .. } | Op::Setp { .. } | Op::Selp { .. }),
    };
    plain.then_some(())?;
    let at = i.args.iter().skip(1).position(|a| matches!(a, Operand::Imm(Imm::Int(_))))? + 1;
    operand(p, i, at, Change::Add(by))
}
