//! Programs with dots of tiles of views, suited to wgmma and TMA: large tiles with no other use, of tensors with
//! aligned rows. The dots are in loops, which may run zero times or an unknown number of times, and in branches, and
//! the accumulators have other uses. Sometimes arbitrary statements are added.

use super::{Generator, Need, Traits};
use crate::case::Parameter;
use tile_interp::program::{AccessOrder, FloatMode, OpKind, Overflow, Predicate, Promise, Rounding, Signedness, Value};
use tile_interp::types::{Element, Number, Padding, TensorType, TileType, Tiling, Type, ViewType};

/// A tensor whose tiles are operands.
#[derive(Clone)]
struct Operand {
    tensor: Value,
    ty: TensorType,
    /// The tile's extents as an operand.
    tile: [usize; 2],
    /// Whether the tile is transposed in memory.
    transposed: bool,
    padding: Option<Padding>,
    /// The type that elements are widened to before the dot.
    wide: Option<Number>,
    /// Whether an operand is the sum of two tiles.
    two: bool,
}

/// Properties that the dots of a program share.
struct Dots {
    lhs: Operand,
    rhs: Operand,
    sum: TileType,
    kind: OpKind,
    /// Number of tiles along the depth, and the same number as a value.
    trips: u64,
    bound: Value,
    i: Value,
    j: Value,
    traits: Traits,
}

impl Generator {
    /// Generates the whole program.
    pub(super) fn dots_of_views(&mut self) {
        self.grid = [self.rng.pick(&[1, 1, 2]), 1, 1];
        self.budget = self.rng.pick(&[0, 2, 4, 8]);
        self.block_number();
        let mut p = self.operands();
        let zero = self.constant_of(&p.sum, 0);
        let sum = match self.rng.below(16) {
            12.. if p.lhs.ty.element.width() == 16 && p.sum.element == Element::Number(Number::F32) => {
                let scores = self.constant_of(&p.sum, 0);
                let q = self.chained(&p);
                let total = self.constant_of(&q.sum, 0);
                let sum = self.attention(&p, &q, scores, total);
                p = q;
                sum
            }
            0 => self.multiply(&p, p.bound, zero),
            1 => self.tile_after_tile(&p, zero),
            2 => self.one_after_another(&p, zero),
            3 => self.in_branch(&p, zero),
            4 => self.with_branch(&p, zero, false),
            5 => self.with_branch(&p, zero, true),
            6 => self.used(&p, zero),
            7 => {
                let two = self.scalar(Number::I32, 2);
                self.deep(&p, two, zero, |g, _, c| g.deep(&p, p.bound, c, |g, k, c| g.multiply(&p, k, c)))
            }
            8 | 9 => self.together(&p, zero),
            _ => self.deep(&p, p.bound, zero, |g, k, c| g.multiply(&p, k, c)),
        };
        let sum = self.epilogue(&p, sum);
        self.store_output(sum);
        while self.budget > 0 {
            self.statement();
        }
        self.store_results();
        self.end(OpKind::Return, &[]);
    }

    fn operands(&mut self) -> Dots {
        use Number::{Bf16, E4m3, E5m2, F16, F32, I8};
        // F32 elements are rounded to tf32 before they are multiplied.
        let from = self.rng.pick(&[F16, F16, Bf16, I8, I8, E4m3, E5m2, F32, F32]);
        let narrow = from.width() == 8;
        let m = self.rng.pick(&[64usize, 64, 128]);
        let n = self.rng.pick(&[8usize, 16, 32, 64, 128, 256]);
        let k = self.rng.pick(&[256usize, 512, 1024]) / from.width() as usize;
        let mut trips = self.rng.pick(&[0u64, 1, 2, 3, 3, 5]);
        // The limit is what the interpreter can multiply quickly. It must include panels of 128x128 bytes, which have
        // a special transpose.
        let more = usize::from(narrow && k == 128);
        let n = n.min((1 << (19 + more)) / (m * k)).max(8);
        trips = trips.min((1 << (20 + more)) / (m * n * k) as u64).max(u64::from(trips > 0));
        let to = match from {
            Number::I8 => Number::I32,
            Number::F16 if self.rng.one_in(4) => Number::F16,
            _ => Number::F32,
        };
        let kind = match from {
            Number::I8 => {
                let sign = self.rng.pick(&[Signedness::Signed, Signedness::Unsigned]);
                OpKind::MmaI { lhs: sign, rhs: sign }
            }
            _ => OpKind::MmaF { fast_acc: narrow && self.rng.coin() },
        };
        let depth = trips.max(1) as usize * k;
        let transposed = [self.rng.one_in(3), self.rng.coin()];
        let lhs = self.multiplied(from, [m * self.blocks(), depth], [m, k], transposed[0]);
        let rhs = self.multiplied(from, [depth, n], [k, n], transposed[1]);
        let bound = if self.rng.coin() { self.argument(Number::I32, trips) } else { self.scalar(Number::I32, trips) };
        let approximate = matches!(kind, OpKind::MmaF { fast_acc: true }) || to == Number::F16;
        let zero = self.scalar(Number::I32, 0);
        let traits = Traits { approximate, small: false };
        Dots { lhs, rhs, sum: TileType::of(&[m, n], to), kind, trips, bound, i: self.block_id, j: zero, traits }
    }

