//! Plans of reductions and scans, executed on all threads of a block.
//!
//! The value of an element is a word that names it, and combining means joining words. An element that is omitted,
//! counted twice or out of order is always detected.

mod common;

use common::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tile_layout::*;

/// The words in every register of every thread.
type Words = BTreeMap<Thread, Vec<Vec<u64>>>;

/// The bits of `mask` as flips of a thread.
fn flips(mask: InputMasks) -> Vec<Thread> {
    let bits = |mask: u64| (0..32).filter(move |i| mask >> i & 1 == 1).map(|i| 1u32 << i);
    let lanes = bits(mask.lane).map(|lane| Thread { lane, ..Thread::default() });
    let warps = bits(mask.warp).map(|warp| Thread { warp, ..Thread::default() });
    let blocks = bits(mask.block).map(|block| Thread { block, ..Thread::default() });
    lanes.chain(warps).chain(blocks).collect()
}

/// Reduces according to the plan, with one word of elements for each register of the result.
fn run_reduction(l: &Layout, plan: &Reduction) -> Words {
    let own = |t: Thread| -> Vec<Vec<u64>> {
        let held: Vec<u64> = l.elements_of(t).collect();
        plan.registers.iter().map(|list| list.iter().map(|&r| held[r as usize]).collect()).collect()
    };
    let mut words: Words = l.all_threads().map(|t| (t, own(t))).collect();
    for flip in flips(plan.across) {
        let before = words.clone();
        for (t, held) in &mut words {
            let partner = Thread { lane: t.lane ^ flip.lane, warp: t.warp ^ flip.warp, block: t.block ^ flip.block };
            held.iter_mut().zip(&before[&partner]).for_each(|(a, b)| a.extend(b));
        }
    }
    words
}

/// The coordinates of `index` without the bits along `dim` that are not kept.
fn group(tile: &Shape, dim: usize, kept: u64, index: u64) -> Vec<u64> {
    let mut point = tile.unflatten(index);
    let coordinate = point[dim];
    let bits: Vec<u64> = (0..32).filter(|i| kept >> i & 1 == 1).map(|i| coordinate >> i & 1).collect();
    match kept {
        0 => drop(point.remove(dim)),
        _ => point[dim] = bits.iter().enumerate().map(|(i, b)| b << i).sum(),
    }
    point
}

/// Runs the plan and checks that every register of every thread got each element of its group once.
fn check_reduction(l: &Layout, tile: &Shape, dim: usize, kept: u64) -> bool {
    let Some(plan) = l.reduction(tile, dim, kept).unwrap() else { return false };
    plan.layout.validate(&plan.shape).unwrap();
    let mut expected = vec![vec![]; plan.shape.elements() as usize];
    for e in 0..tile.elements() {
        expected[plan.shape.flatten(&group(tile, dim, kept, e)) as usize].push(e);
    }
    for (thread, held) in run_reduction(l, &plan) {
        for (register, mut word) in held.into_iter().enumerate() {
            let element = plan.layout.element(Slot { register: register as u32, thread });
            word.sort_unstable();
            assert_eq!(word, expected[element as usize], "{thread:?} register {register} of {l}");
        }
    }
    true
}

