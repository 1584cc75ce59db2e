//! Steps: the ways to replace the tiles that a nest carries.

use super::super::Generator;
use super::{Carried, Nest};
use tile_interp::program::{OpKind, Signedness, Value};
use tile_interp::types::{Element, Number, TileType};

impl Generator {
    /// A few steps, including a dot if the budget permits.
    pub(super) fn body(&mut self, n: &mut Nest, state: &mut Carried) {
        let count = 1 + self.rng.below(3);
        let product = self.rng.below(count + 1);
        for i in 0..count {
            if i == product {
                self.dot_step(n, state);
            } else {
                self.step(n, state);
            }
        }
    }

    pub(super) fn step(&mut self, n: &mut Nest, state: &mut Carried) {
        match self.rng.below(24) {
            0..9 => self.dot_step(n, state),
            9..14 if self.may_go_deeper(n) => self.any_loop(n, state),
            14..17 if self.may_go_deeper(n) => self.branch_steps(n, state),
            17 if self.may_go_deeper(n) && n.depth + 1 < super::DEEPEST => self.loops_in_a_row(n, state),
            18 | 19 if state.token.is_some() => self.memory_step(n, state),
            20 => self.change_accumulator(n, state),
            21 => self.change_operand(n, state),
            22 if self.budget > 0 => self.statement(),
            _ => self.dot_step(n, state),
        }
    }

    /// A tile of the state that dots can accumulate into.
    pub(super) fn some_accumulator(&mut self, n: &Nest, state: &Carried) -> Option<usize> {
        let sums: Vec<usize> = (0..state.tiles.len()).filter(|i| self.is_accumulator(n, state.tiles[*i])).collect();
        (!sums.is_empty()).then(|| self.rng.pick(&sums))
    }

    fn is_accumulator(&self, n: &Nest, v: Value) -> bool {
        self.ty(v).element == Element::Number(n.sum)
    }

    //===-- dots ------------------------------------------------------------//

    /// Replaces an accumulator by a dot that uses it.
    pub(super) fn dot_step(&mut self, n: &mut Nest, state: &mut Carried) {
        n.steps = n.steps.saturating_sub(1);
        let Some(at) = self.some_accumulator(n, state) else { return self.change_operand(n, state) };
        let sum = state.tiles[at];
        let t = self.ty(sum);
        let [rows, width] = n.extents(&t);
        let zero = self.zero_accumulator(n, &t);
        let next = match self.rng.below(10) {
            // Add the result of another dot, or its positive part.
            0 => {
                let one = self.multiply_any(n, zero);
                let one = self.above(one, 0.0);
                let changed = self.multiply_any(n, sum);
                self.added(one, changed)
            }
            1 => {
                let one = self.multiply_any(n, zero);
                self.added(sum, one)
            }
            // The accumulator becomes an operand of the dot that replaces it, or of one that is added.
            2 | 3 => {
                let number = self.rng.pick(&n.numbers);
                let lhs = self.narrowed(sum, number);
                let rhs = self.nest_operand(n, [width, width], number);
                let to = if self.rng.coin() { zero } else { sum };
                self.multiply_these(n, lhs, rhs, to)
            }
            // The result of one dot is an operand of the next.
            4 => {
                let number = self.rng.pick(&n.numbers);
                let between = self.rng.pick(&n.widths);
                let none = n.tile([rows, between], n.sum);
                let none = self.zero_accumulator(n, &none);
                let first = self.multiply_any(n, none);
                let lhs = self.narrowed(first, number);
                let rhs = self.nest_operand(n, [between, width], number);
                self.multiply_these(n, lhs, rhs, sum)
            }
            // Two accumulators with a shared operand.
            5 => {
                let like = |g: &Self, i: usize| i != at && g.ty(state.tiles[i]) == t;
                let other = (0..state.tiles.len()).find(|&i| like(self, i));
                let number = self.rng.pick(&n.numbers);
                let depth = self.rng.pick(&n.widths);
                let lhs = self.nest_operand(n, [rows, depth], number);
                if let Some(other) = other {
                    let rhs = self.nest_operand(n, [depth, width], number);
                    state.tiles[other] = self.multiply_these(n, lhs, rhs, state.tiles[other]);
                }
                let rhs = self.nest_operand(n, [depth, width], number);
                self.multiply_these(n, lhs, rhs, sum)
            }
            _ => self.multiply_any(n, sum),
        };
        state.tiles[at] = next;
    }

