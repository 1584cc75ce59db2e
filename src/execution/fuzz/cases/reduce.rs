//! Reduces a failing case.
//!
//! A step changes the case in one way and is kept if the case still fails. Steps are tried from coarse to fine,
//! repeatedly, until none is kept: remove ops with effects, replace results by constants or operands, inline branches
//! and loops, drop options of ops, halve extents, simplify data. A step may produce a program that the verifier
//! rejects or whose behavior is undefined; the interestingness test must reject it.

use crate::case::{Case, Parameter};
use std::collections::BTreeSet;
use tile_interp::program::{AccessOrder, Block, Entry, FloatMode, Op, OpKind, Overflow, Rounding, Value};
use tile_interp::types::{Element, Number, TileType, Tiling, Type};

/// Decides whether a case still has the property of interest.
pub type InterestingnessTest<'a> = dyn FnMut(&Case) -> bool + 'a;

/// Returns the smallest case found. `case` itself must fail.
pub fn reduce(case: Case, test: &mut InterestingnessTest<'_>) -> Case {
    let mut best = case;
    // Unused ops may be the cause of the failure.
    let mut tidied = best.clone();
    tidy(&mut tidied, true);
    let unused = !test(&tidied);
    if !unused {
        best = tidied;
    }
    let mut kept = |best: &mut Case, change: &dyn Fn(&mut Case)| -> bool {
        let mut next = best.clone();
        change(&mut next);
        tidy(&mut next, !unused);
        if next == *best || !test(&next) {
            return false;
        }
        *best = next;
        true
    };
    loop {
        let before = best.clone();
        drop_ops(&mut best, &mut kept);
        simplify_ops(&mut best, &mut kept);
        for d in 0..3 {
            kept(&mut best, &|c| c.grid[d] = 1);
        }
        halve_extents(&mut best, &mut kept);
        simplify_data(&mut best, &mut kept);
        if best == before {
            return best;
        }
    }
}

type Kept<'a> = dyn FnMut(&mut Case, &dyn Fn(&mut Case)) -> bool + 'a;

fn body(case: &mut Case) -> Option<&mut Block> {
    case.program.entries.first_mut().map(|e| &mut e.body)
}

/// Number of ops, including the ones in regions.
pub fn size(case: &Case) -> usize {
    fn count(b: &Block) -> usize {
        b.ops.iter().map(|op| 1 + op.regions.iter().map(count).sum::<usize>()).sum()
    }
    case.program.entries.iter().map(|e| count(&e.body)).sum()
}

/// Calls `f` with the block that contains op number `n` and the op's index in it. Ops are numbered in pre-order.
fn at<R>(block: &mut Block, n: &mut usize, f: &mut dyn FnMut(&mut Block, usize) -> R) -> Option<R> {
    for i in 0..block.ops.len() {
        if *n == 0 {
            return Some(f(block, i));
        }
        *n -= 1;
        for r in 0..block.ops[i].regions.len() {
            if let Some(out) = at(&mut block.ops[i].regions[r], n, f) {
                return Some(out);
            }
        }
    }
    None
}

fn change_op(case: &mut Case, n: usize, f: &mut dyn FnMut(&mut Block, usize)) {
    let mut n = n;
    if let Some(b) = body(case) {
        at(b, &mut n, f);
    }
}

fn is_terminator(kind: &OpKind) -> bool {
    matches!(kind, OpKind::Yield | OpKind::Break | OpKind::Continue | OpKind::Return)
}

/// Constants that can replace an op, if its results have types with constants.
fn constants(op: &Op, types: &[Type], bits: u64) -> Option<Vec<Op>> {
    if op.results.is_empty() || matches!(op.kind, OpKind::Constant(_) | OpKind::MakeToken) {
        return None;
    }
    let mut new = vec![];
    for r in &op.results {
        let kind = match &types[r.index()] {
            Type::Tile(t) if t.element.number().is_some_and(|n| n != Number::I4) => OpKind::Constant([bits].into()),
            Type::Token => OpKind::MakeToken,
            _ => return None,
        };
        let (operands, regions, location) = (vec![], vec![], op.location.clone());
        new.push(Op { kind, operands, results: vec![*r], regions, location });
    }
    Some(new)
}