    /// A tensor whose tiles are multiplied as elements of `n`, which are sometimes computed from another type in
    /// memory.
    fn multiplied(&mut self, n: Number, extents: [usize; 2], tile: [usize; 2], transposed: bool) -> Operand {
        let memory = match n {
            Number::F16 | Number::Bf16 if self.rng.one_in(6) => self.rng.pick(&[Number::I8, Number::E4m3]),
            _ => n,
        };
        let wide = (memory != n).then_some(n);
        let two = !matches!(n, Number::E4m3 | Number::E5m2) && self.rng.one_in(8);
        Operand { wide, two, ..self.tensor(memory, extents, tile, transposed) }
    }

    /// A tensor whose tiles cover `extents`. The last tile may be partly outside.
    fn tensor(&mut self, n: Number, extents: [usize; 2], tile: [usize; 2], transposed: bool) -> Operand {
        let mut along = extents.map(|e| e as u64);
        for (extent, tile) in along.iter_mut().zip(tile) {
            if self.rng.one_in(3) {
                *extent -= self.rng.below(tile) as u64;
            }
        }
        let [rows, columns] = if transposed { [along[1], along[0]] } else { along };
        // Sometimes rows are not aligned as TMA requires.
        let row = if self.rng.one_in(12) { columns } else { columns.next_multiple_of(16) };
        let bytes = self.data(n, (rows * row) as usize, true);
        let pointer = TileType::new(&[], Element::Pointer(n));
        let base = self.parameter(pointer.clone(), Parameter::Buffer { number: n, bytes }, Traits::default());
        let aligned = OpKind::Assume(Promise::DivBy { divisor: 16, groups: None });
        let mut operands = vec![self.emit(aligned.clone(), &[base], pointer, Traits::default())];
        let known = self.rng.coin();
        if !known {
            let stride = self.argument(Number::I32, row);
            let t = TileType::scalar(Number::I32);
            let stride = match row % 16 {
                0 => self.derive(aligned, &[stride], t),
                _ => stride,
            };
            operands.push(stride);
        }
        let shape = vec![Some(rows), Some(columns)];
        let ty = TensorType { element: n, shape, strides: vec![known.then_some(row), Some(1)] };
        let results = [(Type::Tensor(ty.clone()), Traits::default())];
        let tensor = self.emit_all(OpKind::MakeTensorView, &operands, &results, vec![])[0];
        let padding = Some(if !n.is_integer() && self.rng.one_in(16) { Padding::NegZero } else { Padding::Zero });
        Operand { tensor, ty, tile, transposed, padding, wide: None, two: false }
    }

    /// Loads the tile at these indices as an operand.
    fn load_operand(&mut self, o: &Operand, at: [Value; 2]) -> Value {
        let before = self.scopes.last().map_or(0, Vec::len);
        let mut v = self.load_tile(o, at);
        if o.two {
            let other = self.load_tile(o, at);
            let kind = match self.ty(v).element {
                Element::Number(Number::I8) => OpKind::AddI(Overflow::default()),
                _ => OpKind::AddF(FloatMode::default()),
            };
            let t = self.ty(v);
            v = self.rearrange(kind, &[v, other], t);
        }
        if self.ty(v).element == Element::Number(Number::F32) {
            v = self.rounded(v);
        }
        // Rarely another op may use it too.
        if !self.rng.one_in(20)
            && let Some(scope) = self.scopes.last_mut()
        {
            scope.truncate(before);
        }
        v
    }

