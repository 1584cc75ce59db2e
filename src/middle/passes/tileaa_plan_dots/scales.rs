//! Plans scale factors of block-scaled dots. If they are stored in blocks that the hardware copies, the producer copies
//! them to the stages of the operands. Otherwise warps of their own bring them there.

use super::{Loads, PlannedOperand, check_load, check_loops};
use crate::{
    analysis::{
        bulk_copies::BulkOperand,
        facts::Facts,
        producers::is_computed_from_dot,
        tile_programs::{Mark, TileProgram},
    },
    dialect::{
        dots::TileDot, hints::bool_hint, layouts::Tensor, nv_tileaa::TiledLoadOp, nv_tileas::MemDescType,
        pass::Obstacle, rt::*, shared_memory::scale_types,
    },
};
use tile_targets::Target;

/// Plans how the scale factors of a dot, if it has any, come to its stages, or returns the obstacle. If warps bring
/// them, the second value says why copies cannot.
pub(super) fn plan<'c>(
    dot: TileDot<'c>,
    how: (OpRef<'c>, &Facts, &Target),
    loads: &mut Loads<'c>,
) -> Result<(Vec<PlannedOperand<'c>>, Vec<String>), Obstacle<'c>> {
    let (mut planned, mut reasons) = (vec![], vec![]);
    for (lines, v) in dot.scales().into_iter().flatten().enumerate() {
        let (operand, reason) = plan_one(v, (dot.op(), lines), how, loads)?;
        planned.push(operand);
        reasons.extend(reason);
    }
    Ok((planned, reasons))
}

/// Plans the scale factors `v` of an operand, whose dimension `lines` numbers the rows or columns.
fn plan_one<'c>(
    v: Val<'c>,
    (dot, lines): (OpRef<'c>, usize),
    (function, facts, target): (OpRef<'c>, &Facts, &Target),
    loads: &mut Loads<'c>,
) -> Result<(PlannedOperand<'c>, Option<String>), Obstacle<'c>> {
    let name = ["lhs", "rhs"][lines];
    let not = |at, reason: String| (at, format!("scale factors of {name}: {reason}"));
    if is_computed_from_dot(v) {
        return Err(not(dot, "they are computed from a dot".into()));
    }
    let tensor = Tensor::of_value(v).ok_or_else(|| not(dot, "not a tensor".into()))?;
    let [stage, _] = scale_types(dot, &tensor.shape, tensor.element, lines).map_err(|reason| not(dot, reason))?;
    let reason = match copied(v, (dot, stage), (function, facts, target)) {
        Ok(BulkOperand { operand, stage, .. }) => {
            loads.loads.push(operand.load);
            return Ok((PlannedOperand::Ring { stage, load: operand.load }, None));
        }
        Err(reason) => format!("warps bring the scale factors of {name}: {reason}"),
    };
    check_loops(dot, function)?;
    let program = TileProgram::of(v, dot, function).map_err(|(at, reason)| not(at, reason))?;
    loads.producer_ops.extend(program.ops());
    loads.around_computed.extend(parent_op(dot).filter(|around| *around != function));
    let planned = PlannedOperand::ProducerComputed { stage, how: Mark { fast: 1 - lines, or_copy: false } };
    Ok((planned, Some(reason)))
}

/// Plans bulk copies of scale factors, or returns the reason why there are none.
fn copied<'c>(
    v: Val<'c>,
    (dot, stage): (OpRef<'c>, MemDescType<'c>),
    (function, facts, target): (OpRef<'c>, &Facts, &Target),
) -> Result<BulkOperand<'c>, String> {
    let found = BulkOperand::of(v, dot, stage, facts)?;
    let load = TiledLoadOp::cast(found.operand.load).ok_or("they are not loaded from a view")?;
    check_load(load, dot, function).map_err(|(_, reason)| reason)?;
    if load.hints().and_then(|h| bool_hint(h, target.name, "allow_tma")) == Some(false) {
        return Err("the hint allow_tma forbids TMA".into());
    }
    Ok(found)
}
