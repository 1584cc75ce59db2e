//! Plans scale factors of block-scaled dots, which warps of their own bring to the stages of the operands.

use super::{Loads, PlannedOperand, check_loops};
use crate::{
    analysis::{
        producers::is_computed_from_dot,
        tile_programs::{Mark, TileProgram},
    },
    dialect::{layouts::Tensor, pass::Obstacle, rt::*, shared_memory::scale_types},
};

/// Plans the program of the warps that bring the scale factors `v` of a dot, or returns the obstacle. Dimension `lines`
/// of `v` numbers the rows or columns.
pub(super) fn plan<'c>(
    v: Val<'c>,
    (dot, lines): (OpRef<'c>, usize),
    function: OpRef<'c>,
    loads: &mut Loads<'c>,
) -> Result<PlannedOperand<'c>, Obstacle<'c>> {
    let name = ["lhs", "rhs"][lines];
    let not = |at, reason: String| (at, format!("scale factors of {name}: {reason}"));
    if is_computed_from_dot(v) {
        return Err(not(dot, "they are computed from a dot".into()));
    }
    check_loops(dot, function)?;
    let program = TileProgram::of(v, dot, function).map_err(|(at, reason)| not(at, reason))?;
    let tensor = Tensor::of_value(v).ok_or_else(|| not(dot, "not a tensor".into()))?;
    let [stage, _] = scale_types(dot, &tensor.shape, tensor.element, lines).map_err(|reason| not(dot, reason))?;
    loads.producer_ops.extend(program.ops());
    loads.around_computed.extend(parent_op(dot).filter(|around| *around != function));
    Ok(PlannedOperand::ProducerComputed { stage, how: Mark { fast: 1 - lines, or_copy: false } })
}
