//! Plans scale factors of block-scaled dots. If they are stored in blocks that the hardware copies, the producer copies
//! them to the stages of the operands. If TMA can load them otherwise, warps of a converter rearrange them there. In
//! other cases warps of their own bring them.

use super::{Loads, PlannedOperand, check_load, check_loops};
use crate::{
    analysis::{
        bulk_copies::BulkOperand,
        converted_scales::ConvertedScales,
        facts::Facts,
        producers::{LoadedOperand, is_computed_from_dot},
        tile_programs::{Mark, TileProgram},
    },
    dialect::{
        dots::TileDot, hints::bool_hint, layouts::Tensor, nv_tileaa::TiledLoadOp, nv_tileas::MemDescType,
        pass::Obstacle, rt::*, shared_memory::scale_types,
    },
};
use tile_plan::ScaleAgent;
use tile_targets::Target;

/// How scale factors of an operand come to its stages.
enum Brought<'c> {
    /// By copies to stages of this type, as they are or for a conversion.
    Copied { stage: MemDescType<'c>, load: OpRef<'c>, converted: bool },
    /// By warps, for the reason why copies cannot.
    ByWarps(String),
}

/// Plans how the scale factors of a dot, if it has any, come to its stages, or returns the obstacle. The last value
/// says why copies cannot bring them as they are.
pub(super) fn plan<'c>(
    dot: TileDot<'c>,
    (function, facts, target): (OpRef<'c>, &Facts, &Target),
    loads: &mut Loads<'c>,
) -> Result<(Vec<PlannedOperand<'c>>, ScaleAgent, Vec<String>), Obstacle<'c>> {
    let op = dot.op();
    let mut found = vec![];
    let mut reasons = vec![];
    for (lines, v) in dot.scales().into_iter().flatten().enumerate() {
        let name = ["lhs", "rhs"][lines];
        let not = |reason: String| (op, format!("scale factors of {name}: {reason}"));
        if is_computed_from_dot(v) {
            return Err(not("they are computed from a dot".into()));
        }
        let tensor = Tensor::of_value(v).ok_or_else(|| not("not a tensor".into()))?;
        let [stage, _] = scale_types(op, &tensor.shape, tensor.element, lines).map_err(not)?;
        let brought = match copied(v, (op, stage), (function, facts, target)) {
            Ok((brought, reason)) => {
                reasons.extend(reason.map(|reason| format!("scale factors of {name} are rearranged: {reason}")));
                brought
            }
            Err(reason) => Brought::ByWarps(reason),
        };
        found.push((name, v, stage, brought));
    }
    // Warps that load the scale factors of one operand load the others too, unless copies bring them as they are: a
    // stage has one agent between the copies and the dots.
    let any = found.iter().any(|(.., brought)| matches!(brought, Brought::ByWarps(_)));
    let mut by = ScaleAgent::Producer;
    let mut planned = vec![];
    for (lines, (name, v, stage, brought)) in found.into_iter().enumerate() {
        match brought {
            Brought::Copied { stage, load, converted } if !(any && converted) => {
                loads.loads.push(load);
                planned.push(PlannedOperand::Ring { stage, load });
                by = if converted { ScaleAgent::Converter } else { by };
                continue;
            }
            Brought::Copied { .. } => {}
            Brought::ByWarps(reason) => reasons.push(format!("warps bring the scale factors of {name}: {reason}")),
        }
        check_loops(op, function)?;
        let program = TileProgram::of(v, op, function);
        let program = program.map_err(|(at, reason)| (at, format!("scale factors of {name}: {reason}")))?;
        loads.producer_ops.extend(program.ops());
        loads.around_computed.extend(parent_op(op).filter(|around| *around != function));
        planned.push(PlannedOperand::ProducerComputed { stage, how: Mark::new(1 - lines, false), sources: vec![] });
        by = ScaleAgent::Warps;
    }
    Ok((planned, by, reasons))
}

/// Plans copies of scale factors, or returns the reason why there are none. If they must be rearranged, the second
/// value says why.
fn copied<'c>(
    v: Val<'c>,
    (dot, storage): (OpRef<'c>, MemDescType<'c>),
    (function, facts, target): (OpRef<'c>, &Facts, &Target),
) -> Result<(Brought<'c>, Option<String>), String> {
    let (brought, load, reason) = match BulkOperand::of(v, dot, storage, facts) {
        Ok(BulkOperand { operand: LoadedOperand { load, .. }, stage, .. }) => {
            (Brought::Copied { stage, load, converted: false }, load, None)
        }
        Err(reason) => {
            let found = ConvertedScales::of(v, dot, storage, facts).map_err(|other| format!("{reason}; {other}"))?;
            let load = found.operand.load;
            (Brought::Copied { stage: found.stage, load, converted: true }, load, Some(reason))
        }
    };
    let load = TiledLoadOp::cast(load).ok_or("they are not loaded from a view")?;
    check_load(load, dot, function).map_err(|(_, reason)| reason)?;
    if load.hints().and_then(|h| bool_hint(h, target.name, "allow_tma")) == Some(false) {
        return Err("the hint allow_tma forbids TMA".into());
    }
    Ok((brought, reason))
}
