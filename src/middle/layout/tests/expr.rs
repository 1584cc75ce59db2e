//! Index expressions evaluate to the map and are short.

mod common;

use common::*;
use proptest::prelude::*;
use tile_layout::*;

fn text(c: &Coordinate) -> String {
    c.thread.to_bit_expr().to_string()
}

#[test]
fn coordinates_of_a_coalesced_tile() {
    let s = shape(&[128, 128]);
    let l = Layout::coalesced(&s, 32, &[1, 0], 4, 4).unwrap();
    let column = l.coordinate_expr(&s, 1).unwrap();
    assert_eq!(column.thread.terms, [Term { source: Input::Lane, mask: 7, shift: 2, needs_mask: true }]);
    assert_eq!(text(&column), "((lane & 7) << 2)");
    assert!(column.disjoint && column.thread.disjoint);
    assert_eq!(column.registers[..8], [0, 1, 2, 3, 32, 33, 34, 35]);
    let row = l.coordinate_expr(&s, 0).unwrap();
    // Lane bits 3 and 4 are row bits 0 and 1: the shift makes the mask redundant.
    assert_eq!(text(&row), "((lane >> 3) | (warp << 2))");
    assert_eq!(row.registers[127], 0b1110000);
    assert!(row.disjoint);
    assert!(l.coordinate_expr(&s, 2).is_err());
}

#[test]
fn coordinates_of_an_accumulator() {
    let s = shape(&[16, 16]);
    let l = layout(&[1, 128, 8], &[2, 4, 16, 32, 64], &[]);
    assert_eq!(text(&l.coordinate_expr(&s, 0).unwrap()), "(lane >> 2)");
    assert_eq!(text(&l.coordinate_expr(&s, 1).unwrap()), "((lane & 3) << 1)");
    assert_eq!(l.coordinate_expr(&s, 0).unwrap().registers, [0, 0, 8, 8, 0, 0, 8, 8]);
    assert_eq!(l.coordinate_expr(&s, 1).unwrap().registers, [0, 1, 0, 1, 8, 9, 8, 9]);
}

#[test]
fn one_shift_serves_separate_runs() {
    // Lane bits 0, 1 and 3 move by two; bit 2 replicates; bit 4 moves down.
    let e = LinearExpr::new(&[4, 8, 0, 32, 1], &[], &[]);
    assert_eq!(e.to_bit_expr().to_string(), "((lane >> 4) | ((lane & 11) << 2))");
    assert!(e.disjoint);
}

#[test]
fn whole_inputs_need_no_mask() {
    let e = LinearExpr::new(&[1, 2, 4, 8, 16], &[32, 64], &[128]);
    assert_eq!(e.to_bit_expr().to_string(), "((lane | (warp << 5)) | (block << 7))");
    assert_eq!(e.to_bit_expr().operations(), 4);
    assert_eq!(LinearExpr::new(&[0; 5], &[], &[]).to_bit_expr(), BitExpr::Constant(0));
    assert!(LinearExpr::new(&[0; 5], &[0], &[]).is_zero());
}

#[test]
fn swizzles_combine_by_xor() {
    // Lane bits 3 and 4 flip bits that lane bits 0 and 1 set.
    let e = LinearExpr::new(&[1, 2, 4, 8 | 1, 16 | 2], &[], &[]);
    assert!(!e.disjoint);
    assert_eq!(e.to_bit_expr().to_string(), "((lane >> 3) ^ lane)");
    assert_eq!(e.eval(0b01000, 0, 0), 9);
    assert_eq!(e.eval(0b01001, 0, 0), 8);
    assert_eq!(e.reach(), 31);
}

#[test]
fn registers_that_meet_the_thread_are_not_disjoint() {
    let l = layout(&[1, 2 | 4], &[4, 8, 16, 32, 64], &[]);
    let index = l.index_expr();
    assert!(index.thread.disjoint);
    assert!(!index.disjoint);
    assert_eq!(index.registers, [0, 1, 6, 7]);
}

#[test]
fn scalars_have_no_index() {
    let s = shape(&[]);
    let l = Layout::coalesced(&s, 32, &[], 1, 4).unwrap();
    assert_eq!(text(&l.index_expr()), "0");
    assert_eq!(l.index_expr().registers, [0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn coordinates_evaluate_to_the_layout(l in any_layout(9, 2, 2), dim in 0usize..3) {
        let s = shape(&[8, 4, 16]);
        let c = l.coordinate_expr(&s, dim).unwrap();
        let tree = c.thread.to_bit_expr();
        for thread in l.all_threads() {
            let base = c.thread.eval(thread.lane, thread.warp, thread.block);
            prop_assert_eq!(tree.eval(thread.lane, thread.warp, thread.block), base);
            prop_assert_eq!(base & !c.thread.reach(), 0);
            for (register, &constant) in c.registers.iter().enumerate() {
                let element = l.element(Slot { register: register as u32, thread });
                prop_assert_eq!(base ^ constant, s.unflatten(element)[dim]);
                if c.disjoint {
                    prop_assert_eq!(base + constant, base ^ constant);
                }
            }
        }
    }

    #[test]
    fn blocks_take_part(l in any_layout(7, 1, 1)) {
        let (part, whole) = (shape(&[8, 16]), shape(&[16, 64]));
        let split = l.over_blocks(&part, &whole, &[0, 1]).unwrap();
        let index = split.index_expr();
        for thread in split.all_threads() {
            let base = index.thread.eval(thread.lane, thread.warp, thread.block);
            prop_assert_eq!(base, split.thread_base(thread));
        }
    }

    #[test]
    fn disjoint_terms_can_be_added(
        lane in proptest::collection::vec(0u64..64, 5),
        warp in proptest::collection::vec(0u64..64, 2),
    ) {
        let e = LinearExpr::new(&lane, &warp, &[]);
        for l in 0..32 {
            for w in 0..4 {
                let expected = combine(&lane, l.into()) ^ combine(&warp, w.into());
                prop_assert_eq!(e.eval(l, w, 0), expected);
                let parts = e.terms.iter().map(|t| t.eval(if t.source == Input::Lane { l.into() } else { w.into() }));
                if e.disjoint {
                    prop_assert_eq!(parts.sum::<u64>(), expected);
                }
            }
        }
        // At most one term for each source and distance.
        let mut keys: Vec<_> = e.terms.iter().map(|t| (t.source, t.shift)).collect();
        keys.dedup();
        prop_assert_eq!(keys.len(), e.terms.len());
    }

    #[test]
    fn coalesced_tiles_take_few_operations(log2 in proptest::collection::vec(0u32..7, 1..4), warps_log2 in 0u32..4) {
        let s = Shape::from_log2(log2).unwrap();
        let order: Vec<usize> = (0..s.rank()).rev().collect();
        let l = Layout::coalesced(&s, 32, &order, 4, 1 << warps_log2).unwrap();
        for dim in 0..s.rank() {
            let c = l.coordinate_expr(&s, dim).unwrap();
            prop_assert!(c.disjoint && c.thread.disjoint);
            // One run of lanes and one of warps, or two of lanes when they wrap around.
            prop_assert!(c.thread.to_bit_expr().operations() <= 6, "{}", text(&c));
        }
    }
}
