//! Values of a warp by lane, and sets of lanes.

/// A value of 32 bits in each lane.
pub(crate) type Lanes = [u32; 32];

/// A value of 64 bits in each lane.
pub(crate) type Lanes64 = [u64; 32];

/// Iterates over the lanes of a mask.
#[inline]
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

/// Blends `value` into `plane` for the lanes of `mask`.
#[inline]
pub(crate) fn store(plane: &mut Lanes, value: &Lanes, mask: u32) {
    if mask == u32::MAX {
        *plane = *value;
    } else {
        for i in 0..32 {
            let m = ((mask >> i) & 1).wrapping_neg();
            plane[i] = (plane[i] & !m) | (value[i] & m);
        }
    }
}

/// A lane mask as a value of 0 or 1 in each lane.
pub(crate) fn mask_lanes(mask: u32) -> Lanes64 {
    std::array::from_fn(|i| u64::from(mask >> i & 1))
}

/// The lanes whose value is not zero.
pub(crate) fn lane_mask(values: &Lanes64) -> u32 {
    values.iter().enumerate().fold(0, |m, (i, v)| m | u32::from(*v != 0) << i)
}
