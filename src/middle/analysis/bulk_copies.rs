//! Copies of tiles that are contiguous in memory to shared memory (`cp.async.bulk`).
//!
//! A bulk copy moves a multiple of 16 bytes that are contiguous on both sides. It needs no tensor map, and tests no
//! bounds. A tile is copied in equal parts: the longest run of elements that are consecutive in memory and in shared
//! memory, once for each combination of the other bits of an offset.
//!
//! *Worked example.* Blocks of 512 bytes, 32 x 4 x 4 scale factors each, as a tile of 2 x 4 x 32 x 4 x 4 in a view with
//! strides of (K, 512, 16, 4, 1): four blocks are consecutive, so two copies of 2048 bytes move the tile.
//!
//! The analysis looks at each bit of an offset once.

use super::{
    access::{Place, View, places, tiled_access},
    converted_scales::indices_of,
    facts::{Facts, TOP},
    producers::LoadedOperand,
};
use crate::dialect::{
    behaviour::{LayoutRelation, layout_relation},
    layouts::{Tensor, memory_bits, storage_bits},
    nv_tileaa::{self, TiledViewType},
    nv_tileas::{self, MemDescType},
    rt::*,
    shared_memory::{aligned_storage_type, shared_layout},
};
use tile_layout::Shape;

/// The bytes that a bulk copy moves at least, and the alignment of its addresses.
const UNIT: u64 = 16;
/// The most copies of a tile.
const MOST_PARTS: u64 = 16;

/// The copies of a tile, which one thread issues.
pub struct BulkCopy {
    /// Bytes of each part.
    pub bytes: u64,
    pub parts: Vec<Part>,
}

/// A part of a tile.
pub struct Part {
    /// The distance in bytes from the start of the storage.
    pub offset: u64,
    /// The coordinates of the first element in the tile.
    pub coordinates: Vec<u64>,
}

/// Returns the bytes that bulk copies move to `dest` for a load of `view` at these indices.
///
/// Errors: the reason why they cannot.
fn plan<'c>(
    view: &View<'c>,
    indices: &[Val<'c>],
    places: &[Place],
    dest: MemDescType<'c>,
    facts: &Facts,
) -> Result<u32, String> {
    let element = view.memref.element_type();
    if memory_bits(element) != storage_bits(element) || view.ty.sparse_dim().is_some() {
        return Err("its elements are not consecutive bytes".into());
    }
    if !tiled_access(facts, view, indices, places).in_bounds.iter().all(|inside| *inside) {
        return Err("a tile may be partly outside of its view".into());
    }
    let strides: Vec<Option<u64>> = (view.ty.dim_map().iter())
        .map(|d| view.stride(*d as usize).ok().and_then(|stride| u64::try_from(stride).ok()))
        .collect();
    let copy = parts(view.ty, &strides, dest)?;
    let bytes = u64::from(storage_bits(element) / 8);
    let is_aligned = |d: usize| {
        let stride = view.stride_divisor(view.ty.dim_map()[d] as usize, facts).saturating_mul(bytes);
        let index = facts.get(indices[d]).scalar_divisor();
        let step = 1 << view.ty.steps()[d].trailing_zeros().min(62);
        let coordinates = copy.parts.iter().map(|part| part.coordinates[d]).fold(0, |all, c| all | c);
        let within = if coordinates == 0 { TOP } else { 1 << coordinates.trailing_zeros() };
        let distance = |divisor: u64| stride.saturating_mul(divisor).min(TOP);
        distance(index.saturating_mul(step)).min(distance(within)) >= UNIT
    };
    if facts.get(view.make.base()).scalar_divisor() < UNIT || !(0..indices.len()).all(is_aligned) {
        return Err(format!("its address is not known to be a multiple of {UNIT} bytes"));
    }
    u32::try_from(copy.bytes * copy.parts.len() as u64).map_err(|_| "the tile is too large".into())
}

