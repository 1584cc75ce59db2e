//! Operands: tiles of views, tiles that are computed from these or from results of other dots, and tiles in scope.

use super::super::{Generator, Need, Traits};
use super::Nest;
use crate::case::Parameter;
use tile_interp::format::{Real, Round, encode};
use tile_interp::program::{AccessOrder, FloatMode, OpKind, Overflow, Predicate, Promise, Rounding, Signedness, Value};
use tile_interp::types::{Element, Number, Padding, TensorType, TileType, Tiling, Type, ViewType};

/// A tensor that tiles are loaded from.
#[derive(Clone)]
pub(super) struct InputTensor {
    base: Value,
    number: Number,
    /// Number of elements of the buffer.
    count: usize,
    tensor: Value,
    ty: TensorType,
    /// Extents of the tile, and the number of tiles, along the last two dimensions of the tensor.
    tile: [usize; 2],
    tiles: [u64; 2],
    padding: Option<Padding>,
}

/// The type in which operands are stored and computed before the conversion to `n`.
fn computed_in(n: Number) -> Number {
    match n {
        Number::Tf32 => Number::F32,
        Number::E4m3 | Number::E5m2 => Number::F16,
        n => n,
    }
}

fn last_two_swapped(rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).collect();
    if rank >= 2 {
        order.swap(rank - 1, rank - 2);
    }
    order
}

pub(super) fn number_bits(v: f64, n: Number) -> u64 {
    if n.is_integer() {
        return v as i64 as u64 & n.mask();
    }
    encode(Real::from_f64(v), n, Round::NearestEven).bits
}

impl Generator {
    /// An operand of a dot with these extents.
    pub(super) fn nest_operand(&mut self, n: &mut Nest, shape: [usize; 2], number: Number) -> Value {
        let t = n.tile(shape, number);
        if n.regular && !self.rng.one_in(24) {
            return self.loaded(n, shape, number);
        }
        let choice = self.rng.below(16);
        let found = match choice {
            0..3 => self.find(Need::Any, |u| *u == t),
            3..6 => self.result_as_operand(n, shape, number),
            6 if self.rng.one_in(3) => Some(self.constant_of(&t, number_bits(1.0, number))),
            _ => None,
        };
        if let Some(v) = found {
            return v;
        }
        if choice < 10 { self.computed(n, shape, number) } else { self.loaded(n, shape, number) }
    }

    /// A loaded tile, rounded if memory cannot hold the type.
    pub(super) fn loaded(&mut self, n: &mut Nest, shape: [usize; 2], number: Number) -> Value {
        let memory = if number == Number::Tf32 { Number::F32 } else { number };
        let v = self.nest_load(n, shape, memory);
        self.converted(v, number)
    }

    /// A tile that is computed elementwise from loaded ones.
    fn computed(&mut self, n: &mut Nest, shape: [usize; 2], number: Number) -> Value {
        let inner = computed_in(number);
        let choice = self.rng.below(7);
        let memory = match (choice, inner) {
            (0, Number::F16 | Number::Bf16) => self.rng.pick(&[Number::I8, Number::E4m3]),
            (0, Number::F32) => Number::F16,
            _ => inner,
        };
        let loaded = self.nest_load(n, shape, memory);
        let v = self.converted(loaded, inner);
        let v = match choice {
            0 => v,
            1 => self.negative(v),
            2 => self.above(v, 0.0),
            3 => {
                let other = self.nest_load(n, shape, inner);
                self.added(v, other)
            }
            4 => {
                let factor = self.rng.pick(&[2.0, -1.0]);
                let factor = self.argument(inner, number_bits(factor, inner));
                let shape = self.ty(v).shape;
                let all = self.splat(factor, &shape);
                self.times(v, all)
            }
            5 => self.triangle(v, 0.0),
            _ => {
                let one = self.same(v, 1.0);
                self.added(v, one)
            }
        };
        self.converted(v, number)
    }

    /// A tile that is computed from an accumulator in scope, if one has the right extents.
    pub(super) fn result_as_operand(&mut self, n: &Nest, shape: [usize; 2], number: Number) -> Option<Value> {
        let straight = n.tile(shape, n.sum);
        let transposed = n.tile([shape[1], shape[0]], n.sum);
        if let Some(v) = self.find(Need::Any, |u| *u == straight) {
            return Some(self.narrowed(v, number));
        }
        let v = self.find(Need::Any, |u| *u == transposed)?;
        let v = self.narrowed(v, number);
        Some(self.transposed(v))
    }