#[test]
fn reductions_literally() {
    let tile = shape(&[16, 16]);
    let across = |l: &Layout, dim| l.reduction(&tile, dim, 0).unwrap().map(|plan| plan.across);
    let accumulator = layout(&[1, 128, 8], &[2, 4, 16, 32, 64], &[]);
    assert_eq!(across(&accumulator, 1), Some(InputMasks { lane: 0b00011, ..InputMasks::default() }));
    assert_eq!(across(&accumulator, 0), Some(InputMasks { lane: 0b11100, ..InputMasks::default() }));
    let rows = accumulator.reduction(&tile, 1, 0).unwrap().unwrap();
    // Registers 0, 1, 4 and 5 are one row: columns 0, 1, 8 and 9.
    assert_eq!(rows.registers, [vec![0, 1, 4, 5], vec![2, 3, 6, 7]]);
    assert_eq!(rows.layout, layout(&[8], &[0, 0, 1, 2, 4], &[]));
    // Replicas on lane 4 and warp 0; warp 1 along the columns.
    let replicated = layout(&[1, 2, 4], &[16, 32, 64, 128, 0], &[0, 8]);
    assert_eq!(across(&replicated, 1), Some(InputMasks { warp: 0b10, ..InputMasks::default() }));
    // The bit that the warp holds is kept, so nothing is combined across threads.
    let kept = replicated.reduction(&tile, 1, 8).unwrap().unwrap();
    assert_eq!(kept.across, InputMasks::default());
    assert_eq!((kept.layout, kept.shape), (layout(&[], &[2, 4, 8, 16, 0], &[0, 1]), shape(&[16, 2])));
    // A lane that moves along a diagonal cannot exchange whole results.
    let diagonal = layout(&[1, 2, 4], &[8 ^ 16, 16, 32, 64, 128], &[]);
    assert_eq!(across(&diagonal, 1), None);
    // A register that repeats another counts once.
    let repeated = layout(&[1, 2, 4, 8, 8], &[16, 32, 64, 128, 0], &[]);
    assert_eq!(repeated.reduction(&tile, 1, 0).unwrap().unwrap().registers, [(0..16).collect::<Vec<u32>>()]);
    // Two threads that hold one part of a row in different orders would disagree about an order-dependent
    // combination.
    let turned = layout(&[1, 2, 4, 8], &[16, 32, 64, 128, 1], &[]);
    assert_eq!(across(&turned, 1), None);
    assert!(diagonal.reduction(&tile, 2, 0).is_err());
}

/// Scans according to the plan: runs in order, then blocks of lanes of doubling size, each including the last word of
/// the block before it.
fn run_scan(l: &Layout, plan: &WarpScan) -> Words {
    let own = |t: Thread| -> Vec<Vec<u64>> {
        let mut held: Vec<Vec<u64>> = l.elements_of(t).map(|e| vec![e]).collect();
        for run in &plan.runs {
            for pair in run.windows(2) {
                let before = held[pair[0] as usize].clone();
                held[pair[1] as usize].splice(0..0, before);
            }
        }
        held
    };
    let mut words: Words = l.all_threads().map(|t| (t, own(t))).collect();
    let mut below = 0;
    for bit in &plan.lanes {
        let before = words.clone();
        for (t, held) in words.iter_mut().filter(|(t, _)| t.lane >> bit & 1 == 1) {
            let source = Thread { lane: (t.lane | below) & !(1 << bit), ..*t };
            for run in &plan.runs {
                let last = &before[&source][run[run.len() - 1] as usize];
                run.iter().for_each(|&r| drop(held[r as usize].splice(0..0, last.iter().copied())));
            }
        }
        below |= 1 << bit;
    }
    for held in words.values_mut() {
        *held = plan.same.iter().map(|&r| held[r as usize].clone()).collect();
    }
    words
}

/// Runs the plan and checks that every element got the prefix that ends at it.
fn check_scan(l: &Layout, tile: &Shape, dim: usize) -> bool {
    let Some(plan) = l.warp_scan(tile, dim).unwrap() else { return false };
    for (thread, held) in run_scan(l, &plan) {
        for (word, e) in held.into_iter().zip(l.elements_of(thread)) {
            let mut point = tile.unflatten(e);
            let prefix: Vec<u64> = (0..=point[dim])
                .map(|i| {
                    point[dim] = i;
                    tile.flatten(&point)
                })
                .collect();
            assert_eq!(word, prefix, "{thread:?} of {l}");
        }
    }
    true
}

#[test]
fn scans_literally() {
    let tile = shape(&[8, 32]);
    // Columns: two bits in registers, two in lanes in the opposite order, one in a warp.
    let l = layout(&[1, 2], &[8, 4, 32, 64, 128], &[16]);
    assert_eq!(l.segment_bits(&tile, 1), Ok(Some(4)));
    assert_eq!(l.warp_scan(&tile, 1), Ok(None));
    let split = shape(&[8, 2, 16]);
    let plan = l.warp_scan(&split, 2).unwrap().unwrap();
    assert_eq!(plan, WarpScan { runs: vec![vec![0, 1, 2, 3]], same: vec![0, 1, 2, 3], lanes: vec![1, 0] });
    assert!(check_scan(&l, &split, 2));
    // Registers above lanes: each register is a separate segment.
    let high = layout(&[16], &[1, 2, 4, 8, 32], &[64, 128]);
    assert_eq!(high.segment_bits(&tile, 1), Ok(Some(4)));
    // A lane in the middle, one that moves diagonally, and a bit without a holder.
    assert_eq!(layout(&[1, 4], &[2, 8, 16, 32, 64], &[128]).segment_bits(&tile, 1), Ok(Some(2)));
    assert_eq!(layout(&[1, 4], &[2, 8 ^ 32, 16, 32, 64], &[128]).segment_bits(&tile, 1), Ok(None));
    assert_eq!(layout(&[4], &[2, 8, 16, 32, 64], &[128]).segment_bits(&tile, 1), Ok(None));
    // A repeated register is harmless; one element in two lanes does not have a unique holder.
    let twice = layout(&[1, 1, 2], &[4, 8, 16, 32, 64], &[128]);
    assert!(check_scan(&twice, &tile, 1));
    assert_eq!(layout(&[1, 2], &[4, 8, 16, 1, 64], &[32, 128]).segment_bits(&tile, 1), Ok(None));
}