/// Returns the copies of a tile of a view to `dest`. `strides` are the constant strides of the tile's dimensions, in
/// elements.
pub fn parts(view: TiledViewType<'_>, strides: &[Option<u64>], dest: MemDescType<'_>) -> Result<BulkCopy, String> {
    let shape = Shape::new(view.tile()).map_err(|e| e.to_string())?;
    let shared = shared_layout(dest).ok_or("the destination's layout is invalid")?;
    let fields = shape.fields();
    // The dimension, and the bit of its coordinate, of each bit of an offset.
    let bit = |basis: &u64| {
        let low = basis.is_power_of_two().then(|| basis.trailing_zeros())?;
        let d = fields.iter().position(|(first, width)| (*first..first + width).contains(&low))?;
        Some((d, 1u64 << (low - fields[d].0)))
    };
    let bits: Option<Vec<(usize, u64)>> = shared.bases().iter().map(bit).collect();
    let bits = bits.ok_or("the destination is swizzled")?;
    let is_next = |(i, (d, coordinate)): &(usize, &(usize, u64))| strides[*d].is_some_and(|s| s * coordinate == 1 << i);
    let run = bits.iter().enumerate().take_while(is_next).count();
    let bytes = u64::from(storage_bits(dest.element_type()) / 8);
    let (each, count) = (bytes << run, 1u64 << (bits.len() - run));
    if each < UNIT {
        return Err(format!("only {each} consecutive bytes have the order of the destination"));
    }
    if count > MOST_PARTS {
        return Err(format!("it has {count} separate parts"));
    }
    let part = |number: u64| {
        let mut coordinates = vec![0; fields.len()];
        let of = bits[run..].iter().enumerate().filter(|(i, _)| number >> i & 1 == 1);
        of.for_each(|(_, (d, coordinate))| coordinates[*d] += coordinate);
        Part { offset: number * each, coordinates }
    };
    Ok(BulkCopy { bytes: each, parts: (0..count).map(part).collect() })
}

/// An operand of a dot that bulk copies load.
pub struct BulkOperand<'c> {
    pub operand: LoadedOperand<'c>,
    /// The storage of the tile, which reshapes and permutations make the storage of the operand.
    pub stage: MemDescType<'c>,
    pub bytes: u32,
}

impl<'c> BulkOperand<'c> {
    /// The operand `v` of `dot`, which must have the layout of `storage` in shared memory.
    ///
    /// Errors: the reason why it is not a tile that bulk copies can load.
    pub fn of(v: Val<'c>, dot: OpRef<'c>, storage: MemDescType<'c>, facts: &Facts) -> Result<Self, String> {
        let (operand, view) = loaded_operand(v, dot, storage)?;
        let load = operand.load;
        let bases = before(&operand, storage).ok_or("its storage has no layout")?;
        let element = view.memref.element_type();
        let stage = aligned_storage_type(load, view.ty.tile(), element, &bases, storage.alignment());
        let stage = stage.map_err(|e| e.to_string())?;
        let indices = indices_of(load, &view);
        let bytes = plan(&view, &indices, &places(load), stage, facts)?;
        Ok(Self { operand, stage, bytes })
    }
}

/// The load of a tile with the shape of `storage`, only for `dot`, and its view.
///
/// Errors: the reason why there is none.
pub(super) fn loaded_operand<'c>(
    v: Val<'c>,
    dot: OpRef<'c>,
    storage: MemDescType<'c>,
) -> Result<(LoadedOperand<'c>, View<'c>), String> {
    let is_whole = Tensor::of_value(v).is_some_and(|t| t.shape == storage.shape());
    let operand = LoadedOperand::of(v).filter(|l| is_whole && block_of(l.load) == block_of(dot));
    let operand = operand.filter(|l| l.rounded.is_none() && l.computed.is_empty() && !l.shared);
    let operand = operand.ok_or("it is not a whole tile that is loaded only for the dot")?;
    let load = operand.load;
    let view = (nv_tileaa::TiledLoadOp::cast(load).map(|load| load.view()))
        .or_else(|| nv_tileas::TiledLoadOp::cast(load).map(|load| load.view()));
    let view = view.ok_or("it is not loaded from a view")?;
    Ok((operand, View::of(view).ok_or("its view is not created in this function")?))
}

/// The bases of a tile that becomes `storage` by the ops after its load.
pub(super) fn before(operand: &LoadedOperand<'_>, storage: MemDescType<'_>) -> Option<Vec<u64>> {
    let mut bases = shared_layout(storage)?.bases().to_vec();
    for op in operand.moved.iter().rev() {
        if layout_relation(*op) != LayoutRelation::Permute {
            continue;
        }
        let order = attr(*op, "order").map(i32s_attr)?;
        let [from, to] = [self::operand(*op, 0), result(*op, 0)].map(|v| Tensor::of_value(v).map(|t| t.tile_shape()));
        let (from, to) = (from?.fields(), to?.fields());
        // Bits of result dimension `d` are bits of source dimension `order[d]`.
        let moved = |index: u64| {
            let of = |(d, (low, width)): (usize, &(u32, u32))| {
                (index >> low & ((1 << width) - 1)) << from[order[d] as usize].0
            };
            to.iter().enumerate().map(of).fold(0, |all, part| all | part)
        };
        bases = bases.into_iter().map(moved).collect();
    }
    Some(bases)
}
