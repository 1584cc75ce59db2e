//! Creation of the tensor maps of views, ahead of the copies through them.

use super::access::View;
use crate::dialect::{
    behaviour::is_pure,
    loops::loops_around,
    nv_tileaa::{FuncOp, MakeTiledViewOp},
    nv_tileas::{
        AllocTensorOp, AsyncBulkLoadOp, AsyncTiledTmaLoadOp, MakeTiledTmaDescOp, MemDescType, TmaDescType, TmaReadyOp,
    },
    pass::{Failed, fail},
    rt::*,
    shared_memory::{ALIGNMENT, aligned_storage_type, memdesc_bytes},
    upstream::{Arith, Scf},
};
use melior::{
    Context,
    ir::{Attribute, Type, TypeLike, ValueLike, r#type::IntegerType},
};
use mlir_sys::*;
use rustc_hash::FxHashMap;

/// The size of a map in bytes, and the layout of the storage in which it is built.
pub const MAP_BYTES: i64 = 128;
const MAP_BASES: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Maps keyed by the view, the type and the point of creation; copies of the same view share their map.
#[derive(Default)]
pub struct TensorMaps<'c>(FxHashMap<(usize, usize, usize), Val<'c>>);

impl<'c> TensorMaps<'c> {
    /// Returns the map of `view` for the copies of `op`; its scratch is allocated at `top`. The map is created after
    /// the view's memref. If the memref is inside a loop or branch, the map is created before the innermost loop
    /// around `op` that does not contain the memref, or before `op`, because CTAs that skip the copy need no map.
    pub fn of(
        &mut self,
        op: OpRef<'c>,
        view: Val<'c>,
        map: TmaDescType<'c>,
        top: &Builder<'c>,
    ) -> Result<Val<'c>, Failed> {
        let error = |e: BuildError| fail(op, e.to_string());
        let wanted: Type<'c> = map.into();
        let not_here = || fail(op, "its view is not created in this function");
        let make = View::of(view).ok_or_else(not_here)?.make.op();
        let user = Some(make).filter(|make| is_inside(*make)).map(|make| first_use(op, make));
        let name = (key(view), wanted.to_raw().ptr as usize, user.map_or(0, op_key));
        if let Some(map) = self.0.get(&name) {
            return Ok(*map);
        }
        let bytes = IntegerType::new(top.context(), 8).into();
        let scratch = aligned_storage_type(op, &[MAP_BYTES], bytes, &MAP_BASES, ALIGNMENT).map_err(error)?;
        let scratch = AllocTensorOp::build(top, scratch.into(), None).map_err(error)?.result();
        let made = defining_op(view).and_then(MakeTiledViewOp::cast).ok_or_else(not_here)?;
        let b = Builder::before(top.context(), make);
        b.set_after(make);
        // Maps of the same loop are adjacent, so that they are looked up together.
        let others = user.map(maps_before).unwrap_or_default();
        if let Some(first) = others.last().copied().or(user) {
            b.set_before(first);
        }
        b.set_location(op.location());
        let copy = clone_detached(made.op());
        b.insert_op(copy);
        if let Some(user) = user {
            b.set_before(user);
        }
        let made = MakeTiledTmaDescOp::build(&b, wanted, result(copy, 0), scratch, &[], &[]).map_err(error)?.desc();
        self.0.insert(name, made);
        Ok(made)
    }

    /// Whether an op creates one of these maps.
    pub fn has(&self, op: OpRef<'c>) -> bool {
        MakeTiledTmaDescOp::cast(op).is_some_and(|m| self.0.values().any(|v| *v == m.desc()))
    }
}

/// Returns the condition of a branch, if it tests whether tensor maps can describe views.
pub fn readiness(op: OpRef<'_>) -> Option<Val<'_>> {
    fn asks(v: Val<'_>) -> bool {
        defining_op(v).is_some_and(|op| {
            TmaReadyOp::cast(op).is_some() || Arith::of(op) == Some(Arith::AndI) && operands(op).all(asks)
        })
    }
    Some(op).filter(|op| Scf::of(*op) == Some(Scf::If)).map(|op| operand(op, 0)).filter(|v| asks(*v))
}

/// Whether an op is inside a loop or branch of its agent.
pub fn is_inside(op: OpRef<'_>) -> bool {
    parent_op(op).is_some_and(|p| Scf::of(p).is_some())
}

/// Returns the innermost loop around `op` that does not contain `make`, or `op`.
fn first_use<'c>(op: OpRef<'c>, make: OpRef<'c>) -> OpRef<'c> {
    loops_around(op).next().filter(|around| !contains(*around, make)).unwrap_or(op)
}

/// Whether `op` is `outer`, or inside it.
pub fn contains<'c>(outer: OpRef<'c>, op: OpRef<'c>) -> bool {
    std::iter::successors(Some(op), |o| parent_op(*o)).any(|o| o == outer)
}

