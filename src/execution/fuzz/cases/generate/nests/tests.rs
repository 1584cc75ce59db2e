//! Counts the kernel features in generated programs.

use super::super::{Case, Generator, Kind, generate_with_meaning};
use crate::case::census;
use crate::rng::Rng;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tile_interp::program::{Block, Entry, Op, OpKind, Value};
use tile_interp::types::{Element, Number, Type};

fn seeds(count: usize) -> impl Iterator<Item = u64> {
    (0..).filter(|seed| Kind::of(*seed) == Kind::Nests).take(count)
}

/// The program before repair.
fn program(seed: u64) -> Case {
    let mut g = Generator::new(Rng::new(seed));
    g.nest();
    g.finish()
}

/// An op and its position in the program.
struct OpPosition<'a> {
    op: &'a Op,
    /// The enclosing ops, by number, with the index of the region, from the outermost inward.
    around: Vec<(usize, usize)>,
}

struct Map<'a> {
    entry: &'a Entry,
    positions: Vec<OpPosition<'a>>,
    made_by: HashMap<Value, usize>,
    /// The op whose region has the value as an argument.
    carried_by: HashMap<Value, usize>,
}

impl<'a> Map<'a> {
    fn of(entry: &'a Entry) -> Self {
        let mut map = Map { entry, positions: vec![], made_by: HashMap::new(), carried_by: HashMap::new() };
        map.note(&entry.body, &[]);
        map
    }

    fn note(&mut self, block: &'a Block, around: &[(usize, usize)]) {
        for op in &block.ops {
            let number = self.positions.len();
            self.positions.push(OpPosition { op, around: around.to_vec() });
            self.made_by.extend(op.results.iter().map(|r| (*r, number)));
            for (r, region) in op.regions.iter().enumerate() {
                self.carried_by.extend(region.arguments.iter().map(|a| (*a, number)));
                self.note(region, &[around, &[(number, r)]].concat());
            }
        }
    }

    fn kind(&self, number: usize) -> &OpKind {
        &self.positions[number].op.kind
    }

    fn is_dot(&self, number: usize) -> bool {
        matches!(self.kind(number), OpKind::MmaF { .. } | OpKind::MmaI { .. })
    }

    fn is_loop(&self, number: usize) -> bool {
        matches!(self.kind(number), OpKind::For { .. } | OpKind::Loop)
    }

    fn all(&self, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.positions.len()).filter(|n| wanted(*n)).collect()
    }

    /// The enclosing op.
    fn parent(&self, number: usize) -> Option<usize> {
        self.positions[number].around.last().map(|(op, _)| *op)
    }

    fn is_inside(&self, number: usize, around: usize) -> bool {
        self.positions[number].around.iter().any(|(op, _)| *op == around)
    }

    fn has_dot(&self, around: usize) -> bool {
        (0..self.positions.len()).any(|n| self.is_dot(n) && self.is_inside(n, around))
    }

    fn side_has_dot(&self, branch: usize, side: usize) -> bool {
        (0..self.positions.len()).any(|n| self.is_dot(n) && self.positions[n].around.contains(&(branch, side)))
    }

    /// The ops that an operand is computed from elementwise, back to loads, dots and ops with regions.
    fn origins(&self, v: Value) -> BTreeSet<usize> {
        let (mut work, mut found) = (vec![v], BTreeSet::new());
        while let Some(v) = work.pop() {
            let Some(&made) = self.made_by.get(&v) else { continue };
            let op = self.positions[made].op;
            let stops = self.is_dot(made)
                || !op.regions.is_empty()
                || matches!(op.kind, OpKind::LoadView { .. } | OpKind::LoadPtr { .. });
            if found.insert(made) && !stops {
                work.extend(&op.operands);
            }
        }
        found
    }

    fn rank(&self, v: Value) -> usize {
        self.entry.ty(v).tile().map_or(0, |t| t.shape.len())
    }

    fn number(&self, v: Value) -> Option<Number> {
        self.entry.ty(v).tile().and_then(|t| t.element.number())
    }
}

