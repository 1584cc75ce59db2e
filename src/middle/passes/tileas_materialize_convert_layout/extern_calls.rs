//! Arguments and results of library functions move through shared memory.
//!
//! ```text
//!                              %m = alloc_tensor
//!                              barrier                 earlier readers of the same storage are done
//! %r = extern_call "f"(%x)     local_store %x, %m
//!                        =>    barrier
//!                              extern_call "f"() storage %m
//!                              barrier
//!                              %r = local_load %m
//! ```
//!
//! The elements of a storage are in column-major order, in which the maps of fragments count. A fragment in shared
//! memory is the storage itself, so its elements have the offsets of the fragment's memory layout.
//!
//! A result has a storage of its own if several threads hold the elements of an `inout` argument.

use crate::dialect::{
    fragments::{Fragment, IN},
    layouts::Tensor,
    nv_tileas::{AllocTensorOp, BarrierOp, ExternCallOp, LocalLoadOp, MemDescType},
    pass::{Failed, fail},
    rt::*,
    shared_memory::{ALIGNMENT, Stored, aligned_storage_type, store_all},
    types::int,
};
use melior::Context;

/// Rewrites a call. Returns whether it uses shared memory, which it always does.
pub fn materialize<'c>(x: ExternCallOp<'c>, barrier_first: bool, context: &'c Context) -> Result<bool, Failed> {
    let op = x.op();
    if x.storage().len() > 0 {
        return Ok(true);
    }
    let error = |e: BuildError| fail(op, e.to_string());
    let fragments = Fragment::list(x.fragments()).ok_or_else(|| fail(op, "a fragment is not constant"))?;
    let access = x.access();
    let outputs = access.iter().filter(|a| **a != IN).count();
    if fragments.len() != x.args().len() || access.len() != fragments.len() || outputs != x.results().len() {
        return Err(fail(op, "fragments, accesses, arguments and results do not fit together"));
    }
    let b = Builder::before(context, op);
    let mut stored = vec![];
    for (fragment, value) in fragments.iter().zip(x.args()) {
        let storage = AllocTensorOp::build(&b, storage(op, fragment, value)?.into(), None).map_err(error)?.result();
        stored.push(Stored { value, storage, vector: 1 });
    }
    let mut storages: Vec<Val<'c>> = stored.iter().map(|s| s.storage).collect();
    if x.scratch_size() > 0 {
        let bytes = (x.scratch_size() as u64).next_power_of_two();
        let bases: Vec<u64> = (0..bytes.ilog2()).map(|bit| 1 << bit).collect();
        let alignment = x.scratch_alignment().max(ALIGNMENT);
        let desc = aligned_storage_type(op, &[bytes as i64], int(context, 8), &bases, alignment).map_err(error)?;
        storages.push(AllocTensorOp::build(&b, desc.into(), None).map_err(error)?.result());
    }
    // The storage of each result: the argument's, or one of its own.
    let mut results = vec![];
    for (k, (fragment, access)) in fragments.iter().zip(&access).enumerate().filter(|(_, (_, access))| **access != IN) {
        results.push(if fragment.needs_result(*access) {
            let result = AllocTensorOp::build(&b, ty(storages[k]), None).map_err(error)?.result();
            storages.push(result);
            result
        } else {
            storages[k]
        });
    }
    store_all(&b, &stored, barrier_first).map_err(error)?;
    let field = |name: &str| attr(op, name).ok_or_else(|| fail(op, format!("the call lacks '{name}'")));
    let new = ExternCallOp::build(
        &b,
        &[],
        ty(x.result_token()),
        &[],
        &storages,
        x.token(),
        field("symbol")?,
        field("fragments")?,
        field("access")?,
        field("scratchSize")?,
        field("scratchAlignment")?,
        field("synchronization")?,
    )
    .map_err(error)?;
    BarrierOp::build(&b, None, None).map_err(error)?;
    for (old, storage) in x.results().zip(results) {
        let loaded = LocalLoadOp::build(&b, ty(old), storage, i64_attr(context, 1)).map_err(error)?;
        replace_all_uses(old, loaded.result());
    }
    replace_all_uses(x.result_token(), new.result_token());
    erase(op);
    Ok(true)
}

/// The type of the storage of an argument.
fn storage<'c>(op: OpRef<'c>, fragment: &Fragment, value: Val<'c>) -> Result<MemDescType<'c>, Failed> {
    let tensor = Tensor::of_value(value).ok_or_else(|| fail(op, "an argument is not a tensor"))?;
    let column_major = column_major(&tensor.shape);
    let bases = if fragment.shared {
        let numbers = fragment.shared_numbers(tensor.elements()).ok_or_else(|| {
            fail(op, "a fragment in shared memory has a map or a memory layout that is not linear in the bits")
        })?;
        numbers.iter().map(|number| column_major[number.ilog2() as usize]).collect()
    } else {
        column_major
    };
    aligned_storage_type(op, &tensor.shape, tensor.element, &bases, ALIGNMENT).map_err(|e| fail(op, e.to_string()))
}

/// The row-major index that each bit of a column-major number adds.
fn column_major(shape: &[i64]) -> Vec<u64> {
    let bits = |d: usize| shape[d].ilog2();
    let mut bases = vec![];
    for d in 0..shape.len() {
        let after: u32 = (d + 1..shape.len()).map(bits).sum();
        bases.extend((0..bits(d)).map(|bit| 1u64 << (after + bit)));
    }
    bases
}

#[cfg(test)]
mod tests {
    use super::column_major;

    #[test]
    fn rows_become_columns() {
        // Element (r, c) of 8x16: row-major 16 r + c, column-major r + 8 c.
        assert_eq!(column_major(&[8, 16]), [16, 32, 64, 1, 2, 4, 8]);
        assert_eq!(column_major(&[1]), [0u64; 0]);
        assert_eq!(column_major(&[2, 1, 4]), [4, 1, 2]);
    }
}
