//! Conversions: classification on literal layouts, and execution of random plans for all threads.

mod common;

use common::*;
use proptest::prelude::*;
use tile_layout::*;

fn options(elem_bits: u32) -> ConvertOptions {
    ConvertOptions::new(elem_bits)
}

fn shared(elem_bits: u32) -> SharedOptions {
    SharedOptions::new(elem_bits)
}

fn matrix(elem_bits: u32) -> SharedOptions {
    SharedOptions { ldmatrix: Matrices::Halves, stmatrix: true, ..SharedOptions::new(elem_bits) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn matrices_of_bytes_move_every_element(
        src in any_layout(9, 1, 2), dst in any_layout(9, 1, 2), lanes in 0usize..4,
    ) {
        // Fragments of bytes along the rows, in part.
        let units = |l: &Layout| {
            let lane = l.lane().iter().enumerate();
            lane.map(|(i, &v)| if i >= 2 && i < 2 + lanes { 1 << (i - 2) } else { v }).collect()
        };
        let dst = Layout::new(dst.register().into(), units(&dst), dst.warp().into(), dst.block().into()).unwrap();
        let options = SharedOptions { ldmatrix: Matrices::Bytes, ..matrix(8) };
        if let Ok(plan) = plan_shared(&src, &dst, &shape(&[16, 32]), &options) {
            check_conversion(&src, &dst, &Conversion::SharedMemory(plan.into()), 8);
        }
    }

    #[test]
    fn any_conversion_moves_every_element(
        src in any_layout(9, 1, 2), dst in any_layout(9, 1, 2), elem_log2 in 3u32..7,
    ) {
        let elem_bits = 1 << elem_log2;
        let plan = convert(&src, &dst, &shape(&[16, 32]), &options(elem_bits)).unwrap();
        check_conversion(&src, &dst, &plan, elem_bits);
    }

    #[test]
    fn single_bit_conversions_move_every_element(
        src in any_permuted_layout(10, 2, 2), dst in any_permuted_layout(10, 2, 2), elem_log2 in 3u32..7,
    ) {
        let elem_bits = 1 << elem_log2;
        let options = ConvertOptions { shared: matrix(elem_bits), ..options(elem_bits) };
        let plan = convert(&src, &dst, &shape(&[32, 32]), &options).unwrap();
        check_conversion(&src, &dst, &plan, elem_bits);
    }

    #[test]
    fn shared_plans_are_right_and_free_of_conflicts(
        src in any_permuted_layout(11, 2, 0), dst in any_permuted_layout(11, 2, 0), elem_log2 in 3u32..7,
    ) {
        let elem_bits = 1 << elem_log2;
        let plan = plan_shared(&src, &dst, &shape(&[2048]), &shared(elem_bits)).unwrap();
        // Words never conflict. Sub-words may, if a wide vector with conflicts is still cheaper than narrow ones
        // without.
        if elem_bits >= 32 {
            prop_assert_eq!(plan.store.conflict_degree, 1);
            prop_assert_eq!(plan.load.conflict_degree, 1);
        }
        let scalar = 2048 / 128;
        prop_assert!(plan.store.wavefronts <= scalar * u64::from(elem_bits.div_ceil(32)));
        prop_assert!(plan.load.wavefronts <= scalar * u64::from(elem_bits.div_ceil(32)));
        check_conversion(&src, &dst, &Conversion::SharedMemory(plan.into()), elem_bits);
    }

    #[test]
    fn small_buffers_take_rounds(
        src in any_permuted_layout(10, 1, 1), dst in any_permuted_layout(10, 1, 1), elem_log2 in 3u32..6,
        max_log2 in 3u32..12,
    ) {
        let elem_bits = 1 << elem_log2;
        let options = SharedOptions { max_bytes: 1 << max_log2, ..matrix(elem_bits) };
        let plan = plan_shared(&src, &dst, &shape(&[1024]), &options).unwrap();
        prop_assert!(plan.bytes <= options.max_bytes);
        prop_assert_eq!(plan.bytes * u64::from(plan.rounds), 1024 << (elem_log2 - 3));
        check_conversion(&src, &dst, &Conversion::SharedMemory(plan.into()), elem_bits);
    }

    #[test]
    fn sides_may_have_different_numbers_of_warps(src in any_layout(8, 0, 1), dst in any_layout(8, 2, 1)) {
        let s = shape(&[256]);
        for (src, dst) in [(&src, &dst), (&dst, &src)] {
            check_conversion(src, dst, &convert(src, dst, &s, &options(16)).unwrap(), 16);
            let plan = plan_shared(src, dst, &s, &matrix(16)).unwrap();
            check_conversion(src, dst, &Conversion::SharedMemory(plan.into()), 16);
        }
    }

    #[test]
    fn random_bases_through_small_buffers(
        src in any_layout(9, 1, 2), dst in any_layout(9, 1, 2), max_log2 in 3u32..10,
    ) {
        let options = SharedOptions { max_bytes: 1 << max_log2, ..matrix(16) };
        let plan = plan_shared(&src, &dst, &shape(&[512]), &options).unwrap();
        check_conversion(&src, &dst, &Conversion::SharedMemory(plan.into()), 16);
    }

    #[test]
    fn every_bijection_inside_a_warp_can_be_shuffled(src in any_layout(8, 0, 0), dst in any_layout(8, 0, 0)) {
        let plan = ShufflePlan::new(&src, &dst, 32);
        prop_assert!(plan.is_some());
        let plan = plan.unwrap();
        prop_assert!(plan.shuffles() <= src.registers());
        check_conversion(&src, &dst, &Conversion::WarpShuffle(plan.into()), 32);
    }

    #[test]
    fn every_bijection_inside_warps_can_be_shuffled_by_all_of_them(
        src in any_layout(8, 2, 0), mix in proptest::collection::vec(0u64..64, 48),
        outer in proptest::collection::vec(0u64..64, 2),
        block in any::<bool>(),
    ) {
        // A target whose warps hold the same elements as the source's: a random bijection of registers and lanes, and
        // warps that shift it by elements of the warp.
        let own: Vec<u64> = src.register().iter().chain(src.lane()).copied().collect();
        let mut span = Subspace::default();
        let mut basis: Vec<u64> = mix.into_iter().filter(|&v| span.insert(v)).collect();
        basis.extend(span.extend((0..6).map(|i| 1 << i)));
        let bases: Vec<u64> = basis.into_iter().map(|v| combine(&own, v)).collect();
        let warp: Vec<u64> = src.warp().iter().zip(outer).map(|(&w, shift)| w ^ combine(&own, shift)).collect();
        let (register, lane) = (bases[5..].to_vec(), bases[..5].to_vec());
        // The second warp bit may also be a block bit.
        let split = |warp: &[u64]| {
            if block { (warp[..1].to_vec(), warp[1..].to_vec()) } else { (warp.to_vec(), vec![]) }
        };
        let (src_outer, dst_outer) = (split(src.warp()), split(&warp));
        let src = Layout::new(src.register().to_vec(), src.lane().to_vec(), src_outer.0, src_outer.1).unwrap();
        let dst = Layout::new(register, lane, dst_outer.0, dst_outer.1).unwrap();
        let plan = ShufflePlan::new(&src, &dst, 32);
        prop_assert!(plan.is_some());
        let plan = plan.unwrap();
        prop_assert!(plan.shuffles() <= src.registers());
        check_conversion(&src, &dst, &Conversion::WarpShuffle(plan.into()), 32);
        // The same conversion through shared memory.
        let plan = plan_shared(&src, &dst, &shape(&[256]), &shared(32)).unwrap();
        check_conversion(&src, &dst, &Conversion::SharedMemory(plan.into()), 32);
    }

    #[test]
    fn shuffles_with_replicas_are_right_when_they_exist(
        src in any_layout(7, 0, 2), dst in any_layout(7, 0, 2), elem_log2 in 3u32..7,
    ) {
        if let Some(plan) = ShufflePlan::new(&src, &dst, 1 << elem_log2) {
            check_conversion(&src, &dst, &Conversion::WarpShuffle(plan.into()), 1 << elem_log2);
        }
    }
}

/// Registers along a row of bytes that a matrix does not have: they cannot come from the words of one.
#[test]
fn registers_along_a_row_of_bytes() {
    let src = layout(&[1, 4, 32, 256], &[8, 128, 16, 32, 2], &[64]);
    let dst = layout(&[32, 8, 1, 128], &[2, 4, 32, 16, 256], &[64]);
    for shared in [matrix(8), SharedOptions { ldmatrix: Matrices::Bytes, ..SharedOptions::new(8) }] {
        let options = SharedOptions { ldmatrix: Matrices::Bytes, ..shared };
        let plan = plan_shared(&src, &dst, &shape(&[512]), &options).unwrap();
        check_conversion(&src, &dst, &Conversion::SharedMemory(plan.into()), 8);
    }
}

fn plan(src: &Layout, dst: &Layout, s: &Shape, options: &ConvertOptions) -> Conversion {
    let plan = convert(src, dst, s, options).unwrap();
    check_conversion(src, dst, &plan, options.shared.elem_bits);
    assert_eq!(convert(src, dst, s, options).unwrap(), plan, "plans are deterministic");
    plan
}

fn shared_plan(src: &Layout, dst: &Layout, s: &Shape, options: &SharedOptions) -> SharedPlan {
    let plan = plan_shared(src, dst, s, options).unwrap();
    check_conversion(src, dst, &Conversion::SharedMemory(Box::new(plan.clone())), options.elem_bits);
    plan
}

fn halves() -> MmaShape {
    MmaShape::warp(16, 16, 16)
}

#[test]
fn nothing_to_do() {
    let s = shape(&[128]);
    let l = layout(&[1, 2], &[4, 8, 16, 32, 64], &[]);
    assert_eq!(plan(&l, &l, &s, &options(32)), Conversion::Identity);
}

#[test]
fn register_permutations() {
    let s = shape(&[256]);
    let src = layout(&[1, 2, 128], &[4, 8, 16, 32, 64], &[]);
    let dst = layout(&[128, 1, 2], &[4, 8, 16, 32, 64], &[]);
    assert_eq!(
        plan(&src, &dst, &s, &options(32)),
        Conversion::RegisterPermute { source: vec![0, 4, 1, 5, 2, 6, 3, 7] }
    );
    // Registers may be dropped, repeated and mixed.
    let dst = layout(&[0, 1 ^ 128], &[4, 8, 16, 32, 64], &[0]);
    assert_eq!(register_permutation(&src, &dst), Some(vec![0, 0, 5, 5]));
    // A lane that differs by elements in registers needs a select, not a permutation.
    let dst = layout(&[1, 2, 128], &[4 ^ 1, 8, 16, 32, 64], &[]);
    assert_eq!(register_permutation(&src, &dst), None);
    let Conversion::WarpShuffle(selects) = plan(&src, &dst, &s, &options(32)) else { panic!("selects suffice") };
    assert_eq!(selects.shuffles(), 0);
    assert_eq!(selects.rotation.lane, [1, 0, 0, 0, 0]);
    assert!(selects.placement.is_zero());
}

#[test]
fn the_essay_s_exchange_of_a_lane_and_a_register() {
    let s = shape(&[64]);
    let src = layout(&[1], &[2, 4, 8, 16, 32], &[]);
    let dst = layout(&[2], &[1, 4, 8, 16, 32], &[]);
    let Conversion::WarpShuffle(shuffle) = plan(&src, &dst, &s, &options(32)) else { panic!("one shuffle suffices") };
    assert_eq!(shuffle.rotation.lane, [1, 0, 0, 0, 0]);
    assert_eq!(shuffle.placement.lane, [1, 0, 0, 0, 0]);
    assert_eq!(
        shuffle.rounds,
        [
            ShuffleRound { exchange: Exchange::Stay, publish: vec![0], receive: vec![0] },
            ShuffleRound { exchange: Exchange::Butterfly { xor_lane: 1 }, publish: vec![1], receive: vec![1] },
        ]
    );
    assert_eq!((shuffle.shuffles(), shuffle.selects()), (1, 4));
    // Twice as many words for doubles.
    assert_eq!(ShufflePlan::new(&src, &dst, 64).unwrap().shuffles(), 2);
}

#[test]
fn permuted_lanes_take_indexed_shuffles() {
    let s = shape(&[64]);
    let src = layout(&[1], &[2, 4, 8, 16, 32], &[]);
    let dst = layout(&[1], &[32, 16, 8, 4, 2], &[]);
    let Conversion::WarpShuffle(shuffle) = plan(&src, &dst, &s, &options(32)) else { panic!("lanes only") };
    assert_eq!(shuffle.source.lane, [16, 8, 4, 2, 1]);
    assert!(shuffle.rotation.is_zero() && shuffle.placement.is_zero());
    assert!(shuffle.rounds.iter().all(|r| r.exchange == Exchange::Indexed { xor_lane: 0 }));
    assert_eq!(shuffle.shuffles(), 2);
    // Halves share a word: both registers travel together.
    let narrow = ShufflePlan::new(&src, &dst, 16).unwrap();
    assert_eq!(narrow.shuffles(), 1);
    assert_eq!((&narrow.rounds[0].publish, &narrow.rounds[0].receive), (&vec![0, 1], &vec![0, 1]));
}

#[test]
fn broadcasts_from_few_lanes() {
    // Row sums in groups of four lanes, needed by the lane with the number of the row.
    let s = shape(&[16]);
    let src = layout(&[8], &[0, 0, 1, 2, 4], &[]);
    let dst = layout(&[], &[1, 2, 4, 8, 0], &[]);
    let Conversion::WarpShuffle(shuffle) = plan(&src, &dst, &s, &options(32)) else { panic!("inside the warp") };
    assert!(shuffle.shuffles() <= 1);
    // The reverse: every lane of a group reads two rows.
    let Conversion::WarpShuffle(back) = plan(&dst, &src, &s, &options(32)) else { panic!("inside the warp") };
    assert_eq!(back.shuffles(), 2);
}

#[test]
fn repeated_registers_travel_once() {
    let s = shape(&[32]);
    let src = layout(&[], &[1, 2, 4, 8, 16], &[]);
    let dst = layout(&[0, 0], &[16, 8, 4, 2, 1], &[]);
    let Conversion::WarpShuffle(shuffle) = plan(&src, &dst, &s, &options(32)) else { panic!("inside the warp") };
    assert_eq!(shuffle.shuffles(), 1);
    assert_eq!(shuffle.result, [0, 0, 0, 0]);
}

#[test]
fn limits_on_shuffles_lead_to_shared_memory() {
    let s = shape(&[64]);
    let src = layout(&[1], &[2, 4, 8, 16, 32], &[]);
    let dst = layout(&[2], &[1, 4, 8, 16, 32], &[]);
    for limited in [
        ConvertOptions { max_shuffles: 0, ..options(32) },
        ConvertOptions { max_selects_per_element: 1, ..options(32) },
    ] {
        assert!(matches!(plan(&src, &dst, &s, &limited), Conversion::SharedMemory(_)));
    }
}

#[test]
fn the_essay_s_transposition() {
    // 32x32 words, one warp: lanes on the columns for the store, on the rows for the load.
    let s = shape(&[32, 32]);
    let rows: Vec<u64> = (5..10).map(|i| 1 << i).collect();
    let columns: Vec<u64> = (0..5).map(|i| 1 << i).collect();
    let (src, dst) = (layout(&rows, &columns, &[]), layout(&columns, &rows, &[]));
    let p = shared_plan(&src, &dst, &s, &shared(32));
    assert_eq!((p.store.conflict_degree, p.load.conflict_degree), (1, 1));
    assert_eq!((p.bytes, p.rounds, p.alignment()), (4096, 1, 128));
    // Vectors on one side take fewer instructions than scalars on both. The wavefronts are the minimum for 4 KiB at
    // 128 bytes each.
    assert_eq!((p.store.wavefronts, p.load.wavefronts), (32, 32));
    assert!(p.store.instructions.len() + p.load.instructions.len() <= 40);
}

#[test]
fn wide_vectors_on_both_sides() {
    // Registers 1, 2 are common: 16-byte accesses of words on both sides.
    let s = shape(&[1024]);
    let src = layout(&[1, 2, 4], &[8, 16, 32, 64, 128], &[256, 512]);
    let dst = layout(&[2, 1, 512], &[256, 4, 8, 16, 32], &[64, 128]);
    let p = shared_plan(&src, &dst, &s, &shared(32));
    for access in [&p.store, &p.load] {
        assert_eq!(access.mode, AccessMode::Vector { elements: 4 });
        assert_eq!((access.conflict_degree, access.instructions.len(), access.wavefronts), (1, 2, 8));
    }
}

#[test]
fn operands_come_by_ldmatrix() {
    // A is loaded row by row and needed as operand A of four warps.
    let s = shape(&[64, 64]);
    let src = Layout::coalesced(&s, 16, &[1, 0], 8, 4).unwrap();
    let a = mma_tiled(halves(), Operand::A, &s, [4, 1]).unwrap();
    let p = shared_plan(&src, &a, &s, &matrix(16));
    assert_eq!(p.store.mode, AccessMode::Vector { elements: 8 });
    assert_eq!(p.load.mode, AccessMode::Matrix { matrices: 4, elements: 2, transposed: false });
    assert_eq!((p.store.conflict_degree, p.load.conflict_degree), (1, 1));
    assert_eq!((p.store.instructions.len(), p.load.instructions.len()), (4, 4));
    // Without ldmatrix, the load reads pairs.
    let plain = shared_plan(&src, &a, &s, &shared(16));
    assert!(matches!(plain.load.mode, AccessMode::Vector { .. }));
    assert!(plain.cost() > p.cost());
    // B, k x n with n fastest: the transposed instruction.
    let b = mma_tiled(halves(), Operand::B, &s, [1, 4]).unwrap();
    let p = shared_plan(&src, &b, &s, &matrix(16));
    assert_eq!(p.store.mode, AccessMode::Vector { elements: 8 });
    assert_eq!(p.load.mode, AccessMode::Matrix { matrices: 4, elements: 2, transposed: true });
    assert_eq!((p.store.conflict_degree, p.load.conflict_degree), (1, 1));
}

#[test]
fn accumulators_leave_by_stmatrix() {
    let s = shape(&[64, 64]);
    let c = mma_tiled(halves(), Operand::Accumulator, &s, [4, 1]).unwrap();
    let dst = Layout::coalesced(&s, 16, &[1, 0], 8, 4).unwrap();
    let p = shared_plan(&c, &dst, &s, &matrix(16));
    assert_eq!(p.store.mode, AccessMode::Matrix { matrices: 4, elements: 2, transposed: false });
    assert_eq!(p.load.mode, AccessMode::Vector { elements: 8 });
    assert_eq!((p.store.conflict_degree, p.load.conflict_degree), (1, 1));
    assert_eq!((p.store.wavefronts, p.load.wavefronts), (16, 16));
    // Only ldmatrix allowed: plain stores.
    let older = SharedOptions { stmatrix: false, ..matrix(16) };
    assert!(matches!(shared_plan(&c, &dst, &s, &older).store.mode, AccessMode::Vector { .. }));
    // Transposed by the store.
    let columns = Layout::coalesced(&s, 16, &[0, 1], 8, 4).unwrap();
    let p = shared_plan(&c, &columns, &s, &matrix(16));
    assert_eq!(p.store.mode, AccessMode::Matrix { matrices: 4, elements: 2, transposed: true });
    assert_eq!(p.load.mode, AccessMode::Vector { elements: 8 });
    assert_eq!((p.store.conflict_degree, p.load.conflict_degree), (1, 1));
}

#[test]
fn typical_conversions_are_conflict_free_at_full_width() {
    let warpgroup = MmaShape::warpgroup(128, 16, 16);
    for extents in [[64i64, 128], [128, 128], [128, 64]] {
        let s = shape(&extents);
        for elem_bits in [16u32, 32] {
            let vec = u64::from(128 / elem_bits);
            let rows = Layout::coalesced(&s, elem_bits, &[1, 0], vec, 4).unwrap();
            let columns = Layout::coalesced(&s, elem_bits, &[0, 1], vec, 4).unwrap();
            let mma = mma_tiled(halves(), Operand::Accumulator, &s, [2, 2]).unwrap();
            let mut list = vec![rows, columns, mma];
            if extents[1] == 128 {
                list.push(mma_tiled(warpgroup, Operand::Accumulator, &s, [1, 1]).unwrap());
            }
            for src in &list {
                for dst in &list {
                    let p = shared_plan(src, dst, &s, &matrix(elem_bits));
                    let turns = s.elements() * u64::from(elem_bits / 8) / 128 / 4;
                    // Sub-words that do not share a register pair with the other side move one by one on that side.
                    let single = if elem_bits == 16 { 2 } else { 1 };
                    assert!(p.store.wavefronts <= turns * single, "{src}\n{dst}\n{:?}", p.store.mode);
                    assert!(p.load.wavefronts <= turns * single, "{src}\n{dst}\n{:?}", p.load.mode);
                    assert_eq!((p.store.conflict_degree, p.load.conflict_degree), (1, 1), "{src}\n{dst}");
                }
            }
        }
    }
}

#[test]
fn rounds_split_registers_where_possible() {
    let s = shape(&[64, 64]);
    let src = Layout::coalesced(&s, 32, &[1, 0], 4, 4).unwrap();
    let dst = mma_tiled(halves(), Operand::Accumulator, &s, [4, 1]).unwrap();
    let whole = shared_plan(&src, &dst, &s, &shared(32));
    assert_eq!((whole.bytes, whole.rounds), (16384, 1));
    let quarter = SharedOptions { max_bytes: 4096, ..shared(32) };
    let p = shared_plan(&src, &dst, &s, &quarter);
    assert_eq!((p.bytes, p.rounds), (4096, 4));
    // An odd limit is rounded down.
    let odd = SharedOptions { max_bytes: 5000, ..shared(32) };
    assert_eq!(shared_plan(&src, &dst, &s, &odd), p);
    // Rows of eight lanes by four warps stay whole on both sides; the rounds are numbered by registers of the source.
    assert!(p.store.round.lane.iter().all(|&b| b == 0));
    assert!(p.load.round.lane.iter().all(|&b| b == 0));
}

#[test]
fn a_buffer_for_one_element_is_enough() {
    let s = shape(&[4, 16]);
    let src = layout(&[1], &[2, 4, 8, 16, 32], &[]);
    let dst = layout(&[32], &[16, 8, 4, 2, 1], &[]);
    let one = SharedOptions { max_bytes: 4, ..shared(32) };
    let p = shared_plan(&src, &dst, &s, &one);
    assert_eq!((p.bytes, p.rounds), (4, 64));
    let none = SharedOptions { max_bytes: 3, ..shared(32) };
    assert_eq!(
        plan_shared(&src, &dst, &s, &none).unwrap_err(),
        LayoutError::ScratchTooSmall { needed: 4, available: 3 }
    );
    assert!(plan_shared(&src, &dst, &s, &SharedOptions { max_bytes: 0, ..shared(8) }).is_err());
}

#[test]
fn replicas_store_once_and_load_everywhere() {
    // A row vector in all rows of a slice is converted to a layout with other replicas.
    let s = shape(&[64]);
    let tile = shape(&[64, 64]);
    let c = mma_tiled(halves(), Operand::Accumulator, &tile, [2, 2]).unwrap();
    let (src, sliced, _) = c.reduce(&tile, 0).unwrap();
    assert_eq!(sliced, s);
    let dst = Layout::coalesced(&s, 32, &[0], 4, 4).unwrap();
    let p = shared_plan(&src, &dst, &s, &shared(32));
    // Lanes 2-4 and the warps along m hold replicas.
    assert_eq!(p.store.guard, InputMasks { lane: 0b11100, warp: 1, ..InputMasks::default() });
    assert_eq!(p.bytes, 256);
    let back = shared_plan(&dst, &src, &s, &shared(32));
    assert_eq!(back.load.guard, InputMasks::default());
    assert!(back.load.copies.is_empty());
}

#[test]
fn blocks_of_a_cluster() {
    let (part, whole) = (shape(&[64, 64]), shape(&[128, 64]));
    let rows = Layout::coalesced(&part, 16, &[1, 0], 8, 4).unwrap();
    let c = mma_tiled(halves(), Operand::Accumulator, &part, [4, 1]).unwrap();
    let src = rows.over_blocks(&part, &whole, &[0, 1]).unwrap();
    let dst = c.over_blocks(&part, &whole, &[0, 1]).unwrap();
    let Conversion::SharedMemory(p) = plan(&src, &dst, &whole, &ConvertOptions { shared: matrix(16), ..options(16) })
    else {
        panic!("between warps")
    };
    // Each block converts its own half.
    assert_eq!(p.bytes, 64 * 64 * 2);
    // Halves by columns instead of rows: elements would have to change blocks.
    let narrow = shape(&[128, 32]);
    let other = Layout::coalesced(&narrow, 16, &[1, 0], 8, 4).unwrap().over_blocks(&narrow, &whole, &[1, 0]).unwrap();
    assert_eq!(convert(&src, &other, &whole, &options(16)).unwrap_err(), LayoutError::CrossBlock);
    assert_eq!(plan_shared(&src, &other, &whole, &shared(16)).unwrap_err().code(), "layout-cross-block");
    // A tile replicated in both blocks can be split between them for free or in place.
    let everywhere = Layout::coalesced(&whole, 16, &[1, 0], 8, 4).unwrap();
    plan(&everywhere, &dst, &whole, &options(16));
    assert!(convert(&dst, &everywhere, &whole, &options(16)).is_err());
}

#[test]
fn bad_inputs_are_errors() {
    let s = shape(&[64]);
    let l = layout(&[1], &[2, 4, 8, 16, 32], &[]);
    let outside = layout(&[1], &[2, 4, 8, 16, 64], &[]);
    assert_eq!(convert(&l, &outside, &s, &options(32)).unwrap_err().code(), "layout-out-of-range");
    assert_eq!(plan_shared(&outside, &l, &s, &shared(32)).unwrap_err().code(), "layout-out-of-range");
    assert_eq!(plan_shared(&l, &l, &s, &shared(24)).unwrap_err().code(), "layout-unsupported-element");
    assert_eq!(plan_shared(&l, &l, &s, &shared(0)).unwrap_err().code(), "layout-unsupported-element");
    assert_eq!(plan_shared(&l, &l, &s, &shared(256)).unwrap_err().code(), "layout-unsupported-element");
    // A source that lacks elements of the target.
    let partial = layout(&[], &[1, 2, 4, 8, 16], &[]);
    assert!(convert(&partial, &l, &s, &options(32)).is_err());
}

#[test]
fn scalars_convert() {
    let s = shape(&[]);
    let l = layout(&[], &[0; 5], &[]);
    let repeated = layout(&[0], &[0; 5], &[0]);
    plan(&l, &repeated, &s, &options(32));
    plan(&repeated, &l, &s, &options(32));
    shared_plan(&l, &repeated, &s, &matrix(32));
    shared_plan(&repeated, &l, &s, &SharedOptions { max_bytes: 4, ..matrix(32) });
}

#[test]
fn narrow_elements_are_stored_as_bytes() {
    let s = shape(&[32, 32]);
    let src = Layout::coalesced(&s, 1, &[1, 0], 16, 1).unwrap();
    let dst = Layout::coalesced(&s, 1, &[0, 1], 16, 1).unwrap();
    let p = shared_plan(&src, &dst, &s, &shared(1));
    assert_eq!(p.bytes, 1024);
    assert_eq!(p, shared_plan(&src, &dst, &s, &shared(8)));
}

#[test]
fn warps_may_read_different_lanes() {
    // Both warps hold the same 64 elements. The second warp needs them in reverse lane order, with registers and
    // lanes exchanged.
    let s = shape(&[64]);
    let src = layout(&[1], &[2, 4, 8, 16, 32], &[0]);
    let dst = layout(&[1], &[2, 4, 8, 16, 32], &[62]);
    let Conversion::WarpShuffle(shuffle) = plan(&src, &dst, &s, &options(32)) else { panic!("inside the warps") };
    assert_eq!(shuffle.source, ThreadBases { lane: vec![1, 2, 4, 8, 16], warp: vec![31], block: vec![] });
    assert_eq!(shuffle.shuffles(), 2);
    // With a rotation that depends on the lane, the warp's shift of lanes turns into a shift of registers as well.
    let src = layout(&[1, 64], &[2, 4, 8, 16, 32], &[0]);
    let dst = layout(&[1, 64], &[2 ^ 1, 4, 8, 16, 32], &[62]);
    let Conversion::WarpShuffle(shuffle) = plan(&src, &dst, &shape(&[128]), &options(32)) else { panic!("inside") };
    assert_eq!(shuffle.rotation.lane, [1, 0, 0, 0, 0]);
    assert_eq!(shuffle.rotation.warp, [1]);
}

#[test]
fn shuffle_counts_of_exchanged_bits() {
    // Exchanging k lane bits with k register bits keeps one of 2^k elements in its lane.
    let s = shape(&[1024]);
    let register: Vec<u64> = (0..5).map(|i| 1 << i).collect();
    let lane: Vec<u64> = (5..10).map(|i| 1 << i).collect();
    let src = layout(&register, &lane, &[]);
    for k in 0..=5 {
        let (mut r, mut l) = (register.clone(), lane.clone());
        r[..k].swap_with_slice(&mut l[..k]);
        let dst = layout(&r, &l, &[]);
        let words = ShufflePlan::new(&src, &dst, 32).unwrap();
        assert_eq!(words.shuffles(), 32 - (32 >> k));
        assert_eq!(words.selects(), 2 * 32 * k as u32);
        check_conversion(&src, &dst, &Conversion::WarpShuffle(words.into()), 32);
        // Halves travel in pairs as long as a register bit stays where it is.
        let pairs = ShufflePlan::new(&src, &dst, 16).unwrap();
        let expected = if k < 5 { (32 - (32 >> k)) / 2 } else { 31 };
        assert_eq!(pairs.shuffles(), expected);
        check_conversion(&src, &dst, &Conversion::WarpShuffle(pairs.into()), 16);
        // Beyond two exchanged bits, the selects cost more than a round trip through shared memory.
        let chosen = plan(&src, &dst, &s, &options(32));
        match k {
            0 => assert_eq!(chosen, Conversion::Identity),
            1 | 2 => assert!(matches!(chosen, Conversion::WarpShuffle(_))),
            _ => assert!(matches!(chosen, Conversion::SharedMemory(_))),
        }
    }
}

/// A thread with one element cannot fill a word of a transposed matrix.
#[test]
fn matrices_need_a_register() {
    let s = shape(&[16, 8]);
    let rows = layout(&[], &[1, 2, 4, 8, 16], &[32, 64]);
    let columns = layout(&[], &[8, 16, 32, 64, 1], &[2, 4]);
    let shared = SharedOptions { ldmatrix: Matrices::Halves, stmatrix: true, ..SharedOptions::new(16) };
    for (src, dst) in [(&rows, &columns), (&columns, &rows)] {
        let plan = plan_shared(src, dst, &s, &shared).unwrap();
        check_conversion(src, dst, &Conversion::SharedMemory(plan.into()), 16);
    }
}

/// Asynchronous copies move contiguous elements; operands that are read across them use the remaining freedom.
#[test]
fn runs_stay_together() {
    let s = shape(&[64, 64]);
    let src = Layout::coalesced(&s, 8, &[1, 0], 16, 4).unwrap();
    let dst = Layout::coalesced(&s, 8, &[0, 1], 16, 4).unwrap();
    for log2 in [2, 3, 4] {
        let run = Some(Run { low: 0, log2 });
        let plan = plan_shared(&src, &dst, &s, &SharedOptions { run, ..SharedOptions::new(8) }).unwrap();
        check_conversion(&src, &dst, &Conversion::SharedMemory(plan.clone().into()), 8);
        let runs = plan.store.runs(&src, &s, 1, 1 << log2, 1 << log2).unwrap();
        assert_eq!(runs.len() << log2, src.registers() as usize);
        // Runs of one vector follow each other.
        for (whole, parts) in
            plan.store.instructions.iter().zip(runs.chunks(runs.len() / plan.store.instructions.len()))
        {
            let joined: Vec<u32> = parts.iter().flat_map(|r| r.registers.clone()).collect();
            assert_eq!(joined, whole.registers);
            assert!(parts.iter().zip(0..).all(|(r, i)| r.add == whole.add + (i << log2)));
        }
        assert_eq!(plan.store.runs(&src, &s, 0, 1 << log2, 1 << log2), None);
    }
    // Longer than the tile.
    let run = Some(Run { low: 0, log2: 13 });
    let options = SharedOptions { run, ..SharedOptions::new(8) };
    assert!(matches!(plan_shared(&src, &dst, &s, &options), Err(LayoutError::Mismatch { .. })));
}

/// Operands of every element size are read from runs of 16 bytes without bank conflicts, along either dimension.
#[test]
fn operands_from_runs_are_free_of_conflicts() {
    let fragments = [(16, 16, 16), (16, 32, 8), (16, 8, 32), (8, 4, 64)];
    let plain = fragments.map(|f| (f, false));
    for ((m, k, bits), byte_matrices) in plain.into_iter().chain([((16, 32, 8), true)]) {
        let instruction = MmaShape::warp(m, k, bits);
        let multiplier = Multiplier::Matrix(instruction);
        let s = shape(&[64, 64]);
        let dot = DotShape::new(&s, &s, &s).unwrap();
        let grid = dot.arrange(multiplier, 2, false);
        let apart = match bits {
            16 => 0,
            8 if byte_matrices => 0,
            8 => 2,
            _ => (128u32 / bits).ilog2(),
        };
        let acc = dot.accumulator(multiplier, grid, FragmentStride { m: apart, n: apart }).unwrap();
        for (operand, along) in [(Operand::A, 1), (Operand::A, 0), (Operand::B, 1), (Operand::B, 0)] {
            let to = dot.operand(multiplier, &acc, operand).unwrap();
            let vector = u64::from(128 / bits);
            let from = Layout::coalesced(&s, bits, &[along, 1 - along], vector, 4).unwrap();
            let (low, _) = s.field(along).unwrap();
            let run = Some(Run { low, log2: vector.ilog2() });
            let ldmatrix = if byte_matrices { Matrices::Bytes } else { Matrices::Halves };
            let options = SharedOptions { ldmatrix, run, ..SharedOptions::new(bits) };
            let plan = plan_shared(&from, &to, &s, &options).unwrap();
            let by_matrices = matches!(plan.load.mode, AccessMode::Matrix { .. });
            assert!(by_matrices || !byte_matrices, "{operand:?} along {along}: {:?}", plan.load.mode);
            assert!(plan.store.runs(&from, &s, along, vector as u32, 16).is_some(), "{operand:?} of {bits} bits");
            let degrees = (plan.store.conflict_degree, plan.load.conflict_degree);
            assert_eq!(degrees, (1, 1), "{operand:?} of {bits} bits along {along}");
            check_conversion(&from, &to, &Conversion::SharedMemory(plan.into()), bits);
        }
    }
}
