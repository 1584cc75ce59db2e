//! Tensor maps and copies of tiles by them.

use super::Lower;
use crate::dialect::{
    nv_tileas::{AsyncTiledTmaLoadOp, MakeTiledTmaDescOp},
    pass::{Failed, fail},
    rt::OpView,
};

impl<'c> Lower<'c, '_> {
    pub(super) fn make_tiled_tma_desc(&mut self, op: MakeTiledTmaDescOp<'c>) -> Result<(), Failed> {
        Err(fail(op.op(), "tensor maps have no lowering to LLVM"))
    }

    pub(super) fn async_tiled_tma_load(&mut self, op: AsyncTiledTmaLoadOp<'c>) -> Result<(), Failed> {
        Err(fail(op.op(), "copies by tensor maps have no lowering to LLVM"))
    }
}
