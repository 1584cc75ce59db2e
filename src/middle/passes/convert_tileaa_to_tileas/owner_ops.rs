//! Ops that execute once per element, and the indices of sparse dimensions.
//!
//! Threads that hold a copy of an element must not repeat an atomic update. The same applies to loads that race with
//! stores of other threads. Copies read at different times could differ, and the control flow of threads that must
//! stay uniform could diverge; copies of multicast memory could be combined in different orders. These ops therefore
//! run in the owner of each element, and `replicate` copies the result to the other holders. A scalar is treated as a
//! tensor of one element, owned by the first thread.

use super::{Convert, tensor};
use crate::{
    analysis::layouts::{index_layout, sparse_dimension},
    dialect::{
        layouts::{Tensor, converted, layout_attr, memory_bits, tensor_type},
        nv_tileaa::{self, Ordering},
        nv_tileas::{self, ReplicateOp, SplatOp, UnsplatOp},
        pass::{Failed, fail},
        rt::*,
    },
};
use melior::ir::{Attribute, Type, r#type::IntegerType};

impl<'c> Convert<'c> {
    /// Returns the indices of an access of `view` with tile `tile`; the index of a sparse dimension gets the layout
    /// that the tile requires.
    pub(super) fn indices(
        &self,
        b: &Builder<'c>,
        op: OpRef<'c>,
        view: Val<'c>,
        indices: impl Iterator<Item = Val<'c>>,
        tile: &Tensor<'c>,
    ) -> Result<Vec<Val<'c>>, Failed> {
        let sparse = sparse_dimension(view);
        indices
            .enumerate()
            .map(|(d, v)| match sparse {
                Some(s) if s == d => converted(b, op, v, &index_layout(&self.layout(&tile.shape), &tile.shape, d)),
                _ => Ok(v),
            })
            .collect()
    }

    pub(super) fn atomic_rmw(&self, x: nv_tileaa::AtomicRmwOp<'c>) -> Result<(), Failed> {
        let b = Builder::before(self.context, x.op());
        let (ptr, value) = (self.as_tensor(&b, x.op(), x.ptr())?, self.as_tensor(&b, x.op(), x.value())?);
        let mask = x.mask().map(|m| self.as_tensor(&b, x.op(), m)).transpose()?;
        let one = i64_attr(self.context, 1);
        let token = ty(x.result_token());
        let (kind, ordering, scope) = (x.kind(), x.ordering(), x.scope());
        let built = nv_tileas::AtomicRmwOp::build(
            &b,
            ty(value),
            token,
            ptr,
            value,
            mask,
            x.token(),
            kind,
            ordering,
            scope,
            one,
            None,
        );
        self.replace(&b, x.op(), built)
    }

    pub(super) fn atomic_cas(&self, x: nv_tileaa::AtomicCasOp<'c>) -> Result<(), Failed> {
        let b = Builder::before(self.context, x.op());
        let ptr = self.as_tensor(&b, x.op(), x.ptr())?;
        let (compare, value) = (self.as_tensor(&b, x.op(), x.compare())?, self.as_tensor(&b, x.op(), x.value())?);
        let mask = x.mask().map(|m| self.as_tensor(&b, x.op(), m)).transpose()?;
        let token = ty(x.result_token());
        let (ordering, scope) = (x.ordering(), x.scope());
        let built =
            nv_tileas::AtomicCasOp::build(&b, ty(value), token, ptr, compare, value, mask, x.token(), ordering, scope);
        self.replace(&b, x.op(), built)
    }

    pub(super) fn tiled_atomic_rmw(&self, x: nv_tileaa::TiledAtomicRmwOp<'c>) -> Result<(), Failed> {
        let b = Builder::before(self.context, x.op());
        let indices: Vec<Val<'c>> = x.indices().collect();
        let built = nv_tileas::TiledAtomicRmwOp::build(
            &b,
            ty(x.result_token()),
            x.value(),
            x.view(),
            &indices,
            x.token(),
            x.kind(),
            x.ordering(),
            x.scope(),
            i64_attr(self.context, 1),
            nv_tileas::Bounds::Split,
            x.in_bounds(),
        );
        self.replace(&b, x.op(), built)
    }

    pub(super) fn multimem_load_reduce(&self, x: nv_tileaa::MultimemLoadReduceOp<'c>) -> Result<(), Failed> {
        let b = Builder::before(self.context, x.op());
        let indices = self.indices(&b, x.op(), x.view(), x.indices(), &tensor(x.result()))?;
        let built = nv_tileas::MultimemLoadReduceOp::build(
            &b,
            ty(x.result()),
            ty(x.result_token()),
            x.view(),
            &indices,
            x.token(),
            x.kind(),
            x.ordering(),
            x.scope(),
            i64_attr(self.context, 1),
            nv_tileas::Bounds::Split,
            x.in_bounds(),
        );
        self.replace(&b, x.op(), built)
    }

    pub(super) fn multimem_reduce(&self, x: nv_tileaa::MultimemReduceOp<'c>) -> Result<(), Failed> {
        let b = Builder::before(self.context, x.op());
        let indices = self.indices(&b, x.op(), x.view(), x.indices(), &tensor(x.value()))?;
        let built = nv_tileas::MultimemReduceOp::build(
            &b,
            ty(x.result_token()),
            x.value(),
            x.view(),
            &indices,
            x.token(),
            x.kind(),
            x.ordering(),
            x.scope(),
            i64_attr(self.context, 1),
            nv_tileas::Bounds::Split,
            x.in_bounds(),
        );
        self.replace(&b, x.op(), built)
    }

    pub(super) fn multimem_store(&self, x: nv_tileaa::MultimemStoreOp<'c>) -> Result<(), Failed> {
        let b = Builder::before(self.context, x.op());
        let indices = self.indices(&b, x.op(), x.view(), x.indices(), &tensor(x.value()))?;
        let built = nv_tileas::MultimemStoreOp::build(
            &b,
            ty(x.result_token()),
            x.value(),
            x.view(),
            &indices,
            x.token(),
            x.ordering(),
            x.scope(),
            i64_attr(self.context, 1),
            nv_tileas::Bounds::Split,
            x.in_bounds(),
        );
        self.replace(&b, x.op(), built)
    }

    /// Converts a load through pointers that is not weak.
    pub(super) fn strong_load(&self, x: nv_tileaa::LoadOp<'c>) -> Result<(), Failed> {
        let b = Builder::before(self.context, x.op());
        let ptr = self.as_tensor(&b, x.op(), x.ptr())?;
        let mask = x.mask().map(|m| self.as_tensor(&b, x.op(), m)).transpose()?;
        let other = x.other().map(|o| self.as_tensor(&b, x.op(), o)).transpose()?;
        let result = self.tensor_of(ty(x.result()));
        let built = nv_tileas::LoadOp::build(
            &b,
            result,
            ty(x.result_token()),
            ptr,
            mask,
            other,
            x.token(),
            x.ordering(),
            x.scope(),
            x.hints(),
            i64_attr(self.context, 1),
            None,
        );
        self.replace(&b, x.op(), built)
    }

    /// Adds a `replicate` to the result of a new tile load that is not weak.
    pub(super) fn share_strong(&self, op: OpRef<'c>) -> Result<(), Failed> {
        let Some(load) = nv_tileas::TiledLoadOp::cast(op) else { return Ok(()) };
        if load.ordering() == Ordering::Weak {
            return Ok(());
        }
        let b = Builder::before(self.context, op);
        b.set_after(op);
        let users = uses(load.result());
        let shared = ReplicateOp::build(&b, ty(load.result()), load.result()).map_err(|e| fail(op, e.to_string()))?;
        users.into_iter().for_each(|(user, i)| set_operand(user, i, shared.result()));
        Ok(())
    }

    /// Allocates scratch memory on the heap and frees it at the end of its block. The heap aligns to 16 bytes; larger
    /// alignments allocate spare bytes for padding.
    pub(super) fn alloca(&self, x: nv_tileaa::AllocaOp<'c>) -> Result<(), Failed> {
        const HEAP_ALIGNMENT: i64 = 16;
        let (op, c) = (x.op(), self.context);
        let error = |e: BuildError| fail(op, e.to_string());
        let b = Builder::before(c, op);
        let t = ty(x.result());
        let pointee = nv_tileaa::PtrType::cast(t).ok_or_else(|| fail(op, "result is not a pointer"))?.pointee();
        let bits = i64::from(memory_bits(pointee));
        let spare = if x.alignment() > HEAP_ALIGNMENT { x.alignment() - HEAP_ALIGNMENT } else { 0 };
        // Stores of half a byte access whole words.
        let unit = if bits < 8 { 32 } else { bits };
        let bytes = x.count().checked_mul(bits).and_then(|n| n.checked_add(unit - 1));
        let bytes = bytes.and_then(|n| (n / unit * (unit / 8)).checked_add(spare));
        let bytes = bytes.ok_or_else(|| fail(op, format!("{} elements of {bits} bits are too many", x.count())))?;
        let one = self.tensor_of(t);
        let allocated = nv_tileas::HeapAllocOp::build(&b, one, i64_attr(c, bytes.max(1))).map_err(error)?.result();
        let shared = ReplicateOp::build(&b, one, allocated).map_err(error)?.result();
        let raw = UnsplatOp::build(&b, t, shared).map_err(error)?.result();
        let mut result = raw;
        if spare > 0 {
            let i64 = IntegerType::new(c, 64).into();
            let address = nv_tileaa::PtrToIntOp::build(&b, i64, raw).map_err(error)?.result();
            let last = b.addi(address, b.i64_constant(x.alignment() - 1));
            let aligned = b.andi(last, b.i64_constant(-x.alignment()));
            result = nv_tileaa::IntToPtrOp::build(&b, t, aligned).map_err(error)?.result();
        }
        replace_all_uses(x.result(), result);
        let end = std::iter::successors(Some(op), |o| next_op(*o)).last().expect("the op itself");
        b.set_before(end);
        nv_tileas::BarrierOp::build(&b, None, None).map_err(error)?;
        nv_tileas::HeapFreeOp::build(&b, raw).map_err(error)?;
        erase(op);
        Ok(())
    }

    pub(super) fn print(&self, x: nv_tileaa::PrintOp<'c>) -> Result<(), Failed> {
        let b = Builder::before(self.context, x.op());
        let arguments: Vec<Val<'c>> = x.args().collect();
        let format = attr(x.op(), "format").ok_or_else(|| fail(x.op(), "print has no format"))?;
        let built = nv_tileas::PrintOp::build(&b, ty(x.result_token()), &arguments, &[], x.token(), format);
        self.replace(&b, x.op(), built)
    }

    /// Scalars become tensors of one element, because arguments and results move through shared memory.
    pub(super) fn extern_call(&self, x: nv_tileaa::ExternCallOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let b = Builder::before(self.context, op);
        let error = |e: BuildError| fail(op, e.to_string());
        let arguments = x.args().map(|v| self.as_tensor(&b, op, v)).collect::<Result<Vec<_>, _>>()?;
        let types: Vec<Type<'c>> = x.results().map(|v| self.tensor_of(ty(v))).collect();
        let field = |name: &str| attr(op, name).ok_or_else(|| fail(op, format!("the call lacks '{name}'")));
        let token = ty(x.result_token());
        let new = nv_tileas::ExternCallOp::build(
            &b,
            &types,
            token,
            &arguments,
            &[],
            x.token(),
            field("symbol")?,
            field("fragments")?,
            field("access")?,
            field("scratchSize")?,
            field("scratchAlignment")?,
            field("synchronization")?,
        )
        .map_err(error)?;
        for (old, value) in x.results().zip(new.results()) {
            let value = match Tensor::of_value(old) {
                Some(_) => value,
                None => UnsplatOp::build(&b, ty(old), value).map_err(error)?.result(),
            };
            replace_all_uses(old, value);
        }
        replace_all_uses(x.result_token(), new.result_token());
        erase(op);
        Ok(())
    }

    //===-- scalars as tensors ----------------------------------------------===//

    /// Returns a one-element tensor type for a scalar type; tensor types do not change.
    fn tensor_of(&self, t: Type<'c>) -> Type<'c> {
        if Tensor::of(t).is_some() {
            return t;
        }
        let layout: Attribute<'c> = layout_attr(self.context, &self.layout(&[1]));
        tensor_type(&[1], t, Some(layout))
    }

    fn as_tensor(&self, b: &Builder<'c>, op: OpRef<'c>, v: Val<'c>) -> Result<Val<'c>, Failed> {
        if Tensor::of_value(v).is_some() {
            return Ok(v);
        }
        SplatOp::build(b, self.tensor_of(ty(v)), v).map(|s| s.result()).map_err(|e| fail(op, e.to_string()))
    }

    /// Replaces `old` by `new`. Only the owners hold the first result of `new`, which is a tensor even if the result
    /// of `old` is a scalar. The last result of both ops is a token.
    fn replace<O: OpView<'c>>(
        &self,
        b: &Builder<'c>,
        old: OpRef<'c>,
        built: Result<O, BuildError>,
    ) -> Result<(), Failed> {
        let new = built.map_err(|e| fail(old, e.to_string()))?.op();
        let token = result_count(old) - 1;
        let value = result(old, 0);
        if token == 1 && has_uses(value) {
            let shared = ReplicateOp::build(b, ty(result(new, 0)), result(new, 0));
            let mut shared = shared.map_err(|e| fail(old, e.to_string()))?.result();
            if Tensor::of_value(value).is_none() {
                let scalar = UnsplatOp::build(b, ty(value), shared);
                shared = scalar.map_err(|e| fail(old, e.to_string()))?.result();
            }
            replace_all_uses(value, shared);
        }
        replace_all_uses(result(old, token), result(new, token));
        erase(old);
        Ok(())
    }
}
