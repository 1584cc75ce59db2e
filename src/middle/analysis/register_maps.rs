//! Maps from the registers of a result to the registers of a source, for ops that only rename registers.
//!
//! A map has one column per register bit of the result: the bits of the source's register number that this bit flips.
//! It exists if no element comes from another thread. Chunks and slices add columns. The highest register bits of a
//! tensor number its chunks, and the bits of the slice number follow the register bits of a slice.

use super::layouts::project;
use crate::dialect::layouts::Tensor;
use tile_layout::{Layout, LinearMap, register_map};

/// Returns the map of a result of type `to`, with the registers of `whole`, from a source of type `from`. The
/// source is the same tensor in another layout, a tensor with broadcast dimensions of extent one, or, with `sliced`,
/// a larger tensor that contains the result as a slice.
pub fn gather(from: &Tensor<'_>, to: &Tensor<'_>, whole: &Layout, sliced: bool) -> Option<Vec<u64>> {
    let wanted = if sliced {
        whole.over_registers(&to.tile_shape(), &from.tile_shape()).ok()?
    } else {
        project(whole, &to.shape, &from.shape)
    };
    Some(register_map(&from.layout()?, &wanted)?.columns().to_vec())
}

/// Returns the map of a concatenation along `dim` from either operand. The operand has the registers of `whole`
/// without the bit that selects the half.
pub fn halves(to: &Tensor<'_>, whole: &Layout, dim: usize) -> Option<Vec<u64>> {
    let left_out = whole.half_register(half_bit(to, dim)?);
    let kept = (0..whole.register().len()).scan(0, |next, i| {
        let column = if left_out == Some(i) { 0 } else { 1 << *next };
        *next += u32::from(left_out != Some(i));
        Some(column)
    });
    Some(LinearMap::new(kept.collect(), 64).ok()?.columns().to_vec())
}

/// Returns the map of a slice replacement: the register of the whole for each register bit of the slice, then for the
/// bits of the slice number.
pub fn insertion(part: &Tensor<'_>, whole: &Tensor<'_>) -> Option<Vec<u64>> {
    let all = part.layout()?.over_registers(&part.tile_shape(), &whole.tile_shape()).ok()?;
    Some(register_map(&whole.layout()?, &all)?.columns().to_vec())
}

/// Returns the bit of the element index that selects the half in a concatenation along `dim`.
pub fn half_bit(result: &Tensor<'_>, dim: usize) -> Option<u32> {
    let (low, width) = result.tile_shape().field(dim).ok()?;
    (low + width).checked_sub(1)
}

/// Returns all bits of the columns that number chunks: the last `chunk_bits` of the first `register_bits` columns.
pub fn varying(columns: &[u64], register_bits: u32, chunk_bits: u32) -> u64 {
    let n = register_bits as usize;
    columns[n - chunk_bits as usize..n].iter().fold(0, |all, c| all | c)
}
