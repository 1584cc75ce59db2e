//! Finds loads that threads can replace by asynchronous copies to shared memory (`cp.async`).
//!
//! A `cp.async` instruction moves 4, 8 or 16 bytes that are contiguous in global and in shared memory, and can fill
//! masked elements with zeros only. A load qualifies if its vectors have one of these sizes and its padding is zero.
//! An example is a weak tiled load of 16-byte vectors from a view padded with zeros.
//!
//! The analysis looks at the load, its view and its padding only, so the work is constant per load. The caller
//! decides whether starting the copy early is legal.

use super::{
    access::{View, fast_dimension},
    constants::is_all_zeros,
};
use crate::dialect::{
    layouts::{Tensor, layout_attr, memory_bits, storage_bits},
    nv_tileaa::{Ordering, Padding},
    nv_tileas::{AsyncLoadOp, AsyncTiledLoadOp, AsyncTokenType, LoadOp, MemDescType, TiledLoadOp},
    pass::{Failed, fail},
    rt::*,
    shared_memory::shared_layout,
};
use melior::ir::Type;
use tile_layout::{Direction, SharedAccess};

/// A weak load of a tile that asynchronous copies can replace.
pub struct PlainLoad<'c> {
    pub op: OpRef<'c>,
    pub value: Val<'c>,
    pub token: Option<Val<'c>>,
    pub tensor: Tensor<'c>,
    /// Elements per instruction, the dimension along which they are contiguous, and their bytes.
    pub vector: u32,
    pub dim: usize,
    pub bytes: u64,
}

impl<'c> PlainLoad<'c> {
    /// Returns `None` if `op` is not a load that asynchronous copies can replace.
    pub fn of(op: OpRef<'c>) -> Option<Self> {
        let (value, token, ordering, vector, dim) = if let Some(x) = TiledLoadOp::cast(op) {
            let view = View::of(x.view())?;
            let zeros = matches!(view.ty.padding(), None | Some(Padding::Zero));
            if !zeros || view.ty.sparse_dim().is_some() {
                return None;
            }
            (x.result(), x.token(), x.ordering(), x.vector(), fast_dimension(&view))
        } else {
            let x = LoadOp::cast(op)?;
            if !x.other().is_none_or(is_all_zeros) {
                return None;
            }
            (x.result(), x.token(), x.ordering(), x.vector(), x.along().unwrap_or(0) as usize)
        };
        let tensor = Tensor::of_value(value)?;
        let bits = storage_bits(tensor.element);
        let bytes = vector as u64 * u64::from(bits / 8);
        // A copy cannot unpack elements that are smaller in memory than in shared memory.
        let fits = memory_bits(tensor.element) == bits && matches!(bytes, 4 | 8 | 16);
        (ordering == Ordering::Weak && fits).then_some(Self {
            op,
            value,
            token,
            tensor,
            vector: vector as u32,
            dim,
            bytes,
        })
    }

    /// Whether the elements of one instruction are contiguous in shared memory of type `desc`.
    pub fn suits(&self, desc: MemDescType<'c>) -> bool {
        let layouts = self.tensor.layout().zip(shared_layout(desc));
        layouts.is_some_and(|(layout, shared)| {
            let access =
                SharedAccess::new(&layout, &shared, storage_bits(self.tensor.element), Direction::Store, false);
            let shape = self.tensor.tile_shape();
            access.is_ok_and(|a| a.runs(&layout, &shape, self.dim, self.vector, self.bytes).is_some())
        })
    }
}

/// Builds the copy that replaces `load` and writes to `dest`, with operands mapped by `of`. Returns its asynchronous
/// token.
pub fn build_copy<'c>(
    b: &Builder<'c>,
    load: OpRef<'c>,
    dest: Val<'c>,
    predicate: Option<Val<'c>>,
    of: impl Fn(Val<'c>) -> Val<'c>,
) -> Result<Val<'c>, Failed> {
    let error = |e: BuildError| fail(load, e.to_string());
    let context = b.context();
    let token = async_token(load)?;
    if let Some(x) = TiledLoadOp::cast(load) {
        let indices: Vec<Val<'c>> = x.indices().map(&of).collect();
        let layout = Tensor::of_value(x.result()).and_then(|t| t.layout());
        let layout = layout_attr(context, &layout.ok_or_else(|| fail(load, "tensor has no layout"))?);
        let copy = AsyncTiledLoadOp::build(
            b,
            token,
            ty(x.result_token()),
            of(x.view()),
            &indices,
            dest,
            predicate,
            x.token().map(&of),
            x.hints(),
            layout,
            i64_attr(context, x.vector()),
            x.bounds(),
            attr(load, "inBounds"),
        );
        return copy.map(|c| c.done()).map_err(error);
    }
    let x = LoadOp::cast(load).ok_or_else(|| fail(load, "an asynchronous copy cannot replace this load"))?;
    let copy = AsyncLoadOp::build(
        b,
        token,
        ty(x.result_token()),
        of(x.ptr()),
        x.mask().map(&of),
        dest,
        predicate,
        x.token().map(&of),
        x.hints(),
        i64_attr(context, x.vector()),
        attr(load, "along"),
    );
    copy.map(|c| c.done()).map_err(error)
}

/// The type of the token of an asynchronous copy.
pub fn async_token(op: OpRef<'_>) -> Result<Type<'_>, Failed> {
    AsyncTokenType::get(op.location())
        .map(Into::into)
        .ok_or_else(|| fail(op, "cannot create the type of asynchronous tokens"))
}
