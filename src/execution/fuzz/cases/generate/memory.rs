//! Memory: inputs, outputs, and accesses that only tokens order.

use super::{Generator, Need, Traits, storable};
use crate::case::Parameter;
use tile_interp::program::{AccessOrder, Global, OpKind, Order, Overflow, Predicate, Scope, Signedness, Update, Value};
use tile_interp::types::{Element, Number, Padding, TensorType, TileType, Tiling, Type, ViewType};

/// Memory that belongs to one tile block.
struct Area {
    /// The buffer's address.
    pointer: Value,
    number: Number,
    /// Number of elements; a power of two.
    count: usize,
    /// Whether the tile blocks share one buffer, of which each has a part.
    shared: bool,
    /// The token of the last write, and the tokens of the reads since.
    written: Option<Value>,
    read: Vec<Value>,
}

impl Generator {
    fn access(&mut self, orders: &[Order]) -> AccessOrder {
        match self.rng.pick(orders) {
            Order::Weak => AccessOrder::WEAK,
            order => {
                AccessOrder { order, scope: Some(self.rng.pick(&[Scope::Device, Scope::System, Scope::TileBlock])) }
            }
        }
    }

    fn load_access(&mut self) -> AccessOrder {
        self.access(&[Order::Weak, Order::Weak, Order::Weak, Order::Relaxed, Order::Acquire])
    }

    fn store_access(&mut self) -> AccessOrder {
        self.access(&[Order::Weak, Order::Weak, Order::Weak, Order::Relaxed, Order::Release])
    }

    /// Ordering and scope of updates that other tile blocks can observe.
    fn atomic_access(&mut self) -> AccessOrder {
        let order = self.rng.pick(&[Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel]);
        AccessOrder { order, scope: Some(self.rng.pick(&[Scope::Device, Scope::System])) }
    }

    /// An access that returns a tile and a token, or only a token.
    fn emit_access(&mut self, kind: OpKind, operands: &[Value], tile: Option<(TileType, Traits)>) -> Vec<Value> {
        let mut results: Vec<(Type, Traits)> = tile.into_iter().map(|(t, traits)| (t.into(), traits)).collect();
        results.push((Type::Token, Traits::default()));
        self.emit_all(kind, operands, &results, vec![])
    }

    /// One pointer for each index.
    fn pointers(&mut self, base: Value, index: Value) -> Value {
        let shape = self.ty(index).shape;
        let t = self.ty(base).with(self.ty(base).element);
        let mut base = base;
        if self.rng.one_in(10) {
            let number = self.emit(OpKind::PtrToInt, &[base], TileType::scalar(Number::I64), Traits::default());
            base = self.emit(OpKind::IntToPtr, &[number], t.clone(), Traits::default());
            // The program's results must not depend on the address of a buffer.
            self.scopes.iter_mut().for_each(|s| s.retain(|v| *v != number));
        }
        let all = self.splat(base, &shape);
        let index = self.widened(index);
        self.emit(OpKind::Offset, &[all, index], TileType::new(&shape, t.element), Traits::default())
    }

    //===-- inputs ----------------------------------------------------------//

    pub(super) fn load_input(&mut self, t: &TileType, small: bool) -> Value {
        let Element::Number(n) = t.element else { return self.block_id };
        if !t.shape.is_empty() && self.rng.coin() {
            self.load_view(t, n, small)
        } else {
            self.load_pointers(t, n, small)
        }
    }