    /// Loads the tile at these indices, widened but not yet rounded.
    fn load_tile(&mut self, o: &Operand, at: [Value; 2]) -> Value {
        let t = TileType::of(&o.tile, o.ty.element);
        // The dimensions are swapped in the view or afterwards.
        let in_view = o.transposed && self.rng.coin();
        let after = o.transposed && !in_view;
        let turn = |list: [usize; 2]| if after { [list[1], list[0]] } else { list };
        let loaded = TileType::of(&turn(o.tile), o.ty.element);
        let dim_map = if in_view { vec![1, 0] } else { vec![0, 1] };
        let tiling = Tiling::Partition { dim_map };
        let view = ViewType { tile: loaded.shape.clone(), tensor: o.ty.clone(), tiling, padding: o.padding };
        let view = self.emit_all(OpKind::MakeView, &[o.tensor], &[(Type::View(view), Traits::default())], vec![])[0];
        let at = if after { [at[1], at[0]] } else { at };
        let kind = OpKind::LoadView { access: AccessOrder::WEAK, token: false, inbounds: vec![] };
        let results = [(loaded.into(), Traits { approximate: false, small: true }), (Type::Token, Traits::default())];
        let v = self.emit_all(kind, &[view, at[0], at[1]], &results, vec![])[0];
        // Widened before or after the transpose.
        let early = self.rng.coin();
        let mut v = if early { self.as_multiplied(o, v) } else { v };
        if after {
            let to = TileType { shape: t.shape, ..self.ty(v) };
            v = self.rearrange(OpKind::Permute(vec![1, 0]), &[v], to);
        }
        if early { v } else { self.as_multiplied(o, v) }
    }

    fn as_multiplied(&mut self, o: &Operand, v: Value) -> Value {
        // F32 elements are rounded; a sum of two tiles is rounded after the addition.
        if o.ty.element == Number::F32 && !o.two && self.rng.coin() {
            return self.rounded(v);
        }
        let Some(n) = o.wide else { return v };
        let to = self.ty(v).with(Element::Number(n));
        let kind = match o.ty.element {
            Number::I8 => OpKind::IToF(Signedness::Signed),
            _ => OpKind::FToF { rounding: Rounding::NearestEven },
        };
        self.rearrange(kind, &[v], to)
    }

    fn rounded(&mut self, v: Value) -> Value {
        let to = self.ty(v).with(Element::Number(Number::Tf32));
        self.rearrange(OpKind::FToF { rounding: Rounding::NearestEven }, &[v], to)
    }

    /// The dot of the tiles at depth `k`, accumulated into `sum`.
    fn multiply(&mut self, p: &Dots, k: Value, sum: Value) -> Value {
        // The index `bound` is past the last tile.
        let k = if k == p.bound { self.scalar(Number::I32, p.trips.saturating_sub(1)) } else { k };
        let lhs = self.load_operand(&p.lhs, [p.i, k]);
        let rhs = self.load_operand(&p.rhs, [k, p.j]);
        self.emit(p.kind.clone(), &[lhs, rhs, sum], p.sum.clone(), p.traits)
    }

    /// The dots whose left operand is computed from the result of `p`: tiles with the same number of rows, by tiles
    /// of another tensor.
    fn chained(&mut self, p: &Dots) -> Dots {
        let [m, n] = p.sum.shape[..] else { unreachable!("a tile of a dot has two dimensions") };
        let width = self.rng.pick(&[16usize, 32, 64, 128]).min((1 << 20) / (m * n)).max(16);
        let rows = p.trips.max(1) as usize * n;
        let transposed = self.rng.one_in(4);
        let rhs = self.tensor(p.lhs.ty.element, [rows, width], [n, width], transposed);
        let sum = TileType::of(&[m, width], Number::F32);
        let kind = OpKind::MmaF { fast_acc: false };
        Dots { lhs: p.lhs.clone(), rhs, sum, kind, ..*p }
    }

