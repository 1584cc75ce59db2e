//! Orders the instructions of a basic block as an assembler would.
//!
//! An assembler hoists loads and separates dependent instructions. A model that issued in PTX order would see stalls
//! that the machine does not have. This is a list scheduler with the model's latencies: among the instructions whose
//! operands are ready, the one on the longest path goes first. It considers only the next `code.window` instructions
//! in PTX order, because hoisting a load further costs registers.
//!
//! Barriers, waits, asynchronous operations and branches keep their positions. Loads from a space may pass each other
//! but not a store to it.

use super::costs::{Costs, InstCost, Order};
use crate::exec::state::program::Func;
use rustc_hash::FxHashMap;

/// For the first instruction of each basic block, the block's instructions in their new order, as distances from it.
pub(crate) type Orders = FxHashMap<u32, Vec<u32>>;

pub(crate) fn orders(func: &Func, slots: &[InstCost], costs: &Costs) -> Orders {
    let mut found = Orders::default();
    let mut start = 0;
    for end in 1..=func.code.len() {
        if end == func.code.len() || func.code[end].leader {
            if end - start > 1 {
                found.insert(start as u32, order(&slots[start..end], costs));
            }
            start = end;
        }
    }
    found
}

/// The predecessors of each instruction, with the clocks between.
fn predecessors(slots: &[InstCost], costs: &Costs) -> Vec<Vec<(usize, f64)>> {
    let mut before: Vec<Vec<(usize, f64)>> = vec![Vec::new(); slots.len()];
    let mut writer: FxHashMap<u32, usize> = FxHashMap::default();
    let mut readers: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    let mut fixed: Option<usize> = None;
    let mut loads: Vec<(crate::ir::Space, usize)> = Vec::new();
    let mut stores: Vec<(crate::ir::Space, usize)> = Vec::new();
    for (i, slot) in slots.iter().enumerate() {
        for r in &slot.reads {
            if let Some(w) = writer.get(r) {
                before[i].push((*w, expected_latency(&slots[*w], costs)));
            }
        }
        for r in &slot.writes {
            before[i].extend(writer.get(r).map(|w| (*w, 1.0)));
            before[i].extend(readers.get(r).into_iter().flatten().map(|w| (*w, 0.0)));
        }
        before[i].extend(fixed.map(|f| (f, 0.0)));
        let same = |list: &[(crate::ir::Space, usize)], space| {
            list.iter().filter(|(s, _)| *s == space).map(|(_, at)| (*at, 0.0)).collect::<Vec<_>>()
        };
        match slot.order {
            Order::Free => {}
            Order::Load(space) => {
                before[i].extend(same(&stores, space));
                loads.push((space, i));
            }
            Order::Store(space) => {
                before[i].extend(same(&loads, space));
                before[i].extend(same(&stores, space));
                loads.retain(|(s, _)| *s != space);
                stores.retain(|(s, _)| *s != space);
                stores.push((space, i));
            }
            Order::Fixed => {
                before[i].extend((fixed.map_or(0, |f| f + 1)..i).map(|j| (j, 0.0)));
                fixed = Some(i);
                loads.clear();
                stores.clear();
            }
        }
        for r in &slot.reads {
            readers.entry(*r).or_default().push(i);
        }
        for r in &slot.writes {
            writer.insert(*r, i);
            readers.remove(r);
        }
    }
    before
}

/// The latency that the scheduler assumes for a result from memory.
fn expected_latency(slot: &InstCost, costs: &Costs) -> f64 {
    match slot.order {
        Order::Load(crate::ir::Space::Global) => costs.latency_l2,
        _ => slot.latency,
    }
}

fn order(slots: &[InstCost], costs: &Costs) -> Vec<u32> {
    let before = predecessors(slots, costs);
    let mut path = vec![0.0f64; slots.len()];
    for i in (0..slots.len()).rev() {
        for (p, latency) in &before[i] {
            path[*p] = path[*p].max(path[i] + latency.max(slots[*p].issues));
        }
    }
    let mut done = vec![f64::NAN; slots.len()];
    let mut left: Vec<usize> = (0..slots.len()).collect();
    let mut out = Vec::with_capacity(slots.len());
    let mut now = 0.0f64;
    while !left.is_empty() {
        let mut best: Option<(usize, f64)> = None;
        for (at, i) in left.iter().take(costs.code_window as usize).enumerate() {
            if before[*i].iter().any(|(p, _)| done[*p].is_nan()) {
                continue;
            }
            let ready = before[*i].iter().fold(now, |t, (p, latency)| t.max(done[*p] + latency));
            let better = match best {
                None => true,
                Some((other, time)) => (ready, -path[*i]) < (time, -path[left[other]]),
            };
            if better {
                best = Some((at, ready));
            }
        }
        // The first entry of the list has no unscheduled predecessor.
        let (at, ready) = best.unwrap_or((0, now));
        let i = left.remove(at);
        done[i] = ready;
        now = ready + slots[i].issues;
        out.push(i as u32);
    }
    out
}