fn drop_ops(best: &mut Case, kept: &mut Kept<'_>) {
    // Replace runs of ops of the entry by constants.
    let mut length = best.program.entries.first().map_or(0, |e| e.body.ops.len()) / 2;
    while length >= 2 {
        let mut end = best.program.entries.first().map_or(0, |e| e.body.ops.len());
        while end > 0 {
            let start = end.saturating_sub(length);
            kept(best, &|c| {
                let Some(entry) = c.program.entries.first_mut() else { return };
                let types = &entry.types;
                let ops = std::mem::take(&mut entry.body.ops);
                for (i, op) in ops.into_iter().enumerate() {
                    match constants(&op, types, 0) {
                        Some(new) if (start..end).contains(&i) => entry.body.ops.extend(new),
                        _ => entry.body.ops.push(op),
                    }
                }
            });
            end = start.min(best.program.entries.first().map_or(0, |e| e.body.ops.len()));
        }
        length /= 2;
    }
    // Drop runs of ops of the entry, long runs first.
    let mut length = best.program.entries.first().map_or(0, |e| e.body.ops.len()) / 2;
    while length >= 1 {
        let mut end = best.program.entries.first().map_or(0, |e| e.body.ops.len());
        while end > 0 {
            let start = end.saturating_sub(length);
            kept(best, &|c| {
                let Some(b) = body(c) else { return };
                let end = end.min(b.ops.len());
                let mut i = 0;
                // Ops whose results are used elsewhere remain.
                b.ops.retain(|op| {
                    i += 1;
                    !(start..end).contains(&(i - 1)) || is_terminator(&op.kind) || has_tiles(op)
                });
            });
            end = start;
        }
        length /= 2;
    }
    let mut n = size(best);
    while n > 0 {
        n -= 1;
        if n >= size(best) {
            continue;
        }
        // Drop the op if its results are unused.
        kept(best, &|c| {
            let mut used = BTreeSet::new();
            body(c).into_iter().for_each(|b| collect(b, &mut used));
            change_op(c, n, &mut |b, i| {
                let needed = b.ops[i].results.iter().any(|r| used.contains(r));
                if !is_terminator(&b.ops[i].kind) && !needed {
                    b.ops.remove(i);
                }
            })
        });
        if n >= size(best) {
            continue;
        }
        replace_op(best, n, kept);
    }
}

/// Whether an op has results other than tokens.
fn has_tiles(op: &Op) -> bool {
    !matches!(
        op.kind,
        OpKind::StorePtr { .. }
            | OpKind::StoreView { .. }
            | OpKind::AtomicRedView { .. }
            | OpKind::MultimemReduce { .. }
            | OpKind::MultimemStore { .. }
            | OpKind::Print { .. }
            | OpKind::Assert(_)
    ) && !op.results.is_empty()
}

/// Tries to replace op `n` by simpler ones.
fn replace_op(best: &mut Case, n: usize, kept: &mut Kept<'_>) {
    let mut number = n;
    let mut probe = best.clone();
    let Some(entry) = probe.program.entries.first_mut() else { return };
    let types = entry.types.clone();
    let Some(op) = at(&mut entry.body, &mut number, &mut |b, i| b.ops[i].clone()) else { return };
    // An operand of the same type.
    if let [result] = op.results[..] {
        for operand in &op.operands {
            if types[operand.index()] == types[result.index()]
                && kept(best, &|c| {
                    change_op(c, n, &mut |b, i| {
                        b.ops.remove(i);
                    });
                    if let Some(b) = body(c) {
                        substitute(b, result, *operand);
                    }
                })
            {
                return;
            }
        }
    }
    for bits in [0, 1] {
        let Some(new) = constants(&op, &types, bits) else { break };
        if kept(best, &|c| {
            change_op(c, n, &mut |b, i| {
                b.ops.splice(i..=i, new.clone());
            })
        }) {
            return;
        }
    }
    // Inline one region of an op with regions.
    for region in 0..op.regions.len() {
        if kept(best, &|c| {
            let Some(b) = body(c) else { return };
            let mut number = n;
            let renamed = at(b, &mut number, &mut |b, i| inline(b, i, region)).unwrap_or_default();
            for (from, to) in renamed {
                substitute(b, from, to);
            }
        }) {
            return;
        }
    }
}