    fn load_pointers(&mut self, t: &TileType, n: Number, small: bool) -> Value {
        let count = t.count() << self.rng.below(3);
        let (mut pointer, count) = if self.rng.one_in(10) {
            (self.global(n, count.min(256), small), count.min(256))
        } else if !small && self.rng.one_in(10) {
            // A buffer of another type with the same element size.
            let others: Vec<Number> = Number::ALL
                .into_iter()
                .filter(|o| o.stored_bits() == n.stored_bits() && storable(Element::Number(*o)))
                .filter(|o| *o != Number::I1 && n != Number::I1 && *o != Number::Tf32 && n != Number::Tf32)
                .collect();
            if others.is_empty() {
                self.input(n, count, small)
            } else {
                let other = self.rng.pick(&others);
                self.input(other, count, false)
            }
        } else {
            self.input(n, count, small)
        };
        let element = Element::Pointer(n);
        if self.ty(pointer).element != element {
            pointer = self.emit(OpKind::PtrToPtr, &[pointer], TileType::new(&[], element), Traits::default());
        }
        let mut index = self.spread(&t.shape, count);
        if t.count() > count {
            let i = TileType::of(&t.shape, Number::I32);
            let mask = self.constant_of(&i, count as u64 - 1);
            index = self.derive(OpKind::AndI, &[index, mask], i);
        }
        let pointers = self.pointers(pointer, index);
        let access = self.load_access();
        let mut operands = vec![pointers];
        let masked = self.rng.one_in(3);
        if masked {
            let i1 = t.with(Element::Number(Number::I1));
            let mask = self.operand(&i1, Need::Exact);
            let padding = self.constant(t, small);
            operands.extend([mask, padding]);
        }
        let kind = OpKind::LoadPtr { access, mask: masked, padding: masked, token: false };
        self.emit_access(kind, &operands, Some((t.clone(), Traits { approximate: false, small })))[0]
    }

    /// The address of a global with an initial value.
    fn global(&mut self, n: Number, count: usize, small: bool) -> Value {
        let mut values = vec![];
        for _ in 0..count {
            values.push(self.bits(n, small));
        }
        let name = format!("g{}", self.program.globals.len());
        let (constant, private) = (self.rng.coin(), self.rng.one_in(4));
        let alignment = self.rng.pick(&[0, 16, 128]);
        self.program.globals.push(Global { name: name.clone(), element: n, values, alignment, constant, private });
        self.emit(OpKind::GetGlobal(name), &[], TileType::new(&[], Element::Pointer(n)), Traits::default())
    }

    /// A size that is static in the type, or a dynamic operand.
    fn size(&mut self, n: u64, dynamic: &mut Vec<u64>) -> Option<u64> {
        if self.rng.coin() {
            return Some(n);
        }
        dynamic.push(n);
        None
    }

    /// A view of a tensor with these extents at `base`. `map` gives the tensor dimension for each dimension of the
    /// tile.
    fn view(
        &mut self,
        base: Value,
        n: Number,
        extents: &[u64],
        tile: &[usize],
        tiling: Tiling,
        padding: Option<Padding>,
    ) -> Value {
        let mut strides = vec![1; extents.len()];
        for d in (1..extents.len()).rev() {
            strides[d - 1] = strides[d] * extents[d];
        }
        let mut dynamic = vec![];
        let mut sizes = |g: &mut Self, all: &[u64]| all.iter().map(|d| g.size(*d, &mut dynamic)).collect::<Vec<_>>();
        let tensor = TensorType { element: n, shape: sizes(self, extents), strides: sizes(self, &strides) };
        let index = self.rng.pick(&[Number::I32, Number::I64]);
        let mut operands = vec![base];
        for d in dynamic {
            operands.push(if self.rng.coin() { self.argument(index, d) } else { self.scalar(index, d) });
        }
        let t = self.emit_all(
            OpKind::MakeTensorView,
            &operands,
            &[(Type::Tensor(tensor.clone()), Traits::default())],
            vec![],
        )[0];
        let view = ViewType { tile: tile.to_vec(), tensor, tiling, padding };
        self.emit_all(OpKind::MakeView, &[t], &[(Type::View(view), Traits::default())], vec![])[0]
    }

    fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut map: Vec<usize> = (0..n).collect();
        if self.rng.coin() {
            for i in (1..n).rev() {
                map.swap(i, self.rng.below(i + 1));
            }
        }
        map
    }

    /// One index below its bound for each dimension, as scalars of one type.
    fn some_indices(&mut self, spaces: &[u64]) -> Vec<Value> {
        let n = self.rng.pick(&[Number::I32, Number::I32, Number::I64]);
        let mut out = vec![];
        for space in spaces {
            let i = self.rng.below(*space as usize) as u64;
            out.push(if self.rng.coin() { self.scalar(n, i) } else { self.argument(n, i) });
        }
        out
    }

    fn load_view(&mut self, t: &TileType, n: Number, small: bool) -> Value {
        let tile = t.shape.clone();
        let rank = tile.len();
        // Extents along the dimensions of the tile. The last tile is usually partly outside.
        let mut along: Vec<u64> = vec![];
        for d in &tile {
            let tiles = 1 + self.rng.below(2) as u64;
            let short = if self.rng.coin() { self.rng.below(*d) as u64 } else { 0 };
            along.push(*d as u64 * tiles - short);
        }
        let map = self.permutation(rank);
        let mut extents = vec![0; rank];
        for (d, m) in map.iter().enumerate() {
            extents[*m] = along[d];
        }
        let padding = Some(if n.is_integer() || n == Number::E8m0 || small {
            Padding::Zero
        } else if n == Number::E5m3 {
            // The format has no negative numbers, and their conversion is not defined.
            self.rng.pick(&[Padding::Zero, Padding::NegZero, Padding::Nan, Padding::PosInf])
        } else {
            self.rng.pick(&Padding::ALL)
        });
        let (base, _) = self.input(n, extents.iter().product::<u64>() as usize, small);
        let traits = Traits { approximate: false, small };
        let access = self.load_access();
        let (tiling, indices) = match self.rng.below(4) {
            0 => {
                let steps: Vec<u64> = tile.iter().map(|d| 1 + self.rng.below(2 * d) as u64).collect();
                let spaces: Vec<u64> = along.iter().zip(&steps).map(|(a, s)| a.div_ceil(*s)).collect();
                (Tiling::Strided { steps, dim_map: map }, self.some_indices(&spaces))
            }
            1 => {
                // Rows in any order; the other dimensions by the index of the first element.
                let sparse_dim = self.rng.below(rank);
                let mut indices = self.some_indices(&extents_of_gather(&extents));
                let rows = self.rows(tile[sparse_dim], extents_of_gather(&extents)[sparse_dim]);
                indices[sparse_dim] = rows;
                (Tiling::GatherScatter { sparse_dim }, indices)
            }
            _ => {
                let spaces: Vec<u64> = along.iter().zip(&tile).map(|(a, d)| a.div_ceil(*d as u64)).collect();
                (Tiling::Partition { dim_map: map }, self.some_indices(&spaces))
            }
        };
        let view = self.view(base, n, &extents, &tile, tiling, padding);
        if self.rng.one_in(8) {
            self.queries(view, rank);
        }
        let operands: Vec<Value> = [view].into_iter().chain(indices).collect();
        self.emit_access(
            OpKind::LoadView { access, token: false, inbounds: vec![] },
            &operands,
            Some((t.clone(), traits)),
        )[0]
    }

    /// A tile of indices below `extent`.
    fn rows(&mut self, count: usize, extent: u64) -> Value {
        let t = TileType::of(&[count], Number::I32);
        let bits = (0..count).map(|_| self.rng.below(extent as usize) as u64).collect::<Vec<_>>();
        if count <= 64 && self.rng.coin() {
            return self.emit(OpKind::Constant(bits.into()), &[], t, Traits::default());
        }
        let bytes = bits.iter().flat_map(|b| (*b as u32).to_le_bytes()).collect();
        let pointer = TileType::new(&[], Element::Pointer(Number::I32));
        let base = self.parameter(pointer, Parameter::Buffer { number: Number::I32, bytes }, Traits::default());
        let index = self.indices(&[count], Number::I32);
        let pointers = self.pointers(base, index);
        let access = self.load_access();
        let kind = OpKind::LoadPtr { access, mask: false, padding: false, token: false };
        self.emit_access(kind, &[pointers], Some((t, Traits::default())))[0]
    }

    /// Queries the extents of a view and its tensor, which become operands of later ops.
    fn queries(&mut self, view: Value, rank: usize) {
        let n = self.rng.pick(&[Number::I32, Number::I64]);
        let results = vec![(Type::Tile(TileType::scalar(n)), Traits::default()); rank];
        let Type::View(ViewType { tiling, .. }) = self.entry.ty(view).clone() else { return };
        if !matches!(tiling, Tiling::GatherScatter { .. }) {
            self.emit_all(OpKind::GetIndexSpaceShape, &[view], &results, vec![]);
        }
        let tensor = self.open.iter().flatten().rev().find(|op| op.results == [view]).map(|op| op.operands[0]);
        if let Some(tensor) = tensor {
            self.emit_all(OpKind::GetTensorShape, &[tensor], &results, vec![]);
        }
    }

    //===-- outputs ---------------------------------------------------------//

    fn output(&mut self, n: Number, count: usize) -> Value {
        let bytes = self.data(n, count, true);
        let pointer = TileType::new(&[], Element::Pointer(n));
        self.parameter(pointer, Parameter::Buffer { number: n, bytes }, Traits::default())
    }

    /// Stores a tile into a separate buffer.
    pub(super) fn store_output(&mut self, v: Value) {
        let t = self.ty(v);
        let Element::Number(n) = t.element else { return };
        if !storable(t.element) {
            return;
        }
        if !t.shape.is_empty() && self.rng.coin() {
            self.store_view(v, &t, n);
            return;
        }
        let count = t.count();
        let base = self.output(n, count * self.blocks());
        let local = self.spread(&t.shape, count);
        let index = self.own_part(local, count);
        let pointers = self.pointers(base, index);
        let access = self.store_access();
        let mut operands = vec![pointers, v];
        let mask = self.rng.one_in(3);
        if mask {
            operands.push(self.some_lanes(local, count));
        }
        self.emit_access(OpKind::StorePtr { access, mask, token: false }, &operands, None);
    }

    /// Indices in the tile block's part of a buffer.
    fn own_part(&mut self, local: Value, count: usize) -> Value {
        let scalar = TileType::scalar(Number::I32);
        let size = self.scalar(Number::I32, count as u64);
        let start = self.derive(OpKind::MulI(Overflow::default()), &[self.block_id, size], scalar);
        let t = self.ty(local);
        let start = self.splat(start, &t.shape);
        self.derive(OpKind::AddI(Overflow::default()), &[local, start], t)
    }

    /// A mask of all indices below some bound.
    fn some_lanes(&mut self, index: Value, count: usize) -> Value {
        let t = self.ty(index);
        let bound = 1 + self.rng.below(count) as u64;
        let bound = if self.rng.coin() { self.scalar(Number::I32, bound) } else { self.argument(Number::I32, bound) };
        let bound = self.splat(bound, &t.shape);
        let kind = OpKind::CmpI { predicate: Predicate::LessThan, signedness: Signedness::Signed };
        self.derive(kind, &[index, bound], t.with(Element::Number(Number::I1)))
    }

    fn store_view(&mut self, v: Value, t: &TileType, n: Number) {
        let tile = t.shape.clone();
        let rank = tile.len();
        let map = self.permutation(rank);
        // Tile blocks are adjacent along one dimension.
        let blocked = self.rng.below(rank);
        let mut extents = vec![0; rank];
        for (d, m) in map.iter().enumerate() {
            let tiles = if d == blocked { self.blocks() } else { 1 };
            let short = if self.rng.one_in(3) { self.rng.below(tile[d]) } else { 0 };
            extents[*m] = (tile[d] * tiles - short) as u64;
        }
        let base = self.output(n, extents.iter().product::<u64>() as usize);
        let zero = self.scalar(Number::I32, 0);
        let indices = (0..rank).map(|d| if d == blocked { self.block_id } else { zero });
        let indices: Vec<Value> = indices.collect();
        let tiling = if self.rng.one_in(3) {
            let steps = tile.iter().map(|d| *d as u64).collect();
            Tiling::Strided { steps, dim_map: map }
        } else {
            Tiling::Partition { dim_map: map }
        };
        let view = self.view(base, n, &extents, &tile, tiling, None);
        let operands: Vec<Value> = [v, view].into_iter().chain(indices).collect();
        let access = self.store_access();
        self.emit_access(OpKind::StoreView { access, token: false, inbounds: vec![] }, &operands, None);
    }

    //===-- order -----------------------------------------------------------//

    pub(super) fn memory_op(&mut self) {
        if self.loops > 0 {
            // Iterations are not ordered by tokens.
            let t = TileType::of(&self.shape(), self.rng.pick(&[Number::F32, Number::I32]));
            self.load_input(&t, false);
            return;
        }
        match self.rng.below(6) {
            0 | 1 => self.chain(),
            2 => self.update(),
            3 => self.update_view(),
            _ => {
                if let Some(v) = self.find(Need::Any, |t| storable(t.element)) {
                    self.store_output(v);
                }
            }
        }
    }

    fn area(&mut self) -> Area {
        let n = self.rng.pick(&[Number::I32, Number::F32, Number::F16, Number::I8, Number::I64, Number::Bf16]);
        let count = 1usize << self.rng.range(2, 9);
        let scratch = self.rng.coin();
        let pointer = if scratch {
            let alignment = self.rng.pick(&[u64::from(n.stored_bits() / 8), 16, 128]);
            let t = TileType::new(&[], Element::Pointer(n));
            let global = self.rng.one_in(4);
            self.emit(OpKind::Alloca { count: count as u64, alignment, global }, &[], t, Traits::default())
        } else {
            self.output(n, count * self.blocks())
        };
        let mut area = Area { pointer, number: n, count, shared: !scratch, written: None, read: vec![] };
        if scratch {
            let t = TileType::of(&[count], n);
            let v = self.operand(&t, Need::Any);
            self.store_area(&mut area, v);
        }
        area
    }

    /// Reads and writes of the same memory in different ways, ordered by tokens.
    fn chain(&mut self) {
        let mut area = self.area();
        let shape = self.area_shape(area.count);
        for _ in 0..self.rng.range(2, 4) {
            let t = TileType::of(&shape, area.number);
            match self.rng.below(5) {
                0..2 => {
                    self.load_area(&mut area, &t);
                }
                2 if matches!(area.number, Number::I32 | Number::I64 | Number::F32) => self.update_area(&mut area, &t),
                _ => {
                    let v = self.operand(&t, Need::Any);
                    self.store_area(&mut area, v);
                }
            }
        }
        let other = self.area_shape(area.count);
        let t = TileType::of(&other, area.number);
        let v = self.load_area(&mut area, &t);
        if self.rng.coin() {
            self.store_output(v);
        }
    }

    /// A shape with `count` elements.
    fn area_shape(&mut self, count: usize) -> Vec<usize> {
        let rows = 1usize << self.rng.below(count.ilog2() as usize + 1);
        if self.rng.coin() { vec![count] } else { vec![rows, count / rows] }
    }

    fn area_pointers(&mut self, area: &Area, shape: &[usize]) -> Value {
        let local = self.spread(shape, area.count);
        let index = if area.shared { self.own_part(local, area.count) } else { local };
        self.pointers(area.pointer, index)
    }

    fn load_area(&mut self, area: &mut Area, t: &TileType) -> Value {
        let pointers = self.area_pointers(area, &t.shape);
        let access = self.load_access();
        let kind = OpKind::LoadPtr { access, mask: false, padding: false, token: area.written.is_some() };
        let operands: Vec<Value> = [pointers].into_iter().chain(area.written).collect();
        // The stored values may be approximate.
        let approximate = t.element.number().is_some_and(Number::is_float);
        let out = self.emit_access(kind, &operands, Some((t.clone(), Traits { approximate, small: false })));
        area.read.push(out[1]);
        out[0]
    }

    /// The token that a write must follow.
    fn before_write(&mut self, area: &mut Area) -> Option<Value> {
        let mut tokens: Vec<Value> = area.written.into_iter().collect();
        tokens.append(&mut area.read);
        match tokens[..] {
            [] => self.rng.coin().then(|| self.token(OpKind::MakeToken, &[])),
            [one] => Some(one),
            _ => Some(self.token(OpKind::JoinTokens, &tokens)),
        }
    }

    fn token(&mut self, kind: OpKind, operands: &[Value]) -> Value {
        self.emit_all(kind, operands, &[(Type::Token, Traits::default())], vec![])[0]
    }

    fn store_area(&mut self, area: &mut Area, v: Value) {
        let shape = self.ty(v).shape;
        let pointers = self.area_pointers(area, &shape);
        let token = self.before_write(area);
        let access = self.store_access();
        let kind = OpKind::StorePtr { access, mask: false, token: token.is_some() };
        let operands: Vec<Value> = [pointers, v].into_iter().chain(token).collect();
        area.written = Some(self.emit_access(kind, &operands, None)[0]);
    }

    /// An atomic update of elements that no other access touches, so the old values are known.
    fn update_area(&mut self, area: &mut Area, t: &TileType) {
        let pointers = self.area_pointers(area, &t.shape);
        let token = self.before_write(area);
        let access = self.atomic_access();
        let v = self.operand(t, Need::Exact);
        let has_token = token.is_some();
        let approximate = t.element == Element::Number(Number::F32);
        let result = Some((t.clone(), Traits { approximate, small: false }));
        let out = if self.rng.one_in(3) {
            let cmp = self.operand(t, Need::Exact);
            let kind = OpKind::AtomicCas { access, mask: false, token: has_token };
            let operands: Vec<Value> = [pointers, cmp, v].into_iter().chain(token).collect();
            self.emit_access(kind, &operands, result)
        } else {
            let update =
                if approximate { self.rng.pick(&[Update::AddF, Update::Xchg]) } else { self.integer_update(true) };
            let kind = OpKind::AtomicRmw { access, update, mask: false, token: has_token };
            let operands: Vec<Value> = [pointers, v].into_iter().chain(token).collect();
            self.emit_access(kind, &operands, result)
        };
        area.written = Some(out[1]);
    }

    fn integer_update(&mut self, exchange: bool) -> Update {
        let all: Vec<Update> =
            Update::ALL.into_iter().filter(|u| *u != Update::AddF && (exchange || *u != Update::Xchg)).collect();
        self.rng.pick(&all)
    }

    /// A type, and an atomic update on it that commutes.
    fn commuting(&mut self) -> (Number, Update) {
        match self.rng.below(3) {
            0 => (self.rng.pick(&[Number::F32, Number::F64, Number::F16, Number::Bf16]), Update::AddF),
            _ => (self.rng.pick(&[Number::I32, Number::I64]), self.integer_update(false)),
        }
    }

    /// Atomic updates of shared elements.
    fn update(&mut self) {
        let (n, update) = self.commuting();
        let count = 1usize << self.rng.below(6);
        let base = self.output(n, count);
        let shape = self.shape();
        let t = TileType::of(&shape, n);
        let i = TileType::of(&shape, Number::I32);
        let any = self.operand(&i, Need::Exact);
        let mask = self.constant_of(&i, count as u64 - 1);
        let index = self.derive(OpKind::AndI, &[any, mask], i);
        let pointers = self.pointers(base, index);
        let v = self.operand(&t, if update == Update::AddF { Need::Small } else { Need::Exact });
        let access = self.atomic_access();
        let mut operands = vec![pointers, v];
        let mask = self.rng.one_in(3);
        if mask {
            let i1 = t.with(Element::Number(Number::I1));
            operands.push(self.operand(&i1, Need::Exact));
        }
        let kind = OpKind::AtomicRmw { access, update, mask, token: false };
        let before = self.scopes.last().map_or(0, Vec::len);
        self.emit_access(kind, &operands, Some((t, Traits { approximate: true, small: false })));
        // The old values depend on the order.
        if let Some(scope) = self.scopes.last_mut() {
            scope.truncate(before);
        }
    }

    fn update_view(&mut self) {
        let (n, update) = self.commuting();
        let shape = self.shape();
        if shape.is_empty() {
            return;
        }
        let t = TileType::of(&shape, n);
        let extents: Vec<u64> = shape.iter().map(|d| *d as u64 - self.rng.below(*d) as u64 / 2).collect();
        let base = self.output(n, extents.iter().product::<u64>() as usize);
        let tiling = Tiling::Partition { dim_map: (0..shape.len()).collect() };
        let view = self.view(base, n, &extents, &shape, tiling, None);
        let indices = self.some_indices(&vec![1; shape.len()]);
        let v = self.operand(&t, if update == Update::AddF { Need::Small } else { Need::Exact });
        let access = AccessOrder { order: Order::Relaxed, scope: Some(Scope::Device) };
        let operands: Vec<Value> = [view].into_iter().chain(indices).chain([v]).collect();
        self.emit_access(OpKind::AtomicRedView { access, update, token: false, inbounds: vec![] }, &operands, None);
    }
}

/// The index space of a gather/scatter view, whose indices count elements.
fn extents_of_gather(extents: &[u64]) -> Vec<u64> {
    extents.to_vec()
}