    /// Attention with a softmax of small integers: for each tile of keys, scores, their weights, and a sum of
    /// weighted values.
    fn attention(&mut self, p: &Dots, q: &Dots, zero: Value, total: Value) -> Value {
        let first = self.scalar(Number::I32, 0);
        // The query is loaded before the loop, loaded in each iteration, or computed.
        let before = self.rng.below(3);
        let mut query = (before > 0).then(|| self.load_operand(&p.lhs, [p.i, first]));
        if let (Some(v), 2) = (query, before) {
            query = Some(self.derive(OpKind::NegF, &[v], self.ty(v)));
        }
        let (most, shift) = (self.constant_of(&p.sum, 0x4080_0000), self.rng.coin());
        let changes = self.rng.below(3);
        self.deep(q, q.bound, total, |g, k, c| {
            let lhs = query.unwrap_or_else(|| g.load_operand(&p.lhs, [p.i, k]));
            let rhs = g.load_operand(&p.rhs, [k, p.j]);
            let scores = g.emit(p.kind.clone(), &[lhs, rhs, zero], p.sum.clone(), p.traits);
            let kept = match changes {
                0 => c,
                1 => g.no_less(q, c, total),
                _ => g.plus(q, c, total),
            };
            let positive = g.no_less(p, scores, zero);
            let least = OpKind::MinF { propagate_nan: false, flush: false };
            let mut weights = g.derive(least, &[positive, most], p.sum.clone());
            if shift {
                weights = g.plus(p, weights, most);
            }
            let t = p.sum.with(Element::Number(q.lhs.ty.element));
            let narrow = g.derive(OpKind::FToF { rounding: Rounding::NearestEven }, &[weights], t);
            let values = g.load_operand(&q.rhs, [k, q.j]);
            let out = g.emit(q.kind.clone(), &[narrow, values, kept], q.sum.clone(), q.traits);
            // Sometimes the iteration uses the value that it yields.
            if g.rng.one_in(6) { g.no_less(q, out, total) } else { out }
        })
    }

    /// Several dots with separate accumulators that share operands, such as one left operand by two right ones.
    /// Returns the sum or the maximum of all.
    fn together(&mut self, p: &Dots, zero: Value) -> Value {
        let depth = p.trips.max(1) as usize * p.lhs.tile[1];
        let more = |g: &mut Self, of: &Operand, extents| {
            let transposed = g.rng.coin();
            g.multiplied(of.wide.unwrap_or(of.ty.element), extents, of.tile, transposed)
        };
        let rows = p.lhs.tile[0] * self.blocks();
        // Pairs of operand indices.
        let pairs: &[[usize; 2]] = self.rng.pick(&[&[[0, 0], [0, 1]], &[[0, 0], [1, 0]], &[[0, 0], [0, 1], [1, 1]]]);
        let (mut left, mut right) = (vec![p.lhs.clone()], vec![p.rhs.clone()]);
        if pairs.iter().any(|[l, _]| *l == 1) {
            left.push(more(self, &p.lhs, [rows, depth]));
        }
        if pairs.iter().any(|[_, r]| *r == 1) {
            right.push(more(self, &p.rhs, [depth, p.rhs.tile[1]]));
        }
        let sums = self.deep_with_sums(p, p.bound, vec![zero; pairs.len()], |g, k, sums| {
            let (mut lhs, mut rhs) = (vec![None; left.len()], vec![None; right.len()]);
            let mut out = vec![];
            for ([l, r], sum) in pairs.iter().zip(sums) {
                let a = *lhs[*l].get_or_insert_with(|| g.load_operand(&left[*l], [p.i, k]));
                let b = *rhs[*r].get_or_insert_with(|| g.load_operand(&right[*r], [k, p.j]));
                out.push(g.emit(p.kind.clone(), &[a, b, *sum], p.sum.clone(), p.traits));
            }
            out
        });
        let largest = self.rng.coin();
        sums.into_iter().reduce(|a, b| if largest { self.no_less(p, a, b) } else { self.plus(p, a, b) }).unwrap_or(zero)
    }

