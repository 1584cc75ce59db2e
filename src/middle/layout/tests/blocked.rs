//! Blocked and coalesced layouts: literal cases, and laws over every shape of rank 0 to 5.

mod common;

use common::*;
use proptest::prelude::*;
use tile_layout::*;

#[test]
fn a_blocked_layout_literally() {
    // 2x2 elements per thread, 8x4 lanes, 2x2 warps, rows outermost: a 32x16 box in a tile of 64x16.
    let l = Layout::blocked(&shape(&[64, 16]), &[2, 2], &[1, 0], &[8, 4], &[2, 2]).unwrap();
    assert_eq!(l, layout(&[1, 16, 512], &[2, 4, 32, 64, 128], &[8, 256]));
    // The other order changes which bits come first, not the boxes.
    let l = Layout::blocked(&shape(&[64, 16]), &[2, 2], &[0, 1], &[8, 4], &[2, 2]).unwrap();
    assert_eq!(l, layout(&[16, 1, 512], &[32, 64, 128, 2, 4], &[256, 8]));
}

#[test]
fn a_blocked_layout_larger_than_its_tile_replicates() {
    let l = Layout::blocked(&shape(&[4, 4]), &[1, 2], &[1, 0], &[8, 4], &[2, 1]).unwrap();
    // Columns: one register bit, one lane bit, then a replica; rows: two lane bits, then replicas.
    assert_eq!(l, layout(&[1], &[2, 0, 4, 8, 0], &[0]));
    let l = Layout::blocked(&shape(&[]), &[], &[], &[], &[]).unwrap();
    assert_eq!(l, layout(&[], &[0; 5], &[]));
}

#[test]
fn misuse_of_blocked() {
    let s = shape(&[64, 16]);
    let blocked = |size: &[u64], order: &[usize], lanes: &[u64], warps: &[u64]| {
        Layout::blocked(&s, size, order, lanes, warps).unwrap_err().code()
    };
    assert_eq!(blocked(&[1], &[1, 0], &[8, 4], &[1, 1]), "layout-mismatch");
    assert_eq!(blocked(&[1, 1], &[1, 0], &[8, 8], &[1, 1]), "layout-mismatch");
    assert_eq!(blocked(&[1, 1], &[1, 0], &[8, 4], &[3, 1]), "layout-mismatch");
    assert_eq!(blocked(&[1, 0], &[1, 0], &[8, 4], &[1, 1]), "layout-mismatch");
    assert_eq!(blocked(&[1, u64::MAX], &[1, 0], &[8, 4], &[1, 1]), "layout-mismatch");
    assert_eq!(blocked(&[1, 1], &[1, 1], &[8, 4], &[1, 1]), "layout-not-a-permutation");
}

#[test]
fn coalesced_layouts_literally() {
    let coalesced = |extents: &[i64], bits, order: &[usize], vec, warps| {
        Layout::coalesced(&shape(extents), bits, order, vec, warps).unwrap()
    };
    // 128x128 of f32: four floats per thread, eight threads per 128-byte line, four rows per warp, 16 rows per block.
    assert_eq!(
        coalesced(&[128, 128], 32, &[1, 0], 4, 4),
        layout(&[1, 2, 32, 64, 2048, 4096, 8192], &[4, 8, 16, 128, 256], &[512, 1024])
    );
    // 64x64 of f16: eight halves per thread, a row per eight threads.
    assert_eq!(
        coalesced(&[64, 64], 16, &[1, 0], 8, 4),
        layout(&[1, 2, 4, 1024, 2048], &[8, 16, 32, 64, 128], &[256, 512])
    );
    // Column-major memory.
    assert_eq!(
        coalesced(&[64, 64], 32, &[0, 1], 4, 4),
        layout(&[64, 128, 2048, 16, 32], &[256, 512, 1024, 1, 2], &[4, 8])
    );
    // A vector of 1024 f32: lanes continue along the only dimension.
    assert_eq!(coalesced(&[1024], 32, &[0], 4, 4), layout(&[1, 2, 512], &[4, 8, 16, 32, 64], &[128, 256]));
    // 256 f32 on 128 threads: vectors of two keep all threads busy.
    assert_eq!(coalesced(&[256], 32, &[0], 4, 4), layout(&[1], &[2, 4, 8, 16, 32], &[64, 128]));
    // 16 elements on 128 threads: the rest are replicas.
    assert_eq!(coalesced(&[16], 32, &[0], 4, 4), layout(&[], &[1, 2, 4, 8, 0], &[0, 0]));
    // A minimum vector is kept even if threads go idle.
    let pairs =
        |extents: &[i64], vec| Layout::coalesced_over(&shape(extents), 16, &[0], [2, vec], 4, [&[0], &[0]]).unwrap();
    assert_eq!(pairs(&[64], 8), layout(&[1], &[2, 4, 8, 16, 32], &[0, 0]));
    assert_eq!(pairs(&[16], 8), layout(&[1], &[2, 4, 8, 0, 0], &[0, 0]));
    assert_eq!(pairs(&[1024], 8), layout(&[1, 2, 4], &[8, 16, 32, 64, 128], &[256, 512]));
    // Scalars.
    assert_eq!(coalesced(&[], 32, &[], 4, 4), layout(&[], &[0; 5], &[0, 0]));
    assert_eq!(coalesced(&[1, 1, 1], 64, &[2, 1, 0], 2, 1), layout(&[], &[0; 5], &[]));
    // Unknown alignment: single elements; lanes are still adjacent, up to a line.
    assert_eq!(coalesced(&[64, 64], 32, &[1, 0], 1, 1).lane(), [1, 2, 4, 8, 16]);
    assert_eq!(coalesced(&[64, 64], 64, &[1, 0], 1, 1).lane(), [1, 2, 4, 8, 64]);
    // Bytes and narrower: 16 per thread.
    assert_eq!(coalesced(&[128, 128], 8, &[1, 0], 16, 4).register()[..4], [1, 2, 4, 8]);
    assert_eq!(coalesced(&[128, 128], 1, &[1, 0], 16, 4), coalesced(&[128, 128], 8, &[1, 0], 16, 4));
    // 128-bit elements: one per thread.
    assert_eq!(coalesced(&[64, 64], 128, &[1, 0], 4, 1).lane(), [1, 2, 4, 64, 128]);
}

