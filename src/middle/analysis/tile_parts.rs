//! Equal parts of tiles along one dimension: the views and indices that select them.

use super::facts::Facts;
use crate::dialect::{
    nv_tileaa::{MakeTiledViewOp, TiledViewType},
    rt::*,
    types::integer_width,
};
use melior::ir::{Type, r#type::IntegerType};

/// Builds a view of `memref` whose tiles are those of a view of type `whole`, divided into `count` parts along
/// dimension `d`. Returns `None` if there is no such type.
pub fn view_of_parts<'c>(
    b: &Builder<'c>,
    whole: TiledViewType<'c>,
    memref: Val<'c>,
    (d, count): (usize, i64),
) -> Option<Result<Val<'c>, BuildError>> {
    let (mut tile, mut steps) = (whole.tile().to_vec(), whole.steps().to_vec());
    tile[d] /= count;
    steps[d] = tile[d];
    let (maps, padding) = (whole.dim_map(), whole.padding());
    let t = TiledViewType::get(b.location(), &tile, whole.memref(), maps, &steps, padding, whole.sparse_dim())?;
    Some(MakeTiledViewOp::build(b, t.into(), memref).map(|view| view.result()))
}

/// Returns the index of part `number` of `count` parts of tile `index`, in a type that can hold it. Tile indices are
/// not negative. `facts` are about `known`, which has the same value as `index`.
pub fn index_of_part<'c>(
    b: &Builder<'c>,
    (index, known): (Val<'c>, Val<'c>),
    (number, count): (Val<'c>, i64),
    facts: &Facts,
) -> Val<'c> {
    let t = ty(index);
    let bits = integer_width(t);
    let most = |bits: u32| (1i64 << (bits - 1)) - 1;
    let fits = bits >= 64
        || facts.get(known).range.is_some_and(|(low, high)| low >= 0 && high <= (most(bits) - count) / count);
    let wide: Type<'c> = IntegerType::new(b.context(), 64).into();
    let (t, index) = if fits { (t, index) } else { (wide, b.resized(index, wide, true)) };
    let first = b.muli(index, b.int_constant(t, count));
    b.addi(first, b.resized(number, t, true))
}