    /// An accumulator as an operand, mostly with elements so small that the next dot is exact.
    pub(super) fn narrowed(&mut self, sum: Value, number: Number) -> Value {
        let mut v = sum;
        let least = self.rng.pick(&[0.0, -2.0, -4.0]);
        let narrow = matches!(number, Number::E4m3 | Number::E5m2);
        if self.ty(v).element != Element::Number(Number::I32) && (narrow || !self.rng.one_in(3)) {
            v = self.above(v, least);
            v = self.below(v, 4.0);
        }
        self.converted(v, number)
    }

    /// The same numbers in another type, with as many conversions as necessary.
    pub(super) fn converted(&mut self, v: Value, to: Number) -> Value {
        let t = self.ty(v);
        let Element::Number(from) = t.element else { return v };
        let cast = OpKind::FToF { rounding: Rounding::NearestEven };
        let kind = match (from, to) {
            _ if from == to => return v,
            (Number::I32, Number::I8) => OpKind::TruncI(Overflow::default()),
            (Number::I8, Number::I32) => OpKind::ExtI(Signedness::Signed),
            (from, _) if from.is_integer() => OpKind::IToF(Signedness::Signed),
            // Only f32 converts to and from tf32.
            (Number::F32, Number::Tf32) | (Number::Tf32, Number::F32) => cast,
            (_, Number::Tf32) | (Number::Tf32, _) => {
                let wide = self.converted(v, Number::F32);
                return self.converted(wide, to);
            }
            _ => cast,
        };
        self.rearrange(kind, &[v], t.with(Element::Number(to)))
    }

    pub(super) fn transposed(&mut self, v: Value) -> Value {
        let t = self.ty(v);
        let order = last_two_swapped(t.shape.len());
        let shape: Vec<usize> = order.iter().map(|d| t.shape[*d]).collect();
        self.rearrange(OpKind::Permute(order), &[v], TileType::new(&shape, t.element))
    }

    //===-- arithmetic of floats and integers -------------------------------//

    fn is_of_integers(&self, v: Value) -> bool {
        self.ty(v).element.number().is_some_and(Number::is_integer)
    }

    /// A tile like `v` that repeats one number.
    pub(super) fn same(&mut self, v: Value, number: f64) -> Value {
        let t = self.ty(v);
        let bits = t.element.number().map_or(0, |n| number_bits(number, n));
        self.constant_of(&t, bits)
    }

    pub(super) fn added(&mut self, a: Value, b: Value) -> Value {
        let t = self.ty(a);
        let integers = self.is_of_integers(a);
        let kind = if integers { OpKind::AddI(Overflow::default()) } else { OpKind::AddF(FloatMode::default()) };
        self.derive(kind, &[a, b], t)
    }

    pub(super) fn times(&mut self, a: Value, b: Value) -> Value {
        let t = self.ty(a);
        let integers = self.is_of_integers(a);
        let kind = if integers { OpKind::MulI(Overflow::default()) } else { OpKind::MulF(FloatMode::default()) };
        self.derive(kind, &[a, b], t)
    }

    fn negative(&mut self, v: Value) -> Value {
        let t = self.ty(v);
        let kind = if self.is_of_integers(v) { OpKind::NegI(Overflow::default()) } else { OpKind::NegF };
        self.derive(kind, &[v], t)
    }

    pub(super) fn larger(&mut self, a: Value, b: Value) -> Value {
        let t = self.ty(a);
        let kind = if self.is_of_integers(a) {
            OpKind::MaxI(Signedness::Signed)
        } else {
            OpKind::MaxF { propagate_nan: false, flush: false }
        };
        self.derive(kind, &[a, b], t)
    }

    pub(super) fn above(&mut self, v: Value, least: f64) -> Value {
        let bound = self.same(v, least);
        self.larger(v, bound)
    }

    pub(super) fn below(&mut self, v: Value, most: f64) -> Value {
        let (t, bound) = (self.ty(v), self.same(v, most));
        let kind = if self.is_of_integers(v) {
            OpKind::MinI(Signedness::Signed)
        } else {
            OpKind::MinF { propagate_nan: false, flush: false }
        };
        self.derive(kind, &[v, bound], t)
    }

    /// The elements on and below the diagonal, with `other` above it: a causal mask.
    pub(super) fn triangle(&mut self, v: Value, other: f64) -> Value {
        let t = self.ty(v);
        let rank = t.shape.len();
        let line = |g: &mut Self, dim: usize| {
            let index = g.emit(OpKind::Iota, &[], TileType::of(&[t.shape[dim]], Number::I32), Traits::default());
            let mut shape = vec![1; rank];
            shape[dim] = t.shape[dim];
            let index = g.rearrange(OpKind::Reshape, &[index], TileType::of(&shape, Number::I32));
            let all = t.with(Element::Number(Number::I32));
            g.rearrange(OpKind::Broadcast, &[index], all)
        };
        let (row, column) = (line(self, rank - 2), line(self, rank - 1));
        let kind = OpKind::CmpI { predicate: Predicate::GreaterThanOrEqual, signedness: Signedness::Signed };
        let mask = self.derive(kind, &[row, column], t.with(Element::Number(Number::I1)));
        let rest = self.same(v, other);
        self.derive(OpKind::Select, &[mask, v, rest], t)
    }

