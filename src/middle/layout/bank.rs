//! The cost of a warp's memory access: shared-memory bank conflicts and global-memory sectors.
//!
//! Shared memory has 32 banks of 4-byte words; word `w` lives in bank `w % 32`. A warp's access is served in phases
//! that ask for at most 128 bytes: all lanes at once for accesses of up to 4 bytes per lane, each half of the warp for
//! 8 bytes, each quarter for 16. Within a phase, lanes that touch the same word share it (a read is broadcast, a write
//! merged); different words of one bank are served one after the other. The *conflict degree* is the number of such
//! turns, 1 at best.
//!
//! When addresses are a linear function of the lane, the words of a phase form a subspace. Every bank that it meets, it
//! meets in equally many words: the degree is `2^(dim(words) - dim(banks))`, where `banks` is the projection of the
//! words on the five low bits. Adding a constant to all addresses by XOR permutes the banks, so one number stands for
//! all the accesses that differ by a constant.

use std::collections::BTreeSet;

use crate::error::{LayoutError, Result};
use crate::layout::LANE_BITS;
use crate::map::low_mask;
use crate::subspace::Subspace;

/// log2 of the bytes of a bank's word.
pub const WORD_LOG2: u32 = 2;
/// log2 of the number of banks.
pub const BANK_BITS: u32 = 5;
/// log2 of the bytes that one phase of an access may move.
pub const PHASE_LOG2: u32 = WORD_LOG2 + BANK_BITS;

/// log2 of the lanes that take part in one phase of an access of `vec_bytes` per lane.
pub fn phase_lane_bits(vec_bytes: u64) -> u32 {
    PHASE_LOG2.saturating_sub(vec_bytes.max(1).ilog2()).min(LANE_BITS)
}

fn check_vector(vec_bytes: u64) -> Result<()> {
    if vec_bytes.is_power_of_two() && vec_bytes <= 16 {
        Ok(())
    } else {
        Err(LayoutError::OutOfRange { what: "bytes of a shared-memory access", value: vec_bytes, bits: 4 })
    }
}

/// The conflict degree of an access of `vec_bytes` (1, 2, 4, 8 or 16) whose byte address is linear in the lane: bit `i`
/// of the lane contributes `lane_bytes[i]` by XOR. Contributions are multiples of `vec_bytes`.
pub fn conflict_degree(lane_bytes: &[u64], vec_bytes: u64) -> Result<u32> {
    check_vector(vec_bytes)?;
    if let Some(&value) = lane_bytes.iter().find(|&&b| b % vec_bytes != 0) {
        return Err(LayoutError::OutOfRange { what: "misaligned lane offset", value, bits: vec_bytes.ilog2() });
    }
    let lanes = lane_bytes.iter().take(phase_lane_bits(vec_bytes) as usize);
    let within = (0..vec_bytes.ilog2()).map(|i| 1 << i);
    let words = Subspace::span(lanes.copied().chain(within).map(|b| b >> WORD_LOG2));
    let banks = Subspace::span(words.basis().iter().map(|&w| w & low_mask(BANK_BITS)));
    Ok(1 << (words.dim() - banks.dim()))
}

/// The turns that shared memory takes for each phase of an access, from the byte addresses of the active lanes (`None`:
/// inactive), at most 32. The definition that [`conflict_degree`] is checked against.
pub fn phase_wavefronts(addresses: &[Option<u64>], vec_bytes: u64) -> Result<Vec<u32>> {
    check_vector(vec_bytes)?;
    let turns = |lanes: &[Option<u64>]| {
        let words = lanes.iter().flatten().flat_map(|&a| a >> WORD_LOG2..=(a + vec_bytes - 1) >> WORD_LOG2);
        let words: BTreeSet<u64> = words.collect();
        let mut banks = [0u32; 1 << BANK_BITS];
        for word in words {
            banks[(word & low_mask(BANK_BITS)) as usize] += 1;
        }
        banks.into_iter().max().unwrap_or(0)
    };
    Ok(addresses.chunks(1 << phase_lane_bits(vec_bytes)).map(turns).collect())
}

/// Total turns of an access, over all its phases.
pub fn wavefronts(addresses: &[Option<u64>], vec_bytes: u64) -> Result<u32> {
    Ok(phase_wavefronts(addresses, vec_bytes)?.into_iter().sum())
}

/// The 32-byte sectors of global memory that a warp's access of `vec_bytes` per lane touches when its byte address is
/// linear in the lane, for a base aligned to 32 bytes.
pub fn global_sectors(lane_bytes: &[u64], vec_bytes: u64) -> u64 {
    let within = (0..vec_bytes.max(1).ilog2()).map(|i| 1u64 << i);
    1 << Subspace::span(lane_bytes.iter().copied().chain(within).map(|b| b >> 5)).dim()
}
