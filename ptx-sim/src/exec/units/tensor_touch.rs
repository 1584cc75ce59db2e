//! Tracks accesses to tensor memory, for the checks of adversarial schedules.
//!
//! A `tcgen05` instruction only starts an operation. A load completes at `tcgen05.wait::ld` and a store at
//! `tcgen05.wait::st`. A multiplication, copy or shift completes when a later `tcgen05.commit` of the same thread has
//! signaled an mbarrier and that mbarrier's phase has completed. Until then no other operation may access what it
//! writes, or overwrite what it reads. The exception is that multiplications, copies and shifts of one thread execute
//! in order. The ISA does not list a multiplication and a later copy over its operands among the ordered pairs, so
//! strict mode reports these. Completed operations are ordered like other accesses, except that ordering between
//! threads takes the `tcgen05` fences.
//!
//! A touch is a set of lanes and a range of columns. The list of a CTA stays short, because a later write replaces the
//! touches that it covers.

use super::report::Reports;
use crate::exec::state::error::SimErrorKind;
use crate::exec::state::machine::Machine;
use crate::exec::state::race::{AccessKind, Missing};
use crate::exec::state::tensor::{Access, Flight, Touch};

/// Checks of accesses to tensor memory.
pub(crate) trait TensorTouch {
    /// Checks an access to tensor memory against all earlier ones, and records it.
    fn touch(&mut self, cta: usize, touch: Touch) -> Result<(), SimErrorKind>;

    /// Marks the warp's loads or stores of tensor memory as complete.
    fn land(&mut self, cta: usize, warp: u32, flight: Flight);

    /// Marks the operations of a thread, up to a number, as complete.
    fn land_operations(&mut self, thread: (u32, u8), up_to: u64);

    /// Checks that all accesses to freed columns are complete; `touch` is all of the columns.
    fn release_columns(&mut self, cta: usize, touch: Touch) -> Result<(), SimErrorKind>;
}

impl TensorTouch for Machine<'_> {
    fn touch(&mut self, cta: usize, touch: Touch) -> Result<(), SimErrorKind> {
        for other in &self.ctas[cta].tmem.touches {
            if !other.region.overlaps(&touch.region) || !(other.write || touch.write) {
                continue;
            }
            match (other.flight, touch.flight) {
                // Operations of one thread are ordered, and so are stores of one warp.
                _ if self.in_order(other, &touch) => {}
                (Some(Flight::Store), Some(Flight::Store)) if other.warp == touch.warp => {}
                (Some(flight), _) => return Err(self.in_flight(other, &touch, flight)),
                (None, _) => {
                    let Some(race) = &self.race else { continue };
                    if let Some(missing) = race.tensor_order((other.agent, other.warp, other.time), touch.agent) {
                        return Err(self.tensor_race(other, &touch, missing));
                    }
                }
            }
        }
        let touches = &mut self.ctas[cta].tmem.touches;
        touches.retain(|t| {
            let replaced = touch.region.covers(&t.region) && (touch.write || !t.write && t.agent == touch.agent);
            t.flight.is_some() || !replaced
        });
        touches.push(touch);
        Ok(())
    }

    fn land(&mut self, cta: usize, warp: u32, flight: Flight) {
        for touch in &mut self.ctas[cta].tmem.touches {
            if touch.warp == warp && touch.flight == Some(flight) {
                touch.flight = None;
            }
        }
    }

    fn land_operations(&mut self, thread: (u32, u8), up_to: u64) {
        for touch in self.ctas.iter_mut().flat_map(|c| &mut c.tmem.touches) {
            let covered = matches!(touch.flight, Some(Flight::Operation(number)) if number <= up_to);
            if covered && (touch.warp, touch.lane) == (thread.0, Some(thread.1)) {
                touch.flight = None;
            }
        }
    }

    fn release_columns(&mut self, cta: usize, touch: Touch) -> Result<(), SimErrorKind> {
        for other in &self.ctas[cta].tmem.touches {
            if !other.region.overlaps(&touch.region) {
                continue;
            }
            match other.flight {
                // The registers of a load are waited for where they are used.
                Some(Flight::Load) if !self.options.strict => continue,
                Some(flight) => return Err(self.in_flight(other, &touch, flight)),
                None => {}
            }
            let order =
                self.race.as_ref().and_then(|r| r.tensor_order((other.agent, other.warp, other.time), touch.agent));
            // Deallocation is not an access, so it needs no `tcgen05` fence.
            if order == Some(Missing::Order) {
                return Err(self.tensor_race(other, &touch, Missing::Order));
            }
        }
        self.ctas[cta].tmem.touches.retain(|t| !touch.region.covers(&t.region));
        Ok(())
    }
}

impl Machine<'_> {
    /// Whether operations of one thread execute in the order in which it issued them.
    fn in_order(&self, first: &Touch, second: &Touch) -> bool {
        let same_thread = first.lane.is_some() && (first.warp, first.lane) == (second.warp, second.lane);
        // Not among the pairs that the ISA lists, but the block-scaled loops of CUTLASS rely on it.
        let unlisted = first.by == Access::Multiply && second.by == Access::Copy && first.flight.is_some();
        same_thread && !(self.options.strict && unlisted)
    }

    fn in_flight(&self, other: &Touch, touch: &Touch, flight: Flight) -> SimErrorKind {
        let (verb, wait) = match flight {
            Flight::Load => ("reading", "tcgen05.wait::ld"),
            Flight::Store => ("writing", "tcgen05.wait::st"),
            Flight::Operation(_) => {
                (if other.write { "writing" } else { "reading" }, "a wait on the mbarrier of a tcgen05.commit")
            }
        };
        let at = touch.region.first_shared(&other.region);
        SimErrorKind::Tensor(format!(
            "tensor memory at {at:#x} is in flight: `{}` of line {} by {} is still {verb} it; {wait} must come before",
            self.quote(other.origin),
            other.origin.line,
            self.warp_name(other.warp)
        ))
    }

    fn tensor_race(&self, other: &Touch, touch: &Touch, missing: Missing) -> SimErrorKind {
        let how = |t: &Touch| if t.write { AccessKind::WRITE } else { AccessKind::READ };
        let address = touch.region.first_shared(&other.region);
        let first = (other.origin, how(other));
        self.race_error("tensor", address, String::new(), first, (touch.origin, how(touch)), missing, None)
    }
}
