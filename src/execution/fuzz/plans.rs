//! Reports whether the compiler gave up any of a program's plans, and which instructions its loops of dots use.

use super::processor_time;
use crate::{
    compile::{Session, read},
    dialect::{
        dots::{AnyDot, Instruction},
        loops::loops_around,
        nv_tileaa::FuncOp,
        nv_tileas::{AsyncDotOp, AsyncTiledTmaLoadOp, AsyncWaitOp, ConsumerWaitOp, MmaKind, PromotedDotOp},
        remark,
        rt::*,
    },
};
use std::{ops::AddAssign, time::Duration};
use tile_interface::{CompileRequest, Compiler, Emit, InputKind};
use tile_targets::Target;

/// Counts of innermost loops with dots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loops {
    pub all: usize,
    /// Loops with wgmma dots.
    pub warpgroups: usize,
    /// Loops with other matrix instructions.
    pub warps: usize,
    /// Loops that wait for stages of a ring.
    pub rings: usize,
    /// Loops in functions that load by TMA.
    pub tensor_copies: usize,
}

impl AddAssign for Loops {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.warpgroups += other.warpgroups;
        self.warps += other.warps;
        self.rings += other.rings;
        self.tensor_copies += other.tensor_copies;
    }
}

/// The result of compiling one program.
pub struct Survey {
    /// For each failure that the compiler worked around: the pass that failed, and the message.
    pub fallbacks: Vec<(String, String)>,
    pub loops: Loops,
    /// Processor time.
    pub time: Duration,
}

/// Compiles a program to PTX, with fallbacks.
///
/// # Errors Returns the compiler's messages if it rejects the program.
pub fn survey(input: &[u8], kind: InputKind, target: &'static Target, level: u8) -> Result<Survey, String> {
    let request = CompileRequest {
        opt_level: level,
        keep_stages: true,
        remarks: true,
        ..CompileRequest::new(input, kind, target)
    };
    let session = Session::new().with_fallbacks();
    let mut said = vec![];
    let before = processor_time();
    let result = session.compile(&request, &mut |d| said.push(d.message));
    let time = processor_time().saturating_sub(before);
    let output = result.map_err(|e| said.first().cloned().unwrap_or_else(|| e.to_string()))?;
    let defects = output.remarks.into_iter().filter(|r| r.name == remark::FALLBACK.name);
    let fallbacks = defects.map(|r| (r.pass, r.message)).collect();
    let stage = output.stages.iter().find(|(emit, _)| *emit == Emit::TileAs);
    let loops = stage.map_or(Loops::default(), |(_, text)| loops_of(text));
    Ok(Survey { fallbacks, loops, time })
}

/// Counts the loops of a program in `nv_tileas`.
fn loops_of(text: &str) -> Loops {
    let context = crate::dialect::context();
    let Ok(module) = read(&context, text.as_bytes(), InputKind::Text, "") else { return Loops::default() };
    let root = op_ref(melior::ir::operation::OperationLike::to_raw(&module.as_operation()));
    let mut loops = Loops::default();
    for function in collect_ops(root, FuncOp::cast) {
        let copies = !collect_ops(function.op(), AsyncTiledTmaLoadOp::cast).is_empty();
        let mut found: Vec<(OpRef<'_>, bool)> = vec![];
        for (op, kind) in collect_ops(function.op(), |o| Some((o, kind_of(o)?))) {
            let Some(around) = loops_around(op).next() else { continue };
            let by_warpgroups = kind == MmaKind::Warpgroup;
            match found.iter_mut().find(|(l, _)| *l == around) {
                Some((_, warpgroups)) => *warpgroups |= by_warpgroups,
                None => found.push((around, by_warpgroups)),
            }
        }
        for (around, warpgroups) in found {
            let waits = |o| (ConsumerWaitOp::cast(o).is_some() || AsyncWaitOp::cast(o).is_some()).then_some(());
            loops += Loops {
                all: 1,
                warpgroups: warpgroups.into(),
                warps: (!warpgroups).into(),
                rings: (!collect_ops(around, waits).is_empty()).into(),
                tensor_copies: copies.into(),
            };
        }
    }
    loops
}

/// The kind of matrix instruction of a dot, if it uses one.
fn kind_of(op: OpRef<'_>) -> Option<MmaKind> {
    let is_product = AsyncDotOp::cast(op).is_some() || PromotedDotOp::cast(op).is_some() || AnyDot::cast(op).is_some();
    let by = attr(op, "instruction").filter(|_| is_product).and_then(Instruction::of)?;
    (by.kind != MmaKind::Fma).then_some(by.kind)
}
