//! Groups the registers of a tile by the access that moves them.

use super::{Lower, shape::shape_of};
use crate::{
    analysis::access::{self, View},
    dialect::{
        pass::{Failed, fail},
        rt::*,
    },
};
use rustc_hash::FxHashMap;
use tile_layout::Layout;

impl<'c> Lower<'c, '_> {
    /// Groups neighboring registers of a tile: all registers, or only the registers of elements that the thread owns.
    pub(super) fn groups(
        &self,
        op: OpRef<'c>,
        view: &View<'c>,
        layout: &Layout,
        v: Val<'c>,
        width: u64,
        owned: bool,
    ) -> Result<Vec<Vec<u32>>, Failed> {
        let shape = shape_of(v).ok_or_else(|| fail(op, "tile is not a tensor"))?;
        let fast = access::fast_dimension(view);
        if owned { owned_vectors(op, layout, &shape, fast, width) } else { vectors(op, layout, &shape, fast, width) }
    }

    /// Like [`Lower::groups`], for an access through pointers.
    pub(super) fn pointer_groups(
        &self,
        op: OpRef<'c>,
        ptr: Val<'c>,
        width: u64,
        along: usize,
        owned: bool,
    ) -> Result<Vec<Vec<u32>>, Failed> {
        let Some(shape) = shape_of(ptr) else { return Ok(vec![vec![0]]) };
        let layout = self.layout(op, ptr)?;
        if owned {
            owned_vectors(op, &layout, &shape, along, width)
        } else {
            vectors(op, &layout, &shape, along, width)
        }
    }

    /// Assembles a tile's registers from reads of groups. Registers that repeat an element of the thread take the
    /// value of the first one; registers whose element is in no group are poison.
    pub(super) fn gather(
        &self,
        layout: &Layout,
        groups: &[Vec<u32>],
        mut read: impl FnMut(&[u32]) -> Vec<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let parts = layout.index_expr().registers;
        let mut values: FxHashMap<u64, Val<'c>> = FxHashMap::default();
        let mut t = None;
        for g in groups {
            for (&r, v) in g.iter().zip(read(g)) {
                t = Some(ty(v));
                values.entry(parts[r as usize]).or_insert(v);
            }
        }
        let t = t.expect("a tile has registers");
        let mut poison = None;
        let mut missing = || *poison.get_or_insert_with(|| self.l.poison(t));
        parts.iter().map(|part| values.get(part).copied().unwrap_or_else(&mut missing)).collect()
    }
}

/// Groups registers into runs of at most `width` neighbors along `dim`.
pub(super) fn vectors(
    op: OpRef<'_>,
    layout: &Layout,
    shape: &tile_layout::Shape,
    dim: usize,
    width: u64,
) -> Result<Vec<Vec<u32>>, Failed> {
    let error = |e: tile_layout::LayoutError| fail(op, e.to_string());
    let longest = layout.contiguity(shape, dim, width.max(1).ilog2()).map_err(error)?;
    let width = width.min(1 << longest);
    let (groups, aligned) = layout.vectors(shape, dim, width).map_err(error)?;
    if aligned || width == 1 { Ok(groups) } else { Ok(layout.vectors(shape, dim, 1).map_err(error)?.0) }
}

/// Groups the registers of elements that a thread owns into runs of at most `width` neighbors along `dim`.
pub(super) fn owned_vectors(
    op: OpRef<'_>,
    layout: &Layout,
    shape: &tile_layout::Shape,
    dim: usize,
    width: u64,
) -> Result<Vec<Vec<u32>>, Failed> {
    let (owned, old) = layout.owned();
    let widest = owned.contiguity(shape, dim, width.max(1).ilog2()).map_err(|e| fail(op, e.to_string()))?;
    let groups = vectors(op, &owned, shape, dim, 1 << widest)?;
    Ok(groups.into_iter().map(|g| g.into_iter().map(|r| old[r as usize]).collect()).collect())
}
