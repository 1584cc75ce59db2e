//! Loops and branches around steps.

use super::super::{Generator, Traits};
use super::{Carried, DEEPEST, Nest};
use tile_interp::program::{Block, OpKind, Overflow, Predicate, Signedness, Value};
use tile_interp::types::{Number, TileType, Type};

/// Maximum number of times that any point of the program may be reached.
const MAX_EXECUTIONS: usize = 24;

/// The range of a counted loop.
struct Range {
    bounds: [Value; 3],
    /// Upper bounds on the number of iterations and on the counter's value in the last one.
    trips: usize,
    last: u64,
}

impl Generator {
    /// A counted loop, or one that ends with `break`.
    pub(super) fn any_loop(&mut self, n: &mut Nest, state: &mut Carried) {
        if self.rng.one_in(5) { self.repeat_steps(n, state) } else { self.count_steps(n, state) }
    }

    pub(super) fn may_go_deeper(&self, n: &Nest) -> bool {
        n.depth < DEEPEST && n.steps > 0
    }

    /// The indices of the state's tiles that a loop or branch replaces, at least one.
    fn some_tiles(&mut self, state: &Carried) -> Vec<usize> {
        let count = state.tiles.len();
        let mut which: Vec<usize> = (0..count).filter(|_| !self.rng.one_in(3)).collect();
        if which.is_empty() {
            which.push(self.rng.below(count));
        }
        which
    }

    fn types_of(&self, values: &[Value]) -> Vec<(Type, Traits)> {
        values.iter().map(|v| (self.entry.ty(*v).clone(), self.traits_of_carried(*v))).collect()
    }

    /// Traits of a value that the next iteration may replace.
    fn traits_of_carried(&self, v: Value) -> Traits {
        Traits { small: false, ..self.traits[v.index()] }
    }

    fn arguments(&mut self, values: &[Value]) -> Vec<Value> {
        let types = self.types_of(values);
        types.into_iter().map(|(t, traits)| self.value(t, traits)).collect()
    }

    /// Fills the body of a loop or branch, and tracks its counter and its number of iterations.
    fn deeper(
        &mut self,
        n: &mut Nest,
        trips: usize,
        counter: Option<(Value, u64)>,
        fill: impl FnOnce(&mut Self, &mut Nest),
    ) {
        let weight = n.weight;
        n.weight *= trips.max(1);
        n.depth += 1;
        n.counters.extend(counter);
        fill(self, n);
        n.counters.truncate(n.counters.len() - usize::from(counter.is_some()));
        n.depth -= 1;
        n.weight = weight;
    }

    /// Splits the values of a region into the tiles and the token.
    fn inner_state(state: &Carried, values: &[Value]) -> Carried {
        match state.token {
            Some(_) => Carried { tiles: values[..values.len() - 1].to_vec(), token: values.last().copied() },
            None => Carried { tiles: values.to_vec(), token: None },
        }
    }

    fn flat(state: &Carried) -> Vec<Value> {
        state.tiles.iter().copied().chain(state.token).collect()
    }

    /// The initial values of a loop over these tiles.
    fn started(state: &Carried, which: &[usize], more: Option<Value>) -> Vec<Value> {
        which.iter().map(|i| state.tiles[*i]).chain(more).chain(state.token).collect()
    }

    /// Replaces the tiles by the results. Returns the extra result, if there is one.
    fn take_results(state: &mut Carried, which: &[usize], results: &[Value]) -> Option<Value> {
        let tokens = usize::from(state.token.is_some());
        let tiles = &results[..results.len() - tokens];
        for (i, v) in which.iter().zip(tiles) {
            state.tiles[*i] = *v;
        }
        if tokens == 1 {
            state.token = results.last().copied();
        }
        tiles.get(which.len()).copied()
    }

    /// A new accumulator that only the loop uses, in one of four loops.
    fn new_accumulator(&mut self, n: &Nest) -> Option<Value> {
        if !self.rng.one_in(4) {
            return None;
        }
        let width = self.rng.pick(&n.widths);
        let t = n.tile([n.rows, width], n.sum);
        Some(self.zero_accumulator(n, &t))
    }

    pub(super) fn count_steps(&mut self, n: &mut Nest, state: &mut Carried) {
        n.steps = n.steps.saturating_sub(1);
        let which = self.some_tiles(state);
        let more = self.new_accumulator(n);
        let range = self.range_of(n);
        let inits = Self::started(state, &which, more);
        let results = self.counted(n, &range, &inits, |g, n, values| {
            let mut inner = Self::inner_state(state, values);
            g.body(n, &mut inner);
            if g.rng.one_in(8) {
                g.leave_early(n, &inner, OpKind::Continue);
                g.step(n, &mut inner);
            }
            Self::flat(&inner)
        });
        if let Some(v) = Self::take_results(state, &which, &results) {
            self.use_result(n, state, v);
        }
    }