/// The kernel features of a program.
fn features(entry: &Entry) -> BTreeSet<String> {
    let map = Map::of(entry);
    let dots = map.all(|n| map.is_dot(n));
    let loops = map.all(|n| map.is_loop(n) && map.has_dot(n));
    let mut out = BTreeSet::new();
    let mut note = |holds: bool, name: &str| {
        if holds {
            out.insert(name.to_string());
        }
    };
    for &p in &dots {
        let op = map.positions[p].op;
        note(map.positions[p].around.len() >= 4, "a dot four deep");
        note(map.rank(op.results[0]) == 3, "a batched dot");
        for v in &op.operands[..2] {
            if let Some(n) = map.number(*v) {
                note(true, &format!("an operand of {}", n.keyword()));
            }
            note(map.carried_by.get(v).is_some_and(|l| map.is_loop(*l)), "a carried operand");
            let origins = map.origins(*v);
            let any = |wanted: &dyn Fn(usize) -> bool| origins.iter().any(|o| wanted(*o));
            let from_loop = |o: usize| map.is_loop(o) && map.has_dot(o);
            let is_load = |o: usize| matches!(map.kind(o), OpKind::LoadView { .. });
            let is_computed = origins.iter().any(|o| matches!(map.kind(*o), OpKind::AddF(_) | OpKind::MaxF { .. }));
            note(any(&|o| map.is_dot(o)), "an operand that is computed from a dot");
            note(any(&|o| from_loop(o)), "an operand that is computed from the result of a loop");
            note(any(&is_load) && is_computed, "an operand that is computed from a tile");
            note(
                any(&|o| is_load(o) && map.parent(o) == map.parent(p) && map.parent(p).is_some()),
                "a tile of the level",
            );
        }
        // All on one accumulator.
        let earlier = map.made_by.get(&op.operands[2]).copied().filter(|l| loops.contains(l));
        note(earlier.is_some(), "a dot that adds to the result of a loop");
        let starts =
            |l: usize| map.positions[l].op.operands.iter().any(|v| map.made_by.get(v).is_some_and(|m| map.is_dot(*m)));
        note(earlier.is_some_and(starts), "a dot, a loop of dots and a dot on one sum");
        // Used by another op before it is added to another accumulator.
        let adds_other = |o: usize| {
            matches!(map.kind(o), OpKind::AddF(_))
                && map.positions[o].op.operands.iter().any(|v| map.made_by.get(v).is_some_and(|m| map.is_dot(*m)))
                && map.positions[o].op.operands.iter().any(|v| {
                    map.made_by.get(v).is_some_and(|m| {
                        matches!(map.kind(*m), OpKind::MaxF { .. }) && map.origins(*v).iter().any(|x| map.is_dot(*x))
                    })
                })
        };
        note(!map.all(adds_other).is_empty(), "max(dot, 0) + dot");
    }
    for &l in &loops {
        let op = map.positions[l].op;
        let inner: Vec<usize> = loops.iter().copied().filter(|i| map.is_inside(*i, l)).collect();
        let direct: Vec<usize> = dots.iter().copied().filter(|p| map.parent(*p) == Some(l)).collect();
        note(!inner.is_empty() && !direct.is_empty(), "dots in a loop and in one inside of it");
        for &i in &inner {
            let (before, after) = (direct.iter().any(|p| *p < i), direct.iter().any(|p| *p > i));
            note(before && after && map.parent(i) == Some(l), "dots before and after an inner loop");
        }
        note(loops.iter().any(|o| *o > l && map.positions[*o].around == map.positions[l].around), "loops in a row");
        note(matches!(op.kind, OpKind::Loop), "a loop that ends by a condition");
        let sums =
            op.results.iter().filter(|r| map.number(**r).is_some_and(|n| matches!(n, Number::F32 | Number::I32)));
        note(sums.count() >= 2, "several sums of one loop");
        note(op.results.iter().any(|r| matches!(entry.ty(*r), Type::Token)), "a loop that carries a token");
        let from_counter = |v: &Value| {
            map.carried_by.contains_key(v)
                || map
                    .origins(*v)
                    .iter()
                    .any(|o| map.positions[*o].op.operands.iter().any(|v| map.carried_by.contains_key(v)))
        };
        let counts = matches!(op.kind, OpKind::For { .. });
        note(counts && op.operands[..2].iter().any(from_counter), "bounds that depend on a loop around");
    }
    for b in map.all(|n| matches!(map.kind(n), OpKind::If)) {
        let op = map.positions[b].op;
        let sides = [0, 1].map(|s| map.side_has_dot(b, s));
        note(sides == [true; 2], "dots in both sides of a branch");
        note(sides[0] != sides[1] && op.regions.iter().any(|r| r.ops.len() == 1), "a dot in one side of a branch");
        for end in op.regions.iter().filter_map(|r| r.ops.last()) {
            note(matches!(end.kind, OpKind::Continue), "an iteration that is left");
            note(matches!(end.kind, OpKind::Break), "a loop that is left");
            note(matches!(end.kind, OpKind::Return), "a return in front");
        }
    }
    let in_loop = |n: usize| map.positions[n].around.iter().any(|(o, _)| map.is_loop(*o));
    let stores = map.all(|n| in_loop(n) && matches!(map.kind(n), OpKind::StoreView { token: true, .. }));
    let loads = map.all(|n| in_loop(n) && matches!(map.kind(n), OpKind::LoadView { token: true, .. }));
    note(!stores.is_empty() && !loads.is_empty(), "stores and loads in order");
    let mut shown: BTreeMap<Value, usize> = BTreeMap::new();
    for t in map.all(|n| matches!(map.kind(n), OpKind::MakeTensorView)) {
        let base = map.positions[t].op.operands[0];
        *shown.entry(base).or_default() += 1;
    }
    let is_loaded = |base: &Value| matches!(entry.ty(*base).tile().map(|t| t.element), Some(Element::Pointer(_)));
    note(shown.iter().any(|(base, n)| *n > 1 && is_loaded(base)), "two views of one buffer");
    out
}

