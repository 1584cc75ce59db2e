//! Random programs.
//!
//! A program is generated op by op. Operands are values in scope, or new values if none fits, so every program passes
//! the verifier. Most undefined behavior is avoided: divisors are made odd, indices are taken modulo the extent, and
//! so on. The remaining undefined behavior (mostly broken promises of no overflow) is found by running the
//! interpreter and then removed ([`repair`]).
//!
//! A generated program is deterministic. Each tile block writes to separate elements, and accesses to one element are
//! ordered by tokens unless they are atomic and commute. The old values that atomic updates return are used only if
//! no other update touches the element.
//!
//! Approximate results ([`Traits::approximate`]) are operands of few other ops, because the interpreter could not
//! determine their results.

mod aggregate;
mod control;
mod dots;
mod memory;
mod nests;
mod ops;
mod values;

use crate::case::{Case, Meaning, Parameter};
use crate::rng::Rng;
use std::sync::Arc;
use std::time::Duration;
use tile_interp::machine::{Cause, Limits};
use tile_interp::program::{Block, Entry, Op, OpKind, Overflow, Program, Value};
use tile_interp::types::{Element, Number, Shape, TileType, Type};

/// The generator's knowledge about a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Traits {
    /// Known only approximately.
    approximate: bool,
    /// Integers, or floats with integral values, of magnitude at most eight.
    small: bool,
}

/// The requirement on an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Any,
    /// Not approximate.
    Exact,
    Small,
}

/// A read-only buffer.
struct Input {
    pointer: Value,
    number: Number,
    count: usize,
    small: bool,
}

struct Generator {
    rng: Rng,
    program: Program,
    entry: Entry,
    parameters: Vec<Parameter>,
    grid: [u32; 3],
    /// Ops of the open blocks, from the entry's inward.
    open: Vec<Vec<Op>>,
    /// Values in scope of each open block.
    scopes: Vec<Vec<Value>>,
    traits: Vec<Traits>,
    /// The shapes that the program prefers.
    shapes: Vec<Shape>,
    inputs: Vec<Input>,
    /// The number of the tile block, as i32.
    block_id: Value,
    /// Number of enclosing loops.
    loops: usize,
    /// Number of ops that may still be added.
    budget: usize,
}

/// The number types with arithmetic.
const FLOATS: [Number; 4] = [Number::F32, Number::F16, Number::Bf16, Number::F64];
const INTEGERS: [Number; 5] = [Number::I32, Number::I64, Number::I16, Number::I8, Number::I1];
const STORAGE: [Number; 5] = [Number::E4m3, Number::E5m2, Number::E5m3, Number::Tf32, Number::E8m0];

/// The case of a seed; `None` if its undefined behavior could not be repaired.
pub fn generate(seed: u64) -> Option<Case> {
    generate_with_meaning(seed).map(|(case, _)| case)
}

/// The kind of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Arbitrary ops.
    Mixed,
    /// Dots of tiles of views.
    Dots,
    /// Nested loops and branches with dots at every level.
    Nests,
}

impl Kind {
    /// Each kind is decided independently, so a program does not change if the share of another kind does.
    pub fn of(seed: u64) -> Kind {
        if Rng::new(!seed).one_in(16) {
            Kind::Dots
        } else if Rng::new(seed.rotate_left(32)).one_in(16) {
            Kind::Nests
        } else {
            Kind::Mixed
        }
    }
}

/// As [`generate`], with the expected results, which the generator computes anyway.
pub fn generate_with_meaning(seed: u64) -> Option<(Case, Meaning)> {
    let mut g = Generator::new(Rng::new(seed));
    match Kind::of(seed) {
        Kind::Mixed => g.program(),
        Kind::Dots => g.dots_of_views(),
        Kind::Nests => g.nest(),
    }
    repair(g.finish())
}

/// Removes undefined behavior from a case.
fn repair(mut case: Case) -> Option<(Case, Meaning)> {
    let limits = Limits { ops: Some(2_000_000), time: Some(Duration::from_secs(20)), races: true, ..Limits::default() };
    for _ in 0..40 {
        let error = match case.meaning(limits) {
            Ok(meaning) => return meaning.failed_assertions.is_empty().then_some((case, meaning)),
            Err(e) => e,
        };
        if !matches!(error.cause, Cause::Undefined(_) | Cause::Outside { .. }) {
            return None;
        }
        let mut changed = false;
        for e in &mut case.program.entries {
            visit(&mut e.body, &mut |op| {
                if op.location == error.location {
                    changed |= defuse(&mut op.kind);
                }
            });
        }
        if !changed {
            return None;
        }
    }
    None
}

/// Weakens the promises of an op.
fn defuse(kind: &mut OpKind) -> bool {
    match kind {
        OpKind::AddI(o) | OpKind::SubI(o) | OpKind::MulI(o) | OpKind::ShlI(o) | OpKind::NegI(o) | OpKind::TruncI(o) => {
            let changed = *o != Overflow::default();
            *o = Overflow::default();
            changed
        }
        OpKind::DivI { .. } | OpKind::RemI(_) => {
            *kind = OpKind::XorI;
            true
        }
        _ => false,
    }
}

