//! The cost of a warp's memory access: shared-memory bank conflicts and global-memory sectors.
//!
//! Shared memory has 32 banks of 4-byte words; word `w` is in bank `w % 32`. The hardware serves a warp's access in
//! phases of at most 128 bytes: all lanes at once for accesses of up to 4 bytes per lane, half a warp at a time for 8
//! bytes, a quarter for 16. Within a phase, lanes that access the same word share it (a read is broadcast, writes are
//! merged). Different words of one bank are served one per wavefront. The *conflict degree* is the number of
//! wavefronts of a phase; 1 is optimal.
//!
//! If addresses are a linear function of the lane, the words of a phase form a subspace. Every bank that the phase
//! hits is hit by the same number of words, so the degree is `2^(dim(words) - dim(banks))`, where `banks` is the
//! projection of the words onto the five low bits. XORing a constant into all addresses permutes the banks. One
//! degree therefore describes all accesses that differ by a constant.

use std::collections::BTreeSet;

use crate::error::{LayoutError, Result};
use crate::layout::LANE_BITS;
use crate::map::low_mask;
use crate::subspace::Subspace;

/// log2 of the bytes of a bank word.
pub const WORD_LOG2: u32 = 2;
/// log2 of the number of banks.
pub const BANK_BITS: u32 = 5;
/// log2 of the bytes that one phase of an access may move.
pub const PHASE_LOG2: u32 = WORD_LOG2 + BANK_BITS;

/// log2 of the lanes in one phase of an access of `vec_bytes` per lane.
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

/// Returns the conflict degree of an access of `vec_bytes` (1, 2, 4, 8 or 16) with a byte address that is linear in
/// the lane: bit `i` of the lane contributes `lane_bytes[i]` by XOR.
///
/// Errors: another access size, or a contribution that is not a multiple of `vec_bytes`.
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

/// Counts the wavefronts of each phase of an access from the byte addresses of at most 32 lanes (`None` for an
/// inactive lane). Tests compare [`conflict_degree`] with this direct count.
pub fn phase_wavefronts(addresses: &[Option<u64>], vec_bytes: u64) -> Result<Vec<u32>> {
    check_vector(vec_bytes)?;
    let wavefronts = |lanes: &[Option<u64>]| {
        let words = lanes.iter().flatten().flat_map(|&a| a >> WORD_LOG2..=(a + vec_bytes - 1) >> WORD_LOG2);
        let words: BTreeSet<u64> = words.collect();
        let mut banks = [0u32; 1 << BANK_BITS];
        for word in words {
            banks[(word & low_mask(BANK_BITS)) as usize] += 1;
        }
        banks.into_iter().max().unwrap_or(0)
    };
    Ok(addresses.chunks(1 << phase_lane_bits(vec_bytes)).map(wavefronts).collect())
}

/// The total wavefronts of an access, over all its phases.
pub fn wavefronts(addresses: &[Option<u64>], vec_bytes: u64) -> Result<u32> {
    Ok(phase_wavefronts(addresses, vec_bytes)?.into_iter().sum())
}

/// The number of 32-byte sectors of global memory that a warp's access of `vec_bytes` per lane touches. The byte
/// address is linear in the lane and the base is aligned to 32 bytes.
pub fn global_sectors(lane_bytes: &[u64], vec_bytes: u64) -> u64 {
    let within = (0..vec_bytes.max(1).ilog2()).map(|i| 1u64 << i);
    1 << Subspace::span(lane_bytes.iter().copied().chain(within).map(|b| b >> 5)).dim()
}