#[test]
fn ordered_layouts() {
    let cases: &[(&[i64], usize, u64, Layout)] = &[
        // The whole dimension in a thread, because there are enough rows for the threads.
        (&[256, 8], 1, 4, layout(&[1, 2, 4, 1 << 10], &[8, 16, 32, 64, 128], &[256, 512])),
        (&[8, 128], 0, 1, layout(&[128, 256, 512, 32, 64], &[1, 2, 4, 8, 16], &[])),
        // Registers, lanes, warps in the order of the coordinate.
        (&[1024], 0, 4, layout(&[1, 2, 4], &[8, 16, 32, 64, 128], &[256, 512])),
        // More threads than elements.
        (&[2, 8], 1, 2, layout(&[], &[1, 2, 4, 8, 0], &[0])),
    ];
    for (extents, dim, warps, expected) in cases {
        let tile = shape(extents);
        let l = Layout::ordered(&tile, *dim, *warps).unwrap();
        assert_eq!(l, *expected, "{extents:?} along {dim}");
        l.validate(&tile).unwrap();
    }
    assert!(Layout::ordered(&shape(&[8]), 1, 4).is_err());
    assert!(Layout::ordered(&shape(&[8]), 0, 3).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reductions_count_every_element_once(l in any_permuted_layout(8, 1, 2), dim in 0usize..3, kept in 0u64..16) {
        let tile = shape(&[4, 4, 16]);
        let (_, width) = tile.field(dim).unwrap();
        check_reduction(&l, &tile, dim, kept & ((1 << width) - 1));
    }

    #[test]
    fn plain_layouts_always_reduce(l in any_permuted_layout(8, 1, 0), dim in 0usize..3, kept in 0u64..16) {
        let kept = if dim == 2 { kept } else { kept % 4 };
        prop_assert!(check_reduction(&l, &shape(&[4, 4, 16]), dim, kept));
    }

    #[test]
    fn mixed_layouts_reduce_rightly_or_not_at_all(l in any_layout(6, 1, 2), dim in 0usize..2) {
        check_reduction(&l, &shape(&[8, 8]), dim, 0);
    }

    #[test]
    fn scans_of_segments_are_in_order(l in any_permuted_layout(8, 1, 2), dim in 0usize..3) {
        let extents = [4i64, 4, 16];
        let tile = shape(&extents);
        if let Some(bits) = l.segment_bits(&tile, dim).unwrap() {
            let mut split = extents.to_vec();
            split[dim] >>= bits;
            split.insert(dim + 1, 1 << bits);
            prop_assert!(check_scan(&l, &shape(&split), dim + 1));
        }
    }

    #[test]
    fn ordered_layouts_have_long_segments(
        log2 in proptest::collection::vec(0u32..6, 1..4),
        dim in 0usize..3,
        warps in 0u32..4,
    ) {
        let dim = dim % log2.len();
        let tile = Shape::from_log2(log2.clone()).unwrap();
        let l = Layout::ordered(&tile, dim, 1 << warps).unwrap();
        l.validate(&tile).unwrap();
        // Only bits that warps hold are outside the segment.
        let along = |b: &&u64| tile.unflatten(**b)[dim] != 0;
        let bits = l.segment_bits(&tile, dim).unwrap();
        let in_warps = l.warp().iter().filter(along).count() as u32;
        prop_assert_eq!(bits, Some(log2[dim] - in_warps));
    }
}