/// Visits every op in pre-order.
pub fn visit(block: &mut Block, f: &mut impl FnMut(&mut Op)) {
    for op in &mut block.ops {
        f(op);
        for r in &mut op.regions {
            visit(r, f);
        }
    }
}

impl Generator {
    fn new(mut rng: Rng) -> Generator {
        let grid = [rng.pick(&[1, 1, 2, 3]), rng.pick(&[1, 1, 1, 2]), rng.pick(&[1, 1, 1, 1, 2])];
        let mut shapes = vec![vec![]];
        for _ in 0..3 {
            shapes.push(Generator::random_shape(&mut rng));
        }
        let budget = rng.pick(&[6, 12, 20, 40]);
        Generator {
            rng,
            program: Program { name: "fuzz".into(), ..Program::default() },
            entry: Entry { name: "kernel".into(), ..Entry::default() },
            parameters: vec![],
            grid,
            open: vec![vec![]],
            scopes: vec![vec![]],
            traits: vec![],
            shapes,
            inputs: vec![],
            block_id: Value(0),
            loops: 0,
            budget,
        }
    }

    fn random_shape(rng: &mut Rng) -> Shape {
        let rank = rng.pick(&[1, 1, 2, 2, 2, 3]);
        let most = rng.pick(&[5u32, 8, 8, 10, 11]);
        let mut left = most;
        (0..rank)
            .map(|_| {
                let bits = rng.below(left as usize + 1) as u32;
                left -= bits;
                1usize << bits
            })
            .collect()
    }

    fn blocks(&self) -> usize {
        self.grid.iter().product::<u32>() as usize
    }

    //===-- building --------------------------------------------------------//

    fn value(&mut self, ty: Type, traits: Traits) -> Value {
        self.traits.push(traits);
        self.entry.value(ty)
    }

    fn ty(&self, v: Value) -> TileType {
        self.entry.ty(v).tile().cloned().unwrap_or_else(|| TileType::scalar(Number::I32))
    }

    /// Appends an op and puts its results in scope.
    fn emit_all(
        &mut self,
        kind: OpKind,
        operands: &[Value],
        results: &[(Type, Traits)],
        regions: Vec<Block>,
    ) -> Vec<Value> {
        let location: Arc<str> =
            format!("#{}", self.entry.types.len() + self.open.iter().map(Vec::len).sum::<usize>()).into();
        let mut values = vec![];
        for (t, traits) in results {
            let v = self.value(t.clone(), *traits);
            values.push(v);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(&values);
        }
        let op = Op { kind, operands: operands.to_vec(), results: values.clone(), regions, location };
        if let Some(ops) = self.open.last_mut() {
            ops.push(op);
        }
        values
    }

    /// Appends an op with one result, a tile.
    fn emit(&mut self, kind: OpKind, operands: &[Value], result: TileType, traits: Traits) -> Value {
        self.emit_all(kind, operands, &[(result.into(), traits)], vec![])[0]
    }

    /// An op whose result is known as exactly as its operands.
    fn derive(&mut self, kind: OpKind, operands: &[Value], result: TileType) -> Value {
        let approximate = operands.iter().any(|v| self.traits[v.index()].approximate);
        self.emit(kind, operands, result, Traits { approximate, small: false })
    }

    /// An op that only moves elements.
    fn rearrange(&mut self, kind: OpKind, operands: &[Value], result: TileType) -> Value {
        let all = |f: fn(&Traits) -> bool, g: &Self| operands.iter().all(|v| f(&g.traits[v.index()]));
        let traits = Traits { approximate: !all(|t| !t.approximate, self), small: all(|t| t.small, self) };
        self.emit(kind, operands, result, traits)
    }

    fn parameter(&mut self, ty: TileType, argument: Parameter, traits: Traits) -> Value {
        let v = self.value(ty.into(), traits);
        self.entry.body.arguments.push(v);
        self.scopes[0].push(v);
        self.parameters.push(argument);
        v
    }

    /// Opens a block with arguments, fills it, and closes it.
    fn block(&mut self, arguments: Vec<Value>, fill: impl FnOnce(&mut Self)) -> Block {
        self.open.push(vec![]);
        self.scopes.push(arguments.clone());
        fill(self);
        self.scopes.pop();
        Block { arguments, ops: self.open.pop().unwrap_or_default() }
    }

    fn end(&mut self, kind: OpKind, operands: &[Value]) {
        self.emit_all(kind, operands, &[], vec![]);
    }

    //===-- choosing --------------------------------------------------------//

    fn fits(&self, v: Value, need: Need) -> bool {
        let t = self.traits[v.index()];
        match need {
            Need::Any => true,
            Need::Exact => !t.approximate,
            Need::Small => t.small,
        }
    }

