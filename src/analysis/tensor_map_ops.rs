//! Tensor maps that passes make of views, in front of the program that copies by them.

use super::access::View;
use crate::dialect::{
    nv_tileaa::MakeTiledViewOp,
    nv_tileas::{AllocTensorOp, MakeTiledTmaDescOp, TmaDescType},
    pass::{Failed, fail},
    rt::*,
    shared_memory::{ALIGNMENT, aligned_storage_type},
};
use melior::ir::{Type, TypeLike, r#type::IntegerType};
use rustc_hash::FxHashMap;

/// Bytes of a map, and the layout of storage in which it is built.
const MAP: i64 = 128;
const MAP_BASES: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Maps, by the view and the type: copies of one view share theirs.
#[derive(Default)]
pub struct TensorMaps<'c>(FxHashMap<(usize, usize), Val<'c>>);

impl<'c> TensorMaps<'c> {
    /// The map of `view` for the copies of `op`, made behind the view's memref; its scratch stands at `top`.
    pub fn of(
        &mut self,
        op: OpRef<'c>,
        view: Val<'c>,
        map: TmaDescType<'c>,
        top: &Builder<'c>,
    ) -> Result<Val<'c>, Failed> {
        let error = |e: BuildError| fail(op, e.to_string());
        let wanted: Type<'c> = map.into();
        let name = (key(view), wanted.to_raw().ptr as usize);
        if let Some(map) = self.0.get(&name) {
            return Ok(*map);
        }
        let bytes = IntegerType::new(top.context(), 8).into();
        let scratch = aligned_storage_type(op, &[MAP], bytes, &MAP_BASES, ALIGNMENT).map_err(error)?;
        let scratch = AllocTensorOp::build(top, scratch.into(), None).map_err(error)?.result();
        let not_here = || fail(op, "its view is not made here");
        let make = View::of(view).ok_or_else(not_here)?.make.op();
        let made = defining_op(view).and_then(MakeTiledViewOp::cast).ok_or_else(not_here)?;
        let b = Builder::before(top.context(), make);
        b.set_after(make);
        b.set_location(op.location());
        let copy = clone_detached(made.op());
        b.insert_op(copy);
        let made = MakeTiledTmaDescOp::build(&b, wanted, result(copy, 0), scratch).map_err(error)?.desc();
        self.0.insert(name, made);
        Ok(made)
    }

    /// Whether an op makes one of them.
    pub fn has(&self, op: OpRef<'c>) -> bool {
        MakeTiledTmaDescOp::cast(op).is_some_and(|m| self.0.values().any(|v| *v == m.desc()))
    }
}
