//! Pairs of CTAs (`cta_group::2`): one CTA of a pair represents both.
//!
//! The leader issues the MMAs of both CTAs; each SM does half of the work at the same time. The other CTA only copies
//! and stores its half, as the leader does with its own. So only leaders are replayed, each with half of the work of
//! an MMA. What the other CTA contributes to the leader's mbarriers counts as the leader's own:
//!
//! * If both execute an instruction that arrives there, the leader's counts twice. This is the usual case: both run
//!   one program with the leader's address.
//! * If only the other CTA executes it, the leader's warp of the same number executes it too, at the same place in
//!   its program.
//!
//! Arrivals of the leader at the other CTA's mbarriers have no effect.

use super::costs::{Effect, InstCost};
use crate::exec::state::record::{BlockTrace, Event, REMOTE};
use crate::ir::MbarrierOp;
use rustc_hash::FxHashMap;

/// Marks a copy that the other CTA makes too, with the same mbarrier.
pub(super) const BOTH: u32 = 1 << 29;

/// An instruction, and how many times the warp has executed it before.
type Turn = (u32, u32, u32);

/// The CTAs to replay: all, or the leaders of pairs. `blocks` holds the CTAs of each cluster in order.
pub(super) fn leaders(blocks: Vec<BlockTrace>, slots: &[Vec<InstCost>]) -> Vec<BlockTrace> {
    let issues = |e: &Event| {
        let slot = &slots[e.func as usize][e.pc as usize];
        e.lanes != 0 && matches!(slot.effect, Effect::TensorCore { pair: true, .. })
    };
    let leads = |b: &BlockTrace| b.warps.iter().flatten().any(issues);
    if !blocks.iter().any(leads) {
        // CTAs of other clusters send to each other what they receive, so that theirs count as one's own.
        let own = |mut b: BlockTrace| {
            b.warps.iter_mut().flatten().for_each(|e| localise(e, slots));
            b
        };
        return blocks.into_iter().map(own).collect();
    }
    let mut out = Vec::new();
    let mut blocks = blocks.into_iter();
    while let (Some(first), Some(second)) = (blocks.next(), blocks.next()) {
        match (leads(&first), leads(&second)) {
            (true, _) => out.push(joined(first, &second, slots)),
            (_, true) => out.push(joined(second, &first, slots)),
            _ => {}
        }
    }
    out
}

/// The mbarrier operand of an event, if it arrives at one.
fn target<'e>(event: &'e mut Event, slots: &[Vec<InstCost>]) -> Option<&'e mut u32> {
    match slots[event.func as usize][event.pc as usize].effect {
        Effect::Mbarrier(_) | Effect::CopyArrive | Effect::TensorCommit => Some(&mut event.a),
        Effect::Bulk { .. } | Effect::Request { .. } if event.b != u32::MAX => Some(&mut event.b),
        _ => None,
    }
}

fn localise(event: &mut Event, slots: &[Vec<InstCost>]) {
    if let Some(offset) = target(event, slots) {
        *offset &= !REMOTE;
    }
}

fn is_remote(event: &Event, slots: &[Vec<InstCost>]) -> bool {
    let mut copy = *event;
    event.lanes != 0 && target(&mut copy, slots).is_some_and(|offset| *offset & REMOTE != 0)
}

/// A leader with the contributions of the other CTA of its pair.
fn joined(mut leader: BlockTrace, other: &BlockTrace, slots: &[Vec<InstCost>]) -> BlockTrace {
    for (own, others) in leader.warps.iter_mut().zip(&other.warps) {
        let places: FxHashMap<Turn, usize> = turns(own).enumerate().map(|(at, turn)| (turn, at)).collect();
        let mut after: Vec<(usize, Event)> = Vec::new();
        let mut last = 0;
        for (turn, event) in turns(others).zip(others) {
            let place = places.get(&turn).copied().filter(|at| own[*at].lanes != 0);
            last = places.get(&turn).copied().unwrap_or(last);
            if !is_remote(event, slots) {
                continue;
            }
            match place.filter(|at| !is_remote(&own[*at], slots)) {
                Some(at) => twice(&mut own[at], slots),
                None => after.push((last, *event)),
            }
        }
        for event in own.iter_mut().filter(|e| is_remote(e, slots)) {
            event.lanes = 0;
        }
        for (place, mut event) in after.into_iter().rev() {
            localise(&mut event, slots);
            own.insert((place + 1).min(own.len()), event);
        }
        own.iter_mut().for_each(|e| localise(e, slots));
    }
    leader
}

fn turns(events: &[Event]) -> impl Iterator<Item = Turn> + '_ {
    let mut counts: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    events.iter().map(move |e| {
        let count = counts.entry((e.func, e.pc)).or_default();
        *count += 1;
        (e.func, e.pc, *count)
    })
}

/// Makes an arrival count for the other CTA too.
fn twice(event: &mut Event, slots: &[Vec<InstCost>]) {
    match slots[event.func as usize][event.pc as usize].effect {
        Effect::Mbarrier(MbarrierOp::Arrive { .. } | MbarrierOp::CompleteTx { .. }) => event.b *= 2,
        Effect::Bulk { .. } => event.b |= BOTH,
        _ => {}
    }
}
