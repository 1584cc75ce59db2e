//! Tensors in shared memory: their descriptors, and movement of values through them.
//!
//! ```text
//! %m = alloc_tensor
//! barrier                  earlier readers of the same bytes are done; marked [`REUSE`]
//! local_store %x, %m
//! barrier
//! %y = local_load %m
//! ```
//!
//! Several values move together: all stores, one barrier, all loads.

use super::{
    attributes::REUSE,
    layouts::{Tensor, memory_bits, storage_bits},
    nv_tileas::{AllocTensorOp, BarrierOp, LocalLoadOp, LocalStoreOp, MemDescType, MemorySpace, SharedLayoutAttr},
    pass::context_of,
    pass::{Failed, fail},
    rt::*,
};
use melior::ir::{Type, r#type::IntegerType};
use tile_layout::{
    AccessMode, Direction, Layout, Matrices, Pairs, ScaleFactors, Shape, SharedAccess, SharedLayout, SharedOptions,
    TensorMemory, plan_shared,
};
use tile_targets::{Feature, Target};

/// Limit, in bytes, of the shared memory of one conversion, so that others fit as well.
pub const SCRATCH_BYTES: u64 = 32 << 10;

/// The most storages that TMA stores of slices with the same shape take in turn: threads write one while TMA reads
/// another one.
pub const STORAGES: usize = 2;

/// The default alignment in bytes of every storage and every stage. A type may require more.
pub const ALIGNMENT: i64 = 128;

/// Returns the bytes of shared memory that a storage takes, including all stages.
pub fn memdesc_bytes(desc: MemDescType<'_>) -> u64 {
    if desc.space() == MemorySpace::Shared { stage_bytes(desc) * desc.stages() as u64 } else { 0 }
}

/// Returns the number of bits of an element in its storage.
pub fn stored_bits(desc: MemDescType<'_>) -> u32 {
    if desc.packed() { memory_bits(desc.element_type()) } else { storage_bits(desc.element_type()) }
}

/// Returns the distance in bytes between consecutive stages of a storage.
pub fn stage_bytes(desc: MemDescType<'_>) -> u64 {
    let bytes = desc.shape().iter().product::<i64>() as u64 * u64::from(stored_bits(desc)) / 8;
    if desc.stages() == 1 { bytes } else { bytes.next_multiple_of(desc.alignment() as u64) }
}

/// Returns the size of a storage in bytes, plus the padding that may precede the next storage.
pub fn padded_bytes(desc: MemDescType<'_>) -> u64 {
    memdesc_bytes(desc).next_multiple_of(desc.alignment() as u64)
}

/// Returns the layout of a memdesc in the algebra.
pub fn shared_layout(desc: MemDescType<'_>) -> Option<SharedLayout> {
    let layout = SharedLayoutAttr::cast(desc.layout()?)?;
    let bases: Vec<u64> = layout.offsets().iter().map(|&b| b as u64).collect();
    let bits = bases.len() as u32;
    SharedLayout::new(bases, bits).ok()
}

/// Returns the layout of a memdesc in tensor memory; `None` if it is elsewhere or its layout is invalid.
pub fn tensor_memory(desc: MemDescType<'_>) -> Option<TensorMemory> {
    let layout = SharedLayoutAttr::cast(desc.layout()?).filter(|_| desc.space() == MemorySpace::Tensor)?;
    let shape = Shape::new(desc.shape()).ok()?;
    TensorMemory::new(&shape, layout.offsets().iter().map(|&b| b as u64).collect()).ok()
}

/// Returns the type of `stages` stages of an accumulator or a left operand in tensor memory.
pub fn tensor_memory_type<'c>(
    op: OpRef<'c>,
    shape: &[i64],
    element: Type<'c>,
    stages: i64,
) -> Result<MemDescType<'c>, String> {
    let memory = Shape::new(shape).and_then(|shape| TensorMemory::accumulator(&shape)).map_err(|e| e.to_string())?;
    memory_type(op, (shape, element), memory.bases(), (stages, MemorySpace::Tensor))
}

/// Returns the type of a left operand that replaces an accumulator of 32-bit elements: each block of rows takes the
/// first columns of the block that it replaces.
pub fn replacing_memory_type<'c>(op: OpRef<'c>, shape: &[i64], element: Type<'c>) -> Result<MemDescType<'c>, String> {
    let gap = (32 / storage_bits(element)).ilog2();
    let memory = Shape::new(shape).and_then(|shape| TensorMemory::spaced(&shape, gap)).map_err(|e| e.to_string())?;
    memory_type(op, (shape, element), memory.bases(), (1, MemorySpace::Tensor))
}

fn memory_type<'c>(
    op: OpRef<'c>,
    (shape, element): (&[i64], Type<'c>),
    bases: &[u64],
    (stages, space): (i64, MemorySpace),
) -> Result<MemDescType<'c>, String> {
    let bases: Vec<i64> = bases.iter().map(|&b| b as i64).collect();
    let desc = SharedLayoutAttr::get(op.location(), &bases).and_then(|layout| {
        MemDescType::get(op.location(), shape, element, layout.into(), stages, space, ALIGNMENT, false)
    });
    desc.ok_or_else(|| "cannot build a type in tensor memory".into())
}

