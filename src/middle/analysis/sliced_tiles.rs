//! Slices of tiles that are loaded for dots.
//!
//! A tile of a partition view consists of slices along one dimension. A view of the same memory with smaller tiles has
//! these slices as its tiles:
//!
//! ```text
//! x = load A[p, i];  y = permute x              tile i, f slices deep
//!
//! s = load A'[p, f*i + j];  t = permute s       slice j of tile i: t is slice j of y
//! ```
//!
//! Bounds and padding apply to the same elements.

use super::{
    access::{View, tiled_access},
    facts::Facts,
};
use crate::dialect::{
    behaviour::{self, LayoutRelation},
    layouts::{Tensor, storage_bits, tensor_type},
    nv_tileaa::{MakeTiledViewOp, Ordering, PermuteOp, TiledLoadOp, TiledViewType},
    pass::{Failed, fail},
    rt::*,
};
use melior::ir::{attribute::DenseI32ArrayAttribute, operation::OperationLike};

/// The minimum size of an asynchronous copy in bytes.
const COPIED_BYTES: u64 = 4;

/// An operand of a dot that can be sliced: the load, and the ops between the load and the dot, in program order.
pub struct SlicedTile<'c> {
    pub load: TiledLoadOp<'c>,
    view: MakeTiledViewOp<'c>,
    chain: Vec<OpRef<'c>>,
    /// The dimension of the loaded tile that is sliced.
    dim: usize,
}

/// The dimensions of a tile, each as a dimension of the memory and an extent, in two orders.
pub struct TileShapes {
    pub as_loaded: Vec<(i64, i64)>,
    pub in_memory: Vec<(i64, i64)>,
}

/// The view of which slices are tiles.
pub struct SliceView<'c> {
    view: Val<'c>,
    tile: Vec<i64>,
    /// The dimension of the view's tile that is each dimension of the whole tile.
    dims: Vec<usize>,
}

impl<'c> SlicedTile<'c> {
    /// Interprets `v` as an operand whose dimension `dim` is sliced. Returns `None` unless it is a tile that is loaded
    /// in the body of `parent` from a partition view, weakly, and that has no other users.
    pub fn find(v: Val<'c>, mut dim: usize, parent: OpRef<'c>) -> Option<Self> {
        let (mut at, mut chain) = (v, vec![]);
        loop {
            let op = defining_op(at).filter(|o| parent_op(*o) == Some(parent))?;
            if uses(at).len() != 1 {
                return None;
            }
            if let Some(load) = TiledLoadOp::cast(op) {
                let view = defining_op(load.view()).and_then(MakeTiledViewOp::cast)?;
                let t = TiledViewType::cast(ty(load.view()))?;
                let partition = t.steps()[dim] == t.tile()[dim] && t.sparse_dim().is_none();
                if !partition || load.ordering() != Ordering::Weak || has_uses(load.result_token()) {
                    return None;
                }
                chain.reverse();
                return Some(Self { load, view, chain, dim });
            }
            let to = Tensor::of_value(at)?;
            dim = match behaviour::layout_relation(op) {
                LayoutRelation::Same if behaviour::widens(op) => dim,
                LayoutRelation::Permute => PermuteOp::cast(op)?.order()[dim] as usize,
                LayoutRelation::Reshape => {
                    let from = Tensor::of_value(operand(op, 0))?;
                    (0..from.shape.len()).find(|&d| is_same_dimension((&from, d), (&to, dim)))?
                }
                _ => return None,
            };
            chain.push(op);
            at = operand(op, 0);
        }
    }

    /// Whether the loop with this body loads slice after slice of the tile's rows: the index along the sliced dimension
    /// is the loop's counter, and nothing else that the load needs comes from the body.
    pub fn is_counted(&self, parent: OpRef<'c>, body: Blk<'c>) -> bool {
        let inside = |v: Val<'c>| defining_op(v).is_some_and(|o| parent_op(o) == Some(parent));
        let is_of_body = |v: Val<'c>| inside(v) || args(body).any(|a| a == v);
        let mut indices = self.load.indices().enumerate();
        indices.all(|(d, i)| if d == self.dim { i == arg(body, 0) } else { !is_of_body(i) })
            && self.load.token().is_none_or(|t| !is_of_body(t))
            && !inside(self.view.memref())
    }

    /// Whether accesses to slices outside the view are bounds-checked.
    pub fn is_tested(&self, factor: i64, facts: &Facts) -> bool {
        View::of(self.load.view()).is_some_and(|view| view.tests_slices(self.dim, factor, facts))
    }