    /// A dot of random operands, accumulated into `sum`.
    fn multiply_any(&mut self, n: &mut Nest, sum: Value) -> Value {
        let t = self.ty(sum);
        let [rows, width] = n.extents(&t);
        let number = self.rng.pick(&n.numbers);
        let depth = if self.rng.one_in(4) { rows } else { self.rng.pick(&n.widths) };
        if !self.is_affordable(n, rows * depth * width) {
            return self.above(sum, 0.0);
        }
        let lhs = self.nest_operand(n, [rows, depth], number);
        let rhs = self.nest_operand(n, [depth, width], number);
        self.multiply_these(n, lhs, rhs, sum)
    }

    fn is_affordable(&self, n: &Nest, each: usize) -> bool {
        n.batch.unwrap_or(1) * each * n.weight <= n.work
    }

    /// The dot of two tiles, accumulated into `sum`. Another op if the budget of multiplications is used up.
    fn multiply_these(&mut self, n: &mut Nest, lhs: Value, rhs: Value, sum: Value) -> Value {
        let (left, t) = (self.ty(lhs), self.ty(sum));
        let ([rows, depth], [_, width]) = (n.extents(&left), n.extents(&t));
        let cost = rows * depth * width;
        if !self.is_affordable(n, cost) {
            return self.above(sum, 0.0);
        }
        n.work -= n.batch.unwrap_or(1) * cost * n.weight;
        let kind = if n.sum == Number::I32 {
            let [lhs, rhs] =
                [(); 2].map(|()| self.rng.pick(&[Signedness::Signed, Signedness::Signed, Signedness::Unsigned]));
            OpKind::MmaI { lhs, rhs }
        } else {
            OpKind::MmaF { fast_acc: n.fast }
        };
        // Sometimes as a batch of one.
        if n.batch.is_none() && self.rng.one_in(if n.regular { 64 } else { 16 }) {
            let operands = [lhs, rhs, sum].map(|v| {
                let t = self.ty(v);
                let shape = [vec![1], t.shape].concat();
                self.rearrange(OpKind::Reshape, &[v], TileType::new(&shape, t.element))
            });
            let of_one = self.ty(operands[2]);
            let v = self.emit(kind, &operands, of_one, n.traits_of_sums());
            return self.without_lead(v, 1);
        }
        self.emit(kind, &[lhs, rhs, sum], t, n.traits_of_sums())
    }

    /// One iteration of attention: scores of a query and loaded keys, and a sum of loaded values weighted by them.
    /// The sum of values is carried, and perhaps the maximum score of each row.
    pub(super) fn scores_and_values(
        &mut self,
        n: &mut Nest,
        query: Value,
        [keys, width]: [usize; 2],
        number: Number,
        carried: &[Value],
        masked: bool,
    ) -> Vec<Value> {
        let left = self.ty(query);
        let [rows, depth] = n.extents(&left);
        let none = n.tile([rows, keys], n.sum);
        let zero = self.zero_accumulator(n, &none);
        let kind = match n.sum {
            Number::I32 => OpKind::MmaI { lhs: Signedness::Signed, rhs: Signedness::Signed },
            _ => OpKind::MmaF { fast_acc: n.fast },
        };
        let key_tile = self.loaded(n, [depth, keys], number);
        let mut scores = self.emit(kind.clone(), &[query, key_tile, zero], none.clone(), n.traits_of_sums());
        if masked {
            scores = self.triangle(scores, -8.0);
        }
        let mut out = vec![];
        if let [_, most] = carried[..] {
            let here = self.largest_of_rows(n, scores);
            let most = self.larger(most, here);
            let column = self.rearrange(OpKind::Reshape, &[most], TileType::of(&[rows, 1], n.sum));
            let all = self.rearrange(OpKind::Broadcast, &[column], none);
            let less = self.same(scores, -1.0);
            let less = self.times(all, less);
            scores = self.added(scores, less);
            out.push(most);
        }
        let least = self.above(scores, -4.0);
        let weights = self.below(least, 4.0);
        let weights = self.converted(weights, number);
        let values = self.loaded(n, [keys, width], number);
        let t = self.ty(carried[0]);
        out.insert(0, self.emit(kind, &[weights, values, carried[0]], t, n.traits_of_sums()));
        out
    }