/// The storage of scale factors whose dimension `lines` numbers the rows or columns that they scale: in shared memory
/// in blocks that the hardware copies, and in tensor memory. Extents of less than a block are filled up.
///
/// Errors: another rank, or elements of more than a byte.
pub fn scale_types<'c>(
    op: OpRef<'c>,
    shape: &[i64],
    element: Type<'c>,
    lines: usize,
) -> Result<[MemDescType<'c>; 2], String> {
    let &[_, _] = shape else { return Err("scale factors have two dimensions".into()) };
    if storage_bits(element) != 8 {
        return Err("scale factors are bytes".into());
    }
    let extents = filled_up(shape, lines);
    let factors = Shape::new(&extents).and_then(|shape| ScaleFactors::new(&shape, lines)).map_err(|e| e.to_string())?;
    let of = |bases: &[u64], space| memory_type(op, (&extents, element), bases, (1, space));
    Ok([of(&factors.shared(), MemorySpace::Shared)?, of(&factors.tensor(), MemorySpace::Scales)?])
}

/// The extents of scale factors, at least of one block.
pub fn filled_up(shape: &[i64], lines: usize) -> Vec<i64> {
    let [least_lines, least_factors] = ScaleFactors::LEAST;
    let least = |d: usize| if d == lines { least_lines } else { least_factors };
    shape.iter().enumerate().map(|(d, extent)| (*extent).max(least(d))).collect()
}

/// The scale factors of a storage in blocks, in shared or tensor memory. `None` if it has another layout.
pub fn scale_factors(desc: MemDescType<'_>, lines: usize) -> Option<ScaleFactors> {
    let factors = ScaleFactors::new(&Shape::new(desc.shape()).ok()?, lines).ok()?;
    let layout = SharedLayoutAttr::cast(desc.layout()?)?;
    let needed = match desc.space() {
        MemorySpace::Shared => factors.shared(),
        MemorySpace::Scales => factors.tensor(),
        MemorySpace::Tensor => return None,
    };
    let is_needed = layout.offsets().iter().map(|&b| b as u64).eq(needed);
    is_needed.then_some(factors)
}

/// log2 of the lanes that hold scale factors.
const SCALE_LANES_LOG2: usize = 5;

/// The 32-bit columns of tensor memory that a storage takes, including all stages.
pub fn tensor_columns(desc: MemDescType<'_>) -> Option<u64> {
    if desc.space() == MemorySpace::Scales {
        let layout = SharedLayoutAttr::cast(desc.layout()?)?;
        let bytes = 1u64 << layout.offsets().len().checked_sub(SCALE_LANES_LOG2)?;
        return Some(bytes.div_ceil(4) * desc.stages() as u64);
    }
    let bits = u64::from(tensor_memory(desc)?.columns()) * u64::from(storage_bits(desc.element_type()));
    Some(bits.div_ceil(32) * desc.stages() as u64)
}

/// Returns the allocation that a view of storage refers to.
pub fn root_of(mut memory: Val<'_>) -> Val<'_> {
    while let Some(op) = defining_op(memory).filter(|o| AllocTensorOp::cast(*o).is_none() && operand_count(*o) > 0) {
        memory = operand(op, 0);
    }
    memory
}

/// Plans the accesses of a tensor in shared memory by `target`; `None` if the storage has no valid layout. The plan of
/// packed elements moves pairs of them ([`Pairs::registers`]).
pub fn access_plan(
    layout: &Layout,
    desc: MemDescType<'_>,
    direction: Direction,
    target: &Target,
) -> Option<tile_layout::Result<SharedAccess>> {
    let matrices = match direction {
        Direction::Load => loaded_matrices(target),
        Direction::Store => Matrices::halves(target.has(Feature::Stmatrix)),
    };
    let (bits, shared) = (storage_bits(desc.element_type()), shared_layout(desc)?);
    if !desc.packed() {
        return Some(SharedAccess::with_matrices(layout, &shared, bits, direction, matrices));
    }
    let shape = Shape::new(desc.shape()).ok()?;
    Some(Pairs::of(&shape, &shared).and_then(|pairs| {
        let layout = pairs.registers(&shape, layout)?;
        SharedAccess::with_matrices(&layout, &pairs.shared, bits, direction, matrices)
    }))
}

/// The matrices that `ldmatrix` loads. Every target has `ldmatrix` of 16-bit elements.
pub fn loaded_matrices(target: &Target) -> Matrices {
    if target.has(Feature::MatrixB8) { Matrices::Bytes } else { Matrices::Halves }
}

/// Returns the same storage with `stages` stages.
pub fn with_stages<'c>(op: OpRef<'c>, desc: MemDescType<'c>, stages: i64) -> Option<MemDescType<'c>> {
    let (shape, element, alignment) = (desc.shape(), desc.element_type(), desc.alignment());
    MemDescType::get(op.location(), shape, element, desc.layout()?, stages, desc.space(), alignment, desc.packed())
}

/// Returns the type of single-stage storage for `op` whose layout has these bases.
pub fn storage_type<'c>(
    op: OpRef<'c>,
    shape: &[i64],
    element: Type<'c>,
    bases: &[u64],
) -> Result<MemDescType<'c>, BuildError> {
    aligned_storage_type(op, shape, element, bases, ALIGNMENT)
}

