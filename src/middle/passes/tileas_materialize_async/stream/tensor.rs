//! Dots into tensor memory, which one thread issues.

use super::{super::StagedOperand, Placed, RingIndex, Stream};
use crate::{
    dialect::{
        dots::{LHS_SCALE, RHS_SCALE},
        nv_tileas::{AsyncDotOp, AsyncFenceOp, ConsumerReleaseOp},
        pass::{Failed, fail},
        rt::*,
    },
    passes::tileas_materialize_async::{accumulators::matrix_region, convert_stage},
};

impl<'c> Stream<'c> {
    /// Fills a stage, and issues the dots that read it from the thread that adds to tensor memory. Their completion
    /// releases the stage. Returns the next index.
    pub(super) fn multiply_in_memory(
        &self,
        placed: &Placed<'c>,
        index: RingIndex<'c>,
    ) -> Result<RingIndex<'c>, Failed> {
        let place = placed.group.place();
        let error = |e: BuildError| fail(place, e.to_string());
        let stage = self.ring.as_ref().zip(index);
        let b = Builder::before(self.context, place);
        b.set_location(place.location());
        self.order_maps(place, index);
        if let Some((ring, it)) = stage {
            self.fill(&b, placed, ring, it)?;
            if ring.converted {
                self.convert(&b, placed, ring, it)?;
            }
        }
        matrix_region(&b, place, |inside| {
            let mut slots = vec![];
            if let Some((ring, it)) = stage {
                self.wait_for_stage(inside, (place, ring), it, ring.before_dots())?;
                slots = self.slots(inside, placed, ring, it)?;
                slots = convert_stage::converted(inside, &placed.group, &slots)?;
            }
            let left = placed.left_operands.borrow();
            left.iter().flatten().try_for_each(|left| left.wait(inside, place))?;
            if placed.group.by_threads().0 && !self.ring.as_ref().is_some_and(|ring| ring.converted) {
                // `cp.async` writes through the generic proxy, and no fence has ordered these writes before the dots.
                AsyncFenceOp::build(inside).map_err(error)?;
            }
            let scales = match stage {
                Some((ring, it)) => self.copy_scales(inside, placed, (ring, it), &slots)?,
                None => vec![],
            };
            let scale = |i: usize, number: usize| {
                let is_here = |s: &&StagedOperand<'c>| s.places.iter().any(|p| (p.dot, p.number) == (i, number));
                let side = placed.group.sides.iter().position(|s| is_here(&s))?;
                scales.get(side).copied().flatten()
            };
            let dots = placed.group.dots.iter().zip(&placed.tiles);
            for (i, ((dot, tiles), acc)) in dots.zip(placed.accumulators.borrow().iter()).enumerate() {
                let [mut lhs, rhs] = self.operands(inside, placed, (dot.op(), tiles), &slots)?;
                if let Some(Some(left)) = left.get(i) {
                    lhs = left.memory;
                }
                let by = attr(dot.op(), "instruction").ok_or_else(|| fail(place, "no instruction"))?;
                let [left, right] = dot.unsigned();
                let [lhs_scale, rhs_scale] = [LHS_SCALE, RHS_SCALE].map(|number| scale(i, number));
                let block = dot.scale_blocks().map(|(_, block)| i64_attr(self.context, block.into()));
                let more = Some(acc.accumulate);
                inside.set_location(dot.op().location());
                let built = AsyncDotOp::build(
                    inside,
                    &[],
                    lhs,
                    rhs,
                    acc.memory,
                    more,
                    lhs_scale,
                    rhs_scale,
                    by,
                    left,
                    right,
                    block,
                    None,
                );
                built.map_err(error)?;
                inside.set_location(place.location());
            }
            if let Some((ring, it)) = stage {
                ConsumerReleaseOp::build(inside, ring.pipeline, it, None, None, true, None, None).map_err(error)?;
            }
            left.iter().flatten().try_for_each(|left| left.release(inside, place))
        })?;
        let next = self.next(&b, place, index)?;
        placed.erase();
        Ok(next)
    }
}
