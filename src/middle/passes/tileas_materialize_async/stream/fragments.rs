//! Dots of `mma.sync`, whose warps read fragments of a stage to registers.

use super::{
    super::{reshaped, top::load},
    Placed, RingIndex, Stream,
};
use crate::{
    analysis::producers::ResidentTile,
    dialect::{
        dots::LHS,
        nv_tileas::{ConsumerReleaseOp, MemDescType},
        pass::{Failed, fail},
        rt::*,
    },
};

impl<'c> Stream<'c> {
    /// Fills a stage and waits for it. Each warp reads the fragments of its part, multiplies, and releases the stage.
    /// Returns the next index.
    pub(super) fn multiply_fragments(
        &self,
        placed: &Placed<'c>,
        index: RingIndex<'c>,
    ) -> Result<RingIndex<'c>, Failed> {
        let place = placed.group.place();
        let error = |e: BuildError| fail(place, e.to_string());
        placed.done.set(true);
        let (Some(ring), Some(it)) = (&self.ring, index) else { return Ok(index) };
        let first = placed.group.dots.first().map_or(place, |dot| dot.op());
        let b = Builder::before(self.context, first);
        b.set_location(place.location());
        self.order_maps(place, index);
        self.fill(&b, placed, ring, it)?;
        self.wait_for_stage(&b, (place, ring), it, ring.before_dots())?;
        let slots = self.slots(&b, placed, ring, it)?;
        for (dot, tiles) in placed.group.dots.iter().zip(&placed.tiles) {
            b.set_before(dot.op());
            let read = self.operands(&b, placed, (dot.op(), tiles), &slots)?;
            for (number, memory) in read.into_iter().enumerate().filter(|(_, v)| MemDescType::cast(ty(*v)).is_some()) {
                let fragment = load(&b, dot.op(), (operand(dot.op(), number), memory))?;
                set_operand(dot.op(), number, fragment);
            }
        }
        b.set_after(place);
        if placed.group.dots.is_empty() {
            read_resident(&b, place, slots[0])?;
        }
        ConsumerReleaseOp::build(&b, ring.pipeline, it, None, None, false, None, None).map_err(error)?;
        self.next(&b, place, index)
    }
}

/// Reads the fragments of a left operand from its stage, for all dots of a load.
fn read_resident<'c>(b: &Builder<'c>, load: OpRef<'c>, stage: Val<'c>) -> Result<(), Failed> {
    let tile = ResidentTile::of_load(load).ok_or_else(|| fail(load, "its tile is used by other ops than dots"))?;
    let mut known: Vec<(Vec<OpRef<'c>>, Val<'c>)> = vec![];
    for (dot, moved) in tile.dots {
        let like = operand(dot, LHS);
        let fragment = match known.iter().find(|(by, v)| *by == moved && ty(*v) == ty(like)) {
            Some((_, fragment)) => *fragment,
            None => {
                let mut memory = stage;
                for op in &moved {
                    memory = reshaped(b, *op, memory)?;
                }
                let fragment = self::load(b, dot, (like, memory))?;
                known.push((moved, fragment));
                fragment
            }
        };
        set_operand(dot, LHS, fragment);
    }
    Ok(())
}