/// Replaces an op by the ops of one of its regions. Returns the replacements for its arguments and results.
fn inline(block: &mut Block, i: usize, region: usize) -> Vec<(Value, Value)> {
    let op = block.ops[i].clone();
    let mut inner = op.regions[region].clone();
    let Some(end) = inner.ops.pop() else { return vec![] };
    let mut renamed = vec![];
    match op.kind {
        OpKind::If if end.kind == OpKind::Yield => {}
        OpKind::For { .. } if matches!(end.kind, OpKind::Continue) => {
            renamed.push((inner.arguments[0], op.operands[0]));
            renamed.extend(inner.arguments[1..].iter().copied().zip(op.operands[3..].iter().copied()));
        }
        _ => return vec![],
    }
    renamed.extend(op.results.iter().copied().zip(end.operands.iter().copied()));
    block.ops.splice(i..=i, inner.ops);
    renamed
}

/// Replaces uses of `from` by `to`.
fn substitute(block: &mut Block, from: Value, to: Value) {
    for op in &mut block.ops {
        for v in &mut op.operands {
            if *v == from {
                *v = to;
            }
        }
        for r in &mut op.regions {
            substitute(r, from, to);
        }
    }
}

/// Removes options of ops.
fn simplify_ops(best: &mut Case, kept: &mut Kept<'_>) {
    for n in 0..size(best) {
        kept(best, &|c| change_op(c, n, &mut |b, i| plain(&mut b.ops[i])));
        for what in 0..3 {
            kept(best, &|c| change_op(c, n, &mut |b, i| without(&mut b.ops[i], what)));
        }
        kept(best, &|c| {
            change_op(c, n, &mut |b, i| {
                if let OpKind::Constant(bits) = &mut b.ops[i].kind
                    && let Some(first) = bits.first().copied()
                {
                    *bits = [first].into();
                }
            })
        });
    }
}

fn plain(op: &mut Op) {
    match &mut op.kind {
        OpKind::AddF(m) | OpKind::SubF(m) | OpKind::MulF(m) | OpKind::DivF(m) | OpKind::Fma(m) | OpKind::Sqrt(m) => {
            *m = FloatMode::default();
        }
        OpKind::Rsqrt { flush } | OpKind::Exp2 { flush } => *flush = false,
        OpKind::Exp { rounding } | OpKind::Tanh { rounding } => *rounding = Rounding::Full,
        OpKind::MaxF { propagate_nan, flush } | OpKind::MinF { propagate_nan, flush } => {
            (*propagate_nan, *flush) = (false, false);
        }
        OpKind::AddI(o) | OpKind::SubI(o) | OpKind::MulI(o) | OpKind::ShlI(o) | OpKind::NegI(o) | OpKind::TruncI(o) => {
            *o = Overflow::default();
        }
        OpKind::LoadPtr { access, .. }
        | OpKind::StorePtr { access, .. }
        | OpKind::LoadView { access, .. }
        | OpKind::StoreView { access, .. } => *access = AccessOrder::WEAK,
        OpKind::Scan { reverse, .. } => *reverse = false,
        OpKind::MmaF { fast_acc } => *fast_acc = false,
        _ => {}
    }
}

/// Removes optional operands or parts: the token, the mask with its padding, an `else`.
fn without(op: &mut Op, what: usize) {
    match (&mut op.kind, what) {
        (
            OpKind::LoadPtr { token, .. }
            | OpKind::StorePtr { token, .. }
            | OpKind::AtomicCas { token, .. }
            | OpKind::AtomicRmw { token, .. }
            | OpKind::LoadView { token, .. }
            | OpKind::StoreView { token, .. }
            | OpKind::AtomicRedView { token, .. }
            | OpKind::Print { token, .. },
            0,
        ) if *token => {
            *token = false;
            op.operands.pop();
        }
        (OpKind::LoadPtr { mask, padding, .. }, 1) if *mask => {
            let end = if *padding { 3 } else { 2 };
            (*mask, *padding) = (false, false);
            op.operands.drain(1..end);
        }
        (OpKind::StorePtr { mask, .. } | OpKind::AtomicRmw { mask, .. }, 1) if *mask => {
            *mask = false;
            op.operands.remove(2);
        }
        (OpKind::If, 2) if op.results.is_empty() => {
            if let Some(other) = op.regions.get_mut(1) {
                *other = Block::default();
            }
        }
        _ => {}
    }
}