    fn largest_of_rows(&mut self, n: &Nest, v: Value) -> Value {
        let rank = self.ty(v).shape.len();
        let (identity, kind) = match n.sum {
            Number::I32 => (1 << 31, OpKind::MaxI(Signedness::Signed)),
            Number::F16 => (0xfc00, OpKind::MaxF { propagate_nan: false, flush: false }),
            _ => (0xff80_0000, OpKind::MaxF { propagate_nan: false, flush: false }),
        };
        self.combine(&[v], rank - 1, false, vec![identity], n.traits_of_sums(), |g, pairs| {
            vec![g.derive(kind, &[pairs[0].0, pairs[0].1], TileType::scalar(n.sum))]
        });
        self.scopes.last().and_then(|s| s.last().copied()).unwrap_or(v)
    }

    //===-- other steps -----------------------------------------------------//

    /// Uses a result of a loop that is not part of the state: as an operand of a dot after the loop, or as a summand.
    pub(super) fn use_result(&mut self, n: &mut Nest, state: &mut Carried, v: Value) {
        let Some(at) = self.some_accumulator(n, state) else { return };
        let sum = state.tiles[at];
        let ([_, depth], [_, width]) = (n.extents(&self.ty(v)), n.extents(&self.ty(sum)));
        let number = self.rng.pick(&n.numbers);
        if self.ty(v) == self.ty(sum) && self.rng.one_in(3) {
            state.tiles[at] = self.added(sum, v);
            return;
        }
        let lhs = self.narrowed(v, number);
        let rhs = self.nest_operand(n, [depth, width], number);
        state.tiles[at] = self.multiply_these(n, lhs, rhs, sum);
    }

    /// Applies an op to each element of an accumulator or to its rows.
    fn change_accumulator(&mut self, n: &mut Nest, state: &mut Carried) {
        let Some(at) = self.some_accumulator(n, state) else { return };
        let sum = state.tiles[at];
        let t = self.ty(sum);
        let [rows, width] = n.extents(&t);
        state.tiles[at] = match self.rng.below(6) {
            0 => self.above(sum, 0.0),
            1 => {
                let two = self.same(sum, -1.0);
                self.times(sum, two)
            }
            2 => {
                let more = self.loaded_accumulator(n, width);
                self.added(sum, more)
            }
            3 => self.triangle(sum, 1.0),
            4 if n.batch.is_none() => {
                let most = self.largest_of_rows(n, sum);
                let column = self.rearrange(OpKind::Reshape, &[most], TileType::of(&[rows, 1], n.sum));
                let all = self.rearrange(OpKind::Broadcast, &[column], t);
                let sum = self.below(sum, 64.0);
                self.added(sum, all)
            }
            _ => {
                let one = self.same(sum, 1.0);
                self.added(sum, one)
            }
        };
    }

    /// Replaces a carried operand by one that is loaded, computed, or a result.
    fn change_operand(&mut self, n: &mut Nest, state: &mut Carried) {
        let found: Vec<usize> = (0..state.tiles.len()).filter(|i| !self.is_accumulator(n, state.tiles[*i])).collect();
        let [at, ..] = found[..] else { return self.change_accumulator(n, state) };
        let t = self.ty(state.tiles[at]);
        if let Element::Number(number) = t.element {
            let shape = n.extents(&t);
            state.tiles[at] = self.nest_operand(n, shape, number);
        }
    }

    /// Stores a tile of the state, or loads a stored tile as a summand or an operand.
    fn memory_step(&mut self, n: &mut Nest, state: &mut Carried) {
        if self.rng.coin() {
            self.store_in_order(n, state);
            if self.rng.coin() {
                return;
            }
        }
        let Some(v) = self.load_in_order(n, state) else { return };
        let Some(at) = self.some_accumulator(n, state) else { return };
        let (t, sum) = (self.ty(v), state.tiles[at]);
        let [_, depth] = n.extents(&t);
        let sum_type = self.ty(sum);
        let [_, width] = n.extents(&sum_type);
        if sum_type.shape == t.shape && self.rng.coin() {
            let v = self.converted(v, n.sum);
            state.tiles[at] = self.added(sum, v);
            return;
        }
        let number = self.rng.pick(&n.numbers);
        let lhs = self.narrowed_memory(v, number);
        let rhs = self.nest_operand(n, [depth, width], number);
        state.tiles[at] = self.multiply_these(n, lhs, rhs, sum);
    }

    /// A tile from memory as an operand.
    fn narrowed_memory(&mut self, v: Value, number: Number) -> Value {
        let v = match self.ty(v).element {
            Element::Number(from) if from.is_integer() == number.is_integer() => v,
            _ => return v,
        };
        if matches!(number, Number::E4m3 | Number::E5m2) { self.narrowed(v, number) } else { self.converted(v, number) }
    }
}
