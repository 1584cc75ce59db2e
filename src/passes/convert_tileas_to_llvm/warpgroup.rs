//! Products of warpgroups: `wgmma`.

use super::Lower;
use crate::dialect::{
    nv_tileas::{AsyncDotOp, AsyncDotWaitOp},
    pass::{Failed, fail},
    rt::OpView,
};

impl<'c> Lower<'c, '_> {
    pub(super) fn async_dot(&mut self, op: AsyncDotOp<'c>) -> Result<(), Failed> {
        Err(fail(op.op(), "asynchronous products have no lowering to LLVM"))
    }

    pub(super) fn async_dot_wait(&mut self, op: AsyncDotWaitOp<'c>) -> Result<(), Failed> {
        Err(fail(op.op(), "asynchronous products have no lowering to LLVM"))
    }
}