/// Halves an extent in all types that contain it.
fn halve_extents(best: &mut Case, kept: &mut Kept<'_>) {
    let mut extents: BTreeSet<usize> = BTreeSet::new();
    for t in best.program.entries.iter().flat_map(|e| &e.types) {
        if let Type::Tile(t) = t {
            extents.extend(t.shape.iter().copied().filter(|d| *d > 1));
        }
    }
    for extent in extents.into_iter().rev() {
        let mut from = extent;
        while from > 1 && kept(best, &|c| resize(c, from, from / 2)) {
            from /= 2;
        }
    }
}

fn resize(case: &mut Case, from: usize, to: usize) {
    let fix = |d: &mut usize| {
        if *d == from {
            *d = to;
        }
    };
    for e in &mut case.program.entries {
        for t in &mut e.types {
            match t {
                Type::Tile(t) => t.shape.iter_mut().for_each(fix),
                Type::View(v) => {
                    v.tile.iter_mut().for_each(fix);
                    if let Tiling::Strided { steps, .. } = &mut v.tiling {
                        steps.iter_mut().for_each(|s| *s = (*s).min(1 << 20));
                    }
                }
                _ => {}
            }
        }
        let types = e.types.clone();
        crate::generate::visit(&mut e.body, &mut |op| {
            if let (OpKind::Constant(bits), Some(r)) = (&mut op.kind, op.results.first())
                && let Type::Tile(t) = &types[r.index()]
                && bits.len() > 1
            {
                *bits = bits[..t.count().min(bits.len())].into();
            }
        });
    }
}

/// Simplifies the contents of memory and scalars.
fn simplify_data(best: &mut Case, kept: &mut Kept<'_>) {
    for p in 0..best.parameters.len() {
        kept(best, &|c| match c.parameters.get_mut(p) {
            Some(Parameter::Buffer { bytes, .. }) => bytes.fill(0),
            Some(Parameter::Scalar { bits, .. }) => *bits = 0,
            None => {}
        });
        let Some(Parameter::Buffer { bytes, .. }) = best.parameters.get(p) else { continue };
        let mut length = bytes.len();
        // Shrink the buffer.
        while length > 8
            && kept(best, &|c| {
                if let Some(Parameter::Buffer { bytes, .. }) = c.parameters.get_mut(p) {
                    bytes.truncate((length / 2).next_multiple_of(8));
                }
            })
        {
            length = (length / 2).next_multiple_of(8);
        }
        let mut steps = 120;
        zero(best, kept, p, 0..length, &mut steps);
    }
    for g in 0..best.program.globals.len() {
        kept(best, &|c| c.program.globals[g].values.fill(0));
    }
}

/// Sets as much of a buffer to zero as the test allows.
fn zero(best: &mut Case, kept: &mut Kept<'_>, p: usize, range: std::ops::Range<usize>, steps: &mut usize) {
    let all_zero = match best.parameters.get(p) {
        Some(Parameter::Buffer { bytes, .. }) => bytes.get(range.clone()).is_none_or(|b| b.iter().all(|b| *b == 0)),
        _ => true,
    };
    if all_zero || *steps == 0 {
        return;
    }
    *steps -= 1;
    let done = kept(best, &|c| {
        if let Some(Parameter::Buffer { bytes, .. }) = c.parameters.get_mut(p) {
            bytes[range.clone()].fill(0);
        }
    });
    if !done && range.len() > 1 {
        let middle = range.start + range.len() / 2;
        zero(best, kept, p, range.start..middle, steps);
        zero(best, kept, p, middle..range.end, steps);
    }
}

