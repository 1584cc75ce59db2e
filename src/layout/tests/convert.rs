//! Conversions: classification on literal layouts, and execution of random plans on all threads.

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
    SharedOptions { ldmatrix: true, stmatrix: true, ..SharedOptions::new(elem_bits) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

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
        // Words never conflict. Sub-words may, when a wide vector with conflicts still beats narrow ones without.
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
    fn shuffles_with_replicas_are_right_when_they_exist(
        src in any_layout(7, 0, 2), dst in any_layout(7, 0, 2), elem_log2 in 3u32..7,
    ) {
        if let Some(plan) = ShufflePlan::new(&src, &dst, 1 << elem_log2) {
            check_conversion(&src, &dst, &Conversion::WarpShuffle(plan.into()), 1 << elem_log2);
        }
    }
}
