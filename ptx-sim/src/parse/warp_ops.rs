//! Forms of control flow, warp-wide and CTA-wide instructions.

use super::error::ParseErrorKind;
use super::form::{FormResult, Mods, form as mk, form_opt};
use super::operands::{K, RawArgs};
use crate::ir::*;
use Type::*;

/// Returns the form of an instruction of this group, or `None` if the opcode belongs to another group.
pub(crate) fn form(m: &mut Mods<'_>, raw: &RawArgs) -> Option<FormResult> {
    Some(match m.base {
        "bra" => branch(m, raw),
        "brx" => indexed(m, raw),
        "ret" => {
            m.flag("uni");
            mk(Op::Ret, &[])
        }
        "exit" => mk(Op::Exit, &[]),
        "trap" => mk(Op::Trap, &[]),
        "brkpt" => mk(Op::Brkpt, &[]),
        "pmevent" => {
            m.flag("mask");
            mk(Op::Nop, &[K::Int])
        }
        "shfl" => shfl(m),
        "vote" => vote(m),
        "match" => match_any(m),
        "activemask" => m.ty_of(|t| t == B32).and_then(|t| mk(Op::Activemask, &[K::D(t)])),
        "redux" => redux(m),
        "elect" => m.require("sync").and_then(|()| mk(Op::Elect, &[K::Pair(B32), K::S(B32)])),
        "bar" | "barrier" => barrier(m, raw),
        "nanosleep" => m.ty_of(|t| t == U32).and_then(|t| mk(Op::Nanosleep, &[K::S(t)])),
        "setmaxnreg" => setmaxnreg(m),
        "griddepcontrol" => {
            let wait = m.flag("wait");
            if !wait && !m.flag("launch_dependents") {
                return Some(Err(m.missing("'.wait' or '.launch_dependents'")));
            }
            mk(Op::Griddepcontrol { wait }, &[])
        }
        _ => return None,
    })
}

/// The target of a branch is a label, which the generic operand check does not accept; it is checked here.
fn branch(m: &mut Mods<'_>, raw: &RawArgs) -> FormResult {
    let uni = m.flag("uni");
    match raw.as_slice() {
        [r] if matches!(r.op, Operand::Label(_)) && r.second.is_none() => mk(Op::Bra { uni }, &[K::Label]),
        _ => Err(ParseErrorKind::BadOperand {
            instruction: "bra".into(),
            index: 1,
            expected: "a label".into(),
            found: "something else".into(),
        }),
    }
}

fn indexed(m: &mut Mods<'_>, raw: &RawArgs) -> FormResult {
    m.require("idx")?;
    m.flag("uni");
    match raw.as_slice() {
        [_, r] if matches!(r.op, Operand::Table(_)) => mk(Op::BrxIdx, &[K::S(U32), K::Table]),
        _ => Err(ParseErrorKind::BadOperand {
            instruction: "brx.idx".into(),
            index: 2,
            expected: "a branch target table".into(),
            found: "something else".into(),
        }),
    }
}

fn shfl(m: &mut Mods<'_>) -> FormResult {
    m.require("sync")?;
    let mode = m.pick::<ShflMode>().ok_or_else(|| m.missing("a mode"))?;
    m.ty_of(|t| t == B32)?;
    mk(Op::Shfl { mode }, &[K::Pair(B32), K::S(B32), K::S(B32), K::S(B32), K::S(B32)])
}

fn vote(m: &mut Mods<'_>) -> FormResult {
    m.require("sync")?;
    let mode = m.pick::<VoteMode>().ok_or_else(|| m.missing("a mode"))?;
    let dst = if mode == VoteMode::Ballot {
        m.require("b32")?;
        K::D(B32)
    } else {
        m.require("pred")?;
        K::Dp
    };
    mk(Op::Vote { mode }, &[dst, K::Sp, K::S(B32)])
}

fn match_any(m: &mut Mods<'_>) -> FormResult {
    let all = m.flag("all");
    if !all {
        m.require("any")?;
    }
    m.require("sync")?;
    let ty = m.ty_of(|t| matches!(t, B32 | B64))?;
    mk(Op::Match { all, ty }, &[K::Pair(B32), K::S(ty), K::S(B32)])
}

fn redux(m: &mut Mods<'_>) -> FormResult {
    m.require("sync")?;
    let op = m.pick::<ReduxOp>().ok_or_else(|| m.missing("an operation"))?;
    let abs = m.flag("abs");
    let nan = m.flag("NaN");
    let ty = m.ty()?;
    use ReduxOp::*;
    let ok = match op {
        And | Or | Xor => ty == B32,
        Add => matches!(ty, U32 | S32),
        Min | Max => matches!(ty, U32 | S32 | F32),
    };
    if !ok || (abs || nan) && ty != F32 {
        return Err(m.bad_type(ty));
    }
    mk(Op::Redux { op, ty, abs, nan }, &[K::D(ty), K::S(ty), K::S(B32)])
}

fn barrier(m: &mut Mods<'_>, raw: &RawArgs) -> FormResult {
    if m.flag("warp") {
        m.require("sync")?;
        return mk(Op::BarWarpSync, &[K::S(B32)]);
    }
    if m.flag("cluster") {
        let arrive = m.flag("arrive");
        if !arrive {
            m.require("wait")?;
        }
        let default = if arrive { Sem::Release } else { Sem::Acquire };
        let sem = m.pick::<Sem>().unwrap_or(default);
        let aligned = m.flag("aligned");
        return mk(Op::BarrierCluster { arrive, sem, aligned }, &[]);
    }
    m.flag("cta");
    let aligned = m.flag("aligned") || m.base == "bar";
    let u = K::S(U32);
    if m.flag("sync") {
        return form_opt(Op::Bar { kind: BarKind::Sync, aligned }, &[u], &[u]);
    }
    if m.flag("arrive") {
        return mk(Op::Bar { kind: BarKind::Arrive, aligned }, &[u, u]);
    }
    m.require("red")?;
    let (kind, dst) = if m.flag("popc") {
        (BarKind::RedPopc, K::D(U32))
    } else if m.flag("and") {
        (BarKind::RedAnd, K::Dp)
    } else {
        m.require("or")?;
        (BarKind::RedOr, K::Dp)
    };
    if kind == BarKind::RedPopc {
        m.require("u32")?;
    } else {
        m.require("pred")?;
    }
    // The optional thread count precedes the predicate.
    if raw.len() > 3 {
        mk(Op::Bar { kind, aligned }, &[dst, u, u, K::Sp])
    } else {
        mk(Op::Bar { kind, aligned }, &[dst, u, K::Sp])
    }
}

fn setmaxnreg(m: &mut Mods<'_>) -> FormResult {
    let inc = m.flag("inc");
    if !inc {
        m.require("dec")?;
    }
    m.require("sync")?;
    m.require("aligned")?;
    m.require("u32")?;
    mk(Op::Setmaxnreg { inc }, &[K::Int])
}
