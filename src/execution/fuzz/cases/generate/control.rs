//! Branches and loops, with early exits.

use super::{Generator, Need, Traits};
use tile_interp::program::{Block, OpKind, Overflow, Predicate, Signedness, Value};
use tile_interp::types::{Number, TileType, Type};

impl Generator {
    pub(super) fn control(&mut self) {
        if self.open.len() > 3 || self.budget < 2 {
            return self.integer_op();
        }
        match self.rng.below(8) {
            0..3 => self.branch(),
            3..6 => self.count(),
            6 => self.repeat(),
            _ => self.leave(),
        }
    }

    /// A scalar condition, which may depend on the tile block.
    pub(super) fn condition(&mut self) -> Value {
        let n = self.rng.pick(&[Number::I32, Number::I32, Number::I64]);
        let t = TileType::scalar(n);
        let a = if n == Number::I32 && self.rng.coin() { self.block_id } else { self.operand(&t, Need::Exact) };
        let b = self.constant(&t, true);
        let kind = OpKind::CmpI {
            predicate: self.rng.pick(&Predicate::ALL),
            signedness: self.rng.pick(&[Signedness::Signed, Signedness::Unsigned]),
        };
        self.derive(kind, &[a, b], TileType::scalar(Number::I1))
    }

    /// Types of the values that a region yields.
    fn carried_types(&mut self) -> Vec<TileType> {
        let count = self.rng.below(3);
        (0..count)
            .map(|_| {
                let shape = self.shape();
                TileType::of(&shape, self.rng.pick(&[Number::F32, Number::I32, Number::F16, Number::I64, Number::I1]))
            })
            .collect()
    }

    /// Adds some ops.
    fn fill(&mut self) {
        for _ in 0..self.rng.range(1, 4) {
            if self.budget > 0 {
                self.statement();
            }
        }
    }

    fn values_of(&mut self, types: &[TileType]) -> Vec<Value> {
        types.iter().map(|t| self.operand(t, Need::Exact)).collect()
    }

    fn tiles(types: &[TileType]) -> Vec<(Type, Traits)> {
        types.iter().map(|t| (Type::Tile(t.clone()), Traits::default())).collect()
    }

    fn branch(&mut self) {
        let condition = self.condition();
        let types = self.carried_types();
        let one = types.is_empty() && self.rng.coin();
        let mut regions = vec![];
        for i in 0..2 {
            if i == 1 && one {
                regions.push(Block::default());
                continue;
            }
            regions.push(self.block(vec![], |g| {
                g.fill();
                let out = g.values_of(&types);
                g.end(OpKind::Yield, &out);
            }));
        }
        self.emit_all(OpKind::If, &[condition], &Self::tiles(&types), regions);
    }

    /// A branch that leaves with `kind` in one of its regions.
    fn exit(&mut self, condition: Value, kind: OpKind, types: &[TileType]) {
        let leaving = self.block(vec![], |g| {
            if g.rng.coin() && g.budget > 0 {
                g.fill();
            }
            let out = g.values_of(types);
            g.end(kind, &out);
        });
        self.emit_all(OpKind::If, &[condition], &[], vec![leaving, Block::default()]);
    }

    /// A return from the middle of the kernel, for some tile blocks.
    pub(super) fn leave(&mut self) {
        if self.open.len() > 1 {
            return self.branch();
        }
        let t = TileType::scalar(Number::I32);
        let bound = self.rng.range(0, self.blocks() as i64);
        let bound = self.constant_of(&t, bound as u64);
        let kind = OpKind::CmpI { predicate: Predicate::GreaterThan, signedness: Signedness::Signed };
        let condition = self.derive(kind, &[self.block_id, bound], TileType::scalar(Number::I1));
        self.exit(condition, OpKind::Return, &[]);
    }

    fn count(&mut self) {
        let n = self.rng.pick(&[Number::I32, Number::I32, Number::I64, Number::I16, Number::I8]);
        let t = TileType::scalar(n);
        let unsigned = self.rng.one_in(3);
        let low = if unsigned { self.rng.range(0, 3) } else { self.rng.range(-2, 2) };
        let high = low + self.rng.range(-1, 4);
        let high = if unsigned { high.max(0) } else { high };
        let step = self.rng.range(1, 2);
        let mut bounds = vec![];
        for v in [low, high, step] {
            let bits = v as u64 & n.mask();
            bounds.push(if self.rng.one_in(3) { self.argument(n, bits) } else { self.constant_of(&t, bits) });
        }
        let types = self.carried_types();
        let inits = self.values_of(&types);
        let mut arguments = vec![self.value(t.into(), Traits::default())];
        for t in &types {
            arguments.push(self.value(t.clone().into(), Traits::default()));
        }
        self.loops += 1;
        let body = self.block(arguments, |g| {
            g.fill();
            if g.rng.one_in(3) {
                let condition = g.condition();
                g.exit(condition, OpKind::Continue, &types);
                g.fill();
            }
            let out = g.values_of(&types);
            g.end(OpKind::Continue, &out);
        });
        self.loops -= 1;
        let operands: Vec<Value> = bounds.into_iter().chain(inits).collect();
        self.emit_all(OpKind::For { unsigned }, &operands, &Self::tiles(&types), vec![body]);
    }

    /// A loop that ends after a bounded number of iterations.
    fn repeat(&mut self) {
        let i32 = TileType::scalar(Number::I32);
        let types = self.carried_types();
        let results = if self.rng.coin() { types.clone() } else { self.carried_types() };
        let start = self.constant_of(&i32, 0);
        let inits: Vec<Value> = [start].into_iter().chain(self.values_of(&types)).collect();
        let counter = self.value(i32.clone().into(), Traits::default());
        let mut arguments = vec![counter];
        for t in &types {
            arguments.push(self.value(t.clone().into(), Traits::default()));
        }
        let rounds = self.rng.range(0, 4) as u64;
        self.loops += 1;
        let body = self.block(arguments, |g| {
            if g.rng.coin() {
                g.fill();
            }
            let last = g.constant_of(&i32, rounds);
            let kind = OpKind::CmpI { predicate: Predicate::GreaterThanOrEqual, signedness: Signedness::Signed };
            let done = g.derive(kind, &[counter, last], TileType::scalar(Number::I1));
            g.exit(done, OpKind::Break, &results);
            if g.rng.coin() {
                let condition = g.condition();
                g.exit(condition, OpKind::Break, &results);
            }
            g.fill();
            let one = g.constant_of(&i32, 1);
            let next = g.derive(OpKind::AddI(Overflow::default()), &[counter, one], i32.clone());
            let out: Vec<Value> = [next].into_iter().chain(g.values_of(&types)).collect();
            g.end(OpKind::Continue, &out);
        });
        self.loops -= 1;
        self.emit_all(OpKind::Loop, &inits, &Self::tiles(&results), vec![body]);
    }
}