    //===-- tiles of views --------------------------------------------------//

    /// Generates ops before the outermost loop or branch around the current point.
    pub(super) fn before_nest<R>(&mut self, make: impl FnOnce(&mut Self) -> R) -> R {
        let (ops, values) = (self.open.split_off(1), self.scopes.split_off(1));
        let out = make(self);
        self.open.extend(ops);
        self.scopes.extend(values);
        out
    }

    /// Generates ops before the outermost loop or branch, or sometimes at the current point.
    fn mostly_before_nest<R>(&mut self, n: &Nest, make: impl FnOnce(&mut Self) -> R) -> R {
        if self.rng.one_in(if n.regular { 32 } else { 8 }) { make(self) } else { self.before_nest(make) }
    }

    /// A tile of some tensor of `number`, at indices that depend on the enclosing loops.
    pub(super) fn nest_load(&mut self, n: &mut Nest, shape: [usize; 2], number: Number) -> Value {
        let swapped = [shape[1], shape[0]];
        let fits = |s: &InputTensor| s.number == number && (s.tile == shape || s.tile == swapped);
        // A tensor view that was created inside a loop is not in scope outside.
        let known: Vec<usize> = (0..n.sources.len())
            .filter(|&i| fits(&n.sources[i]) && self.scopes[0].contains(&n.sources[i].tensor))
            .collect();
        let source = if known.is_empty() || self.rng.one_in(3) {
            let transposed = self.rng.one_in(3);
            let source = self.source(n, if transposed { swapped } else { shape }, number);
            n.sources.push(source.clone());
            source
        } else {
            n.sources[self.rng.pick(&known)].clone()
        };
        let transposed =
            if source.tile == shape && source.tile == swapped { self.rng.one_in(3) } else { source.tile == swapped };
        self.load_from(n, &source, transposed)
    }

    fn load_from(&mut self, n: &Nest, s: &InputTensor, transposed: bool) -> Value {
        let rank = s.ty.shape.len();
        let lead = rank - 2 - usize::from(n.batch.is_some());
        // The dimensions are swapped in the view or afterwards.
        let in_view = transposed && self.rng.coin();
        let order = if in_view { last_two_swapped(rank) } else { (0..rank).collect() };
        let mut tile: Vec<usize> = vec![1; lead];
        tile.extend(n.batch);
        tile.extend(s.tile);
        let mut tiles: Vec<u64> = s.ty.shape[..lead].iter().map(|e| e.unwrap_or(1)).collect();
        tiles.extend(n.batch.map(|_| 1));
        tiles.extend(s.tiles);
        let tile: Vec<usize> = order.iter().map(|d| tile[*d]).collect();
        let view = ViewType {
            tile: tile.clone(),
            tensor: s.ty.clone(),
            tiling: Tiling::Partition { dim_map: order.clone() },
            padding: s.padding,
        };
        let results = [(Type::View(view), Traits::default())];
        let make = |g: &mut Self| g.emit_all(OpKind::MakeView, &[s.tensor], &results, vec![])[0];
        let view = if self.scopes[0].contains(&s.tensor) { self.mostly_before_nest(n, make) } else { make(self) };
        let mut operands = vec![view];
        for d in order {
            operands.push(self.tile_index(n, tiles[d]));
        }
        let kind = OpKind::LoadView { access: AccessOrder::WEAK, token: false, inbounds: vec![] };
        let loaded = TileType::of(&tile, s.number);
        let traits = Traits { approximate: false, small: true };
        let v = self.emit_all(kind, &operands, &[(loaded.into(), traits), (Type::Token, Traits::default())], vec![])[0];
        let v = self.without_lead(v, lead);
        if transposed && !in_view { self.transposed(v) } else { v }
    }

    /// Removes `lead` leading dimensions with one element.
    pub(super) fn without_lead(&mut self, v: Value, lead: usize) -> Value {
        let t = self.ty(v);
        if lead == 0 {
            return v;
        }
        self.rearrange(OpKind::Reshape, &[v], TileType::new(&t.shape[lead..], t.element))
    }

