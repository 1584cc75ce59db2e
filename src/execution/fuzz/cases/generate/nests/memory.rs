//! Memory that a nest writes and reads again, ordered by tokens.

use super::super::{Generator, Traits};
use super::{Carried, Nest};
use crate::case::Parameter;
use tile_interp::program::{AccessOrder, OpKind, Value};
use tile_interp::types::{Element, Number, TensorType, TileType, Tiling, Type, ViewType};

/// A buffer with a tile for each tile block.
pub(super) struct Area {
    /// The tile's shape in the state, with the number type in memory.
    tile: TileType,
    views: Vec<AreaView>,
}

/// A view of the tile.
struct AreaView {
    view: Value,
    /// The loaded type.
    tile: TileType,
    /// Whether the last two dimensions are swapped.
    transposed: bool,
    /// Number of dimensions. The first dimension spans the tiles of all tile blocks.
    rank: usize,
}

impl Generator {
    /// Creates the buffer and its views. Returns the first token.
    pub(super) fn area_of_nest(&mut self, n: &mut Nest) -> Value {
        let width = self.rng.pick(&n.widths);
        let number = match n.sum {
            Number::I32 => self.rng.pick(&[Number::I32, Number::I8]),
            _ => self.rng.pick(&[Number::F32, Number::F16, Number::Bf16]),
        };
        let tile = n.tile([n.rows, width], number);
        let batch = n.batch.unwrap_or(1);
        let blocks = self.blocks();
        let base = self.sparse_buffer(number, blocks * tile.count(), true);
        let mut views = vec![];
        for _ in 0..1 + self.rng.below(3) {
            views.push(match self.rng.below(3) {
                // The tile of each tile block is one row or plane.
                0 => {
                    let flat = vec![1, tile.count()];
                    self.area_view(base, number, vec![blocks, tile.count()], flat, false)
                }
                kind => {
                    let extents = vec![batch * blocks, n.rows, width];
                    let shape = vec![batch, n.rows, width];
                    self.area_view(base, number, extents, shape, kind == 1)
                }
            });
        }
        n.area = Some(Area { tile, views });
        self.emit_all(OpKind::MakeToken, &[], &[(Type::Token, Traits::default())], vec![])[0]
    }

    fn area_view(
        &mut self,
        base: Value,
        number: Number,
        extents: Vec<usize>,
        tile: Vec<usize>,
        transposed: bool,
    ) -> AreaView {
        let rank = extents.len();
        let mut strides = vec![Some(1); rank];
        for d in (0..rank - 1).rev() {
            strides[d] = strides[d + 1].map(|s: u64| s * extents[d + 1] as u64);
        }
        let shape = extents.iter().map(|e| Some(*e as u64)).collect();
        let tensor = TensorType { element: number, shape, strides };
        let results = [(Type::Tensor(tensor.clone()), Traits::default())];
        let made = self.emit_all(OpKind::MakeTensorView, &[base], &results, vec![])[0];
        let mut order: Vec<usize> = (0..rank).collect();
        if transposed {
            order.swap(rank - 1, rank - 2);
        }
        let tile: Vec<usize> = order.iter().map(|d| tile[*d]).collect();
        let view = ViewType { tile: tile.clone(), tensor, tiling: Tiling::Partition { dim_map: order }, padding: None };
        let view = self.emit_all(OpKind::MakeView, &[made], &[(Type::View(view), Traits::default())], vec![])[0];
        AreaView { view, tile: TileType::of(&tile, number), transposed, rank }
    }

    fn indices_of(&mut self, s: &AreaView) -> Vec<Value> {
        let mut indices = vec![self.scalar(Number::I32, 0); s.rank];
        indices[0] = self.block_id;
        indices
    }

    /// Stores a tile of the state, ordered after all earlier accesses.
    pub(super) fn store_in_order(&mut self, n: &mut Nest, state: &mut Carried) {
        let (Some(area), Some(token)) = (n.area.take(), state.token) else { return };
        let shape = area.tile.shape.clone();
        let fits: Vec<Value> = state.tiles.iter().copied().filter(|v| self.ty(*v).shape == shape).collect();
        if let (false, Element::Number(number)) = (fits.is_empty(), area.tile.element) {
            let v = self.rng.pick(&fits);
            let v = if self.ty(v).element == Element::Number(n.sum) { self.narrowed(v, number) } else { v };
            let v = self.converted(v, number);
            let view = &area.views[self.rng.below(area.views.len())];
            let transposed = if view.transposed { self.transposed(v) } else { v };
            let v = self.in_shape(transposed, &view.tile);
            let indices = self.indices_of(view);
            let operands = [vec![v, view.view], indices, vec![token]].concat();
            let kind = OpKind::StoreView { access: AccessOrder::WEAK, token: true, inbounds: vec![] };
            state.token = Some(self.emit_all(kind, &operands, &[(Type::Token, Traits::default())], vec![])[0]);
        }
        n.area = Some(area);
    }

    /// Loads the tile of the area, ordered after all earlier accesses.
    pub(super) fn load_in_order(&mut self, n: &mut Nest, state: &mut Carried) -> Option<Value> {
        let (area, token) = (n.area.take()?, state.token?);
        let view = &area.views[self.rng.below(area.views.len())];
        let indices = self.indices_of(view);
        let operands = [vec![view.view], indices, vec![token]].concat();
        let kind = OpKind::LoadView { access: AccessOrder::WEAK, token: true, inbounds: vec![] };
        let traits = Traits { approximate: n.traits_of_sums().approximate, small: false };
        let results = [(view.tile.clone().into(), traits), (Type::Token, Traits::default())];
        let out = self.emit_all(kind, &operands, &results, vec![]);
        state.token = Some(if self.rng.coin() {
            out[1]
        } else {
            self.emit_all(OpKind::JoinTokens, &[token, out[1]], &[(Type::Token, Traits::default())], vec![])[0]
        });
        let v = if view.transposed {
            let [.., w, m] = view.tile.shape[..] else { unreachable!("tiles have two dimensions at least") };
            let batch = view.tile.shape[0];
            let v = self.in_shape(out[0], &TileType::new(&[batch, w, m], view.tile.element));
            self.transposed(v)
        } else {
            out[0]
        };
        let v = self.in_shape(v, &area.tile);
        n.area = Some(area);
        Some(v)
    }

    fn in_shape(&mut self, v: Value, t: &TileType) -> Value {
        let u = self.ty(v);
        if u.shape == t.shape { v } else { self.rearrange(OpKind::Reshape, &[v], TileType::new(&t.shape, u.element)) }
    }

    /// Stores a tile to a separate tensor with aligned rows, as TMA requires.
    pub(super) fn store_aligned(&mut self, v: Value) {
        let t = self.ty(v);
        let (Element::Number(number), [rows, columns]) = (t.element, &t.shape[..]) else { return };
        let pointer = TileType::new(&[], Element::Pointer(number));
        let extents = vec![rows * self.blocks(), *columns];
        let bytes = vec![0; extents[0] * columns * number.stored_bits() as usize / 8];
        let base = self.parameter(pointer, Parameter::Buffer { number, bytes }, Traits::default());
        let base = self.multiple_of_16(base);
        let view = self.area_view(base, number, extents, t.shape.clone(), false);
        let indices = self.indices_of(&view);
        let operands = [vec![v, view.view], indices].concat();
        let kind = OpKind::StoreView { access: AccessOrder::WEAK, token: false, inbounds: vec![] };
        self.emit_all(kind, &operands, &[(Type::Token, Traits::default())], vec![]);
    }
}