#[test]
fn misuse_of_coalesced() {
    let s = shape(&[64]);
    assert_eq!(Layout::coalesced(&s, 32, &[1], 4, 4).unwrap_err().code(), "layout-not-a-permutation");
    assert_eq!(Layout::coalesced(&s, 32, &[0], 3, 4).unwrap_err().code(), "layout-mismatch");
    assert_eq!(Layout::coalesced(&s, 32, &[0], 4, 0).unwrap_err().code(), "layout-mismatch");
}

#[test]
fn large_accesses_are_as_few_sectors_as_possible() {
    for (elem_bits, vec) in [(8u32, 16), (16, 8), (32, 4), (64, 2)] {
        for extents in [&[128i64, 256][..], &[4096], &[16, 16, 64], &[1, 8192]] {
            let order: Vec<usize> = (0..extents.len()).rev().collect();
            let s = shape(extents);
            let l = Layout::coalesced(&s, elem_bits, &order, vec, 4).unwrap();
            // Global memory of the same shape, so that the flattened index is the address.
            let bytes: Vec<u64> = l.lane().iter().map(|b| b * u64::from(elem_bits / 8)).collect();
            assert_eq!(global_sectors(&bytes, 16), 32 * 16 / 32, "{extents:?} of {elem_bits} bits");
            assert_eq!(l.vector_width(&s, &order, 16).unwrap() * u64::from(elem_bits / 8) % 16, 0);
        }
    }
}

fn any_shape() -> impl Strategy<Value = (Shape, Vec<usize>)> {
    (0usize..=5).prop_flat_map(|rank| {
        let log2 = proptest::collection::vec(0u32..=4, rank);
        let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
        (log2.prop_map(|l| Shape::from_log2(l).expect("small")), order)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn coalesced_layouts_cover_every_tile(
        (s, order) in any_shape(), elem_log2 in 0u32..8, vec_log2 in 0u32..5, warps_log2 in 0u32..4,
    ) {
        let l = Layout::coalesced(&s, 1 << elem_log2, &order, 1 << vec_log2, 1 << warps_log2).unwrap();
        prop_assert_eq!(l.validate(&s), Ok(()));
        prop_assert_eq!(l.warps(), 1 << warps_log2);
        // Only zero vectors are replicas, and only if there are more threads than elements.
        let zero = l.zero_bits();
        prop_assert_eq!(l.free_variables(), zero);
        prop_assert_eq!(zero.register, 0);
        let threads = 5 + warps_log2;
        if s.bits() >= threads {
            prop_assert_eq!(zero, InputMasks::default());
            prop_assert_eq!(u64::from(l.registers()), s.elements() >> threads);
        } else {
            prop_assert_eq!(zero.lane.count_ones() + zero.warp.count_ones(), threads - s.bits());
            prop_assert_eq!(l.registers(), 1);
        }
    }

    #[test]
    fn coalesced_vectors_are_as_wide_as_allowed(
        (s, order) in any_shape(), elem_log2 in 3u32..7, vec_log2 in 0u32..5, warps_log2 in 0u32..3,
    ) {
        prop_assume!(!order.is_empty());
        let l = Layout::coalesced(&s, 1 << elem_log2, &order, 1 << vec_log2, 1 << warps_log2).unwrap();
        let bytes = 7 - elem_log2;
        let idle = s.bits().saturating_sub(5 + warps_log2);
        let expected = vec_log2.min(bytes).min(idle).min(s.log2()[order[0]]);
        prop_assert!(l.contiguity(&s, order[0], 32).unwrap() >= expected);
        // The first registers are the vector, in order.
        let (low, _) = s.field(order[0]).unwrap();
        for i in 0..expected {
            prop_assert_eq!(l.register()[i as usize], 1 << (low + i));
        }
    }

    #[test]
    fn blocked_layouts_cover_every_tile((s, order) in any_shape(), deal in any::<u64>()) {
        let rank = s.rank();
        prop_assume!(rank > 0);
        let mut lanes = vec![1u64; rank];
        for i in 0..5 {
            lanes[(deal >> (3 * i)) as usize % rank] *= 2;
        }
        let size: Vec<u64> = (0..rank).map(|d| 1 << (deal >> (20 + 2 * d) & 3)).collect();
        let warps: Vec<u64> = (0..rank).map(|d| 1 << (deal >> (40 + d) & 1)).collect();
        let l = Layout::blocked(&s, &size, &order, &lanes, &warps).unwrap();
        prop_assert_eq!(l.validate(&s), Ok(()));
        prop_assert_eq!(u64::from(l.warps()), warps.iter().product::<u64>());
        // The first elements of every thread are the whole box of `size_per_thread`, clipped to the tile.
        for (d, &n) in size.iter().enumerate() {
            let expected = n.ilog2().min(s.log2()[d]);
            prop_assert!(l.contiguity(&s, d, 32).unwrap() >= expected);
        }
    }
}