    /// The index of a tile below `count`, a power of two, computed from the counters of enclosing loops and the tile
    /// block's number.
    fn tile_index(&mut self, n: &Nest, count: u64) -> Value {
        if count == 1 {
            return self.scalar(Number::I32, 0);
        }
        let mut all = n.counters.clone();
        all.push((self.block_id, self.blocks() as u64 - 1));
        let (mut v, mut most) = match self.rng.below(8) {
            0 => {
                let constant = self.rng.below(count as usize) as u64;
                (self.scalar(Number::I32, constant), constant)
            }
            // The innermost loop.
            1..6 => n.counters.last().copied().unwrap_or(all[0]),
            _ => self.rng.pick(&all),
        };
        let t = TileType::scalar(Number::I32);
        if self.rng.one_in(4) {
            let (other, more) = self.rng.pick(&all);
            v = self.derive(OpKind::AddI(Overflow::default()), &[v, other], t.clone());
            most += more;
        }
        if most >= count {
            let mask = self.scalar(Number::I32, count - 1);
            v = self.derive(OpKind::AndI, &[v, mask], t);
        }
        v
    }

    /// A tensor with a few tiles of these extents, in a new buffer or in one that another tensor uses.
    fn source(&mut self, n: &Nest, tile: [usize; 2], number: Number) -> InputTensor {
        let mut tiles = [self.rng.pick(&[1u64, 2, 4]), self.rng.pick(&[1u64, 2, 4])];
        while tiles[0] * tiles[1] * (tile[0] * tile[1]) as u64 > 1 << 15 && tiles != [1, 1] {
            let widest = usize::from(tiles[1] > tiles[0]);
            tiles[widest] /= 2;
        }
        let mut shape: Vec<u64> = match self.rng.below(6) {
            0 => vec![self.rng.pick(&[1, 2])],
            1 => vec![1, self.rng.pick(&[1, 2])],
            _ => vec![],
        };
        shape.extend(n.batch.map(|b| b as u64));
        let mut ragged = false;
        for (extent, count) in tile.iter().zip(tiles) {
            let cut = if self.rng.one_in(8) { self.rng.below(*extent) as u64 } else { 0 };
            ragged |= cut > 0;
            shape.push(*extent as u64 * count - cut);
        }
        let rank = shape.len();
        // Sometimes rows are not aligned as TMA requires.
        let row = if self.rng.one_in(if n.regular { 40 } else { 12 }) {
            shape[rank - 1]
        } else {
            shape[rank - 1].next_multiple_of(16)
        };
        let mut strides = vec![1; rank];
        for d in (0..rank - 1).rev() {
            strides[d] = if d == rank - 2 { row } else { strides[d + 1] * shape[d + 1] };
        }
        let count = (strides[0] * shape[0]) as usize;
        let shown: Vec<usize> = (0..n.sources.len())
            .filter(|&i| n.sources[i].number == number && n.sources[i].count >= count)
            .filter(|&i| self.scopes[0].contains(&n.sources[i].base))
            .collect();
        let (base, count) = if !shown.is_empty() && self.rng.coin() {
            let of = &n.sources[self.rng.pick(&shown)];
            (of.base, of.count)
        } else {
            let aligned = !self.rng.one_in(if n.regular { 40 } else { 12 });
            (self.before_nest(|g| g.sparse_buffer(number, count, aligned)), count)
        };
        let known = !self.rng.one_in(3);
        let ty = TensorType {
            element: number,
            shape: shape.iter().map(|e| Some(*e)).collect(),
            strides: (0..rank).map(|d| (known || d != rank - 2).then_some(strides[d])).collect(),
        };
        let results = [(Type::Tensor(ty.clone()), Traits::default())];
        let tensor = self.mostly_before_nest(n, |g| {
            let mut operands = vec![base];
            if !known {
                let stride = g.argument(Number::I32, row);
                operands.push(if row % 16 == 0 { g.multiple_of_16(stride) } else { stride });
            }
            g.emit_all(OpKind::MakeTensorView, &operands, &results, vec![])[0]
        });
        let padding = if ragged || self.rng.coin() { Some(Padding::Zero) } else { None };
        InputTensor { base, number, count, tensor, ty, tile, tiles, padding }
    }

    pub(super) fn multiple_of_16(&mut self, v: Value) -> Value {
        let t = self.ty(v);
        self.derive(OpKind::Assume(Promise::DivBy { divisor: 16, groups: None }), &[v], t)
    }

    /// The address of `count` numbers, three of four of them zero, perhaps with a promise of 16-byte alignment.
    pub(super) fn sparse_buffer(&mut self, number: Number, count: usize, aligned: bool) -> Value {
        let size = number.stored_bits() as usize / 8;
        let some = [1.0, -1.0, 2.0, 1.0].map(|v| number_bits(v, number));
        let mut bytes = Vec::with_capacity(count * size);
        for _ in 0..count {
            let bits = some.get(self.rng.below(16)).copied().unwrap_or(0);
            bytes.extend(&bits.to_le_bytes()[..size]);
        }
        let pointer = TileType::new(&[], Element::Pointer(number));
        let base = self.parameter(pointer, Parameter::Buffer { number, bytes }, Traits::default());
        if aligned { self.multiple_of_16(base) } else { base }
    }
}