/// Returns the ops that create maps directly before an op, the nearest first. Only computation is in between.
pub fn maps_before(op: OpRef<'_>) -> Vec<OpRef<'_>> {
    let is_map = |o: &OpRef<'_>| MakeTiledTmaDescOp::cast(*o).is_some();
    ops_before(op).take_while(|o| is_map(o) || is_pure(*o)).filter(is_map).collect()
}

/// Makes the ops directly before `op` that create tensor maps of `is_ours` wait for the copies that filled a pipeline
/// up to an iterator.
pub fn order_after<'c>(
    context: &'c Context,
    op: OpRef<'c>,
    is_ours: impl Fn(Val<'c>) -> bool,
    (pipeline, at): (Val<'c>, Val<'c>),
) {
    for map in maps_before(op).into_iter().filter_map(MakeTiledTmaDescOp::cast) {
        if !is_ours(map.desc()) || map.pipelines().any(|p| p == pipeline) {
            continue;
        }
        let pipelines: Vec<Val<'c>> = map.pipelines().chain([pipeline]).collect();
        let iterators: Vec<Val<'c>> = map.iterators().chain([at]).collect();
        let count = pipelines.len() as i32;
        let all: Vec<MlirValue> =
            [map.view(), map.scratch()].into_iter().chain(pipelines).chain(iterators).map(|v| v.to_raw()).collect();
        let sizes = [1, 1, count, count];
        // SAFETY: the op, its operands and the context are alive; MLIR copies the lists.
        unsafe {
            mlirOperationSetOperands(map.op().to_raw(), all.len() as isize, all.as_ptr());
            let sizes = mlirDenseI32ArrayGet(context.to_raw(), sizes.len() as isize, sizes.as_ptr());
            set_attr(map.op(), "operandSegmentSizes", Attribute::from_raw(sizes));
        }
    }
}

/// Returns the function around an op.
fn function_of(op: MakeTiledTmaDescOp<'_>) -> OpRef<'_> {
    let mut function = op.op();
    while let Some(outer) = parent_op(function).filter(|_| FuncOp::cast(function).is_none()) {
        function = outer;
    }
    function
}

/// Returns the maps that are created in the function of a map, in order.
pub fn maps_of_function(op: MakeTiledTmaDescOp<'_>) -> Vec<MakeTiledTmaDescOp<'_>> {
    collect_ops(function_of(op), MakeTiledTmaDescOp::cast)
}

/// Whether TMA loads write to the memory of a map's scratch at other times.
pub fn is_copied_over(op: MakeTiledTmaDescOp<'_>) -> bool {
    let place = |storage: AllocTensorOp<'_>| {
        let desc = MemDescType::cast(ty(storage.result()))?;
        let start = storage.offset()?;
        Some(start..start + memdesc_bytes(desc) as i64)
    };
    let own = defining_op(op.scratch()).and_then(AllocTensorOp::cast);
    let Some((own, at)) = own.and_then(|own| Some((own, place(own)?))) else { return true };
    let others = collect_ops(function_of(op), AllocTensorOp::cast);
    others
        .into_iter()
        .filter(|other| op_key(other.op()) != op_key(own.op()) && is_copied_to(other.result()))
        .any(|other| place(other).is_none_or(|other| other.start < at.end && at.start < other.end))
}

/// Whether a TMA load writes to the storage or a part of it.
fn is_copied_to(storage: Val<'_>) -> bool {
    uses(storage).into_iter().any(|(user, at)| match (AsyncTiledTmaLoadOp::cast(user), AsyncBulkLoadOp::cast(user)) {
        (Some(copy), _) => key(copy.dest()) == key(operand(user, at)),
        (_, Some(copy)) => key(copy.dest()) == key(operand(user, at)),
        _ => results(user).any(|r| MemDescType::cast(ty(r)).is_some() && is_copied_to(r)),
    })
}