    /// A loop that carries an accumulator.
    fn deep(
        &mut self,
        p: &Dots,
        bound: Value,
        init: Value,
        body: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Value {
        self.deep_with_sums(p, bound, vec![init], |g, k, sums| vec![body(g, k, sums[0])])[0]
    }

    /// A loop that carries several accumulators.
    fn deep_with_sums(
        &mut self,
        p: &Dots,
        bound: Value,
        inits: Vec<Value>,
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let i32 = TileType::scalar(Number::I32);
        let (zero, one) = (self.scalar(Number::I32, 0), self.scalar(Number::I32, 1));
        let k = self.value(i32.into(), Traits::default());
        let sums: Vec<Value> = inits.iter().map(|_| self.value(p.sum.clone().into(), p.traits)).collect();
        self.loops += 1;
        let block = self.block([vec![k], sums.clone()].concat(), |g| {
            g.sometimes();
            let out = body(g, k, &sums);
            g.sometimes();
            g.end(OpKind::Continue, &out);
        });
        self.loops -= 1;
        let results: Vec<_> = inits.iter().map(|_| (Type::Tile(p.sum.clone()), p.traits)).collect();
        self.emit_all(OpKind::For { unsigned: false }, &[vec![zero, bound, one], inits].concat(), &results, vec![block])
    }

    /// Sometimes adds an arbitrary statement.
    fn sometimes(&mut self) {
        if self.budget > 0 && self.rng.one_in(6) {
            self.statement();
        }
    }

    fn plus(&mut self, p: &Dots, a: Value, b: Value) -> Value {
        let kind = if p.sum.element == Element::Number(Number::I32) {
            OpKind::AddI(Overflow::default())
        } else {
            OpKind::AddF(FloatMode::default())
        };
        self.derive(kind, &[a, b], p.sum.clone())
    }

    fn no_less(&mut self, p: &Dots, a: Value, b: Value) -> Value {
        let kind = if p.sum.element == Element::Number(Number::I32) {
            OpKind::MaxI(Signedness::Signed)
        } else {
            OpKind::MaxF { propagate_nan: false, flush: false }
        };
        self.derive(kind, &[a, b], p.sum.clone())
    }

    /// The accumulators of several output tiles, one after another.
    fn tile_after_tile(&mut self, p: &Dots, zero: Value) -> Value {
        let two = self.scalar(Number::I32, 2);
        self.deep(p, two, zero, |g, _, c| {
            let sum = g.deep(p, p.bound, zero, |g, k, c| g.multiply(p, k, c));
            let sum = g.epilogue(p, sum);
            if g.rng.coin() {
                g.no_less(p, sum, c)
            } else {
                let one = g.deep(p, p.bound, zero, |g, k, c| g.multiply(p, k, c));
                g.plus(p, sum, one)
            }
        })
    }

    fn one_after_another(&mut self, p: &Dots, zero: Value) -> Value {
        let first = self.deep(p, p.bound, zero, |g, k, c| g.multiply(p, k, c));
        let positive = self.no_less(p, first, zero);
        let init = self.rng.pick(&[first, zero]);
        let second = self.deep(p, p.bound, init, |g, k, c| g.multiply(p, k, c));
        self.plus(p, positive, second)
    }

    fn in_branch(&mut self, p: &Dots, zero: Value) -> Value {
        let condition = self.condition();
        let both = self.rng.coin();
        let mut regions = vec![];
        for taken in [true, false] {
            regions.push(self.block(vec![], |g| {
                let out = match (taken, both) {
                    (true, _) => g.deep(p, p.bound, zero, |g, k, c| g.multiply(p, k, c)),
                    (false, true) => g.multiply(p, p.bound, zero),
                    _ => zero,
                };
                g.end(OpKind::Yield, &[out]);
            }));
        }
        let results = [(Type::Tile(p.sum.clone()), p.traits)];
        self.emit_all(OpKind::If, &[condition], &results, regions)[0]
    }

    /// A branch around the dot in a loop, perhaps with another dot in its other region.
    fn with_branch(&mut self, p: &Dots, zero: Value, both: bool) -> Value {
        self.deep(p, p.bound, zero, |g, k, c| {
            let parity = g.scalar(Number::I32, 1);
            let odd = g.derive(OpKind::AndI, &[k, parity], TileType::scalar(Number::I32));
            let which = g.argument_or_constant();
            let kind = OpKind::CmpI { predicate: Predicate::Equal, signedness: Signedness::Signed };
            let condition = g.derive(kind, &[odd, which], TileType::scalar(Number::I1));
            let mut regions = vec![];
            for taken in [true, false] {
                regions.push(g.block(vec![], |g| {
                    let out = if taken || both { g.multiply(p, k, c) } else { c };
                    g.end(OpKind::Yield, &[out]);
                }));
            }
            let results = [(Type::Tile(p.sum.clone()), p.traits)];
            g.emit_all(OpKind::If, &[condition], &results, regions)[0]
        })
    }

    fn argument_or_constant(&mut self) -> Value {
        let bit = self.rng.bits() & 1;
        if self.rng.coin() { self.argument(Number::I32, bit) } else { self.scalar(Number::I32, bit) }
    }

    /// The accumulator is used inside the loop: it is carried and added up, or starts from zero for each dot.
    fn used(&mut self, p: &Dots, zero: Value) -> Value {
        let fresh = self.rng.coin();
        self.deep(p, p.bound, zero, |g, k, c| {
            let dot = g.multiply(p, k, if fresh { zero } else { c });
            let positive = g.no_less(p, dot, zero);
            if fresh { g.plus(p, c, positive) } else { positive }
        })
    }

    /// The epilogue of an output tile.
    fn epilogue(&mut self, p: &Dots, sum: Value) -> Value {
        let mut v = sum;
        if self.rng.one_in(3) {
            let Element::Number(n) = p.sum.element else { return v };
            let columns = p.sum.shape[1];
            let bias = self.load_input(&TileType::of(&[columns], n), true);
            let row = self.rearrange(OpKind::Reshape, &[bias], TileType::of(&[1, columns], n));
            let all = self.rearrange(OpKind::Broadcast, &[row], p.sum.clone());
            v = self.plus(p, v, all);
        }
        if self.rng.one_in(3) {
            let zero = self.constant_of(&p.sum, 0);
            v = self.no_less(p, v, zero);
        }
        // In a loop every iteration would write to the same address.
        let once = self.loops == 0;
        if once && p.sum.element == Element::Number(Number::F32) && self.rng.coin() {
            self.store_tile(p, v);
        }
        if once && self.rng.one_in(4) {
            self.largest(p, v);
        }
        if once && p.sum.element == Element::Number(Number::F32) && self.rng.one_in(3) {
            let to = self.rng.pick(&[Number::F16, Number::Bf16]);
            let t = p.sum.with(Element::Number(to));
            let cast = self.derive(OpKind::FToF { rounding: Rounding::NearestEven }, &[v], t);
            self.store_output(cast);
        }
        v
    }

    /// Stores an output tile in 16 bits to a tensor with aligned rows, as TMA requires, perhaps several times in
    /// order.
    fn store_tile(&mut self, p: &Dots, v: Value) {
        let to = self.rng.pick(&[Number::F16, Number::Bf16]);
        let t = p.sum.with(Element::Number(to));
        let extents = [t.shape[0] * self.blocks(), t.shape[1]];
        let out = self.tensor(to, extents, [t.shape[0], t.shape[1]], false);
        let tiling = Tiling::Partition { dim_map: vec![0, 1] };
        let view = ViewType { tile: t.shape.clone(), tensor: out.ty.clone(), tiling, padding: None };
        let view = self.emit_all(OpKind::MakeView, &[out.tensor], &[(Type::View(view), Traits::default())], vec![])[0];
        let mut narrow = self.derive(OpKind::FToF { rounding: Rounding::NearestEven }, &[v], t.clone());
        let kind = |token| OpKind::StoreView { access: AccessOrder::WEAK, token, inbounds: vec![] };
        let results = [(Type::Token, Traits::default())];
        let mut operands = vec![narrow, view, p.i, p.j];
        let first = self.emit_all(kind(false), &operands, &results, vec![])[0];
        if self.rng.one_in(3) {
            narrow = self.derive(OpKind::NegF, &[narrow], t);
            operands = vec![narrow, view, p.i, p.j, first];
            self.emit_all(kind(true), &operands, &results, vec![]);
        }
    }

    /// The maximum of each row or column.
    fn largest(&mut self, p: &Dots, v: Value) {
        let Element::Number(n) = p.sum.element else { return };
        let identity = match n {
            Number::I32 => 1 << 31,
            Number::F16 => 0xfc00,
            _ => 0xff80_0000,
        };
        let kind = if n == Number::I32 {
            OpKind::MaxI(Signedness::Signed)
        } else {
            OpKind::MaxF { propagate_nan: false, flush: false }
        };
        let dim = self.rng.below(2);
        self.combine(&[v], dim, false, vec![identity], p.traits, |g, pairs| {
            vec![g.derive(kind, &[pairs[0].0, pairs[0].1], TileType::scalar(n))]
        });
        let found = self.scopes.last().and_then(|s| s.last().copied());
        if let Some(found) = found
            && self.fits(found, Need::Any)
        {
            self.store_output(found);
        }
    }
}