/// Removes unused parameters and globals, and, with `ops`, unused ops without effects.
fn tidy(case: &mut Case, ops: bool) {
    let Some(entry) = case.program.entries.first_mut() else { return };
    if ops {
        loop {
            let mut used = BTreeSet::new();
            collect(&entry.body, &mut used);
            if !sweep(&mut entry.body, &used) {
                break;
            }
        }
    }
    let mut used = BTreeSet::new();
    collect(&entry.body, &mut used);
    let mut i = 0;
    let Entry { body, .. } = entry;
    body.arguments.retain(|v| {
        let keep = used.contains(v);
        if !keep {
            case.parameters.remove(i);
        } else {
            i += 1;
        }
        keep
    });
    let mut names = BTreeSet::new();
    crate::generate::visit(&mut entry.body, &mut |op| {
        if let OpKind::GetGlobal(name) = &op.kind {
            names.insert(name.clone());
        }
    });
    case.program.globals.retain(|g| names.contains(&g.name));
    // Types of removed values no longer count when extents are collected.
    let mut live = used;
    fn results(b: &Block, live: &mut BTreeSet<Value>) {
        live.extend(&b.arguments);
        for op in &b.ops {
            live.extend(&op.results);
            op.regions.iter().for_each(|r| results(r, live));
        }
    }
    results(&entry.body, &mut live);
    for (i, t) in entry.types.iter_mut().enumerate() {
        if !live.contains(&Value(i as u32)) {
            *t = Type::Tile(TileType::new(&[], Element::Number(Number::I1)));
        }
    }
}

fn collect(block: &Block, used: &mut BTreeSet<Value>) {
    for op in &block.ops {
        used.extend(&op.operands);
        op.regions.iter().for_each(|r| collect(r, used));
    }
}

fn sweep(block: &mut Block, used: &BTreeSet<Value>) -> bool {
    let before = block.ops.len();
    block.ops.retain(|op| has_effects(op) || op.results.iter().any(|r| used.contains(r)));
    let mut changed = block.ops.len() != before;
    for op in &mut block.ops {
        for r in &mut op.regions {
            changed |= sweep(r, used);
        }
    }
    changed
}

fn has_effects(op: &Op) -> bool {
    match &op.kind {
        OpKind::StorePtr { .. }
        | OpKind::StoreView { .. }
        | OpKind::AtomicCas { .. }
        | OpKind::AtomicRmw { .. }
        | OpKind::AtomicRedView { .. }
        | OpKind::MultimemReduce { .. }
        | OpKind::MultimemStore { .. }
        | OpKind::Print { .. }
        | OpKind::Assert(_) => true,
        k if is_terminator(k) => true,
        OpKind::If | OpKind::For { .. } | OpKind::Loop => {
            // A region that contains only its terminator has no effects.
            op.kind == OpKind::Loop
                || op.regions.iter().flat_map(|r| &r.ops).any(|o| {
                    has_effects(o)
                        && !(matches!(o.kind, OpKind::Yield)
                            || (matches!(o.kind, OpKind::Continue) && op.kind != OpKind::If))
                })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{generate, visit};
    use std::time::Duration;
    use tile_interp::machine::Limits;

    fn has(case: &Case, wanted: &dyn Fn(&OpKind) -> bool) -> bool {
        let mut found = false;
        let mut body = case.program.entries[0].body.clone();
        visit(&mut body, &mut |op| found |= wanted(&op.kind));
        found
    }

    /// The test requires one op, so a small program with that op must remain.
    #[test]
    fn programs_become_small() {
        let limits =
            Limits { ops: Some(1_000_000), time: Some(Duration::from_secs(20)), races: true, ..Limits::default() };
        let mut reduced = 0;
        for seed in 0..80 {
            let Some(mut case) = generate(seed) else { continue };
            let wanted = |k: &OpKind| matches!(k, OpKind::Scan { .. });
            // Skip programs in which every scan is unused.
            tidy(&mut case, true);
            if !has(&case, &wanted) {
                continue;
            }
            let small = reduce(case, &mut |c| has(c, &wanted) && c.meaning(limits).is_ok());
            assert!(size(&small) <= 20, "{} ops of seed {seed}", size(&small));
            assert!(small.meaning(limits).is_ok());
            reduced += 1;
        }
        assert!(reduced >= 2, "{reduced} programs have a scan");
    }
}