/// Returns the type of single-stage storage that starts at a multiple of `alignment` bytes.
pub fn aligned_storage_type<'c>(
    op: OpRef<'c>,
    shape: &[i64],
    element: Type<'c>,
    bases: &[u64],
    alignment: i64,
) -> Result<MemDescType<'c>, BuildError> {
    shared_type(op, (shape, element), bases, (alignment, false))
}

/// Returns the type of storage for at least this many barriers.
pub fn barrier_storage_type<'c>(op: OpRef<'c>, barriers: i64, alignment: i64) -> Result<MemDescType<'c>, BuildError> {
    let words = (barriers as u64).next_power_of_two();
    let bases: Vec<u64> = (0..words.ilog2()).map(|i| 1 << i).collect();
    let word = IntegerType::new(context_of(op), 64).into();
    aligned_storage_type(op, &[words as i64], word, &bases, alignment)
}

/// Returns the same storage as a tile of another shape, whose layout has these bases.
pub fn reshaped_storage<'c>(
    op: OpRef<'c>,
    desc: MemDescType<'c>,
    shape: &[i64],
    bases: &[u64],
) -> Result<MemDescType<'c>, BuildError> {
    shared_type(op, (shape, desc.element_type()), bases, (desc.alignment(), desc.packed()))
}

/// Returns the type of single-stage storage of elements of 4 bits, two of which share a byte.
pub fn packed_storage_type<'c>(
    op: OpRef<'c>,
    shape: &[i64],
    element: Type<'c>,
    bases: &[u64],
    alignment: i64,
) -> Result<MemDescType<'c>, BuildError> {
    shared_type(op, (shape, element), bases, (alignment, true))
}

fn shared_type<'c>(
    op: OpRef<'c>,
    (shape, element): (&[i64], Type<'c>),
    bases: &[u64],
    (alignment, packed): (i64, bool),
) -> Result<MemDescType<'c>, BuildError> {
    let bases: Vec<i64> = bases.iter().map(|&b| b as i64).collect();
    let desc = SharedLayoutAttr::get(op.location(), &bases).and_then(|layout| {
        MemDescType::get(op.location(), shape, element, layout.into(), 1, MemorySpace::Shared, alignment, packed)
    });
    desc.ok_or_else(|| BuildError("storage in shared memory".into()))
}

/// Returns the number of elements that one instruction of an access moves.
pub fn vector_of(access: &SharedAccess) -> i64 {
    match access.mode {
        AccessMode::Vector { elements } | AccessMode::Matrix { elements, .. } => elements.into(),
    }
}

/// A value, its destination, and the number of elements per store.
pub struct Stored<'c> {
    pub value: Val<'c>,
    pub storage: Val<'c>,
    pub vector: i64,
}

/// Stores values such that all threads may load them afterwards. `barrier_first` is required if the storage may still
/// be read.
pub fn store_all<'c>(b: &Builder<'c>, values: &[Stored<'c>], barrier_first: bool) -> Result<(), BuildError> {
    if barrier_first {
        let barrier = BarrierOp::build(b, None, None)?;
        REUSE.mark(barrier.op());
    }
    for x in values {
        LocalStoreOp::build(b, x.value, x.storage, i64_attr(b.context(), x.vector))?;
    }
    BarrierOp::build(b, None, None)?;
    Ok(())
}

/// Converts values of `op` with the same shape and layout to the layout `to`.
pub fn exchange<'c>(
    b: &Builder<'c>,
    op: OpRef<'c>,
    values: &[Val<'c>],
    to: &Layout,
    barrier_first: bool,
) -> Result<Vec<Val<'c>>, Failed> {
    let error = |e: BuildError| fail(op, e.to_string());
    let (mut stored, mut loads) = (vec![], vec![]);
    for &value in values {
        let tensor = Tensor::of_value(value).ok_or_else(|| fail(op, "operand is not a tensor"))?;
        let from = tensor.layout().ok_or_else(|| fail(op, "tensor has no layout"))?;
        let options = SharedOptions::new(storage_bits(tensor.element));
        let plan = plan_shared(&from, to, &tensor.tile_shape(), &options).map_err(|e| fail(op, e.to_string()))?;
        let desc = storage_type(op, &tensor.shape, tensor.element, plan.layout.bases()).map_err(error)?;
        let storage = AllocTensorOp::build(b, desc.into(), None).map_err(error)?.result();
        stored.push(Stored { value, storage, vector: vector_of(&plan.store) });
        loads.push((tensor.with_layout(b.context(), to), storage, vector_of(&plan.load)));
    }
    store_all(b, &stored, barrier_first).map_err(error)?;
    loads
        .into_iter()
        .map(|(t, storage, vector)| {
            LocalLoadOp::build(b, t, storage, i64_attr(b.context(), vector)).map(|l| l.result()).map_err(error)
        })
        .collect()
}