/// Checks that every kernel shape which this generator targets occurs, often enough to appear in a campaign.
#[test]
fn shapes_of_kernels_occur() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let number = 400;
    for seed in seeds(number) {
        for feature in features(&program(seed).program.entries[0]) {
            *counts.entry(feature).or_default() += 1;
        }
    }
    let wanted = [
        "a batched dot",
        "a carried operand",
        "a loop that carries a token",
        "a loop that ends by a condition",
        "a loop that is left",
        "a dot four deep",
        "a dot in one side of a branch",
        "a dot that adds to the result of a loop",
        "a dot, a loop of dots and a dot on one sum",
        "a return in front",
        "a tile of the level",
        "an iteration that is left",
        "an operand of bf16",
        "an operand of f16",
        "an operand of f8E4M3FN",
        "an operand of f8E5M2",
        "an operand of i8",
        "an operand of tf32",
        "an operand that is computed from a dot",
        "an operand that is computed from a tile",
        "an operand that is computed from the result of a loop",
        "bounds that depend on a loop around",
        "loops in a row",
        "max(dot, 0) + dot",
        "dots before and after an inner loop",
        "dots in a loop and in one inside of it",
        "dots in both sides of a branch",
        "several sums of one loop",
        "stores and loads in order",
        "two views of one buffer",
    ];
    let rare: Vec<&str> = wanted.into_iter().filter(|f| counts.get(*f).copied().unwrap_or(0) * 100 < number).collect();
    assert!(rare.is_empty(), "in fewer than one program of a hundred: {rare:?}");
}

/// Checks that the interpreter runs the programs and that their results are known.
#[test]
fn nests_have_a_meaning() {
    let mut elements = [0; 3];
    for seed in seeds(100) {
        let (_, meaning) = generate_with_meaning(seed).unwrap_or_else(|| panic!("{seed} has no program"));
        assert!(meaning.guess.is_none(), "{seed} is decided by a guess");
        for (sum, n) in elements.iter_mut().zip(census(&meaning)) {
            *sum += n;
        }
    }
    let [exact, near, unknown] = elements;
    assert!(near * 50 < exact && unknown * 50 < exact, "{exact} exact, {near} approximate, {unknown} unknown");
}

/// Checks the share of each kind: a nest is one program in seventeen.
#[test]
fn shares_of_kinds() {
    let of = |kind| (0..16_000).filter(|seed| Kind::of(*seed) == kind).count();
    let shares = [Kind::Dots, Kind::Nests, Kind::Mixed].map(of);
    assert!((900..1100).contains(&shares[0]) && (850..1050).contains(&shares[1]), "{shares:?}");
}