    fn tensor(&self) -> Option<Tensor<'c>> {
        Tensor::of_value(self.load.result())
    }

    /// Returns the size of the loaded tile in bytes.
    pub fn bytes(&self) -> u64 {
        self.tensor().map_or(0, |t| t.elements() as u64 * u64::from(storage_bits(t.element)) / 8)
    }

    /// Returns the number of pieces that are loaded individually because they are too small for an asynchronous copy.
    pub fn pieces_through_registers(&self, facts: &Facts) -> u64 {
        let Some(view) = View::of(self.load.view()) else { return 0 };
        let indices: Vec<Val<'c>> = self.load.indices().collect();
        let access = tiled_access(facts, &view, &indices, &[]);
        let elements = self.tensor().map_or(0, |t| t.elements() as u64);
        if access.vector * access.element_bytes < COPIED_BYTES { elements / access.vector.max(1) } else { 0 }
    }

    /// Returns the elements of the loaded tile along the sliced dimension.
    pub fn depth(&self) -> i64 {
        self.tensor().map_or(0, |t| t.shape[self.dim])
    }

    /// Returns the bytes of the loaded tile along the sliced dimension.
    pub fn depth_bytes(&self) -> u64 {
        self.tensor().map_or(0, |t| self.depth() as u64 * u64::from(storage_bits(t.element)) / 8)
    }

    /// Builds the view whose tiles are slices. In memory order, it has the dimensions of the memory, so that
    /// slices of tiles that are transposed on the way have one shape with others.
    pub fn view(&self, b: &Builder<'c>, factor: i64, in_memory_order: bool) -> Result<SliceView<'c>, Failed> {
        let op = self.load.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let unexpected = || fail(op, "the operand of a dot is loaded in an unexpected form");
        b.set_location(op.location());
        let t = TiledViewType::cast(ty(self.load.view())).ok_or_else(unexpected)?;
        let rank = t.tile().len();
        let dims: Vec<usize> = (0..rank).map(|d| if in_memory_order { t.dim_map()[d] as usize } else { d }).collect();
        let (mut tile, mut steps, mut dim_map) = (vec![0; rank], vec![0; rank], vec![0; rank]);
        for (d, &at) in dims.iter().enumerate() {
            let parts = if d == self.dim { factor } else { 1 };
            (tile[at], steps[at], dim_map[at]) = (t.tile()[d] / parts, t.steps()[d] / parts, t.dim_map()[d]);
        }
        let (memref, padding) = (t.memref(), t.padding());
        let of = TiledViewType::get(op.location(), &tile, memref, &dim_map, &steps, padding, t.sparse_dim());
        let of = of.ok_or_else(unexpected)?;
        let view = MakeTiledViewOp::build(b, of.into(), self.view.memref()).map_err(error)?.result();
        Ok(SliceView { view, tile, dims })
    }

    /// Builds slice number `index` of the operand, a tile of `of`. The index counts slices from the start of the view.
    pub fn sliced(
        &self,
        b: &Builder<'c>,
        (of, factor): (&SliceView<'c>, i64),
        index: Val<'c>,
    ) -> Result<Val<'c>, Failed> {
        let op = self.load.op();
        let error = |e: BuildError| fail(op, e.to_string());
        let unexpected = || fail(op, "the operand of a dot is loaded in an unexpected form");
        b.set_location(op.location());
        let element = self.tensor().ok_or_else(unexpected)?.element;
        let mut given: Vec<Val<'c>> = self.load.indices().collect();
        given[self.dim] = index;
        let mut indices = given.clone();
        let promised = bool_list(self.load.in_bounds());
        let mut in_bounds = promised.clone();
        for (d, &at) in of.dims.iter().enumerate() {
            indices[at] = given[d];
            promised.get(d).into_iter().for_each(|p| in_bounds[at] = *p);
        }
        let load = TiledLoadOp::build(
            b,
            tensor_type(&of.tile, element, None),
            ty(self.load.result_token()),
            of.view,
            &indices,
            self.load.token(),
            self.load.ordering(),
            self.load.scope(),
            self.load.hints(),
            self.load.in_bounds().map(|_| bools_attr(b.context(), &in_bounds)),
        )
        .map_err(error)?;
        let mut value = load.result();
        if !of.dims.is_sorted() {
            let shape: Vec<i64> = of.dims.iter().map(|&at| of.tile[at]).collect();
            let order: Vec<i32> = of.dims.iter().map(|&at| at as i32).collect();
            let order = DenseI32ArrayAttribute::new(b.context(), &order).into();
            value = PermuteOp::build(b, tensor_type(&shape, element, None), value, order).map_err(error)?.result();
        }
        let mut dim = self.dim;
        for &step in &self.chain {
            b.set_location(step.location());
            let old = Tensor::of_value(result(step, 0)).ok_or_else(unexpected)?;
            let before = Tensor::of_value(operand(step, 0)).ok_or_else(unexpected)?;
            dim = match behaviour::layout_relation(step) {
                LayoutRelation::Permute => {
                    let order = PermuteOp::cast(step).ok_or_else(unexpected)?.order();
                    order.iter().position(|&d| d as usize == dim).ok_or_else(unexpected)?
                }
                LayoutRelation::Reshape => {
                    let is_same = |&d: &usize| is_same_dimension((&old, d), (&before, dim));
                    (0..old.shape.len()).find(is_same).ok_or_else(unexpected)?
                }
                _ => dim,
            };
            let mut shape = old.shape.clone();
            shape[dim] /= factor;
            let copy = clone_detached(step);
            set_operand(copy, 0, value);
            set_ty(result(copy, 0), tensor_type(&shape, old.element, None));
            b.insert_op(copy);
            value = result(copy, 0);
        }
        Ok(value)
    }

    /// The shapes of the loaded tile.
    pub fn shapes(&self) -> Option<TileShapes> {
        let t = TiledViewType::cast(ty(self.load.view()))?;
        let as_loaded: Vec<(i64, i64)> = t.dim_map().iter().copied().zip(t.tile().iter().copied()).collect();
        let mut in_memory = as_loaded.clone();
        in_memory.sort_unstable();
        Some(TileShapes { as_loaded, in_memory })
    }

    /// The index of the tile along the sliced dimension.
    pub fn index(&self) -> Val<'c> {
        self.load.indices().nth(self.dim).expect("a load has an index for each dimension")
    }

    /// The number of ops from the load to the dot.
    pub fn ops(&self) -> usize {
        1 + self.chain.len()
    }
}

/// Whether dimension `d` of a tensor is dimension `e` of its reshape: both have the same extent, and each index has
/// the same number of elements.
fn is_same_dimension((x, d): (&Tensor<'_>, usize), (y, e): (&Tensor<'_>, usize)) -> bool {
    let of = |t: &Tensor<'_>, d: usize| (t.shape[d], t.shape[d + 1..].iter().product::<i64>());
    of(x, d) == of(y, e)
}