    /// A counted loop around a body that computes the next values of the carried ones.
    fn counted(
        &mut self,
        n: &mut Nest,
        range: &Range,
        inits: &[Value],
        body: impl FnOnce(&mut Self, &mut Nest, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let counter = self.value(TileType::scalar(Number::I32).into(), Traits::default());
        let carried = self.arguments(inits);
        self.loops += 1;
        let block = self.block([vec![counter], carried.clone()].concat(), |g| {
            g.deeper(n, range.trips, Some((counter, range.last)), |g, n| {
                let out = body(g, n, &carried);
                g.end(OpKind::Continue, &out);
            });
        });
        self.loops -= 1;
        let results = self.types_of(inits);
        let operands = [&range.bounds[..], inits].concat();
        self.emit_all(OpKind::For { unsigned: false }, &operands, &results, vec![block])
    }

    /// Bounds that are constants, arguments, or depend on an enclosing loop.
    fn range_of(&mut self, n: &Nest) -> Range {
        let most = (MAX_EXECUTIONS / n.weight).clamp(1, 3) as u64;
        let i32 = TileType::scalar(Number::I32);
        let step = if self.rng.one_in(8) { 2 } else { 1 };
        let step_value = self.scalar(Number::I32, step);
        if let Some(&(outer, last)) = n.counters.last()
            && last < most
            && self.rng.one_in(4)
        {
            // From zero to the counter of the enclosing loop, or from the counter on.
            let one = self.scalar(Number::I32, 1);
            let end = self.derive(OpKind::AddI(Overflow::default()), &[outer, one], i32);
            let zero = self.scalar(Number::I32, 0);
            let (bounds, last) = if self.rng.coin() {
                ([zero, end, step_value], last)
            } else {
                ([outer, self.scalar(Number::I32, most), step_value], most - 1)
            };
            return Range { bounds, trips: (last as usize + 1).min(most as usize), last };
        }
        let trips = self.rng.pick(&[0, 1, 2, 2, 3, 3]).min(most);
        let low = u64::from(self.rng.one_in(8));
        let end = low + trips * step;
        let known = |g: &mut Self, v: u64| {
            if g.rng.coin() { g.argument(Number::I32, v) } else { g.scalar(Number::I32, v) }
        };
        let end_value = known(self, end);
        let low_value = if low == 0 { self.scalar(Number::I32, 0) } else { known(self, low) };
        Range { bounds: [low_value, end_value, step_value], trips: trips as usize, last: end.saturating_sub(1) }
    }

    /// A loop that ends on a condition, which is tested before its steps or after some of them.
    fn repeat_steps(&mut self, n: &mut Nest, state: &mut Carried) {
        n.steps = n.steps.saturating_sub(1);
        let i32 = TileType::scalar(Number::I32);
        let which = self.some_tiles(state);
        let more = self.new_accumulator(n);
        let most = (MAX_EXECUTIONS / n.weight).clamp(1, 3);
        let rounds = self.rng.pick(&[0, 1, 2]).min(most - 1) as u64;
        let last = if self.rng.coin() { self.argument(Number::I32, rounds) } else { self.scalar(Number::I32, rounds) };
        let start = self.scalar(Number::I32, 0);
        let inits = Self::started(state, &which, more);
        let counter = self.value(i32.clone().into(), Traits::default());
        let carried = self.arguments(&inits);
        self.loops += 1;
        let block = self.block([vec![counter], carried.clone()].concat(), |g| {
            g.deeper(n, rounds as usize + 1, Some((counter, rounds)), |g, n| {
                let mut inner = Self::inner_state(state, &carried);
                let before_nest = g.rng.coin();
                if !before_nest {
                    g.body(n, &mut inner);
                }
                let kind = OpKind::CmpI { predicate: Predicate::GreaterThanOrEqual, signedness: Signedness::Signed };
                let done = g.derive(kind, &[counter, last], TileType::scalar(Number::I1));
                g.leave_if(n, done, &inner, OpKind::Break);
                if g.rng.one_in(4) {
                    g.leave_early(n, &inner, OpKind::Break);
                }
                if before_nest || g.rng.one_in(3) {
                    g.body(n, &mut inner);
                }
                let one = g.scalar(Number::I32, 1);
                let next = g.derive(OpKind::AddI(Overflow::default()), &[counter, one], i32.clone());
                let out = [vec![next], Self::flat(&inner)].concat();
                g.end(OpKind::Continue, &out);
            });
        });
        self.loops -= 1;
        let results = self.types_of(&inits);
        let operands = [vec![start], inits].concat();
        let results = self.emit_all(OpKind::Loop, &operands, &results, vec![block]);
        if let Some(v) = Self::take_results(state, &which, &results) {
            self.use_result(n, state, v);
        }
    }

    /// Leaves the iteration or the loop under a random condition.
    fn leave_early(&mut self, n: &mut Nest, state: &Carried, kind: OpKind) {
        let condition = self.choice(n);
        self.leave_if(n, condition, state, kind);
    }

    /// A branch that ends the iteration with the state, perhaps after one more step.
    fn leave_if(&mut self, n: &mut Nest, condition: Value, state: &Carried, kind: OpKind) {
        let leaving = self.block(vec![], |g| {
            let mut last = Carried { tiles: state.tiles.clone(), token: state.token };
            if g.rng.one_in(3) {
                g.deeper(n, 1, None, |g, n| g.dot_step(n, &mut last));
            }
            let out = Self::flat(&last);
            g.end(kind, &out);
        });
        self.emit_all(OpKind::If, &[condition], &[], vec![leaving, Block::default()]);
    }

    /// A condition on the counter of an enclosing loop, the tile block's number, or an argument.
    pub(super) fn choice(&mut self, n: &Nest) -> Value {
        let v = match (n.counters.last().copied(), self.rng.below(4)) {
            (_, 0) => self.block_id,
            (Some((counter, _)), 1..3) => counter,
            _ => {
                let v = self.rng.below(3) as u64;
                self.argument(Number::I32, v)
            }
        };
        let bound = self.rng.below(2) as u64;
        let bound = self.scalar(Number::I32, bound);
        let kind = OpKind::CmpI { predicate: self.rng.pick(&Predicate::ALL), signedness: Signedness::Signed };
        self.derive(kind, &[v, bound], TileType::scalar(Number::I1))
    }

    /// A branch with steps in one or both of its regions.
    pub(super) fn branch_steps(&mut self, n: &mut Nest, state: &mut Carried) {
        n.steps = n.steps.saturating_sub(1);
        let condition = self.choice(n);
        let which = self.some_tiles(state);
        let inits = Self::started(state, &which, None);
        let idle = self.rng.pick(&[None, None, Some(0), Some(1)]);
        let mut regions = vec![];
        for side in 0..2 {
            regions.push(self.block(vec![], |g| {
                let mut inner = Self::inner_state(state, &inits);
                if idle != Some(side) {
                    g.deeper(n, 1, None, |g, n| g.body(n, &mut inner));
                }
                let out = Self::flat(&inner);
                g.end(OpKind::Yield, &out);
            }));
        }
        let results = self.types_of(&inits);
        let results = self.emit_all(OpKind::If, &[condition], &results, regions);
        Self::take_results(state, &which, &results);
    }

    /// Two consecutive loops with the same body, except that one applies a mask, as in causal attention.
    pub(super) fn loops_in_a_row(&mut self, n: &mut Nest, state: &mut Carried) {
        let Some(at) = self.some_accumulator(n, state) else { return };
        n.steps = n.steps.saturating_sub(2);
        let t = self.ty(state.tiles[at]);
        let [rows, width] = n.extents(&t);
        let (depth, keys) = (self.rng.pick(&n.widths), self.rng.pick(&n.widths));
        let number = self.rng.pick(&n.numbers);
        let query = self.nest_operand(n, [rows, depth], number);
        let with_maximum = n.batch.is_none() && self.rng.coin();
        let mut carried = vec![state.tiles[at]];
        if with_maximum {
            carried.push(self.constant_of(&TileType::of(&[rows], n.sum), 0));
        }
        let cost = n.batch.unwrap_or(1) * rows * keys * (depth + width);
        let room = n.work / (n.weight * cost).max(1);
        let [first, second] = [self.rng.below(3), 1 + self.rng.below(2)].map(|t| t.min(room / 2));
        n.work -= n.work.min((first + second) * cost * n.weight);
        let ends = [0, first as u64, (first + second) as u64];
        let values =
            ends.map(|e| if self.rng.coin() { self.argument(Number::I32, e) } else { self.scalar(Number::I32, e) });
        let one = self.scalar(Number::I32, 1);
        for (i, trips) in [first, second].into_iter().enumerate() {
            let range = Range { bounds: [values[i], values[i + 1], one], trips, last: ends[i + 1].saturating_sub(1) };
            carried = self.counted(n, &range, &carried, |g, n, carried| {
                g.scores_and_values(n, query, [keys, width], number, carried, i == 1)
            });
        }
        state.tiles[at] = carried[0];
    }
}
