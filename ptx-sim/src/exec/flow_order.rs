//! Basic blocks and their weak topological order; see [`super::state::program`] for its use.
//!
//! The order is Bourdoncle's: the strongly connected components of the control-flow graph in topological order. A
//! component with a cycle is a loop. Its header comes first, and the rest is ordered recursively after removing the
//! header.

use super::state::program::{DArg, DInst};
use crate::ir::Op;

/// Sets `leader`, `order` and `loop_order` of every instruction.
pub(crate) fn assign(code: &mut [DInst]) {
    let n = code.len();
    let mut leader = vec![false; n];
    if n == 0 {
        return;
    }
    leader[0] = true;
    for i in 0..n {
        let (targets, falls) = successors(&code[i]);
        let ends_block = !targets.is_empty() || !falls;
        for t in targets {
            if let Some(l) = leader.get_mut(t) {
                *l = true;
            }
        }
        if ends_block && i + 1 < n {
            leader[i + 1] = true;
        }
    }
    // Block numbers and edges.
    let mut block_of = vec![0usize; n];
    let mut starts = Vec::new();
    for i in 0..n {
        if leader[i] {
            starts.push(i);
        }
        block_of[i] = starts.len() - 1;
    }
    let count = starts.len();
    let edges: Vec<Vec<usize>> = (0..count)
        .map(|b| {
            let last = starts.get(b + 1).map_or(n, |s| *s) - 1;
            let (targets, falls) = successors(&code[last]);
            let mut out: Vec<usize> = targets.into_iter().filter(|t| *t < n).map(|t| block_of[t]).collect();
            if falls && last + 1 < n {
                out.push(block_of[last + 1]);
            }
            out
        })
        .collect();
    let mut order = vec![0u32; count];
    let mut loop_order = vec![0u32; count];
    number(&edges, &mut order, &mut loop_order);
    for (i, inst) in code.iter_mut().enumerate() {
        let b = block_of[i];
        inst.leader = leader[i];
        inst.order = 2 * order[b];
        inst.loop_order = loop_order[b];
    }
}

/// The branch targets, and whether control may fall through.
fn successors(inst: &DInst) -> (Vec<usize>, bool) {
    let conditional = inst.guard.is_some();
    match &inst.op {
        Op::Bra { .. } => match inst.args.first() {
            Some(DArg::Target(t)) => (vec![*t as usize], conditional),
            _ => (vec![], conditional),
        },
        Op::BrxIdx => match inst.args.get(1) {
            Some(DArg::Targets(ts)) => (ts.iter().map(|t| *t as usize).collect(), conditional),
            _ => (vec![], conditional),
        },
        Op::Ret | Op::Exit | Op::Trap => (vec![], conditional),
        _ => (vec![], true),
    }
}

/// Numbers all blocks, with loops contiguous. Uses an explicit stack instead of recursion, because the program
/// determines the depth of the loop nest.
fn number(edges: &[Vec<usize>], order: &mut [u32], loop_order: &mut [u32]) {
    enum Task {
        Region(Vec<usize>),
        Number(usize),
        CloseLoop(usize),
    }
    let mut next = 0u32;
    let mut region_of = vec![0usize; edges.len()];
    let mut region = 0usize;
    let mut tasks = vec![Task::Region((0..edges.len()).collect())];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Number(block) => {
                order[block] = next;
                next += 1;
            }
            Task::CloseLoop(header) => loop_order[header] = 2 * (next - 1) + 1,
            Task::Region(members) => {
                region += 1;
                for m in &members {
                    region_of[*m] = region;
                }
                let components = components(edges, &members, &|b| region_of[b] == region);
                // Pushed in reverse, so that the first component in topological order is numbered first.
                for component in components.into_iter().rev() {
                    let cyclic = component.len() > 1 || edges[component[0]].contains(&component[0]);
                    if !cyclic {
                        tasks.push(Task::Number(component[0]));
                        continue;
                    }
                    let header = header_of(edges, &component);
                    tasks.push(Task::CloseLoop(header));
                    tasks.push(Task::Region(component.into_iter().filter(|b| *b != header).collect()));
                    tasks.push(Task::Number(header));
                }
            }
        }
    }
}

/// The entry block of a cycle: the one with an edge from outside, or the lowest if there are several.
fn header_of(edges: &[Vec<usize>], component: &[usize]) -> usize {
    let set: rustc_hash::FxHashSet<usize> = component.iter().copied().collect();
    let mut best = usize::MAX;
    for (from, targets) in edges.iter().enumerate() {
        if !set.contains(&from) {
            for t in targets {
                if set.contains(t) {
                    best = best.min(*t);
                }
            }
        }
    }
    if best == usize::MAX { component.iter().copied().min().unwrap_or(0) } else { best }
}

/// Strongly connected components in topological order (Tarjan, iterative).
fn components(edges: &[Vec<usize>], members: &[usize], member: &dyn Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let n = edges.len();
    let mut index = vec![usize::MAX; n];
    let mut low = vec![0usize; n];
    let mut on_stack = vec![false; n];
    let mut stack = Vec::new();
    let mut out = Vec::new();
    let mut counter = 0;
    for root in members {
        if index[*root] != usize::MAX {
            continue;
        }
        let mut work = vec![(*root, 0usize)];
        while let Some((v, i)) = work.pop() {
            if i == 0 {
                index[v] = counter;
                low[v] = counter;
                counter += 1;
                stack.push(v);
                on_stack[v] = true;
            }
            let mut descended = false;
            for (j, w) in edges[v].iter().enumerate().skip(i) {
                if !member(*w) {
                    continue;
                }
                if index[*w] == usize::MAX {
                    work.push((v, j + 1));
                    work.push((*w, 0));
                    descended = true;
                    break;
                }
                if on_stack[*w] {
                    low[v] = low[v].min(index[*w]);
                }
            }
            if descended {
                continue;
            }
            if low[v] == index[v] {
                let mut component = Vec::new();
                while let Some(w) = stack.pop() {
                    on_stack[w] = false;
                    component.push(w);
                    if w == v {
                        break;
                    }
                }
                out.push(component);
            }
            if let Some((parent, _)) = work.last() {
                low[*parent] = low[*parent].min(low[v]);
            }
        }
    }
    out.reverse();
    out
}