    /// A tile in scope that `wanted` accepts. Prefers recent ones.
    fn find(&mut self, need: Need, wanted: impl Fn(&TileType) -> bool) -> Option<Value> {
        let all: Vec<Value> = self
            .scopes
            .iter()
            .flatten()
            .copied()
            .filter(|v| self.entry.ty(*v).tile().is_some_and(&wanted) && self.fits(*v, need))
            .collect();
        if all.is_empty() {
            return None;
        }
        // The later half is twice as likely.
        let start = if self.rng.coin() { all.len() / 2 } else { 0 };
        Some(all[start + self.rng.below(all.len() - start)])
    }

    /// A value of the given type, either existing or new.
    fn operand(&mut self, t: &TileType, need: Need) -> Value {
        if !self.rng.one_in(4)
            && let Some(v) = self.find(need, |u| u == t)
        {
            return v;
        }
        self.fresh(t, need)
    }

    fn shape(&mut self) -> Shape {
        let n = self.rng.below(self.shapes.len());
        self.shapes[n].clone()
    }

    fn float(&mut self) -> Number {
        self.rng.pick(&[Number::F32, Number::F32, Number::F16, Number::Bf16, Number::F64])
    }

    fn integer(&mut self) -> Number {
        self.rng.pick(&[Number::I32, Number::I32, Number::I64, Number::I16, Number::I8, Number::I1])
    }

    //===-- the whole -------------------------------------------------------//

    fn program(&mut self) {
        self.block_number();
        while self.budget > 0 {
            self.statement();
        }
        self.store_results();
        self.end(OpKind::Return, &[]);
    }

    /// Computes `x + gx * (y + gy * z)` from the tile block's position.
    fn block_number(&mut self) {
        let i32 = TileType::scalar(Number::I32);
        let results = [(); 3].map(|_| (Type::Tile(i32.clone()), Traits::default()));
        let at = self.emit_all(OpKind::GetTileBlockId, &[], &results, vec![]);
        let extents = if self.rng.coin() {
            self.emit_all(OpKind::GetNumTileBlocks, &[], &results, vec![])
        } else {
            self.grid.map(|n| self.scalar(Number::I32, n.into())).to_vec()
        };
        let none = OpKind::MulI(Overflow::default());
        let z = self.derive(none.clone(), &[at[2], extents[1]], i32.clone());
        let yz = self.derive(OpKind::AddI(Overflow::default()), &[at[1], z], i32.clone());
        let row = self.derive(none, &[yz, extents[0]], i32.clone());
        self.block_id = self.derive(OpKind::AddI(Overflow::default()), &[at[0], row], i32);
    }

    fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        match self.rng.below(100) {
            0..24 => self.float_op(),
            24..42 => self.integer_op(),
            42..48 => self.comparison(),
            48..58 => self.conversion(),
            58..70 => self.shape_op(),
            70..76 => self.aggregate(),
            76..79 => self.dot(),
            79..86 => self.memory_op(),
            86..89 => self.remark(),
            _ => self.control(),
        }
    }

    /// Stores the last results and some of the others, so that the ops are observable.
    fn store_results(&mut self) {
        let candidates: Vec<Value> = self.scopes[0]
            .iter()
            .copied()
            .filter(|v| self.entry.ty(*v).tile().is_some_and(|t| storable(t.element)))
            .filter(|v| !self.entry.body.arguments.contains(v))
            .collect();
        let last = candidates.len().saturating_sub(4);
        for v in candidates[last..].iter().copied() {
            self.store_output(v);
        }
        for _ in 0..3 {
            if let Some(v) = (!candidates.is_empty()).then(|| self.rng.pick(&candidates)) {
                self.store_output(v);
            }
        }
    }

    fn finish(mut self) -> Case {
        self.entry.body.ops = self.open.pop().unwrap_or_default();
        self.program.entries.push(self.entry);
        Case { program: self.program, grid: self.grid, parameters: self.parameters }
    }
}

/// Whether elements can be stored individually.
fn storable(e: Element) -> bool {
    match e {
        Element::Number(n) => !matches!(n, Number::I4 | Number::E2m1),
        Element::Pointer(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::census;

    /// Checks that nearly every seed has a program whose results can be compared.
    #[test]
    fn programs_have_a_meaning() {
        let limits =
            Limits { ops: Some(2_000_000), time: Some(Duration::from_secs(20)), races: true, ..Limits::default() };
        let (mut none, mut guesses, mut elements) = (0, 0, [0; 3]);
        for seed in 0..100 {
            let Some((case, meaning)) = generate_with_meaning(seed) else {
                none += 1;
                continue;
            };
            assert_eq!(case.meaning(limits).unwrap(), meaning);
            guesses += usize::from(meaning.guess.is_some());
            for (sum, n) in elements.iter_mut().zip(census(&meaning)) {
                *sum += n;
            }
        }
        assert!(none <= 5 && guesses <= 5, "{none} without a program, {guesses} decided by a guess");
        let [exact, near, unknown] = elements;
        assert!(unknown * 20 < exact, "{exact} exact, {near} approximate, {unknown} unknown");
    }

    #[test]
    fn the_same_number_gives_the_same_program() {
        assert_eq!(generate(3), generate(3));
        assert_ne!(generate(3), generate(4));
    }
}
